/* What holds of any step of a model: nothing is lost or gained by how it is cut, scheduled and simulated. */
#include <math.h>

#include "model_fixture.h"

#define ONE  "topology: hgx_h100, nodes: 1"
#define TWO  "topology: hgx_h100, nodes: 2"
#define FOUR "topology: hgx_h100, nodes: 4"
#define L8   "model: llama3_8b, sequence: 4096, "
#define MIX  "model: mixtral_8x7b, sequence: 4096, "
/* Wide layers and hardly a vocabulary: stages are even, and sends and collectives small beside them. */
#define EVEN                                                                                                            \
  "model: {llm: even, layers: 16, hidden: 8192, vocabulary: 8, attention: {kind: mha, heads: 64}, mlp: {kind: swiglu, " \
  "ffn: 24576}, positions: rope, norm: rmsnorm}, sequence: 8192, clip: false, "

typedef struct {
  const char *cluster, *workload;
} Row;

/* One of each kind of cut, schedule and policy. */
static const Row rows[] = {
  { ONE, SMALL_MODEL ", accumulate: 1" },
  { ONE, L8 "accumulate: 2" },
  { ONE, L8 "accumulate: 1, framework: eager" },
  { ONE, L8 "accumulate: 2, fsdp: {reshard: true}" },
  { TWO, L8 "accumulate: 1, fsdp: {reshard: false}" },
  { TWO, L8 "accumulate: 1, hsdp: {shard: 8}" },
  { TWO, L8 "accumulate: 2, parallel: {zero: 2}" },
  { TWO, L8 "accumulate: 2, parallel: {tp: 4, sp: true, zero: 1}" },
  { TWO, L8 "accumulate: 2, parallel: {tp: 8, sp: true}, overlap: {tp: true}" },
  { TWO, L8 "accumulate: 4, parallel: {tp: 2, pp: 4}" },
  { TWO, L8 "accumulate: 4, parallel: {pp: 4, zero: 1}, overlap: {p2p: false}" },
  { TWO, L8 "accumulate: 4, parallel: {pp: 4}, schedule: gpipe" },
  { TWO, L8 "accumulate: 8, parallel: {pp: 4, vp: 2}, schedule: interleaved" },
  { TWO, L8 "accumulate: 8, parallel: {pp: 4, vp: 2, zero: 2}, schedule: interleaved" },
  { TWO, L8 "accumulate: 8, parallel: {pp: 4}, schedule: zb_h1" },
  { TWO, L8 "accumulate: 8, parallel: {pp: 4}, schedule: zb_v" },
  { TWO, L8 "accumulate: 8, parallel: {pp: 4}, schedule: dualpipe" },
  { TWO, L8 "accumulate: 8, parallel: {pp: 4}, schedule: dualpipe_v" },
  { TWO, L8 "accumulate: 1, parallel: {cp: 4, zero: 1}" },
  { TWO, L8 "accumulate: 1, parallel: {cp: 4}, cp: {kind: all_gather}" },
  { TWO, L8 "accumulate: 1, parallel: {cp: 4}, cp: {kind: ulysses}" },
  { TWO, MIX "accumulate: 1, parallel: {ep: 8, zero: 1}" },
  { TWO, MIX "accumulate: 1, parallel: {tp: 2, sp: true, ep: 4}, moe: {etp: 2}" },
  { TWO, MIX "accumulate: 2, parallel: {ep: 8, pp: 2}, recompute: full" },
  { TWO, L8 "accumulate: 1, parallel: {tp: 8}, stragglers: [{rank: 3, slowdown: 1.5}], jitter: {compute: 3 %}" },
  { ONE, L8 "accumulate: 1, lora: {rank: 16}" },
};

static double
with_s (const Row *row, const char *more)
{
  g_autofree char *workload = g_strconcat (row->workload, more, NULL);
  return model_step_s (row->cluster, workload);
}

