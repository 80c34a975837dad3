/* The keys of a workload of kind `training`. */
#include "training/training.h"
#include "spec-private.h"

static const BaseName kind_names[] = { { "training", 0, "a training step" }, { NULL, 0, NULL } };
static const BaseField layer_fields[] = {
  BASE_ROW (TrnLayerSpec, "name", name, STR, .fallback = "layer", .help = "name, for traces"),
  BASE_ROW_NUM (TrnLayerSpec, "count", count, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "equal layers in a row"),
  BASE_ROW_NUM (TrnLayerSpec, "forward", forward, TIME, .max = "30 days", .required = TRUE,
                .help = "forward time of one micro-batch"),
  BASE_ROW_NUM (TrnLayerSpec, "backward", backward, TIME, .max = "30 days", .required = TRUE,
                .help = "backward time of one micro-batch"),
  BASE_ROW_NUM (TrnLayerSpec, "weight", weight, TIME, .max = "30 days",
                .help = "part of `backward` that computes weight gradients, which some schedules delay; default: half"),
  BASE_ROW_NUM (TrnLayerSpec, "gradient", gradient, BYTES, .max = "1 PB", .fallback = "0",
                .help = "gradients reduced over the data-parallel ranks"),
  BASE_ROW_NUM (TrnLayerSpec, "activation", activation, BYTES, .max = "1 PB", .fallback = "0",
                .help = "per micro-batch, sent if a stage ends after this layer; its gradient is as large; 0: no send"),
  BASE_ROW_NUM (TrnLayerSpec, "kernels", kernels, COUNT, .max = "1 M", .fallback = "0",
                .help = "kernels that the [host](#host) launches in the forward pass; the backward pass has twice as many"),
  BASE_ROW_NUM (TrnLayerSpec, "syncs", syncs, COUNT, .max = "100000", .fallback = "0",
                .help = "waits of the host for the GPU in the forward pass, evenly spaced"),
  BASE_ROW_END,
};
static const BaseSchema layer_schema = { .name = "layers", .help = "A layer, or several equal ones.", .fields = layer_fields };

