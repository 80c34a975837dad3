/* The keys of `loader`, and of its `stage`. */
#include "training/training.h"

static const BaseName how_names[] = { { "each", 0, "every node reads all that it stores" },
                                      { "peers", 1, "each part is read once and passed from node to node" },
                                      { NULL, 0, NULL } };
static const BaseName hold_names[] = { { "all", 0, "the whole data set" }, { "part", 1, "the node's part" }, { NULL, 0, NULL } };
static const BaseField stage_fields[] = {
  BASE_ROW (TrnStageSpec, "from", from, STR, .required = TRUE, .help = "a tier of the topology's `storage`"),
  BASE_ROW_NUM (TrnStageSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB", .required = TRUE,
                .help = "size of the data set, one epoch"),
  BASE_ROW (TrnStageSpec, "how", how, ENUM, .names = how_names, .fallback = "each", .help = "how data reaches the nodes"),
  BASE_ROW (TrnStageSpec, "hold", hold, ENUM, .names = hold_names, .fallback = "all", .help = "what the drives of a node store"),
  BASE_ROW_NUM (TrnStageSpec, "threads", threads, COUNT, .min = "1", .max = "65536", .fallback = "32",
                .help = "outstanding requests of each node, at the tier and at its drives"),
  BASE_ROW_END,
};
static const BaseSchema stage_schema = { .name = "stage",
                                         .help = "The data set is copied to the nodes' drives before training.",
                                         .fields = stage_fields };

static const BaseName access_names[] = { { "sequential", 0, "in order" }, { "random", 1, "in random order" }, { NULL, 0, NULL } };
static const BaseName sharing_names[] = { { "shards", 0, "each rank reads its own samples" },
                                          { "node", 1, "one rank of a node reads for all ranks of the node" },
                                          { NULL, 0, NULL } };
static const BaseName readers_names[] = { { "ends", TRN_READERS_ENDS,
                                            "tensor rank 0 of the first and the last stage, for each context-parallel rank; it "
                                            "broadcasts to the other tensor ranks (Megatron)" },
                                          { "first", TRN_READERS_FIRST, "the first rank; the others receive the data at no cost" },
                                          { "all", TRN_READERS_ALL, "all ranks, each the same samples" },
                                          { NULL, 0, NULL } };
static const BaseName decoder_names[] = { { "cpu", STO_DECODE_CPU, "the workers" },
                                          { "gpu", STO_DECODE_GPU, "SMs of the GPU, before the batch's compute" },
                                          { "engine", STO_DECODE_ENGINE, "an engine of the GPU, concurrently with compute" },
                                          { NULL, 0, NULL } };

static const BaseName epoch_names[] = { { "later", TRN_EPOCH_LATER, "the second, or a later one" },
                                        { "first", TRN_EPOCH_FIRST, "the first: all is fetched" },
                                        { NULL, 0, NULL } };
static const BaseName path_names[] = { { "host", TRN_LOAD_HOST, "host memory, then the GPU" },
                                       { "gds", TRN_LOAD_GDS,
                                         "the GPU's memory by GPUDirect Storage; an error where that is not supported" },
                                       { NULL, 0, NULL } };

