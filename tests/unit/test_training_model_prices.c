/* What communication of a step takes: groups of the same kind together, each question once, and with loads folded. */
#include "model_fixture.h"

#define TWO "topology: hgx_h100, nodes: 2"
#define L8  "model: llama3_8b, sequence: 4096, "
#define MB  1e6

typedef struct {
  ModelStep step;
  TrnModel model;
  TrnPrices *prices;
} Priced;

static void
priced_clear (Priced *p)
{
  trn_prices_free (p->prices);
  trn_model_clear (&p->model);
  model_clear (&p->step);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Priced, priced_clear)

/* Filled in place: prices borrow the model. */
static void
price_on (Priced *p, const char *cluster, const char *workload, const char *const *sets, gboolean fold)
{
  g_autoptr (GError) error = NULL;
  *p = (Priced){ .step = model_load (cluster, workload, sets, COL_MODE_EVENT, &error) };
  if (p->step.scenario == NULL || !trn_model_plan (&p->step.scenario->training, &p->model, &error))
    g_error ("%s: %s", workload, error->message);
  p->prices = trn_prices_new (&p->model, fold, NULL);
}

static const TrnPriced *
coll_of (Priced *p, TrnGroupKind kind, MdlOp op, double size_B)
{
  g_autoptr (GError) error = NULL;
  const TrnPriced *priced = trn_prices_coll (p->prices, kind, 0, op, size_B, MDL_FORMAT_BF16, &error);
  if (priced == NULL)
    g_error ("%s", error->message);
  return priced;
}

static double
load_sum (const GArray *loads)
{
  double sum = 0;
  for (guint i = 0; i < loads->len; i++)
    sum += g_array_index (loads, ColLoad, i).load * g_array_index (loads, ColLoad, i).n;
  return sum;
}

static void
groups_of_a_node_run_together_and_do_not_disturb (void)
{
  /* four tp groups on the switch of a node: four times the traffic, the time of one */
  g_auto (Priced) p;
  price_on (&p, "topology: hgx_h100, nodes: 1", L8 "accumulate: 1, parallel: {tp: 2}", NULL, FALSE);
  const TrnPriced *tp = coll_of (&p, TRN_GROUP_TP, MDL_OP_ALL_REDUCE, 64 * MB);
  TEST_INT (tp->n_groups, 4);
  trn_prices_fold (p.prices);
  TEST_NEAR (load_sum (tp->loads), 4 * load_sum (tp->coll.alike), 1e-12);
  TEST_NEAR (tp->time_s, tp->coll.cost.time_s, 1e-12);
}

static void
groups_that_share_an_adapter_share_its_rate (void)
{
  /* tp 8 on two nodes: eight groups of dp, each over its own adapter; over one adapter together, eight times as long */
  static const char *const one_nic[] = { "degrade=[{nics: 1}]", NULL };
  g_auto (Priced) rails, one;
  price_on (&rails, TWO, L8 "accumulate: 1, parallel: {tp: 8}", NULL, FALSE);
  price_on (&one, TWO, L8 "accumulate: 1, parallel: {tp: 8}", one_nic, FALSE);
  const TrnPriced *a = coll_of (&rails, TRN_GROUP_DP, MDL_OP_ALL_GATHER, 1000 * MB),
                  *b = coll_of (&one, TRN_GROUP_DP, MDL_OP_ALL_GATHER, 1000 * MB);
  TEST_INT (a->n_groups, 8);
  TEST_NEAR (a->time_s, a->coll.cost.time_s, 1e-9);
  /* 7 of 8 blocks of 1 GB each way through a port of 50 GB/s, for eight groups */
  TEST_NEAR (b->time_s, 8 * 0.5 * 1000 * MB / 50e9, 0.1);
  TEST_TRUE (b->time_s > 7 * a->time_s);
}

