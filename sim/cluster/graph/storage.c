/* Tiers and drives as models of storage see them. */
#include "cluster/storage.h"

#include <math.h>
#include <string.h>

#include "graph/clu-private.h"

static void
tell (BaseNum *num, const BaseNum *from, double factor)
{
  if (from->set)
    *num = (BaseNum){ .v = from->v * factor, .set = TRUE, .source = clu_num_source (from), .note = from->note, .mark = from->mark };
}

/* Data sheets count random requests of 4 KiB, whose bytes take their time too: what is left is a request's own. */
static void
tell_random (BaseNum *num, const BaseNum *iops, const BaseNum *rate, double factor)
{
  static const double RANDOM_BLOCK_B = 4096;
  double own_s = iops->v > 0 ? 1 / iops->v - (rate->v > 0 ? RANDOM_BLOCK_B / rate->v : 0) : 0;
  tell (num, iops, own_s > 0 ? factor / (own_s * iops->v) : (double)INFINITY);
}

/* Drives striped over a node: a request is on one of them. nvidia-fs knows NVMe, and RAID 0 of it (NVIDIA GPUDirect Storage
 * installation guide, "Adding support for block devices"). */
static void
drives_as_tier (const CluTemplate *t, MdlTier *out)
{
  const CluDriveSpec *drive = t->spec.storage.local_nvme.type.value;
  double n = t->n[CLU_DEV_NVME];
  memset (out, 0, sizeof *out);
  out->servers = 1;
  out->type.name = drive->name;
  out->type.product = drive->product;
  out->type.kind.v = MDL_TIER_LOCAL_NVME;
  out->type.gds.v = MDL_GDS_YES;
  out->type.targets = (BaseNum){ .v = n, .set = TRUE, .source = BASE_SOURCE_MEASURED };
  out->type.blend = drive->blend;
  MdlTierSide *read = &out->type.side[MDL_IO_READ], *write = &out->type.side[MDL_IO_WRITE];
  const BaseNum *written = drive->write.set ? &drive->write : &drive->read;
  tell (&read->target, &drive->read, 1);
  tell (&write->target, written, 1);
  tell (&read->stream, drive->read_stream.set ? &drive->read_stream : &drive->read, 1);
  tell (&write->stream, drive->write_stream.set ? &drive->write_stream : written, 1);
  tell (&read->iops, &drive->read_iops, n);
  tell (&write->iops, &drive->write_iops, n);
  tell_random (&read->random_iops, &drive->random_read_iops, &drive->read, n);
  tell_random (&write->random_iops, &drive->random_write_iops, written, n);
  tell (&read->latency, &drive->latency, 1);
  tell (&write->latency, drive->write_latency.set ? &drive->write_latency : &drive->latency, 1);
}

/* A DPU on the way runs the client's protocol: no core of the host does, and requests pass its own. */
static void
offload (const Clu *clu, const CluStorageSpec *spec, MdlTier *out)
{
  const CluDpuSpec *dpu = &clu->spec.frontend.dpu;
  if (!dpu->head.set || spec->network.v != 0)
    return;
  out->type.core.set = FALSE;
  for (int op = 0; op < MDL_IO_OP_N && dpu->latency.set; op++) {
    BaseNum *latency[] = { &out->type.side[op].latency, &out->type.side[op].random_latency };
    for (guint i = 0; i < G_N_ELEMENTS (latency); i++) {
      if (i > 0 && !latency[i]->set)
        continue;
      latency[i]->v += dpu->latency.v;
      latency[i]->source = latency[i]->set ? MIN (latency[i]->source, dpu->latency.source) : dpu->latency.source;
      latency[i]->set = TRUE;
    }
  }
}

gboolean
clu_tier (const Clu *clu, CluDev dev, MdlTier *out)
{
  const CluTierNode *tier = clu_tier_of_dev (clu, dev);
  if (tier != NULL) {
    clu_tier_resolve (tier->spec, out);
    offload (clu, tier->spec, out);
    return TRUE;
  }
  if (clu_dev_kind (clu, dev) != CLU_DEV_NVME)
    return FALSE;
  drives_as_tier (clu_node_template (clu, clu_node_of_dev (clu, dev)), out);
  return TRUE;
}

gboolean
clu_tier_cache (const Clu *clu, CluDev dev, MdlTierCache *out, const char **of, double *rent_usd_per_s)
{
  static const double TB = 1e12, FETCH_B = 1048576;
  const CluTierNode *tier = clu_tier_of_dev (clu, dev);
  const CluStorageCacheSpec *cache = tier != NULL ? &tier->spec->cache : NULL;
  if (cache == NULL || !cache->head.set || !clu_tier (clu, clu_tier_find (clu, cache->of.v), &out->origin))
    return FALSE;
  const double own_B = out->origin.type.io_size.v;
  out->capacity_B = cache->capacity.set ? cache->capacity.v : HUGE_VAL;
  out->fetch_B = cache->fetch.set ? cache->fetch.v : own_B > 0 ? own_B : FETCH_B;
  out->in_flight = cache->in_flight.v;
  out->keep = (MdlKeep)cache->keep.v;
  if (of != NULL)
    *of = cache->of.v;
  if (rent_usd_per_s != NULL)
    *rent_usd_per_s = cache->rent.set && cache->capacity.set ? cache->rent.v * cache->capacity.v / TB : 0;
  return TRUE;
}

char *
clu_tier_names (const Clu *clu)
{
  GString *all = g_string_new (NULL);
  for (guint32 i = 0; i < clu->n_tiers; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? ", " : "", clu->tier[i].spec->name.v);
  if (clu_node_n (clu, 0, CLU_DEV_NVME) > 0)
    g_string_append_printf (all, "%snvme", all->len > 0 ? ", " : "");
  return g_string_free (all, FALSE);
}

CluDev
clu_tier_find (const Clu *clu, const char *name)
{
  const char *bare = g_str_has_prefix (name, "storage.") ? name + strlen ("storage.") : name;
  for (guint32 i = 0; i < clu->n_tiers; i++)
    if (strcmp (clu->tier[i].spec->name.v, bare) == 0)
      return clu->tier[i].dev;
  return strcmp (name, "nvme") == 0 ? clu_node_device (clu, 0, CLU_DEV_NVME, 0) : CLU_NONE;
}

double
clu_node_memory_B (const Clu *clu, guint32 node)
{
  const CluSocketSpec *sockets = &clu_node_spec (clu, node)->sockets;
  return sockets->memory_capacity.set ? sockets->memory_capacity.v * clu_node_n (clu, node, CLU_DEV_SOCKET) : 0;
}

double
clu_node_drives_B (const Clu *clu, guint32 node)
{
  const CluDriveSpec *drive = clu_node_spec (clu, node)->storage.local_nvme.type.value;
  return drive != NULL ? drive->capacity.v * clu_node_n (clu, node, CLU_DEV_NVME) : 0;
}

double
clu_node_cores (const Clu *clu, guint32 node)
{
  const CluSocketSpec *sockets = &clu_node_spec (clu, node)->sockets;
  return sockets->cores.set ? sockets->cores.v * clu_node_n (clu, node, CLU_DEV_SOCKET) : 0;
}
