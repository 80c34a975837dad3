/* Runs of replicas over given times of steps: results by hand, and laws. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"
#include "serving/run.h"

/* ---- times and loads of a few numbers ---- */

typedef struct {
  double prompt_s, token_s; /* of a step with prompts, and of a token in it */
  double decode_s, context_s;
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
  if (cost != NULL) {
    *cost = (SrvStepCost){ .time_s = time_s, .time_lo_s = 0.8 * time_s, .time_hi_s = 1.5 * time_s };
    cost->part_s[SRV_PART_ATTENTION] = times->context_s * batch->decode_context;
    cost->part_s[SRV_PART_GEMM] = time_s - cost->part_s[SRV_PART_ATTENTION];
  }
  return time_s;
}

typedef struct {
  guint64 n, sent, ended;
  guint slots; /* closed; 0: open */
  double rate; /* 0: all at 0 */
  guint input, output, spread;
  guint prefixes;
  double at_s;
  BaseRandom random;
  double free_s;
  guint waiting;
  guint64 hashes[64];
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n || (load->slots > 0 && load->waiting == 0))
    return FALSE;
  if (load->slots > 0)
    load->waiting--;
  else if (load->rate > 0)
    load->at_s += base_random_exponential (&load->random, 1 / load->rate);
  const guint more = load->spread > 0 ? base_random_below (&load->random, load->spread) : 0;
  *out = (SrvRequest){ .index = load->sent++,
                       .arrival_s = load->slots > 0 ? load->free_s : load->at_s,
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
  Load *load = user;
  (void)index;
  load->ended++;
  if (load->slots == 0 || load->sent == load->n)
    return FALSE;
  load->free_s = now_s;
  load->waiting++;
  return TRUE;
}

static SrvRunSpec
spec_of (SrvEngineName engine, Times *times, Load *load)
{
  load->random = base_random_stream (3, "load");
  load->waiting = load->slots;
  return (SrvRunSpec){ .times = { .model = times, .ranks = 1, .time_s = time_of, .line = line_of },
                       .source = { load, next, finished, FALSE },
                       .engine = engine,
                       .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                       .blocks = 100000,
                       .block = 16,
                       .replicas = 1,
                       .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                       .watch = G_MAXUINT64 };
}

static SrvRunResult
run (const SrvRunSpec *spec)
{
  SrvRunResult result;
  GError *error = NULL;
  TEST_TRUE (srv_run (spec, &result, &error));
  if (error != NULL)
    TEST_STR (error->message, "");
  g_clear_error (&error);
  return result;
}

/* ---- by hand ---- */

static void
a_closed_load_gives_slots_over_the_time_of_a_request (void)
{
  /* 64 in flight, TTFT 200 ms, TPOT 20 ms, 1024 tokens: 64 / (.2 + 1023 · .02) = 3.0978 requests/s, 3172.1 tokens/s. */
  Times times = { .prompt_s = 0.2, .decode_s = 0.02 };
  Load load = { .n = 640, .slots = 64, .input = 100, .output = 1024 };
  SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
  spec.slo = (SrvSlo){ 0.2, 0.02, (double)INFINITY };
  const SrvRunResult r = run (&spec);
  TEST_NEAR (r.requests_per_s, 3.0978, 1e-5);
  TEST_NEAR (r.output_tokens_per_s, 3172.1, 1e-4);
  TEST_NEAR (r.goodput_rps, 3.0978, 1e-5);
  TEST_NEAR (r.ttft.p99, 0.2, 1e-9);
  TEST_NEAR (r.tpot.p50, 0.02, 1e-9);
  TEST_NEAR (r.itl.p99, 0.02, 1e-9);
  TEST_NEAR (r.e2e.mean, 20.66, 1e-9);
  TEST_NEAR (r.batch_mean, 64, 1e-9);
  TEST_INT (r.output_tokens, 640 * 1024);
  TEST_INT (load.ended, 640);
}

