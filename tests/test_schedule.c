/* The schedule and the layout, for every even number of blocks M up to 64 and
 * every number of ranks P up to M, by playing the whole thing on one process:
 * a line of blocks that swap places, and the ranks' cells of memory between
 * which blocks are handed. */
#include "schedule.h"

#include "expect.h"
#include <stdlib.h>
#include <string.h>

enum { M_MAX = 64, SWEEPS = 3 };

/* The world as it is played: no formulas, only swaps and hand-overs. */
struct world {
    int64_t blocks;
    int ranks;
    int64_t line[M_MAX];         /* home of the block in each slot */
    int64_t cell[M_MAX][M_MAX];  /* [rank][cell]: home of the block there */
    int met[M_MAX][M_MAX];
};

/* One column to a block: n = M, width 1. */
static struct schedule view(const struct world *w, int rank)
{
    return schedule_of(w->blocks, 1, rank, w->ranks);
}

static void start(struct world *w, int64_t blocks, int ranks)
{
    memset(w, 0, sizeof *w);
    w->blocks = blocks;
    w->ranks = ranks;
    for (int64_t slot = 0; slot < blocks; slot++)
        w->line[slot] = slot;
    for (int rank = 0; rank < ranks; rank++) {
        struct schedule s = view(w, rank);
        for (int64_t i = 0; i < schedule_seats(&s); i++)
            w->cell[rank][i] = 2 * s.share.first_pair + i;
    }
}

static void swap_line(struct world *w, int64_t t)
{
    for (int64_t slot = t % 2; slot + 1 < w->blocks; slot += 2) {
        int64_t left = w->line[slot];
        w->line[slot] = w->line[slot + 1];
        w->line[slot + 1] = left;
    }
}

/* All messages after step t at once; senders and receivers must agree. */
static void hand_over(struct world *w, int64_t t)
{
    int64_t sent[M_MAX], to[M_MAX];
    for (int rank = 0; rank < w->ranks; rank++) {
        struct schedule s = view(w, rank);
        struct passage p;
        to[rank] = -1;
        if (!schedule_passage(&s, t, &p))
            continue;
        to[rank] = p.to;
        sent[rank] = w->cell[rank][p.cell];
        expect_eq(sent[rank], p.home_out);
    }
    for (int rank = 0; rank < w->ranks; rank++) {
        struct schedule s = view(w, rank);
        struct passage p;
        if (!schedule_passage(&s, t, &p))
            continue;
        expect_eq(to[p.from], rank);
        expect_eq(sent[p.from], p.home_in);
        w->cell[rank][p.cell] = p.home_in;
    }
}

static void check_seats(const struct world *w, int64_t t)
{
    int64_t holders[M_MAX] = {0};
    for (int rank = 0; rank < w->ranks; rank++) {
        struct schedule s = view(w, rank);
        int64_t used[M_MAX] = {0};
        expect_eq(schedule_seats(&s), 2 * s.share.pairs);
        for (int64_t i = 0; i < schedule_seats(&s); i++) {
            struct seat seat = schedule_seat(&s, t, i);
            int64_t slot = (2 * s.share.first_pair + t % 2 + i) % w->blocks;
            expect(seat.cell >= 0 && seat.cell < schedule_seats(&s));
            expect_eq(used[seat.cell]++, 0);
            expect_eq(seat.home, w->line[slot]);
            expect_eq(seat.home, w->cell[rank][seat.cell]);
            holders[seat.home]++;
        }
    }
    for (int64_t b = 0; b < w->blocks; b++)
        expect_eq(holders[b], 1);
}

static void play_meetings(struct world *w, int64_t t)
{
    for (int rank = 0; rank < w->ranks; rank++) {
        struct schedule s = view(w, rank);
        struct meeting m;
        for (int64_t k = 0; k < s.share.pairs; k++) {
            if (!schedule_meeting(&s, t, k, &m))
                continue;
            expect(m.low.home < m.high.home);
            expect_eq(w->cell[rank][m.low.cell], m.low.home);
            expect_eq(w->cell[rank][m.high.cell], m.high.home);
            w->met[m.low.home][m.high.home]++;
        }
    }
}

static void check_all_met(const struct world *w, int times)
{
    for (int64_t a = 0; a < w->blocks; a++)
        for (int64_t b = a + 1; b < w->blocks; b++)
            expect_eq(w->met[a][b], times);
}

START_TEST(every_pair_meets_once_a_sweep_for_every_m_and_p)
{
    struct world *w = malloc(sizeof *w);
    for (int64_t blocks = 2; blocks <= M_MAX; blocks += 2)
        for (int ranks = 1; ranks <= blocks; ranks++) {
            start(w, blocks, ranks);
            for (int64_t t = 0; t < SWEEPS * blocks; t++) {
                check_seats(w, t);
                play_meetings(w, t);
                swap_line(w, t);
                hand_over(w, t);
                if ((t + 1) % blocks == 0)
                    check_all_met(w, (int)((t + 1) / blocks));
            }
            check_seats(w, SWEEPS * blocks);
        }
    free(w);
}
END_TEST

