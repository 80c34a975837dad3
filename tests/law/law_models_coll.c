/* What must hold for every algorithm, protocol and operation that can run, whatever the constants. */
#include <math.h>

#include "constants/calibration.h"
#include "harness.h"
#include "models/coll.h"
#include "models/library-spec.h"

static Cst *loaded[6];
static const MdlLibrary *library[6]; /* the last is the plain one */
static const char *const calibration[] = { NULL, "h200_sxm", "a100_sxm", "b200", "gb200" };

/* Clusters: nodes x ranks a node, hops, and the capability that goes with the calibration. */
typedef struct {
  unsigned nodes, local;
  MdlHop intra, inter;
} Shape;
static const Shape shapes[] = {
  { 1, 2, MDL_HOP_NVLINK, MDL_HOP_NET },      { 1, 8, MDL_HOP_NVLINK, MDL_HOP_NET },   { 1, 72, MDL_HOP_NVLINK, MDL_HOP_NET },
  { 1, 8, MDL_HOP_PCIE, MDL_HOP_NET },        { 1, 8, MDL_HOP_HOST, MDL_HOP_NET },     { 2, 1, MDL_HOP_NVLINK, MDL_HOP_NET },
  { 2, 8, MDL_HOP_NVLINK, MDL_HOP_NET_HOST }, { 16, 8, MDL_HOP_NVLINK, MDL_HOP_TCP },  { 129, 7, MDL_HOP_NVLINK, MDL_HOP_NET },
  { 2048, 8, MDL_HOP_NVLINK, MDL_HOP_NET },   { 16384, 8, MDL_HOP_PCIE, MDL_HOP_NET }, { 131072, 1, MDL_HOP_NET, MDL_HOP_NET },
};

/* What the links allow for this operation by this algorithm when a rank may send at `rate_Bps`. */
static double
link_rate_Bps (MdlAlgo algo, MdlOp op, unsigned n, double rate_Bps)
{
  double others = (double)(n - 1) / n;
  if (op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE || op == MDL_OP_SENDRECV)
    return rate_Bps;
  if (op != MDL_OP_ALL_REDUCE)
    return rate_Bps / others;
  return algo == MDL_ALGO_TREE   ? rate_Bps / (n > 2 ? 2.0 : 1.0)
         : algo == MDL_ALGO_NVLS ? rate_Bps / (1.0 + 1.0 / n)
                                 : rate_Bps / (2.0 * others);
}

static MdlCollQuestion
question (const Shape *shape, MdlAlgo algo, MdlOp op, double size_B, double rate_Bps, MdlLaunch launch)
{
  unsigned n = shape->nodes * shape->local;
  MdlCollQuestion q = { .op = op,
                        .size_B = size_B,
                        .n_ranks = n,
                        .n_nodes = shape->nodes,
                        .ranks_per_node = shape->local,
                        .n_nics = shape->nodes > 1 ? MIN (shape->local, 8) : 0,
                        .intra = shape->intra,
                        .inter = shape->inter,
                        .intra_latency_s = 0.36e-6,
                        .inter_latency_s = 2e-6,
                        .intra_rate_Bps = rate_Bps,
                        .inter_rate_Bps = rate_Bps,
                        .compute_capability = 90,
                        .switched = shape->intra == MDL_HOP_NVLINK,
                        .launch = launch };
  q.link_rate_Bps = link_rate_Bps (algo, op, n, rate_Bps);
  if (algo == MDL_ALGO_HIERARCHICAL) {
    q.phase_steps = shape->local > 1 ? 1 : 0;
    q.phase_wire_s[0] = q.intra_latency_s;
    q.phase_wire_s[1] = q.inter_latency_s;
    q.phase_Bps[0] = HUGE_VAL; /* the link rate bounds the slower phase alone */
    q.phase_Bps[1] = q.link_rate_Bps * (op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0); /* that of one of its ways */
  }
  return q;
}

