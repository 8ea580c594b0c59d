/* Checkpoint files.
 *
 *     HEADER_BYTES   struct header and its checksum; the rest is 0
 *     n records      of `rows` doubles: the columns of the blocks in the order
 *                    of their home slots, each with its header rows
 *
 * A column's record is what lies in memory: its n entries, its part of the
 * Gram matrix of its block (0 before the first step), the
 * number of its place, and in the last row the checksum of all before.  So it
 * is written without a copy, and the file has the same bytes whatever the
 * number of ranks, but for times and counts in the state.
 *
 * Checksums are zlib's CRC-32.  That of a column begins with a stamp of the
 * file and the number of the column: a column from another checkpoint, or in
 * another place, does not pass either.
 *
 * Every rank writes and reads its own columns by MPI-IO without collectives,
 * so that a failure on one rank hangs nobody, and all agree afterwards.  The
 * file is on the disk before it gets its name (part.c). */
#include "checkpoint.h"

#include "noise.h"
#include "part.h"
#include "source_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum {
    HEADER_BYTES = 4096, /* a page, so that the columns begin on one */
    FORMAT = 1,
    PIECE = 8 << 20, /* doubles to one read: 64 MiB, far from INT_MAX */
};

static const char magic[8] = "peighCKP";

struct header {
    char magic[8];
    uint32_t byte_order; /* 1, as the machine writes it */
    uint32_t format;
    char version[16];    /* of the program: another one may round otherwise */
    int64_t header_bytes; /* sizeof this: another compiler, another format */
    int64_t file_bytes;
    uint64_t stamp;      /* of this file; in the checksum of each column */
    uint64_t matrix;     /* fingerprint */
    int64_t n, block, rows;
    double tol;          /* options.tol */
    int64_t uplo, definite, symmetrize;
    struct state state;
    uint32_t checksum;   /* of all before */
};

_Static_assert(sizeof(struct header) <= HEADER_BYTES, "the header fits");

static int64_t rows_of(const peigh_layout *l)
{
    return l->n + header_rows(l->block);
}

int64_t checkpoint_bytes(const peigh_layout *l)
{
    return HEADER_BYTES + 8 * l->n * rows_of(l);
}

static uint32_t checksum_of(uint32_t start, const void *bytes, size_t count)
{
    return (uint32_t)crc32_z(start, bytes, count);
}

/* --- which matrix? ------------------------------------------------------ */

/* The sum, over columns, of a hash of the column's number and checksum. */
peigh_status checkpoint_fingerprint(struct ring *ring, const peigh_layout *l,
                                    peigh_uplo uplo, const double *a,
                                    uint64_t *fingerprint, struct failure *f)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < l->count; k++) {
        int64_t j = l->first + k;
        int64_t from = uplo == PEIGH_LOWER ? j : 0;
        int64_t to = uplo == PEIGH_UPPER ? j + 1 : l->n;
        sum += noise_bits(checksum_of(0, a + k * l->lda + from,
                                      8 * (size_t)(to - from)), (uint64_t)j);
    }
    int64_t total;
    memcpy(&total, &sum, sizeof total);
    ring_sum_int64(ring, &total, 1, f); /* wraps, as unsigned numbers do */
    memcpy(fingerprint, &total, sizeof total);
    return f->status;
}

/* --- header ------------------------------------------------------------- */

static void fill_header(struct header *h, const struct origin *o,
                        const struct state *state)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    memset(h, 0, sizeof *h);
    memcpy(h->magic, magic, sizeof magic);
    h->byte_order = 1;
    h->format = FORMAT;
    snprintf(h->version, sizeof h->version, "%s", PEIGH_VERSION);
    h->header_bytes = sizeof *h;
    h->file_bytes = checkpoint_bytes(o->layout);
    h->stamp = noise_bits((uint64_t)now.tv_sec * 1000000000u +
                          (uint64_t)now.tv_nsec, (uint64_t)getpid());
    h->matrix = o->matrix;
    h->n = o->layout->n;
    h->block = o->layout->block;
    h->rows = rows_of(o->layout);
    h->tol = o->options->tol;
    h->uplo = o->options->uplo;
    h->definite = o->options->definite;
    h->symmetrize = o->options->symmetrize;
    h->state = *state;
    h->checksum = checksum_of(0, h, offsetof(struct header, checksum));
}

static peigh_status refuse(struct failure *f, const char *path,
                           const char *reason)
{
    return fail(f, PEIGH_ERR_IO, "cannot go on from %.200s: %s", path, reason);
}

