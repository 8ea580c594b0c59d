/* Do launcher and MPI agree on how many ranks there are? */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include "ring.h"

/* Before MPI_Init: Open MPI ends a program that srun has started without PMIx
 * itself, with a page of advice and exit code 1.  This ends it with one line,
 * from task 0, and exit code 7. */
void launcher_check_srun(const char *program);

/* A failure with advice if not.  Local. */
peigh_status launcher_check(const struct ring *ring, struct failure *f);

#endif