/* The same where compute and communication do not slow each other. */
static ModelStep
apart (const char *cluster, const char *workload)
{
  g_autoptr (GError) error = NULL;
  ModelStep step = model_load (cluster, workload, NULL, COL_MODE_EVENT, &error);
  if (step.scenario != NULL) {
    step.scenario->system.overlap = &model_apart;
    step.result = scn_run (step.scenario, FALSE, &error);
  }
  if (step.result == NULL)
    g_error ("%s: %s", workload, error->message);
  return step;
}

static double
apart_s (const char *cluster, const char *workload)
{
  g_auto (ModelStep) step = apart (cluster, workload);
  return step.result->training.step_time_s;
}

static void
the_parts_sum_to_the_step (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (ModelStep) step = model_answer (rows[i].cluster, rows[i].workload, NULL, COL_MODE_EVENT);
    const TrnResult *t = &step.result->training;
    double sum = 0;
    for (int p = 0; p < TRN_PART_N; p++) {
      TEST_TRUE (t->part_s[p] >= 0);
      sum += t->part_s[p];
    }
    TEST_NEAR (sum, t->step_time_s, 1e-9);
    TEST_TRUE (t->part_s[TRN_PART_COMPUTE] > 0);
    TEST_TRUE (t->step_time_lo_s <= t->step_time_s && t->step_time_s <= t->step_time_hi_s);
    TEST_TRUE (t->mfu > 0 && t->mfu < 1 && t->mfu_causal <= t->mfu);
    TEST_TRUE (t->ideal_bound_s <= t->step_time_s * (1 + 1e-9));
  }
}

static void
one_rank_waits_for_nobody (void)
{
  g_auto (ModelStep) step = model_answer (ONE, L8 "accumulate: 3, parallel: {dp: 1}", NULL, COL_MODE_EVENT);
  const TrnResult *t = &step.result->training;
  TEST_NEAR (t->communication_s, 0, 0);
  TEST_NEAR (t->part_s[TRN_PART_COMPUTE] + t->part_s[TRN_PART_OPTIMIZER], t->step_time_s, 1e-12);
  TEST_INT (step.result->run.links->len, 0);
}

static void
the_same_input_has_the_same_answer (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i += 3) {
    double a = model_step_s (rows[i].cluster, rows[i].workload), b = model_step_s (rows[i].cluster, rows[i].workload);
    TEST_TRUE (memcmp (&a, &b, sizeof a) == 0);
  }
}

static void
both_fidelities_agree_where_nothing_contends (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (ModelStep) event = model_answer (rows[i].cluster, rows[i].workload, NULL, COL_MODE_EVENT);
    g_auto (ModelStep) closed = model_answer (rows[i].cluster, rows[i].workload, NULL, COL_MODE_MODEL);
    TEST_NEAR (event.result->training.step_time_s, closed.result->training.step_time_s, 0.01);
  }
}

/* ---- more, less ---- */

static void
more_bandwidth_is_never_slower (void)
{
  static const char *const nics[] = { "topology.node.nics.rate=100 Gb/s", "topology.node.nics.rate=200 Gb/s",
                                      "topology.node.nics.rate=400 Gb/s" };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double last_s = HUGE_VAL;
    for (guint k = 0; k < G_N_ELEMENTS (nics); k++) {
      const char *const sets[] = { nics[k], NULL };
      g_auto (ModelStep) step = model_answer (rows[i].cluster, rows[i].workload, sets, COL_MODE_EVENT);
      TEST_TRUE (step.result->training.step_time_s <= last_s * (1 + 1e-9));
      last_s = step.result->training.step_time_s;
    }
  }
}

static void
overlap_is_never_slower_than_none (void)
{
  static const Row pairs[] = { { ONE, L8 "accumulate: 2" },
                               { TWO, L8 "accumulate: 2, parallel: {tp: 8, zero: 1}" },
                               { TWO, L8 "accumulate: 4, parallel: {tp: 4, pp: 2, zero: 1}" },
                               { TWO, L8 "accumulate: 1, parallel: {zero: 2}" } };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    TEST_TRUE (with_s (&pairs[i], "") <= with_s (&pairs[i], ", overlap: {gradients: false, parameters: false}") * (1 + 1e-9));
  static const Row tensor = { ONE, "model: llama3_70b, sequence: 8192, accumulate: 1, parallel: {tp: 8, sp: true}" };
  TEST_TRUE (with_s (&tensor, ", overlap: {tp: true}") < with_s (&tensor, ""));
  /* a send that nothing hides is the slower for the compute beside it: apart from that */
  TEST_TRUE (apart_s (TWO, L8 "accumulate: 8, parallel: {tp: 4, pp: 4}") <=
             apart_s (TWO, L8 "accumulate: 8, parallel: {tp: 4, pp: 4}, overlap: {p2p: false}"));
}

