/* Fabrics: shapes, ways between adapters, what is refused, half against half. Thin nodes have one GPU and one NIC of 50 GB/s. */
#include "cluster_fixture.h"

/* 16 NICs a leaf, 8 leaves a pod, 8 pods: 1024 NICs; 16 spines a pod with 8 ports up, so 16 x 8 = 128 cores. */
#define FAT(nodes, routing)                                                                      \
  "topology: fat\nnodes: " nodes "\nnode:\n" T_THIN "fabric: {kind: fat_tree, routing: " routing \
  ", levels: [{down: 16, up: 16}, {down: 8, up: 8}, {down: 8}]}\n"

/* Cables between adapter and adapter, from adapter to adapter. */
static guint
cables (const Clu *clu, const CluRoute *r)
{
  guint n = 0;
  for (guint i = 0; i < r->hops->len; i++) {
    const CluHop *hop = &g_array_index (r->hops, CluHop, i);
    CluDevKind from = clu_dev_kind (clu, hop->from), to = clu_dev_kind (clu, hop->to);
    n += from == CLU_DEV_SWITCH || to == CLU_DEV_SWITCH ? 1 : 0;
  }
  return n;
}

static void
fat_tree_path_has_two_four_or_six_cables (void)
{
  static const char *const routings[] = { FAT ("1024", "static"), FAT ("1024", "ecmp"), FAT ("1024", "adaptive") };
  for (gsize i = 0; i < G_N_ELEMENTS (routings); i++) {
    g_autoptr (Clu) clu = load (routings[i]);
    g_auto (CluRoute) leaf = { 0 }, pod = { 0 }, core = { 0 };
    route (clu, "gpu0", "gpu15", &leaf);
    route (clu, "gpu0", "gpu16", &pod);
    route (clu, "gpu0", "gpu128", &core);
    TEST_INT (cables (clu, &leaf), 2);
    TEST_INT (cables (clu, &pod), 4);
    TEST_INT (cables (clu, &core), 6);
  }
}

static void
fat_tree_counts_its_switches (void)
{
  g_autoptr (Clu) clu = load (FAT ("1024", "static"));
  /* 64 leaves, 8 x 16 spines, 128 cores; besides the management switch. */
  guint n = 0;
  for (guint32 d = 0; d < clu_n_devices (clu); d++)
    n += clu_dev_kind (clu, d) == CLU_DEV_SWITCH ? 1 : 0;
  TEST_INT (n, 64 + 128 + 128 + 1);
  /* Cables: 1024 to NICs, 64 x 16, 128 x 8; the node's others are slots (GPU, uplink, NIC) and the management's two. */
  TEST_INT (clu_n_links (clu), 1024 * (1 + 3 + 2) + 1024 + 1024);
}

static void
a_fabric_is_counted_by_its_parts (void)
{
  g_autoptr (Clu) tree = load (FAT ("1024", "static")),
      ring = load ("topology: t\nnodes: 12\nnode:\n" T_THIN "fabric: {kind: torus, dims: [4, 3], routing: static}\n");
  CluFabricParts parts;
  clu_fabric_parts (tree, &parts);
  TEST_INT (parts.n_levels, 3);
  TEST_INT (parts.level[0].n_switches, 64);
  TEST_INT (parts.level[1].n_switches, 128);
  TEST_INT (parts.level[2].n_switches, 128);
  TEST_TRUE (parts.level[0].type == NULL);
  TEST_INT (parts.adapters, 1024);
  TEST_INT (parts.host_ports, 1024);
  TEST_INT (parts.cables, 64 * 16 + 128 * 8);
  /* A torus of nodes has cables alone: 12 along each of two dimensions. */
  clu_fabric_parts (ring, &parts);
  TEST_INT (parts.n_levels, 0);
  TEST_INT (parts.host_ports, 0);
  TEST_INT (parts.cables, 24);
}

static void
destination_modulo_ports_decides_static_ways (void)
{
  g_autoptr (Clu) clu = load (FAT ("1024", "static"));
  g_auto (CluRoute) r;
  /* NIC 128 + 37 = 165: 165 mod 16 = 5, 165 / 16 = 10, 10 mod 8 = 2: spine 5 of pod 0, port 2: core 5 x 8 + 2 = 42. */
  route (clu, "gpu3", "gpu165", &r);
  g_autofree char *text = way (clu, &r);
  TEST_STR (text, "node3.gpu0 > node3.pcie_switch0 > node3.nic0 > leaf0 > spine5 > core42 > spine21 > leaf10 > node165.nic0 > "
                  "node165.pcie_switch0 > node165.gpu0");
}

static void
static_shift_within_a_leaf_shares_no_cable (void)
{
  g_autoptr (Clu) clu = load (FAT ("1024", "static"));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (guint32 i = 0; i < 16; i++) {
    g_auto (CluRoute) r;
    clu_route_init (&r);
    TEST_TRUE (clu_route_find (clu, clu_gpu (clu, i), clu_gpu (clu, i + 128), &CLU_ROUTE_DEFAULT, &r, NULL));
    for (guint u = 0; u < r.uses->len; u++)
      TEST_TRUE (g_hash_table_add (seen, GUINT_TO_POINTER (g_array_index (r.uses, CluUse, u).res + 1)));
  }
}

