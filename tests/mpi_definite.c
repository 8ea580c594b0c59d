/* Positive definite matrices to full relative accuracy; semidefinite and
 * nearly definite ones without failure.  Any number of ranks. */
#include "bounds.h"
#include "cholesky.h"
#include "definite.h"
#include "layout.h"
#include "memory.h"
#include "mpi_case.h"
#include "noise.h"
#include "quad.h"

static const int64_t widths[] = {1, 4, 16, 0};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* --- relative accuracy ------------------------------------------------- */

/* max_j |lambda_j - exact_j| / |exact_j|; NaN if any is. */
static double relative_error(const struct problem *p, const double *exact)
{
    double worst = 0.0;
    int bad = 0;
    for (int64_t j = 0; j < p->layout.count; j++) {
        double reference = exact[p->layout.first + j];
        double error = fabs(p->values[j] - reference) / fabs(reference);
        bad |= !(error >= 0.0);
        worst = fmax(worst, error);
    }
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, p->comm);
    return bad ? NAN : worst;
}

static void expect_relative(struct problem *p, const double *exact)
{
    problem_solve(p);
    expect_everywhere(p->status == PEIGH_OK, "%s: %s", p->source.name,
                      p->report.message);
    expect_everywhere(p->report.relative && p->report.shift == 0.0,
                      "%s: no relative accuracy promised", p->source.name);
    double error = relative_error(p, exact);
    expect_everywhere(error <= 1e-13, "%s w=%lld definite=%d: relative error "
                      "%g", p->source.name, (long long)p->layout.block,
                      (int)p->options.definite, error);
    problem_verify(p);
    expect_everywhere(p->v.residual <= 1.0 && p->v.orthogonality <= 2.0 &&
                      p->v.ascending, "%s: residual %g orthogonality %g",
                      p->source.name, p->v.residual, p->v.orthogonality);
}

START_TEST(graded_files_have_every_eigenvalue_to_1e_minus_13)
{
    static const struct { const char *name; int64_t n; } file[] = {
        {"graded_120", 120}, {"graded_permuted_101", 101}};
    for (int k = 0; k < 2; k++)
        for (int choice = PEIGH_DEFINITE_AUTO; choice <= PEIGH_DEFINITE_YES;
             choice++) {
            char path[100];
            double exact[120];
            struct problem p;
            snprintf(path, sizeof path, "tests/matrices/%s.eig.npy",
                     file[k].name);
            read_values(path, file[k].n, exact);
            snprintf(path, sizeof path, "tests/matrices/%s.npy",
                     file[k].name);
            problem_open(&p, MPI_COMM_WORLD, path, file[k].n, widths[_i]);
            p.options.definite = (peigh_definite)choice;
            expect_relative(&p, exact);
            problem_close(&p);
        }
}
END_TEST

/* --- fresh matrices ----------------------------------------------------- */

/* Diagonals from 10^(2 from) to 10^(2 to). */
static const struct { const char *spec; int64_t n; } fresh[] = {
    {"gallery:graded,from=0,to=-15,seed=%d", 60},
    {"gallery:graded,from=0,to=-15,permute=1,seed=%d", 60},
    {"gallery:graded,from=20,to=-30,permute=1,noise=0.9,seed=%d", 41},
    {"gallery:graded,from=50,to=-75,seed=%d", 33},
    {"gallery:graded,from=-75,to=50,permute=1,noise=0.5,seed=%d", 50},
    {"gallery:graded,from=0,to=-30,permute=1,seed=%d", 120},
};
enum { FRESH = sizeof fresh / sizeof *fresh };

START_TEST(fresh_graded_matrices_agree_with_113_bit_arithmetic)
{
    char spec[200];
    double exact[120];
    struct problem p;
    snprintf(spec, sizeof spec, fresh[_i].spec, 100 + _i);
    problem_open(&p, MPI_COMM_WORLD, spec, fresh[_i].n, 0);
    quad_eigenvalues(&p.source, exact);
    for (int choice = PEIGH_DEFINITE_AUTO; choice <= PEIGH_DEFINITE_YES;
         choice++) {
        p.options.definite = (peigh_definite)choice;
        expect_relative(&p, exact);
    }
    problem_close(&p);
}
END_TEST

