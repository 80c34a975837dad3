/* Loading a scenario: the file, the sets laid over it, its cluster, its library, and the checks that need all of them. */
#include <stdarg.h>
#include <string.h>

#include "cluster/background.h"
#include "collective/gpu.h"
#include "jobs-private.h"
#include "models/library-spec.h"
#include "scenario/ranks.h"
#include "training/llm.h"

/* ---- sets ---- */

/* Sets the scenario's own keys and leaves those of the topology for later, when it is known which topology that is. */
static gboolean
apply_sets (Scn *scenario, const char *const *sets, GPtrArray *topology_sets, GError **error)
{
  for (; sets != NULL && *sets != NULL; sets++) {
    const char *equals = strchr (*sets, '=');
    if (equals == NULL || equals == *sets) {
      base_fail (error, BASE_ERROR_INPUT, "--set '%s': expected path.to.key=value (e.g. cluster.nodes=4)", *sets);
      return FALSE;
    }
    g_autofree char *path = g_strndup (*sets, (gsize)(equals - *sets));
    g_autofree char *label = g_strdup_printf ("--set %s", path);
    if (g_str_has_prefix (path, "topology."))
      g_ptr_array_add (topology_sets, g_strdup (*sets + strlen ("topology.")));
    else if (!base_yaml_set (scenario->yaml, path, equals + 1, label, error))
      return FALSE;
  }
  return TRUE;
}

/* `topology.x=v` goes to the topology: into this file where it is written inline, else to the topology's own loader, for which
 * the sets stay in the array. */
static gboolean
apply_topology_sets (Scn *scenario, GPtrArray *topology_sets, GError **error)
{
  const BaseYamlNode *cluster = base_yaml_get (base_yaml_root (scenario->yaml), "cluster");
  const BaseYamlNode *topology = cluster != NULL ? base_yaml_get (cluster, "topology") : NULL;
  if (topology == NULL || base_yaml_kind (topology) != BASE_YAML_MAP)
    return TRUE;
  for (guint i = 0; i < topology_sets->len; i++) {
    const char *set = topology_sets->pdata[i], *equals = strchr (set, '=');
    g_autofree char *path = g_strndup (set, (gsize)(equals - set));
    g_autofree char *full = g_strconcat ("cluster.topology.", path, NULL);
    g_autofree char *label = g_strdup_printf ("--set topology.%s", path);
    if (!base_yaml_set (scenario->yaml, full, equals + 1, label, error))
      return FALSE;
  }
  g_ptr_array_set_size (topology_sets, 0);
  return TRUE;
}

/* ---- reading ---- */

static void
take_degrade (Scn *scenario, const BaseSchemaContext *context)
{
  const BaseYamlNode *list = scenario->spec.degrade;
  ColSettings *settings = &scenario->system.settings;
  CluDegrade *degrade = &settings->degrade;
  if (list == NULL)
    return;
  if (base_yaml_kind (list) != BASE_YAML_SEQ) {
    base_diag_error (context->diag, base_yaml_mark (list), "'degrade' must be a list (e.g. [{rdma: off}, {nics: 1}])");
    return;
  }
  for (unsigned i = 0; i < base_yaml_n (list); i++) {
    ScnDegradeSpec item = { 0 };
    if (!base_schema_read (&scn_schema_degrade, base_yaml_item (list, i), FALSE, context, &item))
      continue;
    degrade->no_rdma |= !item.rdma.v || item.container.v == 1;
    degrade->no_gdr |= !item.gdr.v;
    degrade->no_p2p |= !item.p2p.v;
    degrade->host_only |= item.backend.v == 1;
    degrade->frontend |= item.network.v == 1;
    degrade->management |= item.network.v == 2;
    degrade->remote_numa |= item.numa.v == 1;
    settings->one_core |= item.affinity.v == 1;
    if (item.cores.set)
      settings->cores = (guint32)item.cores.v;
    if (item.nics.set) {
      degrade->max_nics = (guint32)item.nics.v;
      scenario->degrade_nics = item.nics.mark;
    }
  }
}

static void
take_report (Scn *scenario, const BaseSchemaContext *context)
{
  ScnReportSpec report = { 0 };
  if (scenario->spec.report == NULL || !base_schema_read (&scn_schema_report, scenario->spec.report, FALSE, context, &report))
    return;
  for (unsigned i = 0; i < report.plots.n; i++) {
    static const char *const known[] = { "breakdown", "timeline", "memory", "links", "goodput", "tornado", NULL };
    const BaseStr *plot = &report.plots.item[i];
    if (g_strv_contains (known, plot->v)) {
      g_ptr_array_add (scenario->plots, g_strdup (plot->v));
      continue;
    }
    g_autofree char *accepted = base_accepted (plot->v, known, NULL);
    base_diag_error (context->diag, plot->mark, "there is no plot '%s'%s", plot->v, accepted);
  }
  if (report.trace.v)
    base_diag_warn (context->diag, report.trace.mark, "'trace' has no effect: only flags name files to write (run --trace FILE)");
}

