/* Scaling and the shift that makes the matrix positive definite; see
 * definite.c. */
#ifndef DEFINITE_H
#define DEFINITE_H

#include "columns.h"
#include "ring.h"

/* G = 2^-exponent A + sigma I. */
struct shift {
    int exponent;
    double sigma;  /* in the scaled unit */
    double trace;  /* of the scaled matrix, summed over ranks */
};

/* Scale the columns by a power of two so that the largest entry is in
 * [1/2, 1), find a shift and add it: A becomes G.  Collective; uses
 * ring->bounce and the header rows.
 *
 *   largest  max |a_ij| over all ranks
 *   block    the block width (sums are made by blocks) */
peigh_status definite_shift(struct ring *ring, struct columns *columns,
                            int64_t block, double largest,
                            struct shift *shift, struct failure *f);

#endif