static void
one_at_a_time_waits_as_queueing_theory_says (void)
{
  /* M/D/1 at 5/s and 100 ms: load .5, mean wait .5 · 100 / (2 · .5) = 50 ms. */
  Times times = { .prompt_s = 0.1 };
  Load load = { .n = 200000, .rate = 5, .input = 10, .output = 1 };
  SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
  spec.limits.max_seqs = 1;
  const SrvRunResult r = run (&spec);
  TEST_NEAR (r.ttft.mean, 0.150, 0.02);
  TEST_NEAR (r.busy, 0.5, 0.02);
  TEST_INT (r.requests, 200000);
}

static void
times_of_requests_are_those_of_steps (void)
{
  /* Steps of 1 s, budget 8, two sequences, three prompts of 8 with 2 tokens each: tokens A 1, 2; B 2, 3; C 4, 5 … A's step 2
   * decodes and leaves 7 for B, whose last token is computed at step 3; C comes when A has left, with what B leaves. */
  Times times = { .prompt_s = 1, .decode_s = 1 };
  Load load = { .n = 3, .input = 8, .output = 2 };
  SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
  spec.limits.max_tokens = 8;
  spec.limits.max_seqs = 2;
  const SrvRunResult r = run (&spec);
  /* A: 1, 2. B: 7 at step 2, 1 at step 3: tokens 3, 4. C: 7 at step 3, 1 at step 4: tokens 4, 5. TTFT 1, 3, 4. */
  TEST_NEAR (r.ttft.mean, 8.0 / 3, 1e-9);
  TEST_NEAR (r.ttft.p50, 3, 1e-9);
  TEST_NEAR (r.duration_s, 5, 1e-9);
}

static void
a_request_that_can_never_be_answered_is_an_error (void)
{
  Times times = { .prompt_s = 1, .decode_s = 1 };
  SrvRunResult result;
  const struct {
    guint64 blocks;
    guint max_len, output;
    const char *says;
  } cases[] = { { 4, 0, 1, "request 0 has 100 tokens in its prompt and 1 to answer; the KV cache has room for 64" },
                { 100, 100, 1, "the longest sequence has 100; raise 'max_model_len'" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Load load = { .n = 3, .input = 100, .output = cases[i].output };
    SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
    GError *error = NULL;
    spec.blocks = cases[i].blocks;
    spec.max_model_len = cases[i].max_len;
    TEST_FALSE (srv_run (&spec, &result, &error));
    TEST_HAS (error->message, cases[i].says);
    g_clear_error (&error);
  }
}

static void
the_parts_of_a_request_sum_to_its_time (void)
{
  Times times = { .prompt_s = 0.01, .token_s = 1e-5, .decode_s = 0.008, .context_s = 1e-8 };
  for (int engine = 0; engine < SRV_ENGINE_N; engine++) {
    Load load = { .n = 300, .rate = 20, .input = 300, .output = 50, .spread = 200 };
    SrvRunSpec spec = spec_of ((SrvEngineName)engine, &times, &load);
    spec.watch = 200;
    spec.blocks = 700;
    const SrvWatched w = run (&spec).watched;
    double sum = 0;
    for (guint i = 0; i < SRV_WAIT_N; i++)
      sum += w.part_s[i];
    double first = 0;
    for (guint i = 0; i < SRV_WAIT_N; i++)
      first += w.first_s[i];
    TEST_NEAR (first, w.ttft_s, 1e-6);
    TEST_TRUE (w.seen);
    TEST_NEAR (sum, w.e2e_s, 1e-6);
    TEST_TRUE (w.part_s[SRV_WAIT_PROMPT] > 0 && w.part_s[SRV_WAIT_COMPUTE] > 0 && w.part_s[SRV_WAIT_KV] > 0);
  }
}

static void
the_front_end_comes_before_the_queue_and_behind_each_token (void)
{
  /* mean 30 ms before the queue, 2 ms behind a token; alone, a prompt takes 100 ms and a token 20 ms */
  Times times = { .prompt_s = 0.1, .decode_s = 0.02 };
  Load load = { .n = 4000, .slots = 1, .input = 10, .output = 3 };
  SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
  spec.front = (SrvFront){ .request_s = 0.03, .token_s = 0.002 };
  spec.seed = 1;
  const SrvRunResult r = run (&spec);
  TEST_NEAR (r.ttft.mean, 0.132, 0.01);
  TEST_NEAR (r.ttft.p50, 0.102 + 0.03 * 0.6931, 0.02); /* exponential: the median is ln 2 of the mean */
  TEST_NEAR (r.tpot.mean, 0.02, 1e-9);
  TEST_NEAR (r.requests_per_s, 1 / 0.172, 0.01);
}

static void
a_front_end_reads_one_prompt_after_the_other (void)
{
  /* 1 ms for each of 10 tokens; alone, a prompt takes 100 ms and a token 20 ms. Two that come at once: the second one is read at
   * 20 ms, and waits for the first one's step until 110 ms; in the next step both get a token */
  Times times = { .prompt_s = 0.1, .decode_s = 0.02 };
  for (guint slots = 1; slots <= 2; slots++) {
    Load load = { .n = slots, .slots = slots, .input = 10, .output = 3 };
    SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
    spec.front.prompt_s = 0.001;
    const SrvRunResult r = run (&spec);
    TEST_NEAR (r.ttft.mean, slots == 1 ? 0.11 : (0.11 + 0.21) / 2, 1e-9);
    TEST_NEAR (r.e2e.mean, slots == 1 ? 0.15 : (0.23 + 0.25) / 2, 1e-9);
  }
}

static void
a_front_end_sends_one_message_after_the_other (void)
{
  /* 1 ms each: 20 in flight get 1000 tokens/s at most, whatever the engine's 10 ms a step would give */
  Times times = { .prompt_s = 0.01, .decode_s = 0.01 };
  Load load = { .n = 400, .slots = 20, .input = 10, .output = 101 };
  SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &load);
  spec.front.token_s = 0.001;
  const SrvRunResult r = run (&spec);
  TEST_TRUE (r.output_tokens_per_s <= 1000 && r.output_tokens_per_s > 970);
  TEST_NEAR (r.e2e.mean, 20 * 101 / r.output_tokens_per_s, 0.03);
  TEST_TRUE (r.tpot.mean > 0.015 && r.ttft.mean > 0.1); /* both wait for it */
}

