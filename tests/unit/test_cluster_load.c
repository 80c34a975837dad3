/* Reading topologies: what is refused and where, overrides, settings, names. */
#include "cluster_fixture.h"

#define NODE(extra) "topology: t\nnode:\n  gpus: {type: " T_GPU ", count: 8}\n" extra

#define NICS "  nics: {type: " T_NIC ", count: 8}\n"

static void
wrong_input_is_refused_with_its_position (void)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { NODE ("  nics: {type: " T_NIC ", count: 3}\n"), "t.yaml:4:" },
    { NODE ("  nics: {type: " T_NIC ", count: 3}\n"), "3 adapters do not divide over 8 GPUs" },
    { NODE ("  nics: {type: " T_NIC ", count: 8, per_gpu: 2}\n"), "2 adapters a GPU and 8 GPUs make 16, but count is 8" },
    { NODE ("  nics: {type: " T_NIC "}\n"), "nics needs 'count' (a node) or 'per_gpu'" },
    { NODE ("  nics: {count: 8}\n"), "nics needs 'type'" },
    { NODE ("  pcie: {switch_per: 3}\n"), "8 GPUs do not divide over PCIe switches of 3" },
    { NODE ("  pcie: {lanes: 12}\n"), "PCIe is not 12 lanes wide" },
    { NODE ("  pcie: {switch_per: 0, bus: 16 GB/s}\n"), "a bus is shared below a PCIe switch" },
    { NODE ("  pcie: {switch_per: 2, under_switch: [gpus]}\n"), "'gpus' cannot stand under a PCIe switch; accepted: nics, nvme" },
    { NODE ("  pcie: {under_switch: [nics]}\n"), "nics under a PCIe switch, but switch_per is 0" },
    { NODE ("  pcie: {uplink: {generation: 4}}\n"), "an uplink is a PCIe switch's, but there is none" },
    { NODE ("  pcie: {generation: 7}\n"), "pcie7" },
    { NODE ("  nvlink: {switches: 4, lanes_used: 19}\n"), "lanes_used is 19, but a GPU has 18 links" },
    { NODE ("  nvlink: {switches: 4, planes: [5, 4, 4, 4]}\n"), "planes sum to 17 links, but a GPU has 18" },
    { NODE ("  nvlink: {switches: 3, planes: [5, 4, 4, 5]}\n"), "4 planes for 3 switches" },
    { NODE ("  nvlink: full_mesh\n"), "18 links of a GPU do not divide over 7 peers; give lanes_used, a multiple of 7" },
    { NODE ("  nvlink: {links: [{a: 0, b: 8}]}\n"), "there is no GPU 8 in a node of 8 GPUs; GPUs are 0 to 7" },
    { NODE ("  nvlink: {links: [{a: 1, b: 1}]}\n"), "a link from GPU 1 to itself" },
    { NODE ("  nvlink: {links: [{a: 0, b: 1}, {a: 1, b: 0}]}\n"), "given twice" },
    { NODE ("  nvlink: {links: [{a: 0, b: 1, lanes: 19}]}\n"), "take 19 lanes of GPU 0, whose type has 18" },
    { NODE ("  nvlink: {kind: torus, dims: [3, 3]}\n"), "dims multiply to 9, but there are 8 GPUs" },
    { NODE ("  nvlink: {kind: torus, dims: [2, 4], dim_lanes: [9]}\n"), "1 dim_lanes for 2 dims" },
    { NODE ("  nvlink: {kind: torus, dims: [2, 4], dim_lanes: [8, 4]}\n"), "dim_lanes use 24 links of a GPU" },
    { NODE ("  nvlink: {switches: 4, dim_lanes: [9]}\n"), "'dim_lanes' belongs to kind torus" },
    { NODE ("  nvlink: {kind: torus}\n"), "a torus needs 1 to 8 'dims'" },
    { NODE ("  nvlink: {kind: full_mesh, lanes_used: 14, sharp: true}\n"), "'sharp' needs a switch that reduces" },
    { NODE ("  nvlink: {kind: ring}\n"), "ring" },
    { NODE ("  sockets: {count: 2}\n"), "2 sockets need an interconnect" },
    { NODE ("  storage: {local_nvme: {drives: 2, raid: 5, type: {drive: d, read: 1 GB/s}}}\n"),
      "RAID 5 is not built; accepted: 0 (striped)" },
    { NODE ("  storage: {local_nvme: {drives: 2, on: [], type: {drive: d, read: 1 GB/s}}}\n"),
      "'on' is empty; accepted: what the drives stand on" },
    { NODE ("  nics: {type: " T_NIC ", count: 8, on: []}\n"), "'on' is empty; accepted: what the NICs stand on" },
    { NODE ("  nics: {type: " T_NIC ", count: 8, on: [gpu0]}\n"), "NICs cannot stand on 'gpu0'; accepted: socket0 to socket0" },
    { NODE ("nodes: 2\n"), "2 nodes and no 'fabric' to join them" },
    { NODE ("gpus: {type: " T_GPU "}\n"), "'gpus' is also in 'node'; give it once" },
    { "topology: t\nnode: {power: 1 W}\n", "'gpus' in 'node' is missing" },
    { "topology: t\n", "'node' in 'topology' is missing" },
    { "topology: t\ngpus: {type: " T_GPU "}\n", "has no 'node' to take defaults from" },
    { "topology: t\ngpus: {type: {gpu: g, node: nowhere}}\n", "nowhere" },
    { NODE ("nodes: 2\nfabric: single_switch\n"), "no node has adapters on it" },
    { NODE ("nodes: 1000001\n"), "1000000" },
    { NODE ("nodes: 0\n"), "at least 1" },
    { NODE ("management: 0 B/s\n"), "at least" },
    { NODE ("  nics: {type: " T_NIC ", count: 8, rate: 1e308 B/s}\n"), /* two are no number */
      "is too large; at most 1e18 B/s is accepted" },
    { NODE ("nvlink_domain: rack\n"), "nvlink_domain is 'node' or a number of nodes" },
    { NODE ("nvlink_domain: {nodes: 4}\n"), "an NVLink domain wider than a node needs nvlink kind switch, not none" },
    { NODE ("storage: [{name: a, tier: nfs, per_server: 1 GB/s}]\n"),
      "there is none; give 'frontend: {rate: 200 Gb/s}' or 'network: fabric'" },
    { NODE ("frontend: 200 Gb/s\nstorage: [{name: a, tier: nfs, per_server: 1 GB/s}, {name: a, tier: nfs, per_server: 1 GB/s}]\n"),
      "two storage tiers are named 'a'" },
    { NODE ("overrides: [{nodes: 1, power: 1 W}]\n"), "there is no node 1; nodes are 0 to 0" },
    { NODE ("overrides: [{nodes: x, power: 1 W}]\n"), "'x' is no node or range of nodes" },
    { NODE ("overrides: [{power: 1 W}]\n"), "an override needs 'nodes'" },
    { NODE ("overrides: [{nodes: 0, fabric: none}]\n"), "fabric" },
    { NODE ("overrides: [{nodes: 0, links: [{from: gpu0, to: gpu9, rate: 1 GB/s}]}]\n"),
      "no link from 'gpu0' to 'gpu9' in a node" },
    { NODE ("overrides: {nodes: 0}\n"), "overrides is a list" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nnodes: 2\nfabric: {kind: fat_tree, pod: 2, leaf: {radix: 64}}\n"),
      "'pod' has no meaning for fabric kind fat_tree" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nnodes: 2\nfabric: {kind: fat_tree}\n"), "the size of the switches is not known" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nnodes: 2\nfabric: {kind: single_switch, leaf: {radix: 8}}\n"),
      "the switch has 8 ports for 16 NICs" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nnodes: 6\nfabric: {kind: torus, dims: [2, 2]}\n"),
      "dims multiply to 4, but there are 6 nodes" },
    { NODE ("  nics: {type: " T_NIC
            ", count: 8}\nnodes: 40\nfabric: {kind: dragonfly, dragonfly: {groups: 9, routers: 4, hosts: 2, global_links: 2}}\n"),
      "the fabric cannot host all NICs" },
    { NODE ("  nics: {type: " T_NIC
            ", count: 8}\nfabric: {kind: dragonfly, dragonfly: {groups: 9, routers: 4, hosts: 2, global_links: 1}}\n"),
      "do not reach 8 other groups" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nnodes: 2\nfabric: {kind: fat_tree, levels: [{down: 4, up: 4}, {down: 2}]}\n"),
      "its levels take 8, but there are 16" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nfabric: {kind: fat_tree, levels: [{down: 4}, {down: 2}]}\n"),
      "a level below the top needs 'up'" },
    { NODE ("  nics: {type: " T_NIC ", count: 8}\nfabric: {kind: fat_tree, levels: [{down: 4, up: 3, parallel: 2}, {down: 2}]}\n"),
      "ports do not divide by the parallel cables" },
    { NODE ("  nics: {type: " T_NIC
            ", count: 8}\nfabric: {kind: fat_tree, leaf: {type: {switch: s, radix: 8, port_rate: 25 GB/s}}}\n"),
      "a cable of 50 GB/s a port is faster than the ports of switch type" },
    { NODE ("  nics: {type: {nic: n, port: {class: {link_class: i}}}, count: 8}\n"), "has no lane_rate; give a rate" },
    { "topology: t\nnode: {gpus: {type: {gpu: g}, count: 2}, nvlink: {switches: 1}}\n", "GPU type 'inline' has no scale_up link" },
    { "topology: t\nnode: {gpus: {type: {gpu: g}, count: 2}, pcie: {switch_per: 1}}\n", "nothing says what a slot is" },
    { "topology: t\nnode: {gpus: {type: no_such_gpu}}\n", "no_such_gpu" },
    { "topology: t\nnode: {gpus: {type: {gpu: g}, count: 1025}}\n", "1024" },
    { NODE ("  nvlink: {kind: full_mesh, lanes_used: 14, switches: 2}\n"), "'switches' belongs to kind switch, not to full_mesh" },
    { NODE ("  nvlink: {kind: switch, links: [{a: 0, b: 1}]}\n"), "'links' belongs to kind links, not to switch" },
    { NODE ("  nvlink: {kind: switch, dims: [2, 4]}\n"), "'dims' belongs to kind torus, not to switch" },
    { NODE ("  nvlink: {kind: links}\n"), "kind links needs a list 'links'" },
    { NODE ("  nics: {type: " T_NIC ", per_gpu: 0.3}\n"), "0.3 adapters a GPU are 2.4 for 8 GPUs" },
    { NODE ("  pcie: {switch_per: 1, under_switch: [nics]}\n  nics: {type: " T_NIC
            ", count: 8}\noverrides: [{nodes: 0, gpus: {count: 6}}]\n"),
      "8 adapters do not divide over 6 GPUs" },
    { NODE ("frontend: 1 GB/s\nstorage: [{name: a.b, tier: nfs, per_server: 1 GB/s}]\n"), "'a.b' cannot name a storage tier" },
    { NODE ("frontend: 1 GB/s\nstorage: [{name: nvme, tier: nfs, per_server: 1 GB/s}]\n"), "'nvme' names the nodes' own drives" },
    { NODE ("storage: [{name: a, tier: nfs, per_server: 1 GB/s, network: fabric}]\n"),
      "storage 'a' cannot hang on a fabric of kind none" },
    { NODE (NICS "fabric: {kind: dragonfly}\n"), "kind dragonfly needs 'dragonfly:" },
    { NODE (NICS "fabric: {kind: dragonfly, leaf: {radix: 8}, dragonfly: {groups: 1, routers: 4, hosts: 8}}\n"),
      "a router needs 11 ports (8 hosts, 3 in its group, 0 global), but has 8" },
    { NODE (NICS "fabric: {kind: dragonfly, dragonfly: {groups: 1, routers: 6000, hosts: 8}}\n"),
      "would have 17997000 cables between routers; at most 16777216 are built" }, /* 6000 x 5999 / 2 */
    { NODE (NICS "fabric: {kind: fat_tree, levels: [{down: 8}], oversubscription: 2}\n"),
      "'levels' already says what is oversubscribed" },
    { NODE (NICS "fabric: {kind: fat_tree, leaf: {radix: 8}, levels: [{down: 8, up: 1}, {down: 1}]}\n"),
      "8 ports down and 1 up, but a switch of this level has 8" },
    { NODE (NICS "fabric: {kind: rail_optimised, leaf: {radix: 8}, pod: 8}\n"),
      "a leaf of 8 ports cannot have 8 ports down and 8 up" },
    /* 2 x 50 GB/s over the rate is 2^32 + 29.5 cables, which is not 30 of them. */
    { NODE (NICS "fabric: {kind: rail_optimised, leaf: {radix: 64}, pod: 2, link: {rate: 23.283064205467145 B/s}}\n"),
      "a leaf of 64 ports cannot have 2 ports down and 2147483647 up" },
    { NODE (NICS "fabric: {kind: rail_optimised, pod: 3, levels: [{down: 2}]}\n"),
      "a pod of 3 nodes, but a leaf has 2 ports down" },
    { NODE (NICS "fabric: {kind: single_switch, leaf: {type: {switch: s, sharp: no}}, sharp: yes}\n"),
      "does not reduce in the network; leave 'sharp' out" },
    { NODE (NICS "fabric: {kind: custom, links: [{from: node0.nic0, to: nowhere}]}\n"),
      "'nowhere' is no switch of this fabric and no NIC" },
    { NODE (NICS "fabric: {kind: custom, switches: [s], links: [{from: s, to: node0.nic0, count: 1024}, {from: s, to: "
                 "'node0.nic[0-7]', count: 1025}]}\n"),
      "1024" },
    { NODE (NICS "fabric: {kind: fat_tree, levels: [{down: 1, up: 1}, {down: 1, up: 1}, {down: 1, up: 1}, {down: 1, up: 1}, {down: "
                 "1, up: 1}, {down: 1, up: 1}, {down: 1, up: 1}, {down: 1, up: 1}, {down: 1}]}\n"),
      "9 levels; at most 8 are built" },
    { "topology: t\n", "node" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *message = refused (rows[i].text);
    TEST_HAS (message, rows[i].message);
  }
}

