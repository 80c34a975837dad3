/* nccl-tests' text, so that what reads a measured table reads a predicted one.
 * Layout: NVIDIA/nccl-tests at a0b82b2260cf, src/util.cu: writeDeviceReport, writeResultHeader, writeBenchmarkLinePreamble,
 * writeBenchmarkLineBody, getFloatStr, writeResultFooter. GB is 1e9 B. */
#include <math.h>
#include <string.h>

#include "nccl_tests-private.h"
#include "report/coll.h"

const char *
rep_nccl_tests_type (MdlDtype dtype)
{
  switch (dtype) {
    case MDL_DTYPE_INT8:
      return "int8";
    case MDL_DTYPE_FP8:
      return "f8e4m3";
    case MDL_DTYPE_FP16:
      return "half";
    case MDL_DTYPE_BF16:
      return "bfloat16";
    case MDL_DTYPE_FP32:
      return "float";
    case MDL_DTYPE_FP64:
      return "double";
    case MDL_DTYPE_N:
      break;
  }
  g_return_val_if_reached ("?");
}

/* sendrecv_perf prints the default reduction though it reduces nothing. */
const char *
rep_nccl_tests_redop (MdlOp op)
{
  return op == MDL_OP_ALL_REDUCE || op == MDL_OP_REDUCE || op == MDL_OP_REDUCE_SCATTER || op == MDL_OP_SENDRECV ? "sum" : "none";
}

static gboolean
op_has_root (MdlOp op)
{
  return op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE;
}

/* What nccl-tests calls count: the argument of the NCCL call, which for these is one rank's part. */
static gboolean
op_counts_a_part (MdlOp op)
{
  return op == MDL_OP_ALL_GATHER || op == MDL_OP_REDUCE_SCATTER || op == MDL_OP_ALLTOALL;
}

guint64
rep_nccl_tests_count (const ColAnswer *coll)
{
  guint64 count = (guint64)coll->size_B / mdl_dtype_size_B (coll->dtype);
  return op_counts_a_part (coll->op) ? count / MAX (coll->n_ranks, 1u) : count;
}

char *
rep_nccl_tests_root (MdlOp op, guint32 root)
{
  return op_has_root (op) ? g_strdup_printf ("%6u", root) : g_strdup ("    -1");
}

const char *
rep_nccl_tests_gpu (const Clu *clu, CluDev dev)
{
  const CluGpuSpec *gpu = clu_gpu_spec (clu, clu_dev_node (clu, dev));
  return gpu == NULL ? "GPU" : gpu->product.v != NULL ? gpu->product.v : gpu->name.v != NULL ? gpu->name.v : "GPU";
}

/* As many decimals, up to two, as leave the field its width. */
static void
append_field (GString *out, double value, int width)
{
  char text[64];
  g_string_append (out, "  ");
  if (!isfinite (value)) {
    g_string_append_printf (out, "%*s", width, "N/A");
    return;
  }
  for (int decimals = 2; decimals >= 0; decimals--)
    if (g_snprintf (text, sizeof text, "%*.*f", width, decimals, value) <= width) {
      g_string_append (out, text);
      return;
    }
  g_string_append_printf (out, "%*.*e", width, width >= 7 ? 1 : 0, value);
}

void
rep_nccl_tests_head (GString *out, const RepNcclTests *head)
{
  gboolean threads = head->launch != MDL_LAUNCH_SERIAL;
  const char *op = base_name (mdl_op_names, (int)head->op);
  g_string_append_printf (
      out, "# forerun %s: predicted, not measured; in nccl-tests' columns and units, in-place taken as out-of-place\n",
      head->version);
  g_string_append_printf (out, "# Collective test starting: %s_perf\n", op);
  g_string_append_printf (out,
                          "# nThread %u nGpus %u minBytes %" G_GUINT64_FORMAT " maxBytes %" G_GUINT64_FORMAT
                          " step: %" G_GUINT64_FORMAT
                          "(%s) warmup iters: 0 iters: 1 agg iters: 1 validation: 0 graph: %d unalign: 0\n",
                          threads ? head->gpus_per_node : 1, threads ? 1 : head->gpus_per_node, head->min_B, head->max_B,
                          head->step, head->step_is_factor ? "factor" : "bytes", mdl_launch_replays (head->launch) ? 1 : 0);
  g_string_append (out, "#\n# Using devices\n");
  for (guint32 rank = 0; rank < MIN (head->n_ranks, REP_NCCL_TESTS_MAX_RANKS); rank++) {
    CluDev dev = clu_gpu (head->clu, head->gpus[rank]);
    guint32 node = clu_dev_node (head->clu, dev);
    g_autofree char *host = g_strdup_printf ("node%u", node);
    g_string_append_printf (out, "#  Rank %2u Group %2d Pid %6d on %10s device %2u [%04x:%02x:%02x] %s\n", rank, 0, 0, host,
                            clu_dev_index (head->clu, dev), 0u, 0u, 0u, rep_nccl_tests_gpu (head->clu, dev));
  }
  if (head->n_ranks > REP_NCCL_TESTS_MAX_RANKS)
    g_string_append_printf (out, "#  ... and %u more ranks\n", head->n_ranks - REP_NCCL_TESTS_MAX_RANKS);
  g_string_append_printf (out, "#\n# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n",
                          "", "", "", "", "");
  g_string_append_printf (out, "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s \n", "size", "count", "type",
                          "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong");
  g_string_append_printf (out, "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s \n", "(B)", "(elements)", "",
                          "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "");
}

void
rep_nccl_tests_row (GString *out, const ColAnswer *coll, guint32 root)
{
  guint64 size_B = (guint64)coll->size_B;
  g_autofree char *root_text = rep_nccl_tests_root (coll->op, root);
  g_string_append_printf (out, "%12" G_GUINT64_FORMAT "  %12" G_GUINT64_FORMAT "  %8s  %6s  %6s", size_B,
                          rep_nccl_tests_count (coll), rep_nccl_tests_type (coll->dtype), rep_nccl_tests_redop (coll->op),
                          root_text);
  for (int place = 0; place < 2; place++) {
    append_field (out, coll->time_s * 1e6, 7);
    append_field (out, coll->algbw_Bps * 1e-9, 6);
    append_field (out, coll->busbw_Bps * 1e-9, 6);
    g_string_append (out, "     N/A");
  }
  g_string_append_c (out, '\n');
}

void
rep_nccl_tests_foot (GString *out, MdlOp op, double busbw_Bps)
{
  g_string_append_printf (out, "# %-20s : %d %s\n", "Out of bounds values", 0, "OK");
  g_string_append_printf (out, "# %-20s : %g \n", "Avg bus bandwidth", isfinite (busbw_Bps) ? busbw_Bps * 1e-9 : 0.0);
  g_string_append_printf (out, "#\n# Collective test concluded: %s_perf\n", base_name (mdl_op_names, (int)op));
}
