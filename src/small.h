/* The small eigenproblem of a meeting: an orthogonal R that makes the Gram
 * matrix H of the columns (nearly) diagonal.  No MPI; see small.c. */
#ifndef SMALL_H
#define SMALL_H

#include <stdint.h>

/* All matrices are count x count, by columns, without gaps. */
struct small {
    int64_t count;  /* columns of both blocks */
    double floor;   /* entries of H up to here do not matter, rotate.h */
    double *h;      /* in: H; out: R^T H R */
    double *r;      /* out: R, when something was rotated */
    double *k, *p, *q, *t;    /* scratch */
    double *norm, *inverse;   /* scratch: sqrt(h_jj) and its inverse, or 0 */
    double *rotor;            /* memory for rotate.c */
};

/* Doubles of memory for meetings of blocks of at most this many columns. */
int64_t small_doubles(int64_t block);

/* Lay out a problem of `count` columns in memory (64-byte aligned); h is to
 * be filled by the caller. */
void small_start(struct small *s, double *memory, int64_t count,
                 double floor);

/* Largest |h_ij| / sqrt(h_ii h_jj) over pairs i < split <= j; over all pairs
 * when split is 0.  Also prepares small_diagonalise. */
double small_cosine(struct small *s, int64_t split);

/* Bring H closer to diagonal, as the largest cosine over all pairs asks for;
 * returns the number of rotations.  0: R is not set. */
int64_t small_diagonalise(struct small *s, double cosine);

#endif
