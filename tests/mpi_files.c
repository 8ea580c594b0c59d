/* Matrices from files on any number of ranks: every rank gets its own columns,
 * of one triangle nothing but that triangle is read, and results go where
 * they belong. */
#include "mpi_case.h"

#include "fill.h"
#include "hdf5_file.h"
#include "progress.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 150 }; /* more than a tile of the transposition */

static char folder[64]; /* of this run, the same on all ranks */

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool first_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

/* Not symmetric: a transposed matrix would show. */
static double entry(int64_t i, int64_t j)
{
    return 1000.0 * (double)i + (double)j + 0.25;
}

/* The matrix row after row, in the machine's doubles. */
static void write_matrix(const char *name)
{
    if (first_rank()) {
        FILE *file = must(fopen(path_of(name), "wb"));
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                double x = entry(i, j);
                must(fwrite(&x, sizeof x, 1, file) == 1 ? file : NULL);
            }
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- a source that notes what it is asked for ---------------------------- */

struct spy {
    struct source inner;
    peigh_uplo uplo;
    int64_t entries, forbidden; /* of the other triangle */
};

/* Rows i0 .., columns j0 .. of A are asked for. */
static void note(struct spy *spy, int64_t i0, int64_t i1, int64_t j0,
                 int64_t j1)
{
    spy->entries += (i1 - i0) * (j1 - j0);
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = i0; i < i1; i++)
            spy->forbidden += spy->uplo == PEIGH_LOWER   ? i < j
                              : spy->uplo == PEIGH_UPPER ? i > j
                                                         : 0;
}

static peigh_status spy_fill(const struct source *s, int64_t i0, int64_t i1,
                             int64_t j0, int64_t j1, double *a, int64_t lda,
                             struct failure *f)
{
    struct spy *spy = s->state;
    note(spy, i0, i1, j0, j1);
    return spy->inner.fill(&spy->inner, i0, i1, j0, j1, a, lda, f);
}

static peigh_status spy_mirrored(const struct source *s, int64_t i0,
                                 int64_t i1, int64_t j0, int64_t j1, double *a,
                                 int64_t lda, struct failure *f)
{
    struct spy *spy = s->state;
    note(spy, j0, j1, i0, i1);
    return spy->inner.fill_mirrored(&spy->inner, i0, i1, j0, j1, a, lda, f);
}

static struct source spied(struct spy *spy, peigh_uplo uplo)
{
    struct source s = spy->inner;
    spy->uplo = uplo;
    spy->entries = spy->forbidden = 0;
    s.state = spy;
    s.fill = spy_fill;
    s.fill_mirrored = s.fill_mirrored ? spy_mirrored : NULL;
    return s;
}

/* --- reading ------------------------------------------------------------- */

/* What the options make of the matrix; the other triangle may be anything. */
static bool as_expected(peigh_uplo uplo, int64_t i, int64_t j, bool by_columns,
                        double x)
{
    bool counts = uplo == PEIGH_LOWER   ? i >= j
                  : uplo == PEIGH_UPPER ? i <= j
                                        : true;
    return !counts || x == (by_columns ? entry(j, i) : entry(i, j));
}

static int64_t sum(int64_t x)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return x;
}

static void expect_own_columns(struct ring *ring, struct spy *spy,
                               peigh_uplo uplo, bool by_columns)
{
    struct failure f = {.status = PEIGH_OK};
    struct source source = spied(spy, uplo);
    struct matrix matrix = {&source, uplo, false};
    peigh_layout l;
    peigh_layout_for(N, ring->rank, ring->ranks, NULL, &l);
    double *a = must(malloc(peigh_array_bytes(&l)));
    fill_columns(ring, &l, &matrix, a, NULL, &f);
    expect_everywhere(!failed(&f), "%s", f.message);
    int64_t wrong = 0;
    for (int64_t j = 0; j < l.count; j++)
        for (int64_t i = 0; i < N; i++)
            wrong += !as_expected(uplo, i, l.first + j, by_columns,
                                  a[i + j * l.lda]);
    expect_everywhere(wrong == 0, "%lld wrong entries, uplo %d, F %d",
                      (long long)wrong, uplo, by_columns);
    int64_t all = uplo == PEIGH_FULL ? N * N : N * (N + 1) / 2;
    expect_everywhere(spy->forbidden == 0, "%lld entries of the other triangle",
                      (long long)spy->forbidden);
    expect_everywhere(sum(spy->entries) == all, "not every entry once");
    free(a);
}

