/* The scoreboard: its statistics by hand, its bands and order, and what is worse than allowed. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "report/validate.h"

/* A measurement of 10 us that is predicted at 10 us times (1 + error), within 10 % either way. */
static void
add (GArray *points, guint order, MdlAlgo algo, double size_B, double error)
{
  double predicted_s = 10e-6 * (1 + error);
  CalPrediction point = { .system = order == 0 ? "one" : "two",
                          .order = order,
                          .nodes = 1,
                          .ranks = 8,
                          .op = MDL_OP_ALL_REDUCE,
                          .algo = algo,
                          .proto = MDL_PROTO_AUTO,
                          .size_B = size_B,
                          .measured_s = 10e-6,
                          .predicted_s = predicted_s,
                          .predicted_lo_s = predicted_s / 1.1,
                          .predicted_hi_s = predicted_s * 1.1 };
  g_array_append_val (points, point);
}

static const CalScore *
score_at (const GArray *scores, guint i)
{
  return &g_array_index (scores, CalScore, i);
}

static void
statistics_are_those_by_hand (void)
{
  /* Sizes of the errors, in order: 2, 5, 8, 20 %. Median (5 + 8) / 2; 95 % of 4 points is the 4th; bias: of -20, -5, 2, 8 % the
   * middle is (-5 + 2) / 2. Within 10 % of its prediction lie all but the one predicted 20 % too low (8 us, at most 8.8 us). */
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CalPrediction));
  add (points, 0, MDL_ALGO_RING, 1024, 0.02);
  add (points, 0, MDL_ALGO_RING, 1024, -0.05);
  add (points, 0, MDL_ALGO_RING, 1024, 0.08);
  add (points, 0, MDL_ALGO_RING, 1024, -0.20);
  g_autoptr (GArray) scores = cal_score (points, 65536, 16777216);
  TEST_INT (scores->len, 2); /* and the row of all points */
  for (guint i = 0; i < 2; i++) {
    const CalScore *score = score_at (scores, i);
    TEST_INT (score->n, 4);
    TEST_NEAR (score->median, 0.065, 1e-9);
    TEST_NEAR (score->p95, 0.20, 1e-9);
    TEST_NEAR (score->worst, 0.20, 1e-9);
    TEST_NEAR (score->bias, -0.015, 1e-9);
    TEST_NEAR (score->within, 0.75, 1e-12);
  }
  TEST_STR (score_at (scores, 0)->system, "one");
  TEST_TRUE (score_at (scores, 1)->system == NULL);
}

static void
the_percentile_is_a_point_that_was_measured (void)
{
  /* Errors of 1 to 40 %: 95 % of 40 points is the 38th; the median lies between 20 and 21 %. */
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CalPrediction));
  for (unsigned i = 40; i > 0; i--)
    add (points, 0, MDL_ALGO_RING, 1024, i / 100.0);
  g_autoptr (GArray) scores = cal_score (points, 65536, 16777216);
  TEST_NEAR (score_at (scores, 0)->p95, 0.38, 1e-9);
  TEST_NEAR (score_at (scores, 0)->median, 0.205, 1e-9);
}

static void
rows_are_sorted_and_bands_end_below_their_limit (void)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CalPrediction));
  add (points, 1, MDL_ALGO_RING, 100, 0);
  add (points, 0, MDL_ALGO_RING, 16777216, 0);
  add (points, 0, MDL_ALGO_RING, 65536, 0);
  add (points, 0, MDL_ALGO_RING, 65535, 0);
  add (points, 0, MDL_ALGO_AUTO, 16777215, 0);
  g_autoptr (GArray) scores = cal_score (points, 65536, 16777216);
  static const struct {
    const char *system;
    MdlAlgo algo;
    MdlSize band;
    guint n;
  } want[] = {
    { "one", MDL_ALGO_AUTO, MDL_SIZE_MIDDLE, 1 }, { "one", MDL_ALGO_RING, MDL_SIZE_SMALL, 1 },
    { "one", MDL_ALGO_RING, MDL_SIZE_MIDDLE, 1 }, { "one", MDL_ALGO_RING, MDL_SIZE_LARGE, 1 },
    { "two", MDL_ALGO_RING, MDL_SIZE_SMALL, 1 },  { NULL, MDL_ALGO_TREE, MDL_SIZE_SMALL, 2 },
    { NULL, MDL_ALGO_TREE, MDL_SIZE_MIDDLE, 2 },  { NULL, MDL_ALGO_TREE, MDL_SIZE_LARGE, 1 },
  };
  TEST_INT (scores->len, G_N_ELEMENTS (want));
  for (guint i = 0; i < MIN (scores->len, G_N_ELEMENTS (want)); i++) {
    TEST_TRUE (g_strcmp0 (score_at (scores, i)->system, want[i].system) == 0);
    TEST_TRUE (want[i].system == NULL || score_at (scores, i)->algo == want[i].algo);
    TEST_INT (score_at (scores, i)->band, want[i].band);
    TEST_INT (score_at (scores, i)->n, want[i].n);
  }
}

