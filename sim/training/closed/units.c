/* What a unit of a model takes between others of its kind: a rank's program over few layers, run on the engine once.
 *
 * A pass of a unit ends when its work and the collectives that the next unit waits for have ended, so times of units add up, and a
 * layer's is that of all its like. Two micro-batches are run and the second is read: by then the first one's traces are gone. With
 * shards (ZeRO 3), whose gathers and scatters run beside the layers, a layer in the middle is read, and what the whole turn takes
 * more is its edge.
 * Check: test_training_closed (steps of many cuts against the engine's). */
#include <math.h>
#include <string.h>

#include "closed-private.h"

guint32
trn_unit_index (const TrnModel *model, guint32 layer)
{
  return 2 * (guint32)mdl_llm_part (&model->llm, layer) + (mdl_llm_is_windowed (&model->llm, layer) ? 1u : 0u);
}

static void
set_count (BaseNum *num, double v)
{
  num->v = v;
  num->set = TRUE;
}

static unsigned
recompute_of (const TrnModel *model, TrnRecompute again)
{
  return again == TRN_RECOMPUTE_FULL        ? MDL_MODULE_LAYER
         : again == TRN_RECOMPUTE_SELECTIVE ? mdl_recompute_selective (model->query.flash)
                                            : 0;
}

gboolean
trn_variant_plan (const TrnJob *job, const TrnClosedQuery *query, TrnVariant *out, GError **error)
{
  out->system = *job->system;
  out->job = *job;
  out->job.system = &out->system;
  memset (&out->model, 0, sizeof out->model);
  TrnSpec *spec = &out->job.spec;
  set_count (&spec->parallel.tp, query->tp);
  set_count (&spec->parallel.cp, query->cp);
  set_count (&spec->parallel.pp, query->pp);
  set_count (&spec->parallel.ep, query->ep);
  set_count (&spec->parallel.dp, query->dp);
  set_count (&spec->parallel.zero, query->zero);
  set_count (&spec->parallel.vp, query->vp);
  spec->parallel.vp.set = query->vp > 1 || mdl_schedule_cuts (query->schedule) == 0;
  spec->parallel.sp.v = query->sp;
  set_count (&spec->model.micro_batch, query->micro_batch);
  set_count (&spec->model.accumulate, query->micro_batches);
  spec->model.global_batch.set = FALSE;
  spec->model.recompute = NULL;
  spec->model.offload = (TrnOffloadSpec){ 0 };
  spec->model.cp.head.set = spec->model.cp.head.set && query->cp > 1;
  spec->schedule.v = (int)query->schedule;
  spec->schedule.set = TRUE;
  out->system.settings.mode = COL_MODE_MODEL;
  out->system.settings.terse = TRUE;
  out->job.any_cut = TRUE;
  if (!trn_model_plan (&out->job, &out->model, error))
    return FALSE;
  out->model.query.recompute = recompute_of (&out->model, query->recompute);
  return TRUE;
}

/* ---- a rank's program over few layers ---- */

/* Layers that show each kind, and with shards one of each between others. */
static guint32
layers_needed (const TrnModel *model)
{
  guint32 last_new = 0, n = mdl_llm_chain (&model->llm), seen = 0;
  for (guint32 layer = 0; layer < n; layer++) {
    guint32 bit = 1u << trn_unit_index (model, layer);
    if ((seen & bit) == 0)
      last_new = layer;
    seen |= bit;
  }
  return MIN (n, last_new + (model->sync == TRN_SYNC_SHARDS ? 4u : 1u));
}

typedef struct {
  TrnBuild b;
  TrnLane lane;
  Eng *eng;
  GArray *turns; /* MdlTurn */
  TrnDone *done;
} Small;

