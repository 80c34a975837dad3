/* Rings: the search for lane-disjoint cycles, and orders over nodes, meshes, PCIe trees and NICs. */
#include <string.h>

#include "base/random.h"
#include "cluster/rings.h"
#include "harness.h"

/* --- the search */

#define MAX_RINGS 64u

/* Rings found, or 0 with a failed check when one visits a GPU twice or two take the same lane. */
static guint32
rings_checked (const guint32 *lanes, guint32 n, guint32 max)
{
  guint32 orders[MAX_RINGS * 16], used[16 * 16] = { 0 };
  guint32 found = clu_hamiltonian_rings (lanes, n, max, orders);
  gboolean ok = found <= max;
  for (guint32 r = 0; ok && r < found; r++) {
    guint32 seen = 0;
    for (guint32 i = 0; i < n; i++) {
      guint32 a = orders[r * n + i], b = orders[r * n + (i + 1) % n];
      ok = ok && a < n && ++used[a * n + b] <= lanes[a * n + b];
      seen |= 1u << a;
    }
    ok = ok && seen == (1u << n) - 1;
  }
  TEST_TRUE (ok);
  return ok ? found : 0;
}

static guint32
full_mesh_rings (guint32 n, guint32 lanes_a_pair)
{
  guint32 lanes[16 * 16];
  for (guint32 i = 0; i < n * n; i++)
    lanes[i] = i / n == i % n ? 0 : lanes_a_pair;
  return rings_checked (lanes, n, MAX_RINGS);
}

static void
set_lanes (guint32 *lanes, guint32 n, guint32 a, guint32 b, guint32 count)
{
  lanes[a * n + b] = lanes[b * n + a] = count;
}

/* `nvidia-smi topo -m` of a DGX-1 with V100: six NVLinks a GPU. */
static const guint32 dgx1v[][3] = { { 0, 1, 1 }, { 0, 2, 1 }, { 0, 3, 2 }, { 0, 4, 2 }, { 1, 2, 2 }, { 1, 3, 1 },
                                    { 1, 5, 2 }, { 2, 3, 2 }, { 2, 6, 1 }, { 3, 7, 1 }, { 4, 5, 1 }, { 4, 6, 1 },
                                    { 4, 7, 2 }, { 5, 6, 2 }, { 5, 7, 1 }, { 6, 7, 2 } };

static void
test_dgx1v (void)
{
  guint32 lanes[64] = { 0 };
  for (gsize i = 0; i < G_N_ELEMENTS (dgx1v); i++)
    set_lanes (lanes, 8, dgx1v[i][0], dgx1v[i][1], dgx1v[i][2]);
  TEST_INT (rings_checked (lanes, 8, MAX_RINGS), 6); /* six lanes a GPU, all used */
  TEST_INT (rings_checked (lanes, 8, 4), 4);         /* no more than asked for */
}

static void
test_dgx1p (void)
{
  guint32 lanes[64] = { 0 };
  for (guint32 i = 0; i < 4; i++) {
    set_lanes (lanes, 8, i, i + 4, 1);
    for (guint32 j = 0; j < i; j++) {
      set_lanes (lanes, 8, i, j, 1);
      set_lanes (lanes, 8, i + 4, j + 4, 1);
    }
  }
  TEST_INT (rings_checked (lanes, 8, MAX_RINGS), 4); /* four lanes a GPU, and four across the quads */
}

/* A complete digraph of n has n - 1 cycles, but for n = 4 and 6 (Tillson 1980), where one fewer is left. */
static void
test_full_meshes (void)
{
  for (guint32 n = 2; n <= 16; n++)
    TEST_INT (full_mesh_rings (n, 1), n == 4 || n == 6 ? n - 2 : n - 1);
}

/* With two lanes a pair K4 has 6 lanes a GPU and three undirected cycles, each edge in two of them: 6 directed rings. Gaudi:
 * three lanes to each of seven peers, 21 rings. */
