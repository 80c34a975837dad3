/* The keys of a workload of kind `transfer`. */
#include "storage/transfer.h"

static const BaseName kind_names[] = { { "transfer", 0, "copies from one device to another" }, { NULL, 0, NULL } };
static const BaseName path_names[] = {
  { "fastest", STO_PATH_FASTEST, "the fastest of the paths below" },
  { "nvlink", STO_PATH_NVLINK, "the scale-up network" },
  { "pcie", STO_PATH_PCIE, "PCIe peer to peer" },
  { "gds", STO_PATH_GDS, "GPUDirect Storage, between storage and a GPU" },
  { "host", STO_PATH_HOST, "through host memory" },
  { "net", STO_PATH_NET, "NICs and fabric" },
  { NULL, 0, NULL },
};
static const BaseName pairs_names[] = { { "matched", 0, "first to first, second to second; a single end pairs with all" },
                                        { "all", 1, "every source to every destination" },
                                        { NULL, 0, NULL } };
static const BaseName by_names[] = { { "auto", STO_BY_AUTO, "default method: copy engines between GPUs" },
                                     { "engine", STO_BY_ENGINE, "copy engine" },
                                     { "kernel", STO_BY_KERNEL, "stores by a kernel on the sending GPU" },
                                     { "kernel_read", STO_BY_KERNEL_READ, "loads by a kernel on the receiving GPU" },
                                     { NULL, 0, NULL } };
const BaseName sto_memory_names[] = { { "pinned", 0, "page-locked, for the copy engine" },
                                      { "pageable", 1, "copied through pinned buffers of the driver" },
                                      { "managed", STO_MEMORY_MANAGED, "cudaMallocManaged, fetched by page faults" },
                                      { "prefetched", STO_MEMORY_PREFETCHED,
                                        "the same after cudaMemPrefetchAsync, which moves it as a pinned copy" },
                                      { NULL, 0, NULL } };

static const BaseField transfer_fields[] = {
  BASE_ROW (StoTransferSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "`transfer`"),
  BASE_ROW (
      StoTransferSpec, "from", from, STR, .required = TRUE,
      .help =
          "gpuN, nodeM.gpuN, nodeM.host, nodeM.nvmeN, nodeM.nvme (all drives, striped), storage.NAME; several: `gpu[0-3]`, commas"),
  BASE_ROW (StoTransferSpec, "to", to, STR, .required = TRUE, .help = "as `from`"),
  BASE_ROW_NUM (StoTransferSpec, "bytes", bytes, BYTES, .min = "0", .max = "1 EB", .required = TRUE, .help = "size of one copy"),
  BASE_ROW_NUM (StoTransferSpec, "count", count, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "concurrent copies of each pair over the same path"),
  BASE_ROW (StoTransferSpec, "path", path, ENUM, .names = path_names, .fallback = "fastest", .help = "route"),
  BASE_ROW (StoTransferSpec, "pairs", pairs, ENUM, .names = pairs_names, .fallback = "matched",
            .help = "how several sources and destinations pair"),
  BASE_ROW (StoTransferSpec, "both_ways", both_ways, BOOL, .fallback = "no", .help = "also copies as much back, concurrently"),
  BASE_ROW (StoTransferSpec, "by", by, ENUM, .names = by_names, .fallback = "auto", .help = "method of copies between GPUs"),
  BASE_ROW (StoTransferSpec, "memory", memory, ENUM, .names = sto_memory_names, .fallback = "pinned",
            .help = "host memory of an end"),
  BASE_ROW_NUM (StoTransferSpec, "streams", streams, COUNT, .min = "1", .max = "1024", .fallback = "1",
                .help = "TCP connections of a copy between nodes without RDMA, each on a core of its own"),
  BASE_ROW (StoTransferSpec, "queued", queued, BOOL, .fallback = "no",
            .help = "queued behind similar copies, so that launch time is hidden; `no`: launched and waited for"),
  BASE_ROW_NUM (StoTransferSpec, "in_flight", in_flight, COUNT, .min = "1", .max = "1 M", .fallback = "32",
                .help = "outstanding requests of a copy at a storage end"),
  BASE_ROW_END,
};
const BaseSchema sto_schema_transfer = { .name = "workload (transfer)",
                                         .help = "Copies between devices.",
                                         .fields = transfer_fields };
