#!/usr/bin/env python3
"""The command line of peigh, tested from outside.

    tests/cli.py [NAME...]     run these tests, or all
    tests/cli.py --list        their names, one a line

A test is a function whose name is a sentence; it gets an empty folder of its
own, in which the program is started.  Measures and limits are those of the
program's own checks, computed here with NumPy:

    residual       max_j ||A z_j - lambda_j z_j||_2 / (n eps ||A||_2)  <= 1
    orthogonality  ||Z^T Z - I||_F / (n eps)                           <= 2
    eigenvalues    max_j |lambda_j - reference_j| / (n eps ||A||_2)    <= 1

PEIGH_PROGRAM names the program, ./peigh of the repository by default.
"""
import collections
import contextlib
import gzip
import inspect
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
except ImportError:  # the python3 of the PATH is not Debian's
    DEBIAN = "/usr/bin/python3"
    if os.path.exists(DEBIAN) and sys.executable != DEBIAN:
        os.execv(DEBIAN, [DEBIAN] + sys.argv)
    raise

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(os.environ.get("PEIGH_PROGRAM", ROOT / "peigh"))
MPIRUN = ROOT / "scripts" / "mpirun.sh"
TIMEOUT = 60  # seconds to one run; more is a hang
EPS = 2.0 ** -52
SKIPPED = 77  # the exit code that CTest is told to take for "not run"
LIMIT = 1_400_000_000  # bytes of address space, where a test limits it
BEYOND_MEMORY = 100_000_000  # an order that no address space holds

USAGE, INPUT, NO_CONVERGENCE, MEMORY, CHECK, OUTPUT, MPI, INTERRUPTED = range(1, 9)


class Skip(Exception):
    """This machine cannot run the test."""


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


# --- running the program -----------------------------------------------------

class Run(collections.namedtuple("Run", "code out err")):
    @property
    def messages(self):
        """What peigh said on stderr; mpirun adds lines of its own."""
        return [line for line in self.err.splitlines()
                if line.startswith("peigh: ")]

    @property
    def json(self):
        return json.loads(self.out)


def environment(extra):
    """Ours without the traces of a launcher that may have started us."""
    launcher = re.compile("(OMPI|PMI|PMIX|SLURM|ORTE|PRTE)_")
    kept = {k: v for k, v in os.environ.items()
            if not launcher.match(k) or k.startswith("OMPI_MCA_")}
    return {**kept, **(extra or {})}


