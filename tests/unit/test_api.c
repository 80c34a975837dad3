/* libforerun as a program outside sees it: what forerun.h says, by the shared library. argv[1]: the program. */
#include <forerun.h>
#include <glib/gstdio.h>
#include <string.h>

#include "harness.h"

#define PLAN TEST_SOURCE_DIR "/tests/golden/plan/small/plan.yaml"

static const char *program;

/* The answer to a shipped scenario with one change, or none. */
static FrResult *
predict (const char *name, const char *path, const char *value)
{
  FrError *error = NULL;
  FrSession *session = fr_session_new (NULL, &error);
  FrScenario *scenario = fr_scenario_load (session, name, &error);
  if (path != NULL)
    TEST_TRUE (fr_scenario_set (scenario, path, value, &error));
  FrResult *result = fr_scenario_run (scenario, &error);
  TEST_TRUE (result != NULL && error == NULL);
  fr_session_free (session); /* what is made of it lives on */
  fr_scenario_free (scenario);
  return result;
}

static double
number (const FrResult *result, const char *key)
{
  double value = -1;
  TEST_TRUE (fr_result_number (result, key, &value));
  return value;
}

static void
fields_have_values_and_units (void)
{
  FrResult *result = predict ("quickstart", NULL, NULL);
  TEST_TRUE (number (result, "time_s") > 0.001 && number (result, "time_s") < 0.1);
  TEST_NEAR (number (result, "algbw_Bps"), 1073741824 / number (result, "time_s"), 1e-12);
  TEST_STR (fr_result_text (result, "op"), "all_reduce");
  TEST_STR (fr_result_text (result, "kind"), "collective");
  TEST_STR (fr_result_unit (result, "time_s"), "s");
  TEST_STR (fr_result_unit (result, "busbw_Bps"), "B/s");
  TEST_STR (fr_result_unit (result, "op"), "");
  TEST_TRUE (number (result, "links.0.utilisation") > 0);

  double value = 7;
  TEST_FALSE (fr_result_number (result, "op", &value));
  TEST_FALSE (fr_result_number (result, "links.99.utilisation", &value));
  TEST_FALSE (fr_result_number (result, "no_such", &value));
  TEST_TRUE (value > 6 && value < 8);
  TEST_STR (fr_result_text (result, "time_s"), NULL);
  TEST_STR (fr_result_unit (result, "no_such"), "");
  fr_result_free (result);
}

static void
every_key_leads_to_its_field (void)
{
  static const char *const names[] = { "quickstart", "kv_offload", "two_jobs", "one_tier_for_all", "llama3_8b_1node" };
  for (size_t s = 0; s < G_N_ELEMENTS (names); s++) {
    FrResult *result = predict (names[s], NULL, NULL);
    guint known = 0;
    for (size_t i = 0; i < fr_result_n_fields (result); i++) {
      double value;
      const char *key = fr_result_key (result, i);
      gboolean is_text = fr_result_text (result, key) != NULL, is_number = fr_result_number (result, key, &value);
      TEST_FALSE (is_text && is_number);
      known += is_text || is_number;
      for (size_t k = 0; k < i; k++)
        if (strcmp (fr_result_key (result, k), key) == 0)
          TEST_STR (key, "named once");
    }
    TEST_TRUE (known >= 8);
    TEST_STR (fr_result_key (result, fr_result_n_fields (result)), NULL);
    fr_result_free (result);
  }
}

static void
a_text_is_a_file (void)
{
  static const char text[] = "scenario: mine\n"
                             "cluster: {topology: hgx_h200, nodes: 2}\n"
                             "workload: {kind: collective, op: all_reduce, bytes: 1 GiB, dtype: bf16}\n";
  FrSession *session = fr_session_new (NULL, NULL);
  FrScenario *scenario = fr_scenario_parse (session, text, NULL);
  FrResult *mine = fr_scenario_run (scenario, NULL), *shipped = predict ("quickstart", NULL, NULL);
  TEST_NEAR (number (mine, "time_s"), number (shipped, "time_s"), 0);
  fr_result_free (mine);
  fr_result_free (shipped);

  TEST_TRUE (fr_scenario_set (scenario, "cluster.nodes", "4", NULL));
  mine = fr_scenario_run (scenario, NULL);
  shipped = predict ("quickstart", "cluster.nodes", "4");
  TEST_NEAR (number (mine, "time_s"), number (shipped, "time_s"), 0);
  TEST_INT (number (mine, "nodes"), 4);
  fr_result_free (mine);

  TEST_TRUE (fr_scenario_set_mode (scenario, FR_MODE_MODEL, NULL) && fr_scenario_set_seed (scenario, 3, NULL));
  mine = fr_scenario_run (scenario, NULL);
  TEST_INT (number (mine, "events"), 0);
  TEST_HAS (fr_result_json (mine), "\"seed\" : 3");
  fr_result_free (mine);
  fr_result_free (shipped);
  fr_scenario_free (scenario);
  fr_session_free (session);
}

