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
  BASE_ROW_NUM (CluMeshLink, "a", a, COUNT, .required = TRUE, .max = "1023", .help = "number of a GPU in the node"),
  BASE_ROW_NUM (CluMeshLink, "b", b, COUNT, .required = TRUE, .max = "1023", .help = "number of the other GPU"),
  BASE_ROW_NUM (CluMeshLink, "lanes", lanes, NUMBER, .fallback = "1", .min = "0.001", .max = "65536",
                .help = "links between the two"),
  BASE_ROW_END,
};
static const BaseSchema mesh_link_schema = { .name = "node.nvlink.links",
                                             .help = "Links between two GPUs.",
                                             .fields = mesh_link_fields };

static const BaseField nvlink_fields[] = {
  BASE_ROW (CluNvlinkSpec, "kind", kind, ENUM, .names = clu_scale_up_names,
            .help = "shape; default: switch with `switches`, links with `links`, torus with `dims`, else none"),
  BASE_ROW_NUM (CluNvlinkSpec, "switches", switches, COUNT, .min = "1", .max = "1024",
                .help = "switch chips (planes); every GPU reaches all of them"),
  BASE_ROW (CluNvlinkSpec, "planes", planes, NUMS, .dim = BASE_DIM_COUNT,
            .help = "links of one GPU to each switch (5, 4, 4, 5); default: even"),
  BASE_ROW (CluNvlinkSpec, "sharp", sharp, BOOL, .fallback = "false", .help = "reduction in the switch (NVLS)"),
  BASE_ROW (CluNvlinkSpec, "links", links, LIST, .sub = &mesh_link_schema, .item_size = sizeof (CluMeshLink),
            .help = "links of kind `links`"),
  BASE_ROW (CluNvlinkSpec, "dims", dims, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .max = "1024",
            .help = "torus: GPUs along each dimension"),
  BASE_ROW_NUM (CluNvlinkSpec, "lanes_used", lanes_used, COUNT, .min = "1", .max = "65536",
                .help = "links of one GPU that are up, if fewer than its type has (a failed plane)"),
  BASE_ROW (CluNvlinkSpec, "link", link, MAP, .sub = &clu_schema_link_spec,
            .help = "what differs from the GPU type's scale_up link"),
  BASE_ROW_END,
};
static const BaseSchema nvlink_schema = {
  .name = "node.nvlink",
  .help = "The scale-up network of a node or of an NVLink domain, whatever its vendor calls it.",
  .fields = nvlink_fields,
  .scalar_key = "kind",
};

static const BaseField width_fields[] = {
  BASE_ROW_NUM (CluPcieWidth, "generation", generation, COUNT, .min = "1", .max = "9",
                .help = "PCIe generation; default: the GPUs'"),
  BASE_ROW_NUM (CluPcieWidth, "lanes", lanes, COUNT, .min = "1", .max = "32", .help = "1, 2, 4, 8, 16 or 32; default: the GPUs'"),
  BASE_ROW_END,
};
static const BaseSchema width_schema = { .name = "node.pcie.uplink",
                                         .help = "A PCIe switch's link to its socket.",
                                         .fields = width_fields };

static const BaseField pcie_fields[] = {
  BASE_ROW_NUM (CluPcieSpec, "generation", generation, COUNT, .min = "1", .max = "9",
                .help = "of a GPU's slot (class pcieN); default: the GPU type's"),
  BASE_ROW_NUM (CluPcieSpec, "lanes", lanes, COUNT, .min = "1", .max = "32", .help = "of a GPU's slot; default: the GPU type's"),
  BASE_ROW_NUM (CluPcieSpec, "switch_per", switch_per, COUNT, .max = "1024",
                .help = "GPUs behind one PCIe switch; 0: GPUs hang on the sockets; default: 0, or all GPUs when `bus` is given"),
  BASE_ROW (CluPcieSpec, "uplink", uplink, MAP, .sub = &width_schema, .help = "switch to socket; default: as a GPU's slot"),
  BASE_ROW (CluPcieSpec, "under_switch", under_switch, STRS,
            .help = "nics, nvme: what stands below the same switches; the rest hangs on the sockets"),
  CLU_RATE (CluPcieSpec, "bus", bus,
            .help = "what all traffic through one switch shares, both ways together; absent: non-blocking"),
  BASE_ROW (CluPcieSpec, "link", link, MAP, .sub = &clu_schema_link_spec,
            .help = "what differs from class pcieN on slots and uplinks"),
  BASE_ROW_END,
};
static const BaseSchema pcie_schema = { .name = "node.pcie", .help = "PCI Express inside a node.", .fields = pcie_fields };

