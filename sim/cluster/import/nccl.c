/* NCCL's topology XML: what NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads (clouds ship such files without <gpu> and <net>).
 * Source: NVIDIA/nccl src/graph/xml.cc, xml.h, topo.cc at commit 5067397c: <system version="1"> holds a <cpu> for each NUMA node
 * (host_hash tells hosts of one NVLink domain apart), it holds nested <pci> - upstream ports of PCIe switches, at the leaves
 * devices with <gpu> and <nic>. link_speed and link_width of a nested <pci> are those of its link upwards. tclass 0x068000 of an
 * <nvlink> is an NVSwitch, 0x03… a GPU; the target fffffff:ff:ff.0 is a switch that the machine does not show. <c2c> has MB/s a
 * link.
 * RCCL writes <system version="2">: a <gpu> has `gcn` ("908", "gfx942") for its architecture, `sm` counts its compute units, links
 * to other GPUs are <xgmi>, and a GPU's PCI class may be 0x1200. Source: ROCm/rccl src/graph/xml.cc, tools/topo_expl. */
#include <string.h>

#include "import/import-private.h"
#include "import/xml-private.h"

/* More NVSwitch chips than any NVLink domain has (72 GPUs: 18) are not distinguished. */
#define MAX_PLANES    64u
#define HIDDEN_SWITCH "fffffff:ff:ff.0"
#define MOST_NIC_BPS  100e12 /* kept wide: several ports as one */
/* PCI class codes (pci.ids): base class of bridges, displays, networks; 0207 InfiniBand, 0680 other bridge. */
#define CLASS_BRIDGE      0x06u
#define CLASS_DISPLAY     0x03u
#define CLASS_NETWORK     0x02u
#define CLASS_INFINIBAND  0x0207u
#define CLASS_NVSWITCH    0x0680u
#define CLASS_ACCELERATOR 0x12u

typedef struct {
  const CluXml *element;
  guint32 gpu;
  const char *target;
  guint32 count, class;
} NvLink;

typedef struct {
  const char *hash;
  guint32 n_gpus, n_nics;
} Host;

/* What is said of many devices alike is said once. */
typedef enum { ALIKE_OLD_LINK, ALIKE_NIC_RATE, ALIKE_BUSID, ALIKE_CLASS, ALIKE_OTHER, ALIKE_SELF, ALIKE_N } Alike;
typedef struct {
  BaseMark mark;
  char *text; /* owned: of the first */
  guint n;
} Warning;

typedef struct {
  CluImportMachine *machine;
  Warning alike[ALIKE_N];
  GArray *hosts;       /* Host; the first one's devices are in the machine */
  GArray *nvlinks;     /* NvLink of the first host's GPUs */
  GHashTable *busids;  /* "host busid" -> place of the GPU there plus one, or 0 */
  GHashTable *unknown; /* element names warned about */
  gboolean nested_switches, same_dev, any_gpu_element, rccl;
  GError *error; /* the first one; what is read after it does not matter */
} Reader;

/* Errors of the input: the first counts. */
#define refuse(reader, mark, ...) base_fail_at ((reader)->error == NULL ? &(reader)->error : NULL, mark, __VA_ARGS__)

static void warn_alike (Reader *reader, Alike kind, BaseMark mark, const char *format, ...) G_GNUC_PRINTF (4, 5);

static void
warn_alike (Reader *reader, Alike kind, BaseMark mark, const char *format, ...)
{
  Warning *warning = &reader->alike[kind];
  if (warning->n++ > 0)
    return;
  va_list list;
  va_start (list, format);
  warning->text = g_strdup_vprintf (format, list);
  warning->mark = mark;
  va_end (list);
}

