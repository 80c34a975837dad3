/* What NCCL's graph search finds on a node whose GPUs are alike.
 *
 * The search puts channels (orders of the GPUs, between NICs) on the links one after another, all with one speed s from a list, and
 * keeps the speed with the largest channels x s, the first found where equal. On alike GPUs the most loaded link decides how many
 * channels k of speed s there are, so that the largest k which fits is
 *
 *     ring, one node      k s <= C                    C: NVLink of one GPU (scale-up switch); rings the caller found, in a mesh;
 *                         k s f <= P                  PCIe of one GPU, f: Intel's host bridge; k s <= Q between sockets
 *     ring, nodes         k <= NICs x floor (R / s)   R: rate of one NIC; ceil (k / ends) s <= P at each GPU beside a NIC
 *                         (k - floor (k / G)) s <= C  G GPUs: each is the last of some rings, which leave by its NIC
 *     tree                as many as rings; a chain ends where a ring goes on: 2 GPUs of one node carry half of the chains each,
 *                         3 behind a switch three quarters at most
 *     NVLS                (k - 1 + h) s <= C          k heads; h: what the head's own link counts
 *
 * Then channels of s >= 25 GB/s are split in two (not above Ampere if s < 50 and there are many), what a tree or NVLS head may do
 * better inside or outside the node is raised along the list, and kernels get two channels for each of the search.
 *
 * Units: B/s, one way. Source: NCCL commit 5067397c, src/graph/search.cc:ncclTopoCompute, ncclTopoSearchRecGpu,
 * ncclTopoSearchTryNvls, ncclTopoSearchTryCollnetDirect, ncclTopoDupChannels; src/graph/connect.cc:ncclTopoPostset;
 * src/graph/topo.h (rates).
 * Valid: nodes alike, GPUs alike, NICs spread evenly; NCCL gives up a search after a number of steps, so that an uneven assignment
 * that only a long search finds is taken for impossible here. Meshes: the rings are the caller's.
 * Check: tests/unit/test_models_search.c: 8x H200 12 x 30 GB/s, as measured. */
#include "models/search.h"

#include <math.h>
#include <string.h>

#include "models/library-spec.h"

typedef struct {
  const MdlSearchSpec *spec;
  const MdlSearchQuestion *q;
  const BaseNums *speeds;
  double nvlink_Bps;   /* C; 0: none behind a switch */
  double mesh_Bps;     /* all NVLinks of a GPU, in a mesh */
  double pcie_Bps;     /* P; INFINITY: not known */
  double socket_Bps;   /* Q */
  double p2p, nic_p2p; /* f between GPUs, between GPU and NIC */
  double max_Bps, total_Bps;
  unsigned ends; /* GPUs by which rings enter or leave the node */
  gboolean inter;
} Node;

typedef gboolean (*Fits) (const Node *node, unsigned k, double intra_Bps, double inter_Bps);

const char *
mdl_path_name (MdlPath path)
{
  static const char *const names[MDL_PATH_N] = { "LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET" };
  return path < MDL_PATH_N ? names[path] : "?";
}

MdlGeneration
mdl_generation (unsigned capability)
{
  return capability >= 100  ? MDL_GENERATION_BLACKWELL
         : capability >= 90 ? MDL_GENERATION_HOPPER
         : capability >= 80 ? MDL_GENERATION_AMPERE
                            : MDL_GENERATION_VOLTA;
}

double
mdl_search_nvlink_Bps (const MdlSearchSpec *spec, unsigned capability)
{
  double rate_Bps = 0.0;
  for (unsigned i = 0; i < spec->nvlink.n; i++) {
    const MdlNvlinkRow *row = BASE_LIST_AT (spec->nvlink, MdlNvlinkRow, i);
    if (i == 0 || capability >= row->capability.v)
      rate_Bps = row->rate.v;
  }
  return rate_Bps;
}

static double
by_capability (const MdlByCapability *number, unsigned capability)
{
  return capability >= 100 ? number->from_100.v : capability >= 90 ? number->from_90.v : number->below_90.v;
}

/* How many loads of `each` a capacity carries. The share on top is for decimal fractions that are not exact in binary. */
static double
times (double capacity, double each)
{
  return floor (capacity / each * (1.0 + 1e-12));
}