/* The checks' rectangles, straddling the diagonal and not. */
static void expect_rectangles(struct spy *spy, peigh_uplo uplo,
                              bool by_columns)
{
    static double a[N * N];
    const int64_t cut[] = {0, 1, 31, 128, 130, N};
    struct failure f = {.status = PEIGH_OK};
    struct source source = spied(spy, uplo);
    struct matrix matrix = {&source, uplo, false};
    int64_t wrong = 0;
    for (int k = 0; k < 25; k++) {
        int64_t i0 = cut[k / 5], i1 = cut[k / 5 + 1];
        int64_t j0 = cut[k % 5], j1 = cut[k % 5 + 1];
        matrix_fill(&matrix, i0, i1, j0, j1, a, N, &f);
        for (int64_t j = j0; j < j1; j++)
            for (int64_t i = i0; i < i1; i++) {
                bool swap = uplo == PEIGH_LOWER ? i < j : i > j;
                wrong += !as_expected(uplo, swap ? j : i, swap ? i : j,
                                      by_columns, a[i - i0 + (j - j0) * N]);
            }
    }
    expect_everywhere(!failed(&f) && wrong == 0, "%lld wrong, uplo %d, F %d",
                      (long long)wrong, uplo, by_columns);
    expect_everywhere(spy->forbidden == 0, "%lld entries of the other triangle",
                      (long long)spy->forbidden);
}

static void open_raw(struct source *s, const char *description)
{
    struct failure f = {.status = PEIGH_OK};
    struct raw raw;
    raw_read(&raw, description, &f);
    source_open_raw(s, path_of("a.bin"), &raw, N, &f);
    expect_everywhere(!failed(&f), "%s", f.message);
}

START_TEST(each_rank_reads_its_columns_and_of_a_triangle_only_that)
{
    struct ring ring;
    struct failure f = {.status = PEIGH_OK};
    write_matrix("a.bin");
    expect_everywhere(!ring_open(&ring, MPI_COMM_WORLD, &f), "%s", f.message);
    for (int by_columns = 0; by_columns < 2; by_columns++) {
        struct spy spy;
        open_raw(&spy.inner, by_columns ? "f8,150,0,F" : "f8,150");
        for (int uplo = PEIGH_FULL; uplo <= PEIGH_UPPER; uplo++) {
            expect_own_columns(&ring, &spy, (peigh_uplo)uplo, by_columns);
            if (uplo != PEIGH_FULL)
                expect_rectangles(&spy, (peigh_uplo)uplo, by_columns);
        }
        source_close(&spy.inner);
    }
    ring_close(&ring);
}
END_TEST

/* The file loses its end after it was opened: the ranks that meet the end say
 * where, the others hear of it. */
START_TEST(a_file_cut_off_while_it_is_read_is_an_error_on_every_rank)
{
    struct ring ring;
    struct source source;
    struct failure f = {.status = PEIGH_OK};
    peigh_layout l;
    write_matrix("a.bin");
    ring_open(&ring, MPI_COMM_WORLD, &f);
    open_raw(&source, "f8,150");
    MPI_Barrier(MPI_COMM_WORLD);
    if (first_rank())
        must(truncate(path_of("a.bin"), 8 * N * N - 4) ? NULL : &f);
    MPI_Barrier(MPI_COMM_WORLD);
    peigh_layout_for(N, ring.rank, ring.ranks, NULL, &l);
    double *a = must(malloc(peigh_array_bytes(&l)));
    struct matrix matrix = {&source, PEIGH_FULL, false};
    fill_columns(&ring, &l, &matrix, a, NULL, &f);
    expect_everywhere(f.status == PEIGH_ERR_IO &&
                      strstr(f.message, "truncated") &&
                      strstr(f.message, "A[149,0]"), "%s", f.message);
    free(a);
    source_close(&source);
    ring_close(&ring);
}
END_TEST

