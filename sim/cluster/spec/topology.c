/* Schema tables of a topology file: node, fabric, storage, cost, overrides. Checks that need more than one
 * key are in check.c. */
#include "spec/spec-private.h"

const BaseName clu_scale_up_names[] = {
  { "none", CLU_SCALE_UP_NONE, "no scale-up network" },
  { "switch", CLU_SCALE_UP_SWITCH, "any two GPUs can use all links of a GPU; all switch chips count together" },
  { "full_mesh", CLU_SCALE_UP_FULL_MESH, "each pair has its own links; a GPU's lanes are divided evenly among its peers" },
  { "links", CLU_SCALE_UP_LINKS, "the links listed in `links`: hybrid cube mesh, NVLink bridges" },
  { "torus", CLU_SCALE_UP_TORUS,
    "links to the neighbours in each of `dims`, with wrap-around; GPUs forward bytes one dimension after the "
    "other, half in each direction if both are equally long" },
  { NULL, 0, NULL },
};
#define AS_NAME(constant, name, help) { #name, CLU_FABRIC_##constant, help },
const BaseName clu_fabric_names[] = { { "none", CLU_FABRIC_NONE, "no network between nodes" },
                                      CLU_FABRIC_KINDS (AS_NAME){ NULL, 0, NULL } };
const BaseName clu_routing_names[] = {
  { "static", CLU_ROUTING_STATIC,
    "chosen by destination: in trees the up port is the destination's index modulo the number of ports (D-mod-k); "
    "in a torus dimension order" },
  { "ecmp", CLU_ROUTING_ECMP, "a hash of seed, endpoints and flow selects one of the equal-cost paths" },
  { "adaptive", CLU_ROUTING_ADAPTIVE, "bytes are spread evenly over all equal shortest paths" },
  { NULL, 0, NULL },
};
static const BaseName cpu_names[] = {
  { "intel", CLU_CPU_INTEL, "" }, { "amd", CLU_CPU_AMD, "" },     { "arm", CLU_CPU_ARM, "" },
  { "power", CLU_CPU_POWER, "" }, { "other", CLU_CPU_OTHER, "" }, { NULL, 0, NULL },
};
static const BaseName frontend_names[] = {
  { "single_switch", CLU_FABRIC_SINGLE_SWITCH, "one switch" },
  { "fat_tree", CLU_FABRIC_FAT_TREE, "a tree, modelled as one switch with a core that may be oversubscribed" },
  { NULL, 0, NULL },
};

static const BaseField mesh_link_fields[] = {
  CLU_NUM (CluMeshLink, a, COUNT, .required = TRUE, .max = "1023", .help = "number of a GPU in the node"),
  CLU_NUM (CluMeshLink, b, COUNT, .required = TRUE, .max = "1023", .help = "number of the other GPU"),
  CLU_NUM (CluMeshLink, lanes, NUMBER, .fallback = "1", .min = "0.001", .max = "65536", .help = "links between the two GPUs"),
  BASE_ROW_END,
};
static const BaseSchema mesh_link_schema = { .name = "node.nvlink.links",
                                             .help = "Links between two GPUs.",
                                             .fields = mesh_link_fields };

