#include "study/vary.h"

#include <string.h>

#include "base/parallel.h"

/* ---- what is varied ---- */

static void
axis_free (gpointer data)
{
  StdAxis *axis = data;
  g_free (axis->path);
  g_ptr_array_unref (axis->values);
  g_free (axis);
}

/* Values at commas outside of brackets, braces and quotes. */
static void
split_values (const char *text, GPtrArray *values)
{
  int depth = 0;
  char quote = 0;
  const char *from = text;
  for (const char *p = text;; p++) {
    if (*p == '\0' || (*p == ',' && depth == 0 && quote == 0)) {
      g_ptr_array_add (values, g_strstrip (g_strndup (from, (gsize)(p - from))));
      from = p + 1;
      if (*p == '\0')
        return;
    } else if (quote != 0) {
      quote = *p == quote ? 0 : quote;
    } else if (*p == '"' || *p == '\'') {
      quote = *p;
    } else if (*p == '[' || *p == '{') {
      depth++;
    } else if (*p == ']' || *p == '}') {
      depth--;
    }
  }
}

/* Appends the axis that `text` says. */
static gboolean
read_axis (const char *text, GPtrArray *axes, GError **error)
{
  const char *equals = strchr (text, '=');
  if (equals == NULL || equals == text)
    return base_fail (error, BASE_ERROR_INPUT,
                      "--vary '%s' is not PATH=A,B,…; for example --vary node.nics.rate='200 Gb/s,400 Gb/s'", text);
  StdAxis *axis = g_new (StdAxis, 1);
  *axis = (StdAxis){ g_strndup (text, (gsize)(equals - text)), g_ptr_array_new_with_free_func (g_free) };
  g_ptr_array_add (axes, axis);
  split_values (equals + 1, axis->values);
  for (guint i = 0; i < axis->values->len; i++)
    if (*(const char *)axis->values->pdata[i] == '\0')
      return base_fail (error, BASE_ERROR_INPUT, "--vary '%s': value %u is empty; values stand between commas", text, i + 1);
  for (guint i = 0; i + 1 < axes->len; i++)
    if (strcmp (((const StdAxis *)axes->pdata[i])->path, axis->path) == 0)
      return base_fail (error, BASE_ERROR_INPUT, "--vary %s is given twice; all its values belong into one", axis->path);
  return TRUE;
}

GPtrArray *
std_axes_read (char *const *texts, GError **error)
{
  g_autoptr (GPtrArray) axes = g_ptr_array_new_with_free_func (axis_free);
  double points = 1;
  for (; *texts != NULL; texts++) {
    if (!read_axis (*texts, axes, error))
      return NULL;
    points *= ((const StdAxis *)axes->pdata[axes->len - 1])->values->len;
  }
  if (points > STD_VARY_MOST) {
    base_fail (error, BASE_ERROR_INPUT, "--vary asks for %.0f combinations; at most %u are accepted", points, STD_VARY_MOST);
    return NULL;
  }
  return g_steal_pointer (&axes);
}

guint
std_axes_n_points (const GPtrArray *axes)
{
  guint n = 1;
  for (guint i = 0; i < axes->len; i++)
    n *= ((const StdAxis *)axes->pdata[i])->values->len;
  return n;
}

const char *
std_axes_value (const GPtrArray *axes, guint axis, guint point)
{
  for (guint i = axes->len - 1; i > axis; i--)
    point /= ((const StdAxis *)axes->pdata[i])->values->len;
  const GPtrArray *values = ((const StdAxis *)axes->pdata[axis])->values;
  return values->pdata[point % values->len];
}

/* "path=value" of each axis. Returned: full, g_strfreev. */
static char **
sets_of (const GPtrArray *axes, guint point)
{
  char **sets = g_new0 (char *, axes->len + 1);
  for (guint i = 0; i < axes->len; i++)
    sets[i] = g_strconcat (((const StdAxis *)axes->pdata[i])->path, "=", std_axes_value (axes, i, point), NULL);
  return sets;
}

char *
std_axes_point_name (const GPtrArray *axes, guint point)
{
  g_auto (GStrv) sets = sets_of (axes, point);
  return g_strjoinv (" ", sets);
}

gboolean
std_axis_is_numeric (const StdAxis *axis, const char **unit)
{
  const char *first = NULL;
  for (guint i = 0; i < axis->values->len; i++) {
    const char *text = axis->values->pdata[i];
    char *end;
    (void)g_ascii_strtod (text, &end);
    if (end == text || (first != NULL && strcmp (first, end) != 0))
      return FALSE;
    first = end;
  }
  *unit = first + strspn (first, " ");
  return TRUE;
}

/* ---- points ---- */

static void
point_clear (gpointer data)
{
  StdPoint *point = data;
  g_strfreev (point->sets);
  base_table_free (point->rows);
  g_clear_error (&point->error);
}

/* A point, and what runs it. */
typedef struct {
  StdPoint *point;
  void (*run) (StdPoint *point);
} Work;

static void
work (void *item)
{
  const Work *one = item;
  one->run (one->point);
}

GArray *
std_vary (const GPtrArray *axes, void (*run) (StdPoint *point), gpointer user)
{
  const guint n = std_axes_n_points (axes);
  GArray *points = g_array_sized_new (FALSE, TRUE, sizeof (StdPoint), n);
  g_autofree Work *works = g_new (Work, n);
  g_array_set_clear_func (points, point_clear);
  g_array_set_size (points, n);
  for (guint i = 0; i < n; i++) {
    StdPoint *point = &g_array_index (points, StdPoint, i);
    *point = (StdPoint){ .index = i, .sets = sets_of (axes, i), .user = user };
    works[i] = (Work){ point, run };
  }
  base_parallel_each (works, n, sizeof (Work), 0, "combinations", work);
  return points;
}

char *
std_point_reason (const StdPoint *point)
{
  if (point->error == NULL)
    return NULL;
  char *why = g_strchomp (g_strdup (point->error->message));
  if (g_str_has_suffix (why, "nothing was run") && strrchr (why, '\n') != NULL)
    *strrchr (why, '\n') = '\0';
  return why;
}
