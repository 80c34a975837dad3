/* The section `links`: one row a key, see models/links.h for what each is used for. */
#include "models/links.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (
    copy_schema, "copy", "One kind of copy.",
    NUM (MdlCopySpec, start, TIME, "launched and waited for; the route's latency comes on top"),
    NUM (MdlCopySpec, queued, TIME, "behind others of its kind; default: `start` and the route's latency"),
    FROM (MdlCopySpec, rate, BANDWIDTH, "1 kB/s", "of the copier; default: the route's"),
    FROM (MdlCopySpec, wire, NUMBER, "0.5", "link bytes per payload byte, a kernel's against what its stores reach; default 1"),
    NUM (MdlCopySpec, reverse_traffic, NUMBER, "bytes the other way per payload byte, as a read's requests; default 0", .max = "1",
         .was = "back"),
    NUM (MdlCopySpec, contention, NUMBER,
         "k copies at once out of one device, or staged by one host, take 1 + contention (1 - 1/k) times as long; default 0",
         .was = "crowd"),
    FROM (MdlCopySpec, cached, NUMBER, "1", "so many times `rate` while the CPU's cache holds the data; default 1"),
    FROM (MdlCopySpec, cache, BYTES, "1 B", "size at which half of that is lost"),
    NUM (MdlCopySpec, block, BYTES, "first block, which crosses before the copier has any; default 0"));

static SCHEMA (copies_schema, "copies", "Copies, by what moves the bytes.",
               MAP_AS (MdlCopies, "dma", at[MDL_COPY_DMA], &copy_schema, "copy engine between GPUs; NVMe"),
               MAP_AS (MdlCopies, "kernel", at[MDL_COPY_KERNEL], &copy_schema, "a kernel's stores into another GPU"),
               MAP_AS (MdlCopies, "kernel_read", at[MDL_COPY_KERNEL_READ], &copy_schema, "a kernel's loads from another GPU"),
               MAP_AS (MdlCopies, "h2d", at[MDL_COPY_H2D], &copy_schema, "copy engine, from pinned host memory"),
               MAP_AS (MdlCopies, "d2h", at[MDL_COPY_D2H], &copy_schema, "copy engine, to pinned host memory"),
               MAP_AS (MdlCopies, "h2d_pageable", at[MDL_COPY_H2D_PAGEABLE], &copy_schema,
                       "from pageable host memory, by the driver's pinned blocks"),
               MAP_AS (MdlCopies, "d2h_pageable", at[MDL_COPY_D2H_PAGEABLE], &copy_schema, "to pageable host memory"),
               MAP_AS (MdlCopies, "host", at[MDL_COPY_HOST], &copy_schema, "from GPU to GPU, staged in host memory by the CPU"),
               MAP_AS (MdlCopies, "rdma", at[MDL_COPY_RDMA], &copy_schema, "RDMA"),
               MAP_AS (MdlCopies, "tcp", at[MDL_COPY_TCP], &copy_schema, "sockets"));

static SCHEMA (figures_schema, "link figures",
               "What links reach, in place of what their class and the topology say. "
               "Single links that `overrides.links` changes keep theirs.",
               NUM (MdlLinkConstants, efficiency, RATIO,
                    "of the specified rate, by copy engines; default: the topology's, as all of these", .min = "0.001", .max = "1"),
               NUM (MdlLinkConstants, sm_efficiency, RATIO, "of the specified rate, by kernels' stores", .min = "0.001",
                    .max = "1"),
               NUM (MdlLinkConstants, latency, TIME, "one crossing"),
               NUM (MdlLinkConstants, duplex, RATIO, "both ways together over twice one way", .min = "0.1", .max = "1"));

static SCHEMA (host_schema, "host memory", "One socket's memory, as all copies from and to it share it.",
               FROM (MdlHostRates, read, BANDWIDTH, "1 MB/s", "by all devices together; default: `both`"),
               FROM (MdlHostRates, write, BANDWIDTH, "1 MB/s", "likewise written"),
               FROM (MdlHostRates, both, BANDWIDTH, "1 MB/s", "read and written together; default: `sockets.memory`"));

static SCHEMA (schema, "links", "Copies between devices, and what a node's links reach.",
               NUM (MdlLinks, error, RATIO, "half-width of a copy's band; default: the library's, by size", .max = "10"),
               MAP (MdlLinks, copies, &copies_schema, "by what moves the bytes"),
               MAP (MdlLinks, scale_up, &figures_schema, "links between the GPUs of a node (NVLink)"),
               MAP (MdlLinks, pcie, &figures_schema, "PCIe links of the class that the GPUs' slots have"),
               MAP (MdlLinks, host, &host_schema, "host memory"));

const CstSection cst_links = { "links", &schema, sizeof (MdlLinks), offsetof (MdlLibrary, links) };
