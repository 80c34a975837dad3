/* Message by message a collective takes as long as its closed form says, whatever machine, ranks, algorithm, protocol and size.
 *
 *     law_collective_exact [DRAWS [SEED]]
 *
 * Each draw is a machine, nodes, GPUs of a node and a size from 1 MiB to 256 MiB, and compares all that can run there. Prints the
 * worst of each algorithm and protocol. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "collective/comm.h"
#include "constants/calibration.h"
#include "harness.h"

/* What the two may differ by, relative to the shorter. */
static const double MOST = 0.05;

static unsigned n_draws = 60;
static uint64_t seed = 1;
static BaseLookup *lookup;

/* An adapter for each GPU, for two, several for one; NVSwitch, a mesh, PCIe. */
static const struct {
  const char *topology;
  guint32 most_nodes;
} machines[] = { { "hgx_h100", 5 }, { "hgx_h200", 4 },  { "hgx_b200", 4 }, { "dgx_a100", 4 },
                 { "p5", 4 },       { "pcie_8gpu", 3 }, { "p4d", 4 },      { "mi300x", 2 } };
static const guint32 gpus_of[] = { 1, 2, 4, 8 };

typedef struct {
  double off; /* exact / closed - 1 */
  char text[160];
} Worst;

static Worst worst[MDL_OP_N][MDL_ALGO_N][MDL_PROTO_N];
static unsigned n_compared, n_off;

static double
price (ColComm *comm, ColSettings *settings, ColSteps steps, const ColCollRequest *request, unsigned *n_messages)
{
  g_autoptr (GError) error = NULL;
  g_auto (ColAnswer) coll = { 0 };
  settings->steps = steps;
  if (!col_coll_price (comm, request, &coll, &error))
    g_error ("%s", error->message);
  *n_messages = (unsigned)coll.n_messages;
  return coll.time_s;
}

static void
compare_one (ColComm *comm, ColSettings *settings, const ColCollRequest *request, const char *where)
{
  unsigned n_messages;
  double closed_s = price (comm, settings, COL_STEPS_FLUID, request, &n_messages);
  double exact_s = price (comm, settings, COL_STEPS_EXACT, request, &n_messages);
  if (n_messages == 0)
    return;
  n_compared++;
  double off = exact_s / closed_s - 1;
  n_off += fabs (off) > MOST;
  Worst *w = &worst[request->op][request->algo][request->proto];
  if (fabs (off) >= fabs (w->off)) {
    w->off = off;
    g_snprintf (w->text, sizeof w->text, "%s, %.3g B: %.4g us closed, %.4g us exact", where, request->size_B, closed_s * 1e6,
                exact_s * 1e6);
  }
  TEST_TRUE (fabs (off) <= MOST);
}

static void
compare_all (ColComm *comm, ColSettings *settings, double size_B, const char *where)
{
  for (MdlOp op = 0; op < MDL_OP_N; op++) {
    ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 };
    g_autoptr (GArray) choices = col_comm_choices (comm, &request);
    for (guint i = 0; i < choices->len; i++) {
      const ColChoice *choice = &g_array_index (choices, ColChoice, i);
      if (choice->reason != NULL)
        continue;
      request.algo = choice->algo;
      request.proto = choice->proto;
      compare_one (comm, settings, &request, where);
    }
  }
}

static void
draw (BaseRandom *random)
{
  guint m = base_random_below (random, G_N_ELEMENTS (machines));
  guint32 n_nodes = 1 + base_random_below (random, machines[m].most_nodes);
  guint32 each = gpus_of[base_random_below (random, G_N_ELEMENTS (gpus_of))];
  double size_B = exp2 (20 + (double)base_random_below (random, 17) / 2);
  if (n_nodes * each < 2)
    n_nodes = 2;
  g_autoptr (GError) error = NULL;
  const CluLoadOptions options = { .nodes = n_nodes };
  g_autofree char *where = g_strdup_printf ("%s, %u x %u", machines[m].topology, n_nodes, each);
  Clu *clu = clu_load (machines[m].topology, NULL, lookup, NULL, &options, NULL, &error);
  if (clu == NULL)
    g_error ("%s: %s", where, error->message);
  Cst *cal = cst_load (&(CstQuery){ .gpu_type = clu_gpu_spec (clu, 0)->name.v, .lookup = lookup }, &error);
  if (cal == NULL)
    g_error ("%s: %s", where, error->message);
  ColSettings settings;
  col_settings_default (&settings);
  settings.library = cst_library (cal);
  guint32 of_node = clu_n_gpus (clu) / n_nodes;
  g_autofree guint32 *gpu = g_new (guint32, n_nodes * each);
  for (guint32 i = 0; i < n_nodes * each; i++)
    gpu[i] = i / each * of_node + i % each;
  ColComm *comm = col_comm_new (clu, &settings, gpu, n_nodes * each, &error);
  if (comm == NULL)
    g_error ("%s: %s", where, error->message);
  compare_all (comm, &settings, size_B, where);
  col_comm_free (comm);
  cst_free (cal);
  clu_free (clu);
}

static void
messages_take_as_long_as_the_closed_form (void)
{
  BaseRandom random = base_random_stream (seed, "exact steps");
  for (unsigned i = 0; i < n_draws; i++)
    draw (&random);
  for (MdlOp op = 0; op < MDL_OP_N; op++)
    for (int a = 0; a < MDL_ALGO_N; a++)
      for (int p = 0; p < MDL_PROTO_N; p++)
        if (*worst[op][a][p].text != '\0')
          printf ("%-14s %-9s %-6s %+6.1f %%  %s\n", base_name (mdl_op_names, (int)op), base_name (mdl_algo_names, a),
                  base_name (mdl_proto_names, p), 100 * worst[op][a][p].off, worst[op][a][p].text);
  printf ("%u of %u are off by more than %g %%\n", n_off, n_compared, 100 * MOST);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "messages take as long as the closed form", messages_take_as_long_as_the_closed_form },
    { NULL, NULL },
  };
  if (argc > 1)
    n_draws = (unsigned)strtoul (argv[1], NULL, 10);
  if (argc > 2)
    seed = strtoull (argv[2], NULL, 10);
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  int status = test_main ("exact steps", cases);
  base_lookup_free (lookup);
  return status;
}
