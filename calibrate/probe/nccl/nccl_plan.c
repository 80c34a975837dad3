#include "nccl_plan.h"

#include <stdlib.h>

#define WEIGHT_CHOICE  1.5
#define WEIGHT_AUTO    4
#define WEIGHT_FORCED  2
#define WEIGHT_OFFERED 1
#define WEIGHT_OTHERS  5
#define WEIGHT_P2P_OFF 1.5
#define WEIGHT_BUFFERS 1.5

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

#define GRAPH   PROBE_LAUNCH_GRAPH
#define THREADS PROBE_LAUNCH_THREADS
#define SERIAL  PROBE_LAUNCH_SERIAL

typedef struct {
  size_t n;
  ProbeOp op[PROBE_OP_N];
} Ops;

static const Ops all_ops = { 7,
                             { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER, PROBE_OP_ALLTOALL,
                               PROBE_OP_SENDRECV, PROBE_OP_BROADCAST, PROBE_OP_REDUCE } };
static const Ops tuned_ops = {
  5, { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER, PROBE_OP_BROADCAST, PROBE_OP_REDUCE }
};
static const Ops offered_ops = { 3, { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER } };
static const Ops p2p_ops = { 3, { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_SENDRECV } };
static const Ops symmetric_ops = { 3, { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER } };
static const Ops all_reduce = { 1, { PROBE_OP_ALL_REDUCE } };

