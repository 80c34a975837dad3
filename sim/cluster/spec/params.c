/* Links' figures: a class, a type's own figures and what a topology changes, merged into one set. */
#include <string.h>

#include "base/lookup.h"
#include "spec/params-private.h"

gboolean
clu_error (CluLoader *loader, BaseMark mark, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  base_diag_error (loader->context.diag, mark, "%s", text);
  return FALSE;
}

BaseSource
clu_num_source (const BaseNum *num)
{
  return num->set ? num->source : BASE_SOURCE_ASSUMED;
}

static CluLinkClass *
class_load (CluLoader *loader, const char *name, BaseMark mark)
{
  g_autoptr (GError) error = NULL;
  BaseSchemaContext *context = &loader->context;
  /* Beside the file that asks for the generation; a flag asks from nowhere. */
  g_autofree char *path = base_lookup_find (context->lookup, name, "topologies/links", mark.line != 0 ? mark.file : NULL, &error);
  g_autoptr (BaseYaml) yaml = path != NULL ? base_yaml_load_file (path, &error) : NULL;
  if (yaml == NULL) {
    base_diag_add_error (context->diag, mark, error);
    return NULL;
  }
  CluLinkClass *link_class = base_arena_alloc (context->arena, sizeof *link_class);
  gboolean read = base_schema_read (&clu_schema_link_class, base_yaml_root (yaml), FALSE, context, link_class);
  g_ptr_array_add (context->inputs, g_steal_pointer (&yaml));
  return read ? link_class : NULL;
}

const CluLinkClass *
clu_loader_class (CluLoader *loader, const char *name, BaseMark mark)
{
  gpointer found = NULL;
  if (g_hash_table_lookup_extended (loader->classes, name, NULL, &found))
    return found;
  CluLinkClass *link_class = class_load (loader, name, mark);
  /* A class that is missing is said once, not once a link. */
  g_hash_table_insert (loader->classes, g_strdup (name), link_class);
  return link_class;
}

const CluLinkClass *
clu_class_new (BaseArena *arena, const char *name, CluFamily family)
{
  CluLinkClass *link_class = base_arena_alloc (arena, sizeof *link_class);
  link_class->name.v = base_arena_strdup (arena, name);
  link_class->family.v = (int)family;
  link_class->lanes.v = link_class->efficiency.v = link_class->sm_efficiency.v = link_class->duplex.v = 1;
  return link_class;
}

/* Later figures over earlier ones. A new class drops what was said of the old one, but for the number of lanes. */
static void
spec_merge (CluLinkSpec *into, const CluLinkSpec *from)
{
  if (from->link_class.value != NULL) {
    BaseNum lanes = into->lanes;
    memset (into, 0, sizeof *into);
    into->lanes = lanes;
    into->link_class = from->link_class;
  }
  if (from->lanes.set) {
    const CluLinkClass *link_class = into->link_class.value;
    double before = into->lanes.set ? into->lanes.v : link_class != NULL ? link_class->lanes.v : 1;
    if (into->rate.set && !from->rate.set && before > 0)
      into->rate.v *= from->lanes.v / before; /* the rate was of all lanes */
    into->lanes = from->lanes;
  }
  const BaseNum *source[] = { &from->rate,   &from->efficiency,      &from->sm_efficiency, &from->latency,
                              &from->duplex, &from->rdma_efficiency, &from->rdma_duplex };
  BaseNum *target[] = { &into->rate,   &into->efficiency,      &into->sm_efficiency, &into->latency,
                        &into->duplex, &into->rdma_efficiency, &into->rdma_duplex };
  for (gsize i = 0; i < G_N_ELEMENTS (source); i++)
    if (source[i]->set)
      *target[i] = *source[i];
  if (from->efficiency.set && !from->sm_efficiency.set)
    into->sm_efficiency = from->efficiency; /* an efficiency given in place holds for kernels too, unless said */
}

