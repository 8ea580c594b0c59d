/* What a solve does besides being right: exact scaling, quick easy matrices,
 * one triangle, counted messages, honest failures.  Any number of ranks. */
#include "mpi_case.h"
#include "memory.h"

/* --- scale ------------------------------------------------------------- */

/* Multiply this rank's columns by 2^k. */
static void scale(struct problem *p, int k)
{
    for (int64_t j = 0; j < p->layout.count; j++)
        for (int64_t i = 0; i < p->layout.n; i++) {
            double *x = p->a + i + j * p->layout.lda;
            *x = scalbn(*x, k);
        }
}

static void solve_again(struct problem *p)
{
    p->status = peigh_solve(&p->layout, p->a, p->values, p->comm, &p->options,
                            &p->report);
    expect_everywhere(p->status == PEIGH_OK, "%s", p->report.message);
}

START_TEST(scaling_by_a_power_of_two_scales_the_eigenvalues_to_the_bit)
{
    const int power[] = {-900, -1, 1, 37, 900};
    struct problem p, q;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 61, 4);
    problem_open(&q, MPI_COMM_WORLD, "gallery:gaussian", 61, 4);
    problem_solve(&p);
    for (int k = 0; k < 5; k++) {
        bool same = true;
        problem_fill(&q);
        scale(&q, power[k]);
        solve_again(&q);
        for (int64_t j = 0; j < p.layout.count; j++) {
            same = same && q.values[j] == scalbn(p.values[j], power[k]) &&
                   memcmp(p.a + j * p.layout.lda, q.a + j * q.layout.lda,
                          sizeof(double) * (size_t)p.layout.n) == 0;
        }
        expect_everywhere(same, "2^%d", power[k]);
    }
    problem_close(&p);
    problem_close(&q);
}
END_TEST

/* --- easy matrices ----------------------------------------------------- */

static peigh_report report_for(const char *spec, int64_t n)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, spec, n, 0);
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_OK, "%s: %s", spec, p.report.message);
    peigh_report report = p.report;
    problem_close(&p);
    return report;
}

START_TEST(zero_identity_and_constant_matrices_need_no_rotation)
{
    expect_eq(report_for("gallery:type,k=1", 129).rotations, 0);
    expect_eq(report_for("gallery:type,k=2", 129).rotations, 0);
    expect_eq(report_for("gallery:type,k=1", 129).sweeps, 1);
    expect_eq(report_for("gallery:type,k=2", 129).sweeps, 1);
    expect_solved("gallery:type,k=1", 129, 0);
    expect_solved("gallery:type,k=2", 129, 0);
}
END_TEST

/* In one sweep where all blocks have one width (128 = 8 x 16); 129 takes one
 * more to be sure. */
START_TEST(diagonal_matrices_are_only_sorted_and_one_sweep_does_it)
{
    expect_eq(report_for("gallery:type,k=3", 129).rotations, 0);
    expect_eq(report_for("gallery:type,k=4", 129).rotations, 0);
    expect(report_for("gallery:type,k=3", 129).sweeps <= 2);
    expect(report_for("gallery:type,k=4", 129).sweeps <= 2);
    expect_eq(report_for("gallery:type,k=3", 128).sweeps, 1);
    expect_eq(report_for("gallery:type,k=4", 128).sweeps, 1);
    expect_solved("gallery:type,k=4", 128, 0);
}
END_TEST

START_TEST(rank_one_matrices_take_fewer_rotations_than_general_ones)
{
    expect(4 * report_for("gallery:pei,alpha=0", 129).rotations <
           report_for("gallery:gaussian", 129).rotations);
}
END_TEST

/* diag(n-1, ..., 1, 0): unit vectors, whatever moved; exact eigenvalues by the
 * shift, to rounding by the Cholesky factor and its square roots. */