/* Real matrices: a stiffness and a power network. */
START_TEST(real_positive_definite_matrices_agree_with_113_bit_arithmetic)
{
    static const struct { const char *path; int64_t n; } file[] = {
        {"tests/matrices/bcsstk01.mtx", 48},
        {"tests/matrices/mesh1e1.mtx", 48}};
    for (int k = 0; k < 2; k++) {
        double exact[48];
        struct problem p;
        problem_open(&p, MPI_COMM_WORLD, file[k].path, file[k].n, 0);
        quad_eigenvalues(&p.source, exact);
        p.options.definite = PEIGH_DEFINITE_YES;
        expect_relative(&p, exact);
        problem_close(&p);
    }
}
END_TEST

/* --- semidefinite and nearly so ---------------------------------------- */

static void expect_few_sweeps(struct problem *p, int64_t n)
{
    expect_everywhere(p->status == PEIGH_OK, "%s: %s", p->source.name,
                      p->report.message);
    expect_everywhere(p->report.sweeps <= 12, "%s: %d sweeps", p->source.name,
                      p->report.sweeps);
    problem_verify(p);
    expect_everywhere(p->v.residual <= 1.0 && p->v.orthogonality <= 2.0 &&
                      p->v.ascending, "%s n=%lld: residual %g orthogonality "
                      "%g", p->source.name, (long long)n, p->v.residual,
                      p->v.orthogonality);
}

static const char *const semidefinite[] = {
    "gallery:spectrum,kind=deficient,rank=0",
    "gallery:spectrum,kind=deficient,rank=1",
    "gallery:spectrum,kind=deficient,rank=3",
    "gallery:spectrum,kind=deficient,rank=527",
    "gallery:spectrum,kind=geometric,cond=1e12",
    "gallery:spectrum,kind=geometric,cond=1e300",
    "gallery:spectrum,kind=clustered-eps", "gallery:pei,alpha=0"};
enum { SEMIDEFINITE = sizeof semidefinite / sizeof *semidefinite };

START_TEST(semidefinite_matrices_take_at_most_12_sweeps)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, semidefinite[_i], 528, 16);
    problem_solve(&p);
    expect_few_sweeps(&p, 528);
    problem_close(&p);
}
END_TEST

/* exp(-|i-j|^2 / s): the wider, the more eigenvalues are rounding. */
struct kernel {
    double s;
};

static peigh_status fill_kernel(const struct source *source, int64_t i0,
                                int64_t i1, int64_t j0, int64_t j1, double *a,
                                int64_t lda, struct failure *f)
{
    const struct kernel *kernel = source->state;
    (void)f;
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = i0; i < i1; i++)
            a[i - i0 + (j - j0) * lda] =
                exp(-(double)((i - j) * (i - j)) / kernel->s);
    return PEIGH_OK;
}

START_TEST(kernel_matrices_with_eigenvalues_of_rounding_are_solved)
{
    const double s[] = {1.0, 30.0, 1e3, 1e5};
    for (int k = 0; k < 4; k++) {
        struct kernel kernel = {s[k]};
        struct problem p;
        problem_open(&p, MPI_COMM_WORLD, "gallery:min", 528, 16);
        struct source owned = p.source;
        p.source.fill = fill_kernel;
        p.source.eigenvalues = NULL;
        p.source.state = &kernel;
        snprintf(p.source.name, sizeof p.source.name, "kernel s=%g", s[k]);
        problem_solve(&p);
        expect_few_sweeps(&p, 528);
        p.source = owned;
        problem_close(&p);
    }
}
END_TEST

/* --- one negative eigenvalue ------------------------------------------- */

struct hidden {
    double (*entry)(int64_t n, int64_t i, int64_t j, int64_t place,
                    double size);
    int64_t place;
    double size;
};

/* A positive tridiagonal matrix, but -size on the diagonal at `place` and
 * zeros beside it: sorted to the last pivot. */
static double alone(int64_t n, int64_t i, int64_t j, int64_t place,
                    double size)
{
    int64_t apart = i > j ? i - j : j - i;
    (void)n;
    if (i == place || j == place)
        return apart == 0 ? -size : 0.0;
    return apart == 0 ? 1.0 + 1e-3 * (double)i : apart == 1 ? 0.25 : 0.0;
}

/* I - (1 + size) v v^T with the unit vector v near that of `place`: only its
 * own pivot, the last, turns out not to be positive. */
static double rotated(int64_t n, int64_t i, int64_t j, int64_t place,
                      double size)
{
    double rest = 1e-2 / sqrt((double)(n - 1)), top = sqrt(1.0 - 1e-4);
    double vi = i == place ? top : rest, vj = j == place ? top : rest;
    return (i == j) - (1.0 + size) * vi * vj;
}