static gboolean
carries (double capacity, double load)
{
  return load <= capacity * (1.0 + 1e-12);
}

static double
socket_Bps (const MdlSearchSpec *spec, const MdlSearchQuestion *q)
{
  const MdlSocketRates *rates = &spec->sockets;
  switch (q->cpu) {
    case MDL_CPU_INTEL:
      return rates->socket.n > 0 ? rates->socket.item[MIN ((unsigned)q->cpu_model, rates->socket.n - 1)].v : rates->other.v;
    case MDL_CPU_AMD:
      return rates->amd.v;
    case MDL_CPU_ARM:
      return rates->arm.v;
    case MDL_CPU_POWER:
      return rates->power.v;
    default:
      return rates->other.v;
  }
}

/* Whether a GPU's neighbour reaches the GPU's NIC as well as it does itself. */
static gboolean
shares_nics (const MdlSearchQuestion *q)
{
  return q->gpus_per_switch >= 2 || q->nic_path >= MDL_PATH_PHB;
}

static Node
node_of (const MdlSearchSpec *spec, const MdlSearchQuestion *q)
{
  Node node = { .spec = spec, .q = q, .inter = q->nodes > 1 && q->nics > 0 };
  const MdlSpeeds *lists = node.inter ? &spec->nodes : &spec->one_node;
  node.speeds = q->capability >= 100 ? &lists->from_100 : q->capability >= 90 ? &lists->from_90 : &lists->below_90;
  double links_Bps = q->nvlinks * mdl_search_nvlink_Bps (spec, q->capability);
  node.nvlink_Bps = q->switched ? links_Bps : 0.0;
  node.mesh_Bps = q->switched ? 0.0 : links_Bps;
  node.pcie_Bps = HUGE_VAL;
  if (q->pcie_generation > 0 && spec->pcie_lane.n > 0)
    node.pcie_Bps = q->pcie_lanes * spec->pcie_lane.item[MIN (q->pcie_generation, spec->pcie_lane.n) - 1].v;
  node.socket_Bps = socket_Bps (spec, q);
  gboolean intel = q->cpu == MDL_CPU_INTEL;
  /* two GPUs of one socket go through its bridge; of two PCIe switches each is on its own socket */
  gboolean bridge = q->path == MDL_PATH_PHB || (q->path > MDL_PATH_PHB && q->gpus > 2 * MAX (1, q->gpus_per_switch));
  node.p2p = intel && bridge ? spec->sockets.intel_p2p.v : 1.0;
  node.nic_p2p = intel && q->nic_path == MDL_PATH_PHB ? spec->sockets.intel_p2p.v : 1.0;
  node.ends = MAX (1, MIN (q->gpus, q->nics * MAX (1, q->gpus_per_switch)));
  if (shares_nics (q))
    node.ends = MAX (1, q->gpus);
  node.total_Bps = links_Bps > 0.0 ? links_Bps : node.pcie_Bps;
  if (node.inter)
    node.max_Bps = MIN (node.pcie_Bps, q->nic_Bps);
  else
    node.max_Bps = q->switched ? node.nvlink_Bps : q->mesh_rings > 0 ? q->mesh_ring_Bps : node.pcie_Bps;
  return node;
}

/* NICs, and the PCIe of GPUs beside them. `both`: some of these get from a NIC and send to one. */
static gboolean
network_fits (const Node *node, unsigned k, double inter_Bps, gboolean both)
{
  const MdlSearchQuestion *q = node->q;
  if (!node->inter)
    return TRUE;
  if (k > q->nics * times (q->nic_Bps, inter_Bps))
    return FALSE;
  unsigned entries = MIN (q->nics, q->gpus);
  double at_one = ceil ((double)k / entries) * inter_Bps;
  double reply = both && q->capability < 80 ? 1.0 + node->spec->reply.v : 1.0;
  return carries (node->pcie_Bps, at_one * node->nic_p2p * reply) &&
         (q->nic_path < MDL_PATH_SYS || carries (node->socket_Bps, k * inter_Bps));
}

/* What k channels put on one GPU and, one way, between sockets. */
typedef struct {
  double through; /* channels that the most loaded GPU passes on inside the node */
  double out;     /* channels that it sends to the NIC besides, where that is by the same link */
  double across;  /* channels between sockets */
} Load;

