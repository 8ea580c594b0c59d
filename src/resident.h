/* How much memory the process has. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include <stdint.h>

/* Peak resident memory of this process, bytes; 0 if unknown. */
int64_t resident_peak(void);

#endif
