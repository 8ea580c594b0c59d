/* An n x n matrix whose entries lie one after another in a file; see
 * source_binary.c. */
#ifndef SOURCE_BINARY_H
#define SOURCE_BINARY_H

#include "source.h"

struct binary {
    int64_t data; /* offset of the first entry, bytes */
    int item;     /* bytes per entry: 8, a double, or 4, a float */
    bool swap;    /* the file's byte order is not the machine's */
    bool by_rows; /* C order; else by columns, Fortran order */
};

/* Does "little" mean the machine's own byte order? */
bool little_endian_machine(void);

/* Bytes of a file with n * n entries. */
int64_t binary_size(const struct binary *binary, int64_t n);

/* The entry whose bytes these are. */
double binary_decode(const struct binary *binary, const unsigned char *bytes);

/* Complete a source whose n and name are set: opens the file for reading the
 * entries.  On failure the source needs no close. */
peigh_status binary_open(struct source *source, const char *path,
                         const struct binary *binary, struct failure *f);

#endif
