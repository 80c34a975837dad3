#include <math.h>

#include "harness.h"
#include "tuner_fixture.h"

static CstTuner *constants;

static MdlSearch
search (const MdlSearchQuestion *q)
{
  MdlSearch found;
  mdl_search (&cst_tuner_spec (constants)->search, q, &found);
  return found;
}

static void
same_graph (const MdlGraph *graph, unsigned channels, double intra_GBps, double inter_GBps)
{
  TEST_INT (graph->channels, channels);
  TEST_NEAR (graph->intra_Bps, intra_GBps * 1e9, 1e-9);
  TEST_NEAR (graph->inter_Bps, inter_GBps * 1e9, 1e-9);
}

/* 18 links x 20.6 = 370.8: six rings of 60 (360), twelve of 30 when split; kernels get two channels each. */
static void
eight_hopper_gpus_have_twelve_rings_of_30_and_24_channels (void)
{
  const MdlSearchQuestion q = hgx_hopper (8, 1);
  MdlSearch found = search (&q);
  same_graph (&found.ring, 12, 30, 30);
  same_graph (&found.tree, 12, 30, 30);
  TEST_INT (found.split, 2);
  TEST_INT (found.channels, 24);
  TEST_INT (found.ring.intra, MDL_PATH_NVL);
  TEST_FALSE (found.one_gpu);
}

/* Two chains may go opposite ways between two GPUs: each GPU sends six of the twelve, 6 x 60 = 360. */
static void
two_gpus_have_faster_trees_than_rings (void)
{
  const MdlSearchQuestion q = hgx_hopper (2, 1);
  MdlSearch found = search (&q);
  same_graph (&found.ring, 12, 30, 30);
  same_graph (&found.tree, 12, 60, 60);
}

/* Of twelve chains over three, none sends in more than nine: 9 x 40 = 360; NCCL 2.28.9 logged it so. Four have their ring's. */
static void
three_gpus_turn_their_chains (void)
{
  MdlSearchQuestion q = hgx_hopper (3, 1);
  MdlSearch found = search (&q);
  same_graph (&found.tree, 12, 40, 40);
  TEST_FALSE (found.tree.same);
  q = hgx_hopper (4, 1);
  found = search (&q);
  same_graph (&found.tree, 12, 30, 30);
  TEST_TRUE (found.tree.same);
}

/* Eight heads at s need 7 s + 2 s <= 370.8: 40 of the list (41.2). Outside nothing binds on one node: up to 60, below 2 x 40. */
static void
nvls_has_a_head_a_gpu (void)
{
  const MdlSearchQuestion q = hgx_hopper (8, 1);
  MdlSearch found = search (&q);
  same_graph (&found.nvls, 8, 40, 60);
  TEST_INT (found.nvls_channels, 16);
}

static void
nvls_is_not_found_where_switches_do_not_reduce (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 1);
  q.reduces = FALSE;
  TEST_INT (search (&q).nvls.channels, 0);
  q = hgx_hopper (8, 1);
  q.capability = 80;
  TEST_INT (search (&q).nvls.channels, 0);
  q = hgx_hopper (1, 1);
  TEST_INT (search (&q).nvls.channels, 0);
}

/* 12 links x 20 = 240: six rings of 40, split into twelve of 20. */
static void
a100_has_twelve_rings_of_20 (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 1);
  q.capability = 80;
  q.nvlinks = 12;
  MdlSearch found = search (&q);
  same_graph (&found.ring, 12, 20, 20);
  same_graph (&found.tree, 12, 20, 20);
  TEST_INT (found.channels, 24);
}

/* 18 x 40.1 = 721.8: eight rings of 90, split into sixteen of 45. NVLS: 9 s <= 721.8, 80. */
static void
b200_has_sixteen_rings_of_45 (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 1);
  q.capability = 100;
  MdlSearch found = search (&q);
  same_graph (&found.ring, 16, 45, 45);
  same_graph (&found.nvls, 8, 80, 90);
  TEST_INT (found.channels, 32);
}

/* A NIC carries 50, its PCIe 48: one ring of 48 each. Eight: each GPU sends seven of them on by NVLink, 7 x 48 = 336 of 370.8. */
static void
nodes_with_a_400G_nic_a_gpu_have_eight_rings_of_48 (void)
{
  const MdlSearchQuestion q = hgx_hopper (8, 2);
  MdlSearch found = search (&q);
  same_graph (&found.ring, 8, 48, 48);
  TEST_INT (found.channels, 16);
  TEST_TRUE (found.one_gpu); /* no second GPU is beside the NIC */
}