/* Trees know all-reduce alone. */
static const struct {
  const char *name, *algo, *proto, *algo_setting, *proto_setting;
  const Ops *ops;
} forced[] = {
  { "ring_ll", "ring", "ll", "NCCL_ALGO=Ring", "NCCL_PROTO=LL", &tuned_ops },
  { "ring_ll128", "ring", "ll128", "NCCL_ALGO=Ring", "NCCL_PROTO=LL128", &tuned_ops },
  { "ring_simple", "ring", "simple", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", &tuned_ops },
  { "tree_ll", "tree", "ll", "NCCL_ALGO=Tree", "NCCL_PROTO=LL", &all_reduce },
  { "tree_ll128", "tree", "ll128", "NCCL_ALGO=Tree", "NCCL_PROTO=LL128", &all_reduce },
  { "tree_simple", "tree", "simple", "NCCL_ALGO=Tree", "NCCL_PROTO=Simple", &all_reduce },
};

/* Over nodes: what needs more than every node has: switches that reduce, NVLink multicast. A setting each, Simple alone. */
static const struct {
  const char *name, *algo, *algo_setting, *enable;
  bool nvls;
  const Ops *ops;
} offered[] = {
  { "collnet_direct_simple", "collnet_direct", "NCCL_ALGO=CollnetDirect", "NCCL_COLLNET_ENABLE=1", false, &offered_ops },
  { "collnet_chain_simple", "collnet_chain", "NCCL_ALGO=CollnetChain", "NCCL_COLLNET_ENABLE=1", false, &all_reduce },
  { "nvls_simple", "nvls", "NCCL_ALGO=NVLS", "NCCL_COLLNET_ENABLE=1", true, &offered_ops },
  { "nvls_tree_simple", "nvls_tree", "NCCL_ALGO=NVLSTree", NULL, true, &all_reduce },
};

typedef struct {
  size_t size[PROBE_SIZES_MOST], n;
} Sizes;

typedef struct {
  const ProbeShape *shape;
  size_t n;
} Shapes;

typedef struct {
  NcclPlan *plan;
  NcclStage *stage;            /* the one that cases are added to */
  bool over_nodes;             /* one process a GPU: nothing is launched serially */
  Sizes all, few, least;       /* auto; forced; P2P off */
  Shapes every, first, others; /* the first ones are n and 2: GPUs of one node, or nodes */
  bool failed;
} Maker;

static void
add (Maker *maker, ProbeRequest request)
{
  NcclStage *stage = maker->stage;
  if (probe_op_count (request.op, request.bytes, probe_request_ranks (&request)) == 0)
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
  request.choice = stage->choice;
  stage->request[stage->n++] = request;
}

static NcclStage *
begin (Maker *maker, const char *name, const char *algo, const char *proto, double weight)
{
  maker->stage = &maker->plan->stage[maker->plan->n++];
  *maker->stage = (NcclStage){ .name = name, .algo = algo, .proto = proto, .p2p = true, .weight = weight };
  return maker->stage;
}

/* Operations by sizes, sizes outermost: when time ends, all operations have the same coarse sizes. */
static void
add_launch (Maker *maker, const Ops *ops, const Sizes *sizes, Shapes shapes, ProbeRequest request)
{
  for (size_t s = 0; s < sizes->n; s++)
    for (size_t g = 0; g < shapes.n; g++)
      for (size_t o = 0; o < ops->n; o++) {
        request.op = ops->op[o];
        request.bytes = sizes->size[s];
        request.nodes = shapes.shape[g].nodes;
        request.gpus = shapes.shape[g].gpus;
        add (maker, request);
      }
}

static void
add_all (Maker *maker, const Ops *ops, const Sizes *sizes, Shapes shapes, ProbeLaunch launch)
{
  add_launch (maker, ops, sizes, shapes, (ProbeRequest){ .launch = launch });
}

/* What is run in place too: graphs of all-reduces, as frameworks do. */
static void
add_in_place (Maker *maker, Shapes shapes)
{
  add_launch (maker, &all_reduce, &maker->all, shapes, (ProbeRequest){ .launch = GRAPH, .in_place = true });
}

static void
add_channels (Maker *maker, Shapes shapes)
{
  static const unsigned channels[] = { 1, 2, 4, 8, 16 };
  static const Sizes sizes = { { 64 * KIB, MIB, 16 * MIB, 128 * MIB }, 4 };
  for (size_t g = 0; g < shapes.n; g++)
    for (size_t c = 0; c < sizeof channels / sizeof channels[0]; c++)
      add_launch (maker, &all_reduce, &sizes, (Shapes){ shapes.shape + g, 1 },
                  (ProbeRequest){ .launch = GRAPH, .channels = channels[c] });
}

static void
add_forced (Maker *maker)
{
  for (size_t f = 0; f < sizeof forced / sizeof forced[0]; f++) {
    const Ops *ops = forced[f].ops;
    NcclStage *stage = begin (maker, forced[f].name, forced[f].algo, forced[f].proto, WEIGHT_FORCED);
    stage->setting[0] = forced[f].algo_setting;
    stage->setting[1] = forced[f].proto_setting;
    add_all (maker, ops, &maker->few, maker->first, GRAPH);
    if (maker->over_nodes) {
      add_all (maker, ops, &maker->few, maker->others, GRAPH);
      add_channels (maker, (Shapes){ maker->first.shape, 1 });
      add_all (maker, ops, &maker->few, maker->first, THREADS);
    } else {
      add_channels (maker, maker->first);
      add_all (maker, ops, &maker->few, maker->others, GRAPH);
      add_all (maker, ops, &maker->few, maker->every, THREADS);
      add_all (maker, ops, &maker->few, maker->every, SERIAL);
    }
  }
}

static void
add_offered (Maker *maker, bool nvls)
{
  const ProbeShape *shape = maker->every.shape;
  for (size_t f = 0; f < sizeof offered / sizeof offered[0]; f++) {
    if (offered[f].nvls && !nvls)
      continue;
    NcclStage *stage = begin (maker, offered[f].name, offered[f].algo, "simple", WEIGHT_OFFERED);
    stage->offered = true;
    stage->setting[0] = offered[f].algo_setting;
    stage->setting[1] = "NCCL_PROTO=Simple";
    stage->setting[2] = offered[f].enable;
    for (size_t g = 0; g < maker->every.n; g++)
      if (shape[g].nodes > 1 && shape[g].gpus == shape[0].gpus)
        add_all (maker, offered[f].ops, &maker->few, (Shapes){ shape + g, 1 }, GRAPH);
  }
}

/* Buffers of ncclMemAlloc: registered with the communicator, so that a peer writes into them without a copy; or in windows of
 * symmetric memory, which NCCL 2.27 and later serve by kernels of their own. */
static void
add_buffers (Maker *maker)
{
  static const struct {
    const char *name, *buffers, *setting;
    const Ops *ops;
  } kinds[] = { { "registered", "registered", "FORERUN_PROBE_BUFFERS=registered", &all_ops },
                { "symmetric", "symmetric", "FORERUN_PROBE_BUFFERS=symmetric", &symmetric_ops } };
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    NcclStage *stage = begin (maker, kinds[k].name, "auto", "auto", WEIGHT_BUFFERS);
    stage->buffers = kinds[k].buffers;
    stage->offered = true;
    stage->setting[0] = kinds[k].setting;
    add_all (maker, kinds[k].ops, &maker->few, maker->first, GRAPH);
    add_all (maker, kinds[k].ops, &maker->few, maker->first, THREADS);
  }
}

