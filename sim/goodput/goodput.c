/* Goodput of a scenario: what fails in this job, many runs of it, the interval between checkpoints that is best. Every run has
 * failures of its own and every interval has the same ones, so that a curve over intervals is as smooth as few runs allow. */
#include "goodput/goodput.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "cluster/storage.h"
#include "goodput-private.h"
#include "scenario/loaded.h"

const char *const gdp_lost_names[GDP_LOST_N] = {
  [GDP_LOST_RECOMPUTE] = "recompute", [GDP_LOST_CHECKPOINT] = "checkpoint", [GDP_LOST_DETECT] = "detect",
  [GDP_LOST_SPARE] = "spare_wait",    [GDP_LOST_RESTART] = "restart",       [GDP_LOST_RESTORE] = "restore",
  [GDP_LOST_SLOW] = "slow_down",
};

#define DAY_s     86400.0
#define LEAST_s   1e-6            /* of a step: what a clock of years still tells */
#define LONGEST_s (36500 * DAY_s) /* of useful work */
#define STREAM    "failures"
/* The search: intervals from a tenth to ten times the closed form's best, eight to a factor of ten, each with as
 * many runs as are asked for, but fewer where they have too many failures. */
#define CURVE_SPAN    10.0
#define CURVE_DECADE  8.0
#define CURVE_LEAST   20u
#define CURVE_EVENTS  2e6 /* of all runs of one interval */
#define CURVE_LENGTH  2e4 /* failures of one run at most */
#define CURVE_FLAT    1e-3
#define LEAST_GOODPUT 1e-3

/* ---- this job's failures ---- */

typedef struct {
  const MdlFailureRow *row;
  gboolean own; /* not of the rates: `factor` is not on it, and nothing was counted */
} Kind;

/* Kinds of failure that count: of the rates, then those beside them. Returned: full, of Kind. */
static GArray *
kinds_of (const TrnFailuresSpec *spec)
{
  const MdlFailureRates *rates = spec->rates.value;
  GArray *kinds = g_array_new (FALSE, FALSE, sizeof (Kind));
  for (unsigned i = 0; i < rates->rows.n + spec->also.n; i++) {
    gboolean own = i >= rates->rows.n;
    Kind kind = { own ? BASE_LIST_AT (spec->also, MdlFailureRow, i - rates->rows.n) : BASE_LIST_AT (rates->rows, MdlFailureRow, i),
                  own };
    if (own || kind.row->effect.v != MDL_EFFECT_SLOW || spec->slow_parts.v)
      g_array_append_val (kinds, kind);
  }
  return kinds;
}

/* Whether a step with it tells how slow it makes the job: of a model, in which nothing else is slow. */
static gboolean
is_simulated (const Scn *scenario, const MdlFailureRow *row)
{
  const TrnSpec *training = &scenario->training.spec;
  return (row->nic_rate.set || row->compute.set) && training->model.model != NULL && training->model.stragglers.n == 0;
}

static double
nic_rate_Bps (const Clu *clu, guint32 node)
{
  CluDev nic = clu_node_device (clu, node, CLU_DEV_NIC, 0);
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    if ((link.a == nic && clu_dev_kind (clu, link.b) == CLU_DEV_SWITCH) ||
        (link.b == nic && clu_dev_kind (clu, link.a) == CLU_DEV_SWITCH))
      return link.rate_Bps;
  }
  return 0;
}

static void
slow_part_clear (gpointer data)
{
  g_free (((GdpSlowPart *)data)->set);
}

gboolean
gdp_scenario_has_failures (const Scn *scenario)
{
  return scenario->jobs == NULL && scenario->kind == SCN_KIND_TRAINING && scenario->training.spec.failures.head.set;
}

