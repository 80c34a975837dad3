/* Runs through failures whose history can be worked by hand: a Weibull distribution of a huge shape is a clock, so that failures
 * come when the test says. And what a scenario may not ask. */
#include <math.h>

#include "goodput-private.h"
#include "scenario_fixture.h"

#define CLOCKWORK 1e7

/* Steps of 1 s, a checkpoint every 100 of 10 s; 3 s to notice, 20 s to start, 5 s to restore. */
static GdpCause
every (double period_s, MdlEffect effect)
{
  return (GdpCause){ .name = "tick", .effect = effect, .rate_per_s = 1 / period_s, .shape = CLOCKWORK, .detect_s = 3 };
}

static GdpRunPlan
plan_of (const GdpCause *cause, double horizon_s)
{
  return (GdpRunPlan){ .cause = cause,
                       .n_causes = 1,
                       .step_s = 1,
                       .checkpoint = { .every_steps = 100, .stall_s = 10, .restore_s = 5 },
                       .restart_s = 20,
                       .spares = (double)INFINITY,
                       .horizon_s = horizon_s,
                       .target_s = (double)INFINITY };
}

static GdpRunOutcome
run (const GdpRunPlan *plan)
{
  GdpRunOutcome out;
  gdp_run (plan, base_random_stream (1, "test"), NULL, &out);
  double sum_s = out.useful_s;
  for (int l = 0; l < GDP_LOST_N; l++)
    sum_s += out.lost_s[l];
  TEST_NEAR (sum_s, out.wall_s, 1e-9);
  TEST_TRUE (out.finished);
  return out;
}

/* Work 0-100, 110-210, 220-250: fails, 30 s are lost. Back at 278; work 278-378, 388-488, 498-499. */
static void
a_failure_loses_the_work_since_the_last_checkpoint (void)
{
  const GdpCause cause = every (250, MDL_EFFECT_STOP);
  const GdpRunPlan plan = plan_of (&cause, 499);
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.wall_s, 499, 0);
  TEST_NEAR (out.useful_s, 401, 1e-6);
  TEST_NEAR (out.lost_s[GDP_LOST_RECOMPUTE], 30, 1e-4);
  TEST_NEAR (out.lost_s[GDP_LOST_CHECKPOINT], 40, 1e-9);
  TEST_NEAR (out.lost_s[GDP_LOST_DETECT], 3, 1e-9);
  TEST_NEAR (out.lost_s[GDP_LOST_RESTART], 20, 1e-9);
  TEST_NEAR (out.lost_s[GDP_LOST_RESTORE], 5, 1e-9);
  TEST_NEAR (out.stops, 1, 0);
}

/* The second checkpoint, begun at 210, has not drained by 250: all since the first one goes, 230 - 100 s. The first, had it drained
 * for 141 s, would not have either. */
static void
a_checkpoint_counts_once_it_has_drained (void)
{
  const GdpCause cause = every (250, MDL_EFFECT_STOP);
  GdpRunPlan plan = plan_of (&cause, 260);
  plan.checkpoint.drain_s = 50;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_RECOMPUTE], 130, 1e-4);
  plan.checkpoint.drain_s = 29;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_RECOMPUTE], 30, 1e-4);
}

/* A drain of 130 s from 110 on: the second checkpoint begins at 240 and not at 210; the third at 380. */
static void
a_checkpoint_waits_for_the_one_before (void)
{
  const GdpCause cause = every (1e6, MDL_EFFECT_STOP);
  GdpRunPlan plan = plan_of (&cause, 400);
  plan.checkpoint.drain_s = 130;
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.lost_s[GDP_LOST_CHECKPOINT], 30 + 30 + 30, 1e-9);
  TEST_NEAR (out.useful_s, 310, 1e-9);
}

/* Noticed at 253, one node missing until 250 + 400. */
static void
without_a_spare_the_job_waits_for_the_repair (void)
{
  GdpCause cause = every (250, MDL_EFFECT_STOP);
  cause.nodes = 1;
  cause.repair_s = 200;
  GdpRunPlan plan = plan_of (&cause, 490);
  plan.spares = 0;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_SPARE], 197, 1e-4);
  plan.spares = 1;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_SPARE], 0, 0);
}

