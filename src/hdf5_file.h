/* HDF5 files.  Without the library (see Makefile) names are understood all the
 * same, and everything else is a failure that says so: hdf5_none.c. */
#ifndef HDF5_FILE_H
#define HDF5_FILE_H

#include "source.h"

#include <limits.h>

/* FILE.h5:/path/of/dataset, taken apart. */
struct hdf5_name {
    char file[PATH_MAX];
    const char *dataset; /* points into the name; NULL: there is none */
};

/* Is it the name of an HDF5 file (.h5 or .hdf5), with a dataset or without? */
bool hdf5_is_name(const char *text);

/* The same, and with a dataset: take it apart. */
bool hdf5_split(const char *text, struct hdf5_name *name);

/* Can datasets of these names be in one file?  No path may lead through the
 * other; nor may there be empty parts. */
bool hdf5_dataset_ok(const char *dataset);
bool hdf5_datasets_apart(const char *a, const char *b);

/* Fail if there is no HDF5 here. */
peigh_status hdf5_check(const char *name, struct failure *f);

/* A dataset of doubles to be made: columns -1 for a vector of `rows`. */
struct hdf5_dataset {
    const char *name;
    int64_t rows, columns;
    int64_t offset; /* out: of the first number in the file; 0 if empty */
};

/* Make an HDF5 file (over what is there) with room for datasets whose numbers
 * are written to their offsets afterwards; *size: of the whole file.  Local.
 * shown: the name for messages. */
peigh_status hdf5_create(const char *path, const char *shown,
                         struct hdf5_dataset *sets, int count, int64_t *size,
                         struct failure *f);

/* Add why HDF5 failed to the message that begins with `what`. */
peigh_status hdf5_fail(const char *what, struct failure *f);

#endif
