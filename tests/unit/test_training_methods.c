/* Local steps and compressed gradients, against closed forms. */
#include "model_fixture.h"

/* Two workers of 8 GPUs, each on a node of its own. */
#define SITES    "topology: hgx_h100, nodes: 2"
#define DDP      "model: llama3_8b, sequence: 2048, micro_batch: 1, global_batch: 16, "
#define ELEMENTS 8030261248.0

static TrnResult
answer (const char *workload)
{
  g_auto (ModelStep) step = model_answer (SITES, workload, NULL, COL_MODE_EVENT);
  TrnResult out = step.result->training;
  out.memory = out.terms = out.stages = NULL; /* gone with the result */
  return out;
}

static void
workers_exchange_their_parts_every_so_many_steps (void)
{
  const TrnResult out = answer (DDP "parallel: {zero: 1}, local_steps: {workers: 2, every: 50, format: bf16}");
  TEST_TRUE (out.local.set);
  TEST_NEAR (out.local.size_B, ELEMENTS / 8 * 2, 1e-9); /* an eighth of the model a rank, in 16 bits */
  TEST_NEAR (out.step_time_s, out.local.inner_s + (out.local.exchange_s + out.local.update_s) / 50, 1e-9);
  /* a tenth of the steps: ten times as much a step */
  const TrnResult often = answer (DDP "parallel: {zero: 1}, local_steps: {workers: 2, every: 5, format: bf16}");
  TEST_NEAR (often.step_time_s - often.local.inner_s, 10 * (out.step_time_s - out.local.inner_s), 1e-9);
  /* a byte a parameter is half of it; the inner step knows nothing of the others */
  const TrnResult narrow = answer (DDP "parallel: {zero: 1}, local_steps: {workers: 2, every: 50, format: int8}");
  TEST_NEAR (narrow.local.size_B, out.local.size_B / 2, 1e-12);
  TEST_TRUE (narrow.local.exchange_s < out.local.exchange_s);
  TEST_NEAR (narrow.local.inner_s, out.local.inner_s, 1e-12);
  const TrnResult half = answer (DDP "parallel: {zero: 1}, local_steps: {workers: 2, every: 50, format: int4}");
  TEST_NEAR (half.local.size_B, out.local.size_B / 4, 1e-12);
}

static void
fragments_that_may_take_steps_are_not_waited_for (void)
{
  const TrnResult out = answer (DDP "parallel: {zero: 1}, local_steps: {workers: 2, every: 50, fragments: 10, overlap: 2}");
  TEST_NEAR (out.local.size_B, ELEMENTS / 8 * 4 / 10, 1e-9);
  TEST_NEAR (out.local.wait_s, 0, 0);
  TEST_NEAR (out.step_time_s, out.local.inner_s + out.local.update_s / 50, 1e-9);
}

/* DDP and FSDP inside a worker: 8 B more a parameter, shared by the worker's 8 ranks. */
static void
outer_parameters_are_held (void)
{
  static const char *const inside[] = { "parallel: {zero: 0}", "fsdp: {}" };
  for (guint i = 0; i < G_N_ELEMENTS (inside); i++) {
    g_autofree char *plain = g_strdup_printf (DDP "%s", inside[i]),
                    *local = g_strdup_printf (DDP "%s, local_steps: {workers: 2, every: 50}", inside[i]);
    g_auto (ModelStep) a = model_answer ("topology: hgx_h100, nodes: 1", plain, NULL, COL_MODE_EVENT);
    const TrnResult b = answer (local);
    TEST_NEAR (b.fullest.optimizer_B - a.result->training.fullest.optimizer_B, 8 * ELEMENTS / 8, 1e-6);
  }
}

/* ---- compression ---- */

static double
sent_B (const char *compress)
{
  g_autofree char *workload = g_strdup_printf (DDP "precision: {gradients: fp32}%s", compress);
  return answer (workload).comm[TRN_COMM_DP].sent_B;
}

