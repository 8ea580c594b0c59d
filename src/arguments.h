/* Are the arguments of a call what they should be, and the same everywhere? */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "ring.h"

/* Check them on this rank and between ranks; all ranks get the same answer.
 * Collective. */
peigh_status arguments_check(struct ring *ring, const peigh_layout *layout,
                             const peigh_options *options, const double *a,
                             const double *values, struct failure *f);

#endif
