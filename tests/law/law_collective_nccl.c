/* NCCL's variables and the settings that ask for the same give the same answer, whatever the machine, operation and size. */
#include <math.h>

#include "constants/calibration.h"
#include "harness.h"
#include "collective/comm.h"

static BaseLookup *lookup;

static const struct {
  const char *topology;
  guint32 nodes;
} machines[] = { { "hgx_h200", 1 }, { "hgx_h200", 4 }, { "hgx_b200", 2 }, { "dgx1_v100", 1 }, { "pcie_8gpu", 2 }, { "p5", 8 } };
static const double sizes_B[] = { 1024, 65536, 1 << 20, 1 << 26, 1 << 30 };

typedef struct {
  Clu *clu;
  Cst *cal;
  guint32 n;
} Machine;

/* Time under a setting: `variables` ("A=1 B=2"), an algorithm or protocol by name, a bound of channels. HUGE_VAL: cannot run. */
typedef struct {
  const char *variables;
  MdlAlgo algo;
  MdlProto proto;
  unsigned max_channels;
} Setting;

static double
time_s (const Machine *machine, const Setting *setting, MdlOp op, double size_B)
{
  g_autoptr (GError) error = NULL;
  ColSettings settings;
  col_settings_default (&settings);
  settings.mode = COL_MODE_MODEL;
  g_auto (GStrv) pairs = g_strsplit (setting->variables, " ", -1);
  g_autoptr (BaseYaml) yaml =
      *setting->variables != '\0' ? col_nccl_parse ((const char *const *)pairs, "--nccl", &settings, &error) : NULL;
  if (*setting->variables != '\0' && yaml == NULL)
    g_error ("%s: %s", setting->variables, error->message);
  if (setting->max_channels > 0)
    settings.max_channels = setting->max_channels;
  g_autofree MdlLibrary *library = mdl_library_with (cst_library (machine->cal), &settings.env);
  settings.library = library;
  g_autofree guint32 *gpus = g_new (guint32, machine->n);
  for (guint32 i = 0; i < machine->n; i++)
    gpus[i] = i;
  g_autoptr (ColComm) comm = col_comm_new (machine->clu, &settings, gpus, machine->n, &error);
  if (comm == NULL)
    g_error ("%s: %s", setting->variables, error->message);
  ColAnswer coll = { 0 };
  const ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, setting->algo, setting->proto, 0 };
  double answer_s = col_coll_price (comm, &request, &coll, NULL) ? coll.time_s : HUGE_VAL;
  col_coll_clear (&coll);
  return answer_s;
}

static const struct {
  Setting a, b;
  gboolean without_nvls; /* whose channels are its own */
} same[] = {
  /* an algorithm by name goes by the protocol that NCCL's tuner takes */
  { { "NCCL_ALGO=Ring", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 }, { "", MDL_ALGO_RING, MDL_PROTO_AUTO, 0 }, FALSE },
  { { "NCCL_ALGO=Tree", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 }, { "", MDL_ALGO_TREE, MDL_PROTO_AUTO, 0 }, FALSE },
  { { "NCCL_ALGO=Ring NCCL_PROTO=LL", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 }, { "", MDL_ALGO_RING, MDL_PROTO_LL, 0 }, FALSE },
  { { "NCCL_MAX_NCHANNELS=4", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 }, { "", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 4 }, FALSE },
  { { "NCCL_MAX_CTAS=4", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 }, { "NCCL_NVLS_ENABLE=0", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 4 }, TRUE },
  /* the library's own values change nothing */
  { { "NCCL_BUFFSIZE=4194304 NCCL_NTHREADS=512 NCCL_LL128_NTHREADS=640", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 },
    { "", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 },
    FALSE },
  { { "NCCL_P2P_LEVEL=SYS NCCL_SHM_DISABLE=1 NCCL_CROSS_NIC=1", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 },
    { "", MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 },
    FALSE },
};

static void
hold_on (const Machine *machine)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (same); i++) {
    Setting a = same[i].a;
    g_autofree char *switched = same[i].without_nvls ? g_strconcat (a.variables, " NCCL_NVLS_ENABLE=0", NULL) : NULL;
    if (switched != NULL)
      a.variables = switched;
    for (MdlOp op = 0; op < MDL_OP_N; op++)
      for (unsigned s = 0; s < G_N_ELEMENTS (sizes_B); s++) {
        /* an algorithm by name holds for sends and receives too, which the lists do not reach */
        gboolean tuned = op == MDL_OP_ALL_REDUCE || op == MDL_OP_ALL_GATHER || op == MDL_OP_REDUCE_SCATTER ||
                         op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE;
        if (!tuned && same[i].b.algo != MDL_ALGO_AUTO)
          continue;
        double a_s = time_s (machine, &a, op, sizes_B[s]), b_s = time_s (machine, &same[i].b, op, sizes_B[s]);
        if (a_s != b_s && !(isinf (a_s) && isinf (b_s)))
          g_printerr ("%s: %s of %g B: %g s, %g s\n", a.variables, base_name (mdl_op_names, (int)op), sizes_B[s], a_s, b_s);
        TEST_TRUE (a_s == b_s);
      }
  }
}

static void
variables_are_the_settings_they_name (void)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_autoptr (GError) error = NULL;
    const CluLoadOptions options = { .nodes = machines[i].nodes };
    Machine machine = { .clu = clu_load (machines[i].topology, NULL, lookup, NULL, &options, NULL, &error) };
    if (machine.clu == NULL)
      g_error ("%s: %s", machines[i].topology, error->message);
    machine.n = clu_n_gpus (machine.clu);
    machine.cal = cst_load (&(CstQuery){ .gpu_type = clu_gpu_spec (machine.clu, 0)->name.v, .lookup = lookup }, &error);
    if (machine.cal == NULL)
      g_error ("%s: %s", machines[i].topology, error->message);
    hold_on (&machine);
    cst_free (machine.cal);
    clu_free (machine.clu);
  }
}

static const TestCase cases[] = {
  { "variables are the settings they name", variables_are_the_settings_they_name },
  { NULL, NULL },
};

int
main (void)
{
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  int status = test_main ("laws of NCCL's variables", cases);
  base_lookup_free (lookup);
  return status;
}
