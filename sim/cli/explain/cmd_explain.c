/* forerun explain: one prediction, term by term. */
#include <math.h>
#include <string.h>

#include "explain-private.h"
#include "report/explain.h"
#include "report/run.h"
#include "scenario-private.h"
#include "scenario/serving.h"
#include "scenario/serving_step.h"

static const CliFlag size_flags[] = {
  { CLI_FLAG_HEADING, "what", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "minbytes", 'b', offsetof (FrCollFlags, min), "SIZE", "message size, 8G is 8 GiB (default: 1G)" },
  { CLI_FLAG_TEXT, "maxbytes", 'e', offsetof (FrCollFlags, max), "SIZE",
    "accepted if equal to -b, so that the flags of forerun coll can be reused" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* What stands beside a prediction. */
typedef struct {
  GArray *alternatives; /* owned; NULL: none */
  RepTunerEstimate nccl;
  gboolean has_nccl;
  ColAnswer bucket; /* the largest gradient bucket of a step, with what it puts on the links; n_ranks 0: none */
} Beside;

static void
beside_clear (Beside *beside)
{
  g_clear_pointer (&beside->alternatives, g_array_unref);
  col_coll_clear (&beside->bucket);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Beside, beside_clear)

static void
take_estimate (ColComm *comm, const ColCollRequest *request, const ColAnswer *coll, Beside *out)
{
  RepTunerEstimate *nccl = &out->nccl;
  out->has_nccl = TRUE;
  nccl->n_terms = col_comm_nccl_terms (comm, request, coll->algo, coll->proto, nccl->term);
  nccl->time_s = nccl->n_terms > 0 ? col_comm_nccl_time_s (comm, request, coll->algo, coll->proto) : (double)NAN;
  nccl->plugin = col_comm_plugin_tuner (comm, request, &nccl->plugin_algo, &nccl->plugin_proto);
}

/* What else could run, each priced by the closed form; `settings` are the communicator's own. */
static gboolean
list_alternatives (ColComm *comm, const ColCollRequest *request, ColSettings *settings, const ColAnswer *explained, Beside *out,
                   GError **error)
{
  ColMode mode = settings->mode;
  settings->mode = COL_MODE_MODEL;
  g_autoptr (GArray) alternatives = rep_alternatives_new ();
  g_autoptr (GArray) choices = col_comm_choices (comm, request);
  g_auto (ColAnswer) coll = { 0 };
  gboolean done = TRUE;
  for (guint i = 0; done && i < choices->len; i++) {
    const ColChoice *choice = &g_array_index (choices, ColChoice, i);
    RepAlternative alternative = {
      .algo = choice->algo, .proto = choice->proto, .reason = g_strdup (choice->reason), .time_s = (double)NAN
    };
    alternative.nccl_s = col_comm_nccl_time_s (comm, request, choice->algo, choice->proto);
    if (choice->reason == NULL) {
      ColCollRequest one = *request;
      one.algo = choice->algo;
      one.proto = choice->proto;
      done = col_coll_price (comm, &one, &coll, error);
      alternative.time_s = coll.time_s;
    }
    g_array_append_val (alternatives, alternative);
  }
  settings->mode = mode;
  if (!done)
    return FALSE;
  out->alternatives = g_steal_pointer (&alternatives);
  take_estimate (comm, request, explained, out);
  return TRUE;
}

static void
write_explain (Cli *cli, const char *what, const GString *header, const RepExplain *explain)
{
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    rep_explain_json (explain, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    cli_rows (cli, rep_terms_table (&explain->coll->cost));
  } else {
    rep_explain_answer (explain->coll, cli->out);
    g_string_append_c (cli->out, '\n');
    rep_header_title (cli->out, &envelope, what);
    g_string_append (cli->out, header->str);
    rep_explain_text (explain, cli->out);
  }
}

/* One size, said by -b, by -e, or by both alike. */
static gboolean
parse_size (const Cli *cli, const FrCollFlags *flags, unsigned element_B, guint64 *size_B, GError **error)
{
  static char fallback[] = "1G";
  FrCollFlags one = *flags;
  one.min = flags->min != NULL ? flags->min : flags->max != NULL ? flags->max : fallback;
  one.max = flags->max != NULL ? flags->max : one.min;
  ScnSizes sweep;
  if (!cli_sizes_read (cli, &one, element_B, &sweep, error))
    return FALSE;
  if (sweep.min_B != sweep.max_B)
    return cli_fail (cli, error, "one size is explained at a time; -b %s and -e %s are two", one.min, one.max);
  *size_B = sweep.min_B;
  return TRUE;
}

static gboolean
explain_op (Cli *cli, const FrCollFlags *flags, const FrCollQuery *question, GError **error)
{
  unsigned element_B = mdl_dtype_size_B (question->dtype);
  guint64 size_B = 0;
  if (question->n_nodes > 1)
    return cli_fail (cli, error, "one prediction is explained at a time; -n lists %u numbers of nodes", question->n_nodes);
  if (!parse_size (cli, flags, element_B, &size_B, error))
    return FALSE;
  g_auto (ScnRanks) comm = { 0 };
  if (!cli_comm_open (cli, question, question->nodes[0], &comm, error))
    return FALSE;
  ColCollRequest request = fr_coll_request (question, (double)scn_size_round (question->op, size_B, element_B, comm.n));
  g_auto (ColAnswer) coll = { 0 };
  g_auto (Beside) beside = { 0 };
  if (!col_coll_price (comm.comm, &request, &coll, error) ||
      !list_alternatives (comm.comm, &request, &comm.settings, &coll, &beside, error)) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  cli_warn_switches (cli, &comm, &coll);
  g_autoptr (GString) header = g_string_new (NULL);
  cli_comm_header (cli, &comm, header);
  RepExplain explain = { .clu = comm.clu, .coll = &coll, .alternatives = beside.alternatives, .nccl = &beside.nccl };
  write_explain (cli, "explain", header, &explain);
  return TRUE;
}

/* ---- a scenario ---- */

/* What a kind of workload has to explain. NULL `collective`: nothing of it is priced by a communicator. */
typedef struct {
  const ColAnswer *(*collective) (const ScnResult *result);
  gboolean by_bucket; /* the collective is a step's gradient bucket: its loads are priced again */
  void (*answer) (const ScnResult *result, GString *out); /* what it adds to the answer of `run`; NULL: nothing */
  BaseTable *(*rows) (const ScnResult *result);           /* of TSV; returned: full */
  void (*text) (const CliScenarioRun *run, const RepExplain *explain, GString *out);
  void (*json) (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json);
} Explained;

static const ColAnswer *
own_collective (const ScnResult *result)
{
  return &result->coll;
}

static const ColAnswer *
gradient_bucket (const ScnResult *result)
{
  return &result->training.all_reduce;
}

static void
collective_answer (const ScnResult *result, GString *out)
{
  rep_largest_term (&result->coll, out);
}

static BaseTable *
collective_rows (const ScnResult *result)
{
  return rep_terms_table (&result->coll.cost);
}

static void
collective_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  (void)run;
  rep_explain_text (explain, out);
}

static void
collective_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)run, (void)goodput;
  rep_explain_json (explain, json);
}

