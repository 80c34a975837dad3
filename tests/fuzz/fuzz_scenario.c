/* Any text as a scenario: it loads or is refused, and what loads and is small runs; a step's parts sum to it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "constants/calibration.h"
#include "scenario-private.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Beside the worked cases, so that their topologies are found by name. */
#define NAME TEST_SOURCE_DIR "/scenarios/cases/fuzz.yaml"

typedef struct {
  const BaseLookup *lookup;
  Cst *cal;
} User;

static const MdlLibrary *
load_library (void *data, const char *name, const char *from, const char *gpu_type, const char *nccl, GPtrArray *inputs,
              BaseDiag *warnings, GError **error)
{
  User *user = data;
  user->cal = cst_load (name, from, gpu_type, nccl, user->lookup, inputs, warnings, error);
  return user->cal != NULL ? cst_library (user->cal) : NULL;
}

/* What runs in milliseconds: a campaign is for what goes wrong, not for what is large. */
static gboolean
is_small (const WrkScenario *scenario)
{
  const WrkTrainingSpec *training = &scenario->training.spec;
  double layers = 0;
  for (unsigned i = 0; i < training->layers.n; i++)
    layers += BASE_LIST_AT (training->layers, WrkLayerSpec, i)->count.v;
  if (scenario->system.gpus->len > 64)
    return FALSE;
  return scenario->kind == WRK_KIND_TRAINING   ? layers <= 1000 && training->micro_batches.v * training->parallel.pp.v <= 1000
         : scenario->kind == WRK_KIND_TRANSFER ? scenario->transfer.count.v <= 1000
         : scenario->system.settings.steps == WRK_STEPS_EXACT ? scenario->collective.bytes.v <= 1e6
                                                              : TRUE;
}

static void
must (gboolean truth)
{
  if (!truth)
    abort ();
}

static void
run (WrkScenario *scenario)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (WrkResult) result = wrk_scenario_run (scenario, FALSE, &error);
  must ((result == NULL) != (error == NULL));
  if (result == NULL || result->kind != WRK_KIND_TRAINING)
    return;
  const WrkTrainingResult *training = &result->training;
  double sum_s = 0;
  for (int p = 0; p < WRK_PART_N; p++) {
    must (training->part_s[p] >= 0);
    sum_s += training->part_s[p];
  }
  must (fabs (sum_s - training->step_time_s) <= 1e-9 * training->step_time_s);
  must (training->communication_s <= 0 || training->exposed_fraction <= 1 + 1e-9);
  /* the two fidelities agree within 1 % */
  must (training->ideal_bound_s <= training->step_time_s * 1.01 + 1e-9);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  User user = { lookup, NULL };
  WrkScenarioOptions options = {
    .has_mode = size % 3 == 0, .mode = WRK_MODE_MODEL, .has_steps = size % 5 == 0, .steps = WRK_STEPS_EXACT
  };
  WrkScenario *scenario = wrk_scenario_load_data (NAME, (const char *)data, size, lookup, &options, load_library, &user, &error);
  must ((scenario == NULL) != (error == NULL));
  if (scenario != NULL && is_small (scenario))
    run (scenario);
  wrk_scenario_free (scenario);
  cst_free (user.cal);
  return 0;
}
