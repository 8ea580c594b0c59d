/* Result files that are either complete or not there.
 *
 *     rank 0   creates PATH.part-PID with the header in it
 *     all      write; every count that was written is checked
 *     rank 0   checks the size of the file, renames it to PATH
 *
 * After each line all ranks agree; on a failure rank 0 removes the partial
 * file.  POSIX calls are used where only rank 0 writes because their reasons
 * (errno) say more to a user than MPI's do.
 *
 * The .npy header, version 1.0: the magic string, the length of the rest as
 * two bytes, a Python dict padded by blanks to a multiple of 64 bytes. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 128,  /* 10 + dict of at most 93 characters, padded */
    PIECE = 8 << 20,     /* doubles to one MPI write: 64 MiB, the count
                          * stays far from INT_MAX */
    GATHER = 4096,       /* eigenvalues to one broadcast */
    SUFFIX_MAX = 32,     /* ".part-" and a process number */
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

bool output_values_name_ok(const char *path)
{
    return ends_with(path, ".npy") || ends_with(path, ".txt");
}

bool output_vectors_name_ok(const char *path)
{
    return ends_with(path, ".npy");
}

/* Fill in the header of an n x columns matrix in Fortran order, or of a
 * vector of length n if columns is -1. */
static void make_header(char header[HEADER_BYTES], int64_t n, int64_t columns)
{
    const uint16_t probe = 1;
    char order = *(const unsigned char *)&probe ? '<' : '>';
    char shape[64];
    if (columns < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)n);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)n,
                 (long long)columns);

    const int rest = HEADER_BYTES - 10;
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(rest & 255); /* little-endian on every machine */
    header[9] = (char)(rest >> 8);
    int used = snprintf(header + 10, rest,
                        "{'descr': '%cf8', 'fortran_order': %s, 'shape': %s, }",
                        order, columns < 0 ? "False" : "True", shape);
    memset(header + 10 + used, ' ', (size_t)(rest - used));
    header[HEADER_BYTES - 1] = '\n';
}

/* A file on its way.  The stream is open on rank 0 only. */
struct part {
    struct ring *ring;
    const char *path; /* the name it will have */
    char *name;       /* the name it has until then; the same on all ranks */
    bool exists;      /* rank 0: there is something to remove */
    FILE *stream;
};

static peigh_status fail_io(struct failure *f, const char *path,
                            const char *reason)
{
    return fail(f, PEIGH_ERR_IO, "cannot write %.300s: %.150s", path, reason);
}

static peigh_status fail_mpi_io(struct failure *f, const char *path, int code)
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

peigh_status output_check(const char *path, struct failure *f)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    check_replaceable(path, f);
    if (length >= sizeof folder)
        return fail_io(f, path, strerror(ENAMETOOLONG));
    snprintf(folder, sizeof folder, "%.*s.", (int)length, path);
    if (!failed(f) && access(folder, W_OK | X_OK))
        fail_io(f, path, strerror(errno));
    return f->status;
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

/* Agree on the partial name and create the file. */
static peigh_status part_open(struct part *part, struct ring *ring,
                              const char *path, struct failure *f)
{
    *part = (struct part){ .ring = ring, .path = path };
    int64_t pid = ring->rank == 0 ? (int64_t)getpid() : 0;
    if (ring_max_int64(ring, &pid, 1, f))
        return f->status;
    size_t room = strlen(path) + SUFFIX_MAX;
    part->name = malloc(room);
    if (!part->name)
        fail(f, PEIGH_ERR_MEMORY, "no memory for the name of %.300s", path);
    else {
        snprintf(part->name, room, "%s.part-%lld", path, (long long)pid);
        if (ring->rank == 0)
            create(part, f);
    }
    return ring_agree(ring, f);
}

/* Rank 0: flush to the disk and close. */
static void close_stream(struct part *part, struct failure *f)
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

/* Rank 0: the file under its final name, if it has the right size (-1: any
 * size is). */
static void finish(struct part *part, int64_t bytes, struct failure *f)
{
    int64_t size = size_of(part, f);
    if (failed(f))
        return;
    if (bytes >= 0 && size != bytes)
        fail_io(f, part->path, "the file came out short; is the disk full?");
    else if (rename(part->name, part->path))
        fail_io(f, part->path, strerror(errno));
    else
        part->exists = false;
}

