/* Where the time of a step went, on the compute stream of the stage that ends last: work, and for every gap what it waited for. */
#include "training-private.h"

typedef struct {
  EngTime part[TRN_PART_N];
} Parts;

static gboolean
is_send (const EngGraph *graph, EngTask task)
{
  unsigned kind = eng_graph_task_kind (graph, task);
  return kind == TRN_TASK_SEND_UP || kind == TRN_TASK_SEND_DOWN;
}

static gboolean
is_host (const EngGraph *graph, EngTask task)
{
  unsigned kind = eng_graph_task_kind (graph, task);
  return kind == TRN_TASK_HOST || kind == TRN_TASK_SYNC;
}

/* A gap before `task`: the task's cause is what the stream waited for. A send's own time is exposed; the wait before it began
 * is the pipeline's bubble. */
static void
add_gap (const EngGraph *graph, EngTask task, EngTime from, EngTime to, Parts *parts)
{
  EngTask cause = eng_graph_task_cause (graph, task);
  if (to <= from)
    return;
  if (cause != ENG_NO_TASK && eng_graph_task_kind (graph, cause) == TRN_TASK_GRADIENTS) {
    parts->part[TRN_PART_EXPOSED_DP] += to - from;
    return;
  }
  if (cause != ENG_NO_TASK && is_host (graph, cause)) {
    parts->part[TRN_PART_LAUNCH_GAP] += to - from;
    return;
  }
  EngTime sending = to;
  while (cause != ENG_NO_TASK && is_send (graph, cause)) {
    sending = eng_graph_task_start (graph, cause);
    cause = eng_graph_task_cause (graph, cause);
  }
  sending = MAX (sending, from);
  parts->part[TRN_PART_EXPOSED_PP] += to - sending;
  parts->part[TRN_PART_BUBBLE] += sending - from;
}

static void
add_work (const EngGraph *graph, EngTask task, Parts *parts)
{
  static const TrnPart part_of[] = {
    [TRN_TASK_FORWARD] = TRN_PART_COMPUTE,    [TRN_TASK_BACKWARD] = TRN_PART_COMPUTE,    [TRN_TASK_OPTIMIZER] = TRN_PART_OPTIMIZER,
    [TRN_TASK_HOST] = TRN_PART_LAUNCH_GAP,    [TRN_TASK_SYNC] = TRN_PART_LAUNCH_GAP,     [TRN_TASK_GRADIENTS] = TRN_PART_EXPOSED_DP,
    [TRN_TASK_SEND_UP] = TRN_PART_EXPOSED_PP, [TRN_TASK_SEND_DOWN] = TRN_PART_EXPOSED_PP
  };
  parts->part[part_of[eng_graph_task_kind (graph, task)]] += eng_graph_task_end (graph, task) - eng_graph_task_start (graph, task);
}

/* Whether a task is communication that stage `s` takes part in: its buckets, and what it sends or is sent. A send may run on its
 * sender's compute stream. */
static gboolean
is_communication_of (const EngGraph *graph, EngTask task, const TrnStage *stages, guint32 s, guint32 pp)
{
  const TrnStage *stage = &stages[s], *before = &stages[(s + pp - 1) % pp], *behind = &stages[(s + 1) % pp];
  EngStream stream = eng_graph_task_stream (graph, task);
  switch (eng_graph_task_kind (graph, task)) {
    case TRN_TASK_GRADIENTS:
      return stream == stage->gradients;
    case TRN_TASK_SEND_UP:
      return stream == stage->send_up || stream == stage->compute || stream == before->send_up || stream == before->compute;
    case TRN_TASK_SEND_DOWN:
      return stream == stage->send_down || stream == stage->compute || stream == behind->send_down || stream == behind->compute;
    default:
      return FALSE;
  }
}

/* The stage whose send a task is. */
static guint32
sender_of (const EngGraph *graph, EngTask task, const TrnStage *stages, guint32 pp)
{
  EngStream stream = eng_graph_task_stream (graph, task);
  guint32 s = 0;
  while (s + 1 < pp && stream != stages[s].send_up && stream != stages[s].send_down && stream != stages[s].compute)
    s++;
  return s;
}

/* Every task starts when its cause ends, so the chain back from the end has no gaps. */
static void
walk_critical (const EngGraph *graph, EngTask end, const TrnStage *stages, guint32 pp, TrnCritical *critical)
{
  g_autofree EngTime *sent = g_new0 (EngTime, 2 * (gsize)pp); /* up and down, by stage */
  EngTime compute = 0, reduced = 0, all_sent = 0;
  for (EngTask t = end; t != ENG_NO_TASK; t = eng_graph_task_cause (graph, t)) {
    EngTime length = eng_graph_task_end (graph, t) - eng_graph_task_start (graph, t);
    unsigned kind = eng_graph_task_kind (graph, t);
    if (is_send (graph, t)) {
      sent[2 * (gsize)sender_of (graph, t, stages, pp) + (kind == TRN_TASK_SEND_DOWN)] += length;
      all_sent += length;
    } else if (kind == TRN_TASK_GRADIENTS)
      reduced += length;
    else
      compute += length;
  }
  gsize most = 0;
  for (gsize i = 1; i < 2 * (gsize)pp; i++)
    if (sent[i] > sent[most])
      most = i;
  critical->compute_s = eng_time_to_s (compute);
  critical->reduced_s = eng_time_to_s (reduced);
  critical->sent_s = eng_time_to_s (all_sent);
  critical->send_stage = (guint32)(most / 2);
  critical->send_kind = most % 2 == 0 ? TRN_TASK_SEND_UP : TRN_TASK_SEND_DOWN;
}

void
trn_account (const EngGraph *graph, const TrnStage *stages, guint32 pp, TrnResult *out, TrnCritical *critical)
{
  guint32 last = 0;
  for (guint32 s = 1; s < pp; s++)
    if (eng_graph_task_end (graph, stages[s].end) > eng_graph_task_end (graph, stages[last].end))
      last = s;
  const TrnStage *stage = &stages[last];
  Parts parts = { 0 };
  EngTime cursor = 0, communication = 0;
  for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++) {
    EngStream stream = eng_graph_task_stream (graph, t);
    if (is_communication_of (graph, t, stages, last, pp))
      communication += eng_graph_task_end (graph, t) - eng_graph_task_start (graph, t);
    if (stream != stage->compute)
      continue;
    add_gap (graph, t, cursor, eng_graph_task_start (graph, t), &parts);
    add_work (graph, t, &parts);
    cursor = eng_graph_task_end (graph, t);
  }
  for (int p = 0; p < TRN_PART_N; p++)
    out->part_s[p] = eng_time_to_s (parts.part[p]);
  out->stage = last;
  out->step_time_s = eng_time_to_s (cursor);
  out->communication_s = eng_time_to_s (communication);
  walk_critical (graph, stage->end, stages, pp, critical);
}
