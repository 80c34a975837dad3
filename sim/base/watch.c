#include "base/watch.h"

#include <math.h>
#include <string.h>

struct BaseWatch {
  GPtrArray *seen;     /* BaseWatched * */
  GHashTable *places;  /* of them: char *, borrowed */
  GHashTable *factors; /* char * -> double * */
};

static void
watched_free (gpointer data)
{
  BaseWatched *one = data;
  g_free (one->place);
  g_free (one->file);
  g_free (one->key);
  g_free (one->note);
  g_free (one);
}

BaseWatch *
base_watch_new (void)
{
  BaseWatch *watch = g_new (BaseWatch, 1);
  *watch = (BaseWatch){ .seen = g_ptr_array_new_with_free_func (watched_free),
                        .places = g_hash_table_new (g_str_hash, g_str_equal),
                        .factors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free) };
  return watch;
}

void
base_watch_free (BaseWatch *watch)
{
  if (watch == NULL)
    return;
  g_hash_table_unref (watch->places);
  g_hash_table_unref (watch->factors);
  g_ptr_array_unref (watch->seen);
  g_free (watch);
}

void
base_watch_change (BaseWatch *watch, const char *place, double factor)
{
  double *kept = g_new (double, 1);
  *kept = factor;
  g_hash_table_replace (watch->factors, g_strdup (place), kept);
}

gboolean
base_watch_changes_seen (const BaseWatch *watch, const BaseWatch *seen)
{
  GHashTableIter iter;
  gpointer place;
  g_hash_table_iter_init (&iter, watch->factors);
  while (g_hash_table_iter_next (&iter, &place, NULL))
    if (seen == NULL || g_hash_table_contains (seen->places, place))
      return TRUE;
  return FALSE;
}

const GPtrArray *
base_watch_seen (const BaseWatch *watch)
{
  return watch->seen;
}

/* As " %u" without the blank has it, in front of `end`, which it returns where the number begins. */
static char *
put_number (char *end, guint number)
{
  do
    *--end = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  return end;
}

/* "FILE:LINE:COLUMN", in `room` where it fits, else in *owned. All numbers of all files pass here, a thousand times over. */
static const char *
place_of (const BaseMark *mark, char *room, gsize n_B, char **owned)
{
  char digits[32], *at = digits + sizeof digits;
  *--at = '\0';
  at = put_number (at, mark->column);
  *--at = ':';
  at = put_number (at, mark->line);
  *--at = ':';
  const gsize n_file = strlen (mark->file), n_behind = (gsize)(digits + sizeof digits - at);
  char *out = n_file + n_behind <= n_B ? room : (*owned = g_malloc (n_file + n_behind));
  memcpy (out, mark->file, n_file);
  memcpy (out + n_file, at, n_behind);
  return out;
}

double
base_watch_read (BaseWatch *watch, const char *schema, const char *key, BaseDim dim, const BaseNum *num, double least, double most)
{
  char room[512];
  g_autofree char *owned = num->mark.file == NULL ? g_strdup_printf ("%s.%s", schema, key) : NULL;
  const char *place = owned != NULL ? owned : place_of (&num->mark, room, sizeof room, &owned);
  if (!g_hash_table_contains (watch->places, place)) {
    BaseWatched *one = g_new (BaseWatched, 1);
    *one = (BaseWatched){
      g_strdup (place), g_strdup (num->mark.file), num->mark.line, g_strdup (key), g_strdup (num->note), num->v, dim, num->source
    };
    g_ptr_array_add (watch->seen, one);
    g_hash_table_add (watch->places, one->place);
  }
  const double *factor = g_hash_table_lookup (watch->factors, place);
  return factor != NULL ? CLAMP (num->v * *factor, least, most) : num->v;
}
