/* The keys of `load`, what `as` fills in, and which keys exclude each other. */
#include "load-private.h"

#include "base/diag.h"

static const BaseName as_names[] = {
  { "none", SRV_LOAD_PLAIN, "as the other keys say" },
  { "vllm_bench", SRV_LOAD_VLLM_BENCH, "`vllm bench serve`: 1000 requests, gaps rescaled so that n requests take n / rate" },
  { "aiperf", SRV_LOAD_AIPERF, "AIPerf: 10 requests per slot, 100 different prompts" },
  { "inferencex", SRV_LOAD_INFERENCEX, "InferenceX: closed, 10 requests per slot, lengths uniform in 0.8 L … L" },
  { "mlperf_server", SRV_LOAD_MLPERF_SERVER, "MLPerf Inference, Server: Poisson arrivals for 600 s" },
  { NULL, 0, NULL },
};
static const BaseName format_names[] = {
  { "auto", SRV_TRACE_AUTO, "by the first line" },
  { "azure", SRV_TRACE_AZURE, "Azure LLM inference traces of 2023, 2024 and 2025, CSV" },
  { "mooncake", SRV_TRACE_MOONCAKE, "Mooncake, JSON Lines: ms, hash_ids of 512 tokens" },
  { "burstgpt", SRV_TRACE_BURSTGPT, "BurstGPT, CSV; rows without an answer are left out" },
  { "bailian", SRV_TRACE_BAILIAN, "Qwen-Bailian, JSON Lines: s, hash_ids of 16 tokens" },
  { "sharegpt", SRV_TRACE_SHAREGPT, "ShareGPT conversations, JSON: lengths alone, estimated from the text" },
  { "csv", SRV_TRACE_CSV, "columns time_s (or time_ms), input, output, session" },
  { NULL, 0, NULL },
};
static const BaseName law_names[] = {
  { "uniform", SRV_LENGTH_UNIFORM, "whole numbers from `min` to `max`" },
  { "normal", SRV_LENGTH_NORMAL, "by `mean` and `deviation`" },
  { "lognormal", SRV_LENGTH_LOGNORMAL, "by `median` and `sigma`" },
  { NULL, 0, NULL },
};

#define TOKENS(T, key, member, ...) BASE_ROW_NUM (T, key, member, COUNT, .min = "1", .max = "100 M", __VA_ARGS__)
static const BaseField length_fields[] = {
  BASE_ROW (SrvLengthSpec, "law", law, ENUM, .names = law_names, .required = TRUE, .help = "distribution"),
  TOKENS (SrvLengthSpec, "min", min, .help = "fewest tokens; default of other laws than `uniform`: 1"),
  TOKENS (SrvLengthSpec, "max", max, .help = "most tokens; default of other laws than `uniform`: no limit"),
  BASE_ROW_NUM (SrvLengthSpec, "mean", mean, NUMBER, .min = "1", .max = "1e8", .help = "of `normal`, tokens"),
  BASE_ROW_NUM (SrvLengthSpec, "deviation", deviation, NUMBER, .max = "1e8", .help = "of `normal`, tokens"),
  BASE_ROW_NUM (SrvLengthSpec, "median", median, NUMBER, .min = "1", .max = "1e8", .help = "of `lognormal`, tokens"),
  BASE_ROW_NUM (SrvLengthSpec, "sigma", sigma, NUMBER, .max = "10",
                .help = "of `lognormal`: standard deviation of the length's natural logarithm"),
  BASE_ROW_END,
};
static const BaseSchema length_schema = { .name = "lengths.input", .help = "Lengths are random.", .fields = length_fields };

static const BaseField lengths_fields[] = {
  BASE_ROW (SrvLengthsSpec, "input", input, MAP, .sub = &length_schema, .help = "of prompts"),
  BASE_ROW (SrvLengthsSpec, "output", output, MAP, .sub = &length_schema, .help = "of answers"),
  BASE_ROW (SrvLengthsSpec, "file", file, STR,
            .help = "a CSV with columns `input` and `output`, of at most 16 MiB; each request has those of a random row"),
  BASE_ROW_END,
};
const BaseSchema srv_schema_lengths = { .name = "load.lengths",
                                        .help = "Distributions of lengths, in place of `input` and `output`.",
                                        .fields = lengths_fields };

