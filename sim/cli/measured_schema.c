/* The keys of systems.yaml and margins.yaml, and how a folder of measurements is loaded. */
#include <string.h>

#include "base/yaml.h"
#include "measured-private.h"
#include "report/validate.h"

#define SYSTEMS_FILE "systems.yaml"
#define MARGINS_FILE "margins.yaml"

#define STR(key_, type, member, help_)                                                    \
  {                                                                                       \
    .key = key_, .kind = BASE_FIELD_STR, .offset = offsetof (type, member), .help = help_ \
  }
#define NEEDED(key_, type, member, help_)                                                                   \
  {                                                                                                         \
    .key = key_, .kind = BASE_FIELD_STR, .offset = offsetof (type, member), .help = help_, .required = TRUE \
  }
#define ENUM(key_, type, member, names_, help_)                                                             \
  {                                                                                                         \
    .key = key_, .kind = BASE_FIELD_ENUM, .offset = offsetof (type, member), .names = names_, .help = help_ \
  }
#define NUM(key_, type, member, dim_, help_)                                                           \
  {                                                                                                    \
    .key = key_, .kind = BASE_FIELD_NUM, .offset = offsetof (type, member), .dim = dim_, .help = help_ \
  }

static const BaseName library_names[] = { { "nccl", CLI_LIBRARY_NCCL, "what the vendor ships" },
                                          { "plain", CLI_LIBRARY_PLAIN, "alpha and beta of the links alone" },
                                          { NULL, 0, NULL } };

static const BaseField system_fields[] = {
  NEEDED ("name", CliSystem, name, "as the scoreboard says it"),
  NEEDED ("topology", CliSystem, topology, "the machine: a shipped name, or a file beside this one"),
  STR ("calibration", CliSystem, calibration, "default: the one named like the GPU"),
  { .key = "launch",
    .kind = BASE_FIELD_ENUM,
    .offset = offsetof (CliSystem, launch),
    .names = mdl_launch_names,
    .fallback = "threads",
    .help = "how operations reached the GPUs; rows whose `launch` column says otherwise are not its own" },
  { .key = "disable",
    .kind = BASE_FIELD_STRS,
    .offset = offsetof (CliSystem, disable),
    .help = "algorithms and protocols that were switched off" },
  { .key = "library",
    .kind = BASE_FIELD_ENUM,
    .offset = offsetof (CliSystem, library),
    .names = library_names,
    .fallback = "nccl",
    .help = "plain: hold the textbook algorithms against it" },
  { .key = "p2p",
    .kind = BASE_FIELD_BOOL,
    .offset = offsetof (CliSystem, p2p),
    .fallback = "on",
    .help = "off: GPUs did not reach each other directly (NCCL_P2P_DISABLE)" },
  { .key = "one_way",
    .kind = BASE_FIELD_BOOL,
    .offset = offsetof (CliSystem, one_way),
    .fallback = "no",
    .help = "in its sendrecv one rank sent and the other received; nccl-tests' ranks do both" },
  STR ("source", CliSystem, source, "rows of a CSV file whose `source` column says this"),
  STR ("gpu", CliSystem, gpu, "rows of a CSV file whose `gpu` column says this"),
  STR ("note", CliSystem, note, "what this rests on"),
  { .key = NULL },
};
static const BaseSchema system_schema = { .name = "systems", .help = "A machine that was measured.", .fields = system_fields };

static const BaseField section_fields[] = {
  NEEDED ("title", CliSection, title, "what stands after '## ', or in the column `setting`"),
  { .key = "systems", .kind = BASE_FIELD_STRS, .offset = offsetof (CliSection, systems), .help = "in place of the file's" },
  ENUM ("algo", CliSection, algo, mdl_algo_names, "NCCL_ALGO; default: the library's choice; sends have none"),
  ENUM ("proto", CliSection, proto, mdl_proto_names, "NCCL_PROTO; default: the library's choice; it holds for no send"),
  { .key = "nodes",
    .kind = BASE_FIELD_NUM,
    .offset = offsetof (CliSection, nodes),
    .dim = BASE_DIM_COUNT,
    .min = "1",
    .max = "1000000",
    .fallback = "1",
    .help = "nodes, where no column says" },
  { .key = "gpus",
    .kind = BASE_FIELD_NUM,
    .offset = offsetof (CliSection, gpus),
    .dim = BASE_DIM_COUNT,
    .min = "1",
    .max = "1024",
    .help = "GPUs of a node, where no column says" },
  { .key = "max_channels",
    .kind = BASE_FIELD_NUM,
    .offset = offsetof (CliSection, max_channels),
    .dim = BASE_DIM_COUNT,
    .min = "1",
    .max = "1024",
    .help = "as NCCL_MAX_NCHANNELS was" },
  { .key = NULL },
};
static const BaseSchema section_schema = { .name = "files.sections", .help = "A part of a file.", .fields = section_fields };

