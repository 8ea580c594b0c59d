#!/usr/bin/env python3
"""Checkpoints, the log and the man page, tested from outside.

    tests/cli_checkpoint.py [NAME...]     run these tests, or all
    tests/cli_checkpoint.py --list        their names, one a line

As tests/cli.py, whose helpers are used.  Whatever happens to a run, one that
is resumed ends with the bits of one that was never interrupted.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import cli
from cli import (INPUT, INTERRUPTED, OUTPUT, ROOT, USAGE, Skip, expect, files,
                 peigh, refuse, report, succeed)

OFTEN = 0.0005  # minutes from checkpoint to checkpoint: 30 ms
ALWAYS = 1e-9  # a checkpoint before each pair of steps
RESULTS = ("-o", "values.npy", "-v", "vectors.npy")
SEED = int(os.environ.get("PEIGH_TEST_SEED", time.time_ns() % 10**6))


def problem(n):
    return ("--no-check", f"gallery:gaussian,n={n}")


def bits(where):
    return [(where / name).read_bytes() for name in RESULTS[1::2]]


def reference(folder, n):
    succeed(folder, 2, "-q", *RESULTS, *problem(n))
    return bits(folder)


def expect_resumes(folder, n, expected, name="ck", ranks=(1, 2, 3, 16)):
    for count in ranks:
        for result in RESULTS[1::2]:
            (folder / result).unlink(missing_ok=True)
        run = peigh(folder, count, "-q", "--resume", name, *RESULTS,
                    *problem(n))
        expect(run.code == 0, run.err)
        expect(bits(folder) == expected, "other bits from", name, "on", count,
               "ranks")
    return run


# --- runs that something happens to ------------------------------------------

def descendants(pid):
    """Processes below this one, those without children of their own."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    below = [x for child in children.split() for x in
             descendants(int(child)) or [int(child)]]
    return below


