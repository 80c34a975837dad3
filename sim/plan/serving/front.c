/* Fronts of a plan for a service: what each topology gives at every load, by the closed form.
 *
 *     replicas that do both: X requests/s on g GPUs give X · output / g tokens/s of a GPU
 *     pools that are apart:  output / (g_p / X_p + g_d / X_d), where the pool that is not on the axis has its largest load within
 *                            its limit
 *
 * * Points: loads of a replica from a lone request to the most that it serves, in equal ratios. A point stays if no other one of
 * its topology is better on both axes. Check: test_plan_service (a front only falls; the plan's own row is on or below it). */
#include <math.h>

#include "fleet-private.h"

#define LOADS      24u
#define LEAST_LOAD 1e-2 /* of the largest */
#define MOST_RATE  1e6

/* ---- loads of a layout ---- */

static double
most_rate (const PlnFleet *fleet, PlnFleetCut *cut, PlnFleetRole role)
{
  SrvSteadyTimes now;
  double low = 1e-6, high = 1e-3;
  if (!pln_fleet_times (fleet, cut, role, low, &now))
    return 0;
  while (high < MOST_RATE && pln_fleet_times (fleet, cut, role, high, &now)) {
    low = high;
    high *= 2;
  }
  while (high > low * 1.01) {
    const double rate = sqrt (low * high);
    *(pln_fleet_times (fleet, cut, role, rate, &now) ? &low : &high) = rate;
  }
  return low;
}

typedef struct {
  PlnFleet *fleet;
  PlnFleetFront which;
  guint machine;
  double usd_per_gpu;  /* of a month; NAN: no price */
  double other_gpus_s; /* GPUs of the other pool for a request/s; 0: there is none */
  const PlnFleetLayout *other;
  GArray *points;
} Walk;

static double
mtok_usd (const Walk *walk, double tokens_per_s_gpu)
{
  return walk->usd_per_gpu / (tokens_per_s_gpu * 30 * 86400) * 1e6;
}

/* Whether the limit that is not on the axis is kept. */
static gboolean
is_kept (const Walk *walk, const PlnFleetCut *cut, PlnFleetRole role, const SrvSteadyTimes *now)
{
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (walk->fleet, &ttft_s, &tpot_s, &fraction);
  if (role != PLN_FLEET_ALL) /* the other pool keeps it */
    return TRUE;
  return walk->which == PLN_FLEET_BY_TTFT ? pln_fleet_late_tpot_s (now) <= tpot_s : pln_fleet_late_ttft_s (cut, now) <= ttft_s;
}

static void
add_point (Walk *walk, const PlnFleetCut *cut, PlnFleetRole role, double rate, const SrvSteadyTimes *now)
{
  const double gpus_s = cut->layout.gpus / rate + walk->other_gpus_s, tokens = walk->fleet->output / gpus_s;
  PlnFleetPoint point = { .machine = walk->machine, .apart = role != PLN_FLEET_ALL, .y = mtok_usd (walk, tokens) };
  point.pools[role == PLN_FLEET_DECODE ? 1 : 0] = cut->layout;
  if (point.apart)
    point.pools[role == PLN_FLEET_DECODE ? 0 : 1] = *walk->other;
  if (walk->which == PLN_FLEET_BY_USER) {
    point.x = 1 / now->tpot_s;
    point.y = tokens;
  } else
    point.x = walk->which == PLN_FLEET_BY_TTFT ? pln_fleet_late_ttft_s (cut, now) : pln_fleet_late_tpot_s (now);
  if (isfinite (point.x) && isfinite (point.y) && point.x > 0)
    g_array_append_val (walk->points, point);
}

static void
add_loads (Walk *walk, PlnFleetCut *cut, PlnFleetRole role)
{
  const double most = most_rate (walk->fleet, cut, role), step = pow (LEAST_LOAD, 1.0 / (LOADS - 1));
  double rate = most;
  for (guint i = 0; i < LOADS && most > 0; i++, rate *= step) {
    SrvSteadyTimes now;
    if (pln_fleet_times (walk->fleet, cut, role, rate, &now) && is_kept (walk, cut, role, &now))
      add_point (walk, cut, role, rate, &now);
  }
}

