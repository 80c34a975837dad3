/* What the passes of a model's layers take: works of models/layer.h priced by the models of kernels and collectives, and joined to
 * the stretches that a task graph needs: compute between places where a collective begins or is waited for. */
#include <math.h>
#include <string.h>

#include "model-private.h"
#include "models/net.h"

struct TrnCosts {
  const TrnModel *model;
  TrnPrices *prices;
  double sum_s, band_s; /* of all works priced: time, and time x half-width of its band */
  BaseSource source;    /* weakest of their constants */
  GHashTable *units;    /* pipeline rank and kind of unit, packed -> TrnUnit */
  GHashTable *updates;  /* Update */
  GArray *told;         /* TrnPricedWork; NULL: nobody asked */
  GHashTable *products; /* Product; borrowed, NULL: none are remembered */
  TrnPricedWork now;    /* whose works are priced */
};

void
trn_costs_record (TrnCosts *costs, GArray *told)
{
  costs->told = told;
}

/* `cost` and `priced`: one of them, NULL the other. */
static void
tell (TrnCosts *costs, const MdlWork *work, double time_s, const MdlKernelCost *cost, const TrnPriced *priced)
{
  if (costs->told == NULL)
    return;
  TrnPricedWork one = costs->now;
  one.work = *work;
  one.time_s = time_s;
  one.priced = priced;
  if (cost != NULL)
    one.cost = *cost;
  g_array_append_val (costs->told, one);
}

/* What the optimizer takes on a pipeline rank. */
typedef struct {
  double pp, updated, held, tensors, time_s;
} Update;

static guint
hash_update (gconstpointer key)
{
  const Update *u = key;
  return g_double_hash (&u->updated) * 31u + g_double_hash (&u->held) * 7u + (guint)u->tensors + (guint)u->pp * 1009u;
}

static gboolean
same_update (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, offsetof (Update, time_s)) == 0;
}

TrnCosts *
trn_costs_new (const TrnModel *model, TrnPrices *prices)
{
  TrnCosts *costs = g_new0 (TrnCosts, 1);
  costs->model = model;
  costs->prices = prices;
  costs->source = model->layers != NULL ? model->software.source : MIN (model->gpu.source, model->software.source);
  costs->units = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, trn_unit_free);
  costs->updates = g_hash_table_new_full (hash_update, same_update, g_free, NULL);
  return costs;
}

void
trn_costs_free (TrnCosts *costs)
{
  if (costs == NULL)
    return;
  g_hash_table_unref (costs->units);
  g_hash_table_unref (costs->updates);
  g_free (costs);
}

/* ---- one work ---- */

/* A matrix product that was priced: all of MdlGemm that a layer's differ by. */
typedef struct {
  double m, n, k, batch, taps;
  gint32 dtype, op, accumulate_fp32, conv;
  MdlKernelCost cost;
} Product;

static guint
hash_product (gconstpointer key)
{
  const Product *p = key;
  double mixed = p->m + 1.0009 * p->n + 1.00007 * p->k + 3.1 * p->batch;
  return g_double_hash (&mixed) * 31u + (guint)(p->dtype * 9 + p->op * 3 + p->accumulate_fp32);
}

static gboolean
same_product (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, offsetof (Product, cost)) == 0;
}

GHashTable *
trn_products_new (void)
{
  return g_hash_table_new_full (hash_product, same_product, g_free, NULL);
}

void
trn_costs_remember (TrnCosts *costs, GHashTable *products)
{
  costs->products = products;
}