/* One workload, or several as jobs. */
static void
read_work (Scn *scenario, const BaseSchemaContext *context)
{
  const BaseYamlNode *workload = scenario->spec.workload, *jobs = scenario->spec.jobs;
  if (workload != NULL && jobs != NULL)
    base_diag_error (context->diag, base_yaml_mark (jobs), "a scenario has 'workload' or 'jobs', not both");
  else if (jobs != NULL)
    scn_jobs_read (scenario, context);
  else if (workload != NULL)
    scn_read_workload (scenario, workload, context);
  else if (scenario->spec.head.set)
    base_diag_error (context->diag, base_yaml_mark (base_yaml_root (scenario->yaml)),
                     "'workload' in 'scenario' is missing; it is a mapping with 'kind' (or 'jobs', a list of several)");
  if (scenario->spec.background != NULL)
    base_schema_read (&scn_schema_background, scenario->spec.background, FALSE, context, &scenario->background);
}

static gboolean
read_file (Scn *scenario, const BaseLookup *lookup, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  BaseSchemaContext context = { base_yaml_arena (scenario->yaml), diag, lookup, BASE_SOURCE_DATASHEET, scenario->inputs };
  base_schema_read (&scn_schema_scenario, base_yaml_root (scenario->yaml), FALSE, &context, &scenario->spec);
  read_work (scenario, &context);
  take_degrade (scenario, &context);
  if (scenario->spec.nccl != NULL)
    col_nccl_read (scenario->spec.nccl, &context, &scenario->system.settings);
  col_nccl_warn (&scenario->system.settings, context.diag);
  take_report (scenario, &context);
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    base_diag_warn (scenario->warnings, BASE_MARK_NONE, "%s", base_diag_warning (diag, i));
  return base_diag_finish (diag, error);
}

/* ---- the cluster and what fits on it ---- */

