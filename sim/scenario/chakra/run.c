/* Traces on the engine. A GPU runs one kernel at a time, a host one operation; of those that can run, the first of the file begins.
 * Collectives of a communicator run in the order of their calls, as on its stream. A send leaves when its sender is ready, as with
 * NCCL's buffers; a receive ends when it has come. */
#include <math.h>

#include "collective/gpu.h"
#include "collective/send.h"
#include "engine/need.h"
#include "play-private.h"
#include "program-private.h"
#include "storage/copies.h"

#define MOST_SPANS 200000u
#define MOST_COMMS 32u

typedef struct {
  const Scn *scenario;
  const ScnChakraSpec *spec;
  ScnChakraPlay *play;
  EngGraph *graph;
  ColNet *net;
  ColRoutes *routes;
  ColSettings settings; /* for operations that share links with others */
  MdlGpu gpu;           /* whose constants the overlap model takes */
  EngPlace *place;      /* by rank */
  GHashTable *call_of;  /* EngTask -> number of the call + 1 */
  GHashTable *streams;  /* "from to" -> EngStream + 1 */
} Play;

static gboolean
is_alone (const Play *p)
{
  return p->scenario->system.settings.mode == COL_MODE_MODEL;
}

/* ---- kernels beside collectives: recorded kernels keep their times, which include it ---- */

static void
pace (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  const Play *p = user;
  const MdlOverlapCompute compute = { .kind = MDL_OVERLAP_GEMM, .sm_share = 1 };
  MdlOverlapComm comm[MOST_COMMS];
  double factor[MOST_COMMS];
  unsigned of[MOST_COMMS], n_comm = 0;
  (void)place;
  for (unsigned i = 0; i < n && n_comm < MOST_COMMS; i++) {
    const guint call = GPOINTER_TO_UINT (g_hash_table_lookup (p->call_of, GUINT_TO_POINTER (running[i])));
    if (call > 0) {
      comm[n_comm] = g_array_index (p->play->calls, ScnChakraCall, call - 1u).demand;
      of[n_comm++] = i;
    }
  }
  if (n_comm == 0 || n_comm == n)
    return;
  const double slower = mdl_overlap_many (p->scenario->system.overlap, &p->gpu, &compute, comm, n_comm, factor);
  for (unsigned i = 0; i < n && p->spec->compute.v == SCN_CHAKRA_ROOFLINE; i++)
    speed[i] = 1 / slower;
  for (unsigned k = 0; k < n_comm; k++)
    speed[of[k]] = 1 / factor[k];
}

/* ---- tasks ---- */

static guint32
gpu_of (const Play *p, guint rank)
{
  return col_system_gpu (&p->scenario->system, rank);
}

/* FALSE and *error: the GPU has no such arithmetic units. */
static gboolean
kernel_time (const Play *p, guint rank, const ScnChakraNode *node, double *time_s, GError **error)
{
  const ColSystem *system = &p->scenario->system;
  const double flop = isfinite (node->ops) ? node->ops : 0, moved_B = isfinite (node->tensor_B) ? node->tensor_B : 0;
  *time_s = node->duration_s;
  if (p->spec->compute.v == SCN_CHAKRA_RECORDED || node->cpu || (flop <= 0 && moved_B <= 0))
    return TRUE;
  MdlGpu gpu;
  col_gpu_facts (system->clu, clu_dev_node (system->clu, clu_gpu (system->clu, gpu_of (p, rank))), &gpu);
  const double peak = gpu.peak_flop_per_s[p->spec->precision.v];
  if (flop > 0 && !(peak > 0))
    return col_fail_at (error, p->spec->precision.mark, "%s has no units for %s", gpu.name != NULL ? gpu.name : "this GPU",
                        base_name (mdl_precision_names, p->spec->precision.v));
  *time_s = fmax (flop > 0 ? flop / peak : 0, moved_B / gpu.memory_Bps);
  return *time_s <= 30 * 86400.0 ||
         scn_chakra_fail (p->play->rank[rank].trace, node, error, "its num_ops take %.3g s; accepted: up to 30 days", *time_s);
}

static EngTask
add_flow (const Play *p, EngStream stream, const ColAnswer *coll, const char *name)
{
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  EngFlowSpec flow;
  if (is_alone (p) || coll->alike == NULL || coll->alike->len == 0)
    return eng_graph_delay (p->graph, stream, eng_time_from_s (coll->time_s), SCN_NODE_COLL, name);
  col_net_coll_flow (p->net, coll, uses, &flow);
  if (p->place != NULL)
    flow.bound_per_s = col_net_pace_Bps (&coll->cost, coll->size_B, coll->cost.time_s);
  return eng_graph_flow (p->graph, stream, &flow, SCN_NODE_COLL, name);
}