/* Neighbours inside a node. */
static gboolean
inside_fits (const Node *node, unsigned k, Load load, double intra_Bps, double inter_Bps)
{
  const MdlSearchQuestion *q = node->q;
  if (q->gpus < 2)
    return TRUE;
  if (q->switched && node->nvlink_Bps > 0.0)
    return carries (node->nvlink_Bps, load.through * intra_Bps);
  if (q->mesh_rings > 0)
    return k <= q->mesh_rings * times (q->mesh_ring_Bps, intra_Bps);
  return carries (node->pcie_Bps, load.through * intra_Bps * node->p2p + load.out * inter_Bps) &&
         (q->path < MDL_PATH_SYS || carries (node->socket_Bps, load.across * intra_Bps));
}

/* Whether a ring's last GPU can reach the first one's NIC over NVLink alone. */
static gboolean
can_return (const Node *node)
{
  const MdlSearchQuestion *q = node->q;
  return node->inter && q->gpus > 1 && !shares_nics (q) && !q->no_pxn && q->nvlinks > 0.0;
}

/* A ring that must leave by the NIC by which it came goes back to that NIC's GPU over NVLink. */
static gboolean
must_return (const Node *node)
{
  return can_return (node) && (node->q->same_rail || node->q->nics == 1);
}

static double
half (unsigned k)
{
  return ceil (k / 2.0);
}

/* On one node a ring crosses to the other socket and back, between nodes it may leave there (not through AMD's processors). */
static gboolean
ring_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps)
{
  const MdlSearchQuestion *q = node->q;
  Load load = { .through = k, .across = node->inter && q->nics > 1 && !q->same_rail && q->cpu != MDL_CPU_AMD ? half (k) : k };
  if (node->inter && node->nvlink_Bps > 0.0 && node->ends == q->gpus && !must_return (node))
    load.through -= floor ((double)k / q->gpus);
  return network_fits (node, k, inter_Bps, 2 * k > node->ends) && inside_fits (node, k, load, intra_Bps, inter_Bps);
}

/* NCCL 2.28.9 on 3 H200, "Trees": 12 chains of 40 GB/s, 6 + 3 + 3. From four GPUs on the search gives up before it finds such an
 * order. */
const double mdl_search_turned_share[MDL_SEARCH_TURNED_GPUS] = { 0.5, 0.25, 0.25 };

gboolean
mdl_search_turns_chains (unsigned gpus, gboolean one_node, gboolean switched)
{
  return one_node && gpus == MDL_SEARCH_TURNED_GPUS && switched;
}

static gboolean
has_turned_chains (const Node *node)
{
  return mdl_search_turns_chains (node->q->gpus, !node->inter, node->q->switched);
}

/* Chains of which the last GPU sends to nobody; `out`: share of the traffic with the NIC that one GPU has. */
static gboolean
tree_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps, double out)
{
  const MdlSearchQuestion *q = node->q;
  Load load = { .through = k, .out = node->inter ? k * out : 0.0, .across = half (k) };
  if (node->inter ? node->nvlink_Bps > 0.0 && node->ends == q->gpus : q->gpus == 2)
    load.through -= floor ((double)k / q->gpus);
  else if (has_turned_chains (node)) /* the busiest GPU sends in all but those that it ends */
    load.through -= floor (k * mdl_search_turned_share[MDL_SEARCH_TURNED_GPUS - 1]);
  return network_fits (node, k, inter_Bps, out >= 1.0) && inside_fits (node, k, load, intra_Bps, inter_Bps);
}

/* All of a tree's traffic with the NIC by the GPU beside it. */
static gboolean
simple_tree_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps)
{
  return tree_fits (node, k, intra_Bps, inter_Bps, 1.0);
}

/* The first two GPUs of a chain have half each. */
static gboolean
balanced_tree_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps)
{
  return tree_fits (node, k, intra_Bps, inter_Bps, 0.5);
}

/* The same where the second GPU's half goes to the first one's NIC by NVLink. */
static gboolean
pxn_tree_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps)
{
  const MdlSearchQuestion *q = node->q;
  if (!balanced_tree_fits (node, k, intra_Bps, inter_Bps))
    return FALSE;
  double through = k - (node->ends == q->gpus ? floor ((double)k / q->gpus) : 0.0);
  double back = ceil ((double)k / MIN (q->nics, q->gpus)) / 2.0;
  return !q->switched || carries (node->nvlink_Bps, through * intra_Bps + back * inter_Bps);
}

