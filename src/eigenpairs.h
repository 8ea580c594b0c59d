/* The result of the sweeps, see eigenpairs.c. */
#ifndef EIGENPAIRS_H
#define EIGENPAIRS_H

#include "definite.h"

/* The columns become eigenvectors, values their eigenvalues.  tol: the cosines
 * that are left between the columns.  Collective, agreed on. */
peigh_status eigenpairs(struct ring *ring, const struct columns *c,
                        const struct definite *d, double tol, double *values,
                        struct failure *f);

#endif
