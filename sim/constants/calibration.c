/* Calibration files: the shipped constants of a vendor's library, and over them what was measured on one kind of hardware. */
#include "constants/calibration.h"

#include <string.h>

#include "base/rows.h"
#include "constants/tuner.h"
#include "models/tuner_region.h"

#define DEFAULTS_FOLDER "calibrate/defaults"
#define GPUS_FOLDER     "topologies/gpus"
#define MAX_DEPTH       8u  /* calibrations that stand over one another */
#define MAX_SECTIONS    12u /* beside the library */

struct Cst {
  BaseArena *arena;
  GPtrArray *documents; /* of BaseYaml: kept here when the caller wants none of them */
  MdlLibrary library;
  void *section[MAX_SECTIONS]; /* structs, by cst_sections */
  CstTuner *tuner;             /* NCCL's; NULL with other libraries */
  const char *name;
  const char *version;  /* of NCCL, as the calibration names it; NULL: none does */
  gboolean has_library; /* a calibration holds constants of the library; FALSE: none, or of other sections alone */
};

/* calibrate/defaults/library.yaml */
typedef struct {
  BaseHead head;
  BaseStr summary;
  const BaseYamlNode *library[5]; /* nccl, rccl, hccl, nccom, xla */
} Defaults;
enum { NCCL, RCCL, HCCL, NCCOM, XLA };

static SCHEMA (defaults_schema, "library defaults", "Constants by vendor.", ROW (Defaults, summary, STR, "what the file holds"),
               ROW_AS (Defaults, "nccl", library[NCCL], NODE, "NVIDIA", .required = TRUE),
               ROW_AS (Defaults, "rccl", library[RCCL], NODE, "AMD, what differs from nccl"),
               ROW_AS (Defaults, "hccl", library[HCCL], NODE, "Intel, what differs from nccl"),
               ROW_AS (Defaults, "nccom", library[NCCOM], NODE, "AWS, what differs from nccl"),
               ROW_AS (Defaults, "xla", library[XLA], NODE, "Google, what differs from nccl"));

/* A calibration file. */
typedef struct {
  BaseHead head;
  BaseStr name, summary, over, nccl;
  BaseEnum source;
  const BaseYamlNode *library, *section[MAX_SECTIONS];
} File;

/* What follows them: the library, the sections. */
static const BaseField file_fields[] = {
  BASE_ROW (File, "calibration", name, STR, .help = "its name", .required = TRUE),
  BASE_ROW (File, "summary", summary, STR, .help = "what was measured, where"),
  BASE_ROW (File, "over", over, STR, .help = "calibration whose constants hold where this one has none"),
  BASE_ROW (File, "nccl", nccl, STR,
            .help = "version of NCCL that was measured, whose choice is taken unless another is asked for"),
  BASE_ROW (File, "source", source, ENUM, .help = "of all numbers that do not say otherwise", .names = base_source_names,
            .fallback = "assumed"),
  BASE_ROW (File, "library", library, NODE, .help = "of the communication library, as in library.yaml"),
};

/* Returned: rows of a file, with those of the sections; full, g_free. */
static BaseField *
list_fields (void)
{
  enum { N = G_N_ELEMENTS (file_fields) };
  BaseField *fields = g_new0 (BaseField, N + MAX_SECTIONS + 1);
  memcpy (fields, file_fields, sizeof file_fields);
  for (guint s = 0; cst_sections[s] != NULL; s++) {
    g_assert (s < MAX_SECTIONS);
    fields[N + s] = (BaseField){ .key = cst_sections[s]->name,
                                 .kind = BASE_FIELD_NODE,
                                 .offset = offsetof (File, section) + s * sizeof (const BaseYamlNode *),
                                 .help = cst_sections[s]->schema->help };
  }
  return fields;
}

/* What a load passes down. */
typedef struct {
  Cst *cal;
  const BaseLookup *lookup;
  GPtrArray *inputs;  /* may be NULL */
  BaseDiag *warnings; /* may be NULL */
} Load;

/* Returned: borrowed from the calibration. */
static BaseYaml *
load_document (const Load *load, const char *path, GError **error)
{
  BaseYaml *yaml = base_yaml_load_file (path, error);
  if (yaml != NULL)
    g_ptr_array_add (load->cal->documents, yaml);
  if (yaml != NULL && load->inputs != NULL)
    g_ptr_array_add (load->inputs, base_yaml_ref (yaml));
  return yaml;
}

