/* A = sum over tiles of X_t^T X_t, for a tall matrix X that is never in
 * memory: only one tile of its rows at a time.  See tall.c. */
#ifndef TALL_H
#define TALL_H

#include "progress.h"
#include "source.h"

struct tall {
    int64_t tiles, rows; /* rows of every tile; zeros where there are none */
    double scale;        /* of the sum */
    void *state;         /* the loader's */

    /* Columns j0 .. j1 - 1 of a tile into x, stride ldx.  *sign: what X^T X
     * of this tile is multiplied by, 1, 0 or -1; with 0 x need not be set.
     * The numbers do not depend on which columns are asked for together. */
    peigh_status (*load)(const struct tall *tall, int64_t tile, int64_t j0,
                         int64_t j1, double *x, int64_t ldx, int *sign,
                         struct failure *f);
};

/* The rectangle of A in the manner of source->fill; symmetric to the bit. */
peigh_status tall_fill(const struct tall *tall, int64_t i0, int64_t i1,
                       int64_t j0, int64_t j1, double *a, int64_t lda,
                       struct progress *progress, struct failure *f);

/* Bytes that it takes at most, for a matrix of order n: no function of the
 * number of tiles. */
int64_t tall_bytes(const struct tall *tall, int64_t n);

#endif