/* Calls `check` for every library, algorithm, protocol, operation, shape and launch mode that can run. */
typedef struct {
  const MdlLibrary *library;
  const MdlColl *coll;
  MdlProto proto;
  MdlOp op;
  const Shape *shape;
  MdlLaunch launch;
} Case;
typedef void (*Check) (const Case *c);

static void
for_all (Check check)
{
  unsigned n = 0;
  for (unsigned l = 0; l < G_N_ELEMENTS (library); l++)
    for (const MdlColl *const *coll = mdl_colls; *coll != NULL; coll++)
      for (int proto = library[l] != NULL ? 0 : MDL_PROTO_SIMPLE; proto < MDL_PROTO_N; proto++)
        for (int op = 0; op < MDL_OP_N; op++)
          for (unsigned s = 0; s < G_N_ELEMENTS (shapes); s++)
            for (int launch = 0; launch < (library[l] != NULL ? (int)MDL_LAUNCH_N : 1); launch++) {
              const Case c = { library[l], *coll, proto, (MdlOp)op, &shapes[s], (MdlLaunch)launch };
              MdlCollQuestion q = question (c.shape, (*coll)->algo, c.op, 1.0, 100e9, c.launch), large = q;
              large.size_B = 1099511627776.0; /* sends go by Simple only when they are long */
              /* kernels of frameworks change with the size by lists of their own: a law for them stands below */
              if ((*coll)->algo == MDL_ALGO_ONE_SHOT || !((*coll)->ops & (1u << op)) ||
                  ((*coll)->algo == MDL_ALGO_HIERARCHICAL && c.shape->nodes < 2) ||
                  !(mdl_coll_possible (c.library, *coll, c.proto, &q, NULL) ||
                    mdl_coll_possible (c.library, *coll, c.proto, &large, NULL)))
                continue;
              check (&c);
              n++;
            }
  TEST_TRUE (n > 1000);
}

static MdlCollCost
cost_of (const Case *c, double size_B, double rate_Bps)
{
  MdlCollQuestion q = question (c->shape, c->coll->algo, c->op, size_B, rate_Bps, c->launch);
  MdlCollCost cost;
  mdl_coll_cost (c->library, c->coll, c->proto, &q, &cost);
  return cost;
}

/* CUnit notes every assertion: millions of points are judged here and only what breaks the law is asserted, with its place. */
static void
hold (gboolean ok, const char *law, const Case *c, double size_B)
{
  if (ok)
    return;
  g_printerr ("%s: %s %s %s, %u x %u ranks, launch %d, %.17g B\n", law, base_name (mdl_algo_names, c->coll->algo),
              base_name (mdl_proto_names, c->proto), base_name (mdl_op_names, (int)c->op), c->shape->nodes, c->shape->local,
              c->launch, size_B);
  CU_FAIL ("a law is broken");
}

static void
check_finite (const Case *c)
{
  for (double size_B = 1.0; size_B <= 1099511627776.0; size_B *= 3.7) {
    MdlCollCost cost = cost_of (c, size_B, 100e9);
    double wire = c->coll->algo == MDL_ALGO_COPY_ENGINE ? 0.9 : 1.0; /* engines fill the links better than kernels' stores */
    hold (isfinite (cost.time_s) && cost.time_s > 0.0 && cost.latency_s >= 0.0 && cost.wire >= wire && cost.bound_Bps > 0.0,
          "finite and positive", c, size_B);
    hold (cost.start_s >= 0.0 && cost.start_s <= cost.latency_s * (1.0 + 1e-12) && cost.hop_software_s[0] >= -0.37e-6 &&
              cost.hop_software_s[1] >= -2.01e-6 && cost.piece_B >= 0.0 && cost.piece_B <= size_B * (1.0 + 1e-12),
          "message costs are parts of the whole", c, size_B);
    hold (isfinite (cost.band) && cost.band >= 0.0 && (c->library == NULL || cost.band > 0.0), "there is a band", c, size_B);
  }
  MdlCollCost cost = cost_of (c, 0.0, 100e9);
  hold (isfinite (cost.time_s) && cost.time_s >= 0.0, "no data is no error", c, 0.0);
}

