/* The small symmetric Jacobi of a meeting.
 *
 * H is the Gram matrix of the 2h columns of two blocks.  A rotation of the
 * columns i and j by the angle with tangent t, cosine c and sine s makes them
 * orthogonal when
 *
 *     t = 2 r / (|q| + sqrt(q^2 + 4 r^2)) sign(q),
 *     r = h_ij / sqrt(h_ii h_jj),   q = sqrt(h_jj/h_ii) - sqrt(h_ii/h_jj),
 *
 * written in the cosine r and the ratio of the norms, so that nothing over-
 * or underflows for ratios of norms up to 1e150.  Rutishauser's form
 *
 *     x' = x - s (y + tau x),   y' = y + s (x - tau y),   tau = s / (1 + c)
 *
 * adds a correction to x instead of replacing it, so that many rotations by
 * tiny angles do not stretch the columns (Numer. Math. 9, 1966).
 *
 * The order of the pairs is the odd-even round robin of schedule.c once more,
 * with single columns for blocks: 2h columns in a line of places, neighbours
 * meet and change places, and after 2h rounds every two have met and the line
 * is reversed.  Measured against the circular order, it saves a sweep of the
 * solver.
 *
 * In memory the columns in even places (they move right) and those in odd
 * places (they move left) are two vectors x and y, and a round is vector
 * code: x[i] with y[i], i = 0 .. h-1, each by its own angle.  Then
 *
 *     after an even round  y moves by one towards the front, y[0] to the end,
 *                          so that x[i] now stands beside its next partner;
 *                          the last pair are the two ends of the line, which
 *                          do not meet;
 *     after an odd round   that y[h-1] becomes x[0], x moves by one towards
 *                          the end, and x[h-1] becomes y[h-1]: the columns at
 *                          the ends have turned round. */
#include "rotate.h"

#include <math.h>
#include <string.h>

/* Variants for newer processors, chosen when the program is loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && !defined(PEIGH_NO_CLONES)
#define FOR_EACH_PROCESSOR \
    __attribute__((target_clones("default", "arch=x86-64-v3", \
                                 "arch=x86-64-v4")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Into each variant, so that it is compiled for that processor. */
#define IN_VARIANT static inline __attribute__((always_inline))

enum { VECTOR = 8 }; /* doubles in the widest vector */

/* Below half a unit roundoff a rotation cannot change anything.  When a pair
 * of blocks is worked on at all, everything above is rotated: with the much
 * higher threshold of the decision to work, orthogonality is 100 times worse. */
static const double cosine_of_rounding = 1e-16;

static int64_t lanes_for(int64_t half)
{
    return (half + VECTOR - 1) / VECTOR * VECTOR;
}

int64_t rotate_doubles(int64_t block)
{
    int64_t lanes = lanes_for(block);
    /* h, r, d, scratch (5 vectors), row */
    return 2 * (2 * block * 2 * lanes) + 2 * lanes + 5 * lanes + 2 * block;
}

/* Column k stands in place k of the line, or in 2h-1-k when it is reversed:
 * number `place / 2` of x or of y. */
static int64_t place(const struct rotor *rotor, int64_t k)
{
    return rotor->reversed ? 2 * rotor->half - 1 - k : k;
}

static int64_t entry(const struct rotor *rotor, int64_t k)
{
    int64_t p = place(rotor, k);
    return p / 2 + (p % 2 != 0 ? rotor->lanes : 0);
}

/* The row of H that belongs to column k. */
static double *row_of(const struct rotor *rotor, int64_t k)
{
    int64_t p = place(rotor, k);
    return rotor->h + 2 * rotor->lanes *
           rotor->row[p / 2 + (p % 2 != 0 ? rotor->half : 0)];
}

