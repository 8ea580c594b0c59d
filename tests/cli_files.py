#!/usr/bin/env python3
"""Files of peigh, tested from outside as in cli.py: matrices in raw and HDF5
files, results in HDF5, parts of the spectrum, and what is wrong with files.

Tests with HDF5 are skipped where h5py is missing, or peigh is without HDF5.
"""
import gzip
import pathlib
import sys

import cli
import numpy as np
import scipy.io
from cli import (INPUT, OUTPUT, USAGE, Skip, expect, expect_pairs, gaussian,
                 peigh, refuse, report, save, succeed)

try:
    import h5py
except ImportError:
    h5py = None


def need_hdf5(where):
    if h5py is None:
        raise Skip("no h5py here")
    if "without HDF5" in peigh(where, 1, "-q", "gone.h5:/A").err:
        raise Skip("peigh is without HDF5")


def expect_solved(folder, ranks, a, *arguments):
    succeed(folder, ranks, "-q", "-o", "values.npy", "-v", "vectors.npy",
            *arguments)
    expect_pairs(a, np.load(folder / "values.npy"),
                 np.load(folder / "vectors.npy"))


def write_raw(folder, a, kind, order="C", before=b"", name="a.bin"):
    entries = np.asarray(a, dtype=kind).tobytes(order=order)
    (folder / name).write_bytes(before + entries)
    return name


# --- raw ---------------------------------------------------------------------

def raw_files_of_every_type_are_solved(folder):
    native = "<" if sys.byteorder == "little" else ">"
    for k, kind in enumerate(("float64", "float32", "<f8", ">f8", "<f4",
                              ">f4")):
        a = gaussian(45, k).astype(kind[-2:] if kind[0] in "<>" else kind)
        stored = kind if kind[0] in "<>" else native + kind[0] + str(
            a.dtype.itemsize)
        write_raw(folder, a, stored)
        expect_solved(folder, 1 + k % 3, a, "--raw", f"{kind},45", "a.bin")


def raw_files_may_begin_anywhere_and_have_any_name(folder):
    a = gaussian(20)
    for name, before in (("a", b"x"), ("b.npy", b"\x1f\x8b header 17 bytes"),
                         ("my file.dat", b"")):
        write_raw(folder, a, "f8", before=before, name=name)
        expect_solved(folder, 2, a, "--raw", f"float64,20,{len(before)}", name)


def raw_files_by_rows_and_by_columns_differ_in_their_triangles(folder):
    a = np.random.default_rng(3).standard_normal((33, 33))
    lower = np.tril(a) + np.tril(a, -1).T
    for order in "CF":
        write_raw(folder, a, "f8", order)
        expect_solved(folder, 3, lower, "--uplo", "lower", "--raw",
                      f"f8,33,0,{order}", "a.bin")


def raw_descriptions_without_sense_are_refused(folder):
    write_raw(folder, gaussian(6), "f8")
    for text, mentioned in (("int64,6", "float64"), ("f8", "order"),
                            ("f8,", "order"), ("f8,-6", "order"),
                            ("f8,6,-1", "offset"), ("f8,6,0,R", "C (row"),
                            ("f8,6,0,C,", "nothing more"), ("", "float64"),
                            ("f8,6,0x10", "offset"), ("f8,9e9", "order"),
                            ("f8,99999999999", "order"), ("f88,6", "<f8")):
        refuse(folder, USAGE, ("--raw", mentioned), "--raw", text, "a.bin")
    refuse(folder, USAGE, ("--raw", "MATRIX"), "--raw", "f8,6")


def raw_files_of_the_wrong_length_are_refused_with_both(folder):
    whole = (folder / write_raw(folder, gaussian(6), "f8")).read_bytes()
    for content, mentioned in ((b"", "truncated: 0 bytes"),
                               (whole[:-1], "truncated: 287 bytes"),
                               (whole + b"\0", "trailing bytes: 289 bytes"),
                               (gzip.compress(whole), "gzip")):
        (folder / "a.bin").write_bytes(content)
        refuse(folder, INPUT, ("a.bin", mentioned), "--raw", "f8,6", "a.bin",
               ranks=3)
    (folder / "a.bin").write_bytes(whole)
    refuse(folder, INPUT, ("288 bytes", "make 144"), "--raw", "f4,6", "a.bin")
    refuse(folder, INPUT, ("288 bytes", "make 296"), "--raw", "f8,6,8",
           "a.bin")
    refuse(folder, INPUT, ("a.bin", "6", "7"), "-n", 7, "--raw", "f8,6",
           "a.bin")
    refuse(folder, INPUT, ("gone.bin", "No such file"), "--raw", "f8,6",
           "gone.bin")


