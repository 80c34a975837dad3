/* What a fabric is built of. */
#include "graph/clu-private.h"

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
  if (fabric->ops != NULL && fabric->ops->nodes_are_switches)
    out->host_ports = out->n_levels = 0;
  for (guint32 l = 0; l < out->n_levels; l++) {
    const CluTreeLevel *level = &fabric->level[l];
    guint32 first = fabric->n_levels > 0 ? level->first_switch : 0,
            end = l + 1 < fabric->n_levels ? level[1].first_switch : fabric->n_switches;
    out->level[l] = (CluFabricLevel){ end - first, clu_fabric_tier (spec, l)->type.value };
  }
}
