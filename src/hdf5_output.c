/* An HDF5 file with room for results.
 *
 * Rank 0 makes the file: contiguous datasets that are allocated at once and
 * filled with nothing.  HDF5 tells where in the file their numbers belong
 * (H5Dget_offset is there for that), and when it has closed the file every
 * rank writes its own numbers there by MPI-IO, as for other formats: no
 * collective can hang, and whoever fails says so afterwards.
 *
 * HDF5 1.10 does not survive a file that it cannot write to its end: closing
 * it fails, and MPI_Finalize, where HDF5 closes what is open, crashes.  So it
 * makes the file in /dev/shm, in memory, where only what it writes takes room,
 * a few pages, and those are copied to the disk, which may be full. */
#include "hdf5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BESIDES = 1 << 16, /* more than HDF5 writes besides numbers, bytes */
    COPIED = 1 << 16,  /* bytes to one copy */
};

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

/* Make the file, in memory. */
static peigh_status create_file(const char *path, struct hdf5_dataset *sets,
                                int count, const char *what,
                                struct failure *f)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print */
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0)
        return hdf5_fail(what, f);
    for (int k = 0; k < count && !failed(f); k++)
        if (!create_dataset(file, &sets[k]))
            hdf5_fail(what, f);
    if (H5Fclose(file) < 0)
        hdf5_fail(what, f);
    return f->status;
}

/* Every byte that was written to `from`; holes stay holes. */
static bool copy_written(int from, int to)
{
    static char buffer[COPIED];
    off_t at = 0, end;
    while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
        if ((end = lseek(from, at, SEEK_HOLE)) < 0)
            return false;
        while (at < end) {
            size_t want = end - at < COPIED ? (size_t)(end - at) : COPIED;
            ssize_t got = pread(from, buffer, want, at);
            if (got <= 0 || pwrite(to, buffer, (size_t)got, at) != got)
                return false;
            at += got;
        }
    }
    return errno == ENXIO; /* no more data */
}

/* The most the file can come to. */
static int64_t bound_size(const struct hdf5_dataset *sets, int count)
{
    int64_t bytes = BESIDES;
    for (int k = 0; k < count; k++)
        bytes += 8 * sets[k].rows * (sets[k].columns < 0 ? 1 : sets[k].columns);
    return bytes;
}

/* A file in memory, or at least on a disk that is not the one to write to. */
static int open_memory(char name[64])
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    int file = -1;
    for (int k = 0; k < 2 && file < 0; k++) {
        snprintf(name, 64, "%s/peigh-hdf5-XXXXXX", folders[k]);
        file = mkstemp(name);
    }
    return file;
}

peigh_status hdf5_create(const char *path, const char *shown,
                         struct hdf5_dataset *sets, int count, int64_t *size,
                         struct failure *f)
{
    char what[PEIGH_MESSAGE_MAX], name[64];
    struct stat made;
    int disk = open(path, O_WRONLY | O_CLOEXEC);
    int memory = open_memory(name);
    snprintf(what, sizeof what, "cannot write %.300s", shown);
    /* A file that may not be that long (ulimit -f) may not be so in memory. */
    if (disk < 0 || memory < 0 || ftruncate(disk, bound_size(sets, count)))
        fail(f, PEIGH_ERR_IO, "%s: %.150s", what, strerror(errno));
    else if (!create_file(name, sets, count, what, f) &&
             (fstat(memory, &made) || !copy_written(memory, disk) ||
              ftruncate(disk, made.st_size) || fsync(disk)))
        fail(f, PEIGH_ERR_IO, "%s: %.150s", what, strerror(errno));
    else
        *size = failed(f) ? 0 : (int64_t)made.st_size;
    if (disk >= 0 && close(disk))
        fail(f, PEIGH_ERR_IO, "%s: %.150s", what, strerror(errno));
    if (memory >= 0) {
        unlink(name);
        close(memory);
    }
    return f->status;
}
