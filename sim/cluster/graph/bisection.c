/* Half of the GPUs against the other half: a maximum flow from all of the one to all of the other over links as specified.
 * Algorithm: Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970. */
#include <string.h>

#include "graph/clu-private.h"

typedef struct {
  guint32 to, next; /* next edge of the same vertex; CLU_NONE */
  double left;
} Edge;

typedef struct {
  guint32 n;
  guint32 *first;
  GArray *edges; /* Edge; edge i ^ 1 is the way back */
  double largest;
} Net;

#define SOURCE 0u
#define SINK   1u
#define FIRST  2u /* vertices of the network begin here */

static Net
net_new (guint32 n)
{
  Net net = { .n = n, .first = g_new (guint32, n), .edges = g_array_new (FALSE, FALSE, sizeof (Edge)) };
  memset (net.first, 0xff, n * sizeof *net.first); /* CLU_NONE */
  return net;
}

static void
net_add (Net *net, guint32 a, guint32 b, double forward, double backward)
{
  Edge out = { b, net->first[a], forward }, back = { a, net->first[b], backward };
  net->first[a] = net->edges->len;
  g_array_append_val (net->edges, out);
  net->first[b] = net->edges->len;
  g_array_append_val (net->edges, back);
  net->largest = MAX (net->largest, MAX (forward, backward));
}

static Edge *
edge_at (const Net *net, guint32 i)
{
  return &g_array_index (net->edges, Edge, i);
}

/* A vertex on the side of the source or of the sink. */
static void
net_side (Net *net, gboolean source, guint32 vertex, double rate)
{
  if (source)
    net_add (net, SOURCE, vertex, rate, 0);
  else
    net_add (net, vertex, SINK, rate, 0);
}

/* Distances from the source over what is left; FALSE when the sink is out of reach. */
static gboolean
layers (const Net *net, double least, guint32 *depth, guint32 *queue)
{
  guint32 head = 0, tail = 0;
  memset (depth, 0xff, net->n * sizeof *depth);
  depth[SOURCE] = 0;
  queue[tail++] = SOURCE;
  while (head < tail) {
    guint32 v = queue[head++];
    for (guint32 e = net->first[v]; e != CLU_NONE; e = edge_at (net, e)->next)
      if (edge_at (net, e)->left > least && depth[edge_at (net, e)->to] == CLU_NONE) {
        depth[edge_at (net, e)->to] = depth[v] + 1;
        queue[tail++] = edge_at (net, e)->to;
      }
  }
  return depth[SINK] != CLU_NONE;
}

/* One path along the layers, by a stack of edges; what it carries, or 0 when the layers are blocked. */
static double
augment (const Net *net, double least, guint32 *depth, guint32 *turn, guint32 *stack)
{
  guint32 n = 0, v = SOURCE;
  while (v != SINK) {
    guint32 e = turn[v];
    while (e != CLU_NONE && !(edge_at (net, e)->left > least && depth[edge_at (net, e)->to] == depth[v] + 1))
      e = edge_at (net, e)->next;
    turn[v] = e;
    if (e != CLU_NONE) {
      stack[n++] = e;
      v = edge_at (net, e)->to;
    } else if (n == 0)
      return 0;
    else {
      depth[v] = CLU_NONE; /* leads nowhere */
      v = edge_at (net, stack[--n] ^ 1u)->to;
    }
  }
  double carried = edge_at (net, stack[0])->left;
  for (guint32 i = 1; i < n; i++)
    carried = MIN (carried, edge_at (net, stack[i])->left);
  for (guint32 i = 0; i < n; i++) {
    edge_at (net, stack[i])->left -= carried;
    edge_at (net, stack[i] ^ 1u)->left += carried;
  }
  return carried;
}

