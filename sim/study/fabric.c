/* A point is a simulation of the scenario with other nodes, load and adapters. What an endless network saves is the difference to
 * the same with adapters of 100 Tb/s: it counts what is hidden behind compute as nothing, and what waits in queues behind slow
 * steps and transfers in full.
 *
 * In a closed loop, requests of equal length stay in step with each other, and which of them meet in a queue depends on the length
 * of a cycle: a faster network may put more of them into one queue. So its points are means over several seeds, and no threshold is
 * taken to be crossed once: rates are tried from the fastest down, those that were asked for among them, and the first one that
 * breaks a threshold bounds what is enough. */
#include "study/fabric.h"

#include <math.h>
#include <string.h>

#include "base/crossing.h"
#include "base/parallel.h"
#include "base/yaml.h"
#include "scenario/serving.h"

#define SLOWEST_BPS    (1e9 / 8)
#define FASTEST_BPS    (100e12 / 8)
#define RATE_TOLERANCE 1e-2
#define FINE_STEP      G_SQRT2 /* between rates that are tried, up to FINE_OF times the adapters' own … */
#define FINE_OF        4.0
#define COARSE_STEP    4.0 /* … and above */
#define CLOSED_SEEDS   3u
#define WAITS_NOTHING  0.005 /* of TTFT and TPOT: no traffic is named */

const char *const std_traffic_names[STD_TRAFFIC_N] = {
  [STD_TRAFFIC_KV] = "KV transfers",
  [STD_TRAFFIC_TP] = "all-reduces",
  [STD_TRAFFIC_EP] = "experts",
  [STD_TRAFFIC_PP] = "pipeline",
};
static const SrvPart part_of[STD_TRAFFIC_N] = {
  [STD_TRAFFIC_TP] = SRV_PART_TP,
  [STD_TRAFFIC_EP] = SRV_PART_EP,
  [STD_TRAFFIC_PP] = SRV_PART_PP,
};

/* A load on a number of nodes. */
typedef struct {
  const StdFabricQuery *query;
  guint32 nodes;
  double load;
  guint seeds;
  StdFabricPoint endless;    /* on an endless network */
  const struct Point *tried; /* n_tried, by rate */
  guint n_tried;
} Place;

/* One point. */
typedef struct Point {
  const Place *place;
  gint asked; /* number among the rates that were asked for; -1: the search tries it */
  StdFabricPoint point;
} Point;

/* A threshold to be solved. */
typedef struct {
  const Place *place;
  StdFabricLine line;
  StdFabricHow how;
  double rate_Bps;
  guint n_runs;
} Job;

/* ---- the scenario with other values ---- */

static void add (GPtrArray *sets, const char *format, ...) G_GNUC_PRINTF (2, 3);
static void
add (GPtrArray *sets, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (sets, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
add_number (GPtrArray *sets, const char *path, double value, const char *unit)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  add (sets, "%s=%s%s", path, g_ascii_formatd (text, sizeof text, "%.17g", value), unit);
}

static gboolean
add_replicas (const StdFabricScale *scale, guint32 nodes, GPtrArray *sets, GError **error)
{
  const double times = (double)nodes / scale->nodes;
  for (guint i = 0; i < MAX (scale->pools, 1); i++) {
    const double replicas = scale->replicas[i] * times;
    if (floor (replicas) < replicas || replicas < 1) {
      g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
                   "%u nodes would have %.4g replicas; the %.0f of %u nodes grow by whole ones only", nodes, replicas,
                   scale->replicas[i], scale->nodes);
      return FALSE;
    }
    if (scale->pools > 0)
      add (sets, "workload.pools.%u.replicas=%.0f", i, replicas);
    else
      add (sets, "workload.replicas=%.0f", replicas);
  }
  return TRUE;
}

