/* Reproducible noise: a function of its index alone, so that every rank makes
 * the entries it owns and the result does not depend on the number of ranks.
 *
 * splitmix64 (G. L. Steele, D. Lea & C. H. Flood, 2014) as a hash; normal
 * deviates by the polar-free form of G. E. P. Box & M. E. Muller (1958). */
#ifndef NOISE_H
#define NOISE_H

#include <math.h>
#include <stdint.h>

static inline uint64_t noise_bits(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * 0xd1342543de82ef95u + index;
    for (int round = 0; round < 2; round++) {
        z += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return z;
}

/* Uniform in (0, 1), never 0 or 1. */
static inline double noise_uniform(uint64_t seed, uint64_t index)
{
    return ((double)(noise_bits(seed, index) >> 12) + 0.5) * 0x1p-52;
}

/* Normal with mean 0 and variance 1. */
static inline double noise_normal(uint64_t seed, uint64_t index)
{
    const double two_pi = 6.283185307179586476925;
    double u = noise_uniform(seed, 2 * index);
    double v = noise_uniform(seed, 2 * index + 1);
    return sqrt(-2.0 * log(u)) * cos(two_pi * v);
}

#endif