static gboolean
read_map (const Load *load, const BaseSchema *schema, const BaseYamlNode *node, gboolean overlay, BaseSource source, void *out,
          GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  guint known = load->cal->documents->len;
  const BaseSchemaContext context = {
    .arena = load->cal->arena, .diag = diag, .lookup = load->lookup, .source = source, .inputs = load->cal->documents
  };
  base_schema_read (schema, node, overlay, &context, out);
  for (guint i = known; load->inputs != NULL && i < load->cal->documents->len; i++)
    g_ptr_array_add (load->inputs, base_yaml_ref (load->cal->documents->pdata[i]));
  for (unsigned i = 0; load->warnings != NULL && i < base_diag_n_warnings (diag); i++)
    base_diag_warn (load->warnings, BASE_MARK_NONE, "%s", base_diag_warning (diag, i));
  return base_diag_finish (diag, error);
}

/* The library of the vendor that the GPU's file names; NCCL where it names none that has one of its own. */
static gboolean
vendor_of (const Load *load, const char *gpu_type, unsigned *out, GError **error)
{
  static const struct {
    const char *vendor;
    unsigned library;
  } known[] = { { "amd", RCCL }, { "intel", HCCL }, { "aws", NCCOM }, { "google", XLA } };
  *out = NCCL;
  g_autofree char *path = gpu_type != NULL ? base_lookup_find (load->lookup, gpu_type, GPUS_FOLDER, NULL, NULL) : NULL;
  if (path == NULL)
    return TRUE; /* a GPU described in place */
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, error);
  if (yaml == NULL)
    return FALSE;
  const BaseYamlNode *node = base_yaml_get (base_yaml_root (yaml), "vendor");
  const char *vendor = node != NULL ? base_yaml_text (node) : NULL;
  for (unsigned i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_strcmp0 (vendor, known[i].vendor) == 0)
      *out = known[i].library;
  return TRUE;
}

static void
check_region (const MdlTunerRegion *region, BaseDiag *diag)
{
  if (region->bytes.n != region->ranks.n || region->bytes.n < 3)
    base_diag_error (diag, region->ranks.mark, "%u sizes and %u ranks; accepted: as many of each, three at least", region->bytes.n,
                     region->ranks.n);
  if (region->op.v < 0 || region->op.v >= MDL_TUNER_OPS || region->algo.v < 0 || region->algo.v >= MDL_TUNER_ALGOS ||
      region->proto.v < 0)
    base_diag_error (diag, region->op.mark, "a region is of an operation, an algorithm and a protocol that NCCL tunes");
}

static void
settle_tuner (BaseRef *ref, const char *version, BaseDiag *diag)
{
  const MdlTunerRegions *tuner = ref->value;
  if (tuner == NULL)
    return;
  for (unsigned k = 0; k < tuner->regions.n; k++)
    check_region (BASE_LIST_AT (tuner->regions, MdlTunerRegion, k), diag);
  if (cst_tuner_is_before (version, &tuner->from, diag))
    ref->value = NULL;
}

/* Rows of plugins that are of other versions than the one asked for, and their tuners that this version of NCCL does not ask yet,
 * are dropped. */
static gboolean
settle_plugins (MdlLibrary *library, const char *asked, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  for (unsigned i = 0; i < library->plugins.n; i++) {
    MdlPlugin *plugin = BASE_LIST_AT (library->plugins, MdlPlugin, i);
    const gboolean newer = plugin->from.v != NULL && cst_tuner_is_before (asked, &plugin->from, diag);
    const gboolean older = plugin->before.v == NULL || (cst_tuner_is_before (asked, &plugin->before, diag) && asked != NULL);
    plugin->off.v = newer || !older;
    settle_tuner (&plugin->tuner, library->version, diag);
    settle_tuner (&plugin->tuner_from_103, library->version, diag);
  }
  return base_diag_finish (diag, error);
}

/* Pieces of NVLSTree that later versions than `library`'s set. */
static gboolean
settle_pieces (MdlLibrary *library, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  for (unsigned i = 0; i < library->nvls_tree.pieces.n; i++) {
    MdlNvlsTreePiece *row = BASE_LIST_AT (library->nvls_tree.pieces, MdlNvlsTreePiece, i);
    row->off.v = row->from.v != NULL && cst_tuner_is_before (library->version, &row->from, diag);
  }
  return base_diag_finish (diag, error);
}