static void
test_several_lanes_a_pair (void)
{
  TEST_INT (full_mesh_rings (4, 2), 6);
  TEST_INT (full_mesh_rings (6, 2), 10);
  TEST_INT (full_mesh_rings (8, 3), 21);
  TEST_INT (full_mesh_rings (2, 4), 4);
  TEST_INT (full_mesh_rings (2, 1000), MAX_RINGS);
}

static void
test_torus_and_hypercube (void)
{
  guint32 torus[256] = { 0 }, cube[256] = { 0 }, cube3[64] = { 0 };
  for (guint32 i = 0; i < 16; i++) {
    set_lanes (torus, 16, i, i / 4 * 4 + (i + 1) % 4, 1);
    set_lanes (torus, 16, i, (i + 4) % 16, 1);
    for (guint32 bit = 1; bit < 16; bit *= 2) {
      set_lanes (cube, 16, i, i ^ bit, 1);
      if (i < 8 && bit < 8)
        set_lanes (cube3, 8, i, i ^ bit, 1);
    }
  }
  TEST_INT (rings_checked (torus, 16, MAX_RINGS), 4);
  TEST_INT (rings_checked (cube, 16, MAX_RINGS), 4);
  TEST_INT (rings_checked (cube3, 8, MAX_RINGS), 2); /* three lanes a GPU, but no three cycles: the search is exhaustive here */
}

static void
test_meshes_without_a_ring (void)
{
  guint32 pairs[64] = { 0 }, petersen[100] = { 0 };
  for (guint32 i = 0; i < 8; i += 2)
    set_lanes (pairs, 8, i, i + 1, 4);
  TEST_INT (rings_checked (pairs, 8, MAX_RINGS), 0);
  for (guint32 i = 0; i < 5; i++) { /* 3-regular, connected, and famous for having no Hamiltonian cycle */
    set_lanes (petersen, 10, i, (i + 1) % 5, 1);
    set_lanes (petersen, 10, i, i + 5, 1);
    set_lanes (petersen, 10, i + 5, 5 + (i + 2) % 5, 1);
  }
  TEST_INT (rings_checked (petersen, 10, MAX_RINGS), 0);
  TEST_INT (clu_hamiltonian_rings (pairs, 1, MAX_RINGS, petersen), 0);
  TEST_INT (clu_hamiltonian_rings (pairs, 8, 0, petersen), 0);
}

static void
test_same_lanes_same_rings (void)
{
  guint32 lanes[256], a[MAX_RINGS * 16], b[MAX_RINGS * 16];
  for (guint32 i = 0; i < 256; i++)
    lanes[i] = i / 16 == i % 16 ? 0 : 1;
  guint32 n = clu_hamiltonian_rings (lanes, 16, MAX_RINGS, a);
  TEST_INT (clu_hamiltonian_rings (lanes, 16, MAX_RINGS, b), n);
  TEST_INT (memcmp (a, b, n * 16 * sizeof *a), 0);
}

/* --- orders over a cluster */

#define LINK "{class: {link_class: wire, lane_rate: 25 GB/s, latency: 1 us}}"
#define GPU(lanes) \
  "{gpu: g, scale_up: {class: {link_class: w, lane_rate: 25 GB/s, latency: 1 us}, lanes: " lanes "}, pcie: " LINK "}"
#define PCIE        "pcie: {link: {class: {link_class: p, family: pcie, lane_rate: 1 GB/s, lanes: 16}}, "
#define NICS(count) "nics: {count: " count ", type: {nic: n, port: " LINK ", pcie: " LINK "}}"

static Clu *
cluster (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  BaseYaml *yaml = base_yaml_load_data ("t.yaml", text, strlen (text), &error);
  Clu *clu = yaml == NULL ? NULL : clu_load_yaml (yaml, lookup, NULL, NULL, warnings, &error);
  if (clu == NULL)
    TEST_STR (error->message, "");
  return clu;
}

