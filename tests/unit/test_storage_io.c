/* Reads and writes on the fixture's cluster: adapters of 10 GB/s, PCIe of 50, host memory of 40 GB/s, and a tier on the fabric of
 * two servers of 4 GB/s, 2 written, 1 ms. */
#include <math.h>

#include "scenario_fixture.h"

#define TIER                                                                                                                       \
  "{storage_type: t, kind: parallel_fs, gds: yes, blend: 16, read: {rate: 4 GB/s, latency: 1 ms}, write: {rate: 2 GB/s, latency: " \
  "1 ms}}"
#define READ(more) "{kind: io, tier: fs, bytes: 8 GB, io_size: 1 MB, threads: 1000" more "}"

/* The answer; *why (may be NULL): of a scenario that is refused. */
static ScnResult *
run (unsigned n_nodes, const char *type, const char *workload, ColMode mode, char **why)
{
  g_autofree char *text = scenario_text (2, n_nodes, workload, "");
  g_autofree char *storage = g_strdup_printf ("topology.storage=[{name: fs, type: %s, servers: 2, network: fabric}]", type);
  const char *const sets[] = { storage, NULL };
  ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (Scn) scenario = scenario_load (text, sets, &options, why);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why != NULL && *why == NULL)
    *why = g_strdup (error->message);
  if (result == NULL && why == NULL)
    g_error ("%s: %s", workload, error != NULL ? error->message : "not loaded");
  return result;
}

