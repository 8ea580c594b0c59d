/* The small eigenproblem of a meeting, by one of two ways.
 *
 * Large angles: rotations in turn (rotate.c).
 *
 * Small angles: all pairs at once.  With H = D + O, D its diagonal, and the
 * skew matrix K of the tangents that each pair by itself would be rotated by,
 * to first order k_ij = o_ij / (d_j - d_i),
 *
 *     R = I + K + S,   S = K^2 / 2.
 *
 * R^T R - I = (I + S)^2 - K^2 - I = S^2, exactly, and all these matrices
 * commute, so that
 *
 *     R (I - E),   E = S^2 / 2 - 3 S^4 / 8 + 5 S^6 / 16
 *
 * is orthogonal up to (35/128) S^8: the series of (I + S^2)^(-1/2).  What is
 * left of H is of second order:
 *
 *     R^T H R = D + (O K - K O) / 2 + terms of third order.
 *
 * Only the orthogonality of R decides how accurate the eigenvectors become;
 * how well it diagonalises decides the number of sweeps.  Matrix products run
 * at several times the rate of rotations in turn, and these are few.
 * (The step of T. Ogita & K. Aishima, Iterative refinement for symmetric
 * eigenvalue decomposition, 2018, on a Gram matrix.) */
#include "small.h"

#include "rotate.h"
#include "variants.h"

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Pairs with cosines below rounding are as orthogonal as they get. */
static const double cosine_of_rounding = 1e-16;

/* Angles: the 2-norm of K up to which all pairs are rotated at once.  S^8 is
 * at most (angle^2 / 2)^8, 7e-18.  (From 0.3 on, what is left of H costs a
 * sweep more.) */
static const double angle_small = 0.12;

/* Below these, S^2, and S, are below rounding: 2^-54. */
static const double angle_of_square = 1.5e-4, angle_of_first_order = 1e-8;

/* Where the columns are far from orthogonal a second pass costs less than
 * the sweep or two that it saves (8 sweeps instead of 10 at n = 1000). */
static const double cosine_far = 1e-3;

static int64_t round_up(int64_t doubles)
{
    return (doubles + 7) / 8 * 8; /* 64 bytes */
}

int64_t small_doubles(int64_t block)
{
    int64_t count = 2 * block;
    return 6 * round_up(count * count) + 2 * round_up(count) +
           rotate_doubles(block);
}

void small_start(struct small *s, double *memory, int64_t count, double floor)
{
    int64_t square = round_up(count * count);
    s->count = count;
    s->floor = floor;
    s->h = memory;
    s->r = s->h + square;
    s->k = s->r + square;
    s->p = s->k + square;
    s->q = s->p + square;
    s->t = s->q + square;
    s->norm = s->t + square;
    s->inverse = s->norm + round_up(count);
    s->rotor = s->inverse + round_up(count);
}

/* --- cosines and angles ------------------------------------------------- */

FOR_EACH_PROCESSOR
static void take_norms(int64_t count, const double *h, double *restrict norm,
                       double *restrict inverse)
{
    for (int64_t j = 0; j < count; j++) {
        double square = h[j + j * count];
        norm[j] = square > 0.0 ? sqrt(square) : 0.0;
        inverse[j] = norm[j] > 0.0 ? 1.0 / norm[j] : 0.0;
    }
}

FOR_EACH_PROCESSOR
static double largest_cosine(int64_t count, int64_t split, const double *h,
                             const double *inverse)
{
    double largest = 0.0;
    for (int64_t j = split; j < count; j++) {
        const double *column = h + j * count, scale = inverse[j];
        int64_t end = split > 0 ? split : j;
        for (int64_t i = 0; i < end; i++) {
            double c = fabs(column[i] * inverse[i] * scale);
            largest = c > largest ? c : largest;
        }
    }
    return largest;
}

double small_cosine(struct small *s, int64_t split)
{
    take_norms(s->count, s->h, s->norm, s->inverse);
    return largest_cosine(s->count, split, s->h, s->inverse);
}

/* k_ij, i < j: the tangents of the rotations of pairs (i, j).  Written in
 * cosines r and ratios of norms as in rotate.c.  Adds up squares, and counts
 * the rotations. */
IN_VARIANT double tangents(int64_t j, const double *restrict h,
                           const double *restrict norm,
                           const double *restrict inverse, double *restrict k,
                           double *rotations)
{
    double squares = 0.0, number = 0.0, v = norm[j], rv = inverse[j];
    for (int64_t i = 0; i < j; i++) {
        double r = h[i] * (inverse[i] * rv);
        double q = v * inverse[i] - norm[i] * rv;
        double root = fabs(q) + sqrt(q * q + 4.0 * r * r);
        bool rotates = fabs(r) > cosine_of_rounding;
        double t = rotates ? 2.0 * r / root : 0.0;
        k[i] = q < 0.0 ? -t : t;
        squares += t * t;
        number += rotates;
    }
    *rotations += number;
    return squares;
}

