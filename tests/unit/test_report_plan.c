/* What a plan's answer says in sentences, of rows with numbers that a person can check; and where shipped prices come from. */
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "plan_fixture.h"
#include "report/plan.h"

#define DAY_S 86400.0

/* Of a machine: so many days of 1 s steps, between 0.9 and 1.2 s, for so much of which the machine is a share. */
static void
add_row (PlnResult *result, guint machine, double days, double usd, gboolean alike)
{
  PlnChoiceRow row = { .machine = machine,
                       .query = { .tp = 2, .pp = 1, .dp = 4 },
                       .step_time_s = 1,
                       .step_time_lo_s = 0.9,
                       .step_time_hi_s = 1.2,
                       .run_s = days * DAY_S,
                       .formula_s = days * DAY_S,
                       .formula_usd = usd,
                       .power_W = 12750,
                       .way = PLN_ACQUISITION_BUY,
                       .money = { .total_usd = usd, .energy_J = days * 3.6e9 },
                       .usd_per_token = usd / 100e9,
                       .alike = alike };
  g_array_append_val (result->rows, row);
}

static PlnResult
empty (void)
{
  return (PlnResult){ .rows = g_array_new (FALSE, TRUE, sizeof (PlnChoiceRow)) };
}

static void
the_first_lines_say_what_to_take_and_what_is_decided (void)
{
  /* One node and two, at $380,000 a node: 12.75 kW at $0.10/kWh are $1.275 an hour, so that $20 an hour of rent pay the node back
   * in 380,000 / 18.725 hours, 846 days; 10 days of rent are $4,800 */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  PlnResult result = empty ();
  add_row (&result, 0, 10, 6000, TRUE);
  add_row (&result, 0, 11, 6600, TRUE);
  add_row (&result, 1, 5, 6300, TRUE);
  g_auto (GStrv) open = rep_plan_verdict (small.plan, &result);
  TEST_INT (g_strv_length (open), 5); /* no option is smaller than the first */
  TEST_STR (open[0], "Recommended: 1 x HGX H100, TP2 x PP1 x DP4: 10 days (9 to 12), over 99.9 % likely within 90 days, $380 k to "
                     "buy, run cost $6 k ($5.4 k to "
                     "$7.2 k) owned, $4.8 k rented.");
  TEST_STR (open[2],
            "With 2 nodes: 5.0 % more run cost ($300; $380 k more to buy), 50 % less time; this is within the model's error.");
  TEST_STR (open[3],
            "Rent or buy: this run costs $4.8 k rented, or $4.11 k owned after $380 k of cash; the cash is saved after 846 days "
            "of use, and this run takes 10.");
  TEST_STR (open[4], "The cost owned assumes that runs use 100 % of 1000 days, and that other work fills the rest.");
  TEST_NEAR (rep_plan_break_even_s (small.plan, &result), 380e3 / 18.725 * 3600, 1e-9);
  g_array_index (result.rows, PlnChoiceRow, 2).alike = FALSE;
  g_auto (GStrv) decided = rep_plan_verdict (small.plan, &result);
  TEST_STR (decided[2], "With 2 nodes: 5.0 % more run cost ($300; $380 k more to buy), 50 % less time.");
  g_array_unref (result.rows);
}

static void
what_the_engine_says_is_not_held_against_the_closed_form (void)
{
  /* the engine adds a tenth to the first: the other one, which it has not run, is held against the first's closed form */
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  PlnResult result = empty ();
  add_row (&result, 0, 10, 6000, TRUE);
  add_row (&result, 1, 5, 6300, TRUE);
  PlnChoiceRow *first = &g_array_index (result.rows, PlnChoiceRow, 0);
  first->simulated = TRUE;
  first->run_s *= 1.1;
  first->money.total_usd *= 1.1;
  first->query.ep = 8;
  g_auto (GStrv) said = rep_plan_verdict (small.plan, &result);
  TEST_TRUE (strstr (said[0], ", TP2 x PP1 x DP4, EP8: ") != NULL);
  TEST_STR (said[2],
            "With 2 nodes: 5.0 % more run cost ($330; $380 k more to buy), 50 % less time; this is within the model's error.");
  g_array_index (result.rows, PlnChoiceRow, 1).simulated = TRUE;
  g_auto (GStrv) both = rep_plan_verdict (small.plan, &result);
  TEST_STR (both[2],
            "With 2 nodes: 4.5 % less run cost ($300; $380 k more to buy), 55 % less time; this is within the model's error.");
  g_array_unref (result.rows);
}

