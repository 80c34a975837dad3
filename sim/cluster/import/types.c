/* Which shipped type a device of a dump is. Devices are identified by PCI id, the names are those of the PCI ID database (pci.ids,
 * version 2026.08.22, https://pci-ids.ucw.cz); how many NVLinks a type has is read from its own file. */
#include <math.h>

#include "base/yaml.h"
#include "import/import-private.h"

typedef struct {
  guint32 vendor, device;
  const char *product;
  const char *type; /* in topologies/gpus; NULL: none is shipped */
} GpuRow;

static const GpuRow gpu_rows[] = {
  { CLU_PCI_NVIDIA, 0x15f9, "GP100GL [Tesla P100 SXM2 16GB]", "p100_sxm" },
  { CLU_PCI_NVIDIA, 0x1db0, "GV100GL [Tesla GV100 SXM2-16GB SKU 890]", "v100_sxm2" },
  { CLU_PCI_NVIDIA, 0x1db1, "GV100GL [Tesla V100 SXM2 16GB]", "v100_sxm2" },
  { CLU_PCI_NVIDIA, 0x1db5, "GV100GL [Tesla V100 SXM2 32GB]", "v100_sxm2" },
  { CLU_PCI_NVIDIA, 0x1df5, "GV100GL [Tesla V100 SXM2 16GB]", "v100_sxm2" },
  { CLU_PCI_NVIDIA, 0x1db8, "GV100GL [Tesla V100 SXM3 32GB]", "v100_sxm3" },
  { CLU_PCI_NVIDIA, 0x1db4, "GV100GL [Tesla V100 PCIe 16GB]", NULL },
  { CLU_PCI_NVIDIA, 0x1db6, "GV100GL [Tesla V100 PCIe 32GB]", NULL },
  { CLU_PCI_NVIDIA, 0x1df6, "GV100GL [Tesla V100S PCIe 32GB]", NULL },
  { CLU_PCI_NVIDIA, 0x1eb8, "TU104GL [Tesla T4]", NULL },
  { CLU_PCI_NVIDIA, 0x20b0, "GA100 [A100 SXM4 40GB]", "a100_40_sxm" },
  { CLU_PCI_NVIDIA, 0x20b2, "GA100 [A100 SXM4 80GB]", "a100_80_sxm" },
  { CLU_PCI_NVIDIA, 0x20b3, "GA100 [A100-SXM-64GB]", NULL },
  { CLU_PCI_NVIDIA, 0x20b1, "GA100 [A100 PCIe 40GB]", "a100_pcie" },
  { CLU_PCI_NVIDIA, 0x20f1, "GA100 [A100 PCIe 40GB]", "a100_pcie" },
  { CLU_PCI_NVIDIA, 0x20b5, "GA100 [A100 PCIe 80GB]", "a100_pcie" },
  { CLU_PCI_NVIDIA, 0x20b7, "GA100GL [A30 PCIe]", NULL },
  { CLU_PCI_NVIDIA, 0x20bd, "GA100 [A800 SXM4 40GB]", NULL },
  { CLU_PCI_NVIDIA, 0x20f3, "GA100 [A800-SXM4-80GB]", NULL },
  { CLU_PCI_NVIDIA, 0x20f5, "GA100 [A800 80GB PCIe]", NULL },
  { CLU_PCI_NVIDIA, 0x2235, "GA102GL [A40]", NULL },
  { CLU_PCI_NVIDIA, 0x2236, "GA102GL [A10]", NULL },
  { CLU_PCI_NVIDIA, 0x26b5, "AD102GL [L40]", NULL },
  { CLU_PCI_NVIDIA, 0x26b9, "AD102GL [L40S]", "l40s" },
  { CLU_PCI_NVIDIA, 0x2bb5, "GB202GL [RTX PRO 6000 Blackwell Server Edition]", "rtx_pro_6000" },
  { CLU_PCI_NVIDIA, 0x27b8, "AD104GL [L4]", NULL },
  { CLU_PCI_NVIDIA, 0x2321, "GH100 [H100L 94GB]", "h100_nvl" },
  { CLU_PCI_NVIDIA, 0x2322, "GH100 [H800 PCIe]", NULL },
  { CLU_PCI_NVIDIA, 0x2324, "GH100 [H800]", "h800_sxm" },
  { CLU_PCI_NVIDIA, 0x2329, "GH100 [H20]", "h20" },
  { CLU_PCI_NVIDIA, 0x232c, "GH100 [H20 HBM3e]", NULL },
  { CLU_PCI_NVIDIA, 0x2330, "GH100 [H100 SXM5 80GB]", "h100_sxm" },
  { CLU_PCI_NVIDIA, 0x2331, "GH100 [H100 PCIe]", "h100_pcie" },
  { CLU_PCI_NVIDIA, 0x2335, "GH100 [H200 SXM 141GB]", "h200_sxm" },
  { CLU_PCI_NVIDIA, 0x233b, "GH100 [H200 NVL]", "h200_nvl" },
  { CLU_PCI_NVIDIA, 0x2342, "GH100 [GH200 120GB / 480GB]", "gh200" },
  { CLU_PCI_NVIDIA, 0x2348, "GH100 [GH200 144G HBM3e]", NULL },
  { CLU_PCI_NVIDIA, 0x2901, "GB100 [B200]", "b200" },
  { CLU_PCI_NVIDIA, 0x2941, "GB100 [HGX GB200]", "gb200" },
  { CLU_PCI_NVIDIA, 0x3182, "GB110 [B300 SXM6 AC]", "b300" },
  { CLU_PCI_NVIDIA, 0x31c2, "GB110 [GB300]", "gb300" },
  { CLU_PCI_NVIDIA, 0x31c3, "GB110 [GB300]", "gb300" },
  /* A PCI device of MI200 is one die; the shipped mi250x is a module of two. */
  { CLU_PCI_AMD, 0x7408, "Aldebaran/MI200 [Instinct MI250X]", NULL },
  { CLU_PCI_AMD, 0x740c, "Aldebaran/MI200 [Instinct MI250X/MI250]", NULL },
  { CLU_PCI_AMD, 0x740f, "Aldebaran/MI200 [Instinct MI210]", NULL },
  { CLU_PCI_AMD, 0x738c, "Arcturus GL-XL [Instinct MI100]", NULL },
  { CLU_PCI_AMD, 0x74a0, "Aqua Vanjaram [Instinct MI300A]", NULL },
  { CLU_PCI_AMD, 0x74a1, "Aqua Vanjaram [Instinct MI300X]", "mi300x" },
  { CLU_PCI_AMD, 0x74b5, "Aqua Vanjaram [Instinct MI300X VF]", "mi300x" },
  { CLU_PCI_AMD, 0x74a5, "Aqua Vanjaram [Instinct MI325X]", "mi325x" },
  { CLU_PCI_AMD, 0x74b9, "Aqua Vanjaram [Instinct MI325X VF]", "mi325x" },
  { CLU_PCI_AMD, 0x75a0, "Aqua Vanjaram [Instinct MI350X]", "mi350x" },
  { CLU_PCI_AMD, 0x75a3, "Aqua Vanjaram [Instinct MI355X]", "mi355x" },
};

