/* Eigenvalues and eigenvectors from orthogonal columns G:
 *
 *     lambda_j = |g_j| - sigma, or |g_j|^2 - sigma with the Cholesky factor,
 *     z_j = g_j / |g_j|,
 *
 * all times 2^e (definite.h), and a check of their sum.
 *
 * Columns whose norms agree to rounding are in any order (pair_slack).  An
 * eigenvalue that is less than one before it is as good as equal to it, and
 * takes its value, so that they ascend. */
#include "eigenpairs.h"

#include "pair.h"

#include <float.h>
#include <math.h>

/* lambda_j = |g_j| - sigma and z_j = g_j / |g_j|. */
static void normalise(const struct columns *c, const struct definite *d,
                      double *values, struct failure *f)
{
    for (int64_t j = 0; j < c->count; j++) {
        double *x = column(c, j);
        double square = column_square(c->n, x), norm = sqrt(square);
        if (!(norm > 0.0))
            fail(f, PEIGH_ERR_RESULT, "column %lld has the norm %g",
                 (long long)(c->first + j), norm);
        for (int64_t i = 0; i < c->n; i++)
            x[i] /= norm;
        values[j] = (d->cholesky ? square : norm) - d->sigma;
    }
    for (int64_t j = 0; j < c->count; j++) {
        double value = scalbn(values[j], d->exponent);
        if (!isfinite(value))
            fail(f, PEIGH_ERR_NOT_FINITE, "eigenvalue %lld is %.17g * 2^%d, "
                 "beyond the range of a double; scale the matrix down",
                 (long long)(c->first + j), values[j], d->exponent);
    }
}

/* The sum of the eigenvalues must be the trace.  An eigenvalue of G that was
 * negative after all (see definite.c) would have come out with the wrong
 * sign, and the sum wrong by twice its size. */
static peigh_status check_trace(struct ring *ring, const struct columns *c,
                                const struct definite *d, double tol,
                                const double *values, struct failure *f)
{
    double sum = 0.0, n = (double)c->n;
    for (int64_t j = 0; j < c->count; j++)
        sum += values[j];
    if (ring_sum_double(ring, &sum, 1, f))
        return f->status;
    /* Each eigenvalue is good to n eps of the largest, at most about sigma
     * and n; entries are below 1. */
    double bound = n * (n * DBL_EPSILON + tol) *
                   (fabs(d->sigma) + sqrt(n) + fabs(d->trace));
    if (!(fabs(sum - d->trace) <= bound))
        return fail(f, PEIGH_ERR_RESULT,
                    "the eigenvalues add up to %.17g but the trace is %.17g "
                    "(scaled by 2^%d): the result is wrong",
                    sum, d->trace, -d->exponent);
    return PEIGH_OK;
}

static peigh_status make_ascend(struct ring *ring, const struct columns *c,
                                const struct definite *d, double *values,
                                struct failure *f)
{
    /* Twice: the last rotations were not followed by another look. */
    double slack = 2.0 * pair_slack(c->n) + 4.0 * DBL_EPSILON;
    double most = -INFINITY;
    for (int64_t j = 0; j < c->count; j++)
        most = fmax(most, values[j]);
    if (ring_max_before(ring, &most, f))
        return f->status;
    for (int64_t j = 0; j < c->count; j++) {
        if (most - values[j] > slack * (fabs(values[j] + d->sigma)))
            fail(f, PEIGH_ERR_RESULT, "eigenvalue %lld is out of order: %.17g "
                 "after %.17g (scaled by 2^%d)", (long long)(c->first + j),
                 values[j], most, -d->exponent);
        most = values[j] = fmax(most, values[j]);
    }
    return ring_agree(ring, f);
}

peigh_status eigenpairs(struct ring *ring, const struct columns *c,
                        const struct definite *d, double tol, double *values,
                        struct failure *f)
{
    normalise(c, d, values, f);
    if (ring_agree(ring, f) || check_trace(ring, c, d, tol, values, f) ||
        make_ascend(ring, c, d, values, f))
        return f->status;
    for (int64_t j = 0; j < c->count; j++)
        values[j] = scalbn(values[j], d->exponent);
    return PEIGH_OK;
}
