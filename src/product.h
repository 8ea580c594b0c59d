/* The two matrix products of a meeting of blocks; arithmetic on one process.
 * See product.c. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "columns.h"

enum {
    /* Rows of a tile of the update: a multiple of every kernel's rows (16,
     * 12, 4), and two blocks of 16 columns of it, 24 KiB, stay in a
     * first-level cache. */
    TILE_ROWS = 96,
    TILE_STRIDE = TILE_ROWS + 8, /* not a multiple of a large power of two */
    /* R as the update reads it: columns in groups of at most so many. */
    GROUP_COLUMNS_MAX = 8,
};

/* Doubles of R in groups, for blocks of at most this many columns. */
int64_t product_doubles(int64_t block);

/* C = A^T B; A and B have n rows and stride lda, C has stride ldc.  An entry
 * has the same bits wherever its two columns stand, and whichever comes
 * first. */
void product_gram(int64_t n, int64_t lda, struct block a, struct block b,
                  double *c, int64_t ldc);

/* The columns order[0], order[1], ... of R - I (count x count, without gaps)
 * as product_update reads them. */
void product_pack(int64_t count, const double *r, const int64_t *order,
                  double *packed);

/* X <- X R for the columns X of two blocks, in place, the columns of R in that
 * order; n rows, stride lda.
 *
 *   ahead  columns that are needed next and may come into the cache meanwhile
 *   tile   scratch, TILE_STRIDE doubles for each column of X */
void product_update(int64_t n, int64_t lda, struct block_pair x,
                    struct block_pair ahead, const int64_t *order,
                    const double *packed, double *tile);

/* Copy `rows` rows, from row on, of both blocks' columns into the tile. */
void product_load_tile(int64_t lda, struct block_pair x, int64_t row,
                       int64_t rows, double *tile);

#endif
