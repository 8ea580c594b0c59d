/* The same bits on any number of ranks and from run to run.  The world is
 * cut into groups of P = 1, 2, 3, 5 ... ranks; each solves the same matrix,
 * and the whole result, gathered on rank 0, is compared bit for bit with that
 * of the whole world. */
#include "mpi_case.h"

/* Eigenvalues, then eigenvectors: n + n*n doubles on rank 0 of the group. */
static void gather(struct problem *p, double *all)
{
    const peigh_layout *l = &p->layout;
    double *values = must(malloc(sizeof(double) * (size_t)(l->n + 1)));
    expect(peigh_gather_values(l, p->values, values, p->comm) == PEIGH_OK);
    if (l->rank == 0)
        memcpy(all, values, sizeof(double) * (size_t)l->n);
    free(values);
    double *vectors = all + l->n;
    for (int rank = 0; rank < l->ranks; rank++) {
        peigh_layout theirs;
        peigh_layout_for(l->n, rank, l->ranks, &p->options, &theirs);
        for (int64_t j = 0; j < theirs.count; j++) {
            double *to = vectors + (theirs.first + j) * l->n;
            const double *from = p->a + j * l->lda;
            if (l->rank == 0 && rank == 0)
                memcpy(to, from, sizeof(double) * (size_t)l->n);
            else if (l->rank == rank)
                MPI_Send(from, (int)l->n, MPI_DOUBLE, 0, 5, p->comm);
            else if (l->rank == 0)
                MPI_Recv(to, (int)l->n, MPI_DOUBLE, rank, 5, p->comm,
                         MPI_STATUS_IGNORE);
        }
    }
}

/* Solve on the first `ranks` ranks of the world; the result is on rank 0. */
static void solve_on(int ranks, const char *spec, int64_t n, int64_t block,
                     double *all)
{
    int rank;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank,
                   &comm);
    bool solved = true;
    if (comm != MPI_COMM_NULL) {
        struct problem p;
        problem_open(&p, comm, spec, n, block);
        problem_solve(&p);
        solved = p.status == PEIGH_OK;
        if (solved)
            gather(&p, all);
        problem_close(&p);
        MPI_Comm_free(&comm);
    }
    expect_everywhere(solved, "%s n=%lld on %d ranks", spec, (long long)n,
                      ranks);
}

static void expect_same_bits(const char *spec, int64_t n, int64_t block)
{
    const int ranks[] = {1, 2, 3, 5, 7, 16, 16};
    int rank, world;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    size_t bytes = sizeof(double) * (size_t)(n + n * n + 1);
    double *expected = must(calloc(1, bytes)), *found = must(calloc(1, bytes));
    solve_on(world, spec, n, block, expected);
    for (int k = 0; k < 7; k++) {
        if (ranks[k] > world)
            continue;
        memset(found, 0, bytes);
        solve_on(ranks[k], spec, n, block, found);
        expect_everywhere(rank > 0 || memcmp(expected, found, bytes) == 0,
                          "%s n=%lld w=%lld: other bits on %d ranks", spec,
                          (long long)n, (long long)block, ranks[k]);
    }
    free(expected);
    free(found);
}

START_TEST(a_gaussian_matrix_has_the_same_bits_on_any_number_of_ranks)
{
    expect_same_bits("gallery:gaussian", 200, 0);
    expect_same_bits("gallery:gaussian", 129, 4);
    expect_same_bits("gallery:gaussian", 97, 1);
    expect_same_bits("gallery:gaussian", 253, 16);
}
END_TEST

START_TEST(clusters_have_the_same_bits_on_any_number_of_ranks)
{
    expect_same_bits("gallery:glued", 126, 0);
    expect_same_bits("gallery:dst", 130, 8);
    expect_same_bits("gallery:laplace2d", 144, 0);
    expect_same_bits("gallery:spectrum,kind=clustered-eps", 129, 0);
}
END_TEST

START_TEST(small_orders_have_the_same_bits_on_any_number_of_ranks)
{
    for (int64_t n = 0; n <= 20; n++)
        expect_same_bits("gallery:gaussian", n, 0);
}
END_TEST

/* The eigenvalues that ranks report to their callers are those of one. */
START_TEST(all_ranks_gather_the_same_values)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", 129, 0);
    problem_solve(&p);
    double values[129], least[129], most[129];
    peigh_gather_values(&p.layout, p.values, values, MPI_COMM_WORLD);
    MPI_Allreduce(values, least, 129, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(values, most, 129, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    expect_everywhere(memcmp(least, most, sizeof least) == 0 &&
                      memcmp(values, most, sizeof least) == 0, "values differ");
    problem_close(&p);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = tcase_create("bits");
    tcase_add_test(
        t, a_gaussian_matrix_has_the_same_bits_on_any_number_of_ranks);
    tcase_add_test(t, clusters_have_the_same_bits_on_any_number_of_ranks);
    tcase_add_test(t, small_orders_have_the_same_bits_on_any_number_of_ranks);
    tcase_add_test(t, all_ranks_gather_the_same_values);
    return run_suite(&argc, &argv, t);
}