/* A backward pass beside the next forward pass hides dispatch and combine, on one stage, and on several with chunks once there
 * are enough micro-batches: both passes of a pair end together, which lengthens the ramps. */
static void
experts_beside_the_backward_pass_are_never_slower (void)
{
  static const Row experts[] = { { ONE, MIX "accumulate: 4, parallel: {ep: 8, zero: 1}" },
                                 { TWO, MIX "accumulate: 32, parallel: {ep: 8, pp: 2, vp: 2, zero: 1}" },
                                 { TWO, MIX "accumulate: 32, parallel: {ep: 4, pp: 4, vp: 2, zero: 1}" } };
  for (guint i = 0; i < G_N_ELEMENTS (experts); i++)
    TEST_TRUE (with_s (&experts[i], ", overlap: {ep: true}") < with_s (&experts[i], ""));
  static const Row dense = { ONE, L8 "accumulate: 4, parallel: {zero: 1}" }; /* nothing to hide */
  TEST_NEAR (with_s (&dense, ", overlap: {ep: true}") / with_s (&dense, ""), 1, 0.01);
}

static void
computing_again_is_never_faster (void)
{
  static const Row plain = { TWO, L8 "accumulate: 2, parallel: {tp: 4, sp: true}" };
  double none_s = with_s (&plain, ""), full_s = with_s (&plain, ", recompute: full");
  TEST_NEAR (with_s (&plain, ", recompute: selective"), none_s, 1e-12); /* flash keeps no scores */
  TEST_TRUE (with_s (&plain, ", recompute: {modules: [mlp]}") > none_s);
  TEST_TRUE (with_s (&plain, ", recompute: {modules: [mlp]}") < full_s);
  /* one more forward of 3: 4 : 3 at most */
  TEST_TRUE (full_s > 1.2 * none_s && full_s < 1.4 * none_s);
}

/* Gathers further ahead wait for SMs once, not each behind a kernel of the first layer's. */
static void
deeper_prefetch_is_never_slower (void)
{
  static const Row row = { "topology: hgx_h200, nodes: 32", "model: llama3_8b, sequence: 8192, accumulate: 1, " };
  static const char *const depths[] = { "1", "2", "8", "16" };
  double before_s = (double)INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
    g_autofree char *more = g_strdup_printf ("fsdp: {reshard: true, prefetch: %s}", depths[i]);
    double step_s = with_s (&row, more);
    TEST_TRUE (step_s <= before_s * (1 + 1e-6));
    before_s = step_s;
  }
}

/* On a slow network too, as long as the backward pass gathers nothing. Where it does, the first gradients wait behind all gathers
 * ahead, as both are of one communicator: what depth saves in the forward pass and what it costs in the backward one are close. */
static void
deeper_prefetch_on_a_slow_network_delays_gradients_alone (void)
{
  static const Row row = {
    "topology: {topology: slow, nodes: 4, node: {gpus: {type: h100_sxm, count: 8}, nvlink: {kind: switch, switches: 4}, "
    "pcie: {generation: 5, lanes: 16, switch_per: 2, under_switch: [nics]}, sockets: {count: 2, interconnect: {class: upi, rate: "
    "128 GB/s}, memory: 243 GB/s}, nics: {type: cx7_ndr400, count: 8, per_gpu: 1, rate: 50 Gb/s}}, fabric: {kind: rail_optimised, "
    "leaf: {type: qm9700}, spine: {type: qm9700}}}",
    "model: llama3_8b, sequence: 8192, accumulate: 1, "
  };
  static const char *const depths[] = { "1", "4", "16" };
  double keeps_s[3], frees_s[3];
  for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
    g_autofree char *keeps = g_strdup_printf ("fsdp: {reshard: false, prefetch: %s}", depths[i]);
    g_autofree char *frees = g_strdup_printf ("fsdp: {reshard: true, prefetch: %s}", depths[i]);
    keeps_s[i] = with_s (&row, keeps);
    frees_s[i] = with_s (&row, frees);
    TEST_TRUE (i == 0 || keeps_s[i] <= keeps_s[i - 1] * (1 + 1e-6));
    TEST_TRUE (keeps_s[i] < frees_s[i]);
  }
  TEST_TRUE (frees_s[1] < frees_s[0]);
  TEST_TRUE (frees_s[2] > frees_s[1] && frees_s[2] < 1.05 * frees_s[1]);
}

