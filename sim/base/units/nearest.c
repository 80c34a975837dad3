/* Nearest word by optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours cost 1 each.
 * Source: Boytsov, "Indexing methods for approximate dictionary searching", ACM JEA 16 (2011), section 2.2.
 * What near means beyond that is said in base/lookup.h. */
#include "base/lookup.h"

#include <string.h>

/* A shorter word is part of too much, and near to too much. */
#define PART_MIN 3u

/* A shorter word is the beginning of too much. */
#define BEGIN_MIN 4u

/* Names are shorter; a longer word is no slip of a finger. */
#define WORD_MAX 64u

#define MOST_SHOWN 3u /* names that are equally near */
#define FEW        8u /* names that an error lists whole */
#define FIRST      6u /* names that it lists of more */

/* Ranks of nearness: the same, the same meaning, one letter more or less at the end, a part of it, slips of 1 to 4 letters, a part
 * in common, the same beginning. */
enum {
  NEAR_SAME,
  NEAR_MEANT,
  NEAR_END,
  NEAR_PART,
  NEAR_SLIPS,
  NEAR_SHARE = NEAR_SLIPS + 4,
  NEAR_BEGIN,
  NEAR_NOT = NEAR_BEGIN + WORD_MAX
};

/* Words of other tools and of everyday language, as plain () leaves them, for names of this program. */
static const char *const meanings[][2] = {
  { "simulate", "run" },
  { "predict", "run" },
  { "buy", "plan" },
  { "purchase", "plan" },
  { "optimize", "plan" },
  { "optimise", "plan" },
  { "search", "plan" },
  { "cost", "offers" },
  { "costs", "offers" },
  { "show", "list" },
  { "ls", "list" },
  { "verify", "check" },
  { "lint", "check" },
  { "calibrate", "fit" },
  { "test", "validate" },
  { "why", "explain" },
  { "describe", "explain" },
  { "models", "llms" },
  { "clusters", "topologies" },
  { "json", "format" },
  { "tsv", "format" },
  { "csv", "format" },
  { "price", "cost" },
  { "cheap", "cost" },
  { "cheapest", "cost" },
  { "money", "cost" },
  { "fast", "time" },
  { "fastest", "time" },
  { "speed", "time" },
  { "tensor", "tp" },
  { "tensorparallel", "tp" },
  { "tpsize", "tp" },
  { "pipelineparallel", "pp" },
  { "ppsize", "pp" },
  { "dataparallel", "dp" },
  { "contextparallel", "cp" },
  { "expertparallel", "ep" },
  { "sequenceparallel", "sp" },
  { "seqlen", "sequence" },
  { "contextlength", "sequence" },
  { "gbs", "global_batch" },
  { "batchsize", "global_batch" },
  { "mbs", "micro_batch" },
  { "bfloat16", "bf16" },
  { "float16", "fp16" },
  { "half", "fp16" },
  { "float32", "fp32" },
  { "float", "fp32" },
  { "float64", "fp64" },
  { "double", "fp64" },
  { "size", "bytes" },
  { "speed", "rate" },
  { "bandwidth", "rate" },
  { "servers", "nodes" },
  { "hosts", "nodes" },
  { "machines", "nodes" },
  { "clos", "fat_tree" },
  { "leafspine", "fat_tree" },
  { "spineleaf", "fat_tree" },
  { "protocol", "proto" },
  { "algorithm", "algo" },
  { "activationcheckpointing", "recompute" },
  { "gradientaccumulation", "accumulate" },
  { "allreduce", "all_reduce" },
  { "a2a", "alltoall" },
  { "hca", "nics" },
  { "pytorch", "eager" },
  { "torch", "eager" },
  { "ddp", "eager" },
  { "megatron", "fused" },
  { "torchcompile", "fused" },
  { "cudagraphs", "graphs" },
  { "gpt4", "gpt3_175b" },
  { "gpt4o", "gpt3_175b" },
  { "gpt5", "gpt3_175b" },
  { "chatgpt", "gpt3_175b" },
};