static void
all_that_is_wrong_is_said_at_once (void)
{
  g_autofree char *message =
      refused (NODE ("  nics: {type: " T_NIC ", count: 3}\n  sockets: {count: 2}\n  nvlink: {switches: 4, lanes_used: 20}\n"));
  TEST_HAS (message, "3 adapters");
  TEST_HAS (message, "2 sockets");
  TEST_HAS (message, "lanes_used is 20");
  TEST_HAS (message, "3 errors");
}

#define SIX "topology: t\nnodes: 6\nnode:\n" T_HGX "fabric: {kind: single_switch}\n"

static double
nic_rate (const Clu *clu, guint32 node)
{
  double Bps = 0;
  for (CluLinkId i = 0; i < clu_n_links (clu); i++) {
    CluLink link;
    clu_link (clu, i, &link);
    if (link.a == clu_node_device (clu, node, CLU_DEV_NIC, 0) && clu_dev_kind (clu, link.b) == CLU_DEV_SWITCH)
      Bps = link.rate_Bps;
  }
  return Bps;
}

static void
equal_overrides_make_one_kind (void)
{
  g_autoptr (Clu) clu =
      load (SIX "overrides:\n  - {nodes: 3, nics: {rate: 200 Gb/s}}\n  - {nodes: [0, \"4-5\"], nics: {rate: 200 Gb/s}}\n"
                "  - {nodes: 5, sockets: {memory: 100 GB/s}}\n");
  TEST_INT (clu_n_kinds (clu), 3);
  TEST_INT (clu_kind_of_node (clu, 3), clu_kind_of_node (clu, 0));
  TEST_INT (clu_kind_of_node (clu, 1), clu_kind_of_node (clu, 2));
  TEST_TRUE (clu_kind_of_node (clu, 5) != clu_kind_of_node (clu, 4));
  TEST_NEAR (nic_rate (clu, 3), 25e9, 1e-12);
  TEST_NEAR (nic_rate (clu, 1), 50e9, 1e-12);
  TEST_NEAR (nic_rate (clu, 5), 25e9, 1e-12); /* later entries go over earlier ones */
  TEST_NEAR (clu_node_spec (clu, 5)->sockets.memory.v, 100e9, 0);
  TEST_NEAR (clu_node_spec (clu, 4)->sockets.memory.v, 300e9, 0);
}

