#include "resident.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { KIB = 1024 };

int64_t proc_bytes(const char *path, const char *name)
{
    char line[256];
    long long kib = -1;
    size_t length = strlen(name);
    FILE *file = fopen(path, "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            sscanf(line + length + 1, "%lld", &kib);
    if (file)
        fclose(file);
    return kib < 0 ? -1 : kib * KIB;
}

int64_t process_bytes(const char *name)
{
    int64_t bytes = proc_bytes("/proc/self/status", name);
    return bytes < 0 ? 0 : bytes;
}

/* VmHWM where there is /proc: what getrusage reports begins with the size of
 * the program that started this one. */
int64_t resident_peak(void)
{
    int64_t bytes = process_bytes("VmHWM");
    struct rusage usage;
    if (bytes > 0)
        return bytes;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_maxrss * KIB;
}
