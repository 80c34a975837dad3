/* What a pipeline rank runs: the items of its turns on its streams.
 *
 * A turn is walked item by item, so that the two turns of a pair (a forward beside a backward) can share the compute stream:
 * while one waits for a collective the other computes (pair.c has the order). Collectives go to the stream of their kind as soon as
 * the work that they follow has ended; work waits for them where it needs them. Where launches show, the host queues the kernels of
 * each item ahead of the GPU: an item begins once its first kernel is queued, and its last kernel once all are. */
#include <math.h>
#include <string.h>

#include "offload-private.h"
#include "pair-private.h"

/* What a pipeline rank runs. */
typedef struct {
  TrnBuild *b;
  TrnSyncer *sync;
  TrnOffloader *offload;
  guint32 lane;
  const GArray *turns; /* MdlTurn */
  TrnDone *done;       /* likewise */
  GArray *pairs;       /* Pair */
} Lane;

/* The order of a pair's items; pairs of the same chunks have the same. */
typedef struct {
  MdlTurn first, second;
  GArray *order;
} Pair;

/* Delayed weight gradients of the unit before, which are built once the next unit has sent what it begins with. */
typedef struct {
  const GArray *items; /* NULL: none */
  guint32 next, n, unit;
} Tail;

/* Where a turn has come to. */
typedef struct {
  TrnBuild *b;
  TrnSyncer *sync;
  TrnOffloader *offload;
  const MdlTurn *turn;
  guint32 lane, index, position;
  gboolean whole;          /* all units of the turn are one */
  guint32 n_units, passed; /* units begun */
  guint32 unit;            /* the one that is under way */
  const GArray *items;
  guint32 n_compute, next; /* of its items: compute; the next of it */
  EngTask *task;           /* last task of each item, of this unit */
  gboolean *done;          /* collectives that are in the graph */
  GArray *wait;            /* EngTask: what the next work of the turn follows */
  EngTask last;
  EngTask ready;  /* the last that others wait for: `last`, less delayed weight gradients */
  EngTask queued; /* the host's latest */
  Tail tail;
  char name[32];
} Cursor;

static TrnStepKind
work_kind (const Cursor *c, const TrnItem *item)
{
  return c->turn->kind == MDL_TURN_FORWARD ? TRN_STEP_FORWARD : item->recomputed ? TRN_STEP_RECOMPUTE : TRN_STEP_BACKWARD;
}

/* What is built from here on is done for the unit that is under way. */
static void
set_at (const Cursor *c)
{
  const TrnStageLayers *cut = &c->b->model->cut[c->position];
  guint32 front = cut->embedding ? 1 : 0;
  gint32 layer = c->unit < front            ? TRN_AT_EMBEDDING
                 : c->unit - front < cut->n ? (gint32)(cut->first + c->unit - front)
                                            : TRN_AT_HEAD;
  c->b->at = (TrnTaskPlace){ (gint32)c->turn->micro_batch, (gint32)c->turn->chunk, layer };
}

static const TrnItem *
item_at (const Cursor *c, guint32 i)
{
  return &g_array_index (c->items, TrnItem, i);
}

static EngTask
add_coll (Cursor *c, const TrnItem *item, double share)
{
  /* groups that a layer's collectives are of: their stream, and what waiting for them counts as */
  static const struct {
    TrnRole role;
    TrnStepKind kind;
  } of_group[TRN_GROUP_N] = {
    [TRN_GROUP_TP] = { TRN_ROLE_TP, TRN_STEP_TP },    [TRN_GROUP_CP] = { TRN_ROLE_CP, TRN_STEP_CP },
    [TRN_GROUP_EP] = { TRN_ROLE_EP, TRN_STEP_EP },    [TRN_GROUP_ETP] = { TRN_ROLE_EP, TRN_STEP_EP },
    [TRN_GROUP_MODEL] = { TRN_ROLE_TP, TRN_STEP_TP }, [TRN_GROUP_DP] = { TRN_ROLE_DP, TRN_STEP_DP },
  };
  const TrnTransfer transfer = { .priced = item->priced,
                                 .name = trn_group_names[item->group],
                                 .lane = c->lane,
                                 .other = c->lane,
                                 .role = of_group[item->group].role,
                                 .kind = of_group[item->group].kind,
                                 .share = share * item->repeat };
  return trn_build_comm (c->b, &transfer);
}

/* The host queues it, in the order of the program. */
static void
queue_coll (Cursor *c, EngTask coll)
{
  if (c->b->host.kernel_s <= 0 || c->b->host.coll_s <= 0) /* launches do not show */
    return;
  c->queued = trn_build_compute (c->b, c->lane, TRN_STEP_HOST, c->b->host.coll_s, NULL, c->name);
  trn_build_after_one (c->b, coll, c->queued);
}