static gboolean
warns (const char *more, const char *of)
{
  g_autofree char *workload = g_strconcat (L8 "accumulate: 1", more, NULL);
  g_auto (ModelStep) step = model_answer (ONE, workload, NULL, COL_MODE_EVENT);
  const GPtrArray *warnings = step.result->run.warnings;
  for (guint i = 0; warnings != NULL && i < warnings->len; i++)
    if (strstr (warnings->pdata[i], of) != NULL)
      return TRUE;
  return FALSE;
}

static void
recompute_that_changes_nothing_says_so (void)
{
  TEST_TRUE (warns (", recompute: selective", "equals none"));
  TEST_TRUE (!warns (", recompute: selective, flash: false", "equals none"));
  TEST_TRUE (!warns (", recompute: none", "equals none"));
}

static void
interference_never_helps (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    TEST_TRUE (apart_s (rows[i].cluster, rows[i].workload) <= model_step_s (rows[i].cluster, rows[i].workload) * (1 + 1e-9));
  }
}

static void
slower_ranks_never_help (void)
{
  static const Row plain[] = { { TWO, L8 "accumulate: 2, parallel: {tp: 4}" },
                               { TWO, L8 "accumulate: 4, parallel: {tp: 2, pp: 4}" } };
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++) {
    double base_s = with_s (&plain[i], ""), slow_s = with_s (&plain[i], ", stragglers: [{rank: 5, slowdown: 1.3}]");
    TEST_TRUE (slow_s > base_s && slow_s < 1.3 * base_s);
    TEST_NEAR (with_s (&plain[i], ", stragglers: [{rank: 5, slowdown: 1}]"), base_s, 1e-12);
    TEST_TRUE (with_s (&plain[i], ", jitter: {compute: 2 %}") > base_s);
    TEST_TRUE (with_s (&plain[i], ", jitter: {compute: 4 %}") > with_s (&plain[i], ", jitter: {compute: 2 %}"));
    TEST_NEAR (with_s (&plain[i], ", jitter: {compute: 0}"), base_s, 1e-12);
    TEST_TRUE (with_s (&plain[i], ", stragglers: [{node: 1, nic: 2, rate: 50 Gb/s}]") > base_s);
  }
}

static void
replicas_never_make_one_faster (void)
{
  /* weak scaling: the same work a replica, more replicas; their optimizer is theirs */
  static const char *const policies[] = { "", ", overlap: {gradients: false}" };
  for (guint k = 0; k < G_N_ELEMENTS (policies); k++) {
    double last_s = 0;
    for (int dp = 1; dp <= 32; dp *= 2) {
      g_autofree char *work = g_strdup_printf (L8 "accumulate: 2, parallel: {dp: %d}%s", dp, policies[k]);
      double step_s = model_step_s (FOUR, work);
      TEST_TRUE (step_s >= last_s * (1 - 1e-9) || dp > 2);
      if (dp == 1)
        last_s = step_s;
      TEST_TRUE (step_s >= last_s * (1 - 1e-9));
    }
  }
}

