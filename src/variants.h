/* Vector code for the processor at hand: functions marked FOR_EACH_PROCESSOR
 * are compiled for several instruction sets, and the one to use is chosen when
 * the program is loaded.  What they call is marked IN_VARIANT, so that it is
 * compiled along with them. */
#ifndef VARIANTS_H
#define VARIANTS_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && !defined(PEIGH_NO_CLONES)
#define FOR_EACH_PROCESSOR \
    __attribute__((target_clones("default", "arch=x86-64-v3", \
                                 "arch=x86-64-v4")))
#define MANY_INSTRUCTION_SETS
#else
#define FOR_EACH_PROCESSOR
#endif

#define IN_VARIANT static inline __attribute__((always_inline))

#endif
