/* A steady load in closed form is what the engine plays: throughput and TPOT within 5 %, TTFT within the spread of a queue. */
#include <math.h>

#include "serving/closed.h"
#include "serving/run.h"
#include "serving_fixture.h"

static const struct {
  const char *topology, *text;
  double in_flight, rate, input, output;
} cases[] = {
  { "hgx_h100", "{model: llama31_8b, engine: {name: vllm}}", 1, 0, 1024, 256 },
  { "hgx_h100", "{model: llama31_8b, engine: {name: vllm}}", 16, 0, 1024, 256 },
  { "hgx_h100", "{model: llama31_8b, engine: {name: vllm}}", 64, 0, 1000, 1000 },
  { "hgx_h100", "{model: llama31_8b, engine: {name: vllm}}", 0, 4, 1024, 256 },
  { "hgx_h100", "{model: llama31_70b, engine: {name: sglang}, parallel: {tp: 8}}", 32, 0, 2000, 400 },
  { "hgx_h200", "{model: qwen3_32b, engine: {name: trtllm}, parallel: {tp: 2}, precision: {weights: fp8}}", 48, 0, 1024, 512 },
  { "hgx_h200", "{model: qwen3_32b, engine: {name: trtllm}, parallel: {tp: 2}, precision: {weights: fp8}}", 0, 2, 1024, 512 },
  { "hgx_b200", "{model: deepseek_v3, engine: {name: sglang}, parallel: {tp: 8}, precision: {weights: fp8, kv: fp8}}", 64, 0, 1024,
    1024 },
};

static double
time_s (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  return srv_step_time_s (model, batches, cost);
}

static gboolean
next (gpointer load, SrvRequest *out, GError **error)
{
  return srv_load_next (load, out, error);
}

static gboolean
finished (gpointer load, guint64 index, double now_s)
{
  return srv_load_finished (load, index, now_s);
}

static BaseNum
given (double v)
{
  return (BaseNum){ .v = v, .set = v > 0 };
}

/* Lengths within 20 % of the mean, so that requests lose step with each other. */
static SrvRunResult
played (SrvStepModel *model, const SrvSteady *steady)
{
  const SrvLoadSpec spec = { .closed = given (steady->in_flight),
                             .rate = given (steady->rate),
                             .requests = given (fmax (12 * steady->in_flight, 400)),
                             .warm_up = given (fmax (6 * steady->in_flight, 200)),
                             .input = given (steady->input),
                             .output = given (steady->output),
                             .range = given (0.2) };
  g_autoptr (GError) error = NULL;
  g_autoptr (SrvLoad) load = srv_load_new (&spec, NULL, 1, &error);
  const SrvRunSpec run = { .times = { .model = model, .ranks = srv_step_ranks (model), .time_s = time_s },
                           .source = { load, next, finished, FALSE },
                           .engine = steady->engine,
                           .front = srv_step_front (model),
                           .limits = steady->limits,
                           .blocks = (guint64)(steady->pool / 16),
                           .block = 16,
                           .replicas = 1,
                           .seed = 1,
                           .warm_up = 200,
                           .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                           .watch = G_MAXUINT64 };
  SrvRunResult out;
  if (load == NULL || !srv_run (&run, &out, &error))
    g_error ("%s", error->message);
  return out;
}

static void
near (double closed, double engine, double within, const char *what, guint i)
{
  if (fabs (closed / engine - 1) > within)
    g_printerr ("case %u: %s %g in closed form, %g by the engine (%+.1f %%)\n", i, what, closed, engine,
                100 * (closed / engine - 1));
  TEST_TRUE (fabs (closed / engine - 1) <= within);
}

static void
closed_form_is_what_the_engine_plays (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Serving s;
    g_autoptr (GError) error = NULL;
    serving_open (&s, cases[i].topology, 1, cases[i].text);
    SrvStepModel *model = srv_step_model_new (&s.llm, &s.scenario->system, &s.keys.replica, &error);
    if (model == NULL)
      g_error ("%s", error->message);
    const SrvEngineSpec *engine = &s.keys.replica.engine;
    const SrvSteady steady = { .engine = (SrvEngineName)engine->name.v,
                               .limits = { .max_seqs = (guint)engine->max_num_seqs.v,
                                           .max_tokens = (guint)engine->max_num_batched_tokens.v,
                                           .chunked = engine->chunked.v },
                               .pool = 4e6,
                               .input = cases[i].input,
                               .output = cases[i].output,
                               .in_flight = cases[i].in_flight,
                               .rate = cases[i].rate };
    SrvSteadyTimes closed;
    srv_steady (model, &steady, &closed);
    const SrvRunResult engine_says = played (model, &steady);
    TEST_TRUE (closed.steady);
    near (closed.tpot_s, engine_says.tpot.mean, 0.05, "TPOT", i);
    near (closed.e2e_s, engine_says.e2e.mean, 0.05, "E2E", i);
    near (closed.ttft_s, engine_says.ttft.mean, 0.35, "TTFT", i);
    if (cases[i].in_flight > 0)
      near (closed.requests_per_s, cases[i].in_flight / engine_says.e2e.mean, 0.05, "requests/s", i);
    srv_step_model_free (model);
    serving_clear (&s);
  }
}

static void
more_than_a_replica_can_serve_is_not_steady (void)
{
  Serving s;
  g_autoptr (GError) error = NULL;
  serving_open (&s, "hgx_h100", 1, "{model: llama31_8b, engine: {name: vllm}}");
  g_autoptr (SrvStepModel) model = srv_step_model_new (&s.llm, &s.scenario->system, &s.keys.replica, &error);
  SrvSteady load = { .engine = SRV_ENGINE_VLLM,
                     .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                     .pool = 400000,
                     .input = 1024,
                     .output = 256,
                     .rate = 1000 };
  SrvSteadyTimes out;
  srv_steady (model, &load, &out);
  TEST_FALSE (out.steady);
  TEST_TRUE (isnan (out.tpot_s));
  /* a closed loop beyond max_seqs waits for a place, and gives no more tokens */
  load.in_flight = 256;
  SrvSteadyTimes full;
  srv_steady (model, &load, &full);
  load.in_flight = 512;
  srv_steady (model, &load, &out);
  TEST_TRUE (out.requests_per_s > 0.98 * full.requests_per_s && out.requests_per_s < 1.05 * full.requests_per_s);
  TEST_TRUE (out.ttft_s > 2 * full.ttft_s);
  serving_clear (&s);
}

int
main (void)
{
  static const TestCase tests[] = {
    { "a steady load in closed form is what the engine plays", closed_form_is_what_the_engine_plays },
    { "more than a replica can serve is not steady", more_than_a_replica_can_serve_is_not_steady },
    { NULL, NULL },
  };
  return test_main ("law: serving in closed form", tests);
}
