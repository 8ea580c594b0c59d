/* A meeting of two blocks of columns, the heart of the solver:
 *
 *     H = [X_low X_high]^T [X_low X_high]        Gram matrix, 2w x 2w
 *     R = rotations that make H diagonal         small.c
 *     [X_low X_high] <- [X_low X_high] R         columns sorted by norm
 *
 * One-sided Jacobi (M. R. Hestenes 1958) by blocks (V. Hari 2005 and earlier
 * authors), columns in the order of their norms (P. P. M. de Rijk 1989).
 *
 * A block carries its own Gram matrix in the header rows of its columns,
 * updated from R^T H R, so that a meeting computes only X_low^T X_high: 2 n
 * w^2 flops instead of 4.  It is computed anew once a sweep.
 *
 * Two thresholds: a meeting with all cosines up to tol and the norms in order
 * does nothing; but when it does something, every pair above the rounding
 * level is rotated (small.c). */
#include "pair.h"

#include "small.h"

#include <cblas.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Eight sums side by side, for vector code and for accuracy; a column's norm
 * must not depend on where the column lies, or sorting would never end. */
double column_square(int64_t n, const double *x)
{
    double sum[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + k] * x[i + k];
    for (int k = 0; i < n; i++, k++)
        sum[k] += x[i] * x[i];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
           ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* c = a^T b for two blocks, c with leading dimension ldc. */
static void gram(const struct pair_setting *s, struct block a, struct block b,
                 double *c, int64_t ldc)
{
    if (a.width == 0 || b.width == 0)
        return;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)a.width,
                (int)b.width, (int)s->n, 1.0, a.x, (int)s->lda, b.x,
                (int)s->lda, 0.0, c, (int)ldc);
}

/* Compute a block's own Gram matrix into its header. */
static void gram_own(const struct pair_setting *s, struct block b)
{
    gram(s, b, b, b.x + s->n, s->lda);
    for (int64_t j = 0; j < b.width; j++)
        b.x[s->n + j + j * s->lda] = column_square(s->n, b.x + j * s->lda);
}

/* A block's own part of H, from offset on, out of its header. */
static void load_own(const struct pair_setting *s, struct small *small,
                     struct block b, int64_t offset)
{
    double *h = small->h + offset + offset * small->count;
    const double *own = b.x + s->n;
    for (int64_t j = 0; j < b.width; j++)
        for (int64_t i = 0; i <= j; i++)
            h[i + j * small->count] = h[j + i * small->count] =
                own[i + j * s->lda];
}

/* Fill H: own parts from the headers, the cross part from the columns. */
static void load_gram(const struct pair_setting *s, struct small *small,
                      struct block low, struct block high)
{
    int64_t count = small->count;
    double *cross = small->h + low.width * count;
    load_own(s, small, low, 0);
    load_own(s, small, high, low.width);
    gram(s, low, high, cross, count);
    for (int64_t j = 0; j < high.width; j++)
        for (int64_t i = 0; i < low.width; i++)
            small->h[low.width + j + i * count] = cross[i + j * count];
}

/* Insertion sort, stable: equal keys stay as they are, and in late sweeps
 * the columns are in order already. */
bool sort_by_key(int64_t count, const double *key, int64_t *order)
{
    bool sorted = true;
    for (int64_t k = 0; k < count; k++) {
        int64_t at = k;
        for (; at > 0 && key[order[at - 1]] > key[k]; at--) {
            order[at] = order[at - 1];
            sorted = false;
        }
        order[at] = k;
    }
    return sorted;
}

/* The columns by ascending norm; whether they were so already. */
static bool sort_columns(const struct pair_setting *s,
                         const struct small *small)
{
    for (int64_t k = 0; k < small->count; k++)
        s->w->keys[k] = small->h[k + k * small->count];
    return sort_by_key(small->count, s->w->keys, s->w->order);
}

/* R as the update multiplies by it: its columns in the sorted order. */
static void load_rotation(const struct small *small, const int64_t *order,
                          double *r)
{
    size_t bytes = sizeof(double) * (size_t)small->count;
    for (int64_t j = 0; j < small->count; j++)
        memcpy(r + j * small->count, small->r + order[j] * small->count,
               bytes);
}

