#include "net-private.h"

#include <math.h>
#include <string.h>

struct WrkNet {
  const Clu *clu;
  Eng *eng;
  GHashTable *link_of; /* CluRes + 1 -> EngLink + 1 */
  GArray *res;         /* CluRes of each link */
};

WrkNet *
wrk_net_new (const Clu *clu)
{
  WrkNet *net = g_new0 (WrkNet, 1);
  net->clu = clu;
  net->eng = eng_new ();
  net->link_of = g_hash_table_new (NULL, NULL);
  net->res = g_array_new (FALSE, FALSE, sizeof (CluRes));
  return net;
}

void
wrk_net_free (WrkNet *net)
{
  if (net == NULL)
    return;
  eng_free (net->eng);
  g_hash_table_unref (net->link_of);
  g_array_unref (net->res);
  g_free (net);
}

Eng *
wrk_net_engine (WrkNet *net)
{
  return net->eng;
}

EngLink
wrk_net_link (WrkNet *net, CluRes res)
{
  gpointer key = GUINT_TO_POINTER (res + 1u), known = g_hash_table_lookup (net->link_of, key);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1u;
  EngLink link = eng_link_new (net->eng, clu_resource_capacity (net->clu, res));
  g_hash_table_insert (net->link_of, key, GUINT_TO_POINTER (link + 1u));
  g_array_append_val (net->res, res);
  return link;
}

const GArray *
wrk_net_resources (const WrkNet *net)
{
  return net->res;
}

void
wrk_net_coll_flow (WrkNet *net, const WrkColl *coll, GArray *uses, EngFlowSpec *spec)
{
  g_array_set_size (uses, 0);
  for (guint i = 0; i < coll->loads->len; i++) {
    const WrkLoad *load = &g_array_index (coll->loads, WrkLoad, i);
    EngUse use = { wrk_net_link (net, load->res), load->load * coll->cost.wire / load->factor };
    g_array_append_val (uses, use);
  }
  memset (spec, 0, sizeof *spec);
  spec->amount = coll->size_B;
  spec->bound_per_s = coll->cost.bound_Bps;
  spec->latency = eng_time_from_s (coll->cost.latency_s);
  spec->uses = (const EngUse *)(const void *)uses->data;
  spec->n_uses = uses->len;
}
