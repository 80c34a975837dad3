/* One kind of node laid out: its devices, its links, what shares a capacity, and the tree by which everything reaches its host.
 *
 *   GPU -- PCIe switch -- socket == socket      NICs and drives stand under the switches or on the sockets, spread evenly.
 *    |         |            |                   A GPU with a coherent link to its CPU goes by that instead of PCIe.
 *   scale-up  NIC         memory                An adapter without a `pcie` of its own is part of its GPU (Gaudi).
 *
 * What adapters of the front-end and management networks need of PCIe is never what binds: they are attached to socket 0 by a
 * link as fast as they are. */
#include "fabric/fabric-private.h"
#include "node/node-private.h"

static guint32 *
table_new (BaseArena *arena, guint32 n)
{
  guint32 *table = base_arena_alloc_n (arena, n, sizeof *table);
  for (guint32 i = 0; i < n; i++)
    table[i] = CLU_NONE;
  return table;
}

static gboolean
stands_under_switch (const CluNodeSpec *spec, const char *what)
{
  for (unsigned i = 0; i < spec->pcie.under_switch.n; i++)
    if (g_strcmp0 (spec->pcie.under_switch.item[i].v, what) == 0)
      return TRUE;
  return FALSE;
}

static void
number_devices (CluLoader *loader, CluTemplate *t)
{
  const CluNodeSpec *s = &t->spec;
  guint32 gpus = (guint32)s->gpus.count.v, per = (guint32)s->pcie.switch_per.v;
  t->scale_up = (CluScaleUpKind)s->nvlink.kind.v;
  t->n[CLU_DEV_GPU] = gpus;
  t->n[CLU_DEV_NVSWITCH] = t->scale_up == CLU_SCALE_UP_SWITCH && !loader->clu->wide ? 1 : 0;
  t->n[CLU_DEV_PCIE_SWITCH] = per > 0 ? gpus / per : 0;
  t->n[CLU_DEV_SOCKET] = t->n[CLU_DEV_MEMORY] = (guint32)s->sockets.count.v;
  t->n[CLU_DEV_NIC] = s->nics.head.set ? (guint32)s->nics.count.v : 0;
  t->n[CLU_DEV_NVME] = s->storage.local_nvme.head.set ? (guint32)s->storage.local_nvme.drives.v : 0;
  t->n[CLU_DEV_FRONTEND_NIC] = loader->clu->spec.frontend.head.set ? 1 : 0;
  t->n[CLU_DEV_MANAGEMENT_NIC] = 1;
  for (CluDevKind kind = CLU_DEV_GPU; kind < CLU_DEV_N; kind++) {
    t->first[kind] = t->n_devices;
    t->n_devices += t->n[kind];
  }
  BaseArena *arena = loader->context.arena;
  t->own = base_arena_alloc_n (arena, t->n_devices, sizeof *t->own);
  for (guint32 d = 0; d < t->n_devices; d++)
    t->own[d] = (CluOwn){ .res = CLU_NONE, .read = CLU_NONE, .write = CLU_NONE };
  t->up = table_new (arena, t->n_devices);
  t->pcie_up = table_new (arena, gpus);
  t->wire = table_new (arena, t->n[CLU_DEV_NIC]);
  t->socket_link = table_new (arena, t->n[CLU_DEV_SOCKET] * t->n[CLU_DEV_SOCKET]);
  t->frontend_wire = t->management_wire = CLU_NONE;
}

/* The i-th of n things spread evenly over m places. */
static guint32
place (guint32 i, guint32 n, guint32 m)
{
  return (guint32)((guint64)i * m / n);
}

static guint32
socket_of (const CluTemplate *t, guint32 i, guint32 n)
{
  return t->first[CLU_DEV_SOCKET] + place (i, n, t->n[CLU_DEV_SOCKET]);
}

static void
lay_sockets (CluLoader *loader, CluTemplate *t)
{
  const CluSocketSpec *s = &t->spec.sockets;
  guint32 n = t->n[CLU_DEV_SOCKET];
  const CluLinkClass *unnamed = clu_class_new (loader->context.arena, "socket_link", CLU_FAMILY_SOCKET);
  const CluLinkSpec *specs[] = { &s->interconnect };
  CluParams p = { .link_class = unnamed };
  if (n > 1 && clu_params_resolve (loader, specs, 1, unnamed, s->interconnect.head.mark, "sockets.interconnect", &p))
    for (guint32 i = 0; i < n; i++)
      for (guint32 j = i + 1; j < n; j++) {
        guint32 link = clu_template_link (t, t->first[CLU_DEV_SOCKET] + i, t->first[CLU_DEV_SOCKET] + j, CLU_END_LOCAL, &p);
        t->socket_link[i * n + j] = t->socket_link[j * n + i] = link;
      }
  const BaseNum *peer = s->peer.set ? &s->peer : &p.link_class->peer;
  for (guint32 i = 0; i < n && n > 1 && peer->set; i++)
    clu_template_own (t, t->first[CLU_DEV_SOCKET] + i, peer->v, p.link_class, clu_num_source (peer));
  if (!s->memory.set)
    return;
  const CluLinkClass *memory = clu_class_new (loader->context.arena, "host_memory", CLU_FAMILY_MEMORY);
  for (guint32 i = 0; i < n; i++)
    clu_template_own (t, t->first[CLU_DEV_MEMORY] + i, s->memory.v, memory, clu_num_source (&s->memory));
}