/* Give the file its name if all went well everywhere, else remove it. */
static peigh_status part_close(struct part *part, int64_t bytes,
                               struct failure *f)
{
    close_stream(part, f);
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

static void write_header(struct part *part, int64_t n, int64_t columns,
                         struct failure *f)
{
    char header[HEADER_BYTES];
    make_header(header, n, columns);
    if (fwrite(header, 1, sizeof header, part->stream) != sizeof header)
        fail_io(f, part->path, strerror(errno));
}

/* Rank 0: append count numbers. */
static void write_numbers(struct part *part, const double *x, int64_t count,
                          bool text, struct failure *f)
{
    bool good = true;
    if (text)
        for (int64_t k = 0; k < count && good; k++)
            good = fprintf(part->stream, "%.17g\n", x[k]) > 0;
    else
        good = fwrite(x, sizeof *x, (size_t)count, part->stream)
            == (size_t)count;
    if (!good)
        fail_io(f, part->path, strerror(errno));
}

/* Each rank in turn broadcasts its numbers, rank 0 writes them: memory does
 * not grow with n.  A failure to write does not stop the broadcasts. */
static void gather_values(struct part *part, const peigh_layout *layout,
                          const double *values, bool text, struct failure *f)
{
    struct ring *ring = part->ring;
    double piece[GATHER];
    for (int owner = 0; owner < ring->ranks; owner++) {
        int64_t count = owner == ring->rank ? layout->count : 0;
        if (ring_max_int64(ring, &count, 1, f))
            return;
        for (int64_t k = 0; k < count; k += GATHER) {
            int length = (int)(count - k < GATHER ? count - k : GATHER);
            if (owner == ring->rank)
                memcpy(piece, values + k, (size_t)length * sizeof *piece);
            ring_bcast(ring, piece, length, owner, f);
            if (ring->rank == 0 && !failed(f))
                write_numbers(part, piece, length, text, f);
        }
    }
}

peigh_status write_values(struct ring *ring, const peigh_layout *layout,
                          const double *values, const char *path,
                          struct failure *f)
{
    if (!output_values_name_ok(path))
        return fail(f, PEIGH_ERR_ARGUMENT, "eigenvalues go to a .npy or a "
                    ".txt file, not to %.300s", path);
    struct part part;
    bool text = ends_with(path, ".txt");
    if (part_open(&part, ring, path, f))
        goto cleanup;
    if (ring->rank == 0 && !text)
        write_header(&part, layout->n, -1, f);
    gather_values(&part, layout, values, text, f);
cleanup:
    return part_close(&part, text ? -1 : HEADER_BYTES + layout->n * 8, f);
}

peigh_status write_text(struct ring *ring, const char *path,
                        void (*print)(FILE *stream, const void *what),
                        const void *what, struct failure *f)
{
    struct part part;
    if (part_open(&part, ring, path, f))
        goto cleanup;
    if (ring->rank == 0) {
        print(part.stream, what);
        if (ferror(part.stream))
            fail_io(f, path, strerror(errno));
    }
cleanup:
    return part_close(&part, -1, f);
}

/* Write n doubles at the offset (bytes), in pieces. */
static void write_column(MPI_File file, MPI_Offset offset, const double *x,
                         int64_t n, const char *path, struct failure *f)
{
    for (int64_t k = 0; k < n; k += PIECE) {
        int count = (int)(n - k < PIECE ? n - k : PIECE), written = 0;
        MPI_Status status;
        int code = MPI_File_write_at(file, offset + k * 8, x + k, count,
                                     MPI_DOUBLE, &status);
        if (code != MPI_SUCCESS) {
            fail_mpi_io(f, path, code);
            return;
        }
        MPI_Get_count(&status, MPI_DOUBLE, &written);
        if (written != count) {
            fail_io(f, path, "a write came out short; is the disk full?");
            return;
        }
    }
}

/* Add this rank's columns to the file that rank 0 made.  Every rank opens it
 * for itself: a failure on one rank then hangs nobody in a collective. */
static void write_columns(struct part *part, const peigh_layout *layout,
                          const double *z, struct failure *f)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_SELF, part->name, MPI_MODE_WRONLY,
                             MPI_INFO_NULL, &file);
    if (code != MPI_SUCCESS) {
        fail_mpi_io(f, part->path, code);
        return;
    }
    for (int64_t j = 0; j < layout->count && !failed(f); j++)
        write_column(file,
                     HEADER_BYTES + (layout->first + j) * layout->n * 8,
                     z + j * layout->lda, layout->n, part->path, f);
    code = MPI_File_sync(file);
    if (code != MPI_SUCCESS)
        fail_mpi_io(f, part->path, code);
    code = MPI_File_close(&file);
    if (code != MPI_SUCCESS)
        fail_mpi_io(f, part->path, code);
}

peigh_status write_vectors(struct ring *ring, const peigh_layout *layout,
                           const double *z, const char *path,
                           struct failure *f)
{
    if (!output_vectors_name_ok(path))
        return fail(f, PEIGH_ERR_ARGUMENT,
                    "eigenvectors go to a .npy file, not to %.300s", path);
    struct part part;
    if (part_open(&part, ring, path, f))
        goto cleanup;
    if (ring->rank == 0) {
        write_header(&part, layout->n, layout->n, f);
        close_stream(&part, f);
    }
    if (!ring_agree(ring, f) && layout->count > 0)
        write_columns(&part, layout, z, f);
cleanup:
    return part_close(&part, HEADER_BYTES + layout->n * layout->n * 8, f);
}
