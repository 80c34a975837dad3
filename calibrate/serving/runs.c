/* Results of benchmark clients of serving engines:
 *
 *     vllm bench serve --save-result, SGLang's bench_serving   {"max_concurrency", "request_rate", "num_prompts", "completed",
 *         "total_input_tokens", "total_output_tokens", "mean_ttft_ms", "mean_tpot_ms", …}, one document, or one a line
 *     AIPerf's profile_export_aiperf.json   {"time_to_first_token": {"unit", "avg", …}, "inter_token_latency": {…},
 *         "input_sequence_length", "output_sequence_length", "request_count", "input_config": {"loadgen": {"concurrency", …}}}
 *     InferenceX   {"hw", "framework", "tp", "ep", "dp_attention", "conc", "isl", "osl", "mean_ttft" (s), "mean_tpot", …}, or a
 *         list of them
 *
 * Sources: vllm-project/vllm vllm/benchmarks/serve.py, sgl-project/sglang python/sglang/bench_serving.py, ai-dynamo/aiperf
 * docs/tutorials/working-with-profile-exports.md, SemiAnalysisAI/InferenceX utils/process_result.py. */
#include <math.h>
#include <string.h>

#include "serving/serving-private.h"

static void
free_run (gpointer data)
{
  CalServingRun *run = data;
  g_free (run->place);
  g_free (run->engine);
  g_free (run->gpu);
  g_ptr_array_unref (run->sets);
  g_free (run);
}

GPtrArray *
cal_serving_runs_new (void)
{
  return g_ptr_array_new_with_free_func (free_run);
}

CalServingRun *
cal_serving_run_add (GPtrArray *runs, const char *file, unsigned line)
{
  CalServingRun *run = g_new0 (CalServingRun, 1);
  run->place = line > 0 ? g_strdup_printf ("%s:%u", file, line) : g_strdup (file);
  run->sets = g_ptr_array_new_with_free_func (g_free);
  run->ttft_s = run->tpot_s = (double)NAN;
  g_ptr_array_add (runs, run);
  return run;
}

void
cal_serving_set (CalServingRun *run, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (run->sets, g_strdup_vprintf (format, args));
  va_end (args);
}

/* ---- members of a document ---- */

/* One document, or one item of a list, that is read. */
typedef struct {
  const CalText *text;
  unsigned line; /* that the document begins on */
  int item;      /* of a list; -1: none */
  GPtrArray *runs;
} Reader;

static gboolean G_GNUC_PRINTF (4, 5) fail (const Reader *reader, const char *member, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *item = reader->item >= 0 ? g_strdup_printf ("[%d].", reader->item) : g_strdup ("");
  return cal_fail (reader->text, CAL_LINE (reader->line), error, "%s%s: %s", item, member, what);
}

/* A number above 0, times `unit`. */
static gboolean
need (const Reader *reader, JsonObject *in, const char *of, const char *key, double unit, double *out, GError **error)
{
  double value = (double)NAN;
  *out = (double)NAN;
  g_autofree char *member = g_strdup_printf ("%s%s", of, key);
  if (in == NULL || !json_object_has_member (in, key))
    return fail (reader, member, error, "missing; the client's result of a whole run has it");
  if (!cal_json_member (in, key, &value) || !isfinite (value) || !(value > 0))
    return fail (reader, member, error, "a number above 0 is accepted; leave a run out that has none");
  *out = value * unit;
  return TRUE;
}

/* NAN where it is missing, null or a word such as "inf". */
static double
maybe (JsonObject *in, const char *key)
{
  const double value = base_json_number (in, key);
  return isfinite (value) && value > 0 ? value : (double)NAN;
}

static CalServingRun *
add_run (const Reader *reader, double ttft_s, double tpot_s)
{
  CalServingRun *run = cal_serving_run_add (reader->runs, reader->text->path, reader->line);
  if (reader->item >= 0) {
    g_free (run->place);
    run->place = g_strdup_printf ("%s:%u: [%d]", reader->text->path, reader->line, reader->item);
  }
  run->ttft_s = ttft_s;
  run->tpot_s = tpot_s;
  return run;
}

/* ---- vllm bench serve, SGLang's bench_serving ---- */

