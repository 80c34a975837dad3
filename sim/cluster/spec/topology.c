/* Schema tables of a topology file: node, fabric, storage, cost, overrides. Checks that need more than one
 * key are in check.c. */
#include "spec/spec-private.h"

const BaseName clu_scale_up_names[] = {
  { "none", CLU_SCALE_UP_NONE, "no scale-up network" },
  { "switch", CLU_SCALE_UP_SWITCH, "every GPU reaches every other at its full rate" },
  { "full_mesh", CLU_SCALE_UP_FULL_MESH, "each pair has its own links, a GPU's lanes split evenly over its peers" },
  { "links", CLU_SCALE_UP_LINKS, "links as listed: hybrid cube mesh, bridges in pairs" },
  { "torus", CLU_SCALE_UP_TORUS, "neighbours in each of `dims`, around the ends" },
  { NULL, 0, NULL },
};
#define AS_NAME(constant, name, help) { #name, CLU_FABRIC_##constant, help },
const BaseName clu_fabric_names[] = { { "none", CLU_FABRIC_NONE, "nodes are not joined" },
                                      CLU_FABRIC_KINDS (AS_NAME){ NULL, 0, NULL } };
const BaseName clu_routing_names[] = {
  { "static", CLU_ROUTING_STATIC, "the destination decides: D-mod-k in trees, dimension order in a torus" },
  { "ecmp", CLU_ROUTING_ECMP, "a hash of seed, ends and flow picks one of the equal paths" },
  { "adaptive", CLU_ROUTING_ADAPTIVE, "bytes spread evenly over all equal shortest paths" },
  { NULL, 0, NULL },
};
static const BaseName cpu_names[] = {
  { "intel", CLU_CPU_INTEL, "x86, Intel" }, { "amd", CLU_CPU_AMD, "x86, AMD" },          { "arm", CLU_CPU_ARM, "Arm, Grace too" },
  { "power", CLU_CPU_POWER, "POWER" },      { "other", CLU_CPU_OTHER, "anything else" }, { NULL, 0, NULL },
};
static const BaseName frontend_names[] = {
  { "single_switch", CLU_FABRIC_SINGLE_SWITCH, "one switch" },
  { "fat_tree", CLU_FABRIC_FAT_TREE, "a tree, seen as one switch whose core may be oversubscribed" },
  { NULL, 0, NULL },
};

static const BaseField mesh_link_fields[] = {
  CLU_NUM (CluMeshLink, a, COUNT, .required = TRUE, .max = "1023", .help = "number of a GPU in the node"),
  CLU_NUM (CluMeshLink, b, COUNT, .required = TRUE, .max = "1023", .help = "number of the other GPU"),
  CLU_NUM (CluMeshLink, lanes, NUMBER, .fallback = "1", .min = "0.001", .max = "65536", .help = "links between the two"),
  BASE_ROW_END,
};
static const BaseSchema mesh_link_schema = { "node.nvlink.links", "Links between two GPUs.", mesh_link_fields, NULL };

static const BaseField nvlink_fields[] = {
  CLU_ROW (CluNvlinkSpec, kind, ENUM, .names = clu_scale_up_names,
           .help = "shape; default: switch with `switches`, links with `links`, torus with `dims`, else none"),
  CLU_NUM (CluNvlinkSpec, switches, COUNT, .min = "1", .max = "1024",
           .help = "switch chips (planes); every GPU reaches all of them"),
  CLU_ROW (CluNvlinkSpec, planes, NUMS, .dim = BASE_DIM_COUNT,
           .help = "links of one GPU to each switch (5, 4, 4, 5); default: even"),
  CLU_ROW (CluNvlinkSpec, sharp, BOOL, .fallback = "false", .help = "reduction in the switch (NVLS)"),
  CLU_LIST (CluNvlinkSpec, links, mesh_link_schema, CluMeshLink, "links of kind `links`"),
  CLU_ROW (CluNvlinkSpec, dims, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .max = "1024", .help = "torus: GPUs along each dimension"),
  CLU_NUM (CluNvlinkSpec, lanes_used, COUNT, .min = "1", .max = "65536",
           .help = "links of one GPU that are up, if fewer than its type has (a failed plane)"),
  CLU_MAP (CluNvlinkSpec, link, clu_schema_link_spec, "what differs from the GPU type's scale_up link"),
  BASE_ROW_END,
};
static const BaseSchema nvlink_schema = { "node.nvlink",
                                          "The scale-up network of a node or of an NVLink domain, whatever its vendor calls it.",
                                          nvlink_fields, "kind" };

