/* NVLS: reduction and multicast in the NVSwitch (NVLink SHARP), one NVLink domain. Each rank is head of one n-th of the data: it
 * loads the sum of its part through the switch and stores it to all.
 *
 *     T = start + latency + (stages - 1) x piece time + S / min (ch rate, link rate / wire)
 *     piece time = heads ch piece / min (…):  one round of pieces over all heads and channels
 *     wire = 1 / efficiency
 * The traffic (egress and ingress S (1 + 1/n) for all-reduce) is in the link rate of the question. piece B, halved while few
 * rounds are
 * left; stages: copy in, reduce and multicast, copy out.
 *
 * Textbook form: 2 alpha + S / link rate.
 *
 * Source: NCCL 5067397c src/graph/tuning.cc:ncclTopoTuneModel (nvlsEfficiency .85 Hopper, .74 Blackwell; hardware latency 25 us),
 * src/enqueue.cc:calcCollChunking (pieces), src/device/all_reduce.h (NVLS), src/transport/nvls.cc.
 * Valid: compute capability 90 and later behind NVSwitch. Check: accuracy_models_others (5 to 8 H200 and B200 at 8 GiB). */
#include <math.h>

#include "cost-private.h"

static unsigned
n_steps (const MdlCollQuestion *q)
{
  return q->op == MDL_OP_ALL_REDUCE ? 2 : 1;
}

static void
nvls_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)proto; /* Simple alone */
  const MdlNvlsSpec *spec = &library->nvls;
  gboolean from_100 = q->compute_capability >= 100;
  const BaseNum *most = from_100 ? &spec->channels_from_100 : &spec->channels;
  const BaseNum *efficiency = from_100 ? &spec->efficiency_from_100 : &spec->efficiency;
  double cell_B = library->channels.cell.v / (q->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0);
  double channels = fmax (q->max_channels > 0 ? fmin (most->v, (double)q->max_channels) : most->v, 1.0);
  if (cell_B > 0.0)
    channels = CLAMP (q->size_B / cell_B, 1.0, channels);

  cost->channels = (unsigned)channels;
  cost->wire = 1.0 / efficiency->v;
  cost->bound_Bps = spec->rate.set ? channels * spec->rate.v : HUGE_VAL;
  if (cost->bound_Bps < q->link_rate_Bps / cost->wire)
    mdl_cost_use (cost, &spec->rate);
  mdl_cost_use (cost, efficiency);
  mdl_cost_term (q, cost, "start", spec->start.v, &spec->start, "%.3g us", spec->start.v * 1e6);
  cost->start_s = spec->start.v;
  mdl_cost_term (q, cost, "switch latency", spec->latency.v, &spec->latency, "%.3g us a reduction through the switch",
                 spec->latency.v * 1e6);
  cost->hop_software_s[0] = fmax (spec->latency.v / (double)n_steps (q) - q->intra_latency_s, 0.0);

  double heads = (double)q->n_ranks, part_B = q->size_B / (channels * heads);
  double piece_B = mdl_cut_piece (&spec->cuts, part_B, spec->piece.v, 1.0);
  double round_s = mdl_time_s (piece_B * channels * heads, mdl_cost_rate (q, cost));
  mdl_cost_term (q, cost, "pipeline fill", (spec->stages.v - 1.0) * round_s, &spec->piece,
                 "%.3g rounds of %.4g B a head and channel", spec->stages.v - 1.0, piece_B);
  cost->piece_B = piece_B * channels * heads;
}

static void
nvls_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double alpha_s = mdl_plain_alpha_s (q);
  cost->bound_Bps = mdl_plain_bound_Bps (q, q->op == MDL_OP_ALL_REDUCE ? 1.0 + 1.0 / (double)q->n_ranks : 1.0);
  mdl_cost_term (q, cost, "hop latency", 2.0 * alpha_s, NULL, "to the switch and back: 2 x %.4g us", alpha_s * 1e6);
}

const MdlColl mdl_coll_nvls = {
  .algo = MDL_ALGO_NVLS,
  .summary = "NVLS: reduction and multicast in the NVSwitch of one NVLink domain",
  .source = "NCCL src/graph/tuning.cc, src/device/all_reduce.h, src/transport/nvls.cc",
  .ops = 1u << MDL_OP_ALL_REDUCE | 1u << MDL_OP_ALL_GATHER | 1u << MDL_OP_REDUCE_SCATTER,
  .n_steps = n_steps,
  .cost = nvls_cost,
  .plain = nvls_plain,
};
