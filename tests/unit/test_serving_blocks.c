/* KV blocks and the cache of prefixes. */
#include "base/random.h"
#include "harness.h"
#include "serving/blocks.h"

static void
name (SrvKv *kv, SrvHold *hold, guint64 first, guint n, guint each)
{
  guint64 hashes[64];
  for (guint i = 0; i < n; i++)
    hashes[i] = first + i;
  srv_kv_name (kv, hold, hashes, n, each);
}

/* Computes `tokens` tokens of a new sequence with n hashes from `first`; returns the tokens that it found. */
static guint
prefill (SrvKv *kv, SrvHold *hold, guint64 first, guint n, guint each, guint tokens)
{
  name (kv, hold, first, n, each);
  const SrvHit hit = srv_kv_match (kv, hold, tokens);
  srv_kv_take (kv, hold, hit);
  TEST_TRUE (srv_kv_grow (kv, hold, tokens));
  srv_kv_commit (kv, hold, tokens);
  return hit.blocks * srv_kv_block (kv);
}

static void
end (SrvKv *kv, SrvHold *hold)
{
  srv_kv_release (kv, hold, 0);
  srv_kv_forget (kv, hold);
}

static void
a_shared_prefix_is_found_up_to_the_last_token (void)
{
  /* Twelve hashes of 512 tokens are shared: 12 · 512 = 6144 of 6472 tokens are found. The same prompt of 6144 tokens in blocks of
   * 16: its last token is computed, so 6143 / 16 = 383 whole blocks, 6128 tokens. */
  SrvKv *kv = srv_kv_new (2000, 16, TRUE);
  SrvHold a = { 0 }, b = { 0 }, c = { 0 };
  TEST_INT (prefill (kv, &a, 100, 12, 512, 6200), 0);
  TEST_INT (prefill (kv, &b, 100, 12, 512, 6472), 6144);
  TEST_INT (prefill (kv, &c, 100, 12, 512, 6144), 6128);
  TEST_INT (c.blocks, 384);
  TEST_INT (c.shared, 383);
  /* 384 blocks are shared; a has ceil (56 / 16) = 4 of its own, b ceil (328 / 16) = 21, c 1. */
  TEST_INT (2000 - srv_kv_idle (kv), 384 + 4 + 21 + 1);
  TEST_TRUE (srv_kv_sums (kv, 4 + 21 + 1));
  end (kv, &a);
  end (kv, &b);
  end (kv, &c);
  TEST_INT (srv_kv_idle (kv), 2000);
  TEST_INT (prefill (kv, &a, 100, 12, 512, 6472), 6144); /* idle blocks still know it */
  end (kv, &a);
  srv_hold_clear (&a);
  srv_hold_clear (&b);
  srv_hold_clear (&c);
  srv_kv_free (kv);
}

static void
the_longest_unused_is_taken_first_and_its_tail_before_its_begin (void)
{
  /* Ten blocks of 4; units of 8 tokens are 2 blocks. a leaves 4 blocks, then b 4. Of the ten, the 2 never used go first, then a's
   * tail. */
  SrvKv *kv = srv_kv_new (10, 4, TRUE);
  SrvHold a = { 0 }, b = { 0 }, c = { 0 };
  prefill (kv, &a, 1, 2, 8, 16);
  prefill (kv, &b, 50, 2, 8, 16);
  end (kv, &a);
  end (kv, &b);
  prefill (kv, &c, 90, 0, 8, 12); /* 3 blocks: the 2 others and the last of a */
  name (kv, &a, 1, 2, 8);
  TEST_INT (srv_kv_match (kv, &a, 17).blocks, 3);
  name (kv, &b, 50, 2, 8);
  TEST_INT (srv_kv_match (kv, &b, 17).blocks, 4);
  /* What was cut is filled by the next one with this prompt. */
  srv_kv_take (kv, &a, srv_kv_match (kv, &a, 17));
  TEST_TRUE (srv_kv_grow (kv, &a, 16)); /* takes the last of b */
  srv_kv_commit (kv, &a, 16);
  TEST_INT (a.shared, 4);
  TEST_INT (srv_kv_match (kv, &b, 17).blocks, 3);
  TEST_TRUE (srv_kv_sums (kv, 3));
  end (kv, &a);
  name (kv, &a, 1, 2, 8);
  TEST_INT (srv_kv_match (kv, &a, 17).blocks, 4);
  end (kv, &c);
  srv_hold_clear (&a);
  srv_hold_clear (&b);
  srv_hold_clear (&c);
  srv_kv_free (kv);
}

static void
blocks_in_use_are_never_taken (void)
{
  SrvKv *kv = srv_kv_new (6, 4, TRUE);
  SrvHold a = { 0 }, b = { 0 };
  prefill (kv, &a, 1, 1, 16, 16);
  TEST_TRUE (srv_kv_grow (kv, &b, 8));
  TEST_FALSE (srv_kv_grow (kv, &b, 9));
  TEST_INT (b.blocks, 2);
  TEST_FALSE (srv_kv_grow (kv, &a, 17));
  end (kv, &b);
  TEST_TRUE (srv_kv_grow (kv, &a, 24));
  TEST_INT (srv_kv_idle (kv), 0);
  end (kv, &a);
  srv_hold_clear (&a);
  srv_hold_clear (&b);
  srv_kv_free (kv);
}