/* Fails with a message that has `part`; frees the error. */
static void
refused (FrError *error, const char *part)
{
  TEST_TRUE (error != NULL);
  if (error == NULL)
    return;
  TEST_INT (fr_error_status (error), FR_STATUS_INPUT);
  TEST_HAS (fr_error_message (error), part);
  TEST_FALSE (g_str_has_suffix (fr_error_message (error), "\n"));
  fr_error_free (error);
}

static void
errors_are_values (void)
{
  FrError *error = NULL;
  TEST_TRUE (fr_session_new ("/proc/self", &error) == NULL);
  refused (g_steal_pointer (&error), "holds no topologies/");
  FrSession *session = fr_session_new (NULL, NULL);
  TEST_TRUE (fr_scenario_load (session, "quikstart", &error) == NULL);
  refused (g_steal_pointer (&error), "did you mean 'quickstart'");
  TEST_TRUE (fr_scenario_load (session, NULL, &error) == NULL);
  refused (g_steal_pointer (&error), "needed");
  TEST_TRUE (fr_scenario_load (session, "quikstart", NULL) == NULL); /* whoever does not ask is not told */

  FrScenario *scenario = fr_scenario_load (session, "quickstart", NULL);
  TEST_FALSE (fr_scenario_set (scenario, "a=b", "c", &error));
  refused (g_steal_pointer (&error), "'a=b' is not a path");
  TEST_FALSE (fr_scenario_set (scenario, "", "c", &error));
  refused (g_steal_pointer (&error), "is not a path");
  TEST_FALSE (fr_scenario_set_seed (scenario, UINT64_MAX, &error));
  refused (g_steal_pointer (&error), "out of range");
  TEST_FALSE (fr_scenario_set_mode (scenario, (FrMode)7, &error));
  refused (g_steal_pointer (&error), "mode 7");
  TEST_TRUE (fr_scenario_set (scenario, "cluster.nods", "4", &error));
  TEST_TRUE (fr_scenario_run (scenario, &error) == NULL);
  refused (g_steal_pointer (&error), "did you mean 'nodes'");
  TEST_TRUE (fr_scenario_run (scenario, NULL) == NULL);
  fr_scenario_free (scenario);

  scenario = fr_scenario_parse (session, "scenario: [\n", &error);
  TEST_TRUE (scenario != NULL && fr_scenario_run (scenario, &error) == NULL);
  refused (g_steal_pointer (&error), "text:2:");
  fr_scenario_free (scenario);
  fr_session_free (session);

  fr_error_free (NULL);
  fr_result_free (NULL);
  fr_scenario_free (NULL);
  fr_session_free (NULL);
}

static void
the_document_is_the_program_s (void)
{
  static const char *const names[] = { "quickstart", "llama3_8b_1node" };
  for (size_t s = 0; s < G_N_ELEMENTS (names); s++) {
    const char *const argv[] = { program, "run", names[s], "--set", "seed=5", "--format", "json", NULL };
    g_autofree char *told = NULL;
    TEST_TRUE (g_spawn_sync (NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &told, NULL, NULL, NULL));
    FrResult *result = predict (names[s], "seed", "5");
    TEST_STR (fr_result_json (result), told);
    fr_result_free (result);
  }
}

/* What the program prints for these words, which end with NULL. */
static char *
printed (const char *const *words)
{
  char *told = NULL;
  TEST_TRUE (g_spawn_sync (NULL, (char **)words, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &told, NULL, NULL, NULL));
  return told;
}

