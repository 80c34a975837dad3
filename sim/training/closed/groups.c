/* What data-parallel ranks exchange in a step, beside turns whose times are known: buckets of gradients that follow the last
 * backward passes one by one, as sync.c fills them, and parameters gathered before the first forward passes.
 *
 *     a bucket begins when its last gradient is there and the one before it has gone; beside turns it takes y times as long, and
 *     what is computed meanwhile x times (kernels/overlap.c, over the works of a layer's pass); what is left behind the last turn
 *     is exposed.
 *
 * Valid: turns that nothing else slows at the same time; a rank's groups stand for those of all pipeline ranks that lie alike
 * (stages.c).
 * Check: test_training_closed (steps of many cuts against the engine's). */
#include <math.h>
#include <string.h>

#include "closed-private.h"

/* ---- prices of groups ---- */

struct TrnAsk {
  int kind, op, format; /* kind -1: a send from `op` to `format`; below: experts, as of TrnQuestion */
  guint32 pp;
  double size_B;
  const TrnPriced *priced;
  guint mark;            /* of the list that has it */
  TrnGroupPrices *of;    /* borrowed */
  guint follower;        /* for whom `there` was looked for; 0: nobody */
  struct TrnAsk *there;  /* the same of another cluster; NULL: it takes another time */
};

enum { RECENT = 64 };

struct TrnGroupPrices {
  TrnGroupsOf key;
  TrnVariant variant;
  TrnPrices *prices;
  GHashTable *known;      /* TrnAsk */
  TrnAsk *recent[RECENT]; /* of them, those asked for last: a step's reductions have few sizes */
  GPtrArray *asks;        /* takes those that are asked for; NULL: nobody wants to know */
  guint mark;             /* of this list */
};

static guint
hash_price (gconstpointer key)
{
  const TrnAsk *p = key;
  return g_double_hash (&p->size_B) * 31u + (guint)p->kind * 1009u + (guint)p->op * 101u + (guint)p->format + p->pp * 9176u;
}

static gboolean
same_price (gconstpointer a, gconstpointer b)
{
  const TrnAsk *x = a, *y = b;
  return x->kind == y->kind && x->op == y->op && x->format == y->format && x->pp == y->pp && x->size_B >= y->size_B &&
         x->size_B <= y->size_B;
}

static guint
slot_of (const TrnAsk *key)
{
  guint64 bits;
  memcpy (&bits, &key->size_B, sizeof bits);
  return (guint)((bits * 0x9e3779b97f4a7c15u) >> 32 ^ (guint)key->kind * 5u ^ (guint)key->op ^ key->pp * 7u) % RECENT;
}

TrnGroupPrices *
trn_group_prices_new (const TrnJob *job, TrnComms *comms, const TrnGroupsOf *of, GError **error)
{
  TrnGroupPrices *prices = g_new0 (TrnGroupPrices, 1);
  prices->key = *of;
  if (!trn_variant_plan (job, &of->query, &prices->variant, error)) {
    trn_group_prices_free (prices);
    return NULL;
  }
  prices->variant.model.grid.first = of->first;
  prices->prices = trn_prices_new (&prices->variant.model, FALSE, comms);
  prices->known = g_hash_table_new_full (hash_price, same_price, g_free, NULL);
  return prices;
}

void
trn_group_prices_free (TrnGroupPrices *prices)
{
  if (prices == NULL)
    return;
  trn_prices_free (prices->prices);
  g_clear_pointer (&prices->known, g_hash_table_unref);
  trn_model_clear (&prices->variant.model);
  g_free (prices);
}

TrnPrices *
trn_group_prices_all (TrnGroupPrices *prices)
{
  return prices->prices;
}

