#include "fleet/way.h"

#include <math.h>

SrvWay *
srv_way_new (void)
{
  SrvWay *way = g_new0 (SrvWay, 1);
  way->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  way->capacity_s = g_array_new (FALSE, FALSE, sizeof (double));
  way->bound_Bps = (double)INFINITY;
  return way;
}

void
srv_way_free (gpointer data)
{
  SrvWay *way = data;
  g_array_free (way->uses, TRUE);
  g_array_free (way->capacity_s, TRUE);
  g_free (way);
}

static void
add_use (SrvWay *way, EngLink link, double weight, double capacity_s)
{
  for (guint i = 0; i < way->uses->len; i++)
    if (g_array_index (way->uses, EngUse, i).link == link) {
      g_array_index (way->uses, EngUse, i).weight += weight;
      return;
    }
  const EngUse use = { link, weight };
  g_array_append_val (way->uses, use);
  g_array_append_val (way->capacity_s, capacity_s);
}

gboolean
srv_way_add (SrvWay *way, const ColSystem *system, ColNet *net, const StoCopies *copies, double part, GError **error)
{
  StoFault fault;
  ColSettings settings = system->settings;
  settings.terse = TRUE;
  g_autoptr (GPtrArray) priced = sto_copies_price (system->clu, &settings, copies, &fault, error);
  if (priced == NULL)
    return FALSE;
  for (guint k = 0; k < priced->len; k++) {
    const StoCopy *copy = priced->pdata[k];
    const double its = part * (copy->share > 0 ? copy->share : 1);
    for (guint i = 0; i < copy->uses->len; i++) {
      const CluUse *use = &g_array_index (copy->uses, CluUse, i);
      add_use (way, col_net_link (net, use->res), its * use->share, clu_resource_capacity (system->clu, use->res));
    }
    way->bound_Bps = fmin (way->bound_Bps, copy->cost.bound_Bps / its);
    way->latency_s = fmax (way->latency_s, copy->cost.latency_s);
  }
  way->whole += part;
  return TRUE;
}

void
srv_way_flow (const SrvWay *way, double bytes_B, double start_s, double work_s, GArray *uses, EngFlowSpec *spec)
{
  double bound_Bps = way->bound_Bps * way->whole;
  if (work_s > 0)
    bound_Bps = fmin (bound_Bps, bytes_B * way->whole / work_s);
  g_array_set_size (uses, 0);
  for (guint i = 0; i < way->uses->len; i++) {
    EngUse use = g_array_index (way->uses, EngUse, i);
    use.weight /= way->whole;
    g_array_append_val (uses, use);
  }
  *spec = (EngFlowSpec){ .amount = bytes_B * way->whole,
                         .bound_per_s = bound_Bps,
                         .latency = eng_time_from_s (way->latency_s + start_s),
                         .uses = (const EngUse *)(const void *)uses->data,
                         .n_uses = uses->len };
}

double
srv_way_alone_Bps (const SrvWay *way)
{
  double rate_Bps = way->bound_Bps;
  for (guint i = 0; i < way->uses->len; i++)
    rate_Bps = fmin (rate_Bps, g_array_index (way->capacity_s, double, i) / g_array_index (way->uses, EngUse, i).weight);
  return rate_Bps;
}

double
srv_way_alone_s (const SrvWay *way, double bytes_B)
{
  return way->latency_s + bytes_B / srv_way_alone_Bps (way);
}