/* Lines on standard output while the columns are read; the reading began
 * `ago` seconds ago, the last line was `shown` seconds after the beginning;
 * negative: nobody watches. */
static int lines_shown(struct ring *ring, const struct source *source,
                       double ago, double shown)
{
    struct failure f = {.status = PEIGH_OK};
    struct matrix matrix = {source, PEIGH_FULL, false};
    struct progress progress = {"read", MPI_Wtime() - ago, shown};
    peigh_layout l;
    peigh_layout_for(source->n, ring->rank, ring->ranks, NULL, &l);
    double *a = must(malloc(peigh_array_bytes(&l)));
    FILE *file = must(tmpfile());
    fflush(stdout);
    int terminal = dup(STDOUT_FILENO), count = 0;
    dup2(fileno(file), STDOUT_FILENO);
    fill_columns(ring, &l, &matrix, a, shown < 0 ? NULL : &progress, &f);
    fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
    rewind(file);
    for (int c; (c = fgetc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    free(a);
    expect_everywhere(!failed(&f), "%s", f.message);
    return count;
}

START_TEST(only_a_long_reading_shows_its_progress)
{
    struct ring ring;
    struct failure f = {.status = PEIGH_OK};
    struct source source;
    peigh_layout l;
    write_matrix("a.bin");
    ring_open(&ring, MPI_COMM_WORLD, &f);
    peigh_layout_for(N, ring.rank, ring.ranks, NULL, &l);
    open_raw(&source, "f8,150");
    int expected = l.count > 0, found = lines_shown(&ring, &source, 1000, 0);
    expect_everywhere(found == expected, "after 1000 s %d lines", found);
    found = lines_shown(&ring, &source, -1000, 0);
    expect_everywhere(found == 0, "at once %d lines", found);
    found = lines_shown(&ring, &source, 1000, 1e6);
    expect_everywhere(found == 0, "after another line %d", found);
    found = lines_shown(&ring, &source, 1000, -1);
    expect_everywhere(found == 0, "without anybody watching %d", found);
    source_close(&source);
    ring_close(&ring);
}
END_TEST

/* --- writing ------------------------------------------------------------- */

static bool same_numbers(const char *path, int64_t offset, const double *x,
                         int64_t count)
{
    struct stat now;
    FILE *file = fopen(path, "rb");
    bool same = file && fstat(fileno(file), &now) == 0 &&
                now.st_size == offset + 8 * count &&
                fseek(file, offset, SEEK_SET) == 0;
    for (int64_t k = 0; k < count && same; k++) {
        double y;
        same = fread(&y, sizeof y, 1, file) == 1 && y == x[k];
    }
    if (file)
        fclose(file);
    return same;
}

/* What is in the .npy files: component i of vector k is entry(i, k), its
 * value k. */
static void expect_files(int64_t from, int64_t to)
{
    static double x[N * N];
    int64_t pairs = to - from;
    bool right = true;
    if (first_rank()) {
        for (int64_t k = 0; k < pairs; k++)
            x[k] = (double)(from + k);
        right = same_numbers(path_of("w.npy"), 128, x, pairs);
        for (int64_t k = 0; k < pairs; k++)
            for (int64_t i = 0; i < N; i++)
                x[i + k * N] = entry(i, from + k);
        right = right && same_numbers(path_of("v.npy"), 128, x, pairs * N);
    }
    expect_everywhere(right, "pairs %lld to %lld", (long long)from,
                      (long long)to);
}

static int64_t wrong_vectors(const struct result *r)
{
    const peigh_layout *l = r->layout;
    int64_t wrong = 0;
    for (int64_t j = 0; j < l->count; j++)
        for (int64_t i = 0; i < N; i++)
            wrong += r->z[i + j * l->lda] != entry(i, l->first + j);
    return wrong;
}

START_TEST(any_part_of_the_pairs_is_written_and_the_vectors_stay)
{
    const int64_t part[][2] = {{0, N}, {0, 0}, {3, 4}, {17, 131}, {N - 1, N},
                               {N, N}};
    struct ring ring;
    struct failure f = {.status = PEIGH_OK};
    peigh_layout l;
    ring_open(&ring, MPI_COMM_WORLD, &f);
    peigh_layout_for(N, ring.rank, ring.ranks, NULL, &l);
    double *z = must(calloc(1, peigh_array_bytes(&l)));
    double *values = must(malloc(peigh_values_bytes(&l)));
    for (int64_t j = 0; j < l.count; j++) {
        values[j] = (double)(l.first + j);
        for (int64_t i = 0; i < N; i++)
            z[i + j * l.lda] = entry(i, l.first + j);
    }
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        struct result r = {&ring, &l, values, z, part[k][0], part[k][1]};
        write_pairs(&r, path_of("w.npy"), path_of("v.npy"), &f);
        expect_everywhere(!failed(&f), "%s", f.message);
        expect_files(r.from, r.to);
        if (hdf5_check("", &(struct failure){.status = PEIGH_OK}))
            continue; /* tests/cli.py reads what is in the file */
        write_pairs(&r, path_of("o.h5:/w"), path_of("o.h5:/g/v"), &f);
        expect_everywhere(!failed(&f), "%s", f.message);
        expect_everywhere(wrong_vectors(&r) == 0, "the vectors have moved");
    }
    free(values);
    free(z);
    ring_close(&ring);
}
END_TEST

/* No file of this rank may be longer; negative: no limit any more. */
static void limit_files(int64_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < 0 ? limit.rlim_max : (rlim_t)bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The disk is full in effect: for the first rank, which makes the file, or for
 * one that writes into it. */
START_TEST(a_full_disk_leaves_the_old_hdf5_file_and_the_vectors)
{
    struct ring ring;
    struct failure f = {.status = PEIGH_OK};
    struct stat before, after;
    peigh_layout l;
    if (hdf5_check("", &f))
        return;
    ring_open(&ring, MPI_COMM_WORLD, &f);
    peigh_layout_for(N, ring.rank, ring.ranks, NULL, &l);
    double *z = must(calloc(1, peigh_array_bytes(&l)));
    for (int64_t j = 0; j < l.count; j++)
        for (int64_t i = 0; i < N; i++)
            z[i + j * l.lda] = entry(i, l.first + j);
    struct result r = {&ring, &l, NULL, z, 0, N};
    write_pairs(&r, NULL, path_of("o.h5:/v"), &f);
    expect_everywhere(!failed(&f), "%s", f.message);
    int last = ring.ranks - 1 < N / 32 ? ring.ranks - 1 : N / 32;
    for (int who = 0; who <= last; who += last > 0 ? last : 1) {
        stat(path_of("o.h5"), &before);
        limit_files(ring.rank == who ? 5000 : -1);
        write_pairs(&r, NULL, path_of("o.h5:/v"), &f);
        limit_files(-1);
        expect_everywhere(f.status == PEIGH_ERR_IO &&
                          strstr(f.message, path_of("o.h5")), "%d: %s", who,
                          f.message);
        expect_everywhere(stat(path_of("o.h5"), &after) == 0 &&
                          before.st_ino == after.st_ino, "replaced");
        expect_everywhere(wrong_vectors(&r) == 0, "the vectors have moved");
        f = (struct failure){.status = PEIGH_OK};
    }
    free(z);
    ring_close(&ring);
}
END_TEST

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/peigh-files-XXXXXX");
    if (first_rank())
        must(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

START_TEST(nothing_else_is_left_behind)
{
    static const char *const names[] = {"a.bin", "w.npy", "v.npy", "o.h5"};
    bool empty = true;
    if (first_rank()) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            unlink(path_of(names[k]));
        empty = rmdir(folder) == 0;
    }
    expect_everywhere(empty, "in %s", folder);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = tcase_create("files");
    tcase_add_unchecked_fixture(t, make_folder, NULL);
    tcase_add_test(t, each_rank_reads_its_columns_and_of_a_triangle_only_that);
    tcase_add_test(
        t, a_file_cut_off_while_it_is_read_is_an_error_on_every_rank);
    tcase_add_test(t, only_a_long_reading_shows_its_progress);
    tcase_add_test(t, any_part_of_the_pairs_is_written_and_the_vectors_stay);
    tcase_add_test(t, a_full_disk_leaves_the_old_hdf5_file_and_the_vectors);
    tcase_add_test(t, nothing_else_is_left_behind);
    return run_suite(&argc, &argv, t);
}
