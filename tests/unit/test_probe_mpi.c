/* forerun-probe-mpi of four processes on two nodes that NCCL_HOSTID imitates, with fake_nccl.cc's workers: what fails costs its
 * setting and no other. */
#include "harness.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <string.h>

#define REDUCES " --only nccl/choice,nccl/all_reduce" /* every setting has them */
#define SHAPES  3                                     /* of two nodes of two GPUs: all, one of each, one node */

typedef struct {
  char *folder;
  JsonParser *parser;
  JsonArray *points;
  char *notes; /* a line each */
  int status;
} Outcome;

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name = dir != NULL ? g_dir_read_name (dir) : NULL; name != NULL; name = g_dir_read_name (dir)) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_remove (path);
  }
  g_rmdir (folder);
}

static void
outcome_clear (Outcome *outcome)
{
  remove_folder (outcome->folder);
  g_clear_object (&outcome->parser);
  g_free (outcome->folder);
  g_free (outcome->notes);
}

static void
read_outcome (Outcome *outcome, const char *path)
{
  g_autoptr (GString) notes = g_string_new (NULL);
  outcome->parser = json_parser_new ();
  if (json_parser_load_from_file (outcome->parser, path, NULL)) {
    JsonObject *all = json_node_get_object (json_parser_get_root (outcome->parser));
    TEST_STR (json_object_get_string_member (all, "version"), FORERUN_VERSION);
    JsonArray *array = json_object_get_array_member (all, "notes");
    outcome->points = json_object_get_array_member (all, "points");
    for (guint i = 0; i < json_array_get_length (array); i++)
      g_string_append_printf (notes, "%s\n", json_array_get_string_element (array, i));
  }
  TEST_TRUE (outcome->points != NULL);
  outcome->notes = g_string_free (g_steal_pointer (&notes), FALSE);
}

/* Open MPI wants to be asked before it runs for root, and more processes than processors. MPI's own leaks are not ours. */
static char **
make_environment (const char *folder, const char *fake)
{
  static const char *const variables[][2] = {
    { "OMPI_ALLOW_RUN_AS_ROOT", "1" },
    { "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" },
    { "OMPI_MCA_rmaps_base_oversubscribe", "1" },
    { "ASAN_OPTIONS", "detect_leaks=0" },
  };
  char **environment = g_environ_setenv (g_get_environ (), "FAKE_NCCL_FOLDER", folder, TRUE);
  for (size_t i = 0; i < G_N_ELEMENTS (variables); i++)
    environment = g_environ_setenv (environment, variables[i][0], variables[i][1], TRUE);
  return g_environ_setenv (environment, "FAKE_NCCL", fake != NULL ? fake : "", TRUE);
}

/* `fake` as FAKE_NCCL has it, NULL: all is well; `options` by blanks. */
static Outcome
run (const char *fake, const char *options)
{
  Outcome outcome = { .folder = g_dir_make_tmp ("probe-mpi-XXXXXX", NULL) };
  g_autofree char *file = g_build_filename (outcome.folder, "out.json", NULL);
  g_autofree char *program = g_strdup_printf (PROGRAM " --no-nvls --quick -o %s %s", file, options);
  g_autofree char *command = g_strdup_printf (MPIEXEC " -n 2 env NCCL_HOSTID=a %s : -n 2 env NCCL_HOSTID=b %s", program, program);
  g_auto (GStrv) argv = g_strsplit (command, " ", -1);
  g_auto (GStrv) environment = make_environment (outcome.folder, fake);
  g_autofree char *said = NULL;
  g_autoptr (GError) error = NULL;
  bool ran = g_spawn_sync (NULL, argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &said, &outcome.status, &error);
  TEST_TRUE (ran);
  read_outcome (&outcome, file);
  if (!ran || outcome.points == NULL)
    g_printerr ("%s%s\n", error != NULL ? error->message : "", said != NULL ? said : "");
  return outcome;
}

static JsonObject *
point_at (const Outcome *outcome, guint i)
{
  return json_array_get_object_element (outcome->points, i);
}

static guint
count_points (const Outcome *outcome)
{
  return outcome->points != NULL ? json_array_get_length (outcome->points) : 0;
}

