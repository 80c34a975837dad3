/* The section `frameworks`: what training frameworks make of the kernels' times. Its rows come from published runs
 * (tests/accuracy/training.sh), which no probe measures. */
#include "constants/section.h"
#include "models/library-spec.h"
#include "models/software.h"

static const BaseField row_fields[] = {
  BASE_ROW (MdlSoftwareRow, "name", name, STR, .required = TRUE, .help = "of the framework, as scenarios give it"),
  BASE_ROW_NUM (MdlSoftwareRow, "year", year, COUNT, .min = "2017", .max = "2100", .required = TRUE,
                .help = "of the release that was measured"),
  BASE_ROW_NUM (MdlSoftwareRow, "capability", capability, COUNT, .min = "10", .max = "1000", .required = TRUE,
                .help = "compute capability from which on the row holds, in its generation: 80, 90, 100, 103"),
  BASE_ROW (MdlSoftwareRow, "precision", precision, ENUM, .names = mdl_precision_names, .required = TRUE,
            .help = "of the matrix products"),
  BASE_ROW_NUM (MdlSoftwareRow, "efficiency", efficiency, RATIO, .min = "5 %", .max = "2", .required = TRUE,
                .help = "compute takes what its kernels take over this"),
  BASE_ROW_NUM (MdlSoftwareRow, "attention", attention, RATIO, .min = "5 %", .max = "2",
                .help = "the same of fused attention, whose kernels the framework brings; default: `efficiency`"),
  BASE_ROW_NUM (MdlSoftwareRow, "optimizer", optimizer, RATIO, .min = "5 %", .max = "2",
                .help = "the same of the optimizer's kernels over many tensors; default: `efficiency`"),
  BASE_ROW_NUM (MdlSoftwareRow, "kernel", kernel, TIME, .max = "1 ms",
                .help = "of the host for a kernel that is not replayed from a graph; default: launches do not show"),
  BASE_ROW_NUM (MdlSoftwareRow, "sync", sync, TIME, .max = "10 ms",
                .help = "of the host to go on once the GPU has done what it waits for; default: `launch.wait` of the kernels"),
  BASE_ROW_NUM (MdlSoftwareRow, "collective", collective, TIME, .max = "10 ms", .help = "of the host for a collective"),
  BASE_ROW_NUM (MdlSoftwareRow, "replica", replica, TIME, .max = "1 s",
                .help = "of the host to make a replica of the modules for another GPU of its process, and to start its thread"),
  BASE_ROW_NUM (MdlSoftwareRow, "shards", shards, TIME, .max = "100 ms",
                .help = "of the host for a gather or scatter of sharded parameters; default: `collective`"),
  BASE_ROW_NUM (MdlSoftwareRow, "step", step, TIME, .max = "1 min",
                .help = "that nothing hides: the loop around a step, what it reads back from the GPU"),
  BASE_ROW_NUM (MdlSoftwareRow, "spread", spread, RATIO, .max = "20 %",
                .help = "standard deviation of the ranks' compute; the slowest sets the pace"),
  BASE_ROW (MdlSoftwareRow, "queues_sends", queues_sends, BOOL, .fallback = "false",
            .help = "sends and receives of a pipeline rank run on one stream, in the order that PyTorch lists them in"),
  BASE_ROW (MdlSoftwareRow, "overlap_tp", overlap_tp, BOOL, .fallback = "false",
            .help = "collectives of tensor parallelism run beside products unless the scenario says otherwise"),
  BASE_ROW_END,
};
static const BaseSchema row_schema = { .name = "framework", .help = "A framework's release on a GPU.", .fields = row_fields };

static const BaseField buckets_fields[] = {
  BASE_ROW_NUM (MdlBuckets, "first", first, BYTES, .min = "1 B",
                .help = "of gradients that are all-reduced, the first of a step; default: as the others"),
  BASE_ROW_NUM (MdlBuckets, "least", least, COUNT, .min = "1",
                .help = "parameters whose gradients are reduce-scattered together; default: all of a chunk"),
  BASE_ROW_NUM (MdlBuckets, "per_rank", per_rank, COUNT, .help = "… and so many for each data-parallel rank, where that is more"),
  BASE_ROW_END,
};
static const BaseSchema buckets_schema = { .name = "gradient buckets",
                                           .help =
                                               "How much one reduction of gradients takes where `ddp: {bucket: …}` is not given.",
                                           .fields = buckets_fields };

static const BaseField frameworks_fields[] = {
  BASE_ROW (MdlSoftware, "rows", rows, LIST, .sub = &row_schema, .item_size = sizeof (MdlSoftwareRow), .required = TRUE,
            .help = "a row a framework, year, generation and format"),
  BASE_ROW (MdlSoftware, "buckets", buckets, MAP, .sub = &buckets_schema, .help = "of gradients on their way"),
  BASE_ROW_END,
};
static const BaseSchema frameworks_schema = { .name = "frameworks",
                                              .help = "What training frameworks make of the kernels' times.",
                                              .fields = frameworks_fields };

const CstSection cst_frameworks = { "frameworks", &frameworks_schema, sizeof (MdlSoftware), offsetof (MdlLibrary, software) };
