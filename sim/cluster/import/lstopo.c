/* The XML that `lstopo --of xml` of hwloc 2 or 3 writes: packages (sockets), and below each the bridges and devices of PCI. A
 * device is behind a PCIe switch where three bridges or more lead to it: root port, the switch's upstream port, its downstream
 * port. pci_type is "CLASS [vendor:device] …", pci_link_speed GB/s of all lanes. hwloc does not say what a network port runs at,
 * and of NVLinks only what NVML told it, in a matrix that is not read: both are taken as the GPU's type has them. Source: hwloc
 * 3b37b02, hwloc/hwloc2.dtd and hwloc/topology-xml.c. */
#include <math.h>
#include <string.h>

#include "import/import-private.h"
#include "import/xml-private.h"

#define MOST_BRIDGES 64u /* as deep as an XML file is read */
#define NO_SOCKET    0u

enum {
  CLASS_NETWORK = 0x02,
  CLASS_DISPLAY = 0x03,
  CLASS_INFINIBAND = 0x0207,
  CLASS_OTHER_DISPLAY = 0x0380,
  CLASS_OTHER_BRIDGE = 0x0680,
  CLASS_ACCELERATOR = 0x1200
};

typedef struct {
  CluImportMachine *machine;
  guint32 socket;    /* package that is being read */
  gboolean inside;   /* of a package */
  guint32 n_bridges; /* PCI bridges above */
  const CluXml *bridge[MOST_BRIDGES];
  GHashTable *switches; /* CluXml * of an upstream port -> its number + 1 */
  gboolean without_socket;
} Reader;

static gboolean
is_type (const CluXml *object, const char *type)
{
  return clu_xml_is (object, "object") && g_strcmp0 (clu_xml_get (object, "type"), type) == 0;
}

/* GT/s of a lane, where all 16 are there at generation 3 or more: idle links of GPUs run at less. 0: not known. */
static double
lane_rate (const CluXml *device)
{
  static const double GBps[][2] = { { 15.75, 8 }, { 31.5, 16 }, { 63.0, 32 }, { 121.0, 64 } };
  const char *text = clu_xml_get (device, "pci_link_speed");
  const double speed = text != NULL ? g_ascii_strtod (text, NULL) : 0;
  for (guint32 i = 0; i < G_N_ELEMENTS (GBps); i++)
    if (fabs (speed / GBps[i][0] - 1) < 0.05)
      return GBps[i][1];
  return 0;
}

/* The switch above the device that is being read: its upstream port is the second bridge. */
static guint32
switch_above (Reader *reader)
{
  if (reader->n_bridges < 3)
    return CLU_NONE;
  const CluXml *port = reader->bridge[1];
  guint32 number = GPOINTER_TO_UINT (g_hash_table_lookup (reader->switches, port));
  if (number > 0)
    return number - 1;
  CluImportSwitch sw = { .mark = port->mark, .socket = reader->socket, .uplink_known = lane_rate (port) > 0 };
  sw.uplink_GTps = lane_rate (port);
  sw.uplink_lanes = sw.uplink_known ? 16 : 0;
  g_array_append_val (reader->machine->switches, sw);
  g_hash_table_insert (reader->switches, (gpointer)(guintptr)port, GUINT_TO_POINTER (reader->machine->switches->len));
  return reader->machine->switches->len - 1;
}

/* The name that RDMA gives a NIC, or else its network interface; NULL: neither. */
static const char *
name_of (const CluXml *device, gboolean *rdma)
{
  const char *name = NULL;
  *rdma = FALSE;
  for (const CluXml *child = device->first; child != NULL; child = child->next) {
    const char *kind = is_type (child, "OSDev") ? clu_xml_get (child, "osdev_type") : NULL;
    const char *own = kind != NULL ? clu_xml_get (child, "name") : NULL;
    const gboolean verbs = own != NULL && (clu_import_wire_of_name (own, CLU_IMPORT_WIRE_UNKNOWN) != CLU_IMPORT_WIRE_UNKNOWN ||
                                           strcmp (kind, "3") == 0 || g_ascii_strcasecmp (kind, "OpenFabrics") == 0);
    if (own == NULL || (*rdma && !verbs))
      continue;
    name = *rdma ? name : own;
    *rdma = *rdma || verbs;
  }
  return name;
}

