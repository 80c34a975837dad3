/* Dispatch and combine of experts: whether a library can run on these ranks, what the links give, and draws of the routing. */
#include "collective/moe.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "collective/gpu.h"
#include "comm-private.h"

/* Copies that are drawn: a second of work. */
#define MOST_COPIES (1u << 25)

/* Refuses what `key` of a scenario says. */
#define FAIL(key_, ...) (*key = (key_), base_fail (error, BASE_ERROR_INPUT, __VA_ARGS__), FALSE)

/* ---- what can run ---- */

static gboolean
check_sizes (const ColComm *comm, const ColMoeRequest *r, const char **key, GError **error)
{
  if (r->tokens < 1)
    return FAIL ("tokens", "tokens are %.0f, and each rank must have at least 1", r->tokens);
  if (r->top_k > r->experts)
    return FAIL ("top_k", "top_k %.0f is more than the %.0f experts; use at most %.0f", r->top_k, r->experts, r->experts);
  if (fmod (r->experts, comm->n) > 0)
    return FAIL ("experts", "%.0f experts do not divide by %u ranks; use a multiple of %u experts, or fewer ranks", r->experts,
                 comm->n, comm->n);
  if (fmod (comm->n, comm->n_islands) > 0 || comm->max_local * comm->n_islands != comm->n)
    return FAIL ("ranks", "the %u ranks are spread unevenly over %u NVLink domains; use the same number on each", comm->n,
                 comm->n_islands);
  if (r->groups <= 0)
    return r->top_groups <= 0 ||
           FAIL ("top_groups", "top_groups %.0f needs groups: into how many the experts are divided", r->top_groups);
  const double each = r->experts / r->groups, islands = comm->n_islands;
  if (fmod (r->experts, r->groups) > 0)
    return FAIL ("groups", "%.0f experts do not divide into %.0f groups; use a divisor", r->experts, r->groups);
  if (r->top_groups > r->groups)
    return FAIL ("top_groups", "top_groups %.0f is more than the %.0f groups", r->top_groups, r->groups);
  if (r->top_groups > 0 && r->top_groups * each < r->top_k)
    return FAIL ("top_groups", "%.0f groups of %.0f experts have fewer than top_k %.0f; use more top_groups", r->top_groups, each,
                 r->top_k);
  if ((fmod (r->groups, comm->n) > 0 && fmod (comm->n, r->groups) > 0) ||
      (fmod (r->groups, islands) > 0 && fmod (islands, r->groups) > 0))
    return FAIL ("groups", "%.0f groups do not align with %u ranks on %u nodes; use a multiple or a divisor", r->groups, comm->n,
                 comm->n_islands);
  return TRUE;
}

static gboolean
check_format (const ColMoeRequest *r, const char **key, GError **error)
{
  if (r->format == MDL_FORMAT_FP4 || r->format == MDL_FORMAT_FP8 || r->format == MDL_FORMAT_FP16 || r->format == MDL_FORMAT_BF16)
    return TRUE;
  return FAIL ("dtype", "tokens do not travel as %s; accepted: bf16, fp16, fp8, fp4", base_name (mdl_format_names, (int)r->format));
}

static gboolean
is_rdma (const ColComm *comm)
{
  return comm->inter.used && (comm->inter.hop == MDL_HOP_NET || comm->inter.hop == MDL_HOP_NET_HOST);
}

static gboolean
check_nodes (const ColComm *comm, MdlMoeBackend backend, const char **key, GError **error)
{
  const char *name = base_name (mdl_moe_backend_names, (int)backend);
  if (backend == MDL_MOE_BY_NVLINK_ONE_SIDED || backend == MDL_MOE_BY_NVLINK_TWO_SIDED)
    return FAIL ("backend",
                 "%s stores over NVLink, and the %u ranks are in %u NVLink domains; use deepep_normal, deepep_low_latency or nccl, "
                 "or ranks of one domain",
                 name, comm->n, comm->n_islands);
  if (!is_rdma (comm))
    return FAIL ("backend", "%s needs RDMA between nodes, and %s here; use backend nccl", name,
                 comm->inter.hop == MDL_HOP_TCP ? "TCP carries the traffic" : "no NIC is crossed");
  if (backend != MDL_MOE_BY_UCCL && mdl_library_plugged (comm->settings->library, comm->network))
    return FAIL (
        "backend",
        "%s starts transfers from the GPU (IBGDA), which needs InfiniBand or RoCE, and the network is %s; use backend uccl "
        "or nccl",
        name, comm->network);
  return TRUE;
}

