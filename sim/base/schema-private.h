#ifndef BASE_SCHEMA_PRIVATE_H
#define BASE_SCHEMA_PRIVATE_H

#include "base/schema.h"

typedef struct {
  const BaseSchemaContext *context;
  GHashTable *values;                            /* "path\nschema" -> struct that was read from the file, NULL after errors */
  GHashTable *renamed;                           /* old names of keys that were warned of */
  const char *chain[BASE_SCHEMA_MAX_FILES_DEEP]; /* files being read for REF fields, outermost first */
  unsigned n_chain;
  unsigned n_items; /* of all lists so far */
  unsigned n_said;  /* messages so far, the same counted each time */
  gboolean failed;
} SchemaReader;

void base_schema_fail (SchemaReader *reader, BaseMark mark, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* TRUE: the error is counted, and its text would be thrown away. Asked before a text is put together at length. */
gboolean base_schema_fail_unsaid (SchemaReader *reader, BaseMark mark);

/* "a list", "a mapping", "'text'". Returned: full. */
char *base_schema_found (const BaseYamlNode *node);
/* "tokens: ", or "" where the mark is a flag that ends with the key already ("--set goal.tokens"). Returned: full. */
char *base_schema_subject (BaseMark mark, const char *key);

/* "'rate' must be a bandwidth (e.g. '450 GB/s'), found a list". */
void base_schema_fail_kind (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node);

/* Counts `n` more items before memory is spent on them: structs are large, and aliases make many of few bytes. FALSE: error
 * added. */
gboolean base_schema_count_items (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, unsigned n);

/* What a field takes, for messages and documentation: "a bandwidth (e.g. '450 GB/s')". Returned: full. */
char *base_schema_accepted (const BaseField *field);

/* One leaf or list of leaves into *out, a BaseNum, BaseStr … by the field's kind. `node` is not null. FALSE: error added, *out
 * as it was. */
gboolean base_schema_read_leaf (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, void *out);

/* The default of a leaf, read as a user's text is. FALSE and *error: the table is wrong. */
gboolean base_schema_read_default (const BaseField *field, BaseArena *arena, void *out, GError **error);

void base_schema_read_reference (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, gboolean overlay,
                                 BaseRef *out);

/* Shows a number that was read to the lookup's watch, if it has one, which may change it. schema: of a default; else NULL. */
void base_schema_watch (SchemaReader *reader, const char *schema, const BaseField *field, BaseNum *num);

/* A mapping, or the scalar that is short for one, into the struct of `schema`. */
void base_schema_read_map (SchemaReader *reader, const BaseSchema *schema, const BaseYamlNode *node, gboolean overlay, void *out);

#endif
