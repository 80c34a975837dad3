/* Tables for people: units, columns that fit, aligned lines. */
#include <math.h>
#include <string.h>

#include "table/table-private.h"

#define PLAIN_BELOW 1e7 /* numbers that have no exponent, however few digits their column shows */
#define LEAST_CUT   12  /* characters that stay of a text that is cut */
#define GAP         2   /* blanks between columns */
#define LEAST_SHARE 0.01 /* of a unit: what its amounts have at least */
#define LEAST_LINE  30  /* characters of a last column whose texts go on in further lines */

/* ---- cells ---- */

void
base_table_append_escaped (GString *out, const char *text)
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

static const Cell *
cell_of (const BaseTable *table, unsigned row, unsigned column)
{
  return &((const Cell *)table->rows->pdata[row])[column];
}

gboolean
base_table_has_values (const BaseTable *table, unsigned column)
{
  gboolean some = table->rows->len == 0;
  for (unsigned r = 0; r < table->rows->len && !some; r++)
    some = cell_of (table, r, column)->kind != CELL_NULL;
  return some && table->columns[column].title != NULL;
}

static double
number_of (const Cell *cell)
{
  return cell->kind == CELL_NUMBER ? cell->number : cell->kind == CELL_INTEGER ? (double)cell->integer : 0;
}

static gboolean
chooses_unit (const BaseColumn *column)
{
  return (column->kind == BASE_CELL_NUMBER || column->kind == BASE_CELL_INTEGER) && column->scale == 0 && column->format == NULL &&
         base_dim_of_key (column->key) != BASE_DIM_NUMBER && strchr (column->title, '(') == NULL;
}

/* Sizes of the values of a column: the least above 0, or 0, and the greatest. */
typedef struct {
  double least, most;
} Span;

static Span
span_of (const BaseTable *table, unsigned column)
{
  Span span = { (double)INFINITY, 0 };
  for (unsigned r = 0; r < table->rows->len; r++) {
    const double size = fabs (base_table_amount (&table->columns[column], number_of (cell_of (table, r, column))));
    span.most = MAX (span.most, size);
    span.least = size > 0 ? MIN (span.least, size) : span.least;
  }
  if (span.most == 0)
    span.least = 0;
  return span;
}

/* The unit of the whole column. Amounts of money are compared across columns: they are in the unit of the greatest one, unless
 * that leaves less than LEAST_SHARE of it. */
static BaseScale
scale_of (const BaseTable *table, unsigned column)
{
  const BaseDim dim = base_dim_of_key (table->columns[column].key);
  const Span span = span_of (table, column);
  BaseScale scale = base_scale_of (dim, span.least, span.most);
  if (dim != BASE_DIM_MONEY || span.most == 0)
    return scale;
  double most = span.most;
  for (unsigned c = 0; c < table->n_columns; c++) {
    const BaseColumn *other = &table->columns[c];
    if (other->title == NULL || !chooses_unit (other) || base_dim_of_key (other->key) != dim)
      continue;
    most = MAX (most, span_of (table, c).most);
  }
  const BaseScale shared = base_scale_of (dim, span.least, most);
  if (shared.scale == scale.scale || span.most * shared.scale < LEAST_SHARE)
    return scale;
  scale = shared;
  scale.decimals = (guint)CLAMP (3 - (int)floor (log10 (span.most * scale.scale)), 0, 4);
  return scale;
}

BaseTableShown
base_table_shown (const BaseTable *table, unsigned column)
{
  BaseTableShown shown = { .column = &table->columns[column], .at = column };
  const char *title = shown.column->title != NULL ? shown.column->title : shown.column->key;
  shown.scaled = shown.column->title != NULL && chooses_unit (shown.column);
  if (shown.scaled)
    shown.scale = scale_of (table, column);
  g_autofree char *head = shown.scaled ? g_strdup_printf ("%s (%s)", title, shown.scale.unit) : g_strdup (title);
  shown.head = g_strdup (base_table_is_money (shown.column) ? base_currency_word (head) : head);
  return shown;
}

static char *
formatted (const char *format, double value)
{
  char buffer[400]; /* "%.2f" of the largest double is 312 characters */
  g_ascii_formatd (buffer, sizeof buffer, format, value);
  if (strchr (buffer, 'e') != NULL && fabs (value) >= 1 && fabs (value) < PLAIN_BELOW)
    g_ascii_formatd (buffer, sizeof buffer, "%.0f", value); /* 16540, beside 3456 */
  return g_strdup (buffer);
}

