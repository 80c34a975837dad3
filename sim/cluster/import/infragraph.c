/* MLCommons' InfraGraph: devices with their components, instances of them, and edges between the instances.
 *
 * An instance whose device has an `xpu` is nodes, any other a switch (or as many as its count says), whatever is inside. An edge
 * between them becomes cables: one2one pairs the endpoints in order, many2many all with all. Slices of instances and components are
 * Python's. The NICs of a node are the components of kind `nic`, and those that are devices and not GPUs, that cables end on, in
 * the order of the file. What is inside a node (types, NVLink, PCIe) is another topology's, as InfraGraph does not say which
 * parts they are. Rates and latencies are those of an edge's link.
 * Source: Keysight/infragraph schema/{infrastructure,device,component,edge,instance,link}.yaml and
 * src/infragraph/infragraph_service.py (_expand_instance_endpoint, _parse_infrastructure_edges), at commit of November 2026,
 * schema 3.
 * Check: golden import/infragraph, the two tiers of the blueprint ClosFabric. */
#include <math.h>
#include <string.h>

#include "base/yaml.h"
#include "import/import-private.h"
#include "import/slurm-private.h"

enum { MOST_ENDS = 1000000, MOST_COUNT = 1000000 };

typedef struct {
  const char *name;
  const BaseYamlNode *node;
  gboolean is_node;    /* it has a GPU */
  guint32 gpus, count; /* of one device; instances */
  guint32 first;       /* of nodes: number of the first */
  const BaseYamlNode *device;
} Instance;

/* One endpoint of an edge: a device and its component. */
typedef struct {
  const Instance *instance;
  guint32 index, nic; /* nic: of a node */
} End;

typedef struct {
  const CluImport *input;
  const BaseYamlNode *root;
  GArray *instances;  /* Instance */
  GHashTable *nics;   /* "device component" -> 1 + first NIC of it */
  GHashTable *n_nics; /* device -> NICs so far */
  GHashTable *cables; /* line of the fabric -> its count; keys owned */
  GPtrArray *order;   /* of the keys */
  guint32 nodes, most_nics, gpus;
  guint64 n_ends;
  gboolean no_rate;
} Graph;

static const char *
text_of (const BaseYamlNode *map, const char *key)
{
  const BaseYamlNode *node = base_yaml_get (map, key);
  return node != NULL && base_yaml_kind (node) == BASE_YAML_SCALAR && !base_yaml_is_null (node) ? base_yaml_text (node) : NULL;
}

static gboolean
count_of (const BaseYamlNode *map, const char *what, guint32 *out, GError **error)
{
  const BaseYamlNode *node = base_yaml_get (map, "count");
  const char *text = text_of (map, "count");
  guint64 value;
  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 1, MOST_COUNT, &value, NULL))
    return base_fail_at (error, base_yaml_mark (node != NULL ? node : map), "%s needs a count, a whole number from 1 to %d", what,
                         MOST_COUNT);
  *out = (guint32)value;
  return TRUE;
}

/* The item of a list whose `name` is `name`; NULL: none. `n` characters of it. */
static const BaseYamlNode *
find_named (const BaseYamlNode *list, const char *name, gsize n)
{
  for (unsigned i = 0; list != NULL && i < base_yaml_n (list); i++) {
    const char *own = text_of (base_yaml_item (list, i), "name");
    if (own != NULL && strlen (own) == n && strncmp (own, name, n) == 0)
      return base_yaml_item (list, i);
  }
  return NULL;
}

static const BaseYamlNode *
find_device (const Graph *graph, const char *name)
{
  return find_named (base_yaml_get (graph->root, "devices"), name, strlen (name));
}

