/* Dispatch and combine of a mixture of experts over the ranks that hold them.
 *
 * The places that a token reaches: models/model/reach.c.
 * Bytes of T tokens with rows of r bytes, R ranks, G = R/N of them in an NVLink domain, D ranks and M domains reached:
 *   deepep_low_latency, uccl:  one copy an expert: NVLink T k r (G-1)/R, NIC T k r (R-G)/R
 *   deepep_normal, hybridep:   NIC T M r (N-1)/N, one copy a domain; NVLink then T D r (G-1)/G (on one domain (R-1)/R)
 *   nvlink_*:                  NVLink T D r (R-1)/R
 * Combine is the way back. Time = start + what NVLink, the NIC and the SMs take, of which the longest counts: the kernels pass
 * tokens on while others arrive. Rates: NVLink share x data sheet, at most SMs x rate of an SM; NIC likewise. Tokens of one expert
 * are sent by one SM in the low-latency kernels.
 * Source: deepseek-ai/DeepEP README and csrc/kernels (intranode.cu, internode.cu, internode_ll.cu: warp groups by expert);
 * NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels (moeAlltoAll); constants: calibrate/defaults/expert_exchange.yaml.
 * Valid: one NVLink domain and several of equal size. Check: test_models_moe. */
#include "models/moe.h"

#include <math.h>
#include <string.h>

#define NAME_ROW(code, name, help) { #name, MDL_MOE_##code, help },
#define BY_ROW(code, name, help)   { #name, MDL_MOE_BY_##code, help },
const BaseName mdl_moe_op_names[] = { MDL_MOE_OP_ROWS (NAME_ROW){ NULL, 0, NULL } };
const BaseName mdl_moe_backend_names[] = { MDL_MOE_BACKEND_ROWS (BY_ROW){ NULL, 0, NULL } };
const BaseName mdl_moe_routing_names[] = { { "uniform", MDL_MOE_UNIFORM, "experts at random, expected values" },
                                           { "balanced", MDL_MOE_BALANCED, "a token's experts are far apart" },
                                           { "drawn", MDL_MOE_DRAWN, "experts at random, drawn by the seed" },
                                           { NULL, 0, NULL } };

double
mdl_moe_row_B (double hidden, MdlFormat format)
{
  const double scales_B = format == MDL_FORMAT_FP8 ? 4 * ceil (hidden / 128) : format == MDL_FORMAT_FP4 ? ceil (hidden / 16) : 0;
  return hidden * mdl_format_B (format) + scales_B;
}

gboolean
mdl_moe_one_copy (MdlMoeBackend backend)
{
  return backend != MDL_MOE_BY_NCCL && backend != MDL_MOE_BY_DEEPEP_LOW_LATENCY && backend != MDL_MOE_BY_UCCL;
}

const MdlMoeRow *
mdl_moe_row (const struct MdlMoeSpec *spec, MdlMoeBackend backend)
{
  for (unsigned i = 0; spec != NULL && i < spec->backends.n; i++) {
    const MdlMoeRow *row = BASE_LIST_AT (spec->backends, MdlMoeRow, i);
    if (row->backend.v == (int)backend)
      return row;
  }
  return NULL;
}

G_GNUC_PRINTF (5, 6)
static void
add (MdlMoeCost *out, const char *name, double value_s, const BaseNum *from, const char *format, ...)
{
  if (value_s <= 0)
    return;
  g_return_if_fail (out->n_terms < MDL_MAX_TERMS);
  va_list args;
  va_start (args, format);
  mdl_term_fill (&out->term[out->n_terms++], name, value_s, from, format, args);
  va_end (args);
  out->time_s += value_s;
  if (from != NULL && from->set)
    out->source = MIN (out->source, from->source);
}

/* Distinct places, and the bytes of the fullest rank. */
static void
count (const MdlMoeRow *row, const MdlMoeQuestion *q, MdlMoeCost *out)
{
  const double local = q->ranks / q->nodes, rows = q->tokens * q->imbalance;
  const double header_B = q->op == MDL_MOE_DISPATCH ? row->header.v : 0;
  out->row_B = mdl_moe_row_B (q->hidden, q->format) + header_B;
  out->reached_ranks = q->reached_ranks > 0 ? q->reached_ranks : mdl_moe_reached (&q->choice, q->ranks);
  out->reached_nodes = q->reached_nodes > 0 ? q->reached_nodes : mdl_moe_reached (&q->choice, q->nodes);
  if (q->op == MDL_MOE_PREPARE)
    return;
  if (!mdl_moe_one_copy (q->backend)) {
    out->nvlink_B = rows * q->choice.top_k * out->row_B * (local - 1) / q->ranks;
    out->nic_B = rows * q->choice.top_k * out->row_B * (q->ranks - local) / q->ranks;
    return;
  }
  out->nvlink_B = rows * out->reached_ranks * out->row_B * (local - 1) / local;
  out->nic_B = rows * out->reached_nodes * out->row_B * (q->nodes - 1) / q->nodes;
}

