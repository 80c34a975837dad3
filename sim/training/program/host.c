/* What the host of a rank does in a step: kernels that it launches, and how long it waits for the GPU: from when it has queued all
 * that it can until it goes on. */
#include "build-private.h"

static double
length_s (const TrnBuild *b, EngTime from, EngTask until)
{
  return eng_time_to_s (eng_graph_task_end (b->graph, until) - from);
}

void
trn_step_host (const TrnBuild *b, TrnResult *out)
{
  const TrnLane *lane = &b->lane[out->stage];
  EngTime queued = 0; /* until when the host was busy */
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    EngStream stream = eng_graph_task_stream (b->graph, t);
    if (stream == lane->stream[TRN_ROLE_COMPUTE] && note->item != NULL) {
      out->host.kernels += note->item->kernels * note->share;
      out->host.syncs += note->item->syncs * note->share;
    }
    if (stream != lane->stream[TRN_ROLE_HOST] || lane->stream[TRN_ROLE_HOST] == ENG_NO_STREAM)
      continue;
    if (eng_graph_task_kind (b->graph, t) == TRN_STEP_SYNC)
      out->host.wait_s += length_s (b, queued, t);
    else
      out->host.queue_s += length_s (b, eng_graph_task_start (b->graph, t), t);
    queued = eng_graph_task_end (b->graph, t);
  }
}
