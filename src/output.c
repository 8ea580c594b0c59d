/* Results in files.
 *
 *     .txt    eigenvalues, one a line: rank 0 writes what the ranks tell it
 *     .npy    a header by rank 0, then every rank writes its own numbers where
 *             they belong; eigenvectors in Fortran order, so that a column of
 *             the file is a column of a rank
 *     .h5     HDF5 has no Fortran order.  Its rows are written from columns of
 *             Z^T: the ranks transpose Z in place (mirror.c) and back again
 *
 * The .npy header, version 1.0: the magic string, the length of the rest as
 * two bytes, a Python dict padded by blanks to a multiple of 64 bytes. */
#include "output.h"

#include "hdf5_file.h"
#include "mirror.h"
#include "part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 128,  /* 10 + dict of at most 93 characters, padded */
    GATHER = 4096,       /* eigenvalues to one broadcast */
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

static bool is_hdf5(const char *path)
{
    struct hdf5_name name;
    return hdf5_split(path, &name);
}

bool output_values_name_ok(const char *path)
{
    return ends_with(path, ".npy") || ends_with(path, ".txt") || is_hdf5(path);
}

bool output_vectors_name_ok(const char *path)
{
    return ends_with(path, ".npy") || is_hdf5(path);
}

int64_t output_bytes(const char *values_path, const char *vectors_path)
{
    const int64_t gather = GATHER, mirror = MIRROR_DOUBLES;
    int64_t doubles = 0;
    if (values_path && ends_with(values_path, ".txt"))
        doubles = gather;
    if (vectors_path && is_hdf5(vectors_path))
        doubles = mirror;
    return doubles * (int64_t)sizeof(double);
}

/* ---- Names, before the work ---- */

/* The file that a name stands for. */
static const char *file_of(const char *path, struct hdf5_name *name)
{
    return hdf5_split(path, name) ? name->file : path;
}

/* One file must not be written over by another; two datasets may share it. */
static void check_apart(const char *a, const char *b, bool datasets,
                        struct failure *f)
{
    struct hdf5_name x, y;
    const char *a_file = file_of(a, &x), *b_file = file_of(b, &y);
    if (!output_same(a_file, b_file))
        return;
    if (!datasets || !is_hdf5(a) || !is_hdf5(b))
        fail(f, PEIGH_ERR_ARGUMENT, "%.150s and %.150s are the same file; one "
             "would replace the other", a, b);
    else if (!hdf5_datasets_apart(x.dataset, y.dataset))
        fail(f, PEIGH_ERR_ARGUMENT, "%.150s and %.150s: both cannot be in one "
             "file", a, b);
    else if (strcmp(a_file, b_file) != 0)
        fail(f, PEIGH_ERR_ARGUMENT, "%.150s and %.150s are the same file; "
             "give it one name", a, b);
}

peigh_status output_names_apart(const char *values, const char *vectors,
                                const char *text, const char *matrix,
                                struct failure *f)
{
    const char *const name[] = {values, vectors, text, matrix};
    struct hdf5_name hdf5;
    for (int k = 0; k < 3 && !failed(f); k++) {
        if (name[k] && hdf5_split(name[k], &hdf5) &&
            !hdf5_dataset_ok(hdf5.dataset))
            fail(f, PEIGH_ERR_ARGUMENT, "%.300s: a dataset is named "
                 "FILE.h5:/NAME or FILE.h5:/GROUP/NAME", name[k]);
        for (int l = k + 1; l < 4 && name[k] && !failed(f); l++)
            if (name[l])
                check_apart(name[k], name[l], l == 1, f);
    }
    return f->status;
}

peigh_status output_name_writable(const char *path, struct failure *f)
{
    struct hdf5_name name;
    if (hdf5_split(path, &name) && hdf5_check(path, f))
        return f->status;
    return output_check(file_of(path, &name), f);
}

/* ---- Where this rank's share of the pairs is ---- */

/* Its pairs k0 .. k1 - 1 of those that are asked for. */
struct own {
    int64_t k0, k1;
};

static struct own own_pairs(const struct result *r)
{
    const peigh_layout *l = r->layout;
    int64_t end = l->first + l->count;
    struct own s = {l->first > r->from ? l->first : r->from,
                      end < r->to ? end : r->to};
    if (s.k1 < s.k0)
        s.k1 = s.k0;
    return s;
}

/* ---- .npy and .txt ---- */

/* Fill in the header of an n x columns matrix in Fortran order, or of a
 * vector of length n if columns is -1. */
static void make_header(char header[HEADER_BYTES], int64_t n, int64_t columns)
{
    const uint16_t probe = 1;
    char order = *(const unsigned char *)&probe ? '<' : '>';
    char shape[64];
    if (columns < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)n);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)n,
                 (long long)columns);

    const int rest = HEADER_BYTES - 10;
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(rest & 255); /* little-endian on every machine */
    header[9] = (char)(rest >> 8);
    int used = snprintf(header + 10, rest,
                        "{'descr': '%cf8', 'fortran_order': %s, 'shape': %s, }",
                        order, columns < 0 ? "False" : "True", shape);
    memset(header + 10 + used, ' ', (size_t)(rest - used));
    header[HEADER_BYTES - 1] = '\n';
}

