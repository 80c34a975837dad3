/* The keys of systems.yaml and margins.yaml, and how a folder of measurements is loaded. */
#include <string.h>

#include "base/yaml.h"
#include "calibrate/rows.h"
#include "measured-private.h"
#include "report/validate.h"

#define SYSTEMS_FILE "systems.yaml"
#define MARGINS_FILE "margins.yaml"

#define STR(key_, type, member, help_)          BASE_ROW (type, key_, member, STR, .help = help_)
#define NEEDED(key_, type, member, help_)       BASE_ROW (type, key_, member, STR, .required = TRUE, .help = help_)
#define ENUM(key_, type, member, names_, help_) BASE_ROW (type, key_, member, ENUM, .names = names_, .help = help_)

static const BaseName library_names[] = { { "nccl", CLI_LIBRARY_NCCL, "what the vendor ships" },
                                          { "plain", CLI_LIBRARY_PLAIN, "alpha and beta of the links alone" },
                                          { NULL, 0, NULL } };

static const BaseField system_fields[] = {
  NEEDED ("name", CliSystem, name, "as the scoreboard says it"),
  NEEDED ("topology", CliSystem, topology, "the machine: a shipped name, or a file beside this one"),
  STR ("calibration", CliSystem, calibration, "default: the one named like the GPU"),
  BASE_ROW (CliSystem, "launch", launch, ENUM, .names = mdl_launch_names, .fallback = "threads",
            .help = "how operations reached the GPUs; rows whose `launch` column says otherwise are not its own"),
  BASE_ROW (CliSystem, "disable", disable, STRS, .help = "algorithms and protocols that were switched off"),
  BASE_ROW (CliSystem, "library", library, ENUM, .names = library_names, .fallback = "nccl",
            .help = "plain: hold the textbook algorithms against it"),
  BASE_ROW (CliSystem, "p2p", p2p, BOOL, .fallback = "on",
            .help = "off: GPUs did not reach each other directly (NCCL_P2P_DISABLE)"),
  BASE_ROW (CliSystem, "one_way", one_way, BOOL, .fallback = "no",
            .help = "in its sendrecv one rank sent and the other received; nccl-tests' ranks do both"),
  STR ("source", CliSystem, source, "rows of a CSV file whose `source` column says this"),
  STR ("gpu", CliSystem, gpu, "rows of a CSV file whose `gpu` column says this"),
  STR ("note", CliSystem, note, "what this rests on"),
  BASE_ROW_END,
};
static const BaseSchema system_schema = { .name = "systems", .help = "A machine that was measured.", .fields = system_fields };

static const BaseField section_fields[] = {
  NEEDED ("title", CliSection, title, "what stands after '## ', or in the column `setting`"),
  BASE_ROW (CliSection, "systems", systems, STRS, .help = "in place of the file's"),
  ENUM ("algo", CliSection, algo, mdl_algo_names, "NCCL_ALGO; default: the library's choice; sends have none"),
  ENUM ("proto", CliSection, proto, mdl_proto_names, "NCCL_PROTO; default: the library's choice; it holds for no send"),
  BASE_ROW_NUM (CliSection, "nodes", nodes, COUNT, .min = "1", .max = "1000000", .fallback = "1",
                .help = "nodes, where no column says"),
  BASE_ROW_NUM (CliSection, "gpus", gpus, COUNT, .min = "1", .max = "1024", .help = "GPUs of a node, where no column says"),
  BASE_ROW_NUM (CliSection, "max_channels", max_channels, COUNT, .min = "1", .max = "1024", .help = "as NCCL_MAX_NCHANNELS was"),
  BASE_ROW_END,
};
static const BaseSchema section_schema = { .name = "files.sections", .help = "A part of a file.", .fields = section_fields };

static const BaseField file_fields[] = {
  NEEDED ("path", CliMeasuredFile, path, "below the folder; .csv, or nccl-tests' output"),
  BASE_ROW (CliMeasuredFile, "systems", systems, STRS,
            .help = "which of the systems it is of: the first that fits a row; default: all"),
  ENUM ("op", CliMeasuredFile, op, mdl_op_names, "operation, where no column says"),
  BASE_ROW (CliMeasuredFile, "sections", sections, LIST, .sub = &section_schema, .item_size = sizeof (CliSection),
            .help = "parts that count; nccl-tests' output: all of it is one part if there is one only"),
  BASE_ROW_END,
};
static const BaseSchema file_schema = { .name = "files", .help = "A file of measurements.", .fields = file_fields };

