/* Flows on the engine: each starts at its time, shares links by max-min fairness, and its time is held against its time alone.
 *
 * Routes are those of messages between GPUs. The latency of a route comes first, then the bytes move; software adds nothing. Links
 * that can only wait behind another are left out (collective/series.h). */
#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "base/stats.h"
#include "collective/net.h"
#include "collective/routes.h"
#include "collective/series.h"
#include "engine/need.h"
#include "flows-private.h"

/* Classes of sizes: each from ten times the one before. */
#define CLASS_LEAST_B 1e3
#define N_CLASSES     9u
/* A link is over capacity if so many standard deviations of its count of flows still leave it so. */
#define SURE 3.0
/* Measured: a million flows on 1,024 hosts. */
#define FLOW_S 20e-6

typedef struct {
  const Scn *scenario;
  ScnFlow *flow;
  guint n, next;
  ColRoutes *routes;
  ColRankPlace *place; /* by host */
  ColSeries *series;
  ColNet *net;
  double *crossings; /* flows, each as often as its bytes cross, by resource */
  double *offered_B; /* of its capacity, by resource */
  GArray *uses;
  guint live, most_live, judged; /* judged: so many at once were held against the memory limit */
  guint ended;
  double n_uses;
  gboolean counts;
  GError *error;
} Run;

static const ColRoute *
route_of (Run *run, const ScnFlow *flow, GError **error)
{
  return col_routes_find (run->routes, &run->place[flow->src], &run->place[flow->dst], CLU_NONE, error);
}

static CluRes
resource_of (const Run *run, const ScnFlow *flow, const ColRouteUse *use)
{
  return col_route_res (use, &run->place[flow->src], &run->place[flow->dst]);
}

/* ---- what is offered ---- */

/* A host's rate: what it reaches alone to the host half of all hosts away, on average. */
static gboolean
find_host_rate (Run *run, double *rate_Bps, GError **error)
{
  const guint n = run->scenario->system.gpus->len;
  double sum_Bps = 0;
  for (guint i = 0; i < n; i++) {
    const ScnFlow flow = { .src = i, .dst = (i + n / 2) % n };
    const ColRoute *way = route_of (run, &flow, error);
    if (way == NULL)
      return FALSE;
    sum_Bps += col_routes_rate (run->routes, way, &run->place[flow.src], &run->place[flow.dst]);
  }
  *rate_Bps = sum_Bps / n;
  return TRUE;
}

/* All routes, before the first flow starts: links that can bind, times alone, and what each resource is offered. */
static gboolean
find_routes (Run *run, GError **error)
{
  for (guint i = 0; i < run->n; i++) {
    ScnFlow *flow = &run->flow[i];
    const ColRoute *way = route_of (run, flow, error);
    if (way == NULL)
      return FALSE;
    const double rate_Bps = col_routes_rate (run->routes, way, &run->place[flow->src], &run->place[flow->dst]);
    col_series_add (run->series, way, &run->place[flow->src], &run->place[flow->dst]);
    flow->alone_s = way->latency_s + flow->bytes / rate_Bps;
    for (guint32 u = 0; u < way->n_uses; u++) {
      const CluRes res = resource_of (run, flow, &way->use[u]);
      run->crossings[res] += way->use[u].share / way->use[u].factor;
      run->offered_B[res] += flow->bytes * way->use[u].share / way->use[u].factor;
    }
    run->n_uses += way->n_uses;
  }
  return TRUE;
}

/* The resource to which most is offered; over a span of 0 as well. CLU_NONE: none. */
static CluRes
fullest_of (const Run *run)
{
  const Clu *clu = run->scenario->system.clu;
  CluRes fullest = CLU_NONE;
  double most_s = 0;
  for (CluRes res = 0; res < clu_n_resources (clu); res++) {
    const double time_s = run->crossings[res] > 0 ? run->offered_B[res] / clu_resource_capacity (clu, res) : 0;
    if (time_s <= most_s)
      continue;
    most_s = time_s;
    fullest = res;
  }
  return fullest;
}

/* Flows that arrive whatever the network does must not ask more of a link than it has: they would wait longer and longer.
 * Sizes have a long tail, so their mean is taken, and the count of flows that cross the link. */
