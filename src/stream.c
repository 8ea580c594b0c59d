/* One pass over a distributed matrix: for each owner r = 0, 1, ..., for each
 * tile of its columns, for each chunk of rows,
 *
 *     r:    piece <- 2^exponent A[chunk, tile], Z[chunk, tile]
 *     all:  did r succeed?
 *     all:  broadcast of the piece from r
 *
 * Nobody needs a table of owners: a rank tells the end of its columns when
 * its turn comes. */
#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t piece_doubles(int64_t n, bool vectors)
{
    return STREAM_COLUMNS * min64(n, STREAM_ROWS) * (vectors ? 2 : 1);
}

int64_t stream_bytes(int64_t n, int64_t count, bool random_access,
                     bool mirrored, bool vectors)
{
    int64_t own = random_access ? 0 : n * count;
    int64_t bytes = (own + piece_doubles(n, vectors))
                  * (int64_t)sizeof(double);
    if (mirrored)
        bytes += matrix_fill_bytes(random_access, n, count);
    return bytes;
}

peigh_status stream_open(struct stream *s, struct ring *ring,
                         const peigh_layout *layout,
                         const struct matrix *matrix, int exponent,
                         const double *vectors, struct failure *f)
{
    int64_t n = layout->n;
    bool keep = !matrix->source->random_access && layout->count > 0;
    size_t own = (size_t)(n * layout->count) * sizeof(double);
    size_t piece = (size_t)piece_doubles(n, vectors != NULL) * sizeof(double);

    *s = (struct stream){
        .i1 = n, .ring = ring, .layout = layout, .matrix = matrix,
        .exponent = exponent, .vectors = vectors, .owner = -1,
    };
    s->buffer = malloc(piece ? piece : 1);
    s->own = keep ? malloc(own) : NULL;
    if (!s->buffer || (keep && !s->own))
        fail(f, PEIGH_ERR_MEMORY, "no memory to check the result: %lld bytes",
             (long long)stream_bytes(n, layout->count, !keep,
                                     matrix_is_mirrored(matrix),
                                     vectors != NULL));
    else if (keep)
        matrix_fill(matrix, 0, n, layout->first,
                    layout->first + layout->count, s->own, n, f);
    return ring_agree(ring, f);
}

void stream_close(struct stream *s)
{
    free(s->buffer);
    free(s->own);
    s->buffer = s->own = NULL;
}

/* Let s->owner be the rank that owns column s->j0. */
static bool find_owner(struct stream *s, struct failure *f)
{
    const peigh_layout *layout = s->layout;
    while (s->owner_end <= s->j0) {
        if (++s->owner == s->ring->ranks) {
            fail(f, PEIGH_ERR_ARGUMENT, "the layout leaves out column %lld",
                 (long long)s->j0);
            return false;
        }
        bool mine = s->owner == s->ring->rank && layout->count > 0;
        int64_t end = mine ? layout->first + layout->count : 0;
        if (ring_max_int64(s->ring, &end, 1, f))
            return false;
        s->owner_end = end;
    }
    return true;
}

/* Move the indices on by one piece. */
static bool advance(struct stream *s, struct failure *f)
{
    int64_t n = s->layout->n;
    if (s->i1 < n) {
        s->i0 = s->i1;
    } else {
        s->j0 = s->j1;
        if (s->j0 == n || !find_owner(s, f))
            return false;
        s->j1 = min64(s->j0 + STREAM_COLUMNS, s->owner_end);
        s->i0 = 0;
    }
    s->i1 = min64(s->i0 + STREAM_ROWS, n);
    return true;
}

static void copy_columns(const double *from, int64_t ld_from, double *to,
                         int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++)
        memcpy(to + j * rows, from + j * ld_from,
               (size_t)rows * sizeof(double));
}

/* x <- 2^exponent x.  In two halves: 2^1074 itself is out of range. */
static void scale_by_power(double *x, int64_t count, int exponent)
{
    double half = ldexp(1, exponent / 2);
    double rest = ldexp(1, exponent - exponent / 2);
    for (int64_t k = 0; k < count; k++)
        x[k] = x[k] * half * rest;
}

/* On the owner: read the piece. */
static void read_piece(struct stream *s, struct failure *f)
{
    const peigh_layout *layout = s->layout;
    int64_t rows = s->i1 - s->i0, columns = s->j1 - s->j0;
    int64_t local = s->j0 - layout->first;

    if (s->own)
        copy_columns(s->own + s->i0 + local * layout->n, layout->n, s->buffer,
                     rows, columns);
    else if (matrix_fill(s->matrix, s->i0, s->i1, s->j0, s->j1, s->buffer,
                         rows, f))
        return;
    scale_by_power(s->buffer, rows * columns, s->exponent);
    if (s->vectors)
        copy_columns(s->vectors + s->i0 + local * layout->lda, layout->lda,
                     s->buffer + rows * columns, rows, columns);
}

bool stream_next(struct stream *s, struct failure *f)
{
    if (!advance(s, f))
        return false;
    if (s->owner == s->ring->rank)
        read_piece(s, f);
    if (ring_agree(s->ring, f))
        return false;

    int64_t entries = (s->i1 - s->i0) * (s->j1 - s->j0);
    s->a = s->buffer;
    s->z = s->vectors ? s->buffer + entries : NULL;
    ring_bcast(s->ring, s->buffer, (int)(s->vectors ? 2 * entries : entries),
               s->owner, f);
    return !failed(f);
}

double max_or_nan(double x, double y)
{
    return x >= y || isnan(x) ? x : y;
}

double largest_magnitude(const double *x, int64_t count)
{
    double largest = 0;
    for (int64_t k = 0; k < count; k++)
        largest = max_or_nan(largest, fabs(x[k]));
    return largest;
}

/* MPI_MAX may drop a NaN, so NaN travels beside the numbers as a flag. */
peigh_status max_over_ranks(struct ring *ring, double *x, int count,
                            struct failure *f)
{
    for (int k = 0; k < count; k++) {
        double pair[2] = { isnan(x[k]) ? 0 : x[k], isnan(x[k]) ? 1 : 0 };
        if (ring_max_double(ring, pair, 2, f))
            return f->status;
        x[k] = pair[1] > 0 ? NAN : pair[0];
    }
    return PEIGH_OK;
}
