/* An HDF5 file with room for results.
 *
 * Rank 0 makes the file: contiguous datasets that are allocated at once and
 * filled with nothing.  HDF5 tells where in the file their numbers belong
 * (H5Dget_offset is there for that), and when it has closed the file every
 * rank writes its own numbers there by MPI-IO, as for other formats: no
 * collective can hang, and whoever fails says so afterwards. */
#include "hdf5_file.h"

#include <hdf5.h>
#include <sys/stat.h>

/* The first complaint on HDF5's stack, from the innermost call. */
static herr_t innermost(unsigned n, const H5E_error2_t *error, void *text)
{
    (void)n;
    *(const char **)text = error->desc;
    return 1; /* stop */
}

peigh_status hdf5_fail(const char *what, struct failure *f)
{
    const char *text = "unknown reason";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, (void *)&text);
    return fail(f, PEIGH_ERR_IO, "%.330s: HDF5: %.150s", what, text);
}

peigh_status hdf5_check(const char *name, struct failure *f)
{
    (void)name;
    return f->status;
}

/* The creation properties: room at once, nothing written into it. */
static hid_t room_at_once(void)
{
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    if (plist >= 0) {
        H5Pset_layout(plist, H5D_CONTIGUOUS);
        H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
    }
    return plist;
}

static bool create_dataset(hid_t file, struct hdf5_dataset *set)
{
    hsize_t dims[2] = {(hsize_t)set->rows, (hsize_t)set->columns};
    hid_t space = H5Screate_simple(set->columns < 0 ? 1 : 2, dims, NULL);
    hid_t room = room_at_once(), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t dataset = H5Dcreate2(file, set->name, H5T_NATIVE_DOUBLE, space,
                               links, room, H5P_DEFAULT);
    haddr_t offset = dataset >= 0 ? H5Dget_offset(dataset) : HADDR_UNDEF;
    bool empty = set->rows == 0 || set->columns == 0;
    bool good = dataset >= 0 && (empty || offset != HADDR_UNDEF);
    set->offset = empty || !good ? 0 : (int64_t)offset;
    if (dataset >= 0)
        good = H5Dclose(dataset) >= 0 && good;
    H5Pclose(links);
    H5Pclose(room);
    H5Sclose(space);
    return good;
}

peigh_status hdf5_create(const char *path, const char *shown,
                         struct hdf5_dataset *sets, int count, int64_t *size,
                         struct failure *f)
{
    char what[PEIGH_MESSAGE_MAX];
    struct stat now;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print */
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0;
    snprintf(what, sizeof what, "cannot write %.300s", shown);
    if (!good)
        hdf5_fail(what, f);
    for (int k = 0; k < count && good; k++)
        if (!(good = create_dataset(file, &sets[k])))
            hdf5_fail(what, f);
    if (file >= 0 && H5Fclose(file) < 0)
        hdf5_fail(what, f);
    if (!failed(f) && stat(path, &now) == 0)
        *size = (int64_t)now.st_size;
    return f->status;
}