gboolean
clu_params_resolve (CluLoader *loader, const CluLinkSpec *const *specs, unsigned n, const CluLinkClass *fallback, BaseMark mark,
                    const char *what, CluParams *out)
{
  CluLinkSpec all;
  memset (&all, 0, sizeof all);
  for (unsigned i = 0; i < n; i++)
    if (specs[i] != NULL)
      spec_merge (&all, specs[i]);

  const CluLinkClass *c = all.link_class.value != NULL ? all.link_class.value : fallback;
  g_return_val_if_fail (c != NULL, FALSE);
  CluParams p = { .link_class = c };
  p.lanes = all.lanes.set ? all.lanes.v : c->lanes.v > 0 ? c->lanes.v : 1;
  BaseSource rate_source = all.rate.set ? all.rate.source : clu_num_source (&c->lane_rate);
  p.rate_Bps = all.rate.set ? all.rate.v : p.lanes * c->lane_rate.v;
  if (!(p.rate_Bps > 0))
    return clu_error (loader, mark.line > 0 ? mark : c->name.mark,
                      "%s: link class '%s' has no lane_rate; give a rate (e.g. 'rate: 400 Gb/s')", what,
                      c->name.v != NULL ? c->name.v : "inline");
  const BaseNum *efficiency = all.efficiency.set ? &all.efficiency : &c->efficiency;
  const BaseNum *kernel = all.sm_efficiency.set ? &all.sm_efficiency : c->sm_efficiency.set ? &c->sm_efficiency : efficiency;
  const BaseNum *latency = all.latency.set ? &all.latency : &c->latency;
  p.efficiency = efficiency->v > 0 ? efficiency->v : 1;
  p.sm_efficiency = kernel->v > 0 ? kernel->v : p.efficiency;
  p.latency_s = latency->v;
  p.duplex = all.duplex.set ? all.duplex.v : c->duplex.v > 0 ? c->duplex.v : 1;
  /* A duplex given in place is that of copies to the host. */
  p.rdma_efficiency = all.rdma_efficiency.set  ? all.rdma_efficiency.v
                      : c->rdma_efficiency.set ? c->rdma_efficiency.v
                                               : p.efficiency;
  p.rdma_duplex = all.rdma_duplex.set                                 ? all.rdma_duplex.v
                  : c->rdma_duplex.set                                ? c->rdma_duplex.v
                  : c->family.v == CLU_FAMILY_PCIE && c->duplex.v > 0 ? c->duplex.v
                                                                      : p.duplex;
  p.source = MIN (rate_source, MIN (clu_num_source (efficiency), clu_num_source (latency)));
  *out = p;
  return TRUE;
}

CluLinkSpec
clu_params_spec (const CluParams *p, const CluLinkClass *link_class)
{
  const BaseNum known = { .set = TRUE, .source = p->source };
  CluLinkSpec spec = { .link_class = { .value = (void *)link_class, .set = link_class != NULL } };
  BaseNum *out[] = { &spec.lanes,   &spec.rate,   &spec.efficiency,      &spec.sm_efficiency,
                     &spec.latency, &spec.duplex, &spec.rdma_efficiency, &spec.rdma_duplex };
  const double value[] = { p->lanes,     p->rate_Bps, p->efficiency,      p->sm_efficiency,
                           p->latency_s, p->duplex,   p->rdma_efficiency, p->rdma_duplex };
  for (gsize i = 0; i < G_N_ELEMENTS (out); i++) {
    *out[i] = known;
    out[i]->v = value[i];
  }
  return spec;
}

CluParams
clu_params_part (const CluParams *whole, double lanes)
{
  CluParams part = *whole;
  part.rate_Bps = whole->rate_Bps * lanes / whole->lanes;
  part.lanes = lanes;
  return part;
}

CluParams
clu_params_plain (const CluLinkClass *link_class, double rate_Bps, double latency_s, BaseSource source)
{
  return (CluParams){ .link_class = link_class,
                      .lanes = 1,
                      .rate_Bps = rate_Bps,
                      .efficiency = 1,
                      .sm_efficiency = 1,
                      .latency_s = latency_s,
                      .duplex = 1,
                      .rdma_efficiency = 1,
                      .rdma_duplex = 1,
                      .source = source };
}

double
clu_params_capacity (const CluParams *p, CluResKind kind)
{
  double one_way_Bps = p->rate_Bps * p->efficiency;
  return kind == CLU_RES_BOTH ? 2 * p->duplex * one_way_Bps : one_way_Bps;
}

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
