/* What a run prints: progress, the table at the end, JSON. */
#ifndef REPORT_H
#define REPORT_H

#include "allowance.h"
#include "plan.h"
#include "resident.h"

#include <stdio.h>

/* All that is known of a run, filled in as it goes on. */
struct run {
    const char *matrix;
    peigh_report solver;
    struct plan plan;
    struct allowance allowance;
    int64_t resident_bytes;     /* MPI, BLAS, program; before the columns */
    int fewest_ranks;           /* answers to --plan --mem */
    int64_t largest_order;
    int64_t from, to;           /* pairs from .. to - 1 are written */
    bool planned_only;
    bool yields;                /* ranks share cores and yield when idle */
    bool checked, compared;
    struct verification verification;
    struct comparison comparison;
    int64_t peak_rss_bytes;     /* largest over ranks, after the solve */
    int64_t baseline_rss_bytes; /* before the columns were allocated */
    struct {
        int written, failed;
        int64_t bytes;          /* of a file; 0: none is asked for */
    } checkpoints;
    struct {
        const char *from;       /* NULL: it began with the matrix */
        bool older;             /* from.old, in truth */
        int sweep;              /* in which it went on ... */
        int64_t step;           /* ... after so many steps in all */
    } resumed;
    struct {
        double read, write, checkpoint, total;
    } seconds;
};

/* A result whose measure is beyond its limit for this order is a failed
 * check. */
enum measure { RESIDUAL, ORTHOGONALITY, EIGENVALUE_ERROR };
double limit_of(enum measure measure, int64_t n);

/* Did the result pass?  A failure says which measure did not. */
peigh_status judge(const struct run *run, struct failure *f);

void print_progress(const peigh_sweep *sweep);
void print_plan(const struct run *run);
void print_table(const struct run *run);

/* The report as JSON; what: a struct run. */
void print_json(FILE *file, const void *what);

/* A number, a string as JSON has them. */
void json_number(FILE *file, double x);
void json_string(FILE *file, const char *text);

#endif
