/* The odd-even round robin: M blocks in a line of M slots.  In step t the
 * slots (0,1) (2,3) ... meet when t is even, (1,2) (3,4) ... when t is odd,
 * and the two blocks of a meeting change places.  After M steps every pair of
 * blocks has met once and the line is reversed; the steps just go on, and
 * after 2M every block is back in its home slot.  (Odd-even transposition,
 * N. Haberman 1972; as a Jacobi ordering, A. H. Sameh 1971 and F. T. Luk &
 * H. Park 1989.)
 *
 * Everything follows from one picture.  A block moves one slot a step to the
 * right, waits one step at the end, moves left, waits, and so on: the line is
 * a belt of 2M places,
 *
 *     place u = s          in slot s, moving right
 *     place u = 2M-1-s     in slot s, moving left,
 *
 * that turns by one place a step.  At step t the occupied places are those
 * with u = t (mod 2), so a slot and a step tell the block.
 *
 * A rank has m slot pairs: slots f .. f+2m-1 in even steps and f+1 .. f+2m in
 * odd steps, where slot M stands for slot 0, which the last active rank looks
 * after in odd steps.  A block that leaves gives its cell of memory to the
 * one that enters, so a rank's cells form small belts too: one for the blocks
 * moving left and one for those moving right, of m cells each; on the last
 * rank, where blocks turn round, one belt of 2m.  They turn by one cell every
 * two steps. */
#include "schedule.h"

struct schedule schedule_of(int64_t n, int64_t block, int rank, int ranks)
{
    struct schedule s = {.blocks = blocks_of(n, block), .rank = rank};
    s.share = share_of(&s.blocks, rank, ranks);
    return s;
}

int64_t schedule_seats(const struct schedule *s)
{
    return 2 * s->share.pairs;
}

static int64_t modulo(int64_t a, int64_t m)
{
    int64_t r = a % m;
    return r < 0 ? r + m : r;
}

static bool moves_right(int64_t t, int64_t slot)
{
    return modulo(slot - t, 2) == 0;
}

/* Home of the block in `slot` when step t begins. */
static int64_t home_at(const struct schedule *s, int64_t t, int64_t slot)
{
    int64_t m2 = 2 * s->blocks.count;
    int64_t place = moves_right(t, slot) ? slot : m2 - 1 - slot;
    int64_t start = modulo(place - t, m2);
    return start < s->blocks.count ? start : m2 - 1 - start;
}

/* The seats of a step come in pairs k = 0 .. m-1.  In even steps seat 2k
 * moves right and seat 2k+1 moves left; in odd steps, a slot further, too:
 * seat 2k was seat 2k of the step before and has changed places with its
 * partner, seat 2k+1 of the step before was seat 2k+3. */
static int64_t cell_at(const struct schedule *s, int64_t t, int64_t i)
{
    int64_t m = s->share.pairs, k = i / 2, half = t / 2;
    bool right = i % 2 == 0;
    bool turns = s->rank == s->share.active - 1;
    if (!right && t % 2 != 0)
        k++; /* its number in the even step before */
    if (!turns)
        return right ? 2 * modulo(k - half, m) : 2 * modulo(k + half, m) + 1;
    /* k = m stands for slot 0, which entered where seat 1 has left. */
    if (k == m)
        k = 0;
    int64_t start = modulo((right ? k : 2 * m - 1 - k) - half, 2 * m);
    return start < m ? 2 * start : 2 * (2 * m - 1 - start) + 1;
}

struct seat schedule_seat(const struct schedule *s, int64_t t, int64_t i)
{
    int64_t slot = 2 * s->share.first_pair + t % 2 + i;
    if (slot == s->blocks.count)
        slot = 0;
    return (struct seat){home_at(s, t, slot), cell_at(s, t, i)};
}

bool schedule_meeting(const struct schedule *s, int64_t t, int64_t k,
                      struct meeting *meeting)
{
    int64_t left_slot = 2 * (s->share.first_pair + k) + t % 2;
    if (left_slot + 1 >= s->blocks.count)
        return false;
    struct seat left = schedule_seat(s, t, 2 * k);
    struct seat right = schedule_seat(s, t, 2 * k + 1);
    bool ordered = left.home < right.home;
    meeting->low = ordered ? left : right;
    meeting->high = ordered ? right : left;
    return true;
}

bool schedule_passage(const struct schedule *s, int64_t t,
                      struct passage *passage)
{
    int active = s->share.active;
    if (active == 1 || s->rank >= active)
        return false;
    int left = (s->rank + active - 1) % active, right = (s->rank + 1) % active;
    int64_t first_slot = 2 * s->share.first_pair;
    int64_t past_slot = first_slot + schedule_seats(s);
    if (past_slot == s->blocks.count)
        past_slot = 0;
    int64_t next = t + 1;
    bool to_odd = next % 2 != 0;
    *passage = (struct passage){
        .to = to_odd ? left : right,
        .from = to_odd ? right : left,
        .home_out = home_at(s, next, to_odd ? first_slot : past_slot),
        .home_in = home_at(s, next, to_odd ? past_slot : first_slot),
        .cell = cell_at(s, next, to_odd ? schedule_seats(s) - 1 : 0)};
    return true;
}
