/* A machine as the text of a topology file. Every figure says whether the dump had it (measured) or not (assumed). */
#include <stdarg.h>

#include "base/yaml.h"
#include "import/shape-private.h"

#define ASSUMED  "assumed"
#define MEASURED "measured"
/* HGX boards of eight have NVSwitches from Ampere (A100 whitepaper), which reduce in the network from Hopper (H100 whitepaper,
 * "Third-generation NVSwitch"). */
#define FIRST_SWITCHED_SM 80u
#define FIRST_SHARP_SM    90u

typedef struct {
  CluImportMachine *machine;
  CluImportShape shape;
  CluImportType type;
  guint32 inline_generation; /* PCIe generation of a type written in place */
  gboolean has_nics;
  GString *out;
} Writer;

static void put (Writer *w, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
put (Writer *w, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_string_append_vprintf (w->out, format, args);
  va_end (args);
}

/* "key: {value: …, source: …, note: …}" on a line of its own. */
static void leaf (Writer *w, const char *indent, const char *key, const char *value, const char *source, const char *format, ...)
    G_GNUC_PRINTF (6, 7);

static void
leaf (Writer *w, const char *indent, const char *key, const char *value, const char *source, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *note = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *quoted = base_yaml_quote (note);
  put (w, "%s%s: {value: %s, source: %s, note: %s}\n", indent, key, value, source, quoted);
}

static void
leaf_count (Writer *w, const char *indent, const char *key, guint32 value, const char *source, const char *note)
{
  g_autofree char *text = g_strdup_printf ("%u", value);
  leaf (w, indent, key, text, source, "%s", note);
}

static char *
rate_text (double bps)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (number, sizeof number, "%.15g", bps / 1e9);
  return g_strdup_printf ("%s Gb/s", number);
}

static void
write_type_inline (Writer *w)
{
  const CluImportGpu *gpu = &g_array_index (w->machine->gpus, CluImportGpu, 0);
  const char *link_class = clu_import_link_class (gpu, gpu->sm);
  put (w, "    type: # no such type is shipped: add memory, memory_bandwidth and peak (data sheet) for training\n");
  if (gpu->device > 0)
    put (w, "      gpu: pci_%04x_%04x\n", gpu->vendor, gpu->device);
  else
    put (w, "      gpu: untold\n");
  if (w->type.product != NULL) {
    g_autofree char *product = base_yaml_quote (w->type.product);
    put (w, "      product: %s\n", product);
  }
  put (w, "      vendor: %s\n", gpu->vendor == CLU_PCI_AMD ? "amd" : gpu->vendor == CLU_PCI_NVIDIA ? "nvidia" : "other");
  if (gpu->sm > 0)
    leaf_count (w, "      ", "compute_capability", gpu->sm, MEASURED, w->machine->origin);
  if (w->shape.lanes > 0 && link_class != NULL)
    put (w, "      scale_up: {class: %s, lanes: {value: %u, source: measured, note: %s}}\n", link_class, w->shape.lanes,
         w->machine->origin);
  put (w, "      pcie: {class: pcie%u, lanes: 16}\n", w->inline_generation);
}

static void
write_gpus (Writer *w)
{
  put (w, "  gpus:\n");
  if (w->type.name != NULL) {
    g_autofree char *name = base_yaml_quote (w->type.name);
    put (w, "    type: %s\n", name);
  } else
    write_type_inline (w);
  leaf_count (w, "    ", "count", w->machine->gpus->len, MEASURED, w->machine->origin);
}

static void
write_switched (Writer *w)
{
  const CluImportMachine *machine = w->machine;
  const CluImportShape *shape = &w->shape;
  put (w, "    kind: switch\n");
  guint32 planes = 0;
  for (guint32 i = 0; i < machine->planes->len; i++)
    planes += g_array_index (machine->planes, guint32, i);
  if (machine->n_nvswitches > 0)
    leaf_count (w, "    ", "switches", machine->n_nvswitches, MEASURED, machine->origin);
  else
    leaf_count (w, "    ", "switches", 1, ASSUMED, "the dump does not tell the NVSwitch chips apart");
  if (machine->n_nvswitches > 0 && machine->planes->len == machine->n_nvswitches && planes == w->type.lanes &&
      planes == shape->lanes) {
    put (w, "    planes: [");
    for (guint32 i = 0; i < machine->planes->len; i++)
      put (w, "%s%u", i > 0 ? ", " : "", g_array_index (machine->planes, guint32, i));
    put (w, "]\n");
  }
  if (w->type.sm >= FIRST_SHARP_SM)
    put (
        w,
        "    sharp: true # assumed: switches of this GPU generation reduce in the network; a dump does not say whether it is on\n");
  if (w->type.lanes > shape->lanes)
    leaf_count (w, "    ", "lanes_used", shape->lanes, MEASURED, machine->origin);
}

