/* Bounds on the spectrum of a distributed matrix; see bounds.c. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include "columns.h"
#include "ring.h"

/* theta[0] >= lambda_min and theta[1] <= lambda_max, each off by less than a
 * sixth of the spread of the spectrum but for a probability that bounds.c
 * gives.  The same numbers for any number of ranks.  The largest entry must
 * be below 1.  Collective; uses ring->bounce and the header rows. */
peigh_status spectral_bounds(struct ring *ring, struct columns *columns,
                             int64_t block, double theta[2],
                             struct failure *f);

#endif
