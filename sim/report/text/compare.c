/* Which algorithm is fastest, as text. */
#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "json-private.h"

/* "275 KiB": powers of 1024 to so many digits, as the sizes of a sweep are. Returned: full. */
static char *
size_text (guint64 size_B, int digits)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
  size_t u = 0;
  double value = (double)size_B;
  for (; value >= 1024 && u + 1 < G_N_ELEMENTS (units); u++)
    value /= 1024;
  return g_strdup_printf ("%.*g %s", digits, value, units[u]);
}

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
  columns[0] = (BaseColumn){ "bytes", "size", BASE_CELL_TEXT, 0, NULL, 0 };
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
    g_autofree char *size = size_text (g_array_index (compare->sizes, guint64, s), 6);
    base_table_text (table, "bytes", size);
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

/* What one library's own choices cost against the fastest. */
typedef struct {
  const char *who;
  GArray *loss; /* double, of the cells where something else is faster */
  guint n;
  gboolean tuned; /* a tuner file reaches one of these */
} Own;

/* Behind the point, for three in all. */
static int
digits_of (double percent)
{
  return percent >= 100 ? 0 : percent >= 10 ? 1 : 2;
}

static void
append_own_of (const Own *own, guint n_all, GString *out)
{
  g_array_sort (own->loss, by_value);
  const char *served = own->n < n_all ? " that it serves" : "";
  if (own->n == 1 && own->loss->len == 0)
    g_string_append_printf (out, "# %s chooses the fastest by itself in the only cell%s.\n", own->who, served);
  else if (own->n > 0 && own->loss->len == 0)
    g_string_append_printf (out, "# %s chooses the fastest by itself in all %u cells%s.\n", own->who, own->n, served);
  if (own->loss->len == 0)
    return;
  const double median = 100 * g_array_index (own->loss, double, own->loss->len / 2);
  const double most = 100 * g_array_index (own->loss, double, own->loss->len - 1);
  g_string_append_printf (out,
                          "# *: %s by itself chooses a slower one: in %u of %u cells%s, %.*f %% slower in the median, %.*f %% at "
                          "most.%s\n",
                          own->who, own->loss->len, own->n, served, digits_of (median), median, digits_of (most), most,
                          own->tuned ? " --tuner-conf writes the fastest for NCCL's tuner." : "");
}

/* What the libraries' own choices cost against the fastest: NCCL's, and those of a framework that brings its own kernels. */
static void
append_own (const StdCompare *compare, GString *out)
{
  g_autoptr (GArray) by_nccl = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) by_framework = g_array_new (FALSE, FALSE, sizeof (double));
  Own nccl = { "NCCL", by_nccl, 0, FALSE }, framework = { "the framework", by_framework, 0, FALSE };
  for (guint i = 0; i < compare->rows->len; i++) {
    const StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    if (!row->best || row->own_algo < 0)
      continue;
    Own *own = row->own_algo == MDL_ALGO_ONE_SHOT ? &framework : &nccl;
    if (own == &framework && row->coll.question.one_shot != NULL)
      own->who = row->coll.question.one_shot;
    own->n++;
    const double more = row->own_time_s / row->coll.time_s - 1;
    if (!is_own_slower (row))
      continue;
    g_array_append_val (own->loss, more);
    own->tuned = own->tuned || (std_compare_is_tuned ((MdlAlgo)row->own_algo) && std_compare_is_tuned (row->coll.algo));
  }
  append_own_of (&framework, framework.n + nccl.n, out);
  append_own_of (&nccl, framework.n + nccl.n, out);
}