static void
a_preempted_sequence_finds_its_own_blocks_again (void)
{
  /* 13 tokens in blocks of 4: three full ones are kept. Another sequence then takes the tail of them. */
  SrvKv *kv = srv_kv_new (5, 4, TRUE);
  SrvHold a = { 0 }, b = { 0 };
  TEST_TRUE (srv_kv_grow (kv, &a, 13));
  srv_kv_release (kv, &a, 13);
  TEST_INT (srv_kv_idle (kv), 5);
  TEST_INT (srv_kv_match (kv, &a, 14).blocks, 3);
  TEST_INT (srv_kv_match (kv, &a, 12).blocks, 2); /* a token is always computed */
  TEST_TRUE (srv_kv_grow (kv, &b, 12));           /* the unused one, the partly filled one, then one that was kept */
  TEST_INT (srv_kv_match (kv, &a, 14).blocks, 2);
  srv_kv_take (kv, &a, srv_kv_match (kv, &a, 14));
  TEST_INT (a.blocks, 2);
  TEST_INT (srv_kv_idle (kv), 0);
  TEST_TRUE (srv_kv_sums (kv, 5));
  end (kv, &a);
  end (kv, &b);
  TEST_TRUE (srv_kv_sums (kv, 0));
  srv_kv_free (kv);
  /* Without a cache nothing is kept. */
  kv = srv_kv_new (5, 4, FALSE);
  TEST_TRUE (srv_kv_grow (kv, &a, 13));
  srv_kv_release (kv, &a, 13);
  TEST_INT (srv_kv_match (kv, &a, 14).blocks, 0);
  srv_kv_forget (kv, &a);
  srv_kv_free (kv);
}

static void
hashes_that_are_shorter_than_a_block_are_joined (void)
{
  /* Hashes of 16 tokens, blocks of 32: 5 hashes name 2 blocks. */
  SrvKv *kv = srv_kv_new (10, 32, TRUE);
  SrvHold a = { 0 }, b = { 0 };
  prefill (kv, &a, 1, 5, 16, 80);
  TEST_INT (a.n_keys, 2);
  TEST_INT (prefill (kv, &b, 1, 3, 16, 60), 32);
  end (kv, &a);
  end (kv, &b);
  srv_hold_clear (&a);
  srv_hold_clear (&b);
  srv_kv_free (kv);
}

#define N_HOLDS 40

static void
blocks_are_neither_lost_nor_found (void)
{
  BaseRandom random = base_random_stream (7, "blocks");
  SrvKv *kv = srv_kv_new (300, 4, TRUE);
  SrvHold holds[N_HOLDS] = { { 0 } };
  guint tokens[N_HOLDS] = { 0 };
  for (guint step = 0; step < 20000; step++) {
    const guint i = base_random_below (&random, N_HOLDS);
    if (tokens[i] > 0) {
      const gboolean back = base_random_below (&random, 3) == 0;
      srv_kv_release (kv, &holds[i], back ? tokens[i] : 0);
      tokens[i] = 0;
      if (!back)
        srv_kv_forget (kv, &holds[i]);
    } else {
      const guint n = 1 + base_random_below (&random, 100);
      srv_kv_forget (kv, &holds[i]);
      name (kv, &holds[i], base_random_below (&random, 6) * 100, n / 8, 8);
      const SrvHit hit = srv_kv_match (kv, &holds[i], n);
      if ((n + 3) / 4 - hit.blocks + hit.idle > srv_kv_idle (kv))
        continue;
      srv_kv_take (kv, &holds[i], hit);
      TEST_TRUE (srv_kv_grow (kv, &holds[i], n));
      srv_kv_commit (kv, &holds[i], n / 2);
      srv_kv_commit (kv, &holds[i], n);
      tokens[i] = n;
    }
    guint64 own = 0;
    for (guint k = 0; k < N_HOLDS; k++)
      own += holds[k].blocks - holds[k].shared;
    if (!srv_kv_sums (kv, own)) {
      TEST_INT (step, -1);
      break;
    }
  }
  for (guint i = 0; i < N_HOLDS; i++) {
    srv_kv_release (kv, &holds[i], 0);
    srv_kv_forget (kv, &holds[i]);
    srv_hold_clear (&holds[i]);
  }
  TEST_INT (srv_kv_idle (kv), 300);
  srv_kv_free (kv);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a shared prefix is found up to the last token", a_shared_prefix_is_found_up_to_the_last_token },
    { "the longest unused is taken first, and its tail before its begin",
      the_longest_unused_is_taken_first_and_its_tail_before_its_begin },
    { "blocks in use are never taken", blocks_in_use_are_never_taken },
    { "a preempted sequence finds its own blocks again", a_preempted_sequence_finds_its_own_blocks_again },
    { "hashes that are shorter than a block are joined", hashes_that_are_shorter_than_a_block_are_joined },
    { "blocks are neither lost nor found", blocks_are_neither_lost_nor_found },
    { NULL, NULL },
  };
  return test_main ("serving/blocks", cases);
}