/* Architectures as RCCL writes them (src/graph/topo.h of ROCm/rccl), the products that have them (LLVM's AMDGPU user guide,
 * "Processors"), and the class of their links. */
static const struct {
  const char *gcn, *product, *link_class;
} amd_rows[] = {
  { "906", "Vega 20 (Radeon Instinct MI50 or MI60)", "xgmi_mi100" },
  { "908", "Instinct MI100", "xgmi_mi100" },
  { "910", "one die of MI200 (MI210, MI250, MI250X)", "xgmi_mi250x" },
  { "gfx906", "Vega 20 (Radeon Instinct MI50 or MI60)", "xgmi_mi100" },
  { "gfx908", "Instinct MI100", "xgmi_mi100" },
  { "gfx90a", "one die of MI200 (MI210, MI250, MI250X)", "xgmi_mi250x" },
  { "940", "Instinct MI300", "xgmi" },
  { "941", "Instinct MI300", "xgmi" },
  { "942", "Instinct MI300", "xgmi" },
  { "gfx940", "Instinct MI300", "xgmi" },
  { "gfx941", "Instinct MI300", "xgmi" },
  { "gfx942", "Instinct MI300", "xgmi" },
  { "gfx950", "Instinct MI350", "xgmi4" },
};

typedef struct {
  CluImportWire wire;
  double rate_bps;        /* of the type's port, by its file */
  guint32 vendor, device; /* 0: any */
  const char *type;
} NicRow;