static void
say_alike (Reader *reader, gboolean warns)
{
  for (guint k = 0; k < ALIKE_N; k++) {
    Warning *warning = &reader->alike[k];
    if (warns && warning->n > 1)
      clu_import_warn (reader->machine, warning->mark, "%s (and %u more like it)", warning->text, warning->n - 1);
    else if (warns && warning->n == 1)
      clu_import_warn (reader->machine, warning->mark, "%s", warning->text);
    g_clear_pointer (&warning->text, g_free);
    warning->n = 0;
  }
}

/* Where a <pci> stands. */
typedef struct {
  guint32 host, socket, pcie_switch;
  gboolean in_chain; /* only switches with a single switch below stand above */
} Place;

/* Attributes. */

/* A whole number, decimal or 0x…; absent, empty or "-1" (not known to the machine): `fallback`. */
static guint32
count_of (Reader *reader, const CluXml *element, const char *attribute, guint32 max, guint32 fallback)
{
  const char *text = clu_xml_get (element, attribute);
  guint64 value = 0;
  if (text == NULL || text[0] == '\0' || strcmp (text, "-1") == 0)
    return fallback;
  gboolean hex = g_str_has_prefix (text, "0x");
  if (!g_ascii_string_to_unsigned (hex ? text + 2 : text, hex ? 16 : 10, 0, max, &value, NULL))
    refuse (reader, element->mark, "%s of <%s> is '%.40s'; a whole number up to %u is accepted", attribute, element->name, text,
            max);
  return (guint32)value;
}

/* The first 16 bits of "0x020700"; 0 where it is not said. */
static guint32
class_of (Reader *reader, const CluXml *element, const char *attribute)
{
  return count_of (reader, element, attribute, 0xffffff, 0) >> 8;
}

/* link_speed, "32.0 GT/s PCIe" or "16 GT/s", and link_width; 0 where it is not said, or where it cannot be: below PCIe 3 is what
 * virtual machines make up for their own bridges (QEMU: 2.5 GT/s x1). */
static void
read_pcie (Reader *reader, const CluXml *pci, double *GTps, guint32 *lanes)
{
  const char *text = clu_xml_get (pci, "link_speed");
  *lanes = count_of (reader, pci, "link_width", 255, 0);
  *GTps = text == NULL ? 0 : g_ascii_strtod (text, NULL);
  if (*lanes > 32 || (*lanes & (*lanes - 1)) != 0) /* sysfs says 255 of a link that is down */
    *lanes = 0;
  guint32 generation = clu_import_pcie_generation (*GTps);
  if (generation > 0 && generation < 3) {
    warn_alike (reader, ALIKE_OLD_LINK, pci->mark, "a PCIe link of %g GT/s is older than these GPUs; taken as not said", *GTps);
    *lanes = 0;
  }
  if (generation < 3)
    *GTps = 0;
}

static const char *
keep (Reader *reader, const char *text)
{
  return base_arena_strdup (reader->machine->arena, text);
}

static void
warn_unknown (Reader *reader, const CluXml *element)
{
  static const char *const left_out[] = { "pcilink", "gin", "rma", "dev", "cxb" };
  for (gsize i = 0; i < G_N_ELEMENTS (left_out); i++)
    if (clu_xml_is (element, left_out[i]))
      return;
  if (g_hash_table_add (reader->unknown, (gpointer)keep (reader, element->name)))
    clu_import_warn (reader->machine, element->mark, "<%.40s> is not known here and is left out", element->name);
}

/* Devices. */

static void
read_nvlink (Reader *reader, const CluXml *element, guint32 gpu)
{
  NvLink link = { .element = element, .gpu = gpu, .target = clu_xml_get (element, "target") };
  if (link.target == NULL)
    refuse (reader, element->mark, "<%s> without a target; the PCI bus id of what it leads to is accepted", element->name);
  link.count = count_of (reader, element, "count", 1024, 1);
  link.class = class_of (reader, element, "tclass");
  if (link.count > 0)
    g_array_append_val (reader->nvlinks, link);
}

static gboolean
is_number_taken (const Reader *reader, guint32 number)
{
  for (guint32 i = 0; i < reader->machine->gpus->len; i++)
    if (g_array_index (reader->machine->gpus, CluImportGpu, i).number == number)
      return TRUE;
  return FALSE;
}

