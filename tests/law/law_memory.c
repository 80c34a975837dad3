/* What must hold of a step's memory whatever the constants: more ranks, more recomputation, more sharding never take more; more
 * tokens never less. Of what the framework allocates, since each communicator has buffers of its own. */
#include "memory_fixture.h"

static const char *const models[] = { "llama3_8b", "gpt3_6_7b", "llama32_1b", "mixtral_8x7b", "qwen3_30b_a3b", "deepseek_v3" };
#define DENSE 3 /* of them, which come first */
static const char *const frameworks[] = { "eager", "fused" };

/* The fullest rank's, on 64 H200. */
static double
allocated_B (const char *model, const char *framework, const char *more)
{
  g_autofree char *workload = g_strdup_printf ("model: %s, framework: %s, global_batch: 4096, %s", model, framework, more);
  g_autoptr (MemoryFixture) f = memory_of (8, 8, workload);
  double most_B = 0;
  for (guint s = 0; s < f->stages->len; s++)
    most_B = MAX (most_B, memory_stage (f, s)->allocated_B);
  return most_B;
}

#define LONG  "sequence: 4096, micro_batch: 2, "
#define ONE   "sequence: 4096, micro_batch: 1, "
#define SHORT "sequence: 2048, micro_batch: 1, "
#define WIDE  "sequence: 16384, micro_batch: 1, "

/* A row of choices, in each of which no rank may need more than in the one before, of the first n models. */
static void
never_more_of (size_t n, const char *what, const char *const *choices)
{
  for (size_t m = 0; m < n; m++)
    for (size_t k = 0; k < G_N_ELEMENTS (frameworks); k++) {
      double before_B = allocated_B (models[m], frameworks[k], choices[0]);
      for (size_t i = 1; choices[i] != NULL; i++) {
        double now_B = allocated_B (models[m], frameworks[k], choices[i]);
        gboolean holds = now_B <= before_B * (1 + 1e-9);
        TEST_TRUE (holds);
        if (!holds)
          g_printerr ("%s: %s, %s: %.0f B with %s, %.0f B with %s\n", what, models[m], frameworks[k], before_B, choices[i - 1],
                      now_B, choices[i]);
        before_B = now_B;
      }
    }
}

static void
never_more (const char *what, const char *const *choices)
{
  never_more_of (G_N_ELEMENTS (models), what, choices);
}

static void
more_tensor_parallelism_never_takes_more (void)
{
  static const char *const plain[] = { LONG "parallel: {tp: 1}", LONG "parallel: {tp: 2}", LONG "parallel: {tp: 4}",
                                       LONG "parallel: {tp: 8}", NULL };
  static const char *const sharded[] = { LONG "parallel: {tp: 1}", LONG "parallel: {tp: 2, sp: true}",
                                         LONG "parallel: {tp: 4, sp: true}", LONG "parallel: {tp: 8, sp: true}", NULL };
  never_more_of (DENSE, "tp", plain); /* experts on tp need sp */
  never_more ("tp with sp", sharded);
}

static void
more_recomputation_never_takes_more (void)
{
  static const char *const flash[] = { LONG "recompute: none",
                                       LONG "recompute: selective",
                                       LONG "recompute: {modules: [mlp]}",
                                       LONG "recompute: {modules: [mlp, attention]}",
                                       LONG "recompute: full",
                                       NULL };
  static const char *const scores[] = { SHORT "flash: false, recompute: none", SHORT "flash: false, recompute: selective",
                                        SHORT "flash: false, recompute: full", NULL };
  never_more ("recompute", flash);
  never_more ("recompute without flash", scores);
}

static void
fewer_tokens_never_take_more (void)
{
  static const char *const batches[] = { "sequence: 4096, micro_batch: 8", "sequence: 4096, micro_batch: 4",
                                         "sequence: 4096, micro_batch: 2", "sequence: 4096, micro_batch: 1", NULL };
  static const char *const lengths[] = { "sequence: 16384, micro_batch: 1", "sequence: 8192, micro_batch: 1",
                                         "sequence: 2048, micro_batch: 1", "sequence: 256, micro_batch: 1", NULL };
  static const char *const contexts[] = { WIDE "parallel: {cp: 1}", WIDE "parallel: {cp: 2}", WIDE "parallel: {cp: 8}", NULL };
  never_more ("micro-batch", batches);
  never_more ("sequence", lengths);
  never_more ("cp", contexts);
}

static void
more_sharding_never_takes_more (void)
{
  static const char *const stages[] = { ONE "precision: {gradients: fp32}, parallel: {zero: 0}",
                                        ONE "precision: {gradients: fp32}, parallel: {zero: 1}",
                                        ONE "precision: {gradients: fp32}, parallel: {zero: 2}", NULL };
  static const char *const shards[] = { ONE "hsdp: {shard: 2}", ONE "hsdp: {shard: 8}", ONE "fsdp: {}", NULL };
  static const char *const gathered[] = { ONE "fsdp: {reshard: false}", ONE "fsdp: {prefetch: 3}", ONE "fsdp: {prefetch: 1}",
                                          ONE "fsdp: {prefetch: 0}", NULL };
  never_more ("zero", stages);
  never_more ("fsdp", shards);
  never_more ("gathered ahead", gathered);
}

#define PIPELINE "sequence: 2048, micro_batch: 1, parallel: {pp: 4, tp: 4}, "

static void
one_forward_one_backward_never_takes_more_than_all_forwards (void)
{
  static const char *const all = PIPELINE "schedule: gpipe", *const few = PIPELINE "schedule: 1f1b";
  for (size_t k = 0; k < G_N_ELEMENTS (frameworks); k++)
    TEST_TRUE (allocated_B ("llama3_8b", frameworks[k], few) < allocated_B ("llama3_8b", frameworks[k], all));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "more tensor parallelism never takes more", more_tensor_parallelism_never_takes_more },
    { "more recomputation never takes more", more_recomputation_never_takes_more },
    { "fewer tokens never take more", fewer_tokens_never_take_more },
    { "more sharding never takes more", more_sharding_never_takes_more },
    { "one forward, one backward never takes more than all forwards first",
      one_forward_one_backward_never_takes_more_than_all_forwards },
    { NULL, NULL },
  };
  return test_main ("laws: memory", cases);
}
