/* Predicted against measured through the whole program: shipped topology, shipped calibration, routes and traffic on the graph, as
 * `forerun coll` prices it. Several nodes, and operations on one node, of which send/receive alone set constants. Below 64 KiB,
 * below 16 MiB, above: median and worst error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "constants/calibration.h"
#include "harness.h"
#include "measured.h"
#include "collective/comm.h"

static GArray *published, *ops;
static BaseLookup *lookup;

/* A machine in use: what stands in the data as (gpu, nodes, GPUs a node). */
typedef struct {
  const char *topology, *set;
  unsigned nodes, per_node;
  guint32 disabled;
  MdlLaunch launch;
  const char *nccl; /* version; NULL: the calibration's */
} Machine;

typedef struct {
  Clu *clu;
  Cst *cal;
  ColSettings settings;
  ColComm *comm;
} Bench;

static void
bench_close (Bench *b)
{
  g_clear_pointer (&b->comm, col_comm_free);
  g_clear_pointer (&b->cal, cst_free);
  g_clear_pointer (&b->clu, clu_free);
}

static gboolean
bench_open (Bench *b, const Machine *m)
{
  g_autoptr (GError) error = NULL;
  const char *sets[] = { m->set, NULL };
  const CluLoadOptions options = { .nodes = m->nodes };
  b->clu = clu_load (m->topology, NULL, lookup, sets, &options, NULL, &error);
  const CluGpuSpec *gpu = b->clu != NULL ? clu_gpu_spec (b->clu, 0) : NULL;
  b->cal = gpu != NULL ? cst_load (&(CstQuery){ .gpu_type = gpu->name.v, .nccl = m->nccl, .lookup = lookup }, &error) : NULL;
  if (b->cal != NULL) {
    col_settings_default (&b->settings);
    b->settings.library = cst_library (b->cal);
    b->settings.launch = m->launch;
    b->settings.disabled_algos = m->disabled;
    b->settings.mode = COL_MODE_MODEL;
    guint32 n = 0, per_node = clu_gpus_per_node (b->clu, 0);
    g_autofree guint32 *gpus = g_new (guint32, (gsize)m->nodes * m->per_node);
    for (guint32 v = 0; v < m->nodes; v++)
      for (guint32 i = 0; i < m->per_node; i++)
        gpus[n++] = v * per_node + i;
    b->comm = col_comm_new (b->clu, &b->settings, gpus, n, &error);
  }
  if (b->comm == NULL)
    fprintf (stderr, "%s\n", error != NULL ? error->message : "no cluster");
  return b->comm != NULL;
}

typedef gboolean (*Filter) (const Measured *row, const Machine *m, const void *data);

static Errors
errors_of (const Machine *m, const GArray *rows, Filter filter, const void *data)
{
  Bench b = { 0 };
  g_autofree double *error = g_new (double, MAX (rows->len, 1));
  gboolean ok = bench_open (&b, m);
  TEST_TRUE (ok);
  ColAnswer coll = { 0 };
  for (guint i = 0; i < rows->len; i++) {
    const Measured *row = &g_array_index (rows, Measured, i);
    error[i] = (double)NAN;
    if (!ok || !filter (row, m, data))
      continue;
    b.settings.in_a_row = row->iters > 0 ? row->iters : 20;
    const ColCollRequest request = { row->op, row->size_B, MDL_DTYPE_FP32, row->algo, row->proto, 0 };
    g_autoptr (GError) failed = NULL;
    if (col_coll_price (b.comm, &request, &coll, &failed))
      error[i] = coll.time_s / row->time_s - 1.0;
    else {
      fprintf (stderr, "%s\n", failed->message);
      CU_FAIL ("cannot price");
    }
  }
  col_coll_clear (&coll);
  bench_close (&b);
  return measured_bands (rows, error);
}

static void
hold (const char *what, const Errors *errors, const double median[3], double worst)
{
  measured_print (what, errors);
  TEST_TRUE (errors->n[0] + errors->n[1] + errors->n[2] > 0);
  for (unsigned b = 0; b < 3; b++) {
    TEST_TRUE (errors->n[b] == 0 || errors->median[b] <= median[b]);
    TEST_TRUE (errors->n[b] == 0 || b == 0 || errors->worst[b] <= worst);
  }
}

/* ---- several nodes ---- */

typedef struct {
  const char *source, *gpu, *nccl;
  MdlOp op;
  double from_B;
} Wanted;

