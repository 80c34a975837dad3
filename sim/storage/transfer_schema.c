/* The keys of a workload of kind `transfer`. */
#include "storage/transfer.h"

static const BaseName kind_names[] = { { "transfer", 0, "copies from one device to another" }, { NULL, 0, NULL } };
static const BaseName path_names[] = {
  { "fastest", STO_PATH_FASTEST, "whichever is fastest" },
  { "nvlink", STO_PATH_NVLINK, "the scale-up network" },
  { "pcie", STO_PATH_PCIE, "PCIe peer to peer" },
  { "gds", STO_PATH_GDS, "between storage and a GPU, straight" },
  { "host", STO_PATH_HOST, "staged in host memory" },
  { "net", STO_PATH_NET, "the NICs and the fabric" },
  { NULL, 0, NULL },
};
static const BaseName pairs_names[] = { { "matched", 0, "the i-th to the i-th; one end joins all of the other" },
                                        { "all", 1, "each to each other" },
                                        { NULL, 0, NULL } };
static const BaseName by_names[] = { { "auto", STO_BY_AUTO, "as usual: copy engines between GPUs" },
                                     { "engine", STO_BY_ENGINE, "copy engine" },
                                     { "kernel", STO_BY_KERNEL, "stores of a kernel on the sending GPU" },
                                     { "kernel_read", STO_BY_KERNEL_READ, "loads of a kernel on the receiving GPU" },
                                     { NULL, 0, NULL } };
static const BaseName memory_names[] = { { "pinned", 0, "page-locked: the copy engine reaches it" },
                                         { "pageable", 1, "by way of pinned blocks of the driver's" },
                                         { NULL, 0, NULL } };

static const BaseField transfer_fields[] = {
  BASE_ROW (StoTransferSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "transfer"),
  BASE_ROW (StoTransferSpec, "from", from, STR, .required = TRUE,
            .help = "gpuN, nodeM.gpuN, nodeM.host, nodeM.nvmeN, nodeM.nvme (all drives), storage.NAME; several: gpu[0-3], commas"),
  BASE_ROW (StoTransferSpec, "to", to, STR, .required = TRUE, .help = "likewise"),
  BASE_ROW_NUM (StoTransferSpec, "bytes", bytes, BYTES, .min = "0", .max = "1 EB", .required = TRUE, .help = "of one copy"),
  BASE_ROW_NUM (StoTransferSpec, "count", count, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "copies at the same time over the same path, of each pair"),
  BASE_ROW (StoTransferSpec, "path", path, ENUM, .names = path_names, .fallback = "fastest", .help = "which way"),
  BASE_ROW (StoTransferSpec, "pairs", pairs, ENUM, .names = pairs_names, .fallback = "matched",
            .help = "which of several `from` copies to which `to`"),
  BASE_ROW (StoTransferSpec, "both_ways", both_ways, BOOL, .fallback = "no", .help = "and as much back at the same time"),
  BASE_ROW (StoTransferSpec, "by", by, ENUM, .names = by_names, .fallback = "auto", .help = "what moves bytes between GPUs"),
  BASE_ROW (StoTransferSpec, "memory", memory, ENUM, .names = memory_names, .fallback = "pinned", .help = "host memory at an end"),
  BASE_ROW (StoTransferSpec, "queued", queued, BOOL, .fallback = "no",
            .help = "behind other copies of its kind, so that its launch does not show; else launched and waited for"),
  BASE_ROW_NUM (StoTransferSpec, "in_flight", in_flight, COUNT, .min = "1", .max = "1 M", .fallback = "32",
                .help = "requests that a copy keeps in flight at a storage at its end"),
  BASE_ROW_END,
};
const BaseSchema sto_schema_transfer = { .name = "workload (transfer)",
                                         .help = "Copies from one device to another.",
                                         .fields = transfer_fields };
