/* Copies on a cluster whose every time follows from the fixture: NVLink 2 us and 100 GB/s, PCIe 50 GB/s, host memory 40 GB/s and
 * crossed twice, adapters 10 us and 10 GB/s from GPU to GPU of another node. */
#include <math.h>

#include "models/library-spec.h"
#include "models/links.h"
#include "scenario_fixture.h"

#define COPY(from, to, more) "{kind: transfer, from: " from ", to: " to ", bytes: 1 GB" more "}"

static void
times_follow_from_the_route_in_both_fidelities (void)
{
  static const struct {
    const char *workload, *extra, *path, *bound_by;
    double time_s;
  } rows[] = {
    { COPY ("gpu0", "gpu1", ""), "", "nvlink", "nv", 2e-6 + 0.01 },
    { COPY ("gpu0", "gpu1", ", path: nvlink"), "", "nvlink", "nv", 2e-6 + 0.01 },
    { COPY ("gpu0", "gpu1", ", path: pcie"), "", "pcie", "pci", 0.02 },
    { COPY ("gpu0", "gpu1", ", path: host"), "", "host", "host_memory", 0.05 },
    { COPY ("gpu0", "gpu1", ""), "degrade: [{p2p: off}]\n", "host", "host_memory", 0.05 },
    { COPY ("gpu0", "node1.gpu1", ""), "", "net", "ib", 10e-6 + 0.1 },
    { COPY ("gpu0", "node1.gpu1", ", path: net"), "", "net", "ib", 10e-6 + 0.1 },
    { COPY ("gpu0", "gpu1", ", path: net"), "", "net", "ib", 10e-6 + 0.1 },
    /* staged by the CPU on both sides, memory 40 GB/s crossed twice on either: the adapters still bound */
    { COPY ("gpu0", "node1.gpu1", ""), "degrade: [{gdr: off}]\n", "host", "ib", 10e-6 + 0.1 },
    { COPY ("gpu0", "node0.host", ""), "", "pcie", "host_memory", 1 / 40.0 },
    /* four copies share the way, and the memory is the one of both */
    { COPY ("gpu0", "gpu1", ", count: 4"), "", "nvlink", "nv", 2e-6 + 0.04 },
    { COPY ("gpu0", "gpu1", ", path: host, count: 4"), "", "host", "host_memory", 0.2 },
    { COPY ("gpu0", "node1.gpu1", ", count: 3"), "", "net", "ib", 10e-6 + 0.3 },
    { "{kind: transfer, from: gpu0, to: node1.gpu0, bytes: 0}", "", "net", "latency", 10e-6 },
    { "{kind: transfer, from: gpu0, to: node1.gpu0, bytes: 100 kB}", "", "net", "latency", 20e-6 },
    { "{kind: transfer, from: gpu0, to: node1.gpu0, bytes: 101 kB}", "", "net", "ib", 20.1e-6 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autoptr (ScnResult) r = scenario_run (2, 2, rows[i].workload, rows[i].extra, mode);
      test_near (r->transfer.time_s, rows[i].time_s, 1e-9, rows[i].workload, __FILE__, __LINE__);
      TEST_STR (r->transfer.path, rows[i].path);
      TEST_STR (r->transfer.bound_by, rows[i].bound_by);
      TEST_INT (r->run.n_events > 0, mode == COL_MODE_EVENT);
    }
}

static void
links_carry_what_all_copies_move (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) r = scenario_run_kept (2, 1, COPY ("gpu0", "gpu1", ", count: 4"), "", COL_MODE_EVENT, &scenario);
  TEST_INT (r->run.links->len, 1);
  const ColLinkUse *use = &g_array_index (r->run.links, ColLinkUse, 0);
  TEST_STR (use->link_class, "nv");
  TEST_NEAR (use->bytes, 8e9, 1e-12); /* 4 GB up to the switch and down from it */
  TEST_NEAR (use->utilisation, 0.04 / (0.04 + 2e-6), 1e-9);
}

static void
nothing_is_copied_from_a_device_to_itself (void)
{
  static const char *const paths[] = { "", ", path: host", ", path: net" };
  for (unsigned i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autofree char *workload = g_strdup_printf (COPY ("gpu1", "node0.gpu1", "%s"), paths[i]);
    g_autoptr (ScnResult) r = scenario_run (2, 1, workload, "", i == 0 ? COL_MODE_MODEL : COL_MODE_EVENT);
    TEST_NEAR (r->transfer.time_s, 0, 0);
    TEST_STR (r->transfer.path, NULL);
    TEST_INT (r->run.warnings->len, 1);
    TEST_HAS (g_ptr_array_index (r->run.warnings, 0), "'gpu1' and 'node0.gpu1' are the same device: nothing is copied");
  }
}

