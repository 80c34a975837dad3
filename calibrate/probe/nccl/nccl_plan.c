#include "nccl_plan.h"

#include <stdlib.h>
#include <string.h>

#define WEIGHT_CHOICE  1.5
#define WEIGHT_AUTO    4
#define WEIGHT_FORCED  2
#define WEIGHT_OFFERED 1
#define WEIGHT_OTHERS  5
#define WEIGHT_P2P_OFF 1.5

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

typedef struct {
  NcclStage *stage;
  bool failed;
} Maker;

static void
add (Maker *maker, ProbeOp op, size_t bytes, ProbeShape shape, ProbeLaunch launch, bool in_place, unsigned channels)
{
  NcclStage *stage = maker->stage;
  if (probe_op_count (op, bytes, shape.nodes * shape.gpus) == 0)
    return;
  if (stage->n == stage->room) {
    size_t room = stage->room * 2 + 128;
    ProbeRequest *grown = realloc (stage->request, room * sizeof *grown);
    if (grown == NULL) {
      maker->failed = true;
      return;
    }
    stage->request = grown;
    stage->room = room;
  }
  stage->request[stage->n++] = (ProbeRequest){ .op = op,
                                               .bytes = bytes,
                                               .nodes = shape.nodes,
                                               .gpus = shape.gpus,
                                               .launch = launch,
                                               .in_place = in_place,
                                               .channels = channels,
                                               .choice = stage->choice };
}

static Maker
begin (NcclPlan *plan, const char *name, const char *algo, const char *proto, double weight)
{
  NcclStage *stage = &plan->stage[plan->n++];
  *stage = (NcclStage){ .name = name, .algo = algo, .proto = proto, .p2p = true, .weight = weight };
  return (Maker){ .stage = stage };
}

/* Operations by sizes, sizes outermost: when time ends, all operations have the same coarse sizes. */
static void
add_all (Maker *maker, const ProbeOp *op, size_t n_ops, const size_t *size, size_t n_sizes, const ProbeShape *shape,
         size_t n_shapes, ProbeLaunch launch)
{
  for (size_t s = 0; s < n_sizes; s++)
    for (size_t g = 0; g < n_shapes; g++)
      for (size_t o = 0; o < n_ops; o++)
        add (maker, op[o], size[s], shape[g], launch, false, 0);
}

/* What is run in place too: graphs of all-reduces, as frameworks do. */
static void
add_in_place (Maker *maker, const size_t *size, size_t n_sizes, const ProbeShape *shape, size_t n_shapes)
{
  for (size_t s = 0; s < n_sizes; s++)
    for (size_t g = 0; g < n_shapes; g++)
      add (maker, PROBE_OP_ALL_REDUCE, size[s], shape[g], PROBE_LAUNCH_GRAPH, true, 0);
}

static void
add_channels (Maker *maker, const ProbeShape *shape, size_t n_shapes)
{
  static const unsigned channels[] = { 1, 2, 4, 8, 16 };
  static const size_t sizes[] = { 64 * KIB, MIB, 16 * MIB, 128 * MIB };
  for (size_t g = 0; g < n_shapes; g++)
    for (size_t c = 0; c < sizeof channels / sizeof channels[0]; c++)
      for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        add (maker, PROBE_OP_ALL_REDUCE, sizes[s], shape[g], PROBE_LAUNCH_GRAPH, false, channels[c]);
}

static const ProbeOp all_ops[] = { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER, PROBE_OP_ALLTOALL,
                                   PROBE_OP_SENDRECV,   PROBE_OP_BROADCAST,  PROBE_OP_REDUCE };
static const ProbeOp tuned_ops[] = { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER, PROBE_OP_BROADCAST,
                                     PROBE_OP_REDUCE };
static const ProbeOp p2p_ops[] = { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_SENDRECV };
#define N_ALL   (sizeof all_ops / sizeof all_ops[0])
#define N_TUNED (sizeof tuned_ops / sizeof tuned_ops[0])
#define N_P2P   (sizeof p2p_ops / sizeof p2p_ops[0])