/* Rings over GPUs 0..n-1, or over `gpus`. */
static CluRings *
rings_of (const Clu *clu, const guint32 *gpus, guint32 n, const CluDegrade *degrade)
{
  g_autofree guint32 *all = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    all[i] = gpus != NULL ? gpus[i] : i;
  CluRings *rings = NULL;
  g_autoptr (GError) error = NULL;
  if (clu == NULL || !clu_rings_find (clu, all, n, degrade, &rings, &error)) {
    TEST_STR (error == NULL ? "no cluster" : error->message, "");
    return NULL;
  }
  double sum = 0;
  for (guint32 k = 0; k < rings->n_rings; k++)
    sum += rings->ring[k].share;
  TEST_NEAR (sum, 1, 1e-12);
  return rings;
}

/* "0 1 2 3>0 4 5" : the order, and after a '>' the NIC by which a GPU leaves its node. */
static char *
ring_text (const CluRings *rings, guint32 k)
{
  GString *text = g_string_new (NULL);
  for (guint32 i = 0; rings != NULL && k < rings->n_rings && i < rings->n; i++) {
    g_string_append_printf (text, "%s%u", i > 0 ? " " : "", rings->ring[k].order[i]);
    if (rings->ring[k].nic_out[i] != CLU_NONE)
      g_string_append_printf (text, ">%u", rings->ring[k].nic_out[i]);
  }
  return g_string_free (text, FALSE);
}

#define TEST_RING(rings, k, expected)                  \
  do {                                                 \
    g_autofree char *text_ = ring_text ((rings), (k)); \
    TEST_STR (text_, (expected));                      \
  } while (0)

#define SWITCHED "node: {gpus: {type: " GPU ("1") ", count: 4}, nvlink: {switches: 1}, "

static void
test_switch_is_one_ring_in_rank_order (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 1, " SWITCHED PCIE "switch_per: 2}}}");
  g_autoptr (CluRings) rings = rings_of (clu, NULL, 4, NULL);
  TEST_INT (rings->n_rings, 1);
  TEST_RING (rings, 0, "0 1 2 3");
  g_autoptr (CluRings) some = rings_of (clu, (const guint32[]){ 3, 0, 2 }, 3, NULL);
  TEST_RING (some, 0, "0 1 2"); /* positions: ranks in their own order, whatever GPUs they are on */
  g_autoptr (CluRings) one = rings_of (clu, (const guint32[]){ 2 }, 1, NULL);
  TEST_INT (one->n_rings, 1);
  TEST_RING (one, 0, "0");
}

/* GPUs 0 2 | 1 3 of the ranks stand behind two switches: without P2P over NVLink each switch is entered once. */
static void
test_pcie_order_follows_the_tree (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 1, node: {gpus: {type: " GPU (
      "1") ", count: 8}, nvlink: {kind: none}, " PCIE "switch_per: 2}, sockets: {count: 2, interconnect: " LINK "}}}");
  const guint32 gpus[] = { 0, 4, 1, 5, 2, 6, 3, 7 };
  g_autoptr (CluRings) rings = rings_of (clu, gpus, 8, NULL);
  TEST_INT (rings->n_rings, 1);
  TEST_RING (rings, 0, "0 2 4 6 7 5 1 3"); /* GPUs 0 1 2 3 | 7 6 4 5: each switch and socket entered once */
}

static void
test_mesh_uses_every_lane (void)
{
  g_autoptr (GString) links = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (dgx1v); i++)
    g_string_append_printf (links, "%s{a: %u, b: %u, lanes: %u}", i > 0 ? ", " : "", dgx1v[i][0], dgx1v[i][1], dgx1v[i][2]);
  g_autofree char *text =
      g_strdup_printf ("{topology: t, nodes: 1, node: {gpus: {type: " GPU ("6") ", count: 8}, nvlink: {kind: links, links: "
                                                                                "[%s]}, " PCIE "switch_per: 2}}}",
                       links->str);
  g_autoptr (Clu) clu = cluster (text);
  g_autoptr (CluRings) rings = rings_of (clu, NULL, 8, NULL);
  double lanes = 0;
  for (guint32 k = 0; k < rings->n_rings; k++)
    lanes += rings->ring[k].share * 6;
  TEST_NEAR (lanes, 6, 1e-12); /* shares in sixths: six lanes in all */
  TEST_TRUE (rings->n_rings <= 6);
  /* GPUs 0 to 3 are all linked, with 4, 4, 5 and 5 lanes among them: 4 rings at most */
  g_autoptr (CluRings) quad = rings_of (clu, NULL, 4, NULL);
  TEST_TRUE (quad->n_rings >= 2);
  /* 0 and 5 share no link: through PCIe, in rank order */
  g_autoptr (CluRings) apart = rings_of (clu, (const guint32[]){ 0, 5 }, 2, NULL);
  TEST_INT (apart->n_rings, 1);
  TEST_RING (apart, 0, "0 1");
  g_autoptr (CluRings) off = rings_of (clu, NULL, 8, &(CluDegrade){ .no_nvlink = TRUE });
  TEST_INT (off->n_rings, 1);
}

