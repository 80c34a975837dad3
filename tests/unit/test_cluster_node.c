/* Ways inside one node and one NVLink domain: PCIe trees, buses, meshes, switches, coherent links, drives. */
#include "cluster_fixture.h"

/* AWS p5 (Smol Training Playbook): a switch has one GPU, four adapters and a drive below it and only a generation 4 x8 link
 * above. */
#define P5                                                                                                                       \
  "topology: p5\n"                                                                                                               \
  "node:\n"                                                                                                                      \
  "  gpus: {type: " T_GPU ", count: 8}\n"                                                                                        \
  "  nvlink: {switches: 4, planes: [5, 4, 4, 5]}\n"                                                                              \
  "  pcie: {generation: 5, lanes: 16, switch_per: 1, uplink: {generation: 4, lanes: 8}, under_switch: [nics, nvme]}\n"           \
  "  sockets: {count: 2, memory: 162 GB/s, interconnect: {rate: 62 GB/s, latency: 130 ns}}\n"                                    \
  "  nics: {type: {nic: efa, port: {class: {link_class: efa, family: efa, lane_rate: 100 Gb/s}}, pcie: {class: pcie4}}, count: " \
  "32, per_gpu: 4}\n"                                                                                                            \
  "  storage: {local_nvme: {drives: 8, type: {drive: d, read: 3.5 GB/s, write: 1.75 GB/s, pcie: {class: pcie4, lanes: 4}}}}\n"   \
  "fabric: {kind: single_switch}\n"

static void
p5_host_copies_are_bounded_by_the_narrow_uplink (void)
{
  g_autoptr (Clu) clu = load (P5);
  g_auto (CluRoute) r;
  route (clu, "node0.host", "gpu0", &r);
  g_autofree char *bound = NULL;
  /* 8 lanes x 1.96875 = 15.75 GB/s, x .9 = 14.175. */
  TEST_NEAR (rate_of (clu, &r, &bound), 14.175e9, 1e-12);
  TEST_STR (bound, "node0.socket0 -> node0.pcie_switch0");
  TEST_INT (r.transport, CLU_TRANSPORT_COPY);
  TEST_INT (r.path_class, CLU_PATH_PHB);
  g_autofree char *text = way (clu, &r);
  TEST_STR (text, "node0.host [node0.host] > node0.pcie_switch0 > node0.gpu0");
  TEST_NEAR (share_of (clu, &r, "node0.host (memory)"), 1, 0);
}

static void
p5_gpu_leaves_by_the_four_adapters_of_its_switch (void)
{
  const char *const sets[] = { "nodes=2", NULL };
  g_autofree char *message = NULL;
  g_autoptr (Clu) clu = try_load_with (P5, sets, NULL, NULL, &message);
  g_auto (CluRoute) r;
  route (clu, "gpu3", "node1.gpu3", &r);
  for (int k = 12; k < 16; k++) {
    g_autofree char *name = g_strdup_printf ("node0.nic%d -> switch", k);
    TEST_NEAR (share_of (clu, &r, name), 0.25, 0);
  }
  TEST_NEAR (share_of (clu, &r, "node0.gpu3 -> node0.pcie_switch3"), 1, 0);
  TEST_NEAR (rate_of (clu, &r, NULL), 4 * 12.5e9, 1e-12); /* the wires: 4 x 12.5 of 56.7 GB/s PCIe */
  TEST_INT (r.transport, CLU_TRANSPORT_NET_GDR);
  TEST_INT (r.path_class, CLU_PATH_NET);
  TEST_INT (r.nic_class, CLU_PATH_PIX);
}

