/* Matrices from HDF5 files: FILE.h5:/path/of/dataset.
 *
 * A dataset of two equal dimensions, of float64 or float32 in either byte
 * order, contiguous, in chunks, or compressed by a filter that the library
 * has.  Every rank opens the file for itself and reads its own rows, which
 * are columns of A^T (fill.c), with HDF5's selections; no collectives, so no
 * rank can wait for one that failed.
 *
 * Chunks are read whole where they are compressed.  So a rank asks for as many
 * rows at a time as a chunk has, and reads each chunk once; what a chunk takes
 * is in the plan. */
#include "hdf5_file.h"
#include "source_file.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TILE = 128,          /* square of a rectangle that is turned in memory */
    CHUNKS_CACHED = 521, /* slots of the cache; HDF5's default, a prime */
    CACHE = 1 << 20,     /* bytes of chunks kept; HDF5's default */
    CONVERTED = 1 << 20, /* bytes HDF5 converts at a time; its default */
};

struct state {
    hid_t file, dataset;
    double tile[TILE * TILE];
};

/* ---- What the dataset is ---- */

struct names {
    char list[200];
};

static herr_t note_name(hid_t group, const char *name, const H5L_info_t *info,
                        void *context)
{
    struct names *names = context;
    size_t used = strlen(names->list);
    (void)group, (void)info;
    snprintf(names->list + used, sizeof names->list - used, "%s/%s",
             used ? ", " : "", name);
    return 0;
}

/* What is wrong, and what there is. */
static peigh_status fail_dataset(hid_t file, const char *name,
                                 const char *wrong, struct failure *f)
{
    struct names names = {""};
    hsize_t start = 0;
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, &start, note_name, &names);
    return fail(f, PEIGH_ERR_IO, "%s: %s; at the top there is: %s", name,
                wrong, *names.list ? names.list : "nothing");
}

static peigh_status check_type(hid_t dataset, bool *native, const char *name,
                               struct failure *f)
{
    static const char *const classes[] = {
        [H5T_INTEGER] = "integer", [H5T_FLOAT] = "float",
        [H5T_TIME] = "time", [H5T_STRING] = "string",
        [H5T_BITFIELD] = "bit field", [H5T_OPAQUE] = "opaque",
        [H5T_COMPOUND] = "compound (complex?)", [H5T_REFERENCE] = "reference",
        [H5T_ENUM] = "enum", [H5T_VLEN] = "variable-length",
        [H5T_ARRAY] = "array"};
    hid_t type = H5Dget_type(dataset);
    H5T_class_t class = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    *native = H5Tequal(type, H5T_NATIVE_DOUBLE) > 0;
    if (class != H5T_FLOAT || (size != 8 && size != 4))
        fail(f, PEIGH_ERR_IO, "%s: a dataset of type %s, %zu bits, is not "
             "supported (float64 and float32 are)", name,
             class >= 0 && class < H5T_NCLASSES ? classes[class] : "?",
             8 * size);
    H5Tclose(type);
    return f->status;
}

static peigh_status check_shape(hid_t dataset, int64_t *n, const char *name,
                                struct failure *f)
{
    hsize_t dims[H5S_MAX_RANK] = {0, 0};
    hid_t space = H5Dget_space(dataset);
    int count = H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    if (count != 2)
        return fail(f, PEIGH_ERR_IO, "%s: the dataset is %d-D; a square 2-D "
                    "one is needed", name, count);
    if (dims[0] != dims[1])
        return fail(f, PEIGH_ERR_IO, "%s: shape (%llu, %llu) is not square",
                    name, (unsigned long long)dims[0],
                    (unsigned long long)dims[1]);
    if (dims[0] > FILE_ORDER_MAX)
        return fail(f, PEIGH_ERR_IO, "%s: order %llu is too large (at most "
                    "%d)", name, (unsigned long long)dims[0], FILE_ORDER_MAX);
    *n = (int64_t)dims[0];
    return PEIGH_OK;
}

/* Rows of a chunk, 1 without; *bytes: what HDF5 keeps and needs for chunks. */
static peigh_status check_chunks(hid_t dataset, int64_t *rows, int64_t *bytes,
                                 const char *name, struct failure *f)
{
    hsize_t chunk[2] = {1, 1};
    hid_t plist = H5Dget_create_plist(dataset);
    bool chunked = H5Pget_layout(plist) == H5D_CHUNKED;
    if (chunked)
        H5Pget_chunk(plist, 2, chunk);
    for (int k = 0; k < H5Pget_nfilters(plist); k++) {
        unsigned flags, config;
        size_t none = 0;
        char filter[64] = "";
        H5Z_filter_t id = H5Pget_filter2(plist, (unsigned)k, &flags, &none,
                                         NULL, sizeof filter, filter, &config);
        if (H5Zfilter_avail(id) <= 0)
            fail(f, PEIGH_ERR_IO, "%s: compressed by a filter that this HDF5 "
                 "has not: %d, %.60s (h5repack -f NONE removes it)", name,
                 (int)id, filter);
    }
    H5Pclose(plist);
    *rows = chunked ? (int64_t)chunk[0] : 1;
    /* compressed, and not: both at once */
    *bytes = chunked ? CACHE + 16 * (int64_t)(chunk[0] * chunk[1]) : 0;
    return f->status;
}

/* ---- Reading ---- */

/* Rows j0 .. j1 - 1, entries i0 .. i1 - 1 of each: row j to a + (j - j0) lda,
 * together. */
