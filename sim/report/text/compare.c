/* Which algorithm wins, for people. */
#include "report/compare.h"

#include <math.h>

#include "json-private.h"

/* Whether the library itself takes something slower than the winner. */
static gboolean
is_own_slower (const StdCompareRow *row)
{
  return row->own_algo >= 0 && row->own_time_s > row->coll.time_s * (1 + 1e-9);
}

/* "R ll128 +12 %", "T ll +9 % *" where the library itself takes another */
static char *
cell_text (const StdCompareRow *row, gboolean has_protocols)
{
  g_autofree char *margin = isnan (row->margin)  ? g_strdup ("")
                            : row->margin >= 9.0 ? g_strdup_printf (" x%.0f", row->margin + 1)
                                                 : g_strdup_printf (" +%.0f %%", 100 * row->margin);
  return g_strdup_printf ("%c%s%s%s%s", mdl_algo_letter (row->coll.algo), has_protocols ? " " : "",
                          has_protocols ? base_name (mdl_proto_names, (int)row->coll.proto) : "", margin,
                          is_own_slower (row) ? " *" : "");
}

static void
append_matrix (const StdCompare *compare, gboolean has_protocols, GString *out)
{
  guint n = compare->columns->len;
  g_autofree BaseColumn *columns = g_new0 (BaseColumn, n + 2);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  columns[0] = (BaseColumn){ "bytes", "size (B)", BASE_CELL_INTEGER, 0, NULL, 0 };
  for (guint c = 0; c < n; c++) {
    const StdCompareColumn *column = g_ptr_array_index (compare->columns, c);
    char *key = g_strdup_printf ("column%u", c);
    char *title = g_strdup_printf ("%u node%s", column->nodes, column->nodes == 1 ? "" : "s");
    g_ptr_array_add (names, key);
    g_ptr_array_add (names, title);
    columns[c + 1] = (BaseColumn){ key, title, BASE_CELL_TEXT, 0, NULL, 0 };
  }
  g_autofree const StdCompareRow **winner = g_new0 (const StdCompareRow *, (gsize)compare->sizes->len *n);
  for (guint i = 0; i < compare->rows->len; i++) {
    const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    if (row->best)
      winner[row->size * n + row->column] = row;
  }
  g_autoptr (BaseTable) table = base_table_new (columns);
  for (guint s = 0; s < compare->sizes->len; s++) {
    base_table_row (table);
    base_table_integer (table, "bytes", (gint64)g_array_index (compare->sizes, guint64, s));
    for (guint c = 0; c < n; c++) {
      const StdCompareRow *row = winner[s * n + c];
      g_autofree char *text = row != NULL ? cell_text (row, has_protocols) : NULL;
      base_table_text (table, columns[c + 1].key, text);
    }
  }
  base_table_print_text (table, out);
}

static int
by_value (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* What the library's own choices cost against the fastest. */
static void
append_own (const StdCompare *compare, GString *out)
{
  g_autoptr (GArray) loss = g_array_new (FALSE, FALSE, sizeof (double));
  guint n = 0;
  for (guint i = 0; i < compare->rows->len; i++) {
    const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    if (!row->best || row->own_algo < 0)
      continue;
    n++;
    double more = row->own_time_s / row->coll.time_s - 1;
    if (is_own_slower (row))
      g_array_append_val (loss, more);
  }
  g_array_sort (loss, by_value);
  if (n > 0 && loss->len == 0)
    g_string_append_printf (out, "# NCCL itself takes the fastest in all %u cells\n", n);
  else if (n > 0)
    g_string_append_printf (
        out, "# *: NCCL itself takes another, in %u of %u cells, %.3g %% slower in the median, %.3g %% at most\n", loss->len, n,
        100 * g_array_index (loss, double, loss->len / 2), 100 * g_array_index (loss, double, loss->len - 1));
}

/* "# a cell: …; T tree, R ring" names those that were compared. */
static void
append_legend (const StdCompare *compare, gboolean has_protocols, GString *out)
{
  gboolean seen[MDL_ALGO_N] = { FALSE };
  guint n_best = 0, n_narrow = 0;
  for (guint i = 0; i < compare->rows->len; i++) {
    const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    seen[row->coll.algo] = TRUE;
    if (row->best && !isnan (row->margin)) {
      n_best++;
      n_narrow += row->coll.time_s * (1 + row->margin) <= row->coll.time_hi_s;
    }
  }
  g_string_append_printf (out, "# a cell: the fastest%s, and how much longer the next algorithm takes;",
                          has_protocols ? " with its protocol" : "");
  const char *separator = "";
  for (int algo = 0; algo < MDL_ALGO_N; algo++)
    if (seen[algo]) {
      g_string_append_printf (out, "%s %c %s", separator, mdl_algo_letter ((MdlAlgo)algo), base_name (mdl_algo_names, algo));
      separator = ",";
    }
  g_string_append_c (out, '\n');
  if (n_best > 0)
    g_string_append_printf (out, "# %u of %u leads are within the error band of the winner's time\n", n_narrow, n_best);
  append_own (compare, out);
}

/* "275 KiB": powers of 1024 to four digits, as the sizes of a sweep are. Returned: full. */
static char *
size_text (guint64 size_B)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
  size_t u = 0;
  double value = (double)size_B;
  for (; value >= 1024 && u + 1 < G_N_ELEMENTS (units); u++)
    value /= 1024;
  return g_strdup_printf ("%.4g %s", value, units[u]);
}