/* K and a bound on its 2-norm: singular values of a skew matrix come in
 * pairs, so that |K|_F^2 >= 2 |K|_2^2.  K is skew to the bit: between norms
 * that agree to a few roundings, the differences q_ij and -q_ji would not
 * agree, and all that follows needs K^T = -K. */
FOR_EACH_PROCESSOR
static double angles(int64_t count, const double *h, const double *norm,
                     const double *inverse, double *k, double *rotations)
{
    double squares = 0.0;
    *rotations = 0.0;
    for (int64_t j = 0; j < count; j++) {
        squares += tangents(j, h + j * count, norm, inverse, k + j * count,
                            rotations);
        k[j + j * count] = 0.0;
        for (int64_t i = 0; i < j; i++)
            k[j + i * count] = -k[i + j * count];
    }
    return sqrt(squares);
}

/* --- all pairs at once -------------------------------------------------- */

/* c = alpha a b + beta c */
static void multiply(int64_t count, double alpha, const double *a,
                     const double *b, double beta, double *c)
{
    int n = (int)count;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, alpha, a,
                n, b, n, beta, c, n);
}

static void add_to_diagonal(int64_t count, double x, double *a)
{
    for (int64_t j = 0; j < count; j++)
        a[j + j * count] += x;
}

/* H <- D + (O K - K O) / 2, where K O = -(O K)^T; t = O K. */
static void leave_second_order(struct small *s)
{
    int64_t n = s->count;
    double *h = s->h, *t = s->t, *d = s->norm;
    for (int64_t j = 0; j < n; j++) {
        d[j] = h[j + j * n];
        h[j + j * n] = 0.0;
    }
    multiply(n, 0.5, h, s->k, 0.0, t);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < j; i++)
            h[i + j * n] = h[j + i * n] = t[i + j * n] + t[j + i * n];
        h[j + j * n] = d[j] + 2.0 * t[j + j * n];
    }
}

/* t = E from S, which it overwrites; p = S^2. */
static void normalising_series(int64_t n, double *p, double *q, double *t)
{
    multiply(n, 1.0, t, t, 0.0, p);
    for (int64_t i = 0; i < n * n; i++)
        q[i] = -0.3125 * p[i];
    add_to_diagonal(n, 0.375, q);
    multiply(n, -1.0, p, q, 0.0, t);
    add_to_diagonal(n, 0.5, t);
    memcpy(q, t, sizeof(double) * (size_t)(n * n));
    multiply(n, 1.0, p, q, 0.0, t);
}

/* s->r = R from s->k = K. */
static void rotation_from_angles(struct small *s, double angle)
{
    int64_t n = s->count;
    size_t bytes = sizeof(double) * (size_t)(n * n);
    memcpy(s->r, s->k, bytes);
    if (angle > angle_of_first_order)
        multiply(n, 0.5, s->k, s->k, 1.0, s->r);
    if (angle > angle_of_square) {
        for (int64_t i = 0; i < n * n; i++)
            s->t[i] = s->r[i] - s->k[i]; /* S */
        normalising_series(n, s->p, s->q, s->t);
    }
    add_to_diagonal(n, 1.0, s->r);
    if (angle > angle_of_square) {
        memcpy(s->q, s->r, bytes);
        multiply(n, -1.0, s->q, s->t, 1.0, s->r);
    }
}

static void rotate_at_once(struct small *s, double angle)
{
    rotation_from_angles(s, angle);
    leave_second_order(s);
}

/* --- in turn ------------------------------------------------------------ */

static int64_t rotate_in_turn(struct small *s, double cosine)
{
    struct rotor rotor;
    rotate_start(&rotor, s->rotor, (s->count + 1) / 2, s->floor);
    rotate_load(&rotor, s->count, s->h);
    int64_t rotations = rotate_pass(&rotor);
    if (cosine > cosine_far)
        rotations += rotate_pass(&rotor);
    rotate_unload(&rotor, s->count, s->h, s->r);
    return rotations;
}

int64_t small_diagonalise(struct small *s, double cosine)
{
    double rotations;
    double angle = angles(s->count, s->h, s->norm, s->inverse, s->k,
                          &rotations);
    if (rotations == 0.0)
        return 0;
    if (!(angle <= angle_small))
        return rotate_in_turn(s, cosine);
    rotate_at_once(s, angle);
    return (int64_t)rotations;
}
