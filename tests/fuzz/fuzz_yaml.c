/* The YAML loader, the schema reader and --set, on any bytes. Input: a document; behind a NUL byte, if there is one, a path and,
 * behind another, a value for base_yaml_set. */
#include "base/schema.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A row of every kind, and a schema that holds itself. */
typedef struct {
  BaseHead head;
  BaseNum rate, latency;
} Link;

typedef struct {
  BaseHead head;
  BaseNum count, money;
  BaseStr name;
  BaseEnum kind;
  BaseBool on;
  Link link;
  BaseList list;
  BaseNums nums;
  BaseStrs strs;
  BaseRef ref;
  const BaseYamlNode *node;
} Spec;

static const BaseField link_fields[] = {
  { "rate", BASE_FIELD_NUM, offsetof (Link, rate), "rate", .dim = BASE_DIM_BANDWIDTH, .min = "1 b/s" },
  { "latency", BASE_FIELD_NUM, offsetof (Link, latency), "latency", .fallback = "1 us", .dim = BASE_DIM_TIME, .max = "1 s" },
  { 0 },
};
static const BaseSchema link_schema = { .name = "link", .fields = link_fields, .scalar_key = "rate" };
static const BaseName kinds[] = { { "ring", 0, "a ring" }, { "tree", 1, "a tree" }, { 0 } };
static const BaseSchema schema;
static const BaseField fields[] = {
  { "count", BASE_FIELD_NUM, offsetof (Spec, count), "count", .required = TRUE, .dim = BASE_DIM_COUNT, .min = "1", .max = "1 G" },
  { "money", BASE_FIELD_NUM, offsetof (Spec, money), "money", .dim = BASE_DIM_MONEY_PER_TIME },
  { "name", BASE_FIELD_STR, offsetof (Spec, name), "name", .fallback = "x" },
  { "kind", BASE_FIELD_ENUM, offsetof (Spec, kind), "kind", .fallback = "ring", .names = kinds },
  { "on", BASE_FIELD_BOOL, offsetof (Spec, on), "on", .fallback = "yes" },
  { "link", BASE_FIELD_MAP, offsetof (Spec, link), "link", .sub = &link_schema },
  { "list", BASE_FIELD_LIST, offsetof (Spec, list), "list", .sub = &schema, .item_size = sizeof (Spec) },
  { "nums", BASE_FIELD_NUMS, offsetof (Spec, nums), "nums", .fallback = "[1, 2]", .dim = BASE_DIM_RATIO, .max = "2" },
  { "strs", BASE_FIELD_STRS, offsetof (Spec, strs), "strs", .fallback = "a" },
  { "ref", BASE_FIELD_REF, offsetof (Spec, ref), "ref", .sub = &schema, .item_size = sizeof (Spec), .folder = "none" },
  { "node", BASE_FIELD_NODE, offsetof (Spec, node), "node", .required = FALSE },
  { 0 },
};
static const BaseSchema schema = { .name = "spec", .fields = fields };

/* A message is one line of a report: positioned, readable, bounded. */
static void
check_error (GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (error->domain == BASE_ERROR);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_cmpuint (strlen (error->message), <, 1000);
  g_error_free (error);
}

/* Depth and size are within what the header promises; text that is quoted comes back; and whether a name would open a file: those
 * documents are not read further, for a fuzzer's names must not reach into the file system. */
static unsigned
check_node (const BaseYamlNode *node, unsigned depth, unsigned *n_quoted, gboolean *names_file)
{
  g_assert_cmpuint (depth, <=, BASE_YAML_MAX_DEPTH);
  if (base_yaml_kind (node) == BASE_YAML_SCALAR && (*n_quoted)++ < 8) {
    g_autofree char *quoted = base_yaml_quote (base_yaml_text (node));
    g_autofree char *text = g_strdup_printf ("k: %s\n", quoted);
    g_autoptr (BaseYaml) again = base_yaml_load_data ("q", text, strlen (text), NULL);
    g_assert_nonnull (again);
    g_assert_cmpstr (base_yaml_text (base_yaml_get (base_yaml_root (again), "k")), ==, base_yaml_text (node));
  }
  unsigned n = 1;
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    const BaseYamlNode *item = base_yaml_item (node, i);
    gboolean scalar = base_yaml_kind (item) == BASE_YAML_SCALAR;
    if (scalar && base_yaml_kind (node) == BASE_YAML_MAP && strcmp (base_yaml_key (node, i), "ref") == 0)
      *names_file = TRUE;
    n += check_node (item, depth + 1, n_quoted, names_file);
  }
  return n;
}

static void
read_document (const BaseYaml *yaml)
{
  unsigned n_quoted = 0;
  gboolean names_file = FALSE;
  unsigned n = check_node (base_yaml_root (yaml), 1, &n_quoted, &names_file);
  g_assert_cmpuint (n, <=, BASE_YAML_MAX_NODES);
  if (names_file)
    return;
  g_autoptr (BaseArena) arena = base_arena_new ();
  g_autoptr (BaseDiag) diag = base_diag_new ();
  BaseSchemaContext context = { .arena = arena, .diag = diag, .source = BASE_SOURCE_DATASHEET };
  Spec spec = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean ok = base_schema_read (&schema, base_yaml_root (yaml), FALSE, &context, &spec);
  g_assert_true (ok == base_diag_finish (diag, &error));
  g_assert_true (error == NULL || g_utf8_validate (error->message, -1, NULL));
  if (ok) {
    g_assert_true (spec.count.v >= 1 && spec.count.v <= 1e9);
    base_schema_read (&schema, base_yaml_root (yaml), TRUE, &context, &spec);
  }
}

static void
set_value (BaseYaml *yaml, const char *path, const char *value)
{
  GError *error = NULL;
  if (base_yaml_set (yaml, path, value, "--set", &error))
    read_document (yaml);
  else
    check_error (error);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *bytes = (const char *)data;
  const char *path = size > 0 ? memchr (bytes, '\0', size) : NULL;
  gsize n_document = path != NULL ? (gsize)(path - bytes) : size;
  /* A copy of its exact size, so that the sanitizer sees a step beyond. */
  g_autofree char *document = n_document > 0 ? g_malloc (n_document) : NULL;
  if (n_document > 0)
    memcpy (document, bytes, n_document);
  GError *error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_data ("f.yaml", document, n_document, &error);
  if (yaml == NULL) {
    check_error (error);
    return 0;
  }
  read_document (yaml);
  if (path != NULL) {
    g_autofree char *rest = g_strndup (path + 1, size - n_document - 1);
    const char *value = memchr (path + 1, '\0', size - n_document - 1);
    gsize n_value = value != NULL ? size - (gsize)(value + 1 - bytes) : 0;
    g_autofree char *text = value != NULL ? g_strndup (value + 1, n_value) : g_strdup ("{a: 1}");
    set_value (yaml, rest, text);
  }
  return 0;
}