static void
hashed_ways_collide_always_alike (void)
{
  g_autoptr (Clu) clu = load (FAT ("1024", "ecmp")), again = load (FAT ("1024", "ecmp"));
  guint load_of[16] = { 0 }, most = 0, moved = 0;
  for (guint32 i = 0; i < 16; i++) {
    g_auto (CluRoute) a = { 0 }, b = { 0 }, other = { 0 };
    CluRouteOptions flow = { .nic = CLU_NONE, .flow = 7 };
    clu_route_init (&a);
    clu_route_init (&b);
    clu_route_init (&other);
    TEST_TRUE (clu_route_find (clu, clu_gpu (clu, i), clu_gpu (clu, i + 128), &CLU_ROUTE_DEFAULT, &a, NULL));
    TEST_TRUE (clu_route_find (again, clu_gpu (again, i), clu_gpu (again, i + 128), &CLU_ROUTE_DEFAULT, &b, NULL));
    TEST_TRUE (clu_route_find (clu, clu_gpu (clu, i), clu_gpu (clu, i + 128), &flow, &other, NULL));
    TEST_INT (a.uses->len, b.uses->len);
    TEST_INT (memcmp (a.uses->data, b.uses->data, a.uses->len * sizeof (CluUse)), 0);
    moved += memcmp (a.uses->data, other.uses->data, a.uses->len * sizeof (CluUse)) != 0;
    CluDev spine = g_array_index (a.hops, CluHop, 3).to;
    most = MAX (most, ++load_of[clu_dev_index (clu, spine) % 16]);
  }
  /* 16 balls in 16 boxes: no collision at all would be 16! / 16^16 = 1e-6. */
  TEST_TRUE (most > 1);
  TEST_TRUE (moved > 0);
}

static void
adaptive_cables_of_a_pod_are_one_trunk (void)
{
  g_autoptr (Clu) clu = load (FAT ("1024", "adaptive"));
  g_auto (CluRoute) r;
  route (clu, "gpu0", "gpu128", &r);
  /* GPU slot, NIC slot, wire, trunk leaf -> spines, trunk spines -> cores, and down again. */
  TEST_INT (r.uses->len, 10);
  for (guint i = 0; i < r.uses->len; i++)
    TEST_NEAR (g_array_index (r.uses, CluUse, i).share, 1, 0);
  CluRes up = g_array_index (r.uses, CluUse, 3).res, over = g_array_index (r.uses, CluUse, 4).res;
  TEST_NEAR (clu_resource_capacity (clu, up), 16 * 50e9, 1e-12);       /* 16 ports of a leaf */
  TEST_NEAR (clu_resource_capacity (clu, over), 16 * 8 * 50e9, 1e-12); /* 16 spines x 8 ports of a pod */
  TEST_INT (g_array_index (r.hops, CluHop, 3).n_alternatives, 16);
  TEST_INT (g_array_index (r.hops, CluHop, 4).n_alternatives, 128);
  g_autofree char *name = clu_resource_name (clu, up);
  TEST_STR (name, "leaf0 -> spine0 (trunk of 16)");
  /* The cables' links name the trunk. */
  CluLink link;
  clu_link (clu, g_array_index (r.hops, CluHop, 3).link + 15, &link);
  TEST_INT (link.forward, up);
}

static void
tree_grows_levels_as_it_must (void)
{
  static const struct {
    guint32 nodes;
    const char *last; /* the highest switch */
    guint n;          /* switches */
  } rows[] = {
    { 8, "switch", 1 },      /* one switch of 8 ports */
    { 9, "spine1", 3 + 2 },  /* leaves of 4 + 4; 3 leaves; 2 parallel cables to each of 2 spines (3 x 2 <= 8) */
    { 32, "spine3", 8 + 4 }, /* 8 leaves fill 4 spines */
    { 33, "core7",
      9 + 12 + 8 }, /* 3 pods of 4 leaves and 4 spines of 4 + 4; 2 cables to each core of 8 (3 x 2 <= 8): 4 x 2 cores */
    { 128, "core15", 32 + 32 + 16 }, /* 8 pods fill 16 cores */
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text =
        g_strdup_printf ("topology: t\nnodes: %u\nnode:\n" T_THIN "fabric: {kind: fat_tree, leaf: {radix: 8}}\n", rows[i].nodes);
    g_autoptr (Clu) clu = load (text);
    g_autoptr (GError) error = NULL;
    TEST_TRUE (clu_find (clu, rows[i].last, &error) != CLU_NONE);
    guint n = 0;
    for (guint32 d = 0; d < clu_n_devices (clu); d++)
      n += clu_dev_kind (clu, d) == CLU_DEV_SWITCH ? 1 : 0;
    TEST_INT (n, rows[i].n + 1); /* and the management switch */
  }
  g_autofree char *message = refused ("topology: t\nnodes: 129\nnode:\n" T_THIN "fabric: {kind: fat_tree, leaf: {radix: 8}}\n");
  TEST_HAS (message, "the fabric cannot host all NICs");
}