static gboolean
check_backend (const ColComm *comm, const ColMoeRequest *r, const char **key, GError **error)
{
  const char *name = base_name (mdl_moe_backend_names, (int)r->backend);
  const double all = clu_gpu_spec (comm->clu, comm->slow_node)->compute_units.v;
  if (all > 0 && r->sms > all)
    return FAIL ("sms", "sms %.0f is more than the %.0f SMs of the GPU", r->sms, all);
  if (r->backend == MDL_MOE_BY_NCCL)
    return TRUE;
  if (comm->settings->library == NULL)
    return FAIL ("backend", "library: plain knows links alone; use library: nccl, or backend nccl");
  const CluVendor vendor = (CluVendor)clu_gpu_spec (comm->clu, comm->slow_node)->vendor.v;
  const gboolean on_amd = r->backend == MDL_MOE_BY_UCCL;
  if (vendor != CLU_VENDOR_NVIDIA && !(on_amd && vendor == CLU_VENDOR_AMD))
    return FAIL ("backend", "%s has kernels for GPUs of NVIDIA%s only, and these are %s; use backend %s", name,
                 on_amd ? " and AMD" : "", clu_gpu_spec (comm->clu, comm->slow_node)->product.v,
                 vendor == CLU_VENDOR_AMD ? "uccl or nccl" : "nccl");
  if (comm->intra.used && comm->intra.hop != MDL_HOP_NVLINK)
    return FAIL ("backend", "%s needs NVLink between the GPUs of a node, and here they talk over %s; use backend nccl", name,
                 comm->intra.hop == MDL_HOP_PCIE ? "PCIe" : "host memory");
  return comm->n_islands < 2 || check_nodes (comm, r->backend, key, error);
}

/* ---- routing by seed ---- */

typedef struct {
  double ranks, nodes; /* reached by a token, mean */
  double fullest;      /* copies that the fullest rank gets, over the mean */
} Drawn;

/* Experts of one token into `taken`, from the groups that it takes first. */
static void
draw_token (const ColMoeRequest *r, BaseRandom *random, guint8 *group_open, guint32 *taken)
{
  const guint32 experts = (guint32)r->experts, k = (guint32)r->top_k;
  const gboolean limited = r->groups > 0 && r->top_groups > 0 && r->top_groups < r->groups;
  const guint32 groups = limited ? (guint32)r->groups : 1, each = experts / groups;
  memset (group_open, !limited, groups);
  for (guint32 n = 0; limited && n < (guint32)r->top_groups;) {
    const guint32 g = base_random_below (random, groups);
    n += !group_open[g];
    group_open[g] = 1;
  }
  for (guint32 n = 0; n < k;) {
    const guint32 expert = base_random_below (random, experts);
    gboolean again = !group_open[expert / each];
    for (guint32 i = 0; i < n && !again; i++)
      again = taken[i] == expert;
    taken[n] = expert;
    n += !again;
  }
}

static gboolean
draw (const ColComm *comm, const ColMoeRequest *r, Drawn *out, const char **key, GError **error)
{
  const guint32 n = comm->n, each = (guint32)(r->experts / n), local = n / comm->n_islands;
  if (r->tokens * n * r->top_k > MOST_COPIES)
    return FAIL ("routing", "%.0f tokens x %u ranks x top_k %.0f are too many to draw; use at most %u copies, or routing: uniform",
                 r->tokens, n, r->top_k, MOST_COPIES);
  BaseRandom random = base_random_stream (comm->settings->seed, "moe routing");
  g_autofree guint8 *open = g_new (guint8, (gsize)fmax (r->groups, 1)), *seen = g_new (guint8, n);
  g_autofree guint32 *taken = g_new (guint32, (gsize)r->top_k);
  g_autofree double *got = g_new0 (double, n);
  double ranks = 0, nodes = 0, fullest = 0;
  const gsize tokens = (gsize)r->tokens * n;
  for (gsize t = 0; t < tokens; t++) {
    draw_token (r, &random, open, taken);
    memset (seen, 0, n);
    for (guint32 i = 0; i < (guint32)r->top_k; i++) {
      got[taken[i] / each]++;
      seen[taken[i] / each] = 1;
    }
    for (guint32 i = 0, last = G_MAXUINT32; i < n; i++) {
      ranks += seen[i];
      nodes += seen[i] && i / local != last;
      last = seen[i] ? i / local : last;
    }
  }
  for (guint32 i = 0; i < n; i++)
    fullest = fmax (fullest, got[i]);
  *out = (Drawn){ ranks / (double)tokens, nodes / (double)tokens, fullest / (r->tokens * r->top_k) };
  return TRUE;
}

/* ---- the price ---- */

/* What the fabric leaves a GPU of the traffic between nodes, at most its part of the NICs. */
static gboolean
nic_rate (ColComm *comm, double *out, GError **error)
{
  *out = 0;
  if (comm->n_islands < 2)
    return TRUE;
  double each_Bps = 0;
  const double nics = col_comm_nics (comm, &each_Bps), away = comm->n - comm->max_local;
  const ColTraffic *traffic = col_comm_traffic (comm, MDL_OP_ALLTOALL, MDL_ALGO_PAIRWISE, 0, error);
  if (traffic == NULL)
    return FALSE;
  const double fabric_Bps = traffic->spread->bounds.rate_Bps * away / comm->n;
  *out = nics > 0 && each_Bps > 0 ? fmin (each_Bps * nics / comm->max_local, fabric_Bps) : fabric_Bps;
  return TRUE;
}

