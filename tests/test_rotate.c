/* The small Jacobi and the meeting of two blocks, on one process. */
#include "vector_test.h"
#include "memory.h"
#include "noise.h"
#include "pair.h"
#include "rotate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_MAX = 20, SIZE_MAX_ = 2 * HALF_MAX };

/* A Gram matrix of columns with norms that span `decades`. */
static void make_gram(int64_t size, double decades, double h[][SIZE_MAX_])
{
    double x[SIZE_MAX_][SIZE_MAX_ + 3];
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i < size + 3; i++)
            x[j][i] = noise_normal(3, (uint64_t)(i + 100 * j)) *
                      pow(10.0, -decades * (double)j / (double)size);
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i < size; i++) {
            h[i][j] = 0.0;
            for (int64_t k = 0; k < size + 3; k++)
                h[i][j] += x[i][k] * x[j][k];
        }
}

/* The scalar reference: the same rotations, one after another, in the order
 * of the odd-even line, on plain arrays and with more digits. */
static void reference_pass(int64_t size, long double h[][SIZE_MAX_],
                           long double r[][SIZE_MAX_], int64_t *line)
{
    for (int64_t round = 0; round < size; round++)
        for (int64_t p = round % 2; p + 1 < size; p += 2) {
            int64_t i = line[p], j = line[p + 1];
            line[p] = j;
            line[p + 1] = i;
            long double zeta = (h[j][j] - h[i][i]) / (2.0L * h[i][j]);
            long double t = (zeta < 0.0L ? -1.0L : 1.0L) /
                            (fabsl(zeta) + sqrtl(1.0L + zeta * zeta));
            if (fabsl(h[i][j]) <= 1e-16L * sqrtl(h[i][i] * h[j][j]))
                continue;
            long double c = 1.0L / sqrtl(1.0L + t * t), s = t * c;
            for (int64_t k = 0; k < size; k++) {
                long double x = h[i][k], y = h[j][k];
                h[i][k] = c * x - s * y;
                h[j][k] = s * x + c * y;
            }
            for (int64_t k = 0; k < size; k++) {
                long double x = h[k][i], y = h[k][j], u = r[k][i], v = r[k][j];
                h[k][i] = c * x - s * y;
                h[k][j] = s * x + c * y;
                r[k][i] = c * u - s * v;
                r[k][j] = s * u + c * v;
            }
        }
}

static struct rotor start(double *memory, int64_t half,
                          double h[][SIZE_MAX_])
{
    struct rotor rotor;
    rotate_start(&rotor, memory, half, 0.0);
    for (int64_t j = 0; j < 2 * half; j++)
        for (int64_t i = 0; i < 2 * half; i++)
            *rotate_gram(&rotor, i, j) = h[i][j];
    return rotor;
}

static double *rotor_memory(void)
{
    size_t bytes = sizeof(double) * (size_t)rotate_doubles(HALF_MAX);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/* Each pass from where the vector code stands: columns of nearly equal norms
 * amplify what earlier passes rounded. */
static void expect_reference_pass(struct rotor *rotor, int64_t *line)
{
    int64_t size = 2 * rotor->half;
    long double h[SIZE_MAX_][SIZE_MAX_], r[SIZE_MAX_][SIZE_MAX_];
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i < size; i++) {
            h[i][j] = *rotate_gram(rotor, i, j);
            r[i][j] = rotate_rotation(rotor, i, j);
        }
    rotate_pass(rotor);
    reference_pass(size, h, r, line);
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i < size; i++) {
            expect(fabsl(rotate_rotation(rotor, i, j) - r[i][j]) <= 1e-13L);
            expect(fabsl(*rotate_gram(rotor, i, j) - h[i][j]) <= 1e-11L);
        }
}

START_TEST(vector_code_makes_the_rotations_of_the_scalar_reference)
{
    double *memory = rotor_memory(), h[SIZE_MAX_][SIZE_MAX_];
    for (int64_t half = 1; half <= HALF_MAX; half++) {
        int64_t line[SIZE_MAX_];
        make_gram(2 * half, 0.0, h);
        struct rotor rotor = start(memory, half, h);
        for (int64_t k = 0; k < 2 * half; k++)
            line[k] = k;
        for (int pass = 0; pass < 3; pass++)
            expect_reference_pass(&rotor, line);
    }
    free(memory);
}
END_TEST

