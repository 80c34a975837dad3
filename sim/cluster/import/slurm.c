/* Slurm's topology.conf or topology.yaml as a topology: which nodes are attached to which switches, or which share an NVLink
 * domain. What a node is, Slurm does not know: it is taken from another topology.
 * Between switches cables for all that is below are assumed. */
#include <string.h>

#include "base/error.h"
#include "base/yaml.h"
#include "cluster/hostlist.h"
#include "import/import-private.h"
#include "import/slurm-private.h"

#define MAX_SWITCHES 4096u /* as many as a custom fabric has */

typedef struct {
  const char *path;
  GPtrArray *entries; /* CluSlurmEntry * */
  GHashTable *named;  /* char * -> CluSlurmEntry * */
  GHashTable *hosts;  /* char * -> CluSlurmEntry *: where a node hangs */
  GPtrArray *order;   /* char *, borrowed: nodes as they are numbered */
  gboolean link_speed;
} Slurm;

/* Nodes in the order of leaves; who hangs where. */
static gboolean
number_nodes (Slurm *slurm, GError **error)
{
  for (guint i = 0; i < slurm->entries->len; i++) {
    CluSlurmEntry *entry = slurm->entries->pdata[i];
    entry->first = slurm->order->len;
    for (guint k = 0; entry->nodes != NULL && k < entry->nodes->len; k++) {
      const CluSlurmEntry *other = g_hash_table_lookup (slurm->hosts, entry->nodes->pdata[k]);
      if (other != NULL)
        return base_fail_at (error, entry->members, "node '%s' is in '%s' already; each node is accepted once",
                             (const char *)entry->nodes->pdata[k], other->name);
      g_hash_table_insert (slurm->hosts, entry->nodes->pdata[k], entry);
      g_ptr_array_add (slurm->order, entry->nodes->pdata[k]);
    }
    for (guint k = 0; entry->children != NULL && k < entry->children->len; k++) {
      CluSlurmEntry *child = g_hash_table_lookup (slurm->named, entry->children->pdata[k]);
      const char *why = child == NULL ? "which no line names" : child->has_parent ? "which has a switch above it already" : NULL;
      if (why != NULL)
        return base_fail_at (error, entry->members, "'%s' is above '%s', %s", entry->name, (const char *)entry->children->pdata[k],
                             why);
      child->has_parent = TRUE;
    }
  }
  return TRUE;
}

/* Nodes below an entry that has no switch above it, or that was come to from one: each has one switch above it at most, so that
 * none is come to twice, and those in a ring never. */
static void
count_below (const Slurm *slurm, CluSlurmEntry *entry)
{
  entry->seen = TRUE;
  entry->n_below = entry->nodes != NULL ? entry->nodes->len : 0;
  for (guint k = 0; entry->children != NULL && k < entry->children->len; k++) {
    CluSlurmEntry *child = g_hash_table_lookup (slurm->named, entry->children->pdata[k]);
    count_below (slurm, child);
    entry->n_below += child->n_below;
  }
}

/* Each name once, and all of one kind. */
static gboolean
name_all (Slurm *slurm, GError **error)
{
  for (guint i = 0; i < slurm->entries->len; i++) {
    CluSlurmEntry *entry = slurm->entries->pdata[i];
    if (!g_hash_table_insert (slurm->named, entry->name, entry))
      return base_fail_at (error, entry->mark, "'%s' is there twice; each name is accepted once", entry->name);
    if (((const CluSlurmEntry *)slurm->entries->pdata[0])->is_block != entry->is_block)
      return base_fail_at (error, entry->mark,
                           "switches and blocks in one file; Slurm's tree or block plugin is accepted, one of them");
  }
  return TRUE;
}

static gboolean
read_all (Slurm *slurm, const CluImport *input, const char *only, GError **error)
{
  g_autofree char *text = g_strndup (input->bytes, input->n_B);
  BaseMark begin = { slurm->path, 1, 1 };
  if (strlen (text) != input->n_B || !g_utf8_validate (text, -1, NULL))
    return base_fail_at (error, begin, "this is no text; a topology.conf or topology.yaml is accepted");
  gboolean yaml = clu_slurm_is_yaml (slurm->path, text);
  if (!yaml && only != NULL)
    return base_fail_at (error, begin, "--only goes with topology.yaml, which has topologies by name");
  if (!(yaml ? clu_slurm_read_yaml (slurm->path, text, only, slurm->entries, input->warnings, error)
             : clu_slurm_read_conf (slurm->path, text, slurm->entries, &slurm->link_speed, error)))
    return FALSE;
  if (slurm->entries->len == 0)
    return base_fail_at (error, begin, "%s is in it; a topology.conf or topology.yaml is accepted",
                         yaml ? "no switch and no block" : "no SwitchName and no BlockName");
  if (slurm->entries->len > MAX_SWITCHES)
    return base_fail_at (error, ((const CluSlurmEntry *)slurm->entries->pdata[MAX_SWITCHES])->mark,
                         "more than %u switches or blocks", MAX_SWITCHES);
  if (!name_all (slurm, error) || !number_nodes (slurm, error))
    return FALSE;
  for (guint i = 0; i < slurm->entries->len; i++)
    if (!((const CluSlurmEntry *)slurm->entries->pdata[i])->has_parent)
      count_below (slurm, slurm->entries->pdata[i]);
  for (guint i = 0; i < slurm->entries->len; i++) {
    const CluSlurmEntry *entry = slurm->entries->pdata[i];
    if (!entry->seen || entry->n_below == 0)
      return base_fail_at (error, entry->mark, "'%s' %s; a tree with nodes at its ends is accepted", entry->name,
                           entry->seen ? "has no node below it" : "is above itself, by way of others");
  }
  return TRUE;
}