static BaseTable *
transfer_rows (const ScnResult *result)
{
  return rep_terms_table (&result->transfer.cost);
}

static void
transfer_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  rep_explain_transfer_text (explain->clu, &run->result->transfer, out);
}

static void
transfer_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)goodput;
  rep_explain_transfer_json (explain->clu, &run->result->transfer, json);
}

static BaseTable *
io_rows (const ScnResult *result)
{
  return rep_explain_io_table (&result->io);
}

static void
io_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  rep_explain_io_text (explain->clu, &run->result->io, out);
}

static void
io_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)goodput;
  rep_explain_io_json (explain->clu, &run->result->io, json);
}

static BaseTable *
training_rows (const ScnResult *result)
{
  return result->training.terms != NULL ? rep_step_terms_table (&result->training)
                                        : rep_terms_table (&result->training.all_reduce.cost);
}

static void
training_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  rep_run_text (run->result, out);
  rep_step_terms_text (&run->result->training, out);
  if (explain->coll->n_ranks > 1) {
    g_string_append_c (out, '\n');
    rep_explain_text (explain, out);
  }
}

static void
training_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "step");
  rep_run_json (run->result, json);
  if (run->result->training.terms != NULL)
    rep_step_terms_json (&run->result->training, json);
  json_builder_set_member_name (json, "all_reduce");
  if (explain->coll->n_ranks > 1)
    rep_explain_json (explain, json);
  else
    json_builder_add_null_value (json);
  if (goodput != NULL) {
    json_builder_set_member_name (json, "goodput");
    json_builder_begin_object (json);
    rep_goodput_json (goodput, json);
    json_builder_end_object (json);
  }
  json_builder_end_object (json);
}

