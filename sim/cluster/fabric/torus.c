/* Torus of nodes: one router a node with all of its NICs, cables to the neighbours in each dimension, around the ends.
 *
 * A dimension of two nodes has both of its ways to the same neighbour: one link of two cables. Ways are the shortest in each
 * dimension:
 * static: dimension after dimension, and at exactly half way round up from even places and down from odd ones
 * ecmp: a hash picks the order of the dimensions and the way at half
 * adaptive: evenly over all shortest paths: an edge from p carries paths (source to p) x paths (beyond the edge to the end)
 * over all paths; their number between two corners k apart is the multinomial (k1 + … + kd)! / (k1! … kd!).
 * Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, ch. 5 and 8.
 * Check: shares of all paths between corners of a 4 x 3 torus; half against half is 2 x 4 x 4 cables of a 4 x 4 x 4. */
#include <math.h>

#include "fabric/fabric-private.h"

#define MAX_DIMS 8u

typedef struct {
  guint32 n_dims, dim[MAX_DIMS];
  CluParams cable[2]; /* of dimensions of two nodes: two cables */
} Torus;

static const Torus *
torus (const CluFabric *f)
{
  return f->shape;
}

static guint32
links_of_dim (const CluFabric *f, guint32 d, guint32 n)
{
  return torus (f)->dim[d] == 1 ? 0 : torus (f)->dim[d] == 2 ? n / 2 : n;
}

static guint32
stride_of (const CluFabric *f, guint32 d)
{
  guint32 stride = 1;
  for (guint32 i = 0; i < d; i++)
    stride *= torus (f)->dim[i];
  return stride;
}

static const CluParams *
params_of (const CluFabric *f, guint32 d)
{
  return &torus (f)->cable[torus (f)->dim[d] == 2 ? 1 : 0];
}

/* Link from the node up in dimension d. */
static guint32
link_up (const CluFabric *f, guint32 d, guint32 node)
{
  guint32 first = 0, stride = stride_of (f, d);
  for (guint32 i = 0; i < d; i++)
    first += links_of_dim (f, i, f->n_switches);
  return first + (torus (f)->dim[d] == 2 ? node / (2 * stride) * stride + node % stride : node);
}

static guint32
neighbour (const CluFabric *f, guint32 d, guint32 node, gboolean up)
{
  guint32 stride = stride_of (f, d), size = torus (f)->dim[d], at = node / stride % size, base = node - at * stride;
  return base + (up ? (at + 1) % size : (at + size - 1) % size) * stride;
}

static guint32
torus_attach (const CluFabric *f, guint32 endpoint)
{
  return clu_node_of_nic (f->clu, endpoint);
}

static void
torus_link (const CluFabric *f, guint32 link, CluFabricLink *out)
{
  guint32 d = 0, number = link;
  while (number >= links_of_dim (f, d, f->n_switches))
    number -= links_of_dim (f, d++, f->n_switches);
  guint32 stride = stride_of (f, d);
  out->a = torus (f)->dim[d] == 2 ? number / stride * (2 * stride) + number % stride : number;
  out->b = neighbour (f, d, out->a, TRUE);
  out->p = params_of (f, d);
  out->res = link * clu_params_n_res (&torus (f)->cable[0]);
}

static char *
torus_name (const CluFabric *f, guint32 sw)
{
  (void)f;
  return g_strdup_printf ("router%u", sw);
}

static guint32
step (const CluFabric *f, CluPath *path, guint32 d, guint32 node, gboolean up, const CluPart *part)
{
  guint32 next = neighbour (f, d, node, up);
  /* In a dimension of two the link is the lower node's, whichever way. */
  gboolean from_a = torus (f)->dim[d] == 2 ? next > node : up;
  clu_fabric_emit (f, path, link_up (f, d, from_a ? node : next), from_a, part);
  return next;
}

/* Steps and direction in each dimension. TRUE in tie[d] where both ways are equally far. */
static void
offsets (const CluFabric *f, guint32 from, guint32 to, guint32 *steps, gboolean *up, gboolean *tie)
{
  for (guint32 d = 0; d < torus (f)->n_dims; d++) {
    guint32 size = torus (f)->dim[d], stride = stride_of (f, d), here = from / stride % size;
    guint32 ahead = (to / stride % size + size - here) % size;
    tie[d] = size > 2 && 2 * ahead == size;
    up[d] = 2 * ahead < size || size == 2 || (tie[d] && here % 2 == 0);
    steps[d] = up[d] ? ahead : size - ahead;
  }
}

/* log of the number of shortest paths k apart. */
static double
log_paths (const guint32 *k, guint32 n_dims, const double *log_factorial)
{
  guint32 sum = 0;
  double log_n = 0;
  for (guint32 d = 0; d < n_dims; d++) {
    sum += k[d];
    log_n -= log_factorial[k[d]];
  }
  return log_n + log_factorial[sum];
}

