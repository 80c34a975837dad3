/* What the communication of a step takes: each kind of group on each pipeline rank priced once for each size.
 *
 * Groups of the same kind do the same at the same time: tensor-parallel groups of a node, the data-parallel groups of each tensor
 * rank. Their traffic is added to that of the group that stands for them, on whatever they share. Groups that never leave a node
 * count those of the same node alone. With `fold`, of loads that are alike one stands for all: the network keeps, of each class of
 * links, the fullest, and whatever the ranks that stand for a pipeline rank use themselves. */
#include <math.h>
#include <string.h>

#include "comm-private.h"
#include "model-private.h"
#include "send-private.h"

/* Of a group, with its likes; made once, priced for many sizes. */
typedef struct {
  WrkComm *comm;
  GPtrArray *likes; /* WrkComm, the others */
} Group;

struct WrkPrices {
  const WrkModel *model;
  WrkSettings settings; /* closed form: flows run in the step */
  gboolean fold;
  GHashTable *own;    /* CluRes + 1: used by the ranks that stand for others; NULL: not folded */
  GHashTable *groups; /* text of (kind, pp) -> Group */
  GHashTable *priced; /* text of the question -> WrkPriced */
};

static void
free_group (gpointer data)
{
  Group *group = data;
  wrk_comm_free (group->comm);
  g_ptr_array_unref (group->likes);
  g_free (group);
}

static void
free_comm (gpointer comm)
{
  wrk_comm_free (comm);
}

static void
free_priced (gpointer data)
{
  WrkPriced *priced = data;
  wrk_coll_clear (&priced->coll);
  g_array_unref (priced->all);
  g_array_unref (priced->loads);
  g_free (priced);
}

WrkPrices *
wrk_prices_new (const WrkModel *model, gboolean fold)
{
  WrkPrices *prices = g_new0 (WrkPrices, 1);
  prices->model = model;
  prices->settings = model->scenario->settings;
  prices->settings.mode = WRK_MODE_MODEL;
  prices->fold = fold;
  prices->groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_group);
  prices->priced = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_priced);
  return prices;
}

void
wrk_prices_free (WrkPrices *prices)
{
  if (prices == NULL)
    return;
  g_hash_table_unref (prices->priced);
  g_hash_table_unref (prices->groups);
  g_clear_pointer (&prices->own, g_hash_table_unref);
  g_free (prices);
}

static guint32
gpu_of (const WrkModel *model, guint32 rank)
{
  return g_array_index (model->scenario->gpus, guint32, rank);
}

static guint32
node_of (const WrkModel *model, guint32 rank)
{
  return clu_dev_node (model->scenario->clu, clu_gpu (model->scenario->clu, gpu_of (model, rank)));
}

/* ---- what the ranks that stand for others use themselves ---- */

static gboolean
note_route (WrkPrices *prices, guint32 from, guint32 to, CluRoute *route, GError **error)
{
  const WrkModel *model = prices->model;
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = prices->settings.degrade;
  guint32 a = gpu_of (model, from), b = gpu_of (model, to);
  options.flow = ((guint64)a << 32) | b;
  if (a == b)
    return TRUE;
  if (!clu_route_find (model->scenario->clu, clu_gpu (model->scenario->clu, a), clu_gpu (model->scenario->clu, b), &options, route,
                       error))
    return FALSE;
  for (guint i = 0; i < route->uses->len; i++)
    g_hash_table_add (prices->own, GUINT_TO_POINTER (g_array_index (route->uses, CluUse, i).res + 1u));
  return TRUE;
}

/* Routes of the first rank of each pipeline rank to the neighbours that it talks to. */
static gboolean
note_own (WrkPrices *prices, GError **error)
{
  const WrkGrid *grid = &prices->model->grid;
  static const WrkGroupKind kinds[] = { WRK_GROUP_TP, WRK_GROUP_CP, WRK_GROUP_EP, WRK_GROUP_DP, WRK_GROUP_EDP };
  g_auto (CluRoute) route;
  clu_route_init (&route);
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  prices->own = g_hash_table_new (NULL, NULL);
  for (guint32 p = 0; p < grid->size[WRK_DIM_PP]; p++) {
    guint32 first = wrk_grid_rank (grid, p, 0), next = wrk_grid_rank (grid, (p + 1) % grid->size[WRK_DIM_PP], 0);
    if (!note_route (prices, first, next, &route, error) || !note_route (prices, next, first, &route, error))
      return FALSE;
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      wrk_grid_group (grid, kinds[k], p, 0, ranks);
      guint32 ends[2] = { g_array_index (ranks, guint32, ranks->len > 1 ? 1 : 0), g_array_index (ranks, guint32, ranks->len - 1) };
      for (guint e = 0; e < 2; e++)
        if (!note_route (prices, first, ends[e], &route, error) || !note_route (prices, ends[e], first, &route, error))
          return FALSE;
    }
  }
  return TRUE;
}

/* ---- loads ---- */