def stop(process):
    """mpirun has to be asked: only it knows its ranks' process groups."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def start(command, folder, env=None, limit=None, stdout=subprocess.PIPE,
          group=None):
    """Run a command to its end; limit: bytes of address space; group: the
    folder of a control group to run in."""
    def confine():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    process = subprocess.Popen(
        [str(word) for word in command], cwd=folder, env=environment(env),
        stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
        preexec_fn=confine if limit or group else None)
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        stop(process)
        raise AssertionError(f"no end after {TIMEOUT} s: {command}") from None
    return Run(process.returncode, out, err)


def peigh_alone(folder, *arguments, **how):
    return start([PROGRAM, *arguments], folder, **how)


# mpirun stops the other ranks when one ends with an error, which would hide
# that they hang.  So every rank leaves a note of its exit code and ends well.
# LIMITED: the rank whose address space is limited, to LIMIT bytes.
NOTE_CODE = """
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" != "$LIMITED" ] || ulimit -v $((LIMIT / 1024))
"$@"
echo $? > "$NOTES/$rank"
"""


def peigh(folder, ranks, *arguments, limited_rank="none", **how):
    """Run on so many ranks; all have to end, with the same code."""
    with tempfile.TemporaryDirectory(prefix="peigh-codes-") as notes:
        run = start([MPIRUN, "-np", ranks, "sh", "-c", NOTE_CODE, "sh",
                     PROGRAM, *arguments], folder,
                    env={"NOTES": notes, "LIMITED": str(limited_rank),
                         "LIMIT": str(LIMIT)}, **how)
        codes = [int(note.read_text())
                 for note in pathlib.Path(notes).iterdir()]
    expect(len(codes) == ranks and len(set(codes)) == 1, arguments,
           "ended with codes", codes, run.err)
    return run._replace(code=codes[0])


def succeed(folder, ranks, *arguments, **how):
    run = peigh(folder, ranks, *arguments, **how)
    expect(run.code == 0, arguments, "ended with", run.code, run.err)
    expect(not run.messages, arguments, run.messages)
    return run


def refuse(folder, code, mentioned, *arguments, ranks=2, **how):
    """Fail as promised: this exit code, one line that names what is wrong."""
    run = peigh(folder, ranks, "-q", *arguments, **how)
    expect(run.code == code, arguments, "ended with", run.code, "instead of",
           code, run.err)
    expect(len(run.messages) == 1, arguments, "said", run.messages)
    for word in mentioned if isinstance(mentioned, tuple) else (mentioned,):
        expect(word in run.messages[0], repr(word), "is not in",
               run.messages[0])
    expect("--json" in arguments or run.out == "", arguments, "printed",
           run.out)
    return run


def report(folder, ranks, *arguments, **how):
    return succeed(folder, ranks, *arguments, "--json", "-", **how).json


# --- matrices and measures ---------------------------------------------------

def gaussian(n, seed=1):
    a = np.random.default_rng(seed).standard_normal((n, n))
    return a + a.T


def save(folder, a, name="a.npy"):
    np.save(folder / name, a)
    return name


def norm_of(values):
    return np.max(np.abs(values), initial=0.0) or 1.0


def expect_values(values, reference):
    """Right and ascending.  NaN fails."""
    n = len(reference)
    expect(values.shape == (n,), "shape", values.shape)
    expect(bool(np.all(values[1:] >= values[:-1])), "not ascending")
    error = np.max(np.abs(values - reference), initial=0.0)
    expect(error <= n * EPS * norm_of(reference), "eigenvalues off by", error)


def expect_pairs(a, values, vectors):
    a = np.asarray(a, dtype=float)
    n = len(a)
    expect_values(values, np.linalg.eigvalsh(a) if n else np.zeros(0))
    expect(vectors.shape == (n, n), "shape", vectors.shape)
    if n == 0:
        return
    columns = np.linalg.norm(a @ vectors - vectors * values, axis=0)
    residual = np.max(columns) / (n * EPS * norm_of(values))
    expect(residual <= 1, "residual", residual)
    defect = np.linalg.norm(vectors.T @ vectors - np.eye(n)) / (n * EPS)
    expect(defect <= 2, "orthogonality", defect)


def expect_solved(folder, ranks, a, name, *arguments):
    """Solve the matrix of a file; a: what NumPy is to compare with."""
    succeed(folder, ranks, "-q", "-o", "values.npy", "-v", "vectors.npy",
            *arguments, name)
    expect_pairs(a, np.load(folder / "values.npy"),
                 np.load(folder / "vectors.npy"))


def solved_bytes(folder, ranks, *arguments):
    """The result files of a run, as bytes."""
    succeed(folder, ranks, "-q", "-o", "values.npy", "-v", "vectors.npy",
            *arguments)
    return [(folder / name).read_bytes()
            for name in ("values.npy", "vectors.npy")]


# --- matrices from files -----------------------------------------------------

def expect_npy_layouts_solved(folder, kind):
    """Both orders of entries, both orders of bytes, various ranks."""
    layouts = [("<", "C", 1), ("<", "F", 2), (">", "C", 3), (">", "F", 16)]
    a = gaussian(45).astype(kind)
    for byte_order, order, ranks in layouts:
        name = save(folder, np.asarray(a, dtype=byte_order + kind,
                                       order=order))
        expect_solved(folder, ranks, a, name)


def float64_files_of_either_order_and_endianness_are_solved(folder):
    expect_npy_layouts_solved(folder, "f8")


def float32_files_of_either_order_and_endianness_are_solved(folder):
    expect_npy_layouts_solved(folder, "f4")


def files_written_by_scipy_mmwrite_are_solved(folder):
    """Dense and sparse, symmetric and general, real and integer."""
    dense = np.rint(10 * gaussian(40)) * (abs(gaussian(40, 2)) > 1)
    cases = [
        (dense + gaussian(40, 3), {}),
        (dense + gaussian(40, 3), {"symmetry": "general"}),
        (scipy.sparse.coo_matrix(0.1 * dense), {}),
        (scipy.sparse.coo_matrix(0.1 * dense), {"symmetry": "general"}),
        (dense.astype(int), {}),
        (scipy.sparse.coo_matrix(dense.astype(int)), {}),
    ]
    for k, (a, how) in enumerate(cases):
        scipy.io.mmwrite(str(folder / "a.mtx"), a, precision=17, **how)
        full = a.toarray() if scipy.sparse.issparse(a) else a
        expect_solved(folder, 1 + k % 3, full, "a.mtx")


def a_structural_matrix_as_users_have_them_is_solved(folder):
    path = ROOT / "tests" / "matrices" / "bcsstk01.mtx"
    expect_solved(folder, 3, scipy.io.mmread(str(path)).toarray(), path)


def small_and_odd_orders_are_solved_on_sixteen_ranks(folder):
    for n in (0, 1, 2, 3, 17):
        a = gaussian(n, n)
        expect_solved(folder, 16, a, save(folder, a))


def a_prime_order_is_solved_on_a_prime_number_of_ranks(folder):
    a = gaussian(97)
    expect_solved(folder, 7, a, save(folder, a))


def a_file_may_have_blanks_and_quotes_in_its_name(folder):
    name = save(folder, gaussian(5), 'my "best" matrix \\ 1.npy')
    expect(report(folder, 1, name)["matrix"] == name)


def an_order_that_agrees_with_the_file_is_accepted(folder):
    expect(report(folder, 1, "-n", 5, save(folder, gaussian(5)))["n"] == 5)


# --- one triangle, both triangles --------------------------------------------

def expect_other_triangle_unread(folder, uplo, other):
    """Garbage there changes not a bit, and neither check nor pdsyev mind."""
    n = 70
    a = gaussian(n)
    clean = solved_bytes(folder, 3, save(folder, a))
    rows, columns = other(n, 1 if uplo == "lower" else -1)
    spoilt = a.copy()
    spoilt[rows, columns] = np.where((rows + columns) % 2, 1e3, np.nan)
    name = save(folder, spoilt)
    expect(solved_bytes(folder, 3, "--uplo", uplo, name) == clean,
           "another result than from the clean matrix")
    run = report(folder, 3, "--uplo", uplo, "--compare", "pdsyev", name)
    expect(run["residual"] <= 1, run["residual"])
    limit = 2 * n * EPS * np.linalg.norm(a, 2)
    expect(run["pdsyev"]["max_eigenvalue_difference"] <= limit, run["pdsyev"])


def garbage_in_the_upper_triangle_is_not_seen_with_uplo_lower(folder):
    expect_other_triangle_unread(folder, "lower", np.triu_indices)


def garbage_in_the_lower_triangle_is_not_seen_with_uplo_upper(folder):
    expect_other_triangle_unread(folder, "upper", np.tril_indices)


def uplo_takes_the_triangle_that_numpy_calls_the_same(folder):
    a = np.random.default_rng(3).standard_normal((33, 33))
    name = save(folder, a)
    for uplo in ("lower", "upper"):
        succeed(folder, 2, "-q", "--uplo", uplo, "-o", "values.npy", name)
        expect_values(np.load(folder / "values.npy"),
                      np.linalg.eigvalsh(a, UPLO=uplo[0].upper()))


def uplo_applies_to_general_matrix_market_files(folder):
    a = np.random.default_rng(4).standard_normal((20, 20))
    scipy.io.mmwrite(str(folder / "a.mtx"), a, precision=17)
    lower = np.tril(a) + np.tril(a, -1).T
    expect_solved(folder, 2, lower, "a.mtx", "--uplo", "lower")


def nan_in_the_triangle_that_is_read_is_refused(folder):
    a = gaussian(30)
    a[20, 4] = np.nan
    refuse(folder, INPUT, ("a.npy", "A[20,4]"), "--uplo", "lower",
           save(folder, a))


def symmetrize_solves_the_mean_of_the_matrix_and_its_transpose(folder):
    a = np.random.default_rng(5).standard_normal((61, 61))
    expect_solved(folder, 3, (a + a.T) / 2, save(folder, a), "--symmetrize")


def definite_yes_gives_every_eigenvalue_to_13_digits(folder):
    matrices = pathlib.Path(ROOT) / "tests" / "matrices"
    exact = np.load(matrices / "graded_permuted_101.eig.npy")
    for choice in ("yes", "auto"):
        told = report(folder, 3, "--definite", choice, "-o", "w.npy",
                      matrices / "graded_permuted_101.npy")
        values = np.load(folder / "w.npy")
        expect(np.max(np.abs(values - exact) / exact) <= 1e-13, choice)
        expect(told["road"] == "cholesky" and told["shift"] == 0, told)
        expect(told["accuracy"] == "relative", told)


def definite_yes_refuses_an_indefinite_matrix_by_its_pivot(folder):
    a = np.diag(np.arange(1.0, 41.0))
    a[7, 7] = -1e-3
    refuse(folder, INPUT, ("a.npy", "not positive definite", "column 7 "),
           "--definite", "yes", save(folder, a), ranks=3)
    expect(report(folder, 3, save(folder, a))["accuracy"] == "absolute")


def definite_no_goes_straight_to_the_shift(folder):
    told = report(folder, 2, "--definite", "no", "-n", 40, "gallery:min")
    expect(told["road"] == "shift" and told["shift"] != 0, told)


def every_solver_of_scalapack_can_be_compared_with(folder):
    for name in ("pdsyev", "pdsyevd", "pdsyevr"):
        told = report(folder, 2, "--compare", name, "-n", 60, "gallery:min")
        difference = told[name]["max_eigenvalue_difference"]
        expect(difference <= 60 * 2.0**-52 * 1500, name, difference)


def ranks_that_share_cores_yield_when_idle(folder):
    arguments = ("--json", "-", "-n", 20, "gallery:min")
    for variable in ("SLURM_TASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE"):
        for value, yields in (("1", False), ("9999(x2)", True)):
            told = peigh_alone(folder, *arguments,
                               env={variable: value}).json
            expect(told["yields_when_idle"] == yields, variable, value)
    asked = {"SLURM_TASKS_PER_NODE": "9999",
             "OMPI_MCA_mpi_yield_when_idle": "0"}
    told = peigh_alone(folder, *arguments, env=asked).json
    expect(not told["yields_when_idle"], "the user's word counts")
    expect(report(folder, 16, "-n", 20, "gallery:min")["yields_when_idle"]
           == (os.cpu_count() < 16))


def a_matrix_that_is_not_symmetric_is_refused_with_the_worst_pair(folder):
    a = gaussian(50)
    a[3, 7] += 1e-3
    a[45, 12] += 0.5
    refuse(folder, INPUT, ("a.npy", "not symmetric", "A[45,12]", "A[12,45]"),
           save(folder, a), ranks=3)


def asymmetry_at_rounding_level_is_accepted(folder):
    a = gaussian(50)
    a[3, 7] = np.nextafter(a[3, 7], 1e9)
    expect(report(folder, 3, save(folder, a))["asymmetry"] > 0)


def nan_and_infinity_are_refused_naming_the_entry(folder):
    for i, j, value in ((2, 2, np.nan), (31, 44, np.inf), (49, 0, -np.inf)):
        a = gaussian(50)
        a[i, j] = a[j, i] = value
        first = f"A[{max(i, j)},{min(i, j)}]"  # by columns
        refuse(folder, INPUT, ("a.npy", first, f"{value:g}"),
               save(folder, a), ranks=3)


# --- results in files --------------------------------------------------------

def values_are_a_vector_and_vectors_a_matrix_in_fortran_order(folder):
    a = gaussian(23)
    expect_solved(folder, 2, a, save(folder, a))
    for name, shape in (("values.npy", (23,)), ("vectors.npy", (23, 23))):
        with open(folder / name, "rb") as file:
            expect(np.lib.format.read_magic(file) == (1, 0))
            found, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        expect(found == shape, name, found)
        expect(dtype.str == "<f8", name, dtype.str)
        expect(fortran == (len(shape) == 2), name, "fortran_order", fortran)


def values_as_text_are_the_numbers_of_the_npy_file(folder):
    name = save(folder, gaussian(31))
    for values in ("values.npy", "values.txt"):
        succeed(folder, 3, "-q", "-o", values, name)
    lines = (folder / "values.txt").read_text().splitlines()
    expect(np.load(folder / "values.npy").tolist() == [float(x) for x in lines])


def result_files_are_the_same_for_any_number_of_ranks(folder):
    name = save(folder, gaussian(130))
    first = solved_bytes(folder, 1, name)
    for ranks in (2, 3, 5, 16):
        expect(solved_bytes(folder, ranks, name) == first, ranks, "ranks")


def result_files_are_the_same_in_a_second_run(folder):
    name = save(folder, gaussian(100))
    expect(solved_bytes(folder, 3, name) == solved_bytes(folder, 3, name))


def result_files_replace_older_ones(folder):
    a = gaussian(12)
    for name in ("values.npy", "vectors.npy"):
        (folder / name).write_bytes(b"x" * 100000)
    expect_solved(folder, 2, a, save(folder, a))


def a_failed_run_leaves_older_result_files_alone(folder):
    outputs = ("-o", "values.npy", "-v", "vectors.npy")
    for name in outputs[1::2]:
        (folder / name).write_text("precious")
    refuse(folder, NO_CONVERGENCE, "gaussian", "--max-sweeps", 1, *outputs,
           "-n", 40, "gallery:gaussian")
    a = gaussian(40)
    a[5, 3] = np.nan
    refuse(folder, INPUT, "A[5,3]", *outputs, save(folder, a))
    for name in outputs[1::2]:
        expect((folder / name).read_text() == "precious", name, "changed")


def files(where):
    return sorted(path.name for path in where.iterdir())


def outputs_that_cannot_be_written_are_named_and_leave_nothing(folder):
    for name in ("x.npy", "x.json"):
        (folder / name).mkdir()
    before = files(folder)
    for option, path in (("-o", "gone/x.npy"), ("-o", "gone/x.txt"),
                         ("-v", "gone/x.npy"), ("--json", "gone/x.json"),
                         ("-o", "x.npy"), ("-v", "x.npy"),
                         ("--json", "x.json")):
        refuse(folder, OUTPUT, path, option, path, "-n", 20, "gallery:min")
    expect(files(folder) == before, files(folder))


def outputs_do_not_replace_what_is_no_regular_file(folder):
    """A named pipe here, /dev/null elsewhere."""
    for option, path in (("-o", "x.npy"), ("-o", "x.txt"), ("-v", "y.npy"),
                         ("--json", "x.json")):
        os.mkfifo(folder / path)
        refuse(folder, OUTPUT, (path, "not a regular file"), option, path,
               "-n", 20, "gallery:min")
        expect((folder / path).is_fifo(), path, "was replaced")


def a_full_standard_output_is_an_error(folder):
    for options in (("--json", "-"), ("--plan",), ("--help",), ()):
        with open("/dev/full", "w") as full:
            run = peigh_alone(folder, *options, "-n", 20, "gallery:min",
                              stdout=full)
        expect(run.code == OUTPUT, options, run.code)
        expect("standard output" in run.messages[0], run.messages)


# --- JSON --------------------------------------------------------------------

KEYS = {
    "n": int, "ranks": int, "block": int, "blocks": int, "sweeps": int,
    "status": str, "off_norms": list, "messages": int, "bytes_sent": int,
    "residual": float, "orthogonality": float,
    "seconds": {"total": float, "setup": float, "solve": float,
                "gram": float, "rotate": float, "update": float,
                "exchange": float},
    "memory": {"owned_bytes": int, "workspace_bytes": int,
               "peak_rss_bytes": int},
    "pdsyev": {"seconds": float, "max_eigenvalue_difference": float},
}


def expect_keys(found, keys, path=""):
    for key, kind in keys.items():
        expect(key in found, path + key, "is missing")
        value = found[key]
        if isinstance(kind, dict):
            expect_keys(value, kind, path + key + ".")
            continue
        right = isinstance(value, (int, float) if kind is float else kind)
        expect(right and not isinstance(value, bool), path + key, "is", value)
        if kind in (int, float):
            expect(value >= 0, path + key, "is", value)


def json_has_the_keys_that_scripts_rely_on(folder):
    expect_keys(report(folder, 3, "--compare", "pdsyev", "-n", 60,
                       "gallery:gaussian"), KEYS)


def json_numbers_make_sense(folder):
    r = report(folder, 3, "--compare", "pdsyev", "-n", 61, "-w", 4,
               "gallery:gaussian")
    expect((r["n"], r["ranks"], r["block"]) == (61, 3, 4), r)
    expect(r["blocks"] % 2 == 0 and r["blocks"] * 4 >= 61, r["blocks"])
    expect(r["status"] == "success" and r["message"] == "", r["status"])
    expect(len(r["off_norms"]) == r["sweeps"] > 1, r["off_norms"])
    expect(all(0 <= x <= 1 for x in r["off_norms"]), r["off_norms"])
    expect(r["residual"] <= 1 and r["orthogonality"] <= 2)
    expect(r["messages"] > 0 and r["bytes_sent"] > 0)
    memory, seconds = r["memory"], r["seconds"]
    expect(memory["owned_bytes"] >= 8 * 61 * 61 // 3, memory)
    expect(memory["peak_rss_bytes"] >= memory["owned_bytes"], memory)
    expect(0 < seconds["solve"] <= seconds["total"], seconds)
    limit = 2 * 61 * EPS * 30  # ||A|| is about 2 sqrt(61)
    expect(r["pdsyev"]["max_eigenvalue_difference"] <= limit, r["pdsyev"])


def json_on_standard_output_comes_alone(folder):
    """Whole standard output is parsed: the table is not there."""
    run = succeed(folder, 2, "--json", "-", "-n", 20, "gallery:min")
    expect(run.json["n"] == 20)


def json_goes_to_a_file_beside_the_table(folder):
    run = succeed(folder, 2, "--json", "r.json", "-n", 20, "gallery:min")
    expect(json.loads((folder / "r.json").read_text())["n"] == 20)
    expect("residual" in run.out, run.out)


def json_tells_of_a_run_that_did_not_converge(folder):
    run = refuse(folder, NO_CONVERGENCE, "no convergence", "--max-sweeps", 2,
                 "--json", "-", "-n", 60, "gallery:gaussian")
    expect(run.json["status"] == "no convergence", run.json["status"])
    expect("2 sweeps" in run.json["message"], run.json["message"])
    expect(len(run.json["off_norms"]) == run.json["sweeps"] == 2)


def json_tells_of_input_that_could_not_be_read_to_its_end(folder):
    (folder / "a.mtx").write_text(
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\nthree\n")
    run = refuse(folder, INPUT, "a.mtx", "--json", "-", "a.mtx")
    expect(run.json["status"] != "success", run.json["status"])
    expect("line 5" in run.json["message"], repr(run.json["message"]))


def json_tells_of_a_failed_check(folder):
    """tol = 1e-10 passes in the solver, not in the check."""
    run = refuse(folder, CHECK, "check failed", "--tol", "1e-10",
                 "--json", "-", "-n", 60, "gallery:min")
    expect(run.json["residual"] > 1, run.json["residual"])
    expect(run.json["status"] != "success", run.json["status"])
    expect("check failed" in run.json["message"], repr(run.json["message"]))


def what_was_not_checked_or_compared_is_null(folder):
    unchecked = report(folder, 2, "--no-check", "-n", 20, "gallery:min")
    expect(unchecked["residual"] is None and unchecked["orthogonality"] is None)
    expect(unchecked["pdsyev"] is None, "compared without being asked")
    both = report(folder, 2, "--check", "--compare", "pdsyev", "-n", 20,
                  "gallery:min")
    expect(both["residual"] <= 1 and both["orthogonality"] <= 2)
    expect(both["pdsyev"]["seconds"] >= 0)


def no_compare_holds_for_the_default_matrix_too(folder):
    r = report(folder, 2, "--no-compare", "-n", 30)
    expect(r["pdsyev"] is None and r["residual"] <= 1 and r["n"] == 30)


# --- plan, table, texts ------------------------------------------------------

def plan_is_printed_without_solving(folder):
    run = succeed(folder, 2, "--plan", "-o", "values.npy", "-n",
                  BEYOND_MEMORY, "gallery:gaussian")
    expect(re.search(r"owned columns +\d{17} bytes", run.out), run.out)
    expect(re.search(r"workspace +\d+ bytes", run.out), run.out)
    expect(files(folder) == [], files(folder))


def plan_is_what_a_run_then_reports(folder):
    for n, ranks, block in ((0, 2, None), (37, 1, 5), (100, 3, None),
                            (129, 2, 16), (130, 16, 1)):
        options = ["-n", n, "gallery:gaussian"]
        options += ["-w", block] if block else []
        plan = report(folder, ranks, "--plan", *options)
        run = report(folder, ranks, *options)
        for key in ("owned_bytes", "workspace_bytes"):
            expect(plan["memory"][key] == run["memory"][key], options, key,
                   plan["memory"], run["memory"])
        expect(plan["sweeps"] == 0 and plan["off_norms"] == [], plan)


def plan_is_for_any_number_of_ranks_without_starting_them(folder):
    for n, ranks in ((130, 16), (65, 3), (1, 2)):
        options = ["-n", n, "gallery:gaussian", "--compare", "pdsyev"]
        plan = report(folder, 1, "--plan", "--ranks", ranks, *options)
        run = report(folder, ranks, *options)
        for key in ("owned_bytes", "workspace_bytes", "most_bytes",
                    "compare_bytes"):
            expect(plan["memory"][key] == run["memory"][key], n, ranks, key)
        for key in ("n", "ranks", "active_ranks", "block", "blocks"):
            expect(plan[key] == run[key], n, ranks, key)
    large = report(folder, 1, "--plan", "-n", 100_000, "--ranks", 1024)
    owned = large["memory"]["owned_bytes"]
    expect(8e10 / 1024 <= owned <= 1.5 * 8e10 / 1024, owned)


def plan_counts_what_the_peers_of_scalapack_take(folder):
    for peer in ("pdsyev", "pdsyevd", "pdsyevr"):
        for n, ranks in ((1, 2), (100, 1), (257, 3), (300, 16)):
            run = report(folder, ranks, "--compare", peer, "-n", n,
                         "gallery:gaussian")
            taken, planned = run[peer]["bytes"], run["memory"]["compare_bytes"]
            expect(0 < taken <= planned, peer, n, ranks, taken, planned)


def plan_with_mem_says_the_fewest_ranks_and_the_largest_order(folder):
    def plan(*options):
        return report(folder, 1, "--plan", "--mem", "64M", *options)

    def fits(p):
        memory = p["memory"]
        return memory["most_bytes"] <= memory["left_bytes"]

    for compare in ([], ["--compare", "pdsyev"]):
        n, options = 9000, ["gallery:gaussian", *compare]
        fewest = plan("-n", n, *options)["fewest_ranks"]
        # What MPI takes is measured and differs a little from run to run.
        expect(fits(plan("-n", n - 100, "--ranks", fewest, *options)), fewest)
        expect(not fits(plan("-n", n, "--ranks", fewest - 1, *options)),
               fewest)
        largest = plan("--ranks", 4, *options)["largest_order"]
        expect(fits(plan("--ranks", 4, "-n", largest - 100, *options)),
               largest)
        expect(not fits(plan("--ranks", 4, "-n", largest + 100, *options)),
               largest)
    nothing = report(folder, 1, "--plan", "--mem", "1M", "-n", 10)
    expect(nothing["fewest_ranks"] == 0 and nothing["largest_order"] == -1)


def plan_of_a_file_takes_its_order(folder):
    expect(report(folder, 2, "--plan", save(folder, gaussian(41)))["n"] == 41)


def quiet_runs_print_nothing(folder):
    name = save(folder, gaussian(30))
    for options in (["--compare", "pdsyev"], ["--plan"]):
        run = succeed(folder, 2, "-q", *options, name)
        expect(run.out == "", run.out)


def the_default_run_prints_the_whole_table(folder):
    run = succeed(folder, 4)
    for pattern in (r"order N +500\b", r"ranks +4\b", r"block width +\d+",
                    r"sweeps +\d+", r"solve +\d+\.\d+ s",
                    r"owned columns +\d+ bytes", r"workspace +\d+ bytes",
                    r"peak resident +\d+ bytes", r"residual +0\.\d+",
                    r"orthogonality +[01]\.\d+", r"pdsyev",
                    r"eigenvalues differ by +\d\.\d+e-1\d"):
        expect(re.search(pattern, run.out), pattern, "is not in", run.out)


def help_mentions_every_option(folder):
    source = (ROOT / "src" / "command.c").read_text()
    options = re.findall(r'{"([a-z-]+)", (?:no|required)_argument', source)
    expect(len(options) >= 18, "the table of options was not found")
    text = succeed(folder, 2, "--help").out
    for option in options:
        expect(re.search(rf"--{option}\b(?!-)", text), option)
    expect(text.count("Usage:") == 1, "printed by more than one rank")


def version_is_that_of_the_header(folder):
    header = (ROOT / "include" / "peigh.h").read_text()
    version = re.search(r'#define PEIGH_VERSION "(.*)"', header)[1]
    expect(succeed(folder, 2, "--version").out == f"peigh {version}\n")


def progress_is_shown_on_a_terminal_and_nowhere_else(folder):
    """mpirun may give its ranks a terminal, so the program runs alone."""
    arguments = ("-n", 40, "gallery:gaussian")
    expect("rotations   seconds" not in peigh_alone(folder, *arguments).out)
    try:
        ours, terminal = os.openpty()
    except OSError as reason:
        raise Skip(f"no terminals here: {reason}")
    try:
        expect(peigh_alone(folder, *arguments, stdout=terminal).code == 0)
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(terminal)
    header = shown.index("rotations   seconds")
    sweeps = int(re.search(r"sweeps +(\d+)", shown)[1])
    progress = shown[header:shown.index("peigh ")].splitlines()
    expect(len(progress) == 1 + sweeps, progress)


# --- the gallery -------------------------------------------------------------

def the_seed_decides_the_gaussian_matrix(folder):
    def values(*arguments):
        return solved_bytes(folder, 2, "-n", 30, *arguments)[0]

    first = values("gallery:gaussian")
    expect(values("--seed", 1, "gallery:gaussian") == first, "default is 1")
    expect(values("--seed", 2, "gallery:gaussian") != first)
    expect(values("gallery:gaussian,seed=2") ==
           values("--seed", 2, "gallery:gaussian"))


def the_order_option_sizes_a_gallery_matrix(folder):
    succeed(folder, 2, "-q", "-n", 25, "-o", "values.npy", "gallery:clement")
    expect_values(np.load(folder / "values.npy"), np.arange(-24.0, 25, 2))


# --- started alone, or by the wrong launcher ---------------------------------

def the_program_works_without_mpirun(folder):
    a = gaussian(40)
    name = save(folder, a)
    run = peigh_alone(folder, "--compare", "pdsyev", "--json", "-", "-o",
                      "values.npy", "-v", "vectors.npy", name)
    expect(run.code == 0 and run.json["ranks"] == 1, run.err)
    expect_pairs(a, np.load(folder / "values.npy"),
                 np.load(folder / "vectors.npy"))
    run = peigh_alone(folder, "gone.npy")
    expect(run.code == INPUT and len(run.messages) == 1, run.err)


def expect_singleton_refused(folder, variable, advice):
    for arguments in ((), ("-n", 10, "gallery:min")):
        run = peigh_alone(folder, *arguments, env={variable: "4"})
        expect(run.code not in (0, USAGE, INPUT), run.code)
        expect(len(run.messages) == 1 and run.out == "", run)
        for word in advice:
            expect(word in run.messages[0], word, "not in", run.messages[0])


def ranks_that_do_not_see_each_other_under_mpirun_stop(folder):
    expect_singleton_refused(folder, "OMPI_COMM_WORLD_SIZE",
                             ("4 ranks", "mpirun", "PATH"))


def ranks_that_do_not_see_each_other_under_srun_stop(folder):
    expect_singleton_refused(folder, "SLURM_STEP_NUM_TASKS",
                             ("4 ranks", "srun --mpi=pmix"))


# --- wrong usage -------------------------------------------------------------

def options_with_wrong_values_are_refused_by_name(folder):
    for arguments, mentioned in (
            (["-n", "abc"], ("--order", "abc")),
            (["-n", "-5"], ("--order", "-5")),
            (["-n", "5x"], ("--order", "5x")),
            (["-n", "9" * 30], ("--order", "999")),
            (["-w", 0], ("--block", "256")),
            (["-w", 257], ("--block", "257")),
            (["--tol", 2], ("--tol", "2")),
            (["--tol", "nan"], ("--tol", "nan")),
            (["--max-sweeps", 0], ("--max-sweeps", "0")),
            (["--seed", "-1"], ("--seed", "-1")),
            (["--mem", "4"], ("--mem", "4", "unit")),
            (["--mem", "-1G"], ("--mem", "-1G")),
            (["--mem", "4X"], ("--mem", "4X")),
            (["--mem", "nanG"], ("--mem", "nan")),
            (["--plan", "--ranks", "0"], ("--ranks", "0")),
            (["--ranks", "4"], ("--ranks", "--plan")),
            (["--uplo", "both"], ("--uplo", "both", "lower")),
            (["--compare", "elpa"], ("--compare", "elpa", "pdsyev")),
            (["-o", "values.csv"], ("--values", "values.csv", ".txt")),
            (["-v", "vectors.txt"], ("--vectors", "vectors.txt", ".npy"))):
        refuse(folder, USAGE, mentioned, *arguments)
    expect(files(folder) == [], files(folder))


def unknown_and_incomplete_options_are_refused_by_name(folder):
    for arguments, mentioned in (
            (["--frobnicate"], "--frobnicate"), (["-x"], "-x"),
            (["--quiet=3"], "q"), (["--tol"], "--tol"), (["-n"], "-n"),
            (["--symmetrize", "--uplo", "lower"], ("--symmetrize", "--uplo"))):
        refuse(folder, USAGE, mentioned, *arguments)


def a_second_matrix_is_refused(folder):
    refuse(folder, USAGE, ("gallery:frank", "gallery:min"), "gallery:min",
           "gallery:frank")


# --- wrong input -------------------------------------------------------------

def matrices_that_do_not_exist_are_refused_by_name(folder):
    (folder / "folder.npy").mkdir()
    for name, mentioned in (("gone.npy", "No such file"),
                            ("gone.mtx", "No such file"),
                            ("folder.npy", "directory"),
                            ("a.csv", ".npy"), ("a", ".mtx"),
                            ("gallery:frobnicate", "gaussian"),
                            ("gallery:min,depth=3", "min"),
                            ("gallery:type,k=23", "k")):
        refuse(folder, INPUT, (name.split(":")[-1].split(",")[-1].split("=")[0],
                               mentioned), name)


def npy_files_that_hold_no_square_float_matrix_are_refused(folder):
    a = gaussian(6)
    for array, mentioned in ((a.astype(np.int64), "<i8"),
                             (a.astype(complex), "<c16"),
                             (a[0], "1-D"), (a.reshape(6, 3, 2), "3-D"),
                             (a[:4], "(4, 6)")):
        refuse(folder, INPUT, ("a.npy", mentioned), save(folder, array))


def npy_files_of_the_wrong_length_are_refused(folder):
    whole = (folder / save(folder, gaussian(6))).read_bytes()
    for content, mentioned in ((b"", ".npy"), (whole[:60], "truncated"),
                               (whole[:-1], "truncated"),
                               (whole + b"\0", "trailing"),
                               (gzip.compress(whole), "gzip")):
        (folder / "b.npy").write_bytes(content)
        refuse(folder, INPUT, ("b.npy", mentioned), "b.npy")


def malformed_matrix_market_files_are_refused_naming_the_line(folder):
    array = "%%MatrixMarket matrix array real general\n"
    coordinate = "%%MatrixMarket matrix coordinate real symmetric\n"
    for content, mentioned in (
            ("", "banner"), ("1 2\n", "banner"), (array, "line"),
            (array.replace("real", "complex") + "1 1\n1 0\n", "complex"),
            (array + "2 3\n1\n2\n3\n4\n5\n6\n", "line 2"),
            (array + "2 2\n1\n2\n3\n", "truncated"),
            (array + "2 2\n1\n2\ntwo\n4\n", "line 5"),
            (coordinate + "3 3 1\n4 1 1.5\n", "line 3"),
            (coordinate + "3 3 1\n1 1 1\n2 1 1\n", "line 4")):
        (folder / "a.mtx").write_text(content)
        refuse(folder, INPUT, ("a.mtx", mentioned), "a.mtx")


def an_order_that_differs_from_the_files_is_refused(folder):
    refuse(folder, INPUT, ("a.npy", "6", "7"), "-n", 7,
           save(folder, gaussian(6)))


# --- failures of a run -------------------------------------------------------

def a_run_that_does_not_converge_ends_with_its_own_code(folder):
    refuse(folder, NO_CONVERGENCE, ("1 sweep", "tolerance"), "--max-sweeps",
           1, "-n", 60, "gallery:gaussian", ranks=3)


def a_result_that_fails_its_check_ends_with_its_own_code(folder):
    refuse(folder, CHECK, ("check failed", "residual"), "--tol", "1e-10",
           "-n", 60, "gallery:min", ranks=3)


def a_matrix_beyond_all_memory_is_refused_with_the_numbers(folder):
    refuse(folder, MEMORY, ("memory", "MB"), "-n", BEYOND_MEMORY,
           "gallery:gaussian", ranks=3)


def skip_unless_mpi_starts_under_the_limit(where):
    if peigh_alone(where, "-q", "-n", 3, limit=LIMIT).code:
        raise Skip("MPI does not start under the memory limit")


def columns_beyond_the_memory_limit_are_refused_with_the_numbers(folder):
    """Of 1.6 GB per rank."""
    skip_unless_mpi_starts_under_the_limit(folder)
    refuse(folder, MEMORY, ("memory", "MB", "ulimit -v", "ranks"), "-n",
           20000, "gallery:min", limit=LIMIT)


def one_rank_without_memory_stops_them_all(folder):
    """Of two ranks with columns of 1.6 GB, one is limited."""
    skip_unless_mpi_starts_under_the_limit(folder)
    refuse(folder, MEMORY, ("rank 1", "memory", "MB", "ulimit -v"), "-n",
           20000, "gallery:min", limited_rank=1)


def one_allocation_that_fails_stops_all_ranks(folder):
    """The user has vouched for memory that rank 1 does not have."""
    skip_unless_mpi_starts_under_the_limit(folder)
    refuse(folder, MEMORY, ("rank 1", "no memory", "bytes"), "--mem", "1T",
           "-n", 20000, "gallery:min", limited_rank=1)


def a_failure_that_only_the_last_rank_sees_stops_them_all(folder):
    a = gaussian(40)
    a[39, 39] = np.nan
    refuse(folder, INPUT, "A[39,39]", save(folder, a), ranks=16)


def mpirun_ends_with_the_exit_code_of_the_program(folder):
    for arguments, code in ((("-n", 20, "gallery:min"), 0),
                            (("--frobnicate",), USAGE),
                            (("--max-sweeps", 1, "-n", 40), NO_CONVERGENCE)):
        run = start([MPIRUN, "-np", 3, PROGRAM, *arguments], folder)
        expect(run.code == code, arguments, "ended with", run.code)
        expect(len(run.messages) == (code != 0), run.messages)


# --- running the tests -------------------------------------------------------

def tests(module):
    """Its functions with a folder as their only parameter, as written."""
    return {name: function for name, function in vars(module).items()
            if inspect.isfunction(function)
            and function.__module__ == module.__name__
            and list(inspect.signature(function).parameters) == ["folder"]}


def run_test(name, function):
    """0: passed, 1: failed, SKIPPED."""
    begin = time.monotonic()
    code, verdict = 0, "ok"
    with tempfile.TemporaryDirectory(prefix="peigh-cli-") as path:
        folder = pathlib.Path(path)
        try:
            function(folder)
            parts = [str(p) for p in folder.rglob("*.part-*")]
            expect(not parts, "left behind:", parts)
        except Skip as reason:
            code, verdict = SKIPPED, f"skipped: {reason}"
        except Exception:  # whatever it is, the other tests run
            code, verdict = 1, "FAILED"
            traceback.print_exc()
    print(f"{name}: {verdict} ({time.monotonic() - begin:.1f} s)", flush=True)
    return code


def main(arguments, module):
    known = tests(module)
    if arguments == ["--list"]:
        with contextlib.suppress(BrokenPipeError):
            print("\n".join(known))
        return 0
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print("no such test:", *unknown, file=sys.stderr)
        return 2
    codes = [run_test(name, known[name]) for name in arguments or known]
    return 1 if 1 in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.modules[__name__]))
