#include <glib/gstdio.h>

#include "constants/calibration.h"
#include "harness.h"
#include "models/library-spec.h"
#include "models/links.h"
#include "models/overlap.h"

static BaseLookup *lookup;

static Cst *
load (const char *name, const char *gpu_type, BaseDiag *warnings)
{
  g_autoptr (GError) error = NULL;
  Cst *cal = cst_load (&(CstQuery){ .name = name, .gpu_type = gpu_type, .lookup = lookup, .warnings = warnings }, &error);
  if (cal == NULL)
    g_printerr ("%s\n", error->message);
  return cal;
}

/* Writes `text` to a temporary file, loads it and gives the error's text; NULL when it loads. Returned: full. */
static char *
error_of (const char *text)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("cal-XXXXXX.yaml", &path, NULL);
  g_close (fd, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_autoptr (GError) error = NULL;
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = path, .gpu_type = "h200_sxm", .lookup = lookup }, &error);
  g_remove (path);
  return cal == NULL ? g_strdup (error->message) : NULL;
}

static void
defaults_are_nccls_and_assumed (void)
{
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (Cst) cal = load (NULL, "no_such_gpu", warnings);
  TEST_TRUE (cal != NULL);
  const MdlLibrary *l = cst_library (cal);
  TEST_STR (cst_name (cal), "none");
  TEST_STR (l->name.v, "NCCL");
  TEST_NEAR (l->ring.start.at[MDL_PROTO_LL].v, 6.6e-6, 1e-12);
  TEST_INT (l->ring.start.at[MDL_PROTO_LL].source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (l->protocols.at[MDL_PROTO_LL128].wire.v, 128.0 / 120.0, 1e-12);
  TEST_INT (l->protocols.at[MDL_PROTO_LL128].wire.source, BASE_SOURCE_DATASHEET);
  TEST_INT (base_diag_n_warnings (warnings), 1);
  TEST_HAS (base_diag_warning (warnings, 0), "no calibration for 'no_such_gpu'");
}

/* Google's guides for TCPXO: Simple alone, then LL128, then NVLS; without a version the first, which published runs used. */
static void
plugins_follow_the_version_asked_for (void)
{
  static const struct {
    const char *nccl;
    gboolean simple_only, no_ll, no_nvls;
  } rows[] = {
    { NULL, TRUE, FALSE, TRUE }, { "2.21.5", TRUE, FALSE, TRUE }, { "2.23.4", FALSE, TRUE, TRUE }, { "2.28", FALSE, TRUE, FALSE }
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const CstQuery query = { .gpu_type = "h100_sxm", .nccl = rows[i].nccl, .lookup = lookup };
    g_autoptr (Cst) cal = cst_load (&query, &error);
    const MdlPlugin *plugin = cal != NULL ? mdl_plugin_of (cst_library (cal), "tcpxo") : NULL;
    TEST_TRUE (plugin != NULL);
    if (plugin == NULL)
      continue;
    TEST_INT (plugin->simple_only.v, rows[i].simple_only);
    TEST_INT (plugin->no_ll.v, rows[i].no_ll);
    TEST_INT (plugin->no_nvls.v, rows[i].no_nvls);
    TEST_NEAR (mdl_library_buffer_B (cst_library (cal), "tcpxo"), 8388608, 0);
  }
}

/* Before NCCL 2.19 Hopper flushes what it received over EFA: only where such a version is asked for. NVLSTree's pieces are those of
 * the version, the calibration's without one. */
static void
flushes_and_pieces_follow_the_version (void)
{
  static const struct {
    const char *nccl;
    gboolean flushes, old; /* old: the plugin before 1.8 */
    double two_B, four_B;  /* pieces on two nodes and on four */
  } rows[] = { { NULL, FALSE, FALSE, 131072, 65536 },
               { "2.18.5", TRUE, TRUE, 131072, 65536 },
               { "2.19.1", FALSE, TRUE, 524288, 524288 },
               { "2.20.5", FALSE, FALSE, 524288, 65536 },
               { "2.21.5", FALSE, FALSE, 131072, 65536 } };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const CstQuery query = { .gpu_type = "h100_sxm", .nccl = rows[i].nccl, .nccl_if_known = TRUE, .lookup = lookup };
    g_autoptr (Cst) cal = cst_load (&query, &error);
    TEST_TRUE (cal != NULL);
    if (cal == NULL)
      continue;
    const MdlPlugin *plugin = mdl_plugin_of (cst_library (cal), "efa2");
    TEST_TRUE (plugin != NULL && plugin->flush.set == rows[i].flushes && plugin->message.set == rows[i].old);
    const BaseList *pieces = &cst_library (cal)->nvls_tree.pieces;
    double two_B = 0, four_B = 0;
    for (unsigned k = 0; k < pieces->n; k++) {
      const MdlNvlsTreePiece *row = BASE_LIST_AT (*pieces, MdlNvlsTreePiece, k);
      if (row->off.v || row->capability.v > 90)
        continue;
      four_B = row->piece.v;
      two_B = row->nodes.v <= 2 ? row->piece.v : two_B;
    }
    TEST_NEAR (two_B, rows[i].two_B, 0);
    TEST_NEAR (four_B, rows[i].four_B, 0);
  }
}

