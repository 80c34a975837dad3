#include <math.h>
#include <string.h>

#include "base/finite.h"
#include "table/table-private.h"

/* Whole doubles up to here are exact (2^53). */
#define EXACT_MAX     9007199254740992.0
#define MOST_UNBROKEN 32 /* characters of a cell on a page that stay in one line */

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

BaseTable *
base_table_ref (BaseTable *table)
{
  table->n_more++;
  return table;
}

void
base_table_free (BaseTable *table)
{
  if (table == NULL)
    return;
  if (table->n_more > 0) {
    table->n_more--;
    return;
  }
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

/* Keys are the program's own: a wrong one is a bug. */
static unsigned
column_of (const BaseTable *table, const char *key)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    if (strcmp (table->columns[i].key, key) == 0)
      return i;
  g_error ("table has no column '%s'", key);
}

void
base_table_keep (BaseTable *table, const char *key)
{
  table->columns[column_of (table, key)].rank = 0;
}

/* The cell of the last row, emptied. */
static Cell *
cell_at (BaseTable *table, const char *key, BaseCellKind kind)
{
  g_assert (table->rows->len > 0);
  unsigned at = column_of (table, key);
  if (table->columns[at].kind != kind)
    g_error ("table column '%s' takes another kind of value", key);
  Cell *cell = (Cell *)table->rows->pdata[table->rows->len - 1] + at;
  g_free (cell->text);
  *cell = (Cell){ .kind = CELL_NULL };
  return cell;
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
  base_finite_look (key, value);
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

unsigned
base_table_n_columns (const BaseTable *table)
{
  return table->n_columns;
}

const BaseColumn *
base_table_column (const BaseTable *table, unsigned column)
{
  return &table->columns[column];
}

BaseCell
base_table_cell (const BaseTable *table, unsigned row, unsigned column)
{
  const Cell *cell = &((const Cell *)table->rows->pdata[row])[column];
  const gboolean whole = cell->kind == CELL_INTEGER || cell->kind == CELL_BOOL;
  return (BaseCell){ .kind = table->columns[column].kind,
                     .known = cell->kind != CELL_NULL,
                     .number = whole ? (double)cell->integer : cell->number,
                     .integer = cell->integer,
                     .text = cell->text };
}

gboolean
base_table_is_money (const BaseColumn *column)
{
  const char *title = column->title != NULL ? column->title : "";
  return column->kind == BASE_CELL_NUMBER &&
         (strstr (column->key, "usd") != NULL || strstr (title, "USD") != NULL || strchr (title, '$') != NULL);
}

double
base_table_amount (const BaseColumn *column, double value)
{
  return base_table_is_money (column) ? base_currency_of (value) : value;
}

char *
base_cell_text (const BaseCell *cell)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (!cell->known)
    return g_strdup ("");
  if (cell->kind == BASE_CELL_TEXT)
    return g_strdup (cell->text);
  return cell->kind == BASE_CELL_NUMBER ? g_strdup (g_ascii_dtostr (buffer, sizeof buffer, cell->number))
                                        : g_strdup_printf ("%" G_GINT64_FORMAT, cell->integer);
}

void
base_table_put (BaseTable *table, unsigned column, const BaseCell *cell)
{
  const BaseCellKind kind = table->columns[column].kind;
  Cell *to = &((Cell *)table->rows->pdata[table->rows->len - 1])[column];
  g_free (to->text);
  *to = (Cell){ .kind = CELL_NULL };
  if (!cell->known || (kind != BASE_CELL_TEXT && cell->kind == BASE_CELL_TEXT))
    return;
  if (kind == BASE_CELL_TEXT)
    *to = (Cell){ .kind = CELL_TEXT, .text = base_cell_text (cell) };
  else if (kind == BASE_CELL_NUMBER)
    *to = (Cell){ .kind = CELL_NUMBER, .number = cell->number };
  else
    *to = (Cell){ .kind = kind == BASE_CELL_BOOL ? CELL_BOOL : CELL_INTEGER, .integer = cell->integer };
}

static void
append_tsv_cell (const BaseColumn *column, const Cell *cell, GString *out)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (cell->kind == CELL_TEXT)
    base_table_append_escaped (out, cell->text);
  else if (cell->kind == CELL_NUMBER)
    g_string_append (out, g_ascii_dtostr (buffer, sizeof buffer, base_table_amount (column, cell->number))); /* %.17g */
  else if (cell->kind != CELL_NULL)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, cell->integer);
}

