/* peigh: all eigenvalues and eigenvectors of a dense real symmetric matrix
 * that is spread over MPI ranks by columns.
 *
 *     peigh_options options = peigh_options_default();
 *     peigh_layout layout;
 *     peigh_report report;
 *     peigh_layout_for(n, rank, ranks, &options, &layout);
 *     double *a = malloc(peigh_array_bytes(&layout));
 *     double *values = malloc(peigh_values_bytes(&layout));
 *     // A[i,j] into a[i + (j - layout.first) * layout.lda] for the
 *     // layout.count columns j that this rank owns
 *     peigh_solve(&layout, a, values, comm, &options, &report);
 *     // a now holds the eigenvectors, values the eigenvalues, ascending:
 *     // column j of a belongs to eigenvalue j of the whole spectrum
 *
 * The method is block one-sided Jacobi (Hestenes 1958) in an odd-even
 * round-robin order; see README.md for the outline and the references.
 *
 * Rules that hold for every call:
 *  - Indices and sizes are int64_t and count from 0; memory is in bytes, time
 *    in seconds.
 *  - "Collective" means: every rank of the communicator calls, with the same
 *    n and options.  All ranks return the same status and message; only
 *    after PEIGH_ERR_MPI, when ranks may be out of reach, they may differ.
 *  - The library never prints, exits or aborts, keeps no global state, and
 *    talks on its own duplicate of the caller's communicator. */
#ifndef PEIGH_H
#define PEIGH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEIGH_VERSION "0.1.0"

#define PEIGH_API __attribute__((visibility("default")))

enum {
    PEIGH_ORDER_MAX = 1 << 29, /* largest n */
    PEIGH_SWEEPS_MAX = 64,   /* largest options.max_sweeps */
    PEIGH_BLOCK_MAX = 256,   /* largest options.block */
    PEIGH_MESSAGE_MAX = 512, /* longest message, with its final 0 */
};

/* What a call returns, on every rank the same. */
typedef enum peigh_status {
    PEIGH_OK = 0,
    PEIGH_ERR_ARGUMENT,       /* an argument or option is out of range */
    PEIGH_ERR_NOT_FINITE,     /* NaN or infinity in the matrix or result */
    PEIGH_ERR_NOT_SYMMETRIC,  /* message: the worst pair of entries */
    PEIGH_ERR_NOT_DEFINITE,   /* message: the pivot that is not positive */
    PEIGH_ERR_MEMORY,         /* message: what was needed */
    PEIGH_ERR_NO_CONVERGENCE, /* message: sweeps, remaining cosine */
    PEIGH_ERR_RESULT,         /* the result failed the solver's own check */
    PEIGH_ERR_IO,             /* the program only: files */
    PEIGH_ERR_MPI,            /* message: MPI's reason */
    PEIGH_ERR_INTERRUPTED,    /* the program only: by a signal */
} peigh_status;

/* Which entries of the matrix are read. */
typedef enum peigh_uplo {
    PEIGH_FULL = 0, /* both triangles; refused if they disagree */
    PEIGH_LOWER,    /* i >= j; the entries above are never looked at */
    PEIGH_UPPER,    /* i <= j; the entries below are never looked at */
} peigh_uplo;

/* Is the matrix positive definite? */
typedef enum peigh_definite {
    PEIGH_DEFINITE_AUTO = 0, /* find out: by its Cholesky factor if it has
                              * one, up to a shift at the level of rounding;
                              * else by a shift */
    PEIGH_DEFINITE_YES,      /* it is, the caller vouches: without a shift;
                              * PEIGH_ERR_NOT_DEFINITE if a pivot is not
                              * positive.  See report.relative */
    PEIGH_DEFINITE_NO,       /* do not try: straight to the shift */
} peigh_definite;

/* What a sweep did, for the progress callback. */
typedef struct peigh_sweep {
    int sweep;          /* 1, 2, ... */
    double off_norm;    /* largest |cosine| between two columns that met */
    int64_t rotations;  /* rotations of the sweep, all ranks together */
    double seconds;     /* time of this sweep, slowest rank */
    double remaining;   /* estimate of the seconds left */
} peigh_sweep;