/* ---- what it becomes ---- */

/* A top-level key of a topology's text with all its lines; NULL: it has none. Returned: full. */
static char *
slice_of (const char *text, const char *key)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *head = g_strconcat (key, ":", NULL);
  GString *out = NULL;
  for (char **line = lines; *line != NULL; line++) {
    gboolean top = **line != '\0' && **line != ' ' && **line != '#';
    if (out != NULL && top)
      break;
    if (out == NULL && g_str_has_prefix (*line, head))
      out = g_string_new (NULL);
    if (out != NULL && **line != '\0' && **line != '#')
      g_string_append_printf (out, "%s\n", *line);
  }
  return out != NULL ? g_string_free (out, FALSE) : NULL;
}

char *
clu_slurm_node_of (const CluSlurmLike *like, BaseMark mark, GError **error)
{
  char *node = slice_of (like->text, "node");
  if (node == NULL)
    base_fail_at (error, mark, "'%s' has no key 'node' at the begin of a line; another topology is accepted by --like", like->name);
  return node;
}

static void
append_fabric (const Slurm *slurm, guint32 nics, GString *out)
{
  enum { MOST = 1024 }; /* parallel cables of a custom fabric */
  g_string_append (out, "fabric:\n  kind: custom\n  routing: adaptive\n  switches:\n");
  for (guint i = 0; i < slurm->entries->len; i++) {
    g_autofree char *name = base_yaml_quote (((const CluSlurmEntry *)slurm->entries->pdata[i])->name);
    g_string_append_printf (out, "    - {name: %s}\n", name);
  }
  g_string_append (out, "  links:\n");
  for (guint i = 0; i < slurm->entries->len; i++) {
    const CluSlurmEntry *entry = slurm->entries->pdata[i];
    g_autofree char *to = base_yaml_quote (entry->name);
    for (guint32 k = 0; entry->nodes != NULL && k < nics; k++)
      g_string_append_printf (out, "    - {from: \"node[%u-%u].nic%u\", to: %s}\n", entry->first,
                              entry->first + entry->nodes->len - 1, k, to);
    for (guint k = 0; entry->children != NULL && k < entry->children->len; k++) {
      const CluSlurmEntry *child = g_hash_table_lookup (slurm->named, entry->children->pdata[k]);
      g_autofree char *from = base_yaml_quote (child->name);
      g_string_append_printf (out, "    - {from: %s, to: %s, count: %u} # assumed: as many as adapters below\n", from, to,
                              CLAMP (child->n_below * nics, 1, MOST));
    }
  }
}

/* NVLink domains all of one size; the fabric is the other topology's. */
static gboolean
append_domains (const Slurm *slurm, const char *like, GString *out, GError **error)
{
  const CluSlurmEntry *first = slurm->entries->pdata[0];
  for (guint i = 1; i < slurm->entries->len; i++) {
    const CluSlurmEntry *entry = slurm->entries->pdata[i];
    if (entry->nodes->len != first->nodes->len)
      return base_fail_at (error, entry->members, "block '%s' has %u nodes and '%s' %u; blocks of one size are accepted",
                           entry->name, entry->nodes->len, first->name, first->nodes->len);
  }
  g_autofree char *fabric = slice_of (like, "fabric");
  g_string_append_printf (out, "nvlink_domain: {nodes: %u}\n%s", first->nodes->len, fabric != NULL ? fabric : "");
  return TRUE;
}

char *
clu_import_slurm_topology (const CluImport *input, const CluSlurmLike *like, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func (clu_slurm_entry_free), order = g_ptr_array_new ();
  g_autoptr (GHashTable) named = g_hash_table_new (g_str_hash, g_str_equal), hosts_of = g_hash_table_new (g_str_hash, g_str_equal);
  Slurm slurm = { .path = input->path, .entries = entries, .named = named, .hosts = hosts_of, .order = order };
  if (!read_all (&slurm, input, like->only, error))
    return NULL;
  BaseMark mark = { input->path, 1, 1 };
  g_autofree char *node = clu_slurm_node_of (like, mark, error), *hosts = clu_hostlist_join (slurm.order, 0, slurm.order->len);
  if (node == NULL)
    return NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  const char *origin = like->origin != NULL ? like->origin : "Slurm";
  g_string_append_printf (out, "# Of %s's topology; each node as one of %s. Nodes in order: %s\ntopology: %s\nnodes: %u\n%s",
                          origin, like->name, hosts, input->name, slurm.order->len, node);
  if (((const CluSlurmEntry *)slurm.entries->pdata[0])->is_block)
    return append_domains (&slurm, like->text, out, error) ? g_strdup (out->str) : NULL;
  append_fabric (&slurm, like->nics, out);
  base_diag_warn (input->warnings, mark,
                  "%s does not say how many cables there are between switches: as many as adapters below are assumed%s", origin,
                  slurm.link_speed ? "; LinkSpeed has no unit, and is left out" : "");
  return g_strdup (out->str);
}
