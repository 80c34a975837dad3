/* Prices of a collective by message size, on each number of nodes. */
#include "api/coll.h"
#include "api/values.h"

ColCollRequest
fr_coll_request (const FrCollAsk *ask, double size_B)
{
  return (ColCollRequest){
    .op = ask->op, .size_B = size_B, .dtype = ask->dtype, .algo = ask->algo, .proto = ask->proto, .root = ask->root
  };
}

gboolean
fr_ranks_open (const ScnHost *host, const FrCollAsk *ask, guint32 nodes, ScnRanks *out, GError **error)
{
  g_autofree char *who = ask->verb != NULL ? g_strdup_printf ("forerun %s: ", ask->verb) : g_strdup ("");
  const ScnRanksAsk ranks = { .topology = ask->topology,
                              .sets = ask->sets,
                              .gpus = ask->gpus,
                              .root = ask->root,
                              .plain = ask->plain,
                              .calibration = ask->calibration,
                              .settings = &ask->settings,
                              .who = who };
  return scn_ranks_open (host, &ranks, nodes, out, error);
}

/* One number of nodes. *n_rows: so far, of all. */
static gboolean
price_ranks (const ScnHost *host, const FrCollAsk *ask, const ScnSizes *sizes, ScnRanks *ranks, const FrCollSink *sink,
             guint *n_rows, GError **error)
{
  g_autoptr (GArray) list = scn_sizes_list (sizes, ask->op, mdl_dtype_size_B (ask->dtype), ranks->n);
  g_auto (ColAnswer) coll = { 0 };
  for (guint i = 0; i < list->len; i++) {
    const ColCollRequest request = fr_coll_request (ask, (double)g_array_index (list, guint64, i));
    GError *why = NULL;
    if (!col_coll_price (ranks->comm, &request, &coll, &why)) {
      if (ask->verb != NULL)
        g_prefix_error (&why, "forerun %s: ", ask->verb);
      g_propagate_error (error, why);
      return FALSE;
    }
    if (++*n_rows > SCN_MAX_ROWS)
      return fr_fail_of (ask->verb, error, "more than %u rows; ask for fewer sizes or fewer node counts", SCN_MAX_ROWS);
    col_comm_switch_warnings (ranks->comm, &coll, host->warnings);
    sink->row (sink->user, &coll, i, list->len);
  }
  return TRUE;
}

gboolean
fr_coll_price (const ScnHost *host, const FrCollAsk *ask, const ScnSizes *sizes, const FrCollSink *sink, GError **error)
{
  guint n_rows = 0;
  for (guint i = 0; i < ask->n_nodes; i++) {
    g_auto (ScnRanks) ranks = { 0 };
    if (!fr_ranks_open (host, ask, ask->nodes[i], &ranks, error))
      return FALSE;
    if (sink->begin != NULL)
      sink->begin (sink->user, &ranks);
    if (!price_ranks (host, ask, sizes, &ranks, sink, &n_rows, error))
      return FALSE;
  }
  return TRUE;
}
