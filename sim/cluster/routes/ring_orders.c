/* Orders of the members of one island, by what joins each two: any behind a switch, cycles in a mesh, else the nearest next. */
#include <string.h>

#include "cluster/rings.h"
#include "routes/ring-private.h"

enum { TRY_STARTS = 64 }; /* nearest-neighbour orders from every start cost n^3 */

void
clu_ring_orders_free (gpointer data)
{
  CluRingOrders *local = data;
  g_free (local->order);
  g_free (local->lanes);
  g_free (local);
}

static CluRingOrders *
orders_new (guint32 n, guint32 n_orders)
{
  CluRingOrders *local = g_new0 (CluRingOrders, 1);
  local->n = n;
  local->n_orders = n_orders;
  local->order = g_new0 (guint32, (gsize)n * n_orders);
  local->lanes = g_new0 (guint32, n_orders);
  for (guint32 r = 0; r < n_orders; r++)
    local->lanes[r] = 1;
  return local;
}

CluRingOrders *
clu_ring_in_rank_order (guint32 n)
{
  CluRingOrders *local = orders_new (n, 1);
  for (guint32 i = 0; i < n; i++)
    local->order[i] = i;
  return local;
}

guint32
clu_ring_lanes (const CluRingOrders *local)
{
  guint32 total = 0;
  for (guint32 r = 0; r < local->n_orders; r++)
    total += local->lanes[r];
  return total;
}

/* The least number of hops of the farthest class, then of the next: hops by class as the digits of a number. */
static gboolean
fewer_far_hops (const guint32 *a, const guint32 *b)
{
  for (guint32 c = CLU_PATH_N; c-- > 0;)
    if (a[c] != b[c])
      return a[c] < b[c];
  return FALSE;
}

static void
walk_nearest (const guint8 *path_class, guint32 n, guint32 start, guint32 *order, guint32 *hops)
{
  g_autofree gboolean *seen = g_new0 (gboolean, n);
  memset (hops, 0, CLU_PATH_N * sizeof *hops);
  order[0] = start;
  seen[start] = TRUE;
  for (guint32 i = 1; i < n; i++) {
    guint32 at = order[i - 1], next = CLU_NONE;
    for (guint32 d = 1; d < n; d++) {
      guint32 j = (at + d) % n; /* ties: the next in rank order */
      if (!seen[j] && (next == CLU_NONE || path_class[at * n + j] < path_class[at * n + next]))
        next = j;
    }
    order[i] = next;
    seen[next] = TRUE;
    hops[path_class[at * n + next]]++;
  }
  hops[path_class[order[n - 1] * n + start]]++;
}

CluRingOrders *
clu_ring_nearest (const guint8 *path_class, guint32 n)
{
  CluRingOrders *local = orders_new (n, 1);
  g_autofree guint32 *order = g_new (guint32, n);
  guint32 best[CLU_PATH_N] = { 0 }, hops[CLU_PATH_N];
  for (guint32 start = 0; start < (n <= TRY_STARTS ? n : 1); start++) {
    walk_nearest (path_class, n, start, order, hops);
    if (start > 0 && !fewer_far_hops (hops, best))
      continue;
    memcpy (best, hops, sizeof best);
    guint32 zero = 0;
    while (order[zero] != 0)
      zero++;
    for (guint32 i = 0; i < n; i++)
      local->order[i] = order[(zero + i) % n];
  }
  return local;
}

/* Lanes as whole numbers: as they are where they are whole, else in units of the thinnest (18 lanes over 7 neighbours). */
void
clu_ring_count_lanes (const double *lanes, guint32 n, guint32 *count)
{
  double thinnest = 0;
  gboolean whole = TRUE;
  for (guint32 i = 0; i < n * n; i++) {
    if (lanes[i] > 0 && (thinnest <= 0 || lanes[i] < thinnest))
      thinnest = lanes[i];
    whole = whole && lanes[i] <= (double)CLU_RING_MAX && lanes[i] == (double)(guint32)lanes[i];
  }
  for (guint32 i = 0; i < n * n; i++) {
    double units = whole ? lanes[i] : lanes[i] > 0 ? lanes[i] / thinnest + 1e-9 : 0;
    count[i] = (guint32)MIN (units, (double)CLU_RING_MAX);
  }
}

/* NULL when the links among the members bear no ring. */
CluRingOrders *
clu_ring_mesh (const guint32 *count, guint32 n)
{
  guint32 orders[CLU_RING_MAX * CLU_RING_MESH_MAX];
  guint32 found = clu_hamiltonian_rings (count, n, CLU_RING_MAX, orders);
  if (found == 0)
    return NULL;
  CluRingOrders *local = orders_new (n, found);
  guint32 kept = 0;
  for (guint32 r = 0; r < found; r++) { /* sorted: equal orders follow each other */
    if (kept > 0 && memcmp (&local->order[(kept - 1) * n], &orders[r * n], n * sizeof *orders) == 0) {
      local->lanes[kept - 1]++;
      continue;
    }
    memcpy (&local->order[kept * n], &orders[r * n], n * sizeof *orders);
    local->lanes[kept++] = 1;
  }
  local->n_orders = kept;
  local->mesh = TRUE;
  return local;
}

/* Paths through all members that share no link, as many as NICs, path k beginning at starts[k]: cycles through one more GPU that
 * stands for the outside. A full mesh of 8 with 8 NICs splits into 8 such paths, where it has only 7 cycles. */
CluRingOrders *
clu_ring_paths (const guint32 *count, guint32 n, const guint32 *starts, guint32 n_starts)
{
  if (n + 1 > CLU_RING_MESH_MAX || n_starts > CLU_RING_MAX)
    return NULL;
  guint32 m = n + 1, lanes[CLU_RING_MESH_MAX * CLU_RING_MESH_MAX] = { 0 }, orders[CLU_RING_MAX * CLU_RING_MESH_MAX];
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < n; j++)
      lanes[(i + 1) * m + j + 1] = count[i * n + j];
  for (guint32 k = 0; k < n_starts; k++) {
    lanes[starts[k] + 1]++;
    lanes[(starts[k] + 1) * m]++;
  }
  if (clu_hamiltonian_rings (lanes, m, n_starts, orders) < n_starts)
    return NULL;
  CluRingOrders *local = orders_new (n, n_starts);
  local->paths = TRUE;
  for (guint32 k = 0; k < n_starts; k++)
    for (guint32 r = 0; r < n_starts; r++)
      if (orders[r * m + 1] == starts[k] + 1) {
        for (guint32 i = 0; i < n; i++)
          local->order[k * n + i] = orders[r * m + i + 1] - 1;
        orders[r * m + 1] = 0; /* taken */
        break;
      }
  return local;
}
