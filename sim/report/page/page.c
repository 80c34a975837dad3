/* A report of a run. What a reader may doubt stands in it: the constants behind the answer, assumed ones first, how good such
 * answers have been, and what the run warned of. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "cluster/spec.h"
#include "explain-private.h"
#include "facts-private.h"
#include "html-private.h"
#include "json-private.h"
#include "page-private.h"
#include "plan-private.h"
#include "report/plots.h"
#include "run-private.h"

#define RECORD_FOLDER "calibrate"

/* How good answers of a kind have been: calibrate/record.yaml. */
typedef struct {
  BaseHead head;
  BaseStr what, part;
  BaseNum points, median, tail, quantile; /* errors as fractions; the quantile that tail is of */
} RepRecordRow;
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseList rows; /* RepRecordRow */
} RepRecord;

static const BaseField row_fields[] = {
  BASE_ROW (RepRecordRow, "what", what, STR, .help = "kind of answer: collectives, training steps", .required = TRUE),
  BASE_ROW (RepRecordRow, "part", part, STR, .help = "which of them", .required = TRUE),
  BASE_ROW_NUM (RepRecordRow, "points", points, COUNT, .help = "measurements", .required = TRUE),
  BASE_ROW_NUM (RepRecordRow, "median", median, RATIO, .help = "of |predicted / measured - 1|", .required = TRUE),
  BASE_ROW_NUM (RepRecordRow, "tail", tail, RATIO, .help = "likewise, at the quantile", .required = TRUE),
  BASE_ROW_NUM (RepRecordRow, "quantile", quantile, RATIO, .help = "that `tail` is of", .required = TRUE),
  BASE_ROW_END,
};
static const BaseSchema schema_row = { .name = "row", .help = "errors of one part", .fields = row_fields };
static const BaseField record_fields[] = {
  BASE_ROW (RepRecord, "record", name, STR, .help = "its name", .required = TRUE),
  BASE_ROW (RepRecord, "rows", rows, LIST, .help = "errors by part", .sub = &schema_row, .item_size = sizeof (RepRecordRow),
            .required = TRUE),
  BASE_ROW_END,
};
static const BaseSchema schema_record = { .name = "record", .help = "how good predictions have been", .fields = record_fields };

/* ---- the answer ---- */

static void
answer_of (GString *html, const ScnResult *result)
{
  rep_html_facts_open (html);
  if (result->jobs != NULL) {
    for (guint i = 0; i < result->jobs->len; i++) {
      const ScnJobResult *job = result->jobs->pdata[i];
      g_autofree char *alone = rep_quantity (job->alone_s, BASE_DIM_TIME), *more = g_strdup_printf ("alone %s", alone);
      rep_html_quantity (html, job->name, job->time_s, BASE_DIM_TIME, more);
    }
  } else {
    rep_run_facts (result, html);
  }
  rep_html_facts_close (html);
}

static void
tables_of (GString *html, const ScnResult *result)
{
  if (rep_run_step (result) != NULL) {
    g_autoptr (BaseTable) parts = rep_parts_table (&result->training);
    rep_html_table (html, parts);
    if (result->training.memory != NULL) {
      g_autoptr (BaseTable) memory = rep_memory_table (result->training.memory);
      rep_html_heading (html, "Memory by pipeline stage");
      if (result->training.memory_advice != NULL)
        rep_html_paragraph (html, "warning", result->training.memory_advice);
      rep_html_table (html, memory);
    }
    if (result->training.loader.set) {
      g_autoptr (BaseTable) input = rep_loader_table (&result->training.loader);
      rep_html_heading (html, "Input pipeline by stage");
      rep_html_table (html, input);
    }
    g_autoptr (BaseTable) comm = rep_comm_table (&result->training);
    if (result->training.has_model && base_table_n_rows (comm) > 0) {
      rep_html_heading (html, "Communication of one rank");
      rep_html_table (html, comm);
    }
  }
  g_autoptr (BaseTable) links = rep_links_table (result->run.links);
  if (base_table_n_rows (links) > 0) {
    rep_html_heading (html, "Links by class");
    rep_html_table (html, links);
  }
}

/* ---- what it rests on ---- */

typedef struct {
  BaseSource source;
  char *name; /* owned: "qkv, out" */
  const char *note;
  double time_s;
} Basis;

#define BASIS(...) BASE_MEMBER (Basis, __VA_ARGS__)
static const BaseMember basis_members[] = {
  BASIS ("source", source, .title = "source", .names = base_source_names),
  BASIS ("name", name, .title = "of"),
  BASIS ("time_s", time_s, BASE_SHOWN ("time that depends on it (ms)", 1e3, "%.3f")),
  BASIS ("note", note, .title = "where the constant comes from"),
  BASE_MEMBER_END,
};

