/* How the columns are cut into blocks and the blocks dealt to ranks.
 *
 * The n columns are cut into an even number M of blocks whose widths are
 * equal to within one column, the wider ones first:
 *
 *     M = 2 ceil(n / 2w),   block b = columns  b q + min(b, n mod M) ...
 *                           with q = floor(n / M).
 *
 * The M/2 slot pairs (2p, 2p+1) are dealt to the ranks in contiguous shares,
 * equal to within one pair, the larger ones first.  When there are more ranks
 * than pairs, the ranks from M/2 on own nothing. */
#include "layout.h"

#include <string.h>

enum {
    HEADER_SCRATCH_MIN = 3, /* the vectors of bounds.c */
    /* Default block width, in multiples of the least, so that there are
     * eight blocks where n allows: fewer and wider ones take fewer steps,
     * and a sweep less.  Up to 16 columns the rotations of a meeting cost no
     * more than its matrix products.  A function of n alone, so that the
     * bits of the result are, too. */
    BLOCK_UNIT = 4,
    BLOCK_DEFAULT_MAX = 16,
    DEFAULT_BLOCKS = 8,
};

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t peigh_default_block(int64_t n)
{
    const int64_t unit = DEFAULT_BLOCKS * BLOCK_UNIT;
    int64_t block = BLOCK_UNIT * (n / unit + (n % unit != 0 || n == 0));
    return min(block, BLOCK_DEFAULT_MAX);
}

struct blocks blocks_of(int64_t n, int64_t block)
{
    int64_t pairs = n / (2 * block) + (n % (2 * block) != 0);
    if (pairs == 0)
        pairs = 1;
    int64_t count = 2 * pairs;
    return (struct blocks){
        .n = n, .count = count, .widest = n / count + (n % count != 0)};
}

int64_t block_first(const struct blocks *blocks, int64_t b)
{
    int64_t q = blocks->n / blocks->count, extra = blocks->n % blocks->count;
    return b * q + min(b, extra);
}

int64_t block_width(const struct blocks *blocks, int64_t b)
{
    return block_first(blocks, b + 1) - block_first(blocks, b);
}

struct share share_of(const struct blocks *blocks, int rank, int ranks)
{
    int64_t pairs = blocks->count / 2, q = pairs / ranks, extra = pairs % ranks;
    return (struct share){
        .first_pair = rank * q + min(rank, extra),
        .pairs = q + (rank < extra),
        .active = (int)min(pairs, ranks)};
}

int slot_owner(const struct blocks *blocks, int64_t slot, int ranks)
{
    int64_t pairs = blocks->count / 2, q = pairs / ranks, extra = pairs % ranks;
    int64_t pair = slot / 2, in_larger = extra * (q + 1);
    return (int)(pair < in_larger ? pair / (q + 1)
                                  : extra + (pair - in_larger) / q);
}

int64_t header_rows(int64_t block)
{
    return header_fixed_row(block) + HEADER_FIXED_ROWS;
}

int64_t header_fixed_row(int64_t block)
{
    return block > HEADER_SCRATCH_MIN ? block : HEADER_SCRATCH_MIN;
}

/* Stride for `rows` rows: whole cache lines of 8 doubles, an odd number of
 * them.  A stride that is a multiple of a large power of two puts all columns
 * of a row into the same few cache sets (3 times slower at n = 1024). */
static int64_t stride(int64_t rows)
{
    int64_t lines = (rows + 7) / 8;
    return 8 * (lines | 1);
}

static bool block_valid(int64_t block)
{
    return block >= 0 && block <= PEIGH_BLOCK_MAX;
}

peigh_status peigh_layout_for(int64_t n, int rank, int ranks,
                              const peigh_options *options,
                              peigh_layout *layout)
{
    int64_t block = options ? options->block : 0;
    memset(layout, 0, sizeof *layout);
    if (n < 0 || n > PEIGH_ORDER_MAX || ranks < 1 || rank < 0 ||
        rank >= ranks || !block_valid(block))
        return PEIGH_ERR_ARGUMENT;
    if (block == 0)
        block = peigh_default_block(n);
    struct blocks blocks = blocks_of(n, block);
    struct share share = share_of(&blocks, rank, ranks);
    int64_t slot = 2 * share.first_pair, end = slot + 2 * share.pairs;
    layout->n = n;
    layout->rank = rank;
    layout->ranks = ranks;
    layout->block = block;
    layout->blocks = blocks.count;
    layout->first = block_first(&blocks, slot);
    layout->count = block_first(&blocks, end) - layout->first;
    layout->capacity = 2 * share.pairs * blocks.widest;
    layout->lda = stride(n + header_rows(block));
    return PEIGH_OK;
}

static size_t bytes_of(int64_t doubles)
{
    return sizeof(double) * (size_t)(doubles > 0 ? doubles : 1);
}

size_t peigh_array_bytes(const peigh_layout *layout)
{
    return bytes_of(layout->capacity * layout->lda);
}

size_t peigh_values_bytes(const peigh_layout *layout)
{
    return bytes_of(layout->count);
}
