/* The keys of systems.yaml and margins.yaml, and how a folder of measurements is loaded. */
#include <string.h>

#include "base/yaml.h"
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
  ENUM ("band", CliLimit, band, rep_band_names, "size band"),
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

gboolean
cli_data_load_files (Cli *cli, char *const *paths, const CliFilesFlags *flags, CliData *data, GError **error)
{
  data->points = g_array_new (FALSE, FALSE, sizeof (CliMeasured));
  g_autoptr (GPtrArray) probes = g_ptr_array_new (); /* CalProbe *, NULL beside a CSV file */
  gboolean no_nvls = FALSE;
  for (char *const *path = paths; *path != NULL; path++) {
    CalProbe *probe = NULL;
    if (cli_is_probe (*path) && (probe = cli_probe_load (cli, *path, data, error)) == NULL)
      return FALSE;
    no_nvls = no_nvls || (probe != NULL && cli_probe_has_no_nvls (probe));
    g_ptr_array_add (probes, probe);
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
    if (probes->pdata[i] != NULL
            ? !cli_probe_read (cli, probes->pdata[i], NULL, data, error)
            : !cli_measured_read (cli, paths[i], BASE_LIST_AT (data->spec.files, CliMeasuredFile, i), data, error))
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
