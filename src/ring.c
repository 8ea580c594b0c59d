/* Every message and collective of the solver. */
#include "ring.h"

#include <math.h>
#include <string.h>

enum { RING_TAG = 1 };

static peigh_status checked(int code, struct failure *f)
{
    if (code == MPI_SUCCESS)
        return PEIGH_OK;
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, reason, &length);
    return fail(f, PEIGH_ERR_MPI, "MPI: %.400s", reason);
}

peigh_status ring_open(struct ring *ring, MPI_Comm comm, struct failure *f)
{
    memset(ring, 0, sizeof *ring);
    ring->comm = MPI_COMM_NULL;
    if (checked(MPI_Comm_dup(comm, &ring->comm), f))
        return f->status;
    MPI_Comm_set_errhandler(ring->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ring->comm, &ring->rank);
    MPI_Comm_size(ring->comm, &ring->ranks);
    return PEIGH_OK;
}

void ring_close(struct ring *ring)
{
    if (ring->comm != MPI_COMM_NULL)
        MPI_Comm_free(&ring->comm);
}

peigh_status ring_open_node(struct ring *node, const struct ring *ring,
                            struct failure *f)
{
    memset(node, 0, sizeof *node);
    node->comm = MPI_COMM_NULL;
    if (checked(MPI_Comm_split_type(ring->comm, MPI_COMM_TYPE_SHARED,
                                    ring->rank, MPI_INFO_NULL, &node->comm),
                f))
        return f->status;
    MPI_Comm_rank(node->comm, &node->rank);
    MPI_Comm_size(node->comm, &node->ranks);
    return PEIGH_OK;
}

/* In round k the ranks r and k - r, modulo their number, are partners. */
peigh_status ring_greet(struct ring *ring, double *out, double *in, int count,
                        struct failure *f)
{
    for (int k = 0; k < ring->ranks && !failed(f); k++) {
        int partner = (k - ring->rank + ring->ranks) % ring->ranks;
        if (partner != ring->rank)
            ring_swap(ring, partner, out, count, in, count, f);
    }
    return f->status;
}

peigh_status ring_agree(struct ring *ring, struct failure *f)
{
    int mine = failed(f) ? ring->rank : ring->ranks, lowest = ring->ranks;
    int code = MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, ring->comm);
    if (code == MPI_SUCCESS && lowest < ring->ranks)
        code = MPI_Bcast(f, sizeof *f, MPI_BYTE, lowest, ring->comm);
    checked(code, f);
    return f->status;
}

/* Length of piece number i when count doubles go in pieces of chunk. */
static int piece_length(int64_t count, int64_t i, int64_t chunk)
{
    int64_t left = count - i * chunk;
    return (int)(left < 0 ? 0 : left < chunk ? left : chunk);
}

peigh_status ring_pass(struct ring *ring, double *buffer, int64_t out, int to,
                       int64_t in, int from, struct failure *f)
{
    int64_t most = out > in ? out : in;
    for (int64_t i = 0; i * ring->chunk < most; i++) {
        double *piece = buffer + i * ring->chunk;
        int leaves = piece_length(out, i, ring->chunk);
        int enters = piece_length(in, i, ring->chunk);
        int code = MPI_Sendrecv(
            piece, leaves, MPI_DOUBLE, leaves ? to : MPI_PROC_NULL, RING_TAG,
            ring->bounce, enters, MPI_DOUBLE, enters ? from : MPI_PROC_NULL,
            RING_TAG, ring->comm, MPI_STATUS_IGNORE);
        if (checked(code, f))
            return f->status;
        memcpy(piece, ring->bounce, sizeof(double) * (size_t)enters);
        ring->messages += leaves > 0;
        ring->bytes += (int64_t)sizeof(double) * leaves;
    }
    return PEIGH_OK;
}

peigh_status ring_swap(struct ring *ring, int partner, const double *out,
                       int64_t out_count, double *in, int64_t in_count,
                       struct failure *f)
{
    return checked(MPI_Sendrecv(out, (int)out_count, MPI_DOUBLE, partner,
                                RING_TAG, in, (int)in_count, MPI_DOUBLE,
                                partner, RING_TAG, ring->comm,
                                MPI_STATUS_IGNORE), f);
}

static peigh_status reduce(struct ring *ring, void *x, int count,
                           MPI_Datatype type, MPI_Op op, struct failure *f)
{
    return checked(MPI_Allreduce(MPI_IN_PLACE, x, count, type, op,
                                 ring->comm), f);
}

peigh_status ring_sum_int64(struct ring *ring, int64_t *x, int count,
                            struct failure *f)
{
    return reduce(ring, x, count, MPI_INT64_T, MPI_SUM, f);
}

peigh_status ring_max_int64(struct ring *ring, int64_t *x, int count,
                            struct failure *f)
{
    return reduce(ring, x, count, MPI_INT64_T, MPI_MAX, f);
}

peigh_status ring_max_double(struct ring *ring, double *x, int count,
                             struct failure *f)
{
    return reduce(ring, x, count, MPI_DOUBLE, MPI_MAX, f);
}

peigh_status ring_max_before(struct ring *ring, double *x, struct failure *f)
{
    double before = -INFINITY;
    peigh_status status = checked(MPI_Exscan(x, &before, 1, MPI_DOUBLE, MPI_MAX,
                                             ring->comm), f);
    *x = ring->rank > 0 ? before : -INFINITY; /* rank 0's is undefined */
    return status;
}

peigh_status ring_sum_double(struct ring *ring, double *x, int count,
                             struct failure *f)
{
    return reduce(ring, x, count, MPI_DOUBLE, MPI_SUM, f);
}

peigh_status ring_bcast(struct ring *ring, double *x, int count, int root,
                        struct failure *f)
{
    return checked(MPI_Bcast(x, count, MPI_DOUBLE, root, ring->comm), f);
}

peigh_status ring_bcast_int64(struct ring *ring, int64_t *x, int count,
                              int root, struct failure *f)
{
    return checked(MPI_Bcast(x, count, MPI_INT64_T, root, ring->comm), f);
}
