/* Files of flows, one a line, as public generators write them:
 * - words separated by commas, semicolons or blanks; a first line with names says which column is what, else they are start,
 *   source, destination, bytes;
 * - or, behind a first line with nothing but their number, "source destination group port bytes start" (the generator of HPCC).
 * Plain numbers are seconds and bytes. Empty lines and those that begin with # are left out. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "engine/need.h"
#include "flows-private.h"

#define MOST_FILE_B         (1u << 30)
#define MOST_WORDS          16u
#define LISTED_START_MOST_S 9e6 /* half of what the clock counts */

typedef enum { COLUMN_START, COLUMN_SRC, COLUMN_DST, COLUMN_BYTES, N_COLUMNS } Column;

typedef struct {
  const char *path;
  guint32 n_hosts;
  guint line;
  guint at[N_COLUMNS]; /* number of the word */
  gboolean counted;    /* the first line was a number of flows */
  char *word[MOST_WORDS];
  guint n_words;
} Reader;

G_GNUC_PRINTF (3, 4)
static gboolean
fail (const Reader *reader, GError **error, const char *format, ...)
{
  va_list words;
  va_start (words, format);
  g_autofree char *text = g_strdup_vprintf (format, words);
  va_end (words);
  return base_fail (error, BASE_ERROR_INPUT, "%s:%u: %s", reader->path, reader->line, text);
}

static gboolean
is_number (const char *word, double *value)
{
  char *end;
  *value = g_ascii_strtod (word, &end);
  return end != word && *end == '\0' && isfinite (*value);
}

/* Cuts the line into words, in place. */
static void
split (Reader *reader, char *line)
{
  const char *between = strchr (line, ',') != NULL ? "," : strchr (line, ';') != NULL ? ";" : " \t";
  const gboolean blanks = *between == ' ';
  reader->n_words = 0;
  for (char *at = line; at != NULL && reader->n_words < MOST_WORDS;) {
    at += blanks ? strspn (at, between) : 0;
    if (blanks && *at == '\0')
      break;
    char *end = strpbrk (at, between);
    if (end != NULL)
      *end++ = '\0';
    reader->word[reader->n_words++] = g_strstrip (at);
    at = end;
  }
}

/* Whether the line names columns: then they are known. */
static gboolean
read_names (Reader *reader, gboolean *all, const char **missing)
{
  static const char *const names[N_COLUMNS][7] = { { "start", "start_s", "start_time", "time", "arrival", "rtime", NULL },
                                                   { "src", "source", "from", "sender", NULL },
                                                   { "dst", "dest", "destination", "to", "receiver", NULL },
                                                   { "bytes", "size", "flow_size", "size_bytes", "size_b", NULL } };
  guint found = 0;
  double number;
  for (guint i = 0; i < reader->n_words; i++)
    if (is_number (reader->word[i], &number))
      return FALSE;
  for (int column = 0; column < N_COLUMNS; column++) {
    const guint before = found;
    for (guint i = 0; i < reader->n_words && found == before; i++) {
      g_autofree char *word = g_ascii_strdown (reader->word[i], -1);
      if (!g_strv_contains (names[column], word))
        continue;
      reader->at[column] = i;
      found++;
    }
    if (found == before)
      *missing = names[column][0];
  }
  *all = found == N_COLUMNS;
  return found > 0;
}

/* What comes before the first flow. TRUE: the line was that; *error where it is wrong. */
static gboolean
read_head (Reader *reader, GError **error)
{
  double number;
  gboolean all = FALSE;
  const char *missing = NULL;
  if (reader->n_words == 1 && is_number (reader->word[0], &number)) {
    static const guint hpcc[N_COLUMNS] = { 5, 0, 1, 4 };
    memcpy (reader->at, hpcc, sizeof hpcc);
    return reader->counted = TRUE;
  }
  if (!read_names (reader, &all, &missing))
    return FALSE;
  if (!all)
    fail (reader, error, "no column '%s'; accepted: a line with start,src,dst,bytes", missing);
  return TRUE;
}

static gboolean
read_amount (const Reader *reader, Column column, BaseDim dim, double *value, GError **error)
{
  const char *word = reader->word[reader->at[column]];
  g_autoptr (GError) why = NULL;
  if (is_number (word, value) || base_quantity_parse (word, dim, value, &why))
    return *value >= 0 || fail (reader, error, "%s '%s' is negative", dim == BASE_DIM_TIME ? "time" : "size", word);
  return fail (reader, error, "%s", why->message);
}