/* The spare goes at 250; at 500 the first node is back since 450, at 750 the second since 700: nobody waits. With a repair of 300
 * s the second failure waits until 550, from 503 on. */
static void
repaired_nodes_are_spares_again (void)
{
  GdpCause cause = every (250, MDL_EFFECT_STOP);
  cause.nodes = 1;
  cause.repair_s = 200;
  GdpRunPlan plan = plan_of (&cause, 900);
  plan.spares = 1;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_SPARE], 0, 0);
  cause.repair_s = 300;
  plan.horizon_s = 700;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_SPARE], 47, 1e-4);
}

/* A recovery that begins at 250 and takes 285 s is broken off at 500. */
static void
a_failure_during_a_recovery_begins_it_anew (void)
{
  const GdpCause cause = every (250, MDL_EFFECT_STOP);
  GdpRunPlan plan = plan_of (&cause, 510);
  plan.restart_s = 277;
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.stops, 2, 0);
  TEST_NEAR (out.lost_s[GDP_LOST_DETECT], 6, 1e-6);
  TEST_NEAR (out.lost_s[GDP_LOST_RESTART], 247 + 7, 1e-4);
  TEST_NEAR (out.useful_s, 200, 1e-9);
}

/* At 250 a checkpoint is taken until 260, and the job is back at 285 with all it had done. */
static void
a_planned_stop_loses_no_work (void)
{
  const GdpCause cause = every (250, MDL_EFFECT_PLANNED);
  const GdpRunPlan plan = plan_of (&cause, 300);
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.lost_s[GDP_LOST_RECOMPUTE], 0, 0);
  TEST_NEAR (out.lost_s[GDP_LOST_CHECKPOINT], 30, 1e-9);
  TEST_NEAR (out.lost_s[GDP_LOST_DETECT], 0, 0);
  TEST_NEAR (out.useful_s, 230 + 15, 1e-5);
  TEST_NEAR (out.stops, 0, 0);
}

/* From 250 to 350 steps take twice as long: of these 100 s, 50 are lost; the checkpoint of 300 s of work begins at 370. */
static void
a_slow_part_takes_its_share_while_it_lasts (void)
{
  GdpCause cause = every (250, MDL_EFFECT_SLOW);
  cause.slowdown = 2;
  cause.lasts_s = 100;
  const GdpRunPlan plan = plan_of (&cause, 380);
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.lost_s[GDP_LOST_SLOW], 50, 1e-5);
  TEST_NEAR (out.lost_s[GDP_LOST_CHECKPOINT], 30, 1e-4);
  TEST_NEAR (out.useful_s, 300, 1e-5);
}

/* The same, and its node is replaced at 350: 280 s are done and saved until 360, back at 385. */
static void
a_slow_part_that_is_found_is_replaced_at_a_planned_stop (void)
{
  GdpCause cause = every (250, MDL_EFFECT_SLOW);
  cause.slowdown = 2;
  cause.lasts_s = 100;
  cause.nodes = 1;
  const GdpRunPlan plan = plan_of (&cause, 385);
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.useful_s, 280, 1e-5);
  TEST_NEAR (out.lost_s[GDP_LOST_CHECKPOINT], 30, 1e-5);
  TEST_NEAR (out.lost_s[GDP_LOST_RESTART] + out.lost_s[GDP_LOST_RESTORE], 25, 1e-4);
  TEST_NEAR (out.lost_s[GDP_LOST_RECOMPUTE], 0, 0);
}

/* 1000 s of work in intervals of 100: nine checkpoints on the way, none at the end. */
static void
a_run_ends_when_its_work_is_done (void)
{
  const GdpCause cause = every (1e6, MDL_EFFECT_STOP);
  GdpRunPlan plan = plan_of (&cause, (double)INFINITY);
  plan.target_s = 1000;
  TEST_NEAR (run (&plan).wall_s, 1090, 1e-9);
  plan.target_s = 250;
  TEST_NEAR (run (&plan).wall_s, 270, 1e-9);
}

/* The failure of 250 costs 30 + 3 + 20 + 5 s; of the slow spell from 300 to 400
 * half is lost. Checkpoints that are taken anyway are nobody's doing. */
