/* A file of what is done of a plan's search: a part for forerun merge, or the state that --resume goes on from. It is an answer
 * like any other (schema, version, command, seed, inputs), so that what was read is told apart by its sums. */
#include <string.h>

#include "base/table.h"
#include "plan-private.h"

#define KIND       "plan_part"
#define MAX_PART_B ((gsize)4 << 30)

struct CliPart {
  char *path;
  JsonParser *parser;
  JsonObject *root, *results; /* of the parser */
  char **sets;
  char **sums; /* sha256 of each input */
  guint64 seed;
  guint number, of;
};

void
cli_part_free (CliPart *part)
{
  if (part == NULL)
    return;
  g_clear_object (&part->parser);
  g_strfreev (part->sets);
  g_strfreev (part->sums);
  g_free (part->path);
  g_free (part);
}

/* ---- reading ---- */

static gboolean fail (const CliPart *part, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail (const CliPart *part, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s: %s", part->path, what);
  return FALSE;
}

/* Members of the kind that is wanted; NULL where there is none. */
static const char *
text_of (JsonObject *object, const char *name)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;
  gboolean text = node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
  return text ? json_node_get_string (node) : NULL;
}

static gboolean
count_of (JsonObject *object, const char *name, gint64 least, gint64 most, guint64 *out)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;
  gboolean whole = node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64;
  if (!whole || json_node_get_int (node) < least || json_node_get_int (node) > most)
    return FALSE;
  *out = (guint64)json_node_get_int (node);
  return TRUE;
}

/* Texts of a list, or with `member` of that member of its objects. Returned: full; NULL where it is none. */
static char **
texts_of (JsonObject *object, const char *name, const char *member)
{
  JsonNode *node = json_object_get_member (object, name);
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return NULL;
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  JsonArray *array = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (array); i++) {
    JsonNode *element = json_array_get_element (array, i);
    const char *text = NULL;
    if (member != NULL && JSON_NODE_HOLDS_OBJECT (element))
      text = text_of (json_node_get_object (element), member);
    else if (member == NULL && JSON_NODE_HOLDS_VALUE (element) && json_node_get_value_type (element) == G_TYPE_STRING)
      text = json_node_get_string (element);
    if (text == NULL)
      return NULL;
    g_ptr_array_add (texts, g_strdup (text));
  }
  g_ptr_array_add (texts, NULL);
  g_ptr_array_set_free_func (texts, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&texts), FALSE);
}

static gboolean
read_root (CliPart *part, GError **error)
{
  JsonNode *root = json_parser_get_root (part->parser);
  part->root = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *results = part->root != NULL ? json_object_get_member (part->root, "results") : NULL;
  part->results = results != NULL && JSON_NODE_HOLDS_OBJECT (results) ? json_node_get_object (results) : NULL;
  if (g_strcmp0 (text_of (part->results, "kind"), KIND) != 0)
    return fail (part, error, "is no part of a plan; accepted: what forerun plan writes with --shard or --resume");
  const char *version = text_of (part->root, "version");
  if (g_strcmp0 (version, FORERUN_VERSION) != 0)
    return fail (part, error, "was written by forerun %s, and this is %s; parts are of one version",
                 version != NULL ? version : "of no version", FORERUN_VERSION);
  guint64 number, of;
  part->sets = texts_of (part->results, "sets", NULL);
  part->sums = texts_of (part->root, "inputs", "sha256");
  if (part->sets == NULL || part->sums == NULL || text_of (part->results, "plan") == NULL ||
      !count_of (part->root, "seed", 0, G_MAXINT64, &part->seed) || !count_of (part->results, "part", 1, G_MAXUINT32, &number) ||
      !count_of (part->results, "of", 1, G_MAXUINT32, &of) || number > of)
    return fail (part, error, "has not what a part of a plan says of itself; make it anew");
  part->number = (guint)number;
  part->of = (guint)of;
  return TRUE;
}

