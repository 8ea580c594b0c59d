/* The two questions of a plan, against all answers one by one. */
#include "memory.h"
#include "search.h"

#include "expect.h"

static const int64_t widths[] = {0, 1, 3, 16, 40};
enum { WIDTHS = 5, N_MAX = 400 };

static int64_t total(int64_t n, int ranks, const peigh_options *o)
{
    peigh_layout l;
    peigh_memory m;
    expect_eq(peigh_memory_for(n, ranks, o, &m), PEIGH_OK);
    expect_eq(peigh_layout_for(n, 0, ranks, o, &l), PEIGH_OK);
    return m.owned_bytes + m.workspace_bytes + (int64_t)peigh_values_bytes(&l);
}

START_TEST(the_fewest_ranks_fit_and_one_less_do_not)
{
    peigh_options o = peigh_options_default();
    for (int k = 0; k < WIDTHS; k++)
        for (int64_t n = 0; n < N_MAX; n += 7)
            for (int p = 1; p <= 24; p++) {
                o.block = widths[k];
                int64_t bytes = total(n, p, &o);
                int fewest = peigh_ranks_for(n, bytes, &o);
                expect(fewest >= 1 && fewest <= p);
                expect(total(n, fewest, &o) <= bytes);
                expect(fewest == 1 || total(n, fewest - 1, &o) > bytes);
                int before = peigh_ranks_for(n, bytes - 1, &o);
                expect(before == 0 || total(n, before, &o) < bytes);
            }
}
END_TEST

START_TEST(the_largest_order_fits_and_none_above_it_does)
{
    peigh_options o = peigh_options_default();
    for (int k = 0; k < WIDTHS; k++)
        for (int p = 1; p <= 24; p += 1 + p / 5) {
            o.block = widths[k];
            int64_t least = total(0, p, &o), most = total(N_MAX, p, &o);
            for (int64_t bytes = least; bytes < most;
                 bytes += (most - least) / 50 + 1) {
                int64_t largest = -1; /* 4 N_MAX: what is far above is more */
                for (int64_t n = 0; n < 4 * N_MAX; n++)
                    if (total(n, p, &o) <= bytes)
                        largest = n;
                expect_eq(peigh_order_for(p, bytes, &o), largest);
            }
        }
}
END_TEST

START_TEST(questions_without_an_answer_have_none)
{
    peigh_options o = peigh_options_default();
    expect_eq(peigh_ranks_for(1000, 1000, &o), 0);
    expect_eq(peigh_order_for(4, 1000, &o), -1);
    expect_eq(peigh_order_for(0, INT64_MAX, &o), -1);
    expect_eq(peigh_ranks_for(-1, INT64_MAX, &o), 0);
    expect_eq(peigh_ranks_for((int64_t)PEIGH_ORDER_MAX + 1, INT64_MAX, &o),
              0);
    o.block = -1;
    expect_eq(peigh_ranks_for(1000, INT64_MAX, &o), 0);
    expect_eq(peigh_order_for(4, INT64_MAX, &o), -1);
}
END_TEST

START_TEST(the_largest_sizes_are_answered_too)
{
    peigh_options o = peigh_options_default();
    const int64_t gib = INT64_C(1) << 30;
    expect_eq(peigh_order_for(1, INT64_MAX, NULL), PEIGH_ORDER_MAX);
    expect_eq(peigh_ranks_for(PEIGH_ORDER_MAX, INT64_MAX, &o), 1);
    int ranks = peigh_ranks_for(1000000, 4 * gib, &o);
    expect(total(1000000, ranks, &o) <= 4 * gib);
    expect(total(1000000, ranks - 1, &o) > 4 * gib);
    int64_t n = peigh_order_for(1000000, 4 * gib, &o);
    expect(total(n, 1000000, &o) <= 4 * gib);
    expect(total(n + 1, 1000000, &o) > 4 * gib);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *t = tcase_create("plan");
    tcase_set_timeout(t, 0); /* CTest holds the clock */
    tcase_add_test(t, the_fewest_ranks_fit_and_one_less_do_not);
    tcase_add_test(t, the_largest_order_fits_and_none_above_it_does);
    tcase_add_test(t, questions_without_an_answer_have_none);
    tcase_add_test(t, the_largest_sizes_are_answered_too);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
