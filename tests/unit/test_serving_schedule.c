/* Schedulers: which step gives which token, by hand. */
#include <string.h>

#include "harness.h"
#include "serving/schedule.h"

#define MOST 8

/* Runs steps of 1 s until all have ended; out[i] lists the steps that gave request i a token. */
typedef struct {
  SrvSched *sched;
  SrvSeq seqs[MOST];
  GString *out[MOST];
  guint n, step;
} Run;

static void
token (void *user, SrvSeq *seq, guint tokens)
{
  Run *run = user;
  for (guint i = 0; i < tokens; i++)
    g_string_append_printf (run->out[seq->index], "%s%u", run->out[seq->index]->len > 0 ? " " : "", run->step);
}

static Run *
start (SrvEngineName engine, SrvLimits limits, guint blocks, guint block, gboolean cache)
{
  Run *run = g_new0 (Run, 1);
  limits.chunked = TRUE;
  run->sched = srv_sched_new (&srv_policies[engine], &limits, srv_kv_new (blocks, block, cache));
  return run;
}

static SrvSeq *
add (Run *run, guint input, guint output, guint priority)
{
  SrvSeq *seq = &run->seqs[run->n];
  *seq = (SrvSeq){ .index = run->n, .input = input, .output = output, .priority = priority, .start = ENG_TIME_NEVER };
  run->out[run->n++] = g_string_new (NULL);
  srv_sched_add (run->sched, seq);
  return seq;
}

static void
steps (Run *run, guint until)
{
  while (run->step < until && srv_sched_step (run->sched)) {
    run->step++;
    srv_sched_done (run->sched, token, NULL, run);
  }
}

static void
end (Run *run)
{
  for (guint i = 0; i < run->n; i++) {
    TEST_TRUE (srv_seq_ended (&run->seqs[i]));
    srv_hold_clear (&run->seqs[i].kv);
    g_string_free (run->out[i], TRUE);
  }
  TEST_INT (srv_kv_idle (run->sched->kv), srv_kv_blocks (run->sched->kv));
  srv_sched_free (run->sched);
  g_free (run);
}

static void
vllm_shares_one_budget_among_prompts_and_answers (void)
{
  /* Budget 8, two sequences. Step 1: 8 of A's 10. Step 2: A's last 2, B's 4. Step 3: A and B one each; B has ended. Step 4: A's
   * last, and C's 3. Step 5: C. */
  Run *run = start (SRV_ENGINE_VLLM, (SrvLimits){ .max_seqs = 2, .max_tokens = 8 }, 100, 4, FALSE);
  add (run, 10, 3, 0);
  add (run, 4, 2, 0);
  add (run, 3, 2, 0);
  steps (run, 100);
  TEST_STR (run->out[0]->str, "2 3 4");
  TEST_STR (run->out[1]->str, "2 3");
  TEST_STR (run->out[2]->str, "4 5");
  end (run);
}

static void
vllm_preempts_the_last_one_where_no_block_is_left (void)
{
  /* Six blocks of 4, two requests of 8 tokens with 8 to give. Three blocks each last until 12 tokens are in the cache. At step 6
   * A needs a fourth: B, the last admitted, loses its 12. It has 13 tokens to compute anew, in four blocks, which are free after
   * A's end at 8. */
  Run *run = start (SRV_ENGINE_VLLM, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 6, 4, FALSE);
  add (run, 8, 8, 0);
  SrvSeq *b = add (run, 8, 8, 0);
  steps (run, 100);
  TEST_STR (run->out[0]->str, "1 2 3 4 5 6 7 8");
  TEST_STR (run->out[1]->str, "1 2 3 4 5 9 10 11");
  TEST_INT (b->lost, 12);
  TEST_INT (run->sched->preemptions, 1);
  end (run);
}

