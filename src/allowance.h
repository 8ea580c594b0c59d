/* What a rank may still take of this machine's memory. */
#ifndef ALLOWANCE_H
#define ALLOWANCE_H

#include "ring.h"

struct allowance {
    int64_t left;   /* bytes that this rank may take from now on; INT64_MAX:
                     * nobody says */
    int64_t limit;  /* the limit that this follows from ... */
    int sharers;    /* ... and the ranks that share it */
    char name[160]; /* who set it */
};

/* Find it: the --mem of the user (bytes per rank; 0: not given), or else the
 * least that follows from control groups, Slurm, ulimit -v and the memory that
 * is free on the node, where ranks of one node share.  To be called when MPI
 * has been used, before the run allocates.  Collective. */
peigh_status allowance_find(struct allowance *a, struct ring *ring,
                            int64_t mem, struct failure *f);

#endif
