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

static inline double *column(const struct columns *c, int64_t j)
{
    return c->a + j * c->lda;
}

#endif