/* `element`: the <gpu>, or NULL where only its <pci> is given. */
static void
read_gpu (Reader *reader, const CluXml *pci, const CluXml *element, const Place *place)
{
  CluImportMachine *machine = reader->machine;
  gboolean first_host = place->host == 0;
  guint32 n = g_array_index (reader->hosts, Host, place->host).n_gpus++;
  CluImportGpu gpu = { .mark = pci->mark, .number = n, .socket = place->socket, .pcie_switch = place->pcie_switch };
  if (n == CLU_IMPORT_MAX_GPUS)
    refuse (reader, pci->mark, "more than %u GPUs in one node; at most %u are accepted", CLU_IMPORT_MAX_GPUS, CLU_IMPORT_MAX_GPUS);
  read_pcie (reader, pci, &gpu.slot_GTps, &gpu.slot_lanes);
  gpu.vendor = count_of (reader, pci, "vendor", 0xffff, 0);
  gpu.device = count_of (reader, pci, "device", 0xffff, 0);
  if (element != NULL) {
    gpu.number = count_of (reader, element, "dev", 65535, n);
    gpu.arch = clu_import_amd_arch (clu_xml_get (element, "gcn"));
    gpu.sm = reader->rccl ? 0 : count_of (reader, element, "sm", 999, 0);
  }
  if (reader->rccl && gpu.vendor == 0)
    gpu.vendor = CLU_PCI_AMD;
  reader->same_dev = reader->same_dev || (first_host && is_number_taken (reader, gpu.number));
  for (const CluXml *child = element == NULL ? NULL : element->first; child != NULL; child = child->next) {
    gboolean link = clu_xml_is (child, "nvlink") || clu_xml_is (child, "xgmi");
    if (link && first_host)
      read_nvlink (reader, child, machine->gpus->len);
    else if (clu_xml_is (child, "c2c"))
      gpu.c2c_Bps += 1e6 * count_of (reader, child, "bw", 10000000, 0) * count_of (reader, child, "count", 1024, 1);
    else if (!link)
      warn_unknown (reader, child);
  }
  if (!first_host)
    return;
  g_array_append_val (machine->gpus, gpu);
  const char *busid = clu_xml_get (pci, "busid");
  g_autofree char *lower = g_ascii_strdown (busid != NULL ? busid : "", -1);
  g_hash_table_insert (reader->busids, g_strdup_printf ("0 %s", lower), GUINT_TO_POINTER (machine->gpus->len));
}

/* The wire, by PCI class and vendor where a <pci> is above, else by name. A Mellanox adapter, or one without ids, in a file without
 * <net>, which a cloud wrote for NCCL, does RDMA. */
static CluImportWire
wire_of (const char *name, guint32 class, const CluImportNic *nic, gboolean named, gboolean gdr)
{
  CluImportWire wire = clu_import_wire_of_name (name, CLU_IMPORT_WIRE_UNKNOWN);
  if ((nic->vendor == CLU_PCI_AMAZON && (nic->device & 0xfff0u) == 0xefa0u) || wire == CLU_IMPORT_WIRE_EFA)
    return CLU_IMPORT_WIRE_EFA;
  if (class == CLASS_INFINIBAND)
    return CLU_IMPORT_WIRE_INFINIBAND;
  if (class != 0 && wire == CLU_IMPORT_WIRE_INFINIBAND) /* an adapter of that maker in Ethernet mode */
    return CLU_IMPORT_WIRE_ROCE;
  if (wire != CLU_IMPORT_WIRE_UNKNOWN && (wire != CLU_IMPORT_WIRE_ETHERNET || !gdr))
    return wire;
  return gdr || (!named && (nic->vendor == CLU_PCI_MELLANOX || nic->vendor == 0)) ? CLU_IMPORT_WIRE_ROCE : CLU_IMPORT_WIRE_ETHERNET;
}

