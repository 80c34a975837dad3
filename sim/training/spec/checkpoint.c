/* The keys of `checkpoint`. */
#include "training/training.h"

const BaseName trn_save_mode_names[] = { { "sync", TRN_SAVE_SYNC, "training waits until the checkpoint is written" },
                                         { "async", TRN_SAVE_ASYNC,
                                           "training waits for a copy in host memory, which is written in the background" },
                                         { NULL, 0, NULL } };
const BaseName trn_shards_names[] = { { "all", TRN_SHARDS_ALL, "all ranks write equal parts" },
                                      { "replica", TRN_SHARDS_REPLICA, "the ranks of one data-parallel replica write" },
                                      { "rank0", TRN_SHARDS_RANK0, "one rank gathers the state and writes one file" },
                                      { NULL, 0, NULL } };
static const BaseName software_names[] = { { "dcp", 0, "torch.distributed.checkpoint" },
                                           { "raw", 1, "copies and storage only, no packing cost" },
                                           { NULL, 0, NULL } };
static const BaseName memory_names[] = { { "pinned", 0, "page-locked, for the copy engine" },
                                         { "pageable", 1, "copied through pinned buffers of the driver" },
                                         { NULL, 0, NULL } };
static const BaseName path_names[] = { { "host", 0, "through host memory" },
                                       { "gds", 1, "from the GPU by GPUDirect Storage" },
                                       { NULL, 0, NULL } };

static const BaseField checkpoint_fields[] = {
  BASE_ROW_NUM (TrnCheckpointSpec, "every", every, COUNT, .min = "1", .max = "1 G",
                .help =
                    "steps between checkpoints; default: `run --goodput` searches the best, and a simulated step includes none"),
  BASE_ROW (TrnCheckpointSpec, "tier", tier, STR,
            .help = "destination: a tier of the topology, or `nvme`, the nodes' drives; or `stall`"),
  BASE_ROW (TrnCheckpointSpec, "copy", copy, STR,
            .help = "with `tier: nvme`, a second destination, for nodes that are replaced: `peer` (drives of the next node) or a "
                    "tier; default: none"),
  BASE_ROW_NUM (TrnCheckpointSpec, "stall", stall, TIME, .max = "30 days",
                .help = "replaces `tier` for `run --goodput`: how long a checkpoint stops training"),
  BASE_ROW_NUM (TrnCheckpointSpec, "drain", drain, TIME, .max = "30 days", .fallback = "0",
                .help = "with `stall`: further time in the background until the checkpoint can be restored"),
  BASE_ROW_NUM (TrnCheckpointSpec, "restore", restore, TIME, .max = "30 days", .fallback = "0",
                .help = "with `stall`: time to read it back"),
  BASE_ROW (TrnCheckpointSpec, "mode", mode, ENUM, .names = trn_save_mode_names, .fallback = "sync",
            .help = "whether training waits"),
  BASE_ROW (TrnCheckpointSpec, "shards", shards, ENUM, .names = trn_shards_names, .fallback = "all", .help = "ranks that write"),
  BASE_ROW (TrnCheckpointSpec, "software", software, ENUM, .names = software_names, .fallback = "dcp",
            .help = "software that packs the state"),
  BASE_ROW (TrnCheckpointSpec, "memory", memory, ENUM, .names = memory_names, .fallback = "pinned", .help = "host memory used"),
  BASE_ROW (TrnCheckpointSpec, "path", path, ENUM, .names = path_names, .fallback = "host",
            .help = "route to the tier; `gds` needs `mode: sync` and `software: raw`"),
  BASE_ROW_NUM (TrnCheckpointSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB",
                .help = "whole state without duplicates; default: the model's parameters, master copies and moments"),
  BASE_ROW_NUM (TrnCheckpointSpec, "restore_bytes", restore_bytes, BYTES, .was = "held", .min = "1 B", .max = "1 EB",
                .help = "sum over all ranks of the state they hold and read back; default: the model's, else `bytes` x dp"),
  BASE_ROW_NUM (TrnCheckpointSpec, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB", .fallback = "16 MiB",
                .help = "size of a write"),
  BASE_ROW_NUM (TrnCheckpointSpec, "threads", threads, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "outstanding writes of each writer"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_checkpoint = { .name = "checkpoint", .help = "Saving the state.", .fields = checkpoint_fields };