/* Pivots are taken from the last, largest diagonal entry to the first.  Only
 * rows `place` and `place` + 1 are coupled, by so much that the pivot of
 * `place` is not positive: the last one for place 0, the second for 94. */
static double coupled(int64_t n, int64_t i, int64_t j, int64_t place,
                      double size)
{
    bool pair = (i == place || i == place + 1) &&
                (j == place || j == place + 1);
    double diagonal = 1.0 + 0.01 * (double)(pair ? place : i);
    (void)n;
    return i == j ? diagonal : pair ? diagonal + size : 0.0;
}

static peigh_status fill_hidden(const struct source *source, int64_t i0,
                                int64_t i1, int64_t j0, int64_t j1, double *a,
                                int64_t lda, struct failure *f)
{
    const struct hidden *h = source->state;
    (void)f;
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = i0; i < i1; i++)
            a[i - i0 + (j - j0) * lda] =
                h->entry(source->n, i, j, h->place, h->size);
    return PEIGH_OK;
}

static void expect_auto_solves(struct problem *p, const struct hidden *h)
{
    double n = (double)p->layout.n;
    p->options.definite = PEIGH_DEFINITE_AUTO;
    problem_solve(p);
    double least = p->layout.first == 0 ? p->values[0] : -h->size;
    expect_everywhere(p->status == PEIGH_OK && !p->report.relative &&
                      fabs(least + h->size) <= 2.0 * n * 0x1p-52,
                      "place %lld size %g: %s, least %.17g",
                      (long long)h->place, h->size, p->report.message, least);
    problem_verify(p);
    expect_everywhere(p->v.residual <= 1.0 && p->v.orthogonality <= 2.0 &&
                      p->v.ascending, "place %lld size %g: residual %g",
                      (long long)h->place, h->size, p->v.residual);
}

/* Where the negative eigenvalue is below rounding and not an entry of the
 * matrix, the factor may exist after all; but then nothing is promised. */
static void expect_yes_refuses(struct problem *p, const struct hidden *h)
{
    char pivot[60];
    bool certain = h->size >= 1e-8 || h->entry == alone;
    snprintf(pivot, sizeof pivot, "row and column %lld ",
             (long long)h->place);
    p->options.definite = PEIGH_DEFINITE_YES;
    problem_solve(p);
    if (certain || p->status != PEIGH_OK)
        expect_everywhere(p->status == PEIGH_ERR_NOT_DEFINITE &&
                          strstr(p->report.message, pivot),
                          "place %lld size %g: %s", (long long)h->place,
                          h->size, p->report.message);
    else
        expect_everywhere(!p->report.relative, "place %lld size %g",
                          (long long)h->place, h->size);
}

static void expect_hidden_found(const struct hidden *h)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", 96, 4);
    struct source owned = p.source;
    struct hidden state = *h;
    p.source.fill = fill_hidden;
    p.source.eigenvalues = NULL;
    p.source.state = &state;
    expect_auto_solves(&p, h);
    expect_yes_refuses(&p, h);
    p.source = owned;
    problem_close(&p);
}

START_TEST(one_hidden_negative_eigenvalue_is_found_and_solved)
{
    const int64_t place[] = {0, 47, 94};
    const double size[] = {1.0, 1e-8, 1e-14};
    for (int k = 0; k < 3; k++) {
        expect_hidden_found(&(struct hidden){alone, place[_i], size[k]});
        expect_hidden_found(&(struct hidden){rotated, place[_i], size[k]});
        expect_hidden_found(&(struct hidden){coupled, place[_i], size[k]});
    }
}
END_TEST

/* A singular matrix that roundings make definite: no promise. */
START_TEST(a_pivot_at_the_level_of_rounding_promises_nothing)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:pei,alpha=0", 3, 0);
    p.options.definite = PEIGH_DEFINITE_YES;
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_ERR_NOT_DEFINITE ||
                      !p.report.relative, "promised");
    p.options.definite = PEIGH_DEFINITE_AUTO;
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_OK && !p.report.relative, "promised");
    problem_close(&p);
}
END_TEST