def raw_files_of_the_other_byte_order_are_refused(folder):
    """Random numbers, and whole ones, whose bytes reversed are tiny."""
    other = ">" if sys.byteorder == "little" else "<"
    for kind in ("f8", "f4"):
        for a in (gaussian(50), np.rint(9 * gaussian(50))):
            write_raw(folder, a, other + kind)
            refuse(folder, INPUT, ("a.bin", "byte order", "A[", other + kind),
                   "--raw", kind + ",50", "a.bin", ranks=3)
            expect_solved(folder, 2, a.astype(kind), "--raw",
                          f"{other}{kind},50", "a.bin")


def a_byte_order_that_was_said_is_believed(folder):
    native = "<" if sys.byteorder == "little" else ">"
    a = np.rint(9 * gaussian(20)).astype("f8").byteswap()
    write_raw(folder, a, "f8")
    succeed(folder, 2, "-q", "--raw", f"{native}f8,20", "a.bin")


def tiny_and_huge_numbers_are_no_matter_of_byte_order(folder):
    for scale in (1e-280, 1e280):
        write_raw(folder, scale * gaussian(50), "f8")
        succeed(folder, 2, "-q", "--raw", "f8,50", "a.bin")


# --- HDF5 --------------------------------------------------------------------

def hdf5_that_is_not_built_in_is_missed_by_name(folder):
    if "without HDF5" not in peigh(folder, 1, "-q", "gone.h5:/A").err:
        raise Skip("peigh has HDF5")
    refuse(folder, INPUT, ("a.h5:/A", "without HDF5"), "a.h5:/A")
    for option in "-o", "-v":
        refuse(folder, OUTPUT, ("w.h5:/w", "without HDF5"), option,
               "w.h5:/w", "-n", 20, "gallery:min")


def hdf5_datasets_of_every_kind_are_solved(folder):
    need_hdf5(folder)
    n = 70
    a = gaussian(n)
    cases = {"plain": (a, {}), "big": (a.astype(">f8"), {}),
             "group/of/float": (a.astype("f4"), {}),
             "chunks": (a, {"chunks": (16, 24)}),
             "zip": (a, {"chunks": (32, 8), "compression": "gzip",
                         "shuffle": True}),
             "one chunk": (a.astype(">f4"), {"chunks": (n, n),
                                             "compression": "gzip"})}
    with h5py.File(folder / "a.h5", "w") as file:
        for name, (data, how) in cases.items():
            file.create_dataset(name, data=data, **how)
    for k, (name, (data, how)) in enumerate(cases.items()):
        expect_solved(folder, (1, 2, 3, 16)[k % 4], data.astype("f8"),
                      f"a.h5:/{name}")


def hdf5_orders_0_and_1_are_solved(folder):
    need_hdf5(folder)
    for n in (0, 1):
        with h5py.File(folder / "a.HDF5", "w") as file:
            file["A"] = gaussian(n, 5)
        expect_solved(folder, 3, gaussian(n, 5), "a.HDF5:/A")


def hdf5_files_without_a_square_float_matrix_are_refused(folder):
    need_hdf5(folder)
    a = gaussian(6)
    with h5py.File(folder / "a.h5", "w") as file:
        file["g/int"] = a.astype(int)
        file["g/complex"] = a.astype(complex)
        file["g/half"] = a.astype("f2")
        file["g/text"] = "matrix"
        file["g/line"] = a[0]
        file["g/cube"] = a.reshape(6, 3, 2)
        file["g/oblong"] = a[:4]
        file["g/scalar"] = 1.0
    for name, mentioned in (("g/int", "integer"), ("g/complex", "compound"),
                            ("g/half", "16 bits"), ("g/text", "string"),
                            ("g/line", "1-D"), ("g/cube", "3-D"),
                            ("g/oblong", "(4, 6)"), ("g/scalar", "0-D"),
                            ("g", "not a dataset"), ("A", "no such dataset"),
                            ("g/A", "no such dataset")):
        refuse(folder, INPUT, ("a.h5:/" + name, mentioned), "a.h5:/" + name)
    refuse(folder, INPUT, ("a.h5", "which dataset", "/g"), "a.h5")
    refuse(folder, INPUT, ("a.h5", "no such dataset"), "a.h5:")