static void
basis_clear (gpointer data)
{
  g_free (((Basis *)data)->name);
}

static void
add_basis (GArray *bases, BaseSource source, const char *name, const char *note, double time_s)
{
  if (source >= BASE_SOURCE_N)
    return; /* the links and the question alone */
  for (guint i = 0; i < bases->len; i++) {
    Basis *basis = &g_array_index (bases, Basis, i);
    if (basis->source != source || g_strcmp0 (basis->note, note) != 0)
      continue;
    g_auto (GStrv) names = g_strsplit (basis->name, ", ", -1);
    if (!g_strv_contains ((const char *const *)names, name)) {
      char *joined = g_strconcat (basis->name, ", ", name, NULL);
      g_free (basis->name);
      basis->name = joined;
    }
    basis->time_s += time_s;
    return;
  }
  Basis basis = { source, g_strdup (name), note, time_s };
  g_array_append_val (bases, basis);
}

/* Weakest source first, then by sensitivity. */
static gint
compare_bases (gconstpointer a, gconstpointer b)
{
  const Basis *x = a, *y = b;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  return x->time_s > y->time_s ? -1 : x->time_s < y->time_s ? 1 : g_strcmp0 (x->note, y->note);
}

static void
take_cost (GArray *bases, const MdlCollCost *cost)
{
  for (unsigned i = 0; i < cost->n_terms; i++)
    add_basis (bases, cost->term[i].source, cost->term[i].name, cost->term[i].note, cost->term[i].value_s);
}

static BaseTable *
bases_table (const ScnResult *result, const ColAnswer *coll)
{
  g_autoptr (GArray) bases = g_array_new (FALSE, FALSE, sizeof (Basis));
  g_array_set_clear_func (bases, basis_clear);
  const TrnResult *step = result != NULL ? rep_run_step (result) : NULL;
  const GArray *terms = step != NULL ? step->terms : NULL;
  for (guint i = 0; terms != NULL && i < terms->len; i++) {
    const TrnStepTerm *term = &g_array_index (terms, TrnStepTerm, i);
    add_basis (bases, term->source, term->name, term->note, term->time_s * term->count);
  }
  if (coll != NULL)
    take_cost (bases, &coll->cost);
  const MdlCollCost *cost = result != NULL ? rep_run_cost (result) : NULL;
  if (cost != NULL)
    take_cost (bases, cost);
  g_array_sort (bases, compare_bases);
  return base_members_table (basis_members, bases);
}

