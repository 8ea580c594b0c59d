/* Relative errors of small eigenvalues: peigh beside ScaLAPACK's pdsyev,
 * pdsyevd and pdsyevr on graded positive definite matrices, as a table.
 *
 *     mpirun -np P build/accuracy          (scripts/accuracy.sh) */
#include "quad.h"

static const struct {
    const char *name, *spec, *reference; /* reference NULL: made here */
    int64_t n;
} cases[] = {
    {"graded_120", "tests/matrices/graded_120.npy",
     "tests/matrices/graded_120.eig.npy", 120},
    {"graded_permuted_101", "tests/matrices/graded_permuted_101.npy",
     "tests/matrices/graded_permuted_101.eig.npy", 101},
    {"graded, 1 .. 1e-30", "gallery:graded,from=0,to=-15,permute=1", NULL, 80},
    {"graded, 1e+100 .. 1e-150", "gallery:graded,from=50,to=-75,permute=1",
     NULL, 80},
    {"bcsstk01 (stiffness)", "tests/matrices/bcsstk01.mtx", NULL, 48},
};

/* How many of n values are off by more than a tenth, and by how much the
 * worst. */
static void print_error(int64_t n, const double *values, const double *exact)
{
    double worst = 0.0;
    int wrong = 0;
    for (int64_t j = 0; j < n; j++) {
        double error = fabs(values[j] - exact[j]) / fabs(exact[j]);
        wrong += !(error <= 0.1);
        worst = error > worst ? error : worst;
    }
    printf(" %.0e (%d) |", worst, wrong);
}

static void run_case(int k)
{
    enum { ORDER_MAX = 120 };
    double exact[ORDER_MAX], all[ORDER_MAX];
    struct failure f = {.status = PEIGH_OK};
    struct problem p;
    struct ring ring;
    problem_open(&p, MPI_COMM_WORLD, cases[k].spec, cases[k].n, 0);
    if (cases[k].reference)
        read_values(cases[k].reference, cases[k].n, exact);
    else
        quad_eigenvalues(&p.source, exact);
    problem_solve(&p);
    if (p.status || ring_open(&ring, p.comm, &f) ||
        peigh_gather_values(&p.layout, p.values, all, p.comm)) {
        fprintf(stderr, "%s: %s\n", cases[k].name, p.report.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bool speaks = p.layout.rank == 0;
    if (speaks) {
        printf("| %s |", cases[k].name);
        print_error(cases[k].n, all, exact);
    }
    for (int peer = 0; peer < PEERS; peer++) {
        struct comparison c;
        if (compare_peer(&ring, &p.layout, &p.matrix, p.values,
                         (enum peer)peer, all, &c, &f)) {
            fprintf(stderr, "%s: %s\n", cases[k].name, f.message);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Bcast(all, (int)cases[k].n, MPI_DOUBLE, 0, p.comm);
        if (speaks)
            print_error(cases[k].n, all, exact);
    }
    if (speaks)
        printf("\n");
    ring_close(&ring);
    problem_close(&p);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("Largest relative error of an eigenvalue (and how many are off "
               "by more than a tenth)\n\n| matrix | peigh | pdsyev | pdsyevd "
               "| pdsyevr |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        run_case((int)k);
    MPI_Finalize();
    return 0;
}
