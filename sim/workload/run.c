/* Running a loaded scenario, and what its results have in common. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "jobs-private.h"
#include "stage-private.h"
#include "training-private.h"
#include "workload/trace.h"

const char *const wrk_part_names[WRK_PART_N] = {
  [WRK_PART_COMPUTE] = "compute",       [WRK_PART_EXPOSED_TP] = "exposed_tp",
  [WRK_PART_EXPOSED_DP] = "exposed_dp", [WRK_PART_EXPOSED_PP] = "exposed_pp",
  [WRK_PART_EXPOSED_CP] = "exposed_cp", [WRK_PART_EXPOSED_EP] = "exposed_ep",
  [WRK_PART_BUBBLE] = "bubble",         [WRK_PART_LAUNCH_GAP] = "launch_gap",
  [WRK_PART_COPY_WAIT] = "copy_wait",   [WRK_PART_STRAGGLER_WAIT] = "straggler_wait",
  [WRK_PART_OPTIMIZER] = "optimizer",   [WRK_PART_DATA_STALL] = "data_stall",
  [WRK_PART_CHECKPOINT] = "checkpoint",
};

static void
link_use_clear (gpointer data)
{
  g_free (((WrkLinkUse *)data)->busiest);
}

static void
span_free (gpointer data)
{
  WrkSpan *span = data;
  g_free (span->lane);
  g_free (span->name);
  g_free (span);
}

void
wrk_result_warn (WrkResult *result, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (result->warnings, g_strdup_vprintf (format, args));
  va_end (args);
}

/* Adds what a resource, and those that it stands for, carried to their class; keeps the fullest member's name. */
static void
add_link (WrkResult *result, const Clu *clu, CluRes res, WrkNetCount count, double time_s)
{
  const char *link_class = clu_resource_class (clu, res);
  double utilisation = time_s > 0 ? count.effort_B / (clu_resource_capacity (clu, res) * time_s) : 0;
  WrkLinkUse *row = NULL;
  for (guint i = 0; i < result->links->len && row == NULL; i++)
    if (strcmp (g_array_index (result->links, WrkLinkUse, i).link_class, link_class) == 0)
      row = &g_array_index (result->links, WrkLinkUse, i);
  if (row == NULL) {
    WrkLinkUse fresh = { .link_class = link_class, .utilisation = -1 };
    g_array_append_val (result->links, fresh);
    row = &g_array_index (result->links, WrkLinkUse, result->links->len - 1);
  }
  if (!clu_resource_is_both_ways (clu, res)) /* its bytes are the two directions' own */
    row->bytes += count.bytes * count.n;
  if (utilisation > row->utilisation * (1 + 1e-9)) {
    g_free (row->busiest);
    row->busiest = clu_resource_name (clu, res);
    row->utilisation = utilisation;
  }
}

static int
by_utilisation (gconstpointer a, gconstpointer b)
{
  const WrkLinkUse *x = a, *y = b;
  if (x->utilisation != y->utilisation)
    return x->utilisation > y->utilisation ? -1 : 1;
  return strcmp (x->link_class, y->link_class);
}

void
wrk_result_add_links (WrkResult *result, const Clu *clu, const WrkNet *net, double time_s)
{
  const GArray *resources = wrk_net_resources (net);
  for (guint i = 0; i < resources->len; i++)
    add_link (result, clu, g_array_index (resources, CluRes, i), wrk_net_counted (net, i), time_s);
  g_array_sort (result->links, by_utilisation);
}

/* An answer that no network setting can move says so. */
static void
warn_local (const WrkScenario *scenario, WrkResult *result, const WrkComm *comm)
{
  if (wrk_comm_n_ranks (comm) == 1)
    wrk_result_warn (result, "this collective has one rank: it costs its launch alone");
  else if (wrk_comm_is_local (comm) && clu_n_nodes (scenario->clu) > 1)
    wrk_result_warn (
        result, "this collective never leaves %s (%u ranks of a cluster of %u GPUs): NICs and fabric cannot move the answer",
        wrk_comm_n_nodes (comm) == 1 ? "a node" : "an NVLink domain", wrk_comm_n_ranks (comm), clu_n_gpus (scenario->clu));
}