static TrnAsk *
remember (TrnGroupPrices *prices, const TrnAsk *key, const TrnPriced *priced)
{
  if (priced == NULL)
    return NULL;
  TrnAsk *one = g_new (TrnAsk, 1);
  *one = (TrnAsk){ .kind = key->kind,
                   .op = key->op,
                   .format = key->format,
                   .pp = key->pp,
                   .size_B = key->size_B,
                   .priced = priced,
                   .of = prices };
  g_hash_table_add (prices->known, one);
  return one;
}

/* Puts it on the list, once. */
static const TrnPriced *
note (TrnGroupPrices *prices, TrnAsk *ask)
{
  if (ask == NULL)
    return NULL;
  if (prices->asks != NULL && ask->mark != prices->mark)
    g_ptr_array_add (prices->asks, ask);
  ask->mark = prices->mark;
  return ask->priced;
}

static TrnAsk *
ask_coll (TrnGroupPrices *prices, const TrnAsk *key, GError **error)
{
  TrnAsk **recent = &prices->recent[slot_of (key)];
  if (*recent != NULL && same_price (*recent, key))
    return *recent;
  TrnAsk *known = g_hash_table_lookup (prices->known, key);
  if (known == NULL)
    known = remember (prices, key,
                      trn_prices_coll (prices->prices, (TrnGroupKind)key->kind, key->pp, (MdlOp)key->op, key->size_B,
                                       (MdlFormat)key->format, error));
  *recent = known;
  return known;
}

static TrnAsk *
ask_send (TrnGroupPrices *prices, const TrnAsk *key, GError **error)
{
  TrnAsk *known = g_hash_table_lookup (prices->known, key);
  return known != NULL
             ? known
             : remember (prices, key, trn_prices_send (prices->prices, (guint32)key->op, (guint32)key->format, key->size_B, error));
}

/* An exchange of experts by a library, whose size is in tokens. */
static TrnAsk *
ask_experts (TrnGroupPrices *prices, const TrnAsk *key, GError **error)
{
  TrnAsk *known = g_hash_table_lookup (prices->known, key);
  const MdlWorkColl work = { .format = (MdlFormat)key->format, .moe_tokens = key->size_B, .moe_op = (MdlMoeOp)(-2 - key->kind) };
  return known != NULL ? known : remember (prices, key, trn_prices_experts (prices->prices, key->pp, &work, error));
}

static TrnAsk *
ask_any (TrnGroupPrices *prices, const TrnAsk *key, GError **error)
{
  return key->kind >= 0    ? ask_coll (prices, key, error)
         : key->kind == -1 ? ask_send (prices, key, error)
                           : ask_experts (prices, key, error);
}

const TrnPriced *
trn_group_price (TrnGroupPrices *prices, guint32 pp, TrnGroupKind kind, MdlOp op, double size_B, MdlFormat format, GError **error)
{
  const TrnAsk key = { .kind = (int)kind, .op = (int)op, .format = (int)format, .pp = pp, .size_B = size_B };
  return note (prices, ask_coll (prices, &key, error));
}

const TrnPriced *
trn_group_send (TrnGroupPrices *prices, guint32 from, guint32 to, double size_B, GError **error)
{
  const TrnAsk key = { .kind = -1, .op = (int)from, .format = (int)to, .size_B = size_B };
  return note (prices, ask_send (prices, &key, error));
}

/* ---- what was asked, and the same of another cluster ---- */

void
trn_group_prices_list (TrnGroupPrices *prices, GPtrArray *asks)
{
  prices->asks = asks;
  prices->mark++;
}

GPtrArray *
trn_group_prices_asked (TrnGroupPrices *prices, const GArray *questions)
{
  g_autoptr (GPtrArray) asks = g_ptr_array_new ();
  trn_group_prices_list (prices, asks);
  gboolean all = TRUE;
  for (guint i = 0; i < questions->len && all; i++) {
    const TrnQuestion *q = &g_array_index (questions, TrnQuestion, i);
    const TrnAsk key = { .kind = q->kind, .op = (int)q->to, .format = q->format, .pp = q->from, .size_B = q->size_B };
    if (q->kind == -1)
      all = trn_group_send (prices, q->from, q->to, q->size_B, NULL) != NULL;
    else
      all = q->kind > -2 - (int)MDL_MOE_OP_N && note (prices, ask_any (prices, &key, NULL)) != NULL;
  }
  trn_group_prices_list (prices, NULL);
  return all ? g_steal_pointer (&asks) : NULL;
}

