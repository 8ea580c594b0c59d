/* The solver, as an outline:
 *
 *     1  check the input, complete it from a triangle          input.c
 *     2  G = 2^-e A + sigma I, or its Cholesky factor:         definite.c
 *        positive definite columns
 *     3  sweeps: blocks meet and move on, until all columns    pair.c,
 *        of G are orthogonal and in the order of their norms   schedule.c
 *     4  blocks back to their places
 *     5  lambda_j = |g_j| - sigma, or |g_j|^2 - sigma;         eigenpairs.c
 *        z_j = g_j / |g_j|
 *
 * One-sided Jacobi on G = A + sigma I keeps no second array: G V has
 * orthogonal columns exactly when V diagonalises G^T G, and then G V = V
 * (Lambda + sigma).  With the Cholesky factor, G G^T = A + sigma I, the squares
 * of the norms are Lambda + sigma. */
#include "arguments.h"
#include "cells.h"
#include "definite.h"
#include "eigenpairs.h"
#include "input.h"
#include "pair.h"
#include "seam.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 30 };

/* Rounding leaves cosines of a few units of roundoff between columns that are
 * as orthogonal as they get, slowly more with longer columns. */
static const double tol_default = 1.2e-15, tol_order = 4096.0;

/* The largest of the n^2/2 cosines is above the default tolerance now and
 * then, by so many times at most. */
static const double cosines_of_rounding = 4.0;

/* Once cosines are below this, each sweep squares them.  If they stop falling
 * there it is rounding that holds them up. */
static const double cosine_of_quadratic = 1e-8;
enum { STALLS_MAX = 3 };

/* Everything a solve works with. */
struct solver {
    struct ring ring;
    struct workspace w;
    struct schedule schedule;
    struct columns columns;
    struct cells cells;
    struct definite definite;
    struct pair_work work; /* of the current sweep */
    double tol;
    int stalls;            /* sweeps in which the cosines did not fall */
    int64_t step;          /* steps since the start, in all sweeps */
    double exchange_seconds;
    double start, sweep_start; /* MPI_Wtime */
    peigh_report *report;
    const peigh_options *options;
    const peigh_layout *layout;
    const struct seam *seam; /* NULL: nobody wants to know the state */
};

peigh_options peigh_options_default(void)
{
    return (peigh_options){.max_sweeps = MAX_SWEEPS};
}

/* For the smallest orders less: a cosine c leaves a residual of up to 2 c
 * ||A|| (A + sigma I has up to twice the norm of A), here 3/4 of n eps. */
static double default_tol(int64_t n)
{
    double small = 0.375 * (double)(n > 1 ? n : 1) * DBL_EPSILON;
    return fmin(small, tol_default * fmax(1.0, sqrt((double)n / tol_order)));
}

/* --- to leave a solve, and to go on with it ------------------------------ */

static struct state state_of(const struct solver *s)
{
    double now = MPI_Wtime();
    return (struct state){
        .step = s->step, .tol = s->tol, .stalls = s->stalls,
        .definite = s->definite, .work = s->work,
        .exchange_seconds = s->exchange_seconds,
        .sweep_seconds = now - s->sweep_start,
        .solve_seconds = now - s->start, .messages = s->ring.messages,
        .bytes = s->ring.bytes, .report = *s->report};
}

static void set_state(struct solver *s, const struct state *state)
{
    double now = MPI_Wtime();
    peigh_report here = *s->report;
    *s->report = state->report;
    s->report->ranks = here.ranks;
    s->report->active_ranks = here.active_ranks;
    s->step = state->step;
    s->tol = state->tol;
    s->stalls = (int)state->stalls;
    s->definite = state->definite;
    s->work = state->work;
    s->exchange_seconds = state->exchange_seconds;
    s->sweep_start = now - state->sweep_seconds;
    s->start = now - state->solve_seconds;
    s->ring.messages = state->messages;
    s->ring.bytes = state->bytes;
}

/* Between two pairs of steps. */
static peigh_status pause_solve(struct solver *s, struct failure *f)
{
    const struct seam *seam = s->seam;
    if (!seam || !seam->due(seam->context, &s->ring, f))
        return f->status;
    struct state state = state_of(s);
    if (state_reduce(&state, &s->ring, f))
        return f->status;
    return seam->save(seam->context, &s->ring, &s->cells, &state, f);
}