static void
oversubscription_thins_the_way_up (void)
{
  /* Radix 16 at 3:1: 12 down, 4 up. */
  g_autoptr (Clu) clu = load ("topology: t\nnodes: 24\nnode:\n" T_THIN
                              "fabric: {kind: fat_tree, leaf: {radix: 16}, oversubscription: 3, routing: adaptive}\n");
  g_auto (CluRoute) r;
  route (clu, "gpu0", "gpu12", &r);
  TEST_NEAR (clu_resource_capacity (clu, g_array_index (r.uses, CluUse, 3).res), 4 * 50e9, 1e-12);
  TEST_NEAR (clu_bisection_Bps (clu), 4 * 50e9, 1e-12); /* two leaves of 12, four cables each */
}

static void
switches_crossings_count_once_each (void)
{
  g_autoptr (Clu) clu =
      load ("topology: t\nnodes: 4\nnode:\n" T_THIN "fabric: {kind: fat_tree, levels: [{down: 2, up: 2}, {down: 2}], leaf: "
            "{latency: 300 ns}, spine: {latency: 100 ns}}\n");
  g_auto (CluRoute) near = { 0 }, far = { 0 };
  route (clu, "gpu0", "gpu1", &near);
  /* Four slots of 100 ns, two cables of 500 ns, one leaf of 300. */
  TEST_NEAR (near.latency_s, 4 * 100e-9 + 2 * 500e-9 + 300e-9, 1e-12);
  route (clu, "gpu0", "gpu3", &far);
  /* Four cables, two leaves, one spine. */
  TEST_NEAR (far.latency_s, 4 * 100e-9 + 4 * 500e-9 + 2 * 300e-9 + 100e-9, 1e-12);
}

#define RAIL "topology: rail\nnodes: 8\nnode:\n" T_HGX "fabric: {kind: rail_optimised, pod: 4, routing: adaptive}\n"

static void
one_rail_inside_a_pod_never_crosses_a_spine (void)
{
  g_autoptr (Clu) clu = load (RAIL);
  for (guint32 k = 0; k < 8; k++) {
    g_auto (CluRoute) r = { 0 };
    g_autofree char *from = g_strdup_printf ("node0.gpu%u", k), *to = g_strdup_printf ("node3.gpu%u", k);
    route (clu, from, to, &r);
    g_autofree char *leaf = g_strdup_printf (" > pod0.rail%u > ", k), *text = way (clu, &r);
    TEST_HAS (text, leaf);
    TEST_INT (cables (clu, &r), 2);
  }
  g_auto (CluRoute) pods = { 0 };
  route (clu, "node0.gpu0", "node4.gpu0", &pods);
  TEST_INT (cables (clu, &pods), 4);
}

static void
other_rail_is_left_by_the_gpu_that_stands_there (void)
{
  g_autoptr (Clu) clu = load (RAIL);
  g_auto (CluRoute) r = { 0 }, own = { 0 }, slow = { 0 };
  route (clu, "node0.gpu1", "node1.gpu6", &r);
  g_autofree char *text = way (clu, &r), *text_own = NULL;
  TEST_STR (
      text,
      "node0.gpu1 > node0.nvswitch0 > node0.gpu6 > node0.pcie_switch3 > node0.nic6 > pod0.rail6 > node1.nic6 > node1.pcie_switch3 "
      "> node1.gpu6");
  TEST_INT (r.nic_class, CLU_PATH_PXN);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade.no_pxn = TRUE;
  route_by (clu, "node0.gpu1", "node1.gpu6", &options, &own);
  text_own = way (clu, &own);
  TEST_STR (text_own,
            "node0.gpu1 > node0.pcie_switch0 > node0.nic1 > pod0.rail1 > spine0 > pod0.rail6 > node1.nic6 > node1.pcie_switch3 > "
            "node1.gpu6");
  /* A rail of one's own choosing. */
  CluRouteOptions by = { .nic = 3 };
  route_by (clu, "node0.gpu3", "node1.gpu3", &by, &slow);
  g_autofree char *text_by = way (clu, &slow);
  TEST_HAS (text_by, "pod0.rail3");
}

/* NCCL_CROSS_NIC=0 where PXN is off: GPU 1 goes to adapter 6 itself, over both sockets, and never sees the spine. */
static void
other_rail_is_left_by_the_gpu_itself_without_pxn (void)
{
  g_autoptr (Clu) clu = load (RAIL);
  g_auto (CluRoute) far = { 0 }, near = { 0 };
  CluRouteOptions options = { .nic = CLU_NONE, .degrade = { .no_pxn = TRUE, .same_rail = TRUE } };
  route_by (clu, "node0.gpu1", "node1.gpu6", &options, &far);
  g_autofree char *text = way (clu, &far), *text_near = NULL;
  TEST_STR (text,
            "node0.gpu1 > node0.pcie_switch0 > node0.socket0 > node0.socket1 > node0.pcie_switch3 > node0.nic6 > pod0.rail6 > "
            "node1.nic6 > node1.pcie_switch3 > node1.gpu6");
  options.degrade.no_pxn = FALSE; /* PXN is nearer */
  route_by (clu, "node0.gpu1", "node1.gpu6", &options, &near);
  text_near = way (clu, &near);
  TEST_HAS (text_near, "node0.gpu1 > node0.nvswitch0 > node0.gpu6 > ");
}