/* Options, by value.  Start from peigh_options_default(). */
typedef struct peigh_options {
    int64_t block;    /* columns per block, 1 .. PEIGH_BLOCK_MAX;
                       * default 0: peigh_default_block(n) */
    double tol;       /* two columns count as orthogonal when the cosine of
                       * their angle is at most tol; 0 < tol < 1;
                       * default 0: 1.2e-15, rising slowly beyond n = 4096,
                       * less below n = 15.  Where rounding keeps cosines
                       * above it, they may end at up to 2 n eps */
    int max_sweeps;   /* give up after so many, 1 .. PEIGH_SWEEPS_MAX;
                       * default 30 */
    peigh_uplo uplo;  /* default PEIGH_FULL */
    peigh_definite definite; /* default PEIGH_DEFINITE_AUTO */
    bool symmetrize;  /* replace A by (A + A^T)/2 instead of refusing it;
                       * only with PEIGH_FULL; default false */
    void (*progress)(void *context, const peigh_sweep *sweep);
                      /* called after each sweep on the ranks that set it;
                       * default NULL */
    void *progress_context; /* handed to progress; the caller's */
} peigh_options;

/* Which columns a rank owns and the room it must give them.  A function of
 * the arguments of peigh_layout_for alone: no communication. */
typedef struct peigh_layout {
    int64_t n;         /* order of the matrix */
    int rank, ranks;   /* this rank, number of ranks */
    int64_t block;     /* block width in use */
    int64_t blocks;    /* number of column blocks, even */
    int64_t first;     /* the rank owns columns first .. first + count - 1 */
    int64_t count;
    int64_t capacity;  /* columns of room, >= count: blocks of a neighbour
                        * may be one column wider */
    int64_t lda;       /* stride between columns in doubles: n rows, then
                        * room for the column's header, then padding */
} peigh_layout;

/* Bytes of one rank, the largest over ranks. */
typedef struct peigh_memory {
    int64_t owned_bytes;     /* the caller's array: capacity * lda doubles */
    int64_t workspace_bytes; /* what peigh_solve allocates besides; depends
                              * on the block width, not on n or ranks */
} peigh_memory;

/* What a run did.  Filled on every rank, the same everywhere. */
typedef struct peigh_report {
    peigh_status status;
    char message[PEIGH_MESSAGE_MAX]; /* "" when status is PEIGH_OK */
    int64_t n, block, blocks;
    int ranks;
    int active_ranks;           /* ranks that own columns */
    int sweeps;                 /* the last one finds nothing to rotate */
    double off_norm[PEIGH_SWEEPS_MAX]; /* per sweep, as in peigh_sweep */
    int64_t rotations;
    bool cholesky;              /* worked on the Cholesky factor of
                                 * A + shift I; else on A + shift I itself */
    bool relative;              /* each eigenvalue is accurate relative to
                                 * itself, as far as the entries determine
                                 * it; else to n eps ||A||.  False, too, for
                                 * a factor with a pivot at the level of
                                 * rounding: singular for all we know */
    double shift;               /* sigma, 0 when relative */
    double asymmetry;           /* PEIGH_FULL: largest |a_ij - a_ji| found */
    peigh_memory memory;        /* as allocated; equals peigh_memory_for
                                 * unless the caller made lda larger */
    int64_t messages;           /* sent inside the sweeps, largest over ranks */
    int64_t bytes_sent;
    struct {                    /* largest over ranks */
        double setup;    /* input checks, scaling, shift */
        double solve;    /* all of peigh_solve */
        double gram, rotate, update, exchange; /* inside the sweeps */
    } seconds;
} peigh_report;

/* The defaults named at peigh_options.  Local. */
PEIGH_API peigh_options peigh_options_default(void);

/* The block width used for order n when options.block is 0.  Local; a
 * function of n alone, so that the default gives the same bits on any number
 * of ranks. */
PEIGH_API int64_t peigh_default_block(int64_t n);