static const BaseField loader_fields[] = {
  BASE_ROW (TrnLoaderSpec, "tier", tier, STR, .required = TRUE, .help = "a tier of the topology, or `nvme`: the nodes' drives"),
  BASE_ROW_NUM (TrnLoaderSpec, "sample", sample, BYTES, .min = "1 B", .max = "1 TB", .required = TRUE,
                .help = "stored size of a sample"),
  BASE_ROW_NUM (TrnLoaderSpec, "samples", samples, COUNT, .min = "1", .max = "1 G",
                .help = "samples per rank and micro-batch; default: a model's `micro_batch`"),
  BASE_ROW_NUM (TrnLoaderSpec, "workers", workers, COUNT, .min = "0", .max = "1024", .fallback = "8",
                .help = "worker processes per rank; 0: the main process loads, and never while a batch is computed"),
  BASE_ROW_NUM (TrnLoaderSpec, "prefetch", prefetch, COUNT, .min = "1", .max = "1024", .fallback = "2",
                .help = "batches that each worker prepares ahead"),
  BASE_ROW_NUM (TrnLoaderSpec, "decode", decode, TIME, .max = "1 h", .fallback = "0",
                .help = "time per sample, on one core or on the GPU"),
  BASE_ROW_NUM (TrnLoaderSpec, "decoded", decoded, BYTES, .min = "1 B", .max = "1 TB",
                .help = "size of a sample as it is copied to the GPU; default: the stored size"),
  BASE_ROW (TrnLoaderSpec, "decoder", decoder, ENUM, .names = decoder_names, .fallback = "cpu", .help = "what decodes"),
  BASE_ROW (TrnLoaderSpec, "access", access, ENUM, .names = access_names, .fallback = "sequential", .help = "order of samples"),
  BASE_ROW (TrnLoaderSpec, "readers", readers, ENUM, .names = readers_names, .fallback = "ends",
            .help = "ranks of a data-parallel replica that read"),
  BASE_ROW (TrnLoaderSpec, "sharing", sharing, ENUM, .names = sharing_names, .fallback = "shards", .help = "who reads for whom"),
  BASE_ROW_NUM (TrnLoaderSpec, "queue_depth", depth, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "outstanding requests per worker"),
  BASE_ROW_NUM (TrnLoaderSpec, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB",
                .help = "size of a request; default: the tier's; random samples are read one by one"),
  BASE_ROW_NUM (TrnLoaderSpec, "file_size", file_size, BYTES, .min = "1 B", .max = "1 EB",
                .help = "size of each file, which is looked up and opened; default: large shards, open already"),
  BASE_ROW (TrnLoaderSpec, "cache", cache, ENUM, .names = mdl_cache_names, .fallback = "direct", .help = "page cache of the host"),
  BASE_ROW_NUM (TrnLoaderSpec, "dataset", dataset, BYTES, .min = "1 B", .max = "1 EB",
                .help = "bytes that a node reads per epoch, with `cache: warm` or a tier that caches another one"),
  BASE_ROW (TrnLoaderSpec, "stage", stage, MAP, .sub = &stage_schema, .help = "copies the data set to the drives first"),
  BASE_ROW (TrnLoaderSpec, "path", path, ENUM, .names = path_names, .fallback = "host", .help = "memory that samples are read to"),
  BASE_ROW (TrnLoaderSpec, "decode_in_place", in_place, BOOL, .fallback = "false",
            .help = "samples are decoded into pinned memory, without a copy by a core (DALI)"),
  BASE_ROW (TrnLoaderSpec, "round_trip", returns, BOOL, .fallback = "false",
            .help = "batches decoded on the GPU go to the host and back (a CPU operator after a GPU one)"),
  BASE_ROW (TrnLoaderSpec, "persistent", persistent, BOOL, .fallback = "true",
            .help = "workers live on over epochs; `false` needs `dataset`, what a node reads per epoch"),
  BASE_ROW_NUM (TrnLoaderSpec, "respawn", respawn, TIME, .max = "1 h", .fallback = "2 s",
                .help = "start of new workers, with `persistent: false`; assumed: a process that imports torch"),
  BASE_ROW_NUM (TrnLoaderSpec, "read_ahead", read_ahead, BYTES, .min = "1 B", .max = "1 TB",
                .help = "bytes read ahead of a sequential reader through the page cache (`read_ahead_kb`); default: the tier's"),
  BASE_ROW_NUM (TrnLoaderSpec, "variation", variation, RATIO, .max = "10", .fallback = "0",
                .help = "standard deviation of a batch's read time over its mean (lognormal, from the seed)"),
  BASE_ROW (TrnLoaderSpec, "epoch", epoch, ENUM, .names = epoch_names, .fallback = "later",
            .help = "epoch of the step, if the tier is a cache of another one"),
  BASE_ROW (TrnLoaderSpec, "pin", pin, BOOL, .fallback = "true", .help = "a core copies batches to pinned memory"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_loader = { .name = "loader",
                                       .help = "Input pipeline: where samples come from.",
                                       .fields = loader_fields };
