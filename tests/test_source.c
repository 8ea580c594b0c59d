/* Where matrices come from: the gallery against its closed forms and LAPACK,
 * .npy files written by NumPy, .mtx files written by SciPy, and everything
 * that can be wrong with a file or a spec. */
#include "source.h"

#include "expect.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TEST_PYTHON
#define TEST_PYTHON "/usr/bin/python3" /* one that has NumPy and SciPy */
#endif
#ifndef TEST_MATRICES
#define TEST_MATRICES "tests/matrices"
#endif

enum { N = 40 }; /* most gallery tests; those with other orders follow it */

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a,
            const int *lda, double *w, double *work, const int *lwork,
            int *info);

/* ---- Helpers ---- */

static char folder[64]; /* of this run, made by main() */

/* A path in the folder; good until the next call but three. */
static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(path_of(name), "wb");
    expect(file != NULL);
    expect(fwrite(bytes, 1, count, file) == count);
    expect(fclose(file) == 0);
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* Run Python in the folder, with numpy, scipy.io and scipy.sparse at hand. */
static void python(const char *script)
{
    char command[512];
    static const char head[] =
        "import numpy as np, scipy.io, scipy.sparse as sp\n"
        "def m(n): return np.fromfunction(lambda i, j: "
        "1000.0 * i + j + 0.5, (n, n))\n"
        "def s(n): return m(n) + m(n).T\n";
    FILE *file = fopen(path_of("script.py"), "w");
    expect(file != NULL);
    fprintf(file, "%s%s", head, script);
    expect(fclose(file) == 0);
    snprintf(command, sizeof command, "cd %s && %s script.py", folder,
             TEST_PYTHON);
    expect_eq(system(command), 0);
}

static void open_or_abort(struct source *source, const char *spec, int64_t n)
{
    struct failure f = {0};
    if (source_open(source, spec, n, 1, &f) != PEIGH_OK)
        ck_abort_msg("%s: %s", spec, f.message);
}

/* The whole matrix of a source, to be freed. */
static double *whole(const struct source *source)
{
    struct failure f = {0};
    int64_t n = source->n;
    double *a = malloc(sizeof *a * (size_t)(n * n + 1));
    expect(a != NULL);
    if (source->fill(source, 0, n, 0, n, a, n, &f) != PEIGH_OK)
        ck_abort_msg("%s: %s", source->name, f.message);
    return a;
}

static double *read_all(const char *spec, int64_t n)
{
    struct source source;
    open_or_abort(&source, spec, n);
    double *a = whole(&source);
    expect_eq(source.n, n);
    source_close(&source);
    return a;
}

static bool same_bits(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

/* Rectangles of all kinds are pieces of the whole, and nothing outside them
 * is written. */
static void check_rectangles(const char *spec, int64_t order)
{
    struct source source;
    struct failure f = {0};
    open_or_abort(&source, spec, order);
    int64_t n = source.n, lda = n + 3;
    double *a = whole(&source);
    double *b = malloc(sizeof *b * (size_t)((n + 1) * lda));
    const int64_t cuts[][4] = {{0, n, 0, 1},         {0, n, n - 1, n},
                               {n / 2, n, 0, n / 2}, {n / 3, n / 3, 0, n},
                               {0, 1, 0, n},         {n / 4, n / 2, 1, n},
                               {0, n, n / 2, n / 2}};
    for (size_t c = 0; n > 1 && c < sizeof cuts / sizeof cuts[0]; c++) {
        int64_t i0 = cuts[c][0], i1 = cuts[c][1];
        int64_t j0 = cuts[c][2], j1 = cuts[c][3];
        for (int64_t k = 0; k < (n + 1) * lda; k++)
            b[k] = 12345;
        expect_eq(source.fill(&source, i0, i1, j0, j1, b, lda, &f), 0);
        for (int64_t j = 0; j < n + 1; j++)
            for (int64_t i = 0; i < lda; i++) {
                bool in = i < i1 - i0 && j < j1 - j0;
                double want = in ? a[(i + i0) + (j + j0) * n] : 12345;
                if (!same_bits(b[i + j * lda], want))
                    ck_abort_msg("%s: rectangle %d, entry %d %d", spec,
                                 (int)c, (int)i, (int)j);
            }
    }
    free(a);
    free(b);
    source_close(&source);
}

/* Opening, or reading all of it, fails with this status, and the message
 * holds every one of the words. */
static void check_failure(const char *spec, int64_t n, peigh_status status,
                          const char *word, const char *reason)
{
    struct source source;
    struct failure f = {0};
    if (source_open(&source, spec, n, 1, &f) == PEIGH_OK) {
        int64_t order = source.n;
        double *a = malloc(sizeof *a * (size_t)(order * order + 1));
        source.fill(&source, 0, order, 0, order, a, order, &f);
        free(a);
        source_close(&source);
    }
    if (f.status != status || !strstr(f.message, word) ||
        !strstr(f.message, reason))
        ck_abort_msg("%s: status %d, message '%s' without '%s' or '%s'",
                     spec, (int)f.status, f.message, word, reason);
}

static void check_file_failure(const char *name, const char *reason)
{
    const char *path = path_of(name);
    check_failure(path, -1, PEIGH_ERR_IO, path, reason);
}

/* ---- The gallery ---- */

/* Every entry, every kind and every type; order 0 means N. */
static const struct {
    const char *spec;
    int64_t n;
} gallery[] = {
    {"toeplitz", 0}, {"toeplitz,a=2,b=1", 0}, {"toeplitz,a=-1,b=3", 0},
    {"toeplitz", 1}, {"min", 0}, {"min", 1}, {"frank", 0}, {"frank", 1},
    {"clement", 0}, {"clement", 41}, {"clement", 1},
    {"pei", 0}, {"pei,alpha=0", 0}, {"pei,alpha=-3.5", 0}, {"pei", 1},
    {"laplace2d", 36}, {"laplace2d", 0}, {"laplace2d", 37},
    {"laplace2d,p=10,q=4", 0}, {"laplace2d,p=8", 0}, {"laplace2d", 1},
    {"circulant", 0}, {"circulant", 41}, {"circulant,c=3/1/-2/0.5", 0},
    {"circulant", 1}, {"circulant", 2}, {"circulant", 3},
    {"dst", 0}, {"dst", 41}, {"dst", 1}, {"hadamard", 32}, {"hadamard", 1},
    {"rosser", 8}, {"wilkinson", 0}, {"wilkinson", 21}, {"wilkinson", 1},
    {"glued", 42}, {"glued,glue=1e-3", 63},
    {"spectrum", 0}, {"spectrum", 1}, {"spectrum", 2},
    {"spectrum,kind=arithmetic", 0}, {"spectrum,kind=geometric,cond=10", 0},
    {"spectrum,kind=clustered-one", 0}, {"spectrum,kind=clustered-eps", 0},
    {"spectrum,kind=random-sign", 0}, {"spectrum,kind=deficient", 0},
    {"spectrum,kind=deficient,rank=3", 0}, {"spectrum,kind=equal", 0},
    {"spectrum,kind=pm1", 0}, {"spectrum,kind=pm1", 41},
    {"spectrum,scale=1e-280", 0}, {"spectrum,scale=1e-150", 0},
    {"spectrum,scale=1e150", 0}, {"spectrum,kind=pm1,scale=1e+280", 0},
    {"gaussian", 0}, {"gaussian", 1}, {"graded", 0}, {"graded", 1},
    {"graded,permute=1", 0}, {"graded,from=5,to=-75,noise=0.9", 0},
    {"type,k=1", 0}, {"type,k=2", 0}, {"type,k=3", 0}, {"type,k=4", 0},
    {"type,k=5", 0}, {"type,k=6", 0}, {"type,k=7", 0}, {"type,k=8", 0},
    {"type,k=9", 0}, {"type,k=10", 0}, {"type,k=11", 0}, {"type,k=12", 0},
    {"type,k=13", 0}, {"type,k=14", 0}, {"type,k=15", 0}, {"type,k=16", 0},
    {"type,k=17", 0}, {"type,k=18", 0}, {"type,k=19", 0}, {"type,k=20", 0},
    {"type,k=21", 0}, {"type,k=22", 0}, {"type,k=22", 1},
};

enum { GALLERY = sizeof gallery / sizeof gallery[0] };

static const char *gallery_spec(int k)
{
    static char spec[128];
    snprintf(spec, sizeof spec, "gallery:%s", gallery[k].spec);
    return spec;
}

static int64_t gallery_order(int k)
{
    return gallery[k].n ? gallery[k].n : N;
}

START_TEST(rectangles_of_every_gallery_matrix_agree_with_the_whole)
{
    for (int k = 0; k < GALLERY; k++)
        check_rectangles(gallery_spec(k), gallery_order(k));
}
END_TEST

START_TEST(every_gallery_matrix_is_symmetric_bit_for_bit_and_finite)
{
    for (int k = 0; k < GALLERY; k++) {
        int64_t n = gallery_order(k);
        double *a = read_all(gallery_spec(k), n);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i <= j; i++) {
                expect(isfinite(a[i + j * n]));
                expect(same_bits(a[i + j * n], a[j + i * n]));
            }
        free(a);
    }
}
END_TEST