static void
every_answer_is_finite_and_positive (void)
{
  for_all (check_finite);
}

static void
check_terms (const Case *c)
{
  for (double size_B = 1.0; size_B <= 1099511627776.0; size_B *= 11.0) {
    MdlCollCost cost = cost_of (c, size_B, 100e9);
    double sum_s = 0.0;
    for (unsigned i = 0; i < cost.n_terms; i++) {
      sum_s += cost.term[i].value_s;
      hold (cost.term[i].how[0] != '\0' && cost.term[i].name != NULL, "a term says how", c, size_B);
    }
    hold (fabs (sum_s - cost.time_s) <= 1e-9 * cost.time_s, "terms sum to the time", c, size_B);
    MdlCollQuestion q = question (c->shape, c->coll->algo, c->op, size_B, 100e9, c->launch);
    double rate_Bps = fmin (cost.bound_Bps, q.link_rate_Bps / cost.wire);
    hold (fabs (cost.latency_s + size_B / rate_Bps - cost.time_s) <= 1e-9 * cost.time_s, "time is latency and size", c, size_B);
  }
}

static void
terms_sum_to_the_time (void)
{
  for_all (check_terms);
}

/* Sends and receives double a message's channels where a part is above NCCL's largest (src/enqueue.cc:addP2pToPlan): there time
 * falls, by no more than half. A ring of LL128 gets all its threads where each has 8 B, and a step is then shorter
 * (src/enqueue.cc:topoGetAlgoInfo): by a fifth at most. Elsewhere channels grow no faster than the size (1.13), and time must not
 * fall. */
static void
check_size (const Case *c)
{
  if (c->coll->algo == MDL_ALGO_SYMMETRIC) /* NCCL goes from kernel to kernel by an estimate, not by the time */
    return;
  MdlCollCost before = { 0 };
  for (double size_B = 1.0; size_B <= 1099511627776.0; size_B *= 1.13) {
    MdlCollCost cost = cost_of (c, size_B, 100e9);
    gboolean doubled = c->library != NULL && c->coll->algo == MDL_ALGO_PAIRWISE && cost.bound_Bps >= 1.2 * before.bound_Bps;
    const MdlProtocol *lines = c->library != NULL ? &c->library->protocols.at[MDL_PROTO_LL128] : NULL;
    double all_threads_B = lines != NULL ? lines->threads.v * lines->bytes_per_thread.v : 0.0;
    gboolean more_threads =
        c->coll->algo == MDL_ALGO_RING && c->proto == MDL_PROTO_LL128 && size_B >= all_threads_B && size_B / 1.13 < all_threads_B;
    double least_s = before.time_s * (doubled ? 0.5 : more_threads ? 0.8 : 1.0);
    hold (cost.time_s >= least_s * (1.0 - 1e-12), "time grows with size", c, size_B);
    before = cost;
  }
}

static void
time_grows_with_size (void)
{
  for_all (check_size);
}

static void
check_bandwidth (const Case *c)
{
  for (double size_B = 1.0; size_B <= 1099511627776.0; size_B *= 13.0) {
    double before_s = (double)INFINITY;
    for (double rate_Bps = 1e8; rate_Bps < 1e13; rate_Bps *= 1.5) {
      double time_s = cost_of (c, size_B, rate_Bps).time_s;
      hold (time_s <= before_s * (1.0 + 1e-12), "more bandwidth is never slower", c, size_B);
      before_s = time_s;
    }
  }
}

static void
more_bandwidth_is_never_slower (void)
{
  for_all (check_bandwidth);
}

