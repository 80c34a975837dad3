/* Columns of CSV traces, by their names. */
#include "load-private.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"

#define MOST_COLUMNS 64

typedef struct {
  const char *name;
  SrvColumn column;
  double unit_s;
  SrvTraceFormat format; /* that it gives away; AUTO: none */
} Name;

static const Name names[] = {
  { "timestamp", SRV_COLUMN_TIME, 1, SRV_TRACE_AUTO }, /* a date in Azure's, s in BurstGPT's */
  { "time_s", SRV_COLUMN_TIME, 1, SRV_TRACE_AUTO },
  { "arrival_s", SRV_COLUMN_TIME, 1, SRV_TRACE_AUTO },
  { "time_ms", SRV_COLUMN_TIME, 1e-3, SRV_TRACE_AUTO },
  { "contexttokens", SRV_COLUMN_INPUT, 0, SRV_TRACE_AZURE },
  { "generatedtokens", SRV_COLUMN_OUTPUT, 0, SRV_TRACE_AZURE },
  { "request tokens", SRV_COLUMN_INPUT, 0, SRV_TRACE_BURSTGPT },
  { "response tokens", SRV_COLUMN_OUTPUT, 0, SRV_TRACE_BURSTGPT },
  { "session id", SRV_COLUMN_SESSION, 0, SRV_TRACE_AUTO },
  { "input", SRV_COLUMN_INPUT, 0, SRV_TRACE_AUTO },
  { "input_length", SRV_COLUMN_INPUT, 0, SRV_TRACE_AUTO },
  { "input_tokens", SRV_COLUMN_INPUT, 0, SRV_TRACE_AUTO },
  { "output", SRV_COLUMN_OUTPUT, 0, SRV_TRACE_AUTO },
  { "output_length", SRV_COLUMN_OUTPUT, 0, SRV_TRACE_AUTO },
  { "output_tokens", SRV_COLUMN_OUTPUT, 0, SRV_TRACE_AUTO },
  { "session", SRV_COLUMN_SESSION, 0, SRV_TRACE_AUTO },
};

/* A field: its text without quotes and blanks at the ends, and what follows its comma (NULL: the last). */
static char *
take_field (char *at, char **field)
{
  while (*at == ' ' || *at == '\t')
    at++;
  char *end;
  if (*at == '"') {
    *field = ++at;
    end = at + strcspn (at, "\"");
    at = end + strcspn (end, ",");
  } else {
    *field = at;
    end = at += strcspn (at, ",");
    while (end > *field && (end[-1] == ' ' || end[-1] == '\t'))
      end--;
  }
  char *next = *at == ',' ? at + 1 : NULL;
  *end = '\0';
  return next;
}

static const Name *
name_of (const char *field)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (names[i].name, field) == 0)
      return &names[i];
  return NULL;
}

static gboolean
fail_missing (BaseMark at, SrvColumn column, SrvTraceFormat format, GError **error)
{
  const char *const azure[] = { "TIMESTAMP", "ContextTokens", "GeneratedTokens" };
  const char *const burst[] = { "Timestamp", "Request tokens", "Response tokens" };
  const char *const plain[] = { "time_s", "input", "output" };
  const char *const *want = format == SRV_TRACE_AZURE ? azure : format == SRV_TRACE_BURSTGPT ? burst : plain;
  return base_fail_at (error, at, "the first line has no column '%s'; columns are %s, %s, %s", want[column], want[0], want[1],
                       want[2]);
}

gboolean
srv_csv_begin (const BaseStream *stream, const char *header, SrvTraceFormat format, SrvCsv *out, GError **error)
{
  const BaseMark at = base_stream_mark (stream, 1);
  g_autofree char *copy = g_strdup (header);
  SrvCsv csv = { .at = { -1, -1, -1, -1 }, .unit_s = 1, .format = SRV_TRACE_CSV };
  char *rest = copy;
  for (int i = 0; rest != NULL && i < MOST_COLUMNS; i++) {
    char *field;
    rest = take_field (rest, &field);
    const Name *name = name_of (field);
    if (name == NULL || csv.at[name->column] >= 0)
      continue;
    csv.at[name->column] = i;
    if (name->column == SRV_COLUMN_TIME)
      csv.unit_s = name->unit_s;
    if (name->format != SRV_TRACE_AUTO)
      csv.format = name->format;
  }
  if (format == SRV_TRACE_AZURE || format == SRV_TRACE_BURSTGPT)
    csv.format = format;
  csv.date = csv.format == SRV_TRACE_AZURE;
  for (SrvColumn column = SRV_COLUMN_TIME; column <= SRV_COLUMN_OUTPUT; column++)
    if (csv.at[column] < 0 && (column != SRV_COLUMN_TIME || csv.format != SRV_TRACE_CSV))
      return fail_missing (at, column, csv.format, error);
  *out = csv;
  return TRUE;
}

/* ---- values ---- */

/* n digits; -1: others. */
static int
digits (const char *p, int n)
{
  int value = 0;
  for (int i = 0; i < n; i++) {
    if (!g_ascii_isdigit (p[i]))
      return -1;
    value = value * 10 + (p[i] - '0');
  }
  return value;
}

