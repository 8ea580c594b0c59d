/* The kernels of product.c for one instruction set.  Included once for each,
 * after
 *
 *     KERNEL(name)    the name with the set's suffix
 *     LANES           doubles in a vector
 *     TILE_VECTORS, GROUP_COLUMNS
 *                     of an update's accumulators
 *     GRAM_LEFT, GRAM_RIGHT
 *                     of a Gram matrix's accumulators, columns of A and of B
 *
 * so that accumulators, one operand and one vector of the other fit in the
 * set's registers.  The loops over accumulators have constant bounds and are
 * unrolled. */

typedef double KERNEL(vector)
    __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int64_t KERNEL(mask) __attribute__((vector_size(8 * LANES)));
#define vector KERNEL(vector)
#define mask KERNEL(mask)

/* --- update ------------------------------------------------------------- */

/* rows x columns of tile + tile (R - I), stored to x[c]; `r` is a group of
 * R - I, and order[c] the column of the tile that I leaves for x[c]. */
IN_VARIANT void KERNEL(multiply_group)(int64_t count, const double *tile,
                                       const double *r, const int64_t *order,
                                       double *const *x, int64_t columns,
                                       int64_t rows)
{
    vector sum[GROUP_COLUMNS][TILE_VECTORS] = {{{0}}};
    for (int64_t k = 0; k < count; k++) {
        const vector *t = (const vector *)(tile + k * TILE_STRIDE);
        for (int c = 0; c < GROUP_COLUMNS; c++)
            for (int i = 0; i < TILE_VECTORS; i++)
                sum[c][i] += t[i] * r[k * GROUP_COLUMNS + c];
    }
    for (int c = 0; c < GROUP_COLUMNS; c++) {
        if (c >= columns)
            continue;
        const double *t = tile + order[c] * TILE_STRIDE;
        for (int i = 0; i < TILE_VECTORS; i++)
            sum[c][i] += ((const vector *)t)[i];
        if (rows >= TILE_VECTORS * LANES)
            for (int i = 0; i < TILE_VECTORS; i++)
                ((vector *)x[c])[i] = sum[c][i];
        else
            memcpy(x[c], sum[c], sizeof(double) * (size_t)rows);
    }
}

/* What is needed next comes into the cache while this is computed, as many
 * rows and columns of it: the next tile, and the columns ahead. */
IN_VARIANT void KERNEL(prefetch_group)(const struct product *p, int64_t j,
                                       int64_t row, double *const *x)
{
    for (int c = 0; c < GROUP_COLUMNS; c++)
        for (int i = 0; i < TILE_VECTORS * LANES; i += 8)
            __builtin_prefetch(x[c] + TILE_ROWS + i, 1);
    if (row < p->ahead_from)
        return;
    int64_t count = p->ahead.low.width + p->ahead.high.width;
    for (int c = 0; c < GROUP_COLUMNS && j + c < count; c++)
        for (int i = 0; i < TILE_VECTORS * LANES; i += 8)
            __builtin_prefetch(column_of(&p->ahead, p->lda, j + c) + row -
                               p->ahead_from + i);
}

static void KERNEL(multiply_tile)(const struct product *p, int64_t row,
                                  int64_t rows)
{
    int64_t count = p->x.low.width + p->x.high.width;
    for (int64_t j = 0; j < count; j += GROUP_COLUMNS) {
        for (int64_t i = 0; i < rows; i += TILE_VECTORS * LANES) {
            double *x[GROUP_COLUMNS];
            for (int c = 0; c < GROUP_COLUMNS; c++)
                x[c] = column_of(&p->x, p->lda, j + c < count ? j + c : j) +
                       row + i;
            KERNEL(prefetch_group)(p, j, row + i, x);
            KERNEL(multiply_group)(count, p->tile + i, p->packed + j * count,
                                   p->order + j, x, count - j, rows - i);
        }
    }
}

/* --- Gram matrix -------------------------------------------------------- */

