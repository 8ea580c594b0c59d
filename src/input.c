/* What the caller gave: finite, and symmetric or made so. */
#include "input.h"

#include "mirror.h"

#include <float.h>
#include <math.h>

/* Ranks are in the order of their columns and the lowest failing one speaks,
 * so the entry that is named is the first of the whole matrix by columns. */
static peigh_status check_finite(const struct columns *c, peigh_uplo uplo,
                                 double *largest, struct failure *f)
{
    for (int64_t j = 0; j < c->count; j++) {
        const double *x = column(c, j);
        int64_t top = uplo == PEIGH_LOWER ? c->first + j : 0;
        int64_t end = uplo == PEIGH_UPPER ? c->first + j + 1 : c->n;
        for (int64_t i = top; i < end; i++) {
            double size = fabs(x[i]);
            if (!(size <= DBL_MAX))
                return fail(f, PEIGH_ERR_NOT_FINITE,
                            "not finite: A[%lld,%lld] is %g (counted from 0)",
                            (long long)i, (long long)(c->first + j), x[i]);
            *largest = size > *largest ? size : *largest;
        }
    }
    return PEIGH_OK;
}

/* Refuse the matrix if its triangles differ by more than rounding. */
static peigh_status check_symmetric(struct mirror *m, double largest,
                                    double *asymmetry, struct failure *f)
{
    int64_t n = m->columns->n;
    *asymmetry = m->worst.difference;
    if (ring_max_double(m->ring, asymmetry, 1, f))
        return f->status;
    if (*asymmetry <= (double)n * DBL_EPSILON * largest)
        return PEIGH_OK;
    if (m->worst.difference == *asymmetry)
        fail(f, PEIGH_ERR_NOT_SYMMETRIC,
             "not symmetric: A[%lld,%lld] is %.17g but A[%lld,%lld] is %.17g, "
             "the largest difference (entries counted from 0); read one "
             "triangle only, or symmetrize",
             (long long)m->worst.i, (long long)m->worst.j, m->worst.below,
             (long long)m->worst.j, (long long)m->worst.i, m->worst.above);
    return ring_agree(m->ring, f);
}

peigh_status input_prepare(struct ring *ring, const peigh_layout *layout,
                           struct columns *columns,
                           const peigh_options *options,
                           struct input_report *report, struct failure *f)
{
    struct mirror m = {.ring = ring, .layout = layout, .columns = columns,
                       .worst = {0.0, -1, -1, 0.0, 0.0}};
    *report = (struct input_report){0};
    check_finite(columns, options->uplo, &report->largest, f);
    if (ring_agree(ring, f) || ring_max_double(ring, &report->largest, 1, f))
        return f->status;
    if (options->uplo == PEIGH_LOWER)
        return mirror_all(&m, MIRROR_FROM_LOWER, f);
    if (options->uplo == PEIGH_UPPER)
        return mirror_all(&m, MIRROR_FROM_UPPER, f);
    if (options->symmetrize)
        return mirror_all(&m, MIRROR_MEAN, f);
    if (mirror_all(&m, MIRROR_COMPARE, f) ||
        check_symmetric(&m, report->largest, &report->asymmetry, f))
        return f->status;
    if (report->asymmetry > 0.0)
        mirror_all(&m, MIRROR_FROM_LOWER, f);
    return f->status;
}