CliPart *
cli_part_read (const Cli *cli, const char *path, GError **error)
{
  gsize n_B;
  g_autofree char *text = cli_read_file (path, MAX_PART_B, &n_B, error);
  if (text == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return NULL;
  }
  g_autoptr (CliPart) part = g_new0 (CliPart, 1);
  g_autoptr (GError) cause = NULL;
  part->path = g_strdup (path);
  part->parser = json_parser_new ();
  if (!json_parser_load_from_data (part->parser, text, (gssize)n_B, &cause)) {
    /* "<data>:LINE:COLUMN: what" */
    const char *at = g_str_has_prefix (cause->message, "<data>:") ? cause->message + strlen ("<data>:") : NULL;
    if (at != NULL)
      g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s:%s", path, at);
    else
      fail (part, error, "is no JSON: %s", cause->message);
    return NULL;
  }
  return read_root (part, error) ? g_steal_pointer (&part) : NULL;
}

const char *
cli_part_path (const CliPart *part)
{
  return part->path;
}

const char *
cli_part_word (const CliPart *part)
{
  return text_of (part->results, "plan");
}

const char *const *
cli_part_sets (const CliPart *part)
{
  return (const char *const *)part->sets;
}

guint64
cli_part_seed (const CliPart *part)
{
  return part->seed;
}

guint
cli_part_number (const CliPart *part)
{
  return part->number;
}

guint
cli_part_of (const CliPart *part)
{
  return part->of;
}

/* ---- whether two are of the same plan ---- */

typedef struct {
  const char *const *sets;
  guint64 seed;
  const char *const *sums;
} Origin;

static gboolean
is_same (const CliPart *part, const Origin *other, const char *its_name, GError **error)
{
  if (!g_strv_equal ((const char *const *)part->sets, other->sets))
    return fail (part, error, "is of another plan than %s: other values of --set", its_name);
  if (part->seed != other->seed)
    return fail (part, error, "is of another plan than %s: seed %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, its_name,
                 part->seed, other->seed);
  if (g_strv_equal ((const char *const *)part->sums, other->sums))
    return TRUE;
  JsonArray *inputs = json_object_get_array_member (part->root, "inputs");
  guint i = 0;
  while (part->sums[i] != NULL && g_strcmp0 (part->sums[i], other->sums[i]) == 0)
    i++;
  const char *which = part->sums[i] != NULL ? text_of (json_array_get_object_element (inputs, i), "path") : NULL;
  return fail (part, error, "is of another plan than %s: %s%s%s", its_name, which != NULL ? "'" : "it has read fewer files",
               which != NULL ? which : "", which != NULL ? "' was another file" : "");
}

gboolean
cli_part_same (const CliPart *a, const CliPart *b, GError **error)
{
  const Origin other = { (const char *const *)a->sets, a->seed, (const char *const *)a->sums };
  return is_same (b, &other, a->path, error);
}

gboolean
cli_part_check (const Cli *cli, const CliPart *part, GError **error)
{
  static const char *const none[] = { NULL };
  g_autoptr (GPtrArray) sums = g_ptr_array_new ();
  for (guint i = 0; i < cli->inputs->len; i++)
    g_ptr_array_add (sums, ((RepInput *)cli->inputs->pdata[i])->sha256);
  g_ptr_array_add (sums, NULL);
  const Origin own = { cli->sets != NULL ? (const char *const *)cli->sets : none, cli->seed, (const char *const *)sums->pdata };
  return is_same (part, &own, "the one that is asked for now", error);
}

gboolean
cli_part_take (const CliPart *part, WrkPlanWork *work, GError **error)
{
  return wrk_plan_work_read (work, part->path, part->results, error);
}

/* ---- writing ---- */

char *
cli_part_text (const Cli *cli, const char *word, const WrkPlanWork *work)
{
  const RepEnvelope envelope = cli_envelope (cli);
  JsonBuilder *json = rep_envelope_open (&envelope);
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "kind");
  json_builder_add_string_value (json, KIND);
  json_builder_set_member_name (json, "plan");
  json_builder_add_string_value (json, word);
  json_builder_set_member_name (json, "sets");
  json_builder_begin_array (json);
  for (char **set = cli->sets; set != NULL && *set != NULL; set++)
    json_builder_add_string_value (json, *set);
  json_builder_end_array (json);
  wrk_plan_work_build (work, json);
  json_builder_end_object (json);
  return rep_envelope_close (json, &envelope);
}
