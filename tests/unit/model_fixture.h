/* Training steps of models on shipped clusters, built without being run, or run; and what one stage exchanges. */
#ifndef MODEL_FIXTURE_H
#define MODEL_FIXTURE_H

#include <math.h>
#include <string.h>

#include "build-private.h"
#include "library_fixture.h"
#include "scenario/loaded.h"

/* A model small enough to be computed by hand: a layer has 10 h^2 + 2 h elements (q, k, v, o: 4 h^2; gate, up, down: 6 h^2 with
 * f = 2 h), embedding and head 1000 h each, the last norm h. */
#define SMALL_LAYERS 8
#define SMALL_H      256
#define SMALL_LAYER  (10.0 * SMALL_H * SMALL_H + 2 * SMALL_H)
#define SMALL_TABLE  (1000.0 * SMALL_H)
#define SMALL_MODEL                                                                                              \
  "model: {llm: small, layers: 8, hidden: 256, vocabulary: 1000, attention: {kind: mha, heads: 8}, mlp: {kind: " \
  "swiglu, ffn: 512}, positions: rope, norm: rmsnorm}, sequence: 512"
/* The same with 4 experts of 128 in place of each MLP, 2 of them for a token. */
#define SMALL_MOE                                                                                             \
  "model: {llm: small_moe, layers: 8, hidden: 256, vocabulary: 1000, attention: {kind: mha, heads: 8}, mlp: " \
  "{kind: swiglu}, moe: {experts: 4, top_k: 2, ffn: 128}, positions: rope, norm: rmsnorm}, sequence: 512"

typedef struct {
  Cst *cal;
  Scn *scenario;
  ColNet *net;
  TrnStepRun *run;
  const TrnBuild *b;
  ScnResult *result;
} ModelStep;

static inline void
model_clear (ModelStep *step)
{
  g_clear_pointer (&step->result, scn_result_free);
  g_clear_pointer (&step->run, trn_step_free);
  g_clear_pointer (&step->net, col_net_free);
  g_clear_pointer (&step->scenario, scn_free);
  g_clear_pointer (&step->cal, cst_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ModelStep, model_clear)

/* `cluster`: keys of it, "topology: hgx_h100, nodes: 2"; `workload`: keys of it, without kind. `sets` may be NULL. *error is set
 * when it is refused. */
static inline ModelStep
model_load (const char *cluster, const char *workload, const char *const *sets, ColMode mode, GError **error)
{
  g_autofree char *text = g_strdup_printf ("scenario: s\ncluster: {%s}\nworkload: {kind: training, %s}\n", cluster, workload);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  ModelStep step = { 0 };
  ScnOptions options = { .has_mode = TRUE, .mode = mode, .sets = sets };
  step.scenario = scn_load (TEST_SOURCE_DIR "/scenarios/s.yaml", text, lookup, &options, model_library, &step.cal, error);
  return step;
}

/* Compute and communication that do not slow each other. */
static const MdlOverlap model_apart = { .gemm = { .channel_traffic = { .v = 1e30 } },
                                        .attention = { .channel_traffic = { .v = 1e30 } },
                                        .memory = { .channel_traffic = { .v = 1e30 } } };

/* Its task graph, not run; `apart`: as above; `software`: in place of the shipped constants, or NULL. The test ends when there is
 * none. */
static inline ModelStep
model_build_with (const char *cluster, const char *workload, ColMode mode, gboolean apart, const MdlSoftware *software)
{
  g_autoptr (GError) error = NULL;
  ModelStep step = model_load (cluster, workload, NULL, mode, &error);
  if (step.scenario != NULL) {
    if (apart)
      step.scenario->system.overlap = &model_apart;
    if (software != NULL)
      step.scenario->system.software = software;
    step.net = col_net_new (scn_cluster (step.scenario));
    step.run = trn_step_start (&step.scenario->training, step.net, FALSE, &error);
  }
  if (step.run == NULL)
    g_error ("%s\n%s", workload, error->message);
  step.b = trn_step_built (step.run);
  return step;
}

static inline ModelStep
model_build_as (const char *cluster, const char *workload, ColMode mode, gboolean apart)
{
  return model_build_with (cluster, workload, mode, apart, NULL);
}

static inline ModelStep
model_build (const char *cluster, const char *workload)
{
  return model_build_as (cluster, workload, COL_MODE_EVENT, FALSE);
}

/* The same, run on the engine: tasks have their times. */
static inline ModelStep
model_played_as (const char *cluster, const char *workload, ColMode mode, gboolean apart)
{
  g_autoptr (GError) error = NULL;
  ModelStep step = model_build_as (cluster, workload, mode, apart);
  if (!eng_run (col_net_engine (step.net), ENG_TIME_NEVER, 0, &error))
    g_error ("%s\n%s", workload, error->message);
  return step;
}

static inline ModelStep
model_played (const char *cluster, const char *workload)
{
  return model_played_as (cluster, workload, COL_MODE_EVENT, FALSE);
}

/* The answer; `sets` may be NULL. */
static inline ModelStep
model_answer (const char *cluster, const char *workload, const char *const *sets, ColMode mode)
{
  g_autoptr (GError) error = NULL;
  ModelStep step = model_load (cluster, workload, sets, mode, &error);
  if (step.scenario != NULL)
    step.result = scn_run (step.scenario, FALSE, &error);
  if (step.result == NULL)
    g_error ("%s\n%s", workload, error->message);
  return step;
}

static inline double
model_step_s (const char *cluster, const char *workload)
{
  g_auto (ModelStep) step = model_answer (cluster, workload, NULL, COL_MODE_EVENT);
  return step.result->training.step_time_s;
}

/* Why it is refused, without the file's name: "3:40: …". Returned: full. */
static inline char *
model_refusal (const char *cluster, const char *workload)
{
  g_autoptr (GError) error = NULL;
  g_auto (ModelStep) step = model_load (cluster, workload, NULL, COL_MODE_EVENT, &error);
  if (step.scenario != NULL)
    return g_strdup ("not refused");
  const char *at = strstr (error->message, "s.yaml:");
  return g_strdup (at != NULL ? at + strlen ("s.yaml:") : error->message);
}

/* What a stage's communication of one kind comes to. */
typedef struct {
  unsigned n;
  double bytes;   /* nccl-tests' */
  double first_B; /* of the first, in the order of adding */
} ModelTally;

/* Tasks of stage `lane` whose name begins with `name`. */
static inline ModelTally
model_tally (const ModelStep *step, guint32 lane, const char *name)
{
  ModelTally tally = { 0 };
  const TrnBuild *b = step->b;
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (note->comm == NULL || note->lane != lane || !g_str_has_prefix (eng_graph_task_name (b->graph, t), name))
      continue;
    double bytes = note->comm->coll.size_B * note->share;
    if (tally.n++ == 0)
      tally.first_B = bytes;
    tally.bytes += bytes;
  }
  return tally;
}

#endif