static void
drive_under_the_switch_writes_to_the_gpu_directly_and_else_by_the_host (void)
{
  g_autoptr (Clu) clu = load (P5);
  g_auto (CluRoute) near = { 0 }, far = { 0 }, back = { 0 };
  route (clu, "node0.nvme2", "gpu2", &near);
  g_autofree char *text = way (clu, &near);
  TEST_STR (text, "node0.nvme2 [node0.nvme2] > node0.pcie_switch2 > node0.gpu2");
  TEST_NEAR (rate_of (clu, &near, NULL), 3.5e9, 1e-12);
  route (clu, "node0.nvme2", "gpu0", &far);
  TEST_NEAR (share_of (clu, &far, "node0.host (memory)"), 2, 0); /* written once, read once */
  /* A written byte takes the drive as long as two that are read: 3.5 / 1.75. */
  route (clu, "gpu2", "node0.nvme2", &back);
  TEST_NEAR (share_of (clu, &back, "node0.nvme2 (drive)"), 2, 0);
  TEST_NEAR (rate_of (clu, &back, NULL), 1.75e9, 1e-12);
}

static void
ring_of_four_gpus_crosses_their_bus_with_each_of_its_hops (void)
{
  g_autoptr (Clu) clu = load ("topology: bus\nnode: {gpus: {type: " T_GPU ", count: 4}, pcie: {bus: 16 GB/s}}\n");
  for (guint32 g = 0; g < 4; g++) {
    g_auto (CluRoute) r;
    g_autofree char *from = g_strdup_printf ("gpu%u", g), *to = g_strdup_printf ("gpu%u", (g + 1) % 4), *bound = NULL;
    route (clu, from, to, &r);
    TEST_NEAR (share_of (clu, &r, "node0.pcie_switch0 (bus)"), 1, 0);
    TEST_NEAR (rate_of (clu, &r, &bound), 16e9, 1e-12);
    TEST_STR (bound, "node0.pcie_switch0 (bus)");
    TEST_INT (r.path_class, CLU_PATH_PIX);
  }
}

static void
nvswitch_joins_any_pair_at_the_gpus_full_rate (void)
{
  g_autoptr (Clu) clu = load (P5);
  g_auto (CluRoute) r;
  route (clu, "gpu0", "gpu7", &r);
  g_autofree char *text = way (clu, &r);
  TEST_STR (text, "node0.gpu0 > node0.nvswitch0 > node0.gpu7");
  TEST_NEAR (rate_of (clu, &r, NULL), 450e9, 1e-12); /* 18 x 25 */
  TEST_NEAR (r.latency_s, 400e-9, 1e-12);            /* two crossings of 200 ns */
  TEST_INT (r.transport, CLU_TRANSPORT_P2P);
  TEST_INT (r.path_class, CLU_PATH_NVL);
}

static void
failed_plane_lowers_the_rate_by_its_links (void)
{
  g_autoptr (Clu) clu = load ("topology: t\nnode: {gpus: {type: " T_GPU "}, nvlink: {switches: 4, lanes_used: 13}}\n");
  g_auto (CluRoute) r;
  route (clu, "gpu0", "gpu1", &r);
  TEST_NEAR (rate_of (clu, &r, NULL), 13 * 25e9, 1e-12);
}

static void
mi300x_pair_has_one_link_of_seven (void)
{
  g_autoptr (Clu) clu = load (
      "topology: mi300x\nnode:\n  gpus: {type: {gpu: m, scale_up: {class: {link_class: xgmi, family: xgmi, lane_rate: 64 GB/s, "
      "efficiency: 0.75}, lanes: 7}}, count: 8}\n  nvlink: full_mesh\n");
  for (guint32 i = 0; i < 8; i++)
    for (guint32 j = 0; j < 8; j++) {
      g_auto (CluRoute) r;
      g_autofree char *from = g_strdup_printf ("gpu%u", i), *to = g_strdup_printf ("gpu%u", j);
      route (clu, from, to, &r);
      TEST_INT (r.uses->len, i == j ? 0 : 1);
      if (i != j)
        TEST_NEAR (rate_of (clu, &r, NULL), 48e9, 1e-12); /* 64 x .75 */
    }
}