/* When recording, prices are computed afresh so that the terms keep their text. */
static void
price_gemm (const TrnCosts *costs, const MdlGemm *gemm, MdlKernelCost *cost)
{
  const MdlKernels *kernels = costs->model->job->system->kernels;
  if (costs->products == NULL || costs->told != NULL) {
    mdl_gemm_cost (kernels, &costs->model->gpu, gemm, cost);
    return;
  }
  Product key = { .m = gemm->m,
                  .n = gemm->n,
                  .k = gemm->k,
                  .batch = gemm->batch,
                  .taps = gemm->taps,
                  .conv = gemm->conv,
                  .dtype = (gint32)gemm->dtype,
                  .op = (gint32)gemm->op,
                  .accumulate_fp32 = gemm->accumulate_fp32 };
  Product *known = g_hash_table_lookup (costs->products, &key);
  if (known == NULL) {
    mdl_gemm_cost (kernels, &costs->model->gpu, gemm, &key.cost);
    known = g_memdup2 (&key, sizeof key);
    g_hash_table_add (costs->products, known);
  }
  *cost = known->cost;
}

/* In `parts` by its rows, one after the other: each part is a product of its own, which fills fewer SMs. */
static double
gemm_s (const TrnCosts *costs, const MdlWork *work, unsigned parts, MdlKernelCost *cost)
{
  MdlGemm gemm = { .m = work->gemm.m / parts,
                   .n = work->gemm.n,
                   .k = work->gemm.k,
                   .batch = work->gemm.batch,
                   .conv = work->gemm.conv,
                   .taps = work->gemm.taps,
                   .dtype = mdl_format_precision (work->format),
                   .op = MDL_GEMM_FORWARD,
                   .accumulate_fp32 = work->gemm.accumulate && work->gemm.out == MDL_FORMAT_FP32,
                   .sustained = TRUE,
                   .terse = costs->told == NULL };
  /* the kernels' model names the sizes of the layer: tokens, features out, features in */
  if (work->pass == MDL_PASS_DGRAD) {
    gemm.op = MDL_GEMM_DGRAD;
    gemm.n = work->gemm.k;
    gemm.k = work->gemm.n;
  } else if (work->pass == MDL_PASS_WGRAD) {
    gemm.op = MDL_GEMM_WGRAD;
    gemm.n = gemm.m;
    gemm.m = work->gemm.k;
    gemm.k = work->gemm.n;
  }
  double loops = work->kernels > 1 ? gemm.batch : 1;
  gemm.batch /= loops;
  price_gemm (costs, &gemm, cost);
  return cost->time_s * parts * loops;
}

static double
attention_s (const TrnCosts *costs, const MdlWork *work, MdlKernelCost *cost)
{
  MdlAttention attention = { .batch = work->attention.batch,
                             .heads = work->attention.heads,
                             .kv_heads = work->attention.kv_heads,
                             .q_length = work->attention.q_len,
                             .kv_length = work->attention.kv_len,
                             .head_dim = work->attention.qk_dim,
                             .value_dim = work->attention.value_dim,
                             .window = work->attention.window,
                             .causal = work->attention.share < 1,
                             .backward = work->attention.backward,
                             .dtype = mdl_format_precision (costs->model->attention),
                             .terse = costs->told == NULL };
  mdl_attention_cost (costs->model->job->system->kernels, &costs->model->gpu, &attention, cost);
  double counted = mdl_attention_flop (&attention);
  /* documents of a sequence that do not see each other, and the parts of a ring, leave less than the mask's half */
  return counted > 0 ? cost->time_s * fmin (work->flop / counted, 1) : cost->time_s;
}

static MdlMemoryKind
memory_kind (const MdlWork *work)
{
  static const struct {
    const char *part;
    MdlMemoryKind kind;
  } kinds[] = { { "norm", MDL_MEMORY_NORM },    { "add", MDL_MEMORY_ADD },      { "residual", MDL_MEMORY_ADD },
                { "silu", MDL_MEMORY_GATED },   { "gelu", MDL_MEMORY_GATED },   { "activation", MDL_MEMORY_GATED },
                { "swiglu", MDL_MEMORY_GATED }, { "loss", MDL_MEMORY_SOFTMAX }, { "softmax", MDL_MEMORY_SOFTMAX },
                { "adam", MDL_MEMORY_ADAM } };
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strstr (work->name, kinds[i].part) != NULL)
      return kinds[i].kind;
  return MDL_MEMORY_COPY;
}

