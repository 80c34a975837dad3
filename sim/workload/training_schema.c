/* The keys of a workload of kind `training`. */
#include "goodput-private.h"
#include "model_schema-private.h"
#include "workload/training.h"

static const BaseName kind_names[] = { { "training", 0, "a training step" }, { NULL, 0, NULL } };
static const BaseField layer_fields[] = {
  BASE_ROW (WrkLayerSpec, "name", name, STR, .fallback = "layer", .help = "for traces"),
  BASE_ROW_NUM (WrkLayerSpec, "count", count, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "equal layers in a row"),
  BASE_ROW_NUM (WrkLayerSpec, "forward", forward, TIME, .max = "30 days", .required = TRUE, .help = "time of one micro-batch"),
  BASE_ROW_NUM (WrkLayerSpec, "backward", backward, TIME, .max = "30 days", .required = TRUE, .help = "time of one micro-batch"),
  BASE_ROW_NUM (WrkLayerSpec, "weight", weight, TIME, .max = "30 days",
                .help = "the part of `backward` that makes the gradients of weights, which some schedules put off; default: half"),
  BASE_ROW_NUM (WrkLayerSpec, "gradient", gradient, BYTES, .max = "1 PB", .fallback = "0",
                .help = "reduced over the data-parallel ranks"),
  BASE_ROW_NUM (
      WrkLayerSpec, "activation", activation, BYTES, .max = "1 PB", .fallback = "0",
      .help = "of one micro-batch, sent on where a stage ends after this layer (its gradient comes back as large); 0: no send"),
  BASE_ROW_NUM (WrkLayerSpec, "kernels", kernels, COUNT, .max = "1 M", .fallback = "0",
                .help = "of the forward pass, which the host launches one by one (`host`); a backward pass has twice as many"),
  BASE_ROW_NUM (WrkLayerSpec, "syncs", syncs, COUNT, .max = "100000", .fallback = "0",
                .help = "times that the host waits for the GPU in the forward pass, at even distances"),
  BASE_ROW_END,
};
static const BaseSchema layer_schema = { .name = "layers", .help = "A layer, or several equal ones.", .fields = layer_fields };

