/* EC2's instance topology (`aws ec2 describe-instance-topology`): of each instance "NetworkNodes", the network nodes above it
 * from the top to its own, and "InstanceType". It becomes the text of a topology.conf of Slurm, one switch a
 * network node. AWS does not say how many cables there are, nor what joins several nodes of the top level. Source: Amazon EC2
 * user guide, "Amazon EC2 topology". */
#include <string.h>

#include "base/yaml.h"
#include "import/import-private.h"

#define MOST_INSTANCES 100000u
#define MOST_LEVELS    8u

typedef struct {
  GHashTable *below; /* name of a network node -> GPtrArray of names below; both owned */
  GPtrArray *order;  /* network nodes, as they came; borrowed from `below` */
  GHashTable *above; /* child -> parent; borrowed */
  GHashTable *seen;  /* instances; borrowed from the document */
  GPtrArray *tops;
  const char *type;   /* InstanceType; borrowed from the document */
  GHashTable *leaves; /* network nodes with instances */
} Reader;

static const char *
type_of (const char *instance)
{
  /* Whole nodes: a smaller size has fewer GPUs. P5e's GPUs and rates are those of P5en. */
  static const char *const rows[][2] = {
    { "p4d.24xlarge", "p4d" },   { "p5.48xlarge", "p5" },           { "p5e.48xlarge", "p5en" },
    { "p5en.48xlarge", "p5en" }, { "p6-b200.48xlarge", "p6_b200" }, { "trn2.48xlarge", "trn2" }
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_strcmp0 (instance, rows[i][0]) == 0)
      return rows[i][1];
  return NULL;
}

static gboolean
is_name (const char *text)
{
  return text != NULL && *text != '\0' && strlen (text) <= 64 &&
         text[strspn (text, "0123456789abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.")] == '\0';
}

/* The network node `name` with what is below it, made where it is new. */
static GPtrArray *
below (Reader *reader, const char *name, const char **own)
{
  gpointer key = NULL, list = NULL;
  if (!g_hash_table_lookup_extended (reader->below, name, &key, &list)) {
    key = g_strdup (name);
    list = g_ptr_array_new ();
    g_hash_table_insert (reader->below, key, list);
    g_ptr_array_add (reader->order, key);
  }
  *own = key;
  return list;
}

static gboolean
fail_mixed (BaseMark mark, const char *name, GError **error)
{
  return base_fail_at (error, mark, "'%s' has instances and network nodes below it; equally deep lists are accepted", name);
}

static gboolean
read_instance (Reader *reader, const BaseYamlNode *instance, GError **error)
{
  const BaseYamlNode *levels = base_yaml_get (instance, "NetworkNodes"), *id = base_yaml_get (instance, "InstanceId");
  const char *name = id != NULL ? base_yaml_text (id) : NULL, *type = NULL;
  const BaseMark mark = base_yaml_mark (instance);
  if (!is_name (name) || levels == NULL || base_yaml_kind (levels) != BASE_YAML_SEQ || base_yaml_n (levels) == 0)
    return base_fail_at (error, mark, "an instance without InstanceId or NetworkNodes; [\"nn-1\", \"nn-2\", \"nn-3\"] is accepted");
  if (!g_hash_table_add (reader->seen, (gpointer)(guintptr)name))
    return base_fail_at (error, base_yaml_mark (id), "instance '%s' is given twice", name);
  if (base_yaml_get (instance, "InstanceType") != NULL)
    type = base_yaml_text (base_yaml_get (instance, "InstanceType"));
  if (reader->type != NULL && g_strcmp0 (type, reader->type) != 0)
    return base_fail_at (error, mark, "'%s' beside '%s'; instances of one type are accepted", type != NULL ? type : "no type",
                         reader->type);
  reader->type = type;
  if (base_yaml_n (levels) > MOST_LEVELS)
    return base_fail_at (error, base_yaml_mark (levels), "%u network nodes of an instance; at most %u are accepted",
                         base_yaml_n (levels), MOST_LEVELS);
  const char *parent = NULL;
  for (unsigned i = 0; i < base_yaml_n (levels); i++) {
    const BaseYamlNode *level = base_yaml_item (levels, i);
    const char *own = NULL;
    if (!is_name (base_yaml_text (level)))
      return base_fail_at (error, base_yaml_mark (level), "a network node has a name of letters, digits, '-', '_' and '.'");
    const gboolean is_new = !g_hash_table_contains (reader->below, base_yaml_text (level));
    below (reader, base_yaml_text (level), &own);
    if (!is_new && g_strcmp0 (g_hash_table_lookup (reader->above, own), parent) != 0)
      return base_fail_at (error, base_yaml_mark (level), "'%s' is below two network nodes", own);
    if (parent != NULL && g_hash_table_contains (reader->leaves, parent))
      return fail_mixed (mark, parent, error);
    if (is_new && parent != NULL) {
      g_hash_table_insert (reader->above, (gpointer)(guintptr)own, (gpointer)(guintptr)parent);
      g_ptr_array_add (g_hash_table_lookup (reader->below, parent), (gpointer)(guintptr)own);
    } else if (is_new)
      g_ptr_array_add (reader->tops, (gpointer)(guintptr)own);
    parent = own;
  }
  if (g_hash_table_add (reader->leaves, (gpointer)(guintptr)parent) &&
      ((GPtrArray *)g_hash_table_lookup (reader->below, parent))->len > 0)
    return fail_mixed (mark, parent, error);
  g_ptr_array_add (g_hash_table_lookup (reader->below, parent), (gpointer)(guintptr)name);
  return TRUE;
}

