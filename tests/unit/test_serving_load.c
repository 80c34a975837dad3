#include "load-private.h"

#include <math.h>
#include <string.h>

#include "harness.h"
#include "schema_document.h"

/* A load of YAML flow text, and what was made for it. */
typedef struct {
  BaseArena *arena;
  BaseDiag *diag;
  BaseYaml *yaml;
  SrvLoad *load;
  GError *error;
} Made;

static void
made_clear (Made *made)
{
  srv_load_free (made->load);
  base_yaml_free (made->yaml);
  base_diag_free (made->diag);
  base_arena_free (made->arena);
  g_clear_error (&made->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Made, made_clear)

static Made
make (const char *text, guint64 seed)
{
  Made made = { .arena = base_arena_new (), .diag = base_diag_new () };
  const BaseSchemaContext context = { .arena = made.arena, .diag = made.diag };
  SrvLoadSpec spec = { 0 };
  made.yaml = base_yaml_load_data ("s.yaml", text, strlen (text), &made.error);
  if (made.yaml == NULL || !base_schema_read (&srv_schema_load, base_yaml_root (made.yaml), FALSE, &context, &spec)) {
    if (made.error == NULL)
      base_diag_finish (made.diag, &made.error);
    return made;
  }
  made.load = srv_load_new (&spec, &context, seed, &made.error);
  TEST_TRUE ((made.load == NULL) == (made.error != NULL));
  return made;
}

/* All requests that wait for no answer. Returned: full, of SrvRequest. */
static GArray *
take_all (Made *made)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (SrvRequest));
  SrvRequest request;
  if (made->load == NULL)
    g_error ("%s", made->error->message);
  while (srv_load_next (made->load, &request, &made->error))
    g_array_append_val (all, request);
  return all;
}

#define AT(all, i) g_array_index (all, SrvRequest, i)

static void
keys_are_a_sound_table (void)
{
  g_autofree char *wrong = schema_check (&srv_schema_load);
  TEST_STR (wrong, NULL);
}

static void
a_closed_load_sends_one_request_for_each_answer (void)
{
  g_auto (Made) made = make ("{closed: 2, requests: 4, input: 100, output: 10}", 1);
  g_autoptr (GArray) first = take_all (&made);
  TEST_INT (first->len, 2);
  TEST_NEAR (AT (first, 1).arrival_s + 1, 1, 0);
  TEST_INT (AT (first, 1).input, 100);
  TEST_INT (AT (first, 1).n_hashes, 0);
  TEST_TRUE (srv_load_finished (made.load, 1, 3.5));
  TEST_TRUE (srv_load_finished (made.load, 0, 4.0));
  SrvRequest request;
  TEST_TRUE (srv_load_next (made.load, &request, NULL));
  TEST_INT (request.index, 2);
  TEST_NEAR (request.arrival_s, 3.5, 0);
  TEST_TRUE (srv_load_next (made.load, &request, NULL));
  TEST_NEAR (request.arrival_s, 4.0, 0);
  TEST_FALSE (srv_load_finished (made.load, 2, 9)); /* the fourth was the last */
  TEST_FALSE (srv_load_next (made.load, &request, NULL));
}

/* Mean and variance of n gaps. */
static void
gaps (const char *text, double *mean, double *variance)
{
  g_auto (Made) made = make (text, 7);
  g_autoptr (GArray) all = take_all (&made);
  double last = 0, sum = 0, squares = 0;
  for (guint i = 0; i < all->len; i++) {
    const double gap = AT (all, i).arrival_s - last;
    TEST_TRUE (gap >= 0);
    last = AT (all, i).arrival_s;
    sum += gap;
    squares += gap * gap;
  }
  *mean = sum / all->len;
  *variance = squares / all->len - *mean * *mean;
}

