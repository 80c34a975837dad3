/* What the communication of a step comes to by kind, and what bounds the step: of work, communication that is waited for, the
 * pipeline's bubble, the host's launches and slower ranks whatever took most of the time of the rank that ends last. Work is bound
 * by what bounds most of its kernels, communication by what bounds most of the kind that is waited for longest. */
#include <string.h>

#include "build-private.h"

const char *const trn_comm_names[TRN_COMM_N] = {
  [TRN_COMM_TP] = "tp", [TRN_COMM_CP] = "cp", [TRN_COMM_EP] = "ep",
  [TRN_COMM_DP] = "dp", [TRN_COMM_PP] = "pp", [TRN_COMM_HOST] = "host",
};
static const TrnPart exposed[TRN_COMM_N] = {
  [TRN_COMM_TP] = TRN_PART_EXPOSED_TP, [TRN_COMM_CP] = TRN_PART_EXPOSED_CP, [TRN_COMM_EP] = TRN_PART_EXPOSED_EP,
  [TRN_COMM_DP] = TRN_PART_EXPOSED_DP, [TRN_COMM_PP] = TRN_PART_EXPOSED_PP, [TRN_COMM_HOST] = TRN_PART_COPY_WAIT,
};

/* Of a task with communication. */
static TrnCommKind
comm_of (const TrnBuild *b, EngTask task)
{
  TrnPart part = trn_step_part ((TrnStepKind)eng_graph_task_kind (b->graph, task));
  int kind = 0;
  while (kind + 1 < TRN_COMM_N && exposed[kind] != part)
    kind++;
  return (TrnCommKind)kind;
}

static double
length_s (const TrnBuild *b, EngTask task)
{
  return eng_time_to_s (eng_graph_task_end (b->graph, task) - eng_graph_task_start (b->graph, task));
}

void
trn_step_communication (const TrnBuild *b, TrnResult *out)
{
  double by_way_s[TRN_COMM_N][MDL_OP_N][MDL_ALGO_N][MDL_PROTO_N] = { 0 };
  double most_s[TRN_COMM_N] = { 0 };
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (note->comm == NULL || (note->lane != out->stage && note->other != out->stage))
      continue;
    const ColAnswer *coll = &note->comm->coll;
    TrnCommKind kind = comm_of (b, t);
    if (coll->n_ranks > 1 && coll->question.n_nodes > 1) {
      out->network_s += length_s (b, t);
      out->tcp |= coll->question.inter == MDL_HOP_TCP;
    }
    TrnCommUse *use = &out->comm[kind];
    use->count += note->share;
    use->time_s += length_s (b, t);
    if (note->lane == out->stage || kind == TRN_COMM_DP) /* a collective of two pipeline ranks is of either */
      use->sent_B += note->share * coll->size_B * mdl_op_busbw_factor (coll->op, coll->n_ranks);
    double *way_s = &by_way_s[kind][coll->op][coll->algo][coll->proto];
    *way_s += length_s (b, t);
    if (*way_s > most_s[kind]) {
      most_s[kind] = *way_s;
      use->op = coll->op;
      use->algo = coll->algo;
      use->proto = coll->proto;
      use->does = note->comm->does;
      use->library = note->comm->library;
    }
  }
  for (int k = 0; k < TRN_COMM_N; k++)
    out->comm[k].exposed_s = out->part_s[exposed[k]];
}

/* ---- the bound ---- */

/* The link class, "channels" or "latency" that bounds most of a kind's time. */
static const char *
bound_of_comm (const TrnBuild *b, guint32 stage, TrnCommKind kind)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  guint most = 0;
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (note->comm == NULL || (note->lane != stage && note->other != stage) || comm_of (b, t) != kind)
      continue;
    double time_s = length_s (b, t);
    guint at = 0;
    while (at < names->len && strcmp (names->pdata[at], note->comm->coll.bound_by) != 0)
      at++;
    if (at < names->len)
      g_array_index (times, double, at) += time_s;
    else {
      g_ptr_array_add (names, (gpointer)note->comm->coll.bound_by);
      g_array_append_val (times, time_s);
    }
    if (g_array_index (times, double, at) > g_array_index (times, double, most))
      most = at;
  }
  return names->len > 0 ? names->pdata[most] : "latency";
}

/* The rank's compute by what bounds its kernels. */
static void
split_work (const TrnBuild *b, TrnResult *out)
{
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (eng_graph_task_stream (b->graph, t) != b->lane[out->stage].stream[TRN_ROLE_COMPUTE] || note->comm != NULL)
      continue;
    double time_s = length_s (b, t);
    if (note->item == NULL || note->item->time_s <= 0) { /* optimizer, copies */
      out->memory_s += time_s;
      continue;
    }
    out->efficiency.overhead_s += time_s * note->item->framework_s / note->item->time_s;
    double memory_s = time_s * note->item->memory_s / note->item->time_s;
    double start_s = time_s * note->item->start_s / note->item->time_s;
    out->memory_s += memory_s;
    out->start_s += start_s;
    out->math_s += time_s - memory_s - start_s;
    out->recompute_s += note->item->recomputed ? time_s : 0;
  }
}

void
trn_step_bound (const TrnBuild *b, TrnResult *out)
{
  trn_model_efficiency (b->model, &out->efficiency);
  split_work (b, out);
  out->efficiency.overhead_s += out->part_s[TRN_PART_OPTIMIZER] * (1 - b->model->software.optimizer);
  double exposed_s = 0;
  int kind = 0;
  for (int k = 0; k < TRN_COMM_N; k++) {
    exposed_s += out->comm[k].exposed_s;
    if (out->comm[k].exposed_s > out->comm[kind].exposed_s)
      kind = k;
  }
  const char *work = out->math_s >= out->memory_s && out->math_s >= out->start_s ? "compute"
                     : out->memory_s >= out->start_s                             ? "memory_bandwidth"
                                                                                 : "latency";
  const struct {
    double time_s;
    const char *name;
  } bounds[] = {
    { out->part_s[TRN_PART_COMPUTE] + out->part_s[TRN_PART_OPTIMIZER], work },
    { exposed_s, bound_of_comm (b, out->stage, (TrnCommKind)kind) },
    { out->part_s[TRN_PART_BUBBLE], "bubble" },
    { out->part_s[TRN_PART_LAUNCH_GAP], "host" },
    { out->part_s[TRN_PART_STRAGGLER_WAIT], "straggler" },
  };
  guint most = 0;
  for (guint i = 1; i < G_N_ELEMENTS (bounds); i++)
    if (bounds[i].time_s > bounds[most].time_s)
      most = i;
  g_strlcpy (out->bound_by, bounds[most].name, sizeof out->bound_by);
}
