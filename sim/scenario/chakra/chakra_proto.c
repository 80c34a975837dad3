/* Chakra execution traces as protobuf, read by protobuf-c. */
#include <math.h>
#include <string.h>

#include "chakra-private.h"
#include <chakra.pb-c.h>

/* Messages of the file, each behind its length. */
typedef struct {
  const guint8 *bytes;
  gsize n_B, at;
} Stream;

/* The next message; FALSE and *error where the file ends within it. */
static gboolean
next_message (Stream *stream, const ScnChakraTrace *trace, const guint8 **message, gsize *message_B, GError **error)
{
  guint64 length = 0;
  const gsize begin = stream->at;
  gboolean whole = FALSE;
  for (guint shift = 0; shift < 64 && stream->at < stream->n_B && !whole; shift += 7) {
    const guint8 byte = stream->bytes[stream->at++];
    length |= (guint64)(byte & 127u) << shift;
    whole = byte < 128;
  }
  if (!whole || length > stream->n_B - stream->at)
    return scn_chakra_fail (trace, NULL, error,
                            "the file is cut off behind node %u: the message at byte %" G_GSIZE_FORMAT " has %" G_GUINT64_FORMAT
                            " bytes, and %" G_GSIZE_FORMAT " are left",
                            trace->nodes->len, begin, length, stream->n_B - stream->at);
  *message = stream->bytes + stream->at;
  *message_B = (gsize)length;
  stream->at += (gsize)length;
  return TRUE;
}

/* NAN: it holds no number. */
static double
number_of (const ScnChakra__Attribute *attr)
{
  switch (attr->value_case) {
    case SCN_CHAKRA__ATTRIBUTE__VALUE_DOUBLE_VAL:
      return attr->double_val;
    case SCN_CHAKRA__ATTRIBUTE__VALUE_FLOAT_VAL:
      return (double)attr->float_val;
    case SCN_CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL:
      return attr->int32_val; /* the three share their place */
    case SCN_CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL:
      return (double)attr->int64_val;
    case SCN_CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL:
      return attr->uint32_val;
    case SCN_CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
      return (double)attr->uint64_val;
    case SCN_CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL:
      return attr->bool_val;
    case SCN_CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST:
    case SCN_CHAKRA__ATTRIBUTE__VALUE_STRING_VAL:
    case SCN_CHAKRA__ATTRIBUTE__VALUE__NOT_SET:
    default:
      return (double)NAN;
  }
}

static void
read_attribute (ScnChakraNode *node, const ScnChakra__Attribute *attr)
{
  const gboolean text = attr->value_case == SCN_CHAKRA__ATTRIBUTE__VALUE_STRING_VAL;
  if (strcmp (attr->name, "pg_name") == 0 && text && *attr->string_val != '\0') {
    g_free (node->group);
    node->group = g_utf8_make_valid (attr->string_val, -1);
  } else if (strcmp (attr->name, "involved_dim") == 0 && attr->value_case == SCN_CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST)
    for (gsize i = 0; i < attr->bool_list->n_values; i++)
      node->some_dims |= !attr->bool_list->values[i];
  else
    scn_chakra_node_number (node, attr->name, number_of (attr));
}

static GArray *
ids_of (const uint64_t *ids, gsize n)
{
  GArray *list = n > 0 ? g_array_sized_new (FALSE, FALSE, sizeof (guint64), (guint)n) : NULL;
  for (gsize i = 0; i < n; i++)
    g_array_append_val (list, ids[i]);
  return list;
}

static gboolean
read_node (ScnChakraTrace *trace, const guint8 *message, gsize n_B, GError **error)
{
  ScnChakra__Node *from = scn_chakra__node__unpack (NULL, n_B, message);
  if (from == NULL)
    return scn_chakra_fail (trace, NULL, error, "node %u of the file does not follow the schema of Chakra 0.0.4 to 1.x",
                            trace->nodes->len + 1);
  ScnChakraNode *node = scn_chakra_node_add (trace);
  node->id = from->id;
  node->name = g_utf8_make_valid (from->name, -1);
  node->kind = from->type < SCN_NODE_N ? (ScnNodeKind)from->type : SCN_NODE_N;
  node->data = ids_of (from->data_deps, from->n_data_deps);
  node->ctrl = ids_of (from->ctrl_deps, from->n_ctrl_deps);
  node->duration_s = (double)from->duration_micros * 1e-6;
  for (gsize i = 0; i < from->n_attr; i++)
    read_attribute (node, from->attr[i]);
  if (node->kind == SCN_NODE_METADATA && from->inputs != NULL)
    scn_chakra_groups_add (trace, from->inputs->values);
  scn_chakra__node__free_unpacked (from, NULL);
  return TRUE;
}

/* Versions are those that public traces name; traces that other tools made name none. */
static gboolean
check_version (const ScnChakraTrace *trace, const guint8 *message, gsize n_B, GError **error)
{
  ScnChakra__Metadata *from = scn_chakra__metadata__unpack (NULL, n_B, message);
  if (from == NULL)
    return scn_chakra_fail (trace, NULL, error,
                            "not a Chakra execution trace: it does not begin with its metadata; accepted: protobuf, plain or gzip");
  const gboolean known = *from->version == '\0' || strcmp (from->version, "0.0.4") == 0 || g_str_has_prefix (from->version, "1.");
  const gboolean good =
      known || scn_chakra_fail (trace, NULL, error, "version '%s' of the format is not known; accepted: 0.0.4, 1.x", from->version);
  scn_chakra__metadata__free_unpacked (from, NULL);
  return good;
}

gboolean
scn_chakra_read_proto (ScnChakraTrace *trace, const char *bytes, gsize n_B, GError **error)
{
  Stream stream = { (const guint8 *)bytes, n_B, 0 };
  const guint8 *message = NULL;
  gsize message_B = 0;
  if (n_B == 0)
    return scn_chakra_fail (trace, NULL, error, "the file is empty");
  if (!next_message (&stream, trace, &message, &message_B, error) || !check_version (trace, message, message_B, error))
    return FALSE;
  while (stream.at < stream.n_B)
    if (!next_message (&stream, trace, &message, &message_B, error) || !read_node (trace, message, message_B, error))
      return FALSE;
  return TRUE;
}