static const BaseField measurements_fields[] = {
  NEEDED ("measurements", CliMeasurements, name, "name of the collection"),
  BASE_ROW (CliMeasurements, "systems", systems, LIST, .sub = &system_schema, .item_size = sizeof (CliSystem),
            .help = "machines that were measured", .required = TRUE),
  BASE_ROW (CliMeasurements, "files", files, LIST, .sub = &file_schema, .item_size = sizeof (CliMeasuredFile),
            .help = "what was measured", .required = TRUE),
  BASE_ROW_END,
};
const BaseSchema cli_schema_measurements = { .name = "systems.yaml",
                                             .help = "Which file was measured on which machine, and how.",
                                             .fields = measurements_fields };

static const BaseField limit_fields[] = {
  BASE_ROW (CliLimit, "systems", systems, STRS, .help = "names of systems"),
  BASE_ROW_NUM (CliLimit, "nodes", nodes, COUNT, .help = "number of nodes"),
  ENUM ("op", CliLimit, op, mdl_op_names, "operation"),
  ENUM ("algo", CliLimit, algo, mdl_algo_names, "algorithm as measured"),
  ENUM ("proto", CliLimit, proto, mdl_proto_names, "protocol as measured"),
  ENUM ("band", CliLimit, band, mdl_size_names, "size band"),
  BASE_ROW_NUM (CliLimit, "median", median, RATIO, .help = "the median error may be as large as this"),
  BASE_ROW_NUM (CliLimit, "p95", p95, RATIO, .help = "the 95th percentile of the errors may be as large as this"),
  STR ("note", CliLimit, note, "why it is not tighter"),
  BASE_ROW_END,
};
static const BaseSchema limit_schema = { .name = "limits", .help = "What it does not name it holds for.", .fields = limit_fields };

static const BaseField margins_fields[] = {
  NEEDED ("margins", CliMargins, name, "name of the set"),
  BASE_ROW_NUM (CliMargins, "small_to", small_to, BYTES, .fallback = "64 KiB", .help = "smaller sizes are the band `small`"),
  BASE_ROW_NUM (CliMargins, "middle_to", middle_to, BYTES, .fallback = "16 MiB",
                .help = "smaller sizes are the band `middle`, others `large`"),
  BASE_ROW (CliMargins, "limits", limits, LIST, .sub = &limit_schema, .item_size = sizeof (CliLimit),
            .help = "the first that fits a row of the scoreboard counts"),
  BASE_ROW_END,
};
const BaseSchema cli_schema_margins = { .name = "margins.yaml",
                                        .help = "How far off a prediction may be.",
                                        .fields = margins_fields };

/* Reads a document by `schema`; takes it: it stays with cli, since leaves point into it. */
static gboolean
read_document (Cli *cli, BaseYaml *yaml, const BaseSchema *schema, BaseSource source, void *out, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = source };
  base_schema_read (schema, base_yaml_root (yaml), FALSE, &context, out);
  cli_warn_all (cli, diag);
  return base_diag_finish (diag, error);
}

static gboolean
read_yaml (Cli *cli, const char *path, const BaseSchema *schema, BaseSource source, void *out, GError **error)
{
  BaseYaml *yaml = base_yaml_load_file (path, error);
  if (yaml == NULL)
    return FALSE;
  g_ptr_array_add (cli->yamls, yaml);
  cli_take_inputs (cli, cli->yamls);
  return read_document (cli, yaml, schema, source, out, error);
}

static gboolean
load_margins (Cli *cli, const char *folder, const char *margins, CliData *data, GError **error)
{
  g_autofree char *beside = g_build_filename (folder, MARGINS_FILE, NULL);
  if (margins != NULL || g_file_test (beside, G_FILE_TEST_EXISTS))
    return read_yaml (cli, margins != NULL ? margins : beside, &cli_schema_margins, BASE_SOURCE_ASSUMED, &data->margins, error);
  /* the bands are needed all the same */
  g_autoptr (BaseYaml) none = base_yaml_load_data ("no margins", "margins: none", strlen ("margins: none"), error);
  if (none == NULL)
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (none), .diag = diag, .source = BASE_SOURCE_ASSUMED };
  base_schema_read (&cli_schema_margins, base_yaml_root (none), FALSE, &context, &data->margins);
  data->margins.name = (BaseStr){ 0 };
  return base_diag_finish (diag, error);
}

