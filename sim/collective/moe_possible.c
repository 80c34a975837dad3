/* Whether a library can dispatch and combine experts on these ranks, and which can where it cannot. */
#include <math.h>

#include "collective/gpu.h"
#include "collective/moe.h"
#include "comm-private.h"

/* Copies that are drawn: a second of work. */
#define MOST_COPIES (1u << 25)

/* Refuses what `key` of a scenario says. */
#define FAIL(key_, ...) (*key = (key_), base_fail (error, BASE_ERROR_INPUT, __VA_ARGS__), FALSE)

/* ---- sizes ---- */

/* "288 experts (4 a rank)": the multiples of `ranks` on both sides of `experts`. Returned: full. */
static char *
near_multiples (double experts, double ranks)
{
  const double below = floor (experts / ranks) * ranks, above = below + ranks;
  return below > 0 ? g_strdup_printf ("%.0f or %.0f", below, above) : g_strdup_printf ("%.0f", above);
}

static gboolean
check_sizes (const ColComm *comm, const ColMoeRequest *r, const char **key, GError **error)
{
  if (r->tokens < 1)
    return FAIL ("tokens", "tokens are %.0f, and each rank must have at least 1", r->tokens);
  if (r->top_k > r->experts)
    return FAIL ("top_k", "top_k %.0f is more than the %.0f experts; use at most %.0f", r->top_k, r->experts, r->experts);
  if (fmod (r->experts, comm->n) > 0) {
    g_autofree char *near = near_multiples (r->experts, comm->n);
    return FAIL ("experts", "%.0f experts do not divide by %u ranks; use %s experts, or other ranks", r->experts, comm->n, near);
  }
  if (fmod (comm->n, comm->n_islands) > 0 || comm->max_local * comm->n_islands != comm->n)
    return FAIL ("ranks", "the %u ranks are spread unevenly over %u NVLink domains; use the same number on each", comm->n,
                 comm->n_islands);
  if (r->groups <= 0)
    return r->top_groups <= 0 ||
           FAIL ("top_groups", "top_groups %.0f needs groups: into how many the experts are divided", r->top_groups);
  if (r->top_groups <= 0)
    return FAIL ("groups", "groups %.0f have no effect without top_groups: how many of them a token may use", r->groups);
  const double each = r->experts / r->groups, islands = comm->n_islands;
  if (fmod (r->experts, r->groups) > 0)
    return FAIL ("groups", "%.0f experts do not divide into %.0f groups; use a divisor", r->experts, r->groups);
  if (r->top_groups > r->groups)
    return FAIL ("top_groups", "top_groups %.0f is more than the %.0f groups", r->top_groups, r->groups);
  if (r->top_groups * each < r->top_k)
    return FAIL ("top_groups", "%.0f groups of %.0f experts have fewer than top_k %.0f; use more top_groups", r->top_groups, each,
                 r->top_k);
  if ((fmod (r->groups, comm->n) > 0 && fmod (comm->n, r->groups) > 0) ||
      (fmod (r->groups, islands) > 0 && fmod (islands, r->groups) > 0))
    return FAIL ("groups", "%.0f groups do not align with %u rank%s on %u node%s; use a multiple or a divisor", r->groups, comm->n,
                 comm->n == 1 ? "" : "s", comm->n_islands, comm->n_islands == 1 ? "" : "s");
  return TRUE;
}

static gboolean
check_format (const ColMoeRequest *r, const char **key, GError **error)
{
  if (r->format == MDL_FORMAT_FP4 || r->format == MDL_FORMAT_FP8 || r->format == MDL_FORMAT_FP16 || r->format == MDL_FORMAT_BF16)
    return TRUE;
  return FAIL ("dtype", "tokens do not travel as %s; accepted: bf16, fp16, fp8, fp4", base_name (mdl_format_names, (int)r->format));
}

/* ---- libraries ---- */

/* What a library's kernels need: compute capability of the GPUs on one node and between nodes, 0: any; kernels for AMD's; NVLink
 * alone, for ranks of one domain; transfers that the GPU starts (IBGDA). */
