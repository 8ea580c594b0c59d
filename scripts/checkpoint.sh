#!/bin/sh
# What checkpoints cost: the time of one, beside that of dd for as many bytes
# to the same disk, and the time of a solve with and without them.
#
#   scripts/checkpoint.sh [N [RANKS [FOLDER]]]     default: 2000 2 .
#
# Every number is the median of five; runs with and without alternate.
set -eu
program=$(cd "$(dirname "$0")/.." && pwd)/peigh
mpirun=$(dirname "$program")/scripts/mpirun.sh
n=${1:-2000} ranks=${2:-2} place=${3:-.}
folder=$(mktemp -d -p "$place")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

median() { sort -g | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

# solve_seconds [option...]
solve_seconds() {
    "$mpirun" -np "$ranks" "$program" -q --no-check --json "$folder/json" \
        "$@" "gallery:gaussian,n=$n"
    sed -n 's/.*"solve": \([0-9.e-]*\),.*/\1/p' "$folder/json"
}

dd_seconds() {
    start=$(date +%s.%N)
    dd if=/dev/zero of="$folder/dd" bs=1M count="$1" iflag=count_bytes \
        conv=fsync 2>/dev/null
    end=$(date +%s.%N)
    rm "$folder/dd"
    echo "$end $start" | awk '{ print $1 - $2 }'
}

rounds="1 2 3 4 5"
for _ in $rounds; do
    solve_seconds >>"$folder/without"
    # Signals and clock are watched, nothing is written.
    solve_seconds --checkpoint "$folder/ck" --every 1000 >>"$folder/watching"
done
solve_seconds --checkpoint "$folder/ck" --every 0.002 --log "$folder/log" \
    >/dev/null
bytes=$(wc -c <"$folder/ck")
for _ in $rounds; do dd_seconds "$bytes" >>"$folder/dd-seconds"; done

echo "N = $n, $ranks ranks"
awk -v w="$(median <"$folder/without")" -v x="$(median <"$folder/watching")" \
    'BEGIN { printf "solve %.3f s, ready for checkpoints %.3f s (%+.1f %%)\n",
             w, x, 100 * (x / w - 1) }'
sed -n 's/^{"checkpoint".*"seconds": \([0-9.]*\),.*/\1/p' "$folder/log" |
    median | awk -v b="$bytes" -v d="$(median <"$folder/dd-seconds")" '{
        printf "checkpoint of %.1f MB: %.3f s, %.0f MB/s; dd with fsync: " \
               "%.3f s, %.0f MB/s\n", b / 1e6, $1, b / 1e6 / $1, d,
               b / 1e6 / d }'
