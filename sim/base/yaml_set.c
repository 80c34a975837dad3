/* `--set path.to.key=value`: changes the loaded tree as if the file had said so. */
#include "yaml-private.h"

#include "base/diag.h"
#include "units/text-private.h"

#include <string.h>

typedef struct {
  BaseYaml *yaml;
  BaseMark label; /* the setting, in the arena */
  char **part;    /* the path at its dots */
  unsigned n;
  const char *const *dotted;                 /* keys with dots that may be new; NULL: none */
  BaseYamlNode *walked[BASE_YAML_MAX_DEPTH]; /* the mappings and lists that the path leads through, from the root */
  unsigned n_walked;
  GError **error;
} Setter;

/* parts [from, to) with dots between, at a length for messages. Returned: full. */
static char *
join (const Setter *setter, unsigned from, unsigned to)
{
  GString *text = g_string_new (NULL);
  for (unsigned i = from; i < to; i++)
    g_string_append_printf (text, "%s%s", i > from ? "." : "", setter->part[i]);
  return g_string_free (text, FALSE);
}

static char *
shown (const Setter *setter, unsigned to)
{
  g_autofree char *text = join (setter, 0, to);
  return base_text_shown (text);
}

/* A copy of one node that shares its children, which are then shared in turn. */
static BaseYamlNode *
copy_shallow (BaseArena *arena, const BaseYamlNode *node)
{
  BaseYamlNode *copy = base_arena_alloc (arena, sizeof *copy);
  *copy = *node;
  copy->shared = FALSE;
  copy->item = base_arena_alloc_n (arena, node->n, sizeof *copy->item);
  for (unsigned i = 0; i < node->n; i++) {
    copy->item[i] = node->item[i];
    if (!copy->item[i]->shared) /* those of a kept document are, and no thread writes to them */
      copy->item[i]->shared = TRUE;
  }
  return copy;
}

static BaseYamlNode *
map_new (const Setter *setter)
{
  BaseYamlNode *map = base_arena_alloc (setter->yaml->arena, sizeof *map);
  map->kind = BASE_YAML_MAP;
  map->height = map->n_nodes = 1;
  map->mark = setter->label;
  return map;
}

/* The slot of a new key at the end of `map`. */
static BaseYamlNode **
map_append (const Setter *setter, BaseYamlNode *map, const char *key)
{
  BaseArena *arena = setter->yaml->arena;
  BaseYamlNode **item = base_arena_alloc_n (arena, map->n + 1, sizeof *item);
  const char **keys = base_arena_alloc_n (arena, map->n + 1, sizeof *keys);
  BaseMark *marks = base_arena_alloc_n (arena, map->n + 1, sizeof *marks);
  for (unsigned i = 0; i < map->n; i++) {
    item[i] = map->item[i];
    keys[i] = map->key[i];
    marks[i] = map->key_mark[i];
  }
  keys[map->n] = base_arena_strdup (arena, key);
  marks[map->n] = setter->label;
  map->item = item;
  map->key = keys;
  map->key_mark = marks;
  return &item[map->n++];
}

/* A key may hold dots itself ("nics.rate" among a plan's choices): the longest that is there wins. */
static BaseYamlNode **
find_key (const Setter *setter, BaseYamlNode *map, unsigned *at)
{
  for (unsigned to = setter->n; to > *at; to--) {
    g_autofree char *key = join (setter, *at, to);
    for (unsigned i = 0; i < map->n; i++)
      if (strcmp (map->key[i], key) == 0) {
        *at = to;
        return &map->item[i];
      }
  }
  return NULL;
}

/* How many parts from `at` on make the next new key: one, or those of a known key with dots. */
static unsigned
new_key_parts (const Setter *setter, unsigned at)
{
  for (unsigned to = setter->n; to > at + 1 && setter->dotted != NULL; to--) {
    g_autofree char *key = join (setter, at, to);
    if (g_strv_contains (setter->dotted, key))
      return to - at;
  }
  return 1;
}

static BaseYamlNode **
find_index (const Setter *setter, BaseYamlNode *list, unsigned *at)
{
  const char *text = setter->part[*at];
  guint64 index;
  g_autofree char *path = shown (setter, *at);
  g_autofree char *word = base_text_shown (text);
  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &index, NULL)) {
    base_fail_at (setter->error, setter->label, "'%s' is a list; '%s' is not the number of an item (the first is 0)", path, word);
    return NULL;
  }
  if (index >= list->n) {
    base_fail_at (setter->error, setter->label, "'%s' has %u items, there is no item %s (the first is 0)", path, list->n, word);
    return NULL;
  }
  ++*at;
  return &list->item[index];
}