static double
memory_s (const TrnCosts *costs, const MdlWork *work, MdlKernelCost *cost)
{
  const MdlMemory memory = {
    .kind = memory_kind (work),
    .read_B = work->read_B,
    .written_B = work->write_B,
    .added = work->added,
    .placed = work->placed,
    .terse = costs->told == NULL
  };
  mdl_memory_cost (costs->model->job->system->kernels, &costs->model->gpu, &memory, cost);
  double gap_s = mdl_launch_cost_s (costs->model->job->system->kernels, MDL_LAUNCH_COST_KERNEL_GAP);
  return cost->time_s + gap_s * fmax (work->kernels - 1, 0); /* the same bytes in several kernels */
}

/* Of a kernel that stands for others of its sizes [assumed]: a factor of two either way. */
#define UNMEASURED_BAND 1.0

/* Most of the kernel is what an empty one takes. */
static gboolean
only_starts (const MdlKernelCost *cost)
{
  for (unsigned i = 0; i < cost->n_terms; i++)
    if (g_str_equal (cost->term[i].name, "start"))
      return cost->term[i].value_s > cost->time_s / 2;
  return FALSE;
}

/* Adds a work to a stretch of compute; `parts`: that a product is cut into. */
static void
add_work (TrnCosts *costs, const MdlWork *work, unsigned parts, TrnItem *item, double by_kind_s[MDL_OVERLAP_KERNELS])
{
  MdlKernelCost cost = { 0 };
  double time_s = 0;
  MdlOverlapKernel kind = MDL_OVERLAP_MEMORY;
  if (work->kind == MDL_WORK_GEMM) {
    time_s = gemm_s (costs, work, parts, &cost);
    kind = MDL_OVERLAP_GEMM;
  } else if (work->kind == MDL_WORK_ATTENTION) {
    time_s = attention_s (costs, work, &cost);
    kind = MDL_OVERLAP_ATTENTION;
  } else
    time_s = memory_s (costs, work, &cost);
  if (work->assumed) {
    cost.source = BASE_SOURCE_ASSUMED;
    cost.band = fmax (cost.band, UNMEASURED_BAND);
  }
  const TrnSoftware *software = &costs->model->software;
  double efficiency = work->pass == MDL_PASS_OPTIMIZER ? software->optimizer
                      : kind == MDL_OVERLAP_ATTENTION  ? software->attention
                                                       : software->efficiency;
  item->framework_s += time_s / efficiency - time_s;
  time_s /= efficiency;
  tell (costs, work, time_s, &cost, NULL);
  costs->sum_s += time_s;
  costs->band_s += time_s * cost.band;
  costs->source = MIN (costs->source, cost.source);
  by_kind_s[kind] += time_s;
  item->demand.memory_Bps += work->read_B + work->write_B; /* divided by the time at the end */
  item->demand.sm_share += cost.busy * time_s;
  item->time_s += time_s;
  item->kernels += work->kernels;
  item->square_s2 += time_s * time_s / fmax (work->kernels, 1);
  item->syncs += work->syncs;
  item->rounds = fmax (item->rounds, work->rounds);
  if (only_starts (&cost))
    item->start_s += time_s;
  else
    item->memory_s += g_strcmp0 (cost.bound, "memory") == 0 ? time_s : 0;
  item->recomputed = work->pass == MDL_PASS_RECOMPUTE;
  item->delayed = work->delayed;
}