START_TEST(rotations_are_orthogonal_and_make_the_matrix_diagonal)
{
    double *memory = rotor_memory(), h[SIZE_MAX_][SIZE_MAX_];
    for (int64_t half = 1; half <= HALF_MAX; half++) {
        make_gram(2 * half, 0.0, h);
        struct rotor rotor = start(memory, half, h);
        for (int pass = 0; pass < 12; pass++)
            rotate_pass(&rotor);
        expect(rotate_cosine(&rotor, true) <= 1e-16);
        expect_eq(rotate_pass(&rotor), 0);
        for (int64_t j = 0; j < 2 * half; j++)
            for (int64_t i = 0; i <= j; i++) {
                double dot = i == j ? -1.0 : 0.0;
                for (int64_t k = 0; k < 2 * half; k++)
                    dot += rotate_rotation(&rotor, k, i) *
                           rotate_rotation(&rotor, k, j);
                expect(fabs(dot) <= 20 * DBL_EPSILON);
            }
    }
    free(memory);
}
END_TEST

/* Columns whose norms differ by 1e120 in all become orthogonal in the
 * relative sense, without over- or underflow. */
START_TEST(norm_ratios_of_1e60_between_columns_are_handled)
{
    double *memory = rotor_memory(), h[SIZE_MAX_][SIZE_MAX_];
    const int64_t half = 8;
    make_gram(2 * half, 120.0, h);
    struct rotor rotor = start(memory, half, h);
    for (int pass = 0; pass < 12; pass++)
        rotate_pass(&rotor);
    double cosine = rotate_cosine(&rotor, true);
    expect(cosine <= 1e-16);
    for (int64_t k = 0; k < 2 * half; k++)
        expect(*rotate_gram(&rotor, k, k) > 0.0);
    free(memory);
}
END_TEST

/* A zero column has no angle with any other: 0/0 elsewhere. */
START_TEST(zero_columns_are_left_alone)
{
    double *memory = rotor_memory(), h[SIZE_MAX_][SIZE_MAX_] = {{0}};
    h[1][1] = 4.0;
    struct rotor rotor = start(memory, 2, h);
    expect_eq(rotate_pass(&rotor), 0);
    expect(rotate_cosine(&rotor, true) == 0.0);
    expect(*rotate_gram(&rotor, 1, 1) == 4.0);
    free(memory);
}
END_TEST

/* --- meetings ---------------------------------------------------------- */

enum { ROWS = 300, BLOCK = 7, HEADER = 8, LDA = ROWS + HEADER };

struct blocks_of_two {
    double x[2 * BLOCK][LDA];
    struct workspace w;
    struct pair_setting setting;
    struct block low, high;
};

static struct blocks_of_two *two_blocks(int64_t low, int64_t high)
{
    struct failure f = {.status = PEIGH_OK};
    struct blocks_of_two *b = calloc(1, sizeof *b);
    for (int64_t j = 0; j < 2 * BLOCK; j++)
        for (int64_t i = 0; i < ROWS; i++)
            b->x[j][i] = noise_normal(9, (uint64_t)(i + ROWS * j));
    expect(workspace_open(&b->w, BLOCK, &f) == PEIGH_OK);
    b->setting = (struct pair_setting){
        .n = ROWS, .lda = LDA, .tol = 3e-15, .w = &b->w,
        .sweep_steps = 1, .changed_row = LDA - 1};
    b->low = (struct block){b->x[0], low};
    b->high = (struct block){b->x[BLOCK], high};
    return b;
}

static double dot(const double *x, const double *y)
{
    long double sum = 0.0;
    for (int64_t i = 0; i < ROWS; i++)
        sum += (long double)x[i] * y[i];
    return (double)sum;
}