static const BaseField parallel_fields[] = {
  BASE_ROW_NUM (WrkParallelSpec, "dp", dp, COUNT, .min = "1", .max = "10 M", .help = "data-parallel ranks; default: GPUs / pp"),
  BASE_ROW_NUM (WrkParallelSpec, "pp", pp, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "pipeline stages"),
  BASE_ROW_NUM (WrkParallelSpec, "vp", vp, COUNT, .min = "1", .max = "100000",
                .help = "chunks of the model on each rank of the pipeline, where the schedule leaves a choice"),
  BASE_ROW_NUM (WrkParallelSpec, "tp", tp, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "ranks that share each matrix"),
  BASE_ROW (WrkParallelSpec, "sp", sp, BOOL, .fallback = "false", .help = "they share the sequence between the matrices"),
  BASE_ROW_NUM (WrkParallelSpec, "cp", cp, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "ranks that share a sequence"),
  BASE_ROW_NUM (WrkParallelSpec, "ep", ep, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "ranks that share the experts, taken from dp x cp x tp / etp"),
  BASE_ROW_NUM (WrkParallelSpec, "zero", zero, COUNT, .max = "3", .fallback = "0",
                .help = "what data-parallel ranks share: 1 optimizer, 2 and gradients, 3 and parameters (fsdp)"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_parallel = { .name = "parallel",
                                         .help = "How ranks share the work; the data-parallel ranks of a stage are neighbours.",
                                         .fields = parallel_fields };

static const BaseField host_fields[] = {
  BASE_ROW_NUM (WrkLaunchSpec, "kernel", kernel, TIME, .max = "1 s", .required = TRUE, .help = "to launch a kernel"),
  BASE_ROW_NUM (WrkLaunchSpec, "sync", sync, TIME, .max = "1 s", .fallback = "0",
                .help = "to go on once the GPU has done what it waits for"),
  BASE_ROW_END,
};
static const BaseSchema host_schema = { .name = "host", .help = "What the host of a rank takes.", .fields = host_fields };

static const BaseName ddp_names[] = {
  { "ddp", WRK_DDP_PROCESSES, "a process a GPU, gradients in buckets (PyTorch's DistributedDataParallel)" },
  { "data_parallel", WRK_DDP_REPLICAS,
    "one process: in each pass parameters go from the first GPU to the others, and gradients come back (PyTorch's DataParallel)" },
  { NULL, 0, NULL },
};
static const BaseName gather_names[] = { { "loss", 0, "each GPU computes its loss" },
                                         { "outputs", 1, "the first GPU computes the loss of all from their logits" },
                                         { NULL, 0, NULL } };
static const BaseField ddp_fields[] = {
  BASE_ROW (WrkDdpSpec, "kind", kind, ENUM, .names = ddp_names, .fallback = "ddp",
            .help = "who reduces; data_parallel is of a `model`"),
  BASE_ROW (WrkDdpSpec, "gather", gather, ENUM, .names = gather_names, .fallback = "loss",
            .help = "what data_parallel brings together"),
  BASE_ROW_NUM (WrkDdpSpec, "bucket", bucket, BYTES, .max = "1 PB", .fallback = "25 MiB",
                .help = "a bucket closes once it holds this much; a layer is never split; 0: one bucket a layer"),
  BASE_ROW (WrkDdpSpec, "overlap", overlap, BOOL, .fallback = "true", .help = "reduce beside the backward pass"),
  BASE_ROW_END,
};
static const BaseSchema ddp_schema = { .name = "ddp", .help = "Data-parallel reduction in buckets.", .fields = ddp_fields };

#define MODEL(key, member, schema, what) \
  BASE_ROW (WrkTrainingSpec, key, model.member, MAP, .sub = &wrk_schema_##schema, .help = what)
static const BaseField training_fields[] = {
  BASE_ROW (WrkTrainingSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "training"),
  BASE_ROW (WrkTrainingSpec, "layers", layers, LIST, .sub = &layer_schema, .item_size = sizeof (WrkLayerSpec),
            .help = "from the input to the loss"),
  BASE_ROW_NUM (WrkTrainingSpec, "micro_batches", micro_batches, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "of one rank and step; the gradients are reduced once"),
  BASE_ROW (WrkTrainingSpec, "parallel", parallel, MAP, .sub = &wrk_schema_parallel, .help = "how ranks share the work"),
  BASE_ROW (WrkTrainingSpec, "ddp", ddp, MAP, .sub = &ddp_schema, .help = "gradient buckets"),
  BASE_ROW (WrkTrainingSpec, "schedule", schedule, ENUM, .names = wrk_schedule_names, .fallback = "1f1b",
            .help = "order of micro-batches in a stage"),
  BASE_ROW (WrkTrainingSpec, "host", host, MAP, .sub = &host_schema,
            .help = "launches the `kernels` of layers; default: launches do not show"),
  BASE_ROW_NUM (WrkTrainingSpec, "optimizer_time", optimizer, TIME, .max = "30 days", .fallback = "0",
                .help = "at the end of a step"),
  BASE_ROW (WrkTrainingSpec, "p2p_overlap", p2p_overlap, BOOL, .fallback = "true",
            .help = "sends between stages run beside compute"),
  BASE_ROW (WrkTrainingSpec, "algo", algo, ENUM, .names = mdl_algo_names, .fallback = "auto", .help = "of the gradient all-reduce"),
  BASE_ROW (WrkTrainingSpec, "proto", proto, ENUM, .names = mdl_proto_names, .fallback = "auto",
            .help = "of the gradient all-reduce"),
  BASE_ROW_NUM (WrkTrainingSpec, "communicators", communicators, COUNT, .max = "100000",
                .help = "how many communicators of all ranks are made before the first step; told apart from its time"),
  BASE_ROW (WrkTrainingSpec, "model", model.model, NODE,
            .help = "in place of `layers`: a name in scenarios/llms, the path of a HuggingFace config.json, or a model written "
                    "here"),
  BASE_ROW_NUM (WrkTrainingSpec, "sequence", model.sequence, COUNT, .min = "1", .max = "100 M", .help = "tokens"),
  BASE_ROW_NUM (WrkTrainingSpec, "global_batch", model.global_batch, COUNT, .min = "1", .max = "1 G",
                .help = "sequences of a step"),
  BASE_ROW_NUM (WrkTrainingSpec, "micro_batch", model.micro_batch, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "sequences of one pass of a replica"),
  BASE_ROW_NUM (WrkTrainingSpec, "accumulate", model.accumulate, COUNT, .min = "1", .max = "100000",
                .help = "micro-batches of a replica, in place of `global_batch`"),
  MODEL ("precision", precision, precision, "number formats"),
  BASE_ROW (WrkTrainingSpec, "recompute", model.recompute, NODE,
            .help = "what the backward pass computes again: none, selective, full, or {modules: [core_attention, mlp, …]}"),
  MODEL ("pipeline", pipeline, pipeline, "how layers are dealt out"),
  MODEL ("overlap", overlap, overlap, "what runs beside compute"),
  BASE_ROW (WrkTrainingSpec, "optimizer", model.optimizer, ENUM, .names = wrk_optimizer_names, .fallback = "adamw",
            .help = "which"),
  BASE_ROW (WrkTrainingSpec, "clip", model.clip, BOOL, .fallback = "true", .help = "gradients are clipped by their norm"),
  MODEL ("software", software, software, "whose efficiency"),
  BASE_ROW (WrkTrainingSpec, "framework", model.framework, ENUM, .names = mdl_framework_names, .fallback = "fused",
            .help = "how many kernels a layer is, and who pays their launches"),
  MODEL ("fsdp", fsdp, fsdp, "sharded parameters; also `parallel: {zero: 3}`"),
  MODEL ("hsdp", hsdp, hsdp, "fsdp within groups"),
  MODEL ("lora", lora, lora, "fine-tuning by adapters"),
  MODEL ("cp", cp, cp, "context parallelism"),
  MODEL ("moe", moe, moe, "experts"),
  MODEL ("packing", packing, packing, "documents of a sequence"),
  BASE_ROW_NUM (WrkTrainingSpec, "mtp", model.mtp, COUNT, .max = "100", .fallback = "0",
                .help = "modules of multi-token prediction that are trained beside, of those that the model has"),
  BASE_ROW (WrkTrainingSpec, "flash", model.flash, BOOL, .fallback = "true",
            .help = "attention in one kernel that keeps no scores"),
  BASE_ROW (WrkTrainingSpec, "dropout", model.dropout, BOOL, .fallback = "false", .help = "after attention, MLP and embedding"),
  BASE_ROW (WrkTrainingSpec, "placement", model.placement, STRS,
            .help = "order of dimensions on neighbouring GPUs, fastest first; default: tp, cp, ep, dp, pp"),
  BASE_ROW (WrkTrainingSpec, "stragglers", model.stragglers, LIST, .sub = &wrk_schema_stragglers,
            .item_size = sizeof (WrkStragglerSpec), .help = "ranks or adapters that are slower"),
  MODEL ("jitter", jitter, jitter, "ranks that differ at random"),
  BASE_ROW (WrkTrainingSpec, "loader", loader, MAP, .sub = &wrk_schema_loader, .help = "where samples come from"),
  BASE_ROW (WrkTrainingSpec, "checkpoint", checkpoint, MAP, .sub = &wrk_schema_checkpoint, .help = "saving the state"),
  BASE_ROW (WrkTrainingSpec, "failures", failures, MAP, .sub = &wrk_schema_failures,
            .help = "what goes wrong over days: `run --goodput`"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_training = { .name = "workload (training)",
                                         .help = "A training step: of a model, or of layers with given times.",
                                         .fields = training_fields };
