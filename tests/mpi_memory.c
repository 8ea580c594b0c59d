/* The promise: memory beyond the owned columns is a constant, and is known
 * before.  Accounted bytes and the peak resident size that the system
 * reports; no pdsyev in this process.  Meant for 1 and for 16 ranks. */
#include "mpi_case.h"
#include "fill.h"
#include "hdf5_file.h"
#include "layout.h"
#include "memory.h"
#include "report.h"

#include <malloc.h>
#include <unistd.h>

enum { BLOCK = 16 };

static const char indefinite[] = "gallery:gaussian";

static int64_t largest(int64_t x)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return x;
}

/* Begin a new peak (proc(5): 5 resets the peak resident size). */
static bool reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return false;
    bool ok = fputs("5", file) >= 0;
    return fclose(file) == 0 && ok;
}

/* Solve; the peak beyond the columns in *beyond if it is not NULL. */
static peigh_memory solve(const char *spec, int64_t n, int64_t *beyond)
{
    struct problem p;
    malloc_trim(0); /* what earlier solves have freed is not there any more */
    bool known = reset_peak();
    int64_t before = resident_peak();
    problem_open(&p, MPI_COMM_WORLD, spec, n, BLOCK);
    problem_solve(&p);
    if (beyond)
        *beyond = known ? largest(resident_peak() - before -
                                  (int64_t)peigh_array_bytes(&p.layout))
                        : INT64_MIN;
    expect_everywhere(p.status == PEIGH_OK, "n=%lld", (long long)n);
    peigh_memory memory = p.report.memory;
    problem_close(&p);
    return memory;
}

START_TEST(workspace_is_the_same_for_all_orders)
{
    const int64_t n[] = {1, 31, 128, 256, 385, 512};
    int64_t expected = workspace_bytes(BLOCK);
    for (int k = 0; k < 6; k++)
        expect_everywhere(solve(indefinite, n[k], NULL).workspace_bytes ==
                          expected, "n=%lld", (long long)n[k]);
    for (int64_t order = 128; order <= 4096; order *= 2) {
        peigh_memory plan;
        peigh_options options = peigh_options_default();
        options.block = BLOCK;
        expect_eq(peigh_memory_for(order, 1, &options, &plan), PEIGH_OK);
        expect_eq(plan.workspace_bytes, expected);
    }
}
END_TEST

START_TEST(workspace_at_the_default_block_is_below_four_megabytes)
{
    for (int64_t n = 0; n <= 100000; n = 2 * n + 1) {
        peigh_memory plan;
        expect_eq(peigh_memory_for(n, 1, NULL, &plan), PEIGH_OK);
        expect(plan.workspace_bytes <= 4000000);
    }
}
END_TEST

START_TEST(the_plan_is_what_a_run_takes)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peigh_options options = peigh_options_default();
    options.block = BLOCK;
    for (int64_t n = 0; n <= 300; n += 37) {
        peigh_memory plan, taken = solve(indefinite, n, NULL);
        expect_eq(peigh_memory_for(n, ranks, &options, &plan), PEIGH_OK);
        expect_eq(taken.owned_bytes, plan.owned_bytes);
        expect_eq(taken.workspace_bytes, plan.workspace_bytes);
    }
}
END_TEST

/* Four times the ranks and twice the order: the columns of a rank hold as
 * many entries as before, and all of its memory is no more than before.  What
 * shrinks a little are the headers and paddings of fewer, longer columns. */
START_TEST(weak_scaling_takes_the_same_memory)
{
    const struct { int64_t n; int ranks; } step[] = {
        {256, 1}, {512, 4}, {1024, 16}, {2048, 64}};
    peigh_options options = peigh_options_default();
    options.block = BLOCK;
    int64_t all_before = INT64_MAX;
    for (int k = 0; k < 4; k++) {
        peigh_memory m;
        peigh_layout l;
        expect_eq(peigh_memory_for(step[k].n, step[k].ranks, &options, &m), 0);
        expect_eq(peigh_layout_for(step[k].n, 0, step[k].ranks, &options, &l),
                  0);
        int64_t extra_rows = l.lda - l.n;
        expect(extra_rows <= header_rows(BLOCK) + 15);
        expect_eq(m.owned_bytes - 8 * l.capacity * extra_rows,
                  8 * 256 * 256);
        expect_eq(m.workspace_bytes, workspace_bytes(BLOCK));
        expect(m.owned_bytes + m.workspace_bytes <= all_before);
        all_before = m.owned_bytes + m.workspace_bytes;
    }
}
END_TEST

