/* Lengths and arrivals by law. Gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000);
 * shapes below 1 by a draw of shape + 1 times u^(1/shape). A rate that changes: gaps of mean 1 in the integral of the rate,
 * which is inverted (Çinlar, "Introduction to Stochastic Processes", 1975, ch. 4.7). vllm bench serve rescales the gaps of n
 * requests so that they last n / rate in all (vllm/benchmarks/serve.py, get_request, v0.11). */
#include "load-private.h"

#include <math.h>

#include "base/diag.h"

#define MOST_PAIRS_B ((gsize)16 << 20)

/* ---- lengths ---- */

static guint32
whole (double tokens, const SrvLengthSpec *law)
{
  const double least = law->min.set ? law->min.v : 1, most = law->max.set ? law->max.v : SRV_TOKENS_MOST;
  return (guint32)CLAMP (round (tokens), least, most);
}

/* Whole numbers of both ends. */
static guint32
between (BaseRandom *random, double least, double most)
{
  least = MAX (least, 1);
  return (guint32)least + base_random_below (random, (guint32)(MAX (most, least) - least) + 1);
}

static guint32
draw_law (const SrvLengthSpec *law, BaseRandom *random)
{
  switch ((SrvLengthLaw)law->law.v) {
    case SRV_LENGTH_NORMAL:
      return whole (law->mean.v + law->deviation.v * base_random_normal (random), law);
    case SRV_LENGTH_LOGNORMAL:
      return whole (law->median.v * exp (law->sigma.v * base_random_normal (random)), law);
    case SRV_LENGTH_UNIFORM:
    default:
      return between (random, law->min.v, law->max.v);
  }
}

static guint32
draw_fixed (const SrvLoadSpec *spec, double length, BaseRandom *random)
{
  if (!(spec->range.v > 0))
    return (guint32)length;
  const double above = spec->as.v == SRV_LOAD_INFERENCEX ? 0 : spec->range.v;
  /* The product may miss a whole number by a rounding error: 1000 · 0.8 is 800. */
  return between (random, floor (length * (1 - spec->range.v) + 1e-9), MIN (ceil (length * (1 + above) - 1e-9), SRV_TOKENS_MOST));
}

static gboolean
read_pairs (SrvLengths *lengths, const BaseStr *key, GError **error)
{
  g_autofree char *path = srv_load_path (key);
  BaseStream *stream = srv_load_open (key, path, 4096, error);
  g_autoptr (SrvTrace) trace = stream == NULL ? NULL : srv_trace_new (stream, SRV_TRACE_CSV, error);
  if (trace == NULL)
    return FALSE;
  lengths->pairs = g_array_new (FALSE, FALSE, 2 * sizeof (guint32));
  SrvTraceRow row;
  g_autoptr (GError) why = NULL;
  while (srv_trace_next (trace, &row, NULL, &why)) {
    const guint32 pair[2] = { row.input, row.output };
    g_array_append_val (lengths->pairs, pair);
    if (lengths->pairs->len > MOST_PAIRS_B / sizeof pair)
      return base_fail_at (error, key->mark, "%s: more than %" G_GSIZE_FORMAT " rows of lengths; name it as 'trace' instead", path,
                           MOST_PAIRS_B / sizeof pair);
  }
  if (why != NULL) {
    g_propagate_error (error, g_steal_pointer (&why));
    return FALSE;
  }
  return lengths->pairs->len > 0 || base_fail_at (error, key->mark, "%s: no row of lengths behind the head", path);
}

gboolean
srv_lengths_init (SrvLengths *lengths, const SrvLoadSpec *spec, guint64 seed, GError **error)
{
  *lengths = (SrvLengths){ .input = spec->input.v, .output = spec->output.v, .spec = *spec };
  lengths->input_random = base_random_stream (seed, "serving.load.input");
  lengths->output_random = base_random_stream (seed, "serving.load.output");
  return !spec->lengths.file.set || read_pairs (lengths, &spec->lengths.file, error);
}

void
srv_lengths_clear (SrvLengths *lengths)
{
  g_clear_pointer (&lengths->pairs, g_array_unref);
}

void
srv_lengths_draw (SrvLengths *lengths, guint32 *input, guint32 *output)
{
  if (lengths->pairs != NULL) {
    const guint at = base_random_below (&lengths->input_random, lengths->pairs->len);
    const guint32 *pair = &g_array_index (lengths->pairs, guint32, 2 * at);
    *input = pair[0];
    *output = pair[1];
    return;
  }
  const SrvLoadSpec *spec = &lengths->spec;
  *input = spec->lengths.input.head.set ? draw_law (&spec->lengths.input, &lengths->input_random)
                                        : draw_fixed (spec, lengths->input, &lengths->input_random);
  *output = spec->lengths.output.head.set ? draw_law (&spec->lengths.output, &lengths->output_random)
                                          : draw_fixed (spec, lengths->output, &lengths->output_random);
}

/* ---- arrivals ---- */

/* Shape and mean: `shape` at least 1. */
static double
gamma_of (BaseRandom *random, double shape)
{
  const double d = shape - 1.0 / 3, c = 1 / sqrt (9 * d);
  for (;;) {
    const double x = base_random_normal (random), v = 1 + c * x;
    if (v <= 0)
      continue;
    const double v3 = v * v * v, u = base_random_unit (random);
    if (log1p (-u) < 0.5 * x * x + d - d * v3 + d * log (v3))
      return d * v3;
  }
}

/* A gap of mean 1. */
static double
gap (double shape, BaseRandom *random)
{
  if (shape == 0)
    return 1;
  if (shape == 1)
    return base_random_exponential (random, 1);
  if (shape > 1)
    return gamma_of (random, shape) / shape;
  const double whole_one = gamma_of (random, shape + 1);
  return whole_one * exp (log1p (-base_random_unit (random)) / shape) / shape;
}

/* When the integral of the rate is `passed`. */
static double
time_of (const SrvArrivals *arrivals, double passed)
{
  const double a = arrivals->rate, b = arrivals->ramp_to, over = arrivals->ramp_s;
  if (over == 0)
    return passed / a;
  const double most = (a + b) / 2 * over;
  if (passed >= most)
    return over + (passed - most) / b;
  /* a t + (b - a) t² / (2 over) = passed, in the form that does not cancel */
  return 2 * passed / (a + sqrt (a * a + 2 * (b - a) / over * passed));
}

void
srv_arrivals_init (SrvArrivals *arrivals, const SrvLoadSpec *spec, guint64 seed)
{
  *arrivals = (SrvArrivals){ .rate = spec->rate.v, .factor = 1, .random = base_random_stream (seed, "serving.load.arrivals") };
  arrivals->shape = spec->constant.v ? 0 : spec->burstiness.set ? spec->burstiness.v : 1;
  const double n = spec->warm_up.v + spec->requests.v;
  if (spec->ramp_to.set) {
    arrivals->ramp_to = spec->ramp_to.v;
    arrivals->ramp_s = spec->duration.set ? spec->duration.v : 2 * n / (spec->rate.v + spec->ramp_to.v);
  }
  if (spec->as.v != SRV_LOAD_VLLM_BENCH || !spec->requests.set || spec->ramp_to.set)
    return;
  SrvArrivals copy = *arrivals;
  for (double i = 0; i < n; i++)
    copy.passed += gap (copy.shape, &copy.random);
  arrivals->factor = n / copy.passed;
}

double
srv_arrivals_next (SrvArrivals *arrivals)
{
  arrivals->passed += arrivals->factor * gap (arrivals->shape, &arrivals->random);
  return time_of (arrivals, arrivals->passed);
}
