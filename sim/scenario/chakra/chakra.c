/* Traces of Chakra in memory: nodes, communicators, the files of all ranks, and an order in which nodes can run. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "chakra-private.h"

#define MOST_FILE_B ((gsize)1 << 30)
#define MOST_RANKS  65536u
/* Missing files are looked for so far behind the last that is there. */
#define GAP_RANKS 1024u

static void
clear_node (gpointer data)
{
  ScnChakraNode *node = data;
  g_free (node->name);
  g_free (node->group);
  g_clear_pointer (&node->data, g_array_unref);
  g_clear_pointer (&node->ctrl, g_array_unref);
}

static void
unref_ranks (gpointer ranks)
{
  g_array_unref (ranks);
}

ScnChakraTrace *
scn_chakra_trace_new (const char *path)
{
  ScnChakraTrace *trace = g_new0 (ScnChakraTrace, 1);
  trace->path = g_strdup (path);
  trace->nodes = g_array_new (FALSE, TRUE, sizeof (ScnChakraNode));
  g_array_set_clear_func (trace->nodes, clear_node);
  trace->index = g_hash_table_new (g_int64_hash, g_int64_equal);
  trace->groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, unref_ranks);
  return trace;
}

void
scn_chakra_trace_free (ScnChakraTrace *trace)
{
  if (trace == NULL)
    return;
  g_hash_table_unref (trace->index);
  g_hash_table_unref (trace->groups);
  g_array_unref (trace->nodes);
  g_free (trace->order);
  g_free (trace->path);
  g_free (trace);
}

ScnChakraNode *
scn_chakra_node_add (ScnChakraTrace *trace)
{
  const ScnChakraNode node = { .ops = (double)NAN,
                               .tensor_B = (double)NAN,
                               .comm_B = (double)NAN,
                               .type = (double)NAN,
                               .source = (double)NAN,
                               .destination = (double)NAN,
                               .root = (double)NAN,
                               .tag = (double)NAN };
  g_array_append_val (trace->nodes, node);
  return &g_array_index (trace->nodes, ScnChakraNode, trace->nodes->len - 1);
}

void
scn_chakra_node_number (ScnChakraNode *node, const char *name, double value)
{
  const struct {
    const char *name;
    double *at;
  } all[] = { { "num_ops", &node->ops },    { "tensor_size", &node->tensor_B }, { "comm_size", &node->comm_B },
              { "comm_type", &node->type }, { "comm_src", &node->source },      { "comm_dst", &node->destination },
              { "comm_tag", &node->tag },   { "root_rank", &node->root } };
  if (strcmp (name, "is_cpu_op") == 0 && isfinite (value))
    node->cpu = value > 0;
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (strcmp (name, all[i].name) == 0 && isfinite (value))
      *all[i].at = value;
}

gboolean
scn_chakra_fail (const ScnChakraTrace *trace, const ScnChakraNode *node, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  if (node == NULL)
    return base_fail (error, BASE_ERROR_INPUT, "%s: %s", trace->path, what);
  g_autofree char *name = g_strndup (node->name != NULL ? node->name : "", 80);
  g_autofree char *shown = g_utf8_make_valid (name, -1);
  return base_fail (error, BASE_ERROR_INPUT, "%s: node %" G_GUINT64_FORMAT " (%s): %s", trace->path, node->id, shown, what);
}

/* ---- communicators ---- */

static void
add_group (ScnChakraTrace *trace, const char *name, JsonArray *ranks)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; ranks != NULL && i < json_array_get_length (ranks); i++) {
    const double number = base_json_number_of (json_array_get_element (ranks, i));
    const guint32 rank = number >= 0 && number < MOST_RANKS ? (guint32)number : MOST_RANKS; /* refused where it is used */
    g_array_append_val (list, rank);
  }
  g_hash_table_replace (trace->groups, g_strdup (name), list);
}