/* LAPACK's eigenvalues of the matrix a, which is destroyed. */
static void lapack(int64_t n, double *a, double *w)
{
    double work[64 * N];
    int order = (int)n, lwork = 64 * N, info, lda = n > 0 ? order : 1;
    dsyev_("N", "L", &order, a, &lda, w, work, &lwork, &info);
    expect_eq(info, 0);
}

static double largest(int64_t n, const double *w)
{
    double norm = 0;
    for (int64_t k = 0; k < n; k++)
        norm = fmax(norm, fabs(w[k]));
    return norm;
}

/*     max_k |lambda_k - lapack_k| <= n eps max |lambda|
 *     |trace A - sum lambda_k|    <= n eps max |lambda|     */
static void check_eigenvalues(const struct source *source)
{
    int64_t n = source->n;
    double w[2 * N], reference[2 * N];
    long double trace = 0, sum = 0;
    source->eigenvalues(source, w);
    double *a = whole(source);
    for (int64_t k = 0; k < n; k++) {
        expect(k == 0 || w[k - 1] <= w[k]);
        trace += a[k + k * n];
        sum += w[k];
    }
    lapack(n, a, reference);
    double tol = (double)n * DBL_EPSILON * largest(n, reference);
    for (int64_t k = 0; k < n; k++)
        if (!(fabs(w[k] - reference[k]) <= tol))
            ck_abort_msg("%s: eigenvalue %d is %.17g, LAPACK has %.17g",
                         source->name, (int)k, w[k], reference[k]);
    if (!(fabsl(trace - sum) <= tol))
        ck_abort_msg("%s: trace %.17Lg, sum %.17Lg", source->name, trace,
                     sum);
    free(a);
}

START_TEST(closed_form_eigenvalues_agree_with_lapack_and_the_trace)
{
    int known = 0;
    for (int k = 0; k < GALLERY; k++) {
        struct source source;
        open_or_abort(&source, gallery_spec(k), gallery_order(k));
        if (source.eigenvalues) {
            check_eigenvalues(&source);
            known++;
        }
        source_close(&source);
    }
    expect(known >= 60);
}
END_TEST

START_TEST(matrices_without_a_closed_form_say_so)
{
    static const char *const specs[] = {
        "wilkinson", "glued,n=42", "gaussian", "graded", "type,k=13",
        "type,k=14", "type,k=15", "type,k=21"};
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        char spec[64];
        struct source source;
        snprintf(spec, sizeof spec, "gallery:%s", specs[k]);
        open_or_abort(&source, spec, N);
        expect(source.eigenvalues == NULL);
        source_close(&source);
    }
}
END_TEST

/* The smallest of the second difference: 4 sin^2(pi/(2(n+1))), 1e-9 here. */
START_TEST(small_eigenvalues_are_accurate_relative_to_themselves)
{
    struct source source;
    enum { ORDER = 100000 };
    double *w = malloc(sizeof *w * ORDER);
    open_or_abort(&source, "gallery:toeplitz", ORDER);
    source.eigenvalues(&source, w);
    double s = 2 * sin(3.14159265358979323846 / (2 * (ORDER + 1.0)));
    expect(fabs(w[0] - s * s) <= 4 * DBL_EPSILON * s * s);
    source_close(&source);
    open_or_abort(&source, "gallery:spectrum,cond=1e300", 10);
    source.eigenvalues(&source, w);
    expect(fabs(w[0] - 1e-300) <= 1e-314);
    source_close(&source);
    free(w);
}
END_TEST

START_TEST(equal_eigenvalues_are_the_same_bits)
{
    struct source source;
    double w[N];
    open_or_abort(&source, "gallery:laplace2d", 36);
    source.eigenvalues(&source, w);
    expect(same_bits(w[1], w[2]) && same_bits(w[33], w[34]));
    source_close(&source);
    open_or_abort(&source, "gallery:circulant", N);
    source.eigenvalues(&source, w);
    for (int k = 1; k < N - 1; k += 2)
        expect(same_bits(w[k], w[k + 1]));
    source_close(&source);
}
END_TEST

START_TEST(an_entry_depends_on_its_indices_and_the_seed)
{
    struct source source;
    struct failure f = {0};
    double *a = read_all("gallery:gaussian", 10);
    double *same = read_all("gallery:gaussian,seed=1", 20);
    double *other = read_all("gallery:gaussian,seed=2", 10);
    for (int j = 0; j < 10; j++)
        for (int i = 0; i < 10; i++) {
            expect(same_bits(a[i + 10 * j], same[i + 20 * j]));
            expect(a[i + 10 * j] != other[i + 10 * j]);
        }
    expect_eq(source_open(&source, "gallery:gaussian", 10, 2, &f), PEIGH_OK);
    double *argument = whole(&source);
    expect(memcmp(other, argument, 100 * sizeof *other) == 0);
    source_close(&source);
    free(a);
    free(same);
    free(other);
    free(argument);
}
END_TEST

