/* Lines, words, notes and CSV of the readers of measuring tools. */
#include "import/measured-private.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define SHOWN_CHARACTERS 60
#define NOTE_PLACES      5 /* lines that a warning lists after the first */

/* ---- messages ---- */

char *
cal_shown (const char *word)
{
  g_autofree char *valid = g_utf8_make_valid (word, (gssize)strnlen (word, 4 * SHOWN_CHARACTERS));
  GString *out = g_string_new (NULL);
  unsigned n = 0;
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p), n++) {
    if (n == SHOWN_CHARACTERS) {
      g_string_append (out, "…");
      break;
    }
    gunichar c = g_utf8_get_char (p);
    GUnicodeType type = g_unichar_type (c);
    gboolean one_line = type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
    g_string_append_unichar (out, g_unichar_isprint (c) && one_line ? c : '?');
  }
  return g_string_free (out, FALSE);
}

static char *
place_prefix (const CalText *text, CalPlace place)
{
  if (place.at != NULL)
    return g_strdup_printf ("%s: %s: ", text->path, place.at);
  return base_mark_prefix ((BaseMark){ text->path, place.line, place.column });
}

gboolean
cal_fail (const CalText *text, CalPlace place, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args), *prefix = place_prefix (text, place);
  va_end (args);
  base_fail (error, BASE_ERROR_INPUT, "%s%s", prefix, what);
  return FALSE;
}

void
cal_note (CalNote *note, const CalText *text, CalPlace place, const char *format, ...)
{
  note->n++;
  if (note->n == 1) {
    va_list args;
    va_start (args, format);
    g_autofree char *what = g_strdup_vprintf (format, args), *prefix = place_prefix (text, place);
    va_end (args);
    note->first = g_string_new (prefix);
    note->more = g_string_new (NULL);
    g_string_append (note->first, what);
    note->line = place.line;
    return;
  }
  if (place.at == NULL && place.line == note->line)
    return; /* both halves of a row */
  note->line = place.line;
  const char *comma = note->n_listed > 0 ? ", " : "";
  if (note->n_listed++ >= NOTE_PLACES)
    g_string_append (note->more, note->n_listed == NOTE_PLACES + 1 ? ", …" : "");
  else if (place.at != NULL)
    g_string_append_printf (note->more, "%s%s", comma, place.at);
  else
    g_string_append_printf (note->more, "%sline %u", comma, place.line);
}

void
cal_note_end (CalNote *note, const CalText *text)
{
  gboolean listed = note->n_listed > 0;
  if (note->n == 1)
    base_diag_warn (text->warnings, BASE_MARK_NONE, "%s", note->first->str);
  else if (note->n > 1)
    base_diag_warn (text->warnings, BASE_MARK_NONE, "%s; %u more like it%s%s%s", note->first->str, note->n - 1, listed ? " (" : "",
                    note->more->str, listed ? ")" : "");
  cal_note_clear (note);
}

void
cal_note_clear (CalNote *note)
{
  if (note->first != NULL)
    g_string_free (note->first, TRUE);
  if (note->more != NULL)
    g_string_free (note->more, TRUE);
  *note = (CalNote){ 0 };
}

/* ---- text ---- */

gsize
cal_text_start (const CalText *text)
{
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  gsize n = strlen (byte_order_mark);
  return text->n_B >= n && memcmp (text->bytes, byte_order_mark, n) == 0 ? n : 0;
}

const char *
cal_next_line (const CalText *text, const char **at, gsize *n_B)
{
  const char *line = *at, *end = text->bytes + text->n_B;
  if (line >= end)
    return NULL;
  const char *stop = memchr (line, '\n', (gsize)(end - line));
  *n_B = (gsize)((stop != NULL ? stop : end) - line);
  *at = stop != NULL ? stop + 1 : end;
  return line;
}

