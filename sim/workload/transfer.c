/* Copies from one device to another, over the path asked for or the fastest of them. */
#include <math.h>
#include <string.h>

#include "models/transfer.h"
#include "scenario-private.h"

static const char *const path_names[] = { "fastest", "nvlink", "pcie", "host", "net" };

static MdlCopy
copy_of (CluTransport transport)
{
  switch (transport) {
    case CLU_TRANSPORT_SHM:
    case CLU_TRANSPORT_NET_HOST:
      return MDL_COPY_HOST;
    case CLU_TRANSPORT_NET_GDR:
      return MDL_COPY_RDMA;
    case CLU_TRANSPORT_TCP:
      return MDL_COPY_TCP;
    case CLU_TRANSPORT_P2P:
    case CLU_TRANSPORT_COPY:
    case CLU_TRANSPORT_N:
    default:
      return MDL_COPY_DMA;
  }
}

static gboolean
route_on_path (const WrkScenario *scenario, CluDev from, CluDev to, WrkPath path, CluRoute *route, GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = scenario->settings.degrade;
  options.degrade.no_nvlink |= path == WRK_PATH_PCIE;
  options.degrade.no_p2p |= path == WRK_PATH_HOST;
  return clu_route_find (scenario->clu, from, to, &options, route, error);
}

/* Whether a route found is of the kind asked for: the pair may have no such path. */
static gboolean
is_on_path (const CluRoute *route, WrkPath path)
{
  gboolean net = route->path_class == CLU_PATH_NET;
  gboolean scale_up = route->path_class == CLU_PATH_NVL || route->path_class == CLU_PATH_NVB || route->path_class == CLU_PATH_C2C;
  switch (path) {
    case WRK_PATH_NVLINK:
      return scale_up;
    case WRK_PATH_PCIE:
      return !net && !scale_up && route->transport != CLU_TRANSPORT_SHM;
    case WRK_PATH_HOST:
      return route->transport == CLU_TRANSPORT_SHM || route->transport == CLU_TRANSPORT_NET_HOST ||
             route->transport == CLU_TRANSPORT_TCP;
    case WRK_PATH_NET:
      return net;
    case WRK_PATH_FASTEST:
    default:
      return TRUE;
  }
}

static void
price (const WrkScenario *scenario, const CluRoute *route, MdlCollCost *cost, double *rate_Bps)
{
  clu_route_bottleneck (scenario->clu, route, rate_Bps);
  mdl_transfer_cost (scenario->settings.library, copy_of (route->transport), scenario->transfer.bytes.v, route->latency_s,
                     *rate_Bps, cost);
}

/* Of all copies: each has a copier of its own, the route they share. */
static double
closed_form_s (const WrkScenario *scenario, const MdlCollCost *cost, double wire_rate_Bps)
{
  const WrkTransferSpec *spec = &scenario->transfer;
  double rate_Bps = fmin (cost->bound_Bps, wire_rate_Bps / cost->wire / spec->count.v);
  return cost->latency_s + (spec->bytes.v > 0 ? spec->bytes.v / rate_Bps : 0);
}

/* Tries the path asked for, or all of them; keeps the one by which all copies are there first. */
static gboolean
choose_path (const WrkScenario *scenario, CluDev from, CluDev to, WrkTransferResult *out, GError **error)
{
  const WrkTransferSpec *spec = &scenario->transfer;
  WrkPath asked = (WrkPath)spec->path.v;
  double least_s = HUGE_VAL;
  g_autoptr (GError) last = NULL;
  for (WrkPath path = WRK_PATH_NVLINK; path <= WRK_PATH_NET; path++) {
    g_auto (CluRoute) route = { 0 };
    MdlCollCost cost;
    double rate_Bps = HUGE_VAL;
    if (asked != WRK_PATH_FASTEST && asked != path)
      continue;
    clu_route_init (&route);
    g_clear_error (&last);
    if (!route_on_path (scenario, from, to, path, &route, &last) || (asked != WRK_PATH_FASTEST && !is_on_path (&route, path)))
      continue;
    price (scenario, &route, &cost, &rate_Bps);
    double time_s = closed_form_s (scenario, &cost, rate_Bps);
    if (time_s < least_s) {
      least_s = time_s;
      out->cost = cost;
      out->wire_rate_Bps = rate_Bps;
      clu_route_clear (&out->route);
      out->route = route;
      memset (&route, 0, sizeof route);
      for (WrkPath p = WRK_PATH_NVLINK; p <= WRK_PATH_NET; p++)
        if (is_on_path (&out->route, p)) {
          out->path = path_names[p];
          break;
        }
    }
  }
  if (isfinite (least_s))
    return TRUE;
  if (last != NULL)
    return wrk_fail_at (error, spec->to.mark, "%s", last->message);
  return wrk_fail_at (error, spec->path.mark,
                      "'%s' and '%s' have no path '%s'; accepted: fastest, or one that joins them (forerun topo %s --path %s %s)",
                      spec->from.v, spec->to.v, path_names[asked], clu_name (scenario->clu), spec->from.v, spec->to.v);
}

