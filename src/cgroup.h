/* Memory limits of control groups (Linux), version 1 and 2. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdint.h>

enum { CGROUPS_MAX = 16 }; /* levels with a limit that are looked at */

/* One level with a limit; all processes below it share it. */
struct cgroup {
    char path[128]; /* its folder, or the end of that */
    int64_t id;     /* equal for two processes in the same group */
    int64_t limit, left; /* bytes; left: not used, or used for files that can
                          * be given up */
};

/* The levels above this process that have a limit, from the process up to the
 * root; how many.  proc: "/proc/self", another folder in tests. */
int cgroup_levels(const char *proc, struct cgroup level[CGROUPS_MAX]);

#endif
