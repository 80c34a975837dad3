/* Jobs: several workloads at the same time, each on nodes of its own, that meet on the fabric and at storage.
 *
 * Each is first run alone, as a scenario of its own; then all start together on one engine and share links, cores and the time of
 * storage servers by max-min fairness until the last has ended. A collective that is repeated starts again as soon as it has ended;
 * a training job makes its steps one after the other (rounds.c); reads and writes may be of nodes that train. The closed form knows
 * no contention: it answers each as if it were alone. */
#include "jobs-private.h"

#include <string.h>

#define MOST_REPEATS 1e7

static const BaseField job_fields[] = {
  BASE_ROW (ScnJobSpec, "name", name, STR, .help = "name in the answer; default: job 0, job 1, …"),
  BASE_ROW (
      ScnJobSpec, "nodes", nodes, STRS,
      .help = "`0-15`, `3` or a list; only `io` jobs may share nodes with another job; default for `io`: all; transfers have none"),
  BASE_ROW_NUM (ScnJobSpec, "steps", steps, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "steps of a training job, with what it reads and saves"),
  BASE_ROW (ScnJobSpec, "workload", workload, NODE, .required = TRUE, .help = "as `workload` of a scenario"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_job = { .name = "jobs", .help = "One of several concurrent workloads.", .fields = job_fields };

static const BaseField background_fields[] = {
  BASE_ROW_NUM (ScnBackgroundSpec, "load", load, RATIO, .max = "90 %", .required = TRUE,
                .help = "mean load of the links between switches that the streams use"),
  BASE_ROW_NUM (ScnBackgroundSpec, "seed", seed, COUNT, .help = "selects who sends to whom; default: the scenario's"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_background = { .name = "background",
                                           .help = "Other users' traffic on the fabric: constant streams between random nodes.",
                                           .fields = background_fields };

void
scn_job_free (ScnJob *job)
{
  g_clear_pointer (&job->view.system.gpus, g_array_unref);
  g_free (job->name);
  g_free (job);
}

/* What only one job alone can have. A job that saves must come to it, and its storage is what it shares: times that are given
 * change no step. */
static void
check_training (const ScnJob *job, BaseDiag *diag)
{
  const TrnCheckpointSpec *checkpoint = &job->view.training.spec.checkpoint;
  const TrnCreateSpec *create = &job->view.training.spec.communicators;
  if (create->count.set && create->every.v == TRN_CREATE_ITERATION)
    base_diag_error (diag, create->every.mark,
                     "communicators of each step are of a job that runs alone; among jobs leave 'every' out (they are made once)");
  if (job->view.training.spec.failures.head.set)
    base_diag_error (diag, job->view.training.spec.failures.head.mark,
                     "'failures' are of run --goodput, which follows one job and not several; leave it out");
  if (!checkpoint->head.set)
    return;
  if (checkpoint->tier.v == NULL)
    base_diag_error (diag, checkpoint->head.mark,
                     "a checkpoint among jobs needs 'tier', where it goes; 'stall' in its place is of run --goodput");
  else if (!checkpoint->every.set)
    base_diag_error (diag, checkpoint->head.mark, "a checkpoint among jobs needs 'every', steps from one to the next");
  else if (checkpoint->every.v > job->spec.steps.v)
    base_diag_error (
        diag, checkpoint->every.mark,
        "a checkpoint every %.0f steps of a job of %.0f: none would be taken; accepted: 'steps' of the job of at least "
        "%.0f, or fewer between two",
        checkpoint->every.v, job->spec.steps.v, checkpoint->every.v);
}

/* Returned: how many there are with this one. */
static guint
check_driven (const ScnJob *job, guint before, BaseDiag *diag)
{
  const BaseYamlNode *offload = base_yaml_get (job->spec.workload, "offload");
  if (before > 0)
    base_diag_error (diag, base_yaml_mark (job->spec.workload),
                     "only one service can run among jobs; make one of the two a job of 'flows' or 'transfer', or run them apart");
  if (offload != NULL)
    base_diag_error (diag, base_yaml_mark (offload), "'offload' is of a service that runs alone; among jobs leave it out");
  return before + 1;
}

/* The answer tells jobs by their names, in one column. */
static void
check_name (const Scn *scenario, guint number, BaseDiag *diag)
{
  const ScnJob *job = scenario->jobs->pdata[number];
  if (*job->name == '\0')
    base_diag_error (diag, job->spec.name.mark, "'' cannot name a job; accepted: any text");
  for (guint i = 0; i < number; i++) {
    const ScnJob *other = scenario->jobs->pdata[i];
    if (other->name != NULL && strcmp (other->name, job->name) == 0)
      base_diag_error (diag, job->spec.name.set ? job->spec.name.mark : other->spec.name.mark, "two jobs are named '%s'",
                       job->name);
  }
}

void
scn_jobs_read (Scn *scenario, const BaseSchemaContext *context)
{
  const BaseYamlNode *list = scenario->spec.jobs;
  if (base_yaml_kind (list) != BASE_YAML_SEQ || base_yaml_n (list) == 0) {
    base_diag_error (context->diag, base_yaml_mark (list),
                     "'jobs' must be a list of mappings (e.g. [{nodes: 0-15, workload: {…}}, {nodes: 16-31, workload: {…}}])");
    return;
  }
  scenario->jobs = g_ptr_array_new_with_free_func ((GDestroyNotify)scn_job_free);
  guint n_driven = 0;
  for (unsigned i = 0; i < base_yaml_n (list); i++) {
    ScnJob *job = g_new0 (ScnJob, 1);
    g_ptr_array_add (scenario->jobs, job);
    if (!base_schema_read (&scn_schema_job, base_yaml_item (list, i), FALSE, context, &job->spec))
      continue;
    job->name = job->spec.name.set ? g_strdup (job->spec.name.v) : g_strdup_printf ("job %u", i);
    check_name (scenario, i, context->diag);
    scn_read_workload (&job->view, job->spec.workload, context);
    job->view.spec.workload = job->spec.workload;
    gboolean copies = job->view.kind == SCN_KIND_TRANSFER;
    if (scn_kind_ops (job->view.kind)->drive != NULL)
      n_driven = check_driven (job, n_driven, context->diag);
    else if (scn_kind_ops (job->view.kind)->start == NULL)
      base_diag_error (context->diag, base_yaml_mark (job->spec.workload), "a workload of kind '%s' runs alone, not among jobs",
                       base_name (scn_kind_names, (int)job->view.kind));
    if (job->view.kind != SCN_KIND_TRAINING && job->spec.steps.set)
      base_diag_error (context->diag, job->spec.steps.mark, "'steps' are of training jobs; %s",
                       job->view.kind == SCN_KIND_COLLECTIVE ? "accepted: 'repeat' of the workload" : "leave it out");
    if (job->view.kind == SCN_KIND_TRAINING)
      check_training (job, context->diag);
    if (copies && job->spec.nodes.n > 0)
      base_diag_error (context->diag, job->spec.nodes.mark, "a transfer's ends name their nodes; leave 'nodes' out");
    if (!copies && job->spec.nodes.n == 0 && (job->view.kind != SCN_KIND_IO || job->spec.nodes.set))
      base_diag_error (context->diag, job->spec.nodes.set ? job->spec.nodes.mark : base_yaml_mark (base_yaml_item (list, i)),
                       "job '%s' has no 'nodes' (e.g. nodes: 0-15)", job->name);
    if (job->view.kind == SCN_KIND_COLLECTIVE && job->view.collective.repeat.v > MOST_REPEATS)
      base_diag_error (context->diag, job->view.collective.repeat.mark, "repeat must be at most %.0f among jobs, found %.0f",
                       MOST_REPEATS, job->view.collective.repeat.v);
  }
}

/* ---- nodes ---- */

/* "3" or "0-15". */
static gboolean
read_range (const char *text, guint64 *first, guint64 *last)
{
  g_auto (GStrv) ends = g_strsplit (text, "-", -1);
  guint n = g_strv_length (ends);
  for (guint i = 0; i < n; i++)
    g_strstrip (ends[i]);
  return (n == 1 || n == 2) && g_ascii_string_to_unsigned (ends[0], 10, 0, G_MAXUINT32 - 1, first, NULL) &&
         g_ascii_string_to_unsigned (ends[n - 1], 10, 0, G_MAXUINT32 - 1, last, NULL) && *first <= *last;
}

/* Marks the job's nodes in `mine`, and in `owner` (0: nobody's, else the job's number + 1) where it wants them for itself. */
static gboolean
take_nodes (const Scn *scenario, guint number, guint32 *owner, gboolean *mine, GError **error)
{
  const ScnJob *job = scenario->jobs->pdata[number];
  guint32 n_nodes = clu_n_nodes (scenario->system.clu);
  gboolean reads = job->view.kind == SCN_KIND_IO;
  for (guint32 node = 0; node < n_nodes; node++)
    mine[node] = reads && job->spec.nodes.n == 0;
  for (unsigned i = 0; i < job->spec.nodes.n; i++) {
    const BaseStr *item = &job->spec.nodes.item[i];
    g_auto (GStrv) parts = g_strsplit (item->v, ",", -1);
    for (char **part = parts; *part != NULL; part++) {
      guint64 first, last;
      if (!read_range (*part, &first, &last))
        return col_fail_at (error, item->mark, "'%s' are no nodes; accepted: a number, a range as 0-15, or a list of these", *part);
      if (last >= n_nodes)
        return col_fail_at (error, item->mark, "node %" G_GUINT64_FORMAT " is not one of the cluster's %u (0 to %u)", last, n_nodes,
                            n_nodes - 1);
      for (guint64 node = first; node <= last; node++) {
        if (!reads && owner[node] != 0)
          return col_fail_at (error, item->mark, "node %" G_GUINT64_FORMAT " belongs to '%s' already; each has nodes of its own",
                              node, ((const ScnJob *)scenario->jobs->pdata[owner[node] - 1])->name);
        owner[node] = reads ? owner[node] : number + 1;
        mine[node] = TRUE;
      }
    }
  }
  return TRUE;
}

gboolean
scn_jobs_place (Scn *scenario, GError **error)
{
  g_autofree guint32 *owner = g_new0 (guint32, clu_n_nodes (scenario->system.clu));
  g_autofree gboolean *mine = g_new0 (gboolean, clu_n_nodes (scenario->system.clu));
  for (guint j = 0; j < scenario->jobs->len; j++) {
    ScnJob *job = scenario->jobs->pdata[j];
    Scn *view = &job->view;
    if (!take_nodes (scenario, j, owner, mine, error))
      return FALSE;
    view->yaml = scenario->yaml;
    view->spec.name = job->spec.name;
    view->system.clu = scenario->system.clu;
    view->training.system = &view->system;
    view->training.seed = scenario->seed;
    if (scn_kind_ops (view->kind)->drive != NULL)
      view->seed = scenario->seed;
    view->system.gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
    for (guint i = 0; i < scenario->system.gpus->len; i++) {
      guint32 gpu = g_array_index (scenario->system.gpus, guint32, i);
      if (mine[clu_dev_node (scenario->system.clu, clu_gpu (scenario->system.clu, gpu))])
        g_array_append_val (view->system.gpus, gpu);
    }
    if (view->kind == SCN_KIND_IO && !view->io.clients.set) {
      g_autoptr (GArray) homes = sto_io_homes (&view->system);
      view->io.clients.v = homes->len;
    }
    const ScnKindOps *ops = scn_kind_ops (view->kind);
    if (ops->check != NULL && !ops->check (view, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
scn_jobs_train_models (const Scn *scenario)
{
  for (guint j = 0; j < scenario->jobs->len; j++)
    if (((const ScnJob *)scenario->jobs->pdata[j])->view.training.spec.model.model != NULL)
      return TRUE;
  return FALSE;
}

gboolean
scn_jobs_slow_nics (Scn *scenario, GError **error)
{
  for (guint j = 0; j < scenario->jobs->len; j++)
    if (!trn_slow_nics (&((ScnJob *)scenario->jobs->pdata[j])->view.training, error))
      return FALSE;
  return TRUE;
}

/* ---- together ---- */

/* Returned: full; NULL and *error on failure. */
static ScnRunning *
start_job (const ScnJob *job, const ScnResult *alone, ColNet *net, GError **error)
{
  ScnRunning *running = g_new0 (ScnRunning, 1);
  running->net = net;
  running->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  running->ends = g_array_new (FALSE, FALSE, sizeof (EngTime));
  if (scn_kind_ops (job->view.kind)->start (job, alone, running, error))
    return running;
  scn_running_free (running);
  return NULL;
}

/* Once the engine has run. FALSE and *error where a step failed on the way. */
static gboolean
take_time (const ScnRunning *running, ScnJobResult *job, GError **error)
{
  if (running->rounds != NULL)
    return trn_rounds_take (running->rounds, &job->rounds, &job->time_s, error);
  job->time_s = running->step != NULL ? trn_step_time_s (running->step) : eng_time_to_s (running->end);
  return TRUE;
}

/* Steps of a job, and what it waits for between them, on a lane of its own; what is written beside them on another. */
static void
add_steps (const ScnRunning *running, const ScnJobResult *job, ColRunInfo *info)
{
  const GArray *spans = running->rounds != NULL && info->spans != NULL ? trn_rounds_spans (running->rounds) : NULL;
  for (guint i = 0; spans != NULL && i < spans->len; i++) {
    const TrnRoundSpan *one = &g_array_index (spans, TrnRoundSpan, i);
    const gboolean beside = strcmp (one->what, "drain") == 0;
    col_run_span (info, g_strdup_printf ("%s: %s", job->name, beside ? "drains" : "steps"),
                  g_strdup_printf ("%s %u", one->what, one->step), one->start_s, one->end_s);
  }
}

/* Operations in a row of a job, on a lane of its own. */
static void
add_operations (const ScnRunning *running, const ScnJobResult *job, ColRunInfo *info)
{
  const double repeat = job->alone != NULL && job->alone->kind == SCN_KIND_COLLECTIVE ? job->alone->repeat : 0;
  if (info->spans == NULL || repeat <= 1)
    return;
  EngTime from = 0;
  for (guint i = 0; i < running->ends->len; i++) {
    const EngTime to = g_array_index (running->ends, EngTime, i);
    col_run_span (info, g_strdup_printf ("%s: operations", job->name),
                  g_strdup_printf ("%s %u", base_name (mdl_op_names, (int)job->alone->coll.op), i + 1), eng_time_to_s (from),
                  eng_time_to_s (to));
    from = to;
  }
  if (running->ends->len < repeat)
    col_run_warn (info, "%s: the trace has the first %u of %.0f operations", job->name, running->ends->len, repeat);
}

/* All jobs on one engine; the answer of each into its result's time. */
static gboolean
run_together (Scn *scenario, ScnResult *result, GError **error)
{
  g_autoptr (ColNet) net = col_net_new (scenario->system.clu);                       /* outlives what runs on it */
  g_autoptr (GPtrArray) running = g_ptr_array_new_with_free_func (scn_running_free); /* NULL: of a job that drives */
  double longest_s = 0;
  for (guint j = 0; j < scenario->jobs->len; j++) {
    const ScnJobResult *job = result->jobs->pdata[j];
    ScnRunning *started = job->serves ? NULL : start_job (scenario->jobs->pdata[j], job->alone, net, error);
    if (started == NULL && !job->serves)
      return FALSE;
    g_ptr_array_add (running, started);
  }
  for (guint j = 0; j < scenario->jobs->len; j++) {
    const ScnJob *job = scenario->jobs->pdata[j];
    if (running->pdata[j] == NULL && !scn_kind_ops (job->view.kind)->drive (job, result->jobs->pdata[j], net, &result->run, error))
      return FALSE;
  }
  if (!eng_run (col_net_engine (net), ENG_TIME_NEVER, 0, error))
    return FALSE;
  for (guint j = 0; j < scenario->jobs->len; j++) {
    ScnJobResult *job = result->jobs->pdata[j];
    if (!job->serves && !take_time (running->pdata[j], job, error))
      return FALSE;
    if (!job->serves) {
      add_steps (running->pdata[j], job, &result->run);
      add_operations (running->pdata[j], job, &result->run);
    }
    longest_s = MAX (longest_s, job->serves ? job->service.duration_s : job->time_s);
  }
  result->run.n_events += eng_stats (col_net_engine (net)).events;
  col_run_add_links (&result->run, scenario->system.clu, net, longest_s);
  return TRUE;
}

static void
job_result_free (gpointer data)
{
  ScnJobResult *job = data;
  g_free (job->name);
  g_free (job->nodes);
  scn_result_free (job->alone);
  g_free (job);
}

/* What has no answer of its own for a job alone is run on a network that nobody else is on. */
static gboolean
time_alone (const ScnJob *job, ScnJobResult *out, ScnResult *result, GError **error)
{
  const ScnKindOps *ops = scn_kind_ops (job->view.kind);
  if (ops->drive != NULL)
    return ops->drive (job, out, NULL, NULL, error);
  out->alone_s = scn_result_time_s (out->alone);
  if (job->view.system.settings.mode == COL_MODE_MODEL || !(scn_job_has_rounds (job) || job->view.kind == SCN_KIND_IO)) {
    out->alone_s *= job->spec.steps.v;
    return TRUE;
  }
  g_autoptr (ColNet) net = col_net_new (job->view.system.clu);
  ScnRunning *running = start_job (job, out->alone, net, error);
  if (running == NULL)
    return FALSE;
  gboolean ok = eng_run (col_net_engine (net), ENG_TIME_NEVER, 0, error) && take_time (running, out, error);
  result->run.n_events += eng_stats (col_net_engine (net)).events;
  scn_running_free (running);
  out->rounds_alone = out->rounds;
  out->alone_s = out->time_s;
  return ok;
}

/* "0-15", as it was written; of a transfer its ends. */
static char *
nodes_text (const ScnJob *job)
{
  if (job->view.kind == SCN_KIND_TRANSFER)
    return g_strdup_printf ("%s -> %s", job->view.transfer.from.v, job->view.transfer.to.v);
  if (job->spec.nodes.n == 0)
    return g_strdup ("all");
  g_autoptr (GString) text = g_string_new (NULL);
  for (unsigned i = 0; i < job->spec.nodes.n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", job->spec.nodes.item[i].v);
  return g_strdup (text->str);
}

void
scn_jobs_lend (const Scn *scenario, ScnJob *job)
{
  GArray *gpus = job->view.system.gpus;
  job->view.system = scenario->system;
  job->view.system.gpus = gpus;
  job->view.system.settings.no_fold =
      scenario->system.settings.no_fold || job->view.kind == SCN_KIND_COLLECTIVE; /* jobs share links */
}

static gboolean
run_alone (Scn *scenario, ScnResult *result, GError **error)
{
  for (guint j = 0; j < scenario->jobs->len; j++) {
    ScnJob *job = scenario->jobs->pdata[j];
    scn_jobs_lend (scenario, job);
    ScnResult *alone = scn_run (&job->view, FALSE, error);
    if (alone == NULL)
      return FALSE;
    ScnJobResult *out = g_new0 (ScnJobResult, 1);
    g_ptr_array_add (result->jobs, out);
    *out = (ScnJobResult){ .name = g_strdup (job->name), .nodes = nodes_text (job), .alone = alone };
    if (!time_alone (job, out, result, error))
      return FALSE;
    out->time_s = out->alone_s;
    result->run.n_events += alone->run.n_events;
    for (guint i = 0; i < alone->run.warnings->len; i++)
      col_run_warn (&result->run, "%s: %s", job->name, (const char *)alone->run.warnings->pdata[i]);
  }
  return TRUE;
}

gboolean
scn_jobs_run (Scn *scenario, ScnResult *result, GError **error)
{
  result->jobs = g_ptr_array_new_with_free_func (job_result_free);
  if (!run_alone (scenario, result, error))
    return FALSE;
  if (scenario->system.settings.mode == COL_MODE_MODEL)
    col_run_warn (&result->run,
                  "mode model knows no contention: each job is answered as if it were alone; --mode event shares links");
  else if (!run_together (scenario, result, error))
    return FALSE;
  for (guint j = 0; result->run.spans != NULL && j < result->jobs->len; j++) {
    const ScnJobResult *job = result->jobs->pdata[j];
    col_run_span (&result->run, g_strdup (job->name), g_strdup (job->nodes), 0,
                  job->serves ? job->service.duration_s : job->time_s);
  }
  return TRUE;
}