#define NUM(key, member, dimension, ...) BASE_ROW_NUM (SrvLoadSpec, key, member, dimension, __VA_ARGS__)
static const BaseField load_fields[] = {
  BASE_ROW (SrvLoadSpec, "as", as, ENUM, .names = as_names, .fallback = "none", .help = "imitates a benchmark client"),
  NUM ("closed", closed, COUNT, .min = "1", .max = "1 M",
       .help = "requests in flight: each answer sends the next request; with `rate` or a trace: the most in flight"),
  NUM ("rate", rate, NUMBER, .min = "1e-9", .max = "1e9",
       .help = "requests per second, with exponential gaps; sessions per second where there are `turns`"),
  NUM ("burstiness", burstiness, NUMBER, .min = "0.001", .max = "1e6",
       .help = "gaps follow a gamma distribution of this shape; below 1 they come in bursts, 1 is Poisson"),
  BASE_ROW (SrvLoadSpec, "constant", constant, BOOL, .fallback = "no", .help = "equal gaps"),
  NUM ("ramp_to", ramp_to, NUMBER, .min = "1e-9", .max = "1e9",
       .help = "requests per second at the end; the rate changes linearly over `duration`, or over `requests`"),
  NUM ("requests", requests, COUNT, .min = "1", .max = "1 G",
       .help = "requests that are counted; default: all of a trace, 10 per slot if `closed`, else 1000 unless `duration` is given"),
  NUM ("duration", duration, TIME, .min = "1 ms", .help = "no request is sent later"),
  NUM ("warm_up", warm_up, COUNT, .max = "1 G", .fallback = "0", .help = "requests before those that are counted"),
  TOKENS (SrvLoadSpec, "input", input, .help = "tokens of a prompt; of a session: of each question"),
  TOKENS (SrvLoadSpec, "output", output, .help = "tokens of an answer"),
  NUM ("range", range, RATIO, .max = "0.999999",
       .help = "lengths are uniform in L (1 - range) … L (1 + range); as inferencex: L (1 - range) … L"),
  BASE_ROW (SrvLoadSpec, "lengths", lengths, MAP, .sub = &srv_schema_lengths, .help = "random lengths"),
  NUM ("prefix", prefix, COUNT, .max = "100 M", .fallback = "0", .help = "tokens that all prompts begin with, on top of `input`"),
  NUM ("prompts", prompts, COUNT, .min = "1", .max = "1 G",
       .help = "different prompts, which requests take in turn, so that a prefix cache finds them; default: each has its own"),
  NUM ("turns", turns, COUNT, .min = "1", .max = "1 M", .fallback = "1",
       .help = "requests of a session; each prompt repeats all questions and answers before it"),
  NUM ("think", think, TIME, .fallback = "0 s", .help = "from an answer to the session's next request"),
  BASE_ROW (SrvLoadSpec, "trace", trace, STR, .help = "a file of requests, in place of lengths and rates; read as it runs"),
  BASE_ROW (SrvLoadSpec, "format", format, ENUM, .names = format_names, .fallback = "auto", .help = "of the trace"),
  NUM ("scale", scale, NUMBER, .min = "1e-6", .max = "1e6", .fallback = "1", .help = "how much faster a trace's requests arrive"),
  BASE_ROW_END,
};
const BaseSchema srv_schema_load = { .name = "load",
                                     .help = "Requests: when they arrive and how long they are, by a law or from a trace.",
                                     .fields = load_fields,
                                     .scalar_key = NULL };

/* ---- what `as` fills in ---- */

static void
fill (BaseNum *num, double value)
{
  if (num->set)
    return;
  num->v = value;
  num->set = TRUE;
}

static void
fill_requests (SrvLoadSpec *spec)
{
  if (spec->requests.set)
    return;
  const gboolean ends = spec->trace.set || spec->duration.set; /* by itself */
  if (spec->closed.set && !ends)
    fill (&spec->requests, 10 * spec->closed.v);
  else if (!ends)
    fill (&spec->requests, 1000); /* num-prompts of vllm bench serve 0.11 */
}