static gboolean
nvls_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps)
{
  return network_fits (node, k, inter_Bps, TRUE) && carries (node->nvlink_Bps, (k - 1.0 + node->spec->head_cost.v) * intra_Bps);
}

/* A head sends a part to each other GPU and gets one from each. */
static gboolean
direct_fits (const Node *node, unsigned k, double intra_Bps, double inter_Bps)
{
  Load load = { .through = 1.0 + (k - 1.0) / MAX (1, node->q->gpus - 1), .out = ceil ((double)k / node->ends), .across = half (k) };
  return network_fits (node, k, inter_Bps, TRUE) && inside_fits (node, k, load, intra_Bps, inter_Bps);
}

static double
speed (const Node *node, unsigned i)
{
  return node->speeds->item[i].v;
}

/* Where the list begins: no path and no GPU carries more. */
static unsigned
first_speed (const Node *node, unsigned min_channels, double total_Bps)
{
  unsigned i = 0;
  while (i + 1 < node->speeds->n && (speed (node, i) > node->max_Bps || speed (node, i) * min_channels > total_Bps))
    i++;
  return i;
}

/* Channels of that speed; 0: not even `min` fit. */
static unsigned
most_that_fit (const Node *node, Fits fits, unsigned min, unsigned max, double speed_Bps)
{
  unsigned k = max;
  while (k >= min && k > 0 && !fits (node, k, speed_Bps, speed_Bps))
    k--;
  return k >= min ? k : 0;
}

/* The best channels x speed from `min` to `max` channels; channels 0 when there is none. */
static void
find_best (const Node *node, Fits fits, unsigned min, unsigned max, double total_Bps, MdlGraph *graph)
{
  double best_Bps = 0.0;
  graph->channels = 0;
  for (unsigned i = first_speed (node, min, total_Bps); i < node->speeds->n; i++) {
    double s = speed (node, i);
    if (graph->channels > 0 && s / graph->inter_Bps <= node->spec->slower.v)
      break;
    unsigned k = most_that_fit (node, fits, min, max, s);
    if (k * s > best_Bps) {
      best_Bps = k * s;
      graph->channels = k;
      graph->intra_Bps = graph->inter_Bps = s;
      if (k == max || best_Bps >= node->total_Bps)
        break;
    }
  }
}

/* More heads are better than faster ones. */
static void
find_heads (const Node *node, unsigned min, unsigned max, MdlGraph *graph)
{
  graph->channels = 0;
  double total_Bps = node->total_Bps * node->q->gpus / MAX (1, node->q->gpus - 1);
  for (unsigned i = first_speed (node, min, total_Bps); i < node->speeds->n && graph->channels < max; i++) {
    double s = speed (node, i);
    if (graph->channels > 0 && s / graph->inter_Bps <= node->spec->slower.v)
      break;
    unsigned k = most_that_fit (node, nvls_fits, min, max, s);
    if (k > graph->channels || k * s > graph->channels * graph->inter_Bps) {
      graph->channels = k;
      graph->intra_Bps = graph->inter_Bps = s;
    }
  }
}

/* Goes up the list from what was found while the node (`outside` FALSE) or the network still carries it, to below twice of the
 * other. */
static void
raise_speed (const Node *node, Fits fits, gboolean outside, MdlGraph *graph)
{
  unsigned i = 0;
  while (i + 1 < node->speeds->n && speed (node, i) > graph->inter_Bps)
    i++;
  for (; i > 0 && graph->channels > 0; i--) {
    double s = speed (node, i - 1);
    if (outside ? graph->inter_Bps >= 2.0 * graph->intra_Bps : graph->intra_Bps >= 2.0 * graph->inter_Bps)
      break;
    double intra_Bps = outside ? graph->intra_Bps : s, inter_Bps = outside ? s : graph->inter_Bps;
    if (!fits (node, graph->channels, intra_Bps, inter_Bps))
      break;
    graph->intra_Bps = intra_Bps;
    graph->inter_Bps = inter_Bps;
  }
}

