/* What makes nodes alike: who knows one node's routes knows those of all that are. */
#include "graph/clu-private.h"

CluRes
clu_node_first_resource (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node <= clu->n_nodes, CLU_NONE);
  return clu->node[node].res;
}

gboolean
clu_node_is_plain (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, FALSE);
  for (CluRes res = clu->node[node].res; clu->background_Bps != NULL && res < clu->node[node + 1].res; res++)
    if (clu->background_Bps[res] > 0)
      return FALSE;
  return TRUE;
}

guint32
clu_node_place (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, CLU_NONE);
  const CluFabric *f = &clu->fabric;
  guint32 n = clu_node_template (clu, node)->n[CLU_DEV_NIC], first = clu->node[node].nic;
  if (f->ops == NULL || n == 0)
    return 0;
  if (f->n_levels == 0) /* no tree: where a node stands is its own */
    return CLU_NONE;
  guint32 leaf = f->ops->attach (f, first);
  if (f->rails > 0) /* the leaves of a pod follow from that of its first rail */
    return leaf;
  return f->ops->attach (f, first + n - 1) == leaf ? leaf : CLU_NONE;
}

gboolean
clu_places_decide (const Clu *clu)
{
  return clu->fabric.ops == NULL || clu->fabric.n_links == 0 || clu->fabric.routing == CLU_ROUTING_ADAPTIVE;
}
