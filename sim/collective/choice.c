/* NCCL's own choice of algorithm and protocol: the inputs of its tuner for a communicator, and the result. */
#include <math.h>
#include <string.h>

#include "comm-private.h"
#include "models/tuner_region.h"

G_STATIC_ASSERT ((int)MDL_PATH_NET == (int)CLU_PATH_NET && (int)MDL_PATH_PXN == (int)CLU_PATH_PXN);
G_STATIC_ASSERT ((int)MDL_CPU_OTHER == (int)CLU_CPU_OTHER && (int)MDL_CPU_AMD == (int)CLU_CPU_AMD);

/* Lanes of the first link that a rank of the slowest node leaves by inside its island; 0 where that is no scale-up link. */
static double
scale_up_lanes (ColComm *comm)
{
  for (guint32 r = 0; comm->rings != NULL && r < comm->rings->n_rings; r++)
    for (guint32 i = 0; i < comm->n; i++) {
      guint32 a = comm->rings->ring[r].order[i], b = comm->rings->ring[r].order[(i + 1) % comm->n];
      if (comm->island[a] != comm->island[b] || clu_dev_node (comm->clu, comm->dev[a]) != comm->slow_node ||
          !col_comm_route (comm, a, b, CLU_NONE, &comm->route, NULL))
        continue;
      CluLink link;
      return comm->route.path_class == CLU_PATH_NVL && col_comm_first_link (comm, &link) ? link.lanes : 0;
    }
  return 0;
}

static void
ask_search (ColComm *comm, const MdlSearchSpec *spec, MdlSearchQuestion *q)
{
  const ColSettings *settings = comm->settings;
  const guint32 node = comm->slow_node; /* src/init.cc:initTransportsRank takes minima over ranks */
  const CluNodeSpec *node_spec = clu_node_spec (comm->clu, node);
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, node);
  memset (q, 0, sizeof *q);
  q->gpus = comm->max_local;
  q->nodes = comm->n_islands;
  q->capability = (unsigned)gpu->compute_capability.v;
  q->switched = col_comm_is_switched (comm);
  double lanes = comm->intra.used && comm->intra.hop == MDL_HOP_NVLINK ? scale_up_lanes (comm) : 0;
  if (q->switched)
    q->nvlinks = lanes;
  else if (lanes > 0 && comm->n_islands == 1) { /* a mesh: the rings that were found over it */
    q->nvlinks = lanes;
    q->mesh_rings = comm->rings->n_rings;
    q->mesh_ring_Bps = mdl_search_nvlink_Bps (spec, q->capability);
  }
  q->reduces = q->switched && clu_domain_has_sharp (comm->clu) && !(settings->disabled_algos & (1u << MDL_ALGO_NVLS));
  q->pcie_generation = (unsigned)node_spec->pcie.generation.v;
  q->pcie_lanes = (unsigned)node_spec->pcie.lanes.v;
  if (q->pcie_generation == 0) { /* as the GPU's own slot: class pcieN */
    const CluLinkClass *slot = gpu->pcie.link_class.value;
    const char *digit = slot != NULL && slot->name.v != NULL && g_str_has_prefix (slot->name.v, "pcie") ? slot->name.v + 4 : "0";
    q->pcie_generation = (unsigned)g_ascii_digit_value (*digit);
    q->pcie_lanes = slot != NULL ? (unsigned)(gpu->pcie.lanes.set ? gpu->pcie.lanes.v : slot->lanes.v) : 0;
  }
  q->gpus_per_switch = (unsigned)node_spec->pcie.switch_per.v;
  q->path = comm->intra.used ? (MdlPath)comm->intra.path : MDL_PATH_LOC;
  q->nics = col_comm_nics (comm, &q->nic_Bps);
  q->nic_latency_s = mdl_library_tuner_latency_s (settings->library, comm->network);
  q->nic_path = comm->inter.used ? (MdlPath)comm->inter.path : MDL_PATH_LOC;
  q->cpu = (MdlCpu)node_spec->sockets.vendor.v;
  /* no key says which; machines of Hopper's time have it, and it matters for traffic between sockets alone */
  q->cpu_model = q->capability >= 90 ? MDL_CPU_MODEL_SAPPHIRE : MDL_CPU_MODEL_OLDER;
  q->min_channels = col_min_channels (settings);
  q->max_channels = col_max_channels (settings);
  q->no_pxn = settings->degrade.no_pxn;
  q->same_rail = settings->degrade.same_rail;
  q->collnet = settings->collnet && col_why_not_here (comm, MDL_ALGO_COLLNET_CHAIN) == NULL;
}

static unsigned
max_capability (const ColComm *comm)
{
  double most = 0;
  guint32 seen = CLU_NONE;
  for (guint32 i = 0; i < comm->n; i++) {
    const guint32 node = clu_dev_node (comm->clu, comm->dev[i]);
    if (node != seen)
      most = fmax (most, clu_gpu_spec (comm->clu, node)->compute_capability.v);
    seen = node;
  }
  return (unsigned)most;
}

