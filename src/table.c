/* Tables of numbers from .npy files.
 *
 * A "line" is what lies together in the file: a row in C order, a column in
 * Fortran order.  A rectangle is a piece of some lines; where it holds whole
 * lines they are read as one run.  A run goes through buffers of fixed size:
 * bytes, numbers, and from there to their places. */
#include "table.h"

#include "npy.h"
#include "source_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = TABLE_BUFFER / 16 }; /* in each of the buffers */

/* ---- Opening ---- */

static peigh_status check_shape(struct table *t, const struct npy_header *h,
                                int64_t size, struct failure *f)
{
    int64_t entries = 0, bytes = 0;
    if (h->dims < 1 || h->dims > 2)
        return fail(f, PEIGH_ERR_IO, "%s: the array is %d-D; a 2-D one is "
                    "needed", t->name, h->dims);
    t->binary = h->binary;
    t->rows = h->shape[0];
    t->columns = h->dims == 2 ? h->shape[1] : 1;
    if (__builtin_mul_overflow(t->rows, t->columns, &entries) ||
        __builtin_mul_overflow(entries, 16, &bytes))
        return fail(f, PEIGH_ERR_IO, "%s: shape (%lld, %lld) is too large",
                    t->name, (long long)t->rows, (long long)t->columns);
    return npy_check_size(h, entries, size, t->name, f);
}

peigh_status table_open(struct table *t, const char *path, struct failure *f)
{
    struct npy_header header = {0};
    int64_t size = 0;
    *t = (struct table){.fd = -1};
    file_name(t->name, path);
    t->fd = file_open(path, t->name, &size, f);
    if (t->fd < 0)
        return f->status;
    t->bytes = malloc(NUMBERS * sizeof(double));
    t->numbers = malloc(NUMBERS * sizeof(double));
    if (!t->bytes || !t->numbers)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %d bytes",
                    t->name, TABLE_BUFFER);
    if (!npy_read_header(t->fd, size, t->name, &header, f))
        check_shape(t, &header, size, f);
    return f->status;
}

void table_close(struct table *t)
{
    if (t->name[0] && t->fd >= 0)
        close(t->fd);
    free(t->bytes);
    free(t->numbers);
    *t = (struct table){.fd = -1};
}

peigh_status table_same_columns(const struct table *a, const struct table *b,
                                struct failure *f)
{
    if (a->columns == b->columns)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_IO, "%.200s has %lld columns, but %.200s has "
                "%lld", b->name, (long long)b->columns, a->name,
                (long long)a->columns);
}

peigh_status table_same_rows(const struct table *a, const struct table *b,
                             struct failure *f)
{
    if (a->rows == b->rows)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_IO, "%.200s has %lld rows, but %.200s has %lld",
                b->name, (long long)b->rows, a->name, (long long)a->rows);
}

/* ---- Reading ---- */

/* A run of the file on its way to a rectangle: lines of `width` entries, of
 * which the first is entry `k0` of line `line0`. */
struct target {
    int64_t line0, k0, width;
    double *x;
    int64_t line_stride, stride; /* of x, from line to line and within */
};

static peigh_status not_finite(const struct table *t, const struct target *to,
                               int64_t position, double value,
                               struct failure *f)
{
    long long line = to->line0 + position / to->width;
    long long k = to->k0 + position % to->width;
    bool by_rows = t->binary.by_rows;
    return fail(f, PEIGH_ERR_NOT_FINITE, "%s: entry [%lld,%lld] is %g, not "
                "finite", t->name, by_rows ? line : k, by_rows ? k : line,
                value);
}

/* Entries first .. first + count - 1 of the file into t->numbers. */
static peigh_status read_numbers(const struct table *t, int64_t first,
                                 int64_t count, struct failure *f)
{
    const struct binary *b = &t->binary;
    bool plain = b->item == 8 && !b->swap;
    void *to = plain ? (void *)t->numbers : t->bytes;
    size_t bytes = (size_t)(count * b->item);
    ssize_t got = file_read(t->fd, to, bytes, b->data + first * b->item);
    if (got != (ssize_t)bytes)
        return fail(f, PEIGH_ERR_IO, "%s: %s", t->name,
                    got < 0 ? strerror(errno)
                            : "truncated while it was being read");
    for (int64_t k = 0; k < count && !plain; k++)
        t->numbers[k] = binary_decode(b, t->bytes + k * b->item);
    return PEIGH_OK;
}

/* t->numbers, the entries of the run from `position` on, to their places. */
static peigh_status place(const struct table *t, const struct target *to,
                          int64_t position, int64_t count, struct failure *f)
{
    int64_t line = position / to->width, k = position % to->width;
    for (int64_t l = 0; l < count; l++) {
        double value = t->numbers[l];
        if (!isfinite(value))
            return not_finite(t, to, position + l, value, f);
        to->x[line * to->line_stride + k * to->stride] = value;
        if (++k == to->width) {
            k = 0;
            line++;
        }
    }
    return PEIGH_OK;
}

static peigh_status read_run(const struct table *t, int64_t first,
                             int64_t count, const struct target *to,
                             struct failure *f)
{
    for (int64_t k = 0; k < count; k += NUMBERS) {
        int64_t length = count - k < NUMBERS ? count - k : NUMBERS;
        if (read_numbers(t, first + k, length, f) ||
            place(t, to, k, length, f))
            return f->status;
    }
    return PEIGH_OK;
}

peigh_status table_read(const struct table *t, int64_t i0, int64_t i1,
                        int64_t j0, int64_t j1, double *x, int64_t ld,
                        struct failure *f)
{
    bool by_rows = t->binary.by_rows;
    int64_t length = by_rows ? t->columns : t->rows; /* of a line */
    int64_t line0 = by_rows ? i0 : j0, line1 = by_rows ? i1 : j1;
    int64_t k0 = by_rows ? j0 : i0, k1 = by_rows ? j1 : i1;
    struct target to = {line0, k0, k1 - k0, x, by_rows ? 1 : ld,
                        by_rows ? ld : 1};
    bool whole = k0 == 0 && k1 == length;
    int64_t step = whole ? line1 - line0 : 1;
    for (; to.line0 < line1 && to.width > 0; to.line0 += step) {
        if (read_run(t, to.line0 * length + k0, step * to.width, &to, f))
            return f->status;
        to.x += to.line_stride;
    }
    return PEIGH_OK;
}
