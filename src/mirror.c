/* What each entry has to do with its mirror image, when the matrix is
 * distributed by columns.
 *
 * Entry (i,j) and its image (j,i) are in general on different ranks.  The
 * ranks meet in rounds, in round d rank r meets rank d - r (mod P), so that
 * every two meet once and every rank meets itself; they exchange the tiles
 * that mirror each other, a pair of tiles at a time, through the one message
 * buffer. */
#include "mirror.h"

#include <math.h>
#include <string.h>

enum { TILE = MIRROR_TILE };

/* (x + y)/2, exact for x == y; halved first only where the sum overflows,
 * because halving first loses the last bit of a denormal number. */
double mean_of(double x, double y)
{
    double sum = x + y;
    return isinf(sum) ? x / 2 + y / 2 : sum / 2;
}

/* Rows i0 .. of columns j0 .. (numbers of the whole matrix) to a buffer. */
static void copy_tile(const struct columns *c, int64_t i0, int64_t rows,
                      int64_t j0, int64_t cols, double *tile)
{
    for (int64_t j = 0; j < cols; j++)
        memcpy(tile + j * rows, column(c, j0 + j - c->first) + i0,
               sizeof(double) * (size_t)rows);
}

static void compare(struct asymmetry *worst, int64_t i, int64_t j, double below,
                    double above)
{
    double difference = fabs(below - above);
    if (difference > worst->difference)
        *worst = (struct asymmetry){difference, i, j, below, above};
}

/* Put the mirror image (cols x rows) of a tile to use. */
static void use_mirror(struct mirror *m, int64_t i0, int64_t rows, int64_t j0,
                       int64_t cols, const double *image)
{
    for (int64_t j = 0; j < cols; j++) {
        double *x = column(m->columns, j0 + j - m->columns->first) + i0;
        for (int64_t i = 0; i < rows; i++) {
            double other = image[j + i * cols];
            int64_t below = (i0 + i) - (j0 + j); /* > 0: below the diagonal */
            switch (m->action) {
            case MIRROR_COMPARE:
                if (below > 0)
                    compare(&m->worst, i0 + i, j0 + j, x[i], other);
                break;
            case MIRROR_FROM_LOWER: x[i] = below < 0 ? other : x[i]; break;
            case MIRROR_FROM_UPPER: x[i] = below > 0 ? other : x[i]; break;
            case MIRROR_TRANSPOSE: x[i] = other; break;
            case MIRROR_MEAN: x[i] = mean_of(x[i], other); break;
            }
        }
    }
}

/* A tile of columns j0 .. and rows i0 .. of this rank's own columns, and the
 * tile that mirrors it: both are here. */
static void mirror_here(struct mirror *m, int64_t i0, int64_t rows, int64_t j0,
                        int64_t cols)
{
    double *tile = m->ring->bounce, *image = tile + TILE * TILE;
    copy_tile(m->columns, i0, rows, j0, cols, tile);
    copy_tile(m->columns, j0, cols, i0, rows, image);
    use_mirror(m, i0, rows, j0, cols, image);
    if (i0 != j0)
        use_mirror(m, j0, cols, i0, rows, tile);
}

static peigh_status mirror_there(struct mirror *m, int partner, int64_t i0,
                                 int64_t rows, int64_t j0, int64_t cols,
                                 struct failure *f)
{
    double *tile = m->ring->bounce, *image = tile + TILE * TILE;
    copy_tile(m->columns, i0, rows, j0, cols, tile);
    if (ring_swap(m->ring, partner, tile, rows * cols, image, rows * cols, f))
        return f->status;
    use_mirror(m, i0, rows, j0, cols, image);
    return PEIGH_OK;
}

static int64_t tile_size(int64_t start, int64_t end)
{
    return end - start < TILE ? end - start : TILE;
}

/* All pairs of tiles of this rank and a partner.  Both walk them in the same
 * order: the tiles of the lower rank's columns in the outer loop. */
static peigh_status mirror_with(struct mirror *m, int partner,
                                struct failure *f)
{
    peigh_options same = {.block = m->layout->block};
    peigh_layout mine = *m->layout, theirs;
    peigh_layout_for(mine.n, partner, mine.ranks, &same, &theirs);
    bool lower = mine.rank < partner;
    const peigh_layout *a = lower ? &mine : &theirs;
    const peigh_layout *b = lower ? &theirs : &mine;
    int64_t a_end = a->first + a->count, b_end = b->first + b->count;
    for (int64_t s = a->first; s < a_end; s += TILE)
        for (int64_t t = b->first; t < b_end; t += TILE) {
            int64_t in_s = tile_size(s, a_end), in_t = tile_size(t, b_end);
            if (partner == mine.rank && t <= s)
                mirror_here(m, s, in_s, t, in_t);
            else if (partner != mine.rank &&
                     (lower ? mirror_there(m, partner, t, in_t, s, in_s, f)
                            : mirror_there(m, partner, s, in_s, t, in_t, f)))
                return f->status;
        }
    return PEIGH_OK;
}

peigh_status mirror_all(struct mirror *m, enum mirror_action action,
                        struct failure *f)
{
    int rank = m->ring->rank, ranks = m->ring->ranks;
    m->action = action;
    for (int round = 0; round < ranks; round++)
        if (mirror_with(m, (round - rank + ranks) % ranks, f))
            return f->status;
    return PEIGH_OK;
}

