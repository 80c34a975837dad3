/* From the devices of a dump to what a topology file can say: GPUs numbered along the PCIe tree, the same number behind every
 * switch and socket, adapters that divide over the GPUs. What does not fit is said in a warning, never dropped in silence. */
#include <stdlib.h>

#include "import/shape-private.h"

/* An Ethernet adapter without RDMA below this is taken for the front-end even when it is the only one. Assumed: it is the
 * slowest rate that clouds sell as a network between GPU nodes. */
#define FABRIC_LEAST_BPS 25e9

void
clu_import_machine_init (CluImportMachine *machine, const CluImport *input, const char *origin)
{
  *machine = (CluImportMachine){ .input = input, .origin = origin, .link_word = "NVLink", .n_hosts = 1 };
  machine->gpus = g_array_new (FALSE, TRUE, sizeof (CluImportGpu));
  machine->nics = g_array_new (FALSE, TRUE, sizeof (CluImportNic));
  machine->switches = g_array_new (FALSE, TRUE, sizeof (CluImportSwitch));
  machine->sockets = g_array_new (FALSE, TRUE, sizeof (CluImportSocket));
  machine->links = g_array_new (FALSE, TRUE, sizeof (CluImportLink));
  machine->planes = g_array_new (FALSE, TRUE, sizeof (guint32));
  machine->arena = base_arena_new ();
}

void
clu_import_machine_clear (CluImportMachine *machine)
{
  g_clear_pointer (&machine->gpus, g_array_unref);
  g_clear_pointer (&machine->nics, g_array_unref);
  g_clear_pointer (&machine->switches, g_array_unref);
  g_clear_pointer (&machine->sockets, g_array_unref);
  g_clear_pointer (&machine->links, g_array_unref);
  g_clear_pointer (&machine->planes, g_array_unref);
  g_clear_pointer (&machine->arena, base_arena_free);
}

static CluImportGpu *
gpu_at (const CluImportMachine *machine, guint32 i)
{
  return &g_array_index (machine->gpus, CluImportGpu, i);
}

static CluImportNic *
nic_at (const CluImportMachine *machine, guint32 i)
{
  return &g_array_index (machine->nics, CluImportNic, i);
}

/* GPUs. */

/* Orders GPUs along the PCIe tree: by the lowest number of their socket, of their switch, their own, and their place before. Each
 * is below 2^16. */
static guint64
place_of (const CluImportMachine *machine, guint32 i)
{
  const CluImportGpu *gpu = gpu_at (machine, i);
  guint64 socket = G_MAXUINT16, behind = gpu->number;
  for (guint32 j = 0; j < machine->gpus->len; j++) {
    const CluImportGpu *other = gpu_at (machine, j);
    if (other->socket != gpu->socket)
      continue;
    socket = MIN (socket, other->number);
    if (gpu->pcie_switch != CLU_NONE && other->pcie_switch == gpu->pcie_switch)
      behind = MIN (behind, other->number);
  }
  return socket << 48 | behind << 32 | (guint64)gpu->number << 16 | i;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return x < y ? -1 : x > y;
}

static void
order_gpus (CluImportMachine *machine)
{
  guint32 n = machine->gpus->len, before = 0;
  g_autofree guint64 *places = g_new (guint64, n);
  g_autofree guint32 *now = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    places[i] = place_of (machine, i);
  qsort (places, n, sizeof *places, compare_places);
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, TRUE, sizeof (CluImportGpu), n);
  g_autoptr (GString) was = g_string_new (NULL);
  gboolean moved = FALSE;
  for (guint32 i = 0; i < n; i++) {
    guint32 index = places[i] & G_MAXUINT16, number = gpu_at (machine, index)->number;
    now[index] = i;
    g_array_append_vals (sorted, gpu_at (machine, index), 1);
    g_string_append_printf (was, "%s%u", i > 0 ? " " : "", number);
    moved = moved || number < before;
    before = number;
  }
  g_array_unref (machine->gpus);
  machine->gpus = g_steal_pointer (&sorted);
  for (guint32 i = 0; i < machine->links->len; i++) {
    CluImportLink *link = &g_array_index (machine->links, CluImportLink, i);
    link->a = now[link->a];
    link->b = now[link->b];
  }
  if (moved)
    clu_import_warn (machine, gpu_at (machine, 0)->mark, "GPUs are numbered anew along the PCIe tree: 0, 1, … are the machine's %s",
                     was->str);
}