static void
rails_without_spines_do_not_meet (void)
{
  g_autoptr (Clu) clu = load ("topology: t\nnodes: 4\nnode:\n" T_HGX "fabric: {kind: rail_optimised, levels: [{down: 4}]}\n");
  g_auto (CluRoute) same = { 0 }, pxn = { 0 }, none = { 0 };
  route (clu, "node0.gpu2", "node1.gpu2", &same);
  TEST_INT (cables (clu, &same), 2);
  route (clu, "node0.gpu2", "node1.gpu4", &pxn); /* by the other GPU's adapter */
  TEST_INT (cables (clu, &pxn), 2);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade.no_nvlink = TRUE;
  g_autofree char *message = route_with (clu, "node0.gpu2", "node1.gpu4", &options, &none);
  TEST_HAS (message, "the path breaks between pod0.rail2 and pod0.rail4: no switch above joins them");
}

static void
every_degradation_changes_path_or_transport (void)
{
  g_autoptr (Clu) clu =
      load ("topology: t\nnodes: 2\nnode:\n" T_HGX "fabric: single_switch\nfrontend: {rate: 25 GB/s, latency: 10 us}\n");
  static const struct {
    CluDegrade degrade;
    CluTransport transport;
    double rate_GBps;
    const char *part; /* of the way */
    double memory;    /* share of the sender's */
  } rows[] = {
    { { 0 }, CLU_TRANSPORT_NET_GDR, 50, "gpu0 > node0.pcie_switch0 > node0.nic0 > switch", 0 },
    { { .no_gdr = TRUE }, CLU_TRANSPORT_NET_HOST, 50, "socket0 [node0.host] [node0.host] > node0.pcie_switch0 > node0.nic0", 2 },
    { { .gdr_level = CLU_PATH_LOC + 1 }, CLU_TRANSPORT_NET_HOST, 50, "[node0.host]", 2 },
    { { .no_rdma = TRUE }, CLU_TRANSPORT_TCP, 50, "node0.nic0 > switch", 2 },
    { { .host_only = TRUE }, CLU_TRANSPORT_TCP, 50, "node0.nic0 > switch", 2 },
    { { .management = TRUE }, CLU_TRANSPORT_TCP, 0.125, "node0.management_nic > management > node1.management_nic", 2 },
    { { .frontend = TRUE }, CLU_TRANSPORT_TCP, 25, "node0.frontend_nic > frontend > node1.frontend_nic", 2 },
    { { .remote_numa = TRUE },
      CLU_TRANSPORT_NET_HOST,
      50,
      "socket0 > node0.socket1 [node0.host1] [node0.host1] > node0.pcie_switch2 > node0.nic4",
      0 },
    { { .no_nvlink = TRUE }, CLU_TRANSPORT_NET_GDR, 50, "node0.nic0 > switch", 0 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    CluRouteOptions options = { .degrade = rows[i].degrade, .nic = CLU_NONE };
    g_auto (CluRoute) r = { 0 };
    route_by (clu, "gpu0", "node1.gpu0", &options, &r);
    g_autofree char *text = way (clu, &r);
    TEST_INT (r.transport, rows[i].transport);
    TEST_HAS (text, rows[i].part);
    TEST_NEAR (share_of (clu, &r, "node0.host (memory)"), rows[i].memory, 0);
    TEST_NEAR (rate_of (clu, &r, NULL), rows[i].rate_GBps * 1e9, 1e-12);
  }
}

static void
fewer_nics_serve_far_gpus_too (void)
{
  g_autoptr (Clu) clu = load ("topology: t\nnodes: 2\nnode:\n" T_HGX "fabric: single_switch\n");
  CluRouteOptions options = { .degrade = { .max_nics = 1 }, .nic = CLU_NONE };
  g_auto (CluRoute) r = { 0 }, beyond = { 0 };
  route_by (clu, "gpu7", "node1.gpu7", &options, &r);
  g_autofree char *text = way (clu, &r);
  TEST_HAS (text, "node0.gpu7 > node0.pcie_switch3 > node0.socket1 > node0.socket0 > node0.pcie_switch0 > node0.nic0 > switch");
  TEST_INT (r.nic_class, CLU_PATH_SYS);
  options.nic = 4;
  g_autofree char *message = route_with (clu, "gpu7", "node1.gpu7", &options, &beyond);
  TEST_HAS (message, "node0 has no usable adapter 4; there are 1");
}

static void
management_keeps_to_the_node_inside_it (void)
{
  g_autoptr (Clu) clu = load ("topology: t\nnode:\n" T_HGX);
  CluRouteOptions options = { .degrade = { .management = TRUE }, .nic = CLU_NONE };
  g_auto (CluRoute) r = { 0 };
  route_by (clu, "gpu0", "gpu1", &options, &r);
  TEST_INT (r.path_class, CLU_PATH_NVL);
}

/* Nine groups of four routers, two NICs and two global cables each: 72 NICs, one cable between each two groups. */
/* 200 steps in each of two dimensions: one of 400! / (200! 200!) = 1e119 paths has no part of a byte. What leaves the first router
 * leaves it half and half, once more half by each way round. */
static void
paths_without_a_part_of_the_bytes_are_left_out (void)
{
  g_autoptr (Clu) clu =
      load ("topology: t\nnodes: 160000\nnode:\n" T_THIN "fabric: {kind: torus, routing: adaptive, dims: [400, 400]}\n");
  g_auto (CluRoute) r = { 0 };
  route (clu, "node0.gpu0", "node80200.gpu0", &r);
  guint n_small = 0;
  for (guint i = 0; i < r.uses->len; i++)
    n_small += g_array_index (r.uses, CluUse, i).share < 1e-30 ? 1 : 0;
  TEST_INT (n_small, 0);
  TEST_NEAR (share_of (clu, &r, "router0 -> router1"), 0.25, 1e-9);
  TEST_NEAR (share_of (clu, &r, "router0 -> router400"), 0.25, 1e-9);
  TEST_INT (r.hops->len, 2 + 1 + 400 + 1 + 2);
}

#define DRAGONFLY(routing)                                                                \
  "topology: df\nnodes: 72\nnode:\n" T_THIN "fabric: {kind: dragonfly, routing: " routing \
  ", dragonfly: {groups: 9, routers: 4, hosts: 2, global_links: 2}}\n"

static void
dragonfly_takes_at_most_one_global_cable (void)
{
  g_autoptr (Clu) clu = load (DRAGONFLY ("static"));
  guint global = 0;
  for (guint32 b = 1; b < 72; b++) {
    g_auto (CluRoute) r = { 0 };
    clu_route_init (&r);
    TEST_TRUE (clu_route_find (clu, clu_gpu (clu, 0), clu_gpu (clu, b), &CLU_ROUTE_DEFAULT, &r, NULL));
    TEST_TRUE (cables (clu, &r) <= 2 + 3);
    global += b >= 8 ? 1 : 0;
    for (guint i = 0; i + 1 < r.hops->len; i++)
      TEST_INT (g_array_index (r.hops, CluHop, i).to, g_array_index (r.hops, CluHop, i + 1).from);
  }
  TEST_INT (global, 64);
  /* 9 x 6 cables inside groups, 36 between them; half against half is 4 x 5 pairs of groups, and a part of the middle one. */
  TEST_INT (clu_n_links (clu), 72 * 6 + 9 * 6 + 36);
  TEST_TRUE (clu_bisection_Bps (clu) >= 20 * 50e9);
}

static void
dragonfly_copies_are_chosen_or_shared (void)
{
  /* Two groups of two routers with two global cables each: four copies, two at every router. */
#define TWO(routing)                                                                     \
  "topology: df\nnodes: 8\nnode:\n" T_THIN "fabric: {kind: dragonfly, routing: " routing \
  ", dragonfly: {groups: 2, routers: 2, hosts: 2, global_links: 2}}\n"
  g_autoptr (Clu) one = load (TWO ("static")), all = load (TWO ("adaptive"));
  g_auto (CluRoute) a = { 0 }, b = { 0 };
  route (one, "gpu0", "gpu4", &a);
  route (all, "gpu0", "gpu4", &b);
  TEST_INT (cables (one, &a), 3); /* router to router directly */
  TEST_INT (a.uses->len, 7);      /* 2 slots, wire, cable, wire, 2 slots */
  TEST_INT (b.uses->len, 8);      /* two copies lead there, half each */
  TEST_NEAR (rate_of (all, &b, NULL), 50e9, 1e-12);
#undef TWO
}

static void
torus_of_nodes_spreads_over_all_shortest_ways (void)
{
#define TORUS(routing) "topology: t\nnodes: 12\nnode:\n" T_THIN "fabric: {kind: torus, dims: [4, 3], routing: " routing "}\n"
  g_autoptr (Clu) fixed = load (TORUS ("static")), spread = load (TORUS ("adaptive"));
  g_auto (CluRoute) a = { 0 }, b = { 0 }, half = { 0 };
  route (fixed, "gpu0", "gpu5", &a); /* (0,0) to (1,1) */
  g_autofree char *text = way (fixed, &a);
  TEST_HAS (text, "router0 > router1 > router5");
  route (spread, "gpu0", "gpu5", &b);
  TEST_NEAR (share_of (spread, &b, "router0 -> router1"), 0.5, 1e-12);
  TEST_NEAR (share_of (spread, &b, "router0 -> router4"), 0.5, 1e-12);
  TEST_NEAR (share_of (spread, &b, "router4 -> router5"), 0.5, 1e-12);
  /* (0,0) to (2,1): two ways round x, each three paths of three steps, of which two begin along x. */
  route (spread, "gpu0", "gpu6", &half);
  TEST_NEAR (share_of (spread, &half, "router0 -> router1"), 1.0 / 3, 1e-12);
  TEST_NEAR (share_of (spread, &half, "router0 -> router4"), 1.0 / 3, 1e-12);
  TEST_NEAR (share_of (spread, &half, "router0 -> router3"), 1.0 / 3, 1e-12);
  TEST_NEAR (share_of (spread, &half, "router3 -> router0"), 0, 0);
#undef TORUS
}

#define CUSTOM(routing, links)                                                       \
  "topology: c\nnodes: 4\nnode:\n" T_THIN "fabric: {kind: custom, routing: " routing \
  ", switches: [a, b, {name: m, latency: 200 ns}, n], links: [" links "]}\n"

static void
custom_fabric_takes_the_fewest_cables (void)
{
  const char *links = "{from: 'node[0-1].nic0', to: a}, {from: 'node[2-3].nic0', to: b}, {from: a, to: m}, {from: m, to: b}, "
                      "{from: a, to: n, count: 3}, {from: n, to: b, rate: 25 GB/s}";
  g_autofree char *fixed = g_strdup_printf (CUSTOM ("static", "%s"), links),
                  *spread = g_strdup_printf (CUSTOM ("adaptive", "%s"), links);
  g_autoptr (Clu) one = load (fixed), all = load (spread);
  g_auto (CluRoute) a = { 0 }, b = { 0 };
  route (one, "gpu0", "gpu2", &a);
  TEST_INT (cables (one, &a), 4);
  /* Paths a-m-b: one; a-n-b: three, by the three cables. */
  route (all, "gpu0", "gpu2", &b);
  TEST_NEAR (share_of (all, &b, "a -> m"), 0.25, 1e-12);
  TEST_NEAR (share_of (all, &b, "a -> n"), 0.25, 1e-12);
  TEST_NEAR (share_of (all, &b, "n -> b"), 0.75, 1e-12);
  TEST_NEAR (rate_of (all, &b, NULL), 25e9 / 0.75, 1e-12);
  /* Halves: 50 by m and 25 by n, of 100 that two NICs send. */
  TEST_NEAR (clu_bisection_Bps (all), 75e9, 1e-12);
}

static void
custom_fabric_with_a_hole_says_where (void)
{
  g_autoptr (Clu) clu = load (CUSTOM ("static", "{from: 'node[0-1].nic0', to: a}, {from: node2.nic0, to: b}, {from: a, to: m}"));
  g_auto (CluRoute) r = { 0 }, lost = { 0 };
  g_autofree char *message = route_with (clu, "gpu0", "gpu2", &CLU_ROUTE_DEFAULT, &r);
  TEST_HAS (message, "no route from node0.gpu0 to node2.gpu0: the path breaks between a and b");
  g_autofree char *unplugged = route_with (clu, "gpu0", "gpu3", &CLU_ROUTE_DEFAULT, &lost);
  TEST_HAS (unplugged, "the path breaks at node3.nic0: no cable of the fabric ends there");
}

static void
custom_ends_must_exist (void)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { CUSTOM ("static", "{from: node9.nic0, to: a}"), "there is no node9; nodes are node0 to node3" },
    { CUSTOM ("static", "{from: node0.nic1, to: a}"), "node0 has no nic1; it has 1" },
    { CUSTOM ("static", "{from: node0.nic0, to: c}"), "'c' is no switch of this fabric" },
    { CUSTOM ("static", "{from: 'node[0-2', to: a}"), "'node[0-2' is not an end of cables" },
    { CUSTOM ("static", "{from: 'node[0-3].nic0', to: 'node[0-1].nic0'}"), "4 ends cannot be paired with 2" },
    { CUSTOM ("static", "{from: 'node[3-0].nic0', to: a}"), "'node[3-0].nic0' is not an end of cables" },
    { CUSTOM ("static", "{from: a, to: a}"), "a cable from 'a' to itself" },
    { CUSTOM ("static", ""), "a custom fabric needs 'links'" },
    { "topology: c\nnode:\n" T_THIN "fabric: {kind: custom, switches: [a, a], links: [{from: node0.nic0, to: a}]}\n",
      "two switches are named 'a'" },
    { "topology: c\nnode:\n" T_THIN "fabric: {kind: custom, switches: [gpu0], links: [{from: node0.nic0, to: gpu0}]}\n",
      "'gpu0' cannot name a switch" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *message = refused (rows[i].text);
    TEST_HAS (message, rows[i].message);
  }
}