static void expect_diagonal(peigh_definite definite, double tolerance)
{
    struct problem p;
    const int64_t n = 75;
    problem_open(&p, MPI_COMM_WORLD, "gallery:type,k=1", n, 4);
    p.options.definite = definite;
    problem_fill(&p);
    for (int64_t j = 0; j < p.layout.count; j++) {
        int64_t number = p.layout.first + j;
        p.a[number + j * p.layout.lda] = (double)(n - 1 - number);
    }
    solve_again(&p);
    bool right = true;
    for (int64_t j = 0; j < p.layout.count; j++) {
        int64_t number = p.layout.first + j;
        right = right && fabs(p.values[j] - (double)number) <= tolerance;
        for (int64_t i = 0; i < n; i++)
            right = right && p.a[i + j * p.layout.lda] ==
                                 (i == n - 1 - number ? 1.0 : 0.0);
    }
    expect_everywhere(right, "definite=%d", (int)definite);
    problem_close(&p);
}

START_TEST(a_diagonal_matrix_has_unit_vectors_and_its_diagonal)
{
    expect_diagonal(PEIGH_DEFINITE_NO, 0.0);
    expect_diagonal(PEIGH_DEFINITE_AUTO, 75.0 * 0x1p-52 * 74.0);
}
END_TEST

/* --- one triangle ------------------------------------------------------ */

/* Overwrite the triangle that is not to be read. */
static void spoil(struct problem *p, double with)
{
    for (int64_t j = 0; j < p->layout.count; j++)
        for (int64_t i = 0; i < p->layout.n; i++) {
            int64_t below = i - (p->layout.first + j);
            if (p->options.uplo == PEIGH_LOWER ? below < 0 : below > 0)
                p->a[i + j * p->layout.lda] = with;
        }
}

static void expect_triangle_enough(peigh_uplo uplo, double garbage)
{
    struct problem p, q;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 150, 0);
    problem_open(&q, MPI_COMM_WORLD, "gallery:gaussian", 150, 0);
    problem_solve(&p);
    q.options.uplo = uplo;
    problem_fill(&q);
    spoil(&q, garbage);
    solve_again(&q);
    expect_everywhere(memcmp(p.values, q.values, sizeof(double) *
                             (size_t)p.layout.count) == 0, "other values");
    problem_close(&p);
    problem_close(&q);
}

START_TEST(the_other_triangle_is_never_looked_at)
{
    expect_triangle_enough(PEIGH_LOWER, NAN);
    expect_triangle_enough(PEIGH_UPPER, NAN);
    expect_triangle_enough(PEIGH_LOWER, 1e300);
    expect_triangle_enough(PEIGH_UPPER, -INFINITY);
}
END_TEST

/* A + K with K antisymmetric has the mean A. */
START_TEST(symmetrize_solves_the_mean_of_both_triangles)
{
    struct problem p, q;
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", 150, 0);
    problem_open(&q, MPI_COMM_WORLD, "gallery:min", 150, 0);
    problem_solve(&p);
    problem_fill(&q);
    for (int64_t j = 0; j < q.layout.count; j++)
        for (int64_t i = 0; i < q.layout.n; i++)
            q.a[i + j * q.layout.lda] +=
                (double)((i > q.layout.first + j) - (i < q.layout.first + j));
    q.options.symmetrize = true;
    solve_again(&q);
    expect_everywhere(memcmp(p.values, q.values, sizeof(double) *
                             (size_t)p.layout.count) == 0, "other values");
    problem_close(&p);
    problem_close(&q);
}
END_TEST

/* --- messages ---------------------------------------------------------- */

/* One block out per step and active rank, in chunks; all blocks as wide. */
static void expect_messages(int64_t n, int64_t block)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", n, block);
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_OK, "%s", p.report.message);
    int64_t size = block * p.layout.lda; /* doubles of a block */
    int64_t chunks = (size + CHUNK_DOUBLES - 1) / CHUNK_DOUBLES;
    int64_t steps = p.report.sweeps * p.report.blocks;
    if (p.report.active_ranks == 1)
        steps = 0;
    expect_eq(p.report.messages, steps * chunks);
    expect_eq(p.report.bytes_sent, steps * size * 8);
    expect(p.report.blocks * block == n);
    problem_close(&p);
}

