/* Schema tables of the parts that a topology names: link classes, GPUs, NICs, switches, drives. docs/topology.md is printed from
 * these rows and those of topology.c. */
#include "spec/spec-private.h"

#define AS_NAME(constant, name, reduces, help) { #name, CLU_FAMILY_##constant, help },
const BaseName clu_family_names[] = { CLU_FAMILIES (AS_NAME){ NULL, 0, NULL } };

gboolean
clu_family_may_reduce (CluFamily family)
{
#define AS_REDUCES(constant, name, reduces, help) reduces,
  static const gboolean may[] = { CLU_FAMILIES (AS_REDUCES) };
  g_return_val_if_fail ((unsigned)family < CLU_FAMILY_N, FALSE);
  return may[family];
}

static const BaseName vendor_names[] = {
  { "nvidia", CLU_VENDOR_NVIDIA, "NVIDIA" }, { "amd", CLU_VENDOR_AMD, "AMD" },       { "intel", CLU_VENDOR_INTEL, "Intel" },
  { "aws", CLU_VENDOR_AWS, "AWS" },          { "other", CLU_VENDOR_OTHER, "other" }, { NULL, 0, NULL },
};

static const BaseField link_class_fields[] = {
  BASE_ROW (CluLinkClass, "link_class", name, STR, .help = "name of the class", .required = TRUE),
  BASE_ROW (CluLinkClass, "summary", summary, STR, .help = "one line for lists"),
  BASE_ROW (CluLinkClass, "family", family, ENUM, .names = clu_family_names, .help = "kind of link", .fallback = "bus"),
  CLU_RATE (CluLinkClass, "lane_rate", lane_rate, .help = "one lane, NVLink or port, one way, as specified"),
  BASE_ROW_NUM (CluLinkClass, "lanes", lanes, NUMBER, .min = "0.001", .max = "65536", .fallback = "1",
                .help = "how many are usual"),
  BASE_ROW_NUM (CluLinkClass, "efficiency", efficiency, RATIO, .min = "0.001", .max = "1", .fallback = "1",
                .help = "what a large DMA (copy engine, RDMA) reaches of the specification"),
  BASE_ROW_NUM (CluLinkClass, "sm_efficiency", sm_efficiency, RATIO, .min = "0.001", .max = "1",
                .help = "what a kernel's loads and stores reach; default: efficiency"),
  BASE_ROW_NUM (CluLinkClass, "latency", latency, TIME, .max = "1 s", .fallback = "0",
                .help = "one crossing of the link and what stands at its far end"),
  BASE_ROW_NUM (CluLinkClass, "duplex", duplex, RATIO, .min = "0.1", .max = "1", .fallback = "1",
                .help = "both ways together over twice one way: 1 full duplex, 0.5 one shared medium"),
  CLU_RATE (CluLinkClass, "peer", peer,
            .help =
                "between sockets: what drives and adapters of other sockets read or write of one socket's GPUs straight (GPUDirect "
                "Storage); default: no limit but the link"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_link_class = {
  .name = "link_class",
  .help = "A class of links: what it is specified for, what is reached of it. One file a class in topologies/links.",
  .fields = link_class_fields,
};

static const BaseField link_spec_fields[] = { CLU_LINK_ROWS (CluLinkSpec, ), BASE_ROW_END };
const BaseSchema clu_schema_link_spec = {
  .name = "link",
  .help = "A link where it is used: a class, and what differs from it. A bare name is the class.",
  .fields = link_spec_fields,
  .scalar_key = "class",
};

static const BaseField peak_fields[] = {
  BASE_ROW_NUM (CluPeaks, "fp64", fp64, FLOP_RATE, .help = "dense, tensor cores where there are any"),
  BASE_ROW_NUM (CluPeaks, "fp32", fp32, FLOP_RATE, .help = "dense"),
  BASE_ROW_NUM (CluPeaks, "tf32", tf32, FLOP_RATE, .help = "dense"),
  BASE_ROW_NUM (CluPeaks, "fp16", fp16, FLOP_RATE, .help = "dense"),
  BASE_ROW_NUM (CluPeaks, "bf16", bf16, FLOP_RATE, .help = "dense"),
  BASE_ROW_NUM (CluPeaks, "fp8", fp8, FLOP_RATE, .help = "dense"),
  BASE_ROW_NUM (CluPeaks, "int8", int8, FLOP_RATE, .help = "dense, operations a second"),
  BASE_ROW_NUM (CluPeaks, "fp4", fp4, FLOP_RATE, .help = "dense"),
  BASE_ROW_END,
};
static const BaseSchema peak_schema = { .name = "gpu.peak", .help = "Dense peak rates by number format.", .fields = peak_fields };

static const BaseField gpu_fields[] = {
  BASE_ROW (CluGpuSpec, "gpu", name, STR, .required = TRUE, .help = "name of the type"),
  BASE_ROW (CluGpuSpec, "product", product, STR, .help = "the vendor's name"),
  BASE_ROW (CluGpuSpec, "vendor", vendor, ENUM, .names = vendor_names, .fallback = "nvidia", .help = "who makes it"),
  BASE_ROW_NUM (CluGpuSpec, "compute_capability", compute_capability, COUNT, .help = "90 for sm_90; absent elsewhere"),
  BASE_ROW_NUM (CluGpuSpec, "compute_units", compute_units, COUNT, .help = "SMs, CUs, TPCs, NeuronCores"),
  BASE_ROW_NUM (CluGpuSpec, "memory", memory, BYTES, .min = "1 B", .help = "device memory"),
  BASE_ROW_NUM (CluGpuSpec, "memory_usable", memory_usable, BYTES, .min = "1 B",
                .help = "of it, what the driver leaves to programs; default: all"),
  CLU_RATE (CluGpuSpec, "memory_bandwidth", memory_bandwidth, .help = "read and write together, as specified"),
  BASE_ROW_NUM (CluGpuSpec, "memory_efficiency", memory_efficiency, RATIO, .min = "0.001", .max = "1",
                .help = "reached over specified"),
  BASE_ROW (CluGpuSpec, "peak", peak, MAP, .sub = &peak_schema, .help = "dense peak rates"),
  BASE_ROW (CluGpuSpec, "scale_up", scale_up, MAP, .sub = &clu_schema_link_spec, .help = "all scale-up links of one GPU together"),
  BASE_ROW (CluGpuSpec, "pcie", pcie, MAP, .sub = &clu_schema_link_spec, .help = "its slot, to a PCIe switch or a socket"),
  BASE_ROW_NUM (CluGpuSpec, "power", power, POWER, .help = "board power at load"),
  BASE_ROW_NUM (CluGpuSpec, "idle_power", idle_power, POWER, .help = "board power when idle"),
  BASE_ROW_NUM (CluGpuSpec, "price", price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_gpu = { .name = "gpu",
                                    .help = "A GPU or other accelerator. One file a type in topologies/gpus.",
                                    .fields = gpu_fields };

static const BaseField nic_fields[] = {
  BASE_ROW (CluNicSpec, "nic", name, STR, .required = TRUE, .help = "name of the type"),
  BASE_ROW (CluNicSpec, "product", product, STR, .help = "the vendor's name"),
  BASE_ROW (CluNicSpec, "port", port, MAP, .sub = &clu_schema_link_spec, .required = TRUE,
            .help = "the wire, one way; all ports of the adapter together"),
  BASE_ROW (CluNicSpec, "pcie", pcie, MAP, .sub = &clu_schema_link_spec,
            .help = "to its PCIe switch or socket; absent: the adapter is part of the GPU (Gaudi)"),
  BASE_ROW (CluNicSpec, "rdma", rdma, BOOL, .fallback = "true", .help = "remote memory access without the CPU; else TCP"),
  BASE_ROW (CluNicSpec, "gpudirect", gpudirect, BOOL, .fallback = "true",
            .help = "reads and writes GPU memory; else staged in the host"),
  BASE_ROW_NUM (CluNicSpec, "power", power, POWER, .help = "of the adapter"),
  BASE_ROW_NUM (CluNicSpec, "price", price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_nic = { .name = "nic",
                                    .help = "A network adapter. One file a type in topologies/nics.",
                                    .fields = nic_fields };

const BaseName clu_sharp_stream_names[] = {
  { "none", CLU_SHARP_STREAM_NONE, "no streaming: short messages alone, which NCCL does not use" },
  { "switch", CLU_SHARP_STREAM_SWITCH, "one streaming tree at a time in a switch" },
  { "port", CLU_SHARP_STREAM_PORT, "one streaming tree at a time on a port" },
  { NULL, 0, NULL },
};

static const BaseField sharp_fields[] = {
  BASE_ROW (CluSharpSpec, "offered", offered, BOOL, .help = "reduces in the network; default: yes where another key is given"),
  BASE_ROW_NUM (CluSharpSpec, "generation", generation, COUNT, .min = "1", .max = "9", .help = "of SHARP"),
  BASE_ROW (CluSharpSpec, "stream", stream, ENUM, .names = clu_sharp_stream_names,
            .help = "where one tree that streams long messages may be active at a time; default: any number"),
  BASE_ROW_NUM (CluSharpSpec, "trees", trees, COUNT, .min = "1", .max = "65536",
                .help = "streaming trees in a subnet; default: any number"),
  BASE_ROW_NUM (CluSharpSpec, "radix", radix, COUNT, .min = "2", .max = "65536",
                .help = "children that a switch adds for one tree; default: any number"),
  BASE_ROW_NUM (CluSharpSpec, "rate", rate, NUMBER, .min = "0.001", .max = "1",
                .help = "share of what a link reaches, as it reduces; default: all"),
  BASE_ROW (CluSharpSpec, "small_types", small_types, BOOL, .help = "adds bf16 and int8; default: yes"),
  BASE_ROW_END,
};
static const BaseSchema sharp_schema = { .name = "switch.sharp",
                                         .help = "What a switch that reduces in the network can do (SHARP).",
                                         .fields = sharp_fields,
                                         .scalar_key = "offered" };

static const BaseField switch_fields[] = {
  BASE_ROW (CluSwitchSpec, "switch", name, STR, .required = TRUE, .help = "name of the type"),
  BASE_ROW (CluSwitchSpec, "product", product, STR, .help = "the vendor's name"),
  BASE_ROW_NUM (CluSwitchSpec, "radix", radix, COUNT, .min = "1", .max = "65536", .help = "ports"),
  CLU_RATE (CluSwitchSpec, "port_rate", port_rate, .help = "of one port, one way"),
  BASE_ROW_NUM (CluSwitchSpec, "latency", latency, TIME, .max = "1 s", .help = "port to port"),
  BASE_ROW (CluSwitchSpec, "sharp", sharp, MAP, .sub = &sharp_schema, .help = "reduces in the network, and within which limits"),
  BASE_ROW_NUM (CluSwitchSpec, "power", power, POWER, .help = "of the switch"),
  BASE_ROW_NUM (CluSwitchSpec, "price", price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_switch = { .name = "switch",
                                       .help = "A network switch. One file a type in topologies/switches.",
                                       .fields = switch_fields };

static const BaseField drive_fields[] = {
  BASE_ROW (CluDriveSpec, "drive", name, STR, .required = TRUE, .help = "name of the type"),
  BASE_ROW (CluDriveSpec, "product", product, STR, .help = "the vendor's name"),
  BASE_ROW_NUM (CluDriveSpec, "capacity", capacity, BYTES, .help = "of one drive"),
  CLU_RATE (CluDriveSpec, "read", read, .help = "sequential read"),
  CLU_RATE (CluDriveSpec, "write", write, .help = "sequential write; default: read"),
  BASE_ROW_NUM (CluDriveSpec, "read_iops", read_iops, FREQUENCY, .help = "random reads a second"),
  BASE_ROW_NUM (CluDriveSpec, "write_iops", write_iops, FREQUENCY, .help = "random writes a second"),
  BASE_ROW_NUM (CluDriveSpec, "latency", latency, TIME, .max = "10 s", .help = "of a read"),
  BASE_ROW_NUM (CluDriveSpec, "write_latency", write_latency, TIME, .max = "10 s", .help = "of a write; default: `latency`"),
  CLU_RATE (CluDriveSpec, "read_stream", read_stream, .help = "one read at a time, beyond its latency; default: `read`"),
  CLU_RATE (CluDriveSpec, "write_stream", write_stream, .help = "one write at a time; default: `write`"),
  BASE_ROW_NUM (CluDriveSpec, "blend", blend, NUMBER, .min = "1", .max = "16",
                .help = "how sharply a request's own time gives way to the drive's; default: the calibration's"),
  BASE_ROW (CluDriveSpec, "pcie", pcie, MAP, .sub = &clu_schema_link_spec,
            .help = "to its PCIe switch or socket; default: as fast as it reads"),
  BASE_ROW_NUM (CluDriveSpec, "power", power, POWER, .help = "of the drive"),
  BASE_ROW_NUM (CluDriveSpec, "price", price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_drive = { .name = "drive",
                                      .help = "A drive. One file a type in topologies/storage.",
                                      .fields = drive_fields };
