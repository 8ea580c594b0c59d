/* The same matrix, solved by ScaLAPACK: pdsyev (QR iteration), pdsyevd (divide
 * and conquer) or pdsyevr (relatively robust representations).
 *
 * They want their matrix block-cyclic on a p x q grid of processes: with
 * blocks of nb x nb, entry (i, j) lives on process
 *
 *     (floor(i / nb) mod p,  floor(j / nb) mod q)
 *
 * at the local index  floor(i / (nb p)) nb + i mod nb, the same for j.  The
 * matrix passes by every rank in pieces (stream.h) and each keeps what is
 * its.  Eigenvectors are computed too (jobz = 'V'): the work we do.
 *
 * They get 2^e A with ||2^e A|| in [1, 2), where ||A|| is taken from our
 * eigenvalues; their eigenvalues are scaled back. */
#include "scalapack.h"
#include "stream.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_MAX = 32,     /* pdsyev's usual blocking factor */
    FLATTEST_GRID = 4,  /* a grid p x q has q <= 4 p; from 4 ranks on */
    DESCRIPTOR = 9,
    WORK_MARGIN = 1024, /* doubles, see workspace_needed */
    /* What BLACS and PBLAS keep for themselves, their code and messages:
     * 1 to 7 MB measured, for N of 1000 and 1600 on 1 to 16 ranks. */
    BUFFERS = 8 << 20,
};

struct grid {
    int rows, columns; /* p, q */
    int row, column;   /* this rank's place; -1: not in the grid */
    int handle, context;
};

struct problem {
    struct ring *ring;
    const peigh_layout *layout;
    const struct matrix *matrix;
    enum peer peer;
    struct grid grid;
    int n, nb;
    int local_rows, local_columns;
    int exponent;
    int desc[DESCRIPTOR];
    double *a, *z, *work; /* local parts; NULL outside of the grid */
    int *iwork;
    int lwork, liwork;
    double *w;            /* n eigenvalues, on every rank */
};

/* p <= q, p q <= ranks, not too flat; the most processes, then the squarest
 * grid.  A grid that leaves out a rank or two beats a 1 x P one. */
static void choose_grid(int ranks, int *rows, int *columns)
{
    int best = 0;
    for (int p = 1; p <= ranks / p; p++) {
        int q = ranks / p;
        if (ranks >= FLATTEST_GRID && q / FLATTEST_GRID >= p)
            q = FLATTEST_GRID * p;
        if (p * q >= best) {
            best = p * q;
            *rows = p;
            *columns = q;
        }
    }
}

static int choose_block(int n, const struct grid *grid)
{
    int most = grid->rows > grid->columns ? grid->rows : grid->columns;
    int nb = n / (4 * most);
    return nb < 1 ? 1 : nb > BLOCK_MAX ? BLOCK_MAX : nb;
}

/* Rows of n, in blocks of nb, on process `coordinate` of `processes`. */
static int local_size(int n, int nb, int coordinate, int processes)
{
    const int source = 0;
    return numroc_(&n, &nb, &coordinate, &source, &processes);
}

/* Collective over the ring; ranks outside of the grid get row = -1. */
static void grid_open(struct grid *grid, MPI_Comm comm)
{
    int rank, ranks;
    Cblacs_pinfo(&rank, &ranks);
    grid->handle = Csys2blacs_handle(comm);
    grid->context = grid->handle;
    Cblacs_gridinit(&grid->context, "Row", grid->rows, grid->columns);
    grid->row = grid->column = -1;
    if (grid->context >= 0)
        Cblacs_gridinfo(grid->context, &grid->rows, &grid->columns,
                        &grid->row, &grid->column);
}

static void grid_close(struct grid *grid)
{
    if (grid->context >= 0)
        Cblacs_gridexit(grid->context);
    Cfree_blacs_system_handle(grid->handle);
}

/* The workspace that pdsyev's documentation asks for with jobz = 'V':
 *
 *     5 n + n ldc + max(sizemqrleft, qrmem) + 1,    qrmem = 2 n - 2,
 *     sizemqrleft = max(nb (nb - 1) / 2, (np + nq) nb) + nb nb,
 *
 * ldc: rows of a column block-cyclic array over all processes.  The tri-
 * diagonal reduction's max(nb (np + 1), 3 nb) is counted as well, and the
 * whole is at least this plus a margin whatever the query (lwork = -1) says:
 * releases are known whose answer is too small for some shapes.  Sizes are
 * those of process (0, 0), which are the largest. */
