/* How much memory the process has. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include <stdint.h>

/* The number after "NAME:" in a file of /proc, in bytes; -1: none. */
int64_t proc_bytes(const char *path, const char *name);

/* Such a number of this process, "VmRSS" or "VmSize"; 0 if unknown. */
int64_t process_bytes(const char *name);

/* Peak resident memory of this process, bytes; 0 if unknown. */
int64_t resident_peak(void);

#endif