/* GPUs of a device, those of its parts too. */
static gboolean
count_gpus (const Graph *graph, const BaseYamlNode *device, unsigned deep, guint64 *out, GError **error)
{
  const BaseYamlNode *components = base_yaml_get (device, "components");
  for (unsigned i = 0; components != NULL && i < base_yaml_n (components); i++) {
    const BaseYamlNode *one = base_yaml_item (components, i);
    const char *choice = text_of (one, "choice"), *name = text_of (one, "name");
    guint32 n;
    guint64 inside = 0;
    if (choice == NULL || name == NULL)
      return base_fail_at (error, base_yaml_mark (one),
                           "a component has name, count and choice (cpu, xpu, nic, memory, port, switch, device, custom)");
    if (!count_of (one, "a component", &n, error))
      return FALSE;
    const BaseYamlNode *part = strcmp (choice, "device") == 0 ? find_device (graph, name) : NULL;
    if (strcmp (choice, "device") == 0 && (part == NULL || deep > 8))
      return base_fail_at (error, base_yaml_mark (one), "component '%s' is a device, and %s", name,
                           part == NULL ? "'devices' has none of that name" : "devices are parts of each other in a circle");
    if (part != NULL && !count_gpus (graph, part, deep + 1, &inside, error))
      return FALSE;
    *out += (strcmp (choice, "xpu") == 0 ? 1 : inside) * n;
  }
  return TRUE;
}

static gboolean
read_instances (Graph *graph, GError **error)
{
  const BaseYamlNode *list = base_yaml_get (graph->root, "instances");
  for (unsigned i = 0; list != NULL && i < base_yaml_n (list); i++) {
    const BaseYamlNode *node = base_yaml_item (list, i);
    const char *name = text_of (node, "name"), *device = text_of (node, "device");
    Instance one = { .name = name, .node = node };
    guint64 gpus = 0;
    if (name == NULL || device == NULL)
      return base_fail_at (error, base_yaml_mark (node), "an instance has name, device and count");
    one.device = find_device (graph, device);
    if (one.device == NULL)
      return base_fail_at (error, base_yaml_mark (base_yaml_get (node, "device")), "device '%s' is not in 'devices'", device);
    if (!count_of (node, "an instance", &one.count, error) || !count_gpus (graph, one.device, 0, &gpus, error))
      return FALSE;
    one.is_node = gpus > 0;
    one.gpus = (guint32)MIN (gpus, G_MAXUINT32);
    if (one.is_node && graph->nodes > 0 && one.gpus != graph->gpus)
      return base_fail_at (error, base_yaml_mark (node), "'%s' has %u GPUs, instances before it %u; nodes of one kind are accepted",
                           name, one.gpus, graph->gpus);
    if (one.is_node) {
      one.first = graph->nodes;
      graph->gpus = one.gpus;
      graph->nodes += one.count;
    }
    g_array_append_val (graph->instances, one);
  }
  return graph->nodes > 0 || base_fail_at (error, base_yaml_mark (list != NULL ? list : graph->root),
                                           "no instance has a component of choice xpu, so that there are no nodes");
}

/* ---- endpoints ---- */

/* "name[a:b:c]": its name's length, and the indices of the slice. */
static gboolean
read_slice (const char *text, guint32 count, BaseMark mark, gsize *n_name, guint32 range[3], GError **error)
{
  const char *open = strchr (text, '['), *at = open != NULL ? open + 1 : NULL;
  guint32 part = 0;
  *n_name = open != NULL ? (gsize)(open - text) : strlen (text);
  range[0] = 0;
  range[1] = count;
  range[2] = 1;
  gboolean single = at != NULL && strchr (at, ':') == NULL;
  while (at != NULL && *at != ']' && *at != '\0' && part < 3) {
    char *end = NULL;
    if (g_ascii_isdigit (*at)) {
      range[part] = (guint32)MIN (g_ascii_strtoull (at, &end, 10), G_MAXUINT32 - 1);
      at = end;
    }
    if (*at == ':') {
      part++;
      at++;
    } else
      break;
  }
  if (single)
    range[1] = range[0] + 1;
  if (at != NULL && (*at != ']' || (at[1] != '\0' && at[1] != '.')))
    return base_fail_at (error, mark, "'%s' is not a name with a slice; accepted: xpu, xpu[0], xpu[0:4], xpu[0:8:2]", text);
  if (range[1] > count || range[0] >= range[1] || range[2] == 0)
    return base_fail_at (error, mark, "'%s' is outside of its %u (0 to %u)", text, count, count - 1);
  return TRUE;
}

