/* Checkpoints of a run of the program: when, where, and what about failures;
 * see keep.c. */
#ifndef KEEP_H
#define KEEP_H

#include "checkpoint.h"
#include "command.h"
#include "interrupt.h"
#include "log.h"

enum { KEEP_NAME_MAX = 4096 };

struct keep {
    const char *path;       /* where checkpoints go; NULL: none are written */
    const char *resume;     /* the one to go on from; NULL: begin */
    char old[KEEP_NAME_MAX]; /* the name of the one before path's */
    struct origin origin;
    struct interrupt interrupt;
    enum wish wish;         /* of this moment */
    bool spare_old;         /* path is damaged and must not replace old */
    bool unwritten;         /* the solve ended without its checkpoint */
    struct run *run;        /* where it is told */
    struct log *log;
};

/* Do the checkpoints and the log replace nothing else?  Local; for rank 0,
 * before anything is written. */
peigh_status keep_names_apart(const struct command *c, struct failure *f);

/* Can they be written where the command says?  Likewise. */
peigh_status keep_check(const struct command *c, struct failure *f);

/* Get ready: of the matrix in these columns, before they are solved.  every:
 * seconds between checkpoints.  Collective. */
peigh_status keep_open(struct keep *k, struct ring *ring, const double *a,
                       double every, struct failure *f);

/* The seam for the solver; its context is k. */
struct seam keep_seam(struct keep *k);

/* The solve is over. */
void keep_close(struct keep *k);

#endif