gboolean
cal_line_check (const CalText *text, gsize n_B, unsigned number, GError **error)
{
  return n_B <= CAL_MOST_LINE_B ||
         cal_fail (text, CAL_LINE (number), error, "%" G_GSIZE_FORMAT " B in one line; at most %u are read", n_B, CAL_MOST_LINE_B);
}

gboolean
cal_csv_check (const CalText *text, GError **error)
{
  unsigned number = 0;
  gsize n_B;
  for (const char *at = text->bytes; cal_next_line (text, &at, &n_B) != NULL;)
    if (++number > CAL_MOST_CSV_LINES)
      return cal_fail (text, CAL_LINE (number), error, "more than %u lines; divide the file", CAL_MOST_CSV_LINES);
    else if (!cal_line_check (text, n_B, number, error))
      return FALSE;
  return TRUE;
}

gboolean
cal_import_lines (void *reader, const CalText *text, gboolean (*visit) (void *reader, char *line, unsigned number, GError **error),
                  GError **error)
{
  const char *at = text->bytes + cal_text_start (text), *from, *nul = memchr (text->bytes, '\0', text->n_B);
  unsigned number = 1;
  gsize n_B;
  if (nul != NULL) {
    for (const char *p = text->bytes; p < nul; p++)
      number += *p == '\n';
    return cal_fail (text, CAL_LINE (number), error, "a NUL byte; a text file in ASCII or UTF-8 is accepted");
  }
  g_autoptr (GString) line = g_string_new (NULL);
  for (; (from = cal_next_line (text, &at, &n_B)) != NULL; number++) {
    if (!cal_line_check (text, n_B, number, error))
      return FALSE;
    g_string_truncate (line, 0);
    g_string_append_len (line, from, (gssize)(n_B - (n_B > 0 && from[n_B - 1] == '\r')));
    if (!visit (reader, line->str, number, error))
      return FALSE;
  }
  return TRUE;
}

typedef struct {
  void *reader;
  gboolean (*visit) (void *reader, char *line, unsigned number, GError **error);
} CsvVisit;

static gboolean
visit_csv (void *user, char *line, unsigned number, GError **error)
{
  const CsvVisit *csv = user;
  g_strchomp (line);
  return *line == '\0' || *line == '#' || csv->visit (csv->reader, line, number, error);
}

gboolean
cal_csv_lines (void *reader, const CalText *text, gboolean (*visit) (void *reader, char *line, unsigned number, GError **error),
               GError **error)
{
  CsvVisit csv = { reader, visit };
  return cal_csv_check (text, error) && cal_import_lines (&csv, text, visit_csv, error);
}

guint
cal_words (char *line, char **words, guint most)
{
  guint n = 0;
  for (char *p = line; *p != '\0' && n < most;) {
    p += strspn (p, " \t\r\v\f");
    if (*p == '\0')
      break;
    words[n++] = p;
    p += strcspn (p, " \t\r\v\f");
    if (*p != '\0')
      *p++ = '\0';
  }
  return n;
}

gboolean
cal_decimal (const char *word, double *value, double *half)
{
  const char *p = word + (*word == '-' || *word == '+');
  *half = 0;
  if (g_ascii_strcasecmp (p, "nan") == 0 || g_ascii_strcasecmp (p, "inf") == 0) {
    *value = *p == 'n' || *p == 'N' ? (double)NAN : (double)INFINITY;
    return TRUE;
  }
  /* strtod takes hexadecimal too */
  if (*word == '\0' || word[strspn (word, "0123456789.eE+-")] != '\0')
    return FALSE;
  char *end = NULL;
  *value = g_ascii_strtod (word, &end);
  if (end == word || *end != '\0' || !isfinite (*value)) /* no tool prints 1e400 */
    return FALSE;
  gsize whole = strspn (p, "0123456789");
  gsize decimals = p[whole] == '.' ? strspn (p + whole + 1, "0123456789") : 0;
  const char *power = strpbrk (p, "eE");
  *half = 0.5 * pow (10, (power != NULL ? g_ascii_strtod (power + 1, NULL) : 0) - (double)decimals);
  return TRUE;
}