static void
check_limit (const Case *c)
{
  /* Over slow links, which no block is slower than, a large message moves at what the links allow, less the line format; loops of a
   * ring go on paying their steps, so that the limit is reached within a few per cent where hops are few. */
  if (c->shape->nodes * c->shape->local > 8 || c->shape->inter == MDL_HOP_TCP)
    return;
  double size_B = 1e13;
  MdlCollQuestion q = question (c->shape, c->coll->algo, c->op, size_B, 1e9, c->launch);
  MdlCollCost cost;
  mdl_coll_cost (c->library, c->coll, c->proto, &q, &cost);
  double reached = size_B / cost.time_s / (q.link_rate_Bps / cost.wire);
  hold (reached <= 1.0 + 1e-9 && reached > 0.85, "bandwidth tends to its bound", c, size_B);
}

static void
bandwidth_tends_to_its_bound (void)
{
  for_all (check_limit);
}

/* Kernels of frameworks: within the sizes that one kernel serves time grows with the size and falls with the links' rate. */
/* Whether row `i` of the ranges serves a size on GPUs of the capability that the row asks for: the first that fits does. */
static gboolean
serves (const MdlOneShotSpec *spec, guint i, double size_B)
{
  const MdlOneShotRange *wanted = BASE_LIST_AT (spec->ranges, MdlOneShotRange, i);
  for (guint k = 0; k <= i; k++) {
    const MdlOneShotRange *range = BASE_LIST_AT (spec->ranges, MdlOneShotRange, k);
    if (g_strcmp0 (range->framework.v, wanted->framework.v) == 0 && range->gpus.v == wanted->gpus.v &&
        range->capability.v <= fmax (wanted->capability.v, 90.0) && size_B <= range->max.v)
      return k == i;
  }
  return FALSE;
}

static void
hold_on_range (const MdlLibrary *lib, guint i)
{
  const MdlOneShotRange *range = BASE_LIST_AT (lib->one_shot.ranges, MdlOneShotRange, i);
  const Shape shape = { 1, (unsigned)range->gpus.v, MDL_HOP_NVLINK, MDL_HOP_NET };
  const MdlColl *coll = mdl_coll_find (MDL_ALGO_ONE_SHOT, MDL_OP_ALL_REDUCE);
  const Case c = { lib, coll, MDL_PROTO_SIMPLE, MDL_OP_ALL_REDUCE, &shape, MDL_LAUNCH_GRAPH };
  double before_s = 0.0;
  for (double size_B = 8.0; size_B <= range->max.v; size_B *= 1.3) {
    if (!serves (&lib->one_shot, i, size_B))
      continue;
    double time_s[2];
    for (unsigned fast = 0; fast < 2; fast++) {
      MdlCollQuestion q = question (&shape, MDL_ALGO_ONE_SHOT, MDL_OP_ALL_REDUCE, size_B, fast ? 450e9 : 300e9, c.launch);
      q.one_shot = range->framework.v;
      q.compute_capability = (unsigned)fmax (range->capability.v, 90.0);
      MdlCollCost cost;
      hold (mdl_coll_possible (lib, coll, c.proto, &q, NULL), "a size in a range has a kernel", &c, size_B);
      mdl_coll_cost (lib, coll, c.proto, &q, &cost);
      hold (isfinite (cost.time_s) && cost.time_s > 0.0, "finite and positive", &c, size_B);
      time_s[fast] = cost.time_s;
    }
    hold (time_s[1] <= time_s[0] * (1.0 + 1e-12), "more bandwidth is never slower", &c, size_B);
    hold (time_s[0] >= before_s * (1.0 - 1e-12), "time grows with size", &c, size_B);
    before_s = time_s[0];
  }
}

static void
frameworks_kernels_keep_the_laws_within_their_sizes (void)
{
  unsigned n = 0;
  for (unsigned l = 0; l < G_N_ELEMENTS (library); l++)
    for (guint i = 0; library[l] != NULL && i < library[l]->one_shot.ranges.n; i++, n++)
      hold_on_range (library[l], i);
  TEST_TRUE (n > 10);
}

