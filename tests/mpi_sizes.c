/* Every order of test-matrices.md on the number of ranks this is run with, at
 * block widths 1, 4 and the default: 0, 1, primes, one off a block, fewer
 * columns than ranks. */
#include "mpi_case.h"

static const int64_t orders[] = {0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 39, 46,
                                 97, 127, 129, 200, 385, 500, 512};
enum { ORDERS = sizeof orders / sizeof *orders };

static int world_size(void)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

START_TEST(every_order_is_solved_with_the_default_block)
{
    expect_solved("gallery:gaussian", orders[_i], 0);
}
END_TEST

START_TEST(orders_up_to_129_are_solved_with_blocks_of_one_and_four)
{
    if (orders[_i] > 129)
        return;
    expect_solved("gallery:gaussian", orders[_i], 1);
    expect_solved("gallery:gaussian", orders[_i], 4);
}
END_TEST

START_TEST(orders_beside_twice_the_columns_of_all_ranks_are_solved)
{
    const int64_t block[] = {1, 4, 5};
    for (int k = 0; k < 3; k++)
        for (int64_t off = -1; off <= 1; off++)
            expect_solved("gallery:gaussian",
                          2 * block[k] * world_size() + off, block[k]);
}
END_TEST

/* 34 with blocks of 13, 16 with blocks of 10, and a spectrum of double
 * eigenvalues at 46 have hung other solvers. */
START_TEST(ragged_blocks_and_double_eigenvalues_are_solved)
{
    expect_solved("gallery:gaussian", 34, 13);
    expect_solved("gallery:gaussian", 16, 10);
    expect_solved("gallery:circulant", 46, 0);
    expect_solved("gallery:gaussian", 10, 256);
}
END_TEST

/* The least orders leave the least room for rounding: many matrices. */
START_TEST(the_smallest_orders_are_solved_for_many_matrices)
{
    char spec[100];
    for (int seed = 1; seed <= 20; seed++) {
        snprintf(spec, sizeof spec, "gallery:gaussian,seed=%d", seed);
        expect_solved(spec, _i, 0);
        expect_solved(spec, _i, 1);
    }
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = tcase_create("sizes");
    tcase_add_loop_test(t, every_order_is_solved_with_the_default_block, 0,
                        ORDERS);
    tcase_add_loop_test(
        t, orders_up_to_129_are_solved_with_blocks_of_one_and_four, 0, ORDERS);
    tcase_add_test(t, orders_beside_twice_the_columns_of_all_ranks_are_solved);
    tcase_add_loop_test(t, the_smallest_orders_are_solved_for_many_matrices, 1,
                        11);
    tcase_add_test(t, ragged_blocks_and_double_eigenvalues_are_solved);
    return run_suite(&argc, &argv, t);
}