gboolean
scn_chakra_groups_add (ScnChakraTrace *trace, const char *text)
{
  /* a Python list of one text that is a JSON list: ['[{"pg_name": …}]'] */
  const char *begin = strchr (text, '{'), *end = strrchr (text, '}');
  if (begin == NULL || end < begin || strstr (text, "pg_name") == NULL)
    return FALSE;
  g_autoptr (GString) plain = g_string_new (NULL);
  g_string_append_printf (plain, "{\"all\": [%.*s]}", (int)(end + 1 - begin), begin);
  g_string_replace (plain, "\\\"", "\"", 0);
  const BaseJsonText whole = { .file = trace->path, .bytes = plain->str, .n_B = plain->len, .limits = BASE_JSON_LIMITS };
  g_autoptr (BaseJson) json = base_json_read (&whole, NULL);
  JsonArray *all = json != NULL ? base_json_array (base_json_root (json), "all") : NULL;
  for (guint i = 0; all != NULL && i < json_array_get_length (all); i++) {
    JsonObject *one = base_json_element (all, i);
    const char *name = base_json_text (one, "pg_name");
    if (name != NULL)
      add_group (trace, name, base_json_array (one, "ranks"));
  }
  return all != NULL;
}

/* {"0": [0, 1], …}, as ASTRA-sim reads communicators. */
static gboolean
read_groups_file (ScnChakraTrace *trace, const char *path, GError **error)
{
  g_autofree char *bytes = NULL;
  gsize n_B = 0;
  if (!base_file_read (path, MOST_FILE_B, &bytes, &n_B, error))
    return FALSE;
  const BaseJsonText text = { .file = path, .bytes = bytes, .n_B = n_B, .limits = BASE_JSON_LIMITS };
  g_autoptr (BaseJson) json = base_json_read (&text, error);
  if (json == NULL)
    return FALSE;
  JsonObject *root = base_json_root (json);
  if (root == NULL)
    return base_json_fail (json, NULL, NULL, error, "must be a mapping of communicators to lists of ranks");
  g_autoptr (GList) names = json_object_get_members (root);
  for (const GList *name = names; name != NULL; name = name->next) {
    JsonArray *ranks = base_json_array (root, name->data);
    if (ranks == NULL)
      return base_json_fail (json, root, name->data, error, "must be a list of ranks");
    add_group (trace, name->data, ranks);
  }
  return TRUE;
}

/* ---- dependencies ---- */

guint
scn_chakra_n_deps (const ScnChakraNode *node)
{
  return (node->data != NULL ? node->data->len : 0) + (node->ctrl != NULL ? node->ctrl->len : 0);
}

gboolean
scn_chakra_waits (const ScnChakraTrace *trace, const ScnChakraNode *node, guint k, guint *at)
{
  const guint n_data = node->data != NULL ? node->data->len : 0;
  if (k >= n_data && trace->no_control)
    return FALSE;
  const guint64 *id = k < n_data ? &g_array_index (node->data, guint64, k) : &g_array_index (node->ctrl, guint64, k - n_data);
  const gpointer known = g_hash_table_lookup (trace->index, id);
  if (known == NULL)
    return FALSE;
  *at = GPOINTER_TO_UINT (known) - 1u;
  return TRUE;
}

static const ScnChakraNode *
node_at (const ScnChakraTrace *trace, guint i)
{
  return &g_array_index (trace->nodes, ScnChakraNode, i);
}

/* What waits for each node, one array after the other. */
typedef struct {
  guint *first, *behind; /* those of node i are behind[first[i]] up to first[i + 1] */
  guint *left;           /* how many it waits for itself */
} Waiters;

