/* What the communication of a step takes: each kind of group on each pipeline rank priced once for each size.
 *
 * Groups of the same kind do the same at the same time: tensor-parallel groups of all nodes, the data-parallel groups of each
 * tensor rank. Their traffic is added up, on whatever they share; the slowest of them sets the time. Groups that never leave an
 * island and sit alike on alike nodes are one communicator, whose traffic is moved to each. What all operations of a step put on
 * the links is folded when the last has been priced (fold-private.h). */
#include <math.h>
#include <string.h>

#include "collective/fold.h"
#include "collective/possible.h"
#include "model-private.h"
#include "storage/copies.h"

/* Groups that one communicator stands for: how many nodes on from its own each of them is. */
typedef struct {
  ColComm *comm;               /* borrowed */
  GArray *shifts;              /* gint64; the first is 0 */
  gboolean as_first, compared; /* its prices are those of the group's first one; whether that is known */
} Like;

/* Of a kind on a pipeline rank, all groups; made once, priced for many sizes. */
typedef struct {
  GPtrArray *likes; /* Like; the first is that of rank 0 */
  guint32 n_groups;
  guint number; /* of all grids' groups (trn_comms_number) */
} Group;

/* What groups, or pairs, put on the links by one algorithm, whatever the size. */
typedef struct {
  guint operation;
  ColSpread *spread;
  double most; /* of the fullest resource: what of its capacity a byte takes */
} Shape;

/* Of TrnQuestion: copies with hosts, of pipeline rank `from`; `to` says which way. */
enum { HOST_COPIES = -1000 };

struct TrnPrices {
  const TrnModel *model;
  TrnComms *own, *comms; /* closed form: flows run in the step. comms: own, or borrowed */
  ColRoutes *routes;     /* of comms */
  ColFold *fold;
  GHashTable *groups; /* kind and pp, packed -> Group */
  GHashTable *shapes; /* text of what loads the links -> Shape */
  GHashTable *priced; /* TrnQuestion -> TrnPriced */
  GArray *beside;     /* guint: operations of the fold that are no communication */
  GArray *list;       /* takes what is asked; NULL: nobody wants to know */
};

static void
free_like (gpointer data)
{
  Like *like = data;
  g_array_unref (like->shifts);
  g_free (like);
}

static void
free_group (gpointer data)
{
  Group *group = data;
  g_ptr_array_unref (group->likes);
  g_free (group);
}

static void
free_shape (gpointer data)
{
  Shape *shape = data;
  col_spread_unref (shape->spread);
  g_free (shape);
}

void
trn_priced_free (gpointer data)
{
  TrnPriced *priced = data;
  col_coll_clear (&priced->coll);
  g_free (priced);
}

TrnPrices *
trn_prices_new (const TrnModel *model, gboolean fold, TrnComms *comms)
{
  TrnPrices *prices = g_new0 (TrnPrices, 1);
  prices->model = model;
  prices->own = comms == NULL ? trn_comms_new (model->job->system) : NULL;
  prices->comms = comms != NULL ? comms : prices->own;
  prices->routes = trn_comms_routes (prices->comms);
  prices->fold = col_fold_new (prices->routes, model->job->system->clu, fold);
  prices->groups = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_group);
  prices->shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_shape);
  prices->priced = trn_priced_table (comms == NULL);
  prices->beside = g_array_new (FALSE, FALSE, sizeof (guint));
  return prices;
}

void
trn_prices_free (TrnPrices *prices)
{
  if (prices == NULL)
    return;
  g_array_unref (prices->beside);
  g_hash_table_unref (prices->priced);
  g_hash_table_unref (prices->shapes);
  g_hash_table_unref (prices->groups);
  col_fold_free (prices->fold);
  trn_comms_free (prices->own);
  g_free (prices);
}

void
trn_prices_list (TrnPrices *prices, GArray *list)
{
  prices->list = list;
}

/* NULL: not asked before. */
static TrnPriced *
recall (TrnPrices *prices, const TrnQuestion *question)
{
  if (prices->list != NULL)
    g_array_append_val (prices->list, *question);
  return g_hash_table_lookup (prices->priced, question);
}

