/* The small symmetric Jacobi of a meeting: rotations that make the Gram
 * matrix of two blocks (nearly) diagonal.  No BLAS, no MPI; see rotate.c. */
#ifndef ROTATE_H
#define ROTATE_H

#include <stdbool.h>
#include <stdint.h>

/* A 2h x 2h Gram matrix H and the rotations R applied to it so far.  Columns
 * 0 .. h-1 of H are the low block's, h .. 2h-1 the high block's.  How they
 * lie in memory is rotate.c's affair. */
struct rotor {
    int64_t half;   /* h */
    int64_t lanes;  /* h rounded up to whole vectors */
    int64_t stride; /* of the rows of H and R */
    int64_t x, y;   /* where the two windows begin in a row */
    bool reversed;  /* the line of columns, after an odd number of passes */
    double *h;      /* 2h rows; off-diagonal entries only */
    double *r;      /* 2h rows: R */
    double *d;      /* a row: the diagonal of H */
    double floor;   /* see rotate_start */
    double *g;      /* of a round: h_ij of each pair */
    struct angle {
        double *sine_x, *sine_y, *tau; /* and its angle */
    } angle;
    int64_t *row;   /* 2h: which row of h belongs to x[i], to y[i] */
};

/* Doubles of memory for blocks of at most this many columns. */
int64_t rotate_doubles(int64_t block);

/* Lay a rotor out in memory (64-byte aligned), H = 0, R = I.
 *
 * Where entries of H up to the floor do not matter to the caller, columns
 * that close in direction and norm need not be rotated against each other
 * until H is diagonal, a Jacobi process of its own that can take ten sweeps;
 * it is enough to make them orthogonal.  0: everything matters. */
void rotate_start(struct rotor *rotor, double *memory, int64_t half,
                  double floor);

/* H from a count x count matrix (upper and lower triangle, by columns), and
 * H and R back; count is 2h, or 2h - 1 where one column is missing.  To be
 * loaded before the first pass. */
void rotate_load(struct rotor *rotor, int64_t count, const double *h);
void rotate_unload(const struct rotor *rotor, int64_t count, double *h,
                   double *r);

/* Column k stands in place k of the line, or in 2h-1-k when it is reversed:
 * number `place / 2` of x or of y. */
static inline int64_t rotate_place(const struct rotor *rotor, int64_t k)
{
    return rotor->reversed ? 2 * rotor->half - 1 - k : k;
}

static inline int64_t rotate_entry(const struct rotor *rotor, int64_t k)
{
    int64_t p = rotate_place(rotor, k);
    return p / 2 + (p % 2 != 0 ? rotor->y : rotor->x);
}

/* The row of H that belongs to column k. */
static inline double *rotate_row(const struct rotor *rotor, int64_t k)
{
    int64_t p = rotate_place(rotor, k);
    return rotor->h + rotor->stride *
           rotor->row[p / 2 + (p % 2 != 0 ? rotor->half : 0)];
}

/* Entries of H and R by column number 0 .. 2h-1; of H, the off-diagonal ones
 * (d has the diagonal). */
static inline double *rotate_gram(const struct rotor *rotor, int64_t i,
                                  int64_t j)
{
    return i == j ? rotor->d + rotate_entry(rotor, i)
                  : rotate_row(rotor, i) + rotate_entry(rotor, j);
}

static inline double rotate_rotation(const struct rotor *rotor, int64_t i,
                                     int64_t j)
{
    return rotor->r[i * rotor->stride + rotate_entry(rotor, j)];
}

/* Largest |h_ij| / sqrt(h_ii h_jj): over all pairs, or over pairs of one
 * column from each block. */
double rotate_cosine(const struct rotor *rotor, bool all_pairs);

/* Rotate every pair once.  Pairs whose cosine is below rounding are passed
 * over.  Returns the number of rotations. */
int64_t rotate_pass(struct rotor *rotor);

#endif
