/* Reference eigenvalues of positive definite matrices: Cholesky and one-sided
 * Jacobi in 113-bit arithmetic, and files of such values. */
#ifndef QUAD_H
#define QUAD_H

#include "mpi_case.h"

/* The numbers of a one-dimensional float64 .npy file, as NumPy writes it. */
static inline void read_values(const char *path, int64_t n, double *values)
{
    FILE *file = fopen(path, "rb");
    unsigned char start[10];
    if (!file || fread(start, 1, 10, file) != 10 ||
        fseek(file, 10 + start[8] + 256 * start[9], SEEK_SET) ||
        fread(values, sizeof *values, (size_t)n, file) != (size_t)n)
        MPI_Abort(MPI_COMM_WORLD, 2);
    fclose(file);
}

typedef __float128 quad;

/* Square root by Newton's iteration from a double's; exponents beyond those
 * of doubles are taken out first. */
static inline quad quad_sqrt(quad x)
{
    quad scale = 1;
    if (!(x > 0))
        return 0;
    for (; x < 1e-200Q; x *= 0x1p200Q)
        scale *= 0x1p-100Q;
    for (; x > 1e200Q; x *= 0x1p-200Q)
        scale *= 0x1p100Q;
    quad y = sqrt((double)x);
    for (int k = 0; k < 3; k++)
        y = (y + x / y) / 2;
    return y * scale;
}

static inline quad quad_dot(int64_t n, const quad *x, const quad *y)
{
    quad sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* q = A with rows and columns by descending diagonal. */
static inline void quad_sorted(int64_t n, const double *a, quad *q)
{
    for (int64_t j = 0; j < n; j++) {
        int64_t place[2] = {0, 0}; /* of row i and of column j */
        for (int64_t i = 0; i < n; i++) {
            const int64_t of[2] = {i, j};
            for (int k = 0; k < 2; k++) {
                double d = a[of[k] + of[k] * n];
                place[k] = 0;
                for (int64_t m = 0; m < n; m++)
                    place[k] += a[m + m * n] > d ||
                                (a[m + m * n] == d && m < of[k]);
            }
            q[place[0] + place[1] * n] = a[i + j * n];
        }
    }
}

/* A = L L^T, columns of L in a. */
static inline void quad_cholesky(int64_t n, quad *a)
{
    for (int64_t j = 0; j < n; j++) {
        quad *x = a + j * n;
        quad pivot = quad_sqrt(x[j]);
        for (int64_t i = 0; i < n; i++)
            x[i] = i < j ? 0 : x[i] / pivot;
        for (int64_t k = j + 1; k < n; k++)
            for (int64_t i = k; i < n; i++)
                a[i + k * n] -= x[i] * x[k];
    }
}

/* One-sided Jacobi, row-cyclic, until all cosines are below 1e-22. */
static inline void quad_jacobi(int64_t n, quad *a)
{
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < 30; sweep++) {
        rotated = false;
        for (int64_t p = 0; p + 1 < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                quad *x = a + p * n, *y = a + q * n;
                quad g = quad_dot(n, x, y), u = quad_dot(n, x, x),
                     v = quad_dot(n, y, y);
                if (g * g <= 1e-44Q * u * v)
                    continue;
                rotated = true;
                quad zeta = (v - u) / (2 * g);
                quad t = (zeta < 0 ? -1 : 1) /
                         ((zeta < 0 ? -zeta : zeta) +
                          quad_sqrt(1 + zeta * zeta));
                quad c = 1 / quad_sqrt(1 + t * t), s = t * c;
                for (int64_t i = 0; i < n; i++) {
                    quad xi = x[i], yi = y[i];
                    x[i] = c * xi - s * yi;
                    y[i] = s * xi + c * yi;
                }
            }
    }
}

static inline int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Eigenvalues of a positive definite source, each correct to the last bit or
 * so, on every rank. */
static inline void quad_eigenvalues(const struct source *source, double *values)
{
    int64_t n = source->n;
    struct failure f = {.status = PEIGH_OK};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *a = must(malloc(sizeof *a * (size_t)(n * n)));
        quad *q = must(malloc(sizeof *q * (size_t)(n * n)));
        if (source->fill(source, 0, n, 0, n, a, n, &f))
            MPI_Abort(MPI_COMM_WORLD, 2);
        quad_sorted(n, a, q);
        quad_cholesky(n, q);
        quad_jacobi(n, q);
        for (int64_t j = 0; j < n; j++)
            values[j] = (double)quad_dot(n, q + j * n, q + j * n);
        qsort(values, (size_t)n, sizeof *values, by_value);
        free(a);
        free(q);
    }
    MPI_Bcast(values, (int)n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

#endif
