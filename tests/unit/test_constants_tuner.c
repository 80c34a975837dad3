#include <glib/gstdio.h>

#include "harness.h"
#include "schema_document.h"
#include "tuner_fixture.h"
#include "tuner_schema-private.h"

static BaseLookup *lookup;

/* Loads `text` in place of the shipped file; the error's text, NULL when it loads. Returned: full. */
static char *
error_of (const char *text, const char *version)
{
  g_autofree char *root = g_dir_make_tmp ("tuner-XXXXXX", NULL);
  g_assert_nonnull (root);
  g_autofree char *above = g_build_filename (root, "calibrate", NULL);
  g_autofree char *folder = g_build_filename (above, "defaults", NULL);
  g_autofree char *path = g_build_filename (folder, "nccl_tuner.yaml", NULL);
  g_assert_true (g_mkdir_with_parents (folder, 0700) == 0 && g_file_set_contents (path, text, -1, NULL));
  g_autoptr (BaseLookup) own = base_lookup_new (root);
  g_autoptr (GError) error = NULL;
  g_autoptr (CstTuner) tuner = cst_tuner_load (version, own, NULL, NULL, &error);
  g_remove (path);
  g_rmdir (folder);
  g_rmdir (above);
  g_rmdir (root);
  return tuner == NULL ? g_strdup (error->message) : NULL;
}

/* The shipped file with each `from` made `to`. */
static char *
shipped_but (const char *from, const char *to)
{
  g_autofree char *path = g_build_filename (TEST_SOURCE_DIR, "calibrate", "defaults", "nccl_tuner.yaml", NULL);
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) parts = g_strsplit (text, from, -1);
  g_assert_true (g_strv_length (parts) > 1);
  return g_strjoinv (to, parts);
}

static double
nvls_us (const char *version)
{
  g_autoptr (CstTuner) tuner = tuner_fixture (version);
  TEST_TRUE (tuner != NULL);
  return tuner != NULL ? cst_tuner_spec (tuner)->step.at[MDL_TUNER_NVLINK].at[MDL_ALGO_NVLS].item[MDL_PROTO_SIMPLE].v * 1e6 : 0.0;
}

static void
tables_are_sound (void)
{
  g_autofree char *wrong = schema_check (&cst_tuner_schema);
  TEST_STR (wrong, NULL);
}

static void
a_version_has_what_changed_up_to_it (void)
{
  TEST_NEAR (nvls_us ("2.19.1"), 23.0, 1e-12);
  TEST_NEAR (nvls_us ("2.20"), 23.0, 1e-12);
  TEST_NEAR (nvls_us ("2.21.5"), 25.0, 1e-12);
  TEST_NEAR (nvls_us (NULL), 25.0, 1e-12);
}

static void
every_series_loads_and_every_number_has_a_source (void)
{
  for (unsigned minor = 19; minor <= 30; minor++) {
    g_autofree char *version = g_strdup_printf ("2.%u", minor);
    g_autoptr (CstTuner) tuner = tuner_fixture (version);
    TEST_TRUE (tuner != NULL);
    if (tuner == NULL)
      continue;
    TEST_STR (cst_tuner_version (tuner), version);
    const MdlTunerSpec *spec = cst_tuner_spec (tuner);
    for (int algo = 0; algo < MDL_TUNER_ALGOS; algo++) {
      TEST_INT (spec->base.at[algo].item[0].source, BASE_SOURCE_DATASHEET);
      TEST_HAS (spec->base.at[algo].item[0].note, "src/graph/tuning.cc");
    }
    TEST_HAS (spec->search.one_node.from_90.item[0].note, "src/graph/search.cc");
    TEST_INT (spec->tree.simple.n, 24);
  }
}