static gboolean
load_is_carried (const Run *run, const ScnFlowsSpec *spec, double span_s, GError **error)
{
  const Clu *clu = run->scenario->system.clu;
  const double mean_B = scn_flows_mean_B (spec), together = spec->hosts.v == SCN_HOSTS_INCAST ? spec->fan_in.v : 1;
  double most = 0;
  CluRes over = CLU_NONE;
  for (CluRes res = 0; res < clu_n_resources (clu) && span_s > 0; res++) {
    const double n = run->crossings[res], drawn = n / together;
    /* where hosts send more than they can, no chance is left that they do not */
    const double sure = spec->load.v > 1 ? 1 : drawn > SURE * SURE ? 1 - SURE / sqrt (drawn) : 0;
    const double load = n > 0 ? n * mean_B / (clu_resource_capacity (clu, res) * span_s) : 0;
    if (load * sure <= 1 || load <= most)
      continue;
    most = load;
    over = res;
  }
  if (over == CLU_NONE)
    return TRUE;
  g_autofree char *name = clu_resource_name (clu, over);
  return col_fail_at (error, spec->load.mark,
                      "at this load %s is offered %.3g times what it carries, and flows would wait without end; accepted: at most "
                      "about %.2g %%, or 'arrivals: at_once'",
                      name, most, spec->load.v / most * 100);
}

/* ---- the run ---- */

static void
ended (Eng *eng, void *user, uint64_t arg)
{
  Run *run = user;
  ScnFlow *flow = &run->flow[arg];
  flow->time_s = eng_time_to_s (eng_now (eng) - flow->start);
  run->live--;
  if (++run->ended % 4096 == 0 && run->counts)
    base_progress_set ("flows", run->n, run->ended);
}

static gboolean
start_flow (Run *run, guint i)
{
  const ScnFlow *flow = &run->flow[i];
  const ColRoute *way = route_of (run, flow, &run->error);
  if (way == NULL)
    return FALSE;
  g_array_set_size (run->uses, 0);
  for (guint32 u = 0; u < way->n_uses; u++) {
    const CluRes res = resource_of (run, flow, &way->use[u]);
    col_net_count (run->net, res, flow->bytes * way->use[u].share, way->use[u].factor, 1);
    const EngUse use = { col_net_link (run->net, res), way->use[u].share / way->use[u].factor };
    if (col_series_binds (run->series, res))
      g_array_append_val (run->uses, use);
  }
  const EngFlowSpec spec = { .amount = flow->bytes,
                             .latency = eng_time_from_s (way->latency_s),
                             .uses = (const EngUse *)(const void *)run->uses->data,
                             .n_uses = run->uses->len,
                             .done = ended,
                             .user = run,
                             .arg = i };
  eng_flow_start (col_net_engine (run->net), &spec);
  run->live++;
  run->most_live = MAX (run->most_live, run->live);
  return TRUE;
}

/* Flows that wait for others take memory: how many there will be at once is not known before. */
static gboolean
live_fit (Run *run)
{
  if (run->live < run->judged)
    return TRUE;
  run->judged = MAX (2 * run->live, 65536);
  const EngNeed need = { .flows = run->judged, .crossings = run->judged * run->n_uses / run->n, .listed = run->n };
  return eng_need_fits (&need, "flows at the same time", &run->error);
}

static void
arrive (Eng *eng, void *user, uint64_t arg)
{
  Run *run = user;
  const EngTime now = eng_now (eng);
  (void)arg;
  for (; run->next < run->n && run->flow[run->next].start <= now; run->next++)
    if (!live_fit (run) || !start_flow (run, run->next))
      return;
  if (run->next < run->n)
    eng_at (eng, run->flow[run->next].start, arrive, run, 0);
}

static gboolean
play (Run *run, GError **error)
{
  Eng *eng = col_net_engine (run->net);
  base_progress_expect ("flows", run->n, FLOW_S);
  run->counts = base_progress_begin ("flows", run->n, 0);
  eng_at (eng, run->flow[0].start, arrive, run, 0);
  const gboolean ran = eng_run (eng, ENG_TIME_NEVER, 0, run->error == NULL ? &run->error : NULL);
  if (run->counts)
    base_progress_end ();
  if (run->error != NULL)
    g_propagate_error (error, g_steal_pointer (&run->error));
  return ran && run->next == run->n;
}

