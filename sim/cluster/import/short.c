#include <string.h>

#include "base/yaml.h"
#include "import/short-private.h"

const char *
clu_import_type_of_name (const char *name)
{
  /* As the driver names them (nvidia-smi -L), without "NVIDIA " and "Tesla ". */
  static const char *const rows[][2] = {
    { "P100-SXM2-16GB", "p100_sxm" },
    { "V100-SXM2-16GB", "v100_sxm2" },
    { "V100-SXM2-32GB", "v100_sxm2" },
    { "V100-SXM3-32GB", "v100_sxm3" },
    { "A100-SXM4-40GB", "a100_40_sxm" },
    { "A100-SXM-40GB", "a100_40_sxm" },
    { "A100-SXM4-80GB", "a100_80_sxm" },
    { "A100-SXM-80GB", "a100_80_sxm" },
    { "A100-PCIE-40GB", "a100_pcie" },
    { "A100 80GB PCIe", "a100_pcie" },
    { "H100 80GB HBM3", "h100_sxm" },
    { "H100 PCIe", "h100_pcie" },
    { "H100 NVL", "h100_nvl" },
    { "H200", "h200_sxm" },
    { "H200 NVL", "h200_nvl" },
    { "H20", "h20" },
    { "H800", "h800_sxm" },
    { "B200", "b200" },
    { "B300 SXM6 AC", "b300" },
    { "GB200", "gb200" },
    { "GB300", "gb300" },
    { "GH200 480GB", "gh200" },
    { "L40S", "l40s" },
    { "RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000" },
  };
  name += g_str_has_prefix (name, "NVIDIA ") ? strlen ("NVIDIA ") : 0;
  name += g_str_has_prefix (name, "Tesla ") ? strlen ("Tesla ") : 0;
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i][0], name) == 0)
      return rows[i][1];
  return NULL;
}

gboolean
clu_import_lines (const CluImport *input, CluImportVisit visit, void *reader, GError **error)
{
  const char *bytes = input->bytes != NULL ? input->bytes : "", *bad = NULL;
  if (!g_utf8_validate_len (bytes, input->n_B, &bad)) {
    unsigned line = 1;
    for (const char *p = bytes; p < bad; p++)
      line += *p == '\n';
    return base_fail_at (error, (BaseMark){ input->path, line, 1 }, "not UTF-8 text (or a NUL byte); text is accepted");
  }
  g_autofree char *copy = g_strndup (bytes, input->n_B);
  unsigned number = 0;
  for (char *at = copy, *next; at != NULL; at = next) {
    next = strchr (at, '\n');
    if (next != NULL)
      *next++ = '\0';
    const size_t blanks = strspn (at, " \t");
    if (!visit (reader, g_strchomp (at + blanks), (BaseMark){ input->path, ++number, (unsigned)blanks + 1 }, error))
      return FALSE;
  }
  return TRUE;
}

const char *
clu_import_after_number (const char *line, const char *prefix, char after, guint32 *number)
{
  if (!g_str_has_prefix (line, prefix) || !g_ascii_isdigit (line[strlen (prefix)]))
    return NULL;
  char *end;
  const guint64 value = g_ascii_strtoull (line + strlen (prefix), &end, 10);
  if (*end != after || value > G_MAXUINT32)
    return NULL;
  *number = (guint32)value;
  return end + 1 + strspn (end + 1, " \t");
}

static void
put_count (GString *out, const char *key, guint32 count, const char *tool)
{
  if (count > 0)
    g_string_append_printf (out, ", %s: {value: %u, source: measured, note: \"%s\"}", key, count, tool);
}

char *
clu_import_write_short (const CluImport *input, const CluImportParts *parts, GError **error)
{
  const char *gpu = input->gpu_type != NULL ? input->gpu_type : parts->gpu;
  const BaseMark mark = { input->path, 1, 1 };
  if (gpu == NULL && parts->gpu_name != NULL) {
    base_fail_at (error, mark, "no GPU type is shipped for '%.60s'; give one that is like it (--gpu h100_sxm)", parts->gpu_name);
    return NULL;
  }
  if (gpu == NULL) {
    base_fail_at (error, mark, "%s does not say which GPUs the node has; give the type (--gpu h100_sxm)", parts->tool);
    return NULL;
  }
  const guint32 lanes = clu_import_type_lanes (input->lookup, gpu);
  if (input->lookup != NULL) {
    g_autofree char *path = base_lookup_find (input->lookup, gpu, "topologies/gpus", NULL, error);
    if (path == NULL)
      return NULL;
  }
  g_autofree char *name = base_yaml_quote (input->name), *type = base_yaml_quote (gpu);
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "# From %s; what it does not say is as in the shipped node of %s.\ntopology: %s\nnodes: 1\n",
                          parts->tool, gpu, name);
  g_string_append_printf (out, "gpus: {type: %s", type);
  put_count (out, "count", parts->n_gpus, parts->tool);
  g_string_append (out, "}\n");
  if (parts->nic != NULL) {
    g_string_append_printf (out, "nics: {type: %s", parts->nic);
    put_count (out, "count", parts->n_nics, parts->tool);
    g_string_append (out, "}\n");
  }
  const gboolean broken = parts->lanes_used > 0 && parts->lanes_used < lanes;
  const gboolean unlinked = parts->no_lanes && lanes > 0;
  if (parts->n_sockets > 0 || broken || unlinked)
    g_string_append (out, "node:\n");
  if (unlinked)
    g_string_append (out, "  nvlink: none\n");
  if (broken)
    g_string_append_printf (out, "  nvlink: {lanes_used: {value: %u, source: measured, note: \"%s\"}}\n", parts->lanes_used,
                            parts->tool);
  if (parts->n_sockets > 0) {
    g_string_append_printf (out, "  sockets: {count: {value: %u, source: measured, note: \"%s\"}", parts->n_sockets, parts->tool);
    if (parts->memory_MiB > 0)
      g_string_append_printf (out, ", memory_capacity: {value: %" G_GUINT64_FORMAT " MiB, source: measured, note: \"%s\"}",
                              parts->memory_MiB / parts->n_sockets, parts->tool);
    g_string_append (out, "}\n");
  }
  return g_string_free (out, FALSE);
}