START_TEST(messages_are_one_block_per_rank_and_step_in_chunks)
{
    expect_messages(128, 4);
    expect_messages(128, 16);
    expect_messages(768, 96); /* blocks of 650 KiB: two chunks */
    expect_messages(2, 1);
}
END_TEST

/* --- failures ---------------------------------------------------------- */

static void expect_failure(struct problem *p, peigh_status status,
                           const char *words)
{
    p->status = peigh_solve(&p->layout, p->a, p->values, p->comm, &p->options,
                            &p->report);
    expect_everywhere(p->status == status && p->report.status == status,
                      "status %d (%s), not %d", p->status, p->report.message,
                      status);
    expect_everywhere(strstr(p->report.message, words) != NULL,
                      "'%s' lacks '%s'", p->report.message, words);
    char first[PEIGH_MESSAGE_MAX];
    memcpy(first, p->report.message, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    expect_everywhere(strcmp(first, p->report.message) == 0,
                      "other words on this rank: %s", p->report.message);
}

static void put(struct problem *p, int64_t i, int64_t j, double x)
{
    if (j >= p->layout.first && j < p->layout.first + p->layout.count)
        p->a[i + (j - p->layout.first) * p->layout.lda] = x;
}

START_TEST(an_entry_that_is_not_finite_is_named)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const char *const words[] = {"A[2,40] is", "A[2,40] is inf",
                                 "A[2,40] is -inf"};
    for (int k = 0; k < 3; k++) {
        struct problem p;
        problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 50, 2);
        problem_fill(&p);
        put(&p, 2, 40, bad[k]);
        put(&p, 9, 40, NAN);
        put(&p, 3, 49, NAN);
        expect_failure(&p, PEIGH_ERR_NOT_FINITE, words[k]);
        problem_close(&p);
    }
}
END_TEST

/* diag(NaN, NaN) has been given the eigenvalue 0. */
START_TEST(a_diagonal_of_nan_is_refused)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:type,k=1", 2, 0);
    problem_fill(&p);
    put(&p, 0, 0, NAN);
    put(&p, 1, 1, NAN);
    expect_failure(&p, PEIGH_ERR_NOT_FINITE, "A[0,0] is");
    problem_close(&p);
}
END_TEST

START_TEST(the_worst_pair_of_a_matrix_that_is_not_symmetric_is_named)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", 140, 2);
    problem_fill(&p);
    put(&p, 3, 130, 4.5);  /* was 4 */
    put(&p, 131, 4, 6.25); /* was 5: the worst */
    expect_failure(&p, PEIGH_ERR_NOT_SYMMETRIC,
                   "A[131,4] is 6.25 but A[4,131] is 5");
    problem_close(&p);
}
END_TEST

START_TEST(triangles_that_agree_to_rounding_are_accepted)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:min", 40, 0);
    problem_fill(&p);
    put(&p, 3, 30, 4.0 + 4e-15);
    solve_again(&p);
    expect_everywhere(p.report.asymmetry > 3e-15, "%g", p.report.asymmetry);
    problem_close(&p);
}
END_TEST

START_TEST(too_few_sweeps_are_a_failure_with_numbers_on_every_rank)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 60, 0);
    problem_fill(&p);
    p.options.max_sweeps = 2;
    expect_failure(&p, PEIGH_ERR_NO_CONVERGENCE, "2 sweeps");
    expect_eq(p.report.sweeps, 2);
    expect(p.report.off_norm[1] > 1e-10);
    problem_close(&p);
}
END_TEST

/* A tolerance below rounding can never be met; what rounding leaves has
 * converged. */
