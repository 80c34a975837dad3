/* Copies and loads of a probe on the routes of a topology. */
#include "predict/routes-private.h"

#include <math.h>

#include "models/library-spec.h"

struct CalRoutes {
  Clu *clu;
  MdlLibrary *library; /* owned; its links are those that are tried */
  ColSettings settings;
  MdlLinks laid; /* what lies over the cluster */
  guint32 n_gpus;
  CluDev *gpu, *host; /* by GPU; host: the memory nearest to it */
};

/* The memory with the shortest way; CLU_NONE. */
static CluDev
nearest_host (const Clu *clu, CluDev gpu)
{
  CluDev nearest = CLU_NONE;
  guint least = G_MAXUINT;
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  const CluRouteOptions options = CLU_ROUTE_DEFAULT;
  for (guint32 i = 0; i < clu_node_n (clu, 0, CLU_DEV_MEMORY); i++) {
    CluDev host = clu_node_device (clu, 0, CLU_DEV_MEMORY, i);
    if (clu_route_find (clu, gpu, host, &options, &route, NULL) && route.hops->len < least) {
      least = route.hops->len;
      nearest = host;
    }
  }
  return nearest;
}

CalRoutes *
cal_routes_new (Clu *clu, const MdlLibrary *library, MdlLinks *links)
{
  CalRoutes *fit = g_new0 (CalRoutes, 1);
  fit->clu = clu;
  fit->library = g_memdup2 (library, sizeof *library);
  col_settings_default (&fit->settings);
  fit->settings.library = fit->library;
  fit->settings.terse = TRUE;
  fit->n_gpus = clu_gpus_per_node (clu, 0);
  fit->gpu = g_new (CluDev, MAX (fit->n_gpus, 1u));
  fit->host = g_new (CluDev, MAX (fit->n_gpus, 1u));
  for (guint32 g = 0; g < fit->n_gpus; g++) {
    fit->gpu[g] = clu_gpu (clu, g);
    fit->host[g] = nearest_host (clu, fit->gpu[g]);
  }
  clu_links_fill (clu, links);
  return fit;
}

void
cal_routes_free (CalRoutes *fit)
{
  if (fit == NULL)
    return;
  g_free (fit->library);
  g_free (fit->gpu);
  g_free (fit->host);
  g_free (fit);
}

static gboolean
differs (const BaseNum *a, const BaseNum *b)
{
  return a->set != b->set || a->v < b->v || a->v > b->v;
}

static gboolean
figures_differ (const MdlLinkConstants *a, const MdlLinkConstants *b)
{
  return differs (&a->efficiency, &b->efficiency) || differs (&a->sm_efficiency, &b->sm_efficiency) ||
         differs (&a->latency, &b->latency) || differs (&a->duplex, &b->duplex);
}

static gboolean
lay (CalRoutes *fit, const MdlLinks *links)
{
  const MdlLinks *laid = &fit->laid;
  if (!figures_differ (&laid->scale_up, &links->scale_up) && !figures_differ (&laid->pcie, &links->pcie) &&
      !figures_differ (&laid->network, &links->network) && !differs (&laid->host.read, &links->host.read) &&
      !differs (&laid->host.write, &links->host.write) && !differs (&laid->host.both, &links->host.both))
    return TRUE;
  fit->laid = *links;
  return clu_links_set (fit->clu, links, NULL);
}

static void
add_pair (GArray *pairs, CluDev from, CluDev to)
{
  const StoPair pair = { from, to, "", "", 1 };
  g_array_append_val (pairs, pair);
}

/* Who copies to whom. */
static void
list_pairs (const CalRoutes *fit, const CalLinkCase *c, GArray *pairs)
{
  gboolean down = c->copy == MDL_COPY_D2H || c->copy == MDL_COPY_D2H_PAGEABLE;
  switch (c->pattern) {
    case CAL_LINK_ONE:
    case CAL_LINK_BOTH:
      add_pair (pairs, fit->gpu[c->first], fit->gpu[c->second]);
      if (c->pattern == CAL_LINK_BOTH)
        add_pair (pairs, fit->gpu[c->second], fit->gpu[c->first]);
      break;
    case CAL_LINK_SHIFT:
      for (guint32 g = 0; g < c->n; g++)
        add_pair (pairs, fit->gpu[g], fit->gpu[(g + 1) % c->n]);
      break;
    case CAL_LINK_ALL:
      for (guint32 a = 0; a < c->n; a++)
        for (guint32 b = 0; b < c->n; b++)
          if (a != b)
            add_pair (pairs, fit->gpu[a], fit->gpu[b]);
      break;
    case CAL_LINK_HOST:
      for (guint32 g = c->first; g < c->first + c->n; g++) {
        if (!down || c->duplex)
          add_pair (pairs, fit->host[g], fit->gpu[g]);
        if (down || c->duplex)
          add_pair (pairs, fit->gpu[g], fit->host[g]);
      }
      break;
    case CAL_LINK_LOAD:
    default:
      break;
  }
}

/* There and back: by the links' latencies, of a GPU's memory what its own GPU would wait on top. */
static double
load_s (const CalRoutes *fit, const CalLinkCase *c)
{
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  const CluRouteOptions options = CLU_ROUTE_DEFAULT;
  CluDev from = c->n == 0 ? fit->host[c->first] : fit->gpu[c->second];
  if (from == CLU_NONE || !clu_route_find (fit->clu, from, fit->gpu[c->first], &options, &route, NULL))
    return (double)NAN;
  return 2 * route.latency_s + (c->n == 0 ? 0 : c->own_s);
}

/* Whether the node has the GPUs, and their host a memory. */
static gboolean
exists (const CalRoutes *fit, const CalLinkCase *c)
{
  guint32 last = c->pattern == CAL_LINK_HOST                                  ? c->first + c->n - 1
                 : c->pattern == CAL_LINK_SHIFT || c->pattern == CAL_LINK_ALL ? c->n - 1
                                                                              : MAX (c->first, c->second);
  return last < fit->n_gpus && (c->pattern != CAL_LINK_HOST || fit->host[c->first] != CLU_NONE);
}

double
cal_routes_s (void *user, const MdlLinks *links, const CalLinkCase *what)
{
  CalRoutes *fit = user;
  if (!exists (fit, what) || !lay (fit, links))
    return (double)NAN;
  if (what->pattern == CAL_LINK_LOAD)
    return load_s (fit, what);
  fit->library->links = links;
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (StoPair));
  list_pairs (fit, what, pairs);
  const StoCopies copies = { .pair = (const StoPair *)(const void *)pairs->data,
                             .n = pairs->len,
                             .size_B = what->size_B,
                             .count = 1,
                             .by = what->copy == MDL_COPY_KERNEL        ? STO_BY_KERNEL
                                   : what->copy == MDL_COPY_KERNEL_READ ? STO_BY_KERNEL_READ
                                                                        : STO_BY_ENGINE,
                             .pageable = what->copy == MDL_COPY_H2D_PAGEABLE || what->copy == MDL_COPY_D2H_PAGEABLE,
                             .queued = what->queued };
  StoFault fault;
  g_autoptr (GPtrArray) priced = sto_copies_price (fit->clu, &fit->settings, &copies, &fault, NULL);
  double slowest_s = priced != NULL ? 0 : (double)NAN;
  for (guint i = 0; priced != NULL && i < priced->len; i++)
    slowest_s = fmax (slowest_s, ((const StoCopy *)priced->pdata[i])->time_s);
  return slowest_s;
}