GArray *
gdp_scenario_slow_parts (const Scn *scenario)
{
  const TrnFailuresSpec *spec = &scenario->training.spec.failures;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (GdpSlowPart));
  g_array_set_clear_func (parts, slow_part_clear);
  if (!gdp_scenario_has_failures (scenario))
    return parts;
  /* the rank in the middle: the first pipeline stage often has less to do than the others, and would hide it */
  guint32 each = clu_gpus_per_node (scenario->system.clu, 0), nodes = clu_n_nodes (scenario->system.clu);
  if (scenario->spec.cluster.gpus_per_node.set)
    each = MIN (each, (guint32)scenario->spec.cluster.gpus_per_node.v);
  const guint32 rank = nodes * each / 2, node = rank / MAX (each, 1u);
  g_autoptr (GArray) kinds = kinds_of (spec);
  for (guint i = 0; i < kinds->len; i++) {
    const MdlFailureRow *row = g_array_index (kinds, Kind, i).row;
    if (!is_simulated (scenario, row))
      continue;
    GdpSlowPart part = { .given = row->slowdown.set, .slowdown = row->slowdown.set ? row->slowdown.v : 1 };
    part.set = row->nic_rate.set ? g_strdup_printf ("workload.stragglers=[{node: %u, nic: 0, rate: %.17g B/s}]", node,
                                                    nic_rate_Bps (scenario->system.clu, node) * row->nic_rate.v)
                                 : g_strdup_printf ("workload.stragglers=[{rank: %u, slowdown: %.17g}]", rank, row->compute.v);
    g_array_append_val (parts, part);
  }
  return parts;
}

static void
add_cause (Gdp *out, const TrnFailuresSpec *spec, const Kind *kind)
{
  static const MdlObserved nothing;
  const MdlFailureRow *row = kind->row;
  const MdlObserved *observed = kind->own ? &nothing : &((const MdlFailureRates *)spec->rates.value)->observed;
  const double factor = kind->own ? 1 : spec->factor.v;
  const BaseNum *rate = row->every.set ? &row->every : &row->count;
  GdpCause cause = { .name = row->name.v,
                     .note = rate->note,
                     .of = (MdlUnit)row->of.v,
                     .effect = (MdlEffect)row->effect.v,
                     .source = rate->source,
                     .units = mdl_failure_units ((MdlUnit)row->of.v, row->nodes.v, &out->size),
                     .rate_per_s = factor * mdl_failure_rate_per_s (row, observed, &out->size),
                     .shape = row->shape.v,
                     .nodes = fmin (row->nodes.v, out->size.nodes),
                     .detect_s = row->detect.set ? row->detect.v : spec->detect.v,
                     .repair_s = row->repair.set ? row->repair.v : spec->repair.v,
                     .slowdown = row->compute.set && !row->slowdown.set ? row->compute.v : row->slowdown.v, /* at most */
                     .lasts_s = row->lasts.v };
  if (cause.rate_per_s > 0)
    out->provenance = MIN (out->provenance, cause.source);
  g_array_append_val (out->causes, cause);
}

static gboolean
take_causes (Gdp *out, const Scn *scenario, const GArray *slow_parts, GError **error)
{
  const TrnFailuresSpec *spec = &scenario->training.spec.failures;
  double sum_per_s = 0;
  guint part = 0;
  g_autoptr (GArray) kinds = kinds_of (spec);
  for (guint i = 0; i < kinds->len; i++) {
    const Kind *kind = &g_array_index (kinds, Kind, i);
    add_cause (out, spec, kind);
    if (slow_parts != NULL && is_simulated (scenario, kind->row))
      g_array_index (out->causes, GdpCause, i).slowdown = g_array_index (slow_parts, GdpSlowPart, part++).slowdown;
  }
  for (guint i = 0; i < out->causes->len; i++)
    sum_per_s += g_array_index (out->causes, GdpCause, i).rate_per_s;
  return sum_per_s > 0 ||
         col_fail_at (error, spec->rates.mark,
                      "nothing of '%s' ever fails in this job: all rates are 0 (%s); without failures, leave 'failures' out",
                      out->rates, spec->factor.v > 0 ? "counts, or units that the cluster has none of" : "factor: 0");
}

static void
take_size (Gdp *out, const Scn *scenario, const TrnResult *training)
{
  out->size = (MdlJobSize){ .gpus = training->n_ranks, .nodes = training->n_nodes };
  for (guint32 node = 0; node < training->n_nodes; node++)
    out->size.nics += clu_node_n (scenario->system.clu, node, CLU_DEV_NIC);
}

/* ---- the closed form ---- */

