/* A solve that is left at any step and taken up again, on other ranks, ends
 * with the bits of one that was never left; and a checkpoint that is damaged,
 * or another's, is refused.
 *
 * The world is cut: the first `ranks` of it solve, as in mpi_bits.c.  What is
 * compared are the eigenvalues, bit for bit, and the fingerprint of the
 * eigenvectors, which depends on every bit of them and not on the ranks. */
#include "mpi_case.h"
#include "checkpoint.h"
#include "layout.h"

#include <sys/stat.h>
#include <unistd.h>

enum { ORDER_MAX = 200 };

static char path[] = "/tmp/peigh-checkpoint-XXXXXX";

/* A solve to be left, or taken up. */
struct visit {
    struct origin origin;
    int64_t leave; /* at this pause, counted from 0; -1: never */
    int64_t pauses;
    bool resume;
};

/* What came of a solve, on rank 0. */
struct outcome {
    peigh_status status;
    peigh_report report;
    double values[ORDER_MAX];
    uint64_t vectors;
};

static bool due(void *context, struct ring *ring, struct failure *f)
{
    struct visit *v = context;
    (void)ring;
    (void)f;
    return v->pauses++ == v->leave;
}

static peigh_status save(void *context, struct ring *ring,
                         const struct cells *cells, const struct state *state,
                         struct failure *f)
{
    struct visit *v = context;
    if (checkpoint_write(&v->origin, path, NULL, ring, cells, state, f))
        return f->status;
    return fail(f, PEIGH_ERR_INTERRUPTED, "left");
}

static peigh_status load(void *context, struct ring *ring,
                         const struct cells *cells, struct state *state,
                         struct failure *f)
{
    struct visit *v = context;
    return checkpoint_read(&v->origin, path, ring, cells, state, f);
}

/* On an open and filled problem. */
static void visit_solve(struct problem *p, struct visit *v)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    ring_open(&ring, p->comm, &f);
    v->origin.layout = &p->layout;
    v->origin.options = &p->options;
    checkpoint_fingerprint(&ring, &p->layout, p->options.uplo, p->a,
                           &v->origin.matrix, &f);
    ring_close(&ring);
    const struct seam seam = {v, due, save, v->resume ? load : NULL};
    p->status = solve_with_seam(&p->layout, p->a, p->values, p->comm,
                                &p->options, &seam, &p->report);
}

static void note_outcome(struct problem *p, struct outcome *o)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    o->status = p->status;
    o->report = p->report;
    if (p->status)
        return;
    ring_open(&ring, p->comm, &f);
    checkpoint_fingerprint(&ring, &p->layout, PEIGH_FULL, p->a, &o->vectors,
                           &f);
    ring_close(&ring);
    if (peigh_gather_values(&p->layout, p->values, o->values, p->comm))
        MPI_Abort(MPI_COMM_WORLD, 2);
}

static struct outcome solve_on(int ranks, const char *spec, int64_t n,
                               int64_t block, struct visit *v)
{
    struct outcome o;
    int rank;
    MPI_Comm comm;
    memset(&o, 0, sizeof o);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank,
                   &comm);
    if (comm != MPI_COMM_NULL) {
        struct problem p;
        problem_open(&p, comm, spec, n, block);
        problem_fill(&p);
        visit_solve(&p, v);
        note_outcome(&p, &o);
        problem_close(&p);
        MPI_Comm_free(&comm);
    }
    MPI_Bcast(&o, sizeof o, MPI_BYTE, 0, MPI_COMM_WORLD);
    return o;
}

static int world_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static int at_most_world(int ranks)
{
    return ranks < world_size() ? ranks : world_size();
}

static bool same_report(const peigh_report *a, const peigh_report *b)
{
    return a->sweeps == b->sweeps && a->rotations == b->rotations &&
           memcmp(a->off_norm, b->off_norm, sizeof a->off_norm) == 0 &&
           a->shift == b->shift && a->cholesky == b->cholesky &&
           a->relative == b->relative && a->asymmetry == b->asymmetry;
}