static BaseTable *
moe_rows (const ScnResult *result)
{
  return rep_moe_terms_table (&result->moe);
}

static void
moe_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  (void)explain;
  rep_explain_moe_text (&run->result->moe, out);
}

static void
moe_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)explain, (void)goodput;
  rep_explain_moe_json (&run->result->moe, json);
}

static const GArray *
serving_terms (const ScnResult *result)
{
  return ((const ScnServingStepResult *)result->own)->terms;
}

static BaseTable *
serving_rows (const ScnResult *result)
{
  return rep_serving_terms_table (serving_terms (result));
}

static void
serving_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  (void)explain;
  rep_run_text (run->result, out);
  rep_serving_terms_text (serving_terms (run->result), out);
}

static void
serving_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)explain, (void)goodput;
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "step");
  rep_run_json (run->result, json);
  rep_serving_terms_json (serving_terms (run->result), json);
  json_builder_end_object (json);
}

static const SrvWatched *
watched_of (const ScnResult *result)
{
  return &((const ScnServingResult *)result->own)->run.watched;
}

static BaseTable *
request_rows (const ScnResult *result)
{
  return rep_serving_request_table (watched_of (result));
}

static void
request_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  const ScnServingResult *own = run->result->own;
  (void)explain;
  rep_run_text (run->result, out);
  if (watched_of (run->result)->seen)
    rep_serving_request_text (watched_of (run->result), own->slow, out);
}

static void
request_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)explain, (void)goodput;
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "run");
  rep_run_json (run->result, json);
  rep_serving_request_json (watched_of (run->result), json);
  json_builder_end_object (json);
}

static void
run_text (const CliScenarioRun *run, const RepExplain *explain, GString *out)
{
  (void)explain;
  rep_run_text (run->result, out);
}

static void
run_json (const CliScenarioRun *run, const RepExplain *explain, const Gdp *goodput, JsonBuilder *json)
{
  (void)explain, (void)goodput;
  rep_run_json (run->result, json);
}

static const Explained explained[] = {
  [SCN_KIND_COLLECTIVE] = { own_collective, FALSE, collective_answer, collective_rows, collective_text, collective_json },
  [SCN_KIND_TRANSFER] = { NULL, FALSE, NULL, transfer_rows, transfer_text, transfer_json },
  [SCN_KIND_TRAINING] = { gradient_bucket, TRUE, NULL, training_rows, training_text, training_json },
  [SCN_KIND_IO] = { NULL, FALSE, NULL, io_rows, io_text, io_json },
  [SCN_KIND_SERVING] = { NULL, FALSE, NULL, request_rows, request_text, request_json },
  [SCN_KIND_SERVING_STEP] = { NULL, FALSE, NULL, serving_rows, serving_text, serving_json },
  [SCN_KIND_MOE] = { NULL, FALSE, NULL, moe_rows, moe_text, moe_json },
};

