/* The keys of a workload of kind `training`. */
#include "training/training.h"
#include "spec-private.h"

static const BaseName kind_names[] = { { "training", 0, "a training step" }, { NULL, 0, NULL } };
static const BaseField layer_fields[] = {
  BASE_ROW (TrnLayerSpec, "name", name, STR, .fallback = "layer", .help = "for traces"),
  BASE_ROW_NUM (TrnLayerSpec, "count", count, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "equal layers in a row"),
  BASE_ROW_NUM (TrnLayerSpec, "forward", forward, TIME, .max = "30 days", .required = TRUE, .help = "time of one micro-batch"),
  BASE_ROW_NUM (TrnLayerSpec, "backward", backward, TIME, .max = "30 days", .required = TRUE, .help = "time of one micro-batch"),
  BASE_ROW_NUM (TrnLayerSpec, "weight", weight, TIME, .max = "30 days",
                .help = "the part of `backward` that makes the gradients of weights, which some schedules put off; default: half"),
  BASE_ROW_NUM (TrnLayerSpec, "gradient", gradient, BYTES, .max = "1 PB", .fallback = "0",
                .help = "reduced over the data-parallel ranks"),
  BASE_ROW_NUM (
      TrnLayerSpec, "activation", activation, BYTES, .max = "1 PB", .fallback = "0",
      .help = "of one micro-batch, sent on where a stage ends after this layer (its gradient comes back as large); 0: no send"),
  BASE_ROW_NUM (TrnLayerSpec, "kernels", kernels, COUNT, .max = "1 M", .fallback = "0",
                .help = "of the forward pass, which the host launches one by one (`host`); a backward pass has twice as many"),
  BASE_ROW_NUM (TrnLayerSpec, "syncs", syncs, COUNT, .max = "100000", .fallback = "0",
                .help = "times that the host waits for the GPU in the forward pass, at even distances"),
  BASE_ROW_END,
};
static const BaseSchema layer_schema = { .name = "layers", .help = "A layer, or several equal ones.", .fields = layer_fields };