static peigh_status resume(struct solver *s, struct failure *f)
{
    struct state state;
    if (s->seam->load(s->seam->context, &s->ring, &s->cells, &state, f))
        return f->status;
    state_share(&state, s->ring.rank);
    set_state(s, &state);
    return PEIGH_OK;
}

/* --- sweeps ------------------------------------------------------------ */

/* Meeting k of this rank in step t; false and blocks without columns if there
 * is none. */
static bool blocks_of_meeting(const struct solver *s, int64_t t, int64_t k,
                              struct block_pair *x)
{
    struct meeting m;
    *x = (struct block_pair){{NULL, 0}, {NULL, 0}};
    if (k >= s->schedule.share.pairs || !schedule_meeting(&s->schedule, t, k, &m))
        return false;
    x->low = cells_block(&s->cells, m.low);
    x->high = cells_block(&s->cells, m.high);
    return true;
}

/* Where a block's first column has the step of its last change. */
static int64_t changed_row(const struct solver *s)
{
    return s->columns.n + header_fixed_row(s->layout->block) + HEADER_CHANGED;
}

/* Meeting k in step t, while pair `next` of the even step is on its way into
 * the cache: two_steps() takes the meetings in such an order that those of
 * odd steps find their blocks there. */
static void meet(struct solver *s, int64_t t, int64_t k, int64_t next)
{
    struct pair_setting setting = {
        .n = s->columns.n, .lda = s->columns.lda, .tol = s->tol,
        .floor = s->definite.floor, .w = &s->w, .step = t,
        .sweep_steps = s->schedule.blocks.count,
        .changed_row = changed_row(s)};
    bool first = t % s->schedule.blocks.count == 0;
    struct block_pair x;
    blocks_of_meeting(s, t - t % 2, next, &setting.ahead);
    if (blocks_of_meeting(s, t, k, &x))
        pair_meet(&setting, x.low, x.high, first, &s->work);
}

static peigh_status move_on(struct solver *s, int64_t t, struct failure *f)
{
    double start = MPI_Wtime();
    cells_pass(&s->cells, &s->ring, t, f);
    s->exchange_seconds += MPI_Wtime() - start;
    return f->status;
}

/* An even step and the odd one after it.  A meeting of the odd step follows
 * as soon as both of its blocks have met in the even one, while they are in
 * cache; only the last one needs the block from the neighbour. */
static peigh_status two_steps(struct solver *s, struct failure *f)
{
    int64_t even = s->step, odd = even + 1, pairs = s->schedule.share.pairs;
    for (int64_t k = 0; k < pairs; k++) {
        meet(s, even, k, k + 1);
        if (k > 0)
            meet(s, odd, k - 1, k + 1);
    }
    if (move_on(s, even, f))
        return f->status;
    if (pairs > 0)
        meet(s, odd, pairs - 1, pairs);
    s->step += 2;
    return move_on(s, odd, f);
}

/* Every two blocks meet once, as far as they have not yet.  Leaves in s->work what all ranks did, and the
 * time of the slowest. */
static peigh_status sweep(struct solver *s, double *seconds,
                          struct failure *f)
{
    if (s->step % s->schedule.blocks.count == 0) {
        s->sweep_start = MPI_Wtime();
        s->work.off_norm = 0.0;
        s->work.rotations = s->work.moved = 0;
    }
    do {
        if (pause_solve(s, f) || two_steps(s, f))
            return f->status;
    } while (s->step % s->schedule.blocks.count != 0);
    int64_t sums[2] = {s->work.rotations, s->work.moved};
    double most[2] = {s->work.off_norm, MPI_Wtime() - s->sweep_start};
    if (ring_max_double(&s->ring, most, 2, f) ||
        ring_sum_int64(&s->ring, sums, 2, f))
        return f->status;
    s->work.off_norm = most[0];
    *seconds = most[1];
    s->work.rotations = sums[0];
    s->work.moved = sums[1];
    return PEIGH_OK;
}

/* Sweeps that are still to come, for the progress line: about eight in all;
 * once the cosines are squared by each, count the squarings, and one sweep
 * to see that nothing is left. */
static double sweeps_left(int done, double off_norm, double tol, bool settled)
{
    const double usual = 8.0;
    if (settled)
        return 0.0;
    if (off_norm <= 0.1)
        return 1.0 + fmax(0.0, ceil(log2(log(tol) / log(off_norm))) - 1.0);
    return fmax(3.0, usual - done);
}

