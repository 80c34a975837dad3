/* Keys that name a type: the file that the name stands for is found, loaded and read. */
#include "schema-private.h"

#include "units/text-private.h"

#include <string.h>

/* Documents that this call or an earlier one has loaded, in load order. */
static BaseYaml *
loaded (const SchemaReader *reader, const char *path)
{
  const GPtrArray *inputs = reader->context->inputs;
  for (unsigned i = 0; i < inputs->len; i++)
    if (strcmp (base_yaml_path (inputs->pdata[i]), path) == 0)
      return inputs->pdata[i];
  return NULL;
}

static gboolean
check_chain (SchemaReader *reader, const char *path, BaseMark mark)
{
  for (unsigned i = 0; i < reader->n_chain; i++)
    if (strcmp (reader->chain[i], path) == 0) {
      base_schema_fail (reader, mark, "'%s' refers to itself", path);
      return FALSE;
    }
  if (reader->n_chain < BASE_SCHEMA_MAX_FILES_DEEP)
    return TRUE;
  base_schema_fail (reader, mark, "more than %u files name each other in a chain", BASE_SCHEMA_MAX_FILES_DEEP);
  return FALSE;
}

/* The struct in the file at `path`; NULL after an error. */
static void *
read_file (SchemaReader *reader, const BaseField *field, const char *path, BaseMark mark)
{
  g_autofree char *id = g_strdup_printf ("%s\n%s\n%p", path, field->sub->name, (const void *)field->sub);
  void *value;
  if (g_hash_table_lookup_extended (reader->values, id, NULL, &value)) {
    reader->failed = reader->failed || value == NULL; /* its errors have been said */
    return value;
  }
  if (!check_chain (reader, path, mark))
    return NULL;
  BaseYaml *yaml = loaded (reader, path);
  if (yaml == NULL) {
    g_autoptr (GError) error = NULL;
    yaml = base_yaml_load_file (path, &error);
    if (yaml == NULL) {
      base_diag_add_error (reader->context->diag, BASE_MARK_NONE, error); /* it names its own path and line */
      reader->failed = TRUE;
      g_hash_table_insert (reader->values, g_steal_pointer (&id), NULL);
      return NULL;
    }
    g_ptr_array_add (reader->context->inputs, yaml);
  }
  gboolean failed_before = reader->failed;
  reader->failed = FALSE;
  reader->chain[reader->n_chain++] = base_yaml_path (yaml);
  value = base_arena_alloc (reader->context->arena, field->item_size);
  base_schema_read_map (reader, field->sub, base_yaml_root (yaml), FALSE, value);
  reader->n_chain--;
  if (reader->failed)
    value = NULL;
  reader->failed = reader->failed || failed_before;
  g_hash_table_insert (reader->values, g_steal_pointer (&id), value);
  return value;
}

/* "topologies/gpus/h200_sxm.yaml" is named h200_sxm. */
static char *
name_of (BaseArena *arena, const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  const char *dot = strrchr (base, '.');
  return base_arena_strndup (arena, base, dot != NULL && dot != base ? (gsize)(dot - base) : strlen (base));
}

static void
read_name (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseRef *out)
{
  const BaseSchemaContext *context = reader->context;
  BaseMark mark = base_yaml_mark (node);
  /* Those who let users name files say where files are and who keeps them. */
  g_assert (context->lookup != NULL && context->inputs != NULL && field->folder != NULL && field->sub != NULL);
  g_autoptr (GError) error = NULL;
  /* A flag's value is relative to where the user stands. */
  const char *from = mark.line != 0 ? mark.file : NULL;
  g_autofree char *path = base_lookup_find (context->lookup, base_yaml_text (node), field->folder, from, &error);
  if (path == NULL) {
    g_autofree char *subject = base_schema_subject (mark, field->key);
    base_schema_fail (reader, mark, "%s%s", subject, error->message);
    return;
  }
  void *value = read_file (reader, field, path, mark);
  if (value != NULL)
    *out = (BaseRef){ TRUE, mark, name_of (context->arena, path), value };
}

void
base_schema_read_reference (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, gboolean overlay, BaseRef *out)
{
  switch (base_yaml_kind (node)) {
    case BASE_YAML_SCALAR:
      read_name (reader, field, node, out);
      return;
    case BASE_YAML_SEQ:
      base_schema_fail_kind (reader, field, node);
      return;
    case BASE_YAML_MAP:
      break;
  }
  void *value = base_arena_alloc (reader->context->arena, field->item_size);
  gboolean changes = overlay && out->value != NULL; /* what was referenced may be shared with others: a copy is changed */
  if (changes)
    memcpy (value, out->value, field->item_size);
  base_schema_read_map (reader, field->sub, node, changes, value);
  *out = (BaseRef){ TRUE, base_yaml_mark (node), changes ? out->name : "inline", value };
}
