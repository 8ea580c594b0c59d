/* Do launcher and MPI agree on how many ranks there are? */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include "ring.h"

/* A failure with advice if not.  Local. */
peigh_status launcher_check(const struct ring *ring, struct failure *f);

#endif
