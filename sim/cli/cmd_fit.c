/* forerun fit: constants from measurements, with intervals, and the error on what was held out. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "base/table.h"
#include "calibrate/fit.h"
#include "fit_sections-private.h"
#include "models/library-spec.h"
#include "predict-private.h"
#include "report/fit.h"

/* Of the held-out points, the share that the band of an answer is to hold. */
#define BAND_SHARE 0.9

typedef struct {
  char *systems, *topology, *launch, *disable, *offset, *min_size, *over, *name, *hold_out, *report, *points, *section_points;
  gboolean split;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "measurements", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "systems", 0, offsetof (Flags, systems), "A[,B...]",
    "of a folder: systems of systems.yaml to fit (default: all)" },
  { CLI_FLAG_TEXT, "topology", 0, offsetof (Flags, topology), "T", "of files: the node that was measured; needed" },
  { CLI_FLAG_TEXT, "launch", 0, offsetof (Flags, launch), "L",
    "of files: graph, threads, serial or registered, where a row does not say (default: threads)" },
  { CLI_FLAG_TEXT, "disable", 0, offsetof (Flags, disable), "A[,...]",
    "of files: what was switched off, as NCCL_NVLS_ENABLE=0 does nvls" },
  { CLI_FLAG_TEXT, "offset", 0, offsetof (Flags, offset), "A[,B...]",
    "systems whose launches are not known: one time a call is found for each" },
  { CLI_FLAG_TEXT, "min-size", 0, offsetof (Flags, min_size), "SIZE", "leave shorter messages out (default: all count)" },
  { CLI_FLAG_HEADING, "fit", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "over", 0, offsetof (Flags, over), "CAL",
    "calibration that is fitted over: defaults and start (default: the one named like the GPU)" },
  { CLI_FLAG_TEXT, "hold-out", 0, offsetof (Flags, hold_out), "WHAT",
    "sizes: every second size; gpus: all numbers of GPUs but the least and the most; names of operations and systems, whole; "
    "default: sizes,gpus; none" },
  { CLI_FLAG_SWITCH, "split", 0, offsetof (Flags, split), NULL,
    "write the constants of the fit without what was held out (default: once scored, those of all points)" },
  { CLI_FLAG_TEXT, "name", 0, offsetof (Flags, name), "N", "name of the calibration (default: fitted)" },
  { CLI_FLAG_TEXT, "report", 0, offsetof (Flags, report), "FILE", "constants, errors and bands, as stderr has them, into a file" },
  { CLI_FLAG_TEXT, "points", 0, offsetof (Flags, points), "FILE.tsv",
    "each point with its prediction by the fit without what was held out, as plots/fit.sh reads them" },
  { CLI_FLAG_TEXT, "section-points", 0, offsetof (Flags, section_points), "FILE.tsv",
    "the same of the other sections that a probe's file tells" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* A point, and what prices it. */
typedef struct {
  CliGroup *group;
  ColCollRequest request;
} Priced;

typedef struct {
  const Flags *flags;
  CliData data;
  GPtrArray *groups; /* CliGroup, owned */
  GArray *points;    /* CalFitPoint */
  GArray *priced;    /* Priced, one a point */
  double *offset_s;  /* a call, by system: what an unknown launch takes; 0 where it is known */
  gboolean *unknown; /* by system */
  gboolean *held;    /* by system: held out whole */
  CalHoldOut hold_out;
  guint64 min_size_B;
  guint n_left; /* points that no stage could be told by: other systems' libraries, P2P off, too short, impossible */
} Fit;

static void
free_group (gpointer group)
{
  cli_group_free (group);
}

static void
fit_clear (Fit *fit)
{
  g_clear_pointer (&fit->groups, g_ptr_array_unref);
  g_clear_pointer (&fit->points, g_array_unref);
  g_clear_pointer (&fit->priced, g_array_unref);
  g_clear_pointer (&fit->offset_s, g_free);
  g_clear_pointer (&fit->unknown, g_free);
  g_clear_pointer (&fit->held, g_free);
  cli_data_clear (&fit->data);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fit, fit_clear)

/* ---- points ---- */

static gboolean
take_point (Fit *fit, CliGroup *group, const CliMeasured *m, GError **error)
{
  Priced priced = { group, { .op = m->op, .size_B = m->size_B, .dtype = m->dtype, .algo = m->algo, .proto = m->proto } };
  g_autoptr (GError) cause = NULL;
  if (!col_coll_price (group->comm.comm, &priced.request, &group->coll, &cause)) {
    if (!g_error_matches (cause, BASE_ERROR, (gint)BASE_ERROR_INPUT)) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
    fit->n_left++;
    return TRUE;
  }
  priced.request.algo = group->coll.algo; /* of `auto`: the same each time, whatever the constants */
  priced.request.proto = group->coll.proto;
  CalFitPoint point = { .op = m->op,
                        .algo = group->coll.algo,
                        .proto = group->coll.proto,
                        .launch = (MdlLaunch)group->system->launch.v,
                        .nodes = m->nodes,
                        .ranks = group->comm.n,
                        .max_channels = m->max_channels,
                        .system = m->system,
                        .size_B = m->size_B,
                        .measured_s = m->time_s };
  g_array_append_val (fit->points, point);
  g_array_append_val (fit->priced, priced);
  return TRUE;
}

static gboolean
take_group (Cli *cli, CliGroup *group, void *user, gboolean *kept, GError **error)
{
  Fit *fit = user;
  (void)cli;
  g_ptr_array_add (fit->groups, group);
  *kept = TRUE;
  for (guint i = 0; i < group->n; i++)
    if (!take_point (fit, group, group->member[i], error))
      return FALSE;
  return TRUE;
}

/* The system of that name, or NULL. */
static CliSystem *
find_system (const CliMeasurements *spec, const char *name)
{
  for (guint i = 0; i < spec->systems.n; i++)
    if (strcmp (BASE_LIST_AT (spec->systems, CliSystem, i)->name.v, name) == 0)
      return BASE_LIST_AT (spec->systems, CliSystem, i);
  return NULL;
}

/* Leaves the points that are to be fitted in fit->data. */
static gboolean
choose_points (const Cli *cli, Fit *fit, GError **error)
{
  const CliMeasurements *spec = &fit->data.spec;
  g_auto (GStrv) wanted = fit->flags->systems != NULL ? g_strsplit (fit->flags->systems, ",", -1) : NULL;
  for (char **name = wanted; name != NULL && *name != NULL; name++)
    if (find_system (spec, *name) == NULL)
      return cli_fail (cli, error, "--systems: no system is named '%s' in %s", *name, spec->name.v);
  guint n = 0;
  for (guint i = 0; i < fit->data.points->len; i++) {
    const CliMeasured *m = &g_array_index (fit->data.points, CliMeasured, i);
    const CliSystem *system = BASE_LIST_AT (spec->systems, CliSystem, m->system);
    if (wanted != NULL && !g_strv_contains ((const char *const *)wanted, system->name.v))
      continue;
    if (system->library.v == CLI_LIBRARY_PLAIN || !system->p2p.v || system->one_way.v || m->size_B < (double)fit->min_size_B) {
      fit->n_left++;
      continue;
    }
    g_array_index (fit->data.points, CliMeasured, n++) = *m;
  }
  g_array_set_size (fit->data.points, n);
  for (guint i = fit->data.choices != NULL ? fit->data.choices->len : 0; i-- > 0;) {
    const CliMeasured *c = &g_array_index (fit->data.choices, CliMeasured, i);
    if (wanted != NULL &&
        !g_strv_contains ((const char *const *)wanted, BASE_LIST_AT (spec->systems, CliSystem, c->system)->name.v))
      g_array_remove_index (fit->data.choices, i);
  }
  return TRUE;
}

/* "2.28" of "2.28.9" */
static gboolean
same_release (const char *a, const char *b)
{
  const char *dot = strchr (a, '.');
  gsize n = dot != NULL ? (gsize)(dot + 1 - a) + strspn (dot + 1, "0123456789") : strlen (a);
  return strncmp (a, b, n) == 0 && !g_ascii_isdigit (b[n]);
}

/* Releases of NCCL differ in what a collective costs: files of one machine are of one release; a folder says what it mixes. */
static gboolean
check_versions (Cli *cli, const Fit *fit, gboolean files, GError **error)
{
  const char *first = NULL;
  for (guint i = 0; i < fit->data.points->len; i++) {
    const char *here = g_array_index (fit->data.points, CliMeasured, i).nccl;
    if (first == NULL || here == NULL || same_release (first, here)) {
      first = first != NULL ? first : here;
      continue;
    }
    if (files)
      return cli_fail (cli, error, "NCCL %s and NCCL %s in one fit, whose constants differ; each is fitted by itself", first, here);
    g_autofree char *text =
        g_strdup_printf ("NCCL %s and NCCL %s are fitted together, though their constants may differ", first, here);
    cli_warn (cli, text);
    return TRUE;
  }
  return TRUE;
}

/* ---- predictions ---- */

static void
set_constant (void *user, size_t offset, double value)
{
  Fit *fit = user;
  for (guint g = 0; g < fit->groups->len; g++) {
    CliGroup *group = fit->groups->pdata[g];
    BaseNum *num = (BaseNum *)(gpointer)((char *)group->comm.library + offset);
    num->v = value;
    num->set = TRUE;
  }
}

/* Back to what they were before a fit. */
static void
reset_constants (Fit *fit, const CalFit *found)
{
  for (guint i = 0; i < found->constants->len; i++) {
    const CalFitConstant *c = &g_array_index (found->constants, CalFitConstant, i);
    set_constant (fit, c->offset, c->before);
  }
}

static double
predict_point (void *user, guint i)
{
  Fit *fit = user;
  Priced *priced = &g_array_index (fit->priced, Priced, i);
  if (!col_coll_price (priced->group->comm.comm, &priced->request, &priced->group->coll, NULL))
    return (double)NAN;
  return priced->group->coll.time_s + fit->offset_s[g_array_index (fit->points, CalFitPoint, i).system];
}

/* ---- sources whose launches are not known ---- */

/* Such a source counts as graph replay, which launches cost nothing, and one time a call on top. */
static gboolean
mark_unknown (const Cli *cli, Fit *fit, GError **error)
{
  const CliMeasurements *spec = &fit->data.spec;
  fit->offset_s = g_new0 (double, spec->systems.n);
  fit->unknown = g_new0 (gboolean, spec->systems.n);
  g_auto (GStrv) names = fit->flags->offset != NULL ? g_strsplit (fit->flags->offset, ",", -1) : NULL;
  for (char **name = names; name != NULL && *name != NULL; name++) {
    CliSystem *system = find_system (spec, *name);
    if (system == NULL)
      return cli_fail (cli, error, "--offset: no system is named '%s' in %s", *name, spec->name.v);
    fit->unknown[system - BASE_LIST_AT (spec->systems, CliSystem, 0)] = TRUE;
    system->launch.v = MDL_LAUNCH_GRAPH;
  }
  return TRUE;
}

/* The median of what is measured more than predicted below `small_to_B`, where it shows most; the constants stand as they are. */
static gboolean
find_offsets (const Cli *cli, Fit *fit, double small_to_B, GString *talk, GError **error)
{
  g_autofree double *more_s = g_new (double, MAX (fit->points->len, 1));
  g_autofree char *small = base_quantity_format (small_to_B, BASE_DIM_BYTES, 4);
  for (guint s = 0; s < fit->data.spec.systems.n; s++) {
    guint n = 0;
    for (guint i = 0; fit->unknown[s] && i < fit->points->len; i++) {
      const CalFitPoint *p = &g_array_index (fit->points, CalFitPoint, i);
      double predicted_s = p->system == s && p->size_B < small_to_B ? predict_point (fit, i) : (double)NAN;
      if (isfinite (predicted_s))
        more_s[n++] = p->measured_s - predicted_s;
    }
    const char *name = BASE_LIST_AT (fit->data.spec.systems, CliSystem, s)->name.v;
    if (fit->unknown[s] && n == 0)
      return cli_fail (cli, error, "--offset %s: no measurement of it is below %s, where launches show", name, small);
    if (!fit->unknown[s])
      continue;
    fit->offset_s[s] = fmax (base_median (more_s, n), 0);
    g_string_append_printf (talk, "# launches of %s: %.3g us a call on top of graph replay (median of %u points below %s)\n", name,
                            fit->offset_s[s] * 1e6, n, small);
  }
  return TRUE;
}

/* Constants from the sources that are known, offsets of the others from these; the defaults where none is known. */
static gboolean
settle_offsets (const Cli *cli, Fit *fit, const MdlLibrary *defaults, const CalFitModel *model, GString *talk, GError **error)
{
  guint n_known = 0;
  for (guint i = 0; i < fit->points->len; i++) {
    CalFitPoint *p = &g_array_index (fit->points, CalFitPoint, i);
    p->use = fit->unknown[p->system] ? CAL_USE_HELD_SIZE : CAL_USE_FIT; /* held out of this fit; the split decides anew */
    n_known += p->use == CAL_USE_FIT && cal_fit_stage_name (p) != NULL;
  }
  g_autoptr (CalFit) known = n_known > 0 ? cal_fit_run (defaults, fit->points, model, error) : NULL;
  if (n_known > 0 && known == NULL)
    return FALSE;
  if (!find_offsets (cli, fit, defaults->small_to.v, talk, error))
    return FALSE;
  if (known != NULL)
    reset_constants (fit, known);
  return TRUE;
}

/* The stage of each point; -1: none. */
static int *
stages_of (const CalFit *found, const GArray *points)
{
  int *stage = g_new (int, MAX (points->len, 1));
  for (guint i = 0; i < points->len; i++) {
    const char *name = cal_fit_stage_name (&g_array_index (points, CalFitPoint, i));
    stage[i] = -1;
    for (guint s = 0; name != NULL && s < found->stages->len; s++)
      if (strcmp (g_array_index (found->stages, CalFitStage, s).name, name) == 0)
        stage[i] = (int)s;
  }
  return stage;
}

/* ---- NCCL's choices ---- */

static const CliGroup *
group_of (const Fit *fit, guint32 nodes, guint32 gpus)
{
  for (guint g = 0; g < fit->groups->len; g++) {
    const CliGroup *group = fit->groups->pdata[g];
    if (group->comm.n_nodes == nodes && group->comm.n == nodes * gpus && group->comm.settings.max_channels == 0)
      return group;
  }
  return NULL;
}

/* How many of the choices that NCCL told are those of forerun, and the first few that are not. */
static void
tell_choices (const Fit *fit, GString *out)
{
  enum { SHOWN = 5 };
  guint n = 0, n_same = 0;
  g_autoptr (GString) other = g_string_new (NULL);
  for (guint i = 0; fit->data.choices != NULL && i < fit->data.choices->len; i++) {
    const CliMeasured *c = &g_array_index (fit->data.choices, CliMeasured, i);
    const CliGroup *group = group_of (fit, c->nodes, c->gpus);
    const ColCollRequest request = {
      .op = c->op, .size_B = c->size_B, .dtype = c->dtype, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO
    };
    g_auto (ColAnswer) coll = { 0 };
    if (group == NULL || !col_coll_price (group->comm.comm, &request, &coll, NULL))
      continue;
    n++;
    gboolean same = coll.algo == c->algo && coll.proto == c->proto;
    n_same += same ? 1 : 0;
    if (same || n - n_same > SHOWN)
      continue;
    g_string_append_printf (other, "#   %s of %.0f B on %u GPUs: %s %s, not %s %s\n", base_name (mdl_op_names, (int)c->op),
                            c->size_B, c->gpus, base_name (mdl_algo_names, c->algo), base_name (mdl_proto_names, c->proto),
                            base_name (mdl_algo_names, coll.algo), base_name (mdl_proto_names, coll.proto));
  }
  if (n > 0)
    g_string_append_printf (out, "# NCCL's choice: %u of %u as predicted\n%s", n_same, n, other->str);
}

/* ---- the answer ---- */

/* Bands from one half of the held-out points, and how many of the other half they hold. */
static void
find_bands (const Fit *fit, const int *stage, const double *predicted_s, const double limits_B[2], RepFit *report)
{
  const GArray *points = fit->points;
  g_autofree gboolean *first = g_new0 (gboolean, MAX (points->len, 1));
  guint n_held = 0;
  for (guint i = 0; i < points->len; i++)
    if (stage[i] >= 0 && g_array_index (points, CalFitPoint, i).use != CAL_USE_FIT)
      first[i] = n_held++ % 2 == 0;
  cal_fit_bands (points, predicted_s, first, BAND_SHARE, limits_B, report->band);
  for (int b = 0; b < MDL_SIZE_N; b++) {
    guint n = 0, n_in = 0;
    for (guint i = 0; i < points->len; i++) {
      const CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
      if (stage[i] < 0 || p->use == CAL_USE_FIT || first[i] || (int)mdl_size_class (p->size_B, limits_B) != b)
        continue;
      n++;
      n_in += fabs (log (predicted_s[i] / p->measured_s)) <= log1p (report->band[b]);
    }
    report->covered[b] = n > 0 ? (double)n_in / n : (double)NAN;
  }
}

static const BaseColumn point_columns[] = {
  { "system", NULL, BASE_CELL_TEXT, 0, NULL },
  { "stage", NULL, BASE_CELL_TEXT, 0, NULL },
  { "part", NULL, BASE_CELL_TEXT, 0, NULL },
  { "op", NULL, BASE_CELL_TEXT, 0, NULL },
  { "algo", NULL, BASE_CELL_TEXT, 0, NULL },
  { "proto", NULL, BASE_CELL_TEXT, 0, NULL },
  { "launch", NULL, BASE_CELL_TEXT, 0, NULL },
  { "ranks", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "max_channels", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "bytes", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "measured_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_lo_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_hi_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "measured_busbw_Bps", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "predicted_busbw_Bps", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

/* Points that tell a stage, with the band of their size. */
static GString *
list_points (const Fit *fit, const int *stage, const double *predicted_s, const double limits_B[2], const RepFit *report)
{
  g_autoptr (BaseTable) table = base_table_new (point_columns);
  for (guint i = 0; i < fit->points->len; i++) {
    const CalFitPoint *p = &g_array_index (fit->points, CalFitPoint, i);
    if (stage[i] < 0)
      continue;
    double wider = 1 + report->band[mdl_size_class (p->size_B, limits_B)];
    base_table_row (table);
    base_table_text (table, "system", BASE_LIST_AT (fit->data.spec.systems, CliSystem, p->system)->name.v);
    base_table_text (table, "stage", g_array_index (report->fit->stages, CalFitStage, stage[i]).name);
    base_table_text (table, "part", cal_use_titles[p->use]);
    base_table_text (table, "op", base_name (mdl_op_names, (int)p->op));
    base_table_text (table, "algo", base_name (mdl_algo_names, p->algo));
    base_table_text (table, "proto", base_name (mdl_proto_names, p->proto));
    base_table_text (table, "launch", base_name (mdl_launch_names, (int)p->launch));
    base_table_integer (table, "nodes", p->nodes);
    base_table_integer (table, "ranks", p->ranks);
    if (p->max_channels > 0)
      base_table_integer (table, "max_channels", p->max_channels);
    base_table_number (table, "bytes", p->size_B);
    base_table_number (table, "measured_s", p->measured_s);
    base_table_number (table, "predicted_s", predicted_s[i]);
    base_table_number (table, "predicted_lo_s", predicted_s[i] / wider);
    base_table_number (table, "predicted_hi_s", predicted_s[i] * wider);
    double bus_B = p->size_B * mdl_op_busbw_factor (p->op, p->ranks);
    base_table_number (table, "measured_busbw_Bps", bus_B / p->measured_s);
    base_table_number (table, "predicted_busbw_Bps", bus_B / predicted_s[i]);
  }
  GString *text = g_string_new (NULL);
  base_table_print_tsv (table, text);
  return text;
}

static char *
held_out_line (const GArray *scores)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; i < scores->len; i++) {
    const RepFitScore *s = &g_array_index (scores, RepFitScore, i);
    if (s->stage == NULL && s->band == MDL_SIZE_N)
      g_string_append_printf (line, "%s%s: %u points, median %.1f %%, 95th percentile %.1f %%", line->len > 0 ? "; " : "Error on ",
                              s->use == CAL_USE_FIT ? "what was fitted" : cal_use_titles[s->use], s->n, 100 * s->median,
                              100 * s->p95);
  }
  return g_strdup (line->str);
}

static char *
describe (const Fit *fit, const GPtrArray *sections)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < fit->data.spec.systems.n; i++) {
    guint n = 0;
    for (guint k = 0; k < fit->points->len; k++)
      n += g_array_index (fit->points, CalFitPoint, k).system == i;
    if (n > 0)
      g_string_append_printf (text, "%s%s (%u)", text->len > 0 ? ", " : "",
                              BASE_LIST_AT (fit->data.spec.systems, CliSystem, i)->name.v, n);
  }
  for (guint i = 0; i < sections->len; i++) {
    const CalSectionFit *section = sections->pdata[i];
    g_string_append_printf (text, "%s%s (%u)", text->len > 0 ? ", " : "", section->section->keys->name, section->points->len);
  }
  return g_strdup_printf ("%s: %s", fit->data.spec.name.v, text->str);
}

