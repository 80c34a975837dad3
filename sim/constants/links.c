/* The section `links`: one row a key, see models/links.h for what each is used for. */
#include "models/links.h"
#include "constants/section.h"
#include "models/library-spec.h"

#define NUM(type, member, key_, dim_, help_) BASE_ROW (type, key_, member, NUM, .dim = (dim_), .help = (help_))
#define NUM_FROM(type, member, key_, dim_, min_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = (dim_), .min = (min_), .help = (help_))
#define MAP(type, member, key_, sub_, help_) BASE_ROW (type, key_, member, MAP, .sub = (sub_), .help = (help_))

static const BaseField copy_fields[] = {
  NUM (MdlCopySpec, start, "start", BASE_DIM_TIME, "launched and waited for; the route's latency comes on top"),
  NUM (MdlCopySpec, queued, "queued", BASE_DIM_TIME, "behind others of its kind; default: `start` and the route's latency"),
  NUM_FROM (MdlCopySpec, rate, "rate", BASE_DIM_BANDWIDTH, "1 kB/s", "of the copier; default: the route's"),
  NUM_FROM (MdlCopySpec, wire, "wire", BASE_DIM_NUMBER, "0.5",
            "link bytes per payload byte, a kernel's against what its stores reach; default 1"),
  BASE_ROW_NUM (MdlCopySpec, "back", back, NUMBER, .max = "1",
                .help = "bytes the other way per payload byte, as a read's requests; default 0"),
  NUM (MdlCopySpec, crowd, "crowd", BASE_DIM_NUMBER,
       "k copies at once out of one device, or staged by one host, take 1 + crowd (1 - 1/k) times as long; default 0"),
  NUM_FROM (MdlCopySpec, cached, "cached", BASE_DIM_NUMBER, "1",
            "so many times `rate` while the CPU's cache holds the data; default 1"),
  NUM_FROM (MdlCopySpec, cache, "cache", BASE_DIM_BYTES, "1 B", "size at which half of that is lost"),
  NUM (MdlCopySpec, block, "block", BASE_DIM_BYTES, "first block, which crosses before the copier has any; default 0"),
  BASE_ROW_END,
};
static const BaseSchema copy_schema = { .name = "copy", .help = "One kind of copy.", .fields = copy_fields };

static const BaseField copies_fields[] = {
  MAP (MdlCopies, at[MDL_COPY_DMA], "dma", &copy_schema, "copy engine between GPUs; NVMe"),
  MAP (MdlCopies, at[MDL_COPY_KERNEL], "kernel", &copy_schema, "a kernel's stores into another GPU"),
  MAP (MdlCopies, at[MDL_COPY_KERNEL_READ], "kernel_read", &copy_schema, "a kernel's loads from another GPU"),
  MAP (MdlCopies, at[MDL_COPY_H2D], "h2d", &copy_schema, "copy engine, from pinned host memory"),
  MAP (MdlCopies, at[MDL_COPY_D2H], "d2h", &copy_schema, "copy engine, to pinned host memory"),
  MAP (MdlCopies, at[MDL_COPY_H2D_PAGEABLE], "h2d_pageable", &copy_schema,
       "from pageable host memory, by the driver's pinned blocks"),
  MAP (MdlCopies, at[MDL_COPY_D2H_PAGEABLE], "d2h_pageable", &copy_schema, "to pageable host memory"),
  MAP (MdlCopies, at[MDL_COPY_HOST], "host", &copy_schema, "from GPU to GPU, staged in host memory by the CPU"),
  MAP (MdlCopies, at[MDL_COPY_RDMA], "rdma", &copy_schema, "RDMA"),
  MAP (MdlCopies, at[MDL_COPY_TCP], "tcp", &copy_schema, "sockets"),
  BASE_ROW_END,
};
static const BaseSchema copies_schema = { .name = "copies", .help = "Copies, by what moves the bytes.", .fields = copies_fields };

static const BaseField figures_fields[] = {
  BASE_ROW_NUM (MdlLinkFigures, "efficiency", efficiency, RATIO, .min = "0.001", .max = "1",
                .help = "of the specified rate, by copy engines; default: the topology's, as all of these"),
  BASE_ROW_NUM (MdlLinkFigures, "sm_efficiency", sm_efficiency, RATIO, .min = "0.001", .max = "1",
                .help = "of the specified rate, by kernels' stores"),
  NUM (MdlLinkFigures, latency, "latency", BASE_DIM_TIME, "one crossing"),
  BASE_ROW_NUM (MdlLinkFigures, "duplex", duplex, RATIO, .min = "0.1", .max = "1", .help = "both ways together over twice one way"),
  BASE_ROW_END,
};
static const BaseSchema figures_schema = { .name = "link figures",
                                           .help = "What links reach, in place of what their class and the topology say. "
                                                   "Single links that `overrides.links` changes keep theirs.",
                                           .fields = figures_fields };

static const BaseField host_fields[] = {
  NUM_FROM (MdlHostFigures, read, "read", BASE_DIM_BANDWIDTH, "1 MB/s", "by all devices together; default: `both`"),
  NUM_FROM (MdlHostFigures, write, "write", BASE_DIM_BANDWIDTH, "1 MB/s", "likewise written"),
  NUM_FROM (MdlHostFigures, both, "both", BASE_DIM_BANDWIDTH, "1 MB/s", "read and written together; default: `sockets.memory`"),
  BASE_ROW_END,
};
static const BaseSchema host_schema = { .name = "host memory",
                                        .help = "One socket's memory, as all copies from and to it share it.",
                                        .fields = host_fields };

static const BaseField links_fields[] = {
  BASE_ROW_NUM (MdlLinks, "error", error, RATIO, .max = "10",
                .help = "half-width of a copy's band; default: the library's, by size"),
  MAP (MdlLinks, copies, "copies", &copies_schema, "by what moves the bytes"),
  MAP (MdlLinks, scale_up, "scale_up", &figures_schema, "links between the GPUs of a node (NVLink)"),
  MAP (MdlLinks, pcie, "pcie", &figures_schema, "PCIe links of the class that the GPUs' slots have"),
  MAP (MdlLinks, host, "host", &host_schema, "host memory"),
  BASE_ROW_END,
};
static const BaseSchema schema = {
  .name = "links",
  .help = "Copies between devices, and what a node's links reach.",
  .fields = links_fields,
};

const CstSection cst_links = { "links", &schema, sizeof (MdlLinks), offsetof (MdlLibrary, links) };
