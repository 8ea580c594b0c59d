/* What a run prints: progress, the table at the end, JSON. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- verdict ----------------------------------------------------------- */

/* The measures are in units of n eps.  A few roundings of the largest
 * eigenvalue are more than that for the smallest orders (LAPACK's dsyev
 * exceeds the plain limits for one 2 x 2 to 6 x 6 matrix in twenty), so below
 * n = 10 the limits are those of n = 10. */
double limit_of(enum measure measure, int64_t n)
{
    static const double limit[] = {
        [RESIDUAL] = 1.0, [ORTHOGONALITY] = 2.0, [EIGENVALUE_ERROR] = 1.0};
    const double small = 10.0;
    return limit[measure] * fmax(1.0, small / (double)(n > 0 ? n : 1));
}

/* Written so that NaN fails. */
static void judge_measure(const char *name, double value, double limit,
                          struct failure *f)
{
    if (!(value <= limit))
        fail(f, PEIGH_ERR_RESULT, "check failed: %s is %.3g, more than %g",
             name, value, limit);
}

peigh_status judge(const struct run *run, struct failure *f)
{
    const struct verification *v = &run->verification;
    const peigh_report *s = &run->solver;
    if (run->checked) {
        judge_measure("residual", v->residual, limit_of(RESIDUAL, s->n),
                      f);
        judge_measure("orthogonality", v->orthogonality,
                      limit_of(ORTHOGONALITY, s->n), f);
        if (!v->ascending)
            fail(f, PEIGH_ERR_RESULT,
                 "check failed: the eigenvalues are not ascending");
        if (!isnan(v->known_error))
            judge_measure("the error of the eigenvalues", v->known_error,
                          limit_of(EIGENVALUE_ERROR, s->n), f);
    }
    const peigh_memory *plan = &run->plan.solver;
    if (s->memory.owned_bytes != plan->owned_bytes ||
        s->memory.workspace_bytes != plan->workspace_bytes)
        fail(f, PEIGH_ERR_RESULT,
             "check failed: %" PRId64 " bytes were planned, %" PRId64 " taken",
             plan->owned_bytes + plan->workspace_bytes,
             s->memory.owned_bytes + s->memory.workspace_bytes);
    return f->status;
}

/* --- text -------------------------------------------------------------- */

void print_progress(const peigh_sweep *s)
{
    if (s->sweep == 1)
        printf("sweep  off-norm   rotations   seconds  left (estimate)\n");
    printf("%5d  %8.2e  %10" PRId64 "  %8.3f  %8.3f\n", s->sweep, s->off_norm,
           s->rotations, s->seconds, s->remaining);
    fflush(stdout);
}

static void print_bytes(const char *name, int64_t bytes)
{
    printf("  %-24s %14" PRId64 " bytes  %9.2f MB\n", name, bytes,
           1e-6 * (double)bytes);
}

static void print_seconds(const char *name, double seconds)
{
    printf("  %-24s %14.4f s\n", name, seconds);
}

static void print_header(const struct run *run)
{
    const peigh_report *s = &run->solver;
    printf("peigh %s: %s\n", PEIGH_VERSION, run->matrix);
    printf("  %-24s %14" PRId64 "\n", "order N", s->n);
    printf("  %-24s %14d  (%d own columns%s)\n", "ranks", s->ranks,
           s->active_ranks, run->yields ? "; cores are shared" : "");
    printf("  %-24s %14" PRId64 "  (%" PRId64 " blocks)\n", "block width",
           s->block, s->blocks);
}

/* A number, or none where it is below the least that makes sense. */
static void print_answer(const char *name, int64_t x, int64_t least)
{
    if (x >= least)
        printf("  %-24s %14" PRId64 "\n", name, x);
    else
        printf("  %-24s %14s\n", name, "none");
}

/* With --mem: what it is enough for. */
static void print_answers(const struct run *run)
{
    int64_t bytes = run->plan.most + run->resident_bytes;
    printf("with --mem\n");
    print_bytes(bytes <= run->allowance.limit ? "enough" : "too little",
                run->allowance.limit);
    print_answer("fewest ranks for this N", run->fewest_ranks, 1);
    print_answer("largest N on these ranks", run->largest_order, 0);
}

void print_plan(const struct run *run)
{
    const struct plan *plan = &run->plan;
    print_header(run);
    printf("memory on the largest rank\n");
    print_bytes("owned columns", plan->solver.owned_bytes);
    print_bytes("their eigenvalues", plan->values);
    print_bytes("workspace", plan->solver.workspace_bytes);
    print_bytes("reading", plan->input);
    print_bytes("writing, afterwards", plan->output);
    print_bytes("checks, afterwards", plan->check);
    print_bytes("comparison, afterwards", plan->compare);
    print_bytes("most at any one time", plan->most);
    print_bytes("MPI, BLAS, program", run->resident_bytes);
    print_bytes("all together", plan->most + run->resident_bytes);
    if (run->checkpoints.bytes > 0)
        printf("on the disk\n");
    if (run->checkpoints.bytes > 0)
        print_bytes("checkpoint, up to 3 of", run->checkpoints.bytes);
    if (run->allowance.limit)
        print_answers(run);
}

