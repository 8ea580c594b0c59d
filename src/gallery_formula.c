/* Matrices whose entries are a short formula, most of them with eigenvalues
 * in closed form.  In the comments i, j, k count from 1, in the code i and j
 * count from 0 and i <= j.
 *
 * Gregory & Karney, A Collection of Matrices for Testing Computational
 * Algorithms, 1969; Higham, Accuracy and Stability, chapter 28; Wilkinson,
 * The Algebraic Eigenvalue Problem, chapter 5.
 *
 * Eigenvalues are computed in long double, and 2 - 2 cos t as 4 sin^2(t/2):
 * small ones are then correct to the last bit or so, too. */
#include "gallery.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const long double pi = 3.14159265358979323846264338327950288L;

static long double square(long double x)
{
    return x * x;
}

/* toeplitz: a on the diagonal, b beside it.
 *
 *     lambda_k = a + 2b cos t,  t = k pi/(n+1)
 *              = (a + 2b) - 4b sin^2(t/2) = (a - 2b) + 4b cos^2(t/2)
 *
 * whichever of a + 2b and a - 2b is smaller: nothing cancels for (2, -1) and
 * for (2, 1). */
enum { TOEPLITZ_A, TOEPLITZ_B };

static double toeplitz(const struct gallery *g, int64_t i, int64_t j)
{
    return i == j       ? g->option[TOEPLITZ_A]
           : j == i + 1 ? g->option[TOEPLITZ_B]
                        : 0;
}

static void toeplitz_eigenvalues(const struct gallery *g, double *w)
{
    long double a = g->option[TOEPLITZ_A], b = g->option[TOEPLITZ_B];
    bool sine = fabsl(a + 2 * b) <= fabsl(a - 2 * b);
    for (int64_t k = 1; k <= g->n; k++) {
        long double half = pi * k / (2 * (g->n + 1));
        w[k - 1] = (double)(sine ? a + 2 * b - 4 * b * square(sinl(half))
                                 : a - 2 * b + 4 * b * square(cosl(half)));
    }
}

/* min: min(i,j), the inverse of a tridiagonal matrix.
 *
 *     lambda_k = 1 / (4 sin^2((2k-1) pi / (4n+2))) */
static double minimum(const struct gallery *g, int64_t i, int64_t j)
{
    (void)g;
    (void)j;
    return (double)(i + 1);
}

static long double minimum_eigenvalue(int64_t n, int64_t k)
{
    return 1 / (4 * square(sinl(pi * (2 * k - 1) / (4 * n + 2))));
}

static void minimum_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t k = 1; k <= g->n; k++)
        w[k - 1] = (double)minimum_eigenvalue(g->n, k);
}

/* frank: (n + 1 - max(i,j))/n, that is `min` in reverse order, over n. */
static double frank(const struct gallery *g, int64_t i, int64_t j)
{
    (void)i;
    return (double)(g->n - j) / (double)g->n;
}

static void frank_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t k = 1; k <= g->n; k++)
        w[k - 1] = (double)(minimum_eigenvalue(g->n, k) / g->n);
}

/* clement: sqrt(i (n-i)) beside a zero diagonal; -(n-1), -(n-3), ..., n-1. */
static double clement(const struct gallery *g, int64_t i, int64_t j)
{
    return j == i + 1 ? sqrt((double)j * (double)(g->n - j)) : 0;
}

static void clement_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t k = 0; k < g->n; k++)
        w[k] = (double)(2 * k - (g->n - 1));
}

/* pei: alpha I + ones; alpha, n-1 times, and alpha + n. */
static double pei(const struct gallery *g, int64_t i, int64_t j)
{
    return i == j ? g->option[0] + 1 : 1;
}

static void pei_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t k = 0; k < g->n; k++)
        w[k] = g->option[0] + (k == g->n - 1 ? (double)g->n : 0);
}

/* laplace2d: 4 on the diagonal, -1 for neighbours on a grid of p points in a
 * row and q rows.
 *
 *     lambda_kl = 4 sin^2(k pi/2(p+1)) + 4 sin^2(l pi/2(q+1)) */
enum { LAPLACE_P, LAPLACE_Q };