static void
gaps_have_the_mean_and_variance_of_their_law (void)
{
  double mean, variance;
  /* exponential: variance = mean²; gamma of shape k: mean² / k */
  gaps ("{rate: 5, requests: 200000, input: 1, output: 1}", &mean, &variance);
  TEST_NEAR (mean, 0.2, 0.01);
  TEST_NEAR (variance, 0.04, 0.03);
  gaps ("{rate: 5, burstiness: 4, requests: 200000, input: 1, output: 1}", &mean, &variance);
  TEST_NEAR (mean, 0.2, 0.01);
  TEST_NEAR (variance, 0.01, 0.03);
  gaps ("{rate: 5, burstiness: 0.25, requests: 200000, input: 1, output: 1}", &mean, &variance);
  TEST_NEAR (mean, 0.2, 0.02);
  TEST_NEAR (variance, 0.16, 0.05);
  gaps ("{rate: 5, constant: yes, requests: 1000, input: 1, output: 1}", &mean, &variance);
  TEST_NEAR (mean, 0.2, 1e-9);
  TEST_TRUE (fabs (variance) < 1e-12);
  /* vllm bench serve: n requests take n / rate, whatever was drawn */
  gaps ("{as: vllm_bench, rate: 4, burstiness: 0.5}", &mean, &variance);
  TEST_NEAR (mean, 0.25, 1e-12);
}

static void
a_ramp_changes_the_rate_linearly (void)
{
  /* from 10 to 30 a second in 10 s: 200 requests; the integral 10 t + t² is 75 at 5 s */
  g_auto (Made) made = make ("{rate: 10, ramp_to: 30, constant: yes, duration: 10 s, input: 1, output: 1}", 1);
  g_autoptr (GArray) all = take_all (&made);
  TEST_INT (all->len, 200);
  TEST_NEAR (AT (all, 74).arrival_s, 5, 1e-12);
  TEST_NEAR (AT (all, 199).arrival_s, 10, 1e-12);
}

static void
lengths_follow_their_laws (void)
{
  g_auto (Made) made = make ("{rate: 1, requests: 100000, lengths: {input: {law: lognormal, median: 500, sigma: 0.5, max: 4000}, "
                             "output: {law: uniform, min: 10, max: 20}}}",
                             3);
  g_autoptr (GArray) all = take_all (&made);
  double below = 0, sum = 0;
  for (guint i = 0; i < all->len; i++) {
    below += AT (all, i).input <= 500;
    sum += AT (all, i).output;
    TEST_TRUE (AT (all, i).output >= 10 && AT (all, i).output <= 20 && AT (all, i).input <= 4000);
  }
  TEST_NEAR (below / all->len, 0.5, 0.02);
  TEST_NEAR (sum / all->len, 15, 0.01);
  g_auto (Made) vllm = make ("{as: vllm_bench, input: 100, output: 10, range: 0.1}", 3);
  g_autoptr (GArray) bench = take_all (&vllm);
  TEST_INT (bench->len, 1000);
  guint32 least = 1000, most = 0;
  for (guint i = 0; i < bench->len; i++) {
    least = MIN (least, AT (bench, i).input);
    most = MAX (most, AT (bench, i).input);
  }
  TEST_INT (least, 90);
  TEST_INT (most, 110);
}

static void
inferencex_is_closed_with_ten_requests_a_slot_of_at_most_the_length (void)
{
  g_auto (Made) made = make ("{as: inferencex, closed: 64, input: 1000, output: 500}", 3);
  TEST_NEAR (srv_load_settled (made.load)->requests.v, 640, 0);
  SrvRequest request;
  guint n = 0;
  guint32 least = 10000, most = 0;
  while (srv_load_next (made.load, &request, NULL) || srv_load_finished (made.load, n - 1, n)) {
    if (request.index < n)
      continue;
    n++;
    least = MIN (least, request.input);
    most = MAX (most, request.input);
  }
  TEST_INT (n, 640);
  TEST_TRUE (least >= 800 && least < 810);
  TEST_TRUE (most <= 1000 && most > 990);
}