/* NVLS heads at 48 are six (7 x 48 = 336), at 40 eight (9 x 40 = 360); their NICs carry 48 still. */
static void
nvls_over_nodes_prefers_more_heads (void)
{
  const MdlSearchQuestion q = hgx_hopper (8, 2);
  MdlSearch found = search (&q);
  same_graph (&found.nvls, 8, 40, 48);
}

/* 72 GB200 of a rack, one 400 Gb/s NIC a GPU behind Grace. As NCCL 2.26.2's own search finds for 18 trays as XML: rings of 15 NICs
 * and 32 heads of 20 inside, 40 outside. Until 2.27.5 it takes such NICs for as far as PCIe and the processor, without LL128. */
static void
a_rack_has_fifteen_rings_and_32_heads (void)
{
  MdlSearchQuestion q = hgx_hopper (72, 20);
  q.capability = 100;
  q.cpu = MDL_CPU_ARM;
  q.nic_path = MDL_PATH_P2C;
  g_autoptr (CstTuner) old = tuner_fixture ("2.26.2"), new = tuner_fixture ("2.28.9");
  MdlSearch found;
  mdl_search (&cst_tuner_spec (old)->search, &q, &found);
  same_graph (&found.ring, 15, 48, 48);
  same_graph (&found.tree, 15, 48, 48);
  same_graph (&found.nvls, 32, 20, 40);
  TEST_INT (found.nvls.inter, MDL_PATH_PHB);
  TEST_INT (found.channels, 32);
  mdl_search (&cst_tuner_spec (new)->search, &q, &found);
  TEST_INT (found.nvls.inter, MDL_PATH_P2C);
}

/* 25 carries 24 once. Trees may go faster inside, below twice the outside: 30, 40, 42, 45, and 48 (7 x 48 = 336). */
static void
nodes_with_a_200G_nic_a_gpu_have_eight_rings_of_24 (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 4);
  q.nic_Bps = 25e9;
  MdlSearch found = search (&q);
  same_graph (&found.ring, 8, 24, 24);
  same_graph (&found.tree, 8, 48, 24);
}

/* One 10 Gb/s port that all GPUs reach through the processor: 1.2 of 1.25, trees twice that inside. As NCCL 2.28.9 prints it. */
static void
a_port_for_all_gpus_carries_one_ring (void)
{
  MdlSearchQuestion q = hgx_hopper (4, 2);
  q.nics = 1;
  q.nic_Bps = 10e9 / 8.0;
  q.nic_path = MDL_PATH_PHB;
  q.reduces = FALSE; /* NCCL_NVLS_ENABLE=0 */
  MdlSearch found = search (&q);
  same_graph (&found.ring, 1, 1.2, 1.2);
  same_graph (&found.tree, 1, 2.4, 1.2);
  TEST_TRUE (found.ring.same);
  TEST_FALSE (found.one_gpu);
  TEST_INT (found.ring.inter, MDL_PATH_PHB);
  TEST_INT (found.channels, 2);
  q = hgx_hopper (8, 2);
  TEST_FALSE (search (&q).ring.same);
}

/* What the search of NCCL 2.28.9 itself finds when it is given such nodes as XML: eight GPUs behind a switch, Intel processors,
 * `per` GPUs and their share of the NICs behind each PCIe switch. */
