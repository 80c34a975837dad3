/* The keys of a workload of kind `io`. */
#include "storage/io.h"

static const BaseName kind_names[] = { { "io", 0, "storage reads and writes" }, { NULL, 0, NULL } };
static const BaseName access_names[] = { { "sequential", 0, "consecutive blocks" },
                                         { "random", 1, "at random offsets" },
                                         { NULL, 0, NULL } };
static const BaseName file_names[] = { { "own", 0, "one file a client" },
                                       { "shared", 1, "the same file for all clients" },
                                       { NULL, 0, NULL } };
static const BaseName decode_names[] = { { "cpu", STO_DECODE_CPU, "CPU cores" },
                                         { "gpu", STO_DECODE_GPU, "SMs of the GPU" },
                                         { "engine", STO_DECODE_ENGINE, "a decompression engine of the GPU" },
                                         { NULL, 0, NULL } };

static const BaseField compression_fields[] = {
  BASE_ROW_NUM (StoCompressionSpec, "ratio", ratio, NUMBER, .min = "1", .max = "1000", .required = TRUE,
                .help = "unpacked size over stored size"),
  BASE_ROW (StoCompressionSpec, "by", by, ENUM, .names = decode_names, .fallback = "cpu", .help = "what packs and unpacks"),
  BASE_ROW_NUM (StoCompressionSpec, "rate", rate, BANDWIDTH, .min = "1 kB/s", .required = TRUE,
                .help = "unpacked bytes per core or per GPU"),
  BASE_ROW_END,
};
const BaseSchema sto_schema_compression = { .name = "compression",
                                            .help = "Stored data is packed. `bytes` counts unpacked bytes.",
                                            .fields = compression_fields };

static const BaseField io_fields[] = {
  BASE_ROW (StoIoSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "`io`"),
  BASE_ROW (StoIoSpec, "op", op, ENUM, .names = mdl_io_op_names, .fallback = "read", .help = "direction"),
  BASE_ROW (StoIoSpec, "tier", tier, STR, .required = TRUE,
            .help = "a tier of the topology's `storage`, or `nvme`: the drives of each client's node, striped"),
  BASE_ROW_NUM (StoIoSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB", .required = TRUE, .help = "total of all clients"),
  BASE_ROW_NUM (StoIoSpec, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB",
                .help = "size of a request; default: the tier's, 1 MiB"),
  BASE_ROW_NUM (StoIoSpec, "threads", threads, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "threads per client"),
  BASE_ROW_NUM (StoIoSpec, "queue_depth", queue_depth, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "outstanding requests per thread"),
  BASE_ROW_NUM (StoIoSpec, "clients", clients, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "processes: one per node in turn, then the next GPU of each node"),
  BASE_ROW (StoIoSpec, "path", path, ENUM, .names = sto_io_path_names, .fallback = "auto",
            .help = "memory that data is read to or written from"),
  BASE_ROW (StoIoSpec, "access", access, ENUM, .names = access_names, .fallback = "sequential", .help = "access pattern"),
  BASE_ROW (StoIoSpec, "cache", cache, ENUM, .names = mdl_cache_names, .fallback = "direct", .help = "page cache of the host"),
  BASE_ROW_NUM (StoIoSpec, "read_ahead", read_ahead, BYTES, .min = "1 B", .max = "1 TB",
                .help = "bytes read ahead of a sequential reader through the page cache (`read_ahead_kb`); default: the tier's"),
  BASE_ROW_NUM (StoIoSpec, "dataset", dataset, BYTES, .min = "1 B", .max = "1 EB",
                .help = "bytes that a node reads repeatedly, with `cache: warm`; default: the bytes of its clients"),
  BASE_ROW_NUM (StoIoSpec, "file_size", file_size, BYTES, .min = "1 B", .max = "1 EB",
                .help = "size of each file, which is looked up and opened; default: files are open already"),
  BASE_ROW (StoIoSpec, "file", file, ENUM, .names = file_names, .fallback = "own", .help = "own or shared files"),
  BASE_ROW_NUM (StoIoSpec, "stripe_count", stripe_count, COUNT, .min = "1", .max = "1 M",
                .help = "targets that a file is striped over; default: the tier's"),
  BASE_ROW (StoIoSpec, "compression", compression, MAP, .sub = &sto_schema_compression, .help = "compression of stored data"),
  BASE_ROW_NUM (StoIoSpec, "fetched", fetched, RATIO, .max = "1", .fallback = "0",
                .help = "fraction of reads that a tier with `cache` must fetch from the other tier: 100 % in a first epoch"),
  BASE_ROW_END,
};
const BaseSchema sto_schema_io = { .name = "workload (io)", .help = "Reads or writes of storage.", .fields = io_fields };