static const BaseColumn constant_columns[] = {
  { "source", "source", BASE_CELL_TEXT, 0, NULL, 0 },
  { "class", "link class", BASE_CELL_TEXT, 0, NULL, 0 },
  { "name", "constant", BASE_CELL_TEXT, 0, NULL, 0 },
  { "value", "value", BASE_CELL_TEXT, 0, NULL, 0 },
  { "note", "where it comes from", BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static void
add_constants (BaseTable *table, BaseSource source, const CluLinkClass *class)
{
  const struct {
    const char *name;
    const BaseNum *num;
    BaseDim dim;
  } rows[] = { { "rate of a lane", &class->lane_rate, BASE_DIM_BANDWIDTH },
               { "efficiency", &class->efficiency, BASE_DIM_RATIO },
               { "efficiency of kernels' copies", &class->sm_efficiency, BASE_DIM_RATIO },
               { "latency", &class->latency, BASE_DIM_TIME },
               { "duplex", &class->duplex, BASE_DIM_RATIO } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (!rows[i].num->set || rows[i].num->source != source)
      continue;
    g_autofree char *value = rep_quantity (rows[i].num->v, rows[i].dim);
    base_table_row (table);
    base_table_text (table, "source", base_source_name (source));
    base_table_text (table, "class", class->name.v);
    base_table_text (table, "name", rows[i].name);
    base_table_text (table, "value", value);
    base_table_text (table, "note", rows[i].num->note);
  }
}

static gboolean
same_class (gconstpointer a, gconstpointer b)
{
  const CluLinkClass *x = a, *y = b;
  const BaseNum *const left[] = { &x->lane_rate, &x->efficiency, &x->sm_efficiency, &x->latency, &x->duplex };
  const BaseNum *const right[] = { &y->lane_rate, &y->efficiency, &y->sm_efficiency, &y->latency, &y->duplex };
  gboolean same = g_strcmp0 (x->name.v, y->name.v) == 0;
  for (size_t i = 0; i < G_N_ELEMENTS (left); i++)
    same = same && left[i]->source == right[i]->source && memcmp (&left[i]->v, &right[i]->v, sizeof (double)) == 0;
  return same;
}

/* Constants of the link classes that the run used (all, where `links` is NULL), weakest source first. Returned: full. */
static BaseTable *
constants_table (const Clu *clu, const GArray *links)
{
  g_autoptr (GPtrArray) classes = g_ptr_array_new ();
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    gboolean used = links == NULL;
    for (guint i = 0; links != NULL && i < links->len; i++)
      used = used || g_strcmp0 (g_array_index (links, ColLinkUse, i).link_class, link.link_class->name.v) == 0;
    if (used && !g_ptr_array_find_with_equal_func (classes, link.link_class, same_class, NULL))
      g_ptr_array_add (classes, (gpointer)link.link_class);
  }
  BaseTable *table = base_table_new (constant_columns);
  for (int source = 0; source < BASE_SOURCE_N; source++)
    for (guint i = 0; i < classes->len; i++)
      add_constants (table, (BaseSource)source, classes->pdata[i]);
  return table;
}

static void
add_basis_of_answer (GString *html, const RepPage *page)
{
  rep_html_heading (html, "Constants");
  rep_html_paragraph (html, "soft",
                      "Each constant has a source: measured on hardware, a data sheet, or assumed. Assumed constants come first: "
                      "measure those first.");
  if (page->result == NULL || page->result->jobs == NULL) {
    g_autoptr (BaseTable) bases = bases_table (page->result, page->coll);
    rep_html_table (html, bases);
  }
  g_autoptr (BaseTable) constants = constants_table (page->clu, page->result != NULL ? page->result->run.links : NULL);
  rep_html_table (html, constants);
}

#define ROW(...) BASE_MEMBER (RepRecordRow, __VA_ARGS__)
static const BaseMember record_members[] = {
  ROW ("what", what.v, .title = "predictions of"),
  ROW ("part", part.v, .title = "which"),
  ROW ("points", points.v, BASE_SHOWN ("measurements", 1, "%.0f")),
  ROW ("median", median.v, BASE_SHOWN ("median error (%)", 100, "%.1f")),
  ROW ("tail", tail.v, BASE_SHOWN ("tail error (%)", 100, "%.1f")),
  ROW ("quantile", quantile.v, BASE_SHOWN ("tail: percentile", 100, "%.0f")),
  BASE_MEMBER_END,
};

static void
add_record (GString *html, const RepRecord *record)
{
  g_autoptr (BaseTable) table = base_members_table (record_members, NULL);
  for (unsigned i = 0; i < record->rows.n; i++)
    base_members_add (table, record_members, BASE_LIST_AT (record->rows, RepRecordRow, i));
  rep_html_heading (html, "Accuracy");
  rep_html_paragraph (html, "soft",
                      "Error of the predicted time, |predicted / measured - 1|, over the measurements shipped with this version. "
                      "forerun validate and docs/validation.md show the details.");
  rep_html_table (html, table);
}

/* ---- the question ---- */

static const BaseMember input_members[] = {
  BASE_MEMBER (RepInput, "path", path, .title = "file"),
  BASE_MEMBER (RepInput, "sha256", sha256, .title = "SHA-256"),
  BASE_MEMBER_END,
};

static void
add_question (GString *html, const RepPage *page)
{
  const RepEnvelope *envelope = page->envelope;
  g_autoptr (GString) command = g_string_new (NULL);
  for (const char *const *word = envelope->command; *word != NULL; word++) {
    gboolean plain = **word != '\0' &&
                     strspn (*word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%") == strlen (*word);
    g_autofree char *quoted = plain ? g_strdup (*word) : g_shell_quote (*word);
    g_string_append_printf (command, "%s%s", command->len > 0 ? " " : "", quoted);
  }
  rep_html_heading (html, "Query");
  rep_html_pre (html, command->str);
  g_autofree char *made = g_strdup_printf ("forerun %s, seed %" G_GUINT64_FORMAT, envelope->version, envelope->seed);
  rep_html_paragraph (html, "soft", made);
  g_auto (GStrv) lines = g_strsplit (page->header, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0')
      rep_html_paragraph (html, NULL, g_str_has_prefix (*line, "# ") ? *line + 2 : *line);
  if (page->scenario != NULL)
    rep_html_pre (html, page->scenario);
}

static void
add_inputs (GString *html, const RepEnvelope *envelope)
{
  g_autoptr (BaseTable) table = base_members_table (input_members, NULL);
  for (guint i = 0; envelope->inputs != NULL && i < envelope->inputs->len; i++)
    base_members_add (table, input_members, envelope->inputs->pdata[i]);
  rep_html_heading (html, "Input files");
  rep_html_paragraph (html, "soft", "The same files, seed and version give the same answer to the byte.");
  rep_html_table (html, table);
}

/* How good predictions have been; texts live as long as *yaml, full. */
static gboolean
load_record (const BaseLookup *lookup, BaseYaml **yaml, RepRecord *record, GError **error)
{
  g_autofree char *path = base_lookup_find (lookup, "record", RECORD_FOLDER, NULL, error);
  *yaml = path != NULL ? base_yaml_load_file (path, error) : NULL;
  if (*yaml == NULL)
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (*yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_MEASURED
  };
  base_schema_read (&schema_record, base_yaml_root (*yaml), FALSE, &context, record);
  return base_diag_finish (diag, error);
}

/* FALSE and *error where gnuplot fails; *drawn FALSE where there is none. */
static gboolean
add_figures (GString *html, const RepPage *page, const BaseLookup *lookup, gboolean *drawn, GError **error)
{
  *drawn = TRUE;
  for (guint i = 0, n = 0; i < page->plots->len; i++) {
    const RepPlot *plot = page->plots->pdata[i];
    GString *svg = NULL;
    if (!rep_plot_render (plot, lookup, "--report", ".svg", &svg, error))
      return FALSE;
    *drawn = *drawn && svg != NULL;
    if (svg == NULL)
      continue;
    rep_html_figure (html, plot->caption, svg->str, ++n);
    g_string_free (svg, TRUE);
  }
  if (!*drawn)
    rep_html_paragraph (html, "soft", "Plots are missing: gnuplot was not installed where this report was made.");
  return TRUE;
}

static void
add_answer (GString *html, const RepPage *page)
{
  rep_html_heading (html, "Answer");
  if (page->plan != NULL)
    rep_plan_html_answer (page->plan, page->plan_result, html);
  else if (page->fleet != NULL)
    rep_fleet_html_answer (page->fleet, page->fleet_result, html);
  else if (page->result != NULL)
    answer_of (html, page->result);
  for (guint i = 0; page->said != NULL && i < page->said->len; i++)
    rep_html_paragraph (html, NULL, page->said->pdata[i]);
  for (guint i = 0; page->envelope->warnings != NULL && i < page->envelope->warnings->len; i++)
    rep_html_paragraph (html, "warning", page->envelope->warnings->pdata[i]);
}

/* What stands behind the pictures. */
static void
add_tables (GString *html, const RepPage *page)
{
  if (page->plan != NULL)
    rep_plan_html_tables (page->plan, page->plan_result, page->plan_rows, html);
  if (page->fleet != NULL)
    rep_fleet_html_tables (page->fleet, page->fleet_result, page->fleet_money, page->plan_rows, html);
  if (page->result != NULL) {
    if (rep_run_step (page->result) != NULL)
      rep_html_heading (html, page->plan != NULL ? "Step time of the recommended option" : "Time of the step");
    tables_of (html, page->result);
  }
  if (page->goodput != NULL)
    rep_goodput_html (page->goodput, html);
  if (page->goodput_sensitivity != NULL) {
    rep_html_heading (html, "Sensitivity of goodput");
    rep_html_table (html, page->goodput_sensitivity);
  }
  if (page->rows != NULL)
    rep_html_table (html, page->rows);
  else if (page->result == NULL && page->plan == NULL && page->fleet == NULL)
    rep_html_pre (html, page->text);
  if (page->advice != NULL) {
    rep_html_heading (html, "What would help");
    rep_advice_html (page->advice, html);
  }
  if (page->sensitivity != NULL) {
    rep_html_heading (html, "Sensitivity");
    rep_html_table (html, page->sensitivity);
  }
}

char *
rep_page (const RepPage *page, const BaseLookup *lookup, gboolean *drawn, GError **error)
{
  g_autoptr (BaseYaml) yaml = NULL;
  RepRecord record = { .head = { .set = FALSE } };
  g_autoptr (GString) html = rep_html_open (page->title, page->lead);
  add_answer (html, page);
  if (!add_figures (html, page, lookup, drawn, error) || !load_record (lookup, &yaml, &record, error))
    return NULL;
  add_tables (html, page);
  if (page->prices != NULL) {
    rep_html_heading (html, "Prices");
    rep_html_paragraph (html, "soft", "Replace assumed prices by offers before you rely on the answer.");
    rep_html_table (html, page->prices);
  }
  add_basis_of_answer (html, page);
  add_record (html, &record);
  add_question (html, page);
  add_inputs (html, page->envelope);
  if (page->result != NULL || page->rows != NULL || page->plan != NULL || page->fleet != NULL)
    rep_html_details (html, "The complete answer as text", page->text);
  return rep_html_close (g_steal_pointer (&html));
}