enum { BY_2 = 1, BY_4 = 2, BY_8 = 3, BY_16 = 4 };

/* False: out of memory. */
static bool
make (Maker *maker, bool quick, bool nvls)
{
  bool nodes = maker->over_nodes;
  maker->all.n = probe_sizes (quick ? BY_8 : BY_2, quick ? BY_8 : BY_4, maker->all.size);
  maker->few.n = probe_sizes (quick ? BY_8 : BY_4, quick ? BY_8 : BY_16, maker->few.size);
  maker->least.n = probe_sizes (BY_8, BY_8, maker->least.size);
  maker->others = (Shapes){ maker->every.shape + maker->first.n, maker->every.n - maker->first.n };

  begin (maker, "choice", "auto", "auto", WEIGHT_CHOICE)->choice = true;
  for (size_t g = 0; g < maker->every.n; g++) /* counts outermost: the first is n, whose topology NCCL writes out first */
    add_all (maker, &tuned_ops, &maker->all, (Shapes){ maker->every.shape + g, 1 }, nodes ? THREADS : SERIAL);

  begin (maker, "auto", "auto", "auto", WEIGHT_AUTO)->stays = !nodes;
  add_all (maker, &all_ops, &maker->all, maker->first, GRAPH);
  if (!nodes)
    add_in_place (maker, maker->first);
  add_forced (maker);
  if (nodes)
    add_offered (maker, nvls);

  begin (maker, "auto", "auto", "auto", WEIGHT_OTHERS);
  add_all (maker, &all_ops, &maker->all, maker->first, THREADS);
  add_all (maker, &all_ops, &maker->all, maker->others, GRAPH);
  if (!nodes)
    add_all (maker, &all_ops, &maker->all, maker->first, SERIAL);
  add_all (maker, &all_ops, &maker->all, maker->others, THREADS);
  if (!nodes)
    add_all (maker, &all_ops, &maker->all, maker->others, SERIAL);
  add_in_place (maker, nodes ? maker->first : maker->others);
  if (nodes)
    return !maker->failed;

  add_buffers (maker);
  NcclStage *off = begin (maker, "p2p_off", "auto", "auto", WEIGHT_P2P_OFF);
  off->p2p = false;
  off->setting[0] = "NCCL_P2P_DISABLE=1";
  add_all (maker, &p2p_ops, &maker->least, maker->first, GRAPH);
  add_all (maker, &p2p_ops, &maker->least, maker->first, THREADS);
  return !maker->failed;
}

bool
nccl_plan_make (NcclPlan *plan, unsigned gpus, bool quick)
{
  unsigned count[PROBE_COUNTS_MOST];
  ProbeShape shape[PROBE_COUNTS_MOST];
  size_t n = probe_gpu_counts (gpus, count);
  Maker maker = { .plan = plan, .every = { shape, n }, .first = { shape, gpus > 2 ? 2 : 1 } };
  *plan = (NcclPlan){ 0 };
  for (size_t i = 0; i < n; i++)
    shape[i] = (ProbeShape){ .nodes = 1, .gpus = count[i] };
  return n > 0 && make (&maker, quick, false);
}

bool
nccl_plan_make_nodes (NcclPlan *plan, unsigned nodes, unsigned gpus, bool quick, bool nvls)
{
  ProbeShape shape[PROBE_SHAPES_MOST];
  size_t n_first, n = probe_shapes (nodes, gpus, shape, &n_first);
  Maker maker = { .plan = plan, .over_nodes = true, .every = { shape, n }, .first = { shape, n_first } };
  *plan = (NcclPlan){ 0 };
  return n > 0 && make (&maker, quick, nvls);
}

void
nccl_plan_clear (NcclPlan *plan)
{
  for (size_t i = 0; i < plan->n; i++)
    free (plan->stage[i].request);
  *plan = (NcclPlan){ 0 };
}
