/* Who meets whom, and which block goes where.  Integers only; see
 * schedule.c. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "layout.h"

/* One rank's view of the odd-even round robin. */
struct schedule {
    struct blocks blocks;
    struct share share;
    int rank;
};

struct schedule schedule_of(int64_t n, int64_t block, int rank, int ranks);

/* A block in the rank's memory. */
struct seat {
    int64_t home; /* the slot where the block started; its columns' number */
    int64_t cell; /* where it lies: columns cell * widest and on */
};

/* The two blocks of a meeting, by home. */
struct meeting {
    struct seat low, high; /* low.home < high.home */
};

/* Blocks in the rank's memory: 2 * share.pairs, at every step. */
int64_t schedule_seats(const struct schedule *s);

/* Seat number i = 0 .. seats-1, in the order of the slots, at step t. */
struct seat schedule_seat(const struct schedule *s, int64_t t, int64_t i);

/* Meeting number k = 0 .. share.pairs-1 of the rank in step t; false if the
 * two slots do not meet (the ends of the line in odd steps). */
bool schedule_meeting(const struct schedule *s, int64_t t, int64_t k,
                      struct meeting *meeting);

/* The message after step t, which brings about the arrangement of step t+1:
 * the block in `cell` leaves for rank `to`, one from rank `from` takes its
 * cell.  False if there is none (one active rank, or this one idle). */
struct passage {
    int to, from;
    int64_t home_out, home_in;
    int64_t cell;
};

bool schedule_passage(const struct schedule *s, int64_t t,
                      struct passage *passage);

#endif
