/* Entries that lie one after another in a file, doubles or floats of either
 * byte order: what .npy and raw files have in common.
 *
 * A "line" is a run of n entries that lie together: a row in C order, a
 * column in Fortran order.  A rectangle is read as one piece of each line
 * that crosses it.  Every rank opens the file with MPI-IO for itself and
 * reads what it needs, without collectives, so no rank can wait for one that
 * failed.  Doubles of the machine's byte order that end up side by side are
 * read to where they belong, everything else by way of a fixed buffer. */
#include "source_binary.h"

#include "source_file.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUFFER = 256 << 10, /* bytes: few calls, and in the L2 cache */
    PIECE = 1 << 20,    /* doubles to one read without a buffer: 8 MiB */
};

struct state {
    struct binary binary;
    MPI_File file;
    unsigned char buffer[BUFFER];
};

bool little_endian_machine(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

int64_t binary_size(const struct binary *binary, int64_t n)
{
    return binary->data + n * n * binary->item;
}

double binary_decode(const struct binary *binary, const unsigned char *bytes)
{
    uint64_t bits8;
    uint32_t bits4;
    double value8;
    float value4;
    if (binary->item == 8) {
        memcpy(&bits8, bytes, 8);
        if (binary->swap)
            bits8 = __builtin_bswap64(bits8);
        memcpy(&value8, &bits8, 8);
        return value8;
    }
    memcpy(&bits4, bytes, 4);
    if (binary->swap)
        bits4 = __builtin_bswap32(bits4);
    memcpy(&value4, &bits4, 4);
    return value4;
}

/* Bytes of the file from entry `first` on. */
static peigh_status read_bytes(const struct source *source, int64_t first,
                               void *to, int64_t bytes, struct failure *f)
{
    const struct state *s = source->state;
    const struct binary *b = &s->binary;
    MPI_Status status;
    int got = 0;
    int code = MPI_File_read_at(s->file, b->data + first * b->item, to,
                                (int)bytes, MPI_BYTE, &status);
    if (code != MPI_SUCCESS) {
        char reason[MPI_MAX_ERROR_STRING];
        MPI_Error_string(code, reason, &got);
        return fail(f, PEIGH_ERR_IO, "%s: %.150s", source->name, reason);
    }
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (got == bytes)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_IO, "%s: truncated while it was being read, at "
                "A[%lld,%lld]", source->name,
                (long long)((b->by_rows ? first / source->n
                                        : first % source->n)),
                (long long)((b->by_rows ? first % source->n
                                        : first / source->n)));
}

/* Entries first .. first + count - 1 of the file to out[0], out[stride]... */
static peigh_status read_run(const struct source *source, int64_t first,
                             int64_t count, double *out, int64_t stride,
                             struct failure *f)
{
    struct state *s = source->state;
    const struct binary *b = &s->binary;
    bool in_place = stride == 1 && b->item == 8 && !b->swap;
    int64_t most = in_place ? PIECE : BUFFER / b->item;
    for (int64_t k = 0; k < count; k += most) {
        int64_t length = count - k < most ? count - k : most;
        void *to = in_place ? (void *)(out + k) : s->buffer;
        if (read_bytes(source, first + k, to, length * b->item, f))
            return f->status;
        for (int64_t l = 0; l < length && !in_place; l++)
            out[(k + l) * stride] = binary_decode(b, s->buffer + l * b->item);
    }
    return PEIGH_OK;
}

/* Entries k0 .. k1 - 1 of lines line0 .. line1 - 1. */
static peigh_status read_lines(const struct source *source, int64_t line0,
                               int64_t line1, int64_t k0, int64_t k1,
                               double *a, int64_t line_stride, int64_t stride,
                               struct failure *f)
{
    for (int64_t line = line0; line < line1; line++)
        if (read_run(source, line * source->n + k0, k1 - k0,
                     a + (line - line0) * line_stride, stride, f))
            return f->status;
    return PEIGH_OK;
}

static peigh_status fill(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f)
{
    const struct state *s = source->state;
    if (s->binary.by_rows)
        return read_lines(source, i0, i1, j0, j1, a, 1, lda, f);
    return read_lines(source, j0, j1, i0, i1, a, lda, 1, f);
}

/* With by_rows. */
static peigh_status fill_mirrored(const struct source *source, int64_t i0,
                                  int64_t i1, int64_t j0, int64_t j1,
                                  double *a, int64_t lda, struct failure *f)
{
    return read_lines(source, j0, j1, i0, i1, a, lda, 1, f);
}

static void binary_close(struct source *source)
{
    struct state *s = source->state;
    MPI_File_close(&s->file);
    free(s);
    source->state = NULL;
}

peigh_status binary_open(struct source *source, const char *path,
                         const struct binary *binary, struct failure *f)
{
    struct state *s = malloc(sizeof *s);
    if (s == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %zu bytes",
                    source->name, sizeof *s);
    s->binary = *binary;
    int code = file_open_shared(path, &s->file);
    if (code != MPI_SUCCESS) {
        char reason[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, reason, &length);
        free(s);
        return fail(f, PEIGH_ERR_IO, "%s: %.150s", source->name, reason);
    }
    source->random_access = true;
    source->band = 1;
    source->buffer_bytes = sizeof *s;
    source->fill = fill;
    source->fill_mirrored = binary->by_rows ? fill_mirrored : NULL;
    source->close = binary_close;
    source->state = s;
    return PEIGH_OK;
}