/* In all that a step is made of. */
static gboolean
take_the_same (const TrnPriced *a, const TrnPriced *b)
{
  const MdlCollCost *x = &a->coll.cost, *y = &b->coll.cost;
  const double of_a[] = { a->time_s,      x->time_s, x->latency_s, x->band, x->bound_Bps, x->wire, a->coll.size_B,
                          a->demand.channels, a->demand.memory_Bps };
  const double of_b[] = { b->time_s,      y->time_s, y->latency_s, y->band, y->bound_Bps, y->wire, b->coll.size_B,
                          b->demand.channels, b->demand.memory_Bps };
  return memcmp (of_a, of_b, sizeof of_a) == 0 && a->demand.kind == b->demand.kind && a->n_groups == b->n_groups &&
         a->coll.n_ranks == b->coll.n_ranks && a->coll.provenance == b->coll.provenance && a->coll.op == b->coll.op &&
         a->coll.algo == b->coll.algo;
}

const TrnGroupsOf *
trn_ask_of (const TrnAsk *ask)
{
  return &ask->of->key;
}

gboolean
trn_ask_known (const TrnAsk *ask, guint follower)
{
  return ask->follower == follower;
}

TrnAsk *
trn_ask_there (TrnAsk *ask, guint follower, TrnGroupPrices *there)
{
  if (trn_ask_known (ask, follower))
    return ask->there;
  ask->follower = follower;
  ask->there = ask_any (there, ask, NULL);
  if (ask->there != NULL && !take_the_same (ask->priced, ask->there->priced))
    ask->there = NULL;
  return ask->there;
}

/* ---- a rank ---- */

typedef struct {
  double bytes;
  guint32 n; /* closed */
  TrnFactors factors;
} Bucket;

/* Factors on turns and on a collective beside them. */
typedef struct {
  const TrnPriced *priced;
  double x, y;
} Beside;
enum { BESIDE_N = 32 };

typedef struct {
  const TrnModel *model;
  const TrnUnits *units;
  TrnGroupPrices *prices;
  const TrnTurns *turns;
  guint32 lane, like, chunks; /* like: whose groups' prices its are */
  MdlTurnKind kind;           /* that completes gradients */
  double end_s;               /* of the rank's turns, as they are slowed so far */
  double slowed_s;
  double free_s[2];               /* the streams of collectives: not of experts, of experts */
  Bucket bucket[2];               /* likewise */
  double ranks[TRN_GROUP_N];      /* in groups of data parallelism */
  double cap_B[2];                /* of the first bucket, of those behind it */
  double unpack_B[2];             /* compressed gradients: read and written behind all collectives */
  const Beside *beside[BESIDE_N]; /* found before, of all ranks with these units */
  double beside_s;                /* the kernel that a collective begins beside; 0: none */
  const TrnPriced *waited;        /* the last that waited for SMs, beside which kernel, and how long */
  double waited_beside_s, waited_s;
  double band;
  BaseSource source;
} Rank;

static guint32
position_of (const Rank *r, guint32 chunk)
{
  return mdl_schedule_position (&r->model->pipe, (MdlPlace){ r->lane, chunk });
}

static void
count_ranks (Rank *r)
{
  static const TrnGroupKind kinds[] = { TRN_GROUP_DP, TRN_GROUP_SHARD, TRN_GROUP_REPLICA, TRN_GROUP_EDP };
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    r->ranks[kinds[i]] = trn_grid_group_size (&r->model->grid, kinds[i]) *
                         (kinds[i] == TRN_GROUP_DP || kinds[i] == TRN_GROUP_EDP ? mdl_schedule_copies (&r->model->pipe) : 1);
}