static void
casts_halve_what_is_sent (void)
{
  const double all_B = sent_B ("");
  TEST_NEAR (all_B, ELEMENTS * 4 * 2 * 15 / 16, 1e-6); /* a ring of 16 sends 30/16 of the gradients */
  TEST_NEAR (sent_B (", compress: bf16"), all_B / 2, 1e-6);
  TEST_NEAR (sent_B (", compress: fp16"), all_B / 2, 1e-6);
  TEST_NEAR (sent_B (", compress: none"), all_B, 0);
  /* gathered from 16 ranks: 15/16 of 16 x 1 B, and a scale of 4 B for 512 */
  TEST_NEAR (sent_B (", compress: int8"), ELEMENTS * (1 + 4.0 / 512) * 16 * 15 / 16, 1e-6);
}

/* Rank 4 of Llama 3 8B: a matrix of a x b goes as 4 (a + b) numbers; norms go as they are. */
static void
powersgd_sends_factors (void)
{
  const double q = 4096 + 4096, k = 4096 + 1024, mlp = 4096 + 14336, table = 128256 + 4096, norms = 65 * 4096.0;
  const double elements = 4 * (32 * (2 * q + 2 * k + 3 * mlp) + 2 * table) + norms;
  TEST_NEAR (sent_B (", compress: {kind: powersgd, rank: 4}"), elements * 4 * 2 * 15 / 16, 1e-6);
  /* passes over the gradients cost more than the cast's */
  const TrnResult cast = answer (DDP "precision: {gradients: fp32}, compress: bf16"),
                  low = answer (DDP "precision: {gradients: fp32}, compress: {kind: powersgd, rank: 4}");
  TEST_TRUE (low.part_s[TRN_PART_COMPUTE] > cast.part_s[TRN_PART_COMPUTE]);
}

/* ---- what cannot be ---- */

static void
refused (const char *workload, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_auto (ModelStep) step = model_load (SITES, workload, NULL, COL_MODE_EVENT, &error);
  if (step.scenario != NULL)
    step.result = scn_run (step.scenario, FALSE, &error);
  TEST_TRUE (step.result == NULL);
  TEST_HAS (error != NULL ? error->message : "", message);
}

static void
what_cannot_be_is_refused (void)
{
  refused (DDP "local_steps: {workers: 3, every: 5}", "3 workers do not divide dp 16");
  refused (DDP "local_steps: {workers: 2, every: 5, fragments: 6}", "'fragments' 6 in 'every' 5 steps");
  refused (DDP "local_steps: {workers: 2, every: 8, fragments: 4, overlap: 3}",
           "may take 3 steps, and the next one begins after 2");
  refused (DDP "hsdp: {shard: 8}, local_steps: {workers: 2, every: 5}", "hsdp and local_steps both");
  refused (DDP "parallel: {pp: 2}, local_steps: {workers: 2, every: 5}", "write placement: [tp, cp, pp, dp]");
  refused ("model: mixtral_8x7b, sequence: 2048, global_batch: 16, local_steps: {workers: 2, every: 5}", "with experts");
  refused (DDP "parallel: {zero: 1}, compress: bf16", "here gradients are reduce-scattered");
  refused (DDP "compress: bf16", "travel in bf16 already");
  refused (DDP "compress: {kind: int8, rank: 2}", "'rank' is of powersgd");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "workers exchange their parts every so many steps", workers_exchange_their_parts_every_so_many_steps },
    { "fragments that may take steps are not waited for", fragments_that_may_take_steps_are_not_waited_for },
    { "outer parameters are held", outer_parameters_are_held },
    { "casts halve what is sent", casts_halve_what_is_sent },
    { "PowerSGD sends factors", powersgd_sends_factors },
    { "what cannot be is refused", what_cannot_be_is_refused },
    { NULL, NULL },
  };
  return test_main ("methods of training", cases);
}
