/* A file of what is done of a plan's search or of a service: a part for forerun merge, or the state that --resume goes on from. It
 * is an answer like any other (schema, version, command, seed, inputs), so that inputs are distinguished by their checksums. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "share-private.h"

#define CHECKSUM "sha256"
/* A million rows are a million values, each of some hundred bytes. */
#define LIMITS ((BaseJsonLimits){ (gsize)2 << 30, 10000000 })

/* What a part is of: `kind` in its file, the member that names its input, and the verb that writes it. */
typedef struct {
  const char *kind, *noun, *verb;
} Kind;
static const Kind of_plan = { "plan_part", "plan", "plan" }, of_run = { "run_part", "scenario", "run" };

struct CliPart {
  const Kind *kind;
  BaseJson *json;
  JsonObject *root, *results; /* of `json` */
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
  base_json_free (part->json);
  g_strfreev (part->sets);
  g_strfreev (part->sums);
  g_free (part);
}

/* ---- the checksum ---- */

/* Adds a value with all that is in it, but its member `without` (NULL: none), as no other value would be added: layout and order of
 * digits do not count. */
static void
add_to_sum (GChecksum *sum, JsonNode *node, const char *without)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  const char *value = "null";
  if (JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObjectIter iter;
    const char *key;
    JsonNode *member;
    g_checksum_update (sum, (const guchar *)"{", 1);
    for (json_object_iter_init (&iter, json_node_get_object (node)); json_object_iter_next (&iter, &key, &member);)
      if (g_strcmp0 (key, without) != 0) {
        g_checksum_update (sum, (const guchar *)key, (gssize)strlen (key) + 1);
        add_to_sum (sum, member, NULL);
      }
    value = "}";
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    g_checksum_update (sum, (const guchar *)"[", 1);
    for (guint i = 0; i < json_array_get_length (array); i++)
      add_to_sum (sum, json_array_get_element (array, i), NULL);
    value = "]";
  } else if (base_json_text_of (node) != NULL)
    value = base_json_text_of (node);
  else if (JSON_NODE_HOLDS_VALUE (node))
    value = g_ascii_dtostr (text, sizeof text, base_json_number_of (node));
  g_checksum_update (sum, (const guchar *)value, (gssize)strlen (value) + 1);
}

/* SHA-256 of what is done, but for the member that has it, and of the seed. Returned: full. */
static char *
checksum_of (JsonNode *results, guint64 seed)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, seed);
  g_checksum_update (sum, (const guchar *)number, -1);
  add_to_sum (sum, results, CHECKSUM);
  return g_strdup (g_checksum_get_string (sum));
}

static gboolean
is_whole (const CliPart *part, GError **error)
{
  g_autofree char *own = checksum_of (json_object_get_member (part->root, "results"), part->seed);
  return g_strcmp0 (own, base_json_text (part->results, CHECKSUM)) == 0 ||
         base_json_fail (part->json, NULL, NULL, error,
                         "is damaged or was edited: its content does not have the checksum that it names; delete it, and run "
                         "forerun %s again",
                         part->kind->verb);
}

/* ---- reading ---- */

/* Texts of a list, or with `member` of that member of its objects. Returned: full; NULL where it is none. */
static char **
texts_of (JsonObject *object, const char *name, const char *member)
{
  JsonArray *array = base_json_array (object, name);
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  if (array == NULL)
    return NULL;
  for (guint i = 0; i < json_array_get_length (array); i++) {
    const char *text = member != NULL ? base_json_text (base_json_element (array, i), member)
                                      : base_json_text_of (json_array_get_element (array, i));
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
  const BaseJson *json = part->json;
  part->root = base_json_root (json);
  part->results = base_json_object (part->root, "results");
  const char *kind = base_json_text (part->results, "kind");
  part->kind = g_strcmp0 (kind, of_run.kind) == 0 ? &of_run : &of_plan;
  if (g_strcmp0 (kind, part->kind->kind) != 0)
    return base_json_fail (json, NULL, NULL, error,
                           "is not a part of a plan or a run; give a file that forerun plan wrote with --shard or --resume, or "
                           "forerun run with --shard");
  const char *version = base_json_text (part->root, "version");
  if (g_strcmp0 (version, FORERUN_VERSION) != 0)
    return base_json_fail (json, NULL, NULL, error,
                           "was written by forerun %s, and this is %s; all parts need the same version, so run it again",
                           version != NULL ? version : "of no version", FORERUN_VERSION);
  gint64 seed, number, of;
  part->sets = texts_of (part->results, "sets", NULL);
  part->sums = texts_of (part->root, "inputs", "sha256");
  if (part->sets == NULL || part->sums == NULL)
    return base_json_fail (json, NULL, NULL, error, "results.sets or inputs[].sha256 are missing; run 'forerun %s --shard' again",
                           part->kind->verb);
  if (base_json_need_text (json, part->results, part->kind->noun, error) == NULL ||
      !base_json_need_count (json, part->root, "seed", 0, G_MAXINT64, &seed, error) ||
      !base_json_need_count (json, part->results, "of", 1, G_MAXUINT32, &of, error) ||
      !base_json_need_count (json, part->results, "part", 1, of, &number, error))
    return FALSE;
  part->seed = (guint64)seed;
  part->number = (guint)number;
  part->of = (guint)of;
  return is_whole (part, error);
}

CliPart *
cli_part_read (const Cli *cli, const char *path, GError **error)
{
  BaseJsonText text = { .file = path, .limits = LIMITS };
  g_autofree char *bytes = NULL;
  if (!base_file_read (path, text.limits.text_B, &bytes, &text.n_B, error)) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return NULL;
  }
  text.bytes = bytes;
  g_autoptr (CliPart) part = g_new0 (CliPart, 1);
  part->json = base_json_read (&text, error);
  return part->json != NULL && read_root (part, error) ? g_steal_pointer (&part) : NULL;
}