/* Over the works of a layer's pass. */
static Beside
find_beside (const TrnModel *model, const TrnUnits *units, MdlTurnKind kind, const TrnPriced *priced)
{
  Beside out = { priced, 1, 1 };
  double alone_s = 0, beside_s = 0, moved_s = 0;
  for (guint32 u = 0; u < TRN_LAYER_KINDS; u++) {
    const GArray *items = units->unit[u].unit != NULL ? units->unit[u].unit->pass[kind] : NULL;
    for (guint i = 0; items != NULL && i < items->len; i++) {
      const TrnItem *item = &g_array_index (items, TrnItem, i);
      double factor = 1;
      if (item->is_coll || item->time_s <= 0)
        continue;
      double x = mdl_overlap_many (model->job->system->overlap, &model->gpu, &item->demand, &priced->demand, 1, &factor);
      alone_s += item->time_s;
      beside_s += item->time_s * x;
      moved_s += item->time_s * x / factor;
    }
  }
  if (alone_s > 0 && moved_s > 0 && !model->job->system->settings.no_interference) {
    out.x = beside_s / alone_s;
    out.y = beside_s / moved_s;
  }
  return out;
}

/* Found once for all who ask of these units. Borrowed. */
static const Beside *
recall_beside (const TrnModel *model, const TrnUnits *units, MdlTurnKind kind, const TrnPriced *priced)
{
  Beside *one = g_hash_table_lookup (units->beside[kind], priced);
  if (one == NULL) {
    const Beside found = find_beside (model, units, kind, priced);
    one = g_memdup2 (&found, sizeof found);
    g_hash_table_insert (units->beside[kind], (gpointer)priced, one);
  }
  return one;
}

double
trn_send_beside_s (const TrnModel *model, const TrnUnits *units, const TrnPriced *send)
{
  double fixed_s = fmin (send->coll.cost.latency_s, send->time_s), all_s = 0, moved_s = 0;
  for (int k = 0; k < MDL_TURN_KINDS; k++) {
    double turn_s = trn_units_at (units, model, model->n_positions / 2, 0)->time_s[k];
    all_s += turn_s;
    moved_s += turn_s / recall_beside (model, units, (MdlTurnKind)k, send)->y;
  }
  return fixed_s + (send->time_s - fixed_s) * (moved_s > 0 ? all_s / moved_s : 1);
}

/* The same few sizes come again layer after layer. */
static const Beside *
beside_of (Rank *r, const TrnPriced *priced)
{
  const Beside **slot = &r->beside[GPOINTER_TO_SIZE (priced) / sizeof (gpointer) / 4 % BESIDE_N];
  if (*slot == NULL || (*slot)->priced != priced)
    *slot = recall_beside (r->model, r->units, r->kind, priced);
  return *slot;
}

/* Inlined, as those of the C library are not. */
static inline double
larger (double a, double b)
{
  return a > b ? a : b;
}

static inline double
smaller (double a, double b)
{
  return a < b ? a : b;
}

/* What a collective waits for SMs; layer after layer the same one beside the same kernel. */
static double
wait_s (Rank *r, const TrnPriced *priced)
{
  static const MdlOverlapCompute full = { MDL_OVERLAP_GEMM, 1, 0 };
  if (r->waited == priced && r->waited_beside_s >= r->beside_s && r->waited_beside_s <= r->beside_s)
    return r->waited_s;
  r->waited = priced;
  r->waited_beside_s = r->beside_s;
  r->waited_s = mdl_overlap_wait_s (r->model->job->system->overlap, &r->model->gpu, &full, &priced->demand, r->beside_s,
                                    MAX (priced->coll.n_ranks, 2));
  return r->waited_s;
}

