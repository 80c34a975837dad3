/* Random flows: sizes by a distribution, starts as a Poisson process, hosts by a pattern. Each has a random stream of its own, so
 * that a change of sizes leaves starts and hosts as they are. */
#include <math.h>

#include "base/random.h"
#include "flows-private.h"

/* Longer runs leave the clock's range while flows still move: half of 2^64 ps. */
#define MOST_SPAN_S 9e6

static const ScnFlowSizes *
sizes_of (const ScnFlowsSpec *spec)
{
  return spec->sizes.value;
}

/* Between two points the distribution is linear, as generators of traffic draw it; what lies at the first point is of that size. */
double
scn_flows_mean_B (const ScnFlowsSpec *spec)
{
  const ScnFlowSizes *sizes = sizes_of (spec);
  if (sizes == NULL)
    return spec->bytes.v;
  double mean_B = sizes->bytes.item[0].v * sizes->cumulative.item[0].v;
  for (unsigned i = 1; i < sizes->bytes.n; i++)
    mean_B +=
        (sizes->cumulative.item[i].v - sizes->cumulative.item[i - 1].v) * (sizes->bytes.item[i].v + sizes->bytes.item[i - 1].v) / 2;
  return mean_B;
}

static double
draw_size (const ScnFlowsSpec *spec, BaseRandom *random)
{
  const ScnFlowSizes *sizes = sizes_of (spec);
  if (sizes == NULL)
    return spec->bytes.v;
  const double u = base_random_unit (random);
  unsigned i = 0;
  while (i + 1 < sizes->cumulative.n && sizes->cumulative.item[i].v <= u)
    i++;
  if (i == 0)
    return sizes->bytes.item[0].v;
  const double before = sizes->cumulative.item[i - 1].v, step = sizes->cumulative.item[i].v - before;
  const double low = sizes->bytes.item[i - 1].v, high = sizes->bytes.item[i].v;
  return fmax (1, ceil (low + (high - low) * (u - before) / step));
}

/* Each host sends to another one, and each receives from one: a random cycle through all (Sattolo). Returned: full. */
static guint32 *
draw_cycle (guint32 n, guint64 seed)
{
  BaseRandom random = base_random_stream (seed, "flows permutation");
  guint32 *to = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    to[i] = i;
  for (guint32 i = n - 1; i > 0; i--) {
    const guint32 k = base_random_below (&random, i), swap = to[i];
    to[i] = to[k];
    to[k] = swap;
  }
  return to;
}

typedef struct {
  const ScnFlowsSpec *spec;
  guint32 n_hosts, fan_in;
  guint32 *cycle; /* of a permutation */
  BaseRandom random;
  guint32 receiver; /* of an incast */
} Pattern;

/* Any host but `other`. */
static guint32
draw_other (Pattern *pattern, guint32 other)
{
  const guint32 host = base_random_below (&pattern->random, pattern->n_hosts - 1);
  return host + (host >= other);
}

/* `k`: which flow of those that start together. */
static void
draw_hosts (Pattern *pattern, guint32 k, ScnFlow *flow)
{
  switch ((ScnHosts)pattern->spec->hosts.v) {
    case SCN_HOSTS_INCAST:
      if (k == 0)
        pattern->receiver = base_random_below (&pattern->random, pattern->n_hosts);
      flow->dst = pattern->receiver;
      flow->src = draw_other (pattern, flow->dst);
      return;
    case SCN_HOSTS_PERMUTATION:
      flow->src = base_random_below (&pattern->random, pattern->n_hosts);
      flow->dst = pattern->cycle[flow->src];
      return;
    case SCN_HOSTS_HOT_SPOT:
      if (base_random_unit (&pattern->random) < pattern->spec->hot.v) {
        flow->dst = 0;
        flow->src = draw_other (pattern, 0);
        return;
      }
      break;
    case SCN_HOSTS_UNIFORM:
    default:
      break;
  }
  flow->src = base_random_below (&pattern->random, pattern->n_hosts);
  flow->dst = draw_other (pattern, flow->src);
}

GArray *
scn_flows_draw (const Scn *scenario, const ScnFlowsSpec *spec, double host_Bps, double *span_s, GError **error)
{
  const guint n = (guint)spec->flows.v;
  Pattern pattern = { .spec = spec, .n_hosts = scenario->system.gpus->len, .fan_in = 1 };
  if (spec->hosts.v == SCN_HOSTS_INCAST)
    pattern.fan_in = (guint32)spec->fan_in.v;
  const double every_s = spec->arrivals.v == SCN_ARRIVE_AT_ONCE
                             ? 0
                             : pattern.fan_in * scn_flows_mean_B (spec) / (spec->load.v * host_Bps * pattern.n_hosts);
  *span_s = every_s * ceil (n / (double)pattern.fan_in);
  if (*span_s > MOST_SPAN_S) {
    col_fail_at (error, spec->load.mark, "%u flows arrive over %.3g days at this load; at most %.0f days are simulated", n,
                 *span_s / 86400, MOST_SPAN_S / 86400);
    return NULL;
  }
  g_autofree guint32 *cycle = spec->hosts.v == SCN_HOSTS_PERMUTATION ? draw_cycle (pattern.n_hosts, scenario->seed) : NULL;
  pattern.cycle = cycle;
  pattern.random = base_random_stream (scenario->seed, "flows hosts");
  BaseRandom sizes = base_random_stream (scenario->seed, "flows sizes");
  BaseRandom arrivals = base_random_stream (scenario->seed, "flows arrivals");
  GArray *flows = g_array_sized_new (FALSE, FALSE, sizeof (ScnFlow), n);
  double at_s = 0;
  for (guint i = 0; i < n; i++) {
    const guint32 k = i % pattern.fan_in;
    ScnFlow flow = { 0 };
    if (k == 0 && i > 0)
      at_s += spec->arrivals.v == SCN_ARRIVE_POISSON ? base_random_exponential (&arrivals, every_s) : every_s;
    flow.start = eng_time_from_s (at_s);
    flow.bytes = draw_size (spec, &sizes);
    draw_hosts (&pattern, k, &flow);
    g_array_append_val (flows, flow);
  }
  return flows;
}