/* `net`: NULL where only its <pci> is given; `pci`: NULL where the <nic> is attached to the CPU. */
static void
read_net (Reader *reader, const CluXml *pci, const CluXml *net, const Place *place)
{
  const char *name = net == NULL ? NULL : clu_xml_get (net, "name");
  name = name != NULL ? name : pci != NULL ? clu_xml_get (pci, "busid") : "a NIC";
  CluImportNic nic = {
    .mark = (net != NULL ? net : pci)->mark, .name = keep (reader, name), .socket = place->socket, .pcie_switch = place->pcie_switch
  };
  if (++g_array_index (reader->hosts, Host, place->host).n_nics > CLU_IMPORT_MAX_NICS)
    refuse (reader, nic.mark, "more than %u NICs in one node; at most %u are accepted", CLU_IMPORT_MAX_NICS, CLU_IMPORT_MAX_NICS);
  guint32 class = pci != NULL ? class_of (reader, pci, "class") : 0;
  nic.vendor = pci != NULL ? count_of (reader, pci, "vendor", 0xffff, 0) : 0;
  nic.device = pci != NULL ? count_of (reader, pci, "device", 0xffff, 0) : 0;
  gboolean gdr = net != NULL && count_of (reader, net, "gdr", 1, 0) != 0;
  nic.rate_bps = net != NULL ? 1e6 * count_of (reader, net, "speed", 1000000000, 0) : 0;
  if (nic.rate_bps > MOST_NIC_BPS) {
    warn_alike (reader, ALIKE_NIC_RATE, nic.mark, "%s runs at %g Gb/s by this file, which no NIC does; taken as not said", nic.name,
                nic.rate_bps / 1e9);
    nic.rate_bps = 0;
  }
  nic.wire = wire_of (name, class, &nic, net != NULL, gdr);
  if (place->host == 0)
    g_array_append_val (reader->machine->nics, nic);
}

static void
read_nic (Reader *reader, const CluXml *pci, const CluXml *element, const Place *place)
{
  for (const CluXml *net = element->first; net != NULL && reader->error == NULL; net = net->next)
    if (clu_xml_is (net, "net"))
      read_net (reader, pci, net, place);
    else
      warn_unknown (reader, net);
}

/* The PCI tree. */

static gboolean
is_device (const CluXml *pci)
{
  for (const CluXml *child = pci->first; child != NULL; child = child->next)
    if (clu_xml_is (child, "gpu") || clu_xml_is (child, "nic"))
      return TRUE;
  const char *class = clu_xml_get (pci, "class");
  return class != NULL &&
         (g_str_has_prefix (class, "0x03") || g_str_has_prefix (class, "0x02") || g_str_has_prefix (class, "0x12"));
}

static gboolean
is_gpu (const CluXml *pci)
{
  for (const CluXml *child = pci->first; child != NULL; child = child->next)
    if (clu_xml_is (child, "gpu"))
      return TRUE;
  return FALSE;
}

static gboolean
bears_device (const CluXml *pci)
{
  if (is_device (pci))
    return TRUE;
  for (const CluXml *child = pci->first; child != NULL; child = child->next)
    if (clu_xml_is (child, "pci") && bears_device (child))
      return TRUE;
  return FALSE;
}

/* The one <pci> below that bears devices, when it is a switch itself: then the two are one way up. NULL otherwise. */
static const CluXml *
only_switch_below (const CluXml *pci)
{
  const CluXml *only = NULL;
  for (const CluXml *child = pci->first; child != NULL; child = child->next)
    if (clu_xml_is (child, "pci") && bears_device (child)) {
      if (only != NULL || is_device (child))
        return NULL;
      only = child;
    }
  return only;
}

