/* Bounds on the spectrum by Lanczos's process (C. Lanczos 1950): the extreme
 * eigenvalues theta of the tridiagonal matrix of k steps lie within the
 * spectrum,
 *
 *     theta_min >= lambda_min,   theta_max <= lambda_max,
 *
 * and from a random start one of them is off by more than a fraction e of the
 * spread with a probability below 1.65 sqrt(n) exp(-(2k-1) sqrt(e)) (J.
 * Kuczynski & H. Wozniakowski 1992): for k = 32 and e = 1/6, 3e-9 at
 * n = 1e5.  The start is random but always the same.
 *
 * The same bits on any number of ranks: every sum over ranks is made of parts
 * that are the same for every distribution (a block's, or a column's),
 * rounded to integers.  The sum of integers does not depend on their order.
 *
 * The vectors are distributed like the columns: entry j lies in the header of
 * column j. */
#include "bounds.h"

#include "layout.h"
#include "noise.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 32,
    /* Rows of the header. */
    V = 0, V_BEFORE, W, W_BEFORE, AW,
};

/* The Lanczos process has found an invariant subspace when beta is so small
 * beside the norm: the start has a part in every eigenspace, so the bounds
 * are exact then.  A smaller one would magnify rounding in the recurrence. */
static const double beta_of_rounding = 1e-5;

static double *header(const struct columns *c, int64_t j, int row)
{
    return column(c, j) + c->n + row;
}

/* What the Lanczos process works with. */
struct lanczos {
    struct ring *ring;
    struct columns *columns;
    int64_t block;
    double bound; /* a power of two, at least the 1-norm of A */
};

/* The unit of the integers when numbers add up to at most `most`. */
static double unit_of_sums(double most)
{
    return 0x1p61 / most;
}

/* A power of two above ||A||_1 >= ||A||_2, the largest sum of a column. */
static peigh_status norm_bound(struct lanczos *l, struct failure *f)
{
    double largest = 0.0;
    for (int64_t j = 0; j < l->columns->count; j++) {
        const double *x = column(l->columns, j);
        double sum = 0.0;
        for (int64_t i = 0; i < l->columns->n; i++)
            sum += fabs(x[i]);
        largest = fmax(largest, sum);
    }
    if (ring_max_double(l->ring, &largest, 1, f))
        return f->status;
    int e;
    frexp(largest, &e);
    l->bound = scalbn(2.0, e);
    return PEIGH_OK;
}

/* Rows i0 .. of this rank's part of A x, x a row of the header, by blocks,
 * added up as integers. */
static void multiply_rows(const struct lanczos *l, int x, double unit,
                          int64_t i0, int64_t rows, double *part,
                          int64_t *sum)
{
    const struct columns *c = l->columns;
    struct blocks blocks = blocks_of(c->n, l->block);
    int64_t j = 0;
    for (int64_t b = 0; b < blocks.count && j < c->count; b++) {
        int64_t end = block_first(&blocks, b + 1) - c->first;
        if (end <= j)
            continue;
        memset(part, 0, sizeof *part * (size_t)rows);
        for (; j < end; j++) {
            const double *a = column(c, j) + i0;
            double factor = *header(c, j, x);
            for (int64_t i = 0; i < rows; i++)
                part[i] += a[i] * factor;
        }
        for (int64_t i = 0; i < rows; i++)
            sum[i] += (int64_t)(part[i] * unit);
    }
}

/* A dot product of two distributed vectors (header rows) that is at most
 * `most` in absolute terms. */
struct dot {
    int x, y;
    double most, value;
};

static int64_t own_part(const struct lanczos *l, const struct dot *dot)
{
    int64_t sum = 0;
    double unit = unit_of_sums(dot->most);
    for (int64_t j = 0; j < l->columns->count; j++)
        sum += llrint(*header(l->columns, j, dot->x) *
                      *header(l->columns, j, dot->y) * unit);
    return sum;
}

/* y = A x, entries at most `most`, and two dot products, with a single
 * reduction as long as the rows fit the buffer.  Each rank keeps the entries
 * of its columns. */
static peigh_status multiply(struct lanczos *l, int x, int y, double most,
                             struct dot dot[2], struct failure *f)
{
    struct columns *c = l->columns;
    const int64_t half = l->ring->chunk / 2, room = half - 2;
    double *part = l->ring->bounce, unit = unit_of_sums(most);
    int64_t *sum = (int64_t *)(l->ring->bounce + half);
    for (int64_t i0 = 0; i0 < c->n; i0 += room) {
        int64_t rows = c->n - i0 < room ? c->n - i0 : room;
        memset(sum, 0, sizeof *sum * (size_t)rows);
        multiply_rows(l, x, unit, i0, rows, part, sum);
        for (int k = 0; k < 2; k++)
            sum[rows + k] = own_part(l, &dot[k]);
        if (ring_sum_int64(l->ring, sum, (int)rows + 2, f))
            return f->status;
        for (int64_t j = 0; j < c->count; j++) {
            int64_t i = c->first + j - i0;
            if (i >= 0 && i < rows)
                *header(c, j, y) = (double)sum[i] / unit;
        }
        for (int k = 0; k < 2; k++)
            dot[k].value = (double)sum[rows + k] / unit_of_sums(dot[k].most);
    }
    return PEIGH_OK;
}