void
wrk_transfer_flow (WrkNet *net, const WrkTransferResult *transfer, GArray *uses, EngFlowSpec *spec)
{
  g_array_set_size (uses, 0);
  for (guint i = 0; i < transfer->route.uses->len; i++) {
    const CluUse *use = &g_array_index (transfer->route.uses, CluUse, i);
    EngUse eng_use = { wrk_net_link (net, use->res), use->share * transfer->cost.wire };
    g_array_append_val (uses, eng_use);
  }
  *spec = (EngFlowSpec){ .amount = transfer->bytes,
                         .bound_per_s = transfer->cost.bound_Bps,
                         .latency = eng_time_from_s (transfer->cost.latency_s),
                         .uses = (const EngUse *)(const void *)uses->data,
                         .n_uses = uses->len };
}

void
wrk_transfer_count (WrkNet *net, const WrkTransferResult *transfer)
{
  for (guint i = 0; i < transfer->route.uses->len; i++) {
    const CluUse *use = &g_array_index (transfer->route.uses, CluUse, i);
    wrk_net_count (net, use->res, transfer->bytes * transfer->count * use->share * transfer->cost.wire, 1);
  }
}

/* `count` copies at the same time on the engine: they share the route. */
static gboolean
run_copies (WrkNet *net, WrkTransferResult *out, guint64 *n_events, GError **error)
{
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  EngFlowSpec spec;
  wrk_transfer_flow (net, out, uses, &spec);
  Eng *eng = wrk_net_engine (net);
  for (double i = 0; i < out->count; i++)
    eng_flow_start (eng, &spec);
  if (!eng_run (eng, ENG_TIME_NEVER, 0, error))
    return FALSE;
  out->time_s = eng_time_to_s (eng_now (eng));
  *n_events = eng_stats (eng).events;
  return TRUE;
}

static void
name_bound (const WrkScenario *scenario, WrkTransferResult *out)
{
  double rate_Bps;
  guint32 at = out->route.uses->len > 0 ? clu_route_bottleneck (scenario->clu, &out->route, &rate_Bps) : 0;
  g_strlcpy (out->bound_by, "latency", sizeof out->bound_by);
  if (out->route.uses->len == 0)
    return;
  CluRes res = g_array_index (out->route.uses, CluUse, at).res;
  out->bottleneck = clu_resource_name (scenario->clu, res);
  if (out->time_s <= 2 * out->cost.latency_s)
    return;
  gboolean software = out->cost.bound_Bps * out->cost.wire * out->count < out->wire_rate_Bps;
  g_strlcpy (out->bound_by, software ? "host" : clu_resource_class (scenario->clu, res), sizeof out->bound_by);
}

static gboolean
find_end (const WrkScenario *scenario, const BaseStr *name, CluDev *dev, GError **error)
{
  g_autoptr (GError) why = NULL;
  *dev = clu_find (scenario->clu, name->v, &why);
  return why == NULL || wrk_fail_at (error, name->mark, "%s", why->message);
}

gboolean
wrk_check_transfer (const WrkScenario *scenario, GError **error)
{
  CluDev dev;
  return find_end (scenario, &scenario->transfer.from, &dev, error) && find_end (scenario, &scenario->transfer.to, &dev, error);
}

/* From a device to itself: there is nothing to move and no way to name. */
static void
copy_nothing (WrkTransferResult *out)
{
  memset (&out->cost, 0, sizeof out->cost);
  out->cost.wire = 1;
  out->cost.bound_Bps = out->wire_rate_Bps = HUGE_VAL;
  out->cost.source = BASE_SOURCE_MEASURED;
}

/* By the path asked for, in the mode asked for. */
static gboolean
copy (const WrkScenario *scenario, CluDev from, CluDev to, WrkResult *result, GError **error)
{
  WrkTransferResult *out = &result->transfer;
  if (!choose_path (scenario, from, to, out, error))
    return FALSE;
  out->transport = clu_transport_name (out->route.transport);
  out->path_class = clu_path_class_name (out->route.path_class);
  g_autoptr (WrkNet) net = wrk_net_new (scenario->clu);
  if (scenario->settings.mode == WRK_MODE_MODEL)
    out->time_s = closed_form_s (scenario, &out->cost, out->wire_rate_Bps);
  else if (!run_copies (net, out, &result->n_events, error))
    return FALSE;
  wrk_transfer_count (net, out);
  wrk_result_add_links (result, scenario->clu, net, out->time_s);
  return TRUE;
}

gboolean
wrk_run_transfer (WrkScenario *scenario, WrkResult *result, GError **error)
{
  const WrkTransferSpec *spec = &scenario->transfer;
  WrkTransferResult *out = &result->transfer;
  CluDev from, to;
  if (!find_end (scenario, &spec->from, &from, error) || !find_end (scenario, &spec->to, &to, error))
    return FALSE;
  out->from = clu_dev_name (scenario->clu, from);
  out->to = clu_dev_name (scenario->clu, to);
  out->bytes = spec->bytes.v;
  out->count = spec->count.v;
  if (from == to) {
    copy_nothing (out);
    wrk_result_warn (result, "'%s' and '%s' are the same device: nothing is copied", spec->from.v, spec->to.v);
  } else if (!copy (scenario, from, to, result, error))
    return FALSE;
  out->time_lo_s = out->time_s / (1 + out->cost.band);
  out->time_hi_s = out->time_s * (1 + out->cost.band);
  out->rate_Bps = out->time_s > 0 ? out->bytes / out->time_s : 0;
  out->provenance = out->cost.source;
  for (guint i = 0; i < out->route.uses->len; i++)
    out->provenance = MIN (out->provenance, clu_resource_source (scenario->clu, g_array_index (out->route.uses, CluUse, i).res));
  name_bound (scenario, out);
  return TRUE;
}