static void
a_collective_needs_no_file (void)
{
  FrSession *session = fr_session_new (NULL, NULL);
  FrError *error = NULL;
  FrColl *coll = fr_coll_new (session, "all_reduce", "hgx_h200", &error);
  TEST_TRUE (coll != NULL && error == NULL);
  TEST_TRUE (fr_coll_set (coll, "node.nics.rate", "200 Gb/s", &error));
  TEST_TRUE (fr_coll_option (coll, "nodes", "4", &error)); /* the last counts */
  TEST_TRUE (fr_coll_option (coll, "nodes", "2,4", &error));
  TEST_TRUE (fr_coll_option (coll, "minbytes", "1M", &error) && fr_coll_option (coll, "maxbytes", "4M", &error));
  TEST_TRUE (fr_coll_option (coll, "nccl", "NCCL_ALGO=ring", &error) && fr_coll_option (coll, "seed", "5", &error));
  FrResult *result = fr_coll_run (coll, &error);
  TEST_TRUE (result != NULL && error == NULL);
  const char *const words[] = { program,
                                "coll",
                                "all_reduce",
                                "--set",
                                "node.nics.rate=200 Gb/s",
                                "--topology",
                                "hgx_h200",
                                "--nodes",
                                "4",
                                "--nodes",
                                "2,4",
                                "--minbytes",
                                "1M",
                                "--maxbytes",
                                "4M",
                                "--nccl",
                                "NCCL_ALGO=ring",
                                "--seed",
                                "5",
                                "--format",
                                "json",
                                NULL };
  g_autofree char *told = printed (words);
  TEST_STR (fr_result_json (result), told);
  TEST_INT (fr_result_n_items (result, ""), 6);
  TEST_INT (number (result, "0.bytes"), 1048576);
  TEST_INT (number (result, "5.nodes"), 4);
  TEST_STR (fr_result_text (result, "5.algo"), "ring");
  TEST_STR (fr_result_unit (result, "5.time_s"), "s");
  TEST_NEAR (number (result, "5.algbw_Bps"), 4194304 / number (result, "5.time_s"), 1e-12);
  TEST_STR (fr_result_text (result, "6.algo"), NULL);
  TEST_INT (fr_result_n_items (result, "0"), 0);
  fr_result_free (result);
  fr_coll_free (coll);
  fr_session_free (session);
  fr_coll_free (NULL);
}

static void
algorithms_are_compared (void)
{
  FrSession *session = fr_session_new (NULL, NULL);
  FrError *error = NULL;
  FrColl *coll = fr_coll_new (session, "all_reduce", "hgx_h200", &error);
  TEST_TRUE (fr_coll_option (coll, "nodes", "2", &error) && fr_coll_option (coll, "minbytes", "1M", &error) &&
             fr_coll_option (coll, "maxbytes", "2M", &error));
  FrResult *result = fr_coll_compare (coll, &error);
  TEST_TRUE (result != NULL && error == NULL);
  const char *const words[] = { program,      "compare", "all_reduce", "--topology", "hgx_h200", "--nodes", "2",
                                "--minbytes", "1M",      "--maxbytes", "2M",         "--format", "json",    NULL };
  g_autofree char *told = printed (words);
  TEST_STR (fr_result_json (result), told);
  guint n_best = 0;
  for (size_t i = 0; i < fr_result_n_items (result, ""); i++) {
    g_autofree char *key = g_strdup_printf ("%zu.best", i);
    n_best += number (result, key) > 0;
  }
  TEST_INT (n_best, 2); /* one at each size */
  fr_result_free (result);
  TEST_TRUE (fr_coll_option (coll, "algo", "ring", NULL));
  TEST_TRUE (fr_coll_compare (coll, &error) == NULL);
  refused (g_steal_pointer (&error), "--algo has no meaning");
  fr_coll_free (coll);
  fr_session_free (session);
}