static void
small_clear (Small *small)
{
  g_clear_pointer (&small->b.graph, eng_graph_free);
  g_clear_pointer (&small->eng, eng_free);
  g_clear_pointer (&small->b.notes, g_array_unref);
  g_clear_pointer (&small->b.uses, g_array_unref);
  g_clear_pointer (&small->turns, g_array_unref);
  g_clear_pointer (&small->done, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Small, small_clear)

static void
add_turn (Small *small, MdlTurnKind kind, guint32 micro_batch, gboolean paired)
{
  const MdlTurn turn = { .micro_batch = micro_batch, .kind = kind, .paired = paired };
  g_array_append_val (small->turns, turn);
}

/* Runs the turns on one rank. */
static gboolean
small_run (Small *small, TrnUnits *units, GError **error)
{
  TrnBuild *b = &small->b;
  TrnModel *model = &units->variant.model;
  small->eng = eng_new ();
  small->done = g_new0 (TrnDone, small->turns->len);
  *b = (TrnBuild){ .model = model,
                   .prices = units->prices,
                   .costs = units->costs,
                   .graph = eng_graph_new (small->eng),
                   .lane = &small->lane,
                   .notes = g_array_new (FALSE, FALSE, sizeof (TrnNote)),
                   .uses = g_array_new (FALSE, FALSE, sizeof (EngUse)) };
  trn_costs_host (units->costs, &b->host);
  if (!model->job->system->settings.no_interference)
    eng_graph_set_pace (b->graph, trn_step_pace, b);
  for (int r = 0; r < TRN_ROLES; r++)
    small->lane.stream[r] = ENG_NO_STREAM;
  small->lane.place = eng_graph_place (b->graph);
  small->lane.slow = model->software.slowest;
  BaseBool *clip = &units->variant.job.spec.model.clip;
  gboolean clips = clip->v;
  clip->v = FALSE; /* a norm is of all pipeline ranks, and none of a unit's */
  gboolean ok = trn_program_lane (b, 0, small->turns, small->done, error) && eng_graph_run (b->graph, error);
  clip->v = clips;
  return ok;
}

/* ---- reading it ---- */

static EngTask
end_of_turn (const Small *small, guint turn)
{
  return turn + 1 < small->turns->len ? small->done[turn + 1].first : eng_graph_n_tasks (small->b.graph);
}

/* Whether the next unit may have to wait for a task. */
static gboolean
is_of_unit (const Small *small, EngTask task, gint32 layer)
{
  const TrnNote *note = &g_array_index (small->b.notes, TrnNote, task);
  TrnStepKind kind = (TrnStepKind)eng_graph_task_kind (small->b.graph, task);
  return note->at.layer == layer && kind != TRN_STEP_DP && kind != TRN_STEP_HOST && kind != TRN_STEP_SYNC &&
         kind != TRN_STEP_OPTIMIZER && kind != TRN_STEP_SEND_UP && kind != TRN_STEP_SEND_DOWN;
}

/* What a unit of a turn takes from `*cursor` on, which is moved to its end. */
static void
read_unit (const Small *small, guint turn, gint32 layer, EngTime *cursor, double *time_s, double part_s[TRN_PART_N])
{
  const TrnBuild *b = &small->b;
  EngTime begin = *cursor, end = begin, at = begin, part[TRN_PART_N] = { 0 };
  TrnPart last = TRN_PART_COMPUTE;
  for (EngTask t = small->done[turn].first; t < end_of_turn (small, turn); t++) {
    if (!is_of_unit (small, t, layer))
      continue;
    EngTime to = eng_graph_task_end (b->graph, t), from = eng_graph_task_start (b->graph, t);
    TrnPart own = trn_step_part ((TrnStepKind)eng_graph_task_kind (b->graph, t));
    if (to > end) {
      end = to;
      last = own;
    }
    if (eng_graph_task_stream (b->graph, t) != small->lane.stream[TRN_ROLE_COMPUTE])
      continue;
    EngTask cause = eng_graph_task_cause (b->graph, t);
    if (from > at && cause != ENG_NO_TASK)
      part[trn_step_part ((TrnStepKind)eng_graph_task_kind (b->graph, cause))] += from - at;
    part[own] += to - MAX (from, at);
    at = MAX (at, to);
  }
  if (end > at)
    part[last] += end - at;
  *cursor = end;
  *time_s = eng_time_to_s (end - begin);
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++) {
    part_s[p] = eng_time_to_s (part[p]);
    sum_s += p != TRN_PART_COMPUTE ? part_s[p] : 0;
  }
  part_s[TRN_PART_COMPUTE] = *time_s - sum_s;
}

/* The layer of a kind that has others on both sides, where there is one. */
static guint32
layer_of (const TrnModel *model, guint32 n, guint32 kind)
{
  guint32 found = G_MAXUINT32;
  for (guint32 layer = 0; layer < n; layer++)
    if (trn_unit_index (model, layer) == kind && (found == G_MAXUINT32 || found == 0 || layer + 2 < n))
      found = layer;
  return found;
}