static void
nodes_of_different_size_are_numbered_through (void)
{
  g_autoptr (Clu) clu =
      load (SIX "overrides: [{nodes: \"1, 4\", gpus: {count: 4}, nics: {count: 4}}, {nodes: 2, nics: {count: 0}}]\n");
  TEST_INT (clu_n_gpus (clu), 4 * 8 + 2 * 4);
  TEST_INT (clu_gpus_per_node (clu, 1), 4);
  static const char *const names[] = { "node0.gpu7", "node1.gpu0", "node1.gpu3", "node2.gpu0", "node4.gpu3", "node5.gpu0" };
  static const guint32 numbers[] = { 7, 8, 11, 12, 31, 32 };
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *name = clu_dev_name (clu, clu_gpu (clu, numbers[i]));
    TEST_STR (name, names[i]);
    TEST_INT (clu_find (clu, names[i], NULL), clu_gpu (clu, numbers[i]));
  }
  TEST_TRUE (clu_nic_spec (clu, 2) == NULL);
  g_auto (CluRoute) r = { 0 }, none = { 0 };
  route (clu, "node1.gpu3", "node5.gpu3", &r);
  g_autofree char *text = way (clu, &r), *message = NULL;
  TEST_HAS (text, "node1.nic3 > switch > node5.nic3");
  message = route_with (clu, "node2.gpu0", "node5.gpu3", &CLU_ROUTE_DEFAULT, &none);
  TEST_HAS (message, "the path breaks at node2: it has no adapter on the fabric");
}

