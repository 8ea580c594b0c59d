/* Result files: eigenvalues as .npy or .txt, eigenvectors as .npy.  A file
 * appears under its name only when it is complete; until then, and after any
 * failure, a file that was there before stays as it was. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "ring.h"

#include <stdio.h>

/* Is the ending of the name one that can be written? */
bool output_values_name_ok(const char *path);
bool output_vectors_name_ok(const char *path);

/* Can a file of this name be written, as far as can be told beforehand?
 * Local; for rank 0, before hours of work. */
peigh_status output_check(const char *path, struct failure *f);

/* What rank 0 prints.  Collective. */
peigh_status write_text(struct ring *ring, const char *path,
                        void (*print)(FILE *stream, const void *what),
                        const void *what, struct failure *f);

/* The whole spectrum, ascending.  .npy: one dimension, float64; .txt: one
 * number a line, with the 17 digits that give back the same bits.
 * Collective; path the same on all ranks. */
peigh_status write_values(struct ring *ring, const peigh_layout *layout,
                          const double *values, const char *path,
                          struct failure *f);

/* n x n, float64, Fortran order: column j is eigenvector j.  z: this rank's
 * columns, of stride layout->lda.  Every rank writes its own, so all ranks
 * must see the same file system.  Collective. */
peigh_status write_vectors(struct ring *ring, const peigh_layout *layout,
                           const double *z, const char *path,
                           struct failure *f);

#endif
