/* A result: the document that holds all of it, and fields of it by their keys. Nothing else is kept of what was asked. */
#include <string.h>

#include "api-private.h"
#include "base/text.h"
#include "base/units.h"
#include "report/envelope.h"

struct FrResult {
  JsonNode *results;   /* owned */
  GPtrArray *keys;     /* char *: of all fields */
  GPtrArray *warnings; /* char * */
  char *json;
};

/* ---- fields ---- */

/* Adds the keys of all fields below `node`, whose own key is `prefix`. */
static void
add_keys (JsonNode *node, const char *prefix, GPtrArray *keys)
{
  const char *dot = *prefix != '\0' ? "." : "";
  if (JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObjectIter iter;
    const char *name;
    JsonNode *member;
    json_object_iter_init_ordered (&iter, json_node_get_object (node));
    while (json_object_iter_next_ordered (&iter, &name, &member)) {
      g_autofree char *key = g_strconcat (prefix, dot, name, NULL);
      add_keys (member, key, keys);
    }
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    for (guint i = 0; i < json_array_get_length (array); i++) {
      g_autofree char *key = g_strdup_printf ("%s%s%u", prefix, dot, i);
      add_keys (json_array_get_element (array, i), key, keys);
    }
  } else {
    g_ptr_array_add (keys, g_strdup (prefix));
  }
}

/* The member or item that `key` begins with; *rest: what follows it. NULL: there is none. */
static JsonNode *
step (JsonNode *node, const char *key, const char **rest)
{
  const size_t n = strcspn (key, ".");
  g_autofree char *name = g_strndup (key, n);
  guint64 i;
  *rest = key[n] == '.' ? key + n + 1 : key + n;
  if (JSON_NODE_HOLDS_OBJECT (node))
    return json_object_get_member (json_node_get_object (node), name);
  if (!JSON_NODE_HOLDS_ARRAY (node) || !g_ascii_string_to_unsigned (name, 10, 0, G_MAXUINT, &i, NULL))
    return NULL;
  JsonArray *array = json_node_get_array (node);
  return i < json_array_get_length (array) ? json_array_get_element (array, (guint)i) : NULL;
}

/* What stands at `key`, "" all of it. Borrowed; NULL: nothing. */
static JsonNode *
find (const FrResult *result, const char *key)
{
  JsonNode *node = result != NULL && key != NULL ? result->results : NULL;
  while (node != NULL && *key != '\0')
    node = step (node, key, &key);
  return node;
}

bool
fr_result_number (const FrResult *result, const char *key, double *value)
{
  JsonNode *node = find (result, key);
  if (node == NULL || value == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) == G_TYPE_STRING)
    return false;
  *value = json_node_get_value_type (node) == G_TYPE_BOOLEAN ? json_node_get_boolean (node) : json_node_get_double (node);
  return true;
}

const char *
fr_result_text (const FrResult *result, const char *key)
{
  JsonNode *node = find (result, key);
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

const char *
fr_result_unit (const FrResult *result, const char *key)
{
  JsonNode *node = find (result, key);
  const bool has_value = node != NULL && JSON_NODE_HOLDS_VALUE (node);
  if (node == NULL || JSON_NODE_HOLDS_OBJECT (node) || JSON_NODE_HOLDS_ARRAY (node) ||
      (has_value && (json_node_get_value_type (node) == G_TYPE_STRING || json_node_get_value_type (node) == G_TYPE_BOOLEAN)))
    return "";
  g_auto (GStrv) names = g_strsplit (key, ".", -1);
  for (guint i = g_strv_length (names); i-- > 0;) { /* parts have the unit of their sum: "breakdown_s.compute" */
    const BaseDim dim = base_dim_of_key (names[i]);
    if (dim != BASE_DIM_NUMBER)
      return base_dim_unit (dim);
  }
  return "";
}

size_t
fr_result_n_items (const FrResult *result, const char *key)
{
  JsonNode *node = find (result, key);
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_array_get_length (json_node_get_array (node)) : 0;
}

size_t
fr_result_n_fields (const FrResult *result)
{
  return result->keys->len;
}

const char *
fr_result_key (const FrResult *result, size_t i)
{
  return i < result->keys->len ? result->keys->pdata[i] : NULL;
}

/* ---- all of it ---- */

/* The words that ask the program for the same. Returned: full, texts borrowed; ends with NULL. */
static GPtrArray *
command_of (const FrAnswer *answer)
{
  GPtrArray *words = g_ptr_array_new ();
  const char *const begin[] = { "forerun", answer->verb, answer->word };
  for (size_t i = 0; i < G_N_ELEMENTS (begin); i++)
    g_ptr_array_add (words, (char *)begin[i]);
  for (guint i = 0; i + 1 < answer->sets->len; i++) {
    g_ptr_array_add (words, (char *)"--set");
    g_ptr_array_add (words, answer->sets->pdata[i]);
  }
  for (guint i = 0; answer->flags != NULL && i < answer->flags->len; i++)
    g_ptr_array_add (words, answer->flags->pdata[i]);
  g_ptr_array_add (words, (char *)"--format");
  g_ptr_array_add (words, (char *)"json");
  g_ptr_array_add (words, NULL);
  return words;
}

static char *
json_of (const FrResult *result, const FrAnswer *answer)
{
  g_autoptr (GPtrArray) inputs = rep_inputs_new (), command = command_of (answer);
  rep_inputs_add_yamls (inputs, answer->inputs, fr_session_data (answer->session));
  const RepEnvelope envelope = { .version = FORERUN_VERSION,
                                 .command = (const char *const *)command->pdata,
                                 .seed = answer->seed,
                                 .inputs = inputs,
                                 .warnings = result->warnings };
  JsonBuilder *json = rep_envelope_open (&envelope);
  json_builder_add_value (json, json_node_ref (result->results));
  return rep_envelope_close (json, &envelope);
}

FrResult *
fr_result_new (const FrAnswer *answer)
{
  FrResult *result = g_new0 (FrResult, 1);
  g_autoptr (JsonBuilder) json = json_builder_new ();
  answer->write (answer->of, json);
  result->results = json_builder_get_root (json);
  result->keys = g_ptr_array_new_with_free_func (g_free);
  add_keys (result->results, "", result->keys);
  result->warnings = g_ptr_array_new_with_free_func (g_free);
  for (unsigned i = 0; answer->diag != NULL && i < base_diag_n_warnings (answer->diag); i++)
    base_add_once (result->warnings, base_diag_warning (answer->diag, i));
  for (guint i = 0; answer->warnings != NULL && i < answer->warnings->len; i++)
    base_add_once (result->warnings, answer->warnings->pdata[i]);
  result->json = json_of (result, answer);
  return result;
}

void
fr_result_free (FrResult *result)
{
  if (result == NULL)
    return;
  g_free (result->json);
  g_ptr_array_unref (result->warnings);
  g_ptr_array_unref (result->keys);
  json_node_unref (result->results);
  g_free (result);
}

const char *
fr_result_json (const FrResult *result)
{
  return result->json;
}

size_t
fr_result_n_warnings (const FrResult *result)
{
  return result->warnings->len;
}

const char *
fr_result_warning (const FrResult *result, size_t i)
{
  return i < result->warnings->len ? result->warnings->pdata[i] : NULL;
}