/* A slot's figures: the type's own, then what the node says of its generation and width, then what it says of PCIe at large. */
static gboolean
slot_params (CluLoader *loader, const CluTemplate *t, const CluLinkSpec *type, const BaseNum *generation, const BaseNum *lanes,
             const char *what, CluParams *out)
{
  const CluPcieSpec *pcie = &t->spec.pcie;
  CluLinkSpec width = { 0 };
  if (lanes->set)
    width.lanes = *lanes;
  const CluLinkClass *link_class = NULL;
  if (pcie->link.link_class.value == NULL && generation->set) {
    g_autofree char *name = g_strdup_printf ("pcie%.0f", generation->v);
    link_class = clu_loader_class (loader, name, generation->mark);
    if (link_class == NULL)
      return FALSE;
    width.link_class.value = (void *)link_class;
    width.link_class.set = TRUE;
  }
  const CluLinkSpec *specs[] = { type, &width, &pcie->link };
  return clu_params_resolve (loader, specs, 3, clu_class_new (loader->context.arena, "pcie", CLU_FAMILY_PCIE), pcie->head.mark,
                             what, out);
}

/* Whether anything says what a GPU's slot is. */
static gboolean
slot_known (const CluTemplate *t, const CluLinkSpec *type)
{
  const CluPcieSpec *pcie = &t->spec.pcie;
  return pcie->generation.set || pcie->link.link_class.value != NULL || pcie->link.rate.set || (type != NULL && type->head.set);
}

static void
lay_gpus (CluLoader *loader, CluTemplate *t)
{
  const CluNodeSpec *s = &t->spec;
  const CluGpuSpec *gpu = s->gpus.type.value;
  guint32 n = t->n[CLU_DEV_GPU], switches = t->n[CLU_DEV_PCIE_SWITCH];
  gboolean coherent = s->sockets.gpu_link.head.set;
  CluParams slot, uplink, c2c;
  gboolean has_slot = slot_known (t, &gpu->pcie) && (!coherent || switches > 0) &&
                      slot_params (loader, t, &gpu->pcie, &s->pcie.generation, &s->pcie.lanes, "GPU slot", &slot);
  if (has_slot && switches > 0) {
    const BaseNum *generation = s->pcie.uplink.generation.set ? &s->pcie.uplink.generation : &s->pcie.generation;
    const BaseNum *lanes = s->pcie.uplink.lanes.set ? &s->pcie.uplink.lanes : &s->pcie.lanes;
    if (!slot_params (loader, t, &gpu->pcie, generation, lanes, "PCIe uplink", &uplink))
      return;
    const CluLinkClass *bus = clu_class_new (loader->context.arena, "pcie_bus", CLU_FAMILY_BUS);
    for (guint32 i = 0; i < switches; i++) {
      guint32 dev = t->first[CLU_DEV_PCIE_SWITCH] + i;
      t->up[dev] = clu_template_link (t, dev, socket_of (t, i, switches), CLU_END_LOCAL, &uplink);
      if (s->pcie.bus.set)
        clu_template_own (t, dev, s->pcie.bus.v, bus, clu_num_source (&s->pcie.bus));
    }
  } else if (switches > 0 && !coherent)
    clu_error (loader, s->pcie.head.mark,
               "PCIe switches, but nothing says what a slot is; give 'generation' or the GPU type's 'pcie'");
  const CluLinkSpec *c2c_specs[] = { &s->sockets.gpu_link };
  if (coherent && !clu_params_resolve (loader, c2c_specs, 1, clu_class_new (loader->context.arena, "c2c", CLU_FAMILY_C2C),
                                       s->sockets.gpu_link.head.mark, "sockets.gpu_link", &c2c))
    return;
  for (guint32 g = 0; g < n; g++) {
    guint32 dev = t->first[CLU_DEV_GPU] + g, link = CLU_NONE;
    if (has_slot) {
      guint32 above = switches > 0 ? t->first[CLU_DEV_PCIE_SWITCH] + place (g, n, switches) : socket_of (t, g, n);
      link = clu_template_link (t, dev, above, CLU_END_LOCAL, &slot);
    }
    if (coherent) {
      t->pcie_up[g] = link;
      link = clu_template_link (t, dev, socket_of (t, g, n), CLU_END_LOCAL, &c2c);
    }
    t->up[dev] = link;
  }
}

