/* Gram matrices of tall matrices, in bands of columns:
 *
 *     for each band of columns of A, for each tile of rows of X
 *         A += X_rows^T X_band       in pieces, product.c
 *
 * with the rounding errors of every += on the side, so that the error does
 * not grow with the number of tiles.  Entries of product_gram do not depend
 * on where their columns stand or which comes first, so neither do those of
 * A: not on the band, not on the rank, and a_ij = a_ji to the bit. */
#include "tall.h"

#include "product.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 32,                /* columns: with 512 rows, 128 KiB of X */
    BAND_DOUBLES = 4 << 20,    /* 32 MiB of rounding errors on the side; X is
                                * read again for each band */
    PAD = 8,                   /* strides are no multiples of large powers */
};

struct pass {
    const struct tall *tall;
    int64_t i0, i1, j0, j1; /* rows and columns of the band of A */
    double *x, *y;          /* the tile's columns i0 .. and j0 .. */
    int64_t ldx;
    double *a, *error;      /* error: stride i1 - i0 */
    int64_t lda;
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t band_of(int64_t rows)
{
    int64_t band = BAND_DOUBLES / (rows > 0 ? rows : 1);
    return band > PIECE ? band : PIECE;
}

int64_t tall_bytes(const struct tall *tall, int64_t n)
{
    return (int64_t)sizeof(double) *
           (min64(band_of(n), n) * n + 2 * n * (tall->rows + PAD));
}

/* a + error <- a + error + sign * c; D. E. Knuth, The Art of Computer
 * Programming 2, 4.2.2, theorem B. */
static void add(double *a, double *error, const double *c, int64_t count,
                double sign)
{
    for (int64_t i = 0; i < count; i++) {
        double x = sign * c[i], old = a[i], new = old + x, part = new - old;
        error[i] += (old - (new - part)) + (x - part);
        a[i] = new;
    }
}

static void add_tile(const struct pass *p, double sign)
{
    double c[PIECE * PIECE];
    int64_t rows = p->i1 - p->i0, columns = p->j1 - p->j0;
    for (int64_t j = 0; j < columns; j += PIECE)
        for (int64_t i = 0; i < rows; i += PIECE) {
            struct block left = {.x = p->x + i * p->ldx,
                                 .width = min64(PIECE, rows - i)};
            struct block right = {.x = p->y + j * p->ldx,
                                  .width = min64(PIECE, columns - j)};
            product_gram(p->tall->rows, p->ldx, left, right, c, PIECE);
            for (int64_t k = 0; k < right.width; k++)
                add(p->a + i + (j + k) * p->lda,
                    p->error + i + (j + k) * rows, c + k * PIECE,
                    left.width, sign);
        }
}

static void finish(const struct pass *p)
{
    int64_t rows = p->i1 - p->i0;
    for (int64_t j = 0; j < p->j1 - p->j0; j++)
        for (int64_t i = 0; i < rows; i++) {
            double *a = p->a + i + j * p->lda;
            *a = p->tall->scale * (*a + p->error[i + j * rows]);
        }
}

/* The columns of the band: among those of its rows, or loaded besides. */
static peigh_status load(struct pass *p, int64_t tile, double *besides,
                         int *sign, struct failure *f)
{
    const struct tall *t = p->tall;
    bool inside = p->i0 <= p->j0 && p->j1 <= p->i1;
    p->y = inside ? p->x + (p->j0 - p->i0) * p->ldx : besides;
    if (t->load(t, tile, p->i0, p->i1, p->x, p->ldx, sign, f) || *sign == 0 ||
        inside)
        return f->status;
    return t->load(t, tile, p->j0, p->j1, p->y, p->ldx, sign, f);
}

static peigh_status fill_band(struct pass *p, double *besides, double done,
                              double part, struct progress *progress,
                              struct failure *f)
{
    const struct tall *t = p->tall;
    int64_t rows = p->i1 - p->i0;
    memset(p->error, 0, sizeof(double) * (size_t)(rows * (p->j1 - p->j0)));
    for (int64_t j = 0; j < p->j1 - p->j0; j++)
        memset(p->a + j * p->lda, 0, sizeof(double) * (size_t)rows);
    for (int64_t tile = 0; tile < t->tiles; tile++) {
        int sign = 0;
        if (load(p, tile, besides, &sign, f))
            return f->status;
        if (sign)
            add_tile(p, sign);
        progress_show(progress, done + part * (double)(tile + 1) /
                                           (double)t->tiles);
    }
    finish(p);
    return PEIGH_OK;
}

peigh_status tall_fill(const struct tall *tall, int64_t i0, int64_t i1,
                       int64_t j0, int64_t j1, double *a, int64_t lda,
                       struct progress *progress, struct failure *f)
{
    int64_t rows = i1 - i0, ldx = tall->rows + PAD, band = band_of(rows);
    if (rows <= 0 || j1 <= j0)
        return PEIGH_OK;
    band = min64(band, j1 - j0);
    bool inside = i0 <= j0 && j1 <= i1;
    size_t x = (size_t)(rows * ldx), y = inside ? 0 : (size_t)(band * ldx);
    double *memory = malloc(sizeof *memory *
                            (x + y + (size_t)(rows * band)));
    if (!memory)
        return fail(f, PEIGH_ERR_MEMORY, "no memory for %zu bytes of tiles",
                    sizeof *memory * (x + y + (size_t)(rows * band)));
    for (int64_t j = j0; j < j1 && !failed(f); j += band) {
        struct pass p = {tall, i0, i1, j, min64(j + band, j1), memory, NULL,
                         ldx, a + (j - j0) * lda, memory + x + y, lda};
        fill_band(&p, memory + x, (double)(j - j0) / (double)(j1 - j0),
                  (double)(p.j1 - j) / (double)(j1 - j0), progress, f);
    }
    free(memory);
    return f->status;
}
