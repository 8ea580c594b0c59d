/* Blocks in the memory of a rank, see cells.c. */
#ifndef CELLS_H
#define CELLS_H

#include "columns.h"
#include "ring.h"
#include "schedule.h"

struct cells {
    const struct schedule *schedule;
    const struct columns *columns;
};

/* The block in a seat. */
struct block cells_block(const struct cells *s, struct seat seat);

/* After step t, hand one block on and take one in.  Every rank calls. */
peigh_status cells_pass(const struct cells *s, struct ring *ring, int64_t t,
                        struct failure *f);

/* From columns side by side to one block per cell, before the first step. */
void cells_spread(const struct cells *s);

/* After so many whole sweeps: every block back to its home slot, and the
 * columns side by side again.  Collective (not counted as part of a sweep). */
peigh_status cells_home(const struct cells *s, struct ring *ring,
                        int64_t sweeps, struct failure *f);

#endif
