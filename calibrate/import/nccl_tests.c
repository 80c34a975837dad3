/* What nccl-tests prints. A run begins with
 *     # nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809        (2.17.7 and later)
 *     # Collective test starting: all_reduce_perf                              (since July 2025)
 *     # nThread 1 nGpus 8 minBytes 8 … graph: 0                                (graph: since 2022)
 *     #  Rank  0 Group  0 Pid 4711 on node1 device  0 [0000:0f:00] NVIDIA H200 (Group: since 2023)
 * and a header line that names the columns:
 *     #  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong
 * out of place, then in place; -I adds i_min i_max i_p99 i_cv% to each, -S 1 a time of day. Until 2022 each operation left out the
 * columns redop and root that it had no use for, and the last one was `error`, a deviation. Tables of 2017 and 2018 begin with
 * `bytes N` and have ms. A line "## TITLE" begins a part (docs/measurements.md). All other lines are passed over: NCCL's and MPI's.
 * Of NCCL's own, "NCCL version 2.28.9+cuda13.0" and "NCCL_ALGO set by environment to Ring" are read.
 * Source: NVIDIA/nccl-tests a0b82b2 src/util.cu, and the history of src/common.cu and src/all_gather.cu. */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

/* Columns, as a header line has them. */
enum { PLACE_TIME, PLACE_ALGBW, PLACE_BUSBW, PLACE_WRONG, PLACE_LEAST };
typedef struct {
  guint n;        /* columns in all */
  int redop;      /* which column; -1: none */
  guint place[2]; /* where each half begins */
  guint n_places;
  gboolean deviation; /* `error`: the last of a half is no count */
  gboolean clock;     /* -S 1: a date and a time of day at the end */
} Layout;

/* That of now: files are often cut out without their headers. */
static const Layout plain = { .n = 13, .redop = 3, .place = { 5, 9 }, .n_places = 2 };

typedef struct {
  const CalText *text;
  CalRows *rows;
  CalRun run;
  Layout layout;
  char *title;
  char *command; /* program that a command line, or the end of the only run, names; NULL: none */
  unsigned line;
  gboolean known; /* something was nccl-tests' */
} Reader;

static CalPlace
here (const Reader *reader)
{
  return CAL_LINE (reader->line);
}

/* ---- header lines ---- */

/* A run begins with the first of these lines that the run before has already had. */
static void
begin (Reader *reader, unsigned what)
{
  reader->known = TRUE;
  CalRun *run = &reader->run;
  if (run->ranks->len > 0 || run->n_rows + run->n_left > 0 || run->seen >= what) {
    cal_rows_run_end (reader->rows, run);
    const char *title = run->title;
    cal_run_clear (run);
    cal_run_open (run, reader->line);
    run->title = title;
    reader->layout = plain;
  } else if (run->seen == 0)
    run->start = reader->line;
  run->seen |= what;
}

/* The number behind the word `name`; FALSE where there is none. */
static gboolean
number_after (char **words, guint n, const char *name, guint64 most, guint64 *value)
{
  for (guint i = 0; i + 1 < n; i++)
    if (strcmp (words[i], name) == 0)
      return cal_whole (words[i + 1], most, value);
  return FALSE;
}

static gboolean
read_config (Reader *reader, char **words, guint n, GError **error)
{
  guint64 threads, gpus, graphs = 0;
  begin (reader, CAL_RUN_CONFIG);
  if (!number_after (words, n, "nThread", CAL_MOST_EACH, &threads) || !number_after (words, n, "nGpus", CAL_MOST_EACH, &gpus) ||
      threads == 0 || gpus == 0)
    return cal_fail (reader->text, here (reader), error, "'# nThread N nGpus N …' without its numbers, 1 to %u", CAL_MOST_EACH);
  number_after (words, n, "graph:", G_MAXUINT32, &graphs);
  reader->run.threads = (guint32)threads;
  reader->run.gpus_per_thread = (guint32)gpus;
  cal_run_launch (&reader->run, graphs);
  return TRUE;
}