static void
what_is_lost_is_somebody_s_doing (void)
{
  GdpCause causes[] = { every (250, MDL_EFFECT_STOP), every (300, MDL_EFFECT_SLOW) };
  causes[1].slowdown = 2;
  causes[1].lasts_s = 100;
  GdpRunPlan plan = plan_of (causes, 450);
  plan.n_causes = G_N_ELEMENTS (causes);
  GdpTally tally[G_N_ELEMENTS (causes)] = { 0 };
  GdpRunOutcome out;
  gdp_run (&plan, base_random_stream (1, "test"), tally, &out);
  TEST_NEAR (tally[0].count, 1, 0);
  TEST_NEAR (tally[0].lost_s, 30 + 3 + 20 + 5, 1e-4);
  TEST_NEAR (tally[1].count, 1, 0);
  TEST_NEAR (tally[1].lost_s, 50, 1e-4);
  TEST_NEAR (out.lost_s[GDP_LOST_CHECKPOINT], 450 - out.useful_s - 58 - 50, 1e-3);
}

static void
the_same_stream_is_the_same_run (void)
{
  GdpCause cause = every (250, MDL_EFFECT_STOP);
  cause.shape = 0.7;
  const GdpRunPlan plan = plan_of (&cause, 1e5);
  GdpRunOutcome a, b, c;
  gdp_run (&plan, base_random_stream_at (1, "failures", 7), NULL, &a);
  gdp_run (&plan, base_random_stream_at (1, "failures", 7), NULL, &b);
  gdp_run (&plan, base_random_stream_at (1, "failures", 8), NULL, &c);
  TEST_NEAR (a.useful_s, b.useful_s, 0);
  TEST_TRUE (a.useful_s < c.useful_s || a.useful_s > c.useful_s);
}

/* ---- scenarios ---- */

#define LAYERS "kind: training, layers: [{forward: 0.4 s, backward: 0.6 s}]"
#define SAVED  "checkpoint: {every: 600, stall: 10 s, restore: 1 min}"
#define DAILY  "{rows: [{name: node, of: node, every: 8 days}]}"

static Gdp *
goodput_of (const char *workload, Scn **scenario, char **message)
{
  g_autofree char *text = scenario_text (2, 4, workload, "");
  g_autoptr (GError) error = NULL;
  *message = NULL;
  *scenario = scenario_load (text, NULL, NULL, message);
  g_autoptr (ScnResult) result = *scenario != NULL ? scn_run (*scenario, FALSE, &error) : NULL;
  Gdp *goodput = result != NULL ? gdp_scenario_goodput (*scenario, result, NULL, &error) : NULL;
  if (goodput == NULL && *message == NULL)
    *message = g_strdup (error->message);
  return goodput;
}

/* Steps of 1 s on 4 nodes, each of which fails once in 8 days: one stop in 48 h, 5 in ten days. */
static void
a_scenario_counts_its_nodes (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autofree char *message = NULL;
  g_autoptr (Gdp) goodput =
      goodput_of ("{" LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 10, seeds: 2000}}", &scenario, &message);
  TEST_TRUE (goodput != NULL);
  TEST_NEAR (goodput->mttf_s, 48 * 3600, 1e-12);
  TEST_NEAR (goodput->stops.mean, 5, 0.04);
  TEST_NEAR (goodput->size.gpus, 8, 0);
  TEST_NEAR (goodput->size.nics, 8, 0);
  TEST_NEAR (goodput->step_s, 1, 1e-12);
  /* 600 of 610 s, and a failure costs half an interval, a minute to notice, 5 to start and 1 to restore: 720 s in 172,800 */
  TEST_NEAR (goodput->goodput.mean, 600.0 / 610 * (1 - 720.0 / 172800), 5e-4);
  TEST_NEAR (goodput->goodput.mean, goodput->closed, 2e-4);
}