static const BaseField parallel_fields[] = {
  BASE_ROW_NUM (TrnParallelSpec, "dp", dp, COUNT, .min = "1", .max = "10 M", .help = "data-parallel ranks; default: GPUs / pp"),
  BASE_ROW_NUM (TrnParallelSpec, "pp", pp, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "pipeline stages"),
  BASE_ROW_NUM (TrnParallelSpec, "vp", vp, COUNT, .min = "1", .max = "100000",
                .help = "virtual stages (model chunks) per pipeline rank, if the schedule allows a choice"),
  BASE_ROW_NUM (TrnParallelSpec, "tp", tp, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "tensor parallelism: ranks that share each matrix"),
  BASE_ROW (TrnParallelSpec, "sp", sp, BOOL, .fallback = "false", .help = "sequence parallelism among the tensor-parallel ranks"),
  BASE_ROW_NUM (TrnParallelSpec, "cp", cp, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "context parallelism: ranks that share a sequence"),
  BASE_ROW_NUM (TrnParallelSpec, "ep", ep, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "expert parallelism: ranks that share the experts, out of dp x cp x tp / etp"),
  BASE_ROW_NUM (TrnParallelSpec, "zero", zero, COUNT, .max = "3", .fallback = "0",
                .help = "ZeRO stage, what data-parallel ranks shard: 1 optimizer, 2 also gradients, 3 also parameters (FSDP)"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_parallel = { .name = "parallel",
                                         .help = "Parallel layout. The data-parallel ranks of a stage are neighbours.",
                                         .fields = parallel_fields };

static const BaseField host_fields[] = {
  BASE_ROW_NUM (TrnLaunchSpec, "kernel", kernel, TIME, .max = "1 s", .required = TRUE, .help = "time to launch a kernel"),
  BASE_ROW_NUM (TrnLaunchSpec, "sync", sync, TIME, .max = "1 s", .fallback = "0",
                .help = "time to continue after the GPU has finished what the host waits for"),
  BASE_ROW_END,
};
static const BaseSchema host_schema = { .name = "host", .help = "Launch times of a rank's host.", .fields = host_fields };

static const BaseName ddp_names[] = {
  { "ddp", TRN_DDP_PROCESSES, "one process per GPU, gradients in buckets (PyTorch's DistributedDataParallel)" },
  { "data_parallel", TRN_DDP_REPLICAS,
    "one process; in each pass the first GPU sends the parameters and receives the gradients (PyTorch's DataParallel)" },
  { NULL, 0, NULL },
};
static const BaseName gather_names[] = { { "loss", 0, "each GPU computes its loss" },
                                         { "outputs", 1, "the first GPU computes all losses from the gathered logits" },
                                         { NULL, 0, NULL } };
static const BaseField ddp_fields[] = {
  BASE_ROW (TrnDdpSpec, "kind", kind, ENUM, .names = ddp_names, .fallback = "ddp", .help = "method; `data_parallel` needs `model`"),
  BASE_ROW (TrnDdpSpec, "gather", gather, ENUM, .names = gather_names, .fallback = "loss", .help = "what data_parallel gathers"),
  BASE_ROW_NUM (TrnDdpSpec, "bucket", bucket, BYTES, .max = "1 PB", .fallback = "25 MiB",
                .help = "size at which a bucket closes; layers are never split; 0: one bucket per layer"),
  BASE_ROW (TrnDdpSpec, "overlap", overlap, BOOL, .fallback = "true", .help = "reduce concurrently with the backward pass"),
  BASE_ROW (TrnDdpSpec, "gradient_as_bucket_view", views, BOOL, .fallback = "true",
            .help = "gradients lie in the buckets; false, PyTorch's default: the buckets are a second copy of them in memory"),
  BASE_ROW_END,
};
static const BaseSchema ddp_schema = { .name = "ddp", .help = "Gradient reduction in buckets.", .fields = ddp_fields };

static const BaseName every_names[] = {
  { "job", TRN_CREATE_JOB, "once, before the first step" },
  { "iteration", TRN_CREATE_ITERATION, "in every step, which takes as much longer" },
  { NULL, 0, NULL },
};
static const BaseField create_fields[] = {
  BASE_ROW_NUM (TrnCreateSpec, "count", count, COUNT, .max = "100000", .required = TRUE,
                .help = "number, created one after another"),
  BASE_ROW (TrnCreateSpec, "every", every, ENUM, .names = every_names, .fallback = "job", .help = "when they are created"),
  BASE_ROW_END,
};
static const BaseSchema create_schema = {
  .name = "communicators", .help = "Communicators of all ranks.", .fields = create_fields, .scalar_key = "count"
};

static const BaseName allocator_names[] = { { "default", 0, "blocks of fixed size" },
                                            { "expandable", 1, "expandable_segments: hardly any memory is lost between tensors" },
                                            { NULL, 0, NULL } };

#define MODEL(key, member, schema, what) BASE_ROW (TrnSpec, key, model.member, MAP, .sub = &trn_schema_##schema, .help = what)
static const BaseField training_fields[] = {
  BASE_ROW (TrnSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "training"),
  BASE_ROW (TrnSpec, "layers", layers, LIST, .sub = &layer_schema, .item_size = sizeof (TrnLayerSpec),
            .help = "layers with given times, from the input to the loss; or `model`"),
  BASE_ROW_NUM (TrnSpec, "micro_batches", micro_batches, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "micro-batches per rank and step; gradients are reduced once per step"),
  BASE_ROW (TrnSpec, "parallel", parallel, MAP, .sub = &trn_schema_parallel, .help = "parallel layout"),
  BASE_ROW (TrnSpec, "ddp", ddp, MAP, .sub = &ddp_schema, .help = "gradient buckets"),
  BASE_ROW (TrnSpec, "schedule", schedule, ENUM, .names = mdl_schedule_names, .fallback = "1f1b", .help = "pipeline schedule"),
  BASE_ROW (TrnSpec, "host", host, MAP, .sub = &host_schema,
            .help = "launch times, for the `kernels` of layers; default: launches are hidden"),
  BASE_ROW_NUM (TrnSpec, "optimizer_time", optimizer, TIME, .max = "30 days", .fallback = "0", .help = "at the end of the step"),
  BASE_ROW (TrnSpec, "p2p_overlap", p2p_overlap, BOOL, .fallback = "true",
            .help = "sends between stages are concurrent with compute"),
  BASE_ROW (TrnSpec, "algo", algo, ENUM, .names = mdl_algo_names, .fallback = "auto",
            .help = "algorithm of the gradient all-reduce"),
  BASE_ROW (TrnSpec, "proto", proto, ENUM, .names = mdl_proto_names, .fallback = "auto",
            .help = "protocol of the gradient all-reduce"),
  BASE_ROW (TrnSpec, "communicators", communicators, MAP, .sub = &create_schema,
            .help = "communicators of all ranks created before the first step, whose time is reported apart; or in every step"),
  BASE_ROW (TrnSpec, "model", model.model, NODE,
            .help = "a name in scenarios/llms or scenarios/networks, the path of a HuggingFace config.json, or the model itself"),
  BASE_ROW_NUM (TrnSpec, "sequence", model.sequence, COUNT, .min = "1", .max = "100 M", .help = "sequence length, tokens"),
  BASE_ROW_NUM (TrnSpec, "global_batch", model.global_batch, COUNT, .min = "1", .max = "1 G", .help = "sequences per step"),
  BASE_ROW_NUM (TrnSpec, "micro_batch", model.micro_batch, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "sequences of one pass of a replica"),
  BASE_ROW_NUM (TrnSpec, "accumulate", model.accumulate, COUNT, .min = "1", .max = "100000",
                .help = "micro-batches per replica, instead of `global_batch`"),
  MODEL ("precision", precision, precision, "number formats"),
  BASE_ROW (TrnSpec, "recompute", model.recompute, NODE,
            .help = "activations that the backward pass recomputes: none, selective, full, or {modules: [core_attention, mlp, …], "
                    "layers: whole layers at the start of each chunk, stages: [pipeline ranks]}"),
  MODEL ("offload", offload, offload, "activations and optimizer states in host memory"),
  BASE_ROW (TrnSpec, "loss", model.loss, ENUM, .names = mdl_loss_names, .fallback = "framework", .help = "cross-entropy kernel"),
  BASE_ROW_NUM (TrnSpec, "metrics", model.metrics, COUNT, .max = "100", .fallback = "0",
                .help = "further losses of the logits of each micro-batch, without gradients (Composer's train metrics)"),
  BASE_ROW (TrnSpec, "allocator", model.allocator, ENUM, .names = allocator_names, .fallback = "default",
            .help = "PyTorch's allocator of device memory"),
  MODEL ("pipeline", pipeline, pipeline, "distribution of layers over stages"),
  MODEL ("overlap", overlap, overlap, "what overlaps with compute"),
  BASE_ROW (TrnSpec, "optimizer", model.optimizer, ENUM, .names = mdl_optimizer_names, .fallback = "adamw", .help = "optimizer"),
  BASE_ROW (TrnSpec, "clip", model.clip, BOOL, .fallback = "true", .help = "clip gradients by their norm"),
  MODEL ("software", software, software, "framework, which sets the efficiency"),
  BASE_ROW (TrnSpec, "framework", model.framework, ENUM, .names = mdl_framework_names, .fallback = "fused",
            .help = "kernels per layer and their launches"),
  MODEL ("fsdp", fsdp, fsdp, "sharded parameters; as `parallel: {zero: 3}`"),
  MODEL ("hsdp", hsdp, hsdp, "FSDP within groups"),
  MODEL ("lora", lora, lora, "low-rank fine-tuning"),
  MODEL ("cp", cp, cp, "context parallelism"),
  MODEL ("moe", moe, moe, "experts"),
  MODEL ("packing", packing, packing, "several documents per sequence"),
  MODEL ("local_steps", local, local, "workers that exchange only every so many steps (DiLoCo)"),
  MODEL ("compress", compress, compress, "compression of DDP's gradients"),
  MODEL ("images", images, images, "images of a sequence, for a model with a vision encoder"),
  BASE_ROW_NUM (TrnSpec, "mtp", model.mtp, COUNT, .max = "100", .fallback = "0",
                .help = "multi-token prediction modules of the model that are trained too"),
  BASE_ROW (TrnSpec, "flash", model.flash, BOOL, .fallback = "true", .help = "fused attention that does not store scores"),
  BASE_ROW (TrnSpec, "dropout", model.dropout, BOOL, .fallback = "false", .help = "after attention, MLP and embedding"),
  BASE_ROW (TrnSpec, "placement", model.placement, STRS,
            .help = "order in which dimensions are placed on neighbouring GPUs, fastest first; default: tp, cp, ep, dp, pp"),
  BASE_ROW (TrnSpec, "stragglers", model.stragglers, LIST, .sub = &trn_schema_stragglers, .item_size = sizeof (TrnStragglerSpec),
            .help = "slow GPUs or NICs"),
  MODEL ("jitter", jitter, jitter, "random differences between ranks"),
  BASE_ROW (TrnSpec, "loader", loader, MAP, .sub = &trn_schema_loader, .help = "input pipeline"),
  BASE_ROW (TrnSpec, "checkpoint", checkpoint, MAP, .sub = &trn_schema_checkpoint, .help = "checkpoints"),
  BASE_ROW (TrnSpec, "failures", failures, MAP, .sub = &trn_schema_failures, .help = "failures over days, for `run --goodput`"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_training = { .name = "workload (training)",
                                         .help = "A training step, of a model or of layers with given times.",
                                         .fields = training_fields };
