/* How fast the closed forms are that a plan asks: what a collective takes, size after size, and a training step, cut after
 * cut. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_library.h"
#include "scenario/scenario.h"
#include "training/closed.h"

enum { PRICES = 200000 };

static void
stop_on (const GError *error)
{
  if (error == NULL)
    return;
  fprintf (stderr, "%s\n", error->message);
  exit (1);
}

/* ---- collectives ---- */

static const struct {
  const char *name;
  guint32 ranks;
  MdlOp op;
  MdlAlgo algo;
} rows[] = {
  { "all_reduce, 8 ranks, NCCL's choice", 8, MDL_OP_ALL_REDUCE, MDL_ALGO_AUTO },
  { "all_reduce, 128 ranks, NCCL's choice", 128, MDL_OP_ALL_REDUCE, MDL_ALGO_AUTO },
  { "all_gather, 128 ranks, NCCL's choice", 128, MDL_OP_ALL_GATHER, MDL_ALGO_AUTO },
  { "alltoall, 128 ranks", 128, MDL_OP_ALLTOALL, MDL_ALGO_AUTO },
  { "all_reduce, 128 ranks, ring", 128, MDL_OP_ALL_REDUCE, MDL_ALGO_RING },
  { "all_reduce, 128 ranks, the fastest of all", 128, MDL_OP_ALL_REDUCE, MDL_ALGO_BEST },
};

typedef struct {
  ColComm *comm;
  MdlOp op;
  MdlAlgo algo;
  double sum_s; /* so that nothing is left out */
} Collective;

/* A different size each time, from 1 KiB to 1 GiB. */
static double
price (void *user)
{
  Collective *c = user;
  g_auto (ColAnswer) coll = { 0 };
  g_autoptr (GError) error = NULL;
  double start_s = bench_now_s ();
  for (guint i = 0; i < PRICES; i++) {
    const ColCollRequest request = { c->op, 1024.0 * (1 + i * 37u % 1048576u), MDL_DTYPE_BF16, c->algo, MDL_PROTO_AUTO, 0 };
    if (!col_coll_price (c->comm, &request, &coll, &error))
      stop_on (error);
    c->sum_s += coll.time_s;
  }
  return bench_now_s () - start_s;
}

static void
bench_collectives (const Scn *scenario)
{
  ColSettings settings = *scn_settings (scenario);
  settings.mode = COL_MODE_MODEL;
  settings.terse = TRUE;
  guint32 gpus[128];
  for (guint32 i = 0; i < G_N_ELEMENTS (gpus); i++)
    gpus[i] = i;
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (ColComm) comm = col_comm_new (scn_cluster (scenario), &settings, gpus, rows[i].ranks, &error);
    stop_on (error);
    Collective c = { comm, rows[i].op, rows[i].algo, 0 };
    bench_print (rows[i].name, PRICES, "predictions", bench_repeat (price, &c));
  }
}

/* ---- training configurations ---- */

/* Every cut of Llama 3 70B on 256 GPUs, for some global batches. */
static GArray *
all_cuts (void)
{
  static const guint32 batches[] = { 512, 1024, 2048, 4096 }, micro[] = { 1, 2, 4 };
  static const struct {
    MdlSchedule schedule;
    guint32 vp;
  } pipes[] = { { MDL_SCHEDULE_1F1B, 1 },        { MDL_SCHEDULE_GPIPE, 1 },       { MDL_SCHEDULE_ZB_H1, 1 },
                { MDL_SCHEDULE_INTERLEAVED, 2 }, { MDL_SCHEDULE_INTERLEAVED, 5 }, { MDL_SCHEDULE_INTERLEAVED, 10 } };
  GArray *cuts = g_array_new (FALSE, TRUE, sizeof (TrnClosedQuery));
  for (guint b = 0; b < G_N_ELEMENTS (batches); b++)
    for (guint32 tp = 1; tp <= 8; tp *= 2)
      for (guint32 cp = 1; cp <= 4; cp *= 2)
        for (guint32 pp = 1; pp <= 16 && tp * cp * pp <= 256; pp *= 2)
          for (guint i = 0; i < G_N_ELEMENTS (pipes) * G_N_ELEMENTS (micro) * TRN_RECOMPUTE_N * 3; i++) {
            guint k = i % G_N_ELEMENTS (pipes), rest = i / G_N_ELEMENTS (pipes);
            TrnClosedQuery query = { .tp = tp, .cp = cp, .pp = pp, .ep = 1, .sp = tp > 1, .vp = pipes[k].vp };
            query.schedule = pipes[k].schedule;
            query.micro_batch = micro[rest % 3];
            query.recompute = (TrnRecompute)(rest / 3 % TRN_RECOMPUTE_N);
            query.zero = rest / 9;
            query.dp = 256 / (tp * cp * pp);
            query.micro_batches = batches[b] / (query.dp * query.micro_batch);
            gboolean interleaved = query.schedule == MDL_SCHEDULE_INTERLEAVED;
            if (query.micro_batches > 0 && 80 % (pp * query.vp) == 0 && (pp > 1 || k == 0) &&
                !(interleaved && query.micro_batches % pp != 0))
              g_array_append_val (cuts, query);
          }
  return cuts;
}

