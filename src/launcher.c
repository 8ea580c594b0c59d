#include "launcher.h"

#include <stdlib.h>

/* A launcher that cannot talk to this MPI starts P programs that each believe
 * to be alone.  What launchers say they have started: */
static const struct {
    const char *variable, *advice;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "is mpirun of another Open MPI in the PATH?"},
    {"PMI_SIZE", "use the mpirun of the MPI that peigh was built with"},
    {"SLURM_STEP_NUM_TASKS", "use srun --mpi=pmix"},
};

peigh_status launcher_check(const struct ring *ring, struct failure *f)
{
    for (size_t k = 0; k < sizeof launchers / sizeof *launchers; k++) {
        const char *text = getenv(launchers[k].variable);
        long started = text ? strtol(text, NULL, 10) : 0;
        if (started == ring->ranks)
            return PEIGH_OK; /* and later ones speak of something else */
        if (started > 1 && ring->ranks == 1)
            return fail(f, PEIGH_ERR_MPI, "%ld ranks were started (%s) but "
                        "MPI sees one each: %s", started,
                        launchers[k].variable, launchers[k].advice);
    }
    return PEIGH_OK;
}
