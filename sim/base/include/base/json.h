/* JSON that a user's file holds. How deep it nests, how large it unpacks and how many values it has is bounded before anything is
 * built of it, so that no file takes the program's stack or memory. The nodes are json-glib's. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <json-glib/json-glib.h>

#include "base/error.h"

/* Levels of lists and mappings. */
#define BASE_JSON_DEPTH 64

typedef struct {
  gsize text_B; /* of the text, once unpacked */
  guint values; /* texts, numbers and keys, of some 80 B of memory each; a list counts as 2, a mapping as 4 */
} BaseJsonLimits;

/* Where the caller has no reason for others. What gzip made of a text unpacks to BASE_JSON_PACKED_TIMES its size at most, once that
 * is more than BASE_JSON_PACKED_FREE_B: measurements and plans pack to a tenth, a text made to fill the memory to a thousandth. */
#define BASE_JSON_PACKED_TIMES  64u
#define BASE_JSON_PACKED_FREE_B ((gsize)16 << 20)
#define BASE_JSON_LIMITS        ((BaseJsonLimits){ (gsize)256 << 20, 1 << 22 })

typedef struct {
  const char *file; /* as messages name it */
  const char *bytes;
  gsize n_B;
  unsigned line; /* of the file, where `bytes` begin; 0: the first */
  BaseJsonLimits limits;
} BaseJsonText;

/* A value of a line of JSON. */
typedef struct {
  const char *key;
  GArray *list;  /* of gint64, emptied and filled by base_json_line; NULL: a number is expected */
  double number; /* NAN where it is missing, null, or of another kind */
  guint column;  /* of the value, counted from 1 in the line; 0: missing */
} BaseJsonField;

/* The values of some keys of a mapping that a text is, for files with one on each line: nothing is built of a mapping that holds
 * only numbers, plain texts and lists of whole numbers, and of others as by base_json_read. FALSE and *error (BASE_ERROR_INPUT,
 * "file:line:column: what; what is accepted") where it is not valid, not a mapping, or a list holds something else. A zero byte
 * stands behind the text. */
gboolean base_json_line (const BaseJsonText *text, BaseJsonField *fields, guint n_fields, GError **error);

/* A document: owns its nodes. */
typedef struct BaseJson BaseJson;

/* The document that a text is, or what gzip made of one. NULL and *error (BASE_ERROR_INPUT, "file:line:column: what; what is
 * accepted") where it is not valid or over a limit. Returned: full, base_json_free. */
BaseJson *base_json_read (const BaseJsonText *text, GError **error);
/* The same of the document that a text begins with, where more may follow: *end is the offset behind it. gzip is not unpacked. */
BaseJson *base_json_read_first (const BaseJsonText *text, gsize *end, GError **error);
/* What gzip made of a text, unpacked: *plain, full, g_byte_array_unref; NULL where it is plain already. FALSE and *error where it
 * is cut off or over a limit. */
gboolean base_json_unpack (const BaseJsonText *text, GByteArray **plain, GError **error);
/* A document that did not come from a text; takes `root`. */
BaseJson *base_json_new (const char *file, JsonObject *root);
void base_json_free (BaseJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseJson, base_json_free)

const char *base_json_file (const BaseJson *json);
/* NULL where the document is a list, a text or a number. Borrowed, as all below. */
JsonObject *base_json_root (const BaseJson *json);
/* NULL where the document is no list. */
JsonArray *base_json_root_list (const BaseJson *json);

/* ---- values that may be missing: NULL, NAN or `otherwise` where they are, where `in` is NULL, and where they are of another kind;
 * a number that is written as a text is a text ---- */

const char *base_json_text_of (JsonNode *node);
double base_json_number_of (JsonNode *node);
const char *base_json_text (JsonObject *in, const char *key);
double base_json_number (JsonObject *in, const char *key);
gboolean base_json_flag (JsonObject *in, const char *key, gboolean otherwise);
JsonObject *base_json_object (JsonObject *in, const char *key);
JsonArray *base_json_array (JsonObject *in, const char *key);
JsonObject *base_json_element (JsonArray *in, guint i);

/* ---- values that must be there: NULL or FALSE and *error otherwise ---- */

const char *base_json_need_text (const BaseJson *json, JsonObject *in, const char *key, GError **error);
JsonArray *base_json_need_array (const BaseJson *json, JsonObject *in, const char *key, GError **error);
/* A whole number, written without point or exponent. */
gboolean base_json_need_count (const BaseJson *json, JsonObject *in, const char *key, gint64 least, gint64 most, gint64 *out,
                               GError **error);

/* FALSE and *error: "file: results.inputs[3].key: what". `in` is an object or a list of the document; NULL: the document. NULL for
 * `key`: `in` itself. */
gboolean base_json_fail (const BaseJson *json, gconstpointer in, const char *key, GError **error, const char *format, ...)
    G_GNUC_PRINTF (5, 6);

#endif
