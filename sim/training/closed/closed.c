/* A step of a model in closed form.
 *
 *     step = turns of the pipeline + what gathers delay its first + what reductions slow its last
 *            + their rest + norms + optimizer + what is gathered behind it
 *
 * Units of a model (units.c), turns of the pipeline (turns.c), groups' prices (groups.c) and memory (memory_line.c) are remembered
 * by what they depend on; a cut that was asked for before with other numbers of micro-batches is a line in them from about three
 * rounds of the pipeline on. Of the pipeline ranks the first, the last and of those between the one that ends last are looked at.
 * Slow GPUs (stragglers, jitter): compute of their pipeline rank takes so much longer; what it hid may hide a little more.
 * Stages that lie otherwise on nodes and NVLink domains have units of their own (stages.c).
 * A loader adds what a step waits for its input (data/loader_pace.c).
 * Left out: contention of one kind of communication with another.
 * Check: test_training_closed (steps of many cuts against the engine's; docs/performance.md has the differences). */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "closed-private.h"

const BaseName trn_recompute_names[] = {
  { "none", TRN_RECOMPUTE_NONE, "nothing is computed again" },
  { "selective", TRN_RECOMPUTE_SELECTIVE, "the core of attention, where its scores are kept" },
  { "full", TRN_RECOMPUTE_FULL, "whole layers" },
  { NULL, 0, NULL },
};

/* What is remembered, by the part of a question that it depends on. */
typedef struct {
  TrnClosedQuery query;
  TrnSpan span;          /* of ranks that do not lie as those of stage 0 */
  double send_s, wrap_s; /* of turns */
  gpointer what;
  GDestroyNotify free;
} Memo;

/* Of a cut: what m micro-batches take. */
typedef struct {
  TrnClosedStep step; /* of m micro-batches */
  double more_s, more_part_s[TRN_PART_N];
  guint32 m; /* micro-batches of `step` */
  double band, wire_band;
  GPtrArray *asks;    /* TrnAsk: all prices that it was made of; NULL: not known */
  TrnLoaderPace pace; /* of its loader; nothing without one */
  TrnLocalResult local; /* a round of local steps; not set without them */
} Cut;

/* What depends on no machine. */
struct TrnClosedPool {
  GHashTable *ways;   /* Memo */
  guint64 ways_turns; /* of all ways */
  TrnMemoryCache *memory;
};

struct TrnClosed {
  const TrnJob *job;
  GHashTable *units, *groups, *turns, *memory, *held, *cuts; /* Memo */
  GHashTable *products;                                      /* trn_products_new() */
  TrnComms *comms;                                           /* of all grids */
  TrnClosedPool *own, *pool;                                 /* pool: own, or borrowed */
  TrnEdges *edges;
  TrnLoaderPaces *paces; /* NULL: no loader */
  guint32 gpus_per_node;
  double skip_share; /* what takes more of a GPU's memory has no time; 0: all have */
  double flop_per_token, flop_per_s;
  gboolean lists;               /* what cuts are made of is kept */
  TrnClosed *before;            /* of the same cluster with another network; NULL: none. Borrowed */
  guint follower, n_followers;  /* its number there; how many this one has had */
};

/* ---- memory of what was asked ---- */

static guint
hash_memo (gconstpointer key)
{
  const Memo *memo = key;
  const TrnClosedQuery *a = &memo->query;
  const guint32 words[] = { a->tp,       a->cp,        a->pp,   a->vp,         a->ep, a->dp, a->micro_batch, a->micro_batches,
                            a->schedule, a->recompute, a->zero, (guint32)a->sp };
  guint64 hash = base_hash_word (base_double_bits (memo->send_s), (guint64)memo->span.domain << 32 | memo->span.node);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    hash = base_hash_word (hash, words[i]);
  return (guint)(hash >> 32);
}

static gboolean
same_memo (gconstpointer a, gconstpointer b)
{
  const Memo *x = a, *y = b;
  return memcmp (&x->query, &y->query, sizeof x->query) == 0 && memcmp (&x->span, &y->span, sizeof x->span) == 0 &&
         memcmp (&x->send_s, &y->send_s, sizeof x->send_s) == 0 && memcmp (&x->wrap_s, &y->wrap_s, sizeof x->wrap_s) == 0;
}