/* Empty, and remembered; borrowed from the communicators, if those are. */
static TrnPriced *
new_priced (TrnPrices *prices, const TrnQuestion *question, guint32 n_groups)
{
  TrnPriced *priced = g_new0 (TrnPriced, 1);
  priced->n_groups = n_groups;
  g_hash_table_insert (prices->priced, g_memdup2 (question, sizeof *question), priced);
  if (prices->own == NULL)
    trn_comms_own (prices->comms, priced);
  return priced;
}

void
trn_prices_concurrent (TrnPrices *prices, const GArray *loads)
{
  ColScratch *scratch = col_routes_scratch (prices->routes);
  for (guint i = 0; i < loads->len; i++) {
    const ColLoad *load = &g_array_index (loads, ColLoad, i);
    col_scratch_add (scratch, load->res, load->load, load->factor);
  }
  ColSpread *spread = col_spread_take (prices->routes, prices->model->job->system->clu);
  guint operation = col_fold_add (prices->fold, spread);
  g_array_append_val (prices->beside, operation);
  col_spread_unref (spread);
}

const GArray *
trn_prices_side_loads (const TrnPrices *prices, unsigned i)
{
  return col_fold_binding (prices->fold, g_array_index (prices->beside, guint, i));
}

void
trn_prices_fold (TrnPrices *prices)
{
  col_fold_close (prices->fold);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, prices->priced);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    TrnPriced *priced = value;
    if (priced->time_s <= 0)
      continue;
    priced->all = col_fold_loads (prices->fold, priced->operation);
    priced->loads = col_fold_binding (prices->fold, priced->operation);
  }
}

static guint32
gpu_of (const TrnModel *model, guint32 rank)
{
  return g_array_index (model->job->system->gpus, guint32, rank);
}

/* What it asks of a GPU while its bytes pass: after its latency. Others slow it by so much a byte. */
static void
find_demand (TrnPriced *priced, gboolean two)
{
  const ColAnswer *coll = &priced->coll;
  MdlOverlapCommKind kind = coll->algo == MDL_ALGO_COPY_ENGINE                                  ? MDL_OVERLAP_COPY_ENGINE
                            : two || coll->op == MDL_OP_ALLTOALL || coll->op == MDL_OP_SENDRECV ? MDL_OVERLAP_PAIRWISE
                            : coll->algo == MDL_ALGO_NVLS || coll->algo == MDL_ALGO_NVLS_TREE   ? MDL_OVERLAP_IN_SWITCH
                                                                                                : MDL_OVERLAP_SM;
  priced->demand = (MdlOverlapComm){ .kind = kind, .channels = coll->cost.channels };
  double time_s = coll->cost.time_s - coll->cost.latency_s;
  if (time_s > 0)
    priced->demand.memory_Bps = mdl_overlap_memory_B (coll->op, kind, coll->size_B, two ? 2 : coll->n_ranks) / time_s;
}

/* What of its capacity a load takes, per byte. */
static double
fullness (const TrnPrices *prices, CluRes res, const ColLoad *load)
{
  return load->load / (load->factor * clu_resource_capacity (prices->model->job->system->clu, res));
}

static double
fullest (const TrnPrices *prices, const ColSpread *spread)
{
  double most = 0;
  for (guint k = 0; k < spread->kinds->len; k++) {
    const ColNodeKind *kind = spread->kinds->pdata[k];
    CluRes first = clu_node_first_resource (prices->model->job->system->clu, kind->first_node);
    for (guint i = 0; i < kind->rows->len; i++) {
      const ColLoad *row = &g_array_index (kind->rows, ColLoad, i);
      most = fmax (most, fullness (prices, first + row->res, row));
    }
  }
  for (guint i = 0; i < spread->outside->len; i++) {
    const ColLoad *row = &g_array_index (spread->outside, ColLoad, i);
    most = fmax (most, fullness (prices, row->res, row));
  }
  return most;
}

/* Time of all together: the slowest group's own, or what the fullest resource needs after the latency. */
static void
settle (const Shape *shape, TrnPriced *priced)
{
  priced->operation = shape->operation;
  priced->time_s =
      fmax (priced->coll.cost.time_s, priced->coll.cost.latency_s + priced->coll.size_B * (shape->most * priced->coll.cost.wire));
}