/* Files of version 0.2 name keys as that version did. */
static void
earlier_names_of_constants_are_read (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("cal-XXXXXX.yaml", &path, NULL);
  g_close (fd, NULL);
  const char *text = "calibration: old\nlibrary:\n  protocols: {ll: {bytes_a_thread: 9 B, hand_on: 21 %}}\n"
                     "  pairwise: {further: 3 us}\nlinks:\n  copies: {dma: {crowd: 0.5, back: 0.25}}\n";
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (Cst) cal = load (path, "h200_sxm", warnings);
  g_remove (path);
  TEST_TRUE (cal != NULL);
  const MdlLibrary *l = cst_library (cal);
  TEST_NEAR (l->protocols.at[MDL_PROTO_LL].bytes_per_thread.v, 9, 0);
  TEST_NEAR (l->protocols.at[MDL_PROTO_LL].forward_after.v, 0.21, 1e-12);
  TEST_NEAR (l->pairwise.per_peer.v, 3e-6, 1e-12);
  TEST_NEAR (mdl_library_links (l)->copies.at[MDL_COPY_DMA].contention.v, 0.5, 1e-12);
  TEST_NEAR (mdl_library_links (l)->copies.at[MDL_COPY_DMA].reverse_traffic.v, 0.25, 1e-12);
  TEST_INT (base_diag_n_warnings (warnings), 5);
  TEST_HAS (base_diag_warning (warnings, 0), "'back' in 'copy' is now called 'reverse_traffic'");
}

