/* Whatever quantities an input has, within what is accepted: no answer, as text, JSON or TSV, holds nan, an infinity or a time
 * below 0, and the program finds no fault of its own. Inputs are shipped files with keys set to values from the ends of the ranges.
 *
 * usage: law_numbers FORERUN SOURCE_DIR [DRAWS [SEED]] */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/random.h"

#define MOST_WORDS 40
#define MOST_DRAWN 3 /* keys of one draw */

/* A call and the keys that are drawn for it; each has values of its own dimension. */
typedef struct {
  const char *key;
  const char *values; /* between '|' */
} Key;

#define BYTES "0|1|1 B|1 KiB|1 GB|1 TB|1 PB|1e21 B|1e-21 B"
#define RATE  "0|1e-21 B/s|1e-12 B/s|1 B/s|1 Mb/s|100 Gb/s|400 Gb/s|1e18 B/s"
#define TIME  "0|1e-21 s|1 ps|1 us|1 s|1 h|100 days|1000 days|1e12 s"
#define SHARE "0|1e-21|1e-6|0.5|1|2|1e9"
#define POWER "0|1e-21 W|1 W|1 kW|1 GW|1e12 W"
#define MONEY "0|$1e-21|$0.01|$1|$1e6|$1e15"
#define WHOLE "0|1|2|3|8|1 k|1 M|100 G|9007199254740991"
#define EIGHT "8|16|64|128|1024"

typedef struct {
  const char *line; /* words between blanks */
  Key keys[10];
} Call;

static const Call calls[] = {
  { "run scenarios/quickstart.yaml",
    { { "workload.bytes", BYTES },
      { "topology.nics.rate", RATE },
      { "cluster.nodes", "1|2|3|64" },
      { "topology.fabric.switch_latency", TIME } } },
  { "run scenarios/quickstart.yaml --mode model", { { "workload.bytes", BYTES }, { "topology.nics.rate", RATE } } },
  { "explain scenarios/quickstart.yaml", { { "workload.bytes", BYTES }, { "topology.nics.rate", RATE } } },
  { "run scenarios/llama3_8b_1node.yaml",
    { { "workload.sequence", WHOLE }, { "workload.global_batch", EIGHT }, { "workload.micro_batch", "1|2|4" } } },
  { "run scenarios/gds_two_sockets.yaml",
    { { "workload.bytes", BYTES },
      { "workload.io_size", BYTES },
      { "workload.threads", WHOLE },
      { "workload.queue_depth", WHOLE } } },
  { "run scenarios/kv_cache_transfer.yaml", { { "workload.bytes", BYTES }, { "topology.nics.rate", RATE } } },
  { "run scenarios/pipeline_4_stages.yaml",
    { { "workload.micro_batches", "1|2|7|64" },
      { "workload.layers.0.forward", TIME },
      { "workload.layers.0.backward", TIME },
      { "workload.layers.0.gradient", BYTES },
      { "workload.layers.0.activation", BYTES },
      { "topology.nics.rate", RATE } } },
  { "plan tests/golden/plan/small/plan.yaml --threads 1 --best 1",
    { { "goal.tokens", WHOLE },
      { "goal.deadline", TIME },
      { "goal.budget", MONEY },
      { "constraints.power", POWER },
      { "choices.nodes", "[1]|[1, 2]|[3]" },
      { "objective", "time|cost|energy|pareto|cost_per_token" },
      { "fixed.sequence", WHOLE },
      { "fixed.global_batch", EIGHT },
      { "prices", "{prices: x, electricity: $1e6/kWh}|{prices: x, pue: 1e9}|{prices: x, amortisation: 1 s}|{prices: x}" } } },
  { "topo hgx_h200", { { "nics.rate", RATE } } },
  { "topo hgx_h200 --path gpu0 gpu1", { { "nics.rate", RATE } } },
  { "coll all_reduce --topology hgx_h200 --nodes 2 -b 8 -e 1G -f 64", { { "nics.rate", RATE } } },
  { "coll alltoall --topology hgx_h100 --nodes 2 -b 1M -e 1M --algo all", { { "nics.rate", RATE } } },
  { "ratio llama3_8b_1node", { { "workload.global_batch", EIGHT }, { "workload.sequence", WHOLE } } },
};

