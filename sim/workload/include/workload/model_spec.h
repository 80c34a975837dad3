/* Keys of a training workload that runs a `model`: how it is cut over ranks, in which numbers it computes, by whose software. */
#ifndef WORKLOAD_MODEL_SPEC_H
#define WORKLOAD_MODEL_SPEC_H

#include "models/layer.h"

G_BEGIN_DECLS

/* Formats; those of `optimizer` and `master` may be none. */
typedef struct {
  BaseHead head;
  BaseEnum compute, head_compute, attention; /* of layers, of the output head, of the core of attention */
  BaseEnum parameters;                       /* as the model holds them */
  BaseEnum gradients;                        /* that weight gradients are added up in */
  BaseEnum reduce, gather;                   /* that they, and sharded parameters, travel in */
  BaseEnum master, optimizer;                /* copies that the optimizer updates; its moments */
} WrkPrecisionSpec;

typedef struct {
  BaseHead head;
  BaseBool embedding, head_layer;  /* each counts as a layer where layers are dealt out */
  const BaseYamlNode *layout;      /* list of lists of layers, a list a chunk */
} WrkPipelineSpec;

typedef struct {
  BaseHead head;
  BaseBool tp, gradients, parameters, p2p;
} WrkOverlapSpec;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum year;
  BaseNum efficiency, attention;    /* in place of the measured ones */
  BaseNum kernel, sync, collective; /* s of the host, likewise */
  BaseBool queues_sends;            /* sends and receives of a pipeline rank */
} WrkSoftwareSpec;

typedef enum { WRK_ADAMW, WRK_ADAMW_FUSED } WrkOptimizer;

typedef struct {
  BaseHead head;
  BaseBool reshard, copies;
  BaseNum prefetch; /* layers gathered ahead */
} WrkFsdpSpec;

typedef struct {
  BaseHead head;
  BaseNum shard; /* ranks that share one copy */
} WrkHsdpSpec;

typedef struct {
  BaseHead head;
  BaseNum rank;
  BaseStrs modules;
  BaseBool dropout;
} WrkLoraSpec;

typedef struct {
  BaseHead head;
  BaseEnum kind; /* MdlCpKind */
} WrkCpSpec;

typedef struct {
  BaseHead head;
  BaseNum capacity, imbalance, etp;
  BaseEnum dispatch;    /* MdlFormat */
  BaseEnum experts;      /* MdlExperts */
  BaseBool node_limited; /* one copy of a token a node */
} WrkMoeSpec;

typedef struct {
  BaseHead head;
  BaseNum mean_length;
} WrkPackingSpec;

typedef struct {
  BaseHead head;
  BaseNum rank;     /* a GPU that computes slower … */
  BaseNum slowdown;
  BaseNum node, nic; /* … or an adapter with another rate */
  BaseNum rate;
} WrkStragglerSpec;

typedef struct {
  BaseHead head;
  BaseNum compute; /* standard deviation of a rank's compute, relative */
} WrkJitterSpec;

typedef struct {
  const BaseYamlNode *model; /* NULL: layers with given times */
  BaseNum sequence, global_batch, micro_batch, accumulate;
  WrkPrecisionSpec precision;
  const BaseYamlNode *recompute; /* none, selective, full, or {modules: […]} */
  WrkPipelineSpec pipeline;
  WrkOverlapSpec overlap;
  BaseEnum optimizer;
  BaseBool clip;
  WrkSoftwareSpec software;
  BaseEnum framework;
  WrkFsdpSpec fsdp;
  WrkHsdpSpec hsdp;
  WrkLoraSpec lora;
  WrkCpSpec cp;
  WrkMoeSpec moe;
  WrkPackingSpec packing;
  BaseNum mtp;         /* modules of multi-token prediction that are trained */
  BaseBool flash, dropout;
  BaseStrs placement;
  BaseList stragglers; /* WrkStragglerSpec */
  WrkJitterSpec jitter;
} WrkModelSpec;

G_END_DECLS

#endif
