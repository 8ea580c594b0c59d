/* Every message and collective of the solver.  The ring is a duplicate of the
 * caller's communicator that counts what it sends; MPI errors come back as
 * failures instead of ending the program. */
#ifndef RING_H
#define RING_H

#include "failure.h"

struct ring {
    MPI_Comm comm;
    int rank, ranks;
    double *bounce;          /* chunk doubles: the one message buffer, set by
                              * the owner of the workspace after ring_open */
    int64_t chunk;           /* longest message, in doubles */
    int64_t messages, bytes; /* sent by ring_pass so far */
};

/* Duplicate comm.  Collective. */
peigh_status ring_open(struct ring *ring, MPI_Comm comm, struct failure *f);
void ring_close(struct ring *ring);

/* The ranks of ring that share a node's memory with this one.  Collective. */
peigh_status ring_open_node(struct ring *node, const struct ring *ring,
                            struct failure *f);

/* Send a few numbers to every rank and take as many, so that MPI makes its
 * connections and their buffers now.  Collective. */
peigh_status ring_greet(struct ring *ring, double *out, double *in, int count,
                        struct failure *f);

/* Make the failure of the lowest failing rank everybody's.  Collective; to be
 * called by all before the next message after anything that can fail. */
peigh_status ring_agree(struct ring *ring, struct failure *f);

/* Send `out` doubles from buffer to rank `to` and take `in` doubles from rank
 * `from` into the same place, chunk by chunk through the bounce buffer. */
peigh_status ring_pass(struct ring *ring, double *buffer, int64_t out, int to,
                       int64_t in, int from, struct failure *f);

/* Exchange at most chunk doubles with a partner, not counted (set-up only). */
peigh_status ring_swap(struct ring *ring, int partner, const double *out,
                       int64_t out_count, double *in, int64_t in_count,
                       struct failure *f);

/* In-place reductions and broadcast; collective. */
peigh_status ring_sum_int64(struct ring *ring, int64_t *x, int count,
                            struct failure *f);
peigh_status ring_max_int64(struct ring *ring, int64_t *x, int count,
                            struct failure *f);
peigh_status ring_max_double(struct ring *ring, double *x, int count,
                             struct failure *f);
peigh_status ring_sum_double(struct ring *ring, double *x, int count,
                             struct failure *f);
/* The largest x of all ranks before this one, -INFINITY on rank 0. */
peigh_status ring_max_before(struct ring *ring, double *x, struct failure *f);
peigh_status ring_bcast(struct ring *ring, double *x, int count, int root,
                        struct failure *f);
peigh_status ring_bcast_int64(struct ring *ring, int64_t *x, int count,
                              int root, struct failure *f);

#endif