static gboolean
is_of_nodes (const Measured *row, const Machine *m, const void *data)
{
  const Wanted *w = data;
  return row->n_nodes == m->nodes && row->n == m->nodes * m->per_node && g_str_has_prefix (row->source, w->source) &&
         strcmp (row->gpu, w->gpu) == 0 && strcmp (row->nccl, w->nccl) == 0 && row->op == w->op && row->size_B >= w->from_B;
}

static void
several_nodes_over_efa (void)
{
  /* Least latency, adapters' rate and what LL and LL128 cost beside the tree are p5's own. From 16 to 64 KiB, where the worst rows
   * are, what was measured in place is 15 to 25 % shorter. */
  const Machine p5 = { "p5", NULL, 2, 8, 0, MDL_LAUNCH_THREADS, "2.20.3" };
  const Wanted h100 = { "aws-samples", "h100_sxm", "2.20.3", MDL_OP_ALL_REDUCE, 0 };
  Errors errors = errors_of (&p5, published, is_of_nodes, &h100);
  hold ("2 x p5, all-reduce", &errors, (const double[3]){ 0.10, 0.08, 0.08 }, 0.28);
  const Machine p4de = { "p4d", "node.gpus.type=a100_80_sxm", 2, 8, 0, MDL_LAUNCH_THREADS, "2.20.3" };
  const Wanted a100 = { "aws-samples", "a100_sxm", "2.20.3", MDL_OP_ALL_REDUCE, 0 };
  errors = errors_of (&p4de, published, is_of_nodes, &a100);
  /* A tree's pieces of half a MiB follow each other closer than predicted at 8 MiB. */
  hold ("2 x p4de, all-reduce", &errors, (const double[3]){ 0.12, 0.10, 0.10 }, 0.46);
  /* Timed from PyTorch, some 40 us a call above these constants, and below 16 MiB unsteady: large messages alone. */
  const Machine p6 = { "p6_b200", NULL, 4, 8, 0, MDL_LAUNCH_THREADS, "2.27.7" };
  const Wanted b200 = { "stas00", "b200", "2.27.7", MDL_OP_ALL_REDUCE, 67108864.0 };
  errors = errors_of (&p6, published, is_of_nodes, &b200);
  hold ("4 x p6-b200, all-reduce", &errors, (const double[3]){ 0, 0, 0.06 }, 0.28);
}

/* ---- one node, operations ---- */

static gboolean
is_op (const Measured *row, const Machine *m, const void *data)
{
  return row->op == *(const MdlOp *)data && row->n == m->per_node && row->launch == m->launch;
}

static void
operations_on_two_to_eight_gpus (void)
{
  static const struct {
    MdlOp op;
    double median[3], worst;
  } row[] = {
    { MDL_OP_ALL_REDUCE, { 0.15, 0.20, 0.06 }, 0.25 },     { MDL_OP_ALL_GATHER, { 0.25, 0.25, 0.06 }, 0.35 },
    { MDL_OP_REDUCE_SCATTER, { 0.25, 0.15, 0.10 }, 0.25 }, { MDL_OP_BROADCAST, { 0.25, 0.15, 0.12 }, 0.40 },
    { MDL_OP_REDUCE, { 0.20, 0.30, 0.10 }, 0.55 },         { MDL_OP_ALLTOALL, { 0.20, 0.15, 0.10 }, 0.35 },
    { MDL_OP_SENDRECV, { 0.15, 0.12, 0.05 }, 0.20 },
  };
  static const unsigned gpus[] = { 2, 4, 8 };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++)
    for (unsigned g = 0; g < G_N_ELEMENTS (gpus); g++) {
      const Machine vm = { "h200x8_vm", NULL, 1, gpus[g], 1u << MDL_ALGO_NVLS, MDL_LAUNCH_GRAPH, NULL };
      if (row[i].op == MDL_OP_ALL_REDUCE && gpus[g] == 2)
        continue; /* not in the file */
      Errors errors = errors_of (&vm, ops, is_op, &row[i].op);
      g_autofree char *what = g_strdup_printf ("%u H200, %s", gpus[g], base_name (mdl_op_names, (int)row[i].op));
      hold (what, &errors, row[i].median, row[i].worst);
    }
}

static const TestCase cases[] = {
  { "several nodes over EFA", several_nodes_over_efa },
  { "operations on two to eight GPUs", operations_on_two_to_eight_gpus },
  { NULL, NULL },
};

int
main (void)
{
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  published = measured_read_csv ("collectives/collectives.csv");
  ops = measured_read_ops ("h200x8/ops.csv", NULL);
  int status = published != NULL && ops != NULL ? test_main ("accuracy: the whole program", cases) : 1;
  g_clear_pointer (&published, g_array_unref);
  g_clear_pointer (&ops, g_array_unref);
  base_lookup_free (lookup);
  return status;
}