static void
single_link_can_differ (void)
{
  g_autoptr (Clu) clu =
      load (SIX "overrides: [{nodes: 2, links: [{from: gpu3, to: nvswitch, rate: 100 GB/s}, {from: nic1, to: fabric, lanes: 0.5}, "
                "{from: socket0, to: pcie_switch1, duplex: 0.5}]}]\n");
  g_auto (CluRoute) slow = { 0 }, fine = { 0 }, cable = { 0 }, half = { 0 };
  g_autofree char *bound = NULL;
  route (clu, "node2.gpu0", "node2.gpu3", &slow);
  TEST_NEAR (rate_of (clu, &slow, &bound), 100e9, 1e-12);
  TEST_STR (bound, "node2.nvswitch0 -> node2.gpu3");
  route (clu, "node2.gpu0", "node2.gpu4", &fine);
  TEST_NEAR (rate_of (clu, &fine, NULL), 450e9, 1e-12);
  route (clu, "node2.gpu1", "node0.gpu1", &cable);
  TEST_NEAR (rate_of (clu, &cable, NULL), 25e9, 1e-12); /* half of 50 GB/s */
  route (clu, "node2.gpu2", "node2.host", &half);
  TEST_TRUE (share_of (clu, &half, "node2.pcie_switch1 <-> node2.socket0") == 1);
}