typedef struct {
  unsigned capability, node_capability;
  gboolean amd, domain, gpu_starts;
} Needs;

/* Sources: deepseek-ai/DeepEP dd758caf docs/legacy.md (Ampere and Hopper) and setup.py (DISABLE_SM90_FEATURES: no kernels between
 * nodes, none of low latency), issues 149, 162 and 234; its hybrid kernels copy by TMA, which Hopper brought. uccl-project/uccl
 * da914a20 ep/setup.py (8.0 with DISABLE_SM90_FEATURES), ep/README.md, ep/src/rdma.cpp (ibv_*). TensorRT-LLM, Supported Hardware:
 * from Ampere on. */
static const Needs needs[MDL_MOE_BACKEND_N] = {
  [MDL_MOE_BY_DEEPEP_NORMAL] = { 80, 90, FALSE, FALSE, TRUE },    [MDL_MOE_BY_DEEPEP_LOW_LATENCY] = { 90, 90, FALSE, FALSE, TRUE },
  [MDL_MOE_BY_HYBRIDEP] = { 90, 90, FALSE, FALSE, TRUE },         [MDL_MOE_BY_NVLINK_ONE_SIDED] = { 80, 80, FALSE, TRUE, FALSE },
  [MDL_MOE_BY_NVLINK_TWO_SIDED] = { 80, 80, FALSE, TRUE, FALSE }, [MDL_MOE_BY_UCCL] = { 80, 80, TRUE, FALSE, FALSE },
};

static gboolean
is_rdma (const ColComm *comm)
{
  return comm->inter.used && (comm->inter.hop == MDL_HOP_NET || comm->inter.hop == MDL_HOP_NET_HOST);
}

/* Why the library's kernels do not run between nodes. Returned: full; NULL: they do. */
static char *
why_not_nodes (const ColComm *comm, const Needs *need)
{
  if (need->domain)
    return g_strdup_printf ("stores over NVLink, and the %u ranks are in %u NVLink domains", comm->n, comm->n_islands);
  if (!is_rdma (comm))
    return g_strdup_printf ("needs RDMA between nodes, and %s here",
                            comm->inter.hop == MDL_HOP_TCP ? "TCP carries the traffic" : "no NIC is crossed");
  if (!mdl_library_plugged (comm->settings->library, comm->network))
    return NULL;
  if (need->gpu_starts)
    return g_strdup_printf ("starts transfers from the GPU (IBGDA), which needs InfiniBand or RoCE, and the network is %s",
                            comm->network);
  return comm->network_family == CLU_FAMILY_ETHERNET
             ? g_strdup_printf ("writes by RDMA verbs, which %s does not have: its adapters speak TCP", comm->network)
             : NULL;
}

/* Why a library cannot run on these ranks, as what follows its name. Returned: full; NULL: it can. */
static char *
why_not (const ColComm *comm, MdlMoeBackend backend)
{
  if (backend == MDL_MOE_BY_NCCL)
    return NULL;
  const Needs *need = &needs[backend];
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, comm->slow_node);
  const CluVendor vendor = (CluVendor)gpu->vendor.v;
  if (vendor != CLU_VENDOR_NVIDIA && !(need->amd && vendor == CLU_VENDOR_AMD))
    return g_strdup_printf ("has kernels for GPUs of NVIDIA%s only, and these are %s", need->amd ? " and AMD" : "", gpu->product.v);
  const gboolean spans = comm->n_islands > 1;
  const unsigned least = spans ? need->node_capability : need->capability;
  if (vendor == CLU_VENDOR_NVIDIA && gpu->compute_capability.set && gpu->compute_capability.v < least)
    return g_strdup_printf ("needs GPUs of compute capability %u.%u (%s)%s, and %s has %.0f.%.0f", least / 10, least % 10,
                            least >= 90 ? "Hopper" : "Ampere",
                            spans && gpu->compute_capability.v >= need->capability ? " between nodes" : "", gpu->product.v,
                            floor (gpu->compute_capability.v / 10), fmod (gpu->compute_capability.v, 10));
  if (comm->intra.used && comm->intra.hop != MDL_HOP_NVLINK)
    return g_strdup_printf ("needs NVLink between the GPUs of a node, and here they talk over %s",
                            comm->intra.hop == MDL_HOP_PCIE ? "PCIe" : "host memory");
  return spans ? why_not_nodes (comm, need) : NULL;
}

