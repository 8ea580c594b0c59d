/* When a checkpoint is wanted.
 *
 * A signal may reach one rank or all of them, and never all at the same point
 * of the work; clocks differ, too.  So ranks agree, by the maximum of what
 * each has noticed, a few times a second: a reduction of three integers, which
 * costs next to nothing at this rate.  Between two of them are as many calls
 * as the last ones took to fill the interval, a number that all ranks compute
 * from what they have agreed on.
 *
 * SIGTERM or SIGINT a second time ends the program at once: for a user whose
 * patience ends.  Launchers may send one and the same signal twice, directly
 * and by way of another process, so it counts only when a second later. */
#include "interrupt.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* Open MPI's mpirun kills one second after the signal that it passes on. */
static const double agree_seconds = 0.2;

/* A first guess of how many calls that is may be wrong by any factor; it
 * approaches by factors of two. */
enum { GROWTH = 2 };

enum { IMPATIENT_SECONDS = 1 };

static volatile sig_atomic_t wants_checkpoint, wants_stop;
static struct timespec first_stop;

static void note_checkpoint(int signal)
{
    (void)signal;
    wants_checkpoint = 1;
}

/* All that is called here may be called in a handler. */
static void note_stop(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!wants_stop) {
        first_stop = now;
        wants_stop = number;
        return;
    }
    double waited = (double)(now.tv_sec - first_stop.tv_sec) +
                    1e-9 * (double)(now.tv_nsec - first_stop.tv_nsec);
    if (waited >= IMPATIENT_SECONDS) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART; /* MPI's system calls are not disturbed */
    sigaction(number, &action, NULL);
}

static void handle_all(void (*checkpoint)(int), void (*stop)(int))
{
    handle(SIGUSR1, checkpoint);
    handle(SIGTERM, stop);
    handle(SIGINT, stop);
}

void interrupt_start(struct interrupt *i, double every)
{
    double now = MPI_Wtime();
    *i = (struct interrupt){.every = every, .last = now, .agreed = now,
                            .gap = 1};
    handle_all(note_checkpoint, note_stop);
}

void interrupt_end(void)
{
    handle_all(SIG_IGN, SIG_DFL); /* a late SIGUSR1 is no reason to die */
}

enum wish interrupt_wish(struct interrupt *i, struct ring *ring,
                         struct failure *f)
{
    if (++i->calls < i->gap)
        return WISH_NONE;
    double now = MPI_Wtime();
    enum wish mine = wants_stop ? WISH_STOP
                     : wants_checkpoint || now - i->last >= i->every
                         ? WISH_CHECKPOINT : WISH_NONE;
    int64_t most[2] = {mine, (int64_t)(1e9 * (now - i->agreed))};
    if (ring_max_int64(ring, most, 2, f))
        return WISH_NONE;
    double interval = fmin(agree_seconds, 0.5 * i->every);
    double calls = (double)i->gap * interval / fmax(1e-9 * (double)most[1],
                                                    1e-9);
    i->gap = (int64_t)fmax(1.0, fmin(calls, (double)(GROWTH * i->gap)));
    i->calls = 0;
    i->agreed = now;
    return (enum wish)most[0];
}

void interrupt_served(struct interrupt *i)
{
    wants_checkpoint = 0;
    i->last = i->agreed = MPI_Wtime();
}

int interrupt_signal(void)
{
    return wants_stop;
}
