/* Parts of a cost that the algorithms share.
 *
 * Channels by size. Source: NCCL 5067397c src/enqueue.cc:topoGetAlgoInfo (a channel for every threads x threshold bytes: Simple
 * 512 x 64, LL 512 x 8, times the ranks in a ring, LL128 640 x 8) and scheduleCollTasksToPlan (cells of 16 KiB of traffic;
 * traffic is twice the size for all-reduce, four times as much again for LL). Numbers stand in calibrate/defaults/library.yaml.
 * Check: test_models_coll (8 ranks: one channel of Simple to 32 KiB, 24 from 768 KiB). */
#include "collective/terms-private.h"

#include <math.h>

/* ncclLLFifoLine: four bytes of data and four of flag, twice. */
#define LL_LINE_B 16.0

void
mdl_cost_use (MdlCollCost *cost, const BaseNum *num)
{
  if (num->set)
    cost->source = MIN (cost->source, num->source);
}

gboolean
mdl_cost_bound (MdlCollCost *cost, double rate_Bps, const BaseNum *from)
{
  if (!from->set || !(rate_Bps < cost->bound_Bps))
    return FALSE;
  cost->bound_Bps = rate_Bps;
  cost->bound_from = from;
  return TRUE;
}

void
mdl_cost_term (const MdlCollQuestion *question, MdlCollCost *cost, const char *name, double value_s, const BaseNum *from,
               const char *format, ...)
{
  if (value_s <= 0.0)
    return;
  cost->latency_s += value_s;
  if (from != NULL)
    mdl_cost_use (cost, from);
  g_return_if_fail (cost->n_terms < MDL_MAX_TERMS);
  va_list args;
  va_start (args, format);
  mdl_term_fill (&cost->term[cost->n_terms++], name, value_s, from, question->terse ? NULL : format, args);
  va_end (args);
}

double
mdl_time_s (double size_B, double rate_Bps)
{
  return size_B > 0.0 && isfinite (rate_Bps) ? size_B / rate_Bps : 0.0;
}

double
mdl_cost_rate (const MdlCollQuestion *question, const MdlCollCost *cost)
{
  return fmin (cost->bound_Bps, question->link_rate_Bps / cost->wire);
}

double
mdl_channels_most (const MdlLibrary *library, const MdlCollQuestion *question)
{
  const MdlChannels *spec = &library->channels;
  double most = 1.0;
  if (question->channels > 0) /* within the limits of min_channels and max_channels already */
    return (double)question->channels;
  if (question->n_nodes <= 1 && question->intra == MDL_HOP_PCIE)
    most = spec->pcie.v;
  else if (question->n_nodes <= 1 && question->intra != MDL_HOP_NVLINK)
    most = spec->host.v;
  else
    for (unsigned i = 0; i < spec->scale_up.n; i++) {
      const MdlChannelRow *row = BASE_LIST_AT (spec->scale_up, MdlChannelRow, i);
      if (row->capability.v <= (double)question->compute_capability)
        most = question->n_nodes > 1 ? row->nodes.v : row->one_node.v;
    }
  most = fmax (most, (double)question->min_channels);
  if (question->max_channels > 0)
    most = fmin (most, (double)question->max_channels);
  return fmax (most, 1.0);
}

double
mdl_channels (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question, gboolean ring)
{
  const MdlProtocol *format = &library->protocols.at[proto];
  double quantum_B = format->threads.v * format->bytes_per_thread.v;
  if (ring && format->times_ranks.v)
    quantum_B *= (double)question->n_ranks;
  double traffic = (question->op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0) * fmax (format->cell_traffic.v, 1.0);
  quantum_B = fmax (quantum_B, library->channels.cell.v / traffic);
  double most = mdl_channels_most (library, question);
  return quantum_B > 0.0 ? CLAMP (question->size_B / quantum_B, 1.0, most) : most;
}

void
mdl_cost_start (const MdlCollQuestion *question, MdlCollCost *cost, const MdlByProto *start, const MdlByProto *per_channel,
                MdlProto proto, double channels)
{
  double first_s = start->at[proto].v, more_s = per_channel->at[proto].v * (channels - 1.0);
  mdl_cost_term (question, cost, "start", first_s + more_s, &start->at[proto], "%.3g us + %.3g more channels x %.3g us",
                 first_s * 1e6, channels - 1.0, per_channel->at[proto].v * 1e6);
  if (more_s > 0.0)
    mdl_cost_use (cost, &per_channel->at[proto]);
  cost->start_s += first_s + more_s;
}

void
mdl_cost_begin (const MdlCollQuestion *question, MdlCollCost *cost, const BaseNum *start)
{
  mdl_cost_term (question, cost, "start", start->v, start, "%.3g us", start->v * 1e6);
  cost->start_s += start->v;
}

double
mdl_longer_s (const MdlHopSteps *hop, double route_latency_s)
{
  return fmax (route_latency_s - hop->route_latency.v, 0.0);
}

MdlStepTime
mdl_step_time (const MdlHopSteps *hop, MdlProto proto, double route_latency_s, double channels)
{
  const MdlStep *step = &hop->at[proto];
  double wire_s = mdl_longer_s (hop, route_latency_s);
  double more_s = step->per_channel.v * (channels - 1.0) + wire_s;
  MdlStepTime time = { .step = step };
  time.latency_s = step->latency.v + more_s;
  time.floor_s = step->floor.set ? fmin (step->floor.v, time.latency_s) : time.latency_s; /* data hides wire as any latency */
  return time;
}

const MdlPlugin *
mdl_plugin (const MdlLibrary *library, const MdlCollQuestion *question)
{
  if (question->n_nodes <= 1 || (question->inter != MDL_HOP_NET && question->inter != MDL_HOP_NET_HOST))
    return NULL;
  return mdl_plugin_of (library, question->network);
}

