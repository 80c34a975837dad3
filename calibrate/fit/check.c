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

/* The same of the GPU that sends or receives most, among `n` GPUs: an all-reduce sends its own data once even where switches reduce
 * and copy. */
static double
least_traffic_of_gpu (MdlOp op, double n)
{
  return op == MDL_OP_ALL_GATHER || op == MDL_OP_REDUCE_SCATTER || op == MDL_OP_ALLTOALL ? (n - 1) / n : 1;
}

/* All links of the first GPU together, one way, B/s as specified; *n: how many. */
static double
links_of_gpu (const Clu *clu, guint *n)
{
  CluDev gpu = clu_gpu (clu, 0);
  double rate_Bps = 0;
  *n = 0;
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    if (link.a != gpu && link.b != gpu)
      continue;
    rate_Bps += link.rate_Bps;
    ++*n;
  }
  return rate_Bps;
}

/* Clocks of two machines, and rounded times. */
static const double CLOCKS = 1.01;

/* What a row needs, and who would carry it. */
static gboolean
fail_rate (const CalMeasured *m, const char *name, double least_Bps, const char *leaves, const char *carries, double most_Bps,
           GError **error)
{
  g_autofree char *size = base_quantity_format (m->size_B, BASE_DIM_BYTES, 4);
  g_autofree char *time = base_quantity_format (m->time_s, BASE_DIM_TIME, 4);
  g_autofree char *where = m->nodes > 1 ? g_strdup_printf ("%u nodes", m->nodes) : g_strdup_printf ("%u GPUs", m->gpus);
  return base_fail_at (
      error, m->at,
      "%s of %s over %s in %s: at least %.4g GB/s leave %s, but its %s of %s carry %.4g GB/s; correct the row (time_us, nodes, "
      "gpus), or name the cluster that was measured (--topology, node.nics); nothing is fitted",
      base_name (mdl_op_names, (int)m->op), size, where, time, least_Bps * 1e-9, leaves, carries, name, most_Bps * 1e-9);
}

/* Nodes that scale-up links join to the first, itself included, of the first `n`. */
static guint32
nodes_of_island (const Clu *clu, guint32 n)
{
  guint32 here = 0;
  for (guint32 node = 0; node < MIN (n, clu_n_nodes (clu)); node++)
    here += clu_domain_of_node (clu, node) == clu_domain_of_node (clu, 0) ? 1 : 0;
  return MAX (here, 1);
}

/* NICs of a node or of an NVLink domain, or the links of a GPU where nothing crosses NICs. */
gboolean
cal_fit_check_rate (const CalGroup *group, const CalMeasured *m, GError **error)
{
  const Clu *clu = group->clu;
  double nic_Bps = 0, bytes_per_s = m->size_B / m->time_s, ranks = (double)m->nodes * m->gpus;
  guint32 nics = clu_nics_of_node (clu, &nic_Bps), island = nodes_of_island (clu, m->nodes);
  g_autofree char *carries = NULL;
  if (m->nodes > 1 && !col_comm_is_local (group->comm)) {
    double least_Bps = bytes_per_s * least_traffic (m->op, (double)m->nodes / island, (double)m->gpus * island);
    double most_Bps = (double)nics * island * nic_Bps;
    carries = g_strdup_printf ("%u NICs", nics * island);
    return !(most_Bps > 0) || least_Bps <= most_Bps * CLOCKS ||
           fail_rate (m, clu_name (clu), least_Bps, island > 1 ? "an NVLink domain" : "a node", carries, most_Bps, error);
  }
  guint n_links;
  double least_Bps = bytes_per_s * least_traffic_of_gpu (m->op, ranks), most_Bps = links_of_gpu (clu, &n_links);
  carries = g_strdup_printf ("%u links (NVLink, PCIe)", n_links);
  return !(most_Bps > 0) || least_Bps <= most_Bps * CLOCKS ||
         fail_rate (m, clu_name (clu), least_Bps, "a GPU", carries, most_Bps, error);
}

/* ---- rows that are there twice ---- */