/* A series without a patch is its last release; the patch counts where constants changed inside a series. */
static void
a_series_is_its_last_release (void)
{
  g_autoptr (CstTuner) series = tuner_fixture ("2.28");
  g_autoptr (CstTuner) first = tuner_fixture ("2.28.3");
  TEST_TRUE (series != NULL && first != NULL);
  const BaseNums *late = &cst_tuner_spec (series)->step.at[MDL_TUNER_NET].at[MDL_ALGO_NVLS_TREE];
  const BaseNums *early = &cst_tuner_spec (first)->step.at[MDL_TUNER_NET].at[MDL_ALGO_NVLS_TREE];
  TEST_NEAR (late->item[MDL_PROTO_SIMPLE].v, 20.9e-6, 1e-12);
  TEST_NEAR (early->item[MDL_PROTO_SIMPLE].v, 14e-6, 1e-12);
}

static void
versions_that_are_not_known_are_told (void)
{
  static const struct {
    const char *version, *says;
  } bad[] = {
    { "2.18.5", "how NCCL 2.18.5 chooses is not known; accepted: 2.19.1 to 2.30.7" },
    { "two", "'two' is no version of NCCL" },
    { "2", "'2' is no version" },
    { "2.", "'2.' is no version" },
    { "2.28.", "'2.28.' is no version" },
    { "2.28.9-1", "'2.28.9-1' is no version" },
    { "2.99999999999", "is no version" },
    { "", "'' is no version" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (CstTuner) tuner = cst_tuner_load (bad[i].version, lookup, NULL, NULL, &error);
    TEST_TRUE (tuner == NULL && g_error_matches (error, BASE_ERROR, (int)BASE_ERROR_INPUT));
    if (error != NULL)
      TEST_HAS (error->message, bad[i].says);
  }
}

static void
a_newer_version_takes_the_last_and_says_so (void)
{
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  g_autoptr (CstTuner) newer = cst_tuner_load ("2.31.1", lookup, inputs, warnings, &error);
  TEST_TRUE (newer != NULL);
  TEST_INT (base_diag_n_warnings (warnings), 1);
  TEST_HAS (base_diag_warning (warnings, 0), "how NCCL 2.31.1 chooses is not known: taken as in 2.30.7");
  TEST_INT (inputs->len, 1);
  g_autoptr (CstTuner) last = cst_tuner_load ("2.30", lookup, NULL, warnings, &error);
  TEST_TRUE (last != NULL);
  TEST_INT (base_diag_n_warnings (warnings), 1);
}

static void
what_is_wrong_in_the_file_is_reported_with_its_place (void)
{
  static const struct {
    const char *from, *to, *says;
  } bad[] = {
    { "ring: {value: [6.6 us, 14 us, 8.4 us]", "ring: {value: [6.6 us, 14 us]", "has 2 numbers; accepted: 3" },
    { "batch: {value: 9,", "batch: {value: 0,", "batch" },
    { "  fp8_ranks:", "  fp9_ranks:", "did you mean 'fp8_ranks'" },
    { "form: {value: least,", "form: {value: most,", "most" },
    { "from: 2.22.3", "from: 2.20.1", "does not come after" },
    { "from: 2.22.3", "from: new", "'new' is no version" },
    { "[60 GB/s, 50 GB/s, 40 GB/s, 30 GB/s, 24 GB/s,", "[60 GB/s, 70 GB/s, 40 GB/s, 30 GB/s, 24 GB/s,", "descending" },
    { "plateau_from: {value: 64 B,", "plateau_from: {value: 64,", "has no unit" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *text = shipped_but (bad[i].from, bad[i].to);
    g_autofree char *said = error_of (text, NULL);
    TEST_TRUE (said != NULL);
    if (said != NULL) {
      TEST_HAS (said, bad[i].says);
      TEST_HAS (said, "nccl_tuner.yaml:");
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "tables are sound", tables_are_sound },
    { "a version has what changed up to it", a_version_has_what_changed_up_to_it },
    { "every series loads and every number has a source", every_series_loads_and_every_number_has_a_source },
    { "a series is its last release", a_series_is_its_last_release },
    { "unknown versions are reported", versions_that_are_not_known_are_told },
    { "a newer version takes the last and says so", a_newer_version_takes_the_last_and_says_so },
    { "what is wrong in the file is reported with its place", what_is_wrong_in_the_file_is_reported_with_its_place },
    { NULL, NULL },
  };
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  int status = test_main ("calibrate: NCCL's tuner", cases);
  base_lookup_free (lookup);
  return status;
}