static gint
compare_loads (gconstpointer a, gconstpointer b)
{
  CluRes x = ((const WrkLoad *)a)->res, y = ((const WrkLoad *)b)->res;
  return x < y ? -1 : x > y;
}

static void
add_loads (GHashTable *at, GArray *sum, const GArray *loads)
{
  for (guint i = 0; i < loads->len; i++) {
    const WrkLoad *load = &g_array_index (loads, WrkLoad, i);
    gpointer known = g_hash_table_lookup (at, GUINT_TO_POINTER (load->res + 1u));
    if (known != NULL) {
      g_array_index (sum, WrkLoad, GPOINTER_TO_UINT (known) - 1u).load += load->load;
      continue;
    }
    g_array_append_vals (sum, load, 1);
    g_hash_table_insert (at, GUINT_TO_POINTER (load->res + 1u), GUINT_TO_POINTER (sum->len));
  }
}

/* What of its capacity a load takes, per byte. */
static double
fullness (const WrkPrices *prices, const WrkLoad *load)
{
  return load->load / (load->factor * clu_resource_capacity (prices->model->scenario->clu, load->res));
}

/* Leaves the first of each class of links, the fullest, and what the ranks that stand for others use. */
static void
fold_loads (const WrkPrices *prices, GArray *loads)
{
  const Clu *clu = prices->model->scenario->clu;
  g_autoptr (GHashTable) fullest = g_hash_table_new (g_str_hash, g_str_equal); /* class -> place + 1 */
  g_autofree gboolean *keep = g_new0 (gboolean, MAX (loads->len, 1));
  for (guint i = 0; i < loads->len; i++) {
    const WrkLoad *load = &g_array_index (loads, WrkLoad, i);
    const char *link_class = clu_resource_class (clu, load->res);
    gpointer known = g_hash_table_lookup (fullest, link_class);
    keep[i] = known == NULL || g_hash_table_contains (prices->own, GUINT_TO_POINTER (load->res + 1u));
    /* equal ones differ by the rounding of their sums */
    if (known == NULL ||
        fullness (prices, load) > fullness (prices, &g_array_index (loads, WrkLoad, GPOINTER_TO_UINT (known) - 1u)) * (1 + 1e-9))
      g_hash_table_replace (fullest, (gpointer)link_class, GUINT_TO_POINTER (i + 1u));
  }
  GHashTableIter iter;
  gpointer place;
  g_hash_table_iter_init (&iter, fullest);
  while (g_hash_table_iter_next (&iter, NULL, &place))
    keep[GPOINTER_TO_UINT (place) - 1u] = TRUE;
  guint n = 0;
  for (guint i = 0; i < loads->len; i++)
    if (keep[i])
      g_array_index (loads, WrkLoad, n++) = g_array_index (loads, WrkLoad, i);
  g_array_set_size (loads, n);
}

/* What it asks of a GPU while its bytes pass: after its latency. Others slow it by so much a byte. */
static void
find_demand (WrkPriced *priced, gboolean two)
{
  const WrkColl *coll = &priced->coll;
  MdlOverlapCommKind kind = two || coll->op == MDL_OP_ALLTOALL || coll->op == MDL_OP_SENDRECV ? MDL_OVERLAP_PAIRWISE
                            : coll->algo == MDL_ALGO_NVLS || coll->algo == MDL_ALGO_NVLS_TREE ? MDL_OVERLAP_IN_SWITCH
                                                                                              : MDL_OVERLAP_SM;
  priced->demand = (MdlOverlapComm){ .kind = kind, .channels = coll->cost.channels };
  double time_s = coll->cost.time_s - coll->cost.latency_s;
  if (time_s > 0)
    priced->demand.memory_Bps = mdl_overlap_memory_B (coll->op, kind, coll->size_B, two ? 2 : coll->n_ranks) / time_s;
}

/* Time of all together: the group's own, or what the fullest resource needs after the latency. */
static void
settle (const WrkPrices *prices, WrkPriced *priced)
{
  double rate_Bps = HUGE_VAL;
  g_array_sort (priced->all, compare_loads);
  for (guint i = 0; i < priced->all->len; i++)
    rate_Bps = fmin (rate_Bps, 1 / (fullness (prices, &g_array_index (priced->all, WrkLoad, i)) * priced->coll.cost.wire));
  priced->time_s = fmax (priced->coll.cost.time_s, priced->coll.cost.latency_s + priced->coll.size_B / rate_Bps);
  g_array_append_vals (priced->loads, priced->all->data, priced->all->len);
  if (prices->fold)
    fold_loads (prices, priced->loads);
}

/* ---- collectives ---- */

static WrkComm *
open_comm (const WrkPrices *prices, const GArray *ranks, GError **error)
{
  g_autofree guint32 *gpus = g_new (guint32, ranks->len);
  for (guint i = 0; i < ranks->len; i++)
    gpus[i] = gpu_of (prices->model, g_array_index (ranks, guint32, i));
  return wrk_comm_new (prices->model->scenario->clu, &prices->settings, gpus, ranks->len, error);
}

