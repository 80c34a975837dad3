/* What nvbandwidth prints, and its JSON (-j). The text, test by test:
 *     Running device_to_device_memcpy_read_ce.
 *     memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
 *                0         1
 *      0       N/A    393.10
 *      1    392.97       N/A
 *     (blank)
 *     SUM device_to_device_memcpy_read_ce 786.07
 * (or "&&&& PERF NAME SUM …"). The `kind` of a row is the name behind SUM: tests that copy both ways have three matrices,
 * NAME_read1, NAME_read2 and NAME_total. In JSON the three stand one below the other in one `bandwidth_matrix`; numbers are texts:
 *     {"nvbandwidth": {"testcases": [{"name", "status", "bandwidth_description", "bandwidth_matrix": [["N/A", "393.1"], …]}]}}
 *
 * GB is 1e9 B (memcpy.cpp: bandwidth * 1e-9), latencies are in ns. Which way the bytes go is taken from what each test does, not
 * from the arrow that it prints: read tests copy from the column's GPU to the row's (testcases_ce.cpp), and print "row -> column".
 * Source: NVIDIA/nvbandwidth 66746a3 (0.8) output.cpp, json_output.cpp, inline_common.h, testcases_ce.cpp, testcases_sm.cpp. */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

#define MAX_DEVICES 1024
#define NS          1e-9

/* Half a unit of the last of the two decimals that the text has. */
#define TEXT_HALF 0.005

/* From whom to whom: the matrix's row, its column, the host or all others, by how tests' names begin; the first counts. */
typedef enum { ROW, COLUMN, OTHER } End;
static const struct {
  const char *name;
  End src, dst;
} tests[] = {
  { "multinode_device_to_device_bidirectional_memcpy_write", ROW, COLUMN },
  { "device_to_device_memcpy_write", ROW, COLUMN },
  { "device_to_device_memcpy_read", COLUMN, ROW },
  { "device_to_device_bidirectional_memcpy", COLUMN, ROW }, /* the first copy; the second goes back */
  { "device_to_device_latency", ROW, COLUMN },              /* the row's GPU reads */
  { "device_to_host", COLUMN, OTHER },
  { "host_to_device", OTHER, COLUMN },
  { "host_device_latency", COLUMN, OTHER },
  { "all_to_host", COLUMN, OTHER },
  { "host_to_all", OTHER, COLUMN },
  { "all_to_one", OTHER, COLUMN },
  { "all_from_one", COLUMN, OTHER },
  { "one_to_all", COLUMN, OTHER },
  { "broadcast_one_to_all", COLUMN, OTHER },
  { "broadcast_all_to_all", OTHER, OTHER },
  { "device_local_copy", COLUMN, COLUMN },
  { "bisect", ROW, COLUMN },
};

enum { FAILED, UNKNOWN, LEFT, SUM }; /* notes */

/* ---- cells ---- */

static gboolean
find_test (const char *kind, guint *which)
{
  static const char multinode[] = "multinode_", *const between[] = { "device_to_device_all", "device_to_device_broadcast" };
  const char *name = g_str_has_prefix (kind, multinode) ? kind + strlen (multinode) : kind;
  for (guint i = 0; i < G_N_ELEMENTS (between); i++)
    if (g_str_has_prefix (name, between[i]))
      name += strlen ("device_to_device_");
  for (*which = 0; *which < G_N_ELEMENTS (tests); (*which)++)
    if (g_str_has_prefix (kind, tests[*which].name) || g_str_has_prefix (name, tests[*which].name))
      return TRUE;
  return FALSE;
}

/* How many copies a rate counts: one, or both of a total; of several GPUs at once nobody says. */
static unsigned
copies_of (const char *kind)
{
  static const char *const several[] = { "all_to_one",  "one_to_all",  "all_from_one", "to_all",
                                         "all_to_host", "host_to_all", "bisect" };
  for (guint i = 0; i < G_N_ELEMENTS (several); i++)
    if (strstr (kind, several[i]) != NULL)
      return 0;
  return g_str_has_suffix (kind, "_total") ? 2 : 1;
}

static int
end_of (End end, int row, int column)
{
  return end == ROW ? row : end == COLUMN ? column : CAL_HOST;
}

/* Of a matrix; `row` and `column` are devices. */
typedef struct {
  CalPlace place;
  const char *kind, *text;
  gboolean latency;
  int row, column;
} Cell;