/* Each pair has as many links, as AMD's boards of eight have: written as one line. */
static gboolean
is_amd_mesh (const Writer *w)
{
  const CluImportShape *shape = &w->shape;
  guint32 n = w->machine->gpus->len, lanes = shape->lanes;
  if (g_array_index (w->machine->gpus, CluImportGpu, 0).vendor != CLU_PCI_AMD || shape->links->len != n * (n - 1) / 2)
    return FALSE;
  for (guint32 i = 0; i < shape->links->len; i++)
    if (g_array_index (shape->links, CluImportLink, i).lanes * (n - 1) != lanes)
      return FALSE;
  return w->type.name == NULL || w->type.lanes == lanes;
}

static void
write_nvlink (Writer *w)
{
  const CluImportShape *shape = &w->shape;
  const CluImportGpu *gpu = &g_array_index (w->machine->gpus, CluImportGpu, 0);
  const char *link_class = clu_import_link_class (gpu, w->type.sm);
  if (shape->scale_up == CLU_SCALE_UP_NONE && w->machine->nvlinks_untold && w->type.lanes > 0 && w->type.sm >= FIRST_SWITCHED_SM) {
    clu_import_warn (w->machine, gpu->mark, "NVLinks are not listed; the %u of GPU type %s are assumed, through a switch",
                     w->type.lanes, w->type.name);
    put (w, "  nvlink: # assumed: the file does not list NVLinks\n    kind: switch\n    switches: {value: 1, source: assumed}\n");
    if (w->type.sm >= FIRST_SHARP_SM)
      put (w, "    sharp: true\n");
    return;
  }
  if (shape->scale_up == CLU_SCALE_UP_NONE) {
    if (w->machine->nvlinks_untold && w->type.lanes > 0)
      clu_import_warn (w->machine, gpu->mark,
                       "the file does not list links between GPUs, and which GPUs the %u of GPU type %s join is not known; the "
                       "topology has none: add node.nvlink (docs/topology.md)",
                       w->type.lanes, w->type.name);
    else if (w->type.lanes > 0 && w->machine->gpus->len * w->machine->n_hosts > 1)
      clu_import_warn (w->machine, gpu->mark, "no %s is seen, though GPU type %s has %u; the topology has none",
                       w->machine->link_word, w->type.name != NULL ? w->type.name : "in place", w->type.lanes);
    put (w, "  nvlink: {kind: none}\n");
    return;
  }
  gboolean type_read = w->type.name == NULL || w->machine->input->lookup != NULL; /* else what the type has is not known here */
  if (link_class == NULL && type_read && w->type.lanes == 0) {
    clu_import_warn (w->machine, gpu->mark, "NVLinks of a GPU whose compute capability has none (sm_%u) are left out", w->type.sm);
    put (w, "  nvlink: {kind: none}\n");
    return;
  }
  put (w, "  nvlink:\n");
  if (shape->scale_up == CLU_SCALE_UP_SWITCH)
    write_switched (w);
  else if (is_amd_mesh (w))
    put (w, "    kind: full_mesh # measured: %s\n", w->machine->origin);
  else {
    put (w, "    kind: links\n    links: # measured: %s\n", w->machine->origin);
    for (guint32 i = 0; i < shape->links->len; i++) {
      const CluImportLink *link = &g_array_index (shape->links, CluImportLink, i);
      put (w, "      - {a: %u, b: %u, lanes: %u}\n", link->a, link->b, link->lanes);
    }
  }
  if (w->type.name == NULL || !type_read || (w->type.lanes >= shape->lanes && w->type.lanes > 0))
    return;
  if (w->type.lanes == 0 && link_class != NULL) /* a PCIe card under a bridge: its type names no scale-up link */
    put (w, "    link: {class: %s, lanes: {value: %u, source: measured, note: %s}}\n", link_class, shape->lanes,
         w->machine->origin);
  else {
    clu_import_warn (w->machine, gpu->mark, "%u %ss a GPU are seen, GPU type %s has %u; what is seen is taken", shape->lanes,
                     w->machine->link_word, w->type.name, w->type.lanes);
    put (w, "    link: {lanes: {value: %u, source: measured, note: %s}}\n", shape->lanes, w->machine->origin);
  }
}

