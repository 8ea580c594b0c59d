/* mpirun -np P ./peigh-sum cos|sin --points R.npy --vectors H.npy -o F.npy
 *
 * The stages of a run: read the command line, open the files, plan, sum,
 * write, report.  After each stage all ranks agree on how it went; rank 0
 * prints. */
#include "idle.h"
#include "launcher.h"
#include "output.h"
#include "resident.h"
#include "sum.h"
#include "sum_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Exit codes, as --help lists them. */
enum {
    EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_MEMORY = 4, EXIT_OUTPUT = 6,
    EXIT_MPI = 7,
};

struct program {
    struct sum_command command;
    struct ring ring;
    struct sum sum;
    double *result;
    bool writing; /* an I/O failure is one of output, not of input */
    int64_t baseline;
    double seconds;
};

static int exit_code(const struct program *p, peigh_status status)
{
    switch (status) {
    case PEIGH_OK: return EXIT_SUCCESS;
    case PEIGH_ERR_ARGUMENT: return EXIT_USAGE;
    case PEIGH_ERR_NOT_FINITE: return EXIT_INPUT;
    case PEIGH_ERR_MEMORY: return EXIT_MEMORY;
    case PEIGH_ERR_IO: return p->writing ? EXIT_OUTPUT : EXIT_INPUT;
    default: return EXIT_MPI;
    }
}

static bool prints(const struct program *p)
{
    return p->ring.rank == 0 && !p->command.quiet;
}

/* What clashes or cannot be written is known before the work. */
static peigh_status check_output(struct program *p, struct failure *f)
{
    const struct sum_command *c = &p->command;
    const char *const input[] = {c->points, c->vectors, c->weights};
    if (c->output && p->ring.rank == 0)
        for (int k = 0; k < 3 && !failed(f); k++)
            output_names_apart(c->output, NULL, NULL, input[k], f);
    if (ring_agree(&p->ring, f))
        return f->status;
    if (c->output && p->ring.rank == 0)
        output_name_writable(c->output, f);
    p->writing = ring_agree(&p->ring, f) != PEIGH_OK;
    return f->status;
}

static peigh_status open_files(struct program *p, struct failure *f)
{
    const struct sum_command *c = &p->command;
    sum_open(&p->sum, c->points, c->vectors, c->weights, f);
    p->sum.sine = c->sine;
    sum_share(&p->sum, p->ring.rank, p->ring.ranks);
    return ring_agree(&p->ring, f);
}

static int64_t result_bytes(const struct program *p)
{
    return (int64_t)sizeof *p->result * p->sum.count;
}

static void print_bytes(const char *what, int64_t bytes)
{
    printf("  %-28s %12lld bytes %10.2f MB\n", what, (long long)bytes,
           (double)bytes / 1e6);
}

static void print_table(const char *what, const struct table *t)
{
    printf("  %-28s %12lld x %lld  (%s)\n", what, (long long)t->rows,
           (long long)t->columns, t->name);
}

/* Rank 0 has as many vectors as any. */
static void print_plan(const struct program *p)
{
    const struct sum *s = &p->sum;
    int tables = s->weights.name[0] ? 3 : 2;
    printf("peigh-sum %s: F_j = sum of %s%s(h_j . r_n)\n", PEIGH_VERSION,
           s->weights.name[0] ? "w_n " : "", s->sine ? "sin" : "cos");
    print_table("points", &s->points);
    print_table("vectors", &s->vectors);
    printf("  %-28s %12d  (%lld vectors each)\n", "ranks", p->ring.ranks,
           (long long)s->count);
    printf("  %-28s %12.3g\n", s->sine ? "sines" : "cosines",
           (double)s->points.rows * (double)s->vectors.rows);
    printf("memory, largest rank\n");
    print_bytes("vectors and sums", sum_bytes_own(s) + result_bytes(p));
    print_bytes("points in memory", sum_bytes_tile(s));
    print_bytes("reading files", (int64_t)tables * TABLE_BUFFER);
    fflush(stdout);
}

static peigh_status sum(struct program *p, struct failure *f)
{
    struct progress progress;
    double start = MPI_Wtime();
    p->baseline = resident_peak();
    p->result = malloc((size_t)result_bytes(p) + 1);
    if (!p->result)
        fail(f, PEIGH_ERR_MEMORY, "no memory for %lld bytes of sums; use more "
             "ranks", (long long)result_bytes(p));
    if (ring_agree(&p->ring, f))
        return f->status;
    progress_start(&progress, "summing");
    sum_run(&p->sum, p->result,
            prints(p) && isatty(STDOUT_FILENO) ? &progress : NULL, f);
    if (ring_agree(&p->ring, f))
        return f->status;
    p->seconds = MPI_Wtime() - start;
    return ring_max_double(&p->ring, &p->seconds, 1, f);
}

/* F is written as eigenvalues are: a vector of which every rank has a part. */
static peigh_status write_sums(struct program *p, struct failure *f)
{
    peigh_layout layout = {.n = p->sum.vectors.rows, .first = p->sum.first,
                           .count = p->sum.count};
    struct result result = {&p->ring, &layout, p->result, NULL, 0, layout.n};
    write_pairs(&result, p->command.output, NULL, f);
    p->writing = failed(f);
    return f->status;
}

static peigh_status report(struct program *p, struct failure *f)
{
    int64_t beyond = resident_peak() - p->baseline;
    if (ring_max_int64(&p->ring, &beyond, 1, f) || !prints(p))
        return f->status;
    print_bytes("resident beyond MPI's own", beyond);
    printf("time, slowest rank\n");
    printf("  %-28s %12.4f s\n", "sum", p->seconds);
    if (fflush(stdout) || ferror(stdout)) {
        p->writing = true;
        fail(f, PEIGH_ERR_IO, "cannot write to standard output");
    }
    return f->status;
}

static void run(struct program *p, struct failure *f)
{
    if (check_output(p, f) || open_files(p, f))
        return;
    if (prints(p))
        print_plan(p);
    if (!p->command.plan && !sum(p, f) && !write_sums(p, f))
        report(p, f);
    ring_agree(&p->ring, f);
}

/* --help and --version, and what is wrong before there is a run. */
static bool greet(struct program *p, struct failure *f)
{
    const struct sum_command *c = &p->command;
    if (launcher_check(&p->ring, f) || failed(f))
        return true;
    if (c->help && p->ring.rank == 0)
        sum_command_print_help();
    if (c->version && p->ring.rank == 0)
        printf("peigh-sum %s\n", PEIGH_VERSION);
    return c->help || c->version;
}

int main(int argc, char **argv)
{
    struct program p = {.result = NULL};
    struct failure f = {.status = PEIGH_OK};
    yield_when_idle();
    if (launcher_is_blind("peigh-sum"))
        return EXIT_MPI;
    MPI_Init(&argc, &argv);
    if (ring_open(&p.ring, MPI_COMM_WORLD, &f) == PEIGH_OK) {
        sum_command_read(&p.command, argc, argv, &f);
        ring_agree(&p.ring, &f);
        if (!greet(&p, &f))
            run(&p, &f);
    }
    if (failed(&f) && p.ring.rank == 0)
        fprintf(stderr, "peigh-sum: %s\n", f.message);
    int code = exit_code(&p, f.status);
    if (f.status == PEIGH_ERR_MPI)
        MPI_Abort(MPI_COMM_WORLD, code);
    free(p.result);
    sum_close(&p.sum);
    ring_close(&p.ring);
    MPI_Finalize();
    return code;
}
