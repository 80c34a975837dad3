/* What a step waits for its input, in closed form: the longest cycle of the tasks that loader_run.c makes sets the time between two
 * batches.
 *
 *     period = max (least, before + compute, (behind + before + compute) / ahead)        s a micro-batch; a step waits m (period -
 *                                                                                        compute)
 *     least  = max of what tier, links, workers, cores, pinning, copies and a decoder need between two batches, and of
 *              (read + decode + pin + copy) / batches that lie ready
 *     behind = copy (and the decoder) behind the compute `ahead` batches before; without workers all of a batch behind the last one
 * Left out: reads that cross the step's own traffic, and reads whose time varies (`variation`).
 * Check: test_training_feed (stalls of many layouts against the engine's). */
#include <math.h>
#include <string.h>

#include "loader-private.h"

/* What a pace depends on, of one job. */
typedef struct {
  double batch_B;
  guint32 local, n_nodes, gpus, tp;
} Key;

typedef struct {
  Key key;
  TrnLoaderPace pace;
} Known;

struct TrnLoaderPaces {
  GPtrArray *known; /* Known */
};

TrnLoaderPaces *
trn_loader_paces_new (void)
{
  TrnLoaderPaces *paces = g_new0 (TrnLoaderPaces, 1);
  paces->known = g_ptr_array_new_with_free_func (g_free);
  return paces;
}

void
trn_loader_paces_free (TrnLoaderPaces *paces)
{
  if (paces == NULL)
    return;
  g_ptr_array_unref (paces->known);
  g_free (paces);
}

gboolean
trn_loader_has_pace (const TrnLoaderSpec *spec, GError **error)
{
  if (spec->stage.head.set)
    return col_fail_at (error, spec->stage.head.mark,
                        "'stage' copies the data once before the run, and the closed form is of one step; leave 'stage' out (tier: "
                        "nvme is read as before), or use the engine (run)");
  if (spec->variation.v > 0)
    return col_fail_at (error, spec->variation.mark,
                        "reads of varying time have no closed form; leave 'variation' out, or use the engine (run)");
  return TRUE;
}

static void
at_least (TrnLoaderPace *pace, const char *by, double s)
{
  if (s <= pace->least_s)
    return;
  pace->least_s = s;
  pace->by = by;
}

static void
find_pace (const TrnPipe *pipe, TrnLoaderPace *pace)
{
  const TrnLoaderSpec *spec = pipe->spec;
  const TrnLoaderResult *of = pipe->out;
  const double workers = trn_pipe_workers (spec), stored_B = of->batch_B * pipe->misses;
  const double core_s = of->decode_s + of->batch_B * pipe->core_s_per_B;
  const double engine_s = spec->decoder.v == STO_DECODE_ENGINE ? pipe->gpu_decode_s : 0;
  const double read_s = fmax (stored_B / pipe->worker_Bps, fmax (of->storage_s, of->network_s));
  const double alone_s = read_s + core_s + of->pin_s + of->copy_s;
  *pace = (TrnLoaderPace){ .before_s = pipe->before_s, .behind_s = of->copy_s + engine_s, .source = of->source, .by = "" };
  pace->ahead = spec->pin.v ? 2 : 1;
  pace->before_by = of->broadcast_s > pipe->before_s - of->broadcast_s ? "broadcast" : "decoder";
  pace->behind_by = engine_s > of->copy_s ? "decoder" : "copy";
  at_least (pace, "storage", of->storage_s);
  at_least (pace, "network", of->network_s);
  at_least (pace, "workers", of->workers_s);
  at_least (pace, "cores", of->cores_s);
  at_least (pace, "cores", of->pin_s);
  at_least (pace, "copy", of->copy_s);
  at_least (pace, "decoder", engine_s);
  if (spec->workers.v < 1) {
    pace->behind_s = alone_s + engine_s;
    pace->ahead = 1;
    pace->by = pace->behind_by = "main process";
    return;
  }
  at_least (pace, "workers", alone_s / (workers * spec->prefetch.v));
  if (!spec->persistent.v) {
    const double first_s = alone_s + engine_s + pipe->before_s;
    pace->epoch_s = (spec->respawn.v + first_s) * of->batch_B * pipe->local / spec->dataset.v;
  }
}

const TrnLoaderPace *
trn_loader_pace (TrnLoaderPaces *paces, const TrnJob *job, const TrnResult *training, GError **error)
{
  TrnLoaderResult out = { 0 };
  g_auto (TrnPipe) pipe = { 0 };
  if (!trn_pipe_place (&pipe, job, training, &out, error))
    return NULL;
  const Key key = { out.batch_B, pipe.local, pipe.n_nodes, pipe.gpus, MAX (training->tp, 1u) };
  for (guint i = 0; i < paces->known->len; i++) {
    const Known *one = paces->known->pdata[i];
    if (memcmp (&one->key, &key, sizeof key) == 0)
      return &one->pace;
  }
  if (!trn_pipe_open (&pipe, error) || !trn_pipe_price (&pipe, error))
    return NULL;
  Known *fresh = g_new0 (Known, 1);
  fresh->key = key;
  find_pace (&pipe, &fresh->pace);
  g_ptr_array_add (paces->known, fresh);
  return &fresh->pace;
}

const char *
trn_loader_pace_by (const TrnLoaderPace *pace, double batch_s)
{
  const double turn_s = pace->before_s + batch_s, behind_s = (pace->behind_s + turn_s) / pace->ahead;
  if (pace->least_s >= turn_s && pace->least_s >= behind_s)
    return pace->by;
  return behind_s > turn_s ? pace->behind_by : pace->before_by;
}

double
trn_loader_pace_stall_s (const TrnLoaderPace *pace, double m, double step_s)
{
  const double batch_s = step_s / m, turn_s = pace->before_s + batch_s;
  const double period_s = fmax (fmax (pace->least_s, turn_s), (pace->behind_s + turn_s) / pace->ahead);
  return m * (period_s - batch_s + pace->epoch_s);
}