static int64_t workspace_needed(const struct problem *x)
{
    const struct grid *grid = &x->grid;
    int64_t n = x->n, nb = x->nb;
    int longest = x->n > x->nb ? x->n : x->nb;
    if (longest < 2)
        longest = 2;
    int64_t np = local_size(longest, x->nb, 0, grid->rows);
    int64_t nq = local_size(longest, x->nb, 0, grid->columns);
    int64_t ldc = local_size(x->n, x->nb, 0, grid->rows * grid->columns);
    int64_t multiply = (np + nq > nb ? np + nq : nb) * nb + nb * nb;
    int64_t reduce = nb * (np + 3);
    return 5 * n + n * ldc + multiply + 2 * n + reduce + WORK_MARGIN;
}

/* The workspaces that pdsyevd's and pdsyevr's documentation asks for; bytes.
 * NN is n or a little more, NP and NQ are the local sizes of (0, 0). */
static int64_t peer_workspace(const struct problem *x)
{
    const int64_t n = x->n, nb = x->nb, d = sizeof(double), i = sizeof(int);
    const int64_t p = x->grid.rows, q = x->grid.columns;
    const int64_t most = n > nb ? n : nb, nn = most > 2 ? most : 2;
    int64_t np = local_size((int)nn, x->nb, 0, x->grid.rows);
    int64_t nq = local_size((int)nn, x->nb, 0, x->grid.columns);
    int64_t tridiagonal = 3 * n + nb * (np + 3);
    int64_t conquer = 1 + 6 * n + 2 * np * nq;
    int64_t own = np * nq + 2 * nb * nb, longest = n > p * q ? n : p * q + 1;
    if (x->peer == PDSYEV)
        return d * workspace_needed(x) + i * (1 + WORK_MARGIN);
    if (x->peer == PDSYEVD)
        return d * (2 * n + WORK_MARGIN +
                    (conquer > tridiagonal ? conquer : tridiagonal)) +
               i * (7 * n + 8 * q + 2 + WORK_MARGIN);
    return d * (2 + 5 * n + (18 * nn > own ? 18 * nn : own) +
                (2 + (n + p * q - 1) / (p * q)) * nn + WORK_MARGIN) +
           i * (12 * (longest > 4 ? longest : 4) + 2 * n + WORK_MARGIN);
}

/* pdsyev and pdsyevr bring the eigenvectors from a cyclic distribution into
 * the caller's: the redistribution has a buffer of that size on both sides. */
static int64_t redistribution(const struct problem *x)
{
    int ldc = local_size(x->n, x->nb, 0, x->grid.rows * x->grid.columns);
    return x->peer == PDSYEVD ? 0
                              : 2 * (int64_t)sizeof(double) * x->n * ldc;
}

/* The peers count in 32 bits: above INT_MAX / 16, n alone overflows pdsyev's
 * workspace. */
static bool sizes_fit(const struct problem *x, int64_t n)
{
    if (n > INT_MAX / 16)
        return false;
    int64_t rows = local_size(x->n, x->nb, 0, x->grid.rows);
    int64_t columns = local_size(x->n, x->nb, 0, x->grid.columns);
    return rows * columns <= INT_MAX && workspace_needed(x) <= INT_MAX &&
           peer_workspace(x) / (int64_t)sizeof(double) <= INT_MAX;
}

/* What follows from the order and the number of ranks. */
static struct problem problem_of(int64_t n, int ranks, enum peer peer)
{
    struct problem x = {.peer = peer};
    choose_grid(ranks, &x.grid.rows, &x.grid.columns);
    x.n = n > INT_MAX ? INT_MAX : (int)n;
    x.nb = choose_block(x.n, &x.grid);
    return x;
}

int64_t compare_bytes(const peigh_layout *layout, enum peer peer,
                      bool random_access, bool mirrored)
{
    const int64_t n = layout->n, d = sizeof(double);
    struct problem x = problem_of(n, layout->ranks, peer);
    if (!sizes_fit(&x, n))
        return INT64_MAX;
    int64_t rows = local_size(x.n, x.nb, 0, x.grid.rows);
    int64_t columns = local_size(x.n, x.nb, 0, x.grid.columns);
    int64_t piece = stream_bytes(n, layout->count, random_access, mirrored,
                                 false);
    int64_t moved = redistribution(&x); /* after the pieces have gone */
    return d * (2 * rows * columns + n) + peer_workspace(&x) +
           (piece > moved ? piece : moved) + BUFFERS;
}

const char *peer_name(enum peer peer)
{
    static const char *const name[PEERS] = {
        [PDSYEV] = "pdsyev", [PDSYEVD] = "pdsyevd", [PDSYEVR] = "pdsyevr"};
    return name[peer];
}

