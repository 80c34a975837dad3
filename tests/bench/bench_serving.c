/* Serving: requests of a trace of Mooncake's form on eight replicas, and steady loads in closed form. Memory is of the process. */
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "serving/closed.h"
#include "serving/run.h"

#include "bench.h"
#include "serving_fixture.h"

enum { REQUESTS = 100000, REPLICAS = 8, CLOSED = 20000, ID_TOKENS = 512 };

typedef struct {
  Serving s;
  SrvStepModel *model;
} Bench;

/* Prompts as toolagent's: some thousand tokens, most begin as one of a few hundred others did. */
typedef struct {
  BaseRandom random;
  guint64 sent, next_id, hashes[256];
  double at_s;
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == REQUESTS)
    return FALSE;
  const double size = 4500 * exp (0.9 * base_random_normal (&load->random));
  const guint32 input = (guint32)CLAMP (size, 64, 100000);
  const guint64 begin = base_random_below (&load->random, 300);
  const guint32 shared = base_random_below (&load->random, 12);
  load->at_s += base_random_exponential (&load->random, 0.15);
  *out = (SrvRequest){ .index = load->sent++,
                       .arrival_s = load->at_s,
                       .input = input,
                       .output = 1 + base_random_below (&load->random, 360),
                       .hash = load->hashes,
                       .n_hashes = input / ID_TOKENS,
                       .hash_tokens = ID_TOKENS };
  for (guint i = 0; i < out->n_hashes; i++)
    load->hashes[i] = i < shared ? (begin << 8) + i + 1 : (G_GUINT64_CONSTANT (1) << 32) + load->next_id++;
  return TRUE;
}

static gboolean
finished (gpointer load, guint64 index, double now_s)
{
  (void)load;
  (void)index;
  (void)now_s;
  return FALSE;
}

static double
time_s (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  return srv_step_time_s (model, batches, cost);
}

static void
line (gpointer model, guint n, double context, double windowed, SrvDecodeLine *out)
{
  srv_step_decode_line (model, n, context, windowed, out);
}

static double
play (void *user)
{
  Bench *bench = user;
  Load load = { .random = base_random_stream (1, "bench") };
  const SrvRunSpec spec = { .times = { .model = bench->model, .ranks = 1, .time_s = time_s, .line = line },
                            .source = { &load, next, finished, .open = TRUE },
                            .engine = SRV_ENGINE_VLLM,
                            .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                            .blocks = 28982,
                            .block = 16,
                            .caching = TRUE,
                            .replicas = REPLICAS,
                            .router = { .policy = SRV_ROUTER_LEAST_LOADED },
                            .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                            .watch = G_MAXUINT64 };
  SrvRunResult result;
  g_autoptr (GError) error = NULL;
  const double begin_s = bench_now_s ();
  if (!srv_run (&spec, &result, &error))
    g_error ("%s", error->message);
  return bench_now_s () - begin_s;
}

static double
closed (void *user)
{
  Bench *bench = user;
  SrvSteadyTimes out;
  const double begin_s = bench_now_s ();
  for (guint i = 0; i < CLOSED; i++) {
    const SrvSteady load = { .engine = SRV_ENGINE_VLLM,
                             .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                             .pool = 460000,
                             .input = 512 * (1 + i % 8),
                             .output = 128 * (1 + i % 4),
                             .in_flight = 1 + i % 128 };
    srv_steady (bench->model, &load, &out);
  }
  return bench_now_s () - begin_s;
}

int
main (void)
{
  Bench bench;
  g_autoptr (GError) error = NULL;
  serving_open (&bench.s, "hgx_h100", 1, "{model: llama31_8b, engine: {name: vllm}}");
  bench.model = srv_step_model_new (&bench.s.llm, &bench.s.scenario->system, &bench.s.keys.replica, &error);
  if (bench.model == NULL)
    g_error ("%s", error->message);
  bench_print_machine ();
  bench_print ("trace, eight replicas", REQUESTS, "requests", bench_repeat (play, &bench));
  bench_print ("steady loads in closed form", CLOSED, "loads", bench_repeat (closed, &bench));
  printf ("most memory: %.0f MB\n", bench_peak_B () / 1e6);
  srv_step_model_free (bench.model);
  serving_clear (&bench.s);
  return 0;
}
