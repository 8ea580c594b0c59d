/* What the caller gave: is it finite, is it symmetric, and the completion of
 * a matrix of which one triangle is given; see input.c. */
#ifndef INPUT_H
#define INPUT_H

#include "columns.h"
#include "ring.h"

struct input_report {
    double largest;   /* max |a_ij| over the entries that are read */
    double asymmetry; /* max |a_ij - a_ji|; 0 where one triangle is read */
};

/* Check the distributed matrix and make it exactly symmetric in place: from
 * the triangle that options name, by the mean of both when asked, or, where
 * both agree to rounding, from the lower one (as LAPACK's default does).
 * Collective; uses ring->bounce. */
peigh_status input_prepare(struct ring *ring, const peigh_layout *layout,
                           struct columns *columns,
                           const peigh_options *options,
                           struct input_report *report, struct failure *f);

#endif