const char *
cli_part_path (const CliPart *part)
{
  return base_json_file (part->json);
}

gboolean
cli_part_is_run (const CliPart *part)
{
  return part->kind == &of_run;
}

const BaseJson *
cli_part_json (const CliPart *part)
{
  return part->json;
}

JsonObject *
cli_part_results (const CliPart *part)
{
  return part->results;
}

const char *
cli_part_word (const CliPart *part)
{
  return base_json_text (part->results, part->kind->noun);
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

/* ---- whether two are of the same plan or scenario ---- */

typedef struct {
  const char *const *sets;
  guint64 seed;
  const char *const *sums;
} Origin;

static gboolean
is_same (const CliPart *part, const Origin *other, const char *its_name, GError **error)
{
  if (!g_strv_equal ((const char *const *)part->sets, other->sets))
    return base_json_fail (part->json, NULL, NULL, error, "is not a part of the same %s as %s: --set differs", part->kind->noun,
                           its_name);
  if (part->seed != other->seed)
    return base_json_fail (part->json, NULL, NULL, error,
                           "is not a part of the same %s as %s: seed %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT,
                           part->kind->noun, its_name, part->seed, other->seed);
  if (g_strv_equal ((const char *const *)part->sums, other->sums))
    return TRUE;
  JsonArray *inputs = json_object_get_array_member (part->root, "inputs");
  guint i = 0;
  while (part->sums[i] != NULL && g_strcmp0 (part->sums[i], other->sums[i]) == 0)
    i++;
  const char *which = part->sums[i] != NULL ? base_json_text (json_array_get_object_element (inputs, i), "path") : NULL;
  return base_json_fail (part->json, NULL, NULL, error, "is not a part of the same %s as %s: %s%s%s", part->kind->noun, its_name,
                         which != NULL ? "'" : "fewer files were read", which != NULL ? which : "",
                         which != NULL ? "' differs" : "");
}

gboolean
cli_part_same (const CliPart *a, const CliPart *b, GError **error)
{
  const Origin other = { (const char *const *)a->sets, a->seed, (const char *const *)a->sums };
  if (a->kind != b->kind)
    return base_json_fail (b->json, NULL, NULL, error, "is a part of a %s, and %s of a %s; merge them by themselves", b->kind->noun,
                           cli_part_path (a), a->kind->noun);
  return is_same (b, &other, cli_part_path (a), error);
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

/* ---- writing ---- */

char *
cli_part_text (const Cli *cli, const char *word, gboolean is_run, void (*build) (const void *done, JsonBuilder *json),
               const void *done)
{
  const Kind *kind = is_run ? &of_run : &of_plan;
  const RepEnvelope envelope = cli_envelope (cli);
  g_autoptr (JsonBuilder) json = json_builder_new ();
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "kind");
  json_builder_add_string_value (json, kind->kind);
  json_builder_set_member_name (json, kind->noun);
  json_builder_add_string_value (json, word);
  json_builder_set_member_name (json, "sets");
  json_builder_begin_array (json);
  for (char **set = cli->sets; set != NULL && *set != NULL; set++)
    json_builder_add_string_value (json, *set);
  json_builder_end_array (json);
  build (done, json);
  json_builder_end_object (json);
  JsonNode *results = json_builder_get_root (json);
  g_autofree char *checksum = checksum_of (results, cli->seed);
  json_object_set_string_member (json_node_get_object (results), CHECKSUM, checksum);
  JsonBuilder *whole = rep_envelope_open (&envelope);
  json_builder_add_value (whole, results);
  return rep_envelope_close (whole, &envelope);
}
