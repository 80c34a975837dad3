/* The tables of all points as one. */
#include <math.h>
#include <string.h>

#include "base/lookup.h"
#include "study/vary.h"

#define MOST_WHOLE 1e17 /* numbers up to here are written without an exponent */

static const char error_key[] = "error";

/* ---- putting together ---- */

static guint
find_column (const GArray *columns, const char *key)
{
  for (guint i = 0; i < columns->len; i++)
    if (strcmp (g_array_index (columns, BaseColumn, i).key, key) == 0)
      return i;
  return G_MAXUINT;
}

/* One kind for values of two. */
static BaseCellKind
join (BaseCellKind a, BaseCellKind b)
{
  return a == b ? a : a == BASE_CELL_TEXT || b == BASE_CELL_TEXT ? BASE_CELL_TEXT : BASE_CELL_NUMBER;
}

/* Adds what columns a point's table has besides those that are there. */
static void
add_columns (GArray *columns, guint n_axes, const BaseTable *rows)
{
  for (unsigned i = 0; i < base_table_n_columns (rows); i++) {
    const BaseColumn *own = base_table_column (rows, i);
    const guint at = find_column (columns, own->key);
    const BaseColumn column = { .key = own->key, .kind = own->kind };
    if (at == G_MAXUINT)
      g_array_append_val (columns, column);
    else if (at >= n_axes)
      g_array_index (columns, BaseColumn, at).kind = join (g_array_index (columns, BaseColumn, at).kind, own->kind);
  }
}

static void
begin_row (StdSheet *sheet, const GPtrArray *axes, guint point)
{
  base_table_row (sheet->table);
  g_array_append_val (sheet->point, point);
  for (guint i = 0; i < axes->len; i++) {
    const BaseCell value = { .kind = BASE_CELL_TEXT, .known = TRUE, .text = std_axes_value (axes, i, point) };
    base_table_put (sheet->table, i, &value);
  }
}

static void
add_rows (StdSheet *sheet, const GPtrArray *axes, const GArray *columns, const StdPoint *point)
{
  g_autofree char *why = std_point_reason (point);
  const unsigned n = point->rows != NULL ? base_table_n_rows (point->rows) : 0;
  if (why != NULL) {
    const BaseCell told = { .kind = BASE_CELL_TEXT, .known = TRUE, .text = g_strdelimit (why, "\t\n", ' ') };
    begin_row (sheet, axes, point->index);
    base_table_put (sheet->table, sheet->n_columns, &told);
    return;
  }
  for (unsigned r = 0; r < n; r++) {
    begin_row (sheet, axes, point->index);
    for (unsigned i = 0; i < base_table_n_columns (point->rows); i++) {
      const BaseCell cell = base_table_cell (point->rows, r, i);
      base_table_put (sheet->table, find_column (columns, base_table_column (point->rows, i)->key), &cell);
    }
  }
}

StdSheet *
std_sheet_new (const GPtrArray *axes, const GArray *points)
{
  g_autoptr (GArray) columns = g_array_new (TRUE, TRUE, sizeof (BaseColumn));
  for (guint i = 0; i < axes->len; i++) {
    const BaseColumn column = { .key = ((const StdAxis *)axes->pdata[i])->path, .kind = BASE_CELL_TEXT };
    g_array_append_val (columns, column);
  }
  for (guint k = 0; k < points->len; k++)
    if (g_array_index (points, StdPoint, k).rows != NULL)
      add_columns (columns, axes->len, g_array_index (points, StdPoint, k).rows);
  StdSheet *sheet = g_new (StdSheet, 1);
  *sheet = (StdSheet){ .point = g_array_new (FALSE, FALSE, sizeof (guint)), .n_axes = axes->len, .n_columns = columns->len };
  const BaseColumn error = { .key = error_key, .kind = BASE_CELL_TEXT };
  g_array_append_val (columns, error);
  sheet->table = base_table_new ((const BaseColumn *)(gpointer)columns->data);
  for (guint k = 0; k < points->len; k++)
    add_rows (sheet, axes, columns, &g_array_index (points, StdPoint, k));
  return sheet;
}

void
std_sheet_free (StdSheet *sheet)
{
  if (sheet == NULL)
    return;
  base_table_free (sheet->table);
  g_array_unref (sheet->point);
  g_free (sheet);
}

/* ---- reading ---- */