static void
a_step_that_is_chosen_ahead_misses_who_comes_meanwhile (void)
{
  /* Prompts take 100 ms, tokens 20 ms, answers 3. Ahead: the first prompt goes alone (0 to 100), the second one with it until 200;
   * the first ends at 220 and its successor misses the step until 240, so that it has its token at 340; that of the second, which
   * ends at 240, is behind it, at 440. */
  double mean_s[2];
  for (guint k = 0; k < 2; k++) {
    Times times = { .prompt_s = 0.1, .decode_s = 0.02 };
    Load load = { .n = 4, .slots = 2, .input = 10, .output = 3 };
    SrvRunSpec spec = spec_of (SRV_ENGINE_TRTLLM, &times, &load);
    spec.ahead = k == 1;
    mean_s[k] = run (&spec).ttft.mean;
    TEST_INT (load.ended, 4);
  }
  TEST_NEAR (mean_s[0], 0.1, 1e-9);
  TEST_NEAR (mean_s[1], (0.1 + 0.2 + 0.12 + 0.2) / 4, 1e-9);
}

static guint
ranks_time (const SrvBatch *batches, guint n)
{
  guint prompts = 0;
  for (guint i = 0; i < n; i++)
    prompts += batches[i].n_chunks > 0;
  return prompts;
}

/* Of two ranks: each step with prompts on one rank alone is counted in *model. */
static double
two_ranks (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  guint *alone = model;
  (void)cost;
  *alone += ranks_time (batches, 2) == 1;
  return batches[0].n_chunks + batches[1].n_chunks > 0 ? 0.05 : 0.01;
}

static void
ranks_that_wait_for_prompts_compute_them_together (void)
{
  guint alone[2] = { 0 };
  double ttft_s[2];
  for (guint k = 0; k < 2; k++) {
    Load load = { .n = 400, .slots = 16, .input = 50, .output = 20, .spread = 60 };
    Times none = { 0 };
    SrvRunSpec spec = spec_of (SRV_ENGINE_TRTLLM, &none, &load);
    spec.times = (SrvTimes){ .model = &alone[k], .ranks = 2, .time_s = two_ranks };
    spec.limits.wait = k == 0 ? 0 : 40;
    ttft_s[k] = run (&spec).ttft.mean;
    TEST_INT (load.ended, 400);
  }
  TEST_TRUE (alone[1] < alone[0] / 3);
  TEST_TRUE (ttft_s[1] > ttft_s[0]);
}

