"""Interleaved timings of build/bench, for scripts/bench.sh.

For each number of ranks and each N: every peer tries each block size once
(round 0) and keeps its best.  Then K rounds of

    dgemm, peigh, peer, peigh, next peer, ...

so that a change in the load of the machine meets all of them.  Every run is a
process of its own and a row of the CSV file; the tables hold medians over
rounds 1 .. K, and ratios of medians of the same invocation only.
"""
import argparse
import csv
import datetime
import os
import statistics
import subprocess
import sys

PEERS = "pdsyev pdsyevd pdsyevr elpa1 elpa2"
DGEMM_ORDER = 1000
EPS = 2.0 ** -52
COLUMNS = ("date commit processor blas ranks cores n solver round block grid "
           "seconds setup gram rotate update exchange sweeps messages bytes "
           "memory residual orthogonality gflops").split()
CORES = len(os.sched_getaffinity(0))


def numbers(text):
    return [int(word) for word in text.split()]


def read_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench.sh", description="peigh beside other solvers, "
        "interleaved; medians and ratios")
    parser.add_argument("--sizes", type=numbers, metavar='"N ..."')
    parser.add_argument("--ranks", type=numbers, metavar='"P ..."',
                        default=sorted({16, CORES}, reverse=True))
    parser.add_argument("--repeats", type=int, default=3, metavar="K")
    parser.add_argument("--peers", type=str.split, default=PEERS.split(),
                        metavar='"SOLVER ..."', help=PEERS + "; SOLVER:NB "
                        "fixes its block, and peigh:W is one, too")
    parser.add_argument("--blocks", type=numbers, default=[16, 32, 64],
                        metavar='"NB ..."', help="the peers' blocks to try")
    parser.add_argument("--csv", metavar="FILE", help="append here; default "
                        "bench.csv in the build folder")
    return parser.parse_args()