#define MESH8                                                                      \
  "node: {gpus: {type: " GPU ("7") ", count: 8}, nvlink: {kind: full_mesh}, " PCIE \
                                   "switch_per: 1, under_switch: [nics]}, " NICS ("8") "}"

static void
test_full_mesh_of_eight (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " MESH8 ", fabric: {kind: single_switch}}");
  g_autoptr (CluRings) rings = rings_of (clu, NULL, 8, NULL);
  TEST_INT (rings->n_rings, 7);
  TEST_NEAR (rings->ring[0].share, 1.0 / 7, 1e-12);
  /* two nodes, eight NICs: eight rings, each a path that no other shares a link with. 56 directed links = 8 paths x 7. */
  g_autoptr (CluRings) both = rings_of (clu, NULL, 16, NULL);
  TEST_INT (both->n_rings, 8);
  for (guint32 k = 0; k < 8; k++) {
    const CluRing *ring = &both->ring[k];
    TEST_INT (ring->rail, k);
    TEST_INT (ring->order[0], k);                  /* enters beside NIC k */
    TEST_INT (ring->nic_out[7], ring->order[7]);   /* leaves beside its last GPU */
    TEST_INT (ring->order[8], 8 + ring->order[7]); /* goes back the same way in the other node */
    TEST_INT (ring->order[15], 8 + k);
    TEST_INT (ring->nic_out[15], k);
  }
}

/* How often the busiest direction of a link between two GPUs of node 0 or 1 is used by all rings, routes to the NICs included. */
static guint32
most_uses (const Clu *clu, const guint32 *gpus, const CluRings *rings)
{
  g_auto (CluRoute) route;
  clu_route_init (&route);
  guint32 used[2][64] = { { 0 } }, most = 0;
  for (guint32 k = 0; k < rings->n_rings; k++)
    for (guint32 i = 0; i < rings->n; i++) {
      CluRouteOptions options = CLU_ROUTE_DEFAULT;
      options.nic = rings->ring[k].nic_out[i];
      guint32 a = gpus[rings->ring[k].order[i]], b = gpus[rings->ring[k].order[(i + 1) % rings->n]];
      TEST_TRUE (clu_route_find (clu, clu_gpu (clu, a), clu_gpu (clu, b), &options, &route, NULL));
      for (guint h = 0; h < route.hops->len; h++) {
        const CluHop *hop = &g_array_index (route.hops, CluHop, h);
        guint32 node = clu_dev_node (clu, hop->from);
        if (hop->link == CLU_NONE || node > 1 || clu_dev_kind (clu, hop->from) != CLU_DEV_GPU ||
            clu_dev_kind (clu, hop->to) != CLU_DEV_GPU)
          continue;
        guint32 *uses = &used[node][clu_dev_index (clu, hop->from) * 8 + clu_dev_index (clu, hop->to)];
        ++*uses;
        most = MAX (most, *uses);
      }
    }
  return most;
}

/* Law: whatever GPUs of a full mesh take part, no link carries two rings the same way, between nodes too. As many rings as GPUs,
 * but for 3 and 5: the complete digraphs of 4 and 6 have no decomposition (Tillson), and one ring fewer is left. */