static const BaseField width_fields[] = {
  CLU_NUM (CluPcieWidth, generation, COUNT, .min = "1", .max = "9", .help = "PCIe generation; default: the GPUs'"),
  CLU_NUM (CluPcieWidth, lanes, COUNT, .min = "1", .max = "32", .help = "1, 2, 4, 8, 16 or 32; default: the GPUs'"),
  BASE_ROW_END,
};
static const BaseSchema width_schema = { "node.pcie.uplink", "A PCIe switch's link to its socket.", width_fields, NULL };

static const BaseField pcie_fields[] = {
  CLU_NUM (CluPcieSpec, generation, COUNT, .min = "1", .max = "9",
           .help = "of a GPU's slot (class pcieN); default: the GPU type's"),
  CLU_NUM (CluPcieSpec, lanes, COUNT, .min = "1", .max = "32", .help = "of a GPU's slot; default: the GPU type's"),
  CLU_NUM (CluPcieSpec, switch_per, COUNT, .max = "1024",
           .help = "GPUs behind one PCIe switch; 0: GPUs hang on the sockets; default: 0, or all GPUs when `bus` is given"),
  CLU_MAP (CluPcieSpec, uplink, width_schema, "switch to socket; default: as a GPU's slot"),
  CLU_ROW (CluPcieSpec, under_switch, STRS,
           .help = "nics, nvme: what stands below the same switches; the rest hangs on the sockets"),
  CLU_RATE (CluPcieSpec, bus, .help = "what all traffic through one switch shares, both ways together; absent: non-blocking"),
  CLU_MAP (CluPcieSpec, link, clu_schema_link_spec, "what differs from class pcieN on slots and uplinks"),
  BASE_ROW_END,
};
static const BaseSchema pcie_schema = { "node.pcie", "PCI Express inside a node.", pcie_fields, NULL };

static const BaseField socket_fields[] = {
  CLU_NUM (CluSocketSpec, count, COUNT, .min = "1", .max = "64", .fallback = "1", .help = "CPU sockets"),
  CLU_MAP (CluSocketSpec, interconnect, clu_schema_link_spec, "between each two sockets"),
  CLU_RATE (CluSocketSpec, peer,
            .help =
                "what drives and adapters of other sockets read or write of one socket's GPUs straight (GPUDirect Storage), all "
                "together; default: the interconnect's class"),
  CLU_RATE (CluSocketSpec, memory,
            .help = "one socket's memory: what all copies from and to the host share; absent: no bottleneck"),
  CLU_NUM (CluSocketSpec, memory_capacity, BYTES, .help = "of one socket"),
  CLU_NUM (CluSocketSpec, cores, COUNT, .min = "1", .max = "4096",
           .help = "of one socket: what loaders and reads by way of the host share; absent: no bottleneck"),
  CLU_ROW (CluSocketSpec, vendor, ENUM, .names = cpu_names, .fallback = "intel",
           .help = "the CPU's vendor; NCCL's constants differ by it"),
  CLU_MAP (CluSocketSpec, gpu_link, clu_schema_link_spec,
           "coherent link from a GPU to its CPU (NVLink-C2C); replaces PCIe as path to the host"),
  BASE_ROW_END,
};
static const BaseSchema socket_schema = { "node.sockets", "CPU sockets and their memory.", socket_fields, NULL };

static const BaseField nics_fields[] = {
  CLU_ROW (CluNicsSpec, type, REF, .sub = &clu_schema_nic, .item_size = sizeof (CluNicSpec), .folder = "topologies/nics",
           .help = "NIC type: a name in topologies/nics, a path, or inline"),
  CLU_NUM (CluNicsSpec, count, COUNT, .max = "1024", .help = "adapters a node; default: per_gpu x GPUs"),
  CLU_NUM (CluNicsSpec, per_gpu, NUMBER, .min = "0.0009765625", .max = "1024", .help = "adapters a GPU; default: count / GPUs"),
  CLU_RATE (CluNicsSpec, rate, .help = "wire of one adapter, one way; default: the type's"),
  BASE_ROW_END,
};
static const BaseSchema nics_schema = { "node.nics", "Adapters on the fabric.", nics_fields, NULL };

