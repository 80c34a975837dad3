/* Constants of an engine's times, fitted to runs: the runs as scenarios, what is predicted for them, and what the fit comes to.
 * Which constants the runs tell, and their values: choose.c. Check: accuracy.serving_fit, golden.fit.serving (planted constants are
 * found). */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "calibrate/solve.h"
#include "collective/gpu.h"
#include "constants/store.h"
#include "scenario/loaded.h"
#include "scenario/serving.h"
#include "serving/fit-private.h"

#define ASSUMED 2.0 /* times as wide is the spread of a time of the host that nobody has measured: hosts differ by installation */
/* Bands that the fit writes are not narrower: runs repeat to some per cent. */
static const double LEAST_TPOT_BAND = 0.05, LEAST_TTFT_BAND = 0.10;
#define UNKNOWN_BAND 1.0   /* of a row that does not say one */
#define NINETY       1.645 /* 90 % of a normal distribution */
#define PRIOR_RUNS   2.0

#define KNOWN(key_, dim_, absent_, host_, least_, most_, moe_)                                  \
  {                                                                                               \
#key_, BASE_DIM_##dim_, offsetof(MdlEngineTimes, key_), absent_, host_, least_, most_, moe_ \
  }
static const CalServingKnown known[] = {
  KNOWN (gemm, RATIO, 1, FALSE, 0.05, 2, FALSE),
  KNOWN (attention, RATIO, 1, FALSE, 0.05, 2, FALSE),
  KNOWN (experts, RATIO, 1, FALSE, 0.05, 2, TRUE),
  KNOWN (experts_math, RATIO, 1, FALSE, 0.05, 1, TRUE),
  KNOWN (layer, TIME, 1e-6, FALSE, 0, 10e-3, FALSE),
  KNOWN (moe_layer, TIME, 5e-6, FALSE, 0, 10e-3, TRUE),
  KNOWN (step, TIME, 1e-5, TRUE, 0, 0.9, FALSE),
  KNOWN (sequence, TIME, 1e-7, TRUE, 0, 0.09, FALSE),
  KNOWN (kernel, TIME, 1e-6, TRUE, 0, 0.9e-3, FALSE),
  KNOWN (request, TIME, 1e-4, TRUE, 0, 9, FALSE),
  KNOWN (token, TIME, 1e-6, TRUE, 0, 0.9, FALSE),
  KNOWN (prefill, RATIO, 1, FALSE, 0.05, 2, FALSE),
  KNOWN (prompt_token, TIME, 1e-7, TRUE, 0, 0.9e-3, FALSE),
};

/* ---- the runs as scenarios ---- */

static void
work_clear (CalServingWork *work)
{
  g_clear_pointer (&work->scenarios, g_ptr_array_unref); /* before the constants that they point into */
  cst_store_clear (&work->store);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CalServingWork, work_clear)

static gboolean G_GNUC_PRINTF (3, 4) fail_run (const CalServingRun *run, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  base_fail (error, BASE_ERROR_INPUT, "%s: %s", run->place, what);
  return FALSE;
}

/* vllm, sglang or trtllm, of a name such as "dynamo-trt". NULL: another. */
static const char *
engine_of (const char *name)
{
  static const char *const words[][2] = { { "vllm", "vllm" }, { "sglang", "sglang" }, { "trt", "trtllm" } };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (name, words[i][0]) != NULL)
      return words[i][1];
  return NULL;
}

/* Whether "h200-cw" is "h200_sxm": alike up to the first character that is no letter or digit. */
static gboolean
same_gpu (const char *said, const char *type)
{
  gsize n = 0;
  while (g_ascii_isalnum (said[n]))
    n++;
  return g_ascii_strncasecmp (said, type, n) == 0 && !g_ascii_isalnum (type[n]);
}

static gboolean
check_run (const CalServingRun *run, const Scn *scenario, GError **error)
{
  const ScnServingSpec *spec = scn_serving (scenario);
  const char *name = base_name (srv_engine_names, spec->replica.engine.name.v),
             *gpu = clu_gpu_spec (scenario->system.clu, 0)->name.v;
  const char *said = run->engine != NULL ? engine_of (run->engine) : name;
  if (g_strcmp0 (said, name) != 0)
    return fail_run (run, error, "measured with %s, and the scenario's engine is %s; fit each engine by its own runs", run->engine,
                     name);
  if (run->gpu != NULL && gpu != NULL && !same_gpu (run->gpu, gpu))
    return fail_run (run, error, "measured on %s, and the scenario's GPU is %s; fit each GPU by its own runs", run->gpu, gpu);
  if (run->drafts && !spec->replica.speculative.head.set)
    return fail_run (run, error,
                     "measured with speculative decoding, which the scenario lacks; add `speculative` with the acceptance that was "
                     "measured, or leave this run out");
  return TRUE;
}

