/* Prompts that are loaded from tiers or computed, and written through to them.
 *
 *     n units are loaded that minimise  sum of (latency + bytes / rate) · (1 + reads under way) over tiers + time of the rest
 *
 * * n is the end of a run of units of one tier, from what the GPU has on; the time to compute is that of steps with this prompt
 * alone. What is loaded enters the prefix cache of the GPU, as if it had been computed, and then the request is queued (HiCache's
 * prefetch; vLLM's connector holds the blocks meanwhile). Writes take from the GPU, and go below the host from there.
 * * Check: test_serving_tiers. Left out: tokens of answers, which the prefix cache does not have either. */
#include <math.h>

#include "run/sim-private.h"

typedef struct {
  SrvSim *sim;
  EngFlowSpec flow;
  EngUse *uses; /* owned */
  SrvTierEnd end;
  EngTime started;
  /* A read: of which prompt. A write: of which keys. */
  struct Load *load;
  guint64 *keys; /* owned */
  guint n_keys;
} Flow;

typedef struct Load {
  SrvSeq *seq;
  SrvReplica *replica;
  guint from, to; /* units */
  guint flows;    /* that have not ended */
  guint epoch;    /* of the replica when it began */
} Load;

struct SrvTiers {
  guint n_stores[SRV_TIER_N];
  SrvStore **stores[SRV_TIER_N]; /* by scheduler; of a shared tier one */
  guint *reading[SRV_TIER_N];    /* reads under way, likewise */
  SrvBatch *batches;             /* for times of prompts alone */
  GPtrArray *moving;             /* Flow *: all that exist */
  GPtrArray *landed;             /* Flow * */
  GArray *uses;
  guint unit; /* tokens; 0: no prompt was named yet */
};

/* ---- stores ---- */

static guint
store_at (const SrvSim *sim, SrvTierKind tier, const SrvReplica *replica, guint rank)
{
  return sim->spec->offload.tier[tier].shared ? 0 : replica->index * sim->spec->times.ranks + rank;
}

static SrvStore *
new_store (const SrvSim *sim, SrvTierKind tier)
{
  const SrvOffload *offload = &sim->spec->offload;
  return srv_store_new ((guint64)(offload->tier[tier].size_B / (offload->token_B * sim->tiers->unit)));
}

/* Their room is known with the first prompt that has keys. */
static void
make_stores (SrvSim *sim, guint unit_tokens)
{
  SrvTiers *tiers = sim->tiers;
  tiers->unit = unit_tokens;
  for (guint t = 0; t < SRV_TIER_N; t++)
    for (guint i = 0; i < tiers->n_stores[t]; i++)
      tiers->stores[t][i] = new_store (sim, (SrvTierKind)t);
}

void
srv_tiers_init (SrvSim *sim)
{
  const SrvRunSpec *spec = sim->spec;
  const SrvOffload *offload = &spec->offload;
  if (offload->flow == NULL)
    return;
  SrvTiers *tiers = sim->tiers = g_new0 (SrvTiers, 1);
  for (guint t = 0; t < SRV_TIER_N; t++) {
    tiers->n_stores[t] = offload->tier[t].size_B <= 0 ? 0 : offload->tier[t].shared ? 1 : spec->replicas * spec->times.ranks;
    tiers->stores[t] = g_new0 (SrvStore *, tiers->n_stores[t]);
    tiers->reading[t] = g_new0 (guint, tiers->n_stores[t]);
  }
  tiers->batches = g_new0 (SrvBatch, spec->times.ranks);
  tiers->moving = g_ptr_array_new ();
  tiers->landed = g_ptr_array_new ();
  tiers->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
}

static void
flow_free (Flow *flow)
{
  g_free (flow->uses);
  g_free (flow->keys);
  g_free (flow);
}

void
srv_tiers_clear (SrvSim *sim)
{
  SrvTiers *tiers = sim->tiers;
  if (tiers == NULL)
    return;
  for (guint i = 0; i < tiers->moving->len; i++) {
    Flow *flow = tiers->moving->pdata[i];
    if (flow->load != NULL && --flow->load->flows == 0) { /* after an error */
      srv_hold_clear (&flow->load->seq->kv);
      g_free (flow->load->seq);
      g_free (flow->load);
    }
    flow_free (flow);
  }
  for (guint t = 0; t < SRV_TIER_N; t++) {
    for (guint i = 0; i < tiers->n_stores[t]; i++)
      srv_store_free (tiers->stores[t][i]);
    g_free (tiers->stores[t]);
    g_free (tiers->reading[t]);
  }
  g_free (tiers->batches);
  g_ptr_array_free (tiers->moving, TRUE);
  g_ptr_array_free (tiers->landed, TRUE);
  g_array_free (tiers->uses, TRUE);
  g_free (tiers);
  sim->tiers = NULL;
}

