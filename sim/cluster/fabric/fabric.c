/* What all shapes of fabric share. */
#include "base/random.h"
#include "graph/path-private.h"

guint32
clu_tier_radix (const CluTierSpec *tier)
{
  const CluSwitchSpec *type = tier->type.value;
  return (guint32)(tier->radix.set ? tier->radix.v : type != NULL ? type->radix.v : 0);
}

double
clu_tier_latency (const CluTierSpec *tier)
{
  const CluSwitchSpec *type = tier->type.value;
  return tier->latency.set ? tier->latency.v : type != NULL ? type->latency.v : 0;
}

const CluTierSpec *
clu_fabric_tier (const CluFabricSpec *spec, guint32 level)
{
  const CluTierSpec *tier = &spec->leaf;
  if (level >= 1 && spec->spine.head.set)
    tier = &spec->spine;
  if (level >= 2 && spec->core.head.set)
    tier = &spec->core;
  return tier;
}

gboolean
clu_fabric_cable (CluLoader *loader, const CluParams *wire, const CluLinkSpec *link, BaseMark mark, double crossings_s,
                  CluParams *out)
{
  CluLinkSpec base = { .link_class = { .value = (void *)wire->link_class, .set = TRUE },
                       .lanes = { .v = wire->lanes, .set = TRUE, .source = wire->source },
                       .rate = { .v = wire->rate_Bps, .set = TRUE, .source = wire->source },
                       .efficiency = { .v = wire->efficiency, .set = TRUE, .source = wire->source },
                       .sm_efficiency = { .v = wire->sm_efficiency, .set = TRUE, .source = wire->source },
                       .latency = { .v = wire->latency_s, .set = TRUE, .source = wire->source },
                       .duplex = { .v = wire->duplex, .set = TRUE, .source = wire->source } };
  const CluLinkSpec *specs[] = { &base, &loader->clu->spec.fabric.link, link };
  if (!clu_params_resolve (loader, specs, 3, wire->link_class, mark, "fabric.link", out))
    return FALSE;
  out->latency_s += crossings_s / 2;
  return TRUE;
}

gboolean
clu_fabric_fits (CluLoader *loader, guint64 n, const char *what)
{
  if (n < CLU_MAX_DEVICES)
    return TRUE;
  base_diag_error (loader->context.diag, loader->clu->spec.fabric.head.mark,
                   "the fabric would have %" G_GUINT64_FORMAT " %s; at most 2147483647 are built", n, what);
  return FALSE;
}

guint32
clu_fabric_choice (const CluFabric *fabric, guint32 from, guint32 to, guint64 flow, guint32 step, guint32 bound)
{
  if (bound < 2)
    return 0;
  /* A hash a step: the digits of one would be those of the same bits. */
  guint64 hash = base_random_hash (fabric->seed + step, from, to, flow);
  return (guint32)(hash % bound);
}

void
clu_fabric_emit (const CluFabric *fabric, CluPath *path, guint32 link, gboolean forward, const CluPart *part)
{
  CluFabricLink l;
  fabric->ops->link (fabric, link, &l);
  CluDev a = CLU_NONE, b = CLU_NONE;
  if (part->shown && path->list_hops) {
    a = clu_fabric_dev (fabric->clu, forward ? l.a : l.b);
    b = clu_fabric_dev (fabric->clu, forward ? l.b : l.a);
  }
  clu_path_cross (path, fabric->link + link, a, b, fabric->res + l.res, forward, l.p, part);
}

guint32
clu_fabric_top (const CluFabric *fabric)
{
  return fabric->n_levels > 0 ? fabric->level[fabric->n_levels - 1].first_switch : 0;
}

guint32
clu_fabric_n_top (const CluFabric *fabric)
{
  return fabric->n_switches - clu_fabric_top (fabric);
}

void
clu_fabric_build (CluLoader *loader, const CluParams *wire)
{
  Clu *clu = loader->clu;
  CluFabric *fabric = &clu->fabric;
  const CluFabricSpec *spec = &clu->spec.fabric;
  CluFabricKind kind = (CluFabricKind)spec->kind.v;
  if (kind == CLU_FABRIC_NONE)
    return;
  if (wire == NULL) {
    base_diag_error (loader->context.diag, spec->head.mark,
                     "a fabric of kind %s, but no node has adapters on it; give 'node.nics' or 'fabric: none'",
                     base_name (clu_fabric_names, spec->kind.v));
    return;
  }
  fabric->clu = clu;
  fabric->routing = (CluRouting)spec->routing.v;
  fabric->seed = spec->seed.set ? (guint64)spec->seed.v : clu->seed;
  fabric->n_endpoints = clu->n_nics;
  switch (kind) {
    case CLU_FABRIC_SINGLE_SWITCH:
    case CLU_FABRIC_FAT_TREE:
    case CLU_FABRIC_RAIL_OPTIMISED:
      clu_fabric_build_tree (loader, wire);
      break;
    case CLU_FABRIC_DRAGONFLY:
      clu_fabric_build_dragonfly (loader, wire);
      break;
    case CLU_FABRIC_TORUS:
      clu_fabric_build_torus (loader, wire);
      break;
    case CLU_FABRIC_CUSTOM:
      clu_fabric_build_custom (loader, wire);
      break;
    case CLU_FABRIC_NONE:
      break;
  }
}

void
clu_fabric_clear (CluFabric *fabric)
{
  g_free (fabric->cables);
  g_free (fabric->cable_params);
  g_free (fabric->arc_first);
  g_free (fabric->arc);
  g_free (fabric->distance);
}

void
clu_fabric_parts (const Clu *clu, CluFabricParts *out)
{
  const CluFabric *fabric = &clu->fabric;
  const CluFabricSpec *spec = &clu->spec.fabric;
  G_STATIC_ASSERT (CLU_MAX_LEVELS <= CLU_FABRIC_LEVELS);
  *out = (CluFabricParts){ .n_levels = fabric->n_switches == 0 ? 0 : MAX (fabric->n_levels, 1) };
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    CluDevKind a = clu_dev_kind (clu, link.a), b = clu_dev_kind (clu, link.b);
    if (a == CLU_DEV_SWITCH && b == CLU_DEV_SWITCH)
      out->cables += (guint32)link.lanes;
    if ((a != CLU_DEV_NIC || b != CLU_DEV_SWITCH) && (a != CLU_DEV_SWITCH || b != CLU_DEV_NIC))
      continue;
    out->adapters++;
    out->host_ports += (guint32)link.lanes;
    out->port_rate_Bps = MAX (out->port_rate_Bps, link.rate_Bps / link.lanes);
  }
  if (spec->kind.v == CLU_FABRIC_TORUS)
    out->host_ports = out->n_levels = 0;
  for (guint32 l = 0; l < out->n_levels; l++) {
    const CluTreeLevel *level = &fabric->level[l];
    guint32 first = fabric->n_levels > 0 ? level->first_switch : 0,
            end = l + 1 < fabric->n_levels ? level[1].first_switch : fabric->n_switches;
    out->level[l] = (CluFabricLevel){ end - first, clu_fabric_tier (spec, l)->type.value };
  }
}
