/* Every rank reads its own columns, and of them only what counts.
 *
 * A file that holds A row by row is read by rows all the same, since a piece
 * of every row for every rank would be many small reads: column j of the rank
 * takes row j, which is column j of A^T, and then the ranks transpose A^T in
 * place, a pair of tiles at a time (mirror.c).  Each byte of the file is read
 * once, in long runs.
 *
 * Of a triangle only its own entries are asked for, the rest is zero:
 *
 *                 columns of A    of A^T, before it is transposed
 *     lower         i >= j              i <= j
 *     upper         i <= j              i >= j
 *
 * A source is asked for `band` columns at a time, which lets files keep to
 * the triangle and tells how far it is. */
#include "fill.h"

#include "mirror.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

int64_t fill_bytes(const struct source *source)
{
    return source->buffer_bytes +
           (source->fill_mirrored ? (int64_t)sizeof(double) * MIRROR_DOUBLES
                                  : 0);
}

/* Columns j0 .. j1 - 1 of the view, which begin at a. */
static peigh_status fill_band(const struct view *view, int64_t n, int64_t j0,
                              int64_t j1, double *a, int64_t lda,
                              struct failure *f)
{
    int64_t i0 = view->uplo == PEIGH_LOWER ? j0 : 0;
    int64_t i1 = view->uplo == PEIGH_UPPER ? j1 : n;
    for (int64_t j = j0; j < j1; j++) {
        double *column = a + (j - j0) * lda;
        memset(column, 0, sizeof *column * (size_t)i0);
        memset(column + i1, 0, sizeof *column * (size_t)(n - i1));
    }
    return view->fill(view->source, i0, i1, j0, j1, a + i0, lda, f);
}

static peigh_status fill_own(const struct view *view, const peigh_layout *l,
                             double *a, struct progress *progress,
                             struct failure *f)
{
    int64_t band = view->source->band, end = l->first + l->count;
    if (l->count == 0)
        return PEIGH_OK;
    if (band == 0)
        return view->fill(view->source, 0, l->n, l->first, end, a, l->lda, f);
    for (int64_t j = l->first, next; j < end; j = next) {
        next = (j / band + 1) * band; /* bands begin at multiples of it */
        next = next < end ? next : end;
        if (fill_band(view, l->n, j, next, a + (j - l->first) * l->lda,
                      l->lda, f))
            return f->status;
        progress_show(progress, (double)(next - l->first) / (double)l->count);
    }
    return PEIGH_OK;
}

static peigh_status transpose(struct ring *ring, const peigh_layout *l,
                              double *a, double *buffer, struct failure *f)
{
    struct columns columns = {a, l->n, l->first, l->count, l->lda};
    struct mirror m = {.ring = ring, .layout = l, .columns = &columns};
    ring->bounce = buffer;
    mirror_all(&m, MIRROR_TRANSPOSE, f);
    ring->bounce = NULL;
    return ring_agree(ring, f);
}

peigh_status fill_columns(struct ring *ring, const peigh_layout *layout,
                          const struct matrix *matrix, double *a,
                          struct progress *progress, struct failure *f)
{
    struct source source = *matrix->source; /* its state is shared */
    struct matrix watched = *matrix;
    watched.source = &source;
    source.progress = progress;
    struct view view = matrix_view(&watched);
    double *buffer = NULL;
    if (view.transposed) {
        buffer = malloc(sizeof *buffer * MIRROR_DOUBLES);
        if (!buffer)
            fail(f, PEIGH_ERR_MEMORY, "no memory for %zu bytes to transpose "
                 "%s", sizeof *buffer * MIRROR_DOUBLES, source.name);
    }
    if (!failed(f))
        fill_own(&view, layout, a, progress, f);
    if (!ring_agree(ring, f) && view.transposed)
        transpose(ring, layout, a, buffer, f);
    free(buffer);
    return f->status;
}