static const struct {
  const char *name, *algo, *proto, *algo_setting, *proto_setting;
  size_t n_ops; /* of tuned_ops: trees know all-reduce alone */
} forced[] = {
  { "ring_ll", "ring", "ll", "NCCL_ALGO=Ring", "NCCL_PROTO=LL", N_TUNED },
  { "ring_ll128", "ring", "ll128", "NCCL_ALGO=Ring", "NCCL_PROTO=LL128", N_TUNED },
  { "ring_simple", "ring", "simple", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", N_TUNED },
  { "tree_ll", "tree", "ll", "NCCL_ALGO=Tree", "NCCL_PROTO=LL", 1 },
  { "tree_ll128", "tree", "ll128", "NCCL_ALGO=Tree", "NCCL_PROTO=LL128", 1 },
  { "tree_simple", "tree", "simple", "NCCL_ALGO=Tree", "NCCL_PROTO=Simple", 1 },
};
#define N_FORCED (sizeof forced / sizeof forced[0])

typedef struct {
  size_t all[PROBE_SIZES_MOST], few[PROBE_SIZES_MOST], least[PROBE_SIZES_MOST]; /* auto; forced; P2P off */
  size_t n_all, n_few, n_least;
  ProbeShape shape[PROBE_SHAPES_MOST];
  size_t n_shapes, n_first; /* the first ones are n and 2: GPUs of one node, or nodes */
} Axes;

static Maker
begin_forced (NcclPlan *plan, size_t f)
{
  Maker maker = begin (plan, forced[f].name, forced[f].algo, forced[f].proto, WEIGHT_FORCED);
  maker.stage->setting[0] = forced[f].algo_setting;
  maker.stage->setting[1] = forced[f].proto_setting;
  return maker;
}

/* What algorithm and protocol f can do, on shapes from `from` to before `to`. */
static void
add_forced (Maker *maker, size_t f, const Axes *axes, size_t from, size_t to, ProbeLaunch launch)
{
  add_all (maker, tuned_ops, forced[f].n_ops, axes->few, axes->n_few, axes->shape + from, to - from, launch);
}

/* Returns what failed. */
static bool
make_forced (NcclPlan *plan, const Axes *axes)
{
  bool failed = false;
  for (size_t f = 0; f < N_FORCED; f++) {
    Maker maker = begin_forced (plan, f);
    add_forced (&maker, f, axes, 0, axes->n_first, PROBE_LAUNCH_GRAPH);
    add_channels (&maker, axes->shape, axes->n_first);
    add_forced (&maker, f, axes, axes->n_first, axes->n_shapes, PROBE_LAUNCH_GRAPH);
    add_forced (&maker, f, axes, 0, axes->n_shapes, PROBE_LAUNCH_THREADS);
    add_forced (&maker, f, axes, 0, axes->n_shapes, PROBE_LAUNCH_SERIAL);
    failed = failed || maker.failed;
  }
  return failed;
}

static bool
make_stages (NcclPlan *plan, const Axes *axes)
{
  const ProbeShape *others = axes->shape + axes->n_first;
  size_t n_others = axes->n_shapes - axes->n_first;
  bool failed;

  Maker choice = begin (plan, "choice", "auto", "auto", WEIGHT_CHOICE);
  choice.stage->choice = true;
  for (size_t g = 0; g < axes->n_shapes; g++) /* counts outermost: the first is n, whose topology NCCL writes out first */
    add_all (&choice, tuned_ops, N_TUNED, axes->all, axes->n_all, axes->shape + g, 1, PROBE_LAUNCH_SERIAL);
  failed = choice.failed;

  Maker first = begin (plan, "auto", "auto", "auto", WEIGHT_AUTO);
  first.stage->stays = true;
  add_all (&first, all_ops, N_ALL, axes->all, axes->n_all, axes->shape, axes->n_first, PROBE_LAUNCH_GRAPH);
  add_in_place (&first, axes->all, axes->n_all, axes->shape, axes->n_first);
  failed = failed || first.failed || make_forced (plan, axes);

  Maker rest = begin (plan, "auto", "auto", "auto", WEIGHT_OTHERS);
  add_all (&rest, all_ops, N_ALL, axes->all, axes->n_all, axes->shape, axes->n_first, PROBE_LAUNCH_THREADS);
  add_all (&rest, all_ops, N_ALL, axes->all, axes->n_all, others, n_others, PROBE_LAUNCH_GRAPH);
  add_all (&rest, all_ops, N_ALL, axes->all, axes->n_all, axes->shape, axes->n_first, PROBE_LAUNCH_SERIAL);
  add_all (&rest, all_ops, N_ALL, axes->all, axes->n_all, others, n_others, PROBE_LAUNCH_THREADS);
  add_all (&rest, all_ops, N_ALL, axes->all, axes->n_all, others, n_others, PROBE_LAUNCH_SERIAL);
  add_in_place (&rest, axes->all, axes->n_all, others, n_others);

  Maker off = begin (plan, "p2p_off", "auto", "auto", WEIGHT_P2P_OFF);
  off.stage->p2p = false;
  off.stage->setting[0] = "NCCL_P2P_DISABLE=1";
  add_all (&off, p2p_ops, N_P2P, axes->least, axes->n_least, axes->shape, axes->n_first, PROBE_LAUNCH_GRAPH);
  add_all (&off, p2p_ops, N_P2P, axes->least, axes->n_least, axes->shape, axes->n_first, PROBE_LAUNCH_THREADS);
  return failed || rest.failed || off.failed;
}

enum { BY_2 = 1, BY_4 = 2, BY_8 = 3, BY_16 = 4 };

static void
set_sizes (Axes *axes, bool quick)
{
  axes->n_all = probe_sizes (quick ? BY_8 : BY_2, quick ? BY_8 : BY_4, axes->all);
  axes->n_few = probe_sizes (quick ? BY_8 : BY_4, quick ? BY_8 : BY_16, axes->few);
  axes->n_least = probe_sizes (BY_8, BY_8, axes->least);
}

bool
nccl_plan_make (NcclPlan *plan, unsigned gpus, bool quick)
{
  Axes axes = { .n_first = gpus > 2 ? 2 : 1 };
  unsigned count[PROBE_COUNTS_MOST];
  *plan = (NcclPlan){ 0 };
  axes.n_shapes = probe_gpu_counts (gpus, count);
  for (size_t i = 0; i < axes.n_shapes; i++)
    axes.shape[i] = (ProbeShape){ .nodes = 1, .gpus = count[i] };
  set_sizes (&axes, quick);
  return axes.n_shapes > 0 && !make_stages (plan, &axes);
}

/* ---- over nodes: one process a GPU, so that nothing is launched serially ---- */

/* What needs more than every node has: switches that reduce, NVLink multicast. A setting each, Simple alone. */
static const struct {
  const char *name, *algo, *settings[NCCL_SETTINGS_MOST];
  bool nvls;
  size_t n_ops; /* of offered_ops */
} offered[] = {
  { "collnet_direct_simple",
    "collnet_direct",
    { "NCCL_ALGO=CollnetDirect", "NCCL_PROTO=Simple", "NCCL_COLLNET_ENABLE=1" },
    false,
    3 },
  { "collnet_chain_simple", "collnet_chain", { "NCCL_ALGO=CollnetChain", "NCCL_PROTO=Simple", "NCCL_COLLNET_ENABLE=1" }, false, 1 },
  { "nvls_simple", "nvls", { "NCCL_ALGO=NVLS", "NCCL_PROTO=Simple", "NCCL_COLLNET_ENABLE=1" }, true, 3 },
  { "nvls_tree_simple", "nvls_tree", { "NCCL_ALGO=NVLSTree", "NCCL_PROTO=Simple" }, true, 1 },
};
#define N_OFFERED (sizeof offered / sizeof offered[0])
static const ProbeOp offered_ops[] = { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER };

static bool
make_forced_nodes (NcclPlan *plan, const Axes *axes)
{
  bool failed = false;
  for (size_t f = 0; f < N_FORCED; f++) {
    Maker maker = begin_forced (plan, f);
    add_forced (&maker, f, axes, 0, axes->n_first, PROBE_LAUNCH_GRAPH);
    add_forced (&maker, f, axes, axes->n_first, axes->n_shapes, PROBE_LAUNCH_GRAPH);
    add_channels (&maker, axes->shape, 1);
    add_forced (&maker, f, axes, 0, axes->n_first, PROBE_LAUNCH_THREADS);
    failed = failed || maker.failed;
  }
  return failed;
}

static bool
make_offered (NcclPlan *plan, const Axes *axes, bool nvls)
{
  bool failed = false;
  for (size_t f = 0; f < N_OFFERED; f++) {
    if (offered[f].nvls && !nvls)
      continue;
    Maker maker = begin (plan, offered[f].name, offered[f].algo, "simple", WEIGHT_OFFERED);
    maker.stage->offered = true;
    for (size_t i = 0; i < NCCL_SETTINGS_MOST; i++)
      maker.stage->setting[i] = offered[f].settings[i];
    for (size_t g = 0; g < axes->n_shapes; g++)
      if (axes->shape[g].nodes > 1 && axes->shape[g].gpus == axes->shape[0].gpus)
        add_all (&maker, offered_ops, offered[f].n_ops, axes->few, axes->n_few, axes->shape + g, 1, PROBE_LAUNCH_GRAPH);
    failed = failed || maker.failed;
  }
  return failed;
}

bool
nccl_plan_make_nodes (NcclPlan *plan, unsigned nodes, unsigned gpus, bool quick, bool nvls)
{
  Axes axes = { 0 };
  *plan = (NcclPlan){ 0 };
  axes.n_shapes = probe_shapes (nodes, gpus, axes.shape, &axes.n_first);
  if (axes.n_shapes == 0)
    return false;
  set_sizes (&axes, quick);
  const ProbeShape *others = axes.shape + axes.n_first;
  size_t n_others = axes.n_shapes - axes.n_first;

  Maker choice = begin (plan, "choice", "auto", "auto", WEIGHT_CHOICE);
  choice.stage->choice = true;
  for (size_t g = 0; g < axes.n_shapes; g++)
    add_all (&choice, tuned_ops, N_TUNED, axes.all, axes.n_all, axes.shape + g, 1, PROBE_LAUNCH_THREADS);

  Maker first = begin (plan, "auto", "auto", "auto", WEIGHT_AUTO);
  add_all (&first, all_ops, N_ALL, axes.all, axes.n_all, axes.shape, axes.n_first, PROBE_LAUNCH_GRAPH);
  bool failed = choice.failed || first.failed || make_forced_nodes (plan, &axes) || make_offered (plan, &axes, nvls);

  Maker rest = begin (plan, "auto", "auto", "auto", WEIGHT_OTHERS);
  add_all (&rest, all_ops, N_ALL, axes.all, axes.n_all, axes.shape, axes.n_first, PROBE_LAUNCH_THREADS);
  add_all (&rest, all_ops, N_ALL, axes.all, axes.n_all, others, n_others, PROBE_LAUNCH_GRAPH);
  add_all (&rest, all_ops, N_ALL, axes.all, axes.n_all, others, n_others, PROBE_LAUNCH_THREADS);
  add_in_place (&rest, axes.all, axes.n_all, axes.shape, axes.n_first);
  return !failed && !rest.failed;
}

void
nccl_plan_clear (NcclPlan *plan)
{
  for (size_t i = 0; i < plan->n; i++)
    free (plan->stage[i].request);
  *plan = (NcclPlan){ 0 };
}
