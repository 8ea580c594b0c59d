/* What the MPI tests share: a matrix from a source, its columns, a solve, and
 * verdicts that all ranks come to together.  A failing assertion leaves the
 * test on that rank only and the others would wait for ever, so every verdict
 * is reduced over the world first and all ranks assert the same. */
#ifndef MPI_CASE_H
#define MPI_CASE_H

#include "expect.h"
#include "output.h"
#include "report.h"
#include "ring.h"
#include "source.h"
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    MPI_Comm comm;
    struct source source;
    struct matrix matrix;
    peigh_options options;
    peigh_layout layout;
    double *a, *values;
    peigh_status status;
    peigh_report report;
    struct verification v;
};

/* True on all ranks of the world if it is on each. */
static inline bool everywhere(bool mine)
{
    int ok = mine;
    MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return ok;
}

#define expect_everywhere(condition, ...)                                   \
    do {                                                                    \
        bool mine_ = (condition);                                           \
        if (!mine_) {                                                       \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                   \
            fprintf(stderr, "\n");                                          \
        }                                                                   \
        if (!everywhere(mine_))                                             \
            ck_abort_msg("%s:%d: %s", __FILE__, __LINE__, #condition);      \
    } while (0)

static inline void *must(void *memory)
{
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

/* Open the source and make room for this rank's columns, not filled. */
static inline void problem_open(struct problem *p, MPI_Comm comm,
                                const char *spec, int64_t n, int64_t block)
{
    struct failure f = {.status = PEIGH_OK};
    int rank, ranks;
    memset(p, 0, sizeof *p);
    p->comm = comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (source_open(&p->source, spec, n, 7, &f)) {
        fprintf(stderr, "%s: %s\n", spec, f.message);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    p->options = peigh_options_default();
    p->options.block = block;
    p->matrix = (struct matrix){&p->source, PEIGH_FULL, false};
    if (peigh_layout_for(p->source.n, rank, ranks, &p->options, &p->layout))
        MPI_Abort(MPI_COMM_WORLD, 2);
    p->a = must(malloc(peigh_array_bytes(&p->layout)));
    p->values = must(malloc(peigh_values_bytes(&p->layout)));
}

static inline void problem_fill(struct problem *p)
{
    struct failure f = {.status = PEIGH_OK};
    const peigh_layout *l = &p->layout;
    if (l->count > 0 &&
        p->source.fill(&p->source, 0, l->n, l->first, l->first + l->count,
                       p->a, l->lda, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
}

static inline void problem_solve(struct problem *p)
{
    problem_fill(p);
    p->status = peigh_solve(&p->layout, p->a, p->values, p->comm, &p->options,
                            &p->report);
}

static inline void problem_verify(struct problem *p)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    p->matrix.uplo = p->options.uplo;
    p->matrix.symmetrize = p->options.symmetrize;
    if (ring_open(&ring, p->comm, &f) ||
        verify_result(&ring, &p->layout, &p->matrix, p->a, p->values, &p->v,
                      &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    ring_close(&ring);
}

static inline void problem_close(struct problem *p)
{
    free(p->a);
    free(p->values);
    source_close(&p->source);
}

/* Where no closed form is known, pdsyev's eigenvalues: n eps ||A|| apart at
 * most for each of the two. */
static inline void compare_values(struct problem *p)
{
    struct failure f = {.status = PEIGH_OK};
    struct ring ring;
    struct comparison c;
    double size = 0.0;
    for (int64_t j = 0; j < p->layout.count; j++)
        size = fmax(size, fabs(p->values[j]));
    MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    if (ring_open(&ring, p->comm, &f) ||
        compare_peer(&ring, &p->layout, &p->matrix, p->values, PDSYEV, NULL,
                     &c, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    ring_close(&ring);
    double limit = 2.0 * limit_of(EIGENVALUE_ERROR, p->layout.n) *
                   (double)p->layout.n * 0x1p-52 * size;
    expect_everywhere(c.max_eigenvalue_difference <= limit,
                      "%s: eigenvalues differ from pdsyev's by %g, limit %g",
                      p->source.name, c.max_eigenvalue_difference, limit);
}

/* Solve, check against the limits, and close. */
static inline void expect_solved(const char *spec, int64_t n, int64_t block)
{
    struct problem p;
    problem_open(&p, MPI_COMM_WORLD, spec, n, block);
    problem_solve(&p);
    expect_everywhere(p.status == PEIGH_OK, "%s n=%lld w=%lld: %s", spec,
                      (long long)n, (long long)block, p.report.message);
    problem_verify(&p);
    const struct verification *v = &p.v;
    bool known = p.source.eigenvalues != NULL;
    expect_everywhere(v->residual <= limit_of(RESIDUAL, n) &&
                      v->orthogonality <= limit_of(ORTHOGONALITY, n) &&
                      v->ascending &&
                      (!known ||
                       v->known_error <= limit_of(EIGENVALUE_ERROR, n)),
                      "%s n=%lld w=%lld: residual %g orthogonality %g "
                      "ascending %d eigenvalues %g", spec, (long long)n,
                      (long long)block, v->residual, v->orthogonality,
                      v->ascending, v->known_error);
    if (!known)
        compare_values(&p);
    problem_close(&p);
}

/* Run a suite on every rank; rank 0 speaks. */
static inline int run_suite(int *argc, char ***argv, TCase *t)
{
    int rank;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Suite *suite = suite_create("peigh");
    tcase_set_timeout(t, 0); /* CTest holds the clock */
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, rank == 0 ? CK_NORMAL : CK_SILENT);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    MPI_Finalize();
    return failures != 0;
}

#endif
