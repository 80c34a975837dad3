/* Seeded random streams by name: adding a component never shifts another's numbers.
 * Generator: PCG32 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms", HMC-CS-2014-0905);
 * stream state from splitmix64 over (seed, FNV-1a of the name). */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <glib.h>

typedef struct {
  guint64 state, increment;
} BaseRandom;

BaseRandom base_random_stream (guint64 seed, const char *name);
/* A stream of a stream: element `index` of component `name`. */
BaseRandom base_random_stream_at (guint64 seed, const char *name, guint64 index);
guint32 base_random_u32 (BaseRandom *random);
double base_random_unit (BaseRandom *random);                   /* [0, 1), 53 bits */
guint32 base_random_below (BaseRandom *random, guint32 bound);  /* [0, bound), unbiased; bound > 0 */
double base_random_exponential (BaseRandom *random, double mean);
double base_random_normal (BaseRandom *random);                 /* mean 0, deviation 1 */
/* Stateless mixing of integers to 64 bits (ECMP hashes): same input, same output on every machine. */
guint64 base_random_hash (guint64 seed, guint64 a, guint64 b, guint64 c);

#endif