static void call_peer(struct problem *x, double *work, int lwork, int *iwork,
                      int liwork, int *info)
{
    const int one = 1;
    const double none = 0.0;
    int values, vectors;
    switch (x->peer) {
    case PDSYEV:
        pdsyev_("V", "L", &x->n, x->a, &one, &one, x->desc, x->w, x->z, &one,
                &one, x->desc, work, &lwork, info);
        iwork[0] = 1;
        break;
    case PDSYEVD:
        pdsyevd_("V", "L", &x->n, x->a, &one, &one, x->desc, x->w, x->z,
                 &one, &one, x->desc, work, &lwork, iwork, &liwork, info);
        break;
    default:
        pdsyevr_("V", "A", "L", &x->n, x->a, &one, &one, x->desc, &none,
                 &none, &one, &x->n, &values, &vectors, x->w, x->z, &one,
                 &one, x->desc, work, &lwork, iwork, &liwork, info);
    }
}

/* Set desc, lwork and liwork.  Collective over the grid: the peers compare
 * arguments even when they are only asked for their workspace. */
static void plan_workspace(struct problem *x, struct failure *f)
{
    const int zero = 0;
    int lld = x->local_rows > 0 ? x->local_rows : 1, info = 0;
    double answer[3] = {0};  /* pdsyevr's query writes more than one */
    int integers[3] = {0};
    descinit_(x->desc, &x->n, &x->n, &x->nb, &x->nb, &zero, &zero,
              &x->grid.context, &lld, &info);
    if (info == 0)
        call_peer(x, answer, -1, integers, -1, &info);
    double lwork = fmax(answer[0] + WORK_MARGIN,
                        x->peer == PDSYEV ? (double)workspace_needed(x) : 0);
    if (info != 0 || lwork > INT_MAX || integers[0] < 0)
        fail(f, PEIGH_ERR_RESULT, "%s refuses n = %d, nb = %d on a "
             "%d x %d grid: info %d, workspace %.0f", peer_name(x->peer),
             x->n, x->nb, x->grid.rows, x->grid.columns, info, lwork);
    x->lwork = failed(f) ? 0 : (int)lwork;
    x->liwork = integers[0] + WORK_MARGIN;
}

static int64_t local_entries(const struct problem *x)
{
    return (int64_t)x->local_rows * x->local_columns;
}