/* ---- flows ---- */

static void
land (Eng *eng, void *user, uint64_t arg)
{
  Flow *flow = user;
  (void)eng;
  (void)arg;
  g_ptr_array_add (flow->sim->tiers->landed, flow);
}

static void
go (Eng *eng, void *user, uint64_t arg)
{
  const Flow *flow = user;
  (void)arg;
  eng_flow_start (eng, &flow->flow);
}

/* `tokens` move from sim->now on. */
static Flow *
start_flow (SrvSim *sim, const SrvTierEnd *end, guint tokens, GError **error)
{
  const SrvOffload *offload = &sim->spec->offload;
  Flow *flow = g_new0 (Flow, 1);
  double alone_s;
  if (!offload->flow (offload->user, end, tokens, sim->tiers->uses, &flow->flow, &alone_s, error)) {
    g_free (flow);
    return NULL;
  }
  flow->sim = sim;
  flow->end = *end;
  flow->uses = g_memdup2 (flow->flow.uses, flow->flow.n_uses * sizeof *flow->flow.uses);
  flow->flow.uses = flow->uses;
  flow->flow.done = land;
  flow->flow.user = flow;
  flow->started = sim->now;
  g_ptr_array_add (sim->tiers->moving, flow);
  eng_at (sim->eng, sim->now, go, flow, 0);
  SrvTierResult *out = &sim->out->tiers[end->tier];
  *(end->write ? &out->written_B : &out->read_B) += flow->flow.amount;
  return flow;
}

/* ---- load or compute ---- */

/* Units of a prompt that a tier has, from one on. */
typedef struct {
  SrvTierKind tier;
  guint units;
} Span;
#define MOST_SPANS 16u

/* What there is for a prompt, and what is best of it. */
typedef struct {
  guint from; /* unit behind what the GPU has */
  Span spans[MOST_SPANS];
  guint n;
  guint best;     /* spans that are loaded */
  double saved_s; /* of steps */
} Found;

static void
find_spans (SrvSim *sim, const SrvReplica *replica, const SrvSeq *seq, Found *found)
{
  const SrvTiers *tiers = sim->tiers;
  const guint to = MIN (seq->kv.n_keys, (seq->input - 1) / tiers->unit);
  Span *spans = found->spans;
  for (guint i = found->from; i < to; i++) {
    const guint64 key = seq->kv.keys[i];
    guint t = 0;
    while (t < SRV_TIER_N &&
           !(tiers->n_stores[t] > 0 && srv_store_use (tiers->stores[t][store_at (sim, t, replica, seq->rank)], key)))
      t++;
    const gboolean other = found->n == 0 || spans[found->n - 1].tier != t;
    if (t == SRV_TIER_N || (other && found->n == MOST_SPANS))
      break;
    if (other)
      spans[found->n++] = (Span){ (SrvTierKind)t, 0 };
    spans[found->n - 1].units++;
  }
}

/* Steps of the prompt alone, from `cached` tokens on. */
static double
compute_s (SrvSim *sim, guint rank, guint input, guint cached)
{
  const SrvRunSpec *spec = sim->spec;
  const guint most = MAX (spec->limits.max_tokens, 1);
  double time_s = 0;
  for (guint at = cached; at < input;) {
    const SrvChunk chunk = { .tokens = MIN (input - at, most), .cached = at };
    at += (guint)chunk.tokens;
    sim->tiers->batches[rank] = (SrvBatch){ .chunks = &chunk, .n_chunks = 1, .n_sampled = at == input };
    time_s += spec->times.time_s (spec->times.model, sim->tiers->batches, NULL);
  }
  sim->tiers->batches[rank] = (SrvBatch){ 0 };
  return time_s;
}

