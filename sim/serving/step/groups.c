/* Communication of a step: all-reduces of tensor parallelism, exchange of experts, sends between pipeline stages.
 *
 * Ranks are numbered by tp, then dp_attn, then pp. The first group of each kind is priced by the closed form, as a graph replays
 * it. All-reduces take the engine's own kernels (one shot, two shots, in the switch) up to the sizes that it uses them for, beyond
 * these what NCCL chooses. With attention data parallelism and no library of its own, tokens are gathered on all ranks and results
 * scattered (vLLM's allgather_reducescatter, SGLang without DeepEP). */
#include <math.h>

#include "collective/moe.h"
#include "models/library.h"
#include "step-private.h"

MdlFormat
srv_wire_format (int format)
{
  return format == SRV_FORMAT_FP8 ? MDL_FORMAT_FP8 : MDL_FORMAT_BF16;
}

/* `n` ranks of the system from the first on, `stride` apart. NULL and no error: one rank. */
static gboolean
open_group (const SrvGroups *groups, const ColSystem *system, guint32 n, guint32 stride, ColComm **out, GError **error)
{
  if (n < 2)
    return TRUE;
  g_autofree guint32 *gpus = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    gpus[i] = g_array_index (system->gpus, guint32, i * stride);
  *out = col_comm_new (system->clu, &groups->settings, gpus, n, error);
  return *out != NULL;
}

static ColMoeRequest
request_of (const MdlLlm *llm, const SrvReplicaSpec *spec, MdlMoeBackend backend, MdlMoeOp op, double tokens)
{
  return (ColMoeRequest){ .op = op,
                          .backend = backend,
                          .tokens = fmax (tokens, 1),
                          .hidden = llm->hidden.v,
                          .experts = llm->moe.experts.v + spec->moe.redundant.v,
                          .top_k = llm->moe.top_k.v,
                          .imbalance = 1,
                          .format =
                              srv_wire_format (op == MDL_MOE_DISPATCH ? spec->precision.dispatch.v : spec->precision.combine.v),
                          .sms = spec->moe.sms.v };
}

static gboolean
open_exchange (SrvGroups *groups, const ColSystem *system, const MdlLlm *llm, const SrvReplicaSpec *spec, GError **error)
{
  const SrvParallelSpec *p = &spec->parallel;
  const gboolean local = groups->ep == NULL || col_comm_is_local (groups->ep);
  const gboolean nvidia = clu_gpu_spec (system->clu, 0)->vendor.v == CLU_VENDOR_NVIDIA;
  groups->backend = spec->moe.backend.set ? (MdlMoeBackend)spec->moe.backend.v
                    : local || !nvidia    ? MDL_MOE_BY_NCCL
                                          : MDL_MOE_BY_DEEPEP_LOW_LATENCY;
  if (groups->ep == NULL || groups->backend == MDL_MOE_BY_NCCL || p->ep.v < 2)
    return TRUE;
  if (!open_group (groups, system, (guint32)p->ep.v, (guint32)p->moe_tp.v, &groups->exchange, error))
    return FALSE;
  const ColMoeRequest request = request_of (llm, spec, groups->backend, MDL_MOE_DISPATCH, 1);
  ColMoeAnswer answer;
  const char *key = NULL;
  g_autoptr (GError) why = NULL;
  groups->library = mdl_moe_row (mdl_library_moe (groups->settings.library), groups->backend);
  if (col_moe_price (groups->exchange, &request, &answer, &key, &why))
    return TRUE;
  return col_fail_at (error, spec->moe.backend.set ? spec->moe.backend.mark : p->ep.mark, "exchange of experts over ep %.0f: %s",
                      p->ep.v, why->message);
}

gboolean
srv_groups_open (SrvGroups *groups, const ColSystem *system, const MdlLlm *llm, const SrvReplicaSpec *spec, GError **error)
{
  const SrvParallelSpec *p = &spec->parallel;
  const guint32 tp = (guint32)p->tp.v, dp = (guint32)p->dp_attn.v, pp = (guint32)p->pp.v;
  groups->settings = system->settings;
  groups->settings.mode = COL_MODE_MODEL;
  groups->settings.terse = TRUE;
  groups->settings.launch = MDL_LAUNCH_GRAPH;
  groups->settings.one_shot = spec->engine.all_reduce.v == 0 ? base_name (srv_engine_names, spec->engine.name.v) : NULL;
  if (!open_group (groups, system, tp, 1, &groups->tp, error) ||
      !open_group (groups, system, MIN (pp, 2), tp * dp, &groups->pp, error))
    return FALSE;
  const struct MdlMoeSpec *moe = system->settings.library != NULL ? mdl_library_moe (system->settings.library) : NULL;
  groups->residual = moe != NULL && moe->residual.set ? &moe->residual : NULL;
  groups->popularity = moe != NULL ? moe->popularity.v : 0;
  if (llm->moe.experts.v < 1 || dp < 2)
    return TRUE;
  return open_group (groups, system, tp * dp, 1, &groups->ep, error) && open_exchange (groups, system, llm, spec, error);
}

void
srv_groups_clear (SrvGroups *groups)
{
  col_comm_free (groups->tp);
  col_comm_free (groups->ep);
  col_comm_free (groups->pp);
  col_comm_free (groups->exchange);
}

