/* Blocks in the memory of a rank.
 *
 * The caller's columns lie side by side.  During the sweeps each block has a
 * cell of its own, of the size of the widest block, because blocks of
 * neighbours may be one column wider; schedule.c says which cell.  Afterwards
 * the blocks go back to where they started, in place. */
#include "cells.h"

#include <string.h>

/* Where cell number 0, 1, ... begins. */
static double *cell(const struct cells *s, int64_t number)
{
    return s->columns->a +
           number * s->schedule->blocks.widest * s->columns->lda;
}

static void move_columns(const struct columns *c, double *to,
                         const double *from, int64_t width)
{
    if (to != from)
        memmove(to, from, sizeof(double) * (size_t)(width * c->lda));
}

/* The caller's columns lie side by side; the solver's blocks in cells of
 * equal size.  Spread them out before, from the last block on; and back. */
void cells_spread(const struct cells *s)
{
    const struct blocks *blocks = &s->schedule->blocks;
    int64_t first_slot = 2 * s->schedule->share.first_pair;
    for (int64_t i = schedule_seats(s->schedule) - 1; i >= 0; i--) {
        int64_t b = first_slot + i;
        move_columns(s->columns, cell(s, i),
                     column(s->columns,
                            block_first(blocks, b) - s->columns->first),
                     block_width(blocks, b));
    }
}

static void gather_blocks(const struct cells *s)
{
    const struct blocks *blocks = &s->schedule->blocks;
    int64_t first_slot = 2 * s->schedule->share.first_pair;
    for (int64_t i = 0; i < schedule_seats(s->schedule); i++) {
        int64_t b = first_slot + i;
        move_columns(s->columns,
                     column(s->columns,
                            block_first(blocks, b) - s->columns->first),
                     cell(s, i), block_width(blocks, b));
    }
}

static void swap_cells(const struct cells *s, int64_t i, int64_t j)
{
    double *x = cell(s, i), *y = cell(s, j);
    int64_t size = s->schedule->blocks.widest * s->columns->lda;
    for (int64_t k = 0; i != j && k < size; k++) {
        double xk = x[k];
        x[k] = y[k];
        y[k] = xk;
    }
}

/* Bring seat i into cell i, for all seats.  Cells 0 .. i-1 have been filled
 * by swapping, so what was in cell j < i is now where seat j was. */
static void order_cells(const struct cells *s, int64_t step)
{
    for (int64_t i = 0; i < schedule_seats(s->schedule); i++) {
        int64_t j = schedule_seat(s->schedule, step, i).cell;
        while (j < i)
            j = schedule_seat(s->schedule, step, j).cell;
        swap_cells(s, i, j);
    }
}

/* After an odd number of sweeps the line of blocks is reversed: exchange the
 * blocks of the slots i and M-1-i, each two ranks in the order of i. */
static peigh_status mirror_blocks(const struct cells *s, struct ring *ring,
                                  struct failure *f)
{
    const struct blocks *blocks = &s->schedule->blocks;
    int64_t last = blocks->count - 1;
    int64_t first_slot = 2 * s->schedule->share.first_pair;
    int64_t lda = s->columns->lda;
    for (int64_t i = 0; i < blocks->count / 2; i++) {
        int left = slot_owner(blocks, i, ring->ranks);
        int right = slot_owner(blocks, last - i, ring->ranks);
        bool at_left = ring->rank == left, at_right = ring->rank == right;
        int64_t left_size = lda * block_width(blocks, i);
        int64_t right_size = lda * block_width(blocks, last - i);
        if (at_left && at_right)
            swap_cells(s, i - first_slot, last - i - first_slot);
        else if (at_left)
            ring_pass(ring, cell(s, i - first_slot), right_size, right,
                      left_size, right, f);
        else if (at_right)
            ring_pass(ring, cell(s, last - i - first_slot), left_size, left,
                      right_size, left, f);
        if (failed(f))
            return f->status;
    }
    return PEIGH_OK;
}

struct block cells_block(const struct cells *s, struct seat seat)
{
    return (struct block){cell(s, seat.cell),
                          block_width(&s->schedule->blocks, seat.home)};
}

peigh_status cells_pass(const struct cells *s, struct ring *ring, int64_t t,
                        struct failure *f)
{
    struct passage p;
    const struct blocks *blocks = &s->schedule->blocks;
    int64_t lda = s->columns->lda;
    if (!schedule_passage(s->schedule, t, &p))
        return PEIGH_OK;
    return ring_pass(ring, cell(s, p.cell),
                     lda * block_width(blocks, p.home_out), p.to,
                     lda * block_width(blocks, p.home_in), p.from, f);
}

peigh_status cells_home(const struct cells *s, struct ring *ring,
                        int64_t sweeps, struct failure *f)
{
    order_cells(s, sweeps * s->schedule->blocks.count);
    if (sweeps % 2 != 0 && mirror_blocks(s, ring, f))
        return f->status;
    gather_blocks(s);
    return PEIGH_OK;
}
