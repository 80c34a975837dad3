#include "base/table.h"

#include <math.h>
#include <string.h>

#define PLAIN_BELOW 1e7 /* numbers in text that have no exponent, however few digits their column shows */

/* Whole doubles up to here are exact (2^53). */
#define EXACT_MAX     9007199254740992.0
#define MOST_UNBROKEN 32 /* characters of a cell on a page that stay in one line */

typedef enum { CELL_NULL, CELL_TEXT, CELL_NUMBER, CELL_INTEGER, CELL_BOOL } CellKind;

typedef struct {
  CellKind kind;
  char *text; /* CELL_TEXT: owned */
  double number;
  gint64 integer;
} Cell;

struct BaseTable {
  BaseColumn *columns; /* a copy; its texts are borrowed */
  unsigned n_columns;
  GPtrArray *rows; /* Cell *, n_columns each */
};

static void
row_free (const BaseTable *table, Cell *row)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    g_free (row[i].text);
  g_free (row);
}

BaseTable *
base_table_new (const BaseColumn *columns)
{
  g_return_val_if_fail (columns != NULL, NULL);
  BaseTable *table = g_new0 (BaseTable, 1);
  while (columns[table->n_columns].key != NULL)
    table->n_columns++;
  table->columns = g_memdup2 (columns, table->n_columns * sizeof *columns);
  table->rows = g_ptr_array_new ();
  return table;
}

void
base_table_free (BaseTable *table)
{
  if (table == NULL)
    return;
  for (unsigned i = 0; i < table->rows->len; i++)
    row_free (table, table->rows->pdata[i]);
  g_ptr_array_unref (table->rows);
  g_free (table->columns);
  g_free (table);
}

void
base_table_row (BaseTable *table)
{
  g_ptr_array_add (table->rows, g_new0 (Cell, table->n_columns));
}

unsigned
base_table_n_rows (const BaseTable *table)
{
  return table->rows->len;
}

/* The cell of the last row, emptied. Keys are the program's own: a wrong one is a bug. */
static Cell *
cell_at (BaseTable *table, const char *key, BaseCellKind kind)
{
  g_assert (table->rows->len > 0);
  Cell *row = table->rows->pdata[table->rows->len - 1];
  for (unsigned i = 0; i < table->n_columns; i++)
    if (strcmp (table->columns[i].key, key) == 0) {
      if (table->columns[i].kind != kind)
        g_error ("table column '%s' takes another kind of value", key);
      g_free (row[i].text);
      row[i] = (Cell){ .kind = CELL_NULL };
      return &row[i];
    }
  g_error ("table has no column '%s'", key);
}

void
base_table_text (BaseTable *table, const char *key, const char *text)
{
  Cell *cell = cell_at (table, key, BASE_CELL_TEXT);
  if (text != NULL)
    *cell = (Cell){ .kind = CELL_TEXT, .text = g_utf8_make_valid (text, -1) };
}

void
base_table_number (BaseTable *table, const char *key, double value)
{
  Cell *cell = cell_at (table, key, BASE_CELL_NUMBER);
  if (isfinite (value))
    *cell = (Cell){ .kind = CELL_NUMBER, .number = value == 0 ? 0 : value }; /* no "-0" */
}

void
base_table_integer (BaseTable *table, const char *key, gint64 value)
{
  *cell_at (table, key, BASE_CELL_INTEGER) = (Cell){ .kind = CELL_INTEGER, .integer = value };
}

void
base_table_bool (BaseTable *table, const char *key, gboolean value)
{
  *cell_at (table, key, BASE_CELL_BOOL) = (Cell){ .kind = CELL_BOOL, .integer = value ? 1 : 0 };
}

/* Control characters would break lines and columns: written as C does. */
static void
append_escaped (GString *out, const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if (*p == '\t')
      g_string_append (out, "\\t");
    else if (*p == '\n')
      g_string_append (out, "\\n");
    else if (*p == '\r')
      g_string_append (out, "\\r");
    else if (*p == '\\')
      g_string_append (out, "\\\\");
    else if (g_ascii_iscntrl (*p))
      g_string_append_printf (out, "\\x%02x", (unsigned char)*p);
    else
      g_string_append_c (out, *p);
}