static const BaseField nvme_fields[] = {
  CLU_NUM (CluLocalNvmeSpec, drives, COUNT, .min = "1", .max = "1024", .fallback = "1", .help = "drives a node"),
  CLU_ROW (CluLocalNvmeSpec, type, REF, .sub = &clu_schema_drive, .item_size = sizeof (CluDriveSpec),
           .folder = "topologies/storage", .required = TRUE, .help = "drive type: a name in topologies/storage, a path, or inline"),
  CLU_NUM (CluLocalNvmeSpec, raid, COUNT, .fallback = "0", .help = "0: striped; no other level is built"),
  CLU_ROW (CluLocalNvmeSpec, on, STRS,
           .help = "where they stand, evenly and in this order: pcie_switch0, socket1 …; default: on all switches with "
                   "`pcie.under_switch: [nvme]`, else on all sockets"),
  BASE_ROW_END,
};
static const BaseSchema nvme_schema = { "node.storage.local_nvme", "Drives inside a node.", nvme_fields, NULL };
static const BaseField node_storage_fields[] = {
  CLU_MAP (CluNodeStorageSpec, local_nvme, nvme_schema, "drives of the node"),
  BASE_ROW_END,
};
static const BaseSchema node_storage_schema = { "node.storage", "Storage inside a node.", node_storage_fields, NULL };

static const BaseField gpus_fields[] = {
  CLU_ROW (CluGpusSpec, type, REF, .sub = &clu_schema_gpu, .item_size = sizeof (CluGpuSpec), .folder = "topologies/gpus",
           .required = TRUE, .help = "GPU type: a name in topologies/gpus, a path, or inline"),
  CLU_NUM (CluGpusSpec, count, COUNT, .min = "1", .max = "1024", .fallback = "8", .help = "GPUs a node"),
  BASE_ROW_END,
};
static const BaseSchema gpus_schema = { "node.gpus", "The GPUs of a node.", gpus_fields, NULL };

/* The keys of a node, once for `node` and once for an entry of `overrides`. */
#define NODE_ROWS(T, at, must)                                                                       \
  BASE_ROW (T, "gpus", at gpus, MAP, .sub = &gpus_schema, .required = must, .help = "GPUs"),         \
      BASE_ROW (T, "nvlink", at nvlink, MAP, .sub = &nvlink_schema, .help = "scale-up network"),     \
      BASE_ROW (T, "pcie", at pcie, MAP, .sub = &pcie_schema, .help = "PCI Express"),                \
      BASE_ROW (T, "sockets", at sockets, MAP, .sub = &socket_schema, .help = "CPU sockets"),        \
      BASE_ROW (T, "nics", at nics, MAP, .sub = &nics_schema, .help = "network adapters"),           \
      BASE_ROW (T, "storage", at storage, MAP, .sub = &node_storage_schema, .help = "local drives"), \
      BASE_ROW_NUM (T, "power", at power, POWER, .help = "of the node beside its GPUs")

static const BaseField node_fields[] = { NODE_ROWS (CluNodeSpec, , TRUE), BASE_ROW_END };
const BaseSchema clu_schema_node = { "node", "What one node is.", node_fields, NULL };

static const BaseField link_override_fields[] = {
  CLU_ROW (CluLinkOverride, from, STR, .required = TRUE,
           .help = "a device of the node: gpu3, nic0, pcie_switch1, socket0, nvme2 …"),
  CLU_ROW (CluLinkOverride, to, STR, .required = TRUE,
           .help = "the other end, or `fabric` for a NIC's cable, `nvswitch` for a GPU's NVLinks"),
  CLU_LINK_ROWS (CluLinkOverride, link.),
  BASE_ROW_END,
};
static const BaseSchema link_override_schema = { "overrides.links",
                                                 "A single link that differs: a slow cable, a slot that trained to half its width.",
                                                 link_override_fields, NULL };
static const BaseField override_fields[] = {
  CLU_ROW (CluOverrideSpec, nodes, NODE, .required = TRUE, .help = "which nodes: 3, \"0-7\" or [1, 5, \"8-9\"]"),
  CLU_LIST (CluOverrideSpec, links, link_override_schema, CluLinkOverride, "single links that differ"),
  NODE_ROWS (CluOverrideSpec, node., FALSE),
  BASE_ROW_END,
};
const BaseSchema clu_schema_override = { "overrides",
                                         "An entry of `overrides`: nodes that differ, by any key of a node. Later entries win.",
                                         override_fields, NULL };

static const BaseField tier_fields[] = {
  CLU_ROW (CluTierSpec, type, REF, .sub = &clu_schema_switch, .item_size = sizeof (CluSwitchSpec), .folder = "topologies/switches",
           .help = "switch type: a name in topologies/switches, a path, or inline"),
  CLU_NUM (CluTierSpec, radix, COUNT, .min = "1", .max = "65536", .help = "ports of one switch; default: the type's"),
  CLU_NUM (CluTierSpec, latency, TIME, .max = "1 s",
           .help = "a crossing, on top of the cables' latency; default: the type's, else 0"),
  BASE_ROW_END,
};
static const BaseSchema tier_schema = {
  "fabric.leaf", "The switches of one level; `spine` and `core` take the same keys and default to the level below.", tier_fields,
  "type"
};

