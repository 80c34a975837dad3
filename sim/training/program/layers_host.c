/* Layers with given times whose kernels the host launches one by one.
 *
 * The host queues kernels ahead of the GPU; a pass begins once its first kernel is queued, and its last kernel runs once all are.
 * Syncs cut a forward pass into equal stretches: after each of them but the last the host waits until the GPU has done all that was
 * queued, takes `sync` to go on, and queues the next stretch to an empty GPU. So a pass of n kernels that takes T, with s syncs, is
 *
 *     n launch + s (sync + T / n) + T / n    where launches take longer than kernels
 *     T + (s + 1) launch + s sync            where they do not
 *
 * Source: CUDA programming guide, asynchronous launches and stream synchronisation. Check: test_workload_training; case 33. */
#include <math.h>

#include "training-private.h"

static double
kernels_of (const TrnLayerSpec *layer, MdlTurnKind turn)
{
  return layer->kernels.v * (turn == MDL_TURN_BACKWARD ? 2 : 1); /* products for inputs and for weights */
}

/* A stretch of `kernels` that takes time_s. Returned: its last task. */
static EngTask
launch (EngGraph *graph, const TrnStage *stage, double launch_s, double kernels, double time_s, TrnTaskKind kind, const char *name,
        EngTask *first)
{
  EngTask one = eng_graph_delay (graph, stage->host, eng_time_from_s (launch_s), TRN_TASK_HOST, name);
  EngTask all = eng_graph_delay (graph, stage->host, eng_time_from_s (launch_s * (kernels - 1)), TRN_TASK_HOST, name);
  *first = eng_graph_delay (graph, stage->compute, eng_time_from_s (time_s * (1 - 1 / kernels)), kind, name);
  EngTask last = eng_graph_delay (graph, stage->compute, eng_time_from_s (time_s / kernels), kind, name);
  eng_graph_after (graph, *first, one);
  eng_graph_after (graph, last, all);
  return last;
}

EngTask
trn_layer_launch (EngGraph *graph, TrnStage *stage, const TrnLaunchSpec *host, const TrnLayerSpec *layer, MdlTurnKind turn,
                  TrnTaskKind kind, const char *name, EngTask *first)
{
  double time_s = trn_layer_pass_s (layer, turn), kernels = kernels_of (layer, turn);
  double syncs = turn == MDL_TURN_FORWARD ? layer->syncs.v : 0;
  if (kernels < 1 || time_s <= 0)
    return *first = eng_graph_delay (graph, stage->compute, eng_time_from_s (time_s), kind, name);
  EngTask last = ENG_NO_TASK;
  for (double k = 0; k <= syncs; k++) {
    EngTask begin;
    last = launch (graph, stage, host->kernel.v, fmax (kernels / (syncs + 1), 1), time_s / (syncs + 1), kind, name, &begin);
    if (k <= 0)
      *first = begin;
    if (k + 1 <= syncs)
      eng_graph_after (graph, eng_graph_delay (graph, stage->host, eng_time_from_s (host->sync.v), TRN_TASK_SYNC, name), last);
  }
  stage->launched.kernels += kernels;
  stage->launched.syncs += syncs;
  return last;
}

void
trn_launch_account (const EngGraph *graph, const TrnStage *stage, TrnHostUse *out)
{
  EngTime busy_until = 0;
  *out = stage->launched;
  for (EngTask t = 0; t < eng_graph_n_tasks (graph) && stage->host != ENG_NO_STREAM; t++) {
    if (eng_graph_task_stream (graph, t) != stage->host)
      continue;
    EngTime end = eng_graph_task_end (graph, t);
    if (eng_graph_task_kind (graph, t) == TRN_TASK_SYNC)
      out->wait_s += eng_time_to_s (end - busy_until);
    else
      out->queue_s += eng_time_to_s (end - eng_graph_task_start (graph, t));
    busy_until = end;
  }
}