/* The layout of an n x n matrix for one rank of `ranks`.  Local, pure.
 *
 *   n        order, >= 0
 *   rank     0 .. ranks - 1
 *   options  block is read; NULL means the defaults
 *   layout   filled in
 *
 * Returns PEIGH_OK, or PEIGH_ERR_ARGUMENT (layout is then zeroed). */
PEIGH_API peigh_status peigh_layout_for(int64_t n, int rank, int ranks,
                                        const peigh_options *options,
                                        peigh_layout *layout);

/* Bytes to allocate for the column array and for the rank's eigenvalues;
 * never 0, so that malloc's NULL means failure.  Local. */
PEIGH_API size_t peigh_array_bytes(const peigh_layout *layout);
PEIGH_API size_t peigh_values_bytes(const peigh_layout *layout);

/* Memory that a solve will take on the rank that takes most, known before
 * anything is allocated.  Local, pure; arguments as peigh_layout_for. */
PEIGH_API peigh_status peigh_memory_for(int64_t n, int ranks,
                                        const peigh_options *options,
                                        peigh_memory *memory);

/* The two questions behind a plan.  Local, pure.  bytes: what one rank may
 * take for the column array, its eigenvalues and the workspace together; MPI
 * and the program come on top.
 *
 * peigh_ranks_for: the fewest ranks on which order n fits, 0 if on none.
 * peigh_order_for: the largest n that fits on so many ranks, -1 if none. */
PEIGH_API int peigh_ranks_for(int64_t n, int64_t bytes,
                              const peigh_options *options);
PEIGH_API int64_t peigh_order_for(int ranks, int64_t bytes,
                                  const peigh_options *options);

/* All eigenvalues and eigenvectors, in place.  Collective over comm.
 *
 *   layout   from peigh_layout_for with this rank's number in comm and the
 *            size of comm; lda may be made larger, on all ranks alike.
 *            layout->block is what counts: options->block must be 0 or the
 *            same
 *   a        capacity columns of stride lda, owned by the caller.  In: rows
 *            0 .. n-1 of the first count columns are the matrix's columns
 *            first .. first + count - 1 (see options.uplo); the rest need
 *            not be set.  Out: the eigenvectors of the same numbers, unit
 *            length, one to a column; the rest is scratch.  After an error:
 *            undefined.  May be NULL where count is 0.
 *   values   count doubles, owned by the caller; NULL where count is 0.
 *            Out: eigenvalues number first .. first + count - 1 of the
 *            ascending spectrum, in the unit of the matrix.
 *   comm     any intracommunicator; duplicated, not kept.  Errors of that
 *            duplication go to the caller's error handler
 *   options  NULL means the defaults
 *   report   filled in on every rank; may be NULL
 *
 * Eigenvalues are accurate to n eps ||A||_2, and those of a positive definite
 * matrix relative to themselves (report.relative); the same bits come out for
 * every number of ranks at equal block width (on processors of one type: the
 * BLAS and the vector code round differently on others).
 *
 * Methods: one-sided Jacobi, M. R. Hestenes 1958; rotation formulas, H.
 * Rutishauser 1966; norm-ordered columns, P. P. M. de Rijk 1989; shift from
 * Lanczos bounds, C. Lanczos 1950, J. Kuczynski & H. Wozniakowski 1992;
 * Cholesky factor, K. Veselic & V. Hari 1989, J. Demmel & K. Veselic 1992. */
PEIGH_API peigh_status peigh_solve(const peigh_layout *layout, double *a,
                                   double *values, MPI_Comm comm,
                                   const peigh_options *options,
                                   peigh_report *report);

/* Collect the whole spectrum on every rank.  Collective over comm.
 *
 *   values  this rank's part, as peigh_solve left it
 *   all     n doubles, owned by the caller; same bits on every rank
 *
 * Returns PEIGH_OK, PEIGH_ERR_MPI, or PEIGH_ERR_ARGUMENT for a layout that
 * is not this rank's. */
PEIGH_API peigh_status peigh_gather_values(const peigh_layout *layout,
                                           const double *values, double *all,
                                           MPI_Comm comm);

/* A few words for a status, static. */
PEIGH_API const char *peigh_status_text(peigh_status status);

#ifdef __cplusplus
}
#endif
#endif
