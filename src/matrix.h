/* A symmetric matrix as the command line defines it: a source, and which of
 * its entries count. */
#ifndef MATRIX_H
#define MATRIX_H

#include "source.h"

/* How to read the matrix from its source: the same rules as the solver's. */
struct matrix {
    const struct source *source;
    peigh_uplo uplo;
    bool symmetrize;
};

/* The matrix as it is quickest to read: itself, or, where the source has its
 * rows in one piece, its transpose, whose lower triangle is the upper one. */
struct view {
    const struct source *source;
    bool transposed;
    peigh_uplo uplo;
    peigh_status (*fill)(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f);
};

struct view matrix_view(const struct matrix *matrix);

/* Rectangle of the symmetric matrix that the options define, in the manner of
 * source->fill: with PEIGH_LOWER or PEIGH_UPPER an entry of the other
 * triangle is read as its mirror image, with symmetrize as the mean of both.
 * PEIGH_FULL without symmetrize reads entries as they are, or all of them as
 * their mirror images, whichever lie together in the file. */
peigh_status matrix_fill(const struct matrix *matrix, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f);

/* Is any entry read as its mirror image? */
bool matrix_is_mirrored(const struct matrix *matrix);

/* Bytes that matrix_fill takes, if it has to mirror, for a rectangle. */
int64_t matrix_fill_bytes(bool random_access, int64_t rows, int64_t columns);

#endif
