#include <math.h>

#include "comm-private.h"
#include "constants/calibration.h"
#include "workload_fixture.h"

static Cst *
load_constants (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  Cst *cal = cst_load (&(CstQuery){ .name = "h200_sxm", .gpu_type = "h200_sxm", .lookup = lookup, .warnings = warnings }, &error);
  if (cal == NULL)
    g_error ("%s", error->message);
  return cal;
}

static double
price (ColComm *comm, ColSettings *settings, ColSteps steps, const ColCollRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_auto (ColAnswer) coll = { 0 };
  settings->steps = steps;
  if (!col_coll_price (comm, request, &coll, &error)) {
    fprintf (stderr, "%s\n", error->message);
    CU_FAIL ("cannot price");
  }
  return coll.time_s;
}

/* All that can run of one size, by messages and as one activity; how often they were compared. */
static unsigned
compare_all (ColComm *comm, ColSettings *settings, double size_B, double least, double most)
{
  unsigned n = 0;
  for (MdlOp op = 0; op < MDL_OP_N; op++) {
    ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 };
    g_autoptr (GArray) choices = col_comm_choices (comm, &request);
    for (guint i = 0; i < choices->len; i++) {
      const ColChoice *choice = &g_array_index (choices, ColChoice, i);
      if (choice->reason != NULL || choice->algo == MDL_ALGO_NVLS)
        continue;
      request.algo = choice->algo;
      request.proto = choice->proto;
      double fluid_s = price (comm, settings, COL_STEPS_FLUID, &request);
      double exact_s = price (comm, settings, COL_STEPS_EXACT, &request);
      gboolean agree = exact_s >= least * fluid_s && exact_s <= most * fluid_s;
      if (!agree)
        fprintf (stderr, "%u nodes, %s %s %s of %g B: %g s by messages, %g s at once\n", col_comm_n_nodes (comm),
                 base_name (mdl_op_names, (int)op), base_name (mdl_algo_names, choice->algo),
                 base_name (mdl_proto_names, choice->proto), size_B, exact_s, fluid_s);
      TEST_TRUE (agree);
      n++;
    }
  }
  return n;
}

/* Pieces follow each other through a connection without waiting for an answer, and all channels have one under way: were
 * either left out, a tree of LL128 on two nodes would take ten times as long by messages as at once. Where links differ
 * (100 GB/s in a node, 10 GB/s an adapter) a piece on the quick ones hides behind another on the slow ones; the closed form
 * lets it pass all at the pace of the slowest. */
static void
messages_of_nccl_agree_with_the_fluid_form (void)
{
  static const struct {
    unsigned n_nodes;
    double size_B, least, most;
  } rows[] = { { 1, 1 << 24, .95, 1.13 }, { 1, 1 << 28, .95, 1.12 }, { 2, 1 << 24, .6, 1.05 }, { 2, 1 << 28, .85, 1.05 } };
  g_autoptr (Cst) cal = load_constants ();
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    Clu *clu = fixture_cluster (8, rows[r].n_nodes, FALSE);
    ColSettings settings;
    col_settings_default (&settings);
    settings.library = cst_library (cal);
    guint32 gpus[16], n = 8 * rows[r].n_nodes;
    for (guint32 i = 0; i < n; i++)
      gpus[i] = i;
    g_autoptr (GError) error = NULL;
    ColComm *comm = col_comm_new (clu, &settings, gpus, n, &error);
    TEST_TRUE (comm != NULL);
    /* 3 protocols: tree, ring all-reduce, four more by ring; pairs by Simple, sendrecv in a node by LL too */
    TEST_TRUE (compare_all (comm, &settings, rows[r].size_B, rows[r].least, rows[r].most) >= 3 * (1 + 5) + 2);
    col_comm_free (comm);
    clu_free (clu);
  }
}

