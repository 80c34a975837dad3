/* forerun validate: predicted against measured. */
#include "draw-private.h"
#include "host-private.h"
#include "report/validate.h"

#define SHIPPED_FOLDER "tests/data"

typedef struct {
  char *mode, *margins, *plot;
  gboolean points, fabrics;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "measurements", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "margins", 0, offsetof (Flags, margins), "FILE",
    "largest errors allowed (default: margins.yaml of the folder)" },
  { CLI_FLAG_SWITCH, "points", 0, offsetof (Flags, points), NULL, "print each point, for plots/error.gp, without a verdict" },
  { CLI_FLAG_SWITCH, "fabrics", 0, offsetof (Flags, fabrics), NULL, "print only the table by network, of points on several nodes" },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (Flags, plot), "F", "also plot the error of each point by size; .svg, .png or .pdf" },
  { CLI_FLAG_TEXT, "mode", 0, offsetof (Flags, mode), "M",
    "event (default): simulate with the event engine; model: use the closed formulas" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static void
append_header (const CalData *data, const CalValidation *found, ColMode mode, GString *out)
{
  g_string_append_printf (out, "# measurements %s: %u points of %u systems", data->spec.name.v, found->points->len,
                          data->spec.systems.n);
  if (data->n_skipped > 0)
    g_string_append_printf (out, "; %u more that systems.yaml leaves out", data->n_skipped);
  g_autofree char *small = base_quantity_format (data->margins.small_max.v, BASE_DIM_BYTES, 4);
  g_autofree char *middle = base_quantity_format (data->margins.middle_max.v, BASE_DIM_BYTES, 4);
  if (found->n_impossible > 0)
    g_string_append_printf (out, "; %u cannot be predicted", found->n_impossible);
  g_string_append_printf (out,
                          "\n# error: predicted / measured - 1; small below %s, middle below %s, large above; mode %s\n"
                          "# in band: measurements within the error band of their prediction; %s\n",
                          small, middle, base_name (col_mode_names, (int)mode),
                          data->margins.name.set ? "allowed: by margins.yaml" : "no margins.yaml: nothing is judged");
}

/* How far predictions of all systems are off, and whether that is more than allowed. */
static void
append_answer (const CalValidation *found, gboolean judged, GString *out)
{
  const char *separator = "; median error";
  g_string_append_printf (out, "%u measurements are predicted", found->points->len);
  for (guint i = 0; i < found->scores->len; i++) {
    const CalScore *score = &g_array_index (found->scores, CalScore, i);
    if (score->system != NULL)
      continue;
    g_string_append_printf (out, "%s %.1f %% for %s sizes", separator, score->median * 100,
                            base_name (mdl_size_names, (int)score->band));
    separator = ",";
  }
  g_string_append_c (out, '.');
  if (judged)
    g_string_append_printf (out, "\n%u of %u rows are worse than their margin.", found->n_worse, found->scores->len);
  g_string_append (out, "\n\n");
}

static void
write_answer (Cli *cli, const Flags *flags, const CalData *data, const CalValidation *found, ColMode mode)
{
  RepEnvelope envelope = cli_envelope (cli);
  cli->document = flags->points;
  if (flags->points)
    rep_validate_points_tsv (found->points, cli->out);
  else if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    if (flags->fabrics)
      rep_validate_fabrics_json (found->fabrics, json);
    else
      rep_validate_json (found->scores, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV && flags->fabrics)
    rep_validate_fabrics_tsv (found->fabrics, cli->out);
  else if (cli->format == CLI_FORMAT_TSV)
    rep_validate_tsv (found->scores, cli->out);
  else {
    append_answer (found, data->margins.name.set, cli->out);
    rep_header_title (cli->out, &envelope, "validate");
    append_header (data, found, mode, cli->out);
    if (!flags->fabrics)
      rep_validate_text (found->scores, cli->out);
    rep_validate_fabrics_text (found->fabrics, cli->out);
  }
}

static gboolean
draw (Cli *cli, const char *path, const char *name, const GArray *points, GError **error)
{
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  rep_plots_add_points (plots, points, name);
  return cli_draw (cli, "--plot", path, plots, error);
}

static gboolean
answer (Cli *cli, const Flags *flags, const char *folder, GError **error)
{
  int mode = COL_MODE_EVENT;
  if (!cli_name_value (cli, "--mode", flags->mode, col_mode_names, &mode, error) || !cli_measurements_folder (cli, folder, error))
    return FALSE;
  const CalHost host = cli_host (cli);
  const CalPredict how = { .mode = (ColMode)mode, .folder = folder };
  g_autoptr (CalData) data = cal_data_load (&host, folder, flags->margins, error);
  g_auto (CalValidation) found = { 0 };
  if (data == NULL || !cal_validate (&host, &how, data, &found, error))
    return FALSE;
  if (found.points->len == 0)
    return cli_fail (cli, error, "%s holds no point that can be predicted", folder);
  write_answer (cli, flags, data, &found, (ColMode)mode);
  if (found.n_worse > 0 && !flags->points) {
    g_string_append_printf (cli->talk, "forerun validate: %u of %u rows are worse than their margin\n", found.n_worse,
                            found.scores->len);
    cli->status = CLI_EXIT_RUN;
  }
  return flags->plot == NULL || draw (cli, flags->plot, data->spec.name.v, found.points, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (words[0] != NULL && words[1] != NULL)
    return cli_fail (cli, error, "one folder at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (flags->points && cli->format_text != NULL && cli->format != CLI_FORMAT_TSV)
    return cli_fail (cli, error, "--points is written as tsv; --format %s is not", cli->format_text);
  if (flags->points && flags->fabrics)
    return cli_fail (cli, error, "--points prints each point and --fabrics a table by network; give one of them");
  if ((flags->plot != NULL && !cli_plot_check (cli, "--plot", flags->plot, error)) || !cli_lookup (cli, error))
    return FALSE;
  g_autofree char *shipped = g_build_filename (base_lookup_root (cli->lookup), SHIPPED_FOLDER, NULL);
  if (words[0] == NULL && !g_file_test (shipped, G_FILE_TEST_IS_DIR))
    return cli_fail (cli, error,
                     "the measurements are part of the source tree (%s) and not of an installation; name a folder with "
                     "systems.yaml",
                     SHIPPED_FOLDER);
  return answer (cli, flags, words[0] != NULL ? words[0] : shipped, error);
}

const CliVerb cli_verb_validate = {
  .name = "validate",
  .summary = "compare predictions with measurements: errors by system, operation, algorithm and size",
  .usage = "[FOLDER] [flags]",
  .example = "forerun validate --format tsv -o scores.tsv",
  .notes = "FOLDER contains systems.yaml, which lists the measurements and their systems (default: tests/data of the source tree). "
           "Exit status 1: an error is larger than margins.yaml allows.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .run = run,
};