static void
close_item (const TrnCosts *costs, TrnItem *item, const double by_kind_s[MDL_OVERLAP_KERNELS])
{
  double most_Bps =
      costs->model->gpu.memory_Bps * (costs->model->gpu.memory_efficiency > 0 ? costs->model->gpu.memory_efficiency : 1);
  for (int k = 0; k < MDL_OVERLAP_KERNELS; k++)
    if (by_kind_s[k] > by_kind_s[item->demand.kind])
      item->demand.kind = (MdlOverlapKernel)k;
  if (item->time_s <= 0)
    return;
  item->demand.memory_Bps = fmin (item->demand.memory_Bps / item->time_s, most_Bps);
  item->demand.sm_share = CLAMP (item->demand.sm_share / item->time_s, 0.01, 1);
}

/* ---- a pass ---- */

gboolean
trn_pass_in_turn (MdlPass pass, MdlTurnKind turn)
{
  switch (turn) {
    case MDL_TURN_FORWARD:
      return pass == MDL_PASS_FORWARD;
    case MDL_TURN_INPUT_GRADIENT:
      return pass == MDL_PASS_RECOMPUTE || pass == MDL_PASS_DGRAD;
    case MDL_TURN_WEIGHT_GRADIENT:
      return pass == MDL_PASS_WGRAD;
    case MDL_TURN_BACKWARD:
    case MDL_TURN_KINDS:
    default:
      return pass != MDL_PASS_FORWARD && pass != MDL_PASS_OPTIMIZER;
  }
}

static TrnGroupKind
group_of (MdlGroup group)
{
  switch (group) {
    case MDL_GROUP_CP:
      return TRN_GROUP_CP;
    case MDL_GROUP_EP:
      return TRN_GROUP_EP;
    case MDL_GROUP_ETP:
      return TRN_GROUP_ETP;
    case MDL_GROUP_MODEL:
      return TRN_GROUP_MODEL;
    case MDL_GROUP_DP:
      return TRN_GROUP_DP;
    case MDL_GROUP_TP:
    case MDL_GROUP_NONE:
    default:
      return TRN_GROUP_TP;
  }
}

/* A collective cut up with a product or a ring's steps hides all but a part: what remains is the last part of the product after
 * all of the collective, or the first before it. */
static gboolean
is_hidden (const TrnModel *model, const MdlWork *coll)
{
  if (coll->coll.with < 0)
    return FALSE;
  return coll->coll.group == MDL_GROUP_TP ? model->overlap_tp
                                          : coll->coll.group == MDL_GROUP_CP && coll->coll.op == MDL_OP_SENDRECV;
}

/* B of an all-to-all whose network part is as large as what really crosses it. */
static double
coll_size (const TrnModel *model, const MdlWork *coll)
{
  guint32 ranks = trn_grid_group_size (&model->grid, group_of (coll->coll.group));
  double nodes = fmax (model->query.ep_nodes, 1), away = nodes > 1 ? (nodes - 1) / nodes : 0;
  if (coll->coll.node_B <= 0 || away <= 0 || ranks <= 1)
    return coll->coll.bytes;
  return fmin (coll->coll.bytes, coll->coll.node_B / away);
}

typedef struct {
  TrnCosts *costs;
  guint32 pp;
  const GArray *works; /* MdlWork */
  MdlTurnKind turn;
  GArray *items; /* TrnItem */
  int *item_of;  /* of a work: the compute item that it is in; -1: none yet */
} PassBuild;

static const MdlWork *
work_at (const PassBuild *b, guint i)
{
  return &g_array_index (b->works, MdlWork, i);
}

static gboolean
taken (const PassBuild *b, guint i)
{
  return trn_pass_in_turn (work_at (b, i)->pass, b->turn);
}

