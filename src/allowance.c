/* Everyone who may say how much memory a rank gets:
 *
 *     --mem                    per rank; settles it
 *     control groups           shared by the ranks in a group
 *     SLURM_MEM_PER_NODE, ...  MiB; shared by the ranks of a node
 *     ulimit -v                per rank, of address space
 *     MemAvailable             shared by the ranks of a node
 *
 * What counts is what is left: MPI, the BLAS and the program itself have taken
 * their part by now, and it is measured. */
#include "allowance.h"

#include "cgroup.h"
#include "resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MIB = 1024 * 1024 };

/* Keep the least. */
static void consider(struct allowance *a, const char *name, int64_t limit,
                     int sharers, int64_t left)
{
    if (left >= a->left)
        return;
    a->limit = limit;
    a->sharers = sharers;
    a->left = left > 0 ? left : 0;
    snprintf(a->name, sizeof a->name, "%s", name);
}

/* Each rank of the node in turn tells its groups, and everyone counts how
 * many are in its own. */
static peigh_status consider_cgroups(struct allowance *a, struct ring *node,
                                     struct failure *f)
{
    struct cgroup level[CGROUPS_MAX];
    int sharers[CGROUPS_MAX] = {0};
    int levels = cgroup_levels("/proc/self", level);
    for (int rank = 0; rank < node->ranks; rank++) {
        int64_t id[CGROUPS_MAX] = {0};
        for (int k = 0; k < levels && rank == node->rank; k++)
            id[k] = level[k].id;
        if (ring_bcast_int64(node, id, CGROUPS_MAX, rank, f))
            return f->status;
        for (int k = 0; k < levels; k++)
            for (int m = 0; m < CGROUPS_MAX; m++)
                sharers[k] += id[m] == level[k].id;
    }
    for (int k = 0; k < levels; k++) {
        char name[sizeof a->name];
        snprintf(name, sizeof name, "cgroup %.127s", level[k].path);
        consider(a, name, level[k].limit, sharers[k],
                 level[k].left / (sharers[k] > 0 ? sharers[k] : 1));
    }
    return PEIGH_OK;
}

static int64_t environment_number(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    return text ? strtoll(text, NULL, 10) : 0;
}

/* Megabytes per node, or per one of several things on it.  0 is Slurm's word
 * for all of the node. */
static void consider_slurm(struct allowance *a, int ranks)
{
    static const struct {
        const char *megabytes, *times;
    } variable[] = {{"SLURM_MEM_PER_NODE", NULL},
                    {"SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"},
                    {"SLURM_MEM_PER_GPU", "SLURM_GPUS_ON_NODE"}};
    for (int k = 0; k < 3; k++) {
        int64_t size = environment_number(variable[k].megabytes) * MIB;
        int64_t times = variable[k].times
                            ? environment_number(variable[k].times) : 1;
        if (size > 0 && times > 0)
            consider(a, variable[k].megabytes, size * times, ranks,
                     size * times / ranks - process_bytes("VmRSS"));
    }
}

static void consider_address_space(struct allowance *a)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > INT64_MAX)
        return;
    consider(a, "ulimit -v", (int64_t)limit.rlim_cur, 1,
             (int64_t)limit.rlim_cur - process_bytes("VmSize"));
}

static void consider_node(struct allowance *a, int ranks)
{
    int64_t free = proc_bytes("/proc/meminfo", "MemAvailable");
    if (free >= 0)
        consider(a, "free memory of the node", free, ranks, free / ranks);
}

peigh_status allowance_find(struct allowance *a, struct ring *ring,
                            int64_t mem, struct failure *f)
{
    struct ring node;
    *a = (struct allowance){.left = INT64_MAX};
    if (mem > 0) {
        consider(a, "--mem", mem, 1, mem - process_bytes("VmRSS"));
        return PEIGH_OK;
    }
    /* All have measured before one of them goes on and takes. */
    if (!ring_open_node(&node, ring, f) && !consider_cgroups(a, &node, f)) {
        consider_slurm(a, node.ranks);
        consider_address_space(a);
        consider_node(a, node.ranks);
    }
    ring_close(&node);
    return ring_agree(ring, f);
}
