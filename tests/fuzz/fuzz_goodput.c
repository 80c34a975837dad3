/* Any text as the `checkpoint` and `failures` of a small job: it loads or is refused; what loads is followed over its days, and
 * what comes out adds up. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "goodput-private.h"
#include "scenario/loaded.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define NAME TEST_SOURCE_DIR "/scenarios/cases/fuzz.yaml"
#define JOB                                                                                                          \
  "scenario: fuzz\n"                                                                                                 \
  "cluster:\n"                                                                                                       \
  "  library: plain\n"                                                                                               \
  "  topology:\n"                                                                                                    \
  "    topology: t\n"                                                                                                \
  "    nodes: 4\n"                                                                                                   \
  "    node:\n"                                                                                                      \
  "      gpus: {type: {gpu: g, memory: 80 GB, pcie: {class: {link_class: p, lane_rate: 50 GB/s}}}, count: 2}\n"      \
  "      sockets: {count: 1, memory: 100 GB/s, memory_capacity: 1 TB}\n"                                             \
  "      nics: {type: {nic: n, port: {class: {link_class: w, family: infiniband, lane_rate: 10 GB/s}}}, count: 2}\n" \
  "      storage: {local_nvme: {drives: 2, type: {drive: d, read: 5 GB/s}}}\n"                                       \
  "    fabric: {kind: single_switch, leaf: {radix: 64}}\n"                                                           \
  "workload:\n"                                                                                                      \
  "  kind: training\n"                                                                                               \
  "  layers: [{forward: 1 s, backward: 2 s}]\n"

static void
must (gboolean truth)
{
  if (!truth)
    abort ();
}

static double
rows_per_s (const BaseList *rows, const MdlObserved *observed, double factor)
{
  static const MdlJobSize size = { .gpus = 8, .nodes = 4, .nics = 8 };
  double per_s = 0;
  for (unsigned i = 0; i < rows->n; i++)
    per_s += factor * mdl_failure_rate_per_s (BASE_LIST_AT (*rows, MdlFailureRow, i), observed, &size);
  return per_s;
}

/* Whether its runs have few failures: a campaign is for what goes wrong, not for what is long. */
static gboolean
is_short (Scn *scenario, double step_s)
{
  static const MdlObserved nothing;
  TrnFailuresSpec *f = &scenario->training.spec.failures;
  if (!gdp_scenario_has_failures (scenario) || f->rates.value == NULL)
    return TRUE; /* refused */
  const MdlFailureRates *rates = f->rates.value;
  double per_s = rows_per_s (&rates->rows, &rates->observed, f->factor.v) + rows_per_s (&f->also, &nothing, 1);
  double run_s = f->days.set ? f->days.v * 86400 : f->steps.v * (f->step_time.set ? f->step_time.v : step_s);
  f->seeds.v = fmin (f->seeds.v, 5);
  return per_s * run_s <= 100;
}

static void
adds_up (const Gdp *g)
{
  double sum_s = 0, blamed_s = 0;
  for (int l = 0; l < GDP_LOST_N; l++) {
    must (g->lost_s[l] >= 0);
    sum_s += g->lost_s[l];
  }
  must (g->goodput.mean >= 0 && g->goodput.mean <= 1 + 1e-9 && g->closed >= 0 && g->closed <= 1 + 1e-9);
  must (g->goodput.lo <= g->goodput.mean * (1 + 1e-9) && g->goodput.mean <= g->goodput.hi * (1 + 1e-9));
  must (fabs (sum_s + g->steps_done.mean * g->step_s - g->wall_s.mean) <= 1e-6 * g->wall_s.mean);
  for (guint i = 0; i < g->causes->len; i++) {
    const GdpCause *cause = &g_array_index (g->causes, GdpCause, i);
    must (cause->count >= 0 && cause->lost_s >= 0);
    blamed_s += cause->lost_s;
  }
  must (blamed_s <= sum_s * (1 + 1e-6) + 1e-6);
  for (guint i = 1; i < g->curve->len; i++)
    must (g_array_index (g->curve, GdpInterval, i - 1).every_steps < g_array_index (g->curve, GdpInterval, i).every_steps);
}

static void
follow (Scn *scenario)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ScnResult) result = scn_run (scenario, FALSE, &error);
  must ((result == NULL) != (error == NULL));
  if (result == NULL || result->kind != SCN_KIND_TRAINING || !is_short (scenario, result->training.step_time_s))
    return;
  g_autoptr (Gdp) goodput = gdp_scenario_goodput (scenario, result, NULL, &error);
  must ((goodput == NULL) != (error == NULL));
  if (goodput == NULL)
    return;
  adds_up (goodput);
  double time_s;
  g_autoptr (GArray) goodput_sensitivity = gdp_sensitivity (goodput, 0.9, 1.2, 1, &time_s);
  for (guint i = 0; i < goodput_sensitivity->len; i++) {
    const GdpSensitivityRow *hang = &g_array_index (goodput_sensitivity, GdpSensitivityRow, i);
    must (hang->value > 0 && hang->time_s[0] > 0 && hang->time_s[1] > 0);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GString) text = g_string_new (JOB);
  g_string_append_len (text, (const char *)data, (gssize)size);
  ScnOptions options = { .has_mode = TRUE, .mode = COL_MODE_MODEL };
  Scn *scenario = scn_load (NAME, text->str, lookup, &options, NULL, NULL, &error);
  must ((scenario == NULL) != (error == NULL));
  if (scenario != NULL)
    follow (scenario);
  scn_free (scenario);
  return 0;
}
