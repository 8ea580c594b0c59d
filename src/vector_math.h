/* cos, sin and exp in loops marked `#pragma omp simd`: calls of glibc's vector
 * library (libmvec, within 4 ulp), of the width of the processor at hand, see
 * variants.h; elsewhere calls one by one.
 *
 * The loops have constant lengths, multiples of every vector's.  A remainder
 * would be done by the scalar functions, which round differently, and results
 * would depend on where an entry stands.  (An argument that is large for the
 * vector code, |x| > 1e8 or so, takes the scalar function for itself alone:
 * slow, but not wrong.)
 *
 * The attribute stands here because <math.h> has it only under -ffast-math,
 * of which nothing else is wanted. */
#ifndef VECTOR_MATH_H
#define VECTOR_MATH_H

#include <math.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__)
extern double cos(double x) __attribute__((__simd__("notinbranch")));
extern double sin(double x) __attribute__((__simd__("notinbranch")));
extern double exp(double x) __attribute__((__simd__("notinbranch")));
#endif

#endif
