#include "launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#ifdef OPEN_MPI
bool launcher_is_blind(const char *program)
{
    static const char *const sees[] = {"PMIX_NAMESPACE", "PMI_FD", "PMI_RANK",
                                       "OMPI_COMM_WORLD_SIZE"};
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    const char *task = getenv("SLURM_PROCID");
    if (!tasks || !task || strtol(tasks, NULL, 10) < 2)
        return false;
    for (size_t k = 0; k < sizeof sees / sizeof *sees; k++)
        if (getenv(sees[k]))
            return false;
    if (strcmp(task, "0") == 0)
        fprintf(stderr, "%s: %s tasks were started by srun but MPI cannot see "
                "them: use srun --mpi=pmix\n", program, tasks);
    return true;
}
#else
bool launcher_is_blind(const char *program)
{
    (void)program;
    return false;
}
#endif