static gboolean
read_host (const Reader *reader, Column column, guint32 *host, GError **error)
{
  const char *word = reader->word[reader->at[column]];
  double number;
  if (is_number (word, &number) && number >= 0 && number < reader->n_hosts && floor (number) >= number) {
    *host = (guint32)number;
    return TRUE;
  }
  return fail (reader, error, "there is no host '%s'; accepted: 0 to %u, the GPUs of the scenario in their order", word,
               reader->n_hosts - 1);
}

static gboolean
read_flow (const Reader *reader, EngTime before, ScnFlow *flow, GError **error)
{
  guint most = 0;
  double start_s = 0;
  for (int column = 0; column < N_COLUMNS; column++)
    most = MAX (most, reader->at[column]);
  if (reader->n_words <= most)
    return fail (reader, error, "%u values where %u are needed; accepted: start,src,dst,bytes", reader->n_words, most + 1);
  if (!read_amount (reader, COLUMN_START, BASE_DIM_TIME, &start_s, error) || !read_host (reader, COLUMN_SRC, &flow->src, error) ||
      !read_host (reader, COLUMN_DST, &flow->dst, error) ||
      !read_amount (reader, COLUMN_BYTES, BASE_DIM_BYTES, &flow->bytes, error))
    return FALSE;
  if (start_s > LISTED_START_MOST_S)
    return fail (reader, error, "starts after %.3g days; at most %.0f days are simulated", start_s / 86400,
                 LISTED_START_MOST_S / 86400);
  flow->start = eng_time_from_s (start_s);
  if (flow->start < before)
    return fail (reader, error, "time goes back: starts at %.9g s, the flow before it at %.9g s; sort the flows by start", start_s,
                 eng_time_to_s (before));
  if (flow->bytes < 1)
    return fail (reader, error, "a flow has 1 byte or more, found %.3g", flow->bytes);
  if (flow->bytes > base_dim_most (BASE_DIM_BYTES))
    return fail (reader, error, "a flow of %.3g bytes is more than any machine has", flow->bytes);
  return flow->src != flow->dst || fail (reader, error, "host %u would send to itself", flow->src);
}

static gboolean
read_lines (Reader *reader, char *text, ScnFlowsSpec *spec, GError **error)
{
  gboolean any = FALSE;
  for (char *line = text; line != NULL;) {
    char *next = strchr (line, '\n');
    if (next != NULL)
      *next++ = '\0';
    reader->line++;
    char *stripped = g_strstrip (line);
    line = next;
    if (*stripped == '\0' || *stripped == '#')
      continue;
    split (reader, stripped);
    g_autoptr (GError) why = NULL;
    if (!any && read_head (reader, &why)) {
      any = TRUE;
      if (why == NULL)
        continue;
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
    any = TRUE;
    const EngTime before = spec->n_listed > 0 ? spec->listed[spec->n_listed - 1].start : 0;
    if (!read_flow (reader, before, &spec->listed[spec->n_listed], error))
      return FALSE;
    spec->n_listed++;
  }
  return spec->n_listed > 0 || fail (reader, error, "no flows; accepted: lines of start,src,dst,bytes");
}

gboolean
scn_flows_read (const Scn *scenario, ScnFlowsSpec *spec, GError **error)
{
  g_autofree char *path = scn_path_beside (scenario, spec->file.v), *text = NULL;
  gsize n_B = 0;
  guint n = 1;
  g_autoptr (GError) why = NULL;
  if (!base_file_read (path, MOST_FILE_B, &text, &n_B, &why))
    return col_fail_at (error, spec->file.mark, "%s", why->message);
  for (gsize i = 0; i < n_B; i++)
    n += text[i] == '\n';
  if (memchr (text, '\0', n_B) != NULL)
    return col_fail_at (error, spec->file.mark, "%s: not a text file; expected lines of start,src,dst,bytes", path);
  const EngNeed need = { .listed = n };
  if (!eng_need_fits (&need, "flows of a file", &why))
    return col_fail_at (error, spec->file.mark, "%s", why->message);
  spec->listed = base_arena_alloc_n (base_yaml_arena (scenario->yaml), n, sizeof *spec->listed);
  spec->n_listed = 0;
  Reader reader = { .path = path, .n_hosts = scenario->system.gpus->len, .at = { 0, 1, 2, 3 } };
  return read_lines (&reader, text, spec, error);
}