/* ---- laws ---- */

static void
jumps_change_nothing (void)
{
  Times times = { .prompt_s = 0.011, .token_s = 1.3e-5, .decode_s = 0.0083, .context_s = 1.7e-8 };
  for (guint i = 0; i < 24; i++) {
    SrvRunResult r[2];
    for (guint k = 0; k < 2; k++) {
      Load load = { .n = 400, .rate = 4.0 * (1 + i % 4), .input = 200, .output = 30, .spread = 300, .prefixes = i % 2 ? 3 : 0 };
      load.slots = i >= 12 ? 20 : 0;
      SrvRunSpec spec = spec_of ((SrvEngineName)(i % SRV_ENGINE_N), &times, &load);
      spec.stepwise = k == 1;
      spec.caching = i % 2 == 1;
      spec.blocks = 400;
      spec.replicas = 1 + i % 3;
      spec.router.policy = i % 2 ? SRV_ROUTER_LEAST_LOADED : SRV_ROUTER_ROUND_ROBIN;
      spec.source.open = load.slots == 0;
      spec.front = i % 3 == 1 ? (SrvFront){ .request_s = 0.02, .token_s = 0.0006 } : (SrvFront){ 0 };
      spec.limits.poll = i % 8 == 4 ? 7 : 0;
      spec.ahead = i % 5 < 2;
      r[k] = run (&spec);
      TEST_INT (load.ended, 400);
    }
    TEST_INT (r[0].requests, 400);
    TEST_INT (r[0].output_tokens, r[1].output_tokens);
    TEST_INT (r[0].steps, r[1].steps);
    TEST_INT (r[0].preemptions, r[1].preemptions);
    TEST_INT (r[0].hit_tokens, r[1].hit_tokens);
    TEST_TRUE (memcmp (&r[0].ttft, &r[1].ttft, sizeof (SrvSpread)) == 0);
    TEST_TRUE (memcmp (&r[0].tpot, &r[1].tpot, sizeof (SrvSpread)) == 0);
    TEST_TRUE (memcmp (&r[0].e2e, &r[1].e2e, sizeof (SrvSpread)) == 0);
    TEST_NEAR (r[0].itl.p99, r[1].itl.p99, 1e-12);
    TEST_NEAR (r[0].duration_s, r[1].duration_s, 1e-15);
  }
}

static void
twice_the_load_is_never_answered_sooner (void)
{
  Times times = { .prompt_s = 0.01, .token_s = 1e-5, .decode_s = 0.008, .context_s = 1e-8 };
  for (int engine = 0; engine < SRV_ENGINE_N; engine++) {
    double before = 0;
    for (double rate = 2; rate < 300; rate *= 2) {
      Load load = { .n = 1000, .rate = rate, .input = 500, .output = 100 };
      SrvRunSpec spec = spec_of ((SrvEngineName)engine, &times, &load);
      const SrvRunResult r = run (&spec);
      TEST_TRUE (r.ttft.p99 >= before * (1 - 1e-9));
      before = r.ttft.p99;
    }
  }
}

/* Ten chats begin a second apart, and each goes on 100 s after its first answer. */
typedef struct {
  guint begun, given;
  double next_s;
  gboolean again[20]; /* by request: the second of its chat */
  gboolean goes_on;
} Chats;

static gboolean
next_turn (gpointer user, SrvRequest *out, GError **error)
{
  Chats *chats = user;
  (void)error;
  if (!chats->goes_on && chats->begun == 10)
    return FALSE;
  chats->again[chats->given] = chats->goes_on;
  *out = (SrvRequest){
    .index = chats->given++, .arrival_s = chats->goes_on ? chats->next_s : chats->begun++, .input = 10, .output = 1
  };
  chats->goes_on = FALSE;
  return TRUE;
}