static MdlGoodputTerms
closed_terms (const Gdp *out)
{
  const MdlCheckpoint *checkpoint = &out->checkpoint;
  MdlGoodputTerms terms = { .alive = 1, .stall_s = checkpoint->stall_s, .drain_s = checkpoint->drain_s, .pace = 1 };
  const double again_s = out->restart_s + out->create_s + checkpoint->restore_s,
               planned_s = checkpoint->stall_s + checkpoint->drain_s + again_s;
  double alive = 0, planned_per_s = 0, fetched_per_s = 0;
  for (guint i = 0; i < out->causes->len; i++) {
    const GdpCause *cause = &g_array_index (out->causes, GdpCause, i);
    if (cause->effect == MDL_EFFECT_STOP)
      terms.stop_per_s += cause->rate_per_s;
    else if (cause->effect == MDL_EFFECT_PLANNED || cause->nodes > 0) {
      planned_per_s += cause->rate_per_s;
      fetched_per_s += cause->nodes > 0 ? cause->rate_per_s : 0;
    }
  }
  for (guint i = 0; i < out->causes->len; i++) {
    const GdpCause *cause = &g_array_index (out->causes, GdpCause, i);
    const double fetch_s = cause->nodes > 0 ? checkpoint->fetch_s : 0;
    if (cause->effect == MDL_EFFECT_STOP)
      alive += cause->rate_per_s * exp (-terms.stop_per_s * (cause->detect_s + again_s + fetch_s));
    if (cause->effect == MDL_EFFECT_SLOW) /* of those under way at a time the slowest counts; two at a time are left out */
      terms.pace *= 1 - (1 - 1 / cause->slowdown) * -expm1 (-cause->rate_per_s * cause->lasts_s);
  }
  if (terms.stop_per_s > 0)
    terms.alive = alive / terms.stop_per_s;
  double planned = planned_per_s * planned_s + fetched_per_s * checkpoint->fetch_s;
  terms.planned_share = planned / (1 + planned);
  return terms;
}

void
gdp_closed (const TrnFailuresSpec *spec, const MdlJobSize *size, const MdlCheckpoint *checkpoint, MdlGoodputTerms *terms,
            BaseSource *source)
{
  g_autoptr (GArray) kinds = kinds_of (spec);
  Gdp job = { .causes = g_array_new (FALSE, FALSE, sizeof (GdpCause)),
              .size = *size,
              .checkpoint = *checkpoint,
              .restart_s = spec->restart.v,
              .provenance = *source };
  for (guint i = 0; i < kinds->len; i++)
    add_cause (&job, spec, &g_array_index (kinds, Kind, i));
  *terms = closed_terms (&job);
  *source = job.provenance;
  g_array_unref (job.causes);
}

/* ---- many runs ---- */

/* Sorts the values. */
static GdpBand
band_of (GArray *values)
{
  double sum = 0;
  for (guint i = 0; i < values->len; i++)
    sum += g_array_index (values, double, i);
  double *value = (double *)(gpointer)values->data;
  return (GdpBand){ sum / values->len, base_quantile (value, values->len, 0.025), base_quantile (value, values->len, 0.975) };
}

/* Bands and means over `runs` runs. */
typedef struct {
  GdpBand goodput, stops, wall_s, useful_s;
  double lost_s[GDP_LOST_N], fewer_s;
  gboolean finished;
} Runs;

static void
make_runs (const GdpRunPlan *plan, guint64 seed, unsigned runs, GdpTally *tally, Runs *out)
{
  enum { GOODPUT, STOPS, WALL, USEFUL, N };
  GArray *values[N];
  *out = (Runs){ .finished = TRUE };
  for (int v = 0; v < N; v++)
    values[v] = g_array_sized_new (FALSE, FALSE, sizeof (double), runs);
  for (unsigned r = 0; r < runs && out->finished; r++) {
    GdpRunOutcome one;
    gdp_run (plan, base_random_stream_at (seed, STREAM, r), tally, &one);
    const double value[N] = { one.wall_s > 0 ? one.useful_s / one.wall_s : 0, one.stops, one.wall_s, one.useful_s };
    for (int v = 0; v < N; v++)
      g_array_append_val (values[v], value[v]);
    for (int l = 0; l < GDP_LOST_N; l++)
      out->lost_s[l] += one.lost_s[l] / runs;
    out->fewer_s += one.fewer_s / runs;
    out->finished = one.finished;
  }
  out->goodput = band_of (values[GOODPUT]);
  out->stops = band_of (values[STOPS]);
  out->wall_s = band_of (values[WALL]);
  out->useful_s = band_of (values[USEFUL]);
  for (int v = 0; v < N; v++)
    g_array_unref (values[v]);
}

