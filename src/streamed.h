/* Matrices made from data that stream by: source:KIND,key=value...; see
 * source_streamed.c. */
#ifndef STREAMED_H
#define STREAMED_H

#include "source.h"

enum streamed_key {
    KEY_POINTS, KEY_VECTORS, KEY_WEIGHTS, KEY_FILE, KEY_CENTER, KEY_SCALE,
    STREAMED_KEYS,
};

/* What stands behind KIND; NULL: not given.  KEY_CENTER takes no value. */
struct streamed_spec {
    const char *value[STREAMED_KEYS];
};

/* The openers, one per kind.  A failure leaves nothing to close. */
peigh_status source_open_cosine(struct source *source,
                                const struct streamed_spec *spec,
                                struct failure *f);
peigh_status source_open_gram(struct source *source,
                              const struct streamed_spec *spec,
                              struct failure *f);

#endif