/* GPUs of a socket or switch; `by_socket` chooses. Equal runs in GPU order, or 0. */
static guint32
even_groups (const CluImportMachine *machine, gboolean by_socket, GString *sizes)
{
  guint32 n = machine->gpus->len, first = 0, group = 0;
  gboolean even = TRUE;
  for (guint32 i = 1; i <= n; i++) {
    const CluImportGpu *before = gpu_at (machine, i - 1), *gpu = i < n ? gpu_at (machine, i) : NULL;
    if (gpu != NULL && gpu->socket == before->socket && (by_socket || gpu->pcie_switch == before->pcie_switch))
      continue;
    guint32 size = i - first;
    g_string_append_printf (sizes, "%s%u", first > 0 ? ", " : "", size);
    even = even && (group == 0 || size == group) && (by_socket || before->pcie_switch != CLU_NONE);
    group = group == 0 ? size : group;
    first = i;
  }
  return even ? group : 0;
}

static void
shape_switches (CluImportMachine *machine, CluImportShape *shape)
{
  gboolean any = FALSE;
  for (guint32 i = 0; i < machine->gpus->len; i++)
    any = any || gpu_at (machine, i)->pcie_switch != CLU_NONE;
  if (!any)
    return;
  g_autoptr (GString) sizes = g_string_new (NULL);
  shape->switch_per = even_groups (machine, FALSE, sizes);
  if (shape->switch_per == 0) {
    clu_import_warn (
        machine, gpu_at (machine, 0)->mark,
        "GPUs stand %s behind the PCIe switches (or sockets); a topology file has equally many behind each: they are put on the "
        "sockets",
        sizes->str);
    return;
  }
  gboolean first = TRUE, differ = FALSE;
  for (guint32 i = 0; i < machine->gpus->len; i += shape->switch_per) {
    const CluImportSwitch *sw = &g_array_index (machine->switches, CluImportSwitch, gpu_at (machine, i)->pcie_switch);
    double rate = sw->uplink_GTps * sw->uplink_lanes, least = shape->uplink_GTps * shape->uplink_lanes;
    differ = differ || (!first && (sw->uplink_GTps != shape->uplink_GTps || sw->uplink_lanes != shape->uplink_lanes));
    if (first || (rate > 0 && (rate < least || least <= 0))) {
      shape->uplink_GTps = sw->uplink_GTps;
      shape->uplink_lanes = sw->uplink_lanes;
      shape->uplink_known = sw->uplink_known;
    }
    first = FALSE;
  }
  if (differ)
    clu_import_warn (machine, gpu_at (machine, 0)->mark, "PCIe switches have different uplinks; the slowest is taken for all");
}

static void
shape_sockets (CluImportMachine *machine, CluImportShape *shape)
{
  g_autoptr (GString) sizes = g_string_new (NULL);
  guint32 with_gpus = 1;
  for (guint32 i = 1; i < machine->gpus->len; i++)
    with_gpus += gpu_at (machine, i)->socket != gpu_at (machine, i - 1)->socket;
  shape->n_sockets = with_gpus;
  if (even_groups (machine, TRUE, sizes) == 0)
    clu_import_warn (machine, gpu_at (machine, 0)->mark, "the NUMA nodes have %s GPUs; a topology file spreads them evenly",
                     sizes->str);
  if (machine->sockets->len > with_gpus)
    clu_import_warn (machine, gpu_at (machine, 0)->mark, "%u NUMA nodes without a GPU are left out",
                     machine->sockets->len - with_gpus);
  const CluImportSocket *socket = &g_array_index (machine->sockets, CluImportSocket, gpu_at (machine, 0)->socket);
  shape->numa_known = socket->numa >= 0;
  shape->cpu = socket->vendor;
  shape->cpu_known = socket->vendor_known;
}

static void
shape_slots (CluImportMachine *machine, CluImportShape *shape)
{
  const CluImportGpu *first = gpu_at (machine, 0);
  shape->slot_GTps = first->slot_GTps;
  shape->slot_lanes = first->slot_lanes;
  shape->c2c_Bps = first->c2c_Bps;
  gboolean differ = FALSE;
  for (guint32 i = 1; i < machine->gpus->len; i++) {
    const CluImportGpu *gpu = gpu_at (machine, i);
    differ = differ || gpu->slot_GTps != first->slot_GTps || gpu->slot_lanes != first->slot_lanes || gpu->c2c_Bps != first->c2c_Bps;
    shape->slot_GTps = MIN (shape->slot_GTps, gpu->slot_GTps);
    shape->slot_lanes = MIN (shape->slot_lanes, gpu->slot_lanes);
    shape->c2c_Bps = MIN (shape->c2c_Bps, gpu->c2c_Bps);
    if (gpu->vendor != first->vendor || gpu->device != first->device || gpu->sm != first->sm || gpu->arch != first->arch)
      clu_import_warn (machine, gpu->mark,
                       "GPU %u is of another type than GPU %u; a topology file has one type a node: GPU %u's is taken", gpu->number,
                       first->number, first->number);
  }
  if (differ)
    clu_import_warn (machine, first->mark, "the GPUs' PCIe or C2C links differ; the slowest is taken for all");
}