static void print_comparison(const struct run *run)
{
    const struct comparison *c = &run->comparison;
    double solve = run->solver.seconds.solve;
    printf("%s on a %d x %d grid\n", peer_name(c->peer), c->rows,
           c->columns);
    print_seconds("solve", c->seconds);
    printf("  %-24s %14.2f\n", "its time / peigh's", c->seconds / solve);
    print_bytes("its arrays", c->bytes);
    printf("  %-24s %14.3e\n", "eigenvalues differ by",
           c->max_eigenvalue_difference);
}

static void print_quality(const struct verification *v, int64_t n)
{
    printf("quality (limits)\n");
    printf("  %-24s %14.4f  (%g)\n", "residual", v->residual,
           limit_of(RESIDUAL, n));
    printf("  %-24s %14.4f  (%g)\n", "orthogonality", v->orthogonality,
           limit_of(ORTHOGONALITY, n));
    if (!isnan(v->known_error))
        printf("  %-24s %14.4f  (%g)\n", "error of eigenvalues",
               v->known_error, limit_of(EIGENVALUE_ERROR, n));
}

static void print_checkpoints(const struct run *run)
{
    if (run->resumed.from)
        printf("  %-24s %14s  (sweep %d, step %" PRId64 ")\n", "resumed from",
               run->resumed.older ? "the older one" : "its checkpoint",
               run->resumed.sweep, run->resumed.step);
    if (run->checkpoints.written + run->checkpoints.failed > 0)
        printf("  %-24s %14d  (%d failed; %.4f s)\n", "checkpoints written",
               run->checkpoints.written, run->checkpoints.failed,
               run->seconds.checkpoint);
}

void print_table(const struct run *run)
{
    const peigh_report *s = &run->solver;
    print_header(run);
    printf("  %-24s %14d  (largest cosine left %.1e)\n", "sweeps", s->sweeps,
           s->sweeps ? s->off_norm[s->sweeps - 1] : 0.0);
    printf("  %-24s %14s  (sigma %.3g)\n", "worked on",
           s->cholesky ? "Cholesky" : "A + sigma I", s->shift);
    printf("  %-24s %14s  %s\n", "accuracy of eigenvalues",
           s->relative ? "relative" : "absolute",
           s->relative ? "(each to itself)" : "(to the largest)");
    if (run->to - run->from < s->n)
        printf("  %-24s %14" PRId64 "  (number %" PRId64 " to %" PRId64
               ", from 0)\n", "pairs in range", run->to - run->from,
               run->from, run->to - 1);
    print_checkpoints(run);
    printf("time, slowest rank\n");
    print_seconds("read the matrix", run->seconds.read);
    print_seconds("solve", s->seconds.solve);
    print_seconds("  setup", s->seconds.setup);
    print_seconds("  Gram matrices", s->seconds.gram);
    print_seconds("  rotations", s->seconds.rotate);
    print_seconds("  update", s->seconds.update);
    print_seconds("  exchange", s->seconds.exchange);
    printf("memory, largest rank\n");
    print_bytes("owned columns", s->memory.owned_bytes);
    print_bytes("workspace", s->memory.workspace_bytes);
    print_bytes("peak resident", run->peak_rss_bytes);
    if (run->checked)
        print_quality(&run->verification, s->n);
    if (run->compared)
        print_comparison(run);
}

/* --- JSON -------------------------------------------------------------- */

/* JSON has no NaN and no infinity. */
void json_number(FILE *file, double x)
{
    if (isfinite(x))
        fprintf(file, "%.17g", x);
    else
        fprintf(file, "null");
}

static void json_member(FILE *file, const char *name, double x)
{
    fprintf(file, "\"%s\": ", name);
    json_number(file, x);
}

void json_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static void json_seconds(FILE *file, const struct run *run)
{
    const peigh_report *s = &run->solver;
    const struct {
        const char *name;
        double seconds;
    } phase[] = {
        {"total", run->seconds.total},      {"read", run->seconds.read},
        {"setup", s->seconds.setup},        {"solve", s->seconds.solve},
        {"gram", s->seconds.gram},          {"rotate", s->seconds.rotate},
        {"update", s->seconds.update},      {"exchange", s->seconds.exchange},
        {"check", run->verification.seconds},
        {"write", run->seconds.write},
        {"checkpoint", run->seconds.checkpoint}};
    fprintf(file, "  \"seconds\": {");
    for (size_t k = 0; k < sizeof phase / sizeof *phase; k++) {
        fprintf(file, k ? ", " : "");
        json_member(file, phase[k].name, phase[k].seconds);
    }
    fprintf(file, "},\n");
}