static gboolean
read_rank (Reader *reader, char **words, guint n, GError **error)
{
  guint64 rank, group = 0;
  guint on = 0;
  reader->known = TRUE;
  while (on < n && strcmp (words[on], "on") != 0)
    on++;
  if (!number_after (words, n, "Rank", CAL_MOST_RANK, &rank) || on + 2 >= n || strcmp (words[on + 2], "device") != 0)
    return cal_fail (reader->text, here (reader), error,
                     "a line of ranks that is cut off or mixed with another; "
                     "'#  Rank N … on HOST device N [BUS] NAME' is accepted");
  number_after (words, on, "Group", CAL_MOST_RANK, &group);
  CalRank entry = { (guint32)rank, (guint32)group, g_strdup (words[on + 1]), reader->line };
  g_array_append_val (reader->run.ranks, entry);
  return TRUE;
}

/* "nccl-library=22809" */
static void
read_version (Reader *reader, char **words, guint n)
{
  static const char key[] = "nccl-library=";
  guint64 code;
  begin (reader, CAL_RUN_VERSION);
  for (guint i = 0; i < n; i++)
    if (g_str_has_prefix (words[i], key) && cal_whole (words[i] + strlen (key), G_MAXUINT32, &code))
      cal_run_version (&reader->run, code);
}

static gboolean
is_one_of (const char *word, const char *const *names)
{
  return g_strv_contains (names, word);
}

/* Where a half begins at words[at]: its length, to the next time. 0: no half. */
static guint
half_length (char **words, guint n, guint at, gboolean *deviation)
{
  static const char *const last[] = { "#wrong", "wrong", "error", NULL };
  static const char *const more[] = { "i_min", "i_max", "i_p99", "i_cv%", NULL };
  if (at + PLACE_LEAST > n || strcmp (words[at + PLACE_ALGBW], "algbw") != 0 || strcmp (words[at + PLACE_BUSBW], "busbw") != 0 ||
      !is_one_of (words[at + PLACE_WRONG], last))
    return 0;
  *deviation = strcmp (words[at + PLACE_WRONG], "error") == 0;
  guint length = PLACE_LEAST;
  while (at + length < n && is_one_of (words[at + length], more))
    length++;
  return length;
}

static gboolean
read_header (Reader *reader, char **words, guint n, GError **error)
{
  static const char *const lead[] = { "size", "count", "type" };
  Layout layout = { .redop = -1 };
  guint at = 0, length;
  reader->known = TRUE;
  if (strcmp (words[0], "bytes") == 0)
    return cal_fail (reader->text, here (reader), error,
                     "a table of nccl-tests of 2017 or 2018, whose times are in ms; tables with 'size count type … time algbw "
                     "busbw', in us, are accepted");
  while (at < G_N_ELEMENTS (lead) && at < n && strcmp (words[at], lead[at]) == 0)
    at++;
  if (at == G_N_ELEMENTS (lead) && at < n && strcmp (words[at], "redop") == 0)
    layout.redop = (int)at++;
  if (at >= G_N_ELEMENTS (lead) && at < n && strcmp (words[at], "root") == 0)
    at++;
  if (at >= G_N_ELEMENTS (lead) && at < n && strcmp (words[at], "cputime") == 0)
    return cal_fail (reader->text, here (reader), error,
                     "'cputime' is how long the CPU took to launch (-C 1), not how long the operation took; run without -C");
  while (at < n && strcmp (words[at], "time") == 0 && layout.n_places < G_N_ELEMENTS (layout.place) &&
         (length = half_length (words, n, at, &layout.deviation)) > 0) {
    layout.place[layout.n_places++] = at;
    at += length;
  }
  if (at < n && strcmp (words[at], "timestamp") == 0) {
    layout.clock = TRUE;
    at++;
  }
  if (layout.n_places == 0 || at != n) {
    g_autofree char *shown = cal_shown (at < n ? words[at] : "the end");
    return cal_fail (reader->text, here (reader), error,
                     "'%s' where a table of nccl-tests has another column; accepted: size count type [redop] [root], then once or "
                     "twice time algbw busbw #wrong (or error) [i_min i_max i_p99 i_cv%%], then [timestamp]",
                     shown);
  }
  layout.n = layout.clock ? n + 1 : n; /* a date and a time are two words */
  reader->layout = layout;
  return TRUE;
}