static void
groups_that_never_leave_a_node_load_all_nodes (void)
{
  /* two groups on each of four nodes; each GPU's link to its switch carries as much as that of any other */
  g_auto (Priced) p;
  price_on (&p, "topology: hgx_h100, nodes: 4", L8 "accumulate: 1, parallel: {tp: 4}", NULL, FALSE);
  const TrnPriced *tp = coll_of (&p, TRN_GROUP_TP, MDL_OP_ALL_REDUCE, MB);
  TEST_INT (tp->n_groups, 8);
  TEST_INT (coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_REDUCE, MB)->n_groups, 4);
  trn_prices_fold (p.prices);
  TEST_NEAR (load_sum (tp->all), 8 * load_sum (tp->coll.alike), 1e-12);
}

static void
the_same_question_has_the_same_answer (void)
{
  g_auto (Priced) p;
  price_on (&p, TWO, L8 "accumulate: 1, parallel: {tp: 8}", NULL, FALSE);
  TEST_TRUE (coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_REDUCE, MB) == coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_REDUCE, MB));
  TEST_TRUE (coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_REDUCE, MB) != coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_REDUCE, 2 * MB));
  TEST_TRUE (coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_REDUCE, MB) != coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_GATHER, MB));
  TEST_NEAR (coll_of (&p, TRN_GROUP_CP, MDL_OP_ALL_REDUCE, MB)->time_s, 0, 0); /* of one */
}

static void
all_ranks_of_a_stage_send_at_once (void)
{
  g_autoptr (GError) error = NULL;
  static const char *const one_nic[] = { "degrade=[{nics: 1}]", NULL };
  g_auto (Priced) rails, one;
  price_on (&rails, TWO, L8 "accumulate: 4, parallel: {tp: 8, pp: 2}", NULL, FALSE);
  price_on (&one, TWO, L8 "accumulate: 4, parallel: {tp: 8, pp: 2}", one_nic, FALSE);
  const TrnPriced *a = trn_prices_send (rails.prices, 0, 1, 100 * MB, &error),
                  *b = trn_prices_send (one.prices, 0, 1, 100 * MB, &error);
  TEST_TRUE (a != NULL && b != NULL);
  TEST_INT (a->n_groups, 8);
  TEST_NEAR (b->time_s, 8 * 100 * MB / 50e9, 0.1);
  TEST_TRUE (b->time_s > 7 * a->time_s);
}

static void
communication_of_pairs_overlaps_as_pairs_do (void)
{
  g_autoptr (GError) error = NULL;
  g_auto (Priced) p;
  price_on (&p, TWO, L8 "accumulate: 4, parallel: {tp: 8, pp: 2}", NULL, FALSE);
  TEST_INT (trn_prices_send (p.prices, 0, 1, MB, &error)->demand.kind, MDL_OVERLAP_PAIRWISE);
  TEST_INT (coll_of (&p, TRN_GROUP_TP, MDL_OP_ALLTOALL, MB)->demand.kind, MDL_OVERLAP_PAIRWISE);
  TEST_INT (coll_of (&p, TRN_GROUP_TP, MDL_OP_REDUCE_SCATTER, 100 * MB)->demand.kind,
            coll_of (&p, TRN_GROUP_TP, MDL_OP_REDUCE_SCATTER, 100 * MB)->coll.algo == MDL_ALGO_NVLS ? MDL_OVERLAP_IN_SWITCH
                                                                                                    : MDL_OVERLAP_SM);
}

