#!/bin/sh
# peigh on a cluster that is not there: the real program under SimGrid's SMPI
# on nodes of one core each.  scripts/simulate.md says how and what came out.
#
#   scripts/simulate.sh [--nodes "16 64 256"] [--sizes "512 1024 2048"]
#                       [--block W] [--csv FILE]
set -eu
cd "$(dirname "$0")/.."

# The network: a full crossbar; the latency is from end to end.
export SIM_LATENCY=1e-6      # seconds
export SIM_BANDWIDTH=12.5e9  # bytes per second, each node and direction

nodes="16 64 256" sizes="512 1024 2048" block=0 csv=
usage() { sed -n '5,6s/^# *//p' "$0" >&2; exit 1; }
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
    --nodes) nodes=$2 ;;
    --sizes) sizes=$2 ;;
    --block) block=$2 ;;
    --csv) csv=$2 ;;
    *) usage ;;
    esac
    shift 2
done
for tool in smpicc smpirun python3; do
    command -v $tool >/dev/null || {
        echo "simulate.sh: no $tool (Debian: apt-get install libsimgrid-dev python3)" >&2
        exit 1
    }
done

# --- building ---------------------------------------------------------------

# Own objects by the Makefile's rules, linked here, without ScaLAPACK.
# SMPI's mpi.h defines SEED.  Its clock_gettime lets another node run at each
# call, in the middle of a meeting; the meetings' clock is the CPU's instead.
# The simulator looks for main() among the visible names.
build=build/smpi
mkdir -p $build
cat >$build/smpi.h.new <<'END'
#include <mpi.h>
#undef SEED
#include <time.h>
#undef clock_gettime
#define clock_gettime(clock, t) (clock_gettime)(CLOCK_THREAD_CPUTIME_ID, t)
END
if cmp -s $build/smpi.h.new $build/smpi.h; then
    rm $build/smpi.h.new
else
    mv $build/smpi.h.new $build/smpi.h
fi
make_smpi() {
    make -s BUILD=$build CC=smpicc \
        CFLAGS="-O2 -fvisibility=default -include $build/smpi.h" "$@"
}
from_makefile() {
    # shellcheck disable=SC2016 # for make to expand
    printf 'include Makefile\n.PHONY: tell\ntell:\n\t@echo $(%s)\n' "$1" |
        make -s -f - BUILD=$build tell
}
objects=$(from_makefile library_objects)
for object in $(from_makefile program_objects); do
    [ "$object" = $build/compare.o ] || objects="$objects $object"
done
# shellcheck disable=SC2086 # words are meant to be split
make_smpi $objects >/dev/null
# shellcheck disable=SC2086,SC2046
smpicc -std=c11 -D_GNU_SOURCE -O2 -fPIC -Iinclude -Isrc -o $build/peigh \
    $objects scripts/simulate_nocompare.c -Wl,--wrap=peigh_solve \
    $(from_makefile BLAS_LIBS) $(from_makefile ZLIB_LIBS) -lm

# --- running ----------------------------------------------------------------

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OPENBLAS_NUM_THREADS=1
python3 - "$work" "$build/peigh" "$nodes" "$sizes" "$block" "$csv" <<'END'
import csv, json, math, os, statistics, subprocess, sys
from pathlib import Path

work, program = Path(sys.argv[1]), sys.argv[2]
nodes, sizes = ([int(x) for x in arg.split()] for arg in sys.argv[3:5])
block, csv_path = int(sys.argv[5]), sys.argv[6]
latency, bandwidth = (float(os.environ[k])
                      for k in ("SIM_LATENCY", "SIM_BANDWIDTH"))
SPEED = 1e9  # of a node and of this machine alike, so its value cancels

# SMPI's factors on latency and bandwidth are those of a cluster with TCP over
# Gigabit Ethernet (11.6 on the latency of messages above 64 kB): off, so that
# the network is what it says.  Recursive doubling is Open MPI's choice, too.
CONFIG = ["smpi/host-speed:%gf" % SPEED, "smpi/lat-factor:0:1",
          "smpi/bw-factor:0:1", "network/crosstraffic:0",
          "smpi/allreduce:rdb", "smpi/bcast:binomial_tree",
          "smpi/barrier:ompi_recursivedoubling"]