static char *
cell_shown (const Cell *cell, const BaseColumn *column)
{
  double scale = column->scale == 0 ? 1 : column->scale;
  char buffer[400]; /* "%.2f" of the largest double is 312 characters */
  switch (cell->kind) {
    case CELL_NULL:
      return g_strdup ("-");
    case CELL_TEXT: {
      GString *text = g_string_new (NULL);
      append_escaped (text, cell->text);
      return g_string_free (text, FALSE);
    }
    case CELL_INTEGER:
    case CELL_BOOL:
      if (scale == 1 && column->format == NULL)
        return g_strdup_printf ("%" G_GINT64_FORMAT, cell->integer);
      return g_strdup (
          g_ascii_formatd (buffer, sizeof buffer, column->format != NULL ? column->format : "%g", (double)cell->integer * scale));
    case CELL_NUMBER:
      g_ascii_formatd (buffer, sizeof buffer, column->format != NULL ? column->format : "%g", cell->number * scale);
      if (strchr (buffer, 'e') != NULL && fabs (cell->number * scale) >= 1 && fabs (cell->number * scale) < PLAIN_BELOW)
        g_ascii_formatd (buffer, sizeof buffer, "%.0f", cell->number * scale); /* 16540, beside 3456 */
      return g_strdup (buffer);
  }
  return g_strdup ("");
}

/* Columns that one sees, blanks that count as one character each, whatever their bytes. */
static gsize
width_of (const char *text)
{
  gsize width = 0;
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    width += g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
  }
  return width;
}

static void
append_padded (GString *line, const char *text, gsize width, gboolean right)
{
  gsize blank = width - width_of (text);
  g_string_append_printf (line, "%*s%s%*s", right ? (int)blank : 0, "", text, right ? 0 : (int)blank, "");
}

static void
append_line (const BaseTable *table, char **texts, const gsize *widths, GString *out)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (unsigned i = 0, shown = 0; i < table->n_columns; i++) {
    if (table->columns[i].title == NULL)
      continue;
    g_string_append (line, shown++ > 0 ? "  " : "");
    append_padded (line, texts[i], widths[i], table->columns[i].kind != BASE_CELL_TEXT);
  }
  gsize n = line->len;
  while (n > 0 && line->str[n - 1] == ' ')
    n--;
  g_string_append_len (out, line->str, (gssize)n);
  g_string_append_c (out, '\n');
}

void
base_table_print_text (const BaseTable *table, GString *out)
{
  unsigned n = table->n_columns;
  g_autofree gsize *widths = g_new0 (gsize, n + 1);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  for (unsigned r = 0; r <= table->rows->len; r++) {
    char **texts = g_new0 (char *, n + 1);
    for (unsigned i = 0; i < n; i++) {
      const BaseColumn *column = &table->columns[i];
      texts[i] = r == 0 ? g_strdup (column->title != NULL ? column->title : "")
                        : cell_shown (&((Cell *)table->rows->pdata[r - 1])[i], column);
      widths[i] = MAX (widths[i], width_of (texts[i]));
    }
    g_ptr_array_add (lines, texts);
  }
  for (unsigned r = 0; r < lines->len; r++)
    append_line (table, lines->pdata[r], widths, out);
}

void
base_table_print_tsv (const BaseTable *table, GString *out)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? "\t" : "", table->columns[i].key);
  g_string_append_c (out, '\n');
  for (unsigned r = 0; r < table->rows->len; r++) {
    const Cell *row = table->rows->pdata[r];
    for (unsigned i = 0; i < table->n_columns; i++) {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      g_string_append (out, i > 0 ? "\t" : "");
      if (row[i].kind == CELL_TEXT)
        append_escaped (out, row[i].text);
      else if (row[i].kind == CELL_NUMBER)
        g_string_append (out, g_ascii_dtostr (buffer, sizeof buffer, row[i].number)); /* %.17g */
      else if (row[i].kind == CELL_INTEGER || row[i].kind == CELL_BOOL)
        g_string_append_printf (out, "%" G_GINT64_FORMAT, row[i].integer);
    }
    g_string_append_c (out, '\n');
  }
}

static void
append_html_cell (const BaseColumn *column, const char *element, const char *text, GString *out)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  gboolean is_long = g_utf8_strlen (text, -1) > MOST_UNBROKEN;
  g_string_append_printf (out, "<%s%s%s>%s</%s>", element, strcmp (element, "th") == 0 ? " scope=\"col\"" : "",
                          column->kind != BASE_CELL_TEXT ? " class=\"n\""
                          : is_long                      ? " class=\"l\""
                                                         : "",
                          escaped, element);
}