def files_that_are_not_hdf5_or_cut_off_are_refused(folder):
    need_hdf5(folder)
    with h5py.File(folder / "a.h5", "w") as file:
        file["A"] = gaussian(60)
        file.create_dataset("Z", data=gaussian(60), chunks=(60, 60),
                            compression="gzip")
    whole = (folder / "a.h5").read_bytes()
    broken = bytearray(whole)
    at = whole.rindex(b"\x78\x5e")  # zlib's header
    broken[at + 50:at + 90] = b"\xff" * 40
    for content, mentioned in ((b"", "not an HDF5 file"),
                               (b"text" * 100, "not an HDF5 file"),
                               (gzip.compress(whole), "gzip"),
                               (whole[:3000], "truncated"),
                               (whole[:-1], "truncated"),
                               (bytes(broken), "in row 0")):
        (folder / "b.h5").write_bytes(content)
        refuse(folder, INPUT, ("b.h5", mentioned), "b.h5:/Z", ranks=3)
    (folder / "folder.h5").mkdir()
    refuse(folder, INPUT, ("folder.h5", "directory"), "folder.h5:/A")
    refuse(folder, INPUT, ("gone.h5", "No such file"), "gone.h5:/A")


def hdf5_results_are_those_of_the_npy_files(folder):
    """Both in one file, on any number of ranks, whole and in part."""
    need_hdf5(folder)
    name = save(folder, gaussian(61))
    succeed(folder, 3, "-q", "-o", "w.npy", "-v", "v.npy", name)
    w, v = np.load(folder / "w.npy"), np.load(folder / "v.npy")
    for ranks in (1, 2, 3, 16):
        for text, part in (("0:", slice(None)), ("20:33", slice(20, 33)),
                           ("5:5", slice(5, 5))):
            succeed(folder, ranks, "-q", "-o", "o.h5:/values", "-v",
                    "o.h5:/deep/vectors", "--range", text, name)
            with h5py.File(folder / "o.h5") as file:
                expect(sorted(file) == ["deep", "values"], list(file))
                values, vectors = file["values"], file["deep/vectors"]
                expect(values.dtype.str == vectors.dtype.str == "<f8")
                expect(np.array_equal(values[:], w[part]), ranks, text)
                expect(np.array_equal(vectors[:], v[:, part]), ranks, text)


def an_hdf5_file_of_results_replaces_an_older_one_whole(folder):
    need_hdf5(folder)
    with h5py.File(folder / "o.h5", "w") as file:
        file["precious"] = 1.0
    refuse(folder, cli.NO_CONVERGENCE, "gaussian", "--max-sweeps", 1, "-o",
           "o.h5:/w", "-n", 40, "gallery:gaussian")
    with h5py.File(folder / "o.h5") as file:
        expect(list(file) == ["precious"], list(file))
    succeed(folder, 2, "-q", "-o", "o.h5:/w", "-v", "p.h5:/v", "-n", 40,
            "gallery:gaussian")
    for name in "ow", "pv":
        with h5py.File(folder / f"{name[0]}.h5") as file:
            expect(list(file) == [name[1]], list(file))


def hdf5_names_that_cannot_be_written_are_refused_beforehand(folder):
    need_hdf5(folder)
    (folder / "d.h5").mkdir()
    matrix = ("-n", 20, "gallery:min")
    for names, code, mentioned in (
            (("-o", "o.h5"), USAGE, "FILE.h5:/DATASET"),
            (("-o", "o.h5:w"), USAGE, "o.h5:w"),
            (("-o", "o.h5:/w/"), USAGE, "o.h5:/w/"),
            (("-v", "o.h5:/a//b"), USAGE, "o.h5:/a//b"),
            (("-v", "gone/o.h5:/v"), OUTPUT, "gone/o.h5"),
            (("-v", "d.h5:/v"), OUTPUT, "directory"),
            (("-o", "o.h5:/w", "-v", "o.h5:/w"), USAGE, "both"),
            (("-o", "o.h5:/w", "-v", "o.h5:/w/v"), USAGE, "both"),
            (("-o", "o.h5:/w", "-v", "./o.h5:/v"), USAGE, "one name"),
            (("-o", "o.h5:/w", "--json", "o.h5"), USAGE, "same file")):
        refuse(folder, code, mentioned, *names, *matrix)
    expect(cli.files(folder) == ["d.h5"], cli.files(folder))


