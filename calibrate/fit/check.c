/* Rows that cannot be what they are said to be. Nothing is fitted then. */
#include <string.h>

#include "base/error.h"
#include "fit/fit-private.h"

/* ---- bandwidth ---- */

/* Bytes that at least one node must send, or receive, per byte of the operation's size, with `n` nodes of `gpus` GPUs: an
 * all-reduce sends each node's sum once even where switches reduce; others as nccl-tests counts sizes. */
static double
least_traffic (MdlOp op, double n, double gpus)
{
  switch (op) {
    case MDL_OP_ALL_GATHER:
    case MDL_OP_REDUCE_SCATTER:
      return (n - 1) / n;
    case MDL_OP_ALLTOALL:
      return gpus * (n - 1) / n;
    default:
      return 1;
  }
}

gboolean
cal_fit_check_rate (const CalGroup *group, const CalMeasured *m, GError **error)
{
  static const double CLOCKS = 1.01; /* clocks of two machines, and rounded times */
  double nic_Bps;
  guint32 nics = clu_nics_of_node (group->clu, &nic_Bps);
  if (m->nodes < 2 || nics == 0 || !(nic_Bps > 0) || col_comm_is_local (group->comm))
    return TRUE;
  double bytes = m->size_B * least_traffic (m->op, m->nodes, m->gpus), rate_Bps = bytes / m->time_s;
  if (rate_Bps <= nics * nic_Bps * CLOCKS)
    return TRUE;
  g_autofree char *size = base_quantity_format (m->size_B, BASE_DIM_BYTES, 4);
  g_autofree char *time = base_quantity_format (m->time_s, BASE_DIM_TIME, 4);
  return base_fail_at (
      error, m->at,
      "%s of %s over %u nodes in %s: at least %.4g GB/s leave a node, but its %u NICs of %s carry %.4g GB/s; "
      "correct the row (time_us, nodes, gpus), or name the cluster that was measured (--topology, node.nics); nothing is fitted",
      base_name (mdl_op_names, (int)m->op), size, m->nodes, time, rate_Bps * 1e-9, nics, clu_name (group->clu),
      nics * nic_Bps * 1e-9);
}

/* ---- versions ---- */

/* "2.28" of "2.28.9" */
static gboolean
same_release (const char *a, const char *b)
{
  const char *dot = strchr (a, '.');
  gsize n = dot != NULL ? (gsize)(dot + 1 - a) + strspn (dot + 1, "0123456789") : strlen (a);
  return strncmp (a, b, n) == 0 && !g_ascii_isdigit (b[n]);
}

/* The first row of the same system over as many nodes or more than one that names another release; NULL: there is none. */
static const CalMeasured *
find_other (const GArray *points, guint i, gboolean one_release)
{
  const CalMeasured *here = &g_array_index (points, CalMeasured, i);
  gboolean counts = here->nccl != NULL && (one_release || here->nodes > 1);
  for (guint k = 0; counts && k < i; k++) {
    const CalMeasured *before = &g_array_index (points, CalMeasured, k);
    gboolean group = before->system == here->system && before->nodes > 1 && here->nodes > 1;
    if (before->nccl != NULL && (group || one_release))
      return same_release (before->nccl, here->nccl) ? NULL : before; /* those before agree with each other */
  }
  return NULL;
}

gboolean
cal_fit_check_versions (const CalFitWork *work, const GArray *points, GError **error)
{
  const char *first = NULL;
  gboolean told = FALSE;
  for (guint i = 0; i < points->len; i++) {
    const CalMeasured *here = &g_array_index (points, CalMeasured, i), *other = find_other (points, i, work->query->one_release);
    if (other != NULL)
      return base_fail_at (error, here->at,
                           "NCCL %s, but rows before it are of NCCL %s, whose constants differ; fit the rows of each version by "
                           "themselves; nothing is fitted",
                           here->nccl, other->nccl);
    first = first != NULL ? first : here->nccl;
    if (told || here->nccl == NULL || same_release (first, here->nccl))
      continue;
    g_autofree char *text =
        g_strdup_printf ("NCCL %s and NCCL %s are fitted together, though their constants may differ", first, here->nccl);
    work->host->warn (work->host->user, text);
    told = TRUE;
  }
  return TRUE;
}