static const BaseField socket_fields[] = {
  BASE_ROW_NUM (CluSocketSpec, "count", count, COUNT, .min = "1", .max = "64", .fallback = "1", .help = "CPU sockets"),
  BASE_ROW (CluSocketSpec, "interconnect", interconnect, MAP, .sub = &clu_schema_link_spec, .help = "between each two sockets"),
  CLU_RATE (CluSocketSpec, "peer", peer,
            .help =
                "what drives and adapters of other sockets read or write of one socket's GPUs straight (GPUDirect Storage), all "
                "together; default: the interconnect's class"),
  CLU_RATE (CluSocketSpec, "memory", memory,
            .help = "one socket's memory: what all copies from and to the host share; absent: no bottleneck"),
  BASE_ROW_NUM (CluSocketSpec, "memory_capacity", memory_capacity, BYTES, .help = "of one socket"),
  BASE_ROW_NUM (CluSocketSpec, "cores", cores, COUNT, .min = "1", .max = "4096",
                .help = "of one socket: what loaders and reads by way of the host share; absent: no bottleneck"),
  BASE_ROW (CluSocketSpec, "vendor", vendor, ENUM, .names = cpu_names, .fallback = "intel",
            .help = "the CPU's vendor; NCCL's constants differ by it"),
  BASE_ROW (CluSocketSpec, "gpu_link", gpu_link, MAP, .sub = &clu_schema_link_spec,
            .help = "coherent link from a GPU to its CPU (NVLink-C2C); replaces PCIe as path to the host"),
  BASE_ROW_END,
};
static const BaseSchema socket_schema = { .name = "node.sockets",
                                          .help = "CPU sockets and their memory.",
                                          .fields = socket_fields };

static const BaseField nics_fields[] = {
  BASE_ROW (CluNicsSpec, "type", type, REF, .sub = &clu_schema_nic, .item_size = sizeof (CluNicSpec), .folder = "topologies/nics",
            .help = "NIC type: a name in topologies/nics, a path, or inline"),
  BASE_ROW_NUM (CluNicsSpec, "count", count, COUNT, .max = "1024", .help = "adapters a node; default: per_gpu x GPUs"),
  BASE_ROW_NUM (CluNicsSpec, "per_gpu", per_gpu, NUMBER, .min = "0.0009765625", .max = "1024",
                .help = "adapters a GPU; default: count / GPUs"),
  CLU_RATE (CluNicsSpec, "rate", rate, .help = "wire of one adapter, one way; default: the type's"),
  BASE_ROW_END,
};
static const BaseSchema nics_schema = { .name = "node.nics", .help = "Adapters on the fabric.", .fields = nics_fields };

static const BaseField nvme_fields[] = {
  BASE_ROW_NUM (CluLocalNvmeSpec, "drives", drives, COUNT, .min = "1", .max = "1024", .fallback = "1", .help = "drives a node"),
  BASE_ROW (CluLocalNvmeSpec, "type", type, REF, .sub = &clu_schema_drive, .item_size = sizeof (CluDriveSpec),
            .folder = "topologies/storage", .required = TRUE,
            .help = "drive type: a name in topologies/storage, a path, or inline"),
  BASE_ROW_NUM (CluLocalNvmeSpec, "raid", raid, COUNT, .fallback = "0", .help = "0: striped; no other level is built"),
  BASE_ROW (CluLocalNvmeSpec, "on", on, STRS,
            .help = "where they stand, evenly and in this order: pcie_switch0, socket1 …; default: on all switches with "
                    "`pcie.under_switch: [nvme]`, else on all sockets"),
  BASE_ROW_END,
};
static const BaseSchema nvme_schema = { .name = "node.storage.local_nvme", .help = "Drives inside a node.", .fields = nvme_fields };
static const BaseField node_storage_fields[] = {
  BASE_ROW (CluNodeStorageSpec, "local_nvme", local_nvme, MAP, .sub = &nvme_schema, .help = "drives of the node"),
  BASE_ROW_END,
};
static const BaseSchema node_storage_schema = { .name = "node.storage",
                                                .help = "Storage inside a node.",
                                                .fields = node_storage_fields };

