/* What is alike: ways between ranks, nodes by what they carry, links by what they carry of all operations. */
#include "cluster/background.h"
#include "comm-private.h"
#include "collective/fold.h"
#include "workload_fixture.h"

#define TREE(routing) "{kind: fat_tree, levels: [{down: 4, up: 4}, {down: 32}], routing: " routing "}"

/* ---- ways ---- */

static gboolean
is_alike (const char *fabric, guint32 from, guint32 to)
{
  Bench b = bench_on (fixture_cluster_on (2, 16, FALSE, fabric));
  g_autoptr (ColRoutes) routes = col_routes_new (b.clu, &b.settings);
  const ColRankPlace a = col_routes_place (routes, from), z = col_routes_place (routes, to);
  gboolean alike = FALSE;
  TEST_TRUE (col_routes_find_once (routes, &a, &z, CLU_NONE, &alike, NULL) != NULL);
  bench_close (&b);
  return alike;
}

static void
ways_are_alike_where_no_cable_is_drawn (void)
{
  /* two nodes of two adapters on a leaf: gpu0 -> gpu2 stays below it, gpu0 -> gpu4 goes by the spine */
  TEST_TRUE (is_alike (TREE ("adaptive"), 0, 2));
  TEST_TRUE (is_alike (TREE ("adaptive"), 0, 4));
  TEST_TRUE (is_alike (TREE ("ecmp"), 0, 1));
  TEST_TRUE (is_alike (TREE ("ecmp"), 0, 2));
  TEST_TRUE (!is_alike (TREE ("ecmp"), 0, 4));
  TEST_TRUE (!is_alike (TREE ("static"), 0, 4));
}

static void
ranks_of_equal_nodes_on_one_leaf_share_a_site (void)
{
  Bench b = bench_on (fixture_cluster_on (2, 16, FALSE, TREE ("adaptive")));
  g_autoptr (ColRoutes) routes = col_routes_new (b.clu, &b.settings);
  guint32 site[32];
  for (guint32 gpu = 0; gpu < 32; gpu++)
    site[gpu] = col_routes_place (routes, gpu).site;
  TEST_INT (site[0], site[2]);    /* node 1, the same leaf */
  TEST_TRUE (site[0] != site[1]); /* the other GPU of the node */
  TEST_TRUE (site[0] != site[4]); /* another leaf */
  TEST_INT (clu_node_place (b.clu, 0), clu_node_place (b.clu, 1));
  char *why = NULL;
  TEST_TRUE (clu_nic_slow (b.clu, 1, 0, 5e9, &why));
  g_autoptr (ColRoutes) disturbed = col_routes_new (b.clu, &b.settings);
  TEST_TRUE (col_routes_place (disturbed, 0).site != col_routes_place (disturbed, 2).site);
  bench_close (&b);
}

/* ---- nodes ---- */

/* A ring over all GPUs of 16 nodes; its spread is the communicator's. */
static const ColSpread *
ring_spread (Bench *b)
{
  bench_open (b, 32);
  return col_comm_traffic (b->comm, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, 0, NULL)->spread;
}

static void
nodes_of_a_ring_are_one_kind (void)
{
  Bench b = bench_on (fixture_cluster (2, 16, FALSE));
  const ColSpread *spread = ring_spread (&b);
  TEST_INT (spread->kinds->len, 1);
  TEST_INT (((const ColNodeKind *)spread->kinds->pdata[0])->n_nodes, 16);
  TEST_INT (spread->nodes->len, 16);
  /* as many links as are alike, all together */
  g_autoptr (GArray) loads = col_spread_loads (spread), alike = col_spread_alike (spread);
  guint n = 0;
  for (guint i = 0; i < alike->len; i++)
    n += g_array_index (alike, ColLoad, i).n;
  TEST_INT (n, loads->len);
  TEST_TRUE (alike->len * 8 < loads->len);
  bench_close (&b);
}

static void
a_slow_adapter_is_a_kind_of_its_own_and_binds (void)
{
  Bench b = bench_on (fixture_cluster (2, 16, FALSE));
  char *why = NULL;
  TEST_TRUE (clu_nic_slow (b.clu, 5, 1, 5e9, &why));
  const ColSpread *spread = ring_spread (&b);
  TEST_INT (spread->kinds->len, 2);
  const ColNodeKind *slow = spread->kinds->pdata[1];
  TEST_INT (slow->first_node, 5);
  TEST_INT (slow->n_nodes, 1);
  /* two rings share the bytes: each adapter sends 2 x 31/32 / 2 of them */
  TEST_NEAR (spread->bounds.rate_Bps, 5e9 / (31.0 / 32), 1e-12);
  bench_close (&b);
}

static void
a_spread_moved_on_loads_the_nodes_behind (void)
{
  Bench b = bench_on (fixture_cluster (2, 4, FALSE));
  g_autoptr (ColRoutes) routes = col_routes_new (b.clu, &b.settings);
  ColScratch *scratch = col_routes_scratch (routes);
  col_scratch_add (scratch, clu_node_first_resource (b.clu, 1) + 3, 0.5, 1);
  ColSpread *spread = col_spread_take (routes, b.clu);
  TEST_INT (scratch->touched->len, 0);
  col_spread_add (spread, 2, scratch);
  col_spread_unref (spread);
  TEST_INT (scratch->touched->len, 1);
  TEST_INT (g_array_index (scratch->touched, CluRes, 0), clu_node_first_resource (b.clu, 3) + 3);
  TEST_NEAR (scratch->sum[clu_node_first_resource (b.clu, 3) + 3].load, 0.5, 0);
  col_scratch_clear (scratch);
  bench_close (&b);
}

