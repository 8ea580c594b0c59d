/* mpirun -np P ./peigh [options] [MATRIX]
 *
 * The stages of a run, nothing numerical: read the command line, open the
 * matrix, plan the memory, fill the columns, solve, write, check, compare,
 * report.  After each stage all ranks agree on how it went; rank 0 prints. */
#include "command.h"
#include "fill.h"
#include "idle.h"
#include "keep.h"
#include "layout.h"
#include "launcher.h"
#include "log.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "ring.h"

#include <cblas.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit codes, as --help lists them. */
enum {
    EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_NO_CONVERGENCE = 3, EXIT_MEMORY = 4,
    EXIT_CHECK = 5, EXIT_OUTPUT = 6, EXIT_MPI = 7, EXIT_INTERRUPTED = 8,
};

/* What belongs to a run besides its report. */
struct program {
    struct command command;
    struct ring ring;
    struct source source;
    peigh_layout layout;
    double *columns, *values;
    struct run run;
    struct log log;
    bool writing; /* an I/O failure is one of output, not of input */
    double start;
};

static int exit_code(const struct program *p, peigh_status status)
{
    switch (status) {
    case PEIGH_OK: return EXIT_SUCCESS;
    case PEIGH_ERR_ARGUMENT: return EXIT_USAGE;
    case PEIGH_ERR_NOT_FINITE:
    case PEIGH_ERR_NOT_SYMMETRIC:
    case PEIGH_ERR_NOT_DEFINITE: return EXIT_INPUT;
    case PEIGH_ERR_NO_CONVERGENCE: return EXIT_NO_CONVERGENCE;
    case PEIGH_ERR_MEMORY: return EXIT_MEMORY;
    case PEIGH_ERR_RESULT: return EXIT_CHECK;
    case PEIGH_ERR_IO: return p->writing ? EXIT_OUTPUT : EXIT_INPUT;
    case PEIGH_ERR_INTERRUPTED: return EXIT_INTERRUPTED;
    case PEIGH_ERR_MPI: break;
    }
    return EXIT_MPI;
}

static bool speaks(const struct program *p)
{
    return p->ring.rank == 0;
}

/* Is this text for people wanted on standard output? */
static bool prints(const struct program *p)
{
    const char *json = p->command.json_path;
    return speaks(p) && !p->command.quiet && !(json && !strcmp(json, "-"));
}

/* Ranks are the parallelism here: a BLAS that would start a thread per core in
 * each of them is held to one, unless the user has said otherwise. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static void limit_blas_threads(void)
{
    if (openblas_set_num_threads && !getenv("OPENBLAS_NUM_THREADS") &&
        !getenv("OMP_NUM_THREADS"))
        openblas_set_num_threads(1);
}

/* Before the columns are there: the buffers that MPI and the BLAS make on
 * first use, for messages to every rank, too, belong to the machine, not to
 * the run. */
static peigh_status note_baseline(struct program *p, struct failure *f)
{
    enum { SIZE = 64 };
    static double a[SIZE * SIZE], b[SIZE * SIZE];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE,
                1.0, a, SIZE, a, SIZE, 0.0, b, SIZE);
    if (ring_greet(&p->ring, a, b, SIZE * SIZE, f) ||
        ring_max_double(&p->ring, b, SIZE * SIZE, f))
        return f->status;
    p->run.baseline_rss_bytes = resident_peak();
    p->run.resident_bytes = process_bytes("VmRSS");
    return ring_max_int64(&p->ring, &p->run.resident_bytes, 1, f);
}

static peigh_status open_matrix(struct program *p, struct failure *f)
{
    const struct command *c = &p->command;
    if (c->raw.item)
        source_open_raw(&p->source, c->matrix, &c->raw, c->n, f);
    else
        source_open(&p->source, c->matrix, c->n, c->seed, f);
    if (f->status == PEIGH_ERR_ARGUMENT)
        f->status = PEIGH_ERR_IO; /* a wrong name is wrong input */
    if (ring_agree(&p->ring, f))
        return f->status;
    p->run.matrix = p->source.name;
    if (peigh_layout_for(p->source.n, p->ring.rank, p->ring.ranks, &c->solver,
                         &p->layout))
        return fail(f, PEIGH_ERR_ARGUMENT, "%s: order %" PRId64 " is too large",
                    p->source.name, p->source.n);
    return range_check(&p->command.range, p->source.n, f);
}