START_TEST(gaussian_entries_have_the_variances_of_the_ensemble)
{
    enum { ORDER = 300 };
    double *a = read_all("gallery:gaussian", ORDER), on = 0, off = 0;
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i <= j; i++)
            *(i == j ? &on : &off) += a[i + ORDER * j] * a[i + ORDER * j];
    expect(fabs(on / ORDER - 2) < 0.5);
    expect(fabs(off / (ORDER * (ORDER - 1) / 2) - 1) < 0.05);
    free(a);
}
END_TEST

START_TEST(a_permuted_graded_matrix_has_the_same_grades_in_another_order)
{
    double *a = read_all("gallery:graded", N);
    double *b = read_all("gallery:graded,permute=1", N);
    int moved = 0;
    for (int k = 0; k < N; k++) {
        int found = 0;
        for (int l = 0; l < N; l++)
            found += a[k * (N + 1)] == b[l * (N + 1)];
        expect_eq(found, 1);
        moved += a[k * (N + 1)] != b[k * (N + 1)];
    }
    expect(moved > N / 2);
    free(a);
    free(b);
}
END_TEST

/* The default order, unless the spec or the argument names one; the spec goes
 * first. */
START_TEST(the_order_is_the_specs_or_the_arguments_or_the_default)
{
    static const struct {
        const char *spec;
        int64_t n, order;
    } cases[] = {
        {"gallery:min", -1, 500},        {"gallery:min", 7, 7},
        {"gallery:min,n=9", 7, 9},       {"gallery:min", 0, 0},
        {"gallery:rosser", -1, 8},       {"gallery:hadamard", -1, 512},
        {"gallery:laplace2d", -1, 256},  {"gallery:laplace2d,p=3,q=5", -1, 15},
        {"gallery:laplace2d,p=3", 12, 12}, {"gallery:laplace2d", 0, 0},
        {"gallery:glued", -1, 504},      {"gallery:spectrum", 0, 0},
        {"gallery:type", 0, 0},          {"gallery:graded", 0, 0},
        {"gallery:circulant", 0, 0},     {"gallery:dst", 0, 0},
        {"gallery:gaussian,n=536870912", -1, 536870912},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct source source;
        open_or_abort(&source, cases[c].spec, cases[c].n);
        expect_eq(source.n, cases[c].order);
        expect(source.random_access);
        expect(strcmp(source.name, cases[c].spec) == 0);
        double none = 7;
        if (source.n == 0 && source.eigenvalues)
            source.eigenvalues(&source, &none);
        expect(none == 7);
        source_close(&source);
    }
}
END_TEST

START_TEST(a_prime_grid_is_one_row_and_a_square_one_is_square)
{
    double *a = read_all("gallery:laplace2d", 6); /* p = 2, q = 3 */
    expect(a[0 + 6 * 1] == -1 && a[0 + 6 * 2] == -1 && a[1 + 6 * 2] == 0);
    free(a);
    a = read_all("gallery:laplace2d", 7); /* p = 1, q = 7 */
    expect(a[0 + 7 * 1] == -1 && a[0 + 7 * 2] == 0);
    free(a);
}
END_TEST

/* Each line of the help begins with a spec that spells out the defaults. */
START_TEST(the_help_lists_every_entry_with_its_keys)
{
    struct source source;
    struct failure f = {0};
    int lines = 0, names = 1;
    source_open(&source, "gallery:nonsense", 4, 1, &f);
    for (const char *at = f.message; *at; at++)
        names += *at == ',';
    for (const char *at = gallery_help(); *at; at = strchr(at, '\n') + 1) {
        char spec[128], name[64];
        snprintf(spec, sizeof spec, "gallery:%.*s", (int)strcspn(at, " "),
                 at);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " ,"), at);
        open_or_abort(&source, spec, -1);
        expect(strstr(f.message, name) != NULL);
        source_close(&source);
        lines++;
    }
    expect_eq(lines, names);
    expect_eq(lines, 16);
}
END_TEST

START_TEST(bad_gallery_specs_are_refused_with_what_there_is)
{
    static const struct {
        const char *spec, *word, *reason;
    } cases[] = {
        {"gallery:", "no matrix ''", "toeplitz"},
        {"gallery:hilbert", "'hilbert'", "graded"},
        {"gallery:Min", "'Min'", "min"},
        {"gallery:toeplitz,c=1", "no key 'c'", "a, b, n, seed"},
        {"gallery:min,alpha=1", "no key 'alpha'", "n, seed"},
        {"gallery:min,", "''", "key=value"},
        {"gallery:pei,alpha", "'alpha'", "key=value"},
        {"gallery:pei,alpha=", "alpha=''", "a number"},
        {"gallery:pei,alpha=1x", "alpha='1x'", "a number"},
        {"gallery:pei,alpha=nan", "alpha='nan'", "a number"},
        {"gallery:pei,alpha=1e999", "alpha='1e999'", "a number"},
        {"gallery:min,n=-1", "n='-1'", "an integer"},
        {"gallery:min,n=3.5", "n='3.5'", "an integer"},
        {"gallery:min,n=99999999999", "n='99999999999'", "an integer"},
        {"gallery:min,seed=x", "seed='x'", "an integer"},
        {"gallery:min,seed=18446744073709551616", "seed=", "an integer"},
        {"gallery:type,k=0", "k='0'", "1 .. 22"},
        {"gallery:type,k=23", "k='23'", "1 .. 22"},
        {"gallery:type,k=1.5", "k='1.5'", "an integer"},
        {"gallery:spectrum,kind=bad", "kind='bad'", "clustered-one"},
        {"gallery:spectrum,cond=0", "cond='0'", "a number in 1"},
        {"gallery:spectrum,rank=2", "rank=2", "kind=deficient"},
        {"gallery:spectrum,n=4,kind=deficient,rank=5", "rank=5", "n=4"},
        {"gallery:graded,noise=1", "noise='1'", "0.999"},
        {"gallery:graded,permute=2", "permute='2'", "0 .. 1"},
        {"gallery:circulant,c=", "c=''", "slashes"},
        {"gallery:circulant,c=1/", "c='1/'", "slashes"},
        {"gallery:circulant,c=1//2", "c='1//2'", "slashes"},
        {"gallery:circulant,c=1/x", "c='1/x'", "slashes"},
        {"gallery:circulant,n=4,c=1/2/3/4", "4 numbers", "n=4"},
        {"gallery:circulant,c=1/2,c=x", "c='x'", "slashes"},
        {"gallery:hadamard,n=12", "n=12", "power of 2"},
        {"gallery:hadamard,n=0", "n=0", "power of 2"},
        {"gallery:rosser,n=9", "n=9", "8"},
        {"gallery:glued,n=20", "n=20", "21"},
        {"gallery:laplace2d,n=10,p=3", "n=10", "p=3"},
        {"gallery:laplace2d,n=10,p=2,q=4", "n=10", "q=4"},
        {"gallery:laplace2d,n=10,p=0", "n=10", "p=0"},
        {"gallery:laplace2d,p=100000,q=100000", "p*q=10000000000", "larger"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        check_failure(cases[c].spec, -1, PEIGH_ERR_ARGUMENT, cases[c].word,
                      cases[c].reason);
    check_failure("gallery:min", (int64_t)1 << 40, PEIGH_ERR_ARGUMENT,
                  "gallery:min", "larger than");
}
END_TEST

/* ---- source_open ---- */

START_TEST(a_name_that_is_neither_file_nor_gallery_is_refused)
{
    static const char *const specs[] = {
        "", "toeplitz", "a.csv", "a.npy.gz", "a.npz", ".npy", "npy",
        "GALLERY:min", "a.mtx "};
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "'%s'", specs[k]);
        check_failure(specs[k], -1, PEIGH_ERR_ARGUMENT, quoted,
                      "FILE.h5:/DATASET or gallery:NAME");
    }
    check_failure(NULL, -1, PEIGH_ERR_ARGUMENT, "''", "FILE.npy");
}
END_TEST

