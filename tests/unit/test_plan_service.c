/* Plans for a service: laws of the answer. docs/plan_serving.md: its reference is what the schema tables print, its example runs.
 * `test_plan_service --write` renews the reference. */
#include <math.h>
#include <stdio.h>

#include "document.h"
#include "plan/fleet.h"
#include "plan_fixture.h"
#include "schema_document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/plan_serving.md"

static const BaseSchema *const schemas[] = { &pln_schema_fleet, NULL };
static const BaseSchema *const of_plans[] = { &pln_schema_prices, NULL };
static const DocumentOther plan_page = { "plan.md", of_plans };

/* ---- the answer to the document's example, with keys changed ---- */

typedef struct {
  PlnFleet *fleet;
  PlnFleetResult *result;
  GPtrArray *cals;
} Answer;

static Answer
ask (const char *const *sets, guint best)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  g_autofree char *example = document_next_example (&at);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Answer answer = { .cals = g_ptr_array_new_with_free_func (free_cal) };
  const PlnOptions options = { .text = example, .sets = sets, .has_seed = TRUE, .seed = 1 };
  answer.fleet = pln_fleet_load ("plan.yaml", lookup, &options, load_library, answer.cals, &error);
  if (answer.fleet == NULL)
    g_error ("%s", error->message);
  answer.result = pln_fleet_search (answer.fleet, best, FALSE, &error);
  if (answer.result == NULL)
    g_error ("%s", error->message);
  return answer;
}

static void
forget (Answer *answer)
{
  pln_fleet_result_free (answer->result);
  pln_fleet_free (answer->fleet);
  g_ptr_array_unref (answer->cals);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Answer, forget)

static const PlnFleetRow *
first_of (const Answer *answer)
{
  TEST_TRUE (answer->result->rows->len > 0);
  return &g_array_index (answer->result->rows, PlnFleetRow, 0);
}

/* ---- laws ---- */

static void
a_row_of_the_engine_keeps_its_promises (void)
{
  g_auto (Answer) answer = ask (NULL, 4);
  double ttft_s, tpot_s, fraction;
  guint simulated = 0;
  pln_fleet_slo (answer.fleet, &ttft_s, &tpot_s, &fraction);
  TEST_NEAR (fraction, 0.99, 1e-12);
  for (guint i = 0; i < answer.result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (answer.result->rows, PlnFleetRow, i);
    simulated += row->simulated ? 1u : 0u;
    TEST_TRUE (row->gpus == 8 * row->nodes);
    TEST_TRUE (row->replicas[0] * row->pools[0].gpus + (row->apart ? row->replicas[1] * row->pools[1].gpus : 0) <= row->gpus);
    TEST_TRUE (!row->simulated || row->good >= fraction);
    TEST_TRUE (isnan (row->good) || row->ttft_s <= ttft_s);
    TEST_TRUE (row->capital_usd > 0 && row->own_usd > 0 && row->rent_usd > 0);
    TEST_NEAR (row->usd_per_Mtok, row->rent_usd / (20 * 100 * 30 * 86400.0) * 1e6, 1e-9);
  }
  TEST_INT (simulated, 10); /* four, and those that cost the same as one of these */
  TEST_TRUE (answer.result->n_runs >= 4);
}

/* Twice the load needs no fewer GPUs; a promise that is stricter neither. */
static void
more_is_never_cheaper (void)
{
  static const char *const rates[] = { "goal.load.rate=50", "goal.load.rate=100", "goal.load.rate=200", "goal.load.rate=400" };
  static const char *const tpots[] = { "goal.slo.tpot=50 ms", "goal.slo.tpot=20 ms", "goal.slo.tpot=8 ms" };
  guint last = 0;
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    const char *const sets[] = { rates[i], "objective=gpus", "choices.topology=[hgx_h100]", NULL };
    g_auto (Answer) answer = ask (sets, 2);
    TEST_TRUE (first_of (&answer)->gpus >= last);
    last = first_of (&answer)->gpus;
  }
  last = 0;
  for (guint i = 0; i < G_N_ELEMENTS (tpots); i++) {
    const char *const sets[] = { tpots[i], "goal.load.rate=200", "choices.topology=[hgx_h100]", "free.pools=[all]", NULL };
    g_auto (Answer) answer = ask (sets, 1);
    TEST_TRUE (first_of (&answer)->gpus >= last);
    last = first_of (&answer)->gpus;
  }
}

