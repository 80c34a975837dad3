/* forerun validate: predicted against measured. */
#include <math.h>
#include <string.h>

#include "plot-private.h"
#include "predict-private.h"
#include "report/validate.h"

#define SHIPPED_FOLDER "tests/data"

typedef struct {
  char *mode, *margins, *plot;
  gboolean points;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "measurements", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "margins", 0, offsetof (Flags, margins), "FILE",
    "how far off predictions may be (default: margins.yaml of the folder)" },
  { CLI_FLAG_SWITCH, "points", 0, offsetof (Flags, points), NULL, "each point, as plots/error.gp reads them, and no judgement" },
  { CLI_FLAG_TEXT, "plot", 0, offsetof (Flags, plot), "F", "also draw each point's error by size; .svg, .png or .pdf" },
  { CLI_FLAG_TEXT, "mode", 0, offsetof (Flags, mode), "M", "event (default): the event engine; model: the closed form" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* ---- predictions ---- */

typedef struct {
  CliData *data;
  GArray *points; /* RepPoint */
} Scored;

/* A point whose algorithm cannot run where it was measured is told, not scored. */
static gboolean
predict_point (Cli *cli, CliGroup *group, const CliMeasured *point, GArray *points, guint *n_impossible, GError **error)
{
  const CliSystem *system = group->system;
  ColAnswer *coll = &group->coll;
  ColCollRequest request = {
    .op = point->op, .size_B = point->size_B, .dtype = point->dtype, .algo = point->algo, .proto = point->proto
  };
  g_autoptr (GError) cause = NULL;
  if (!col_coll_price (group->comm.comm, &request, coll, &cause)) {
    if (!g_error_matches (cause, BASE_ERROR, (gint)BASE_ERROR_INPUT)) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
    g_autofree char *warning = g_strdup_printf ("%s was measured, but is not predicted: %s", system->name.v, cause->message);
    cli_warn (cli, warning);
    (*n_impossible)++;
    return TRUE;
  }
  RepPoint scored = { .system = system->name.v,
                      .order = point->system,
                      .nodes = point->nodes,
                      .ranks = group->comm.n,
                      .op = point->op,
                      .algo = point->algo,
                      .proto = point->proto,
                      .size_B = point->size_B,
                      .measured_s = point->time_s,
                      .predicted_s = coll->time_s,
                      .predicted_lo_s = coll->time_lo_s,
                      .predicted_hi_s = coll->time_hi_s };
  g_array_append_val (points, scored);
  return TRUE;
}

static gboolean
predict_group (Cli *cli, CliGroup *group, void *user, gboolean *kept, GError **error)
{
  Scored *scored = user;
  (void)kept;
  for (guint i = 0; i < group->n; i++)
    if (!predict_point (cli, group, group->member[i], scored->points, &scored->data->n_impossible, error))
      return FALSE;
  return TRUE;
}

static gboolean
predict (Cli *cli, const Flags *flags, const char *folder, CliData *data, GArray *points, GError **error)
{
  const CliPredict how = { .mode = flags->mode, .folder = folder };
  Scored scored = { data, points };
  if (!cli_predict (cli, &how, data, predict_group, &scored, error))
    return FALSE;
  return points->len > 0 || cli_fail (cli, error, "%s holds no point that can be predicted", folder);
}

/* ---- judgement ---- */

static gboolean
fits (const CliLimit *limit, const RepScore *score)
{
  return (limit->systems.n == 0 || cli_names_hold (&limit->systems, score->system)) &&
         (!limit->nodes.set || limit->nodes.v == score->nodes) && (!limit->op.set || limit->op.v == (int)score->op) &&
         (!limit->algo.set || limit->algo.v == score->algo) && (!limit->proto.set || limit->proto.v == score->proto) &&
         (!limit->band.set || limit->band.v == (int)score->band);
}

/* Returned: how many are worse than allowed. */
static guint
judge (const CliMargins *margins, GArray *scores)
{
  guint n_worse = 0;
  for (guint i = 0; i < scores->len; i++) {
    RepScore *score = &g_array_index (scores, RepScore, i);
    for (guint k = 0; score->system != NULL && k < margins->limits.n; k++) {
      const CliLimit *limit = BASE_LIST_AT (margins->limits, CliLimit, k);
      if (!fits (limit, score))
        continue;
      score->median_limit = limit->median.set ? limit->median.v : (double)NAN;
      score->p95_limit = limit->p95.set ? limit->p95.v : (double)NAN;
      break;
    }
    if (rep_score_is_worse (score))
      n_worse++;
  }
  return n_worse;
}

static void
append_header (const CliData *data, const GArray *points, const char *mode, GString *out)
{
  g_string_append_printf (out, "# measurements %s: %u points of %u systems", data->spec.name.v, points->len, data->spec.systems.n);
  if (data->n_skipped > 0)
    g_string_append_printf (out, "; %u more of parts that systems.yaml does not list", data->n_skipped);
  g_autofree char *small = base_quantity_format (data->margins.small_to.v, BASE_DIM_BYTES, 4);
  g_autofree char *middle = base_quantity_format (data->margins.middle_to.v, BASE_DIM_BYTES, 4);
  if (data->n_impossible > 0)
    g_string_append_printf (out, "; %u cannot be predicted", data->n_impossible);
  g_string_append_printf (out,
                          "\n# error: predicted / measured - 1; small below %s, middle below %s, large above; mode %s\n"
                          "# in band: measurements within the error band of their prediction; %s\n",
                          small, middle, mode != NULL ? mode : "event",
                          data->margins.name.set ? "allowed: by margins.yaml" : "no margins.yaml: nothing is judged");
}

static void
write_answer (Cli *cli, const Flags *flags, const CliData *data, const GArray *points, const GArray *scores)
{
  RepEnvelope envelope = cli_envelope (cli);
  if (flags->points)
    rep_validate_points_tsv (points, cli->out);
  else if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    rep_validate_json (scores, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV)
    rep_validate_tsv (scores, cli->out);
  else {
    rep_header_title (cli->out, &envelope, "validate");
    append_header (data, points, flags->mode, cli->out);
    rep_validate_text (scores, cli->out);
  }
}

/* Errors beyond half of the measured time lie on the edge. */
static gboolean
draw (Cli *cli, const char *path, const char *name, const GArray *points, GError **error)
{
  g_autoptr (GString) tsv = g_string_new (NULL);
  rep_validate_points_tsv (points, tsv);
  g_autofree char *said = g_strdup_printf ("%s: %u points, predicted against measured", name, points->len),
                  *title = cli_plot_quote (said), *settings = g_strdup_printf ("; title=%s; series='op'; limit=0.5", title);
  const CliPlotData data = { "data", "", tsv };
  return cli_plot_draw (cli, "--plot", path, "error.gp", &data, 1, settings, error);
}

static gboolean
answer (Cli *cli, const Flags *flags, const char *folder, GError **error)
{
  g_auto (CliData) data = { 0 };
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (RepPoint));
  if (!cli_data_load (cli, folder, flags->margins, &data, error) || !predict (cli, flags, folder, &data, points, error))
    return FALSE;
  g_autoptr (GArray) scores = rep_validate_score (points, data.margins.small_to.v, data.margins.middle_to.v);
  guint n_worse = judge (&data.margins, scores);
  write_answer (cli, flags, &data, points, scores);
  if (n_worse > 0 && !flags->points) {
    g_string_append_printf (cli->talk, "forerun validate: %u of %u rows are worse than their margin\n", n_worse, scores->len);
    cli->status = CLI_EXIT_RUN;
  }
  return flags->plot == NULL || draw (cli, flags->plot, data.spec.name.v, points, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (words[0] != NULL && words[1] != NULL)
    return cli_fail (cli, error, "one folder at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (flags->points && cli->format_text != NULL && cli->format != CLI_FORMAT_TSV)
    return cli_fail (cli, error, "--points is written as tsv; --format %s is not", cli->format_text);
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
  .summary = "predicted against measured: a scoreboard by system, operation, algorithm, protocol and size",
  .usage = "[FOLDER] [flags]",
  .example = "forerun validate --format tsv -o scores.tsv",
  .notes =
      "FOLDER has systems.yaml, which says what was measured where (default: the measurements of the source tree, tests/data).\n"
      "Exit status 1 when a row is worse than margins.yaml allows.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_TSV,
  .run = run,
};
