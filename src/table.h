/* A table of numbers in a .npy file, read by rectangles: points, vectors,
 * weights, data.  Every rank opens it for itself; what it takes does not
 * depend on the size of the table.  See table.c. */
#ifndef TABLE_H
#define TABLE_H

#include "source_binary.h"

struct table {
    char name[PEIGH_MESSAGE_MAX]; /* for messages; no name: not open */
    int64_t rows, columns;
    struct binary binary;
    int fd;
    unsigned char *bytes; /* as read from the file ... */
    double *numbers;      /* ... and what they mean */
};

/* Bytes of a table's two buffers. */
enum { TABLE_BUFFER = 2 * (64 << 10) };

/* Open FILE.npy: 2-D, or 1-D for a single column; float64 or float32, either
 * order.  Close it after a failure, too. */
peigh_status table_open(struct table *t, const char *path, struct failure *f);

void table_close(struct table *t);

/* Rows i0 .. i1 - 1 of columns j0 .. j1 - 1: entry (i, j) goes to
 * x[(i - i0) + (j - j0) * ld].  One that is not finite is a failure that
 * names it. */
peigh_status table_read(const struct table *t, int64_t i0, int64_t i1,
                        int64_t j0, int64_t j1, double *x, int64_t ld,
                        struct failure *f);

/* Fail unless b has as many columns (rows) as a. */
peigh_status table_same_columns(const struct table *a, const struct table *b,
                                struct failure *f);
peigh_status table_same_rows(const struct table *a, const struct table *b,
                             struct failure *f);

#endif
