/* The closed form of every layout on every topology: how many requests a second a replica serves within the promises.
 *
 *     largest rate X with   t(0) + 4.6 (t(X) - t(0)) <= TTFT,   1.15 · s(X) <= TPOT        t, s: means of srv_steady
 *
 * * 4.6 = -ln 1 %: the 99th percentile of a wait that is exponential; 1.15 is assumed. Both only rank: the engine checks what is
 * answered (play.c). A prefill pool answers one token; a decode pool has prompts that are in its cache but for one token. */
#include <math.h>

#include "fleet-private.h"

#define MOST_TP      16u
#define MOST_DP      64u
#define MOST_RATE    1e6
#define TAIL_WAIT    4.6
#define TAIL_TPOT    1.15
#define MOST_CUTS    4096u
#define LARGEST_GPUS 1024u

/* ---- closed forms ---- */

static SrvSteady
steady_of (const PlnFleet *fleet, const PlnFleetCut *cut, PlnFleetRole role, double rate)
{
  const SrvEngineSpec *engine = &cut->replica.engine;
  SrvSteady load = { .engine = (SrvEngineName)engine->name.v,
                     .limits = { .max_seqs = (guint)engine->max_num_seqs.v,
                                 .max_tokens = (guint)engine->max_num_batched_tokens.v,
                                 .chunk = (guint)engine->chunk.v,
                                 .chunked = engine->chunked.v,
                                 .drafts = (guint)srv_speculative_drafts (&cut->replica.speculative),
                                 .window = (guint)srv_step_window (cut->model) },
                     .pool = cut->memory.tokens,
                     .tokens = srv_speculative_tokens (&cut->replica.speculative),
                     .input = fleet->input,
                     .output = fleet->output,
                     .cached = fmin (fleet->cached, fleet->input - 1),
                     .rate = rate };
  if (role == PLN_FLEET_PREFILL)
    load.output = 1;
  if (role == PLN_FLEET_DECODE)
    load.cached = fleet->input - 1;
  return load;
}

gboolean
pln_fleet_times (const PlnFleet *fleet, PlnFleetCut *cut, PlnFleetRole role, double rate, SrvSteadyTimes *out)
{
  const SrvSteady load = steady_of (fleet, cut, role, rate);
  srv_steady (cut->model, &load, out);
  return out->steady;
}

double
pln_fleet_late_ttft_s (const PlnFleetCut *cut, const SrvSteadyTimes *now)
{
  return cut->ttft_s + TAIL_WAIT * (now->ttft_s - cut->ttft_s);
}

double
pln_fleet_late_tpot_s (const SrvSteadyTimes *now)
{
  return TAIL_TPOT * now->tpot_s;
}

static gboolean
keeps (const PlnFleet *fleet, PlnFleetCut *cut, PlnFleetRole role, double rate)
{
  SrvSteadyTimes now;
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  if (!pln_fleet_times (fleet, cut, role, rate, &now))
    return FALSE;
  const gboolean first = role == PLN_FLEET_DECODE || pln_fleet_late_ttft_s (cut, &now) <= ttft_s;
  return first && (role == PLN_FLEET_PREFILL || pln_fleet_late_tpot_s (&now) <= tpot_s);
}

static double
largest_rate (const PlnFleet *fleet, PlnFleetCut *cut, PlnFleetRole role)
{
  double low = 1e-6, high = 1e-3;
  if (!keeps (fleet, cut, role, low))
    return 0;
  while (high < MOST_RATE && keeps (fleet, cut, role, high)) {
    low = high;
    high *= 2;
  }
  while (high > low * 1.005) {
    const double rate = sqrt (low * high);
    *(keeps (fleet, cut, role, rate) ? &low : &high) = rate;
  }
  return low;
}

/* ---- layouts ---- */

static guint
powers (guint most, double *out)
{
  guint n = 0;
  for (guint p = 1; p <= most; p *= 2)
    out[n++] = p;
  return n;
}