# --- parts of the spectrum ---------------------------------------------------

def ranges_are_pythons_slices(folder):
    name = save(folder, gaussian(50))
    succeed(folder, 2, "-q", "-o", "w.npy", "-v", "v.npy", name)
    w, v = np.load(folder / "w.npy"), np.load(folder / "v.npy")
    for k, text in enumerate(("0:50", "7:9", ":13", "-10:", "-10:-3", "49:50",
                              "20:20", "0:", "0:-1")):
        part = slice(*(int(x) if x else None for x in text.split(":")))
        told = report(folder, (1, 2, 3, 16)[k % 4], "-o", "part.npy", "-v",
                      "vectors.npy", "--range", text, name)
        expect(np.array_equal(np.load(folder / "part.npy"), w[part]), text)
        vectors = np.load(folder / "vectors.npy")
        expect(vectors.shape == v[:, part].shape, vectors.shape)
        expect(np.array_equal(vectors, v[:, part]), text)
        expect(told["pairs"] == len(w[part]), told["pairs"])
        expect(told["range"] == list(part.indices(50)[:2]), told["range"])


def ranges_by_value_hold_their_upper_end_only(folder):
    name = save(folder, np.diag(np.arange(-20.0, 21.0)))
    for ranks, text, first, count in ((1, "value:-5:3", -4, 8),
                                      (3, "value:-5.5:3.5", -5, 9),
                                      (16, "value:-inf:-15", -20, 6),
                                      (2, "value:0:inf", 1, 20),
                                      (3, "value:5.1:5.9", 6, 0)):
        told = report(folder, ranks, "-o", "w.txt", "-v", "v.npy", "--range",
                      text, name)
        values = [float(x) for x in (folder / "w.txt").read_text().split()]
        expect(len(values) == told["pairs"] == count, text, values)
        expect(np.allclose(values, first + np.arange(count), atol=1e-12),
               text, values)
        expect(np.load(folder / "v.npy").shape == (41, count), text)


def the_table_tells_of_a_part_only(folder):
    arguments = ("--no-compare", "-n", 30, "gallery:min")
    run = succeed(folder, 2, "--range", "3:8", *arguments)
    expect("pairs in range" in run.out and "3 to 7" in run.out, run.out)
    expect("pairs in range" not in succeed(folder, 2, *arguments).out)


def ranges_without_sense_are_refused(folder):
    for text in ("5", "", "a:b", "1:2:3", "5:4", "0:31", "31:31", "-31:",
                 "1 :2", "+1:2", "1:2x", "value:1", "value:2:1", "value:1:1",
                 "value:nan:1", "value:a:b", "value:1:2:3",
                 "99999999999999999999:"):
        refuse(folder, USAGE, ("--range",), "--range", text, "-n", 30,
               "gallery:min")


# --- for every format --------------------------------------------------------

FORMATS = {}  # how a matrix is stored; returns the program's arguments


def stored_as(name):
    def keep(function):
        FORMATS[name] = function
        return function
    return keep


@stored_as("npy")
def store_npy(where, a):
    return [save(where, a)]


@stored_as("npy by columns")
def store_fortran(where, a):
    return [save(where, np.asfortranarray(a), "f.npy")]


@stored_as("raw")
def store_raw(where, a):
    return ["--raw", f"f8,{len(a)}", write_raw(where, a, "f8")]


@stored_as("mtx")
def store_mtx(where, a):
    """SciPy's mmwrite writes no nan; repr() does."""
    lines = [f"{x!r}\n" for x in a.T.ravel().tolist()]
    (where / "a.mtx").write_text(
        "%%MatrixMarket matrix array real general\n"
        f"{len(a)} {len(a)}\n" + "".join(lines))
    return ["a.mtx"]


@stored_as("hdf5")
def store_hdf5(where, a):
    with h5py.File(where / "a.h5", "w") as file:
        file["A"] = a
    return ["a.h5:/A"]


