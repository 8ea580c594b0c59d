/* Matrices from Matrix Market files.
 *
 *     %%MatrixMarket matrix {coordinate|array} {real|integer|double}
 *                                              {general|symmetric}
 *     % comments
 *     rows columns entries          coordinate; array: rows columns
 *     i j value                     coordinate: one entry to a line, from 1
 *     value                         array: by columns, i >= j if symmetric
 *
 * Format: R. F. Boisvert, R. Pozo & K. A. Remington, NISTIR 5935 (1996).
 * Read as SciPy reads it: duplicate coordinate entries are added, an entry of
 * a symmetric file stands for its mirror image too, whichever triangle it is
 * in.  Beyond that, array values may share a line, and comments and blank
 * lines may stand anywhere after the banner.
 *
 * A text file cannot be entered in the middle: opening it reads the header,
 * filling a rectangle reads all of it, line by line, in constant memory. */
#include "lines.h"
#include "progress.h"
#include "source.h"
#include "source_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct header {
    int64_t n, entries; /* entries: how many the file holds */
    bool coordinate, symmetric, integer;
};

struct mtx {
    char *path;
    struct header header;
};

/* ---- The header ---- */

/* Which of the words stands next on the banner; -1 and a failure if none. */
static int parse_choice(struct lines *l, const char *what,
                        const char *const words[], const char *accepted)
{
    lines_word(l);
    size_t length = (size_t)lines_word_length(l);
    for (int k = 0; words[k]; k++)
        if (strlen(words[k]) == length &&
            strncasecmp(l->at, words[k], length) == 0) {
            l->at += length;
            return k;
        }
    lines_fail(l, "%s '%.*s' is not supported (%s)", what, (int)length, l->at,
               accepted);
    return -1;
}

static bool parse_banner(struct lines *l, struct header *h)
{
    static const char magic[] = "%%MatrixMarket";
    static const char *const objects[] = {"matrix", NULL};
    static const char *const formats[] = {"array", "coordinate", NULL};
    static const char *const fields[] = {"real", "double", "integer", NULL};
    static const char *const symmetries[] = {"general", "symmetric", NULL};
    int format, field, symmetry;
    bool any = lines_next(l);
    if (failed(l->f))
        return false;
    if (!any || strncasecmp(l->at, magic, sizeof magic - 1) != 0) {
        bool gzip = file_is_gzip(l->buffer, l->end);
        fail(l->f, PEIGH_ERR_IO, "%s: %s", l->name,
             gzip ? "compressed by gzip; decompress it first"
                  : "not a Matrix Market file (no %%MatrixMarket banner)");
        return false;
    }
    l->at += sizeof magic - 1;
    if (parse_choice(l, "object", objects, "matrix is") < 0 ||
        (format = parse_choice(l, "format", formats,
                               "array and coordinate are")) < 0 ||
        (field = parse_choice(l, "field", fields,
                              "real, double and integer are")) < 0 ||
        (symmetry = parse_choice(l, "symmetry", symmetries,
                                 "general and symmetric are")) < 0)
        return false;
    h->coordinate = format == 1;
    h->integer = field == 2;
    h->symmetric = symmetry == 1;
    return lines_finished(l);
}

static bool parse_size(struct lines *l, struct header *h)
{
    int64_t columns;
    if (!lines_next_data(l)) {
        lines_fail(l, "truncated: no size line");
        return false;
    }
    if (!lines_integer(l, "number of rows", &h->n) ||
        !lines_integer(l, "number of columns", &columns))
        return false;
    if (h->n != columns || h->n < 0 || h->n > FILE_ORDER_MAX) {
        lines_fail(l, "%lld x %lld is not a square matrix of order 0 .. %d",
                   (long long)h->n, (long long)columns, FILE_ORDER_MAX);
        return false;
    }
    h->entries = h->symmetric ? h->n * (h->n + 1) / 2 : h->n * h->n;
    if (h->coordinate && !lines_integer(l, "number of entries", &h->entries))
        return false;
    if (h->entries < 0) {
        lines_fail(l, "%lld entries", (long long)h->entries);
        return false;
    }
    return lines_finished(l);
}

/* Start reading: open the file and read its header.  NULL after a failure. */
static struct lines *open_entries(const char *path, const char *name,
                                  struct header *h, struct failure *f)
{
    struct lines *l = lines_open(path, name, f);
    memset(h, 0, sizeof *h);
    if (l == NULL || (parse_banner(l, h) && parse_size(l, h)))
        return l;
    lines_close(l);
    return NULL;
}

/* ---- The entries ---- */

/* The part of the matrix that was asked for. */
struct rectangle {
    int64_t i0, i1, j0, j1;
    double *a;
    int64_t lda;
};

