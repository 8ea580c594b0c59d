/* Result files: eigenvalues as .npy, .txt or HDF5, eigenvectors as .npy or
 * HDF5.  A file appears under its name only when it is complete; until then,
 * and after any failure, a file that was there before stays as it was. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "ring.h"

#include <stdio.h>

/* What there is to write: pairs from .. to - 1 of the ascending spectrum. */
struct result {
    struct ring *ring;
    const peigh_layout *layout;
    const double *values; /* this rank's */
    double *z;            /* its eigenvectors, stride layout->lda; may be
                           * moved about on the way, but come back */
    int64_t from, to;
};

/* Is the ending of the name one that can be written? */
bool output_values_name_ok(const char *path);
bool output_vectors_name_ok(const char *path);

/* Does none of these files replace another, or the matrix?  NULL: not there.
 * Local; for rank 0, before anything is written. */
peigh_status output_names_apart(const char *values, const char *vectors,
                                const char *text, const char *matrix,
                                struct failure *f);

/* Can it be written, as far as can be told beforehand?  Likewise. */
peigh_status output_name_writable(const char *path, struct failure *f);

/* Bytes that writing takes on a rank besides the results: constant.  NULL: not
 * written. */
int64_t output_bytes(const char *values_path, const char *vectors_path);

/* Write the eigenvalues, the eigenvectors, or both; NULL: not this one.
 *
 *     values    .npy, HDF5: one dimension, float64; .txt: one number a line,
 *               with the 17 digits that give back the same bits
 *     vectors   n x (to - from), float64: column k is eigenvector from + k
 *
 * Every rank writes its own, so all ranks must see the same file system; both
 * datasets may be in one HDF5 file.  Collective; paths are the same on all
 * ranks. */
peigh_status write_pairs(const struct result *r, const char *values_path,
                         const char *vectors_path, struct failure *f);

/* What rank 0 prints.  Collective. */
peigh_status write_text(struct ring *ring, const char *path,
                        void (*print)(FILE *stream, const void *what),
                        const void *what, struct failure *f);

#endif
