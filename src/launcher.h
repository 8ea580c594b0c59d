/* Do launcher and MPI agree on how many ranks there are? */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include "ring.h"

/* A failure with advice if not.  Local. */
peigh_status launcher_check(const struct ring *ring, struct failure *f);

/* Did srun start tasks without telling MPI of them?  Open MPI then ends the
 * program itself in MPI_Init, with a page of advice and exit code 1.  So ask
 * before; if true, one task has said why on standard error. */
bool launcher_is_blind(const char *program);

#endif