static unsigned
distance (const char *a, gsize n_a, const char *b, gsize n_b)
{
  unsigned rows[3][WORD_MAX + 1];
  unsigned *before = rows[0], *last = rows[1], *now = rows[2];
  for (gsize j = 0; j <= n_b; j++)
    last[j] = (unsigned)j;
  for (gsize i = 1; i <= n_a; i++) {
    now[0] = (unsigned)i;
    for (gsize j = 1; j <= n_b; j++) {
      char x = g_ascii_tolower (a[i - 1]), y = g_ascii_tolower (b[j - 1]);
      unsigned best = MIN (MIN (last[j] + 1, now[j - 1] + 1), last[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == g_ascii_tolower (b[j - 2]) && y == g_ascii_tolower (a[i - 2]))
        best = MIN (best, before[j - 2] + 1);
      now[j] = best;
    }
    unsigned *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[n_b];
}

/* Whether `word` stands in `name` between underscores: "h200" in "h200_sxm" and "hgx_h200". */
static gboolean
is_part (const char *word, gsize n, const char *name)
{
  for (const char *at = name; at != NULL; at = strchr (at, '_')) {
    at += *at == '_';
    if (g_ascii_strncasecmp (at, word, n) == 0 && (at[n] == '_' || at[n] == '\0'))
      return TRUE;
  }
  return FALSE;
}

/* Whether they have a part with a digit in common, as "nvidia_h100" and "h100_sxm". */
static gboolean
share_part (const char *word, const char *name)
{
  g_auto (GStrv) parts = g_strsplit_set (word, "_- ", -1);
  for (char **part = parts; *part != NULL; part++)
    if (strlen (*part) >= BEGIN_MIN && strpbrk (*part, "0123456789") != NULL && is_part (*part, strlen (*part), name))
      return TRUE;
  return FALSE;
}

/* Small letters without dashes, underscores, dots and blanks; NULL where that is too long or nothing. Returned: full. */
static char *
plain (const char *word)
{
  GString *out = g_string_new (NULL);
  for (const char *p = word; *p != '\0'; p++)
    if (strchr ("-_. ", *p) == NULL)
      g_string_append_c (out, g_ascii_tolower (*p));
  return g_string_free (out, out->len == 0 || out->len > WORD_MAX);
}

static gboolean
is_meant (const char *word, const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (meanings); i++)
    if (strcmp (meanings[i][0], word) == 0 && strcmp (meanings[i][1], name + strspn (name, "-")) == 0)
      return TRUE;
  return FALSE;
}

/* How near; both as they are written and plain. */
static unsigned
rank (const char *word, const char *word_plain, const char *name, const char *name_plain)
{
  const gsize n = strlen (word_plain), m = strlen (name_plain), gap = m > n ? m - n : n - m;
  const gsize limit = CLAMP (n / 3, 1, 4);
  if (strcmp (word_plain, name_plain) == 0)
    return NEAR_SAME;
  if (is_meant (word_plain, name))
    return NEAR_MEANT;
  const unsigned slips = n >= PART_MIN && gap <= limit ? distance (word_plain, n, name_plain, m) : WORD_MAX;
  if (slips == 1 && strncmp (word_plain, name_plain, MIN (n, m)) == 0)
    return NEAR_END;
  if (n >= PART_MIN && is_part (word, strlen (word), name))
    return NEAR_PART;
  if (slips <= limit)
    return NEAR_SLIPS + slips - 1;
  if (share_part (word, name))
    return NEAR_SHARE;
  gsize same = 0;
  while (word_plain[same] != '\0' && word_plain[same] == name_plain[same])
    same++;
  const gsize shorter = MIN (n, m);
  return same >= BEGIN_MIN && 4 * same >= 3 * shorter ? NEAR_BEGIN + WORD_MAX - 1 - (unsigned)same : NEAR_NOT;
}

/* The candidates with the best rank, in their order, at most `most`; how many in *n. */
static void
find (const char *word, const char *const *candidates, const char **found, guint most, guint *n)
{
  g_autofree char *word_plain = plain (word);
  unsigned best = NEAR_NOT;
  *n = 0;
  for (gsize i = 0; word_plain != NULL && candidates[i] != NULL; i++) {
    g_autofree char *name_plain = plain (candidates[i]);
    const unsigned near = name_plain != NULL ? rank (word, word_plain, candidates[i], name_plain) : NEAR_NOT;
    if (near < best)
      *n = 0;
    if (near < best || (near == best && near < NEAR_NOT && *n < most))
      found[(*n)++] = candidates[i];
    best = MIN (best, near);
  }
}

const char *
base_nearest (const char *word, const char *const *candidates)
{
  g_return_val_if_fail (word != NULL && candidates != NULL, NULL);
  const char *found[1];
  guint n;
  find (word, candidates, found, 1, &n);
  return n > 0 ? found[0] : NULL;
}

char *
base_hint (const char *word, const char *const *candidates)
{
  g_return_val_if_fail (word != NULL && candidates != NULL, NULL);
  const char *found[MOST_SHOWN];
  guint n;
  find (word, candidates, found, MOST_SHOWN, &n);
  if (n == 0)
    return g_strdup ("");
  GString *hint = g_string_new (" (did you mean ");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (hint, "%s'%s'", i == 0 ? "" : i + 1 < n ? ", " : " or ", found[i]);
  g_string_append (hint, "?)");
  return g_string_free (hint, FALSE);
}

char *
base_accepted (const char *word, const char *const *names, const char *command)
{
  g_return_val_if_fail (names != NULL, NULL);
  const guint n = g_strv_length ((char **)names);
  g_autofree char *hint = word != NULL ? base_hint (word, names) : g_strdup (""), *all = g_strjoinv (", ", (char **)names);
  if (n <= FEW || (command == NULL && *hint == '\0'))
    return g_strdup_printf ("%s; accepted: %s", hint, all);
  if (command == NULL)
    return g_strdup (hint);
  if (*hint != '\0')
    return g_strdup_printf ("%s; '%s' lists all %u", hint, command, n);
  const char *first[FIRST + 1] = { NULL };
  memcpy (first, names, FIRST * sizeof *first);
  g_autofree char *some = g_strjoinv (", ", (char **)first);
  return g_strdup_printf ("; accepted: %s, …; '%s' lists all %u", some, command, n);
}