static Scn *
open_run (CalServingWork *work, const CalServingRun *run, GError **error)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();
  for (const char *const *set = work->query->sets; set != NULL && *set != NULL; set++)
    g_ptr_array_add (sets, (char *)*set);
  for (guint i = 0; i < run->sets->len; i++)
    g_ptr_array_add (sets, run->sets->pdata[i]);
  g_ptr_array_add (sets, NULL);
  const ScnOptions options = { .has_seed = work->query->has_seed,
                               .seed = work->query->seed,
                               .sets = (const char *const *)sets->pdata };
  GError *why = NULL;
  Scn *scenario = scn_load (work->query->scenario, NULL, work->lookup, &options, cst_store_share, &work->store, &why);
  if (scenario != NULL)
    return scenario;
  why->message[strcspn (why->message, "\n")] = '\0'; /* the first of its errors */
  fail_run (run, error, "the scenario cannot be this run: %s", why->message);
  g_error_free (why);
  return NULL;
}

/* The scenario by itself, so that its own errors are not a run's. */
static gboolean
check_scenario (CalServingWork *work, GError **error)
{
  const ScnOptions options = { .has_seed = work->query->has_seed, .seed = work->query->seed, .sets = work->query->sets };
  g_autoptr (Scn) scenario = scn_load (work->query->scenario, NULL, work->lookup, &options, cst_store_share, &work->store, error);
  if (scenario == NULL)
    return FALSE;
  if (scn_serving (scenario) != NULL)
    return TRUE;
  base_fail (error, BASE_ERROR_INPUT,
             "%s: a workload of kind serving is needed, which says what was measured: cluster, model, engine",
             work->query->scenario);
  return FALSE;
}

static gboolean
open_runs (CalServingWork *work, GError **error)
{
  if (!check_scenario (work, error))
    return FALSE;
  work->scenarios = g_ptr_array_new_with_free_func ((GDestroyNotify)scn_free);
  for (guint i = 0; i < work->runs->len; i++) {
    const CalServingRun *run = work->runs->pdata[i];
    Scn *scenario = open_run (work, run, error);
    if (scenario == NULL)
      return FALSE;
    g_ptr_array_add (work->scenarios, scenario);
    if (!check_run (run, scenario, error))
      return FALSE;
  }
  return TRUE;
}

/* How far ln constant may be from what stands there. */
static double
spread_of (const CalServingKnown *which, const MdlEngineTimes *times)
{
  const BaseNum *num = G_STRUCT_MEMBER_P (times, which->offset);
  if (which->dim == BASE_DIM_RATIO)
    return CAL_SPREAD_SHARE;
  return CAL_SPREAD * (which->host && num->source != BASE_SOURCE_MEASURED ? ASSUMED : 1);
}

/* The engine and its constants as they stand. */
static gboolean
take_engine (CalServingWork *work, GError **error)
{
  const Scn *scenario = work->scenarios->pdata[0];
  const ScnServingSpec *spec = scn_serving (scenario);
  const SrvEngineSpec *engine = &spec->replica.engine;
  const char *name = base_name (srv_engine_names, engine->name.v);
  const MdlEngineRow *row =
      scenario->system.engines != NULL ? mdl_engine_find (scenario->system.engines, name, engine->version.v, NULL) : NULL;
  if (row == NULL) {
    base_fail (error, BASE_ERROR_INPUT, "%s: no constants of engine '%s' are there to fit over; use `library: nccl`",
               work->query->scenario, name);
    return FALSE;
  }
  const guint32 gpus = MIN (scenario->system.gpus->len, (guint32)srv_replica_gpus (&spec->replica));
  MdlGpu gpu;
  col_gpu_facts (scenario->system.clu, col_gpu_slowest (scenario->system.clu, (const guint32 *)scenario->system.gpus->data, gpus),
                 &gpu);
  const MdlEngineTimes *times = mdl_engine_times (row, gpu.capability);
  work->row = *row;
  work->times = times != NULL ? *times : (MdlEngineTimes){ 0 };
  CalServingFit *out = work->out;
  out->engine = g_strdup (name);
  out->version = g_strdup (engine->version.v != NULL ? engine->version.v : row->version.v);
  out->capability = gpu.capability;
  out->over = g_strdup (cst_store_name (&work->store));
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    const double now = G_STRUCT_MEMBER (BaseNum, &work->times, known[i].offset).v;
    if (known[i].moe && spec->llm.moe.experts.v < 1)
      continue;
    const CalServingConstant constant = { .key = known[i].key,
                                          .dim = known[i].dim,
                                          .offset = known[i].offset,
                                          .before = now > 0 ? now : known[i].absent,
                                          .spread = spread_of (&known[i], &work->times) };
    work->which[out->constants->len] = &known[i];
    g_array_append_val (out->constants, constant);
    CalServingConstant *added = &g_array_index (out->constants, CalServingConstant, out->constants->len - 1);
    added->after = added->before;
    added->error = added->spread;
  }
  return TRUE;
}