void rotate_start(struct rotor *rotor, double *memory, int64_t half)
{
    int64_t lanes = lanes_for(half), size = 2 * half * 2 * lanes;
    rotor->half = half;
    rotor->lanes = lanes;
    rotor->reversed = false;
    rotor->h = memory;
    rotor->r = rotor->h + size;
    rotor->d = rotor->r + size;
    rotor->scratch = rotor->d + 2 * lanes;
    rotor->row = (int64_t *)(rotor->scratch + 5 * lanes);
    memset(memory, 0, sizeof(double) * (size_t)(2 * size + 7 * lanes));
    for (int64_t k = 0; k < 2 * half; k++) {
        rotor->row[k] = k;
        rotor->r[k * 2 * lanes + entry(rotor, k)] = 1.0;
    }
}

double *rotate_gram(const struct rotor *rotor, int64_t i, int64_t j)
{
    return i == j ? rotor->d + entry(rotor, i)
                  : row_of(rotor, i) + entry(rotor, j);
}

double rotate_rotation(const struct rotor *rotor, int64_t i, int64_t j)
{
    return rotor->r[i * 2 * rotor->lanes + entry(rotor, j)];
}

static double reciprocal_norm(double square)
{
    return square > 0.0 ? 1.0 / sqrt(square) : 0.0;
}

double rotate_cosine(const struct rotor *rotor, bool all_pairs)
{
    int64_t half = rotor->half, end = all_pairs ? 2 * half : half;
    double *scale = rotor->scratch, largest = 0.0;
    for (int64_t k = 0; k < 2 * half; k++)
        scale[k] = reciprocal_norm(*rotate_gram(rotor, k, k));
    for (int64_t i = 0; i < end; i++) {
        const double *row = row_of(rotor, i);
        for (int64_t k = all_pairs ? i + 1 : half; k < 2 * half; k++) {
            double c = fabs(row[entry(rotor, k)] * scale[i] * scale[k]);
            largest = c > largest ? c : largest;
        }
    }
    return largest;
}

/* The angles of a round; g holds h_ij of the pairs and is overwritten. */
IN_VARIANT int64_t angles(int64_t lanes, double *restrict d,
                          double *restrict g, double *restrict sine,
                          double *restrict tau)
{
    double *restrict e = d + lanes;
    int64_t count = 0;
    for (int64_t i = 0; i < lanes; i++) {
        double x = d[i] > 0.0 ? sqrt(d[i]) : 0.0;
        double y = e[i] > 0.0 ? sqrt(e[i]) : 0.0;
        double rx = x > 0.0 ? 1.0 / x : 0.0, ry = y > 0.0 ? 1.0 / y : 0.0;
        double r = g[i] * rx * ry, q = y * rx - x * ry;
        double root = fabs(q) + sqrt(q * q + 4.0 * r * r);
        bool rotates = fabs(r) > cosine_of_rounding;
        double t = rotates ? 2.0 * r / root : 0.0;
        t = q < 0.0 ? -t : t;
        double c = 1.0 / sqrt(1.0 + t * t);
        d[i] -= t * g[i];
        e[i] += t * g[i];
        sine[i] = t * c;
        tau[i] = sine[i] / (1.0 + c);
        count += rotates;
    }
    return count;
}

/* Rows x and y of H, by one angle. */
IN_VARIANT void rotate_rows(int64_t n, double *restrict x, double *restrict y,
                            double sine, double tau)
{
    for (int64_t k = 0; k < n; k++) {
        double xk = x[k], yk = y[k];
        x[k] = xk - sine * (yk + tau * xk);
        y[k] = yk + sine * (xk - tau * yk);
    }
}

/* Write x and y to the places of the next round. */
IN_VARIANT void move_on(bool odd, int64_t half, int64_t lanes,
                        double *restrict row, const double *restrict x,
                        const double *restrict y)
{
    double *restrict new_x = row, *restrict new_y = row + lanes;
    if (odd) {
        new_x[0] = y[half - 1];
        for (int64_t i = 0; i + 1 < half; i++)
            new_x[i + 1] = x[i];
        for (int64_t i = 0; i + 1 < half; i++)
            new_y[i] = y[i];
        new_y[half - 1] = x[half - 1];
    } else {
        for (int64_t i = 0; i < half; i++)
            new_x[i] = x[i];
        for (int64_t i = 0; i + 1 < half; i++)
            new_y[i] = y[i + 1];
        new_y[half - 1] = y[0];
    }
}

