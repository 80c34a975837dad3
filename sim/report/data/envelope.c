#include "report/envelope.h"

#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/yaml.h"
#include "json-private.h"

static void
input_free (gpointer data)
{
  RepInput *input = data;
  g_free (input->path);
  g_free (input->sha256);
  g_free (input);
}

static const char *
below_root (const char *path, const char *root)
{
  size_t n = root != NULL ? strlen (root) : 0;
  while (n > 0 && root[n - 1] == '/')
    n--;
  return n > 0 && strncmp (path, root, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

GPtrArray *
rep_inputs_new (void)
{
  return g_ptr_array_new_with_free_func (input_free);
}

static gboolean
input_equal (gconstpointer a, gconstpointer b)
{
  const RepInput *x = a, *y = b;
  return strcmp (x->path, y->path) == 0 && strcmp (x->sha256, y->sha256) == 0;
}

/* Takes path and sum. */
static void
add_once (GPtrArray *inputs, char *path, char *sha256)
{
  RepInput *input = g_new (RepInput, 1);
  *input = (RepInput){ path, sha256 };
  if (g_ptr_array_find_with_equal_func (inputs, input, input_equal, NULL))
    input_free (input);
  else
    g_ptr_array_add (inputs, input);
}

void
rep_inputs_add_yamls (GPtrArray *inputs, const GPtrArray *yamls, const char *root)
{
  for (guint i = 0; i < yamls->len; i++) {
    const BaseYaml *yaml = g_ptr_array_index (yamls, i);
    add_once (inputs, g_strdup (below_root (base_yaml_path (yaml), root)), g_strdup (base_yaml_sha256 (yaml)));
  }
}

void
rep_inputs_add (GPtrArray *inputs, const char *path, const char *root, const char *bytes, gsize n_B)
{
  add_once (inputs, g_strdup (below_root (path, root)),
            g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)bytes, n_B));
}

void
rep_inputs_merge (GPtrArray *inputs, const GPtrArray *more)
{
  for (guint i = 0; i < more->len; i++) {
    const RepInput *input = more->pdata[i];
    add_once (inputs, g_strdup (input->path), g_strdup (input->sha256));
  }
}

JsonBuilder *
rep_envelope_open (const RepEnvelope *envelope)
{
  JsonBuilder *json = json_builder_new ();
  json_builder_begin_object (json);
  rep_json_text (json, "schema", "forerun/1");
  rep_json_text (json, "version", envelope->version);
  json_builder_set_member_name (json, "command");
  json_builder_begin_array (json);
  for (const char *const *word = envelope->command; *word != NULL; word++) {
    g_autofree char *valid = g_utf8_make_valid (*word, -1);
    json_builder_add_string_value (json, valid);
  }
  json_builder_end_array (json);
  rep_json_integer (json, "seed", (gint64)envelope->seed);
  json_builder_set_member_name (json, "inputs");
  json_builder_begin_array (json);
  for (guint i = 0; envelope->inputs != NULL && i < envelope->inputs->len; i++) {
    const RepInput *input = g_ptr_array_index (envelope->inputs, i);
    json_builder_begin_object (json);
    rep_json_text (json, "path", input->path);
    rep_json_text (json, "sha256", input->sha256);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "results");
  return json;
}

char *
rep_envelope_close (JsonBuilder *json, const RepEnvelope *envelope)
{
  json_builder_set_member_name (json, "warnings");
  json_builder_begin_array (json);
  for (guint i = 0; envelope->warnings != NULL && i < envelope->warnings->len; i++) {
    g_autofree char *valid = g_utf8_make_valid (g_ptr_array_index (envelope->warnings, i), -1);
    json_builder_add_string_value (json, valid);
  }
  json_builder_end_array (json);
  json_builder_end_object (json);
  char *text = base_json_print (json);
  g_object_unref (json);
  return text;
}

void
rep_header_title (GString *out, const RepEnvelope *envelope, const char *what)
{
  g_string_append_printf (out, "# forerun %s, %s, seed %" G_GUINT64_FORMAT "\n", envelope->version, what, envelope->seed);
}

void
rep_count_sources (const Clu *clu, unsigned *n)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (int s = 0; s < BASE_SOURCE_N; s++)
    n[s] = 0;
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    /* The set only tells which classes were counted: sums do not depend on its order. */
    if (!g_hash_table_add (seen, (gpointer)(gsize)link.link_class))
      continue;
    const BaseNum *leaves[] = { &link.link_class->lane_rate, &link.link_class->efficiency, &link.link_class->sm_efficiency,
                                &link.link_class->latency, &link.link_class->duplex };
    for (size_t i = 0; i < G_N_ELEMENTS (leaves); i++)
      if (leaves[i]->set)
        n[leaves[i]->source]++;
  }
}

/* "h100_sxm", or all types in the order of their nodes. Returned: full; NULL where the topology names none. */
static char *
gpu_types (const Clu *clu)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (guint32 node = 0; node < clu_n_nodes (clu); node++) {
    const CluGpuSpec *gpu = clu_gpu_spec (clu, node);
    if (gpu != NULL && gpu->name.v != NULL)
      base_add_once (names, gpu->name.v);
  }
  if (names->len == 0)
    return NULL;
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **)names->pdata);
}

void
rep_header_cluster (GString *out, const Clu *clu)
{
  unsigned n[BASE_SOURCE_N];
  rep_count_sources (clu, n);
  g_autofree char *types = gpu_types (clu);
  g_string_append_printf (out, "# topology %s: %u node%s, %u GPU%s", clu_name (clu), clu_n_nodes (clu),
                          clu_n_nodes (clu) == 1 ? "" : "s", clu_n_gpus (clu), clu_n_gpus (clu) == 1 ? "" : "s");
  if (types != NULL)
    g_string_append_printf (out, " (%s)", types);
  guint all = 0;
  for (int s = 0; s < BASE_SOURCE_N; s++)
    all += n[s];
  g_string_append_printf (out, "; %u of %u link constants assumed\n", n[BASE_SOURCE_ASSUMED], all);
}

void
rep_header_settings (GString *out, const ColSettings *settings, const char *calibration)
{
  g_string_append_printf (out, "# library: %s",
                          settings->library != NULL ? mdl_library_name (settings->library)
                                                    : "plain (latency and rate of the links alone)");
  if (settings->library != NULL) {
    if (mdl_library_version (settings->library) != NULL)
      g_string_append_printf (out, " %s", mdl_library_version (settings->library));
    if (calibration != NULL)
      g_string_append_printf (out, ", calibration %s", calibration);
    g_string_append_printf (out, ", launch %s", base_name (mdl_launch_names, (int)settings->launch));
  }
  g_string_append_printf (out, ", mode %s", base_name (col_mode_names, (int)settings->mode));
  if (settings->mode == COL_MODE_EVENT)
    g_string_append_printf (out, ", steps %s", base_name (col_steps_names, (int)settings->steps));
  g_string_append_c (out, '\n');
}