/* Is this the header of a checkpoint that this program can read? */
static void check_header(const struct header *h, int64_t size,
                         const char *path, struct failure *f)
{
    if (size < HEADER_BYTES || memcmp(h->magic, magic, sizeof magic) != 0)
        refuse(f, path, "not a checkpoint of peigh");
    else if (h->byte_order != 1)
        refuse(f, path, "written on a machine of the other byte order");
    else if (h->format != FORMAT || h->header_bytes != sizeof *h ||
             strncmp(h->version, PEIGH_VERSION, sizeof h->version) != 0)
        fail(f, PEIGH_ERR_IO, "cannot go on from %.200s: written by another "
             "version or build, %.15s; this is %s", path, h->version,
             PEIGH_VERSION);
    else if (h->checksum !=
             checksum_of(0, h, offsetof(struct header, checksum)))
        refuse(f, path, "damaged: the checksum of its header is wrong");
    else if (size != h->file_bytes)
        fail(f, PEIGH_ERR_IO, "cannot go on from %.200s: damaged: %" PRId64
             " bytes instead of %" PRId64, path, size, h->file_bytes);
}

/* Is it about this matrix, solved in this way? */
static void check_origin(const struct header *h, const struct origin *o,
                         const char *path, struct failure *f)
{
    const peigh_options *p = o->options;
    const struct {
        const char *name;
        double written, here;
    } same[] = {
        {"order", (double)h->n, (double)o->layout->n},
        {"block width", (double)h->block, (double)o->layout->block},
        {"--tol", h->tol, p->tol},
        {"--uplo", (double)h->uplo, p->uplo},
        {"--definite", (double)h->definite, p->definite},
        {"--symmetrize", (double)h->symmetrize, p->symmetrize},
    };
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        if (same[k].written != same[k].here)
            fail(f, PEIGH_ERR_IO, "cannot go on from %.200s: it was written "
                 "with another %s (%g; here %g)", path, same[k].name,
                 same[k].written, same[k].here);
    if (h->matrix != o->matrix)
        refuse(f, path, "it was written for another matrix");
}

/* Rank 0 reads and judges it, all get it. */
static peigh_status read_header(struct header *h, const struct origin *o,
                                const char *path, struct ring *ring,
                                struct failure *f)
{
    memset(h, 0, sizeof *h);
    if (ring->rank == 0) {
        struct stat now;
        FILE *file = fopen(path, "rb");
        if (!file || fstat(fileno(file), &now) ||
            (fread(h, 1, sizeof *h, file) < sizeof *h && ferror(file)))
            refuse(f, path, strerror(errno));
        if (!failed(f))
            check_header(h, now.st_size, path, f);
        if (!failed(f))
            check_origin(h, o, path, f);
        if (file)
            fclose(file);
    }
    if (ring_agree(ring, f))
        return f->status;
    if (MPI_Bcast(h, sizeof *h, MPI_BYTE, 0, ring->comm) != MPI_SUCCESS)
        fail(f, PEIGH_ERR_MPI, "MPI: broadcast of the header of %.300s", path);
    return f->status;
}

/* --- columns ------------------------------------------------------------ */

/* The columns of all blocks in the memory of this rank, one after another. */
struct walk {
    const struct cells *cells;
    int64_t step, rows;
    int64_t seat, j;     /* column j of the block in this seat */
    struct block block;
    int64_t number;      /* of the column, among all */
    double *x;
};

static struct walk walk_start(const struct cells *cells, int64_t step,
                              int64_t rows)
{
    return (struct walk){.cells = cells, .step = step, .rows = rows,
                         .seat = -1};
}

static bool walk_on(struct walk *w)
{
    const struct schedule *s = w->cells->schedule;
    for (w->j++; w->seat < 0 || w->j >= w->block.width; w->j = 0) {
        if (++w->seat >= schedule_seats(s))
            return false;
        struct seat seat = schedule_seat(s, w->step, w->seat);
        w->block = cells_block(w->cells, seat);
        w->number = block_first(&s->blocks, seat.home) - 1;
    }
    w->number++;
    w->x = w->block.x + w->j * w->cells->columns->lda;
    return true;
}

static int64_t offset_of(const struct walk *w)
{
    return HEADER_BYTES + 8 * w->rows * w->number;
}