static void
write_json (const RepFit *report, const GPtrArray *sections, JsonBuilder *json)
{
  json_builder_begin_object (json);
  if (report->fit != NULL)
    rep_fit_json (report, json);
  json_builder_set_member_name (json, "sections");
  rep_fit_sections_json (sections, json);
  json_builder_end_object (json);
}

static void
write_answer (Cli *cli, const Flags *flags, const Fit *fit, const RepFit *report, const GPtrArray *sections)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    write_json (report, sections, json);
    cli_json_close (cli, json);
    return;
  }
  if (cli->format == CLI_FORMAT_TSV) {
    if (report->fit != NULL)
      rep_fit_tsv (report, cli->out);
    rep_fit_sections_tsv (sections, cli->out);
    return;
  }
  g_autofree char *held_out = report->fit != NULL ? held_out_line (report->scores) : NULL, *from = describe (fit, sections);
  CalFitFile file = { .name = flags->name != NULL ? flags->name : "fitted",
                      .over = cli_calibration_name (cli),
                      .from = from,
                      .min_size_B = HUGE_VAL,
                      .held_out = held_out,
                      .sections = sections };
  memcpy (file.band, report->band, sizeof file.band);
  for (guint i = 0; i < fit->points->len; i++) {
    const CalFitPoint *p = &g_array_index (fit->points, CalFitPoint, i);
    file.min_size_B = fmin (file.min_size_B, p->size_B);
    file.max_size_B = fmax (file.max_size_B, p->size_B);
    file.max_ranks = MAX (file.max_ranks, p->ranks);
    file.max_nodes = MAX (file.max_nodes, p->nodes);
  }
  g_autofree char *yaml = cal_fit_write (report->fit, &file);
  g_string_append (cli->out, yaml);
}

