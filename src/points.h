/* Points and their weights, a file streamed tile by tile; see points.c. */
#ifndef POINTS_H
#define POINTS_H

#include "cosine.h"
#include "table.h"

/* Some tiles of points at a time. */
struct points {
    const struct table *table;   /* n x d */
    const struct table *weights; /* n, or not open: all are 1 */
    int64_t tiles;               /* of the whole table */
    int64_t batch;               /* tiles that are read together */
    int64_t tile0, tile1;        /* those in memory */
    double *r, *w;               /* batch * COSINE_TILE * d, and without d */
};

/* Doubles of r and w. */
int64_t points_doubles(const struct table *table);

/* The buffer is the caller's: points_doubles. */
void points_open(struct points *p, const struct table *table,
                 const struct table *weights, double *buffer);

/* Have this tile in memory; tiles are asked for in ascending order, again and
 * again.  Beyond the last point there are zeros of weight 0.  r as
 * struct phases has it. */
peigh_status points_tile(struct points *p, int64_t tile, const double **r,
                         const double **w, struct failure *f);

/* `groups` groups of vectors from number j0 on, as struct phases has them,
 * one group after the other: groups * COSINE_GROUP * d doubles.  Beyond j1
 * there are zeros. */
peigh_status vectors_read(const struct table *vectors, int64_t j0, int64_t j1,
                          int64_t groups, double *h, struct failure *f);

#endif