/* A switch, or a chain of them: its uplink is the narrowest. Returned: its number. */
static guint32
read_switch (Reader *reader, const CluXml *pci, const Place *place)
{
  CluImportSwitch sw = { .mark = pci->mark, .socket = place->socket, .uplink_known = TRUE };
  for (const CluXml *at = pci; at != NULL; at = only_switch_below (at)) {
    guint32 lanes = 0;
    double GTps = 0;
    read_pcie (reader, at, &GTps, &lanes);
    gboolean narrower = GTps * lanes > 0 && GTps * lanes < sw.uplink_GTps * sw.uplink_lanes;
    if (at == pci || narrower) {
      sw.uplink_GTps = GTps;
      sw.uplink_lanes = lanes;
    }
  }
  g_array_append_val (reader->machine->switches, sw);
  return reader->machine->switches->len - 1;
}

static void
add_busid (Reader *reader, const CluXml *pci, const Place *place)
{
  const char *busid = clu_xml_get (pci, "busid");
  if (busid == NULL || busid[0] == '\0' || strlen (busid) > 32) {
    refuse (reader, pci->mark, "<pci> without a busid, or with one that is too long; e.g. busid=\"0000:1b:00.0\" is accepted");
    return;
  }
  g_autofree char *lower = g_ascii_strdown (busid, -1), *key = g_strdup_printf ("%u %s", place->host, lower);
  if (!g_hash_table_contains (reader->busids, key))
    g_hash_table_insert (reader->busids, g_steal_pointer (&key), GUINT_TO_POINTER (0));
  else if (reader->rccl && !is_gpu (pci) && g_hash_table_lookup (reader->busids, key) == NULL) /* only GPUs are looked up by it */
    warn_alike (reader, ALIKE_BUSID, pci->mark, "busid %s is given twice; both devices are read", busid);
  else
    refuse (reader, pci->mark, "busid %s is given twice; each device and bridge has one of its own", busid);
}

static void
read_device (Reader *reader, const CluXml *pci, const Place *place)
{
  guint32 class = class_of (reader, pci, "class"), base = class >> 8;
  gboolean named = FALSE;
  for (const CluXml *child = pci->first; child != NULL && reader->error == NULL; child = child->next) {
    gboolean gpu = clu_xml_is (child, "gpu"), nic = clu_xml_is (child, "nic");
    named = named || gpu || nic;
    reader->any_gpu_element = reader->any_gpu_element || gpu;
    if (gpu)
      read_gpu (reader, pci, child, place);
    else if (nic)
      read_nic (reader, pci, child, place);
    else if (!clu_xml_is (child, "pci"))
      warn_unknown (reader, child);
  }
  if (!named && (base == CLASS_DISPLAY || base == CLASS_ACCELERATOR))
    read_gpu (reader, pci, NULL, place);
  else if (!named && base == CLASS_NETWORK)
    read_net (reader, pci, NULL, place);
  else if (!named && class == 0)
    warn_alike (reader, ALIKE_CLASS, pci->mark, "PCI device %s has no class, and is left out", clu_xml_get (pci, "busid"));
  else if (!named && base != CLASS_BRIDGE)
    warn_alike (reader, ALIKE_OTHER, pci->mark, "PCI device %s is neither GPU, NIC nor bridge (class %s) and is left out",
                clu_xml_get (pci, "busid"), clu_xml_get (pci, "class"));
}

static void
read_pci (Reader *reader, const CluXml *pci, Place place)
{
  gboolean device = is_device (pci);
  add_busid (reader, pci, &place);
  if (reader->error != NULL)
    return;
  if (device || pci->first == NULL)
    read_device (reader, pci, &place);
  if (!device && bears_device (pci)) {
    if (place.pcie_switch != CLU_NONE)
      reader->nested_switches = reader->nested_switches || !place.in_chain;
    else
      place.pcie_switch = read_switch (reader, pci, &place);
    place.in_chain = only_switch_below (pci) != NULL;
  }
  for (const CluXml *child = pci->first; child != NULL && reader->error == NULL; child = child->next)
    if (clu_xml_is (child, "pci"))
      read_pci (reader, child, place);
    else if (!device)
      warn_unknown (reader, child);
}

