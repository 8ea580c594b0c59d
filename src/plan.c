/* The memory of a run:
 *
 *     columns + eigenvalues + input                        from begin to end
 *     + the largest of workspace, output, check, compare   one after another
 *     + page tables: 8 bytes to a page of 4 KiB
 *     + GROWTH
 *
 * GROWTH is what is measured after MPI and the BLAS have been used for the
 * first time (see main.c) and still comes: program code that is run later,
 * messages to more ranks, the heap's rounding.  0.7 to 2.1 MB were measured
 * on 1 to 64 ranks with files of every kind. */
#include "plan.h"

#include "fill.h"
#include "output.h"
#include "search.h"

enum { GROWTH = 4 << 20, PAGE = 4096, PAGE_ENTRY = 8 };

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t most_at_once(const struct plan *p)
{
    int64_t work = larger(larger(p->solver.workspace_bytes, p->output),
                          larger(p->check, p->compare));
    int64_t always = p->solver.owned_bytes + p->values + p->input + GROWTH;
    if (work > INT64_MAX / 2) /* no memory is enough */
        return INT64_MAX;
    return always + work + (always + work) / PAGE * PAGE_ENTRY;
}

struct plan plan_for(const struct intent *intent, int64_t n, int ranks)
{
    const struct source *source = intent->matrix.source;
    bool mirrored = matrix_is_mirrored(&intent->matrix);
    bool random_access = source->random_access;
    peigh_layout layout; /* rank 0 has the largest share of everything */
    struct plan p = {.most = INT64_MAX};
    if (peigh_layout_for(n, 0, ranks, &intent->solver, &layout) ||
        peigh_memory_for(n, ranks, &intent->solver, &p.solver))
        return p;
    p.values = (int64_t)peigh_values_bytes(&layout);
    p.input = fill_bytes(source) + source->bytes_per_column * n;
    p.output = output_bytes(intent->values_path, intent->vectors_path);
    if (intent->check)
        p.check = verify_bytes(&layout, random_access, mirrored);
    if (intent->compare)
        p.compare = compare_bytes(&layout, intent->peer, random_access,
                                  mirrored);
    p.most = most_at_once(&p);
    return p;
}

static int64_t bytes_of(const void *intent, int64_t n, int ranks)
{
    return plan_for(intent, n, ranks).most;
}

/* The peer's memory may rise with the number of ranks: of 17 it uses 16.  So
 * with it the ranks are tried one by one, from those that would do without. */
int plan_ranks(const struct intent *intent, int64_t n, int64_t bytes)
{
    struct intent alone = *intent;
    alone.compare = false;
    int ranks = search_ranks(bytes_of, &alone, bytes, n, &intent->solver);
    if (!intent->compare || ranks == 0)
        return ranks;
    peigh_layout layout;
    peigh_layout_for(n, 0, 1, &intent->solver, &layout);
    while (ranks <= layout.blocks / 2 && bytes_of(intent, n, ranks) > bytes)
        ranks++;
    return ranks <= layout.blocks / 2 ? ranks : 0;
}

int64_t plan_order(const struct intent *intent, int ranks, int64_t bytes)
{
    return search_order(bytes_of, intent, bytes, ranks, &intent->solver);
}