/* A collective of one of the two streams that may begin at `ready_s`: moves the stream's end and slows what runs beside it. What it
 * waits for SMs and its latency pass at their own pace. */
static void
run_beside (Rank *r, const TrnPriced *priced, gboolean expert, double ready_s)
{
  gboolean waits = r->beside_s > 0 && !r->model->job->system->settings.no_interference;
  double begin_s = larger (ready_s, r->free_s[expert]), left_s = r->end_s - begin_s;
  double fixed_s = smaller (priced->coll.cost.latency_s, priced->time_s), moving_s = priced->time_s - fixed_s;
  if (waits && priced->time_s > 0)
    fixed_s += wait_s (r, priced);
  if (left_s <= 0) {
    r->free_s[expert] = begin_s + fixed_s + moving_s;
    return;
  }
  const Beside *by = beside_of (r, priced);
  double beside_s = smaller (fixed_s + moving_s * by->y, left_s * by->x), more_s = beside_s * (1 - 1 / by->x);
  double moved_s = larger (beside_s - fixed_s, 0) / by->y;
  r->free_s[expert] = begin_s + larger (beside_s, fixed_s) + larger (moving_s - moved_s, 0);
  r->end_s += more_s;
  r->slowed_s += more_s;
}

static void
take_coll (Rank *r, const TrnPriced *priced, gboolean expert, double ready_s)
{
  run_beside (r, priced, expert, ready_s);
  r->band = fmax (r->band, priced->coll.cost.band);
  r->source = MIN (r->source, priced->time_s > 0 ? priced->coll.provenance : r->source);
}

static gboolean
run_coll (Rank *r, TrnGroupKind group, MdlOp op, double size_B, gboolean expert, double ready_s, GError **error)
{
  const TrnPriced *priced = trn_group_price (r->prices, r->like, group, op, size_B, r->model->reduce, error);
  if (priced == NULL)
    return FALSE;
  take_coll (r, priced, expert, ready_s);
  return TRUE;
}

/* Passes over memory that the compute stream makes: what follows is later by them. */
static void
pass_over (Rank *r, const double bytes[2])
{
  const double time_s = bytes[0] + bytes[1] > 0 ? trn_costs_memory_s (r->units->costs, bytes[0], bytes[1]) : 0;
  r->end_s += time_s;
  r->slowed_s += time_s;
}

/* A bucket of DDP that is compressed; all are unpacked at the end. */
static gboolean
reduce_small (Rank *r, TrnGroupKind group, double bytes, const TrnFactors *factors, double ready_s, GError **error)
{
  TrnCompressed small;
  trn_compress_bucket (r->model, bytes, r->ranks[group], factors, &small);
  const double before_s = r->slowed_s;
  pass_over (r, small.before_B);
  for (guint i = 0; i < 2; i++)
    r->unpack_B[i] += small.behind_B[i];
  for (guint i = 0; i < small.n; i++) {
    const TrnCompressedPart *part = &small.part[i];
    const TrnPriced *priced = trn_group_price (r->prices, r->like, group, part->op, part->size_B, part->format, error);
    if (priced == NULL)
      return FALSE;
    take_coll (r, priced, group == TRN_GROUP_EDP, ready_s + r->slowed_s - before_s);
  }
  return TRUE;
}

static gboolean
reduce (Rank *r, gboolean expert, double bytes, const TrnFactors *factors, double ready_s, GError **error)
{
  const TrnModel *model = r->model;
  const gboolean alone = trn_local_steps (model) && !expert;
  TrnGroupKind group = expert ? TRN_GROUP_EDP : TRN_GROUP_SHARD, whole = expert ? TRN_GROUP_EDP : TRN_GROUP_DP;
  if (alone)
    whole = group;
  if (bytes <= 0 || r->ranks[whole] <= 1)
    return TRUE;
  if (trn_compression (model) != TRN_COMPRESS_NONE)
    return reduce_small (r, whole, bytes, factors, ready_s, error);
  if (model->sync == TRN_SYNC_DDP)
    return run_coll (r, whole, MDL_OP_ALL_REDUCE, bytes, expert, ready_s, error);
  return run_coll (r, group, MDL_OP_REDUCE_SCATTER, bytes, expert, ready_s, error) &&
         (expert || alone || r->ranks[TRN_GROUP_REPLICA] <= 1 ||
          run_coll (r, TRN_GROUP_REPLICA, MDL_OP_ALL_REDUCE, bytes / r->ranks[group], FALSE, ready_s, error));
}