typedef struct {
  const Scn *scenario;
  TrnClosed *closed; /* NULL: a fresh one each time */
  const GArray *cuts;
  gboolean all; /* also those that do not fit */
  double sum_s;
} Search;

static double
search (void *user)
{
  Search *s = user;
  g_autoptr (GError) error = NULL;
  double start_s = bench_now_s ();
  TrnClosed *closed = s->closed != NULL ? s->closed : trn_closed_new (scn_training (s->scenario), &error);
  stop_on (error);
  if (!s->all)
    trn_closed_skip_unfit (closed, 1);
  for (guint i = 0; i < s->cuts->len; i++) {
    TrnClosedStep step;
    if (!trn_closed_step (closed, &g_array_index (s->cuts, TrnClosedQuery, i), &step, &error))
      stop_on (error);
    s->sum_s += step.step_time_s;
  }
  if (s->closed == NULL)
    trn_closed_free (closed);
  return bench_now_s () - start_s;
}

static void
bench_steps (const Scn *scenario)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) cuts = all_cuts ();
  g_autoptr (TrnClosed) closed = trn_closed_new (scn_training (scenario), &error);
  stop_on (error);
  Search fresh = { scenario, NULL, cuts, TRUE, 0 }, fitting = { scenario, NULL, cuts, FALSE, 0 },
         known = { scenario, closed, cuts, TRUE, 0 };
  bench_print ("70B on 256 GPUs, all cuts, nothing known", cuts->len, "configurations", bench_repeat (search, &fresh));
  bench_print ("the same, no steps of what does not fit", cuts->len, "configurations", bench_repeat (search, &fitting));
  bench_print ("the same, asked again", cuts->len, "configurations", bench_repeat (search, &known));
  printf ("  %u configurations\n", cuts->len);
}

/* usage: bench_plan [collectives | steps]; both without a word. */
int
main (int argc, char **argv)
{
  gboolean collectives = argc < 2 || g_str_equal (argv[1], "collectives"), steps = argc < 2 || g_str_equal (argv[1], "steps");
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (BENCH_DATA_DIR);
  Cst *cal = NULL;
  const ScnOptions options = { 0 };
  bench_print_machine ();
  Scn *scenario =
      scn_load (BENCH_DATA_DIR "/scenarios/llama3_70b_16nodes.yaml", NULL, lookup, &options, bench_library, &cal, &error);
  stop_on (error);
  if (collectives)
    bench_collectives (scenario);
  scn_free (scenario);
  cst_free (cal);
  const char *const wide[] = { "cluster.nodes=32", NULL };
  const ScnOptions larger = { .sets = wide };
  scenario = scn_load (BENCH_DATA_DIR "/scenarios/llama3_70b_16nodes.yaml", NULL, lookup, &larger, bench_library, &cal, &error);
  stop_on (error);
  if (steps)
    bench_steps (scenario);
  scn_free (scenario);
  cst_free (cal);
  return 0;
}