/* Resident memory beyond the columns, after MPI, BLAS and all code paths have
 * been used once, at 16 times the columns. */
static void expect_constant_peak(const char *spec)
{
    const int64_t slack = 192 << 10; /* malloc's rounding, MPI's queues */
    int64_t small, large;
    solve(spec, 1024, NULL); /* MPI sets up for messages of this size */
    solve(spec, 256, &small);
    /* What the solver takes it takes every time; MPI touches a page of its
     * queues now and then.  The least of several runs is the solver's. */
    solve(spec, 1024, &large);
    for (int again = 0; again < 3; again++) {
        int64_t beyond;
        solve(spec, 1024, &beyond);
        large = beyond < large ? beyond : large;
    }
    if (everywhere(small == INT64_MIN))
        return; /* the system does not tell */
    int64_t constant = workspace_bytes(BLOCK) + slack;
    expect_everywhere(small <= constant && large <= constant,
                      "beyond the columns: %lld bytes at 256, %lld at 1024, "
                      "not %lld at most", (long long)small, (long long)large,
                      (long long)constant);
}

START_TEST(peak_resident_memory_beyond_the_columns_does_not_grow)
{
    expect_constant_peak(indefinite);
}
END_TEST

START_TEST(nor_does_it_on_the_way_by_the_cholesky_factor)
{
    expect_constant_peak("gallery:graded,from=0,to=-5,permute=1");
}
END_TEST

/* --- the way from file to file -------------------------------------------- */

static char folder[] = "/tmp/peigh-memory-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void make_folder(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        must(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* The diagonal matrix 1 .. n, row after row; rank 0. */
static void write_matrix(const char *path, int64_t n, bool single)
{
    FILE *file = must(fopen(path, "wb"));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double x = i == j ? (double)(i + 1) : 0.0;
            float y = (float)x;
            must(fwrite(single ? (void *)&y : (void *)&x, single ? 4 : 8, 1,
                        file) == 1 ? file : NULL);
        }
    fclose(file);
}

/* How a matrix is read and where its results go; HDF5 files as made by the
 * program itself. */
struct way {
    const char *raw;     /* --raw without the order; NULL: from HDF5 */
    const char *values, *vectors;
};

static void open_matrix(struct source *s, const struct way *way, int64_t n)
{
    struct failure f = {.status = PEIGH_OK};
    char text[64];
    struct raw raw;
    if (way->raw) {
        snprintf(text, sizeof text, "%.*s,%lld,0%s",
                 (int)strcspn(way->raw, ","), way->raw, (long long)n,
                 way->raw + strcspn(way->raw, ","));
        raw_read(&raw, text, &f);
        source_open_raw(s, path_of("a.bin"), &raw, n, &f);
    } else {
        source_open(s, path_of("a.h5:/A"), n, 1, &f);
    }
    expect_everywhere(!failed(&f), "%s", f.message);
}

/* Read, solve, write; the peak beyond the columns, and what was planned. */
static void run_way(const struct way *way, int64_t n, int64_t *beyond,
                    int64_t *plan)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    struct source source;
    struct matrix matrix = {&source, PEIGH_FULL, false};
    peigh_options options = peigh_options_default();
    peigh_layout l;
    options.block = BLOCK;
    ring_open(&ring, MPI_COMM_WORLD, &f);
    peigh_layout_for(n, ring.rank, ring.ranks, &options, &l);
    malloc_trim(0);
    bool known = reset_peak();
    int64_t before = resident_peak();
    double *a = must(malloc(peigh_array_bytes(&l)));
    double *values = must(malloc(peigh_values_bytes(&l)));
    open_matrix(&source, way, n);
    fill_columns(&ring, &l, &matrix, a, NULL, &f);
    peigh_status status = peigh_solve(&l, a, values, MPI_COMM_WORLD, &options,
                                      NULL);
    struct result result = {&ring, &l, values, a, 0, n};
    if (!failed(&f) && !status)
        write_pairs(&result, way->values, way->vectors, &f);
    *beyond = known ? largest(resident_peak() - before -
                              (int64_t)peigh_array_bytes(&l)) : INT64_MIN;
    *plan = workspace_bytes(BLOCK) + fill_bytes(&source) +
            output_bytes(way->values, way->vectors);
    expect_everywhere(!failed(&f) && !status, "%s", f.message);
    source_close(&source);
    free(values);
    free(a);
    ring_close(&ring);
}