/* v of length 1 and w = A v.  Normal deviates are uniform on the sphere, as
 * the probability above supposes; kept within +-8 so that the sums cannot
 * overflow. */
static peigh_status start_vectors(struct lanczos *l, struct failure *f)
{
    const uint64_t seed = 20;
    const double entry_max = 8.0;
    struct columns *c = l->columns;
    double most = entry_max * entry_max * (double)c->n;
    struct dot dot[2] = {{V, V, most, 0.0}, {V, V, most, 0.0}};
    for (int64_t j = 0; j < c->count; j++) {
        double x = noise_normal(seed, (uint64_t)(c->first + j));
        *header(c, j, V) = fmin(fmax(x, -entry_max), entry_max);
    }
    if (multiply(l, V, W, entry_max * l->bound, dot, f))
        return f->status;
    for (int64_t j = 0; j < c->count; j++) {
        *header(c, j, V) /= sqrt(dot[0].value);
        *header(c, j, W) /= sqrt(dot[0].value);
        *header(c, j, V_BEFORE) = *header(c, j, W_BEFORE) = 0.0;
    }
    return PEIGH_OK;
}

/* x, before <- (ax - alpha x - beta before) / next, x */
static void advance(struct columns *c, int x, int before, int ax,
                    double alpha, double beta, double next)
{
    for (int64_t j = 0; j < c->count; j++) {
        double now = *header(c, j, x);
        *header(c, j, x) = (*header(c, j, ax) - alpha * now -
                            beta * *header(c, j, before)) / next;
        *header(c, j, before) = now;
    }
}

/* LAPACK: eigenvalues of a symmetric tridiagonal matrix, ascending, in d. */
void dsterf_(const int *n, double *d, double *e, int *info);

/* The extreme eigenvalues of the Lanczos matrix of k steps.  Rank 0's are
 * everybody's. */
static peigh_status extremes(struct ring *ring, int k, double *alpha,
                             double *beta, double theta[2], struct failure *f)
{
    int info = 0;
    dsterf_(&k, alpha, beta, &info);
    theta[0] = info ? NAN : alpha[0];
    theta[1] = info ? NAN : alpha[k - 1];
    if (ring_bcast(ring, theta, 2, 0, f))
        return f->status;
    if (!(theta[0] <= theta[1]))
        return fail(f, PEIGH_ERR_RESULT, "the Lanczos bounds on the spectrum "
                    "failed (%g, %g)", theta[0], theta[1]);
    return PEIGH_OK;
}

/* With w = A v:  alpha_k = v . w  and  beta_k^2 = |w|^2 - alpha_k^2 -
 * beta_(k-1)^2.  A w is computed along with them, before v is known for the
 * next step, and A v follows from it by the same recurrence: one reduction a
 * step instead of three.  Bounds need no more digits than that leaves. */
static peigh_status run(struct lanczos *l, double theta[2],
                        struct failure *f)
{
    double alpha[STEPS], beta[STEPS], before = 0.0, square_max;
    int64_t n = l->columns->n;
    int steps = n < STEPS ? (int)n : STEPS, k = 0;
    if (norm_bound(l, f) || start_vectors(l, f))
        return f->status;
    square_max = l->bound * l->bound;
    for (;; before = beta[k++]) {
        struct dot dot[2] = {{V, W, l->bound, 0.0}, {W, W, square_max, 0.0}};
        if (multiply(l, W, AW, square_max, dot, f))
            return f->status;
        alpha[k] = dot[0].value;
        double square = dot[1].value - alpha[k] * alpha[k] - before * before;
        beta[k] = square > 0.0 ? sqrt(square) : 0.0;
        if (k + 1 == steps ||
            !(beta[k] > beta_of_rounding * sqrt(dot[1].value)))
            break;
        advance(l->columns, V, V_BEFORE, W, alpha[k], before, beta[k]);
        advance(l->columns, W, W_BEFORE, AW, alpha[k], before, beta[k]);
    }
    return extremes(l->ring, k + 1, alpha, beta, theta, f);
}

peigh_status spectral_bounds(struct ring *ring, struct columns *columns,
                             int64_t block, double theta[2],
                             struct failure *f)
{
    struct lanczos lanczos = {ring, columns, block, 0.0};
    return run(&lanczos, theta, f);
}
