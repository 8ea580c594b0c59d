/* For scripts/simulate.sh: what the program needs besides src/ to run on
 * SimGrid's MPI. */
#include "verify.h"

/* In place of src/compare.c: ScaLAPACK's libraries are bound to the MPI they
 * were compiled with. */
const char *peer_name(enum peer peer)
{
    static const char *const name[PEERS] = {
        [PDSYEV] = "pdsyev", [PDSYEVD] = "pdsyevd", [PDSYEVR] = "pdsyevr"};
    return name[peer];
}

peigh_status compare_peer(struct ring *ring, const peigh_layout *layout,
                          const struct matrix *matrix, const double *values,
                          enum peer peer, double *theirs,
                          struct comparison *c, struct failure *f)
{
    (void)ring, (void)layout, (void)matrix, (void)values, (void)theirs;
    *c = (struct comparison){.peer = peer};
    return fail(f, PEIGH_ERR_ARGUMENT, "%s is not available under simulation",
                peer_name(peer));
}

/* The linker's --wrap=peigh_solve puts this around the solve: the only two
 * barriers of a run mark it in the trace. */
peigh_status __real_peigh_solve(const peigh_layout *, double *, double *,
                                MPI_Comm, const peigh_options *,
                                peigh_report *);
peigh_status __wrap_peigh_solve(const peigh_layout *, double *, double *,
                                MPI_Comm, const peigh_options *,
                                peigh_report *);

peigh_status __wrap_peigh_solve(const peigh_layout *layout, double *a,
                                double *values, MPI_Comm comm,
                                const peigh_options *options,
                                peigh_report *report)
{
    MPI_Barrier(comm);
    peigh_status status =
        __real_peigh_solve(layout, a, values, comm, options, report);
    MPI_Barrier(comm);
    return status;
}