/* Returns the parts that each channel was split in. */
static unsigned
split (const Node *node, unsigned max, MdlGraph *graph)
{
  const MdlSearchSpec *spec = node->spec;
  if (graph->channels == 0 || graph->intra_Bps < spec->split_from.v)
    return 1;
  if (node->q->capability > 80 && graph->intra_Bps < spec->split_to.v && graph->channels > spec->split_few.v)
    return 1;
  unsigned n = MIN (2 * graph->channels, max);
  unsigned parts = (n + graph->channels - 1) / graph->channels;
  graph->channels = n;
  graph->intra_Bps /= parts;
  graph->inter_Bps /= parts;
  return parts;
}

static void
fall_back (const Node *node, MdlGraph *graph)
{
  graph->channels = 1;
  graph->intra_Bps = graph->inter_Bps = node->spec->fallback.v;
  graph->intra = graph->inter = MDL_PATH_SYS;
}

static void
find_ring (const Node *node, MdlSearch *out)
{
  const MdlSearchQuestion *q = node->q;
  MdlGraph *ring = &out->ring;
  ring->intra = q->path;
  ring->inter = node->inter ? q->nic_path : MDL_PATH_LOC;
  unsigned max = (unsigned)node->spec->max_search.v;
  out->split = 1;
  find_best (node, ring_fits, 1, max, node->total_Bps, ring);
  /* going back to the NIC is tried before leaving by another */
  if (must_return (node) || (can_return (node) && carries (node->nvlink_Bps, ring->channels * ring->intra_Bps)))
    ring->inter = MAX (ring->inter, MDL_PATH_PXN);
  /* behind a switch, a PCIe tree or a single NIC one order serves all channels */
  ring->same = ring->channels <= 1 || (node->inter ? q->nics == 1 : q->switched || q->mesh_rings == 0);
  if (ring->channels > 0)
    out->split = split (node, max, ring);
  else
    fall_back (node, ring);
}

static void
find_tree (const Node *node, MdlSearch *out)
{
  const MdlSearchQuestion *q = node->q;
  MdlGraph *tree = &out->tree;
  *tree = out->ring;
  tree->inter = node->inter ? q->nic_path : MDL_PATH_LOC;
  Fits fits = q->gpus > 1 ? balanced_tree_fits : simple_tree_fits;
  out->one_gpu = q->gpus == 1;
  if (node->inter && q->gpus > 1 && !shares_nics (q)) {
    if (q->capability >= node->spec->simpler_tree.v) {
      out->one_gpu = TRUE;
      fits = simple_tree_fits;
    } else if (q->nvlinks > 0.0 && !q->no_pxn && q->nic_path <= MDL_PATH_PXB) {
      fits = pxn_tree_fits;
      tree->inter = MDL_PATH_PXN;
    } else
      tree->inter = MAX (q->nic_path, MDL_PATH_PHB);
  }
  double total_Bps = node->total_Bps * (q->gpus > 1 ? q->gpus / (q->gpus - 1.0) : 1.0);
  unsigned k = out->ring.channels;
  find_best (node, fits, k, k, total_Bps, tree);
  if (tree->channels == 0)
    fall_back (node, tree);
  else
    raise_speed (node, fits, FALSE, tree);
  tree->same = q->switched && !node->inter && q->gpus > 2 && !has_turned_chains (node);
}

static void
find_collnet (const Node *node, MdlSearch *out)
{
  const MdlSearchQuestion *q = node->q;
  MdlGraph *chain = &out->collnet_chain, *direct = &out->collnet_direct;
  if (!q->collnet || !node->inter)
    return;
  chain->intra = direct->intra = q->path;
  chain->inter = direct->inter = q->nic_path;
  double total_Bps = node->total_Bps * (q->gpus > 1 ? q->gpus / (q->gpus - 1.0) : 1.0);
  find_best (node, simple_tree_fits, out->ring.channels, out->ring.channels, total_Bps, chain);
  raise_speed (node, simple_tree_fits, FALSE, chain);
  unsigned max = MIN ((unsigned)node->spec->direct_heads.v, q->gpus);
  find_best (node, direct_fits, 1, MIN (max, q->nics), total_Bps, direct);
  out->heads = direct->channels;
  if (split (node, max, direct) == 1) /* parts share their heads, so that a search for as many finds none */
    raise_speed (node, direct_fits, FALSE, direct);
}