/* Young: sqrt (2 x 10 x 172800) = 1859 s; the best of the curve is within what a flat top and few runs leave open. */
static void
an_interval_that_is_not_given_is_searched (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autofree char *message = NULL;
  g_autoptr (Gdp) goodput =
      goodput_of ("{" LAYERS ", checkpoint: {stall: 10 s}, failures: {rates: " DAILY ", days: 100}}", &scenario, &message);
  TEST_TRUE (goodput->searched);
  TEST_NEAR (goodput->young_s, 1859.03, 1e-5);
  TEST_NEAR (goodput->best_closed_s, 1852, 1e-3);
  TEST_NEAR (goodput->best.interval_s, goodput->best_closed_s, 0.5);
  TEST_NEAR (goodput->checkpoint.every_steps, goodput->best.every_steps, 0);
  for (guint i = 1; i < goodput->curve->len; i++)
    TEST_TRUE (g_array_index (goodput->curve, GdpInterval, i - 1).every_steps <
               g_array_index (goodput->curve, GdpInterval, i).every_steps);
}

/* Few seeds and many, an end by days and by steps: the best is no worse than the headline, and equals it where it was taken. */
static void
the_headline_and_the_best_interval_agree (void)
{
  static const char *const rows[] = {
    "checkpoint: {every: 600, stall: 10 s}, failures: {rates: " DAILY ", days: 100, seeds: 10}",
    "checkpoint: {stall: 10 s}, failures: {rates: " DAILY ", days: 100, seeds: 10}",
    "checkpoint: {stall: 10 s}, failures: {rates: " DAILY ", steps: 2000000, seeds: 300}",
    "checkpoint: {every: 1900, stall: 10 s}, failures: {rates: " DAILY ", steps: 2000000, seeds: 50}",
    "checkpoint: {every: 1859, stall: 10 s}, failures: {rates: " DAILY ", days: 100, seeds: 1}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf ("{" LAYERS ", %s}", rows[i]), *message = NULL;
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (Gdp) goodput = goodput_of (workload, &scenario, &message);
    TEST_TRUE (goodput != NULL);
    TEST_TRUE (goodput->best.goodput.mean >= goodput->goodput.mean);
    TEST_TRUE (goodput->flat_from <= goodput->best.every_steps && goodput->best.every_steps <= goodput->flat_to);
    if (goodput->searched || goodput->best.every_steps == goodput->checkpoint.every_steps)
      TEST_NEAR (goodput->best.goodput.mean, goodput->goodput.mean, 0);
  }
}