static void
add_nic (Reader *reader, const CluXml *device, unsigned class, unsigned vendor, unsigned id)
{
  gboolean rdma = FALSE;
  const char *name = name_of (device, &rdma);
  CluImportNic nic = { .mark = device->mark,
                       .name = name != NULL ? name : "a NIC",
                       .vendor = vendor,
                       .device = id,
                       .socket = reader->socket,
                       .pcie_switch = switch_above (reader) };
  nic.wire = class == CLASS_INFINIBAND                               ? CLU_IMPORT_WIRE_INFINIBAND
             : vendor == CLU_PCI_AMAZON && (id & 0xfff0u) == 0xefa0u ? CLU_IMPORT_WIRE_EFA
             : rdma                                                  ? CLU_IMPORT_WIRE_ROCE
                                                                     : CLU_IMPORT_WIRE_ETHERNET;
  if (reader->machine->nics->len < CLU_IMPORT_MAX_NICS)
    g_array_append_val (reader->machine->nics, nic);
}

static void
add_gpu (Reader *reader, const CluXml *device, unsigned vendor, unsigned id)
{
  GArray *gpus = reader->machine->gpus;
  CluImportGpu gpu = { .mark = device->mark,
                       .number = gpus->len,
                       .vendor = vendor,
                       .device = id,
                       .socket = reader->socket,
                       .pcie_switch = switch_above (reader),
                       .slot_GTps = lane_rate (device) };
  gpu.slot_lanes = gpu.slot_GTps > 0 ? 16 : 0;
  if (gpus->len < CLU_IMPORT_MAX_GPUS)
    g_array_append_val (gpus, gpu);
}

/* FALSE and *error where pci_type is not one. */
static gboolean
read_device (Reader *reader, const CluXml *device, GError **error)
{
  const char *type = clu_xml_get (device, "pci_type"), *ids = type != NULL ? strchr (type, '[') : NULL;
  const char *colon = ids != NULL ? strchr (ids, ':') : NULL;
  if (colon == NULL)
    return base_fail_at (error, device->mark, "a PCI device without pci_type, or with one that is not '0302 [10de:2330] …'");
  const unsigned class = (unsigned)g_ascii_strtoull (type, NULL, 16), vendor = (unsigned)g_ascii_strtoull (ids + 1, NULL, 16),
                 id = (unsigned)g_ascii_strtoull (colon + 1, NULL, 16);
  /* AMD's accelerators are no displays; its cards that are belong to management boards too */
  const gboolean gpu = (class >> 8 == CLASS_DISPLAY && vendor == CLU_PCI_NVIDIA) ||
                       ((class == CLASS_OTHER_DISPLAY || class == CLASS_ACCELERATOR) && vendor == CLU_PCI_AMD);
  if (gpu || class >> 8 == CLASS_NETWORK)
    reader->without_socket = reader->without_socket || !reader->inside;
  if (gpu)
    add_gpu (reader, device, vendor, id);
  else if (class >> 8 == CLASS_NETWORK)
    add_nic (reader, device, class, vendor, id);
  else if (g_strcmp0 (clu_xml_get (device, "subtype"), "NVSwitch") == 0 ||
           (class == CLASS_OTHER_BRIDGE && vendor == CLU_PCI_NVIDIA))
    reader->machine->n_nvswitches++;
  return TRUE;
}

static void
open_package (Reader *reader, const CluXml *package)
{
  CluImportSocket socket = { .numa = -1, .vendor = CLU_CPU_OTHER };
  for (const CluXml *info = package->first; info != NULL; info = info->next) {
    const char *value = clu_xml_is (info, "info") ? clu_xml_get (info, "value") : NULL;
    if (value != NULL && g_strcmp0 (clu_xml_get (info, "name"), "CPUVendor") == 0) {
      socket.vendor = strcmp (value, "GenuineIntel") == 0   ? CLU_CPU_INTEL
                      : strcmp (value, "AuthenticAMD") == 0 ? CLU_CPU_AMD
                                                            : CLU_CPU_OTHER;
      socket.vendor_known = TRUE;
    }
  }
  g_array_append_val (reader->machine->sockets, socket);
  reader->socket = reader->machine->sockets->len - 1;
  reader->inside = TRUE;
}

