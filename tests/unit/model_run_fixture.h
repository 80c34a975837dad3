/* Training steps of shipped models on shipped machines, by their shipped calibrations. */
#ifndef MODEL_RUN_FIXTURE_H
#define MODEL_RUN_FIXTURE_H

#include "library_fixture.h"
#include "scenario_fixture.h"

/* A result and what it borrows names from. */
typedef struct {
  Cst *cal;
  Scn *scenario;
  ScnResult *result;
} ModelRun;

static inline void
model_run_clear (ModelRun *run)
{
  scn_result_free (run->result);
  scn_free (run->scenario);
  cst_free (run->cal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ModelRun, model_run_clear)

/* `cluster` and `workload`: the keys within; `more`: lines of the scenario. `options` as of loading, may be NULL. FALSE and *error
 * when it cannot be run; what was loaded stays in *run. */
static inline gboolean
model_try (const char *cluster, const char *workload, const char *more, const ScnOptions *options, gboolean want_spans,
           ModelRun *run, GError **error)
{
  g_autofree char *text =
      g_strdup_printf ("scenario: s\ncluster: {%s}\n%sworkload: {kind: training, %s}\n", cluster, more, workload);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  const ScnOptions none = { 0 };
  run->scenario = scn_load (SCENARIO_NAME, text, lookup, options != NULL ? options : &none, model_library, &run->cal, error);
  run->result = run->scenario != NULL ? scn_run (run->scenario, want_spans, error) : NULL;
  return run->result != NULL;
}

/* The test ends when it cannot be run. */
static inline ModelRun
model_run_with (const char *cluster, const char *workload, const char *more, gboolean want_spans)
{
  g_autoptr (GError) error = NULL;
  ModelRun run = { 0 };
  if (!model_try (cluster, workload, more, NULL, want_spans, &run, &error))
    g_error ("%s", error->message);
  return run;
}

static inline ModelRun
model_run (const char *cluster, const char *workload)
{
  return model_run_with (cluster, workload, "", FALSE);
}

#endif
