/* Where a process stands in the tree of control groups is told by two files:
 *
 *     /proc/self/cgroup      4:memory:/slurm/job_7/step_0     version 1
 *                            0::/slurm/job_7/step_0           version 2
 *     /proc/self/mountinfo   ... ROOT MOUNT ... - TYPE DEVICE OPTIONS
 *
 * The folder is MOUNT and the path without ROOT, which is more than "/" where
 * a container sees only a part of the tree.  Each level up to MOUNT may have a
 * limit, and what all processes below it have taken together counts. */
#include "cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Version 1 says "no limit" by the largest multiple of a page. */
static const int64_t unlimited = INT64_C(1) << 60;

/* The files of a level. */
static const struct files {
    const char *limit[2], *used, *inactive, *active;
} version1 = {{"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes",
              "total_inactive_file", "total_active_file"},
  version2 = {{"memory.max", "memory.high"}, "memory.current",
              "inactive_file", "active_file"};

struct place {
    const struct files *files;
    char mount[PATH_MAX], folder[PATH_MAX];
};

static FILE *open_in(const char *folder, const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "r");
}

/* The number in a file, INT64_MAX if there is none: "max", or no such file. */
static int64_t read_number(const char *folder, const char *name)
{
    FILE *file = open_in(folder, name);
    long long x = -1;
    if (!file)
        return INT64_MAX;
    int found = fscanf(file, "%lld", &x);
    fclose(file);
    return found == 1 && x >= 0 ? (int64_t)x : INT64_MAX;
}

/* The number after a word of memory.stat, 0 if it is not there. */
static int64_t read_stat(const char *folder, const char *word)
{
    FILE *file = open_in(folder, "memory.stat");
    char name[64];
    long long x, found = 0;
    while (file && fscanf(file, "%63s %lld", name, &x) == 2)
        if (strcmp(name, word) == 0)
            found = x;
    if (file)
        fclose(file);
    return (int64_t)found;
}

/* Is `word` one of a list with commas? */
static bool listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') &&
            (at[length] == 0 || at[length] == ','))
            return true;
    return false;
}

/* The path of this process in the memory controller's tree. */
static bool find_path(const char *proc, bool first, char path[PATH_MAX])
{
    char line[PATH_MAX + 256];
    FILE *file = open_in(proc, "cgroup");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at)
            continue;
        *at++ = 0;
        at[strcspn(at, "\n")] = 0;
        found = first ? listed(controllers + 1, "memory")
                      : controllers[1] == 0;
        if (found)
            snprintf(path, PATH_MAX, "%s", at);
    }
    if (file)
        fclose(file);
    return found;
}

/* Where that tree is mounted, and which part of it. */
static bool find_mount(const char *proc, bool first, char root[PATH_MAX],
                       char mount[PATH_MAX])
{
    char line[3 * PATH_MAX], type[64], options[1024];
    FILE *file = open_in(proc, "mountinfo");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");
        found = rest &&
                sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) == 2 &&
                sscanf(rest, " - %63s %*s %1023s", type, options) == 2 &&
                (first ? !strcmp(type, "cgroup") && listed(options, "memory")
                       : !strcmp(type, "cgroup2"));
    }
    if (file)
        fclose(file);
    return found;
}

static bool find_place(const char *proc, bool first, struct place *place)
{
    char path[PATH_MAX], root[PATH_MAX];
    struct stat status;
    if (!find_path(proc, first, path) ||
        !find_mount(proc, first, root, place->mount))
        return false;
    size_t length = strcmp(root, "/") ? strlen(root) : 0;
    bool below = strncmp(path, root, length) == 0;
    place->files = first ? &version1 : &version2;
    int used = snprintf(place->folder, sizeof place->folder, "%s%s",
                        place->mount, below ? path + length : "");
    /* A path from outside of the container: its own root is what it sees. */
    if (used >= (int)sizeof place->folder || stat(place->folder, &status))
        strcpy(place->folder, place->mount);
    return true;
}

/* Does the folder of the place have a limit? */
static bool read_level(const struct place *place, struct cgroup *level)
{
    const struct files *files = place->files;
    struct stat status;
    int64_t limit = INT64_MAX;
    for (int k = 0; k < 2 && files->limit[k]; k++) {
        int64_t x = read_number(place->folder, files->limit[k]);
        limit = x < limit ? x : limit;
    }
    int64_t used = read_number(place->folder, files->used);
    if (limit >= unlimited || used == INT64_MAX ||
        stat(place->folder, &status))
        return false;
    used -= read_stat(place->folder, files->inactive) +
            read_stat(place->folder, files->active);
    size_t length = strlen(place->folder), most = sizeof level->path - 1;
    snprintf(level->path, sizeof level->path, "%s",
             place->folder + (length > most ? length - most : 0));
    level->id = (int64_t)status.st_dev << 40 ^ (int64_t)status.st_ino;
    level->limit = limit;
    level->left = used < 0 ? limit : used > limit ? 0 : limit - used;
    return true;
}

int cgroup_levels(const char *proc, struct cgroup level[CGROUPS_MAX])
{
    struct place place;
    int count = 0;
    for (int first = 0; first <= 1; first++) { /* version 2, 1; or both */
        if (!find_place(proc, first, &place))
            continue;
        size_t stop = strlen(place.mount);
        while (count < CGROUPS_MAX) {
            count += read_level(&place, &level[count]);
            char *slash = strrchr(place.folder, '/');
            if (strlen(place.folder) <= stop || !slash)
                break;
            *slash = 0; /* one level up */
        }
    }
    return count;
}
