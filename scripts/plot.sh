#!/bin/sh
# Draw the last benchmark in a CSV file of scripts/bench.sh: time and memory
# against N, a row of panels for each number of ranks.
#
#   scripts/plot.sh FILE.csv [OUT.png]        default: FILE.png
#
# Or a run, from its log (peigh --log FILE): how the largest cosine falls from
# sweep to sweep, and, when the run has ended, where its time went.
#
#   scripts/plot.sh --run FILE [OUT.png]      default: FILE.png
set -eu
run=no
if [ "${1:-}" = --run ]; then run=yes; shift; fi
csv=${1:?usage: scripts/plot.sh [--run] FILE [OUT.png]}
png=${2:-${csv%.csv}.png}
[ -n "${2:-}" ] || [ $run = no ] || png=$csv.png
[ -r "$csv" ] || { echo "plot: cannot read $csv" >&2; exit 1; }
command -v gnuplot >/dev/null || {
    echo "peigh: missing (Debian's package names): gnuplot-nox" >&2
    echo "peigh: install it, with apt-get as root or by your system's own" \
        "name, and try again" >&2
    exit 1
}
data=$(mktemp)
trap 'rm -f "$data"' EXIT

# --- a run ------------------------------------------------------------------

# One panel or two, side by side.
plot_run() {
    # SWEEP OFF-NORM SECONDS: of a sweep that was done twice, before and after
    # a run was taken up again, the last; and a cosine of 0 is not on a
    # logarithmic scale.
    sed -n 's/^{"sweep": \([0-9]*\), "off_norm": \([^,]*\),.*"seconds": \([^,]*\),.*/\1 \2 \3/p' "$csv" |
        awk '$2 > 0 { line[$1] = $0; if ($1 > last) last = $1 }
             END { for (k = 1; k <= last; k++) if (k in line) print line[k] }' \
            >"$data"
    [ -s "$data" ] || { echo "plot: no sweeps in $csv" >&2; exit 1; }
    # The report is the last line, once there is one.
    report=$(tail -n 1 "$csv" | grep '"peigh": ' || true)
    value() { echo "$report" | sed -n "s/.*\"$1\": \([^,}]*\)[,}].*/\1/p"; }
    panels=1
    if [ -n "$report" ]; then panels=2; fi
    title=$csv
    [ $panels = 1 ] || title="$(value matrix | tr -d '"'), N = $(value n), $(value ranks) ranks"
    echo "set terminal pngcairo size $((panels * 600)),460 font 'sans,11' noenhanced"
    echo "set output '$png'"
    echo "set multiplot layout 1,$panels title '$(echo "$title" | tr -d "'")'"
    echo "set grid; set key outside below"
    echo "set title 'largest cosine between columns, against the sweep'"
    echo "set logscale y; set format y '%.0e'; set yrange [1e-17:1]"
    echo "set xtics 1; set xrange [0.5:$(tail -n 1 "$data" | cut -d ' ' -f 1).5]"
    echo "plot '$data' using 1:2 with linespoints lw 2 pt 7 lc rgb 'black' notitle"
    if [ $panels = 2 ]; then
        echo "set title 'seconds, slowest rank'"
        echo "unset logscale; set format y '%g'; set yrange [0:*]"
        echo "set xrange [*:*]"
        echo "set style fill solid 0.7; set boxwidth 0.7; set xtics auto"
        echo "\$phases << end"
        for phase in read setup gram rotate update exchange checkpoint write check; do
            echo "$phase $(value $phase)"
        done
        echo "end"
        echo "set xtics rotate by -35"
        echo "plot \$phases using 0:2:xtic(1) with boxes lc rgb '#0072b2' notitle"
    fi
}

if [ $run = yes ]; then
    commands=$(plot_run)
    echo "$commands" | gnuplot
    echo "$png"
    exit
fi

# --- a benchmark ------------------------------------------------------------