static const BaseField gpus_fields[] = {
  BASE_ROW (CluGpusSpec, "type", type, REF, .sub = &clu_schema_gpu, .item_size = sizeof (CluGpuSpec), .folder = "topologies/gpus",
            .required = TRUE, .help = "GPU type: a name in topologies/gpus, a path, or inline"),
  BASE_ROW_NUM (CluGpusSpec, "count", count, COUNT, .min = "1", .max = "1024", .fallback = "8", .help = "GPUs a node"),
  BASE_ROW_END,
};
static const BaseSchema gpus_schema = { .name = "node.gpus", .help = "The GPUs of a node.", .fields = gpus_fields };

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
const BaseSchema clu_schema_node = { .name = "node", .help = "What one node is.", .fields = node_fields };

static const BaseField link_override_fields[] = {
  BASE_ROW (CluLinkOverride, "from", from, STR, .required = TRUE,
            .help = "a device of the node: gpu3, nic0, pcie_switch1, socket0, nvme2 …"),
  BASE_ROW (CluLinkOverride, "to", to, STR, .required = TRUE,
            .help = "the other end, or `fabric` for a NIC's cable, `nvswitch` for a GPU's NVLinks"),
  CLU_LINK_ROWS (CluLinkOverride, link.),
  BASE_ROW_END,
};
static const BaseSchema link_override_schema = {
  .name = "overrides.links",
  .help = "A single link that differs: a slow cable, a slot that trained to half its width.",
  .fields = link_override_fields
};
static const BaseField override_fields[] = {
  BASE_ROW (CluOverrideSpec, "nodes", nodes, NODE, .required = TRUE, .help = "which nodes: 3, \"0-7\" or [1, 5, \"8-9\"]"),
  BASE_ROW (CluOverrideSpec, "links", links, LIST, .sub = &link_override_schema, .item_size = sizeof (CluLinkOverride),
            .help = "single links that differ"),
  NODE_ROWS (CluOverrideSpec, node., FALSE),
  BASE_ROW_END,
};
const BaseSchema clu_schema_override = { .name = "overrides",
                                         .help =
                                             "An entry of `overrides`: nodes that differ, by any key of a node. Later entries win.",
                                         .fields = override_fields };

static const BaseField tier_fields[] = {
  BASE_ROW (CluTierSpec, "type", type, REF, .sub = &clu_schema_switch, .item_size = sizeof (CluSwitchSpec),
            .folder = "topologies/switches", .help = "switch type: a name in topologies/switches, a path, or inline"),
  BASE_ROW_NUM (CluTierSpec, "radix", radix, COUNT, .min = "1", .max = "65536", .help = "ports of one switch; default: the type's"),
  BASE_ROW_NUM (CluTierSpec, "latency", latency, TIME, .max = "1 s",
                .help = "a crossing, on top of the cables' latency; default: the type's, else 0"),
  BASE_ROW_END,
};
static const BaseSchema tier_schema = {
  .name = "fabric.leaf",
  .help = "The switches of one level; `spine` and `core` take the same keys and default to the level below.",
  .fields = tier_fields,
  .scalar_key = "type",
};

static const BaseField level_fields[] = {
  BASE_ROW_NUM (CluLevelSpec, "down", down, COUNT, .required = TRUE, .min = "1", .max = "1048576",
                .help = "ports of one switch to the level below"),
  BASE_ROW_NUM (CluLevelSpec, "up", up, COUNT, .min = "1", .max = "1048576",
                .help = "ports of one switch to the level above; absent at the top"),
  BASE_ROW_NUM (CluLevelSpec, "parallel", parallel, COUNT, .min = "1", .max = "65536", .fallback = "1",
                .help = "cables between a switch and one above it"),
  BASE_ROW_END,
};
static const BaseSchema level_schema = { .name = "fabric.levels",
                                         .help = "One level of a fat tree, from the leaf up.",
                                         .fields = level_fields };

static const BaseField dragonfly_fields[] = {
  BASE_ROW_NUM (CluDragonflySpec, "groups", groups, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "groups"),
  BASE_ROW_NUM (CluDragonflySpec, "routers", routers, COUNT, .required = TRUE, .min = "1", .max = "65536",
                .help = "routers a group"),
  BASE_ROW_NUM (CluDragonflySpec, "hosts", hosts, COUNT, .required = TRUE, .min = "1", .max = "65536",
                .help = "NIC ports a router"),
  BASE_ROW_NUM (CluDragonflySpec, "global_links", global_links, COUNT, .min = "1", .max = "65536",
                .help = "cables of one router to other groups; needed with more than one group"),
  BASE_ROW_END,
};
static const BaseSchema dragonfly_schema = { .name = "fabric.dragonfly",
                                             .help = "Shape of a dragonfly.",
                                             .fields = dragonfly_fields };

