/* The matrix products of a meeting: X_low^T X_high, and [X_low X_high] R.
 *
 * Thin and long operands.  A general GEMM copies both into an order of its
 * own first, which for 16 columns costs as much as the multiplication, and
 * waits for memory in between; these kernels reach twice its rate.
 *
 *   update  row tiles: the tile's columns are copied to where they lie close
 *           together, and a group of columns of the product is accumulated in
 *           registers, some rows at a time, over all columns of the tile:
 *           X + X (R - I), so that rotations by small angles, which most are,
 *           cost one rounding of an entry, not one for each column.  R - I is
 *           stored by groups of columns, as it is read.
 *   Gram    over GRAM_ROWS rows at a time, a few columns of A by a few of B
 *           in registers, each register a sum over every LANES-th row.  The
 *           order of the sums depends on n only.
 *
 * In both, the rows that come next are fetched while these are computed (the
 * hardware does not foresee 32 columns at once), so that the rates hold for
 * blocks that come from memory, too. */
#include "product.h"

#include "variants.h"

#include <string.h>

/* Rows of a chunk of a Gram matrix: 4 columns of it are 16 KiB, and stay in a
 * first-level cache while those of the other block pass by. */
enum { GRAM_ROWS = 512 };

/* How much of the next meeting's columns is fetched during an update: 256
 * KiB, so that a second-level cache of 512 KiB and more still holds them when
 * their Gram matrix is computed. */
enum { AHEAD_DOUBLES = 32 * 1024 };

struct product {
    int64_t lda;
    struct block_pair x;
    struct block_pair ahead; /* columns that are needed next */
    int64_t ahead_from;      /* fetched while rows from here on are computed */
    const int64_t *order;
    const double *packed;
    double *tile;
};

struct gram {
    int64_t lda, ldc;
    struct block_pair x;
    double *c;
};

struct kernels {
    int group_columns;
    void (*multiply_tile)(const struct product *p, int64_t row, int64_t rows);
    void (*gram_rows)(const struct gram *g, int64_t row, int64_t rows);
};

/* Column j of both blocks. */
IN_VARIANT double *column_of(const struct block_pair *x, int64_t lda, int64_t j)
{
    return j < x->low.width ? x->low.x + j * lda
                            : x->high.x + (j - x->low.width) * lda;
}

/* --- instruction sets --------------------------------------------------- */

#if defined(MANY_INSTRUCTION_SETS) || defined(__AVX512F__)
#ifdef MANY_INSTRUCTION_SETS
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4", "prefer-vector-width=512")
#endif
#define KERNEL(name) name##_avx512
#define LANES 8
#define TILE_VECTORS 2
#define GROUP_COLUMNS 8
#define GRAM_LEFT 4
#define GRAM_RIGHT 4
#include "product_kernel.h"
#ifdef MANY_INSTRUCTION_SETS
#pragma GCC pop_options
#endif
#endif

#if defined(MANY_INSTRUCTION_SETS) || \
    (defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__))
#ifdef MANY_INSTRUCTION_SETS
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
#define KERNEL(name) name##_avx2
#define LANES 4
#define TILE_VECTORS 3
#define GROUP_COLUMNS 4
#define GRAM_LEFT 4
#define GRAM_RIGHT 2
#include "product_kernel.h"
#ifdef MANY_INSTRUCTION_SETS
#pragma GCC pop_options
#endif
#endif

/* SSE2, NEON, or whatever the compiler makes of pairs. */
#if defined(MANY_INSTRUCTION_SETS) || !defined(__AVX2__)
#define KERNEL(name) name##_pairs
#define LANES 2
#define TILE_VECTORS 2
#define GROUP_COLUMNS 4
#define GRAM_LEFT 4
#define GRAM_RIGHT 2
#include "product_kernel.h"
#endif

static const struct kernels *kernels(void)
{
#if defined(MANY_INSTRUCTION_SETS)
    return __builtin_cpu_supports("x86-64-v4")   ? &kernels_avx512
           : __builtin_cpu_supports("x86-64-v3") ? &kernels_avx2
                                                 : &kernels_pairs;
#elif defined(__AVX512F__)
    return &kernels_avx512;
#elif defined(__AVX2__)
    return &kernels_avx2;
#else
    return &kernels_pairs;
#endif
}

/* --- the products ------------------------------------------------------- */

int64_t product_doubles(int64_t block)
{
    return 2 * block * (2 * block + GROUP_COLUMNS_MAX - 1);
}

void product_gram(int64_t n, int64_t lda, struct block a, struct block b,
                  double *c, int64_t ldc)
{
    const struct gram g = {lda, ldc, {a, b}, c};
    const struct kernels *k = kernels();
    for (int64_t j = 0; j < b.width; j++)
        memset(c + j * ldc, 0, sizeof(double) * (size_t)a.width);
    if (a.width == 0 || b.width == 0)
        return;
    for (int64_t row = 0; row < n; row += GRAM_ROWS)
        k->gram_rows(&g, row, n - row < GRAM_ROWS ? n - row : GRAM_ROWS);
}

void product_pack(int64_t count, const double *r, const int64_t *order,
                  double *packed)
{
    const int group = kernels()->group_columns;
    for (int64_t j = 0; j < count; j += group, packed += group * count)
        for (int c = 0; c < group; c++) {
            int64_t from = order[j + c < count ? j + c : j];
            const double *column = r + from * count;
            for (int64_t k = 0; k < count; k++)
                packed[k * group + c] = column[k];
            packed[from * group + c] -= 1.0;
        }
}

void product_load_tile(int64_t lda, struct block_pair x, int64_t row,
                       int64_t rows, double *tile)
{
    size_t bytes = sizeof(double) * (size_t)rows;
    for (int64_t j = 0; j < x.low.width + x.high.width; j++)
        memcpy(tile + j * TILE_STRIDE, column_of(&x, lda, j) + row, bytes);
}

void product_update(int64_t n, int64_t lda, struct block_pair x,
                    struct block_pair ahead, const int64_t *order,
                    const double *packed, double *tile)
{
    int64_t columns = ahead.low.width + ahead.high.width;
    int64_t ahead_rows = columns > 0 ? AHEAD_DOUBLES / columns : 0;
    const struct product p = {lda, x, ahead, n - ahead_rows, order, packed,
                              tile};
    const struct kernels *k = kernels();
    for (int64_t row = 0; row < n; row += TILE_ROWS) {
        int64_t rows = n - row < TILE_ROWS ? n - row : TILE_ROWS;
        product_load_tile(lda, x, row, rows, tile);
        k->multiply_tile(&p, row, rows);
    }
}