/* The largest flow; clears the net. */
static double
net_flow (Net *net)
{
  g_autofree guint32 *depth = g_new (guint32, net->n), *turn = g_new (guint32, net->n), *stack = g_new (guint32, net->n);
  double flow = 0, least = net->largest * 1e-12; /* what rounding leaves of an edge that is full */
  while (layers (net, least, depth, stack)) {
    memcpy (turn, net->first, net->n * sizeof *turn);
    for (double more = 1; more > 0; flow += more)
      more = augment (net, least, depth, turn, stack);
  }
  g_free (net->first);
  g_array_unref (net->edges);
  return flow;
}

/* --- Inside a node or domain ------------------------------------------------------------------------------------------------- */

/* Over the host tree of one node: all links but the scale-up ones. A bus is a vertex with a capacity: its in and out sides. */
static double
flow_over_pcie (const Clu *clu, guint32 node, guint32 boundary)
{
  const CluTemplate *t = clu_node_template (clu, node);
  guint32 n = t->n_devices, gpu0 = t->first[CLU_DEV_GPU];
  Net net = net_new (FIRST + 2 * n);
  double all = 0;
  for (guint32 i = 0; i < t->links->len; i++)
    all += clu_template_link_at (t, i)->p.rate_Bps;
  for (guint32 d = 0; d < n; d++) {
    gboolean bus = d - t->first[CLU_DEV_PCIE_SWITCH] < t->n[CLU_DEV_PCIE_SWITCH] && t->own[d].res != CLU_NONE;
    net_add (&net, FIRST + 2 * d, FIRST + 2 * d + 1, bus ? clu_template_res_at (t, t->own[d].res)->capacity_Bps : all, 0);
  }
  for (guint32 i = 0; i < t->links->len; i++) {
    const CluNodeLink *link = clu_template_link_at (t, i);
    gboolean between_gpus = link->end == CLU_END_LOCAL && link->b - gpu0 < t->n[CLU_DEV_GPU];
    if (link->end != CLU_END_LOCAL || between_gpus || link->b - t->first[CLU_DEV_NVSWITCH] < t->n[CLU_DEV_NVSWITCH])
      continue;
    net_add (&net, FIRST + 2 * link->a + 1, FIRST + 2 * link->b, link->p.rate_Bps, 0);
    net_add (&net, FIRST + 2 * link->b + 1, FIRST + 2 * link->a, link->p.rate_Bps, 0);
  }
  for (guint32 g = 0; g < t->n[CLU_DEV_GPU]; g++)
    net_side (&net, g < boundary, FIRST + 2 * (gpu0 + g) + (g < boundary ? 1 : 0), all);
  return net_flow (&net);
}

/* GPUs below `boundary` (global) of the nodes first … last against the others of these nodes, over scale-up links. */
static double
flow_over_scale_up (const Clu *clu, guint32 first, guint32 last, guint32 boundary)
{
  guint32 gpu0 = clu->node[first].gpu, n = clu->node[last + 1].gpu - gpu0;
  Net net = net_new (FIRST + n + 1 + last - first + 1);
  double all = 0;
  for (guint32 node = first; node <= last; node++) {
    const CluTemplate *t = clu_node_template (clu, node);
    guint32 base = clu->node[node].gpu - gpu0, gpus = t->n[CLU_DEV_GPU], top = FIRST + n;
    if (t->port != NULL && t->trunk != CLU_NONE) {
      double out = clu_template_link_at (t, t->trunk)->p.rate_Bps;
      top = FIRST + n + 1 + node - first;
      net_add (&net, top, FIRST + n, out, out);
    }
    for (guint32 i = 0; i < gpus; i++) {
      if (t->port != NULL) {
        double rate = clu_template_link_at (t, t->port[i])->p.rate_Bps;
        net_add (&net, FIRST + base + i, top, rate, rate);
        all += rate;
      }
      for (guint32 j = i + 1; t->mesh != NULL && j < gpus; j++)
        if (t->mesh[(gsize)i * gpus + j] != CLU_NONE) {
          double rate = clu_template_link_at (t, t->mesh[(gsize)i * gpus + j])->p.rate_Bps;
          net_add (&net, FIRST + base + i, FIRST + base + j, rate, rate);
          all += rate;
        }
    }
  }
  for (guint32 g = 0; g < n; g++)
    net_side (&net, gpu0 + g < boundary, FIRST + g, all);
  return net_flow (&net);
}