/* DGX-1V, links as nvidia-smi topo -m shows them. */
#define DGX1                                                                                                                    \
  "topology: dgx1\n"                                                                                                            \
  "node:\n"                                                                                                                     \
  "  gpus: {type: {gpu: v100, scale_up: {class: {link_class: nv2, family: nvlink, lane_rate: 25 GB/s}, lanes: 6}}, count: 8}\n" \
  "  nvlink:\n"                                                                                                                 \
  "    links: [{a: 0, b: 1}, {a: 0, b: 2}, {a: 0, b: 3, lanes: 2}, {a: 0, b: 4, lanes: 2}, {a: 1, b: 2, lanes: 2}, {a: 1, b: "  \
  "3},\n"                                                                                                                       \
  "      {a: 1, b: 5, lanes: 2}, {a: 2, b: 3, lanes: 2}, {a: 2, b: 6}, {a: 3, b: 7}, {a: 4, b: 5}, {a: 4, b: 6},\n"             \
  "      {a: 4, b: 7, lanes: 2}, {a: 5, b: 6, lanes: 2}, {a: 5, b: 7}, {a: 6, b: 7, lanes: 2}]\n"                               \
  "  pcie: {generation: 4, switch_per: 2}\n"                                                                                    \
  "  sockets: {count: 2, memory: 60 GB/s, interconnect: {rate: 19.2 GB/s}}\n"

static void
cube_mesh_pair_has_its_links_and_else_goes_over_pcie (void)
{
  g_autoptr (Clu) clu = load (DGX1);
  g_auto (CluRoute) two = { 0 }, one = { 0 }, none = { 0 };
  route (clu, "gpu0", "gpu3", &two);
  TEST_NEAR (rate_of (clu, &two, NULL), 50e9, 1e-12);
  route (clu, "gpu6", "gpu2", &one);
  TEST_NEAR (rate_of (clu, &one, NULL), 25e9, 1e-12);
  TEST_INT (one.path_class, CLU_PATH_NVL);
  route (clu, "gpu0", "gpu5", &none);
  g_autofree char *text = way (clu, &none), *bound = NULL;
  TEST_STR (text, "node0.gpu0 > node0.pcie_switch0 > node0.socket0 > node0.socket1 > node0.pcie_switch2 > node0.gpu5");
  TEST_INT (none.path_class, CLU_PATH_SYS);
  TEST_INT (none.transport, CLU_TRANSPORT_P2P);
  TEST_NEAR (rate_of (clu, &none, &bound), 19.2e9, 1e-12);
}

static void
nccls_own_p2p_level_sends_distant_pairs_through_host_memory (void)
{
  g_autoptr (Clu) clu = load (DGX1);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade.p2p_level = CLU_PATH_PXB;
  g_auto (CluRoute) far = { 0 }, near = { 0 };
  route_by (clu, "gpu0", "gpu5", &options, &far);
  route_by (clu, "gpu0", "gpu1", &options, &near);
  TEST_INT (far.transport, CLU_TRANSPORT_SHM);
  TEST_NEAR (share_of (clu, &far, "node0.host (memory)"), 2, 0);
  TEST_INT (near.transport, CLU_TRANSPORT_P2P);
}