static void
options_are_checked (void)
{
  FrSession *session = fr_session_new (NULL, NULL);
  FrError *error = NULL;
  FrColl *coll = fr_coll_new (session, "all_reduce", "hgx_h200", NULL);
  TEST_FALSE (fr_coll_option (coll, "node", "2", &error));
  refused (g_steal_pointer (&error), "option 'node' is not known (did you mean 'nodes'?)");
  TEST_FALSE (fr_coll_option (coll, "nodes", NULL, &error));
  refused (g_steal_pointer (&error), "needs a value");
  TEST_TRUE (fr_coll_option (coll, "gpus", "9", NULL));
  TEST_TRUE (fr_coll_run (coll, &error) == NULL);
  refused (g_steal_pointer (&error), "-g 9 is more than node 0 of hgx_h200 has; 1 to 8 is accepted");
  TEST_TRUE (fr_coll_option (coll, "gpus", "8", NULL) && fr_coll_option (coll, "algo", "rng", NULL));
  TEST_TRUE (fr_coll_run (coll, &error) == NULL);
  refused (g_steal_pointer (&error), "--algo 'rng' is not known (did you mean 'ring'?)");
  fr_coll_free (coll);
  TEST_TRUE (fr_coll_new (session, "all_reduce", NULL, &error) == NULL);
  refused (g_steal_pointer (&error), "needed");
  coll = fr_coll_new (session, "all_reduce", "hgx_h2000", NULL);
  TEST_TRUE (fr_coll_run (coll, &error) == NULL);
  refused (g_steal_pointer (&error), "did you mean 'hgx_h200'");
  fr_coll_free (coll);

  FrPlan *plan = fr_plan_load (session, "no_such_plan", &error);
  TEST_TRUE (plan == NULL);
  refused (g_steal_pointer (&error), "no_such_plan");
  plan = fr_plan_load (session, PLAN, NULL);
  TEST_FALSE (fr_plan_option (plan, "per-machine", "yes", &error));
  refused (g_steal_pointer (&error), "has no value");
  TEST_TRUE (fr_plan_option (plan, "rows", "0", NULL));
  TEST_TRUE (fr_plan_run (plan, &error) == NULL);
  refused (g_steal_pointer (&error), "--rows 0 is out of range");
  fr_plan_free (plan);
  fr_plan_free (NULL);
  fr_session_free (session);
}

static void
a_plan_is_searched (void)
{
  FrSession *session = fr_session_new (NULL, NULL);
  FrError *error = NULL;
  FrPlan *plan = fr_plan_load (session, PLAN, &error);
  TEST_TRUE (plan != NULL && fr_plan_option (plan, "rows", "2", &error) && fr_plan_option (plan, "best", "1", &error));
  FrResult *result = fr_plan_run (plan, &error);
  TEST_TRUE (result != NULL && error == NULL);
  const char *const words[] = { program, "plan", PLAN, "--rows", "2", "--best", "1", "--format", "json", NULL };
  g_autofree char *told = printed (words);
  TEST_STR (fr_result_json (result), told);
  TEST_INT (fr_result_n_items (result, "choices"), 2);
  TEST_TRUE (number (result, "choices.0.step_time_s") > 0 && number (result, "met") >= 2);
  TEST_TRUE (fr_result_text (result, "verdict.0") != NULL && fr_result_text (result, "choices.0.topology") != NULL);

  g_autofree char *text = NULL;
  TEST_TRUE (g_file_get_contents (PLAN, &text, NULL, NULL));
  FrPlan *same = fr_plan_parse (session, text, &error);
  TEST_TRUE (same != NULL && fr_plan_set (same, "objective", "time", &error) && fr_plan_set (same, "prices", "us_2026", &error));
  FrResult *mine = fr_plan_run (same, &error);
  TEST_TRUE (mine != NULL && error == NULL);
  TEST_STR (fr_result_text (mine, "objective"), "time");
  fr_result_free (mine);
  fr_plan_free (same);
  fr_plan_free (plan);
  fr_session_free (session);
  fr_result_free (result);
}

static void
warnings_are_kept (void)
{
  FrResult *result = predict ("quickstart", "report", "{trace: true}");
  TEST_INT (fr_result_n_warnings (result), 2);
  TEST_HAS (fr_result_warning (result, 0), "'trace' has no effect"); /* of the file, then of the run */
  TEST_HAS (fr_result_warning (result, 1), "busbw exceeds the line rate");
  TEST_STR (fr_result_warning (result, 2), NULL);
  fr_result_free (result);
}

/* ---- threads ---- */

static const char *const asked[] = { "quickstart", "kv_offload", "pipeline_4_stages", "nvl72_all_to_all", "mi300x_two_of_eight" };

/* All of them, one after the other. `data`: the session. Returned: the documents, full. */
static gpointer
ask_all (gpointer data)
{
  GString *all = g_string_new (NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (asked); i++) {
    FrScenario *scenario = fr_scenario_load (data, asked[i], NULL);
    FrResult *result = fr_scenario_run (scenario, NULL);
    g_string_append (all, result != NULL ? fr_result_json (result) : "failed");
    fr_result_free (result);
    fr_scenario_free (scenario);
  }
  return g_string_free (all, FALSE);
}

