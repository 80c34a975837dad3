/* Memory of training steps of models, by the shipped constants. */
#ifndef MEMORY_FIXTURE_H
#define MEMORY_FIXTURE_H

#include "library_fixture.h"
#include "model-private.h"
#include "scenario_fixture.h"

/* A planned step with what it borrows from. */
typedef struct {
  Cst *cal;
  Scn *scenario;
  TrnModel model;
  GArray *stages; /* TrnMemory */
} MemoryFixture;

static inline void
memory_free (MemoryFixture *f)
{
  g_array_unref (f->stages);
  trn_model_clear (&f->model);
  scn_free (f->scenario);
  cst_free (f->cal);
  g_free (f);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (MemoryFixture, memory_free)

/* On nodes of 8 H200, of which `gpus` are used; `workload` are keys of a mapping. The test ends when it cannot be planned. */
static inline MemoryFixture *
memory_of (unsigned nodes, unsigned gpus, const char *workload)
{
  g_autofree char *text =
      g_strdup_printf ("scenario: s\ncluster: {topology: hgx_h200, nodes: %u, gpus_per_node: %u}\nworkload: {kind: training, %s}\n",
                       nodes, gpus, workload);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  const ScnOptions options = { 0 };
  MemoryFixture *f = g_new0 (MemoryFixture, 1);
  f->stages = g_array_new (FALSE, FALSE, sizeof (TrnMemory));
  f->scenario = scn_load (SCENARIO_NAME, text, lookup, &options, model_library, &f->cal, &error);
  if (f->scenario == NULL || !trn_model_plan (&f->scenario->training, &f->model, &error))
    g_error ("%s\n%s", workload, error->message);
  trn_model_memory (&f->model, f->stages);
  return f;
}

static inline const TrnMemory *
memory_stage (const MemoryFixture *f, guint stage)
{
  return &g_array_index (f->stages, TrnMemory, stage);
}

#endif
