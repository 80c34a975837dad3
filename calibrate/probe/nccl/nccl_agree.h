/* What all ranks agree on: each says how long it took and whether it failed, and all get the same verdict. Pure.
 *
 * What they say goes through an all-reduce that sums, because all algorithms and types of network have that one: a rank puts its
 * words at its own place and zeros elsewhere, and a sum with zeros alone is exact. So no rank decides for others, none waits for a
 * decision, and none sees other numbers: a number that the decision needs is in the words, or it is the same everywhere anyway. */
#ifndef FORERUN_PROBE_NCCL_AGREE_H
#define FORERUN_PROBE_NCCL_AGREE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NCCL_WORDS 3 /* of a rank */

typedef struct {
  double time_s;  /* of what was just timed */
  double spent_s; /* on this case so far */
  bool failed;    /* of this case alone: the data are wrong */
} NcclSay;

typedef struct {
  double time_s, spent_s; /* the longest, as all ranks have it: in single precision */
  unsigned slowest;       /* whose time_s it is, the first of equals */
  int failed;             /* the first that failed; -1: none */
  bool broken;            /* a word is no number, below zero, or not its writer's: nothing here holds */
} NcclVerdict;

/* `words` has NCCL_WORDS * n_ranks: all are written. Times of 0 s and more. */
void nccl_agree_put (const NcclSay *say, unsigned n_ranks, unsigned rank, float *words);
void nccl_agree_take (const float *words, unsigned n_ranks, NcclVerdict *out);

/* Whether the samples of a case, all ranks' the same, are enough: the same answer everywhere. `target` as probe_stats_enough;
 * `share_s` is the time that the case may take, `spent_s` the longest that a rank has taken. */
bool nccl_agree_enough (const double *sample_s, size_t n, double target, double share_s, double spent_s);

#ifdef __cplusplus
}
#endif
#endif
