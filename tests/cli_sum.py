#!/usr/bin/env python3
"""peigh-sum, tested from outside; run like tests/cli.py."""
import math
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cli
from cli import INPUT, OUTPUT, ROOT, USAGE, expect, np

PROGRAM = os.path.abspath(os.environ.get("PEIGH_SUM_PROGRAM",
                                         ROOT / "peigh-sum"))
RESIDENT_MAX = 64_000_000  # bytes beyond MPI's own: what the task allows
POINTS_GROWTH = 1_000_000  # bytes: pages that come and go, not points


def run(folder, ranks, *words):
    """The same exit code on every rank, and at most one line of error."""
    cli.PROGRAM, saved = PROGRAM, cli.PROGRAM
    try:
        return cli.peigh(folder, ranks, *words)
    finally:
        cli.PROGRAM = saved


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def points_and_vectors(folder, n, m, d=3, seed=1):
    random = np.random.default_rng(seed)
    r, h = random.random((n, d)), random.integers(-9, 10, (m, d)) * 2 * np.pi
    save(folder, r=r, h=h)
    return r, h


def sums(folder, ranks, function="cos", *more):
    got = run(folder, ranks, function, "--points", "r.npy", "--vectors",
              "h.npy", "-o", "f.npy", "-q", *more)
    expect(got.code == 0, got.err)
    return np.load(folder / "f.npy")


def reference(r, h, w, function=math.cos):
    """Sums without rounding, phases in double."""
    return np.array([math.fsum(
        wn * function(math.fsum(a * b for a, b in zip(rn, hj)))
        for rn, wn in zip(r.tolist(), w.tolist())) for hj in h.tolist()])


def bound(r, h, w):
    """Per term: 4 ulp of the cosine, the phase's own rounding, and the sum of
    a tile; n does not appear."""
    phase = np.abs(h) @ np.abs(r).T
    return cli.EPS * ((phase * (r.shape[1] + 1) + 4 + 300) @ np.abs(w))


def check(folder, ranks, n, m, d):
    r, h = points_and_vectors(folder, n, m, d)
    w = np.random.default_rng(2).standard_normal(n)
    save(folder, w=w)
    for function in (math.cos, math.sin):
        f = sums(folder, ranks, function.__name__, "--weights", "w.npy")
        error = np.abs(f - reference(r, h, w, function))
        expect(f.shape == (m,) and np.all(error <= bound(r, h, w)),
               n, m, d, ranks, error.max(initial=0))


def sums_agree_with_exact_summation(folder):
    for n, m, d in ((0, 3, 3), (1, 1, 3), (511, 5, 1), (513, 7, 2),
                    (1200, 9, 5), (600, 0, 3), (40, 4, 0)):
        check(folder, 2, n, m, d)


def the_bits_do_not_depend_on_the_number_of_ranks(folder):
    points_and_vectors(folder, 3000, 37)
    first = sums(folder, 1)
    for ranks in (2, 3, 16):
        expect(np.array_equal(sums(folder, ranks), first), ranks)


def every_kind_of_file_gives_the_same_bits(folder):
    r, h = points_and_vectors(folder, 1100, 11)
    r, h = r.astype("f4"), h.astype("f4")
    save(folder, r=r.astype("f8"), h=h.astype("f8"))
    first = sums(folder, 1)
    for a, b in ((r, h), (np.asfortranarray(r), h.astype(">f8")),
                 (r.astype(">f4"), np.asfortranarray(h))):
        save(folder, r=a, h=b)
        expect(np.array_equal(sums(folder, 2), first))


def large_phases_are_as_good_as_the_numbers(folder):
    save(folder, r=np.array([[1e9], [3e12], [7.5e15]]), h=np.ones((1, 1)))
    f = sums(folder, 1)
    exact = math.fsum(math.cos(x) for x in (1e9, 3e12, 7.5e15))
    expect(abs(f[0] - exact) < 20 * cli.EPS, f[0] - exact)


