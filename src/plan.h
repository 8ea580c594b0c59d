/* The memory of a run, before anything is allocated. */
#ifndef PLAN_H
#define PLAN_H

#include "verify.h"

/* What a run is going to do, as far as its memory depends on it. */
struct intent {
    peigh_options solver;
    struct matrix matrix;    /* its source is open */
    const char *values_path, *vectors_path;
    bool check, compare;
    enum peer peer;
};

/* Bytes on the rank that takes most; 0: not done.  Each number is from the
 * function that allocates. */
struct plan {
    peigh_memory solver; /* columns; workspace */
    int64_t values;      /* eigenvalues of the own columns */
    int64_t input;       /* what the source keeps, buffers to read */
    int64_t output;      /* buffers to write */
    int64_t check;       /* residual and orthogonality */
    int64_t compare;     /* the peer; INT64_MAX: it cannot solve this */
    int64_t most;        /* of all this at any one time, and what else grows
                          * meanwhile: see plan_for */
};

/* The plan for a matrix of order n like intent's on so many ranks.  Local,
 * pure. */
struct plan plan_for(const struct intent *intent, int64_t n, int ranks);

/* The fewest ranks on which order n takes at most `bytes` each; 0: none. */
int plan_ranks(const struct intent *intent, int64_t n, int64_t bytes);

/* The largest order that takes at most `bytes` on each of so many ranks; -1:
 * none. */
int64_t plan_order(const struct intent *intent, int ranks, int64_t bytes);

#endif