/* Appends what makes the scenario run so. FALSE and *error: it cannot. */
static gboolean
add_sets (const StdFabricScale *scale, guint32 nodes, double load, double rate_Bps, GPtrArray *sets, GError **error)
{
  const double times = (double)nodes / scale->nodes, more = load * times;
  if (nodes != scale->nodes && scale->placed) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "a pool has 'first_gpu', which holds for %u nodes; leave it out",
                 scale->nodes);
    return FALSE;
  }
  if (!add_replicas (scale, nodes, sets, error))
    return FALSE;
  add (sets, "cluster.nodes=%u", nodes);
  if (scale->rate > 0)
    add_number (sets, "workload.load.rate", scale->rate * more, "");
  if (scale->ramp_to > 0)
    add_number (sets, "workload.load.ramp_to", scale->ramp_to * more, "");
  if (scale->closed > 0)
    add (sets, "workload.load.closed=%.0f", fmax (round (scale->closed * more), 1));
  if (scale->scale > 0)
    add_number (sets, "workload.load.scale", scale->scale * more, "");
  if (scale->requests > 0)
    add (sets, "workload.load.requests=%.0f", ceil (scale->requests * times));
  if (scale->warm_up > 0)
    add (sets, "workload.load.warm_up=%.0f", ceil (scale->warm_up * times));
  add_number (sets, "topology.node.nics.rate", rate_Bps, " B/s");
  return TRUE;
}

/* ---- one point ---- */

static double
share_of (const SrvRunResult *run, guint kind, SrvPart part)
{
  double sum_s = 0, its_s = 0;
  for (guint p = 0; p < 2; p++)
    for (guint i = 0; i < SRV_PART_N; i++) {
      sum_s += run->pools[p].part_s[kind][i];
      its_s += i == part ? run->pools[p].part_s[kind][i] : 0;
    }
  return sum_s > 0 ? its_s / sum_s : 0;
}

static void
take_run (const SrvRunResult *run, gboolean promised, StdFabricPoint *out)
{
  out->ttft_s = run->ttft.mean;
  out->tpot_s = run->tpot.mean;
  out->transfer_s = run->transfer.n > 0 ? run->transfer.time_s : (double)NAN;
  for (guint t = STD_TRAFFIC_TP; t < STD_TRAFFIC_N; t++) {
    out->prompt[t] = share_of (run, 0, part_of[t]);
    out->decode[t] = share_of (run, 1, part_of[t]);
    out->prompt_all += out->prompt[t];
    out->decode_all += out->decode[t];
  }
  out->value[STD_FABRIC_SLO] = promised && run->requests > 0 ? 1 - (double)run->good / (double)run->requests : (double)NAN;
}

static gboolean
play (const StdFabricQuery *query, const GPtrArray *sets, guint again, SrvRunResult *run, GError **error)
{
  StdQuestion question = query->question;
  g_autoptr (BaseLookup) lookup = base_lookup_new (base_lookup_root (question.lookup));
  question.options.switches_follow = TRUE;
  if (again > 0) {
    question.options.has_seed = TRUE;
    question.options.seed = query->scale.seed + again;
  }
  g_autoptr (StdLoaded) loaded = std_question_load (&question, (const char *const *)sets->pdata, lookup, error);
  return loaded != NULL && scn_serving_play_parts (loaded->scenario, run, error);
}

/* Adds one of `n` seeds to their mean. */
static void
add_mean (StdFabricPoint *out, const StdFabricPoint *one, guint n)
{
  out->ttft_s += one->ttft_s / n;
  out->tpot_s += one->tpot_s / n;
  out->transfer_s += one->transfer_s / n;
  for (guint t = 0; t < STD_TRAFFIC_N; t++) {
    out->prompt[t] += one->prompt[t] / n;
    out->decode[t] += one->decode[t] / n;
  }
  out->prompt_all += one->prompt_all / n;
  out->decode_all += one->decode_all / n;
  out->value[STD_FABRIC_SLO] += one->value[STD_FABRIC_SLO] / n;
}

static void
run_point (const Place *place, double rate_Bps, StdFabricPoint *out)
{
  const StdFabricScale *scale = &place->query->scale;
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  *out = (StdFabricPoint){ .nodes = place->nodes,
                           .gpus = place->nodes * scale->gpus_per_node,
                           .load = place->load,
                           .rate_Bps = rate_Bps,
                           .gpu_Bps = rate_Bps * scale->adapters / scale->gpus_per_node };
  gboolean can = add_sets (scale, place->nodes, place->load, rate_Bps, sets, &error);
  g_ptr_array_add (sets, NULL);
  for (guint i = 0; i < place->seeds && can; i++) {
    SrvRunResult run = { 0 };
    StdFabricPoint one = { 0 };
    can = play (place->query, sets, i, &run, &error);
    if (!can)
      break;
    take_run (&run, scale->promised, &one);
    add_mean (out, &one, place->seeds);
  }
  out->kv = out->ttft_s > 0 && !scale->first_before ? out->transfer_s / out->ttft_s : (double)NAN;
  if (!can)
    out->why_not = g_strchomp (g_strdup (error->message));
}

