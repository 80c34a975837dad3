/* Runs in CSV: AIPerf's profile_export_aiperf.csv (a line a metric, numbers perhaps in quotes with commas; the run's load is not in
 * it), and a table with a line a run, whose columns are named in `columns` or like a key of `workload` ("parallel.tp"). Source:
 * ai-dynamo/aiperf docs/tutorials/working-with-profile-exports.md. */
#include <math.h>
#include <string.h>

#include "base/lookup.h"
#include "serving/serving-private.h"

#define MOST_COLUMNS 64

guint
cal_serving_cut (char *line, char **cells, guint most)
{
  guint n = 0;
  for (char *at = line; at != NULL && n < most; n++) {
    while (*at == ' ' || *at == '\t')
      at++;
    char *end;
    if (*at == '"') {
      cells[n] = ++at;
      end = at + strcspn (at, "\"");
      at = end + strcspn (end, ",");
    } else {
      cells[n] = at;
      end = at += strcspn (at, ",");
    }
    at = *at == ',' ? at + 1 : NULL;
    *end = '\0';
    g_strchomp (cells[n]);
  }
  return n;
}

gboolean
cal_serving_number (const char *cell, double *out)
{
  g_autoptr (GString) plain = g_string_new (cell);
  g_string_replace (plain, ",", "", 0);
  double half;
  return cal_decimal (plain->str, out, &half) && isfinite (*out) && *out > 0;
}

void
cal_serving_aiperf_load (CalServingRun *run, double closed, double rate, double input, double output, double requests)
{
  cal_serving_set (run, "workload.load.as=aiperf");
  cal_serving_set (run, "workload.load.input=%.0f", round (input));
  cal_serving_set (run, "workload.load.output=%.0f", round (output));
  cal_serving_set (run, "workload.load.requests=%.0f", round (requests));
  if (isfinite (closed) || isfinite (rate)) { /* null leaves out what the scenario has */
    g_autofree char *most = isfinite (closed) ? g_strdup_printf ("%.0f", closed) : g_strdup ("");
    g_autofree char *rates = isfinite (rate) ? g_strdup_printf ("%.6g", rate) : g_strdup ("");
    cal_serving_set (run, "workload.load.closed=%s", most);
    cal_serving_set (run, "workload.load.rate=%s", rates);
  }
}

typedef struct {
  const CalText *text;
  GPtrArray *runs;
  gboolean aiperf;
  /* AIPerf */
  guint avg; /* column of the mean */
  double metric[5];
  unsigned line[5]; /* 0: not seen */
  /* table */
  char *column[MOST_COLUMNS];
  guint n_columns;
} Reader;

