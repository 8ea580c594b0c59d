/* Ranks that share cores must not spin while they wait for messages: 16 ranks
 * on 2 cores have taken 10 s instead of 0.08 s under `srun --overcommit`.
 * Open MPI yields by itself where its own mpirun sees that there are too few
 * slots; other launchers do not tell it.  It has to be asked before MPI_Init,
 * when only the environment says how many ranks a node has. */
#include "idle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char yield_parameter[] = "OMPI_MCA_mpi_yield_when_idle";

/* The ranks of this node by the first variable that tells; SLURM's is a list
 * such as 16(x2),4, of which the first number will do. */
static long ranks_of_node(void)
{
    static const char *const variable[] = {
        "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
        "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"};
    for (size_t k = 0; k < sizeof variable / sizeof *variable; k++) {
        const char *text = getenv(variable[k]);
        if (text)
            return strtol(text, NULL, 10);
    }
    return 1;
}

bool yield_when_idle(void)
{
    const char *said = getenv(yield_parameter);
    if (said)
        return strcmp(said, "0") != 0 && strcmp(said, "false") != 0;
    if (ranks_of_node() <= sysconf(_SC_NPROCESSORS_ONLN))
        return false;
    return setenv(yield_parameter, "1", 0) == 0;
}