static void
threads_give_the_same_bytes (void)
{
  FrSession *one = fr_session_new (NULL, NULL), *two = fr_session_new (NULL, NULL);
  FrSession *const sessions[] = { one, two, one };
  GThread *threads[G_N_ELEMENTS (sessions)];
  for (size_t i = 0; i < G_N_ELEMENTS (sessions); i++)
    threads[i] = g_thread_new (NULL, ask_all, sessions[i]);
  char *answers[G_N_ELEMENTS (sessions)];
  for (size_t i = 0; i < G_N_ELEMENTS (sessions); i++)
    answers[i] = g_thread_join (threads[i]);
  g_autofree char *after = ask_all (one);
  TEST_TRUE (strstr (after, "failed") == NULL && strlen (after) > 2000);
  for (size_t i = 0; i < G_N_ELEMENTS (sessions); i++) {
    TEST_STR (answers[i], after);
    g_free (answers[i]);
  }
  fr_session_free (one);
  fr_session_free (two);
}

/* The last case: nothing lifts a sandbox. */
static void
a_sandbox_stays (void)
{
  g_autofree char *box = g_dir_make_tmp ("test-sandbox-XXXXXX", NULL), *deeper = g_build_filename (box, "deeper", NULL);
  TEST_INT (g_mkdir (deeper, 0700), 0);
  FrError *error = NULL;
  TEST_FALSE (fr_sandbox_set ("/nowhere", &error));
  test_has (fr_error_message (error), "/nowhere: is no folder that can be a sandbox", "nowhere", __FILE__, __LINE__);
  fr_error_free (error);
  TEST_TRUE (fr_sandbox_set (box, NULL));
  TEST_TRUE (fr_sandbox_set (deeper, NULL));
  error = NULL;
  TEST_FALSE (fr_sandbox_set (box, &error));
  test_has (fr_error_message (error), "can only become narrower", "wider", __FILE__, __LINE__);
  fr_error_free (error);
  fr_result_free (predict ("quickstart", NULL, NULL)); /* shipped files are read */
  FrSession *session = fr_session_new (NULL, NULL);
  error = NULL;
  TEST_TRUE (fr_plan_load (session, PLAN, &error) == NULL && fr_error_status (error) == FR_STATUS_INPUT);
  test_has (fr_error_message (error), "plan.yaml: is outside the sandbox", "plan", __FILE__, __LINE__);
  fr_error_free (error);
  fr_session_free (session);
  g_rmdir (deeper);
  g_rmdir (box);
}

/* The step needs 24 MB and more. */
static void
memory_is_limited (void)
{
  FrError *error = NULL;
  FrSession *session = fr_session_new (NULL, &error);
  FrScenario *scenario = fr_scenario_load (session, "pipeline_4_stages", &error);
  TEST_TRUE (fr_scenario_set (scenario, "workload.micro_batches", "20000", &error));
  TEST_TRUE (fr_session_limit_memory (session, "10 MiB", &error));
  TEST_TRUE (fr_scenario_run (scenario, &error) == NULL);
  TEST_TRUE (error != NULL && fr_error_status (error) == FR_STATUS_INPUT);
  TEST_TRUE (error != NULL && strstr (fr_error_message (error), "the limit is 10 MiB") != NULL);
  fr_error_free (error);
  error = NULL;
  TEST_FALSE (fr_session_limit_memory (session, "much", &error));
  fr_error_free (error);
  error = NULL;
  TEST_TRUE (fr_session_limit_memory (session, NULL, &error));
  TEST_TRUE (fr_scenario_set (scenario, "workload.micro_batches", "8", &error));
  FrResult *result = fr_scenario_run (scenario, &error);
  TEST_TRUE (result != NULL && error == NULL);
  fr_result_free (result);
  fr_scenario_free (scenario);
  fr_session_free (session);
}

static const TestCase cases[] = {
  { "fields have values and units", fields_have_values_and_units },
  { "every key leads to its field", every_key_leads_to_its_field },
  { "a text is a file", a_text_is_a_file },
  { "errors are values", errors_are_values },
  { "the document is the program's", the_document_is_the_program_s },
  { "a collective needs no file", a_collective_needs_no_file },
  { "algorithms are compared", algorithms_are_compared },
  { "options are checked", options_are_checked },
  { "a plan is searched", a_plan_is_searched },
  { "warnings are kept", warnings_are_kept },
  { "memory is limited", memory_is_limited },
  { "threads give the same bytes", threads_give_the_same_bytes },
  { "a sandbox stays", a_sandbox_stays },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  program = argc > 1 ? argv[1] : NULL;
  return program != NULL ? test_main ("api", cases) : 2;
}