char *
base_table_cell_shown (const BaseTable *table, unsigned row, const BaseTableShown *shown)
{
  const Cell *cell = cell_of (table, row, shown->at);
  const char *format = shown->column->format != NULL ? shown->column->format : "%g";
  const double scale = shown->column->scale == 0 ? 1 : shown->column->scale, value = number_of (cell);
  const double amount = base_table_amount (shown->column, value);
  if (cell->kind == CELL_NULL)
    return g_strdup ("-");
  if (cell->kind == CELL_TEXT) {
    GString *text = g_string_new (NULL);
    base_table_append_escaped (text, cell->text);
    return g_string_free (text, FALSE);
  }
  if (g_strcmp0 (format, BASE_EACH_UNIT) == 0)
    return base_quantity_show (value, base_dim_of_key (shown->column->key));
  if (shown->scaled) {
    char decimals[16];
    g_snprintf (decimals, sizeof decimals, "%%.%uf", shown->scale.decimals);
    return formatted (decimals, amount * shown->scale.scale);
  }
  if (cell->kind == CELL_NUMBER)
    return formatted (format, amount * scale);
  if (scale == 1 && shown->column->format == NULL)
    return g_strdup_printf ("%" G_GINT64_FORMAT, cell->integer);
  return formatted (format, (double)cell->integer * scale);
}

/* ---- columns ---- */

/* The column that `name` means: its key, or its title without unit; n_columns where there is none. */
static unsigned
column_named (const BaseTable *table, const char *name)
{
  for (unsigned i = 0; i < table->n_columns; i++) {
    const char *title = table->columns[i].title != NULL ? table->columns[i].title : "";
    g_autofree char *plain = g_strchomp (g_strndup (title, strcspn (title, "(")));
    if (strcmp (table->columns[i].key, name) == 0 || strcmp (base_currency_word (table->columns[i].key), name) == 0 ||
        (*plain != '\0' && g_ascii_strcasecmp (plain, name) == 0))
      return i;
  }
  return table->n_columns;
}

GArray *
base_table_picked (const BaseTable *table)
{
  const char *const *names = base_layout_columns ();
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (unsigned));
  for (unsigned i = 0; i < table->n_columns; i++)
    base_layout_note (BASE_LAYOUT_KNOWN, base_currency_word (table->columns[i].key));
  for (; names != NULL && *names != NULL; names++) {
    const unsigned at = column_named (table, *names);
    if (at == table->n_columns)
      continue;
    g_array_append_val (places, at);
    base_layout_note (BASE_LAYOUT_PICKED, *names);
  }
  return places->len > 0 ? g_steal_pointer (&places) : NULL;
}

/* A column with the texts of its rows. */
typedef struct {
  BaseTableShown how;
  char **texts; /* n rows, owned */
  gsize width;
} TextColumn;

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
measure (TextColumn *column)
{
  column->width = width_of (column->how.head);
  for (char **text = column->texts; *text != NULL; text++)
    column->width = MAX (column->width, width_of (*text));
}

static void
text_column_clear (gpointer data)
{
  TextColumn *column = data;
  g_free (column->how.head);
  g_strfreev (column->texts);
}

/* Whether all numbers of the column end with a zero behind the point, or with the point. */
static gboolean
ends_in_zeros (char **texts)
{
  gboolean some = FALSE;
  for (char **text = texts; *text != NULL; text++) {
    const char *point = strchr (*text, '.'), last = (*text)[strlen (*text) - 1];
    if (strcmp (*text, "-") == 0)
      continue;
    if (point == NULL || (last != '0' && last != '.'))
      return FALSE;
    some = TRUE;
  }
  return some;
}

static void
add_column (const BaseTable *table, unsigned at, GArray *columns)
{
  TextColumn column = { base_table_shown (table, at), g_new0 (char *, table->rows->len + 1), 0 };
  for (unsigned r = 0; r < table->rows->len; r++)
    column.texts[r] = base_table_cell_shown (table, r, &column.how);
  while (column.how.scaled && ends_in_zeros (column.texts))
    for (char **text = column.texts; *text != NULL; text++)
      if (strcmp (*text, "-") != 0)
        (*text)[strlen (*text) - 1] = '\0';
  measure (&column);
  g_array_append_val (columns, column);
}

/* TextColumn: those that are picked, else all, without empty ones where lines have a width. Returned: full. */
static GArray *
columns_of (const BaseTable *table, gboolean *pick)
{
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (TextColumn));
  g_array_set_clear_func (columns, text_column_clear);
  g_autoptr (GArray) places = base_table_picked (table);
  *pick = places != NULL;
  for (guint i = 0; *pick && i < places->len; i++)
    add_column (table, g_array_index (places, unsigned, i), columns);
  for (unsigned i = 0; !*pick && i < table->n_columns; i++)
    if (table->columns[i].title != NULL && (base_layout_width () == 0 || base_table_has_values (table, i)))
      add_column (table, i, columns);
  return columns;
}