static void
the_same_seed_gives_the_same_requests (void)
{
  const char text[] = "{rate: 3, requests: 50, output: 9, lengths: {input: {law: normal, mean: 300, deviation: 50}}}";
  g_auto (Made) one = make (text, 5), two = make (text, 5), other = make (text, 6);
  g_autoptr (GArray) a = take_all (&one), b = take_all (&two), c = take_all (&other);
  TEST_INT (memcmp (a->data, b->data, a->len * sizeof (SrvRequest)), 0);
  TEST_TRUE (memcmp (a->data, c->data, a->len * sizeof (SrvRequest)) != 0);
}

static guint
same_blocks (const guint64 *a, guint n_a, const SrvRequest *b)
{
  guint n = 0;
  while (n < n_a && n < b->n_hashes && a[n] == b->hash[n])
    n++;
  return n;
}

static void
sessions_repeat_what_was_said_and_all_share_the_prefix (void)
{
  g_auto (Made) made = make ("{closed: 1, requests: 4, input: 100, output: 28, prefix: 64, turns: 2, think: 3 s}", 1);
  SrvRequest request;
  TEST_TRUE (srv_load_next (made.load, &request, NULL));
  TEST_INT (request.input, 164);
  TEST_INT (request.n_hashes, 12); /* 164 tokens of the prompt and 28 of the answer */
  guint64 before[12];
  memcpy (before, request.hash, sizeof before);
  const guint32 session = request.session;
  TEST_TRUE (session > 0);
  TEST_TRUE (srv_load_finished (made.load, request.index, 2));
  TEST_TRUE (srv_load_next (made.load, &request, NULL));
  TEST_NEAR (request.arrival_s, 5, 1e-12);
  TEST_INT (request.input, 64 + 100 + 28 + 100);
  TEST_INT (request.session, session);
  TEST_INT (same_blocks (before, 10, &request), 10);
  TEST_TRUE (srv_load_finished (made.load, request.index, 7));
  TEST_TRUE (srv_load_next (made.load, &request, NULL)); /* another session in the same slot */
  TEST_NEAR (request.arrival_s, 7, 1e-12);
  TEST_TRUE (request.session != session);
  TEST_INT (same_blocks (before, 10, &request), 4); /* 64 / 16 */
}

/* AIPerf's 100 prompts, and three of a plain load: the fourth request has the first one's. */
static void
prompts_are_taken_in_turn (void)
{
  g_auto (Made) aiperf = make ("{as: aiperf, closed: 1, input: 64, output: 1}", 1);
  TEST_NEAR (srv_load_settled (aiperf.load)->prompts.v, 100, 0);
  g_auto (Made) sessions = make ("{as: aiperf, closed: 1, input: 64, output: 1, turns: 2}", 1);
  TEST_FALSE (srv_load_settled (sessions.load)->prompts.set);
  g_auto (Made) made = make ("{rate: 1, requests: 4, input: 160, output: 1, prompts: 3, prefix: 32}", 1);
  guint64 first[12];
  SrvRequest request;
  TEST_TRUE (srv_load_next (made.load, &request, NULL));
  TEST_INT (request.n_hashes, 12);
  memcpy (first, request.hash, sizeof first);
  for (guint i = 1; i < 4; i++) {
    TEST_TRUE (srv_load_next (made.load, &request, NULL));
    TEST_INT (same_blocks (first, 12, &request), i < 3 ? 2 : 12); /* 32 / 16 */
  }
}

/* ---- traces ---- */

static SrvTrace *
trace_of (const char *text, SrvTraceFormat format, GError **error)
{
  return srv_trace_new (base_stream_of_bytes ("t", text, strlen (text), 65536), format, error);
}