/* What the i-th of n drives or NICs (`what`) stands on, where the node says; CLU_NONE, with an error, where that is no switch and
 * no socket. */
static guint32
place_by_name (CluLoader *loader, const CluTemplate *t, const BaseStrs *on, const char *what, guint32 i, guint32 n)
{
  const BaseStr *name = &on->item[place (i, n, on->n)];
  guint32 dev = clu_template_find (t, name->v), index;
  CluDevKind kind = dev != CLU_NONE ? clu_template_kind (t, dev, &index) : CLU_DEV_GPU;
  if (kind == CLU_DEV_PCIE_SWITCH || kind == CLU_DEV_SOCKET)
    return dev;
  clu_error (loader, name->mark, "%s cannot stand on '%s'; accepted: socket0 to socket%u%s", what, name->v,
             t->n[CLU_DEV_SOCKET] - 1, t->n[CLU_DEV_PCIE_SWITCH] > 0 ? ", pcie_switch0 and so on" : "");
  return CLU_NONE;
}

static void
lay_nics (CluLoader *loader, CluTemplate *t)
{
  const CluNodeSpec *s = &t->spec;
  guint32 n = t->n[CLU_DEV_NIC], gpus = t->n[CLU_DEV_GPU], switches = t->n[CLU_DEV_PCIE_SWITCH];
  if (n == 0)
    return;
  const CluNicSpec *nic = s->nics.type.value;
  CluParams wire, slot;
  CluLinkSpec rate = { .rate = s->nics.rate };
  const CluLinkSpec *wire_specs[] = { &nic->port, &rate };
  if (!clu_params_resolve (loader, wire_specs, 2, clu_class_new (loader->context.arena, "nic", CLU_FAMILY_ETHERNET),
                           s->nics.head.mark, "nics", &wire))
    return;
  t->nic_wire = wire;
  wire.latency_s += clu_tier_latency (&loader->clu->spec.fabric.leaf) / 2; /* the other half is the cables' on its other side */
  t->on_chip_nics = !nic->pcie.head.set;
  const CluLinkSpec *slot_specs[] = { &nic->pcie };
  if (t->on_chip_nics)
    slot = clu_params_plain (clu_class_new (loader->context.arena, "on_chip", CLU_FAMILY_BUS), wire.rate_Bps, 0, wire.source);
  else if (!clu_params_resolve (loader, slot_specs, 1, clu_class_new (loader->context.arena, "pcie", CLU_FAMILY_PCIE),
                                nic->pcie.head.mark, "the adapter's pcie", &slot))
    return;
  gboolean below = stands_under_switch (s, "nics") && switches > 0;
  if (t->on_chip_nics && s->nics.on.n > 0)
    clu_error (loader, s->nics.on.mark, "these NICs are parts of the GPUs and stand on no switch or socket; leave 'on' out");
  gboolean wired = clu_fabric_attaches ((CluFabricKind)loader->clu->spec.fabric.kind.v);
  for (guint32 k = 0; k < n; k++) {
    guint32 dev = t->first[CLU_DEV_NIC] + k, above;
    if (t->on_chip_nics)
      above = t->first[CLU_DEV_GPU] + place (k, n, gpus);
    else if (s->nics.on.n > 0)
      above = place_by_name (loader, t, &s->nics.on, "NICs", k, n);
    else if (below)
      above = t->first[CLU_DEV_PCIE_SWITCH] + place (k, n, switches);
    else
      above = socket_of (t, k, n);
    if (above == CLU_NONE)
      return;
    t->up[dev] = clu_template_link (t, dev, above, CLU_END_LOCAL, &slot);
    /* Fewer adapters than GPUs: a part of each GPU that it serves. The tree knows the first; the others have links beside it. */
    for (guint32 g = 1; t->on_chip_nics && n < gpus && g < gpus / n; g++)
      clu_template_link (t, dev, above + g, CLU_END_LOCAL, &slot);
    if (wired)
      t->wire[k] = clu_template_link (t, dev, 0, CLU_END_FABRIC, &wire);
  }
}