static WrkCollRequest
collective_request (const WrkCollectiveSpec *spec)
{
  return (WrkCollRequest){ (MdlOp)spec->op.v,     spec->bytes.v,           (MdlDtype)spec->dtype.v,
                           (MdlAlgo)spec->algo.v, (MdlProto)spec->proto.v, (guint32)spec->root.v };
}

WrkComm *
wrk_scenario_comm (const WrkScenario *scenario, const WrkResult *result, const WrkSettings *settings, WrkCollRequest *request,
                   GError **error)
{
  const guint32 *gpus = (const guint32 *)(const void *)scenario->gpus->data;
  const WrkTrainingResult *training = &result->training;
  if (result->kind == WRK_KIND_TRAINING) {
    const WrkTrainingSpec *spec = &scenario->training;
    g_return_val_if_fail (training->all_reduce.n_ranks > 0, NULL);
    *request = (WrkCollRequest){ training->all_reduce.op, training->all_reduce.size_B, training->all_reduce.dtype,
                                 (MdlAlgo)spec->algo.v,   (MdlProto)spec->proto.v,     0 };
    return wrk_gradient_comm (scenario, settings, training->dp, training->all_reduce_stage, training->all_reduce_partner, error);
  }
  g_return_val_if_fail (result->coll.n_ranks > 0, NULL);
  *request = collective_request (&scenario->collective);
  return wrk_comm_new (scenario->clu, settings, gpus, result->coll.n_ranks, error);
}

static gboolean
run_collective (WrkScenario *scenario, WrkResult *result, GError **error)
{
  const WrkCollectiveSpec *spec = &scenario->collective;
  guint32 n = spec->ranks.set ? (guint32)spec->ranks.v : scenario->gpus->len;
  g_autoptr (WrkComm) comm =
      wrk_comm_new (scenario->clu, &scenario->settings, (const guint32 *)(const void *)scenario->gpus->data, n, error);
  if (comm == NULL)
    return FALSE;
  WrkCollRequest request = collective_request (spec);
  GError *why = NULL;
  if (!wrk_coll_price (comm, &request, &result->coll, &why)) {
    if (g_error_matches (why, BASE_ERROR, BASE_ERROR_INPUT)) {
      wrk_fail_at (error, spec->algo.set ? spec->algo.mark : spec->op.mark, "%s", why->message);
      g_error_free (why);
    } else
      g_propagate_error (error, why);
    return FALSE;
  }
  result->repeat = (unsigned)spec->repeat.v;
  result->n_events = result->coll.n_events;
  warn_local (scenario, result, comm);
  wrk_comm_switch_warnings (comm, &result->coll, result->warnings);
  g_autoptr (WrkNet) net = wrk_net_new (scenario->clu);
  wrk_net_count_coll (net, &result->coll, 1);
  wrk_result_add_links (result, scenario->clu, net, result->coll.time_s);
  return TRUE;
}

/* Takes lane and name. */
static void
add_span (WrkResult *result, char *lane, char *name, double start_s, double end_s)
{
  WrkSpan *span = g_new (WrkSpan, 1);
  *span = (WrkSpan){ .lane = lane, .name = name, .start_s = start_s, .end_s = end_s };
  g_ptr_array_add (result->spans, span);
}

/* Communicators that the workload asks for, of all its ranks. */
static void
make_communicators (const WrkScenario *scenario, WrkResult *result)
{
  gboolean trains = scenario->kind == WRK_KIND_TRAINING;
  const BaseNum *asked = trains ? &scenario->training.communicators : &scenario->collective.communicators;
  if (scenario->kind == WRK_KIND_TRANSFER || scenario->kind == WRK_KIND_IO || scenario->jobs != NULL || !asked->set)
    return;
  if (scenario->settings.library == NULL) {
    wrk_result_warn (result, "'communicators' has no effect: the plain library makes none");
    return;
  }
  result->communicators = (unsigned)asked->v;
  guint32 ranks = trains ? result->training.n_ranks : result->coll.n_ranks, local = 0, nodes = 0, last = CLU_NONE, here = 0;
  for (guint32 i = 0; i < ranks; i++) {
    guint32 node = clu_dev_node (scenario->clu, clu_gpu (scenario->clu, g_array_index (scenario->gpus, guint32, i)));
    nodes += node != last;
    here = node != last ? 1 : here + 1;
    local = MAX (local, here);
    last = node;
  }
  result->create_s = mdl_create_s (scenario->settings.library, result->communicators, ranks, local, nodes, &result->create_source);
}

