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
    BLOCK_MIN = 4, BLOCK_MIDDLE = 16, BLOCK_LARGE = 32, /* defaults */
    BLOCKS_MIN = 8,          /* that many blocks where n allows */
    ORDER_IN_CACHE = 2048,   /* a matrix of 32 MiB */
    ORDER_IN_MEMORY = 3072,
};

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* A function of n alone, so that the bits of the result are, too.
 *
 * Small n: eight blocks, of multiples of 4 columns; fewer and wider ones take
 * fewer messages, and a sweep less.  From 16 columns on the rotations of a
 * meeting, w^3 operations that run at a third of the rate of the products,
 * cost more than wider blocks save, until a rank's columns do not fit into its
 * cache: then there are 5w/8 operations for each byte that comes and goes, and
 * wider blocks are worth their price.  (The other price is that at most n / 2w
 * ranks have work.) */
int64_t peigh_default_block(int64_t n)
{
    if (n <= BLOCKS_MIN * BLOCK_MIDDLE)
        return BLOCK_MIN * (n > 0 ? divide_up(n, BLOCKS_MIN * BLOCK_MIN) : 1);
    return n <= ORDER_IN_CACHE    ? BLOCK_MIDDLE
           : n <= ORDER_IN_MEMORY ? (BLOCK_MIDDLE + BLOCK_LARGE) / 2
                                  : BLOCK_LARGE;
}

struct blocks blocks_of(int64_t n, int64_t block)
{
    int64_t pairs = divide_up(n, 2 * block);
    if (pairs == 0)
        pairs = 1;
    int64_t count = 2 * pairs;
    return (struct blocks){
        .n = n, .count = count, .widest = divide_up(n, count)};
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
