/* Bounds on the spectrum by Lanczos's process (C. Lanczos 1950): the extreme
 * eigenvalues theta of the tridiagonal matrix of k steps lie within the
 * spectrum, to rounding,
 *
 *     theta_min >= lambda_min,   theta_max <= lambda_max,
 *
 * and from a random start one of them is off by more than a fraction e of the
 * spread with a probability below 1.65 sqrt(n) exp(-(2k-1) sqrt(e)) (J.
 * Kuczynski & H. Wozniakowski 1992): for k = 32 and e = 1/6, 4e-9 at
 * n = 1e5 (of the process in exact arithmetic; rounding does not harm its
 * extreme values, C. C. Paige 1976).  The start is random but always the same.
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
    V = 0, V_BEFORE, AV,
};

/* Of the start vector. */
static const double entry_max = 8.0;

/* The Lanczos process has found an invariant subspace when beta is so small
 * beside the norm: the start has a part in every eigenspace, so the bounds
 * are exact then.  Below, the integers of the next product would have too few
 * digits left. */
static const double breakdown = 1e-6;

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
static void multiply_rows(const struct lanczos *l, double unit, int64_t i0,
                          int64_t rows, double *part, int64_t *sum)
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
            double v = *header(c, j, V);
            for (int64_t i = 0; i < rows; i++)
                part[i] += a[i] * v;
        }
        for (int64_t i = 0; i < rows; i++)
            sum[i] += (int64_t)(part[i] * unit);
    }
}

/* A sum that may be anything between its limit and nearly zero, in two
 * integers: the second holds what the first leaves. */
struct sum {
    int64_t units, rest;
};
static const double rests_of_unit = 0x1p40;

/* This rank's part of x . y (header rows), at most `most` in all. */
static struct sum own_dot(const struct lanczos *l, int x, int y, double most)
{
    struct sum sum = {0, 0};
    double unit = unit_of_sums(most);
    for (int64_t j = 0; j < l->columns->count; j++) {
        double term = *header(l->columns, j, x) * *header(l->columns, j, y) *
                      unit;
        int64_t whole = llrint(term);
        sum.units += whole;
        sum.rest += llrint((term - (double)whole) * rests_of_unit);
    }
    return sum;
}

static double value_of(struct sum sum, double most)
{
    return ((double)sum.units + (double)sum.rest / rests_of_unit) /
           unit_of_sums(most);
}

/* AV <- A V, entries at most `most`, and *square = |V|^2, at most square_max,
 * in one reduction as long as the rows fit the buffer.  Each rank keeps the
 * entries of its columns. */
static peigh_status multiply(struct lanczos *l, double most,
                             double square_max, double *square,
                             struct failure *f)
{
    struct columns *c = l->columns;
    const int64_t half = l->ring->chunk / 2, room = half - 2;
    double *part = l->ring->bounce, unit = unit_of_sums(most);
    int64_t *sum = (int64_t *)(l->ring->bounce + half);
    for (int64_t i0 = 0; i0 < c->n; i0 += room) {
        int64_t rows = c->n - i0 < room ? c->n - i0 : room;
        memset(sum, 0, sizeof *sum * (size_t)rows);
        multiply_rows(l, unit, i0, rows, part, sum);
        struct sum dot = own_dot(l, V, V, square_max);
        sum[rows] = dot.units;
        sum[rows + 1] = dot.rest;
        if (ring_sum_int64(l->ring, sum, (int)rows + 2, f))
            return f->status;
        for (int64_t j = 0; j < c->count; j++) {
            int64_t i = c->first + j - i0;
            if (i >= 0 && i < rows)
                *header(c, j, AV) = (double)sum[i] / unit;
        }
        *square = value_of((struct sum){sum[rows], sum[rows + 1]},
                           square_max);
    }
    return PEIGH_OK;
}

/* Normal deviates are uniform on the sphere, as the probability above
 * supposes; kept within +-entry_max so that the sums cannot overflow. */
static void start_vector(struct lanczos *l)
{
    const uint64_t seed = 20;
    for (int64_t j = 0; j < l->columns->count; j++) {
        double x = noise_normal(seed, (uint64_t)(l->columns->first + j));
        *header(l->columns, j, V) = fmin(fmax(x, -entry_max), entry_max);
        *header(l->columns, j, V_BEFORE) = 0.0;
    }
}

/* V and A V divided by the length of V. */
static void normalise(struct lanczos *l, double length)
{
    for (int64_t j = 0; j < l->columns->count; j++) {
        *header(l->columns, j, V) /= length;
        *header(l->columns, j, AV) /= length;
    }
}

/* V, V_BEFORE <- A V - alpha V - beta V_BEFORE, V */
static void next_vector(struct lanczos *l, double alpha, double beta)
{
    for (int64_t j = 0; j < l->columns->count; j++) {
        double v = *header(l->columns, j, V);
        *header(l->columns, j, V) = *header(l->columns, j, AV) - alpha * v -
                                    beta * *header(l->columns, j, V_BEFORE);
        *header(l->columns, j, V_BEFORE) = v;
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

/* alpha_k = v_k . A v_k,  beta_k = |A v_k - alpha_k v_k - beta_(k-1) v_(k-1)|.
 * The next vector is multiplied before its length is known, so that a step
 * takes two reductions.  (One would do if A v_(k+1) were taken from the
 * recurrence, too; but then it drifts away from A times v_(k+1), and theta
 * out of the spectrum.) */
static peigh_status run(struct lanczos *l, double theta[2],
                        struct failure *f)
{
    double alpha[STEPS], beta[STEPS], square = 0.0, size = 0.0;
    double most = entry_max * l->bound;
    double square_max = entry_max * entry_max * (double)l->columns->n;
    int64_t n = l->columns->n, steps = n < STEPS ? n : STEPS, k = 0;
    start_vector(l);
    for (;; k++) {
        if (multiply(l, most, square_max, &square, f))
            return f->status;
        double length = sqrt(square);
        if (k > 0) {
            beta[k - 1] = length;
            size = fmax(size, fabs(alpha[k - 1]) + length);
        }
        if (k == steps || (k > 0 && !(length > breakdown * size)))
            break;
        normalise(l, length);
        struct sum dot = own_dot(l, V, AV, 2.0 * l->bound);
        if (ring_sum_int64(l->ring, &dot.units, 1, f))
            return f->status;
        alpha[k] = (double)dot.units / unit_of_sums(2.0 * l->bound);
        next_vector(l, alpha[k], k > 0 ? beta[k - 1] : 0.0);
        /* |A v| <= ||A||, and what is subtracted is no longer. */
        most = 4.0 * l->bound * l->bound;
        square_max = 16.0 * l->bound * l->bound;
    }
    return extremes(l->ring, (int)k, alpha, beta, theta, f);
}

peigh_status spectral_bounds(struct ring *ring, struct columns *columns,
                             int64_t block, double theta[2],
                             struct failure *f)
{
    struct lanczos lanczos = {ring, columns, block, 0.0};
    return norm_bound(&lanczos, f) ? f->status : run(&lanczos, theta, f);
}
