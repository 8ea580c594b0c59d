/* The command line.  One table row per option: its name, its place in the
 * usage text and what it sets. */
#include "command.h"

#include "output.h"
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_code {
    TOL = 256, MAX_SWEEPS, SEED, UPLO, SYMMETRIZE, DEFINITE, CHECK, NO_CHECK,
    COMPARE, NO_COMPARE, JSON, LOG, CHECKPOINT, EVERY, RESUME, PLAN, RANKS,
    MEM, HELP, VERSION, RAW, RANGE,
};

static const struct option long_options[] = {
    {"order", required_argument, NULL, 'n'},
    {"raw", required_argument, NULL, RAW},
    {"seed", required_argument, NULL, SEED},
    {"block", required_argument, NULL, 'w'},
    {"tol", required_argument, NULL, TOL},
    {"max-sweeps", required_argument, NULL, MAX_SWEEPS},
    {"uplo", required_argument, NULL, UPLO},
    {"definite", required_argument, NULL, DEFINITE},
    {"symmetrize", no_argument, NULL, SYMMETRIZE},
    {"values", required_argument, NULL, 'o'},
    {"vectors", required_argument, NULL, 'v'},
    {"range", required_argument, NULL, RANGE},
    {"check", no_argument, NULL, CHECK},
    {"no-check", no_argument, NULL, NO_CHECK},
    {"compare", required_argument, NULL, COMPARE},
    {"no-compare", no_argument, NULL, NO_COMPARE},
    {"json", required_argument, NULL, JSON},
    {"log", required_argument, NULL, LOG},
    {"checkpoint", required_argument, NULL, CHECKPOINT},
    {"every", required_argument, NULL, EVERY},
    {"resume", required_argument, NULL, RESUME},
    {"plan", no_argument, NULL, PLAN},
    {"ranks", required_argument, NULL, RANKS},
    {"mem", required_argument, NULL, MEM},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static const double default_minutes = 30.0; /* between checkpoints */

static const char usage_text[] =
"Usage: mpirun -np P peigh [options] [MATRIX]\n"
"All eigenvalues and eigenvectors of a dense real symmetric matrix.\n"
"\n"
"MATRIX is FILE.npy (2-D, float64 or float32), FILE.mtx (Matrix Market),\n"
"FILE.h5:/DATASET (HDF5), any other FILE with --raw, or\n"
"gallery:NAME[,key=value...] or source:cosine|gram,key=value... (made from\n"
"data, see the README); without it, gallery:gaussian is solved and\n"
"compared with ScaLAPACK's pdsyev.\n"
"\n"
"  -n, --order N          order of a gallery matrix; of a file: must agree\n"
"      --raw TYPE,N[,OFFSET[,C|F]]\n"
"                         MATRIX is a file without a header: N x N numbers of\n"
"                         TYPE float64, float32, <f8, >f8, <f4 or >f4 from\n"
"                         byte OFFSET (0) on, by rows (C) or by columns (F)\n"
"      --seed S           seed of a gallery matrix (default 1)\n"
"  -w, --block W          columns per block, 1 to 256 (default: from N)\n"
"      --tol T            largest cosine between eigenvectors that counts as\n"
"                         orthogonal (default 1.2e-15)\n"
"      --max-sweeps K     give up after K sweeps, 1 to 64 (default 30)\n"
"      --uplo full|lower|upper\n"
"                         full: read both triangles, refuse the matrix if\n"
"                         they differ (default); lower, upper: never look at\n"
"                         the other triangle\n"
"      --definite auto|yes|no\n"
"                         yes: the matrix is positive definite, an error if\n"
"                         not; all eigenvalues accurate relative to\n"
"                         themselves.  auto: find out.  no: do not try\n"
"      --symmetrize       solve (A + A^T)/2\n"
"  -o, --values FILE      write the eigenvalues, ascending (.npy, .txt or\n"
"                         FILE.h5:/DATASET)\n"
"  -v, --vectors FILE     write the eigenvectors as columns (.npy or\n"
"                         FILE.h5:/DATASET, the same FILE.h5 if you like)\n"
"      --range I:J | value:A:B\n"
"                         write only pairs number I to J - 1, counted from 0\n"
"                         (from the end if negative: --range -10: is the last\n"
"                         ten), or those with A < eigenvalue <= B\n"
"      --check, --no-check\n"
"                         residual and orthogonality of the result (default:\n"
"                         check); a failed check ends with exit code 5\n"
"      --compare pdsyev|pdsyevd|pdsyevr\n"
"                         solve again with ScaLAPACK, on its own copy\n"
"      --no-compare       do not, even without MATRIX\n"
"      --json FILE        write the report as JSON; - is standard output\n"
"      --log FILE         a line of JSON after each sweep, the report at the end\n"
"      --checkpoint FILE  on SIGUSR1 and at intervals, write what is needed to\n"
"                         go on later; on SIGTERM and SIGINT, too, and end with\n"
"                         exit code 8.  The one before it is FILE.old\n"
"      --every MINUTES    the interval (default 30)\n"
"      --resume FILE      go on from this checkpoint (FILE.old if it is damaged)\n"
"                         of the same MATRIX and options, on any number of ranks\n"
"      --plan             print the memory a run would take, and exit; with\n"
"                         --mem also the fewest ranks for this N, and the\n"
"                         largest N for these ranks\n"
"      --ranks P          of the run that is planned (default: those started)\n"
"      --mem SIZE         memory a rank may take, such as 900M or 4G;\n"
"                         a run that needs more does not start.  Default:\n"
"                         from control groups, Slurm, ulimit -v, free memory\n"
"  -q, --quiet            print nothing but errors (and --json -)\n"
"      --help, --version\n"
"\n"
"Exit codes: 0 done; 1 wrong usage; 2 input missing, malformed, not finite,\n"
"not symmetric or not positive definite; 3 no convergence; 4 out of memory;\n"
"5 the result failed a check; 6 output could not be written; 7 MPI failed;\n"
"8 interrupted by a signal, after a checkpoint.\n"
"\n"
"Gallery (default order 500 unless said; n= and seed= go anywhere):\n";

static void wrong(struct failure *f, const char *option, const char *value,
                  const char *expected)
{
    fail(f, PEIGH_ERR_ARGUMENT, "%s %s: expected %s", option, value, expected);
}

static int64_t read_integer(const char *option, const char *value,
                            int64_t least, int64_t most, struct failure *f)
{
    char *end, expected[80];
    errno = 0;
    long long x = strtoll(value, &end, 10);
    if (errno || end == value || *end || x < least || x > most) {
        snprintf(expected, sizeof expected, "an integer from %lld to %lld",
                 (long long)least, (long long)most);
        wrong(f, option, value, expected);
    }
    return x;
}

static double read_fraction(const char *option, const char *value,
                            struct failure *f)
{
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !(x > 0.0 && x < 1.0))
        wrong(f, option, value, "a number between 0 and 1");
    return x;
}

