/* From the matrix to columns that the sweeps can work on; see definite.c. */
#ifndef DEFINITE_H
#define DEFINITE_H

#include "permute.h"

/* What stands for the matrix now, and how to read the result:
 *
 *     cholesky   G G^T = 2^-e A + sigma I,   lambda = |g|^2 - sigma
 *     otherwise  G     = 2^-e A + sigma I,   lambda = |g| - sigma
 *
 * in units of 2^e. */
struct definite {
    int exponent;   /* e */
    double sigma;
    double trace;   /* of 2^-e A */
    bool cholesky;
    bool relative;  /* with sigma = 0 and no pivot at the level of rounding */
    double floor;   /* entries of G^T G that change no eigenvalue by more
                     * than rounding */
    bool permuted;  /* rows and columns of A are in the order of the
                     * diagonal; eigenvectors have to be permuted back */
};

/* Scale the columns by a power of two so that the largest entry is in
 * [1/2, 1) and replace them by G.  Collective; uses ring->bounce and the
 * header rows.
 *
 *   choice   PEIGH_DEFINITE_YES: sigma = 0 or PEIGH_ERR_NOT_DEFINITE
 *   largest  max |a_ij| over all ranks */
peigh_status definite_make(const struct permuter *p, peigh_definite choice,
                           double largest, struct definite *result,
                           struct failure *f);

#endif