static void
test_rings_of_a_mesh_share_no_link (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 4, " MESH8 ", fabric: {kind: single_switch}}");
  for (guint32 nodes = 1; nodes <= 4; nodes++)
    for (guint32 n = 2; n <= 8; n++) {
      guint32 gpus[32];
      for (guint32 i = 0; i < nodes * n; i++)
        gpus[i] = i / n * 8 + i % n;
      g_autoptr (CluRings) rings = rings_of (clu, gpus, nodes * n, NULL);
      if (nodes > 1)
        TEST_INT (rings->n_rings, n == 3 || n == 5 ? n - 1 : n);
      TEST_INT (most_uses (clu, gpus, rings), 1);
    }
}

static void
test_rings_between_nodes_begin_beside_their_nic (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " SWITCHED PCIE
                                 "switch_per: 2, under_switch: [nics]}, " NICS ("2") "}, "
                                                                                     "fabric: {kind: single_switch}}");
  g_autoptr (CluRings) rings = rings_of (clu, NULL, 8, NULL);
  TEST_INT (rings->n_rings, 2);
  TEST_RING (rings, 0, "0 2 3 1>0 4 6 7 5>0");
  TEST_RING (rings, 1, "2 0 1 3>1 6 4 5 7>1"); /* NIC 1 is beside GPUs 2 and 3: in by one, out by the other */
  g_autoptr (CluRings) one = rings_of (clu, NULL, 8, &(CluDegrade){ .max_nics = 1 });
  TEST_INT (one->n_rings, 1);
  TEST_RING (one, 0, "0 2 3 1>0 4 6 7 5>0");
  /* interleaved ranks: node by node, rank order inside */
  g_autoptr (CluRings) mixed = rings_of (clu, (const guint32[]){ 0, 4, 1, 5 }, 4, NULL);
  TEST_INT (mixed->n_rings, 1); /* only GPUs 0, 1 and 4, 5: both beside NIC 0 */
  TEST_RING (mixed, 0, "0 2>0 1 3>0");
  /* different counts: GPUs 2, 3 of the first node, all of the second. The rail that both have is NIC 1's. */
  g_autoptr (CluRings) uneven = rings_of (clu, (const guint32[]){ 2, 3, 4, 5, 6, 7 }, 6, NULL);
  TEST_INT (uneven->n_rings, 1);
  TEST_RING (uneven, 0, "0 1>1 4 2 3 5>1");
}

/* As NCCL's ncclTopoGetLocalNet: of two GPUs and two NICs under a switch each GPU has its own, whoever is in the group. */
static void
test_groups_of_neighbours_leave_by_nics_of_their_own (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " SWITCHED PCIE
                                 "switch_per: 2, under_switch: [nics]}, " NICS ("4") "}, fabric: {kind: single_switch}}");
  g_autoptr (CluRings) first = rings_of (clu, (const guint32[]){ 0, 2, 4, 6 }, 4, NULL);
  g_autoptr (CluRings) second = rings_of (clu, (const guint32[]){ 1, 3, 5, 7 }, 4, NULL);
  TEST_INT (first->n_rings, 2);
  TEST_RING (first, 0, "0 1>0 2 3>0");
  TEST_RING (first, 1, "1 0>2 3 2>2");
  TEST_INT (second->n_rings, 2);
  TEST_RING (second, 0, "0 1>1 2 3>1");
  TEST_RING (second, 1, "1 0>3 3 2>3");
}

static void
test_one_gpu_a_node_has_its_own_nic (void)
{
  /* two GPUs and two NICs under a switch: whoever else is in the communicator, each leaves by its own */
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " SWITCHED PCIE
                                 "switch_per: 2, under_switch: [nics]}, " NICS ("4") "}, fabric: {kind: single_switch}}");
  for (guint32 gpu = 0; gpu < 4; gpu++) {
    g_autoptr (CluRings) rings = rings_of (clu, (const guint32[]){ gpu, 4 + gpu }, 2, NULL);
    g_autofree char *text = g_strdup_printf ("0>%u 1>%u", gpu, gpu);
    TEST_INT (rings->n_rings, 1);
    TEST_RING (rings, 0, text);
  }
}