/* Ten thousand entries about one link of node 2, 100 GB/s to 10,099 GB/s: the last one holds. What an entry costs in memory does
 * not depend on how many came before it, else this test would need half a gigabyte. */
static void
changes_of_one_link_follow_each_other (void)
{
  g_autoptr (GString) text = g_string_new (SIX "overrides:\n");
  for (unsigned i = 0; i < 10000; i++)
    g_string_append_printf (text, "  - {nodes: 2, links: [{from: gpu3, to: nvswitch, rate: %u GB/s}]}\n", 100 + i);
  g_autoptr (Clu) clu = load (text->str);
  TEST_INT (clu_n_kinds (clu), 2);
  for (CluLinkId i = 0; i < clu_n_links (clu); i++) {
    CluLink link;
    clu_link (clu, i, &link);
    if (link.a == clu_node_device (clu, 2, CLU_DEV_GPU, 3) && clu_dev_kind (clu, link.b) == CLU_DEV_NVSWITCH)
      TEST_NEAR (link.rate_Bps, 10099e9, 1e-12);
  }
}

static void
settings_reach_into_the_node (void)
{
  const char *const sets[] = { "nics.rate=200 Gb/s", "fabric.routing=ecmp", "nodes=3", NULL };
  g_autofree char *message = NULL;
  g_autoptr (Clu) clu = try_load_with (SIX, sets, NULL, NULL, &message);
  TEST_STR (message, NULL);
  TEST_INT (clu_n_nodes (clu), 3);
  TEST_NEAR (nic_rate (clu, 0), 25e9, 1e-12);
  TEST_INT (clu_spec (clu)->fabric.routing.v, CLU_ROUTING_ECMP);
  const char *const wrong[][2] = { { "nics.rat=200 Gb/s", NULL }, { "nonsense", NULL }, { "=3", NULL }, { "nics.rate=200", NULL } };
  const char *const said[] = { "rate", "'nonsense' is no setting; accepted: path.to.key=value", "'=3' is no setting", "200" };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree char *bad = NULL;
    g_autoptr (Clu) none = try_load_with (SIX, wrong[i], NULL, NULL, &bad);
    TEST_TRUE (none == NULL);
    TEST_HAS (bad, said[i]);
  }
}

