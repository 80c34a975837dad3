/* A run in parts of its replicas: joined in any order, and sent as bytes, it is the run itself to the last bit; also where steps
 * end at the very instants at which requests come. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/words.h"
#include "harness.h"
#include "serving/tally.h"

/* ---- steps and loads on a grid of 1 ms ---- */

typedef struct {
  double prompt_s, token_s, decode_s, context_s;
} Times;

static void
line_of (gpointer model, guint n, double context, double windowed, SrvDecodeLine *line)
{
  const Times *times = model;
  (void)n;
  (void)windowed;
  (void)context;
  *line = (SrvDecodeLine){ times->decode_s, times->context_s, 0, 1e12 };
}

static double
time_of (gpointer model, const SrvBatch *batch, SrvStepCost *cost)
{
  const Times *times = model;
  double time_s = batch->n_chunks > 0 ? times->prompt_s : times->decode_s;
  for (guint i = 0; i < batch->n_chunks; i++)
    time_s += times->token_s * batch->chunks[i].tokens;
  time_s += times->context_s * batch->decode_context;
  if (cost != NULL)
    *cost = (SrvStepCost){ .time_s = time_s, .time_lo_s = 0.8 * time_s, .time_hi_s = 1.5 * time_s };
  return time_s;
}

typedef struct {
  guint64 n, sent;
  guint every, each; /* so many ms apart, so many at once; every 0: Poisson at 1 / gap_s */
  double gap_s, at_s;
  guint input, output, spread, prefixes;
  BaseRandom random;
  guint64 hashes[64];
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  load->at_s = load->every > 0 ? 1e-3 * load->every * (double)(load->sent / load->each)
                               : load->at_s + base_random_exponential (&load->random, load->gap_s);
  const guint more = load->spread > 0 ? base_random_below (&load->random, load->spread) : 0;
  *out = (SrvRequest){ .index = load->sent++,
                       .arrival_s = load->at_s,
                       .input = load->input + more,
                       .output = load->output + (load->spread > 0 ? base_random_below (&load->random, load->spread) : 0) };
  if (load->prefixes > 0) {
    const guint64 first = base_random_below (&load->random, load->prefixes) * 1000;
    out->n_hashes = MIN (out->input / 32, 64);
    for (guint i = 0; i < out->n_hashes; i++)
      load->hashes[i] = i < 4 ? first + i : load->sent * 100000 + i;
    out->hash = load->hashes;
    out->hash_tokens = 32;
  }
  return TRUE;
}

static gboolean
finished (gpointer user, guint64 index, double now_s)
{
  (void)user;
  (void)index;
  (void)now_s;
  return FALSE;
}

static SrvRunSpec
spec_of (Times *times, Load *load)
{
  return (SrvRunSpec){ .times = { .model = times, .ranks = 1, .time_s = time_of, .line = line_of },
                       .source = { load, next, finished, TRUE },
                       .engine = SRV_ENGINE_VLLM,
                       .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                       .blocks = 100000,
                       .block = 16,
                       .replicas = 7,
                       .slo = { 0.05, (double)INFINITY, (double)INFINITY },
                       .watch = G_MAXUINT64 };
}

static void
rewind_load (Load *load)
{
  load->random = base_random_stream (3, "load");
  load->sent = 0;
  load->at_s = 0;
}

/* ---- comparing ---- */

static void
add_spread (GByteArray *bytes, const SrvSpread *spread)
{
  base_words_put_doubles (bytes, (const double[]){ spread->mean, spread->p50, spread->p90, spread->p95, spread->p99, spread->most },
                          6);
}

/* All of a result, bit by bit. */
static GByteArray *
bits_of (const SrvRunResult *r)
{
  GByteArray *bytes = g_byte_array_new ();
  const guint64 counts[] = { r->requests,       r->input_tokens,   r->output_tokens, r->good,       r->hit_tokens,
                             r->prompt_tokens,  r->preemptions,    r->lost_tokens,   r->steps,      r->prompt_steps,
                             r->most_in_flight, r->shortened,      r->retried,       r->transfer.n, r->starts,
                             r->pools[0].steps, r->pools[1].steps, r->replicas_most };
  const double values[] = { r->duration_s,
                            r->requests_per_s,
                            r->output_tokens_per_s,
                            r->total_tokens_per_s,
                            r->goodput_rps,
                            r->user_tokens_per_s,
                            r->kv_mean,
                            r->kv_most,
                            r->batch_mean,
                            r->busy,
                            r->pools[0].busy,
                            r->pools[0].kv_mean,
                            r->transfer.wait_s,
                            r->transfer.time_s,
                            r->replicas_mean };
  base_words_put (bytes, counts, G_N_ELEMENTS (counts));
  base_words_put_doubles (bytes, values, G_N_ELEMENTS (values));
  add_spread (bytes, &r->ttft);
  add_spread (bytes, &r->tpot);
  add_spread (bytes, &r->itl);
  add_spread (bytes, &r->e2e);
  return bytes;
}