/* Among equal rates the first; ConnectX generations by pci.ids (1013 ConnectX-4, 1017 and 1019 -5, 101b -6, 1021 -7, 1023 -8);
 * EFA devices efa0 to efa3 of vendor 1d0f. */
static const NicRow nic_rows[] = {
  { CLU_IMPORT_WIRE_INFINIBAND, 100e9, CLU_PCI_MELLANOX, 0x1013, "cx4_edr100" },
  { CLU_IMPORT_WIRE_INFINIBAND, 200e9, CLU_PCI_MELLANOX, 0x1021, "cx7_ndr200" },
  { CLU_IMPORT_WIRE_INFINIBAND, 100e9, 0, 0, "cx5_edr100" },
  { CLU_IMPORT_WIRE_INFINIBAND, 200e9, 0, 0, "cx6_hdr200" },
  { CLU_IMPORT_WIRE_INFINIBAND, 400e9, 0, 0, "cx7_ndr400" },
  { CLU_IMPORT_WIRE_INFINIBAND, 800e9, 0, 0, "cx8_xdr800" },
  { CLU_IMPORT_WIRE_ROCE, 200e9, 0, 0, "cx6_roce200" },
  { CLU_IMPORT_WIRE_ROCE, 400e9, 0, 0, "cx7_roce400" },
  { CLU_IMPORT_WIRE_EFA, 100e9, CLU_PCI_AMAZON, 0xefa0, "efa_v1_100" },
  { CLU_IMPORT_WIRE_EFA, 100e9, CLU_PCI_AMAZON, 0xefa1, "efa_v2_100" },
  { CLU_IMPORT_WIRE_EFA, 200e9, CLU_PCI_AMAZON, 0xefa2, "efa_v3_200" },
  { CLU_IMPORT_WIRE_EFA, 200e9, CLU_PCI_AMAZON, 0xefa3, "efa_v3_200" },
  { CLU_IMPORT_WIRE_EFA, 100e9, 0, 0, "efa_v2_100" },
  { CLU_IMPORT_WIRE_EFA, 200e9, 0, 0, "efa_v3_200" },
  { CLU_IMPORT_WIRE_ETHERNET, 10e9, 0, 0, "nic_eth_10g" },
  { CLU_IMPORT_WIRE_ETHERNET, 25e9, 0, 0, "nic_eth_25g" },
  { CLU_IMPORT_WIRE_ETHERNET, 100e9, 0, 0, "nic_eth_100g" },
};

void
clu_import_type_clear (CluImportType *type)
{
  g_clear_pointer (&type->name, g_free);
}

