/* A table of results: one writer for people (aligned text), one for machines (TSV), JSON arrays from the same cells. */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <glib.h>
#include <json-glib/json-glib.h>

typedef enum { BASE_CELL_TEXT, BASE_CELL_NUMBER, BASE_CELL_INTEGER, BASE_CELL_BOOL } BaseCellKind;

typedef struct {
  const char *key;   /* machine name with unit suffix: "time_s"; TSV header and JSON key */
  const char *title; /* head in text output; NULL: not shown in text */
  BaseCellKind kind;
  double scale;       /* text shows value x scale (1e6 for us); 0: 1, or in the unit that reads best, see below */
  const char *format; /* printf format of the text cell for a double ("%.2f"); NULL: "%g"; or BASE_EACH_UNIT */
  guint rank;         /* 0: always shown in text; where a line has no room, columns of the highest rank are left out first */
} BaseColumn;         /* tables end with key NULL */

/* Format of a number with a unit: text shows each cell in the unit that suits it ("1 MiB"). */
#define BASE_EACH_UNIT "@"

/* A number with neither scale nor format, whose key ends in a unit ("time_s") and whose title names none: text shows the column in
 * the unit that reads best (base/layout.h), and the head says which: "time (ms)". */

typedef struct BaseTable BaseTable;

/* `columns` are copied, their texts borrowed. Returned: full. */
BaseTable *base_table_new (const BaseColumn *columns);
/* One more owner, who frees it too. Returned: the table. */
BaseTable *base_table_ref (BaseTable *table);
void base_table_free (BaseTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseTable, base_table_free)

/* A column that text always shows from now on, whatever its rank: that by which the rows differ. */
void base_table_keep (BaseTable *table, const char *key);

void base_table_row (BaseTable *table);                                     /* begins a row; missing cells are null */
void base_table_text (BaseTable *table, const char *key, const char *text); /* NULL text: null */
void base_table_number (BaseTable *table, const char *key, double value);   /* NaN, not known: null */
void base_table_integer (BaseTable *table, const char *key, gint64 value);
void base_table_bool (BaseTable *table, const char *key, gboolean value); /* 1 or 0; in JSON true or false */

/* ---- any value of any table ---- */

/* One value. */
typedef struct {
  BaseCellKind kind; /* of its column */
  gboolean known;    /* FALSE: null */
  double number;     /* of NUMBER, INTEGER and BOOL */
  gint64 integer;    /* of INTEGER and BOOL */
  const char *text;  /* of TEXT; borrowed from the table */
} BaseCell;

/* Whether its numbers are amounts of money, which texts show in the currency of base/currency.h: its key or its title says so. */
gboolean base_table_is_money (const BaseColumn *column);
unsigned base_table_n_rows (const BaseTable *table);
unsigned base_table_n_columns (const BaseTable *table);
const BaseColumn *base_table_column (const BaseTable *table, unsigned column); /* borrowed */
BaseCell base_table_cell (const BaseTable *table, unsigned row, unsigned column);
/* Puts a value into the last row, as the kind of its column: a number becomes text as TSV has it; a text becomes null in a column
 * of numbers. */
void base_table_put (BaseTable *table, unsigned column, const BaseCell *cell);
/* As TSV has it: a number with %.17g; "" for null. Returned: full. */
char *base_cell_text (const BaseCell *cell);

/* Right-aligned numbers, '-' for null, no trailing blanks. Where base_layout_width is set, columns without a value are left out,
 * and those of the highest rank until lines keep to it; then long texts are cut, with an ellipsis. base_layout_columns, where the
 * table has any of them, are shown instead. */
void base_table_print_text (const BaseTable *table, GString *out);
/* A header line of keys, or of base_layout_columns; numbers %.17g; '' for null. */
void base_table_print_tsv (const BaseTable *table, GString *out);
/* Rows that base_table_print_tsv wrote become CSV as of RFC 4180: commas, lines that end with CR LF, quotes around a cell with a
 * comma, a quote or a line end. Tabs, line ends and backslashes of texts are themselves again. */
void base_table_tsv_to_csv (GString *rows);
/* A <table>, the columns of the text that have a value, with their titles as heads; numbers in cells of class "n", long texts of
 * class "l". All text is escaped. */
void base_table_print_html (const BaseTable *table, GString *out);
void base_table_build_json (const BaseTable *table, JsonBuilder *json);                  /* an array of objects */
void base_table_build_members (const BaseTable *table, unsigned row, JsonBuilder *json); /* a row into the open object */

/* json_builder_add_double_value that writes null for NaN, which is "not known", and a whole number when exact below 2^53. */
void base_json_add_number (JsonBuilder *json, double value);
/* Pretty-printed document with a trailing newline; returned: full, g_free. */
char *base_json_print (JsonBuilder *json);

#endif
