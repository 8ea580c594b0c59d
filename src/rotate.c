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
 *                          the ends have turned round.
 *
 * Nothing is moved for that but the ends: x and y are windows that slide over
 * longer rows, y up by one after each even round, x down by one after each
 * odd round. */
#include "rotate.h"

#include "variants.h"

#include <math.h>
#include <string.h>

enum { VECTOR = 4 }; /* doubles in a vector; more gain nothing here */

/* Below half a unit roundoff a rotation cannot change anything.  When a pair
 * of blocks is worked on at all, everything above is rotated: with the higher
 * threshold of that decision, orthogonality is 100 times worse. */
static const double cosine_of_rounding = 1e-16;

/* What counts as a large rotation for a pair below the floor. */
static const double large_tangent = 1e-3, small_cosine = 0.1;

static int64_t lanes_for(int64_t half)
{
    return (half + VECTOR - 1) / VECTOR * VECTOR;
}

/* A row: the window x with room for h steps down, the window y with room for
 * h steps up. */
static int64_t stride_for(int64_t half)
{
    return 2 * (lanes_for(half) + lanes_for(half + 1));
}

int64_t rotate_doubles(int64_t block)
{
    /* the rows of H and R, d; g and the angles; row */
    return (4 * block + 1) * stride_for(block) + 4 * lanes_for(block) +
           2 * block;
}

void rotate_start(struct rotor *rotor, double *memory, int64_t half,
                  double floor)
{
    int64_t lanes = lanes_for(half), stride = stride_for(half);
    double *next = memory;
    rotor->half = half;
    rotor->floor = floor;
    rotor->lanes = lanes;
    rotor->stride = stride;
    rotor->x = half;
    rotor->y = stride / 2;
    rotor->reversed = false;
    rotor->h = next;
    rotor->r = next += 2 * half * stride;
    rotor->d = next += 2 * half * stride;
    rotor->g = next += stride;
    rotor->angle.sine_x = next += lanes;
    rotor->angle.sine_y = next += lanes;
    rotor->angle.tau = next += lanes;
    rotor->row = (int64_t *)(next + lanes);
    memset(memory, 0, sizeof(double) * (size_t)(next + lanes - memory));
    for (int64_t k = 0; k < 2 * half; k++) {
        rotor->row[k] = k;
        rotor->r[k * stride + rotate_entry(rotor, k)] = 1.0;
    }
}

void rotate_load(struct rotor *rotor, int64_t count, const double *h)
{
    for (int64_t k = 0; k < count; k++, h += count) {
        double *row = rotate_row(rotor, k);
        double *x = row + rotor->x, *y = row + rotor->y;
        for (int64_t i = 0; 2 * i < count; i++)
            x[i] = h[2 * i];
        for (int64_t i = 0; 2 * i + 1 < count; i++)
            y[i] = h[2 * i + 1];
        rotor->d[rotate_entry(rotor, k)] = h[k];
        row[rotate_entry(rotor, k)] = 0.0;
    }
}

void rotate_unload(const struct rotor *rotor, int64_t count, double *h,
                   double *r)
{
    for (int64_t j = 0; j < count; j++) {
        int64_t entry = rotate_entry(rotor, j);
        const double *row = rotate_row(rotor, j);
        for (int64_t i = 0; i < count; i++) {
            h[i + j * count] = row[rotate_entry(rotor, i)];
            r[i + j * count] = rotor->r[i * rotor->stride + entry];
        }
        h[j + j * count] = rotor->d[entry];
    }
}

static double reciprocal_norm(double square)
{
    return square > 0.0 ? 1.0 / sqrt(square) : 0.0;
}

double rotate_cosine(const struct rotor *rotor, bool all_pairs)
{
    int64_t half = rotor->half, end = all_pairs ? 2 * half : half;
    double largest = 0.0;
    for (int64_t i = 0; i < end; i++) {
        const double *row = rotate_row(rotor, i);
        double scale = reciprocal_norm(*rotate_gram(rotor, i, i));
        for (int64_t k = all_pairs ? i + 1 : half; k < 2 * half; k++) {
            double c = fabs(row[rotate_entry(rotor, k)] * scale *
                            reciprocal_norm(*rotate_gram(rotor, k, k)));
            largest = c > largest ? c : largest;
        }
    }
    return largest;
}

/* The angles of a round, from the diagonal (d, x and y) and h_ij (g).  Where
 * h_ij is below the floor and the rotation would be a large one, the pair is
 * only made orthogonal, to second order,
 *
 *     x' = x - h_ij / (2 h_jj) y,   y' = y - h_ij / (2 h_ii) x. */
IN_VARIANT int64_t angles(int64_t lanes, double floor, double *restrict x,
                          double *restrict y, const double *restrict g,
                          struct angle *angle)
{
    double *restrict sine_x = angle->sine_x, *restrict sine_y = angle->sine_y;
    double *restrict tau = angle->tau;
    int64_t count = 0;
    for (int64_t i = 0; i < lanes; i++) {
        double u = x[i] > 0.0 ? sqrt(x[i]) : 0.0;
        double v = y[i] > 0.0 ? sqrt(y[i]) : 0.0;
        double ru = u > 0.0 ? 1.0 / u : 0.0, rv = v > 0.0 ? 1.0 / v : 0.0;
        double r = g[i] * ru * rv, q = v * ru - u * rv;
        double root = fabs(q) + sqrt(q * q + 4.0 * r * r);
        bool rotates = fabs(r) > cosine_of_rounding;
        double t = rotates ? 2.0 * r / root : 0.0;
        t = q < 0.0 ? -t : t;
        double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
        bool corrects = fabs(g[i]) <= floor && fabs(t) > large_tangent &&
                        fabs(r) < small_cosine;
        double half = 0.5 * g[i];
        sine_x[i] = corrects ? half * rv * rv : s;
        sine_y[i] = corrects ? -half * ru * ru : s;
        tau[i] = corrects ? 0.0 : s / (1.0 + c);
        x[i] -= corrects ? 1.5 * half * (r * u) * rv : t * g[i];
        y[i] -= corrects ? 1.5 * half * (r * v) * ru : -t * g[i];
        count += rotates;
    }
    return count;
}