/* First NIC of a component of a node's device; NICs are numbered as edges name them. */
static guint32
nic_of (Graph *graph, const BaseYamlNode *device, const char *component, guint32 count)
{
  g_autofree char *key = g_strdup_printf ("%s %s", text_of (device, "name"), component);
  gpointer known = g_hash_table_lookup (graph->nics, key);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1;
  const guint32 first = GPOINTER_TO_UINT (g_hash_table_lookup (graph->n_nics, device));
  g_hash_table_insert (graph->nics, g_steal_pointer (&key), GUINT_TO_POINTER (first + 1));
  g_hash_table_insert (graph->n_nics, (gpointer)device, GUINT_TO_POINTER (first + count));
  graph->most_nics = MAX (graph->most_nics, first + count);
  return first;
}

static const Instance *
instance_named (const Graph *graph, const char *text)
{
  const gsize n = strcspn (text, "[");
  for (guint i = 0; i < graph->instances->len; i++) {
    const Instance *one = &g_array_index (graph->instances, Instance, i);
    if (strlen (one->name) == n && strncmp (one->name, text, n) == 0)
      return one;
  }
  return NULL;
}

static gboolean
read_ends (Graph *graph, const BaseYamlNode *edge, const char *key, GArray *out, GError **error)
{
  const BaseYamlNode *end = base_yaml_get (edge, key);
  const char *where = end != NULL ? text_of (end, "instance") : NULL, *what = end != NULL ? text_of (end, "component") : NULL;
  if (where == NULL || what == NULL)
    return base_fail_at (error, base_yaml_mark (end != NULL ? end : edge),
                         "an edge has ep1 and ep2, each with instance and component");
  const BaseMark at = base_yaml_mark (base_yaml_get (end, "instance")), mark = base_yaml_mark (base_yaml_get (end, "component"));
  const Instance *instance = instance_named (graph, where);
  if (instance == NULL)
    return base_fail_at (error, at, "'%s' is not an instance", where);
  gsize n_name;
  guint32 of[3], part[3], count;
  const BaseYamlNode *component = find_named (base_yaml_get (instance->device, "components"), what, strcspn (what, "[."));
  if (component == NULL)
    return base_fail_at (error, mark, "'%s' is not a component of device '%s'", what, text_of (instance->device, "name"));
  g_autofree char *head = g_strndup (what, strcspn (what, "."));
  if (!count_of (component, "a component", &count, error) || !read_slice (where, instance->count, at, &n_name, of, error) ||
      !read_slice (head, count, mark, &n_name, part, error))
    return FALSE;
  const char *name = text_of (component, "name");
  const guint32 first = instance->is_node ? nic_of (graph, instance->device, name, count) : 0;
  for (guint32 i = of[0]; i < of[1]; i += of[2])
    for (guint32 k = part[0]; k < part[1]; k += part[2]) {
      const End one = { instance, i, first + k };
      g_array_append_val (out, one);
      if (++graph->n_ends > MOST_ENDS)
        return base_fail_at (error, base_yaml_mark (edge), "edges have more than %d endpoints; that is no cluster", MOST_ENDS);
    }
  return TRUE;
}

/* ---- links ---- */

