/* The keys of `loader`, and of its `stage`. */
#include "training/training.h"

static const BaseName how_names[] = { { "each", 0, "every node reads all that it holds" },
                                      { "peers", 1, "each part is read once, and passed from node to node" },
                                      { NULL, 0, NULL } };
static const BaseName hold_names[] = { { "all", 0, "every node has the whole data set" },
                                       { "part", 1, "every node has its part" },
                                       { NULL, 0, NULL } };
static const BaseField stage_fields[] = {
  BASE_ROW (TrnStageSpec, "from", from, STR, .required = TRUE, .help = "a tier of the topology's `storage`"),
  BASE_ROW_NUM (TrnStageSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB", .required = TRUE,
                .help = "the whole data set, one epoch"),
  BASE_ROW (TrnStageSpec, "how", how, ENUM, .names = how_names, .fallback = "each", .help = "who reads what"),
  BASE_ROW (TrnStageSpec, "hold", hold, ENUM, .names = hold_names, .fallback = "all", .help = "what a node's drives hold"),
  BASE_ROW_NUM (TrnStageSpec, "threads", threads, COUNT, .min = "1", .max = "65536", .fallback = "32",
                .help = "requests that each node has in flight, at the tier and at its drives"),
  BASE_ROW_END,
};
static const BaseSchema stage_schema = { .name = "stage",
                                         .help = "The data set is copied to the drives before.",
                                         .fields = stage_fields };

static const BaseName access_names[] = { { "sequential", 0, "one after the other" },
                                         { "random", 1, "in random order" },
                                         { NULL, 0, NULL } };
static const BaseName sharing_names[] = { { "shards", 0, "each rank reads its own samples" },
                                          { "node", 1, "one rank of a node reads for all of it" },
                                          { NULL, 0, NULL } };
static const BaseName readers_names[] = { { "ends", TRN_READERS_ENDS,
                                            "tensor rank 0 of the first and the last stage, for each context-parallel rank; it "
                                            "broadcasts to the other tensor ranks (Megatron)" },
                                          { "first", TRN_READERS_FIRST,
                                            "its first rank; the others have theirs from it at no cost" },
                                          { "all", TRN_READERS_ALL, "all of them, the same samples each" },
                                          { NULL, 0, NULL } };
static const BaseName decoder_names[] = { { "cpu", STO_DECODE_CPU, "the workers" },
                                          { "gpu", STO_DECODE_GPU, "SMs of the GPU, before the batch's compute" },
                                          { "engine", STO_DECODE_ENGINE, "an engine of the GPU, beside compute" },
                                          { NULL, 0, NULL } };

static const BaseField loader_fields[] = {
  BASE_ROW (TrnLoaderSpec, "tier", tier, STR, .required = TRUE, .help = "a tier of the topology, or nvme: the nodes' drives"),
  BASE_ROW_NUM (TrnLoaderSpec, "sample", sample, BYTES, .min = "1 B", .max = "1 TB", .required = TRUE, .help = "as it is stored"),
  BASE_ROW_NUM (TrnLoaderSpec, "samples", samples, COUNT, .min = "1", .max = "1 G",
                .help = "of a rank and micro-batch; default: a model's micro_batch"),
  BASE_ROW_NUM (TrnLoaderSpec, "workers", workers, COUNT, .min = "1", .max = "1024", .fallback = "8",
                .help = "processes of a rank"),
  BASE_ROW_NUM (TrnLoaderSpec, "prefetch", prefetch, COUNT, .min = "1", .max = "1024", .fallback = "2",
                .help = "batches that each worker has ahead"),
  BASE_ROW_NUM (TrnLoaderSpec, "decode", decode, TIME, .max = "1 h", .fallback = "0",
                .help = "of a sample: of one core, or of the GPU that decodes"),
  BASE_ROW_NUM (TrnLoaderSpec, "decoded", decoded, BYTES, .min = "1 B", .max = "1 TB",
                .help = "a sample as it is copied to the GPU; default: as stored"),
  BASE_ROW (TrnLoaderSpec, "decoder", decoder, ENUM, .names = decoder_names, .fallback = "cpu", .help = "who decodes"),
  BASE_ROW (TrnLoaderSpec, "access", access, ENUM, .names = access_names, .fallback = "sequential", .help = "order of samples"),
  BASE_ROW (TrnLoaderSpec, "readers", readers, ENUM, .names = readers_names, .fallback = "ends",
            .help = "which ranks of a data-parallel replica read"),
  BASE_ROW (TrnLoaderSpec, "sharing", sharing, ENUM, .names = sharing_names, .fallback = "shards", .help = "who reads what"),
  BASE_ROW_NUM (TrnLoaderSpec, "queue_depth", depth, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "requests that a worker has in flight"),
  BASE_ROW_NUM (TrnLoaderSpec, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB",
                .help = "of a request; default: the tier's, and random samples one by one"),
  BASE_ROW_NUM (TrnLoaderSpec, "file_size", file_size, BYTES, .min = "1 B", .max = "1 EB",
                .help = "files of this size, each found and opened; default: large shards, open already"),
  BASE_ROW (TrnLoaderSpec, "cache", cache, ENUM, .names = mdl_cache_names, .fallback = "direct", .help = "the host's page cache"),
  BASE_ROW_NUM (TrnLoaderSpec, "dataset", dataset, BYTES, .min = "1 B", .max = "1 EB",
                .help = "what a node reads in an epoch, for `cache: warm`"),
  BASE_ROW (TrnLoaderSpec, "stage", stage, MAP, .sub = &stage_schema, .help = "copied to the drives before"),
  BASE_ROW (TrnLoaderSpec, "pin", pin, BOOL, .fallback = "true", .help = "a core copies batches into pinned memory"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_loader = { .name = "loader", .help = "Where samples come from.", .fields = loader_fields };