static struct matrix matrix_of(const struct program *p)
{
    return (struct matrix){&p->source, p->command.solver.uplo,
                           p->command.solver.symmetrize};
}

static struct intent intent_of(const struct program *p)
{
    const struct command *c = &p->command;
    return (struct intent){
        .solver = c->solver, .matrix = matrix_of(p),
        .values_path = c->values_path, .vectors_path = c->vectors_path,
        .check = c->check, .compare = c->compare, .peer = c->peer};
}

/* The numbers of the plan; nothing is allocated. */
static peigh_status plan(struct program *p, struct failure *f)
{
    struct run *r = &p->run;
    const struct intent intent = intent_of(p);
    const struct blocks blocks = blocks_of(p->layout.n, p->layout.block);
    int ranks = p->command.ranks ? p->command.ranks : p->ring.ranks;
    r->plan = plan_for(&intent, blocks.n, ranks);
    r->checkpoints.bytes = p->command.checkpoint_path
                               ? checkpoint_bytes(&p->layout) : 0;
    r->solver.n = blocks.n;
    r->solver.block = p->layout.block;
    r->solver.blocks = blocks.count;
    r->solver.ranks = ranks;
    r->solver.active_ranks = share_of(&blocks, 0, ranks).active;
    if (intent.compare && r->plan.compare == INT64_MAX)
        return fail(f, PEIGH_ERR_ARGUMENT, "N = %" PRId64 " is too large for "
                    "%s on %d ranks: it counts in 32 bits; --no-compare "
                    "leaves it out", blocks.n, peer_name(intent.peer), ranks);
    return PEIGH_OK;
}

/* With --mem: how many ranks, and how large a matrix?  What MPI, the BLAS and
 * the program take has been measured. */
static void answer(struct program *p)
{
    struct run *r = &p->run;
    const struct intent intent = intent_of(p);
    int64_t bytes = p->command.mem - r->resident_bytes;
    if (p->command.mem == 0)
        return;
    r->allowance.limit = p->command.mem;
    r->allowance.left = bytes > 0 ? bytes : 0;
    r->fewest_ranks = plan_ranks(&intent, r->solver.n, bytes);
    r->largest_order = plan_order(&intent, r->solver.ranks, bytes);
}

/* Refuse on all ranks what does not fit on one of them. */
static peigh_status admit(struct program *p, struct failure *f)
{
    struct run *r = &p->run;
    struct allowance *a = &r->allowance;
    const struct intent intent = intent_of(p);
    char ranks[96] = "no number of ranks with as much each would do";
    if (allowance_find(a, &p->ring, p->command.mem, f))
        return f->status;
    if (r->plan.most > a->left) {
        int fewest = plan_ranks(&intent, r->solver.n, a->left);
        if (fewest > 0)
            snprintf(ranks, sizeof ranks, "%d ranks with as much each would "
                     "do", fewest);
        char shared[48] = "";
        if (a->sharers > 1)
            snprintf(shared, sizeof shared, ", shared by %d ranks",
                     a->sharers);
        const double mb = 1e-6;
        fail(f, PEIGH_ERR_MEMORY, "rank %d has not enough memory: N = %" PRId64
             " on %d ranks takes %.1f MB per rank%s, but %.1f MB are left of "
             "%.1f MB (%s%s); %s", p->ring.rank, r->solver.n, r->solver.ranks,
             mb * (double)r->plan.most,
             intent.compare ? " (less with --no-compare)" : "",
             mb * (double)a->left, mb * (double)a->limit, a->name, shared,
             ranks);
    }
    return ring_agree(&p->ring, f);
}

static peigh_status allocate(struct program *p, struct failure *f)
{
    p->columns = malloc(peigh_array_bytes(&p->layout));
    p->values = malloc(peigh_values_bytes(&p->layout));
    if (!p->columns || !p->values)
        fail(f, PEIGH_ERR_MEMORY, "rank %d: no memory for %zu bytes of "
             "columns; use more ranks", p->ring.rank,
             peigh_array_bytes(&p->layout));
    return ring_agree(&p->ring, f);
}

/* Is somebody watching? */
static bool shows_progress(const struct program *p)
{
    return prints(p) && isatty(STDOUT_FILENO);
}

