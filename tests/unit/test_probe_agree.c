#include "harness.h"
#include "nccl_agree.h"
#include "probe_stats.h"

#include <math.h>
#include <string.h>

#define RANKS 3

/* What an all-reduce that sums makes of all ranks' words. */
static void
sum (const NcclSay say[RANKS], float out[RANKS * NCCL_WORDS])
{
  memset (out, 0, RANKS * NCCL_WORDS * sizeof *out);
  for (unsigned rank = 0; rank < RANKS; rank++) {
    float words[RANKS * NCCL_WORDS];
    nccl_agree_put (&say[rank], RANKS, rank, words);
    for (size_t i = 0; i < RANKS * NCCL_WORDS; i++)
      out[i] += words[i];
  }
}

static void
the_slowest_rank_counts_and_the_first_that_failed_is_named (void)
{
  NcclSay say[RANKS] = { { .time_s = 10e-6, .spent_s = 0.5 },
                         { .time_s = 12e-6, .spent_s = 0.25 },
                         { .time_s = 11e-6, .spent_s = 1 } };
  float words[RANKS * NCCL_WORDS];
  NcclVerdict verdict;
  sum (say, words);
  nccl_agree_take (words, RANKS, &verdict);
  TEST_FALSE (verdict.broken);
  TEST_NEAR (verdict.time_s, 12e-6, 1e-7); /* of single precision */
  TEST_NEAR (verdict.spent_s, 1, 1e-15);
  TEST_INT (verdict.slowest, 1);
  TEST_INT (verdict.failed, -1);
  say[1].failed = say[2].failed = true;
  sum (say, words);
  nccl_agree_take (words, RANKS, &verdict);
  TEST_FALSE (verdict.broken);
  TEST_INT (verdict.failed, 1);
}

/* A rank whose words did not come, came twice or are no numbers: nothing is decided on them. */
static void
words_that_are_not_whole_are_seen (void)
{
  const NcclSay say[RANKS] = { { .time_s = 1 }, { .time_s = 2 }, { .time_s = 3 } };
  static const float bad[] = { 0, 3, -1, NAN, INFINITY };
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    float words[RANKS * NCCL_WORDS];
    NcclVerdict verdict;
    sum (say, words);
    words[1 * NCCL_WORDS + 2] = bad[i];
    nccl_agree_take (words, RANKS, &verdict);
    TEST_TRUE (verdict.broken);
  }
  float words[RANKS * NCCL_WORDS];
  NcclVerdict verdict;
  sum (say, words);
  words[0] = -1;
  nccl_agree_take (words, RANKS, &verdict);
  TEST_TRUE (verdict.broken);
}

/* The same numbers on every rank give the same decision: it is a function of nothing else. */
static void
a_case_is_over_when_its_median_is_known_or_its_time_spent (void)
{
  double tight[PROBE_SAMPLES_MOST], loose[PROBE_SAMPLES_MOST];
  for (unsigned i = 0; i < PROBE_SAMPLES_MOST; i++) {
    tight[i] = 1 + 0.001 * (i % 2);
    loose[i] = 1 + i % 2;
  }
  TEST_FALSE (nccl_agree_enough (tight, 4, 0.02, 1, 0)); /* fewer than five say nothing */
  TEST_FALSE (nccl_agree_enough (tight, 5, 0.02, 1, 0)); /* five do not hold 95 % */
  TEST_TRUE (nccl_agree_enough (tight, 6, 0.02, 1, 0));
  TEST_FALSE (nccl_agree_enough (loose, 6, 0.02, 1, 0.9));
  TEST_TRUE (nccl_agree_enough (loose, 6, 0.02, 1, 1.1));
  TEST_FALSE (nccl_agree_enough (loose, 4, 0.02, 1, 10.9)); /* ten shares and a second */
  TEST_TRUE (nccl_agree_enough (loose, 4, 0.02, 1, 11.1));
  TEST_TRUE (nccl_agree_enough (loose, PROBE_SAMPLES_MOST, 0.02, 1e9, 0));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the slowest rank counts, and the first that failed is named", the_slowest_rank_counts_and_the_first_that_failed_is_named },
    { "words that are not whole are seen", words_that_are_not_whole_are_seen },
    { "a case is over when its median is known or its time spent", a_case_is_over_when_its_median_is_known_or_its_time_spent },
    { 0 },
  };
  return test_main ("probe/agree", cases);
}
