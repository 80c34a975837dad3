/* Orders in which a ring collective visits its ranks.
 *
 * The ranks fall into islands: a node, or an NVLink domain wider than a node while NVLink is in use. Inside an island the order is
 *   behind a switch    rank order, one ring: any order loads each GPU's port once each way;
 *   in a mesh          the cycles of ring_search.c over the links among the ranks, equal ones merged: share = lanes taken;
 *   else               nearest neighbour by path class (NVLink bridge, PCIe switch, host bridge, socket), so that each group of
 *                      near GPUs is entered and left once; of all starts the order with the fewest farthest hops.
 * Between islands ring k enters and leaves by NIC k, with the island's order turned to begin at a GPU nearest to it and, behind a
 * switch, to end at another one as near. Where there is none, the last GPU reaches the NIC over PCIe or, where routes allow it,
 * over NVLink by the first (PXN): in a mesh that is the link that closes the cycle, which the ring does not use otherwise. With
 * more NICs than cycles (a full mesh of 8 with 8 NICs) every link is needed inside: the rings are then paths that share no link,
 * each enters by its first GPU's NIC and leaves by its last one's, and passes each second node backwards, so that it stays on the
 * rails. Where the mesh has fewer such paths than NICs, but more cycles than half as many, the rings are the cycles. NICs
 * in use: the nearest of each rank's GPU, at most ceil (NICs / GPUs) for a GPU that has several equally near. As many rings as
 * the island with the fewest has, all of equal share.
 *
 * Source: NCCL's user guide and src/graph/search.cc for the principle (one NIC in and out per ring and node, start beside the NIC);
 * RCCL 0cbce2a src/graph/rome_models.cc for paths from one NIC to another and their reversal on odd nodes; the order itself is this
 * program's own. Limits: a mesh of more than 16 ranks a node takes the nearest-neighbour order.
 * Check: DGX-1V 6 rings, MI300X 7; four NICs 4 rings, each starting beside its NIC. */
#include <stdlib.h>
#include <string.h>

#include "cluster/rings.h"
#include "graph/clu-private.h"
#include "routes/ring-private.h"

/* A NIC in use, the member nearest to it that a ring enters by, and the one that it leaves by: another as near where there is
 * one (two GPUs of one PCIe switch then carry one direction each), else the same (the last GPU goes by way of the first). */
typedef struct {
  guint32 nic, start, end;
} Port;

typedef struct {
  guint32 first, n;            /* positions in Plan.member */
  guint32 first_node, n_nodes; /* in Plan.node */
  const CluRingOrders *local;
  const GArray *ports; /* Port, borrowed from the plan's cache; NULL where no NIC is used */
} Island;

typedef struct {
  guint32 node, first, n; /* members of one node: positions in Plan.member */
} NodeGroup;

typedef struct {
  const Clu *clu;
  const guint32 *gpus;
  CluRouteOptions options;
  guint32 *member;    /* positions in gpus, islands together, nodes in them together, rank order below */
  GArray *node;       /* NodeGroup */
  GArray *island;     /* Island */
  GHashTable *locals; /* shape -> CluRingOrders: equal nodes are searched once */
  GHashTable *ports;  /* shape -> GArray of Port */
  CluRoute route;     /* scratch */
} Plan;

static void
ports_free (gpointer data)
{
  g_array_unref (data);
}

static void
plan_clear (Plan *plan)
{
  g_free (plan->member);
  g_clear_pointer (&plan->node, g_array_unref);
  g_clear_pointer (&plan->island, g_array_unref);
  g_clear_pointer (&plan->locals, g_hash_table_unref);
  g_clear_pointer (&plan->ports, g_hash_table_unref);
  clu_route_clear (&plan->route);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Plan, plan_clear)

static CluDev
member_dev (const Plan *plan, guint32 member)
{
  return clu_gpu (plan->clu, plan->gpus[plan->member[member]]);
}

static gboolean
find_route (Plan *plan, guint32 from, guint32 to, guint32 nic, GError **error)
{
  CluRouteOptions options = plan->options;
  options.nic = nic;
  return clu_route_find (plan->clu, member_dev (plan, from), member_dev (plan, to), &options, &plan->route, error);
}

/* Grouping. */

static gboolean
scale_up_is_used (const CluDegrade *degrade)
{
  return !degrade->no_p2p && !degrade->no_nvlink && !degrade->host_only;
}