/* Where a stretch of compute has to begin anew. */
static gboolean *
find_cuts (const PassBuild *b)
{
  guint n = b->works->len;
  gboolean *cut = g_new0 (gboolean, n + 1), again = FALSE, late = FALSE;
  double rounds = 0;
  for (guint i = 0; i < n; i++) {
    const MdlWork *w = work_at (b, i);
    if (!taken (b, i))
      continue;
    if (w->kind != MDL_WORK_COLL) { /* what is computed again, and what is done in rounds, stands apart */
      gboolean repeats = w->pass == MDL_PASS_RECOMPUTE;
      cut[i] = cut[i] || repeats != again || w->delayed != late || w->rounds > rounds || w->rounds < rounds;
      again = repeats;
      late = w->delayed;
      rounds = w->rounds;
      cut[i + 1] = cut[i + 1] || (w->syncs > 0 && w->rounds <= 1); /* the host waits for its end */
      continue;
    }
    cut[CLAMP (w->coll.after + 1, 0, (int)n)] = cut[CLAMP (w->coll.before, 0, (int)n)] = TRUE;
    if (is_hidden (b->costs->model, w))
      cut[w->coll.with] = cut[w->coll.with + 1] = TRUE;
  }
  return cut;
}

/* Parts that a product is cut into for a collective that runs beside it part by part. */
static unsigned
parts_of (const PassBuild *b, guint product)
{
  for (guint i = 0; i < b->works->len; i++) {
    const MdlWork *w = work_at (b, i);
    if (w->kind == MDL_WORK_COLL && w->coll.group == MDL_GROUP_TP && w->coll.with == (int)product && taken (b, i) &&
        is_hidden (b->costs->model, w))
      return b->costs->model->query.tp;
  }
  return 1;
}

static void
add_compute (PassBuild *b, const gboolean *cut)
{
  double by_kind_s[MDL_OVERLAP_KERNELS] = { 0 };
  gboolean open = FALSE;
  for (guint i = 0; i < b->works->len; i++) {
    b->item_of[i] = -1;
    if (open && cut[i]) {
      close_item (b->costs, &g_array_index (b->items, TrnItem, b->items->len - 1), by_kind_s);
      open = FALSE;
    }
    if (work_at (b, i)->kind == MDL_WORK_COLL || !taken (b, i))
      continue;
    if (!open) {
      TrnItem item = { .demand = { .kind = MDL_OVERLAP_MEMORY }, .first_work = i };
      memset (by_kind_s, 0, sizeof by_kind_s);
      g_array_append_val (b->items, item);
      open = TRUE;
    }
    add_work (b->costs, work_at (b, i), parts_of (b, i), &g_array_index (b->items, TrnItem, b->items->len - 1), by_kind_s);
    g_array_index (b->items, TrnItem, b->items->len - 1).last_work = i;
    b->item_of[i] = (int)b->items->len - 1;
  }
  if (open)
    close_item (b->costs, &g_array_index (b->items, TrnItem, b->items->len - 1), by_kind_s);
}

/* The last compute item up to work i, and the first from it on. */
static int
item_until (const PassBuild *b, int i)
{
  while (i >= 0 && b->item_of[i] < 0)
    i--;
  return i >= 0 ? b->item_of[i] : -1;
}

static int
item_from (const PassBuild *b, int i, int n_compute)
{
  while (i < (int)b->works->len && b->item_of[i] < 0)
    i++;
  return i < (int)b->works->len ? b->item_of[i] : n_compute;
}

static gboolean
add_colls (PassBuild *b, GError **error)
{
  int n_compute = (int)b->items->len;
  for (guint i = 0; i < b->works->len; i++) {
    const MdlWork *w = work_at (b, i);
    if (w->kind != MDL_WORK_COLL || !taken (b, i))
      continue;
    TrnItem item = { .is_coll = TRUE, .group = group_of (w->coll.group), .repeat = w->coll.repeat };
    item.priced = w->coll.moe_tokens > 0 ? trn_prices_experts (b->costs->prices, b->pp, &w->coll, error)
                                         : trn_prices_coll (b->costs->prices, item.group, b->pp, w->coll.op,
                                                            coll_size (b->costs->model, w), w->coll.format, error);
    if (item.priced == NULL)
      return FALSE;
    tell (b->costs, w, item.priced->time_s * item.repeat, NULL, item.priced);
    item.after = item_until (b, w->coll.after);
    item.before = item_from (b, w->coll.before, n_compute);
    item.with = is_hidden (b->costs->model, w) ? b->item_of[w->coll.with] : -1;
    item.parts = item.with < 0                   ? 1
                 : w->coll.group == MDL_GROUP_TP ? b->costs->model->query.tp
                                                 : (unsigned)work_at (b, (guint)w->coll.with)->attention.steps;
    item.leads = item.with >= 0 && (guint)w->coll.with > i;
    g_array_append_val (b->items, item);
  }
  return TRUE;
}