#define STORED(network, fabric)                                                                                                \
  "topology: s\nnodes: 4\nnode:\n" T_HGX "fabric: " fabric "\nfrontend: {rate: 25 GB/s, oversubscription: 2, latency: 4 us}\n" \
  "storage: [{name: fs, tier: parallel_fs, servers: 8, per_server: 40 GB/s, network: " network "}]\n"

static void
storage_comes_by_the_front_end_through_the_host (void)
{
  g_autoptr (Clu) clu = load (STORED ("frontend", "single_switch"));
  g_auto (CluRoute) r = { 0 }, host = { 0 };
  route (clu, "storage.fs", "gpu0", &r);
  g_autofree char *text = way (clu, &r);
  TEST_STR (
      text,
      "storage.fs > frontend [frontend] > node0.frontend_nic > node0.socket0 [node0.host] [node0.host] > node0.pcie_switch0 > "
      "node0.gpu0");
  TEST_NEAR (share_of (clu, &r, "node0.host (memory)"), 2, 0);
  TEST_NEAR (rate_of (clu, &r, NULL), 25e9, 1e-12);
  /* Core: 4 adapters of 25 GB/s at 2:1. Tier: 8 x 40. */
  for (guint i = 0; i < r.uses->len; i++) {
    CluRes res = g_array_index (r.uses, CluUse, i).res;
    g_autofree char *name = clu_resource_name (clu, res);
    if (strcmp (name, "frontend (core)") == 0)
      TEST_NEAR (clu_resource_capacity (clu, res), 50e9, 1e-12);
    if (strcmp (name, "storage.fs -> frontend") == 0)
      TEST_NEAR (clu_resource_capacity (clu, res), 320e9, 1e-12);
  }
  TEST_NEAR (share_of (clu, &r, "frontend (core)"), 1, 0);
  route (clu, "node2.host", "storage.fs", &host);
  TEST_NEAR (share_of (clu, &host, "node2.host (memory)"), 1, 0);
  TEST_NEAR (host.latency_s, 4e-6, 1e-12); /* the front-end's, from end to end */
}

