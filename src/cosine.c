/* The vector code of sums over huge sets.
 *
 * The phases h . r are made in a buffer that stays in the cache, become
 * cosines in place, and are summed: three simple loops are quicker than one,
 * since a call of the vector cosine saves no registers.  Every vector of a
 * group goes through the same operations in the same order, whichever group
 * it is in and whichever place it has there. */
#include "cosine.h"

#include "variants.h"
#include "vector_math.h"

/* phase[g] <- h_g . r, one component after the other.  d: a constant where
 * the caller has one, and then the sum stays in registers. */
IN_VARIANT void make_phases(int64_t d, const double *restrict r,
                            const double *restrict h,
                            double phase[COSINE_GROUP][COSINE_TILE])
{
    for (int64_t i = 0; i < COSINE_TILE; i++)
        for (int g = 0; g < COSINE_GROUP; g++) {
            double sum = h[g] * r[i];
            for (int64_t k = 1; k < d; k++)
                sum += h[g + k * COSINE_GROUP] * r[i + k * COSINE_TILE];
            phase[g][i] = sum;
        }
}

/* The same for any d, component by component through the buffer. */
IN_VARIANT void add_phases(int64_t d, const double *restrict r,
                           const double *restrict h,
                           double phase[COSINE_GROUP][COSINE_TILE])
{
    for (int g = 0; g < COSINE_GROUP; g++)
        for (int64_t i = 0; i < COSINE_TILE; i++)
            phase[g][i] = 0.0;
    for (int64_t k = 0; k < d; k++)
        for (int g = 0; g < COSINE_GROUP; g++)
            for (int64_t i = 0; i < COSINE_TILE; i++)
                phase[g][i] += h[g + k * COSINE_GROUP] *
                               r[i + k * COSINE_TILE];
}

IN_VARIANT void find_phases(const struct phases *p,
                            double phase[COSINE_GROUP][COSINE_TILE])
{
    switch (p->d) {
    case 1: make_phases(1, p->r, p->h, phase); break;
    case 2: make_phases(2, p->r, p->h, phase); break;
    case 3: make_phases(3, p->r, p->h, phase); break;
    default: add_phases(p->d, p->r, p->h, phase);
    }
}

IN_VARIANT void cosines(const double *x, double *y)
{
#pragma omp simd
    for (int i = 0; i < COSINE_TILE; i++)
        y[i] = cos(x[i]);
}

IN_VARIANT void sines(const double *x, double *y)
{
#pragma omp simd
    for (int i = 0; i < COSINE_TILE; i++)
        y[i] = sin(x[i]);
}

/* Not one sum after another through the tile but in lanes, so the error is
 * that of COSINE_TILE / lanes additions. */
IN_VARIANT double weighted_sum(const double *restrict w,
                               const double *restrict x)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < COSINE_TILE; i++)
        sum += w[i] * x[i];
    return sum;
}

FOR_EACH_PROCESSOR
void cosine_sums(const struct phases *p, const double *w, bool sine,
                 double sum[COSINE_GROUP])
{
    double phase[COSINE_GROUP][COSINE_TILE];
    find_phases(p, phase);
    for (int g = 0; g < COSINE_GROUP; g++) {
        if (sine)
            sines(phase[g], phase[g]);
        else
            cosines(phase[g], phase[g]);
        sum[g] = weighted_sum(w, phase[g]);
    }
}

FOR_EACH_PROCESSOR
void cosine_columns(const struct phases *p, const double *w, double *x,
                    int64_t ldx)
{
    double phase[COSINE_GROUP][COSINE_TILE];
    find_phases(p, phase);
    for (int g = 0; g < COSINE_GROUP; g++) {
        double *cosine = x + g * ldx, *sine = cosine + COSINE_TILE;
        cosines(phase[g], cosine);
        sines(phase[g], sine);
        for (int i = 0; i < COSINE_TILE; i++) {
            cosine[i] *= w[i];
            sine[i] *= w[i];
        }
    }
}