/* FALSE when no such file is shipped. What is wrong in it is said when the topology is loaded. */
static gboolean
type_read (const BaseLookup *lookup, const char *name, CluImportType *out, gboolean *is_nvidia)
{
  g_autofree char *path = base_lookup_find (lookup, name, "topologies/gpus", NULL, NULL);
  g_autoptr (BaseYaml) yaml = path == NULL ? NULL : base_yaml_load_file (path, NULL);
  if (yaml == NULL)
    return FALSE;
  g_autoptr (BaseDiag) unsaid = base_diag_new ();
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = unsaid, .lookup = lookup, .inputs = inputs };
  CluGpuSpec gpu = { .head = { .set = FALSE } };
  base_schema_read (&clu_schema_gpu, base_yaml_root (yaml), FALSE, &context, &gpu);
  const CluLinkClass *link_class = gpu.scale_up.link_class.value;
  out->sm = (guint32)gpu.compute_capability.v;
  out->lanes = (guint32)(gpu.scale_up.lanes.set || link_class == NULL ? gpu.scale_up.lanes.v : link_class->lanes.v);
  *is_nvidia = gpu.vendor.v == CLU_VENDOR_NVIDIA;
  g_free (out->name);
  out->name = g_strdup (name);
  return TRUE;
}

guint32
clu_import_type_lanes (const BaseLookup *lookup, const char *name)
{
  g_auto (CluImportType) type = { .name = NULL };
  gboolean is_nvidia = FALSE;
  return lookup != NULL && type_read (lookup, name, &type, &is_nvidia) ? type.lanes : 0;
}

guint32
clu_import_most_lanes (const BaseLookup *lookup)
{
  guint32 most = 0;
  g_auto (GStrv) list = lookup == NULL ? NULL : base_lookup_list (lookup, "topologies/gpus");
  for (char **name = list; name != NULL && *name != NULL; name++) {
    g_auto (CluImportType) type = { .name = NULL };
    gboolean is_nvidia = FALSE;
    if (type_read (lookup, *name, &type, &is_nvidia) && is_nvidia)
      most = MAX (most, type.lanes);
  }
  return most;
}

/* Shipped NVIDIA types that have so many NVLinks and, if told, that compute capability; joined by ", ". The first alone is read
 * into `out`. */
static char *
candidates (const BaseLookup *lookup, guint32 sm, guint32 lanes, CluImportType *out, guint32 *n)
{
  GString *names = g_string_new (NULL);
  g_auto (GStrv) list = lookup == NULL ? NULL : base_lookup_list (lookup, "topologies/gpus");
  *n = 0;
  for (char **name = list; name != NULL && *name != NULL; name++) {
    g_auto (CluImportType) type = { .name = NULL };
    gboolean is_nvidia = FALSE;
    if (!type_read (lookup, *name, &type, &is_nvidia) || !is_nvidia || (sm != 0 && type.sm != sm) || type.lanes != lanes)
      continue;
    g_string_append_printf (names, "%s%s", *n > 0 ? ", " : "", *name);
    if ((*n)++ == 0) {
      clu_import_type_clear (out);
      *out = type;
      type.name = NULL;
    }
  }
  return g_string_free (names, FALSE);
}

static const GpuRow *
gpu_row (guint32 vendor, guint32 device)
{
  for (gsize i = 0; i < G_N_ELEMENTS (gpu_rows); i++)
    if (gpu_rows[i].vendor == vendor && gpu_rows[i].device == device)
      return &gpu_rows[i];
  return NULL;
}

static gboolean
type_given (const CluImport *input, CluImportType *out, GError **error)
{
  const BaseLookup *lookup = input->lookup;
  gboolean is_nvidia = FALSE;
  if (lookup != NULL && !type_read (lookup, input->gpu_type, out, &is_nvidia)) {
    g_autoptr (GError) why = NULL;
    g_autofree char *path = base_lookup_find (lookup, input->gpu_type, "topologies/gpus", NULL, &why);
    return base_fail_at (error, BASE_MARK_NONE, "GPU type '%s': %s", input->gpu_type,
                         path == NULL ? why->message : "its file cannot be read");
  }
  if (lookup == NULL)
    out->name = g_strdup (input->gpu_type);
  return TRUE;
}

