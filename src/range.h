/* Which pairs are written: --range. */
#ifndef RANGE_H
#define RANGE_H

#include "ring.h"

/* By number, from .. to - 1; or by value, the eigenvalues in (low, high]. */
struct range {
    bool by_number, by_value; /* neither: all pairs */
    int64_t from, to;         /* negative: from the end */
    bool to_end;              /* the end was left out */
    double low, high;
};

/* I:J or value:A:B.  What is wrong with it is a failure with
 * PEIGH_ERR_ARGUMENT. */
peigh_status range_read(struct range *range, const char *text,
                        struct failure *f);

/* Numbers from the front, and a failure unless they are there among n. */
peigh_status range_check(struct range *range, int64_t n, struct failure *f);

/* The pairs that the range holds.  Collective.
 *
 *     values  this rank's part of the ascending spectrum */
peigh_status range_find(const struct range *range, struct ring *ring,
                        const peigh_layout *layout, const double *values,
                        int64_t *from, int64_t *to, struct failure *f);

#endif
