#include "collective/net.h"

#include <math.h>
#include <string.h>

struct ColNet {
  const Clu *clu;
  Eng *eng;
  guint32 *slot_of;  /* by resource: its place in the arrays + 1; 0: none yet */
  GArray *res;       /* CluRes, in the order of first use */
  GArray *link;      /* EngLink of each */
  GArray *count;     /* ColNetCount of each */
  GHashTable *other; /* kind and number of a link of no resource: guint64 -> EngLink + 1 */
};

ColNet *
col_net_new (const Clu *clu)
{
  ColNet *net = g_new0 (ColNet, 1);
  net->clu = clu;
  net->eng = eng_new ();
  net->slot_of = g_new0 (guint32, clu_n_resources (clu));
  net->res = g_array_new (FALSE, FALSE, sizeof (CluRes));
  net->link = g_array_new (FALSE, FALSE, sizeof (EngLink));
  net->count = g_array_new (FALSE, TRUE, sizeof (ColNetCount));
  net->other = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return net;
}

void
col_net_free (ColNet *net)
{
  if (net == NULL)
    return;
  eng_free (net->eng);
  g_free (net->slot_of);
  g_array_unref (net->res);
  g_array_unref (net->link);
  g_array_unref (net->count);
  g_hash_table_unref (net->other);
  g_free (net);
}

Eng *
col_net_engine (ColNet *net)
{
  return net->eng;
}

/* Its place in the arrays, made when first asked for. */
static guint32
slot (ColNet *net, CluRes res)
{
  if (net->slot_of[res] != 0)
    return net->slot_of[res] - 1u;
  EngLink link = eng_link_new (net->eng, clu_resource_capacity (net->clu, res));
  g_array_append_val (net->res, res);
  g_array_append_val (net->link, link);
  g_array_set_size (net->count, net->res->len);
  net->slot_of[res] = net->res->len;
  return net->res->len - 1;
}

EngLink
col_net_link (ColNet *net, CluRes res)
{
  guint32 at = slot (net, res);
  return g_array_index (net->link, EngLink, at);
}

EngLink
col_net_other (ColNet *net, ColNetOther kind, guint32 number, double capacity)
{
  guint64 key = (guint64)kind << 32 | number;
  gpointer known = g_hash_table_lookup (net->other, &key);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1u;
  EngLink link = eng_link_new (net->eng, capacity);
  g_hash_table_insert (net->other, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (link + 1u));
  return link;
}

const GArray *
col_net_resources (const ColNet *net)
{
  return net->res;
}

void
col_net_count (ColNet *net, CluRes res, double bytes, double factor, guint32 n)
{
  guint32 at = slot (net, res);
  ColNetCount *count = &g_array_index (net->count, ColNetCount, at);
  count->n = n;
  count->bytes += bytes;
  count->effort_B += bytes / factor;
}

void
col_net_count_coll (ColNet *net, const ColAnswer *coll, double times)
{
  for (guint i = 0; i < coll->alike->len; i++) {
    const ColLoad *load = &g_array_index (coll->alike, ColLoad, i);
    col_net_count (net, load->res, coll->size_B * load->load * coll->cost.wire * times, load->factor, load->n);
  }
}

ColNetCount
col_net_counted (const ColNet *net, guint32 i)
{
  return g_array_index (net->count, ColNetCount, i);
}

double
col_net_pace_Bps (const MdlCollCost *cost, double size_B, double time_s)
{
  return time_s > cost->latency_s ? size_B / (time_s - cost->latency_s) : cost->bound_Bps;
}

void
col_net_coll_flow (ColNet *net, const ColAnswer *coll, GArray *uses, EngFlowSpec *spec)
{
  g_array_set_size (uses, 0);
  for (guint i = 0; i < coll->alike->len; i++) {
    const ColLoad *load = &g_array_index (coll->alike, ColLoad, i);
    EngUse use = { col_net_link (net, load->res), load->load * coll->cost.wire / load->factor };
    g_array_append_val (uses, use);
  }
  memset (spec, 0, sizeof *spec);
  spec->amount = coll->size_B;
  spec->bound_per_s = coll->cost.bound_Bps;
  spec->latency = eng_time_from_s (coll->cost.latency_s);
  spec->uses = (const EngUse *)(const void *)uses->data;
  spec->n_uses = uses->len;
}