/* ---- the front ---- */

static gint
by_x (gconstpointer a, gconstpointer b)
{
  const PlnFleetPoint *p = a, *q = b;
  return p->x < q->x ? -1 : p->x > q->x ? 1 : p->y < q->y ? -1 : p->y > q->y;
}

/* Costs fall as times are allowed to rise; throughput falls as users get more, so that one is read from its other end. */
static void
keep_front (GArray *points, gboolean user, GArray *out)
{
  const guint first = out->len;
  double best = user ? 0 : (double)INFINITY;
  g_array_sort (points, by_x);
  for (guint i = 0; i < points->len; i++) {
    const PlnFleetPoint *point = &g_array_index (points, PlnFleetPoint, user ? points->len - 1 - i : i);
    if (user ? point->y <= best : point->y >= best)
      continue;
    best = point->y;
    g_array_append_vals (out, point, 1);
  }
  for (guint i = first, k = out->len; user && i + 1 < k; i++, k--) {
    const PlnFleetPoint swap = g_array_index (out, PlnFleetPoint, i);
    g_array_index (out, PlnFleetPoint, i) = g_array_index (out, PlnFleetPoint, k - 1);
    g_array_index (out, PlnFleetPoint, k - 1) = swap;
  }
}

/* The layout that serves most on a GPU in that pool, within its limit; NULL: none does. */
static const PlnFleetCut *
best_of_pool (const PlnFleetMachine *machine, gboolean decode, double *gpus_s)
{
  const PlnFleetCut *best = NULL;
  *gpus_s = (double)INFINITY;
  for (guint i = 0; i < machine->cuts->len; i++) {
    const PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, i);
    const double rate = decode ? cut->decode_rate : cut->prefill_rate;
    if (!(rate > 0) || cut->layout.gpus / rate >= *gpus_s)
      continue;
    *gpus_s = cut->layout.gpus / rate;
    best = cut;
  }
  return best;
}

static double
month_usd_of_gpu (const PlnFleet *fleet, const PlnFleetResult *result, guint machine)
{
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    const double usd = fleet->prices->basis == PLN_ACQUISITION_BUY ? row->own_usd : row->rent_usd;
    if (row->machine == machine && fleet->prices->basis != PLN_ACQUISITION_NONE)
      return usd / row->gpus;
  }
  return (double)NAN;
}

GArray *
pln_fleet_front (PlnFleet *fleet, const PlnFleetResult *result, PlnFleetFront which)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (PlnFleetPoint));
  for (guint m = 0; m < fleet->machines->len; m++) {
    const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, m);
    g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (PlnFleetPoint));
    Walk walk = {
      .fleet = fleet, .which = which, .machine = m, .usd_per_gpu = month_usd_of_gpu (fleet, result, m), .points = points
    };
    const gboolean decode = which == PLN_FLEET_BY_TTFT; /* the pool that is not on the axis */
    const PlnFleetRole role = decode ? PLN_FLEET_PREFILL : PLN_FLEET_DECODE;
    double gpus_s;
    for (guint i = 0; i < machine->cuts->len && pln_fleet_wants (fleet, "all"); i++)
      add_loads (&walk, &g_array_index (machine->cuts, PlnFleetCut, i), PLN_FLEET_ALL);
    const PlnFleetCut *other =
        fleet->output > 1 && pln_fleet_wants (fleet, "apart") ? best_of_pool (machine, decode, &gpus_s) : NULL;
    for (guint i = 0; i < machine->cuts->len && other != NULL; i++) {
      PlnFleetCut *cut = &g_array_index (machine->cuts, PlnFleetCut, i);
      if (cut->layout.weights != other->layout.weights)
        continue;
      walk.other = &other->layout;
      walk.other_gpus_s = gpus_s;
      add_loads (&walk, cut, role);
    }
    keep_front (points, which == PLN_FLEET_BY_USER, out);
  }
  return out;
}