/* Along a front cost, or throughput of a GPU, only falls. */
static void
fronts_only_fall (void)
{
  g_auto (Answer) answer = ask (NULL, 1);
  for (int which = PLN_FLEET_BY_USER; which <= PLN_FLEET_BY_TPOT; which++) {
    g_autoptr (GArray) points = pln_fleet_front (answer.fleet, answer.result, (PlnFleetFront)which);
    TEST_TRUE (points->len > 20);
    for (guint i = 1; i < points->len; i++) {
      const PlnFleetPoint *a = &g_array_index (points, PlnFleetPoint, i - 1), *b = &g_array_index (points, PlnFleetPoint, i);
      TEST_TRUE (a->machine <= b->machine);
      TEST_TRUE (a->machine != b->machine || (a->x < b->x && a->y > b->y));
    }
  }
}

/* A month as a run of a plan for training costs what the row says. */
static void
money_is_that_of_the_rows (void)
{
  g_auto (Answer) answer = ask (NULL, 2);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnResult) money = NULL;
  const Pln *plan = pln_fleet_money (answer.fleet, answer.result, &money, &error);
  g_assert_no_error (error);
  TEST_INT (money->rows->len, answer.result->rows->len);
  for (guint i = 0; i < money->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (answer.result->rows, PlnFleetRow, i);
    const PlnChoiceRow *run = &g_array_index (money->rows, PlnChoiceRow, i);
    MdlMoney own, rent;
    TEST_TRUE (pln_money (plan, run, PLN_ACQUISITION_BUY, &own) && pln_money (plan, run, PLN_ACQUISITION_RENT, &rent));
    TEST_NEAR (own.total_usd, row->own_usd, 1e-9 * row->own_usd);
    TEST_NEAR (rent.total_usd, row->rent_usd, 1e-9 * row->rent_usd);
    TEST_NEAR (run->power_W, row->power_W, 1e-9 * row->power_W);
  }
  TEST_INT (money->rivals->len, 1); /* of two topologies */
}

/* A fleet of more replicas than are played at once: a part of it stands for all. */
static void
large_fleets_are_played_in_part (void)
{
  static const char *const sets[] = { "goal.load.rate=2000", "choices.topology=[hgx_h100]", "free={tp: [1], pools: [apart]}",
                                      "goal.load.range=0.1", NULL };
  g_auto (Answer) answer = ask (sets, 1);
  const PlnFleetRow *row = first_of (&answer);
  TEST_TRUE (row->apart && row->simulated && row->replicas[0] + row->replicas[1] > 64);
}

/* Formats, experts and transfer stand in the scenario of a row, which can be loaded. */
static void
the_scenario_of_a_row_has_all_of_it (void)
{
  static const char *const sets[] = { "goal.model=qwen3_30b_a3b",
                                      "goal.slo={ttft: 1 s}",
                                      "choices.topology=[hgx_h100]",
                                      "free={tp: [1], dp_attn: [2], ep: [2], weights: [fp8], pools: [apart]}",
                                      "precision={kv: fp8, weights: bf16}",
                                      "transfer={first_token: decode}",
                                      "moe={redundant: 2}",
                                      NULL };
  g_auto (Answer) answer = ask (sets, 1);
  const PlnFleetRow *row = first_of (&answer);
  g_autofree char *scenario = pln_fleet_scenario (answer.fleet, row);
  g_autoptr (GPtrArray) commands = pln_fleet_commands (answer.fleet, row);
  TEST_TRUE (strstr (scenario, "precision: {weights: fp8, kv: fp8}") != NULL);
  TEST_TRUE (strstr (scenario, "transfer: {first_token: decode}") != NULL);
  TEST_TRUE (strstr (scenario, "moe: {redundant: \"2\"}") != NULL);
  TEST_TRUE (strstr (scenario, "slo: {ttft: 1 s}") != NULL);
  TEST_INT (commands->len, 2);
  TEST_TRUE (strstr (commands->pdata[0], "--data-parallel-size 2 --enable-expert-parallel") != NULL);
  TEST_TRUE (strstr (commands->pdata[0], "--kv-cache-dtype fp8") != NULL);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Scn *loaded = scn_load ("row.yaml", scenario, lookup, &(ScnOptions){ 0 }, load_library, answer.cals, &error);
  g_assert_no_error (error);
  scn_free (loaded);
}