static void
check_ranks (const Case *c)
{
  /* More ranks on one node, and more nodes of as many ranks, at a fixed rate of sending. */
  for (double size_B = 8.0; size_B <= 1e10; size_B *= 64.0) {
    double before_s = 0.0;
    for (unsigned local = 2; local <= 64 && c->shape->nodes == 1; local *= 2) {
      Shape shape = *c->shape;
      shape.local = local;
      const Case more = { c->library, c->coll, c->proto, c->op, &shape, MDL_LAUNCH_GRAPH };
      double time_s = cost_of (&more, size_B, 100e9).time_s;
      /* Larger groups spread the data over more heads or parts: only the small message must not get faster, and of its time at most
       * the share of its few bytes. */
      hold (size_B > 8.0 || time_s >= before_s * (1.0 - 1e-4), "more ranks are not faster", &more, size_B);
      before_s = time_s;
    }
    before_s = 0.0;
    for (unsigned nodes = 2; nodes <= 4096 && c->shape->nodes > 1; nodes *= 2) {
      Shape shape = *c->shape;
      shape.nodes = nodes;
      const Case more = { c->library, c->coll, c->proto, c->op, &shape, MDL_LAUNCH_GRAPH };
      double time_s = cost_of (&more, size_B, 100e9).time_s;
      hold (size_B > 8.0 || time_s >= before_s * (1.0 - 1e-4), "more nodes are not faster", &more, size_B);
      before_s = time_s;
    }
  }
}

static void
small_messages_are_not_faster_among_more_ranks (void)
{
  for_all (check_ranks);
}

static void
tree_beats_ring_for_small_messages_at_scale (void)
{
  /* Ring latency grows with the ranks, tree latency with the logarithm of the nodes. */
  const Shape shape = { 512, 8, MDL_HOP_NVLINK, MDL_HOP_NET };
  const Case ring = { library[1],      mdl_coll_find (MDL_ALGO_RING, MDL_OP_ALL_REDUCE), MDL_PROTO_LL, MDL_OP_ALL_REDUCE, &shape,
                      MDL_LAUNCH_GRAPH };
  Case tree = ring;
  tree.coll = mdl_coll_find (MDL_ALGO_TREE, MDL_OP_ALL_REDUCE);
  TEST_TRUE (cost_of (&tree, 8.0, 50e9).time_s * 10.0 < cost_of (&ring, 8.0, 50e9).time_s);
}

static const TestCase cases[] = {
  { "every answer is finite and positive", every_answer_is_finite_and_positive },
  { "terms sum to the time", terms_sum_to_the_time },
  { "time grows with size", time_grows_with_size },
  { "more bandwidth is never slower", more_bandwidth_is_never_slower },
  { "bandwidth tends to its bound", bandwidth_tends_to_its_bound },
  { "frameworks' kernels keep the laws within their sizes", frameworks_kernels_keep_the_laws_within_their_sizes },
  { "small messages are not faster among more ranks", small_messages_are_not_faster_among_more_ranks },
  { "tree beats ring for small messages at scale", tree_beats_ring_for_small_messages_at_scale },
  { NULL, NULL },
};

int
main (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (unsigned i = 0; i < G_N_ELEMENTS (calibration); i++) {
    g_autoptr (GError) error = NULL;
    loaded[i] = cst_load (&(CstQuery){ .name = calibration[i], .lookup = lookup }, &error);
    if (loaded[i] == NULL) {
      g_printerr ("%s\n", error->message);
      return 1;
    }
    library[i] = cst_library (loaded[i]);
  }
  int status = test_main ("laws of collectives", cases);
  for (unsigned i = 0; i < G_N_ELEMENTS (calibration); i++)
    cst_free (loaded[i]);
  return status;
}
