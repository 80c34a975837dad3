/* A table that parses, checks, documents and suggests: one row a key.
 * The same rows fill C structs, refuse unknown keys ("unknown key 'latancy' in 'link' (did you mean 'latency'?)"), check
 * ranges and units, and print the reference documentation of docs/. */
#ifndef BASE_SCHEMA_H
#define BASE_SCHEMA_H

#include <stddef.h>

#include "base/diag.h"
#include "base/leaf.h"
#include "base/lookup.h"
#include "base/units.h"
#include "base/yaml.h"

typedef enum {
  BASE_FIELD_NUM,  /* BaseNum of dimension `dim`; takes a scalar or {value, source, note} */
  BASE_FIELD_STR,  /* BaseStr */
  BASE_FIELD_ENUM, /* BaseEnum of `names` */
  BASE_FIELD_BOOL, /* BaseBool: true false yes no on off */
  BASE_FIELD_MAP,  /* embedded struct of schema `sub` (begins with BaseHead) */
  BASE_FIELD_LIST, /* BaseList of structs of schema `sub`, `item_size` bytes each */
  BASE_FIELD_NUMS, /* BaseNums of dimension `dim`; a lone scalar counts as a list of one */
  BASE_FIELD_STRS, /* BaseStrs; likewise */
  BASE_FIELD_REF,  /* BaseRef: a name looked up in folder `folder`, a path, or an inline mapping of schema `sub` */
  BASE_FIELD_NODE  /* const BaseYamlNode *: the caller reads it (a key with more than one form) */
} BaseFieldKind;

typedef struct {
  const char *name;
  int code;
  const char *help;
} BaseName; /* tables end with name NULL */

extern const BaseName base_source_names[];                                /* of BaseSource */
const BaseName *base_name_find (const BaseName *table, const char *name); /* NULL if it is not there */
const char *base_name (const BaseName *table, int code);                  /* "?" if it is not there */
const char **base_names (const BaseName *table);                          /* NULL at the end; full, its texts borrowed */
char *base_names_join (const BaseName *table);                            /* "ring, tree"; full */
char *base_names_accepted (const char *word, const BaseName *table, const char *command); /* base_accepted (lookup.h); full */

typedef struct BaseSchema BaseSchema;

typedef struct {
  const char *key;
  BaseFieldKind kind;
  size_t offset;
  const char *help; /* one line of documentation: meaning, what the default is when it is computed */
  gboolean required;
  const char *fallback;  /* default as text, parsed by the same parser; NULL: absent */
  BaseDim dim;           /* NUM, NUMS */
  const char *min, *max; /* inclusive bounds as text with units; NULL none. Without min, NUM must be >= 0 */
  const BaseName *names; /* ENUM */
  const BaseSchema *sub; /* MAP, LIST, REF */
  size_t item_size;      /* LIST, REF: size of the struct */
  const char *folder;    /* REF: below the shipped topologies/, scenarios/… ("topologies/gpus") */
  const char *was;       /* name of the key in earlier versions, which is still read, with a warning; NULL: none */
} BaseField;             /* tables end with key NULL */

/* TRUE: `key` is the field's name, or its name in earlier versions. */
gboolean base_field_is (const BaseField *field, const char *key);

/* Rows of a table: what every row says, then designated initialisers. */
#define BASE_ROW(T, text, member, what, ...)                                              \
  {                                                                                       \
    .key = (text), .kind = BASE_FIELD_##what, .offset = offsetof (T, member), __VA_ARGS__ \
  }
#define BASE_ROW_NUM(T, text, member, dimension, ...) BASE_ROW (T, text, member, NUM, .dim = BASE_DIM_##dimension, __VA_ARGS__)
#define BASE_ROW_END \
  {                  \
    .key = NULL      \
  }

struct BaseSchema {
  const char *name; /* as messages and docs say it: "node.nics" */
  const char *help;
  const BaseField *fields;
  /* For mappings whose scalar form is a shorthand: the key that a bare scalar stands for; NULL: a mapping is demanded. */
  const char *scalar_key;
  /* Keys beside the fields that the caller reads himself, ending with NULL; no function: none. */
  const char *const *(*others) (void);
};

/* Items of all lists that one call reads, and files that name each other in a chain. */
#define BASE_SCHEMA_MAX_ITEMS      100000u
#define BASE_SCHEMA_MAX_FILES_DEEP 8u

typedef struct {
  BaseArena *arena;         /* strings and lists go here */
  BaseDiag *diag;           /* all errors go here */
  const BaseLookup *lookup; /* for REF fields; may be NULL if there are none */
  BaseSource source;        /* default source of numbers of this file */
  GPtrArray *inputs;        /* BaseYaml *, in load order: every further file read for REF fields is appended (owned by the array) */
} BaseSchemaContext;

/* A leaf (NUM, STR, ENUM, BOOL; NUMS as a whole or by item) may be written {value, source, note}. A null is an absent key.
 * An absent NUM with a default has source `assumed` and no mark. An absent MAP still gets the defaults of its keys. In an
 * overlay a mapping under a REF key changes a copy of what was referenced, and a list replaces the list.
 * A file named twice under one call is loaded once, and the two BaseRef share one value; the document of `node` and the
 * arena must outlive *out.
 * Fills *out (zeroed by the caller, or filled before: keys that `node` lacks then keep their value, which is how overrides
 * work; `overlay` TRUE also skips defaults and required checks). Returns FALSE if any error was added to the diag. */
gboolean base_schema_read (const BaseSchema *schema, const BaseYamlNode *node, gboolean overlay, const BaseSchemaContext *context,
                           void *out);

/* Reads one scalar node as a quantity; error into the context's diag. For NODE fields. */
gboolean base_schema_read_num (const BaseField *field, const BaseYamlNode *node, const BaseSchemaContext *context, BaseNum *out);

#endif