/* Takes the key; a reference of the spread. */
static const Shape *
keep_shape (TrnPrices *prices, char *key, ColSpread *spread)
{
  const gboolean folds = prices->own != NULL;
  Shape *shape = g_new (Shape, 1);
  *shape = (Shape){ folds ? col_fold_add (prices->fold, spread) : 0, spread, fullest (prices, spread) };
  g_hash_table_insert (prices->shapes, key, shape);
  return shape;
}

/* ---- groups ---- */

/* What makes two groups within islands alike: on which GPUs of equal nodes their ranks are, as far apart. The first node into
 * *node. */
static GBytes *
key_of (TrnPrices *prices, const GArray *ranks, guint32 *node)
{
  const Clu *clu = prices->model->job->system->clu;
  g_autofree guint32 *key = g_new (guint32, 3 * (gsize)ranks->len);
  for (guint i = 0; i < ranks->len; i++) {
    CluDev dev = clu_gpu (clu, gpu_of (prices->model, g_array_index (ranks, guint32, i)));
    guint32 here = clu_dev_node (clu, dev);
    if (i == 0)
      *node = here;
    key[3 * i] = col_routes_colour (prices->routes, here);
    key[3 * i + 1] = here - *node;
    key[3 * i + 2] = clu_dev_index (clu, dev);
  }
  return g_bytes_new (key, 3 * (gsize)ranks->len * sizeof *key);
}

/* Whether the first and the last rank are in one domain, without which the group is in none. */
static gboolean
may_be_local (const TrnModel *model, const GArray *ranks)
{
  const Clu *clu = model->job->system->clu;
  CluDev first = clu_gpu (clu, gpu_of (model, g_array_index (ranks, guint32, 0)));
  CluDev last = clu_gpu (clu, gpu_of (model, g_array_index (ranks, guint32, ranks->len - 1)));
  return clu_domain_of_node (clu, clu_dev_node (clu, first)) == clu_domain_of_node (clu, clu_dev_node (clu, last));
}

static Like *
new_like (const TrnPrices *prices, const GArray *ranks, GError **error)
{
  static const gint64 here = 0;
  g_autoptr (GArray) gpus = g_array_sized_new (FALSE, FALSE, sizeof (guint32), ranks->len);
  for (guint i = 0; i < ranks->len; i++) {
    guint32 gpu = gpu_of (prices->model, g_array_index (ranks, guint32, i));
    g_array_append_val (gpus, gpu);
  }
  ColComm *comm = trn_comms_find (prices->comms, gpus, error);
  if (comm == NULL)
    return NULL;
  Like *like = g_new (Like, 1);
  *like = (Like){ .comm = comm, .shifts = g_array_new (FALSE, FALSE, sizeof (gint64)) };
  g_array_append_val (like->shifts, here);
  return like;
}

/* A group's node and the communicator that may stand for it. */
typedef struct {
  Like *like;
  guint32 node;
} Known;

/* Adds the group of these ranks; to one that is alike, where there is one. */
static gboolean
add_group (TrnPrices *prices, Group *group, const GArray *ranks, GHashTable *known, GError **error)
{
  guint32 node = 0;
  g_autoptr (GBytes) key = may_be_local (prices->model, ranks) ? key_of (prices, ranks, &node) : NULL;
  const Known *same = key != NULL ? g_hash_table_lookup (known, key) : NULL;
  group->n_groups++;
  if (same != NULL) {
    gint64 shift = (gint64)node - same->node;
    g_array_append_val (same->like->shifts, shift);
    return TRUE;
  }
  Like *like = new_like (prices, ranks, error);
  if (like == NULL)
    return FALSE;
  g_ptr_array_add (group->likes, like);
  if (key != NULL && col_comm_is_local (like->comm)) {
    Known *one = g_new (Known, 1);
    *one = (Known){ like, node };
    g_hash_table_insert (known, g_steal_pointer (&key), one);
  }
  return TRUE;
}