static void
free_memo (gpointer data)
{
  Memo *memo = data;
  memo->free (memo->what);
  g_free (memo);
}

static gpointer
recall (GHashTable *table, const Memo *key)
{
  const Memo *known = g_hash_table_lookup (table, key);
  return known != NULL ? known->what : NULL;
}

/* Takes `what`, and returns it; NULL stays NULL. */
static gpointer
keep (GHashTable *table, const Memo *key, gpointer what, GDestroyNotify free)
{
  if (what == NULL)
    return NULL;
  Memo *memo = g_memdup2 (key, sizeof *key);
  memo->what = what;
  memo->free = free;
  g_hash_table_add (table, memo);
  return what;
}

/* ---- what a configuration needs ---- */

static TrnGroupPrices *
groups_at (TrnClosed *closed, const TrnGroupsOf *of, GError **error)
{
  const Memo key = { .query = of->query, .span = of->span };
  TrnGroupPrices *known = recall (closed->groups, &key);
  return known != NULL ? known
                       : keep (closed->groups, &key, trn_group_prices_new (closed->job, closed->comms, of, error),
                               (GDestroyNotify)trn_group_prices_free);
}

/* `stage`: of a grid that is its ranks alone; NULL: of all ranks. */
static TrnGroupPrices *
groups_of (TrnClosed *closed, const TrnClosedQuery *query, const TrnStage *stage, GError **error)
{
  gboolean odd = stage != NULL && stage->like > 0;
  TrnGroupsOf of = { .query = { .tp = query->tp,
                          .cp = query->cp,
                          .pp = query->pp,
                          .vp = 1,
                          .ep = query->ep,
                          .dp = query->dp,
                          .zero = query->zero > 2 ? 3 : 0,
                          .micro_batch = 1,
                          .micro_batches = 2,
                          .schedule = MDL_SCHEDULE_1F1B } };
  if (odd) {
    of.span = stage->span;
    of.first = stage->first;
  }
  return groups_at (closed, &of, error);
}

static TrnUnits *
new_units (TrnClosed *closed, const TrnClosedQuery *query, TrnGroupPrices *groups, GError **error)
{
  TrnPrices *prices = trn_group_prices_all (groups);
  g_autoptr (GArray) questions = closed->lists ? g_array_new (FALSE, FALSE, sizeof (TrnQuestion)) : NULL;
  trn_prices_list (prices, questions);
  TrnUnits *units = trn_units_new (closed->job, query, prices, closed->products, error);
  trn_prices_list (prices, NULL);
  if (units != NULL && questions != NULL)
    units->asks = trn_group_prices_asked (groups, questions);
  return units;
}

static TrnUnits *
units_of (TrnClosed *closed, const TrnModel *model, const TrnClosedQuery *query, const TrnStage *stage, GError **error)
{
  const gboolean odd = stage->like > 0, placed = closed->job->spec.model.placement.n > 0;
  Memo key = { .query = *query, .span = odd ? stage->span : (TrnSpan){ 0 } };
  TrnClosedQuery *a = &key.query;
  guint32 cut = a->tp * a->cp, experts = model->grid.ep * model->grid.etp;
  gboolean shards = model->sync == TRN_SYNC_SHARDS, spread = model->software.slowest > 1;
  /* groups inside a node are the same whatever lies outside it */
  guint32 here = cut <= closed->gpus_per_node ? MIN (a->dp, closed->gpus_per_node / cut) : a->dp;
  if (!shards && !spread && !odd && !placed && cut <= closed->gpus_per_node && experts <= closed->gpus_per_node &&
      cut * here % experts == 0)
    a->dp = here;
  if (!spread && !placed) /* where ranks lie depends on pp */
    a->pp = 1;
  a->zero = shards ? 3 : 0;
  a->vp = 1;
  a->micro_batches = 2;
  const MdlScheduleFacts *facts = mdl_schedule_facts (a->schedule); /* units are the same for all schedules of these kinds */
  a->schedule = facts->pairs ? MDL_SCHEDULE_DUALPIPE_V : facts->splits_backward ? MDL_SCHEDULE_ZB_H1 : MDL_SCHEDULE_1F1B;
  TrnUnits *known = recall (closed->units, &key);
  if (known != NULL)
    return known;
  TrnGroupPrices *groups = groups_of (closed, a, stage, error); /* of this grid, shared by its units */
  return groups == NULL
             ? NULL
             : keep (closed->units, &key, new_units (closed, a, groups, error), (GDestroyNotify)trn_units_free);
}

