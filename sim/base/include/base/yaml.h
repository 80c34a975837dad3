/* YAML 1.1 documents as a tree with positions, on libyaml.
 * Refused with a position: more than one document, duplicate keys, non-scalar keys, nesting deeper than BASE_YAML_MAX_DEPTH,
 * more than BASE_YAML_MAX_NODES nodes after aliases are expanded (an alias is counted as what it stands for), files over
 * BASE_YAML_MAX_B, invalid UTF-8, NUL bytes, directories, devices, unreadable files (path and errno's text). Also refused: merge
 * keys (`<<`), aliases and anchors on keys, an alias inside what it names, and tags other than !!str. Pipes and /dev/stdin are read
 * up to BASE_YAML_MAX_B. JSON is YAML. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/arena.h"
#include "base/error.h"
#include "base/mark.h"

#define BASE_YAML_MAX_B (16u << 20)
#define BASE_YAML_MAX_DEPTH 64u
#define BASE_YAML_MAX_NODES 1000000u

typedef enum { BASE_YAML_SCALAR, BASE_YAML_SEQ, BASE_YAML_MAP } BaseYamlKind;
typedef struct BaseYaml BaseYaml;         /* a document: owns all of its nodes */
typedef struct BaseYamlNode BaseYamlNode; /* borrowed from its document */

/* Returned: full, free with base_yaml_free; NULL and *error (BASE_ERROR_INPUT) on failure. */
BaseYaml *base_yaml_load_file (const char *path, GError **error);
/* Between these two, which nest, each file is read once, for all threads: what is loaded again is what it was. For studies that ask
 * one question many times. */
void base_yaml_keep (void);
void base_yaml_keep_no_more (void);
/* `name` stands for the path in messages. An empty document gives an empty mapping. */
BaseYaml *base_yaml_load_data (const char *name, const char *bytes, gsize n_B, GError **error);
/* Several owners may hold one document (a cluster, and the list of a report's inputs): each frees its own reference. */
BaseYaml *base_yaml_ref (BaseYaml *yaml);
void base_yaml_free (BaseYaml *yaml);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseYaml, base_yaml_free)

const char *base_yaml_path (const BaseYaml *yaml);
/* SHA-256 of the bytes read, 64 hex digits, borrowed. */
const char *base_yaml_sha256 (const BaseYaml *yaml);
BaseArena *base_yaml_arena (BaseYaml *yaml);
BaseYamlNode *base_yaml_root (const BaseYaml *yaml);

BaseYamlKind base_yaml_kind (const BaseYamlNode *node);
BaseMark base_yaml_mark (const BaseYamlNode *node);
const char *base_yaml_text (const BaseYamlNode *node);   /* scalar's text; NULL for others */
gboolean base_yaml_is_plain (const BaseYamlNode *node);  /* scalar without quotes */
gboolean base_yaml_is_null (const BaseYamlNode *node);   /* plain '', '~', 'null' */
unsigned base_yaml_n (const BaseYamlNode *node);         /* children of a sequence or mapping; 0 for a scalar */
BaseYamlNode *base_yaml_item (const BaseYamlNode *node, unsigned i); /* i-th item, or i-th value of a mapping */
const char *base_yaml_key (const BaseYamlNode *map, unsigned i);
BaseMark base_yaml_key_mark (const BaseYamlNode *map, unsigned i);
BaseYamlNode *base_yaml_get (const BaseYamlNode *map, const char *key); /* NULL when absent or not a mapping */

/* Puts `value` (YAML flow text: "400 Gb/s", "[1, 2]", "{tp: 8}") at a dotted path ("node.nics.rate", "jobs.0.nodes"),
 * making missing mappings on the way; list indices must exist. A {value, source, note} leaf is replaced whole. The new
 * nodes' marks say `label` (e.g. "--set node.nics.rate") with line 0. FALSE and *error on a bad path or bad YAML.
 * An aliased node is copied before it is changed: its anchor and other aliases keep their value. An empty value is a null, which
 * takes a key back to its default. Among a mapping's keys the longest that the path spells wins ("nics.rate" before "nics"). */
gboolean base_yaml_set (BaseYaml *yaml, const char *path, const char *value, const char *label, GError **error);

/* The same where `dotted` (NULL-terminated) names keys with dots in them that the file may have left out: one of them that the path
 * spells is made as one key. */
gboolean base_yaml_set_dotted (BaseYaml *yaml, const char *path, const char *value, const char *label, const char *const *dotted,
                               GError **error);

/* Text that YAML reads back as this string: plain when safe, quoted otherwise. Returned: full, g_free. */
char *base_yaml_quote (const char *text);

#endif
