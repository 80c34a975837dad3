/* What only a step of layers with given times reports, and a model does not: its gradient buckets, what the longest chain of tasks
 * consists of, and what its traffic takes alone. */
#include <math.h>
#include <string.h>

#include "build-private.h"

/* What a rank sends one way. */
typedef struct {
  double alone_s; /* all of a step, one after the other */
  EngTime critical;
  const char *bound_by;
} Way;

static gboolean
is_send (TrnStepKind kind)
{
  return kind == TRN_STEP_SEND_UP || kind == TRN_STEP_SEND_DOWN;
}

static TrnStepKind
kind_of (const TrnBuild *b, EngTask task)
{
  return (TrnStepKind)eng_graph_task_kind (b->graph, task);
}

static Way *
way_of (const TrnBuild *b, EngTask task, Way (*sent)[2])
{
  return &sent[g_array_index (b->notes, TrnNote, task).lane][kind_of (b, task) == TRN_STEP_SEND_DOWN];
}

/* Counts the buckets and keeps the largest, without what it loads. Returned: s that those of out->stage take alone. */
static double
find_buckets (const TrnBuild *b, TrnResult *out)
{
  double alone_s = 0;
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (kind_of (b, t) != TRN_STEP_DP)
      continue;
    out->n_buckets++;
    if (note->comm == NULL)
      continue;
    const ColAnswer *bucket = &note->comm->coll;
    alone_s += note->lane == out->stage || note->other == out->stage ? bucket->cost.time_s : 0;
    if (bucket->size_B <= out->all_reduce.size_B)
      continue;
    out->all_reduce = *bucket;
    out->all_reduce.spread = NULL;
    out->all_reduce.alike = NULL;
    out->all_reduce_stage = note->lane;
    out->all_reduce_partner = note->other;
  }
  return alone_s;
}

static void
find_sends (const TrnBuild *b, Way (*sent)[2])
{
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnPriced *comm = g_array_index (b->notes, TrnNote, t).comm;
    if (comm == NULL || !is_send (kind_of (b, t)))
      continue;
    Way *way = way_of (b, t, sent);
    way->alone_s += comm->coll.cost.time_s;
    way->bound_by = comm->coll.bound_by;
  }
}

/* What most of the longest chain of tasks consists of, each of which let the next one start: it is as long as the step. Where that
 * is compute, waiting for other stages may outweigh the stage's own. */
static const char *
find_bound (const TrnBuild *b, const TrnResult *out, Way (*sent)[2])
{
  EngTime compute = 0, reduced = 0, all_sent = 0;
  const Way *most = &sent[0][0];
  for (EngTask t = b->lane[out->stage].end; t != ENG_NO_TASK; t = eng_graph_task_cause (b->graph, t)) {
    EngTime length = eng_graph_task_end (b->graph, t) - eng_graph_task_start (b->graph, t);
    TrnStepKind kind = kind_of (b, t);
    *(is_send (kind) ? &all_sent : kind == TRN_STEP_DP ? &reduced : &compute) += length;
    if (is_send (kind))
      way_of (b, t, sent)->critical += length;
  }
  for (guint32 s = 0; s < b->model->pipe.p; s++)
    for (int k = 0; k < 2; k++)
      if (sent[s][k].critical > most->critical)
        most = &sent[s][k];
  if (reduced + all_sent > compute)
    return reduced >= all_sent ? out->all_reduce.bound_by : most->bound_by;
  double bubble_s = out->part_s[TRN_PART_BUBBLE], work_s = out->part_s[TRN_PART_COMPUTE];
  if (out->part_s[TRN_PART_LAUNCH_GAP] > fmax (bubble_s, work_s))
    return "host";
  return bubble_s > work_s ? "bubble" : "compute";
}

void
trn_step_layers (const TrnBuild *b, TrnResult *out)
{
  guint32 p = b->model->pipe.p, s = out->stage;
  g_autofree Way (*sent)[2] = g_malloc0_n (p, sizeof *sent);
  double alone_s = find_buckets (b, out);
  find_sends (b, sent);
  /* buckets go one after the other, and so do sends one way; all else may run beside them */
  const Way *ways[] = { &sent[s][0], &sent[s][1], &sent[(s + p - 1) % p][0], &sent[(s + 1) % p][1] };
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    alone_s = fmax (alone_s, ways[i]->alone_s);
  out->ideal_bound_s = fmax (out->part_s[TRN_PART_COMPUTE], alone_s) + out->part_s[TRN_PART_OPTIMIZER];
  g_strlcpy (out->bound_by, find_bound (b, out, sent), sizeof out->bound_by);
}

/* The closed form prices each operation as if it were alone. */
static void
warn_crowded (const TrnBuild *b, ColRunInfo *info)
{
  static const double ROUNDING = 1e-3;
  const ColLinkUse *first = info->links->len > 0 ? &g_array_index (info->links, ColLinkUse, 0) : NULL;
  if (b->model->job->system->settings.mode == COL_MODE_MODEL && first != NULL && first->utilisation > 1 + ROUNDING)
    col_run_warn (info, "mode model knows no contention: it asks %.0f %% of what %s (%s) carries; --mode event shares links",
                  first->utilisation * 100, first->busiest, first->link_class);
}

void
trn_step_warn (const TrnBuild *b, const TrnResult *out, ColRunInfo *info)
{
  const ColSystem *system = b->model->job->system;
  if (out->n_ranks < system->gpus->len)
    col_run_warn (info, "dp %u x pp %u uses %u of %u GPUs", out->dp, out->pp, out->n_ranks, system->gpus->len);
  if (out->n_nodes == 1 && clu_n_nodes (system->clu) > 1)
    col_run_warn (info, "this step never leaves a node: NICs and fabric cannot move the answer");
  warn_crowded (b, info);
}

void
trn_step_spans (const TrnBuild *b, GPtrArray *spans)
{
  for (EngTask t = 0; t < b->notes->len; t++) {
    if (kind_of (b, t) == TRN_STEP_JOIN)
      continue;
    ColSpan *span = g_new (ColSpan, 1);
    span->lane = g_strdup (eng_graph_stream_name (b->graph, eng_graph_task_stream (b->graph, t)));
    span->name = g_strdup (eng_graph_task_name (b->graph, t));
    span->start_s = eng_time_to_s (eng_graph_task_start (b->graph, t));
    span->end_s = eng_time_to_s (eng_graph_task_end (b->graph, t));
    g_ptr_array_add (spans, span);
  }
}
