/* The keys of files of failure rates and of `failures`, and which of them go together. */
#include <math.h>

#include "training/training.h"

static const BaseField row_fields[] = {
  BASE_ROW (MdlFailureRow, "name", name, STR, .required = TRUE, .help = "name of the failure"),
  BASE_ROW (MdlFailureRow, "of", of, ENUM, .names = mdl_unit_names, .required = TRUE, .help = "unit that fails"),
  BASE_ROW_NUM (MdlFailureRow, "count", count, NUMBER, .min = "0", .help = "failures counted over `observed`; or `every`"),
  BASE_ROW_NUM (MdlFailureRow, "every", every, TIME, .min = "1 s", .help = "mean time between failures of one unit"),
  BASE_ROW_NUM (MdlFailureRow, "shape", shape, NUMBER, .min = "0.2", .max = "10", .fallback = "1",
                .help =
                    "shape of the Weibull distribution of the time between this job's failures; 1: exponential; below 1: bursts"),
  BASE_ROW (MdlFailureRow, "effect", effect, ENUM, .names = mdl_effect_names, .fallback = "stop", .help = "effect on the job"),
  BASE_ROW_NUM (MdlFailureRow, "nodes", nodes, COUNT, .max = "100000", .fallback = "1",
                .help = "nodes that one failure takes out of service; 0: the job restarts on the same nodes"),
  BASE_ROW_NUM (MdlFailureRow, "detect", detect, TIME, .max = "30 days", .help = "until it is noticed; default: as the run's"),
  BASE_ROW_NUM (MdlFailureRow, "repair", repair, TIME, .max = "3650 days",
                .help = "time until its nodes are back; default: that of [failures](#failures)"),
  BASE_ROW_NUM (MdlFailureRow, "slowdown", slowdown, NUMBER, .min = "1", .max = "1000",
                .help =
                    "with `slow`: step time over the healthy step time; or one of the next two, with which the step is simulated"),
  BASE_ROW_NUM (MdlFailureRow, "nic_rate", nic_rate, RATIO, .min = "0.1 %", .max = "1",
                .help = "with `slow`: one NIC has this fraction of its rate"),
  BASE_ROW_NUM (MdlFailureRow, "compute", compute, NUMBER, .min = "1", .max = "1000",
                .help = "with `slow`: compute of one GPU takes this many times as long"),
  BASE_ROW_NUM (
      MdlFailureRow, "lasts", lasts, TIME, .min = "1 s", .max = "3650 days",
      .help =
          "with `slow`: time until it is found and its `nodes` are replaced at a planned stop; with `nodes: 0` it ends by itself"),
  BASE_ROW_END,
};
static const BaseSchema row_schema = { .name = "failure", .help = "One kind of failure.", .fields = row_fields };

static const BaseField observed_fields[] = {
  BASE_ROW_NUM (MdlObserved, "gpus", gpus, COUNT, .min = "1", .help = "GPUs observed"),
  BASE_ROW_NUM (MdlObserved, "nodes", nodes, COUNT, .min = "1", .help = "their nodes"),
  BASE_ROW_NUM (MdlObserved, "nics", nics, COUNT, .min = "1", .help = "their NICs"),
  BASE_ROW_NUM (MdlObserved, "time", time, TIME, .min = "1 s", .help = "duration"),
  BASE_ROW_END,
};
static const BaseSchema observed_schema = { .name = "observed",
                                            .help = "What failures were counted over.",
                                            .fields = observed_fields };

