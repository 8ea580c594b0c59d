/* The columns of a rank, from a source; see fill.c. */
#ifndef FILL_H
#define FILL_H

#include "matrix.h"
#include "ring.h"

/* Bytes that reading takes on a rank besides its columns: constant. */
int64_t fill_bytes(const struct source *source);

/* Read the columns of this rank into a, of which only the triangle that
 * matrix->uplo names is set where the source keeps both.  progress: NULL, or
 * who wants to know.  Collective. */
peigh_status fill_columns(struct ring *ring, const peigh_layout *layout,
                          const struct matrix *matrix, double *a,
                          struct progress *progress, struct failure *f);

#endif