/* ---- predictions ---- */

/* ln of what constant number i is times `before`. Products of steps with prompts have a rate of their own, gemm · prefill: what
 * decoding says of `gemm` leaves it alone. */
double
cal_serving_ln (const CalServingWork *work, const double *x, guint i)
{
  double gemm = 0;
  for (guint j = 0; j < work->out->constants->len; j++)
    gemm = work->which[j]->offset == offsetof (MdlEngineTimes, gemm) ? x[j] : gemm;
  return x[i] - (work->which[i]->offset == offsetof (MdlEngineTimes, prefill) ? gemm : 0);
}

/* Engines with one row: the constants that are tried. */
static void
engines_of (const CalServingWork *work, const double *x, MdlEngineRow *row, MdlEngineTimes *times, MdlEngines *engines)
{
  *times = work->times;
  for (guint i = 0; i < work->out->constants->len; i++) {
    const CalServingConstant *c = &g_array_index (work->out->constants, CalServingConstant, i);
    BaseNum *num = G_STRUCT_MEMBER_P (times, c->offset);
    const double ln = cal_serving_ln (work, x, i);
    if (!num->set && !(fabs (ln) > 0)) /* what is absent stays so until the runs say otherwise */
      continue;
    num->v = CLAMP (c->before * exp (ln), work->which[i]->least, work->which[i]->most);
    num->set = TRUE;
    num->source = BASE_SOURCE_MEASURED;
  }
  *row = work->row;
  row->times = (BaseList){ .n = 1, .set = TRUE, .item = times, .size = sizeof *times };
  *engines = (MdlEngines){ .rows = { .n = 1, .set = TRUE, .item = row, .size = sizeof *row } };
}

/* A run by several sets of constants. */
typedef struct {
  const CalServingWork *work;
  guint run, n;
  const double (*x)[CAL_SERVING_MOST]; /* n sets */
  double (*answer)[2];                 /* n: ln TTFT, ln TPOT; NAN: the run has not measured it */
  GError *error;
} Item;

static void
play_item (void *data)
{
  Item *item = data;
  const CalServingRun *run = item->work->runs->pdata[item->run];
  for (guint k = 0; k < item->n && item->error == NULL; k++) {
    MdlEngineTimes times;
    MdlEngineRow row;
    MdlEngines engines;
    SrvRunResult result;
    engines_of (item->work, item->x[k], &row, &times, &engines);
    if (!scn_serving_play (item->work->scenarios->pdata[item->run], &engines, &result, &item->error))
      return;
    item->answer[k][0] = isfinite (run->ttft_s) ? log (result.ttft.mean) : (double)NAN;
    item->answer[k][1] = isfinite (run->tpot_s) && result.tpot.mean > 0 ? log (result.tpot.mean) : (double)NAN;
  }
}

gboolean
cal_serving_predict (const CalServingWork *work, const double (*x)[CAL_SERVING_MOST], guint n, double (*answer)[2], GError **error)
{
  g_autofree Item *items = g_new0 (Item, work->runs->len);
  for (guint i = 0; i < work->runs->len; i++)
    items[i] = (Item){ .work = work, .run = i, .n = n, .x = x, .answer = &answer[(gsize)i * n] };
  base_parallel_each (items, work->runs->len, sizeof *items, 0, NULL, play_item);
  gboolean good = TRUE;
  for (guint i = 0; i < work->runs->len; i++) {
    if (items[i].error != NULL && good)
      good = fail_run (work->runs->pdata[i], error, "the run cannot be played: %s", items[i].error->message);
    g_clear_error (&items[i].error);
  }
  return good;
}

