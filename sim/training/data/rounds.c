/* A training job's steps one after the other on a network that others load too.
 *
 *     step      its graph, and beside it the reads of as many samples as it uses; it is over when both are
 *     save      behind every `every`-th step. sync: the job stands still until all is written and packed;
 *               async: for the copy to host memory, and for the drain before, then it drains beside the next steps
 * Reads are as of a loader whose workers never rest, so that a step waits where they are slower than it: what one step reads, the
 * next ones use, and that the first has its samples is taken as given. A drain lasts at least as long as it does alone
 * (training/checkpoint.h). What a job shares with no other (snapshots, packing, workers, pinned copies) is as in its own answer.
 * Check: test_training_rounds. */
#include "training/rounds.h"

#include <math.h>

#include "build-private.h"
#include "engine/graph.h"
#include "training-private.h"

struct TrnRounds {
  const TrnJob *job;
  const TrnCheckpointResult *checkpoint; /* NULL: none */
  ColNet *net;
  Eng *eng;
  guint steps, begun;
  unsigned parts;                 /* of this step that have not ended: its graph, its reads */
  EngTime began, computed;        /* this step; its graph's end */
  EngTime stood;                  /* since when the job stands still */
  EngTime end;                    /* of the last step or save */
  TrnStepRun *step;               /* under way */
  GPtrArray *over;                /* Over */
  StoIoRun *reads;                /* of a step; NULL: none */
  StoIoRun *writes;               /* of a checkpoint; NULL: none */
  double reads_least_s, decode_s; /* of a step: samples; the GPU, before it computes */
  gboolean drains, waits;         /* a drain is under way; the job waits for it */
  EngTime drain_began;
  guint drain_of; /* step */
  double drained_s;
  TrnRoundsResult out;
  GArray *spans; /* TrnRoundSpan */
  GError *error;
};

/* A step whose graph has ended. */
typedef struct {
  EngTime end;
  TrnStepRun *step;
} Over;

static void
over_free (gpointer data)
{
  Over *over = data;
  g_clear_pointer (&over->step, trn_step_free);
  g_free (over);
}

static void begin_step (Eng *eng, void *user, uint64_t arg);

static double
since_s (const TrnRounds *r, EngTime then)
{
  return eng_time_to_s (eng_now (r->eng) - then);
}

static void
keep_span (TrnRounds *r, const char *what, guint step, EngTime from, EngTime to)
{
  const TrnRoundSpan span = { what, step, eng_time_to_s (from), eng_time_to_s (to) };
  if (to > from)
    g_array_append_val (r->spans, span);
}

static void
go_on (TrnRounds *r)
{
  r->end = eng_now (r->eng);
  if (r->begun < r->steps && r->error == NULL)
    begin_step (r->eng, r, 0);
}

/* ---- saving ---- */

static void prepare_save (TrnRounds *r);

static void
saved (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  (void)eng;
  (void)arg;
  r->out.saves++;
  r->out.stall_s += since_s (r, r->stood);
  keep_span (r, "checkpoint", r->begun, r->stood, eng_now (r->eng));
  go_on (r);
}

static void
drained (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  (void)eng;
  (void)arg;
  r->drains = FALSE;
  r->out.drained++;
  r->drained_s += since_s (r, r->drain_began);
  keep_span (r, "drain", r->drain_of, r->drain_began, eng_now (r->eng));
  if (r->waits) {
    r->waits = FALSE;
    prepare_save (r);
  }
}

/* The copy is in host memory. */
static void
staged (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  (void)arg;
  r->drains = TRUE;
  r->drain_began = eng_now (eng);
  r->drain_of = r->begun;
  sto_io_run_start (r->writes, r->net, r->checkpoint->drain_alone_s, drained, r, 0);
  sto_io_run_count (r->writes, r->net, 1);
  saved (eng, r, 0);
}

/* All is written: what packs it goes on a while. */
static void
written (Eng *eng, void *user, uint64_t arg)
{
  const TrnRounds *r = user;
  (void)arg;
  eng_at (eng, eng_time_add (eng_now (eng), eng_time_from_s (r->checkpoint->software_s)), saved, user, 0);
}

static void
gathered (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  (void)eng;
  (void)arg;
  sto_io_run_start (r->writes, r->net, r->checkpoint->snapshot_s, written, r, 0);
  sto_io_run_count (r->writes, r->net, 1);
}

static void
prepare_save (TrnRounds *r)
{
  const TrnCheckpointResult *c = r->checkpoint;
  gboolean beside = c->mode == TRN_SAVE_ASYNC;
  double before_s = c->gather_s + (beside ? fmax (c->snapshot_s, c->staged_s) : 0);
  eng_at (r->eng, eng_time_add (eng_now (r->eng), eng_time_from_s (before_s)), beside ? staged : gathered, r, 0);
}

/* ---- steps ---- */

