/* A step whose alike links are simulated once is the step with all of them, to the picosecond and for every task: on random
 * clusters, cuts and disturbances, up to 512 GPUs. */
#include "base/random.h"
#include "collective/net.h"
#include "comm-private.h"
#include "model_fixture.h"

enum { DRAWN = 160 };

/* Layers wide enough that links, not latencies, make most of a collective's time. */
#define WIDE                                                                                                      \
  "model: {llm: wide, layers: 8, hidden: 4096, vocabulary: 1000, attention: {kind: mha, heads: 32}, mlp: {kind: " \
  "swiglu, ffn: 8192}, positions: rope, norm: rmsnorm}, sequence: 2048"
#define WIDE_MOE                                                                                               \
  "model: {llm: wide_moe, layers: 8, hidden: 4096, vocabulary: 1000, attention: {kind: mha, heads: 32}, mlp: " \
  "{kind: swiglu}, moe: {experts: 8, top_k: 2, ffn: 2048}, positions: rope, norm: rmsnorm}, sequence: 2048"

typedef struct {
  BaseRandom random;
  GPtrArray *sets; /* ends with NULL once drawn */
  GString *workload;
  char cluster[64];
} Draw;

static guint32
below (Draw *d, guint32 n)
{
  return (guint32)base_random_below (&d->random, n);
}

static gboolean
one_in (Draw *d, guint32 n)
{
  return below (d, n) == 0;
}