static void write_for(const struct way *way, int64_t n)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    ring_open(&ring, MPI_COMM_WORLD, &f);
    if (way->raw && ring.rank == 0)
        write_matrix(path_of("a.bin"), n, way->raw[1] == '4');
    if (!way->raw) { /* the columns of the identity, as results are written */
        peigh_layout l;
        peigh_layout_for(n, ring.rank, ring.ranks, NULL, &l);
        double *z = must(calloc(1, peigh_array_bytes(&l)));
        for (int64_t j = 0; j < l.count; j++)
            z[l.first + j + j * l.lda] = 1.0;
        struct result r = {&ring, &l, NULL, z, 0, n};
        write_pairs(&r, NULL, path_of("a.h5:/A"), &f);
        free(z);
    }
    expect_everywhere(!failed(&f), "%s", f.message);
    MPI_Barrier(MPI_COMM_WORLD);
    ring_close(&ring);
}

static void expect_constant_buffers(const struct way *way)
{
    const int64_t slack = 192 << 10; /* as above */
    const int64_t n[] = {1024, 256, 1024};
    for (int k = 0; k < 3; k++) {
        int64_t beyond, plan, least = INT64_MAX;
        write_for(way, n[k]);
        for (int again = 0; again < 4; again++) {
            run_way(way, n[k], &beyond, &plan);
            least = beyond < least ? beyond : least;
        }
        if (k == 0)
            continue; /* the libraries set up for files of this size */
        expect_everywhere(least == INT64_MIN || least <= plan + slack,
                          "%s: %lld bytes beyond the columns at %lld, planned "
                          "%lld", way->raw ? way->raw : "HDF5",
                          (long long)least, (long long)n[k], (long long)plan);
    }
}

START_TEST(reading_and_writing_files_take_constant_buffers)
{
    char values[128], vectors[128];
    snprintf(values, sizeof values, "%s", path_of("w.npy"));
    snprintf(vectors, sizeof vectors, "%s", path_of("v.npy"));
    expect_constant_buffers(&(struct way){"f8", values, vectors});
    expect_constant_buffers(&(struct way){"f8,F", values, vectors});
    expect_constant_buffers(&(struct way){"f4", values, vectors});
}
END_TEST

START_TEST(so_do_hdf5_files)
{
    if (hdf5_check("", &(struct failure){.status = PEIGH_OK}))
        return;
    char values[128], vectors[128];
    snprintf(values, sizeof values, "%s", path_of("o.h5:/w"));
    snprintf(vectors, sizeof vectors, "%s", path_of("o.h5:/v"));
    expect_constant_buffers(&(struct way){NULL, values, vectors});
}
END_TEST

static void remove_folder(void)
{
    static const char *const names[] = {"a.bin", "a.h5", "w.npy", "v.npy",
                                        "o.h5"};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t k = 0; rank == 0 && k < sizeof names / sizeof *names; k++)
        unlink(path_of(names[k]));
    if (rank == 0 && rmdir(folder))
        perror(folder);
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 10); /* freed blocks leave at once */
    TCase *t = tcase_create("memory");
    tcase_add_test(t, workspace_is_the_same_for_all_orders);
    tcase_add_test(t, workspace_at_the_default_block_is_below_four_megabytes);
    tcase_add_test(t, the_plan_is_what_a_run_takes);
    tcase_add_test(t, weak_scaling_takes_the_same_memory);
    tcase_add_test(t,
                   peak_resident_memory_beyond_the_columns_does_not_grow);
    tcase_add_test(t, nor_does_it_on_the_way_by_the_cholesky_factor);
    tcase_add_unchecked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, reading_and_writing_files_take_constant_buffers);
    tcase_add_test(t, so_do_hdf5_files);
    return run_suite(&argc, &argv, t);
}
