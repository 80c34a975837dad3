/* Communicators for measured points. */
#include "calibrate/predict.h"

#include <string.h>

#define NCCL_TESTS_ITERS 20 /* NVIDIA/nccl-tests src/common.cu, -n */

/* ---- constants ---- */

struct CalPredictor {
  const CalHost *host;
  GPtrArray *constants; /* Cst * */
  char *asked;          /* what the last of them was asked for by: measurements of a system follow each other */
};

CalPredictor *
cal_predictor_new (const CalHost *host)
{
  CalPredictor *predictor = g_new0 (CalPredictor, 1);
  predictor->host = host;
  predictor->constants = g_ptr_array_new_with_free_func ((GDestroyNotify)cst_free);
  return predictor;
}

void
cal_predictor_free (CalPredictor *predictor)
{
  if (predictor == NULL)
    return;
  g_ptr_array_unref (predictor->constants);
  g_free (predictor->asked);
  g_free (predictor);
}

const GPtrArray *
cal_predictor_loaded (const CalPredictor *predictor)
{
  return predictor->constants;
}

const Cst *
cal_predictor_constants (CalPredictor *predictor, const char *calibration, const char *gpu_type, const char *nccl, GError **error)
{
  const CalHost *host = predictor->host;
  g_autofree char *asked = g_strdup_printf ("%s\n%s\n%s", calibration != NULL ? calibration : "", gpu_type != NULL ? gpu_type : "",
                                            nccl != NULL ? nccl : "");
  if (g_strcmp0 (asked, predictor->asked) == 0)
    return g_ptr_array_index (predictor->constants, predictor->constants->len - 1);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GPtrArray) read = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  Cst *constants = cst_load (&(CstQuery){ .name = calibration,
                                          .gpu_type = gpu_type,
                                          .nccl = nccl,
                                          .nccl_if_known = TRUE,
                                          .lookup = host->lookup,
                                          .inputs = read,
                                          .warnings = warnings },
                             error);
  cal_host_warn (host, warnings);
  if (constants == NULL)
    return NULL;
  host->documents (host->user, read);
  g_ptr_array_add (predictor->constants, constants);
  g_free (predictor->asked);
  predictor->asked = g_steal_pointer (&asked);
  return constants;
}

/* ---- groups ---- */

/* What a communicator is built for: points that agree share one. */
static gint
compare_groups (gconstpointer a, gconstpointer b)
{
  const CalMeasured *x = *(const CalMeasured *const *)a, *y = *(const CalMeasured *const *)b;
  const guint32 keys[][2] = { { x->system, y->system },     { x->nodes, y->nodes },
                              { x->gpus, y->gpus },         { x->max_channels, y->max_channels },
                              { x->min_ctas, y->min_ctas }, { x->iters, y->iters } };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return g_strcmp0 (x->nccl, y->nccl);
}

/* The plain library knows no launches and no channels. */
static void
set_software (CalGroup *group, const CalMeasured *point, ColMode mode, guint64 seed)
{
  const CalSystem *system = group->system;
  ColSettings *settings = &group->settings;
  col_settings_default (settings);
  settings->seed = seed;
  settings->mode = mode;
  settings->in_a_row = point->iters > 0 ? point->iters : NCCL_TESTS_ITERS;
  settings->disabled_algos = system->disabled_algos;
  settings->disabled_protos = system->disabled_protos;
  settings->degrade.no_p2p = !system->p2p.v;
  settings->one_way = system->one_way.v;
  settings->one_shot = system->one_shot.v;
  settings->buffers = (MdlBuffers)system->buffers.v;
  settings->terse = TRUE;
  if (system->library.v == CAL_LIBRARY_PLAIN)
    return;
  settings->launch = (MdlLaunch)system->launch.v;
  settings->max_channels = point->max_channels;
  settings->min_ctas = point->min_ctas;
}

/* On the machine as its file says, and on a larger one only where the file's has too few nodes. */
static gboolean
open_cluster (const CalHost *host, const CalPredict *how, guint32 nodes, CalGroup *group, GError **error)
{
  const char *name = group->system->topology.v;
  gboolean beside = !g_path_is_absolute (name) && (strchr (name, '/') != NULL || g_str_has_suffix (name, ".yaml"));
  g_autofree char *topology = beside ? g_build_filename (how->folder, name, NULL) : g_strdup (name);
  group->clu = host->cluster (host->user, topology, 0, error);
  if (group->clu != NULL && nodes > clu_n_nodes (group->clu)) {
    clu_free (group->clu);
    group->clu = host->cluster (host->user, topology, nodes, error);
  }
  group->n_nodes = nodes;
  return group->clu != NULL;
}

/* The first GPUs of each node. Returned: full, of guint32; NULL and *error. */
static GArray *
list_ranks (const CalGroup *group, const CalMeasured *row, GError **error)
{
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 first = 0, gpus = row->gpus;
  for (guint32 node = 0; node < group->n_nodes; node++) {
    guint32 has = clu_gpus_per_node (group->clu, node);
    if (gpus > has) {
      base_fail_at (error, row->at, "%u GPUs of a node were measured; node %u of %s has %u; gpus counts those of one node", gpus,
                    node, clu_name (group->clu), has);
      return NULL;
    }
    for (guint32 gpu = first; gpu < first + gpus; gpu++)
      g_array_append_val (ranks, gpu);
    first += has;
  }
  return g_steal_pointer (&ranks);
}