static guint32
group_of (GHashTable *index, guint32 key)
{
  gpointer at = NULL;
  if (g_hash_table_lookup_extended (index, GUINT_TO_POINTER (key), NULL, &at))
    return GPOINTER_TO_UINT (at);
  guint32 group = g_hash_table_size (index);
  g_hash_table_insert (index, GUINT_TO_POINTER (key), GUINT_TO_POINTER (group));
  return group;
}

typedef struct {
  guint32 island, node, position; /* island and node by first appearance */
  guint32 node_number;
} Member;

static int
compare_members (gconstpointer a, gconstpointer b)
{
  const Member *x = a, *y = b;
  if (x->island != y->island)
    return x->island < y->island ? -1 : 1;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

static void
plan_group (Plan *plan, guint32 n)
{
  g_autoptr (GHashTable) islands = g_hash_table_new (NULL, NULL), nodes = g_hash_table_new (NULL, NULL);
  g_autofree Member *members = g_new (Member, n);
  gboolean wide = scale_up_is_used (&plan->options.degrade);
  for (guint32 i = 0; i < n; i++) {
    guint32 node = clu_dev_node (plan->clu, clu_gpu (plan->clu, plan->gpus[i]));
    guint32 island = wide ? clu_domain_of_node (plan->clu, node) : node;
    members[i] = (Member){ group_of (islands, island), group_of (nodes, node), i, node };
  }
  qsort (members, n, sizeof *members, compare_members);
  plan->member = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++) {
    plan->member[i] = members[i].position;
    gboolean new_island = i == 0 || members[i].island != members[i - 1].island;
    if (new_island)
      g_array_append_vals (plan->island, &(Island){ .first = i, .first_node = plan->node->len }, 1);
    Island *island = &g_array_index (plan->island, Island, plan->island->len - 1);
    if (new_island || members[i].node != members[i - 1].node) {
      g_array_append_vals (plan->node, &(NodeGroup){ .node = members[i].node_number, .first = i }, 1);
      island->n_nodes++;
    }
    g_array_index (plan->node, NodeGroup, plan->node->len - 1).n++;
    island->n++;
  }
}