static const BaseField nvlink_fields[] = {
  CLU_ROW (CluNvlinkSpec, kind, ENUM, .names = clu_scale_up_names,
           .help = "shape; default: `switch` if `switches` is given, `links` if `links`, `torus` if `dims`, else `none`"),
  CLU_NUM (CluNvlinkSpec, switches, COUNT, .min = "1", .max = "1024",
           .help = "switch chips (planes); every GPU is connected to all"),
  CLU_ROW (CluNvlinkSpec, planes, NUMS, .dim = BASE_DIM_COUNT,
           .help = "links from one GPU to each switch, e.g. [5, 4, 4, 5]; default: equal"),
  CLU_ROW (CluNvlinkSpec, sharp, BOOL, .fallback = "false", .help = "reduction in the switch (NVLS)"),
  CLU_LIST (CluNvlinkSpec, links, mesh_link_schema, CluMeshLink, "links of kind `links`"),
  CLU_ROW (CluNvlinkSpec, dims, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .max = "1024", .help = "torus: GPUs along each dimension"),
  CLU_ROW (CluNvlinkSpec, dim_lanes, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "1024",
           .help = "torus: links of a GPU to each neighbour in each dimension; default: equal"),
  CLU_NUM (CluNvlinkSpec, lanes_used, COUNT, .min = "1", .max = "65536",
           .help = "links of one GPU that work, if fewer than its type has (failed plane)"),
  CLU_MAP (CluNvlinkSpec, link, clu_schema_link_spec, "changes to the GPU type's `scale_up` link"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_nvlink = { .name = "node.nvlink",
                                       .help = "The scale-up network of a node or of an NVLink domain, of any vendor.",
                                       .fields = nvlink_fields,
                                       .scalar_key = "kind" };

static const BaseField width_fields[] = {
  CLU_NUM (CluPcieWidth, generation, COUNT, .min = "1", .max = "9", .help = "PCIe generation; default: that of the GPUs"),
  CLU_NUM (CluPcieWidth, lanes, COUNT, .min = "1", .max = "32", .help = "1, 2, 4, 8, 16 or 32; default: that of the GPUs"),
  BASE_ROW_END,
};
static const BaseSchema width_schema = { .name = "node.pcie.uplink",
                                         .help = "A PCIe switch's link to its socket.",
                                         .fields = width_fields };

static const BaseField pcie_fields[] = {
  CLU_NUM (CluPcieSpec, generation, COUNT, .min = "1", .max = "9",
           .help = "PCIe generation of a GPU's slot (link class pcieN); default: the GPU type's"),
  CLU_NUM (CluPcieSpec, lanes, COUNT, .min = "1", .max = "32", .help = "lanes of a GPU's slot; default: the GPU type's"),
  CLU_NUM (CluPcieSpec, switch_per, COUNT, .max = "1024",
           .help = "GPUs behind one PCIe switch; 0: GPUs connect to the sockets; default: 0, or all GPUs if `bus` is given"),
  CLU_MAP (CluPcieSpec, uplink, width_schema, "link from switch to socket; default: as a GPU's slot"),
  CLU_ROW (CluPcieSpec, under_switch, STRS,
           .help = "devices below the same switches: `nics`, `nvme`; others connect to the sockets"),
  CLU_RATE (CluPcieSpec, bus,
            .help = "bandwidth shared by all traffic through one switch, both directions together; absent: non-blocking"),
  CLU_MAP (CluPcieSpec, link, clu_schema_link_spec, "changes to link class pcieN on slots and uplinks"),
  BASE_ROW_END,
};
static const BaseSchema pcie_schema = { .name = "node.pcie", .help = "PCI Express inside a node.", .fields = pcie_fields };

static const BaseField socket_fields[] = {
  CLU_NUM (CluSocketSpec, count, COUNT, .min = "1", .max = "64", .fallback = "1", .help = "CPU sockets"),
  CLU_MAP (CluSocketSpec, interconnect, clu_schema_link_spec, "link between each pair of sockets"),
  CLU_RATE (CluSocketSpec, peer,
            .help = "total rate at which drives and NICs of other sockets directly access one socket's GPUs (GPUDirect Storage); "
                    "default: from the interconnect's class"),
  CLU_RATE (CluSocketSpec, memory,
            .help = "memory bandwidth of one socket, shared by all copies to and from the host; absent: no bottleneck"),
  CLU_NUM (CluSocketSpec, memory_capacity, BYTES, .help = "memory of one socket"),
  CLU_NUM (CluSocketSpec, cores, COUNT, .min = "1", .max = "4096",
           .help = "CPU cores of one socket, shared by data loaders and reads through the host; absent: no bottleneck"),
  CLU_ROW (CluSocketSpec, vendor, ENUM, .names = cpu_names, .fallback = "intel",
           .help = "CPU vendor; Grace is `arm`; NCCL's constants depend on it"),
  CLU_MAP (CluSocketSpec, gpu_link, clu_schema_link_spec,
           "coherent link from a GPU to its CPU (NVLink-C2C); replaces PCIe as the path to the host"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_sockets = { .name = "node.sockets", .help = "CPU sockets and their memory.", .fields = socket_fields };

static const BaseField nics_fields[] = {
  CLU_ROW (CluNicsSpec, type, REF, .sub = &clu_schema_nic, .item_size = sizeof (CluNicSpec), .folder = "topologies/nics",
           .help = "NIC type"),
  CLU_NUM (CluNicsSpec, count, COUNT, .max = "1024", .help = "NICs per node; default: `per_gpu` x GPUs"),
  CLU_NUM (CluNicsSpec, per_gpu, NUMBER, .min = "0.0009", .max = "1024", .help = "NICs per GPU; default: `count` / GPUs"),
  CLU_RATE (CluNicsSpec, rate, .help = "port rate of one NIC, one direction; default: the type's"),
  CLU_ROW (CluNicsSpec, on, STRS,
           .help = "switches or sockets that the NICs connect to, divided evenly in this order: pcie_switch0, socket1 …; default: "
                   "all switches with `pcie.under_switch: [nics]`, else all sockets"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_nics = {
  .name = "node.nics", .help = "NICs connected to the fabric.", .fields = nics_fields, .scalar_key = "type"
};

static const BaseField nvme_fields[] = {
  CLU_NUM (CluLocalNvmeSpec, drives, COUNT, .min = "1", .max = "1024", .fallback = "1", .help = "drives per node"),
  CLU_ROW (CluLocalNvmeSpec, type, REF, .sub = &clu_schema_drive, .item_size = sizeof (CluDriveSpec),
           .folder = "topologies/storage", .required = TRUE, .help = "drive type"),
  CLU_NUM (CluLocalNvmeSpec, raid, COUNT, .fallback = "0", .help = "RAID level; only 0 (striped) is implemented"),
  CLU_ROW (
      CluLocalNvmeSpec, on, STRS,
      .help = "switches or sockets that the drives connect to, divided evenly in this order: pcie_switch0, socket1 …; default: all "
              "switches with `pcie.under_switch: [nvme]`, else all sockets"),
  BASE_ROW_END,
};
static const BaseSchema nvme_schema = { .name = "node.storage.local_nvme",
                                        .help = "Local NVMe drives of a node.",
                                        .fields = nvme_fields };
static const BaseField node_storage_fields[] = {
  CLU_MAP (CluNodeStorageSpec, local_nvme, nvme_schema, "local NVMe drives"),
  BASE_ROW_END,
};
static const BaseSchema node_storage_schema = { .name = "node.storage",
                                                .help = "Storage inside a node.",
                                                .fields = node_storage_fields };

static const BaseField gpus_fields[] = {
  CLU_ROW (CluGpusSpec, type, REF, .sub = &clu_schema_gpu, .item_size = sizeof (CluGpuSpec), .folder = "topologies/gpus",
           .required = TRUE, .help = "GPU type"),
  CLU_NUM (CluGpusSpec, count, COUNT, .min = "1", .max = "1024", .fallback = "8", .help = "GPUs per node"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_gpus = {
  .name = "node.gpus", .help = "The GPUs of a node.", .fields = gpus_fields, .scalar_key = "type"
};

/* The keys of a node, once for `node` and once for an entry of `overrides`. */
#define NODE_ROWS(T, at)                                                                             \
  BASE_ROW (T, "gpus", at gpus, MAP, .sub = &clu_schema_gpus, .help = "GPUs; required in `node`"),   \
      BASE_ROW (T, "nvlink", at nvlink, MAP, .sub = &clu_schema_nvlink, .help = "scale-up network"), \
      BASE_ROW (T, "pcie", at pcie, MAP, .sub = &pcie_schema, .help = "PCI Express"),                \
      BASE_ROW (T, "sockets", at sockets, MAP, .sub = &clu_schema_sockets, .help = "CPU sockets"),   \
      BASE_ROW (T, "nics", at nics, MAP, .sub = &clu_schema_nics, .help = "NICs on the fabric"),     \
      BASE_ROW (T, "storage", at storage, MAP, .sub = &node_storage_schema, .help = "local drives"), \
      BASE_ROW_NUM (T, "power", at power, POWER, .help = "power of the node without its GPUs")

static const BaseField node_fields[] = { NODE_ROWS (CluNodeSpec, ), BASE_ROW_END };
const BaseSchema clu_schema_node = { .name = "node", .help = "One node.", .fields = node_fields };

static const BaseField link_override_fields[] = {
  CLU_ROW (CluLinkOverride, from, STR, .required = TRUE, .help = "device of the node: gpu3, nic0, pcie_switch1, socket0, nvme2 …"),
  CLU_ROW (CluLinkOverride, to, STR, .required = TRUE,
           .help = "other end; `fabric` for a NIC's cable, `nvswitch` for a GPU's NVLinks"),
  CLU_LINK_ROWS (CluLinkOverride, link.),
  BASE_ROW_END,
};
static const BaseSchema link_override_schema = { .name = "overrides.links",
                                                 .help =
                                                     "A single link that differs, e.g. a slow cable or a slot at half its width.",
                                                 .fields = link_override_fields };
static const BaseField override_fields[] = {
  CLU_ROW (CluOverrideSpec, nodes, NODE, .required = TRUE, .help = "which nodes: 3, \"0-7\" or [1, 5, \"8-9\"]"),
  CLU_LIST (CluOverrideSpec, links, link_override_schema, CluLinkOverride, "single links that differ"),
  NODE_ROWS (CluOverrideSpec, node.),
  BASE_ROW_END,
};
const BaseSchema clu_schema_override = { .name = "overrides",
                                         .help =
                                             "An entry of `overrides`: nodes that differ in any key of a node. Later entries win. "
                                             "Of several GPU types in one job the slowest sets the pace.",
                                         .fields = override_fields };

static const BaseField tier_fields[] = {
  CLU_ROW (CluTierSpec, type, REF, .sub = &clu_schema_switch, .item_size = sizeof (CluSwitchSpec), .folder = "topologies/switches",
           .help = "switch type"),
  CLU_NUM (CluTierSpec, radix, COUNT, .min = "1", .max = "65536", .help = "ports per switch; default: the type's"),
  CLU_NUM (CluTierSpec, latency, TIME, .max = "1 s",
           .help = "latency of one crossing, added to the cables'; default: the type's, else 0"),
  BASE_ROW_END,
};
static const BaseSchema tier_schema = {
  .name = "fabric.leaf",
  .help = "The switches of one level. `spine` and `core` take the same keys; their default is the level below.",
  .fields = tier_fields,
  .scalar_key = "type"
};

static const BaseField level_fields[] = {
  CLU_NUM (CluLevelSpec, down, COUNT, .required = TRUE, .min = "1", .max = "1048576",
           .help = "ports per switch to the level below"),
  CLU_NUM (CluLevelSpec, up, COUNT, .min = "1", .max = "1048576", .help = "ports per switch to the level above; absent at the top"),
  CLU_NUM (CluLevelSpec, parallel, COUNT, .min = "1", .max = "65536", .fallback = "1",
           .help = "parallel cables between a switch and each switch above it"),
  BASE_ROW_END,
};
static const BaseSchema level_schema = { .name = "fabric.levels",
                                         .help = "One level of a fat tree, from the leaf up.",
                                         .fields = level_fields };

static const BaseField dragonfly_fields[] = {
  CLU_NUM (CluDragonflySpec, groups, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "groups"),
  CLU_NUM (CluDragonflySpec, routers, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "routers per group"),
  CLU_NUM (CluDragonflySpec, hosts, COUNT, .required = TRUE, .min = "1", .max = "65536", .help = "NIC ports per router"),
  CLU_NUM (CluDragonflySpec, global_links, COUNT, .min = "1", .max = "65536",
           .help = "cables from one router to other groups; required with more than one group"),
  BASE_ROW_END,
};
static const BaseSchema dragonfly_schema = { .name = "fabric.dragonfly",
                                             .help = "Shape of a dragonfly.",
                                             .fields = dragonfly_fields };

static const BaseField custom_switch_fields[] = {
  CLU_ROW (CluCustomSwitch, name, STR, .required = TRUE, .help = "name"),
  CLU_NUM (CluCustomSwitch, latency, TIME, .max = "1 s", .fallback = "0", .help = "latency of one crossing, added to the cables'"),
  BASE_ROW_END,
};
static const BaseSchema custom_switch_schema = {
  .name = "fabric.switches", .help = "A switch of a custom fabric.", .fields = custom_switch_fields, .scalar_key = "name"
};
static const BaseField custom_link_fields[] = {
  CLU_ROW (CluCustomLink, from, STR, .required = TRUE, .help = "a switch's name or \"node3.nic0\"; a range: \"node[0-7].nic0\""),
  CLU_ROW (CluCustomLink, to, STR, .required = TRUE,
           .help = "other end; two ranges of equal length are connected pairwise, one end connects to all of a range"),
  CLU_NUM (CluCustomLink, count, COUNT, .min = "1", .max = "1024", .fallback = "1", .help = "parallel cables"),
  CLU_LINK_ROWS (CluCustomLink, link.),
  BASE_ROW_END,
};
static const BaseSchema custom_link_schema = {
  .name = "fabric.links",
  .help = "Cables of a custom fabric. The keys of a link describe the cable; default: the NIC's port.",
  .fields = custom_link_fields
};

static const BaseField fabric_sharp_fields[] = {
  CLU_ROW (CluFabricSharp, offered, BOOL, .help = "the switches reduce; default: from the leaf's type"),
  CLU_NUM (CluFabricSharp, jobs, COUNT, .max = "1000000", .fallback = "0",
           .help = "other jobs that reduce in the same switches, each with as many trees as this one"),
  BASE_ROW_END,
};
static const BaseSchema fabric_sharp_schema = { .name = "fabric.sharp",
                                                .help = "In-network reduction in the fabric's switches.",
                                                .fields = fabric_sharp_fields,
                                                .scalar_key = "offered" };

static const BaseField fabric_fields[] = {
  CLU_ROW (CluFabricSpec, kind, ENUM, .names = clu_fabric_names, .required = TRUE, .help = "shape"),
  CLU_MAP (CluFabricSpec, leaf, tier_schema, "switches that NICs connect to (or the only switch, or a router)"),
  CLU_MAP (CluFabricSpec, spine, tier_schema, "second level; default: as `leaf`"),
  CLU_MAP (CluFabricSpec, core, tier_schema, "third level and above; default: as `spine`"),
  CLU_ROW (CluFabricSpec, oversubscription, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "65536",
           .help = "ratio of downlink to uplink bandwidth per level, from the leaf up; the last value repeats; default 1"),
  CLU_LIST (CluFabricSpec, levels, level_schema, CluLevelSpec,
            "explicit levels of a tree, from the leaf up, instead of `radix` and `oversubscription`"),
  CLU_NUM (CluFabricSpec, pod, COUNT, .min = "1", .max = "1000000",
           .help =
               "rail-optimised: nodes per pod (scalable unit); default: the leaf's down ports, which are half its radix at 1:1"),
  CLU_ROW (CluFabricSpec, dims, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .max = "1000000",
           .help = "torus: nodes along each dimension"),
  CLU_MAP (CluFabricSpec, dragonfly, dragonfly_schema, "shape of a dragonfly"),
  CLU_LIST (CluFabricSpec, switches, custom_switch_schema, CluCustomSwitch, "custom: switches"),
  CLU_LIST (CluFabricSpec, links, custom_link_schema, CluCustomLink, "custom: cables"),
  CLU_MAP (CluFabricSpec, link, clu_schema_link_spec, "cables between switches; default: the NIC's port"),
  CLU_ROW (CluFabricSpec, routing, ENUM, .names = clu_routing_names, .fallback = "static",
           .help = "selection among equal-cost paths"),
  CLU_NUM (CluFabricSpec, seed, COUNT, .help = "seed of the ECMP hash; default: the run's"),
  CLU_MAP (CluFabricSpec, sharp, fabric_sharp_schema, "in-network reduction; default: from the leaf's type"),
  BASE_ROW_END,
};
static const BaseSchema fabric_schema = {
  .name = "fabric", .help = "The network between the nodes' NICs.", .fields = fabric_fields, .scalar_key = "kind"
};

static const BaseField dpu_fields[] = {
  CLU_RATE (CluDpuSpec, rate, .help = "bytes per second that it moves in each direction; default: `rate` of the network"),
  CLU_NUM (CluDpuSpec, latency, TIME, .max = "1 s", .fallback = "0", .help = "time that it adds to each storage request"),
  BASE_ROW_END,
};
static const BaseSchema dpu_schema = { .name = "frontend.dpu",
                                       .help =
                                           "A DPU (BlueField and the like) as each node's front-end NIC: it runs the protocol of "
                                           "storage, so that no core of the host does.",
                                       .fields = dpu_fields,
                                       .scalar_key = "rate" };

static const BaseField frontend_fields[] = {
  CLU_RATE (CluFrontendSpec, rate, .required = TRUE, .help = "NIC of a node on the front-end network, one direction"),
  CLU_ROW (CluFrontendSpec, kind, ENUM, .names = frontend_names, .fallback = "single_switch", .help = "shape"),
  CLU_NUM (CluFrontendSpec, latency, TIME, .max = "1 s", .fallback = "0", .help = "latency from NIC to NIC or storage server"),
  CLU_ROW (CluFrontendSpec, oversubscription, NUMS, .dim = BASE_DIM_NUMBER, .min = "0.001", .max = "65536",
           .help = "sum of all NIC rates over core bandwidth; several levels multiply; default 1"),
  CLU_ROW (CluFrontendSpec, gpudirect, BOOL, .fallback = "false",
           .help = "its NICs access GPU memory (RDMA), so that GPUDirect Storage works over it"),
  CLU_MAP (CluFrontendSpec, dpu, dpu_schema,
           "a DPU in each node that carries the protocol of storage; default: cores of the host do"),
  BASE_ROW_END,
};
static const BaseSchema frontend_schema = {
  .name = "frontend",
  .help = "The network for storage and checkpoints: one switch, with a shared core capacity if oversubscribed.",
  .fields = frontend_fields,
  .scalar_key = "rate"
};

static const BaseField cost_fields[] = {
  CLU_NUM (CluCostSpec, node, MONEY, .help = "one node with its GPUs"),
  CLU_NUM (CluCostSpec, nic_port, MONEY, .help = "one NIC port"),
  CLU_NUM (CluCostSpec, switch_port, MONEY, .help = "one switch port"),
  CLU_NUM (CluCostSpec, cable, MONEY, .help = "one cable"),
  CLU_NUM (CluCostSpec, rent, MONEY_PER_TIME, .help = "rent of one node"),
  CLU_NUM (CluCostSpec, power, MONEY_PER_ENERGY, .help = "price of electricity"),
  BASE_ROW_END,
};
static const BaseSchema cost_schema = { .name = "cost", .help = "Prices.", .fields = cost_fields };

static const BaseField domain_fields[] = {
  CLU_NUM (CluDomainSpec, nodes, COUNT, .required = TRUE, .min = "1", .max = "1000000",
           .help = "nodes that share one NVLink switch (18 in an NVL72)"),
  CLU_NUM (CluDomainSpec, taper, RATIO, .min = "0.001", .max = "1", .fallback = "1",
           .help = "fraction of a node's NVLinks that leave it, shared by its GPUs (50 % with NVLink Network)"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_domain = { .name = "nvlink_domain",
                                       .help = "An NVLink domain wider than a node; `node` is the default.",
                                       .fields = domain_fields };

static const BaseField topology_fields[] = {
  BASE_ROW (CluSpec, "topology", name, STR, .required = TRUE, .help = "name"),
  CLU_ROW (CluSpec, description, STR, .help = "one line for `forerun list`"),
  CLU_NUM (CluSpec, nodes, COUNT, .min = "1", .max = "1000000", .fallback = "1", .help = "number of nodes"),
  CLU_ROW (CluSpec, node, MAP, .sub = &clu_schema_node, .help = "the node; required without `gpus`"),
  CLU_ROW (CluSpec, gpus, NODE, .help = "[short form](#short-form): GPUs, as in [node.gpus](#nodegpus)"),
  CLU_ROW (CluSpec, nics, NODE, .help = "[short form](#short-form): NICs, as in [node.nics](#nodenics)"),
  CLU_ROW (CluSpec, overrides, NODE, .help = "list of nodes that differ: see [overrides](#overrides)"),
  CLU_ROW (CluSpec, nvlink_domain, NODE, .help = "`node` (default) or {nodes: 18}: see [nvlink_domain](#nvlink_domain)"),
  CLU_MAP (CluSpec, fabric, fabric_schema, "network between the nodes; required with more than one node"),
  CLU_MAP (CluSpec, frontend, frontend_schema, "network for storage and checkpoints; absent: none"),
  CLU_RATE (CluSpec, management, .fallback = "1 Gb/s", .help = "NIC of a node on the out-of-band network, which is one switch"),
  CLU_LIST (CluSpec, storage, clu_schema_storage, CluStorageSpec, "storage tiers outside the nodes"),
  CLU_MAP (CluSpec, cost, cost_schema, "prices"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_topology = { .name = "topology",
                                         .help = "A cluster: the node, the number of nodes, the networks.",
                                         .fields = topology_fields };
