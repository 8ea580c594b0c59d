/* Cholesky factorization in place of a matrix that is distributed by columns;
 * see cholesky.c. */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include "columns.h"
#include "ring.h"

/* The first pivot that was not positive. */
struct bad_pivot {
    int64_t column; /* -1: none */
    double value;
};

/* A = U U^T with U upper triangular, last column first: U takes the place of
 * the upper triangle with the diagonal.  The strictly lower triangle is left
 * as it is.  Collective; uses ring->bounce and the header rows.
 *
 *   block   the block width; block * block <= ring->chunk
 *   pivot   set on every rank: where it had to stop, if it had to */
peigh_status cholesky_factor(struct ring *ring, struct columns *columns,
                             int64_t block, struct bad_pivot *pivot,
                             struct failure *f);

/* Set the strictly lower triangle to zero: the columns are those of U. */
void cholesky_clear_lower(struct columns *columns);

#endif