/* A number and a mark behind it; a search asks for hundreds of thousands, for which printf is slow. */
static void
append_number (GString *key, guint32 number, char mark)
{
  char text[11]; /* ten digits and the mark */
  guint at = sizeof text;
  text[--at] = mark;
  do
    text[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  g_string_append_len (key, text + at, sizeof text - at);
}

/* What makes two groups of members alike: the GPUs' places in nodes of the same kind. */
static char *
shape_key (const Plan *plan, guint32 first, guint32 n, guint32 n_nodes)
{
  GString *key = g_string_new (NULL);
  guint32 last = CLU_NONE;
  append_number (key, n_nodes, '/');
  for (guint32 i = first; i < first + n; i++) {
    CluDev dev = member_dev (plan, i);
    guint32 node = clu_dev_node (plan->clu, dev);
    if (node != last)
      append_number (key, plan->clu->node[node].kind, ':');
    last = node;
    append_number (key, clu_dev_index (plan->clu, dev), ' ');
  }
  return g_string_free (key, FALSE);
}

/* Orders inside an island. */

typedef enum { JOIN_OTHER, JOIN_SWITCH, JOIN_LINK } Join;

/* How the route just found joins its ends, and by how many lanes when a link does. */
static Join
route_join (const Plan *plan, double *lanes)
{
  guint32 n_links = 0;
  CluLink link = { .lanes = 0 };
  gboolean by_switch = FALSE;
  for (guint32 i = 0; i < plan->route.hops->len; i++) {
    const CluHop *hop = &g_array_index (plan->route.hops, CluHop, i);
    by_switch |= clu_dev_kind (plan->clu, hop->to) == CLU_DEV_NVSWITCH;
    if (hop->link == CLU_NONE)
      continue;
    n_links++;
    clu_link (plan->clu, hop->link, &link);
  }
  *lanes = link.lanes;
  if (plan->route.transport != CLU_TRANSPORT_P2P)
    return JOIN_OTHER;
  return by_switch ? JOIN_SWITCH : n_links == 1 ? JOIN_LINK : JOIN_OTHER;
}

static gboolean
local_switched (Plan *plan, const Island *island, CluRingOrders **out, GError **error)
{
  for (guint32 i = 0; i < island->n; i++)
    if (!find_route (plan, island->first + i, island->first + (i + 1) % island->n, CLU_NONE, error))
      return FALSE;
  *out = clu_ring_in_rank_order (island->n);
  (*out)->by_switch = TRUE;
  return TRUE;
}

/* Orders among the members of one island. `starts`: where the rings begin when there are several islands, else NULL. */
static gboolean
local_find (Plan *plan, const Island *island, const guint32 *starts, guint32 n_starts, CluRingOrders **out, GError **error)
{
  guint32 n = island->n;
  if (n == 1) {
    *out = clu_ring_in_rank_order (1);
    return TRUE;
  }
  gsize n_pairs = (gsize)n * n;
  gboolean scale_up = scale_up_is_used (&plan->options.degrade);
  g_autofree guint8 *path_class = NULL;
  g_autofree double *lanes = NULL;
  gboolean any_link = FALSE;
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < n; j++) {
      if (i == j)
        continue;
      if (!find_route (plan, island->first + i, island->first + j, CLU_NONE, error))
        return FALSE;
      double joined_by = 0;
      Join join = scale_up ? route_join (plan, &joined_by) : JOIN_OTHER;
      if (join == JOIN_SWITCH) /* one switch joins all of an island */
        return local_switched (plan, island, out, error);
      if (path_class == NULL) {
        path_class = g_new0 (guint8, n_pairs);
        lanes = g_new0 (double, n_pairs);
      }
      path_class[i * n + j] = (guint8)plan->route.path_class;
      if (join == JOIN_LINK) {
        lanes[i * n + j] = joined_by;
        any_link = TRUE;
      }
    }
  CluRingOrders *local = NULL;
  if (any_link && n <= CLU_RING_MESH_MAX) {
    guint32 count[CLU_RING_MESH_MAX * CLU_RING_MESH_MAX];
    clu_ring_count_lanes (lanes, n, count);
    local = clu_ring_mesh (count, n);
    if (local != NULL && n_starts > clu_ring_lanes (local)) {
      CluRingOrders *paths = clu_ring_paths (count, n, starts, n_starts);
      if (paths != NULL) {
        clu_ring_orders_free (local);
        local = paths;
      }
    }
  }
  *out = local != NULL ? local : clu_ring_nearest (path_class, n);
  return TRUE;
}

/* NICs. */

static gboolean
uses_nics (const CluDegrade *degrade)
{
  return !degrade->host_only && !degrade->management && !degrade->frontend;
}

/* NICs of the node nearest to a GPU, as a list of indices; the farthest where buffers are forced to the other socket. */
static gboolean
nearest_nics (Plan *plan, guint32 node, CluDev gpu, guint32 n_nics, GArray *near, GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  gboolean far = plan->options.degrade.remote_numa;
  CluPathClass best_class = CLU_PATH_N;
  double best_s = 0;
  g_array_set_size (near, 0);
  for (guint32 nic = 0; nic < n_nics; nic++) {
    CluDev dev = clu_node_device (plan->clu, node, CLU_DEV_NIC, nic);
    if (!clu_route_find (plan->clu, gpu, dev, &options, &plan->route, error))
      return FALSE;
    CluPathClass c = plan->route.path_class;
    double s = plan->route.latency_s;
    gboolean equal = c == best_class && s == best_s;
    gboolean nearer = c < best_class || (c == best_class && s < best_s);
    if (near->len == 0 || (!equal && nearer != far)) {
      g_array_set_size (near, 0);
      best_class = c;
      best_s = s;
      equal = TRUE;
    }
    if (equal)
      g_array_append_val (near, nic);
  }
  return TRUE;
}

