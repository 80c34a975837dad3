#include "report/compare.h"

#include <math.h>

#include "json-private.h"
#include "report/coll.h"

static void
column_free (gpointer data)
{
  RepCompareColumn *column = data;
  g_array_unref (column->spans);
  g_free (column);
}

RepCompare *
rep_compare_new (MdlOp op)
{
  RepCompare *compare = g_new0 (RepCompare, 1);
  compare->op = op;
  compare->sizes = g_array_new (FALSE, FALSE, sizeof (guint64));
  compare->columns = g_ptr_array_new_with_free_func (column_free);
  compare->rows = g_array_new (FALSE, FALSE, sizeof (RepCompareRow));
  compare->left_out = g_ptr_array_new_with_free_func (g_free);
  return compare;
}

void
rep_compare_free (RepCompare *compare)
{
  if (compare == NULL)
    return;
  g_array_unref (compare->sizes);
  g_ptr_array_unref (compare->columns);
  g_array_unref (compare->rows);
  g_ptr_array_unref (compare->left_out);
  g_free (compare);
}

RepCompareColumn *
rep_compare_add_column (RepCompare *compare, guint32 nodes, guint32 ranks)
{
  RepCompareColumn *column = g_new0 (RepCompareColumn, 1);
  *column = (RepCompareColumn){ nodes, ranks, g_array_new (FALSE, FALSE, sizeof (RepCompareSpan)) };
  g_ptr_array_add (compare->columns, column);
  return column;
}

gboolean
rep_compare_has_collnet (const RepCompare *compare)
{
  for (guint c = 0; c < compare->columns->len; c++) {
    const RepCompareColumn *column = g_ptr_array_index (compare->columns, c);
    for (guint i = 0; i < column->spans->len; i++) {
      MdlAlgo algo = g_array_index (column->spans, RepCompareSpan, i).algo;
      if (algo == MDL_ALGO_COLLNET_DIRECT || algo == MDL_ALGO_COLLNET_CHAIN || (algo == MDL_ALGO_NVLS && column->nodes > 1))
        return TRUE;
    }
  }
  return FALSE;
}

void
rep_compare_rank (RepCompareRow *rows, guint n)
{
  guint best = 0;
  for (guint i = 1; i < n; i++)
    if (rows[i].coll.time_s < rows[best].coll.time_s)
      best = i;
  for (guint i = 0; i < n; i++) {
    double other_s = HUGE_VAL;
    for (guint k = 0; k < n; k++)
      if (k != i)
        other_s = fmin (other_s, rows[k].coll.time_s);
    rows[i].best = i == best;
    rows[i].margin = n > 1 && rows[i].coll.time_s > 0 ? other_s / rows[i].coll.time_s - 1 : (double)NAN;
  }
}

/* ---- rows ---- */

BASE_MEMBER_WHEN (has_own_algo, RepCompareRow, it->own_algo >= 0)
BASE_MEMBER_WHEN (has_own_proto, RepCompareRow, it->own_proto >= 0)

#define ROW(...) BASE_MEMBER (RepCompareRow, __VA_ARGS__)
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
is_repeated (const RepCompare *compare, guint i)
{
  const RepCompareRow *row = &g_array_index (compare->rows, RepCompareRow, i);
  for (guint k = i; k-- > 0;) {
    const RepCompareRow *before = &g_array_index (compare->rows, RepCompareRow, k);
    if (before->column != row->column || before->size + 1 < row->size)
      return FALSE;
    if (before->size + 1 == row->size && before->coll.algo == row->coll.algo)
      return before->coll.size_B == row->coll.size_B;
  }
  return FALSE;
}

static BaseTable *
rows_table (const RepCompare *compare)
{
  BaseTable *table = base_members_table (row_members, NULL);
  for (guint i = 0; i < compare->rows->len; i++) {
    const RepCompareRow *row = &g_array_index (compare->rows, RepCompareRow, i);
    if (!is_repeated (compare, i))
      base_members_add (table, row_members, row);
  }
  return table;
}

void
rep_compare_tsv (const RepCompare *compare, GString *out)
{
  rep_tsv (rows_table (compare), out);
}

void
rep_compare_json (const RepCompare *compare, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rows_table (compare);
  base_table_build_json (table, json);
}

/* More lines than a picture can show say less: the first, the middle and the last number of nodes. */
static gboolean
is_drawn (const RepCompare *compare, guint column)
{
  guint n = compare->columns->len;
  return n <= 3 || column == 0 || column == n / 2 || column == n - 1;
}

void
rep_compare_curves_tsv (const RepCompare *compare, GString *out)
{
  static const BaseMember members[] = {
    ROW ("op", coll.op, .names = mdl_op_names),       ROW ("bytes", coll.size_B),        ROW ("nodes", coll.n_nodes),
    ROW ("algo", coll.algo, .names = mdl_algo_names), ROW ("busbw_Bps", coll.busbw_Bps), BASE_MEMBER_END,
  };
  BaseTable *table = base_members_table (members, NULL);
  for (guint i = 0; i < compare->rows->len; i++) {
    const RepCompareRow *row = &g_array_index (compare->rows, RepCompareRow, i);
    if (!is_repeated (compare, i) && is_drawn (compare, row->column))
      base_members_add (table, members, row);
  }
  rep_tsv (table, out);
}

void
rep_compare_crossovers_tsv (const RepCompare *compare, GString *out)
{
  static const BaseColumn columns[] = {
    { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },   { "ranks", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },
    { "from_B", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },  { "algo", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
    { "instead_of", NULL, BASE_CELL_TEXT, 0, NULL, 0 }, { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 }
  };
  g_autoptr (BaseTable) table = base_table_new (columns);
  for (guint c = 0; c < compare->columns->len; c++) {
    const RepCompareColumn *column = g_ptr_array_index (compare->columns, c);
    for (guint i = 1; i < column->spans->len; i++) {
      const RepCompareSpan *before = &g_array_index (column->spans, RepCompareSpan, i - 1);
      const RepCompareSpan *span = &g_array_index (column->spans, RepCompareSpan, i);
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
