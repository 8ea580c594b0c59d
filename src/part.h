/* A result file on its way.  It appears under its name only when it is
 * complete; until then, and after any failure, a file that was there before
 * stays as it was; see part.c. */
#ifndef PART_H
#define PART_H

#include "ring.h"

#include <stdio.h>

struct part {
    struct ring *ring;
    const char *path; /* the name it will have */
    char *name;       /* the name it has until then; the same on all ranks */
    const char *old;  /* the name that a file of its name then gets; NULL: it
                       * is replaced */
    bool exists;      /* rank 0: there is something to remove */
    FILE *stream;     /* rank 0: to write from the start on; else NULL */
};

/* Create the partial file.  Collective; close it after a failure, too. */
peigh_status part_open(struct part *part, struct ring *ring, const char *path,
                       struct failure *f);

/* The same under a fixed partial name, PATH.part: what a run that was killed
 * has left of it is replaced. */
peigh_status part_open_again(struct part *part, struct ring *ring,
                             const char *path, struct failure *f);

/* Rank 0: the stream is not needed any more. */
void part_close_stream(struct part *part, struct failure *f);

/* The file gets its name if nothing failed and it has this many bytes (-1:
 * however many); what it replaces may be kept as part->old.  Collective. */
peigh_status part_close(struct part *part, int64_t bytes, struct failure *f);

/* Write doubles at an offset in bytes, in pieces: on any rank, between
 * part_join and part_leave.  Local. */
MPI_File part_join(const struct part *part, struct failure *f);
void part_write(const struct part *part, MPI_File file, int64_t offset,
                const double *x, int64_t count, struct failure *f);
void part_leave(const struct part *part, MPI_File *file, struct failure *f);

/* Can a file of this name be written, as far as can be told beforehand?
 * Local; for rank 0, before hours of work. */
peigh_status output_check(const char *path, struct failure *f);

/* Do both names mean one file, whether it exists or not?  Local. */
bool output_same(const char *a, const char *b);

/* "cannot write PATH: REASON", and the same with MPI's reason. */
peigh_status fail_io(struct failure *f, const char *path, const char *reason);
peigh_status fail_mpi_io(struct failure *f, const char *path, int code);

#endif
