/* Measurements of one machine from files, whatever wrote them. */
#include <string.h>

#include "base/file.h"
#include "calibrate/rows.h"
#include "measured/measured-private.h"

#define MAX_FILE_B ((gsize)1 << 30)

/* What a file is. */
typedef struct {
  const CalProbe *probe; /* with points of collectives too; NULL: none */
  char *csv;             /* rows of collectives, full; NULL: none */
  gsize csv_B;
  gboolean is_csv; /* its own bytes are such rows */
} Source;

static void
source_clear (gpointer source)
{
  g_free (((Source *)source)->csv);
}

/* ---- the one machine ---- */

/* The systems are ways of launching on it; the first is that of rows that name none. */
static void
describe (const char *const *paths, const CalFilesQuery *query, guint32 disabled_algos, CalData *data)
{
  CalMeasurements *spec = &data->spec;
  guint n_files = g_strv_length ((char **)(gpointer)paths);
  CalSystem *systems = base_arena_alloc_n (data->arena, MDL_LAUNCH_N, sizeof *systems);
  CalMeasuredFile *files = base_arena_alloc_n (data->arena, MAX (n_files, 1), sizeof *files);
  for (guint i = 0, n = 1; i < MDL_LAUNCH_N; i++) {
    guint at = i == query->launch ? 0 : n++;
    systems[at] = (CalSystem){ .name = { .v = base_name (mdl_launch_names, (int)i) },
                               .topology = { .v = base_arena_strdup (data->arena, query->topology) },
                               .launch = { .v = (int)i },
                               .library = { .v = CAL_LIBRARY_NCCL },
                               .p2p = { .v = TRUE },
                               .disabled_algos = disabled_algos,
                               .disabled_protos = query->disabled_protos };
  }
  for (guint i = 0; i < n_files; i++)
    files[i] = (CalMeasuredFile){ .path = { .v = base_arena_strdup (data->arena, paths[i]) },
                                  .op = { .v = query->op, .set = query->op >= 0 } };
  spec->name = (BaseStr){ .v = "files" };
  spec->systems = (BaseList){ .n = MDL_LAUNCH_N, .item = systems, .size = sizeof *systems };
  spec->files = (BaseList){ .n = n_files, .item = files, .size = sizeof *files };
}

/* ---- files ---- */

static gboolean
keep_probe (CalData *data, CalProbe *probe)
{
  if (probe != NULL)
    g_ptr_array_add (data->probes, probe);
  return probe != NULL;
}

static gboolean
refuse (const char *path, GError **error)
{
  return base_fail_at (
      error, (BaseMark){ .file = path },
      "nothing that is known wrote this; accepted: forerun-probe's .json, CSV of collectives (.csv) or of copies or "
      "storage as forerun import writes it, and what nccl-tests, all_reduce_bench.py, nvbandwidth, p2pBandwidthLatencyTest, fio "
      "(--output-format=json) and gdsio print");
}

/* What a tool printed, as the CSV that `forerun import` would write. */
static gboolean
import (const CalText *text, CalTool tool, int op, CalData *data, Source *source, GError **error)
{
  CalFileInfo told = CAL_FILE_INFO_NONE;
  told.op = tool == CAL_TOOL_NCCL_TESTS ? op : -1;
  if (tool == CAL_TOOL_PERFTEST || tool == CAL_TOOL_OSU)
    return base_fail_at (
        error, (BaseMark){ .file = text->path },
        "measured between pairs, or by MPI: forerun fit --pairs finds slow parts in it; forerun import osu --nodes N "
        "--gpus G makes CSV of OSU's collectives");
  g_autofree char *csv = cal_import_tool (tool, text, &told, error);
  if (csv == NULL)
    return FALSE;
  if (tool == CAL_TOOL_NCCL_TESTS || tool == CAL_TOOL_TORCH_BENCH) {
    source->csv_B = strlen (csv);
    source->csv = g_steal_pointer (&csv);
    return TRUE;
  }
  g_autofree char *label = g_strconcat (text->path, " as CSV", NULL); /* lines are not the file's */
  CalText rows = { .path = label, .bytes = csv, .n_B = strlen (csv), .warnings = text->warnings };
  return keep_probe (data, cal_rows_probe (&rows, error));
}

