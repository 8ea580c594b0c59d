/* Matrices with a prescribed spectrum, and random ones.
 *
 * With the reflection H = I - (2/n) 1 1^T, diagonal D and mean m of its
 * entries, A = H D H has the eigenvalues d and the entries
 *
 *     a_ij = d_i [i=j] - (2/n)(d_i + d_j) + (4/n) m.
 *
 * d is kept: n numbers.  `type` numbers the classical matrices of the
 * ScaLAPACK symmetric eigenvalue tests (TESTING/EIG/pdseptst.f). */
#include "gallery.h"
#include "noise.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Streams of noise apart from that of the entries. */
static const uint64_t sign_stream = 0x5e1f, order_stream = 0x0d3a;

/* ---- Spectra: value i of n, 0 <= i < n, between 1 and `low` ---- */

typedef double spectrum_value(int64_t i, int64_t n, double low);

static double step(int64_t i, int64_t n)
{
    return n > 1 ? (double)i / (double)(n - 1) : 0;
}

static double arithmetic(int64_t i, int64_t n, double low)
{
    double t = step(i, n);
    return (1 - t) + t * low;
}

static double geometric(int64_t i, int64_t n, double low)
{
    return pow(low, step(i, n));
}

static double clustered_one(int64_t i, int64_t n, double low)
{
    return i > 0 && i == n - 1 ? low : 1;
}

static double clustered_eps(int64_t i, int64_t n, double low)
{
    (void)n;
    return i == 0 ? 1 : low;
}

static double equal(int64_t i, int64_t n, double low)
{
    (void)i;
    (void)n;
    (void)low;
    return 1;
}

static double plus_minus(int64_t i, int64_t n, double low)
{
    (void)n;
    (void)low;
    return i % 2 ? -1 : 1;
}

static double zero(int64_t i, int64_t n, double low)
{
    (void)i;
    (void)n;
    (void)low;
    return 0;
}

/* 0 once, 1 twice, 2 four times, ... */
static double doubling(int64_t i, int64_t n, double low)
{
    double k = 0;
    (void)n;
    (void)low;
    for (i = i + 1; i > 1; i /= 2)
        k++;
    return k;
}

/* d_0 .. d_(rank-1) from the spectrum, the rest zero. */
static peigh_status prescribe(struct gallery *g, spectrum_value *value,
                              bool signs, int64_t rank, double low,
                              double scale, struct failure *f)
{
    long double sum = 0;
    if (gallery_allocate(g, f) != PEIGH_OK)
        return f->status;
    for (int64_t i = 0; i < g->n; i++) {
        double d = i < rank ? scale * value(i, rank, low) : 0;
        bool negative =
            signs && noise_bits(g->seed ^ sign_stream, (uint64_t)i) % 2;
        g->d[i] = negative ? -d : d;
        sum += g->d[i];
    }
    g->mean = g->n > 0 ? (double)(sum / g->n) : 0;
    return PEIGH_OK;
}

/* The formula at the top. */
static double reflected(const struct gallery *g, int64_t i, int64_t j)
{
    double c = 2 / (double)g->n;
    double a = c * (2 * g->mean) - c * (g->d[i] + g->d[j]);
    return i == j ? g->d[i] + a : a;
}

static double diagonal(const struct gallery *g, int64_t i, int64_t j)
{
    return i == j ? g->d[i] : 0;
}

static void prescribed_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t i = 0; i < g->n; i++)
        w[i] = g->d[i];
}

/* ---- spectrum ---- */

enum { KIND, COND, RANK, SCALE };
enum { RANDOM_SIGN = 4, DEFICIENT = 5 };

static const char *const kinds[] = {
    "arithmetic",  "geometric", "clustered-one", "clustered-eps",
    "random-sign", "deficient", "equal",         "pm1",
    NULL};

static spectrum_value *const kind_values[] = {
    arithmetic, geometric,  clustered_one, clustered_eps,
    geometric,  arithmetic, equal,         plus_minus};

