/* Communicators for measured points: what `validate` and `fit` predict with. */
#include <string.h>

#include "predict-private.h"

/* What a communicator is built for: points that agree share one. */
static gint
compare_groups (gconstpointer a, gconstpointer b)
{
  const CliMeasured *x = *(const CliMeasured *const *)a, *y = *(const CliMeasured *const *)b;
  const guint32 keys[][2] = { { x->system, y->system },
                              { x->nodes, y->nodes },
                              { x->gpus, y->gpus },
                              { x->max_channels, y->max_channels },
                              { x->iters, y->iters } };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return g_strcmp0 (x->nccl, y->nccl);
}

/* The line of `forerun coll` that asks for what was measured. Texts are owned by `keep`. */
static CliCollFlags
flags_of (const CliSystem *system, const CliMeasured *point, const CliPredict *how, GPtrArray *keep)
{
  CliCollFlags coll = { .mode = how->mode };
  gboolean is_path = strchr (system->topology.v, '/') != NULL || g_str_has_suffix (system->topology.v, ".yaml");
  coll.topology = is_path ? g_build_filename (how->folder, system->topology.v, NULL) : g_strdup (system->topology.v);
  coll.nodes = g_strdup_printf ("%u", point->nodes);
  coll.gpus = g_strdup_printf ("%u", point->gpus);
  gboolean plain = system->library.v == CLI_LIBRARY_PLAIN; /* knows no launches and no channels */
  coll.library = g_strdup (plain ? "plain" : "nccl");
  coll.launch = plain ? NULL : g_strdup (base_name (mdl_launch_names, system->launch.v));
  coll.calibration = g_strdup (how->calibration != NULL ? how->calibration : system->calibration.v);
  coll.max_channels = point->max_channels > 0 && !plain ? g_strdup_printf ("%u", point->max_channels) : NULL;
  coll.iters = point->iters > 0 ? g_strdup_printf ("%u", point->iters) : NULL;
  g_autoptr (GString) disabled = g_string_new (NULL);
  for (guint i = 0; i < system->disable.n; i++)
    g_string_append_printf (disabled, "%s%s", i > 0 ? "," : "", system->disable.item[i].v);
  coll.disable = disabled->len > 0 ? g_strdup (disabled->str) : NULL;
  char *const texts[] = { coll.library,     coll.topology,     coll.nodes,   coll.gpus, coll.launch,
                          coll.calibration, coll.max_channels, coll.disable, coll.iters };
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i] != NULL)
      g_ptr_array_add (keep, texts[i]);
  return coll;
}

/* The communicator of `first`, by the rules of the NCCL that was measured; where these are not known, by the calibration's. */
static gboolean
open_comm (Cli *cli, const CliSystem *system, const CliMeasured *first, const CliPredict *how, CliCollFlags *flags,
           CliQuestion *question, CliComm *comm, GError **error)
{
  g_autofree char *version = first->nccl != NULL ? g_strconcat ("version=", first->nccl, NULL) : NULL;
  char *variables[] = { version, NULL };
  flags->nccl = system->library.v != CLI_LIBRARY_PLAIN && version != NULL ? variables : NULL;
  for (;;) {
    g_autoptr (GError) cause = NULL;
    gboolean done = cli_question_parse (cli, flags, base_name (mdl_op_names, (int)first->op), question, &cause);
    question->settings.degrade.no_p2p = !system->p2p.v;
    question->settings.one_way = system->one_way.v;
    question->settings.terse = TRUE;
    question->links = how->links;
    if (done && cli_comm_open (cli, flags, question, first->nodes, comm, &cause))
      break;
    if (flags->nccl == NULL || strstr (cause->message, "--nccl") == NULL) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
    cli_comm_clear (comm);
    g_clear_pointer (&question->nodes, g_free);
    flags->nccl = NULL;
  }
  flags->nccl = NULL;
  return TRUE;
}

void
cli_group_free (CliGroup *group)
{
  col_coll_clear (&group->coll);
  cli_comm_clear (&group->comm);
  g_free (group);
}

static CliGroup *
open_group (Cli *cli, const CliPredict *how, const CliData *data, gpointer *members, guint n, GError **error)
{
  const CliMeasured *first = members[0];
  const CliSystem *system = BASE_LIST_AT (data->spec.systems, CliSystem, first->system);
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func (g_free);
  CliCollFlags flags = flags_of (system, first, how, keep);
  CliQuestion question = { 0 };
  CliGroup *group = g_new0 (CliGroup, 1);
  group->system = system;
  group->member = members;
  group->n = n;
  gboolean done = open_comm (cli, system, first, how, &flags, &question, &group->comm, error);
  g_free (question.nodes);
  if (done)
    return group;
  g_autofree char *mark = base_mark_prefix (system->name.mark);
  g_prefix_error (error, "%ssystem '%s': ", mark, system->name.v);
  cli_group_free (group);
  return NULL;
}

gboolean
cli_predict (Cli *cli, const CliPredict *how, const CliData *data, CliGroupFn visit, void *user, GError **error)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < data->points->len; i++)
    g_ptr_array_add (sorted, &g_array_index (data->points, CliMeasured, i));
  g_ptr_array_sort (sorted, compare_groups);
  for (guint i = 0, end; i < sorted->len; i = end) {
    for (end = i + 1; end < sorted->len && compare_groups (&sorted->pdata[i], &sorted->pdata[end]) == 0;)
      end++;
    CliGroup *group = open_group (cli, how, data, &sorted->pdata[i], end - i, error);
    if (group == NULL)
      return FALSE;
    gboolean kept = FALSE, done = visit (cli, group, user, &kept, error);
    group->member = kept ? NULL : group->member; /* the sorted list ends with this call */
    if (!kept)
      cli_group_free (group);
    if (!done)
      return FALSE;
  }
  return TRUE;
}