static const MdlMoeRow *
row_of (const ColComm *comm, MdlMoeBackend backend)
{
  return mdl_moe_row (comm->settings->library != NULL ? mdl_library_moe (comm->settings->library) : NULL, backend);
}

/* "deepep_normal, uccl or nccl": those that can run `op` on these ranks; NCCL always can. Returned: full. */
static char *
others_of (const ColComm *comm, MdlMoeOp op)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < MDL_MOE_BACKEND_N; i++) {
    const MdlMoeRow *row = row_of (comm, (MdlMoeBackend)i);
    g_autofree char *reason = i != MDL_MOE_BY_NCCL ? why_not (comm, (MdlMoeBackend)i) : NULL;
    if (i != MDL_MOE_BY_NCCL && reason == NULL && row != NULL && row->at[op].start.set)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", base_name (mdl_moe_backend_names, i));
  }
  return g_strdup_printf ("%s%snccl", text->str, text->len > 0 ? " or " : "");
}

static gboolean
check_backend (const ColComm *comm, const ColMoeRequest *r, const char **key, GError **error)
{
  const char *name = base_name (mdl_moe_backend_names, (int)r->backend);
  const MdlMoeRow *row = row_of (comm, r->backend);
  if (r->backend == MDL_MOE_BY_NCCL)
    return TRUE;
  if (comm->settings->library == NULL)
    return FAIL ("backend", "library: plain knows links alone; use library: nccl, or backend nccl");
  g_autofree char *reason = why_not (comm, r->backend), *others = others_of (comm, r->op);
  if (reason != NULL)
    return FAIL ("backend", "%s %s; use backend %s", name, reason, others);
  if (row == NULL)
    return FAIL ("backend", "the calibration has no constants of %s (section expert_exchange); use backend %s", name, others);
  if (r->op == MDL_MOE_PREPARE && !row->at[r->op].start.set)
    return FAIL ("op", "%s prepares within its dispatch; use op moe_dispatch, or backend %s", name, others);
  return TRUE;
}

static gboolean
check_sms (const ColComm *comm, const ColMoeRequest *r, const char **key, GError **error)
{
  const double all = clu_gpu_spec (comm->clu, comm->slow_node)->compute_units.v;
  const MdlMoeRow *row = row_of (comm, r->backend);
  if (r->sms <= 0)
    return TRUE;
  if (all > 0 && r->sms > all)
    return FAIL ("sms", "sms %.0f is more than the %.0f SMs of the GPU", r->sms, all);
  if (r->backend == MDL_MOE_BY_NCCL)
    return FAIL ("sms", "sms have no effect with nccl, which takes one SM a channel; leave them out, or limit NCCL_MAX_CTAS");
  if (!row->sms.set)
    return FAIL ("sms", "sms have no effect with %s, which sets the SMs of its kernels by itself; leave them out",
                 base_name (mdl_moe_backend_names, (int)r->backend));
  return TRUE;
}

gboolean
col_moe_check (const ColComm *comm, const ColMoeRequest *r, const char **key, GError **error)
{
  *key = "backend";
  if (!check_sizes (comm, r, key, error) || !check_format (r, key, error) || !check_backend (comm, r, key, error) ||
      !check_sms (comm, r, key, error))
    return FALSE;
  return r->routing != MDL_MOE_DRAWN || r->tokens * comm->n * r->top_k <= MOST_COPIES ||
         FAIL ("routing", "%.0f tokens x %u ranks x top_k %.0f are too many to draw; use at most %u copies, or routing: uniform",
               r->tokens, comm->n, r->top_k, MOST_COPIES);
}