START_TEST(a_file_of_another_order_than_asked_for_is_refused)
{
    const char *npy = TEST_MATRICES "/graded_120.npy";
    const char *mtx = TEST_MATRICES "/bcsstk01.mtx";
    check_failure(npy, 119, PEIGH_ERR_ARGUMENT, npy, "120, not 119");
    check_failure(mtx, 0, PEIGH_ERR_ARGUMENT, mtx, "48, not 0");
    free(read_all(npy, 120));
    free(read_all(mtx, 48));
}
END_TEST

START_TEST(a_missing_file_and_a_folder_are_refused_with_the_systems_reason)
{
    static const char *const suffixes[] = {"npy", "mtx"};
    for (int k = 0; k < 2; k++) {
        char name[32];
        snprintf(name, sizeof name, "missing.%s", suffixes[k]);
        check_file_failure(name, "No such file or directory");
        snprintf(name, sizeof name, "folder.%s", suffixes[k]);
        expect_eq(mkdir(path_of(name), 0700), 0);
        check_file_failure(name, "Is a directory");
        snprintf(name, sizeof name, "pipe.%s", suffixes[k]);
        expect_eq(mkfifo(path_of(name), 0600), 0);
        check_file_failure(name, "not a regular file");
    }
}
END_TEST

START_TEST(the_reason_survives_a_path_longer_than_a_message)
{
    char path[1000];
    memset(path, 'x', sizeof path);
    for (int k = 0; k < 1000; k += 100)
        path[k] = '/';
    strcpy(path + 900, "/end.npy");
    check_failure(path, -1, PEIGH_ERR_IO, "/end.npy",
                  "No such file or directory");
}
END_TEST

/* ---- .npy ---- */

/* m(n)_ij = 1000 i + j + 1/2, as python() has it, or its sum with its
 * transpose. */
static void check_m(const char *name, int64_t n, bool sum)
{
    double *a = read_all(path_of(name), n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double want = sum ? 1001.0 * (double)(i + j) + 1
                              : 1000.0 * (double)i + (double)j + 0.5;
            if (!(a[i + j * n] == want))
                ck_abort_msg("%s: entry %d %d is %g, not %g", name, (int)i,
                             (int)j, a[i + j * n], want);
        }
    free(a);
    check_rectangles(path_of(name), n);
}

START_TEST(every_npy_variant_that_numpy_writes_is_read)
{
    static const char *const types[] = {"l8", "b8", "l4", "b4"};
    static const char *const orders[] = {"C", "F"};
    python("for name, t in zip('l8 b8 l4 b4'.split(),\n"
           "                   '<f8 >f8 <f4 >f4'.split()):\n"
           "    for order in 'CF':\n"
           "        for v in (1, 2, 3):\n"
           "            with open(name + order + str(v) + '.NPY', 'wb') as o:\n"
           "                np.lib.format.write_array(o,\n"
           "                    m(23).astype(t, order=order), (v, 0))\n");
    for (int t = 0; t < 4; t++)
        for (int order = 0; order < 2; order++)
            for (int version = 1; version <= 3; version++) {
                char name[32];
                snprintf(name, sizeof name, "%s%s%d.NPY", types[t],
                         orders[order], version);
                check_m(name, 23, false);
            }
}
END_TEST

START_TEST(npy_orders_0_and_1_and_long_lines_are_read)
{
    python("for n in (0, 1):\n"
           "    np.save('n%d.npy' % n, m(n))\n"
           "    np.save('f%d.npy' % n, np.asfortranarray(m(n)))\n"
           "a = np.lib.format.open_memmap('longc.npy', 'w+',\n"
           "                              shape=(5000, 5000))\n"
           "a[4999] = 0.5 + np.arange(5000)\n"
           "a.flush()\n"); /* a file with a hole: the disk sees one row */
    check_m("n0.npy", 0, false);
    check_m("f0.npy", 0, false);
    check_m("n1.npy", 1, false);
    check_m("f1.npy", 1, false);
    /* A row of 40000 bytes is read in two pieces. */
    struct source source;
    struct failure f = {0};
    double *row = malloc(5000 * sizeof *row);
    open_or_abort(&source, path_of("longc.npy"), 5000);
    expect(source.random_access && source.eigenvalues == NULL);
    expect_eq(source.fill(&source, 4999, 5000, 0, 5000, row, 1, &f), 0);
    for (int j = 0; j < 5000; j++)
        expect(row[j] == j + 0.5);
    source_close(&source);
    free(row);
    unlink(path_of("longc.npy"));
}
END_TEST

START_TEST(npy_passes_nan_infinity_and_denormals_on)
{
    python("a = np.array([[np.nan, -np.inf], [5e-324, -0.0]])\n"
           "np.save('special.npy', a)\n"
           "np.save('special4.npy', a.astype('>f4'))\n");
    double *a = read_all(path_of("special.npy"), 2);
    expect(isnan(a[0]) && a[2] == -INFINITY && a[1] == 5e-324);
    expect(a[3] == 0 && signbit(a[3]));
    free(a);
    a = read_all(path_of("special4.npy"), 2);
    expect(isnan(a[0]) && a[2] == -INFINITY && a[1] == 0);
    free(a);
}
END_TEST

START_TEST(reference_matrices_are_symmetric_and_agree_with_numpy)
{
    char script[512], here[256];
    expect(getcwd(here, sizeof here) != NULL);
    const char *root = TEST_MATRICES[0] == '/' ? "" : here;
    snprintf(script, sizeof script,
             "a = np.load('%s/%s/graded_permuted_101.npy')\n"
             "np.save('copy.npy', np.asfortranarray(a).astype('>f8'))\n",
             root, TEST_MATRICES);
    python(script);
    double *a = read_all(TEST_MATRICES "/graded_permuted_101.npy", 101);
    double *b = read_all(path_of("copy.npy"), 101);
    expect(memcmp(a, b, 101 * 101 * sizeof *a) == 0);
    for (int j = 0; j < 101; j++)
        for (int i = 0; i < j; i++)
            expect(a[i + 101 * j] == a[j + 101 * i]);
    free(a);
    free(b);
}
END_TEST

