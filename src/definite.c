/* From the matrix A to columns G that are orthogonal exactly when they are
 * eigenvectors.  With A scaled by a power of two there are two ways.
 *
 * Positive (semi)definite: the Cholesky factor, G G^T = A + sigma I, with
 * sigma = 0, or else with the smallest sigma that rounding demands.  The
 * eigenvalues are |g|^2 - sigma.  With sigma = 0 each of them, however small,
 * is accurate relative to itself as far as the entries of A determine it (J.
 * Demmel & K. Veselic 1992).  Rows and columns are put in the order of the
 * diagonal first: pivots come in descending order, and the columns of G begin
 * nearly sorted.
 *
 * Indefinite: the shift G = A + sigma I with
 *
 *     sigma = -theta_min + max(theta_max - theta_min, |theta|) / 4,
 *
 * theta from bounds.c, so that the condition number of G is about 5 and the
 * error of an eigenvalue stays that of n eps ||A||.  G is positive definite
 * when each bound is off by less than a sixth of the spread, which fails with
 * the probability given in bounds.c; solve.c compares the trace of the result
 * with that of A, so that even then a wrong result would not pass.
 *
 * A failed factorization costs time and nothing else: the lower triangle
 * still holds A, and the diagonal was kept in the header. */
#include "definite.h"

#include "bounds.h"
#include "cholesky.h"
#include "layout.h"

#include <float.h>
#include <math.h>

/* sigma is rounded up to this many bits: the diagonal of an integer matrix
 * then stays exact. */
static const int sigma_bits = 10;

/* The shift that rounding demands, in units of n eps ||A||: a few times what
 * the factorization itself may be off by. */
static const double small_shift = 4.0;

/* The bounds are good to a few digits: a lower one above this, in units of
 * ||A||, does not say that the matrix is indefinite. */
static const double bound_of_rounding = -1e-4;

/* Diagonal entries below this after scaling have lost digits. */
static const double diagonal_min = DBL_MIN;

static double *diagonal(const struct permuter *p, int64_t j)
{
    return column(p->columns, j) + p->columns->first + j;
}

static double *kept(const struct permuter *p, int64_t j, int64_t row)
{
    return column(p->columns, j) + p->columns->n +
           header_fixed_row(p->layout->block) + row;
}

static void scale(struct columns *c, int exponent)
{
    double factor = scalbn(1.0, -exponent);
    bool representable = factor >= DBL_MIN && factor <= DBL_MAX;
    for (int64_t j = 0; j < c->count; j++) {
        double *x = column(c, j);
        for (int64_t i = 0; i < c->n; i++)
            x[i] = representable ? x[i] * factor : scalbn(x[i], -exponent);
    }
}

/* Up to a number of few bits. */
static double round_up(double x)
{
    int e;
    double m = frexp(x, &e);
    return scalbn(ceil(scalbn(m, sigma_bits)), e - sigma_bits);
}

static double size_of(const double theta[2])
{
    return fmax(fabs(theta[0]), fabs(theta[1]));
}

/* The shift for a spectrum between the bounds; 1 for the zero matrix. */
static double shift_for(const double theta[2])
{
    double margin = 0.25 * fmax(theta[1] - theta[0], size_of(theta));
    return margin > 0.0 ? round_up(-theta[0] + margin) : 1.0;
}

static void add_shift(const struct permuter *p, double sigma)
{
    for (int64_t j = 0; j < p->columns->count; j++)
        *diagonal(p, j) += sigma;
}

static peigh_status trace_of(const struct permuter *p, double *trace,
                             struct failure *f)
{
    *trace = 0.0;
    for (int64_t j = 0; j < p->columns->count; j++)
        *trace += *diagonal(p, j);
    return ring_sum_double(p->ring, trace, 1, f);
}

static void keep_diagonal(const struct permuter *p)
{
    for (int64_t j = 0; j < p->columns->count; j++)
        *kept(p, j, HEADER_DIAGONAL) = *diagonal(p, j);
}

static peigh_status restore(const struct permuter *p, struct failure *f)
{
    struct mirror m = {.ring = p->ring, .layout = p->layout,
                       .columns = p->columns};
    for (int64_t j = 0; j < p->columns->count; j++)
        *diagonal(p, j) = *kept(p, j, HEADER_DIAGONAL);
    return mirror_all(&m, MIRROR_FROM_LOWER, f);
}

/* The factor of A + sigma I, or A again.  A pivot that is rounding beside the
 * entry it came from says nothing about the sign: where nobody vouches for
 * the matrix, that is no success either. */