static void
find_waiters (const ScnChakraTrace *trace, Waiters *w)
{
  const guint n = trace->nodes->len;
  guint at;
  w->first = g_new0 (guint, n + 2u);
  w->left = g_new0 (guint, n + 1u);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < scn_chakra_n_deps (node_at (trace, i)); k++)
      if (scn_chakra_waits (trace, node_at (trace, i), k, &at)) {
        w->first[at + 2u]++;
        w->left[i]++;
      }
  for (guint i = 2; i <= n + 1u; i++)
    w->first[i] += w->first[i - 1];
  w->behind = g_new0 (guint, w->first[n + 1u] + 1u);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < scn_chakra_n_deps (node_at (trace, i)); k++)
      if (scn_chakra_waits (trace, node_at (trace, i), k, &at))
        w->behind[w->first[at + 1u]++] = i;
}

static gint
compare_places (gconstpointer a, gconstpointer b, gpointer user)
{
  const guint x = GPOINTER_TO_UINT (a), y = GPOINTER_TO_UINT (b);
  (void)user;
  return (x > y) - (x < y);
}

/* Fills trace->order: of the nodes that can run, always the first of the file. How many could. */
static guint
find_order (ScnChakraTrace *trace, Waiters *w)
{
  const guint n = trace->nodes->len;
  guint n_order = 0;
  g_autoptr (GSequence) ready = g_sequence_new (NULL);
  for (guint i = 0; i < n; i++)
    if (w->left[i] == 0)
      g_sequence_append (ready, GUINT_TO_POINTER (i));
  while (!g_sequence_is_empty (ready)) {
    GSequenceIter *begin = g_sequence_get_begin_iter (ready);
    const guint i = GPOINTER_TO_UINT (g_sequence_get (begin));
    g_sequence_remove (begin);
    trace->order[n_order++] = i;
    for (guint k = w->first[i]; k < w->first[i + 1u]; k++)
      if (--w->left[w->behind[k]] == 0)
        g_sequence_insert_sorted (ready, GUINT_TO_POINTER (w->behind[k]), compare_places, NULL);
  }
  return n_order;
}

/* A node that node i waits for and that is left too; there is one. */
static guint
left_before (const ScnChakraTrace *trace, const guint *left, guint i)
{
  guint before = i;
  for (guint k = 0; k < scn_chakra_n_deps (node_at (trace, i)); k++)
    if (scn_chakra_waits (trace, node_at (trace, i), k, &before) && left[before] > 0)
      break;
  return before;
}

static gboolean
fail_cycle (const ScnChakraTrace *trace, const guint *left, GError **error)
{
  guint at = 0;
  g_autoptr (GString) text = g_string_new (NULL);
  while (left[at] == 0)
    at++;
  for (guint i = 0; i < trace->nodes->len; i++) /* as many steps as there are nodes end inside the cycle */
    at = left_before (trace, left, at);
  guint i = at, named = 0;
  do {
    i = left_before (trace, left, i);
    g_string_append_printf (text, " waits for node %" G_GUINT64_FORMAT, node_at (trace, i)->id);
  } while (i != at && ++named < 8);
  return scn_chakra_fail (trace, node_at (trace, at), error, "its dependencies are a cycle: it%s%s", text->str,
                          i != at ? ", and so on" : "");
}

static void
clear_waiters (Waiters *w)
{
  g_free (w->first);
  g_free (w->behind);
  g_free (w->left);
}

static gboolean
order_nodes (ScnChakraTrace *trace, ScnChakraControl control, GError **error)
{
  trace->order = g_new0 (guint, trace->nodes->len + 1u);
  trace->no_control = control == SCN_CONTROL_IGNORE;
  for (;;) {
    Waiters w;
    find_waiters (trace, &w);
    const gboolean done = find_order (trace, &w) == trace->nodes->len;
    const gboolean again = !done && control == SCN_CONTROL_AUTO && !trace->no_control;
    const gboolean good = done || again || fail_cycle (trace, w.left, error);
    clear_waiters (&w);
    if (!again)
      return good;
    trace->no_control = TRUE; /* they name callers, which end after what they call */
  }
}