static guint32
host_of (Reader *reader, const CluXml *cpu)
{
  const char *hash = clu_xml_get (cpu, "host_hash");
  hash = hash == NULL ? "" : hash;
  for (guint32 i = 0; i < reader->hosts->len; i++)
    if (strcmp (g_array_index (reader->hosts, Host, i).hash, hash) == 0)
      return i;
  g_array_append_vals (reader->hosts, &(Host){ .hash = hash }, 1);
  return reader->hosts->len - 1;
}

static void
read_cpu (Reader *reader, const CluXml *cpu)
{
  static const struct {
    const char *attribute, *value;
    CluCpu vendor;
  } rows[] = { { "vendor", "GenuineIntel", CLU_CPU_INTEL },
               { "vendor", "AuthenticAMD", CLU_CPU_AMD },
               { "arch", "arm64", CLU_CPU_ARM },
               { "arch", "ppc64", CLU_CPU_POWER } };
  guint32 numa = count_of (reader, cpu, "numaid", 65535, G_MAXUINT32);
  CluImportSocket socket = { .numa = numa == G_MAXUINT32 ? -1 : (gint32)numa, .vendor = CLU_CPU_OTHER };
  socket.vendor_known = clu_xml_get (cpu, "vendor") != NULL || clu_xml_get (cpu, "arch") != NULL;
  for (gsize i = G_N_ELEMENTS (rows); i-- > 0;)
    if (g_strcmp0 (clu_xml_get (cpu, rows[i].attribute), rows[i].value) == 0)
      socket.vendor = rows[i].vendor;
  Place place = { .host = host_of (reader, cpu), .pcie_switch = CLU_NONE };
  if (place.host == 0) {
    GArray *sockets = reader->machine->sockets;
    while (place.socket < sockets->len && g_array_index (sockets, CluImportSocket, place.socket).numa != socket.numa)
      place.socket++;
    if (place.socket == sockets->len)
      g_array_append_val (sockets, socket);
  }
  for (const CluXml *child = cpu->first; child != NULL && reader->error == NULL; child = child->next)
    if (clu_xml_is (child, "pci"))
      read_pci (reader, child, place);
    else if (clu_xml_is (child, "nic"))
      read_nic (reader, NULL, child, &place);
    else
      warn_unknown (reader, child);
}

/* After the tree. */

static void
note_plane (GPtrArray *targets, const char *target)
{
  if (targets->len > MAX_PLANES)
    return;
  for (guint32 i = 0; i < targets->len; i++)
    if (g_ascii_strcasecmp (g_ptr_array_index (targets, i), target) == 0)
      return;
  g_ptr_array_add (targets, (gpointer)target);
}

static int
compare_targets (gconstpointer a, gconstpointer b)
{
  return g_ascii_strcasecmp (*(const char *const *)a, *(const char *const *)b);
}

/* How many NVLinks of a GPU go to each NVSwitch, in the order of their bus ids, where all GPUs agree. */
static void
resolve_planes (Reader *reader, GPtrArray *targets)
{
  CluImportMachine *machine = reader->machine;
  guint32 n = targets->len;
  g_ptr_array_sort (targets, compare_targets);
  for (guint32 t = 0; t < n; t++)
    if (g_ascii_strcasecmp (g_ptr_array_index (targets, t), HIDDEN_SWITCH) == 0)
      return;
  if (n == 0 || n > MAX_PLANES)
    return;
  machine->n_nvswitches = n;
  g_autofree guint32 *lanes = g_new0 (guint32, (gsize)n * machine->gpus->len);
  for (guint32 i = 0; i < reader->nvlinks->len; i++) {
    const NvLink *link = &g_array_index (reader->nvlinks, NvLink, i);
    for (guint32 t = 0; link->class == CLASS_NVSWITCH && t < n; t++)
      if (g_ascii_strcasecmp (g_ptr_array_index (targets, t), link->target) == 0)
        lanes[(gsize)link->gpu * n + t] += link->count;
  }
  for (guint32 gpu = 1; gpu < machine->gpus->len; gpu++)
    if (memcmp (&lanes[(gsize)gpu * n], lanes, n * sizeof *lanes) != 0)
      return;
  g_array_append_vals (machine->planes, lanes, n);
}

