/* Names of constants in words, for labels of plots: "GEMM FP8 efficiency, kernels" for a line of kernels.yaml. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "plot-private.h"

typedef struct {
  const char *key, *words;
} Word;

static const Word words[] = {
  { "share", "efficiency" },
  { "sm_efficiency", "kernel-copy efficiency" },
  { "node", "node price" },
  { "nic", "NIC price" },
  { "transceiver", "transceiver price" },
  { "cable", "cable price" },
  { "storage_server", "storage server price" },
  { "rent", "node rent" },
  { "electricity", "electricity price" },
  { "pue", "power usage effectiveness" },
  { "amortisation", "years of use" },
  { "library", "collective library" },
  { "from_90", "from compute capability 9.0" },
  { "from_100", "from compute capability 10.0" },
  { "nics", "NIC" },
  { "memory", "memory-bound kernel" },
};

/* Written in capitals although they have no digit. */
static const char *const capitals[] = { "gemm", "nccl", "nvls", "ib",  "ndr", "hdr", "xdr", "hgx", "dgx", "ddp",
                                        "gpu",  "pcie", "nic",  "cpu", "sm",  "ll",  "pat", "mi",  NULL };
/* Keys that only group others, or hold their one value. */
static const char *const silent[] = { "value", "constants", "layers", "node", "rows", "workload", "prices", NULL };

/* A key in words: from the table; else with blanks for underscores, and names like B200, LL128 and NCCL in capitals. */
static char *
in_words (const char *key)
{
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (words[i].key, key) == 0)
      return g_strdup (words[i].words);
  g_auto (GStrv) parts = g_strsplit (key, "_", -1);
  for (char **part = parts; *part != NULL; part++)
    if (g_strv_contains (capitals, *part) || (strpbrk (*part, "0123456789") != NULL && g_ascii_isalpha (**part))) {
      char *upper = g_ascii_strup (*part, -1);
      g_free (*part);
      *part = upper;
    }
  return g_strjoinv (" ", parts);
}

static size_t
indent_of (const char *line)
{
  return strspn (line, " -");
}

/* The first key of a line: "fp8" of "    fp8: {share: 85 %}"; of an item of a list its value: "hgx_b200" of "- topology: hgx_b200".
 * Returned: full; NULL: the line has none. */
static char *
head_of (const char *line)
{
  const char *from = line + indent_of (line), *colon = strchr (from, ':');
  if (colon == NULL || *from == '#')
    return NULL;
  const gboolean item = memchr (line, '-', (size_t)(from - line)) != NULL;
  g_autofree char *text = item ? g_strdup (colon + 1) : g_strndup (from, (gsize)(colon - from));
  return g_strdup (g_strstrip (text));
}

/* What stands around a line of a YAML file, the innermost two from the outside in; `key` is the line's own. The file's own name is
 * left out: the label ends with it. */
static void
append_parents (char **lines, guint at, const char *key, const char *file, GString *out)
{
  g_autoptr (GPtrArray) parents = g_ptr_array_new_with_free_func (g_free);
  size_t limit = indent_of (lines[at]) + 1;
  for (guint i = at + 1; i-- > 0 && limit > 0 && parents->len < 2;) {
    const size_t own = indent_of (lines[i]);
    const gboolean item = memchr (lines[i], '-', own) != NULL;
    g_autofree char *head = head_of (lines[i]);
    if (head == NULL || (own >= limit && !(item && own == limit)))
      continue;
    limit = item ? own - 2 : own;
    if (*head != '\0' && strcmp (head, key) != 0 && strcmp (head, file) != 0 && !g_strv_contains (silent, head))
      g_ptr_array_insert (parents, 0, in_words (head));
  }
  for (guint i = 0; i < parents->len; i++)
    g_string_append_printf (out, "%s ", (const char *)parents->pdata[i]);
}

/* "NIC rate" of "--set topology.node.nics.rate: rate". Returned: full. */
static char *
label_of_set (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  const guint n = g_strv_length (parts);
  g_autofree char *key = in_words (n > 0 ? parts[n - 1] : ""), *parent = in_words (n > 1 ? parts[n - 2] : "");
  return g_strdup_printf ("%s%s%s", parent, *parent != '\0' ? " " : "", key);
}

char *
rep_effect_label (const StdEffect *effect, const char *root)
{
  const char *colon = strstr (effect->name, ": ");
  if (colon == NULL)
    return g_strdup (effect->name);
  g_autofree char *file = g_strndup (effect->name, (gsize)(colon - effect->name)),
                  *path = g_path_is_absolute (file) ? g_strdup (file) : g_build_filename (root, file, NULL), *text = NULL,
                  *key = in_words (colon + 2), *base = g_path_get_basename (file);
  if (g_str_has_prefix (file, "--set "))
    return label_of_set (file + strlen ("--set "));
  g_autoptr (GString) parents = g_string_new (NULL);
  const gboolean yaml = g_str_has_suffix (base, ".yaml");
  if (yaml)
    base[strlen (base) - strlen (".yaml")] = '\0';
  gsize n_B;
  if (effect->line > 0 && base_file_read (path, BASE_YAML_MAX_B, &text, &n_B, NULL)) {
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    if (effect->line <= g_strv_length (lines))
      append_parents (lines, effect->line - 1, colon + 2, base, parents);
  }
  if (!yaml)
    return g_strconcat (parents->str, key, NULL);
  g_autofree char *name = in_words (base);
  return parents->len > 0 ? g_strdup_printf ("%s%s, %s", parents->str, key, name) : g_strdup_printf ("%s %s", name, key);
}

const char *
rep_part_words (int part)
{
  static const char *const parts[TRN_PART_N] = {
    [TRN_PART_COMPUTE] = "compute",
    [TRN_PART_EXPOSED_TP] = "tensor-parallel communication",
    [TRN_PART_EXPOSED_DP] = "data-parallel communication",
    [TRN_PART_EXPOSED_PP] = "pipeline communication",
    [TRN_PART_EXPOSED_CP] = "context-parallel communication",
    [TRN_PART_EXPOSED_EP] = "expert-parallel communication",
    [TRN_PART_BUBBLE] = "pipeline bubble",
    [TRN_PART_LAUNCH_GAP] = "kernel launches",
    [TRN_PART_COPY_WAIT] = "copies",
    [TRN_PART_STRAGGLER_WAIT] = "the slowest rank",
    [TRN_PART_OPTIMIZER] = "optimizer",
    [TRN_PART_DATA_STALL] = "input data",
    [TRN_PART_CHECKPOINT] = "checkpoint",
    [TRN_PART_COMMUNICATORS] = "creating communicators",
  };
  return parts[part];
}