static void
torus_goes_dimension_after_dimension_and_splits_half_way (void)
{
  g_autoptr (Clu) clu = load (
      "topology: trn\nnode:\n  gpus: {type: {gpu: t, scale_up: {class: {link_class: nl, family: neuronlink, lane_rate: 128 GB/s, "
      "latency: 500 ns}, lanes: 4}}, count: 16}\n  nvlink: {kind: torus, dims: [4, 4]}\n");
  /* 16 x 2 links of 128 GB/s; one step. */
  g_auto (CluRoute) step = { 0 }, corner = { 0 }, across = { 0 };
  route (clu, "gpu0", "gpu3", &step); /* around the end */
  TEST_INT (step.uses->len, 1);
  TEST_NEAR (rate_of (clu, &step, NULL), 128e9, 1e-12);
  TEST_INT (step.path_class, CLU_PATH_NVL);
  route (clu, "gpu0", "gpu5", &corner); /* (0,0) to (1,1): along the row, then the column */
  g_autofree char *text = way (clu, &corner);
  TEST_STR (text, "node0.gpu0 > node0.gpu1 > node0.gpu5");
  TEST_INT (corner.path_class, CLU_PATH_NVB);
  TEST_NEAR (corner.latency_s, 1e-6, 1e-12);
  /* (0,0) to (2,0): both ways are two steps; half of the bytes each, so twice a link's rate. */
  route (clu, "gpu0", "gpu2", &across);
  TEST_INT (across.uses->len, 4);
  TEST_INT (across.hops->len, 2);
  TEST_INT (g_array_index (across.hops, CluHop, 0).n_alternatives, 2);
  TEST_NEAR (rate_of (clu, &across, NULL), 256e9, 1e-12);
}

static void
torus_dimension_of_two_has_a_double_link (void)
{
  g_autoptr (Clu) clu = load (
      "topology: t\nnode:\n  gpus: {type: {gpu: t, scale_up: {class: {link_class: nl, lane_rate: 10 GB/s}, lanes: 4}}, count: 8}\n"
      "  nvlink: {dims: [4, 2]}\n");
  g_auto (CluRoute) a = { 0 }, b = { 0 };
  route (clu, "gpu1", "gpu5", &a);
  TEST_INT (a.uses->len, 1);
  TEST_NEAR (rate_of (clu, &a, NULL), 20e9, 1e-12);
  route (clu, "gpu5", "gpu1", &b);
  TEST_NEAR (rate_of (clu, &b, NULL), 20e9, 1e-12);
}

static void
copy_through_host_memory_crosses_it_twice (void)
{
  g_autoptr (Clu) clu = load (P5);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade.no_p2p = TRUE;
  g_auto (CluRoute) r;
  route_by (clu, "gpu0", "gpu4", &options, &r);
  g_autofree char *text = way (clu, &r);
  TEST_STR (text,
            "node0.gpu0 > node0.pcie_switch0 > node0.socket0 [node0.host] [node0.host] > node0.socket1 > node0.pcie_switch4 > "
            "node0.gpu4");
  TEST_INT (r.transport, CLU_TRANSPORT_SHM);
  TEST_NEAR (share_of (clu, &r, "node0.host (memory)"), 2, 0);
}

static void
sockets_apart_are_sys_and_cost_the_interconnect (void)
{
  g_autoptr (Clu) clu = load (P5);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade.no_nvlink = TRUE;
  g_auto (CluRoute) near = { 0 }, far = { 0 }, host = { 0 };
  route_by (clu, "gpu0", "gpu3", &options, &near);
  route_by (clu, "gpu0", "gpu4", &options, &far);
  TEST_INT (near.path_class, CLU_PATH_PHB);
  TEST_INT (far.path_class, CLU_PATH_SYS);
  TEST_NEAR (near.latency_s, 400e-9, 1e-12); /* slot, uplink, uplink, slot: 4 x 100 ns */
  TEST_NEAR (far.latency_s, 530e-9, 1e-12);  /* and 130 ns between the sockets */
  route (clu, "gpu0", "node0.host1", &host);
  TEST_INT (host.path_class, CLU_PATH_SYS);
}

