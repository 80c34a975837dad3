/* The file that NCCL's example tuner plugin reads (NCCL_TUNER_CONFIG_FILE), so that NCCL takes what forerun predicts fastest.
 * Layout: NVIDIA/nccl plugins/tuner/example, README.md at 51c58fd6b3bd and plugin.c at 35512d6f6b73: lines
 * collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff; -1 is any; the largest size is
 * 4294967295; lines are read into 256 bytes, so that a longer comment would run over into a line of its own. The plugin answers 1
 * channel for channels -1, hence the number that was predicted with. NCCL asks it for the larger of what a rank sends and receives
 * (src/enqueue.cc, ncclFuncMaxSendRecvCount), which is the size that nccl-tests tells. */
#include <string.h>

#include "report/compare.h"

#define MAX_B          4294967295u
#define MAX_LINE_CHARS 200

/* The operations of which NCCL's tuner decides, by the plugin's names (src/graph/tuning.cc, ncclTopoTuneModel). */
static const BaseName plugin_names[] = {
  { "broadcast", MDL_OP_BROADCAST, NULL },  { "reduce", MDL_OP_REDUCE, NULL },
  { "allgather", MDL_OP_ALL_GATHER, NULL }, { "reducescatter", MDL_OP_REDUCE_SCATTER, NULL },
  { "allreduce", MDL_OP_ALL_REDUCE, NULL }, { NULL, 0, NULL },
};

static void
append_comment (GString *out, const char *what, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_strdelimit (valid, "\r\n", ' ');
  g_autofree char *cut = g_utf8_substring (valid, 0, MIN (g_utf8_strlen (valid, -1), MAX_LINE_CHARS / 4));
  g_string_append_printf (out, "# %s%s%s\n", what, cut, strlen (cut) < strlen (valid) ? "..." : "");
}

char *
rep_compare_taker (const StdCompareRow *row)
{
  const char *framework = row->coll.question.one_shot;
  switch (row->own_algo) {
    case MDL_ALGO_ONE_SHOT:
      return g_strdup_printf ("%s's kernels", framework != NULL ? framework : "the framework");
    case MDL_ALGO_SYMMETRIC:
      return g_strdup ("NCCL's kernels on symmetric memory");
    case MDL_ALGO_COPY_ENGINE:
      return g_strdup ("NCCL's copy engines");
    default:
      return NULL;
  }
}

static gboolean
is_taken_alike (const StdCompareRow *a, const StdCompareRow *b)
{
  return a->column == b->column && a->own_algo == b->own_algo;
}

/* "# on 1 node vllm's kernel serves 8 B to 8388608 B before NCCL's tuner is asked; …": by the sizes that were compared. */
static void
append_taken (const StdCompare *compare, GString *out)
{
  const StdCompareRow *first = NULL, *last = NULL;
  for (guint i = 0; i <= compare->rows->len; i++) {
    const StdCompareRow *row = i < compare->rows->len ? &g_array_index (compare->rows, StdCompareRow, i) : NULL;
    if (first != NULL && row != NULL && is_taken_alike (first, row)) {
      last = row;
      continue;
    }
    g_autofree char *taker = first != NULL ? rep_compare_taker (first) : NULL;
    if (taker != NULL) {
      const guint nodes = ((const StdCompareColumn *)compare->columns->pdata[first->column])->nodes;
      g_string_append_printf (
          out, "# on %u node%s %s serve %.0f B to %.0f B before NCCL's tuner is asked: lines below do not count there\n", nodes,
          nodes == 1 ? "" : "s", taker, first->coll.size_B, last->coll.size_B);
    }
    first = last = row;
  }
}

gboolean
rep_tuner_conf (const StdCompare *compare, const char *version, const char *topology, const char *library, GString *out)
{
  const char *name = base_name (plugin_names, (int)compare->op);
  if (strcmp (name, "?") == 0)
    return FALSE;
  append_comment (out, "what NCCL should take, predicted by forerun ", version);
  append_comment (out, "topology ", topology);
  append_comment (out, "constants ", library);
  g_string_append (
      out, "# for NCCL's example tuner plugin: NCCL_TUNER_PLUGIN and NCCL_TUNER_CONFIG_FILE; other sizes, those from 4 GiB on and\n"
           "# other numbers of nodes or ranks are left to NCCL\n");
  if (std_compare_has_collnet (compare))
    g_string_append (out, "# NCCL_COLLNET_ENABLE=1 is needed for collnet, and for nvls over several NVLink domains\n");
  append_taken (compare, out);
  g_string_append (out, "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n");
  for (guint c = 0; c < compare->columns->len; c++) {
    const StdCompareColumn *column = g_ptr_array_index (compare->columns, c);
    const GArray *spans = column->tuned != NULL ? column->tuned : column->spans;
    for (guint i = 0; i < spans->len; i++) {
      const StdCompareSpan *span = &g_array_index (spans, StdCompareSpan, i);
      guint64 to_B = i + 1 < spans->len ? g_array_index (spans, StdCompareSpan, i + 1).from_B - 1 : compare->max_B;
      if (span->from_B > MAX_B || mdl_coll_find (span->algo, compare->op) == NULL)
        continue;
      g_string_append_printf (out, "%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%s,%s,%d,%u,%u,-1,-1\n", name, span->from_B,
                              MIN (to_B, (guint64)MAX_B), base_name (mdl_algo_names, (int)span->algo),
                              base_name (mdl_proto_names, (int)span->proto), span->channels > 0 ? (int)span->channels : -1,
                              column->nodes, column->ranks);
    }
  }
  return TRUE;
}
