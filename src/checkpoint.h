/* The file that a solve can be taken up from, on any number of ranks; see
 * checkpoint.c. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "seam.h"

/* What a checkpoint belongs to: the same problem, solved in the same way. */
struct origin {
    const peigh_layout *layout;
    const peigh_options *options;
    uint64_t matrix; /* checkpoint_fingerprint */
};

/* Bytes of a file. */
int64_t checkpoint_bytes(const peigh_layout *layout);

/* A number that tells the matrix in these columns, as far as uplo says that
 * it is read, from others; the same on any number of ranks.  Collective. */
peigh_status checkpoint_fingerprint(struct ring *ring,
                                    const peigh_layout *layout,
                                    peigh_uplo uplo, const double *a,
                                    uint64_t *fingerprint, struct failure *f);

/* Write the columns and the state.  What is under the name is kept as `old`
 * (NULL: replaced) once the new file is whole and on the disk.  Collective. */
peigh_status checkpoint_write(const struct origin *origin, const char *path,
                              const char *old, struct ring *ring,
                              const struct cells *cells,
                              const struct state *state, struct failure *f);

/* Read them back.  Damaged, or of another origin: a failure that says how.
 * The columns are undefined then.  Collective. */
peigh_status checkpoint_read(const struct origin *origin, const char *path,
                             struct ring *ring, const struct cells *cells,
                             struct state *state, struct failure *f);

/* Is there no file of this name, or one that a checkpoint may replace?
 * Local; for rank 0. */
peigh_status checkpoint_name_check(const char *path, struct failure *f);

#endif
