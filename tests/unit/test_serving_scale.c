/* Autoscaling: by hand, and laws. */
#include <math.h>

#include "harness.h"
#include "serving/run.h"
#include "serving_source_fixture.h"

/* Requests at even distances, which change at `turn_s`. */
typedef struct {
  guint64 sent, n;
  double at_s, gap_s, later_s, turn_s;
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  *out = (SrvRequest){ .index = load->sent++, .arrival_s = load->at_s, .input = 16, .output = 10 };
  load->at_s += load->at_s < load->turn_s ? load->gap_s : load->later_s;
  return TRUE;
}

/* A step takes 100 ms: a request 1 s. */
static double
time_of (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  (void)model;
  (void)batches;
  (void)cost;
  return 0.1;
}

static void
line_of (gpointer model, guint n, double context, double windowed, SrvDecodeLine *line)
{
  (void)model;
  (void)n;
  (void)context;
  (void)windowed;
  *line = (SrvDecodeLine){ 0.1, 0, 0, 1e12 };
}

static SrvRunResult
run_of (Load load, const SrvScale *scale, guint replicas, guint seqs, SrvRouter router)
{
  const SrvRunSpec spec = { .times = { .ranks = 1, .time_s = time_of, .line = line_of },
                            .source = { &load, next, nothing_follows, TRUE },
                            .engine = SRV_ENGINE_VLLM,
                            .limits = { .max_seqs = seqs, .max_tokens = 8192, .chunked = TRUE },
                            .blocks = 100,
                            .block = 16,
                            .replicas = replicas,
                            .router = { .policy = router, .credit = 1, .scale = 1, .prefix = 3, .usage = 2, .queue = 2 },
                            .scale = *scale,
                            .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                            .watch = G_MAXUINT64 };
  SrvRunResult out;
  g_autoptr (GError) error = NULL;
  if (!srv_run (&spec, &out, &error))
    g_error ("%s", error->message);
  return out;
}

/* 8 requests/s of 1 s each: 8 in flight, 4 of them a replica: two serve. The first look at 0 s finds nothing, that at 5 s finds 8
 * on one replica and orders one more, which serves from 15 s on. Then all is as wanted. */
static void
one_more_is_ordered (void)
{
  const SrvScale scale = { .metric = SRV_SCALE_IN_FLIGHT, .target = 4, .least = 1, .every_s = 5, .start_s = 10, .stabilise_s = 60 };
  const Load load = { .n = 400, .gap_s = 0.125, .later_s = 0.125 };
  const SrvRunResult out = run_of (load, &scale, 4, 256, SRV_ROUTER_LEAST_LOADED);
  TEST_INT (out.starts, 1);
  TEST_INT (out.replicas_most, 2);
  TEST_NEAR (out.replicas_mean, 2 - 5 / out.duration_s, 1e-9);
  TEST_INT (out.requests, 400);
}

/* From 100 s on one request in 2 s: 0.5 in flight. The wish of 2 holds for 60 s more, then one is drained. A burst that ends
 * before a replica has started calls its start off. */
static void
fewer_serve_once_the_load_is_gone (void)
{
  const SrvScale scale = { .metric = SRV_SCALE_IN_FLIGHT, .target = 4, .least = 1, .every_s = 5, .start_s = 10, .stabilise_s = 60 };
  const Load load = { .n = 1000, .gap_s = 0.125, .later_s = 2, .turn_s = 100 };
  SrvRunResult out = run_of (load, &scale, 4, 256, SRV_ROUTER_LEAST_LOADED);
  TEST_INT (out.starts, 1);
  TEST_TRUE (out.replicas_mean < 1.5 && out.replicas_mean > 1.3);
  const SrvScale hasty = { .metric = SRV_SCALE_IN_FLIGHT, .target = 4, .least = 1, .every_s = 5, .start_s = 100, .stabilise_s = 1 };
  const Load burst = { .n = 200, .gap_s = 0.125, .later_s = 2, .turn_s = 7 };
  out = run_of (burst, &hasty, 4, 256, SRV_ROUTER_LEAST_LOADED);
  TEST_INT (out.starts, 1);
  TEST_TRUE (out.replicas_mean < 1.1);
}

/* Whatever the metric and the router, all are answered, by no more replicas than there are, and no fewer than are wanted. */
static void
every_request_is_answered (void)
{
  for (guint metric = SRV_SCALE_IN_FLIGHT; metric <= SRV_SCALE_KV; metric++)
    for (guint router = SRV_ROUTER_ROUND_ROBIN; router <= SRV_ROUTER_LLM_D; router++)
      for (guint least = 1; least < 4; least++) {
        const SrvScale scale = { (SrvScaleMetric)metric, metric == SRV_SCALE_KV ? 0.05 : 2, least, 3, 7, 11 };
        const Load load = { .n = 500, .gap_s = 0.1, .later_s = 0.4, .turn_s = 20 };
        const SrvRunResult out = run_of (load, &scale, 5, 4, (SrvRouter)router);
        TEST_INT (out.requests, 500);
        TEST_TRUE (out.replicas_most <= 5 && out.replicas_mean >= least && out.replicas_mean <= 5);
        TEST_TRUE (least > 1 || out.starts > 0);
      }
}

/* Without a target all replicas serve. */
static void
none_is_none (void)
{
  const SrvScale none = { 0 };
  const Load load = { .n = 100, .gap_s = 0.1, .later_s = 0.1 };
  const SrvRunResult out = run_of (load, &none, 5, 256, SRV_ROUTER_ROUND_ROBIN);
  TEST_INT (out.starts, 0);
  TEST_NEAR (out.ttft.mean, 0.1, 1e-9);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "one more is ordered", one_more_is_ordered },
    { "fewer serve once the load is gone", fewer_serve_once_the_load_is_gone },
    { "every request is answered", every_request_is_answered },
    { "none is none", none_is_none },
    { NULL, NULL },
  };
  return test_main ("serving/scale", cases);
}
