/* --vary: a verb run for each combination of some values of its input, and one table of what came out.
 * Each point is a run of its own, as if its values stood in --set, so that whatever a file may say can be varied. Points run side
 * by side, and their answers are put together in order: the number of cores does not show. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/table.h"
#include "draw-private.h"

#define MAX_POINTS 10000u

typedef struct {
  char *path;
  GPtrArray *values; /* char * */
} Axis;

typedef struct {
  char *const *words;
  const char *format;
  Cli *cli;      /* of this point; its answer is in ->out */
  GError *error; /* NULL: it ran */
  GPtrArray *sets;
} Point;

/* A table as text: its header, then rows of as many cells. */
typedef struct {
  GPtrArray *header; /* char * */
  GPtrArray *rows;   /* GPtrArray * of char *; NULL cells are missing */
  GArray *point;     /* guint: the point of each row */
} Sheet;

/* ---- what is varied ---- */

static void
axis_free (gpointer data)
{
  Axis *axis = data;
  g_free (axis->path);
  g_ptr_array_unref (axis->values);
  g_free (axis);
}

/* Values at commas outside of brackets, braces and quotes. */
static void
split_values (const char *text, GPtrArray *values)
{
  int depth = 0;
  char quote = 0;
  const char *from = text;
  for (const char *p = text;; p++) {
    if (*p == '\0' || (*p == ',' && depth == 0 && quote == 0)) {
      g_ptr_array_add (values, g_strstrip (g_strndup (from, (gsize)(p - from))));
      from = p + 1;
      if (*p == '\0')
        return;
    } else if (quote != 0) {
      quote = *p == quote ? 0 : quote;
    } else if (*p == '"' || *p == '\'') {
      quote = *p;
    } else if (*p == '[' || *p == '{') {
      depth++;
    } else if (*p == ']' || *p == '}') {
      depth--;
    }
  }
}

static GPtrArray *
read_axes (const Cli *cli, GError **error)
{
  g_autoptr (GPtrArray) axes = g_ptr_array_new_with_free_func (axis_free);
  double points = 1;
  for (char **text = cli->varies; *text != NULL; text++) {
    const char *equals = strchr (*text, '=');
    if (equals == NULL || equals == *text) {
      cli_fail (cli, error, "--vary '%s' is not PATH=A,B,…; for example --vary node.nics.rate='200 Gb/s,400 Gb/s'", *text);
      return NULL;
    }
    Axis *axis = g_new (Axis, 1);
    *axis = (Axis){ g_strndup (*text, (gsize)(equals - *text)), g_ptr_array_new_with_free_func (g_free) };
    g_ptr_array_add (axes, axis);
    split_values (equals + 1, axis->values);
    for (guint i = 0; i < axis->values->len; i++)
      if (*(const char *)axis->values->pdata[i] == '\0') {
        cli_fail (cli, error, "--vary '%s': value %u is empty; values stand between commas", *text, i + 1);
        return NULL;
      }
    for (guint i = 0; i + 1 < axes->len; i++)
      if (strcmp (((const Axis *)axes->pdata[i])->path, axis->path) == 0) {
        cli_fail (cli, error, "--vary %s is given twice; all its values belong into one", axis->path);
        return NULL;
      }
    points *= axis->values->len;
  }
  if (points > MAX_POINTS) {
    cli_fail (cli, error, "--vary asks for %.0f combinations; at most %u are accepted", points, MAX_POINTS);
    return NULL;
  }
  return g_steal_pointer (&axes);
}

/* Value of an axis at a point: the last axis runs fastest. */
static const char *
value_at (const GPtrArray *axes, guint axis, guint point)
{
  for (guint i = axes->len - 1; i > axis; i--)
    point /= ((const Axis *)axes->pdata[i])->values->len;
  const GPtrArray *values = ((const Axis *)axes->pdata[axis])->values;
  return values->pdata[point % values->len];
}

static char *
point_name (const GPtrArray *axes, guint point)
{
  GString *name = g_string_new (NULL);
  for (guint i = 0; i < axes->len; i++)
    g_string_append_printf (name, "%s%s=%s", i > 0 ? " " : "", ((const Axis *)axes->pdata[i])->path, value_at (axes, i, point));
  return g_string_free (name, FALSE);
}

/* ---- running ---- */

