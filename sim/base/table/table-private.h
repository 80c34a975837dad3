#ifndef BASE_TABLE_PRIVATE_H
#define BASE_TABLE_PRIVATE_H

#include "base/currency.h"
#include "base/layout.h"
#include "base/table.h"

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
  unsigned n_more; /* owners besides the first */
};

/* A value of a column as it is shown: money in the currency that is shown (base/currency.h). */
double base_table_amount (const BaseColumn *column, double value);
/* Where the columns stand that base_layout_columns picks: unsigned; NULL where nothing is picked, or the table has none of them.
 * Returned: full. */
GArray *base_table_picked (const BaseTable *table);
/* Whether people see the column: it has a title, and some row a value. */
gboolean base_table_has_values (const BaseTable *table, unsigned column);
/* A column as people read it, in one unit. The head is owned. */
typedef struct {
  const BaseColumn *column;
  unsigned at; /* in the table */
  gboolean scaled;
  BaseScale scale; /* where it chooses its unit */
  char *head;
} BaseTableShown;
BaseTableShown base_table_shown (const BaseTable *table, unsigned column);
char *base_table_cell_shown (const BaseTable *table, unsigned row, const BaseTableShown *shown); /* returned: full */
void base_table_append_escaped (GString *out, const char *text); /* control characters as C writes them */

#endif
