/* Calibrations from what NCCL says: its log and its graph dump. */
#include <string.h>

#include "calibrate/import.h"
#include "constants/calibration.h"
#include "harness.h"
#include "models/library-spec.h"
#include "models/search.h"

static char *
read_file (const char *name, gsize *n_B)
{
  g_autofree char *path = g_build_filename (TEST_SOURCE_DIR, "tests/data/import", name, NULL);
  char *text = NULL;
  if (!g_file_get_contents (path, &text, n_B, NULL))
    g_error ("%s", path);
  return text;
}

static char *
import_log (const char *text, GArray *choices, GError **error)
{
  return cal_import_nccl_log (&(CalText){ "log.txt", text, strlen (text), NULL }, "node", "h200_sxm", choices, error);
}

static void
a_log_gives_graphs_channels_version_and_choices (void)
{
  gsize n_B;
  g_autofree char *text = read_file ("h200x4_nccl_log.txt", &n_B);
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (CalChoice));
  g_autoptr (GError) error = NULL;
  g_autofree char *yaml = import_log (text, choices, &error);
  g_assert_nonnull (yaml);
  TEST_HAS (yaml, "nccl: 2.28.9\n");
  TEST_HAS (yaml, "scale_up: [{capability: 0, one_node: 24, nodes: 24}]");
  TEST_HAS (yaml,
            "    gpus: 4\n    nodes: 1\n    ring: {channels: 12, intra: 30 GB/s, inter: 30 GB/s, path_intra: NVL, path_inter: PIX, "
            "same: yes}\n");
  const CalChoice *first = &g_array_index (choices, CalChoice, 0);
  TEST_INT (first->op, MDL_OP_ALL_REDUCE);
  TEST_INT (first->bytes, 1048576);
  TEST_INT (first->algo, MDL_ALGO_RING);
  TEST_INT (first->proto, MDL_PROTO_LL);
  TEST_INT (first->channels, 24);
  TEST_INT (first->ranks, 4);
}

/* What a line of a rank begins with. */
#define RANK0              "node:1:11 [0] NCCL INFO "
#define RANK1              "node:1:12 [1] NCCL INFO "
#define RING(channels, bw) "Pattern 4, crossNic 0, nChannels " channels ", bw " bw ", type NVL/PIX, sameChannels 1\n"

static void
of_several_communicators_the_largest_counts_and_ranks_may_mix (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *yaml = import_log (
      RANK0 RING ("2", "20.0/20.0") RANK1 RING (
          "8", "48.000000/45.000000") "Pattern of another kind\n" RANK1
                                      "Pattern 1, crossNic 2, nChannels 8, bw 48.000000/45.000000, type NVL/PXN, sameChannels "
                                      "0\r\n" RANK0 "comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n" RANK1
                                      "comm 0x2 rank 9 nRanks 16 nNodes 2 localRanks 8 localRank 1 MNNVL 0\n" RANK0
                                      "2 coll channels, 0 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per "
                                      "peer\n" RANK1 "16 coll channels, 0 collnet channels, 16 nvls channels, 16 p2p channels, 2 "
                                      "p2p channels per peer\n",
      NULL, &error);
  g_assert_nonnull (yaml);
  TEST_HAS (yaml, "one_node: 16, nodes: 16");
  TEST_HAS (yaml, "    p2p: 16\n");
  TEST_HAS (yaml,
            "    gpus: 8\n    nodes: 2\n    ring: {channels: 8, intra: 48 GB/s, inter: 45 GB/s, path_intra: NVL, path_inter: PIX,");
  TEST_HAS (yaml, "    tree: {channels: 8, intra: 48 GB/s, inter: 45 GB/s, path_intra: NVL, path_inter: PXN, same: no}\n");
}

static void
a_log_of_rccl_has_its_own_names (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *yaml = import_log (
      RANK0 "RCCL version : 2.22.3+hip6.3-HEAD:4a1b2c3\n" RANK0
            "Pattern 4, crossNic 0, nChannels 56, bw 48.000000/48.000000, type XGMI/PIX, sameChannels 1\n" RANK0
            "comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0\n",
      NULL, &error);
  g_assert_nonnull (yaml);
  TEST_HAS (yaml, "nccl: 2.22.3\n");
  TEST_HAS (yaml, "    ring: {channels: 56, intra: 48 GB/s, inter: 48 GB/s, path_intra: NVL, path_inter: PIX,");
}