/* The same for groups of another grid, whose communicators and their repetitions are equal: they take the same. */
static guint
number_of (const TrnPrices *prices, const Group *group)
{
  g_autoptr (GByteArray) what = g_byte_array_new ();
  for (guint i = 0; i < group->likes->len; i++) {
    const Like *like = group->likes->pdata[i];
    const gint64 n = like->shifts->len;
    g_byte_array_append (what, (const guint8 *)&like->comm, sizeof like->comm);
    g_byte_array_append (what, (const guint8 *)&n, sizeof n);
    g_byte_array_append (what, (const guint8 *)like->shifts->data, (guint)n * (guint)sizeof (gint64));
  }
  return trn_comms_number (prices->comms, g_byte_array_free_to_bytes (g_steal_pointer (&what)));
}

static const Group *
find_group (TrnPrices *prices, TrnGroupKind kind, guint32 pp, GError **error)
{
  const TrnModel *model = prices->model;
  const gint64 key = (gint64)kind << 32 | (gint64)pp;
  Group *group = g_hash_table_lookup (prices->groups, &key);
  if (group != NULL)
    return group;
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32)), leaders = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, g_free);
  guint32 alone = 0;
  if (kind != TRN_GROUP_MODEL && trn_grid_group_size (&model->grid, kind) > 1)
    trn_grid_leaders (&model->grid, kind, leaders);
  else
    g_array_append_val (leaders, alone);
  group = g_new0 (Group, 1);
  group->likes = g_ptr_array_new_with_free_func (free_like);
  g_hash_table_insert (prices->groups, g_memdup2 (&key, sizeof key), group);
  for (guint i = 0; i < leaders->len; i++) {
    trn_grid_group (&model->grid, kind, pp, g_array_index (leaders, guint32, i), ranks);
    if (!add_group (prices, group, ranks, known, error))
      return NULL;
  }
  if (prices->own == NULL)
    group->number = number_of (prices, group);
  return group;
}

/* ---- collectives ---- */

/* As " %u" has it. */
static void
append_number (GString *text, guint number)
{
  char digits[12];
  guint at = sizeof digits;
  do
    digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  digits[--at] = ' ';
  g_string_append_len (text, digits + at, sizeof digits - at);
}

/* Whether its price is that of the first group, which is priced by `algo`. */
static gboolean
is_as_first (const Like *first, Like *like, MdlOp op, MdlAlgo algo)
{
  if (!like->compared)
    like->as_first = col_comm_is_alike (first->comm, like->comm);
  like->compared = TRUE;
  return like->as_first && col_comm_carries_alike (first->comm, like->comm, op, algo);
}

/* The slowest group's price into *out, the algorithms of all behind `key`. `closed`: in closed form. */
static gboolean
price_group (const Group *group, gboolean closed, const ColCollRequest *request, GString *key, ColAnswer *out, GError **error)
{
  MdlAlgo first = MDL_ALGO_AUTO;
  for (guint i = 0; i < group->likes->len; i++) {
    Like *like = group->likes->pdata[i];
    g_auto (ColAnswer) coll = { 0 };
    if (closed && i > 0 && is_as_first (group->likes->pdata[0], like, request->op, first)) {
      append_number (key, (guint)first);
      continue;
    }
    if (!col_coll_price (like->comm, request, &coll, error))
      return FALSE;
    append_number (key, (guint)coll.algo);
    first = i == 0 ? coll.algo : first;
    /* equal groups differ by the last bits of their sums: the first of them is named */
    if (i > 0 && coll.cost.time_s <= out->cost.time_s * (1 + 1e-9))
      continue;
    ColAnswer slower = coll;
    coll = *out;
    *out = slower;
  }
  return TRUE;
}

