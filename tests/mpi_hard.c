/* Every matrix of test-matrices.md at N = 129 and 200: closed forms, spectra
 * and their scalings, the ScaLAPACK types, real files. */
#include "mpi_case.h"

static const int64_t orders[] = {129, 200};

static const char *const closed_forms[] = {
    "gallery:toeplitz", "gallery:min", "gallery:frank", "gallery:clement",
    "gallery:pei", "gallery:pei,alpha=0", "gallery:laplace2d",
    "gallery:circulant", "gallery:dst", "gallery:wilkinson",
    "gallery:gaussian", "gallery:graded,to=-8"};

static const char *const spectra[] = {
    "arithmetic", "geometric", "clustered-one", "clustered-eps",
    "random-sign", "deficient", "equal", "pm1"};

static const char *const scales[] = {"1", "1e-280", "1e-150", "1e150",
                                     "1e280", "1e-300", "1e300"};

/* Matrices whose order is not free. */
static const struct { const char *spec; int64_t n; } fixed[] = {
    {"gallery:rosser", 8}, {"gallery:hadamard", 128}, {"gallery:hadamard", 1},
    {"gallery:glued", 126}, {"gallery:glued,glue=1e-3", 126},
    {"gallery:laplace2d,p=12,q=12", 144}, {"gallery:wilkinson", 21},
    {"tests/matrices/bcsstk01.mtx", 48}, {"tests/matrices/mesh1e1.mtx", 48},
    {"tests/matrices/494_bus.mtx", 494}, {"tests/matrices/T_494_bus.mtx", 494},
    {"tests/matrices/Fann04.mtx", 300}, {"tests/matrices/Moler_200.mtx", 200},
    {"tests/matrices/Parlett_560b.mtx", 560},
    {"tests/matrices/graded_120.npy", 120},
    {"tests/matrices/graded_permuted_101.npy", 101}};

enum {
    FORMS = sizeof closed_forms / sizeof *closed_forms,
    SPECTRA = sizeof spectra / sizeof *spectra,
    SCALES = sizeof scales / sizeof *scales,
    FIXED = sizeof fixed / sizeof *fixed,
};

START_TEST(closed_forms_are_solved)
{
    for (int k = 0; k < 2; k++)
        expect_solved(closed_forms[_i], orders[k], 0);
}
END_TEST

START_TEST(spectra_are_solved_at_every_scale)
{
    char spec[200];
    for (int k = 0; k < SCALES; k++) {
        snprintf(spec, sizeof spec, "gallery:spectrum,kind=%s,scale=%s",
                 spectra[_i], scales[k]);
        expect_solved(spec, orders[k % 2], 0);
    }
}
END_TEST

START_TEST(scalapack_types_are_solved)
{
    char spec[200];
    snprintf(spec, sizeof spec, "gallery:type,k=%d", _i);
    for (int k = 0; k < 2; k++)
        expect_solved(spec, orders[k], 0);
}
END_TEST

START_TEST(matrices_of_fixed_order_are_solved)
{
    expect_solved(fixed[_i].spec, fixed[_i].n, 0);
}
END_TEST

/* Blocks of one column and of four, on the matrices with clusters. */
START_TEST(clusters_are_solved_with_narrow_blocks)
{
    for (int64_t block = 1; block <= 4; block += 3) {
        expect_solved("gallery:glued", 63, block);
        expect_solved("gallery:dst", 65, block);
        expect_solved("gallery:pei", 64, block);
        expect_solved("gallery:spectrum,kind=clustered-eps", 66, block);
    }
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = tcase_create("hard");
    tcase_add_loop_test(t, closed_forms_are_solved, 0, FORMS);
    tcase_add_loop_test(t, spectra_are_solved_at_every_scale, 0, SPECTRA);
    tcase_add_loop_test(t, scalapack_types_are_solved, 1, 23);
    tcase_add_loop_test(t, matrices_of_fixed_order_are_solved, 0, FIXED);
    tcase_add_test(t, clusters_are_solved_with_narrow_blocks);
    return run_suite(&argc, &argv, t);
}
