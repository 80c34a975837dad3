/* Names of constants in words, for labels of plots: "efficiency, GEMM fp8, kernels" for a line of kernels.yaml. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "plot-private.h"

typedef struct {
  const char *key, *words;
} Word;

static const Word words[] = {
  { "share", "efficiency" },
  { "sm_efficiency", "efficiency of kernel copies" },
  { "lane_rate", "lane rate" },
  { "node", "price of a node" },
  { "nic", "price of a NIC" },
  { "transceiver", "price of a transceiver" },
  { "cable", "price of a cable" },
  { "price", "price" },
  { "storage_server", "price of a storage server" },
  { "rent", "rent of a node" },
  { "electricity", "electricity price" },
  { "pue", "power usage effectiveness" },
  { "amortisation", "years of use" },
  { "many_nodes_piece", "far piece" },
  { "gemm", "GEMM" },
  { "nccl_tuner", "NCCL tuner" },
  { "library", "collective library" },
};

/* A key in words; without an entry its underscores become blanks, and a name with a number is in capitals: "B200". */
static char *
in_words (const char *key)
{
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (words[i].key, key) == 0)
      return g_strdup (words[i].words);
  const char *digit = strpbrk (key, "0123456789");
  const gboolean device = (digit != NULL && digit - key <= 6) || g_str_has_prefix (key, "ib_");
  char *text = device ? g_ascii_strup (key, -1) : g_strdup (key);
  return g_strdelimit (text, "_", ' ');
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

/* What stands around a line of a YAML file, the innermost two from the outside in; `key` is the line's own. */
static void
append_parents (char **lines, guint at, const char *key, GString *out)
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
    if (*head != '\0' && strcmp (head, key) != 0)
      g_ptr_array_insert (parents, 0, in_words (head));
  }
  for (guint i = 0; i < parents->len; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? " " : "", (const char *)parents->pdata[i]);
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
  GString *label = g_string_new (key);
  g_autoptr (GString) parents = g_string_new (NULL);
  gsize n_B;
  if (effect->line > 0 && base_file_read (path, BASE_YAML_MAX_B, &text, &n_B, NULL)) {
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    if (effect->line <= g_strv_length (lines))
      append_parents (lines, effect->line - 1, colon + 2, parents);
  }
  if (parents->len > 0)
    g_string_append_printf (label, ", %s", parents->str);
  if (g_str_has_suffix (base, ".yaml")) {
    base[strlen (base) - strlen (".yaml")] = '\0';
    g_autofree char *name = in_words (base);
    g_string_append_printf (label, ", %s", name);
  }
  return g_string_free (label, FALSE);
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
  };
  return parts[part];
}

char *
rep_plot_money (double usd)
{
  return usd < 1e3   ? g_strdup_printf ("$%.3g", usd)
         : usd < 1e6 ? g_strdup_printf ("$%.0f k", usd * 1e-3)
                     : g_strdup_printf ("$%.2f M", usd * 1e-6);
}