/* 1.5G: a number and K, M, G or T, powers of 1024 as Slurm has them. */
static int64_t read_size(const char *option, const char *value,
                         struct failure *f)
{
    static const char units[] = "KMGT";
    char *end;
    double x = strtod(value, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end))
                            : NULL;
    bool good = end > value && unit && (end[1] == 0 || !strcmp(end + 1, "B") ||
                                        !strcmp(end + 1, "iB"));
    x = good ? ldexp(x, 10 * (int)(unit - units + 1)) : 0.0;
    if (!(x >= 1.0 && x < 0x1p62)) {
        wrong(f, option, value, "a size with its unit, such as 900M or 4G");
        return 0;
    }
    return (int64_t)x;
}

static double read_minutes(const char *value, struct failure *f)
{
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !(x > 0.0 && isfinite(x)))
        wrong(f, "--every", value, "a number of minutes above 0");
    return x;
}

static peigh_uplo read_uplo(const char *value, struct failure *f)
{
    static const char *const name[] = {
        [PEIGH_FULL] = "full", [PEIGH_LOWER] = "lower",
        [PEIGH_UPPER] = "upper"};
    for (int uplo = PEIGH_FULL; uplo <= PEIGH_UPPER; uplo++)
        if (strcmp(value, name[uplo]) == 0)
            return (peigh_uplo)uplo;
    wrong(f, "--uplo", value, "full, lower or upper");
    return PEIGH_FULL;
}

static peigh_definite read_definite(const char *value, struct failure *f)
{
    static const char *const name[] = {
        [PEIGH_DEFINITE_AUTO] = "auto", [PEIGH_DEFINITE_YES] = "yes",
        [PEIGH_DEFINITE_NO] = "no"};
    for (int k = PEIGH_DEFINITE_AUTO; k <= PEIGH_DEFINITE_NO; k++)
        if (strcmp(value, name[k]) == 0)
            return (peigh_definite)k;
    wrong(f, "--definite", value, "auto, yes or no");
    return PEIGH_DEFINITE_AUTO;
}

static enum peer read_peer(const char *value, struct failure *f)
{
    for (int peer = 0; peer < PEERS; peer++)
        if (strcmp(value, peer_name((enum peer)peer)) == 0)
            return (enum peer)peer;
    wrong(f, "--compare", value, "pdsyev, pdsyevd or pdsyevr");
    return PDSYEV;
}

static const char *read_path(const char *option, const char *value,
                             bool (*name_ok)(const char *),
                             const char *expected, struct failure *f)
{
    if (!name_ok(value))
        wrong(f, option, value, expected);
    return value;
}