static gboolean
load_cluster (Scn *scenario, const BaseLookup *lookup, const ScnOptions *how, GPtrArray *topology_sets, GError **error)
{
  const ScnClusterSpec *cluster = &scenario->spec.cluster;
  CluLoadOptions options = { cluster->nodes.set ? (guint32)cluster->nodes.v : 0, scenario->seed, scenario->inputs,
                             how->switches_follow };
  g_ptr_array_add (topology_sets, NULL);
  const char *const *sets = (const char *const *)topology_sets->pdata;
  const char *from = base_yaml_path (scenario->yaml);
  if (base_yaml_kind (cluster->topology) == BASE_YAML_SCALAR) {
    g_autoptr (GError) why = NULL;
    scenario->system.clu = clu_load (base_yaml_text (cluster->topology), from, lookup, sets, &options, scenario->warnings, &why);
    if (scenario->system.clu == NULL) {
      /* an error inside the topology file has its own place; one about the name has this one */
      g_autofree char *prefix = base_mark_prefix (base_yaml_mark (cluster->topology));
      if (why->domain == BASE_ERROR && strchr (why->message, '\n') == NULL && strstr (why->message, ".yaml:") == NULL)
        g_prefix_error (&why, "%s", prefix);
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
  } else
    scenario->system.clu = clu_load_node (cluster->topology, scenario->yaml, lookup, &options, scenario->warnings, error);
  return scenario->system.clu != NULL;
}

static gboolean
list_gpus (Scn *scenario, GError **error)
{
  GArray *gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  scenario->system.gpus = gpus;
  const ScnClusterSpec *cluster = &scenario->spec.cluster;
  const Clu *clu = scenario->system.clu;
  guint32 first = 0;
  for (guint32 node = 0; node < clu_n_nodes (clu); node++) {
    guint32 n = clu_gpus_per_node (clu, node), used = n;
    if (cluster->gpus_per_node.set) {
      used = (guint32)cluster->gpus_per_node.v;
      if (used > n)
        return col_fail_at (error, cluster->gpus_per_node.mark, "gpus_per_node %u is more than the %u GPUs of node %u of '%s'",
                            used, n, node, clu_name (clu));
    }
    for (guint32 i = 0; i < used; i++) {
      guint32 gpu = first + i;
      g_array_append_val (gpus, gpu);
    }
    first += n;
  }
  return TRUE;
}

/* More NICs than any node has switch nothing off: whoever wrote that meant another cluster. */
static gboolean
check_nics (const Scn *scenario, GError **error)
{
  const Clu *clu = scenario->system.clu;
  guint32 most = 0, asked = scenario->system.settings.degrade.max_nics;
  for (guint32 node = 0; node < clu_n_nodes (clu); node++)
    most = MAX (most, clu_node_n (clu, node, CLU_DEV_NIC));
  if (asked > most)
    return col_fail_at (error, scenario->degrade_nics, "nics must be at most %u, found %u: no node of '%s' has more", most, asked,
                        clu_name (clu));
  return TRUE;
}

/* The plain library has no software for NCCL's version and variables to move; routes and lists of algorithms it has. */
static void
warn_plain (const Scn *scenario)
{
  const ColSettings *s = &scenario->system.settings;
  const MdlLibraryEnv *env = &s->env;
  gboolean counts = s->min_channels > 0 || s->max_channels > 0 || s->min_ctas > 0 || s->max_ctas > 0 || env->net_channels > 0;
  if (s->nccl_version != NULL || counts || env->buffer_B > 0.0 || env->threads > 0 || env->ll128_threads > 0 || env->sockets > 1)
    base_diag_warn (scenario->warnings, base_yaml_mark (scenario->spec.nccl),
                    "'nccl': version, channels, threads and buffers have no effect with 'library: plain', which knows no software");
}

/* Whether constants of storage can count. */
static gboolean
uses_storage (const Scn *scenario)
{
  const TrnSpec *training = &scenario->training.spec;
  return scenario->kind == SCN_KIND_IO || training->loader.head.set || training->checkpoint.tier.v != NULL;
}

static gboolean
check_one (Scn *scenario, GError **error)
{
  const ScnKindOps *ops = scn_kind_ops (scenario->kind);
  return ops->check == NULL || ops->check (scenario, error);
}

static gboolean
set_background (Scn *scenario, GError **error)
{
  const ScnBackgroundSpec *spec = &scenario->background;
  CluBackground taken;
  if (scenario->spec.background == NULL || spec->load.v <= 0)
    return TRUE;
  if (!clu_background_set (scenario->system.clu, spec->load.v, spec->seed.set ? (guint64)spec->seed.v : scenario->seed, &taken,
                           error))
    return FALSE;
  if (taken.n_links == 0) {
    base_diag_warn (scenario->warnings, spec->load.mark,
                    "'background' has no effect: '%s' has no links between switches that others could load",
                    clu_name (scenario->system.clu));
    return TRUE;
  }
  g_autofree char *fullest = clu_resource_name (scenario->system.clu, taken.fullest);
  base_diag_warn (scenario->warnings, BASE_MARK_NONE,
                  "background: others take %.3g %% of %u directions between switches in the mean, at most %.3g %% of %s",
                  taken.mean * 100, taken.n_links, taken.most * 100, fullest);
  return TRUE;
}

/* What links give less than they have. */
static gboolean
slow_links (Scn *scenario, GError **error)
{
  if (!set_background (scenario, error) || !trn_slow_nics (&scenario->training, error))
    return FALSE;
  return scenario->jobs == NULL || scn_jobs_slow_nics (scenario, error);
}

/* Known, of each workload that trains a model. */
static gboolean
check_software (const Scn *scenario, GError **error)
{
  if (scenario->jobs == NULL)
    return trn_check_software (&scenario->training, error);
  for (guint j = 0; j < scenario->jobs->len; j++) {
    ScnJob *job = scenario->jobs->pdata[j];
    job->view.system.software = scenario->system.software;
    if (!trn_check_software (&job->view.training, error))
      return FALSE;
  }
  return TRUE;
}

/* Constants are of one GPU type: where several compute together, the slowest sets the pace. */
static const char *
slowest_gpu (const Scn *scenario)
{
  const GArray *gpus = scenario->system.gpus;
  const guint32 node = col_gpu_slowest (scenario->system.clu, (const guint32 *)(const void *)gpus->data, gpus->len);
  return clu_gpu_spec (scenario->system.clu, gpus->len > 0 ? node : 0)->name.v;
}

static gboolean
load_rest (Scn *scenario, const BaseLookup *lookup, const ScnOptions *options, GPtrArray *topology_sets, ScnLibraryLoad load,
           void *user, GError **error)
{
  const ScnClusterSpec *cluster = &scenario->spec.cluster;
  scenario->training.any_cut = options->any_cut;
  if (!load_cluster (scenario, lookup, options, topology_sets, error) || !list_gpus (scenario, error) ||
      !check_nics (scenario, error) || !(scenario->jobs != NULL ? scn_jobs_place : check_one) (scenario, error))
    return FALSE;
  scenario->system.settings.seed = scenario->seed;
  col_nccl_settle (scenario->system.clu, &scenario->system.settings);
  scenario->system.settings.launch = (MdlLaunch)cluster->launch.v;
  scenario->system.settings.mode = options->has_mode ? options->mode : COL_MODE_EVENT;
  scenario->system.settings.no_fold = options->no_fold;
  scenario->training.want_terms = options->want_terms;
  scenario->system.settings.no_interference = options->no_interference;
  scenario->system.settings.steps = options->has_steps ? options->steps : COL_STEPS_FLUID;
  gboolean plain = cluster->library.v == 1, trains_model = scenario->training.spec.model.model != NULL ||
                                                           (scenario->jobs != NULL && scn_jobs_train_models (scenario));
  if (plain)
    warn_plain (scenario);
  if (plain && !trains_model && (!uses_storage (scenario) || load == NULL))
    return slow_links (scenario, error);
  const MdlLibraryQuery query = { .name = cluster->calibration.v,
                                  .from = base_yaml_path (scenario->yaml),
                                  .gpu_type = slowest_gpu (scenario),
                                  .nccl = scenario->system.settings.nccl_version,
                                  .inputs = scenario->inputs,
                                  .warnings = scenario->warnings };
  const MdlLibrary *library = load (user, &query, error);
  if (library == NULL) {
    col_nccl_tell_place (&scenario->system.settings, error);
    return FALSE;
  }
  scenario->system.kernels = library->kernels;
  scenario->system.overlap = library->overlap;
  scenario->system.memory = library->memory;
  scenario->system.software = library->software;
  scenario->system.storage = library->storage;
  scenario->system.engines = library->engines;
  if (!check_software (scenario, error))
    return FALSE;
  if (plain)
    return slow_links (scenario, error);
  return scn_library_lay (library, scenario->system.clu, &scenario->system.settings, &scenario->library, error) &&
         slow_links (scenario, error); /* numbers of resources change by the one before */
}

Scn *
scn_load (const char *path, const char *text, const BaseLookup *lookup, const ScnOptions *options, ScnLibraryLoad load, void *user,
          GError **error)
{
  BaseYaml *yaml = text == NULL ? base_yaml_load_file (path, error) : base_yaml_load_data (path, text, strlen (text), error);
  if (yaml == NULL)
    return NULL;
  g_autoptr (Scn) scenario = g_new0 (Scn, 1);
  scenario->plots = g_ptr_array_new_with_free_func (g_free);
  scenario->yaml = yaml;
  scenario->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  g_ptr_array_add (scenario->inputs, yaml);
  scenario->warnings = base_diag_new ();
  col_settings_default (&scenario->system.settings);
  g_autoptr (GPtrArray) topology_sets = g_ptr_array_new_with_free_func (g_free);
  if (!apply_sets (scenario, options->sets, topology_sets, error) || !apply_topology_sets (scenario, topology_sets, error) ||
      !read_file (scenario, lookup, error))
    return NULL;
  scenario->seed = options->has_seed ? options->seed : (guint64)scenario->spec.seed.v;
  scenario->training.system = &scenario->system;
  scenario->training.seed = scenario->seed;
  scenario->training.gpus_per_node = (guint32)scenario->spec.cluster.gpus_per_node.v;
  if (!load_rest (scenario, lookup, options, topology_sets, load, user, error))
    return NULL;
  return g_steal_pointer (&scenario);
}

void
scn_free (Scn *scenario)
{
  if (scenario == NULL)
    return;
  g_clear_pointer (&scenario->jobs, g_ptr_array_unref);
  g_clear_pointer (&scenario->plots, g_ptr_array_unref);
  g_clear_pointer (&scenario->system.clu, clu_free);
  g_free (scenario->library);
  g_clear_pointer (&scenario->warnings, base_diag_free);
  g_clear_pointer (&scenario->inputs, g_ptr_array_unref);
  g_clear_pointer (&scenario->system.gpus, g_array_unref);
  g_free (scenario);
}

const char *
scn_name (const Scn *scenario)
{
  return scenario->spec.name.v;
}

const GPtrArray *
scn_plots (const Scn *scenario)
{
  return scenario->plots;
}

const char *
scn_description (const Scn *scenario)
{
  return scenario->spec.description.v;
}

const Clu *
scn_cluster (const Scn *scenario)
{
  return scenario->system.clu;
}

const ColSettings *
scn_settings (const Scn *scenario)
{
  return &scenario->system.settings;
}

const TrnJob *
scn_training (const Scn *scenario)
{
  return scenario->kind == SCN_KIND_TRAINING && scenario->jobs == NULL ? &scenario->training : NULL;
}

guint64
scn_seed (const Scn *scenario)
{
  return scenario->seed;
}

const GPtrArray *
scn_inputs (const Scn *scenario)
{
  return scenario->inputs;
}

const BaseDiag *
scn_warnings (const Scn *scenario)
{
  return scenario->warnings;
}