static double *new_doubles(int64_t count)
{
    return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

static peigh_status allocate(struct problem *x, struct failure *f)
{
    bool inside = x->grid.row >= 0;
    x->w = new_doubles(x->n);
    if (inside) {
        x->local_rows = local_size(x->n, x->nb, x->grid.row, x->grid.rows);
        x->local_columns = local_size(x->n, x->nb, x->grid.column,
                                      x->grid.columns);
        x->a = new_doubles(local_entries(x));
        x->z = new_doubles(local_entries(x));
    }
    if (!x->w || (inside && (!x->a || !x->z)))
        fail(f, PEIGH_ERR_MEMORY,
             "no memory for the matrices of %s: %lld bytes",
             peer_name(x->peer), (long long)(2 * local_entries(x) + x->n) * 8);
    if (ring_agree(x->ring, f))
        return f->status;
    if (inside) {
        plan_workspace(x, f);
        x->work = failed(f) ? NULL : new_doubles(x->lwork);
        x->iwork = calloc((size_t)x->liwork, sizeof *x->iwork);
        if (!x->work || !x->iwork)
            fail(f, PEIGH_ERR_MEMORY,
                 "no memory for the workspace of %s: %lld bytes",
                 peer_name(x->peer), (long long)x->lwork * 8);
    }
    return ring_agree(x->ring, f);
}

/* Copy what is this process's out of a piece.  Returns whether all of it is
 * finite: pdsyev might not return from a matrix with NaN in it. */
static bool keep_own(struct problem *x, const struct stream *piece)
{
    const struct grid *grid = &x->grid;
    int64_t nb = x->nb, p = grid->rows, q = grid->columns;
    int64_t rows = piece->i1 - piece->i0;
    bool finite = true;
    for (int64_t j = piece->j0; j < piece->j1; j++) {
        if (j / nb % q != grid->column)
            continue;
        const double *from = piece->a + (j - piece->j0) * rows - piece->i0;
        double *to = x->a + (j / (nb * q) * nb + j % nb) * x->local_rows;
        for (int64_t i = piece->i0; i < piece->i1; i++) {
            if (i / nb % p != grid->row)
                continue;
            to[i / (nb * p) * nb + i % nb] = from[i];
            finite = finite && isfinite(from[i]);
        }
    }
    return finite;
}

static peigh_status distribute(struct problem *x, struct failure *f)
{
    struct stream piece;
    bool finite = true;
    if (stream_open(&piece, x->ring, x->layout, x->matrix, x->exponent, NULL,
                    f))
        goto cleanup;
    while (stream_next(&piece, f))
        if (x->grid.row >= 0 && !keep_own(x, &piece))
            finite = false;
    if (!failed(f) && !finite)
        fail(f, PEIGH_ERR_NOT_FINITE,
             "%s is not given %s: NaN or infinity in the matrix, or it "
             "is larger than its eigenvalues", peer_name(x->peer),
             x->matrix->source->name);
    ring_agree(x->ring, f);
cleanup:
    stream_close(&piece);
    return f->status;
}

/* Run pdsyev; w, scaled back, goes to every rank. */
static peigh_status solve(struct problem *x, double *seconds,
                          struct failure *f)
{
    if (MPI_Barrier(x->ring->comm))
        return fail(f, PEIGH_ERR_MPI, "MPI_Barrier failed before pdsyev");
    if (x->grid.row >= 0) {
        int info = 0;
        double start = MPI_Wtime();
        call_peer(x, x->work, x->lwork, x->iwork, x->liwork, &info);
        *seconds = MPI_Wtime() - start;
        if (info != 0)
            fail(f, PEIGH_ERR_RESULT, "%s failed with info = %d",
                 peer_name(x->peer), info);
    }
    if (ring_agree(x->ring, f)
        || ring_max_double(x->ring, seconds, 1, f)
        || ring_bcast(x->ring, x->w, x->n, 0, f))
        return f->status;
    for (int j = 0; j < x->n; j++)
        x->w[j] = ldexp(x->w[j], -x->exponent);
    return PEIGH_OK;
}

/* max_j |lambda_j - w_j|. */
static peigh_status compare_values(struct problem *x, const double *values,
                                   double *difference, struct failure *f)
{
    double largest = 0;
    for (int64_t j = 0; j < x->layout->count; j++)
        largest = max_or_nan(largest,
                             fabs(values[j] - x->w[x->layout->first + j]));
    if (max_over_ranks(x->ring, &largest, 1, f))
        return f->status;
    *difference = largest;
    return PEIGH_OK;
}

/* 2^exponent ||A|| in [1, 2), if ||A|| is of any use. */
static peigh_status find_exponent(struct problem *x, const double *values,
                                  struct failure *f)
{
    double norm = largest_magnitude(values, x->layout->count);
    if (max_over_ranks(x->ring, &norm, 1, f))
        return f->status;
    x->exponent = norm > 0 && isfinite(norm) ? -ilogb(norm) : 0;
    return PEIGH_OK;
}

static peigh_status run(struct problem *x, const double *values,
                        struct comparison *c, struct failure *f)
{
    double seconds = 0;
    if (find_exponent(x, values, f)
        || allocate(x, f)
        || distribute(x, f)
        || solve(x, &seconds, f)
        || compare_values(x, values, &c->max_eigenvalue_difference, f))
        return f->status;
    c->seconds = seconds;
    c->bytes = (2 * local_entries(x) + x->lwork) * (int64_t)sizeof(double) +
               x->liwork * (int64_t)sizeof(int);
    return ring_max_int64(x->ring, &c->bytes, 1, f);
}

peigh_status compare_peer(struct ring *ring, const peigh_layout *layout,
                          const struct matrix *matrix, const double *values,
                          enum peer peer, double *theirs,
                          struct comparison *c, struct failure *f)
{
    struct problem x = problem_of(layout->n, ring->ranks, peer);
    x.ring = ring;
    x.layout = layout;
    x.matrix = matrix;
    *c = (struct comparison){ .peer = peer, .rows = x.grid.rows,
                              .columns = x.grid.columns };
    if (layout->n == 0)
        return PEIGH_OK;
    c->seconds = c->max_eigenvalue_difference = NAN;
    if (!sizes_fit(&x, layout->n)) /* every rank finds the same */
        return fail(f, PEIGH_ERR_ARGUMENT,
                    "n = %lld is too large for %s on %d processes: it "
                    "counts in 32 bits", (long long)layout->n,
                    peer_name(peer), x.grid.rows * x.grid.columns);

    grid_open(&x.grid, ring->comm);
    if (!run(&x, values, c, f) && theirs)
        memcpy(theirs, x.w, sizeof *theirs * (size_t)x.n);
    grid_close(&x.grid);
    free(x.a);
    free(x.z);
    free(x.work);
    free(x.iwork);
    free(x.w);
    return f->status;
}