/* Of so many micro-batches. Borrowed until drop_ways(). */
static const TrnSchedulePath *
way_of (TrnClosed *closed, const TrnModel *model, guint32 m)
{
  MdlPipeline few = model->pipe;
  few.m = m;
  gboolean queued = model->software.queues_sends;
  const Memo key = { .query = { .pp = few.p, .vp = few.v, .micro_batches = m, .schedule = few.schedule },
                     .send_s = (queued ? 1 : 0) + (few.combined ? 2 : 0) }; /* of no time here: whether they are queued, paired */
  TrnClosedPool *pool = closed->pool;
  const TrnSchedulePath *known = recall (pool->ways, &key);
  if (known != NULL)
    return known;
  TrnSchedulePath *way = keep (pool->ways, &key, trn_schedule_path_new (&few, queued), (GDestroyNotify)trn_schedule_path_free);
  pool->ways_turns += trn_schedule_path_length (way);
  return way;
}

/* Ways are for many cuts, but not for ever: 40 B a turn. */
static void
drop_ways (TrnClosedPool *pool)
{
  static const guint64 MOST = 1u << 20;
  if (pool->ways_turns <= MOST)
    return;
  g_hash_table_remove_all (pool->ways);
  pool->ways_turns = 0;
}

static TrnTurns *
turns_of (TrnClosed *closed, const TrnModel *model, const TrnStage *stages, TrnGroupPrices *groups, const TrnClosedQuery *query,
          const double *slow, GError **error)
{
  MdlPipeline pipe = model->pipe;
  Memo key = { .query = *query };
  g_autofree double *send_s = trn_stage_sends (model, stages, groups, error);
  if (send_s == NULL)
    return NULL;
  key.send_s = send_s[0];
  key.wrap_s = send_s[pipe.p - 1];
  key.query.micro_batches = trn_turns_followed (&pipe);
  if (model->sync != TRN_SYNC_SHARDS && model->software.slowest <= 1)
    key.query.zero = 0;
  TrnTurns *known = recall (closed->turns, &key);
  if (known != NULL)
    return known;
  double *turn_s[MDL_TURN_KINDS];
  TrnTurnsQuery turns_ask = { .send_s = send_s, .paired = stages[0].units->paired, .blocks = !model->spec->model.overlap.p2p.v };
  for (guint32 s = 1; s < pipe.p; s++)
    turns_ask.paired = fmax (turns_ask.paired, stages[s].units->paired);
  for (int k = 0; k < MDL_TURN_KINDS; k++)
    turns_ask.turn_s[k] = turn_s[k] = trn_turn_times (stages, model, slow, (MdlTurnKind)k);
  guint32 m = trn_turns_followed (&pipe);
  const TrnSchedulePath *before = trn_turns_repeat (&pipe) ? way_of (closed, model, m - pipe.p) : NULL;
  known = keep (closed->turns, &key, trn_turns_new (&pipe, way_of (closed, model, m), before, &turns_ask),
                (GDestroyNotify)trn_turns_free);
  for (int k = 0; k < MDL_TURN_KINDS; k++)
    g_free (turn_s[k]);
  return known;
}

/* What turns make of a model's memory. */
static const TrnMemoryTurns *
memory_turns_of (TrnClosed *closed, const TrnModel *model, const TrnClosedQuery *query)
{
  Memo key = { .query = *query };
  if (trn_memory_turns_of_any_zero (model))
    key.query.zero = 0;
  const TrnMemoryTurns *known = recall (closed->memory, &key);
  if (known != NULL)
    return known;
  gboolean few = model->pipe.m == trn_turns_followed (&model->pipe);
  const TrnSchedulePath *way = few ? way_of (closed, model, model->pipe.m) : NULL;
  return keep (closed->memory, &key,
               trn_memory_turns_new (model, way != NULL ? trn_schedule_path_orders (way) : NULL, closed->pool->memory), g_free);
}