static void
read_turn (const Small *small, guint turn, TrnUnits *units)
{
  const TrnModel *model = &units->variant.model;
  MdlTurnKind kind = g_array_index (small->turns, MdlTurn, turn).kind;
  guint32 n = model->cut[0].n;
  EngTime cursor = eng_graph_task_end (small->b.graph, small->done[turn].first), begin = cursor;
  g_autofree TrnUnitTime *all = g_new0 (TrnUnitTime, n + 2); /* embedding, layers, head */
  for (guint32 i = 0; i < n + 2; i++) {
    guint32 k = kind == MDL_TURN_FORWARD ? i : n + 1 - i;
    gint32 layer = k == 0 ? TRN_AT_EMBEDDING : k == n + 1 ? TRN_AT_HEAD : (gint32)k - 1;
    read_unit (small, turn, layer, &cursor, &all[k].time_s[kind], all[k].part_s[kind]);
  }
  double of_units_s = 0;
  for (guint32 u = 0; u < TRN_UNITS; u++) {
    guint32 layer = u < TRN_LAYER_KINDS ? layer_of (model, n, u) : 0;
    if (layer == G_MAXUINT32)
      continue;
    const TrnUnitTime *one = &all[u == TRN_UNIT_AT_EMBEDDING ? 0 : u == TRN_UNIT_AT_HEAD ? n + 1 : layer + 1];
    units->unit[u].time_s[kind] = one->time_s[kind];
    memcpy (units->unit[u].part_s[kind], one->part_s[kind], sizeof one->part_s[kind]);
  }
  for (guint32 k = 0; k < n + 2; k++)
    of_units_s += units->unit[k == 0       ? TRN_UNIT_AT_EMBEDDING
                              : k == n + 1 ? TRN_UNIT_AT_HEAD
                                           : trn_unit_index (model, k - 1)]
                      .time_s[kind];
  units->edge_s[kind] = eng_time_to_s (cursor - begin) - of_units_s;
}

/* ---- all turns ---- */

static gboolean
run_plain (TrnUnits *units, gboolean split, GError **error)
{
  g_auto (Small) small = { .turns = g_array_new (FALSE, TRUE, sizeof (MdlTurn)) };
  for (guint32 k = 0; k < 2; k++) {
    add_turn (&small, MDL_TURN_FORWARD, k, FALSE);
    add_turn (&small, split ? MDL_TURN_INPUT_GRADIENT : MDL_TURN_BACKWARD, k, FALSE);
    if (split)
      add_turn (&small, MDL_TURN_WEIGHT_GRADIENT, k, FALSE);
  }
  if (!small_run (&small, units, error))
    return FALSE;
  for (guint turn = small.turns->len / 2; turn < small.turns->len; turn++)
    read_turn (&small, turn, units);
  EngTime ready = eng_graph_task_end (small.b.graph, small.lane.ready);
  EngTime last = eng_graph_task_end (small.b.graph, small.done[small.turns->len - 1].last);
  if (split)
    return TRUE;
  units->tail_s = ready > last ? eng_time_to_s (ready - last) : 0;
  EngTime second = eng_graph_task_end (small.b.graph, small.done[small.turns->len / 2].first);
  units->once_s = eng_time_to_s (second) - eng_time_to_s (last - second);
  return TRUE;
}

/* A forward pass whose turn is cut up with that of a backward pass, over both in a row. */
static gboolean
run_paired (TrnUnits *units, GError **error)
{
  g_auto (Small) small = { .turns = g_array_new (FALSE, TRUE, sizeof (MdlTurn)) };
  add_turn (&small, MDL_TURN_FORWARD, 0, FALSE);
  add_turn (&small, MDL_TURN_FORWARD, 1, TRUE);
  add_turn (&small, MDL_TURN_BACKWARD, 0, FALSE);
  add_turn (&small, MDL_TURN_BACKWARD, 1, FALSE);
  if (!small_run (&small, units, error))
    return FALSE;
  EngTime at[4];
  for (guint i = 0; i < 4; i++)
    at[i] = eng_graph_task_end (small.b.graph, small.done[i].first);
  EngTime end =
      MAX (eng_graph_task_end (small.b.graph, small.done[1].done), eng_graph_task_end (small.b.graph, small.done[2].done));
  EngTime last = eng_graph_task_end (small.b.graph, small.done[3].done);
  double both_s = eng_time_to_s (at[1] - at[0]) + eng_time_to_s (last - at[3]);
  units->paired = both_s > 0 ? eng_time_to_s (end - at[1]) / both_s : 1;
  return TRUE;
}

