/* The small eigenproblem of a meeting, against its definition. */
#include "vector_test.h"
#include "noise.h"
#include "small.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, COUNT_MAX = 2 * BLOCK };

static double *small_memory(void)
{
    size_t bytes = sizeof(double) * (size_t)small_doubles(BLOCK);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/* H = N (I + cosine E) N with E symmetric, zero on its diagonal, at most 1,
 * and N the diagonal matrix of norms 1, 1 + gap, 1 + 2 gap, ... */
static void make(struct small *s, double *memory, int64_t count,
                 double cosine, double gap)
{
    small_start(s, memory, count, 0.0);
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i <= j; i++) {
            double e = noise_normal(5, (uint64_t)(i + 100 * j)) / 4.0;
            double r = i == j ? 1.0 : cosine * fmax(-1.0, fmin(1.0, e));
            s->h[i + j * count] = s->h[j + i * count] =
                r * (1.0 + gap * (double)i) * (1.0 + gap * (double)j);
        }
}

/* Largest entry of R^T R - I. */
static double orthogonality(const struct small *s)
{
    double largest = 0.0;
    for (int64_t j = 0; j < s->count; j++)
        for (int64_t i = 0; i <= j; i++) {
            long double dot = i == j ? -1.0L : 0.0L;
            for (int64_t k = 0; k < s->count; k++)
                dot += (long double)s->r[k + i * s->count] *
                       s->r[k + j * s->count];
            largest = fmax(largest, (double)fabsl(dot));
        }
    return largest;
}

/* Whatever the angles: also where norms agree to a few roundings and cosines
 * are just above them, so that the differences of norms have no digit that
 * is right.  (Those made R lose its orthogonality once: K was not skew.) */
START_TEST(rotations_are_orthogonal_for_all_angles_and_nearly_equal_norms)
{
    double *memory = small_memory();
    for (int64_t count = 1; count <= COUNT_MAX; count++)
        for (double gap = 1.0; gap > 1e-17; gap *= 0.1)
            for (double cosine = 0.1; cosine > 1e-17; cosine *= 0.2) {
                struct small s;
                make(&s, memory, count, cosine, gap);
                double largest = small_cosine(&s, 0);
                if (small_diagonalise(&s, largest) > 0)
                    expect(orthogonality(&s) <= 32 * DBL_EPSILON);
            }
    free(memory);
}
END_TEST

/* Small angles, all at once: what is left of H is of second order, and so is
 * the error of the H that is passed on. */
START_TEST(small_angles_square_the_cosines)
{
    double *memory = small_memory(), before[COUNT_MAX * COUNT_MAX];
    for (double cosine = 1e-3; cosine > 1e-15; cosine *= 0.1) {
        struct small s;
        const int64_t n = COUNT_MAX;
        make(&s, memory, n, cosine, 0.5);
        memcpy(before, s.h, sizeof before);
        double largest = small_cosine(&s, 0);
        expect(small_diagonalise(&s, largest) > 0);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i <= j; i++) {
                long double exact = 0.0L;
                for (int64_t k = 0; k < n; k++)
                    for (int64_t l = 0; l < n; l++)
                        exact += (long double)s.r[k + i * n] *
                                 before[k + l * n] * s.r[l + j * n];
                double scale = sqrt(before[i + i * n] * before[j + j * n]);
                double error = fabs(s.h[i + j * n] - (double)exact);
                expect(error <= scale * (100 * pow(cosine, 3) + 3e-14));
                if (i < j)
                    expect(fabs((double)exact) <=
                           scale * (50 * cosine * cosine + 3e-14));
            }
    }
    free(memory);
}
END_TEST

/* 0/0 elsewhere. */
START_TEST(columns_of_zero_norm_are_left_alone)
{
    double *memory = small_memory();
    struct small s;
    small_start(&s, memory, 4, 0.0);
    memset(s.h, 0, sizeof(double) * 16);
    s.h[5] = 4.0;
    expect(small_cosine(&s, 0) == 0.0);
    expect_eq(small_diagonalise(&s, 0.0), 0);
    expect(s.h[5] == 4.0);
    free(memory);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("small");
    tcase_add_test(
        t, rotations_are_orthogonal_for_all_angles_and_nearly_equal_norms);
    tcase_add_test(t, small_angles_square_the_cosines);
    tcase_add_test(t, columns_of_zero_norm_are_left_alone);
    return run_vector_tests(t);
}