/* ---- links ---- */

/* Adds `bytes` on one link of the nodes from `first` to `last` as an operation. */
static guint
add_operation (ColFold *fold, ColRoutes *routes, const Clu *clu, guint32 first, guint32 last, double bytes, double first_bytes)
{
  for (guint32 node = first; node <= last; node++)
    col_scratch_add (col_routes_scratch (routes), clu_node_first_resource (clu, node), node == first ? first_bytes : bytes, 1);
  ColSpread *spread = col_spread_take (routes, clu);
  guint operation = col_fold_add (fold, spread);
  col_spread_unref (spread);
  return operation;
}

static guint32
sum_of (const GArray *loads)
{
  guint32 n = 0;
  for (guint i = 0; i < loads->len; i++)
    n += g_array_index (loads, ColLoad, i).n;
  return n;
}

static void
links_part_where_operations_do (void)
{
  /* a on nodes 0 to 7, b on 4 to 11: four with a alone, four with both, four with b alone */
  Bench b = bench_on (fixture_cluster (2, 16, FALSE));
  g_autoptr (ColRoutes) routes = col_routes_new (b.clu, &b.settings);
  for (int whole = 0; whole < 2; whole++) {
    g_autoptr (ColFold) fold = col_fold_new (routes, b.clu, !whole);
    guint one = add_operation (fold, routes, b.clu, 0, 7, 1, 1), two = add_operation (fold, routes, b.clu, 4, 11, 1, 1);
    col_fold_close (fold);
    TEST_INT (col_fold_loads (fold, one)->len, whole ? 8 : 2);
    TEST_INT (col_fold_loads (fold, two)->len, whole ? 8 : 2);
    TEST_INT (sum_of (col_fold_loads (fold, one)), 8);
    TEST_INT (g_array_index (col_fold_loads (fold, two), ColLoad, 0).res, clu_node_first_resource (b.clu, 4));
    TEST_INT (col_fold_binding (fold, one)->len, whole ? 8 : 2); /* equal ones may all bind */
  }
  bench_close (&b);
}

static void
a_link_with_more_of_everything_binds_alone (void)
{
  /* node 0 carries twice what nodes 1 to 7 do: it alone can bind, all are counted */
  Bench b = bench_on (fixture_cluster (2, 16, FALSE));
  g_autoptr (ColRoutes) routes = col_routes_new (b.clu, &b.settings);
  g_autoptr (ColFold) fold = col_fold_new (routes, b.clu, TRUE);
  guint one = add_operation (fold, routes, b.clu, 0, 7, 1, 2);
  col_fold_close (fold);
  TEST_INT (sum_of (col_fold_loads (fold, one)), 8);
  TEST_INT (col_fold_binding (fold, one)->len, 1);
  TEST_INT (g_array_index (col_fold_binding (fold, one), ColLoad, 0).res, 0);
  TEST_NEAR (g_array_index (col_fold_binding (fold, one), ColLoad, 0).load, 2, 0);
  bench_close (&b);
}

static void
a_link_with_more_of_one_and_less_of_another_binds_too (void)
{
  /* a: 2 on node 0, 1 on node 1; b: 1 on node 0, 2 on node 1 */
  Bench b = bench_on (fixture_cluster (2, 2, FALSE));
  g_autoptr (ColRoutes) routes = col_routes_new (b.clu, &b.settings);
  g_autoptr (ColFold) fold = col_fold_new (routes, b.clu, TRUE);
  guint one = add_operation (fold, routes, b.clu, 0, 1, 1, 2), two = add_operation (fold, routes, b.clu, 0, 1, 2, 1);
  col_fold_close (fold);
  TEST_INT (col_fold_binding (fold, one)->len, 2);
  TEST_INT (col_fold_binding (fold, two)->len, 2);
  bench_close (&b);
}

static void
trunks_of_equal_load_are_one (void)
{
  /* a ring over 16 nodes on 8 leaves: every trunk up has the two adapters of one node, every trunk down as well */
  Bench b = bench_on (fixture_cluster_on (2, 16, FALSE, TREE ("adaptive")));
  const ColSpread *spread = ring_spread (&b);
  TEST_INT (spread->outside->len, 16);
  g_autoptr (ColFold) fold = col_fold_new (b.comm->routes, b.clu, TRUE);
  guint ring = col_fold_add (fold, (ColSpread *)(gpointer)spread);
  col_fold_close (fold);
  const GArray *loads = col_fold_loads (fold, ring);
  TEST_INT (g_array_index (loads, ColLoad, loads->len - 1).n, 16);
  bench_close (&b);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "ways are alike where no cable is drawn", ways_are_alike_where_no_cable_is_drawn },
    { "ranks of equal nodes on one leaf share a site", ranks_of_equal_nodes_on_one_leaf_share_a_site },
    { "nodes of a ring are one kind", nodes_of_a_ring_are_one_kind },
    { "a slow adapter is a kind of its own and binds", a_slow_adapter_is_a_kind_of_its_own_and_binds },
    { "a spread moved on loads the nodes behind", a_spread_moved_on_loads_the_nodes_behind },
    { "links part where operations do", links_part_where_operations_do },
    { "a link with more of everything binds alone", a_link_with_more_of_everything_binds_alone },
    { "a link with more of one and less of another binds too", a_link_with_more_of_one_and_less_of_another_binds_too },
    { "trunks of equal load are one", trunks_of_equal_load_are_one },
    { NULL, NULL },
  };
  return test_main ("what is alike", cases);
}