static void write_header(struct part *part, int64_t n, int64_t columns,
                         struct failure *f)
{
    char header[HEADER_BYTES];
    make_header(header, n, columns);
    if (fwrite(header, 1, sizeof header, part->stream) != sizeof header)
        fail_io(f, part->path, strerror(errno));
}

/* Rank 0: one number to a line. */
static void print_numbers(struct part *part, const double *x, int64_t count,
                          struct failure *f)
{
    bool good = true;
    for (int64_t k = 0; k < count && good; k++)
        good = fprintf(part->stream, "%.17g\n", x[k]) > 0;
    if (!good)
        fail_io(f, part->path, strerror(errno));
}

/* Each rank in turn broadcasts its numbers, rank 0 writes them: memory does
 * not grow with n.  A failure to write does not stop the broadcasts. */
static void gather_text(struct part *part, const struct result *r,
                        struct failure *f)
{
    struct ring *ring = part->ring;
    struct own s = own_pairs(r);
    double piece[GATHER];
    for (int owner = 0; owner < ring->ranks; owner++) {
        int64_t count = owner == ring->rank ? s.k1 - s.k0 : 0;
        if (ring_max_int64(ring, &count, 1, f))
            return;
        for (int64_t k = 0; k < count; k += GATHER) {
            int length = (int)(count - k < GATHER ? count - k : GATHER);
            if (owner == ring->rank)
                memcpy(piece, r->values + (s.k0 - r->layout->first) + k,
                       (size_t)length * sizeof *piece);
            ring_bcast(ring, piece, length, owner, f);
            if (ring->rank == 0 && !failed(f))
                print_numbers(part, piece, length, f);
        }
    }
}

static peigh_status write_values_text(const struct result *r, const char *path,
                                      struct failure *f)
{
    struct part part;
    if (!part_open(&part, r->ring, path, f))
        gather_text(&part, r, f);
    return part_close(&part, -1, f);
}

/* This rank's eigenvalues, where those of the file begin at `offset`. */
static void put_values(const struct part *part, MPI_File file,
                       const struct result *r, int64_t offset,
                       struct failure *f)
{
    struct own s = own_pairs(r);
    part_write(part, file, offset + 8 * (s.k0 - r->from),
               r->values + (s.k0 - r->layout->first), s.k1 - s.k0, f);
}

static void put_columns(const struct part *part, MPI_File file,
                        const struct result *r, int64_t offset,
                        struct failure *f)
{
    const peigh_layout *l = r->layout;
    struct own s = own_pairs(r);
    for (int64_t k = s.k0; k < s.k1 && !failed(f); k++)
        part_write(part, file, offset + 8 * l->n * (k - r->from),
                   r->z + (k - l->first) * l->lda, l->n, f);
}

/* columns: -1 for the eigenvalues, a vector; else of the eigenvectors. */
static peigh_status write_npy(const struct result *r, const char *path,
                              int64_t columns, struct failure *f)
{
    struct part part;
    int64_t pairs = r->to - r->from;
    if (part_open(&part, r->ring, path, f))
        goto cleanup;
    if (r->ring->rank == 0) {
        write_header(&part, columns < 0 ? pairs : r->layout->n, columns, f);
        part_close_stream(&part, f);
    }
    if (!ring_agree(r->ring, f) && own_pairs(r).k1 > own_pairs(r).k0) {
        MPI_File file = part_join(&part, f);
        if (file != MPI_FILE_NULL)
            (columns < 0 ? put_values : put_columns)(&part, file, r,
                                                     HEADER_BYTES, f);
        part_leave(&part, &file, f);
    }
cleanup:
    return part_close(&part, HEADER_BYTES +
                                 8 * pairs * (columns < 0 ? 1 : r->layout->n),
                      f);
}

/* ---- HDF5 ---- */

/* z <- z^T on all ranks together. */
static peigh_status transpose(const struct result *r, double *buffer,
                              struct failure *f)
{
    const peigh_layout *l = r->layout;
    struct columns columns = {r->z, l->n, l->first, l->count, l->lda};
    struct mirror m = {.ring = r->ring, .layout = l, .columns = &columns};
    r->ring->bounce = buffer;
    mirror_all(&m, MIRROR_TRANSPOSE, f);
    r->ring->bounce = NULL;
    return f->status;
}

/* Column i of Z^T is row i of the dataset, as far as pairs are asked for. */
static void put_rows(const struct part *part, MPI_File file,
                     const struct result *r, int64_t offset,
                     struct failure *f)
{
    const peigh_layout *l = r->layout;
    int64_t pairs = r->to - r->from;
    for (int64_t i = 0; i < l->count && !failed(f); i++)
        part_write(part, file, offset + 8 * pairs * (l->first + i),
                   r->z + i * l->lda + r->from, pairs, f);
}

