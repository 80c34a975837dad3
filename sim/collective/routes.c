#include "collective/routes.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/stats.h"
#include "comm-private.h"

struct ColRoutes {
  gint n_refs;
  const Clu *clu;
  const ColSettings *settings;
  gboolean places_decide;
  GHashTable *sites; /* Site -> number + 1 */
  GHashTable *ways;  /* key of way_key -> ColWay; NULL: looked for each time */
  CluRoute route;
  ColRoute loose;     /* the last that is not kept */
  guint32 loose_room; /* uses that it has room for */
  ColScratch scratch;
  ColSwitch *switches;
};

typedef struct {
  guint32 colour, gpu, place;
} Site;

static guint
hash_site (gconstpointer data)
{
  const Site *site = data;
  return base_hash_u32 (site->colour * 31u + site->gpu) + site->place;
}

static gboolean
equal_sites (gconstpointer a, gconstpointer b)
{
  const Site *x = a, *y = b;
  return x->colour == y->colour && x->gpu == y->gpu && x->place == y->place;
}

static void
free_way (gpointer data)
{
  ColRoute *way = data;
  if (way != NULL)
    g_free (way->use);
  g_free (way);
}

ColRoutes *
col_routes_new (const Clu *clu, const ColSettings *settings)
{
  ColRoutes *routes = g_new0 (ColRoutes, 1);
  routes->n_refs = 1;
  routes->clu = clu;
  routes->settings = settings;
  routes->places_decide = clu_places_decide (clu);
  routes->sites = g_hash_table_new_full (hash_site, equal_sites, g_free, NULL);
  routes->ways = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_way);
  routes->scratch.touched = g_array_new (FALSE, FALSE, sizeof (CluRes));
  clu_route_init (&routes->route);
  return routes;
}

ColRoutes *
col_routes_ref (ColRoutes *routes)
{
  routes->n_refs++;
  return routes;
}

void
col_routes_unref (ColRoutes *routes)
{
  if (routes == NULL || --routes->n_refs > 0)
    return;
  g_hash_table_unref (routes->sites);
  g_hash_table_unref (routes->ways);
  clu_route_clear (&routes->route);
  g_free (routes->loose.use);
  g_free (routes->scratch.sum);
  g_array_unref (routes->scratch.touched);
  g_free (routes->switches);
  g_free (routes);
}

/* ---- ways ---- */

guint32
col_routes_colour (const ColRoutes *routes, guint32 node)
{
  return clu_node_is_plain (routes->clu, node) ? clu_kind_of_node (routes->clu, node) : clu_n_kinds (routes->clu) + node;
}

/* A place that no other node has: behind those of switches. */
static guint32
place_of (const ColRoutes *routes, guint32 node)
{
  guint32 place = clu_node_place (routes->clu, node);
  return place != CLU_NONE ? place : clu_n_devices (routes->clu) + node;
}

ColRankPlace
col_routes_place (ColRoutes *routes, guint32 gpu)
{
  CluDev dev = clu_gpu (routes->clu, gpu);
  guint32 node = clu_dev_node (routes->clu, dev);
  const Site site = { col_routes_colour (routes, node), clu_dev_index (routes->clu, dev), place_of (routes, node) };
  guint32 number = GPOINTER_TO_UINT (g_hash_table_lookup (routes->sites, &site));
  if (number == 0) {
    number = g_hash_table_size (routes->sites) + 1;
    g_hash_table_insert (routes->sites, g_memdup2 (&site, sizeof site), GUINT_TO_POINTER (number));
  }
  return (ColRankPlace){ number - 1, node, clu_node_first_resource (routes->clu, node), dev, gpu };
}

/* 26 bits a site, 10 an adapter (all set: none), two whether they share node or domain. FALSE where they do not fit. */
static gboolean
way_key (const ColRoutes *routes, const ColRankPlace *from, const ColRankPlace *to, guint32 nic, gint64 *key)
{
  static const guint32 MOST_SITES = 1u << 26, NO_NIC = (1u << 10) - 1;
  guint64 together = from->node == to->node                                                                       ? 2
                     : clu_domain_of_node (routes->clu, from->node) == clu_domain_of_node (routes->clu, to->node) ? 1
                                                                                                                  : 0;
  guint64 adapter = nic == CLU_NONE ? NO_NIC : nic;
  if (from->site >= MOST_SITES || to->site >= MOST_SITES || (nic != CLU_NONE && nic >= NO_NIC))
    return FALSE;
  *key = (gint64)(((guint64)from->site << 38) | ((guint64)to->site << 12) | (adapter << 2) | together);
  return TRUE;
}