static char *
write_conf (const CluImport *input, const Reader *reader)
{
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < reader->order->len; i++) {
    const char *name = reader->order->pdata[i];
    const GPtrArray *list = g_hash_table_lookup (reader->below, name);
    g_string_append_printf (out, "SwitchName=%s %s=", name, g_hash_table_contains (reader->leaves, name) ? "Nodes" : "Switches");
    for (guint k = 0; k < list->len; k++)
      g_string_append_printf (out, "%s%s", k > 0 ? "," : "", (const char *)list->pdata[k]);
    g_string_append_c (out, '\n');
  }
  if (reader->tops->len > 1) {
    base_diag_warn (input->warnings, (BaseMark){ input->path, 1, 1 },
                    "AWS does not say what joins the %u network nodes of the top level: one switch is assumed", reader->tops->len);
    g_string_append (out, "SwitchName=above_all Switches=");
    for (guint k = 0; k < reader->tops->len; k++)
      g_string_append_printf (out, "%s%s", k > 0 ? "," : "", (const char *)reader->tops->pdata[k]);
    g_string_append_c (out, '\n');
  }
  return g_string_free (out, FALSE);
}

char *
clu_import_aws_conf (const CluImport *input, const char **like, GError **error)
{
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (input->path, input->bytes, input->n_B, error);
  if (yaml == NULL)
    return NULL;
  const BaseYamlNode *root = base_yaml_root (yaml);
  const BaseYamlNode *list = base_yaml_kind (root) == BASE_YAML_MAP ? base_yaml_get (root, "Instances") : NULL;
  if (list == NULL || base_yaml_kind (list) != BASE_YAML_SEQ || base_yaml_n (list) == 0 || base_yaml_n (list) > MOST_INSTANCES) {
    base_fail_at (error, base_yaml_mark (list != NULL ? list : root),
                  "no list 'Instances' of 1 to %u; what aws ec2 describe-instance-topology prints as JSON is accepted",
                  MOST_INSTANCES);
    return NULL;
  }
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref),
                         above = g_hash_table_new (g_str_hash, g_str_equal), seen = g_hash_table_new (g_str_hash, g_str_equal),
                         leaves = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) order = g_ptr_array_new (), tops = g_ptr_array_new ();
  Reader reader = { .below = names, .above = above, .seen = seen, .leaves = leaves, .order = order, .tops = tops };
  for (unsigned i = 0; i < base_yaml_n (list); i++)
    if (!read_instance (&reader, base_yaml_item (list, i), error))
      return NULL;
  *like = type_of (reader.type);
  return write_conf (input, &reader);
}