static const BaseField level_fields[] = {
  CLU_NUM (CluLevelSpec, down, COUNT, .required = TRUE, .min = "1", .max = "1048576",
           .help = "ports of one switch to the level below"),
  CLU_NUM (CluLevelSpec, up, COUNT, .min = "1", .max = "1048576",
           .help = "ports of one switch to the level above; absent at the top"),
  CLU_NUM (CluLevelSpec, parallel, COUNT, .min = "1", .max = "65536", .fallback = "1",
           .help = "cables between a switch and one above it"),
  BASE_ROW_END,
};
static const BaseSchema level_schema = { "fabric.levels", "One level of a fat tree, from the leaf up.", level_fields, NULL };

static const BaseField dragonfly_fields[] = {
  CLU_NUM (CluDragonflySpec, groups, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "groups"),
  CLU_NUM (CluDragonflySpec, routers, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "routers a group"),
  CLU_NUM (CluDragonflySpec, hosts, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "NIC ports a router"),
  CLU_NUM (CluDragonflySpec, global_links, COUNT, .min = "1", .max = "65536",
           .help = "cables of one router to other groups; needed with more than one group"),
  BASE_ROW_END,
};
static const BaseSchema dragonfly_schema = { "fabric.dragonfly", "Shape of a dragonfly.", dragonfly_fields, NULL };

static const BaseField custom_switch_fields[] = {
  CLU_ROW (CluCustomSwitch, name, STR, .required = TRUE, .help = "name"),
  CLU_NUM (CluCustomSwitch, latency, TIME, .max = "1 s", .fallback = "0", .help = "a crossing, on top of the cables' latency"),
  BASE_ROW_END,
};
static const BaseSchema custom_switch_schema = { "fabric.switches", "A switch of a custom fabric; a bare name does.",
                                                 custom_switch_fields, "name" };
static const BaseField custom_link_fields[] = {
  CLU_ROW (CluCustomLink, from, STR, .required = TRUE, .help = "a switch's name or \"node3.nic0\"; ranges as \"node[0-7].nic0\""),
  CLU_ROW (CluCustomLink, to, STR, .required = TRUE,
           .help = "the other end; two ranges of one length pair up, one end joins all of a range"),
  CLU_NUM (CluCustomLink, count, COUNT, .min = "1", .max = "1024", .fallback = "1", .help = "parallel cables"),
  CLU_LINK_ROWS (CluCustomLink, link.),
  BASE_ROW_END,
};
static const BaseSchema custom_link_schema = {
  "fabric.links", "Cables of a custom fabric; keys of a link describe the cable (default: the NIC's wire).", custom_link_fields,
  NULL
};

static const BaseField fabric_sharp_fields[] = {
  CLU_ROW (CluFabricSharp, offered, BOOL, .help = "the switches reduce; default: as the leaf's type"),
  CLU_NUM (CluFabricSharp, jobs, COUNT, .max = "1000000", .fallback = "0",
           .help = "other jobs that reduce in the same switches, with as many trees each"),
  BASE_ROW_END,
};
static const BaseSchema fabric_sharp_schema = { "fabric.sharp", "Reduction in the fabric's switches.", fabric_sharp_fields,
                                                "offered" };

static const BaseField fabric_fields[] = {
  CLU_ROW (CluFabricSpec, kind, ENUM, .names = clu_fabric_names, .required = TRUE, .help = "shape"),
  CLU_MAP (CluFabricSpec, leaf, tier_schema, "switches that NICs are on (or the only switch, or a router)"),
  CLU_MAP (CluFabricSpec, spine, tier_schema, "second level; default: as leaf"),
  CLU_MAP (CluFabricSpec, core, tier_schema, "third level and above; default: as spine"),
  CLU_ROW (CluFabricSpec, oversubscription, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "65536",
           .help = "bandwidth down over up, from the leaf up; the last repeats; default 1"),
  CLU_LIST (CluFabricSpec, levels, level_schema, CluLevelSpec,
            "explicit shape of a tree from the leaf up, instead of radix and oversubscription"),
  CLU_NUM (CluFabricSpec, pod, COUNT, .min = "1", .max = "1000000",
           .help = "nodes a pod (scalable unit) of a rail-optimised fabric; default: the leaf's down ports, half its radix at 1:1"),
  CLU_ROW (CluFabricSpec, dims, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .max = "1000000",
           .help = "torus: nodes along each dimension"),
  CLU_MAP (CluFabricSpec, dragonfly, dragonfly_schema, "shape of a dragonfly"),
  CLU_LIST (CluFabricSpec, switches, custom_switch_schema, CluCustomSwitch, "custom: switches"),
  CLU_LIST (CluFabricSpec, links, custom_link_schema, CluCustomLink, "custom: cables"),
  CLU_MAP (CluFabricSpec, link, clu_schema_link_spec, "switch-to-switch cables; default: the NIC's wire"),
  CLU_ROW (CluFabricSpec, routing, ENUM, .names = clu_routing_names, .fallback = "static",
           .help = "which of the equal paths is taken"),
  CLU_NUM (CluFabricSpec, seed, COUNT, .help = "of the ECMP hash; default: the run's"),
  CLU_MAP (CluFabricSpec, sharp, fabric_sharp_schema, "reduction in the switches; default: as the leaf's type"),
  BASE_ROW_END,
};
static const BaseSchema fabric_schema = { "fabric", "The network between the nodes' NICs.", fabric_fields, "kind" };