static const TrnMemoryLine *
held_of (TrnClosed *closed, const TrnModel *model, const TrnClosedQuery *query, GError **error)
{
  Memo key = { .query = *query };
  guint32 most = closed->job->system->gpus->len / (query->tp * query->cp * query->pp), least = 2;
  gboolean eager = model->query.framework == MDL_FRAMEWORK_EAGER, odd = model->grid.ep > 1 || query->dp < least || most <= least;
  if (!eager || query->pp == 1)
    key.query.micro_batches = MIN (query->micro_batches, trn_turns_followed (&model->pipe));
  if (eager && query->pp == 1)
    key.query.micro_batches = MIN (query->micro_batches, 2);
  odd = odd || query->dp == most || closed->job->spec.model.local.head.set; /* a search that takes all GPUs needs no line */
  key.query.dp = odd ? query->dp : least;
  const TrnMemoryLine *known = recall (closed->held, &key);
  if (known != NULL)
    return known;
  if (!odd)
    return keep (closed->held, &key, trn_memory_line_new (closed->job, &key.query, least, most, error),
                 (GDestroyNotify)trn_memory_line_free);
  TrnModel few = *model; /* borrows */
  few.m = few.pipe.m = key.query.micro_batches;
  return keep (closed->held, &key, trn_memory_line_one (&few, memory_turns_of (closed, &few, &key.query)),
               (GDestroyNotify)trn_memory_line_free);
}

/* ---- putting together ---- */

/* Ranks that are looked at: the first, the last, and of those between the one that ends last; of those with a slow NIC, where there
 * are any. */
static guint
lanes_of (const TrnTurns *turns, const TrnStage *stages, guint32 p, guint32 lane[3])
{
  guint32 middle = 1;
  for (guint32 s = 2; s + 1 < p; s++) {
    const gboolean slow = stages[s].span.own > 0, before = stages[middle].span.own > 0;
    if (slow == before ? turns->end_s[s] > turns->end_s[middle] : slow)
      middle = s;
  }
  lane[0] = 0;
  lane[1] = p > 2 ? middle : p - 1;
  lane[2] = p - 1;
  return MIN (p, 3);
}

/* The end of the step, and the rank that is last. */
typedef struct {
  guint32 lane;
  double end_s, ready_s;
  TrnSyncTime sync;
  double slowed_s; /* all that its turns came later for reductions */
  double each_s;   /* as of TrnSyncTime */
  double band;
  BaseSource source;
} Last;

static gboolean
find_last (const TrnModel *model, const TrnStage *stages, TrnGroupPrices *groups, const TrnTurns *turns, const double *slow,
           Last *out, GError **error)
{
  guint32 lane[3], p = model->pipe.p;
  guint n = lanes_of (turns, stages, p, lane);
  TrnSyncTime sync[3];
  double before_s = 0, update_s = 0, after_s = 0, norms_s, ready_s[3], slowed_s[3], all_s = -1;
  *out = (Last){ .source = BASE_SOURCE_MEASURED };
  for (guint i = 0; i < n; i++) {
    const TrnStage *one = &stages[lane[i]];
    const TrnSyncQuery of = { model, one->units, groups, turns, lane[i], one->like };
    if (!trn_sync_time (&of, &sync[i], error))
      return FALSE;
    sync[i].update_s *= trn_slow_of (slow, lane[i]);
    before_s = fmax (before_s, sync[i].before_s);
    update_s = fmax (update_s, sync[i].update_s);
    after_s = fmax (after_s, sync[i].after_s);
    out->each_s = fmax (out->each_s, sync[i].each_s);
    out->band = fmax (out->band, sync[i].band);
    out->source = MIN (out->source, sync[i].source);
  }
  if (!trn_norm_time (model, groups, &norms_s, error))
    return FALSE;
  for (guint i = n; i-- > 0;) { /* a last backward pass waits for that of the rank behind it */
    guint32 alike = n == 3 && i == 1 ? p - 1 - lane[1] : 1;
    slowed_s[i] = (i + 1 < n ? slowed_s[i + 1] : 0) + alike * sync[i].slowed_s;
    if (n == 3 && i == 0)
      slowed_s[i] += (lane[1] - 1) * sync[1].slowed_s;
    ready_s[i] = before_s + turns->end_s[lane[i]] + slowed_s[i] + sync[i].tail_s + (turns->m - 1) * out->each_s;
    all_s = fmax (all_s, ready_s[i]);
  }
  gboolean together = model->spec->model.clip.v;
  for (guint i = 0; i < n; i++) {
    double end_s = together ? all_s + norms_s + update_s + after_s : ready_s[i] + sync[i].update_s + sync[i].after_s;
    end_s += model->software.step_s * model->software.slowest * trn_slow_of (slow, lane[i]);
    gboolean later = end_s > out->end_s || (together && end_s >= out->end_s && ready_s[i] > out->ready_s);
    if (!later)
      continue;
    out->lane = lane[i];
    out->end_s = end_s;
    out->ready_s = ready_s[i];
    out->sync = sync[i];
    out->sync.before_s = before_s;
    out->sync.tail_s += norms_s;
    out->slowed_s = slowed_s[i];
  }
  return TRUE;
}