/* ---- buckets ---- */

static gboolean
close_bucket (Rank *r, gboolean expert, double ready_s, GError **error)
{
  Bucket *bucket = &r->bucket[expert];
  double bytes = bucket->bytes;
  const TrnFactors factors = bucket->factors;
  bucket->bytes = 0;
  bucket->factors = (TrnFactors){ 0 };
  bucket->n += bytes > 0;
  return reduce (r, expert, bytes, &factors, ready_s, error);
}

static gboolean
fill (Rank *r, const TrnUnit *unit, double ready_s, GError **error)
{
  double element_B = mdl_format_B (r->model->reduce);
  for (guint i = unit->tensor->len; i-- > 0;) {
    const TrnTensor *tensor = &g_array_index (unit->tensor, TrnTensor, i);
    Bucket *bucket = &r->bucket[tensor->expert];
    bucket->bytes += tensor->trained * element_B;
    trn_compress_take (r->model, tensor, &bucket->factors);
    if (bucket->bytes >= r->cap_B[bucket->n > 0] && !close_bucket (r, tensor->expert, ready_s, error))
      return FALSE;
  }
  return TRUE;
}

/* The chunk's last backward pass, ending at `end_s` but for what has slowed it. */
static gboolean
reduce_chunk (Rank *r, guint32 chunk, double end_s, GError **error)
{
  guint32 position = position_of (r, chunk), n = trn_cut_units (r->model, position);
  const TrnModelSpec *spec = &r->model->spec->model;
  gboolean beside = spec->overlap.gradients.v && r->model->spec->ddp.overlap.v;
  double at_s = end_s - r->units->edge_s[r->kind], ready_s = 0;
  for (guint32 u = 0; u < n; u++)
    at_s -= trn_units_at (r->units, r->model, position, u)->time_s[r->kind];
  for (guint32 u = n; u-- > 0;) {
    const TrnUnitTime *one = trn_units_at (r->units, r->model, position, u);
    at_s += one->time_s[r->kind];
    r->beside_s = u == 0 || !beside ? 0 : one->unit->kernel_s[r->kind];
    ready_s = beside ? at_s + r->slowed_s : r->end_s;
    if (!fill (r, one->unit, ready_s, error))
      return FALSE;
  }
  return !beside || (close_bucket (r, FALSE, ready_s, error) && close_bucket (r, TRUE, ready_s, error));
}

/* ---- parameters, gathered before the first forward passes ---- */

static gboolean
gather_s (Rank *r, double dense, double expert, double *time_s, GError **error)
{
  const TrnModel *model = r->model;
  double element_B = mdl_format_B (model->gather);
  const struct {
    double elements;
    TrnGroupKind group;
  } parts[] = { { dense, TRN_GROUP_SHARD }, { expert, TRN_GROUP_EDP } };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    if (parts[i].elements <= 0 || r->ranks[parts[i].group] <= 1)
      continue;
    const TrnPriced *priced = trn_group_price (r->prices, r->like, parts[i].group, MDL_OP_ALL_GATHER, parts[i].elements * element_B,
                                               model->gather, error);
    if (priced == NULL)
      return FALSE;
    *time_s += priced->time_s;
  }
  return TRUE;
}

