/* Measurements of a folder, by its systems.yaml. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "measured/measured-private.h"

#define SYSTEMS_FILE "systems.yaml"
#define MARGINS_FILE "margins.yaml"
#define MAX_PROBE_B  ((gsize)1 << 30)

CalData *
cal_data_new (void)
{
  CalData *data = g_new0 (CalData, 1);
  data->points = g_array_new (FALSE, FALSE, sizeof (CalMeasured));
  data->choices = g_array_new (FALSE, FALSE, sizeof (CalMeasured));
  data->probes = g_ptr_array_new_with_free_func ((GDestroyNotify)cal_probe_free);
  data->documents = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  data->arena = base_arena_new ();
  return data;
}

void
cal_data_free (CalData *data)
{
  if (data == NULL)
    return;
  g_array_unref (data->points);
  g_array_unref (data->choices);
  g_ptr_array_unref (data->probes);
  g_ptr_array_unref (data->documents);
  base_arena_free (data->arena);
  g_free (data);
}

const char *
cal_data_text (CalData *data, const char *text)
{
  if (text == NULL || *text == '\0')
    return NULL;
  guint n = data->points->len; /* most rows repeat the one before */
  const char *last = n > 0 ? g_array_index (data->points, CalMeasured, n - 1).nccl : NULL;
  return g_strcmp0 (last, text) == 0 ? last : base_arena_strdup (data->arena, text);
}

const CalSystem *
cal_data_system (const CalData *data, guint i)
{
  return BASE_LIST_AT (data->spec.systems, CalSystem, i);
}

int
cal_data_find (const CalData *data, const char *name)
{
  for (guint i = 0; i < data->spec.systems.n; i++)
    if (strcmp (cal_data_system (data, i)->name.v, name) == 0)
      return (int)i;
  return -1;
}

gboolean
cal_names_hold (const BaseStrs *names, const char *name)
{
  for (guint i = 0; i < names->n; i++)
    if (strcmp (names->item[i].v, name) == 0)
      return TRUE;
  return FALSE;
}

gboolean
cal_is_probe (const char *path)
{
  return g_str_has_suffix (path, ".json") || g_str_has_suffix (path, ".json.gz");
}

void
cal_host_warn (const CalHost *host, const BaseDiag *diag)
{
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    host->warn (host->user, base_diag_warning (diag, i));
}

/* ---- documents ---- */

/* Takes the document; leaves point into it. */
static gboolean
read_document (const CalHost *host, BaseYaml *yaml, const BaseSchema *schema, BaseSource source, CalData *data, void *out,
               GError **error)
{
  g_ptr_array_add (data->documents, yaml);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = source };
  base_schema_read (schema, base_yaml_root (yaml), FALSE, &context, out);
  cal_host_warn (host, diag);
  return base_diag_finish (diag, error);
}

static gboolean
read_yaml (const CalHost *host, const char *path, const BaseSchema *schema, BaseSource source, CalData *data, void *out,
           GError **error)
{
  BaseYaml *yaml = base_yaml_load_file (path, error);
  if (yaml == NULL)
    return FALSE;
  gboolean good = read_document (host, yaml, schema, source, data, out, error);
  host->documents (host->user, data->documents);
  return good;
}

gboolean
cal_data_load_margins (const CalHost *host, const char *path, CalData *data, GError **error)
{
  if (path != NULL)
    return read_yaml (host, path, &cal_schema_margins, BASE_SOURCE_ASSUMED, data, &data->margins, error);
  /* the bands are needed all the same: the schema's own */
  BaseYaml *none = base_yaml_load_data ("no margins", "margins: none", strlen ("margins: none"), error);
  gboolean good = none != NULL && read_document (host, none, &cal_schema_margins, BASE_SOURCE_ASSUMED, data, &data->margins, error);
  data->margins.name = (BaseStr){ 0 };
  return good;
}

/* ---- systems ---- */

static gboolean
disable (const char *name, guint32 *algos, guint32 *protos)
{
  const BaseName *algo = base_name_find (mdl_algo_names, name), *proto = base_name_find (mdl_proto_names, name);
  *algos |= algo != NULL && algo->code >= 0 ? 1u << algo->code : 0; /* below 0: auto, best */
  *protos |= proto != NULL && proto->code >= 0 ? 1u << proto->code : 0;
  return (algo != NULL && algo->code >= 0) || (proto != NULL && proto->code >= 0);
}

/* The bits of what was switched off. */
static gboolean
settle_system (CalSystem *system, GError **error)
{
  for (guint i = 0; i < system->disable.n; i++) {
    const BaseStr *word = &system->disable.item[i];
    if (!disable (word->v, &system->disabled_algos, &system->disabled_protos))
      return base_fail_at (error, word->mark, "'%s' is neither an algorithm nor a protocol", word->v);
  }
  return TRUE;
}

static gboolean
check_names (const CalData *data, const BaseStrs *names, GError **error)
{
  for (guint i = 0; i < names->n; i++)
    if (cal_data_find (data, names->item[i].v) < 0)
      return base_fail_at (error, names->item[i].mark, "no system is named '%s'", names->item[i].v);
  return TRUE;
}

static gboolean
check (const CalData *data, GError **error)
{
  for (guint i = 0; i < data->spec.systems.n; i++)
    if (!settle_system (BASE_LIST_AT (data->spec.systems, CalSystem, i), error))
      return FALSE;
  for (guint i = 0; i < data->spec.files.n; i++) {
    const CalMeasuredFile *file = BASE_LIST_AT (data->spec.files, CalMeasuredFile, i);
    if (!check_names (data, &file->systems, error))
      return FALSE;
    for (guint k = 0; k < file->sections.n; k++)
      if (!check_names (data, &BASE_LIST_AT (file->sections, CalPart, k)->systems, error))
        return FALSE;
  }
  return TRUE;
}

/* ---- the folder ---- */

static gboolean
read_file (const CalHost *host, const char *path, const CalMeasuredFile *file, CalData *data, GError **error)
{
  gsize n_B = 0;
  gboolean is_probe = cal_is_probe (path);
  g_autofree char *bytes = host->read (host->user, path, is_probe ? MAX_PROBE_B : BASE_YAML_MAX_B, &n_B, error);
  if (bytes == NULL)
    return FALSE;
  if (!is_probe)
    return cal_data_add_text (path, bytes, n_B, !g_str_has_suffix (path, ".csv"), file, data, error);
  CalProbe *probe = cal_probe_parse (path, bytes, n_B, error);
  if (probe == NULL)
    return FALSE;
  g_ptr_array_add (data->probes, probe);
  return cal_data_add_probe (host, probe, file, data, error);
}

CalData *
cal_data_load (const CalHost *host, const char *folder, const char *margins, GError **error)
{
  g_autoptr (CalData) data = cal_data_new ();
  g_autofree char *systems = g_build_filename (folder, SYSTEMS_FILE, NULL), *beside = g_build_filename (folder, MARGINS_FILE, NULL);
  if (margins == NULL && base_file_is_file (beside))
    margins = beside;
  if (!read_yaml (host, systems, &cal_schema_measurements, BASE_SOURCE_MEASURED, data, &data->spec, error) ||
      !check (data, error) || !cal_data_load_margins (host, margins, data, error))
    return NULL;
  for (guint i = 0; i < data->spec.files.n; i++) {
    const CalMeasuredFile *file = BASE_LIST_AT (data->spec.files, CalMeasuredFile, i);
    g_autofree char *path = g_build_filename (folder, file->path.v, NULL);
    if (!read_file (host, path, file, data, error))
      return NULL;
  }
  return g_steal_pointer (&data);
}