/* The parts of the last rank's step. */
static void
take_parts (const TrnModel *model, const TrnUnits *units, const TrnTurns *turns, const Last *last, double slow, Cut *cut)
{
  double one_s[TRN_PART_N] = { 0 }, *part_s = cut->step.part_s, sum_s = 0, more_s = 0;
  trn_lane_parts (units, model, last->lane, slow, one_s);
  for (int p = 0; p < TRN_PART_N; p++) {
    part_s[p] = one_s[p] * turns->m;
    cut->more_part_s[p] = one_s[p];
  }
  part_s[TRN_PART_COMPUTE] += last->sync.slowed_s + (turns->m - 1) * last->each_s;
  cut->more_part_s[TRN_PART_COMPUTE] += last->each_s;
  part_s[TRN_PART_EXPOSED_DP] += last->sync.before_s + last->sync.tail_s + last->sync.after_s;
  part_s[TRN_PART_OPTIMIZER] = last->sync.update_s + model->software.step_s * model->software.slowest * slow;
  for (int p = 0; p < TRN_PART_N; p++) {
    sum_s += part_s[p];
    more_s += one_s[p];
  }
  more_s += last->each_s;
  part_s[TRN_PART_EXPOSED_PP] = fmin (turns->sends_s, fmax (last->end_s - sum_s, 0));
  cut->more_part_s[TRN_PART_EXPOSED_PP] = fmin (turns->sends_more_s, fmax (cut->more_s - more_s, 0));
  part_s[TRN_PART_BUBBLE] = last->end_s - sum_s - part_s[TRN_PART_EXPOSED_PP];
  cut->more_part_s[TRN_PART_BUBBLE] = cut->more_s - more_s - cut->more_part_s[TRN_PART_EXPOSED_PP];
}

/* Stages of a cut, and their units. Returned: full. */
static TrnStage *
stages_of (TrnClosed *closed, const TrnModel *model, const TrnClosedQuery *query, GError **error)
{
  g_autofree TrnStage *stages = trn_stages_new (closed->edges, &model->grid);
  for (guint32 s = 0; s < model->pipe.p; s++) {
    TrnStage *one = &stages[s];
    one->units = one->like < s ? stages[one->like].units : units_of (closed, model, query, one, error);
    if (one->units == NULL)
      return NULL;
  }
  return g_steal_pointer (&stages);
}

static void
cut_free (gpointer data)
{
  Cut *cut = data;
  g_clear_pointer (&cut->asks, g_ptr_array_unref);
  g_free (cut);
}

