/* Mixing words into a hash. A hash decides nothing but where a table keeps what it holds: two that are equal are compared. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <string.h>

#include <glib.h>

/* A hash with one more word in it: a multiplication by 2^64 over the golden ratio (Knuth, TAOCP 3, 6.4), whose high bits are the
 * better ones, folded onto the low. */
static inline guint64
base_hash_word (guint64 hash, guint64 word)
{
  hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

/* A number's bits: 0 and -0 differ. */
static inline guint64
base_double_bits (double value)
{
  guint64 bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline guint64
base_hash_double (guint64 hash, double value)
{
  return base_hash_word (hash, base_double_bits (value));
}

/* One small number to 32 bits, of which the high ones are the better. */
static inline guint32
base_hash_u32 (guint32 number)
{
  return number * 2654435761u; /* 2^32 over the golden ratio */
}

/* The end of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; Stafford's mixer
 * 13): each bit of the input turns half of the output's. */
static inline guint64
base_hash_mix (guint64 x)
{
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

#endif