static void clear(const struct rectangle *r)
{
    for (int64_t j = 0; j < r->j1 - r->j0; j++)
        for (int64_t i = 0; i < r->i1 - r->i0; i++)
            r->a[i + j * r->lda] = 0;
}

static void add(const struct rectangle *r, int64_t i, int64_t j, double value)
{
    if (i >= r->i0 && i < r->i1 && j >= r->j0 && j < r->j1)
        r->a[(i - r->i0) + (j - r->j0) * r->lda] += value;
}

static void add_entry(const struct rectangle *r, const struct header *h,
                      int64_t i, int64_t j, double value)
{
    add(r, i, j, value);
    if (h->symmetric && i != j)
        add(r, j, i, value);
}

static bool index_in_range(struct lines *l, const char *what, int64_t index,
                           int64_t n)
{
    if (index >= 1 && index <= n)
        return true;
    lines_fail(l, "%s %lld is out of range 1 .. %lld", what, (long long)index,
               (long long)n);
    return false;
}

static bool too_many(struct lines *l, const struct header *h, int64_t count)
{
    if (count < h->entries)
        return false;
    lines_fail(l, "too many entries: '%.*s' follows the last of %lld",
               lines_word_length(l), l->at, (long long)h->entries);
    return true;
}

enum { LINES_BETWEEN_SHOWS = 4096 }; /* looking at the clock costs */

/* How far the file is read. */
static void show(const struct source *source, const struct lines *l)
{
    if (source->progress && l->number % LINES_BETWEEN_SHOWS == 0)
        progress_show(source->progress,
                      (double)l->offset / (double)(l->size + 1));
}

static int64_t read_coordinates(const struct source *source, struct lines *l,
                                const struct header *h,
                                const struct rectangle *r)
{
    int64_t count, i, j;
    double value;
    for (count = 0; lines_next_data(l); count++) {
        if (too_many(l, h, count) || !lines_integer(l, "row", &i) ||
            !lines_integer(l, "column", &j) ||
            !index_in_range(l, "row", i, h->n) ||
            !index_in_range(l, "column", j, h->n) ||
            !lines_value(l, h->integer, &value) || !lines_finished(l))
            break;
        add_entry(r, h, i - 1, j - 1, value);
        show(source, l);
    }
    return count;
}

static int64_t read_array(const struct source *source, struct lines *l,
                          const struct header *h, const struct rectangle *r)
{
    int64_t count = 0, i = 0, j = 0;
    double value;
    while (lines_next_data(l)) {
        show(source, l);
        for (; lines_word(l); count++) {
            if (too_many(l, h, count) ||
                !lines_value(l, h->integer, &value))
                return count;
            add_entry(r, h, i, j, value);
            if (++i == h->n) {
                j++;
                i = h->symmetric ? j : 0;
            }
        }
    }
    return count;
}

static peigh_status mtx_fill(const struct source *source, int64_t i0,
                             int64_t i1, int64_t j0, int64_t j1, double *a,
                             int64_t lda, struct failure *f)
{
    const struct mtx *mtx = source->state;
    const struct rectangle r = {i0, i1, j0, j1, a, lda};
    struct header h;
    struct lines *l = open_entries(mtx->path, source->name, &h, f);
    if (l == NULL)
        return f->status;
    if (memcmp(&h, &mtx->header, sizeof h) != 0)
        fail(f, PEIGH_ERR_IO, "%s: changed while it was being read",
             source->name);
    clear(&r);
    if (!failed(f)) {
        int64_t count = h.coordinate ? read_coordinates(source, l, &h, &r)
                                     : read_array(source, l, &h, &r);
        if (count < h.entries)
            lines_fail(l, "truncated: the file ends after %lld of %lld "
                       "entries", (long long)count, (long long)h.entries);
    }
    lines_close(l);
    return f->status;
}

static void mtx_close(struct source *source)
{
    struct mtx *mtx = source->state;
    if (mtx)
        free(mtx->path);
    free(mtx);
    source->state = NULL;
}

static peigh_status mtx_open(struct source *source, const char *path,
                             struct failure *f)
{
    struct mtx *mtx = source->state;
    if (mtx == NULL || (mtx->path = strdup(path)) == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %zu bytes",
                    source->name, sizeof *mtx + strlen(path) + 1);
    struct lines *l = open_entries(path, source->name, &mtx->header, f);
    if (l)
        lines_close(l);
    source->n = mtx->header.n;
    return f->status;
}

peigh_status source_open_mtx(struct source *source, const char *path,
                             struct failure *f)
{
    *source = (struct source){
        .buffer_bytes = sizeof(struct lines),
        .random_access = false, .fill = mtx_fill, .close = mtx_close};
    file_name(source->name, path);
    source->state = calloc(1, sizeof(struct mtx));
    if (mtx_open(source, path, f) != PEIGH_OK)
        mtx_close(source);
    return f->status;
}