/* Behind "# Out of bounds values : 2 FAILED". */
static void
read_foot (Reader *reader, char **words, guint n)
{
  reader->run.seen |= CAL_RUN_FOOT;
  if (strcmp (words[n - 1], "FAILED") == 0)
    cal_rows_warn (reader->rows, here (reader), "nccl-tests found wrong results in the run that begins in line %u",
                   reader->run.start);
}

static gboolean
read_comment (Reader *reader, char *line, GError **error)
{
  static const char starting[] = "Collective test starting:", blocking[] = "Blocking Enabled", ours[] = "forerun ";
  char *words[CAL_MAX_WORDS];
  char *rest = line + 1 + strspn (line + 1, " \t");
  if (g_str_has_prefix (rest, ours) && strstr (rest, "predicted") != NULL)
    return cal_fail (reader->text, here (reader), error, "a prediction of forerun's own; measurements are accepted");
  if (g_str_has_prefix (rest, starting)) {
    begin (reader, CAL_RUN_NAME);
    char *program = g_strstrip (rest + strlen (starting));
    if (*program != '\0')
      cal_run_program (&reader->run, program);
    return TRUE;
  }
  if (g_str_has_prefix (rest, blocking)) {
    cal_rows_warn (reader->rows, here (reader), "each operation was waited for (-z): times hold what the host does between them");
    return TRUE;
  }
  gboolean header = strstr (rest, "algbw") != NULL && strstr (rest, "busbw") != NULL;
  guint n = cal_words (rest, words, G_N_ELEMENTS (words));
  if (n < 2)
    return TRUE;
  if (header && (strcmp (words[0], "size") == 0 || strcmp (words[0], "bytes") == 0))
    return read_header (reader, words, n, error);
  if (strcmp (words[0], "nThread") == 0)
    return read_config (reader, words, n, error);
  if (strcmp (words[0], "Rank") == 0)
    return read_rank (reader, words, n, error);
  if (strcmp (words[0], "nccl-tests") == 0 && strcmp (words[1], "version") == 0)
    read_version (reader, words, n);
  else if (n > 4 && strcmp (words[0], "Out") == 0 && strcmp (words[1], "of") == 0 && strcmp (words[2], "bounds") == 0)
    read_foot (reader, words, n);
  return TRUE;
}

/* ---- rows ---- */

/* A word at its column. */
static CalPlace
at_word (const Reader *reader, const char *line, const char *word)
{
  return (CalPlace){ .line = reader->line, .column = (unsigned)(word - line) + 1 };
}

static gboolean
read_half (const Reader *reader, const char *line, char **words, CalRow *row, GError **error)
{
  static const char *const names[] = { "time", "algbw", "busbw" };
  double *values[] = { &row->time_us, &row->algbw_GBps, &row->busbw_GBps };
  double *halves[] = { &row->time_half, &row->algbw_half, &row->busbw_half };
  double wrong, half;
  for (int i = PLACE_TIME; i <= PLACE_BUSBW; i++)
    if (!cal_decimal (words[i], values[i], halves[i])) {
      g_autofree char *shown = cal_shown (words[i]);
      return cal_fail (reader->text, at_word (reader, line, words[i]), error,
                       "%s '%s' is no number: a row cut off, or broken by other output", names[i], shown);
    }
  if (isfinite (row->time_us) && row->time_us > CAL_MOST_TIME_US)
    return cal_fail (reader->text, at_word (reader, line, words[PLACE_TIME]), error, "time %g us; up to %g is accepted",
                     row->time_us, CAL_MOST_TIME_US);
  row->wrong = -1;
  const char *last = words[PLACE_WRONG];
  if (strcmp (last, "N/A") == 0)
    return TRUE;
  if (!cal_decimal (last, &wrong, &half) || !(wrong >= 0)) {
    g_autofree char *shown = cal_shown (last);
    return cal_fail (reader->text, at_word (reader, line, last), error,
                     "#wrong '%s': a count of wrong elements, or N/A where nothing was checked, is accepted", shown);
  }
  if (!reader->layout.deviation)
    row->wrong = wrong < 1e18 ? (gint64)wrong : (gint64)1e18;
  return TRUE;
}