static void
lay_drives (CluLoader *loader, CluTemplate *t)
{
  const CluNodeSpec *s = &t->spec;
  guint32 n = t->n[CLU_DEV_NVME], switches = t->n[CLU_DEV_PCIE_SWITCH];
  const CluDriveSpec *drive = n > 0 ? s->storage.local_nvme.type.value : NULL;
  if (drive == NULL)
    return;
  if (s->storage.local_nvme.on.set && s->storage.local_nvme.on.n == 0)
    clu_error (loader, s->storage.local_nvme.on.mark,
               "'on' is empty; accepted: what the drives stand on (e.g. [socket0]), or leave it out");
  CluLinkSpec as_read = { .rate = drive->read };
  const CluLinkSpec *specs[] = { drive->pcie.head.set ? &drive->pcie : &as_read };
  CluParams slot;
  if (!clu_params_resolve (loader, specs, 1, clu_class_new (loader->context.arena, "nvme", CLU_FAMILY_STORAGE),
                           s->storage.local_nvme.head.mark, "a drive without 'pcie' or 'read'", &slot))
    return;
  const CluLinkClass *media =
      clu_class_new (loader->context.arena, drive->name.v != NULL ? drive->name.v : "nvme", CLU_FAMILY_STORAGE);
  gboolean below = stands_under_switch (s, "nvme") && switches > 0;
  t->write_weight = drive->read.set && drive->write.set ? drive->read.v / drive->write.v : 1;
  for (guint32 i = 0; i < n; i++) {
    guint32 dev = t->first[CLU_DEV_NVME] + i;
    guint32 above = below ? t->first[CLU_DEV_PCIE_SWITCH] + place (i, n, switches) : socket_of (t, i, n);
    if (s->storage.local_nvme.on.n > 0)
      above = place_by_name (loader, t, &s->storage.local_nvme.on, "drives", i, n);
    if (above == CLU_NONE)
      return;
    t->up[dev] = clu_template_link (t, dev, above, CLU_END_LOCAL, &slot);
    if (drive->read.set)
      clu_template_own (t, dev, drive->read.v, media, clu_num_source (&drive->read));
  }
}

/* An adapter of another network, on socket 0. Returned: its cable. */
static guint32
lay_side_nic (CluTemplate *t, CluDevKind kind, CluEnd end, const CluParams *wire)
{
  CluParams inside = *wire;
  inside.latency_s = 0;
  guint32 dev = t->first[kind];
  t->up[dev] = clu_template_link (t, dev, t->first[CLU_DEV_SOCKET], CLU_END_LOCAL, &inside);
  return clu_template_link (t, dev, 0, end, wire);
}

static void
lay_side_nics (CluLoader *loader, CluTemplate *t)
{
  const CluSpec *spec = &loader->clu->spec;
  const CluLinkClass *front = clu_class_new (loader->context.arena, "frontend", CLU_FAMILY_ETHERNET);
  const CluLinkClass *out_of_band = clu_class_new (loader->context.arena, "management", CLU_FAMILY_ETHERNET);
  /* The front-end's latency is from end to end: two cables, half of it each. */
  const BaseNum *dpu = &spec->frontend.dpu.rate; /* what is slower sets the pace */
  const BaseNum *rate = dpu->set && dpu->v < spec->frontend.rate.v ? dpu : &spec->frontend.rate;
  CluParams wire = clu_params_plain (front, rate->v, spec->frontend.latency.v / 2,
                                     MIN (clu_num_source (rate), clu_num_source (&spec->frontend.latency)));
  if (t->n[CLU_DEV_FRONTEND_NIC] > 0)
    t->frontend_wire = lay_side_nic (t, CLU_DEV_FRONTEND_NIC, CLU_END_FRONTEND, &wire);
  wire = clu_params_plain (out_of_band, spec->management.v, 0, clu_num_source (&spec->management));
  t->management_wire = lay_side_nic (t, CLU_DEV_MANAGEMENT_NIC, CLU_END_MANAGEMENT, &wire);
}

CluTemplate *
clu_template_new (CluLoader *loader, const CluNodeSpec *spec, const GPtrArray *link_overrides)
{
  CluTemplate *t = base_arena_alloc (loader->context.arena, sizeof *t);
  t->spec = *spec;
  t->links = g_array_new (FALSE, FALSE, sizeof (CluNodeLink));
  t->res = g_array_new (FALSE, FALSE, sizeof (CluNodeRes));
  number_devices (loader, t);
  lay_sockets (loader, t);
  lay_gpus (loader, t);
  clu_template_scale_up (loader, t);
  lay_nics (loader, t);
  lay_drives (loader, t);
  lay_side_nics (loader, t);
  for (guint i = 0; i < link_overrides->len; i++)
    clu_template_override (loader, t, link_overrides->pdata[i]);
  clu_template_renumber (t);
  clu_template_find_nearest (t, loader->context.arena);
  return t;
}