#define COLUMN(columns, i) (&g_array_index (columns, TextColumn, i))

static gsize
line_width (const GArray *columns)
{
  gsize width = columns->len > 0 ? (columns->len - 1) * GAP : 0;
  for (guint i = 0; i < columns->len; i++)
    width += COLUMN (columns, i)->width;
  return width;
}

/* Leaves out the last column of the highest rank, which is `least` or more. FALSE: there is none. */
static gboolean
leave_one_out (GArray *columns, guint least)
{
  guint which = 0;
  for (guint i = 1; i < columns->len; i++)
    if (COLUMN (columns, i)->how.column->rank >= COLUMN (columns, which)->how.column->rank)
      which = i;
  if (columns->len < 2 || COLUMN (columns, which)->how.column->rank < least)
    return FALSE;
  base_layout_note (BASE_LAYOUT_LEFT_OUT, base_currency_word (COLUMN (columns, which)->how.column->key));
  g_array_remove_index (columns, which);
  return TRUE;
}

/* Has the texts of the last column go on in further lines, where they find room for that. */
static gboolean
break_last (GArray *columns, gsize width)
{
  TextColumn *last = COLUMN (columns, columns->len - 1);
  const gsize before = line_width (columns) - last->width;
  if (last->how.column->kind != BASE_CELL_TEXT || width < before + LEAST_LINE || width_of (last->how.head) > width - before)
    return FALSE;
  last->width = width - before;
  return TRUE;
}

/* Takes `over` characters off the texts of the widest column of texts, as far as LEAST_CUT goes. */
static void
cut_widest (GArray *columns, gsize over)
{
  TextColumn *widest = NULL;
  for (guint i = 0; i < columns->len; i++)
    if (COLUMN (columns, i)->how.column->kind == BASE_CELL_TEXT && (widest == NULL || COLUMN (columns, i)->width > widest->width))
      widest = COLUMN (columns, i);
  if (widest == NULL || widest->width <= LEAST_CUT)
    return;
  const gsize most = MAX ((gsize)LEAST_CUT, widest->width > over ? widest->width - over : 0);
  for (char **text = widest->texts; *text != NULL; text++)
    if (width_of (*text) > most) {
      g_autofree char *kept = g_strchomp (g_utf8_substring (*text, 0, (glong)most - 1));
      g_free (*text);
      *text = g_strconcat (kept, "\342\200\246", NULL); /* an ellipsis */
    }
  measure (widest);
}

static void
fit (GArray *columns, gsize width)
{
  while (line_width (columns) > width && leave_one_out (columns, 1))
    continue;
  if (columns->len == 0 || line_width (columns) <= width || break_last (columns, width))
    return;
  for (gsize now = line_width (columns), before = 0; now > width && now != before;) {
    before = now;
    cut_widest (columns, now - width);
    now = line_width (columns);
  }
  while (line_width (columns) > width && leave_one_out (columns, 0))
    continue;
}

/* ---- lines ---- */

static void
append_padded (GString *line, const char *text, gsize width, gboolean right)
{
  const gsize blank = width - width_of (text);
  g_string_append_printf (line, "%*s%s%*s", right ? (int)blank : 0, "", text, right ? 0 : (int)blank, "");
}

/* row -1: the heads. A text that its column is too narrow for goes on in further lines below itself. */
static void
append_line (const GArray *columns, gint row, GString *out)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; i < columns->len; i++) {
    const TextColumn *column = COLUMN (columns, i);
    const char *text = row < 0 ? column->how.head : column->texts[row];
    g_string_append_printf (line, "%*s", i > 0 ? GAP : 0, "");
    if (width_of (text) <= column->width) {
      append_padded (line, text, column->width, column->how.column->kind != BASE_CELL_TEXT);
      continue;
    }
    g_autoptr (GString) broken = g_string_new (text);
    base_text_wrap (broken, (guint)column->width);
    g_auto (GStrv) lines = g_strsplit (broken->str, "\n", -1);
    const gsize indent = width_of (line->str);
    g_string_append (line, lines[0]);
    for (char **next = lines + 1; *next != NULL; next++)
      g_string_append_printf (line, "\n%*s%s", (int)indent, "", *next + strspn (*next, " "));
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
  gboolean pick;
  g_autoptr (GArray) columns = columns_of (table, &pick);
  if (!pick && base_layout_width () > 0)
    fit (columns, base_layout_width ());
  for (gint r = -1; r < (gint)table->rows->len; r++)
    append_line (columns, r, out);
}