/* Walks from the root to the slot that the path names, making what is missing and copying what an alias shares. NULL: error. */
static BaseYamlNode **
walk (Setter *setter)
{
  BaseYamlNode **slot = &setter->yaml->root;
  for (unsigned at = 0; at < setter->n;) {
    if (base_yaml_is_null (*slot))
      *slot = map_new (setter);
    if ((*slot)->kind == BASE_YAML_SCALAR) {
      g_autofree char *path = shown (setter, at);
      g_autofree char *text = base_text_shown ((*slot)->text);
      g_autofree char *key = base_text_shown (setter->part[at]);
      if (at == 0)
        base_fail_at (setter->error, setter->label, "the file is '%s', not a mapping with keys", text);
      else
        base_fail_at (setter->error, setter->label, "'%s' is '%s', not a mapping with a key '%s'", path, text, key);
      return NULL;
    }
    if ((*slot)->shared)
      *slot = copy_shallow (setter->yaml->arena, *slot);
    BaseYamlNode *node = *slot;
    setter->walked[setter->n_walked++] = node; /* at most one a part of the path */
    slot = node->kind == BASE_YAML_SEQ ? find_index (setter, node, &at) : find_key (setter, node, &at);
    if (slot == NULL && node->kind == BASE_YAML_SEQ)
      return NULL;
    if (slot == NULL) {
      unsigned to = at + new_key_parts (setter, at);
      g_autofree char *key = join (setter, at, to);
      slot = map_append (setter, node, key);
      at = to;
      *slot = map_new (setter);
    }
  }
  return slot;
}

/* Sizes of a node whose children are right. */
static void
measure (BaseYamlNode *node)
{
  node->height = 0;
  node->n_nodes = 1;
  for (unsigned i = 0; i < node->n; i++) {
    node->height = MAX (node->height, node->item[i]->height);
    node->n_nodes += node->item[i]->n_nodes;
  }
  node->height++;
}

/* Before anything is changed, as if each part of the path were new. */
static gboolean
check_limits (const Setter *setter, const BaseYamlNode *value)
{
  if (setter->n + value->height > BASE_YAML_MAX_DEPTH)
    return base_fail_at (setter->error, setter->label, "nested deeper than %u levels", BASE_YAML_MAX_DEPTH);
  if (setter->yaml->root->n_nodes + setter->n + value->n_nodes > BASE_YAML_MAX_NODES)
    return base_fail_at (setter->error, setter->label, "more than %u values; that is the most", BASE_YAML_MAX_NODES);
  return TRUE;
}

gboolean
base_yaml_set (BaseYaml *yaml, const char *path, const char *value, const char *label, GError **error)
{
  return base_yaml_set_dotted (yaml, path, value, label, NULL, error);
}

gboolean
base_yaml_set_dotted (BaseYaml *yaml, const char *path, const char *value, const char *label, const char *const *dotted,
                      GError **error)
{
  g_return_val_if_fail (yaml != NULL && path != NULL && value != NULL && label != NULL, FALSE);
  g_auto (GStrv) part = g_strsplit (path, ".", (int)BASE_YAML_MAX_DEPTH + 1);
  Setter setter = { .yaml = yaml, .part = part, .n = g_strv_length (part), .dotted = dotted, .error = error };
  setter.label.file = base_arena_strdup (yaml->arena, label);
  for (unsigned i = 0; i < setter.n; i++)
    if (part[i][0] == '\0')
      return base_fail_at (error, setter.label, "a path is keys with dots between, e.g. 'node.nics.rate'");
  if (setter.n == 0 || setter.n > BASE_YAML_MAX_DEPTH)
    return base_fail_at (error, setter.label, "a path is keys with dots between, e.g. 'node.nics.rate', at most %u",
                         BASE_YAML_MAX_DEPTH);
  if (!g_utf8_validate (path, -1, NULL))
    return base_fail_at (error, setter.label, "the path is not UTF-8");

  BaseYamlNode *node;
  if (!base_yaml_parse (yaml->arena, setter.label.file, TRUE, value, strlen (value), &node, error))
    return FALSE;
  if (node == NULL && value[strspn (value, " \t")] != '\0')
    return base_fail_at (error, setter.label, "the value is empty; put text that begins with '#' in quotes");
  if (node == NULL) { /* `--set key=` takes the key back to its default */
    node = base_arena_alloc (yaml->arena, sizeof *node);
    *node = (BaseYamlNode){ .kind = BASE_YAML_SCALAR, .plain = TRUE, .height = 1, .n_nodes = 1, .text = "" };
    node->mark = setter.label;
  }
  if (!check_limits (&setter, node))
    return FALSE;
  BaseYamlNode **slot = walk (&setter);
  if (slot == NULL)
    return FALSE;
  *slot = node;
  while (setter.n_walked > 0)
    measure (setter.walked[--setter.n_walked]);
  return TRUE;
}
