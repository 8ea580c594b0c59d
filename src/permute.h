/* Rows and columns in a better order, and back; see permute.c. */
#ifndef PERMUTE_H
#define PERMUTE_H

#include "cells.h"
#include "mirror.h"
#include "pair.h"

struct permuter {
    struct ring *ring;
    const peigh_layout *layout;
    const struct schedule *schedule;
    struct columns *columns;
    const struct cells *cells;
    struct workspace *w;
};

enum permute_order {
    PERMUTE_DIAGONAL, /* by ascending diagonal */
    /* The same up to a factor of two, and those that are equal then by the
     * reversed bits of their numbers: the neighbours of a kernel matrix,
     * nearly dependent, are kept far apart. */
    PERMUTE_SPREAD,
};

/* Number rows and columns as they stand.  Local; before the first order. */
void permute_start(const struct permuter *p);

/* A <- P^T A P in the given order; *permuted is set if anything had to move,
 * else left alone.  The numbers of a place's row and column stay in its
 * header.  A must be symmetric to the bit.  Collective. */
peigh_status permute_columns_and_rows(const struct permuter *p,
                                      enum permute_order order,
                                      bool *permuted, struct failure *f);

/* Z <- P Z: the rows back to where the caller has them.  Collective. */
peigh_status permute_rows_back(const struct permuter *p, struct failure *f);

#endif
