/* Jobs: several workloads at the same time, each on nodes of its own, that meet on the fabric.
 *
 * Each is first run alone, as a scenario of its own; then all start together on one engine and share links by max-min fairness
 * until the last has ended. A collective that is repeated starts again as soon as it has ended; a training job is one step. The
 * closed form knows no contention: it answers each as if it were alone. */
#include "jobs-private.h"

#include <string.h>

#include "model_build-private.h"
#include "training-private.h"

#define MOST_REPEATS 1e7

static const BaseField job_fields[] = {
  BASE_ROW (WrkJobSpec, "name", name, STR, .help = "for the answer; default: job 0, job 1, …"),
  BASE_ROW (WrkJobSpec, "nodes", nodes, STRS,
            .help = "its nodes, no other job's: `0-15`, `3`, or a list of such; a transfer names its ends and has none"),
  BASE_ROW (WrkJobSpec, "workload", workload, NODE, .required = TRUE, .help = "what it does, as `workload` of a scenario"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_job = { .name = "jobs", .help = "One of several workloads at the same time.", .fields = job_fields };

static const BaseField background_fields[] = {
  BASE_ROW_NUM (WrkBackgroundSpec, "load", load, RATIO, .max = "90 %", .required = TRUE,
                .help = "share of the links between the fabric's switches that others take, in the mean over those they cross"),
  BASE_ROW_NUM (WrkBackgroundSpec, "seed", seed, COUNT, .help = "draws who sends to whom; default: the scenario's"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_background = { .name = "background",
                                           .help = "Other people's traffic on the fabric: constant streams between random nodes.",
                                           .fields = background_fields };

void
wrk_job_free (WrkJob *job)
{
  g_clear_pointer (&job->view.gpus, g_array_unref);
  g_free (job->name);
  g_free (job);
}

void
wrk_jobs_read (WrkScenario *scenario, const BaseSchemaContext *context)
{
  const BaseYamlNode *list = scenario->spec.jobs;
  if (base_yaml_kind (list) != BASE_YAML_SEQ || base_yaml_n (list) == 0) {
    base_diag_error (context->diag, base_yaml_mark (list),
                     "'jobs' must be a list of mappings (e.g. [{nodes: 0-15, workload: {…}}, {nodes: 16-31, workload: {…}}])");
    return;
  }
  scenario->jobs = g_ptr_array_new_with_free_func ((GDestroyNotify)wrk_job_free);
  for (unsigned i = 0; i < base_yaml_n (list); i++) {
    WrkJob *job = g_new0 (WrkJob, 1);
    g_ptr_array_add (scenario->jobs, job);
    if (!base_schema_read (&wrk_schema_job, base_yaml_item (list, i), FALSE, context, &job->spec))
      continue;
    job->name = job->spec.name.set ? g_strdup (job->spec.name.v) : g_strdup_printf ("job %u", i);
    wrk_read_workload (&job->view, job->spec.workload, context);
    job->view.spec.workload = job->spec.workload;
    gboolean copies = job->view.kind == WRK_KIND_TRANSFER;
    if (job->view.kind == WRK_KIND_IO)
      base_diag_error (context->diag, base_yaml_mark (base_yaml_item (list, i)),
                       "kind 'io' is not built yet among jobs; accepted: collective, transfer, training");
    const WrkTrainingSpec *training = &job->view.training;
    if (training->loader.head.set || training->checkpoint.tier.v != NULL)
      base_diag_error (context->diag, training->loader.head.set ? training->loader.head.mark : training->checkpoint.head.mark,
                       "'loader' and 'checkpoint' are not built yet among jobs; leave them out");
    if (copies && job->spec.nodes.n > 0)
      base_diag_error (context->diag, job->spec.nodes.mark, "a transfer's ends name their nodes; leave 'nodes' out");
    if (!copies && job->spec.nodes.n == 0)
      base_diag_error (context->diag, base_yaml_mark (base_yaml_item (list, i)), "job '%s' has no 'nodes' (e.g. nodes: 0-15)",
                       job->name);
    if (job->view.kind == WRK_KIND_COLLECTIVE && job->view.collective.repeat.v > MOST_REPEATS)
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

/* Marks the job's nodes in `owner` (0: nobody's, else the job's number + 1). */
static gboolean
take_nodes (const WrkScenario *scenario, guint number, guint32 *owner, GError **error)
{
  const WrkJob *job = scenario->jobs->pdata[number];
  guint32 n_nodes = clu_n_nodes (scenario->clu);
  for (unsigned i = 0; i < job->spec.nodes.n; i++) {
    const BaseStr *item = &job->spec.nodes.item[i];
    g_auto (GStrv) parts = g_strsplit (item->v, ",", -1);
    for (char **part = parts; *part != NULL; part++) {
      guint64 first, last;
      if (!read_range (*part, &first, &last))
        return wrk_fail_at (error, item->mark, "'%s' are no nodes; accepted: a number, a range as 0-15, or a list of these", *part);
      if (last >= n_nodes)
        return wrk_fail_at (error, item->mark, "node %" G_GUINT64_FORMAT " is not one of the cluster's %u (0 to %u)", last, n_nodes,
                            n_nodes - 1);
      for (guint64 node = first; node <= last; node++) {
        if (owner[node] != 0)
          return wrk_fail_at (error, item->mark, "node %" G_GUINT64_FORMAT " belongs to '%s' already; each has nodes of its own",
                              node, ((const WrkJob *)scenario->jobs->pdata[owner[node] - 1])->name);
        owner[node] = number + 1;
      }
    }
  }
  return TRUE;
}

gboolean
wrk_jobs_place (WrkScenario *scenario, GError **error)
{
  g_autofree guint32 *owner = g_new0 (guint32, clu_n_nodes (scenario->clu));
  for (guint j = 0; j < scenario->jobs->len; j++) {
    WrkJob *job = scenario->jobs->pdata[j];
    WrkScenario *view = &job->view;
    if (!take_nodes (scenario, j, owner, error))
      return FALSE;
    view->yaml = scenario->yaml;
    view->spec.name = job->spec.name;
    view->clu = scenario->clu;
    view->gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
    for (guint i = 0; i < scenario->gpus->len; i++) {
      guint32 gpu = g_array_index (scenario->gpus, guint32, i);
      if (owner[clu_dev_node (scenario->clu, clu_gpu (scenario->clu, gpu))] == j + 1)
        g_array_append_val (view->gpus, gpu);
    }
    if (!wrk_check_workload (view, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
wrk_jobs_train_models (const WrkScenario *scenario)
{
  for (guint j = 0; j < scenario->jobs->len; j++)
    if (((const WrkJob *)scenario->jobs->pdata[j])->view.training.model.model != NULL)
      return TRUE;
  return FALSE;
}

gboolean
wrk_jobs_slow_nics (WrkScenario *scenario, GError **error)
{
  for (guint j = 0; j < scenario->jobs->len; j++)
    if (!wrk_model_slow_nics (&((WrkJob *)scenario->jobs->pdata[j])->view, error))
      return FALSE;
  return TRUE;
}

/* ---- together ---- */

/* A job under way: what is started again when it has ended, and how often. */
typedef struct {
  Eng *eng;
  EngFlowSpec spec;
  GArray *uses;     /* EngUse of the spec */
  gdouble in_a_row; /* still to come, one after the other */
  gdouble at_once;  /* under way together */
  EngTime end;
  WrkStepRun *step;   /* of a training job of given times; NULL */
  WrkModelRun *model; /* of one of a model; NULL */
} Running;

static void
running_free (gpointer data)
{
  Running *running = data;
  g_array_unref (running->uses);
  g_clear_pointer (&running->step, wrk_step_free);
  g_clear_pointer (&running->model, wrk_model_run_free);
  g_free (running);
}

static void
ended (Eng *eng, void *user, uint64_t arg)
{
  Running *running = user;
  (void)arg;
  running->at_once--;
  running->end = eng_now (eng);
  if (running->at_once > 0 || running->in_a_row <= 0)
    return;
  running->in_a_row--;
  running->at_once++;
  eng_flow_start (eng, &running->spec);
}

static Running *
start_flows (WrkNet *net, Running *running, double at_once, double in_a_row)
{
  running->spec.done = ended;
  running->spec.user = running;
  running->at_once = at_once;
  running->in_a_row = in_a_row - 1;
  for (double i = 0; i < at_once; i++)
    eng_flow_start (wrk_net_engine (net), &running->spec);
  return running;
}

static void
start_copies (WrkNet *net, Running *running, const WrkTransferResult *transfer)
{
  double at_once = 0;
  for (guint i = 0; transfer->copies != NULL && i < transfer->copies->len; i++) {
    wrk_transfer_flow (net, transfer, i, running->uses, &running->spec);
    start_flows (net, running, transfer->count, 1);
    at_once += transfer->count;
  }
  running->at_once = at_once;
  wrk_transfer_count (net, transfer);
}

/* Returned: full; NULL and *error on failure. */
static Running *
start_job (const WrkJob *job, const WrkResult *alone, WrkNet *net, GError **error)
{
  Running *running = g_new0 (Running, 1);
  running->eng = wrk_net_engine (net);
  running->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  switch (job->view.kind) {
    case WRK_KIND_TRAINING:
      if (job->view.training.model.model != NULL)
        running->model = wrk_model_start (&job->view, net, FALSE, error);
      else
        running->step = wrk_step_start (&job->view, net, error);
      if (running->step != NULL || running->model != NULL)
        return running;
      running_free (running);
      return NULL;
    case WRK_KIND_TRANSFER:
      start_copies (net, running, &alone->transfer);
      return running;
    case WRK_KIND_COLLECTIVE:
    case WRK_KIND_IO:
    case WRK_KIND_SERVING:
    default:
      wrk_net_coll_flow (net, &alone->coll, running->uses, &running->spec);
      wrk_net_count_coll (net, &alone->coll, alone->repeat);
      return start_flows (net, running, alone->coll.n_ranks > 1 ? 1 : 0, alone->repeat);
  }
}

double
wrk_result_time_s (const WrkResult *result)
{
  switch (result->kind) {
    case WRK_KIND_TRANSFER:
      return result->transfer.time_s;
    case WRK_KIND_TRAINING:
      return result->training.step_time_s;
    case WRK_KIND_IO:
      return result->io.time_s;
    case WRK_KIND_COLLECTIVE:
    case WRK_KIND_SERVING:
    default:
      return result->coll.time_s * result->repeat;
  }
}

const char *
wrk_result_bound_by (const WrkResult *result)
{
  return result->kind == WRK_KIND_TRANSFER   ? result->transfer.bound_by
         : result->kind == WRK_KIND_TRAINING ? result->training.bound_by
         : result->kind == WRK_KIND_IO       ? result->io.bound_by
                                             : result->coll.bound_by;
}

/* All jobs on one engine; the answer of each into its result's time. */
static gboolean
run_together (WrkScenario *scenario, WrkResult *result, GError **error)
{
  g_autoptr (GPtrArray) running = g_ptr_array_new_with_free_func (running_free);
  g_autoptr (WrkNet) net = wrk_net_new (scenario->clu);
  double longest_s = 0;
  for (guint j = 0; j < scenario->jobs->len; j++) {
    const WrkJobResult *job = result->jobs->pdata[j];
    Running *started = start_job (scenario->jobs->pdata[j], job->alone, net, error);
    if (started == NULL)
      return FALSE;
    g_ptr_array_add (running, started);
  }
  if (!eng_run (wrk_net_engine (net), ENG_TIME_NEVER, 0, error))
    return FALSE;
  for (guint j = 0; j < scenario->jobs->len; j++) {
    Running *r = running->pdata[j];
    WrkJobResult *job = result->jobs->pdata[j];
    job->time_s = r->step != NULL    ? wrk_step_time_s (r->step)
                  : r->model != NULL ? wrk_model_time_s (r->model)
                                     : eng_time_to_s (r->end);
    longest_s = MAX (longest_s, job->time_s);
  }
  result->n_events += eng_stats (wrk_net_engine (net)).events;
  wrk_result_add_links (result, scenario->clu, net, longest_s);
  return TRUE;
}

static void
job_result_free (gpointer data)
{
  WrkJobResult *job = data;
  g_free (job->name);
  g_free (job->nodes);
  wrk_result_free (job->alone);
  g_free (job);
}

/* "0-15", as it was written; of a transfer its ends. */
static char *
nodes_text (const WrkJob *job)
{
  if (job->view.kind == WRK_KIND_TRANSFER)
    return g_strdup_printf ("%s -> %s", job->view.transfer.from.v, job->view.transfer.to.v);
  g_autoptr (GString) text = g_string_new (NULL);
  for (unsigned i = 0; i < job->spec.nodes.n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", job->spec.nodes.item[i].v);
  return g_strdup (text->str);
}

static gboolean
run_alone (WrkScenario *scenario, WrkResult *result, GError **error)
{
  for (guint j = 0; j < scenario->jobs->len; j++) {
    WrkJob *job = scenario->jobs->pdata[j];
    job->view.settings = scenario->settings;
    job->view.settings.no_fold = scenario->settings.no_fold || job->view.kind == WRK_KIND_COLLECTIVE; /* jobs share links */
    job->view.seed = scenario->seed;
    job->view.kernels = scenario->kernels;
    job->view.overlap = scenario->overlap;
    job->view.memory = scenario->memory;
    job->view.storage = scenario->storage;
    WrkResult *alone = wrk_scenario_run (&job->view, FALSE, error);
    if (alone == NULL)
      return FALSE;
    WrkJobResult *out = g_new0 (WrkJobResult, 1);
    g_ptr_array_add (result->jobs, out);
    *out = (WrkJobResult){ .name = g_strdup (job->name), .nodes = nodes_text (job), .alone = alone };
    out->time_s = out->alone_s = wrk_result_time_s (alone);
    result->n_events += alone->n_events;
    for (guint i = 0; i < alone->warnings->len; i++)
      wrk_result_warn (result, "%s: %s", job->name, (const char *)alone->warnings->pdata[i]);
  }
  return TRUE;
}

gboolean
wrk_jobs_run (WrkScenario *scenario, WrkResult *result, gboolean want_spans, GError **error)
{
  result->jobs = g_ptr_array_new_with_free_func (job_result_free);
  if (scenario->settings.steps == WRK_STEPS_EXACT)
    return wrk_fail_at (error, BASE_MARK_NONE, "--steps exact of several jobs is not built yet; accepted: fluid");
  if (!run_alone (scenario, result, error))
    return FALSE;
  if (scenario->settings.mode == WRK_MODE_MODEL)
    wrk_result_warn (result, "mode model knows no contention: each job is answered as if it were alone; --mode event shares links");
  else if (!run_together (scenario, result, error))
    return FALSE;
  for (guint j = 0; want_spans && j < result->jobs->len; j++) {
    const WrkJobResult *job = result->jobs->pdata[j];
    WrkSpan *span = g_new (WrkSpan, 1);
    *span = (WrkSpan){ .lane = g_strdup (job->name), .name = g_strdup (job->nodes), .start_s = 0, .end_s = job->time_s };
    g_ptr_array_add (result->spans, span);
  }
  return TRUE;
}