START_TEST(a_tolerance_below_rounding_ends_where_cosines_stop_falling)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 100, 0);
    problem_fill(&p);
    p.options.tol = 1e-17;
    solve_again(&p);
    problem_verify(&p);
    expect_everywhere(p.v.residual <= 1.0 && p.v.orthogonality <= 2.0 &&
                      p.v.ascending, "residual %g", p.v.residual);
    problem_close(&p);
}
END_TEST

START_TEST(eigenvalues_beyond_the_range_of_doubles_are_a_failure)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:pei,alpha=0", 40, 0);
    problem_fill(&p);
    scale(&p, 1020); /* the largest eigenvalue is 40 * 2^1020 */
    expect_failure(&p, PEIGH_ERR_NOT_FINITE, "range of a double");
    problem_close(&p);
}
END_TEST

START_TEST(bad_options_are_named)
{
    const struct { int field; const char *words; } bad[] = {
        {0, "tol"}, {1, "max_sweeps"}, {2, "max_sweeps"}, {3, "uplo"},
        {4, "symmetrize"}, {5, "block"}, {6, "peigh_layout_for"},
        {7, "peigh_layout_for"}, {8, "rank"}};
    for (int k = 0; k < 9; k++) {
        struct problem p;
        problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 20, 2);
        problem_fill(&p);
        switch (bad[k].field) {
        case 0: p.options.tol = NAN; break;
        case 1: p.options.max_sweeps = 0; break;
        case 2: p.options.max_sweeps = PEIGH_SWEEPS_MAX + 1; break;
        case 3: p.options.uplo = (peigh_uplo)7; break;
        case 4: p.options.symmetrize = true; p.options.uplo = PEIGH_LOWER;
                break;
        case 5: p.options.block = 3; break;
        case 6: p.layout.lda = 20; break;
        case 7: p.layout.first++; break;
        case 8: p.layout.ranks++; break;
        }
        expect_failure(&p, PEIGH_ERR_ARGUMENT, bad[k].words);
        problem_close(&p);
    }
}
END_TEST

START_TEST(options_that_differ_between_ranks_are_refused_by_all)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 0; k < 2 && ranks > 1; k++) {
        struct problem p;
        problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 40, 2);
        problem_fill(&p);
        bool last = p.layout.rank == ranks - 1;
        p.options.tol = k == 0 && last ? 1e-10 : 0.0;
        p.options.max_sweeps = k == 1 && last ? 29 : 30;
        expect_failure(&p, PEIGH_ERR_ARGUMENT, "the same on all ranks");
        problem_close(&p);
    }
}
END_TEST

/* A caller may hand in longer columns; the result is the same to the bit. */
START_TEST(a_larger_stride_changes_nothing)
{
    struct problem p, q;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 90, 4);
    problem_open(&q, MPI_COMM_WORLD, "gallery:gaussian", 90, 4);
    problem_solve(&p);
    q.layout.lda += 37;
    free(q.a);
    q.a = must(malloc(peigh_array_bytes(&q.layout)));
    problem_solve(&q);
    expect_everywhere(q.status == PEIGH_OK &&
                      memcmp(p.values, q.values, sizeof(double) *
                             (size_t)p.layout.count) == 0, "other values");
    problem_close(&p);
    problem_close(&q);
}
END_TEST

static void count_sweep(void *context, const peigh_sweep *sweep)
{
    peigh_sweep *last = context;
    *last = *sweep;
}

START_TEST(progress_is_told_after_every_sweep)
{
    struct problem p;
    peigh_sweep last = {0};
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 60, 0);
    problem_fill(&p);
    if (p.layout.rank == 0) { /* may differ between ranks */
        p.options.progress = count_sweep;
        p.options.progress_context = &last;
    }
    solve_again(&p);
    expect_everywhere(p.layout.rank > 0 ||
                      (last.sweep == p.report.sweeps && last.rotations == 0 &&
                       last.off_norm == p.report.off_norm[last.sweep - 1] &&
                       last.remaining == 0.0), "last sweep %d", last.sweep);
    problem_close(&p);
}
END_TEST