/* Whether all groups lie together and are repeated on nodes further on that bear nothing else: what they load is the same there. */
static gboolean
repeats (const Group *group, const GPtrArray *spreads)
{
  const GArray *shifts = ((const Like *)group->likes->pdata[0])->shifts;
  guint32 first = G_MAXUINT32, last = 0;
  for (guint i = 0; i < spreads->len; i++) {
    const ColSpread *spread = spreads->pdata[i];
    const GArray *own = ((const Like *)group->likes->pdata[i])->shifts;
    if (spread->outside->len > 0 || own->len != shifts->len || memcmp (own->data, shifts->data, own->len * sizeof (gint64)) != 0)
      return FALSE;
    for (guint k = 0; k < spread->nodes->len; k++) {
      first = MIN (first, g_array_index (spread->nodes, ColNodeOf, k).node);
      last = MAX (last, g_array_index (spread->nodes, ColNodeOf, k).node);
    }
  }
  for (guint k = 1; k < shifts->len; k++)
    if (g_array_index (shifts, gint64, k) - g_array_index (shifts, gint64, k - 1) <= (gint64)last - first)
      return FALSE;
  return shifts->len > 1;
}

/* What closed forms need of a shape: the fullest resource. Takes what is in the scratch. */
static double
take_fullest (const TrnPrices *prices, ColScratch *scratch)
{
  double most = 0;
  for (guint i = 0; i < scratch->touched->len; i++) {
    CluRes res = g_array_index (scratch->touched, CluRes, i);
    const ColLoadSum *sum = &scratch->sum[res];
    const ColLoad load = { .load = sum->load, .factor = sum->load / sum->effort };
    most = fmax (most, fullness (prices, res, &load));
  }
  col_scratch_clear (scratch);
  return most;
}

static const Shape *
shape_of (TrnPrices *prices, const Group *group, const ColCollRequest *request, const GString *key, GError **error)
{
  const Shape *known = g_hash_table_lookup (prices->shapes, key->str);
  if (known != NULL)
    return known;
  g_auto (ColAnswer) coll = { 0 };
  GPtrArray *spreads = g_ptr_array_new ();
  for (guint i = 0; i < group->likes->len; i++) {
    const Like *like = group->likes->pdata[i];
    if (!col_coll_price (like->comm, request, &coll, error)) {
      g_ptr_array_unref (spreads);
      return NULL;
    }
    g_ptr_array_add (spreads, col_spread_ref (coll.spread));
  }
  ColScratch *scratch = col_routes_scratch (prices->routes);
  const gboolean closed = prices->own == NULL, once = closed && repeats (group, spreads);
  for (guint i = 0; i < spreads->len; i++) {
    const Like *like = group->likes->pdata[i];
    for (guint k = 0; k < (once ? 1 : like->shifts->len); k++)
      col_spread_add (spreads->pdata[i], g_array_index (like->shifts, gint64, k), scratch);
    col_spread_unref (spreads->pdata[i]);
  }
  g_ptr_array_unref (spreads);
  if (closed) {
    Shape *shape = g_new (Shape, 1);
    *shape = (Shape){ .most = take_fullest (prices, scratch) };
    g_hash_table_insert (prices->shapes, g_strdup (key->str), shape);
    return shape;
  }
  return keep_shape (prices, g_strdup (key->str), col_spread_take (prices->routes, prices->model->job->system->clu));
}

/* Price and shape of a collective of a group; `key` names the shape. NULL and *error as of either. */
static const Shape *
price_shaped (TrnPrices *prices, const Group *group, const ColCollRequest *request, GString *key, ColAnswer *out, GError **error)
{
  return price_group (group, prices->own == NULL, request, key, out, error) ? shape_of (prices, group, request, key, error) : NULL;
}