/* ---- compute ---- */

/* Whether the host queues an item's kernels one by one. */
static gboolean
is_launched (const TrnBuild *b, const TrnItem *item)
{
  return b->host.first ? item->kernels > 0 : b->host.kernel_s > 0;
}

/* Kernels that the host queues in a row. */
static EngTask
add_round (Cursor *c, const TrnItem *item, double share, const GArray *wait)
{
  TrnBuild *b = c->b;
  double time_s = item->time_s * share, kernels = fmax (item->kernels * share, 1), apart = b->host.first ? 1 : 0;
  if (b->host.first)
    c->queued = trn_build_compute (b, c->lane, TRN_STEP_HOST, b->host.kernel_s, NULL, c->name);
  EngTask queued_before = c->queued;
  c->queued = trn_build_compute (b, c->lane, TRN_STEP_HOST, b->host.kernel_s * (kernels - apart), NULL, c->name);
  EngTask most = trn_build_compute (b, c->lane, work_kind (c, item), time_s * (1 - 1 / kernels), item, c->name);
  trn_build_after (b, most, wait);
  trn_build_after_one (b, most, queued_before);
  EngTask end = trn_build_compute (b, c->lane, work_kind (c, item), time_s / kernels, item, c->name);
  trn_build_after_one (b, end, c->queued);
  if (item->syncs > 0) { /* the host waits for the GPU, and queues nothing meanwhile */
    c->queued = trn_build_compute (b, c->lane, TRN_STEP_SYNC, b->host.sync_s, NULL, c->name);
    trn_build_after_one (b, c->queued, end);
  }
  return end;
}

/* Kernels of an item; what they wait for ends before the first. Returned: the last task. */
static EngTask
add_kernels (Cursor *c, const TrnItem *item, double share, const GArray *wait)
{
  TrnBuild *b = c->b;
  if (!is_launched (b, item)) {
    EngTask all = trn_build_compute (b, c->lane, work_kind (c, item), item->time_s * share, item, c->name);
    trn_build_after (b, all, wait);
    return all;
  }
  guint rounds = item->syncs > 1 ? (guint)item->rounds : 1;
  EngTask end = add_round (c, item, share / rounds, wait);
  for (guint r = 1; r < rounds; r++)
    end = add_round (c, item, share / rounds, NULL);
  return end;
}

/* ---- collectives ---- */

/* A collective that is not cut up with the work beside it. */
static void
begin_coll (Cursor *c, guint32 i)
{
  const TrnItem *item = item_at (c, i);
  EngTask task = add_coll (c, item, 1);
  queue_coll (c, task);
  if (item->after < 0)
    trn_build_after (c->b, task, c->wait);
  else
    trn_build_after_one (c->b, task, c->task[item->after]);
  c->task[i] = task;
  c->done[i] = TRUE;
}

/* Those that may begin before compute item k. */
static void
begin_colls (Cursor *c, guint32 k)
{
  for (guint32 i = c->n_compute; i < c->items->len; i++)
    if (!c->done[i] && item_at (c, i)->with < 0 && item_at (c, i)->after < (int)k)
      begin_coll (c, i);
}

/* What compute item k has to wait for: collectives that it needs, and at its unit's begin what came before. */
static void
gather_waits (const Cursor *c, guint32 k, GArray *wait)
{
  g_array_set_size (wait, 0);
  if (k == 0)
    g_array_append_vals (wait, c->wait->data, c->wait->len);
  for (guint32 i = c->n_compute; i < c->items->len; i++)
    if (c->done[i] && item_at (c, i)->before == (int)k)
      g_array_append_val (wait, c->task[i]);
}

/* The collective that compute item k is cut up with; items->len: none. */
static guint32
partner_of (const Cursor *c, guint32 k)
{
  guint32 i = c->n_compute;
  while (i < c->items->len && item_at (c, i)->with != (int)k)
    i++;
  return i;
}

/* Work and collective in `parts`. Leading: the first part of the collective comes before the work (a ring's own block needs none),
 * the rest beside it, and the last part of the work behind all. Trailing: all but the work's first part runs beside it. */