/* Set what one option says. */
static void apply(struct command *c, int option, const char *value,
                  struct failure *f)
{
    switch (option) {
    case 'n':
        c->n = read_integer("--order", value, 0, PEIGH_ORDER_MAX, f);
        break;
    case RAW: raw_read(&c->raw, value, f); break;
    case RANGE: range_read(&c->range, value, f); break;
    case SEED:
        c->seed = (uint64_t)read_integer("--seed", value, 0, INT64_MAX, f);
        break;
    case 'w':
        c->solver.block =
            read_integer("--block", value, 1, PEIGH_BLOCK_MAX, f);
        break;
    case TOL: c->solver.tol = read_fraction("--tol", value, f); break;
    case MAX_SWEEPS:
        c->solver.max_sweeps = (int)read_integer("--max-sweeps", value, 1,
                                                 PEIGH_SWEEPS_MAX, f);
        break;
    case UPLO: c->solver.uplo = read_uplo(value, f); break;
    case DEFINITE: c->solver.definite = read_definite(value, f); break;
    case SYMMETRIZE: c->solver.symmetrize = true; break;
    case 'o':
        c->values_path = read_path("--values", value, output_values_name_ok,
                                   "FILE.npy, FILE.txt or FILE.h5:/DATASET", f);
        break;
    case 'v':
        c->vectors_path = read_path("--vectors", value, output_vectors_name_ok,
                                    "FILE.npy or FILE.h5:/DATASET", f);
        break;
    case CHECK: c->check = true; break;
    case NO_CHECK: c->check = false; break;
    case COMPARE:
        c->peer = read_peer(value, f);
        c->compare = true;
        break;
    case NO_COMPARE: c->compare = false; break;
    case JSON: c->json_path = value; break;
    case LOG: c->log_path = value; break;
    case CHECKPOINT: c->checkpoint_path = value; break;
    case EVERY: c->every = 60.0 * read_minutes(value, f); break;
    case RESUME: c->resume_path = value; break;
    case PLAN: c->plan = true; break;
    case RANKS:
        c->ranks = (int)read_integer("--ranks", value, 1, INT_MAX, f);
        break;
    case MEM: c->mem = read_size("--mem", value, f); break;
    case 'q': c->quiet = true; break;
    case HELP: c->help = true; break;
    case VERSION: c->version = true; break;
    }
}

/* The option that getopt stumbled over: short, or a whole word. */
static void refuse(int code, char **argv, struct failure *f)
{
    const char *reason = code == ':' ? "needs a value" : "is not an option, "
                         "or has a value it does not take";
    if (code == '?' && optopt > 0 && optopt < 256)
        fail(f, PEIGH_ERR_ARGUMENT, "-%c %s (see --help)", optopt, reason);
    else
        fail(f, PEIGH_ERR_ARGUMENT, "%s %s (see --help)", argv[optind - 1],
             reason);
}

peigh_status command_read(struct command *c, int argc, char **argv,
                          struct failure *f)
{
    *c = (struct command){.n = -1, .seed = 1, .check = true,
                          .solver = peigh_options_default()};
    int option, compare = -1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:w:o:v:q", long_options,
                                 NULL)) != -1) {
        if (option == '?' || option == ':')
            refuse(option, argv, f);
        else
            apply(c, option, optarg, f);
        if (option == COMPARE || option == NO_COMPARE)
            compare = option == COMPARE;
    }
    if (optind + 1 < argc)
        fail(f, PEIGH_ERR_ARGUMENT, "%s: one MATRIX only, and %s is one",
             argv[optind + 1], argv[optind]);
    if (c->ranks && !c->plan)
        fail(f, PEIGH_ERR_ARGUMENT, "--ranks %d: only with --plan; mpirun -np "
             "or srun -n starts ranks", c->ranks);
    if (c->solver.symmetrize && c->solver.uplo != PEIGH_FULL)
        fail(f, PEIGH_ERR_ARGUMENT,
             "--symmetrize needs both triangles; leave --uplo out");
    if (c->raw.item && optind == argc)
        fail(f, PEIGH_ERR_ARGUMENT, "--raw needs a MATRIX: the file");
    if (c->every > 0.0 && !c->checkpoint_path)
        fail(f, PEIGH_ERR_ARGUMENT, "--every needs --checkpoint FILE");
    if (!(c->every > 0.0))
        c->every = 60.0 * default_minutes;
    c->matrix = optind < argc ? argv[optind] : "gallery:gaussian";
    if (compare < 0)
        c->compare = optind == argc && !c->plan;
    return f->status;
}

void command_print_help(void)
{
    printf("%s%s", usage_text, gallery_help());
}