/* diag(1e300, 1, 1e-25): the last entry cannot be scaled with the first. */
START_TEST(a_diagonal_beyond_the_range_of_doubles_is_not_called_indefinite)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:type,k=2", 3, 0);
    for (int choice = PEIGH_DEFINITE_AUTO; choice <= PEIGH_DEFINITE_YES;
         choice++) {
        const double diagonal[] = {1e300, 1.0, 1e-25};
        p.options.definite = (peigh_definite)choice;
        problem_fill(&p);
        for (int64_t j = 0; j < p.layout.count; j++)
            p.a[p.layout.first + j + j * p.layout.lda] =
                diagonal[p.layout.first + j];
        p.status = peigh_solve(&p.layout, p.a, p.values, p.comm, &p.options,
                               &p.report);
        if (choice == PEIGH_DEFINITE_YES)
            expect_everywhere(p.status == PEIGH_ERR_NOT_DEFINITE &&
                              strstr(p.report.message, "A[2,2]"), "%s",
                              p.report.message);
        else
            expect_everywhere(p.status == PEIGH_OK && !p.report.relative,
                              "%s", p.report.message);
    }
    problem_close(&p);
}
END_TEST

START_TEST(a_zero_matrix_is_not_positive_definite)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:type,k=1", 20, 0);
    p.options.definite = PEIGH_DEFINITE_YES;
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_ERR_NOT_DEFINITE, "%s",
                      p.report.message);
    problem_close(&p);
}
END_TEST

/* --- the factorization itself ------------------------------------------ */