static void
add_cut_up (Cursor *c, guint32 k, guint32 i, GArray *wait)
{
  const TrnItem *coll = item_at (c, i), *work = item_at (c, k);
  double part = 1 / fmax (coll->parts, 1);
  c->done[i] = TRUE;
  if (coll->leads) {
    gboolean ring = coll->group == TRN_GROUP_CP;
    EngTask head = ring ? ENG_NO_TASK : add_coll (c, coll, part), rest = add_coll (c, coll, ring ? 1 : 1 - part);
    trn_build_after (c->b, ring ? rest : head, coll->after < 0 ? c->wait : wait);
    if (coll->after >= 0)
      trn_build_after_one (c->b, ring ? rest : head, c->task[coll->after]);
    if (!ring)
      g_array_append_val (wait, head);
    add_kernels (c, work, 1 - part, wait);
    g_array_set_size (wait, 0);
    g_array_append_val (wait, rest);
    c->task[k] = add_kernels (c, work, part, wait);
    c->task[i] = rest;
    return;
  }
  EngTask first = add_kernels (c, work, part, wait);
  EngTask most = add_coll (c, coll, 1 - part);
  trn_build_after_one (c->b, most, first);
  c->task[k] = add_kernels (c, work, 1 - part, NULL);
  c->task[i] = add_coll (c, coll, part);
  trn_build_after_one (c->b, c->task[i], c->task[k]);
}

/* ---- units ---- */

static void
clear_unit (Cursor *c)
{
  g_clear_pointer (&c->task, g_free);
  g_clear_pointer (&c->done, g_free);
}

static gboolean
open_unit (Cursor *c, GError **error)
{
  guint32 number = c->whole                            ? trn_cut_units (c->b->model, c->position)
                   : c->turn->kind == MDL_TURN_FORWARD ? c->passed
                                                       : c->n_units - 1 - c->passed;
  const TrnUnit *unit = trn_unit_at (c->b, c->lane, c->position, number, error);
  c->unit = number;
  set_at (c);
  const TrnUnitPlace at = { c->turn, c->position, number };
  if (unit == NULL || !trn_sync_enter (c->sync, c->turn, number, c->wait, error) ||
      !trn_offload_enter (c->offload, &at, c->wait, error))
    return FALSE;
  clear_unit (c);
  c->items = unit->pass[c->turn->kind];
  c->n_compute = 0;
  while (c->n_compute < c->items->len && !item_at (c, c->n_compute)->is_coll)
    c->n_compute++;
  c->task = g_new (EngTask, c->items->len + 1);
  c->done = g_new0 (gboolean, c->items->len + 1);
  c->next = 0;
  c->passed++;
  return TRUE;
}

/* Units before are over, gradients and all. */
static gboolean
leave_unit (Cursor *c, guint32 unit, GError **error)
{
  const TrnUnitPlace at = { c->turn, c->position, unit };
  return trn_offload_leave (c->offload, &at, c->last, error) &&
         trn_sync_leave (c->sync, c->turn, c->index, unit, c->last, error);
}

/* Whether what is left of the unit may come behind the begin of the next one: collectives of a stream run in the order in which
 * they were queued, and one that the other turn of a pair begins meanwhile would come before those that the next unit begins
 * with. What sharded or offloaded states copy on the compute stream keeps units apart. */
static gboolean
has_tail (const Cursor *c)
{
  return c->next > 0 && c->next < c->n_compute && item_at (c, c->next)->delayed && c->passed < c->n_units &&
         c->b->model->sync != TRN_SYNC_SHARDS && !c->b->model->spec->model.offload.head.set;
}

/* What follows the unit waits for its last work and for collectives that nothing in it waited for. */
static gboolean
close_unit (Cursor *c, GError **error)
{
  const gboolean tail = has_tail (c);
  begin_colls (c, c->n_compute);
  GArray *wait = g_array_new (FALSE, FALSE, sizeof (EngTask));
  for (guint32 i = c->n_compute; i < c->items->len; i++)
    if (item_at (c, i)->before >= (int)c->n_compute)
      g_array_append_val (wait, c->task[i]);
  if (c->n_compute > 0) {
    c->last = c->task[c->next - 1];
    g_array_append_val (wait, c->ready); /* a collective that opens the next unit is on another stream */
  } else                                /* nothing is computed: what came before still counts */
    g_array_append_vals (wait, c->wait->data, c->wait->len);
  g_array_unref (c->wait);
  c->wait = wait;
  if (tail) {
    c->tail = (Tail){ c->items, c->next, c->n_compute, c->unit };
    return TRUE;
  }
  return leave_unit (c, c->unit, error);
}

/* Closes units that are done and opens the next, so that collectives it begins with are queued before those that the other turn
 * of a pair begins later. */