static const char *
setting_of (JsonObject *point)
{
  bool is_choice = strcmp (json_object_get_string_member (point, "what"), "choice") == 0;
  return is_choice ? "choice" : json_object_get_string_member (point, "setting");
}

/* Points of a setting, NULL: of all, that have or have not `key`. */
static guint
count (const Outcome *outcome, const char *setting, const char *key, bool has)
{
  guint n = 0;
  for (guint i = 0; i < count_points (outcome); i++) {
    JsonObject *point = point_at (outcome, i);
    n += (setting == NULL || strcmp (setting_of (point), setting) == 0) && json_object_has_member (point, key) == has;
  }
  return n;
}

static const char *
first_error (const Outcome *outcome)
{
  for (guint i = 0; i < count_points (outcome); i++)
    if (json_object_has_member (point_at (outcome, i), "error"))
      return json_object_get_string_member (point_at (outcome, i), "error");
  return NULL;
}

static const char *const others[] = { "auto",
                                      "ring_ll",
                                      "ring_ll128",
                                      "ring_simple",
                                      "tree_ll",
                                      "tree_ll128",
                                      "tree_simple",
                                      "collnet_direct_simple",
                                      "collnet_chain_simple" };

/* All settings but the failed one have the points of a run where all is well. */
static void
others_are_measured (const Outcome *outcome, const Outcome *well, const char *failed)
{
  for (size_t i = 0; i < G_N_ELEMENTS (others); i++)
    if (strcmp (others[i], failed) != 0)
      TEST_INT (count (outcome, others[i], "median_s", true), count (well, others[i], "median_s", true));
  TEST_INT (outcome->status, 0);
}

static void
all_settings_are_measured_where_all_is_well (void)
{
  Outcome well = run (NULL, "--budget 5m" REDUCES);
  TEST_INT (well.status, 0);
  TEST_TRUE (strstr (well.notes, "nccl: ") == NULL);
  TEST_STR (first_error (&well), NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (others); i++)
    TEST_TRUE (count (&well, others[i], "median_s", true) > 0);
  guint shape[SHAPES] = { 0 };
  for (guint i = 0; i < count_points (&well); i++) {
    JsonObject *point = point_at (&well, i);
    if (strcmp (setting_of (point), "choice") != 0)
      continue;
    gint64 nodes = json_object_get_int_member (point, "nodes"), gpus = json_object_get_int_member (point, "gpus");
    TEST_STR (json_object_get_string_member (point, "algo"), "ring");
    shape[0] += nodes == 2 && gpus == 2;
    shape[1] += nodes == 2 && gpus == 1;
    shape[2] += nodes == 1 && gpus == 2;
  }
  for (unsigned i = 0; i < SHAPES; i++)
    TEST_INT (shape[i], 5 * 8); /* operations; sizes by 8 from 1 KiB to 1 GiB, both ends */
  JsonObject *all = json_node_get_object (json_parser_get_root (well.parser));
  TEST_STR (json_object_get_string_member (all, "topology_xml"), "<system/>");

  /* The second process of the second node is in the shape of all GPUs alone: the two others are measured. */
  Outcome dies = run ("die choice 3 join", "--budget 5m" REDUCES);
  others_are_measured (&dies, &well, "choice");
  TEST_STR (first_error (&dies), "no communicator of 2 nodes with 2 GPUs: rank 3: its worker ended with exit status 3");
  TEST_INT (count (&dies, NULL, "error", true), 1);
  TEST_INT (count (&dies, "choice", "error", false), 2 * 5 * 8);
  TEST_HAS (dies.notes, "nccl: choice: its worker failed 1 time; what it was asked is marked, and 39 of 120 cases were not tried");

  /* Four seconds of these are the first setting's, which is lost with them. */
  Outcome hangs = run ("hang choice 1 join", "--budget 70s" REDUCES);
  others_are_measured (&hangs, &well, "choice");
  TEST_HAS (first_error (&hangs), "no communicator of 2 nodes with 2 GPUs: rank ");
  TEST_HAS (first_error (&hangs), " and 3 others hang: nothing came back for ");
  TEST_INT (count (&hangs, NULL, "error", true), 1);
  outcome_clear (&hangs);
  outcome_clear (&dies);
  outcome_clear (&well);
}