/* Made once a communicator; NULL where the library's choice is not modelled. */
static const MdlTuner *
prepared (ColComm *comm)
{
  const struct MdlTunerSpec *spec = comm->settings->library != NULL ? mdl_library_tuner (comm->settings->library) : NULL;
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, comm->slow_node);
  if (spec == NULL || comm->n < 2 || !gpu->compute_capability.set || comm->settings->degrade.host_only)
    return NULL;
  if (comm->tuner == NULL) {
    MdlSearchQuestion question;
    MdlSearch search;
    ask_search (comm, &spec->search, &question);
    mdl_search (&spec->search, &question, &search);
    mdl_search_take (comm->settings->library, comm->max_local, comm->n_islands, &search);
    MdlTunerComm tuned = { .ranks = comm->n,
                           .nodes = comm->n_islands,
                           .max_local = comm->max_local,
                           .min_capability = question.capability,
                           .max_capability = max_capability (comm),
                           .cpu = question.cpu,
                           .switched = question.switched,
                           .collnet_gathers = question.collnet }; /* NVIDIA's plugin does both, from its ninth interface on */
    /* One lane that carries all says nothing of the NVLinks that the search counts; on one node the library's table is measured. */
    const gboolean counted = comm->n_islands > 1 && (question.nvlinks != 1.0 || comm->max_local == 1);
    comm->channels = counted ? search.channels : 0;
    comm->nvls_channels = search.nvls_channels;
    comm->tuner = g_new (MdlTuner, 1);
    mdl_tuner_prepare (spec, &tuned, &search, comm->tuner);
  }
  return comm->tuner;
}

unsigned
col_comm_channels (ColComm *comm, unsigned *nvls)
{
  gboolean known = prepared (comm) != NULL;
  *nvls = known ? comm->nvls_channels : 0;
  return known ? comm->channels : 0;
}

gboolean
col_comm_knows_choice (ColComm *comm, MdlOp op)
{
  return op < MDL_TUNER_OPS && prepared (comm) != NULL;
}

/* What to ask of it for `request`, in *question; NULL where the library's choice is not modelled. */
static const MdlTuner *
tuner_for (ColComm *comm, const ColCollRequest *request, MdlTunerQuestion *question)
{
  *question = (MdlTunerQuestion){ .op = request->op,
                                  .size_B = request->size_B,
                                  .dtype = request->dtype,
                                  .reduction = MDL_REDUCTION_SUM,
                                  .disabled_algos = col_off_algos (comm->settings, request->op),
                                  .disabled_protos = col_off_protos (comm->settings, request->op) };
  return request->op < MDL_TUNER_OPS ? prepared (comm) : NULL;
}

/* The tuner's estimates for all algorithms and protocols; the region of a plugin's tuner that decides instead, or NULL. */
static const MdlTunerRegion *
estimate (const ColComm *comm, const MdlTuner *tuner, const MdlTunerQuestion *question,
          double time_s[MDL_ALGO_PAIRWISE][MDL_PROTO_N])
{
  mdl_tuner_table (tuner, question, time_s);
  const MdlTunerRegions *regions =
      comm->settings->no_tuner_plugin
          ? NULL
          : mdl_library_regions (comm->settings->library, comm->network, tuner->comm.min_capability);
  return regions != NULL ? mdl_tuner_region (regions, &tuner->comm, question, time_s) : NULL;
}

gboolean
col_comm_nccl_choice (ColComm *comm, const ColCollRequest *request, const GArray *choices, MdlAlgo *algo, MdlProto *proto)
{
  MdlTunerQuestion question;
  const MdlTuner *tuner = tuner_for (comm, request, &question);
  if (tuner == NULL)
    return FALSE;
  double time_s[MDL_ALGO_PAIRWISE][MDL_PROTO_N], least_s = HUGE_VAL;
  const MdlTunerRegion *region = estimate (comm, tuner, &question, time_s);
  if (region != NULL)
    time_s[region->algo.v][region->proto.v] = 0.0;
  for (guint i = 0; i < choices->len; i++) { /* in NCCL's order, in which the first of equals wins */
    const ColChoice *c = &g_array_index (choices, ColChoice, i);
    if (c->reason != NULL || c->algo >= MDL_ALGO_PAIRWISE || (request->algo >= 0 && c->algo != request->algo) ||
        (request->proto >= 0 && c->proto != request->proto) || time_s[c->algo][c->proto] >= least_s ||
        col_why_no_room (comm, c->algo) != NULL)
      continue;
    least_s = time_s[c->algo][c->proto];
    *algo = c->algo;
    *proto = c->proto;
  }
  return least_s < HUGE_VAL;
}

double
col_comm_nccl_time_s (ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto)
{
  MdlTunerQuestion question;
  const MdlTuner *tuner = tuner_for (comm, request, &question);
  return tuner != NULL ? mdl_tuner_time_s (tuner, &question, algo, proto) : (double)NAN;
}

unsigned
col_comm_nccl_terms (ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto, MdlTerm term[MDL_MAX_TERMS])
{
  MdlTunerQuestion question;
  const MdlTuner *tuner = tuner_for (comm, request, &question);
  return tuner != NULL ? mdl_tuner_explain (tuner, &question, algo, proto, term) : 0;
}

const char *
col_comm_plugin_tuner (ColComm *comm, const ColCollRequest *request, MdlAlgo *algo, MdlProto *proto)
{
  MdlTunerQuestion question;
  const MdlTuner *tuner = tuner_for (comm, request, &question);
  if (tuner == NULL)
    return NULL;
  double time_s[MDL_ALGO_PAIRWISE][MDL_PROTO_N];
  const MdlTunerRegion *region = estimate (comm, tuner, &question, time_s);
  if (region == NULL)
    return NULL;
  *algo = (MdlAlgo)region->algo.v;
  *proto = (MdlProto)region->proto.v;
  return mdl_library_regions (comm->settings->library, comm->network, tuner->comm.min_capability)->name.v;
}
