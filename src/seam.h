/* Where a solve can be left and entered again: between two pairs of steps.
 * The library's own way, by which the program writes checkpoints; see seam.c.
 *
 * What the sweeps depend on are the columns, with their headers, and the
 * numbers in `struct state`.  Neither depends on the number of ranks, nor
 * does what comes of them: a solve that goes on elsewhere ends with the bits
 * of one that was never left. */
#ifndef SEAM_H
#define SEAM_H

#include "cells.h"
#include "definite.h"
#include "pair.h"

struct state {
    int64_t step;            /* steps done, in all sweeps */
    double tol;              /* as it is by now */
    int64_t stalls;          /* sweeps in which cosines did not fall */
    struct definite definite;
    struct pair_work work;   /* of the current sweep; its seconds, of all */
    double exchange_seconds;
    double sweep_seconds;    /* in the current sweep */
    double solve_seconds;    /* since the beginning */
    int64_t messages, bytes; /* sent in the sweeps */
    peigh_report report;     /* of the sweeps that are done */
};

struct seam {
    void *context; /* handed to the functions; whoever made the seam */

    /* Is the state wanted now?  Called before each pair of steps; the answer
     * is the same on all ranks. */
    bool (*due)(void *context, struct ring *ring, struct failure *f);

    /* Here it is, the same on all ranks.  A failure ends the solve. */
    peigh_status (*save)(void *context, struct ring *ring,
                         const struct cells *cells, const struct state *state,
                         struct failure *f);

    /* Fill in the columns and the state of a solve that was left, instead of
     * beginning with the matrix; NULL: begin. */
    peigh_status (*load)(void *context, struct ring *ring,
                         const struct cells *cells, struct state *state,
                         struct failure *f);
};

/* peigh_solve with a seam.  Collective. */
peigh_status solve_with_seam(const peigh_layout *layout, double *a,
                             double *values, MPI_Comm comm,
                             const peigh_options *options,
                             const struct seam *seam, peigh_report *report);

/* From what each rank has counted to what all have: sums and maxima.
 * Collective. */
peigh_status state_reduce(struct state *state, struct ring *ring,
                          struct failure *f);

/* And back: what rank number `rank` starts with, so that the sums and maxima
 * over any number of ranks are those of the whole. */
void state_share(struct state *state, int rank);

#endif