static gboolean
is_same (const SrvRunResult *a, const SrvRunResult *b)
{
  g_autoptr (GByteArray) x = bits_of (a), y = bits_of (b);
  return x->len == y->len && memcmp (x->data, y->data, x->len) == 0;
}

/* A part, as another process would have it. */
static SrvTally *
part_of (const SrvRunSpec *spec, Load *load, guint part, guint of)
{
  rewind_load (load);
  g_autoptr (SrvTally) own = srv_run_part (spec, part, of, NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  srv_tally_write (own, bytes);
  BaseWords words = { bytes->data, bytes->data + bytes->len };
  SrvTally *read = srv_tally_read (&words);
  TEST_TRUE (words.at == words.end);
  return read;
}

static gboolean
joins_up_to (guint most, const SrvRunSpec *spec, Load *load)
{
  SrvRunResult whole, joined;
  gboolean same = TRUE;
  rewind_load (load);
  TEST_TRUE (srv_run_splits (spec));
  TEST_TRUE (srv_run (spec, &whole, NULL));
  for (guint of = 1; of <= most; of += 1 + of / 3) {
    g_autoptr (SrvTally) forth = part_of (spec, load, 0, of), back = part_of (spec, load, of - 1, of);
    for (guint i = 1; i < of; i++) {
      g_autoptr (SrvTally) a = part_of (spec, load, i, of), b = part_of (spec, load, of - 1 - i, of);
      same = srv_tally_join (forth, a) && srv_tally_join (back, b) && same;
    }
    srv_tally_finish (forth, &joined);
    same = is_same (&whole, &joined) && same;
    srv_tally_finish (back, &joined);
    same = is_same (&whole, &joined) && same;
  }
  return same;
}

static gboolean
joins (const SrvRunSpec *spec, Load *load)
{
  return joins_up_to (9, spec, load); /* more parts than replicas too */
}

/* ---- cases ---- */

static void
parts_are_the_run (void)
{
  Times times = { .prompt_s = 0.013, .token_s = 1e-5, .decode_s = 0.0071, .context_s = 3e-7 };
  Load load = { .n = 1500, .gap_s = 0.004, .input = 200, .output = 40, .spread = 60 };
  SrvRunSpec spec = spec_of (&times, &load);
  TEST_TRUE (joins (&spec, &load));
  spec.band = 1;
  spec.warm_up = 100;
  TEST_TRUE (joins (&spec, &load));
  spec.band = -1;
  spec.front = (SrvFront){ .request_s = 0.003, .prompt_s = 1e-6, .token_s = 2e-5 };
  TEST_TRUE (joins (&spec, &load));
  spec.band = 0;
  spec.ahead = TRUE;
  TEST_TRUE (joins (&spec, &load));
  load.n = 1; /* nothing for most parts */
  TEST_TRUE (joins (&spec, &load));
}

static void
parts_share_prefixes_and_preempt_as_the_run (void)
{
  Times times = { .prompt_s = 0.013, .token_s = 1e-5, .decode_s = 0.0071, .context_s = 3e-7 };
  Load load = { .n = 2500, .gap_s = 0.003, .input = 200, .output = 80, .spread = 90, .prefixes = 9 };
  SrvRunSpec spec = spec_of (&times, &load);
  spec.caching = TRUE;
  spec.blocks = 90;
  TEST_TRUE (joins (&spec, &load));
  SrvRunResult whole;
  rewind_load (&load);
  TEST_TRUE (srv_run (&spec, &whole, NULL) && whole.preemptions > 0 && whole.hit_tokens > 0);
}

/* Steps of 10 ms and requests every 10 ms: replicas end steps at the instants at which requests come, to themselves and others. */
static void
instants_that_coincide_change_nothing (void)
{
  Times times = { .prompt_s = 0.010, .decode_s = 0.010 };
  for (guint each = 1; each <= 30; each += 1 + each / 2)
    for (guint every = 5; every <= 20; every += 5) {
      Load load = { .n = 300, .every = every, .each = each, .input = 20, .output = 1 + each % 5 };
      SrvRunSpec spec = spec_of (&times, &load);
      for (int ahead = 0; ahead < 2; ahead++) {
        spec.ahead = ahead == 1;
        TEST_TRUE (joins (&spec, &load));
      }
      spec.times.ranks = 2;
      TEST_TRUE (joins (&spec, &load));
      spec.engine = SRV_ENGINE_SGLANG;
      TEST_TRUE (joins (&spec, &load));
    }
}

/* 70,000 requests of 2 tokens: gaps and times are in buckets in the whole, and exact in most parts. */
static void
samples_in_buckets_join_as_exact_ones (void)
{
  Times times = { .prompt_s = 0.0013, .token_s = 1e-6, .decode_s = 0.00071, .context_s = 3e-7 };
  Load load = { .n = 70000, .gap_s = 0.0004, .input = 20, .output = 2, .spread = 3 };
  SrvRunSpec spec = spec_of (&times, &load);
  SrvRunResult whole, joined;
  TEST_TRUE (joins_up_to (2, &spec, &load));
  rewind_load (&load);
  TEST_TRUE (srv_run (&spec, &whole, NULL));
  load.n--; /* another run */
  g_autoptr (SrvTally) one = part_of (&spec, &load, 0, 2);
  load.n++;
  g_autoptr (SrvTally) other = part_of (&spec, &load, 1, 2);
  TEST_FALSE (srv_tally_join (one, other));
  srv_tally_finish (other, &joined);
  TEST_FALSE (is_same (&whole, &joined)); /* half of it */
}

static void
replicas_that_know_of_each_other_do_not_split (void)
{
  Times times = { .prompt_s = 0.01, .decode_s = 0.01 };
  Load load = { .n = 10, .gap_s = 0.1, .input = 20, .output = 2 };
  const SrvRunSpec good = spec_of (&times, &load);
  const SrvOutage outage = { 0, 1, 2 };
  SrvRunSpec closed = good, routed = good, apart = good, fails = good, scales = good;
  closed.source.open = FALSE;
  routed.router.policy = SRV_ROUTER_LEAST_LOADED;
  apart.decode = &good;
  fails.outages = &outage;
  fails.n_outages = 1;
  scales.scale.target = 3;
  TEST_TRUE (srv_run_splits (&good));
  TEST_FALSE (srv_run_splits (&closed));
  TEST_FALSE (srv_run_splits (&routed));
  TEST_FALSE (srv_run_splits (&apart));
  TEST_FALSE (srv_run_splits (&fails));
  TEST_FALSE (srv_run_splits (&scales));
}

static void
bytes_that_are_no_part_are_refused (void)
{
  Times times = { .prompt_s = 0.013, .token_s = 1e-5, .decode_s = 0.0071 };
  Load load = { .n = 40, .gap_s = 0.004, .input = 20, .output = 4 };
  const SrvRunSpec spec = spec_of (&times, &load);
  rewind_load (&load);
  g_autoptr (SrvTally) part = srv_run_part (&spec, 0, 2, NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  srv_tally_write (part, bytes);
  for (guint n = 0; n < bytes->len; n++) { /* cut short */
    BaseWords words = { bytes->data, bytes->data + n };
    g_autoptr (SrvTally) cut = srv_tally_read (&words);
    TEST_TRUE (cut == NULL);
  }
  BaseRandom random = base_random_stream (1, "bytes");
  for (guint i = 0; i < 20000; i++) { /* of others all that matters is that none is read past its end */
    g_autofree guint8 *other = g_memdup2 (bytes->data, bytes->len);
    for (guint k = 0; k < 3; k++)
      other[base_random_below (&random, bytes->len)] = (guint8)base_random_below (&random, 256);
    BaseWords words = { other, other + bytes->len };
    srv_tally_free (srv_tally_read (&words));
    TEST_TRUE (words.at <= words.end);
  }
}

static void
numbers_come_back (void)
{
  const guint64 words[] = { 0, 1, 127, 128, 16383, 16384, G_MAXUINT32, G_MAXUINT64 - 1, G_MAXUINT64 };
  const double values[] = { 0, -0.0, 1, -1.5e300, (double)INFINITY, 5e-324 };
  guint64 words_back[G_N_ELEMENTS (words)], none;
  double values_back[G_N_ELEMENTS (values)];
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  base_words_put (bytes, words, G_N_ELEMENTS (words));
  base_words_put_doubles (bytes, values, G_N_ELEMENTS (values));
  BaseWords at = { bytes->data, bytes->data + bytes->len };
  TEST_TRUE (base_words_take (&at, words_back, G_N_ELEMENTS (words)));
  TEST_TRUE (base_words_take_doubles (&at, values_back, G_N_ELEMENTS (values)));
  TEST_TRUE (memcmp (words, words_back, sizeof words) == 0 && memcmp (values, values_back, sizeof values) == 0);
  TEST_FALSE (base_words_take (&at, &none, 1));
  const guint8 too_long[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 };
  BaseWords over = { too_long, too_long + sizeof too_long };
  TEST_FALSE (base_words_take (&over, &none, 1));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "parts are the run", parts_are_the_run },
    { "parts share prefixes and preempt as the run", parts_share_prefixes_and_preempt_as_the_run },
    { "instants that coincide change nothing", instants_that_coincide_change_nothing },
    { "samples in buckets join as exact ones", samples_in_buckets_join_as_exact_ones },
    { "replicas that know of each other do not split", replicas_that_know_of_each_other_do_not_split },
    { "bytes that are no part are refused", bytes_that_are_no_part_are_refused },
    { "numbers come back", numbers_come_back },
    { NULL, NULL },
  };
  return test_main ("serving/parts", cases);
}
