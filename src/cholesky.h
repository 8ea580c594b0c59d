/* Cholesky factorization in place of a matrix that is distributed by columns;
 * see cholesky.c. */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include "columns.h"
#include "ring.h"

/* How the pivots came out. */
struct pivots {
    int64_t bad;  /* column of the first that was not positive; -1: none */
    double value; /* of the bad one */
    double ratio; /* smallest pivot beside the diagonal entry it came from:
                   * what the scaled matrix is at least singular by */
};

/* A = U U^T with U upper triangular, last column first: U takes the place of
 * the upper triangle with the diagonal.  The strictly lower triangle is left
 * as it is.  Collective; uses ring->bounce and the header rows.
 *
 *   block   the block width; block * block <= ring->chunk
 *   pivots  set on every rank: where it had to stop, if it had to.  The
 *           diagonal of A is expected in the headers (HEADER_DIAGONAL) */
peigh_status cholesky_factor(struct ring *ring, struct columns *columns,
                             int64_t block, struct pivots *pivots,
                             struct failure *f);

/* Set the strictly lower triangle to zero: the columns are those of U. */
void cholesky_clear_lower(struct columns *columns);

#endif
