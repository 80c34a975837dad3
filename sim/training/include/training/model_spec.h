/* Keys of a training workload that runs a `model`: how it is cut over ranks, in which numbers it computes, by whose software. */
#ifndef TRAINING_MODEL_SPEC_H
#define TRAINING_MODEL_SPEC_H

#include "models/layer.h"

/* Formats; those of `optimizer` and `master` may be none. */
typedef struct {
  BaseHead head;
  BaseEnum compute, head_compute, attention; /* of layers, of the output head, of the core of attention */
  BaseEnum cached;                           /* inputs of gated activations, between the passes */
  BaseEnum parameters;                       /* as the model holds them */
  BaseEnum gradients;                        /* that weight gradients are added up in */
  BaseEnum reduce, gather;                   /* that they, and sharded parameters, travel in */
  BaseEnum master, optimizer;                /* copies that the optimizer updates; its moments */
  BaseEnum scaling;                          /* MdlScaling, of products in fp8 and fp4 */
  BaseEnum weights;                          /* that the layers' matrices are held in */
} TrnPrecisionSpec;

typedef struct {
  BaseHead head;
  BaseBool embedding, head_layer; /* each counts as a layer where layers are dealt out */
  BaseBool uneven;                /* chunks may differ by one layer */
  const BaseYamlNode *layout;     /* list of lists of layers, a list a chunk */
} TrnPipelineSpec;

typedef struct {
  BaseHead head;
  BaseBool tp, gradients, parameters, p2p, ep, wgrad;
} TrnOverlapSpec;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum year;
  BaseNum efficiency, attention;    /* in place of the measured ones */
  BaseNum kernel, sync, collective; /* s of the host, likewise */
  BaseBool queues_sends;            /* sends and receives of a pipeline rank */
} TrnSoftwareSpec;

typedef struct {
  BaseHead head;
  BaseBool reshard, copies;
  BaseNum prefetch; /* layers gathered ahead */
} TrnFsdpSpec;

typedef struct {
  BaseHead head;
  BaseNum shard; /* ranks that share one copy */
} TrnHsdpSpec;

typedef struct {
  BaseHead head;
  BaseNum rank;
  BaseStrs modules;
  BaseBool dropout;
  BaseEnum base; /* MdlFormat; NONE: as parameters */
} TrnLoraSpec;

typedef struct {
  BaseHead head;
  BaseEnum kind; /* MdlCpKind */
} TrnCpSpec;

typedef struct {
  BaseHead head;
  BaseNum capacity, imbalance, etp;
  BaseEnum dispatch;     /* MdlFormat */
  BaseEnum experts;      /* MdlExperts */
  BaseEnum dispatcher;   /* MdlDispatcher */
  BaseBool node_limited; /* one copy of a token a node */
  BaseBool permute_fused;
  BaseBool router_padding; /* for products in fp8 and fp4 */
  BaseBool shared_overlap; /* shared experts run beside the dispatch */
} TrnMoeSpec;

typedef struct {
  BaseHead head;
  BaseNum mean_length;
} TrnPackingSpec;

typedef struct {
  BaseHead head;
  BaseNum rank; /* a GPU that computes slower … */
  BaseNum slowdown;
  BaseNum node, nic; /* … or an adapter with another rate */
  BaseNum rate;
} TrnStragglerSpec;

typedef struct {
  BaseHead head;
  BaseNum compute; /* standard deviation of a rank's compute, relative */
} TrnJitterSpec;

/* Local steps: workers that train alone between two exchanges (DiLoCo). */
typedef enum { TRN_OUTER_FP32, TRN_OUTER_BF16, TRN_OUTER_FP16, TRN_OUTER_INT8, TRN_OUTER_INT4 } TrnOuterFormat;
extern const BaseName trn_outer_names[];
typedef struct {
  BaseHead head;
  BaseNum workers;
  BaseNum every;     /* steps */
  BaseEnum format;   /* TrnOuterFormat, of what is exchanged */
  BaseNum fragments; /* that it is exchanged in, one after the other */
  BaseNum overlap;   /* steps that the exchange of one may take */
} TrnLocalSpec;

/* What a hook makes of gradients before they are reduced (PyTorch's DDP communication hooks). */
typedef enum { TRN_COMPRESS_NONE, TRN_COMPRESS_FP16, TRN_COMPRESS_BF16, TRN_COMPRESS_INT8, TRN_COMPRESS_POWERSGD } TrnCompression;
extern const BaseName trn_compression_names[];
typedef struct {
  BaseHead head;
  BaseEnum kind; /* TrnCompression */
  BaseNum rank;  /* of PowerSGD's factors */
} TrnCompressSpec;

/* Images of a sequence, for the model's vision encoder; all of one size, in pixels. */
typedef struct {
  BaseHead head;
  BaseNum count, height, width;
} TrnImagesSpec;

/* What leaves the GPU between its uses. */
typedef struct {
  BaseHead head;
  BaseNum layers;    /* whose activations go to the host's memory: the first so many of a chunk */
  BaseNum optimizer; /* of the optimizer's states: kept and updated by the host */
  BaseEnum to;       /* TrnOffloadTo, of these states */
} TrnOffloadSpec;
typedef enum { TRN_OFFLOAD_CPU, TRN_OFFLOAD_NVME } TrnOffloadTo;

typedef struct {
  const BaseYamlNode *model; /* NULL: layers with given times */
  BaseNum sequence, global_batch, micro_batch, accumulate;
  gboolean sequence_assumed; /* not a key: `sequence` was left out, and is the one that the model was trained with */
  TrnPrecisionSpec precision;
  const BaseYamlNode *recompute; /* none, selective, full, or {modules: […], layers: N, stages: […]} */
  TrnOffloadSpec offload;
  BaseEnum loss;      /* MdlLoss */
  BaseNum metrics;    /* losses beside it */
  BaseEnum allocator; /* 1: expandable segments */
  TrnPipelineSpec pipeline;
  TrnOverlapSpec overlap;
  BaseEnum optimizer;
  BaseBool clip;
  TrnSoftwareSpec software;
  BaseEnum framework;
  TrnFsdpSpec fsdp;
  TrnHsdpSpec hsdp;
  TrnLoraSpec lora;
  TrnCpSpec cp;
  TrnMoeSpec moe;
  TrnPackingSpec packing;
  TrnImagesSpec images;
  TrnLocalSpec local;
  TrnCompressSpec compress;
  BaseNum mtp; /* modules of multi-token prediction that are trained */
  BaseBool flash, dropout;
  BaseStrs placement;
  BaseList stragglers; /* TrnStragglerSpec */
  TrnJitterSpec jitter;
} TrnModelSpec;

#endif