static gboolean
advance (Cursor *c, GError **error)
{
  while (c->items == NULL || c->next >= c->n_compute || has_tail (c)) {
    if (c->tail.items != NULL)
      return TRUE;
    if (c->items != NULL && !close_unit (c, error))
      return FALSE;
    c->items = NULL;
    if (c->passed == c->n_units)
      return TRUE;
    if (!open_unit (c, error))
      return FALSE;
    begin_colls (c, 0);
  }
  return TRUE;
}

/* The next delayed weight gradient of the unit before. */
static gboolean
step_tail (Cursor *c, GError **error)
{
  Tail *tail = &c->tail;
  const guint32 unit = c->unit;
  c->unit = tail->unit;
  set_at (c);
  c->last = add_kernels (c, &g_array_index (tail->items, TrnItem, tail->next++), 1, NULL);
  c->unit = unit;
  if (tail->next < tail->n)
    return TRUE;
  tail->items = NULL;
  return leave_unit (c, tail->unit, error) && advance (c, error);
}

/* The next compute item. *over: there is none. */
static gboolean
step (Cursor *c, gboolean *over, GError **error)
{
  *over = FALSE;
  if (c->tail.items != NULL)
    return step_tail (c, error);
  set_at (c);
  if (!advance (c, error))
    return FALSE;
  *over = c->items == NULL;
  if (*over)
    return TRUE;
  g_autoptr (GArray) wait = g_array_new (FALSE, FALSE, sizeof (EngTask));
  guint32 k = c->next++, partner = partner_of (c, k);
  gather_waits (c, k, wait);
  if (partner < c->items->len)
    add_cut_up (c, k, partner, wait);
  else
    c->task[k] = add_kernels (c, item_at (c, k), 1, wait);
  c->last = c->task[k];
  if (!item_at (c, k)->delayed)
    c->ready = c->last;
  begin_colls (c, k + 1); /* those of the other turn that begin later come behind them */
  return advance (c, error);
}

/* ---- turns ---- */

static void
open_turn (Cursor *c, const Lane *of, guint32 index, EngTask entry)
{
  const TrnBuild *b = of->b;
  const MdlTurn *turn = &g_array_index (of->turns, MdlTurn, index);
  *c = (Cursor){ .b = of->b,
                 .sync = of->sync,
                 .offload = of->offload,
                 .turn = turn,
                 .lane = of->lane,
                 .index = index,
                 .last = entry,
                 .ready = entry,
                 .queued = ENG_NO_TASK };
  c->position = mdl_schedule_position (&b->model->pipe, (MdlPlace){ of->lane, turn->chunk });
  c->whole = b->model->layers != NULL && !b->host.first && !trn_sync_sends (of->sync, index);
  c->n_units = c->whole ? 1 : trn_cut_units (b->model, c->position);
  c->wait = g_array_new (FALSE, FALSE, sizeof (EngTask));
  g_array_append_val (c->wait, entry);
  mdl_turn_name (&b->model->pipe, turn, c->name, sizeof c->name);
}

static void
close_turn (Cursor *c)
{
  clear_unit (c);
  g_array_unref (c->wait);
}

/* B that one rank sends to the next position for a micro-batch: an activation, or the gradient of one that it got. */
static double
boundary_B (const Cursor *c)
{
  const TrnModel *model = c->b->model;
  const MdlLayerQuery *query = &model->query;
  if (model->layers != NULL)
    return trn_layers_sent_B (model, c->turn->kind == MDL_TURN_FORWARD ? c->position : c->position - 1);
  double tokens = query->micro_batch * query->sequence / query->cp;
  return tokens * model->llm.hidden.v * mdl_layer_stream_B (query) / (query->sp ? query->tp : 1);
}

static gboolean
add_send (Cursor *c, TrnDone *done, GError **error)
{
  TrnBuild *b = c->b;
  MdlPlace to;
  if (!mdl_schedule_feeds (&b->model->pipe, c->lane, c->turn, &to)) {
    if (c->turn->kind == MDL_TURN_FORWARD) /* the loss: its gradient needs its collectives */
      trn_build_after (b, trn_build_compute (b, c->lane, TRN_STEP_JOIN, 0, NULL, NULL), c->wait);
    return TRUE;
  }
  double bytes = boundary_B (c);
  if (to.rank == c->lane || bytes <= 0) { /* what it made lies where it is needed, once its collectives are over */
    done->done = trn_build_compute (b, c->lane, TRN_STEP_JOIN, 0, NULL, NULL);
    trn_build_after (b, done->done, c->wait);
    return TRUE;
  }
  const TrnPriced *priced = trn_prices_send (b->prices, c->lane, to.rank, bytes, error);
  if (priced == NULL)
    return FALSE;
  gboolean up = mdl_schedule_is_up (&b->model->pipe, c->lane, to.rank);
  TrnRole role = !b->model->overlap_sends ? TRN_ROLE_COMPUTE : up ? TRN_ROLE_UP : TRN_ROLE_DOWN;
  b->at = (TrnTaskPlace){ (gint32)c->turn->micro_batch, (gint32)c->turn->chunk, TRN_AT_NONE };
  const TrnTransfer transfer = { .priced = priced,
                                 .name = c->turn->kind == MDL_TURN_FORWARD ? "send activation" : "send gradient",
                                 .lane = c->lane,
                                 .other = to.rank,
                                 .role = role,
                                 .kind = up ? TRN_STEP_SEND_UP : TRN_STEP_SEND_DOWN,
                                 .share = 1 };
  done->done = trn_build_comm (b, &transfer);
  trn_build_after_one (b, done->done, c->ready);
  trn_build_after (b, done->done, c->wait);
  return TRUE;
}

