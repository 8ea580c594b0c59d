/* How far the reading or making of numbers is, for people. */
#ifndef PROGRESS_H
#define PROGRESS_H

struct progress {
    const char *what; /* is being done, in one word */
    double start; /* MPI_Wtime at the start */
    double shown; /* seconds since then at the last line; 0: none yet */
};

void progress_start(struct progress *p, const char *what);

/* This part of the work is done, 0 to 1.  Prints a line when the work has
 * taken a while and the last line is old enough; p may be NULL. */
void progress_show(struct progress *p, double part);

#endif
