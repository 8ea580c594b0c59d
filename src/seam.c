/* The state of a solve, for all ranks together.
 *
 * Rotations and meetings are summed: the total goes to rank 0, on however many
 * ranks the solve goes on.  Times and messages are those of the slowest and
 * the busiest rank: all ranks start with the largest so far, so the report of
 * a solve in parts adds up the largest of each part. */
#include "seam.h"

peigh_status state_reduce(struct state *state, struct ring *ring,
                          struct failure *f)
{
    struct pair_work *work = &state->work;
    double *most[] = {&work->off_norm, &work->seconds.gram,
                      &work->seconds.rotate, &work->seconds.update,
                      &state->exchange_seconds, &state->sweep_seconds,
                      &state->solve_seconds, &state->report.seconds.setup};
    enum { MOST = sizeof most / sizeof *most };
    double x[MOST];
    int64_t sums[2] = {work->rotations, work->moved};
    int64_t sent[2] = {state->messages, state->bytes};
    for (int k = 0; k < MOST; k++)
        x[k] = *most[k];
    if (ring_max_double(ring, x, MOST, f) || ring_sum_int64(ring, sums, 2, f) ||
        ring_max_int64(ring, sent, 2, f))
        return f->status;
    for (int k = 0; k < MOST; k++)
        *most[k] = x[k];
    work->rotations = sums[0];
    work->moved = sums[1];
    state->messages = sent[0];
    state->bytes = sent[1];
    return PEIGH_OK;
}

void state_share(struct state *state, int rank)
{
    if (rank != 0)
        state->work.rotations = state->work.moved = 0;
}
