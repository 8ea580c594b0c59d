/* Bounds on the spectrum by Lanczos's process (C. Lanczos 1950): the extreme
 * eigenvalues theta of the tridiagonal matrix of k steps lie within the
 * spectrum,
 *
 *     theta_min >= lambda_min,   theta_max <= lambda_max,
 *
 * and from a random start one of them is off by more than a fraction e of the
 * spread with a probability below 1.65 sqrt(n) exp(-(2k-1) sqrt(e)) (J.
 * Kuczynski & H. Wozniakowski 1992): for k = 40 and e = 1/6, 5e-12 at
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
    STEPS = 40,
    /* Rows of the header. */
    V = 0, V_BEFORE = 1, AV = 2,
};

/* The Lanczos process has found an invariant subspace when beta is so small
 * beside the norm: the start has a part in every eigenspace, so the bounds
 * are exact then. */
static const double beta_of_rounding = 1e-7;

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

/* Rows i0 .. of this rank's part of A v, by blocks, added up as integers. */
static void multiply_rows(const struct lanczos *l, int64_t i0, int64_t rows,
                          double *part, int64_t *sum)
{
    const struct columns *c = l->columns;
    struct blocks blocks = blocks_of(c->n, l->block);
    double unit = unit_of_sums(l->bound);
    memset(sum, 0, sizeof *sum * (size_t)rows);
    int64_t j = 0;
    for (int64_t b = 0; b < blocks.count && j < c->count; b++) {
        int64_t end = block_first(&blocks, b + 1) - c->first;
        if (end <= j)
            continue;
        memset(part, 0, sizeof *part * (size_t)rows);
        for (; j < end; j++) {
            const double *x = column(c, j) + i0;
            double v = *header(c, j, V);
            for (int64_t i = 0; i < rows; i++)
                part[i] += x[i] * v;
        }
        for (int64_t i = 0; i < rows; i++)
            sum[i] += (int64_t)(part[i] * unit);
    }
}

/* A v, chunk by chunk of rows; each rank keeps the entries of its columns. */
static peigh_status multiply(struct lanczos *l, struct failure *f)
{
    struct columns *c = l->columns;
    int64_t most = l->ring->chunk / 2;
    double *part = l->ring->bounce, unit = unit_of_sums(l->bound);
    int64_t *sum = (int64_t *)(l->ring->bounce + most);
    for (int64_t i0 = 0; i0 < c->n; i0 += most) {
        int64_t rows = c->n - i0 < most ? c->n - i0 : most;
        multiply_rows(l, i0, rows, part, sum);
        if (ring_sum_int64(l->ring, sum, (int)rows, f))
            return f->status;
        for (int64_t j = 0; j < c->count; j++) {
            int64_t i = c->first + j - i0;
            if (i >= 0 && i < rows)
                *header(c, j, AV) = (double)sum[i] / unit;
        }
    }
    return PEIGH_OK;
}

/* A dot product of two distributed vectors (header rows) that is at most
 * `most` in absolute terms. */
struct dot {
    int x, y;
    double most, value;
};

static peigh_status dots(struct lanczos *l, int count, struct dot *dot,
                         struct failure *f)
{
    int64_t sum[2] = {0, 0};
    for (int64_t j = 0; j < l->columns->count; j++)
        for (int k = 0; k < count; k++)
            sum[k] += llrint(*header(l->columns, j, dot[k].x) *
                             *header(l->columns, j, dot[k].y) *
                             unit_of_sums(dot[k].most));
    if (ring_sum_int64(l->ring, sum, count, f))
        return f->status;
    for (int k = 0; k < count; k++)
        dot[k].value = (double)sum[k] / unit_of_sums(dot[k].most);
    return PEIGH_OK;
}

/* The start: normal deviates are uniform on the sphere, as the probability
 * above supposes.  Kept within +-8 so that the sums cannot overflow. */
static peigh_status start_vector(struct lanczos *l, struct failure *f)
{
    const uint64_t seed = 20;
    struct columns *c = l->columns;
    struct dot square = {V, V, 64.0 * (double)c->n, 0.0};
    for (int64_t j = 0; j < c->count; j++) {
        double x = noise_normal(seed, (uint64_t)(c->first + j));
        *header(c, j, V) = fmin(fmax(x, -8.0), 8.0);
        *header(c, j, V_BEFORE) = 0.0;
    }
    if (dots(l, 1, &square, f))
        return f->status;
    for (int64_t j = 0; j < c->count; j++)
        *header(c, j, V) /= sqrt(square.value);
    return PEIGH_OK;
}

/* v, v_before <- (A v - alpha v - beta v_before) / next, v */
static void next_vector(struct columns *c, double alpha, double beta,
                        double next)
{
    for (int64_t j = 0; j < c->count; j++) {
        double v = *header(c, j, V), before = *header(c, j, V_BEFORE);
        *header(c, j, V_BEFORE) = v;
        *header(c, j, V) =
            (*header(c, j, AV) - alpha * v - beta * before) / next;
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

/* alpha_k = v . A v and beta_k^2 = |A v|^2 - alpha_k^2 - beta_(k-1)^2, both
 * from one reduction; bounds need no more digits than that leaves. */
static peigh_status run(struct lanczos *l, double theta[2],
                        struct failure *f)
{
    double alpha[STEPS], beta[STEPS], before = 0.0;
    int64_t n = l->columns->n;
    int steps = n < STEPS ? (int)n : STEPS, k = 0;
    if (norm_bound(l, f) || start_vector(l, f))
        return f->status;
    for (;; before = beta[k++]) {
        struct dot dot[2] = {{V, AV, l->bound, 0.0},
                             {AV, AV, l->bound * l->bound, 0.0}};
        if (multiply(l, f) || dots(l, 2, dot, f))
            return f->status;
        alpha[k] = dot[0].value;
        double square = dot[1].value - alpha[k] * alpha[k] - before * before;
        beta[k] = square > 0.0 ? sqrt(square) : 0.0;
        if (k + 1 == steps ||
            !(beta[k] > beta_of_rounding * sqrt(dot[1].value)))
            break;
        next_vector(l->columns, alpha[k], before, beta[k]);
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
