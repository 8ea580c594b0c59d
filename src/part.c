/* Result files that are either complete or not there.
 *
 *     rank 0   creates PATH.part-PID with the header in it
 *     all      write; every count that was written is checked
 *     rank 0   checks the size of the file, renames it to PATH, and sees to
 *              it that the name, too, is on the disk
 *
 * After each line all ranks agree; on a failure rank 0 removes the partial
 * file.  POSIX calls are used where only rank 0 writes because their reasons
 * (errno) say more to a user than MPI's do. */
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SUFFIX_MAX = 32,   /* ".part-" and a process number */
    FOLDER_MAX = 4096, /* longest name of a folder */
    PIECE = 8 << 20,   /* doubles to one MPI write: 64 MiB, the count stays
                        * far from INT_MAX */
};

peigh_status fail_io(struct failure *f, const char *path, const char *reason)
{
    return fail(f, PEIGH_ERR_IO, "cannot write %.300s: %.150s", path, reason);
}

peigh_status fail_mpi_io(struct failure *f, const char *path, int code)
{
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, reason, &length);
    return fail_io(f, path, reason);
}

/* What stands under the name must be a file that may be replaced, if
 * anything. */
static void check_replaceable(const char *path, struct failure *f)
{
    struct stat old;
    if (stat(path, &old))
        return;
    if (S_ISDIR(old.st_mode))
        fail_io(f, path, strerror(EISDIR));
    else if (!S_ISREG(old.st_mode))
        fail_io(f, path, "not a regular file");
    else if (access(path, W_OK))
        fail_io(f, path, strerror(errno));
}

