#include "base/diag.h"

#include "base/text.h"
#include "diag-private.h"
#include "units/text-private.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char *name; /* NULL: messages of no file */
  unsigned n_errors, n_kept;
  GHashTable *places; /* gint64 *: line and column of each error, kept or not */
} File;

typedef struct {
  unsigned file, line, column, order;
  char *text; /* with its position in front */
} Message;

struct BaseDiag {
  GPtrArray *files;    /* File *, in order of appearance */
  GPtrArray *errors;   /* Message * that are kept */
  GPtrArray *warnings; /* char * */
  GHashTable *known;   /* texts of errors and warnings that are kept: the same is said once */
  unsigned n_errors;   /* kept or not */
};

static void
file_free (void *data)
{
  File *file = data;
  g_hash_table_unref (file->places);
  g_free (file->name);
  g_free (file);
}

static void
message_free (void *data)
{
  Message *message = data;
  g_free (message->text);
  g_free (message);
}

BaseDiag *
base_diag_new (void)
{
  BaseDiag *diag = g_new0 (BaseDiag, 1);
  diag->files = g_ptr_array_new_with_free_func (file_free);
  diag->errors = g_ptr_array_new_with_free_func (message_free);
  diag->warnings = g_ptr_array_new_with_free_func (g_free);
  diag->known = g_hash_table_new (g_str_hash, g_str_equal);
  return diag;
}

void
base_diag_free (BaseDiag *diag)
{
  if (diag == NULL)
    return;
  g_hash_table_unref (diag->known);
  g_ptr_array_unref (diag->files);
  g_ptr_array_unref (diag->errors);
  g_ptr_array_unref (diag->warnings);
  g_free (diag);
}

char *
base_mark_prefix (BaseMark mark)
{
  if (mark.file == NULL)
    return g_strdup ("");
  g_autofree char *file = base_text_escape (mark.file, "");
  if (mark.line == 0)
    return g_strdup_printf ("%s: ", file);
  if (mark.column == 0)
    return g_strdup_printf ("%s:%u: ", file, mark.line);
  return g_strdup_printf ("%s:%u:%u: ", file, mark.line, mark.column);
}

static unsigned
file_find (BaseDiag *diag, const char *name)
{
  for (unsigned i = 0; i < diag->files->len; i++)
    if (g_strcmp0 (((File *)diag->files->pdata[i])->name, name) == 0)
      return i;
  File *file = g_new0 (File, 1);
  file->name = g_strdup (name);
  file->places = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_ptr_array_add (diag->files, file);
  return diag->files->len - 1;
}

/* FALSE: there is an error at this place already. */
static gboolean
add_place (File *file, BaseMark mark)
{
  gint64 *place = g_new (gint64, 1);
  *place = (gint64)mark.line << 32 | mark.column;
  return g_hash_table_add (file->places, place);
}

gboolean
base_diag_is_full (BaseDiag *diag, BaseMark mark)
{
  unsigned at = file_find (diag, mark.file); /* first: it may move the array */
  return ((File *)diag->files->pdata[at])->n_kept == BASE_DIAG_MAX_ERRORS;
}

void
base_diag_count (BaseDiag *diag, BaseMark mark)
{
  unsigned at = file_find (diag, mark.file);
  File *file = diag->files->pdata[at];
  if (add_place (file, mark)) {
    file->n_errors++;
    diag->n_errors++;
  }
}

/* Takes `text`. The file has room. */
static void
error_take (BaseDiag *diag, BaseMark mark, char *text)
{
  if (g_hash_table_contains (diag->known, text)) {
    g_free (text);
    return;
  }
  unsigned at = file_find (diag, mark.file);
  File *file = diag->files->pdata[at];
  add_place (file, mark);
  file->n_errors++;
  file->n_kept++;
  diag->n_errors++;
  Message *message = g_new (Message, 1);
  *message = (Message){ at, mark.line, mark.column, diag->errors->len, text };
  g_ptr_array_add (diag->errors, message);
  g_hash_table_add (diag->known, text);
}