/* Ports of one node's members, by NIC number; Port.start counts members of the node group. */
static gboolean
node_ports (Plan *plan, const NodeGroup *group, GArray *ports, GError **error)
{
  guint32 n_nics = clu_node_n (plan->clu, group->node, CLU_DEV_NIC), n_gpus = clu_gpus_per_node (plan->clu, group->node);
  if (plan->options.degrade.max_nics > 0)
    n_nics = MIN (n_nics, plan->options.degrade.max_nics);
  if (n_nics == 0)
    return TRUE;
  guint32 per_gpu = (n_nics + n_gpus - 1) / n_gpus;
  g_autoptr (GArray) near = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *used = g_new0 (guint32, n_nics), *start = g_new0 (guint32, n_nics);
  g_autofree guint8 *is_near = g_new0 (guint8, (gsize)group->n * n_nics);
  for (guint32 i = 0; i < group->n; i++) {
    if (!nearest_nics (plan, group->node, member_dev (plan, group->first + i), n_nics, near, error))
      return FALSE;
    for (guint32 k = 0; k < near->len; k++)
      is_near[(gsize)i * n_nics + g_array_index (near, guint32, k)] = 1;
    for (guint32 take = 0; take < per_gpu && near->len > 0; take++) {
      /* equal ones from its own turn on, so that GPUs of other communicators find theirs free */
      guint32 turn = clu_dev_index (plan->clu, member_dev (plan, group->first + i)) * per_gpu % near->len, least = turn;
      for (guint32 k = 1; k < near->len; k++)
        if (used[g_array_index (near, guint32, (turn + k) % near->len)] < used[g_array_index (near, guint32, least)])
          least = (turn + k) % near->len;
      guint32 nic = g_array_index (near, guint32, least);
      if (used[nic]++ == 0)
        start[nic] = i;
      g_array_remove_index (near, least);
    }
  }
  for (guint32 nic = 0; nic < n_nics; nic++) {
    guint32 end = start[nic];
    for (guint32 i = 1; i < group->n && end == start[nic]; i++)
      if (is_near[(gsize)((start[nic] + i) % group->n) * n_nics + nic])
        end = (start[nic] + i) % group->n;
    if (used[nic] > 0)
      g_array_append_vals (ports, &(Port){ nic, start[nic], end }, 1);
  }
  return TRUE;
}

static gboolean
island_ports (Plan *plan, Island *island, GError **error)
{
  g_autofree char *key = shape_key (plan, island->first, island->n, island->n_nodes);
  GArray *ports = g_hash_table_lookup (plan->ports, key);
  if (ports == NULL) {
    g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Port));
    for (guint32 g = 0; g < island->n_nodes; g++) {
      const NodeGroup *group = &g_array_index (plan->node, NodeGroup, island->first_node + g);
      guint32 before = all->len;
      if (!node_ports (plan, group, all, error))
        return FALSE;
      for (guint32 p = before; p < all->len; p++) {
        g_array_index (all, Port, p).start += group->first - island->first;
        g_array_index (all, Port, p).end += group->first - island->first;
      }
    }
    ports = g_steal_pointer (&all);
    g_hash_table_insert (plan->ports, g_steal_pointer (&key), ports);
  }
  island->ports = ports;
  return TRUE;
}

/* The rings of one-node islands keep to their rail: NICs that every island has come first. With fewer than n of them each island
 * takes its own in order. */
static void
choose_rails (const Plan *plan, guint32 n, GArray *rails)
{
  const GArray *first = g_array_index (plan->island, Island, 0).ports;
  for (guint32 p = 0; p < first->len && rails->len < n; p++) {
    guint32 nic = g_array_index (first, Port, p).nic;
    gboolean everywhere = TRUE;
    for (guint32 i = 0; i < plan->island->len && everywhere; i++) {
      const Island *island = &g_array_index (plan->island, Island, i);
      everywhere = FALSE;
      for (guint32 q = 0; q < island->ports->len && !everywhere; q++)
        everywhere = island->n_nodes == 1 && g_array_index (island->ports, Port, q).nic == nic;
    }
    if (everywhere)
      g_array_append_val (rails, nic);
  }
  if (rails->len < n)
    g_array_set_size (rails, 0);
}

static const Port *
island_port (const Island *island, const GArray *rails, guint32 ring)
{
  for (guint32 p = 0; rails->len > 0 && p < island->ports->len; p++) {
    const Port *port = &g_array_index (island->ports, Port, p);
    if (port->nic == g_array_index (rails, guint32, ring))
      return port;
  }
  return &g_array_index (island->ports, Port, ring);
}

/* Putting rings together. */

static gboolean
island_local (Plan *plan, Island *island, const GArray *rails, guint32 n_rings, GError **error)
{
  g_autofree char *shape = shape_key (plan, island->first, island->n, island->n_nodes);
  GString *key = g_string_new (shape);
  g_autofree guint32 *starts = NULL;
  if (island->ports != NULL) {
    starts = g_new (guint32, n_rings);
    for (guint32 k = 0; k < n_rings; k++) {
      starts[k] = island_port (island, rails, k)->start;
      append_number (key, starts[k], ';');
    }
  }
  g_autofree char *whole = g_string_free (key, FALSE);
  CluRingOrders *local = g_hash_table_lookup (plan->locals, whole);
  if (local == NULL) {
    if (!local_find (plan, island, starts, starts == NULL ? 0 : n_rings, &local, error))
      return FALSE;
    g_hash_table_insert (plan->locals, g_steal_pointer (&whole), local);
  }
  island->local = local;
  return TRUE;
}