static void
graphs_are_those_that_nccl_finds (void)
{
  g_autoptr (CstTuner) release = tuner_fixture ("2.28.9");
  static const struct {
    unsigned capability, links, nics, per, generation;
    double nic_Gbps;
    unsigned ring_n;
    double ring_GBps;
    double tree_GBps;      /* inside; as many as rings, outside as fast as these */
    gboolean one_gpu, pxn; /* pxn: rings go back to the NIC by which they came */
    unsigned heads;
    double nvls_intra_GBps, nvls_inter_GBps;
  } row[] = {
    { 90, 18, 8, 1, 5, 400, 8, 48, 48, TRUE, FALSE, 8, 40, 48 },   { 90, 18, 8, 1, 5, 200, 8, 24, 48, TRUE, TRUE, 8, 24, 24 },
    { 90, 18, 8, 2, 5, 400, 8, 48, 48, FALSE, FALSE, 8, 40, 48 },  { 90, 18, 4, 2, 5, 400, 8, 24, 48, FALSE, FALSE, 4, 48, 48 },
    { 90, 18, 32, 1, 5, 100, 32, 12, 12, TRUE, FALSE, 8, 12, 12 }, { 100, 18, 8, 1, 5, 400, 8, 48, 96, TRUE, TRUE, 8, 48, 48 },
    { 80, 12, 8, 2, 4, 200, 8, 24, 30, FALSE, FALSE, 0, 0, 0 },    { 80, 12, 4, 2, 4, 100, 4, 12, 24, FALSE, FALSE, 0, 0, 0 },
    { 70, 6, 4, 2, 3, 100, 4, 12, 24, FALSE, FALSE, 0, 0, 0 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlSearchQuestion q = hgx_hopper (8, 2);
    q.capability = row[i].capability;
    q.nvlinks = row[i].links;
    q.nics = row[i].nics;
    q.gpus_per_switch = row[i].per;
    q.pcie_generation = row[i].generation;
    q.nic_Bps = row[i].nic_Gbps * 1e9 / 8.0;
    MdlSearch found;
    mdl_search (&cst_tuner_spec (release)->search, &q, &found);
    same_graph (&found.ring, row[i].ring_n, row[i].ring_GBps, row[i].ring_GBps);
    same_graph (&found.tree, row[i].ring_n, row[i].tree_GBps, row[i].ring_GBps);
    TEST_INT (found.one_gpu, row[i].one_gpu);
    TEST_INT (found.ring.inter, row[i].pxn ? MDL_PATH_PXN : MDL_PATH_PIX);
    TEST_INT (found.nvls.channels, row[i].heads);
    if (row[i].heads > 0)
      same_graph (&found.nvls, row[i].heads, row[i].nvls_intra_GBps, row[i].nvls_inter_GBps);
  }
}

/* Eight NICs give 16 channels, NVLS has 32 on Blackwell. Up to 2.21 enqueue.cc counts collChannels, which are taken before. */
static void
nvls_raises_the_channels_of_all_algorithms (void)
{
  static const struct {
    const char *version;
    unsigned capability, channels;
  } row[] = { { "2.21.5", 90, 16 }, { "2.26.2", 90, 16 }, { "2.26.2", 100, 32 }, { "2.30.7", 100, 32 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    g_autoptr (CstTuner) release = tuner_fixture (row[i].version);
    MdlSearchQuestion q = hgx_hopper (8, 2);
    q.capability = row[i].capability;
    MdlSearch found;
    mdl_search (&cst_tuner_spec (release)->search, &q, &found);
    TEST_INT (found.channels, row[i].channels);
    q.reduces = FALSE;
    mdl_search (&cst_tuner_spec (release)->search, &q, &found);
    TEST_INT (found.channels, 16);
  }
}

/* 15 x 48 = 720 is what the 18 NVLinks of a GPU carry at 40 each: 15 of the 72 NICs. NVLS has 32 heads and channels, not 30. */
static void
racks_have_few_rings_whatever_their_nics (void)
{
  g_autoptr (CstTuner) release = tuner_fixture ("2.26.2");
  MdlSearchQuestion q = hgx_hopper (72, 2);
  q.capability = 100;
  MdlSearch found;
  mdl_search (&cst_tuner_spec (release)->search, &q, &found);
  same_graph (&found.ring, 15, 48, 48);
  TEST_INT (found.nvls.channels, 32); /* heads, as mdl_nvls_heads has them for the price */
  TEST_INT (found.channels, 32);
}

/* Four of 48, few enough to be split. */
static void
nodes_with_four_400G_nics_have_eight_rings_of_24 (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 2);
  q.nics = 4;
  q.gpus_per_switch = 2;
  MdlSearch found = search (&q);
  same_graph (&found.ring, 8, 24, 24);
  TEST_INT (found.split, 2);
  TEST_FALSE (found.one_gpu);
}

/* Entering and leaving by one NIC costs NVLink once more: 8 x 48 = 384 is too much, 8 x 45 = 360 is not. */
static void
keeping_to_a_rail_costs_speed (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 2);
  q.same_rail = TRUE;
  MdlSearch found = search (&q);
  same_graph (&found.ring, 8, 45, 45);
  TEST_INT (found.ring.inter, MDL_PATH_PXN);
}

/* One ring of 48, split in two of 24: 4 channels, as more than 45 is asked for before the split. */
static void
one_gpu_a_node_has_its_nic_alone (void)
{
  const MdlSearchQuestion q = hgx_hopper (1, 16);
  MdlSearch found = search (&q);
  same_graph (&found.ring, 2, 24, 24);
  TEST_INT (found.channels, 4);
  TEST_TRUE (found.one_gpu);
  TEST_INT (found.ring.intra, MDL_PATH_LOC);
}