/* A version 1.0 file with this header text and `data` bytes of zeros. */
static void write_npy(const char *name, const char *header, size_t data)
{
    unsigned char bytes[4096] = "\x93NUMPY\x01";
    size_t length = strlen(header);
    bytes[8] = (unsigned char)(length % 256);
    bytes[9] = (unsigned char)(length / 256);
    memcpy(bytes + 10, header, length);
    write_bytes(name, bytes, 10 + length + data);
}

START_TEST(npy_headers_are_python_dicts_in_any_style)
{
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }   \n",
        "{\"shape\":(2,2),\"fortran_order\":True,\"descr\":\"<f8\"}",
        " { 'fortran_order' :False ,\n'shape' : ( 2,2 , ) ,'descr' : '<f8' , }",
        "{'descr':'=f8','fortran_order':False,'shape':(2,2)}",
        "{'descr':'|f8','fortran_order':False,'shape':(2,2)}",
        "{'descr':'f8','fortran_order':False,'shape':(2L,2L)}",
    };
    for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++) {
        write_npy("style.npy", headers[k], 32);
        double *a = read_all(path_of("style.npy"), 2);
        expect(a[0] == 0 && a[3] == 0);
        free(a);
    }
}
END_TEST

START_TEST(bad_npy_headers_are_refused)
{
    static const struct {
        const char *header, *reason;
    } cases[] = {
        {"{'descr': '<f8', 'shape': (2, 2), }", "no 'fortran_order'"},
        {"{'descr': '<f8', 'fortran_order': False, }", "no 'shape'"},
        {"{'fortran_order': False, 'shape': (2, 2)}", "no 'descr'"},
        {"{}", "no 'descr'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'x': 1}",
         "unknown key 'x'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", "1-D"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "0-D"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 1)}",
         "3-D"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4)}",
         "shape (1, 4) is not square"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, "
         "4294967296)}", "4294967296 is too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': "
         "(99999999999999999999, 99999999999999999999)}", "too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -2)}",
         "not a dict"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 2)}",
         "not a dict"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 2)}",
         "not a dict"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)",
         "not a dict"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2",
         "not a dict"},
        {"{'descr': '<f8", "not a dict"},
        {"{'descr' '<f8'}", "not a dict"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)} x",
         "not a dict"},
        {"hello", "not a dict"},
        {"", "not a dict"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}",
         "structured dtype"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2, 2)}",
         "dtype ''"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        write_npy("bad.npy", cases[c].header, 32);
        check_file_failure("bad.npy", cases[c].reason);
    }
}
END_TEST

START_TEST(unsupported_npy_dtypes_are_refused_by_name)
{
    static const char *const types[] = {
        "<i8", ">i4", "<c16", "<f2", "<f16", "|b1", "|O", "<u8", "<U3"};
    python("for t in '<i8 >i4 <c16 <f2 <f16 |b1 |O <u8 <U3'.split():\n"
           "    np.save(t.strip('<>|') + '.npy', m(3).astype(t))\n");
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        char name[32], reason[80];
        snprintf(name, sizeof name, "%s.npy", types[t] + 1);
        snprintf(reason, sizeof reason, "dtype '%s' is not supported "
                 "(float64 and float32 are)", types[t]);
        check_file_failure(name, reason);
    }
}
END_TEST

START_TEST(npy_arrays_that_are_no_square_matrix_are_refused)
{
    python("np.save('d0.npy', np.array(1.0))\n"
           "np.save('d1.npy', np.zeros(4))\n"
           "np.save('d3.npy', np.zeros((2, 2, 2)))\n"
           "np.save('oblong.npy', np.zeros((3, 4)))\n"
           "np.save('empty.npy', np.zeros((0, 4)))\n"
           "np.save('record.npy', np.zeros((2, 2), 'f8,f8'))\n");
    check_file_failure("d0.npy", "0-D");
    check_file_failure("d1.npy", "1-D");
    check_file_failure("d3.npy", "3-D");
    check_file_failure("oblong.npy", "shape (3, 4) is not square");
    check_file_failure("empty.npy", "shape (0, 4) is not square");
    check_file_failure("record.npy", "structured dtype");
}
END_TEST

START_TEST(files_that_are_not_npy_or_cut_off_are_refused)
{
    python("import gzip\n"
           "np.save('good.npy', m(3))\n"
           "b = open('good.npy', 'rb').read()\n"
           "def w(name, b): open(name, 'wb').write(b)\n"
           "w('gzip.npy', gzip.compress(b))\n"
           "w('nothing.npy', b'')\n"
           "w('magic5.npy', b[:5])\n"
           "w('magic6.npy', b[:6])\n"
           "w('magic9.npy', b[:9])\n"
           "w('header.npy', b[:60])\n"
           "w('short.npy', b[:-1])\n"
           "w('nodata.npy', b[:128])\n"
           "w('long.npy', b + b'x')\n"
           "w('magic.npy', b'P' + b[1:])\n"
           "w('v4.npy', b[:6] + b'\\4' + b[7:])\n"
           "w('v0.npy', b[:6] + b'\\0' + b[7:])\n"
           "w('v11.npy', b[:7] + b'\\1' + b[8:])\n"
           "w('huge.npy', b[:6] + b'\\2\\0' + b'\\xff' * 4 + b[12:])\n"
           "w('big.npy', b[:6] + b'\\2\\0' + b'\\0\\0\\2\\0' +\n"
           "  b' ' * 200000)\n"
           "w('nul.npy', b[:127] + b'\\0' + b[128:])\n"
           "np.savez('zip.npz', m(3))\n"
           "w('zip.npy', open('zip.npz', 'rb').read())\n");
    check_m("good.npy", 3, false);
    check_file_failure("gzip.npy", "gzip");
    check_file_failure("nothing.npy", "not a .npy file");
    check_file_failure("magic5.npy", "not a .npy file");
    check_file_failure("magic6.npy", "truncated header");
    check_file_failure("magic9.npy", "truncated header");
    check_file_failure("header.npy", "truncated header");
    check_file_failure("short.npy", "truncated: 199 bytes, but the header "
                                    "says 200");
    check_file_failure("nodata.npy", "truncated: 128 bytes");
    check_file_failure("long.npy", "trailing bytes: 201 bytes");
    check_file_failure("magic.npy", "not a .npy file");
    check_file_failure("v4.npy", "version 4.0 is not supported");
    check_file_failure("v0.npy", "version 0.0 is not supported");
    check_file_failure("v11.npy", "version 1.1 is not supported");
    check_file_failure("huge.npy", "truncated header: 4294967295 bytes");
    check_file_failure("big.npy", "131072 bytes is too long");
    check_file_failure("nul.npy", "zero byte");
    check_file_failure("zip.npy", "not a .npy file");
}
END_TEST

