/* The keys of a workload of kind `io`. */
#include "storage/io.h"

static const BaseName kind_names[] = { { "io", 0, "storage reads and writes" }, { NULL, 0, NULL } };
static const BaseName access_names[] = { { "sequential", 0, "one block after the other" },
                                         { "random", 1, "at random offsets" },
                                         { NULL, 0, NULL } };
static const BaseName file_names[] = { { "own", 0, "each client its own" },
                                       { "shared", 1, "all clients the same one (a hot shard)" },
                                       { NULL, 0, NULL } };
static const BaseName decode_names[] = { { "cpu", STO_DECODE_CPU, "cores of the host, `rate` each" },
                                         { "gpu", STO_DECODE_GPU, "SMs of the GPU, `rate` a GPU" },
                                         { "engine", STO_DECODE_ENGINE, "a decompression engine, `rate` a GPU" },
                                         { NULL, 0, NULL } };

static const BaseField compression_fields[] = {
  BASE_ROW_NUM (StoCompressionSpec, "ratio", ratio, NUMBER, .min = "1", .max = "1000", .required = TRUE,
                .help = "bytes unpacked over bytes stored"),
  BASE_ROW (StoCompressionSpec, "by", by, ENUM, .names = decode_names, .fallback = "cpu", .help = "who packs and unpacks"),
  BASE_ROW_NUM (StoCompressionSpec, "rate", rate, BANDWIDTH, .min = "1 kB/s", .required = TRUE,
                .help = "unpacked bytes of one core, or of one GPU"),
  BASE_ROW_END,
};
const BaseSchema sto_schema_compression = { .name = "compression",
                                            .help = "What is stored is packed; `bytes` are unpacked ones.",
                                            .fields = compression_fields };

static const BaseField io_fields[] = {
  BASE_ROW (StoIoSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "io"),
  BASE_ROW (StoIoSpec, "op", op, ENUM, .names = mdl_io_op_names, .fallback = "read", .help = "direction"),
  BASE_ROW (StoIoSpec, "tier", tier, STR, .required = TRUE,
            .help = "a tier of the topology's `storage` by its name, or nvme: the drives of each client's own node, striped"),
  BASE_ROW_NUM (StoIoSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB", .required = TRUE, .help = "of all clients together"),
  BASE_ROW_NUM (StoIoSpec, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB",
                .help = "of a request; default: the tier's, 1 MiB"),
  BASE_ROW_NUM (StoIoSpec, "threads", threads, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "of a client"),
  BASE_ROW_NUM (StoIoSpec, "queue_depth", queue_depth, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "requests that each thread has in flight"),
  BASE_ROW_NUM (StoIoSpec, "clients", clients, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "one a node in turn, then the next GPU of each"),
  BASE_ROW (StoIoSpec, "path", path, ENUM, .names = sto_io_path_names, .fallback = "auto", .help = "between storage and what"),
  BASE_ROW (StoIoSpec, "access", access, ENUM, .names = access_names, .fallback = "sequential", .help = "pattern"),
  BASE_ROW (StoIoSpec, "cache", cache, ENUM, .names = mdl_cache_names, .fallback = "direct", .help = "the host's page cache"),
  BASE_ROW_NUM (StoIoSpec, "dataset", dataset, BYTES, .min = "1 B", .max = "1 EB",
                .help = "what a node reads over and over, for `cache: warm`; default: its clients' bytes"),
  BASE_ROW_NUM (StoIoSpec, "file_size", file_size, BYTES, .min = "1 B", .max = "1 EB",
                .help = "files of this size, each found and opened; default: open already"),
  BASE_ROW (StoIoSpec, "file", file, ENUM, .names = file_names, .fallback = "own", .help = "whose"),
  BASE_ROW_NUM (StoIoSpec, "stripe_count", stripe_count, COUNT, .min = "1", .max = "1 M",
                .help = "targets that a file lies on; default: the tier's"),
  BASE_ROW (StoIoSpec, "compression", compression, MAP, .sub = &sto_schema_compression, .help = "packed data"),
  BASE_ROW_END,
};
const BaseSchema sto_schema_io = { .name = "workload (io)", .help = "Reads or writes of storage.", .fields = io_fields };
