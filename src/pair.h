/* A meeting of two blocks of columns: arithmetic on one process, no messages;
 * see pair.c. */
#ifndef PAIR_H
#define PAIR_H

#include "columns.h"
#include "memory.h"

/* What a meeting needs to know besides its blocks. */
struct pair_setting {
    int64_t n;           /* rows of a column */
    int64_t lda;         /* its stride; the header begins at row n */
    double tol;          /* a pair of blocks with cosines up to tol is done */
    double floor;        /* entries of X^T X that do not matter, rotate.h */
    struct workspace *w;
    int64_t step;        /* of the solve, 0, 1, ... */
    int64_t sweep_steps; /* after so many the same blocks meet again */
    int64_t changed_row; /* of a block's first column: HEADER_CHANGED */
    struct block_pair ahead; /* that meet next, as a hint */
};

/* What meetings did, added up. */
struct pair_work {
    double off_norm;   /* largest cosine found, before rotating */
    int64_t rotations;
    int64_t moved;     /* meetings that reordered columns */
    struct {
        double gram, rotate, update;
    } seconds;
};

/* Make the columns of both blocks orthogonal and sort them by norm, the
 * smaller ones into `low`.
 *
 *   first  the first meeting of both blocks in this sweep: compute their own
 *          Gram matrices anew, and look for cosines within the blocks too */
void pair_meet(const struct pair_setting *setting, struct block low,
               struct block high, bool first, struct pair_work *work);

/* Squared norms that differ by this part of themselves are as good as equal:
 * the columns stay as they are.  A few roundings, n eps / 8 at most: without
 * it, sweep after sweep would sort clusters by what rounding left. */
double pair_slack(int64_t n);

/* Stable order of keys >= 0, ascending, into order[0 .. count-1]; true, and
 * the keys' own order, where none is less than one before it by more than the
 * slack. */
bool sort_by_key(int64_t count, const double *key, double slack,
                 int64_t *order);

/* Put column order[j] of both blocks (numbered low block first) to place j,
 * rows 0 .. end-1 of it. */
void pair_reorder(const struct pair_setting *setting, struct block low,
                  struct block high, const int64_t *order, int64_t end);

/* Squared norm of a column of n rows: the same bits wherever it lies. */
double column_square(int64_t n, const double *x);

#endif
