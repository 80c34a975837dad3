/* Failures of a plan's runs: the closed form of goodput (cost/failure.c, docs/goodput.md) for each machine and each step on it.
 * A checkpoint to a tier is priced as a scenario's is (checkpoint.c), on each machine once: what is saved is the same whatever the
 * cut, and what is read back grows with what the cut's ranks hold,
 *
 *     restore = restore of the state + (held - state) x (restore of twice the state - restore of it) / state
 *
 * Runs by events, one scenario at a time, are `run --goodput`. Check: test_plan_stages (against a scenario's). */
#include <math.h>

#include "plan-private.h"

static const BaseField failures_fields[] = {
  BASE_ROW (TrnFailuresSpec, "rates", rates, REF, .sub = &trn_schema_failure_rates, .item_size = sizeof (MdlFailureRates),
            .folder = "calibrate/defaults/failures", .required = TRUE, .help = "failure rates (`forerun list failures`)"),
  BASE_ROW (TrnFailuresSpec, "slow_parts", slow_parts, BOOL, .fallback = "yes",
            .help = "`no`: leaves out kinds of `rates` that slow the job by their `slowdown`"),
  BASE_ROW_NUM (TrnFailuresSpec, "factor", factor, NUMBER, .min = "0", .max = "1000", .fallback = "1",
                .help = "multiplies the rates"),
  BASE_ROW_NUM (TrnFailuresSpec, "detect", detect, TIME, .max = "30 days", .fallback = "1 min",
                .help = "time to notice a failure, if its kind has none"),
  BASE_ROW_NUM (TrnFailuresSpec, "restart", restart, TIME, .max = "30 days", .fallback = "5 min",
                .help = "time to schedule, start processes and warm up; the checkpoint's `restore` is added"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_plan_failures = { .name = "failures",
                                              .help = "Failures during the run. Spare nodes are always available.",
                                              .fields = failures_fields,
                                              .scalar_key = "rates" };

gboolean
pln_default_failures (BaseYaml *yaml, GError **error)
{
  static const char *const defaults[][2] = { { "failures", "{rates: llama3_2024}" },
                                             { "checkpoint", "{stall: 30 s, restore: 2 min}" } };
  const BaseYamlNode *root = base_yaml_root (yaml), *failures = base_yaml_get (root, "failures"),
                     *goal = base_yaml_get (root, "goal"), *tokens = goal != NULL ? base_yaml_get (goal, "tokens") : NULL;
  if (failures != NULL && base_yaml_kind (failures) == BASE_YAML_SCALAR && g_strcmp0 (base_yaml_text (failures), "none") == 0)
    return base_yaml_set (yaml, "failures", "", "failures", error);
  if (tokens == NULL || base_yaml_is_null (tokens)) /* a step has none */
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    if ((base_yaml_get (root, defaults[i][0]) == NULL || base_yaml_is_null (base_yaml_get (root, defaults[i][0]))) &&
        !base_yaml_set (yaml, defaults[i][0], defaults[i][1], "the default", error))
      return FALSE;
  return TRUE;
}

gboolean
pln_check_failures (const Pln *plan, GError **error)
{
  const PlnSpec *s = &plan->spec;
  const MdlFailureRates *rates = s->failures.rates.value;
  if (!s->failures.head.set) {
    const BaseMark mark = s->checkpoint.head.set ? s->checkpoint.head.mark : s->limits.goodput.mark;
    return !(s->checkpoint.head.set || s->limits.goodput.set) ||
           col_fail_at (error, mark,
                        "'%s' needs failures; leave out 'failures: none', and write 'tokens' in 'goal' (e.g. tokens: 2 T)",
                        s->checkpoint.head.set ? "checkpoint" : "goodput");
  }
  if (!s->checkpoint.head.set)
    return col_fail_at (error, s->failures.head.mark,
                        "'failures' needs 'checkpoint' (e.g. checkpoint: {stall: 30 s, restore: 1 min}, or {tier: "
                        "scratch, mode: async})");
  if (s->checkpoint.tier.v == NULL && !s->checkpoint.stall.set)
    return col_fail_at (error, s->checkpoint.head.mark,
                        "'checkpoint' needs 'tier' (where it is written) or 'stall' (how long training waits for one, e.g. 30 s)");
  if (s->checkpoint.shards.v == TRN_SHARDS_REPLICA)
    return col_fail_at (error, s->checkpoint.shards.mark,
                        "the ranks that write depend on the parallel layout, and a plan tries many; write all or rank0");
  if (!s->goal.tokens.set)
    return col_fail_at (error, s->failures.head.mark,
                        "'failures' needs the length of the run; write 'tokens' in 'goal' (e.g. tokens: 2 T)");
  g_autoptr (BaseDiag) diag = base_diag_new ();
  trn_failure_rates_check (rates, diag);
  for (unsigned i = 0; i < rates->rows.n; i++) {
    const MdlFailureRow *row = BASE_LIST_AT (rates->rows, MdlFailureRow, i);
    if (row->nic_rate.set && !row->slowdown.set) /* of a slow GPU's row the step is as slow as that, at most */
      base_diag_error (diag, row->nic_rate.mark,
                       "'%s': a plan does not simulate a step with a slow NIC; write 'slowdown' too, step time over the healthy "
                       "one, from 1 to %.3g (e.g. slowdown: 1.1)",
                       row->name.v, 1 / row->nic_rate.v);
  }
  return base_diag_finish (diag, error);
}

/* The weakest of what the recovery rests on; a default is nobody's figure. */
static BaseSource
source_of (const PlnSpec *s)
{
  const BaseNum *given[] = { &s->failures.detect, &s->failures.restart, &s->checkpoint.stall, &s->checkpoint.drain,
                             &s->checkpoint.restore };
  BaseSource source = BASE_SOURCE_MEASURED;
  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    source = i >= 2 && s->checkpoint.tier.v != NULL ? source : MIN (source, given[i]->set ? given[i]->source : BASE_SOURCE_ASSUMED);
  return source;
}

/* ---- checkpoints to a tier ---- */

/* A scenario of the machine that saves as the plan says, and what its step has of it. */
static gboolean
price_tier (const Pln *plan, PlnMachine *machine, GError **error)
{
  TrnJob view = machine->scenario->training; /* borrows */
  view.spec.checkpoint = plan->spec.checkpoint;
  TrnResult training = { .n_ranks = machine->gpus, .n_nodes = machine->nodes, .dp = 1, .step_time_s = 1 };
  TrnCheckpointResult once, twice;
  view.spec.checkpoint.every.v = 0; /* the wait for the previous one is computed for each step */
  if (!trn_check_checkpoint (&view, error) || !trn_state (&view, &training, error))
    return FALSE;
  training.restore_B = training.state_B;
  if (!trn_checkpoint_price (&view, &training, &once, error))
    return FALSE;
  training.restore_B *= 2;
  if (!trn_checkpoint_price (&view, &training, &twice, error))
    return FALSE;
  machine->save = (PlnSave){ .stall_s = once.stall_s,
                             .drain_s = once.drain_s,
                             .restore_s = once.restore_s,
                             .fetch_s = once.fetch_s,
                             .state_B = training.state_B,
                             .restore_s_per_B = (twice.restore_s - once.restore_s) / training.state_B,
                             .held = !plan->spec.checkpoint.restore_bytes.set && !plan->spec.checkpoint.bytes.set,
                             .source = MIN (once.source, twice.source) };
  return TRUE;
}

/* What a checkpoint of a row costs, at steps of step_s. */
static MdlCheckpoint
checkpoint_of (const Pln *plan, const PlnMachine *machine, const PlnChoiceRow *row, double step_s)
{
  const TrnCheckpointSpec *spec = &plan->spec.checkpoint;
  const PlnSave *save = &machine->save;
  if (spec->tier.v == NULL)
    return (MdlCheckpoint){ spec->every.v, spec->stall.v, spec->drain.v, spec->restore.v, 0 };
  double more_B = save->held ? fmax (row->step.restore_B - save->state_B, 0) : 0;
  double wait_s = spec->every.set ? fmax (save->drain_s - spec->every.v * step_s, 0) : 0; /* the best interval holds the drain */
  return (MdlCheckpoint){ spec->every.v, save->stall_s + wait_s, save->drain_s, save->restore_s + more_B * save->restore_s_per_B,
                          save->fetch_s };
}

/* ---- goodput ---- */

gboolean
pln_take_failures (Pln *plan, PlnMachine *machine, GError **error)
{
  const TrnCheckpointSpec *spec = &plan->spec.checkpoint;
  const Clu *clu = machine->scenario->system.clu;
  machine->fails = plan->spec.failures.head.set;
  if (!machine->fails)
    return TRUE;
  machine->size = (MdlJobSize){ .gpus = machine->gpus, .nodes = machine->nodes };
  for (guint32 node = 0; node < machine->nodes; node++)
    machine->size.nics += clu_node_n (clu, node, CLU_DEV_NIC);
  if (plan->machines->len == 0)
    plan->failures_source = source_of (&plan->spec);
  if (spec->tier.v != NULL && !price_tier (plan, machine, error))
    return FALSE;
  if (spec->tier.v != NULL)
    plan->failures_source = MIN (plan->failures_source, machine->save.source);
  const PlnChoiceRow none = { .step = { .restore_B = machine->save.state_B } };
  const MdlCheckpoint checkpoint = checkpoint_of (plan, machine, &none, 1);
  gdp_closed (&plan->spec.failures, &machine->size, &checkpoint, &machine->terms, &plan->failures_source);
  machine->best_s = mdl_goodput_best_s (&machine->terms);
  return TRUE;
}

double
pln_goodput (const Pln *plan, PlnChoiceRow *row, double useful_s)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, row->machine);
  const BaseNum *every = &plan->spec.checkpoint.every;
  double step_s = row->step_time_s, best_s = machine->best_s;
  row->every_steps = (double)NAN;
  if (!machine->fails)
    return 1;
  MdlGoodputTerms terms = machine->terms;
  row->checkpoint = checkpoint_of (plan, machine, row, step_s);
  if (plan->spec.checkpoint.tier.v != NULL) { /* its own times */
    BaseSource source = BASE_SOURCE_MEASURED;
    gdp_closed (&plan->spec.failures, &machine->size, &row->checkpoint, &terms, &source);
    best_s = mdl_goodput_best_s (&terms);
  }
  double steps = every->set ? every->v : round (fmin (best_s, useful_s) / step_s);
  row->every_steps = fmax (1, fmin (steps, ceil (useful_s / step_s))); /* one at the end at least */
  return mdl_goodput (&terms, row->every_steps * step_s);
}

gboolean
pln_failures (const Pln *plan, PlnFailures *out)
{
  const PlnSpec *s = &plan->spec;
  const MdlFailureRates *rates = s->failures.rates.value;
  if (!s->failures.head.set)
    return FALSE;
  *out = (PlnFailures){ .rates = rates->name.v != NULL ? rates->name.v : s->failures.rates.name,
                        .summary = rates->summary.v,
                        .source = plan->failures_source,
                        .every_steps = s->checkpoint.every.set ? s->checkpoint.every.v : (double)NAN,
                        .tier = s->checkpoint.tier.v,
                        .asynchronous = s->checkpoint.mode.v == TRN_SAVE_ASYNC,
                        .stall_s = s->checkpoint.stall.v,
                        .drain_s = s->checkpoint.drain.v,
                        .restore_s = s->checkpoint.restore.v };
  return TRUE;
}