/* The NIC of the GPU at which path k ends: of several ports there one that no earlier path takes. */
static guint32
path_end_nic (const Island *island, const GArray *rails, guint32 k)
{
  const CluRingOrders *local = island->local;
  guint32 n = island->n, end = local->order[(k + 1) * n - 1], before = 0;
  for (guint32 r = 0; r < k; r++)
    before += local->order[(r + 1) * n - 1] == end;
  for (guint32 r = 0; r < local->n_orders; r++) {
    const Port *port = island_port (island, rails, r);
    if (port->start == end && before-- == 0)
      return port->nic;
  }
  return island_port (island, rails, k)->nic; /* not reached: ends are starts of others */
}

/* The island's members in the order of one ring that begins at `start`, as members of the plan. Where a switch joins several
 * nodes and the ring goes on between islands, its first and last member stand in one node when that has two, so that both use
 * its NICs; `end` is the last where it differs from the first. */
static void
island_order (const Plan *plan, const Island *island, guint32 ring, guint32 start, guint32 end, gboolean between, guint32 *order)
{
  const CluRingOrders *local = island->local;
  guint32 n = island->n;
  if (!local->by_switch || !between) {
    const guint32 *cycle = &local->order[(gsize)(ring % local->n_orders) * n];
    guint32 at = 0;
    while (cycle[at] != start)
      at++;
    for (guint32 i = 0; i < n; i++)
      order[i] = island->first + cycle[(at + i) % n];
    return;
  }
  guint32 from = 0, to = n;
  for (guint32 g = 0; g < island->n_nodes; g++) {
    const NodeGroup *group = &g_array_index (plan->node, NodeGroup, island->first_node + g);
    guint32 first = group->first - island->first;
    if (start >= first && start < first + group->n) {
      from = first;
      to = first + group->n;
    }
  }
  guint32 at = 0;
  order[at++] = island->first + start;
  for (guint32 i = 0; i < n - (to - from); i++)
    order[at++] = island->first + (to + i) % n;
  for (guint32 i = 1; i < to - from; i++) {
    guint32 member = from + (start - from + i) % (to - from);
    if (member != end)
      order[at++] = island->first + member;
  }
  if (end != start)
    order[at++] = island->first + end;
}

/* Whether rings pass the islands as paths, each second one backwards. */
static gboolean
rings_are_paths (const Plan *plan, const GArray *rails)
{
  gboolean all = rails->len > 0;
  for (guint32 i = 0; i < plan->island->len && all; i++)
    all = g_array_index (plan->island, Island, i).local->paths;
  return all;
}

/* As island_order() of a path; returns the NIC by which it is left. */
static guint32
path_order (const Island *island, const GArray *rails, guint32 k, gboolean backwards, guint32 *order)
{
  const guint32 *path = &island->local->order[(gsize)k * island->n];
  for (guint32 i = 0; i < island->n; i++)
    order[i] = island->first + path[backwards ? island->n - 1 - i : i];
  return backwards ? island_port (island, rails, k)->nic : path_end_nic (island, rails, k);
}

static gboolean
build_ring (Plan *plan, guint32 k, const GArray *rails, guint32 n, CluRing *ring, GError **error)
{
  gboolean paths = rings_are_paths (plan, rails);
  guint32 n_islands = plan->island->len, at = 0;
  g_autofree guint32 *order = g_new (guint32, n), *nic_out = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    nic_out[i] = CLU_NONE;
  for (guint32 i = 0; i < n_islands; i++) {
    const Island *island = &g_array_index (plan->island, Island, i);
    const Port *port = island->ports == NULL ? NULL : island_port (island, rails, k);
    if (paths) {
      guint32 nic = path_order (island, rails, k, i % 2 == 1, &order[at]);
      at += island->n;
      nic_out[at - 1] = nic;
      continue;
    }
    island_order (plan, island, k, port == NULL ? 0 : port->start, port == NULL ? 0 : port->end, n_islands > 1, &order[at]);
    at += island->n;
    if (port != NULL)
      nic_out[at - 1] = port->nic;
  }
  for (guint32 i = 0, end = 0; n_islands > 1 && i < n_islands; i++) {
    end += g_array_index (plan->island, Island, i).n;
    if (!find_route (plan, order[end - 1], order[end % n], nic_out[end - 1], error))
      return FALSE;
  }
  for (guint32 i = 0; i < n; i++)
    order[i] = plan->member[order[i]];
  ring->order = g_steal_pointer (&order);
  ring->nic_out = g_steal_pointer (&nic_out);
  ring->rail = paths ? g_array_index (rails, guint32, k) : CLU_NONE;
  return TRUE;
}