static peigh_status read_rows(const struct source *source, int64_t j0,
                              int64_t j1, int64_t i0, int64_t i1, double *a,
                              int64_t lda, struct failure *f)
{
    const struct state *s = source->state;
    char what[PEIGH_MESSAGE_MAX];
    if (j0 >= j1 || i0 >= i1)
        return f->status;
    hsize_t rows = (hsize_t)(j1 - j0), width = (hsize_t)(i1 - i0);
    hsize_t memory[2] = {rows, (hsize_t)lda}, count[2] = {rows, width};
    hsize_t from[2] = {(hsize_t)j0, (hsize_t)i0}, zero[2] = {0, 0};
    hid_t file = H5Dget_space(s->dataset);
    hid_t here = H5Screate_simple(2, memory, NULL);
    bool good =
        H5Sselect_hyperslab(file, H5S_SELECT_SET, from, NULL, count, NULL)
            >= 0 &&
        H5Sselect_hyperslab(here, H5S_SELECT_SET, zero, NULL, count, NULL)
            >= 0 &&
        H5Dread(s->dataset, H5T_NATIVE_DOUBLE, here, file, H5P_DEFAULT, a)
            >= 0;
    if (!good) {
        snprintf(what, sizeof what, "%.280s: in row %lld", source->name,
                 (long long)j0);
        hdf5_fail(what, f);
    }
    H5Sclose(here);
    H5Sclose(file);
    return f->status;
}

static peigh_status fill_mirrored(const struct source *source, int64_t i0,
                                  int64_t i1, int64_t j0, int64_t j1,
                                  double *a, int64_t lda, struct failure *f)
{
    return read_rows(source, j0, j1, i0, i1, a, lda, f);
}

/* Tile by tile, turned. */
static peigh_status fill(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f)
{
    struct state *s = source->state;
    for (int64_t i = i0; i < i1; i += TILE)
        for (int64_t j = j0; j < j1; j += TILE) {
            int64_t rows = i1 - i < TILE ? i1 - i : TILE;
            int64_t columns = j1 - j < TILE ? j1 - j : TILE;
            if (read_rows(source, i, i + rows, j, j + columns, s->tile,
                          columns, f))
                return f->status;
            for (int64_t k = 0; k < columns; k++)
                for (int64_t l = 0; l < rows; l++)
                    a[(i - i0 + l) + (j - j0 + k) * lda] =
                        s->tile[l * columns + k];
        }
    return f->status;
}

static void hdf5_close(struct source *source)
{
    struct state *s = source->state;
    if (s && s->dataset >= 0)
        H5Dclose(s->dataset);
    if (s && s->file >= 0)
        H5Fclose(s->file);
    free(s);
    source->state = NULL;
}

/* ---- Opening ---- */

/* The system's reason, where there is one, says more than HDF5's. */
static peigh_status check_file(const char *path, const char *name,
                               struct failure *f)
{
    char head[2];
    int64_t size;
    int fd = file_open(path, name, &size, f);
    if (fd < 0)
        return f->status;
    ssize_t got = file_read(fd, head, sizeof head, 0);
    close(fd);
    if (got > 0 && file_is_gzip(head, (size_t)got))
        return fail(f, PEIGH_ERR_IO, "%s: compressed by gzip; decompress it "
                    "first", name);
    if (H5Fis_hdf5(path) <= 0)
        return fail(f, PEIGH_ERR_IO, "%s: not an HDF5 file", name);
    return PEIGH_OK;
}

static peigh_status open_dataset(struct state *s, const char *dataset,
                                 const char *name, struct failure *f)
{
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    /* a chunk that has been read is not needed again: weight 1 */
    H5Pset_chunk_cache(access, CHUNKS_CACHED, CACHE, 1.0);
    if (dataset)
        s->dataset = H5Dopen2(s->file, dataset, access);
    H5Pclose(access);
    if (s->dataset >= 0)
        return PEIGH_OK;
    if (!dataset)
        return fail_dataset(s->file, name, "say which dataset: FILE.h5:/NAME",
                            f);
    hid_t object = H5Oopen(s->file, dataset, H5P_DEFAULT);
    fail_dataset(s->file, name,
                 object >= 0 ? "not a dataset" : "no such dataset", f);
    if (object >= 0)
        H5Oclose(object);
    return f->status;
}

static peigh_status open_all(struct source *source, const char *path,
                             const char *dataset, struct failure *f)
{
    struct state *s = source->state;
    bool native = false;
    int64_t chunks = 0;
    const char *name = source->name;
    if (check_file(path, name, f))
        return f->status;
    s->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (s->file < 0)
        return hdf5_fail(name, f);
    if (open_dataset(s, dataset, name, f) ||
        check_type(s->dataset, &native, name, f) ||
        check_shape(s->dataset, &source->n, name, f) ||
        check_chunks(s->dataset, &source->band, &chunks, name, f))
        return f->status;
    source->buffer_bytes =
        (int64_t)sizeof *s + chunks + (native ? 0 : CONVERTED);
    return PEIGH_OK;
}

peigh_status source_open_hdf5(struct source *source, const char *spec,
                              struct failure *f)
{
    struct hdf5_name name;
    bool whole = hdf5_split(spec, &name);
    *source = (struct source){.random_access = true, .fill = fill,
                              .fill_mirrored = fill_mirrored,
                              .close = hdf5_close};
    file_name(source->name, spec);
    struct state *s = source->state = malloc(sizeof *s);
    if (s == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %zu bytes",
                    source->name, sizeof *s);
    s->file = s->dataset = H5I_INVALID_HID;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print */
    if (open_all(source, whole ? name.file : spec, whole ? name.dataset : NULL,
                 f))
        hdf5_close(source);
    return f->status;
}