/* How much later the first passes are for parameters that come one unit after the other from the step's start on. */
static gboolean
gather_first (Rank *r, TrnSyncTime *out, GError **error)
{
  double come_s = 0;
  for (guint32 chunk = 0; chunk < r->chunks; chunk++) {
    guint32 position = position_of (r, chunk), n = trn_cut_units (r->model, position);
    double at_s = r->turns->first_s[r->lane * r->chunks + chunk];
    for (guint32 u = 0; u < n; u++) {
      const TrnUnitTime *one = trn_units_at (r->units, r->model, position, u);
      if (!gather_s (r, one->unit->trained_dense, one->unit->trained_expert, &come_s, error))
        return FALSE;
      out->before_s = fmax (out->before_s, come_s - at_s);
      at_s += one->time_s[MDL_TURN_FORWARD];
    }
  }
  return TRUE;
}

/* ---- the whole ---- */

typedef struct {
  double dense, expert, tensors;
} Count;

static Count
count_of (const Rank *r)
{
  Count sum = { 0 };
  gboolean first = FALSE, last = FALSE;
  for (guint32 chunk = 0; chunk < r->chunks; chunk++) {
    guint32 position = position_of (r, chunk);
    first = first || r->model->cut[position].embedding;
    last = last || r->model->cut[position].head;
    for (guint32 u = 0; u < trn_cut_units (r->model, position); u++) {
      const TrnUnit *unit = trn_units_at (r->units, r->model, position, u)->unit;
      sum.dense += unit->trained_dense;
      sum.expert += unit->trained_expert;
      sum.tensors += unit->tensor->len;
    }
  }
  if (r->model->llm.tied.v && last && !first) /* a copy of the embedding's table */
    sum.dense += g_array_index (r->units->unit[TRN_UNIT_AT_EMBEDDING].unit->tensor, TrnTensor, 0).trained;
  return sum;
}

/* ZeRO 2 reduces behind every backward pass, or behind a row of them through a chunk: what the last one's reduction slows it, or is
 * longer than a round, all have. */
static double
reduce_always_s (const Rank *r, double busy_s)
{
  const double row = trn_model_reduces_in_rows (r->model) ? r->model->pipe.p : 1;
  double moved_s = fmax (r->free_s[0], r->free_s[1]) - (r->end_s - r->slowed_s);
  return r->model->sync == TRN_SYNC_GRADIENTS ? fmax (r->slowed_s, moved_s - row * busy_s) / row : 0;
}

static gboolean
update_s (Rank *r, TrnSyncTime *out, GError **error)
{
  const TrnModel *model = r->model;
  const Count count = count_of (r);
  gboolean part = model->sync != TRN_SYNC_DDP && model->sync != TRN_SYNC_NONE;
  gboolean always = model->sync == TRN_SYNC_GRADIENTS || model->sync == TRN_SYNC_SHARDS;
  double dense = count.dense / (part ? r->ranks[TRN_GROUP_SHARD] : 1);
  double expert = count.expert / (part ? r->ranks[TRN_GROUP_EDP] : 1);
  double held = always ? dense + expert : count.dense + count.expert;
  out->update_s = model->software.slowest * trn_costs_optimizer_s (r->units->costs, 0, dense + expert, held, count.tensors);
  gboolean gathers = model->sync == TRN_SYNC_OPTIMIZER || model->sync == TRN_SYNC_GRADIENTS;
  if (!gathers)
    return TRUE;
  return model->spec->model.overlap.parameters.v ? gather_first (r, out, error)
                                                 : gather_s (r, count.dense, count.expert, &out->after_s, error);
}

/* Input embedding and output head that share a table and lie on different ranks add their gradients. */
static gboolean
add_tied (Rank *r, GError **error)
{
  const TrnModel *model = r->model;
  guint32 last = model->pipe.p - 1;
  gboolean input = trn_model_holds (model, r->lane, 0), output = trn_model_holds (model, r->lane, model->n_positions - 1);
  if (!model->llm.tied.v || input == output)
    return TRUE;
  const TrnUnit *table = r->units->unit[TRN_UNIT_AT_EMBEDDING].unit;
  const TrnPriced *priced =
      trn_group_send (r->prices, r->lane, r->lane == 0 ? last : 0, table->trained_dense * mdl_format_B (model->reduce), error);
  if (priced != NULL)
    run_beside (r, priced, FALSE, r->end_s);
  return priced != NULL;
}