/* In place is written beside out of place, and `redop` may be blank (alltoall until 2022). */
static gboolean
read_row (Reader *reader, const char *line, char **words, guint n, GError **error)
{
  const Layout *layout = &reader->layout;
  gboolean blank = layout->redop >= 0 && n + 1 == layout->n && !g_ascii_isalpha (*words[layout->redop]);
  const char *foreign = reader->known ? "" : "this is not nccl-tests' output, or cut out of it: ";
  reader->known = TRUE;
  if (n != layout->n && !blank)
    return cal_fail (reader->text, here (reader), error,
                     "%s%u words where a row has %u: it is cut off, or other output broke it (NCCL_DEBUG_FILE keeps NCCL's apart)",
                     foreign, n, layout->n);
  CalRow row = { 0 };
  guint64 count;
  if (!cal_whole (words[0], CAL_MOST_SIZE_B, &row.size_B) || !cal_whole (words[1], CAL_MOST_SIZE_B, &count))
    return cal_fail (reader->text, here (reader), error, "size and count are whole numbers up to 2^50");
  if (reader->run.program == NULL && reader->command != NULL && !reader->run.resolved)
    cal_run_program (&reader->run, reader->command);
  if (!cal_rows_resolve (reader->rows, &reader->run, here (reader), error))
    return FALSE;
  if (!cal_rows_dtype (reader->rows, here (reader), words[2], &row.dtype)) {
    reader->run.n_left++;
    return TRUE;
  }
  for (guint i = 0; i < layout->n_places; i++) {
    row.in_place = i == 1;
    if (!read_half (reader, line, words + layout->place[i] - (blank ? 1 : 0), &row, error))
      return FALSE;
    cal_rows_add (reader->rows, &reader->run, here (reader), &row);
  }
  return TRUE;
}

/* ---- lines ---- */

/* What launchers put before each line: mpirun --tag-output "[1,0]<stdout>:", srun -l "0: ". */
static char *
past_tag (char *line)
{
  char *p = line + (*line == '[');
  p += strspn (p, *line == '[' ? "0123456789," : "0123456789");
  if (*line == '[' && g_str_has_prefix (p, "]<std") && strchr (p, ':') != NULL)
    return strchr (p, ':') + 1;
  if (p > line && *line != '[' && p[0] == ':' && (p[1] == ' ' || p[1] == '\0'))
    return p + 1;
  return line;
}

/* The word behind `label`, cut off in place; NULL where there is none. */
static char *
word_after (char *line, const char *label)
{
  char *at = strstr (line, label);
  if (at == NULL)
    return NULL;
  at += strlen (label);
  at[strcspn (at, " \t")] = '\0';
  return *at != '\0' ? at : NULL;
}

/* A line of NCCL's own. */
static void
read_nccl (Reader *reader, char *line)
{
  char *value = word_after (line, "NCCL version ");
  if (value != NULL) {
    gsize n = strspn (value, "0123456789.");
    if (n > 0 && reader->run.nccl[0] == '\0')
      g_strlcpy (reader->run.nccl, value, MIN (n + 1, sizeof reader->run.nccl));
  } else if ((value = word_after (line, "NCCL_ALGO set by environment to ")) != NULL) {
    value[strcspn (value, ".")] = '\0';
    cal_run_algo (reader->rows, &reader->run, here (reader), value);
  } else if ((value = word_after (line, "NCCL_PROTO set by environment to ")) != NULL) {
    value[strcspn (value, ".")] = '\0';
    cal_run_proto (reader->rows, &reader->run, here (reader), value);
  }
}

