/* What a fabric is bought of.
 *
 *     leaves of a pod of n nodes with R rails = ceil (R / floor (D / n)), D ports down of a leaf; one leaf where all NICs fit
 *     cables up = sum over leaves of ceil (NICs x U / D);  switches above = ceil (cables up / their ports)
 *
 * Check: law_money (never less for more nodes), test_cluster_fabric (counted by hand). */
#include <math.h>

#include "graph/clu-private.h"

/* Cables up from `leaves` leaves that share `hosts`, each but the last with `each`. */
static guint32
ups_of (const CluTreeLevel *leaf, guint32 hosts, guint32 each)
{
  double ratio = (double)leaf->up / leaf->down;
  guint32 full = hosts / each, rest = hosts % each;
  return full * (guint32)ceil (each * ratio - 1e-9) + (guint32)ceil (rest * ratio - 1e-9);
}

/* Leaves, and their cables up, of NICs that need more than one. */
static guint32
leaves_of (const CluFabric *fabric, guint32 n_nodes, guint32 *ups)
{
  const CluTreeLevel *leaf = &fabric->level[0];
  if (fabric->rails == 0) {
    *ups = ups_of (leaf, fabric->n_endpoints, leaf->down);
    return (fabric->n_endpoints + leaf->down - 1) / leaf->down;
  }
  guint32 pods = n_nodes / leaf->down, rest = n_nodes % leaf->down, rails = fabric->rails;
  *ups = pods * rails * leaf->up;
  if (rest == 0)
    return pods * rails;
  guint32 together = MIN (leaf->down / rest, rails); /* rails of the last pod that share a leaf */
  *ups += ups_of (leaf, rails * rest, together * rest);
  return pods * rails + (rails + together - 1) / together;
}

/* Of a tree that follows from its switches' ports; FALSE: it does not. */
static gboolean
count_needed (const Clu *clu, CluFabricParts *out)
{
  const CluFabric *fabric = &clu->fabric;
  const guint32 *radix = fabric->radix;
  guint32 ups;
  if (radix[0] == 0 || (fabric->n_levels > 1 && radix[1] == 0) || (fabric->n_levels > 2 && radix[2] == 0))
    return FALSE;
  out->n_levels = 1;
  out->level[0].n_switches = 1;
  out->cables = 0;
  if (fabric->n_endpoints <= radix[0] || fabric->n_levels == 1)
    return TRUE;
  out->n_levels = fabric->n_levels;
  out->level[0].n_switches = leaves_of (fabric, clu->n_nodes, &ups);
  for (guint32 l = 1; l < fabric->n_levels; l++) {
    const CluTreeLevel *level = &fabric->level[l];
    gboolean top = l + 1 == fabric->n_levels;
    guint32 down = top ? radix[l] : level->down;
    out->cables += ups;
    out->level[l].n_switches = (ups + down - 1) / down;
    ups = top ? 0 : (guint32)ceil (ups * (double)level->up / level->down - 1e-9);
  }
  return TRUE;
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
  if (fabric->ops != NULL && fabric->ops->nodes_are_switches)
    out->host_ports = out->n_levels = 0;
  for (guint32 l = 0; l < out->n_levels; l++) {
    const CluTreeLevel *level = &fabric->level[l];
    guint32 first = fabric->n_levels > 0 ? level->first_switch : 0,
            end = l + 1 < fabric->n_levels ? level[1].first_switch : fabric->n_switches;
    out->level[l] = (CluFabricLevel){ end - first, clu_fabric_tier (spec, l)->type.value };
  }
  count_needed (clu, out);
}