static void
vllm_preempts_the_least_urgent_where_priorities_are_given (void)
{
  /* As before, but A is the less urgent: when it needs its fourth block, at step 6, it is the victim itself. */
  Run *run = start (SRV_ENGINE_VLLM, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 6, 4, FALSE);
  SrvSeq *a = add (run, 8, 8, 1);
  add (run, 8, 8, 0);
  steps (run, 100);
  TEST_STR (run->out[0]->str, "1 2 3 4 5 9 10 11");
  TEST_STR (run->out[1]->str, "1 2 3 4 5 6 7 8");
  TEST_INT (a->preemptions, 1);
  end (run);
}

static void
a_cache_gives_back_what_a_preempted_request_had (void)
{
  /* As the case of six blocks, with a cache: A's fourth block takes one of B's three, the last; 8 of 13 tokens are found again. */
  Run *run = start (SRV_ENGINE_VLLM, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 6, 4, TRUE);
  add (run, 8, 8, 0);
  add (run, 8, 8, 0);
  steps (run, 8);
  TEST_INT (srv_kv_match (run->sched->kv, &run->seqs[1].kv, 13).blocks, 2);
  steps (run, 9);
  TEST_INT (run->sched->n_tokens, 5);
  steps (run, 100);
  TEST_STR (run->out[1]->str, "1 2 3 4 5 9 10 11");
  end (run);
}

static void
vllm_shares_a_prefix_within_a_step (void)
{
  /* Both have the same two hashes of 8 tokens: the second computes its last 4 tokens only. */
  const guint64 hashes[] = { 11, 12 };
  for (int engine = 0; engine < SRV_ENGINE_N; engine++) {
    Run *run = start ((SrvEngineName)engine, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 50, 4, TRUE);
    for (guint i = 0; i < 2; i++) {
      SrvSeq *seq = add (run, 20, 2, 0);
      srv_kv_name (run->sched->kv, &seq->kv, hashes, 2, 8);
    }
    steps (run, 1);
    TEST_INT (run->sched->n_tokens, engine == SRV_ENGINE_VLLM ? 24 : 40);
    steps (run, 100);
    end (run);
  }
}

static void
sglang_computes_prompts_before_answers (void)
{
  /* Chunk 8. Step 1: 8 of A's 10. Step 2: A's other 2, and 6 of B's 8. Step 3: B's other 2, and C's 3. Only then all decode. */
  Run *run = start (SRV_ENGINE_SGLANG, (SrvLimits){ .max_seqs = 8, .max_tokens = 8, .chunk = 8 }, 1000, 1, FALSE);
  add (run, 10, 3, 0);
  add (run, 8, 2, 0);
  add (run, 3, 2, 0);
  steps (run, 100);
  TEST_STR (run->out[0]->str, "2 4 5");
  TEST_STR (run->out[1]->str, "3 4");
  TEST_STR (run->out[2]->str, "3 4");
  end (run);
}

static void
sglang_decodes_beside_prompts_where_they_are_mixed (void)
{
  /* A's prompt of 4 at step 1. B's of 10 in chunks of 8 less what decodes: 7 at step 2, 3 at step 3, A decodes in both. */
  Run *run = start (SRV_ENGINE_SGLANG, (SrvLimits){ .max_seqs = 8, .max_tokens = 8, .mixed = TRUE }, 1000, 1, FALSE);
  add (run, 4, 4, 0);
  steps (run, 1);
  add (run, 10, 2, 0);
  steps (run, 20);
  TEST_STR (run->out[0]->str, "1 2 3 4");
  TEST_STR (run->out[1]->str, "3 4");
  end (run);
}

static void
sglang_looks_for_new_requests_every_few_steps (void)
{
  /* A decodes from step 2 on. B is there after step 2, and is seen when three decode steps have passed: its prompt is step 5. */
  Run *run = start (SRV_ENGINE_SGLANG, (SrvLimits){ .max_seqs = 8, .max_tokens = 64, .poll = 3 }, 1000, 1, FALSE);
  add (run, 4, 8, 0);
  steps (run, 2);
  add (run, 4, 2, 0);
  steps (run, 20);
  TEST_STR (run->out[1]->str, "5 6");
  end (run);
}