static void
storage_on_the_fabric_reaches_gpus_directly (void)
{
  g_autoptr (Clu) clu = load (STORED ("fabric", "{kind: fat_tree, routing: adaptive, levels: [{down: 8, up: 4}, {down: 4}]}"));
  g_auto (CluRoute) read = { 0 }, write = { 0 };
  route (clu, "storage.fs", "gpu9", &read);
  g_autofree char *text = way (clu, &read), *back = NULL;
  TEST_STR (text, "storage.fs > spine0 > leaf1 > node1.nic1 > node1.pcie_switch0 > node1.gpu1");
  TEST_NEAR (rate_of (clu, &read, NULL), 50e9, 1e-12);
  route (clu, "gpu9", "storage.fs", &write);
  back = way (clu, &write);
  TEST_STR (back, "node1.gpu1 > node1.pcie_switch0 > node1.nic1 > leaf1 > spine0 > storage.fs");
  TEST_INT (write.transport, CLU_TRANSPORT_COPY);
}

static void
storage_hangs_on_every_router_of_a_direct_network (void)
{
  static const char *const fabrics[] = { "{kind: torus, dims: [4]}",
                                         "{kind: dragonfly, dragonfly: {groups: 2, routers: 8, hosts: 2, global_links: 1}}" };
  static const char *const routers[] = { "router1", "group0.router4" }; /* of node 1; of NICs 8 and 9 */
  for (gsize i = 0; i < G_N_ELEMENTS (fabrics); i++) {
    g_autofree char *text = g_strdup_printf (STORED ("fabric", "%s"), fabrics[i]);
    g_autoptr (Clu) clu = load (text);
    g_auto (CluRoute) r = { 0 }, back = { 0 };
    route (clu, "storage.fs", "gpu9", &r);
    TEST_NEAR (rate_of (clu, &r, NULL), 50e9, 1e-12);
    TEST_INT (r.uses->len, 4); /* the tier, wire, two slots */
    g_autofree char *hops = way (clu, &r), *expected = NULL;
    expected = g_strdup_printf ("storage.fs > %s > node1.nic1 > node1.pcie_switch0 > node1.gpu1", routers[i]);
    TEST_STR (hops, expected);
    route (clu, "gpu9", "storage.fs", &back);
    TEST_INT (back.uses->len, 4);
  }
}

