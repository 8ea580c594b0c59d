/* The checks are checked: verify_result, compare_pdsyev and the result files,
 * on matrices whose eigenpairs are known.  Any number of ranks.
 *
 * The matrix is  A = H diag(d) H,  H = I - (2/n) 1 1^T,  in closed form
 *
 *     a_ij = scale (d_i [i = j] - (2/n)(d_i + d_j) + (4/n) mean(d)),
 *
 * with d_i = -1 + 2 i/n, ascending, so that eigenvector j is column j of H.
 * (n = 2 is fine: H is a reflection for every n >= 1.)
 *
 *     mpirun -n P mpi_verify [folder for the result files] */
#include "output.h"
#include "stream.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which entries the source gives as they should be. */
enum trust { ALL, LOWER, UPPER, SKEW };

/* SKEW: a_ij + s, a_ji - s for i > j. */
static const double skewness = 0.25;

struct state {
    double scale;
    enum trust trust;
    int64_t broken_column; /* fill fails if it is asked for it; -1: never */
    double *d;             /* NULL: the formula above */
};

struct run {
    struct ring ring;
    int64_t n;
    peigh_layout layout;
    struct state state;
    struct source source;
    struct matrix matrix;
    double *z, *values;
    int bad; /* checks that failed on this rank */
};

#define CHECK(run, condition, ...)                                          \
    do {                                                                    \
        if (!(condition)) {                                                 \
            (run)->bad++;                                                   \
            fprintf(stderr, "rank %d of %d, n = %lld: line %d: %s: ",       \
                    (run)->ring.rank, (run)->ring.ranks,                    \
                    (long long)(run)->n, __LINE__, #condition);             \
            fprintf(stderr, __VA_ARGS__);                                   \
            fprintf(stderr, "\n");                                          \
        }                                                                   \
    } while (0)

static double diagonal(int64_t n, int64_t i)
{
    return -1 + 2 * (double)i / (double)n;
}

static double householder(int64_t n, int64_t i, int64_t j)
{
    return (i == j) - 2 / (double)n;
}

static double entry(const struct source *source, int64_t i, int64_t j)
{
    const struct state *state = source->state;
    int64_t n = source->n;
    if ((state->trust == LOWER && i < j) || (state->trust == UPPER && i > j))
        return NAN;
    double mean = -1 / (double)n;
    double sum = diagonal(n, i) + diagonal(n, j);
    double a = (i == j ? diagonal(n, i) : 0)
             - (2 * sum - 4 * mean) / (double)n;
    if (state->trust == SKEW && i != j)
        a += i > j ? skewness : -skewness;
    return a * state->scale;
}

static peigh_status fill(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f)
{
    const struct state *state = source->state;
    if (j0 <= state->broken_column && state->broken_column < j1)
        return fail(f, PEIGH_ERR_IO, "column is broken");
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = i0; i < i1; i++)
            a[(i - i0) + (j - j0) * lda] = entry(source, i, j);
    return PEIGH_OK;
}

static void known_values(const struct source *source, double *w)
{
    const struct state *state = source->state;
    for (int64_t j = 0; j < source->n; j++)
        w[j] = state->scale * diagonal(source->n, j);
}

