/* What all shapes of fabric share: cables, and choices among them. */
#include "base/random.h"
#include "fabric/fabric-private.h"

gboolean
clu_fabric_cable (CluLoader *loader, const CluParams *wire, const CluLinkSpec *link, BaseMark mark, double crossings_s,
                  CluParams *out)
{
  CluLinkSpec base = clu_params_spec (wire, wire->link_class);
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
  return clu_error (loader, loader->clu->spec.fabric.head.mark,
                    "the fabric would have %" G_GUINT64_FORMAT " %s; at most 2147483647 are built", n, what);
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
  CluCrossing crossing = { fabric->link + link, CLU_NONE, CLU_NONE, fabric->res + l.res, forward, l.p };
  if (part->shown && path->list_hops) {
    crossing.a = clu_fabric_dev (fabric->clu, l.a);
    crossing.b = clu_fabric_dev (fabric->clu, l.b);
  }
  clu_path_cross (path, &crossing, part);
}

void
clu_fabric_resource (const CluFabric *fabric, guint32 res, guint32 *link, CluResKind *direction, guint32 *n_cables)
{
  guint32 stride = fabric->n_res / fabric->n_links;
  *link = res / stride;
  *direction = (CluResKind)(res % stride);
  *n_cables = 1;
}