/* Adds it to *sum. FALSE and *error: it is neither a number nor N/A. */
static gboolean
add_cell (CalImport *reader, const Cell *cell, double *sum, GError **error)
{
  double value, half;
  guint which;
  if (strcmp (cell->text, "N/A") == 0)
    return TRUE;
  if (!cal_decimal (cell->text, &value, &half)) {
    g_autofree char *shown = cal_shown (cell->text);
    return cal_fail (reader->text, cell->place, error, "'%s' in a matrix of nvbandwidth; a number or N/A is accepted", shown);
  }
  if (!(value > 0) || !isfinite (value)) {
    cal_note (&reader->note[LEFT], reader->text, cell->place, "%g in row %d, column %d of the matrix is no measurement: left out",
              value, cell->row, cell->column);
    return TRUE;
  }
  *sum += value;
  if (!find_test (cell->kind, &which)) {
    g_autofree char *shown = cal_shown (cell->kind);
    cal_note (&reader->note[UNKNOWN], reader->text, cell->place, "test '%s' is not known, nor which way it copies: left out",
              shown);
    return TRUE;
  }
  gboolean back = g_str_has_suffix (cell->kind, "_read2") || g_str_has_suffix (cell->kind, "_write2"); /* the copy the other way */
  End src = back ? tests[which].dst : tests[which].src, dst = back ? tests[which].src : tests[which].dst;
  CalCopy copy = { .kind = cell->kind,
                   .src = end_of (src, cell->row, cell->column),
                   .dst = end_of (dst, cell->row, cell->column),
                   .latency = cell->latency,
                   .value = cell->latency ? value * NS : value,
                   .copies = copies_of (cell->kind) };
  cal_copy_write (reader, &copy);
  return TRUE;
}

/* ---- text ---- */

typedef struct {
  char *test; /* of "Running …"; NULL: none */
  gboolean latency;
  unsigned line; /* where the matrix begins; 0: none is open */
  unsigned last; /* line that was read */
  guint n_columns;
  GPtrArray *labels; /* char *: of rows */
  GPtrArray *cells;  /* char *: n_columns each */
  GArray *lines;     /* unsigned: of rows */
  gboolean closed;   /* by a blank line */
  CalImport *reader;
} Matrix;

static void
matrix_clear (Matrix *matrix)
{
  matrix->line = 0;
  matrix->closed = FALSE;
  g_ptr_array_set_size (matrix->labels, 0);
  g_ptr_array_set_size (matrix->cells, 0);
  g_array_set_size (matrix->lines, 0);
}

/* 0 1 2 …: what devices are called above a matrix. */
static gboolean
is_column_line (char **words, guint n)
{
  guint64 value;
  for (guint i = 0; i < n; i++)
    if (!cal_whole (words[i], MAX_DEVICES, &value) || value != i)
      return FALSE;
  return n > 0;
}

static gboolean
add_row (const CalImport *reader, Matrix *matrix, unsigned line, char **words, guint n, GError **error)
{
  if (n != matrix->n_columns + 1)
    return cal_fail (reader->text, CAL_LINE (line), error,
                     "%u words where the matrix of line %u has a device and %u cells: cut off?", n, matrix->line,
                     matrix->n_columns);
  g_ptr_array_add (matrix->labels, g_strdup (words[0]));
  for (guint i = 1; i < n; i++)
    g_ptr_array_add (matrix->cells, g_strdup (words[i]));
  g_array_append_val (matrix->lines, line);
  return TRUE;
}

/* "3" or, of a bisection, "3->7". */
static void
row_devices (const char *label, int *row, int *column)
{
  const char *arrow = strstr (label, "->");
  guint64 value;
  g_autofree char *first = arrow != NULL ? g_strndup (label, (gsize)(arrow - label)) : g_strdup (label);
  *row = cal_whole (first, MAX_DEVICES, &value) ? (int)value : CAL_HOST;
  if (arrow != NULL)
    *column = cal_whole (arrow + 2, MAX_DEVICES, &value) ? (int)value : CAL_HOST;
}

/* The matrix is over and has its name. */
static gboolean
write_matrix (CalImport *reader, Matrix *matrix, const char *kind, const char *sum_text, unsigned line, GError **error)
{
  double sum = 0, told, half;
  for (guint r = 0; r < matrix->lines->len; r++)
    for (guint c = 0; c < matrix->n_columns; c++) {
      Cell cell = { .place = CAL_LINE (g_array_index (matrix->lines, unsigned, r)),
                    .kind = kind,
                    .text = matrix->cells->pdata[r * matrix->n_columns + c],
                    .latency = matrix->latency,
                    .column = (int)c };
      row_devices (matrix->labels->pdata[r], &cell.row, &cell.column);
      if (!add_cell (reader, &cell, &sum, error))
        return FALSE;
    }
  double slack = TEXT_HALF * (matrix->cells->len + 1);
  if (cal_decimal (sum_text, &told, &half) && !(fabs (told - sum) <= slack + 1e-9 * sum))
    cal_note (&reader->note[SUM], reader->text, CAL_LINE (line), "the cells above sum to %.2f, not to %s: are some missing?", sum,
              sum_text);
  matrix_clear (matrix);
  return TRUE;
}

