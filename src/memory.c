/* The memory plan of a solve.  A list of pieces is walked once to add up
 * their sizes, which is the plan that peigh_memory_for reports, and once to
 * hand out the pieces of a single allocation of just that size. */
#include "memory.h"

#include "layout.h"
#include "product.h"
#include "small.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; /* a cache line, the widest vector */

/* Cut the next piece off; base NULL only counts. */
static void *piece(char *base, int64_t *used, int64_t bytes)
{
    void *start = base ? base + *used : NULL;
    *used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return start;
}

static int64_t carve(struct workspace *w, char *base, int64_t block)
{
    const int64_t d = sizeof(double), columns = 2 * block;
    int64_t used = 0;
    w->small = piece(base, &used, d * small_doubles(block));
    w->rotation = piece(base, &used, d * product_doubles(block));
    w->tile = piece(base, &used, d * TILE_STRIDE * columns);
    w->chunk = piece(base, &used, d * CHUNK_DOUBLES);
    w->keys = piece(base, &used, d * columns);
    w->order = piece(base, &used, (int64_t)sizeof(int64_t) * columns);
    return used;
}

int64_t workspace_bytes(int64_t block)
{
    struct workspace plan;
    return carve(&plan, NULL, block);
}

peigh_status workspace_open(struct workspace *w, int64_t block,
                            struct failure *f)
{
    w->bytes = workspace_bytes(block);
    w->memory = aligned_alloc(ALIGNMENT, (size_t)w->bytes);
    if (!w->memory)
        return fail(f, PEIGH_ERR_MEMORY,
                    "no memory for the workspace of %lld bytes",
                    (long long)w->bytes);
    /* Taken now, not when it is first touched. */
    memset(w->memory, 0, (size_t)w->bytes);
    carve(w, w->memory, block);
    return PEIGH_OK;
}

void workspace_close(struct workspace *w)
{
    free(w->memory);
    w->memory = NULL;
}

peigh_status peigh_memory_for(int64_t n, int ranks,
                              const peigh_options *options,
                              peigh_memory *memory)
{
    peigh_layout layout; /* rank 0 has the largest share */
    peigh_status status = peigh_layout_for(n, 0, ranks, options, &layout);
    *memory = (peigh_memory){0, 0};
    if (status != PEIGH_OK)
        return status;
    memory->owned_bytes = (int64_t)peigh_array_bytes(&layout);
    memory->workspace_bytes = workspace_bytes(layout.block);
    return PEIGH_OK;
}
