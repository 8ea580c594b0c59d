/* Ranks that share cores must not spin while they wait; see idle.c. */
#ifndef IDLE_H
#define IDLE_H

#include <stdbool.h>

/* Before MPI_Init: where the launcher says that there are more ranks on this
 * node than cores, ask Open MPI to yield the core while a rank waits, unless
 * the user has said otherwise.  Returns whether ranks yield. */
bool yield_when_idle(void);

#endif