static gboolean
shares_node (const WrkModel *model, const GArray *ranks, guint32 node)
{
  for (guint i = 0; i < ranks->len; i++)
    if (node_of (model, g_array_index (ranks, guint32, i)) == node)
      return TRUE;
  return FALSE;
}

static const Group *
find_group (WrkPrices *prices, WrkGroupKind kind, guint32 pp, GError **error)
{
  const WrkModel *model = prices->model;
  g_autofree char *key = g_strdup_printf ("%d %u", (int)kind, pp);
  Group *group = g_hash_table_lookup (prices->groups, key);
  if (group != NULL)
    return group;
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32)), leaders = g_array_new (FALSE, FALSE, sizeof (guint32));
  wrk_grid_group (&model->grid, kind, pp, 0, ranks);
  g_autoptr (WrkComm) comm = open_comm (prices, ranks, error);
  if (comm == NULL)
    return NULL;
  guint32 node = node_of (model, g_array_index (ranks, guint32, 0));
  gboolean local = wrk_comm_is_local (comm);
  group = g_new0 (Group, 1);
  group->comm = g_steal_pointer (&comm);
  group->likes = g_ptr_array_new_with_free_func (free_comm);
  g_hash_table_insert (prices->groups, g_steal_pointer (&key), group);
  if (kind != WRK_GROUP_MODEL && ranks->len > 1)
    wrk_grid_leaders (&model->grid, kind, leaders);
  for (guint i = 1; i < leaders->len; i++) {
    wrk_grid_group (&model->grid, kind, pp, g_array_index (leaders, guint32, i), ranks);
    if (local && !shares_node (model, ranks, node))
      continue;
    WrkComm *like = open_comm (prices, ranks, error);
    if (like == NULL)
      return NULL;
    g_ptr_array_add (group->likes, like);
  }
  return group;
}

const WrkPriced *
wrk_prices_coll (WrkPrices *prices, WrkGroupKind kind, guint32 pp, MdlOp op, double size_B, MdlFormat format, GError **error)
{
  g_autofree char *key = g_strdup_printf ("%d %u %d %.17g %d", (int)kind, pp, (int)op, size_B, (int)format);
  WrkPriced *priced = g_hash_table_lookup (prices->priced, key);
  if (priced != NULL)
    return priced;
  if (prices->fold && prices->own == NULL && !note_own (prices, error))
    return NULL;
  const Group *group = find_group (prices, kind, pp, error);
  if (group == NULL)
    return NULL;
  const WrkCollRequest request = { op, size_B, mdl_format_dtype (format), MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 };
  priced = g_new0 (WrkPriced, 1);
  priced->all = g_array_new (FALSE, FALSE, sizeof (WrkLoad));
  priced->loads = g_array_new (FALSE, FALSE, sizeof (WrkLoad));
  priced->n_groups = 1 + group->likes->len;
  g_hash_table_insert (prices->priced, g_steal_pointer (&key), priced);
  if (wrk_comm_n_ranks (group->comm) == 1)
    return priced;
  if (!wrk_coll_price (group->comm, &request, &priced->coll, error))
    return NULL;
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL);
  add_loads (at, priced->all, priced->coll.loads);
  g_auto (WrkColl) like = { 0 };
  for (guint i = 0; i < group->likes->len; i++) {
    if (!wrk_coll_price (group->likes->pdata[i], &request, &like, error))
      return NULL;
    add_loads (at, priced->all, like.loads);
  }
  find_demand (priced, FALSE);
  settle (prices, priced);
  return priced;
}

const WrkPriced *
wrk_prices_send (WrkPrices *prices, guint32 from, guint32 to, double size_B, GError **error)
{
  const WrkModel *model = prices->model;
  g_autofree char *key = g_strdup_printf ("send %u %u %.17g", from, to, size_B);
  WrkPriced *priced = g_hash_table_lookup (prices->priced, key);
  if (priced != NULL)
    return priced;
  if (prices->fold && prices->own == NULL && !note_own (prices, error))
    return NULL;
  guint32 n = wrk_grid_locals (&model->grid);
  g_autofree guint32 *ends = g_new (guint32, 2 * (gsize)n);
  for (guint32 i = 0; i < n; i++) {
    ends[i] = gpu_of (model, wrk_grid_rank (&model->grid, from, i));
    ends[n + i] = gpu_of (model, wrk_grid_rank (&model->grid, to, i));
  }
  priced = g_new0 (WrkPriced, 1);
  priced->all = g_array_new (FALSE, FALSE, sizeof (WrkLoad));
  priced->loads = g_array_new (FALSE, FALSE, sizeof (WrkLoad));
  priced->n_groups = n;
  g_hash_table_insert (prices->priced, g_steal_pointer (&key), priced);
  if (!wrk_send_price (model->scenario->clu, &prices->settings, ends, ends + n, n, size_B, &priced->coll, error))
    return NULL;
  g_array_append_vals (priced->all, priced->coll.loads->data, priced->coll.loads->len);
  find_demand (priced, TRUE);
  settle (prices, priced);
  return priced;
}