/* "mpirun … ./build/all_reduce_perf -b 8": the next rows are of this operation, if no header says it. */
static void
read_command (Reader *reader, char *line)
{
  static const char suffix[] = "_perf";
  char *end = strstr (line, suffix);
  if (end == NULL || (end[strlen (suffix)] != '\0' && !g_ascii_isspace (end[strlen (suffix)])))
    return;
  char *from = end;
  while (from > line && (g_ascii_isalnum (from[-1]) || from[-1] == '_'))
    from--;
  if (reader->run.n_rows + reader->run.n_left > 0)
    begin (reader, CAL_RUN_NAME);
  g_free (reader->command);
  reader->command = g_strndup (from, (gsize)(end - from) + strlen (suffix));
}

/* Of an excerpt that has the end of a run only: "# Collective test concluded: all_reduce_perf". NULL: not said, or of several. */
static char *
concluded (const CalText *text)
{
  static const char starting[] = "Collective test starting:", ending[] = "Collective test concluded:";
  const char *at = g_strstr_len (text->bytes, (gssize)text->n_B, ending), *stop = text->bytes + text->n_B;
  if (at == NULL || g_strstr_len (text->bytes, (gssize)text->n_B, starting) != NULL)
    return NULL;
  at += strlen (ending);
  if (g_strstr_len (at, stop - at, ending) != NULL)
    return NULL;
  const char *end = memchr (at, '\n', (gsize)(stop - at));
  char *name = g_strndup (at, (gsize)((end != NULL ? end : stop) - at));
  return g_strstrip (name);
}

static gboolean
read_line (void *user, char *whole, unsigned number, GError **error)
{
  Reader *reader = user;
  reader->line = number;
  char *line = past_tag (whole), *words[CAL_MAX_WORDS];
  line += strspn (line, " \t");
  if (g_str_has_prefix (line, "## ")) {
    g_free (reader->title);
    reader->title = g_strdup (g_strstrip (line + strlen ("## ")));
    reader->run.title = reader->title;
    return TRUE;
  }
  if (*line == '#')
    return read_comment (reader, line, error);
  if (!g_ascii_isdigit (*line)) {
    read_command (reader, line);
    read_nccl (reader, line);
    return TRUE;
  }
  /* a row begins with size and count; one word that is a number is a row cut off */
  guint n = cal_words (line, words, G_N_ELEMENTS (words));
  guint64 size;
  if (!cal_whole (words[0], G_MAXUINT64, &size) || (n > 1 && !cal_whole (words[1], G_MAXUINT64, &size)))
    return TRUE;
  return read_row (reader, whole, words, n, error);
}

static gboolean
read_text (const CalText *text, CalRows *rows, GError **error)
{
  Reader reader = { .text = text, .rows = rows, .layout = plain, .command = concluded (text) };
  cal_run_open (&reader.run, 1);
  gboolean good = cal_import_lines (&reader, text, read_line, error);
  if (good && !reader.known)
    good =
        cal_fail (text, (CalPlace){ 0 }, error,
                  "this is not nccl-tests' output: no line '# nThread …' and no row 'size count type redop root time algbw busbw "
                  "#wrong …'; its text, or the JSON of -J, is accepted");
  if (good)
    cal_rows_run_end (rows, &reader.run);
  cal_run_clear (&reader.run);
  g_free (reader.title);
  g_free (reader.command);
  return good;
}

char *
cal_import_nccl_tests (const CalText *text, const CalFileInfo *told, GError **error)
{
  g_autoptr (CalRows) rows = cal_rows_new (text, told);
  gboolean good = cal_is_json (text) ? cal_nccl_tests_read_json (text, rows, error) : read_text (text, rows, error);
  return good ? cal_rows_finish (rows, error) : NULL;
}