const TrnPriced *
trn_prices_coll (TrnPrices *prices, TrnGroupKind kind, guint32 pp, MdlOp op, double size_B, MdlFormat format, GError **error)
{
  const TrnQuestion question = { (gint32)kind, pp, (guint32)op, (gint32)format, size_B };
  TrnPriced *priced = recall (prices, &question);
  if (priced != NULL)
    return priced;
  const Group *group = find_group (prices, kind, pp, error);
  if (group == NULL)
    return NULL;
  const TrnSpec *spec = prices->model->spec; /* of a model always auto */
  const ColCollRequest request = { op, size_B, mdl_format_dtype (format), (MdlAlgo)spec->algo.v, (MdlProto)spec->proto.v, 0 };
  const TrnQuestion there = { (gint32)group->number, 0, (guint32)op, (gint32)format, size_B };
  priced = prices->own == NULL ? trn_comms_recall (prices->comms, &there) : NULL;
  if (priced != NULL) {
    g_hash_table_insert (prices->priced, g_memdup2 (&question, sizeof question), priced);
    return priced;
  }
  priced = new_priced (prices, &question, group->n_groups);
  if (trn_grid_group_size (&prices->model->grid, kind) == 1)
    return priced;
  g_autoptr (GString) key = g_string_new (NULL);
  append_number (key, (guint)kind);
  append_number (key, pp);
  append_number (key, (guint)op);
  const Shape *shape = price_shaped (prices, group, &request, key, &priced->coll, error);
  if (shape == NULL)
    return NULL;
  find_demand (priced, FALSE);
  settle (shape, priced);
  if (prices->own == NULL)
    trn_comms_keep (prices->comms, &there, priced);
  return priced;
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

void
trn_prices_warn (const TrnPrices *prices, ColRunInfo *info)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer question, priced;
  g_hash_table_iter_init (&iter, prices->priced);
  while (g_hash_table_iter_next (&iter, &question, &priced)) {
    const TrnQuestion *q = question;
    const ColAnswer *coll = &((const TrnPriced *)priced)->coll;
    g_autofree char *whose = q->kind >= 0 ? g_strconcat ("the ", trn_group_names[q->kind], NULL) : NULL;
    if (whose != NULL && coll->n_ranks > 1)
      col_window_warnings (&prices->model->job->system->settings, coll, whose, texts);
  }
  g_ptr_array_sort (texts, by_text); /* the table has no order */
  for (guint i = 0; i < texts->len; i++)
    if (i == 0 || strcmp (texts->pdata[i], texts->pdata[i - 1]) != 0)
      col_run_warn (info, "%s", (const char *)texts->pdata[i]);
}

/* ---- experts ---- */

gboolean
trn_prices_can_exchange (TrnPrices *prices, guint32 pp, const ColMoeRequest *request, GError **error)
{
  const Group *group = find_group (prices, TRN_GROUP_EP, pp, error);
  for (guint i = 0; group != NULL && i < group->likes->len; i++) {
    const char *key = NULL;
    GError *why = NULL;
    if (!col_moe_check (((const Like *)group->likes->pdata[i])->comm, request, &key, &why))
      return trn_moe_refuse (prices->model, why, error);
  }
  return group != NULL;
}

/* The slowest group's. */
static gboolean
price_experts (const TrnModel *model, const Group *group, const ColMoeRequest *request, ColMoeAnswer *out, GError **error)
{
  for (guint i = 0; i < group->likes->len; i++) {
    const Like *like = group->likes->pdata[i];
    const char *key = NULL;
    GError *why = NULL;
    ColMoeAnswer answer;
    if (!col_moe_price (like->comm, request, &answer, &key, &why))
      return trn_moe_refuse (model, why, error);
    if (i == 0 || answer.time_s > out->time_s * (1 + 1e-9))
      *out = answer;
  }
  return TRUE;
}

const TrnPriced *
trn_prices_experts (TrnPrices *prices, guint32 pp, const MdlWorkColl *work, GError **error)
{
  const TrnModel *model = prices->model;
  const TrnQuestion question = { -2 - (gint32)work->moe_op, pp, 0, (gint32)work->format, work->moe_tokens };
  TrnPriced *priced = recall (prices, &question);
  if (priced != NULL)
    return priced;
  const Group *group = find_group (prices, TRN_GROUP_EP, pp, error);
  if (group == NULL)
    return NULL;
  const ColMoeRequest asked = trn_moe_request (model, work);
  ColMoeAnswer answer;
  if (!price_experts (model, group, &asked, &answer, error))
    return NULL;
  priced = new_priced (prices, &question, group->n_groups);
  const ColCollRequest request = { MDL_OP_ALLTOALL, trn_moe_size_alike (&answer.cost, answer.n_ranks, answer.n_nodes),
                                   MDL_DTYPE_INT8,  MDL_ALGO_AUTO,
                                   MDL_PROTO_AUTO,  0 };
  g_autoptr (GString) key = g_string_new (NULL);
  append_number (key, (guint)TRN_GROUP_EP);
  append_number (key, pp);
  append_number (key, (guint)MDL_OP_ALLTOALL);
  const Shape *shape = price_shaped (prices, group, &request, key, &priced->coll, error);
  if (shape == NULL)
    return NULL;
  trn_moe_take (&answer, &priced->coll);
  priced->does = "dispatch, combine";
  priced->library = base_name (mdl_dispatcher_names, (int)model->query.dispatcher);
  find_demand (priced, FALSE);
  settle (shape, priced);
  return priced;
}