/* Where each NVLink leads. */
static void
resolve_nvlinks (Reader *reader)
{
  CluImportMachine *machine = reader->machine;
  const char *word = machine->link_word;
  g_autoptr (GPtrArray) targets = g_ptr_array_new ();
  for (guint32 i = 0; i < reader->nvlinks->len; i++) {
    NvLink *link = &g_array_index (reader->nvlinks, NvLink, i);
    g_autofree char *lower = g_ascii_strdown (link->target, -1), *key = g_strdup_printf ("0 %s", lower);
    guint32 peer = GPOINTER_TO_UINT (g_hash_table_lookup (reader->busids, key));
    BaseMark mark = link->element->mark;
    if (link->class == 0) /* written by hand: a GPU of the file, else a switch */
      link->class = peer > 0 ? CLASS_DISPLAY << 8 : CLASS_NVSWITCH;
    if (link->class == CLASS_NVSWITCH) {
      g_array_index (machine->gpus, CluImportGpu, link->gpu).switch_lanes += link->count;
      note_plane (targets, link->target);
    } else if (link->class >> 8 != CLASS_DISPLAY && link->class >> 8 != CLASS_ACCELERATOR)
      clu_import_warn (machine, mark, "%ss to %.40s, which is neither GPU nor NVSwitch (a CPU?), are left out", word, link->target);
    else if (peer == 0)
      clu_import_warn (machine, mark, "%ss to GPU %.40s, which is not in the file, are left out", word, link->target);
    else if (peer - 1 == link->gpu)
      warn_alike (reader, ALIKE_SELF, mark, "%ss of a GPU to itself are left out", word);
    else
      g_array_append_vals (machine->links, &(CluImportLink){ mark, link->gpu, peer - 1, link->count }, 1);
  }
  resolve_planes (reader, targets);
}

/* "mlx5_0+mlx5_1" is NCCL's name for the two ports as one: the ports themselves are then listed too, but not used. */
static void
drop_merged_ports (CluImportMachine *machine)
{
  g_autoptr (GHashTable) merged = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint32 i = 0; i < machine->nics->len; i++) {
    const char *name = g_array_index (machine->nics, CluImportNic, i).name;
    g_auto (GStrv) parts = strchr (name, '+') == NULL ? NULL : g_strsplit (name, "+", -1);
    for (char **part = parts; part != NULL && *part != NULL; part++)
      g_hash_table_add (merged, g_strdup (*part));
  }
  guint32 kept = 0;
  for (guint32 i = 0; i < machine->nics->len; i++) {
    CluImportNic nic = g_array_index (machine->nics, CluImportNic, i);
    if (!g_hash_table_contains (merged, nic.name))
      g_array_index (machine->nics, CluImportNic, kept++) = nic;
  }
  g_array_set_size (machine->nics, kept);
}

static void
compare_hosts (Reader *reader)
{
  const Host *first = &g_array_index (reader->hosts, Host, 0);
  for (guint32 i = 1; i < reader->hosts->len; i++) {
    const Host *host = &g_array_index (reader->hosts, Host, i);
    if (host->n_gpus != first->n_gpus || host->n_nics != first->n_nics)
      clu_import_warn (reader->machine, g_array_index (reader->machine->gpus, CluImportGpu, 0).mark,
                       "host %.40s has %u GPUs and %u NICs, the first has %u and %u: all nodes are written like the first",
                       host->hash, host->n_gpus, host->n_nics, first->n_gpus, first->n_nics);
  }
  reader->machine->n_hosts = reader->hosts->len;
}