static void
test_domain_counts_as_one_island (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 4, nvlink_domain: {nodes: 2}, " SWITCHED PCIE
                                 "switch_per: 2, under_switch: [nics]}, " NICS ("2") "}, fabric: {kind: single_switch}}");
  g_autoptr (CluRings) inside = rings_of (clu, NULL, 8, NULL);
  TEST_INT (inside->n_rings, 1);
  TEST_RING (inside, 0, "0 1 2 3 4 5 6 7");
  /* four NICs a domain: four rings; the first and last GPU of an island stand in one node */
  g_autoptr (CluRings) both = rings_of (clu, NULL, 16, NULL);
  TEST_INT (both->n_rings, 4);
  TEST_RING (both, 0, "0 4 5 6 7 2 3 1>0 8 12 13 14 15 10 11 9>0");
  TEST_RING (both, 3, "6 0 1 2 3 4 5 7>1 14 8 9 10 11 12 13 15>1");
  /* without NVLink each node is an island */
  g_autoptr (CluRings) off = rings_of (clu, NULL, 8, &(CluDegrade){ .no_nvlink = TRUE });
  TEST_INT (off->n_rings, 2);
}

static void
test_several_nics_a_gpu (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " SWITCHED PCIE
                                 "switch_per: 1, under_switch: [nics]}, " NICS ("8") "}, "
                                                                                     "fabric: {kind: single_switch}}");
  g_autoptr (CluRings) rings = rings_of (clu, NULL, 8, NULL);
  TEST_INT (rings->n_rings, 8);
  TEST_RING (rings, 5, "2 3 0 1>5 6 7 4 5>5"); /* two NICs a GPU: NIC 5 is GPU 2's */
  g_autoptr (CluRings) one = rings_of (clu, (const guint32[]){ 1, 5 }, 2, NULL);
  TEST_INT (one->n_rings, 2); /* GPU 1's own two */
  TEST_RING (one, 0, "0>2 1>2");
}

static void
test_other_networks_are_one_ring (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " SWITCHED PCIE
                                 "switch_per: 2, under_switch: [nics]}, " NICS ("2") "}, "
                                                                                     "fabric: {kind: single_switch}}");
  g_autoptr (CluRings) rings = rings_of (clu, NULL, 8, &(CluDegrade){ .management = TRUE });
  TEST_INT (rings->n_rings, 1);
  TEST_RING (rings, 0, "0 1 2 3 4 5 6 7");
}