static void
a_worker_that_fails_later_costs_what_it_was_asked (void)
{
  Outcome refuses = run ("refuse Ring/LL 2 join", "--budget 5m --only nccl/broadcast"); /* rank 2 of 4, and 1 of 2 */
  TEST_STR (first_error (&refuses), "no communicator of 2 nodes with 2 GPUs: rank 2: out of order");
  TEST_INT (count (&refuses, NULL, "error", true), 2);
  TEST_INT (count (&refuses, "ring_ll", "median_s", true), 8);
  TEST_INT (count (&refuses, "ring_ll128", "median_s", true), 8 * (SHAPES + 2)); /* graphs, then threads for all and two nodes */

  Outcome dies = run ("die Ring/LL 2 case", "--budget 5m --only nccl/broadcast");
  TEST_STR (first_error (&dies), "rank 2: its worker ended with exit status 3");
  TEST_INT (count (&dies, NULL, "error", true), 2); /* graphs, threads */
  TEST_INT (count (&dies, "ring_ll128", "median_s", true), 8 * (SHAPES + 2));

  Outcome starts = run ("die Ring/LL 0 start", "--budget 5m --only nccl/broadcast");
  TEST_HAS (starts.notes, "nccl: ring_ll is left out: rank 0: its worker ended with exit status 3");
  TEST_INT (count (&starts, NULL, "error", true), 0);
  TEST_INT (count (&starts, "ring_ll128", "median_s", true), 8 * (SHAPES + 2));
  outcome_clear (&starts);
  outcome_clear (&dies);
  outcome_clear (&refuses);
}

/* A stage that is asked for alone has all the time; five seconds for all stages are too short for the first. */
static void
the_time_goes_to_what_is_asked_for (void)
{
  Outcome alone = run (NULL, "--budget 20s --only nccl/choice");
  TEST_INT (count_points (&alone), SHAPES * 5 * 8);
  TEST_INT (count (&alone, "choice", "algo", true), SHAPES * 5 * 8);
  TEST_TRUE (strstr (alone.notes, "nccl: ") == NULL);

  Outcome all = run (NULL, "--budget 5s");
  TEST_HAS (all.notes, "nccl: its time was over before all was measured; left out: choice all 120 cases, auto all 112 cases, ");
  TEST_INT (count (&all, "choice", "algo", true), 0);
  outcome_clear (&all);
  outcome_clear (&alone);
}

/* Without nodes, GPUs and NCCL, and without mpirun; no file is written. */
static void
a_dry_run_prints_what_would_be_asked (void)
{
  g_autofree char *folder = g_dir_make_tmp ("probe-mpi-XXXXXX", NULL), *out = NULL;
  g_auto (GStrv) argv =
      g_strsplit (PROGRAM " --dry-run --nodes 16 --gpus 8 --budget 20m --only nccl/all_reduce --no-nvls", " ", -1);
  g_auto (GStrv) environment = make_environment (folder, NULL);
  g_autoptr (GError) error = NULL;
  int status = -1;
  TEST_TRUE (g_spawn_sync (folder, argv, environment, G_SPAWN_DEFAULT, NULL, NULL, &out, NULL, &status, &error));
  TEST_INT (status, 0);
  TEST_HAS (out, "Dry run on 16 nodes with 8 GPUs each");
  TEST_HAS (out, "tree_simple: ");
  TEST_HAS (out, "budget of 20 min: all cases, ");
  TEST_TRUE (strstr (out, "choice: ") == NULL && strstr (out, "all_gather") == NULL && strstr (out, "nccl/") == NULL);
  g_autofree char *file = g_build_filename (folder, "forerun-probe.json", NULL);
  TEST_FALSE (g_file_test (file, G_FILE_TEST_EXISTS));
  remove_folder (folder);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "all settings are measured where all is well, and where one fails the others", all_settings_are_measured_where_all_is_well },
    { "a worker that fails later costs what it was asked", a_worker_that_fails_later_costs_what_it_was_asked },
    { "the time goes to what is asked for", the_time_goes_to_what_is_asked_for },
    { "a dry run prints what would be asked", a_dry_run_prints_what_would_be_asked },
    { 0 },
  };
  return test_main ("probe/mpi", cases);
}