/* A kernel's loads and stores over the scale-up network carry headers that a copy engine's long packets do not; a NIC reads by
 * DMA whatever launched it, at a rate and duplex of its own. The plain library knows no software and so no kernels. */
double
col_routes_copy_factor (const ColRoutes *routes, CluTransport transport, CluRes res)
{
  if (transport == CLU_TRANSPORT_NET_GDR && clu_resource_family (routes->clu, res) == CLU_FAMILY_PCIE)
    return clu_resource_rdma_factor (routes->clu, res);
  if (routes->settings->library == NULL || transport != CLU_TRANSPORT_P2P)
    return 1;
  return clu_resource_sm_factor (routes->clu, res);
}

static MdlHop
hop_of_route (const CluRoute *route)
{
  switch (route->transport) {
    case CLU_TRANSPORT_SHM:
    case CLU_TRANSPORT_COPY:
      return MDL_HOP_HOST;
    case CLU_TRANSPORT_NET_GDR:
      return MDL_HOP_NET;
    case CLU_TRANSPORT_NET_HOST:
      return MDL_HOP_NET_HOST;
    case CLU_TRANSPORT_TCP:
      return MDL_HOP_TCP;
    case CLU_TRANSPORT_P2P:
    case CLU_TRANSPORT_N:
    default:
      return route->path_class <= CLU_PATH_C2C ? MDL_HOP_NVLINK : MDL_HOP_PCIE;
  }
}

gboolean
col_check_shm (const Clu *clu, const ColSettings *settings, const CluRoute *route, CluDev from, CluDev to, GError **error)
{
  if (!settings->no_shm || route->transport != CLU_TRANSPORT_SHM)
    return TRUE;
  g_autofree char *a = clu_dev_name (clu, from), *b = clu_dev_name (clu, to);
  base_fail (error, BASE_ERROR_INPUT,
             "NCCL_SHM_DISABLE=1: %s and %s have no P2P and would talk over the network inside their node, which is not "
             "modelled",
             a, b);
  return FALSE;
}

/* Fills the loose way from the route found last. Returned: whether some uses lie outside of the two nodes. */
static gboolean
take_route (ColRoutes *routes, const ColRankPlace *from, const ColRankPlace *to)
{
  ColRoute *way = &routes->loose;
  const CluRoute *route = &routes->route;
  CluRes from_end = clu_node_first_resource (routes->clu, from->node + 1),
         to_end = clu_node_first_resource (routes->clu, to->node + 1);
  gboolean outside = FALSE;
  way->hop = hop_of_route (route);
  way->path = route->path_class == CLU_PATH_NET ? route->nic_class : route->path_class;
  way->latency_s = route->latency_s;
  way->rate_Bps = 0;
  way->n_uses = route->uses->len;
  if (way->n_uses > routes->loose_room || way->use == NULL) {
    routes->loose_room = MAX (way->n_uses, 16);
    way->use = g_renew (ColRouteUse, way->use, routes->loose_room);
  }
  for (guint i = 0; i < way->n_uses; i++) {
    const CluUse *use = &g_array_index (route->uses, CluUse, i);
    double factor = col_routes_copy_factor (routes, route->transport, use->res);
    ColEnd end = use->res >= from->first && use->res < from_end ? COL_END_FROM
                 : use->res >= to->first && use->res < to_end   ? COL_END_TO
                                                                : COL_END_OUTSIDE;
    CluRes first = end == COL_END_FROM ? from->first : end == COL_END_TO ? to->first : 0;
    way->use[i] = (ColRouteUse){ use->res - first, end, use->share, factor };
    outside = outside || end == COL_END_OUTSIDE;
  }
  return outside;
}

double
col_routes_rate (const ColRoutes *routes, const ColRoute *way, const ColRankPlace *from, const ColRankPlace *to)
{
  double rate_Bps = HUGE_VAL;
  if (way->rate_Bps > 0)
    return way->rate_Bps;
  for (guint32 i = 0; i < way->n_uses; i++) {
    const ColRouteUse *use = &way->use[i];
    rate_Bps = fmin (rate_Bps, clu_resource_capacity (routes->clu, col_route_res (use, from, to)) * use->factor / use->share);
  }
  return rate_Bps;
}

