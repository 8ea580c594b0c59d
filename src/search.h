/* How many ranks, how large a matrix: the two questions about memory. */
#ifndef SEARCH_H
#define SEARCH_H

#include "peigh.h"

/* Bytes of the rank that takes most, for order n on so many ranks. */
typedef int64_t bytes_of_run(const void *what, int64_t n, int ranks);

/* The least number of ranks with bytes(what, n, ranks) <= most, 0 if there is
 * none.  bytes must not rise with the number of ranks. */
int search_ranks(bytes_of_run *bytes, const void *what, int64_t most,
                 int64_t n, const peigh_options *options);

/* The largest n with bytes(what, n, ranks) <= most, -1 if there is none.
 * bytes is at least 8 n^2 / ranks. */
int64_t search_order(bytes_of_run *bytes, const void *what, int64_t most,
                     int ranks, const peigh_options *options);

#endif