static void tell_progress(const struct solver *s, double seconds, bool settled)
{
    const peigh_report *r = s->report;
    double off_norm = r->off_norm[r->sweeps - 1];
    peigh_sweep now = {
        .sweep = r->sweeps, .off_norm = off_norm,
        .rotations = s->work.rotations, .seconds = seconds,
        .remaining = seconds *
            sweeps_left(r->sweeps, off_norm, s->tol, settled)};
    if (s->options->progress)
        s->options->progress(s->options->progress_context, &now);
}

/* Cosines that were in quadratic convergence and have stopped falling: at the
 * level of rounding that is all that can be had, and the tolerance gives way;
 * above it something is wrong. */
static peigh_status judge_stall(struct solver *s, struct failure *f)
{
    const peigh_report *r = s->report;
    double rounding = (double)s->columns.n * DBL_EPSILON;
    double off = r->off_norm[r->sweeps - 1];
    double before = r->sweeps > 1 ? r->off_norm[r->sweeps - 2] : 1.0;
    if (!(before <= cosine_of_quadratic && off > 0.5 * before))
        return PEIGH_OK;
    if (off <= rounding)
        s->tol = fmax(s->tol, 2.0 * off);
    else if (++s->stalls == STALLS_MAX)
        return fail(f, PEIGH_ERR_NO_CONVERGENCE,
                    "no convergence: the largest cosine has stopped falling "
                    "at %.3g (sweep %d), above rounding (%.3g)", off,
                    r->sweeps, rounding);
    return PEIGH_OK;
}

/* A sweep without rotations leaves the columns sorted, whatever it moved, when
 * the blocks have one width: its steps are those of the odd-even transposition
 * sort of M blocks, which takes M (N. Haberman, 1972; G. Baudet & D. Stevenson,
 * 1978, for blocks).  A sweep that rotated only cosines at the level of
 * rounding, and moved nothing, would be followed by another of the kind. */
static bool is_settled(const struct solver *s)
{
    const struct blocks *blocks = &s->schedule.blocks;
    double rounding = cosines_of_rounding * default_tol(s->columns.n);
    bool sorted = s->work.moved == 0 || blocks->n % blocks->count == 0;
    return (s->work.rotations == 0 && sorted) ||
           (s->work.moved == 0 && s->work.off_norm <= rounding);
}

static peigh_status diagonalise(struct solver *s, struct failure *f)
{
    peigh_report *r = s->report;
    while (r->sweeps < s->options->max_sweeps) {
        double seconds = 0.0;
        if (sweep(s, &seconds, f))
            return f->status;
        r->off_norm[r->sweeps++] = s->work.off_norm;
        r->rotations += s->work.rotations;
        bool settled = is_settled(s);
        tell_progress(s, seconds, settled);
        if (settled)
            return PEIGH_OK;
        if (judge_stall(s, f))
            return f->status;
    }
    return fail(f, PEIGH_ERR_NO_CONVERGENCE,
                "no convergence in %d sweeps: the largest cosine is still "
                "%.3g, the tolerance %.3g", r->sweeps,
                r->off_norm[r->sweeps - 1], s->tol);
}

/* --- result ------------------------------------------------------------ */

static peigh_status finish(struct solver *s, double *values,
                           struct failure *f)
{
    if (eigenpairs(&s->ring, &s->columns, &s->definite, s->tol, values, f))
        return f->status;
    s->report->shift = scalbn(s->definite.sigma, s->definite.exponent);
    s->report->cholesky = s->definite.cholesky;
    s->report->relative = s->definite.relative;
    return PEIGH_OK;
}

/* --- report ------------------------------------------------------------ */

static void start_report(const struct solver *s)
{
    peigh_report *r = s->report;
    *r = (peigh_report){.n = s->layout->n, .block = s->layout->block,
                        .blocks = s->layout->blocks, .ranks = s->ring.ranks,
                        .active_ranks = s->schedule.share.active};
}