/* nan, inf, infinity as words of their own. */
static gboolean
has_odd_number (const char *text)
{
  static GRegex *regex;
  if (regex == NULL)
    regex =
        g_regex_new ("(?<![A-Za-z0-9_./])[-+]?(nan|inf|infinity)(?![A-Za-z0-9_./])", G_REGEX_CASELESS, (GRegexMatchFlags)0, NULL);
  return g_regex_match (regex, text, (GRegexMatchFlags)0, NULL);
}

/* One of the texts between '|'. Returned: full. */
static char *
draw (BaseRandom *random, const char *values)
{
  g_auto (GStrv) all = g_strsplit (values, "|", -1);
  return g_strdup (all[base_random_below (random, g_strv_length (all))]);
}

/* The words of a call with keys that are drawn. Returned: full. */
static char **
words_of (const char *forerun, BaseRandom *random)
{
  static const char *const formats[] = { "text", "json", "tsv" };
  const Call *call = &calls[base_random_below (random, G_N_ELEMENTS (calls))];
  guint n_keys = 0;
  while (n_keys < G_N_ELEMENTS (call->keys) && call->keys[n_keys].key != NULL)
    n_keys++;
  GPtrArray *words = g_ptr_array_new ();
  g_auto (GStrv) line = g_strsplit (call->line, " ", -1);
  g_ptr_array_add (words, g_strdup (forerun));
  for (char **word = line; *word != NULL; word++)
    g_ptr_array_add (words, g_strdup (*word));
  for (guint drawn = base_random_below (random, MOST_DRAWN) + 1; drawn > 0; drawn--) {
    const Key *key = &call->keys[base_random_below (random, n_keys)];
    g_autofree char *value = draw (random, key->values);
    g_ptr_array_add (words, g_strdup ("--set"));
    g_ptr_array_add (words, g_strdup_printf ("%s=%s", key->key, value));
  }
  g_ptr_array_add (words, g_strdup ("--format"));
  g_ptr_array_add (words, g_strdup (formats[base_random_below (random, G_N_ELEMENTS (formats))]));
  g_ptr_array_add (words, NULL);
  return (char **)g_ptr_array_free (words, FALSE);
}

/* What is wrong with an answer; NULL: nothing. */
static const char *
wrong_with (int status, const char *out, const char *err)
{
  if (!WIFEXITED (status) || WEXITSTATUS (status) > 3)
    return "ended by a signal or with a status that --help does not name";
  if (strstr (err, "internal:") != NULL)
    return "a fault of the program";
  if (strstr (err, "CRITICAL") != NULL || strstr (err, "WARNING **") != NULL)
    return "a message of a library";
  return has_odd_number (out) || has_odd_number (err) ? "nan or an infinity" : NULL;
}

int
main (int argc, char **argv)
{
  if (argc < 3)
    return 2;
  const guint64 draws = argc > 3 ? g_ascii_strtoull (argv[3], NULL, 10) : 150,
                seed = argc > 4 ? g_ascii_strtoull (argv[4], NULL, 10) : 1;
  BaseRandom random = base_random_stream (seed, "numbers");
  guint wrong = 0, answered = 0;
  for (guint64 i = 0; i < draws; i++) {
    g_auto (GStrv) words = words_of (argv[1], &random);
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr (GError) error = NULL;
    int status = 0;
    if (!g_spawn_sync (argv[2], words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, &error)) {
      g_printerr ("%s\n", error->message);
      return 1;
    }
    const char *why = wrong_with (status, out, err);
    answered += WIFEXITED (status) && WEXITSTATUS (status) == 0;
    if (why == NULL)
      continue;
    g_autofree char *line = g_strjoinv ("' '", words);
    g_printerr ("%s:\n'%s'\n%.400s%.600s\n", why, line, out, err);
    wrong++;
  }
  g_print ("%" G_GUINT64_FORMAT " draws, %u answered, %u wrong\n", draws, answered, wrong);
  return wrong == 0 && answered > 0 ? 0 : 1;
}
