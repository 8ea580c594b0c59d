/* The columns of a rank while a solve works on them. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdint.h>

struct columns {
    double *a;            /* column first + j begins at a + j * lda */
    int64_t n;            /* rows of the matrix; the header is below */
    int64_t first, count; /* the rank's columns */
    int64_t lda;
};

/* A block: `width` columns from x on.  Row n + i of column j holds entry
 * (i, j) of the block's own Gram matrix X^T X. */
struct block {
    double *x;
    int64_t width;
};

/* Two blocks that meet; blocks without columns where there are none. */
struct block_pair {
    struct block low, high;
};

static inline double *column(const struct columns *c, int64_t j)
{
    return c->a + j * c->lda;
}

#endif
