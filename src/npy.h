/* The header of a .npy file, of any shape; see source_npy.c. */
#ifndef NPY_H
#define NPY_H

#include "source_binary.h"

struct npy_header {
    struct binary binary; /* where the entries are, and what they look like */
    int dims;
    int64_t shape[2];     /* the first two, as far as there are so many */
};

/* Read the header of an open file of `size` bytes; name: for messages. */
peigh_status npy_read_header(int fd, int64_t size, const char *name,
                             struct npy_header *header, struct failure *f);

/* Fail unless the file ends with its last entry. */
peigh_status npy_check_size(const struct npy_header *header, int64_t entries,
                            int64_t size, const char *name,
                            struct failure *f);

#endif