static void
half_duplex_link_has_a_third_resource_for_both_ways (void)
{
  g_autoptr (Clu) clu =
      load ("topology: t\nnode: {gpus: {type: {gpu: g, scale_up: {class: {link_class: half, lane_rate: 100 GB/s, efficiency: 0.8, "
            "duplex: 0.6}}}, count: 2}, nvlink: full_mesh}\n");
  g_auto (CluRoute) there = { 0 }, back = { 0 };
  route (clu, "gpu0", "gpu1", &there);
  route (clu, "gpu1", "gpu0", &back);
  TEST_INT (there.uses->len, 2);
  TEST_NEAR (share_of (clu, &there, "node0.gpu0 -> node0.gpu1"), 1, 0);
  TEST_NEAR (share_of (clu, &there, "node0.gpu0 <-> node0.gpu1"), 1, 0);
  TEST_NEAR (share_of (clu, &back, "node0.gpu1 -> node0.gpu0"), 1, 0);
  TEST_NEAR (share_of (clu, &back, "node0.gpu0 <-> node0.gpu1"), 1, 0);
  CluRes both = g_array_index (there.uses, CluUse, 1).res;
  TEST_NEAR (clu_resource_capacity (clu, both), 96e9, 1e-12); /* .6 x 2 x 100 x .8 */
  TEST_NEAR (rate_of (clu, &there, NULL), 80e9, 1e-12);       /* alone, one way binds */
}

static void
coherent_link_replaces_pcie_as_way_to_the_host (void)
{
  g_autoptr (Clu) clu =
      load ("topology: gh200\nnodes: 2\nnode:\n  gpus: {type: " T_GPU ", count: 1}\n"
            "  sockets: {memory: 400 GB/s, gpu_link: {class: {link_class: c2c, family: c2c, lane_rate: 450 GB/s}}}\n"
            "  nics: {type: " T_NIC ", count: 1}\nfabric: single_switch\n");
  g_auto (CluRoute) host = { 0 }, net = { 0 };
  route (clu, "gpu0", "node0.host", &host);
  g_autofree char *bound = NULL;
  TEST_INT (host.path_class, CLU_PATH_C2C);
  TEST_NEAR (rate_of (clu, &host, &bound), 400e9, 1e-12);
  TEST_STR (bound, "node0.host (memory)");
  route (clu, "gpu0", "gpu1", &net);
  TEST_INT (net.nic_class, CLU_PATH_P2C);
  TEST_INT (net.transport, CLU_TRANSPORT_NET_GDR);
}

static void
adapter_without_pcie_is_part_of_its_gpu (void)
{
  /* Gaudi: three ports of 25 GB/s outside on each chip. */
  g_autoptr (Clu) clu =
      load ("topology: gaudi\nnodes: 2\nnode:\n"
            "  gpus: {type: {gpu: ga, pcie: {class: pcie4}, scale_up: {class: {link_class: eth, lane_rate: 25 GB/s}, lanes: 21}}, "
            "count: 8}\n"
            "  nvlink: full_mesh\n  sockets: {memory: 200 GB/s}\n"
            "  nics: {type: {nic: p, port: {class: {link_class: eth, family: roce, lane_rate: 25 GB/s}, lanes: 3}}, count: 8}\n"
            "fabric: single_switch\n");
  g_auto (CluRoute) pair = { 0 }, out = { 0 }, other = { 0 };
  route (clu, "gpu0", "gpu1", &pair);
  TEST_NEAR (rate_of (clu, &pair, NULL), 75e9, 1e-12); /* 3 of 21 lanes */
  route (clu, "gpu2", "node1.gpu2", &out);
  g_autofree char *text = way (clu, &out);
  TEST_STR (text, "node0.gpu2 > node0.nic2 > switch > node1.nic2 > node1.gpu2");
  TEST_NEAR (rate_of (clu, &out, NULL), 75e9, 1e-12);
  /* By another chip's ports: over the mesh to that chip; the receiver has ports of its own, nearer. */
  CluRouteOptions options = { .nic = 5 };
  route_by (clu, "gpu2", "node1.gpu2", &options, &other);
  g_autofree char *by = way (clu, &other);
  TEST_STR (by, "node0.gpu2 > node0.gpu5 > node0.nic5 > switch > node1.nic2 > node1.gpu2");
  TEST_INT (other.nic_class, CLU_PATH_PXN);
}