static const BaseField frontend_fields[] = {
  CLU_RATE (CluFrontendSpec, rate, .required = TRUE, .help = "a node's front-end adapter, one way"),
  CLU_ROW (CluFrontendSpec, kind, ENUM, .names = frontend_names, .fallback = "single_switch", .help = "shape"),
  CLU_NUM (CluFrontendSpec, latency, TIME, .max = "1 s", .fallback = "0", .help = "from adapter to adapter or storage server"),
  CLU_ROW (CluFrontendSpec, oversubscription, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "65536",
           .help = "all adapters together over what the core carries; several levels multiply; default 1"),
  CLU_ROW (CluFrontendSpec, gpudirect, BOOL, .fallback = "false",
           .help = "its adapters read and write GPU memory (RDMA): GPUDirect Storage over it"),
  BASE_ROW_END,
};
static const BaseSchema frontend_schema = {
  "frontend", "The network of storage and checkpoints: one switch, with a core capacity when oversubscribed.", frontend_fields,
  "rate"
};

static const BaseField cost_fields[] = {
  CLU_NUM (CluCostSpec, node, MONEY, .help = "a node with its GPUs"),
  CLU_NUM (CluCostSpec, nic_port, MONEY, .help = "an adapter's port"),
  CLU_NUM (CluCostSpec, switch_port, MONEY, .help = "a switch's port"),
  CLU_NUM (CluCostSpec, cable, MONEY, .help = "a cable"),
  CLU_NUM (CluCostSpec, rent, MONEY_PER_TIME, .help = "of a node"),
  CLU_NUM (CluCostSpec, power, MONEY_PER_ENERGY, .help = "of electricity"),
  BASE_ROW_END,
};
static const BaseSchema cost_schema = { "cost", "What it costs.", cost_fields, NULL };

static const BaseField domain_fields[] = {
  CLU_NUM (CluDomainSpec, nodes, COUNT, .required = TRUE, .min = "1", .max = "1000000",
           .help = "nodes that share one NVLink switch (18 in an NVL72)"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_domain = { "nvlink_domain", "An NVLink domain wider than a node; `node` is the default.", domain_fields,
                                       NULL };

static const BaseField topology_fields[] = {
  BASE_ROW (CluSpec, "topology", name, STR, .required = TRUE, .help = "name"),
  CLU_ROW (CluSpec, description, STR, .help = "one line for lists"),
  CLU_NUM (CluSpec, nodes, COUNT, .min = "1", .max = "1000000", .fallback = "1", .help = "nodes"),
  CLU_ROW (CluSpec, node, MAP, .sub = &clu_schema_node, .required = TRUE, .help = "what one node is"),
  CLU_ROW (CluSpec, overrides, NODE, .help = "list of nodes that differ: see `overrides` below"),
  CLU_ROW (CluSpec, nvlink_domain, NODE, .help = "`node` (default) or {nodes: 18}: see `nvlink_domain` below"),
  CLU_MAP (CluSpec, fabric, fabric_schema, "network between the nodes; needed with more than one node"),
  CLU_MAP (CluSpec, frontend, frontend_schema, "network of storage and checkpoints; absent: there is none"),
  CLU_RATE (CluSpec, management, .fallback = "1 Gb/s", .help = "a node's adapter on the out-of-band network, all on one switch"),
  CLU_LIST (CluSpec, storage, clu_schema_storage, CluStorageSpec, "storage tiers outside the nodes"),
  CLU_MAP (CluSpec, cost, cost_schema, "prices"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_topology = { "topology", "A cluster: what a node is, how many there are, what joins them.",
                                         topology_fields, NULL };
