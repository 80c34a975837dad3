/* Why an algorithm cannot run on a communicator, and what a reader would misread where switches reduce. */
#include <math.h>

#include "collective/possible.h"
#include "comm-private.h"

gboolean
col_needs_fabric_sharp (const ColComm *comm, MdlAlgo algo)
{
  return algo == MDL_ALGO_COLLNET_DIRECT || algo == MDL_ALGO_COLLNET_CHAIN || (algo == MDL_ALGO_NVLS && comm->n_islands > 1);
}

static const char *
why_not_network (const ColComm *comm, MdlAlgo algo)
{
  gboolean other = comm->network != NULL && !clu_family_may_reduce (comm->network_family);
  if (clu_fabric_has_sharp (comm->clu) && !other)
    return NULL;
  const char *span = algo == MDL_ALGO_NVLS ? "its ranks span more than one NVLink domain and " : "";
  g_autofree char *text =
      other
          ? g_strdup_printf ("%sthe network's switches do not reduce: SHARP is InfiniBand's, and this network is of link class %s",
                             span, comm->network)
          : g_strdup_printf ("%sthe network's switches do not reduce (topology: `fabric: {sharp: true}` where they do)", span);
  return g_string_chunk_insert_const (comm->room->texts, text);
}

/* Why not, but for the room in the network's switches, which takes a look at all of them. */
static const char *
why_not_whatever_room (const ColComm *comm, MdlAlgo algo)
{
  gboolean in_node = algo == MDL_ALGO_NVLS || algo == MDL_ALGO_NVLS_TREE;
  if (algo == MDL_ALGO_PAT && comm->n_islands < comm->n)
    return "it needs one GPU a node";
  if (algo == MDL_ALGO_TORUS && (comm->torus_steps == 0 || comm->intra.hop != MDL_HOP_NVLINK))
    return "its ranks are no torus of a node, nor a box of one";
  if (algo == MDL_ALGO_HIERARCHICAL && comm->hierarchy.Bps[1] <= 0)
    return comm->n_islands < 2 ? "its ranks are all on one node"
                               : "its ranks are not the same accelerators of each node: a box of its torus, or behind a switch";
  if (col_algo_has_messages (algo) || algo == MDL_ALGO_TORUS || algo == MDL_ALGO_HIERARCHICAL)
    return NULL;
  if (in_node && !clu_domain_has_sharp (comm->clu))
    return "the node's switches do not reduce (topology: `nvlink: {sharp: true}` where they do)";
  if (in_node && comm->intra.used && comm->intra.hop != MDL_HOP_NVLINK)
    return "its ranks do not reach each other over NVLink";
  if (comm->n_islands == 1)
    return algo == MDL_ALGO_NVLS ? NULL : "its ranks are all on one node";
  if (!col_needs_fabric_sharp (comm, algo))
    return NULL;
  const char *network = why_not_network (comm, algo);
  if (network != NULL)
    return network;
  if (comm->settings->degrade.management || comm->settings->degrade.frontend || comm->inter.hop == MDL_HOP_TCP)
    return "only RDMA over the fabric reaches the network's reducing switches";
  return NULL;
}

const char *
col_why_no_room (const ColComm *comm, MdlAlgo algo)
{
  return col_needs_fabric_sharp (comm, algo) ? col_sharp_why_not (comm) : NULL;
}

const char *
col_why_not_here (const ColComm *comm, MdlAlgo algo)
{
  const char *reason = why_not_whatever_room (comm, algo);
  return reason != NULL ? reason : col_why_no_room (comm, algo);
}

/* Source: NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel: all-gather and reduce-scatter ask for a head for each rank, and
 * for a version that has them. */
static const char *
why_no_gather (const ColComm *comm, MdlOp op, MdlAlgo algo)
{
  if (op == MDL_OP_ALL_REDUCE || !col_needs_fabric_sharp (comm, algo))
    return NULL;
  const MdlTunerSpec *spec = comm->settings->library != NULL ? mdl_library_tuner (comm->settings->library) : NULL;
  if (spec != NULL && (algo == MDL_ALGO_NVLS ? !spec->nvls.gather_nodes.v : spec->collnet.gather.v == MDL_TUNER_COLLNET_NONE))
    return "this version of NCCL neither gathers nor scatters in the network's switches by it";
  double each_Bps;
  if (comm->n != comm->n_islands * comm->max_local)
    return "gathering and scattering in the network's switches needs as many GPUs on each node";
  if (col_comm_nics (comm, &each_Bps) < comm->max_local)
    return "gathering and scattering in the network's switches needs an adapter for each GPU";
  return NULL;
}

/* Why the network's switches do not add a data type; NULL where they do. */
static const char *
why_not_type (const ColComm *comm, MdlOp op, MdlDtype dtype)
{
  const CluSharpSpec *spec = clu_fabric_sharp (comm->clu);
  if (op == MDL_OP_ALL_GATHER)
    return NULL;
  if (dtype == MDL_DTYPE_FP8)
    return "the network's switches do not add fp8";
  gboolean small = dtype == MDL_DTYPE_BF16 || dtype == MDL_DTYPE_INT8;
  return small && spec != NULL && spec->small_types.set && !spec->small_types.v
             ? "the network's switches of this generation do not add bf16 and int8"
             : NULL;
}