START_TEST(a_npy_file_cut_off_while_open_is_noticed)
{
    struct source source;
    struct failure f = {0};
    double a[9];
    python("np.save('shrinks.npy', m(3))\n");
    open_or_abort(&source, path_of("shrinks.npy"), 3);
    expect_eq(truncate(path_of("shrinks.npy"), 150), 0);
    expect_eq(source.fill(&source, 0, 3, 0, 3, a, 3, &f), PEIGH_ERR_IO);
    expect(strstr(f.message, "shrinks.npy: truncated") != NULL);
    source_close(&source);
}
END_TEST

START_TEST(several_npy_sources_of_one_file_do_not_disturb_each_other)
{
    struct source x, y;
    struct failure f = {0};
    double a, b;
    python("np.save('shared.npy', m(9))\n");
    open_or_abort(&x, path_of("shared.npy"), 9);
    open_or_abort(&y, path_of("shared.npy"), 9);
    for (int k = 0; k < 9; k++) {
        x.fill(&x, k, k + 1, 0, 1, &a, 1, &f);
        y.fill(&y, 0, 1, 8 - k, 9 - k, &b, 1, &f);
        expect(!failed(&f) && a == 1000 * k + 0.5 && b == 8 - k + 0.5);
    }
    source_close(&x);
    source_close(&y);
}
END_TEST

/* ---- .mtx ---- */

START_TEST(every_mtx_kind_that_scipy_writes_is_read)
{
    python("w = scipy.io.mmwrite\n"
           "w('cs.mtx', sp.coo_matrix(s(17)), precision=17)\n"
           "w('cg.mtx', sp.coo_matrix(m(17)), precision=17)\n"
           "w('as.mtx', s(17), precision=17)\n"
           "w('ag.mtx', m(17), precision=17)\n"
           "w('ci.mtx', sp.coo_matrix(s(17).astype(int)))\n"
           "w('ai.mtx', s(17).astype(int))\n"
           "w('cf.mtx', sp.coo_matrix(s(17)), symmetry='general')\n"
           "w('af.mtx', s(17), comment='two\\nlines', symmetry='general')\n"
           "w('one.mtx', s(1))\n");
    check_m("cs.mtx", 17, true);
    check_m("cg.mtx", 17, false);
    check_m("as.mtx", 17, true);
    check_m("ag.mtx", 17, false);
    check_m("ci.mtx", 17, true);
    check_m("ai.mtx", 17, true);
    check_m("cf.mtx", 17, true);
    check_m("af.mtx", 17, true);
    check_m("one.mtx", 1, true);
}
END_TEST

START_TEST(users_mtx_files_are_read_as_scipy_reads_them)
{
    static const char *const names[] = {
        "494_bus", "Fann04", "Moler_200", "Parlett_560b",
        "T_494_bus", "bcsstk01", "mesh1e1"};
    char script[512], here[256];
    expect(getcwd(here, sizeof here) != NULL);
    snprintf(script, sizeof script,
             "for x in '494_bus Fann04 Moler_200 Parlett_560b T_494_bus "
             "bcsstk01 mesh1e1'.split():\n"
             "    np.save(x + '.npy', scipy.io.mmread('%s/%s/' + x + "
             "'.mtx').toarray())\n",
             TEST_MATRICES[0] == '/' ? "" : here, TEST_MATRICES);
    python(script);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char mtx[256], npy[64];
        struct source x, y;
        snprintf(mtx, sizeof mtx, "%s/%s.mtx", TEST_MATRICES, names[k]);
        snprintf(npy, sizeof npy, "%s.npy", names[k]);
        open_or_abort(&x, mtx, -1);
        open_or_abort(&y, path_of(npy), x.n);
        expect(!x.random_access);
        double *a = whole(&x), *b = whole(&y);
        for (int64_t i = 0; i < x.n * x.n; i++)
            expect(a[i] == b[i]);
        free(a);
        free(b);
        source_close(&x);
        source_close(&y);
        check_rectangles(mtx, -1);
    }
}
END_TEST

static void check_2x2(const char *text, double a11, double a21, double a12,
                      double a22)
{
    write_text("small.mtx", text);
    double *a = read_all(path_of("small.mtx"), 2);
    if (!(a[0] == a11 && a[1] == a21 && a[2] == a12 && a[3] == a22))
        ck_abort_msg("%s: read as %g %g %g %g", text, a[0], a[1], a[2], a[3]);
    free(a);
}

#define COORDINATE "%%MatrixMarket matrix coordinate real symmetric\n"
#define GENERAL "%%MatrixMarket matrix coordinate real general\n"
#define ARRAY "%%MatrixMarket matrix array real symmetric\n"
#define ARRAY_GENERAL "%%MatrixMarket matrix array real general\n"
#define INTEGER "%%MatrixMarket matrix coordinate integer symmetric\n"

START_TEST(duplicate_coordinate_entries_add_up)
{
    check_2x2(COORDINATE "2 2 5\n1 1 1\n1 1 2\n2 1 4\n2 1 8\n2 2 0.5\n",
              3, 12, 12, 0.5);
    check_2x2(GENERAL "2 2 4\n1 2 1\n2 1 2\n1 2 4\n1 1 3\n", 3, 2, 5, 0);
}
END_TEST

START_TEST(an_upper_entry_of_a_symmetric_file_stands_for_its_mirror)
{
    check_2x2(COORDINATE "2 2 2\n1 1 1\n1 2 5\n", 1, 5, 5, 0);
    check_2x2(COORDINATE "2 2 3\n1 1 1\n1 2 5\n2 1 2\n", 1, 7, 7, 0);
}
END_TEST

START_TEST(mtx_files_may_be_spaced_and_commented_freely)
{
    check_2x2("%%matrixmarket MATRIX Coordinate DOUBLE Symmetric\r\n"
              "%comment\r\n\r\n% another\r\n  2 2\t2 \r\n\r\n1 1 1\r\n"
              "% between\r\n \t2  1\t +5e0 \r\n\r\n\r\n",
              1, 5, 5, 0);
    check_2x2(ARRAY "%\n\n2 2\n1\n\n2\n%\n3", 1, 2, 2, 3);
    check_2x2(ARRAY "2 2\n1 2 3\n", 1, 2, 2, 3);
    check_2x2(ARRAY_GENERAL "2 2\n1 2\n3 4\n", 1, 2, 3, 4);
    check_2x2(COORDINATE "2 2 0\n", 0, 0, 0, 0);
    check_2x2(INTEGER "2 2 2\n1 1 -3\n+2 2 +4\n", -3, 0, 0, 4);
    check_2x2(COORDINATE "2 2 2\n1 1 .5\n2 2 1.E+2\n", .5, 0, 0, 100);
    check_2x2(COORDINATE "2 2 1\n1 1 1e-400\n", 0, 0, 0, 0);
    check_2x2(COORDINATE "2 2 1\n1 1 -Inf\n", -INFINITY, 0, 0, 0);
    check_2x2(ARRAY "2 2\ninfinity\n-inf\nINF\n", INFINITY, -INFINITY,
              -INFINITY, INFINITY);
}
END_TEST

