/* Residual and orthogonality of a result that no rank can hold.
 *
 *     residual       max_j ||A z_j - lambda_j z_j||_2 / (n eps ||A||)
 *     orthogonality  ||Z^T Z - I||_F / (n eps),          eps = 2^-52
 *
 * Every rank keeps its own columns Z_own.  A tile of columns I of A and of Z
 * passes by (stream.h), and rows I of two products come out of it; the first
 * by the symmetry of A:
 *
 *     W = A[:,I]^T Z_own      = (A Z)[I, own]
 *     S = Z[:,I]^T Z_own      = (Z^T Z)[I, own]
 *
 * Squares of W_ij - lambda_j z_ij are summed per own column j, squares of
 * S_ij - delta_ij into one number.  Memory: the piece, W and S (each
 * STREAM_COLUMNS x count) and one number per own column.
 *
 * A and lambda are multiplied by the power of two that brings ||A|| into
 * [1, 2), so that squares neither over- nor underflow.  NaN anywhere in A, Z
 * or lambda makes the measures NaN: maxima are taken by max_or_nan. */
#include "stream.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct check {
    struct ring *ring;
    const peigh_layout *layout;
    const struct matrix *matrix;
    const double *z, *values;
    double norm;      /* 2^exponent ||A||, in [1, 2) */
    int exponent;
    double *w, *s;    /* W and S of the current tile, stride STREAM_COLUMNS */
    double *residual; /* per own column, the sum of squares so far */
    double orthogonality; /* sum of squares so far, own columns */
};

/* Doubles that verify_result keeps on a rank with `count` columns, besides
 * the stream's: W, S and the sums. */
static int64_t check_doubles(int64_t count)
{
    return count * (2 * STREAM_COLUMNS + 1);
}

static int64_t bytes_needed(int64_t n, int64_t count, bool random_access,
                            bool mirrored, bool known)
{
    return stream_bytes(n, count, random_access, mirrored, true)
         + (check_doubles(count) + (known ? n : 0)) * (int64_t)sizeof(double);
}

int64_t verify_bytes(const peigh_layout *layout, bool random_access,
                     bool mirrored)
{
    peigh_options options = peigh_options_default();
    peigh_layout first; /* rank 0 has the most columns */
    options.block = layout->block;
    if (peigh_layout_for(layout->n, 0, layout->ranks, &options, &first))
        return 0;
    return bytes_needed(first.n, first.count, random_access, mirrored, true);
}

/* ||A|| and the scale.  With ||A|| = 0 every entry of A must be 0: any other
 * one, down to 2^-1074, is scaled up to be seen, and ||A|| counts as 1. */
static peigh_status find_norm(struct check *c, struct failure *f)
{
    double norm = largest_magnitude(c->values, c->layout->count);
    if (max_over_ranks(c->ring, &norm, 1, f))
        return f->status;
    if (norm > 0 && isfinite(norm))
        c->exponent = -ilogb(norm);
    else
        c->exponent = norm == 0 ? 1074 : 0;
    c->norm = norm == 0 ? 1 : ldexp(norm, c->exponent);
    return PEIGH_OK;
}

/* lambda_0 <= lambda_1 <= ... : in order on every rank, and no rank's first
 * below the last of any rank before it. */
static peigh_status check_order(struct check *c, bool *ascending,
                                struct failure *f)
{
    int64_t count = c->layout->count;
    const double *x = c->values;
    bool good = true;
    for (int64_t j = 0; j < count; j++)
        good = good && (j > 0 ? x[j - 1] <= x[j] : !isnan(x[j]));

    double last = good && count > 0 ? x[count - 1] : -INFINITY;
    double before = -INFINITY;
    if (MPI_Exscan(&last, &before, 1, MPI_DOUBLE, MPI_MAX, c->ring->comm))
        fail(f, PEIGH_ERR_MPI, "MPI_Exscan failed in the check of the order");
    if (ring_agree(c->ring, f))
        return f->status;
    if (c->ring->rank > 0 && count > 0)
        good = good && before <= x[0];

    int64_t bad = !good;
    if (ring_max_int64(c->ring, &bad, 1, f))
        return f->status;
    *ascending = bad == 0;
    return PEIGH_OK;
}

/* max_j |lambda_j - exact_j| / (n eps ||A||), where exact_j is known. */
static peigh_status check_known(struct check *c, double *known_error,
                                struct failure *f)
{
    const struct source *source = c->matrix->source;
    const peigh_layout *layout = c->layout;
    if (!source->eigenvalues || layout->n == 0) {
        *known_error = source->eigenvalues ? 0 : NAN;
        return PEIGH_OK;
    }
    double *exact = malloc((size_t)layout->n * sizeof *exact);
    if (!exact)
        fail(f, PEIGH_ERR_MEMORY,
             "no memory for %lld known eigenvalues", (long long)layout->n);
    if (ring_agree(c->ring, f))
        goto cleanup;
    source->eigenvalues(source, exact);
    double error = 0;
    for (int64_t j = 0; j < layout->count; j++) {
        double difference = c->values[j] - exact[layout->first + j];
        error = max_or_nan(error, fabs(ldexp(difference, c->exponent)));
    }
    max_over_ranks(c->ring, &error, 1, f);
    *known_error = error / ((double)layout->n * DBL_EPSILON * c->norm);
cleanup:
    free(exact);
    return f->status;
}

