/* Cholesky factorization in place and in constant workspace.
 *
 *     A = U U^T,   U upper triangular,
 *
 * by panels of columns from the last to the first, right-looking.  With the
 * diagonal in ascending order the largest pivots come first, and the columns
 * of U are in the order that the sweeps end with.  A panel K of columns
 * s .. e-1 is finished by its owner, who has all of its rows,
 *
 *     A_KK = U_KK U_KK^T,   U_iK = A_iK U_KK^-T   (rows i < s),
 *
 * and broadcast once, in chunks of rows from the bottom to the top; every
 * rank subtracts from its columns c < s
 *
 *     A_ic -= U_iK U_cK^T   (rows i <= c).
 *
 * From bottom to top, row c of the panel, the multipliers of column c, comes
 * before all rows that are multiplied by it: it is kept in the header of
 * column c.  Only the upper triangle is written.  The lower one still holds
 * A, so that a matrix that turns out not to be positive definite is restored
 * to the bit from it (definite.c).
 *
 * The parts of every update are cut by blocks of columns and chunks of rows
 * that depend on n and the block width alone: the same bits for any number
 * of ranks. */
#include "cholesky.h"

#include "layout.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

struct cholesky {
    struct ring *ring;
    struct columns *c;
    struct blocks blocks;
    int64_t first_block, end_block; /* of this rank */
    int64_t group;        /* blocks of rows to a chunk */
    int64_t diagonal_row; /* of the header */
};

/* Columns j0 .. j0+width-1 of this rank, by their numbers in the matrix. */
static double *columns_at(const struct cholesky *s, int64_t j0)
{
    return column(s->c, j0 - s->c->first);
}

/* The diagonal block of the panel, unblocked, upper triangle only. */
static void factor_diagonal(const struct cholesky *s, int64_t j0, int64_t j1,
                            struct pivots *pivots)
{
    const int64_t lda = s->c->lda, kept = s->c->n + s->diagonal_row;
    double *a = columns_at(s, j0) + j0; /* a[i + j lda]: entry (i, j) */
    for (int64_t j = j1 - j0 - 1; j >= 0; j--) {
        double *u = a + j * lda;
        if (!(u[j] > 0.0)) {
            pivots->bad = j0 + j;
            pivots->value = u[j];
            return;
        }
        pivots->ratio = fmin(pivots->ratio,
                             u[j] / columns_at(s, j0 + j)[kept]);
        u[j] = sqrt(u[j]);
        for (int64_t i = 0; i < j; i++)
            u[i] /= u[j];
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = 0; i <= k; i++)
                a[i + k * lda] -= u[i] * u[k];
    }
}

/* The panel on its owner: diagonal block, then the rows above. */
static void factor_panel(const struct cholesky *s, int64_t j0, int64_t j1,
                         struct pivots *pivots)
{
    double *a = columns_at(s, j0);
    factor_diagonal(s, j0, j1, pivots);
    if (pivots->bad < 0 && j0 > 0)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasTrans,
                    CblasNonUnit, (int)j0, (int)(j1 - j0), 1.0, a + j0,
                    (int)s->c->lda, a, (int)s->c->lda);
}

/* Everybody learns how the panel came out. */
static peigh_status share_pivots(const struct cholesky *s, int owner,
                                 struct pivots *pivots, struct failure *f)
{
    double news[3] = {(double)pivots->bad, pivots->value, pivots->ratio};
    if (ring_bcast(s->ring, news, 3, owner, f))
        return f->status;
    *pivots = (struct pivots){(int64_t)news[0], news[1], news[2]};
    return PEIGH_OK;
}

/* Rows i0 .. i1-1 of the panel to all, into ring->bounce, stride i1 - i0. */
static peigh_status share_rows(const struct cholesky *s, int owner,
                               int64_t i0, int64_t i1, int64_t j0,
                               int64_t j1, struct failure *f)
{
    int64_t rows = i1 - i0;
    if (s->ring->rank == owner)
        for (int64_t j = j0; j < j1; j++)
            memcpy(s->ring->bounce + (j - j0) * rows, columns_at(s, j) + i0,
                   sizeof(double) * (size_t)rows);
    return ring_bcast(s->ring, s->ring->bounce, (int)(rows * (j1 - j0)),
                      owner, f);
}

/* Keep the rows of the panel that multiply own columns c0 .. c1-1. */
static void keep_multipliers(const struct cholesky *s, int64_t c0, int64_t c1,
                             int64_t i0, int64_t rows, int64_t width)
{
    for (int64_t c = c0; c < c1; c++)
        for (int64_t k = 0; k < width; k++)
            columns_at(s, c)[s->c->n + k] =
                s->ring->bounce[c - i0 + k * rows];
}