static GArray *
build_pass (TrnCosts *costs, guint32 pp, const GArray *works, MdlTurnKind turn, double *compute_s, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, TRUE, sizeof (TrnItem));
  g_autofree int *item_of = g_new (int, works->len + 1);
  PassBuild b = { costs, pp, works, turn, items, item_of };
  g_autofree gboolean *cut = find_cuts (&b);
  add_compute (&b, cut);
  *compute_s = 0;
  for (guint i = 0; i < items->len; i++)
    *compute_s += g_array_index (items, TrnItem, i).time_s;
  return add_colls (&b, error) ? g_steal_pointer (&items) : NULL;
}

/* ---- units ---- */

static MdlPart
part_of (const TrnModel *model, TrnUnitKind kind, guint32 layer)
{
  return model->llm.net != NULL       ? MDL_PART_NET
         : kind == TRN_UNIT_EMBEDDING ? MDL_PART_EMBEDDING
         : kind == TRN_UNIT_HEAD      ? MDL_PART_HEAD
         : kind == TRN_UNIT_MTP       ? MDL_PART_MTP
                                      : mdl_llm_part (&model->llm, layer);
}

double
trn_adapter_elements (const TrnModel *model, const MdlTensor *tensor)
{
  if (!tensor->matrix || tensor->expert)
    return 0;
  for (const BaseName *name = mdl_lora_names; name->name != NULL; name++)
    if (strcmp (name->name, tensor->name) == 0 && (model->query.lora_on & (unsigned)name->code) != 0)
      return model->query.lora_rank * (tensor->rows + tensor->columns) / model->query.tp;
  return 0;
}

static void
count_parameters (const TrnModel *model, MdlPart part, guint32 layer, guint32 pp, TrnUnit *unit)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
  mdl_llm_tensors (&model->llm, part, layer, tensors);
  gboolean looks_up = part == MDL_PART_HEAD && (model->llm.tied.v || model->mtp > 0); /* or a module behind it does */
  if (looks_up && !trn_model_holds (model, pp, 0)) { /* far from the embedding: a copy of its table */
    const MdlTensor table = { "head", model->llm.vocabulary.v, model->llm.hidden.v, 1, MDL_SPLIT_VOCABULARY, TRUE, FALSE };
    g_array_append_val (tensors, table);
  }
  unit->tensor = g_array_new (FALSE, FALSE, sizeof (TrnTensor));
  for (guint i = 0; i < tensors->len; i++) {
    const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
    double n = mdl_tensor_elements (&model->llm, tensor, model->query.tp, model->query.ep, model->query.etp,
                                    model->query.vocabulary_multiple);
    const double columns = tensor->columns / (tensor->split == MDL_SPLIT_COLUMNS ? model->query.tp : 1);
    const TrnTensor own = { n, model->query.lora_rank > 0 ? trn_adapter_elements (model, tensor) : n, columns, tensor->expert };
    *(tensor->expert ? &unit->expert : &unit->dense) += n;
    *(tensor->expert ? &unit->trained_expert : &unit->trained_dense) += own.trained;
    g_array_append_val (unit->tensor, own);
  }
}

/* As mfu counts: attention over all pairs, which a mask halves, and backward twice what it is forward, though flash kernels compute
 * scores again. */
