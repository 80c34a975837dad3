/* The keys of a training workload that runs a model. */
#include "spec-private.h"

const BaseName trn_optimizer_names[] = {
  { "adamw", TRN_ADAMW, "two moments a parameter; in the framework's way: eager code loops over lists of tensors" },
  { "adamw_fused", TRN_ADAMW_FUSED,
    "the same in one kernel a batch of tensors, in eager code too (torch.optim.AdamW (fused=True))" },
  { NULL, 0, NULL },
};

static const BaseField precision_fields[] = {
  BASE_ROW (TrnPrecisionSpec, "compute", compute, ENUM, .names = mdl_format_names, .fallback = "bf16",
            .help = "of the layers' matrix products"),
  BASE_ROW (TrnPrecisionSpec, "head", head_compute, ENUM, .names = mdl_format_names,
            .help = "of the output head's; default: `compute`, but bf16 where that is fp8 or fp4"),
  BASE_ROW (TrnPrecisionSpec, "attention", attention, ENUM, .names = mdl_format_names,
            .help = "of the core of attention; default: as `head`"),
  BASE_ROW (TrnPrecisionSpec, "parameters", parameters, ENUM, .names = mdl_format_names,
            .help = "as the model holds them; default: bf16; fp32 with fsdp, whose shards are the masters"),
  BASE_ROW (TrnPrecisionSpec, "gradients", gradients, ENUM, .names = mdl_format_names,
            .help = "that weight gradients are added up in; default: as `parameters`"),
  BASE_ROW (TrnPrecisionSpec, "reduce", reduce, ENUM, .names = mdl_format_names,
            .help = "that gradients travel in; default: as `gradients`"),
  BASE_ROW (TrnPrecisionSpec, "gather", gather, ENUM, .names = mdl_format_names,
            .help = "that sharded parameters travel in; default: bf16"),
  BASE_ROW (TrnPrecisionSpec, "master", master, ENUM, .names = mdl_format_names,
            .help =
                "of the copy that the optimizer updates; default: fp32 beside parameters of 16 bits and fp32 gradients, else none"),
  BASE_ROW (TrnPrecisionSpec, "optimizer", optimizer, ENUM, .names = mdl_format_names,
            .help = "of the optimizer's moments; default: fp32, or as `parameters` where there is no master"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_precision = { .name = "precision", .help = "Number formats.", .fields = precision_fields };

static const BaseField pipeline_fields[] = {
  BASE_ROW (TrnPipelineSpec, "embedding_as_layer", embedding, BOOL, .fallback = "false",
            .help = "the embedding counts as a layer where layers are dealt out to chunks"),
  BASE_ROW (TrnPipelineSpec, "head_as_layer", head_layer, BOOL, .fallback = "false", .help = "so does the output head"),
  BASE_ROW (TrnPipelineSpec, "layout", layout, NODE,
            .help = "layers of each chunk, in the order of the model: `[12, 14, …]` or lists of layer numbers"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_pipeline = { .name = "pipeline",
                                         .help = "How layers are dealt out to pp x vp chunks.",
                                         .fields = pipeline_fields };

static const BaseField overlap_fields[] = {
  BASE_ROW (TrnOverlapSpec, "tp", tp, BOOL, .fallback = "false",
            .help = "collectives of tensor parallelism run beside the products they belong to, part by part"),
  BASE_ROW (TrnOverlapSpec, "gradients", gradients, BOOL, .fallback = "true", .help = "reductions beside the backward pass"),
  BASE_ROW (TrnOverlapSpec, "parameters", parameters, BOOL, .fallback = "true",
            .help = "gathers of sharded parameters beside the forward pass"),
  BASE_ROW (TrnOverlapSpec, "p2p", p2p, BOOL, .fallback = "true", .help = "sends between stages beside compute"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_overlap = { .name = "overlap", .help = "What runs beside compute.", .fields = overlap_fields };

static const BaseField software_fields[] = {
  BASE_ROW (TrnSoftwareSpec, "name", name, STR, .required = TRUE,
            .help = "framework: picks its measured efficiency (calibrate/defaults/frameworks.yaml)"),
  BASE_ROW_NUM (TrnSoftwareSpec, "year", year, COUNT, .min = "2017", .max = "2100",
                .help = "of its release; default: the newest known"),
  BASE_ROW_NUM (TrnSoftwareSpec, "efficiency", efficiency, RATIO, .min = "5 %", .max = "2",
                .help = "in place of the measured one, of a framework by any name: compute takes what its kernels take over this"),
  BASE_ROW_NUM (TrnSoftwareSpec, "attention", attention, RATIO, .min = "5 %", .max = "2",
                .help = "the same of fused attention; default: as it is to the efficiency that was measured"),
  BASE_ROW_NUM (TrnSoftwareSpec, "kernel", kernel, TIME, .max = "1 ms",
                .help = "of the host to queue a kernel, in place of the measured one"),
  BASE_ROW_NUM (TrnSoftwareSpec, "sync", sync, TIME, .max = "10 ms",
                .help = "of the host to go on once the GPU has done what it waits for, likewise"),
  BASE_ROW_NUM (TrnSoftwareSpec, "collective", collective, TIME, .max = "10 ms",
                .help = "of the host to queue a collective, or a gather or scatter of shards, likewise"),
  BASE_ROW (TrnSoftwareSpec, "queues_sends", queues_sends, BOOL,
            .help = "sends and receives of a pipeline rank run on one stream, in the order that PyTorch lists them in (but for "
                    "gpipe and 1f1b); default: as the framework does"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_software = { .name = "software", .help = "Whose software runs the step.", .fields = software_fields };

static const BaseField fsdp_fields[] = {
  BASE_ROW (TrnFsdpSpec, "reshard", reshard, BOOL, .fallback = "true", .help = "free a layer's parameters after its forward pass"),
  BASE_ROW (TrnFsdpSpec, "copies", copies, BOOL, .fallback = "true",
            .help =
                "parameters are copied out of what is gathered, gradients into what is scattered; Megatron-FSDP keeps them there"),
  BASE_ROW_NUM (TrnFsdpSpec, "prefetch", prefetch, COUNT, .max = "100", .fallback = "1", .help = "layers gathered ahead"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_fsdp = { .name = "fsdp",
                                     .help = "Parameters, gradients and optimizer sharded layer by layer (PyTorch's FSDP2).",
                                     .fields = fsdp_fields };

static const BaseField hsdp_fields[] = {
  BASE_ROW_NUM (TrnHsdpSpec, "shard", shard, COUNT, .min = "1", .required = TRUE,
                .help = "ranks that share one copy; the others hold replicas"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_hsdp = { .name = "hsdp", .help = "Shards within groups, replicas over them.", .fields = hsdp_fields };

static const BaseField lora_fields[] = {
  BASE_ROW_NUM (TrnLoraSpec, "rank", rank, COUNT, .min = "1", .max = "65536", .required = TRUE, .help = "of the adapters"),
  BASE_ROW (TrnLoraSpec, "modules", modules, STRS, .help = "matrices with an adapter: q k v o gate up down; default: q k v o"),
  BASE_ROW (TrnLoraSpec, "dropout", dropout, BOOL, .fallback = "false", .help = "of what adapters read"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_lora = { .name = "lora",
                                     .help = "Low-rank adapters are trained, the model is frozen.",
                                     .fields = lora_fields };

static const BaseField cp_fields[] = {
  BASE_ROW (TrnCpSpec, "kind", kind, ENUM, .names = mdl_cp_names, .fallback = "ring", .help = "how ranks see each other's keys"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_cp = { .name = "cp", .help = "Context parallelism.", .fields = cp_fields };

static const BaseField moe_fields[] = {
  BASE_ROW_NUM (TrnMoeSpec, "capacity", capacity, NUMBER, .min = "0", .max = "1000", .fallback = "0",
                .help = "an expert takes at most this times its even share, and is padded to it; 0: dropless"),
  BASE_ROW_NUM (TrnMoeSpec, "imbalance", imbalance, NUMBER, .min = "1", .max = "1000", .fallback = "1",
                .help = "tokens of the fullest rank over the mean, dropless"),
  BASE_ROW_NUM (TrnMoeSpec, "etp", etp, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "tensor parallelism of an expert"),
  BASE_ROW (TrnMoeSpec, "dispatch", dispatch, ENUM, .names = mdl_format_names, .help = "that tokens travel in; default: bf16"),
  BASE_ROW (TrnMoeSpec, "experts", experts, ENUM, .names = mdl_experts_names, .fallback = "sorted",
            .help = "how those of a rank are computed: how many kernels they are, and how often the host waits"),
  BASE_ROW (TrnMoeSpec, "node_limited", node_limited, BOOL, .fallback = "false",
            .help = "one copy of a token crosses the network for each node, then NVLink"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_moe = { .name = "moe", .help = "Experts.", .fields = moe_fields };

static const BaseField packing_fields[] = {
  BASE_ROW_NUM (TrnPackingSpec, "mean_length", mean_length, COUNT, .min = "1", .required = TRUE,
                .help = "tokens of a document, on average; documents of a sequence do not see each other"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_packing = { .name = "packing", .help = "Several documents a sequence.", .fields = packing_fields };

static const BaseField straggler_fields[] = {
  BASE_ROW_NUM (TrnStragglerSpec, "rank", rank, COUNT, .help = "a GPU, by its global number …"),
  BASE_ROW_NUM (TrnStragglerSpec, "slowdown", slowdown, NUMBER, .min = "1", .max = "1000",
                .help = "… whose compute takes this times as long"),
  BASE_ROW_NUM (TrnStragglerSpec, "node", node, COUNT, .help = "a node …"),
  BASE_ROW_NUM (TrnStragglerSpec, "nic", nic, COUNT, .help = "… whose adapter of this number …"),
  BASE_ROW_NUM (TrnStragglerSpec, "rate", rate, BANDWIDTH, .min = "1 kB/s", .help = "… has this rate"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_stragglers = { .name = "stragglers",
                                           .help = "One that is slower than its like.",
                                           .fields = straggler_fields };

static const BaseField jitter_fields[] = {
  BASE_ROW_NUM (TrnJitterSpec, "compute", compute, RATIO, .min = "0", .max = "50 %", .required = TRUE,
                .help = "standard deviation of a rank's compute, drawn once a rank by the seed"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_jitter = { .name = "jitter", .help = "Ranks that differ at random.", .fields = jitter_fields };