@stored_as("hdf5 in chunks")
def store_chunks(where, a):
    with h5py.File(where / "c.h5", "w") as file:
        file.create_dataset("A", data=a, chunks=(16, 5), compression="gzip")
    return ["c.h5:/A"]


def formats(where):
    try:
        need_hdf5(where)
    except Skip:
        return {k: v for k, v in FORMATS.items() if "hdf5" not in k}
    return FORMATS


def every_format_gives_the_same_bits_on_any_number_of_ranks(folder):
    a = gaussian(83)
    expected = None
    for store in formats(folder).values():
        for ranks in (1, 2, 3, 16):
            found = cli.solved_bytes(folder, ranks, *store(folder, a))
            expected = expected or found
            expect(found == expected, store.__name__, ranks, "ranks")


def asymmetry_at_rounding_level_gives_the_same_bits_from_any_format(folder):
    a = gaussian(40)
    a[np.triu_indices(40, 1)] *= 1 + cli.EPS
    found = [cli.solved_bytes(folder, 3, *store(folder, a))
             for store in formats(folder).values()]
    expect(all(bits == found[0] for bits in found))


def no_format_sees_the_other_triangle(folder):
    """Full of nan and of numbers; the checks do not see it either."""
    a = gaussian(83)
    for uplo, other in (("lower", np.triu_indices(83, 1)),
                        ("upper", np.tril_indices(83, -1))):
        spoilt = a.copy()
        spoilt[other] = np.where(sum(other) % 2, 1e3, np.nan)
        for store in formats(folder).values():
            clean = cli.solved_bytes(folder, 3, *store(folder, a))
            found = cli.solved_bytes(folder, 3, "--uplo", uplo,
                                     *store(folder, spoilt))
            expect(found == clean, store.__name__, uplo)


def every_format_names_the_entry_that_is_not_finite(folder):
    for name, store in formats(folder).items():
        a = gaussian(40)
        a[31, 7] = np.nan
        refuse(folder, INPUT, ("a." if "by" not in name and "chunks" not in
                               name else "", "A[31,7] is"), *store(folder, a),
               ranks=3)
        a[31, 7] = 0
        a[7, 31] = -np.inf
        refuse(folder, INPUT, "A[7,31] is -inf", *store(folder, a), ranks=3)


def every_format_names_the_pair_that_is_not_symmetric(folder):
    a = gaussian(40)
    a[7, 31] += 1
    for store in formats(folder).values():
        below = f"A[31,7] is {a[31, 7]:.17g}"
        above = f"A[7,31] is {a[7, 31]:.17g}"
        run = refuse(folder, INPUT, ("not symmetric", below, above),
                     *store(folder, a), ranks=3)
        expect("differ" in run.messages[0], run.messages)


# --- the plan, and names that clash ------------------------------------------

def the_plan_tells_of_constant_buffers(folder):
    for store in formats(folder).values():
        bytes_of = {}
        for n in (50, 200):
            arguments = store(folder, np.eye(n))
            planned = report(folder, 2, "--plan", "-o", "w.txt", "-v",
                             "v.npy", *arguments)["memory"]
            taken = report(folder, 3, "-o", "w.txt", "-v", "v.npy",
                           *arguments)["memory"]
            for key in ("input_bytes", "output_bytes"):
                expect(planned[key] == taken[key] > 0, store.__name__, key)
            bytes_of[n] = planned["input_bytes"], planned["output_bytes"]
        expect(bytes_of[50] == bytes_of[200], store.__name__, bytes_of)
    table = succeed(folder, 2, "--plan", *store_npy(folder, np.eye(5))).out
    expect("reading" in table and "writing" in table, table)


def no_output_replaces_the_matrix_or_another_output(folder):
    name = save(folder, gaussian(10))
    before = (folder / name).read_bytes()
    (folder / "link.npy").symlink_to(name)
    for names in (("-o", name), ("-v", name), ("--json", name),
                  ("-o", f"./{name}"), ("-v", "link.npy"),
                  ("-o", "x.npy", "-v", "x.npy"),
                  ("-o", "x.npy", "-v", "./x.npy"),
                  ("-o", "x.txt", "--json", "../" + folder.name + "/x.txt")):
        refuse(folder, USAGE, ("same file", names[1]), *names, name)
    expect((folder / name).read_bytes() == before)
    expect(cli.files(folder) == [name, "link.npy"], cli.files(folder))


if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], sys.modules[__name__]))