/* Whether a page shows the column: it has a title, and some row a value. */
static gboolean
has_values (const BaseTable *table, unsigned column)
{
  gboolean some = table->rows->len == 0;
  for (unsigned r = 0; r < table->rows->len && !some; r++)
    some = ((const Cell *)table->rows->pdata[r])[column].kind != CELL_NULL;
  return some && table->columns[column].title != NULL;
}

void
base_table_print_html (const BaseTable *table, GString *out)
{
  g_autofree gboolean *shown = g_new (gboolean, table->n_columns);
  g_string_append (out, "<table>\n<thead><tr>");
  for (unsigned i = 0; i < table->n_columns; i++) {
    shown[i] = has_values (table, i);
    if (shown[i])
      append_html_cell (&table->columns[i], "th", table->columns[i].title, out);
  }
  g_string_append (out, "</tr></thead>\n<tbody>\n");
  for (unsigned r = 0; r < table->rows->len; r++) {
    const Cell *row = table->rows->pdata[r];
    g_string_append (out, "<tr>");
    for (unsigned i = 0; i < table->n_columns; i++) {
      if (!shown[i])
        continue;
      g_autofree char *text = cell_shown (&row[i], &table->columns[i]);
      append_html_cell (&table->columns[i], "td", text, out);
    }
    g_string_append (out, "</tr>\n");
  }
  g_string_append (out, "</tbody>\n</table>\n");
}

void
base_table_build_members (const BaseTable *table, unsigned row, JsonBuilder *json)
{
  g_return_if_fail (row < table->rows->len);
  const Cell *cells = table->rows->pdata[row];
  for (unsigned i = 0; i < table->n_columns; i++) {
    json_builder_set_member_name (json, table->columns[i].key);
    switch (cells[i].kind) {
      case CELL_TEXT:
        json_builder_add_string_value (json, cells[i].text);
        break;
      case CELL_NUMBER:
        base_json_add_number (json, cells[i].number);
        break;
      case CELL_INTEGER:
        json_builder_add_int_value (json, cells[i].integer);
        break;
      case CELL_BOOL:
        json_builder_add_boolean_value (json, cells[i].integer != 0);
        break;
      case CELL_NULL:
        json_builder_add_null_value (json);
        break;
    }
  }
}

void
base_table_build_json (const BaseTable *table, JsonBuilder *json)
{
  json_builder_begin_array (json);
  for (unsigned r = 0; r < table->rows->len; r++) {
    json_builder_begin_object (json);
    base_table_build_members (table, r, json);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

void
base_json_add_number (JsonBuilder *json, double value)
{
  if (!isfinite (value))
    json_builder_add_null_value (json);
  else if (floor (value) == value && fabs (value) < EXACT_MAX)
    json_builder_add_int_value (json, (gint64)value);
  else
    json_builder_add_double_value (json, value);
}

/* json-glib 1.6 ends each number that has no point with ".0", also 3e-09, and 3e-09.0 is no JSON: takes the end off where an
 * exponent stands before it, outside strings. */
static void
drop_points_of_exponents (char *text)
{
  gboolean quoted = FALSE;
  char *to = text;
  for (const char *from = text; *from != '\0';) {
    quoted ^= *from == '"';
    if (quoted && *from == '\\')
      *to++ = *from++;
    gboolean exponent = !quoted && *from == 'e' && (from[1] == '-' || from[1] == '+');
    *to++ = *from++;
    if (!exponent)
      continue;
    *to++ = *from++;
    while (g_ascii_isdigit (*from))
      *to++ = *from++;
    if (from[0] == '.' && from[1] == '0')
      from += 2;
  }
  *to = '\0';
}

char *
base_json_print (JsonBuilder *json)
{
  JsonNode *root = json_builder_get_root (json);
  g_return_val_if_fail (root != NULL, NULL); /* an object or array that was not ended */
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  json_generator_set_pretty (generator, TRUE);
  json_generator_set_root (generator, root);
  json_node_unref (root);
  g_autofree char *text = json_generator_to_data (generator, NULL);
  drop_points_of_exponents (text);
  return g_strconcat (text, "\n", NULL);
}