static GdpRunPlan
plan_of (const Gdp *out)
{
  return (GdpRunPlan){ .cause = (const GdpCause *)(const void *)out->causes->data,
                       .n_causes = out->causes->len,
                       .step_s = out->step_s,
                       .checkpoint = out->checkpoint,
                       .restart_s = out->restart_s + out->create_s,
                       .spares = out->spares,
                       .horizon_s = out->horizon_s,
                       .elastic = out->elastic,
                       .target_s = isnan (out->steps) ? (double)INFINITY : out->steps * out->step_s };
}

/* ---- the best interval ---- */

/* How long the run is, or about how long it takes. */
static double
about_s (const Gdp *out, const MdlGoodputTerms *terms)
{
  if (!isinf (out->horizon_s))
    return out->horizon_s;
  double target_s = out->steps * out->step_s, best_s = fmin (mdl_goodput_best_s (terms), target_s);
  return target_s / fmax (mdl_goodput (terms, fmax (best_s, out->step_s)), LEAST_GOODPUT);
}

static void
add_interval (Gdp *out, const GdpRunPlan *plan, guint64 seed, unsigned runs, double every_steps)
{
  GdpRunPlan at = *plan;
  const MdlGoodputTerms terms = closed_terms (out);
  Runs done;
  at.checkpoint.every_steps = every_steps;
  make_runs (&at, seed, runs, NULL, &done);
  GdpInterval interval = { .every_steps = every_steps,
                           .interval_s = every_steps * out->step_s,
                           .goodput = done.goodput,
                           .closed = mdl_goodput (&terms, every_steps * out->step_s) };
  for (int l = 0; l < GDP_LOST_N; l++)
    interval.lost_s[l] = done.lost_s[l];
  guint i = out->curve->len;
  while (i > 0 && g_array_index (out->curve, GdpInterval, i - 1).every_steps >= every_steps)
    i--;
  if (i < out->curve->len && g_array_index (out->curve, GdpInterval, i).every_steps <= every_steps)
    return;
  g_array_insert_val (out->curve, i, interval);
  if (out->curve->len == 1 || interval.goodput.mean > out->best.goodput.mean)
    out->best = interval;
}

/* The best of few runs is anywhere on a flat top: how far that goes, from the best to both sides. */
static void
find_flat (Gdp *out)
{
  const GdpInterval *curve = (const GdpInterval *)(const void *)out->curve->data;
  guint best = 0, from, to;
  while (curve[best].every_steps < out->best.every_steps)
    best++;
  const double least = out->best.goodput.mean - CURVE_FLAT;
  for (from = best; from > 0 && curve[from - 1].goodput.mean >= least;)
    from--;
  for (to = best; to + 1 < out->curve->len && curve[to + 1].goodput.mean >= least;)
    to++;
  out->flat_from = curve[from].every_steps;
  out->flat_to = curve[to].every_steps;
}

/* Runs of one length for all intervals: as they share their failures, what differs is the interval's doing. Around the best of the
 * coarse curve, a second one is four times as fine. */
static void
search (Gdp *out, guint64 seed)
{
  const MdlGoodputTerms terms = closed_terms (out);
  GdpRunPlan plan = plan_of (out);
  double whole_s = about_s (out, &terms), most_steps = fmax (1, floor (whole_s / out->step_s)), rate_per_s = 0;
  for (guint i = 0; i < out->causes->len; i++)
    rate_per_s += g_array_index (out->causes, GdpCause, i).rate_per_s;
  plan.horizon_s = rate_per_s * whole_s > CURVE_LENGTH ? CURVE_LENGTH / rate_per_s : whole_s;
  plan.target_s = (double)INFINITY;
  double affordable = CURVE_EVENTS / fmax (1, rate_per_s * plan.horizon_s);
  unsigned runs = (unsigned)fmax (fmin (affordable, out->runs), MIN (out->runs, CURVE_LEAST));
  double middle_steps = CLAMP (mdl_goodput_best_s (&terms) / out->step_s, 1, most_steps);
  double lo = log10 (fmax (1, middle_steps / CURVE_SPAN)), hi = log10 (fmin (most_steps, middle_steps * CURVE_SPAN));
  for (double x = lo; x < hi + 0.5 / CURVE_DECADE; x += 1 / CURVE_DECADE)
    add_interval (out, &plan, seed, runs, round (pow (10, fmin (x, hi))));
  double at = log10 (out->best.every_steps);
  for (int k = -3; k <= 3; k++)
    if (k != 0)
      add_interval (out, &plan, seed, runs, CLAMP (round (pow (10, at + k / (4 * CURVE_DECADE))), 1, most_steps));
  if (out->searched)
    out->checkpoint.every_steps = out->best.every_steps;
  else
    add_interval (out, &plan, seed, runs, out->checkpoint.every_steps);
  find_flat (out);
}

