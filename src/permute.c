/* Rows and columns in a better order, and back, in place.
 *
 * Columns are sorted by the ring: in one sweep of the schedule every two
 * blocks meet, the smaller keys go to the block with the lower home, and the
 * whole line is sorted (odd-even transposition sort, N. Haberman 1972).  Rows
 * are sorted as the columns of the transposed matrix.  So
 *
 *     A (symmetric)  -> sort -> A P  -> transpose -> P^T A  -> sort ->
 *     P^T A P,
 *     Z -> transpose -> Z^T -> sort by the old numbers -> (P Z)^T ->
 *     transpose -> P Z,
 *
 * and no rank ever holds the permutation.  The key is in the first row of
 * the header, the number of a column in the second; both move with it. */
#include "permute.h"

#include "layout.h"

#include <float.h>
#include <math.h>

enum {
    KEY = 0, NUMBER = 1, /* rows of the header that move */
    MOVING = 2,
};

static double *header(const struct permuter *p, int64_t j, int64_t row)
{
    return column(p->columns, j) + p->columns->n + row;
}

static double *fixed(const struct permuter *p, int64_t j, int64_t row)
{
    return header(p, j, header_fixed_row(p->layout->block) + row);
}

/* Two blocks meet: smaller keys into the one with the lower home. */
static void sort_pair(const struct permuter *p, struct block low,
                      struct block high)
{
    const struct pair_setting setting = {
        .n = p->columns->n, .lda = p->columns->lda, .w = p->w};
    double *keys = p->w->keys;
    int64_t count = low.width + high.width, lda = p->columns->lda;
    for (int64_t k = 0; k < count; k++)
        keys[k] = k < low.width
                      ? low.x[setting.n + KEY + k * lda]
                      : high.x[setting.n + KEY + (k - low.width) * lda];
    if (!sort_by_key(count, keys, 0.0, p->w->order))
        pair_reorder(&setting, low, high, p->w->order, setting.n + MOVING);
}

static peigh_status sort_columns(const struct permuter *p, struct failure *f)
{
    const struct schedule *s = p->schedule;
    cells_spread(p->cells);
    for (int64_t t = 0; t < s->blocks.count; t++) {
        struct meeting m;
        for (int64_t k = 0; k < s->share.pairs; k++)
            if (schedule_meeting(s, t, k, &m))
                sort_pair(p, cells_block(p->cells, m.low),
                          cells_block(p->cells, m.high));
        if (cells_pass(p->cells, p->ring, t, f))
            return f->status;
    }
    return cells_home(p->cells, p->ring, 1, f);
}

static peigh_status transpose(const struct permuter *p, struct failure *f)
{
    struct mirror m = {.ring = p->ring, .layout = p->layout,
                       .columns = p->columns};
    return mirror_all(&m, MIRROR_TRANSPOSE, f);
}

/* Are the keys ascending, across ranks too? */
static peigh_status check_sorted(const struct permuter *p, bool *sorted,
                                 struct failure *f)
{
    const struct columns *c = p->columns;
    int active = p->schedule->share.active, rank = p->ring->rank;
    int64_t bad = 0;
    double next = c->count ? *header(p, 0, KEY) : INFINITY;
    if (rank < active && active > 1 &&
        ring_pass(p->ring, &next, 1, (rank + active - 1) % active, 1,
                  (rank + 1) % active, f))
        return f->status;
    if (rank + 1 >= active)
        next = INFINITY;
    for (int64_t j = 0; j < c->count; j++) {
        double after = j + 1 < c->count ? *header(p, j + 1, KEY) : next;
        bad += *header(p, j, KEY) > after;
    }
    if (ring_max_int64(p->ring, &bad, 1, f))
        return f->status;
    *sorted = bad == 0;
    return PEIGH_OK;
}

/* Bits of a number below 2^30 in reverse: 0, 1, 2, 3 ... become far apart. */
static int64_t reversed_bits(int64_t x)
{
    int64_t y = 0;
    for (int bit = 0; bit < 30; bit++)
        y |= ((x >> bit) & 1) << (29 - bit);
    return y;
}

static double key_of(enum permute_order order, double diagonal,
                     int64_t number)
{
    int exponent;
    if (order == PERMUTE_DIAGONAL)
        return diagonal;
    frexp(diagonal, &exponent);
    if (!(diagonal > 0.0))
        exponent = DBL_MIN_EXP - DBL_MANT_DIG; /* below all others */
    return ldexp(exponent, 30) + (double)reversed_bits(number);
}

void permute_start(const struct permuter *p)
{
    for (int64_t j = 0; j < p->columns->count; j++)
        *fixed(p, j, HEADER_NUMBER) = (double)(p->columns->first + j);
}

peigh_status permute_columns_and_rows(const struct permuter *p,
                                      enum permute_order order,
                                      bool *permuted, struct failure *f)
{
    bool sorted = false;
    for (int64_t j = 0; j < p->columns->count; j++) {
        double diagonal = column(p->columns, j)[p->columns->first + j];
        *header(p, j, NUMBER) = *fixed(p, j, HEADER_NUMBER);
        *header(p, j, KEY) = *fixed(p, j, HEADER_DIAGONAL) =
            key_of(order, diagonal, (int64_t)*header(p, j, NUMBER));
    }
    if (check_sorted(p, &sorted, f) || sorted)
        return f->status;
    *permuted = true;
    if (sort_columns(p, f) || transpose(p, f))
        return f->status;
    for (int64_t j = 0; j < p->columns->count; j++) {
        *fixed(p, j, HEADER_NUMBER) = *header(p, j, NUMBER);
        *header(p, j, KEY) = *fixed(p, j, HEADER_DIAGONAL);
    }
    return sort_columns(p, f);
}

peigh_status permute_rows_back(const struct permuter *p, struct failure *f)
{
    if (transpose(p, f))
        return f->status;
    for (int64_t j = 0; j < p->columns->count; j++)
        *header(p, j, KEY) = *fixed(p, j, HEADER_NUMBER);
    return sort_columns(p, f) ? f->status : transpose(p, f);
}
