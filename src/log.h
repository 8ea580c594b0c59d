/* The log of a run: JSON lines that are there as soon as they are true; see
 * log.c. */
#ifndef LOG_H
#define LOG_H

#include "report.h"
#include "seam.h"

struct log {
    const char *path; /* NULL: no log is wanted */
    FILE *stream;     /* on the rank that writes it, else NULL */
    double start;     /* MPI_Wtime of the run */
};

/* Begin a log, or go on with one.  Local, for rank 0. */
peigh_status log_open(struct log *log, const char *path, bool append,
                      double start, struct failure *f);

/* A line each.  They do nothing without a stream. */
void log_sweep(struct log *log, const peigh_sweep *sweep);
void log_checkpoint(struct log *log, const char *path,
                    const struct state *state, double seconds);
void log_report(struct log *log, const struct run *run);

/* Has it all arrived? */
peigh_status log_close(struct log *log, struct failure *f);

#endif