/* The values of a list, or those of `ours` where there is none. */
static guint
values_of (const BaseNums *list, const double *ours, guint n, double *out, guint room)
{
  const guint count = MIN (list->set ? list->n : n, room);
  for (guint i = 0; i < count; i++)
    out[i] = list->set ? list->item[i].v : ours[i];
  return count;
}

static void
remember (PlnFleetMachine *machine, PlnFleetMiss why, const GError *error)
{
  if (machine->error != NULL && why <= machine->why)
    return;
  g_free (machine->error);
  machine->error = g_strdup (error->message);
  machine->why = why;
}

/* Estimates one layout; it is left out where it is impossible. */
static void
add_cut (PlnFleet *fleet, PlnFleetMachine *machine, const PlnFleetLayout *layout)
{
  PlnFleetCut cut = { .layout = *layout, .replica = fleet->spec.replica };
  SrvParallelSpec *p = &cut.replica.parallel;
  g_autoptr (GError) error = NULL;
  p->tp = (BaseNum){ .set = TRUE, .v = layout->tp };
  p->pp = (BaseNum){ .set = TRUE, .v = layout->pp };
  p->dp_attn = (BaseNum){ .set = TRUE, .v = layout->dp_attn };
  p->ep = (BaseNum){ .set = TRUE, .v = layout->ep };
  p->moe_tp = (BaseNum){ .set = FALSE };
  if (fleet->spec.free.weights.n > 0)
    cut.replica.precision.weights.v = (int)layout->weights;
  if (cut.replica.engine.name.v == SRV_ENGINE_TRTLLM && layout->dp_attn > 1 && layout->tp > 1) {
    /* Mapping.dp_size is tp_size, and attention then has a tp of 1 (tensorrt_llm/mapping.py, _torch/modules/attention.py) */
    g_set_error (&error, BASE_ERROR, BASE_ERROR_INPUT,
                 "TensorRT-LLM's attention data parallelism takes all GPUs of a replica; write 'tp: 1' with 'dp_attn', or 'dp_attn: 1'");
    remember (machine, PLN_FLEET_LAYOUT, error);
    return;
  }
  if (!srv_replica_settle (&cut.replica, machine->scenario->system.engines, NULL, NULL, &error)) {
    remember (machine, PLN_FLEET_LAYOUT, error);
    return;
  }
  cut.layout.weights = (SrvFormat)cut.replica.precision.weights.v;
  cut.layout.gpus = (guint)srv_replica_gpus (&cut.replica);
  if (!srv_memory_plan (&fleet->llm, &machine->scenario->system, &cut.replica, &cut.memory, &error)) {
    remember (machine, PLN_FLEET_MEMORY, error);
    return;
  }
  cut.model = srv_step_model_new (&fleet->llm, &machine->scenario->system, &cut.replica, &error);
  if (cut.model == NULL) {
    remember (machine, PLN_FLEET_LAYOUT, error);
    return;
  }
  SrvSteadyTimes alone;
  if (pln_fleet_times (fleet, &cut, PLN_FLEET_ALL, 1e-6, &alone)) {
    cut.ttft_s = alone.ttft_s;
    cut.tpot_s = alone.tpot_s;
    cut.all_rate = largest_rate (fleet, &cut, PLN_FLEET_ALL);
    cut.prefill_rate = largest_rate (fleet, &cut, PLN_FLEET_PREFILL);
    cut.decode_rate = fleet->output > 1 ? largest_rate (fleet, &cut, PLN_FLEET_DECODE) : 0;
  }
  g_array_append_val (machine->cuts, cut);
}

static gboolean
has_experts (const MdlLlm *llm)
{
  for (unsigned i = 0; i < (unsigned)llm->layers.v; i++)
    if (mdl_llm_is_moe (llm, i))
      return TRUE;
  return FALSE;
}