START_TEST(meetings_make_blocks_of_any_widths_orthogonal_and_sorted)
{
    for (int64_t low = 0; low <= BLOCK; low++)
        for (int64_t high = low > 0 ? low - 1 : 0;
             high <= low + 1 && high <= BLOCK; high++) {
            struct blocks_of_two *b = two_blocks(low, high);
            struct pair_work work = {0};
            for (int k = 0; k < 12; k++)
                pair_meet(&b->setting, b->low, b->high, true, &work);
            struct pair_work before_last = work;
            pair_meet(&b->setting, b->low, b->high, true, &work);
            expect_eq(work.rotations, before_last.rotations);
            expect_eq(work.moved, before_last.moved);
            double before = 0.0;
            for (int64_t j = 0; j < low + high; j++) {
                double *x = b->x[j < low ? j : BLOCK + j - low];
                double norm = sqrt(column_square(ROWS, x));
                expect(norm >= before);
                before = norm;
                for (int64_t i = 0; i < j; i++) {
                    double *y = b->x[i < low ? i : BLOCK + i - low];
                    expect(fabs(dot(x, y)) <= 4e-15 * norm *
                           sqrt(column_square(ROWS, y)));
                }
            }
            workspace_close(&b->w);
            free(b);
        }
}
END_TEST

START_TEST(orthogonal_columns_out_of_order_are_moved_to_the_bit)
{
    struct blocks_of_two *b = two_blocks(3, 3);
    struct pair_work work = {0};
    const double size[6] = {3.0, 5.0, 1.0, 2.0, 6.0, 4.0};
    memset(b->x, 0, sizeof b->x);
    for (int64_t j = 0; j < 6; j++)
        b->x[j < 3 ? j : BLOCK + j - 3][10 * j] = size[j] / 3.0;
    pair_meet(&b->setting, b->low, b->high, true, &work);
    expect_eq(work.rotations, 0);
    expect_eq(work.moved, 1);
    for (int64_t j = 0; j < 6; j++) {
        double square = column_square(ROWS, b->x[j < 3 ? j : BLOCK + j - 3]);
        double third = (double)(j + 1) / 3.0;
        expect(square == third * third);
    }
    workspace_close(&b->w);
    free(b);
}
END_TEST

/* The Gram matrix that travels with a block stays that of its columns. */
START_TEST(carried_gram_matrices_stay_true)
{
    struct blocks_of_two *b = two_blocks(5, 6);
    struct pair_work work = {0};
    pair_meet(&b->setting, b->low, b->high, true, &work);
    pair_meet(&b->setting, b->low, b->high, false, &work);
    for (int64_t j = 0; j < 5; j++)
        for (int64_t i = 0; i < 5; i++)
            expect(fabs(b->x[j][ROWS + i] - dot(b->x[i], b->x[j])) <=
                   1e-11);
    workspace_close(&b->w);
    free(b);
}
END_TEST

/* Told that nothing has changed since they last met, they are not looked at:
 * not even when it is a lie. */
START_TEST(blocks_unchanged_since_they_last_met_are_passed_over)
{
    struct blocks_of_two *b = two_blocks(4, 4);
    struct pair_work work = {0};
    b->setting.sweep_steps = 10;
    b->setting.step = 10;
    pair_meet(&b->setting, b->low, b->high, true, &work);
    expect(work.rotations > 0);
    expect(b->low.x[b->setting.changed_row] == 10.0);
    expect(b->high.x[b->setting.changed_row] == 10.0);
    for (b->setting.step = 11; b->setting.step <= 21; b->setting.step++) {
        b->x[0][0] += 1.0;
        work = (struct pair_work){0};
        pair_meet(&b->setting, b->low, b->high, true, &work);
        bool met = b->setting.step <= 20;
        expect((work.off_norm > 0.0) == met);
        b->low.x[b->setting.changed_row] = 10.0;
        b->high.x[b->setting.changed_row] = 10.0;
    }
    workspace_close(&b->w);
    free(b);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("rotate");
    tcase_add_test(t, blocks_unchanged_since_they_last_met_are_passed_over);
    tcase_add_test(t,
                   vector_code_makes_the_rotations_of_the_scalar_reference);
    tcase_add_test(t, rotations_are_orthogonal_and_make_the_matrix_diagonal);
    tcase_add_test(t, norm_ratios_of_1e60_between_columns_are_handled);
    tcase_add_test(t, zero_columns_are_left_alone);
    tcase_add_test(t,
                   meetings_make_blocks_of_any_widths_orthogonal_and_sorted);
    tcase_add_test(t, orthogonal_columns_out_of_order_are_moved_to_the_bit);
    tcase_add_test(t, carried_gram_matrices_stay_true);
    return run_vector_tests(t);
}