static void
run_point (void *item)
{
  Point *point = item;
  g_ptr_array_add (point->sets, NULL);
  if (!cli_run_point (point->cli, point->words, (const char *const *)point->sets->pdata, point->format, &point->error))
    g_assert (point->error != NULL);
}

static void
point_clear (gpointer data)
{
  Point *point = data;
  cli_free (point->cli);
  g_clear_error (&point->error);
  g_ptr_array_unref (point->sets);
}

/* All points, run on as many threads as there are cores. */
static GArray *
run_all (const Cli *cli, const GPtrArray *axes, char *const *words)
{
  guint n = 1;
  for (guint i = 0; i < axes->len; i++)
    n *= ((const Axis *)axes->pdata[i])->values->len;
  g_autoptr (GArray) points = g_array_sized_new (FALSE, TRUE, sizeof (Point), n);
  g_array_set_clear_func (points, point_clear);
  g_array_set_size (points, n);
  const int argc = (int)g_strv_length (cli->command);
  for (guint k = 0; k < n; k++) {
    Point *point = &g_array_index (points, Point, k);
    *point = (Point){ .words = words,
                      .format = cli->format == CLI_FORMAT_JSON ? "json" : "tsv",
                      .cli = cli_new (cli->verb, argc, cli->command),
                      .sets = g_ptr_array_new_with_free_func (g_free) };
    for (guint i = 0; i < axes->len; i++)
      g_ptr_array_add (point->sets, g_strdup_printf ("%s=%s", ((const Axis *)axes->pdata[i])->path, value_at (axes, i, k)));
  }
  base_parallel_each (points->data, points->len, sizeof (Point), 0, run_point);
  return g_steal_pointer (&points);
}

/* An error without its count of errors. */
static char *
reason (const GError *error)
{
  char *why = g_strchomp (g_strdup (error->message));
  if (g_str_has_suffix (why, "nothing was run") && strrchr (why, '\n') != NULL)
    *strrchr (why, '\n') = '\0';
  return why;
}

static gboolean
said_by_all (const GArray *points, const char *warning)
{
  gboolean all = TRUE;
  for (guint k = 0; k < points->len && all; k++)
    all = g_ptr_array_find_with_equal_func (g_array_index (points, Point, k).cli->warnings, warning, g_str_equal, NULL);
  return all;
}

/* Inputs and warnings of all points are those of the whole; what did not run is told. FALSE and *error when none did. */
static gboolean
gather (Cli *cli, const GPtrArray *axes, const GArray *points, GError **error)
{
  guint failed = 0;
  for (guint k = 0; k < points->len; k++) {
    const Point *point = &g_array_index (points, Point, k);
    if (point->cli->files->len > 0)
      return cli_fail (cli, error, "--vary writes one table: leave out the flag that names '%s'",
                       ((const CliFile *)point->cli->files->pdata[0])->path);
    for (guint i = 0; i < point->cli->warnings->len; i++) {
      const char *text = point->cli->warnings->pdata[i];
      g_autofree char *name = said_by_all (points, text) ? NULL : point_name (axes, k);
      g_autofree char *named = name != NULL ? g_strdup_printf ("%s: %s", name, text) : g_strdup (text);
      cli_warn (cli, named);
    }
    rep_inputs_merge (cli->inputs, point->cli->inputs);
    for (guint i = 0; i < point->cli->read->len; i++)
      if (!g_ptr_array_find_with_equal_func (cli->read, point->cli->read->pdata[i], g_str_equal, NULL))
        g_ptr_array_add (cli->read, g_strdup (point->cli->read->pdata[i]));
    cli->seed = point->cli->seed;
    cli->status = MAX (cli->status, point->cli->status);
    if (point->error == NULL)
      continue;
    failed++;
    g_autofree char *name = point_name (axes, k), *why = reason (point->error);
    g_string_append_printf (cli->talk, "%s did not run: %s\n", name, why);
  }
  if (failed < points->len)
    return TRUE;
  g_string_truncate (cli->talk, 0);
  g_propagate_error (error, g_error_copy (g_array_index (points, Point, 0).error));
  return FALSE;
}

/* ---- one table ---- */

static GPtrArray *
cells_of (const char *line)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", -1);
  GPtrArray *cells = g_ptr_array_new_with_free_func (g_free);
  for (char **part = parts; *part != NULL; part++)
    g_ptr_array_add (cells, g_strdup (*part));
  return cells;
}