static void *must(void *memory)
{
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

/* A matrix of order n and its eigenpairs on the layout with block width 2:
 * uneven, and with empty ranks when n is small. */
static void set_up(struct run *run, int64_t n)
{
    peigh_options options = peigh_options_default();
    options.block = 2;
    run->n = n;
    peigh_status status = peigh_layout_for(n, run->ring.rank, run->ring.ranks,
                                           &options, &run->layout);
    CHECK(run, status == PEIGH_OK, "layout");
    run->state = (struct state){ .scale = 1, .broken_column = -1 };
    run->source = (struct source){ .n = n, .random_access = true,
                                   .name = "test", .state = &run->state,
                                   .fill = fill,
                                   .eigenvalues = known_values };
    run->matrix = (struct matrix){ .source = &run->source };
    const peigh_layout *layout = &run->layout;
    run->z = must(malloc(peigh_array_bytes(layout)));
    run->values = must(malloc(peigh_values_bytes(layout)));
    for (int64_t j = 0; j < layout->count; j++) {
        run->values[j] = diagonal(n, layout->first + j);
        for (int64_t i = 0; i < n; i++)
            run->z[i + j * layout->lda] = householder(n, i, layout->first + j);
    }
}

static void tear_down(struct run *run)
{
    free(run->z);
    free(run->values);
}

static void scale_by(struct run *run, double scale)
{
    run->state.scale = scale;
    for (int64_t j = 0; j < run->layout.count; j++)
        run->values[j] = diagonal(run->n, run->layout.first + j) * scale;
}

static struct verification verify(struct run *run, peigh_status expected)
{
    struct verification v;
    struct failure f = { 0 };
    verify_result(&run->ring, &run->layout, &run->matrix, run->z, run->values,
                  &v, &f);
    CHECK(run, f.status == expected, "status %d: %s", (int)f.status,
          f.message);
    return v;
}

static void check_good(struct run *run, int line)
{
    struct verification v = verify(run, PEIGH_OK);
    CHECK(run, v.residual <= 1, "%g from line %d", v.residual, line);
    CHECK(run, v.orthogonality <= 2, "%g from line %d", v.orthogonality, line);
    CHECK(run, v.known_error <= 1, "%g from line %d", v.known_error, line);
    CHECK(run, v.ascending, "from line %d", line);
    CHECK(run, v.seconds >= 0, "%g", v.seconds);
    int64_t plan = verify_bytes(&run->layout, run->source.random_access,
                                matrix_is_mirrored(&run->matrix));
    int64_t known = (int64_t)sizeof(double) * run->layout.n;
    CHECK(run, v.bytes == plan || v.bytes == plan - known,
          "%lld, plan %lld", (long long)v.bytes, (long long)plan);
}

static bool owns(const struct run *run, int64_t j)
{
    return run->layout.first <= j
        && j < run->layout.first + run->layout.count;
}

static double *vector(struct run *run, int64_t j)
{
    return run->z + (j - run->layout.first) * run->layout.lda;
}

static double *value(struct run *run, int64_t j)
{
    return run->values + (j - run->layout.first);
}

static void right_pairs_give_small_measures(struct run *run)
{
    check_good(run, __LINE__);
    run->source.random_access = false;
    check_good(run, __LINE__);
    run->source.random_access = true;
    run->source.eigenvalues = NULL;
    struct verification v = verify(run, PEIGH_OK);
    CHECK(run, isnan(v.known_error), "%g", v.known_error);
}

static void other_triangle_is_never_used(struct run *run)
{
    for (int text = 0; text < 2; text++) {
        run->source.random_access = !text;
        run->state.trust = LOWER;
        run->matrix.uplo = PEIGH_LOWER;
        check_good(run, __LINE__);
        run->state.trust = UPPER;
        run->matrix.uplo = PEIGH_UPPER;
        check_good(run, __LINE__);
        run->state.trust = SKEW;
        run->matrix.uplo = PEIGH_FULL;
        run->matrix.symmetrize = true;
        check_good(run, __LINE__);
        run->matrix.symmetrize = false;
    }
    if (run->n > 1) {
        struct verification v = verify(run, PEIGH_OK);
        CHECK(run, !(v.residual <= 1), "skew matrix passed: %g", v.residual);
    }
}

static void rectangles_agree_with_their_entries(struct run *run)
{
    int64_t n = run->n, i0 = n / 7, i1 = n, j0 = n / 5, j1 = n - n / 9;
    double *a = must(malloc((size_t)(n * n + 1) * sizeof *a));
    struct source truth = run->source;
    struct state exact = run->state;
    truth.state = &exact;
    for (int trust = ALL; trust <= UPPER; trust++) {
        struct failure f = { 0 };
        run->state.trust = (enum trust)trust;
        run->matrix.uplo = trust == LOWER ? PEIGH_LOWER
                         : trust == UPPER ? PEIGH_UPPER : PEIGH_FULL;
        matrix_fill(&run->matrix, i0, i1, j0, j1, a, n, &f);
        int64_t wrong = failed(&f);
        for (int64_t j = j0; j < j1; j++)
            for (int64_t i = i0; i < i1; i++)
                wrong += a[(i - i0) + (j - j0) * n] != entry(&truth, i, j);
        CHECK(run, wrong == 0, "%lld entries, trust %d", (long long)wrong,
              trust);
    }
    free(a);
}

static void measures_do_not_depend_on_scale(struct run *run)
{
    /* At 1e+308 the sum of two entries would overflow. */
    static const double scales[] = { 1e-280, 1e-150, 1e+150, 1e+280, 1e+308 };
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        scale_by(run, scales[k]);
        check_good(run, __LINE__);
    }
    scale_by(run, 1e-300);
    if (run->n == 0)
        return;
    if (owns(run, 0))
        *value(run, 0) *= 1.001;
    struct verification v = verify(run, PEIGH_OK);
    double size = 0.001 / ((double)run->n * DBL_EPSILON);
    CHECK(run, v.residual > 0.9 * size && v.residual < 1.1 * size,
          "%g, expected %g", v.residual, size);
    CHECK(run, v.known_error > 0.9 * size && v.known_error < 1.1 * size,
          "%g, expected %g", v.known_error, size);
}