static void
a_gpu_with_a_file_of_its_name_is_calibrated (void)
{
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (Cst) cal = load (NULL, "h200_sxm", warnings);
  TEST_TRUE (cal != NULL);
  TEST_STR (cst_name (cal), "h200_sxm");
  TEST_INT (base_diag_n_warnings (warnings), 0);
  const MdlLibrary *l = cst_library (cal);
  TEST_INT (l->ring.start.at[MDL_PROTO_LL].source, BASE_SOURCE_MEASURED);
  TEST_TRUE (l->ring.start.at[MDL_PROTO_LL].note != NULL);
  /* What the calibration does not name stays the library's. */
  TEST_INT (l->ring.hop[MDL_HOP_NET].at[MDL_PROTO_LL].latency.source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (l->ring.hop[MDL_HOP_NET].at[MDL_PROTO_LL].latency.v, 2.7e-6, 1e-12);
}

static void
a_calibration_may_stand_over_another (void)
{
  g_autoptr (Cst) b200 = load ("b200", NULL, NULL), gb200 = load ("gb200", NULL, NULL);
  TEST_TRUE (b200 != NULL && gb200 != NULL);
  TEST_STR (cst_name (gb200), "gb200");
  const MdlLibrary *a = cst_library (b200), *b = cst_library (gb200);
  TEST_NEAR (a->ring.start.at[MDL_PROTO_SIMPLE].v, b->ring.start.at[MDL_PROTO_SIMPLE].v, 0.0);
  TEST_NEAR (a->error.large.v, 0.20, 1e-12);
  TEST_NEAR (b->error.large.v, 0.25, 1e-12);
}

static void
vendors_have_their_own_library (void)
{
  g_autoptr (Cst) amd = load (NULL, "mi300x", NULL), intel = load (NULL, "gaudi3", NULL), aws = load (NULL, "trainium2", NULL);
  TEST_TRUE (amd != NULL && intel != NULL && aws != NULL);
  TEST_STR (cst_library (amd)->name.v, "RCCL");
  TEST_STR (cst_library (intel)->name.v, "HCCL");
  TEST_STR (cst_library (aws)->name.v, "Neuron collectives");
  TEST_TRUE (cst_library (amd)->protocols.at[MDL_PROTO_LL].offered.v);
  TEST_FALSE (cst_library (intel)->protocols.at[MDL_PROTO_LL].offered.v);
  TEST_TRUE (cst_library (intel)->protocols.at[MDL_PROTO_SIMPLE].offered.v);
}

static void
every_shipped_calibration_loads (void)
{
  static const char *const names[] = { "h200_sxm",    "h100_sxm", "gh200", "a100_sxm", "a100_40_sxm",
                                       "a100_80_sxm", "b200",     "gb200", "gb300" };
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (Cst) cal = load (names[i], NULL, NULL);
    TEST_TRUE (cal != NULL);
    TEST_STR (cst_name (cal), names[i]);
    TEST_TRUE (cst_library (cal)->error.head.set && cst_library (cal)->range.head.set);
  }
}

static void
inputs_go_to_the_caller (void)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = "h100_sxm", .lookup = lookup, .inputs = inputs }, &error);
  TEST_TRUE (cal != NULL);
  guint n_sections = 0;
  while (cst_sections[n_sections] != NULL)
    n_sections++;
  TEST_INT (inputs->len, 7 + n_sections); /* library, three tuners of its plugins, nccl_tuner, h100_sxm, h200_sxm; sections */
  TEST_HAS (base_yaml_path (inputs->pdata[0]), "library.yaml");
}