/* What belongs into the last row. */
static double column_checksum(const struct walk *w, uint64_t stamp)
{
    const uint64_t who[2] = {stamp, (uint64_t)w->number};
    uint32_t sum = checksum_of(0, who, sizeof who);
    uint64_t bits = checksum_of(sum, w->x, 8 * (size_t)(w->rows - 1));
    double x; /* a denormal number: never a NaN, which might be changed */
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Clear what of the header rows is scratch at this step, so that equal states
 * are equal bytes. */
static void tidy_header(const struct walk *w)
{
    int64_t n = w->cells->columns->n;
    int64_t used = w->step == 0 ? 0 : w->block.width; /* the Gram matrix */
    for (int64_t i = n + used; i < w->rows - HEADER_FIXED_ROWS; i++)
        w->x[i] = 0.0;
}

static void write_columns(const struct part *part, const struct cells *cells,
                          const struct header *h, struct failure *f)
{
    struct walk w = walk_start(cells, h->state.step, h->rows);
    if (schedule_seats(cells->schedule) == 0)
        return;
    MPI_File file = part_join(part, f);
    while (file != MPI_FILE_NULL && !failed(f) && walk_on(&w)) {
        tidy_header(&w);
        w.x[w.rows - 1] = column_checksum(&w, h->stamp);
        part_write(part, file, offset_of(&w), w.x, w.rows, f);
    }
    part_leave(part, &file, f);
}

peigh_status checkpoint_write(const struct origin *origin, const char *path,
                              const char *old, struct ring *ring,
                              const struct cells *cells,
                              const struct state *state, struct failure *f)
{
    struct part part;
    union {
        struct header header;
        char bytes[HEADER_BYTES];
    } head = {.bytes = {0}};
    fill_header(&head.header, origin, state);
    if (part_open_again(&part, ring, path, f))
        goto cleanup;
    part.old = old;
    if (MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, ring->comm) != MPI_SUCCESS)
        fail(f, PEIGH_ERR_MPI, "MPI: broadcast of the header of %.300s", path);
    if (ring->rank == 0) {
        if (fwrite(&head, sizeof head, 1, part.stream) != 1)
            fail_io(f, path, strerror(errno));
        part_close_stream(&part, f);
    }
    if (!ring_agree(ring, f))
        write_columns(&part, cells, &head.header, f);
cleanup:
    return part_close(&part, checkpoint_bytes(origin->layout), f);
}

/* A column with its header rows, in pieces. */
static void read_record(MPI_File file, const struct walk *w, const char *path,
                        struct failure *f)
{
    for (int64_t k = 0; k < w->rows && !failed(f); k += PIECE) {
        int length = (int)(w->rows - k < PIECE ? w->rows - k : PIECE);
        int got = 0;
        MPI_Status status;
        int code = MPI_File_read_at(file, offset_of(w) + 8 * k, w->x + k,
                                    length, MPI_DOUBLE, &status);
        if (code == MPI_SUCCESS)
            MPI_Get_count(&status, MPI_DOUBLE, &got);
        if (got != length)
            refuse(f, path, "it cannot be read to its end");
    }
}

static void read_columns(const char *path, const struct cells *cells,
                         const struct header *h, struct failure *f)
{
    struct walk w = walk_start(cells, h->state.step, h->rows);
    MPI_File file;
    if (schedule_seats(cells->schedule) == 0)
        return;
    if (file_open_shared(path, &file) != MPI_SUCCESS) {
        refuse(f, path, "it cannot be opened on all ranks");
        return;
    }
    while (!failed(f) && walk_on(&w)) {
        read_record(file, &w, path, f);
        double expected = column_checksum(&w, h->stamp);
        if (!failed(f) && memcmp(&expected, w.x + w.rows - 1, 8) != 0)
            fail(f, PEIGH_ERR_IO, "cannot go on from %.200s: damaged: the "
                 "checksum of column %" PRId64 " is wrong", path, w.number);
    }
    MPI_File_close(&file);
}

peigh_status checkpoint_read(const struct origin *origin, const char *path,
                             struct ring *ring, const struct cells *cells,
                             struct state *state, struct failure *f)
{
    struct header h;
    if (read_header(&h, origin, path, ring, f))
        return f->status;
    read_columns(path, cells, &h, f);
    *state = h.state;
    return ring_agree(ring, f);
}

peigh_status checkpoint_name_check(const char *path, struct failure *f)
{
    char start[sizeof magic];
    output_check(path, f);
    FILE *file = failed(f) ? NULL : fopen(path, "rb");
    if (file && (fread(start, 1, sizeof start, file) < sizeof start ||
                 memcmp(start, magic, sizeof start) != 0))
        fail_io(f, path, "there is a file of this name that is no checkpoint");
    if (file)
        fclose(file);
    return f->status;
}