/* NCCL_CTA_POLICY=ZERO: gathers of shards take no multiprocessor from kernels. */
static void
copy_engines_take_no_multiprocessor (void)
{
  static const char *const zero[] = { "nccl={buffers: symmetric, NCCL_CTA_POLICY: ZERO}", NULL };
  g_auto (Priced) p;
  price_on (&p, TWO, L8 "accumulate: 4, parallel: {tp: 8, pp: 2}", zero, FALSE);
  const TrnPriced *gather = coll_of (&p, TRN_GROUP_TP, MDL_OP_ALL_GATHER, 100 * MB);
  TEST_INT (gather->coll.algo, MDL_ALGO_COPY_ENGINE);
  TEST_INT (gather->demand.kind, MDL_OVERLAP_COPY_ENGINE);
  TEST_NEAR (gather->demand.channels, 0, 0);
  TEST_INT (coll_of (&p, TRN_GROUP_TP, MDL_OP_REDUCE_SCATTER, 100 * MB)->coll.algo, MDL_ALGO_SYMMETRIC);
}

static void
a_slow_adapter_slows_whoever_shares_it (void)
{
  g_auto (Priced) p, slow;
  price_on (&p, TWO, L8 "accumulate: 1, parallel: {tp: 8}", NULL, FALSE);
  price_on (&slow, TWO, L8 "accumulate: 1, parallel: {tp: 8}, stragglers: [{node: 1, nic: 5, rate: 100 Gb/s}]", NULL, FALSE);
  /* the group of rank 0 does not use it, its like of tp rank 5 does: a quarter of the rate */
  TEST_NEAR (coll_of (&slow, TRN_GROUP_DP, MDL_OP_ALL_GATHER, 1000 * MB)->time_s,
             4 * coll_of (&p, TRN_GROUP_DP, MDL_OP_ALL_GATHER, 1000 * MB)->time_s, 0.06);
}

