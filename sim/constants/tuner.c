/* Constants of NCCL's tuner: those of the first version, and over them, in order, what each later one changed. */
#include "constants/tuner.h"

#include <string.h>

#include "base/rows.h"
#include "tuner_schema-private.h"

#define DEFAULTS_FOLDER "calibrate/defaults"
#define FILE_NAME       "nccl_tuner"
#define LATEST_PATCH    99u /* "2.28" stands for the last release of the series */

struct CstTuner {
  BaseArena *arena;
  BaseYaml *yaml;
  MdlTunerSpec spec;
  char *version;
};

typedef struct {
  BaseHead head;
  BaseStr summary, first, newest;
  const BaseYamlNode *constants;
  BaseList changes;
} File;

typedef struct {
  BaseHead head;
  BaseStr from, what;
  const BaseYamlNode *constants;
} Change;

static SCHEMA (change_schema, "change of a version", "A release of NCCL.",
               ROW (Change, from, STR, "first version that has it", .required = TRUE),
               ROW (Change, what, STR, "in words", .required = TRUE),
               ROW (Change, constants, NODE, "what differs from the version before", .required = TRUE));

static SCHEMA (file_schema, "constants of NCCL's tuner", "By version.", ROW (File, summary, STR, "what the file holds"),
               ROW (File, first, STR, "oldest version known", .required = TRUE),
               ROW (File, newest, STR, "newest version known", .required = TRUE),
               ROW (File, constants, NODE, "all constants, of the oldest version", .required = TRUE),
               LIST (File, changes, &change_schema, Change, "ascending versions"));

/* Reads a number and moves past it. */
static gboolean
read_part (const char **at, unsigned *out)
{
  if (!g_ascii_isdigit (**at))
    return FALSE;
  unsigned n = 0;
  for (unsigned digits = 0; g_ascii_isdigit (**at); (*at)++, digits++) {
    if (digits == 4)
      return FALSE;
    n = 10u * n + (unsigned)(**at - '0');
  }
  *out = n;
  return TRUE;
}

/* "2.28" or "2.28.9" to a number that orders versions. */
static gboolean
read_version (const char *text, guint64 *out)
{
  unsigned major, minor, patch = LATEST_PATCH;
  if (!read_part (&text, &major) || *text++ != '.' || !read_part (&text, &minor))
    return FALSE;
  if (*text == '.' && (text++, !read_part (&text, &patch)))
    return FALSE;
  if (*text != '\0')
    return FALSE;
  *out = ((guint64)major * 10000u + minor) * 10000u + patch;
  return TRUE;
}

static guint64
version_at (const BaseStr *text, BaseDiag *diag)
{
  guint64 version = 0;
  if (text->v != NULL && !read_version (text->v, &version))
    base_diag_error (diag, text->mark, "'%s' is no version of NCCL; accepted: as '2.28' or '2.28.9'", text->v);
  return version;
}

/* Over the constants of the first version those of each change up to `wanted`. */
static void
take_constants (const File *file, guint64 wanted, const BaseSchemaContext *context, MdlTunerSpec *spec)
{
  base_schema_read (&cst_tuner_schema, file->constants, FALSE, context, spec);
  guint64 before = version_at (&file->first, context->diag);
  for (unsigned i = 0; i < file->changes.n; i++) {
    const Change *change = BASE_LIST_AT (file->changes, Change, i);
    guint64 from = version_at (&change->from, context->diag);
    if (from <= before)
      base_diag_error (context->diag, change->from.mark,
                       "version %s does not come after the one before; accepted: ascending versions", change->from.v);
    before = from;
    if (from <= wanted)
      base_schema_read (&cst_tuner_schema, change->constants, TRUE, context, spec);
  }
}

static gboolean
pick_version (const File *file, const char *version, BaseDiag *warnings, BaseDiag *diag, guint64 *out, GError **error)
{
  guint64 first = version_at (&file->first, diag), newest = version_at (&file->newest, diag);
  if (!base_diag_finish (diag, error))
    return FALSE;
  guint64 wanted = newest;
  if (version != NULL && !read_version (version, &wanted)) {
    base_fail (error, BASE_ERROR_INPUT, "'%s' is no version of NCCL; accepted: %s to %s, as '2.28' or '2.28.9'", version,
               file->first.v, file->newest.v);
    return FALSE;
  }
  if (wanted < first) {
    base_fail (error, BASE_ERROR_INPUT, "how NCCL %s chooses is not known; accepted: %s to %s", version, file->first.v,
               file->newest.v);
    return FALSE;
  }
  guint64 series = newest / 10000u * 10000u + LATEST_PATCH;
  if (wanted > series && warnings != NULL)
    base_diag_warn (warnings, BASE_MARK_NONE, "how NCCL %s chooses is not known: taken as in %s", version, file->newest.v);
  *out = wanted;
  return TRUE;
}

static gboolean
load (CstTuner *tuner, const char *version, const BaseLookup *lookup, BaseDiag *warnings, GError **error)
{
  g_autofree char *path = base_lookup_find (lookup, FILE_NAME, DEFAULTS_FOLDER, NULL, error);
  tuner->yaml = path != NULL ? base_yaml_load_file (path, error) : NULL;
  if (tuner->yaml == NULL)
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = tuner->arena, .diag = diag, .lookup = lookup, .source = BASE_SOURCE_DATASHEET };
  File file = { 0 };
  base_schema_read (&file_schema, base_yaml_root (tuner->yaml), FALSE, &context, &file);
  guint64 wanted;
  if (!base_diag_finish (diag, error) || !pick_version (&file, version, warnings, diag, &wanted, error))
    return FALSE;
  take_constants (&file, wanted, &context, &tuner->spec);
  if (base_diag_n_errors (diag) == 0)
    cst_tuner_check (&tuner->spec, diag);
  if (!base_diag_finish (diag, error))
    return FALSE;
  tuner->version = g_strdup (version != NULL ? version : file.newest.v);
  return TRUE;
}

CstTuner *
cst_tuner_load (const char *version, const BaseLookup *lookup, GPtrArray *inputs, BaseDiag *warnings, GError **error)
{
  g_return_val_if_fail (lookup != NULL, NULL);
  g_autoptr (CstTuner) tuner = g_new0 (CstTuner, 1);
  tuner->arena = base_arena_new ();
  if (!load (tuner, version, lookup, warnings, error))
    return NULL;
  if (inputs != NULL)
    g_ptr_array_add (inputs, base_yaml_ref (tuner->yaml));
  return g_steal_pointer (&tuner);
}

void
cst_tuner_free (CstTuner *tuner)
{
  if (tuner == NULL)
    return;
  if (tuner->yaml != NULL)
    base_yaml_free (tuner->yaml);
  base_arena_free (tuner->arena);
  g_free (tuner->version);
  g_free (tuner);
}

const MdlTunerSpec *
cst_tuner_spec (const CstTuner *tuner)
{
  return &tuner->spec;
}

const char *
cst_tuner_version (const CstTuner *tuner)
{
  return tuner->version;
}

gboolean
cst_tuner_is_before (const char *version, const BaseStr *first, BaseDiag *diag)
{
  guint64 from = version_at (first, diag), here;
  return version == NULL || !read_version (version, &here) || here < from;
}