/* NVLinks. */

/* Links of each pair once, a below b, into shape->links. */
static void
shape_links (CluImportMachine *machine, CluImportShape *shape)
{
  gsize n = machine->gpus->len;
  g_autofree guint32 *lanes = g_new0 (guint32, n * n), *degree = g_new0 (guint32, n);
  g_autofree const CluImportLink **told = g_new0 (const CluImportLink *, n *n); /* the first entry of each direction */
  for (guint32 i = 0; i < machine->links->len; i++) {                           /* several of one direction add up */
    const CluImportLink *link = &g_array_index (machine->links, CluImportLink, i);
    gsize at = link->a * n + link->b;
    lanes[at] += link->lanes;
    told[at] = told[at] == NULL ? link : told[at];
  }
  for (guint32 a = 0; a < n; a++)
    for (guint32 b = a + 1; b < n; b++) {
      gsize one = told[a * n + b] != NULL ? a * n + b : b * n + a, other = one == a * n + b ? b * n + a : a * n + b;
      if (told[one] == NULL)
        continue;
      if (lanes[one] != lanes[other])
        clu_import_warn (machine, told[one]->mark, "GPU %u says %u %ss to GPU %u, which says %u; %s",
                         gpu_at (machine, told[one]->a)->number, lanes[one], machine->link_word,
                         gpu_at (machine, told[one]->b)->number, lanes[other],
                         told[other] == NULL ? "the one is taken" : "the fewer are taken");
      CluImportLink link = { told[one]->mark, a, b, told[other] == NULL ? lanes[one] : MIN (lanes[one], lanes[other]) };
      degree[a] += link.lanes;
      degree[b] += link.lanes;
      shape->lanes = MAX (shape->lanes, MAX (degree[a], degree[b]));
      g_array_append_val (shape->links, link);
    }
}

static void
shape_nvlink (CluImportMachine *machine, CluImportShape *shape)
{
  guint32 most = 0, least = G_MAXUINT32;
  for (guint32 i = 0; i < machine->gpus->len; i++) {
    most = MAX (most, gpu_at (machine, i)->switch_lanes);
    least = MIN (least, gpu_at (machine, i)->switch_lanes);
  }
  if (most == 0) {
    shape->scale_up = machine->links->len > 0 ? CLU_SCALE_UP_LINKS : CLU_SCALE_UP_NONE;
    shape_links (machine, shape);
    return;
  }
  shape->scale_up = CLU_SCALE_UP_SWITCH;
  shape->lanes = most;
  if (least == 0) { /* a GPU off the switch: its links are broken, the others' are as they are */
    least = most;
    for (guint32 i = 0; i < machine->gpus->len; i++) {
      guint32 lanes = gpu_at (machine, i)->switch_lanes;
      least = lanes > 0 ? MIN (least, lanes) : least;
      if (lanes == 0)
        clu_import_warn (machine, gpu_at (machine, i)->mark,
                         "GPU %u has no NVLink to the switch that the others are on; it is written as if it had",
                         gpu_at (machine, i)->number);
    }
  }
  if (least != most)
    clu_import_warn (machine, gpu_at (machine, 0)->mark, "GPUs have %u to %u NVLinks to the switch; the fewest are taken for all",
                     least, most);
  shape->lanes = least;
  if (machine->links->len > 0)
    clu_import_warn (machine, g_array_index (machine->links, CluImportLink, 0).mark,
                     "NVLinks between GPUs beside those to the switch are left out");
}

/* NICs. */

static gboolean
is_rdma (const CluImportNic *nic)
{
  return nic->wire == CLU_IMPORT_WIRE_INFINIBAND || nic->wire == CLU_IMPORT_WIRE_ROCE || nic->wire == CLU_IMPORT_WIRE_EFA;
}

static gboolean
is_beside_gpu (const CluImportMachine *machine, const CluImportNic *nic)
{
  for (guint32 i = 0; nic->pcie_switch != CLU_NONE && i < machine->gpus->len; i++)
    if (gpu_at (machine, i)->pcie_switch == nic->pcie_switch)
      return TRUE;
  return FALSE;
}