def output_of(*command):
    run = subprocess.run(command, capture_output=True, text=True, check=False,
                         env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"})
    return run.stdout.strip() if run.returncode == 0 else "unknown"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip().replace(",", " ")
    return "unknown"


def execute(ranks, solver, n, block=0):
    """One run of the driver, as a dict of strings; RuntimeError if it fails."""
    run = subprocess.run(
        ["scripts/mpirun.sh", "-np", str(ranks),
         os.path.join(os.environ.get("BUILD", "build"), "bench"), solver,
         str(n), str(block)], capture_output=True, text=True, check=False)
    for line in run.stdout.splitlines():
        if run.returncode == 0 and line.startswith("solver="):
            return dict(word.split("=", 1) for word in line.split())
    words = [line for line in run.stderr.splitlines()
             if line.startswith("bench:")]
    raise RuntimeError((words or [run.stderr.strip()])[0])


class Table:
    """The CSV file: a row is on disk as soon as its run is over."""

    def __init__(self, path):
        new = not os.path.exists(path) or os.path.getsize(path) == 0
        if not new:
            with open(path, encoding="utf-8", newline="") as old:
                if next(csv.reader(old)) != COLUMNS:
                    sys.exit(f"bench: {path} has other columns")
        self.file = open(path, "a", encoding="utf-8", newline="")
        self.writer = csv.DictWriter(self.file, COLUMNS, restval="",
                                     extrasaction="ignore")
        if new:
            self.writer.writeheader()
        self.common = {
            "date": datetime.datetime.now().isoformat(timespec="seconds"),
            "commit": output_of("git", "describe", "--always", "--dirty"),
            "processor": processor(), "cores": CORES}

    def add(self, row):
        self.writer.writerow({**self.common, **row})
        self.file.flush()


class Case:
    """All runs of one N on one number of ranks."""

    def __init__(self, table, ranks, n):
        self.table, self.ranks, self.n = table, ranks, n
        self.rows = {}   # name: rows of rounds 1 .. K
        self.block = {}  # name: block in use, 0 the default

    def run(self, name, number, block):
        solver = name.partition(":")[0]
        order = DGEMM_ORDER if solver == "dgemm" else self.n
        row = execute(self.ranks, solver, order, block)
        row.update(solver=name, round=number)
        self.table.add(row)
        return row

    def choose_block(self, peer, blocks):
        """Set the peer's best block; not all blocks suit all sizes."""
        best = None
        fixed = peer.partition(":")[2]
        self.block[peer] = int(fixed) if fixed else 0
        for block in [] if fixed else blocks:
            try:
                seconds = float(self.run(peer, 0, block)["seconds"])
            except RuntimeError as error:
                print(error, file=sys.stderr)
                continue
            if best is None or seconds < best:
                best, self.block[peer] = seconds, block
        if best is None and not fixed:
            sys.exit(f"bench: {peer} did not run for N = {self.n}")

    def measure(self, peers, blocks, repeats):
        for peer in peers:
            self.choose_block(peer, blocks)
        self.block["peigh"] = self.block["dgemm"] = 0
        for number in range(1, repeats + 1):
            names = ["dgemm"] + [name for peer in peers
                                 for name in ("peigh", peer)]
            for name in names if peers else ["dgemm", "peigh"]:
                row = self.run(name, number, self.block[name])
                self.rows.setdefault(name, []).append(row)
        self.compare_eigenvalues()

    def compare_eigenvalues(self):
        """Both ends of the spectrum: what was timed has been solved."""
        ends = [[float(row[key]) for name, rows in self.rows.items()
                 for row in rows if name != "dgemm"]
                for key in ("lowest", "highest")]
        size = max(abs(value) for end in ends for value in end)
        for end in ends:
            if not max(end) - min(end) <= 2 * self.n * EPS * size:
                sys.exit(f"bench: N = {self.n}: eigenvalues differ: {end}")

    def median(self, name, key="seconds"):
        return statistics.median(float(row[key]) for row in self.rows[name])

    def spread(self):
        """Slowest run / fastest run of the same solver, the worst."""
        times = [[float(row["seconds"]) for row in rows]
                 for rows in self.rows.values()]
        return max(max(t) / min(t) for t in times)

    def share(self):
        """Of the dgemm rate: 5 N^3 flops for each full sweep (Gram matrices
        1, update 4) and N^3 for the last, which only finds that it is."""
        sweeps = self.median("peigh", "sweeps")
        flops = (5 * max(sweeps - 1, 0) + 1) * self.n ** 3
        return (1e-9 * flops / self.median("peigh")
                / self.median("dgemm", "gflops"))


def print_rows(rows):
    """A Markdown table, aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.rjust(width) for cell, width
                                in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 1) + ":"
                                 for width in widths) + "|")


def print_tables(cases, peers, repeats):
    first, common = cases[0], cases[0].table.common
    blas = first.rows["dgemm"][0]["blas"]
    print(f"\n{first.ranks} ranks on {CORES} cores: {common['processor']}, "
          f"BLAS {blas}, commit {common['commit']}, medians of {repeats}; one "
          f"solver's runs differ by up to {max(c.spread() for c in cases):.1f}"
          " times")
    print("\nTime of the peer / time of peigh (the peer's block):\n")
    rows = [["N", "peigh, s", "sweeps", "dgemm, GF/s", "share"] + peers]
    for c in cases:
        rows.append(
            [str(c.n), f"{c.median('peigh'):.4f}",
             f"{c.median('peigh', 'sweeps'):.0f}",
             f"{c.median('dgemm', 'gflops'):.1f}", f"{100 * c.share():.0f} %"]
            + [f"{c.median(p) / c.median('peigh'):.2f} ({c.block[p]})"
               for p in peers])
    print_rows(rows)
    print("\nMemory on the largest rank beyond that of MPI and BLAS, MB:\n")
    names = ["peigh"] + peers
    print_rows([["N"] + names] + [
        [str(c.n)] + [f"{1e-6 * c.median(p, 'memory'):.1f}" for p in names]
        for c in cases])
    sys.stdout.flush()


def without_elpa(peers):
    """Drop what the driver was built without, and say so."""
    if not any(peer.startswith("elpa") for peer in peers):
        return peers
    try:
        execute(1, "elpa1", 16, 4)
        return peers
    except RuntimeError as error:
        print(f"{error}; not compared (Debian: apt-get install libelpa-dev)",
              file=sys.stderr)
    return [peer for peer in peers if not peer.startswith("elpa")]


def main():
    arguments = read_arguments()
    path = arguments.csv or os.path.join(os.environ.get("BUILD", "build"),
                                         "bench.csv")
    peers = without_elpa(arguments.peers)
    table = Table(path)
    for ranks in arguments.ranks:
        sizes = arguments.sizes or ([128, 256, 512, 1024] if ranks > CORES
                                    else [512, 1000, 2000, 4000])
        cases = []
        for n in sorted(sizes):
            print(f"{ranks} ranks, N = {n}", file=sys.stderr)
            cases.append(Case(table, ranks, n))
            cases[-1].measure(peers, arguments.blocks, arguments.repeats)
        print_tables(cases, peers, arguments.repeats)
    print(f"\nAll runs: {path}; scripts/plot.sh {path} draws them")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