static void
nvl72_is_one_domain_and_a_second_rack_is_reached_by_nics (void)
{
  g_autoptr (Clu) clu =
      load ("topology: nvl72\nnodes: 36\nnode:\n  gpus: {type: " T_GPU ", count: 4}\n  nvlink: {switches: 18, sharp: true}\n"
            "  pcie: {switch_per: 1, under_switch: [nics]}\n  nics: {type: " T_NIC ", count: 4}\n"
            "nvlink_domain: {nodes: 18}\nfabric: single_switch\n");
  TEST_INT (clu_domain_of_node (clu, 17), 0);
  TEST_INT (clu_domain_of_node (clu, 18), 1);
  TEST_TRUE (clu_domain_has_sharp (clu));
  g_auto (CluRoute) in = { 0 }, out = { 0 };
  route (clu, "gpu0", "gpu71", &in);
  g_autofree char *text = way (clu, &in), *text_out = NULL;
  TEST_STR (text, "node0.gpu0 > domain0.nvswitch > node17.gpu3");
  TEST_INT (in.path_class, CLU_PATH_NVL);
  route (clu, "gpu0", "gpu72", &out);
  text_out = way (clu, &out);
  TEST_STR (text_out, "node0.gpu0 > node0.pcie_switch0 > node0.nic0 > switch > node18.nic0 > node18.pcie_switch0 > node18.gpu0");
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade.no_nvlink = TRUE;
  g_auto (CluRoute) slow;
  route_by (clu, "gpu0", "gpu71", &options, &slow);
  TEST_INT (slow.transport, CLU_TRANSPORT_NET_GDR);
}

static void
same_device_needs_nothing (void)
{
  g_autoptr (Clu) clu = load (P5);
  g_auto (CluRoute) r;
  route (clu, "gpu5", "node0.gpu5", &r);
  TEST_INT (r.uses->len, 0);
  TEST_INT (r.hops->len, 0);
  TEST_NEAR (r.latency_s, 0, 0);
  TEST_INT (r.path_class, CLU_PATH_LOC);
  double rate;
  TEST_INT (clu_route_bottleneck (clu, &r, &rate), CLU_NONE);
  TEST_TRUE (isinf (rate));
}

static void
broken_path_says_where (void)
{
  /* GPUs joined in pairs only, and no PCIe at all. */
  g_autoptr (Clu) clu =
      load ("topology: t\nnode:\n  gpus: {type: {gpu: g, scale_up: {class: {link_class: b, lane_rate: 1 GB/s}}}, count: 4}\n"
            "  nvlink: {links: [{a: 0, b: 1}, {a: 2, b: 3}]}\n");
  g_auto (CluRoute) r = { 0 }, bad = { 0 };
  g_autofree char *message = route_with (clu, "gpu1", "gpu2", &CLU_ROUTE_DEFAULT, &r);
  TEST_HAS (message, "no route from node0.gpu1 to node0.gpu2: the path breaks at node0.gpu1: nothing links it to its host");
  g_autofree char *passing = route_with (clu, "gpu1", "node0.socket0", &CLU_ROUTE_DEFAULT, &bad);
  TEST_HAS (passing, "'node0.socket0' passes bytes on and cannot be an end");
  TEST_INT (r.uses->len, 0);
}

static void
kernels_reach_is_told_beside_the_dmas (void)
{
  g_autoptr (Clu) clu =
      load ("topology: t\nnode: {gpus: {type: {gpu: g, scale_up: {class: {link_class: nv, lane_rate: 450 GB/s, efficiency: "
            "0.88, sm_efficiency: 0.82}}}, count: 2}, nvlink: {kind: switch}}\n");
  g_auto (CluRoute) r;
  route (clu, "gpu0", "gpu1", &r);
  TEST_NEAR (clu_resource_sm_factor (clu, g_array_index (r.uses, CluUse, 0).res), 0.82 / 0.88, 1e-12);
  TEST_STR (clu_resource_class (clu, g_array_index (r.uses, CluUse, 0).res), "nv");
}

