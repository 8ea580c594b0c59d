/* The command line: what the user asked for. */
#ifndef COMMAND_H
#define COMMAND_H

#include "range.h"
#include "verify.h"

struct command {
    const char *matrix;       /* file or gallery entry */
    struct raw raw;           /* item 0: the matrix's name says what it is */
    int64_t n;                /* -1: the matrix's own order */
    uint64_t seed;            /* of the gallery's noise */
    peigh_options solver;
    const char *values_path;  /* NULL: not written */
    const char *vectors_path;
    struct range range;       /* of the pairs that are written */
    const char *json_path;    /* "-": standard output */
    const char *log_path;     /* NULL: no log */
    const char *checkpoint_path, *resume_path; /* NULL: not asked for */
    double every;             /* seconds from checkpoint to checkpoint */
    bool check;
    bool compare;             /* with ... */
    enum peer peer;
    int64_t mem;              /* bytes a rank may take; 0: not said */
    int ranks;                /* to plan for; 0: those that were started */
    bool plan, quiet, help, version;
};

/* Read the command line; the same on every rank.  A wrong one is a failure
 * with PEIGH_ERR_ARGUMENT that names the option. */
peigh_status command_read(struct command *c, int argc, char **argv,
                          struct failure *f);

/* What --help prints. */
void command_print_help(void);

#endif