static MdlMoeQuestion
question_of (const ColComm *comm, const ColMoeRequest *r)
{
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, comm->slow_node);
  return (MdlMoeQuestion){ .op = r->op,
                           .backend = r->backend,
                           .choice = { r->experts, r->top_k, r->groups, r->top_groups > 0 ? r->top_groups : r->groups,
                                       r->routing == MDL_MOE_BALANCED },
                           .tokens = r->tokens,
                           .hidden = r->hidden,
                           .imbalance = fmax (r->imbalance, 1),
                           .format = r->format,
                           .sms = r->sms,
                           .ranks = comm->n,
                           .nodes = comm->n_islands,
                           .nvlink_Bps = col_link_rate_Bps (&gpu->scale_up),
                           .gpu_sms = gpu->compute_units.v,
                           .gpu = gpu->name.v };
}

/* NCCL's all-to-all of all copies; to prepare, an all-gather of counts. */
static gboolean
price_nccl (ColComm *comm, const MdlMoeQuestion *q, MdlMoeCost *out, GError **error)
{
  const gboolean counts = q->op == MDL_MOE_PREPARE;
  memset (out, 0, sizeof *out);
  out->row_B = mdl_moe_row_B (q->hidden, q->format);
  out->reached_ranks = q->reached_ranks > 0 ? q->reached_ranks : mdl_moe_reached (&q->choice, q->ranks);
  out->reached_nodes = q->reached_nodes > 0 ? q->reached_nodes : mdl_moe_reached (&q->choice, q->nodes);
  const double size_B = counts ? 4 * q->choice.experts * q->ranks : q->tokens * q->imbalance * q->choice.top_k * out->row_B;
  const double local = q->ranks / q->nodes;
  out->nvlink_B = counts ? 0 : size_B * (local - 1) / q->ranks;
  out->nic_B = counts ? 0 : size_B * (q->ranks - local) / q->ranks;
  const ColCollRequest request = { .op = counts ? MDL_OP_ALL_GATHER : MDL_OP_ALLTOALL,
                                   .size_B = size_B,
                                   .dtype = MDL_DTYPE_INT8,
                                   .algo = MDL_ALGO_AUTO,
                                   .proto = MDL_PROTO_AUTO };
  g_auto (ColAnswer) coll = { 0 };
  if (!col_coll_price (comm, &request, &coll, error))
    return FALSE;
  out->time_s = coll.cost.time_s;
  out->band = coll.cost.band;
  out->source = coll.provenance;
  out->sms = coll.cost.channels;
  out->n_terms = MIN (coll.cost.n_terms, MDL_MAX_TERMS);
  memcpy (out->term, coll.cost.term, out->n_terms * sizeof *out->term);
  out->bound_by = coll.cost.link_bound ? "links" : coll.cost.latency_s > coll.cost.time_s / 2 ? "latency" : "channels";
  return TRUE;
}

gboolean
col_moe_price (ColComm *comm, const ColMoeRequest *r, ColMoeAnswer *out, const char **key, GError **error)
{
  Drawn drawn = { 0 };
  *key = "backend";
  if (!check_sizes (comm, r, key, error) || !check_format (r, key, error) || !check_backend (comm, r, key, error) ||
      (r->routing == MDL_MOE_DRAWN && !draw (comm, r, &drawn, key, error)))
    return FALSE;
  MdlMoeQuestion q = question_of (comm, r);
  q.reached_ranks = drawn.ranks;
  q.reached_nodes = drawn.nodes;
  q.imbalance = fmax (q.imbalance, drawn.fullest);
  const struct MdlMoeSpec *spec = comm->settings->library != NULL ? mdl_library_moe (comm->settings->library) : NULL;
  const MdlMoeRow *row = mdl_moe_row (spec, r->backend);
  *out = (ColMoeAnswer){ .request = *r, .n_ranks = comm->n, .n_nodes = comm->n_islands, .nvlink_Bps = q.nvlink_Bps };
  out->request.imbalance = q.imbalance;
  if (!nic_rate (comm, &q.nic_Bps, error))
    return FALSE;
  out->nic_Bps = q.nic_Bps;
  if (r->backend == MDL_MOE_BY_NCCL) {
    if (!price_nccl (comm, &q, &out->cost, error))
      return FALSE;
  } else if (row == NULL)
    return FAIL ("backend", "the calibration has no constants of %s (section expert_exchange); use backend nccl",
                 base_name (mdl_moe_backend_names, (int)r->backend));
  else if (r->op == MDL_MOE_PREPARE && !row->at[r->op].start.set)
    return FAIL ("op", "%s prepares within its dispatch; use op moe_dispatch, or backend nccl or nvlink_two_sided",
                 base_name (mdl_moe_backend_names, (int)r->backend));
  else
    mdl_moe_cost (row, &q, &out->cost);
  out->time_s = out->cost.time_s;
  out->time_lo_s = out->time_s / (1 + out->cost.band);
  out->time_hi_s = out->time_s * (1 + out->cost.band);
  return TRUE;
}