/* "tree, from 88 KiB ring, from 1.2 MiB nvls" */
static void
append_spans (const StdCompareColumn *column, GString *out)
{
  if (column->spans->len == 0)
    g_string_append (out, "nothing to compare");
  for (guint i = 0; i < column->spans->len; i++) {
    const StdCompareSpan *span = &g_array_index (column->spans, StdCompareSpan, i);
    if (i > 0 && g_array_index (column->spans, StdCompareSpan, i - 1).algo == span->algo)
      continue;
    g_autofree char *size = size_text (span->from_B);
    if (i > 0)
      g_string_append_printf (out, ", from %s ", size);
    g_string_append (out, base_name (mdl_algo_names, (int)span->algo));
  }
}

static void
append_crossovers (const StdCompare *compare, GString *out)
{
  g_string_append (out, "\n# which algorithm is the fastest from which size on\n");
  for (guint c = 0; c < compare->columns->len; c++) {
    const StdCompareColumn *column = g_ptr_array_index (compare->columns, c);
    g_string_append_printf (out, "%5u node%s  ", column->nodes, column->nodes == 1 ? ": " : "s:");
    append_spans (column, out);
    g_string_append_c (out, '\n');
  }
}

GPtrArray *
rep_compare_said (const StdCompare *compare)
{
  GPtrArray *said = g_ptr_array_new_with_free_func (g_free);
  for (guint c = 0; c < compare->columns->len; c++) {
    const StdCompareColumn *column = g_ptr_array_index (compare->columns, c);
    g_autoptr (GString) text = g_string_new (NULL);
    g_string_append_printf (text, "On %u node%s the fastest is ", column->nodes, column->nodes == 1 ? "" : "s");
    append_spans (column, text);
    g_string_append_c (text, '.');
    g_ptr_array_add (said, g_strdup (text->str));
  }
  return said;
}

void
rep_compare_text (const StdCompare *compare, GString *out)
{
  gboolean has_protocols = FALSE; /* the plain library has no channels and no protocols */
  for (guint i = 0; i < compare->rows->len; i++)
    has_protocols = has_protocols || g_array_index (compare->rows, StdCompareRow, i).coll.cost.channels > 0;
  append_legend (compare, has_protocols, out);
  append_matrix (compare, has_protocols, out);
  append_crossovers (compare, out);
  if (std_compare_has_collnet (compare))
    g_string_append (
        out, "# CollNet, and NVLS over several NVLink domains, reduce in the network's switches: NCCL takes them only with\n"
             "# NCCL_COLLNET_ENABLE=1; --disable leaves them out\n");
  if (compare->left_out->len > 0)
    g_string_append (out, "\n# left out\n");
  for (guint i = 0; i < compare->left_out->len; i++)
    g_string_append_printf (out, "%s\n", (const char *)g_ptr_array_index (compare->left_out, i));
}