/* Leave at a pause, on some ranks, and go on, on others. */
static void expect_resumed(const char *spec, int64_t n, int64_t block,
                           const struct outcome *whole, int64_t leave,
                           int before, int after)
{
    struct visit away = {.leave = leave}, back = {.leave = -1,
                                                  .resume = true};
    struct outcome left = solve_on(before, spec, n, block, &away);
    expect_everywhere(left.status == PEIGH_ERR_INTERRUPTED, "%s n=%lld: %s",
                      spec, (long long)n, left.report.message);
    struct outcome end = solve_on(after, spec, n, block, &back);
    expect_everywhere(end.status == PEIGH_OK, "%s n=%lld: %s", spec,
                      (long long)n, end.report.message);
    expect_everywhere(end.vectors == whole->vectors &&
                          memcmp(end.values, whole->values,
                                 sizeof end.values) == 0,
                      "%s n=%lld w=%lld: other bits when left at pause %lld "
                      "on %d ranks and taken up on %d", spec, (long long)n,
                      (long long)block, (long long)leave, before, after);
    expect_everywhere(same_report(&end.report, &whole->report),
                      "%s n=%lld w=%lld: another report when left at pause "
                      "%lld", spec, (long long)n, (long long)block,
                      (long long)leave);
}

/* At up to so many pauses, spread over the whole solve. */
static void expect_resumable(const char *spec, int64_t n, int64_t block,
                             int64_t pauses)
{
    const int ranks[][2] = {{1, 16}, {16, 1}, {3, 2}, {2, 3}, {16, 16},
                            {5, 7}};
    struct visit never = {.leave = -1};
    struct outcome whole = solve_on(world_size(), spec, n, block, &never);
    expect_everywhere(whole.status == PEIGH_OK, "%s: %s", spec,
                      whole.report.message);
    int64_t step = never.pauses / pauses + (never.pauses % pauses != 0);
    int pair = 0;
    for (int64_t leave = 0; leave < never.pauses; leave += step, pair++)
        expect_resumed(spec, n, block, &whole, leave,
                       at_most_world(ranks[pair % 6][0]),
                       at_most_world(ranks[pair % 6][1]));
}

START_TEST(a_solve_can_be_left_at_every_pause)
{
    expect_resumable("gallery:gaussian", 61, 8, INT32_MAX);
}
END_TEST

START_TEST(both_ways_of_solving_can_be_left)
{
    expect_resumable("gallery:gaussian", 150, 0, 9);
    expect_resumable("gallery:graded,from=0,to=-5,permute=1", 120, 0, 9);
    expect_resumable("gallery:pei,alpha=0", 90, 0, 9);
}
END_TEST

START_TEST(the_smallest_orders_can_be_left)
{
    for (int64_t n = 0; n <= 5; n++)
        for (int64_t block = 1; block <= 5; block += 2)
            expect_resumable("gallery:min", n, block, 4);
}
END_TEST

START_TEST(a_solve_that_is_left_again_and_again_ends_with_the_same_bits)
{
    const char *spec = "gallery:gaussian";
    struct visit never = {.leave = -1};
    struct outcome whole = solve_on(world_size(), spec, 100, 0, &never);
    struct visit v = {.leave = 3};
    struct outcome o = solve_on(at_most_world(3), spec, 100, 0, &v);
    int times = 0;
    for (; o.status == PEIGH_ERR_INTERRUPTED && times < 1000; times++) {
        v = (struct visit){.leave = 7, .resume = true};
        o = solve_on(at_most_world(1 + times % 5), spec, 100, 0, &v);
    }
    expect_everywhere(o.status == PEIGH_OK && times > 3, "%d times: %s", times,
                      o.report.message);
    expect_everywhere(o.vectors == whole.vectors &&
                          memcmp(o.values, whole.values, sizeof o.values) == 0,
                      "other bits");
    expect_everywhere(same_report(&o.report, &whole.report), "report");
}
END_TEST

/* --- damage -------------------------------------------------------------- */