static gboolean
open_group (const Play *p, ScnChakraGroup *group, GError **error)
{
  if (group->comm != NULL)
    return TRUE;
  g_autoptr (GArray) gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < group->ranks->len; i++) {
    const guint32 gpu = gpu_of (p, g_array_index (group->ranks, guint32, i));
    g_array_append_val (gpus, gpu);
  }
  group->comm = col_comm_new_on (p->routes, p->scenario->system.clu, &p->settings, (const guint32 *)(const void *)gpus->data,
                                 gpus->len, error);
  group->stream = eng_graph_stream (p->graph, "communicator");
  return group->comm != NULL;
}

static gboolean
add_call (const Play *p, guint number, const char *name, GError **error)
{
  ScnChakraCall *call = &g_array_index (p->play->calls, ScnChakraCall, number);
  ScnChakraGroup *group = &g_array_index (p->play->groups, ScnChakraGroup, call->group);
  g_auto (ColAnswer) coll = { 0 };
  const ColCollRequest request = { call->op, call->bytes, MDL_DTYPE_BF16, MDL_ALGO_AUTO, MDL_PROTO_AUTO, call->root };
  if (!open_group (p, group, error) || !col_coll_price (group->comm, &request, &coll, error))
    return FALSE;
  call->alone_s = coll.time_s;
  call->demand = scn_demand_of (&coll);
  call->task = add_flow (p, group->stream, &coll, name);
  if (coll.alike != NULL)
    col_net_count_coll (p->net, &coll, 1);
  g_hash_table_insert (p->call_of, GUINT_TO_POINTER (call->task), GUINT_TO_POINTER (number + 1u));
  for (guint i = 0; p->place != NULL && i < group->ranks->len; i++)
    eng_graph_on (p->graph, call->task, p->place[g_array_index (group->ranks, guint32, i)]);
  return TRUE;
}

static gboolean
add_send (const Play *p, guint number, const char *name, GError **error)
{
  ScnChakraSend *send = &g_array_index (p->play->sends, ScnChakraSend, number);
  const guint32 from = gpu_of (p, send->from_rank), to = gpu_of (p, send->to_rank);
  const guint64 key = (guint64)from << 32 | to;
  gpointer stream = g_hash_table_lookup (p->streams, &key);
  g_auto (ColAnswer) coll = { 0 };
  g_autoptr (ColSendPairs) pairs =
      col_send_pairs_new (p->routes, p->scenario->system.clu, &p->settings, &(ColSends){ &from, &to, 1 }, error);
  if (pairs == NULL || !col_send_pairs_price (pairs, send->bytes, &coll, error))
    return FALSE;
  if (stream == NULL) {
    stream = GUINT_TO_POINTER (eng_graph_stream (p->graph, "sends") + 1u);
    g_hash_table_insert (p->streams, g_memdup2 (&key, sizeof key), stream);
  }
  send->alone_s = coll.time_s;
  send->task = add_flow (p, GPOINTER_TO_UINT (stream) - 1u, &coll, name);
  col_net_count_coll (p->net, &coll, 1);
  return TRUE;
}

/* A load or store of memory that is not the GPU's: by a copy engine from or to its host's. */
static gboolean
add_memory (const Play *p, guint rank, const ScnChakraNode *node, const char *name, GError **error)
{
  const ColSystem *system = &p->scenario->system;
  const CluDev gpu = clu_gpu (system->clu, gpu_of (p, rank)), host = scn_host_of (system->clu, gpu);
  const gboolean load = node->kind == SCN_NODE_MEM_LOAD;
  StoPair pair = { load ? host : gpu, load ? gpu : host, "host", "gpu", 0 };
  const StoCopies copies = { .pair = &pair, .n = 1, .size_B = node->tensor_B, .count = 1, .queued = TRUE, .ways = system->storage };
  StoFault fault = STO_FAULT_ROUTE;
  if (host == CLU_NONE)
    return scn_chakra_fail (p->play->rank[rank].trace, node, error, "the cluster's nodes have no host memory to %s",
                            load ? "load from" : "store to");
  g_autoptr (GPtrArray) priced = sto_copies_price (system->clu, &system->settings, &copies, &fault, error);
  if (priced == NULL)
    return FALSE;
  const StoCopy *copy = priced->pdata[0];
  if (is_alone (p) || copy->uses->len == 0) {
    eng_graph_delay (p->graph, ENG_NO_STREAM, eng_time_from_s (copy->time_s), node->kind, name);
    return TRUE;
  }
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  for (guint u = 0; u < copy->uses->len; u++) {
    const CluUse *use = &g_array_index (copy->uses, CluUse, u);
    const EngUse one = { col_net_link (p->net, use->res), use->share };
    g_array_append_val (uses, one);
    col_net_count (p->net, use->res, copy->size_B * use->share, 1, 1);
  }
  const EngFlowSpec flow = { .amount = copy->size_B,
                             .bound_per_s = copy->cost.bound_Bps,
                             .latency = eng_time_from_s (copy->cost.latency_s),
                             .uses = (const EngUse *)(const void *)uses->data,
                             .n_uses = uses->len };
  eng_graph_flow (p->graph, ENG_NO_STREAM, &flow, node->kind, name);
  return TRUE;
}