/* A kind without a row here explains itself by what `run` prints of it. */
static const Explained *
explained_of (const ScnResult *result)
{
  static const Explained as_run = { NULL, FALSE, NULL, rep_run_table, run_text, run_json };
  return (gsize)result->kind < G_N_ELEMENTS (explained) && explained[result->kind].rows != NULL ? &explained[result->kind]
                                                                                                : &as_run;
}

/* By the closed form, as the step priced it. */
static gboolean
price_bucket (ColComm *comm, const ColCollRequest *request, ColSettings *settings, ColAnswer *out, GError **error)
{
  ColMode mode = settings->mode;
  settings->mode = COL_MODE_MODEL;
  gboolean done = col_coll_price (comm, request, out, error);
  settings->mode = mode;
  return done;
}

/* *out stays empty where the run has no collective, or only one rank in it. */
static gboolean
beside_of (const CliScenarioRun *run, Beside *out, GError **error)
{
  const Explained *kind = explained_of (run->result);
  const ColAnswer *coll = kind->collective != NULL ? kind->collective (run->result) : NULL;
  if (coll == NULL || coll->n_ranks < 2)
    return TRUE;
  ColSettings settings = *scn_settings (run->scenario);
  ColCollRequest request;
  g_autoptr (ColComm) comm = scn_comm (run->scenario, run->result, &settings, &request, error);
  if (comm == NULL || (kind->by_bucket && !price_bucket (comm, &request, &settings, &out->bucket, error)))
    return FALSE;
  return list_alternatives (comm, &request, &settings, kind->by_bucket ? &out->bucket : coll, out, error);
}

/* With what stands beside it; `coll` is NULL where the kind has no collective. */
static RepExplain
explanation (const CliScenarioRun *run, const Beside *beside)
{
  const Explained *kind = explained_of (run->result);
  const ColAnswer *own = kind->collective != NULL ? kind->collective (run->result) : NULL;
  return (RepExplain){ .clu = scn_cluster (run->scenario),
                       .coll = beside->bucket.n_ranks > 0 ? &beside->bucket : own,
                       .alternatives = beside->alternatives,
                       .nccl = beside->has_nccl ? &beside->nccl : NULL };
}

static const char *
flag_without_meaning (const FrCollFlags *flags)
{
  const struct {
    const char *name, *value;
  } rows[] = { { "--topology", flags->topology },
               { "-n", flags->nodes },
               { "-g", flags->gpus },
               { "-b", flags->min },
               { "-e", flags->max },
               { "--dtype", flags->dtype },
               { "--root", flags->root },
               { "--algo", flags->algo },
               { "--proto", flags->proto },
               { "--disable", flags->disable },
               { "--max-channels", flags->max_channels },
               { "--iters", flags->iters },
               { "--nccl", flags->nccl != NULL ? flags->nccl[0] : NULL },
               { "--library", flags->library },
               { "--calibration", flags->calibration },
               { "--launch", flags->launch } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].value != NULL)
      return rows[i].name;
  return NULL;
}

