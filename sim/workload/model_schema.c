/* The keys of a training workload that runs a model. */
#include "model_schema-private.h"

const BaseName wrk_optimizer_names[] = {
  { "adamw", WRK_ADAMW, "two moments a parameter; in the framework's way: eager code loops over lists of tensors" },
  { "adamw_fused", WRK_ADAMW_FUSED,
    "the same in one kernel a batch of tensors, in eager code too (torch.optim.AdamW (fused=True))" },
  { NULL, 0, NULL },
};

static const BaseField precision_fields[] = {
  BASE_ROW (WrkPrecisionSpec, "compute", compute, ENUM, .names = mdl_format_names, .fallback = "bf16",
            .help = "of the layers' matrix products"),
  BASE_ROW (WrkPrecisionSpec, "head", head_compute, ENUM, .names = mdl_format_names,
            .help = "of the output head's; default: `compute`, but bf16 where that is fp8 or fp4"),
  BASE_ROW (WrkPrecisionSpec, "attention", attention, ENUM, .names = mdl_format_names,
            .help = "of the core of attention; default: as `head`"),
  BASE_ROW (WrkPrecisionSpec, "parameters", parameters, ENUM, .names = mdl_format_names,
            .help = "as the model holds them; default: bf16; fp32 with fsdp, whose shards are the masters"),
  BASE_ROW (WrkPrecisionSpec, "gradients", gradients, ENUM, .names = mdl_format_names,
            .help = "that weight gradients are added up in; default: as `parameters`"),
  BASE_ROW (WrkPrecisionSpec, "reduce", reduce, ENUM, .names = mdl_format_names,
            .help = "that gradients travel in; default: as `gradients`"),
  BASE_ROW (WrkPrecisionSpec, "gather", gather, ENUM, .names = mdl_format_names,
            .help = "that sharded parameters travel in; default: bf16"),
  BASE_ROW (WrkPrecisionSpec, "master", master, ENUM, .names = mdl_format_names,
            .help =
                "of the copy that the optimizer updates; default: fp32 beside parameters of 16 bits and fp32 gradients, else none"),
  BASE_ROW (WrkPrecisionSpec, "optimizer", optimizer, ENUM, .names = mdl_format_names,
            .help = "of the optimizer's moments; default: fp32, or as `parameters` where there is no master"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_precision = { .name = "precision", .help = "Number formats.", .fields = precision_fields };

static const BaseField pipeline_fields[] = {
  BASE_ROW (WrkPipelineSpec, "embedding_as_layer", embedding, BOOL, .fallback = "false",
            .help = "the embedding counts as a layer where layers are dealt out to chunks"),
  BASE_ROW (WrkPipelineSpec, "head_as_layer", head_layer, BOOL, .fallback = "false", .help = "so does the output head"),
  BASE_ROW (WrkPipelineSpec, "layout", layout, NODE,
            .help = "layers of each chunk, in the order of the model: `[12, 14, …]` or lists of layer numbers"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_pipeline = { .name = "pipeline",
                                         .help = "How layers are dealt out to pp x vp chunks.",
                                         .fields = pipeline_fields };

static const BaseField overlap_fields[] = {
  BASE_ROW (WrkOverlapSpec, "tp", tp, BOOL, .fallback = "false",
            .help = "collectives of tensor parallelism run beside the products they belong to, part by part"),
  BASE_ROW (WrkOverlapSpec, "gradients", gradients, BOOL, .fallback = "true", .help = "reductions beside the backward pass"),
  BASE_ROW (WrkOverlapSpec, "parameters", parameters, BOOL, .fallback = "true",
            .help = "gathers of sharded parameters beside the forward pass"),
  BASE_ROW (WrkOverlapSpec, "p2p", p2p, BOOL, .fallback = "true", .help = "sends between stages beside compute"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_overlap = { .name = "overlap", .help = "What runs beside compute.", .fields = overlap_fields };

static const BaseField software_fields[] = {
  BASE_ROW (WrkSoftwareSpec, "name", name, STR, .required = TRUE,
            .help = "framework: picks its measured efficiency (calibrate/defaults/frameworks.yaml)"),
  BASE_ROW_NUM (WrkSoftwareSpec, "year", year, COUNT, .min = "2017", .max = "2100",
                .help = "of its release; default: the newest known"),
  BASE_ROW_NUM (WrkSoftwareSpec, "efficiency", efficiency, RATIO, .min = "5 %", .max = "2",
                .help = "in place of the measured one, of a framework by any name: compute takes what its kernels take over this"),
  BASE_ROW_NUM (WrkSoftwareSpec, "attention", attention, RATIO, .min = "5 %", .max = "2",
                .help = "the same of fused attention; default: as it is to the efficiency that was measured"),
  BASE_ROW_NUM (WrkSoftwareSpec, "kernel", kernel, TIME, .max = "1 ms",
                .help = "of the host to queue a kernel, in place of the measured one"),
  BASE_ROW_NUM (WrkSoftwareSpec, "sync", sync, TIME, .max = "10 ms",
                .help = "of the host to go on once the GPU has done what it waits for, likewise"),
  BASE_ROW_NUM (WrkSoftwareSpec, "collective", collective, TIME, .max = "10 ms",
                .help = "of the host to queue a collective, or a gather or scatter of shards, likewise"),
  BASE_ROW (WrkSoftwareSpec, "queues_sends", queues_sends, BOOL,
            .help = "sends and receives of a pipeline rank run on one stream, in the order that PyTorch lists them in (but for "
                    "gpipe and 1f1b); default: as the framework does"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_software = { .name = "software", .help = "Whose software runs the step.", .fields = software_fields };

static const BaseField fsdp_fields[] = {
  BASE_ROW (WrkFsdpSpec, "reshard", reshard, BOOL, .fallback = "true", .help = "free a layer's parameters after its forward pass"),
  BASE_ROW (WrkFsdpSpec, "copies", copies, BOOL, .fallback = "true",
            .help =
                "parameters are copied out of what is gathered, gradients into what is scattered; Megatron-FSDP keeps them there"),
  BASE_ROW_NUM (WrkFsdpSpec, "prefetch", prefetch, COUNT, .max = "100", .fallback = "1", .help = "layers gathered ahead"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_fsdp = { .name = "fsdp",
                                     .help = "Parameters, gradients and optimizer sharded layer by layer (PyTorch's FSDP2).",
                                     .fields = fsdp_fields };

static const BaseField hsdp_fields[] = {
  BASE_ROW_NUM (WrkHsdpSpec, "shard", shard, COUNT, .min = "1", .required = TRUE,
                .help = "ranks that share one copy; the others hold replicas"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_hsdp = { .name = "hsdp", .help = "Shards within groups, replicas over them.", .fields = hsdp_fields };

static const BaseField lora_fields[] = {
  BASE_ROW_NUM (WrkLoraSpec, "rank", rank, COUNT, .min = "1", .max = "65536", .required = TRUE, .help = "of the adapters"),
  BASE_ROW (WrkLoraSpec, "modules", modules, STRS, .help = "matrices with an adapter: q k v o gate up down; default: q k v o"),
  BASE_ROW (WrkLoraSpec, "dropout", dropout, BOOL, .fallback = "false", .help = "of what adapters read"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_lora = { .name = "lora",
                                     .help = "Low-rank adapters are trained, the model is frozen.",
                                     .fields = lora_fields };

static const BaseField cp_fields[] = {
  BASE_ROW (WrkCpSpec, "kind", kind, ENUM, .names = mdl_cp_names, .fallback = "ring", .help = "how ranks see each other's keys"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_cp = { .name = "cp", .help = "Context parallelism.", .fields = cp_fields };

static const BaseField moe_fields[] = {
  BASE_ROW_NUM (WrkMoeSpec, "capacity", capacity, NUMBER, .min = "0", .max = "1000", .fallback = "0",
                .help = "an expert takes at most this times its even share, and is padded to it; 0: dropless"),
  BASE_ROW_NUM (WrkMoeSpec, "imbalance", imbalance, NUMBER, .min = "1", .max = "1000", .fallback = "1",
                .help = "tokens of the fullest rank over the mean, dropless"),
  BASE_ROW_NUM (WrkMoeSpec, "etp", etp, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "tensor parallelism of an expert"),
  BASE_ROW (WrkMoeSpec, "dispatch", dispatch, ENUM, .names = mdl_format_names, .help = "that tokens travel in; default: bf16"),
  BASE_ROW (WrkMoeSpec, "experts", experts, ENUM, .names = mdl_experts_names, .fallback = "sorted",
            .help = "how those of a rank are computed: how many kernels they are, and how often the host waits"),
  BASE_ROW (WrkMoeSpec, "node_limited", node_limited, BOOL, .fallback = "false",
            .help = "one copy of a token crosses the network for each node, then NVLink"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_moe = { .name = "moe", .help = "Experts.", .fields = moe_fields };

static const BaseField packing_fields[] = {
  BASE_ROW_NUM (WrkPackingSpec, "mean_length", mean_length, COUNT, .min = "1", .required = TRUE,
                .help = "tokens of a document, on average; documents of a sequence do not see each other"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_packing = { .name = "packing", .help = "Several documents a sequence.", .fields = packing_fields };

static const BaseField straggler_fields[] = {
  BASE_ROW_NUM (WrkStragglerSpec, "rank", rank, COUNT, .help = "a GPU, by its global number …"),
  BASE_ROW_NUM (WrkStragglerSpec, "slowdown", slowdown, NUMBER, .min = "1", .max = "1000",
                .help = "… whose compute takes this times as long"),
  BASE_ROW_NUM (WrkStragglerSpec, "node", node, COUNT, .help = "a node …"),
  BASE_ROW_NUM (WrkStragglerSpec, "nic", nic, COUNT, .help = "… whose adapter of this number …"),
  BASE_ROW_NUM (WrkStragglerSpec, "rate", rate, BANDWIDTH, .min = "1 kB/s", .help = "… has this rate"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_stragglers = { .name = "stragglers",
                                           .help = "One that is slower than its like.",
                                           .fields = straggler_fields };

static const BaseField jitter_fields[] = {
  BASE_ROW_NUM (WrkJitterSpec, "compute", compute, RATIO, .min = "0", .max = "50 %", .required = TRUE,
                .help = "standard deviation of a rank's compute, drawn once a rank by the seed"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_jitter = { .name = "jitter", .help = "Ranks that differ at random.", .fields = jitter_fields };