gboolean
std_sheet_cell (const StdSheet *sheet, guint row, guint column, BaseCell *cell)
{
  *cell = base_table_cell (sheet->table, row, column);
  return cell->known && (cell->kind != BASE_CELL_TEXT || *cell->text != '\0');
}

char *
std_sheet_text (const StdSheet *sheet, guint row, guint column)
{
  const BaseCell cell = base_table_cell (sheet->table, row, column);
  return base_cell_text (&cell);
}

const char *
std_sheet_key (const StdSheet *sheet, guint column)
{
  return base_table_column (sheet->table, column)->key;
}

guint
std_sheet_column (const StdSheet *sheet, const char *key)
{
  for (guint i = 0; i < sheet->n_columns; i++)
    if (strcmp (std_sheet_key (sheet, i), key) == 0)
      return i;
  return G_MAXUINT;
}

static gboolean
number_at (const StdSheet *sheet, guint row, guint column, double *value)
{
  BaseCell cell;
  if (!std_sheet_cell (sheet, row, column, &cell) || cell.kind == BASE_CELL_TEXT)
    return FALSE;
  *value = cell.number;
  return TRUE;
}

/* ---- what is shown ---- */

/* No column is called `name`: says which there are. */
static void
fail_column (const StdSheet *sheet, const char *name, GError **error)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  for (guint i = sheet->n_axes; i < sheet->n_columns; i++)
    g_ptr_array_add (known, (char *)std_sheet_key (sheet, i));
  g_ptr_array_add (known, NULL);
  g_autofree char *hint = base_hint (name, (const char *const *)known->pdata), *all = g_strjoinv (", ", (char **)known->pdata);
  base_fail (error, BASE_ERROR_INPUT, "--columns: this answer has no column '%s'%s; columns here: %s", name, hint, all);
}

/* Where nobody asked for columns: of rows that have names these first, and all of an answer without any of the usual ones. */
static void
choose_by_default (const StdSheet *sheet, GArray *chosen)
{
  const guint name = std_sheet_column (sheet, "name");
  if (chosen->len > 0 && name != G_MAXUINT && name >= sheet->n_axes)
    g_array_prepend_val (chosen, name);
  if (chosen->len > 0)
    return;
  for (guint i = sheet->n_axes; i < sheet->n_columns; i++)
    if (strcmp (std_sheet_key (sheet, i), error_key) != 0)
      g_array_append_val (chosen, i);
}

GArray *
std_sheet_choose (const StdSheet *sheet, const char *named, const char *const *usual, GError **error)
{
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (guint));
  g_auto (GStrv) names = named != NULL ? g_strsplit (named, ",", -1) : NULL;
  for (const char *const *name = names != NULL ? (const char *const *)names : usual; *name != NULL; name++) {
    const guint at = std_sheet_column (sheet, *name);
    if (at != G_MAXUINT && at >= sheet->n_axes) {
      g_array_append_val (chosen, at);
    } else if (names != NULL) {
      fail_column (sheet, *name, error);
      return NULL;
    }
  }
  if (names == NULL)
    choose_by_default (sheet, chosen);
  return g_steal_pointer (&chosen);
}

guint
std_sheet_headline (const StdSheet *sheet, const GArray *chosen)
{
  double value;
  for (guint i = 0; i < chosen->len; i++)
    for (guint r = 0; r < sheet->point->len; r++)
      if (number_at (sheet, r, g_array_index (chosen, guint, i), &value))
        return g_array_index (chosen, guint, i);
  return G_MAXUINT;
}

/* Abbreviations that a key begins with are written large: "ttft_p50" is TTFT p50. */
static void
write_short (char *title)
{
  static const char *const words[] = { "ttft", "tpot", "itl", "e2e" };
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (title, words[i]) && !g_ascii_isalnum (title[strlen (words[i])]))
      for (char *c = title; g_ascii_isalnum (*c); c++)
        *c = g_ascii_toupper (*c);
}

const char *
std_column_title (const BaseColumn *column)
{
  static const char *const endings[] = { "_s", "_B", "_Bps", "_usd", "_W", "_J" };
  if (strcmp (column->key, "bytes") == 0)
    return "size";
  for (size_t i = 0; i < G_N_ELEMENTS (endings) && std_column_dim (column) != BASE_DIM_NUMBER; i++)
    if (g_str_has_suffix (column->key, endings[i])) {
      g_autofree char *title = g_strndup (column->key, strlen (column->key) - strlen (endings[i]));
      write_short (title);
      return g_intern_string (g_strdelimit (title, "_", ' '));
    }
  return column->key;
}

