/* The section `links`: one row a key, see models/links.h for what each is used for. */
#include "models/links.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (copy_schema, "copy", "One kind of copy.",
               NUM (MdlCopySpec, start, TIME, "launch and wait, without the route's latency"),
               NUM (MdlCopySpec, queued, TIME, "start behind other copies; default: `start` and the route's latency"),
               FROM (MdlCopySpec, rate, BANDWIDTH, "1 kB/s", "rate of the copier; default: the route's"),
               FROM (MdlCopySpec, wire, NUMBER, "0.5", "link bytes per payload byte; default 1"),
               NUM (MdlCopySpec, reverse_traffic, NUMBER,
                    "bytes in the other direction per payload byte (requests of reads); default 0", .max = "1", .was = "back"),
               NUM (MdlCopySpec, contention, NUMBER,
                    "k copies out of one device, or staged by one host, take 1 + contention (1 - 1/k) times as long; default 0",
                    .was = "crowd"),
               FROM (MdlCopySpec, cached, NUMBER, "1", "factor on `rate` while the CPU's cache holds the data; default 1"),
               FROM (MdlCopySpec, cache, BYTES, "1 B", "size at which half of that gain is lost"),
               NUM (MdlCopySpec, block, BYTES, "first block, which crosses before the CPU's copies start; default 0"));

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
               MAP_AS (MdlCopies, "tcp", at[MDL_COPY_TCP], &copy_schema, "sockets"),
               MAP_AS (MdlCopies, "managed", at[MDL_COPY_MANAGED], &copy_schema, "managed memory, as page faults fetch it"));

static SCHEMA (figures_schema, "link rates",
               "Reached rates, instead of those of the class and the topology. Links changed by `overrides.links` keep theirs.",
               NUM (MdlLinkConstants, efficiency, RATIO,
                    "fraction of the specified rate by copy engines; default of all: the topology's", .min = "0.001", .max = "1"),
               NUM (MdlLinkConstants, sm_efficiency, RATIO, "fraction of the specified rate by kernels' stores", .min = "0.001",
                    .max = "1"),
               NUM (MdlLinkConstants, latency, TIME, "one crossing"),
               NUM (MdlLinkConstants, duplex, RATIO, "rate of both directions together over twice one", .min = "0.1", .max = "1"),
               NUM (MdlLinkConstants, rdma_efficiency, RATIO,
                    "PCIe: fraction of the specified rate between a NIC and a GPU's memory (GPUDirect RDMA)", .min = "0.001",
                    .max = "1"),
               NUM (MdlLinkConstants, rdma_duplex, RATIO, "PCIe: `duplex` of such transfers", .min = "0.1", .max = "1"));

static SCHEMA (
    network_schema, "network rates",
    "Reached rates of the network between nodes, as `forerun fit` finds them. Links changed by `overrides.links` keep theirs.",
    NUM (MdlLinkConstants, efficiency, RATIO, "fraction of the line rate that a NIC reaches; default of all: the topology's",
         .min = "0.001", .max = "1"),
    NUM (MdlLinkConstants, latency, TIME, "one crossing of a NIC's cable, with half of the switch at its end"),
    NUM (MdlLinkConstants, duplex, RATIO, "rate of both directions together over twice one", .min = "0.1", .max = "1"));

static SCHEMA (host_schema, "host memory", "Memory of one socket, shared by all copies.",
               FROM (MdlHostRates, read, BANDWIDTH, "1 MB/s", "reads of all devices together; default: `both`"),
               FROM (MdlHostRates, write, BANDWIDTH, "1 MB/s", "writes of all devices together; default: `both`"),
               FROM (MdlHostRates, both, BANDWIDTH, "1 MB/s", "read and written together; default: `sockets.memory`"));

static SCHEMA (schema, "links", "Copies between devices, and reached rates of a node's links.",
               NUM (MdlLinks, error, RATIO, "half-width of a copy's band; default: the library's, by size", .max = "10"),
               MAP (MdlLinks, copies, &copies_schema, "by what moves the bytes"),
               MAP (MdlLinks, network, &network_schema, "the network between nodes"),
               MAP (MdlLinks, scale_up, &figures_schema, "links between the GPUs of a node (NVLink)"),
               MAP (MdlLinks, pcie, &figures_schema, "PCIe links of the class of the GPUs' slots"),
               MAP (MdlLinks, host, &host_schema, "host memory"));

const CstSection cst_links = { "links", &schema, sizeof (MdlLinks), offsetof (MdlLibrary, links), NULL };
