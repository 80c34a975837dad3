/* A file of variables, as `env` prints them or a shell script sets them. */
#include <string.h>

#include "base/file.h"
#include "collective/nccl_variables.h"

#define MAX_B (1u << 20)

static gboolean
is_ours (const char *name)
{
  static const char *const prefixes[] = { "NCCL_", "FI_", "RDMAV_", "OFI_NCCL_" };
  for (size_t i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (name, prefixes[i]))
      return TRUE;
  return FALSE;
}

/* The name that a line sets, behind what a shell writes before it, and its value without quotes; NULL: no variable of ours. *name
 * is cut out of the line, *value points into it; NULL: the line is not NAME=VALUE, and sets nothing. */
static char *
variable_of (char *line, char **value)
{
  static const char *const words[] = { "export ", "declare -x ", "setenv ", "-x " };
  char *name = g_strstrip (line), *equals = strchr (name, '=');
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (name, words[i]))
      name = g_strchug (name + strlen (words[i]));
  *value = NULL;
  if (!is_ours (name))
    return NULL;
  const size_t n_name = strspn (name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  if (equals == NULL || name + n_name != equals)
    return equals != NULL || name[n_name] == '\0' ? name : NULL; /* no value */
  *equals = '\0';
  *value = equals + 1;
  gsize n = strlen (*value);
  if (n >= 2 && (**value == '"' || **value == '\'') && (*value)[n - 1] == **value) {
    (*value)[n - 1] = '\0';
    (*value)++;
  }
  return name;
}

BaseYaml *
col_nccl_env_load (const char *path, gboolean (*known) (const char *name), ColNcclFault fault, void *user, GError **error)
{
  g_autofree char *bytes = NULL;
  gsize n_B = 0;
  if (!base_file_read (path, MAX_B, &bytes, &n_B, error))
    return NULL;
  if (!g_utf8_validate (bytes, (gssize)n_B, NULL)) {
    base_fail (error, BASE_ERROR_INPUT, "%s: not UTF-8 text; expected lines such as NCCL_ALGO=Ring, as `env` prints them", path);
    return NULL;
  }
  g_auto (GStrv) lines = g_strsplit (bytes, "\n", -1);
  const guint n = g_strv_length (lines);
  g_autofree char **keys = g_new0 (char *, n + 1);
  g_autoptr (GHashTable) last = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++) {
    char *value, *name = variable_of (lines[i], &value);
    if (name != NULL && value == NULL) {
      g_autofree char *what = g_strdup_printf ("line %u, '%.60s'", i + 1, name);
      fault (user, what, "not NAME=VALUE without blanks, so that it sets nothing");
      name = NULL;
    } else if (name != NULL && !known (name)) {
      fault (user, name, "not a name that NCCL or its plugins are known to read");
      name = NULL;
    } else if (name != NULL && *value == '\0') { /* as if it were not set: src/misc/param.cc:ncclLoadParam */
      g_hash_table_insert (last, name, GUINT_TO_POINTER (i + 1));
      name = NULL;
    }
    g_autofree char *quoted = name != NULL ? base_yaml_quote (value) : NULL;
    const int before = name != NULL ? (int)(value - lines[i]) - (int)strlen (name) - 1 : 0; /* the value stands where it stood */
    g_ptr_array_add (texts, name != NULL ? g_strdup_printf ("%s:%*s%s", name, MAX (before, 1), "", quoted) : g_strdup (""));
    if (name != NULL)
      g_hash_table_insert (last, name, GUINT_TO_POINTER (i + 1));
    keys[i] = name;
  }
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    if (keys[i] != NULL && GPOINTER_TO_UINT (g_hash_table_lookup (last, keys[i])) == i + 1)
      g_string_append (text, texts->pdata[i]);
    g_string_append_c (text, '\n');
  }
  return base_yaml_load_data (path, text->str, text->len, error);
}