/* Traffic whose part of TTFT or of steps an endless network lowers most. */
static const char *
traffic_that_waits (const StdFabricPoint *point, const StdFabricPoint *endless)
{
  double most = 0;
  const char *name = NULL;
  if (fmax (point->value[STD_FABRIC_TTFT], point->value[STD_FABRIC_TPOT]) < WAITS_NOTHING)
    return NULL;
  for (guint t = 0; t < STD_TRAFFIC_N; t++) {
    const double kv = t == STD_TRAFFIC_KV && !isnan (point->kv) ? (point->transfer_s - endless->transfer_s) / point->ttft_s : 0;
    const double steps = fmax (point->prompt[t] - endless->prompt[t], point->decode[t] - endless->decode[t]);
    if (fmax (kv, steps) > most) {
      most = fmax (kv, steps);
      name = std_traffic_names[t];
    }
  }
  return name;
}

static void
compare (const StdFabricPoint *endless, StdFabricPoint *point)
{
  if (point->why_not != NULL || endless->why_not != NULL)
    return;
  point->value[STD_FABRIC_TTFT] = fmax (1 - endless->ttft_s / point->ttft_s, 0);
  point->value[STD_FABRIC_TPOT] = point->tpot_s > 0 ? fmax (1 - endless->tpot_s / point->tpot_s, 0) : 0;
  point->most = traffic_that_waits (point, endless);
}

/* ---- the slowest network ---- */

/* Over the time that an adapter takes for a byte. */
static gboolean
ask_rate (void *user, double s_per_B, double *y, GError **error)
{
  Job *job = user;
  StdFabricPoint point;
  job->n_runs += job->place->seeds;
  run_point (job->place, 1 / s_per_B, &point);
  const gboolean ran = point.why_not == NULL;
  if (!ran)
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "%s", point.why_not);
  compare (&job->place->endless, &point);
  *y = point.value[job->line] - job->place->query->limit[job->line];
  g_free (point.why_not);
  return ran;
}

/* From the fastest of the rates that were tried down to the first that breaks the threshold, and then between it and the one
 * before. */
static void
solve (Job *job)
{
  const Place *place = job->place;
  const StdFabricPoint *endless = &place->endless;
  const double limit = place->query->limit[job->line];
  double s_per_B = 0, kept = job->line == STD_FABRIC_SLO ? endless->value[STD_FABRIC_SLO] - limit : -limit;
  double kept_Bps = FASTEST_BPS;
  job->how = STD_FABRIC_NOT_ASKED;
  if (endless->why_not != NULL || isnan (kept))
    return;
  job->how = kept > 0 ? STD_FABRIC_NONE : STD_FABRIC_ANY;
  for (guint i = place->n_tried; i-- > 0 && job->how == STD_FABRIC_ANY;) {
    const StdFabricPoint *point = &place->tried[i].point;
    const double over = point->value[job->line] - limit;
    if (point->why_not == NULL && over > 0) {
      job->how = STD_FABRIC_SOLVED;
      const BaseBracket bracket = { 1 / kept_Bps, kept, 1 / point->rate_Bps, over };
      job->rate_Bps = base_crossing (ask_rate, job, bracket, RATE_TOLERANCE, &s_per_B, NULL) ? 1 / s_per_B : kept_Bps;
    } else if (point->why_not == NULL) {
      kept = over;
      kept_Bps = point->rate_Bps;
    }
  }
}

/* ---- all of them ---- */

static void
work_place (void *item)
{
  Place *place = item;
  run_point (place, FASTEST_BPS, &place->endless);
}

static void
work_point (void *item)
{
  Point *own = item;
  run_point (own->place, own->point.rate_Bps, &own->point);
  compare (&own->place->endless, &own->point);
}

static void
work_job (void *item)
{
  solve (item);
}

static guint
seeds_of (const StdFabricQuery *query)
{
  return query->scale.closed > 0 ? CLOSED_SEEDS : 1;
}

static GArray *
make_places (const StdFabricQuery *query)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (Place));
  for (guint l = 0; l < query->loads->len; l++)
    for (guint n = 0; n < query->nodes->len; n++) {
      const Place place = { .query = query,
                            .nodes = (guint32)g_array_index (query->nodes, double, n),
                            .load = g_array_index (query->loads, double, l),
                            .seeds = seeds_of (query) };
      g_array_append_val (places, place);
    }
  return places;
}