/* Lines of a status: "Waived: ", "Error: …", "Not Found: …". */
static gboolean
is_status (const char *line)
{
  static const char *const words[] = { "Waived:", "Not Found:", "Error:", "ERROR:" };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (line, words[i]))
      return TRUE;
  return FALSE;
}

/* An excerpt: every row of a test of one way is there, but not the line that names and sums it. */
static gboolean
is_whole (const Matrix *matrix)
{
  guint which;
  return matrix->test != NULL && strstr (matrix->test, "bidirectional") == NULL && find_test (matrix->test, &which) &&
         matrix->n_columns > 0 && (matrix->labels->len == matrix->n_columns || matrix->labels->len == 1);
}

static gboolean
not_closed (CalImport *reader, Matrix *matrix, unsigned line, GError **error)
{
  if (is_whole (matrix)) {
    cal_note (&reader->note[SUM], reader->text, CAL_LINE (matrix->line), "the matrix of %s has no line 'SUM …': an excerpt?",
              matrix->test);
    return write_matrix (reader, matrix, matrix->test, "", line, error);
  }
  g_autofree char *shown = cal_shown (matrix->test != NULL ? matrix->test : "?");
  return cal_fail (reader->text, CAL_LINE (line), error, "the matrix of %s, line %u, has no line 'SUM …' behind it: cut off?",
                   shown, matrix->line);
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Matrix *matrix = user;
  CalImport *reader = matrix->reader;
  matrix->last = number;
  static const char running[] = "Running ", perf[] = "&&&& PERF ", sum[] = "SUM ";
  char *words[CAL_MAX_WORDS];
  if (g_str_has_prefix (line, running)) {
    if (matrix->line > 0 && !not_closed (reader, matrix, number, error))
      return FALSE;
    g_free (matrix->test);
    matrix->test = g_strndup (line + strlen (running), strcspn (line + strlen (running), ". \t"));
    return TRUE;
  }
  if (matrix->test == NULL)
    return TRUE;
  if (is_status (line)) {
    gsize n = strlen (line);
    while (n > 0 && strchr (": \t", line[n - 1]) != NULL)
      line[--n] = '\0';
    g_autofree char *shown = cal_shown (line), *test = cal_shown (matrix->test);
    cal_note (&reader->note[FAILED], reader->text, CAL_LINE (number), "%s did not run: '%s'", test, shown);
    matrix_clear (matrix);
    return TRUE;
  }
  gboolean latency = strstr (line, "(ns)") != NULL, rate = strstr (line, "GB/s)") != NULL || g_str_has_suffix (line, " BW");
  gboolean total = g_str_has_prefix (line, sum) || g_str_has_prefix (line, perf);
  guint n = cal_words (line, words, G_N_ELEMENTS (words));
  if (matrix->line == 0) {
    if (latency || rate)
      matrix->latency = latency;
    else if (is_column_line (words, n)) {
      matrix->line = number;
      matrix->n_columns = n;
    }
    return TRUE;
  }
  if (n == 0) {
    matrix->closed = TRUE;
    return TRUE;
  }
  if (!matrix->closed && !total) /* a row, and no SUM that follows without a blank line */
    return add_row (reader, matrix, number, words, n, error);
  guint name = strcmp (words[0], "SUM") == 0 ? 1 : 2;
  if (!total || n < name + 2)
    return not_closed (reader, matrix, number, error);
  return write_matrix (reader, matrix, words[name], words[name + 1], number, error);
}

static gboolean
read_text (CalImport *reader, GError **error)
{
  Matrix matrix = { .reader = reader,
                    .labels = g_ptr_array_new_with_free_func (g_free),
                    .cells = g_ptr_array_new_with_free_func (g_free),
                    .lines = g_array_new (FALSE, FALSE, sizeof (unsigned)) };
  gboolean good = cal_import_lines (&matrix, reader->text, read_line, error);
  reader->known = matrix.test != NULL;
  if (good && matrix.line > 0)
    good = not_closed (reader, &matrix, matrix.last, error);
  g_free (matrix.test);
  g_ptr_array_unref (matrix.labels);
  g_ptr_array_unref (matrix.cells);
  g_array_unref (matrix.lines);
  return good;
}

/* ---- JSON ---- */

/* The part of row `r` of the three matrices that stand one below the other. */
static char *
kind_of_row (const char *name, guint n_rows, guint n_columns, guint r)
{
  static const char *const reads[] = { "read1", "read2", "total" }, *const writes[] = { "write1", "write2", "total" };
  if (n_columns == 0 || n_rows != 3 * n_columns || strstr (name, "bidirectional") == NULL)
    return g_strdup (name);
  return g_strdup_printf ("%s_%s", name, (strstr (name, "write") != NULL ? writes : reads)[r / n_columns]);
}