START_TEST(an_even_number_of_sweeps_brings_blocks_home_and_an_odd_one_mirrors)
{
    for (int64_t blocks = 2; blocks <= M_MAX; blocks += 2) {
        struct schedule s = schedule_of(blocks, 1, 0, 1);
        for (int64_t i = 0; i < blocks; i++) {
            expect_eq(schedule_seat(&s, 4 * blocks, i).home, i);
            expect_eq(schedule_seat(&s, 5 * blocks, i).home,
                             blocks - 1 - i);
        }
    }
}
END_TEST

START_TEST(a_rank_sends_one_block_in_each_step)
{
    for (int64_t blocks = 4; blocks <= M_MAX; blocks += 2)
        for (int ranks = 2; ranks <= blocks; ranks++)
            for (int rank = 0; rank < ranks; rank++) {
                struct schedule s = schedule_of(blocks, 1, rank, ranks);
                struct passage p;
                for (int64_t t = 0; t < 2 * blocks; t++)
                    expect_eq(schedule_passage(&s, t, &p),
                                     rank < s.share.active);
            }
}
END_TEST

/* The schedule at full size costs no more than at small: a hundred million
 * blocks, looked at in the middle of a long run. */
START_TEST(the_schedule_needs_no_table_however_many_blocks)
{
    const int64_t blocks = 100000000, t = 29 * blocks + 12345;
    struct schedule s = schedule_of(blocks, 1, 4999, 10000);
    struct meeting m;
    expect(schedule_meeting(&s, t, 17, &m));
    expect(m.low.home >= 0 && m.low.home < m.high.home);
    expect(m.high.home < blocks);
    expect(sizeof s <= 64);
}
END_TEST

static void check_columns(int64_t n, int64_t block, int ranks)
{
    peigh_options options = peigh_options_default();
    int64_t next = 0, widest = 0, narrowest = n;
    options.block = block;
    for (int rank = 0; rank < ranks; rank++) {
        peigh_layout l;
        expect_eq(peigh_layout_for(n, rank, ranks, &options, &l), 0);
        expect_eq(l.first, next);
        expect(l.count >= 0 && l.count <= l.capacity);
        expect(l.lda >= n);
        expect_eq(l.lda % 16, 8); /* an odd number of cache lines */
        next += l.count;
    }
    expect_eq(next, n);
    struct blocks b = blocks_of(n, block ? block : peigh_default_block(n));
    expect_eq(b.count % 2, 0);
    for (int64_t i = 0; i < b.count; i++) {
        int64_t width = block_width(&b, i);
        widest = width > widest ? width : widest;
        narrowest = width < narrowest ? width : narrowest;
    }
    expect_eq(widest, b.widest);
    expect(widest - narrowest <= (n ? 1 : 0));
    expect(widest <= (block ? block : PEIGH_BLOCK_MAX));
}

START_TEST(columns_are_dealt_completely_for_every_n_p_and_w)
{
    for (int64_t n = 0; n <= 130; n++)
        for (int ranks = 1; ranks <= 40; ranks++)
            for (int64_t block = 0; block <= 20; block++)
                check_columns(n, block, ranks);
}
END_TEST

START_TEST(bad_layout_arguments_are_refused)
{
    peigh_layout l;
    peigh_options o = peigh_options_default();
    expect_eq(peigh_layout_for(-1, 0, 1, &o, &l), PEIGH_ERR_ARGUMENT);
    expect_eq(peigh_layout_for(5, 1, 1, &o, &l), PEIGH_ERR_ARGUMENT);
    expect_eq(peigh_layout_for(5, -1, 1, &o, &l), PEIGH_ERR_ARGUMENT);
    expect_eq(peigh_layout_for(5, 0, 0, &o, &l), PEIGH_ERR_ARGUMENT);
    o.block = PEIGH_BLOCK_MAX + 1;
    expect_eq(peigh_layout_for(5, 0, 1, &o, &l), PEIGH_ERR_ARGUMENT);
    o.block = -1;
    expect_eq(peigh_layout_for(5, 0, 1, &o, &l), PEIGH_ERR_ARGUMENT);
    expect_eq(peigh_layout_for(5, 0, 1, NULL, &l), PEIGH_OK);
}
END_TEST

/* 32-bit products ended others at n = 32767 and n = 18919. */
START_TEST(sizes_beyond_32_bits_are_exact)
{
    peigh_layout l;
    peigh_options o = peigh_options_default();
    o.block = 16;
    expect_eq(peigh_layout_for(100000, 0, 1, &o, &l), PEIGH_OK);
    expect_eq(l.count, 100000);
    expect(peigh_array_bytes(&l) >= 80000000000u);
    peigh_memory m;
    expect_eq(peigh_memory_for(100000, 1, &o, &m), PEIGH_OK);
    expect_eq(m.owned_bytes, 8 * l.capacity * l.lda);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedule");
    TCase *t = tcase_create("schedule");
    tcase_set_timeout(t, 0); /* CTest holds the clock */
    tcase_add_test(t, every_pair_meets_once_a_sweep_for_every_m_and_p);
    tcase_add_test(
        t, an_even_number_of_sweeps_brings_blocks_home_and_an_odd_one_mirrors);
    tcase_add_test(t, a_rank_sends_one_block_in_each_step);
    tcase_add_test(t, the_schedule_needs_no_table_however_many_blocks);
    tcase_add_test(t, columns_are_dealt_completely_for_every_n_p_and_w);
    tcase_add_test(t, bad_layout_arguments_are_refused);
    tcase_add_test(t, sizes_beyond_32_bits_are_exact);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