static void
formats_are_detected_and_read (void)
{
  static const struct {
    const char *text;
    SrvTraceFormat format;
    double time_s; /* of the second row since the first */
    guint32 input, output, hashes;
  } rows[] = {
    { "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.5000000,374,44\r\n2023-11-17 00:00:01.7500000,396,109\r\n",
      SRV_TRACE_AZURE, 2.25, 396, 109, 0 },
    { "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-02-29 00:00:00.25+00:00,1,3,44\n2024-03-01 "
      "01:00:00.5+00:00,0,396,1\n",
      SRV_TRACE_AZURE, 90000.25, 396, 1, 0 },
    { "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": [1]}\n"
      "{\"timestamp\": 1500, \"input_length\": 6472, \"output_length\": 52, \"hash_ids\": [46, 47, 48, 49, 50, 51, 52, 53, 54, 55, "
      "56, "
      "57, 58]}\n",
      SRV_TRACE_MOONCAKE, 1.5, 6472, 52, 12 },
    { "{\"chat_id\": 0, \"parent_chat_id\": -1, \"timestamp\": 1.5, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": [1]}\n"
      "{\"chat_id\": 3, \"parent_chat_id\": 0, \"timestamp\": 61.75, \"input_length\": 48, \"output_length\": 7, \"type\": "
      "\"te\\u0078t\", "
      "\"turn\": 2, \"hash_ids\": [1, 2, 3]}\n",
      SRV_TRACE_BAILIAN, 60.25, 48, 7, 3 },
    { "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n5,1,1.5,ChatGPT,472,18,490,API\n"
      "45,1,9.0,\"GPT, 4\",1087,0,1087,Conversation\n118,1,3.1,GPT-4,417,276,693,Conversation\n",
      SRV_TRACE_BURSTGPT, 113, 417, 276, 0 },
    { "time_ms,output,input\n100,10,100\n\n350,20,200\n", SRV_TRACE_CSV, 0.25, 200, 20, 0 },
    { "[{\"conversations\": [{\"value\": \"0123456789abcdef\"}, {\"value\": \"0123456789abcdef\"}]}, {\"conversations\": []},\n"
      " {\"conversations\": [{\"value\": \"0123 }\\\"] 56789abcdef\"}, {\"value\": \"0123456789abcdefghij\"}]}]",
      SRV_TRACE_SHAREGPT, 0, 5, 5, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SrvTrace) trace = trace_of (rows[i].text, SRV_TRACE_AUTO, &error);
    g_autoptr (GArray) hashes = g_array_new (FALSE, FALSE, sizeof (guint64));
    SrvTraceRow row, first;
    if (trace == NULL || !srv_trace_next (trace, &first, hashes, &error) || !srv_trace_next (trace, &row, hashes, &error))
      g_error ("%u: %s", i, error != NULL ? error->message : "ends");
    TEST_INT (srv_trace_format (trace), rows[i].format);
    TEST_NEAR (first.time_s + 1, 1, 0);
    TEST_NEAR (row.time_s + 1, rows[i].time_s + 1, 1e-9);
    TEST_INT (row.input, rows[i].input);
    TEST_INT (row.output, rows[i].output);
    TEST_INT (hashes->len, rows[i].hashes);
    TEST_INT (row.session, first.session);
    TEST_FALSE (srv_trace_next (trace, &row, hashes, &error));
    TEST_TRUE (error == NULL);
  }
}

#define MOON(time, in, out) "{\"timestamp\": " time ", \"input_length\": " in ", \"output_length\": " out ", \"hash_ids\": []}\n"
#define CSV                 "time_s,input,output\n"