static double
counted_flop (const TrnModel *model, const MdlWork *work)
{
  if (work->kind != MDL_WORK_ATTENTION)
    return work->flop;
  if (model->llm.net != NULL || work->attention.share >= 1)
    return work->flop / work->attention.share / (work->attention.backward ? 2.5 / 2 : 1);
  double sequence = model->query.sequence, window = work->attention.window, packed = model->query.packed;
  double masked = mdl_llm_pairs (sequence, window, packed, TRUE), all = mdl_llm_pairs (sequence, window, packed, FALSE);
  return work->flop * all / masked / (work->attention.backward ? 2.5 / 2 : 1);
}

gboolean
trn_is_first_fused (const TrnModel *model, guint32 layer)
{
  gboolean begins = layer == 0 || layer == mdl_llm_front (&model->llm);
  return begins && (model->llm.net != NULL || model->query.framework != MDL_FRAMEWORK_EAGER);
}

const TrnUnit *
trn_costs_unit (TrnCosts *costs, guint32 pp, TrnUnitKind kind, guint32 layer, GError **error)
{
  return trn_costs_unit_again (costs, pp, kind, layer, TRN_AGAIN_MODULES, error);
}

const TrnUnit *
trn_costs_unit_again (TrnCosts *costs, guint32 pp, TrnUnitKind kind, guint32 layer, TrnAgain again, GError **error)
{
  const TrnModel *model = costs->model;
  MdlPart part = part_of (model, kind, layer);
  guint32 item = model->llm.net != NULL ? mdl_net_item (model->llm.net, layer) : 0;
  gboolean windowed = kind == TRN_UNIT_LAYER && mdl_llm_is_windowed (&model->llm, layer);
  gboolean first = kind == TRN_UNIT_LAYER && trn_is_first_fused (model, layer);
  G_STATIC_ASSERT (MDL_PART_N <= 16);
  gint64 key = (gint64)item << 32 | (gint64)pp << 8 | (gint64)again << 6 | (gint64)part << 2 | (windowed ? 2 : 0) | (first ? 1 : 0);
  TrnUnit *unit = g_hash_table_lookup (costs->units, &key);
  if (unit != NULL)
    return unit;
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)),
                     backward = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query = model->query;
  query.recompute = trn_again_modules (model, again);
  mdl_layer_works (&model->llm, &query, part, layer, forward, backward);
  unit = g_new0 (TrnUnit, 1);
  g_hash_table_insert (costs->units, g_memdup2 (&key, sizeof key), unit);
  count_parameters (model, part, layer, pp, unit);
  for (int k = 0; k < MDL_TURN_KINDS; k++) {
    for (guint i = 0; i < (k == MDL_TURN_FORWARD ? forward : backward)->len; i++) {
      const MdlWork *work = &g_array_index (k == MDL_TURN_FORWARD ? forward : backward, MdlWork, i);
      unit->flop[k] += trn_pass_in_turn (work->pass, (MdlTurnKind)k) ? counted_flop (model, work) : 0;
    }
    double square_s2 = 0;
    costs->now =
        (TrnPricedWork){ .pp = pp, .part = part, .layer = layer, .windowed = windowed, .first = first, .turn = (MdlTurnKind)k };
    unit->pass[k] = build_pass (costs, pp, k == MDL_TURN_FORWARD ? forward : backward, (MdlTurnKind)k, &unit->pass_s[k], error);
    if (unit->pass[k] == NULL)
      return NULL;
    for (guint i = 0; i < unit->pass[k]->len; i++)
      square_s2 += g_array_index (unit->pass[k], TrnItem, i).square_s2;
    unit->kernel_s[k] = unit->pass_s[k] > 0 ? square_s2 / unit->pass_s[k] : 0;
  }
  return unit;
}

