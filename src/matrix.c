/* The symmetric matrix that a source and the options define.
 *
 *     PEIGH_FULL                a_ij as it stands
 *     PEIGH_FULL, symmetrize    (a_ij + a_ji) / 2
 *     PEIGH_LOWER               a_ij for i >= j, else a_ji
 *     PEIGH_UPPER               a_ij for i <= j, else a_ji
 *
 * An entry of the mirrored kind is fetched by filling the transposed
 * rectangle.  To bound the memory, a rectangle is worked on in square tiles
 * with one tile's worth of mirror buffer.  Where a tile straddles the
 * diagonal, it is filled column by column where entries stand and row by row
 * where their images do, so that nothing of the other triangle is read.
 *
 * A source without random access reads its whole file in every fill.  There
 * the rectangle is a single tile: one fill, or two, and a mirror buffer as
 * large as the rectangle. */
#include "matrix.h"

#include "mirror.h"

#include <math.h>
#include <stdlib.h>

struct rectangle {
    int64_t i0, i1, j0, j1; /* rows i0 .. i1 - 1, columns j0 .. j1 - 1 */
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct view matrix_view(const struct matrix *matrix)
{
    const struct source *source = matrix->source;
    struct view view = {source, source->fill_mirrored != NULL, matrix->uplo,
                        source->fill};
    if (view.transposed) {
        view.fill = source->fill_mirrored;
        view.uplo = matrix->uplo == PEIGH_LOWER   ? PEIGH_UPPER
                    : matrix->uplo == PEIGH_UPPER ? PEIGH_LOWER
                                                  : PEIGH_FULL;
    }
    return view;
}

/* Is any entry of r read where it stands? */
static bool needs_direct(const struct view *view, struct rectangle r)
{
    if (view->uplo == PEIGH_LOWER)
        return r.i1 > r.j0;
    if (view->uplo == PEIGH_UPPER)
        return r.i0 < r.j1;
    return true;
}

/* Is any entry of r read as its mirror image? */
static bool needs_mirror(const struct matrix *matrix, const struct view *view,
                         struct rectangle r)
{
    if (view->uplo == PEIGH_LOWER)
        return r.i0 < r.j1 - 1;
    if (view->uplo == PEIGH_UPPER)
        return r.i1 - 1 > r.j0;
    return matrix->symmetrize;
}

/* Put the mirror images into a: mirror holds the transposed rectangle. */
static void merge(const struct view *view, struct rectangle r,
                  const double *mirror, double *a, int64_t lda)
{
    int64_t ld = r.j1 - r.j0;
    bool mean = view->uplo == PEIGH_FULL;
    for (int64_t j = r.j0; j < r.j1; j++) {
        double *column = a + (j - r.j0) * lda - r.i0;
        const double *row = mirror + (j - r.j0) - r.i0 * ld;
        for (int64_t i = r.i0; i < r.i1; i++)
            column[i] = mean ? mean_of(column[i], row[i * ld]) : row[i * ld];
    }
}

/* A tile with entries of both triangles: column j as far as it is in the one
 * that counts, then row i of the rest from column i of that triangle. */
static peigh_status fill_straddling(const struct view *view,
                                    struct rectangle r, double *mirror,
                                    double *a, int64_t lda, struct failure *f)
{
    bool lower = view->uplo == PEIGH_LOWER;
    for (int64_t j = r.j0; j < r.j1; j++) {
        int64_t top = lower && j > r.i0 ? j : r.i0;
        int64_t end = lower ? r.i1 : min64(j + 1, r.i1);
        if (top < end &&
            view->fill(view->source, top, end, j, j + 1,
                       a + (top - r.i0) + (j - r.j0) * lda, lda, f))
            return f->status;
    }
    for (int64_t i = r.i0; i < r.i1; i++) {
        int64_t from = lower && i >= r.j0 ? i + 1 : r.j0;
        int64_t to = lower ? r.j1 : min64(i, r.j1);
        if (from < to && view->fill(view->source, from, to, i, i + 1, mirror,
                                    to - from, f))
            return f->status;
        for (int64_t j = from; j < to; j++)
            a[(i - r.i0) + (j - r.j0) * lda] = mirror[j - from];
    }
    return PEIGH_OK;
}

/* The same from a source that is read as a whole: both rectangles, and each
 * entry is picked by its indices. */
static peigh_status fill_both(const struct view *view, struct rectangle r,
                              double *mirror, double *a, int64_t lda,
                              struct failure *f)
{
    bool lower = view->uplo == PEIGH_LOWER;
    int64_t ld = r.j1 - r.j0;
    if (view->fill(view->source, r.i0, r.i1, r.j0, r.j1, a, lda, f) ||
        view->fill(view->source, r.j0, r.j1, r.i0, r.i1, mirror, ld, f))
        return f->status;
    for (int64_t j = r.j0; j < r.j1; j++)
        for (int64_t i = r.i0; i < r.i1; i++)
            if (lower ? i < j : i > j)
                a[(i - r.i0) + (j - r.j0) * lda] =
                    mirror[(j - r.j0) + (i - r.i0) * ld];
    return PEIGH_OK;
}

static peigh_status fill_tile(const struct matrix *matrix,
                              const struct view *view, struct rectangle r,
                              double *mirror, double *a, int64_t lda,
                              struct failure *f)
{
    const struct source *source = view->source;
    bool direct = needs_direct(view, r);
    bool mirrored = needs_mirror(matrix, view, r);
    if (direct && mirrored && view->uplo != PEIGH_FULL)
        return source->band == 1
                   ? fill_straddling(view, r, mirror, a, lda, f)
                   : fill_both(view, r, mirror, a, lda, f);
    if (direct && view->fill(source, r.i0, r.i1, r.j0, r.j1, a, lda, f))
        return f->status;
    if (!mirrored)
        return PEIGH_OK;
    if (view->fill(source, r.j0, r.j1, r.i0, r.i1, mirror, r.j1 - r.j0, f))
        return f->status;
    merge(view, r, mirror, a, lda);
    return PEIGH_OK;
}

bool matrix_is_mirrored(const struct matrix *matrix)
{
    return matrix->uplo != PEIGH_FULL || matrix->symmetrize;
}

int64_t matrix_fill_bytes(bool random_access, int64_t rows, int64_t columns)
{
    int64_t entries = random_access ? (int64_t)MIRROR_TILE * MIRROR_TILE
                                    : rows * columns;
    return entries * (int64_t)sizeof(double);
}

peigh_status matrix_fill(const struct matrix *matrix, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f)
{
    struct rectangle all = { i0, i1, j0, j1 };
    const struct view view = matrix_view(matrix);
    if (i0 >= i1 || j0 >= j1)
        return PEIGH_OK;
    if (!needs_mirror(matrix, &view, all))
        return fill_tile(matrix, &view, all, NULL, a, lda, f);

    bool random_access = matrix->source->random_access;
    int64_t bytes = matrix_fill_bytes(random_access, i1 - i0, j1 - j0);
    double *mirror = malloc((size_t)bytes);
    if (!mirror)
        return fail(f, PEIGH_ERR_MEMORY,
                    "no memory for %lld bytes to mirror a triangle of %s",
                    (long long)bytes, matrix->source->name);

    int64_t high = random_access ? MIRROR_TILE : i1 - i0;
    int64_t wide = random_access ? MIRROR_TILE : j1 - j0;
    peigh_status status = PEIGH_OK;
    for (int64_t j = j0; j < j1 && !status; j += wide)
        for (int64_t i = i0; i < i1 && !status; i += high) {
            struct rectangle tile = { i, min64(i + high, i1),
                                      j, min64(j + wide, j1) };
            status = fill_tile(matrix, &view, tile, mirror,
                               a + (i - i0) + (j - j0) * lda, lda, f);
        }
    free(mirror);
    return status;
}