/* ---- checks ---- */

static gboolean
check_node (const ScnChakraTrace *trace, const ScnChakraNode *node, GError **error)
{
  const gboolean moves = node->kind >= SCN_NODE_SEND && node->kind < SCN_NODE_N && !node->cpu,
                 barrier = node->kind == SCN_NODE_COLL && node->type == 9;
  const double most_B = base_dim_most (BASE_DIM_BYTES);
  if (node->kind >= SCN_NODE_N)
    return scn_chakra_fail (trace, node, error, "its type is not known; accepted: 0 to %d", SCN_NODE_N - 1);
  if (!(node->duration_s >= 0 && node->duration_s <= 30 * 86400.0))
    return scn_chakra_fail (trace, node, error, "it lasts %.3g s; accepted: 0 to 30 days", node->duration_s);
  if (moves && node->kind == SCN_NODE_COLL && !(node->type >= 0 && node->type <= 9 && floor (node->type) == node->type))
    return scn_chakra_fail (trace, node, error, "it has no comm_type of 0 to 9, so the collective is not known");
  if (moves && !barrier && !(node->comm_B >= 0 && node->comm_B <= most_B))
    return scn_chakra_fail (trace, node, error,
                            "it has no comm_size, so its bytes are not known; accepted: traces that chakra_converter wrote "
                            "with sizes");
  if ((node->kind == SCN_NODE_MEM_LOAD || node->kind == SCN_NODE_MEM_STORE) && !(node->tensor_B >= 0 && node->tensor_B <= most_B))
    return scn_chakra_fail (trace, node, error, "it has no tensor_size, so its bytes are not known");
  if (moves && node->some_dims)
    return scn_chakra_fail (
        trace, node, error,
        "involved_dim leaves out dimensions of ASTRA-sim's network, which other networks do not have; accepted: "
        "communicators by pg_name");
  return TRUE;
}

gboolean
scn_chakra_trace_check (ScnChakraTrace *trace, ScnChakraControl control, GError **error)
{
  if (trace->nodes->len == 0)
    return scn_chakra_fail (trace, NULL, error, "it has no nodes");
  for (guint i = 0; i < trace->nodes->len; i++) {
    ScnChakraNode *node = &g_array_index (trace->nodes, ScnChakraNode, i);
    if (!check_node (trace, node, error))
      return FALSE;
    if (!g_hash_table_insert (trace->index, &node->id, GUINT_TO_POINTER (i + 1u)))
      return scn_chakra_fail (trace, node, error, "two nodes have this id");
  }
  return order_nodes (trace, control, error);
}

/* ---- files ---- */

static ScnChakraTrace *
load_file (const char *path, const char *groups, ScnChakraControl control, GError **error)
{
  g_autofree char *bytes = NULL;
  gsize n_B = 0;
  g_autoptr (GByteArray) plain = NULL;
  if (!base_file_read (path, MOST_FILE_B, &bytes, &n_B, error))
    return NULL;
  const BaseJsonText text = { .file = path, .bytes = bytes, .n_B = n_B, .limits = BASE_JSON_LIMITS };
  if (!base_json_unpack (&text, &plain, error))
    return NULL;
  const char *from = plain != NULL ? (const char *)plain->data : bytes;
  const gsize from_B = plain != NULL ? plain->len : n_B;
  const gboolean json = from_B > 0 && (*from == '{' || g_ascii_isspace (*from)) && memchr (from, '\0', from_B) == NULL &&
                        !g_str_has_suffix (path, ".et");
  g_autoptr (ScnChakraTrace) trace = scn_chakra_trace_new (path);
  if (groups != NULL && !read_groups_file (trace, groups, error))
    return NULL;
  const gboolean read =
      json ? scn_chakra_read_json (trace, from, from_B, error) : scn_chakra_read_proto (trace, from, from_B, error);
  return read && scn_chakra_trace_check (trace, control, error) ? g_steal_pointer (&trace) : NULL;
}