static gboolean
read_object (Reader *reader, const CluXml *object, GError **error)
{
  const gboolean package = is_type (object, "Package"), numa = is_type (object, "NUMANode");
  const gboolean pci = is_type (object, "Bridge") && clu_xml_get (object, "pci_busid") != NULL;
  const Reader before = *reader;
  if (package)
    open_package (reader, object);
  if (numa && reader->inside) {
    CluImportSocket *socket = &g_array_index (reader->machine->sockets, CluImportSocket, reader->socket);
    const char *index = clu_xml_get (object, "os_index");
    socket->numa = socket->numa < 0 && index != NULL ? (gint32)MIN (g_ascii_strtoull (index, NULL, 10), 65535) : socket->numa;
  }
  if (is_type (object, "PCIDev") && !read_device (reader, object, error))
    return FALSE;
  if (pci && reader->n_bridges < MOST_BRIDGES)
    reader->bridge[reader->n_bridges++] = object;
  for (const CluXml *child = object->first; child != NULL; child = child->next)
    if (clu_xml_is (child, "object") && !read_object (reader, child, error))
      return FALSE;
  reader->n_bridges = before.n_bridges;
  if (package) {
    reader->socket = before.socket;
    reader->inside = before.inside;
  }
  return TRUE;
}

static gboolean
check_root (const CluXml *root, GError **error)
{
  if (!clu_xml_is (root, "topology"))
    return base_fail_at (error, root->mark, "<%.40s> is not a topology of hwloc; what lstopo --of xml writes is accepted",
                         root->name);
  if (clu_xml_get (root, "version") == NULL)
    return base_fail_at (error, root->mark, "this is the XML of hwloc 1; that of hwloc 2 or newer is accepted");
  return TRUE;
}

/* Where NVSwitches are seen, all NVLinks of the GPUs' type lead to them. */
static gboolean
assume_switched (CluImportMachine *machine, GError **error)
{
  g_auto (CluImportType) type = { .name = NULL };
  if (machine->n_nvswitches == 0)
    return TRUE;
  if (!clu_import_gpu_type (machine, 0, &type, error))
    return FALSE;
  for (guint32 i = 0; i < machine->gpus->len; i++)
    g_array_index (machine->gpus, CluImportGpu, i).switch_lanes = type.lanes;
  if (type.lanes == 0 || type.lanes % machine->n_nvswitches != 0) /* a GPU is not connected to all of them */
    machine->n_nvswitches = 0;
  return TRUE;
}

char *
clu_import_lstopo (const CluImport *input, GError **error)
{
  g_auto (CluImportMachine) machine;
  clu_import_machine_init (&machine, input, "lstopo");
  if (input->bytes == NULL || input->bytes[strspn (input->bytes, " \t\r\n")] != '<') {
    base_fail_at (error, (BaseMark){ input->path, 1, 1 }, "not XML; what lstopo --of xml writes is accepted");
    return NULL;
  }
  const CluXml *root = clu_xml_parse (input->path, input->bytes == NULL ? "" : input->bytes, input->n_B, machine.arena, error);
  if (root == NULL || !check_root (root, error))
    return NULL;
  g_autoptr (GHashTable) switches = g_hash_table_new (NULL, NULL);
  Reader reader = { .machine = &machine, .socket = NO_SOCKET, .switches = switches };
  for (const CluXml *object = root->first; object != NULL; object = object->next)
    if (clu_xml_is (object, "object") && !read_object (&reader, object, error))
      return NULL;
  if (machine.sockets->len == 0)
    g_array_append_vals (machine.sockets, &(CluImportSocket){ .numa = -1, .vendor = CLU_CPU_OTHER }, 1);
  if (machine.gpus->len == 0) {
    base_fail_at (error, root->mark, "no GPU in it; lstopo of a node with GPUs is accepted, written with PCI devices (--whole-io)");
    return NULL;
  }
  if (reader.without_socket)
    clu_import_warn (&machine, root->mark, "devices that belong to no package are taken for those of the first");
  machine.nvlinks_untold = TRUE;
  return assume_switched (&machine, error) ? clu_import_write (&machine, error) : NULL;
}