/* --gpu names another type than the file. */
static void
warn_contradiction (CluImportMachine *machine, const CluImportGpu *gpu)
{
  const GpuRow *row = gpu_row (gpu->vendor, gpu->device);
  const char *given = machine->input->gpu_type;
  if (row != NULL && g_strcmp0 (row->type, given) != 0)
    clu_import_warn (machine, gpu->mark, "the file says %s; GPU type %s, which was given, is taken", row->product, given);
}

gboolean
clu_import_gpu_type (CluImportMachine *machine, guint32 lanes, CluImportType *out, GError **error)
{
  const BaseLookup *lookup = machine->input->lookup;
  const CluImportGpu *gpu = &g_array_index (machine->gpus, CluImportGpu, 0);
  if (machine->input->gpu_type != NULL) {
    warn_contradiction (machine, gpu);
    return type_given (machine->input, out, error);
  }
  gboolean is_nvidia = FALSE;
  guint32 n = 0;
  const GpuRow *row = gpu_row (gpu->vendor, gpu->device);
  out->sm = gpu->sm;
  if (row != NULL) {
    out->product = row->product;
    if (row->type != NULL && (lookup == NULL || type_read (lookup, row->type, out, &is_nvidia))) {
      if (out->name == NULL)
        out->name = g_strdup (row->type);
      return TRUE;
    }
    clu_import_warn (machine, gpu->mark,
                     "no GPU type is shipped for %s; it is written in place, without memory and peak rates: add them for training",
                     row->product);
    return TRUE;
  }
  if (gpu->arch > 0) {
    out->product = amd_rows[gpu->arch - 1].product;
    clu_import_warn (machine, gpu->mark,
                     "the GPU is said to be %s only; its type is written in place, without memory and peak rates: --gpu TYPE names "
                     "one (forerun list gpus)",
                     out->product);
    return TRUE;
  }
  if (gpu->sm == 0 && gpu->device == 0 && lanes == 0)
    return base_fail_at (error, gpu->mark,
                         "the GPU's type is not told (no PCI device id, no compute capability, no NVLink); give it (--gpu "
                         "h100_sxm), or a dump that says it");
  g_autofree char *names = lanes == 0 && gpu->sm == 0 ? g_strdup ("") : candidates (lookup, gpu->sm, lanes, out, &n);
  gboolean untold = gpu->sm == 0 && gpu->device == 0;
  if (untold && n == 0)
    return base_fail_at (error, gpu->mark, "no shipped GPU type has %u NVLinks; give the type (--gpu NAME)", lanes);
  if (untold && n > 1)
    return base_fail_at (error, gpu->mark,
                         "%u NVLinks a GPU: the type may be %s, or a card under an NVLink bridge; say which (--gpu NAME)", lanes,
                         names);
  if (n > 0 && gpu->device == 0)
    clu_import_warn (machine, gpu->mark, "the GPU's type is not said; taken for %s, which has %u NVLinks%s%s", out->name, lanes,
                     n > 1 ? ", as may be " : "", n > 1 ? names : "");
  else if (n > 0)
    clu_import_warn (machine, gpu->mark, "PCI device %04x:%04x is not known; taken for %s by compute capability and NVLinks%s%s",
                     gpu->vendor, gpu->device, out->name, n > 1 ? ", as may be " : "", n > 1 ? names : "");
  else
    clu_import_warn (
        machine, gpu->mark,
        "PCI device %04x:%04x is not known and no shipped GPU type is like it; it is written in place, without memory and peak "
        "rates: add them for training",
        gpu->vendor, gpu->device);
  return TRUE;
}

static gboolean
is_shipped (const BaseLookup *lookup, const char *name, const char *folder)
{
  g_autofree char *path = lookup == NULL ? NULL : base_lookup_find (lookup, name, folder, NULL, NULL);
  return lookup == NULL || path != NULL;
}

