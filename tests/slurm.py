#!/usr/bin/env python3
"""Under a real Slurm of one node, scripts/slurm-here.sh.

    tests/slurm.py [NAME...]     as tests/cli.py, whose helpers it uses
"""
import os
import sys

import cli
from cli import MEMORY, MPI, MPIRUN, PROGRAM, ROOT, Skip, expect, start

HERE = ROOT / "scripts" / "slurm-here.sh"


def slurm(folder, *command, env=None):
    """Run a command in a Slurm of its own; all of its tasks see the folder."""
    run = start([HERE, *command], folder, env=env)
    if run.code == cli.SKIPPED:
        raise Skip(run.err)
    return run


def srun(folder, *arguments):
    return slurm(folder, "srun", "--mpi=pmix", *arguments)


def batch(folder, options, script):
    """Submit a script and wait for its end; its exit code and output."""
    (folder / "job.sh").write_text("#!/bin/sh\n" + script)
    run = slurm(folder, "sbatch", "-Q", "--wait", "-o", "out", *options,
                "job.sh")
    return run.code, (folder / "out").read_text()


def srun_of_two_tasks_solves(folder):
    run = srun(folder, "-n", 2, PROGRAM, "-n", 60, "--json", "r.json",
               "gallery:gaussian")
    report = cli.json.loads((folder / "r.json").read_text())
    expect(run.code == 0 and report["ranks"] == 2, run)
    expect(report["residual"] <= 1 and "residual" in run.out, run)


def sixteen_tasks_on_few_cores_yield_when_idle(folder):
    run = srun(folder, "-n", 16, "--overcommit", PROGRAM, "-n", 120,
               "--json", "r.json", "gallery:gaussian")
    report = cli.json.loads((folder / "r.json").read_text())
    expect(run.code == 0 and report["ranks"] == 16, run)
    shared = 16 > os.cpu_count()
    expect(report["yields_when_idle"] == shared, report)
    expect(("cores are shared" in run.out) == shared, run.out)


def a_batch_job_solves_and_writes(folder):
    code, out = batch(folder, ["-n", 2, "--mem", "900M"],
                      f"srun --mpi=pmix {PROGRAM} -n 50 -o w.npy "
                      "gallery:gaussian\n")
    expect(code == 0 and "orthogonality" in out, out)
    expect(cli.np.load(folder / "w.npy").shape == (50,))


def mpirun_in_an_allocation_solves(folder):
    code, out = batch(folder, ["-n", 2, "--mem", "900M"],
                      f"{MPIRUN} -np 2 {PROGRAM} -n 50 gallery:gaussian\n")
    expect(code == 0 and cli.re.search(r"ranks +2\b", out), out)


def a_job_that_needs_more_memory_than_it_has_is_refused(folder):
    """Two ranks of 144 MB, in 200 MB for both."""
    code, out = batch(folder, ["-n", 2, "--mem", "200M"],
                      f"srun --mpi=pmix {PROGRAM} -n 6000 gallery:min\n")
    expect(code == MEMORY, code, out)
    messages = [l for l in out.splitlines() if l.startswith("peigh: ")]
    expect(len(messages) == 1, out)
    for word in ("not enough memory", "SLURM_MEM_PER_NODE", "209.7 MB",
                 "ranks with"):
        expect(word in messages[0], word, messages)


def tasks_that_do_not_see_each_other_stop_with_the_fix(folder):
    run = slurm(folder, "srun", "--mpi=none", "-n", 2, PROGRAM, "-n", 20,
                "gallery:min")
    expect(run.code == MPI, run)
    expect(len(run.messages) == 1, run.err)
    expect("srun --mpi=pmix" in run.messages[0], run.messages)


# --- stopped before the time is over, requeued, finished ----------------------

# What --signal does 5 minutes before the limit is done once the first sweep
# is over; a requeued job, which Slurm holds back for two minutes, starts at
# once.
STOPPED_ONCE = """
job=$(sbatch --parsable "$@")
until grep -q sweep log; do sleep 0.2; done 2>/dev/null
scancel --signal=TERM $job
until squeue -h -t pending -j $job | grep -q .; do sleep 0.5; done
scontrol update job=$job StartTime=now
while squeue -h -j $job | grep -q .; do sleep 0.5; done
scontrol show job $job
"""


def the_batch_script_is_stopped_requeued_and_finishes(folder):
    script = (ROOT / "scripts" / "peigh.sbatch").read_text()
    for old, new in (("--ntasks=64", "--ntasks=2"),
                     ("--mem-per-cpu=4G", "--mem-per-cpu=900M"),
                     ("--json report.json", "--log log")):
        expect(script.count(old) == 1, old)
        script = script.replace(old, new)
    (folder / "job.sh").write_text(script)
    matrix = "gallery:gaussian,n=1600"
    run = slurm(folder, "sh", "-c", STOPPED_ONCE, "sh", "job.sh",
                env={"PEIGH": PROGRAM, "PEIGH_MATRIX": matrix,
                     "PEIGH_CHECKPOINT": "c"})
    log = "".join(p.read_text() for p in folder.glob("peigh-*.log"))
    expect("JobState=COMPLETED" in run.out, run.out, log)
    expect("Restarts=1" in run.out, run.out, log)
    resumed = (folder / "w.npy").read_bytes()
    expect(cli.solved_bytes(folder, 2, matrix)[0] ==
           (folder / "values.npy").read_bytes() == resumed, "other bits")


if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], sys.modules[__name__]))