def write_platform(path, count):
    """One link up and one down per node; a message takes two."""
    path.write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node" suffix="" radical="0-{count - 1}"
           speed="{SPEED:g}f" bw="{bandwidth:g}Bps" lat="{latency / 2:g}s"
           sharing_policy="SPLITDUPLEX"
           loopback_bw="{bandwidth:g}Bps" loopback_lat="{latency:g}s"/>
</platform>
""")


def smpirun(count, *arguments):
    platform = work / "platform.xml"
    write_platform(platform, count)
    command = ["smpirun", "-np", str(count), "-platform", platform]
    command += ["--cfg=" + c for c in CONFIG] + list(arguments)
    done = subprocess.run([str(c) for c in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit("simulate.sh: %s\n%s" % (" ".join(map(str, command)),
                                         done.stdout[-2000:]))
    return done.stdout


# A trace has, for every rank, a line per MPI call, and between them the
# computing: [flops before it, operation] for each.

def read_trace(index):
    ranks = {}
    for path in index.read_text().split():
        events, flops, inside = [], 0.0, False
        with open(path) as lines:
            for line in lines:
                rank, what, *rest = line.split()
                if what == "compute":
                    flops += float(rest[0])
                elif what == "barrier":
                    if inside:
                        events.append([flops, "barrier"])
                        break
                    inside, flops = True, 0.0
                elif inside:
                    events.append([flops, " ".join([what] + rest)])
                    flops = 0.0
        ranks[int(rank)] = events
    return ranks


def quiet(events):
    """No step longer than the median of the five of its parity around it.
    An interruption of this machine hits one node in one step, but on P nodes
    P times as many as it would within the time that is simulated."""
    f = [flops for flops, _ in events]
    near = lambda k: f[k % 2 if k < 4 else k - 4:k + 5:2]
    return [[min(f[k], statistics.median(near(k))), op]
            for k, (_, op) in enumerate(events)]


def replay(ranks, change):
    names = []
    for rank in sorted(ranks):
        names.append(work / f"replay-{rank}")
        with open(names[-1], "w") as file:
            file.write(f"{rank} init\n")
            for flops, op in change(ranks[rank]):
                if flops > 0:
                    file.write(f"{rank} compute {flops:g}\n")
                file.write(f"{rank} {op}\n")
            file.write(f"{rank} finalize\n")
    index = work / "replay"
    index.write_text("".join(f"{name}\n" for name in names))
    text = smpirun(len(ranks), "--log=root.thres:warning",
                   "--log=smpi_replay.thres:info", "-replay", index)
    return float(text.split("Simulation time")[1].split()[0])


def computing(ranks, change=lambda events: events):
    return sum(flops for events in ranks.values()
               for flops, _ in change(events)) / SPEED


def sent(events, count):
    """Messages and words: recursive doubling sends log2 P times."""
    messages = words = 0
    stages = max(1, math.ceil(math.log2(count))) if count > 1 else 0
    for _, op in events:
        what, *rest = op.split()
        if what == "sendRecv" and int(rest[0]) > 0:
            messages, words = messages + 1, words + int(rest[0])
        elif what in ("allreduce", "bcast"):
            messages, words = messages + stages, words + stages * int(rest[0])
    return messages, words


def run(n, count):
    """The program once; its trace again without interruptions, and without
    computing."""
    trace, report = work / "trace", work / "report.json"
    arguments = [program, "--no-check", "--no-compare", "--quiet", "-n", n,
                 "--json", report] + (["--block", block] if block else [])
    smpirun(count, "--log=root.thres:warning", "-trace-ti", "-trace-file",
            trace, *arguments, "gallery:gaussian")
    r = json.loads(report.read_text())
    if r["status"] != "success":
        sys.exit("simulate.sh: " + r["message"])
    ranks = read_trace(trace)
    pairs = r["blocks"] // 2
    share = -(-pairs // count) / pairs
    # In ring order the first and the last rank have less to do in odd steps.
    messages, words = map(max, zip(*(sent(e, count) for e in ranks.values())))
    out = {
        "n": n, "nodes": count, "block": r["block"], "blocks": r["blocks"],
        "working": r["active_ranks"], "sweeps": r["sweeps"],
        "messages": r["messages"], "bytes": r["bytes_sent"],
        "seconds_measured": r["seconds"]["solve"],
        "seconds_setup": r["seconds"]["setup"],
        "seconds": replay(ranks, quiet),
        "seconds_network": replay(ranks, lambda e: [[0, op] for _, op in e]),
        "computing": computing({k: ranks[k] for k in range(r["active_ranks"])},
                               quiet),
        "all_messages": messages, "all_words": words,
        "flops": 5.0 * n ** 3 * r["sweeps"] * share,
    }
    subprocess.run(["rm", "-rf", str(trace), f"{trace}_files"])
    return out


def solve_equations(a, b):
    """Gaussian elimination, small."""
    n = len(b)
    rows = [list(map(float, a[i])) + [b[i]] for i in range(n)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(n):
            if i != k:
                f = rows[i][k] / rows[k][k]
                rows[i] = [x - f * y for x, y in zip(rows[i], rows[k])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def fit(rows, names, what):
    """Least squares of relative errors: sum of (1 - sum_k c_k x_k / T)^2."""
    scale = [max(r[k] for r in rows) for k in names]
    x = [[r[k] / s / r[what] for k, s in zip(names, scale)] for r in rows]
    span = range(len(names))
    normal = [[sum(v[i] * v[j] for v in x) for j in span] for i in span]
    right = [sum(v[i] for v in x) for i in span]
    return [c / s for c, s in zip(solve_equations(normal, right), scale)]


def model(row, names, coefficients):
    return sum(c * row[k] for k, c in zip(names, coefficients))


print(f"network: {latency:g} s, {bandwidth:g} bytes/s, full crossbar; nodes "
      "of one core, as fast as this machine's")
print("     N nodes  work    w sweeps messages  MB sent |  solve ms  network "
      "alone |  measured     floor |  1 node ms  speed-up  computing")
results = []
for n in sizes:
    one = run(n, 1)
    for count in nodes:
        r = run(n, count)
        r["seconds_one"] = one["seconds"]
        r["speedup"] = one["seconds"] / r["seconds"]
        share = r["flops"] / (5.0 * n ** 3 * r["sweeps"])
        r["seconds_floor"] = share * one["seconds"] + r["seconds_network"]
        r["inflation"] = r["computing"] / one["computing"]
        results.append(r)
        print("%6d %5d %5d %4d %6d %8d %8.2f | %9.2f %8.2f (%2.0f%%) | %9.2f "
              "%9.2f | %10.1f %9.1f %10.2f" % (
                  n, count, r["working"], r["block"], r["sweeps"],
                  r["messages"], r["bytes"] / 1e6, 1e3 * r["seconds"],
                  1e3 * r["seconds_network"],
                  100 * r["seconds_network"] / r["seconds"],
                  1e3 * r["seconds_measured"], 1e3 * r["seconds_floor"],
                  1e3 * one["seconds"], r["speedup"], r["inflation"]),
              flush=True)

if csv_path:
    with open(csv_path, "w", newline="") as file:
        writer = csv.DictWriter(file, results[0].keys())
        writer.writeheader()
        writer.writerows(results)

names = ["all_messages", "all_words", "flops"]
if len(results) >= 3:
    a, b, c = fit(results, names, "seconds")
    d, e = fit(results, names[:2], "seconds_network")
    print(f"\nT = a messages + b words + c flops:  a = {a * 1e6:.2f} us, "
          f"b = {b * 1e9:.3f} ns, c = {c * 1e9:.4f} ns ({1e-9 / c:.1f} Gflop/s)")
    print(f"network alone:                       a = {d * 1e6:.2f} us, "
          f"b = {e * 1e9:.3f} ns (the network's own: {latency * 1e6:.2f} us, "
          f"{8e9 / bandwidth:.3f} ns)")
    print("     N nodes  solve ms     model  error |   network     model  error")
    for r in results:
        t, m = 1e3 * r["seconds"], 1e3 * model(r, names, (a, b, c))
        u, v = 1e3 * r["seconds_network"], 1e3 * model(r, names[:2], (d, e))
        print("%6d %5d %9.2f %9.2f %5.0f%% | %9.2f %9.2f %5.0f%%" % (
            r["n"], r["nodes"], t, m, 100 * (m / t - 1), u, v,
            100 * (v / u - 1)))
END