static void
bad_lines_are_refused_with_their_place (void)
{
  static const struct {
    const char *text, *says;
  } rows[] = {
    { "", "t: is empty; a trace of requests is expected" },
    { CSV "5,1,1\n4.5,1,1\n", "t:3: the time goes back by 0.5 s; sort the lines by time" },
    { CSV "5,1,1\n6,0,1\n", "t:3:3: the prompt is 0; a request has at least 1 token each way: leave this line out" },
    { CSV "5,1,-3\n", "t:2:5: the answer is not a whole number of tokens from 1 to 100 M" },
    { CSV "5,1,x\n", "t:2:5: tokens of the answer: 'x' is not a number" },
    { CSV "5,1\n", "t:2:3: the line ends before column 3, which the first line names" },
    { "time,inputs\n", "t:1:1: the first line has no column 'input'; columns are time_s, input, output" },
    { "TIMESTAMP,ContextTokens\n", "t:1:1: the first line has no column 'GeneratedTokens'; columns are TIMESTAMP, ContextTokens, "
                                   "GeneratedTokens" },
    { "TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,1,1\n", "t:2:1: time of arrival: 'noon' is not a date like 2024-05-10 "
                                                             "00:00:01.25" },
    { MOON ("0", "10", "1") MOON ("0", "10", "0"),
      "t:2:55: output_length is 0; a request has at least 1 token each way: leave this "
      "line out" },
    { "{\"timestamp\": 0, \"input_length\": 4}\n", "t:1:1: no \"output_length\"; each line has one, in tokens" },
    { "{\"timestamp\": \"0\", \"input_length\": 4, \"output_length\": 1}\n", "t:1:15: \"timestamp\" is not a number, in ms" },
    { "{\"timestamp\": 0, \"input_length\": 4, \"output_length\": 1, \"hash_ids\": [1.5]}\n", "t:1:1: hash_ids: a list of whole "
                                                                                              "numbers is expected" },
    { MOON ("0", "10", "1") "{\"timestamp\": 1\n", "t:2:15: the file ends within the JSON document of line 2: cut off; write it "
                                                   "again" },
    { MOON ("0", "10", "1") "7\n", "t:2:1: a mapping is expected: {\"key\": value, …}" },
    { "[1]", "t:1:2: a JSON list of mappings is expected: [{…}, {…}]" },
    { "[{\"conversations\": []}", "t:1:22: the file ends within its JSON list: cut off; write it again" },
    { "[{\"id\": 1}]", "t:1:2: no \"conversations\": [{\"from\": …, \"value\": …}, …]" },
    { "\x1f\x8b", "t: is packed by gzip; unpack it first" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SrvTrace) trace = trace_of (rows[i].text, SRV_TRACE_AUTO, &error);
    SrvTraceRow row;
    while (trace != NULL && srv_trace_next (trace, &row, NULL, &error))
      ;
    TEST_STR (error != NULL ? error->message : "read", rows[i].says);
  }
}

static void
lines_longer_than_the_limit_are_refused (void)
{
  g_autofree char *text = g_strnfill (300000, 'a');
  g_autoptr (BaseStream) stream = base_stream_of_bytes ("t", text, 300000, 100000);
  g_autoptr (GError) error = NULL;
  char *line;
  gsize n;
  TEST_FALSE (base_stream_line (stream, &line, &n, &error));
  TEST_STR (error->message, "t:1: a line of more than 100000 B; shorter ones are accepted");
  g_autoptr (BaseStream) whole = base_stream_of_bytes ("t", text, 300000, 300000);
  TEST_TRUE (base_stream_line (whole, &line, &n, NULL));
  TEST_INT (n, 300000);
  TEST_FALSE (base_stream_line (whole, &line, &n, NULL));
}

static void
the_shipped_trace_is_read_faster_by_scale (void)
{
  g_auto (Made) made = make ("{trace: " TEST_SOURCE_DIR "/scenarios/traces/mooncake_like.jsonl, scale: 2}", 1);
  SrvRequest request;
  guint n = 0, shared = 0;
  double last_s = 0;
  while (srv_load_next (made.load, &request, &made.error)) {
    n++;
    TEST_INT (request.mark.line, n);
    shared += request.n_hashes > 0 && request.hash[0] < 100;
    TEST_INT (request.hash_tokens, 512);
    last_s = request.arrival_s;
  }
  TEST_TRUE (made.error == NULL);
  TEST_INT (n, 1000);
  TEST_INT (shared, 1000);
  TEST_NEAR (last_s, 590.975 / 2, 1e-9);
}