def resident(folder, n):
    random = np.random.default_rng(3)
    save(folder, r=random.random((n, 3)))
    got = run(folder, 2, "cos", "--points", "r.npy", "--vectors", "h.npy",
              "-o", "f.npy")
    expect(got.code == 0, got.err)
    line = [l for l in got.out.splitlines() if "resident beyond" in l][0]
    return int(line.split("own")[1].split()[0])


def memory_does_not_grow_with_the_points(folder):
    points_and_vectors(folder, 10, 100)
    few, many = (min(resident(folder, n) for _ in range(3))
                 for n in (20_000, 1_000_000))
    expect(many < few + POINTS_GROWTH, few, many)
    expect(many < RESIDENT_MAX, many)


def agrees_with_numpy_for_1e5_points(folder):
    r, h = points_and_vectors(folder, 100_000, 40)
    f = sums(folder, 3)
    numpy = np.cos(h @ r.T).sum(axis=1)
    expect(np.all(np.abs(f - numpy) <= 2 * bound(r, h, np.ones(len(r)))),
           np.abs(f - numpy).max())


def refuse(folder, code, part, *words):
    got = run(folder, 3, *words)
    lines = [l for l in got.err.splitlines() if l.startswith("peigh-sum: ")]
    expect(got.code == code and len(lines) == 1 and part in lines[0], words,
           got.code, got.err)
    expect(not (folder / "f.npy").exists(), "an output file is left")


def wrong_input_is_one_line(folder):
    r, h = points_and_vectors(folder, 600, 5)
    r[523, 1] = np.nan
    save(folder, bad=r, flat=np.ones((600, 2)), w=np.ones(599),
         two=np.ones((600, 2)), whole=np.ones((4, 3), int),
         huge=np.full((4, 3), 1e200))
    files = {"--points": "r.npy", "--vectors": "h.npy", "-o": "f.npy"}

    def wrong(code, part, **changes):
        words = {**files, **{f"--{k}" if len(k) > 1 else f"-{k}": v
                             for k, v in changes.items()}}
        refuse(folder, code, part, "cos", *(x for p in words.items()
                                            for x in p))

    wrong(INPUT, "bad.npy: entry [523,1] is nan", points="bad.npy")
    wrong(INPUT, "bad.npy: entry [523,1] is nan", vectors="bad.npy")
    wrong(INPUT, "none.npy", points="none.npy")
    wrong(INPUT, "r.npy has 3", points="flat.npy", vectors="r.npy")
    wrong(INPUT, "w.npy has 599 rows", weights="w.npy")
    wrong(INPUT, "two.npy: 2 columns", weights="two.npy")
    wrong(INPUT, "dtype", vectors="whole.npy")
    wrong(INPUT, "overflow", points="huge.npy", vectors="huge.npy")
    wrong(USAGE, "same file", o="r.npy")
    wrong(USAGE, "--output", o="f.csv")
    wrong(OUTPUT, "cannot write", o="no/f.npy")


def wrong_usage_is_one_line(folder):
    points_and_vectors(folder, 6, 5)
    refuse(folder, USAGE, "expected cos or sin", "tan", "--points", "r.npy")
    refuse(folder, USAGE, "--points is missing", "cos")
    refuse(folder, USAGE, "--frobnicate", "cos", "--frobnicate")
    refuse(folder, USAGE, "--output is missing", "sin", "--points", "r.npy",
           "--vectors", "h.npy")


def the_plan_sums_nothing(folder):
    points_and_vectors(folder, 6, 5)
    got = run(folder, 2, "cos", "--points", "r.npy", "--vectors", "h.npy",
              "-o", "f.npy", "--plan")
    expect(got.code == 0 and "vectors and sums" in got.out, got)
    expect(not (folder / "f.npy").exists())


if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], sys.modules[__name__]))
