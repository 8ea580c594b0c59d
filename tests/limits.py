#!/usr/bin/env python3
"""Memory limits: a run that the plan allows never dies, one that it refuses
never starts.

    tests/limits.py [NAME...]     as tests/cli.py, whose helpers it uses

Each test runs under a generous limit L first, which tells the bytes that the
plan takes (most_bytes) and those that were left to each rank (left_bytes).
The border is at

    L - (left_bytes - most_bytes) * ranks that share the limit.

Then limits around the border are tried.  Those MARGIN above it must be enough,
those MARGIN below it must be refused, and between, where what MPI takes from
run to run decides, either may happen: but nothing else, and never an end by a
signal or by the kernel.
"""
import contextlib
import os
import pathlib
import sys

import cli
from cli import MEMORY, MPIRUN, PROGRAM, Skip, expect, np, save, scipy, start

MIB = 1 << 20
MARGIN = 6 * MIB  # what MPI takes differs by up to 2 MB a rank, measured


def run_limited(folder, ranks, arguments, confined):
    return start([MPIRUN, "-np", ranks, PROGRAM, "--json", "report.json",
                  "-q", *arguments], folder, **confined)


def expect_border(folder, ranks, sharers, arguments, confine, generous):
    """confine(limit): keyword arguments for start()."""
    first = run_limited(folder, ranks, arguments, confine(generous))
    if first.code:
        raise Skip(f"no run under the generous limit: {first.err}")
    memory = cli.json.loads((folder / "report.json").read_text())["memory"]
    expect(abs(memory["limit_bytes"] - generous) < MIB, memory)
    spare = memory["left_bytes"] - memory["most_bytes"]
    border = generous - spare * sharers
    margin = MARGIN * sharers
    started = refused = 0
    for part in (-2, -1, -0.2, 0, 0.2, 1, 2):
        limit = int(border + part * margin) // 4096 * 4096
        run = run_limited(folder, ranks, arguments, confine(limit))
        allowed = run.code == 0
        expect(allowed or run.code == MEMORY, part, "of the margin from the",
               "border: ended with", run.code, run.err)
        expect(allowed or "has not enough memory" in run.messages[0],
               "started and then failed:", run.err)
        expect(len(run.messages) == (not allowed), run.err)
        expect(allowed or part < 1, part, "was refused", run.messages)
        expect(not allowed or part > -1, part, "was allowed")
        started += allowed
        refused += not allowed
    expect(started >= 2 and refused >= 2, started, refused)


def nearly_diagonal(n):
    """Memory matters here, not time: two sweeps will do."""
    a = np.diag(np.arange(1.0, n + 1))
    a[0, 1] = a[1, 0] = 0.5
    return a


def cases(where):
    """What takes memory in different ways, at least three margins of it."""
    a = nearly_diagonal(1700)
    scipy.io.mmwrite(str(where / "a.mtx"), scipy.sparse.coo_matrix(a))
    yield 2, ["-o", "w.npy", "-v", "v.npy", save(where, a)]
    yield 1, ["--uplo", "lower", "-o", "w.txt", "a.mtx"]
    for ranks, peer in (3, "pdsyev"), (2, "pdsyevr"), (4, "pdsyevd"):
        yield ranks, ["--compare", peer, "-n", 900, "gallery:min"]
    yield 2, ["-o", "r.h5:/w", "-v", "r.h5:/v", "a.npy"]


# --- ulimit -v: each process for itself ---------------------------------------

def under_ulimit(folder, number):
    ranks, arguments = list(cases(folder))[number]
    expect_border(folder, ranks, 1, arguments, lambda limit: {"limit": limit},
                  4 << 30)


def ulimit_v_results_in_files(folder):
    under_ulimit(folder, 0)


def ulimit_v_text_input(folder):
    under_ulimit(folder, 1)


def ulimit_v_pdsyev(folder):
    under_ulimit(folder, 2)


def ulimit_v_pdsyevr(folder):
    under_ulimit(folder, 3)


def ulimit_v_pdsyevd(folder):
    under_ulimit(folder, 4)


def ulimit_v_results_in_hdf5(folder):
    under_ulimit(folder, 5)


# --- a control group: all ranks together --------------------------------------

@contextlib.contextmanager
def control_group():
    """A new one below our own; the name of its file for the limit."""
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    trees = [(pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes",
              [l.split(":", 2)[2] for l in lines
               if "memory" in l.split(":")[1].split(",")]),
             (pathlib.Path("/sys/fs/cgroup"), "memory.max",
              [l[3:] for l in lines if l.startswith("0::")])]
    for mount, limit, paths in trees:
        for path in paths:
            group = mount / path.lstrip("/") / f"peigh-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                if (group / limit).exists():
                    yield group, limit
                    return
            finally:
                group.rmdir()
    raise Skip("no memory control group can be made here")


def killed(group):
    """How many processes of the group the kernel has killed."""
    for name in ("memory.events", "memory.oom_control"):
        with contextlib.suppress(OSError):
            for line in (group / name).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return 0


def in_cgroup(folder, number):
    ranks, arguments = list(cases(folder))[number]
    with control_group() as (group, name):
        def confine(limit):
            (group / name).write_text(str(limit))
            return {"group": group}

        try:
            expect_border(folder, ranks, ranks, arguments, confine, 1 << 30)
        finally:
            expect(killed(group) == 0, killed(group), "processes killed")


def cgroup_results_in_files(folder):
    in_cgroup(folder, 0)


def cgroup_text_input(folder):
    in_cgroup(folder, 1)


def cgroup_pdsyev(folder):
    in_cgroup(folder, 2)


def cgroup_pdsyevr(folder):
    in_cgroup(folder, 3)


def cgroup_pdsyevd(folder):
    in_cgroup(folder, 4)


def cgroup_results_in_hdf5(folder):
    in_cgroup(folder, 5)


# --- --mem, Slurm's variables -------------------------------------------------

def slurm_variables_limit_the_ranks_of_a_node(folder):
    """Of 100 MB, two ranks of 8 columns of 100 kB have no more than half."""
    arguments = ["-n", 3000, "gallery:gaussian"]
    for env, name in (({"SLURM_MEM_PER_NODE": "100"}, "SLURM_MEM_PER_NODE"),
                      ({"SLURM_MEM_PER_CPU": "50", "SLURM_CPUS_ON_NODE": "2"},
                       "SLURM_MEM_PER_CPU")):
        run = start([MPIRUN, "-np", 2, PROGRAM, "-q", *arguments], folder,
                    env=env)
        expect(run.code == MEMORY, run)
        for word in ("104.9 MB", name, "shared by 2 ranks", "ranks with"):
            expect(word in run.messages[0], word, run.messages)
    run = start([MPIRUN, "-np", 2, PROGRAM, "-q", "-n", 20,
                 "gallery:gaussian"], folder, env={"SLURM_MEM_PER_NODE": "0"})
    expect(run.code == 0, run)


def a_run_on_the_ranks_that_a_refusal_names_starts(folder):
    arguments = ["--mem", "60M", "-q", "-n", 3000, "--max-sweeps", 1,
                 "gallery:gaussian"]
    run = start([MPIRUN, "-np", 1, PROGRAM, *arguments], folder)
    expect(run.code == MEMORY, run)
    ranks = int(cli.re.search(r"(\d+) ranks with", run.messages[0])[1])
    run = start([MPIRUN, "-np", ranks, PROGRAM, *arguments], folder)
    expect(run.code == cli.NO_CONVERGENCE, ranks, run)


if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], sys.modules[__name__]))