static void
number_of_nodes_is_the_askers (void)
{
  CluLoadOptions options = { .nodes = 2 };
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autofree char *message = NULL, *also = NULL;
  g_autoptr (Clu) clu = try_load_with (SIX "overrides: [{nodes: 4, nics: {rate: 25 GB/s}}]\n", NULL, &options, warnings, &message);
  TEST_STR (message, NULL);
  TEST_INT (clu_n_nodes (clu), 2);
  TEST_INT (base_diag_n_warnings (warnings), 1);
  TEST_HAS (base_diag_warning (warnings, 0), "an override of node 4 has no effect: only 2 nodes are asked for");
  options.nodes = 2000000;
  g_autoptr (Clu) none = try_load_with (SIX, NULL, &options, NULL, &also);
  TEST_TRUE (none == NULL);
  TEST_HAS (also, "2000000 nodes are asked for; at most 1000000");
}

static void
switches_follow_the_cables_where_that_is_asked (void)
{
  static const char topology[] =
      NODE ("  nics: {type: " T_NIC ", count: 8}\nnodes: 2\nfabric: {kind: fat_tree, leaf: {type: {switch: "
            "s, radix: 64, port_rate: 25 GB/s}}}\n");
  g_autofree char *message = NULL, *refused = NULL;
  const CluLoadOptions follow = { .switches_follow = TRUE };
  double rate_Bps;
  g_autoptr (Clu) clu = try_load_with (topology, NULL, &follow, NULL, &message);
  TEST_STR (message, NULL);
  TEST_INT (clu_nics_of_node (clu, &rate_Bps), 8);
  TEST_NEAR (rate_Bps, 50e9, 0);
  g_autoptr (Clu) none = try_load_with (topology, NULL, NULL, NULL, &refused);
  TEST_TRUE (none == NULL);
  TEST_HAS (refused, "a cable of 50 GB/s a port is faster than the ports of switch type");
}