/* What a rank has one of, or two of. */
typedef struct {
  EngResource kernels, host, copies[2];
} Units;

static gboolean
add_node (const Play *p, guint rank, guint at, const Units *units, GError **error)
{
  ScnChakraRank *one = &p->play->rank[rank];
  const ScnChakraNode *node = scn_chakra_node (p->play, rank, at);
  g_autofree char *name = g_strdup_printf ("rank %u node %" G_GUINT64_FORMAT, rank, node->id);
  const guint call = one->call[at], send = one->send[at];
  double time_s = 0;
  one->task[at] = eng_graph_n_tasks (p->graph);
  if (call > 0 && g_array_index (p->play->calls, ScnChakraCall, call - 1u).task != ENG_NO_TASK)
    one->task[at] = g_array_index (p->play->calls, ScnChakraCall, call - 1u).task;
  else if (call > 0)
    return add_call (p, call - 1u, name, error);
  else if (send > 0 && node->kind == SCN_NODE_SEND)
    return add_send (p, send - 1u, name, error);
  else if (node->kind == SCN_NODE_MEM_LOAD || node->kind == SCN_NODE_MEM_STORE) {
    if (!add_memory (p, rank, node, name, error))
      return FALSE;
    eng_graph_hold (p->graph, one->task[at], units->copies[node->kind == SCN_NODE_MEM_STORE], 1);
  } else if (send > 0 || node->kind == SCN_NODE_METADATA || node->kind == SCN_NODE_INVALID)
    eng_graph_join (p->graph, ENG_NO_STREAM, node->kind, name);
  else {
    if (!kernel_time (p, rank, node, &time_s, error))
      return FALSE;
    eng_graph_delay (p->graph, ENG_NO_STREAM, eng_time_from_s (time_s), SCN_NODE_COMP, name);
    eng_graph_hold (p->graph, one->task[at], node->cpu ? units->host : units->kernels, 1);
    if (p->place != NULL && !node->cpu)
      eng_graph_on (p->graph, one->task[at], p->place[rank]);
  }
  return TRUE;
}

static void
add_edges (const Play *p, guint rank)
{
  const ScnChakraRank *one = &p->play->rank[rank];
  guint before;
  for (guint at = 0; at < one->trace->nodes->len; at++) {
    const ScnChakraNode *node = scn_chakra_node (p->play, rank, at);
    for (guint k = 0; k < scn_chakra_n_deps (node); k++)
      if (scn_chakra_waits (one->trace, node, k, &before))
        eng_graph_after (p->graph, one->task[at], one->task[before]);
    if (one->send[at] > 0 && node->kind == SCN_NODE_RECV)
      eng_graph_after (p->graph, one->task[at], g_array_index (p->play->sends, ScnChakraSend, one->send[at] - 1u).task);
  }
}

static gboolean
fits (const Play *p, ScnChakraResult *out, GError **error)
{
  EngNeed need = { 0 };
  for (guint rank = 0; rank < p->play->set->n_ranks; rank++) {
    const ScnChakraTrace *trace = p->play->rank[rank].trace;
    need.tasks += trace->nodes->len;
    for (guint i = 0; i < trace->nodes->len; i++)
      need.waits += scn_chakra_n_deps (scn_chakra_node (p->play, rank, i));
  }
  need.paced = p->place != NULL ? need.tasks : 0;
  out->ranks = p->play->set->n_ranks;
  out->nodes = (guint64)need.tasks;
  g_autofree char *what = g_strdup_printf ("traces of %u ranks", out->ranks);
  g_autoptr (GError) why = NULL;
  return eng_need_fits (&need, what, &why) || col_fail_at (error, p->spec->trace.mark, "%s", why->message);
}

