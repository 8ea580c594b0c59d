/* The command line of peigh-sum. */
#ifndef SUM_COMMAND_H
#define SUM_COMMAND_H

#include "failure.h"

struct sum_command {
    bool sine;
    const char *points, *vectors, *weights; /* files; weights may be NULL */
    const char *output;                     /* NULL only with plan */
    bool plan, quiet, help, version;
};

/* Read the command line; the same on every rank.  A wrong one is a failure
 * with PEIGH_ERR_ARGUMENT that names the option. */
peigh_status sum_command_read(struct sum_command *c, int argc, char **argv,
                              struct failure *f);

void sum_command_print_help(void);

#endif