static Cut *
make_cut (TrnClosed *closed, const TrnModel *model, const TrnClosedQuery *query, GError **error)
{
  g_autofree TrnStage *stages = stages_of (closed, model, query, error);
  TrnGroupPrices *groups = stages != NULL ? groups_of (closed, query, NULL, error) : NULL;
  g_autofree double *slow = trn_slow_lanes (model);
  g_autoptr (GPtrArray) asks = closed->lists ? g_ptr_array_new () : NULL;
  if (groups != NULL)
    trn_group_prices_list (groups, asks);
  TrnTurns *turns = groups != NULL ? turns_of (closed, model, stages, groups, query, slow, error) : NULL;
  Last last;
  TrnLocalResult local = { 0 };
  gboolean ok = turns != NULL && find_last (model, stages, groups, turns, slow, &last, error) &&
                (!trn_local_steps (model) || trn_stage_round (model, stages, groups, &local, error));
  if (groups != NULL)
    trn_group_prices_list (groups, NULL);
  if (!ok)
    return NULL;
  Cut *cut = g_new0 (Cut, 1);
  cut->asks = trn_stage_asks (stages, model->pipe.p, g_steal_pointer (&asks));
  cut->step.step_time_s = last.end_s;
  cut->step.stage = last.lane;
  cut->step.n_ranks = model->grid.n;
  cut->step.provenance = last.source;
  cut->local = local;
  cut->m = turns->m;
  cut->more_s = turns->more_s + last.each_s;
  cut->wire_band = last.band;
  for (guint32 s = 0; s < model->pipe.p; s++) {
    const TrnUnits *units = stages[s].units;
    cut->step.provenance = MIN (cut->step.provenance, units->source);
    cut->band = fmax (cut->band, units->band);
    cut->wire_band = fmax (cut->wire_band, units->wire_band);
  }
  cut->step.wire_band = cut->wire_band;
  take_parts (model, stages[last.lane].units, turns, &last, trn_slow_of (slow, last.lane), cut);
  return cut;
}

/* ---- the question ---- */

TrnClosedPool *
trn_closed_pool_new (void)
{
  TrnClosedPool *pool = g_new0 (TrnClosedPool, 1);
  pool->ways = g_hash_table_new_full (hash_memo, same_memo, free_memo, NULL);
  pool->memory = trn_memory_cache_new ();
  return pool;
}

void
trn_closed_pool_free (TrnClosedPool *pool)
{
  if (pool == NULL)
    return;
  g_hash_table_unref (pool->ways);
  trn_memory_cache_free (pool->memory);
  g_free (pool);
}

TrnClosed *
trn_closed_new (const TrnJob *job, GError **error)
{
  if (!trn_closed_check (job, error))
    return NULL;
  const TrnModelSpec *m = &job->spec.model;
  TrnClosed *closed = g_new0 (TrnClosed, 1);
  GHashTable **tables[] = { &closed->units, &closed->groups, &closed->turns, &closed->memory, &closed->held, &closed->cuts };
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    *tables[i] = g_hash_table_new_full (hash_memo, same_memo, free_memo, NULL);
  closed->products = trn_products_new ();
  ColSystem system = *job->system;
  system.settings.terse = TRUE;
  closed->comms = trn_comms_new (&system);
  closed->own = closed->pool = trn_closed_pool_new ();
  closed->job = job;
  closed->edges = trn_edges_new (job);
  closed->paces = job->spec.loader.head.set ? trn_loader_paces_new () : NULL;
  for (guint32 i = 0, node = 0; i < job->system->gpus->len; i++) {
    guint32 its = clu_dev_node (job->system->clu, clu_gpu (job->system->clu, g_array_index (job->system->gpus, guint32, i)));
    node = i == 0 ? its : node;
    closed->gpus_per_node += its == node;
  }
  MdlLlmFlop flop;
  MdlGpu gpu;
  double images, patches;
  mdl_llm_token_flop (&job->llm, m->sequence.v, m->packing.head.set ? m->packing.mean_length.v : 0, &flop);
  trn_images_of (&job->llm, m, &images, &patches);
  mdl_llm_add_vision_flop (&job->llm, m->sequence.v, images, patches, &flop);
  col_gpu_facts (job->system->clu, 0, &gpu);
  closed->flop_per_token = (flop.matrix_flop + flop.attention_flop) * (m->lora.head.set ? 2.0 / 3 : 1); /* frozen: no wgrads */
  closed->flop_per_s = gpu.peak_flop_per_s[mdl_format_precision ((MdlFormat)m->precision.compute.v)];
  return closed;
}