static void
write_width (Writer *w, const char *indent, double GTps, guint32 lanes, const char *whose)
{
  guint32 generation = clu_import_pcie_generation (GTps);
  if (generation > 0) {
    g_autofree char *note = g_strdup_printf ("%s: %g GT/s", w->machine->origin, GTps);
    leaf_count (w, indent, "generation", generation, MEASURED, note);
  }
  if (lanes > 0)
    leaf_count (w, indent, "lanes", lanes, MEASURED, w->machine->origin);
  else {
    g_autofree char *note = g_strdup_printf ("the dump does not say the width of %s", whose);
    leaf_count (w, indent, "lanes", 16, ASSUMED, note);
  }
}

static void
write_pcie (Writer *w)
{
  const CluImportShape *shape = &w->shape;
  const CluImportGpu *gpu = &g_array_index (w->machine->gpus, CluImportGpu, 0);
  put (w, "  pcie:\n");
  if (clu_import_pcie_generation (shape->slot_GTps) == 0)
    clu_import_warn (w->machine, gpu->mark, "the speed of the GPUs' PCIe links is not said; the GPU type's own is taken");
  if (shape->slot_lanes == 0)
    clu_import_warn (w->machine, gpu->mark, "the width of the GPUs' PCIe links is not said; x16 is assumed");
  write_width (w, "    ", shape->slot_GTps, shape->slot_lanes, "the slots");
  leaf_count (w, "    ", "switch_per", shape->switch_per, MEASURED,
              shape->switch_per == 0 ? "no PCIe switch is seen above the GPUs" : w->machine->origin);
  if (shape->switch_per == 0)
    return;
  if (shape->uplink_known) {
    put (w, "    uplink:\n");
    if (shape->uplink_lanes == 0)
      clu_import_warn (w->machine, gpu->mark, "the width of the PCIe switches' uplinks is not said; x16 is assumed");
    write_width (w, "      ", shape->uplink_GTps, shape->uplink_lanes, "the uplinks");
  }
  if (shape->nics_under_switch)
    put (w, "    under_switch: [nics]\n");
}

