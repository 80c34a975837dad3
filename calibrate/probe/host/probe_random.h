/* Random numbers that are a function of seed and place alone, on the host and on GPUs. */
#ifndef FORERUN_PROBE_RANDOM_H
#define FORERUN_PROBE_RANDOM_H

#include <stdint.h>

/* 64 mixed bits for each counter (splitmix64: Steele, Lea, Flood 2014). */
static inline __host__ __device__ uint64_t
probe_random (uint64_t seed, uint64_t counter)
{
  uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

#endif
