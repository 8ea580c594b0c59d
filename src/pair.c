/* A meeting of two blocks of columns, the heart of the solver:
 *
 *     H = [X_low X_high]^T [X_low X_high]        Gram matrix, 2w x 2w;
 *                                                product.c
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
 * Blocks that have not changed since before they last met are passed over.
 * Two thresholds: another meeting with all cosines up to tol and the norms in order
 * does nothing; but when it does something, every pair above the rounding
 * level is rotated (small.c). */
#include "pair.h"

#include "product.h"
#include "small.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* Of pair_slack: norms that carry more roundings than that are computed anew
 * in every sweep. */
static const double slack_max = 1e-14;

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

/* Neither has changed in their last meeting or since: it would find again
 * that there is nothing to do. */
static bool unchanged(const struct pair_setting *s, struct block b)
{
    return b.width == 0 ||
           b.x[s->changed_row] < (double)(s->step - s->sweep_steps);
}

static void note_change(const struct pair_setting *s, struct block b)
{
    if (b.width > 0)
        b.x[s->changed_row] = (double)s->step;
}

/* Compute a block's own Gram matrix into its header. */
static void gram_own(const struct pair_setting *s, struct block b)
{
    product_gram(s->n, s->lda, b, b, b.x + s->n, s->lda);
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
    product_gram(s->n, s->lda, low, high, cross, count);
    for (int64_t j = 0; j < high.width; j++)
        for (int64_t i = 0; i < low.width; i++)
            small->h[low.width + j + i * count] = cross[i + j * count];
}

double pair_slack(int64_t n)
{
    return fmin(slack_max, 0.125 * (double)n * DBL_EPSILON);
}

static bool in_order(int64_t count, const double *key, double slack)
{
    double most = 0.0;
    for (int64_t k = 0; k < count; k++) {
        if (most > key[k] * (1.0 + slack))
            return false;
        most = fmax(most, key[k]);
    }
    return true;
}

/* Insertion sort, stable: in late sweeps the columns are nearly in order. */
bool sort_by_key(int64_t count, const double *key, double slack,
                 int64_t *order)
{
    bool sorted = in_order(count, key, slack);
    for (int64_t k = 0; k < count; k++) {
        int64_t at = k;
        for (; !sorted && at > 0 && key[order[at - 1]] > key[k]; at--)
            order[at] = order[at - 1];
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
    return sort_by_key(small->count, s->w->keys, pair_slack(s->n),
                       s->w->order);
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

/* Where R only reorders, columns are moved, to the bit. */
void pair_reorder(const struct pair_setting *s, struct block low,
                  struct block high, const int64_t *order, int64_t end)
{
    int64_t count = low.width + high.width;
    for (int64_t row = 0; row < end; row += TILE_ROWS) {
        int64_t rows = end - row < TILE_ROWS ? end - row : TILE_ROWS;
        product_load_tile(s->lda, (struct block_pair){low, high}, row, rows,
                          s->w->tile);
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
    if (unchanged(setting, low) && unchanged(setting, high))
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
    note_change(setting, low);
    note_change(setting, high);
    store_own(setting, &small, low, order);
    store_own(setting, &small, high, order + low.width);
    if (rotations > 0) {
        product_pack(small.count, small.r, order, setting->w->rotation);
        product_update(setting->n, setting->lda,
                       (struct block_pair){low, high}, setting->ahead, order,
                       setting->w->rotation, setting->w->tile);
    } else {
        pair_reorder(setting, low, high, order, setting->n);
    }
    work->seconds.update += now() - start;
}