/* What the matrix is restored from. */
START_TEST(a_failed_factorization_leaves_the_lower_triangle_to_the_bit)
{
    struct problem p, q;
    struct failure f = {.status = PEIGH_OK};
    struct workspace w;
    struct ring ring;
    struct pivots pivots;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 75, 4);
    problem_open(&q, MPI_COMM_WORLD, "gallery:gaussian", 75, 4);
    problem_fill(&p);
    problem_fill(&q);
    struct columns c = {p.a, 75, p.layout.first, p.layout.count,
                        p.layout.lda};
    for (int64_t j = 0; j < c.count; j++) /* fails in the middle */
        column(&c, j)[c.first + j] = c.first + j > 40 ? 200.0 : -1.0;
    if (ring_open(&ring, MPI_COMM_WORLD, &f) || workspace_open(&w, 4, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    ring.bounce = w.chunk;
    ring.chunk = CHUNK_DOUBLES;
    expect(cholesky_factor(&ring, &c, 4, &pivots, &f) == PEIGH_OK);
    bool kept = true;
    for (int64_t j = 0; j < c.count; j++)
        for (int64_t i = c.first + j + 1; i < c.n; i++)
            kept = kept && p.a[i + j * p.layout.lda] ==
                               q.a[i + j * q.layout.lda];
    expect_everywhere(kept && pivots.bad == 40, "pivot %lld",
                      (long long)pivots.bad);
    workspace_close(&w);
    ring_close(&ring);
    problem_close(&p);
    problem_close(&q);
}
END_TEST

/* All that definite_make needs, on the columns of a problem. */
struct stage {
    struct ring ring;
    struct workspace w;
    struct schedule schedule;
    struct columns columns;
    struct cells cells;
    struct permuter permuter;
};

static void stage_open(struct stage *s, const struct problem *p)
{
    const peigh_layout *l = &p->layout;
    struct failure f = {.status = PEIGH_OK};
    if (ring_open(&s->ring, p->comm, &f) ||
        workspace_open(&s->w, l->block, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    s->ring.bounce = s->w.chunk;
    s->ring.chunk = CHUNK_DOUBLES;
    s->schedule = schedule_of(l->n, l->block, l->rank, l->ranks);
    s->columns = (struct columns){p->a, l->n, l->first, l->count, l->lda};
    s->cells = (struct cells){&s->schedule, &s->columns};
    s->permuter = (struct permuter){&s->ring, l, &s->schedule, &s->columns,
                                    &s->cells, &s->w};
}

static void stage_close(struct stage *s)
{
    workspace_close(&s->w);
    ring_close(&s->ring);
}

/* Entry (i,j) of what is left after two failed attempts is the entry of the
 * original that the numbers in the headers name, to the bit, with the shift
 * on the diagonal. */
START_TEST(failed_attempts_restore_the_matrix_to_the_bit)
{
    enum { N = 75 };
    struct failure f = {.status = PEIGH_OK};
    struct problem p;
    struct stage s;
    struct definite result;
    double *original = must(malloc(sizeof(double) * N * N)), number[N] = {0};
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", N, 4);
    stage_open(&s, &p);
    for (int64_t k = 0; k < N * N; k++) /* a diagonal out of order ... */
        original[k] = k % (N + 1) ? 0.0 : 31.0 + (double)(k / N * 31 % 17);
    original[10 + 20 * N] = original[20 + 10 * N] = /* nearly definite */
        sqrt(original[10 * (N + 1)] * original[20 * (N + 1)]) + 1e-6;
    for (int64_t j = 0; j < s.columns.count; j++)
        memcpy(column(&s.columns, j), original + (s.columns.first + j) * N,
               sizeof(double) * N);
    expect(definite_make(&s.permuter, PEIGH_DEFINITE_AUTO, 47.0, &result,
                         &f) == PEIGH_OK);
    bool tried = result.permuted && !result.cholesky;
    for (int64_t j = 0; j < s.columns.count; j++)
        number[s.columns.first + j] =
            column(&s.columns, j)[N + header_fixed_row(4) + HEADER_NUMBER];
    MPI_Allreduce(MPI_IN_PLACE, number, N, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    bool same = true;
    for (int64_t j = 0; j < s.columns.count; j++)
        for (int64_t i = 0; i < N; i++) {
            int64_t at = s.columns.first + j;
            double was = scalbn(original[(int64_t)number[i] +
                                         (int64_t)number[at] * N],
                                -result.exponent);
            same = same && column(&s.columns, j)[i] ==
                               was + (i == at ? result.sigma : 0.0);
        }
    expect_everywhere(!tried || same, "not restored");
    expect_everywhere(tried, "definite after all, or never tried");
    stage_close(&s);
    problem_close(&p);
    free(original);
}
END_TEST

/* --- bounds ------------------------------------------------------------ */

/* Spectra that have led a careless Lanczos process out of the spectrum. */
static double spectrum_of(int kind, int64_t n, int64_t i, uint64_t seed)
{
    double sign = i % 2 ? -1.0 : 1.0;
    double noise = noise_normal(seed, (uint64_t)i);
    switch (kind) {
    case 0: return sign + 1e-2 * noise;
    case 1: return sign + 3e-4 * noise;
    case 2: return i < 4 ? pow(10.0, -2.0 * (double)i) : 0.0;
    case 3: return sign * pow(10.0, -20.0 * (double)i / (double)n);
    case 4: return 1.0 + 1e-5 * noise;
    case 5: return pow(10.0, -2.5 * (double)i);
    default: return noise;
    }
}
enum { SPECTRA = 7 };

static void expect_bounds(int kind, int64_t n, uint64_t seed, int64_t chunk)
{
    struct failure f = {.status = PEIGH_OK};
    struct problem p;
    struct stage s;
    double d[200], mean = 0.0, low = 1e300, high = -1e300, theta[2];
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", n, 4);
    stage_open(&s, &p);
    s.ring.chunk = chunk;
    for (int64_t i = 0; i < n; i++) {
        d[i] = 0.25 * spectrum_of(kind, n, i, seed);
        mean += d[i] / (double)n;
        low = fmin(low, d[i]);
        high = fmax(high, d[i]);
    }
    for (int64_t j = 0; j < s.columns.count; j++) /* H diag(d) H */
        for (int64_t i = 0; i < n; i++) {
            int64_t k = s.columns.first + j;
            column(&s.columns, j)[i] = (i == k ? d[i] : 0.0) -
                2.0 / (double)n * (d[i] + d[k]) + 4.0 / (double)n * mean;
        }
    expect(spectral_bounds(&s.ring, &s.columns, 4, theta, &f) == PEIGH_OK);
    /* The shift has a margin of a quarter of the spread or the size, which is
     * larger; a spread at the level of the breakdown is not resolved. */
    double size = fmax(fabs(low), fabs(high));
    double near = fmax((high - low) / 6.0, 2e-6 * size);
    expect_everywhere(theta[0] >= low - 1e-6 * size &&
                      theta[1] <= high + 1e-6 * size &&
                      theta[0] <= low + near &&
                      theta[1] >= high - near,
                      "kind %d n=%lld seed %llu: %g .. %g is not within, or "
                      "not near, %g .. %g", kind, (long long)n,
                      (unsigned long long)seed, theta[0], theta[1], low,
                      high);
    stage_close(&s);
    problem_close(&p);
}

START_TEST(bounds_lie_within_the_spectrum_and_near_its_ends)
{
    const int64_t n[] = {1, 2, 5, 8, 20, 40, 100, 200};
    for (int k = 0; k < 8; k++)
        for (uint64_t seed = 1; seed <= 12; seed++)
            expect_bounds(_i, n[k], seed, CHUNK_DOUBLES);
}
END_TEST

START_TEST(bounds_do_not_need_all_rows_in_one_message)
{
    for (int kind = 0; kind < SPECTRA; kind++)
        expect_bounds(kind, 200, 1, 128);
}
END_TEST

/* --- the promises of the solver hold here too --------------------------- */

START_TEST(definite_matrices_have_the_same_bits_on_any_number_of_ranks)
{
    static const char *const spec[] = {
        "gallery:graded,from=0,to=-30,permute=1,n=77",
        "gallery:spectrum,kind=deficient,rank=30,n=77", "gallery:min,n=77"};
    static const int64_t block[] = {1, 2, 4, 16};
    for (int k = 0; k < 3 * 4; k++) {
        struct problem p, one;
        double all[77], by_one[77];
        problem_open(&p, MPI_COMM_WORLD, spec[k % 3], 77, block[k / 3]);
        problem_open(&one, MPI_COMM_SELF, spec[k % 3], 77, block[k / 3]);
        problem_solve(&p);
        problem_solve(&one);
        expect_everywhere(p.status == 0 && one.status == 0, "%s",
                          spec[k % 3]);
        peigh_gather_values(&p.layout, p.values, all, MPI_COMM_WORLD);
        peigh_gather_values(&one.layout, one.values, by_one, MPI_COMM_SELF);
        bool same = memcmp(all, by_one, sizeof all) == 0;
        for (int64_t j = 0; j < p.layout.count; j++)
            same = same && memcmp(p.a + j * p.layout.lda,
                                  one.a + (p.layout.first + j) *
                                              one.layout.lda,
                                  sizeof all) == 0;
        expect_everywhere(same, "%s: other bits", spec[k % 3]);
        problem_close(&p);
        problem_close(&one);
    }
}
END_TEST

START_TEST(definite_matrices_take_no_more_memory)
{
    struct problem p;
    peigh_memory plan;
    problem_open(&p, MPI_COMM_WORLD, "gallery:graded,permute=1,to=-10", 200,
                 16);
    problem_solve(&p);
    peigh_memory_for(200, p.layout.ranks, &p.options, &plan);
    expect_everywhere(p.status == PEIGH_OK && p.report.cholesky,
                      "%s", p.report.message);
    expect_eq(p.report.memory.workspace_bytes, workspace_bytes(16));
    expect_eq(p.report.memory.owned_bytes, plan.owned_bytes);
    problem_close(&p);
}
END_TEST

/* +-1 .. +-1e-14: absolute accuracy, but nothing fails. */
START_TEST(indefinite_geometric_spectra_are_solved)
{
    for (int64_t n = 129; n <= 200; n += 71)
        expect_solved("gallery:spectrum,kind=random-sign,cond=1e14", n, 0);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = tcase_create("definite");
    tcase_add_loop_test(
        t, graded_files_have_every_eigenvalue_to_1e_minus_13, 0, WIDTHS);
    tcase_add_loop_test(
        t, fresh_graded_matrices_agree_with_113_bit_arithmetic, 0, FRESH);
    tcase_add_test(
        t, real_positive_definite_matrices_agree_with_113_bit_arithmetic);
    tcase_add_loop_test(t, semidefinite_matrices_take_at_most_12_sweeps, 0,
                        SEMIDEFINITE);
    tcase_add_test(
        t, kernel_matrices_with_eigenvalues_of_rounding_are_solved);
    tcase_add_loop_test(
        t, one_hidden_negative_eigenvalue_is_found_and_solved, 0, 3);
    tcase_add_test(t, a_pivot_at_the_level_of_rounding_promises_nothing);
    tcase_add_test(
        t, a_diagonal_beyond_the_range_of_doubles_is_not_called_indefinite);
    tcase_add_test(t, a_zero_matrix_is_not_positive_definite);
    tcase_add_test(
        t, a_failed_factorization_leaves_the_lower_triangle_to_the_bit);
    tcase_add_test(t, failed_attempts_restore_the_matrix_to_the_bit);
    tcase_add_loop_test(
        t, bounds_lie_within_the_spectrum_and_near_its_ends, 0, SPECTRA);
    tcase_add_test(t, bounds_do_not_need_all_rows_in_one_message);
    tcase_add_test(
        t, definite_matrices_have_the_same_bits_on_any_number_of_ranks);
    tcase_add_test(t, definite_matrices_take_no_more_memory);
    tcase_add_test(t, indefinite_geometric_spectra_are_solved);
    return run_suite(&argc, &argv, t);
}
