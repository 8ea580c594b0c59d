/* The whole spectrum on every rank, from the parts that a solve leaves. */
#include "arguments.h"

#include <string.h>

/* One rank's values to all, in messages of bounded length. */
static peigh_status share_values(struct ring *ring, double *values,
                                 int64_t count, int owner, struct failure *f)
{
    const int64_t most = 1 << 16;
    for (int64_t k = 0; k < count; k += most) {
        int64_t length = count - k < most ? count - k : most;
        if (ring_bcast(ring, values + k, (int)length, owner, f))
            return f->status;
    }
    return PEIGH_OK;
}

peigh_status peigh_gather_values(const peigh_layout *layout,
                                 const double *values, double *all,
                                 MPI_Comm comm)
{
    const peigh_options same = {.block = layout->block, .max_sweeps = 1};
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    if (ring_open(&ring, comm, &f) ||
        arguments_check(&ring, layout, &same, values, all, &f))
        goto cleanup;
    for (int rank = 0; rank < ring.ranks && !failed(&f); rank++) {
        peigh_layout theirs;
        peigh_layout_for(layout->n, rank, layout->ranks, &same, &theirs);
        double *part = all + theirs.first;
        if (rank == ring.rank)
            memcpy(part, values, sizeof *part * (size_t)theirs.count);
        share_values(&ring, part, theirs.count, rank, &f);
    }
cleanup:
    ring_close(&ring);
    return f.status;
}
