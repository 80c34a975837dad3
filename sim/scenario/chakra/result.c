/* What traces came to: busy times of each rank, and sums of operations that are alike. */
#include <math.h>
#include <string.h>

#include "play-private.h"

/* An operation's start or end. */
typedef struct {
  EngTime at;
  int kernels, comms, any; /* what it adds to those that run */
} Edge;

static gint
compare_edges (gconstpointer a, gconstpointer b)
{
  const Edge *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static void
add_interval (GArray *edges, EngTime start, EngTime end, gboolean kernel, gboolean comm)
{
  const Edge begin = { start, kernel, comm, 1 }, stop = { end, -kernel, -comm, -1 };
  g_array_append_val (edges, begin);
  g_array_append_val (edges, stop);
}

static void
sum_rank (const ScnChakraPlay *play, const EngGraph *graph, guint rank, ScnChakraRankTime *out)
{
  const ScnChakraRank *one = &play->rank[rank];
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  EngTime last = 0, before = 0;
  out->rank = rank;
  for (guint at = 0; at < one->trace->nodes->len; at++) {
    const ScnChakraNode *node = scn_chakra_node (play, rank, at);
    const EngTime start = eng_graph_task_start (graph, one->task[at]), end = eng_graph_task_end (graph, one->task[at]);
    const double time_s = eng_time_to_s (end) - eng_time_to_s (start);
    const gboolean comm = one->call[at] > 0 || one->send[at] > 0, kernel = node->kind == SCN_NODE_COMP && !node->cpu;
    last = MAX (last, end);
    if (end <= start)
      continue;
    *(node->cpu ? &out->host_s : kernel ? &out->compute_s : comm ? &out->communication_s : &out->memory_s) += time_s;
    add_interval (edges, start, end, kernel, comm);
  }
  g_array_sort (edges, compare_edges);
  int kernels = 0, comms = 0, any = 0;
  out->communication_s = 0;
  for (guint i = 0; i < edges->len; i++) {
    const Edge *edge = &g_array_index (edges, Edge, i);
    const double since_s = eng_time_to_s (edge->at) - eng_time_to_s (before);
    out->communication_s += comms > 0 ? since_s : 0;
    out->exposed_s += comms > 0 && kernels == 0 ? since_s : 0;
    out->idle_s += any == 0 ? since_s : 0;
    kernels += edge->kernels;
    comms += edge->comms;
    any += edge->any;
    before = edge->at;
  }
  out->end_s = eng_time_to_s (last);
}

static const char *
bottleneck_of (const ScnChakraRankTime *rank)
{
  const struct {
    const char *name;
    double time_s;
  } all[] = { { "compute", rank->compute_s },
              { "communication", rank->exposed_s },
              { "host", rank->end_s - rank->compute_s - rank->exposed_s - rank->idle_s },
              { "waiting for other ranks", rank->idle_s } };
  guint most = 0;
  for (guint i = 1; i < G_N_ELEMENTS (all); i++)
    most = all[i].time_s > all[most].time_s ? i : most;
  return all[most].name;
}

static void
add_op (GHashTable *known, GArray *list, const ScnChakraOp *op)
{
  char *key = g_strdup_printf ("%s %u", op->name, op->ranks);
  const guint at = GPOINTER_TO_UINT (g_hash_table_lookup (known, key));
  if (at == 0) {
    g_array_append_val (list, *op);
    g_hash_table_insert (known, key, GUINT_TO_POINTER (list->len));
    return;
  }
  ScnChakraOp *sum = &g_array_index (list, ScnChakraOp, at - 1u);
  sum->count += op->count;
  sum->bytes += op->bytes;
  sum->alone_s += op->alone_s;
  sum->time_s += op->time_s;
  g_free (key);
}

static double
time_of (const EngGraph *graph, EngTask task)
{
  return eng_time_to_s (eng_graph_task_end (graph, task)) - eng_time_to_s (eng_graph_task_start (graph, task));
}

static gint
compare_ops (gconstpointer a, gconstpointer b)
{
  const ScnChakraOp *x = a, *y = b;
  const int names = strcmp (x->name, y->name);
  return x->time_s < y->time_s   ? 1
         : x->time_s > y->time_s ? -1
         : names != 0            ? names
                                 : (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static void
sum_ops (const ScnChakraPlay *play, const EngGraph *graph, ScnChakraResult *out)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < play->calls->len; i++) {
    const ScnChakraCall *call = &g_array_index (play->calls, ScnChakraCall, i);
    const ScnChakraOp op = { base_name (mdl_op_names, (int)call->op),
                             g_array_index (play->groups, ScnChakraGroup, call->group).ranks->len,
                             1,
                             call->bytes,
                             call->alone_s,
                             time_of (graph, call->task) };
    add_op (known, out->ops, &op);
  }
  for (guint i = 0; i < play->sends->len; i++) {
    const ScnChakraSend *send = &g_array_index (play->sends, ScnChakraSend, i);
    const ScnChakraOp op = { "send", 2, 1, send->bytes, send->alone_s, time_of (graph, send->task) };
    add_op (known, out->ops, &op);
  }
  g_array_sort (out->ops, compare_ops);
}

void
scn_chakra_sum_up (const ScnChakraPlay *play, const EngGraph *graph, ScnChakraResult *out)
{
  out->by_rank = g_array_new (FALSE, TRUE, sizeof (ScnChakraRankTime));
  out->ops = g_array_new (FALSE, TRUE, sizeof (ScnChakraOp));
  for (guint rank = 0; rank < play->set->n_ranks; rank++) {
    ScnChakraRankTime one = { 0 };
    sum_rank (play, graph, rank, &one);
    g_array_append_val (out->by_rank, one);
    if (rank == 0 || one.end_s > out->last.end_s)
      out->last = one;
  }
  out->time_s = out->last.end_s;
  out->bound_by = bottleneck_of (&out->last);
  sum_ops (play, graph, out);
}

void
scn_chakra_result_free (ScnChakraResult *result)
{
  if (result == NULL)
    return;
  g_clear_pointer (&result->by_rank, g_array_unref);
  g_clear_pointer (&result->ops, g_array_unref);
  g_free (result);
}
