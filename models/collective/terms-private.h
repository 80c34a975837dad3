/* What the algorithms' files share: terms of an answer, channels in use, steps. Inside models/ only. */
#ifndef MODELS_COST_PRIVATE_H
#define MODELS_COST_PRIVATE_H

#include "models/coll.h"
#include "models/library-spec.h"

#define MDL_COLL_EXTERN_(code, name, letter, help) extern const MdlColl mdl_coll_##name;
MDL_ALGO_ROWS (MDL_COLL_EXTERN_)

/* Adds `value_s` to the latency as a term named `name` (static text), explained by `format`. `from`: the constant that it rests
 * on, NULL for none; its source weakens the answer's. Nothing is added for 0. */
/* Bounds the rate by a constant, where that is less than the bound so far. FALSE: it is not. */
gboolean mdl_cost_bound (MdlCollCost *cost, double rate_Bps, const BaseNum *from);
void mdl_cost_term (const MdlCollQuestion *question, MdlCollCost *cost, const char *name, double value_s, const BaseNum *from,
                    const char *format, ...) G_GNUC_PRINTF (6, 7);
/* A constant that entered the answer by another way than a term's. */
void mdl_cost_use (MdlCollCost *cost, const BaseNum *num);

/* Whether Simple goes straight into the peer's buffer, on one node. */
static inline gboolean
mdl_buffers_registered (const MdlCollQuestion *question)
{
  return question->registered || question->launch == MDL_LAUNCH_REGISTERED;
}

/* What the size moves at: min (bound, link rate / wire). */
double mdl_cost_rate (const MdlCollQuestion *question, const MdlCollCost *cost);
/* size / rate; 0 for nothing to move or nothing that limits. */
double mdl_time_s (double size_B, double rate_Bps);

/* Channels in use, as a real number: NCCL's whole number makes time a saw-tooth over size, which sizes of nccl-tests (powers of
 * two) never show; the real number keeps time from ever falling as size grows. `ring`: LL's threshold counts ranks. */
double mdl_channels (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question, gboolean ring);
double mdl_channels_most (const MdlLibrary *library, const MdlCollQuestion *question);

/* NVLS, alone and over several nodes (nvls.c): channels in use, the constant of the links' efficiency, and why a node cannot
 * (static text, NULL if it can). */
double mdl_nvls_channels (const MdlLibrary *library, const MdlCollQuestion *question);
/* What NCCL sets for NVLSTree over these nodes; NULL: nothing beside its defaults. Borrowed. */
const MdlNvlsTreePiece *mdl_nvls_tree_piece (const MdlLibrary *library, const MdlCollQuestion *question);
const BaseNum *mdl_nvls_efficiency_of (const MdlLibrary *library, unsigned compute_capability, unsigned gpus);
/* B/s that the channels move; the fewer channels of registered buffers are enough for as much. */
double mdl_nvls_bound_Bps (const MdlLibrary *library, const MdlCollQuestion *question);
/* Rounds of pieces in flight in the question's NVLink domains. */
const BaseNum *mdl_nvls_stages (const MdlLibrary *library, const MdlCollQuestion *question);
const char *mdl_why_not_nvls_node (const MdlCollQuestion *question);

/* Start on the GPU: the spec's start plus what each further channel adds, as a term and in start_s. */
void mdl_cost_start (const MdlCollQuestion *question, MdlCollCost *cost, const MdlByProto *start, const MdlByProto *per_channel,
                     MdlProto proto, double channels);

/* The same of one constant. */
void mdl_cost_begin (const MdlCollQuestion *question, MdlCollCost *cost, const BaseNum *start);

/* Latency of a short step over `hop`, its wire and channels included, and what of it can never be hidden. */
typedef struct {
  const MdlStep *step;
  double latency_s, floor_s;
} MdlStepTime;
MdlStepTime mdl_step_time (const MdlHopSteps *hop, MdlProto proto, double route_latency_s, double channels);
/* The same between nodes: what the network's plugin adds is in it, and used. `hop`: all kinds. */
/* Channels that one proxy thread serves: a process a GPU, and of its GPUs those that have an adapter. */
double mdl_channels_of_proxy (const MdlCollQuestion *q, double channels);

MdlStepTime mdl_network_step_time (const MdlLibrary *library, const MdlHopSteps *hop, MdlProto proto, const MdlCollQuestion *q,
                                   double channels, MdlCollCost *cost);
/* Adds what it takes the CPU to read the flags of each line of a message by LL, pieces of `piece_B` on so many channels, where the
 * plugin says it. Source: NCCL 5067397c src/transport/net.cc:sendProxyProgress. */
void mdl_network_lines (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, double channels, double piece_B,
                        MdlStepTime *time, MdlCollCost *cost);
/* Sets band, near and fabric of a cost whose other parts are complete. */
void mdl_coll_band (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *question, MdlCollCost *cost);

/* The plugin that serves the network between the nodes; NULL: none. */
const MdlPlugin *mdl_plugin (const MdlLibrary *library, const MdlCollQuestion *question);

/* What a route is longer than the one that a hop's latencies contain. */
double mdl_longer_s (const MdlHopSteps *hop, double route_latency_s);

/* Piece of a pipeline after the rules that shrink it: `part_B` of a channel in pieces of at most `piece_B`. Follows NCCL's halvings
 * between their powers of two, so that it never jumps; not above part_B. */
double mdl_cut_piece (const BaseList *cuts, double part_B, double piece_B, double fewer_scale);

/* Blocks (the bound) and links that come near each other reach neither's rate: together they move (a^-x + b^-x)^(-1/x). What is
 * lost counts against the slower of the two, bound or wire. Nothing where no exponent is set. */
void mdl_cost_blend (const MdlCollQuestion *question, const BaseNum *exponent, MdlCollCost *cost);

/* Textbook pipeline over `n_hops` hops with the best number of pieces: latency beyond the size term; *n_pieces >= 1. */
double mdl_plain_pipeline_s (double n_hops, double alpha_s, double size_s, double *n_pieces);
/* Longest wire of a step, for the textbook forms. */
double mdl_plain_alpha_s (const MdlCollQuestion *question);
/* Rate one rank sends at by its slowest route; `share`: what of the size crosses it. Only where the question has no link rate. */
double mdl_plain_bound_Bps (const MdlCollQuestion *question, double share);

/* What the algorithms that exchange parts pairwise share (MdlColl): their steps, and their textbook form, all at once. */
unsigned mdl_exchange_steps (const MdlCollQuestion *question);
void mdl_exchange_plain (const MdlCollQuestion *question, MdlCollCost *cost);

/* ceil (log2 (n)); 0 for n <= 1. */
unsigned mdl_log2_ceil (unsigned n);

#endif
