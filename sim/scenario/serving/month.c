/* A month of a service with failures at published rates: months are drawn by events (serving/month.h), the fleet is played in each
 * state that they are in, and at the moment of each failure. */
#include <math.h>

#include "scenario/loaded.h"
#include "serving-private.h"
#include "training/failures_spec.h"

#define DAY_S       86400.
#define MOST_STATES 64u
#define LEAST_TIME  1e-5 /* of the month: states that are rarer together are not played */
#define MOST_SHOWN  6u
#define DRAIN_PART  0.25 /* of a run, in which replicas are lost: the rest has room for the queue */

#define ROW(...)    BASE_ROW (ScnReliabilitySpec, __VA_ARGS__)
#define NUMBER(...) BASE_ROW_NUM (ScnReliabilitySpec, __VA_ARGS__)
static const BaseField fields[] = {
  ROW ("rates", rates, REF, .sub = &trn_schema_failure_rates, .item_size = sizeof (MdlFailureRates),
       .folder = "calibrate/defaults/failures", .required = TRUE, .help = "failure rates (`forerun list failures`)"),
  NUMBER ("days", days, NUMBER, .min = "0.01", .max = "36500", .fallback = "30", .help = "length of the month"),
  NUMBER ("factor", factor, NUMBER, .min = "0", .max = "1000", .fallback = "1", .help = "multiplies the rates"),
  NUMBER ("spares", spares, COUNT, .max = "100000",
          .help = "spare nodes; repaired nodes return to them; default: 0, a lost node's replicas wait for its repair"),
  NUMBER ("repair", repair, TIME, .max = "3650 days", .fallback = "1 day",
          .help = "time until a node is back in service, if its kind has none (assumed)"),
  NUMBER ("restart", restart, TIME, .max = "30 days", .fallback = "5 min",
          .help = "time to start a replica: pods, weights, graphs (assumed)"),
  NUMBER ("seeds", seeds, COUNT, .min = "1", .max = "100000", .fallback = "1000",
          .help = "months with different failures; the bands are over them"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_reliability = {
  .name = "reliability",
  .help = "Failures of a fleet at published rates over a month. Slow parts are bounded; stops of jobs are left out.",
  .fields = fields
};

#define MONTH(...)    BASE_MEMBER (ScnServingMonth, __VA_ARGS__)
#define PERCENT(head) BASE_SHOWN (head, 100, "%.2f")
const BaseMember scn_serving_month_members[] = {
  MONTH ("days", days, BASE_SHOWN ("days", 1, "%.4g")),
  MONTH ("failures", failures, BASE_SHOWN ("failures", 1, "%.4g")),
  MONTH ("good_fraction", good.mean, BASE_SHOWN ("within SLO (%)", 100, "%.3f")),
  MONTH ("good_fraction_lo", good.lo, BASE_SHOWN ("from (%)", 100, "%.3f")),
  MONTH ("good_fraction_hi", good.hi, BASE_SHOWN ("to (%)", 100, "%.3f")),
  MONTH ("healthy_fraction", healthy, BASE_SHOWN ("without failures (%)", 100, "%.3f")),
  MONTH ("lost_capacity", capacity, BASE_SHOWN ("capacity lost (%)", 100, "%.3f")),
  MONTH ("cut_off_fraction", bad, BASE_SHOWN ("cut off (ppm)", 1e6, "%.3g")),
  MONTH ("drain_fraction", drain, BASE_SHOWN ("queues behind (ppm)", 1e6, "%.3g")),
  MONTH ("slow_parts", slow, BASE_SHOWN ("slow parts", 1, "%.3g")),
  MONTH ("slow_fraction", slow_requests, BASE_SHOWN ("at slow replicas (ppm)", 1e6, "%.3g")),
  BASE_MEMBER_END,
};

#define STATE(...) BASE_MEMBER (SrvMonthState, __VA_ARGS__)
const BaseMember scn_serving_state_members[] = {
  STATE ("lost_replicas", lost[0], .title = "replicas lost"),
  STATE ("lost_decode_replicas", lost[1], .title = "decode replicas lost"),
  STATE ("time_fraction", fraction, BASE_SHOWN ("of the month (%)", 100, "%.3f")),
  STATE ("good_fraction", good, BASE_SHOWN ("within SLO (%)", 100, "%.2f")),
  STATE ("drain_fraction", drain, BASE_SHOWN ("outside behind it (%)", 100, "%.2f")),
  BASE_MEMBER_END,
};

#define CAUSE(...) BASE_MEMBER (SrvMonthCause, __VA_ARGS__)
const BaseMember scn_serving_cause_members[] = {
  CAUSE ("failure", name, .title = "failure"),
  CAUSE ("of", of, .names = mdl_unit_names, .title = "of"),
  CAUSE ("count", count, BASE_SHOWN ("in a month", 1, "%.3g")),
  CAUSE ("replicas", replicas, BASE_SHOWN ("replicas that one takes", 1, "%.3g")),
  CAUSE ("provenance", source, .names = base_source_names, .title = "source"),
  BASE_MEMBER_END,
};

/* ---- what fails ---- */

/* GPUs, nodes and NICs that the pools are on. */
static MdlJobSize
size_of (const ScnPlay *play)
{
  const Clu *clu = play->scenario->system.clu;
  MdlJobSize size = { 0 };
  g_autofree gboolean *used = g_new0 (gboolean, clu_n_nodes (clu));
  for (guint p = 0; p < play->n; p++)
    for (guint i = 0; i < scn_pool_gpus (&play->pools[p]); i++) {
      const guint32 gpu = col_system_gpu (&play->scenario->system, play->pools[p].first + i);
      const guint32 node = clu_dev_node (clu, clu_gpu (clu, gpu));
      size.gpus++;
      if (used[node])
        continue;
      used[node] = TRUE;
      size.nodes++;
      size.nics += clu_node_n (clu, node, CLU_DEV_NIC);
    }
  return size;
}

/* Kinds of failure that a service has. Returned: full, of SrvMonthCause. */
static GArray *
causes_of (const ScnPlay *play)
{
  const ScnServingSpec *spec = play->scenario->own;
  const MdlFailureRates *rates = spec->reliability.rates.value;
  const MdlJobSize size = size_of (play);
  GArray *out = g_array_new (FALSE, FALSE, sizeof (SrvMonthCause));
  for (guint i = 0; i < rates->rows.n; i++) {
    const MdlFailureRow *row = BASE_LIST_AT (rates->rows, MdlFailureRow, i);
    const double rate_per_s = spec->reliability.factor.v * mdl_failure_rate_per_s (row, &rates->observed, &size);
    const SrvMonthCause cause = { .name = row->name.v,
                                  .of = (MdlUnit)row->of.v,
                                  .source = row->every.set ? row->every.source : row->count.source,
                                  .rate_per_s = rate_per_s,
                                  .shape = row->shape.v,
                                  .nodes = fmin (row->nodes.v, size.nodes),
                                  .detect_s = row->detect.set ? row->detect.v : spec->retry.detect.v,
                                  .repair_s = row->repair.set ? row->repair.v : spec->reliability.repair.v,
                                  .planned = row->effect.v == MDL_EFFECT_PLANNED };
    /* a slow part costs a job that waits for all; what it does to one replica is not known. A job's own
     * stops are not a service's */
    if (row->effect.v != MDL_EFFECT_SLOW && row->of.v != MDL_UNIT_JOB && rate_per_s > 0)
      g_array_append_val (out, cause);
  }
  return out;
}

/* Parts that become slow in a month, and of all requests those that their replicas take until they are found: at most these are
 * outside the SLO. */
static void
slow_of (const ScnPlay *play, ScnServingMonth *out)
{
  const ScnServingSpec *spec = play->scenario->own;
  const MdlFailureRates *rates = spec->reliability.rates.value;
  const MdlJobSize size = size_of (play);
  double of_a_replica = 0;
  for (guint p = 0; p < play->n; p++) /* a part is in a pool by its GPUs, and takes what one of the pool's replicas does */
    of_a_replica += scn_pool_gpus (&play->pools[p]) / (double)size.gpus / play->pools[p].replicas;
  for (guint i = 0; i < rates->rows.n; i++) {
    const MdlFailureRow *row = BASE_LIST_AT (rates->rows, MdlFailureRow, i);
    if (row->effect.v != MDL_EFFECT_SLOW)
      continue;
    const double rate_per_s = spec->reliability.factor.v * mdl_failure_rate_per_s (row, &rates->observed, &size);
    out->slow += rate_per_s * spec->reliability.days.v * DAY_S;
    out->slow_requests += rate_per_s * row->lasts.v * of_a_replica;
  }
}

static SrvMonthSpec
month_spec (const ScnPlay *play)
{
  const ScnReliabilitySpec *its = &((const ScnServingSpec *)play->scenario->own)->reliability;
  SrvMonthSpec spec = { .pools = play->n,
                        .gpus_per_node = clu_gpus_per_node (play->scenario->system.clu, 0),
                        .spares = its->spares.set ? its->spares.v : 0,
                        .restart_s = its->restart.v,
                        .days = its->days.v,
                        .runs = (guint)its->seeds.v,
                        .seed = play->scenario->seed };
  for (guint p = 0; p < play->n; p++) {
    spec.replicas[p] = play->pools[p].replicas;
    spec.gpus[p] = (guint)srv_replica_gpus (&play->pools[p].replica);
    spec.first[p] = play->pools[p].first;
  }
  return spec;
}

/* ---- what users see ---- */

/* Requests from an index, or an arrival, on. */
typedef struct {
  const SrvSlo *slo;
  guint64 from, warm_up;
  double from_s;
  guint64 n, good, bad_all, before;
} Counted;

static void
count (void *user, const SrvRequestSeen *seen)
{
  Counted *counted = user;
  const SrvSlo *slo = counted->slo;
  const double ttft_s = seen->first_s - seen->arrival_s, e2e_s = seen->end_s - seen->arrival_s;
  const double tpot_s = seen->output > 1 ? (e2e_s - ttft_s) / (seen->output - 1) : 0;
  const gboolean good = ttft_s <= slo->ttft_s && tpot_s <= slo->tpot_s && e2e_s <= slo->e2e_s;
  if (seen->index < counted->warm_up)
    return;
  counted->bad_all += good ? 0 : 1;
  if (seen->index < counted->from || seen->arrival_s < counted->from_s) {
    counted->before++;
    return;
  }
  counted->n++;
  counted->good += good ? 1 : 0;
}

static gboolean
play_counted (ScnPlay *play, Counted *counted, GError **error)
{
  SrvRunResult out = { 0 };
  play->run.request = count;
  play->run.step = NULL;
  play->run.user = counted;
  counted->slo = &play->run.slo;
  counted->warm_up = play->run.warm_up;
  return scn_play_run (play, 0, &out, error);
}

/* Sets the pools to all of their replicas, of which so many are lost for that time. Returned: full, until it has been played. */
static SrvOutage *
set_outages (ScnPlay *play, const guint lost[2], double from_s, double until_s)
{
  SrvOutage *outages = g_new0 (SrvOutage, lost[0] + lost[1]);
  guint n = 0;
  for (guint p = 0; p < play->n; p++)
    for (guint i = 0; i < lost[p]; i++)
      outages[n++] = (SrvOutage){ (p == 1 ? play->pools[0].replicas : 0) + i, from_s, until_s };
  play->run.replicas = play->pools[0].replicas;
  play->decode.replicas = play->n == 2 ? play->pools[1].replicas : 0;
  play->run.outages = outages;
  play->run.n_outages = n;
  return outages;
}

static void
clear_outages (ScnPlay *play, SrvOutage *outages)
{
  play->run.n_outages = 0;
  play->run.outages = NULL;
  g_free (outages);
}

/* A queue that has grown for a while, once all replicas are back. It grows and empties in proportion to that while: the part of one
 * run holds for outages of any length. */
static gboolean
play_drain (ScnPlay *play, const ScnServingResult *own, double healthy, SrvMonthState *state, GError **error)
{
  Counted counted = { .from_s = own->run.duration_s * DRAIN_PART };
  SrvOutage *outages = set_outages (play, state->lost, 0, counted.from_s);
  const gboolean good = play_counted (play, &counted, error);
  const double late = (double)(counted.n - counted.good) - (1 - healthy) * (double)counted.n;
  state->drain = counted.before > 0 ? fmax (late, 0) / (double)counted.before : 0;
  clear_outages (play, outages);
  return good;
}

/* With so many replicas: of the later half of the requests, as a queue that grows is long by then. */
static gboolean
play_state (ScnPlay *play, const ScnServingResult *own, SrvMonthState *state, GError **error)
{
  Counted counted = { .from = play->run.warm_up + own->run.requests / 2 };
  state->played = TRUE;
  for (guint p = 0; p < play->n; p++)
    if (state->lost[p] >= play->pools[p].replicas)
      return TRUE; /* nobody answers */
  play->run.replicas = play->pools[0].replicas - state->lost[0];
  play->decode.replicas = play->n == 2 ? play->pools[1].replicas - state->lost[1] : 0;
  play->run.n_outages = 0;
  const gboolean good = play_counted (play, &counted, error);
  state->good = counted.n > 0 ? (double)counted.good / (double)counted.n : 0;
  return good;
}

static double
good_of (const SrvMonth *month, const guint lost[2])
{
  for (guint i = 0; i < month->states->len; i++) {
    const SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
    if (state->lost[0] == lost[0] && state->lost[1] == lost[1])
      return state->good;
  }
  return 0;
}

/* In the middle of the run so many replicas are lost: requests outside the SLO beside those of the states before and behind. */
static gboolean
play_loss (ScnPlay *play, const ScnServingResult *own, const SrvMonth *month, SrvMonthLoss *loss, GError **error)
{
  Counted counted = { .from_s = own->run.duration_s / 2 };
  for (guint p = 0; p < play->n; p++)
    if (loss->lost[p] >= play->pools[p].replicas) { /* all that are on their way */
      loss->bad = (double)own->run.most_in_flight;
      return TRUE;
    }
  SrvOutage *outages = set_outages (play, loss->lost, counted.from_s, (double)INFINITY);
  const gboolean good = play_counted (play, &counted, error);
  const double healthy = g_array_index (month->states, SrvMonthState, 0).good;
  loss->bad = fmax (
      (double)counted.bad_all - (1 - healthy) * (double)counted.before - (1 - good_of (month, loss->lost)) * (double)counted.n, 0);
  clear_outages (play, outages);
  return good;
}

/* ---- the answer ---- */

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const SrvMonthState *x = a, *y = b;
  if (x->fraction < y->fraction || x->fraction > y->fraction)
    return x->fraction > y->fraction ? -1 : 1;
  return x->lost[0] != y->lost[0] ? (x->lost[0] < y->lost[0] ? -1 : 1) : x->lost[1] < y->lost[1] ? -1 : x->lost[1] > y->lost[1];
}

static gint
by_count (gconstpointer a, gconstpointer b)
{
  const SrvMonthCause *x = a, *y = b;
  return x->count > y->count ? -1 : x->count < y->count;
}

/* States by their time, until what is left does not count. */
static gboolean
play_states (ScnPlay *play, const ScnServingResult *own, SrvMonth *month, GError **error)
{
  double left = 1;
  for (guint n = 0; n < MOST_STATES && left > LEAST_TIME; n++) {
    SrvMonthState *most = NULL;
    for (guint i = 0; i < month->states->len; i++) {
      SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
      if (!state->played && (most == NULL || state->fraction > most->fraction))
        most = state;
    }
    if (most == NULL)
      return TRUE;
    const double healthy = g_array_index (month->states, SrvMonthState, 0).good;
    if (!play_state (play, own, most, error) ||
        (most->lost[0] + most->lost[1] > 0 && most->good < healthy && !play_drain (play, own, healthy, most, error)))
      return FALSE;
    left -= most->fraction;
  }
  return TRUE;
}

static void
take_month (const ScnPlay *play, const SrvMonth *month, GArray *causes, ScnServingResult *own)
{
  const ScnServingSpec *spec = play->scenario->own;
  const double requests = own->run.requests_per_s * spec->reliability.days.v * DAY_S;
  const gboolean promised = spec->slo.head.set;
  ScnServingMonth row = { .days = spec->reliability.days.v,
                          .healthy = promised ? g_array_index (month->states, SrvMonthState, 0).good : (double)NAN,
                          .failures = month->failures,
                          .capacity = month->capacity };
  row.good = promised ? srv_month_good (month, requests) : (SrvMonthBand){ (double)NAN, (double)NAN, (double)NAN };
  for (guint i = 0; i < month->losses->len; i++) {
    const SrvMonthLoss *loss = &g_array_index (month->losses, SrvMonthLoss, i);
    row.bad += loss->count * loss->bad / requests;
  }
  for (guint i = 0; i < month->states->len; i++) {
    const SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
    row.drain += promised ? state->fraction * state->drain : 0;
  }
  slow_of (play, &row);
  own->of_month = row;
  own->month = g_array_new (FALSE, FALSE, sizeof row);
  g_array_append_val (own->month, row);
  own->month_states = g_array_new (FALSE, FALSE, sizeof (SrvMonthState));
  g_array_append_vals (own->month_states, month->states->data, month->states->len);
  g_array_sort (own->month_states, by_time);
  g_array_set_size (own->month_states, MIN (own->month_states->len, MOST_SHOWN));
  for (guint i = 0; i < own->month_states->len && !promised; i++) { /* without limits every request would be good */
    SrvMonthState *state = &g_array_index (own->month_states, SrvMonthState, i);
    state->good = state->drain = (double)NAN;
  }
  g_array_sort (causes, by_count);
  own->month_causes = g_array_ref (causes);
}

gboolean
scn_serving_month (ScnPlay *play, ScnServingResult *own, GError **error)
{
  const ScnServingSpec *spec = play->scenario->own;
  g_autoptr (GArray) causes = causes_of (play);
  if (spec->scale.head.set)
    return col_fail_at (error, spec->reliability.head.mark, "`reliability` is not modelled with `scale`; leave one of them out");
  if (causes->len == 0)
    return col_fail_at (error, spec->reliability.rates.mark,
                        "nothing of '%s' ever takes a replica: all its rates are 0, or of slow parts and whole jobs",
                        ((const MdlFailureRates *)spec->reliability.rates.value)->name.v);
  const SrvMonthSpec how = month_spec (play);
  g_autoptr (SrvMonth) month = srv_month_new (&how, (SrvMonthCause *)(void *)causes->data, causes->len);
  if (!play_states (play, own, month, error))
    return FALSE;
  for (guint i = 0; i < month->losses->len; i++)
    if (!play_loss (play, own, month, &g_array_index (month->losses, SrvMonthLoss, i), error))
      return FALSE;
  take_month (play, month, causes, own);
  return TRUE;
}