static void
sglang_admits_by_what_answers_may_still_need (void)
{
  /* 40 tokens of pool. A: 8 + 20 to come + 1 of a page = 29 < 40, admitted. B then: 8 + 10 + 1 = 19, and 40 - 28 = 12 are left in
   * that step: it waits. At step 2, 32 are free and A promises 19 · .7 = 13.3: 18.7 < 19. At step 3, 31 are free, one decode step
   * has passed, and A promises 18 · (.7 - .602 / 600): 18.42. Later A's promise falls by .7 a step while a token a step is taken:
   * B comes when A has ended at step 20. */
  Run *run = start (SRV_ENGINE_SGLANG, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 40, 1, FALSE);
  add (run, 8, 20, 0);
  SrvSeq *b = add (run, 8, 10, 0);
  steps (run, 20);
  TEST_INT (b->computed, 0);
  steps (run, 21);
  TEST_STR (run->out[1]->str, "21");
  steps (run, 100);
  end (run);
}

static void
sglang_retracts_the_shortest_answer (void)
{
  /* 24 tokens of pool; A has 4 in, 14 out, B 6 in, 9 out. Step 1 admits A alone: 24 - 18 < 16. Step 2: 20 free less 13 · .7 =
   * 10.9, B's 6 + 9 + 1 = 16 do not fit. A's rest shrinks until 24 - 4 - k - (13 - k) · .7 > 16 for no k. B comes when A is
   * through. */
  Run *run = start (SRV_ENGINE_SGLANG, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 24, 1, FALSE);
  add (run, 4, 14, 0);
  add (run, 6, 9, 0);
  steps (run, 100);
  TEST_STR (run->out[1]->str, "15 16 17 18 19 20 21 22 23");
  TEST_INT (run->sched->preemptions, 0);
  end (run);
  run = start (SRV_ENGINE_SGLANG, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 64, 1, FALSE);
  add (run, 4, 40, 0);
  steps (run, 1);
  run->sched->ratio = 0.1; /* as after many steps */
  SrvSeq *d = add (run, 4, 40, 0);
  /* 60 free, A promises 39 · .1 = 3.9; 4 + 40 + 1 = 45 fit. Both grow by a token a step: after step 2 the pool holds 4 + 4
   * tokens, then 2 a step. A's KV is 4 + k, D's 4 + k: 8 + 2 k <= 64 holds to k = 28, at step 30. At step 31 both have given 29
   * tokens, and the one admitted last is retracted. */
  steps (run, 1000);
  TEST_INT (d->preemptions, 1);
  TEST_INT (d->lost, 32);
  end (run);
}

static void
trtllm_admits_what_fits_to_its_end (void)
{
  /* Ten blocks of 4. A and B need ceil (16 / 4) = 4 blocks each to their ends, C 4 too: it waits until A ends at step 8. */
  Run *run = start (SRV_ENGINE_TRTLLM, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 10, 4, FALSE);
  add (run, 8, 8, 0);
  add (run, 8, 8, 0);
  add (run, 8, 8, 0);
  steps (run, 100);
  TEST_STR (run->out[1]->str, "1 2 3 4 5 6 7 8");
  TEST_STR (run->out[2]->str, "9 10 11 12 13 14 15 16");
  TEST_INT (run->sched->preemptions, 0);
  end (run);
}

static void
trtllm_decodes_first_and_cuts_at_blocks (void)
{
  /* Budget 10, blocks of 4. Step 1: A's 6, and 4 of B's 11. Step 2: A decodes, 9 are left: B's other 7. */
  Run *run = start (SRV_ENGINE_TRTLLM, (SrvLimits){ .max_seqs = 8, .max_tokens = 10 }, 100, 4, FALSE);
  add (run, 6, 3, 0);
  add (run, 11, 2, 0);
  steps (run, 100);
  TEST_STR (run->out[0]->str, "1 2 3");
  TEST_STR (run->out[1]->str, "2 3");
  end (run);
}

