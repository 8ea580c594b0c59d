/* Sums over huge sets,
 *
 *     F_j = sum over n of w_n cos(h_j . r_n),    or of sin,
 *
 * with neither the n x m phases nor the points in memory: points pass by in
 * tiles, and each tile adds to the sums of all vectors of this rank.  A tile
 * is summed as cosine.c does it, and the sums of tiles are added with their
 * rounding errors on the side (D. E. Knuth, The Art of Computer Programming 2,
 * 4.2.2, theorem B), so the error does not grow with n.
 *
 * What is done for a vector does not depend on who else is on its rank: the
 * bits are the same for any number of ranks. */
#include "sum.h"

#include "points.h"

#include <math.h>
#include <stdlib.h>

static int64_t groups_of(int64_t count)
{
    return (count + COSINE_GROUP - 1) / COSINE_GROUP;
}

/* ---- What there is to sum ---- */

static peigh_status check_weights(const struct table *w, struct failure *f)
{
    if (w->columns == 1)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_IO, "%s: %lld columns; weights have one",
                w->name, (long long)w->columns);
}

peigh_status sum_open(struct sum *s, const char *points, const char *vectors,
                      const char *weights, struct failure *f)
{
    if (table_open(&s->points, points, f) ||
        table_open(&s->vectors, vectors, f) ||
        table_same_columns(&s->points, &s->vectors, f))
        return f->status;
    if (weights && !table_open(&s->weights, weights, f) &&
        !check_weights(&s->weights, f))
        table_same_rows(&s->points, &s->weights, f);
    return f->status;
}

void sum_close(struct sum *s)
{
    table_close(&s->points);
    table_close(&s->vectors);
    table_close(&s->weights);
}

void sum_share(struct sum *s, int rank, int ranks)
{
    int64_t m = s->vectors.rows, each = m / ranks, more = m % ranks;
    s->first = rank * each + (rank < more ? rank : more);
    s->count = each + (rank < more);
}

/* ---- Summing ---- */

/* What a vector takes: its components, the sum and the error of the sum. */
static int64_t own_doubles(const struct sum *s)
{
    return groups_of(s->count) * COSINE_GROUP * (s->vectors.columns + 2);
}

int64_t sum_bytes_own(const struct sum *s)
{
    return (int64_t)sizeof(double) * own_doubles(s);
}

int64_t sum_bytes_tile(const struct sum *s)
{
    return (int64_t)sizeof(double) * points_doubles(&s->points);
}

/* sum + error <- sum + error + x */
static void add(double *sum, double *error, double x)
{
    double old = *sum, new = old + x, part = new - old;
    *error += (old - (new - part)) + (x - part);
    *sum = new;
}

/* One tile's contribution to the sums of all groups. */
static void add_tile(const struct sum *s, struct phases *p, const double *w,
                     const double *h, double *sum, double *error)
{
    int64_t groups = groups_of(s->count);
    for (int64_t g = 0; g < groups; g++) {
        double part[COSINE_GROUP];
        p->h = h + g * COSINE_GROUP * p->d;
        cosine_sums(p, w, s->sine, part);
        for (int k = 0; k < COSINE_GROUP; k++)
            add(&sum[g * COSINE_GROUP + k], &error[g * COSINE_GROUP + k],
                part[k]);
    }
}

/* Phases can overflow though points and vectors are finite. */
static peigh_status check_result(const struct sum *s, const double *result,
                                 struct failure *f)
{
    for (int64_t j = 0; j < s->count; j++)
        if (!isfinite(result[j]))
            return fail(f, PEIGH_ERR_NOT_FINITE, "%s: the sum for vector "
                        "%lld is %g: its phases or the weights overflow",
                        s->vectors.name, (long long)(s->first + j),
                        result[j]);
    return PEIGH_OK;
}

peigh_status sum_run(const struct sum *s, double *result,
                     struct progress *progress, struct failure *f)
{
    int64_t d = s->vectors.columns, groups = groups_of(s->count);
    int64_t vectors = groups * COSINE_GROUP;
    if (s->count == 0)
        return PEIGH_OK;
    double *own = calloc((size_t)own_doubles(s), sizeof *own);
    double *tile = malloc((size_t)sum_bytes_tile(s));
    double *sum = own + vectors * d, *error = sum + vectors;
    struct points points;
    struct phases phases = {.d = d};
    if (!own || !tile) {
        fail(f, PEIGH_ERR_MEMORY, "no memory for %lld bytes of vectors and "
             "sums; use more ranks",
             (long long)(sum_bytes_own(s) + sum_bytes_tile(s)));
        goto cleanup;
    }
    points_open(&points, &s->points, &s->weights, tile);
    vectors_read(&s->vectors, s->first, s->first + s->count, groups, own, f);
    for (int64_t t = 0; t < points.tiles && !failed(f); t++) {
        const double *w;
        if (points_tile(&points, t, &phases.r, &w, f))
            break;
        add_tile(s, &phases, w, own, sum, error);
        progress_show(progress, (double)(t + 1) / (double)points.tiles);
    }
    for (int64_t j = 0; j < s->count; j++)
        result[j] = sum[j] + error[j];
    if (!failed(f))
        check_result(s, result, f);
cleanup:
    free(own);
    free(tile);
    return f->status;
}