/* The graph of the step before last may still have something to do in the instant that it ended in. */
static void
forget_steps (TrnRounds *r)
{
  while (r->over->len > 0 && ((const Over *)r->over->pdata[0])->end < eng_now (r->eng))
    g_ptr_array_remove_index (r->over, 0);
}

/* Its graph, or its reads. */
static void
part_ended (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  const gboolean graph = arg == 1;
  if (graph) {
    r->computed = eng_now (eng);
    Over *over = g_new (Over, 1);
    *over = (Over){ eng_now (eng), r->step };
    r->step = NULL;
    g_ptr_array_add (r->over, over);
  }
  if (--r->parts > 0)
    return;
  r->out.steps++;
  r->out.compute_s += eng_time_to_s (r->computed - r->began);
  r->out.data_s += since_s (r, r->computed);
  keep_span (r, "step", r->begun, r->began, r->computed);
  keep_span (r, "wait for samples", r->begun, r->computed, eng_now (eng));
  const TrnCheckpointResult *c = r->checkpoint;
  if (c == NULL || r->begun % (guint)c->every != 0) {
    go_on (r);
    return;
  }
  r->stood = eng_now (eng);
  r->waits = r->drains;
  if (!r->waits)
    prepare_save (r);
}

static gboolean
start_graph (TrnRounds *r, GError **error)
{
  r->step = trn_step_start (r->job, r->net, FALSE, error);
  if (r->step == NULL)
    return FALSE;
  eng_graph_set_done (trn_step_built (r->step)->graph, part_ended, r, 1);
  return TRUE;
}

static void
compute (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  (void)eng;
  (void)arg;
  if (r->error == NULL)
    start_graph (r, &r->error);
}

static void
begin_step (Eng *eng, void *user, uint64_t arg)
{
  TrnRounds *r = user;
  (void)arg;
  forget_steps (r);
  r->begun++;
  r->parts = 1;
  r->began = eng_now (eng);
  if (r->reads != NULL) {
    r->parts++;
    sto_io_run_start (r->reads, r->net, r->reads_least_s, part_ended, r, 0);
    sto_io_run_count (r->reads, r->net, 1);
  } else if (r->reads_least_s > 0) {
    r->parts++;
    eng_at (eng, eng_time_add (eng_now (eng), eng_time_from_s (r->reads_least_s)), part_ended, r, 0);
  }
  if (r->decode_s > 0)
    eng_at (eng, eng_time_add (eng_now (eng), eng_time_from_s (r->decode_s)), compute, r, 0);
  else
    compute (eng, r, 0);
}

static gboolean
prepare (TrnRounds *r, const TrnResult *training, GError **error)
{
  const TrnSpec *spec = &r->job->spec;
  if (training->loader.set) {
    gboolean engine = spec->loader.decoder.v == STO_DECODE_ENGINE;
    if (!trn_loader_reads (r->job, training, &r->reads, error))
      return FALSE;
    r->reads_least_s = trn_loader_least_s (&training->loader, engine);
    r->decode_s = ((engine ? 0 : training->loader.gpu_s) + training->loader.broadcast_s) * training->loader.batches;
  }
  if (!training->checkpoint.set)
    return TRUE;
  r->checkpoint = &training->checkpoint;
  r->writes = trn_checkpoint_writes (r->job, r->checkpoint, error);
  return r->writes != NULL;
}

TrnRounds *
trn_rounds_start (const TrnJob *job, const TrnResult *training, guint steps, ColNet *net, GError **error)
{
  TrnRounds *r = g_new0 (TrnRounds, 1);
  r->job = job;
  r->net = net;
  r->eng = col_net_engine (net);
  r->steps = steps;
  r->over = g_ptr_array_new_with_free_func (over_free);
  r->spans = g_array_new (FALSE, FALSE, sizeof (TrnRoundSpan));
  if (prepare (r, training, error)) {
    begin_step (r->eng, r, 0);
    if (r->error == NULL)
      return r;
    g_propagate_error (error, g_steal_pointer (&r->error));
  }
  trn_rounds_free (r);
  return NULL;
}

gboolean
trn_rounds_take (const TrnRounds *r, TrnRoundsResult *out, double *time_s, GError **error)
{
  if (r->error != NULL) {
    g_propagate_error (error, g_error_copy (r->error));
    return FALSE;
  }
  *out = r->out;
  out->drain_s = out->drained > 0 ? r->drained_s / out->drained : 0;
  *time_s = eng_time_to_s (r->end);
  return TRUE;
}

const GArray *
trn_rounds_spans (const TrnRounds *r)
{
  return r->spans;
}

void
trn_rounds_free (TrnRounds *r)
{
  g_array_unref (r->spans);
  g_ptr_array_unref (r->over);
  g_clear_pointer (&r->step, trn_step_free);
  g_clear_pointer (&r->reads, sto_io_run_free);
  g_clear_pointer (&r->writes, sto_io_run_free);
  g_clear_error (&r->error);
  g_free (r);
}