START_TEST(mtx_passes_nan_on)
{
    write_text("nan.mtx", COORDINATE "2 2 2\n1 1 nan\n2 1 -NaN\n");
    double *a = read_all(path_of("nan.mtx"), 2);
    expect(isnan(a[0]) && isnan(a[1]) && isnan(a[2]) && a[3] == 0);
    free(a);
}
END_TEST

START_TEST(mtx_order_0_is_read)
{
    write_text("zero.mtx", COORDINATE "0 0 0\n");
    free(read_all(path_of("zero.mtx"), 0));
    write_text("zero.mtx", ARRAY_GENERAL "0 0\n");
    free(read_all(path_of("zero.mtx"), 0));
}
END_TEST

START_TEST(mtx_lines_across_the_reading_buffer_are_read)
{
    python("w = scipy.io.mmwrite\n"
           "w('wide.mtx', sp.coo_matrix(s(200)), precision=17)\n"
           "l = open('wide.mtx').read().split('\\n')\n"
           "l[1:1] = ['%' + 'x' * k for k in (65533, 1, 65534, 40000)]\n"
           "open('wide.mtx', 'w').write('\\n'.join(l))\n"
           "l[1] = '%' + 'x' * 65536\n"
           "open('toowide.mtx', 'w').write('\\n'.join(l))\n"
           "l[1] = '%'\n"
           "l[-2] += ' ' * 70000\n"
           "open('toowide2.mtx', 'w').write('\\n'.join(l))\n"
           "open('binary.mtx', 'wb').write(b'\\0' * 200000)\n");
    check_m("wide.mtx", 200, true);
    check_file_failure("toowide.mtx", "line 2: longer than 65536 bytes");
    check_file_failure("toowide2.mtx", "longer than 65536 bytes");
    check_file_failure("binary.mtx", "line 1: longer than");
}
END_TEST

START_TEST(bad_mtx_headers_are_refused)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "not a Matrix Market file"},
        {"1 1 1\n", "not a Matrix Market file"},
        {"\n" COORDINATE "1 1 1\n1 1 1\n", "not a Matrix Market file"},
        {"%%MatrixMarket\n", "line 1: object ''"},
        {"%%MatrixMarket vector array real general\n",
         "line 1: object 'vector' is not supported"},
        {"%%MatrixMarket matrix dense real general\n", "format 'dense'"},
        {"%%MatrixMarket matrix array complex general\n",
         "field 'complex' is not supported"},
        {"%%MatrixMarket matrix coordinate pattern symmetric\n",
         "field 'pattern' is not supported"},
        {"%%MatrixMarket matrix array real hermitian\n",
         "symmetry 'hermitian' is not supported"},
        {"%%MatrixMarket matrix array real Skew-Symmetric\n",
         "symmetry 'Skew-Symmetric' is not supported"},
        {"%%MatrixMarket matrix array real\n2 2\n", "symmetry ''"},
        {"%%MatrixMarket matrix array real general x\n2 2\n",
         "line 1: unexpected 'x'"},
        {COORDINATE, "line 1: truncated: no size line"},
        {COORDINATE "%\n\n", "line 3: truncated: no size line"},
        {COORDINATE "2 2\n", "line 2: truncated: no number of entries"},
        {COORDINATE "2\n", "line 2: truncated: no number of columns"},
        {COORDINATE "2 2 x\n", "line 2: 'x' is not an integer"},
        {COORDINATE "2.0 2 1\n", "line 2: '2.0' is not an integer"},
        {COORDINATE "2 2 1 1\n", "line 2: unexpected '1'"},
        {COORDINATE "2 2 -1\n", "line 2: -1 entries"},
        {COORDINATE "3 2 1\n", "line 2: 3 x 2 is not a square"},
        {COORDINATE "-2 -2 1\n", "line 2: -2 x -2"},
        {COORDINATE "9999999999 9999999999 1\n", "9999999999 x 9999999999"},
        {COORDINATE "99999999999999999999 2 1\n", "63 bits"},
        {ARRAY "2 2 3\n", "line 2: unexpected '3'"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        write_text("bad.mtx", cases[c].text);
        struct source source;
        struct failure f = {0};
        expect(source_open(&source, path_of("bad.mtx"), -1, 1, &f) != 0);
        check_file_failure("bad.mtx", cases[c].reason);
    }
}
END_TEST

START_TEST(bad_mtx_entries_are_refused_with_their_line)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {COORDINATE "2 2 2\n1 1 1\n3 1 1\n",
         "line 4: row 3 is out of range 1 .. 2"},
        {COORDINATE "2 2 2\n1 1 1\n1 0 1\n", "line 4: column 0 is out of"},
        {COORDINATE "2 2 2\n1 1 1\n-1 1 1\n", "line 4: row -1 is out of"},
        {COORDINATE "2 2 2\n1 1 1\n", "line 3: truncated: the file ends "
                                      "after 1 of 2 entries"},
        {COORDINATE "2 2 2\n", "truncated: the file ends after 0 of 2"},
        {COORDINATE "2 2 1\n1 1 1\n2 1 1\n",
         "line 4: too many entries: '2' follows the last of 1"},
        {COORDINATE "2 2 1\n1 1 1\ngarbage\n",
         "line 4: too many entries: 'garbage'"},
        {COORDINATE "2 2 1\n1 1 1 garbage\n", "line 3: unexpected 'garbage'"},
        {COORDINATE "2 2 1\n1 1\n", "line 3: truncated: no value"},
        {COORDINATE "2 2 1\n1\n", "line 3: truncated: no column"},
        {COORDINATE "2 2 1\n1 x 1\n", "line 3: 'x' is not an integer"},
        {COORDINATE "2 2 1\n1 1 x\n", "line 3: 'x' is not a number"},
        {COORDINATE "2 2 1\n1 1 1.5D0\n", "line 3: '1.5D0' is not a number"},
        {COORDINATE "2 2 1\n1 1 0x10\n", "line 3: '0x10' is not a number"},
        {COORDINATE "2 2 1\n1 1 nan(1)\n", "'nan(1)' is not a number"},
        {COORDINATE "2 2 1\n1 1 1,5\n", "line 3: '1,5' is not a number"},
        {COORDINATE "2 2 1\n1 1 1e400\n",
         "line 3: '1e400' is too large for a double"},
        {COORDINATE "2 2 1\n1 1 -1e400\n", "'-1e400' is too large"},
        {INTEGER "2 2 1\n1 1 1.5\n", "line 3: '1.5' is not an integer"},
        {INTEGER "2 2 1\n1 1 nan\n", "line 3: 'nan' is not an integer"},
        {COORDINATE "0 0 1\n1 1 1\n", "line 3: row 1 is out of range"},
        {ARRAY "2 2\n1\n2\n", "line 4: truncated: the file ends after 2 of "
                              "3 entries"},
        {ARRAY "2 2\n1\n2\n3\n4\n", "line 6: too many entries: '4' follows "
                                    "the last of 3"},
        {ARRAY "2 2\n1\n2\n3 x\n", "line 5: too many entries: 'x'"},
        {ARRAY "2 2\n1\ntwo\n3\n", "line 4: 'two' is not a number"},
        {ARRAY_GENERAL "2 2\n1\n2\n3\n", "after 3 of 4 entries"},
        {ARRAY "2 2\n1\n1e999\n3\n", "line 4: '1e999' is too large"},
        {ARRAY "0 0\n1\n", "line 3: too many entries"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        write_text("bad.mtx", cases[c].text);
        check_file_failure("bad.mtx", cases[c].reason);
    }
}
END_TEST

