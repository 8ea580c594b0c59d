#include "resident.h"

#include <stdio.h>
#include <sys/resource.h>

/* VmHWM where there is /proc: what getrusage reports begins with the size of
 * the program that started this one. */
int64_t resident_peak(void)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %lld", &kib);
    if (file)
        fclose(file);
    if (kib >= 0)
        return kib * 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_maxrss * 1024;
}