static peigh_status spectrum_setup(struct gallery *g, struct failure *f)
{
    int kind = (int)g->option[KIND];
    int64_t rank = g->n;
    if (kind == DEFICIENT)
        rank = g->given[RANK] ? (int64_t)g->option[RANK] : g->n / 2;
    if (rank > g->n || (g->given[RANK] && kind != DEFICIENT))
        return fail(f, PEIGH_ERR_ARGUMENT, "gallery:spectrum: rank=%.0f goes "
                    "with kind=deficient and is at most n=%lld",
                    g->option[RANK], (long long)g->n);
    return prescribe(g, kind_values[kind], kind == RANDOM_SIGN, rank,
                     1 / g->option[COND], g->option[SCALE], f);
}

/* ---- type ---- */

static double uniform(const struct gallery *g, int64_t i, int64_t j)
{
    return 2 * noise_uniform(g->seed, gallery_index(i, j)) - 1;
}

/* A direct sum of tridiagonal matrices of order 1, 2, 3, ...: they begin
 * where i is a triangular number.  Diagonals are geometric from 1 to eps
 * within each; beside them random numbers that leave rows dominated by the
 * diagonal: |b_i| < min(d_i, d_(i+1)) / 2. */
static int64_t submatrix(int64_t i)
{
    int64_t m = (int64_t)((sqrt(8 * (double)i + 1) - 1) / 2);
    while (m * (m + 1) / 2 > i)
        m--;
    while ((m + 1) * (m + 2) / 2 <= i)
        m++;
    return m; /* its order is m + 1 */
}

static double submatrix_diagonal(int64_t i)
{
    int64_t m = submatrix(i);
    return geometric(i - m * (m + 1) / 2, m + 1, DBL_EPSILON);
}

static double submatrices(const struct gallery *g, int64_t i, int64_t j)
{
    if (i == j)
        return submatrix_diagonal(i);
    if (j != i + 1 || submatrix(i) != submatrix(j))
        return 0;
    return 0.5 * submatrix_diagonal(j) * uniform(g, i, j);
}

static double scaled_uniform(const struct gallery *g, int64_t i, int64_t j)
{
    return g->scale * uniform(g, i, j);
}

/* "Near sqrt(overflow)" and "near sqrt(underflow)": 1e154 and 1e-154 with
 * room for sums of n squares and for a factor n. */
static const double large = 1e150, small = 1e-150;

struct type {
    double (*entry)(const struct gallery *g, int64_t i, int64_t j);
    spectrum_value *value; /* NULL: no closed form */
    bool signs;            /* random ones */
    const double *scale;   /* NULL: 1 */
};

static const struct type types[] = {
    {diagonal, zero, false, NULL},              /* 1 */
    {diagonal, equal, false, NULL},             /* 2 */
    {diagonal, arithmetic, true, NULL},         /* 3 */
    {diagonal, geometric, true, NULL},          /* 4 */
    {diagonal, clustered_eps, true, NULL},      /* 5 */
    {diagonal, geometric, true, &large},        /* 6 */
    {diagonal, geometric, true, &small},        /* 7 */
    {reflected, arithmetic, true, NULL},        /* 8 */
    {reflected, geometric, true, NULL},         /* 9 */
    {reflected, clustered_eps, true, NULL},     /* 10 */
    {reflected, arithmetic, true, &large},      /* 11 */
    {reflected, arithmetic, true, &small},      /* 12 */
    {scaled_uniform, NULL, false, NULL},        /* 13 */
    {scaled_uniform, NULL, false, &large},      /* 14 */
    {scaled_uniform, NULL, false, &small},      /* 15 */
    {reflected, arithmetic, false, NULL},       /* 16 */
    {reflected, geometric, false, NULL},        /* 17 */
    {reflected, clustered_eps, false, NULL},    /* 18 */
    {reflected, arithmetic, false, &large},     /* 19 */
    {reflected, arithmetic, false, &small},     /* 20 */
    {submatrices, NULL, false, NULL},           /* 21 */
    {reflected, doubling, false, NULL},         /* 22 */
};