static void zero_matrix_is_right_and_zero_values_are_wrong(struct run *run)
{
    scale_by(run, 0);
    check_good(run, __LINE__);
    run->state.scale = 1e-300;
    struct verification v = verify(run, PEIGH_OK);
    CHECK(run, !(v.residual <= 1), "%g", v.residual);
}

/* Z + delta e_i e_j^T: the residual of column j is delta (A e_i - lambda_j
 * e_i), and Z^T Z - I has row i of Z times delta in row and column j. */
static void perturbed_entry_has_the_expected_size(struct run *run)
{
    const double delta = 1e-5;
    int64_t n = run->n, j = n / 2, i = n / 3;
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double r = entry(&run->source, k, i) - (k == i) * diagonal(n, j);
        sum += r * r;
    }
    double z = householder(n, i, j);
    double unit = (double)n * DBL_EPSILON;
    double norm = fmax(fabs(diagonal(n, 0)), fabs(diagonal(n, n - 1)));
    double residual = delta * sqrt(sum) / (unit * norm);
    double orthogonality = delta * sqrt(2 + 2 * z * z) / unit;

    if (owns(run, j))
        vector(run, j)[i] += delta;
    struct verification v = verify(run, PEIGH_OK);
    CHECK(run, fabs(v.residual - residual) <= 0.01 * residual,
          "%g, expected %g", v.residual, residual);
    CHECK(run, fabs(v.orthogonality - orthogonality) <= 0.01 * orthogonality,
          "%g, expected %g", v.orthogonality, orthogonality);
}

/* For every j: also the pairs that sit on two ranks. */
static void swapped_values_are_not_ascending(struct run *run)
{
    int64_t n = run->n;
    for (int64_t j = 0; j + 1 < n; j++) {
        for (int64_t k = j; k < j + 2; k++)
            if (owns(run, k))
                *value(run, k) = diagonal(n, k == j ? j + 1 : j);
        struct verification v = verify(run, PEIGH_OK);
        CHECK(run, !v.ascending, "values %lld and next", (long long)j);
        for (int64_t k = j; k < j + 2; k++)
            if (owns(run, k))
                *value(run, k) = diagonal(n, k);
    }
}

static void nan_is_not_swallowed(struct run *run)
{
    int64_t n = run->n;
    for (int64_t j = 0; j < n; j += 1 + n / 4) {
        if (owns(run, j))
            vector(run, j)[n - 1] = NAN;
        struct verification v = verify(run, PEIGH_OK);
        CHECK(run, !isfinite(v.residual), "%g", v.residual);
        CHECK(run, !isfinite(v.orthogonality), "%g", v.orthogonality);
        if (owns(run, j)) {
            vector(run, j)[n - 1] = householder(n, n - 1, j);
            *value(run, j) = NAN;
        }
        v = verify(run, PEIGH_OK);
        CHECK(run, !isfinite(v.residual), "%g", v.residual);
        CHECK(run, !isfinite(v.known_error), "%g", v.known_error);
        CHECK(run, v.orthogonality <= 2, "%g", v.orthogonality);
        CHECK(run, !v.ascending, "NaN is not in order");
        if (owns(run, j))
            *value(run, j) = diagonal(n, j);
    }
    if (n < 2)
        return;
    run->state.trust = LOWER; /* but read as a full matrix */
    struct verification v = verify(run, PEIGH_OK);
    CHECK(run, !isfinite(v.residual), "%g", v.residual);
    struct comparison c;
    struct failure f = { 0 };
    run->matrix.uplo = PEIGH_UPPER;
    compare_peer(&run->ring, &run->layout, &run->matrix, run->values, PDSYEV,
                 NULL, &c, &f);
    CHECK(run, f.status == PEIGH_ERR_NOT_FINITE, "%d", (int)f.status);
}