static void
pair_clear (gpointer data)
{
  g_array_unref (((Pair *)data)->order);
}

/* Borrowed from the lane. */
static const GArray *
order_of (const Lane *of, const MdlTurn *turns, GError **error)
{
  for (guint i = 0; i < of->pairs->len; i++) {
    const Pair *pair = &g_array_index (of->pairs, Pair, i);
    if (pair->first.kind == turns[0].kind && pair->first.chunk == turns[0].chunk && pair->second.kind == turns[1].kind &&
        pair->second.chunk == turns[1].chunk)
      return pair->order;
  }
  const Pair pair = { turns[0], turns[1], trn_pair_order (of->b, of->lane, turns, error) };
  if (pair.order != NULL)
    g_array_append_val (of->pairs, pair);
  return pair.order;
}

/* The items of a pair, in the order that hides most. */
static gboolean
add_pair (const Lane *of, Cursor cursor[2], GError **error)
{
  const GArray *order = order_of (of, cursor[0].turn, error);
  gboolean ok = order != NULL, over = FALSE;
  for (guint i = 0; ok && i < order->len; i++)
    ok = step (&cursor[g_array_index (order, guint8, i)], &over, error);
  for (guint k = 0; ok && k < 2; k++)
    ok = step (&cursor[k], &over, error);
  return ok;
}

/* One turn, or the two of a pair. Where layers have given times a pair is one pass: it sends at its end. */
static gboolean
add_turns (const Lane *of, guint32 index, guint32 n, GError **error)
{
  TrnBuild *b = of->b;
  Cursor cursor[2];
  gboolean over[2] = { FALSE, n < 2 }, ok = TRUE, one = b->model->layers != NULL;
  EngTask entry = trn_build_compute (b, of->lane, TRN_STEP_JOIN, 0, NULL, NULL);
  for (guint32 k = 0; k < n; k++)
    open_turn (&cursor[k], of, index + k, entry);
  if (n > 1 && !one)
    ok = add_pair (of, cursor, error);
  else
    for (guint32 k = 0; k < n; k++)
      while (ok && !over[k])
        ok = step (&cursor[k], &over[k], error);
  if (one)
    cursor[0].last = cursor[n - 1].last;
  for (guint32 k = 0; k < n && ok; k++) {
    of->done[index + k] = (TrnDone){ entry, cursor[k].last, cursor[k].last };
    ok = add_send (&cursor[k], &of->done[index + k], error);
  }
  for (guint32 k = 0; k < n; k++)
    close_turn (&cursor[k]);
  return ok;
}

gboolean
trn_program_lane (TrnBuild *b, guint32 lane, const GArray *turns, TrnDone *done, GError **error)
{
  TrnSyncer *sync = trn_sync_new (b, lane, turns);
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  TrnOffloader *offload = trn_offload_new (b, lane);
  const Lane of = { b, sync, offload, lane, turns, done, pairs };
  g_array_set_clear_func (pairs, pair_clear);
  gboolean ok = TRUE;
  const guint32 end = b->rehearses && b->few > 0 ? MIN (b->few, turns->len) : turns->len;
  for (guint32 i = 0, n = 1; i < end && ok && trn_build_fits (b); i += n) {
    n = g_array_index (turns, MdlTurn, i).paired ? 2 : 1;
    ok = add_turns (&of, i, n, error);
    b->n_turns += b->rehearses ? n : 0;
  }
  b->at = (TrnTaskPlace){ TRN_AT_NONE, TRN_AT_NONE, TRN_AT_NONE };
  ok = ok && (!trn_build_fits (b) || end < turns->len || trn_sync_finish (sync, error));
  trn_sync_free (sync);
  trn_offload_free (offload);
  g_array_unref (pairs);
  return ok;
}