/* Of a set's own slow parts: they count unless nobody wants them, and are not simulated where there is no model. */
static void
slow_parts_of_a_set_count_unless_they_are_left_out (void)
{
  static const struct {
    const char *more;
    unsigned slow;
  } rows[] = { { "", 2 }, { ", slow_parts: yes", 2 }, { ", slow_parts: no", 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload =
        g_strdup_printf ("{" LAYERS ", " SAVED ", failures: {rates: llama3_2024, days: 10, seeds: 20%s}}", rows[i].more);
    g_autofree char *message = NULL;
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (Gdp) goodput = goodput_of (workload, &scenario, &message);
    TEST_TRUE (goodput != NULL);
    g_autoptr (GArray) parts = gdp_scenario_slow_parts (scenario);
    TEST_INT (parts->len, 0);
    unsigned slow = 0;
    for (guint k = 0; k < goodput->causes->len; k++) {
      const GdpCause *cause = &g_array_index (goodput->causes, GdpCause, k);
      slow += cause->effect == MDL_EFFECT_SLOW;
      TEST_TRUE (cause->effect != MDL_EFFECT_SLOW || cause->slowdown > 1);
    }
    TEST_INT (slow, rows[i].slow);
  }
}

static const GdpSensitivityRow *
hang_of (const GArray *goodput_sensitivity, const char *name)
{
  for (guint i = 0; i < goodput_sensitivity->len; i++)
    if (strcmp (g_array_index (goodput_sensitivity, GdpSensitivityRow, i).name, name) == 0)
      return &g_array_index (goodput_sensitivity, GdpSensitivityRow, i);
  return NULL;
}

/* Steps of 1 s, 10 s of stall after 90: 1.1111 s of the run for one; of half the stall 95 / 90, of twice 110 / 90; the other way
 * about for the interval. One upgrade in 99 days, after the run's end, is all that happens: nothing else moves it. */
static void
a_run_hangs_on_its_checkpoints_by_what_they_take (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autofree char *message = NULL;
  g_autoptr (Gdp) goodput =
      goodput_of ("{" LAYERS ", checkpoint: {every: 90, stall: 10 s}, failures: {rates: {rows: [{name: a, of: job, "
                  "every: 99 days, shape: 10, nodes: 0}]}, days: 60, seeds: 1}}",
                  &scenario, &message);
  TEST_TRUE (goodput != NULL);
  double time_s;
  g_autoptr (GArray) goodput_sensitivity = gdp_sensitivity (goodput, 0.9, 1.2, 1, &time_s);
  TEST_NEAR (time_s, 100 / 90.0, 1e-3);
  static const struct {
    const char *name;
    double value, end[2], time_s[2];
  } rows[] = {
    { "step time", 1, { 0.9, 1.2 }, { (81 + 10) / 90.0, (108 + 10) / 90.0 } },
    { "stall of a checkpoint", 10, { 5, 20 }, { 95 / 90.0, 110 / 90.0 } },
    { "interval between checkpoints", 90, { 45, 180 }, { 110 / 90.0, 95 / 90.0 } },
    { "restart", 300, { 150, 600 }, { 100 / 90.0, 100 / 90.0 } },
    { "failures that stop the job: one in", 99 * 86400, { 198 * 86400, 49.5 * 86400 }, { 100 / 90.0, 100 / 90.0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const GdpSensitivityRow *hang = hang_of (goodput_sensitivity, rows[i].name);
    TEST_TRUE (hang != NULL);
    TEST_NEAR (hang->value, rows[i].value, 1e-9);
    for (int side = 0; side < 2; side++) {
      TEST_NEAR (hang->end[side], rows[i].end[side], 1e-9);
      test_near (hang->time_s[side], rows[i].time_s[side], 2e-3, rows[i].name, __FILE__, __LINE__);
    }
  }
  /* there is none of these */
  TEST_TRUE (hang_of (goodput_sensitivity, "restore") == NULL && hang_of (goodput_sensitivity, "spare nodes") == NULL &&
             hang_of (goodput_sensitivity, "repair") == NULL && hang_of (goodput_sensitivity, "slow parts: one in") == NULL);
}

/* Longer recoveries, more failures, fewer spares are never faster; and goodput times time is a healthy step's, whatever changes but
 * the step. */
static void
what_is_worse_for_a_run_is_never_faster (void)
{
  static const struct {
    const char *name;
    int worse; /* the side */
  } rows[] = { { "detect", 1 },
               { "restart", 1 },
               { "restore", 1 },
               { "drain of a checkpoint", 1 },
               { "repair", 1 },
               { "spare nodes", 0 },
               { "slow parts: one in", 1 },
               { "slow parts: what they add to a step", 1 },
               { "slow parts: until they are found", 1 },
               { "failures that stop the job: one in", 1 },
               { "planned stops: one in", 1 } };
  g_autoptr (Scn) scenario = NULL;
  g_autofree char *message = NULL;
  g_autoptr (Gdp) goodput = goodput_of ("{" LAYERS ", checkpoint: {every: 600, stall: 10 s, drain: 5 min, restore: 2 min}, "
                                               "failures: {rates: {rows: [{name: n, of: node, every: 4 days}, "
                                               "{name: p, of: job, every: 5 days, effect: planned}, {name: s, of: nic, every: 16 "
                                               "days, effect: slow, slowdown: 1.5, lasts: 4 h}]}, spares: "
                                               "4, days: 60, seeds: 400}}",
                                               &scenario, &message);
  TEST_TRUE (goodput != NULL);
  double time_s;
  g_autoptr (GArray) goodput_sensitivity = gdp_sensitivity (goodput, 1, 1, 1, &time_s);
  TEST_TRUE (hang_of (goodput_sensitivity, "step time") == NULL); /* no band */
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const GdpSensitivityRow *hang = hang_of (goodput_sensitivity, rows[i].name);
    TEST_TRUE (hang != NULL);
    double worse_s = hang->time_s[rows[i].worse], better_s = hang->time_s[1 - rows[i].worse];
    TEST_TRUE (worse_s >= time_s * (1 - 1e-6) && better_s <= time_s * (1 + 1e-6) && better_s < worse_s);
    for (int side = 0; side < 2; side++)
      TEST_NEAR (hang->time_s[side] * hang->goodput[side], 1, 2e-3); /* means of ratios and ratios of means */
  }
}

static void
a_number_of_steps_gives_the_time_to_train (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autofree char *message = NULL;
  g_autoptr (Gdp) goodput = goodput_of (
      "{" LAYERS ", " SAVED ", failures: {rates: " DAILY ", steps: 1 M, seeds: 500, step_time: 2 s}}", &scenario, &message);
  TEST_NEAR (goodput->steps_done.mean, 1e6, 1e-9);
  TEST_NEAR (goodput->wall_s.mean, 2e6 / goodput->closed, 2e-3);
  TEST_TRUE (goodput->step_given);
}

static MdlFailureRates
shipped_rates (const char *name, BaseYaml **yaml)
{
  g_autofree char *path = g_strdup_printf (TEST_SOURCE_DIR "/calibrate/defaults/failures/%s.yaml", name);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  MdlFailureRates rates = { .head = { .set = FALSE } };
  *yaml = base_yaml_load_file (path, NULL);
  const BaseSchemaContext context = { .arena = base_yaml_arena (*yaml), .diag = diag, .source = BASE_SOURCE_ASSUMED };
  TEST_TRUE (base_schema_read (&trn_schema_failure_rates, base_yaml_root (*yaml), FALSE, &context, &rates));
  trn_failure_rates_check (&rates, diag);
  TEST_INT (base_diag_n_errors (diag), 0);
  TEST_STR (rates.name.v, name);
  return rates;
}

/* A rate that somebody published says where. */
static void
every_shipped_rate_has_its_source (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (GStrv) names = base_lookup_list (lookup, "calibrate/defaults/failures");
  TEST_TRUE (g_strv_length (names) >= 4);
  for (char **name = names; *name != NULL; name++) {
    BaseYaml *yaml;
    const MdlFailureRates rates = shipped_rates (*name, &yaml);
    TEST_TRUE (rates.summary.v != NULL && rates.source.v != NULL);
    for (unsigned i = 0; i < rates.rows.n; i++) {
      const MdlFailureRow *row = BASE_LIST_AT (rates.rows, MdlFailureRow, i);
      const BaseNum *rate = row->every.set ? &row->every : &row->count;
      TEST_TRUE (rate->note != NULL);
      TEST_TRUE (rate->source == BASE_SOURCE_MEASURED ||
                 row->effect.v == MDL_EFFECT_SLOW); /* how often parts are slow is derived */
    }
    base_yaml_free (yaml);
  }
}

/* Table 5 of 2407.21783 sums to 419; and 466 less 419 were planned. */
static void
the_published_counts_sum_to_what_was_published (void)
{
  BaseYaml *yaml;
  const MdlFailureRates rates = shipped_rates ("llama3_2024", &yaml);
  double count[MDL_EFFECT_N] = { 0 };
  for (unsigned i = 0; i < rates.rows.n; i++)
    count[BASE_LIST_AT (rates.rows, MdlFailureRow, i)->effect.v] += BASE_LIST_AT (rates.rows, MdlFailureRow, i)->count.v;
  TEST_NEAR (count[MDL_EFFECT_STOP], 419, 0);
  TEST_NEAR (count[MDL_EFFECT_PLANNED], 466 - 419, 0);
  TEST_NEAR (rates.observed.time.v, 54 * 86400, 0);
  base_yaml_free (yaml);
}

static void
what_makes_no_sense_is_refused (void)
{
  static const struct {
    const char *workload, *says;
  } rows[] = {
    { LAYERS ", " SAVED ", failures: {rates: llama3_2025, days: 1}", "did you mean 'llama3_2024'?" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, spares: -1}", "spares" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY "}", "one of days (e.g. 54), steps, tokens; found 0" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, steps: 5}", "one of days (e.g. 54), steps, tokens; found 2" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 0}", "'days' must be above 0" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", steps: 1 T}", "take 3.171e+04 years" },
    { "kind: training, layers: [{forward: 0, backward: 1 ns}], " SAVED ", failures: {rates: " DAILY ", days: 1}",
      "write 'step_time'" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", tokens: 1 T}", "'tokens' are of a 'model'" },
    { LAYERS ", failures: {rates: " DAILY ", days: 1}", "'failures' needs 'checkpoint' beside it" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, factor: 0}", "nothing of 'inline' ever fails in this job" },
    { LAYERS ", " SAVED ", failures: {rates: {rows: []}, days: 1}", "'rows' is empty" },
    { LAYERS ", " SAVED ", failures: {rates: {rows: [{name: a, of: gpu}]}, days: 1}", "'a' needs 'count' or 'every'" },
    { LAYERS ", " SAVED ", failures: {rates: {rows: [{name: a, of: gpu, count: 3}]}, days: 1}", "needs 'observed' with 'time'" },
    { LAYERS ", " SAVED ", failures: {rates: {observed: {time: 1 day}, rows: [{name: a, of: nic, count: 3}]}, days: 1}",
      "does not say how many nics" },
    { LAYERS ", " SAVED ", failures: {rates: {rows: [{name: a, of: switch, every: 1 day, nodes: 0}]}, days: 1}",
      "nodes it serves" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, also: [{name: a, of: nic, every: 1 day, effect: slow}]}",
      "it needs 'lasts' (e.g. 2 h) and 'slowdown'" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, also: [{name: a, of: nic, every: 1 day, effect: slow, lasts: 1 h, "
             "nic_rate: 50 %, compute: 2}]}",
      "it needs 'lasts' (e.g. 2 h) and 'slowdown' (e.g. 1.2), or one of" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, also: [{name: a, of: nic, every: 1 day, effect: slow, lasts: 1 h, "
             "nic_rate: 50 %}]}",
      "with 'layers' of given times give 'slowdown'" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, also: [{name: a, of: nic, every: 1 day, slowdown: 2}]}",
      "are of 'effect: slow'" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 1, also: [{name: a, of: nic, count: 1}]}", "'count' is of 'rates'" },
    { LAYERS ", checkpoint: {every: 90000, stall: 1 s}, failures: {rates: " DAILY ", days: 1}", "accepted: at most 86400" },
    { LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 0.00001}", "is over before its first step" },
    { LAYERS ", " SAVED, "--goodput needs a training workload with 'failures'" },
    { LAYERS ", " SAVED ", failures: {rates: {rows: [{name: a, of: job, every: 60 s}]}, steps: 100000}", "would hardly get on" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf ("{%s}", rows[i].workload), *message = NULL;
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (Gdp) goodput = goodput_of (workload, &scenario, &message);
    TEST_TRUE (goodput == NULL);
    TEST_HAS (message, rows[i].says);
    TEST_HAS (message, ".yaml:"); /* where */
  }
}

/* One fault, one error. */
static void
a_value_that_is_refused_is_not_missing_too (void)
{
  static const char *const rows[] = {
    LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: -5}",
    LAYERS ", " SAVED ", failures: {rates: " DAILY ", days: 54 km}",
    LAYERS ", " SAVED ", failures: {rates: {rows: [{name: a, of: gpu, every: 0 s}]}, days: 1}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf ("{%s}", rows[i]), *message = NULL;
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (Gdp) goodput = goodput_of (workload, &scenario, &message);
    TEST_TRUE (goodput == NULL);
    TEST_HAS (message, "1 error,");
  }
}

/* Of 4 replicas one is lost at 250 with a node: noticed at 253, formed again at 257; at 250 + 3 + 20 its successor has started, and
 * all form anew for 4 s. From 257 to 273 three replicas do 12 of 16 s of work. Nothing is repeated. */
static void
an_elastic_job_goes_on_with_fewer_replicas (void)
{
  GdpCause cause = every (250, MDL_EFFECT_STOP);
  cause.nodes = 1;
  GdpRunPlan plan = plan_of (&cause, 400);
  plan.elastic = (GdpElastic){ .replicas = 4, .minimum = 1, .per_node = 1, .reform_s = 4, .peers = TRUE };
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.lost_s[GDP_LOST_RECOMPUTE], 0, 0);
  TEST_NEAR (out.lost_s[GDP_LOST_RESTORE], 0, 0);
  TEST_NEAR (out.lost_s[GDP_LOST_DETECT], 3, 1e-9);
  TEST_NEAR (out.lost_s[GDP_LOST_RESTART], 8, 1e-9);
  TEST_NEAR (out.lost_s[GDP_LOST_SLOW], 4, 1e-4);
  TEST_NEAR (out.fewer_s, 16, 1e-4);
  /* from the last checkpoint: 30 s are repeated, and it is read */
  plan.elastic.peers = FALSE;
  const GdpRunOutcome again = run (&plan);
  TEST_NEAR (again.lost_s[GDP_LOST_RECOMPUTE], 30, 1e-4);
  TEST_NEAR (again.lost_s[GDP_LOST_RESTORE], 5, 1e-9);
}

