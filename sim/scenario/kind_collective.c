/* Workloads of kind `collective`: one operation of a communicator. */
#include <math.h>

#include "collective/possible.h"
#include "jobs-private.h"

static const BaseName kind_names[] = { { "collective", 0, "one collective operation" }, { NULL, 0, NULL } };
static const BaseField collective_fields[] = {
  BASE_ROW (ScnCollectiveSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "`collective`"),
  BASE_ROW (ScnCollectiveSpec, "op", op, ENUM, .names = mdl_op_names, .required = TRUE, .help = "operation"),
  BASE_ROW_NUM (ScnCollectiveSpec, "bytes", bytes, BYTES, .min = "0", .max = "1 PB", .required = TRUE,
                .help = "size as in nccl-tests: one rank's buffer; for all_gather and reduce_scatter the gathered buffer"),
  BASE_ROW (ScnCollectiveSpec, "dtype", dtype, ENUM, .names = mdl_dtype_names, .fallback = "bf16", .help = "element type"),
  BASE_ROW (ScnCollectiveSpec, "algo", algo, ENUM, .names = mdl_algo_names, .fallback = "auto", .help = "algorithm"),
  BASE_ROW (ScnCollectiveSpec, "proto", proto, ENUM, .names = mdl_proto_names, .fallback = "auto", .help = "protocol"),
  BASE_ROW_NUM (ScnCollectiveSpec, "ranks", ranks, COUNT, .min = "1", .help = "GPUs that take part, from the first; default: all"),
  BASE_ROW_NUM (ScnCollectiveSpec, "repeat", repeat, COUNT, .min = "1", .max = "1 G", .fallback = "1",
                .help = "repetitions, one after another; multiplies the time"),
  BASE_ROW_NUM (ScnCollectiveSpec, "communicators", communicators, COUNT, .max = "100000",
                .help = "communicators of these ranks, created first, one after another; reported apart"),
  BASE_ROW_NUM (ScnCollectiveSpec, "root", root, COUNT, .fallback = "0", .help = "root rank of broadcast and reduce"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_collective = { .name = "workload (collective)",
                                           .help = "One collective operation.",
                                           .fields = collective_fields };

static gboolean
check (const Scn *scenario, GError **error)
{
  const ScnCollectiveSpec *c = &scenario->collective;
  double ranks = c->ranks.set ? c->ranks.v : scenario->system.gpus->len;
  if (ranks > scenario->system.gpus->len)
    return col_fail_at (error, c->ranks.mark,
                        "%.0f ranks need as many GPUs, the cluster has %u (%u nodes); ask for more nodes or fewer ranks", ranks,
                        scenario->system.gpus->len, clu_n_nodes (scenario->system.clu));
  if (c->root.v >= ranks)
    return col_fail_at (error, c->root.mark, "root %.0f is not one of the %.0f ranks (0 to %.0f)", c->root.v, ranks, ranks - 1);
  return TRUE;
}

/* An answer that no network setting can move says so. */
static void
warn_local (const Scn *scenario, ScnResult *result, const ColComm *comm)
{
  if (col_comm_n_ranks (comm) == 1)
    col_run_warn (&result->run, "this collective has one rank: it costs its launch alone");
  else if (col_comm_is_local (comm) && clu_n_nodes (scenario->system.clu) > 1)
    col_run_warn (
        &result->run, "this collective never leaves %s (%u ranks of a cluster of %u GPUs): NICs and fabric cannot move the answer",
        col_comm_n_nodes (comm) == 1 ? "a node" : "an NVLink domain", col_comm_n_ranks (comm), clu_n_gpus (scenario->system.clu));
}

ColCollRequest
scn_collective_request (const ScnCollectiveSpec *spec)
{
  return (ColCollRequest){ (MdlOp)spec->op.v,     spec->bytes.v,           (MdlDtype)spec->dtype.v,
                           (MdlAlgo)spec->algo.v, (MdlProto)spec->proto.v, (guint32)spec->root.v };
}

/* Each message as a slice of the lane of its sender: "reduce-scatter round 1: chunk 0 to rank 1". */
static void
add_rounds (const ColAnswer *answer, const GArray *messages, ColRunInfo *info)
{
  gboolean both = answer->op == MDL_OP_ALL_REDUCE;
  for (guint i = 0; i < messages->len; i++) {
    const ColMessage *m = &g_array_index (messages, ColMessage, i);
    char *lane = g_strdup_printf ("%s %u: rank %u -> %u", m->chunk >= 0 ? "ring" : "tree", m->pipe, m->from, m->to);
    char *name = m->chunk >= 0 ? g_strdup_printf ("%sround %u: chunk %d",
                                                  !both        ? ""
                                                  : m->gathers ? "all-gather "
                                                               : "reduce-scatter ",
                                                  m->round + 1, m->chunk)
                               : g_strdup_printf ("message %u", m->round + 1);
    col_run_span (info, lane, name, m->start_s, m->end_s);
  }
  if (messages->len >= G_MAXUINT16)
    col_run_warn (info, "the trace has the first %u messages", messages->len);
}

/* Errors have their place: at the algorithm, or at the operation. */
static gboolean
price (const Scn *scenario, ColComm *comm, ColAnswer *out, GError **error)
{
  const ScnCollectiveSpec *spec = &scenario->collective;
  const ColCollRequest request = scn_collective_request (spec);
  GError *why = NULL;
  if (col_coll_price (comm, &request, out, &why)) {
    g_autofree char *text = col_one_shot_why_not (comm, out);
    return text == NULL || base_fail_at (error, scenario->system.settings.one_shot_mark, "%s; leave it out", text);
  }
  if (!g_error_matches (why, BASE_ERROR, BASE_ERROR_INPUT)) {
    g_propagate_error (error, why);
    return FALSE;
  }
  col_fail_at (error, spec->algo.set ? spec->algo.mark : spec->op.mark, "%s", why->message);
  g_error_free (why);
  return FALSE;
}

static ColComm *
comm_of (const Scn *scenario, const ColSettings *settings, GError **error)
{
  const ScnCollectiveSpec *spec = &scenario->collective;
  return col_system_comm (&scenario->system, settings,
                          spec->ranks.set ? (guint32)spec->ranks.v : scenario->system.gpus->len, error);
}

static gboolean
ready (const Scn *scenario, GError **error)
{
  ColSettings settings = scenario->system.settings;
  settings.mode = COL_MODE_MODEL;
  g_autoptr (ColComm) comm = comm_of (scenario, &settings, error);
  g_auto (ColAnswer) answer = { 0 };
  return comm != NULL && price (scenario, comm, &answer, error);
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  const ScnCollectiveSpec *spec = &scenario->collective;
  g_autoptr (ColComm) comm = comm_of (scenario, &scenario->system.settings, error);
  if (comm == NULL)
    return FALSE;
  g_autoptr (GArray) messages = g_array_new (FALSE, FALSE, sizeof (ColMessage));
  col_comm_record (comm, result->run.spans != NULL ? messages : NULL);
  if (!price (scenario, comm, &result->coll, error))
    return FALSE;
  result->repeat = (unsigned)spec->repeat.v;
  result->run.n_events = result->coll.n_events;
  warn_local (scenario, result, comm);
  col_comm_switch_warnings (comm, &result->coll, result->run.warnings);
  g_autoptr (ColNet) net = col_net_new (scenario->system.clu);
  col_net_count_coll (net, &result->coll, 1);
  col_run_add_links (&result->run, scenario->system.clu, net, result->coll.time_s);
  const ColAnswer *answer = &result->coll;
  const MdlCollQuestion *q = &answer->question;
  if (answer->n_ranks > 1 && q->n_nodes > 1) {
    col_run_network_cpu (&result->run, &scenario->system,
                         &(ColNetworkUse){ net, answer->time_s, answer->time_s, answer->n_nodes,
                                           (answer->n_ranks + answer->n_nodes - 1) / answer->n_nodes, q->inter == MDL_HOP_TCP });
    col_run_diagnose (&result->run, 1, NULL);
  }
  g_autofree char *lane = g_strdup_printf ("%s %s %s", base_name (mdl_op_names, (int)answer->op),
                                           base_name (mdl_algo_names, answer->algo), base_name (mdl_proto_names, answer->proto));
  col_run_two_spans (&result->run, lane, fmin (answer->cost.latency_s, answer->time_s), answer->time_s, answer->size_B);
  add_rounds (answer, messages, &result->run);
  return TRUE;
}

static void
clear (ScnResult *result)
{
  col_coll_clear (&result->coll);
}

/* Message by message, by a communicator that lives as long as its run. */
static gboolean
start_exact (const ScnJob *job, const ScnResult *alone, ScnRunning *running, GError **error)
{
  const Scn *view = &job->view;
  running->comm = col_system_comm (&view->system, &view->system.settings, alone->coll.n_ranks, error);
  if (running->comm == NULL)
    return FALSE;
  running->exact = col_exact_new (running->comm, &alone->coll, (guint32)view->collective.root.v, running->net, TRUE, error);
  col_net_count_coll (running->net, &alone->coll, alone->repeat);
  return running->exact != NULL && scn_running_start_exact (running, alone->repeat, error);
}

static gboolean
start (const ScnJob *job, const ScnResult *alone, ScnRunning *running, GError **error)
{
  if (job->view.system.settings.steps == COL_STEPS_EXACT && alone->coll.n_ranks > 1 && col_algo_has_messages (alone->coll.algo))
    return start_exact (job, alone, running, error);
  col_net_coll_flow (running->net, &alone->coll, running->uses, &running->spec);
  col_net_count_coll (running->net, &alone->coll, alone->repeat);
  scn_running_start_flows (running, alone->coll.n_ranks > 1 ? 1 : 0, alone->repeat);
  return TRUE;
}

static const BaseNum *
communicators (const Scn *scenario, const ScnResult *result, guint32 *n_ranks, gboolean *each_step)
{
  (void)each_step;
  *n_ranks = result->coll.n_ranks;
  return &scenario->collective.communicators;
}

const ScnKindOps scn_kind_collective = {
  .schema = &scn_schema_collective,
  .spec = G_STRUCT_OFFSET (Scn, collective),
  .check = check,
  .ready = ready,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnResult, "time_s", coll.time_s),
  .repeats = TRUE,
  .bound = BASE_MEMBER (ScnResult, "bound_by", coll.bound_by),
  .start = start,
  .communicators = communicators,
};
