/* A_jk = sum over n of w_n cos((h_j - h_k) . r_n), the Karle-Hauptman matrix of
 * a centrosymmetric structure (J. Karle & H. Hauptman, Acta Cryst. 3, 1950).
 * Since cos(a - b) = cos a cos b + sin a sin b,
 *
 *     A = X^T X,   X = sqrt(w) [cos(h . r); sin(h . r)],
 *
 * two rows of X for each point: N 2n cosines instead of N^2 n.  Points of
 * negative weight pass by in tiles of their own, which are subtracted. */
#include "points.h"
#include "streamed.h"
#include "tall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct state {
    struct tall tall;
    struct table r, h, weights;
    struct points points;
    double *buffer, *group; /* of the points; a group of vectors */
};

/* Tile 2 t: points of weights above zero; tile 2 t + 1: below. */
static peigh_status load(const struct tall *tall, int64_t tile, int64_t j0,
                         int64_t j1, double *x, int64_t ldx, int *sign,
                         struct failure *f)
{
    struct state *s = tall->state;
    double root[COSINE_TILE], last[COSINE_GROUP * 2 * COSINE_TILE];
    struct phases phases = {.d = s->h.columns, .h = s->group};
    const double *w, side = tile % 2 ? -1.0 : 1.0;
    *sign = 0;
    if (points_tile(&s->points, tile / 2, &phases.r, &w, f))
        return f->status;
    for (int i = 0; i < COSINE_TILE; i++) {
        root[i] = side * w[i] > 0.0 ? sqrt(side * w[i]) : 0.0;
        *sign = root[i] > 0.0 ? (int)side : *sign;
    }
    for (int64_t j = j0; j < j1 && *sign; j += COSINE_GROUP) {
        bool whole = j + COSINE_GROUP <= j1;
        double *to = x + (j - j0) * ldx;
        if (vectors_read(&s->h, j, j1, 1, s->group, f))
            break;
        cosine_columns(&phases, root, whole ? to : last,
                       whole ? ldx : 2 * COSINE_TILE);
        for (int64_t k = 0; k < j1 - j && !whole; k++)
            memcpy(to + k * ldx, last + k * 2 * COSINE_TILE,
                   sizeof *to * 2 * COSINE_TILE);
    }
    return f->status;
}

static peigh_status fill(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f)
{
    const struct state *s = source->state;
    return tall_fill(&s->tall, i0, i1, j0, j1, a, lda, source->progress, f);
}

static void close_cosine(struct source *source)
{
    struct state *s = source->state;
    if (s) {
        table_close(&s->r);
        table_close(&s->h);
        table_close(&s->weights);
        free(s->buffer);
        free(s->group);
    }
    free(s);
    source->state = NULL;
}

static peigh_status open_tables(struct state *s,
                                const struct streamed_spec *spec,
                                struct failure *f)
{
    const char *weights = spec->value[KEY_WEIGHTS];
    if (table_open(&s->r, spec->value[KEY_POINTS], f) ||
        table_open(&s->h, spec->value[KEY_VECTORS], f) ||
        table_same_columns(&s->r, &s->h, f))
        return f->status;
    if (weights && !table_open(&s->weights, weights, f) &&
        s->weights.columns != 1)
        fail(f, PEIGH_ERR_IO, "%s: %lld columns; weights have one",
             s->weights.name, (long long)s->weights.columns);
    if (weights && !failed(f))
        table_same_rows(&s->r, &s->weights, f);
    return f->status;
}

peigh_status source_open_cosine(struct source *source,
                                const struct streamed_spec *spec,
                                struct failure *f)
{
    struct state *s = source->state = calloc(1, sizeof *s);
    source->fill = fill;
    source->close = close_cosine;
    if (!s)
        return fail(f, PEIGH_ERR_MEMORY, "source:cosine: no memory");
    if (open_tables(s, spec, f)) {
        close_cosine(source);
        return f->status;
    }
    size_t group = (size_t)(COSINE_GROUP * s->h.columns) + 1;
    s->buffer = malloc(sizeof(double) * (size_t)points_doubles(&s->r));
    s->group = malloc(sizeof(double) * group);
    source->n = s->h.rows;
    if (!s->buffer || !s->group) {
        fail(f, PEIGH_ERR_MEMORY, "source:cosine: no memory for points");
        close_cosine(source);
        return f->status;
    }
    points_open(&s->points, &s->r, &s->weights, s->buffer);
    s->tall = (struct tall){.tiles = 2 * s->points.tiles,
                            .rows = 2 * COSINE_TILE, .scale = 1.0,
                            .state = s, .load = load};
    source->buffer_bytes = tall_bytes(&s->tall, source->n) +
                           (int64_t)sizeof(double) * points_doubles(&s->r);
    return PEIGH_OK;
}
