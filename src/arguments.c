/* Are the arguments of a call what they should be, and the same everywhere? */
#include "arguments.h"

#include "layout.h"

#include <limits.h>
#include <string.h>

static void check_options(const peigh_options *o, struct failure *f)
{
    if (!(o->tol >= 0.0 && o->tol < 1.0))
        fail(f, PEIGH_ERR_ARGUMENT, "tol is %g, not between 0 and 1", o->tol);
    if (o->max_sweeps < 1 || o->max_sweeps > PEIGH_SWEEPS_MAX)
        fail(f, PEIGH_ERR_ARGUMENT, "max_sweeps is %d, not between 1 and %d",
             o->max_sweeps, PEIGH_SWEEPS_MAX);
    if (o->uplo != PEIGH_FULL && o->uplo != PEIGH_LOWER &&
        o->uplo != PEIGH_UPPER)
        fail(f, PEIGH_ERR_ARGUMENT, "uplo is %d, not a peigh_uplo",
             (int)o->uplo);
    if (o->definite != PEIGH_DEFINITE_AUTO &&
        o->definite != PEIGH_DEFINITE_YES && o->definite != PEIGH_DEFINITE_NO)
        fail(f, PEIGH_ERR_ARGUMENT, "definite is %d, not a peigh_definite",
             (int)o->definite);
    if (o->symmetrize && o->uplo != PEIGH_FULL)
        fail(f, PEIGH_ERR_ARGUMENT,
             "symmetrize needs both triangles (uplo is not PEIGH_FULL)");
}

static void check_layout(const struct ring *ring, const peigh_layout *l,
                         const peigh_options *o, struct failure *f)
{
    peigh_options same = {.block = l->block};
    peigh_layout expected;
    if (l->ranks != ring->ranks || l->rank != ring->rank)
        fail(f, PEIGH_ERR_ARGUMENT, "the layout is for rank %d of %d, this is "
             "rank %d of %d", l->rank, l->ranks, ring->rank, ring->ranks);
    else if (l->block < 1 ||
             peigh_layout_for(l->n, l->rank, l->ranks, &same, &expected) ||
             l->first != expected.first || l->count != expected.count ||
             l->capacity < expected.capacity || l->lda < expected.lda ||
             l->lda > INT_MAX || l->blocks != expected.blocks)
        fail(f, PEIGH_ERR_ARGUMENT,
             "the layout is not one that peigh_layout_for made");
    else if (o->block != 0 && o->block != l->block)
        fail(f, PEIGH_ERR_ARGUMENT, "options.block is %lld but the layout is "
             "for %lld", (long long)o->block, (long long)l->block);
}

/* All ranks must have been called with the same order and options. */
static peigh_status check_same(struct ring *ring, const peigh_layout *l,
                               const peigh_options *o, struct failure *f)
{
    enum { COUNT = 8 };
    int64_t tol_bits;
    memcpy(&tol_bits, &o->tol, sizeof tol_bits);
    const char *name[COUNT] = {"n", "block", "lda", "tol", "max_sweeps",
                               "uplo", "symmetrize", "definite"};
    const int64_t mine[COUNT] = {l->n, l->block, l->lda, tol_bits,
                                 o->max_sweeps, o->uplo, o->symmetrize,
                                 o->definite};
    int64_t bounds[2 * COUNT];
    for (int k = 0; k < COUNT; k++) {
        bounds[k] = mine[k];
        bounds[COUNT + k] = ~mine[k]; /* falls as mine rises */
    }
    if (ring_max_int64(ring, bounds, 2 * COUNT, f))
        return f->status;
    for (int k = 0; k < COUNT; k++)
        if (bounds[k] != ~bounds[COUNT + k])
            fail(f, PEIGH_ERR_ARGUMENT,
                 "%s is not the same on all ranks", name[k]);
    return f->status;
}

peigh_status arguments_check(struct ring *ring, const peigh_layout *layout,
                             const peigh_options *options, const double *a,
                             const double *values, struct failure *f)
{
    check_options(options, f);
    check_layout(ring, layout, options, f);
    if (!failed(f) && layout->count > 0 && (!a || !values))
        fail(f, PEIGH_ERR_ARGUMENT, "a or values is NULL");
    if (ring_agree(ring, f))
        return f->status;
    return check_same(ring, layout, options, f);
}
