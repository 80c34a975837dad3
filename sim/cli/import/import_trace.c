/* forerun import of a profiler's trace, as a scenario of kind `program`. */
#include <string.h>

#include "base/file.h"
#include "cluster/cluster.h"
#include "import/import_trace-private.h"
#include "scenario/trace.h"

#define MAX_B     ((gsize)2 << 30)
#define MAX_NODES 1000000u
#define MAX_GPUS  1024u

typedef gboolean (*Read) (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error);

static const struct {
  const char *kind;
  Read read;
} traces[] = { { "kineto", scn_trace_read_kineto }, { "nsys", scn_trace_read_nsys } };

const char *
cli_import_trace_kind (guint i)
{
  return i < G_N_ELEMENTS (traces) ? traces[i].kind : NULL;
}

static Read
reader_of (const char *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (traces); i++)
    if (strcmp (traces[i].kind, kind) == 0)
      return traces[i].read;
  return NULL;
}

gboolean
cli_import_is_trace (const char *kind)
{
  return reader_of (kind) != NULL;
}

static gboolean
read_files (Cli *cli, const CliImportTrace *query, char **paths, ScnTrace *trace, GError **error)
{
  const Read read = reader_of (query->kind);
  for (char **path = paths; *path != NULL; path++) {
    const char *name = strcmp (*path, "-") == 0 ? "stdin" : *path;
    g_autofree char *bytes = NULL;
    gsize n_B;
    if (!base_file_read (*path, MAX_B, &bytes, &n_B, error) || !read (trace, name, bytes, n_B, error))
      return FALSE;
    if (strcmp (*path, "-") != 0)
      g_ptr_array_add (cli->read, g_strdup (*path));
    if (cli->format == CLI_FORMAT_JSON)
      rep_inputs_add (cli->inputs, name, NULL, bytes, n_B);
  }
  return TRUE;
}

/* Nodes and GPUs: as said, else as few as hold the GPUs of the trace. */
static gboolean
size_target (Cli *cli, const CliImportTrace *query, const Clu *clu, const ScnTrace *trace, ScnTraceTarget *target, GError **error)
{
  const guint world = scn_trace_world (trace);
  guint64 nodes = 0, gpus = 0;
  target->gpus_of_node = clu_gpus_per_node (clu, 0);
  if (target->gpus_of_node == 0)
    return cli_fail (cli, error, "--like %s: its nodes have no GPU", query->like);
  if (!cli_count_value (cli, "--nodes", query->nodes, 1, MAX_NODES, &nodes, error) ||
      !cli_count_value (cli, "--gpus", query->gpus, 1, MAX_GPUS, &gpus, error))
    return FALSE;
  if (gpus > target->gpus_of_node)
    return cli_fail (cli, error, "--gpus %" G_GUINT64_FORMAT " is more than the %u GPUs of a node of %s", gpus,
                     target->gpus_of_node, query->like);
  target->gpus_per_node = gpus > 0 ? (guint)gpus : MIN (world, target->gpus_of_node);
  target->nodes = nodes > 0 ? (guint)nodes : (world + target->gpus_per_node - 1) / target->gpus_per_node;
  if (nodes == 0 && gpus == 0 && world % target->gpus_per_node != 0)
    return cli_fail (cli, error, "the trace's %u GPUs do not fill nodes of %u: say --nodes and --gpus", world,
                     target->gpus_per_node);
  return TRUE;
}

static void
print_json (Cli *cli, const CliImportTrace *query, const ScnTrace *trace, const char *yaml)
{
  g_autoptr (GArray) all = scn_trace_summaries (trace);
  JsonBuilder *json = cli_json_open (cli);
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "scenario");
  json_builder_add_string_value (json, query->name);
  json_builder_set_member_name (json, "step");
  json_builder_add_int_value (json, scn_trace_step (trace));
  json_builder_set_member_name (json, "ranks");
  json_builder_begin_array (json);
  for (guint i = 0; i < all->len; i++) {
    const ScnTraceSummary *one = &g_array_index (all, ScnTraceSummary, i);
    const struct {
      const char *name;
      double value;
    } fields[] = { { "step_s", one->step_s },
                   { "compute_s", one->compute_s },
                   { "communication_s", one->communication_s },
                   { "exposed_communication_s", one->exposed_s },
                   { "idle_s", one->idle_s } };
    json_builder_begin_object (json);
    json_builder_set_member_name (json, "rank");
    json_builder_add_int_value (json, one->rank);
    for (guint f = 0; f < G_N_ELEMENTS (fields); f++) {
      json_builder_set_member_name (json, fields[f].name);
      json_builder_add_double_value (json, fields[f].value);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "yaml");
  json_builder_add_string_value (json, yaml);
  json_builder_end_object (json);
  cli_json_close (cli, json);
}

/* Times by shape, as forerun-probe would write them. */
static gboolean
import_kernels (Cli *cli, const CliImportTrace *query, char **paths, GError **error)
{
  guint64 step = 0;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (ScnTraceKernels) kernels = scn_trace_kernels_new ();
  if (!cli_count_value (cli, "--step", query->step, 0, G_MAXINT64, &step, error))
    return FALSE;
  for (char **path = paths; *path != NULL; path++) {
    const char *name = strcmp (*path, "-") == 0 ? "stdin" : *path;
    g_autofree char *bytes = NULL;
    gsize n_B;
    if (!base_file_read (*path, MAX_B, &bytes, &n_B, error) ||
        !scn_trace_kernels_add (kernels, name, bytes, n_B, query->step != NULL ? (gint64)step : -1, warnings, error))
      return FALSE;
    if (strcmp (*path, "-") != 0)
      g_ptr_array_add (cli->read, g_strdup (*path));
  }
  g_autofree char *text = scn_trace_kernels_write (kernels, error);
  cli_warn_all (cli, warnings);
  if (text == NULL)
    return FALSE;
  g_string_append (cli->out, text);
  cli->document = TRUE;
  return TRUE;
}

gboolean
cli_import_trace (Cli *cli, const CliImportTrace *query, char **paths, GError **error)
{
  if (query->kernels)
    return import_kernels (cli, query, paths, error);
  guint64 step = 0, ranks = 0;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  ScnTraceTarget target = { .name = query->name, .topology = query->like };
  if (!cli_count_value (cli, "--step", query->step, 0, G_MAXINT64, &step, error) ||
      !cli_count_value (cli, "--ranks", query->ranks, 1, MAX_NODES, &ranks, error))
    return FALSE;
  if (ranks == 0 && strcmp (query->kind, "nsys") == 0)
    return cli_fail (cli, error, "Nsight Systems does not say how many ranks ran: --ranks N");
  const ScnTraceOptions options = { .ranks = (guint)ranks, .keep_unsized = query->keep_nccl };
  g_autoptr (ScnTrace) trace = scn_trace_new (&options, warnings);
  g_autoptr (Clu) clu = cli_cluster_load (cli, query->like, 0, error);
  if (clu == NULL || !read_files (cli, query, paths, trace, error) ||
      !scn_trace_take_step (trace, query->step != NULL ? (gint64)step : -1, error) ||
      !size_target (cli, query, clu, trace, &target, error))
    return FALSE;
  g_autofree char *yaml = scn_trace_write (trace, &target, error);
  cli_warn_all (cli, warnings);
  if (yaml == NULL)
    return FALSE;
  if (cli->format == CLI_FORMAT_JSON)
    print_json (cli, query, trace, yaml);
  else {
    g_string_append (cli->out, yaml);
    cli->document = TRUE;
  }
  return TRUE;
}
