/* How far a long stage is: a line on standard output, as for a
 * sweep, but only where it takes long. */
#include "progress.h"

#include <mpi.h>
#include <stdio.h>

static const double quiet_seconds = 2.0; /* before the first line ... */
static const double between_lines = 1.0; /* ... and between two */

void progress_start(struct progress *p, const char *what)
{
    *p = (struct progress){.what = what, .start = MPI_Wtime()};
}

void progress_show(struct progress *p, double part)
{
    if (p == NULL || !(part > 0.0))
        return;
    double now = MPI_Wtime() - p->start;
    if (now < quiet_seconds || now < p->shown + between_lines)
        return;
    p->shown = now;
    printf("%-8s %3.0f %%   %8.3f s   %8.3f s left (estimate)\n",
           p->what, 100.0 * part, now, now * (1.0 - part) / part);
    fflush(stdout);
}