/* ---- what it comes to ---- */

/* Half-width that holds 90 % of errors: what the engine's row says of runs that nobody fitted, and what the fit leaves of these, as
 * variances of ln, the former counted as PRIOR_RUNS runs (the posterior of a variance under a scaled inverse chi-square prior). One
 * run says nothing of a spread, and a constant that was fitted takes half a run, as each has two times: with few runs the row's
 * width stays. */
static double
band_of (const CalServingWork *work, guint which, double prior, double least)
{
  const GArray *points = work->out->points;
  double sum = 0;
  guint n = 0, fitted = 0;
  for (guint i = 0; i < points->len; i++) {
    const CalServingPoint *p = &g_array_index (points, CalServingPoint, i);
    const double r = which == 0 ? log (p->ttft_s / p->run->ttft_s) : log (p->tpot_s / p->run->tpot_s);
    sum += isfinite (r) ? r * r : 0;
    n += isfinite (r) ? 1 : 0;
  }
  for (guint j = 0; j < work->out->constants->len; j++)
    fitted += g_array_index (work->out->constants, CalServingConstant, j).fitted ? 1 : 0;
  const double own = fmax (n - 1 - fitted / 2.0, 0), before = log1p (prior) / NINETY;
  return fmax (expm1 (NINETY * sqrt ((PRIOR_RUNS * before * before + sum) / (PRIOR_RUNS + own))), least);
}

static gboolean
finish (CalServingWork *work, const double *x, GError **error)
{
  const double none[CAL_SERVING_MOST] = { 0 };
  double trial[2][CAL_SERVING_MOST];
  memcpy (trial[0], none, sizeof none);
  memcpy (trial[1], x, sizeof trial[1]);
  g_autofree double (*answer)[2] = g_malloc_n ((gsize)work->runs->len * 2, sizeof *answer);
  if (!cal_serving_predict (work, (const double (*)[CAL_SERVING_MOST])trial, 2, answer, error))
    return FALSE;
  for (guint i = 0; i < work->runs->len; i++) {
    const CalServingPoint point = { .run = work->runs->pdata[i],
                                    .before_ttft_s = exp (answer[2 * i][0]),
                                    .before_tpot_s = exp (answer[2 * i][1]),
                                    .ttft_s = exp (answer[2 * i + 1][0]),
                                    .tpot_s = exp (answer[2 * i + 1][1]) };
    g_array_append_val (work->out->points, point);
  }
  const MdlEngineTimes *row = &work->times;
  work->out->tpot_error = band_of (work, 1, row->error.set ? row->error.v : UNKNOWN_BAND, LEAST_TPOT_BAND);
  work->out->first_error = band_of (work, 0, row->first_error.set ? row->first_error.v : UNKNOWN_BAND, LEAST_TTFT_BAND);
  work->out->yaml = cal_serving_write (work->out, work->query->name, &work->row, &work->times);
  return TRUE;
}

CalServingFit *
cal_serving_fit (const CalServingQuery *query, const BaseLookup *lookup, const GPtrArray *runs, GError **error)
{
  g_autoptr (CalServingFit) out = g_new0 (CalServingFit, 1);
  out->constants = g_array_new (FALSE, TRUE, sizeof (CalServingConstant));
  out->points = g_array_new (FALSE, TRUE, sizeof (CalServingPoint));
  g_auto (CalServingWork) work = { .query = query, .lookup = lookup, .runs = runs, .store = { .lookup = lookup }, .out = out };
  double x[CAL_SERVING_MOST] = { 0 };
  if (!open_runs (&work, error) || !take_engine (&work, error) || !cal_serving_choose (&work, x, error) ||
      !finish (&work, x, error))
    return NULL;
  return g_steal_pointer (&out);
}

void
cal_serving_fit_free (CalServingFit *fit)
{
  if (fit == NULL)
    return;
  g_free (fit->engine);
  g_free (fit->version);
  g_free (fit->over);
  g_free (fit->yaml);
  g_array_unref (fit->constants);
  g_array_unref (fit->points);
  g_free (fit);
}