/* All shortest paths with these directions. Points of the box in the order in which the first path meets them. */
static void
spread_box (const CluFabric *f, CluPath *path, guint32 from, const guint32 *steps, const gboolean *up, const CluPart *part)
{
  guint32 sum = 0, n = torus (f)->n_dims, at[MAX_DIMS] = { 0 }, rest[MAX_DIMS];
  for (guint32 d = 0; d < n; d++)
    sum += steps[d];
  g_autofree double *log_factorial = g_new0 (double, (gsize)sum + 2);
  for (guint32 i = 1; i <= sum; i++)
    log_factorial[i] = log_factorial[i - 1] + log (i);
  double all = log_paths (steps, n, log_factorial);
  for (gboolean more = TRUE; more;) {
    guint32 node = from, open = 0, first_open = n, before = 0;
    gboolean on_first = TRUE; /* the path dimension after dimension */
    for (guint32 d = 0; d < n; d++) {
      guint32 stride = stride_of (f, d), size = torus (f)->dim[d], here = node / stride % size;
      guint32 there = up[d] ? (here + at[d]) % size : (here + size - at[d] % size) % size;
      node = node - here * stride + there * stride;
      rest[d] = steps[d] - at[d];
      on_first = on_first && (at[d] == 0 || before == 0);
      before += rest[d];
      open += rest[d] > 0 ? 1 : 0;
      if (rest[d] > 0 && first_open == n)
        first_open = d;
    }
    double reach = log_paths (at, n, log_factorial);
    for (guint32 d = 0; d < n; d++) {
      if (rest[d] == 0)
        continue;
      rest[d]--;
      double share = sum == steps[d] ? 1 : exp (reach + log_paths (rest, n, log_factorial) - all);
      rest[d]++;
      CluPart edge = { part->share * share, part->n_alternatives * open, part->shown && on_first && d == first_open };
      step (f, path, d, node, up[d], &edge);
    }
    more = FALSE;
    for (guint32 d = 0; d < n && !more; d++) {
      more = at[d] < steps[d];
      at[d] = more ? at[d] + 1 : 0;
    }
  }
}

static void
spread_all (const CluFabric *f, CluPath *path, guint32 from, const guint32 *steps, gboolean *up, const gboolean *tie,
            const CluPart *part)
{
  guint32 ties[MAX_DIMS], n_ties = 0;
  for (guint32 d = 0; d < torus (f)->n_dims; d++)
    if (tie[d])
      ties[n_ties++] = d;
  for (guint32 way = 0; way < 1u << n_ties; way++) {
    for (guint32 i = 0; i < n_ties; i++)
      up[ties[i]] = (way >> i & 1) == 0;
    CluPart corner = { part->share / (1u << n_ties), part->n_alternatives << n_ties, part->shown && way == 0 };
    spread_box (f, path, from, steps, up, &corner);
  }
}

static gboolean
torus_route (const CluFabric *f, CluPath *path, guint32 from, guint32 to, guint64 flow, const CluPart *part, GError **error)
{
  (void)error; /* a torus has no holes */
  if (from == CLU_TOP || to == CLU_TOP)
    return TRUE; /* storage is attached to every router */
  guint32 node = torus_attach (f, from), end = torus_attach (f, to), steps[MAX_DIMS], n = torus (f)->n_dims;
  gboolean up[MAX_DIMS], tie[MAX_DIMS];
  offsets (f, node, end, steps, up, tie);
  if (f->routing == CLU_ROUTING_ADAPTIVE) {
    if (node != end)
      spread_all (f, path, node, steps, up, tie, part);
    return TRUE;
  }
  guint32 order[MAX_DIMS];
  for (guint32 d = 0; d < n; d++)
    order[d] = d;
  for (guint32 d = 0; f->routing == CLU_ROUTING_ECMP && d < n; d++) {
    guint32 other = d + clu_fabric_choice (f, from, to, flow, d, n - d), was = order[d];
    order[d] = order[other];
    order[other] = was;
    if (tie[d])
      up[d] = clu_fabric_choice (f, from, to, flow, MAX_DIMS + d, 2) == 0;
  }
  for (guint32 i = 0; i < n; i++)
    for (guint32 s = 0; s < steps[order[i]]; s++)
      node = step (f, path, order[i], node, up[order[i]], part);
  return TRUE;
}

static void
check_torus (CluLoader *loader, const CluSpec *spec)
{
  clu_check_torus (loader, &spec->fabric.dims, spec->nodes.v, "nodes", spec->fabric.head.mark);
}

static gboolean
build_torus (CluLoader *loader, const CluParams *wire)
{
  CluFabric *f = &loader->clu->fabric;
  const CluFabricSpec *spec = &loader->clu->spec.fabric;
  Torus *t = base_arena_alloc (loader->context.arena, sizeof *t);
  f->shape = t;
  t->n_dims = spec->dims.n;
  f->n_switches = loader->clu->n_nodes;
  guint64 links = 0;
  for (guint32 d = 0; d < t->n_dims; d++) {
    t->dim[d] = (guint32)spec->dims.item[d].v;
    links += links_of_dim (f, d, f->n_switches);
  }
  if (!clu_fabric_fits (loader, 3 * links, "resources") ||
      !clu_fabric_cable (loader, wire, NULL, spec->link.head.mark, 2 * clu_tier_latency (&spec->leaf), &t->cable[0]))
    return FALSE;
  t->cable[1] = clu_params_part (&t->cable[0], 2 * t->cable[0].lanes);
  f->n_links = (guint32)links;
  f->n_res = f->n_links * clu_params_n_res (&t->cable[0]);
  return TRUE;
}

static const char *const torus_keys[] = { "dims", NULL };
const CluFabricOps clu_fabric_torus = { .keys = torus_keys,
                                        .check = check_torus,
                                        .build = build_torus,
                                        .attach = torus_attach,
                                        .link = torus_link,
                                        .resource = clu_fabric_resource,
                                        .name = torus_name,
                                        .route = torus_route,
                                        .nodes_are_switches = TRUE };
