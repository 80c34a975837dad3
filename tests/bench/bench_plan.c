/* How fast the closed forms are that a plan asks: what a collective takes, size after size. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "calibrate/calibration.h"
#include "workload/scenario.h"

enum { PRICES = 200000 };

static const MdlLibrary *
load_library (void *data, const char *name, const char *from, const char *gpu_type, const char *nccl, GPtrArray *inputs,
              BaseDiag *warnings, GError **error)
{
  Cal **cal = data;
  g_autoptr (BaseLookup) lookup = base_lookup_new (BENCH_DATA_DIR);
  *cal = cal_load (name, from, gpu_type, nccl, lookup, inputs, warnings, error);
  return *cal != NULL ? cal_library (*cal) : NULL;
}

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
  WrkComm *comm;
  MdlOp op;
  MdlAlgo algo;
  double sum_s; /* so that nothing is left out */
} Collective;

/* A different size each time, from 1 KiB to 1 GiB. */
static double
price (void *user)
{
  Collective *c = user;
  g_auto (WrkColl) coll = { 0 };
  g_autoptr (GError) error = NULL;
  double start_s = bench_now_s ();
  for (guint i = 0; i < PRICES; i++) {
    const WrkCollRequest request = { c->op, 1024.0 * (1 + i * 37u % 1048576u), MDL_DTYPE_BF16, c->algo, MDL_PROTO_AUTO, 0 };
    if (!wrk_coll_price (c->comm, &request, &coll, &error))
      stop_on (error);
    c->sum_s += coll.time_s;
  }
  return bench_now_s () - start_s;
}

static void
bench_collectives (const WrkScenario *scenario)
{
  WrkSettings settings = *wrk_scenario_settings (scenario);
  settings.mode = WRK_MODE_MODEL;
  settings.terse = TRUE;
  guint32 gpus[128];
  for (guint32 i = 0; i < G_N_ELEMENTS (gpus); i++)
    gpus[i] = i;
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (WrkComm) comm = wrk_comm_new (wrk_scenario_cluster (scenario), &settings, gpus, rows[i].ranks, &error);
    stop_on (error);
    Collective c = { comm, rows[i].op, rows[i].algo, 0 };
    bench_print (rows[i].name, PRICES, "predictions", bench_repeat (price, &c));
  }
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (BENCH_DATA_DIR);
  Cal *cal = NULL;
  const WrkScenarioOptions options = { 0 };
  bench_print_machine ();
  WrkScenario *scenario =
      wrk_scenario_load (BENCH_DATA_DIR "/scenarios/llama3_70b_16nodes.yaml", lookup, &options, load_library, &cal, &error);
  stop_on (error);
  bench_collectives (scenario);
  wrk_scenario_free (scenario);
  cal_free (cal);
  return 0;
}