static gboolean
turn_finished (gpointer user, guint64 index, double now_s)
{
  Chats *chats = user;
  chats->goes_on = !chats->again[index];
  chats->next_s = now_s + 100;
  return chats->goes_on;
}

static void
chats_that_think_do_not_hold_up_others (void)
{
  Times times = { .prompt_s = 0.1, .decode_s = 0.1 };
  Load none = { 0 };
  Chats chats = { 0 };
  SrvRunSpec spec = spec_of (SRV_ENGINE_VLLM, &times, &none);
  spec.source = (SrvSource){ &chats, next_turn, turn_finished, FALSE };
  const SrvRunResult r = run (&spec);
  TEST_INT (r.requests, 20);
  TEST_NEAR (r.ttft.p99, 0.1, 1e-9); /* each finds an idle replica */
  TEST_NEAR (r.duration_s, 9 + 0.1 + 100 + 0.1, 1e-9);
}

/* The second turn of a chat finds its first question and answer: 32 + 31 tokens have their KV when it ends, 3 blocks of 16. */
typedef struct {
  guint given;
  gboolean goes_on;
  guint64 hashes[16];
} Chat;

static gboolean
next_of_chat (gpointer user, SrvRequest *out, GError **error)
{
  Chat *chat = user;
  (void)error;
  if (chat->given == 2 || (chat->given == 1 && !chat->goes_on))
    return FALSE;
  for (guint i = 0; i < 16; i++)
    chat->hashes[i] = i;
  *out = (SrvRequest){
    .index = chat->given, .input = chat->given == 0 ? 32 : 96, .output = 32, .hash = chat->hashes, .hash_tokens = 16
  };
  out->n_hashes = (out->input + out->output) / 16;
  chat->given++;
  return TRUE;
}

static gboolean
chat_goes_on (gpointer user, guint64 index, double now_s)
{
  Chat *chat = user;
  (void)now_s;
  chat->goes_on = index == 0;
  return chat->goes_on;
}

static void
chats_find_their_answers (void)
{
  for (guint engine = 0; engine < SRV_ENGINE_N; engine++)
    for (guint stepwise = 0; stepwise < 2; stepwise++) {
      Times times = { .prompt_s = 0.1, .decode_s = 0.1 };
      Load none = { 0 };
      Chat chat = { 0 };
      SrvRunSpec spec = spec_of ((SrvEngineName)engine, &times, &none);
      spec.source = (SrvSource){ &chat, next_of_chat, chat_goes_on, FALSE };
      spec.caching = TRUE;
      spec.stepwise = stepwise == 1;
      const SrvRunResult r = run (&spec);
      TEST_INT (r.requests, 2);
      TEST_INT (r.hit_tokens, 48);
    }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a closed load gives slots over the time of a request", a_closed_load_gives_slots_over_the_time_of_a_request },
    { "one at a time waits as queueing theory says", one_at_a_time_waits_as_queueing_theory_says },
    { "times of requests are those of steps", times_of_requests_are_those_of_steps },
    { "a request that can never be answered is an error", a_request_that_can_never_be_answered_is_an_error },
    { "the parts of a request sum to its time", the_parts_of_a_request_sum_to_its_time },
    { "the front end comes before the queue and behind each token", the_front_end_comes_before_the_queue_and_behind_each_token },
    { "a front end reads one prompt after the other", a_front_end_reads_one_prompt_after_the_other },
    { "a front end sends one message after the other", a_front_end_sends_one_message_after_the_other },
    { "a step that is chosen ahead misses who comes meanwhile", a_step_that_is_chosen_ahead_misses_who_comes_meanwhile },
    { "ranks that wait for prompts compute them together", ranks_that_wait_for_prompts_compute_them_together },
    { "chats that think do not hold up others", chats_that_think_do_not_hold_up_others },
    { "chats find their answers", chats_find_their_answers },
    { "jumps change nothing", jumps_change_nothing },
    { "twice the load is never answered sooner", twice_the_load_is_never_answered_sooner },
    { NULL, NULL },
  };
  return test_main ("serving/run", cases);
}