static peigh_status fill(struct program *p, struct failure *f)
{
    const struct matrix matrix = matrix_of(p);
    struct progress progress;
    progress_start(&progress, "reading");
    double start = MPI_Wtime();
    if (fill_columns(&p->ring, &p->layout, &matrix, p->columns,
                     shows_progress(p) ? &progress : NULL, f))
        return f->status;
    p->run.seconds.read = MPI_Wtime() - start;
    return ring_max_double(&p->ring, &p->run.seconds.read, 1, f);
}

static void show_sweep(void *context, const peigh_sweep *sweep)
{
    struct program *p = context;
    if (shows_progress(p))
        print_progress(sweep);
    log_sweep(&p->log, sweep);
}

/* With checkpoints, where they are asked for. */
static void solve_columns(struct program *p, struct failure *f)
{
    const struct command *c = &p->command;
    peigh_options options = c->solver;
    struct keep keep = {.path = c->checkpoint_path, .resume = c->resume_path,
                        .origin = {.layout = &p->layout,
                                   .options = &c->solver},
                        .run = &p->run, .log = &p->log};
    if (shows_progress(p) || p->log.stream) {
        options.progress = show_sweep;
        options.progress_context = p;
    }
    if (keep_open(&keep, &p->ring, p->columns, c->every, f))
        return;
    const struct seam seam = keep_seam(&keep);
    if (keep.path || keep.resume)
        solve_with_seam(&p->layout, p->columns, p->values, p->ring.comm,
                        &options, &seam, &p->run.solver);
    else
        peigh_solve(&p->layout, p->columns, p->values, p->ring.comm, &options,
                    &p->run.solver);
    keep_close(&keep);
    p->writing = keep.unwritten;
}

static peigh_status solve(struct program *p, struct failure *f)
{
    solve_columns(p, f);
    if (p->run.solver.status)
        fail(f, p->run.solver.status, "%.200s: %.300s", p->source.name,
             p->run.solver.message);
    if (f->status == PEIGH_ERR_MPI)
        return f->status;
    int64_t peak[2] = {resident_peak(), p->run.baseline_rss_bytes};
    if (ring_max_int64(&p->ring, peak, 2, f))
        return f->status;
    p->run.peak_rss_bytes = peak[0];
    p->run.baseline_rss_bytes = peak[1];
    return f->status;
}

static peigh_status write_results(struct program *p, struct failure *f)
{
    const struct command *c = &p->command;
    struct result result = {&p->ring, &p->layout, p->values, p->columns, 0, 0};
    double start = MPI_Wtime();
    if (range_find(&c->range, &p->ring, &p->layout, p->values, &result.from,
                   &result.to, f))
        return f->status;
    p->run.from = result.from;
    p->run.to = result.to;
    p->writing = true;
    write_pairs(&result, c->values_path, c->vectors_path, f);
    p->writing = failed(f);
    p->run.seconds.write = MPI_Wtime() - start;
    return f->status;
}

static peigh_status check(struct program *p, struct failure *f)
{
    const struct command *c = &p->command;
    const struct matrix matrix = matrix_of(p);
    struct run *r = &p->run;
    if (c->check && verify_result(&p->ring, &p->layout, &matrix, p->columns,
                                  p->values, &r->verification, f))
        return f->status;
    r->checked = c->check;
    if (c->compare && compare_peer(&p->ring, &p->layout, &matrix, p->values,
                                   c->peer, NULL, &r->comparison, f))
        return f->status;
    r->compared = c->compare;
    return PEIGH_OK;
}

/* What was printed must have arrived. */
static peigh_status flush_output(struct program *p, struct failure *f)
{
    if (fflush(stdout) || ferror(stdout)) {
        p->writing = true;
        fail(f, PEIGH_ERR_IO, "cannot write to standard output");
    }
    return f->status;
}

static peigh_status report_json(struct program *p, const char *path,
                                struct failure *f)
{
    if (strcmp(path, "-") != 0)
        return write_text(&p->ring, path, print_json, &p->run, f);
    if (speaks(p)) {
        print_json(stdout, &p->run);
        flush_output(p, f);
    }
    return ring_agree(&p->ring, f);
}