/* Time to load so many units of each tier, beside what is under way. */
static gboolean
load_s (SrvSim *sim, const SrvReplica *replica, guint rank, const guint units[SRV_TIER_N], double *out_s, GError **error)
{
  const SrvTiers *tiers = sim->tiers;
  const SrvOffload *offload = &sim->spec->offload;
  *out_s = 0;
  for (guint t = 0; t < SRV_TIER_N; t++) {
    EngFlowSpec flow;
    double alone_s = 0;
    const SrvTierEnd at = { replica->index, rank, (SrvTierKind)t, FALSE };
    if (units[t] == 0)
      continue;
    if (!offload->flow (offload->user, &at, units[t] * tiers->unit, tiers->uses, &flow, &alone_s, error))
      return FALSE;
    *out_s += alone_s * (1 + tiers->reading[t][store_at (sim, t, replica, rank)]);
  }
  return TRUE;
}

static gboolean
choose_spans (SrvSim *sim, const SrvReplica *replica, const SrvSeq *seq, Found *found, GError **error)
{
  const guint unit = sim->tiers->unit;
  guint units[SRV_TIER_N] = { 0 }, end = found->from;
  const double all_s = compute_s (sim, seq->rank, seq->input, found->from * unit);
  double least_s = all_s;
  for (guint i = 0; i < found->n; i++) {
    double time_s;
    units[found->spans[i].tier] += found->spans[i].units;
    end += found->spans[i].units;
    if (!load_s (sim, replica, seq->rank, units, &time_s, error))
      return FALSE;
    const double rest_s = compute_s (sim, seq->rank, seq->input, end * unit);
    if (time_s + rest_s >= least_s)
      continue;
    least_s = time_s + rest_s;
    found->best = i + 1;
    found->saved_s = all_s - rest_s;
  }
  return TRUE;
}

static gboolean
load_spans (SrvSim *sim, SrvReplica *replica, SrvSeq *seq, const Found *found, GError **error)
{
  guint units[SRV_TIER_N] = { 0 }, all = 0;
  Load *load = g_new0 (Load, 1);
  for (guint i = 0; i < found->best; i++) {
    units[found->spans[i].tier] += found->spans[i].units;
    all += found->spans[i].units;
  }
  *load = (Load){ .seq = seq, .replica = replica, .from = found->from, .to = found->from + all, .epoch = replica->epoch };
  for (guint t = 0; t < SRV_TIER_N; t++) {
    const SrvTierEnd at = { replica->index, seq->rank, (SrvTierKind)t, FALSE };
    if (units[t] == 0)
      continue;
    Flow *flow = start_flow (sim, &at, units[t] * sim->tiers->unit, error);
    g_assert (flow != NULL); /* load_s found this way already */
    flow->load = load;
    load->flows++;
    sim->tiers->reading[t][store_at (sim, t, replica, seq->rank)]++;
    SrvTierResult *out = &sim->out->tiers[t];
    out->reads++;
    out->hit_tokens += units[t] * sim->tiers->unit;
    out->saved_s += found->saved_s * units[t] / all;
  }
  return TRUE;
}

gboolean
srv_tiers_fetch (SrvSim *sim, SrvReplica *replica, SrvSeq *seq, gboolean *loads, GError **error)
{
  SrvKv *kv = replica->scheds[seq->rank]->kv;
  *loads = FALSE;
  if (sim->tiers == NULL || seq->kv.n_keys == 0)
    return TRUE;
  if (sim->tiers->unit == 0)
    make_stores (sim, srv_kv_unit_tokens (kv));
  const guint unit = sim->tiers->unit;
  seq->units = seq->kv.n_keys;
  Found found = { .from = srv_kv_match (kv, &seq->kv, seq->input).blocks * srv_kv_block (kv) / unit };
  find_spans (sim, replica, seq, &found);
  if (found.n == 0)
    return TRUE;
  if (!choose_spans (sim, replica, seq, &found, error))
    return FALSE;
  if (found.best < found.n)
    sim->out->tiers[found.spans[found.best].tier].declined++;
  *loads = found.best > 0;
  return found.best == 0 || load_spans (sim, replica, seq, &found, error);
}

void
srv_tiers_lose (SrvSim *sim, const SrvReplica *replica)
{
  SrvTiers *tiers = sim->tiers;
  for (guint t = 0; tiers != NULL && tiers->unit > 0 && replica->pool == 0 && t < SRV_TIER_N; t++)
    for (guint k = 0; k < sim->spec->times.ranks && tiers->n_stores[t] > 0 && !sim->spec->offload.tier[t].shared; k++) {
      SrvStore **store = &tiers->stores[t][store_at (sim, (SrvTierKind)t, replica, k)];
      srv_store_free (*store);
      *store = new_store (sim, (SrvTierKind)t);
    }
}