/* With 3 of 4 as the minimum, a second node that is lost before the first is back stops all; so does what is no node's failure. */
static void
too_few_replicas_restart (void)
{
  GdpCause cause = every (250, MDL_EFFECT_STOP);
  cause.nodes = 1;
  cause.repair_s = 600;
  GdpRunPlan plan = plan_of (&cause, 520);
  plan.spares = 0;
  plan.elastic = (GdpElastic){ .replicas = 4, .minimum = 3, .per_node = 1, .reform_s = 4, .peers = TRUE };
  const GdpRunOutcome out = run (&plan);
  TEST_NEAR (out.lost_s[GDP_LOST_SPARE], 520 - 503, 1e-4); /* at 500 the second one: waits for both from 503 on */
  plan.elastic.minimum = 2;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_SPARE], 0, 0);
  cause.nodes = 0;
  plan.horizon_s = 499;
  TEST_NEAR (run (&plan).lost_s[GDP_LOST_RECOMPUTE], 30, 1e-4);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a failure loses the work since the last checkpoint", a_failure_loses_the_work_since_the_last_checkpoint },
    { "a checkpoint counts once it has drained", a_checkpoint_counts_once_it_has_drained },
    { "a checkpoint waits for the one before", a_checkpoint_waits_for_the_one_before },
    { "without a spare the job waits for the repair", without_a_spare_the_job_waits_for_the_repair },
    { "repaired nodes are spares again", repaired_nodes_are_spares_again },
    { "a failure during a recovery begins it anew", a_failure_during_a_recovery_begins_it_anew },
    { "a planned stop loses no work", a_planned_stop_loses_no_work },
    { "a slow part takes its share while it lasts", a_slow_part_takes_its_share_while_it_lasts },
    { "a slow part that is found is replaced at a planned stop", a_slow_part_that_is_found_is_replaced_at_a_planned_stop },
    { "a run ends when its work is done", a_run_ends_when_its_work_is_done },
    { "what is lost is somebody's doing", what_is_lost_is_somebody_s_doing },
    { "slow parts of a set count unless they are left out", slow_parts_of_a_set_count_unless_they_are_left_out },
    { "an elastic job goes on with fewer replicas", an_elastic_job_goes_on_with_fewer_replicas },
    { "too few replicas restart", too_few_replicas_restart },
    { "the same stream is the same run", the_same_stream_is_the_same_run },
    { "a scenario counts its nodes", a_scenario_counts_its_nodes },
    { "an interval that is not given is searched", an_interval_that_is_not_given_is_searched },
    { "the headline and the best interval agree", the_headline_and_the_best_interval_agree },
    { "a run depends on the cost of its checkpoints", a_run_hangs_on_its_checkpoints_by_what_they_take },
    { "what is worse for a run is never faster", what_is_worse_for_a_run_is_never_faster },
    { "a number of steps gives the time to train", a_number_of_steps_gives_the_time_to_train },
    { "every shipped rate has its source", every_shipped_rate_has_its_source },
    { "the published counts sum to what was published", the_published_counts_sum_to_what_was_published },
    { "what makes no sense is refused", what_makes_no_sense_is_refused },
    { "a value that is refused is not missing too", a_value_that_is_refused_is_not_missing_too },
    { NULL, NULL },
  };
  return test_main ("workload: goodput", cases);
}
