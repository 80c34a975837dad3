/* Prices of a collective by message size, on each number of nodes. */
#include "api/coll.h"
#include "api/values.h"
#include "base/progress.h"
#include "collective/possible.h"

ColCollRequest
fr_coll_request (const FrCollQuery *query, double size_B)
{
  return (ColCollRequest){
    .op = query->op, .size_B = size_B, .dtype = query->dtype, .algo = query->algo, .proto = query->proto, .root = query->root
  };
}

gboolean
fr_ranks_open (const ScnHost *host, const FrCollQuery *query, guint32 nodes, ScnRanks *out, GError **error)
{
  g_autofree char *who = query->verb != NULL ? g_strdup_printf ("forerun %s: ", query->verb) : g_strdup ("");
  const ScnRanksQuery ranks = { .topology = query->topology,
                                .sets = query->sets,
                                .gpus = query->gpus,
                                .root = query->root,
                                .plain = query->plain,
                                .calibration = query->calibration,
                                .settings = &query->settings,
                                .who = who };
  return scn_ranks_open (host, &ranks, nodes, out, error);
}

/* Passes an error on with the verb before it. Takes `why`. */
static gboolean
fail (const FrCollQuery *query, GError *why, GError **error)
{
  if (query->verb != NULL)
    g_prefix_error (&why, "forerun %s: ", query->verb);
  g_propagate_error (error, why);
  return FALSE;
}

/* What has been priced so far, of all numbers of nodes. */
typedef struct {
  guint n_rows;
  gboolean no_framework; /* the framework that was named can serve at none of these numbers of nodes */
} Progress;

/* A framework's kernels where they cannot run: NCCL serves there, if they can run on other numbers of nodes. */
static gboolean
check_framework (const ScnHost *host, const FrCollQuery *query, ScnRanks *ranks, const ColAnswer *coll, Progress *progress,
                 GError **error)
{
  g_autofree char *text = col_one_shot_why_not (ranks->comm, coll);
  g_autofree char *prefix = base_mark_prefix (query->settings.one_shot_mark);
  progress->no_framework = progress->no_framework && text != NULL;
  if (text == NULL)
    return TRUE;
  if (query->n_nodes == 1 || (progress->no_framework && query->nodes[query->n_nodes - 1] == ranks->n_nodes))
    return fr_fail_of (query->verb, error, "%s%s; leave it out", prefix, text);
  g_ptr_array_add (host->warnings, g_strconcat (prefix, text, NULL));
  return TRUE;
}

/* One size. */
static gboolean
price_size (const ScnHost *host, const FrCollQuery *query, ScnRanks *ranks, guint64 size_B, Progress *progress, ColAnswer *coll,
            GError **error)
{
  const ColCollRequest request = fr_coll_request (query, (double)size_B);
  GError *why = NULL;
  if (!col_coll_price (ranks->comm, &request, coll, &why))
    return fail (query, why, error);
  if (!check_framework (host, query, ranks, coll, progress, error))
    return FALSE;
  if (++progress->n_rows > SCN_MAX_ROWS)
    return fr_fail_of (query->verb, error, "more than %u rows; ask for fewer sizes or fewer node counts", SCN_MAX_ROWS);
  col_comm_switch_warnings (ranks->comm, coll, host->warnings);
  return TRUE;
}

/* One number of nodes. */
static gboolean
price_ranks (const ScnHost *host, const FrCollQuery *query, const ScnSizes *sizes, ScnRanks *ranks, const FrCollSink *sink,
             Progress *progress, GError **error)
{
  g_autoptr (GArray) list = scn_sizes_list (sizes, query->op, mdl_dtype_size_B (query->dtype), ranks->n);
  g_auto (ColAnswer) coll = { 0 };
  const gboolean counts = list->len > 1 && base_progress_begin ("sizes", list->len, 0); /* one size may count within itself */
  gboolean good = TRUE;
  for (guint i = 0; i < list->len && good; i++) {
    good = price_size (host, query, ranks, g_array_index (list, guint64, i), progress, &coll, error);
    if (good)
      sink->row (sink->user, &coll, i, list->len);
    if (counts)
      base_progress_step ();
  }
  if (counts)
    base_progress_end ();
  return good;
}

gboolean
fr_coll_price (const ScnHost *host, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink, GError **error)
{
  Progress progress = { 0, TRUE };
  for (guint i = 0; i < query->n_nodes; i++) {
    g_auto (ScnRanks) ranks = { 0 };
    if (!fr_ranks_open (host, query, query->nodes[i], &ranks, error))
      return FALSE;
    if (sink->begin != NULL)
      sink->begin (sink->user, &ranks);
    if (!price_ranks (host, query, sizes, &ranks, sink, &progress, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- all algorithms ---- */

static gboolean
compare_ranks (const ScnHost *host, const FrCollQuery *query, guint32 nodes, const FrCollSink *sink, StdCompare *compare,
               GError **error)
{
  const StdCompareQuery of = { .like = fr_coll_request (query, 0),
                               .disabled_algos = query->settings.disabled_algos,
                               .as_shipped = !query->in_network };
  g_auto (ScnRanks) ranks = { 0 };
  GError *why = NULL;
  if (!fr_ranks_open (host, query, nodes, &ranks, error))
    return FALSE;
  if (!std_compare_price (compare, &of, ranks.comm, &why))
    return fail (query, why, error);
  if (ranks.n > 1 && sink->begin != NULL)
    sink->begin (sink->user, &ranks);
  return TRUE;
}

StdCompare *
fr_coll_compare_all (const ScnHost *host, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink, GError **error)
{
  g_autoptr (StdCompare) compare = std_compare_new (query->op);
  g_array_unref (compare->sizes);
  compare->sizes = scn_sizes_list (sizes, MDL_OP_ALL_REDUCE, mdl_dtype_size_B (query->dtype), 1); /* each column rounds further */
  compare->max_B = g_array_index (compare->sizes, guint64, compare->sizes->len - 1);
  for (guint i = 0; i < query->n_nodes; i++)
    if (!compare_ranks (host, query, query->nodes[i], sink, compare, error))
      return NULL;
  std_compare_end (compare);
  if (compare->columns->len > 0)
    return g_steal_pointer (&compare);
  fr_fail_of (query->verb, error, "one rank has nobody to talk to, and nothing to compare; take more with -n or -g");
  return NULL;
}

GPtrArray *
fr_compare_warnings (const StdCompare *compare)
{
  GPtrArray *warnings = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < compare->left_out->len; i++)
    g_ptr_array_add (warnings, g_strconcat ("left out: ", compare->left_out->pdata[i], NULL));
  return warnings;
}