/* DGX-1V: six directed rings of one link, 20 GB/s. */
static void
a_mesh_has_the_rings_that_are_given (void)
{
  const MdlSearchQuestion q = { .gpus = 8,
                                .nodes = 1,
                                .capability = 70,
                                .nvlinks = 6,
                                .mesh_rings = 6,
                                .mesh_ring_Bps = 20e9,
                                .path = MDL_PATH_NVB,
                                .cpu = MDL_CPU_INTEL };
  MdlSearch found = search (&q);
  same_graph (&found.ring, 6, 20, 20);
  TEST_INT (found.channels, 12);
}

/* PCIe gen 4 x16 is 24. Under switches two rings of 12 beat one of 20; through an Intel host bridge 20 counts 24, and 12 14.4. */
static void
without_nvlink_pcie_and_the_processor_decide (void)
{
  MdlSearchQuestion q = { .gpus = 4, .nodes = 1, .capability = 80, .pcie_generation = 4, .pcie_lanes = 16, .path = MDL_PATH_PXB };
  MdlSearch found = search (&q);
  same_graph (&found.ring, 2, 12, 12);
  q.path = MDL_PATH_PHB;
  found = search (&q);
  same_graph (&found.ring, 1, 20, 20);
  q.path = MDL_PATH_SYS;
  q.cpu = MDL_CPU_AMD; /* 16 between sockets: 15, the next that two rings carry is 7 (14) */
  found = search (&q);
  same_graph (&found.ring, 1, 15, 15);
}

static void
sharp_has_a_head_a_nic (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 4);
  TEST_INT (search (&q).collnet_direct.channels, 0);
  q.collnet = TRUE;
  MdlSearch found = search (&q);
  TEST_INT (found.collnet_direct.channels, 8);
  TEST_INT (found.heads, 8);
  same_graph (&found.collnet_chain, 8, 48, 48);
  q.nics = 4;
  q.gpus_per_switch = 2;
  TEST_INT (search (&q).heads, 4);
}

static void
settings_bound_the_channels_in_use (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 1);
  q.max_channels = 4;
  TEST_INT (search (&q).channels, 16); /* NVLS raises them after NCCL_MAX_NCHANNELS */
  q.reduces = FALSE;
  MdlSearch found = search (&q);
  TEST_INT (found.channels, 4);
  TEST_INT (found.ring.channels, 12);
  q.max_channels = 0;
  q.min_channels = 100;
  TEST_INT (search (&q).channels, 64);
}

static void
one_rank_has_no_graph (void)
{
  const MdlSearchQuestion q = hgx_hopper (1, 1);
  MdlSearch found = search (&q);
  TEST_INT (found.ring.channels, 0);
  TEST_INT (found.channels, 1);
}

/* A wider link never carries less. */
static void
more_links_and_faster_nics_never_have_less (void)
{
  double before = 0.0;
  for (unsigned links = 1; links <= 36; links++) {
    MdlSearchQuestion q = hgx_hopper (8, 1);
    q.nvlinks = links;
    MdlSearch found = search (&q);
    double now = found.ring.channels * found.ring.intra_Bps;
    TEST_TRUE (now >= before * 0.999);
    TEST_TRUE (now <= links * 20.6e9 * 1.001);
    before = now;
  }
  before = 0.0;
  for (unsigned gbit = 10; gbit <= 400; gbit += 10) {
    MdlSearchQuestion q = hgx_hopper (8, 2);
    q.nic_Bps = gbit * 1e9 / 8.0;
    MdlSearch found = search (&q);
    double now = found.ring.channels * found.ring.inter_Bps;
    TEST_TRUE (now >= before * 0.999);
    TEST_TRUE (now <= 8 * q.nic_Bps * 1.001);
    before = now;
  }
}

/* A number below `n`, from a fixed sequence. */
static unsigned
next_below (guint32 *state, unsigned n)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % n;
}

static void
graph_is_sane (const MdlGraph *graph, unsigned most)
{
  TEST_TRUE (graph->channels <= most);
  if (graph->channels > 0)
    TEST_TRUE (isfinite (graph->intra_Bps) && graph->intra_Bps > 0.0 && isfinite (graph->inter_Bps) && graph->inter_Bps > 0.0);
}