/* ---- the answer ---- */

static guint
class_of (double bytes)
{
  guint c = 0;
  for (double upto_B = CLASS_LEAST_B; c + 1 < N_CLASSES && bytes > upto_B; upto_B *= 10)
    c++;
  return c;
}

/* What the flows of one class come to; `class` N_CLASSES: of all. `scratch`: room for as many values as there are flows. */
static void
sum_up (const Run *run, guint class, double *scratch, ScnFlowClass *out)
{
  guint n = 0;
  for (guint i = 0; i < run->n; i++) {
    const ScnFlow *flow = &run->flow[i];
    if (class != N_CLASSES && class_of (flow->bytes) != class)
      continue;
    scratch[n] = flow->alone_s > 0 ? fmax (flow->time_s / flow->alone_s, 1) : 1;
    out->slowdown += scratch[n++];
    out->fct_s += flow->time_s;
    out->bytes += flow->bytes;
  }
  out->flows = n;
  if (n == 0)
    return;
  out->slowdown /= n;
  out->fct_s /= n;
  out->slowdown_p50 = base_quantile (scratch, n, 0.5);
  out->slowdown_p95 = base_quantile (scratch, n, 0.95);
  out->slowdown_p99 = base_quantile (scratch, n, 0.99);
  n = 0;
  for (guint i = 0; i < run->n; i++)
    if (class == N_CLASSES || class_of (run->flow[i].bytes) == class)
      scratch[n++] = run->flow[i].time_s;
  out->fct_p50_s = base_quantile (scratch, n, 0.5);
  out->fct_p95_s = base_quantile (scratch, n, 0.95);
  out->fct_p99_s = base_quantile (scratch, n, 0.99);
}

static void
name_class (guint c, char name[16])
{
  static const char *const names[N_CLASSES] = { "up to 1 kB", "1-10 kB",     "10-100 kB", "100 kB-1 MB", "1-10 MB",
                                                "10-100 MB",  "100 MB-1 GB", "1-10 GB",   "above 10 GB" };
  g_strlcpy (name, names[c], 16);
}

static void
answer (const Run *run, ScnFlowsResult *out)
{
  g_autofree double *scratch = g_new (double, run->n);
  out->classes = g_array_new (FALSE, TRUE, sizeof (ScnFlowClass));
  for (guint c = 0; c < N_CLASSES; c++) {
    ScnFlowClass one = { 0 };
    sum_up (run, c, scratch, &one);
    name_class (c, one.sizes);
    if (one.flows > 0)
      g_array_append_val (out->classes, one);
  }
  sum_up (run, N_CLASSES, scratch, &out->all);
  out->rate_Bps = out->time_s > 0 ? out->all.bytes / out->time_s : 0;
  out->most_at_once = run->most_live;
}

static void
name_fullest (const Run *run, ScnFlowsResult *out)
{
  const Clu *clu = run->scenario->system.clu;
  const CluRes fullest = fullest_of (run);
  out->bound_by = "latency";
  if (fullest == CLU_NONE)
    return;
  out->fullest = clu_resource_name (clu, fullest);
  out->fullest_load =
      out->span_s > 0 ? run->offered_B[fullest] / (clu_resource_capacity (clu, fullest) * out->span_s) : (double)INFINITY;
  out->bound_by = clu_resource_class (clu, fullest);
}

static void
warn_of_trace (const ScnFlowsResult *out, ColRunInfo *info)
{
  if (isfinite (out->fullest_load) && out->fullest_load > 1)
    col_run_warn (info,
                  "flows of the file offer %s %.3g times what it carries: they wait longer and longer until the last one starts",
                  out->fullest, out->fullest_load);
}

