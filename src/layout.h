/* How the columns are cut into blocks and the blocks dealt to ranks.
 * Integers only; see layout.c. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "peigh.h"

/* Blocks b = 0 .. blocks-1 of a matrix of order n.  A function of n and the
 * block width alone, never of the number of ranks. */
struct blocks {
    int64_t n;
    int64_t count;  /* M, even, at least 2 */
    int64_t widest; /* every block has this many columns or one fewer */
};

struct blocks blocks_of(int64_t n, int64_t block);
int64_t block_first(const struct blocks *blocks, int64_t b);
int64_t block_width(const struct blocks *blocks, int64_t b);

/* The slot pairs of a rank: `pairs` of them from `first_pair` on.  Ranks
 * from `active` on own none. */
struct share {
    int64_t first_pair, pairs;
    int active;
};

struct share share_of(const struct blocks *blocks, int rank, int ranks);

/* The rank that owns a slot between sweeps. */
int slot_owner(const struct blocks *blocks, int64_t slot, int ranks);

/* Rows below row n of each column that travel with it.  The first ones, as
 * many as a block has columns and three at least, are scratch: Lanczos
 * vectors (bounds.c), keys to sort by (permute.c), the multipliers of a panel
 * (cholesky.c), and in the sweeps the column's part of its block's Gram matrix
 * (pair.c).  The last ones stay in their place whatever becomes of the column:
 */
enum {
    HEADER_NUMBER,   /* the row and column of the caller's matrix that was
                      * sorted to this place */
    HEADER_CHANGED,  /* in a block's first column: the step in which the block
                      * was last changed (pair.c) */
    HEADER_DIAGONAL, /* a diagonal entry, kept (definite.c); after that, the
                      * checksum of the column in a checkpoint */
    HEADER_FIXED_ROWS,
};

int64_t header_rows(int64_t block);
int64_t header_fixed_row(int64_t block); /* row of HEADER_NUMBER, from n */

#endif