static void
times_follow_from_tier_and_way_in_both_fidelities (void)
{
  static const struct {
    unsigned n_nodes;
    const char *workload, *path, *bound_by;
    double rate_Bps;
  } rows[] = {
    { 1, READ (""), "gds", "parallel_fs", 8e9 },
    { 1, READ (", op: write"), "gds", "parallel_fs", 4e9 },
    { 1, READ (", path: host"), "host", "parallel_fs", 8e9 },
    { 1, READ (", path: bounce"), "bounce", "parallel_fs", 8e9 },
    { 2, READ (", clients: 2"), "gds", "parallel_fs", 8e9 },
    /* 8 in flight of 1 ms each and 8000 requests a second: the servers' rate is just met; 4 reach half of it */
    { 1, "{kind: io, tier: fs, bytes: 8 GB, io_size: 1 MB, threads: 4}", "gds", "latency", 4e9 },
    { 1, "{kind: io, tier: fs, bytes: 8 GB, io_size: 1 MB, threads: 2, queue_depth: 2}", "gds", "latency", 4e9 },
    /* a decoder of 3 GB/s unpacks what comes at 16 */
    { 1, READ (", compression: {ratio: 2, by: gpu, rate: 3 GB/s}"), "gds", "decode", 3e9 },
    { 1, READ (", compression: {ratio: 2, by: gpu, rate: 100 GB/s}"), "gds", "parallel_fs", 16e9 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autoptr (ScnResult) r = run (rows[i].n_nodes, TIER, rows[i].workload, mode, NULL);
      test_near (r->io.rate_Bps, rows[i].rate_Bps, 0.005, rows[i].workload, __FILE__, __LINE__);
      TEST_STR (r->io.path, rows[i].path);
      TEST_STR (r->io.bound_by, rows[i].bound_by);
      TEST_INT (r->run.n_events > 0, mode == COL_MODE_EVENT);
      TEST_NEAR (r->io.in_flight * r->io.clients / r->io.request_s, r->io.iops, 1e-9); /* Little's law */
    }
}

static void
clients_of_one_node_share_its_adapters_and_their_links (void)
{
  /* 40 GB/s of servers, 10 GB/s of an adapter; from both GPUs of a node 20, from two nodes four times 10 */
  static const char fast[] = "{storage_type: t, kind: nfs, gds: yes, blend: 16, read: {rate: 20 GB/s}, write: {rate: 20 GB/s}}";
  static const struct {
    const char *more, *bound_by;
    double rate_Bps;
  } rows[] = { { ", clients: 1", "ib", 10e9 },
               { ", clients: 2", "ib", 20e9 }, /* one a node */
               { ", clients: 4", "nfs", 40e9 },
               /* staged: memories of 40 GB/s are written and read, just as much */
               { ", clients: 4, path: bounce", "nfs", 40e9 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf (READ ("%s"), rows[i].more);
    g_autoptr (ScnResult) r = run (2, fast, workload, COL_MODE_EVENT, NULL);
    test_near (r->io.rate_Bps, rows[i].rate_Bps, 0.005, workload, __FILE__, __LINE__);
    TEST_STR (r->io.bound_by, rows[i].bound_by);
  }
}

static void
spent_credits_slow_a_volume_in_both_fidelities (void)
{
  /* 2 GB/s until 2 servers' 1 GB beyond 1 GB/s are gone after 2 s, 4 GB; the other 4 GB at 1 GB/s: 6 s */
  static const char volume[] = "{storage_type: t, kind: block, read: {rate: 500 MB/s}, write: {rate: 500 MB/s}, blend: 16, burst: "
                               "{rate: 1 GB/s, credit: 1 GB}}";
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
    g_autoptr (ScnResult) r = run (1, volume, READ (", path: host"), mode, NULL);
    TEST_NEAR (r->io.burst_s, 2, 1e-6);
    TEST_NEAR (r->io.time_s, 6, 1e-6);
  }
}

static void
what_cannot_be_is_refused_at_its_place (void)
{
  static const struct {
    const char *type, *workload, *says;
  } rows[] = {
    { TIER, "{kind: io, tier: scratch, bytes: 1 GB}", "has no storage tier 'scratch'; accepted: fs" },
    { TIER, READ (", stripe_count: 3"), "a stripe over 3 targets, but storage 'fs' has 2; accepted: at most 2" },
    { TIER, READ (", path: gds, cache: cold"), "GPUDirect Storage bypasses the page cache" },
    { TIER, READ (", op: write, cache: warm"), "'warm' applies to reads only" },
    { TIER, READ (", cache: warm"), "the size of the page cache is not known; give node.sockets memory_capacity" },
    { "{storage_type: t, kind: nfs, read: {rate: 1 GB/s}, write: {rate: 1 GB/s}}", READ (", path: gds"),
      "GPUDirect Storage does not work with nfs; accepted: path: bounce" },
    { "{storage_type: t, kind: nfs, read: {rate: 1 GB/s}, write: {rate: 1 GB/s}, stripe: {count: 5}}", READ (""),
      "a stripe over 5 targets, but storage 'fs' has 2 (2 servers of 1); accepted: at most 2" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (ScnResult) r = run (1, rows[i].type, rows[i].workload, COL_MODE_EVENT, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why, rows[i].says);
  }
}

static void
copies_that_the_client_sends_cross_its_adapter (void)
{
  /* 3 replicas on servers that write 90 GB/s: 30 GB/s of the client's bytes. Sent by servers, the node's two adapters of 10 GB/s
   * carry them once, by the client three times. Reads cross once. */
  static const struct {
    const char *redundancy, *op;
    double rate_Bps;
  } rows[] = { { "{replicas: 3}", "write", 20e9 },
               { "{replicas: 3, sent_by: client}", "write", 20e9 / 3 },
               { "{data: 4, parity: 2, sent_by: client}", "write", 20e9 / 1.5 },
               { "{replicas: 3, sent_by: client}", "read", 20e9 },
               { "{replicas: 3, sent_by: chain}", "write", 20e9 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf (READ (", op: %s"), rows[i].op), *text = scenario_text (2, 1, workload, "");
    g_autofree char *storage = g_strdup_printf ("topology.storage=[{name: fs, tier: parallel_fs, per_server: 15 GB/s, servers: 6, "
                                                "network: fabric, redundancy: %s}]",
                                                rows[i].redundancy);
    const char *const sets[] = { storage, NULL };
    g_autoptr (Scn) scenario = scenario_load (text, sets, NULL, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (ScnResult) r = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
    TEST_TRUE (r != NULL);
    if (r != NULL)
      test_near (r->io.rate_Bps, rows[i].rate_Bps, 1e-3, rows[i].redundancy, __FILE__, __LINE__);
  }
}

static void
a_type_without_gds_bounces_when_nobody_insists (void)
{
  g_autoptr (ScnResult) r =
      run (1, "{storage_type: t, kind: nfs, read: {rate: 1 GB/s}, write: {rate: 1 GB/s}}", READ (""), COL_MODE_EVENT, NULL);
  TEST_STR (r->io.path, "bounce");
}

/* ---- drives on both sockets ---- */

#define DRIVES "{kind: io, tier: nvme, bytes: 8 GB, io_size: 1 MB, threads: 1000, path: "

/* Two GPUs, one a socket, four drives of 10 GB/s where `on` says; 6 GB/s from PCIe devices of the other socket into one. */
static ScnResult *
run_drives (const char *on, const char *workload, ColMode mode, char **why)
{
  g_autofree char *text = scenario_text (2, 1, workload, "");
  g_autofree char *where = on != NULL ? g_strdup_printf ("on: %s, ", on) : g_strdup ("");
  g_autofree char *drives =
      g_strdup_printf ("topology.node.storage={local_nvme: {drives: 4, %stype: {drive: d, read: 10 GB/s, blend: "
                       "16, pcie: {class: {link_class: slot, family: pcie}, rate: 50 GB/s}}}}",
                       where);
  const char *const sets[] = { "topology.node.sockets={count: 2, interconnect: {rate: 100 GB/s}, peer: 6 GB/s, memory: 400 GB/s}",
                               "topology.node.pcie.under_switch=[nics, nvme]", drives, NULL };
  ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (Scn) scenario = scenario_load (text, sets, &options, why);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why == NULL)
    g_error ("%s: %s", workload, error != NULL ? error->message : "not loaded");
  return result;
}

static void
drives_of_the_other_socket_are_bounded_by_what_peers_move_across (void)
{
  static const struct {
    const char *on, *workload, *bound_by;
    double rate_Bps;
  } rows[] = {
    { "[socket0]", DRIVES "gds}", "local_nvme", 40e9 },
    { "[socket1]", DRIVES "gds}", "socket_link", 6e9 },
    /* RAID 0: half of the bytes, or a quarter, have to come across; the others wait for them */
    { "[socket0, socket1]", DRIVES "gds}", "socket_link", 12e9 },
    { "[pcie_switch0, pcie_switch1]", DRIVES "gds}", "socket_link", 12e9 },
    { NULL, DRIVES "gds}", "socket_link", 12e9 }, /* under the switches, one a socket */
    { "[socket0, socket0, socket0, socket1]", DRIVES "gds}", "socket_link", 24e9 },
    { "[socket0, socket1]", DRIVES "gds, op: write}", "socket_link", 12e9 },
    /* a GPU a socket: each has what comes into its own */
    { "[socket0, socket1]", DRIVES "gds, clients: 2}", "socket_link", 24e9 },
    { "[socket0]", DRIVES "gds, clients: 2}", "socket_link", 12e9 },
    /* by way of memory no device reads another's: nothing of that */
    { "[socket0, socket1]", DRIVES "bounce}", "local_nvme", 40e9 },
    { "[socket1]", DRIVES "bounce}", "local_nvme", 40e9 },
    { "[socket0, socket1]", DRIVES "host}", "local_nvme", 40e9 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autofree char *asked = g_strdup_printf ("%s on %s", rows[i].workload, rows[i].on != NULL ? rows[i].on : "all switches");
      g_autoptr (ScnResult) r = run_drives (rows[i].on, rows[i].workload, mode, NULL);
      test_near (r->io.rate_Bps, rows[i].rate_Bps, 0.005, asked, __FILE__, __LINE__);
      TEST_STR (r->io.bound_by, rows[i].bound_by);
    }
}

static void
whoever_asked_for_no_way_is_told_where_the_host_s_is_faster (void)
{
  g_autoptr (ScnResult) across = run_drives ("[socket1]", DRIVES "auto}", COL_MODE_EVENT, NULL);
  TEST_STR (across->io.path, "gds");
  TEST_INT (across->run.warnings->len, 1);
  TEST_HAS (across->run.warnings->pdata[0],
            "GPUDirect Storage is limited by node0.socket0 (peers) to 6 GB/s; the route through host memory reaches 40 GB/s");
  g_autoptr (ScnResult) near = run_drives ("[socket0]", DRIVES "auto}", COL_MODE_EVENT, NULL);
  TEST_INT (near->run.warnings->len, 0);
}

static void
a_copy_from_a_drive_of_the_other_socket_goes_by_the_host (void)
{
#define COPY "{kind: transfer, from: node0.nvme3, to: gpu0, bytes: 10 GB, path: "
  g_autoptr (ScnResult) straight = run_drives ("[socket1]", COPY "gds}", COL_MODE_EVENT, NULL);
  TEST_NEAR (straight->transfer.time_s, 10 / 6.0, 0.01);
  g_autoptr (ScnResult) fastest = run_drives ("[socket1]", COPY "fastest}", COL_MODE_EVENT, NULL);
  TEST_NEAR (fastest->transfer.time_s, 1, 0.01);
}

static void
drives_stand_on_switches_and_sockets_that_there_are (void)
{
  static const char *const rows[] = { "[nic0]", "[socket2]", "[gpu0]", "[leaf3]" };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL;
    g_autoptr (ScnResult) r = run_drives (rows[i], DRIVES "gds}", COL_MODE_EVENT, &why);
    TEST_TRUE (r == NULL);
    TEST_HAS (why, "accepted: socket0 to socket1, pcie_switch0 and so on");
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "times follow from tier and way in both fidelities", times_follow_from_tier_and_way_in_both_fidelities },
    { "clients of one node share its adapters and their links", clients_of_one_node_share_its_adapters_and_their_links },
    { "spent credits slow a volume in both fidelities", spent_credits_slow_a_volume_in_both_fidelities },
    { "what cannot be is refused at its place", what_cannot_be_is_refused_at_its_place },
    { "copies that the client sends cross its adapter", copies_that_the_client_sends_cross_its_adapter },
    { "a type without GDS bounces when nobody insists", a_type_without_gds_bounces_when_nobody_insists },
    { "drives of the other socket are bounded by what peers move across",
      drives_of_the_other_socket_are_bounded_by_what_peers_move_across },
    { "without a given route, a faster route over the host is reported",
      whoever_asked_for_no_way_is_told_where_the_host_s_is_faster },
    { "a copy from a drive of the other socket goes by the host", a_copy_from_a_drive_of_the_other_socket_goes_by_the_host },
    { "drives stand on switches and sockets that there are", drives_stand_on_switches_and_sockets_that_there_are },
    { NULL, NULL },
  };
  return test_main ("workload/io", cases);
}