gboolean
cli_data_load (Cli *cli, const char *folder, const char *margins, CliData *data, GError **error)
{
  data->points = g_array_new (FALSE, FALSE, sizeof (CliMeasured));
  g_autofree char *path = g_build_filename (folder, SYSTEMS_FILE, NULL);
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return cli_fail (cli, error, "%s is no folder; one with %s and the files that it names is accepted", folder, SYSTEMS_FILE);
  if (!read_yaml (cli, path, &cli_schema_measurements, BASE_SOURCE_MEASURED, &data->spec, error) ||
      !load_margins (cli, folder, margins, data, error))
    return FALSE;
  for (guint i = 0; i < data->spec.files.n; i++) {
    const CliMeasuredFile *file = BASE_LIST_AT (data->spec.files, CliMeasuredFile, i);
    g_autofree char *at = g_build_filename (folder, file->path.v, NULL);
    if (!cli_measured_read (cli, at, file, data, error))
      return FALSE;
  }
  return TRUE;
}

static void
free_probe (gpointer probe)
{
  cal_probe_free (probe);
}

/* 'text' as YAML reads it back. */
static void
append_quoted (GString *out, const char *text)
{
  g_string_append_c (out, '\'');
  for (const char *c = text; *c != '\0'; c++)
    g_string_append_printf (out, *c == '\'' ? "''" : "%c", *c);
  g_string_append_c (out, '\'');
}

/* The systems.yaml that would say what flags say: one machine by three launches, of which the first is that of rows that name
 * none. */
static char *
describe_files (char *const *paths, const CliFilesFlags *flags, const char *disable)
{
  GString *out = g_string_new ("measurements: files\nsystems:\n");
  int order[MDL_LAUNCH_N] = { flags->launch };
  for (int launch = 0, n = 1; launch < MDL_LAUNCH_N; launch++)
    if (launch != flags->launch)
      order[n++] = launch;
  for (int i = 0; i < MDL_LAUNCH_N; i++) {
    const char *launch = base_name (mdl_launch_names, order[i]);
    g_string_append_printf (out, "  - {name: %s, launch: %s, topology: ", launch, launch);
    append_quoted (out, flags->topology);
    g_auto (GStrv) disabled = disable != NULL ? g_strsplit (disable, ",", -1) : NULL;
    for (char **word = disabled; word != NULL && *word != NULL; word++) {
      g_string_append (out, word == disabled ? ", disable: [" : ", ");
      append_quoted (out, *word);
    }
    g_string_append (out, disabled != NULL ? "]}\n" : "}\n");
  }
  g_string_append (out, "files:\n");
  for (char *const *path = paths; *path != NULL; path++) {
    g_string_append (out, "  - {path: ");
    append_quoted (out, *path);
    g_string_append (out, "}\n");
  }
  return g_string_free (out, FALSE);
}

/* What each file is: points of a probe, or rows of collectives. */
typedef struct {
  CalProbe *probe; /* owned by the data; NULL: collectives alone */
  char *rows;      /* CSV of collectives that an importer made; NULL: none */
  gboolean tables; /* a CSV of copies or storage: no collectives at all */
} Source;

static void
source_clear (gpointer source)
{
  g_free (((Source *)source)->rows);
}

static void
keep_probe (CliData *data, CalProbe *probe, Source *source)
{
  if (data->probes == NULL)
    data->probes = g_ptr_array_new_with_free_func (free_probe);
  g_ptr_array_add (data->probes, probe);
  source->probe = probe;
}

static gboolean
refuse (const char *path, GError **error)
{
  g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
               "%s: nothing that is known wrote this; accepted: forerun-probe's .json, CSV of collectives (.csv) or of copies or "
               "storage as forerun import writes it, and what nccl-tests, nvbandwidth, p2pBandwidthLatencyTest, fio "
               "(--output-format=json) and gdsio print",
               path);
  return FALSE;
}

/* What a tool printed, as the CSV that `forerun import` would write. */
static gboolean
import_source (const CalText *text, CalTool tool, CliData *data, Source *source, GError **error)
{
  const CalTold told = { .op = -1, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO, .launch = -1 };
  g_autofree char *csv = tool == CAL_TOOL_NCCL_TESTS    ? cal_import_nccl_tests (text, &told, error)
                         : tool == CAL_TOOL_NVBANDWIDTH ? cal_import_nvbandwidth (text, 0, error)
                         : tool == CAL_TOOL_P2P_TEST    ? cal_import_p2p_test (text, 0, error)
                         : tool == CAL_TOOL_FIO         ? cal_import_fio (text, error)
                                                        : cal_import_gdsio (text, error);
  if (csv == NULL)
    return FALSE;
  if (tool == CAL_TOOL_NCCL_TESTS) {
    source->rows = g_steal_pointer (&csv);
    return TRUE;
  }
  g_autofree char *label = g_strconcat (text->path, " as CSV", NULL); /* lines are not the file's */
  CalText rows = { .path = label, .bytes = csv, .n_B = strlen (csv), .warnings = text->warnings };
  CalProbe *probe = cal_rows_probe (&rows, error);
  source->tables = TRUE;
  if (probe != NULL)
    keep_probe (data, probe, source);
  return probe != NULL;
}