static void
keys_that_exclude_each_other_are_refused (void)
{
  static const struct {
    const char *text, *says;
  } rows[] = {
    { "{input: 1, output: 1}", "s.yaml:1:1: 'load' does not say when requests arrive; give 'closed', 'rate' or 'trace'" },
    { "{rate: 1}", "s.yaml:1:1: 'load' does not say how long prompts are; give 'input' in tokens, 'lengths' or 'trace'" },
    { "{closed: 1, input: 0, output: 1}", NULL },
    { "{closed: 1, burstiness: 2, input: 1, output: 1}", "s.yaml:1:25: 'burstiness' needs 'rate', in requests per second" },
    { "{rate: 1, scale: 2, input: 1, output: 1}", "s.yaml:1:18: 'scale' is of a trace; give 'trace' too, or leave it out" },
    { "{rate: 1, think: 2 s, input: 1, output: 1}", "s.yaml:1:18: 'think' is between requests of a session; give 'turns', at least "
                                                    "2" },
    { "{closed: 1, prompts: 3, turns: 2, input: 1, output: 1}", "s.yaml:1:22: 'prompts' differs from 'turns', with which each "
                                                                "session has its own; give one" },
    { "{trace: none.csv, input: 1}", "s.yaml:1:26: 'input' differs from the trace, which has the lengths; leave it out" },
    { "{trace: none.csv}", "s.yaml:1:9: none.csv: no such file" },
    { "{closed: 1, lengths: {file: none.csv}}", "s.yaml:1:29: none.csv: no such file" },
    { "{as: mlperf_server, input: 1, output: 1}", "s.yaml:1:6: mlperf_server needs 'rate', in requests per second" },
    { "{as: inferencex, rate: 1, closed: 2, input: 1, output: 1}", "s.yaml:1:24: 'rate' differs from inferencex, which is a closed "
                                                                   "loop" },
    { "{rate: 1, output: 1, lengths: {input: {law: lognormal}}}", "s.yaml:1:39: lengths.input: a lognormal law needs 'median', in "
                                                                  "tokens, and 'sigma'" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Made) made = make (rows[i].text, 1);
    TEST_TRUE (made.error != NULL);
    if (rows[i].says != NULL)
      TEST_STR (made.error != NULL ? made.error->message : "made", rows[i].says);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "keys are a sound table", keys_are_a_sound_table },
    { "a closed load sends one request for each answer", a_closed_load_sends_one_request_for_each_answer },
    { "gaps have the mean and variance of their law", gaps_have_the_mean_and_variance_of_their_law },
    { "a ramp changes the rate linearly", a_ramp_changes_the_rate_linearly },
    { "lengths follow their laws", lengths_follow_their_laws },
    { "InferenceX: closed, ten requests a slot of at most the length",
      inferencex_is_closed_with_ten_requests_a_slot_of_at_most_the_length },
    { "the same seed gives the same requests", the_same_seed_gives_the_same_requests },
    { "sessions repeat what was said, and all share the prefix", sessions_repeat_what_was_said_and_all_share_the_prefix },
    { "prompts are taken in turn", prompts_are_taken_in_turn },
    { "formats are detected and read", formats_are_detected_and_read },
    { "bad lines are refused with their place", bad_lines_are_refused_with_their_place },
    { "lines longer than the limit are refused", lines_longer_than_the_limit_are_refused },
    { "the shipped trace is read, faster by scale", the_shipped_trace_is_read_faster_by_scale },
    { "keys that exclude each other are refused", keys_that_exclude_each_other_are_refused },
    { NULL, NULL },
  };
  return test_main ("serving load", cases);
}