static int threads(void)
{
    char line[200];
    int count = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Threads: %d", &count);
    if (file)
        fclose(file);
    return count;
}

/* A BLAS with a thread per core in each rank ruins a full node. */
START_TEST(a_solve_starts_no_threads)
{
    int before = threads();
    expect_solved("gallery:gaussian", 200, 0);
    expect_everywhere(threads() == before, "%d threads", threads());
}
END_TEST

START_TEST(a_gathering_with_the_wrong_layout_is_refused)
{
    struct problem p;
    double all[40] = {0};
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 40, 0);
    problem_solve(&p);
    p.layout.block = 300;
    expect_everywhere(peigh_gather_values(&p.layout, p.values, all, p.comm) ==
                      PEIGH_ERR_ARGUMENT, "accepted");
    problem_close(&p);
}
END_TEST

/* Halving first would lose the last bit of a denormal number. */
START_TEST(symmetrize_keeps_denormal_numbers)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:type,k=2", 5, 0);
    problem_fill(&p);
    scale(&p, -1074);
    p.options.symmetrize = true;
    solve_again(&p);
    bool right = true;
    for (int64_t j = 0; j < p.layout.count; j++)
        right = right && p.values[j] == 0x1p-1074;
    expect_everywhere(right, "not the smallest double");
    problem_close(&p);
}
END_TEST

/* A second solver in the same program, on another communicator. */
START_TEST(the_callers_communicator_is_left_alone)
{
    MPI_Comm reversed;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
    struct problem p;
    problem_open(&p, reversed, "gallery:gaussian", 70, 2);
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_OK, "%s", p.report.message);
    problem_verify(&p);
    expect_everywhere(p.v.residual <= 1.0, "residual %g", p.v.residual);
    problem_close(&p);
    MPI_Comm_free(&reversed);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = tcase_create("solve");
    tcase_add_test(
        t, scaling_by_a_power_of_two_scales_the_eigenvalues_to_the_bit);
    tcase_add_test(t, zero_identity_and_constant_matrices_need_no_rotation);
    tcase_add_test(t, diagonal_matrices_are_only_sorted_and_one_sweep_does_it);
    tcase_add_test(t, rank_one_matrices_take_fewer_rotations_than_general_ones);
    tcase_add_test(t, a_diagonal_matrix_has_unit_vectors_and_its_diagonal);
    tcase_add_test(t, the_other_triangle_is_never_looked_at);
    tcase_add_test(t, symmetrize_solves_the_mean_of_both_triangles);
    tcase_add_test(t, messages_are_one_block_per_rank_and_step_in_chunks);
    tcase_add_test(t, an_entry_that_is_not_finite_is_named);
    tcase_add_test(t, a_diagonal_of_nan_is_refused);
    tcase_add_test(t,
                   the_worst_pair_of_a_matrix_that_is_not_symmetric_is_named);
    tcase_add_test(t, triangles_that_agree_to_rounding_are_accepted);
    tcase_add_test(t, too_few_sweeps_are_a_failure_with_numbers_on_every_rank);
    tcase_add_test(t,
                   a_tolerance_below_rounding_ends_where_cosines_stop_falling);
    tcase_add_test(t, eigenvalues_beyond_the_range_of_doubles_are_a_failure);
    tcase_add_test(t, bad_options_are_named);
    tcase_add_test(t, options_that_differ_between_ranks_are_refused_by_all);
    tcase_add_test(t, a_larger_stride_changes_nothing);
    tcase_add_test(t, progress_is_told_after_every_sweep);
    tcase_add_test(t, a_solve_starts_no_threads);
    tcase_add_test(t, a_gathering_with_the_wrong_layout_is_refused);
    tcase_add_test(t, symmetrize_keeps_denormal_numbers);
    tcase_add_test(t, the_callers_communicator_is_left_alone);
    return run_suite(&argc, &argv, t);
}