/* Orders by what was asked, then by time, then by place. */
static gint
compare_rows (gconstpointer x, gconstpointer y, gpointer points)
{
  guint i = *(const guint *)x, k = *(const guint *)y;
  const CalMeasured *a = &g_array_index ((GArray *)points, CalMeasured, i), *b = &g_array_index ((GArray *)points, CalMeasured, k);
  const double keys[][2] = { { a->system, b->system },     { a->op, b->op },
                             { a->algo, b->algo },         { a->proto, b->proto },
                             { a->dtype, b->dtype },       { a->nodes, b->nodes },
                             { a->gpus, b->gpus },         { a->max_channels, b->max_channels },
                             { a->min_ctas, b->min_ctas }, { a->iters, b->iters },
                             { a->in_place, b->in_place }, { a->size_B, b->size_B },
                             { a->time_s, b->time_s },     { i, k } };
  for (gsize c = 0; c < G_N_ELEMENTS (keys); c++)
    if (keys[c][0] < keys[c][1] || keys[c][0] > keys[c][1])
      return keys[c][0] < keys[c][1] ? -1 : 1;
  return 0;
}

/* Whether two rows ask the same. */
static gboolean
same_question (const CalMeasured *a, const CalMeasured *b)
{
  return a->system == b->system && a->op == b->op && a->algo == b->algo && a->proto == b->proto && a->dtype == b->dtype &&
         a->nodes == b->nodes && a->gpus == b->gpus && a->max_channels == b->max_channels && a->min_ctas == b->min_ctas &&
         a->iters == b->iters && a->in_place == b->in_place && !(a->size_B < b->size_B || a->size_B > b->size_B);
}

/* Repeated runs differ by less than this factor, or one of them is not what it is said to be. */
static const double CONTRADICTS = 2;

static gboolean
fail_contradiction (const CalMeasured *slow, const CalMeasured *fast, GError **error)
{
  g_autofree char *size = base_quantity_format (slow->size_B, BASE_DIM_BYTES, 4);
  g_autofree char *long_s = base_quantity_format (slow->time_s, BASE_DIM_TIME, 4),
                  *short_s = base_quantity_format (fast->time_s, BASE_DIM_TIME, 4);
  return base_fail_at (error, slow->at,
                       "%s of %s over %u node%s of %u GPUs takes %s here, and %s in %s:%u; keep the row that is right, or give "
                       "what differs (algo, proto, max_channels, launch); nothing is fitted",
                       base_name (mdl_op_names, (int)slow->op), size, slow->nodes, slow->nodes == 1 ? "" : "s", slow->gpus, long_s,
                       short_s, fast->at.file, fast->at.line);
}

/* Says the first of the rows that were left out. */
static void
say_repeats (const CalFitWork *work, const CalMeasured *again, const CalMeasured *first, guint n)
{
  g_autofree char *more = n > 1 ? g_strdup_printf (", and %u rows like it", n - 1) : g_strdup ("");
  const gboolean twice = again->at.line == first->at.line && strcmp (again->at.file, first->at.file) == 0;
  g_autofree char *text = twice ? g_strdup_printf ("%s is given twice: counted once", again->at.file)
                                : g_strdup_printf ("%s:%u: the same row as %s:%u%s: counted once", again->at.file, again->at.line,
                                                   first->at.file, first->at.line, more);
  work->host->warn (work->host->user, text);
}

gboolean
cal_fit_check_repeats (const CalFitWork *work, GArray *points, GError **error)
{
  guint n = points->len, n_same = 0, n_kept = 0, first = 0, again = 0;
  g_autofree guint *order = g_new (guint, MAX (n, 1));
  g_autofree gboolean *drop = g_new0 (gboolean, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    order[i] = i;
  if (!work->query->one_release) /* a folder's systems say how often each was measured */
    return TRUE;
  g_qsort_with_data (order, (gint)n, sizeof *order, compare_rows, points);
  for (guint i = 1, begin = 0; i < n; i++) {
    const CalMeasured *here = &g_array_index (points, CalMeasured, order[i]),
                      *fast = &g_array_index (points, CalMeasured, order[begin]),
                      *before = &g_array_index (points, CalMeasured, order[i - 1]);
    if (!same_question (here, fast) || here->at.file == NULL || fast->at.file == NULL) {
      begin = i;
      continue;
    }
    if (here->time_s > CONTRADICTS * fast->time_s)
      return fail_contradiction (here, fast, error);
    if (here->time_s > before->time_s)
      continue;
    drop[order[i]] = TRUE;
    if (n_same++ == 0 || order[i] < again) {
      again = order[i];
      first = order[i - 1];
    }
  }
  if (n_same > 0)
    say_repeats (work, &g_array_index (points, CalMeasured, again), &g_array_index (points, CalMeasured, first), n_same);
  for (guint i = 0; i < n; i++)
    if (!drop[i])
      g_array_index (points, CalMeasured, n_kept++) = g_array_index (points, CalMeasured, i);
  g_array_set_size (points, n_kept);
  return TRUE;
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
