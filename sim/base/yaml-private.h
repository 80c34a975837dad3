#ifndef BASE_YAML_PRIVATE_H
#define BASE_YAML_PRIVATE_H

#include "base/yaml.h"

/* The scalar, list or mapping itself. Schema defaults make scalars of their own, which is why the body is seen here. */
struct BaseYamlNode {
  BaseYamlKind kind;
  gboolean plain;   /* scalar without quotes and without tag !!str */
  gboolean shared;  /* an alias stands for it somewhere: to be copied before it is changed */
  unsigned height;  /* 1 for a scalar, 1 + the tallest child otherwise; aliases count as what they stand for */
  unsigned n_nodes; /* this and all below, aliases expanded; at most BASE_YAML_MAX_NODES */
  BaseMark mark;
  const char *text; /* scalar */
  unsigned n;
  BaseYamlNode **item;
  const char **key;   /* mapping */
  BaseMark *key_mark; /* mapping */
};

struct BaseYaml {
  unsigned n_refs;
  BaseArena *arena;
  const char *path; /* in the arena */
  char *sha256;
  BaseYamlNode *root;
  BaseYaml *kept;    /* the document whose nodes and path it borrows (yaml_keep.c); NULL: they are its own */
  gint n_borrowers;  /* of a kept document, with those who keep it; counted by all threads */
};

/* One document in `bytes`, all in `arena`. `file` (lives as long as the arena) is put in all marks; `flag` TRUE: lines and columns
 * are 0, the text is a flag's. An empty document gives NULL without error. */
gboolean base_yaml_parse (BaseArena *arena, const char *file, gboolean flag, const char *bytes, gsize n_B, BaseYamlNode **root,
                          GError **error);

/* yaml_keep.c: a document that borrows the nodes of one that is kept; NULL: none is kept of this path. Returned: full. */
BaseYaml *base_yaml_kept (const char *path);
/* Keeps the document, if any are: from then on it borrows its nodes. */
void base_yaml_keep_one (BaseYaml *yaml);
void base_yaml_unborrow (BaseYaml *kept);

/* Plain text that YAML takes for null. */
gboolean base_yaml_text_is_null (const char *text);

#endif