double
mdl_channels_of_proxy (const MdlCollQuestion *q, double channels)
{
  return fmax (channels / fmax ((double)MIN (q->n_nics, q->ranks_per_node), 1.0), 1.0);
}

MdlStepTime
mdl_network_step_time (const MdlLibrary *library, const MdlHopSteps *hop, MdlProto proto, const MdlCollQuestion *q, double channels,
                       MdlCollCost *cost)
{
  MdlStepTime time = mdl_step_time (&hop[q->inter], proto, q->inter_latency_s, channels);
  const MdlPlugin *plugin = mdl_plugin (library, q);
  if (q->proxy_wait_s > 0) {
    time.latency_s += q->proxy_wait_s;
    time.floor_s += q->proxy_wait_s;
    mdl_cost_use (cost, &library->cpu.turn);
  }
  if (plugin == NULL)
    return time;
  time.latency_s += plugin->latency.v;
  if (!time.step->floor.set)
    time.floor_s = time.latency_s;
  mdl_cost_use (cost, &plugin->latency);
  /* Measured where a proxy serves two channels; the hops' latencies have the first one. */
  double second = fmin (mdl_channels_of_proxy (q, channels) - 1.0, 1.0);
  if (proto == MDL_PROTO_LL128 && plugin->ll128_start.set && second > 0.0) {
    mdl_cost_term (q, cost, "network plugin", second * plugin->ll128_start.v, &plugin->ll128_start,
                   "once per LL128 operation, for further channels of a NIC's thread");
    cost->start_s += second * plugin->ll128_start.v;
  }
  return time;
}

void
mdl_network_lines (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, double channels, double piece_B,
                   MdlStepTime *time, MdlCollCost *cost)
{
  const MdlPlugin *plugin = proto == MDL_PROTO_LL ? mdl_plugin (library, q) : NULL;
  if (plugin == NULL || !plugin->ll_line.set)
    return;
  double lines = mdl_channels_of_proxy (q, channels) * piece_B * library->protocols.at[proto].wire.v / LL_LINE_B;
  time->latency_s += lines * plugin->ll_line.v;
  mdl_cost_use (cost, &plugin->ll_line);
}

double
mdl_cut_piece (const BaseList *cuts, double part_B, double piece_B, double fewer_scale)
{
  for (unsigned i = 0; i < cuts->n; i++) {
    const MdlCut *cut = BASE_LIST_AT (*cuts, MdlCut, i);
    double wanted_B = part_B / fmax (cut->fewer.v * fewer_scale, 1.0);
    if (piece_B > cut->above.v && wanted_B < piece_B)
      piece_B = fmax (wanted_B, cut->above.v);
  }
  return fmin (piece_B, part_B);
}

void
mdl_cost_blend (const MdlCollQuestion *q, const BaseNum *exponent, MdlCollCost *cost)
{
  double blocks_Bps = cost->bound_Bps, links_Bps = q->link_rate_Bps / cost->wire;
  if (!exponent->set || !isfinite (blocks_Bps) || !isfinite (links_Bps))
    return;
  double ratio = fmin (blocks_Bps, links_Bps) / fmax (blocks_Bps, links_Bps);
  double lost = pow (1.0 + pow (ratio, exponent->v), 1.0 / exponent->v);
  mdl_cost_use (cost, exponent);
  if (blocks_Bps < links_Bps)
    cost->bound_Bps /= lost;
  else
    cost->wire *= lost;
}

double
mdl_plain_pipeline_s (double n_hops, double alpha_s, double size_s, double *n_pieces)
{
  /* (n_hops - 1 + k) (alpha + size/k) is least at k = sqrt ((n_hops - 1) size / alpha). */
  double behind = n_hops - 1.0;
  double k = alpha_s > 0.0 ? fmax (sqrt (behind * size_s / alpha_s), 1.0) : HUGE_VAL;
  *n_pieces = k;
  return isinf (k) ? 0.0 : (behind + k) * alpha_s + behind * size_s / k;
}

double
mdl_plain_alpha_s (const MdlCollQuestion *question)
{
  double intra_s = question->n_ranks > question->n_nodes ? question->intra_latency_s : 0.0;
  return question->n_nodes > 1 ? fmax (intra_s, question->inter_latency_s) : intra_s;
}

double
mdl_plain_bound_Bps (const MdlCollQuestion *question, double share)
{
  if (isfinite (question->link_rate_Bps) || share <= 0.0)
    return HUGE_VAL;
  double intra_Bps = question->n_ranks > question->n_nodes ? question->intra_rate_Bps : HUGE_VAL;
  return (question->n_nodes > 1 ? fmin (intra_Bps, question->inter_rate_Bps) : intra_Bps) / share;
}

unsigned
mdl_log2_ceil (unsigned n)
{
  unsigned log2 = 0;
  while (log2 < 32 && (guint64)1 << log2 < n)
    log2++;
  return log2;
}

gboolean
mdl_version_from (const char *version, const char *least)
{
  unsigned a[3] = { 0 }, b[3] = { 0 };
  if (version == NULL || least == NULL)
    return TRUE;
  const char *const texts[] = { version, least };
  for (unsigned t = 0; t < G_N_ELEMENTS (texts); t++) {
    g_auto (GStrv) words = g_strsplit (texts[t], ".", 3);
    for (unsigned i = 0; words[i] != NULL; i++)
      (t == 0 ? a : b)[i] = (unsigned)g_ascii_strtoull (words[i], NULL, 10);
  }
  for (unsigned i = 0; i < G_N_ELEMENTS (a); i++)
    if (a[i] != b[i])
      return a[i] > b[i];
  return TRUE;
}