static gint
by_rate (gconstpointer a, gconstpointer b)
{
  const Point *x = a, *y = b;
  const double p = x->point.rate_Bps, q = y->point.rate_Bps;
  return p < q ? -1 : p > q ? 1 : x->asked < y->asked ? -1 : x->asked > y->asked;
}

/* Those that were asked for and those that the search tries, by rate; of no place. */
static GArray *
make_rates (const StdFabricQuery *query)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (Point));
  Point point = { .asked = -1 };
  double fine_Bps = query->scale.adapter_Bps;
  for (guint r = 0; r < query->rates->len; r++) {
    point.asked = (gint)r;
    point.point.rate_Bps = g_array_index (query->rates, double, r);
    fine_Bps = fmax (fine_Bps, point.point.rate_Bps);
    g_array_append_val (rates, point);
  }
  point.asked = -1;
  for (double rate = SLOWEST_BPS; rate < FASTEST_BPS; rate *= rate < FINE_OF * fine_Bps ? FINE_STEP : COARSE_STEP) {
    point.point.rate_Bps = rate;
    g_array_append_val (rates, point);
  }
  g_array_sort (rates, by_rate);
  return rates;
}

/* All points, by place and rate. */
static GArray *
make_points (const StdFabricQuery *query, GArray *places)
{
  g_autoptr (GArray) rates = make_rates (query);
  GArray *points = g_array_new (FALSE, FALSE, sizeof (Point));
  for (guint p = 0; p < places->len; p++)
    g_array_append_vals (points, rates->data, rates->len);
  for (guint i = 0; i < points->len; i++)
    g_array_index (points, Point, i).place = &g_array_index (places, Place, i / rates->len);
  for (guint p = 0; p < places->len; p++) {
    Place *place = &g_array_index (places, Place, p);
    place->tried = &g_array_index (points, Point, p * rates->len);
    place->n_tried = rates->len;
  }
  return points;
}

static GArray *
make_jobs (GArray *places)
{
  GArray *jobs = g_array_new (FALSE, FALSE, sizeof (Job));
  for (guint p = 0; p < places->len; p++)
    for (guint line = 0; line < STD_FABRIC_N; line++) {
      const Job job = { .place = &g_array_index (places, Place, p), .line = (StdFabricLine)line };
      g_array_append_val (jobs, job);
    }
  return jobs;
}

/* Moves a place's points that were asked for, in their order. */
static void
take_points (const Place *place, guint n_asked, StdFabric *fabric)
{
  const guint from = fabric->points->len;
  g_array_set_size (fabric->points, from + n_asked);
  for (guint i = 0; i < place->n_tried; i++) {
    const Point *its = &place->tried[i];
    fabric->n_runs += place->seeds;
    if (its->asked >= 0)
      g_array_index (fabric->points, StdFabricPoint, from + (guint)its->asked) = its->point;
    else
      g_free (its->point.why_not);
  }
}

static void
take_jobs (const GArray *jobs, StdFabric *fabric)
{
  StdFabricSpeed speed;
  for (guint i = 0; i < jobs->len; i++) {
    const Job *job = &g_array_index (jobs, Job, i);
    const StdFabricScale *scale = &job->place->query->scale;
    const StdFabricPoint *endless = &job->place->endless;
    fabric->n_runs += job->n_runs;
    if (job->line == 0)
      speed = (StdFabricSpeed){ .nodes = job->place->nodes, .gpus = endless->gpus, .load = job->place->load };
    speed.how[job->line] = job->how;
    speed.rate_Bps[job->line] = job->rate_Bps;
    speed.gpu_Bps[job->line] = job->rate_Bps * scale->adapters / scale->gpus_per_node;
    speed.least[job->line] = job->line == STD_FABRIC_SLO ? endless->value[STD_FABRIC_SLO] : 0;
    if (job->line == STD_FABRIC_N - 1 && endless->why_not == NULL)
      g_array_append_val (fabric->speeds, speed);
  }
}

static void
clear_point (gpointer data)
{
  g_free (((StdFabricPoint *)data)->why_not);
}

void
std_fabric_free (StdFabric *fabric)
{
  if (fabric == NULL)
    return;
  g_array_unref (fabric->points);
  g_array_unref (fabric->speeds);
  g_free (fabric);
}