static gboolean
check_system (const CluXml *system, GError **error)
{
  const char *version = clu_xml_get (system, "version");
  if (!clu_xml_is (system, "system"))
    return base_fail_at (error, system->mark,
                         "the top element is <%.40s>; NCCL's topology has <system version=\"1\"> (NCCL_TOPO_DUMP_FILE)%s",
                         system->name, clu_xml_is (system, "graphs") ? "; forerun import nccl-graph reads this file" : "");
  if (version == NULL)
    return base_fail_at (error, system->mark, "<system> without a version; version=\"1\" is accepted");
  if (strcmp (version, "1") != 0 && strcmp (version, "2") != 0)
    return base_fail_at (error, system->mark, "<system> has version '%.40s'; versions 1 (NCCL's) and 2 (RCCL's) are accepted",
                         version);
  return TRUE;
}

static void
read_system (Reader *reader, const CluXml *system)
{
  CluImportMachine *machine = reader->machine;
  for (const CluXml *child = system->first; child != NULL && reader->error == NULL; child = child->next)
    if (clu_xml_is (child, "cpu"))
      read_cpu (reader, child);
    else
      warn_unknown (reader, child);
  guint n_unknown = reader->alike[ALIKE_CLASS].n;
  say_alike (reader, machine->gpus->len > 0);
  if (machine->gpus->len == 0 && n_unknown > 0)
    refuse (reader, system->mark,
            "no GPU: %u PCI devices have no class, so nothing says which of them are GPUs; import a dump of such a machine "
            "(NCCL_TOPO_DUMP_FILE=topo.xml), which says it",
            n_unknown);
  else if (machine->gpus->len == 0)
    refuse (reader, system->mark, "no GPU%s; a dump taken on a GPU node has a <gpu> or a <pci class=\"0x03…\"> at least",
            reader->hosts->len > 1 ? " on the first host" : "");
  if (reader->error != NULL)
    return;
  BaseMark mark = g_array_index (machine->gpus, CluImportGpu, 0).mark;
  if (reader->same_dev) {
    clu_import_warn (machine, mark, "several GPUs have the same dev; they are numbered in the order of the file");
    for (guint32 i = 0; i < machine->gpus->len; i++)
      g_array_index (machine->gpus, CluImportGpu, i).number = i;
  }
  if (reader->nested_switches)
    clu_import_warn (machine, mark, "PCIe switches below switches are not told apart: devices hang on the topmost");
  machine->nvlinks_untold = !reader->any_gpu_element;
  resolve_nvlinks (reader);
  say_alike (reader, TRUE);
  drop_merged_ports (machine);
  compare_hosts (reader);
}

char *
clu_import_nccl_topo (const CluImport *input, GError **error)
{
  g_auto (CluImportMachine) machine;
  clu_import_machine_init (&machine, input, "NCCL topology dump");
  const CluXml *system = clu_xml_parse (input->path, input->bytes == NULL ? "" : input->bytes, input->n_B, machine.arena, error);
  if (system == NULL || !check_system (system, error))
    return NULL;
  g_autoptr (GArray) hosts = g_array_new (FALSE, TRUE, sizeof (Host)), nvlinks = g_array_new (FALSE, TRUE, sizeof (NvLink));
  g_autoptr (GHashTable) busids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) unknown = g_hash_table_new (g_str_hash, g_str_equal);
  Reader reader = { .machine = &machine, .hosts = hosts, .nvlinks = nvlinks, .busids = busids, .unknown = unknown };
  reader.rccl = g_str_equal (clu_xml_get (system, "version"), "2");
  if (reader.rccl) {
    machine.origin = "RCCL topology dump";
    machine.link_word = "xGMI link";
  }
  read_system (&reader, system);
  say_alike (&reader, FALSE); /* where it ended early */
  if (reader.error == NULL)
    return clu_import_write (&machine, error);
  g_propagate_error (error, reader.error);
  return NULL;
}
