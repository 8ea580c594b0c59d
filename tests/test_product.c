/* The products of a meeting, against sums in long double. */
#include "noise.h"
#include "product.h"
#include "vector_test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 33 };

/* Two blocks in a row, entries in (-1, 1), and NaN in the rows below: the
 * header of a block is no part of the product. */
struct columns_pair {
    int64_t n, lda;
    double *memory;
    struct block low, high;
};

static struct columns_pair pair_of(int64_t n, int64_t low, int64_t high)
{
    struct columns_pair p = {.n = n, .lda = (n + 8) / 8 * 8 + 8};
    size_t bytes = sizeof(double) * (size_t)(p.lda * (low + high + 1));
    p.memory = aligned_alloc(64, bytes);
    for (int64_t k = 0; k < p.lda * (low + high + 1); k++)
        p.memory[k] = k % p.lda < n && k / p.lda < low + high
                          ? 2.0 * noise_uniform(3, (uint64_t)k) - 1.0
                          : NAN;
    p.low = (struct block){p.memory, low};
    p.high = (struct block){p.memory + low * p.lda, high};
    return p;
}

static long double dot(int64_t n, const double *x, const double *y)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i++)
        sum += (long double)x[i] * y[i];
    return sum;
}

/* At most: unit roundoff for each of the additions that meet in one entry,
 * times the sum of magnitudes, at most n. */
static double bound(int64_t n)
{
    return DBL_EPSILON * (double)n * (8.0 + (double)n / 8.0);
}

static void expect_gram(int64_t n, int64_t low, int64_t high)
{
    struct columns_pair p = pair_of(n, low, high);
    double c[BLOCK * (BLOCK + 1)];
    memset(c, -1, sizeof c); /* NaN */
    product_gram(n, p.lda, p.low, p.high, c, BLOCK + 1);
    for (int64_t j = 0; j < high; j++)
        for (int64_t i = 0; i < low; i++) {
            long double exact = dot(n, p.low.x + i * p.lda,
                                    p.high.x + j * p.lda);
            ck_assert_msg(fabsl(c[i + j * (BLOCK + 1)] - exact) <= bound(n),
                          "n=%d %dx%d (%d,%d): %g, not %Lg", (int)n,
                          (int)low, (int)high, (int)i, (int)j,
                          c[i + j * (BLOCK + 1)], exact);
        }
    for (int64_t k = 0; k < BLOCK * (BLOCK + 1); k++)
        if (k % (BLOCK + 1) >= low || k / (BLOCK + 1) >= high)
            ck_assert_msg(isnan(c[k]), "written outside");
    free(p.memory);
}

START_TEST(gram_is_the_matrix_of_dot_products)
{
    for (int64_t n = 1; n <= 40; n++)
        for (int64_t w = 0; w <= 9; w++)
            for (int64_t v = w > 0 ? w - 1 : 0; v <= w + 1; v++)
                expect_gram(n, v, w);
    const int64_t long_n[] = {511, 512, 513, 1024, 1500};
    for (int k = 0; k < 5; k++)
        for (int64_t w = 1; w <= BLOCK; w += 4)
            expect_gram(long_n[k], w, w);
}
END_TEST

/* R = a matrix without structure; result: X R[:, order]. */
static void expect_update(int64_t n, int64_t low, int64_t high)
{
    int64_t count = low + high, order[2 * BLOCK];
    struct columns_pair p = pair_of(n, low, high);
    size_t bytes = sizeof(double) * (size_t)(p.lda * (count + 1));
    double *before = malloc(bytes);
    double *r = malloc(sizeof(double) * (size_t)(count * count + 1));
    double *tile = calloc((size_t)(TILE_STRIDE * (count + 1)), sizeof *tile);
    double *packed = malloc(sizeof *packed * (size_t)product_doubles(BLOCK));
    memcpy(before, p.memory, bytes);
    for (int64_t k = 0; k < count * count; k++)
        r[k] = 2.0 * noise_uniform(4, (uint64_t)k) - 1.0;
    for (int64_t j = 0; j < count; j++)
        order[j] = (j + 3) % count;
    product_pack(count, r, order, packed);
    product_update(n, p.lda, (struct block_pair){p.low, p.high},
                   (struct block_pair){p.high, p.low}, order, packed, tile);
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < n; i++) {
            long double exact = 0.0L;
            for (int64_t k = 0; k < count; k++)
                exact += (long double)before[i + k * p.lda] *
                         r[k + order[j] * count];
            ck_assert_msg(fabsl(p.memory[i + j * p.lda] - exact) <=
                              DBL_EPSILON * (double)(count * count),
                          "n=%d %d+%d (%d,%d)", (int)n, (int)low, (int)high,
                          (int)i, (int)j);
        }
    for (int64_t k = 0; k < p.lda * (count + 1); k++)
        if (k % p.lda >= n || k / p.lda >= count)
            ck_assert_msg(isnan(p.memory[k]), "written outside");
    free(packed);
    free(tile);
    free(r);
    free(before);
    free(p.memory);
}

START_TEST(update_multiplies_both_blocks_in_the_order_given)
{
    for (int64_t n = 1; n <= 20; n++)
        for (int64_t w = 0; w <= 9; w++)
            for (int64_t v = w > 0 ? w - 1 : 0; v <= w + 1; v++)
                expect_update(n, v, w);
    const int64_t long_n[] = {95, 96, 97, 111, 192, 200, 300};
    for (int k = 0; k < 7; k++)
        for (int64_t w = 1; w <= BLOCK; w += 4)
            expect_update(long_n[k], w, w);
}
END_TEST

/* What the bits of a result rest on: a block's width, and where its columns
 * stand in it, do not matter; nor does which of two columns comes first. */
START_TEST(an_entry_of_gram_has_the_same_bits_wherever_its_columns_stand)
{
    enum { N = 1100 };
    struct columns_pair p = pair_of(N, BLOCK, BLOCK);
    double all[BLOCK * BLOCK], other[BLOCK * BLOCK], one;
    product_gram(N, p.lda, p.low, p.high, all, BLOCK);
    product_gram(N, p.lda, p.high, p.low, other, BLOCK);
    for (int64_t j = 0; j < BLOCK; j++)
        for (int64_t i = 0; i < BLOCK; i++) {
            product_gram(N, p.lda, (struct block){p.low.x + i * p.lda, 1},
                         (struct block){p.high.x + j * p.lda, 1}, &one, 1);
            ck_assert_double_eq(one, all[i + j * BLOCK]);
            ck_assert_double_eq(one, other[j + i * BLOCK]);
        }
    free(p.memory);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("product");
    tcase_add_test(t, gram_is_the_matrix_of_dot_products);
    tcase_add_test(t, update_multiplies_both_blocks_in_the_order_given);
    tcase_add_test(t,
        an_entry_of_gram_has_the_same_bits_wherever_its_columns_stand);
    return run_vector_tests(t);
}
