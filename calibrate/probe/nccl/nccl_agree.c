#include "nccl_agree.h"

#include "probe_stats.h"

#include <math.h>

#define SHARE_STRETCH 10 /* fewer than the least samples only where they would take so many shares */

enum { WORD_TIME, WORD_SPENT, WORD_FAILED };

void
nccl_agree_put (const NcclSay *say, unsigned n_ranks, unsigned rank, float *words)
{
  for (size_t i = 0; i < (size_t)n_ranks * NCCL_WORDS; i++)
    words[i] = 0;
  float *own = words + (size_t)rank * NCCL_WORDS;
  own[WORD_TIME] = (float)say->time_s;
  own[WORD_SPENT] = (float)say->spent_s;
  own[WORD_FAILED] = say->failed ? 2 : 1; /* 0: nobody wrote here */
}

void
nccl_agree_take (const float *words, unsigned n_ranks, NcclVerdict *out)
{
  *out = (NcclVerdict){ .failed = -1 };
  for (unsigned rank = 0; rank < n_ranks; rank++) {
    const float *its = words + (size_t)rank * NCCL_WORDS;
    double time_s = (double)its[WORD_TIME], spent_s = (double)its[WORD_SPENT], failed = (double)its[WORD_FAILED];
    out->broken = out->broken || !isfinite (time_s) || !isfinite (spent_s) || time_s < 0 || spent_s < 0 ||
                  (!(failed > 0.5 && failed < 1.5) && !(failed > 1.5 && failed < 2.5));
    if (time_s > out->time_s) {
      out->time_s = time_s;
      out->slowest = rank;
    }
    if (spent_s > out->spent_s)
      out->spent_s = spent_s;
    if (out->failed < 0 && failed > 1.5)
      out->failed = (int)rank;
  }
}

bool
nccl_agree_enough (const double *sample_s, size_t n, double target, double share_s, double spent_s)
{
  ProbeStats stats;
  bool tight = probe_stats_of (sample_s, n, &stats) && probe_stats_enough (&stats, target);
  return tight || n >= PROBE_SAMPLES_MOST || (n >= PROBE_SAMPLES_LEAST && spent_s > share_s) ||
         spent_s > share_s * SHARE_STRETCH + 1;
}