static void
tiers_reach_each_other_on_the_front_end_only (void)
{
  g_autoptr (Clu) clu = load (
      "topology: s\nnodes: 2\nnode:\n" T_HGX
      "fabric: single_switch\nfrontend: 25 GB/s\nstorage: [{name: a, tier: nfs, per_server: 1 GB/s}, "
      "{name: b, tier: object, servers: 2, per_server: 1 GB/s}, {name: c, tier: nfs, per_server: 1 GB/s, network: fabric}]\n");
  g_auto (CluRoute) r = { 0 }, none = { 0 };
  route (clu, "storage.a", "storage.b", &r);
  g_autofree char *text = way (clu, &r), *message = NULL;
  TEST_STR (text, "storage.a > frontend > storage.b");
  TEST_NEAR (rate_of (clu, &r, NULL), 1e9, 1e-12);
  message = route_with (clu, "storage.a", "storage.c", &CLU_ROUTE_DEFAULT, &none);
  TEST_HAS (message, "only tiers on the front-end reach each other");
}

static void
adapter_of_many_ports_takes_as_many_of_a_switch (void)
{
  /* Adapters of three ports, 75 GB/s; switches of 24 ports of 25: eight adapters a switch, and no ninth. */
#define PORTS(nodes)                                                                                                             \
  "topology: t\nnodes: " nodes "\nnode:\n  gpus: {type: " T_GPU                                                                  \
  ", count: 1}\n  nics: {type: {nic: n, port: {class: {link_class: eth, "                                                        \
  "lane_rate: 25 GB/s}, lanes: 3}}, count: 1}\nfabric: {kind: single_switch, leaf: {type: {switch: s, radix: 24, port_rate: 25 " \
  "GB/s}}}\n"
  g_autoptr (Clu) clu = load (PORTS ("8"));
  TEST_NEAR (clu_bisection_Bps (clu), 4 * 75e9, 1e-12);
  g_autofree char *message = refused (PORTS ("9"));
  TEST_HAS (message, "the switch has 8 ports for 9 NICs");
#undef PORTS
}