static guint
two (void *user, const SrvSeq *seq)
{
  (void)user;
  (void)seq;
  return 2;
}

static void
accepted_drafts_come_together (void)
{
  /* Three drafts, two accepted each time: token 1 by the prompt, then three a step; the last step gives what is left. */
  Run *run = start (SRV_ENGINE_VLLM, (SrvLimits){ .max_seqs = 8, .max_tokens = 64, .drafts = 3 }, 100, 4, FALSE);
  add (run, 8, 9, 0);
  while (srv_sched_step (run->sched)) {
    run->step++;
    srv_sched_done (run->sched, token, two, run);
  }
  TEST_STR (run->out[0]->str, "1 2 2 2 3 3 3 4 4");
  end (run);
}

static void
repeated_steps_are_as_single_ones (void)
{
  for (int engine = 0; engine < SRV_ENGINE_N; engine++) {
    Run *one = start ((SrvEngineName)engine, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 200, 4, FALSE);
    Run *many = start ((SrvEngineName)engine, (SrvLimits){ .max_seqs = 8, .max_tokens = 64 }, 200, 4, FALSE);
    Run *runs[] = { one, many };
    guint most = 0, counts[4], drawn = 0;
    for (guint i = 0; i < 2; i++) {
      add (runs[i], 9, 30, 0);
      add (runs[i], 6, 20, 0);
      steps (runs[i], 4);
    }
    TEST_TRUE (srv_sched_repeats (many->sched, &most));
    TEST_INT (most, 16); /* of 20 tokens, 4 were given: one each step */
    srv_sched_new_blocks (many->sched, counts);
    for (guint i = 0; i < most; i++)
      drawn += counts[i % 4];
    srv_kv_draw (many->sched->kv, drawn);
    srv_sched_repeat (many->sched, most);
    many->step += most;
    srv_sched_done (many->sched, token, NULL, many);
    steps (one, 20);
    TEST_INT (srv_kv_idle (one->sched->kv), srv_kv_idle (many->sched->kv));
    TEST_INT (one->seqs[0].kv.blocks, many->seqs[0].kv.blocks);
    TEST_INT (one->seqs[0].produced, many->seqs[0].produced);
    TEST_TRUE (srv_seq_ended (&many->seqs[1]));
    for (guint i = 0; i < 2; i++) {
      steps (runs[i], 100);
      TEST_TRUE (g_str_has_suffix (runs[i]->out[0]->str, " 29 30"));
      end (runs[i]);
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "vLLM shares one budget among prompts and answers", vllm_shares_one_budget_among_prompts_and_answers },
    { "vLLM preempts the last one where no block is left", vllm_preempts_the_last_one_where_no_block_is_left },
    { "vLLM preempts the least urgent where priorities are given", vllm_preempts_the_least_urgent_where_priorities_are_given },
    { "a cache gives back what a preempted request had", a_cache_gives_back_what_a_preempted_request_had },
    { "vLLM shares a prefix within a step", vllm_shares_a_prefix_within_a_step },
    { "SGLang computes prompts before answers", sglang_computes_prompts_before_answers },
    { "SGLang decodes beside prompts where they are mixed", sglang_decodes_beside_prompts_where_they_are_mixed },
    { "SGLang looks for new requests every few steps", sglang_looks_for_new_requests_every_few_steps },
    { "SGLang admits by what answers may still need", sglang_admits_by_what_answers_may_still_need },
    { "SGLang retracts the shortest answer", sglang_retracts_the_shortest_answer },
    { "TensorRT-LLM admits what fits to its end", trtllm_admits_what_fits_to_its_end },
    { "TensorRT-LLM decodes first and cuts at blocks", trtllm_decodes_first_and_cuts_at_blocks },
    { "accepted drafts come together", accepted_drafts_come_together },
    { "repeated steps are as single ones", repeated_steps_are_as_single_ones },
    { NULL, NULL },
  };
  return test_main ("serving/schedule", cases);
}