/* "# Each cell: …; T tree, R ring" names those that were compared. */
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
  g_string_append_printf (out, "# Each cell: the fastest algorithm%s, and how much longer the second takes.",
                          has_protocols ? " with its protocol" : "");
  const char *separator = "";
  for (int algo = 0; algo < MDL_ALGO_N; algo++)
    if (seen[algo]) {
      g_string_append_printf (out, "%s %c %s", separator, mdl_algo_letter ((MdlAlgo)algo), base_name (mdl_algo_names, (int)algo));
      separator = ",";
    }
  g_string_append (out, *separator != '\0' ? ".\n" : "\n");
  append_own (compare, out);
  if (n_narrow > 0)
    g_string_append_printf (out, "# %u of %u leads are within the error band of the fastest time.\n", n_narrow, n_best);
}

/* "tree is fastest up to 88 KiB, ring up to 1.2 MiB, nvls beyond" */
static void
append_spans (const StdCompareColumn *column, GString *out)
{
  const GArray *spans = column->spans;
  const char *verb = " is fastest", *comma = "";
  if (spans->len == 0)
    g_string_append (out, "there is nothing to compare");
  for (guint i = 0; i < spans->len;) {
    const MdlAlgo algo = g_array_index (spans, StdCompareSpan, i).algo;
    while (i < spans->len && g_array_index (spans, StdCompareSpan, i).algo == algo)
      i++;
    g_autofree char *size = i < spans->len ? size_text (g_array_index (spans, StdCompareSpan, i).from_B, 3) : NULL;
    g_string_append_printf (out, "%s%s%s%s%s", comma, base_name (mdl_algo_names, (int)algo), verb,
                            size != NULL     ? " up to "
                            : *comma != '\0' ? " beyond"
                                             : " at all sizes",
                            size != NULL ? size : "");
    verb = "";
    comma = ", ";
  }
}

/* "tree is fastest up to 88 KiB, ring beyond" of column `c`. Returned: full. */
static char *
said_of (const StdCompare *compare, guint c)
{
  GString *text = g_string_new (NULL);
  append_spans (g_ptr_array_index (compare->columns, c), text);
  return g_string_free (text, FALSE);
}

GPtrArray *
rep_compare_said (const StdCompare *compare)
{
  GPtrArray *said = g_ptr_array_new_with_free_func (g_free);
  for (guint c = 0; c < compare->columns->len;) {
    g_autofree char *text = said_of (compare, c);
    g_autoptr (GString) nodes = g_string_new (NULL);
    guint n = 0;
    for (gboolean same = TRUE; same; n++) { /* neighbours with the same answer share a sentence */
      g_string_append_printf (nodes, "%s%u", n > 0 ? ", " : "", ((const StdCompareColumn *)compare->columns->pdata[c])->nodes);
      g_autofree char *next = ++c < compare->columns->len ? said_of (compare, c) : NULL;
      same = g_strcmp0 (next, text) == 0;
    }
    const gboolean one = strcmp (nodes->str, "1") == 0;
    g_ptr_array_add (said, compare->columns->len == 1 ? g_strconcat (text, ".", NULL)
                                                      : g_strdup_printf ("%s node%s: %s.", nodes->str, one ? "" : "s", text));
  }
  return said;
}

void
rep_compare_text (const StdCompare *compare, GString *out)
{
  gboolean has_protocols = FALSE; /* the plain library has no channels and no protocols */
  for (guint i = 0; i < compare->rows->len; i++)
    has_protocols = has_protocols || g_array_index (compare->rows, StdCompareRow, i).coll.cost.channels > 0;
  g_autoptr (GPtrArray) said = rep_compare_said (compare);
  for (guint i = 0; i < said->len; i++)
    g_string_append_printf (out, "%s\n", (const char *)said->pdata[i]);
  g_string_append_c (out, '\n');
  append_matrix (compare, has_protocols, out);
  g_string_append_c (out, '\n');
  append_legend (compare, has_protocols, out);
  if (std_compare_has_collnet (compare))
    g_string_append (
        out, "# CollNet and multi-node NVLS reduce in the network's switches: NCCL needs NCCL_COLLNET_ENABLE=1 for them.\n");
  for (guint i = 0; i < compare->left_out->len; i++)
    g_string_append_printf (out, "# Left out: %s\n", (const char *)compare->left_out->pdata[i]);
}