static peigh_status laplace2d_setup(struct gallery *g, struct failure *f)
{
    double *p = &g->option[LAPLACE_P], *q = &g->option[LAPLACE_Q];
    bool given_p = g->given[LAPLACE_P], given_q = g->given[LAPLACE_Q];
    if (g->n > 0 && !given_p && !given_q) {
        int64_t divisor = (int64_t)sqrt((double)g->n);
        while (g->n % divisor != 0)
            divisor--;
        *p = (double)divisor;
        *q = (double)(g->n / divisor);
    } else if (g->n >= 0 && given_p && !given_q && *p > 0) {
        *q = floor((double)g->n / *p);
    } else if (g->n >= 0 && given_q && !given_p && *q > 0) {
        *p = floor((double)g->n / *q);
    } else if (g->n == 0 && !given_p && !given_q) {
        *p = *q = 0;
    }
    double product = *p * *q;
    if (product > GALLERY_ORDER_MAX)
        return fail(f, PEIGH_ERR_ARGUMENT, "gallery:laplace2d: p*q=%.0f is "
                    "larger than %d", product, GALLERY_ORDER_MAX);
    if (g->n >= 0 && product != (double)g->n)
        return fail(f, PEIGH_ERR_ARGUMENT, "gallery:laplace2d: n=%lld is not "
                    "p*q with p=%.0f, q=%.0f", (long long)g->n, *p, *q);
    g->n = (int64_t)product;
    return PEIGH_OK;
}

static double laplace2d(const struct gallery *g, int64_t i, int64_t j)
{
    int64_t p = (int64_t)g->option[LAPLACE_P];
    bool beside = j == i + 1 && j % p != 0, above = j == i + p;
    return i == j ? 4 : beside || above ? -1 : 0;
}

static void laplace2d_eigenvalues(const struct gallery *g, double *w)
{
    int64_t p = (int64_t)g->option[LAPLACE_P];
    int64_t q = (int64_t)g->option[LAPLACE_Q];
    for (int64_t k = 0; k < p; k++)
        for (int64_t l = 0; l < q; l++)
            w[k * q + l] =
                (double)(4 * square(sinl(pi * (k + 1) / (2 * (p + 1)))) +
                         4 * square(sinl(pi * (l + 1) / (2 * (q + 1)))));
}

/* circulant: c_(j-i) with c_(n-m) = c_m, zero beyond the end of the list.
 * With 0 < m <= n/2, counted twice for m < n/2,
 *
 *     lambda_q = c_0 + sum_m c_m cos(2 pi m q/n) (once or twice)
 *              = lambda_0 - sum_m 2 c_m sin^2(pi m q/n) (once or twice) */
static const double second_difference[] = {2, -1};

static double circulant_c(const struct gallery *g, int64_t m)
{
    const double *c = g->list ? g->list : second_difference;
    return m < (g->list ? g->list_length : 2) ? c[m] : 0;
}

static peigh_status circulant_setup(struct gallery *g, struct failure *f)
{
    if (g->list == NULL || g->list_length <= g->n / 2 + 1)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_ARGUMENT, "gallery:circulant: c has %lld numbers, "
                "n=%lld takes c_0 .. c_%lld", (long long)g->list_length,
                (long long)g->n, (long long)(g->n / 2));
}

static double circulant(const struct gallery *g, int64_t i, int64_t j)
{
    int64_t m = j - i;
    return circulant_c(g, m < g->n - m ? m : g->n - m);
}

static long double circulant_eigenvalue(const struct gallery *g, int64_t q)
{
    int64_t n = g->n, length = g->list ? g->list_length : 2;
    long double sum = circulant_c(g, 0), less = 0;
    for (int64_t m = 1; m < length && m <= n / 2; m++) {
        long double c = circulant_c(g, m) * (2 * m == n ? 1.0L : 2.0L);
        sum += c;
        less += 2 * c * square(sinl(pi * (m * q % n) / n));
    }
    return sum - less;
}

static void circulant_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t q = 0; q < g->n; q++)
        w[q] = (double)circulant_eigenvalue(g, q <= g->n / 2 ? q : g->n - q);
}

/* dst: sqrt(2/(n+1)) sin(i j pi/(n+1)), its own inverse; 1 ceil(n/2) times,
 * -1 floor(n/2) times.  The angle is reduced in integers: to a half turn,
 * with a sign, and then to a quarter. */
static double dst(const struct gallery *g, int64_t i, int64_t j)
{
    int64_t half = g->n + 1, r = (i + 1) * (j + 1) % (2 * half);
    double sign = r < half ? 1 : -1;
    r %= half;
    if (2 * r > half)
        r = half - r;
    double angle = (double)pi * (double)r / (double)half;
    return sign * sqrt(2 / (double)half) * sin(angle);
}

static void dst_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t k = 0; k < g->n; k++)
        w[k] = k < g->n / 2 ? -1 : 1;
}

/* hadamard: (-1)^popcount(i & j), i and j from 0; +-sqrt(n), half each. */
static peigh_status hadamard_setup(struct gallery *g, struct failure *f)
{
    if (g->n > 0 && (g->n & (g->n - 1)) == 0)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_ARGUMENT,
                "gallery:hadamard: n=%lld is not a power of 2",
                (long long)g->n);
}

