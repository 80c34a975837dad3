#include "net-private.h"

#include <math.h>
#include <string.h>

struct WrkNet {
  const Clu *clu;
  Eng *eng;
  guint32 *link_of;    /* by resource: EngLink + 1; 0: none yet */
  GArray *res;         /* CluRes of each link */
  GArray *count;       /* WrkNetCount of each link */
};

WrkNet *
wrk_net_new (const Clu *clu)
{
  WrkNet *net = g_new0 (WrkNet, 1);
  net->clu = clu;
  net->eng = eng_new ();
  net->link_of = g_new0 (guint32, clu_n_resources (clu));
  net->res = g_array_new (FALSE, FALSE, sizeof (CluRes));
  net->count = g_array_new (FALSE, TRUE, sizeof (WrkNetCount));
  return net;
}

void
wrk_net_free (WrkNet *net)
{
  if (net == NULL)
    return;
  eng_free (net->eng);
  g_free (net->link_of);
  g_array_unref (net->res);
  g_array_unref (net->count);
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
  if (net->link_of[res] != 0)
    return net->link_of[res] - 1u;
  EngLink link = eng_link_new (net->eng, clu_resource_capacity (net->clu, res));
  net->link_of[res] = link + 1u;
  g_array_append_val (net->res, res);
  g_array_set_size (net->count, net->res->len);
  return link;
}

const GArray *
wrk_net_resources (const WrkNet *net)
{
  return net->res;
}

void
wrk_net_count (WrkNet *net, CluRes res, double bytes, double factor, guint32 n)
{
  EngLink link = wrk_net_link (net, res);
  WrkNetCount *count = &g_array_index (net->count, WrkNetCount, link);
  count->n = n;
  count->bytes += bytes;
  count->effort_B += bytes / factor;
}

void
wrk_net_count_coll (WrkNet *net, const WrkColl *coll, double times)
{
  for (guint i = 0; i < coll->alike->len; i++) {
    const WrkLoad *load = &g_array_index (coll->alike, WrkLoad, i);
    wrk_net_count (net, load->res, coll->size_B * load->load * coll->cost.wire * times, load->factor, load->n);
  }
}

WrkNetCount
wrk_net_counted (const WrkNet *net, EngLink link)
{
  return g_array_index (net->count, WrkNetCount, link);
}

void
wrk_net_coll_flow (WrkNet *net, const WrkColl *coll, GArray *uses, EngFlowSpec *spec)
{
  g_array_set_size (uses, 0);
  for (guint i = 0; i < coll->alike->len; i++) {
    const WrkLoad *load = &g_array_index (coll->alike, WrkLoad, i);
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
