/* Where there is no HDF5 library: what is asked of it fails and says why. */
#include "hdf5_file.h"

peigh_status hdf5_check(const char *name, struct failure *f)
{
    return fail(f, PEIGH_ERR_IO, "%.300s: peigh was built without HDF5 "
                "(Debian: libhdf5-openmpi-dev; then make clean, make)", name);
}

peigh_status source_open_hdf5(struct source *source, const char *name,
                              struct failure *f)
{
    (void)source;
    return hdf5_check(name, f);
}

peigh_status hdf5_create(const char *path, const char *shown,
                         struct hdf5_dataset *sets, int count, int64_t *size,
                         struct failure *f)
{
    (void)path, (void)sets, (void)count, (void)size;
    return hdf5_check(shown, f);
}