/* Chunks in the order in which their last turns end, of equals the lower first; G_MAXUINT32 comes before the first. */
static guint32
next_to_end (const Rank *r, guint32 before)
{
  const double *end_s = &r->turns->final_s[r->lane * r->chunks];
  guint32 next = G_MAXUINT32;
  for (guint32 c = 0; c < r->chunks; c++) {
    gboolean later = before == G_MAXUINT32 || end_s[c] > end_s[before] || (end_s[c] >= end_s[before] && c > before);
    if (later && (next == G_MAXUINT32 || end_s[c] < end_s[next]))
      next = c;
  }
  return next;
}

gboolean
trn_sync_time (const TrnSyncQuery *query, TrnSyncTime *out, GError **error)
{
  const TrnModel *model = query->model;
  const TrnUnits *units = query->units;
  const TrnTurns *turns = query->turns;
  guint32 lane = query->lane;
  const MdlScheduleFacts *facts = mdl_schedule_facts (model->pipe.schedule);
  Rank r = { .model = model, .units = units, .prices = query->prices, .turns = turns, .lane = lane, .like = query->like };
  r.kind = facts->splits_backward && !facts->pairs ? MDL_TURN_WEIGHT_GRADIENT : MDL_TURN_BACKWARD;
  r.chunks = mdl_schedule_chunks (&model->pipe);
  r.end_s = turns->end_s[lane];
  r.source = BASE_SOURCE_MEASURED;
  count_ranks (&r);
  for (guint i = 0; i < 2; i++)
    r.cap_B[i] = trn_model_bucket_B (r.model, r.lane, i == 0, mdl_format_B (r.model->reduce));
  memset (out, 0, sizeof *out);
  out->source = BASE_SOURCE_MEASURED;
  if (!update_s (&r, out, error))
    return FALSE;
  if (model->sync == TRN_SYNC_SHARDS || model->sync == TRN_SYNC_NONE) {
    gboolean ok = add_tied (&r, error);
    out->tail_s = fmax (r.free_s[0] - r.end_s, 0) + (model->sync == TRN_SYNC_SHARDS ? units->tail_s + units->once_s : 0);
    return ok;
  }
  double busy_s = 0;
  guint32 chunk = G_MAXUINT32;
  for (guint32 k = 0; k < r.chunks; k++) {
    chunk = next_to_end (&r, chunk);
    if (!reduce_chunk (&r, chunk, turns->final_s[lane * r.chunks + chunk], error))
      return FALSE;
    guint32 position = position_of (&r, chunk);
    for (guint32 u = 0; u < trn_cut_units (model, position); u++) {
      const TrnUnitTime *one = trn_units_at (units, model, position, u);
      busy_s += one->time_s[MDL_TURN_FORWARD] + one->time_s[MDL_TURN_BACKWARD];
    }
  }
  r.beside_s = 0;
  if (!close_bucket (&r, FALSE, r.end_s, error) || !close_bucket (&r, TRUE, r.end_s, error) || !add_tied (&r, error))
    return FALSE;
  out->band = r.band;
  out->source = r.source;
  out->slowed_s = r.slowed_s;
  out->each_s = reduce_always_s (&r, busy_s);
  out->tail_s = fmax (fmax (r.free_s[0], r.free_s[1]) - r.end_s, 0);
  if (r.unpack_B[0] + r.unpack_B[1] > 0)
    out->tail_s += trn_costs_memory_s (units->costs, r.unpack_B[0], r.unpack_B[1]);
  return TRUE;
}