static void
worse_is_above_a_limit_that_there_is (void)
{
  CalScore score = { .median = 0.10, .p95 = 0.30, .median_limit = (double)NAN, .p95_limit = (double)NAN };
  TEST_FALSE (cal_score_is_worse (&score));
  score.median_limit = 0.10; /* as large as allowed is allowed */
  TEST_FALSE (cal_score_is_worse (&score));
  score.median_limit = 0.09;
  TEST_TRUE (cal_score_is_worse (&score));
  score.median_limit = 0.20;
  score.p95_limit = 0.29;
  TEST_TRUE (cal_score_is_worse (&score));
}

static void
every_format_says_the_same (void)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CalPrediction));
  add (points, 0, MDL_ALGO_RING, 1024, 0.125);
  g_autoptr (GArray) scores = cal_score (points, 65536, 16777216);
  g_array_index (scores, CalScore, 0).median_limit = 0.1;
  g_autoptr (GString) text = g_string_new (NULL), tsv = g_string_new (NULL), rows = g_string_new (NULL);
  rep_validate_text (scores, text);
  TEST_HAS (text->str, "12.5");
  TEST_HAS (text->str, "worse");
  rep_validate_tsv (scores, tsv);
  TEST_HAS (tsv->str, "one\t1\tall_reduce\tring\tauto\tsmall\t1\t0.125\t0.125\t0.125\t0.125\t0\t0.10000000000000001\t\tworse\n");
  TEST_HAS (tsv->str, "all\t\t\t\t\tsmall\t1\t0.125\t0.125\t0.125\t0.125\t0\t\t\t\n");
  rep_validate_points_tsv (points, rows);
  TEST_HAS (rows->str, "system\tnodes\tranks\top\talgo\tproto\tbytes\tmeasured_s\tpredicted_s\t");
  TEST_HAS (rows->str, "one\t1\t8\tall_reduce\tring\tauto\t1024\t1.0000000000000001e-05\t1.1250000000000001e-05\t");
}

static void
networks_are_scored_by_role (void)
{
  /* Three points of one network: two systems score with errors of 10 and 30 %, one fits with 5 %; one point crosses no network. The
   * 90th percentile of two is the larger; within 10 % lies the one predicted 10 % high, whose band ends at 11 / 1.1. */
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CalPrediction));
  const struct {
    guint order;
    guint32 nodes;
    int role;
    double error;
    const char *fabric;
  } rows[] = { { 1, 8, CAL_ROLE_SCORE, 0.30, "InfiniBand NDR" },
               { 0, 2, CAL_ROLE_SCORE, 0.10, "InfiniBand NDR" },
               { 2, 4, CAL_ROLE_FIT, 0.05, "InfiniBand NDR" },
               { 0, 1, -1, 0.90, NULL } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    add (points, rows[i].order, MDL_ALGO_RING, 1024, rows[i].error);
    CalPrediction *point = &g_array_index (points, CalPrediction, i);
    point->nodes = rows[i].nodes;
    point->role = rows[i].role;
    point->fabric = g_intern_string (rows[i].fabric);
  }
  g_autoptr (GArray) fabrics = cal_score_fabrics (points);
  TEST_INT (fabrics->len, 2);
  const CalFabricScore *fit = &g_array_index (fabrics, CalFabricScore, 0), *held = fit + 1;
  TEST_INT (fit->role, CAL_ROLE_FIT);
  TEST_INT (fit->n, 1);
  TEST_NEAR (fit->worst, 0.05, 1e-9);
  TEST_INT (held->role, CAL_ROLE_SCORE);
  TEST_INT (held->n, 2);
  TEST_INT (held->systems, 2);
  TEST_INT (held->min_nodes, 2);
  TEST_INT (held->max_nodes, 8);
  TEST_NEAR (held->median, 0.20, 1e-9);
  TEST_NEAR (held->p90, 0.30, 1e-9);
  TEST_NEAR (held->bias, 0.20, 1e-9);
  TEST_NEAR (held->within, 0.5, 1e-9);
  g_autoptr (GString) text = g_string_new (NULL);
  rep_validate_fabrics_text (fabrics, text);
  TEST_HAS (text->str, "InfiniBand NDR  score");
}

static const TestCase cases[] = {
  { "statistics are those by hand", statistics_are_those_by_hand },
  { "the percentile is a point that was measured", the_percentile_is_a_point_that_was_measured },
  { "rows are sorted and bands end below their limit", rows_are_sorted_and_bands_end_below_their_limit },
  { "worse is above a limit that there is", worse_is_above_a_limit_that_there_is },
  { "networks are scored by role", networks_are_scored_by_role },
  { "every format says the same", every_format_says_the_same },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("report: validate", cases);
}