IN_VARIANT double KERNEL(sum_of_lanes)(vector v)
{
    double sum[LANES];
    memcpy(sum, &v, sizeof sum);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

/* The first `rows` lanes, zeros in the others: what stands there may be
 * anything. */
IN_VARIANT vector KERNEL(first_lanes)(const double *x, int64_t rows)
{
    mask bits;
    vector v = *(const vector *)x;
    for (int k = 0; k < LANES; k++)
        bits[k] = k < rows ? -1 : 0;
    return (vector)((mask)v & bits);
}

/* c += A^T B, rows 0 .. rows-1 of GRAM_LEFT and GRAM_RIGHT columns.  What
 * ahead[] points to, in columns like these, comes into the cache. */
IN_VARIANT void KERNEL(gram_group)(int64_t rows, const double *const *a,
                                   const double *const *b,
                                   const double *const *ahead,
                                   double c[GRAM_LEFT][GRAM_RIGHT])
{
    vector sum[GRAM_LEFT][GRAM_RIGHT] = {{{0}}};
    int64_t whole = rows / LANES * LANES;
    for (int64_t k = 0; k < whole; k += LANES) {
        vector x[GRAM_LEFT];
        __builtin_prefetch(ahead[0] + k);
        __builtin_prefetch(ahead[1] + k);
        for (int u = 0; u < GRAM_LEFT; u++)
            x[u] = *(const vector *)(a[u] + k);
        for (int v = 0; v < GRAM_RIGHT; v++)
            for (int u = 0; u < GRAM_LEFT; u++)
                sum[u][v] += x[u] * *(const vector *)(b[v] + k);
    }
    if (whole < rows) {
        vector x[GRAM_LEFT];
        for (int u = 0; u < GRAM_LEFT; u++)
            x[u] = KERNEL(first_lanes)(a[u] + whole, rows - whole);
        for (int v = 0; v < GRAM_RIGHT; v++)
            for (int u = 0; u < GRAM_LEFT; u++)
                sum[u][v] += x[u] * KERNEL(first_lanes)(b[v] + whole,
                                                        rows - whole);
    }
    for (int v = 0; v < GRAM_RIGHT; v++)
        for (int u = 0; u < GRAM_LEFT; u++)
            c[u][v] = KERNEL(sum_of_lanes)(sum[u][v]);
}

/* Columns j .. j+group-1 at row; past the last, the last once more. */
IN_VARIANT void KERNEL(columns_at)(int64_t lda, struct block b, int64_t j,
                                   int group, int64_t row, const double **x)
{
    for (int k = 0; k < group; k++)
        x[k] = b.x + row + lda * (j + k < b.width ? j + k : b.width - 1);
}

/* C += A^T B over some rows.  While group number g is computed, columns 2 g
 * and 2 g + 1 of the next rows are on their way. */
static void KERNEL(gram_rows)(const struct gram *g, int64_t row, int64_t rows)
{
    int64_t number = 0, count = g->x.low.width + g->x.high.width;
    for (int64_t i = 0; i < g->x.low.width; i += GRAM_LEFT)
        for (int64_t j = 0; j < g->x.high.width; j += GRAM_RIGHT) {
            const double *a[GRAM_LEFT], *b[GRAM_RIGHT], *ahead[2];
            double c[GRAM_LEFT][GRAM_RIGHT];
            KERNEL(columns_at)(g->lda, g->x.low, i, GRAM_LEFT, row, a);
            KERNEL(columns_at)(g->lda, g->x.high, j, GRAM_RIGHT, row, b);
            for (int k = 0; k < 2; k++, number++)
                ahead[k] = column_of(&g->x, g->lda,
                                     number < count ? number : count - 1) +
                           row + GRAM_ROWS;
            KERNEL(gram_group)(rows, a, b, ahead, c);
            for (int v = 0; v < GRAM_RIGHT && j + v < g->x.high.width; v++)
                for (int u = 0; u < GRAM_LEFT && i + u < g->x.low.width; u++)
                    g->c[i + u + (j + v) * g->ldc] += c[u][v];
        }
}

static const struct kernels KERNEL(kernels) = {
    GROUP_COLUMNS, KERNEL(multiply_tile), KERNEL(gram_rows)};

#undef vector
#undef mask
#undef KERNEL
#undef LANES
#undef TILE_VECTORS
#undef GROUP_COLUMNS
#undef GRAM_LEFT
#undef GRAM_RIGHT