static void
a_machine_that_nothing_runs_on_is_named (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  PlnResult result = empty ();
  g_auto (GStrv) nothing = rep_plan_verdict (small.plan, &result);
  TEST_INT (g_strv_length (nothing), 0);
  TEST_TRUE (isnan (rep_plan_break_even_s (small.plan, &result)));
  add_row (&result, 1, 5, 6300, TRUE);
  g_auto (GStrv) two = rep_plan_verdict (small.plan, &result);
  TEST_STR (two[2], "It is the smallest option that meets the goal (16 GPUs).");
  g_array_unref (result.rows);
}

static void
a_front_has_two_ends (void)
{
  static const char *const sets[] = { "objective=pareto", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult result = empty ();
  add_row (&result, 1, 5, 6300, TRUE);
  add_row (&result, 0, 10, 6000, TRUE);
  for (guint i = 0; i < 2; i++)
    g_array_index (result.rows, PlnChoiceRow, i).front = TRUE;
  g_auto (GStrv) said = rep_plan_verdict (small.plan, &result);
  TEST_TRUE (g_str_has_prefix (said[0], "Fastest: 2 x HGX H100, TP2 x PP1 x DP4: 5 days"));
  TEST_STR (said[1], "Cheapest: 1 x HGX H100, TP2 x PP1 x DP4: 10 days (9 to 12), over 99.9 % likely within 90 days, $380 k to "
                     "buy, run cost $6 k ($5.4 k to "
                     "$7.2 k) owned, $4.8 k rented.");
  TEST_TRUE (g_str_has_prefix (said[3], "Smallest option that meets the goal (8 GPUs): 1 x HGX H100, TP2 x PP1 x DP4: 10 days"));
  g_array_unref (result.rows);
}

static void
what_saves_more_than_it_slows_is_said (void)
{
  static const char *const sets[] = { "objective=time", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult result = empty ();
  add_row (&result, 1, 10, 6000, TRUE);
  add_row (&result, 0, 10.2, 5700, FALSE); /* 2 % slower, 5 % cheaper */
  g_auto (GStrv) said = rep_plan_verdict (small.plan, &result);
  TEST_STR (
      said[2],
      "With 1 node: 2.0 % more time, 5.0 % less run cost ($300; $380 k less to buy); it saves more money, in per cent, than it "
      "adds time.");
  g_array_index (result.rows, PlnChoiceRow, 1).formula_usd = 5940; /* 1 % cheaper */
  g_auto (GStrv) dear = rep_plan_verdict (small.plan, &result);
  TEST_TRUE (g_str_has_suffix (dear[2], "($60; $380 k less to buy)."));
  g_array_unref (result.rows);
}

/* A count of GPUs has no error, so that no more of them are "within the model's error" of fewer. */
static void
more_gpus_are_counted_not_guessed (void)
{
  static const char *const sets[] = { "objective=gpus", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  PlnResult result = empty ();
  add_row (&result, 0, 10, 6000, TRUE);
  add_row (&result, 1, 5, 6300, TRUE);
  g_auto (GStrv) said = rep_plan_verdict (small.plan, &result);
  TEST_STR (said[2], "With 2 nodes: 100 % more GPUs, 50 % less time, 5.0 % more run cost ($300; $380 k more to buy).");
  g_array_unref (result.rows);
}

/* Of rows of which the engine ran the first alone, the second may be below it. */
static void
the_second_row_takes_more_or_less_or_the_same (void)
{
  static const struct {
    double days, usd;
    const char *aim, *said;
  } cases[] = {
    { 11, 6000, "objective=time", "\nThe second row takes 10.00 % more time.\n" },
    { 9.998, 6000, "objective=time", "\nThe second row takes the same time, within 0.1 %.\n" },
    { 9.5, 6000, "objective=time", "\nThe second row takes 5.00 % less time.\n" },
    { 10, 6012, "objective=cost", "\nThe second row costs 0.20 % more.\n" },
    { 10, 6000.6, "objective=cost", "\nThe second row costs the same, within 0.1 %.\n" },
    { 10.5, 6000, "objective=energy", "\nThe second row uses 5.00 % more energy.\n" },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    const char *const sets[] = { cases[i].aim, NULL };
    g_auto (Loaded) small = load_small (lookup, sets);
    g_autoptr (GString) text = g_string_new (NULL);
    PlnResult result = empty ();
    result.rivals = g_array_new (FALSE, FALSE, sizeof (PlnAlternative));
    add_row (&result, 0, 10, 6000, TRUE);
    add_row (&result, 0, cases[i].days, cases[i].usd, TRUE);
    g_array_index (result.rows, PlnChoiceRow, 1).power_W = g_array_index (result.rows, PlnChoiceRow, 0).power_W;
    rep_plan_text (small.plan, &result, 2, text);
    TEST_TRUE (strstr (text->str, cases[i].said) != NULL);
    g_array_unref (result.rivals);
    g_array_unref (result.rows);
  }
}

/* A published figure names where it stands and of which year. */
static void
shipped_prices_name_their_sources (void)
{
  static const char *const lists[] = { "us_2026", "year_2026" };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (size_t i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autofree char *set = g_strdup_printf ("prices=" TEST_SOURCE_DIR "/scenarios/prices/%s.yaml", lists[i]);
    const char *const sets[] = { set, "choices.nodes=[1]", "goal.run_cost=", NULL };
    g_auto (Loaded) small = load_small (lookup, sets);
    g_autoptr (BaseTable) prices = rep_plan_prices (small.plan);
    g_autoptr (GString) tsv = g_string_new (NULL);
    base_table_print_tsv (prices, tsv);
    g_auto (GStrv) lines = g_strsplit (tsv->str, "\n", -1);
    guint published = 0;
    for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
      g_auto (GStrv) cells = g_strsplit (*line, "\t", -1);
      gboolean good = strlen (cells[3]) > 4;
      if (strcmp (cells[0], "datasheet") == 0) {
        published++;
        good = g_regex_match_simple ("[A-Za-z]{4}", cells[3], 0, 0) &&
               g_regex_match_simple ("20[12][0-9]|[0-9a-f]{10}", cells[3], 0, 0);
      }
      if (!good)
        g_printerr ("%s: %s\n", lists[i], *line);
      TEST_TRUE (good);
    }
    TEST_TRUE (published >= 3); /* those of nodes that the plan has */
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the first lines say what to take and what is decided", the_first_lines_say_what_to_take_and_what_is_decided },
    { "what the engine says is not held against the closed form", what_the_engine_says_is_not_held_against_the_closed_form },
    { "a machine that nothing runs on is named", a_machine_that_nothing_runs_on_is_named },
    { "a front has two ends", a_front_has_two_ends },
    { "what saves more than it slows is said", what_saves_more_than_it_slows_is_said },
    { "more GPUs are counted, not guessed", more_gpus_are_counted_not_guessed },
    { "the second row takes more, less or the same", the_second_row_takes_more_or_less_or_the_same },
    { "shipped prices name their sources", shipped_prices_name_their_sources },
    { NULL, NULL },
  };
  return test_main ("a plan's answer", cases);
}