/* W += A[rows,I]^T Z_own[rows,:], S likewise. */
static void multiply(struct check *c, const struct stream *piece)
{
    const peigh_layout *layout = c->layout;
    int rows = (int)(piece->i1 - piece->i0);
    int width = (int)(piece->j1 - piece->j0);
    int count = (int)layout->count, lda = (int)layout->lda;
    double beta = piece->i0 == 0 ? 0 : 1;
    const double *z = c->z + piece->i0;

    if (count == 0)
        return;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, count, rows,
                1, piece->a, rows, z, lda, beta, c->w, STREAM_COLUMNS);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, count, rows,
                1, piece->z, rows, z, lda, beta, c->s, STREAM_COLUMNS);
}

/* W and S are complete for rows I = j0 .. j1 - 1: add their squares. */
static void add_squares(struct check *c, const struct stream *piece)
{
    const peigh_layout *layout = c->layout;
    for (int64_t j = 0; j < layout->count; j++) {
        const double *z = c->z + j * layout->lda;
        double lambda = ldexp(c->values[j], c->exponent);
        for (int64_t i = piece->j0; i < piece->j1; i++) {
            int64_t k = (i - piece->j0) + j * STREAM_COLUMNS;
            double r = c->w[k] - lambda * z[i];
            double s = c->s[k] - (i == layout->first + j ? 1 : 0);
            c->residual[j] += r * r;
            c->orthogonality += s * s;
        }
    }
}

static peigh_status check_vectors(struct check *c, struct verification *v,
                                  struct failure *f)
{
    struct stream piece;
    int64_t n = c->layout->n;
    if (stream_open(&piece, c->ring, c->layout, c->matrix, c->exponent, c->z,
                    f))
        goto cleanup;
    while (stream_next(&piece, f)) {
        multiply(c, &piece);
        if (piece.i1 == n)
            add_squares(c, &piece);
    }
    if (failed(f))
        goto cleanup;

    double unit = n > 0 ? (double)n * DBL_EPSILON : 1;
    double residual = 0;
    for (int64_t j = 0; j < c->layout->count; j++)
        residual = max_or_nan(residual, sqrt(c->residual[j]));
    if (max_over_ranks(c->ring, &residual, 1, f)
        || ring_sum_double(c->ring, &c->orthogonality, 1, f))
        goto cleanup;
    /* An eigenvalue is stored to half of the smallest double at best. */
    residual = max_or_nan(0, residual - ldexp(1, c->exponent - 1075));
    v->residual = residual / (unit * c->norm);
    v->orthogonality = sqrt(c->orthogonality) / unit;
cleanup:
    stream_close(&piece);
    return f->status;
}

static peigh_status allocate(struct check *c, struct failure *f)
{
    int64_t count = c->layout->count;
    size_t doubles = (size_t)check_doubles(count);
    c->residual = calloc(doubles ? doubles : 1, sizeof(double));
    if (!c->residual)
        fail(f, PEIGH_ERR_MEMORY, "no memory to check the result: %lld bytes",
             (long long)(doubles * sizeof(double)));
    else {
        c->w = c->residual + count;
        c->s = c->w + count * STREAM_COLUMNS;
    }
    return ring_agree(c->ring, f);
}

peigh_status verify_result(struct ring *ring, const peigh_layout *layout,
                           const struct matrix *matrix, const double *z,
                           const double *values, struct verification *v,
                           struct failure *f)
{
    double start = MPI_Wtime();
    struct check c = { .ring = ring, .layout = layout, .matrix = matrix,
                       .z = z, .values = values };
    *v = (struct verification){ .residual = NAN, .orthogonality = NAN,
                                .known_error = NAN };
    if (allocate(&c, f)
        || find_norm(&c, f)
        || check_order(&c, &v->ascending, f)
        || check_known(&c, &v->known_error, f)
        || check_vectors(&c, v, f))
        goto cleanup;

    const struct source *source = matrix->source;
    v->bytes = bytes_needed(layout->n, layout->count, source->random_access,
                            matrix_is_mirrored(matrix),
                            source->eigenvalues != NULL);
    v->seconds = MPI_Wtime() - start;
    if (!ring_max_int64(ring, &v->bytes, 1, f))
        ring_max_double(ring, &v->seconds, 1, f);
cleanup:
    free(c.residual);
    return f->status;
}
