/* Slurm's topology.conf. Layout: its manual page: SwitchName= with Nodes= or Switches=, and LinkSpeed=, whose unit is anyone's own;
 * BlockName= with Nodes=, BlockSizes=. */
#include <string.h>

#include "base/error.h"
#include "cluster/hostlist.h"
#include "import/import-private.h"
#include "import/slurm-private.h"

typedef struct {
  const char *path;
  GPtrArray *entries;   /* CluSlurmEntry * */
  gboolean *link_speed; /* whether any is given */
} Conf;

gboolean
clu_slurm_take_list (BaseMark mark, const char *text, GPtrArray **out, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gsize at = 0;
  *out = g_ptr_array_new_with_free_func (g_free);
  if (clu_hostlist_expand (text, *out, &at, &cause))
    return TRUE;
  mark.column += (unsigned)at;
  return base_fail_at (error, mark, "%s", cause->message);
}

void
clu_slurm_entry_free (gpointer data)
{
  CluSlurmEntry *entry = data;
  g_free (entry->name);
  g_clear_pointer (&entry->nodes, g_ptr_array_unref);
  g_clear_pointer (&entry->children, g_ptr_array_unref);
  g_free (entry);
}

/* One KEY=VALUE into the line's entry. */
static gboolean
take_pair (Conf *conf, CluSlurmEntry *entry, BaseMark mark, const char *word, GError **error)
{
  const char *equals = strchr (word, '=');
  if (equals == NULL || equals[1] == '\0')
    return base_fail_at (error, mark, "'%s' is not KEY=VALUE; SwitchName=s0 Nodes=node[0-15] is accepted", word);
  g_autofree char *key = g_ascii_strdown (word, equals - word);
  BaseMark value = mark;
  value.column += (unsigned)(equals + 1 - word);
  gboolean is_switch = strcmp (key, "switchname") == 0, is_block = strcmp (key, "blockname") == 0;
  gboolean is_nodes = strcmp (key, "nodes") == 0, is_children = strcmp (key, "switches") == 0;
  if (is_switch || is_block) {
    if (entry->name != NULL)
      return base_fail_at (error, mark, "a second name in one line; each switch or block has a line of its own");
    if (strpbrk (equals + 1, "[],") != NULL)
      return base_fail_at (error, value, "'%s' is several names; one switch or block a line is accepted", equals + 1);
    entry->name = g_strdup (equals + 1);
    entry->is_block = is_block;
    entry->mark = value;
    return TRUE;
  }
  if (is_nodes || is_children) {
    GPtrArray **list = is_nodes ? &entry->nodes : &entry->children;
    if (entry->nodes != NULL || entry->children != NULL)
      return base_fail_at (error, mark, "'%s' beside other members; a switch has Nodes or Switches, once", word);
    entry->members = value;
    return clu_slurm_take_list (value, equals + 1, list, error);
  }
  *conf->link_speed = *conf->link_speed || strcmp (key, "linkspeed") == 0;
  if (strcmp (key, "linkspeed") == 0 || strcmp (key, "blocksizes") == 0)
    return TRUE;
  static const char *const known[] = { "SwitchName", "Nodes", "Switches", "LinkSpeed", "BlockName", "BlockSizes", NULL };
  g_autofree char *told = g_strndup (word, (gsize)(equals - word)), *accepted = base_accepted (told, known, NULL);
  return base_fail_at (error, mark, "unknown key '%s'%s", told, accepted);
}

/* Words of a line: a comment ends it. */
static gboolean
take_line (Conf *conf, const char *line, unsigned number, GError **error)
{
  CluSlurmEntry *entry = g_new0 (CluSlurmEntry, 1);
  gboolean good = TRUE, sizes_alone = FALSE;
  BaseMark first = { conf->path, number, 1 };
  for (const char *p = line; good && *p != '\0' && *p != '#';) {
    gsize blank = strspn (p, " \t\r"), n = strcspn (p + blank, " \t\r#");
    p += blank;
    if (n == 0)
      continue;
    BaseMark mark = { conf->path, number, (unsigned)g_utf8_strlen (line, p - line) + 1 };
    g_autofree char *word = g_strndup (p, n);
    if (p == line + blank)
      first = mark;
    sizes_alone = sizes_alone || g_ascii_strncasecmp (word, "BlockSizes=", strlen ("BlockSizes=")) == 0;
    good = take_pair (conf, entry, mark, word, error);
    p += n;
  }
  gboolean empty = entry->name == NULL && entry->nodes == NULL && entry->children == NULL;
  if (good && empty && (sizes_alone || strspn (line, " \t\r") == strcspn (line, "#"))) {
    clu_slurm_entry_free (entry);
    return TRUE;
  }
  g_ptr_array_add (conf->entries, entry);
  if (!good)
    return FALSE;
  if (entry->name == NULL)
    return base_fail_at (error, first, "the line names no switch and no block; SwitchName=… or BlockName=… is accepted");
  if (entry->nodes == NULL && entry->children == NULL)
    return base_fail_at (error, entry->mark, "'%s' has no members; Nodes=… or Switches=… is accepted", entry->name);
  if (entry->is_block && entry->nodes == NULL)
    return base_fail_at (error, entry->members, "block '%s' has switches; Nodes=… is accepted", entry->name);
  return TRUE;
}

gboolean
clu_slurm_read_conf (const char *path, const char *text, GPtrArray *entries, gboolean *link_speed, GError **error)
{
  Conf conf = { path, entries, link_speed };
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (unsigned i = 0; lines[i] != NULL; i++) {
    for (const char *p = lines[i]; *p != '\0'; p = g_utf8_next_char (p))
      if (g_unichar_iscntrl (g_utf8_get_char (p)) && *p != '\t' && *p != '\r') {
        BaseMark mark = { path, i + 1, (unsigned)g_utf8_strlen (lines[i], p - lines[i]) + 1 };
        return base_fail_at (error, mark, "a control character; remove it");
      }
    if (!take_line (&conf, lines[i], i + 1, error))
      return FALSE;
  }
  return TRUE;
}