/* One rank cannot read: all ranks return its failure, nobody hangs. */
static void failing_source_fails_everywhere(struct run *run)
{
    for (int text = 0; text < 2; text++) {
        run->source.random_access = !text;
        for (int64_t j = 0; j < run->n; j += 1 + run->n / 3) {
            struct comparison c;
            struct failure f = { 0 };
            run->state.broken_column = j;
            verify(run, PEIGH_ERR_IO);
            compare_peer(&run->ring, &run->layout, &run->matrix, run->values,
                     PDSYEV, NULL, &c, &f);
            CHECK(run, f.status == PEIGH_ERR_IO, "%d", (int)f.status);
        }
    }
}

static void pdsyev_agrees(struct run *run)
{
    static const double scales[] = { 1, 1e-280, 1e+280 };
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        struct comparison c;
        struct failure f = { 0 };
        scale_by(run, scales[k]);
        run->state.trust = k ? UPPER : LOWER;
        run->matrix.uplo = k ? PEIGH_UPPER : PEIGH_LOWER;
        compare_peer(&run->ring, &run->layout, &run->matrix, run->values,
                     PDSYEV, NULL, &c, &f);
        CHECK(run, !failed(&f), "%s", f.message);
        double tolerance = (double)run->n * DBL_EPSILON * scales[k];
        CHECK(run, c.max_eigenvalue_difference <= tolerance,
              "%g at scale %g", c.max_eigenvalue_difference, scales[k]);
        CHECK(run, c.seconds >= 0, "%g", c.seconds);
        CHECK(run, c.rows <= c.columns
                   && c.rows * c.columns <= run->ring.ranks, "grid %d x %d",
              c.rows, c.columns);
        CHECK(run, c.bytes * c.rows * c.columns >= 16 * run->n * run->n,
              "%lld bytes", (long long)c.bytes);
    }
    if (run->n > 0) {
        struct comparison c;
        struct failure f = { 0 };
        scale_by(run, 1);
        if (owns(run, run->n - 1))
            *value(run, run->n - 1) = NAN;
        compare_peer(&run->ring, &run->layout, &run->matrix, run->values,
                     PDSYEV, NULL, &c, &f);
        CHECK(run, isnan(c.max_eigenvalue_difference), "%g",
              c.max_eigenvalue_difference);
    }
}

/* --- result files ------------------------------------------------------ */

enum { PATH_ROOM = 600 };

struct names {
    char folder[PATH_ROOM - 100];
    char values[PATH_ROOM], text[PATH_ROOM], vectors[PATH_ROOM];
    char expected[PATH_ROOM];
};

/* Numbers with all kinds of bits, known on every rank. */
static double odd_number(int64_t k)
{
    static const double special[] = { -0.0, 5e-324, 1e300, INFINITY, 0.1 };
    return k % 7 < 5 ? special[k % 7] * (k % 3 ? 1 : -1)
                     : sin((double)k) / 3;
}

static void fill_odd(struct run *run)
{
    const peigh_layout *layout = &run->layout;
    for (int64_t j = 0; j < layout->count; j++) {
        run->values[j] = odd_number(layout->first + j);
        for (int64_t i = 0; i < run->n; i++)
            run->z[i + j * layout->lda] =
                odd_number(i + (layout->first + j) * run->n);
    }
}

/* Rank 0: count odd numbers, raw, into a file for NumPy to compare. */
static void write_expected(struct run *run, const char *path, int64_t count)
{
    FILE *file = fopen(path, "wb");
    CHECK(run, file != NULL, "%s", path);
    for (int64_t k = 0; file && k < count; k++) {
        double x = odd_number(k);
        fwrite(&x, sizeof x, 1, file);
    }
    if (file)
        fclose(file);
}

/* The first Python here that has NumPy, or NULL. */
static const char *find_python(void)
{
    static const char *const names[] = { "python3", "/usr/bin/python3" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char command[PATH_ROOM];
        snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null",
                 names[k]);
        if (system(command) == 0)
            return names[k];
    }
    return NULL;
}

static int run_python(const char *script, const char *path,
                      const char *expected, int64_t n, int dimensions)
{
    char command[4 * PATH_ROOM];
    snprintf(command, sizeof command, "%s -c \"%s\" '%s' '%s' %lld %d",
             find_python(), script, path, expected, (long long)n, dimensions);
    return system(command);
}

static const char read_npy[] =
    "import sys, numpy as np\n"
    "path, raw, n, d = sys.argv[1:]\n"
    "a = np.load(path)\n"
    "assert a.dtype == np.float64 and a.shape == (int(n),) * int(d), a.shape\n"
    "assert a.flags.f_contiguous\n"
    "assert a.tobytes(order='F') == open(raw, 'rb').read()\n";