/* The scenario loads and its run is refused with these words. */
static void
expect_refusal (const char *workload, const char *const *sets, const char *want)
{
  g_autofree char *text = scenario_text (2, 2, workload, "");
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (scenario);
  TEST_TRUE (scn_run (scenario, FALSE, &error) == NULL);
  TEST_TRUE (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
  test_has (error != NULL ? error->message : "", want, workload, __FILE__, __LINE__);
}

static void
a_path_that_does_not_join_them_is_refused_at_its_place (void)
{
  expect_refusal (COPY ("gpu0", "node1.gpu1", ", path: nvlink"), NULL,
                  "s.yaml:24:75: 'gpu0' and 'node1.gpu1' have no path 'nvlink'");
  static const char *const apart[] = { "topology.fabric=none", NULL };
  expect_refusal (COPY ("gpu0", "node1.gpu1", ""), apart, "s.yaml:24:44: ");
}

/* ---- a library whose host copies are slow: 8 GB/s a copier and 5 us to start, a tenth of error ---- */

static BaseNum
num (double v, BaseSource source)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = source };
}

typedef struct {
  MdlLibrary library;
  MdlLinks links;
} Copiers;

static const MdlLibrary *
hand_over (void *user, const MdlLibraryQuery *query, GError **error)
{
  (void)query, (void)error;
  Copiers *copiers = user;
  copiers->library.links = &copiers->links;
  return &copiers->library;
}

