/* The load of one edge of an algorithm: what its bytes put on each link of their route. */
#include "comm-private.h"

gboolean
col_load_series (ColComm *comm, const ColEdge *edge, ColSeries *series, GError **error)
{
  ColScratch *scratch = col_routes_scratch (comm->routes);
  const ColRankPlace *from = &comm->stand[edge->from], *to = &comm->stand[edge->to];
  const ColRoute *way = col_routes_find (comm->routes, from, to, edge->nic, error);
  if (way == NULL)
    return FALSE;
  for (guint32 i = 0; i < way->n_uses; i++) {
    const ColRouteUse *use = &way->use[i];
    col_scratch_add (scratch, col_route_res (use, from, to), edge->bytes * use->share, use->factor);
  }
  if (series != NULL)
    col_series_add (series, way, from, to);
  return TRUE;
}

gboolean
col_load_edge (ColComm *comm, const ColEdge *edge, GError **error)
{
  return col_load_series (comm, edge, NULL, error);
}