/* Share of a link's rate that is reached, or what SMs move if that is less. */
static double
rate (const BaseNum *share, double link_Bps, const BaseNum *sm, double sms)
{
  const double link = share->set ? share->v * link_Bps : link_Bps;
  return sm->set && sms > 0 ? fmin (link, sm->v * sms) : link;
}

/* The longest of what runs at the same time; the others stand in its text. */
static void
add_longest (const MdlMoeCosts *c, const MdlMoeQuestion *q, MdlMoeCost *out)
{
  const double nvlink_Bps = rate (&c->nvlink, q->nvlink_Bps, &c->sm, out->sms);
  const double nic_Bps = rate (&c->nic, q->nic_Bps, &c->node_sm, out->sms);
  const double nvlink_s = out->nvlink_B > 0 ? out->nvlink_B / nvlink_Bps : 0, nic_s = out->nic_B > 0 ? out->nic_B / nic_Bps : 0;
  const gboolean narrow = q->op == MDL_MOE_COMBINE && mdl_format_B (q->format) < 2 && c->narrow_token.set;
  const BaseNum *each = narrow ? &c->narrow_token : &c->token;
  const double senders = fmin (q->choice.experts, q->gpu_sms > 0 ? q->gpu_sms : q->choice.experts);
  const double token_s = q->tokens * each->v, send_s = q->tokens * c->expert_token.v / senders;
  const double longest_s = fmax (fmax (nvlink_s, nic_s), fmax (token_s, send_s));
  out->bound_by = "kernel start";
  const double start_s = out->time_s;
  if (nic_s >= longest_s && nic_s > 0)
    add (out, "NIC", nic_s, c->node_sm.set && c->node_sm.v * out->sms <= c->nic.v * q->nic_Bps ? &c->node_sm : &c->nic,
         "%.4g MB at %.4g GB/s; NVLink meanwhile %.4g us", out->nic_B * 1e-6, nic_Bps * 1e-9, nvlink_s * 1e6);
  else if (nvlink_s >= longest_s)
    add (out, "NVLink", nvlink_s, c->sm.set && c->sm.v * out->sms <= c->nvlink.v * q->nvlink_Bps ? &c->sm : &c->nvlink,
         "%.4g MB at %.4g GB/s; NIC meanwhile %.4g us", out->nvlink_B * 1e-6, nvlink_Bps * 1e-9, nic_s * 1e6);
  else
    add (out, "SMs", longest_s, token_s >= send_s ? each : &c->expert_token, "%.0f tokens; NVLink meanwhile %.4g us, NIC %.4g us",
         q->tokens, nvlink_s * 1e6, nic_s * 1e6);
  if (longest_s > start_s)
    out->bound_by = out->term[out->n_terms - 1].name;
}

void
mdl_moe_cost (const MdlMoeRow *row, const MdlMoeQuestion *q, MdlMoeCost *out)
{
  const MdlMoeCosts *c = &row->at[q->op];
  memset (out, 0, sizeof *out);
  out->source = BASE_SOURCE_MEASURED;
  out->sms = q->sms > 0 ? q->sms : row->sms.v;
  count (row, q, out);
  const double own = q->choice.experts / q->ranks;
  add (out, "kernel start", c->start.v, &c->start, "%.4g us", c->start.v * 1e6);
  if (q->ranks > 1)
    add (out, "more ranks", c->per_doubling.v * log2 (q->ranks), &c->per_doubling, "log2 (%.0f ranks) x %.4g us", q->ranks,
         c->per_doubling.v * 1e6);
  add (out, "experts of a rank", c->per_expert.v * own, &c->per_expert, "%.4g x %.4g us", own, c->per_expert.v * 1e6);
  if (q->nodes > 1)
    add (out, "network latency", c->node.v, &c->node, "%.4g us", c->node.v * 1e6);
  const BaseNum *ramp = q->nodes > 1 && c->node_ramp.set ? &c->node_ramp : &c->ramp;
  add (out, "filling SMs", ramp->v * q->tokens / (q->tokens + c->ramp_tokens.v), ramp, "%.4g us x %.0f / (%.0f + %.4g tokens)",
       ramp->v * 1e6, q->tokens, q->tokens, c->ramp_tokens.v);
  add_longest (c, q, out);
  gboolean known = q->nodes <= fmax (row->nodes.v, 1), here = FALSE;
  for (unsigned i = 0; i < row->gpus.n; i++)
    here = here || g_strcmp0 (row->gpus.item[i].v, q->gpu) == 0;
  out->band = known && here ? row->error.v : row->assumed_error.v;
  if (known && here)
    return;
  out->source = BASE_SOURCE_ASSUMED; /* constants that were measured elsewhere */
  for (unsigned i = 0; i < out->n_terms; i++)
    out->term[i].source = BASE_SOURCE_ASSUMED;
}