void
trn_closed_free (TrnClosed *closed)
{
  if (closed == NULL)
    return;
  g_hash_table_unref (closed->cuts);
  g_hash_table_unref (closed->turns);
  g_hash_table_unref (closed->held);
  g_hash_table_unref (closed->memory);
  g_hash_table_unref (closed->groups);
  g_hash_table_unref (closed->units);
  g_hash_table_unref (closed->products);
  trn_edges_free (closed->edges);
  trn_loader_paces_free (closed->paces);
  trn_comms_free (closed->comms);
  trn_closed_pool_free (closed->own);
  g_free (closed);
}

void
trn_closed_share (TrnClosed *closed, TrnClosedPool *pool)
{
  g_clear_pointer (&closed->own, trn_closed_pool_free);
  closed->pool = pool;
}

/* As it is of a cluster that differs by its network, where all that the cut was made of takes the same here. NULL: it is to be
 * made. */
static Cut *
take_over (TrnClosed *closed, const Memo *key)
{
  const Cut *known = closed->before != NULL ? recall (closed->before->cuts, key) : NULL;
  if (known == NULL || (known->asks == NULL && known->m > 0))
    return NULL;
  g_autoptr (GPtrArray) asks = known->asks != NULL ? g_ptr_array_sized_new (known->asks->len) : NULL;
  for (guint i = 0; asks != NULL && i < known->asks->len; i++) {
    TrnAsk *ask = known->asks->pdata[i];
    TrnGroupPrices *there = trn_ask_known (ask, closed->follower) ? NULL : groups_at (closed, trn_ask_of (ask), NULL);
    TrnAsk *same = there != NULL || trn_ask_known (ask, closed->follower) ? trn_ask_there (ask, closed->follower, there) : NULL;
    if (same == NULL)
      return NULL;
    g_ptr_array_add (asks, same);
  }
  Cut *cut = g_memdup2 (known, sizeof *known);
  cut->asks = g_steal_pointer (&asks);
  return cut;
}

/* A cut for the first time: read, and all that it needs looked up or made. */
static const Cut *
first_time (TrnClosed *closed, const TrnClosedQuery *query, const Memo *key, GError **error)
{
  TrnVariant variant;
  Cut *cut = take_over (closed, key);
  if (cut != NULL)
    return keep (closed->cuts, key, cut, cut_free);
  drop_ways (closed->pool);
  if (trn_variant_plan (closed->job, query, &variant, error)) {
    const TrnMemoryLine *held = held_of (closed, &variant.model, query, error);
    TrnClosedStep memory = { 0 };
    if (held != NULL)
      trn_memory_line_at (held, query->dp, &memory);
    const double most_B = memory.capacity_B * closed->skip_share;
    if (held != NULL && most_B > 0 && memory.memory_B > most_B)
      cut = g_new0 (Cut, 1);
    else if (held != NULL)
      cut = make_cut (closed, &variant.model, &key->query, error);
    const TrnLoaderPace *pace = cut != NULL && closed->paces != NULL ? trn_closed_feed (closed->paces, &variant, error) : NULL;
    if (cut != NULL && pace != NULL) {
      cut->pace = *pace;
      cut->step.provenance = MIN (cut->step.provenance, pace->source);
    } else if (closed->paces != NULL)
      g_clear_pointer (&cut, cut_free);
    if (cut != NULL) {
      cut->step.memory_B = memory.memory_B;
      cut->step.capacity_B = memory.capacity_B;
      cut->step.fullest = memory.fullest;
      cut->step.restore_B = memory.restore_B;
      cut->step.fits = memory.fits;
      cut->step.n_ranks = variant.model.grid.n;
    }
  }
  trn_model_clear (&variant.model);
  return keep (closed->cuts, key, cut, cut_free);
}

void
trn_closed_follow (TrnClosed *closed, TrnClosed *before)
{
  const ColSystem *a = closed->job->system, *b = before != NULL ? before->job->system : NULL;
  const TrnModelSpec *m = &closed->job->spec.model;
  closed->lists = closed->paces == NULL && m->stragglers.n == 0 && m->placement.n == 0;
  if (before == NULL || !closed->lists || !before->lists || fabs (before->skip_share - closed->skip_share) > 0 ||
      a->kernels != b->kernels || a->overlap != b->overlap || a->software != b->software || a->memory != b->memory)
    return;
  closed->before = before;
  closed->follower = ++before->n_followers;
}