/* Largest over ranks of what each has measured. */
static void finish_report(struct solver *s, struct failure *f)
{
    peigh_report *r = s->report;
    r->seconds.solve = MPI_Wtime() - s->start;
    r->seconds.gram = s->work.seconds.gram;
    r->seconds.rotate = s->work.seconds.rotate;
    r->seconds.update = s->work.seconds.update;
    r->seconds.exchange = s->exchange_seconds;
    if (f->status == PEIGH_ERR_MPI)
        return; /* the others may not be there any more */
    double *seconds = &r->seconds.setup;
    ring_max_double(&s->ring, seconds, sizeof r->seconds / sizeof(double), f);
    int64_t most[4] = {(int64_t)peigh_array_bytes(s->layout), s->w.bytes,
                       r->messages, r->bytes_sent};
    ring_max_int64(&s->ring, most, 4, f);
    r->memory = (peigh_memory){most[0], most[1]};
    r->messages = most[2];
    r->bytes_sent = most[3];
}

/* --- the outline ------------------------------------------------------- */

/* Stages 1 and 2. */
static peigh_status begin(struct solver *s, struct failure *f)
{
    struct input_report input;
    const struct permuter permuter = {&s->ring,     s->layout, &s->schedule,
                                      &s->columns, &s->cells, &s->w};
    if (input_prepare(&s->ring, s->layout, &s->columns, s->options, &input,
                      f) ||
        definite_make(&permuter, s->options->definite, input.largest,
                      &s->definite, f))
        return f->status;
    s->report->asymmetry = input.asymmetry;
    s->report->seconds.setup = MPI_Wtime() - s->start;

    for (int64_t j = 0; j < s->columns.count; j++)
        column(&s->columns, j)[changed_row(s)] = 0.0;
    cells_spread(&s->cells);
    s->ring.messages = s->ring.bytes = 0; /* count the sweeps' */
    return PEIGH_OK;
}

static peigh_status solve(struct solver *s, double *values,
                          struct failure *f)
{
    const struct permuter permuter = {&s->ring,     s->layout, &s->schedule,
                                      &s->columns, &s->cells, &s->w};
    if ((s->seam && s->seam->load ? resume : begin)(s, f))
        return f->status;
    peigh_status status = diagonalise(s, f);
    s->report->messages = s->ring.messages;
    s->report->bytes_sent = s->ring.bytes;
    if (status || cells_home(&s->cells, &s->ring, s->report->sweeps, f) ||
        finish(s, values, f))
        return f->status;
    return s->definite.permuted ? permute_rows_back(&permuter, f) : PEIGH_OK;
}

static peigh_status open_solver(struct solver *s, double *a, double *values,
                                struct failure *f)
{
    const peigh_layout *l = s->layout;
    if (arguments_check(&s->ring, l, s->options, a, values, f))
        return f->status;
    s->schedule = schedule_of(l->n, l->block, l->rank, l->ranks);
    s->columns = (struct columns){a, l->n, l->first, l->count, l->lda};
    s->cells = (struct cells){&s->schedule, &s->columns};
    s->tol = s->options->tol > 0.0 ? s->options->tol : default_tol(l->n);
    start_report(s);
    workspace_open(&s->w, l->block, f);
    if (ring_agree(&s->ring, f))
        return f->status;
    s->ring.bounce = s->w.chunk;
    s->ring.chunk = CHUNK_DOUBLES;
    return PEIGH_OK;
}

peigh_status solve_with_seam(const peigh_layout *layout, double *a,
                             double *values, MPI_Comm comm,
                             const peigh_options *options,
                             const struct seam *seam, peigh_report *report)
{
    const peigh_options defaults = peigh_options_default();
    peigh_report unwanted;
    struct failure f = {.status = PEIGH_OK};
    struct solver s = {.layout = layout,
                       .options = options ? options : &defaults,
                       .report = report ? report : &unwanted,
                       .seam = seam, .start = MPI_Wtime()};
    memset(s.report, 0, sizeof *s.report);
    if (ring_open(&s.ring, comm, &f) || open_solver(&s, a, values, &f))
        goto cleanup;
    solve(&s, values, &f);
    finish_report(&s, &f);
cleanup:
    workspace_close(&s.w);
    ring_close(&s.ring);
    s.report->status = f.status;
    memcpy(s.report->message, f.message, sizeof f.message);
    return f.status;
}

peigh_status peigh_solve(const peigh_layout *layout, double *a,
                         double *values, MPI_Comm comm,
                         const peigh_options *options, peigh_report *report)
{
    return solve_with_seam(layout, a, values, comm, options, NULL, report);
}