static const BaseField custom_switch_fields[] = {
  BASE_ROW (CluCustomSwitch, "name", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW_NUM (CluCustomSwitch, "latency", latency, TIME, .max = "1 s", .fallback = "0",
                .help = "a crossing, on top of the cables' latency"),
  BASE_ROW_END,
};
static const BaseSchema custom_switch_schema = { .name = "fabric.switches",
                                                 .help = "A switch of a custom fabric; a bare name does.",
                                                 .fields = custom_switch_fields,
                                                 .scalar_key = "name" };
static const BaseField custom_link_fields[] = {
  BASE_ROW (CluCustomLink, "from", from, STR, .required = TRUE,
            .help = "a switch's name or \"node3.nic0\"; ranges as \"node[0-7].nic0\""),
  BASE_ROW (CluCustomLink, "to", to, STR, .required = TRUE,
            .help = "the other end; two ranges of one length pair up, one end joins all of a range"),
  BASE_ROW_NUM (CluCustomLink, "count", count, COUNT, .min = "1", .max = "1024", .fallback = "1", .help = "parallel cables"),
  CLU_LINK_ROWS (CluCustomLink, link.),
  BASE_ROW_END,
};
static const BaseSchema custom_link_schema = {
  .name = "fabric.links",
  .help = "Cables of a custom fabric; keys of a link describe the cable (default: the NIC's wire).",
  .fields = custom_link_fields
};

static const BaseField fabric_sharp_fields[] = {
  BASE_ROW (CluFabricSharp, "offered", offered, BOOL, .help = "the switches reduce; default: as the leaf's type"),
  BASE_ROW_NUM (CluFabricSharp, "jobs", jobs, COUNT, .max = "1000000", .fallback = "0",
                .help = "other jobs that reduce in the same switches, with as many trees each"),
  BASE_ROW_END,
};
static const BaseSchema fabric_sharp_schema = {
  .name = "fabric.sharp", .help = "Reduction in the fabric's switches.", .fields = fabric_sharp_fields, .scalar_key = "offered"
};

static const BaseField fabric_fields[] = {
  BASE_ROW (CluFabricSpec, "kind", kind, ENUM, .names = clu_fabric_names, .required = TRUE, .help = "shape"),
  BASE_ROW (CluFabricSpec, "leaf", leaf, MAP, .sub = &tier_schema,
            .help = "switches that NICs are on (or the only switch, or a router)"),
  BASE_ROW (CluFabricSpec, "spine", spine, MAP, .sub = &tier_schema, .help = "second level; default: as leaf"),
  BASE_ROW (CluFabricSpec, "core", core, MAP, .sub = &tier_schema, .help = "third level and above; default: as spine"),
  BASE_ROW (CluFabricSpec, "oversubscription", oversubscription, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "65536",
            .help = "bandwidth down over up, from the leaf up; the last repeats; default 1"),
  BASE_ROW (CluFabricSpec, "levels", levels, LIST, .sub = &level_schema, .item_size = sizeof (CluLevelSpec),
            .help = "explicit shape of a tree from the leaf up, instead of radix and oversubscription"),
  BASE_ROW_NUM (
      CluFabricSpec, "pod", pod, COUNT, .min = "1", .max = "1000000",
      .help = "nodes a pod (scalable unit) of a rail-optimised fabric; default: the leaf's down ports, half its radix at 1:1"),
  BASE_ROW (CluFabricSpec, "dims", dims, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .max = "1000000",
            .help = "torus: nodes along each dimension"),
  BASE_ROW (CluFabricSpec, "dragonfly", dragonfly, MAP, .sub = &dragonfly_schema, .help = "shape of a dragonfly"),
  BASE_ROW (CluFabricSpec, "switches", switches, LIST, .sub = &custom_switch_schema, .item_size = sizeof (CluCustomSwitch),
            .help = "custom: switches"),
  BASE_ROW (CluFabricSpec, "links", links, LIST, .sub = &custom_link_schema, .item_size = sizeof (CluCustomLink),
            .help = "custom: cables"),
  BASE_ROW (CluFabricSpec, "link", link, MAP, .sub = &clu_schema_link_spec,
            .help = "switch-to-switch cables; default: the NIC's wire"),
  BASE_ROW (CluFabricSpec, "routing", routing, ENUM, .names = clu_routing_names, .fallback = "static",
            .help = "which of the equal paths is taken"),
  BASE_ROW_NUM (CluFabricSpec, "seed", seed, COUNT, .help = "of the ECMP hash; default: the run's"),
  BASE_ROW (CluFabricSpec, "sharp", sharp, MAP, .sub = &fabric_sharp_schema,
            .help = "reduction in the switches; default: as the leaf's type"),
  BASE_ROW_END,
};
static const BaseSchema fabric_schema = {
  .name = "fabric", .help = "The network between the nodes' NICs.", .fields = fabric_fields, .scalar_key = "kind"
};

static const BaseField frontend_fields[] = {
  CLU_RATE (CluFrontendSpec, "rate", rate, .required = TRUE, .help = "a node's front-end adapter, one way"),
  BASE_ROW (CluFrontendSpec, "kind", kind, ENUM, .names = frontend_names, .fallback = "single_switch", .help = "shape"),
  BASE_ROW_NUM (CluFrontendSpec, "latency", latency, TIME, .max = "1 s", .fallback = "0",
                .help = "from adapter to adapter or storage server"),
  BASE_ROW (CluFrontendSpec, "oversubscription", oversubscription, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "65536",
            .help = "all adapters together over what the core carries; several levels multiply; default 1"),
  BASE_ROW (CluFrontendSpec, "gpudirect", gpudirect, BOOL, .fallback = "false",
            .help = "its adapters read and write GPU memory (RDMA): GPUDirect Storage over it"),
  BASE_ROW_END,
};
static const BaseSchema frontend_schema = {
  .name = "frontend",
  .help = "The network of storage and checkpoints: one switch, with a core capacity when oversubscribed.",
  .fields = frontend_fields,
  .scalar_key = "rate",
};

static const BaseField cost_fields[] = {
  BASE_ROW_NUM (CluCostSpec, "node", node, MONEY, .help = "a node with its GPUs"),
  BASE_ROW_NUM (CluCostSpec, "nic_port", nic_port, MONEY, .help = "an adapter's port"),
  BASE_ROW_NUM (CluCostSpec, "switch_port", switch_port, MONEY, .help = "a switch's port"),
  BASE_ROW_NUM (CluCostSpec, "cable", cable, MONEY, .help = "a cable"),
  BASE_ROW_NUM (CluCostSpec, "rent", rent, MONEY_PER_TIME, .help = "of a node"),
  BASE_ROW_NUM (CluCostSpec, "power", power, MONEY_PER_ENERGY, .help = "of electricity"),
  BASE_ROW_END,
};
static const BaseSchema cost_schema = { .name = "cost", .help = "What it costs.", .fields = cost_fields };

static const BaseField domain_fields[] = {
  BASE_ROW_NUM (CluDomainSpec, "nodes", nodes, COUNT, .required = TRUE, .min = "1", .max = "1000000",
                .help = "nodes that share one NVLink switch (18 in an NVL72)"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_domain = { .name = "nvlink_domain",
                                       .help = "An NVLink domain wider than a node; `node` is the default.",
                                       .fields = domain_fields };

static const BaseField topology_fields[] = {
  BASE_ROW (CluSpec, "topology", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW (CluSpec, "description", description, STR, .help = "one line for lists"),
  BASE_ROW_NUM (CluSpec, "nodes", nodes, COUNT, .min = "1", .max = "1000000", .fallback = "1", .help = "nodes"),
  BASE_ROW (CluSpec, "node", node, MAP, .sub = &clu_schema_node, .required = TRUE, .help = "what one node is"),
  BASE_ROW (CluSpec, "overrides", overrides, NODE, .help = "list of nodes that differ: see `overrides` below"),
  BASE_ROW (CluSpec, "nvlink_domain", nvlink_domain, NODE, .help = "`node` (default) or {nodes: 18}: see `nvlink_domain` below"),
  BASE_ROW (CluSpec, "fabric", fabric, MAP, .sub = &fabric_schema,
            .help = "network between the nodes; needed with more than one node"),
  BASE_ROW (CluSpec, "frontend", frontend, MAP, .sub = &frontend_schema,
            .help = "network of storage and checkpoints; absent: there is none"),
  CLU_RATE (CluSpec, "management", management, .fallback = "1 Gb/s",
            .help = "a node's adapter on the out-of-band network, all on one switch"),
  BASE_ROW (CluSpec, "storage", storage, LIST, .sub = &clu_schema_storage, .item_size = sizeof (CluStorageSpec),
            .help = "storage tiers outside the nodes"),
  BASE_ROW (CluSpec, "cost", cost, MAP, .sub = &cost_schema, .help = "prices"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_topology = { .name = "topology",
                                         .help = "A cluster: what a node is, how many there are, what joins them.",
                                         .fields = topology_fields };