enum { N = 60, BLOCK = 4 };

static void make_checkpoint(void)
{
    struct visit away = {.leave = 10};
    solve_on(world_size(), "gallery:gaussian", N, BLOCK, &away);
}

static void expect_refused(const struct problem *like, const char *spec,
                           int64_t n, int64_t block, const char *mentioned)
{
    struct visit back = {.leave = -1, .resume = true};
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, spec, n, block);
    if (like)
        p.options = like->options;
    problem_fill(&p);
    visit_solve(&p, &back);
    expect_everywhere(p.status == PEIGH_ERR_IO &&
                          strstr(p.report.message, path) &&
                          strstr(p.report.message, mentioned),
                      "%s not in: %s", mentioned, p.report.message);
    problem_close(&p);
}

static int64_t file_size(void)
{
    struct stat now;
    return stat(path, &now) ? -1 : now.st_size;
}

/* Rank 0 turns a byte round; twice, and it is as before. */
static void flip(int64_t offset)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *file = must(fopen(path, "r+b"));
        fseek(file, offset, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, offset, SEEK_SET);
        fputc(byte ^ 0x10, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void set_size(int64_t bytes)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && truncate(path, bytes))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

START_TEST(any_wrong_byte_is_refused)
{
    make_checkpoint();
    int64_t size = file_size(), column = 8 * (N + header_rows(BLOCK));
    const struct {
        int64_t at;
        const char *mentioned;
    } byte[] = {
        {0, "not a checkpoint"}, {8, "byte order"}, {12, "another version"},
        {17, "another version"}, {40, "header"}, {300, "header"},
        {4096, "column 0"}, {4096 + 8 * N, "column 0"},
        {4096 + column - 1, "column 0"}, {4096 + 7 * column + 99, "column 7"},
        {size - 1, "column 59"}};
    for (size_t k = 0; k < sizeof byte / sizeof *byte; k++) {
        flip(byte[k].at);
        expect_refused(NULL, "gallery:gaussian", N, BLOCK, byte[k].mentioned);
        flip(byte[k].at);
    }
    struct visit back = {.leave = -1, .resume = true};
    struct outcome o = solve_on(world_size(), "gallery:gaussian", N, BLOCK,
                                &back);
    expect_everywhere(o.status == PEIGH_OK, "%s", o.report.message);
}
END_TEST

START_TEST(a_file_that_was_cut_or_has_grown_is_refused)
{
    make_checkpoint();
    int64_t size = file_size();
    set_size(size + 1);
    expect_refused(NULL, "gallery:gaussian", N, BLOCK, "bytes instead of");
    const int64_t cut[] = {size - 1, 5000, 4096};
    for (int k = 0; k < 3; k++) {
        set_size(cut[k]);
        expect_refused(NULL, "gallery:gaussian", N, BLOCK, "bytes instead of");
    }
    set_size(100);
    expect_refused(NULL, "gallery:gaussian", N, BLOCK, "not a checkpoint");
    set_size(0);
    expect_refused(NULL, "gallery:gaussian", N, BLOCK, "not a checkpoint");
}
END_TEST

