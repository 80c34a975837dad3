/* Any text as a scenario: it loads or is refused, and what loads and is small runs; a step's parts sum to it. */
#include <math.h>

#include "flows-private.h"
#include "fuzz_library.h"

/* Beside the worked cases, so that their topologies are found by name. */
#define NAME TEST_SOURCE_DIR "/scenarios/cases/fuzz.yaml"

/* What runs in milliseconds: a campaign is for what goes wrong, not for what is large. */
static gboolean
is_small (const Scn *scenario)
{
  const TrnSpec *training = &scenario->training.spec;
  double layers = 0;
  for (unsigned i = 0; i < training->layers.n; i++)
    layers += BASE_LIST_AT (training->layers, TrnLayerSpec, i)->count.v;
  if (scenario->system.gpus->len > 64)
    return FALSE;
  return scenario->kind == SCN_KIND_TRAINING   ? layers <= 1000 && training->micro_batches.v * training->parallel.pp.v <= 1000
         : scenario->kind == SCN_KIND_TRANSFER ? scenario->transfer.count.v <= 1000
         : scenario->kind == SCN_KIND_PROGRAM  ? scenario->program.repeat.v <= 100
         : scenario->kind == SCN_KIND_FLOWS    ? scenario->own != NULL && ((const ScnFlowsSpec *)scenario->own)->flows.v <= 300
         : scenario->system.settings.steps == COL_STEPS_EXACT ? scenario->collective.bytes.v <= 1e6
                                                              : TRUE;
}

static void
run (Scn *scenario)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) result = scn_run (scenario, FALSE, &error);
  fuzz_must ((result == NULL) != (error == NULL));
  if (result == NULL || result->kind != SCN_KIND_TRAINING)
    return;
  const TrnResult *training = &result->training;
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++) {
    fuzz_must (training->part_s[p] >= 0);
    sum_s += training->part_s[p];
  }
  fuzz_must (fabs (sum_s - training->step_time_s) <= 1e-9 * training->step_time_s);
  fuzz_must (training->communication_s <= 0 || training->exposed_fraction <= 1 + 1e-9);
  /* the two fidelities agree within 1 % */
  fuzz_must (training->ideal_bound_s <= training->step_time_s * 1.01 + 1e-9);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  FuzzLibrary user = { .lookup = lookup };
  ScnOptions options = { .has_mode = size % 3 == 0, .mode = COL_MODE_MODEL, .has_steps = size % 5 == 0, .steps = COL_STEPS_EXACT };
  g_autofree char *text = g_strndup ((const char *)data, size);
  Scn *scenario = scn_load (NAME, text, lookup, &options, fuzz_library_load, &user, &error);
  fuzz_must ((scenario == NULL) != (error == NULL));
  if (scenario != NULL && is_small (scenario))
    run (scenario);
  scn_free (scenario);
  fuzz_library_clear (&user);
  return 0;
}