/* Why kernels on symmetric memory do not add a data type; NULL where they do. Source: NCCL 5067397c
 * src/sym_kernels.cc:ncclSymkImplemented. */
static const char *
why_not_added (MdlOp op, MdlDtype dtype)
{
  return op != MDL_OP_ALL_GATHER && (dtype == MDL_DTYPE_INT8 || dtype == MDL_DTYPE_FP64)
             ? "kernels on symmetric memory add floating-point numbers of 32 bits and less"
             : NULL;
}

/* Which setting turned off what disabled_algos holds. */
static const char *
why_disabled (const ColSettings *settings, MdlAlgo algo)
{
  if (settings->no_nvls && (algo == MDL_ALGO_NVLS || algo == MDL_ALGO_NVLS_TREE))
    return "NCCL_NVLS_ENABLE=0 turns it off";
  return settings->no_pat && algo == MDL_ALGO_PAT ? "NCCL_PAT_ENABLE=0 turns it off" : "it is disabled";
}

const char *
col_why_forbidden (const ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto, gboolean room)
{
  /* NCCL_ALGO and NCCL_PROTO do not reach kernels on symmetric memory. */
  const gboolean own = algo == MDL_ALGO_SYMMETRIC;
  const ColSettings *settings = comm->settings;
  if (settings->disabled_algos & (1u << algo))
    return why_disabled (settings, algo);
  if (!own && col_off_algos (settings, request->op) & (1u << algo))
    return "NCCL_ALGO leaves it out";
  if (settings->library != NULL && settings->disabled_protos & (1u << proto))
    return "its protocol is disabled";
  if (settings->library != NULL && !own && col_off_protos (settings, request->op) & (1u << proto))
    return "NCCL_PROTO leaves its protocol out";
  /* Source: NCCL 5067397c src/include/device.h:ncclNvlsSupported; gathering adds nothing. */
  gboolean narrow = request->dtype == MDL_DTYPE_INT8 || request->dtype == MDL_DTYPE_FP8;
  if (comm->settings->library != NULL && (algo == MDL_ALGO_NVLS || algo == MDL_ALGO_NVLS_TREE) && narrow &&
      request->op != MDL_OP_ALL_GATHER)
    return "the NVSwitch does not add this data type";
  if (algo == MDL_ALGO_IBGDA && request->algo != algo)
    return "it is NVSHMEM's, which NCCL never takes; algo ibgda asks for it";
  if (algo == MDL_ALGO_ONE_SHOT && comm->settings->library != NULL && narrow)
    return "frameworks' kernels add fp32, fp16 and bf16";
  if (own && why_not_added (request->op, request->dtype) != NULL)
    return why_not_added (request->op, request->dtype);
  const char *reason = room ? col_why_not_here (comm, algo) : why_not_whatever_room (comm, algo);
  if (reason == NULL)
    reason = why_no_gather (comm, request->op, algo);
  if (reason == NULL && comm->settings->library != NULL && col_needs_fabric_sharp (comm, algo))
    reason = why_not_type (comm, request->op, request->dtype);
  return reason;
}

/* Why an operation on symmetric buffers runs as on any others; NULL where it does not, or another algorithm was
 * named. */
static const char *
why_no_windows (const ColSettings *settings, const ColAnswer *coll)
{
  const gboolean taken = coll->algo == MDL_ALGO_SYMMETRIC || coll->algo == MDL_ALGO_COPY_ENGINE || coll->algo == MDL_ALGO_ONE_SHOT;
  if (settings->buffers != MDL_BUFFERS_SYMMETRIC || taken)
    return NULL;
  const char *reason = mdl_symmetric_why_not (settings->library, &coll->question);
  return reason != NULL ? reason : why_not_added (coll->op, coll->dtype);
}

/* Why NCCL_CTA_POLICY=ZERO leaves an operation to kernels; NULL where it does not, or another algorithm was named. */
static const char *
why_no_engines (const ColSettings *settings, const ColAnswer *coll)
{
  if (!settings->zero_cta || coll->algo == MDL_ALGO_COPY_ENGINE)
    return NULL;
  if (settings->buffers != MDL_BUFFERS_SYMMETRIC)
    return "buffers must be in windows of symmetric memory (`buffers: symmetric`)";
  return mdl_copy_engine_why_not (settings->library, &coll->question);
}

/* An algorithm that was named and that NCCL takes with other settings only. */
static void
warn_settings (const ColSettings *settings, const ColAnswer *coll, GPtrArray *texts)
{
  const gboolean engines = coll->algo == MDL_ALGO_COPY_ENGINE;
  if ((!engines && coll->algo != MDL_ALGO_SYMMETRIC) || settings->buffers == MDL_BUFFERS_SYMMETRIC)
    return;
  g_ptr_array_add (texts,
                   g_strdup_printf ("%s needs buffers in windows of symmetric memory: the time holds with `buffers: symmetric`%s",
                                    base_name (mdl_algo_names, (int)coll->algo),
                                    engines && !settings->zero_cta ? " and NCCL_CTA_POLICY=ZERO" : ""));
}