/* Two checkpoints of one run: a column of one in the other. */
START_TEST(a_column_of_another_checkpoint_is_refused)
{
    int64_t column = 8 * (N + header_rows(BLOCK));
    char other[1 << 10];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect(column <= (int64_t)sizeof other);
    make_checkpoint();
    if (rank == 0) {
        FILE *file = must(fopen(path, "rb"));
        fseek(file, 4096 + 5 * column, SEEK_SET);
        must(fread(other, (size_t)column, 1, file) == 1 ? file : NULL);
        fclose(file);
    }
    make_checkpoint();
    if (rank == 0) {
        FILE *file = must(fopen(path, "r+b"));
        fseek(file, 4096 + 5 * column, SEEK_SET);
        must(fwrite(other, (size_t)column, 1, file) == 1 ? file : NULL);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_refused(NULL, "gallery:gaussian", N, BLOCK, "column 5");
}
END_TEST

START_TEST(a_checkpoint_of_another_solve_is_refused)
{
    struct problem other = {.options = peigh_options_default()};
    make_checkpoint();
    expect_refused(NULL, "gallery:gaussian", N + 1, BLOCK, "order");
    expect_refused(NULL, "gallery:gaussian", N, BLOCK + 1, "block width");
    expect_refused(NULL, "gallery:min", N, BLOCK, "another matrix");
    expect_refused(NULL, "gallery:gaussian,seed=3", N, BLOCK,
                   "another matrix");
    other.options.tol = 1e-14;
    expect_refused(&other, "gallery:gaussian", N, BLOCK, "--tol");
    other.options = peigh_options_default();
    other.options.uplo = PEIGH_LOWER;
    expect_refused(&other, "gallery:gaussian", N, BLOCK, "--uplo");
    other.options = peigh_options_default();
    other.options.definite = PEIGH_DEFINITE_NO;
    expect_refused(&other, "gallery:gaussian", N, BLOCK, "--definite");
    other.options = peigh_options_default();
    other.options.symmetrize = true;
    expect_refused(&other, "gallery:gaussian", N, BLOCK, "--symmetrize");
}
END_TEST

/* --- fingerprint --------------------------------------------------------- */

static uint64_t fingerprint_of(struct problem *p, peigh_uplo uplo)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    uint64_t x = 0;
    ring_open(&ring, p->comm, &f);
    checkpoint_fingerprint(&ring, &p->layout, uplo, p->a, &x, &f);
    ring_close(&ring);
    return x;
}

/* Change the lowest bit of A[i,j] on the rank that has it. */
static void nudge(struct problem *p, int64_t i, int64_t j)
{
    int64_t k = j - p->layout.first;
    if (k >= 0 && k < p->layout.count)
        p->a[i + k * p->layout.lda] =
            nextafter(p->a[i + k * p->layout.lda], INFINITY);
}

START_TEST(the_fingerprint_sees_one_bit_of_what_is_read)
{
    const peigh_uplo all[] = {PEIGH_FULL, PEIGH_LOWER, PEIGH_UPPER};
    const struct {
        int64_t i, j;
        bool seen[3];
    } entry[] = {{N - 1, 0, {true, true, false}},
                 {3, N - 2, {true, false, true}},
                 {17, 17, {true, true, true}}};
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < 3; e++) {
            struct problem p;
            problem_open(&p, MPI_COMM_WORLD, "gallery:gaussian", N, BLOCK);
            problem_fill(&p);
            uint64_t before = fingerprint_of(&p, all[k]);
            nudge(&p, entry[e].i, entry[e].j);
            bool seen = fingerprint_of(&p, all[k]) != before;
            expect_everywhere(seen == entry[e].seen[k], "uplo %d entry %d",
                              (int)all[k], e);
            problem_close(&p);
        }
}
END_TEST

/* --- the file ------------------------------------------------------------ */

static void make_path(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int file = rank == 0 ? mkstemp(path) : 0;
    if (rank == 0 && (file < 0 || close(file)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void remove_path(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        unlink(path);
}

int main(int argc, char **argv)
{
    TCase *t = tcase_create("checkpoint");
    tcase_add_unchecked_fixture(t, make_path, remove_path);
    tcase_add_test(t, a_solve_can_be_left_at_every_pause);
    tcase_add_test(t, both_ways_of_solving_can_be_left);
    tcase_add_test(t, the_smallest_orders_can_be_left);
    tcase_add_test(
        t, a_solve_that_is_left_again_and_again_ends_with_the_same_bits);
    tcase_add_test(t, any_wrong_byte_is_refused);
    tcase_add_test(t, a_file_that_was_cut_or_has_grown_is_refused);
    tcase_add_test(t, a_column_of_another_checkpoint_is_refused);
    tcase_add_test(t, a_checkpoint_of_another_solve_is_refused);
    tcase_add_test(t, the_fingerprint_sees_one_bit_of_what_is_read);
    return run_suite(&argc, &argv, t);
}