/* Rows i .. i+height-1 of columns c0 .. c1-1 minus the product. */
static void subtract(const struct cholesky *s, const double *panel,
                     int64_t rows, int64_t width, int64_t height, int64_t c0,
                     int64_t c1, double *a, int64_t stride)
{
    if (height > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)height,
                    (int)(c1 - c0), (int)width, -1.0, panel, (int)rows,
                    columns_at(s, c0) + s->c->n, (int)s->c->lda, 1.0, a,
                    (int)stride);
}

/* The square on the diagonal: the lower triangle stays as it is. */
static void subtract_diagonal(const struct cholesky *s, const double *panel,
                              int64_t rows, int64_t width, int64_t c0,
                              int64_t c1)
{
    for (int64_t c = c0; c < c1; c++) {
        double *a = columns_at(s, c);
        for (int64_t k = 0; k < width; k++)
            for (int64_t i = c0; i <= c; i++)
                a[i] -= panel[i - c0 + k * rows] * a[s->c->n + k];
    }
}

/* Use the rows in ring->bounce on the columns of block b. */
static void update_block(const struct cholesky *s, int64_t b, int64_t i0,
                         int64_t i1, int64_t width)
{
    int64_t c0 = block_first(&s->blocks, b);
    int64_t c1 = block_first(&s->blocks, b + 1);
    int64_t rows = i1 - i0, above = (c0 < i1 ? c0 : i1) - i0;
    const double *panel = s->ring->bounce;
    if (c1 <= i0 || c0 == c1)
        return; /* all rows are below the diagonal */
    if (c0 < i1)
        keep_multipliers(s, c0, c1, i0, rows, width);
    subtract(s, panel, rows, width, above, c0, c1, columns_at(s, c0) + i0,
             s->c->lda);
    if (c0 < i1)
        subtract_diagonal(s, panel + above, rows, width, c0, c1);
}

/* Broadcast panel b and update the columns before it. */
static peigh_status spread_panel(const struct cholesky *s, int64_t b,
                                 int owner, struct failure *f)
{
    int64_t j0 = block_first(&s->blocks, b);
    int64_t j1 = block_first(&s->blocks, b + 1);
    for (int64_t top, end = b; end > 0; end = top) {
        top = end > s->group ? end - s->group : 0;
        int64_t i0 = block_first(&s->blocks, top);
        int64_t i1 = block_first(&s->blocks, end);
        if (share_rows(s, owner, i0, i1, j0, j1, f))
            return f->status;
        for (int64_t c = s->first_block; c < b && c < s->end_block; c++)
            update_block(s, c, i0, i1, j1 - j0);
    }
    return PEIGH_OK;
}

peigh_status cholesky_factor(struct ring *ring, struct columns *columns,
                             int64_t block, struct pivots *pivots,
                             struct failure *f)
{
    struct cholesky s = {.ring = ring, .c = columns,
                         .blocks = blocks_of(columns->n, block)};
    struct share share = share_of(&s.blocks, ring->rank, ring->ranks);
    s.first_block = 2 * share.first_pair;
    s.end_block = s.first_block + 2 * share.pairs;
    int64_t most = s.blocks.widest * s.blocks.widest;
    s.group = most > 0 ? ring->chunk / most : 1;
    *pivots = (struct pivots){.bad = -1, .ratio = INFINITY};
    s.diagonal_row = header_fixed_row(block) + HEADER_DIAGONAL;
    for (int64_t b = s.blocks.count - 1; b >= 0; b--) {
        int64_t j0 = block_first(&s.blocks, b);
        int64_t j1 = block_first(&s.blocks, b + 1);
        int owner = slot_owner(&s.blocks, b, ring->ranks);
        if (ring->rank == owner)
            factor_panel(&s, j0, j1, pivots);
        if (share_pivots(&s, owner, pivots, f) || pivots->bad >= 0)
            return f->status;
        if (j1 > j0 && spread_panel(&s, b, owner, f))
            return f->status;
    }
    return PEIGH_OK;
}

void cholesky_clear_lower(struct columns *columns)
{
    for (int64_t j = 0; j < columns->count; j++) {
        int64_t below = columns->first + j + 1;
        memset(column(columns, j) + below, 0,
               sizeof(double) * (size_t)(columns->n - below));
    }
}