static guint
column_of (GPtrArray *header, const char *name, gboolean add)
{
  guint at;
  if (g_ptr_array_find_with_equal_func (header, name, g_str_equal, &at))
    return at;
  if (!add)
    return G_MAXUINT;
  g_ptr_array_add (header, g_strdup (name));
  return header->len - 1;
}

/* The points' own tables below each other, what is varied before them and `error` after. */
static void
sheet_fill (Sheet *sheet, const GPtrArray *axes, const GArray *points)
{
  for (guint i = 0; i < axes->len; i++)
    g_ptr_array_add (sheet->header, g_strdup (((const Axis *)axes->pdata[i])->path));
  for (guint k = 0; k < points->len; k++) {
    const Point *point = &g_array_index (points, Point, k);
    g_auto (GStrv) lines = g_strsplit (point->error == NULL ? point->cli->out->str : "\n", "\n", -1);
    g_autoptr (GPtrArray) own = cells_of (lines[0]);
    g_autoptr (GArray) to = g_array_new (FALSE, FALSE, sizeof (guint));
    for (guint i = 0; i < own->len && point->error == NULL; i++) {
      guint at = column_of (sheet->header, own->pdata[i], TRUE);
      g_array_append_val (to, at);
    }
    for (char **line = lines + 1; *line != NULL; line++) {
      if (**line == '\0' && point->error == NULL)
        continue;
      g_autoptr (GPtrArray) cells = cells_of (*line);
      GPtrArray *row = g_ptr_array_new_with_free_func (g_free);
      for (guint i = 0; i < axes->len; i++)
        g_ptr_array_add (row, g_strdup (value_at (axes, i, k)));
      for (guint i = 0; i < to->len && i < cells->len; i++) {
        guint at = g_array_index (to, guint, i);
        while (row->len <= at)
          g_ptr_array_add (row, NULL);
        g_free (row->pdata[at]);
        row->pdata[at] = g_steal_pointer (&cells->pdata[i]);
      }
      g_ptr_array_add (sheet->rows, row);
      g_array_append_val (sheet->point, k);
    }
  }
}

static const char *
cell (const GPtrArray *row, guint at)
{
  const char *text = at < row->len ? row->pdata[at] : NULL;
  return text != NULL && *text != '\0' ? text : NULL;
}

static gboolean
is_number (const char *text, double *value)
{
  char *end;
  if (text == NULL)
    return FALSE;
  double x = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !isfinite (x))
    return FALSE;
  *value = x;
  return TRUE;
}

/* What a reader of text sees first, of the columns that verbs have; the first that is there is what is drawn and compared. */
static const char *const headlines[] = { "step_time_s",
                                         "time_s",
                                         "slowdown",
                                         "busbw_Bps",
                                         "rate_Bps",
                                         "op",
                                         "bytes",
                                         "nodes",
                                         "ranks",
                                         "dp",
                                         "algo",
                                         "proto",
                                         "best",
                                         "mfu",
                                         "tokens_per_s",
                                         "comm_compute_ratio",
                                         "exposed_fraction",
                                         "memory_total_B",
                                         "memory_fits",
                                         "goodput",
                                         "bound_by",
                                         "provenance",
                                         NULL };

/* Where nobody asked for columns: of rows that have names these first, and all of an answer without anything of the list above. */
static void
choose_by_default (const Sheet *sheet, guint n_axes, GArray *chosen)
{
  guint name = column_of (sheet->header, "name", FALSE);
  if (chosen->len > 0 && name != G_MAXUINT && name >= n_axes)
    g_array_prepend_val (chosen, name);
  if (chosen->len > 0)
    return;
  for (guint i = n_axes; i < sheet->header->len; i++)
    if (strcmp (sheet->header->pdata[i], "error") != 0)
      g_array_append_val (chosen, i);
}

