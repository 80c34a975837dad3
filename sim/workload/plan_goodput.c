/* Failures of a plan's runs: the closed form of goodput (models/failure.c, docs/goodput.md) for each machine and each step on it.
 * Runs by events, one scenario at a time, are `run --goodput`. */
#include <math.h>

#include "plan-private.h"

static const BaseField failures_fields[] = {
  BASE_ROW (WrkFailuresSpec, "rates", rates, REF, .sub = &wrk_schema_failure_rates, .item_size = sizeof (MdlFailureRates),
            .folder = "calibrate/defaults/failures", .required = TRUE,
            .help = "a name of `forerun list failures`, a file, or rates written here"),
  BASE_ROW (WrkFailuresSpec, "slow_parts", slow_parts, BOOL, .fallback = "yes",
            .help = "whether kinds of `rates` that slow the job happen, at their `slowdown`; `no`: only those that stop it"),
  BASE_ROW_NUM (WrkFailuresSpec, "factor", factor, NUMBER, .min = "0", .max = "1000", .fallback = "1",
                .help = "on how often they happen"),
  BASE_ROW_NUM (WrkFailuresSpec, "detect", detect, TIME, .max = "30 days", .fallback = "1 min",
                .help = "from a failure until it is noticed, for kinds that do not say"),
  BASE_ROW_NUM (WrkFailuresSpec, "restart", restart, TIME, .max = "30 days", .fallback = "5 min",
                .help = "scheduling, starting processes, warming up; the checkpoint's `restore` comes on top"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_plan_failures = { .name = "failures",
                                              .help = "What goes wrong over a run; spare nodes are always at hand.",
                                              .fields = failures_fields };

static const BaseField checkpoint_fields[] = {
  BASE_ROW_NUM (WrkCheckpointSpec, "every", every, COUNT, .min = "1", .max = "1 G",
                .help = "steps from one to the next; default: the best for the machine's failures"),
  BASE_ROW_NUM (WrkCheckpointSpec, "stall", stall, TIME, .max = "30 days", .required = TRUE,
                .help = "that training stands still for one, all of it, or the copy to host memory of an asynchronous one"),
  BASE_ROW_NUM (WrkCheckpointSpec, "drain", drain, TIME, .max = "30 days", .fallback = "0",
                .help = "on top, beside training, until it can be restored"),
  BASE_ROW_NUM (WrkCheckpointSpec, "restore", restore, TIME, .max = "30 days", .fallback = "0", .help = "reading it back"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_plan_checkpoint = { .name = "checkpoint",
                                                .help = "Saving the state, at the same cost on every machine.",
                                                .fields = checkpoint_fields };

gboolean
wrk_plan_check_failures (const WrkPlan *plan, GError **error)
{
  const WrkPlanSpec *s = &plan->spec;
  const MdlFailureRates *rates = s->failures.rates.value;
  if (!s->failures.head.set) {
    const BaseMark mark = s->checkpoint.head.set ? s->checkpoint.head.mark : s->limits.goodput.mark;
    return !(s->checkpoint.head.set || s->limits.goodput.set) ||
           wrk_fail_at (error, mark, "'%s' counts beside 'failures' (e.g. failures: {rates: llama3_2024})",
                        s->checkpoint.head.set ? "checkpoint" : "goodput");
  }
  if (!s->checkpoint.head.set)
    return wrk_fail_at (error, s->failures.head.mark,
                        "'failures' needs 'checkpoint' beside it (e.g. checkpoint: {stall: 30 s, restore: 1 min})");
  if (!s->goal.tokens.set)
    return wrk_fail_at (error, s->failures.head.mark, "'failures' are of a run; 'tokens' of 'goal' says how long it is");
  g_autoptr (BaseDiag) diag = base_diag_new ();
  wrk_failure_rates_check (rates, diag);
  for (unsigned i = 0; i < rates->rows.n; i++) {
    const MdlFailureRow *row = BASE_LIST_AT (rates->rows, MdlFailureRow, i);
    const BaseNum *key = row->nic_rate.set ? &row->nic_rate : &row->compute;
    if (key->set && !row->slowdown.set)
      base_diag_error (diag, key->mark, "'%s': what slows a step is not simulated in a plan; accepted: 'slowdown'", row->name.v);
  }
  return base_diag_finish (diag, error);
}

/* The weakest of what the recovery rests on; a default is nobody's figure. */
static BaseSource
source_of (const WrkPlanSpec *s)
{
  const BaseNum *given[] = { &s->failures.detect, &s->failures.restart, &s->checkpoint.stall, &s->checkpoint.drain,
                             &s->checkpoint.restore };
  BaseSource source = BASE_SOURCE_MEASURED;
  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    source = MIN (source, given[i]->set ? given[i]->source : BASE_SOURCE_ASSUMED);
  return source;
}

void
wrk_plan_take_failures (WrkPlan *plan, WrkMachine *machine)
{
  const WrkCheckpointSpec *spec = &plan->spec.checkpoint;
  const Clu *clu = machine->scenario->clu;
  machine->fails = plan->spec.failures.head.set;
  if (!machine->fails)
    return;
  MdlJobSize size = { .gpus = machine->gpus, .nodes = machine->nodes };
  for (guint32 node = 0; node < machine->nodes; node++)
    size.nics += clu_node_n (clu, node, CLU_DEV_NIC);
  if (plan->machines->len == 0)
    plan->failures_source = source_of (&plan->spec);
  const MdlCheckpoint checkpoint = { spec->every.v, spec->stall.v, spec->drain.v, spec->restore.v };
  wrk_goodput_closed (&plan->spec.failures, &size, &checkpoint, &machine->terms, &plan->failures_source);
  machine->best_s = mdl_goodput_best_s (&machine->terms);
}

double
wrk_plan_goodput (const WrkPlan *plan, const WrkMachine *machine, double step_s, double useful_s, double *every_steps)
{
  const BaseNum *every = &plan->spec.checkpoint.every;
  *every_steps = (double)NAN;
  if (!machine->fails)
    return 1;
  double steps = every->set ? every->v : round (fmin (machine->best_s, useful_s) / step_s);
  *every_steps = fmax (1, fmin (steps, ceil (useful_s / step_s))); /* one at the end at least */
  return mdl_goodput (&machine->terms, *every_steps * step_s);
}

gboolean
wrk_plan_failures (const WrkPlan *plan, WrkPlanFailures *out)
{
  const WrkPlanSpec *s = &plan->spec;
  const MdlFailureRates *rates = s->failures.rates.value;
  if (!s->failures.head.set)
    return FALSE;
  *out = (WrkPlanFailures){ .rates = rates->name.v != NULL ? rates->name.v : s->failures.rates.name,
                            .summary = rates->summary.v,
                            .source = plan->failures_source,
                            .every_steps = s->checkpoint.every.set ? s->checkpoint.every.v : (double)NAN,
                            .stall_s = s->checkpoint.stall.v,
                            .drain_s = s->checkpoint.drain.v,
                            .restore_s = s->checkpoint.restore.v };
  return TRUE;
}