const char *
clu_import_nic_type (const CluImportNic *nic, const BaseLookup *lookup, double *rate_bps)
{
  const NicRow *best = NULL;
  double best_distance = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (nic_rows); i++) {
    const NicRow *row = &nic_rows[i];
    gboolean same_device = row->vendor == nic->vendor && row->device == nic->device;
    if (row->wire != nic->wire || (row->vendor != 0 && !same_device) || !is_shipped (lookup, row->type, "topologies/nics"))
      continue;
    double distance = nic->rate_bps > 0 ? fabs (log (nic->rate_bps / row->rate_bps)) : 0;
    if (best == NULL || distance < best_distance) {
      best = row;
      best_distance = distance;
    }
  }
  *rate_bps = best == NULL ? 0 : best->rate_bps;
  return best == NULL ? NULL : best->type;
}

CluImportWire
clu_import_wire_of_name (const char *name, CluImportWire fallback)
{
  static const struct {
    const char *prefix;
    CluImportWire wire;
  } rows[] = {
    { "rdmap", CLU_IMPORT_WIRE_EFA },        { "efa_", CLU_IMPORT_WIRE_EFA },         { "mlx5_bond", CLU_IMPORT_WIRE_ETHERNET },
    { "mlx5_", CLU_IMPORT_WIRE_INFINIBAND }, { "mlx4_", CLU_IMPORT_WIRE_INFINIBAND }, { "ibp", CLU_IMPORT_WIRE_INFINIBAND },
    { "bnxt_re", CLU_IMPORT_WIRE_ROCE },     { "irdma", CLU_IMPORT_WIRE_ROCE },       { "ionic", CLU_IMPORT_WIRE_ROCE },
    { "roce", CLU_IMPORT_WIRE_ROCE },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_has_prefix (name, rows[i].prefix))
      return rows[i].wire;
  return fallback;
}

double
clu_import_usual_nic_rate (guint32 sm)
{
  /* The compute adapters of NVIDIA's own systems, by their data sheets: DGX-1 4x EDR, DGX A100 8x HDR, DGX H100, H200 and B200
   * 8x NDR. */
  static const struct {
    guint32 from_sm;
    double rate_bps;
  } rows[] = { { 90, 400e9 }, { 80, 200e9 }, { 60, 100e9 } };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (sm >= rows[i].from_sm)
      return rows[i].rate_bps;
  return 0;
}

guint32
clu_import_amd_arch (const char *name)
{
  for (guint32 i = 0; name != NULL && i < G_N_ELEMENTS (amd_rows); i++)
    if (g_str_equal (name, amd_rows[i].gcn))
      return i + 1;
  return 0;
}

const char *
clu_import_link_class (const CluImportGpu *gpu, guint32 sm)
{
  if (gpu->arch > 0)
    return amd_rows[gpu->arch - 1].link_class;
  /* Compute capability by architecture: Pascal 60, Volta 70, Ampere 80, Hopper 90, Blackwell 100 and above (CUDA C++ Programming
   * Guide, "Compute Capabilities"); NVLink generation by architecture (their whitepapers). */
  static const struct {
    guint32 from_sm;
    const char *link_class;
  } rows[] = { { 100, "nvlink5" }, { 90, "nvlink4" }, { 80, "nvlink3" }, { 70, "nvlink2" }, { 60, "nvlink1" } };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (sm >= rows[i].from_sm)
      return rows[i].link_class;
  return NULL;
}

guint32
clu_import_pcie_generation (double GTps)
{
  static const double rate_GTps[] = { 2.5, 5, 8, 16, 32, 64, 128 }; /* PCI-SIG, PCI Express base specifications 1.0 to 7.0 */
  for (guint32 i = 0; i < G_N_ELEMENTS (rate_GTps); i++)
    if (fabs (GTps - rate_GTps[i]) < 0.01)
      return i + 1;
  return 0;
}