static const BaseField rates_fields[] = {
  BASE_ROW (MdlFailureRates, "failures", name, STR, .help = "name"),
  BASE_ROW (MdlFailureRates, "summary", summary, STR, .help = "one line"),
  BASE_ROW (MdlFailureRates, "source", source, STR, .help = "publication"),
  BASE_ROW (MdlFailureRates, "observed", observed, MAP, .sub = &observed_schema, .help = "what failures were counted over"),
  BASE_ROW (MdlFailureRates, "rows", rows, LIST, .sub = &row_schema, .item_size = sizeof (MdlFailureRow), .required = TRUE,
            .help = "one per kind of failure"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_failure_rates = { .name = "failure rates",
                                              .help = "How often parts fail. Shipped files: calibrate/defaults/failures.",
                                              .fields = rates_fields };

static const BaseName state_names[] = { { "peers", 0, "from the replicas that are left: no work is lost (torchft)" },
                                        { "checkpoint", 1, "all start from the last checkpoint (torchrun's elastic agent)" },
                                        { NULL, 0, NULL } };
static const BaseField elastic_fields[] = {
  BASE_ROW_NUM (TrnElasticSpec, "replicas", replicas, COUNT, .min = "2", .max = "10 M",
                .help = "replicas of the model, of which one fails with a node of its own; default: the data-parallel ranks that "
                        "hold whole copies"),
  BASE_ROW_NUM (TrnElasticSpec, "minimum", minimum, COUNT, .min = "1", .max = "10 M", .fallback = "1",
                .help = "replicas with which it goes on; with fewer it waits for all"),
  BASE_ROW_NUM (TrnElasticSpec, "reform", reform, TIME, .max = "30 days", .required = TRUE,
                .help = "time to go on with other replicas: new communicators"),
  BASE_ROW (TrnElasticSpec, "state", state, ENUM, .names = state_names, .fallback = "peers", .help = "what they go on from"),
  BASE_ROW_END,
};
static const BaseSchema elastic_schema = { .name = "elastic",
                                           .help = "A job that goes on with fewer replicas until a lost one is replaced.",
                                           .fields = elastic_fields };

static const BaseField failures_fields[] = {
  BASE_ROW (TrnFailuresSpec, "rates", rates, REF, .sub = &trn_schema_failure_rates, .item_size = sizeof (MdlFailureRates),
            .folder = "calibrate/defaults/failures", .required = TRUE, .help = "failure rates (`forerun list failures`)"),
  BASE_ROW (TrnFailuresSpec, "also", also, LIST, .sub = &row_schema, .item_size = sizeof (MdlFailureRow),
            .help = "further kinds of failure, with `every`: switches, slow parts …"),
  BASE_ROW (TrnFailuresSpec, "slow_parts", slow_parts, BOOL, .fallback = "yes",
            .help = "`no`: leaves out kinds of `rates` that slow the job"),
  BASE_ROW_NUM (TrnFailuresSpec, "factor", factor, NUMBER, .min = "0", .max = "1000", .fallback = "1",
                .help = "multiplies the rates"),
  BASE_ROW_NUM (TrnFailuresSpec, "spares", spares, COUNT, .max = "100000",
                .help = "spare nodes; repaired nodes return to them; default: always enough"),
  BASE_ROW_NUM (TrnFailuresSpec, "detect", detect, TIME, .max = "30 days", .fallback = "1 min",
                .help = "time to notice a failure, if its kind has none"),
  BASE_ROW_NUM (TrnFailuresSpec, "repair", repair, TIME, .max = "3650 days", .fallback = "1 day",
                .help = "time until a node is back in service, if its kind has none"),
  BASE_ROW_NUM (TrnFailuresSpec, "restart", restart, TIME, .max = "30 days", .fallback = "5 min",
                .help = "time to schedule, start processes and warm up, without `communicators` and the checkpoint's `restore`"),
  BASE_ROW_NUM (TrnFailuresSpec, "days", days, NUMBER, .max = "36500", .help = "length of the run; or `steps` or `tokens`"),
  BASE_ROW_NUM (TrnFailuresSpec, "steps", steps, COUNT, .min = "1", .help = "the run ends after this many steps"),
  BASE_ROW_NUM (TrnFailuresSpec, "tokens", tokens, COUNT, .min = "1", .help = "the run ends after this many tokens of a model"),
  BASE_ROW_NUM (TrnFailuresSpec, "step_time", step_time, TIME, .min = "1 us", .max = "30 days",
                .help = "healthy step time, instead of the simulated one"),
  BASE_ROW_NUM (TrnFailuresSpec, "seeds", seeds, COUNT, .min = "1", .max = "1 M", .fallback = "1000",
                .help = "runs with different failures; the bands are over them"),
  BASE_ROW (TrnFailuresSpec, "elastic", elastic, MAP, .sub = &elastic_schema,
            .help = "go on with fewer replicas; default: all restart"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_failures = { .name = "failures",
                                         .help = "Failures over days, for `run --goodput`.",
                                         .fields = failures_fields };

/* ---- what goes together ---- */

static void
check_count (const MdlFailureRow *row, const MdlObserved *observed, BaseDiag *diag)
{
  const BaseNum *watched = row->of.v == MDL_UNIT_GPU   ? &observed->gpus
                           : row->of.v == MDL_UNIT_NIC ? &observed->nics
                           : row->of.v == MDL_UNIT_JOB ? NULL
                                                       : &observed->nodes;
  if (!observed->time.set)
    base_diag_error (diag, row->count.mark, "'count' of '%s' needs 'observed' with 'time', over which it was taken; or 'every'",
                     row->name.v);
  else if (watched != NULL && !watched->set)
    base_diag_error (diag, row->count.mark, "'count' of '%s' is of each %s, and 'observed' does not say how many %s there were",
                     row->name.v, base_name (mdl_unit_names, row->of.v),
                     watched == &observed->gpus   ? "gpus"
                     : watched == &observed->nics ? "nics"
                                                  : "nodes");
}

static void
check_slow (const MdlFailureRow *row, BaseDiag *diag)
{
  const BaseNum *keys[] = { &row->slowdown, &row->nic_rate, &row->compute, &row->lasts };
  int simulated = row->nic_rate.set + row->compute.set;
  if (row->effect.v == MDL_EFFECT_SLOW) {
    if (simulated > 1 || simulated + row->slowdown.set < 1 || !row->lasts.set)
      base_diag_error (
          diag, row->head.mark,
          "'%s' slows the job: it needs 'lasts' (e.g. 2 h) and 'slowdown' (e.g. 1.2), or one of 'nic_rate' (e.g. 50 %%) and "
          "'compute' (e.g. 1.3), where that cannot be simulated beside 'slowdown'",
          row->name.v);
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i]->set) {
      base_diag_error (diag, keys[i]->mark,
                       "'slowdown', 'nic_rate', 'compute' and 'lasts' are of 'effect: slow'; '%s' has effect %s", row->name.v,
                       base_name (mdl_effect_names, row->effect.v));
      return;
    }
}

static void
check_row (const MdlFailureRow *row, const MdlObserved *observed, BaseDiag *diag)
{
  if (base_num_written (&row->count) == base_num_written (&row->every))
    base_diag_error (diag, row->head.mark, "'%s' needs 'count' or 'every', one of them", row->name.v);
  else if (row->count.set)
    check_count (row, observed, diag);
  if (row->of.v == MDL_UNIT_SWITCH && (!row->nodes.set || row->nodes.v < 1))
    base_diag_error (diag, row->head.mark, "'%s' is of a switch: 'nodes' must say how many nodes it serves, 1 or more",
                     row->name.v);
  check_slow (row, diag);
  if (row->effect.v != MDL_EFFECT_STOP && row->detect.set)
    base_diag_error (diag, row->detect.mark, "'detect' is of 'effect: stop'; of a slow part 'lasts' says when it is found");
}

void
trn_failure_rates_check (const MdlFailureRates *rates, BaseDiag *diag)
{
  if (rates->rows.set && rates->rows.n == 0)
    base_diag_error (diag, rates->rows.mark, "'rows' is empty; a set of rates has one or more");
  for (unsigned i = 0; i < rates->rows.n; i++)
    check_row (BASE_LIST_AT (rates->rows, MdlFailureRow, i), &rates->observed, diag);
}

static void
check_length (const TrnSpec *spec, BaseDiag *diag)
{
  const TrnFailuresSpec *f = &spec->failures;
  int said = base_num_written (&f->days) + base_num_written (&f->steps) + base_num_written (&f->tokens);
  if (said != 1)
    base_diag_error (diag, f->head.mark, "'failures' needs how long the run is: one of days (e.g. 54), steps, tokens; found %d",
                     said);
  if (f->days.set && f->days.v <= 0)
    base_diag_error (diag, f->days.mark, "'days' must be above 0");
  if (f->tokens.set && spec->model.model == NULL)
    base_diag_error (diag, f->tokens.mark, "'tokens' are of a 'model'; with 'layers' of given times: days or steps");
}

/* What makes a step slow is simulated as a straggler of a model's step. */
static void
check_simulated (const TrnSpec *spec, const MdlFailureRow *row, BaseDiag *diag)
{
  const BaseNum *key = row->nic_rate.set ? &row->nic_rate : &row->compute;
  if (!key->set || row->slowdown.set)
    return;
  if (spec->model.model == NULL)
    base_diag_error (diag, key->mark,
                     "'%s': what slows a step is simulated of a 'model'; with 'layers' of given times give 'slowdown'",
                     row->name.v);
  else if (spec->model.stragglers.n > 0)
    base_diag_error (diag, key->mark, "'%s': what slows a step is simulated in a healthy job; beside 'stragglers' give 'slowdown'",
                     row->name.v);
}

void
trn_failures_check (const TrnSpec *spec, BaseDiag *diag)
{
  const TrnFailuresSpec *f = &spec->failures;
  if (!f->head.set)
    return;
  check_length (spec, diag);
  if (!spec->checkpoint.head.set)
    base_diag_error (diag, f->head.mark,
                     "'failures' needs 'checkpoint' beside it (e.g. checkpoint: {every: 500, stall: 30 s, restore: 1 min})");
  const MdlFailureRates *rates = f->rates.value;
  if (rates != NULL)
    trn_failure_rates_check (rates, diag);
  for (unsigned i = 0; rates != NULL && i < rates->rows.n; i++)
    check_simulated (spec, BASE_LIST_AT (rates->rows, MdlFailureRow, i), diag);
  static const MdlObserved nothing;
  for (unsigned i = 0; i < f->also.n; i++) {
    const MdlFailureRow *row = BASE_LIST_AT (f->also, MdlFailureRow, i);
    if (row->count.set)
      base_diag_error (diag, row->count.mark, "'count' is of 'rates', which say what was observed; here: every (e.g. 2000 days)");
    else
      check_row (row, &nothing, diag);
    check_simulated (spec, row, diag);
  }
}
