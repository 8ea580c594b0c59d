/* The tests of vector code.  They are built with the library's own choice of
 * instruction set at run time, and once more for each level of x86-64 alone
 * (Makefile), with INSTRUCTION_SET naming it. */
#ifndef VECTOR_TEST_H
#define VECTOR_TEST_H

#include "expect.h"

#include <stdio.h>

enum { EXIT_SKIPPED = 77 }; /* CTest is told so */

static int run_vector_tests(TCase *tests)
{
#ifdef INSTRUCTION_SET
    if (!__builtin_cpu_supports(INSTRUCTION_SET)) {
        printf("skipped: this processor has no %s\n", INSTRUCTION_SET);
        return EXIT_SKIPPED;
    }
#endif
    Suite *suite = suite_create("vector code");
    tcase_set_timeout(tests, 0); /* CTest holds the clock */
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}

#endif