START_TEST(an_mtx_entry_outside_the_rectangle_is_checked_all_the_same)
{
    struct source source;
    struct failure f = {0};
    double a;
    write_text("late.mtx", ARRAY "2 2\n1\n2\nx\n");
    open_or_abort(&source, path_of("late.mtx"), 2);
    expect_eq(source.fill(&source, 0, 1, 0, 1, &a, 1, &f), PEIGH_ERR_IO);
    expect(strstr(f.message, "late.mtx: line 5: 'x'") != NULL);
    source_close(&source);
}
END_TEST

START_TEST(compressed_or_zero_bytes_in_mtx_are_refused)
{
    python("import gzip\n"
           "scipy.io.mmwrite('g.mtx', sp.coo_matrix(s(9)))\n"
           "b = gzip.compress(open('g.mtx', 'rb').read())\n"
           "open('gzip.mtx', 'wb').write(b)\n");
    check_file_failure("gzip.mtx", "gzip");
    static const char zero[] = ARRAY "2 2\n1\n2\0\n3\n";
    write_bytes("nul.mtx", zero, sizeof zero - 1);
    check_file_failure("nul.mtx", "line 4: '2");
}
END_TEST

START_TEST(an_mtx_file_replaced_while_open_is_noticed)
{
    struct source source;
    struct failure f = {0};
    double a[9];
    write_text("changes.mtx", ARRAY "2 2\n1\n2\n3\n");
    open_or_abort(&source, path_of("changes.mtx"), 2);
    write_text("changes.mtx", ARRAY "3 3\n1\n2\n3\n4\n5\n6\n");
    expect_eq(source.fill(&source, 0, 2, 0, 2, a, 2, &f), PEIGH_ERR_IO);
    expect(strstr(f.message, "changes.mtx: changed") != NULL);
    source_close(&source);
}
END_TEST

/* ---- The suite ---- */

static TCase *gallery_case(void)
{
    TCase *t = tcase_create("gallery");
    tcase_set_timeout(t, 0); /* CTest holds the clock */
    tcase_add_test(t, rectangles_of_every_gallery_matrix_agree_with_the_whole);
    tcase_add_test(
        t, every_gallery_matrix_is_symmetric_bit_for_bit_and_finite);
    tcase_add_test(t, closed_form_eigenvalues_agree_with_lapack_and_the_trace);
    tcase_add_test(t, matrices_without_a_closed_form_say_so);
    tcase_add_test(t, small_eigenvalues_are_accurate_relative_to_themselves);
    tcase_add_test(t, equal_eigenvalues_are_the_same_bits);
    tcase_add_test(t, an_entry_depends_on_its_indices_and_the_seed);
    tcase_add_test(t, gaussian_entries_have_the_variances_of_the_ensemble);
    tcase_add_test(
        t, a_permuted_graded_matrix_has_the_same_grades_in_another_order);
    tcase_add_test(t, the_order_is_the_specs_or_the_arguments_or_the_default);
    tcase_add_test(t, a_prime_grid_is_one_row_and_a_square_one_is_square);
    tcase_add_test(t, the_help_lists_every_entry_with_its_keys);
    tcase_add_test(t, bad_gallery_specs_are_refused_with_what_there_is);
    return t;
}

static TCase *files_case(void)
{
    TCase *t = tcase_create("files");
    tcase_set_timeout(t, 0);
    tcase_add_test(t, a_name_that_is_neither_file_nor_gallery_is_refused);
    tcase_add_test(t, a_file_of_another_order_than_asked_for_is_refused);
    tcase_add_test(
        t, a_missing_file_and_a_folder_are_refused_with_the_systems_reason);
    tcase_add_test(t, the_reason_survives_a_path_longer_than_a_message);
    return t;
}

static TCase *npy_case(void)
{
    TCase *t = tcase_create("npy");
    tcase_set_timeout(t, 0);
    tcase_add_test(t, every_npy_variant_that_numpy_writes_is_read);
    tcase_add_test(t, npy_orders_0_and_1_and_long_lines_are_read);
    tcase_add_test(t, npy_passes_nan_infinity_and_denormals_on);
    tcase_add_test(t, reference_matrices_are_symmetric_and_agree_with_numpy);
    tcase_add_test(t, npy_headers_are_python_dicts_in_any_style);
    tcase_add_test(t, bad_npy_headers_are_refused);
    tcase_add_test(t, unsupported_npy_dtypes_are_refused_by_name);
    tcase_add_test(t, npy_arrays_that_are_no_square_matrix_are_refused);
    tcase_add_test(t, files_that_are_not_npy_or_cut_off_are_refused);
    tcase_add_test(t, a_npy_file_cut_off_while_open_is_noticed);
    tcase_add_test(
        t, several_npy_sources_of_one_file_do_not_disturb_each_other);
    return t;
}

static TCase *mtx_case(void)
{
    TCase *t = tcase_create("mtx");
    tcase_set_timeout(t, 0);
    tcase_add_test(t, every_mtx_kind_that_scipy_writes_is_read);
    tcase_add_test(t, users_mtx_files_are_read_as_scipy_reads_them);
    tcase_add_test(t, duplicate_coordinate_entries_add_up);
    tcase_add_test(t, an_upper_entry_of_a_symmetric_file_stands_for_its_mirror);
    tcase_add_test(t, mtx_files_may_be_spaced_and_commented_freely);
    tcase_add_test(t, mtx_passes_nan_on);
    tcase_add_test(t, mtx_order_0_is_read);
    tcase_add_test(t, mtx_lines_across_the_reading_buffer_are_read);
    tcase_add_test(t, bad_mtx_headers_are_refused);
    tcase_add_test(t, bad_mtx_entries_are_refused_with_their_line);
    tcase_add_test(
        t, an_mtx_entry_outside_the_rectangle_is_checked_all_the_same);
    tcase_add_test(t, compressed_or_zero_bytes_in_mtx_are_refused);
    tcase_add_test(t, an_mtx_file_replaced_while_open_is_noticed);
    return t;
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (system(command) != 0)
        perror(folder);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv); /* binary files are read by MPI-IO */
    snprintf(folder, sizeof folder, "/tmp/peigh-source-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    Suite *suite = suite_create("source");
    suite_add_tcase(suite, gallery_case());
    suite_add_tcase(suite, files_case());
    suite_add_tcase(suite, npy_case());
    suite_add_tcase(suite, mtx_case());
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    remove_folder();
    MPI_Finalize();
    return failures != 0;
}