static void
a_log_without_graphs_says_what_to_log (void)
{
  static const char *const texts[] = { "", "hello\n", RANK0 "NCCL version 2.28.9\n", RANK0 RING ("2", "20.0/20.0"),
                                       RANK0 "comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0" };
  for (unsigned i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    TEST_TRUE (import_log (texts[i], NULL, &error) == NULL);
    TEST_HAS (error->message, "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING");
    TEST_TRUE (g_str_has_prefix (error->message, "log.txt:1:"));
  }
}

static void
a_graph_dump_gives_the_same_graphs (void)
{
  gsize n_B;
  g_autofree char *text = read_file ("h200x4_graph.xml", &n_B);
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autofree char *yaml = cal_import_nccl_graph (&(CalText){ "g.xml", text, n_B, warnings }, "node", "h200_sxm", &error);
  g_assert_nonnull (yaml);
  TEST_HAS (yaml,
            "    gpus: 4\n    ring: {channels: 12, intra: 30 GB/s, inter: 30 GB/s, path_intra: NVL, path_inter: PIX, same: yes}\n");
  TEST_TRUE (strstr (yaml, "nvls:") == NULL); /* no channels: none was found */
  TEST_INT (base_diag_n_warnings (warnings), 1);
}

static void
a_bad_dump_is_refused_with_its_place (void)
{
  static const struct {
    const char *xml, *message;
  } rows[] = {
    { "<system/>", "g.xml:1:9: the top element is not <graphs>: this is no graph dump (NCCL_GRAPH_DUMP_FILE)" },
    { "<graphs>\n<graph pattern=\"4\"/></graphs>", "g.xml:2:21: <graph> needs the numbers pattern, nchannels," },
    { "<graphs/>", "g.xml:1:1: no ring" },
    { "<graphs>", "g.xml:1:" },
    { "", "g.xml:1:" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    TEST_TRUE (cal_import_nccl_graph (&(CalText){ "g.xml", rows[i].xml, strlen (rows[i].xml), NULL }, "n", "o", &error) == NULL);
    gboolean ok = error != NULL && g_str_has_prefix (error->message, rows[i].message);
    if (!ok)
      g_printerr ("%s\n", error != NULL ? error->message : "no error");
    TEST_TRUE (ok);
  }
}

static void
imported_graphs_stand_in_place_of_those_found_where_they_fit (void)
{
  gsize n_B;
  g_autofree char *text = read_file ("h200x4_shm_graph.xml", &n_B);
  g_autoptr (GError) error = NULL;
  g_autofree char *yaml = cal_import_nccl_graph (&(CalText){ "g.xml", text, n_B, NULL }, "node", "h200_sxm", &error);
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL), *path = g_build_filename (folder, "node.yaml", NULL);
  TEST_TRUE (g_file_set_contents (path, yaml, -1, NULL));
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = path, .gpu_type = "h200_sxm", .lookup = lookup }, &error);
  g_assert_nonnull (cal);
  MdlSearch search = { .ring = { .channels = 12, .intra_Bps = 30e9 }, .nvls = { .channels = 8 } };
  TEST_TRUE (!mdl_search_take (cst_library (cal), 8, 1, &search));
  TEST_INT (search.ring.channels, 12);
  TEST_TRUE (mdl_search_take (cst_library (cal), 4, 1, &search));
  TEST_INT (search.ring.channels, 2);
  TEST_NEAR (search.ring.intra_Bps, 20e9, 0);
  TEST_INT (search.ring.intra, MDL_PATH_PHB);
  TEST_INT (search.nvls.channels, 0);
  remove (path);
  remove (folder);
}

static const TestCase cases[] = {
  { "a log gives graphs, channels, version and choices", a_log_gives_graphs_channels_version_and_choices },
  { "of several communicators the largest counts and ranks may mix",
    of_several_communicators_the_largest_counts_and_ranks_may_mix },
  { "a log of RCCL has its own names", a_log_of_rccl_has_its_own_names },
  { "a log without graphs says what to log", a_log_without_graphs_says_what_to_log },
  { "a graph dump gives the same graphs", a_graph_dump_gives_the_same_graphs },
  { "a bad dump is refused with its place", a_bad_dump_is_refused_with_its_place },
  { "imported graphs stand in place of those found where they fit", imported_graphs_stand_in_place_of_those_found_where_they_fit },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("calibrations from what NCCL says", cases);
}