static void
inputs_are_listed_while_the_cluster_lives (void)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  CluLoadOptions options = { .inputs = inputs };
  g_autofree char *message = NULL;
  g_autoptr (Clu) clu = try_load_with (SIX, NULL, &options, NULL, &message);
  TEST_TRUE (clu != NULL);
  TEST_INT (inputs->len, 2); /* the topology, and pcie5 once, however often it is named */
  TEST_STR (base_yaml_path (inputs->pdata[0]), "t.yaml");
  TEST_HAS (base_yaml_path (inputs->pdata[1]), "/pcie5.yaml");
}

static void
every_name_leads_back_to_its_device (void)
{
  static const char *const texts[] = {
    SIX "frontend: 25 GB/s\nstorage: [{name: fs, tier: nfs, per_server: 1 GB/s}]\noverrides: [{nodes: 3, storage: {local_nvme: "
        "{drives: 3, type: {drive: d, "
        "read: 1 GB/s}}}}]\n",
    "topology: t\nnodes: 8\nnode:\n" T_HGX "nvlink_domain: {nodes: 2}\nfabric: {kind: rail_optimised, leaf: {radix: 8}}\n",
    "topology: t\nnodes: 8\nnode:\n" T_THIN
    "fabric: {kind: dragonfly, dragonfly: {groups: 4, routers: 2, hosts: 1, global_links: 2}}\n",
    "topology: t\nnodes: 8\nnode:\n" T_THIN "fabric: {kind: torus, dims: [4, 2]}\n",
    "topology: t\nnodes: 65\nnode:\n" T_THIN "fabric: {kind: fat_tree, leaf: {radix: 8}}\n",
    "topology: t\nnodes: 2\nnode:\n" T_THIN
    "fabric: {kind: custom, switches: [left, right], links: [{from: 'node[0-1].nic0', to: left}]}\n",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (Clu) clu = load (texts[i]);
    for (CluDev d = 0; d < clu_n_devices (clu); d++) {
      g_autoptr (GError) error = NULL;
      g_autofree char *name = clu_dev_name (clu, d);
      CluDev found = clu_find (clu, name, &error);
      if (found != d)
        fprintf (stderr, "%s: %u, not %u\n", name, found, d);
      TEST_INT (found, d);
      guint32 node = clu_dev_node (clu, d);
      if (node != CLU_NONE)
        TEST_INT (clu_node_device (clu, node, clu_dev_kind (clu, d), clu_dev_index (clu, d)), d);
    }
    for (CluRes r = 0; r < clu_n_resources (clu); r++) {
      g_autofree char *name = clu_resource_name (clu, r);
      TEST_TRUE (name != NULL && clu_resource_capacity (clu, r) > 0 && clu_resource_class (clu, r) != NULL &&
                 clu_resource_family (clu, r) < CLU_FAMILY_N);
    }
    for (CluLinkId l = 0; l < clu_n_links (clu); l++) {
      CluLink link;
      clu_link (clu, l, &link);
      TEST_TRUE (link.a < clu_n_devices (clu) && link.b < clu_n_devices (clu) && link.a != link.b &&
                 link.forward < clu_n_resources (clu) && link.backward < clu_n_resources (clu));
    }
  }
}