static void
test_unreachable_nodes_are_said (void)
{
  g_autoptr (Clu) clu = cluster ("{topology: t, nodes: 2, " SWITCHED PCIE "switch_per: 2}}, fabric: {kind: none}}");
  CluRings *rings = NULL;
  g_autoptr (GError) error = NULL;
  const guint32 gpus[] = { 0, 4 };
  TEST_FALSE (clu != NULL && clu_rings_find (clu, gpus, 2, NULL, &rings, &error));
  TEST_TRUE (rings == NULL);
  TEST_TRUE (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
}

/* Each order visits each position once; a NIC stands where the next GPU is in another node, and there only - unless the two
 * nodes are one NVLink domain. */
static void
check_rings (const Clu *clu, const guint32 *gpus, guint32 n, const char *name)
{
  g_autoptr (CluRings) rings = rings_of (clu, gpus, n, NULL);
  gboolean ok = rings != NULL && rings->n == n && rings->n_rings > 0;
  g_autofree gboolean *seen = g_new (gboolean, n);
  for (guint32 k = 0; ok && k < rings->n_rings; k++) {
    const CluRing *ring = &rings->ring[k];
    memset (seen, 0, n * sizeof *seen);
    for (guint32 i = 0; ok && i < n; i++) {
      guint32 at = ring->order[i], next = ring->order[(i + 1) % n];
      ok = at < n && !seen[at];
      if (!ok)
        break;
      seen[at] = TRUE;
      guint32 here = clu_dev_node (clu, clu_gpu (clu, gpus[at])), there = clu_dev_node (clu, clu_gpu (clu, gpus[next]));
      gboolean leaves = clu_domain_of_node (clu, here) != clu_domain_of_node (clu, there);
      ok = leaves ? ring->nic_out[i] < clu_node_n (clu, here, CLU_DEV_NIC) : ring->nic_out[i] == CLU_NONE;
    }
  }
  if (!ok)
    TEST_STR (name, "rings that are in order");
}

static void
test_shipped_topologies (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (GStrv) names = base_lookup_list (lookup, "topologies");
  BaseRandom random = base_random_stream (1, "subsets");
  guint32 n_checked = 0;
  for (char **name = names; *name != NULL; name++) {
    g_autoptr (BaseDiag) warnings = base_diag_new ();
    g_autoptr (GError) error = NULL;
    g_autoptr (Clu) one = clu_load (*name, NULL, lookup, NULL, NULL, warnings, &error);
    if (one == NULL) {
      TEST_STR (error->message, "");
      continue;
    }
    CluLoadOptions twice = { .nodes = 2 * clu_n_nodes (one) };
    gboolean joined = clu_spec (one)->fabric.kind.v != CLU_FABRIC_NONE && clu_node_n (one, 0, CLU_DEV_NIC) > 0;
    g_autoptr (Clu) two = joined ? clu_load (*name, NULL, lookup, NULL, &twice, warnings, &error) : NULL;
    const Clu *clu = two != NULL ? two : one;
    TEST_TRUE (!joined || two != NULL);
    guint32 n_all = clu_n_gpus (clu);
    g_autofree guint32 *gpus = g_new (guint32, n_all);
    for (guint32 round = 0; round < 5; round++) {
      guint32 n = 0;
      for (guint32 g = 0; g < n_all; g++)
        if (round == 0 || base_random_below (&random, 5) < round)
          gpus[n++] = g;
      for (guint32 i = n; round > 2 && i > 1; i--) { /* ranks in any order */
        guint32 j = base_random_below (&random, i), t = gpus[i - 1];
        gpus[i - 1] = gpus[j];
        gpus[j] = t;
      }
      if (n > 0)
        check_rings (clu, gpus, n, *name);
    }
    n_checked++;
  }
  TEST_TRUE (n_checked > 15);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "DGX-1 with V100 has six rings", test_dgx1v },
    { "DGX-1 with P100 has four rings", test_dgx1p },
    { "a full mesh of n has n - 1 rings, of 4 and 6 one fewer", test_full_meshes },
    { "several lanes a pair give more than their multiple", test_several_lanes_a_pair },
    { "a torus and a hypercube of 16 have four rings", test_torus_and_hypercube },
    { "meshes without a ring have none", test_meshes_without_a_ring },
    { "the same lanes give the same rings", test_same_lanes_same_rings },
    { "behind a switch one ring goes in rank order", test_switch_is_one_ring_in_rank_order },
    { "without scale-up the order follows the PCIe tree", test_pcie_order_follows_the_tree },
    { "a mesh uses every lane, a part of it what it has", test_mesh_uses_every_lane },
    { "a full mesh of eight has seven rings, and eight paths between nodes", test_full_mesh_of_eight },
    { "no two rings of a mesh share a link", test_rings_of_a_mesh_share_no_link },
    { "rings between nodes begin beside their NIC", test_rings_between_nodes_begin_beside_their_nic },
    { "groups of neighbours leave by NICs of their own", test_groups_of_neighbours_leave_by_nics_of_their_own },
    { "an NVLink domain counts as one island", test_domain_counts_as_one_island },
    { "a GPU with several NICs has a ring for each", test_several_nics_a_gpu },
    { "one GPU a node has its own NIC", test_one_gpu_a_node_has_its_own_nic },
    { "other networks than the NICs' are one ring", test_other_networks_are_one_ring },
    { "any ranks of every shipped topology have rings in order", test_shipped_topologies },
    { "nodes that cannot reach each other are said", test_unreachable_nodes_are_said },
    { NULL, NULL },
  };
  return test_main ("cluster: rings", cases);
}