static void
add_collective (SrvBuild *build, ColComm *comm, const SrvStepTerm *term, MdlOp op)
{
  g_auto (ColAnswer) answer = { 0 };
  const ColCollRequest request = {
    .op = op, .size_B = term->bytes_B, .dtype = mdl_format_dtype (MDL_FORMAT_BF16), .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO
  };
  SrvStepTerm each = *term;
  each.bound = "network";
  if (comm == NULL || term->bytes_B <= 0 || !col_coll_price (comm, &request, &answer, NULL)) {
    g_free (each.shape);
    return;
  }
  each.time_s = answer.time_s;
  srv_build_add (build, &each, answer.cost.band, answer.provenance);
}

void
srv_build_all_reduce (SrvBuild *build, double tokens, double count)
{
  const double bytes_B = tokens * build->model->llm->hidden.v * 2;
  const SrvStepTerm term = { .part = SRV_PART_TP,
                             .name = "all-reduce",
                             .count = count,
                             .bytes_B = bytes_B,
                             .shape = g_strdup_printf ("%.4g KiB", bytes_B / 1024) };
  add_collective (build, build->model->groups.tp, &term, MDL_OP_ALL_REDUCE);
}

void
srv_build_logits (SrvBuild *build, double rows, double count)
{
  const SrvStepTerm term = { .part = SRV_PART_TP,
                             .name = "gather of logits",
                             .count = count,
                             .bytes_B = rows * build->model->llm->vocabulary.v * 2,
                             .shape = g_strdup_printf ("%.0f x %.0f", rows, build->model->llm->vocabulary.v) };
  add_collective (build, build->model->groups.tp, &term, MDL_OP_ALL_GATHER);
}

void
srv_build_sends (SrvBuild *build)
{
  const SrvStepTerm term = { .part = SRV_PART_PP,
                             .name = "send to the next stage",
                             .count = 1,
                             .bytes_B = build->key.tokens * build->model->llm->hidden.v * 2,
                             .shape = g_strdup_printf ("%u x %.0f", build->key.tokens, build->model->llm->hidden.v) };
  add_collective (build, build->model->groups.pp, &term, MDL_OP_SENDRECV);
}

/* Rows of the fullest rank over the mean, as far as a library that sends one copy a place lets a place be fuller. */
static double
fullness (const SrvStepModel *model, double all, const ColMoeAnswer *mean)
{
  const MdlMoeCost *cost = &mean->cost;
  const double factor = srv_expert_imbalance (model, all);
  if (!mdl_moe_one_copy (model->groups.backend))
    return factor;
  return fmin (factor, mean->n_nodes > 1 ? mean->n_nodes / cost->reached_nodes : mean->n_ranks / cost->reached_ranks);
}

static void
add_library (SrvBuild *build, MdlMoeOp op, const char *name, double tokens, double count)
{
  const SrvStepModel *model = build->model;
  ColMoeRequest request = request_of (model->llm, &model->spec, model->groups.backend, op, ceil (tokens / model->tp));
  ColMoeAnswer answer;
  const char *key = NULL;
  if (!col_moe_price (model->groups.exchange, &request, &answer, &key, NULL))
    return;
  request.imbalance = fullness (model, tokens * model->dp, &answer);
  if (!col_moe_price (model->groups.exchange, &request, &answer, &key, NULL))
    return;
  const SrvStepTerm term = { .part = SRV_PART_EP,
                             .name = name,
                             .count = count,
                             .time_s = answer.time_s,
                             .bytes_B = answer.cost.nvlink_B + answer.cost.nic_B,
                             .shape = g_strdup_printf ("%.0f tokens a rank", request.tokens),
                             .bound = answer.cost.bound_by };
  srv_build_add (build, &term, answer.cost.band, answer.cost.source);
}

void
srv_build_exchange (SrvBuild *build, gboolean back, double tokens, double count)
{
  const SrvStepModel *model = build->model;
  if (model->groups.exchange != NULL) {
    const MdlMoeRow *row = model->groups.library;
    if (!back && row != NULL && row->at[MDL_MOE_PREPARE].start.set) /* of a kernel of its own */
      add_library (build, MDL_MOE_PREPARE, "counts of tokens", tokens, count);
    add_library (build, back ? MDL_MOE_COMBINE : MDL_MOE_DISPATCH, back ? "combine" : "dispatch", tokens, count);
    return;
  }
  const int format = back ? model->spec.precision.combine.v : model->spec.precision.dispatch.v;
  const double rows = tokens * model->dp, hidden = model->llm->hidden.v;
  const SrvStepTerm term = { .part = SRV_PART_EP,
                             .name = back ? "scatter of results" : "gather of tokens",
                             .count = count,
                             .bytes_B = rows * mdl_moe_row_B (hidden, srv_wire_format (format)),
                             .shape = g_strdup_printf ("%.0f x %.0f", rows, hidden) };
  add_collective (build, model->groups.ep, &term, back ? MDL_OP_REDUCE_SCATTER : MDL_OP_ALL_GATHER);
}

double
srv_exchange_B (const SrvStepModel *model, double m)
{
  double sum_B = 0;
  for (guint back = 0; back < 2; back++) {
    const ColMoeRequest request = request_of (model->llm, &model->spec, model->groups.backend,
                                              back ? MDL_MOE_COMBINE : MDL_MOE_DISPATCH, ceil (m / model->tp));
    ColMoeAnswer answer;
    const char *key = NULL;
    if (col_moe_price (model->groups.exchange, &request, &answer, &key, NULL))
      sum_B += answer.cost.nvlink_B + answer.cost.nic_B;
  }
  return sum_B;
}