double
trn_costs_optimizer_s (TrnCosts *costs, guint32 pp, double updated, double held, double tensors)
{
  const TrnModel *model = costs->model;
  const TrnModelSpec *spec = &model->spec->model;
  if (model->layers != NULL)
    return model->spec->optimizer.v;
  gboolean eager = model->query.framework == MDL_FRAMEWORK_EAGER;
  Update key = { pp, updated, held, tensors, 0 };
  const Update *known = g_hash_table_lookup (costs->updates, &key);
  if (known != NULL)
    return known->time_s;
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  const MdlOptimizerQuery query = { .kind = (MdlOptimizer)spec->optimizer.v,
                                    .llm = &model->llm,
                                    .elements = updated,
                                    .gradients = held,
                                    .tensors = tensors,
                                    .parameter = model->parameters,
                                    .gradient = model->gradients,
                                    .master = model->master,
                                    .moment = model->moment,
                                    .compute = model->query.compute,
                                    .framework = model->query.framework,
                                    .clip = spec->clip.v,
                                    .zero = !eager }; /* PyTorch lets go of them */
  mdl_optimizer_works (&query, works);
  costs->now = (TrnPricedWork){ .pp = pp, .part = MDL_PART_N };
  TrnItem item = { 0 };
  double by_kind_s[MDL_OVERLAP_KERNELS] = { 0 };
  for (guint i = 0; i < works->len; i++)
    if (g_array_index (works, MdlWork, i).kind != MDL_WORK_COLL)
      add_work (costs, &g_array_index (works, MdlWork, i), 1, &item, by_kind_s);
  key.time_s = item.time_s;
  g_hash_table_add (costs->updates, g_memdup2 (&key, sizeof key));
  return item.time_s;
}

void
trn_costs_host (const TrnCosts *costs, TrnHost *out)
{
  const TrnModel *model = costs->model;
  const TrnSoftware *software = &model->software;
  const MdlKernels *kernels = model->job->system->kernels;
  const TrnLaunchSpec *given = &model->spec->host;
  *out = (TrnHost){ 0 };
  if (model->layers != NULL && given->head.set)
    *out = (TrnHost){ .kernel_s = given->kernel.v, .sync_s = given->sync.v, .first = TRUE };
  if (model->layers != NULL || model->query.framework == MDL_FRAMEWORK_GRAPHS)
    return;
  double plain_s = model->query.framework == MDL_FRAMEWORK_EAGER ? mdl_launch_cost_s (kernels, MDL_LAUNCH_COST_KERNEL) : 0;
  /* threads of one interpreter take turns: while one GPU's kernel is queued, no other's is */
  double turns = model->sync == TRN_SYNC_REPLICAS ? model->grid.size[TRN_DIM_DP] : 1;
  *out = (TrnHost){ .kernel_s = turns * (software->shows ? software->kernel_s : plain_s),
                    .replicas_s = turns > 1 ? turns * software->replica_s : 0,
                    .sync_s = software->sync_s > 0 ? software->sync_s : mdl_launch_cost_s (kernels, MDL_LAUNCH_COST_WAIT),
                    .coll_s = software->collective_s,
                    .shards_s = software->shards_s };
}

double
trn_costs_memory_s (const TrnCosts *costs, double read_B, double written_B)
{
  const MdlMemory memory = { .kind = MDL_MEMORY_COPY, .read_B = read_B, .written_B = written_B };
  return mdl_memory_time_s (costs->model->job->system->kernels, &costs->model->gpu, &memory);
}

double
trn_costs_band (const TrnCosts *costs, BaseSource *source)
{
  *source = costs->source;
  if (costs->sum_s <= 0)
    return 0;
  const TrnSoftware *software = &costs->model->software;
  double kernels = costs->band_s / costs->sum_s;
  gboolean other = (software->differs & (MDL_SOFTWARE_OTHER_GPU | MDL_SOFTWARE_OTHER_VENDOR | MDL_SOFTWARE_OTHER_FORMAT)) != 0;
  return other ? hypot (kernels, software->error) : fmax (kernels, software->error);
}
