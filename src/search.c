/* The fewest ranks for a matrix, the largest matrix for some ranks.
 *
 * More ranks never take more memory each, so the first is a search by halves.
 * A larger matrix may: where n passes a multiple of 2w there is a pair of
 * blocks more and all blocks get narrower, so that the rank with the most
 * columns may have fewer than before.  But it never has more than 4w columns
 * beyond its part n / P.  Halving then finds an order n0 that fits, with one
 * too large above it, and of the orders that fit the largest is below
 *
 *     n0 + 4 w P,      as  8 n^2 / P <= bytes(n) <= 8 n (n / P + 4 w) + ...
 *
 * and is looked for one by one, from above. */
#include "search.h"

#include "layout.h"
#include "memory.h"

#include <math.h>

/* Pairs of blocks; ranks beyond have nothing to do. */
static int64_t pairs_of(int64_t n, const peigh_options *options)
{
    peigh_layout layout;
    if (peigh_layout_for(n, 0, 1, options, &layout))
        return 0;
    return layout.blocks / 2;
}

int search_ranks(bytes_of_run *bytes, const void *what, int64_t most,
                 int64_t n, const peigh_options *options)
{
    int64_t low = 0, high = pairs_of(n, options); /* low does not fit */
    if (high == 0 || bytes(what, n, (int)high) > most)
        return 0;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (bytes(what, n, (int)middle) <= most)
            high = middle;
        else
            low = middle;
    }
    return (int)high;
}

int64_t search_order(bytes_of_run *bytes, const void *what, int64_t most,
                     int ranks, const peigh_options *options)
{
    if (ranks < 1 || pairs_of(0, options) == 0 ||
        bytes(what, 0, ranks) > most)
        return -1;
    double bound = sqrt((double)most / sizeof(double) * ranks) + 1.0;
    int64_t end = bound < PEIGH_ORDER_MAX ? (int64_t)bound : PEIGH_ORDER_MAX;
    int64_t low = 0, high = end + 1; /* low fits, high does not */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (bytes(what, middle, ranks) <= most)
            low = middle;
        else
            high = middle;
    }
    peigh_layout layout;
    peigh_layout_for(end, 0, 1, options, &layout);
    int64_t top = low + 4 * layout.block * ranks;
    top = top < end ? top : end;
    while (top > low && bytes(what, top, ranks) > most)
        top--;
    return top;
}

/* --- for the library's callers ------------------------------------------ */

static int64_t bytes_of_solve(const void *what, int64_t n, int ranks)
{
    peigh_layout layout; /* rank 0 has the largest share */
    if (peigh_layout_for(n, 0, ranks, what, &layout))
        return INT64_MAX;
    return (int64_t)(peigh_array_bytes(&layout) +
                     peigh_values_bytes(&layout)) +
           workspace_bytes(layout.block);
}

int peigh_ranks_for(int64_t n, int64_t bytes, const peigh_options *options)
{
    return search_ranks(bytes_of_solve, options, bytes, n, options);
}

int64_t peigh_order_for(int ranks, int64_t bytes,
                        const peigh_options *options)
{
    return search_order(bytes_of_solve, options, bytes, ranks, options);
}