static ScnResult *
run_with (Copiers *copiers, unsigned n_gpus, const char *workload, ColMode mode)
{
  g_autofree char *text = scenario_text (n_gpus, 1, workload, "");
  g_auto (GStrv) halves = g_strsplit (text, "library: plain", 2);
  g_autofree char *nccl = g_strconcat (halves[0], "library: nccl", halves[1], NULL);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (Scn) scenario = scn_load (SCENARIO_NAME, nccl, lookup, &options, hand_over, copiers, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  return result;
}

static ScnResult *
run_with_library (const char *workload)
{
  g_autofree Copiers *copiers = g_new0 (Copiers, 1);
  MdlLibrary *library = &copiers->library;
  copiers->links.copies.at[MDL_COPY_HOST].start = num (5e-6, BASE_SOURCE_MEASURED);
  copiers->links.copies.at[MDL_COPY_HOST].rate = num (8e9, BASE_SOURCE_MEASURED);
  copiers->links.copies.at[MDL_COPY_DMA].start = num (1e-6, BASE_SOURCE_MEASURED);
  library->assumed_error.small = library->assumed_error.middle = library->assumed_error.large = num (.1, BASE_SOURCE_ASSUMED);
  library->error = library->assumed_error;
  return run_with (copiers, 2, workload, COL_MODE_EVENT);
}

static void
each_copy_has_a_copier_of_its_own (void)
{
  /* one: its copier's 8 GB/s; four want 32 GB/s of the 40 / 2 that memory gives: 5 GB/s each */
  g_autoptr (ScnResult) one = run_with_library (COPY ("gpu0", "gpu1", ", path: host"));
  TEST_NEAR (one->transfer.time_s, 5e-6 + 1 / 8.0, 1e-9);
  TEST_STR (one->transfer.bound_by, "host");
  TEST_NEAR (one->transfer.time_hi_s, one->transfer.time_s * 1.1, 1e-12);
  TEST_NEAR (one->transfer.time_lo_s, one->transfer.time_s / 1.1, 1e-12);
  g_autoptr (ScnResult) four = run_with_library (COPY ("gpu0", "gpu1", ", path: host, count: 4"));
  TEST_NEAR (four->transfer.time_s, 5e-6 + 1 / 5.0, 1e-9);
  TEST_STR (four->transfer.bound_by, "host_memory");
  TEST_NEAR (four->transfer.rate_Bps, 1e9 / (5e-6 + 1 / 5.0), 1e-9);
}

static void
a_copy_takes_the_quickest_way (void)
{
  g_autoptr (ScnResult) r = run_with_library (COPY ("gpu0", "gpu1", ""));
  TEST_STR (r->transfer.path, "nvlink");
  TEST_NEAR (r->transfer.time_s, 1e-6 + 2e-6 + 0.01, 1e-9);
}

/* ---- several at once ---- */

static void
several_copies_share_what_they_cross (void)
{
  static const struct {
    const char *workload, *bottleneck;
    double time_s;
  } rows[] = {
    /* three copies of 1 GB out of each port of 100 GB/s, and three into it */
    { "{kind: transfer, from: 'gpu[0-3]', to: 'gpu[0-3]', pairs: all, bytes: 1 GB}", "nvswitch0", 2e-6 + 0.03 },
    { "{kind: transfer, from: gpu0, to: 'gpu[1-3]', bytes: 1 GB}", "node0.gpu0 ->", 2e-6 + 0.03 },
    { "{kind: transfer, from: 'gpu0,gpu1', to: 'gpu[2-3]', bytes: 1 GB}", "nvswitch0", 2e-6 + 0.01 },
    { "{kind: transfer, from: gpu0, to: gpu1, both_ways: yes, bytes: 1 GB}", "nvswitch0", 2e-6 + 0.01 },
    /* a memory of 40 GB/s, both ways together */
    { "{kind: transfer, from: host, to: 'gpu[0-1]', bytes: 1 GB}", "(memory)", 0.05 },
    { "{kind: transfer, from: host, to: gpu0, both_ways: yes, bytes: 1 GB}", "(memory)", 0.05 },
    { "{kind: transfer, from: 'node0.gpu[0-3]', to: host, count: 2, bytes: 1 GB}", "(memory)", 0.2 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autoptr (ScnResult) r = scenario_run (4, 1, rows[i].workload, "", mode);
      test_near (r->transfer.time_s, rows[i].time_s, 1e-9, rows[i].workload, __FILE__, __LINE__);
      test_has (r->transfer.bottleneck, rows[i].bottleneck, rows[i].workload, __FILE__, __LINE__);
    }
}

static void
a_calibrations_figures_stand_over_the_topologys (void)
{
  static const struct {
    const char *workload;
    double time_s;
  } rows[] = {
    /* half of 100 GB/s by engines, a quarter by kernels, and 3 us a crossing */
    { "{kind: transfer, from: gpu0, to: gpu1, path: nvlink, bytes: 1 GB}", 6e-6 + 1 / 50.0 },
    { "{kind: transfer, from: gpu0, to: gpu1, path: nvlink, bytes: 1 GB, by: kernel}", 6e-6 + 1 / 25.0 },
    /* both ways together 1.8 times one way: 22.5 GB/s each; reads ask with a quarter of a byte a byte: 18 GB/s */
    { "{kind: transfer, from: gpu0, to: gpu1, path: nvlink, bytes: 1 GB, by: kernel, both_ways: yes}", 6e-6 + 1 / 22.5 },
    { "{kind: transfer, from: gpu0, to: gpu1, path: nvlink, bytes: 1 GB, by: kernel_read, both_ways: yes}", 6e-6 + 1 / 18.0 },
    /* one way a read's requests are alone on theirs, though both count: 45 GB/s of 1.25 a byte */
    { "{kind: transfer, from: gpu0, to: gpu1, path: nvlink, bytes: 1 GB, by: kernel_read}", 6e-6 + 1 / 25.0 },
    /* memory is read at 30 and written at 20 GB/s, nothing is said of both */
    { "{kind: transfer, from: host, to: 'gpu[0-2]', bytes: 1 GB}", 0.1 },
    { "{kind: transfer, from: 'gpu[0-2]', to: host, bytes: 1 GB}", 0.15 },
    { "{kind: transfer, from: host, to: 'gpu[0-1]', bytes: 1 GB, both_ways: yes}", 0.1 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autofree Copiers *copiers = g_new0 (Copiers, 1);
      MdlLinks *links = &copiers->links;
      links->scale_up.efficiency = num (0.5, BASE_SOURCE_MEASURED);
      links->scale_up.sm_efficiency = num (0.25, BASE_SOURCE_MEASURED);
      links->scale_up.latency = num (3e-6, BASE_SOURCE_MEASURED);
      links->scale_up.duplex = num (0.9, BASE_SOURCE_MEASURED);
      links->copies.at[MDL_COPY_KERNEL_READ].reverse_traffic = num (0.25, BASE_SOURCE_MEASURED);
      links->host.read = num (30e9, BASE_SOURCE_MEASURED);
      links->host.write = num (20e9, BASE_SOURCE_MEASURED);
      g_autoptr (ScnResult) r = run_with (copiers, 4, rows[i].workload, mode);
      test_near (r->transfer.time_s, rows[i].time_s, 1e-9, rows[i].workload, __FILE__, __LINE__);
    }
}

static void
what_cannot_be_copied_together_is_refused (void)
{
  static const struct {
    const char *from, *to, *more, *want;
  } rows[] = {
    { "'gpu[0-1]'", "'gpu[0-2]'", "", "are 2 devices and 'gpu[0-2]' 3" },
    { "''", "gpu2", "", "'' names no device" },
    { "gpu0", "' '", "", "no device" },
    { "'gpu[1-0]'", "gpu2", "", "'gpu[1-0]' is no range of devices" },
    { "'gpu[0-1'", "gpu2", "", "'gpu[0-1' is no range of devices" },
    { "'gpu[0-99999999]'", "gpu2", "", "more than 65536 devices" },
    { "'gpu[0-1]'", "gpu1", "", "'gpu1' would copy to itself" },
    { "gpu1", "node0.gpu1", ", pairs: all, both_ways: yes", NULL }, /* one pair: nothing is copied, as ever */
    { "'gpu1,gpu9'", "gpu0", "", "gpu9" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload =
        g_strdup_printf ("{kind: transfer, bytes: 1 B, from: %s, to: %s%s}", rows[i].from, rows[i].to, rows[i].more);
    g_autofree char *text = scenario_text (4, 1, workload, ""), *message = NULL;
    g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, &message);
    TEST_INT (scenario != NULL, rows[i].want == NULL);
    if (rows[i].want != NULL)
      test_has (message != NULL ? message : "", rows[i].want, workload, __FILE__, __LINE__);
  }
  expect_refusal (COPY ("gpu0", "node1.gpu1", ", by: kernel"), NULL, "no kernel copies from 'gpu0' to 'node1.gpu1'");
}

/* Four drives of 5 GB/s read and 2 written on PCIe of 50 GB/s. */
static double
drives_s (const char *workload, unsigned *stripes)
{
  g_autofree char *text = scenario_text (2, 1, workload, "");
  const char *const sets[] = {
    "topology.node.storage={local_nvme: {drives: 4, type: {drive: d, read: 5 GB/s, write: 2 GB/s, latency: "
    "0, read_iops: 1 GHz, write_iops: 1 GHz, blend: 16, pcie: {class: {link_class: pci, family: pcie, "
    "efficiency: 1, latency: 0, duplex: 1}, rate: 50 GB/s}}}}",
    NULL
  };
  g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) r = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (r == NULL)
    g_error ("%s: %s", workload, error != NULL ? error->message : "not loaded");
  if (stripes != NULL)
    *stripes = r->transfer.stripes;
  return scn_result_time_s (r);
}

static void
a_nodes_drives_are_striped_as_where_a_tier_is_asked_for (void)
{
  unsigned stripes = 0;
  TEST_NEAR (drives_s (COPY ("node0.nvme0", "gpu0", ", in_flight: 64"), &stripes), 1 / 5.0, 1e-5);
  TEST_INT (stripes, 1);
  TEST_NEAR (drives_s (COPY ("node0.nvme", "gpu0", ", in_flight: 64"), &stripes), 1 / 20.0, 1e-5);
  TEST_INT (stripes, 4);
  TEST_NEAR (drives_s (COPY ("gpu0", "node0.nvme", ", in_flight: 64"), &stripes), 1 / 8.0, 1e-5);
  TEST_NEAR (drives_s ("{kind: io, tier: nvme, bytes: 1 GB, threads: 64, path: gds}", NULL), 1 / 20.0, 1e-3);
  /* two copies share the drives */
  TEST_NEAR (drives_s (COPY ("node0.nvme", "\"gpu[0-1]\"", ", in_flight: 64"), &stripes), 2 / 20.0, 1e-5);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "times follow from the route in both fidelities", times_follow_from_the_route_in_both_fidelities },
    { "links carry what all copies move", links_carry_what_all_copies_move },
    { "nothing is copied from a device to itself", nothing_is_copied_from_a_device_to_itself },
    { "a path that does not join them is refused at its place", a_path_that_does_not_join_them_is_refused_at_its_place },
    { "each copy has a copier of its own", each_copy_has_a_copier_of_its_own },
    { "a copy takes the quickest way", a_copy_takes_the_quickest_way },
    { "several copies share what they cross", several_copies_share_what_they_cross },
    { "a calibration's figures stand over the topology's", a_calibrations_figures_stand_over_the_topologys },
    { "a node's drives are striped, as where a tier is asked for", a_nodes_drives_are_striped_as_where_a_tier_is_asked_for },
    { "what cannot be copied together is refused", what_cannot_be_copied_together_is_refused },
    { NULL, NULL },
  };
  return test_main ("transfers", cases);
}