static gboolean
open_text (const CalText *text, int op, CalData *data, Source *source, GError **error)
{
  const char *path = text->path;
  CalTool tool = cal_tool_of (text);
  if (cal_rows_kind (text) != CAL_ROWS_NONE)
    return keep_probe (data, cal_rows_probe (text, error));
  if (g_str_has_suffix (path, ".csv")) {
    source->is_csv = TRUE; /* of collectives, read once the systems are known */
    return TRUE;
  }
  gboolean json = cal_is_probe (path) || text->bytes[strspn (text->bytes, " \t\r\n")] == '{';
  /* what is packed is a probe's */
  if (g_str_has_suffix (path, ".gz") || (json && g_strstr_len (text->bytes, (gssize)text->n_B, "\"schema\"") != NULL)) {
    CalProbe *probe = cal_probe_parse (path, text->bytes, text->n_B, error);
    source->probe = probe;
    return keep_probe (data, probe);
  }
  return tool != CAL_TOOL_NONE ? import (text, tool, op, data, source, error) : refuse (path, error);
}

static gboolean
open_source (const CalHost *host, const char *path, int op, CalData *data, Source *source, GError **error)
{
  gsize n_B = 0;
  char *bytes = host->read (host->user, path, MAX_FILE_B, &n_B, error);
  if (bytes == NULL)
    return FALSE;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  const CalText text = { .path = path, .bytes = bytes, .n_B = n_B, .warnings = warnings };
  gboolean good = open_text (&text, op, data, source, error);
  cal_host_warn (host, warnings);
  if (source->is_csv) {
    source->csv = bytes;
    source->csv_B = n_B;
  } else
    g_free (bytes);
  return good;
}

/* NCCL_NVLS_ENABLE=0 */
static gboolean
has_no_nvls (const CalProbe *probe)
{
  return g_strcmp0 (base_json_text (base_json_object (cal_probe_root (probe), "environment"), "NCCL_NVLS_ENABLE"), "0") == 0;
}

CalData *
cal_data_load_files (const CalHost *host, const char *const *paths, const CalFilesQuery *query, GError **error)
{
  g_autoptr (CalData) data = cal_data_new ();
  g_autoptr (GArray) sources = g_array_new (FALSE, TRUE, sizeof (Source));
  g_array_set_clear_func (sources, source_clear);
  guint32 algos = query->disabled_algos;
  for (guint i = 0; paths[i] != NULL; i++) {
    g_array_set_size (sources, i + 1);
    Source *source = &g_array_index (sources, Source, i);
    if (!open_source (host, paths[i], query->op, data, source, error))
      return NULL;
    algos |= source->probe != NULL && has_no_nvls (source->probe) ? 1u << MDL_ALGO_NVLS : 0;
  }
  describe (paths, query, algos, data);
  if (!cal_data_load_margins (host, base_file_is_file ("margins.yaml") ? "./margins.yaml" : NULL, data, error))
    return NULL;
  for (guint i = 0; i < sources->len; i++) {
    const Source *source = &g_array_index (sources, Source, i);
    const CalMeasuredFile *file = BASE_LIST_AT (data->spec.files, CalMeasuredFile, i);
    g_autofree char *label = source->is_csv ? g_strdup (paths[i]) : g_strconcat (paths[i], " as CSV", NULL); /* lines of rows */
    if ((source->probe != NULL && !cal_data_add_probe (host, source->probe, NULL, data, error)) ||
        (source->csv != NULL && !cal_data_add_text (label, source->csv, source->csv_B, FALSE, file, data, error)))
      return NULL;
  }
  return g_steal_pointer (&data);
}