# RANKS SOLVER N SECONDS MEGABYTES, medians over the rounds of the last date,
# solvers in the order of the benchmark and two blank lines between curves
# (gnuplot's index).
awk -F, '
    function median(text,   x, count, i, j, swap) {
        count = split(text, x, " ")
        for (i = 2; i <= count; i++)
            for (j = i; j > 1 && x[j - 1] + 0 > x[j] + 0; j--) {
                swap = x[j]; x[j] = x[j - 1]; x[j - 1] = swap
            }
        i = int((count + 1) / 2)
        return (x[i] + x[count + 1 - i]) / 2
    }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    NR == FNR { last = $at["date"]; next }
    $at["date"] == last && $at["round"] > 0 && $at["solver"] != "dgemm" {
        curve = $at["ranks"] " " $at["solver"]
        if (!(curve in sizes)) order[++curves] = curve
        key = curve SUBSEP $at["n"]
        if (!(key in seconds)) sizes[curve] = sizes[curve] " " $at["n"]
        seconds[key] = seconds[key] " " $at["seconds"]
        memory[key] = memory[key] " " $at["memory"]
    }
    END {
        for (k = 1; k <= curves; k++) {
            count = split(sizes[order[k]], n, " ")
            for (i = 1; i <= count; i++)
                print order[k], n[i], median(seconds[order[k], n[i]]), \
                    median(memory[order[k], n[i]]) / 1e6
            print "\n"
        }
    }' "$csv" "$csv" >"$data"
[ -s "$data" ] || { echo "plot: no timed runs in $csv" >&2; exit 1; }

curves=$(awk 'NF && $1 " " $2 != last { last = $1 " " $2; print last }' "$data")
ranks=$(echo "$curves" | awk '!seen[$1]++ { print $1 }')
sizes=$(awk 'NF { print $3 }' "$data" | sort -nu | tr '\n' ' ')
rows=$(echo "$ranks" | wc -l)

# One panel: RANKS COLUMN LABEL.  peigh is the thick black curve.
panel() {
    echo "set title '$1 ranks: $3, against N'"
    echo "$curves" | awk -v ranks="$1" -v column="$2" -v data="$data" '
        BEGIN {
            colours = split("#0072b2 #56b4e9 #009e73 #d55e00 #e69f00 " \
                            "#cc79a7", colour, " ")
        }
        $1 == ranks {
            style = "lw 3 pt 7 lc rgb \"black\""
            if ($2 != "peigh") {
                style = sprintf("lw 1.5 pt %d lc rgb \"%s\"", 4 + k % 10,
                                colour[k % colours + 1])
                k++
            }
            plots = plots (plots ? ", " : "plot ") sprintf( \
                "\"%s\" index %d using 3:%d with linespoints %s title \"%s\"",
                data, NR - 1, column, style, $2)
        }
        END { print plots }'
}

# Labels at 1, 2 and 5 of each decade.
ytics=$(awk 'BEGIN {
    for (e = -5; e < 6; e++)
        printf "%g, %g, %g, ", 10^e, 2 * 10^e, 5 * 10^e
    print 10^e
}')
title=$(awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    END {
        printf "%s, %s cores, BLAS %s, commit %s, %s", $at["processor"],
            $at["cores"], $at["blas"], $at["commit"], $at["date"]
    }' "$csv")

{
    echo "set terminal pngcairo size 1200,$((40 + rows * 460))" \
        "font 'sans,11' noenhanced"
    echo "set output '$png'"
    echo "set multiplot layout $rows,2 title '$title'"
    echo "set logscale xy; set grid; set key outside below horizontal"
    echo "set xtics ($(echo "$sizes" | sed 's/ *$//; s/ /, /g'))"
    echo "set ytics ($ytics)"
    echo "set autoscale fix"
    echo "set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05"
    for p in $ranks; do
        panel "$p" 4 "seconds"
        panel "$p" 5 "MB on the largest rank"
    done
} | gnuplot
echo "$png"