static void
reader_clear (Reader *reader)
{
  for (guint i = 0; i < reader->n_columns; i++)
    g_free (reader->column[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

/* ---- AIPerf ---- */

enum { TTFT, TPOT, INPUT, OUTPUT, REQUESTS };
static const struct {
  const char *name; /* as a line begins */
  double unit;
} metrics[] = {
  [TTFT] = { "time to first token (ms)", 1e-3 },
  [TPOT] = { "inter token latency (ms)", 1e-3 },
  [INPUT] = { "input sequence length (tokens)", 1 },
  [OUTPUT] = { "output sequence length (tokens)", 1 },
  [REQUESTS] = { "request count", 1 },
};

static gboolean
read_metric (Reader *reader, char **cells, guint n, unsigned number, GError **error)
{
  if (g_ascii_strcasecmp (cells[0], "metric") == 0) {
    reader->avg = 1;
    for (guint i = 1; i < n; i++)
      if (strcmp (cells[i], "avg") == 0)
        reader->avg = i;
    return TRUE;
  }
  g_autofree char *name = g_ascii_strdown (cells[0], -1);
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++) {
    if (!g_str_has_prefix (name, metrics[i].name))
      continue;
    if (n <= reader->avg || !cal_serving_number (cells[reader->avg], &reader->metric[i]))
      return cal_fail (reader->text, CAL_LINE (number), error, "the mean of '%s' is not a number above 0; leave this run out",
                       cells[0]);
    reader->metric[i] *= metrics[i].unit;
    reader->line[i] = number;
  }
  return TRUE;
}

static gboolean
close_aiperf (const Reader *reader, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    if (reader->line[i] == 0)
      return cal_fail (reader->text, CAL_LINE (1), error, "no line '%s'; AIPerf writes it for runs with --streaming",
                       metrics[i].name);
  CalServingRun *run = cal_serving_run_add (reader->runs, reader->text->path, reader->line[TTFT]);
  run->ttft_s = reader->metric[TTFT];
  run->tpot_s = reader->metric[TPOT];
  cal_serving_aiperf_load (run, (double)NAN, (double)NAN, reader->metric[INPUT], reader->metric[OUTPUT], reader->metric[REQUESTS]);
  return TRUE;
}

/* ---- a table ---- */

/* Columns that are no key of `workload`, and what they set. */
static const struct {
  const char *name, *path; /* path NULL: a measured time */
} columns[] = {
  { "ttft_ms", NULL },
  { "tpot_ms", NULL },
  { "as", "load.as" },
  { "concurrency", "load.closed" },
  { "rate", "load.rate" },
  { "requests", "load.requests" },
  { "input", "load.input" },
  { "output", "load.output" },
  { "tp", "parallel.tp" },
  { "pp", "parallel.pp" },
  { "dp_attn", "parallel.dp_attn" },
  { "ep", "parallel.ep" },
};

static int
column_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (strcmp (columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

static gboolean
read_header (Reader *reader, char **cells, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    const int column = column_of (cells[i]);
    if (column < 0 && strchr (cells[i], '.') == NULL)
      return cal_fail (
          reader->text, CAL_LINE (1), error,
          "column '%s' is not known; accepted: ttft_ms, tpot_ms, as, concurrency, rate, requests, input, output, tp, pp, "
          "dp_attn, ep, and keys of `workload` such as engine.max_num_seqs",
          cells[i]);
    reader->column[reader->n_columns++] = g_strdup (column >= 0 && columns[column].path != NULL ? columns[column].path : cells[i]);
  }
  return TRUE;
}

static gboolean
read_run (Reader *reader, char **cells, guint n, unsigned number, GError **error)
{
  if (n != reader->n_columns)
    return cal_fail (reader->text, CAL_LINE (number), error, "%u cells where the first line has %u; write one for each column", n,
                     reader->n_columns);
  CalServingRun *run = cal_serving_run_add (reader->runs, reader->text->path, number);
  for (guint i = 0; i < n; i++) {
    const char *column = reader->column[i];
    const gboolean ttft = strcmp (column, "ttft_ms") == 0;
    double value;
    if (*cells[i] == '\0')
      continue;
    if (!ttft && strcmp (column, "tpot_ms") != 0) {
      cal_serving_set (run, "workload.%s=%s", column, cells[i]);
      continue;
    }
    if (!cal_serving_number (cells[i], &value)) {
      g_autofree char *shown = cal_shown (cells[i]);
      return cal_fail (reader->text, ((CalPlace){ number, i + 1, NULL }), error,
                       "%s '%s' is not a number above 0; leave the cell empty if it was not measured", column, shown);
    }
    *(ttft ? &run->ttft_s : &run->tpot_s) = value * 1e-3;
  }
  if (isnan (run->ttft_s) && isnan (run->tpot_s))
    return cal_fail (reader->text, CAL_LINE (number), error, "neither ttft_ms nor tpot_ms; leave this line out");
  return TRUE;
}

static gboolean
visit (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  char *cells[MOST_COLUMNS];
  const guint n = cal_serving_cut (line, cells, MOST_COLUMNS);
  if (reader->aiperf)
    return read_metric (reader, cells, n, number, error);
  return reader->n_columns == 0 ? read_header (reader, cells, n, error) : read_run (reader, cells, n, number, error);
}

/* Whether the first line begins with `word`, or has it as a cell. */
static gboolean
first_line_has (const CalText *text, const char *word, gboolean first)
{
  const char *at = text->bytes + cal_text_start (text);
  gsize n_B;
  const char *line = cal_next_line (text, &at, &n_B);
  if (line == NULL || n_B > CAL_MOST_LINE_B)
    return FALSE;
  g_autofree char *copy = g_strndup (line, n_B);
  char *cells[MOST_COLUMNS];
  g_strchomp (copy);
  const guint n = cal_serving_cut (copy, cells, MOST_COLUMNS);
  for (guint i = 0; i < (first ? 1 : n); i++)
    if (g_ascii_strcasecmp (cells[i], word) == 0)
      return TRUE;
  return FALSE;
}

gboolean
cal_serving_is_csv (const CalText *text)
{
  return first_line_has (text, "metric", TRUE) || first_line_has (text, "ttft_ms", FALSE) ||
         first_line_has (text, "tpot_ms", FALSE);
}

gboolean
cal_serving_read_csv (const CalText *text, GPtrArray *runs, GError **error)
{
  g_auto (Reader) reader = { .text = text, .runs = runs, .aiperf = first_line_has (text, "metric", TRUE) };
  return cal_csv_lines (&reader, text, visit, error) && (!reader.aiperf || close_aiperf (&reader, error));
}