/* A chain's inner rank sends twice the size, its ends once; three GPUs take turns, 1 + 1/2 at most. */
static void
three_gpus_take_turns_in_a_tree (void)
{
  static const double most[] = { 1, 1.5, 2, 2 }; /* of 2 to 5 GPUs */
  g_autoptr (Cst) cal = load_constants ();
  Clu *clu = fixture_cluster (8, 1, FALSE);
  ColSettings settings;
  col_settings_default (&settings);
  settings.library = cst_library (cal);
  static const guint32 gpus[] = { 0, 1, 2, 3, 4 };
  for (guint32 n = 2; n <= G_N_ELEMENTS (gpus); n++) {
    g_autoptr (GError) error = NULL;
    g_auto (ColAnswer) coll = { 0 };
    ColComm *comm = col_comm_new (clu, &settings, gpus, n, &error);
    ColCollRequest request = { MDL_OP_ALL_REDUCE, 1 << 30, MDL_DTYPE_FP32, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, 0 };
    TEST_TRUE (col_coll_price (comm, &request, &coll, &error));
    double load = 0;
    for (guint i = 0; i < coll.alike->len; i++)
      load = fmax (load, g_array_index (coll.alike, ColLoad, i).load);
    TEST_NEAR (load, most[n - 2], 1e-9);
    col_comm_free (comm);
  }
  clu_free (clu);
}

/* 8 GPUs, 100 GB/s each way: one channel moves some 28 GB/s, 24 of them more than the links. */
static void
what_the_channels_bind_is_not_blamed_on_a_link (void)
{
  g_autoptr (Cst) cal = load_constants ();
  Clu *clu = fixture_cluster (8, 1, FALSE);
  ColSettings settings;
  col_settings_default (&settings);
  settings.library = cst_library (cal);
  static const guint32 gpus[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  for (unsigned channels = 1; channels <= 24; channels += 23) {
    g_autoptr (GError) error = NULL;
    g_auto (ColAnswer) coll = { 0 };
    settings.max_channels = channels;
    ColComm *comm = col_comm_new (clu, &settings, gpus, G_N_ELEMENTS (gpus), &error);
    ColCollRequest request = { MDL_OP_ALL_REDUCE, 1 << 30, MDL_DTYPE_FP32, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 0 };
    TEST_TRUE (col_coll_price (comm, &request, &coll, &error));
    TEST_STR (coll.bound_by, channels == 1 ? "channels" : "nv");
    col_comm_free (comm);
  }
  clu_free (clu);
}

/* Four ranks, 4 GB in chunks of 1 GB: in round r rank i sends chunk i - r, then round chunk i + 1 - r; each round as long. */
static void
rounds_of_a_ring_are_recorded (void)
{
  ColSettings settings;
  col_settings_default (&settings);
  settings.steps = COL_STEPS_EXACT;
  g_autoptr (GError) error = NULL;
  Clu *clu = fixture_cluster (8, 1, FALSE);
  const guint32 gpus[] = { 0, 1, 2, 3 };
  g_autoptr (ColComm) comm = col_comm_new (clu, &settings, gpus, 4, &error);
  g_autoptr (GArray) messages = g_array_new (FALSE, FALSE, sizeof (ColMessage));
  col_comm_record (comm, messages);
  g_auto (ColAnswer) coll = { 0 };
  const ColCollRequest request = { MDL_OP_ALL_REDUCE, 4e9, MDL_DTYPE_FP32, MDL_ALGO_RING, MDL_PROTO_AUTO, 0 };
  TEST_TRUE (col_coll_price (comm, &request, &coll, &error));
  guint n_first = 0;
  for (guint k = 0; k < messages->len; k++) {
    const ColMessage *m = &g_array_index (messages, ColMessage, k);
    if (m->pipe != 0)
      continue;
    n_first++;
    guint32 at = comm->rings->ring[0].order[0] == m->from ? 0 : 4;
    for (guint32 i = 1; i < 4; i++)
      at = comm->rings->ring[0].order[i] == m->from ? i : at;
    guint32 chunk = (at + (m->gathers ? 1 : 0) + 4 - m->round) % 4;
    TEST_INT (m->chunk, chunk);
    TEST_TRUE (m->round < 3 && m->end_s > m->start_s && m->end_s <= coll.time_s * (1 + 1e-9));
  }
  TEST_INT (n_first, 24); /* 4 ranks x 2 x 3 rounds */
  clu_free (clu);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "messages of NCCL agree with the fluid form", messages_of_nccl_agree_with_the_fluid_form },
    { "three GPUs take turns in a tree", three_gpus_take_turns_in_a_tree },
    { "rounds of a ring are recorded", rounds_of_a_ring_are_recorded },
    { "what the channels bind is not blamed on a link", what_the_channels_bind_is_not_blamed_on_a_link },
    { NULL, NULL },
  };
  return test_main ("collectives by messages", cases);
}