void
trn_closed_skip_unfit (TrnClosed *closed, double share)
{
  closed->skip_share = share;
}

gboolean
trn_closed_step (TrnClosed *closed, const TrnClosedQuery *query, TrnClosedStep *out, GError **error)
{
  g_return_val_if_fail (query->micro_batches > 0 && query->recompute < TRN_RECOMPUTE_N, FALSE);
  if (!trn_closed_takes (closed->job, query, error))
    return FALSE;
  Memo key = { .query = *query };
  const MdlPipeline pipe = { .schedule = query->schedule, .p = query->pp, .v = query->vp, .m = query->micro_batches,
                             .combined = closed->job->spec.model.overlap.ep.v };
  gboolean eager = closed->job->spec.model.framework.v == MDL_FRAMEWORK_EAGER;
  if (!eager || query->pp == 1) /* eager pipelines have buffers for each micro-batch */
    key.query.micro_batches = trn_turns_followed (&pipe);
  const Cut *cut = recall (closed->cuts, &key);
  if (cut == NULL)
    cut = first_time (closed, query, &key, error);
  if (cut == NULL)
    return FALSE;
  *out = cut->step;
  double more = cut->m > 0 ? (double)query->micro_batches - cut->m : 0, exposed_s = 0;
  out->step_time_s += more * cut->more_s;
  for (int p = 0; p < TRN_PART_N; p++) {
    out->part_s[p] += more * cut->more_part_s[p];
    exposed_s += p >= TRN_PART_EXPOSED_TP && p <= TRN_PART_EXPOSED_EP ? out->part_s[p] : 0;
  }
  double work_s = out->step_time_s - exposed_s;
  out->step_time_lo_s = work_s / (1 + cut->band) + exposed_s / (1 + cut->wire_band);
  out->step_time_hi_s = work_s * (1 + cut->band) + exposed_s * (1 + cut->wire_band);
  if (closed->paces != NULL && out->step_time_s > 0) {
    const double stall_s = trn_loader_pace_stall_s (&cut->pace, query->micro_batches, out->step_time_s);
    out->part_s[TRN_PART_DATA_STALL] = stall_s;
    out->step_time_s += stall_s;
    out->step_time_lo_s += stall_s;
    out->step_time_hi_s += stall_s;
  }
  if (cut->local.set && out->step_time_s > 0)
    trn_stage_longer (&cut->local, out);
  out->tokens = (double)query->micro_batches * query->dp * query->micro_batch * closed->job->spec.model.sequence.v;
  if (out->step_time_s > 0)
    out->mfu = out->tokens * closed->flop_per_token / (out->step_time_s * out->n_ranks * closed->flop_per_s);
  return TRUE;
}

gboolean
trn_closed_own (const TrnClosed *closed, TrnClosedQuery *query, GError **error)
{
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (closed->job, &model, error))
    return FALSE;
  const BaseYamlNode *again = closed->job->spec.model.recompute;
  const BaseName *name =
      again != NULL && base_yaml_text (again) != NULL ? base_name_find (trn_recompute_names, base_yaml_text (again)) : NULL;
  if (again != NULL && name == NULL)
    return col_fail_at (error, base_yaml_mark (again),
                        "'recompute' of modules has no closed form; accepted: none, selective, full");
  *query = (TrnClosedQuery){ .tp = model.grid.size[TRN_DIM_TP],
                             .cp = model.grid.size[TRN_DIM_CP],
                             .pp = model.pipe.p,
                             .vp = mdl_schedule_cuts (model.pipe.schedule) > 0 ? 1 : model.pipe.v,
                             .ep = model.grid.ep,
                             .dp = model.grid.size[TRN_DIM_DP],
                             .zero = model.sync == TRN_SYNC_SHARDS ? 3 : (guint32)closed->job->spec.parallel.zero.v,
                             .micro_batch = (guint32)model.query.micro_batch,
                             .micro_batches = model.m,
                             .schedule = model.pipe.schedule,
                             .recompute = name != NULL ? (TrnRecompute)name->code : TRN_RECOMPUTE_NONE,
                             .sp = closed->job->spec.parallel.sp.v };
  return TRUE;
}