static void json_memory(FILE *file, const struct run *run)
{
    const struct plan *plan = &run->plan;
    const struct allowance *a = &run->allowance;
    const peigh_memory *m =
        run->planned_only ? &plan->solver : &run->solver.memory;
    const struct {
        const char *name;
        int64_t bytes;
    } part[] = {
        {"owned", m->owned_bytes},         {"workspace", m->workspace_bytes},
        {"values", plan->values},          {"input", plan->input},
        {"output", plan->output},          {"check", plan->check},
        {"compare", plan->compare},        {"most", plan->most},
        {"resident", run->resident_bytes}, {"peak_rss", run->peak_rss_bytes},
        {"baseline_rss", run->baseline_rss_bytes}, {"limit", a->limit},
        {"left", a->left}};
    fprintf(file, "  \"memory\": {");
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        fprintf(file, "\"%s_bytes\": %" PRId64 ", ", part[k].name,
                part[k].bytes);
    fprintf(file, "\"limit\": ");
    json_string(file, a->name);
    fprintf(file, "},\n  \"fewest_ranks\": %d, \"largest_order\": %" PRId64
            ",\n", run->fewest_ranks, run->largest_order);
}

static void json_comparison(FILE *file, const struct comparison *c)
{
    fprintf(file, "{");
    json_member(file, "seconds", c->seconds);
    fprintf(file, ", ");
    json_member(file, "max_eigenvalue_difference",
                c->max_eigenvalue_difference);
    fprintf(file, ", \"bytes\": %" PRId64 ", \"grid\": [%d, %d]}", c->bytes,
            c->rows, c->columns);
}

static void json_quality(FILE *file, const struct run *run)
{
    const struct verification *v = &run->verification;
    const struct comparison *c = &run->comparison;
    fprintf(file, "  ");
    json_member(file, "residual", run->checked ? v->residual : NAN);
    fprintf(file, ", ");
    json_member(file, "orthogonality", run->checked ? v->orthogonality : NAN);
    fprintf(file, ", ");
    json_member(file, "known_error", run->checked ? v->known_error : NAN);
    for (int peer = 0; peer < PEERS; peer++) {
        fprintf(file, ",\n  \"%s\": ", peer_name((enum peer)peer));
        if (run->compared && (enum peer)peer == c->peer)
            json_comparison(file, c);
        else
            fprintf(file, "null");
    }
    fprintf(file, "\n");
}


static void json_checkpoints(FILE *file, const struct run *run)
{
    fprintf(file, "  \"checkpoints\": {\"written\": %d, \"failed\": %d, "
            "\"bytes\": %" PRId64 "}, \"resumed\": ",
            run->checkpoints.written, run->checkpoints.failed,
            run->checkpoints.bytes);
    if (run->resumed.from) {
        fprintf(file, "{\"from\": ");
        json_string(file, run->resumed.from);
        fprintf(file, ", \"older\": %s, \"sweep\": %d, \"step\": %" PRId64
                "},\n", run->resumed.older ? "true" : "false",
                run->resumed.sweep, run->resumed.step);
    } else {
        fprintf(file, "null,\n");
    }
}

void print_json(FILE *file, const void *what)
{
    const struct run *run = what;
    const peigh_report *s = &run->solver;
    fprintf(file, "{\n  \"peigh\": \"%s\", \"matrix\": ", PEIGH_VERSION);
    json_string(file, run->matrix);
    fprintf(file, ",\n  \"n\": %" PRId64 ", \"ranks\": %d, \"block\": %" PRId64
            ", \"blocks\": %" PRId64 ", \"active_ranks\": %d,\n",
            s->n, s->ranks, s->block, s->blocks, s->active_ranks);
    fprintf(file, "  \"yields_when_idle\": %s,\n",
            run->yields ? "true" : "false");
    fprintf(file, "  \"status\": ");
    json_string(file, run->planned_only ? "planned"
                                        : peigh_status_text(s->status));
    fprintf(file, ", \"message\": ");
    json_string(file, s->message);
    fprintf(file, ",\n  \"sweeps\": %d, \"rotations\": %" PRId64
            ", \"off_norms\": [", s->sweeps, s->rotations);
    for (int k = 0; k < s->sweeps; k++) {
        fprintf(file, k ? ", " : "");
        json_number(file, s->off_norm[k]);
    }
    fprintf(file, "],\n  ");
    bool solved = s->sweeps > 0;
    fprintf(file, "\"road\": %s, \"accuracy\": %s, ",
            !solved ? "null" : s->cholesky ? "\"cholesky\"" : "\"shift\"",
            !solved ? "null" : s->relative ? "\"relative\"" : "\"absolute\"");
    json_member(file, "shift", solved ? s->shift : NAN);
    fprintf(file, ", ");
    json_member(file, "asymmetry", s->asymmetry);
    fprintf(file, ",\n  \"range\": [%" PRId64 ", %" PRId64
            "], \"pairs\": %" PRId64 ",\n", run->from, run->to,
            run->to - run->from);
    json_seconds(file, run);
    json_memory(file, run);
    fprintf(file, "  \"messages\": %" PRId64 ", \"bytes_sent\": %" PRId64
            ",\n", s->messages, s->bytes_sent);
    json_checkpoints(file, run);
    json_quality(file, run);
    fprintf(file, "}\n");
}
