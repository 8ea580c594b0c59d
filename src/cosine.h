/* Cosines and sines of h . r for a tile of points r and a group of vectors h;
 * arithmetic on one process.  See cosine.c. */
#ifndef COSINE_H
#define COSINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Points of a tile: the phases of a group, 16 KiB, and the points in three
     * dimensions, 12 KiB, stay in a first-level cache. */
    COSINE_TILE = 512,
    /* Vectors of a group, which share the reading of the points. */
    COSINE_GROUP = 4,
};

/* Component k of point i is r[i + k * COSINE_TILE], of vector g it is
 * h[g + k * COSINE_GROUP]; d components. */
struct phases {
    int64_t d;
    const double *r, *h;
};

/* sum[g] = sum over the tile's points i of w[i] cos(h_g . r_i); or sin. */
void cosine_sums(const struct phases *p, const double *w, bool sine,
                 double sum[COSINE_GROUP]);

/* Column g of x, stride ldx: w[i] cos(h_g . r_i) for each point of the tile,
 * then w[i] sin(h_g . r_i). */
void cosine_columns(const struct phases *p, const double *w, double *x,
                    int64_t ldx);

#endif