const TrnPriced *
trn_prices_send (TrnPrices *prices, guint32 from, guint32 to, double size_B, GError **error)
{
  const TrnModel *model = prices->model;
  const TrnQuestion question = { -1, from, to, 0, size_B };
  TrnPriced *priced = recall (prices, &question);
  if (priced != NULL)
    return priced;
  guint32 n = trn_grid_locals (&model->grid);
  g_autoptr (GArray) ends = g_array_sized_new (FALSE, FALSE, sizeof (guint32), 2 * n);
  for (guint32 i = 0; i < 2 * n; i++) {
    guint32 gpu = gpu_of (model, trn_grid_rank (&model->grid, i < n ? from : to, i < n ? i : i - n));
    g_array_append_val (ends, gpu);
  }
  priced = new_priced (prices, &question, n);
  const ColSendPairs *pairs = trn_comms_pairs (prices->comms, ends, error);
  if (pairs == NULL || !col_send_pairs_price (pairs, size_B, &priced->coll, error))
    return NULL;
  g_autofree char *key = g_strdup_printf ("send %u %u", from, to);
  const Shape *shape = g_hash_table_lookup (prices->shapes, key);
  if (shape == NULL)
    shape = keep_shape (prices, g_steal_pointer (&key), col_spread_ref (priced->coll.spread));
  find_demand (priced, TRUE);
  settle (shape, priced);
  return priced;
}

/* ---- copies with hosts ---- */

const TrnPriced *
trn_prices_host (TrnPrices *prices, guint32 pp, TrnHostCopy way, double size_B, GError **error)
{
  const TrnQuestion question = { HOST_COPIES, pp, way, 0, size_B };
  TrnPriced *priced = recall (prices, &question);
  if (priced != NULL)
    return priced;
  g_autoptr (GPtrArray) copies = trn_host_copies (prices->model, pp, way, size_B, error);
  if (copies == NULL)
    return NULL;
  priced = new_priced (prices, &question, copies->len);
  priced->coll = (ColAnswer){ .op = MDL_OP_SENDRECV, .size_B = size_B, .n_ranks = 2, .n_nodes = 1 };
  priced->does = "copy";
  priced->library = "copy engine";
  ColScratch *scratch = col_routes_scratch (prices->routes);
  const StoCopy *slowest = copies->pdata[0];
  for (guint i = 0; i < copies->len; i++) {
    const StoCopy *copy = copies->pdata[i];
    slowest = copy->time_s > slowest->time_s ? copy : slowest;
    for (guint k = 0; k < copy->uses->len; k++) {
      const CluUse *use = &g_array_index (copy->uses, CluUse, k);
      if (use->res != CLU_NONE)
        col_scratch_add (scratch, use->res, use->share, 1);
    }
  }
  priced->coll.cost = slowest->cost;
  priced->coll.cost.wire = 1;
  priced->coll.provenance = slowest->cost.source;
  g_strlcpy (priced->coll.bound_by, "host", sizeof priced->coll.bound_by);
  g_autofree char *key = g_strdup_printf ("host %u %d", pp, (int)way);
  ColSpread *spread = col_spread_take (prices->routes, prices->model->job->system->clu);
  const Shape *shape = g_hash_table_lookup (prices->shapes, key);
  if (shape == NULL)
    shape = keep_shape (prices, g_steal_pointer (&key), col_spread_ref (spread));
  col_spread_unref (spread);
  settle (shape, priced);
  priced->demand = (MdlOverlapComm){ .kind = MDL_OVERLAP_COPY_ENGINE, .memory_Bps = size_B / priced->time_s };
  return priced;
}