static const BaseField parallel_fields[] = {
  BASE_ROW_NUM (TrnParallelSpec, "dp", dp, COUNT, .min = "1", .max = "10 M", .help = "data-parallel ranks; default: GPUs / pp"),
  BASE_ROW_NUM (TrnParallelSpec, "pp", pp, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "pipeline stages"),
  BASE_ROW_NUM (TrnParallelSpec, "vp", vp, COUNT, .min = "1", .max = "100000",
                .help = "chunks of the model on each rank of the pipeline, where the schedule leaves a choice"),
  BASE_ROW_NUM (TrnParallelSpec, "tp", tp, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "ranks that share each matrix"),
  BASE_ROW (TrnParallelSpec, "sp", sp, BOOL, .fallback = "false", .help = "they share the sequence between the matrices"),
  BASE_ROW_NUM (TrnParallelSpec, "cp", cp, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "ranks that share a sequence"),
  BASE_ROW_NUM (TrnParallelSpec, "ep", ep, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "ranks that share the experts, taken from dp x cp x tp / etp"),
  BASE_ROW_NUM (TrnParallelSpec, "zero", zero, COUNT, .max = "3", .fallback = "0",
                .help = "what data-parallel ranks share: 1 optimizer, 2 and gradients, 3 and parameters (fsdp)"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_parallel = { .name = "parallel",
                                         .help = "How ranks share the work; the data-parallel ranks of a stage are neighbours.",
                                         .fields = parallel_fields };

static const BaseField host_fields[] = {
  BASE_ROW_NUM (TrnLaunchSpec, "kernel", kernel, TIME, .max = "1 s", .required = TRUE, .help = "to launch a kernel"),
  BASE_ROW_NUM (TrnLaunchSpec, "sync", sync, TIME, .max = "1 s", .fallback = "0",
                .help = "to go on once the GPU has done what it waits for"),
  BASE_ROW_END,
};
static const BaseSchema host_schema = { .name = "host", .help = "What the host of a rank takes.", .fields = host_fields };

static const BaseName ddp_names[] = {
  { "ddp", TRN_DDP_PROCESSES, "a process a GPU, gradients in buckets (PyTorch's DistributedDataParallel)" },
  { "data_parallel", TRN_DDP_REPLICAS,
    "one process: in each pass parameters go from the first GPU to the others, and gradients come back (PyTorch's DataParallel)" },
  { NULL, 0, NULL },
};
static const BaseName gather_names[] = { { "loss", 0, "each GPU computes its loss" },
                                         { "outputs", 1, "the first GPU computes the loss of all from their logits" },
                                         { NULL, 0, NULL } };
static const BaseField ddp_fields[] = {
  BASE_ROW (TrnDdpSpec, "kind", kind, ENUM, .names = ddp_names, .fallback = "ddp",
            .help = "who reduces; data_parallel is of a `model`"),
  BASE_ROW (TrnDdpSpec, "gather", gather, ENUM, .names = gather_names, .fallback = "loss",
            .help = "what data_parallel brings together"),
  BASE_ROW_NUM (TrnDdpSpec, "bucket", bucket, BYTES, .max = "1 PB", .fallback = "25 MiB",
                .help = "a bucket closes once it holds this much; a layer is never split; 0: one bucket a layer"),
  BASE_ROW (TrnDdpSpec, "overlap", overlap, BOOL, .fallback = "true", .help = "reduce beside the backward pass"),
  BASE_ROW_END,
};
static const BaseSchema ddp_schema = { .name = "ddp", .help = "Data-parallel reduction in buckets.", .fields = ddp_fields };

#define MODEL(key, member, schema, what) BASE_ROW (TrnSpec, key, model.member, MAP, .sub = &trn_schema_##schema, .help = what)
static const BaseField training_fields[] = {
  BASE_ROW (TrnSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "training"),
  BASE_ROW (TrnSpec, "layers", layers, LIST, .sub = &layer_schema, .item_size = sizeof (TrnLayerSpec),
            .help = "from the input to the loss"),
  BASE_ROW_NUM (TrnSpec, "micro_batches", micro_batches, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "of one rank and step; the gradients are reduced once"),
  BASE_ROW (TrnSpec, "parallel", parallel, MAP, .sub = &trn_schema_parallel, .help = "how ranks share the work"),
  BASE_ROW (TrnSpec, "ddp", ddp, MAP, .sub = &ddp_schema, .help = "gradient buckets"),
  BASE_ROW (TrnSpec, "schedule", schedule, ENUM, .names = mdl_schedule_names, .fallback = "1f1b",
            .help = "order of micro-batches in a stage"),
  BASE_ROW (TrnSpec, "host", host, MAP, .sub = &host_schema,
            .help = "launches the `kernels` of layers; default: launches do not show"),
  BASE_ROW_NUM (TrnSpec, "optimizer_time", optimizer, TIME, .max = "30 days", .fallback = "0", .help = "at the end of a step"),
  BASE_ROW (TrnSpec, "p2p_overlap", p2p_overlap, BOOL, .fallback = "true", .help = "sends between stages run beside compute"),
  BASE_ROW (TrnSpec, "algo", algo, ENUM, .names = mdl_algo_names, .fallback = "auto", .help = "of the gradient all-reduce"),
  BASE_ROW (TrnSpec, "proto", proto, ENUM, .names = mdl_proto_names, .fallback = "auto", .help = "of the gradient all-reduce"),
  BASE_ROW_NUM (TrnSpec, "communicators", communicators, COUNT, .max = "100000",
                .help = "how many communicators of all ranks are made before the first step; told apart from its time"),
  BASE_ROW (TrnSpec, "model", model.model, NODE,
            .help = "in place of `layers`: a name in scenarios/llms, the path of a HuggingFace config.json, or a model written "
                    "here"),
  BASE_ROW_NUM (TrnSpec, "sequence", model.sequence, COUNT, .min = "1", .max = "100 M", .help = "tokens"),
  BASE_ROW_NUM (TrnSpec, "global_batch", model.global_batch, COUNT, .min = "1", .max = "1 G", .help = "sequences of a step"),
  BASE_ROW_NUM (TrnSpec, "micro_batch", model.micro_batch, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "sequences of one pass of a replica"),
  BASE_ROW_NUM (TrnSpec, "accumulate", model.accumulate, COUNT, .min = "1", .max = "100000",
                .help = "micro-batches of a replica, in place of `global_batch`"),
  MODEL ("precision", precision, precision, "number formats"),
  BASE_ROW (TrnSpec, "recompute", model.recompute, NODE,
            .help = "what the backward pass computes again: none, selective, full, or {modules: [core_attention, mlp, …]}"),
  MODEL ("pipeline", pipeline, pipeline, "how layers are dealt out"),
  MODEL ("overlap", overlap, overlap, "what runs beside compute"),
  BASE_ROW (TrnSpec, "optimizer", model.optimizer, ENUM, .names = trn_optimizer_names, .fallback = "adamw", .help = "which"),
  BASE_ROW (TrnSpec, "clip", model.clip, BOOL, .fallback = "true", .help = "gradients are clipped by their norm"),
  MODEL ("software", software, software, "whose efficiency"),
  BASE_ROW (TrnSpec, "framework", model.framework, ENUM, .names = mdl_framework_names, .fallback = "fused",
            .help = "how many kernels a layer is, and who pays their launches"),
  MODEL ("fsdp", fsdp, fsdp, "sharded parameters; also `parallel: {zero: 3}`"),
  MODEL ("hsdp", hsdp, hsdp, "fsdp within groups"),
  MODEL ("lora", lora, lora, "fine-tuning by adapters"),
  MODEL ("cp", cp, cp, "context parallelism"),
  MODEL ("moe", moe, moe, "experts"),
  MODEL ("packing", packing, packing, "documents of a sequence"),
  BASE_ROW_NUM (TrnSpec, "mtp", model.mtp, COUNT, .max = "100", .fallback = "0",
                .help = "modules of multi-token prediction that are trained beside, of those that the model has"),
  BASE_ROW (TrnSpec, "flash", model.flash, BOOL, .fallback = "true", .help = "attention in one kernel that keeps no scores"),
  BASE_ROW (TrnSpec, "dropout", model.dropout, BOOL, .fallback = "false", .help = "after attention, MLP and embedding"),
  BASE_ROW (TrnSpec, "placement", model.placement, STRS,
            .help = "order of dimensions on neighbouring GPUs, fastest first; default: tp, cp, ep, dp, pp"),
  BASE_ROW (TrnSpec, "stragglers", model.stragglers, LIST, .sub = &trn_schema_stragglers, .item_size = sizeof (TrnStragglerSpec),
            .help = "ranks or adapters that are slower"),
  MODEL ("jitter", jitter, jitter, "ranks that differ at random"),
  BASE_ROW (TrnSpec, "loader", loader, MAP, .sub = &trn_schema_loader, .help = "where samples come from"),
  BASE_ROW (TrnSpec, "checkpoint", checkpoint, MAP, .sub = &trn_schema_checkpoint, .help = "saving the state"),
  BASE_ROW (TrnSpec, "failures", failures, MAP, .sub = &trn_schema_failures, .help = "what goes wrong over days: `run --goodput`"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_training = { .name = "workload (training)",
                                         .help = "A training step: of a model, or of layers with given times.",
                                         .fields = training_fields };