static void
fill_preset (SrvLoadSpec *spec)
{
  switch ((SrvLoadAs)spec->as.v) {
    case SRV_LOAD_VLLM_BENCH: /* vllm/benchmarks/serve.py and datasets.py, v0.11: random dataset */
      if (!spec->trace.set && !spec->lengths.head.set) {
        fill (&spec->input, 1024);
        fill (&spec->output, 128);
      }
      if (!spec->trace.set && !spec->duration.set)
        fill (&spec->requests, 1000);
      break;
    case SRV_LOAD_INFERENCEX: /* SemiAnalysisAI/InferenceX, benchmarks: --random-range-ratio 0.8, --num-prompts 10 x concurrency */
      if (!spec->trace.set && !spec->lengths.head.set)
        fill (&spec->range, 0.2);
      break;
    case SRV_LOAD_MLPERF_SERVER: /* mlcommons/inference loadgen/mlperf.conf: *.Server.min_duration = 600000 ms */
      if (!spec->requests.set && !spec->trace.set)
        fill (&spec->duration, 600);
      break;
    case SRV_LOAD_AIPERF: /* ai-dynamo/aiperf docs/cli_options.md: --num-dataset-entries, 100, "reused until benchmarking is complete" */
      if (!spec->trace.set && !(spec->turns.v > 1))
        fill (&spec->prompts, 100);
      break;
    case SRV_LOAD_PLAIN:
    default:
      break;
  }
  fill_requests (spec);
}

/* ---- keys that exclude each other ---- */

typedef struct {
  const char *key;
  gboolean set;
  BaseMark mark;
} Key;

#define KEY(name, member)                     \
  {                                           \
    name, spec->member.set, spec->member.mark \
  }

/* Each of `keys` that is set is refused, `why`. */
static gboolean
refuse (const Key *keys, guint n, const char *why, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (keys[i].set)
      return base_fail_at (error, keys[i].mark, "'%s' %s", keys[i].key, why);
  return TRUE;
}

static gboolean
check_arrivals (const SrvLoadSpec *spec, GError **error)
{
  const Key laws[] = { KEY ("burstiness", burstiness),
                       KEY ("ramp_to", ramp_to),
                       { "constant", spec->constant.v, spec->constant.mark } };
  const Key poisson[] = { laws[0], laws[2] }, rate[] = { KEY ("rate", rate), KEY ("ramp_to", ramp_to) };
  const Key trace[] = { KEY ("format", format), KEY ("scale", scale) }, scale[] = { KEY ("scale", scale) };
  if (!spec->rate.set && !refuse (laws, G_N_ELEMENTS (laws), "needs 'rate', in requests per second", error))
    return FALSE;
  if (spec->constant.v && spec->burstiness.set)
    return base_fail_at (error, spec->constant.mark, "'constant' and 'burstiness' are two laws of gaps; give one of them");
  if (!spec->trace.set && !refuse (trace, G_N_ELEMENTS (trace), "is of a trace; give 'trace' too, or leave it out", error))
    return FALSE;
  if (spec->rate.set && spec->trace.set && !refuse (scale, 1, "changes the trace's arrivals, which 'rate' replaces", error))
    return FALSE;
  if (spec->as.v == SRV_LOAD_MLPERF_SERVER && !spec->rate.set)
    return base_fail_at (error, spec->as.mark, "mlperf_server needs 'rate', in requests per second");
  if (spec->as.v == SRV_LOAD_MLPERF_SERVER && !refuse (poisson, 2, "differs from mlperf_server, which is Poisson", error))
    return FALSE;
  if (spec->as.v == SRV_LOAD_INFERENCEX && !spec->closed.set)
    return base_fail_at (error, spec->as.mark, "inferencex needs 'closed', the number of requests in flight");
  if (spec->as.v == SRV_LOAD_INFERENCEX && !refuse (rate, 2, "differs from inferencex, which is a closed loop", error))
    return FALSE;
  return spec->rate.set || spec->closed.set || spec->trace.set || spec->as.v == SRV_LOAD_VLLM_BENCH ||
         base_fail_at (error, spec->head.mark, "'load' does not say when requests arrive; give 'closed', 'rate' or 'trace'");
}

