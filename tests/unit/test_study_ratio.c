/* Communication over compute, and the network at which it turns: the step of tests/golden/ratio/json, of which the numbers are
 * worked there. */
#include <math.h>

#include "harness.h"
#include "study/ratio.h"

#define STEP TEST_SOURCE_DIR "/tests/golden/ratio/json/step.yaml"

/* Of two nodes at 200 Gb/s, where nothing else is said. */
static StdRatio *
ratio_of (GArray *nodes, GArray *rates, gboolean check)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GArray) batches = g_array_new (FALSE, FALSE, sizeof (double));
  StdRatioQuery query = { .question = { .path = STEP, .lookup = lookup, .options = { .has_mode = TRUE, .mode = COL_MODE_MODEL } },
                          .limit = { 1, 0.2 },
                          .nodes = nodes,
                          .batches = batches,
                          .rates = rates,
                          .check = check };
  g_autoptr (StdLoaded) loaded = std_loaded_new (STEP, NULL, lookup, &query.question.options, NULL);
  const BaseYaml *yaml = scn_inputs (loaded->scenario)->pdata[0];
  TEST_TRUE (trn_scale (scn_training (loaded->scenario), base_yaml_mark (base_yaml_root (yaml)), &query.scale, NULL));
  std_ratio_defaults (&query);
  return std_ratio (&query);
}

static GArray *
list_of (double value)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (double));
  if (value > 0)
    g_array_append_val (list, value);
  return list;
}

static void
a_line_is_solved_for_and_the_engine_agrees (void)
{
  g_autoptr (GArray) nodes = list_of (2), rates = list_of (25e9);
  g_autoptr (StdRatio) ratio = ratio_of (nodes, rates, TRUE);
  TEST_INT (ratio->points->len, 1);
  const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, 0);
  TEST_NEAR (point->value[STD_LINE_RATIO], 1.25, 1e-9); /* 0.15 s over 0.12 s */
  TEST_NEAR (point->value[STD_LINE_WAITS], 0.09 / 0.21, 1e-9);
  const StdRatioSpeed *speed = &g_array_index (ratio->speeds, StdRatioSpeed, 0);
  TEST_INT (speed->line[STD_LINE_RATIO].how, STD_SOLVED);
  TEST_NEAR (speed->line[STD_LINE_RATIO].rate_Bps, 31.25e9, 1e-6);
  TEST_NEAR (speed->line[STD_LINE_RATIO].engine_Bps, 31.25e9, 1e-3);
  TEST_NEAR (speed->line[STD_LINE_RATIO].gpu_Bps, 31.25e9 / 8, 1e-6); /* one adapter for 8 GPUs */
}

static void
what_is_not_asked_for_is_filled_in_around_the_scenario (void)
{
  g_autoptr (GArray) nodes = list_of (0), rates = list_of (0);
  g_autoptr (StdRatio) ratio = ratio_of (nodes, rates, FALSE);
  TEST_INT (rates->len, 4);
  TEST_NEAR (g_array_index (rates, double, 3) / g_array_index (rates, double, 0), 8, 1e-12); /* twice over a quarter */
  TEST_NEAR (g_array_index (nodes, double, 0), 1, 0);
  TEST_INT (ratio->points->len, nodes->len * 4);
  TEST_INT (ratio->nodes->len, 4);
  for (guint i = 0; i < ratio->speeds->len; i++)
    TEST_TRUE (!(g_array_index (ratio->speeds, StdRatioSpeed, i).line[STD_LINE_RATIO].engine_Bps > 0)); /* not asked */
}

static void
a_point_that_cannot_run_says_why (void)
{
  g_autoptr (GArray) nodes = list_of (3), rates = list_of (25e9); /* 16 micro-batches, 24 GPUs */
  g_autoptr (StdRatio) ratio = ratio_of (nodes, rates, FALSE);
  TEST_HAS (g_array_index (ratio->points, StdRatioPoint, 0).why_not, "16");
  TEST_INT (ratio->speeds->len, 0);
}

static const TestCase cases[] = {
  { "a line is solved for and the engine agrees", a_line_is_solved_for_and_the_engine_agrees },
  { "what is not asked for is filled in around the scenario", what_is_not_asked_for_is_filled_in_around_the_scenario },
  { "a point that cannot run says why", a_point_that_cannot_run_says_why },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("study: ratio", cases);
}
