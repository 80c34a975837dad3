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
  { "nvidia", CLU_VENDOR_NVIDIA, "" },
  { "amd", CLU_VENDOR_AMD, "" },
  { "intel", CLU_VENDOR_INTEL, "" },
  { "aws", CLU_VENDOR_AWS, "" },
  { "google", CLU_VENDOR_GOOGLE, "" },
  { "other", CLU_VENDOR_OTHER, "" },
  { NULL, 0, NULL },
};

static const BaseField link_class_fields[] = {
  BASE_ROW (CluLinkClass, "link_class", name, STR, .help = "name of the class", .required = TRUE),
  CLU_ROW (CluLinkClass, summary, STR, .help = "one line for `forerun list`"),
  CLU_ROW (CluLinkClass, family, ENUM, .names = clu_family_names, .help = "kind of link", .fallback = "bus"),
  CLU_RATE (CluLinkClass, lane_rate, .help = "specified rate of one lane, NVLink or port, one direction"),
  CLU_NUM (CluLinkClass, lanes, NUMBER, .min = "0.001", .max = "65536", .fallback = "1", .help = "usual number of lanes"),
  CLU_NUM (CluLinkClass, efficiency, RATIO, .min = "0.001", .max = "1", .fallback = "1",
           .help = "fraction of the specified rate that a large DMA (copy engine, RDMA) reaches"),
  CLU_NUM (CluLinkClass, sm_efficiency, RATIO, .min = "0.001", .max = "1",
           .help = "fraction that a kernel's loads and stores reach; default: `efficiency`"),
  CLU_NUM (CluLinkClass, latency, TIME, .max = "1 s", .fallback = "0", .help = "latency of the link and the device at its far end"),
  CLU_NUM (CluLinkClass, duplex, RATIO, .min = "0.1", .max = "1", .fallback = "1",
           .help = "rate of both directions together over twice the rate of one: 1 full duplex, 0.5 shared medium"),
  CLU_NUM (CluLinkClass, rdma_efficiency, RATIO, .min = "0.001", .max = "1",
           .help = "fraction that an adapter's RDMA to a GPU's memory reaches; default: `efficiency`"),
  CLU_NUM (CluLinkClass, rdma_duplex, RATIO, .min = "0.1", .max = "1",
           .help = "`duplex` by RDMA to a GPU's memory; default: `duplex`"),
  CLU_RATE (
      CluLinkClass, peer,
      .help = "between sockets: total rate at which drives and NICs of other sockets directly access one socket's GPUs (GPUDirect "
              "Storage); default: limited by the link only"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_link_class = {
  .name = "link_class",
  .help = "A class of links: specified and reached rates. One file per class in topologies/links.",
  .fields = link_class_fields
};

static const BaseField link_spec_fields[] = { CLU_LINK_ROWS (CluLinkSpec, ), BASE_ROW_END };
const BaseSchema clu_schema_link_spec = {
  .name = "link", .help = "A link: its class, and what differs from the class.", .fields = link_spec_fields, .scalar_key = "class"
};

static const BaseField peak_fields[] = {
  CLU_NUM (CluPeaks, fp64, FLOP_RATE, .help = "dense, on tensor cores if there are any"),
  CLU_NUM (CluPeaks, fp32, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, tf32, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, fp16, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, bf16, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, fp8, FLOP_RATE, .help = "dense"),
  CLU_NUM (CluPeaks, int8, FLOP_RATE, .help = "dense, operations per second"),
  CLU_NUM (CluPeaks, fp4, FLOP_RATE, .help = "dense"),
  BASE_ROW_END,
};
static const BaseSchema peak_schema = { .name = "gpu.peak", .help = "Dense peak rates by number format.", .fields = peak_fields };

static const BaseField gpu_fields[] = {
  BASE_ROW (CluGpuSpec, "gpu", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluGpuSpec, product, STR, .help = "the vendor's name"),
  CLU_ROW (CluGpuSpec, vendor, ENUM, .names = vendor_names, .fallback = "nvidia", .help = "vendor"),
  CLU_ROW (CluGpuSpec, isolated, BOOL, .fallback = "no", .help = "no other GPU reaches its memory (no P2P), as of MIG's instances"),
  CLU_NUM (CluGpuSpec, compute_capability, COUNT, .help = "90 for sm_90; absent for other vendors"),
  CLU_NUM (CluGpuSpec, compute_units, COUNT, .help = "number of SMs, CUs, TPCs or NeuronCores"),
  CLU_NUM (CluGpuSpec, memory, BYTES, .min = "1 B", .help = "device memory"),
  CLU_NUM (CluGpuSpec, memory_usable, BYTES, .min = "1 B", .help = "memory that the driver leaves to programs; default: all"),
  CLU_RATE (CluGpuSpec, memory_bandwidth, .help = "specified bandwidth of reads and writes together"),
  CLU_NUM (CluGpuSpec, memory_efficiency, RATIO, .min = "0.001", .max = "1",
           .help = "reached fraction of the specified memory bandwidth"),
  CLU_MAP (CluGpuSpec, peak, peak_schema, "dense peak rates"),
  CLU_MAP (CluGpuSpec, scale_up, clu_schema_link_spec, "all scale-up links of one GPU together"),
  CLU_MAP (CluGpuSpec, pcie, clu_schema_link_spec, "link to a PCIe switch or a socket"),
  CLU_NUM (CluGpuSpec, power, POWER, .help = "board power at load"),
  CLU_NUM (CluGpuSpec, idle_power, POWER, .help = "board power when idle"),
  CLU_NUM (CluGpuSpec, price, MONEY, .help = "price, if published"),
  CLU_ROW (CluGpuSpec, node, STR, .help = "topology that supplies the missing parts of a [short form](#short-form)"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_gpu = { .name = "gpu",
                                    .help = "A GPU or other accelerator. One file per type in topologies/gpus.",
                                    .fields = gpu_fields };

static const BaseField nic_fields[] = {
  BASE_ROW (CluNicSpec, "nic", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluNicSpec, product, STR, .help = "the vendor's name"),
  CLU_ROW (CluNicSpec, port, MAP, .sub = &clu_schema_link_spec, .required = TRUE,
           .help = "all ports of the NIC together, one direction"),
  CLU_MAP (CluNicSpec, pcie, clu_schema_link_spec, "link to its PCIe switch or socket; absent: the NIC is part of the GPU (Gaudi)"),
  CLU_ROW (CluNicSpec, rdma, BOOL, .fallback = "true", .help = "supports RDMA; else TCP"),
  CLU_ROW (CluNicSpec, gpudirect, BOOL, .fallback = "true",
           .help = "accesses GPU memory directly; else data is staged in host memory"),
  CLU_NUM (CluNicSpec, power, POWER, .help = "power of the NIC"),
  CLU_NUM (CluNicSpec, price, MONEY, .help = "price, if published"),
  CLU_ROW (CluNicSpec, leaf, REF, .sub = &clu_schema_switch, .item_size = sizeof (CluSwitchSpec), .folder = "topologies/switches",
           .help = "type of the leaf switches of a tree that does not give theirs"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_nic = { .name = "nic", .help = "A NIC. One file per type in topologies/nics.", .fields = nic_fields };

const BaseName clu_sharp_stream_names[] = {
  { "none", CLU_SHARP_STREAM_NONE, "no streaming, only short messages, which NCCL does not use" },
  { "switch", CLU_SHARP_STREAM_SWITCH, "one streaming tree at a time per switch" },
  { "port", CLU_SHARP_STREAM_PORT, "one streaming tree at a time per port" },
  { NULL, 0, NULL },
};

static const BaseField sharp_fields[] = {
  CLU_ROW (CluSharpSpec, offered, BOOL, .help = "supports in-network reduction; default: yes if another key is given"),
  CLU_NUM (CluSharpSpec, generation, COUNT, .min = "1", .max = "9", .help = "SHARP generation"),
  CLU_ROW (CluSharpSpec, stream, ENUM, .names = clu_sharp_stream_names,
           .help = "limit on simultaneous trees that stream long messages; default: no limit"),
  CLU_NUM (CluSharpSpec, trees, COUNT, .min = "1", .max = "65536", .help = "streaming trees per subnet; default: no limit"),
  CLU_NUM (CluSharpSpec, radix, COUNT, .min = "2", .max = "65536",
           .help = "children that a switch reduces for one tree; default: no limit"),
  CLU_NUM (CluSharpSpec, rate, NUMBER, .min = "0.001", .max = "1",
           .help = "fraction of the link's reached rate while it reduces; default: 1"),
  CLU_ROW (CluSharpSpec, small_types, BOOL, .help = "can reduce bf16 and int8; default: yes"),
  BASE_ROW_END,
};
static const BaseSchema sharp_schema = {
  .name = "switch.sharp", .help = "In-network reduction of a switch (SHARP).", .fields = sharp_fields, .scalar_key = "offered"
};

static const BaseField switch_fields[] = {
  BASE_ROW (CluSwitchSpec, "switch", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluSwitchSpec, product, STR, .help = "the vendor's name"),
  CLU_NUM (CluSwitchSpec, radix, COUNT, .min = "1", .max = "65536", .help = "number of ports"),
  CLU_RATE (CluSwitchSpec, port_rate, .help = "rate of one port, one direction"),
  CLU_NUM (CluSwitchSpec, latency, TIME, .max = "1 s", .help = "latency from port to port"),
  CLU_MAP (CluSwitchSpec, sharp, sharp_schema, "in-network reduction and its limits"),
  CLU_NUM (CluSwitchSpec, power, POWER, .help = "power of the switch"),
  CLU_NUM (CluSwitchSpec, price, MONEY, .help = "price, if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_switch = { .name = "switch",
                                       .help = "A network switch. One file per type in topologies/switches.",
                                       .fields = switch_fields };

static const BaseField drive_fields[] = {
  BASE_ROW (CluDriveSpec, "drive", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (CluDriveSpec, product, STR, .help = "the vendor's name"),
  CLU_NUM (CluDriveSpec, capacity, BYTES, .help = "capacity of one drive"),
  CLU_RATE (CluDriveSpec, read, .help = "sequential read rate"),
  CLU_RATE (CluDriveSpec, write, .help = "sequential write rate; default: `read`"),
  CLU_NUM (CluDriveSpec, read_iops, FREQUENCY,
           .help = "reads per second in any order, in addition to the time of their bytes; default: no limit"),
  CLU_NUM (CluDriveSpec, write_iops, FREQUENCY, .help = "writes per second, likewise"),
  CLU_NUM (CluDriveSpec, random_read_iops, FREQUENCY,
           .help = "reads of 4 KiB per second at random offsets, as data sheets give them; default: `read_iops`"),
  CLU_NUM (CluDriveSpec, random_write_iops, FREQUENCY, .help = "writes of 4 KiB per second at random offsets"),
  CLU_NUM (CluDriveSpec, latency, TIME, .max = "10 s", .help = "latency of a read"),
  CLU_NUM (CluDriveSpec, write_latency, TIME, .max = "10 s", .help = "latency of a write; default: `latency`"),
  CLU_RATE (CluDriveSpec, read_stream, .help = "rate of one read at a time, after its latency; default: `read`"),
  CLU_RATE (CluDriveSpec, write_stream, .help = "rate of one write at a time; default: `write`"),
  CLU_NUM (CluDriveSpec, blend, NUMBER, .min = "1", .max = "16",
           .help = "exponent p of the [queue formula](storage.md#time-of-a-request); default: from the calibration"),
  CLU_MAP (CluDriveSpec, pcie, clu_schema_link_spec, "link to its PCIe switch or socket; default: as fast as `read`"),
  CLU_NUM (CluDriveSpec, power, POWER, .help = "power of the drive"),
  CLU_NUM (CluDriveSpec, price, MONEY, .help = "price, if published"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_drive = { .name = "drive",
                                      .help = "A drive. One file per type in topologies/storage.",
                                      .fields = drive_fields };
