/* One timed run of one solver, eigenvectors included, on the N x N matrix
 * gallery:gaussian:
 *
 *     mpirun -np P build/bench SOLVER N [WIDTH]        (scripts/bench.sh)
 *
 * SOLVER: peigh, pdsyev, pdsyevd, pdsyevr, elpa1, elpa2 (one- and two-stage),
 * or dgemm: the rate of an N x N x N product on every rank at once, best of
 * DGEMM_RUNS.  WIDTH: columns of peigh's blocks, or rows and columns of the
 * peers' square ones.  Rank 0 prints one line of key=value.
 *
 * seconds  between a barrier and the slowest rank's return; set-up that needs
 *          no matrix (grid, workspace query, ELPA's handle) is not counted
 * memory   largest over ranks, bytes: peak resident size less that before the
 *          matrix.  One solver to a process, so nobody inherits a peak
 *
 * The peers' matrix is block-cyclic on a p x q grid, p q = P, p <= q, as
 * square as the divisors of P allow. */
#include "report.h"
#include "ring.h"
#include "scalapack.h"

#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifdef PEIGH_BENCH_ELPA
#include <elpa/elpa.h>
#endif

/* Where there is OpenBLAS. */
extern char *openblas_get_corename(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

enum {
    DEFAULT_WIDTH = 32, /* of the peers' blocks */
    DGEMM_RUNS = 5,
    DESCRIPTOR = 9,
    WORK_MARGIN = 1024, /* some queries answer a little too few */
};

struct bench {
    const char *solver;
    int n, width; /* width 0: the default */
    int rank, ranks;
    struct source source;
    int64_t baseline;

    double seconds, lowest, highest; /* results, on rank 0 */
    int64_t memory;
};

/* A benchmark has nobody to report to but the script that started it. */
__attribute__((format(printf, 2, 3)))
static void require(bool condition, const char *format, ...)
{
    if (condition)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Zeroed, but not resident before it is written. */
static void *new_array(int64_t count, size_t size)
{
    void *array = calloc(count > 0 ? (size_t)count : 1, size);
    require(array != NULL, "out of memory");
    return array;
}

static double *new_doubles(int64_t count)
{
    return new_array(count, sizeof(double));
}

static double start_clock(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* Before anything is checked: the solver's time and memory. */
static void stop_clock(struct bench *b, double start)
{
    double seconds = MPI_Wtime() - start;
    int64_t memory = resident_peak() - b->baseline;
    MPI_Reduce(&seconds, &b->seconds, 1, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(&memory, &b->memory, 1, MPI_INT64_T, MPI_MAX, 0,
               MPI_COMM_WORLD);
}

/* The buffers that MPI and the BLAS make on first use belong to nobody. */
static void note_baseline(struct bench *b)
{
    enum { SIZE = 64 };
    static double x[SIZE * SIZE], y[SIZE * SIZE];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE,
                1.0, x, SIZE, x, SIZE, 0.0, y, SIZE);
    MPI_Allreduce(MPI_IN_PLACE, y, SIZE * SIZE, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    b->baseline = resident_peak();
}

static void print_common(const struct bench *b, int64_t width)
{
    printf("solver=%s ranks=%d n=%d block=%" PRId64 " blas=%s seconds=%.6f "
           "memory=%" PRId64 " lowest=%.17g highest=%.17g", b->solver,
           b->ranks, b->n, width,
           openblas_get_corename ? openblas_get_corename() : "unknown",
           b->seconds, b->memory, b->lowest, b->highest);
}

/* --- peigh ------------------------------------------------------------- */

static void run_peigh(struct bench *b)
{
    struct failure f = {.status = PEIGH_OK};
    peigh_options options = peigh_options_default();
    peigh_layout l;
    peigh_report r;
    options.block = b->width;
    require(!peigh_layout_for(b->n, b->rank, b->ranks, &options, &l),
            "no layout for n = %d, width %d", b->n, b->width);
    double *a = new_array((int64_t)peigh_array_bytes(&l), 1);
    double *values = new_array((int64_t)peigh_values_bytes(&l), 1);
    if (l.count > 0)
        b->source.fill(&b->source, 0, l.n, l.first, l.first + l.count, a,
                       l.lda, &f);

    double start = start_clock();
    peigh_status status = peigh_solve(&l, a, values, MPI_COMM_WORLD, &options,
                                      &r);
    stop_clock(b, start);
    require(!failed(&f) && !status, "peigh: %s%s", f.message, r.message);

    struct ring ring;
    struct verification v;
    const struct matrix matrix = {&b->source, PEIGH_FULL, false};
    double *all = new_doubles(b->n);
    require(!ring_open(&ring, MPI_COMM_WORLD, &f) &&
                !verify_result(&ring, &l, &matrix, a, values, &v, &f) &&
                !peigh_gather_values(&l, values, all, MPI_COMM_WORLD),
            "peigh: %s", f.message);
    b->lowest = all[0];
    b->highest = all[b->n - 1];
    if (b->rank == 0) {
        print_common(b, l.block);
        printf(" grid=1x%d setup=%.6f gram=%.6f rotate=%.6f update=%.6f "
               "exchange=%.6f sweeps=%d messages=%" PRId64 " bytes=%" PRId64
               " residual=%.4f orthogonality=%.4f\n", b->ranks,
               r.seconds.setup, r.seconds.gram, r.seconds.rotate,
               r.seconds.update, r.seconds.exchange, r.sweeps, r.messages,
               r.bytes_sent, v.residual, v.orthogonality);
    }
    ring_close(&ring);
    free(all);
    free(values);
    free(a);
}

/* --- the peers --------------------------------------------------------- */

struct peer_problem {
    int n, nb;
    int rows, columns, row, column; /* grid, and this rank's place in it */
    int local_rows, local_columns, lld;
    int desc[DESCRIPTOR];
    double *a, *z, *w; /* matrix, eigenvectors (local parts); eigenvalues */
};

static void open_grid(struct peer_problem *x, int ranks)
{
    for (int p = 1; p <= ranks / p; p++)
        if (ranks % p == 0) {
            x->rows = p;
            x->columns = ranks / p;
        }
    const int zero = 0;
    int context = Csys2blacs_handle(MPI_COMM_WORLD), info;
    Cblacs_gridinit(&context, "Row", x->rows, x->columns);
    Cblacs_gridinfo(context, &x->rows, &x->columns, &x->row, &x->column);
    x->local_rows = numroc_(&x->n, &x->nb, &x->row, &zero, &x->rows);
    x->local_columns = numroc_(&x->n, &x->nb, &x->column, &zero, &x->columns);
    x->lld = x->local_rows > 0 ? x->local_rows : 1;
    descinit_(x->desc, &x->n, &x->n, &x->nb, &x->nb, &zero, &zero, &context,
              &x->lld, &info);
    require(info == 0, "descinit: info = %d", info);
}

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

/* Block (k, m) of the matrix is local block (k / rows, m / columns). */
static void fill_blocks(struct peer_problem *x, const struct source *source)
{
    struct failure f = {.status = PEIGH_OK};
    const int n = x->n, nb = x->nb;
    for (int m = x->column; m * nb < n; m += x->columns)
        for (int k = x->row; k * nb < n; k += x->rows)
            source->fill(source, k * nb, smaller(n, (k + 1) * nb), m * nb,
                         smaller(n, (m + 1) * nb),
                         x->a + (int64_t)(k / x->rows) * nb +
                             (int64_t)(m / x->columns) * nb * x->lld,
                         x->lld, &f);
    require(!failed(&f), "%s", f.message);
}

static int call_scalapack(struct peer_problem *x, const char *solver,
                          double *work, int lwork, int *iwork, int liwork)
{
    const int one = 1;
    const double none = 0.0;
    int values, vectors, info = 0;
    if (!strcmp(solver, "pdsyev"))
        pdsyev_("V", "L", &x->n, x->a, &one, &one, x->desc, x->w, x->z, &one,
                &one, x->desc, work, &lwork, &info);
    else if (!strcmp(solver, "pdsyevd"))
        pdsyevd_("V", "L", &x->n, x->a, &one, &one, x->desc, x->w, x->z,
                 &one, &one, x->desc, work, &lwork, iwork, &liwork, &info);
    else
        pdsyevr_("V", "A", "L", &x->n, x->a, &one, &one, x->desc, &none,
                 &none, &one, &x->n, &values, &vectors, x->w, x->z, &one,
                 &one, x->desc, work, &lwork, iwork, &liwork, &info);
    return info;
}

static void solve_scalapack(struct bench *b, struct peer_problem *x)
{
    double answer[3] = {0}; /* pdsyevr's query writes more than one */
    int integers[3] = {0};
    int info = call_scalapack(x, b->solver, answer, -1, integers, -1);
    require(info == 0, "%s refuses n = %d, nb = %d: info = %d", b->solver,
            x->n, x->nb, info);
    int lwork = (int)answer[0] + WORK_MARGIN;
    int liwork = integers[0] + WORK_MARGIN;
    double *work = new_doubles(lwork);
    int *iwork = new_array(liwork, sizeof *iwork);

    double start = start_clock();
    info = call_scalapack(x, b->solver, work, lwork, iwork, liwork);
    stop_clock(b, start);
    require(info == 0, "%s: info = %d", b->solver, info);
    free(iwork);
    free(work);
}

#ifdef PEIGH_BENCH_ELPA
static void solve_elpa(struct bench *b, struct peer_problem *x)
{
    const struct { const char *name; int value; } setting[] = {
        {"na", x->n}, {"nev", x->n}, {"nblk", x->nb},
        {"local_nrows", x->lld}, {"local_ncols", x->local_columns},
        {"mpi_comm_parent", (int)MPI_Comm_c2f(MPI_COMM_WORLD)},
        {"process_row", x->row}, {"process_col", x->column},
    };
    int error;
    require(elpa_init(ELPA_API_VERSION) == ELPA_OK, "elpa_init");
    elpa_t elpa = elpa_allocate(&error);
    for (size_t k = 0; k < sizeof setting / sizeof *setting; k++) {
        elpa_set_integer(elpa, setting[k].name, setting[k].value, &error);
        require(error == ELPA_OK, "elpa_set %s = %d: %s", setting[k].name,
                setting[k].value, elpa_strerr(error));
    }
    require(elpa_setup(elpa) == ELPA_OK, "elpa_setup");
    bool one_stage = !strcmp(b->solver, "elpa1");
    elpa_set_integer(elpa, "solver",
                     one_stage ? ELPA_SOLVER_1STAGE : ELPA_SOLVER_2STAGE,
                     &error);
    require(error == ELPA_OK, "elpa_set solver: %s", elpa_strerr(error));

    double start = start_clock();
    elpa_eigenvectors(elpa, x->a, x->w, x->z, &error);
    stop_clock(b, start);
    require(error == ELPA_OK, "%s, n = %d, nb = %d: %s", b->solver, x->n,
            x->nb, elpa_strerr(error));
    elpa_deallocate(elpa, &error);
    elpa_uninit(&error);
}
#else
static void solve_elpa(struct bench *b, struct peer_problem *x)
{
    (void)x;
    require(false, "%s: built without ELPA", b->solver);
}
#endif

static void run_peer(struct bench *b,
                     void (*solve)(struct bench *, struct peer_problem *))
{
    struct peer_problem x = {.n = b->n,
                             .nb = b->width ? b->width : DEFAULT_WIDTH};
    open_grid(&x, b->ranks);
    x.a = new_doubles((int64_t)x.lld * x.local_columns);
    x.z = new_doubles((int64_t)x.lld * x.local_columns);
    x.w = new_doubles(x.n);
    fill_blocks(&x, &b->source);
    solve(b, &x);
    b->lowest = x.w[0];
    b->highest = x.w[x.n - 1];
    if (b->rank == 0) {
        print_common(b, x.nb);
        printf(" grid=%dx%d\n", x.rows, x.columns);
    }
    free(x.w);
    free(x.z);
    free(x.a);
}

/* --- the ceiling ------------------------------------------------------- */

static void run_dgemm(struct bench *b)
{
    const int n = b->n;
    double *x = new_doubles((int64_t)n * n), *y = new_doubles((int64_t)n * n);
    double best = INFINITY;
    for (int64_t i = 0; i < (int64_t)n * n; i++)
        x[i] = y[i] = 1e-3 * (double)(i % 997);
    for (int run = 0; run < DGEMM_RUNS; run++) {
        double start = start_clock();
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0,
                    x, n, x, n, 0.0, y, n);
        stop_clock(b, start);
        best = fmin(best, b->seconds);
    }
    b->seconds = best;
    if (b->rank == 0) {
        print_common(b, 0);
        printf(" gflops=%.3f\n", 2e-9 * n * n * (double)n * b->ranks / best);
    }
    free(y);
    free(x);
}

static void run(struct bench *b)
{
    if (!strcmp(b->solver, "peigh"))
        run_peigh(b);
    else if (!strcmp(b->solver, "dgemm"))
        run_dgemm(b);
    else if (!strncmp(b->solver, "elpa", 4))
        run_peer(b, solve_elpa);
    else
        run_peer(b, solve_scalapack);
}

int main(int argc, char **argv)
{
    static const char *const solvers[] = {"peigh", "pdsyev", "pdsyevd",
                                          "pdsyevr", "elpa1", "elpa2",
                                          "dgemm"};
    struct failure f = {.status = PEIGH_OK};
    struct bench b = {.solver = argc > 1 ? argv[1] : "",
                      .n = argc > 2 ? atoi(argv[2]) : 0,
                      .width = argc > 3 ? atoi(argv[3]) : 0};
    bool known = false;
    MPI_Init(&argc, &argv);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        known = known || !strcmp(b.solver, solvers[k]);
    require(known && b.n > 0 && b.width >= 0,
            "usage: bench peigh|pdsyev|pdsyevd|pdsyevr|elpa1|elpa2|dgemm N "
            "[WIDTH]");
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    if (openblas_set_num_threads) /* ranks are the parallelism, for all */
        openblas_set_num_threads(1);
    require(!source_open(&b.source, "gallery:gaussian", b.n, 1, &f), "%s",
            f.message);
    note_baseline(&b);
    run(&b);
    source_close(&b.source);
    MPI_Finalize();
    return 0;
}
