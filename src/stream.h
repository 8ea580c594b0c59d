/* The whole matrix passes by every rank, a piece at a time: what the checks
 * need that look at a matrix which no rank can hold.
 *
 *     struct stream s;
 *     stream_open(&s, ring, layout, matrix, exponent, z, f);
 *     while (stream_next(&s, f))
 *         ... A[s.i0 .. s.i1 - 1, s.j0 .. s.j1 - 1] is in s.a ...
 *     stream_close(&s);
 *
 * Pieces are at most STREAM_ROWS x STREAM_COLUMNS.  They come in the order of
 * the columns, from the top to the bottom of each tile of columns; a tile has
 * a single owner, who reads the piece and broadcasts it.  Every rank sees the
 * same pieces, so a loop over them is a safe place for collectives. */
#ifndef STREAM_H
#define STREAM_H

#include "verify.h"

enum {
    STREAM_COLUMNS = 32, /* enough for GEMM to run at speed */
    STREAM_ROWS = 512,   /* with 32 columns, 128 KiB of A to a broadcast */
};

struct stream {
    /* The current piece. */
    int64_t i0, i1, j0, j1;
    const double *a; /* 2^exponent A[i0.., j0..], stride i1 - i0 */
    const double *z; /* the same rectangle of Z, not scaled; NULL without */

    /* Where it comes from. */
    struct ring *ring;
    const peigh_layout *layout;
    const struct matrix *matrix;
    int exponent;
    const double *vectors; /* own columns of Z, stride layout->lda, or NULL */
    double *own;           /* own columns of A, stride n: without random
                            * access, where a file is read only once */
    double *buffer;        /* the piece: of A, then of Z */
    int owner;             /* rank that sends the current columns ... */
    int64_t owner_end;     /* ... and the end of its columns */
};

/* Get ready for one pass over the matrix.  vectors: this rank's columns of an
 * n x n matrix Z that passes by together with A; NULL (on all ranks) if none.
 * Collective, agreed on.  Close it after a failure, too. */
peigh_status stream_open(struct stream *s, struct ring *ring,
                         const peigh_layout *layout,
                         const struct matrix *matrix, int exponent,
                         const double *vectors, struct failure *f);

/* Go to the next piece: false after the last one, or (f tells) if it could
 * not be read, on all ranks the same.  Collective. */
bool stream_next(struct stream *s, struct failure *f);

void stream_close(struct stream *s);

/* Bytes a pass takes on a rank that owns `count` columns.  mirrored: the
 * matrix is not PEIGH_FULL, or is to be symmetrized. */
int64_t stream_bytes(int64_t n, int64_t count, bool random_access,
                     bool mirrored, bool vectors);

/* The larger of two numbers; NaN if either is. */
double max_or_nan(double x, double y);

/* max |x_i| over the count numbers of this rank, or NaN. */
double largest_magnitude(const double *x, int64_t count);

/* Make x[0 .. count-1] the maxima over ranks of numbers that are not
 * negative: NaN where any rank has NaN.  Collective, agreed on. */
peigh_status max_over_ranks(struct ring *ring, double *x, int count,
                            struct failure *f);

#endif