/* NCCL's choice and what else depends on its version: the one asked for, else that of the calibration, else the newest known. */
static gboolean
load_tuner (const Load *load, const CstQuery *query, GError **error)
{
  MdlLibrary *library = &load->cal->library;
  CstTuner *tuner = NULL;
  if (query->nccl != NULL)
    tuner = cst_tuner_load (query->nccl, query->lookup, query->inputs, query->warnings, query->nccl_if_known ? NULL : error);
  if (tuner == NULL && (query->nccl == NULL || query->nccl_if_known))
    tuner = cst_tuner_load (load->cal->version, query->lookup, query->inputs, query->warnings, error);
  load->cal->tuner = tuner;
  if (tuner == NULL)
    return FALSE;
  library->tuner = cst_tuner_spec (tuner);
  library->version = cst_tuner_version (tuner);
  if (library->tuner->cell.set)
    library->channels.cell = library->tuner->cell;
  library->pairwise.ll_in_use = library->tuner->ll_in_use;
  library->ring.gather_late = library->tuner->gather_late;
  if (library->tuner->peer_rate.v > 0.0)
    library->pairwise.peer_rate = library->tuner->peer_rate;
  if (library->tuner->peer_share.set) {
    library->pairwise.net_share = library->tuner->peer_share;
    library->pairwise.net_share.set = library->tuner->peer_share.v > 0.0;
  }
  return settle_plugins (library, query->nccl, error) && settle_pieces (library, error);
}

static gboolean
load_defaults (const Load *load, unsigned vendor, GError **error)
{
  g_autofree char *path = base_lookup_find (load->lookup, "library", DEFAULTS_FOLDER, NULL, error);
  BaseYaml *yaml = path != NULL ? load_document (load, path, error) : NULL;
  if (yaml == NULL)
    return FALSE;
  Defaults defaults = { 0 };
  if (!read_map (load, &defaults_schema, base_yaml_root (yaml), FALSE, BASE_SOURCE_ASSUMED, &defaults, error))
    return FALSE;
  if (!read_map (load, &cst_library_schema, defaults.library[NCCL], FALSE, BASE_SOURCE_ASSUMED, &load->cal->library, error))
    return FALSE;
  return vendor == NCCL || defaults.library[vendor] == NULL ||
         read_map (load, &cst_library_schema, defaults.library[vendor], TRUE, BASE_SOURCE_ASSUMED, &load->cal->library, error);
}

/* Lays a section of a file over what is loaded. */
static gboolean
lay_section (const Load *load, guint s, const BaseYamlNode *node, BaseSource source, GError **error)
{
  const CstSection *section = cst_sections[s];
  g_autofree void *before = g_memdup2 (load->cal->section[s], section->size);
  if (!read_map (load, section->schema, node, TRUE, source, load->cal->section[s], error))
    return FALSE;
  if (section->merge != NULL)
    section->merge (load->cal->section[s], before, load->cal->arena);
  return TRUE;
}

/* Lays the calibration `name` over what is loaded, after the one that it stands over. */
static gboolean
load_over (const Load *load, const char *name, const char *from, unsigned depth, GError **error)
{
  g_autofree char *path = base_lookup_find (load->lookup, name, DEFAULTS_FOLDER, from, error);
  BaseYaml *yaml = path != NULL ? load_document (load, path, error) : NULL;
  if (yaml == NULL)
    return FALSE;
  File file = { 0 };
  g_autofree BaseField *fields = list_fields ();
  const BaseSchema schema = { .name = "calibration file", .help = "Measured constants.", .fields = fields };
  if (!read_map (load, &schema, base_yaml_root (yaml), FALSE, BASE_SOURCE_ASSUMED, &file, error))
    return FALSE;
  if (file.over.set) {
    if (depth >= MAX_DEPTH)
      return base_fail_at (error, file.over.mark, "%u calibrations stand over one another; they must not form a circle",
                           MAX_DEPTH + 1);
    if (!load_over (load, file.over.v, path, depth + 1, error))
      return FALSE;
  }
  load->cal->name = file.name.v;
  load->cal->has_library |= file.library != NULL;
  if (file.nccl.set)
    load->cal->version = file.nccl.v;
  BaseSource source = (BaseSource)file.source.v;
  gboolean any = file.library != NULL || file.over.set; /* a fit that confirms what it stands over changes nothing */
  for (guint s = 0; cst_sections[s] != NULL; s++)
    any = any || file.section[s] != NULL;
  if (!any)
    return base_fail_at (error, base_yaml_mark (base_yaml_root (yaml)), "neither 'library' nor another section holds a constant");
  for (guint s = 0; cst_sections[s] != NULL; s++)
    if (file.section[s] != NULL && !lay_section (load, s, file.section[s], source, error))
      return FALSE;
  return file.library == NULL || read_map (load, &cst_library_schema, file.library, TRUE, source, &load->cal->library, error);
}

