/* A failure on one rank: what happened, in words for the user.  The first
 * one stays; later ones are its consequences. ring_agree() makes the failure
 * of the lowest failing rank everybody's. */
#ifndef FAILURE_H
#define FAILURE_H

#include "peigh.h"

struct failure {
    peigh_status status;
    char message[PEIGH_MESSAGE_MAX];
};

/* Record a failure unless there is one already.  Returns f->status. */
__attribute__((format(printf, 3, 4)))
peigh_status fail(struct failure *f, peigh_status status,
                  const char *format, ...);

static inline bool failed(const struct failure *f)
{
    return f->status != PEIGH_OK;
}

#endif
