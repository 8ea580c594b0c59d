/* The command line of peigh-sum. */
#include "sum_command.h"

#include "output.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum option_code { POINTS = 256, VECTORS, WEIGHTS, PLAN, HELP, VERSION };

static const struct option long_options[] = {
    {"points", required_argument, NULL, POINTS},
    {"vectors", required_argument, NULL, VECTORS},
    {"weights", required_argument, NULL, WEIGHTS},
    {"output", required_argument, NULL, 'o'},
    {"plan", no_argument, NULL, PLAN},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage_text[] =
"Usage: mpirun -np P peigh-sum cos|sin --points R.npy --vectors H.npy -o F\n"
"F_j = sum over n of w_n cos(h_j . r_n), or of sin: n points r_n, m vectors\n"
"h_j, in memory that does not grow with n.\n"
"\n"
"      --points R.npy     n x d, float64 or float32, either order\n"
"      --vectors H.npy    m x d\n"
"      --weights W.npy    n numbers (default: all 1)\n"
"  -o, --output FILE      write F: m numbers, .npy, .txt or FILE.h5:/DATASET\n"
"      --plan             print the memory a run would take and exit\n"
"  -q, --quiet            print nothing but errors\n"
"      --help, --version\n"
"\n"
"Exit codes: 0 done; 1 wrong usage; 2 input missing, malformed or not finite;\n"
"4 out of memory; 6 output could not be written; 7 MPI failed.\n";

static void apply(struct sum_command *c, int option, const char *value,
                  struct failure *f)
{
    switch (option) {
    case POINTS: c->points = value; break;
    case VECTORS: c->vectors = value; break;
    case WEIGHTS: c->weights = value; break;
    case 'o':
        c->output = value;
        if (!output_values_name_ok(value))
            fail(f, PEIGH_ERR_ARGUMENT, "--output %.300s: expected a name "
                 "that ends in .npy or .txt, or FILE.h5:/DATASET", value);
        break;
    case PLAN: c->plan = true; break;
    case 'q': c->quiet = true; break;
    case HELP: c->help = true; break;
    case VERSION: c->version = true; break;
    }
}

static void refuse(int code, char **argv, struct failure *f)
{
    const char *reason = code == ':' ? "needs a value" : "is not an option, "
                         "or has a value it does not take";
    if (code == '?' && optopt > 0 && optopt < 256)
        fail(f, PEIGH_ERR_ARGUMENT, "-%c %s (see --help)", optopt, reason);
    else
        fail(f, PEIGH_ERR_ARGUMENT, "%.300s %s (see --help)",
             argv[optind - 1], reason);
}

/* The one word that is not an option. */
static void read_function(struct sum_command *c, int argc, char **argv,
                          struct failure *f)
{
    const char *word = optind < argc ? argv[optind] : "";
    c->sine = strcmp(word, "sin") == 0;
    if (!c->sine && strcmp(word, "cos") != 0)
        fail(f, PEIGH_ERR_ARGUMENT, "'%.300s': expected cos or sin (see "
             "--help)", word);
    if (optind + 1 < argc)
        fail(f, PEIGH_ERR_ARGUMENT, "%.300s: one function only (see --help)",
             argv[optind + 1]);
}

peigh_status sum_command_read(struct sum_command *c, int argc, char **argv,
                              struct failure *f)
{
    int option;
    *c = (struct sum_command){0};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:q", long_options, NULL)) !=
           -1) {
        if (option == '?' || option == ':')
            refuse(option, argv, f);
        else
            apply(c, option, optarg, f);
    }
    if (failed(f) || c->help || c->version)
        return f->status;
    read_function(c, argc, argv, f);
    const struct {
        const char *name, *value;
    } needed[] = {{"--points", c->points}, {"--vectors", c->vectors},
                  {"--output", c->plan ? "" : c->output}};
    for (int k = 0; k < 3; k++)
        if (!needed[k].value)
            fail(f, PEIGH_ERR_ARGUMENT, "%s is missing (see --help)",
                 needed[k].name);
    return f->status;
}

void sum_command_print_help(void)
{
    fputs(usage_text, stdout);
}