/* "400 Gb/s" and "1 us" of a link, as keys of a cable. FALSE and *error on what says no rate. */
static gboolean
read_link (Graph *graph, const BaseYamlNode *edge, GString *out, GError **error)
{
  static const struct {
    const char *kind, *choice, *key, *unit;
  } known[] = { { "bandwidth", "gigabits_per_second", "rate", "Gb/s" },
                { "bandwidth", "gigabytes_per_second", "rate", "GB/s" },
                { "latency", "ms", "latency", "ms" },
                { "latency", "us", "latency", "us" },
                { "latency", "ns", "latency", "ns" } };
  const char *name = text_of (edge, "link");
  const BaseYamlNode *link = name != NULL ? find_named (base_yaml_get (graph->root, "links"), name, strlen (name)) : NULL;
  if (link == NULL)
    return base_fail_at (error, base_yaml_mark (edge), "the edge's link '%s' is not in 'links' of the infrastructure",
                         name != NULL ? name : "");
  const BaseYamlNode *physical = base_yaml_get (link, "physical");
  const BaseYamlNode *bandwidth = physical != NULL ? base_yaml_get (physical, "bandwidth") : NULL;
  graph->no_rate = graph->no_rate || bandwidth == NULL;
  if (bandwidth != NULL && base_yaml_get (bandwidth, "gigatransfers_per_second") != NULL)
    return base_fail_at (error, base_yaml_mark (bandwidth),
                         "transfers per second say no rate of a cable without its lanes; write gigabits_per_second");
  for (guint i = 0; physical != NULL && i < G_N_ELEMENTS (known); i++) {
    const BaseYamlNode *kind = base_yaml_get (physical, known[i].kind);
    const char *text = kind != NULL ? text_of (kind, known[i].choice) : NULL;
    if (text == NULL)
      continue;
    char *end = NULL;
    const double value = g_ascii_strtod (text, &end);
    if (*end != '\0' || !isfinite (value) || value < 0 || (value <= 0 && known[i].kind[0] == 'b'))
      return base_fail_at (error, base_yaml_mark (base_yaml_get (kind, known[i].choice)), "'%s' is not a number above 0", text);
    g_string_append_printf (out, ", %s: %s %s", known[i].key, text, known[i].unit);
  }
  return TRUE;
}

/* ---- cables ---- */

static void
add_cable (Graph *graph, const End *from, const End *to, const char *link)
{
  const End *node = from->instance->is_node ? from : to, *other = node == from ? to : from;
  g_autofree char *line =
      node->instance->is_node
          ? g_strdup_printf ("from: node%u.nic%u, to: %s%u%s", node->instance->first + node->index, node->nic,
                             other->instance->name, other->index, link)
          : g_strdup_printf ("from: %s%u, to: %s%u%s", from->instance->name, from->index, to->instance->name, to->index, link);
  const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (graph->cables, line));
  if (n > 0) {
    g_hash_table_replace (graph->cables, g_strdup (line), GUINT_TO_POINTER (n + 1));
    return;
  }
  g_ptr_array_add (graph->order, g_strdup (line));
  g_hash_table_insert (graph->cables, g_steal_pointer (&line), GUINT_TO_POINTER (1u));
}

static gboolean
read_edge (Graph *graph, const BaseYamlNode *edge, GError **error)
{
  g_autoptr (GArray) from = g_array_new (FALSE, FALSE, sizeof (End)), to = g_array_new (FALSE, FALSE, sizeof (End));
  g_autoptr (GString) link = g_string_new (NULL);
  const char *scheme = text_of (edge, "scheme");
  const gboolean all = g_strcmp0 (scheme, "many2many") == 0;
  if (!all && g_strcmp0 (scheme, "one2one") != 0)
    return base_fail_at (error, base_yaml_mark (base_yaml_get (edge, "scheme") != NULL ? base_yaml_get (edge, "scheme") : edge),
                         "scheme '%s' of an edge is not supported; accepted: one2one, many2many", scheme != NULL ? scheme : "");
  if (!read_ends (graph, edge, "ep1", from, error) || !read_ends (graph, edge, "ep2", to, error) ||
      !read_link (graph, edge, link, error))
    return FALSE;
  const guint n = all ? from->len : MIN (from->len, to->len), each = all ? to->len : 1;
  graph->n_ends += (guint64)n * each;
  if (graph->n_ends > MOST_ENDS)
    return base_fail_at (error, base_yaml_mark (edge), "edges have more than %d endpoints; that is no cluster", MOST_ENDS);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < each; k++) {
      const End *a = &g_array_index (from, End, i), *b = &g_array_index (to, End, all ? k : i);
      if (a->instance->is_node && b->instance->is_node)
        return base_fail_at (error, base_yaml_mark (edge), "a cable from node to node; nodes that meet at switches are accepted");
      if (a->instance != b->instance || a->index != b->index)
        add_cable (graph, a, b, link->str);
    }
  return TRUE;
}