/* One row of H or R: all pairs of its entries, each by its own angle. */
IN_VARIANT void rotate_entries(bool odd, const struct rotor *rotor,
                               double *restrict row,
                               const double *restrict sine,
                               const double *restrict tau,
                               double *restrict new_x, double *restrict new_y)
{
    int64_t lanes = rotor->lanes;
    const double *restrict x = row, *restrict y = row + lanes;
    for (int64_t i = 0; i < lanes; i++) {
        new_x[i] = x[i] - sine[i] * (y[i] + tau[i] * x[i]);
        new_y[i] = y[i] + sine[i] * (x[i] - tau[i] * y[i]);
    }
    move_on(odd, rotor->half, lanes, row, new_x, new_y);
}

/* The order of the rows of H, and its diagonal, follow the columns. */
IN_VARIANT void move_rows(bool odd, struct rotor *rotor)
{
    int64_t half = rotor->half, *x = rotor->row, *y = rotor->row + half;
    size_t all_but_one = sizeof *x * (size_t)(half - 1);
    if (odd) {
        int64_t first = y[half - 1];
        y[half - 1] = x[half - 1];
        memmove(x + 1, x, all_but_one);
        x[0] = first;
    } else {
        int64_t last = y[0];
        memmove(y, y + 1, all_but_one);
        y[half - 1] = last;
    }
    double *d = rotor->scratch;
    memcpy(d, rotor->d, sizeof *d * (size_t)(2 * rotor->lanes));
    move_on(odd, half, rotor->lanes, rotor->d, d, d + rotor->lanes);
}

/* One round: angles, rows of H, columns of H and R, new places. */
IN_VARIANT int64_t rotate_round(bool odd, struct rotor *rotor)
{
    int64_t half = rotor->half, lanes = rotor->lanes, width = 2 * lanes;
    double *new_x = rotor->scratch, *new_y = new_x + lanes;
    double *sine = new_y + lanes, *tau = sine + lanes, *g = tau + lanes;
    const int64_t *row_x = rotor->row, *row_y = rotor->row + half;
    for (int64_t i = 0; i < half; i++)
        g[i] = rotor->h[row_x[i] * width + lanes + i];
    if (odd)
        g[half - 1] = 0.0; /* the ends of the line */
    int64_t count = angles(lanes, rotor->d, g, sine, tau);
    for (int64_t i = 0; i < half; i++) {
        double *x = rotor->h + row_x[i] * width;
        double *y = rotor->h + row_y[i] * width;
        if (sine[i] == 0.0)
            continue;
        rotate_rows(width, x, y, sine[i], tau[i]);
        /* The pair is orthogonal now, and the diagonal is kept in d. */
        x[i] = x[lanes + i] = y[i] = y[lanes + i] = 0.0;
    }
    for (int64_t k = 0; k < 4 * half; k++) /* the rows of H, then of R */
        rotate_entries(odd, rotor, rotor->h + k * width, sine, tau, new_x,
                       new_y);
    move_rows(odd, rotor);
    return count;
}

/* Static, so that the choice between variants stays inside the library. */
FOR_EACH_PROCESSOR
static int64_t rotate_rounds(struct rotor *rotor)
{
    int64_t count = 0;
    for (int64_t round = 0; round < 2 * rotor->half; round++)
        count += rotate_round(round % 2 != 0, rotor);
    return count;
}

int64_t rotate_pass(struct rotor *rotor)
{
    int64_t count = rotate_rounds(rotor);
    rotor->reversed = !rotor->reversed;
    return count;
}