static gboolean
read_vllm (const Reader *reader, JsonObject *in, GError **error)
{
  double ttft_s, tpot_s, done, input, output;
  if (!need (reader, in, "", "mean_ttft_ms", 1e-3, &ttft_s, error) ||
      !need (reader, in, "", "mean_tpot_ms", 1e-3, &tpot_s, error) || !need (reader, in, "", "completed", 1, &done, error) ||
      !need (reader, in, "", "total_input_tokens", 1, &input, error) ||
      !need (reader, in, "", "total_output_tokens", 1, &output, error))
    return FALSE;
  if (input < done || output < done)
    return fail (reader, input < done ? "total_input_tokens" : "total_output_tokens", error,
                 "less than one token for each of %.0f requests; leave this run out", done);
  CalServingRun *run = add_run (reader, ttft_s, tpot_s);
  const double closed = maybe (in, "max_concurrency"), rate = maybe (in, "request_rate"), shape = maybe (in, "burstiness");
  cal_serving_set (run, "workload.load={as: vllm_bench, requests: %.0f, input: %.0f, output: %.0f}", done, round (input / done),
                   round (output / done));
  if (isfinite (closed))
    cal_serving_set (run, "workload.load.closed=%.0f", closed);
  if (isfinite (rate))
    cal_serving_set (run, "workload.load.rate=%.6g", rate);
  if (isfinite (rate) && isfinite (shape) && fabs (shape - 1) > 1e-9)
    cal_serving_set (run, "workload.load.burstiness=%.6g", shape);
  return TRUE;
}

/* ---- AIPerf ---- */

static gboolean
unit_of (const Reader *reader, JsonObject *of, const char *key, double *unit, GError **error)
{
  static const struct {
    const char *name;
    double unit;
  } known[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "sec", 1 }, { "s", 1 } };
  const char *text = base_json_text (of, "unit");
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_strcmp0 (text, known[i].name) == 0) {
      *unit = known[i].unit;
      return TRUE;
    }
  g_autofree char *member = g_strdup_printf ("%s.unit", key);
  return fail (reader, member, error, "ns, us, ms and s are accepted");
}

/* The mean of a metric; `time`: in its unit. */
static gboolean
need_mean (const Reader *reader, JsonObject *in, const char *key, gboolean time, double *out, GError **error)
{
  JsonObject *metric = base_json_object (in, key);
  g_autofree char *of = g_strdup_printf ("%s.", key);
  double unit = 1;
  return (!time || metric == NULL || unit_of (reader, metric, key, &unit, error)) &&
         need (reader, metric, of, "avg", unit, out, error);
}

static gboolean
read_aiperf (const Reader *reader, JsonObject *in, GError **error)
{
  double ttft_s, tpot_s, input, output, requests;
  if (!need_mean (reader, in, "time_to_first_token", TRUE, &ttft_s, error) ||
      !need_mean (reader, in, "inter_token_latency", TRUE, &tpot_s, error) ||
      !need_mean (reader, in, "input_sequence_length", FALSE, &input, error) ||
      !need_mean (reader, in, "output_sequence_length", FALSE, &output, error) ||
      !need_mean (reader, in, "request_count", FALSE, &requests, error))
    return FALSE;
  JsonObject *loadgen = base_json_object (base_json_object (in, "input_config"), "loadgen");
  const double closed = maybe (loadgen, "concurrency"), rate = maybe (loadgen, "request_rate");
  CalServingRun *run = add_run (reader, ttft_s, tpot_s);
  cal_serving_aiperf_load (run, closed, rate, input, output, requests);
  return TRUE;
}

/* ---- InferenceX ---- */

/* "true", true; FALSE where there is none. */
static gboolean
is_true (JsonObject *in, const char *key)
{
  const char *text = base_json_text (in, key);
  return text != NULL ? g_ascii_strcasecmp (text, "true") == 0 : base_json_flag (in, key, FALSE);
}