static char *format_message (BaseMark mark, const char *format, va_list args) G_GNUC_PRINTF (2, 0);

static char *
format_message (BaseMark mark, const char *format, va_list args)
{
  g_autofree char *body = g_strdup_vprintf (format, args);
  g_autofree char *line = base_text_escape (body, ""); /* one message is one line, whatever a user's text holds */
  g_autofree char *prefix = base_mark_prefix (mark);
  return base_text_cut (g_strconcat (prefix, line, NULL));
}

gboolean
base_fail_at (GError **error, BaseMark mark, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = format_message (mark, format, args);
  va_end (args);
  g_set_error_literal (error, BASE_ERROR, (int)BASE_ERROR_INPUT, text);
  return FALSE;
}

void
base_diag_error (BaseDiag *diag, BaseMark mark, const char *format, ...)
{
  if (base_diag_is_full (diag, mark)) {
    base_diag_count (diag, mark);
    return;
  }
  va_list args;
  va_start (args, format);
  error_take (diag, mark, format_message (mark, format, args));
  va_end (args);
}

void
base_diag_warn (BaseDiag *diag, BaseMark mark, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  char *text = format_message (mark, format, args);
  va_end (args);
  if (g_hash_table_contains (diag->known, text)) {
    g_free (text);
    return;
  }
  g_ptr_array_add (diag->warnings, text);
  g_hash_table_add (diag->known, text);
}

void
base_diag_add_error (BaseDiag *diag, BaseMark mark, const GError *error)
{
  g_return_if_fail (error != NULL);
  if (base_diag_is_full (diag, mark)) {
    base_diag_count (diag, mark);
    return;
  }
  /* A ready message may be several lines: those of another diag. */
  g_autofree char *body = base_text_escape (error->message, "\n");
  g_autofree char *prefix = base_mark_prefix (mark);
  error_take (diag, mark, g_strconcat (prefix, body, NULL));
}

unsigned
base_diag_n_errors (const BaseDiag *diag)
{
  return diag->n_errors;
}

unsigned
base_diag_n_warnings (const BaseDiag *diag)
{
  return diag->warnings->len;
}

const char *
base_diag_warning (const BaseDiag *diag, unsigned i)
{
  g_return_val_if_fail (i < diag->warnings->len, NULL);
  return diag->warnings->pdata[i];
}

/* By file in order of appearance, then by position, then as found: a person mends a file from top to bottom. */
static int
message_compare (const void *a, const void *b)
{
  const Message *x = *(Message *const *)a, *y = *(Message *const *)b;
  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  if (x->column != y->column)
    return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

gboolean
base_diag_finish (const BaseDiag *diag, GError **error)
{
  if (diag->n_errors == 0)
    return TRUE;

  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (unsigned i = 0; i < diag->errors->len; i++)
    g_ptr_array_add (sorted, diag->errors->pdata[i]);
  g_ptr_array_sort (sorted, message_compare);
  for (unsigned i = 0; i < sorted->len; i++) {
    const Message *message = sorted->pdata[i];
    g_string_append_printf (text, "%s\n", message->text);
    const File *file = diag->files->pdata[message->file];
    gboolean last = i + 1 == sorted->len || ((Message *)sorted->pdata[i + 1])->file != message->file;
    if (last && file->n_errors > file->n_kept)
      g_string_append_printf (text, "%s%s… and %u more\n", file->name != NULL ? file->name : "", file->name != NULL ? ": " : "",
                              file->n_errors - file->n_kept);
  }
  g_string_append_printf (text, "%u error%s, nothing was run", diag->n_errors, diag->n_errors == 1 ? "" : "s");
  g_set_error_literal (error, BASE_ERROR, (int)BASE_ERROR_INPUT, text->str);
  g_string_free (text, TRUE);
  return FALSE;
}
