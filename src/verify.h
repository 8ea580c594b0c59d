/* What a run is checked against: residual and orthogonality of its result,
 * and ScaLAPACK's solvers.  Collective; every rank gets the same numbers. */
#ifndef VERIFY_H
#define VERIFY_H

#include "matrix.h"
#include "ring.h"

struct verification {
    double residual;       /* max_j ||A z_j - lambda_j z_j|| / (n eps ||A||) */
    double orthogonality;  /* ||Z^T Z - I||_F / (n eps) */
    double known_error;    /* max_j |lambda_j - exact_j| / (n eps ||A||);
                            * NaN where no closed form is known */
    bool ascending;        /* lambda_0 <= lambda_1 <= ... across all ranks */
    int64_t bytes;         /* memory the check took on the largest rank */
    double seconds;
};

/* z: this rank's eigenvectors (layout->count columns of stride layout->lda),
 * values: its eigenvalues.  ||A|| is max |lambda|, or 1 if that is 0; a
 * matrix other than zero with zero eigenvalues only fails. */
peigh_status verify_result(struct ring *ring, const peigh_layout *layout,
                           const struct matrix *matrix, const double *z,
                           const double *values, struct verification *v,
                           struct failure *f);

/* Bytes per rank that verify_result will take, largest over ranks.
 * mirrored: entries are read as their mirror images (matrix_is_mirrored). */
int64_t verify_bytes(const peigh_layout *layout, bool random_access,
                     bool mirrored);

/* The solvers of ScaLAPACK that a run can be compared with. */
enum peer { PDSYEV, PDSYEVD, PDSYEVR, PEERS };
const char *peer_name(enum peer peer);

struct comparison {
    enum peer peer;
    double seconds;                   /* the peer itself, slowest rank */
    double max_eigenvalue_difference; /* max_j |lambda_j - theirs_j| */
    int64_t bytes;                    /* a, z and work on the largest rank */
    int rows, columns;                /* process grid */
};

/* Bytes per rank that compare_peer will take, ScaLAPACK's own buffers
 * included, largest over ranks; INT64_MAX where the peer, which counts in 32
 * bits, cannot solve this order on so many ranks. */
int64_t compare_bytes(const peigh_layout *layout, enum peer peer,
                      bool random_access, bool mirrored);

/* Solve the same matrix with a peer on its own 2-D block-cyclic copy over a
 * grid as square as the number of ranks allows.
 *
 *   values  this rank's part of our eigenvalues
 *   theirs  NULL, or n doubles for all of the peer's, on every rank */
peigh_status compare_peer(struct ring *ring, const peigh_layout *layout,
                          const struct matrix *matrix, const double *values,
                          enum peer peer, double *theirs,
                          struct comparison *c, struct failure *f);

#endif