BaseDim
std_column_dim (const BaseColumn *column)
{
  const BaseDim dim = column->kind == BASE_CELL_TEXT ? BASE_DIM_NUMBER : base_dim_of_key (column->key);
  return dim == BASE_DIM_FREQUENCY ? BASE_DIM_NUMBER : dim;
}

/* A column as text has it: the axes as text; others in the unit that suits them, as whole numbers where every value is one, as
 * numbers of six digits, or as text. */
static BaseColumn
shown_column (const StdSheet *sheet, guint at)
{
  BaseColumn column = *base_table_column (sheet->table, at);
  gboolean whole = at >= sheet->n_axes;
  for (guint r = 0; r < sheet->point->len && whole; r++) {
    BaseCell cell;
    whole = !std_sheet_cell (sheet, r, at, &cell) ||
            (cell.kind != BASE_CELL_TEXT && floor (cell.number) == cell.number && fabs (cell.number) < MOST_WHOLE);
  }
  const BaseDim dim = at < sheet->n_axes ? BASE_DIM_NUMBER : std_column_dim (&column);
  column.title = at < sheet->n_axes ? column.key : std_column_title (&column);
  if (dim != BASE_DIM_NUMBER) {
    column.kind = BASE_CELL_NUMBER;
    column.format = dim == BASE_DIM_BYTES ? BASE_EACH_UNIT : NULL;
    return column;
  }
  column.kind = whole ? BASE_CELL_INTEGER : column.kind == BASE_CELL_TEXT ? BASE_CELL_TEXT : BASE_CELL_NUMBER;
  column.format = column.kind == BASE_CELL_NUMBER ? "%.6g" : "%.0f";
  return column;
}

/* The headline of a row over that of the first point's row in the same place; NAN: one of them is not known. */
static double
ratio_of (const StdSheet *sheet, guint row, guint turn, guint headline)
{
  double value = (double)NAN, first = (double)NAN;
  if (turn < sheet->point->len && g_array_index (sheet->point, guint, turn) == 0)
    (void)number_at (sheet, turn, headline, &first);
  (void)number_at (sheet, row, headline, &value);
  return value / first;
}

static void
show_row (const StdSheet *sheet, guint row, const GArray *from, double ratio, BaseTable *table)
{
  base_table_row (table);
  for (guint i = 0; i < from->len; i++) {
    const guint at = g_array_index (from, guint, i);
    BaseCell cell = { .kind = BASE_CELL_NUMBER, .known = isfinite (ratio), .number = ratio };
    if (at != G_MAXUINT) {
      cell.known = std_sheet_cell (sheet, row, at, &cell);
      cell.integer =
          cell.known && cell.kind == BASE_CELL_NUMBER && fabs (cell.number) < MOST_WHOLE ? (gint64)cell.number : cell.integer;
    }
    base_table_put (table, i, &cell);
  }
}

BaseTable *
std_sheet_shown (const StdSheet *sheet, const GArray *chosen)
{
  g_autoptr (GArray) columns = g_array_new (TRUE, TRUE, sizeof (BaseColumn));
  g_autoptr (GArray) from = g_array_new (FALSE, FALSE, sizeof (guint)); /* column of the sheet; G_MAXUINT: the ratio */
  const guint headline = std_sheet_headline (sheet, chosen), ratio = G_MAXUINT;
  for (guint i = 0; i < sheet->n_axes + chosen->len; i++) {
    const guint at = i < sheet->n_axes ? i : g_array_index (chosen, guint, i - sheet->n_axes);
    const BaseColumn column = shown_column (sheet, at), behind = { "relative", "relative", BASE_CELL_NUMBER, 0, "%.3f", 0 };
    g_array_append_val (columns, column);
    g_array_append_val (from, at);
    if (at != headline)
      continue;
    g_array_append_val (columns, behind);
    g_array_append_val (from, ratio);
  }
  BaseTable *table = base_table_new ((const BaseColumn *)(gpointer)columns->data);
  guint turn = 0; /* of the row among its point's */
  for (guint r = 0; r < sheet->point->len; r++) {
    turn = r > 0 && g_array_index (sheet->point, guint, r) == g_array_index (sheet->point, guint, r - 1) ? turn + 1 : 0;
    show_row (sheet, r, from, headline != G_MAXUINT ? ratio_of (sheet, r, turn, headline) : (double)NAN, table);
  }
  return table;
}