static gboolean
open_source (Cli *cli, const char *path, CliData *data, Source *source, BaseDiag *warnings, GError **error)
{
  static const gsize MOST_B = (gsize)1 << 30;
  gsize n_B = 0;
  g_autofree char *bytes = cli_read_file (path, MOST_B, &n_B, error);
  if (bytes == NULL)
    return FALSE;
  CalText text = { .path = path, .bytes = bytes, .n_B = n_B, .warnings = warnings };
  CalRowsKind kind = cal_rows_kind (&text);
  CalTool tool = kind == CAL_ROWS_NONE ? cal_tool_of (&text) : CAL_TOOL_NONE;
  gboolean csv = g_str_has_suffix (path, ".csv"), json = cli_is_probe (path) || bytes[strspn (bytes, " \t\r\n")] == '{';
  /* what is packed is a probe's */
  gboolean probe = g_str_has_suffix (path, ".gz") || (json && g_strstr_len (bytes, (gssize)n_B, "\"schema\"") != NULL);
  if (kind == CAL_ROWS_NONE && csv)
    return TRUE; /* of collectives, read where its system is known */
  cli_take_input (cli, path, bytes, n_B);
  if (kind != CAL_ROWS_NONE) {
    CalProbe *rows = cal_rows_probe (&text, error);
    source->tables = TRUE;
    if (rows != NULL)
      keep_probe (data, rows, source);
    return rows != NULL;
  }
  if (probe) {
    CalProbe *file = cal_probe_parse (path, bytes, n_B, error);
    if (file != NULL)
      keep_probe (data, file, source);
    return file != NULL;
  }
  return tool != CAL_TOOL_NONE ? import_source (&text, tool, data, source, error) : refuse (path, error);
}

static gboolean
read_source (Cli *cli, const char *path, const Source *source, const CliMeasuredFile *as, CliData *data, GError **error)
{
  if (source->tables)
    return TRUE;
  if (source->probe != NULL)
    return cli_probe_read (cli, source->probe, NULL, data, error);
  return source->rows != NULL ? cli_measured_rows (path, source->rows, as, data, error)
                              : cli_measured_read (cli, path, as, data, error);
}

gboolean
cli_data_load_files (Cli *cli, char *const *paths, const CliFilesFlags *flags, CliData *data, GError **error)
{
  data->points = g_array_new (FALSE, FALSE, sizeof (CliMeasured));
  g_autoptr (GArray) sources = g_array_new (FALSE, TRUE, sizeof (Source));
  g_array_set_clear_func (sources, source_clear);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  gboolean no_nvls = FALSE;
  for (char *const *path = paths; *path != NULL; path++) {
    const Source none = { 0 };
    g_array_append_val (sources, none);
    Source *source = &g_array_index (sources, Source, sources->len - 1);
    gboolean opened = open_source (cli, *path, data, source, warnings, error);
    cli_warn_all (cli, warnings);
    g_clear_pointer (&warnings, base_diag_free);
    warnings = base_diag_new ();
    if (!opened)
      return FALSE;
    no_nvls = no_nvls || (source->probe != NULL && !source->tables && cli_probe_has_no_nvls (source->probe));
  }
  g_autofree char *disable = no_nvls && (flags->disable == NULL || strstr (flags->disable, "nvls") == NULL)
                                 ? g_strjoin (",", "nvls", flags->disable, NULL)
                                 : g_strdup (flags->disable);
  g_autofree char *text = describe_files (paths, flags, disable);
  BaseYaml *yaml = base_yaml_load_data ("flags", text, strlen (text), error);
  if (yaml == NULL)
    return FALSE;
  g_ptr_array_add (cli->kept, yaml);
  if (!read_document (cli, yaml, &cli_schema_measurements, BASE_SOURCE_MEASURED, &data->spec, error) ||
      !load_margins (cli, ".", NULL, data, error))
    return FALSE;
  for (guint i = 0; i < data->spec.files.n; i++)
    if (!read_source (cli, paths[i], &g_array_index (sources, Source, i), BASE_LIST_AT (data->spec.files, CliMeasuredFile, i), data,
                      error))
      return FALSE;
  return TRUE;
}

void
cli_data_clear (CliData *data)
{
  if (data->points != NULL)
    g_array_unref (data->points);
  g_clear_pointer (&data->versions, g_ptr_array_unref);
  g_clear_pointer (&data->choices, g_array_unref);
  g_clear_pointer (&data->probes, g_ptr_array_unref);
}