/* Days since 1970-01-01 (Hinnant, "chrono-compatible low-level date algorithms", days_from_civil). */
static gint64
days_of (int year, int month, int day)
{
  const int y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
  const int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return (gint64)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The zone behind a time: none, Z, or +00:00. NAN: something else. */
static double
zone_s (const char *p)
{
  if (*p == '\0' || strcmp (p, "Z") == 0)
    return 0;
  const int hours = *p == '+' || *p == '-' ? digits (p + 1, 2) : -1, minutes = hours >= 0 && p[3] == ':' ? digits (p + 4, 2) : -1;
  if (minutes < 0 || p[6] != '\0')
    return (double)NAN;
  return (*p == '-' ? 1 : -1) * (hours * 3600.0 + minutes * 60.0);
}

/* "2023-11-16 18:15:46.6805900", with a T for the blank or a zone behind: seconds since 1970. NAN: it is none. */
static double
date_s (const char *p)
{
  if (strlen (p) < 19 || p[4] != '-' || p[7] != '-' || (p[10] != ' ' && p[10] != 'T') || p[13] != ':' || p[16] != ':')
    return (double)NAN;
  const int year = digits (p, 4), month = digits (p + 5, 2), day = digits (p + 8, 2);
  const int hour = digits (p + 11, 2), minute = digits (p + 14, 2), second = digits (p + 17, 2);
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60)
    return (double)NAN;
  double fraction = 0, unit = 0.1;
  const char *end = p + 19;
  if (*end == '.')
    for (end++; g_ascii_isdigit (*end); end++, unit /= 10)
      fraction += unit * (*end - '0');
  return (double)days_of (year, month, day) * 86400 + hour * 3600.0 + minute * 60.0 + second + fraction + zone_s (end);
}

/* NAN: not a number. Whole numbers are the most. */
static double
number_of (const char *p)
{
  double n = 0;
  const char *at = p;
  for (; g_ascii_isdigit (*at) && at - p < 15; at++)
    n = n * 10 + (*at - '0');
  if (at > p && *at == '\0')
    return n;
  char *end;
  if (!g_ascii_isdigit (*p) && *p != '-' && *p != '.')
    return (double)NAN;
  n = g_ascii_strtod (p, &end);
  return end > p && *end == '\0' && strpbrk (p, "xX") == NULL && isfinite (n) ? n : (double)NAN;
}

/* Sessions have names or numbers; 0: none. */
static guint32
session_of (const char *p)
{
  if (*p == '\0' || strcmp (p, "0") == 0 || strcmp (p, "-1") == 0 || g_ascii_strcasecmp (p, "nan") == 0)
    return 0;
  guint64 hash = 0;
  for (; *p != '\0'; p++)
    hash = base_hash_word (hash, (guint8)*p);
  hash = base_hash_mix (hash);
  return MAX ((guint32)(hash >> 32), 1);
}

static gboolean
read_field (const BaseStream *stream, const SrvCsv *csv, SrvColumn column, const char *text, gsize at, SrvCsvRow *out,
            GError **error)
{
  static const char *const what[] = { "time of arrival", "tokens of the prompt", "tokens of the answer" };
  if (column == SRV_COLUMN_SESSION) {
    out->session = session_of (text);
    return TRUE;
  }
  const gboolean date = column == SRV_COLUMN_TIME && csv->date;
  const double value = date ? date_s (text) : number_of (text);
  if (isnan (value))
    return base_fail_at (error, base_stream_mark (stream, at), "%s: '%.40s' is not a %s", what[column], text,
                         date ? "date like 2024-05-10 00:00:01.25" : "number");
  if (column == SRV_COLUMN_TIME) {
    out->time_s = value * (date ? 1 : csv->unit_s);
    out->time_column = at;
  } else {
    out->tokens[column - SRV_COLUMN_INPUT] = value;
    out->column[column - SRV_COLUMN_INPUT] = at;
  }
  return TRUE;
}

gboolean
srv_csv_row (const BaseStream *stream, const SrvCsv *csv, char *line, SrvCsvRow *out, GError **error)
{
  *out = (SrvCsvRow){ 0 };
  guint found = 0;
  char *rest = line, *field = line;
  for (int i = 0; rest != NULL && i < MOST_COLUMNS; i++) {
    rest = take_field (rest, &field);
    for (SrvColumn column = SRV_COLUMN_TIME; column < SRV_COLUMN_N; column++) {
      if (csv->at[column] != i)
        continue;
      if (!read_field (stream, csv, column, field, (gsize)(field - line) + 1, out, error))
        return FALSE;
      found |= 1u << column;
    }
  }
  for (SrvColumn column = SRV_COLUMN_TIME; column <= SRV_COLUMN_OUTPUT; column++)
    if (csv->at[column] >= 0 && (found & 1u << column) == 0)
      return base_fail_at (error, base_stream_mark (stream, (gsize)(field - line) + 1),
                           "the line ends before column %d, which the first line names", csv->at[column] + 1);
  return TRUE;
}