StdFabric *
std_fabric (const StdFabricQuery *query)
{
  StdConstants constants; /* no point changes one */
  StdFabricQuery own = *query;
  StdFabric *fabric = g_new0 (StdFabric, 1);
  fabric->scale = query->scale;
  fabric->seeds = seeds_of (query);
  memcpy (fabric->limit, query->limit, sizeof fabric->limit);
  fabric->points = g_array_new (FALSE, FALSE, sizeof (StdFabricPoint));
  fabric->speeds = g_array_new (FALSE, FALSE, sizeof (StdFabricSpeed));
  g_array_set_clear_func (fabric->points, clear_point);
  std_constants_init (&constants, own.question.lookup);
  own.question.constants = &constants;
  GArray *places = make_places (&own), *points = make_points (&own, places), *jobs = make_jobs (places);
  base_yaml_keep ();
  base_parallel_each (places->data, places->len, sizeof (Place), 0, NULL, work_place);
  base_parallel_each (points->data, points->len, sizeof (Point), 0, "points", work_point);
  base_parallel_each (jobs->data, jobs->len, sizeof (Job), 0, "thresholds", work_job);
  base_yaml_keep_no_more ();
  for (guint i = 0; i < places->len; i++) {
    Place *place = &g_array_index (places, Place, i);
    fabric->n_runs += place->seeds;
    take_points (place, own.rates->len, fabric);
    clear_point (&place->endless);
  }
  take_jobs (jobs, fabric);
  g_array_unref (jobs);
  g_array_unref (points);
  g_array_unref (places);
  std_constants_clear (&constants);
  return fabric;
}

/* ---- what is asked ---- */

static double
given (const BaseNum *number)
{
  return number->set ? number->v : 0;
}

gboolean
std_fabric_scale (const Scn *scenario, StdFabricScale *out, GError **error)
{
  const ScnServingSpec *spec = scn_serving (scenario);
  const SrvLoadSpec *load = &spec->load;
  const Clu *clu = scn_cluster (scenario);
  StdFabricScale scale = { .nodes = clu_n_nodes (clu), .pools = spec->pools.n };
  scale.gpus_per_node = clu_n_gpus (clu) / scale.nodes;
  scale.adapters = clu_nics_of_node (clu, &scale.adapter_Bps);
  if (clu_n_kinds (clu) > 1) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "its nodes differ; accepted: a topology without 'overrides'");
    return FALSE;
  }
  if (scale.adapters == 0) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
                 "its nodes have no NICs, so there is no network to change; use a topology with 'nics'");
    return FALSE;
  }
  scale.replicas[0] = spec->replicas.v;
  for (guint i = 0; i < spec->pools.n; i++) {
    const SrvPoolSpec *pool = BASE_LIST_AT (spec->pools, SrvPoolSpec, i);
    scale.replicas[i] = pool->replicas.v;
    scale.placed = scale.placed || pool->first_gpu.set;
  }
  scale.apart = spec->pools.n == 2;
  scale.rate = given (&load->rate);
  scale.ramp_to = given (&load->ramp_to);
  scale.closed = given (&load->closed);
  scale.scale = load->trace.set ? load->scale.v : 0;
  scale.requests = given (&load->requests);
  scale.warm_up = given (&load->warm_up);
  scale.promised = spec->slo.head.set;
  scale.first_before = spec->transfer.first_token.set && spec->transfer.first_token.v == SRV_FIRST_PREFILL;
  scale.seed = scn_seed (scenario);
  *out = scale;
  return TRUE;
}

/* Half to four times as many nodes, where replicas divide. */
static void
default_nodes (const StdFabricScale *scale, GArray *out)
{
  static const double times[] = { 0.5, 1, 2, 4 };
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    const double nodes = scale->nodes * times[i];
    gboolean divides = floor (nodes) >= nodes && (!scale->placed || !(times[i] < 1 || times[i] > 1));
    for (guint p = 0; p < MAX (scale->pools, 1); p++)
      divides = divides && floor (scale->replicas[p] * times[i]) >= scale->replicas[p] * times[i];
    if (divides)
      g_array_append_val (out, nodes);
  }
}

void
std_fabric_defaults (StdFabricQuery *query)
{
  static const double times[] = { 0.25, 0.5, 1, 2 };
  const double as_it_is = 1;
  if (query->loads->len == 0)
    g_array_append_val (query->loads, as_it_is);
  if (query->nodes->len == 0)
    default_nodes (&query->scale, query->nodes);
  const gboolean no_rates = query->rates->len == 0;
  for (guint i = 0; no_rates && i < G_N_ELEMENTS (times); i++) {
    const double rate = query->scale.adapter_Bps * times[i];
    g_array_append_val (query->rates, rate);
  }
}
