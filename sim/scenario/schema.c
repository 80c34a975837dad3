/* The keys of a scenario file. */
#include "scenario/loaded.h"

static const BaseName library_names[] = {
  { "nccl", 0, "NCCL (or the vendor's library), with its software costs" },
  { "plain", 1, "textbook algorithms; only latency and rate of the links count" },
  { NULL, 0, NULL },
};
static const BaseName backend_names[] = { { "nccl", 0, "GPU collectives" },
                                          { "gloo", 1, "collectives on the CPU over TCP" },
                                          { NULL, 0, NULL } };
static const BaseName network_names[] = {
  { "fabric", 0, "the back-end network" },
  { "frontend", 1, "the front-end network" },
  { "management", 2, "the out-of-band network" },
  { NULL, 0, NULL },
};
static const BaseName numa_names[] = { { "local", 0, "host buffers and NIC on the GPU's socket" },
                                       { "remote", 1, "host buffers and NIC on the other socket" },
                                       { NULL, 0, NULL } };

static const BaseName affinity_names[] = { { "near", 0, "cores near each GPU" },
                                           { "one_core", 1, "all NCCL threads of a node share one core" },
                                           { NULL, 0, NULL } };
static const BaseName container_names[] = { { "full", 0, "all devices" },
                                            { "no_devices", 1, "no RDMA devices: NCCL uses TCP without an error" },
                                            { NULL, 0, NULL } };

static const BaseField cluster_fields[] = {
  BASE_ROW (ScnClusterSpec, "topology", topology, NODE, .required = TRUE,
            .help = "a topology's name, its path, or the topology itself"),
  BASE_ROW_NUM (ScnClusterSpec, "nodes", nodes, COUNT, .min = "1", .max = "1000000",
                .help = "number of nodes; default: the topology's"),
  BASE_ROW_NUM (ScnClusterSpec, "gpus_per_node", gpus_per_node, COUNT, .min = "1", .max = "1024",
                .help = "GPUs used of each node; default: all"),
  BASE_ROW (ScnClusterSpec, "calibration", calibration, STR,
            .help = "name or path of a calibration; default: the one named like the GPU type, if shipped"),
  BASE_ROW (ScnClusterSpec, "library", library, ENUM, .names = library_names, .fallback = "nccl", .help = "collective library"),
  BASE_ROW (ScnClusterSpec, "launch", launch, ENUM, .names = mdl_launch_names, .fallback = "threads",
            .help = "how operations are launched on the GPUs"),
  BASE_ROW_END,
};
static const BaseSchema cluster_schema = { .name = "cluster",
                                           .help = "The hardware that runs the workload.",
                                           .fields = cluster_fields };

static const BaseField scenario_fields[] = {
  BASE_ROW (ScnSpec, "scenario", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW (ScnSpec, "description", description, STR, .help = "one line"),
  BASE_ROW (ScnSpec, "cluster", cluster, MAP, .sub = &cluster_schema, .required = TRUE, .help = "the hardware"),
  BASE_ROW (ScnSpec, "workload", workload, NODE, .help = "a mapping with `kind`; or `jobs`"),
  BASE_ROW (ScnSpec, "jobs", jobs, NODE, .help = "[list of concurrent workloads](#jobs)"),
  BASE_ROW (ScnSpec, "nccl", nccl, NODE, .help = "[NCCL's variables](#nccl)"),
  BASE_ROW (ScnSpec, "degrade", degrade, NODE, .help = "[list of parts that are off or degraded](#degrade)"),
  BASE_ROW (ScnSpec, "report", report, NODE, .help = "[plots to draw](#report)"),
  BASE_ROW_NUM (ScnSpec, "seed", seed, COUNT, .fallback = "1", .help = "seed of all random draws; `--seed` overrides it"),
  BASE_ROW (ScnSpec, "background", background, NODE, .help = "[traffic of other users](#background) on the fabric"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_scenario = { .name = "scenario", .help = "A cluster and its workload.", .fields = scenario_fields };

static const BaseField degrade_fields[] = {
  BASE_ROW (ScnDegradeSpec, "rdma", rdma, BOOL, .fallback = "on", .help = "off: TCP over the same NICs"),
  BASE_ROW (ScnDegradeSpec, "gdr", gdr, BOOL, .fallback = "on", .help = "off: RDMA through host memory, no GPUDirect RDMA"),
  BASE_ROW (ScnDegradeSpec, "p2p", p2p, BOOL, .fallback = "on", .help = "off: GPUs of a node communicate through host memory"),
  BASE_ROW (ScnDegradeSpec, "backend", backend, ENUM, .names = backend_names, .fallback = "nccl", .help = "collective backend"),
  BASE_ROW (ScnDegradeSpec, "network", network, ENUM, .names = network_names, .fallback = "fabric",
            .help = "network between nodes"),
  BASE_ROW_NUM (ScnDegradeSpec, "nics", nics, COUNT, .min = "1", .max = "1024", .help = "NICs used of each node, from the first"),
  BASE_ROW (ScnDegradeSpec, "numa", numa, ENUM, .names = numa_names, .fallback = "local",
            .help = "placement of host buffers and NIC"),
  BASE_ROW (ScnDegradeSpec, "container", container, ENUM, .names = container_names, .fallback = "full",
            .help = "what a container sees of the node"),
  BASE_ROW_NUM (ScnDegradeSpec, "cores", cores, COUNT, .min = "1", .max = "4096",
                .help = "cores of each node that the job may use, as a container or Slurm limits them"),
  BASE_ROW (ScnDegradeSpec, "affinity", affinity, ENUM, .names = affinity_names, .fallback = "near",
            .help = "where NCCL's threads run"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_degrade = { .name = "degrade",
                                        .help = "Each item of the list may set some of these keys.",
                                        .fields = degrade_fields };

static const BaseField report_fields[] = {
  BASE_ROW (ScnReportSpec, "trace", trace, BOOL, .fallback = "false", .help = "no effect; use `run --trace`"),
  BASE_ROW (
      ScnReportSpec, "plots", plots, STRS,
      .help =
          "plots for `run --plot` and `--report`: `breakdown`, `timeline`, `memory`, `links`, `goodput`, `tornado`; default: all"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_report = { .name = "report", .help = "Plots.", .fields = report_fields };
