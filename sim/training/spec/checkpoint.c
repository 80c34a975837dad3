/* The keys of `checkpoint`. */
#include "training/training.h"

const BaseName trn_save_mode_names[] = { { "sync", TRN_SAVE_SYNC, "training waits until it is written" },
                                         { "async", TRN_SAVE_ASYNC,
                                           "training waits for a copy in host memory, which drains beside it" },
                                         { NULL, 0, NULL } };
const BaseName trn_shards_names[] = { { "all", TRN_SHARDS_ALL, "every rank writes as much" },
                                      { "replica", TRN_SHARDS_REPLICA, "the ranks of one data-parallel replica write" },
                                      { "rank0", TRN_SHARDS_RANK0, "one rank gathers all and writes one file" },
                                      { NULL, 0, NULL } };
static const BaseName software_names[] = { { "dcp", 0, "torch.distributed.checkpoint" },
                                           { "raw", 1, "copies and storage alone" },
                                           { NULL, 0, NULL } };
static const BaseName memory_names[] = { { "pinned", 0, "page-locked: the copy engine reaches it" },
                                         { "pageable", 1, "by way of pinned blocks of the driver's" },
                                         { NULL, 0, NULL } };
static const BaseName path_names[] = { { "host", 0, "by way of the host's memory" },
                                       { "gds", 1, "straight from the GPU (GPUDirect Storage)" },
                                       { NULL, 0, NULL } };

static const BaseField checkpoint_fields[] = {
  BASE_ROW_NUM (TrnCheckpointSpec, "every", every, COUNT, .min = "1", .max = "1 G",
                .help = "steps from one to the next; default: the best for goodput is searched, and a step bears none"),
  BASE_ROW (TrnCheckpointSpec, "tier", tier, STR, .help = "where it goes: a tier of the topology, or nvme, the nodes' drives; or:"),
  BASE_ROW (TrnCheckpointSpec, "copy", copy, STR,
            .help =
                "with `tier: nvme`, where else it is, for a node that is replaced: peer, the drives of the next node, or a tier; "
                "default: nowhere"),
  BASE_ROW_NUM (TrnCheckpointSpec, "stall", stall, TIME, .max = "30 days",
                .help =
                    "in place of `tier`, for `run --goodput`: that training stands still for one, all of it, or the copy to host "
                    "memory of an asynchronous one"),
  BASE_ROW_NUM (TrnCheckpointSpec, "drain", drain, TIME, .max = "30 days", .fallback = "0",
                .help = "with `stall`: on top, beside training, until it can be restored"),
  BASE_ROW_NUM (TrnCheckpointSpec, "restore", restore, TIME, .max = "30 days", .fallback = "0",
                .help = "with `stall`: reading it back"),
  BASE_ROW (TrnCheckpointSpec, "mode", mode, ENUM, .names = trn_save_mode_names, .fallback = "sync", .help = "who waits for it"),
  BASE_ROW (TrnCheckpointSpec, "shards", shards, ENUM, .names = trn_shards_names, .fallback = "all", .help = "who writes"),
  BASE_ROW (TrnCheckpointSpec, "software", software, ENUM, .names = software_names, .fallback = "dcp", .help = "what packs it"),
  BASE_ROW (TrnCheckpointSpec, "memory", memory, ENUM, .names = memory_names, .fallback = "pinned",
            .help = "host memory that it is copied to"),
  BASE_ROW (TrnCheckpointSpec, "path", path, ENUM, .names = path_names, .fallback = "host",
            .help = "way to the tier; gds with `mode: sync` and `software: raw`"),
  BASE_ROW_NUM (TrnCheckpointSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB",
                .help = "the whole state, each part once; default: the model's parameters, masters and moments"),
  BASE_ROW_NUM (TrnCheckpointSpec, "held", held, BYTES, .min = "1 B", .max = "1 EB",
                .help = "what all ranks hold of it together and read back; default: the model's, else `bytes` x dp"),
  BASE_ROW_NUM (TrnCheckpointSpec, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB", .fallback = "16 MiB",
                .help = "of one write"),
  BASE_ROW_NUM (TrnCheckpointSpec, "threads", threads, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "writes that each writer has in flight"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_checkpoint = { .name = "checkpoint", .help = "Saving the state.", .fields = checkpoint_fields };