static gboolean
read_matrix (CalImport *reader, const char *name, gboolean latency, JsonArray *matrix, const char *of, GError **error)
{
  guint n_rows = json_array_get_length (matrix), n_columns = 0;
  for (guint r = 0; r < n_rows; r++) {
    JsonNode *node = json_array_get_element (matrix, r);
    JsonArray *row = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
    g_autofree char *path = g_strdup_printf ("%s.bandwidth_matrix[%u]", of, r);
    if (row == NULL || (r > 0 && json_array_get_length (row) != n_columns))
      return cal_fail (reader->text, CAL_AT (path), error, "a list is accepted, as long as the others");
    n_columns = json_array_get_length (row);
    g_autofree char *kind = kind_of_row (name, n_rows, n_columns, r);
    for (guint c = 0; c < n_columns; c++) {
      JsonNode *element = json_array_get_element (row, c);
      g_autofree char *at = g_strdup_printf ("%s[%u]", path, c);
      char number[G_ASCII_DTOSTR_BUF_SIZE] = "";
      double value, sum = 0;
      const char *text = base_json_text_of (element);
      if (text == NULL && cal_json_number (element, &value))
        g_ascii_dtostr (number, sizeof number, value);
      /* a bisection has a row a process, and copies to the one half of them further on */
      gboolean bisect = strstr (name, "bisect") != NULL;
      const Cell it = { .place = CAL_AT (at),
                        .kind = kind,
                        .text = text != NULL ? text : number,
                        .latency = latency,
                        .row = (int)(bisect ? r : r % n_columns),
                        .column = (int)(bisect ? (r + n_rows / 2) % n_rows : c) };
      if (!add_cell (reader, &it, &sum, error))
        return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_testcase (CalImport *reader, JsonArray *testcases, guint i, GError **error)
{
  g_autofree char *path = g_strdup_printf ("nvbandwidth.testcases[%u]", i);
  JsonObject *testcase = base_json_element (testcases, i);
  const char *name = base_json_text (testcase, "name"), *status = base_json_text (testcase, "status");
  const char *description = base_json_text (testcase, "bandwidth_description"), *why = base_json_text (testcase, "error");
  JsonArray *matrix = base_json_array (testcase, "bandwidth_matrix");
  if (name == NULL || status == NULL)
    return cal_fail (reader->text, CAL_AT (path), error, "an object with name, status and bandwidth_matrix is accepted");
  if (strcmp (status, "Passed") != 0) {
    g_autofree char *test = cal_shown (name), *shown = cal_shown (status), *reason = cal_shown (why != NULL ? why : "");
    cal_note (&reader->note[FAILED], reader->text, CAL_AT (path), "%s did not pass: '%s'%s%s", test, shown, why != NULL ? ": " : "",
              reason);
    return TRUE;
  }
  if (matrix == NULL)
    return cal_fail (reader->text, CAL_AT (path), error, "it passed, but has no bandwidth_matrix");
  gboolean latency = strstr (name, "latency") != NULL || (description != NULL && strstr (description, "(ns)") != NULL);
  return read_matrix (reader, name, latency, matrix, path, error);
}

static gboolean
read_document (void *user, JsonObject *root, unsigned line, GError **error)
{
  CalImport *reader = user;
  reader->known = TRUE;
  JsonArray *testcases = base_json_array (base_json_object (root, "nvbandwidth"), "testcases");
  if (testcases == NULL) {
    const char *why = base_json_text (base_json_object (root, "nvbandwidth"), "error");
    g_autofree char *shown = cal_shown (why != NULL ? why : "");
    if (why != NULL)
      return cal_fail (reader->text, CAL_LINE (line), error, "nvbandwidth ran no test: %s", shown);
    return cal_fail (reader->text, CAL_LINE (line), error,
                     "this is not nvbandwidth's JSON: no `nvbandwidth` with `testcases`; what -j writes is accepted, or the text");
  }
  for (guint i = 0; i < json_array_get_length (testcases); i++)
    if (!read_testcase (reader, testcases, i, error))
      return FALSE;
  return TRUE;
}

char *
cal_import_nvbandwidth (const CalText *text, const CalFileInfo *told, GError **error)
{
  CalImport import;
  cal_import_open (&import, text, told, CAL_COPY_HEADER);
  gboolean good = cal_is_json (text) ? cal_import_documents (&import, text, read_document, error) : read_text (&import, error);
  return cal_import_close (&import, good,
                           "this is not nvbandwidth's output: no line 'Running TEST.'; its text, or the JSON of -j, is accepted",
                           "cell", error);
}