/* The GPU's duplex of 0.7 is that of host copies; RDMA has the class's 0.9, and 0.9 of the rate where host copies reach 0.8. */
static void
rdma_has_its_own_rate_and_duplex (void)
{
  g_autoptr (Clu) clu =
      load ("topology: t\nnode: {gpus: {type: {gpu: g, pcie: {class: {link_class: pci, family: pcie, lane_rate: 100 GB/s, "
            "duplex: 0.9}, efficiency: 0.8, duplex: 0.7, rdma_efficiency: 0.9}}, count: 2}}\n");
  g_auto (CluRoute) r;
  route (clu, "gpu0", "node0.host", &r);
  const CluRes there = g_array_index (r.uses, CluUse, 0).res, both = g_array_index (r.uses, CluUse, 1).res;
  TEST_NEAR (clu_resource_capacity (clu, both), 2 * 0.7 * 80e9, 1e-12);
  TEST_NEAR (clu_resource_capacity (clu, there) * clu_resource_rdma_factor (clu, there), 90e9, 1e-12);
  TEST_NEAR (clu_resource_capacity (clu, both) * clu_resource_rdma_factor (clu, both), 2 * 0.9 * 90e9, 1e-12);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "p5: host copies are bounded by the narrow uplink", p5_host_copies_are_bounded_by_the_narrow_uplink },
    { "p5: a GPU leaves by the four adapters of its switch", p5_gpu_leaves_by_the_four_adapters_of_its_switch },
    { "a drive under the switch writes to the GPU directly, another by the host",
      drive_under_the_switch_writes_to_the_gpu_directly_and_else_by_the_host },
    { "a ring of four GPUs crosses their bus with each hop", ring_of_four_gpus_crosses_their_bus_with_each_of_its_hops },
    { "an NVSwitch joins any pair at full rate", nvswitch_joins_any_pair_at_the_gpus_full_rate },
    { "a failed plane lowers the rate by its links", failed_plane_lowers_the_rate_by_its_links },
    { "an MI300X pair has one link of seven", mi300x_pair_has_one_link_of_seven },
    { "a cube mesh pair has its links, and else goes over PCIe", cube_mesh_pair_has_its_links_and_else_goes_over_pcie },
    { "NCCL's own P2P level sends distant pairs through host memory", nccls_own_p2p_level_sends_distant_pairs_through_host_memory },
    { "a torus goes dimension after dimension and splits half way", torus_goes_dimension_after_dimension_and_splits_half_way },
    { "a torus dimension of two has a double link", torus_dimension_of_two_has_a_double_link },
    { "a copy through host memory crosses it twice", copy_through_host_memory_crosses_it_twice },
    { "sockets apart are SYS and cost the interconnect", sockets_apart_are_sys_and_cost_the_interconnect },
    { "a half duplex link has a third resource for both ways", half_duplex_link_has_a_third_resource_for_both_ways },
    { "a coherent link replaces PCIe as way to the host", coherent_link_replaces_pcie_as_way_to_the_host },
    { "an adapter without PCIe is part of its GPU", adapter_without_pcie_is_part_of_its_gpu },
    { "an NVL72 is one domain; a second rack is reached by NICs", nvl72_is_one_domain_and_a_second_rack_is_reached_by_nics },
    { "the same device needs nothing", same_device_needs_nothing },
    { "a broken path says where", broken_path_says_where },
    { "a kernel's rate is reported beside the DMA's", kernels_reach_is_told_beside_the_dmas },
    { "RDMA has its own rate and duplex", rdma_has_its_own_rate_and_duplex },
    { NULL, NULL },
  };
  return test_main ("cluster node", cases);
}