/* ---- input ---- */

static gboolean
take_length (Gdp *out, const TrnFailuresSpec *spec, const TrnResult *training, GError **error)
{
  const double none = (double)NAN;
  out->horizon_s = spec->days.set ? spec->days.v * DAY_s : (double)INFINITY;
  out->steps = spec->steps.set ? spec->steps.v : spec->tokens.set ? ceil (spec->tokens.v / training->tokens) : none;
  out->tokens = training->has_model && !isnan (out->steps) ? out->steps * training->tokens : none;
  double step_s = out->step_s;
  if (out->steps * step_s > LONGEST_s)
    return col_fail_at (error, spec->steps.set ? spec->steps.mark : spec->tokens.mark,
                        "%.4g steps of %.4g s take %.4g years without any failure; accepted: up to 100", out->steps, step_s,
                        out->steps * step_s / DAY_s / 365);
  if (spec->days.set && step_s > out->horizon_s)
    return col_fail_at (error, spec->days.mark, "a run of %.4g days is over before its first step of %.4g s; accepted: more days",
                        spec->days.v, step_s);
  return TRUE;
}

static gboolean
take_interval (Gdp *out, const Scn *scenario, const TrnCheckpointResult *priced, GError **error)
{
  const TrnCheckpointSpec *spec = &scenario->training.spec.checkpoint;
  MdlTier tier;
  CluDev dev = spec->tier.v != NULL ? clu_tier_find (scenario->system.clu, spec->tier.v) : CLU_NONE;
  out->on_nodes = spec->copy.v == NULL && dev != CLU_NONE && clu_tier (scenario->system.clu, dev, &tier) &&
                  tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  out->checkpoint = (MdlCheckpoint){ spec->every.set ? spec->every.v : 0, spec->stall.v, spec->drain.v, spec->restore.v, 0 };
  if (priced->set) { /* what it waits for the one before follows from the interval here */
    out->checkpoint.stall_s = priced->stall_s - priced->wait_s + priced->slowed_s;
    out->checkpoint.drain_s = priced->drain_s;
    out->checkpoint.restore_s = priced->restore_s;
    out->checkpoint.fetch_s = priced->fetch_s;
    out->provenance = MIN (out->provenance, priced->source);
  }
  out->searched = !spec->every.set;
  double run_s = isinf (out->horizon_s) ? out->steps * out->step_s : out->horizon_s, interval_s = spec->every.v * out->step_s;
  if (spec->every.set && interval_s > run_s)
    return col_fail_at (
        error, spec->every.mark,
        "a checkpoint every %.0f steps of %.4g s is one in %.4g h, the run has %.4g h: none would be taken; accepted: "
        "at most %.0f",
        spec->every.v, out->step_s, interval_s / 3600, run_s / 3600, floor (run_s / out->step_s));
  const BaseNum *numbers[] = { &spec->stall, &spec->drain, &spec->restore };
  for (guint i = 0; !priced->set && i < G_N_ELEMENTS (numbers); i++)
    out->provenance = MIN (out->provenance, numbers[i]->source);
  return TRUE;
}

static gboolean
take_elastic (Gdp *out, const Scn *scenario, const TrnResult *training, GError **error)
{
  const TrnSpec *spec = &scenario->training.spec;
  const TrnElasticSpec *elastic = &spec->failures.elastic;
  const TrnHsdpSpec *hsdp = &spec->model.hsdp;
  if (!elastic->head.set)
    return TRUE;
  const gboolean sharded = spec->parallel.zero.v > 0 || spec->model.fsdp.head.set;
  const double copies = hsdp->head.set ? training->dp / hsdp->shard.v : sharded ? 1 : training->dp;
  const double replicas = elastic->replicas.set ? elastic->replicas.v : copies;
  if (elastic->state.v == 0 && copies < 2)
    return col_fail_at (error, elastic->head.mark,
                        "no replica holds all of the state, which %s shards over all; accepted: hsdp, zero 0, or state: checkpoint",
                        sharded ? "zero or fsdp" : "this layout");
  if (replicas < 2 && !elastic->replicas.set)
    return col_fail_at (error, elastic->head.mark,
                        "the job has one replica; write replicas, those that its ranks can be dealt out to");
  if (elastic->minimum.v >= replicas)
    return col_fail_at (error, elastic->minimum.mark, "a minimum of %.0f of %.0f replicas lets none fail; write less",
                        elastic->minimum.v, replicas);
  out->elastic = (GdpElastic){ .replicas = replicas,
                               .minimum = elastic->minimum.v,
                               .per_node = replicas / fmax (training->n_nodes, 1),
                               .reform_s = elastic->reform.v,
                               .peers = elastic->state.v == 0 };
  return TRUE;
}

