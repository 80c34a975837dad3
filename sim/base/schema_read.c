/* Mappings: each row of a table finds its key, and each key its row. Recursion is bounded by the depth of a document and by the
 * length of a chain of files. */
#include "schema-private.h"

#include "units/text-private.h"
#include "yaml-private.h"

#include <string.h>

#define KEYS_SHOWN 32u

gboolean
base_field_is (const BaseField *field, const char *key)
{
  return strcmp (field->key, key) == 0 || g_strcmp0 (field->was, key) == 0;
}

static const BaseField *
field_find (const BaseSchema *schema, const char *key)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    if (base_field_is (field, key))
      return field;
  return NULL;
}

/* The value of a field, under its name or its name in earlier versions, which is warned of once a reading. */
static const BaseYamlNode *
field_value (SchemaReader *reader, const BaseSchema *schema, const BaseField *field, const BaseYamlNode *map)
{
  const BaseYamlNode *value = base_yaml_get (map, field->key), *old = field->was != NULL ? base_yaml_get (map, field->was) : NULL;
  if (old == NULL)
    return value;
  if (value != NULL) {
    base_schema_fail (reader, base_yaml_mark (old), "'%s' and '%s' in '%s' are one key; write '%s' alone", field->key, field->was,
                      schema->name, field->key);
  } else if (g_hash_table_add (reader->renamed, (void *)field->was)) {
    base_diag_warn (reader->context->diag, base_yaml_mark (old),
                    "'%s' in '%s' is now called '%s'; the next version will not read the old name", field->was, schema->name,
                    field->key);
  }
  return value != NULL ? value : old;
}

/* "; it is a key of 'parallel', so write parallel: {zero: …}" for a key of a mapping in this one; NULL: none. Returned: full. */
static char *
key_inside (const BaseSchema *schema, const char *key)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    if (field->kind == BASE_FIELD_MAP && field_find (field->sub, key) != NULL)
      return g_strdup_printf ("; it is a key of '%s': write %s: {%s: …}", field->key, field->key, key);
  return NULL;
}

static const char *const *
others_of (const BaseSchema *schema)
{
  static const char *const none[] = { NULL };
  return schema->others != NULL ? schema->others () : none;
}

static void
fail_unknown (SchemaReader *reader, const BaseSchema *schema, const char *key, BaseMark mark)
{
  if (base_schema_fail_unsaid (reader, mark))
    return;
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    g_ptr_array_add (keys, (void *)field->key);
  for (const char *const *other = others_of (schema); *other != NULL; other++)
    g_ptr_array_add (keys, (void *)*other);
  g_ptr_array_add (keys, NULL);
  const char *const *names = (const char *const *)keys->pdata;
  g_autofree char *shown = base_text_shown (key);
  g_autofree char *hint = base_hint (key, names), *inside = *hint == '\0' ? key_inside (schema, key) : NULL;
  if (*hint != '\0' || inside != NULL) {
    base_schema_fail (reader, mark, "unknown key '%s' in '%s'%s%s", shown, schema->name, hint, inside != NULL ? inside : "");
    return;
  }
  g_autofree char *list = base_text_list (names, KEYS_SHOWN);
  base_schema_fail (reader, mark, "unknown key '%s' in '%s'; accepted: %s", shown, schema->name, list);
}

static void
read_list (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseList *out)
{
  if (base_yaml_kind (node) != BASE_YAML_SEQ) {
    base_schema_fail_kind (reader, field, node);
    return;
  }
  unsigned n = base_yaml_n (node);
  if (!base_schema_count_items (reader, field, node, n))
    return;
  char *item = base_arena_alloc_n (reader->context->arena, n, field->item_size);
  for (unsigned i = 0; i < n; i++)
    base_schema_read_map (reader, field->sub, base_yaml_item (node, i), FALSE, item + i * field->item_size);
  *out = (BaseList){ n, TRUE, base_yaml_mark (node), item, field->item_size };
}

static void
read_field (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, gboolean overlay, void *out)
{
  switch (field->kind) {
    case BASE_FIELD_NUM:
    case BASE_FIELD_STR:
    case BASE_FIELD_ENUM:
    case BASE_FIELD_BOOL:
    case BASE_FIELD_NUMS:
    case BASE_FIELD_STRS:
      base_schema_read_leaf (reader, field, node, out);
      return;
    case BASE_FIELD_MAP:
      base_schema_read_map (reader, field->sub, node, overlay, out);
      return;
    case BASE_FIELD_LIST:
      read_list (reader, field, node, out);
      return;
    case BASE_FIELD_REF:
      base_schema_read_reference (reader, field, node, overlay, out);
      return;
    case BASE_FIELD_NODE:
      *(const BaseYamlNode **)out = node;
      return;
  }
}

static void fill_defaults (SchemaReader *reader, const BaseSchema *schema, void *out);