static void
half_against_half_has_closed_forms (void)
{
  static const struct {
    const char *text;
    double GBps;
    const char *why;
  } rows[] = {
    { "topology: t\nnode: {gpus: {type: " T_GPU "}, nvlink: {switches: 4}}\n", 4 * 450, "switch: four ports" },
    { "topology: t\nnode: {gpus: {type: " T_GPU "}, nvlink: {kind: full_mesh, lanes_used: 14}}\n", 16 * 50,
      "mesh: 4 x 4 pairs of two links" },
    { "topology: t\nnode: {gpus: {type: " T_GPU ", count: 16}, nvlink: {dims: [4, 4], lanes_used: 16}}\n", 8 * 100,
      "torus: 2 x 4 of four links" },
    { "topology: t\nnode: {gpus: {type: " T_GPU ", count: 4}, pcie: {bus: 16 GB/s}}\n", 16, "the bus" },
    { "topology: t\nnode: {gpus: {type: " T_GPU "}, pcie: {switch_per: 2}, sockets: {count: 2, interconnect: {rate: 20 GB/s}}}\n",
      20, "socket link" },
    { "topology: t\nnodes: 8\nnode:\n" T_THIN "fabric: single_switch\n", 4 * 50, "four NICs" },
    { FAT ("1024", "static"), 512 * 50, "full bisection" },
    { "topology: t\nnodes: 64\nnode:\n" T_THIN "fabric: {kind: torus, dims: [4, 4, 4]}\n", 2 * 16 * 50,
      "2 x 4 x 4 cables; 32 NICs" },
    { "topology: t\nnodes: 4\nnode:\n" T_HGX "fabric: {kind: rail_optimised, pod: 2, oversubscription: 2}\n", 8 * 50,
      "8 leaves with 1 of 2 up" },
    { "topology: t\nnode: {gpus: {type: " T_GPU ", count: 1}}\n", 0, "one GPU has no halves" },
    { "topology: t\nnodes: 2\nnode:\n" T_THIN "fabric: none\n", 0, "nodes apart" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Clu) clu = load (rows[i].text);
    double Bps = clu_bisection_Bps (clu);
    test_near (Bps, rows[i].GBps * 1e9, 1e-9, rows[i].why, __FILE__, __LINE__);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a fat tree path has two, four or six cables", fat_tree_path_has_two_four_or_six_cables },
    { "a fat tree counts its switches", fat_tree_counts_its_switches },
    { "a fabric is counted by its parts", a_fabric_is_counted_by_its_parts },
    { "the destination modulo the ports decides static ways", destination_modulo_ports_decides_static_ways },
    { "a static shift within a leaf shares no cable", static_shift_within_a_leaf_shares_no_cable },
    { "hashed ways collide, always alike", hashed_ways_collide_always_alike },
    { "adaptive cables of a pod are one trunk", adaptive_cables_of_a_pod_are_one_trunk },
    { "a tree grows levels as it must", tree_grows_levels_as_it_must },
    { "oversubscription thins the way up", oversubscription_thins_the_way_up },
    { "switches' crossings count once each", switches_crossings_count_once_each },
    { "one rail inside a pod never crosses a spine", one_rail_inside_a_pod_never_crosses_a_spine },
    { "another rail is left by the GPU that stands there", other_rail_is_left_by_the_gpu_that_stands_there },
    { "another rail is left by the GPU itself without PXN", other_rail_is_left_by_the_gpu_itself_without_pxn },
    { "rails without spines do not meet", rails_without_spines_do_not_meet },
    { "every degradation changes path or transport", every_degradation_changes_path_or_transport },
    { "fewer NICs serve far GPUs too", fewer_nics_serve_far_gpus_too },
    { "the management network is not used inside a node", management_keeps_to_the_node_inside_it },
    { "paths without a part of the bytes are left out", paths_without_a_part_of_the_bytes_are_left_out },
    { "a dragonfly takes at most one global cable", dragonfly_takes_at_most_one_global_cable },
    { "a dragonfly's copies are chosen or shared", dragonfly_copies_are_chosen_or_shared },
    { "a torus of nodes spreads over all shortest ways", torus_of_nodes_spreads_over_all_shortest_ways },
    { "a custom fabric takes the fewest cables", custom_fabric_takes_the_fewest_cables },
    { "a custom fabric with a hole says where", custom_fabric_with_a_hole_says_where },
    { "custom ends must exist", custom_ends_must_exist },
    { "storage comes by the front-end, through the host", storage_comes_by_the_front_end_through_the_host },
    { "storage on the fabric reaches GPUs directly", storage_on_the_fabric_reaches_gpus_directly },
    { "storage is attached to every router of a direct network", storage_hangs_on_every_router_of_a_direct_network },
    { "tiers reach each other on the front-end only", tiers_reach_each_other_on_the_front_end_only },
    { "an adapter of many ports takes as many of a switch", adapter_of_many_ports_takes_as_many_of_a_switch },
    { "half against half has closed forms", half_against_half_has_closed_forms },
    { NULL, NULL },
  };
  return test_main ("cluster fabric", cases);
}