static gboolean
divides (guint32 n_nics, guint32 n_gpus)
{
  return n_nics > 0 && (n_nics % n_gpus == 0 || n_gpus % n_nics == 0);
}

/* Leaves out the NICs that `keep` does not hold, and says so. */
static void
keep_nics (CluImportMachine *machine, GArray *fabric,
           gboolean (*keep) (const CluImportMachine *, const CluImportNic *, const void *), const void *data, const char *why)
{
  guint32 kept = 0;
  for (guint32 i = 0; i < fabric->len; i++) {
    CluImportNic nic = g_array_index (fabric, CluImportNic, i);
    if (keep (machine, &nic, data))
      g_array_index (fabric, CluImportNic, kept++) = nic;
    else
      clu_import_warn (machine, nic.mark, "%s is left out of the fabric: %s", nic.name, why);
  }
  g_array_set_size (fabric, kept);
}

static gboolean
keep_alike (const CluImportMachine *machine, const CluImportNic *nic, const void *data)
{
  const CluImportNic *model = data;
  (void)machine;
  return nic->wire == model->wire && nic->rate_bps == model->rate_bps;
}

static gboolean
keep_beside (const CluImportMachine *machine, const CluImportNic *nic, const void *data)
{
  (void)data;
  return is_beside_gpu (machine, nic);
}

/* The most common wire and rate; of equally common ones the faster. */
static CluImportNic
common_nic (const GArray *fabric)
{
  CluImportNic best = { .name = NULL };
  guint32 most = 0;
  for (guint32 i = 0; i < fabric->len; i++) {
    CluImportNic nic = g_array_index (fabric, CluImportNic, i);
    guint32 n = 0;
    for (guint32 j = 0; j < fabric->len; j++)
      n += keep_alike (NULL, &g_array_index (fabric, CluImportNic, j), &nic) ? 1 : 0;
    if (n > most || (n == most && nic.rate_bps > best.rate_bps)) {
      most = n;
      best = nic;
    }
  }
  return best;
}

/* Each GPU shares its PCIe switch with a NIC of the fabric. */
static gboolean
all_gpus_served (const CluImportMachine *machine, const GArray *fabric)
{
  for (guint32 i = 0; i < machine->gpus->len; i++) {
    guint32 at = gpu_at (machine, i)->pcie_switch, k = 0;
    while (k < fabric->len && g_array_index (fabric, CluImportNic, k).pcie_switch != at)
      k++;
    if (at == CLU_NONE || k == fabric->len)
      return FALSE;
  }
  return TRUE;
}

static void
shape_even_nics (CluImportMachine *machine, CluImportShape *shape)
{
  GArray *fabric = shape->nics;
  guint32 n_gpus = machine->gpus->len, n_beside = 0;
  for (guint32 i = 0; i < fabric->len; i++)
    n_beside += is_beside_gpu (machine, &g_array_index (fabric, CluImportNic, i)) ? 1 : 0;
  gboolean served = all_gpus_served (machine, fabric);
  if ((served || !divides (fabric->len, n_gpus)) && divides (n_beside, n_gpus))
    keep_nics (machine, fabric, keep_beside, NULL,
               served ? "every GPU has a NIC on its PCIe switch, and this one stands elsewhere (storage?)"
                      : "the number of NICs does not divide over the GPUs, and it shares no PCIe switch with one");
  guint32 n = fabric->len;
  while (n > 0 && !divides (n, n_gpus))
    n--;
  if (n < fabric->len) {
    clu_import_warn (machine, g_array_index (fabric, CluImportNic, n).mark,
                     "%u NICs do not divide over %u GPUs; the first %u are taken", fabric->len, n_gpus, n);
    g_array_set_size (fabric, n);
  }
  n_beside = 0;
  for (guint32 i = 0; i < fabric->len; i++)
    n_beside += is_beside_gpu (machine, &g_array_index (fabric, CluImportNic, i)) ? 1 : 0;
  if (shape->switch_per == 0 || n_beside == 0)
    return;
  shape->nics_under_switch = divides (fabric->len, n_gpus / shape->switch_per) && 2 * n_beside > fabric->len;
}

/* What a NIC stands on by the names of a topology file; NULL where no GPU stands there. */
static char *
stand_of (const CluImportMachine *machine, const CluImportShape *shape, const CluImportNic *nic)
{
  guint32 n = machine->gpus->len;
  for (guint32 i = 0; shape->switch_per > 0 && nic->pcie_switch != CLU_NONE && i < n; i++)
    if (gpu_at (machine, i)->pcie_switch == nic->pcie_switch)
      return g_strdup_printf ("pcie_switch%u", i / shape->switch_per);
  for (guint32 i = 0; i < n; i++)
    if (gpu_at (machine, i)->socket == nic->socket)
      return g_strdup_printf ("socket%u", i * shape->n_sockets / n);
  return NULL;
}