/* Steps whose alike links are simulated one by one take the same time as those where one stands for all. */
static void
folding_keeps_the_answer (void)
{
  static const struct {
    const char *cluster, *workload;
  } rows[] = {
    { "topology: hgx_h100, nodes: 1", L8 "accumulate: 2" },
    { TWO, L8 "accumulate: 2, parallel: {tp: 8, zero: 1}" },
    { TWO, L8 "accumulate: 4, parallel: {tp: 2, sp: true, pp: 4, zero: 1}" },
    { TWO, L8 "accumulate: 1, fsdp: {reshard: true}" },
    { TWO, L8 "accumulate: 1, hsdp: {shard: 8}" },
    { TWO, "model: mixtral_8x7b, sequence: 4096, accumulate: 2, parallel: {ep: 8, zero: 1}" },
    { "topology: hgx_h100, nodes: 4", L8 "accumulate: 4, parallel: {tp: 4, pp: 4}, placement: [dp, tp, cp, pp]" },
    { "topology: p5, nodes: 2", L8 "accumulate: 2, parallel: {tp: 2, pp: 2}" },
    { TWO, L8 "accumulate: 2, parallel: {tp: 8}, stragglers: [{node: 1, nic: 5, rate: 100 Gb/s}]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double step_s[2], bytes[2], fullest[2];
    for (int whole = 0; whole < 2; whole++) {
      g_autoptr (GError) error = NULL;
      g_auto (ModelStep) step = model_load (rows[i].cluster, rows[i].workload, NULL, COL_MODE_EVENT, &error);
      step.scenario->system.settings.no_fold = whole;
      step.result = scn_run (step.scenario, FALSE, &error);
      step_s[whole] = step.result->training.step_time_s;
      bytes[whole] = 0;
      for (guint k = 0; k < step.result->run.links->len; k++)
        bytes[whole] += g_array_index (step.result->run.links, ColLinkUse, k).bytes;
      fullest[whole] = g_array_index (step.result->run.links, ColLinkUse, 0).utilisation;
    }
    TEST_NEAR (step_s[0], step_s[1], 1e-6);
    TEST_NEAR (bytes[0], bytes[1], 1e-9);
    TEST_NEAR (fullest[0], fullest[1], 1e-6);
  }
}

#define EXPERTS "model: deepseek_v3, sequence: 4096, accumulate: 2, parallel: {ep: 16}, moe: {dispatcher: %s}"

static double
experts_s (const char *dispatcher, MdlMoeOp op, double tokens)
{
  g_auto (Priced) p;
  g_autoptr (GError) error = NULL;
  g_autofree char *workload = g_strdup_printf (EXPERTS, dispatcher);
  price_on (&p, TWO, workload, NULL, TRUE);
  const MdlWorkColl coll = { .op = MDL_OP_ALLTOALL, .moe_op = op, .moe_tokens = tokens, .format = MDL_FORMAT_BF16 };
  const TrnPriced *priced = trn_prices_experts (p.prices, 0, &coll, &error);
  if (priced == NULL)
    g_error ("%s", error->message);
  TEST_TRUE (trn_prices_experts (p.prices, 0, &coll, &error) == priced);
  TEST_TRUE (priced->coll.cost.latency_s < priced->coll.cost.time_s);
  TEST_TRUE (priced->coll.cost.channels > 0);
  return priced->time_s;
}

static void
libraries_of_experts_have_their_own_times (void)
{
  /* DeepEP's normal kernels on two nodes: start, ramp, and 20 SMs of 1.94 GB/s that send one copy of 14,336 B a node, half of
   * them away */
  const MdlMoeChoice choice = { .experts = 256, .top_k = 8, .groups = 8, .top_groups = 4 };
  const double nic_B = 4096 * mdl_moe_reached (&choice, 2) * 14336 / 2, rate_Bps = 20 * 1.94e9;
  const double ramp_s = 49.5e-6 * 4096 / (4096 + 304.0);
  TEST_NEAR (experts_s ("deepep", MDL_MOE_DISPATCH, 4096), 25.3e-6 + ramp_s + nic_B / rate_Bps, 2e-3);
  TEST_TRUE (experts_s ("hybridep", MDL_MOE_COMBINE, 4096) < experts_s ("deepep", MDL_MOE_COMBINE, 4096));
  TEST_TRUE (experts_s ("deepep", MDL_MOE_DISPATCH, 8192) > experts_s ("deepep", MDL_MOE_DISPATCH, 4096));
}

/* DeepEP's kernels start transfers from the GPU, which EFA cannot. */
static void
a_library_that_cannot_run_is_refused (void)
{
  g_auto (Priced) p;
  g_autoptr (GError) error = NULL;
  g_autofree char *workload = g_strdup_printf (EXPERTS, "deepep");
  price_on (&p, "topology: p5, nodes: 2", workload, NULL, TRUE);
  const MdlWorkColl coll = { .op = MDL_OP_ALLTOALL, .moe_op = MDL_MOE_DISPATCH, .moe_tokens = 4096, .format = MDL_FORMAT_BF16 };
  TEST_TRUE (trn_prices_experts (p.prices, 0, &coll, &error) == NULL);
  TEST_TRUE (error != NULL && strstr (error->message, "dispatcher deepep, over ep 16: deepep_normal starts transfers") != NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "groups of a node run together and do not disturb", groups_of_a_node_run_together_and_do_not_disturb },
    { "groups that share an adapter share its rate", groups_that_share_an_adapter_share_its_rate },
    { "groups that never leave a node load all nodes", groups_that_never_leave_a_node_load_all_nodes },
    { "the same question has the same answer", the_same_question_has_the_same_answer },
    { "all ranks of a stage send at once", all_ranks_of_a_stage_send_at_once },
    { "communication of pairs overlaps as pairs do", communication_of_pairs_overlaps_as_pairs_do },
  { "copy engines take no multiprocessor", copy_engines_take_no_multiprocessor },
    { "a slow adapter slows whoever shares it", a_slow_adapter_slows_whoever_shares_it },
    { "folding keeps the answer", folding_keeps_the_answer },
    { "libraries of experts have their own times", libraries_of_experts_have_their_own_times },
    { "a library that cannot run is refused", a_library_that_cannot_run_is_refused },
    { NULL, NULL },
  };
  return test_main ("prices of a model's communication", cases);
}
