/* When a checkpoint is wanted: signals and the clock; see interrupt.c. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "ring.h"

enum wish {
    WISH_NONE = 0,
    WISH_CHECKPOINT, /* write one and go on: SIGUSR1, or it is time */
    WISH_STOP,       /* write one and end: SIGTERM, SIGINT */
};

struct interrupt {
    double every;        /* seconds between checkpoints */
    double last;         /* MPI_Wtime of the last one */
    int64_t calls, gap;  /* of interrupt_wish since ranks last agreed, and until
                          * they do so again */
    double agreed;       /* MPI_Wtime when they did */
};

/* From now on signals are taken note of. */
void interrupt_start(struct interrupt *i, double every);

/* Signals do again what they do by themselves. */
void interrupt_end(void);

/* What is wanted, the same on all ranks; to be called often.  Collective; most
 * calls return at once. */
enum wish interrupt_wish(struct interrupt *i, struct ring *ring,
                         struct failure *f);

/* The checkpoint is done (or could not be): count from now. */
void interrupt_served(struct interrupt *i);

/* The signal that asked for an end on this rank, or 0. */
int interrupt_signal(void);

#endif
