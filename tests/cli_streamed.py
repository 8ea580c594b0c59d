#!/usr/bin/env python3
"""Matrices made from data that stream by; run like tests/cli.py."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cli
from cli import EPS, INPUT, expect, np, peigh


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def check(folder, a, spec):
    """Eigenvalues within n eps |A| and the rounding of A itself; the same bits
    on every number of ranks."""
    first = None
    for ranks in (1, 2, 3, 16):
        run = peigh(folder, ranks, "-q", "-o", "values.npy", "-v", "vectors.npy",
                    "-w", 4, spec)
        expect(run.code == 0, spec, run.err)
        found = np.load(folder / "values.npy"), np.load(folder / "vectors.npy")
        first = first or found
        expect(all(map(np.array_equal, found, first)), spec, ranks)
    exact = np.linalg.eigvalsh(a)
    error = np.abs(first[0] - exact).max()
    expect(error <= 8 * len(a) * EPS * np.abs(exact).max(), spec, error)


def gram_matrices_and_covariances(folder):
    x = np.random.default_rng(1).standard_normal((1300, 37)) + 1000
    x4 = np.asfortranarray(x, dtype="f4")
    save(folder, x=x, x4=x4)
    c = x - x.mean(axis=0)
    c4 = x4.astype(float) - x4.mean(axis=0, dtype=float)
    check(folder, x.T @ x, "source:gram,file=x.npy")
    check(folder, c.T @ c / 1299,
          "source:gram,file=x.npy,center,scale=1/(n-1)")
    check(folder, c4.T @ c4 / 1300, "source:gram,file=x4.npy,scale=1/n,center")


def cosine_matrices_with_weights_of_either_sign(folder):
    random = np.random.default_rng(2)
    r, w = random.random((1100, 3)), random.standard_normal(1100)
    h = random.integers(-4, 5, (35, 3)) * 2 * np.pi
    save(folder, r=r, h=h, w=w)
    phase = h @ r.T
    c, s = np.cos(phase), np.sin(phase)
    spec = "source:cosine,points=r.npy,vectors=h.npy"
    check(folder, c @ c.T + s @ s.T, spec)
    check(folder, (c * w) @ c.T + (s * w) @ s.T, spec + ",weights=w.npy")


def wrong_sources_are_one_line(folder):
    x = np.ones((40, 3))
    bad = x.copy()
    bad[33, 2] = np.inf
    save(folder, x=x, bad=bad, one=x[:1], flat=np.ones((5, 2)))
    for spec, part in (
            ("source:gram,file=none.npy", "none.npy"),
            ("source:gram,file=bad.npy", "bad.npy: entry [33,2] is inf"),
            ("source:gram,file=x.npy,centre", "no key 'centre'"),
            ("source:gram,file=x.npy,center=1", "takes no value"),
            ("source:gram,file=x.npy,scale=2n", "scale='2n'"),
            ("source:gram,file=one.npy,scale=1/(n-1)", "scale="),
            ("source:gram", "file= is missing"),
            ("source:grim", "no kind 'grim'"),
            ("source:cosine,points=x.npy", "vectors= is missing"),
            ("source:cosine,points=x.npy,vectors=flat.npy", "2 columns"),
            ("source:cosine,points=x.npy,vectors=x.npy,weights=flat.npy",
             "weights have one")):
        run = peigh(folder, 3, "-q", spec)
        expect(run.code == INPUT and len(run.messages) == 1
               and part in run.messages[0], spec, run.code, run.err)


if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], sys.modules[__name__]))
