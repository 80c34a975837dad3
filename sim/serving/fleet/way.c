#include "fleet/way.h"

#include <math.h>

SrvWay *
srv_way_new (void)
{
  SrvWay *way = g_new0 (SrvWay, 1);
  way->uses = g_array_new (FALSE, FALSE, sizeof (SrvWayUse));
  way->bound_Bps = (double)INFINITY;
  return way;
}

void
srv_way_free (gpointer data)
{
  SrvWay *way = data;
  g_array_free (way->uses, TRUE);
  g_free (way);
}

static SrvWayUse *
use_at (const SrvWay *way, guint i)
{
  return &g_array_index (way->uses, SrvWayUse, i);
}

static void
add_use (SrvWay *way, CluRes res, double weight, double capacity_s)
{
  for (guint i = 0; i < way->uses->len; i++)
    if (use_at (way, i)->res == res) {
      use_at (way, i)->weight += weight;
      return;
    }
  const SrvWayUse use = { res, weight, capacity_s };
  g_array_append_val (way->uses, use);
}

gboolean
srv_way_add (SrvWay *way, const ColSystem *system, const StoCopies *copies, double part, GError **error)
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
      add_use (way, use->res, its * use->share, clu_resource_capacity (system->clu, use->res));
    }
    way->bound_Bps = fmin (way->bound_Bps, copy->cost.bound_Bps / its);
    way->latency_s = fmax (way->latency_s, copy->cost.latency_s);
  }
  way->whole += part;
  return TRUE;
}

void
srv_way_flow (const SrvWay *way, ColNet *net, double bytes_B, double start_s, double work_s, GArray *uses, EngFlowSpec *spec)
{
  double bound_Bps = way->bound_Bps * way->whole;
  if (work_s > 0)
    bound_Bps = fmin (bound_Bps, bytes_B * way->whole / work_s);
  g_array_set_size (uses, 0);
  for (guint i = 0; i < way->uses->len; i++) {
    const EngUse use = { col_net_link (net, use_at (way, i)->res), use_at (way, i)->weight / way->whole };
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
    rate_Bps = fmin (rate_Bps, use_at (way, i)->capacity_s / use_at (way, i)->weight);
  return rate_Bps;
}

double
srv_way_alone_s (const SrvWay *way, double bytes_B)
{
  return way->latency_s + bytes_B / srv_way_alone_Bps (way);
}

char *
srv_way_slowest (const SrvWay *way, const Clu *clu)
{
  const SrvWayUse *slowest = NULL;
  double rate_Bps = way->bound_Bps;
  for (guint i = 0; i < way->uses->len; i++) {
    const SrvWayUse *use = use_at (way, i);
    if (use->capacity_s / use->weight < rate_Bps) {
      rate_Bps = use->capacity_s / use->weight;
      slowest = use;
    }
  }
  return slowest != NULL ? clu_resource_name (clu, slowest->res) : g_strdup ("the copy engines");
}
