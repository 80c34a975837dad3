/* Chakra execution traces in the JSON form of their feeder: {workload_graph: [{Id, Name, NodeType, data_deps, …}]}. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "chakra-private.h"

/* Ids of a list; FALSE and *error where one is not a whole number. */
static gboolean
read_ids (const BaseJson *json, JsonObject *from, const char *key, GArray **ids, GError **error)
{
  JsonArray *list = base_json_array (from, key);
  if (list == NULL)
    return !json_object_has_member (from, key) || base_json_fail (json, from, key, error, "must be a list of ids");
  for (guint i = 0; i < json_array_get_length (list); i++) {
    const double id = base_json_number_of (json_array_get_element (list, i));
    if (!(id >= 0 && id < 9e15 && floor (id) == id))
      return base_json_fail (json, from, key, error, "item %u is not the id of a node; accepted: whole numbers", i);
    const guint64 whole = (guint64)id;
    if (*ids == NULL)
      *ids = g_array_new (FALSE, FALSE, sizeof (guint64));
    g_array_append_val (*ids, whole);
  }
  return TRUE;
}

static gboolean
read_node (ScnChakraTrace *trace, const BaseJson *json, JsonObject *from, GError **error)
{
  gint64 id, kind;
  if (!base_json_need_count (json, from, "Id", 0, (gint64)9e15, &id, error) ||
      !base_json_need_count (json, from, "NodeType", 0, SCN_NODE_N - 1, &kind, error))
    return FALSE;
  ScnChakraNode *node = scn_chakra_node_add (trace);
  node->id = (guint64)id;
  node->kind = (ScnNodeKind)kind;
  node->name = g_strdup (base_json_text (from, "Name"));
  node->cpu = base_json_flag (from, "is_cpu_op", FALSE);
  g_autoptr (GList) keys = json_object_get_members (from);
  for (const GList *key = keys; key != NULL; key = key->next)
    scn_chakra_node_number (node, key->data, base_json_number (from, key->data));
  const double runtime_us = base_json_number (from, "runtime");
  node->duration_s = isfinite (runtime_us) ? runtime_us * 1e-6 : 0;
  const char *group = base_json_text (from, "pg_name");
  node->group = group != NULL && *group != '\0' ? g_strdup (group) : NULL;
  return read_ids (json, from, "data_deps", &node->data, error) && read_ids (json, from, "ctrlDeps", &node->ctrl, error) &&
         read_ids (json, from, "ctrl_deps", &node->ctrl, error);
}

gboolean
scn_chakra_read_json (ScnChakraTrace *trace, const char *bytes, gsize n_B, GError **error)
{
  const BaseJsonText text = { .file = trace->path, .bytes = bytes, .n_B = n_B, .limits = BASE_JSON_LIMITS };
  g_autoptr (BaseJson) json = base_json_read (&text, error);
  if (json == NULL)
    return FALSE;
  JsonObject *root = base_json_root (json);
  if (base_json_array (root, "workload_graph") == NULL && base_json_array (root, "nodes") != NULL)
    return scn_chakra_fail (
        trace, NULL, error,
        "this is PyTorch's host trace, not a Chakra trace; convert it with chakra_trace_link and chakra_converter");
  JsonArray *nodes = base_json_need_array (json, root, "workload_graph", error);
  for (guint i = 0; nodes != NULL && i < json_array_get_length (nodes); i++) {
    JsonObject *from = base_json_element (nodes, i);
    if (from == NULL)
      return base_json_fail (json, nodes, NULL, error, "item %u is not a node", i);
    if (!read_node (trace, json, from, error))
      return FALSE;
  }
  return nodes != NULL;
}