static double hadamard(const struct gallery *g, int64_t i, int64_t j)
{
    (void)g;
    return __builtin_popcountll((unsigned long long)(i & j)) % 2 ? -1 : 1;
}

static void hadamard_eigenvalues(const struct gallery *g, double *w)
{
    for (int64_t k = 0; k < g->n; k++)
        w[k] = k < g->n / 2 ? -sqrt((double)g->n) : sqrt((double)g->n);
}

/* rosser: a double eigenvalue, one nearly as large, one 0, one small, and a
 * pair of opposite sign.  510 - 100 sqrt 26 = 100 / (510 + 100 sqrt 26). */
static peigh_status rosser_setup(struct gallery *g, struct failure *f)
{
    if (g->n == 8)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_ARGUMENT,
                "gallery:rosser: n=%lld; the only order is 8",
                (long long)g->n);
}

static double rosser(const struct gallery *g, int64_t i, int64_t j)
{
    static const short a[8][8] = {
        {611, 196, -192, 407, -8, -52, -49, 29},
        {196, 899, 113, -192, -71, -43, -8, -44},
        {-192, 113, 899, 196, 61, 49, 8, 52},
        {407, -192, 196, 611, 8, 44, 59, -23},
        {-8, -71, 61, 8, 411, -599, 208, 208},
        {-52, -43, 49, 44, -599, 411, 208, 208},
        {-49, -8, 8, 59, 208, 208, 99, -911},
        {29, -44, 52, -23, 208, 208, -911, 99}};
    (void)g;
    return a[i][j];
}

static void rosser_eigenvalues(const struct gallery *g, double *w)
{
    long double large = 510 + 100 * sqrtl(26), pair = 10 * sqrtl(10405);
    const long double known[8] = {-pair, 0,    100 / large, 1000,
                                  1000,  large, 1020,       pair};
    for (int64_t k = 0; k < g->n; k++)
        w[k] = (double)known[k];
}

/* wilkinson: |i - (n+1)/2| on the diagonal, 1 beside it. */
static double wilkinson(const struct gallery *g, int64_t i, int64_t j)
{
    return i == j       ? fabs((double)i - 0.5 * (double)(g->n - 1))
           : j == i + 1 ? 1
                        : 0;
}

/* glued: copies of Wilkinson's matrix of order 21 down the diagonal, `glue`
 * where they touch. */
enum { COPY = 21 };

static peigh_status glued_setup(struct gallery *g, struct failure *f)
{
    if (g->n % COPY == 0)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_ARGUMENT,
                "gallery:glued: n=%lld is not a multiple of %d",
                (long long)g->n, COPY);
}

static double glued(const struct gallery *g, int64_t i, int64_t j)
{
    if (i == j)
        return fabs((double)(i % COPY - COPY / 2));
    return j != i + 1 ? 0 : j % COPY == 0 ? g->option[0] : 1;
}

#define ANY -DBL_MAX, DBL_MAX, NULL
#define SIDE 0, GALLERY_ORDER_MAX, NULL

const struct gallery_entry gallery_formulas[] = {
    {"toeplitz", 500,
     {{"a", GALLERY_REAL, 2, ANY}, {"b", GALLERY_REAL, -1, ANY}},
     NULL, toeplitz, toeplitz_eigenvalues},
    {"min", 500, {{0}}, NULL, minimum, minimum_eigenvalues},
    {"frank", 500, {{0}}, NULL, frank, frank_eigenvalues},
    {"clement", 500, {{0}}, NULL, clement, clement_eigenvalues},
    {"pei", 500, {{"alpha", GALLERY_REAL, 1, ANY}},
     NULL, pei, pei_eigenvalues},
    {"laplace2d", -1, /* p*q */
     {{"p", GALLERY_INTEGER, 16, SIDE}, {"q", GALLERY_INTEGER, 16, SIDE}},
     laplace2d_setup, laplace2d, laplace2d_eigenvalues},
    {"circulant", 500, {{"c", GALLERY_LIST, 0, ANY}},
     circulant_setup, circulant, circulant_eigenvalues},
    {"dst", 500, {{0}}, NULL, dst, dst_eigenvalues},
    {"hadamard", 512, {{0}}, hadamard_setup, hadamard, hadamard_eigenvalues},
    {"rosser", 8, {{0}}, rosser_setup, rosser, rosser_eigenvalues},
    {"wilkinson", 500, {{0}}, NULL, wilkinson, NULL},
    {"glued", 504, {{"glue", GALLERY_REAL, 1e-8, ANY}},
     glued_setup, glued, NULL},
    {0},
};