static gboolean
take_input (Gdp *out, const Scn *scenario, const ScnResult *result, const GArray *slow_parts, GError **error)
{
  const TrnFailuresSpec *spec = &scenario->training.spec.failures;
  const TrnResult *training = &result->training;
  out->provenance = training->provenance;
  if (spec->step_time.set)
    out->provenance = spec->step_time.source;
  const MdlFailureRates *rates = spec->rates.value;
  out->rates = rates->name.v != NULL ? rates->name.v : spec->rates.name;
  out->summary = rates->summary.v;
  out->step_given = spec->step_time.set;
  /* the step bears its part of checkpoints, which are counted one by one here */
  out->step_s = out->step_given ? spec->step_time.v : training->step_time_s - training->part_s[TRN_PART_CHECKPOINT];
  out->restart_s = spec->restart.v;
  out->create_s = result->create_each_step ? 0 : result->create_s;
  out->spares = spec->spares.set ? spec->spares.v : (double)INFINITY;
  out->runs = (unsigned)spec->seeds.v;
  if (!(out->step_s >= LEAST_s))
    return col_fail_at (error, spec->head.mark, "a step of %.3g s is too short for a training run; write 'step_time', 1 us or more",
                        out->step_s);
  take_size (out, scenario, training);
  return take_length (out, spec, training, error) && take_interval (out, scenario, &training->checkpoint, error) &&
         take_causes (out, scenario, slow_parts, error) && take_elastic (out, scenario, training, error);
}

/* ---- the answer ---- */

/* The search's runs may be fewer or shorter than those of the answer. What is said of the best interval is of the same runs as the
 * answer; an interval that does no worse in them is the best. */
static void
agree (Gdp *out, guint64 seed)
{
  gboolean own = out->best.every_steps >= out->checkpoint.every_steps && out->best.every_steps <= out->checkpoint.every_steps;
  GdpRunPlan plan = plan_of (out);
  Runs runs = { .goodput = out->goodput, .finished = TRUE };
  plan.checkpoint.every_steps = out->best.every_steps;
  if (!own)
    make_runs (&plan, seed, out->runs, NULL, &runs);
  if (!runs.finished || runs.goodput.mean <= out->goodput.mean) {
    out->best.every_steps = out->checkpoint.every_steps;
    out->best.interval_s = out->best.every_steps * out->step_s;
    out->best.closed = out->closed;
    out->best.goodput = out->goodput;
    memcpy (out->best.lost_s, out->lost_s, sizeof out->best.lost_s);
  } else {
    out->best.goodput = runs.goodput;
    memcpy (out->best.lost_s, runs.lost_s, sizeof out->best.lost_s);
  }
  out->flat_from = fmin (out->flat_from, out->best.every_steps);
  out->flat_to = fmax (out->flat_to, out->best.every_steps);
}

/* An end that would never come is not waited for. */
static gboolean
check_progress (const Gdp *out, const Scn *scenario, GError **error)
{
  double work_s = out->searched ? out->best_closed_s : out->checkpoint.every_steps * out->step_s;
  if (!isinf (out->horizon_s) || isinf (work_s) || mdl_goodput (&out->terms, fmax (work_s, out->step_s)) >= LEAST_GOODPUT)
    return TRUE;
  return col_fail_at (
      error, scenario->training.spec.failures.head.mark,
      "the run would hardly get on: it fails every %.3g h, saves every %.3g h of work and needs %.3g h to start again; "
      "more checkpoints, fewer failures, or 'days' in place of an end",
      out->mttf_s / 3600, work_s / 3600, (out->restart_s + out->create_s + out->checkpoint.restore_s) / 3600);
}

static GdpBand
divided (GdpBand band, double by)
{
  return (GdpBand){ band.mean / by, band.lo / by, band.hi / by };
}