/* One operation or copy, all of it at once: what does not grow with the bytes, then the bytes. */
static void
take_single_spans (const WrkScenario *scenario, WrkResult *result)
{
  gboolean copy = scenario->kind == WRK_KIND_TRANSFER;
  const MdlCollCost *cost = copy ? &result->transfer.cost : &result->coll.cost;
  double time_s = copy ? result->transfer.time_s : result->coll.time_s, latency_s = fmin (cost->latency_s, time_s);
  double bytes = copy ? result->transfer.bytes : result->coll.size_B;
  g_autofree char *lane =
      copy ? g_strdup_printf ("%s -> %s", result->transfer.from, result->transfer.to)
           : g_strdup_printf ("%s %s %s", base_name (mdl_op_names, (int)result->coll.op),
                              base_name (mdl_algo_names, result->coll.algo), base_name (mdl_proto_names, result->coll.proto));
  add_span (result, g_strdup (lane), g_strdup ("latency"), 0, latency_s);
  add_span (result, g_strdup (lane), g_strdup_printf ("%.0f B", bytes), latency_s, time_s);
}

/* The loader, and what was done for it before. */
static gboolean
add_input (const WrkScenario *scenario, WrkResult *result, GError **error)
{
  const WrkTrainingResult before = result->training;
  return wrk_add_loader (scenario, result, error) && wrk_add_stage (scenario, &before, result, error);
}

WrkResult *
wrk_scenario_run (WrkScenario *scenario, gboolean want_spans, GError **error)
{
  g_autoptr (WrkResult) result = g_new0 (WrkResult, 1);
  result->kind = scenario->kind;
  result->repeat = 1;
  result->links = g_array_new (FALSE, FALSE, sizeof (WrkLinkUse));
  g_array_set_clear_func (result->links, link_use_clear);
  result->warnings = g_ptr_array_new_with_free_func (g_free);
  if (want_spans)
    result->spans = g_ptr_array_new_with_free_func (span_free);
  clu_route_init (&result->transfer.route);
  gboolean ok = scenario->jobs != NULL                   ? wrk_jobs_run (scenario, result, want_spans, error)
                : scenario->kind == WRK_KIND_TRANSFER    ? wrk_run_transfer (scenario, result, error)
                : scenario->kind == WRK_KIND_IO          ? wrk_run_io (scenario, result, error)
                : scenario->training.model.model != NULL ? wrk_run_model (scenario, result, want_spans, error)
                : scenario->kind == WRK_KIND_TRAINING    ? wrk_run_training (scenario, result, want_spans, error)
                                                         : run_collective (scenario, result, error);
  if (ok && scenario->kind == WRK_KIND_TRAINING && scenario->jobs == NULL)
    ok = add_input (scenario, result, error) && wrk_add_checkpoint (scenario, result, error);
  if (ok)
    make_communicators (scenario, result);
  if (ok && want_spans && scenario->jobs == NULL && scenario->kind != WRK_KIND_TRAINING && scenario->kind != WRK_KIND_IO)
    take_single_spans (scenario, result);
  return ok ? g_steal_pointer (&result) : NULL;
}

void
wrk_result_free (WrkResult *result)
{
  if (result == NULL)
    return;
  wrk_coll_clear (&result->coll);
  wrk_coll_clear (&result->training.all_reduce);
  g_clear_pointer (&result->training.memory, g_array_unref);
  g_clear_pointer (&result->training.terms, g_array_unref);
  g_free (result->training.memory_advice);
  clu_route_clear (&result->transfer.route);
  g_clear_pointer (&result->transfer.copies, g_ptr_array_unref);
  wrk_io_result_clear (&result->io);
  g_free (result->transfer.from);
  g_free (result->transfer.to);
  g_free (result->transfer.bottleneck);
  g_clear_pointer (&result->links, g_array_unref);
  g_clear_pointer (&result->warnings, g_ptr_array_unref);
  g_clear_pointer (&result->spans, g_ptr_array_unref);
  g_clear_pointer (&result->trace, wrk_trace_free);
  g_clear_pointer (&result->jobs, g_ptr_array_unref);
  g_free (result);
}
