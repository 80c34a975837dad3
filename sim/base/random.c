/* PCG32 (XSH-RR 64/32): O'Neill, HMC-CS-2014-0905, section 6.3.
 * splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with Stafford's mixer 13.
 * FNV-1a: Fowler, Noll and Vo, 64 bits.
 * The constants below are theirs. Check: the published outputs of each for fixed seeds. */
#include "base/random.h"

#include <math.h>

#include "base/hash.h"

#define PCG_MULTIPLIER 6364136223846793005u
#define FNV_OFFSET     14695981039346656037u
#define FNV_PRIME      1099511628211u

static guint64
splitmix64 (guint64 *state)
{
  return base_hash_mix (*state += 0x9e3779b97f4a7c15u);
}

static guint64
fnv1a (const char *text)
{
  guint64 hash = FNV_OFFSET;
  for (const char *p = text; *p != '\0'; p++)
    hash = (hash ^ (unsigned char)*p) * FNV_PRIME;
  return hash;
}

static BaseRandom
pcg_seed (guint64 state, guint64 sequence)
{
  BaseRandom random = { 0, sequence << 1 | 1 };
  base_random_u32 (&random);
  random.state += state;
  base_random_u32 (&random);
  return random;
}

guint64
base_random_hash (guint64 seed, guint64 a, guint64 b, guint64 c)
{
  const guint64 word[] = { a, b, c };
  guint64 state = seed;
  guint64 hash = splitmix64 (&state);
  for (gsize i = 0; i < G_N_ELEMENTS (word); i++) {
    state = hash ^ word[i];
    hash = splitmix64 (&state);
  }
  return hash;
}

BaseRandom
base_random_stream_at (guint64 seed, const char *name, guint64 index)
{
  g_return_val_if_fail (name != NULL, pcg_seed (seed, index));
  guint64 state = base_random_hash (seed, fnv1a (name), index, 0);
  guint64 start = splitmix64 (&state);
  return pcg_seed (start, splitmix64 (&state));
}

BaseRandom
base_random_stream (guint64 seed, const char *name)
{
  /* No element's index, so that a stream is none of its own elements. */
  return base_random_stream_at (seed, name, G_MAXUINT64);
}

guint32
base_random_u32 (BaseRandom *random)
{
  guint64 old = random->state;
  random->state = old * PCG_MULTIPLIER + random->increment;
  guint32 shifted = (guint32)(((old >> 18) ^ old) >> 27);
  guint32 turn = (guint32)(old >> 59);
  return shifted >> turn | shifted << ((32 - turn) & 31);
}

double
base_random_unit (BaseRandom *random)
{
  guint64 high = base_random_u32 (random) >> 5, low = base_random_u32 (random) >> 6; /* 27 + 26 bits */
  return (double)(high << 26 | low) * 0x1p-53;
}

guint32
base_random_below (BaseRandom *random, guint32 bound)
{
  g_return_val_if_fail (bound > 0, 0);
  /* Numbers below 2^32 mod bound would make small results likelier: drawn again. */
  guint32 least = (0u - bound) % bound;
  guint32 r;
  do
    r = base_random_u32 (random);
  while (r < least);
  return r % bound;
}

double
base_random_exponential (BaseRandom *random, double mean)
{
  return -mean * log1p (-base_random_unit (random));
}

/* Box and Muller, Annals of Mathematical Statistics 29 (1958). The second value is not kept: a stream stays a pure function of its
 * state, which is two words. */
double
base_random_normal (BaseRandom *random)
{
  double radius = sqrt (-2 * log1p (-base_random_unit (random)));
  return radius * cos (2 * G_PI * base_random_unit (random));
}
