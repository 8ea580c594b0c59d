/* F_j = sum over n of w_n cos(h_j . r_n), a rank's own j; see sum.c. */
#ifndef SUM_H
#define SUM_H

#include "progress.h"
#include "table.h"

#include <mpi.h>

struct sum {
    struct table points;  /* r: n x d */
    struct table vectors; /* h: m x d */
    struct table weights; /* w: n; not open: all are 1 */
    bool sine;            /* of the sine instead */
    int64_t first, count; /* this rank's vectors */
};

/* Open what is named (weights may be NULL) and check that it fits together.
 * Close it after a failure, too. */
peigh_status sum_open(struct sum *s, const char *points, const char *vectors,
                      const char *weights, struct failure *f);
void sum_close(struct sum *s);

/* Give `rank` of `ranks` its vectors. */
void sum_share(struct sum *s, int rank, int ranks);

/* Bytes that sum_run takes: for each own vector, and besides. */
int64_t sum_bytes_own(const struct sum *s);
int64_t sum_bytes_tile(const struct sum *s);

/* The sums of this rank's vectors into result[count].  Local. */
peigh_status sum_run(const struct sum *s, double *result,
                     struct progress *progress, struct failure *f);

#endif
