/* Assertions for inner loops.  Check's own write to a pipe each time, which
 * makes a million of them take a minute; these touch it only on failure. */
#ifndef EXPECT_H
#define EXPECT_H

#include <check.h>

#undef fail /* an old name of Check's; ours is in failure.h */

#define expect(condition)                                                 \
    do {                                                                  \
        if (!(condition))                                                 \
            ck_abort_msg("%s:%d: %s", __FILE__, __LINE__, #condition);    \
    } while (0)

#define expect_eq(a, b)                                                   \
    do {                                                                  \
        long long a_ = (long long)(a), b_ = (long long)(b);               \
        if (a_ != b_)                                                     \
            ck_abort_msg("%s:%d: %s is %lld, %s is %lld", __FILE__,       \
                         __LINE__, #a, a_, #b, b_);                       \
    } while (0)

#endif