static double
flow_inside (const Clu *clu, guint32 first, guint32 last, guint32 boundary)
{
  if (boundary <= clu->node[first].gpu || boundary >= clu->node[last + 1].gpu)
    return 0;
  if (clu_node_template (clu, first)->scale_up != CLU_SCALE_UP_NONE)
    return flow_over_scale_up (clu, first, last, boundary);
  return first == last ? flow_over_pcie (clu, first, boundary - clu->node[first].gpu) : 0;
}

/* --- Over the fabric ------------------------------------------------------------------------------------------------------- */

static gboolean
is_tree (const CluFabric *f)
{
  return f->n_levels > 0;
}

/* Number of a level's pod among all pods: levels one after the other. */
static guint32
pod_vertex (const CluFabric *f, guint32 level, guint32 pod)
{
  guint32 first = FIRST;
  for (guint32 l = 0; l < level; l++)
    first += f->level[l].n_pods;
  return first + pod;
}

/* A tree's pods level by level: the cables out of a pod count together, as ideal routing uses them. */
static void
add_tree (const CluFabric *f, Net *net)
{
  for (guint32 l = 0; l + 1 < f->n_levels; l++) {
    const CluTreeLevel *level = &f->level[l];
    double rate = level->p.rate_Bps * level->up * level->per_pod;
    for (guint32 pod = 0; pod < level->n_pods; pod++)
      net_add (net, pod_vertex (f, l, pod), pod_vertex (f, l + 1, pod / f->level[l + 1].children), rate, rate);
  }
}

static void
add_graph (const CluFabric *f, Net *net)
{
  for (guint32 i = 0; i < f->n_links; i++) {
    CluFabricLink link;
    f->ops->link (f, i, &link);
    net_add (net, FIRST + link.a, FIRST + link.b, link.p->rate_Bps, link.p->rate_Bps);
  }
}

static double
flow_over_fabric (const Clu *clu, guint32 boundary)
{
  const CluFabric *f = &clu->fabric;
  guint32 pods = 0;
  for (guint32 l = 0; l < f->n_levels; l++)
    pods += f->level[l].n_pods;
  gboolean custom = f->ops->attach == NULL;
  Net net = net_new (FIRST + (is_tree (f) ? pods : f->n_switches + (custom ? f->n_endpoints : 0)));
  if (is_tree (f))
    add_tree (f, &net);
  else
    add_graph (f, &net);
  for (guint32 node = 0; node < clu->n_nodes; node++) {
    const CluTemplate *t = clu_node_template (clu, node);
    guint32 n = t->n[CLU_DEV_NIC];
    for (guint32 k = 0; k < n; k++) {
      /* An adapter is on the side of the GPU that it serves. */
      guint32 nic = clu->node[node].nic + k, gpu = clu->node[node].gpu + (guint32)((guint64)k * t->n[CLU_DEV_GPU] / n);
      guint32 vertex = FIRST + (custom ? f->n_switches + nic : f->ops->attach (f, nic));
      double rate = custom ? t->nic_wire.rate_Bps * f->n_links : clu_template_link_at (t, t->wire[k])->p.rate_Bps;
      net_side (&net, gpu < boundary, vertex, rate);
    }
  }
  return net_flow (&net);
}

double
clu_bisection_Bps (const Clu *clu)
{
  guint32 boundary = clu->n_gpus / 2;
  if (boundary == 0)
    return 0;
  guint32 node = clu_node_of_gpu (clu, boundary), domain = node / clu->domain_nodes;
  guint32 first = domain * clu->domain_nodes, last = MIN (first + clu->domain_nodes, clu->n_nodes) - 1;
  double inside = flow_inside (clu, first, last, boundary);
  gboolean whole = first == 0 && last == clu->n_nodes - 1;
  return whole || clu->fabric.ops == NULL ? inside : inside + flow_over_fabric (clu, boundary);
}