static gboolean
build (Play *p, GError **error)
{
  const guint n = p->play->set->n_ranks;
  for (guint rank = 0; rank < n; rank++) {
    const Units units = { eng_graph_resource (p->graph, "", 1),
                          eng_graph_resource (p->graph, "", 1),
                          { eng_graph_resource (p->graph, "", 1), eng_graph_resource (p->graph, "", 1) } };
    for (guint at = 0; at < p->play->rank[rank].trace->nodes->len; at++)
      if (!add_node (p, rank, at, &units, error))
        return FALSE;
  }
  for (guint rank = 0; rank < n; rank++)
    add_edges (p, rank);
  return TRUE;
}

static void
add_spans (const Play *p, ColRunInfo *info)
{
  guint n = 0;
  for (guint rank = 0; info->spans != NULL && rank < p->play->set->n_ranks; rank++)
    for (guint at = 0; at < p->play->rank[rank].trace->nodes->len && n < MOST_SPANS; at++) {
      const ScnChakraNode *node = scn_chakra_node (p->play, rank, at);
      const EngTask task = p->play->rank[rank].task[at];
      const double start_s = eng_time_to_s (eng_graph_task_start (p->graph, task)),
                   end_s = eng_time_to_s (eng_graph_task_end (p->graph, task));
      const gboolean moves = node->kind >= SCN_NODE_SEND;
      if (end_s <= start_s)
        continue;
      col_run_span (info,
                    g_strdup_printf ("rank %u %s", rank,
                                     node->cpu ? "host"
                                     : moves   ? "communication"
                                               : "kernels"),
                    g_strdup (node->name != NULL ? node->name : ""), start_s, end_s);
      n++;
    }
  if (n == MOST_SPANS)
    col_run_warn (info, "the timeline ends after %u operations", MOST_SPANS);
}

static void
warn (const Play *p, ColRunInfo *info)
{
  gboolean dropped = FALSE;
  for (guint i = 0; i < p->play->set->traces->len; i++)
    dropped |= ((const ScnChakraTrace *)p->play->set->traces->pdata[i])->no_control;
  if (dropped && p->spec->control.v == SCN_CONTROL_AUTO)
    col_run_warn (info,
                  "control dependencies are not waited for: together with data dependencies they are a cycle, as in PyTorch's "
                  "traces, where they name callers");
  if (is_alone (p))
    col_run_warn (info, "mode model knows no contention: each operation takes as long as alone; --mode event shares links");
}

static gboolean
play (Play *p, ScnChakraResult *out, ColRunInfo *info, GError **error)
{
  const ColSystem *system = &p->scenario->system;
  g_autofree EngPlace *place = NULL;
  if (system->overlap != NULL && !system->settings.no_interference && !is_alone (p)) {
    place = g_new0 (EngPlace, p->play->set->n_ranks);
    for (guint rank = 0; rank < p->play->set->n_ranks; rank++)
      place[rank] = eng_graph_place (p->graph);
    col_gpu_facts (system->clu, clu_dev_node (system->clu, clu_gpu (system->clu, gpu_of (p, 0))), &p->gpu);
    eng_graph_set_pace (p->graph, pace, p);
    p->place = place;
  }
  g_autoptr (GError) why = NULL;
  if (!fits (p, out, error) || !build (p, error))
    return FALSE;
  if (!eng_graph_run (p->graph, &why))
    return col_fail_at (error, p->spec->trace.mark, "the traces of the ranks do not go together: %s", why->message);
  scn_chakra_sum_up (p->play, p->graph, out);
  add_spans (p, info);
  warn (p, info);
  info->n_events = eng_stats (col_net_engine (p->net)).events;
  col_run_add_links (info, system->clu, p->net, out->time_s);
  return TRUE;
}

gboolean
scn_chakra_run (const Scn *scenario, const ScnChakraSpec *spec, ScnChakraResult *out, ColRunInfo *info, GError **error)
{
  g_auto (ScnChakraSet) set = { 0 };
  g_auto (ScnChakraPlay) joined = { 0 };
  g_autoptr (GError) why = NULL;
  if (!scn_chakra_load (scenario, spec, &set, error))
    return FALSE;
  if (!scn_chakra_join (&joined, &set, &why))
    return col_fail_at (error, spec->trace.mark, "%s", why->message);
  g_autoptr (ColNet) net = col_net_new (scenario->system.clu);
  g_autoptr (EngGraph) graph = eng_graph_new (col_net_engine (net));
  g_autoptr (GHashTable) call_of = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) streams = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  Play p = {
    .scenario = scenario, .spec = spec, .play = &joined, .graph = graph, .net = net, .settings = scenario->system.settings
  };
  p.settings.no_fold = TRUE;
  g_autoptr (ColRoutes) routes = col_routes_new (scenario->system.clu, &p.settings);
  p.routes = routes;
  p.call_of = call_of;
  p.streams = streams;
  return play (&p, out, info, error);
}
