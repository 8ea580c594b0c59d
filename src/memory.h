/* The memory plan of a solve: sizes first, from one function, then exactly
 * that allocation. */
#ifndef MEMORY_H
#define MEMORY_H

#include "failure.h"

/* Everything peigh_solve allocates, in one piece; all sizes follow from the
 * block width.  See memory.c for who uses what. */
struct workspace {
    void *memory;
    int64_t bytes;
    double *small;    /* the small eigenproblem, small.c */
    double *rotation; /* R as the update reads it, product.h */
    double *tile;     /* TILE_STRIDE x 2w, product.h */
    double *chunk;    /* CHUNK_DOUBLES, for messages and set-up */
    double *keys;     /* 2w: what columns are sorted by */
    int64_t *order;   /* 2w: and their order */
};

enum {
    /* Longest message, in doubles: 512 KiB; the square of the largest block
     * width, so that a block of a panel fits (cholesky.c). */
    CHUNK_DOUBLES = PEIGH_BLOCK_MAX * PEIGH_BLOCK_MAX,
};

int64_t workspace_bytes(int64_t block);
peigh_status workspace_open(struct workspace *w, int64_t block,
                            struct failure *f);
void workspace_close(struct workspace *w);

#endif