/* A block's own Gram matrix after the meeting: its part of R^T H R, sorted. */
static void store_own(const struct pair_setting *s, const struct small *small,
                      struct block b, const int64_t *order)
{
    for (int64_t j = 0; j < b.width; j++) {
        const double *column = small->h + order[j] * small->count;
        for (int64_t i = 0; i < b.width; i++)
            b.x[s->n + i + j * s->lda] = column[order[i]];
    }
}

/* Copy `rows` rows of a block's columns to or from a tile. */
static void copy_in(const struct pair_setting *s, struct block b, int64_t row,
                    int64_t rows, double *tile)
{
    for (int64_t j = 0; j < b.width; j++)
        memcpy(tile + j * TILE_STRIDE, b.x + row + j * s->lda,
               sizeof(double) * (size_t)rows);
}

static void load_tile(const struct pair_setting *s, struct block low,
                      struct block high, int64_t row, int64_t rows)
{
    copy_in(s, low, row, rows, s->w->tile);
    copy_in(s, high, row, rows, s->w->tile + low.width * TILE_STRIDE);
}

static int64_t tile_rows(int64_t end, int64_t row)
{
    return end - row < TILE_ROWS ? end - row : TILE_ROWS;
}

/* Columns of b in rows row .. row+rows-1 = tile * r. */
static void multiply_tile(const struct pair_setting *s, struct block b,
                          int64_t count, const double *r, int64_t row,
                          int64_t rows)
{
    if (b.width > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows,
                    (int)b.width, (int)count, 1.0, s->w->tile, TILE_STRIDE, r,
                    (int)count, 0.0, b.x + row, (int)s->lda);
}

/* [X_low X_high] <- [X_low X_high] R by row tiles that stay in cache. */
static void update_rotated(const struct pair_setting *s, struct block low,
                           struct block high)
{
    int64_t count = low.width + high.width;
    const double *r = s->w->rotation;
    for (int64_t row = 0; row < s->n; row += TILE_ROWS) {
        int64_t rows = tile_rows(s->n, row);
        load_tile(s, low, high, row, rows);
        multiply_tile(s, low, count, r, row, rows);
        multiply_tile(s, high, count, r + low.width * count, row, rows);
    }
}

/* The same where R only reorders: columns are moved, to the bit. */
void pair_reorder(const struct pair_setting *s, struct block low,
                  struct block high, const int64_t *order, int64_t end)
{
    int64_t count = low.width + high.width;
    for (int64_t row = 0; row < end; row += TILE_ROWS) {
        int64_t rows = tile_rows(end, row);
        load_tile(s, low, high, row, rows);
        for (int64_t j = 0; j < count; j++) {
            double *x = j < low.width ? low.x + j * s->lda
                                      : high.x + (j - low.width) * s->lda;
            memcpy(x + row, s->w->tile + order[j] * TILE_STRIDE,
                   sizeof(double) * (size_t)rows);
        }
    }
}

void pair_meet(const struct pair_setting *setting, struct block low,
               struct block high, bool first, struct pair_work *work)
{
    double start = now(), then;
    int64_t *order = setting->w->order, rotations = 0;
    struct small small;
    if (low.width + high.width == 0)
        return;
    if (first) {
        gram_own(setting, low);
        gram_own(setting, high);
    }
    small_start(&small, setting->w->small, low.width + high.width,
                setting->floor);
    load_gram(setting, &small, low, high);
    double cosine = small_cosine(&small, first ? 0 : low.width);
    work->off_norm = cosine > work->off_norm ? cosine : work->off_norm;
    work->seconds.gram += (then = now()) - start;

    if (!(cosine <= setting->tol))
        rotations = small_diagonalise(&small, cosine);
    bool sorted = sort_columns(setting, &small);
    work->seconds.rotate += (start = now()) - then;
    if (rotations == 0 && sorted)
        return;

    work->rotations += rotations;
    work->moved += !sorted;
    store_own(setting, &small, low, order);
    store_own(setting, &small, high, order + low.width);
    if (rotations > 0) {
        load_rotation(&small, order, setting->w->rotation);
        update_rotated(setting, low, high);
    } else {
        pair_reorder(setting, low, high, order, setting->n);
    }
    work->seconds.update += now() - start;
}