static void
shards_cost_copies (void)
{
  /* whatever communication takes: a layer is copied out of what was gathered, its gradients into what is scattered */
  for (int m = 1; m <= 2; m++) {
    g_autofree char *ddp = g_strdup_printf (L8 "accumulate: %d", m),
                    *fsdp = g_strdup_printf (L8 "accumulate: %d, fsdp: {reshard: true}", m);
    g_auto (ModelStep) whole = apart (TWO, ddp);
    g_auto (ModelStep) shards = apart (TWO, fsdp);
    TEST_TRUE (shards.result->training.part_s[TRN_PART_COMPUTE] > whole.result->training.part_s[TRN_PART_COMPUTE]);
    TEST_TRUE (shards.result->training.communication_s > whole.result->training.communication_s);
  }
  static const Row two = { TWO, L8 "accumulate: 1" };
  TEST_TRUE (with_s (&two, ", fsdp: {reshard: true, prefetch: 1}") < with_s (&two, ", fsdp: {reshard: true, prefetch: 0}"));
  TEST_TRUE (with_s (&two, ", fsdp: {reshard: false}") <= with_s (&two, ", fsdp: {reshard: true}"));
}

/* ---- pipelines ---- */

/* Of one stage of even ones: forward, gradients of its input, of its weights. Returned: what a send between two takes. */
static double
stage_times (const char *workload, double *forward_s, double *input_s, double *weight_s)
{
  g_auto (ModelStep) step = model_build (ONE, workload);
  TrnBuild *b = (TrnBuild *)(gpointer)step.b;
  guint32 n = 16 / b->model->pipe.p;
  const TrnUnit *layer = trn_costs_unit (b->costs, 1, TRN_UNIT_LAYER, 5, NULL);
  *forward_s = n * layer->pass_s[MDL_TURN_FORWARD];
  *input_s = n * layer->pass_s[MDL_TURN_INPUT_GRADIENT];
  *weight_s = n * layer->pass_s[MDL_TURN_WEIGHT_GRADIENT];
  TEST_NEAR (n * layer->pass_s[MDL_TURN_BACKWARD], *input_s + *weight_s, 1e-9);
  return b->model->pipe.p > 1 ? trn_prices_send (b->prices, 0, 1, 8192.0 * 8192 * 2, NULL)->time_s : 0;
}

/* What embedding and head take for a micro-batch. */
static double
ends_s (const char *workload)
{
  g_auto (ModelStep) step = model_build (ONE, workload);
  TrnBuild *b = (TrnBuild *)(gpointer)step.b;
  double sum_s = 0;
  static const TrnUnitKind kinds[] = { TRN_UNIT_EMBEDDING, TRN_UNIT_HEAD };
  for (guint i = 0; i < 2; i++) {
    const TrnUnit *unit = trn_costs_unit (b->costs, 0, kinds[i], 0, NULL);
    sum_s += unit->pass_s[MDL_TURN_FORWARD] + unit->pass_s[MDL_TURN_BACKWARD];
  }
  return sum_s;
}