static void
fill_default (SchemaReader *reader, const BaseSchema *schema, const BaseField *field, void *out)
{
  if (field->kind == BASE_FIELD_MAP) {
    fill_defaults (reader, field->sub, out); /* an absent mapping has the defaults of an empty one */
  } else if (field->fallback == NULL) {
    return;
  } else if (field->kind == BASE_FIELD_REF) {
    BaseYamlNode name = { .kind = BASE_YAML_SCALAR, .text = field->fallback, .height = 1, .n_nodes = 1 };
    base_schema_read_reference (reader, field, &name, FALSE, out);
    ((BaseRef *)out)->set = FALSE;
  } else {
    g_autoptr (GError) error = NULL;
    if (!base_schema_read_default (field, reader->context->arena, out, &error))
      g_error ("schema '%s', default of key '%s': %s", schema->name, field->key, error->message);
    if (field->kind == BASE_FIELD_NUM)
      base_schema_watch (reader, schema->name, field, out);
  }
}

static void
fill_defaults (SchemaReader *reader, const BaseSchema *schema, void *out)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    fill_default (reader, schema, field, (char *)out + field->offset);
}

/* The mapping that a bare scalar is short for, on the caller's stack. */
typedef struct {
  BaseYamlNode map, *item[1];
  const char *key[1];
  BaseMark key_mark[1];
} Shorthand;

static const BaseYamlNode *
expand_shorthand (const BaseSchema *schema, const BaseYamlNode *node, Shorthand *shorthand)
{
  if (base_yaml_kind (node) != BASE_YAML_SCALAR || schema->scalar_key == NULL || base_yaml_is_null (node))
    return node;
  BaseYamlNode *value = shorthand->item[0] = (BaseYamlNode *)node;
  shorthand->key[0] = schema->scalar_key;
  shorthand->key_mark[0] = value->mark;
  shorthand->map = (BaseYamlNode){ .kind = BASE_YAML_MAP, .height = 2, .n_nodes = 2, .mark = value->mark, .n = 1 };
  shorthand->map.item = shorthand->item;
  shorthand->map.key = shorthand->key;
  shorthand->map.key_mark = shorthand->key_mark;
  return &shorthand->map;
}

static void
read_absent (SchemaReader *reader, const BaseSchema *schema, const BaseField *field, BaseMark mark, void *out)
{
  if (!field->required) {
    fill_default (reader, schema, field, out);
    return;
  }
  if (base_schema_fail_unsaid (reader, mark))
    return;
  if (field->kind == BASE_FIELD_NODE && field->help != NULL) { /* of what form it is, only its reader knows */
    base_schema_fail (reader, mark, "'%s' in '%s' is missing (%s)", field->key, schema->name, field->help);
    return;
  }
  g_autofree char *accepted = base_schema_accepted (field);
  base_schema_fail (reader, mark, "'%s' in '%s' is missing; it is %s", field->key, schema->name, accepted);
}

void
base_schema_read_map (SchemaReader *reader, const BaseSchema *schema, const BaseYamlNode *node, gboolean overlay, void *out)
{
  Shorthand shorthand;
  const BaseYamlNode *map = expand_shorthand (schema, node, &shorthand);
  if (base_yaml_kind (map) != BASE_YAML_MAP) {
    if (base_schema_fail_unsaid (reader, base_yaml_mark (map)))
      return;
    g_autofree char *found = base_schema_found (map);
    base_schema_fail (reader, base_yaml_mark (map), "'%s' must be a mapping with keys, found %s", schema->name, found);
    return;
  }
  *(BaseHead *)out = (BaseHead){ TRUE, base_yaml_mark (map) };
  for (unsigned i = 0; i < base_yaml_n (map); i++)
    if (field_find (schema, base_yaml_key (map, i)) == NULL && !g_strv_contains (others_of (schema), base_yaml_key (map, i)))
      fail_unknown (reader, schema, base_yaml_key (map, i), base_yaml_key_mark (map, i));

  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    void *slot = (char *)out + field->offset;
    const BaseYamlNode *value = field_value (reader, schema, field, map);
    if (value != NULL && !base_yaml_is_null (value))
      read_field (reader, field, value, overlay, slot);
    else if (!overlay)
      read_absent (reader, schema, field, value != NULL ? base_yaml_mark (value) : base_yaml_mark (map), slot);
  }
}

gboolean
base_schema_read (const BaseSchema *schema, const BaseYamlNode *node, gboolean overlay, const BaseSchemaContext *context, void *out)
{
  g_return_val_if_fail (schema != NULL && node != NULL && out != NULL, FALSE);
  g_return_val_if_fail (context != NULL && context->arena != NULL && context->diag != NULL, FALSE);
  SchemaReader reader = { .context = context };
  reader.values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  reader.renamed = g_hash_table_new (g_str_hash, g_str_equal);
  base_schema_read_map (&reader, schema, node, overlay, out);
  g_hash_table_unref (reader.renamed);
  g_hash_table_unref (reader.values);
  return !reader.failed;
}
