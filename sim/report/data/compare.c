#include "report/compare.h"

#include "json-private.h"
#include "report/coll.h"

/* ---- rows ---- */

BASE_MEMBER_WHEN (has_own_algo, StdCompareRow, it->own_algo >= 0)
BASE_MEMBER_WHEN (has_own_proto, StdCompareRow, it->own_proto >= 0)

#define ROW(...) BASE_MEMBER (StdCompareRow, __VA_ARGS__)
static const BaseMember row_members[] = {
  ROW (NULL, coll, .sub = rep_coll_members),
  ROW ("best", best),
  ROW ("margin", margin),
  ROW ("own_algo", own_algo, .names = mdl_algo_names, .when = has_own_algo),
  ROW ("own_proto", own_proto, .names = mdl_proto_names, .when = has_own_proto),
  ROW ("own_time_s", own_time_s),
  BASE_MEMBER_END,
};

/* Sizes that are rounded to the same are one row: the later is left out. */
static gboolean
is_repeated (const StdCompare *compare, guint i)
{
  const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
  for (guint k = i; k-- > 0;) {
    const StdCompareRow *before = &g_array_index (compare->rows, StdCompareRow, k);
    if (before->column != row->column || before->size + 1 < row->size)
      return FALSE;
    if (before->size + 1 == row->size && before->coll.algo == row->coll.algo)
      return before->coll.size_B == row->coll.size_B;
  }
  return FALSE;
}

BaseTable *
rep_compare_table (const StdCompare *compare)
{
  BaseTable *table = base_members_table (row_members, NULL);
  for (guint i = 0; i < compare->rows->len; i++) {
    const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    if (!is_repeated (compare, i))
      base_members_add (table, row_members, row);
  }
  return table;
}

/* More lines than a picture can show say less: the first, the middle and the last number of nodes. */
static gboolean
is_drawn (const StdCompare *compare, guint column)
{
  guint n = compare->columns->len;
  return n <= 3 || column == 0 || column == n / 2 || column == n - 1;
}

void
rep_compare_curves_tsv (const StdCompare *compare, GString *out)
{
  static const BaseMember members[] = {
    ROW ("op", coll.op, .names = mdl_op_names),       ROW ("bytes", coll.size_B),        ROW ("nodes", coll.n_nodes),
    ROW ("algo", coll.algo, .names = mdl_algo_names), ROW ("busbw_Bps", coll.busbw_Bps), BASE_MEMBER_END,
  };
  BaseTable *table = base_members_table (members, NULL);
  for (guint i = 0; i < compare->rows->len; i++) {
    const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    if (!is_repeated (compare, i) && is_drawn (compare, row->column))
      base_members_add (table, members, row);
  }
  rep_tsv (table, out);
}

void
rep_compare_crossovers_tsv (const StdCompare *compare, GString *out)
{
  static const BaseColumn columns[] = {
    { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },   { "ranks", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },
    { "from_B", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },  { "algo", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
    { "instead_of", NULL, BASE_CELL_TEXT, 0, NULL, 0 }, { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 }
  };
  g_autoptr (BaseTable) table = base_table_new (columns);
  for (guint c = 0; c < compare->columns->len; c++) {
    const StdCompareColumn *column = g_ptr_array_index (compare->columns, c);
    for (guint i = 1; i < column->spans->len; i++) {
      const StdCompareSpan *before = &g_array_index (column->spans, StdCompareSpan, i - 1);
      const StdCompareSpan *span = &g_array_index (column->spans, StdCompareSpan, i);
      if (span->algo == before->algo)
        continue;
      base_table_row (table);
      base_table_integer (table, "nodes", column->nodes);
      base_table_integer (table, "ranks", column->ranks);
      base_table_integer (table, "from_B", (gint64)span->from_B);
      base_table_text (table, "algo", base_name (mdl_algo_names, (int)span->algo));
      base_table_text (table, "instead_of", base_name (mdl_algo_names, (int)before->algo));
    }
  }
  base_table_print_tsv (table, out);
}