/* Odd machines too: several ranks always have a ring and a tree, of finite rates, and as many of one as of the other. */
static void
every_machine_has_rings_and_trees (void)
{
  static const unsigned capabilities[] = { 60, 70, 75, 80, 86, 89, 90, 100, 120 };
  guint32 state = 1;
  for (unsigned i = 0; i < 20000; i++) {
    MdlSearchQuestion q = { .gpus = 1 + next_below (&state, 72), .nodes = 1 + next_below (&state, 5) };
    q.capability = capabilities[next_below (&state, G_N_ELEMENTS (capabilities))];
    q.nvlinks = next_below (&state, 20);
    q.switched = next_below (&state, 2) > 0;
    q.reduces = next_below (&state, 2) > 0;
    q.mesh_rings = q.switched ? 0 : next_below (&state, 9);
    q.mesh_ring_Bps = next_below (&state, 60) * 1e9;
    q.pcie_generation = next_below (&state, 8);
    q.pcie_lanes = next_below (&state, 17);
    q.gpus_per_switch = next_below (&state, 5);
    q.path = (MdlPath)next_below (&state, MDL_PATH_N);
    q.nics = q.nodes > 1 ? next_below (&state, 33) : 0;
    q.nic_Bps = next_below (&state, 1000) * 1e8;
    q.nic_path = (MdlPath)next_below (&state, MDL_PATH_N);
    q.no_pxn = next_below (&state, 2) > 0;
    q.same_rail = next_below (&state, 2) > 0;
    q.collnet = next_below (&state, 2) > 0;
    q.cpu = (MdlCpu)next_below (&state, MDL_CPU_N);
    q.cpu_model = (MdlCpuModel)next_below (&state, MDL_CPU_MODEL_N);
    q.max_channels = next_below (&state, 4) * 7;
    MdlSearch found = search (&q);
    if (q.gpus * q.nodes < 2)
      continue;
    TEST_TRUE (found.ring.channels >= 1 && found.ring.channels == found.tree.channels && found.channels >= 1);
    TEST_TRUE (found.channels <= 64);
    graph_is_sane (&found.ring, 32);
    graph_is_sane (&found.tree, 32);
    graph_is_sane (&found.nvls, MIN (32, q.gpus));
    graph_is_sane (&found.collnet_direct, 8);
    graph_is_sane (&found.collnet_chain, 32);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "eight Hopper GPUs have twelve rings of 30 and 24 channels", eight_hopper_gpus_have_twelve_rings_of_30_and_24_channels },
    { "two GPUs have faster trees than rings", two_gpus_have_faster_trees_than_rings },
    { "three GPUs turn their chains", three_gpus_turn_their_chains },
    { "NVLS has a head a GPU", nvls_has_a_head_a_gpu },
    { "NVLS is not found where switches do not reduce", nvls_is_not_found_where_switches_do_not_reduce },
    { "A100 has twelve rings of 20", a100_has_twelve_rings_of_20 },
    { "B200 has sixteen rings of 45", b200_has_sixteen_rings_of_45 },
    { "nodes with a 400G NIC a GPU have eight rings of 48", nodes_with_a_400G_nic_a_gpu_have_eight_rings_of_48 },
    { "NVLS over nodes prefers more heads", nvls_over_nodes_prefers_more_heads },
    { "a rack has fifteen rings and 32 heads", a_rack_has_fifteen_rings_and_32_heads },
    { "nodes with a 200G NIC a GPU have eight rings of 24", nodes_with_a_200G_nic_a_gpu_have_eight_rings_of_24 },
    { "graphs are those that NCCL finds", graphs_are_those_that_nccl_finds },
    { "NVLS raises the channels of all algorithms", nvls_raises_the_channels_of_all_algorithms },
    { "racks have few rings, whatever their NICs", racks_have_few_rings_whatever_their_nics },
    { "a port for all GPUs carries one ring", a_port_for_all_gpus_carries_one_ring },
    { "nodes with four 400G NICs have eight rings of 24", nodes_with_four_400G_nics_have_eight_rings_of_24 },
    { "keeping to a rail costs speed", keeping_to_a_rail_costs_speed },
    { "one GPU a node has its NIC alone", one_gpu_a_node_has_its_nic_alone },
    { "a mesh has the rings that are given", a_mesh_has_the_rings_that_are_given },
    { "without NVLink PCIe and the processor decide", without_nvlink_pcie_and_the_processor_decide },
    { "SHARP has a head a NIC", sharp_has_a_head_a_nic },
    { "settings bound the channels in use", settings_bound_the_channels_in_use },
    { "one rank has no graph", one_rank_has_no_graph },
    { "every machine has rings and trees", every_machine_has_rings_and_trees },
    { "more links and faster NICs never have less", more_links_and_faster_nics_never_have_less },
    { NULL, NULL },
  };
  constants = tuner_fixture ("2.30.7");
  if (constants == NULL)
    return 1;
  int status = test_main ("models: graph search", cases);
  cst_tuner_free (constants);
  return status;
}