/* `sizes`, `gpus`, names of operations and of systems. */
static gboolean
parse_hold_out (const Cli *cli, Fit *fit, GError **error)
{
  const char *text = fit->flags->hold_out != NULL ? fit->flags->hold_out : "sizes,gpus";
  const CliMeasurements *spec = &fit->data.spec;
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  fit->held = g_new0 (gboolean, MAX (spec->systems.n, 1));
  fit->hold_out.systems = fit->held;
  for (char **word = words; *word != NULL; word++) {
    const BaseName *op = base_name_find (mdl_op_names, *word);
    const CliSystem *system = find_system (spec, *word);
    if (strcmp (*word, "sizes") == 0)
      fit->hold_out.sizes = TRUE;
    else if (strcmp (*word, "gpus") == 0)
      fit->hold_out.ranks = TRUE;
    else if (op != NULL)
      fit->hold_out.ops |= 1u << op->code;
    else if (system != NULL)
      fit->held[system - BASE_LIST_AT (spec->systems, CliSystem, 0)] = TRUE;
    else if (strcmp (*word, "none") != 0 || words[1] != NULL)
      return cli_fail (cli, error, "--hold-out '%s': sizes, gpus, operations and systems by name, or none is accepted", text);
  }
  return TRUE;
}

static gboolean
holds_out (const Fit *fit)
{
  gboolean any = fit->hold_out.sizes || fit->hold_out.ranks || fit->hold_out.ops != 0;
  for (guint i = 0; i < fit->data.spec.systems.n; i++)
    any = any || fit->held[i];
  return any;
}