class Running:
    """peigh under mpirun, in the background.  Its ranks leave their exit
    codes in a folder, as those of cli.peigh do; not so if bare: then mpirun
    starts them itself."""

    def __init__(self, folder, ranks, *arguments, bare=False, env=None):
        self.notes = folder / f"codes-{time.monotonic_ns()}"
        self.notes.mkdir()
        self.ranks = ranks
        shell = [] if bare else ["sh", "-c", cli.NOTE_CODE, "sh"]
        command = [cli.MPIRUN, "-np", ranks, *shell, cli.PROGRAM, *arguments]
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=folder,
            env=cli.environment({"NOTES": str(self.notes), "LIMITED": "none",
                                 **(env or {})}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            cli.stop(self.process)

    def pids(self):
        """Of the ranks, in order of their start; waits until all are there."""
        deadline = time.monotonic() + cli.TIMEOUT
        while self.process.poll() is None and time.monotonic() < deadline:
            found = [pid for pid in descendants(self.process.pid)
                     if self.is_peigh(pid)]
            if len(found) == self.ranks:
                return sorted(found)
            time.sleep(0.005)
        return []

    @staticmethod
    def is_peigh(pid):
        with contextlib.suppress(OSError):
            return os.readlink(f"/proc/{pid}/exe") == os.path.realpath(
                cli.PROGRAM)
        return False

    def wait_for(self, path, what):
        """Until this is in the file."""
        deadline = time.monotonic() + cli.TIMEOUT
        while time.monotonic() < deadline:
            if path.exists() and what in path.read_text():
                return
            if self.process.poll() is not None:
                raise AssertionError(f"ended before {what} in {path}: "
                                     f"{self.process.communicate()}")
            time.sleep(0.005)
        raise AssertionError(f"no {what} in {path}")

    def end(self):
        """The run, when it has ended: the code of all its ranks, or None if
        they have left different ones, or none."""
        try:
            out, err = self.process.communicate(timeout=cli.TIMEOUT)
        except subprocess.TimeoutExpired:
            cli.stop(self.process)
            raise AssertionError("the run hangs") from None
        codes = [int(note.read_text() or -1) for note in self.notes.iterdir()]
        whole = len(codes) == self.ranks and len(set(codes)) == 1
        shutil.rmtree(self.notes)
        return cli.Run(codes[0] if whole else None, out, err)


def signalled(folder, ranks, number, whom, n=800, **more):
    """Start, wait for the first sweep, send a signal, wait for the end.
    whom: the ranks that get it."""
    with Running(folder, ranks, "-q", "--checkpoint", "ck", "--log", "log",
                 *RESULTS, *problem(n)) as run:
        pids = run.pids()
        run.wait_for(folder / "log", '"sweep": 1,')
        for rank in whom:
            os.kill(pids[rank], number)
        return run.end()


def log_lines(folder, name="log"):
    return [json.loads(line) for line in
            (folder / name).read_text().splitlines()]


# --- checkpoints at intervals ------------------------------------------------

def checkpoints_change_no_bit_and_any_number_of_ranks_goes_on(folder):
    expected = reference(folder, 500)
    told = report(folder, 3, "--checkpoint", "ck", "--every", OFTEN / 5,
                  *RESULTS, *problem(500))
    expect(bits(folder) == expected, "other bits with checkpoints")
    expect(told["checkpoints"]["written"] >= 2, told["checkpoints"])
    expect(told["checkpoints"]["failed"] == 0, told["checkpoints"])
    for name in ("ck", "ck.old"):
        expect((folder / name).stat().st_size ==
               told["checkpoints"]["bytes"], name)
        expect_resumes(folder, 500, expected, name)
    expect("ck.part" not in files(folder), files(folder))


def a_run_without_checkpoints_writes_none(folder):
    told = report(folder, 2, "-n", 50, "gallery:gaussian")
    expect(told["checkpoints"] == {"written": 0, "failed": 0, "bytes": 0})
    expect(told["resumed"] is None and files(folder) == [], files(folder))


def the_report_of_a_resumed_run_tells_of_all_sweeps(folder):
    whole = report(folder, 2, *problem(500))
    report(folder, 2, "--checkpoint", "ck", "--every", ALWAYS, *problem(500))
    told = report(folder, 3, "--resume", "ck", *problem(500))
    for key in ("sweeps", "off_norms", "rotations", "road", "shift",
                "asymmetry"):
        expect(told[key] == whole[key], key, told[key], whole[key])
    expect(told["resumed"]["from"] == "ck", told["resumed"])
    expect(1 <= told["resumed"]["sweep"] <= told["sweeps"], told["resumed"])
    expect(told["ranks"] == 3 and told["seconds"]["solve"] > 0, told)


def a_resumed_run_is_checked_against_the_matrix(folder):
    report(folder, 2, "--checkpoint", "ck", "--every", ALWAYS, *problem(300))
    told = report(folder, 3, "--resume", "ck", "-n", 300, "gallery:gaussian")
    expect(told["residual"] <= 1 and told["orthogonality"] <= 2, told)


def one_triangle_of_a_file_is_enough_to_go_on(folder):
    a = cli.gaussian(300)
    a[5, 200] = float("nan")
    name = cli.save(folder, a)
    arguments = ("--uplo", "lower", *RESULTS, name)
    succeed(folder, 2, "-q", *arguments)
    expected = bits(folder)
    succeed(folder, 2, "-q", "--checkpoint", "ck", "--every", ALWAYS,
            *arguments)
    a[5, 200] = 17  # nobody looks at it
    cli.save(folder, a)
    succeed(folder, 3, "-q", "--resume", "ck", *arguments)
    expect(bits(folder) == expected, "other bits")
    a[200, 5] += 1
    cli.save(folder, a)
    refuse(folder, INPUT, ("ck", "another matrix"), "--resume", "ck",
           *arguments, ranks=3)


# --- signals -----------------------------------------------------------------

def expect_stopped(folder, run, name):
    expect(run.code == INTERRUPTED, "ended with", run.code, run.err)
    expect(len(run.messages) == 1, run.messages)
    for word in (name, "--resume ck"):
        expect(word in run.messages[0], word, run.messages)
    expect("values.npy" not in files(folder), "there are results")


def sigterm_to_any_single_rank_writes_a_checkpoint_and_ends_them_all(folder):
    expected = reference(folder, 800)
    for rank in (0, 2):
        for name in (*RESULTS[1::2], "log"):
            (folder / name).unlink(missing_ok=True)
        expect_stopped(folder, signalled(folder, 3, signal.SIGTERM, [rank]),
                       "SIGTERM")
        expect(log_lines(folder)[-1]["status"] == "interrupted")
    expect_resumes(folder, 800, expected, ranks=(2, 3))


def sigint_to_all_ranks_writes_a_checkpoint_and_ends_them(folder):
    expected = reference(folder, 800)
    for name in RESULTS[1::2]:
        (folder / name).unlink()
    expect_stopped(folder, signalled(folder, 2, signal.SIGINT, [0, 1]),
                   "SIGINT")
    expect_resumes(folder, 800, expected, ranks=(1, 3))


def sigusr1_to_one_rank_writes_a_checkpoint_and_the_run_goes_on(folder):
    expected = reference(folder, 800)
    run = signalled(folder, 3, signal.SIGUSR1, [1])
    expect(run.code == 0 and not run.messages, run.code, run.err)
    expect(bits(folder) == expected, "other bits")
    written = [line for line in log_lines(folder) if "checkpoint" in line]
    expect(len(written) == 1 and written[0]["checkpoint"] == "ck", written)
    expect_resumes(folder, 800, expected, ranks=(2,))


def sigterm_to_mpirun_leaves_a_checkpoint(folder):
    """It hands it on, and kills what is there a second later.  What ranks say then may be lost.
    mpirun takes its time to react, so the solve is a longer one."""
    expected = reference(folder, 1600)
    with Running(folder, 3, "-q", "--checkpoint", "ck", "--log", "log",
                 *problem(1600), bare=True) as run:
        run.wait_for(folder / "log", '"sweep": 1,')
        run.process.send_signal(signal.SIGTERM)
        ended = run.end()
    expect(log_lines(folder)[-1].get("status") != "success", ended)
    expect_resumes(folder, 1600, expected, ranks=(3,))


def a_second_sigterm_ends_the_run_at_once(folder):
    """Even if a rank is stuck, here by SIGSTOP, and no checkpoint can come."""
    with Running(folder, 3, "-q", "--checkpoint", "ck", "--log", "log",
                 *problem(800)) as run:
        first, _, stuck = run.pids()
        run.wait_for(folder / "log", '"sweep": 1,')
        os.kill(stuck, signal.SIGSTOP)
        os.kill(first, signal.SIGTERM)
        os.kill(first, signal.SIGTERM)  # launchers send it twice
        time.sleep(1.2)
        expect(first in run.pids(), "it did not wait for its checkpoint")
        os.kill(first, signal.SIGTERM)
        ended = run.end()
    expect(ended.code is None, "all ranks ended with", ended.code)
    expect("ck" not in files(folder), files(folder))


# --- killed ------------------------------------------------------------------

def whatever_rank_is_killed_whenever_the_result_has_the_same_bits(folder):
    """Runs are killed and resumed, with SIGKILL at a random moment in a random
    rank of random many, until one has come through.  A dead rank ends the job:
    nothing hangs."""
    print("PEIGH_TEST_SEED =", SEED, flush=True)
    chance = random.Random(SEED)
    expected = reference(folder, 600)
    killed = resumed = 0
    while killed < 6:
        for name in RESULTS[1::2]:
            (folder / name).unlink(missing_ok=True)
        saved = "ck" in files(folder) or "ck.old" in files(folder)
        ranks = chance.choice((1, 2, 3, 3, 16))
        resume = ("--resume", "ck") if saved else ()
        with Running(folder, ranks, "-q", "--checkpoint", "ck", "--every",
                     OFTEN, *resume, *RESULTS, *problem(600)) as run:
            pids = run.pids()
            time.sleep(chance.uniform(0.0, 0.8))
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(chance.choice(pids), signal.SIGKILL)
            ended = run.end()
        if ended.code == 0:  # too late: it has come through
            expect(bits(folder) == expected, "other bits after", killed)
            for name in ("ck", "ck.old"):
                (folder / name).unlink(missing_ok=True)
        else:
            expect(ended.code in (None, 128 + signal.SIGKILL), "ended with",
                   ended.code, ended.err)
            killed += 1
            resumed += saved
        expect(set(files(folder)) <= {"ck", "ck.old", "ck.part",
                                      *RESULTS[1::2]} or
               any(".part-" in name for name in files(folder)), files(folder))
        for part in folder.glob("*.npy.part-*"):
            part.unlink()  # of results that were just being written
    expect(resumed > 0, "no run was resumed in six kills")
    if "ck" not in files(folder) and "ck.old" not in files(folder):
        succeed(folder, 3, "-q", "--checkpoint", "ck", "--every", ALWAYS,
                *problem(600))
    expect_resumes(folder, 600, expected)


def what_a_killed_run_left_half_written_is_cleared_away(folder):
    (folder / "ck.part").write_bytes(b"half")
    succeed(folder, 2, "-q", "--checkpoint", "ck", *problem(50))
    expect(files(folder) == [], files(folder))


# --- a full disk -------------------------------------------------------------

@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of so many bytes."""
    place = folder / "disk"
    place.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        raise Skip("only root can mount a small disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}",
                           "tmpfs", str(place)], stderr=subprocess.PIPE)
    if made.returncode:
        raise Skip(f"no small disk: {made.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def a_full_disk_costs_a_checkpoint_but_not_the_run(folder):
    """Room for one and a half: the first is written, no second one is."""
    expected = reference(folder, 500)
    size = 8 * 500 * 530
    with small_disk(folder, size * 3 // 2) as disk:
        run = peigh(folder, 3, "--checkpoint", "disk/ck", "--every", OFTEN / 5,
                    "--json", "r.json", "-q", *RESULTS, *problem(500))
        told = json.loads((folder / "r.json").read_text())["checkpoints"]
        expect(run.code == 0 and bits(folder) == expected, run.err)
        expect(told["written"] == 1 and told["failed"] >= 1, told)
        expect(len(run.messages) == told["failed"], run.messages)
        for word in ("disk/ck", "going on"):
            expect(word in run.messages[0], word, run.messages)
        expect(files(disk) == ["ck"], files(disk))
        expect_resumes(folder, 500, expected, "disk/ck", ranks=(3,))


def a_run_that_is_stopped_on_a_full_disk_says_so_and_keeps_the_old_one(folder):
    expected = reference(folder, 800)
    with small_disk(folder, 8 * 800 * 840 * 3 // 2) as disk:
        arguments = ("-q", "--checkpoint", "disk/ck", "--log", "log",
                     *problem(800))
        for number in (1, 2):
            with Running(folder, 3, *arguments) as run:
                first = run.pids()[0]
                run.wait_for(folder / "log", '"sweep": 1,')
                os.kill(first, signal.SIGTERM)
                ended = run.end()
            expect(ended.code == (INTERRUPTED, OUTPUT)[number - 1], ended)
            (folder / "log").unlink()
        expect("disk/ck" in ended.messages[0], ended.messages)
        expect(files(disk) == ["ck"], files(disk))
        expect_resumes(folder, 800, expected, "disk/ck", ranks=(2,))


# --- what is not a checkpoint of this run ------------------------------------

def spoil(path, where, length=1):
    with open(path, "r+b") as file:
        file.seek(where, os.SEEK_SET if where >= 0 else os.SEEK_END)
        old = file.read(length)
        file.seek(-len(old), os.SEEK_CUR)
        file.write(bytes(byte ^ 1 for byte in old))


def make_two(folder, n=300):
    """ck and ck.old."""
    succeed(folder, 2, "-q", "--checkpoint", "ck", "--every", ALWAYS,
            *problem(n))
    expect("ck.old" in files(folder), files(folder))


def a_checkpoint_may_have_a_name_of_one_letter(folder):
    expected = reference(folder, 300)
    make_two(folder)
    (folder / "ck").rename(folder / "c")
    expect_resumes(folder, 300, expected, "c", ranks=(2,))


def the_older_checkpoint_is_used_if_the_newer_is_damaged(folder):
    expected = reference(folder, 300)
    make_two(folder)
    whole = (folder / "ck").read_bytes()
    half = len(whole) // 2
    for content, mentioned in ((whole[:half], "bytes instead of"),
                               (b"", "not a checkpoint"),
                               (whole[:half] + bytes(half), "checksum"),
                               (None, "No such file")):
        (folder / "ck").unlink(missing_ok=True)
        if content is not None:
            (folder / "ck").write_bytes(content)
        run = expect_resumes(folder, 300, expected, ranks=(3,))
        expect(len(run.messages) == 1, run.messages)
        for word in ("ck", mentioned, "going on", ".old"):
            expect(word in run.messages[0], word, run.messages)


def a_damaged_checkpoint_does_not_replace_the_older_one(folder):
    """The next one is written over the damaged one."""
    expected = reference(folder, 300)
    make_two(folder)
    spoil(folder / "ck", -100)
    old = (folder / "ck.old").read_bytes()
    run = peigh(folder, 2, "-q", "--checkpoint", "ck", "--every", ALWAYS,
                "--resume", "ck", "--max-sweeps", 1, *problem(300))
    expect(run.code != 0, "one sweep was enough")
    spoilt = (folder / "ck.old").read_bytes()
    expect(spoilt == old or len(spoilt) == len(old), "ck.old is gone")
    expect_resumes(folder, 300, expected, "ck.old", ranks=(2,))
    expect_resumes(folder, 300, expected, "ck", ranks=(3,))


def two_damaged_checkpoints_are_refused_with_both_reasons(folder):
    make_two(folder)
    spoil(folder / "ck", 5000)
    (folder / "ck.old").write_bytes((folder / "ck.old").read_bytes()[:-1])
    refuse(folder, INPUT, ("ck", "column", "ck.old", "bytes instead of"),
           "--resume", "ck", *RESULTS, *problem(300), ranks=3)
    expect(files(folder) == ["ck", "ck.old"], files(folder))


def checkpoints_of_other_runs_are_refused_with_the_reason(folder):
    make_two(folder)
    for arguments, mentioned in (
            (problem(301), "order"),
            (("--seed", 2, *problem(300)), "another matrix"),
            (("gallery:min,n=300",), "another matrix"),
            (("-w", 8, *problem(300)), "block width"),
            (("--tol", "1e-14", *problem(300)), "--tol"),
            (("--definite", "no", *problem(300)), "--definite"),
            (("--uplo", "lower", *problem(300)), "--uplo"),
            (("--symmetrize", *problem(300)), "--symmetrize")):
        refuse(folder, INPUT, ("ck", mentioned), "--resume", "ck", *arguments)


def what_is_no_checkpoint_is_refused(folder):
    (folder / "folder").mkdir()
    cli.save(folder, cli.gaussian(30))
    (folder / "empty").write_bytes(b"")
    for name, mentioned in (("gone", "No such file"), ("folder", "directory"),
                            ("a.npy", "not a checkpoint"),
                            ("empty", "not a checkpoint")):
        refuse(folder, INPUT, (name, mentioned), "--resume", name,
               *problem(30), ranks=3)


# --- where checkpoints go ----------------------------------------------------

def a_file_that_is_no_checkpoint_is_not_written_over(folder):
    for name in ("precious", "other.old"):
        (folder / name).write_text("precious data")
    for path in ("precious", "other", "gone/ck"):
        refuse(folder, OUTPUT, (path, "cannot write"), "--checkpoint", path,
               *problem(30))
    expect((folder / "precious").read_text() == "precious data")
    expect(files(folder) == ["other.old", "precious"], files(folder))


def options_of_checkpoints_are_checked(folder):
    for arguments, mentioned in (
            (["--every", 1], ("--every", "--checkpoint")),
            (["--checkpoint", "ck", "--every", 0], ("--every", "0")),
            (["--checkpoint", "ck", "--every", "-1"], ("--every", "-1")),
            (["--checkpoint", "ck", "--every", "soon"], ("--every", "soon")),
            (["--checkpoint", "ck", "--every", "inf"], ("--every", "inf")),
            (["--checkpoint", "x.npy", "-v", "x.npy"], "same file"),
            (["--checkpoint", "x", "--log", "x"], "same file"),
            (["--log", "x.npy", "-o", "./x.npy"], "same file")):
        refuse(folder, USAGE, mentioned, *arguments, *problem(30))
    for option in ("--checkpoint", "--every", "--resume", "--log"):
        refuse(folder, USAGE, option, option)
    expect(files(folder) == [], files(folder))


def the_plan_tells_the_size_of_a_checkpoint(folder):
    plan = report(folder, 2, "--plan", "--checkpoint", "ck", *problem(300))
    make_two(folder)
    expect(plan["checkpoints"]["bytes"] == (folder / "ck").stat().st_size,
           plan)
    without = report(folder, 2, "--plan", *problem(300))["memory"]
    expect(plan["memory"]["most_bytes"] == without["most_bytes"],
           "checkpoints take memory")
    expect(plan["memory"]["workspace_bytes"] == without["workspace_bytes"])


# --- the log -----------------------------------------------------------------

def the_log_has_a_line_per_sweep_and_the_report(folder):
    told = report(folder, 3, "--log", "log", "-n", 100, "gallery:gaussian")
    *sweeps, last = log_lines(folder)
    expect([line["sweep"] for line in sweeps] ==
           list(range(1, told["sweeps"] + 1)), sweeps)
    expect([line["off_norm"] for line in sweeps] == told["off_norms"])
    expect(sum(line["rotations"] for line in sweeps) == told["rotations"])
    expect(last == told, "another report than --json")


def the_log_is_there_while_the_run_goes_on(folder):
    with Running(folder, 2, "-q", "--log", "log", *problem(800)) as run:
        pids = run.pids()
        run.wait_for(folder / "log", '"sweep": 1,')
        os.kill(pids[0], signal.SIGSTOP)
        lines = (folder / "log").read_text().splitlines()
        expect(lines and all("status" not in line for line in lines), lines)
        os.kill(pids[0], signal.SIGCONT)
        expect(run.end().code == 0)
    expect(log_lines(folder)[-1]["status"] == "success")


def a_resumed_run_goes_on_with_its_log(folder):
    run = signalled(folder, 2, signal.SIGTERM, [1])
    expect(run.code == INTERRUPTED, run)
    before = log_lines(folder)
    succeed(folder, 3, "-q", "--resume", "ck", "--log", "log", *problem(800))
    after = log_lines(folder)
    expect(after[:len(before)] == before, "the old lines are gone")
    sweeps = [line["sweep"] for line in after if "sweep" in line]
    expect(sweeps == list(range(1, after[-1]["sweeps"] + 1)), sweeps)
    succeed(folder, 2, "-q", "--log", "log", *problem(50))
    expect(log_lines(folder)[0]["sweep"] == 1, "a new run, an old log")


def the_log_tells_of_failures(folder):
    refuse(folder, cli.NO_CONVERGENCE, "no convergence", "--log", "log",
           "--max-sweeps", 2, *problem(60))
    expect(log_lines(folder)[-1]["status"] == "no convergence")
    refuse(folder, OUTPUT, "gone/log", "--log", "gone/log", *problem(60))


def a_log_that_cannot_be_written_is_an_error_of_the_end(folder):
    expected = reference(folder, 500)
    with small_disk(folder, 4096):
        for result in RESULTS[1::2]:
            (folder / result).unlink()
        refuse(folder, OUTPUT, "disk/log", "--log", "disk/log",
               "--checkpoint", "ck", "--every", ALWAYS, *RESULTS,
               *problem(500))
        expect(bits(folder) == expected, "the results are not there")


def plot_draws_the_log_of_a_run(folder):
    if not shutil.which("gnuplot"):
        raise Skip("no gnuplot")
    succeed(folder, 2, "-q", "--log", "log", *problem(100))
    plot = ROOT / "scripts" / "plot.sh"
    run = cli.start([plot, "--run", "log"], folder)
    expect(run.code == 0 and not run.err, run)
    picture = (folder / "log.png").read_bytes()
    expect(picture[:8] == b"\x89PNG\r\n\x1a\n" and len(picture) > 5000)
    (folder / "empty").write_text("")
    for name in ("empty", "gone"):
        run = cli.start([plot, "--run", name], folder)
        expect(run.code == 1 and name in run.err, run)


# --- the man page ------------------------------------------------------------

def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def the_man_page_and_help_know_the_same_options_and_exit_codes(folder):
    page = (ROOT / "src" / "peigh.1").read_text().replace(r"\-", "-")
    text = succeed(folder, 1, "--help").out
    expect(len(options_of(text)) >= 22, "options were not found in --help")
    expect(options_of(page) == options_of(text),
           options_of(page) ^ options_of(text))
    source = (ROOT / "src" / "main.c").read_text()
    codes = {int(code) for code in re.findall(r"EXIT_[A-Z_]+ = (\d+)",
                                              source)}
    expect(len(codes) >= 8, "exit codes were not found")
    told = text[text.index("Exit codes"):text.index("Gallery")]
    expect({int(x) for x in re.findall(r"\b(\d)\b", told)} == codes | {0},
           told)
    section = page[page.index(".SH EXIT STATUS"):]
    section = section[:section.index(".SH", 5)]
    expect({int(x) for x in re.findall(r"^\.B (\d)$", section, re.M)} ==
           codes | {0}, section)


def the_man_page_is_well_formed(folder):
    if not shutil.which("man"):
        raise Skip("no man")
    run = cli.start(["man", "--warnings", "-l", str(ROOT / "src/peigh.1")],
                    folder, env={"LC_ALL": "C.UTF-8", "MANROFFSEQ": "",
                                 "MANWIDTH": "80", "MANPAGER": "cat"})
    expect(run.code == 0 and run.err == "", run.err)
    expect("EXIT STATUS" in run.out and "--checkpoint" in run.out, run.out)


if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], sys.modules[__name__]))