static void
find_nvls (const Node *node, MdlSearch *out)
{
  const MdlSearchSpec *spec = node->spec;
  const MdlSearchQuestion *q = node->q;
  MdlGraph *nvls = &out->nvls;
  if (!q->reduces || !q->switched || q->nvlinks <= 0.0 || q->capability < spec->nvls_capability.v || q->gpus < spec->nvls_gpus.v)
    return;
  unsigned max = MIN ((unsigned)spec->nvls_heads.v, q->gpus);
  find_heads (node, node->inter ? 1 : max, node->inter ? MIN (max, q->nics) : max, nvls);
  if (nvls->channels == 0)
    return;
  nvls->intra = MDL_PATH_NVL;
  nvls->inter = node->inter ? q->nic_path : MDL_PATH_LOC;
  raise_speed (node, nvls_fits, TRUE, nvls);
  out->nvls_channels = (unsigned)by_capability (node->inter ? &spec->nvls_channels_nodes : &spec->nvls_channels, q->capability);
}

/* Channels that kernels run on. */
static unsigned
in_use (const Node *node, const MdlSearch *found)
{
  const MdlSearchSpec *spec = node->spec;
  const MdlSearchQuestion *q = node->q;
  unsigned most = (unsigned)spec->max_channels.v;
  unsigned n = MIN (most, (unsigned)spec->duplicate.v * MIN (found->ring.channels, found->tree.channels));
  if (found->collnet_chain.channels > 0 && found->collnet_chain.intra_Bps > found->collnet_chain.inter_Bps && q->gpus > 1)
    n = MIN (most, (unsigned)(n * spec->collnet_more.v));
  if (q->capability >= spec->more_capability.v && node->inter && found->ring.intra_Bps > spec->more_from.v &&
      n < spec->more_below.v)
    n *= 2;
  if (q->max_channels > 0)
    n = MIN (n, q->max_channels);
  n = MAX (n, q->min_channels);
  if (spec->nvls_raises.v > 0.0)
    n = MAX (n, found->nvls_channels); /* NCCL does so after its limits */
  return MIN (most, n);
}

void
mdl_search (const MdlSearchSpec *spec, const MdlSearchQuestion *question, MdlSearch *out)
{
  memset (out, 0, sizeof *out);
  out->split = 1;
  out->channels = 1;
  if (question->gpus * question->nodes < 2)
    return;
  MdlSearchQuestion known = *question;
  if (known.nic_path == MDL_PATH_P2C && !(spec->p2c.v > 0.0))
    known.nic_path = MDL_PATH_PHB;
  const Node node = node_of (spec, &known);
  if (node.speeds->n == 0)
    return;
  find_ring (&node, out);
  find_tree (&node, out);
  unsigned k = MIN (out->ring.channels, out->tree.channels);
  out->ring.channels = out->tree.channels = k;
  find_collnet (&node, out);
  find_nvls (&node, out);
  out->channels = in_use (&node, out);
  out->latency_inter_s = node.inter ? known.nic_latency_s : 0.0;
}

static void
take_graph (const MdlGraphSpec *spec, MdlGraph *graph)
{
  if (!spec->head.set) {
    *graph = (MdlGraph){ 0 };
    return;
  }
  graph->channels = (unsigned)spec->channels.v;
  graph->intra_Bps = spec->intra.v;
  graph->inter_Bps = spec->inter.v;
  graph->same = spec->same.v;
  for (MdlPath path = 0; path < MDL_PATH_N; path++) {
    if (g_strcmp0 (spec->path_intra.v, mdl_path_name (path)) == 0)
      graph->intra = path;
    if (g_strcmp0 (spec->path_inter.v, mdl_path_name (path)) == 0)
      graph->inter = path;
  }
}

gboolean
mdl_search_take (const MdlLibrary *library, unsigned gpus, unsigned nodes, MdlSearch *search)
{
  const MdlGraphsSpec *graphs = &library->graphs;
  if (!graphs->head.set || graphs->gpus.v != gpus || (graphs->nodes.set && graphs->nodes.v != nodes))
    return FALSE;
  take_graph (&graphs->ring, &search->ring);
  take_graph (&graphs->tree, &search->tree);
  take_graph (&graphs->nvls, &search->nvls);
  take_graph (&graphs->collnet_direct, &search->collnet_direct);
  take_graph (&graphs->collnet_chain, &search->collnet_chain);
  return TRUE;
}