const ColRoute *
col_routes_find_once (ColRoutes *routes, const ColRankPlace *from, const ColRankPlace *to, guint32 nic, gboolean *alike,
                      GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = routes->settings->degrade;
  options.nic = nic;
  options.no_hops = TRUE;
  options.flow = ((guint64)from->gpu << 32) | to->gpu;
  if (!clu_route_find (routes->clu, from->dev, to->dev, &options, &routes->route, error) ||
      !col_check_shm (routes->clu, routes->settings, &routes->route, from->dev, to->dev, error))
    return NULL;
  *alike = !take_route (routes, from, to) || clu_places_decide (routes->clu);
  return &routes->loose;
}

const ColRoute *
col_routes_find (ColRoutes *routes, const ColRankPlace *from, const ColRankPlace *to, guint32 nic, GError **error)
{
  gint64 key = 0;
  gpointer known = NULL;
  /* Over cables that more than places decide, no way is like another: not even looked for. */
  gboolean may_keep =
      routes->places_decide || clu_domain_of_node (routes->clu, from->node) == clu_domain_of_node (routes->clu, to->node);
  gboolean has_key = may_keep && way_key (routes, from, to, nic, &key);
  gboolean asked = has_key && g_hash_table_lookup_extended (routes->ways, &key, NULL, &known);
  if (known != NULL)
    return known;
  gboolean alike;
  if (col_routes_find_once (routes, from, to, nic, &alike, error) == NULL)
    return NULL;
  if (!has_key || asked)
    return &routes->loose;
  ColRoute *kept = NULL;
  if (alike) {
    kept = g_memdup2 (&routes->loose, sizeof routes->loose);
    kept->rate_Bps = col_routes_rate (routes, kept, from, to);
    routes->loose = (ColRoute){ 0 };
  }
  g_hash_table_insert (routes->ways, g_memdup2 (&key, sizeof key), kept);
  return kept != NULL ? kept : &routes->loose;
}

/* ---- scratch ---- */

ColScratch *
col_routes_scratch (ColRoutes *routes)
{
  if (routes->scratch.sum == NULL)
    routes->scratch.sum = g_new0 (ColLoadSum, clu_n_resources (routes->clu));
  return &routes->scratch;
}

void
col_scratch_sort (ColScratch *scratch)
{
  static const guint SWEEP = 64; /* looking at so many is as quick as sorting one */
  CluRes *touched = (CluRes *)(gpointer)scratch->touched->data, first = CLU_NONE, last = 0;
  guint n = scratch->touched->len;
  for (guint i = 0; i < n; i++) {
    first = MIN (first, touched[i]);
    last = MAX (last, touched[i]);
  }
  if (n == 0 || (last - first) / SWEEP > n) {
    g_array_sort (scratch->touched, base_by_u32);
    return;
  }
  for (CluRes res = first; res <= last; res++)
    if (scratch->sum[res].load > 0)
      *touched++ = res;
}

void
col_scratch_clear (ColScratch *scratch)
{
  for (guint i = 0; i < scratch->touched->len; i++) {
    CluRes res = g_array_index (scratch->touched, CluRes, i);
    scratch->sum[res] = (ColLoadSum){ 0, 0 };
  }
  g_array_set_size (scratch->touched, 0);
}

/* ---- switches ---- */

const ColSwitch *
col_routes_switches (ColRoutes *routes)
{
  const Clu *clu = routes->clu;
  if (routes->switches != NULL)
    return routes->switches;
  routes->switches = g_new0 (ColSwitch, clu_n_devices (clu));
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    gboolean a = clu_dev_kind (clu, link.a) == CLU_DEV_SWITCH, b = clu_dev_kind (clu, link.b) == CLU_DEV_SWITCH;
    if (a && b) {
      routes->switches[link.a].cables++;
      routes->switches[link.b].cables++;
    } else if (a || b)
      routes->switches[a ? link.a : link.b].leaf = TRUE;
  }
  return routes->switches;
}

CluDev
col_routes_first_switch (const ColRoutes *routes)
{
  CluDev low = 0, high = clu_n_devices (routes->clu); /* the devices of nodes come first */
  while (low < high) {
    CluDev middle = low + (high - low) / 2;
    if (clu_dev_node (routes->clu, middle) != CLU_NONE)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