static void
bubbles_are_those_of_the_closed_forms (void)
{
  static const struct {
    const char *keys;
    double p, v;
  } cuts[] = {
    { "parallel: {dp: 1, pp: 4}, schedule: gpipe", 4, 1 },
    { "parallel: {dp: 1, pp: 4}, schedule: 1f1b", 4, 1 },
    { "parallel: {dp: 1, pp: 2}, schedule: 1f1b", 2, 1 },
    { "parallel: {dp: 1, pp: 8}, schedule: 1f1b", 8, 1 },
    { "parallel: {dp: 1, pp: 4, vp: 2}, schedule: interleaved", 4, 2 },
    { "parallel: {dp: 1, pp: 4, vp: 4}, schedule: interleaved", 4, 4 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    g_autofree char *work = g_strdup_printf (EVEN "accumulate: 8, %s", cuts[i].keys);
    double forward_s, input_s, weight_s, p = cuts[i].p, v = cuts[i].v;
    double send_s = stage_times (work, &forward_s, &input_s, &weight_s), all_s = forward_s + input_s + weight_s;
    g_auto (ModelStep) step = apart (ONE, work);
    const TrnResult *t = &step.result->training;
    /* to the last digits with free sends; here those of filling and draining show, and what embedding and norm add to the ends */
    double slack_s = 4 * p * v * send_s + (8 + p) * ends_s (work);
    double bubble_s = t->part_s[TRN_PART_BUBBLE] + t->part_s[TRN_PART_EXPOSED_PP] - (p - 1) / v * all_s;
    TEST_TRUE (bubble_s > 0 && bubble_s < slack_s);
    double rest_s = t->step_time_s - t->part_s[TRN_PART_OPTIMIZER] - (8 + (p - 1) / v) * all_s;
    TEST_TRUE (rest_s > 0 && rest_s < slack_s);
    TEST_TRUE (slack_s < 0.06 * t->step_time_s);
  }
}

static void
zero_bubbles_are_shorter (void)
{
  double forward_s, input_s, weight_s, last_s = HUGE_VAL;
  static const char *const keys[] = { "schedule: 1f1b", "schedule: zb_h1", "schedule: zb_v" };
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autofree char *work = g_strdup_printf (EVEN "accumulate: 16, parallel: {dp: 1, pp: 4}, %s", keys[i]);
    stage_times (work, &forward_s, &input_s, &weight_s);
    g_auto (ModelStep) step = apart (ONE, work);
    const TrnResult *t = &step.result->training;
    double over_s = t->step_time_s - t->part_s[TRN_PART_OPTIMIZER] - 16 * (forward_s + input_s + weight_s);
    TEST_TRUE (over_s < last_s);
    if (i == 1) /* (p - 1)(F + B - W), and what B and W differ, which leaves gaps */
      TEST_NEAR (over_s, 3 * (forward_s + input_s - weight_s), 0.15);
    last_s = over_s;
  }
}

static void
each_more_micro_batch_adds_a_forward_and_a_backward (void)
{
  static const char *const keys[] = { "parallel: {dp: 1, pp: 4}", "parallel: {dp: 1, pp: 4, vp: 2}, schedule: interleaved",
                                      "parallel: {dp: 2, pp: 4}", "parallel: {dp: 1}", "parallel: {tp: 2, sp: true, pp: 4}" };
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    double step_s[3];
    for (int k = 0; k < 3; k++) {
      g_autofree char *work = g_strdup_printf (EVEN "accumulate: %d, %s", 8 << k, keys[i]);
      step_s[k] = apart_s (ONE, work);
    }
    TEST_NEAR (step_s[2] - step_s[1], 2 * (step_s[1] - step_s[0]), 0.001);
    if (i == 0) {
      double forward_s, input_s, weight_s;
      stage_times (EVEN "accumulate: 8, parallel: {dp: 1, pp: 4}", &forward_s, &input_s, &weight_s);
      TEST_NEAR (step_s[1] - step_s[0], 8 * (forward_s + input_s + weight_s), 0.005);
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the parts sum to the step", the_parts_sum_to_the_step },
    { "one rank waits for nobody", one_rank_waits_for_nobody },
    { "the same input has the same answer", the_same_input_has_the_same_answer },
    { "both fidelities agree where nothing contends", both_fidelities_agree_where_nothing_contends },
    { "more bandwidth is never slower", more_bandwidth_is_never_slower },
    { "overlap is never slower than none", overlap_is_never_slower_than_none },
    { "computing again is never faster", computing_again_is_never_faster },
    { "experts beside the backward pass are never slower", experts_beside_the_backward_pass_are_never_slower },
    { "deeper prefetch is never slower", deeper_prefetch_is_never_slower },
    { "deeper prefetch on a slow network delays gradients alone", deeper_prefetch_on_a_slow_network_delays_gradients_alone },
    { "recompute that changes nothing says so", recompute_that_changes_nothing_says_so },
    { "interference never helps", interference_never_helps },
    { "slower ranks never help", slower_ranks_never_help },
    { "replicas never make one faster", replicas_never_make_one_faster },
    { "shards cost copies", shards_cost_copies },
    { "bubbles are those of the closed forms", bubbles_are_those_of_the_closed_forms },
    { "zero bubbles are shorter", zero_bubbles_are_shorter },
    { "each more micro-batch adds a forward and a backward", each_more_micro_batch_adds_a_forward_and_a_backward },
    { NULL, NULL },
  };
  return test_main ("laws of a model's step", cases);
}