static gboolean
read_inferencex (const Reader *reader, JsonObject *in, GError **error)
{
  double ttft_s, tpot_s, closed, tp;
  if (is_true (in, "disagg") || is_true (in, "is_multinode"))
    return fail (reader, is_true (in, "disagg") ? "disagg" : "is_multinode", error,
                 "runs of one aggregated engine are accepted; leave this one out");
  if (!need (reader, in, "", "mean_ttft", 1, &ttft_s, error) || !need (reader, in, "", "mean_tpot", 1, &tpot_s, error) ||
      !need (reader, in, "", "conc", 1, &closed, error) || !need (reader, in, "", "tp", 1, &tp, error))
    return FALSE;
  const double input = maybe (in, "isl"), output = maybe (in, "osl"), ep = maybe (in, "ep");
  const gboolean dp = is_true (in, "dp_attention");
  const char *drafts = base_json_text (in, "spec_decoding");
  drafts = drafts != NULL ? drafts : base_json_text (in, "mtp");
  CalServingRun *run = add_run (reader, ttft_s, tpot_s);
  run->engine = g_strdup (base_json_text (in, "framework"));
  run->gpu = g_strdup (base_json_text (in, "hw"));
  run->drafts = drafts != NULL && strcmp (drafts, "none") != 0 && strcmp (drafts, "off") != 0 && strcmp (drafts, "false") != 0;
  if (!run->drafts)
    cal_serving_set (run, "workload.speculative=");
  cal_serving_set (run, "workload.parallel={tp: %.0f, dp_attn: %.0f, ep: %.0f}", dp ? 1 : tp, dp ? tp : 1, fmax (ep, 1));
  if (isfinite (input) && isfinite (output))
    cal_serving_set (run, "workload.load={as: inferencex, closed: %.0f, input: %.0f, output: %.0f}", closed, input, output);
  else {
    cal_serving_set (run, "workload.load.as=inferencex");
    cal_serving_set (run, "workload.load.closed=%.0f", closed);
  }
  return TRUE;
}

/* ---- documents ---- */

static const struct {
  const char *key; /* only this client writes it at the top */
  gboolean (*read) (const Reader *reader, JsonObject *in, GError **error);
} clients[] = {
  { "mean_ttft_ms", read_vllm },
  { "time_to_first_token", read_aiperf },
  { "mean_ttft", read_inferencex },
};

static gboolean
read_object (const Reader *reader, JsonObject *in, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    if (json_object_has_member (in, clients[i].key))
      return clients[i].read (reader, in, error);
  return fail (
      reader, "result", error,
      "not a run of a benchmark client: none of mean_ttft_ms (vllm bench serve), time_to_first_token (AIPerf) and mean_ttft "
      "(InferenceX) is there");
}

static gboolean
visit (void *user, JsonObject *root, unsigned line, GError **error)
{
  Reader *reader = user;
  reader->line = line;
  return read_object (reader, root, error);
}

static gboolean
read_list (Reader *reader, GError **error)
{
  const BaseJsonText whole = { reader->text->path, reader->text->bytes, reader->text->n_B, 1, BASE_JSON_LIMITS };
  g_autoptr (BaseJson) json = base_json_read (&whole, error);
  JsonArray *list = json != NULL ? base_json_root_list (json) : NULL;
  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++) {
    JsonObject *item = base_json_element (list, i);
    reader->item = (int)i;
    if (item == NULL)
      return fail (reader, "item", error, "a mapping is accepted");
    if (!read_object (reader, item, error))
      return FALSE;
  }
  return json != NULL;
}

/* The first character that is not blank. */
static char
first_of (const CalText *text)
{
  gsize at = cal_text_start (text);
  while (at < text->n_B && g_ascii_isspace (text->bytes[at]))
    at++;
  return at < text->n_B ? text->bytes[at] : '\0';
}

gboolean
cal_is_serving (const CalText *text)
{
  const char first = first_of (text);
  for (guint i = 0; (first == '{' || first == '[') && i < G_N_ELEMENTS (clients); i++) {
    g_autofree char *word = g_strdup_printf ("\"%s\"", clients[i].key);
    if (g_strstr_len (text->bytes, (gssize)text->n_B, word) != NULL)
      return TRUE;
  }
  return cal_serving_is_csv (text);
}

gboolean
cal_serving_read (const CalText *text, GPtrArray *runs, GError **error)
{
  const guint before = runs->len;
  const char first = first_of (text);
  Reader reader = { text, 1, -1, runs };
  const gboolean good = first == '{'   ? cal_import_documents (&reader, text, visit, error)
                        : first == '[' ? read_list (&reader, error)
                                       : cal_serving_read_csv (text, runs, error);
  return good && (runs->len > before || cal_fail (text, CAL_LINE (1), error, "no run is in this file; give results of whole runs"));
}
