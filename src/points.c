/* Points are read in batches of whole tiles, a few times the size of a page of
 * the file system, and stand in memory as vector code wants them: component
 * by component of a tile. */
#include "points.h"

#include <string.h>

/* Doubles of a batch: 512 KiB, a part of a second-level cache; but a tile at
 * least. */
enum { BATCH_DOUBLES = 64 << 10 };

static int64_t batch_of(const struct table *table)
{
    int64_t batch = BATCH_DOUBLES / (COSINE_TILE * (table->columns + 1));
    return batch > 0 ? batch : 1;
}

int64_t points_doubles(const struct table *table)
{
    return batch_of(table) * COSINE_TILE * (table->columns + 1);
}

void points_open(struct points *p, const struct table *table,
                 const struct table *weights, double *buffer)
{
    *p = (struct points){
        .table = table, .weights = weights, .batch = batch_of(table),
        .tiles = (table->rows + COSINE_TILE - 1) / COSINE_TILE,
        .r = buffer,
        .w = buffer + batch_of(table) * COSINE_TILE * table->columns};
}

static peigh_status read_tile(struct points *p, int64_t tile, double *r,
                              double *w, struct failure *f)
{
    int64_t d = p->table->columns, i0 = tile * COSINE_TILE;
    int64_t left = p->table->rows - i0;
    int64_t count = left < COSINE_TILE ? left : COSINE_TILE;
    if (count < COSINE_TILE) {
        memset(r, 0, sizeof *r * (size_t)(COSINE_TILE * d));
        memset(w, 0, sizeof *w * COSINE_TILE);
    }
    for (int64_t i = 0; i < count; i++)
        w[i] = 1.0;
    if (p->weights->name[0] &&
        table_read(p->weights, i0, i0 + count, 0, 1, w, count, f))
        return f->status;
    return table_read(p->table, i0, i0 + count, 0, d, r, COSINE_TILE, f);
}

peigh_status points_tile(struct points *p, int64_t tile, const double **r,
                         const double **w, struct failure *f)
{
    int64_t d = p->table->columns;
    if (tile < p->tile0 || tile >= p->tile1) {
        p->tile0 = p->tile1 = tile;
        while (p->tile1 < p->tiles && p->tile1 < tile + p->batch) {
            int64_t k = p->tile1 - tile;
            if (read_tile(p, p->tile1, p->r + k * COSINE_TILE * d,
                          p->w + k * COSINE_TILE, f))
                return f->status;
            p->tile1++;
        }
    }
    *r = p->r + (tile - p->tile0) * COSINE_TILE * d;
    *w = p->w + (tile - p->tile0) * COSINE_TILE;
    return PEIGH_OK;
}

peigh_status vectors_read(const struct table *vectors, int64_t j0, int64_t j1,
                          int64_t groups, double *h, struct failure *f)
{
    int64_t d = vectors->columns;
    memset(h, 0, sizeof *h * (size_t)(groups * COSINE_GROUP * d));
    for (int64_t g = 0; g < groups; g++, h += COSINE_GROUP * d) {
        int64_t from = j0 + g * COSINE_GROUP, to = from + COSINE_GROUP;
        if (table_read(vectors, from, to < j1 ? to : j1, 0, d, h,
                       COSINE_GROUP, f))
            return f->status;
    }
    return PEIGH_OK;
}