static gboolean
explain_scenario (Cli *cli, const FrCollFlags *flags, const char *path, GError **error)
{
  const char *meaningless = flag_without_meaning (flags);
  if (meaningless != NULL)
    return cli_fail (cli, error, "%s goes with an operation; a scenario says it itself (--set changes a key of it)", meaningless);
  g_auto (CliScenarioRun) run = { 0 };
  const CliScenarioFlags how = { .mode = flags->mode, .steps = flags->steps, .want_terms = TRUE };
  if (!cli_scenario_run (cli, path, &how, &run, error))
    return FALSE;
  if (run.result->jobs != NULL)
    return cli_fail (cli, error, "explain takes one workload, and '%s' has jobs; use forerun run", path);
  g_auto (Beside) beside = { 0 };
  if (!beside_of (&run, &beside, error))
    return FALSE;
  g_autoptr (Gdp) goodput = gdp_scenario_has_failures (run.scenario) ? cli_goodput (cli, &run, error) : NULL;
  if (goodput == NULL && gdp_scenario_has_failures (run.scenario))
    return FALSE;
  const Explained *kind = explained_of (run.result);
  const RepExplain explain = explanation (&run, &beside);
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    kind->json (&run, &explain, goodput, json);
    cli_json_close (cli, json);
    return TRUE;
  }
  if (cli->format == CLI_FORMAT_TSV) {
    cli_rows (cli, kind->rows (run.result));
    return TRUE;
  }
  cli_scenario_answer (&run, cli->out);
  if (kind->answer != NULL)
    kind->answer (run.result, cli->out);
  if (goodput != NULL)
    rep_goodput_answer (goodput, cli->out);
  g_string_append_c (cli->out, '\n');
  cli_scenario_header (&run, &envelope, cli->out);
  g_autoptr (GString) body = g_string_new (NULL);
  kind->text (&run, &explain, body);
  if (goodput != NULL)
    rep_goodput_terms_text (goodput, body);
  g_string_append (cli->out, body->str);
  return TRUE;
}

/* A word that is nearly an operation was meant as one. */
static gboolean
is_near_op (const char *word)
{
  const char *names[MDL_OP_N + MDL_MOE_OP_N + 1] = { NULL };
  for (int i = 0; i < MDL_OP_N; i++)
    names[i] = mdl_op_names[i].name;
  for (int i = 0; i < MDL_MOE_OP_N; i++)
    names[MDL_OP_N + i] = mdl_moe_op_names[i].name;
  return base_nearest (word, names) != NULL;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const CliExplainFlags *all = data;
  const FrCollFlags *flags = &all->coll;
  if (words[0] == NULL)
    return cli_fail (cli, error, "what? an operation (all_reduce …) or a scenario file");
  if (words[1] != NULL)
    return cli_fail (cli, error, "one prediction at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  gboolean is_path = strchr (words[0], '/') != NULL || strchr (words[0], '.') != NULL || strcmp (words[0], "-") == 0;
  const BaseName *moe = base_name_find (mdl_moe_op_names, words[0]);
  if (moe != NULL)
    return cli_explain_moe (cli, all, (MdlMoeOp)moe->code, error);
  int none = 0;
  if (!is_path && g_str_has_prefix (words[0], "moe_") && flags->topology != NULL)
    return cli_name_value (cli, "operation", words[0], mdl_moe_op_names, &none, error);
  const char *experts = cli_explain_moe_flag (all);
  if (experts != NULL)
    return cli_fail (cli, error, "--%s goes with moe_dispatch, moe_combine or moe_prepare, not with '%s'", experts, words[0]);
  if (base_name_find (mdl_op_names, words[0]) == NULL && (is_path || (flags->topology == NULL && !is_near_op (words[0]))))
    return explain_scenario (cli, flags, words[0], error);
  g_auto (FrCollQuery) question = { 0 };
  gboolean done = cli_coll_read (cli, flags, words[0], &question, error) && explain_op (cli, flags, &question, error);
  return done;
}

const CliVerb cli_verb_explain = {
  .name = "explain",
  .summary = "explain one prediction: terms, sources, link loads, alternatives, the choice of NCCL",
  .usage = "OP --topology T [flags] | SCENARIO.yaml [flags]",
  .example = "forerun explain all_reduce --topology hgx_h200 -n 2 -b 256M --algo ring",
  .completes = "ops",
  .notes = "OP is one of all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, moe_dispatch, "
           "moe_combine, moe_prepare. The terms add up to the time of the closed formula. Each term names its constants and where "
           "they come from (measured, datasheet, assumed). With a scenario, only --mode, --steps and the common flags apply.\n",
  .flags = { cli_coll_flags_where, size_flags, cli_explain_moe_flags, cli_coll_flags_how },
  .size = sizeof (CliExplainFlags),
  .formats = CLI_FORMAT_CSV,
  .varies = TRUE,
  .run = run,
};