gboolean
cal_whole (const char *word, guint64 most, guint64 *value)
{
  /* g_ascii_string_to_unsigned takes a sign */
  return g_ascii_isdigit (*word) && g_ascii_string_to_unsigned (word, 10, 0, most, value, NULL);
}

gboolean
cal_is_json (const CalText *text)
{
  gsize at = cal_text_start (text);
  while (at < text->n_B && strchr (" \t\r\n", text->bytes[at]) != NULL && text->bytes[at] != '\0')
    at++;
  return at < text->n_B && text->bytes[at] == '{';
}

/* ---- one file ---- */

void
cal_import_open (CalImport *import, const CalText *text, const CalFileInfo *told, const char *header)
{
  *import = (CalImport){ .text = text, .told = told, .csv = g_string_new (header) };
}

char *
cal_import_close (CalImport *import, gboolean good, const char *foreign, const char *row, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (import->note); i++)
    cal_note_end (&import->note[i], import->text);
  if (good && !import->known)
    good = cal_fail (import->text, (CalPlace){ 0 }, error, "%s", foreign);
  else if (good && import->n_rows == 0)
    good = cal_fail (import->text, (CalPlace){ 0 }, error, "no %s is left to import", row);
  char *csv = g_string_free (import->csv, FALSE);
  if (good)
    return csv;
  g_free (csv);
  return NULL;
}

/* ---- CSV ---- */

static void
append_text (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    g_string_append_unichar (out, c == ',' ? ';' : c == '"' || !g_unichar_isprint (c) ? '_' : c);
  }
}

void
cal_csv_row (GString *out, const CalCell *cells, guint n)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  for (guint i = 0; i < n; i++) {
    const CalCell *cell = &cells[i];
    if (cell->kind == CAL_CELL_COUNT)
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, cell->count);
    else if (cell->kind == CAL_CELL_NUMBER && isfinite (cell->number))
      g_string_append (out, g_ascii_formatd (number, sizeof number, "%.10g", cell->number));
    else if (cell->kind == CAL_CELL_TEXT && cell->text != NULL)
      append_text (out, cell->text);
    g_string_append_c (out, i + 1 < n ? ',' : '\n');
  }
}

/* ---- rows ---- */

void
cal_copy_write (CalImport *import, const CalCopy *copy)
{
  guint64 copy_B = import->told->copy_B;
  double bytes = (double)copy_B * copy->copies, rate_s = bytes > 0 ? bytes / (copy->value * 1e9) : (double)NAN;
  const CalCell cells[] = { CAL_TEXT (copy->kind),
                            CAL_NUMBER (copy->src),
                            CAL_NUMBER (copy->dst),
                            copy->latency ? CAL_TEXT (NULL) : CAL_KNOWN (copy_B),
                            CAL_NUMBER (copy->latency ? copy->value : rate_s),
                            CAL_NUMBER (copy->latency ? (double)NAN : copy->value) };
  cal_csv_row (import->csv, cells, G_N_ELEMENTS (cells));
  import->n_rows++;
}

void
cal_storage_write (CalImport *import, const CalStorage *row)
{
  const CalCell cells[] = { CAL_TEXT (row->tool),
                            CAL_TEXT (row->job),
                            CAL_TEXT (row->op),
                            CAL_TEXT (row->path),
                            CAL_KNOWN (row->block_B),
                            CAL_KNOWN (row->threads),
                            CAL_KNOWN (row->depth),
                            CAL_NUMBER (row->rate_Bps),
                            CAL_NUMBER (row->iops),
                            CAL_NUMBER (row->latency_mean_s),
                            CAL_NUMBER (row->latency_p99_s),
                            CAL_NUMBER (row->runtime_s) };
  cal_csv_row (import->csv, cells, G_N_ELEMENTS (cells));
  import->n_rows++;
}