static const char read_text[] =
    "import sys, numpy as np\n"
    "path, raw, n, d = sys.argv[1:]\n"
    "a = np.array([float(x) for x in open(path)])\n"
    "assert a.shape == (int(n),), a.shape\n"
    "assert a.tobytes() == open(raw, 'rb').read()\n";

/* Without NumPy on the machine: the numbers at the end of the file. */
static void check_raw(struct run *run, const char *path, int64_t count)
{
    FILE *file = fopen(path, "rb");
    CHECK(run, file != NULL, "%s", path);
    if (!file)
        return;
    char magic[6];
    int64_t wrong = fread(magic, 1, 6, file) != 6
                 || memcmp(magic, "\x93NUMPY", 6) != 0;
    wrong += fseek(file, -8 * (long)count, SEEK_END) != 0;
    wrong += ftell(file) % 64 != 0;
    for (int64_t k = 0; k < count; k++) {
        double x, y = odd_number(k);
        wrong += fread(&x, sizeof x, 1, file) != 1
              || memcmp(&x, &y, sizeof x) != 0;
    }
    CHECK(run, wrong == 0, "%s: %lld", path, (long long)wrong);
    fclose(file);
}

static void read_back(struct run *run, const struct names *names)
{
    int64_t n = run->n;
    check_raw(run, names->values, n);
    check_raw(run, names->vectors, n * n);
    if (!find_python()) {
        fprintf(stderr, "no NumPy here: files not read with it\n");
        return;
    }
    write_expected(run, names->expected, n);
    int code = run_python(read_npy, names->values, names->expected, n, 1);
    CHECK(run, code == 0, "%s", names->values);
    code = run_python(read_text, names->text, names->expected, n, 1);
    CHECK(run, code == 0, "%s", names->text);
    write_expected(run, names->expected, n * n);
    code = run_python(read_npy, names->vectors, names->expected, n, 2);
    CHECK(run, code == 0, "%s", names->vectors);
    remove(names->expected);
}

static peigh_status try_values(struct run *run, const char *path)
{
    struct failure f = { 0 };
    struct result result = { &run->ring, &run->layout, run->values, run->z,
                             0, run->n };
    write_pairs(&result, path, NULL, &f);
    CHECK(run, !failed(&f) || strstr(f.message, path), "%s", f.message);
    return f.status;
}

static peigh_status try_vectors(struct run *run, const char *path)
{
    struct failure f = { 0 };
    struct result result = { &run->ring, &run->layout, run->values, run->z,
                             0, run->n };
    write_pairs(&result, NULL, path, &f);
    CHECK(run, !failed(&f) || strstr(f.message, path), "%s", f.message);
    return f.status;
}

static void files_read_back_bit_for_bit(struct run *run,
                                        const struct names *names)
{
    fill_odd(run);
    peigh_status status = try_values(run, names->values);
    CHECK(run, status == PEIGH_OK, "%d", (int)status);
    status = try_values(run, names->text);
    CHECK(run, status == PEIGH_OK, "%d", (int)status);
    status = try_vectors(run, names->vectors);
    CHECK(run, status == PEIGH_OK, "%d", (int)status);
    if (run->ring.rank == 0)
        read_back(run, names);
}

/* A disk with room for half of the eigenvectors, in effect. */
static void full_disk_keeps_the_old_file(struct run *run,
                                         const struct names *names)
{
    if (run->n * run->n * 8 < 512)
        return;
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = (rlim_t)(128 + run->n * run->n * 4);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    peigh_status status = try_vectors(run, names->vectors);
    CHECK(run, status == PEIGH_ERR_IO, "%d", (int)status);
    small.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &small);
    status = try_values(run, names->values);
    CHECK(run, status == PEIGH_ERR_IO, "%d", (int)status);
    setrlimit(RLIMIT_FSIZE, &old);
    if (run->ring.rank == 0)
        read_back(run, names);
}