static gboolean
check_law (const SrvLengthSpec *law, const char *what, GError **error)
{
  const BaseMark at = law->head.mark;
  switch ((SrvLengthLaw)law->law.v) {
    case SRV_LENGTH_NORMAL:
      if (!law->mean.set || !law->deviation.set)
        return base_fail_at (error, at, "lengths.%s: a normal law needs 'mean' and 'deviation', in tokens", what);
      break;
    case SRV_LENGTH_LOGNORMAL:
      if (!law->median.set || !law->sigma.set)
        return base_fail_at (error, at, "lengths.%s: a lognormal law needs 'median', in tokens, and 'sigma'", what);
      break;
    case SRV_LENGTH_UNIFORM:
    default:
      if (!law->min.set || !law->max.set)
        return base_fail_at (error, at, "lengths.%s: a uniform law needs 'min' and 'max', in tokens", what);
      break;
  }
  return !law->min.set || !law->max.set || law->min.v <= law->max.v ||
         base_fail_at (error, law->min.mark, "lengths.%s: 'min' is above 'max'", what);
}

static gboolean
check_lengths (const SrvLoadSpec *spec, GError **error)
{
  const SrvLengthsSpec *lengths = &spec->lengths;
  const Key own[] = { KEY ("input", input),
                      KEY ("output", output),
                      KEY ("range", range),
                      KEY ("prefix", prefix),
                      KEY ("prompts", prompts),
                      { "lengths", lengths->head.set, lengths->head.mark },
                      KEY ("turns", turns),
                      KEY ("think", think) };
  const Key file[] = { KEY ("input", input),
                       KEY ("output", output),
                       KEY ("range", range),
                       { "lengths.input", lengths->input.head.set, lengths->input.head.mark },
                       { "lengths.output", lengths->output.head.set, lengths->output.head.mark } };
  if (spec->trace.set)
    return refuse (own, G_N_ELEMENTS (own), "differs from the trace, which has the lengths; leave it out", error);
  if (lengths->file.set)
    return refuse (file, G_N_ELEMENTS (file), "is in the file of lengths already; leave it out", error);
  if (spec->think.set && spec->think.v > 0 && !(spec->turns.v > 1))
    return base_fail_at (error, spec->think.mark, "'think' is between requests of a session; give 'turns', at least 2");
  if (spec->prompts.set && spec->turns.v > 1)
    return base_fail_at (error, spec->prompts.mark, "'prompts' differs from 'turns', with which each session has its own; give one");
  const Key fixed[] = { KEY ("input", input), KEY ("output", output) };
  const SrvLengthSpec *const laws[] = { &lengths->input, &lengths->output };
  for (guint i = 0; i < 2; i++) {
    if (laws[i]->head.set && fixed[i].set)
      return base_fail_at (error, fixed[i].mark, "'%s' and 'lengths.%s' both say the length; give one", fixed[i].key, fixed[i].key);
    if (laws[i]->head.set && !check_law (laws[i], fixed[i].key, error))
      return FALSE;
    if (!laws[i]->head.set && !fixed[i].set)
      return base_fail_at (error, spec->head.mark, "'load' does not say how long %s are; give '%s' in tokens, 'lengths' or 'trace'",
                           i == 0 ? "prompts" : "answers", fixed[i].key);
  }
  return TRUE;
}

gboolean
srv_load_settle (const SrvLoadSpec *spec, SrvLoadSpec *out, GError **error)
{
  SrvLoadSpec settled = *spec;
  fill_preset (&settled);
  if (!check_arrivals (spec, error) || !check_lengths (&settled, error))
    return FALSE;
  if (settled.ramp_to.set && !settled.duration.set && !settled.requests.set)
    return base_fail_at (error, settled.ramp_to.mark, "'ramp_to' needs 'duration' or 'requests', over which the rate changes");
  *out = settled;
  return TRUE;
}

BaseStream *
srv_load_open (const BaseStr *key, const char *path, gsize line_B, GError **error)
{
  g_autoptr (GError) why = NULL;
  BaseStream *stream = base_stream_open (path, line_B, &why);
  if (stream == NULL)
    base_fail_at (error, key->mark, "%s", why->message);
  return stream;
}

char *
srv_load_path (const BaseStr *key)
{
  const char *file = key->mark.file;
  if (g_path_is_absolute (key->v) || key->mark.line == 0 || file == NULL || g_str_has_prefix (file, "/dev/") ||
      g_str_has_prefix (file, "/proc/"))
    return g_strdup (key->v);
  g_autofree char *folder = g_path_get_dirname (file);
  return strcmp (folder, ".") == 0 ? g_strdup (key->v) : g_build_filename (folder, key->v, NULL);
}