static gboolean
read_edges (Graph *graph, GError **error)
{
  const BaseYamlNode *edges = base_yaml_get (graph->root, "edges");
  for (unsigned i = 0; edges != NULL && i < base_yaml_n (edges); i++)
    if (!read_edge (graph, base_yaml_item (edges, i), error))
      return FALSE;
  return TRUE;
}

/* ---- what comes out ---- */

static char *
write_topology (const Graph *graph, const CluSlurmLike *like, GError **error)
{
  const BaseMark mark = base_yaml_mark (graph->root);
  if (graph->gpus != like->gpus || (graph->order->len > 0 && graph->most_nics != like->nics)) {
    base_fail_at (error, mark, "its nodes have %u GPUs and %u NICs with cables, those of %s %u and %u; name another by --like",
                  graph->gpus, graph->most_nics, like->name, like->gpus, like->nics);
    return NULL;
  }
  g_autofree char *node = clu_slurm_node_of (like, mark, error), *name = base_yaml_quote (graph->input->name);
  if (node == NULL)
    return NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  g_string_append_printf (out, "# Of InfraGraph's infrastructure; each node as one of %s.\ntopology: %s\nnodes: %u\n%s", like->name,
                          name, graph->nodes, node);
  if (graph->order->len == 0)
    return g_string_free (g_steal_pointer (&out), FALSE);
  g_string_append (out, "fabric:\n  kind: custom\n  routing: ecmp\n  switches: [");
  const char *between = "";
  for (guint i = 0; i < graph->instances->len; i++) {
    const Instance *one = &g_array_index (graph->instances, Instance, i);
    for (guint32 k = 0; !one->is_node && k < one->count; k++, between = ", ")
      g_string_append_printf (out, "%s%s%u", between, one->name, k);
  }
  g_string_append (out, "]\n  links:\n");
  for (guint i = 0; i < graph->order->len; i++) {
    const char *line = graph->order->pdata[i];
    const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (graph->cables, line));
    if (n > 1)
      g_string_append_printf (out, "    - {%s, count: %u}\n", line, n);
    else
      g_string_append_printf (out, "    - {%s}\n", line);
  }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
read_all (Graph *graph, GError **error)
{
  const BaseYamlNode *old = base_yaml_get (graph->root, "connections");
  if (old != NULL)
    return base_fail_at (
        error, base_yaml_mark (old),
        "'connections' with dotted names are of an InfraGraph before its first release; accepted: 'edges' with ep1, "
        "ep2, scheme and link");
  if (base_yaml_kind (graph->root) != BASE_YAML_MAP || base_yaml_get (graph->root, "devices") == NULL ||
      base_yaml_get (graph->root, "instances") == NULL)
    return base_fail_at (error, base_yaml_mark (graph->root),
                         "not an infrastructure of InfraGraph, which has devices, links, instances and edges");
  return read_instances (graph, error) && read_edges (graph, error);
}

char *
clu_import_infragraph (const CluImport *input, const CluSlurmLike *like, GError **error)
{
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (input->path, input->bytes, input->n_B, error);
  if (yaml == NULL)
    return NULL;
  const BaseYamlNode *root = base_yaml_root (yaml), *inner = base_yaml_get (root, "infrastructure");
  g_autoptr (GArray) instances = g_array_new (FALSE, FALSE, sizeof (Instance));
  g_autoptr (GHashTable) nics = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                         n_nics = g_hash_table_new (NULL, NULL),
                         cables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) order = g_ptr_array_new_with_free_func (g_free);
  Graph graph = { .input = input,
                  .root = inner != NULL ? inner : root,
                  .instances = instances,
                  .nics = nics,
                  .n_nics = n_nics,
                  .cables = cables,
                  .order = order };
  if (!read_all (&graph, error))
    return NULL;
  char *text = write_topology (&graph, like, error);
  if (text != NULL)
    base_diag_warn (input->warnings, base_yaml_mark (graph.root),
                    "what is inside a node is that of %s, as InfraGraph names no types of parts%s", like->name,
                    graph.no_rate ? "; links without a bandwidth run at the rate of the NIC's port" : "");
  return text;
}