/* Whether as many stand on each switch, or socket, as a topology file without `on` puts there. */
static gboolean
stand_evenly (const CluImportMachine *machine, const CluImportShape *shape, const GPtrArray *on)
{
  guint32 n = on->len, places = shape->nics_under_switch ? machine->gpus->len / shape->switch_per : shape->n_sockets;
  const char *what = shape->nics_under_switch ? "pcie_switch" : "socket";
  for (guint32 p = 0; p < places; p++) {
    g_autofree char *name = g_strdup_printf ("%s%u", what, p);
    guint32 here = 0, expected = 0;
    for (guint32 k = 0; k < n; k++) {
      here += g_str_equal (on->pdata[k], name) ? 1 : 0;
      expected += k * places / n == p ? 1 : 0;
    }
    if (here != expected)
      return FALSE;
  }
  return TRUE;
}

/* Where they do not divide evenly, each says what it stands on. */
static void
shape_stands (CluImportMachine *machine, CluImportShape *shape)
{
  g_autoptr (GPtrArray) on = g_ptr_array_new_with_free_func (g_free);
  for (guint32 k = 0; k < shape->nics->len; k++) {
    char *stand = stand_of (machine, shape, &g_array_index (shape->nics, CluImportNic, k));
    if (stand == NULL) {
      clu_import_warn (machine, g_array_index (shape->nics, CluImportNic, k).mark,
                       "%s stands on a NUMA node without a GPU; a topology file puts the NICs evenly on the others",
                       g_array_index (shape->nics, CluImportNic, k).name);
      return;
    }
    g_ptr_array_add (on, stand);
  }
  if (on->len == 0 || stand_evenly (machine, shape, on))
    return;
  shape->nics_under_switch = FALSE;
  shape->nics_on = g_steal_pointer (&on);
}

static void
shape_nics (CluImportMachine *machine, CluImportShape *shape)
{
  gboolean any_rdma = FALSE;
  for (guint32 i = 0; i < machine->nics->len; i++)
    any_rdma = any_rdma || is_rdma (nic_at (machine, i));
  for (guint32 i = 0; i < machine->nics->len; i++) {
    const CluImportNic *nic = nic_at (machine, i);
    if (is_rdma (nic) || (!any_rdma && nic->rate_bps >= FABRIC_LEAST_BPS)) {
      g_array_append_vals (shape->nics, nic, 1);
      continue;
    }
    g_autofree char *rate = nic->rate_bps > 0 ? g_strdup_printf ("%g Gb/s", nic->rate_bps / 1e9) : g_strdup ("rate not said");
    clu_import_warn (machine, nic->mark, "%s (%s, no RDMA) is taken for the front-end, not for the fabric", nic->name, rate);
    if (nic->rate_bps > shape->frontend_bps) {
      shape->frontend_bps = nic->rate_bps;
      shape->frontend_name = nic->name;
    }
  }
  if (shape->nics->len == 0) {
    clu_import_warn (machine, gpu_at (machine, 0)->mark,
                     "no NIC for traffic between nodes; the topology has no fabric: add `nics` and `fabric` "
                     "to simulate several nodes");
    return;
  }
  CluImportNic model = common_nic (shape->nics);
  keep_nics (machine, shape->nics, keep_alike, &model, "most others have another rate or wire");
  shape_even_nics (machine, shape);
  shape_stands (machine, shape);
}

void
clu_import_shape_init (CluImportShape *shape, CluImportMachine *machine)
{
  *shape = (CluImportShape){ .scale_up = CLU_SCALE_UP_NONE };
  shape->links = g_array_new (FALSE, TRUE, sizeof (CluImportLink));
  shape->nics = g_array_new (FALSE, TRUE, sizeof (CluImportNic));
  order_gpus (machine);
  shape_switches (machine, shape);
  shape_sockets (machine, shape);
  shape_slots (machine, shape);
  shape_nvlink (machine, shape);
  shape_nics (machine, shape);
}

void
clu_import_shape_clear (CluImportShape *shape)
{
  g_clear_pointer (&shape->links, g_array_unref);
  g_clear_pointer (&shape->nics, g_array_unref);
  g_clear_pointer (&shape->nics_on, g_ptr_array_unref);
}
