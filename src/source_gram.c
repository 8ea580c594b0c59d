/* A = scale X^T X of a tall matrix X in a file, of which a tile of rows is in
 * memory at a time; with `center` each column of X less its mean, found in a
 * pass before: covariance, and principal components. */
#include "streamed.h"
#include "table.h"
#include "tall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE_DOUBLES = 512 << 10, /* 4 MiB of X at a time ... */
    ROWS_LEAST = 32, ROWS_MOST = 512, /* ... within these numbers of rows */
};

struct state {
    struct tall tall;
    struct table x;
    bool center;
    double *mean; /* NULL until it is needed */
};

static peigh_status read_rows(const struct state *s, int64_t tile, int64_t j0,
                              int64_t j1, double *x, int64_t ldx,
                              int64_t *count, struct failure *f)
{
    int64_t i0 = tile * s->tall.rows, left = s->x.rows - i0;
    *count = left < s->tall.rows ? left : s->tall.rows;
    return table_read(&s->x, i0, i0 + *count, j0, j1, x, ldx, f);
}

static peigh_status load(const struct tall *tall, int64_t tile, int64_t j0,
                         int64_t j1, double *x, int64_t ldx, int *sign,
                         struct failure *f)
{
    const struct state *s = tall->state;
    int64_t count;
    *sign = 1;
    if (read_rows(s, tile, j0, j1, x, ldx, &count, f))
        return f->status;
    for (int64_t j = j0; j < j1; j++) {
        double *column = x + (j - j0) * ldx;
        for (int64_t i = 0; i < count && s->center; i++)
            column[i] -= s->mean[j];
        memset(column + count, 0,
               sizeof *column * (size_t)(tall->rows - count));
    }
    return PEIGH_OK;
}

/* mean[j] of all columns, with the errors of the sums on the side. */
static peigh_status find_means(struct state *s, struct failure *f)
{
    int64_t n = s->x.columns, rows = s->tall.rows, count;
    double *mean = calloc((size_t)n * 2, sizeof *mean), *error = mean + n;
    double *x = malloc(sizeof *x * (size_t)(n * rows));
    if (!mean || !x)
        fail(f, PEIGH_ERR_MEMORY, "%s: no memory for the means", s->x.name);
    for (int64_t tile = 0; tile < s->tall.tiles && !failed(f); tile++) {
        if (read_rows(s, tile, 0, n, x, rows, &count, f))
            break;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < count; i++) {
                double old = mean[j], value = x[i + j * rows];
                double new = old + value, part = new - old;
                error[j] += (old - (new - part)) + (value - part);
                mean[j] = new;
            }
    }
    for (int64_t j = 0; j < n && !failed(f); j++)
        mean[j] = (mean[j] + error[j]) / (double)s->x.rows;
    free(x);
    if (failed(f))
        free(mean);
    else
        s->mean = mean;
    return f->status;
}

static peigh_status fill(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f)
{
    struct state *s = source->state;
    if (s->center && !s->mean && find_means(s, f))
        return f->status;
    return tall_fill(&s->tall, i0, i1, j0, j1, a, lda, source->progress, f);
}

static void close_gram(struct source *source)
{
    struct state *s = source->state;
    if (s) {
        table_close(&s->x);
        free(s->mean);
    }
    free(s);
    source->state = NULL;
}

/* A number, 1/n or 1/(n-1). */
static double read_scale(const char *text, int64_t rows, struct failure *f)
{
    char *end;
    double value = text ? strtod(text, &end) : 1.0;
    if (text && strcmp(text, "1/n") == 0)
        value = 1.0 / (double)rows;
    else if (text && strcmp(text, "1/(n-1)") == 0)
        value = rows > 1 ? 1.0 / (double)(rows - 1) : INFINITY;
    else if (text && (*end || end == text))
        value = NAN;
    if (!isfinite(value))
        fail(f, PEIGH_ERR_ARGUMENT, "source:gram: scale='%.40s' is not a "
             "number, 1/n or 1/(n-1) of more rows than that (%lld)", text,
             (long long)rows);
    return value;
}

peigh_status source_open_gram(struct source *source,
                              const struct streamed_spec *spec,
                              struct failure *f)
{
    struct state *s = source->state = calloc(1, sizeof *s);
    source->fill = fill;
    source->close = close_gram;
    if (!s)
        return fail(f, PEIGH_ERR_MEMORY, "source:gram: no memory");
    if (!table_open(&s->x, spec->value[KEY_FILE], f)) {
        int64_t n = s->x.columns, rows = TILE_DOUBLES / (n > 0 ? n : 1);
        rows = rows < ROWS_LEAST ? ROWS_LEAST
               : rows > ROWS_MOST ? ROWS_MOST : rows / 8 * 8;
        s->center = spec->value[KEY_CENTER] != NULL;
        s->tall = (struct tall){
            .tiles = (s->x.rows + rows - 1) / rows, .rows = rows, .state = s,
            .load = load,
            .scale = read_scale(spec->value[KEY_SCALE], s->x.rows, f)};
        source->n = n;
        source->buffer_bytes = tall_bytes(&s->tall, n) + TABLE_BUFFER;
    }
    if (failed(f))
        close_gram(source);
    return f->status;
}