/* What holds where no calibration says otherwise; the library points to it. */
static gboolean
load_sections (const Load *load, GError **error)
{
  for (guint s = 0; cst_sections[s] != NULL; s++) {
    const CstSection *section = cst_sections[s];
    load->cal->section[s] = base_arena_alloc (load->cal->arena, section->size);
    memset (load->cal->section[s], 0, section->size);
    g_autofree char *path = base_lookup_find (load->lookup, section->name, DEFAULTS_FOLDER, NULL, error);
    BaseYaml *yaml = path != NULL ? load_document (load, path, error) : NULL;
    const BaseYamlNode *node = yaml != NULL ? base_yaml_get (base_yaml_root (yaml), section->name) : NULL;
    if (yaml == NULL)
      return FALSE;
    if (node == NULL) {
      base_fail (error, BASE_ERROR_INPUT, "%s: no key '%s'", path, section->name);
      return FALSE;
    }
    if (!read_map (load, section->schema, node, FALSE, BASE_SOURCE_ASSUMED, load->cal->section[s], error))
      return FALSE;
    memcpy ((char *)&load->cal->library + section->member, &load->cal->section[s], sizeof load->cal->section[s]);
  }
  return TRUE;
}

static gboolean
is_shipped (const BaseLookup *lookup, const char *gpu_type)
{
  g_auto (GStrv) names = base_lookup_list (lookup, DEFAULTS_FOLDER);
  return gpu_type != NULL && g_strv_contains ((const char *const *)names, gpu_type);
}

Cst *
cst_load (const CstQuery *query, GError **error)
{
  g_return_val_if_fail (query->lookup != NULL, NULL);
  g_autoptr (Cst) cal = g_new0 (Cst, 1);
  cal->arena = base_arena_new ();
  cal->documents = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  cal->name = "none";
  const Load load = { cal, query->lookup, query->inputs, query->warnings };
  unsigned vendor;
  if (!vendor_of (&load, query->gpu_type, &vendor, error) || !load_defaults (&load, vendor, error) || !load_sections (&load, error))
    return NULL;
  gboolean over = query->name != NULL || is_shipped (query->lookup, query->gpu_type);
  if (over &&
      !load_over (&load, query->name != NULL ? query->name : query->gpu_type, query->name != NULL ? query->from : NULL, 0, error))
    return NULL;
  if (query->name == NULL && !cal->has_library && query->warnings != NULL)
    base_diag_warn (query->warnings, BASE_MARK_NONE, "no calibration for '%s': constants of %s are assumed, the error band is wide",
                    query->gpu_type != NULL ? query->gpu_type : "this GPU",
                    cal->library.name.v != NULL ? cal->library.name.v : "the library");
  if (vendor == NCCL && !load_tuner (&load, query, error))
    return NULL;
  if (vendor != NCCL && query->nccl != NULL && !query->nccl_if_known) {
    base_fail (error, BASE_ERROR_INPUT, "a version of NCCL is asked for, but the library here is %s", cal->library.name.v);
    return NULL;
  }
  return g_steal_pointer (&cal);
}

void
cst_free (Cst *cal)
{
  if (cal == NULL)
    return;
  g_clear_pointer (&cal->tuner, cst_tuner_free);
  g_ptr_array_unref (cal->documents);
  base_arena_free (cal->arena);
  g_free (cal);
}

const MdlLibrary *
cst_library (const Cst *cal)
{
  return &cal->library;
}

const char *
cst_name (const Cst *cal)
{
  return cal->name;
}

const void *
cst_section (const Cst *cal, const CstSection *section)
{
  for (guint s = 0; cst_sections[s] != NULL; s++)
    if (cst_sections[s] == section)
      return cal->section[s];
  return NULL;
}
