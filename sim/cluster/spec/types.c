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
  CLU_ROW (CluLinkClass, summary, STR, .help = "one line for lists"),
  CLU_ROW (CluLinkClass, family, ENUM, .names = clu_family_names, .help = "kind of link", .fallback = "bus"),
  CLU_RATE (CluLinkClass, lane_rate, .help = "one lane, NVLink or port, one way, as specified"),
  CLU_NUM (CluLinkClass, lanes, NUMBER, .min = "0.001", .max = "65536", .fallback = "1", .help = "how many are usual"),
  CLU_NUM (CluLinkClass, efficiency, RATIO, .min = "0.001", .max = "1", .fallback = "1",
           .help = "what a large DMA (copy engine, RDMA) reaches of the specification"),
  CLU_NUM (CluLinkClass, sm_efficiency, RATIO, .min = "0.001", .max = "1",
           .help = "what a kernel's loads and stores reach; default: efficiency"),
  CLU_NUM (CluLinkClass, latency, TIME, .max = "1 s", .fallback = "0",
           .help = "one crossing of the link and what stands at its far end"),
  CLU_NUM (CluLinkClass, duplex, RATIO, .min = "0.1", .max = "1", .fallback = "1",
           .help = "both ways together over twice one way: 1 full duplex, 0.5 one shared medium"),
  CLU_RATE (CluLinkClass, peer,
            .help =
                "between sockets: what drives and adapters of other sockets read or write of one socket's GPUs straight (GPUDirect "
                "Storage); default: no limit but the link"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_link_class = {
  "link_class", "A class of links: what it is specified for, what is reached of it. One file a class in topologies/links.",
  link_class_fields, NULL
};

static const BaseField link_spec_fields[] = { CLU_LINK_ROWS (CluLinkSpec, ), BASE_ROW_END };
const BaseSchema clu_schema_link_spec = { "link",
                                          "A link where it is used: a class, and what differs from it. A bare name is the class.",
                                          link_spec_fields, "class" };

static const BaseField peak_fields[] = {
  CLU_NUM (CluPeaks, fp64, FLOP_RATE, .help = "dense, tensor cores where there are any"),
  CLU_NUM (CluPeaks, fp32, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, tf32, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, fp16, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, bf16, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, fp8, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, int8, FLOP_RATE, .help = "dense, operations a second"),
  CLU_NUM (CluPeaks, fp4, FLOP_RATE, .help = "dense"),
  BASE_ROW_END,
};
static const BaseSchema peak_schema = { "gpu.peak", "Dense peak rates by number format.", peak_fields, NULL };

static const BaseField gpu_fields[] = {
  BASE_ROW (CluGpuSpec, "gpu", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluGpuSpec, product, STR, .help = "the vendor's name"),
  CLU_ROW (CluGpuSpec, vendor, ENUM, .names = vendor_names, .fallback = "nvidia", .help = "who makes it"),
  CLU_NUM (CluGpuSpec, compute_capability, COUNT, .help = "90 for sm_90; absent elsewhere"),
  CLU_NUM (CluGpuSpec, compute_units, COUNT, .help = "SMs, CUs, TPCs, NeuronCores"),
  CLU_NUM (CluGpuSpec, memory, BYTES, .min = "1 B", .help = "device memory"),
  CLU_NUM (CluGpuSpec, memory_usable, BYTES, .min = "1 B", .help = "of it, what the driver leaves to programs; default: all"),
  CLU_RATE (CluGpuSpec, memory_bandwidth, .help = "read and write together, as specified"),
  CLU_NUM (CluGpuSpec, memory_efficiency, RATIO, .min = "0.001", .max = "1", .help = "reached over specified"),
  CLU_MAP (CluGpuSpec, peak, peak_schema, "dense peak rates"),
  CLU_MAP (CluGpuSpec, scale_up, clu_schema_link_spec, "all scale-up links of one GPU together"),
  CLU_MAP (CluGpuSpec, pcie, clu_schema_link_spec, "its slot, to a PCIe switch or a socket"),
  CLU_NUM (CluGpuSpec, power, POWER, .help = "board power at load"),
  CLU_NUM (CluGpuSpec, idle_power, POWER, .help = "board power when idle"),
  CLU_NUM (CluGpuSpec, price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_gpu = { "gpu", "A GPU or other accelerator. One file a type in topologies/gpus.", gpu_fields, NULL };

static const BaseField nic_fields[] = {
  BASE_ROW (CluNicSpec, "nic", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluNicSpec, product, STR, .help = "the vendor's name"),
  CLU_ROW (CluNicSpec, port, MAP, .sub = &clu_schema_link_spec, .required = TRUE,
           .help = "the wire, one way; all ports of the adapter together"),
  CLU_MAP (CluNicSpec, pcie, clu_schema_link_spec, "to its PCIe switch or socket; absent: the adapter is part of the GPU (Gaudi)"),
  CLU_ROW (CluNicSpec, rdma, BOOL, .fallback = "true", .help = "remote memory access without the CPU; else TCP"),
  CLU_ROW (CluNicSpec, gpudirect, BOOL, .fallback = "true", .help = "reads and writes GPU memory; else staged in the host"),
  CLU_NUM (CluNicSpec, power, POWER, .help = "of the adapter"),
  CLU_NUM (CluNicSpec, price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_nic = { "nic", "A network adapter. One file a type in topologies/nics.", nic_fields, NULL };

const BaseName clu_sharp_stream_names[] = {
  { "none", CLU_SHARP_STREAM_NONE, "no streaming: short messages alone, which NCCL does not use" },
  { "switch", CLU_SHARP_STREAM_SWITCH, "one streaming tree at a time in a switch" },
  { "port", CLU_SHARP_STREAM_PORT, "one streaming tree at a time on a port" },
  { NULL, 0, NULL },
};

static const BaseField sharp_fields[] = {
  CLU_ROW (CluSharpSpec, offered, BOOL, .help = "reduces in the network; default: yes where another key is given"),
  CLU_NUM (CluSharpSpec, generation, COUNT, .min = "1", .max = "9", .help = "of SHARP"),
  CLU_ROW (CluSharpSpec, stream, ENUM, .names = clu_sharp_stream_names,
           .help = "where one tree that streams long messages may be active at a time; default: any number"),
  CLU_NUM (CluSharpSpec, trees, COUNT, .min = "1", .max = "65536", .help = "streaming trees in a subnet; default: any number"),
  CLU_NUM (CluSharpSpec, radix, COUNT, .min = "2", .max = "65536",
           .help = "children that a switch adds for one tree; default: any number"),
  CLU_NUM (CluSharpSpec, rate, NUMBER, .min = "0.001", .max = "1",
           .help = "share of what a link reaches, as it reduces; default: all"),
  CLU_ROW (CluSharpSpec, small_types, BOOL, .help = "adds bf16 and int8; default: yes"),
  BASE_ROW_END,
};
static const BaseSchema sharp_schema = { "switch.sharp", "What a switch that reduces in the network can do (SHARP).", sharp_fields,
                                         "offered" };

static const BaseField switch_fields[] = {
  BASE_ROW (CluSwitchSpec, "switch", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluSwitchSpec, product, STR, .help = "the vendor's name"),
  CLU_NUM (CluSwitchSpec, radix, COUNT, .min = "1", .max = "65536", .help = "ports"),
  CLU_RATE (CluSwitchSpec, port_rate, .help = "of one port, one way"),
  CLU_NUM (CluSwitchSpec, latency, TIME, .max = "1 s", .help = "port to port"),
  CLU_MAP (CluSwitchSpec, sharp, sharp_schema, "reduces in the network, and within which limits"),
  CLU_NUM (CluSwitchSpec, power, POWER, .help = "of the switch"),
  CLU_NUM (CluSwitchSpec, price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_switch = { "switch", "A network switch. One file a type in topologies/switches.", switch_fields, NULL };

static const BaseField drive_fields[] = {
  BASE_ROW (CluDriveSpec, "drive", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluDriveSpec, product, STR, .help = "the vendor's name"),
  CLU_NUM (CluDriveSpec, capacity, BYTES, .help = "of one drive"),
  CLU_RATE (CluDriveSpec, read, .help = "sequential read"),
  CLU_RATE (CluDriveSpec, write, .help = "sequential write; default: read"),
  CLU_NUM (CluDriveSpec, read_iops, FREQUENCY, .help = "random reads a second"),
  CLU_NUM (CluDriveSpec, write_iops, FREQUENCY, .help = "random writes a second"),
  CLU_NUM (CluDriveSpec, latency, TIME, .max = "10 s", .help = "of a read"),
  CLU_NUM (CluDriveSpec, write_latency, TIME, .max = "10 s", .help = "of a write; default: `latency`"),
  CLU_RATE (CluDriveSpec, read_stream, .help = "one read at a time, beyond its latency; default: `read`"),
  CLU_RATE (CluDriveSpec, write_stream, .help = "one write at a time; default: `write`"),
  CLU_NUM (CluDriveSpec, blend, NUMBER, .min = "1", .max = "16",
           .help = "how sharply a request's own time gives way to the drive's; default: the calibration's"),
  CLU_MAP (CluDriveSpec, pcie, clu_schema_link_spec, "to its PCIe switch or socket; default: as fast as it reads"),
  CLU_NUM (CluDriveSpec, power, POWER, .help = "of the drive"),
  CLU_NUM (CluDriveSpec, price, MONEY, .help = "if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_drive = { "drive", "A drive. One file a type in topologies/storage.", drive_fields, NULL };