/* By the rules of the NCCL that was measured; where these are not known, by the calibration's. */
static gboolean
take_constants (CalPredictor *predictor, const CalPredict *how, const char *nccl, CalGroup *group, GError **error)
{
  const CluGpuSpec *gpu = clu_gpu_spec (group->clu, 0);
  const char *calibration = how->calibration != NULL ? how->calibration : group->system->calibration.v;
  const Cst *constants = cal_predictor_constants (predictor, calibration, gpu != NULL ? gpu->name.v : NULL, nccl, error);
  if (constants == NULL)
    return FALSE;
  group->library = col_nccl_library (group->clu, cst_library (constants), &group->settings);
  const struct MdlLinks *links = how->links != NULL ? how->links : mdl_library_links (group->library);
  return links == NULL || clu_links_set (group->clu, links, error);
}

static gboolean
open_comm (CalPredictor *predictor, const CalPredict *how, const CalMeasured *first, CalGroup *group, GError **error)
{
  set_software (group, first, how->mode, predictor->host->seed);
  if (!open_cluster (predictor->host, how, first->nodes, group, error))
    return FALSE;
  g_autoptr (GArray) ranks = list_ranks (group, first, error);
  if (ranks == NULL ||
      (group->system->library.v != CAL_LIBRARY_PLAIN && !take_constants (predictor, how, first->nccl, group, error)))
    return FALSE;
  group->n_ranks = ranks->len;
  group->ranks = g_memdup2 (ranks->data, ranks->len * sizeof (guint32));
  group->comm = col_comm_new (group->clu, &group->settings, group->ranks, group->n_ranks, error);
  return group->comm != NULL;
}

void
cal_group_free (CalGroup *group)
{
  col_coll_clear (&group->coll);
  g_clear_pointer (&group->comm, col_comm_free);
  g_clear_pointer (&group->library, g_free);
  g_clear_pointer (&group->clu, clu_free);
  g_free (group->ranks);
  g_free (group);
}

gboolean
cal_group_lay (CalGroup *group, const struct MdlLinks *links)
{
  col_coll_clear (&group->coll);
  g_clear_pointer (&group->comm, col_comm_free);
  group->comm = clu_links_set (group->clu, links, NULL)
                    ? col_comm_new (group->clu, &group->settings, group->ranks, group->n_ranks, NULL)
                    : NULL;
  return group->comm != NULL;
}

static CalGroup *
open_group (CalPredictor *predictor, const CalPredict *how, const CalData *data, gpointer *members, guint n, GError **error)
{
  const CalMeasured *first = members[0];
  CalGroup *group = g_new0 (CalGroup, 1);
  group->system = cal_data_system (data, first->system);
  group->member = members;
  group->n = n;
  if (open_comm (predictor, how, first, group, error))
    return group;
  g_autofree char *mark = base_mark_prefix (group->system->name.mark), *row = base_mark_prefix (first->at);
  if (*row == '\0' || error == NULL || !g_str_has_prefix ((*error)->message, row)) /* the row's own place says more */
    g_prefix_error (error, "%ssystem '%s': ", mark, group->system->name.v);
  cal_group_free (group);
  return NULL;
}

gboolean
cal_predict (CalPredictor *predictor, const CalPredict *how, const CalData *data, CalGroupFn visit, void *user, GError **error)
{
  const GArray *points = how->points != NULL ? how->points : data->points;
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < points->len; i++)
    g_ptr_array_add (sorted, &g_array_index (points, CalMeasured, i));
  g_ptr_array_sort (sorted, compare_groups);
  for (guint i = 0, end; i < sorted->len; i = end) {
    for (end = i + 1; end < sorted->len && compare_groups (&sorted->pdata[i], &sorted->pdata[end]) == 0;)
      end++;
    CalGroup *group = open_group (predictor, how, data, &sorted->pdata[i], end - i, error);
    if (group == NULL)
      return FALSE;
    gboolean kept = FALSE, done = visit (group, user, &kept, error);
    group->member = kept ? NULL : group->member; /* the sorted list ends with this call */
    if (!kept)
      cal_group_free (group);
    if (!done)
      return FALSE;
  }
  return TRUE;
}

gboolean
cal_group_price (CalGroup *group, const CalMeasured *point, gboolean *possible, char **why, GError **error)
{
  const ColCollRequest request = {
    .op = point->op, .size_B = point->size_B, .dtype = point->dtype, .algo = point->algo, .proto = point->proto
  };
  g_autoptr (GError) cause = NULL;
  *possible = col_coll_price (group->comm, &request, &group->coll, &cause);
  if (*possible)
    return TRUE;
  if (!g_error_matches (cause, BASE_ERROR, (gint)BASE_ERROR_INPUT)) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  *why = g_strdup (cause->message);
  return TRUE;
}