static void add_set (Draw *d, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_set (Draw *d, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (d->sets, g_strdup_vprintf (format, args));
  va_end (args);
}

/* Racks of a few trays of four GPUs, whose NVLink domains are wider than a node, and fabrics that are no trees. Returned: GPUs; 0:
 * none of these. */
static guint32
draw_special (Draw *d)
{
  static const char *const fabrics[] = {
    "{kind: torus, dims: [2, 4], routing: adaptive}", "{kind: torus, dims: [2, 4], routing: static}",
    "{kind: dragonfly, dragonfly: {groups: 2, routers: 4, hosts: 8, global_links: 1}, routing: ecmp}",
    "{kind: single_switch, leaf: {radix: 4096}}"
  };
  if (one_in (d, 5)) {
    guint32 n = 4u << below (d, 3);
    g_snprintf (d->cluster, sizeof d->cluster, "topology: gb200_nvl72, nodes: %u", n);
    add_set (d, "topology.nvlink_domain={nodes: %u}", 2u << below (d, 2));
    add_set (d, "topology.fabric.routing=%s", one_in (d, 2) ? "adaptive" : "ecmp");
    return 4 * n;
  }
  if (!one_in (d, 5))
    return 0;
  g_snprintf (d->cluster, sizeof d->cluster, "topology: hgx_h100, nodes: 8");
  add_set (d, "topology.fabric=%s", fabrics[below (d, G_N_ELEMENTS (fabrics))]);
  return 64;
}

/* 1 to 64 nodes of eight GPUs, on shapes of fabric whose leaves are small beside the cluster. Returned: GPUs. */
static guint32
draw_cluster (Draw *d)
{
  static const char *const machines[] = { "hgx_h100", "p5", "mi300x", "dgx_a100", "hgx_h200" };
  static const char *const kinds[] = { "rail_optimised", "fat_tree" };
  static const char *const routings[] = { "adaptive", "static", "ecmp" };
  static const guint32 nodes[] = { 1, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 32, 64 }, odd[] = { 3, 5, 6, 7 };
  guint32 special = draw_special (d);
  if (special > 0)
    return special;
  guint32 n = one_in (d, 6) ? odd[below (d, G_N_ELEMENTS (odd))] : nodes[below (d, G_N_ELEMENTS (nodes))];
  g_snprintf (d->cluster, sizeof d->cluster, "topology: %s, nodes: %u", machines[below (d, G_N_ELEMENTS (machines))], n);
  add_set (d, "topology.fabric={kind: %s, leaf: {radix: %u}, oversubscription: %u, routing: %s}",
           kinds[below (d, G_N_ELEMENTS (kinds))], 8u << below (d, 3), 1 + below (d, 3),
           routings[below (d, G_N_ELEMENTS (routings))]);
  return 8 * n;
}

static void
draw_disturbances (Draw *d, guint32 nodes)
{
  if (one_in (d, 4))
    g_string_append_printf (d->workload, ", stragglers: [{node: %u, nic: %u, rate: %u Gb/s}, {rank: %u, slowdown: 1.%u}]",
                            below (d, nodes), below (d, 4), 50 * (1 + below (d, 3)), below (d, 8 * nodes), 1 + below (d, 9));
  if (one_in (d, 5))
    g_string_append (d->workload, ", jitter: {compute: 2 %}");
  if (one_in (d, 6))
    add_set (d, "degrade=[{nics: %u}]", 1 + below (d, 4));
  if (one_in (d, 8))
    add_set (d, "background={load: %u %%}", 10 + below (d, 30));
  if (one_in (d, 6))
    add_set (d, "topology.overrides=[{nodes: %u, nics: {rate: 100 Gb/s}}]", below (d, nodes));
}

static void
draw_step (Draw *d, guint32 gpus)
{
  static const char *const schedules[] = { "1f1b", "gpipe", "zb_h1", "dualpipe" };
  static const char *const placements[] = { "tp, cp, dp, pp", "dp, tp, cp, pp", "tp, pp, cp, dp", "pp, tp, dp, cp",
                                            "cp, tp, pp, dp" };
  gboolean moe = one_in (d, 3);
  guint32 tp = 1u << below (d, 4), pp = 1u << below (d, 4), cp = 1u << below (d, 2), ep = moe ? 1u << below (d, 4) : 1;
  guint32 zero = below (d, 3);
  while (gpus % (tp * pp * cp) != 0 && pp > 1)
    pp /= 2;
  g_string_append (d->workload, moe ? WIDE_MOE : WIDE);
  g_string_append_printf (d->workload, ", accumulate: %u, parallel: {tp: %u, sp: %s, pp: %u, cp: %u, ep: %u, zero: %u}",
                          2 * (pp + below (d, 3)), tp, tp > 1 && (moe || one_in (d, 2)) ? "true" : "false", pp, cp, ep, zero);
  if (pp > 1) /* two copies of a stage are reduced once a step */
    g_string_append_printf (d->workload, ", schedule: %s", schedules[below (d, G_N_ELEMENTS (schedules) - (zero == 2 ? 1u : 0u))]);
  if (pp == 1 && one_in (d, 3))
    g_string_append (d->workload, one_in (d, 2) ? ", fsdp: {reshard: true}" : ", fsdp: {reshard: false}");
  if (one_in (d, 2))
    g_string_append_printf (d->workload, ", placement: [%s]", placements[below (d, G_N_ELEMENTS (placements))]);
}

/* Layers with given times, which know no placement, no stragglers and no jitter. */
static void
draw_layers (Draw *d)
{
  static const char *const schedules[] = { "1f1b", "gpipe", "zb_h1", "dualpipe" };
  guint32 pp = 1u << below (d, 4);
  g_string_append_printf (
      d->workload,
      "layers: [{count: 9, forward: 1 ms, backward: 2 ms, gradient: %u MB, activation: %u MB}, {count: 7, forward: "
      "2 ms, backward: 3 ms, gradient: %u MB}], micro_batches: %u, parallel: {pp: %u}, schedule: %s",
      below (d, 400), below (d, 90), below (d, 90), 2 * (pp + below (d, 3)), pp,
      schedules[pp > 1 ? below (d, G_N_ELEMENTS (schedules)) : 0]);
}

static Draw
draw_given (guint64 seed)
{
  Draw d = { .random = base_random_stream_at (seed, "fold layers", 0),
             .sets = g_ptr_array_new_with_free_func (g_free),
             .workload = g_string_new (NULL) };
  draw_cluster (&d);
  draw_layers (&d);
  g_ptr_array_add (d.sets, NULL);
  return d;
}

static Draw
draw (guint64 seed)
{
  Draw d = { .random = base_random_stream_at (seed, "fold", 0),
             .sets = g_ptr_array_new_with_free_func (g_free),
             .workload = g_string_new (NULL) };
  guint32 gpus = draw_cluster (&d);
  draw_step (&d, gpus);
  draw_disturbances (&d, gpus / 8);
  g_ptr_array_add (d.sets, NULL);
  return d;
}

static void
draw_clear (Draw *d)
{
  g_ptr_array_unref (d->sets);
  g_string_free (d->workload, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Draw, draw_clear)

/* A step that has run; no run where the draw is refused (sizes that do not divide, an adapter that is not there). */
static ModelStep
played (const Draw *d, gboolean fold)
{
  g_autoptr (GError) error = NULL;
  const char *const *sets = (const char *const *)(gpointer)d->sets->pdata;
  ModelStep step = model_load (d->cluster, d->workload->str, sets, COL_MODE_EVENT, &error);
  if (step.scenario == NULL)
    return step;
  step.net = col_net_new (scn_cluster (step.scenario));
  step.run = trn_step_start (&step.scenario->training, step.net, fold, &error);
  if (step.run == NULL)
    return step;
  step.b = trn_step_built (step.run);
  if (!eng_run (col_net_engine (step.net), ENG_TIME_NEVER, 0, &error))
    g_error ("%s: %s", d->workload->str, error->message);
  return step;
}

/* Bytes on all links. */
static double
carried (const ModelStep *step)
{
  double bytes = 0;
  for (guint i = 0; i < col_net_resources (step->net)->len; i++) {
    ColNetCount count = col_net_counted (step->net, i);
    bytes += count.bytes * count.n;
  }
  return bytes;
}

/* Tasks that do not begin or end when they do in the other. */
static guint
differing (const ModelStep *a, const ModelStep *b)
{
  guint n = 0;
  for (EngTask t = 0; t < eng_graph_n_tasks (a->b->graph); t++)
    n += eng_graph_task_start (a->b->graph, t) != eng_graph_task_start (b->b->graph, t) ||
         eng_graph_task_end (a->b->graph, t) != eng_graph_task_end (b->b->graph, t);
  return n;
}

static void
hold_times (Draw (*drawn) (guint64 seed), guint64 seeds)
{
  guint n_run = 0, n_large = 0, n_refused = 0, n_folded = 0;
  for (guint64 seed = 1; seed <= seeds; seed++) {
    g_auto (Draw) d = drawn (seed);
    g_auto (ModelStep) folded = played (&d, TRUE);
    if (folded.run == NULL) {
      n_refused++;
      continue;
    }
    g_auto (ModelStep) whole = played (&d, FALSE);
    TEST_TRUE (whole.run != NULL);
    TEST_INT (eng_graph_n_tasks (folded.b->graph), eng_graph_n_tasks (whole.b->graph));
    guint n = differing (&folded, &whole);
    if (n > 0)
      g_printerr ("seed %" G_GUINT64_FORMAT ": %s; %s; %s\n", seed, d.cluster, d.workload->str, (char *)d.sets->pdata[0]);
    TEST_INT (n, 0);
    TEST_NEAR (carried (&folded), carried (&whole), 1e-9);
    n_run++;
    n_large += folded.b->model->grid.n >= 128;
    n_folded += 2 * col_net_resources (folded.net)->len < col_net_resources (whole.net)->len;
  }
  TEST_TRUE (n_run > n_refused);
  TEST_TRUE (n_large > seeds / 8);
  TEST_TRUE (2 * n_folded > n_run); /* and it is worth it */
}

static void
every_task_of_a_folded_step_has_the_times_of_the_whole (void)
{
  hold_times (draw, DRAWN);
}

static void
the_same_holds_of_layers_with_given_times (void)
{
  hold_times (draw_given, DRAWN / 4);
}

/* ---- what folding rests on: routes found once for all that are alike are the routes ---- */

static gboolean
is_route (const ColRoute *way, const ColRankPlace *from, const ColRankPlace *to, const CluRoute *route)
{
  if (way->n_uses != route->uses->len || way->latency_s < route->latency_s || way->latency_s > route->latency_s)
    return FALSE;
  for (guint i = 0; i < way->n_uses; i++) {
    const CluUse *use = &g_array_index (route->uses, CluUse, i);
    if (col_route_res (&way->use[i], from, to) != use->res || way->use[i].share < use->share || way->use[i].share > use->share)
      return FALSE;
  }
  return TRUE;
}

static void
a_way_between_ranks_is_their_route (void)
{
  guint n_found = 0, n_alike = 0;
  for (guint64 seed = 1; seed <= DRAWN; seed++) {
    g_auto (Draw) d = draw (seed);
    g_autoptr (GError) refused = NULL;
    g_auto (ModelStep) step =
        model_load (d.cluster, d.workload->str, (const char *const *)(gpointer)d.sets->pdata, COL_MODE_EVENT, &refused);
    if (step.scenario == NULL)
      continue;
    const Clu *clu = scn_cluster (step.scenario);
    const ColSettings *settings = scn_settings (step.scenario);
    g_autoptr (ColRoutes) routes = col_routes_new (clu, settings);
    CluRoute route;
    clu_route_init (&route);
    for (guint i = 0; i < 400; i++) {
      guint32 a = below (&d, clu_n_gpus (clu)), b = one_in (&d, 2) ? below (&d, clu_n_gpus (clu)) : (a + 8) % clu_n_gpus (clu);
      CluRouteOptions options = CLU_ROUTE_DEFAULT;
      options.degrade = settings->degrade;
      options.nic = one_in (&d, 2) ? CLU_NONE : below (&d, 4);
      options.flow = ((guint64)a << 32) | b;
      const ColRankPlace from = col_routes_place (routes, a), to = col_routes_place (routes, b);
      const ColRoute *way = col_routes_find (routes, &from, &to, options.nic, NULL);
      gboolean found = clu_route_find (clu, from.dev, to.dev, &options, &route, NULL);
      if (found != (way != NULL) || (found && !is_route (way, &from, &to, &route)))
        TEST_TRUE (FALSE);
      n_found += found ? 1 : 0;
      n_alike += way != NULL && way == col_routes_find (routes, &from, &to, options.nic, NULL) ? 1 : 0;
    }
    clu_route_clear (&route);
  }
  TEST_TRUE (n_found > 20000);
  TEST_TRUE (n_alike > n_found / 2);
}

/* Loads of all resources, by number. */
static double *
sum_loads (const Clu *clu, const GArray *loads, double *sum)
{
  if (sum == NULL)
    sum = g_new0 (double, clu_n_resources (clu));
  for (guint i = 0; i < loads->len; i++)
    sum[g_array_index (loads, ColLoad, i).res] += g_array_index (loads, ColLoad, i).load;
  return sum;
}

/* The tensor-parallel groups of one stage, each priced by itself on ground of its own. */
static double *
sum_groups (const TrnModel *model, const ColSettings *settings)
{
  g_autoptr (GArray) leaders = g_array_new (FALSE, FALSE, sizeof (guint32)), ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  const Clu *clu = model->job->system->clu;
  double *sum = NULL;
  trn_grid_leaders (&model->grid, TRN_GROUP_TP, leaders);
  for (guint i = 0; i < leaders->len; i++) {
    g_autoptr (GError) error = NULL;
    g_auto (ColAnswer) coll = { 0 };
    const ColCollRequest request = { MDL_OP_ALL_GATHER, 1e8, MDL_DTYPE_BF16, MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 };
    trn_grid_group (&model->grid, TRN_GROUP_TP, 0, g_array_index (leaders, guint32, i), ranks);
    for (guint k = 0; k < ranks->len; k++)
      g_array_index (ranks, guint32, k) = g_array_index (model->job->system->gpus, guint32, g_array_index (ranks, guint32, k));
    g_autoptr (ColComm) comm = col_comm_new (clu, settings, (const guint32 *)(gconstpointer)ranks->data, ranks->len, &error);
    if (comm == NULL || !col_coll_price (comm, &request, &coll, &error))
      g_error ("%s", error->message);
    g_autoptr (GArray) loads = col_coll_loads (&coll);
    sum = sum_loads (clu, loads, sum);
  }
  return sum;
}

static void
groups_together_load_what_they_load_one_by_one (void)
{
  guint n = 0;
  for (guint64 seed = 1; seed <= DRAWN / 2; seed++) {
    g_auto (Draw) d = draw (seed);
    g_autoptr (GError) error = NULL;
    g_auto (ModelStep) step =
        model_load (d.cluster, d.workload->str, (const char *const *)(gpointer)d.sets->pdata, COL_MODE_EVENT, &error);
    g_auto (TrnModel) model = { 0 };
    if (step.scenario == NULL || !trn_model_plan (&step.scenario->training, &model, &error) ||
        trn_grid_group_size (&model.grid, TRN_GROUP_TP) < 2)
      continue;
    ColSettings settings = step.scenario->system.settings;
    settings.mode = COL_MODE_MODEL;
    g_autoptr (TrnPrices) prices = trn_prices_new (&model, FALSE, NULL);
    const TrnPriced *tp = trn_prices_coll (prices, TRN_GROUP_TP, 0, MDL_OP_ALL_GATHER, 1e8, MDL_FORMAT_BF16, &error);
    if (tp == NULL)
      g_error ("%s", error->message);
    trn_prices_fold (prices);
    const Clu *clu = step.scenario->system.clu;
    g_autofree double *one_by_one = sum_groups (&model, &settings), *together = sum_loads (clu, tp->all, NULL);
    for (CluRes res = 0; res < clu_n_resources (clu); res++)
      if (fabs (one_by_one[res] - together[res]) > 1e-12 * one_by_one[res])
        TEST_NEAR (together[res], one_by_one[res], 1e-12);
    n++;
  }
  TEST_TRUE (n > 30);
}

/* An all-to-all over some of the GPUs: the first of each so many, or all. */
static void
an_all_to_all_by_groups_is_that_of_its_pairs (void)
{
  guint n = 0, n_large = 0;
  for (guint64 seed = 1; seed <= DRAWN; seed++) {
    g_auto (Draw) d = draw (seed);
    g_autoptr (GError) error = NULL;
    const char *const *sets = (const char *const *)(gpointer)d.sets->pdata;
    g_auto (ModelStep) step = model_load (d.cluster, d.workload->str, sets, COL_MODE_EVENT, &error);
    const Clu *clu = step.scenario != NULL ? scn_cluster (step.scenario) : NULL;
    if (clu == NULL || clu_n_gpus (clu) > 256)
      continue;
    guint32 stride = 1 + below (&d, 3), ranks = clu_n_gpus (clu) / stride;
    g_autofree guint32 *gpus = g_new (guint32, ranks);
    for (guint32 i = 0; i < ranks; i++)
      gpus[i] = i * stride;
    g_autoptr (ColComm) comm = col_comm_new (clu, scn_settings (step.scenario), gpus, ranks, &error);
    if (comm == NULL)
      continue;
    const ColTraffic *traffic = col_comm_traffic (comm, MDL_OP_ALLTOALL, MDL_ALGO_PAIRWISE, 0, &error);
    g_autoptr (GArray) grouped = col_spread_loads (traffic->spread);
    g_autoptr (GPtrArray) pipes = col_comm_pipes (&(ColPipesQuery){ comm, MDL_OP_ALLTOALL, 0, 0, 0 }, MDL_ALGO_PAIRWISE);
    const ColPipe *pipe = pipes->pdata[0];
    for (guint32 e = 0; e < pipe->n_edges; e++)
      if (!col_load_edge (comm, &pipe->edge[e], NULL))
        TEST_TRUE (FALSE);
    ColSpread *spread = col_spread_take (comm->routes, clu);
    g_autoptr (GArray) each = col_spread_loads (spread);
    col_spread_unref (spread);
    TEST_INT (grouped->len, each->len);
    for (guint i = 0; i < each->len; i++) {
      const ColLoad *a = &g_array_index (grouped, ColLoad, i), *b = &g_array_index (each, ColLoad, i);
      if (a->res != b->res || fabs (a->load - b->load) > 1e-12 * b->load || fabs (a->factor - b->factor) > 1e-12)
        TEST_TRUE (FALSE);
    }
    n++;
    n_large += ranks >= 64 ? 1 : 0;
  }
  TEST_TRUE (n > DRAWN / 3);
  TEST_TRUE (n_large > 10);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "an all-to-all by groups is that of its pairs", an_all_to_all_by_groups_is_that_of_its_pairs },
    { "a way between ranks is their route", a_way_between_ranks_is_their_route },
    { "groups together load what they load one by one", groups_together_load_what_they_load_one_by_one },
    { "every task of a folded step has the times of the whole", every_task_of_a_folded_step_has_the_times_of_the_whole },
    { "the same holds of layers with given times", the_same_holds_of_layers_with_given_times },
    { NULL, NULL },
  };
  return test_main ("folding", cases);
}