static void
overlap_is_measured_where_it_was (void)
{
  g_autoptr (Cst) h200 = load ("h200_sxm", NULL, NULL), h100 = load ("h100_sxm", NULL, NULL), a100 = load ("a100_sxm", NULL, NULL);
  TEST_INT (cst_library (h200)->overlap->memory.channel_traffic.source, BASE_SOURCE_MEASURED);
  TEST_INT (cst_library (h100)->overlap->memory.channel_traffic.source, BASE_SOURCE_ASSUMED);
  TEST_INT (cst_library (a100)->overlap->gemm.channel_traffic.source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (cst_library (h100)->overlap->gemm.channel_traffic.v, cst_library (h200)->overlap->gemm.channel_traffic.v, 0);
  TEST_TRUE (cst_library (a100)->overlap->gemm.channel_traffic.v > 0 &&
             cst_library (a100)->overlap->attention.channel_traffic.v > 0 && cst_library (a100)->overlap->wait.v > 0);
}

static void
mistakes_name_their_line (void)
{
  static const struct {
    const char *text, *part;
  } bad[] = {
    { "calibration: x\nlibrary: {ring: {strat: {ll: 1 us}}}\n", ":2:18: unknown key 'strat' in 'ring' (did you mean 'start'?)" },
    { "calibration: x\nlibrary:\n  ring: {start: {ll: 4}}\n", ":3:22: time '4' has no unit" },
    { "calibration: x\noverlap: {gemm: {sm_cots: 1}}\n",
      ":2:18: unknown key 'sm_cots' in 'overlap kernel' (did you mean 'sm_cost'?)" },
    { "calibration: x\noverlap: {wait: 120 %}\n", ":2:17: " },
    { "calibration: x\nlibrary: {nvls: {efficiency: 0}}\n", "'efficiency' must be at least 0.01" },
    { "calibration: x\nlibrary: {protocols: {ll: {wire: 0.5}}}\n", "'wire' must be at least 1" },
    { "calibration: x\nlibrary: {error: {small: -1 %}}\n", "must not be negative" },
    { "calibration: x\nsource: mesured\nlibrary: {}\n", "did you mean 'measured'?" },
    { "calibration: x\nlibrary:\n  nvls_tree: {pieces: [{from: new, piece: 1 KiB}]}\n", ":3:" },
    { "calibration: x\nlibrary:\n  plugins: [{class: efa9, before: old}]\n", "'old' is no version of NCCL" },
    { "library: {}\n", "'calibration'" },
    { "calibration: x\n", "neither 'library' nor another section" },
    { "calibration: x\nover: h201_sxm\nlibrary: {}\n", "h200_sxm" },
    { "[]\n", "mapping" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *message = error_of (bad[i].text);
    TEST_HAS (message, bad[i].part);
  }
}

static void
an_empty_calibration_changes_nothing (void)
{
  g_autofree char *message = error_of ("calibration: x\nlibrary: {}\n");
  TEST_TRUE (message == NULL);
}

static void
a_circle_of_calibrations_is_refused (void)
{
  g_autofree char *folder = g_dir_make_tmp ("cal-XXXXXX", NULL);
  g_autofree char *a = g_build_filename (folder, "a.yaml", NULL), *b = g_build_filename (folder, "b.yaml", NULL);
  g_assert_true (g_file_set_contents (a, "calibration: a\nover: b\nlibrary: {}\n", -1, NULL));
  g_assert_true (g_file_set_contents (b, "calibration: b\nover: a\nlibrary: {}\n", -1, NULL));
  g_autoptr (GError) error = NULL;
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = a, .gpu_type = "h200_sxm", .lookup = lookup }, &error);
  TEST_TRUE (cal == NULL);
  TEST_HAS (error != NULL ? error->message : NULL, "circle");
  g_remove (a);
  g_remove (b);
  g_rmdir (folder);
}

static void
a_name_that_is_not_shipped_is_an_error (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = "h201_sxm", .lookup = lookup }, &error);
  TEST_TRUE (cal == NULL);
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
  TEST_HAS (error->message, "h200_sxm");
}

static const TestCase cases[] = {
  { "flushes and pieces follow the version", flushes_and_pieces_follow_the_version },
  { "plugins follow the version asked for", plugins_follow_the_version_asked_for },
  { "defaults are NCCL's and assumed", defaults_are_nccls_and_assumed },
  { "earlier names of constants are read", earlier_names_of_constants_are_read },
  { "a GPU with a file of its name is calibrated", a_gpu_with_a_file_of_its_name_is_calibrated },
  { "a calibration may stand over another", a_calibration_may_stand_over_another },
  { "vendors have their own library", vendors_have_their_own_library },
  { "every shipped calibration loads", every_shipped_calibration_loads },
  { "inputs go to the caller", inputs_go_to_the_caller },
  { "overlap is measured where it was", overlap_is_measured_where_it_was },
  { "mistakes name their line", mistakes_name_their_line },
  { "an empty calibration changes nothing", an_empty_calibration_changes_nothing },
  { "a circle of calibrations is refused", a_circle_of_calibrations_is_refused },
  { "a name that is not shipped is an error", a_name_that_is_not_shipped_is_an_error },
  { NULL, NULL },
};

int
main (void)
{
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  int status = test_main ("calibrations", cases);
  base_lookup_free (lookup);
  return status;
}