void
col_window_warnings (const ColSettings *settings, const ColAnswer *coll, const char *whose, GPtrArray *texts)
{
  if (settings->library == NULL || coll->n_ranks == 1)
    return;
  const char *op = base_name (mdl_op_names, (int)coll->op), *no_windows = why_no_windows (settings, coll),
             *no_engines = why_no_engines (settings, coll);
  if (no_windows != NULL)
    g_ptr_array_add (texts, g_strdup_printf ("symmetric buffers have no effect on %s %s, NCCL falls back to %s: %s", whose, op,
                                             base_name (mdl_algo_names, (int)coll->algo), no_windows));
  if (no_engines != NULL)
    g_ptr_array_add (
        texts, g_strdup_printf ("NCCL_CTA_POLICY=ZERO has no effect on %s %s, which kernels serve: %s", whose, op, no_engines));
  warn_settings (settings, coll, texts);
}

/* Rate, as specified, that a busbw is held against; infinite where there is none. */
static double
line_Bps (ColComm *comm)
{
  if (comm->n_islands > 1) {
    double each_Bps;
    unsigned nics = col_comm_nics (comm, &each_Bps);
    return nics > 0 ? nics * each_Bps : HUGE_VAL;
  }
  CluLink link;
  gboolean any = comm->n > 1 && col_comm_route (comm, 0, 1, CLU_NONE, &comm->route, NULL) && col_comm_first_link (comm, &link);
  return any ? link.rate_Bps : HUGE_VAL;
}

void
col_comm_switch_warnings (ColComm *comm, const ColAnswer *coll, GPtrArray *texts)
{
  const ColSettings *settings = comm->settings;
  const char *no_collnet = settings->collnet && comm->n_islands > 1 ? col_why_not_here (comm, MDL_ALGO_COLLNET_CHAIN) : NULL;
  if (no_collnet != NULL)
    g_ptr_array_add (texts, g_strdup_printf ("NCCL_COLLNET_ENABLE=1 has no effect, NCCL falls back: %s", no_collnet));
  col_window_warnings (settings, coll, "this", texts);
  const gboolean exact = settings->mode == COL_MODE_EVENT && settings->steps == COL_STEPS_EXACT;
  if (exact && settings->library != NULL && settings->in_a_row > 1 && comm->n > 2 &&
      (coll->op == MDL_OP_BROADCAST || coll->op == MDL_OP_REDUCE))
    g_ptr_array_add (texts,
                     g_strdup_printf ("exact steps: the time is of one %s alone, from the first rank to the last; without them "
                                      "it is the mean of %u in a row (--iters), where ranks go on before the last is done",
                                      base_name (mdl_op_names, (int)coll->op), settings->in_a_row));
  if (col_algo_has_messages (coll->algo) || comm->n == 1)
    return;
  const char *algo = base_name (mdl_algo_names, (int)coll->algo);
  if (exact)
    g_ptr_array_add (texts, g_strdup_printf ("exact steps: %s has no messages here; it ran as one activity", algo));
  if (coll->algo == MDL_ALGO_TORUS || coll->algo == MDL_ALGO_HIERARCHICAL)
    return;
  double rate_Bps = line_Bps (comm);
  if (coll->busbw_Bps > rate_Bps)
    g_ptr_array_add (
        texts,
        g_strdup_printf ("%s: busbw exceeds the line rate of %s (%.4g GB/s) because switches reduce; wire is the rate on the links",
                         algo, comm->n_islands == 1 ? "a GPU" : "a node's NICs", rate_Bps * 1e-9));
}

void
col_run_warn_steps (ColRunInfo *info, const ColSettings *settings, const char *what)
{
  if (settings->mode == COL_MODE_EVENT && settings->steps == COL_STEPS_EXACT)
    col_run_warn (info,
                  "exact steps: each collective of %s ran as one activity, since kernels beside it set its pace; only operations "
                  "by themselves send messages",
                  what);
}

char *
col_one_shot_why_not (const ColComm *comm, const ColAnswer *priced)
{
  const ColSettings *settings = comm->settings;
  if (settings->one_shot == NULL || settings->library == NULL || comm->n == 1)
    return NULL;
  if (priced->op != MDL_OP_ALL_REDUCE)
    return g_strdup_printf ("frameworks' kernels serve all-reduce only, not %s", base_name (mdl_op_names, (int)priced->op));
  MdlCollQuestion question = priced->question;
  question.size_B = 0; /* larger ones go to NCCL, as in the framework */
  const MdlColl *coll = mdl_coll_find (MDL_ALGO_ONE_SHOT, MDL_OP_ALL_REDUCE);
  const char *reason = coll->why_not (settings->library, MDL_PROTO_SIMPLE, &question);
  return reason != NULL ? g_strdup_printf ("%s cannot run on these %u GPUs: %s", settings->one_shot, comm->n, reason) : NULL;
}