static void
unknown_names_say_what_there_is (void)
{
  g_autoptr (Clu) clu = load (SIX);
  static const struct {
    const char *name, *message;
  } rows[] = {
    { "gpu48", "there is no 'gpu48'; the cluster has gpu0 to gpu47" },
    { "node6.gpu0", "there is no 'node6'; nodes are node0 to node5" },
    { "node0.gpu8", "node0 has no 'gpu8'; it has gpu0 to gpu7" },
    { "node0.nvme", "node0 has no 'nvme'" },
    { "storage.x", "the topology has no storage tier outside its nodes" },
    { "host", "there is no device 'host'" },
    { "", "there is no device ''" },
    { "node.gpu0", "there is no device" },
    { "gpu-1", "there is no device" },
    { "gpu99999999999999999999", "there is no device" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    TEST_INT (clu_find (clu, rows[i].name, &error), CLU_NONE);
    TEST_HAS (error != NULL ? error->message : NULL, rows[i].message);
  }
  g_autoptr (Clu) one = load (NODE (""));
  g_autoptr (GError) error = NULL;
  TEST_TRUE (clu_find (one, "host", &error) != CLU_NONE); /* one node needs no name */
}

static void
weakest_source_travels_with_a_link (void)
{
  g_autoptr (Clu) clu = load (
      "topology: t\nnode: {gpus: {type: {gpu: g, scale_up: {class: {link_class: nv, lane_rate: {value: 25 GB/s, source: "
      "datasheet}, efficiency: {value: 0.9, source: measured}, latency: {value: 1 us, source: measured}}}}, count: 2}, nvlink: "
      "full_mesh}\n");
  g_auto (CluRoute) r;
  route (clu, "gpu0", "gpu1", &r);
  TEST_INT (clu_resource_source (clu, g_array_index (r.uses, CluUse, 0).res), BASE_SOURCE_DATASHEET);
}

/* What is left out is as in the topology that the GPU's type names, and assumed even if it was measured there. */
static void
short_forms_are_filled (void)
{
  const char *text = "topology: t\nnodes: 4\ngpus: {type: h100_sxm, count: 4}\nfabric: rail_optimised\n";
  const char *const sets[] = { "nics.per_gpu=2", "node.gpus.count=8", "sockets.cores=7", NULL };
  for (unsigned with = 0; with < 2; with++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
    g_autoptr (BaseDiag) warnings = base_diag_new ();
    BaseYaml *yaml = base_yaml_load_data ("t.yaml", text, strlen (text), &error);
    g_autoptr (Clu) clu = clu_load_yaml (yaml, lookup, with ? sets : NULL, NULL, warnings, &error);
    TEST_STR (error != NULL ? error->message : NULL, NULL);
    const CluNodeSpec *node = &clu_spec (clu)->node;
    TEST_INT (node->gpus.count.v, with ? 8 : 4);
    TEST_INT (node->nics.count.v, with ? 16 : 4);
    TEST_INT (node->nvlink.switches.v, 4);
    TEST_INT (node->sockets.cores.v, with ? 7 : 56);
    TEST_INT (node->sockets.count.v, 2);
    TEST_INT (node->sockets.memory.source, BASE_SOURCE_ASSUMED);
    TEST_TRUE (clu_spec (clu)->fabric.leaf.type.set);
    TEST_INT (base_diag_n_warnings (warnings), 1);
    TEST_HAS (base_diag_warning (warnings, 0),
              with ? "t: nvlink, pcie, nics are assumed" : "t: nvlink, pcie, sockets, nics are assumed");
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "short forms are filled", short_forms_are_filled },
    { "wrong input is refused with its position", wrong_input_is_refused_with_its_position },
    { "all that is wrong is said at once", all_that_is_wrong_is_said_at_once },
    { "equal overrides make one kind", equal_overrides_make_one_kind },
    { "nodes of different size are numbered through", nodes_of_different_size_are_numbered_through },
    { "a single link can differ", single_link_can_differ },
    { "changes of one link follow each other", changes_of_one_link_follow_each_other },
    { "settings reach into the node", settings_reach_into_the_node },
    { "the number of nodes is the asker's", number_of_nodes_is_the_askers },
    { "switches follow the cables where that is asked", switches_follow_the_cables_where_that_is_asked },
    { "inputs are listed while the cluster lives", inputs_are_listed_while_the_cluster_lives },
    { "every name leads back to its device", every_name_leads_back_to_its_device },
    { "unknown names say what there is", unknown_names_say_what_there_is },
    { "the weakest source travels with a link", weakest_source_travels_with_a_link },
    { NULL, NULL },
  };
  return test_main ("cluster load", cases);
}