/* The same of replicas that do both, with the formats that the plan gives. */
static void
the_scenario_of_plain_replicas_has_all_of_it (void)
{
  static const char *const sets[] = { "free={tp: [1], pools: [all]}", "precision={weights: fp8}", NULL };
  g_auto (Answer) answer = ask (sets, 0);
  g_autofree char *scenario = pln_fleet_scenario (answer.fleet, first_of (&answer));
  TEST_TRUE (strstr (scenario, "precision: {weights: fp8}") != NULL);
  TEST_TRUE (strstr (scenario, "parallel: {tp: 1, pp: 1, dp_attn: 1, ep: 1}") != NULL);
  TEST_TRUE (strstr (scenario, "replicas: ") != NULL);
}

/* Layouts that cannot be are named as what they miss. */
static void
what_cannot_be_is_refused (void)
{
  static const char *const experts[] = { "goal.model=qwen3_30b_a3b", "free={tp: [4], ep: [3]}", NULL };
  g_auto (Answer) impossible = ask (experts, 1);
  TEST_INT (impossible.result->rows->len, 0);
  TEST_INT (impossible.result->misses->len, 2);
  for (guint i = 0; i < impossible.result->misses->len; i++) {
    const PlnFleetNearest *miss = &g_array_index (impossible.result->misses, PlnFleetNearest, i);
    TEST_TRUE (miss->why == PLN_FLEET_LAYOUT && miss->what != NULL);
  }
}

/* Engines other than vLLM have flags of their own. */
static void
engines_are_started_by_their_own_flags (void)
{
  static const char *const sglang[] = { "engine={name: sglang, chunk: 4096}", "goal.model=qwen3_30b_a3b",
                                        "choices.topology=[hgx_h100]",
                                        "free={tp: [2], pp: [2], dp_attn: [2], ep: [4], pools: [all]}", NULL };
  g_auto (Answer) answer = ask (sglang, 0);
  g_autoptr (GPtrArray) commands = pln_fleet_commands (answer.fleet, first_of (&answer));
  TEST_INT (commands->len, 1);
  TEST_TRUE (strstr (commands->pdata[0], "--tp-size 4 --pp-size 2 --dp-size 2 --enable-dp-attention --ep-size 4") != NULL);
}

/* ---- the document ---- */

static void
the_tables_are_sound (void)
{
  g_autofree char *wrong = schema_check (&pln_schema_fleet);
  TEST_STR (wrong, NULL);
}

static void
reference_is_what_the_tables_print (void)
{
  document_check_reference (DOCUMENT, schemas, &plan_page);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "a row of the engine keeps its promises", a_row_of_the_engine_keeps_its_promises },
    { "more is never cheaper", more_is_never_cheaper },
    { "large fleets are played in part", large_fleets_are_played_in_part },
    { "the scenario of a row has all of it", the_scenario_of_a_row_has_all_of_it },
    { "the scenario of plain replicas has all of it", the_scenario_of_plain_replicas_has_all_of_it },
    { "what cannot be is refused", what_cannot_be_is_refused },
    { "engines are started by their own flags", engines_are_started_by_their_own_flags },
    { "the tables are sound", the_tables_are_sound },
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { "fronts only fall", fronts_only_fall },
    { "money is that of the rows", money_is_that_of_the_rows },
    { NULL, NULL },
  };
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, &plan_page);
  return test_main ("plans of services", cases);
}