/* The same failures of a job that restarts. */
static void
compare_restarting (Gdp *out, GdpRunPlan plan, guint64 seed)
{
  Runs runs;
  if (out->elastic.replicas <= 0)
    return;
  plan.elastic = (GdpElastic){ 0 };
  make_runs (&plan, seed, out->runs, NULL, &runs);
  out->restarting = runs.goodput;
}

static gboolean
answer (Gdp *out, const Scn *scenario, GError **error)
{
  guint64 seed = scenario->seed;
  MdlGoodputTerms terms = closed_terms (out);
  out->terms = terms;
  out->mttf_s = terms.stop_per_s > 0 ? 1 / terms.stop_per_s : (double)INFINITY;
  out->best_closed_s = mdl_goodput_best_s (&terms);
  out->young_s = mdl_young_s (out->checkpoint.stall_s, out->mttf_s);
  out->daly_s = mdl_daly_s (out->checkpoint.stall_s, out->mttf_s);
  if (!check_progress (out, scenario, error))
    return FALSE;
  search (out, seed);
  out->closed = mdl_goodput (&terms, out->checkpoint.every_steps * out->step_s);
  g_autofree GdpTally *tally = g_new0 (GdpTally, out->causes->len);
  const GdpRunPlan plan = plan_of (out);
  Runs runs;
  make_runs (&plan, seed, out->runs, tally, &runs);
  if (!runs.finished)
    return col_fail_at (error, scenario->training.spec.failures.head.mark,
                        "a run was given up after some millions of failures; accepted: fewer failures, or a shorter run");
  for (guint i = 0; i < out->causes->len; i++) {
    GdpCause *cause = &g_array_index (out->causes, GdpCause, i);
    cause->count = tally[i].count / out->runs;
    cause->lost_s = tally[i].lost_s / out->runs;
  }
  compare_restarting (out, plan, seed);
  out->fewer_s = runs.fewer_s;
  out->goodput = runs.goodput;
  out->stops = runs.stops;
  out->wall_s = runs.wall_s;
  out->steps_done = divided (runs.useful_s, out->step_s);
  mdl_poisson_band (terms.stop_per_s * out->wall_s.mean, &out->stops_lo, &out->stops_hi);
  for (int l = 0; l < GDP_LOST_N; l++)
    out->lost_s[l] = runs.lost_s[l];
  agree (out, seed);
  return TRUE;
}

void
gdp_again (const Gdp *changed, guint64 seed, double *goodput, double *time_s)
{
  const GdpRunPlan plan = plan_of (changed);
  Runs runs;
  make_runs (&plan, seed, changed->runs, NULL, &runs);
  gboolean got_on = runs.finished && runs.useful_s.mean > 0;
  *goodput = got_on ? runs.goodput.mean : 0;
  *time_s = got_on ? runs.wall_s.mean / runs.useful_s.mean * changed->step_s : (double)INFINITY;
}

Gdp *
gdp_scenario_goodput (const Scn *scenario, const ScnResult *result, const GArray *slow_parts, GError **error)
{
  if (!gdp_scenario_has_failures (scenario)) {
    col_fail_at (
        error, base_yaml_mark (scenario->jobs != NULL ? scenario->spec.jobs : scenario->spec.workload),
        "--goodput needs a training workload with 'failures' and 'checkpoint' (e.g. failures: {rates: llama3_2024, days: 54}, "
        "checkpoint: {every: 500, stall: 30 s, restore: 1 min})%s",
        scenario->jobs != NULL ? ", one and not several jobs" : "");
    return NULL;
  }
  g_autoptr (Gdp) out = g_new0 (Gdp, 1);
  out->causes = g_array_new (FALSE, FALSE, sizeof (GdpCause));
  out->curve = g_array_new (FALSE, FALSE, sizeof (GdpInterval));
  return take_input (out, scenario, result, slow_parts, error) && answer (out, scenario, error) ? g_steal_pointer (&out) : NULL;
}

GArray *
gdp_timeline (const Gdp *goodput, guint64 seed)
{
  GdpRunPlan plan = plan_of (goodput);
  GdpRunOutcome out;
  plan.timeline = g_array_new (FALSE, FALSE, sizeof (GdpSpan));
  gdp_run (&plan, base_random_stream_at (seed, STREAM, 0), NULL, &out);
  return plan.timeline;
}

void
gdp_free (Gdp *goodput)
{
  if (goodput == NULL)
    return;
  g_array_unref (goodput->causes);
  g_array_unref (goodput->curve);
  g_free (goodput);
}