/* The constants that all is fitted over: of the first communicator; those of the others are the same by --over or by their GPU. */
static const MdlLibrary *
base_library (Cli *cli, const Fit *fit, GError **error)
{
  for (guint i = 1; i < cli->cals->len; i++)
    if (strcmp (cst_name (cli->cals->pdata[i]), cst_name (cli->cals->pdata[0])) != 0) {
      cli_fail (cli, error, "systems by %s and by %s cannot be fitted together; --over or --systems chooses",
                cst_name (cli->cals->pdata[0]), cst_name (cli->cals->pdata[i]));
      return NULL;
    }
  return ((const CliGroup *)fit->groups->pdata[0])->comm.library;
}

static gboolean
is_file (const char *word)
{
  return g_str_has_suffix (word, ".csv") || cli_is_probe (word);
}

/* A folder with systems.yaml, or files of one machine. */
static gboolean
load (Cli *cli, const Flags *flags, char **words, CliData *data, GError **error)
{
  gboolean folder = g_file_test (words[0], G_FILE_TEST_IS_DIR) || (flags->topology == NULL && !is_file (words[0]));
  const char *of_files = flags->topology != NULL  ? "--topology"
                         : flags->launch != NULL  ? "--launch"
                         : flags->disable != NULL ? "--disable"
                                                  : NULL;
  if (folder && of_files != NULL)
    return cli_fail (cli, error, "%s is of files; systems.yaml of %s says it", of_files, words[0]);
  if (folder && words[1] != NULL)
    return cli_fail (cli, error, "one folder at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if (folder)
    return cli_data_load (cli, words[0], NULL, data, error);
  CliFilesFlags files = { .topology = flags->topology, .disable = flags->disable, .launch = MDL_LAUNCH_THREADS };
  if (flags->systems != NULL)
    return cli_fail (cli, error, "--systems is of a folder with systems.yaml");
  if (files.topology == NULL)
    return cli_fail (cli, error, "which node was measured? --topology names it (forerun list topologies)");
  return cli_name_value (cli, "--launch", flags->launch, mdl_launch_names, &files.launch, error) &&
         cli_data_load_files (cli, words, &files, data, error);
}

/* What the fit of collectives came to; zeroes without one. */
typedef struct {
  CalFit *found, *all; /* without what was held out; of all points, NULL where those are asked for */
  GArray *scores;
  RepFit report;
} Collectives;

static void
collectives_clear (Collectives *c)
{
  g_clear_pointer (&c->found, cal_fit_free);
  g_clear_pointer (&c->all, cal_fit_free);
  g_clear_pointer (&c->scores, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Collectives, collectives_clear)

/* Fits the points of fit->data; `text`: what is to be told of it. */
static gboolean
fit_collectives (Cli *cli, Fit *fit, Collectives *out, GString *text, GError **error)
{
  const Flags *flags = fit->flags;
  const MdlLibrary *library = base_library (cli, fit, error);
  if (library == NULL)
    return FALSE;
  g_autofree MdlLibrary *defaults = g_new (MdlLibrary, 1);
  *defaults = *library; /* the groups' own are changed */
  const CalFitModel model = { set_constant, predict_point, fit };
  const double limits_B[2] = { defaults->small_to.v, defaults->middle_to.v };
  if (flags->offset != NULL && !settle_offsets (cli, fit, defaults, &model, text, error))
    return FALSE;
  cal_fit_split (fit->points, &fit->hold_out);
  CalFit *found = cal_fit_run (defaults, fit->points, &model, error);
  out->report.fit = out->found = found;
  if (found == NULL)
    return FALSE;
  g_autofree int *stage = stages_of (found, fit->points);
  g_autofree double *predicted_s = g_new (double, MAX (fit->points->len, 1));
  for (guint i = 0; i < fit->points->len; i++)
    predicted_s[i] = predict_point (fit, i);
  out->report.scores = out->scores = rep_fit_score (found, fit->points, stage, predicted_s, limits_B);
  find_bands (fit, stage, predicted_s, limits_B, &out->report);
  if (flags->points != NULL &&
      !cli_add_file (cli, "--points", flags->points, list_points (fit, stage, predicted_s, limits_B, &out->report), error))
    return FALSE;
  if (!flags->split && holds_out (fit)) {
    reset_constants (fit, found);
    cal_fit_split (fit->points, &(CalHoldOut){ 0 });
    out->report.fit = out->all = cal_fit_run (defaults, fit->points, &model, error);
    out->report.all_fitted = TRUE;
    if (out->all == NULL)
      return FALSE;
  }
  tell_choices (fit, text);
  rep_fit_text (&out->report, text);
  return TRUE;
}

static gboolean
answer (Cli *cli, const Flags *flags, char **words, GError **error)
{
  g_auto (Fit) fit = { .flags = flags,
                       .groups = g_ptr_array_new_with_free_func (free_group),
                       .points = g_array_new (FALSE, FALSE, sizeof (CalFitPoint)),
                       .priced = g_array_new (FALSE, FALSE, sizeof (Priced)) };
  static char model[] = "model";
  CliPredict predict = { .mode = model,
                         .folder = words[1] == NULL && flags->topology == NULL ? words[0] : ".",
                         .calibration = flags->over };
  CliFitSections how = { .topology = flags->topology, .over = flags->over, .split = flags->split };
  if ((flags->min_size != NULL && !cli_size_value (cli, "--min-size", flags->min_size, &fit.min_size_B, error)) ||
      !load (cli, flags, words, &fit.data, error) || !parse_hold_out (cli, &fit, error) || !choose_points (cli, &fit, error) ||
      !check_versions (cli, &fit, flags->topology != NULL, error) || !mark_unknown (cli, &fit, error))
    return FALSE;
  how.hold_out = fit.hold_out.sizes;
  /* first, since collectives go over the links that are fitted */
  MdlLinks links;
  g_autoptr (GPtrArray) sections = cli_fit_sections (cli, &how, fit.data.probes, &links, error);
  if (sections == NULL)
    return FALSE;
  predict.links = cli_fit_has_links (sections) ? &links : NULL;
  if (!cli_predict (cli, &predict, &fit.data, take_group, &fit, error))
    return FALSE;
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (Collectives) collectives = { 0 };
  for (int b = 0; b < MDL_SIZE_N; b++)
    collectives.report.band[b] = (double)NAN;
  g_autoptr (GError) cause = NULL;
  if (fit.groups->len > 0 && !fit_collectives (cli, &fit, &collectives, text, &cause)) {
    /* too few collectives beside copies and the like are no reason to give up what these tell */
    if (sections->len == 0 || collectives.found != NULL || flags->offset != NULL ||
        !g_error_matches (cause, BASE_ERROR, (gint)BASE_ERROR_INPUT)) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
    g_autofree char *why = g_strdup_printf ("collectives are not fitted: %s", cause->message);
    cli_warn (cli, why);
    g_array_set_size (fit.points, 0);
  }
  if (fit.groups->len == 0 && sections->len == 0)
    return cli_fail (cli, error, "nothing is left to fit: collectives with P2P on are, and the other sections of a probe's file");
  if (fit.n_left > 0)
    g_string_append_printf (cli->talk, "forerun fit: %u points are not fitted (P2P off, one way, too short, cannot run)\n",
                            fit.n_left);
  rep_fit_sections_text (sections, text);
  if (flags->section_points != NULL &&
      !cli_add_file (cli, "--section-points", flags->section_points, rep_fit_sections_points (sections), error))
    return FALSE;
  if (cli->format == CLI_FORMAT_TEXT && flags->report == NULL)
    g_string_append (cli->talk, text->str);
  if (flags->report != NULL && !cli_add_file (cli, "--report", flags->report, g_steal_pointer (&text), error))
    return FALSE;
  write_answer (cli, flags, &fit, &collectives.report, sections);
  return TRUE;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  if (words[0] == NULL)
    return cli_fail (cli, error, "which measurements? a folder with systems.yaml, or files of forerun-probe or CSV and --topology");
  return cli_lookup (cli, error) && answer (cli, data, words, error);
}

const CliVerb cli_verb_fit = {
  .name = "fit",
  .summary = "constants of the models from measurements, with intervals and the error on what was held out",
  .usage = "FOLDER | FILE... --topology T [flags] -o CAL.yaml",
  .example = "forerun fit probe.json nvbandwidth.json fio.json --topology hgx_h200 -o our_node.yaml",
  .notes =
      "FILE: what forerun-probe wrote, CSV (of collectives; of copies and storage as forerun import writes it), or what "
      "nccl-tests,\n"
      "nvbandwidth, p2pBandwidthLatencyTest, fio (JSON) and gdsio print, told apart by what stands in it.\n"
      "The answer is a calibration file (calibration: of a topology, --calibration of a verb); what was found goes to stderr or\n"
      "--report. A constant that the measurements leave open keeps its default, and the file says so.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_TSV,
  .run = run,
};