static void unwritable_names_are_refused(struct run *run,
                                         const struct names *names)
{
    char path[2 * PATH_ROOM];
    const char *const bad[] = { "missing/a.npy", "folder.npy" };
    snprintf(path, sizeof path, "%s/folder.npy", names->folder);
    if (run->ring.rank == 0)
        mkdir(path, 0777);
    MPI_Barrier(run->ring.comm);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        snprintf(path, sizeof path, "%s/%s", names->folder, bad[k]);
        peigh_status status = try_values(run, path);
        CHECK(run, status == PEIGH_ERR_IO, "%s: %d", path, (int)status);
        status = try_vectors(run, path);
        CHECK(run, status == PEIGH_ERR_IO, "%s: %d", path, (int)status);
    }
    MPI_Barrier(run->ring.comm);
    if (run->ring.rank == 0)
        rmdir(path);
    peigh_status status = try_values(run, "a.csv");
    CHECK(run, status == PEIGH_ERR_ARGUMENT, "%d", (int)status);
    status = try_vectors(run, "a.txt");
    CHECK(run, status == PEIGH_ERR_ARGUMENT, "%d", (int)status);
    CHECK(run, output_values_name_ok("x.txt") && output_values_name_ok("x.npy")
               && !output_values_name_ok("npy"), "names");
    CHECK(run, output_vectors_name_ok("x.npy")
               && !output_vectors_name_ok("x.txt"), "names");
}

/* The folder is empty again: rmdir() would refuse otherwise. */
static void test_files(struct run *run, const char *parent)
{
    struct names names;
    snprintf(names.folder, sizeof names.folder, "%s/mpi_verify.XXXXXX",
             parent);
    if (run->ring.rank == 0 && !mkdtemp(names.folder))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(names.folder, sizeof names.folder, MPI_CHAR, 0, run->ring.comm);
    snprintf(names.values, PATH_ROOM, "%s/w.npy", names.folder);
    snprintf(names.text, PATH_ROOM, "%s/w.txt", names.folder);
    snprintf(names.vectors, PATH_ROOM, "%s/z.npy", names.folder);
    snprintf(names.expected, PATH_ROOM, "%s/expected", names.folder);

    files_read_back_bit_for_bit(run, &names);
    full_disk_keeps_the_old_file(run, &names);
    unwritable_names_are_refused(run, &names);
    if (run->ring.rank == 0) {
        remove(names.values);
        remove(names.text);
        remove(names.vectors);
        CHECK(run, rmdir(names.folder) == 0, "left behind in %s",
              names.folder);
    }
}

/* --- main -------------------------------------------------------------- */

typedef void test(struct run *run);

static test *const tests[] = {
    right_pairs_give_small_measures,
    other_triangle_is_never_used,
    rectangles_agree_with_their_entries,
    measures_do_not_depend_on_scale,
    nan_is_not_swallowed,
    failing_source_fails_everywhere,
    pdsyev_agrees,
    NULL,
};

/* These need n >= 2. */
static test *const tests_of_pairs[] = {
    perturbed_entry_has_the_expected_size,
    swapped_values_are_not_ascending,
    zero_matrix_is_right_and_zero_values_are_wrong,
    NULL,
};

/* For n > STREAM_ROWS: a column passes by in more than one piece. */
static test *const tests_of_pieces[] = {
    right_pairs_give_small_measures,
    other_triangle_is_never_used,
    perturbed_entry_has_the_expected_size,
    pdsyev_agrees,
    NULL,
};

static void run_tests(struct run *run, test *const *list, int64_t n)
{
    for (; *list; list++) {
        set_up(run, n);
        (*list)(run);
        tear_down(run);
    }
}

int main(int argc, char **argv)
{
    static const int64_t orders[] = { 0, 1, 2, 3, 5, 17, 50, 129 };
    static const int64_t file_orders[] = { 0, 1, 5, 129 };
    struct run run = { 0 };
    struct failure f = { 0 };

    MPI_Init(&argc, &argv);
    if (ring_open(&run.ring, MPI_COMM_WORLD, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        run_tests(&run, tests, orders[k]);
        if (orders[k] >= 2)
            run_tests(&run, tests_of_pairs, orders[k]);
    }
    run_tests(&run, tests_of_pieces, STREAM_ROWS + 88);
    for (size_t k = 0; k < sizeof file_orders / sizeof *file_orders; k++) {
        set_up(&run, file_orders[k]);
        test_files(&run, argc > 1 ? argv[1] : "/tmp");
        tear_down(&run);
    }

    int64_t bad = run.bad;
    ring_max_int64(&run.ring, &bad, 1, &f);
    if (run.ring.rank == 0 && bad == 0)
        printf("mpi_verify: passed on %d ranks\n", run.ring.ranks);
    ring_close(&run.ring);
    MPI_Finalize();
    return bad != 0;
}
