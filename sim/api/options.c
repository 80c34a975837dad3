/* Options of handles, by a table. */
#include <string.h>

#include "api-private.h"
#include "base/lookup.h"

static const FrOption *
find (const FrOption *options, const char *name, FrError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (const FrOption *option = options; option->name != NULL; option++) {
    if (strcmp (option->name, name) == 0)
      return option;
    g_ptr_array_add (names, (char *)option->name);
  }
  g_ptr_array_add (names, NULL);
  g_autofree char *accepted = base_accepted (name, (const char *const *)names->pdata, NULL);
  fr_fail (error, "option '%s' is not known%s", name, accepted);
  return NULL;
}

bool
fr_option_set (const FrOption *options, void *base, GPtrArray *flags, const char *name, const char *value, FrError **error)
{
  if (name == NULL)
    return fr_fail (error, "the name of an option is needed");
  const FrOption *option = find (options, name, error);
  if (option == NULL)
    return false;
  if (option->bare != (value == NULL))
    return fr_fail (error, option->bare ? "option '%s' has no value; NULL is accepted" : "option '%s' needs a value", name);
  void *at = (char *)base + option->offset;
  g_ptr_array_add (flags, g_strconcat ("--", name, NULL));
  if (option->bare) {
    *(gboolean *)at = TRUE;
    return true;
  }
  g_ptr_array_add (flags, g_strdup (value));
  if (option->many) {
    GPtrArray **values = at;
    if (*values == NULL)
      *values = fr_sets_new ();
    g_ptr_array_insert (*values, (gint)(*values)->len - 1, g_strdup (value));
    return true;
  }
  g_free (*(char **)at);
  *(char **)at = g_strdup (value);
  return true;
}

void
fr_options_clear (const FrOption *options, void *base)
{
  for (const FrOption *option = options; option->name != NULL; option++) {
    void *at = (char *)base + option->offset;
    if (option->many)
      g_clear_pointer ((GPtrArray **)at, g_ptr_array_unref);
    else if (!option->bare)
      g_clear_pointer ((char **)at, g_free);
  }
}