static peigh_status try_factor(const struct permuter *p, double sigma,
                               bool vouched, struct definite *result,
                               struct pivots *pivots, struct failure *f)
{
    double rounding = (double)p->columns->n * DBL_EPSILON;
    add_shift(p, sigma);
    if (cholesky_factor(p->ring, p->columns, p->layout->block, pivots, f))
        return f->status;
    bool certain = pivots->ratio > rounding;
    result->cholesky = pivots->bad < 0 && (certain || vouched || sigma > 0.0);
    result->relative = result->cholesky && certain && sigma == 0.0;
    if (!result->cholesky)
        return restore(p, f);
    cholesky_clear_lower(p->columns);
    return PEIGH_OK;
}

/* Name the pivot by its number in the caller's matrix. */
static peigh_status refuse(const struct permuter *p, struct pivots pivots,
                           int exponent, struct failure *f)
{
    int64_t j = pivots.bad - p->columns->first;
    if (j >= 0 && j < p->columns->count)
        fail(f, PEIGH_ERR_NOT_DEFINITE, "not positive definite: the pivot of "
             "row and column %.0f (counted from 0) is %.3g * 2^%d after "
             "elimination of all larger diagonal entries",
             *kept(p, j, HEADER_NUMBER), pivots.value, exponent);
    return ring_agree(p->ring, f);
}

/* One attempt to factor A + sigma I.  What sigma = 0 cannot do is (nearly)
 * semidefinite, often a kernel matrix: there the order of equal diagonal
 * entries matters (10 sweeps instead of 19). */
static peigh_status factor(const struct permuter *p, double sigma,
                           bool vouched, struct definite *result,
                           struct pivots *pivots, struct failure *f)
{
    enum permute_order order = sigma > 0.0 ? PERMUTE_SPREAD
                                           : PERMUTE_DIAGONAL;
    if (permute_columns_and_rows(p, order, &result->permuted, f))
        return f->status;
    keep_diagonal(p);
    if (try_factor(p, sigma, vouched, result, pivots, f))
        return f->status;
    result->sigma = sigma;
    /* With a shift, accuracy is absolute: entries of G^T G below roundoff,
     * beside a norm of at least 1/2, say nothing. */
    result->floor = result->cholesky && sigma > 0.0 ? 0.5 * DBL_EPSILON : 0.0;
    return PEIGH_OK;
}

/* Has scaling left the diagonal its digits?  Refused, where somebody vouches
 * for the matrix: he counts on them. */
static peigh_status check_range(const struct permuter *p, int exponent,
                                bool vouched, bool *in_range,
                                struct failure *f)
{
    int64_t bad = 0;
    for (int64_t j = 0; j < p->columns->count; j++) {
        double d = *diagonal(p, j);
        bool lost = d < diagonal_min && *kept(p, j, HEADER_DIAGONAL) > 0.0;
        bad += lost;
        if (lost && vouched)
            fail(f, PEIGH_ERR_NOT_DEFINITE, "A[%lld,%lld] is %.3g, too small "
                 "beside the largest entry (2^%d) to tell whether the matrix "
                 "is positive definite",
                 (long long)(p->columns->first + j),
                 (long long)(p->columns->first + j),
                 *kept(p, j, HEADER_DIAGONAL), exponent);
    }
    if (ring_agree(p->ring, f) || ring_max_int64(p->ring, &bad, 1, f))
        return f->status;
    *in_range = bad == 0;
    return PEIGH_OK;
}

peigh_status definite_make(const struct permuter *p, peigh_definite choice,
                           double largest, struct definite *result,
                           struct failure *f)
{
    double theta[2] = {0.0, 0.0}, n = (double)p->columns->n;
    struct pivots pivots;
    bool yes = choice == PEIGH_DEFINITE_YES, in_range = false;
    *result = (struct definite){0};
    frexp(largest, &result->exponent);
    keep_diagonal(p);
    scale(p->columns, result->exponent);
    if (trace_of(p, &result->trace, f) ||
        check_range(p, result->exponent, yes, &in_range, f))
        return f->status;
    if (yes) {
        permute_start(p);
        if (factor(p, 0.0, true, result, &pivots, f) || result->cholesky)
            return f->status;
        return refuse(p, pivots, result->exponent, f);
    }
    if (largest > 0.0 && spectral_bounds(p->ring, p->columns,
                                         p->layout->block, theta, f))
        return f->status;
    double small = round_up(small_shift * n * DBL_EPSILON * size_of(theta));
    permute_start(p); /* in header rows that the bounds have used */
    bool may_be = choice == PEIGH_DEFINITE_AUTO && largest > 0.0 &&
                  theta[0] > bound_of_rounding * size_of(theta);
    if (may_be && in_range &&
        (factor(p, 0.0, false, result, &pivots, f) || result->cholesky))
        return f->status;
    if (may_be &&
        (factor(p, small, false, result, &pivots, f) || result->cholesky))
        return f->status;
    result->sigma = shift_for(theta);
    add_shift(p, result->sigma);
    return PEIGH_OK;
}
