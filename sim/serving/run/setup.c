/* A run of a replica as specified, with times of its own steps and requests of a load. */
#include "serving/run.h"

static double
step_time_s (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  return srv_step_time_s (model, batches, cost);
}

static void
decode_line (gpointer model, guint n_decode, double context, double windowed, SrvDecodeLine *line)
{
  srv_step_decode_line (model, n_decode, context, windowed, line);
}

void
srv_run_take_replica (const SrvReplicaSpec *replica, const SrvMemory *memory, SrvStepModel *model, SrvRunSpec *out)
{
  const SrvEngineSpec *engine = &replica->engine;
  const SrvTimes times = { .model = model,
                           .ranks = srv_step_ranks (model),
                           .window = (guint)srv_step_window (model),
                           .time_s = step_time_s,
                           .line = decode_line };
  *out = (SrvRunSpec){ .times = times,
                       .engine = (SrvEngineName)engine->name.v,
                       .front = srv_step_front (model),
                       .limits = { .max_seqs = (guint)engine->max_num_seqs.v,
                                   .max_tokens = (guint)engine->max_num_batched_tokens.v,
                                   .chunk = (guint)engine->chunk.v,
                                   .chunked = engine->chunked.v,
                                   .drafts = (guint)srv_speculative_drafts (&replica->speculative),
                                   .window = times.window,
                                   .wait = (guint)engine->balance.v,
                                   .mixed = engine->mixed.v,
                                   .poll = (guint)engine->poll.v },
                       .blocks = (guint64)memory->blocks,
                       .block = (guint)memory->block_tokens,
                       .caching = engine->prefix_cache.v,
                       .ahead = engine->async.v,
                       .max_model_len = (guint)engine->max_model_len.v,
                       .max_context = srv_step_context (model),
                       .watch = G_MAXUINT64 };
}

static gboolean
next_request (gpointer load, SrvRequest *out, GError **error)
{
  return srv_load_next (load, out, error);
}

static gboolean
request_finished (gpointer load, guint64 index, double now_s)
{
  return srv_load_finished (load, index, now_s);
}

SrvSource
srv_run_source (SrvLoad *load, gboolean apart)
{
  return (SrvSource){ .load = load, .next = next_request, .finished = request_finished, .open = !apart && srv_load_is_open (load) };
}
