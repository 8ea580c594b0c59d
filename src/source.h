/* Where a matrix comes from.  A source can fill any rectangle of the matrix
 * into memory that the caller owns, in bounded memory of its own; every rank
 * opens the source for itself and asks for its own columns only. */
#ifndef SOURCE_H
#define SOURCE_H

#include "failure.h"

struct progress;

struct source {
    int64_t n;           /* order of the matrix */
    bool random_access;  /* a rectangle costs what it holds; false: each
                          * fill reads the whole file (text formats) */
    char name[PEIGH_MESSAGE_MAX]; /* for reports and messages */
    void *state;         /* the source's own */
    int64_t buffer_bytes; /* what it takes while it fills, at most; 0 if that
                           * is not worth a line in the plan */
    int64_t bytes_per_column; /* what it keeps, times the order */
    int64_t band;        /* columns to ask for at a time when a rank's own
                          * are read (see fill.c); 0: all of them at once */
    struct progress *progress; /* NULL, or to be told how far a fill is */

    /* A[i,j] for i0 <= i < i1, j0 <= j < j1 into
     * a[(i - i0) + (j - j0) * lda]; every entry of the rectangle is set.
     * Values are passed on as they are, NaN included. */
    peigh_status (*fill)(const struct source *source, int64_t i0, int64_t i1,
                         int64_t j0, int64_t j1, double *a, int64_t lda,
                         struct failure *f);

    /* NULL, or: the same of A^T, A[j,i] in the place of A[i,j].  Set where
     * the rows of A lie together in the file, so that this is the quick
     * way. */
    peigh_status (*fill_mirrored)(const struct source *source, int64_t i0,
                                  int64_t i1, int64_t j0, int64_t j1,
                                  double *a, int64_t lda, struct failure *f);

    /* The eigenvalues where a closed form is known, ascending, into w[n];
     * NULL where none is. */
    void (*eigenvalues)(const struct source *source, double *w);

    void (*close)(struct source *source); /* frees state; never NULL after
                                           * a successful open */
};

/* Open what the user named: "gallery:NAME[,key=value...]", FILE.npy, FILE.mtx
 * or FILE.h5:/DATASET.  n and seed are for the gallery (n < 0: the entry's
 * default order; a file's order must equal n when n >= 0).  On failure the
 * source needs no close. */
peigh_status source_open(struct source *source, const char *spec, int64_t n,
                         uint64_t seed, struct failure *f);

/* What the user said of a file without a header: --raw. */
struct raw {
    int item;       /* bytes per entry, 8 or 4; 0: not said */
    bool swap;      /* not the machine's byte order */
    bool vouched;   /* the byte order was given, not assumed */
    bool by_columns;
    int64_t n, offset;
};

/* TYPE,ORDER[,OFFSET[,C|F]].  What is wrong with it is a failure with
 * PEIGH_ERR_ARGUMENT. */
peigh_status raw_read(struct raw *raw, const char *text, struct failure *f);

/* Open a file without a header, under any name; n as for source_open. */
peigh_status source_open_raw(struct source *source, const char *path,
                             const struct raw *raw, int64_t n,
                             struct failure *f);

void source_close(struct source *source);

/* Close the source and fail unless it has order n, or n < 0. */
peigh_status source_check_order(struct source *source, int64_t n,
                                struct failure *f);

/* The openers behind source_open, one per file. */
peigh_status source_open_npy(struct source *source, const char *path,
                             struct failure *f);
peigh_status source_open_mtx(struct source *source, const char *path,
                             struct failure *f);
peigh_status source_open_hdf5(struct source *source, const char *name,
                              struct failure *f);
peigh_status source_open_streamed(struct source *source, const char *text,
                                  struct failure *f);
peigh_status source_open_gallery(struct source *source, const char *spec,
                                 int64_t n, uint64_t seed, struct failure *f);

/* One line per gallery entry, for --help and the error message. */
const char *gallery_help(void);

#endif