/* Every rank: both kinds of results, each if it has a place. */
static void put_datasets(const struct part *part, const struct result *r,
                         const int64_t offset[2], struct failure *f)
{
    if (r->layout->count == 0 || r->to == r->from)
        return;
    MPI_File file = part_join(part, f);
    if (file != MPI_FILE_NULL && offset[0] > 0)
        put_values(part, file, r, offset[0], f);
    if (file != MPI_FILE_NULL && offset[1] > 0)
        put_rows(part, file, r, offset[1], f);
    part_leave(part, &file, f);
}

/* Rank 0 makes the file, with room for what comes.  Offsets of the
 * eigenvalues and of the eigenvectors; 0: not in this file, or empty. */
static peigh_status make_datasets(struct part *part, const struct result *r,
                                  const char *values, const char *vectors,
                                  int64_t offset[2], int64_t *size,
                                  struct failure *f)
{
    struct hdf5_dataset sets[2];
    int64_t known[3] = {0, 0, 0}, pairs = r->to - r->from;
    int count = 0;
    if (values)
        sets[count++] = (struct hdf5_dataset){values, pairs, -1, 0};
    if (vectors)
        sets[count++] = (struct hdf5_dataset){vectors, r->layout->n, pairs, 0};
    if (r->ring->rank == 0) {
        part_close_stream(part, f);
        if (!failed(f))
            hdf5_create(part->name, part->path, sets, count, &known[2], f);
        if (!failed(f)) {
            known[0] = values ? sets[0].offset : 0;
            known[1] = vectors ? sets[count - 1].offset : 0;
        }
    }
    if (ring_agree(r->ring, f) || ring_max_int64(r->ring, known, 3, f))
        return f->status;
    memcpy(offset, known, 2 * sizeof *offset);
    *size = known[2];
    return PEIGH_OK;
}

/* Z^T, write, Z again.  A failure to write must not leave Z transposed. */
static peigh_status write_hdf5(const struct result *r, const char *path,
                               const char *values, const char *vectors,
                               struct failure *f)
{
    struct part part;
    int64_t offset[2] = {0, 0}, size = -1;
    struct failure back = {.status = PEIGH_OK};
    double *buffer = vectors ? malloc(sizeof *buffer * MIRROR_DOUBLES) : NULL;
    if (vectors && !buffer)
        fail(f, PEIGH_ERR_MEMORY, "no memory for %zu bytes to transpose the "
             "eigenvectors", sizeof *buffer * MIRROR_DOUBLES);
    ring_agree(r->ring, f);
    if (part_open(&part, r->ring, path, f) ||
        make_datasets(&part, r, values, vectors, offset, &size, f) ||
        (vectors && transpose(r, buffer, f)))
        goto cleanup;
    put_datasets(&part, r, offset, f);
    if (vectors)
        transpose(r, buffer, &back);
    if (failed(&back))
        *f = back;
cleanup:
    free(buffer);
    return part_close(&part, size, f);
}

/* ---- All of them ---- */

peigh_status write_pairs(const struct result *r, const char *values_path,
                         const char *vectors_path, struct failure *f)
{
    struct hdf5_name values, vectors;
    bool both = values_path && vectors_path;
    bool values_hdf5 = values_path && hdf5_split(values_path, &values);
    bool vectors_hdf5 = vectors_path && hdf5_split(vectors_path, &vectors);
    if (values_path && !output_values_name_ok(values_path))
        return fail(f, PEIGH_ERR_ARGUMENT, "eigenvalues go to FILE.npy, "
                    "FILE.txt or FILE.h5:/DATASET, not to %.300s",
                    values_path);
    if (vectors_path && !output_vectors_name_ok(vectors_path))
        return fail(f, PEIGH_ERR_ARGUMENT, "eigenvectors go to FILE.npy or "
                    "FILE.h5:/DATASET, not to %.300s", vectors_path);
    if (both && values_hdf5 && vectors_hdf5 &&
        strcmp(values.file, vectors.file) == 0)
        return write_hdf5(r, values.file, values.dataset, vectors.dataset, f);
    if (values_hdf5)
        write_hdf5(r, values.file, values.dataset, NULL, f);
    else if (values_path && ends_with(values_path, ".txt"))
        write_values_text(r, values_path, f);
    else if (values_path)
        write_npy(r, values_path, -1, f);
    if (failed(f) || !vectors_path)
        return f->status;
    if (vectors_hdf5)
        return write_hdf5(r, vectors.file, NULL, vectors.dataset, f);
    return write_npy(r, vectors_path, r->to - r->from, f);
}

peigh_status write_text(struct ring *ring, const char *path,
                        void (*print)(FILE *stream, const void *what),
                        const void *what, struct failure *f)
{
    struct part part;
    if (!part_open(&part, ring, path, f) && ring->rank == 0) {
        print(part.stream, what);
        if (ferror(part.stream))
            fail_io(f, path, strerror(errno));
    }
    return part_close(&part, -1, f);
}
