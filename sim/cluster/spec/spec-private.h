/* What the readers of topology files share inside this folder. */
#ifndef CLUSTER_SPEC_PRIVATE_H
#define CLUSTER_SPEC_PRIVATE_H

#include "cluster/cluster.h"

/* Limits of what is accepted, beside those in the schema tables: numbers of devices, links and resources, and the links of all
 * kinds of nodes together, which are held in memory. */
#define CLU_MAX_DEVICES    (1u << 31)
#define CLU_MAX_KIND_LINKS 8000000u

/* A link of one node that differs from its kind: `links: [{from: gpu3, to: nvswitch0, rate: 100 GB/s}]` in an override. */
typedef struct {
  BaseHead head;
  BaseStr from, to;
  CluLinkSpec link;
} CluLinkOverride;

/* One entry of `overrides`. The node part overlays the topology's node. */
typedef struct {
  BaseHead head;
  const BaseYamlNode *nodes;
  BaseList links; /* CluLinkOverride */
  CluNodeSpec node;
} CluOverrideSpec;

extern const BaseSchema clu_schema_override, clu_schema_domain, clu_schema_link_spec, clu_schema_node, clu_schema_gpus,
    clu_schema_nics, clu_schema_sockets, clu_schema_nvlink;
extern const BaseName clu_family_names[], clu_scale_up_names[], clu_fabric_names[], clu_routing_names[];
extern const BaseSchema clu_schema_storage;

/* Scale-up links of a GPU: as the node, the GPU's type or its link class says; 1 where none does. */
double clu_gpu_lanes (const CluNodeSpec *node, const CluGpuSpec *gpu);

/* Rows whose key is the member's name. */
#define CLU_ROW(T, member, kind, ...)    BASE_ROW (T, #member, member, kind, __VA_ARGS__)
#define CLU_NUM(T, member, dim, ...)     BASE_ROW_NUM (T, #member, member, dim, __VA_ARGS__)
#define CLU_MAP(T, member, schema, text) BASE_ROW (T, #member, member, MAP, .sub = &schema, .help = text)
#define CLU_LIST(T, member, schema, Item, text) \
  BASE_ROW (T, #member, member, LIST, .sub = &schema, .item_size = sizeof (Item), .help = text)
/* Rates, specified. No link, memory or drive is near an EB/s, and all of a cluster's together stay far from where doubles end. */
#define CLU_RATE_OF(T, text, member, ...) BASE_ROW_NUM (T, text, member, BANDWIDTH, .min = "1 B/s", .max = "1 EB/s", __VA_ARGS__)
#define CLU_RATE(T, member, ...)          CLU_RATE_OF (T, #member, member, __VA_ARGS__)

/* The keys of a link described in place. `at`: what stands before CluLinkSpec's members in T ("link."; nothing for CluLinkSpec
 * itself). */
#define CLU_LINK_ROWS(T, at)                                                                                                       \
  BASE_ROW (T, "class", at link_class, REF, .sub = &clu_schema_link_class, .item_size = sizeof (CluLinkClass),                     \
            .folder = "topologies/links", .help = "link class"),                                                                   \
      BASE_ROW_NUM (T, "lanes", at lanes, NUMBER, .min = "0.001", .max = "65536",                                                  \
                    .help = "number of lanes, NVLinks or ports; default: the class's"),                                            \
      CLU_RATE_OF (T, "rate", at rate,                                                                                             \
                   .help = "specified rate of all lanes, one direction; default: `lanes` x the class's `lane_rate`"),              \
      BASE_ROW_NUM (T, "efficiency", at efficiency, RATIO, .min = "0.001", .max = "1",                                             \
                    .help = "fraction of the rate that a large DMA reaches; default: the class's"),                                \
      BASE_ROW_NUM (T, "sm_efficiency", at sm_efficiency, RATIO, .min = "0.001", .max = "1",                                       \
                    .help = "fraction that a kernel's loads and stores reach; default: the class's"),                              \
      BASE_ROW_NUM (T, "latency", at latency, TIME, .max = "1 s",                                                                  \
                    .help = "latency of the link and the device at its far end; default: the class's"),                            \
      BASE_ROW_NUM (T, "duplex", at duplex, RATIO, .min = "0.1", .max = "1",                                                       \
                    .help = "rate of both directions together over twice the rate of one: 1 full duplex, 0.5 shared medium"),      \
      BASE_ROW_NUM (T, "rdma_efficiency", at rdma_efficiency, RATIO, .min = "0.001", .max = "1",                                   \
                    .help = "fraction that an adapter's RDMA to a GPU's memory reaches; default: the class's, else `efficiency`"), \
      BASE_ROW_NUM (T, "rdma_duplex", at rdma_duplex, RATIO, .min = "0.1", .max = "1",                                             \
                    .help = "`duplex` by RDMA to a GPU's memory, which host copies do not show; default: the class's")

#endif