/* The folder of a path, with a dot behind it; false if that is too long. */
static bool folder_of(const char *path, char folder[FOLDER_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    snprintf(folder, FOLDER_MAX, "%.*s.", (int)length, path);
    return length < FOLDER_MAX - 1;
}

peigh_status output_check(const char *path, struct failure *f)
{
    char folder[FOLDER_MAX];
    check_replaceable(path, f);
    if (!folder_of(path, folder))
        return fail_io(f, path, strerror(ENAMETOOLONG));
    if (!failed(f) && access(folder, W_OK | X_OK))
        fail_io(f, path, strerror(errno));
    return f->status;
}

static bool same_inode(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

bool output_same(const char *a, const char *b)
{
    char x[FOLDER_MAX], y[FOLDER_MAX];
    const char *a_slash = strrchr(a, '/'), *b_slash = strrchr(b, '/');
    if (strcmp(a, b) == 0 || same_inode(a, b))
        return true;
    return strcmp(a_slash ? a_slash + 1 : a, b_slash ? b_slash + 1 : b) == 0 &&
           folder_of(a, x) && folder_of(b, y) && same_inode(x, y);
}

/* Rank 0: make the partial file. */
static void create(struct part *part, struct failure *f)
{
    check_replaceable(part->path, f);
    if (failed(f))
        return;
    int file = open(part->name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file < 0) {
        fail_io(f, part->path, strerror(errno));
        return;
    }
    part->exists = true;
    part->stream = fdopen(file, "w");
    if (!part->stream) {
        fail_io(f, part->path, strerror(errno));
        close(file);
    }
}

/* Make the file, under a name that is the same on all ranks. */
static peigh_status open_as(struct part *part, struct ring *ring,
                            const char *path, const char *suffix,
                            struct failure *f)
{
    size_t room = strlen(path) + strlen(suffix) + 1;
    *part = (struct part){ .ring = ring, .path = path, .name = malloc(room) };
    if (!part->name)
        fail(f, PEIGH_ERR_MEMORY, "no memory for the name of %.300s", path);
    else {
        snprintf(part->name, room, "%s%s", path, suffix);
        if (ring->rank == 0)
            create(part, f);
    }
    return ring_agree(ring, f);
}

peigh_status part_open(struct part *part, struct ring *ring, const char *path,
                       struct failure *f)
{
    char suffix[SUFFIX_MAX];
    int64_t pid = ring->rank == 0 ? (int64_t)getpid() : 0;
    *part = (struct part){ .ring = ring, .path = path };
    if (ring_max_int64(ring, &pid, 1, f))
        return f->status;
    snprintf(suffix, sizeof suffix, ".part-%lld", (long long)pid);
    return open_as(part, ring, path, suffix, f);
}

peigh_status part_open_again(struct part *part, struct ring *ring,
                             const char *path, struct failure *f)
{
    char stale[FOLDER_MAX];
    snprintf(stale, sizeof stale, "%s.part", path);
    if (ring->rank == 0 && unlink(stale) && errno != ENOENT)
        fail_io(f, stale, strerror(errno));
    return open_as(part, ring, path, ".part", f);
}

/* Flush to the disk and close. */
void part_close_stream(struct part *part, struct failure *f)
{
    if (!part->stream)
        return;
    if (fflush(part->stream) || fsync(fileno(part->stream)))
        fail_io(f, part->path, strerror(errno));
    if (fclose(part->stream))
        fail_io(f, part->path, strerror(errno));
    part->stream = NULL;
}

/* Rank 0: the size of the partial file, -1 on failure.  It is opened because
 * over NFS only an open() asks the server what other nodes have written. */
static int64_t size_of(const struct part *part, struct failure *f)
{
    struct stat now;
    int64_t bytes = -1;
    int file = open(part->name, O_RDONLY);
    if (file >= 0 && fstat(file, &now) == 0)
        bytes = now.st_size;
    else
        fail_io(f, part->path, strerror(errno));
    if (file >= 0)
        close(file);
    return bytes;
}

/* Rank 0: a name is on the disk when its folder is.  Not every folder can be
 * opened, nor every file system do that (EINVAL). */
static void sync_folder(const char *path, struct failure *f)
{
    char folder[FOLDER_MAX];
    int file = folder_of(path, folder) ? open(folder, O_RDONLY) : -1;
    if (file >= 0 && fsync(file) && errno != EINVAL)
        fail_io(f, path, strerror(errno));
    if (file >= 0)
        close(file);
}

/* Rank 0: the file under its final name, if it has the right size (-1: any
 * size is). */
static void finish(struct part *part, int64_t bytes, struct failure *f)
{
    int64_t size = size_of(part, f);
    if (failed(f))
        return;
    if (bytes >= 0 && size != bytes)
        fail_io(f, part->path, "the file came out short; is the disk full?");
    else if (part->old && rename(part->path, part->old) && errno != ENOENT)
        fail_io(f, part->old, strerror(errno));
    else if (rename(part->name, part->path))
        fail_io(f, part->path, strerror(errno));
    else {
        part->exists = false;
        sync_folder(part->path, f);
    }
}

/* Give the file its name if all went well everywhere, else remove it. */
peigh_status part_close(struct part *part, int64_t bytes, struct failure *f)
{
    part_close_stream(part, f);
    if (!ring_agree(part->ring, f)) {
        if (part->ring->rank == 0)
            finish(part, bytes, f);
        ring_agree(part->ring, f);
    }
    if (part->exists)
        unlink(part->name);
    free(part->name);
    return f->status;
}

/* ---- Every rank its own numbers ---- */

/* Every rank opens the file for itself: a failure on one rank then hangs
 * nobody in a collective. */
MPI_File part_join(const struct part *part, struct failure *f)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_SELF, part->name, MPI_MODE_WRONLY,
                             MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS)
        return file;
    fail_mpi_io(f, part->path, code);
    return MPI_FILE_NULL;
}

void part_write(const struct part *part, MPI_File file, int64_t offset,
                const double *x, int64_t count, struct failure *f)
{
    for (int64_t k = 0; k < count && !failed(f); k += PIECE) {
        int length = (int)(count - k < PIECE ? count - k : PIECE), written = 0;
        MPI_Status status;
        int code = MPI_File_write_at(file, offset + k * 8, x + k, length,
                                     MPI_DOUBLE, &status);
        if (code != MPI_SUCCESS) {
            fail_mpi_io(f, part->path, code);
            return;
        }
        MPI_Get_count(&status, MPI_DOUBLE, &written);
        if (written != length)
            fail_io(f, part->path, "a write came out short; is the disk full?");
    }
}

void part_leave(const struct part *part, MPI_File *file, struct failure *f)
{
    if (*file == MPI_FILE_NULL)
        return;
    int code = MPI_File_sync(*file);
    if (code != MPI_SUCCESS)
        fail_mpi_io(f, part->path, code);
    code = MPI_File_close(file);
    if (code != MPI_SUCCESS)
        fail_mpi_io(f, part->path, code);
}