enum { TYPES = sizeof types / sizeof types[0] };

static const struct type *type_of(const struct gallery *g)
{
    return &types[(int)g->option[0] - 1];
}

static peigh_status type_setup(struct gallery *g, struct failure *f)
{
    const struct type *t = type_of(g);
    double scale = t->scale ? *t->scale : 1;
    if (t->value)
        return prescribe(g, t->value, t->signs, g->n, DBL_EPSILON, scale, f);
    g->scale = scale;
    g->no_eigenvalues = true;
    return PEIGH_OK;
}

static double type_entry(const struct gallery *g, int64_t i, int64_t j)
{
    return type_of(g)->entry(g, i, j);
}

/* ---- Random ones ---- */

/* gaussian: the orthogonal ensemble, a semicircle of radius 2 sqrt(n). */
static double gaussian(const struct gallery *g, int64_t i, int64_t j)
{
    double x = noise_normal(g->seed, gallery_index(i, j));
    return i == j ? sqrt(2) * x : x;
}

/* graded: D B D.  Row sums of B - I are below noise < 1, so B is positive
 * definite and well conditioned: every eigenvalue of A, however small, is
 * determined to a relative n eps (J. Barlow & J. Demmel 1990). */
enum { FROM, TO, PERMUTE, NOISE };

/* R. A. Fisher & F. Yates's shuffle, with noise for dice. */
static void shuffle(double *d, int64_t n, uint64_t seed)
{
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t dice = noise_bits(seed ^ order_stream, (uint64_t)i);
        int64_t k = (int64_t)(dice % (uint64_t)(i + 1));
        double t = d[i];
        d[i] = d[k];
        d[k] = t;
    }
}

static peigh_status graded_setup(struct gallery *g, struct failure *f)
{
    double from = g->option[FROM], to = g->option[TO];
    if (gallery_allocate(g, f) != PEIGH_OK)
        return f->status;
    for (int64_t i = 0; i < g->n; i++)
        g->d[i] = pow(10, from + (to - from) * step(i, g->n));
    if (g->option[PERMUTE] != 0)
        shuffle(g->d, g->n, g->seed);
    return PEIGH_OK;
}

static double graded(const struct gallery *g, int64_t i, int64_t j)
{
    double b = i == j ? 1
                      : g->option[NOISE] / (double)g->n * uniform(g, i, j);
    return g->d[i] * b * g->d[j];
}

/* ---- The table ---- */

/* Exponents of D: its squares, times noise, stay clear of underflow. */
#define EXPONENT -150, 150, NULL

const struct gallery_entry gallery_spectra[] = {
    {"spectrum", 500,
     {{"kind", GALLERY_WORD, 1, 0, 0, kinds},
      {"cond", GALLERY_REAL, 1e12, 1, 1e300, NULL},
      {"rank", GALLERY_INTEGER, 0, 0, GALLERY_ORDER_MAX, NULL},
      {"scale", GALLERY_REAL, 1, -1e300, 1e300, NULL}},
     spectrum_setup, reflected, prescribed_eigenvalues},
    {"type", 500, {{"k", GALLERY_INTEGER, 9, 1, TYPES, NULL}},
     type_setup, type_entry, prescribed_eigenvalues},
    {"gaussian", 500, {{0}}, NULL, gaussian, NULL},
    {"graded", 500,
     {{"from", GALLERY_REAL, 0, EXPONENT},
      {"to", GALLERY_REAL, -30, EXPONENT},
      {"permute", GALLERY_INTEGER, 0, 0, 1, NULL},
      {"noise", GALLERY_REAL, 0.1, 0, 0.999, NULL}},
     graded_setup, graded, NULL},
    {0},
};