/* Indices of the columns to show: --columns', else those of the list above, else all. */
static GArray *
choose (Cli *cli, const Sheet *sheet, guint n_axes, GError **error)
{
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (guint));
  g_auto (GStrv) named = cli->columns != NULL ? g_strsplit (cli->columns, ",", -1) : NULL;
  const char *const *usual = cli->verb->headlines != NULL ? cli->verb->headlines : headlines;
  for (const char *const *name = named != NULL ? (const char *const *)named : usual; *name != NULL; name++) {
    guint at = column_of (sheet->header, *name, FALSE);
    if (at != G_MAXUINT && at >= n_axes) {
      g_array_append_val (chosen, at);
    } else if (named != NULL) {
      g_autoptr (GPtrArray) known = g_ptr_array_new ();
      for (guint i = n_axes; i < sheet->header->len; i++)
        g_ptr_array_add (known, sheet->header->pdata[i]);
      g_ptr_array_add (known, NULL);
      g_autofree char *hint = base_hint (*name, (const char *const *)known->pdata), *all = g_strjoinv (", ", (char **)known->pdata);
      cli_fail (cli, error, "--columns '%s' is no column of this answer%s; there are: %s", *name, hint, all);
      return NULL;
    }
  }
  if (named == NULL)
    choose_by_default (sheet, n_axes, chosen);
  return g_steal_pointer (&chosen);
}

/* The first shown column that holds numbers; G_MAXUINT: none. */
static guint
headline_of (const Sheet *sheet, const GArray *chosen)
{
  double value;
  for (guint i = 0; i < chosen->len; i++)
    for (guint r = 0; r < sheet->rows->len; r++)
      if (is_number (cell (sheet->rows->pdata[r], g_array_index (chosen, guint, i)), &value))
        return g_array_index (chosen, guint, i);
  return G_MAXUINT;
}

/* Whole numbers, numbers or text: the narrowest that holds every row. */
static BaseCellKind
kind_of (const Sheet *sheet, guint at)
{
  BaseCellKind kind = BASE_CELL_INTEGER;
  for (guint r = 0; r < sheet->rows->len; r++) {
    const char *text = cell (sheet->rows->pdata[r], at);
    double value;
    if (text != NULL && !is_number (text, &value))
      return BASE_CELL_TEXT;
    if (text != NULL && strspn (text, "-0123456789") != strlen (text))
      kind = BASE_CELL_NUMBER;
  }
  return kind;
}

static void
write_text (Cli *cli, const Sheet *sheet, const GArray *chosen, guint n_axes)
{
  g_autoptr (GArray) columns = g_array_new (TRUE, TRUE, sizeof (BaseColumn));
  guint headline = headline_of (sheet, chosen);
  for (guint i = 0; i < n_axes + chosen->len; i++) {
    guint at = i < n_axes ? i : g_array_index (chosen, guint, i - n_axes);
    BaseColumn column = { sheet->header->pdata[at], sheet->header->pdata[at], i < n_axes ? BASE_CELL_TEXT : kind_of (sheet, at), 0,
                          NULL, 0 };
    column.format = column.kind == BASE_CELL_NUMBER ? "%.6g" : NULL;
    g_array_append_val (columns, column);
    if (at == headline) {
      BaseColumn ratio = { "\1ratio", "of the first", BASE_CELL_NUMBER, 0, "%.3f", 0 };
      g_array_append_val (columns, ratio);
    }
  }
  g_autoptr (BaseTable) table = base_table_new ((const BaseColumn *)(gpointer)columns->data);
  guint turn = 0; /* of the row among its point's */
  for (guint r = 0; r < sheet->rows->len; r++) {
    base_table_row (table);
    turn = r > 0 && g_array_index (sheet->point, guint, r) == g_array_index (sheet->point, guint, r - 1) ? turn + 1 : 0;
    double first = (double)NAN;
    if (headline != G_MAXUINT && turn < sheet->rows->len && g_array_index (sheet->point, guint, turn) == 0)
      (void)is_number (cell (sheet->rows->pdata[turn], headline), &first);
    for (guint i = 0; i < columns->len; i++) {
      const BaseColumn *column = &g_array_index (columns, BaseColumn, i);
      gboolean is_ratio = column->key[0] == '\1';
      const char *text = cell (sheet->rows->pdata[r], is_ratio ? headline : column_of (sheet->header, column->key, FALSE));
      double value = (double)NAN;
      if (column->kind == BASE_CELL_TEXT)
        base_table_text (table, column->key, text);
      else if (column->kind == BASE_CELL_INTEGER && text != NULL)
        base_table_integer (table, column->key, g_ascii_strtoll (text, NULL, 10));
      else if (column->kind == BASE_CELL_INTEGER)
        continue;
      else if (is_number (text, &value) && is_ratio)
        base_table_number (table, column->key, value / first);
      else
        base_table_number (table, column->key, value);
    }
  }
  base_table_print_text (table, cli->out);
}

