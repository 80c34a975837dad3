/* The keys of a scenario file. */
#include "scenario/loaded.h"

static const BaseName library_names[] = {
  { "nccl", 0, "the vendor's collective library, with its software costs" },
  { "plain", 1, "textbook algorithms on the links' latency and rate alone" },
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
static const BaseName numa_names[] = { { "local", 0, "buffers and NIC on the GPU's socket" },
                                       { "remote", 1, "on the other socket" },
                                       { NULL, 0, NULL } };

static const BaseField cluster_fields[] = {
  BASE_ROW (ScnClusterSpec, "topology", topology, NODE, .required = TRUE,
            .help = "a topology's name or path, or a topology written here"),
  BASE_ROW_NUM (ScnClusterSpec, "nodes", nodes, COUNT, .min = "1", .max = "1000000",
                .help = "how many nodes; default: as the topology says"),
  BASE_ROW_NUM (ScnClusterSpec, "gpus_per_node", gpus_per_node, COUNT, .min = "1", .max = "1024",
                .help = "uses fewer GPUs of each node; default: all"),
  BASE_ROW (ScnClusterSpec, "calibration", calibration, STR,
            .help = "a calibration's name or path; default: the one named like the GPU type, if shipped"),
  BASE_ROW (ScnClusterSpec, "library", library, ENUM, .names = library_names, .fallback = "nccl", .help = "whose collectives"),
  BASE_ROW (ScnClusterSpec, "launch", launch, ENUM, .names = mdl_launch_names, .fallback = "threads",
            .help = "how operations reach the GPUs"),
  BASE_ROW_END,
};
static const BaseSchema cluster_schema = { .name = "cluster", .help = "Which machine the work runs on.", .fields = cluster_fields };

static const BaseField scenario_fields[] = {
  BASE_ROW (ScnSpec, "scenario", name, STR, .required = TRUE, .help = "its name"),
  BASE_ROW (ScnSpec, "description", description, STR, .help = "one line for people"),
  BASE_ROW (ScnSpec, "cluster", cluster, MAP, .sub = &cluster_schema, .required = TRUE, .help = "which machine"),
  BASE_ROW (ScnSpec, "workload", workload, NODE, .help = "what it does: a mapping with `kind`; or `jobs`"),
  BASE_ROW (ScnSpec, "jobs", jobs, NODE, .help = "several workloads at the same time: a list, see [jobs](#jobs)"),
  BASE_ROW (ScnSpec, "nccl", nccl, NODE, .help = "NCCL's variables under their own names"),
  BASE_ROW (ScnSpec, "degrade", degrade, NODE, .help = "a list of what is switched off"),
  BASE_ROW (ScnSpec, "report", report, NODE, .help = "what to write beside the answer"),
  BASE_ROW_NUM (ScnSpec, "seed", seed, COUNT, .fallback = "1", .help = "of everything random; --seed wins"),
  BASE_ROW (ScnSpec, "background", background, NODE, .help = "other people's traffic on the fabric, see [background](#background)"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_scenario = { .name = "scenario",
                                         .help = "A scenario file: a cluster and what it does.",
                                         .fields = scenario_fields };

static const BaseField degrade_fields[] = {
  BASE_ROW (ScnDegradeSpec, "rdma", rdma, BOOL, .fallback = "on", .help = "off: TCP over the same adapters"),
  BASE_ROW (ScnDegradeSpec, "gdr", gdr, BOOL, .fallback = "on", .help = "off: RDMA staged in host memory"),
  BASE_ROW (ScnDegradeSpec, "p2p", p2p, BOOL, .fallback = "on", .help = "off: GPUs of a node talk through host memory"),
  BASE_ROW (ScnDegradeSpec, "backend", backend, ENUM, .names = backend_names, .fallback = "nccl",
            .help = "gloo: on the CPU, over TCP"),
  BASE_ROW (ScnDegradeSpec, "network", network, ENUM, .names = network_names, .fallback = "fabric",
            .help = "which network carries the traffic between nodes"),
  BASE_ROW_NUM (ScnDegradeSpec, "nics", nics, COUNT, .min = "1", .max = "1024", .help = "only the first so many of each node"),
  BASE_ROW (ScnDegradeSpec, "numa", numa, ENUM, .names = numa_names, .fallback = "local",
            .help = "remote: host buffers and NIC on the other socket"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_degrade = { .name = "degrade",
                                        .help = "Something that does not work as it should.",
                                        .fields = degrade_fields };

static const BaseField report_fields[] = {
  BASE_ROW (ScnReportSpec, "trace", trace, BOOL, .fallback = "false",
            .help = "no effect: files are written only where a flag names them (`run --trace FILE`)"),
  BASE_ROW (
      ScnReportSpec, "plots", plots, STRS,
      .help =
          "pictures that `run --plot` and `--report` draw, of `breakdown`, `timeline`, `memory`, `links`, `goodput`, `tornado`; "
          "default: all there are"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_report = { .name = "report", .help = "What to write beside the answer.", .fields = report_fields };
