/* What each entry of a distributed matrix has to do with its mirror image;
 * see mirror.c. */
#ifndef MIRROR_H
#define MIRROR_H

#include "columns.h"
#include "ring.h"

/* What ring->bounce must hold, doubles. */
enum { MIRROR_TILE = 128, MIRROR_DOUBLES = 2 * MIRROR_TILE * MIRROR_TILE };

enum mirror_action {
    MIRROR_COMPARE,    /* find the pair that differs most */
    MIRROR_FROM_LOWER, /* a_ij <- a_ji for i < j; the diagonal stays */
    MIRROR_FROM_UPPER, /* a_ij <- a_ji for i > j */
    MIRROR_MEAN,       /* a_ij <- (a_ij + a_ji) / 2 */
    MIRROR_TRANSPOSE,  /* a_ij <- a_ji */
};

/* The largest difference between mirror images on this rank. */
struct asymmetry {
    double difference;
    int64_t i, j; /* i > j; -1: none */
    double below, above;
};

struct mirror {
    struct ring *ring;
    const peigh_layout *layout;
    struct columns *columns;
    enum mirror_action action;
    struct asymmetry worst;
};

/* Do it to all pairs of entries.  Collective; uses ring->bounce. */
peigh_status mirror_all(struct mirror *m, enum mirror_action action,
                        struct failure *f);

/* (x + y) / 2 without over- or underflow; x where both are equal. */
double mean_of(double x, double y);

#endif
