/* Positive definite matrices to full relative accuracy; semidefinite and
 * nearly definite ones without failure.  Any number of ranks. */
#include "cholesky.h"
#include "definite.h"
#include "layout.h"
#include "memory.h"
#include "mpi_case.h"
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

/* A diagonal of ones, a tridiagonal coupling, and one small negative entry at
 * `place`: row and column there are otherwise zero, so that its eigenvalue is
 * exactly -size.  With `first` it is sorted to the last pivot. */
static void fill_hidden(struct problem *p, int64_t place, double size)
{
    for (int64_t j = 0; j < p->layout.count; j++) {
        int64_t column = p->layout.first + j;
        for (int64_t i = 0; i < p->layout.n; i++) {
            double *x = p->a + i + j * p->layout.lda;
            int64_t apart = i - column;
            *x = apart == 0 ? 1.0 + 1e-3 * (double)i
                            : (apart == 1 || apart == -1) ? 0.25 : 0.0;
            if (i == place || column == place)
                *x = apart == 0 ? -size : 0.0;
        }
    }
}

/* A = I' - (1 + size) v v^T has the eigenvalue -size for the unit vector v;
 * with v near the unit vector of `place` only its own pivot turns out not to
 * be positive, after all larger ones. */
static void fill_rotated(struct problem *p, int64_t place, double size)
{
    int64_t n = p->layout.n;
    double rest = 1e-2 / sqrt((double)(n - 1)), top = sqrt(1.0 - 1e-4);
    for (int64_t j = 0; j < p->layout.count; j++)
        for (int64_t i = 0; i < n; i++) {
            int64_t column = p->layout.first + j;
            double vi = i == place ? top : rest;
            double vj = column == place ? top : rest;
            p->a[i + j * p->layout.lda] = (i == column) -
                                          (1.0 + size) * vi * vj;
        }
}

/* Pivots are taken from the last, largest diagonal entry to the first.  Only
 * rows `place` and `place` + 1 are coupled, by so much that the pivot of
 * `place` is not positive: the last one for place 0, the second for 94. */
static void fill_coupled(struct problem *p, int64_t place, double size)
{
    for (int64_t j = 0; j < p->layout.count; j++)
        for (int64_t i = 0; i < p->layout.n; i++) {
            int64_t column = p->layout.first + j;
            bool pair = (i == place || i == place + 1) &&
                        (column == place || column == place + 1);
            double diagonal = pair ? 1.0 + 0.01 * (double)place
                                   : 1.0 + 0.01 * (double)i;
            p->a[i + j * p->layout.lda] =
                i == column ? diagonal
                            : pair ? diagonal + size : 0.0;
        }
}

static void expect_hidden_found(
    void (*fill)(struct problem *, int64_t, double), int64_t place,
    double size)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", 96, 4);
    double limit = 96.0 * 0x1p-52 * 2.0;
    for (int choice = PEIGH_DEFINITE_AUTO; choice <= PEIGH_DEFINITE_YES;
         choice++) {
        p.options.definite = (peigh_definite)choice;
        fill(&p, place, size);
        p.status = peigh_solve(&p.layout, p.a, p.values, p.comm, &p.options,
                               &p.report);
        if (choice == PEIGH_DEFINITE_AUTO) {
            double least = p.layout.first == 0 ? p.values[0] : -size;
            expect_everywhere(p.status == PEIGH_OK &&
                              fabs(least + size) <= limit &&
                              !p.report.relative,
                              "place %lld size %g: %s, least %.17g",
                              (long long)place, size, p.report.message, least);
        } else if (size >= 1e-13) {
            expect_everywhere(p.status == PEIGH_ERR_NOT_DEFINITE &&
                              strstr(p.report.message, "pivot"),
                              "place %lld size %g: %s", (long long)place,
                              size, p.report.message);
        }
    }
    problem_close(&p);
}

START_TEST(one_hidden_negative_eigenvalue_is_found_and_solved)
{
    const int64_t place[] = {0, 47, 94};
    const double size[] = {1.0, 1e-8, 1e-14};
    for (int k = 0; k < 3; k++) {
        expect_hidden_found(fill_coupled, place[_i], size[k]);
        expect_hidden_found(fill_hidden, place[_i], size[k]);
        expect_hidden_found(fill_rotated, place[_i], size[k]);
    }
}
END_TEST

START_TEST(the_pivot_that_is_not_positive_is_named)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", 96, 4);
    p.options.definite = PEIGH_DEFINITE_YES;
    fill_hidden(&p, 17, 0.5);
    p.status = peigh_solve(&p.layout, p.a, p.values, p.comm, &p.options,
                           &p.report);
    expect_everywhere(p.status == PEIGH_ERR_NOT_DEFINITE &&
                      strstr(p.report.message, "row and column 17 "),
                      "%s", p.report.message);
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

/* The strictly lower triangle, and what is above with it, after a failed
 * factorization. */
START_TEST(a_failed_factorization_leaves_the_lower_triangle_to_the_bit)
{
    struct problem p, q;
    struct failure f = {.status = PEIGH_OK};
    struct workspace w;
    struct ring ring;
    struct bad_pivot pivot;
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
    expect(cholesky_factor(&ring, &c, 4, &pivot, &f) == PEIGH_OK);
    bool kept = true;
    for (int64_t j = 0; j < c.count; j++)
        for (int64_t i = c.first + j + 1; i < c.n; i++)
            kept = kept && p.a[i + j * p.layout.lda] ==
                               q.a[i + j * q.layout.lda];
    expect_everywhere(kept && pivot.column == 40, "pivot %lld",
                      (long long)pivot.column);
    workspace_close(&w);
    ring_close(&ring);
    problem_close(&p);
    problem_close(&q);
}
END_TEST

/* --- the promises of the solver hold here too --------------------------- */

START_TEST(definite_matrices_have_the_same_bits_on_any_number_of_ranks)
{
    static const char *const spec[] = {
        "gallery:graded,from=0,to=-30,permute=1,n=77",
        "gallery:spectrum,kind=deficient,rank=30,n=77", "gallery:min,n=77"};
    for (int k = 0; k < 3; k++) {
        struct problem p, one;
        double all[77], alone[77];
        problem_open(&p, MPI_COMM_WORLD, spec[k], 77, 4);
        problem_open(&one, MPI_COMM_SELF, spec[k], 77, 4);
        problem_solve(&p);
        problem_solve(&one);
        expect_everywhere(p.status == 0 && one.status == 0, "%s", spec[k]);
        peigh_gather_values(&p.layout, p.values, all, MPI_COMM_WORLD);
        peigh_gather_values(&one.layout, one.values, alone, MPI_COMM_SELF);
        bool same = memcmp(all, alone, sizeof all) == 0;
        for (int64_t j = 0; j < p.layout.count; j++)
            same = same && memcmp(p.a + j * p.layout.lda,
                                  one.a + (p.layout.first + j) *
                                              one.layout.lda,
                                  sizeof all) == 0;
        expect_everywhere(same, "%s: other bits", spec[k]);
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
    tcase_add_test(t, the_pivot_that_is_not_positive_is_named);
    tcase_add_test(t, a_zero_matrix_is_not_positive_definite);
    tcase_add_test(
        t, a_failed_factorization_leaves_the_lower_triangle_to_the_bit);
    tcase_add_test(
        t, definite_matrices_have_the_same_bits_on_any_number_of_ranks);
    tcase_add_test(t, definite_matrices_take_no_more_memory);
    tcase_add_test(t, indefinite_geometric_spectra_are_solved);
    return run_suite(&argc, &argv, t);
}