void
srv_tiers_has (SrvSim *sim, const SrvReplica *replica, guint rank, const SrvSeq *seq, guint from, guint units[2])
{
  const SrvTiers *tiers = sim->tiers;
  units[0] = units[1] = 0;
  if (tiers == NULL || tiers->unit == 0)
    return;
  for (guint i = from; i < seq->kv.n_keys; i++) {
    guint t = 0;
    while (t <= SRV_TIER_NVME &&
           !(tiers->n_stores[t] > 0 && srv_store_has (tiers->stores[t][store_at (sim, t, replica, rank)], seq->kv.keys[i])))
      t++;
    if (t > SRV_TIER_NVME)
      break;
    units[t]++;
  }
}

/* ---- writes ---- */

/* Those of `keys` that the tier lacks. */
static gboolean
write_to (SrvSim *sim, const SrvReplica *replica, guint rank, guint from_tier, const guint64 *keys, guint n, GError **error)
{
  SrvTiers *tiers = sim->tiers;
  guint t = from_tier;
  while (t < SRV_TIER_N && tiers->n_stores[t] == 0)
    t++;
  if (t == SRV_TIER_N || n == 0)
    return TRUE;
  SrvStore *store = tiers->stores[t][store_at (sim, t, replica, rank)];
  g_autofree guint64 *lacks = g_new (guint64, n);
  guint n_lacks = 0;
  for (guint i = 0; i < n; i++)
    if (srv_store_begin (store, keys[i]))
      lacks[n_lacks++] = keys[i];
  if (n_lacks == 0)
    return write_to (sim, replica, rank, t + 1, keys, n, error);
  const SrvTierEnd end = { replica->index, rank, (SrvTierKind)t, TRUE };
  Flow *flow = start_flow (sim, &end, n_lacks * tiers->unit, error);
  if (flow == NULL)
    return FALSE;
  flow->keys = g_steal_pointer (&lacks);
  flow->n_keys = n_lacks;
  return TRUE;
}

gboolean
srv_tiers_write (SrvSim *sim, SrvReplica *replica, SrvSeq *seq, GError **error)
{
  const guint units = MIN (seq->units, seq->input / sim->tiers->unit);
  seq->units = 0;
  return write_to (sim, replica, seq->rank, 0, seq->kv.keys, units, error);
}

/* ---- flows that have ended ---- */

static void
land_read (SrvSim *sim, const Flow *flow)
{
  Load *load = flow->load;
  SrvSched *sched = load->replica->scheds[load->seq->rank];
  sim->tiers->reading[flow->end.tier][store_at (sim, flow->end.tier, load->replica, load->seq->rank)]--;
  sim->out->tiers[flow->end.tier].read_s += eng_time_to_s (sim->now - flow->started);
  if (--load->flows > 0)
    return;
  if (load->epoch != load->replica->epoch) /* it was lost meanwhile */
    g_ptr_array_add (sim->again, load->seq);
  else {
    srv_kv_install (sched->kv, &load->seq->kv, load->from, load->to);
    if (load->seq == sim->watched)
      sim->watched_read = sim->now - sim->watched_at;
    srv_sched_add (sched, load->seq);
    srv_wake (sim, load->replica);
  }
  g_free (load);
}

static gboolean
land_write (SrvSim *sim, const Flow *flow, GError **error)
{
  const SrvReplica *replica = &sim->replicas[flow->end.replica];
  SrvStore *store = sim->tiers->stores[flow->end.tier][store_at (sim, flow->end.tier, replica, flow->end.rank)];
  for (guint i = 0; i < flow->n_keys; i++)
    srv_store_ready (store, flow->keys[i]);
  return write_to (sim, replica, flow->end.rank, flow->end.tier + 1, flow->keys, flow->n_keys, error);
}

gboolean
srv_tiers_land (SrvSim *sim, GError **error)
{
  SrvTiers *tiers = sim->tiers;
  gboolean good = TRUE;
  for (guint i = 0; tiers != NULL && i < tiers->landed->len; i++) {
    Flow *flow = tiers->landed->pdata[i];
    g_ptr_array_remove_fast (tiers->moving, flow);
    if (flow->load != NULL)
      land_read (sim, flow);
    else
      good = good && land_write (sim, flow, error);
    flow_free (flow);
  }
  if (tiers != NULL)
    g_ptr_array_set_size (tiers->landed, 0);
  return good;
}