static void
write_sockets (Writer *w)
{
  static const char *const cpus[] = { "intel", "amd", "arm", "power", "other" }; /* by CluCpu */
  const CluImportShape *shape = &w->shape;
  put (w, "  sockets:\n");
  if (shape->numa_known)
    leaf_count (w, "    ", "count", shape->n_sockets, MEASURED,
                "NUMA nodes with GPUs; a CPU that is split into several counts for each");
  else
    leaf_count (w, "    ", "count", shape->n_sockets, ASSUMED, "the dump does not tell NUMA nodes apart");
  if (shape->cpu_known)
    put (w, "    vendor: %s\n", cpus[shape->cpu]);
  if (shape->n_sockets > 1)
    put (w, "    interconnect: {class: %s} # assumed: %s\n",
         shape->cpu == CLU_CPU_AMD   ? "xgmi_socket"
         : shape->cpu == CLU_CPU_ARM ? "nvlink_c2c"
                                     : "upi",
         shape->cpu_known ? "usual between CPUs of this vendor" : "the dump does not say whose CPUs they are");
  if (shape->c2c_Bps > 0) {
    char rate_GBps[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (rate_GBps, sizeof rate_GBps, "%.15g", shape->c2c_Bps / 1e9);
    put (w, "    gpu_link: {class: nvlink_c2c, rate: {value: %s GB/s, source: measured, note: %s}}\n", rate_GBps,
         w->machine->origin);
  }
}

/* "mlx5_0, mlx5_1, …" of the fabric's NICs. */
static char *
nic_names (const CluImportShape *shape)
{
  GString *names = g_string_new (NULL);
  for (guint32 i = 0; i < shape->nics->len; i++) {
    const CluImportNic *nic = &g_array_index (shape->nics, CluImportNic, i);
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", nic->name);
  }
  return g_string_free (names, FALSE);
}

static void
write_nics (Writer *w)
{
  const CluImportShape *shape = &w->shape;
  if (shape->nics->len == 0)
    return;
  CluImportNic nic = g_array_index (shape->nics, CluImportNic, 0);
  gboolean rate_known = nic.rate_bps > 0;
  if (!rate_known && nic.wire != CLU_IMPORT_WIRE_EFA)
    nic.rate_bps = clu_import_usual_nic_rate (w->type.sm);
  double type_bps = 0;
  const char *type = clu_import_nic_type (&nic, w->machine->input->lookup, &type_bps);
  if (type == NULL) {
    clu_import_warn (w->machine, nic.mark, "no NIC type for these adapters is shipped; they are left out: add `nics` by hand");
    return;
  }
  w->has_nics = TRUE;
  if (!rate_known) {
    nic.rate_bps = type_bps;
    clu_import_warn (w->machine, nic.mark, "the NICs' rate is not said; %s (%g Gb/s) is assumed", type, type_bps / 1e9);
  }
  put (w, "  nics:\n    type: %s%s\n", type, rate_known ? "" : " # assumed: the dump does not say the rate");
  g_autofree char *names = nic_names (shape);
  leaf_count (w, "    ", "count", shape->nics->len, MEASURED, names);
  for (guint32 k = 0; shape->nics_on != NULL && k < shape->nics_on->len; k++)
    put (w, "%s%s%s", k == 0 ? "    on: [" : ", ", (const char *)shape->nics_on->pdata[k],
         k + 1 == shape->nics_on->len ? "] # measured\n" : "");
  if (nic.rate_bps != type_bps) {
    g_autofree char *rate = rate_text (nic.rate_bps);
    clu_import_warn (w->machine, nic.mark, "no NIC type of %s is shipped; %s with that rate is taken", rate, type);
    leaf (w, "    ", "rate", rate, MEASURED, "%s", w->machine->origin);
  }
}

static void
write_around (Writer *w)
{
  const CluImportShape *shape = &w->shape;
  if (w->machine->n_hosts > 1 && shape->scale_up == CLU_SCALE_UP_SWITCH)
    put (w, "nvlink_domain: {nodes: %u}\n", w->machine->n_hosts);
  if (w->has_nics)
    put (w, "fabric: {kind: single_switch} # assumed: a dump shows nodes, not what joins them\n");
  else if (w->machine->n_hosts > 1)
    put (w, "fabric: none # no NIC is seen\n");
  if (shape->frontend_bps > 0) {
    g_autofree char *rate = rate_text (shape->frontend_bps);
    g_autofree char *note = base_yaml_quote (shape->frontend_name);
    put (w, "frontend: {rate: {value: %s, source: measured, note: %s}}\n", rate, note);
  }
}

char *
clu_import_write (CluImportMachine *machine, GError **error)
{
  g_return_val_if_fail (machine->gpus->len > 0, NULL);
  g_auto (CluImportShape) shape = { .links = NULL };
  g_auto (CluImportType) type = { .name = NULL };
  clu_import_shape_init (&shape, machine);
  if (!clu_import_gpu_type (machine, shape.lanes, &type, error))
    return NULL;
  guint32 generation = clu_import_pcie_generation (shape.slot_GTps);
  /* A type written in place needs a PCIe class even where the dump is silent: generation 4, as NCCL assumes (src/graph/topo.cc:
   * 16 GT/s). */
  Writer w = {
    .machine = machine, .shape = shape, .type = type, .inline_generation = CLAMP (generation, 3, 7), .out = g_string_new (NULL)
  };
  if (generation == 0)
    w.inline_generation = 4;
  g_autofree char *from = base_yaml_quote (machine->input->path), *quoted = base_yaml_quote (machine->input->name);
  put (&w, "# Imported by forerun from %s (%s). measured: the dump says so; assumed: it does not.\n", from, machine->origin);
  put (&w, "topology: %s\n", quoted);
  put (&w, "nodes: %u\n", machine->n_hosts);
  put (&w, "node:\n");
  write_gpus (&w);
  write_nvlink (&w);
  write_pcie (&w);
  write_sockets (&w);
  write_nics (&w);
  write_around (&w);
  return g_string_free (w.out, FALSE);
}