/* All layouts of the lists. Returned: full, PlnFleetLayout. */
static GArray *
layouts_of (const PlnFleet *fleet)
{
  const PlnFleetFreeSpec *f = &fleet->spec.free;
  const gboolean experts = has_experts (&fleet->llm);
  double tps[64], pps[64], dps[64], eps[64], ours[16];
  const double one[] = { 1 };
  GArray *out = g_array_new (FALSE, FALSE, sizeof (PlnFleetLayout));
  const guint n_tp = values_of (&f->tp, ours, powers (MOST_TP, ours), tps, G_N_ELEMENTS (tps));
  const guint n_pp = values_of (&f->pp, one, 1, pps, G_N_ELEMENTS (pps));
  const guint n_dp = values_of (&f->dp_attn, ours, powers (experts ? MOST_DP : 1, ours), dps, G_N_ELEMENTS (dps));
  const guint n_weights = MAX (f->weights.n, 1);
  for (guint t = 0; t < n_tp; t++)
    for (guint p = 0; p < n_pp; p++)
      for (guint d = 0; d < n_dp; d++) {
        const double all[] = { 1, tps[t] * dps[d] };
        const guint n_ep = values_of (&f->ep, all, experts && all[1] > 1 ? 2 : 1, eps, G_N_ELEMENTS (eps));
        for (guint e = 0; e < n_ep; e++)
          for (guint w = 0; w < n_weights && out->len < MOST_CUTS; w++) {
            const BaseName *named = f->weights.n > 0 ? base_name_find (srv_format_names, f->weights.item[w].v) : NULL;
            const PlnFleetLayout layout = { (guint)tps[t],
                                            (guint)pps[p],
                                            (guint)dps[d],
                                            (guint)eps[e],
                                            named != NULL ? (SrvFormat)named->code : SRV_FORMAT_BF16,
                                            (guint)(tps[t] * pps[p] * dps[d]) };
            g_array_append_val (out, layout);
          }
      }
  return out;
}

void
pln_fleet_screen (PlnFleet *fleet, PlnFleetMachine *machine)
{
  g_autoptr (GArray) layouts = layouts_of (fleet);
  guint most = 1;
  for (guint i = 0; i < layouts->len; i++)
    most = MAX (most, MIN (g_array_index (layouts, PlnFleetLayout, i).gpus, LARGEST_GPUS));
  g_autoptr (GError) error = NULL;
  for (guint gpus = most;; gpus = (gpus + 1) / 2) { /* a topology may end before */
    machine->nodes = (gpus + machine->gpus_per_node - 1) / machine->gpus_per_node;
    machine->scenario = pln_fleet_cluster (fleet, machine->topology, machine->nodes, NULL);
    if (machine->scenario != NULL || machine->nodes == 1)
      break;
  }
  if (machine->scenario == NULL) {
    g_set_error (&error, BASE_ERROR, BASE_ERROR_INPUT, "its cluster cannot be built");
    remember (machine, PLN_FLEET_LAYOUT, error);
    return;
  }
  for (guint i = 0; i < layouts->len; i++) {
    const PlnFleetLayout *layout = &g_array_index (layouts, PlnFleetLayout, i);
    const guint large = MAX (layout->gpus, machine->gpus_per_node), small = MIN (layout->gpus, machine->gpus_per_node);
    if (layout->gpus <= machine->scenario->system.gpus->len && large % small == 0) /* else replicas would straddle nodes */
      add_cut (fleet, machine, layout);
  }
}

void
pln_fleet_estimate (PlnFleet *fleet, PlnFleetRow *row)
{
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
  const double rate = fleet->spec.goal.load.rate.v;
  for (guint i = 0; i < (row->apart ? 2u : 1u); i++) {
    PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, row->layouts[i]);
    SrvSteadyTimes now;
    if (!pln_fleet_times (fleet, cut,
                          !row->apart ? PLN_FLEET_ALL
                          : i == 0    ? PLN_FLEET_PREFILL
                                      : PLN_FLEET_DECODE,
                          rate / row->replicas[i], &now))
      continue;
    if (i == 0)
      row->ttft_s = now.ttft_s;
    if (i == 1 || !row->apart)
      row->tpot_s = row->tpot_mean_s = now.tpot_s;
  }
}