static const BaseField file_fields[] = {
  NEEDED ("path", CliMeasuredFile, path, "below the folder; .csv, or nccl-tests' output"),
  { .key = "systems",
    .kind = BASE_FIELD_STRS,
    .offset = offsetof (CliMeasuredFile, systems),
    .help = "which of the systems it is of: the first that fits a row; default: all" },
  ENUM ("op", CliMeasuredFile, op, mdl_op_names, "operation, where no column says"),
  { .key = "sections",
    .kind = BASE_FIELD_LIST,
    .offset = offsetof (CliMeasuredFile, sections),
    .sub = &section_schema,
    .item_size = sizeof (CliSection),
    .help = "parts that count; nccl-tests' output: all of it is one part if there is one only" },
  { .key = NULL },
};
static const BaseSchema file_schema = { .name = "files", .help = "A file of measurements.", .fields = file_fields };

static const BaseField measurements_fields[] = {
  NEEDED ("measurements", CliMeasurements, name, "name of the collection"),
  { .key = "systems",
    .kind = BASE_FIELD_LIST,
    .offset = offsetof (CliMeasurements, systems),
    .sub = &system_schema,
    .item_size = sizeof (CliSystem),
    .help = "machines that were measured",
    .required = TRUE },
  { .key = "files",
    .kind = BASE_FIELD_LIST,
    .offset = offsetof (CliMeasurements, files),
    .sub = &file_schema,
    .item_size = sizeof (CliMeasuredFile),
    .help = "what was measured",
    .required = TRUE },
  { .key = NULL },
};
const BaseSchema cli_schema_measurements = { .name = "systems.yaml",
                                             .help = "Which file was measured on which machine, and how.",
                                             .fields = measurements_fields };

static const BaseField limit_fields[] = {
  { .key = "systems", .kind = BASE_FIELD_STRS, .offset = offsetof (CliLimit, systems), .help = "names of systems" },
  NUM ("nodes", CliLimit, nodes, BASE_DIM_COUNT, "number of nodes"),
  ENUM ("op", CliLimit, op, mdl_op_names, "operation"),
  ENUM ("algo", CliLimit, algo, mdl_algo_names, "algorithm as measured"),
  ENUM ("proto", CliLimit, proto, mdl_proto_names, "protocol as measured"),
  ENUM ("band", CliLimit, band, rep_band_names, "size band"),
  NUM ("median", CliLimit, median, BASE_DIM_RATIO, "the median error may be as large as this"),
  NUM ("p95", CliLimit, p95, BASE_DIM_RATIO, "the 95th percentile of the errors may be as large as this"),
  STR ("note", CliLimit, note, "why it is not tighter"),
  { .key = NULL },
};
static const BaseSchema limit_schema = { .name = "limits", .help = "What it does not name it holds for.", .fields = limit_fields };

static const BaseField margins_fields[] = {
  NEEDED ("margins", CliMargins, name, "name of the set"),
  { .key = "small_to",
    .kind = BASE_FIELD_NUM,
    .offset = offsetof (CliMargins, small_to),
    .dim = BASE_DIM_BYTES,
    .fallback = "64 KiB",
    .help = "smaller sizes are the band `small`" },
  { .key = "middle_to",
    .kind = BASE_FIELD_NUM,
    .offset = offsetof (CliMargins, middle_to),
    .dim = BASE_DIM_BYTES,
    .fallback = "16 MiB",
    .help = "smaller sizes are the band `middle`, others `large`" },
  { .key = "limits",
    .kind = BASE_FIELD_LIST,
    .offset = offsetof (CliMargins, limits),
    .sub = &limit_schema,
    .item_size = sizeof (CliLimit),
    .help = "the first that fits a row of the scoreboard counts" },
  { .key = NULL },
};
const BaseSchema cli_schema_margins = { .name = "margins.yaml",
                                        .help = "How far off a prediction may be.",
                                        .fields = margins_fields };

/* Reads `path` by `schema`. The document stays with cli, since leaves point into it. */
static gboolean
read_yaml (Cli *cli, const char *path, const BaseSchema *schema, BaseSource source, void *out, GError **error)
{
  BaseYaml *yaml = base_yaml_load_file (path, error);
  if (yaml == NULL)
    return FALSE;
  g_ptr_array_add (cli->yamls, yaml);
  cli_take_inputs (cli, cli->yamls);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = source };
  base_schema_read (schema, base_yaml_root (yaml), FALSE, &context, out);
  cli_warn_all (cli, diag);
  return base_diag_finish (diag, error);
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

void
cli_data_clear (CliData *data)
{
  if (data->points != NULL)
    g_array_unref (data->points);
}