/* Fewer rings than NICs where an island's mesh bears no such paths, and one more ring would use a link twice: five GPUs with five
 * NICs have four. */
static guint32
rings_borne (const Plan *plan, guint32 n_rings)
{
  guint32 least = n_rings;
  for (guint32 i = 0; i < plan->island->len; i++) {
    const CluRingOrders *local = g_array_index (plan->island, Island, i).local;
    guint32 cycles = clu_ring_lanes (local);
    if (local->mesh && !local->paths && cycles < least && n_rings < 2 * cycles)
      least = cycles;
  }
  return least;
}

/* How many rings, and by which rails they run between islands. */
static gboolean
plan_ports (Plan *plan, GArray *rails, guint32 *n_rings, GError **error)
{
  guint32 least = G_MAXUINT32;
  for (guint32 i = 0; i < plan->island->len; i++) {
    Island *island = &g_array_index (plan->island, Island, i);
    if (!island_ports (plan, island, error))
      return FALSE;
    least = MIN (least, island->ports->len);
  }
  *n_rings = MAX (least, 1);
  if (least == 0) /* no NIC somewhere: the route says where the path breaks, or goes another way */
    for (guint32 i = 0; i < plan->island->len; i++)
      g_array_index (plan->island, Island, i).ports = NULL;
  else
    choose_rails (plan, least, rails);
  return TRUE;
}

gboolean
clu_rings_find (const Clu *clu, const guint32 *gpus, guint32 n, const CluDegrade *degrade, CluRings **out, GError **error)
{
  g_return_val_if_fail (clu != NULL && gpus != NULL && n > 0 && out != NULL, FALSE);
  g_auto (Plan) plan = { .clu = clu, .gpus = gpus, .options = CLU_ROUTE_DEFAULT };
  if (degrade != NULL)
    plan.options.degrade = *degrade;
  plan.node = g_array_new (FALSE, TRUE, sizeof (NodeGroup));
  plan.island = g_array_new (FALSE, TRUE, sizeof (Island));
  plan.locals = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, clu_ring_orders_free);
  plan.ports = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, ports_free);
  clu_route_init (&plan.route);
  plan_group (&plan, n);

  guint32 n_rings = 1;
  g_autoptr (GArray) rails = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean many = plan.island->len > 1;
  if (many && uses_nics (&plan.options.degrade) && !plan_ports (&plan, rails, &n_rings, error))
    return FALSE;
  for (guint32 i = 0; i < plan.island->len; i++)
    if (!island_local (&plan, &g_array_index (plan.island, Island, i), rails, n_rings, error))
      return FALSE;
  if (many)
    n_rings = rings_borne (&plan, n_rings);
  const CluRingOrders *alone = g_array_index (plan.island, Island, 0).local;
  if (!many)
    n_rings = alone->n_orders;

  g_autoptr (CluRings) rings = g_new0 (CluRings, 1);
  rings->n = n;
  rings->n_rings = n_rings;
  rings->ring = g_new0 (CluRing, n_rings);
  for (guint32 k = 0; k < n_rings; k++) {
    if (!build_ring (&plan, k, rails, n, &rings->ring[k], error))
      return FALSE;
    rings->ring[k].share = many ? 1.0 / n_rings : (double)alone->lanes[k] / clu_ring_lanes (alone);
  }
  *out = g_steal_pointer (&rings);
  return TRUE;
}

void
clu_rings_free (CluRings *rings)
{
  if (rings == NULL)
    return;
  for (guint32 k = 0; k < rings->n_rings; k++) {
    g_free (rings->ring[k].order);
    g_free (rings->ring[k].nic_out);
  }
  g_free (rings->ring);
  g_free (rings);
}