/* PREFIX.RANK.et or PREFIX.RANK.json; NULL: neither is there. Returned: full. */
static char *
file_of_rank (const char *prefix, guint rank)
{
  static const char *const endings[] = { "et", "et.gz", "json", "json.gz" };
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree char *path = g_strdup_printf ("%s.%u.%s", prefix, rank, endings[i]);
    if (base_file_is_file (path))
      return g_steal_pointer (&path);
  }
  return NULL;
}

/* How many ranks have a file, from 0 on. FALSE and *error: some are missing. */
static gboolean
count_files (const ScnChakraSpec *spec, const char *prefix, guint *n, GError **error)
{
  guint last = 0;
  *n = 0;
  for (guint rank = 0; rank < MOST_RANKS && rank <= last + GAP_RANKS; rank++) {
    g_autofree char *path = file_of_rank (prefix, rank);
    if (path == NULL)
      continue;
    if (rank > *n)
      return col_fail_at (error, spec->trace.mark, "%s.%u.et is missing, and rank %u has a trace", prefix, *n, rank);
    last = rank;
    ++*n;
  }
  if (*n == 0)
    return col_fail_at (error, spec->trace.mark,
                        "no trace of rank 0: neither %s.0.et nor %s.0.json; accepted: the part of the name before the rank", prefix,
                        prefix);
  if (spec->ranks.set && !spec->replicate.v && spec->ranks.v > *n)
    return col_fail_at (error, spec->ranks.mark, "%.0f ranks, and %s.%u.et is missing; accepted: up to %u, or 'replicate: yes'",
                        spec->ranks.v, prefix, *n, *n);
  return TRUE;
}

void
scn_chakra_set_clear (ScnChakraSet *set)
{
  g_clear_pointer (&set->traces, g_ptr_array_unref);
}

const ScnChakraTrace *
scn_chakra_of_rank (const ScnChakraSet *set, guint rank)
{
  return set->traces->pdata[set->traces->len > 1 ? rank : 0];
}

gboolean
scn_chakra_load (const Scn *scenario, const ScnChakraSpec *spec, ScnChakraSet *set, GError **error)
{
  g_autofree char *prefix = scn_path_beside (scenario, spec->trace.v);
  g_autofree char *groups = spec->groups.v != NULL ? scn_path_beside (scenario, spec->groups.v) : NULL;
  const gboolean one = base_file_is_file (prefix);
  guint n = 1;
  if (!one && !count_files (spec, prefix, &n, error))
    return FALSE;
  if (one && !spec->replicate.v)
    return col_fail_at (error, spec->trace.mark,
                        "one file is the trace of one rank; accepted: the part of the names before the rank, or 'replicate: yes'");
  const guint all = spec->replicate.v ? scenario->system.gpus->len : n;
  set->n_ranks = spec->ranks.set ? (guint)spec->ranks.v : all;
  if (set->n_ranks > scenario->system.gpus->len)
    return col_fail_at (error, spec->ranks.set ? spec->ranks.mark : spec->trace.mark, "%u ranks, and the cluster has %u GPUs",
                        set->n_ranks, scenario->system.gpus->len);
  set->traces = g_ptr_array_new_with_free_func ((GDestroyNotify)scn_chakra_trace_free);
  for (guint rank = 0; rank < (spec->replicate.v ? 1 : set->n_ranks); rank++) {
    g_autofree char *path = one ? g_strdup (prefix) : file_of_rank (prefix, rank);
    g_autoptr (GError) why = NULL;
    ScnChakraTrace *trace = load_file (path, groups, (ScnChakraControl)spec->control.v, &why);
    if (trace == NULL)
      return col_fail_at (error, spec->trace.mark, "%s", why->message);
    g_ptr_array_add (set->traces, trace);
  }
  return TRUE;
}