/* JSON is written after failures, too: scripts want to know. */
static void report(struct program *p, struct failure *f)
{
    const char *path = p->command.json_path;
    struct failure json = {.status = PEIGH_OK};
    if (f->status == PEIGH_ERR_MPI)
        return; /* the others may not be there any more */
    p->run.seconds.total = MPI_Wtime() - p->start;
    p->run.solver.status = f->status;
    memcpy(p->run.solver.message, f->message, sizeof f->message);
    if (prints(p) && !failed(f))
        (p->run.planned_only ? print_plan : print_table)(&p->run);
    log_report(&p->log, &p->run);
    if (speaks(p))
        flush_output(p, &json);
    log_close(&p->log, &json);
    ring_agree(&p->ring, &json);
    if (path && !failed(&json))
        report_json(p, path, &json);
    if (failed(&json) && !failed(f)) {
        p->writing = true;
        *f = json;
    }
}

/* NULL if JSON is not wanted, or on standard output. */
static const char *json_file(const struct command *c)
{
    return c->json_path && strcmp(c->json_path, "-") ? c->json_path : NULL;
}

/* What clashes is not written at all, not even the report of that. */
static peigh_status check_names(struct program *p, struct failure *f)
{
    struct command *c = &p->command;
    if (speaks(p)) {
        output_names_apart(c->values_path, c->vectors_path, json_file(c),
                           c->matrix, f);
        keep_names_apart(c, f);
    }
    if (ring_agree(&p->ring, f) && json_file(c))
        c->json_path = NULL;
    return f->status;
}

/* Before the work rather than after it. */
static peigh_status check_outputs(struct program *p, struct failure *f)
{
    const struct command *c = &p->command;
    const char *const path[] = {c->values_path, c->vectors_path,
                                json_file(c)};
    for (int k = 0; k < 3 && speaks(p); k++)
        if (path[k])
            output_name_writable(path[k], f);
    if (speaks(p) && !failed(f))
        keep_check(c, f);
    if (speaks(p) && c->log_path && !failed(f) && !c->plan)
        log_open(&p->log, c->log_path, c->resume_path != NULL, p->start, f);
    p->writing = ring_agree(&p->ring, f) != PEIGH_OK;
    return f->status;
}

/* The stages, once the matrix is known. */
static void work(struct program *p, struct failure *f)
{
    if (plan(p, f) || note_baseline(p, f))
        return;
    if (p->command.plan)
        answer(p);
    else if (!admit(p, f) && !allocate(p, f) && !fill(p, f) && !solve(p, f) &&
             !write_results(p, f) && !check(p, f))
        judge(&p->run, f);
}

static void run(struct program *p, struct failure *f)
{
    p->run.matrix = p->command.matrix;
    p->run.planned_only = p->command.plan;
    if (!check_names(p, f) && !open_matrix(p, f) && !check_outputs(p, f))
        work(p, f);
    report(p, f);
}

/* --help and --version, and what is wrong before there is a run. */
static bool greet(struct program *p, struct failure *f)
{
    const struct command *c = &p->command;
    if (launcher_check(&p->ring, f) || failed(f))
        return true;
    if (c->help && speaks(p))
        command_print_help();
    if (c->version && speaks(p))
        printf("peigh %s\n", PEIGH_VERSION);
    if (speaks(p))
        flush_output(p, f);
    p->writing = ring_agree(&p->ring, f) != PEIGH_OK;
    return c->help || c->version;
}

int main(int argc, char **argv)
{
    struct program p = {.run.yields = yield_when_idle()};
    if (launcher_is_blind("peigh"))
        return EXIT_MPI;
    MPI_Init(&argc, &argv);
    struct failure f = {.status = PEIGH_OK};
    p.start = MPI_Wtime();
    limit_blas_threads();
    if (ring_open(&p.ring, MPI_COMM_WORLD, &f) == PEIGH_OK) {
        command_read(&p.command, argc, argv, &f);
        ring_agree(&p.ring, &f);
        if (!greet(&p, &f))
            run(&p, &f);
    }
    if (failed(&f) && p.ring.rank == 0)
        fprintf(stderr, "peigh: %s\n", f.message);
    int code = exit_code(&p, f.status);
    if (f.status == PEIGH_ERR_MPI)
        MPI_Abort(MPI_COMM_WORLD, code);
    free(p.columns);
    free(p.values);
    source_close(&p.source);
    ring_close(&p.ring);
    MPI_Finalize();
    return code;
}
