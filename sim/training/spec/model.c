/* The keys of a training workload that runs a model. */
#include "spec-private.h"

static const BaseField precision_fields[] = {
  BASE_ROW (TrnPrecisionSpec, "compute", compute, ENUM, .names = mdl_format_names, .fallback = "bf16",
            .help = "matrix products of the layers"),
  BASE_ROW (TrnPrecisionSpec, "head", head_compute, ENUM, .names = mdl_format_names,
            .help = "matrix products of the output head; default: `compute`, or bf16 if that is fp8 or fp4"),
  BASE_ROW (TrnPrecisionSpec, "attention", attention, ENUM, .names = mdl_format_names, .help = "core attention; default: `head`"),
  BASE_ROW (TrnPrecisionSpec, "cached", cached, ENUM, .names = mdl_format_names,
            .help = "inputs of gated activations, as kept for the backward pass; the activation casts them; default: not cast"),
  BASE_ROW (TrnPrecisionSpec, "parameters", parameters, ENUM, .names = mdl_format_names,
            .help = "parameters of the model; default: bf16; with FSDP fp32, as the shards are the master copy"),
  BASE_ROW (TrnPrecisionSpec, "gradients", gradients, ENUM, .names = mdl_format_names,
            .help = "accumulated weight gradients; default: `parameters`"),
  BASE_ROW (TrnPrecisionSpec, "reduce", reduce, ENUM, .names = mdl_format_names,
            .help = "gradients on the network; default: `gradients`"),
  BASE_ROW (TrnPrecisionSpec, "gather", gather, ENUM, .names = mdl_format_names,
            .help = "sharded parameters on the network; default: bf16"),
  BASE_ROW (TrnPrecisionSpec, "master", master, ENUM, .names = mdl_format_names,
            .help = "master copy that the optimizer updates; default: fp32 with 16-bit parameters and fp32 gradients, else none"),
  BASE_ROW (TrnPrecisionSpec, "optimizer", optimizer, ENUM, .names = mdl_format_names,
            .help = "moments of the optimizer; default: fp32, or `parameters` if there is no master copy"),
  BASE_ROW (TrnPrecisionSpec, "scaling", scaling, ENUM, .names = mdl_scaling_names,
            .help = "scaling factors of products in fp8 or fp4: what copies of weights they need; default: two copies"),
  BASE_ROW (TrnPrecisionSpec, "weights", weights, ENUM, .names = mdl_format_names,
            .help = "format in which the layers' matrices are held; `fp8` with `scaling`: no other copy (Megatron's "
                    "fp8_param_gather); default: `parameters`"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_precision = { .name = "precision", .help = "Number formats.", .fields = precision_fields };

static const BaseName offload_names[] = {
  { "cpu", TRN_OFFLOAD_CPU, "memory of the host (ZeRO-Offload)" },
  { "nvme", TRN_OFFLOAD_NVME, "drives of the node, read and written in each step (ZeRO-Infinity)" },
  { NULL, 0, NULL },
};
static const BaseField offload_fields[] = {
  BASE_ROW_NUM (TrnOffloadSpec, "layers", layers, COUNT, .max = "100000", .fallback = "0",
                .help = "activations of the first so many layers of each chunk go to host memory after their forward pass"),
  BASE_ROW_NUM (TrnOffloadSpec, "optimizer", optimizer, RATIO, .min = "0", .max = "1", .fallback = "0",
                .help = "fraction of the optimizer's states that the host keeps and updates"),
  BASE_ROW (TrnOffloadSpec, "to", to, ENUM, .names = offload_names, .fallback = "cpu", .help = "where it keeps them"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_offload = { .name = "offload",
                                        .help = "What the host holds in place of the GPU.",
                                        .fields = offload_fields };

static const BaseField pipeline_fields[] = {
  BASE_ROW (TrnPipelineSpec, "embedding_as_layer", embedding, BOOL, .fallback = "false",
            .help = "count the embedding as a layer when distributing layers"),
  BASE_ROW (TrnPipelineSpec, "uneven", uneven, BOOL, .fallback = "false",
            .help = "layers that do not divide: chunks differ by one layer, and the last, first, last but one … have fewer"),
  BASE_ROW (TrnPipelineSpec, "head_as_layer", head_layer, BOOL, .fallback = "false",
            .help = "count the output head as a layer too"),
  BASE_ROW (TrnPipelineSpec, "layout", layout, NODE,
            .help = "layers of each chunk in model order: `[12, 14, …]`, or lists of layer numbers"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_pipeline = { .name = "pipeline",
                                         .help = "Distribution of layers over pp x vp chunks.",
                                         .fields = pipeline_fields };

static const BaseField overlap_fields[] = {
  BASE_ROW (TrnOverlapSpec, "tp", tp, BOOL, .fallback = "false",
            .help = "overlap tensor-parallel collectives with their matrix products, part by part"),
  BASE_ROW (TrnOverlapSpec, "gradients", gradients, BOOL, .fallback = "true", .help = "overlap reductions with the backward pass"),
  BASE_ROW (TrnOverlapSpec, "parameters", parameters, BOOL, .fallback = "true",
            .help = "overlap gathers of sharded parameters with the forward pass"),
  BASE_ROW (TrnOverlapSpec, "p2p", p2p, BOOL, .fallback = "true", .help = "overlap sends between stages with compute"),
  BASE_ROW (TrnOverlapSpec, "ep", ep, BOOL, .fallback = "false",
            .help = "run each backward pass beside the next forward pass, which hides dispatch and combine of experts (Megatron's "
                    "overlap_moe_expert_parallel_comm); one stage, or schedule interleaved"),
  BASE_ROW (TrnOverlapSpec, "delay_wgrad", wgrad, BOOL, .fallback = "false",
            .help = "with `ep`: compute weight gradients of a layer behind all that others wait for, while its gradients travel "
                    "(Megatron's delay_wgrad_compute); with tensor parallelism it needs tp: false"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_overlap = { .name = "overlap", .help = "What overlaps with compute.", .fields = overlap_fields };

static const BaseField software_fields[] = {
  BASE_ROW (TrnSoftwareSpec, "name", name, STR, .required = TRUE,
            .help = "framework; selects its measured efficiency in calibrate/defaults/frameworks.yaml"),
  BASE_ROW_NUM (TrnSoftwareSpec, "year", year, COUNT, .min = "2017", .max = "2100",
                .help = "year of the release; default: the newest known"),
  BASE_ROW_NUM (TrnSoftwareSpec, "efficiency", efficiency, RATIO, .min = "5 %", .max = "2",
                .help = "compute time = kernel time / efficiency; for a framework of any name"),
  BASE_ROW_NUM (TrnSoftwareSpec, "attention", attention, RATIO, .min = "5 %", .max = "2",
                .help = "the same for fused attention; default: scaled with `efficiency`"),
  BASE_ROW_NUM (TrnSoftwareSpec, "kernel", kernel, TIME, .max = "1 ms", .help = "host time to queue a kernel"),
  BASE_ROW_NUM (TrnSoftwareSpec, "sync", sync, TIME, .max = "10 ms", .help = "host time to continue after the GPU has finished"),
  BASE_ROW_NUM (TrnSoftwareSpec, "collective", collective, TIME, .max = "10 ms",
                .help = "host time to queue a collective or a gather or scatter of shards"),
  BASE_ROW (TrnSoftwareSpec, "queues_sends", queues_sends, BOOL,
            .help = "sends and receives of a pipeline rank share one stream, in PyTorch's order (not for gpipe and 1f1b); default: "
                    "the framework's"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_software = {
  .name = "software",
  .help = "Framework that runs the step. Given times and efficiencies replace the measured ones.",
  .fields = software_fields,
  .scalar_key = "name",
};

static const BaseField fsdp_fields[] = {
  BASE_ROW (TrnFsdpSpec, "reshard", reshard, BOOL, .fallback = "true", .help = "free a layer's parameters after its forward pass"),
  BASE_ROW (TrnFsdpSpec, "copies", copies, BOOL, .fallback = "true",
            .help = "copy gathered parameters out and gradients in; Megatron-FSDP (`false`) uses the buffers in place"),
  BASE_ROW_NUM (TrnFsdpSpec, "prefetch", prefetch, COUNT, .max = "100", .fallback = "1", .help = "layers gathered ahead"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_fsdp = { .name = "fsdp",
                                     .help = "Parameters, gradients and optimizer state sharded per layer (PyTorch's FSDP2).",
                                     .fields = fsdp_fields };

static const BaseField hsdp_fields[] = {
  BASE_ROW_NUM (TrnHsdpSpec, "shard", shard, COUNT, .min = "1", .required = TRUE,
                .help = "ranks that share one copy; across these groups are replicas"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_hsdp = { .name = "hsdp",
                                     .help = "Hybrid sharding: shards within groups, replicas across groups.",
                                     .fields = hsdp_fields };

static const BaseName frozen_names[] = { { "as_parameters", MDL_FORMAT_NONE, "the format of `parameters`" },
                                         { "fp8", MDL_FORMAT_FP8, "8 bits; products in fp8 take it as it is" },
                                         { "nf4", MDL_FORMAT_FP4, "4 bits with scales (QLoRA), written out for each product" },
                                         { NULL, 0, NULL } };
static const BaseField lora_fields[] = {
  BASE_ROW_NUM (TrnLoraSpec, "rank", rank, COUNT, .min = "1", .max = "65536", .required = TRUE, .help = "rank of the adapters"),
  BASE_ROW (TrnLoraSpec, "modules", modules, STRS, .help = "matrices with adapters, of q k v o gate up down; default: q k v o"),
  BASE_ROW (TrnLoraSpec, "dropout", dropout, BOOL, .fallback = "false", .help = "dropout of the adapters' input"),
  BASE_ROW (TrnLoraSpec, "base", base, ENUM, .names = frozen_names, .fallback = "as_parameters",
            .help = "format in which the frozen matrices of the layers are kept"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_lora = { .name = "lora",
                                     .help = "Low-rank adapters are trained, the model is frozen.",
                                     .fields = lora_fields };

static const BaseField cp_fields[] = {
  BASE_ROW (TrnCpSpec, "kind", kind, ENUM, .names = mdl_cp_names, .fallback = "ring", .help = "how ranks exchange keys and values"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_cp = { .name = "cp", .help = "Context parallelism.", .fields = cp_fields };

static const BaseField moe_fields[] = {
  BASE_ROW_NUM (TrnMoeSpec, "capacity", capacity, NUMBER, .min = "0", .max = "1000", .fallback = "0",
                .help = "most tokens of an expert, over an even share; experts are padded to it; 0: dropless"),
  BASE_ROW_NUM (TrnMoeSpec, "imbalance", imbalance, NUMBER, .min = "1", .max = "1000", .fallback = "1",
                .help = "dropless: tokens of the fullest rank over the mean"),
  BASE_ROW_NUM (TrnMoeSpec, "etp", etp, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "tensor parallelism within an expert"),
  BASE_ROW (TrnMoeSpec, "dispatch", dispatch, ENUM, .names = mdl_format_names,
            .help = "format of tokens on the network; default: bf16"),
  BASE_ROW (TrnMoeSpec, "experts", experts, ENUM, .names = mdl_experts_names, .fallback = "sorted",
            .help = "how a rank computes its experts: number of kernels, host waits"),
  BASE_ROW (TrnMoeSpec, "dispatcher", dispatcher, ENUM, .names = mdl_dispatcher_names, .fallback = "alltoall",
            .help = "what takes tokens to experts and back; libraries by their measured times (docs/moe.md)"),
  BASE_ROW (TrnMoeSpec, "permute_fused", permute_fused, BOOL,
            .help = "one kernel sorts tokens by expert (Megatron's moe_permute_fusion); default: yes, but no in eager code"),
  BASE_ROW (TrnMoeSpec, "router_padding", router_padding, BOOL, .fallback = "false",
            .help = "fp8 and fp4: the router fills up each expert's rows (moe_router_padding_for_quantization), so that no copy "
                    "does"),
  BASE_ROW (TrnMoeSpec, "shared_overlap", shared_overlap, BOOL, .fallback = "true",
            .help = "run shared experts beside the dispatch; false: alone before it (Megatron's moe_shared_expert_overlap)"),
  BASE_ROW (TrnMoeSpec, "node_limited", node_limited, BOOL, .fallback = "false",
            .help = "send one copy of a token per node that it reaches over the network, then NVLink; with dispatcher alltoall"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_moe = { .name = "moe", .help = "Mixture of experts.", .fields = moe_fields };

static const BaseField packing_fields[] = {
  BASE_ROW_NUM (TrnPackingSpec, "mean_length", mean_length, COUNT, .min = "1", .required = TRUE,
                .help = "mean tokens per document; attention does not cross documents"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_packing = { .name = "packing", .help = "Several documents per sequence.", .fields = packing_fields };

static const BaseField images_fields[] = {
  BASE_ROW_NUM (TrnImagesSpec, "count", count, COUNT, .min = "1", .max = "100000", .required = TRUE,
                .help = "images per sequence; their tokens are some of the sequence's"),
  BASE_ROW_NUM (TrnImagesSpec, "height", height, COUNT, .min = "1", .max = "100000", .required = TRUE,
                .help = "pixels, as the encoder gets them"),
  BASE_ROW_NUM (TrnImagesSpec, "width", width, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "pixels"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_images = { .name = "images", .help = "Images for a model's vision encoder.", .fields = images_fields };

const BaseName trn_outer_names[] = {
  { "fp32", TRN_OUTER_FP32, "4 B a parameter" },
  { "bf16", TRN_OUTER_BF16, "2 B" },
  { "fp16", TRN_OUTER_FP16, "2 B" },
  { "int8", TRN_OUTER_INT8, "1 B" },
  { "int4", TRN_OUTER_INT4, "half a byte" },
  { NULL, 0, NULL },
};

const BaseName trn_compression_names[] = {
  { "none", TRN_COMPRESS_NONE, "gradients as they are" },
  { "fp16", TRN_COMPRESS_FP16, "cast to fp16 (fp16_compress_hook)" },
  { "bf16", TRN_COMPRESS_BF16, "cast to bf16 (bf16_compress_hook)" },
  { "int8", TRN_COMPRESS_INT8, "scaled to 8 bits and gathered (quantization_perchannel_hook)" },
  { "powersgd", TRN_COMPRESS_POWERSGD, "two factors of low rank for each matrix (powerSGD_hook)" },
  { NULL, 0, NULL },
};

static const BaseField local_fields[] = {
  BASE_ROW_NUM (TrnLocalSpec, "workers", workers, COUNT, .min = "2", .max = "10000", .required = TRUE,
                .help = "workers (DiLoCo's islands): equal parts of the data-parallel ranks, e.g. one a site"),
  BASE_ROW_NUM (TrnLocalSpec, "every", every, COUNT, .min = "1", .max = "1 M", .required = TRUE,
                .help = "steps between two exchanges (H)"),
  BASE_ROW (TrnLocalSpec, "format", format, ENUM, .names = trn_outer_names, .fallback = "fp32",
            .help = "format of the pseudo-gradients on the network"),
  BASE_ROW_NUM (TrnLocalSpec, "fragments", fragments, COUNT, .min = "1", .max = "10000", .fallback = "1",
                .help = "fragments that are exchanged one after the other, every / fragments steps apart (Streaming DiLoCo)"),
  BASE_ROW_NUM (TrnLocalSpec, "overlap", overlap, COUNT, .max = "1 M", .fallback = "0",
                .help = "steps that pass before an exchange is waited for; 0: it is waited for at once"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_local = { .name = "local_steps",
                                      .help = "Workers train alone and exchange what changed every so many steps (DiLoCo).",
                                      .fields = local_fields };

static const BaseField compress_fields[] = {
  BASE_ROW (TrnCompressSpec, "kind", kind, ENUM, .names = trn_compression_names, .required = TRUE, .help = "method"),
  BASE_ROW_NUM (TrnCompressSpec, "rank", rank, COUNT, .min = "1", .max = "4096", .fallback = "1",
                .help = "powersgd: rank of the two factors of a matrix (matrix_approximation_rank)"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_compress = { .name = "compress",
                                         .help = "Gradients compressed before DDP's all-reduce, by its communication hooks.",
                                         .fields = compress_fields,
                                         .scalar_key = "kind" };

static const BaseField straggler_fields[] = {
  BASE_ROW_NUM (TrnStragglerSpec, "rank", rank, COUNT, .help = "GPU, by its global number; needs `slowdown`"),
  BASE_ROW_NUM (TrnStragglerSpec, "slowdown", slowdown, NUMBER, .min = "1", .max = "1000",
                .help = "its compute time, times the normal"),
  BASE_ROW_NUM (TrnStragglerSpec, "node", node, COUNT, .help = "node; needs `nic` and `rate`"),
  BASE_ROW_NUM (TrnStragglerSpec, "nic", nic, COUNT, .help = "number of the NIC in the node"),
  BASE_ROW_NUM (TrnStragglerSpec, "rate", rate, BANDWIDTH, .min = "1 kB/s", .help = "rate of that NIC"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_stragglers = { .name = "stragglers",
                                           .help = "A slow GPU (`rank`, `slowdown`) or a slow NIC (`node`, `nic`, `rate`).",
                                           .fields = straggler_fields };

static const BaseField jitter_fields[] = {
  BASE_ROW_NUM (TrnJitterSpec, "compute", compute, RATIO, .min = "0", .max = "50 %", .required = TRUE,
                .help = "standard deviation of compute time; each rank is drawn once, by the seed"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_jitter = { .name = "jitter", .help = "Random differences between ranks.", .fields = jitter_fields };