static gboolean
prepare (Run *run, const ScnFlowsSpec *spec, ScnFlowsResult *out, GArray **drawn, GError **error)
{
  double expected_s = 0;
  if (!find_host_rate (run, &out->host_Bps, error))
    return FALSE;
  if (spec->file.v != NULL) {
    run->flow = spec->listed;
    run->n = spec->n_listed;
  } else {
    const EngNeed need = { .listed = spec->flows.v };
    g_autoptr (GError) why = NULL;
    if (!eng_need_fits (&need, "a workload of flows", &why))
      return col_fail_at (error, spec->flows.mark, "%s", why->message);
    *drawn = scn_flows_draw (run->scenario, spec, out->host_Bps, &expected_s, error);
    if (*drawn == NULL)
      return FALSE;
    run->flow = (ScnFlow *)(void *)(*drawn)->data;
    run->n = (*drawn)->len;
  }
  out->span_s = eng_time_to_s (run->flow[run->n - 1].start - run->flow[0].start);
  return find_routes (run, error) && (spec->file.v != NULL || load_is_carried (run, spec, expected_s, error));
}

/* Spans of a trace. */
#define MOST_SPANS 10000u

/* Flows as slices of lanes of their sender: each on the first lane that is free, as slices of a lane do not overlap. */
static void
add_spans (const Run *run, ColRunInfo *info)
{
  g_autoptr (GPtrArray) lanes = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref); /* by host: ends of lanes */
  for (guint host = 0; host < run->scenario->system.gpus->len; host++)
    g_ptr_array_add (lanes, g_array_new (FALSE, FALSE, sizeof (double)));
  for (guint i = 0; i < MIN (run->n, MOST_SPANS); i++) {
    const ScnFlow *flow = &run->flow[i];
    const double start_s = eng_time_to_s (flow->start), end_s = start_s + flow->time_s, none = -1;
    GArray *ends = lanes->pdata[flow->src];
    guint lane = 0;
    while (lane < ends->len && g_array_index (ends, double, lane) > start_s)
      lane++;
    if (lane == ends->len)
      g_array_append_val (ends, none);
    g_array_index (ends, double, lane) = end_s;
    col_run_span (info, g_strdup_printf ("host %u, flow %u at once", flow->src, lane + 1),
                  g_strdup_printf ("%.0f B to host %u", flow->bytes, flow->dst), start_s, end_s);
  }
  if (run->n > MOST_SPANS)
    col_run_warn (info, "the trace has the first %u of %u flows", MOST_SPANS, run->n);
}

gboolean
scn_flows_run (const Scn *scenario, const ScnFlowsSpec *spec, ScnFlowsResult *out, ColRunInfo *info, GError **error)
{
  const ColSystem *system = &scenario->system;
  const guint n_hosts = system->gpus->len, n_resources = clu_n_resources (system->clu);
  g_autoptr (ColRoutes) routes = col_routes_new (system->clu, &system->settings);
  g_autoptr (ColSeries) series = col_series_new (system->clu);
  g_autoptr (ColNet) net = col_net_new (system->clu);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse)), drawn = NULL;
  g_autofree ColRankPlace *place = g_new (ColRankPlace, n_hosts);
  g_autofree double *crossings = g_new0 (double, n_resources);
  g_autofree double *offered_B = g_new0 (double, n_resources);
  Run run = { .scenario = scenario, .routes = routes, .series = series, .net = net, .uses = uses };
  run.place = place;
  run.crossings = crossings;
  run.offered_B = offered_B;
  for (guint i = 0; i < n_hosts; i++)
    place[i] = col_routes_place (routes, col_system_gpu (system, i));
  out->hosts = n_hosts;
  if (!prepare (&run, spec, out, &drawn, error) || !play (&run, error))
    return FALSE;
  out->time_s = eng_time_to_s (eng_now (col_net_engine (net)));
  answer (&run, out);
  if (info->spans != NULL)
    add_spans (&run, info);
  name_fullest (&run, out);
  if (spec->file.v != NULL)
    warn_of_trace (out, info);
  info->n_events = eng_stats (col_net_engine (net)).events;
  col_run_add_links (info, system->clu, net, out->time_s);
  return TRUE;
}

void
scn_flows_result_free (ScnFlowsResult *result)
{
  if (result == NULL)
    return;
  g_clear_pointer (&result->classes, g_array_unref);
  g_free (result->fullest);
  g_free (result);
}