void
base_table_print_tsv (const BaseTable *table, GString *out)
{
  g_autoptr (GArray) places = base_table_picked (table);
  if (places == NULL) {
    places = g_array_new (FALSE, FALSE, sizeof (unsigned));
    for (unsigned i = 0; i < table->n_columns; i++)
      g_array_append_val (places, i);
  }
  const unsigned *at = (const unsigned *)(gpointer)places->data;
  for (guint i = 0; i < places->len; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? "\t" : "", base_currency_word (table->columns[at[i]].key));
  g_string_append_c (out, '\n');
  for (unsigned r = 0; r < table->rows->len; r++) {
    const Cell *row = table->rows->pdata[r];
    for (guint i = 0; i < places->len; i++) {
      g_string_append (out, i > 0 ? "\t" : "");
      append_tsv_cell (&table->columns[at[i]], &row[at[i]], out);
    }
    g_string_append_c (out, '\n');
  }
}

/* A cell of TSV that begins at `p`, as text. Returned: where it ends. */
static const char *
read_tsv_cell (const char *p, GString *cell)
{
  static const char escapes[] = "tnr\\", meanings[] = "\t\n\r\\";
  g_string_truncate (cell, 0);
  for (; *p != '\0' && *p != '\t' && *p != '\n'; p++) {
    const char *escape = *p == '\\' && p[1] != '\0' ? strchr (escapes, p[1]) : NULL;
    g_string_append_c (cell, escape != NULL ? meanings[escape - escapes] : *p);
    p += escape != NULL ? 1 : 0;
  }
  return p;
}

void
base_table_tsv_to_csv (GString *rows)
{
  g_autoptr (GString) cell = g_string_new (NULL);
  GString *out = g_string_sized_new (rows->len + rows->len / 8);
  for (const char *p = rows->str; *p != '\0'; p++) {
    p = read_tsv_cell (p, cell);
    const gboolean quoted = strpbrk (cell->str, ",\"\r\n") != NULL;
    g_string_append (out, quoted ? "\"" : "");
    for (const char *c = cell->str; *c != '\0'; c++)
      g_string_append_printf (out, *c == '"' ? "\"%c" : "%c", *c);
    g_string_append_printf (out, "%s%s", quoted ? "\"" : "", *p == '\t' ? "," : "\r\n");
    if (*p == '\0')
      break;
  }
  g_string_assign (rows, out->str);
  g_string_free (out, TRUE);
}

/* `head`: of its column, for a cell of a row; narrow screens show it before the value. NULL: the cell is a head. */
static void
append_html_cell (const BaseColumn *column, const char *head, const char *text, GString *out)
{
  const char *element = head == NULL ? "th" : "td", *kind = "";
  g_autofree char *escaped = g_markup_escape_text (text, -1), *label = NULL;
  if (head != NULL) {
    g_autofree char *name = g_markup_escape_text (head, -1);
    label = g_strdup_printf (" data-head=\"%s\"", name);
  }
  if (column->kind != BASE_CELL_TEXT)
    kind = " class=\"n\"";
  else if (g_utf8_strlen (text, -1) > MOST_UNBROKEN)
    kind = " class=\"l\"";
  g_string_append_printf (out, "<%s%s%s>%s</%s>", element, kind, label != NULL ? label : " scope=\"col\"", escaped, element);
}

/* Columns of this rank and above are left out. */
#define PAGE_RANK 9

void
base_table_print_html (const BaseTable *table, GString *out)
{
  g_autofree BaseTableShown *shown = g_new0 (BaseTableShown, table->n_columns);
  unsigned n = 0;
  g_string_append (out, "<table>\n<thead><tr>");
  for (unsigned i = 0; i < table->n_columns; i++)
    if (base_table_has_values (table, i) && table->columns[i].rank < PAGE_RANK) {
      shown[n] = base_table_shown (table, i);
      append_html_cell (shown[n].column, NULL, shown[n].head, out);
      n++;
    }
  g_string_append (out, "</tr></thead>\n<tbody>\n");
  for (unsigned r = 0; r < table->rows->len; r++) {
    g_string_append (out, "<tr>");
    for (unsigned i = 0; i < n; i++) {
      g_autofree char *text = base_table_cell_shown (table, r, &shown[i]);
      append_html_cell (shown[i].column, shown[i].head, text, out);
    }
    g_string_append (out, "</tr>\n");
  }
  g_string_append (out, "</tbody>\n</table>\n");
  for (unsigned i = 0; i < n; i++)
    g_free (shown[i].head);
}

void
base_table_build_members (const BaseTable *table, unsigned row, JsonBuilder *json)
{
  g_return_if_fail (row < table->rows->len);
  const Cell *cells = table->rows->pdata[row];
  for (unsigned i = 0; i < table->n_columns; i++) {
    json_builder_set_member_name (json, base_currency_word (table->columns[i].key));
    switch (cells[i].kind) {
      case CELL_TEXT:
        json_builder_add_string_value (json, cells[i].text);
        break;
      case CELL_NUMBER:
        base_json_add_number (json, base_table_amount (&table->columns[i], cells[i].number));
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
  base_finite_look ("a number of the JSON", value);
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