static gboolean
take_units (TrnUnits *units, GError **error)
{
  TrnModel *model = &units->variant.model;
  for (guint32 layer = 0; layer < model->cut[0].n; layer++) {
    TrnUnitTime *one = &units->unit[trn_unit_index (model, layer)];
    one->unit = trn_costs_unit (units->costs, 0, TRN_UNIT_LAYER, layer, error);
    if (one->unit == NULL)
      return FALSE;
  }
  units->unit[TRN_UNIT_AT_EMBEDDING].unit = trn_costs_unit (units->costs, 0, TRN_UNIT_EMBEDDING, 0, error);
  units->unit[TRN_UNIT_AT_HEAD].unit = trn_costs_unit (units->costs, 0, TRN_UNIT_HEAD, 0, error);
  return units->unit[TRN_UNIT_AT_EMBEDDING].unit != NULL && units->unit[TRN_UNIT_AT_HEAD].unit != NULL;
}

/* ---- the whole ---- */

static void
find_wire (TrnUnits *units)
{
  for (guint u = 0; u < TRN_UNITS; u++)
    for (int k = 0; units->unit[u].unit != NULL && k < MDL_TURN_KINDS; k++) {
      const GArray *items = units->unit[u].unit->pass[k];
      for (guint i = 0; i < items->len; i++) {
        const TrnPriced *priced = g_array_index (items, TrnItem, i).priced;
        if (priced == NULL || priced->time_s <= 0)
          continue;
        units->wire_band = fmax (units->wire_band, priced->coll.cost.band);
        units->source = MIN (units->source, priced->coll.provenance);
      }
    }
}

TrnUnits *
trn_units_new (const TrnJob *job, const TrnClosedQuery *query, TrnPrices *prices, GHashTable *products, GError **error)
{
  TrnUnits *units = g_new0 (TrnUnits, 1);
  TrnModel *model = &units->variant.model;
  gboolean split = mdl_schedule_facts (query->schedule)->splits_backward;
  units->paired = 1;
  if (!trn_variant_plan (job, query, &units->variant, error)) {
    trn_units_free (units);
    return NULL;
  }
  if (model->sync != TRN_SYNC_SHARDS)
    model->sync = TRN_SYNC_NONE; /* what is exchanged once a step is added by groups.c */
  model->pipe = (MdlPipeline){ .schedule = split ? MDL_SCHEDULE_ZB_H1 : MDL_SCHEDULE_1F1B, .p = 1, .v = 1, .m = 2 };
  model->n_positions = 1;
  model->m = 2;
  model->cut[0] = (TrnStageLayers){ .first = 0, .n = layers_needed (model), .embedding = TRUE, .head = TRUE };
  guint32 n_layers = mdl_llm_chain (&model->llm);
  units->index = g_new (guint8, n_layers);
  for (guint32 layer = 0; layer < n_layers; layer++)
    units->index[layer] = (guint8)trn_unit_index (model, layer);
  units->prices = prices;
  units->costs = trn_costs_new (model, units->prices);
  trn_costs_remember (units->costs, products);
  gboolean paired = mdl_schedule_facts (query->schedule)->pairs || job->spec.model.overlap.ep.v;
  if (take_units (units, error) && run_plain (units, FALSE, error) && (!split || run_plain (units, TRUE, error)) &&
      (!paired || run_paired (units, error))) {
    for (int k = 0; k < MDL_TURN_KINDS; k++)
      units->beside[k] = g_hash_table_new_full (NULL, NULL, NULL, g_free);
    units->band = trn_costs_band (units->costs, &units->source);
    find_wire (units);
    return units;
  }
  trn_units_free (units);
  return NULL;
}

void
trn_units_free (TrnUnits *units)
{
  if (units == NULL)
    return;
  g_free (units->index);
  for (int k = 0; k < MDL_TURN_KINDS; k++)
    g_clear_pointer (&units->beside[k], g_hash_table_unref);
  g_clear_pointer (&units->asks, g_ptr_array_unref);
  trn_costs_free (units->costs);
  trn_model_clear (&units->variant.model);
  g_free (units);
}