static void
write_tsv (Cli *cli, const Sheet *sheet, const GArray *points)
{
  for (guint i = 0; i < sheet->header->len; i++)
    g_string_append_printf (cli->out, "%s\t", (const char *)sheet->header->pdata[i]);
  g_string_append (cli->out, "error\n");
  for (guint r = 0; r < sheet->rows->len; r++) {
    const Point *point = &g_array_index (points, Point, g_array_index (sheet->point, guint, r));
    for (guint i = 0; i < sheet->header->len; i++) {
      const char *text = cell (sheet->rows->pdata[r], i);
      g_string_append_printf (cli->out, "%s\t", text != NULL ? text : "");
    }
    g_autofree char *why = point->error != NULL ? reason (point->error) : g_strdup ("");
    g_string_append (cli->out, g_strdelimit (why, "\t\n", ' '));
    g_string_append_c (cli->out, '\n');
  }
}

static gboolean
write_json (Cli *cli, const GPtrArray *axes, const GArray *points, GError **error)
{
  g_autoptr (JsonBuilder) json = cli_json_open (cli);
  json_builder_begin_array (json);
  for (guint k = 0; k < points->len; k++) {
    const Point *point = &g_array_index (points, Point, k);
    json_builder_begin_object (json);
    json_builder_set_member_name (json, "vary");
    json_builder_begin_object (json);
    for (guint i = 0; i < axes->len; i++) {
      json_builder_set_member_name (json, ((const Axis *)axes->pdata[i])->path);
      json_builder_add_string_value (json, value_at (axes, i, k));
    }
    json_builder_end_object (json);
    json_builder_set_member_name (json, "results");
    if (point->error == NULL) {
      g_autoptr (JsonParser) parser = json_parser_new ();
      if (!json_parser_load_from_data (parser, point->cli->out->str, -1, error))
        return FALSE;
      JsonObject *answer = json_node_get_object (json_parser_get_root (parser));
      json_builder_add_value (json, json_object_dup_member (answer, "results"));
    } else {
      json_builder_add_null_value (json);
      json_builder_set_member_name (json, "error");
      g_autofree char *why = reason (point->error);
      json_builder_add_string_value (json, why);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  cli_json_close (cli, g_steal_pointer (&json));
  return TRUE;
}

/* ---- a picture ---- */

/* "200 Gb/s" is 200 and "Gb/s"; all values of an axis with one unit, or none, stand at their numbers, others side by side. */
static gboolean
axis_is_numeric (const Axis *axis, const char **unit)
{
  const char *first = NULL;
  for (guint i = 0; i < axis->values->len; i++) {
    const char *text = axis->values->pdata[i];
    char *end;
    (void)g_ascii_strtod (text, &end);
    if (end == text || (first != NULL && strcmp (first, end) != 0))
      return FALSE;
    first = end;
  }
  *unit = first + strspn (first, " ");
  return TRUE;
}

/* The rows of `y` against the first axis, a line for each combination of the others and of sizes. */
static gboolean
draw (Cli *cli, const char *asked, const Sheet *sheet, const GPtrArray *axes, const GArray *chosen, GError **error)
{
  guint y = headline_of (sheet, chosen);
  if (y == G_MAXUINT)
    return cli_fail (cli, error, "--vary-plot: no column of this answer holds numbers");
  if (!cli_lookup (cli, error))
    return FALSE;
  const Axis *axis = axes->pdata[0];
  const char *unit = "";
  gboolean numeric = axis_is_numeric (axis, &unit);
  static const char *const apart[] = { "op", "bytes", "nodes", "algo", "proto", NULL };
  g_autoptr (GString) tsv = g_string_new ("x\tlabel\tseries\ty\n");
  for (guint r = 0; r < sheet->rows->len; r++) {
    const GPtrArray *row = sheet->rows->pdata[r];
    double value;
    if (!is_number (cell (row, y), &value))
      continue;
    const char *at = cell (row, 0);
    guint index = 0;
    while (strcmp (axis->values->pdata[index], at) != 0)
      index++;
    g_autoptr (GString) series = g_string_new (NULL);
    for (guint i = 1; i < axes->len; i++)
      g_string_append_printf (series, "%s%s %s", series->len > 0 ? ", " : "", ((const Axis *)axes->pdata[i])->path, cell (row, i));
    for (const char *const *name = apart; *name != NULL; name++) {
      guint column = column_of (sheet->header, *name, FALSE);
      gboolean differs = FALSE;
      for (guint k = 0; k < sheet->rows->len && column != G_MAXUINT && column != y; k++)
        differs = differs || (g_array_index (sheet->point, guint, k) == g_array_index (sheet->point, guint, r) &&
                              g_strcmp0 (cell (sheet->rows->pdata[k], column), cell (row, column)) != 0);
      if (differs)
        g_string_append_printf (series, "%s%s %s", series->len > 0 ? ", " : "", *name, cell (row, column));
    }
    g_string_append_printf (tsv, "%.17g\t%s\t%s\t%.17g\n", numeric ? g_ascii_strtod (at, NULL) : (double)index, at,
                            series->len > 0 ? series->str : (const char *)sheet->header->pdata[y], value);
  }
  g_autofree char *x_name = *unit != '\0' ? g_strdup_printf ("%s (%s)", axis->path, unit) : g_strdup (axis->path);
  g_autofree char *x_quoted = rep_picture_quote (x_name), *y_quoted = rep_picture_quote (sheet->header->pdata[y]);
  g_autoptr (GPtrArray) pictures = rep_pictures_new ();
  rep_pictures_add (pictures, "vary", "vary.gp", "", asked, g_steal_pointer (&tsv),
                    g_strdup_printf ("; x_name=%s; y_name=%s; numeric=%d", x_quoted, y_quoted, numeric ? 1 : 0));
  return cli_draw (cli, "--vary-plot", cli->vary_plot, pictures, error);
}

static gboolean
ends_in (const char *name, const char *end)
{
  return g_str_has_suffix (name, end);
}

/* What a column is called in a picture, and what its values are multiplied by: "rate (GB/s)", 1e-9. Returned: full. */
static char *
name_of_column (const char *key, double *scale)
{
  const gboolean rate = ends_in (key, "_Bps"), bytes = ends_in (key, "_B"), time = ends_in (key, "_s") && !ends_in (key, "_per_s");
  *scale = rate || bytes ? 1e-9 : 1;
  if (!rate && !bytes && !time)
    return g_strdup (key);
  g_autofree char *stem = g_strndup (key, strlen (key) - (rate ? 4 : 2));
  return g_strdup_printf ("%s (%s)", stem, rate ? "GB/s" : bytes ? "GB" : "s");
}

/* The headline over the first two axes. */
static gboolean
draw_map (Cli *cli, const char *asked, const Sheet *sheet, const GPtrArray *axes, const GArray *chosen, GError **error)
{
  guint z = headline_of (sheet, chosen);
  if (axes->len != 2)
    return cli_fail (cli, error, "--vary-map is of two keys, and %u %s varied", axes->len, axes->len == 1 ? "is" : "are");
  if (z == G_MAXUINT)
    return cli_fail (cli, error, "--vary-map: no column of this answer holds numbers");
  for (guint r = 1; r < sheet->rows->len; r++)
    if (g_array_index (sheet->point, guint, r) == g_array_index (sheet->point, guint, r - 1))
      return cli_fail (cli, error, "--vary-map: a combination has several rows; accepted: an answer of one row, e.g. one size");
  if (!cli_lookup (cli, error))
    return FALSE;
  const Axis *across = axes->pdata[0], *up = axes->pdata[1];
  const char *unit = "";
  const gboolean numeric = axis_is_numeric (across, &unit);
  double scale;
  g_autoptr (GString) tsv = g_string_new ("x\ty\tz\n");
  g_autofree char *z_name = name_of_column (sheet->header->pdata[z], &scale);
  for (guint r = 0; r < sheet->rows->len; r++) {
    const GPtrArray *row = sheet->rows->pdata[r];
    double value;
    char x[G_ASCII_DTOSTR_BUF_SIZE], text[G_ASCII_DTOSTR_BUF_SIZE] = "NaN";
    if (is_number (cell (row, z), &value))
      g_ascii_formatd (text, sizeof text, "%.9g", scale * value);
    g_ascii_formatd (x, sizeof x, "%.9g", g_ascii_strtod (cell (row, 0), NULL));
    g_string_append_printf (tsv, "%s\t%s\t%s\n", numeric ? x : cell (row, 0), cell (row, 1), text);
  }
  g_autofree char *x_name = *unit != '\0' ? g_strdup_printf ("%s (%s)", across->path, unit) : g_strdup (across->path);
  g_autofree char *x_quoted = rep_picture_quote (x_name), *y_quoted = rep_picture_quote (up->path),
                  *z_quoted = rep_picture_quote (z_name);
  g_autoptr (GPtrArray) pictures = rep_pictures_new ();
  rep_pictures_add (
      pictures, "map", "heat.gp", "", asked, g_steal_pointer (&tsv),
      g_strdup_printf ("; x_name=%s; y_name=%s; z_name=%s; numeric=%d", x_quoted, y_quoted, z_quoted, numeric ? 1 : 0));
  return cli_draw (cli, "--vary-map", cli->vary_map, pictures, error);
}

/* ---- all of it ---- */

static void
header_text (Cli *cli, const GPtrArray *axes, guint n)
{
  RepEnvelope envelope = cli_envelope (cli);
  g_autoptr (GString) what = g_string_new (cli->verb->name);
  g_string_append_printf (what, ", %u combination%s of ", n, n == 1 ? "" : "s");
  for (guint i = 0; i < axes->len; i++)
    g_string_append_printf (what, "%s%s", i > 0 ? ", " : "", ((const Axis *)axes->pdata[i])->path);
  rep_header_title (cli->out, &envelope, what->str);
}

gboolean
cli_vary (Cli *cli, char *const *words, char *const *rest, GError **error)
{
  if (!cli->verb->varies)
    return cli_fail (cli, error, "--vary has nothing to vary here; run, coll, compare, plan, explain and topo take it");
  if (cli->format > CLI_FORMAT_TSV)
    return cli_fail (cli, error, "--vary makes a table of its own; text, json and tsv are accepted by --format");
  for (char *const *word = rest; *word != NULL; word++)
    if (strcmp (*word, "-") == 0)
      return cli_fail (cli, error, "--vary reads its input many times: a file is accepted, stdin is not");
  if ((cli->vary_plot != NULL && !cli_plot_check (cli, "--vary-plot", cli->vary_plot, error)) ||
      (cli->vary_map != NULL && !cli_plot_check (cli, "--vary-map", cli->vary_map, error)))
    return FALSE;
  g_autoptr (GPtrArray) axes = read_axes (cli, error);
  g_autoptr (GArray) points = axes != NULL ? run_all (cli, axes, words) : NULL;
  if (points == NULL || !gather (cli, axes, points, error))
    return FALSE;
  if (cli->format == CLI_FORMAT_JSON)
    return cli->vary_plot == NULL && cli->vary_map == NULL
               ? write_json (cli, axes, points, error)
               : cli_fail (cli, error, "%s goes with --format text and tsv", cli->vary_plot != NULL ? "--vary-plot" : "--vary-map");
  Sheet sheet = { g_ptr_array_new_with_free_func (g_free), g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref),
                  g_array_new (FALSE, FALSE, sizeof (guint)) };
  sheet_fill (&sheet, axes, points);
  g_autoptr (GArray) chosen = choose (cli, &sheet, axes->len, error);
  g_autofree char *name = rest[0] != NULL ? g_path_get_basename (rest[0]) : g_strdup (""),
                  *asked = g_strdup_printf ("%s %s", cli->verb->name, name);
  gboolean done = chosen != NULL && (cli->vary_plot == NULL || draw (cli, asked, &sheet, axes, chosen, error)) &&
                  (cli->vary_map == NULL || draw_map (cli, asked, &sheet, axes, chosen, error));
  if (done && cli->format == CLI_FORMAT_TSV) {
    write_tsv (cli, &sheet, points);
  } else if (done) {
    header_text (cli, axes, points->len);
    write_text (cli, &sheet, chosen, axes->len);
  }
  g_ptr_array_unref (sheet.header);
  g_ptr_array_unref (sheet.rows);
  g_array_unref (sheet.point);
  return done;
}