/* Vectors that may lie anywhere in a row. */
typedef double vector
    __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));

/* One vector of x and y, each pair of entries by its angle. */
IN_VARIANT void rotate_vector(double *x, double *y, const vector *sine_x,
                              const vector *sine_y, const vector *tau)
{
    vector u = *(vector *)x, v = *(vector *)y;
    vector new_x = u - *sine_x * (v + *tau * u);
    vector new_y = v + *sine_y * (u - *tau * v);
    *(vector *)x = new_x;
    *(vector *)y = new_y;
}

/* The rows of H that belong to x[i] and y[i], by one angle.  (Local copies
 * in these loops: a vector store may alias the rotor itself.) */
IN_VARIANT void rotate_rows(const struct rotor *rotor, int64_t i)
{
    const int64_t lanes = rotor->lanes, x = rotor->x, y = rotor->y;
    double *p = rotor->h + rotor->row[i] * rotor->stride;
    double *q = rotor->h + rotor->row[rotor->half + i] * rotor->stride;
    const vector zero = {0}, s = zero + rotor->angle.sine_x[i];
    const vector r = zero + rotor->angle.sine_y[i];
    const vector t = zero + rotor->angle.tau[i];
    for (int64_t k = 0; k < lanes; k += VECTOR) {
        rotate_vector(p + x + k, q + x + k, &s, &r, &t);
        rotate_vector(p + y + k, q + y + k, &s, &r, &t);
    }
    /* The pair is orthogonal now, and the diagonal is kept in d. */
    p[x + i] = p[y + i] = q[x + i] = q[y + i] = 0.0;
}

/* All rows of H and R: the entries of each pair of columns, by its angle. */
IN_VARIANT void rotate_columns(const struct rotor *rotor)
{
    const int64_t rows = 4 * rotor->half, stride = rotor->stride;
    for (int64_t i = 0; i < rotor->lanes; i += VECTOR) {
        const vector s = *(const vector *)(rotor->angle.sine_x + i);
        const vector r = *(const vector *)(rotor->angle.sine_y + i);
        const vector t = *(const vector *)(rotor->angle.tau + i);
        double *x = rotor->h + rotor->x + i, *y = rotor->h + rotor->y + i;
        for (int64_t k = 0; k < rows; k++)
            rotate_vector(x + k * stride, y + k * stride, &s, &r, &t);
    }
}

/* After a round the windows slide by one, and the ends change over: in the
 * rows of H and R and in d, which follows them. */
IN_VARIANT void slide(bool odd, struct rotor *rotor)
{
    const int64_t x = rotor->x, y = rotor->y, last = rotor->half - 1;
    const int64_t rows = 4 * rotor->half + 1, stride = rotor->stride;
    double *row = rotor->h;
    for (int64_t k = 0; k < rows; k++, row += stride) {
        if (odd) {
            row[x - 1] = row[y + last];
            row[y + last] = row[x + last];
        } else {
            row[y + last + 1] = row[y];
        }
    }
    rotor->x -= odd;
    rotor->y += !odd;
}

/* The order of the rows of H follows the columns. */
IN_VARIANT void slide_rows(bool odd, struct rotor *rotor)
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
}

/* One round: angles, rows of H, columns of H and R, new places. */
IN_VARIANT int64_t rotate_round(bool odd, struct rotor *rotor)
{
    int64_t half = rotor->half;
    for (int64_t i = 0; i < half; i++)
        rotor->g[i] = rotor->h[rotor->row[i] * rotor->stride + rotor->y + i];
    if (odd)
        rotor->g[half - 1] = 0.0; /* the ends of the line */
    int64_t count = angles(rotor->lanes, rotor->floor, rotor->d + rotor->x,
                           rotor->d + rotor->y, rotor->g, &rotor->angle);
    for (int64_t i = 0; i < half; i++)
        if (rotor->angle.sine_x[i] != 0.0)
            rotate_rows(rotor, i);
    if (count > 0)
        rotate_columns(rotor);
    slide(odd, rotor);
    slide_rows(odd, rotor);
    return count;
}

/* Bring the windows back to where a pass begins. */
static void slide_back(struct rotor *rotor)
{
    int64_t half = rotor->half, x = half, y = rotor->stride / 2;
    size_t bytes = sizeof(double) * (size_t)half;
    double *row = rotor->h;
    for (int64_t k = 0; k < 4 * half + 1; k++, row += rotor->stride) {
        memmove(row + x, row + rotor->x, bytes);
        memmove(row + y, row + rotor->y, bytes);
    }
    rotor->x = x;
    rotor->y = y;
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
    slide_back(rotor);
    rotor->reversed = !rotor->reversed;
    return count;
}
