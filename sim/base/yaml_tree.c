/* The loaded document and what is asked of its nodes. */
#include "yaml-private.h"

#include "base/file.h"

#include <string.h>

static BaseYaml *
document_new (const char *name)
{
  BaseYaml *yaml = g_new0 (BaseYaml, 1);
  yaml->n_refs = 1;
  yaml->arena = base_arena_new ();
  yaml->path = base_arena_strdup (yaml->arena, name);
  return yaml;
}

BaseYaml *
base_yaml_ref (BaseYaml *yaml)
{
  yaml->n_refs++;
  return yaml;
}

void
base_yaml_free (BaseYaml *yaml)
{
  if (yaml == NULL || --yaml->n_refs > 0)
    return;
  base_arena_free (yaml->arena);
  base_yaml_unborrow (yaml->kept);
  g_free (yaml->sha256);
  g_free (yaml);
}

BaseYaml *
base_yaml_load_data (const char *name, const char *bytes, gsize n_B, GError **error)
{
  g_return_val_if_fail (name != NULL && (bytes != NULL || n_B == 0), NULL);
  g_autoptr (BaseYaml) yaml = document_new (name);
  if (n_B > BASE_YAML_MAX_B) {
    base_fail (error, BASE_ERROR_INPUT, "%s: is %" G_GSIZE_FORMAT " B long; at most %u B are read", name, n_B, BASE_YAML_MAX_B);
    return NULL;
  }
  if (!base_yaml_parse (yaml->arena, yaml->path, FALSE, bytes, n_B, &yaml->root, error))
    return NULL;
  if (yaml->root == NULL) {
    yaml->root = base_arena_alloc (yaml->arena, sizeof *yaml->root);
    yaml->root->kind = BASE_YAML_MAP;
    yaml->root->height = yaml->root->n_nodes = 1;
    yaml->root->mark = (BaseMark){ yaml->path, 1, 1 };
  }
  yaml->sha256 = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)(bytes != NULL ? bytes : ""), n_B);
  return g_steal_pointer (&yaml);
}

BaseYaml *
base_yaml_load_file (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_autofree char *bytes = NULL;
  gsize n_B = 0;
  BaseYaml *yaml = base_yaml_kept (path);
  if (yaml != NULL)
    return yaml;
  if (!base_file_read (path, BASE_YAML_MAX_B, &bytes, &n_B, error))
    return NULL;
  yaml = base_yaml_load_data (path, bytes, n_B, error);
  if (yaml != NULL)
    base_yaml_keep_one (yaml);
  return yaml;
}

const char *
base_yaml_path (const BaseYaml *yaml)
{
  return yaml->path;
}

const char *
base_yaml_sha256 (const BaseYaml *yaml)
{
  return yaml->sha256;
}

BaseArena *
base_yaml_arena (BaseYaml *yaml)
{
  return yaml->arena;
}

BaseYamlNode *
base_yaml_root (const BaseYaml *yaml)
{
  return yaml->root;
}

BaseYamlKind
base_yaml_kind (const BaseYamlNode *node)
{
  return node->kind;
}

BaseMark
base_yaml_mark (const BaseYamlNode *node)
{
  return node->mark;
}

const char *
base_yaml_text (const BaseYamlNode *node)
{
  return node->kind == BASE_YAML_SCALAR ? node->text : NULL;
}

gboolean
base_yaml_is_plain (const BaseYamlNode *node)
{
  return node->kind == BASE_YAML_SCALAR && node->plain;
}

gboolean
base_yaml_text_is_null (const char *text)
{
  return text[0] == '\0' || strcmp (text, "~") == 0 || strcmp (text, "null") == 0 || strcmp (text, "Null") == 0 ||
         strcmp (text, "NULL") == 0;
}

gboolean
base_yaml_is_null (const BaseYamlNode *node)
{
  return base_yaml_is_plain (node) && base_yaml_text_is_null (node->text);
}

unsigned
base_yaml_n (const BaseYamlNode *node)
{
  return node->n;
}

BaseYamlNode *
base_yaml_item (const BaseYamlNode *node, unsigned i)
{
  g_return_val_if_fail (i < node->n, NULL);
  return node->item[i];
}

const char *
base_yaml_key (const BaseYamlNode *map, unsigned i)
{
  g_return_val_if_fail (map->kind == BASE_YAML_MAP && i < map->n, NULL);
  return map->key[i];
}

BaseMark
base_yaml_key_mark (const BaseYamlNode *map, unsigned i)
{
  g_return_val_if_fail (map->kind == BASE_YAML_MAP && i < map->n, BASE_MARK_NONE);
  return map->key_mark[i];
}

BaseYamlNode *
base_yaml_get (const BaseYamlNode *map, const char *key)
{
  if (map == NULL || map->kind != BASE_YAML_MAP)
    return NULL;
  for (unsigned i = 0; i < map->n; i++)
    if (strcmp (map->key[i], key) == 0)
      return map->item[i];
  return NULL;
}
