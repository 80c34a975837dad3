/* Laws of routes over random clusters: every route is a chain from end to end, what flows into a device flows out of it again,
 * both ways take equally long, equal questions have equal answers. The generator is seeded: a failure names the topology that
 * shows it. */
#include "../unit/cluster_fixture.h"
#include "base/random.h"

#define N_CLUSTERS 400
#define N_PAIRS    12

static guint32
pick (BaseRandom *random, guint32 low, guint32 high)
{
  return low + base_random_below (random, high - low + 1);
}

static const char *
routing (BaseRandom *random)
{
  static const char *const names[] = { "static", "ecmp", "adaptive" };
  return names[base_random_below (random, 3)];
}

/* A tree by levels; returns how many NICs it takes. */
static guint32
write_levels (BaseRandom *random, GString *out)
{
  guint32 n = pick (random, 1, 4), hosts = 1, below = 1;
  g_string_append (out, "levels: [");
  for (guint32 l = 0; l < n; l++) {
    guint32 children = pick (random, 1, 4), parallel = pick (random, 1, 3), up = parallel * pick (random, 1, 3);
    hosts *= children;
    g_string_append_printf (out, "%s{down: %u", l > 0 ? ", " : "", children * below);
    if (l + 1 < n)
      g_string_append_printf (out, ", up: %u, parallel: %u", up, parallel);
    g_string_append_c (out, '}');
    below = parallel;
  }
  g_string_append (out, "]}\n");
  return hosts;
}

static guint32
write_custom (BaseRandom *random, GString *out)
{
  guint32 n_switches = pick (random, 1, 7), n_nodes = pick (random, 2, 9), n_cables = pick (random, 0, 8);
  g_string_append (out, "switches: [");
  for (guint32 s = 0; s < n_switches; s++)
    g_string_append_printf (out, "%ss%u", s > 0 ? ", " : "", s);
  g_string_append (out, "], links: [");
  for (guint32 i = 0; i < n_nodes; i++)
    g_string_append_printf (out, "%s{from: node%u.nic0, to: s%u}", i > 0 ? ", " : "", i, base_random_below (random, n_switches));
  for (guint32 s = 1; s < n_switches; s++) { /* a tree joins all switches */
    guint32 other = base_random_below (random, s), count = pick (random, 1, 3);
    g_string_append_printf (out, ", {from: s%u, to: s%u, count: %u}", s, other, count);
  }
  for (guint32 c = 0; c < n_cables && n_switches > 1; c++) {
    guint32 a = base_random_below (random, n_switches), b = (a + pick (random, 1, n_switches - 1)) % n_switches;
    g_string_append_printf (out, ", {from: s%u, to: s%u}", a, b);
  }
  if (base_random_below (random, 2) == 0)
    g_string_append (out, ", {from: node0.nic0, to: node1.nic0}");
  g_string_append (out, "]}\n");
  return n_nodes;
}

static char *
random_cluster (BaseRandom *random)
{
  g_autoptr (GString) fabric = g_string_new (NULL);
  /* Drawn one by one: the order in which arguments of one call are evaluated is the compiler's. */
  guint32 nodes = pick (random, 2, 24), kind = base_random_below (random, 7), half = pick (random, 2, 8),
          over = pick (random, 1, 3);
  const char *by = routing (random);
  gboolean thin = TRUE;
  switch (kind) {
    case 0:
      g_string_append (fabric, "fabric: {kind: single_switch, leaf: {latency: 300 ns}}\n");
      break;
    case 1:
      g_string_append_printf (fabric,
                              "fabric: {kind: fat_tree, routing: %s, leaf: {radix: %u, latency: 100 ns}, spine: {latency: 50 ns}, "
                              "oversubscription: [%u, 1]}\n",
                              by, 2 * half, over);
      break;
    case 2:
      g_string_append_printf (fabric, "fabric: {kind: fat_tree, routing: %s, ", by);
      nodes = write_levels (random, fabric);
      break;
    case 3:
      thin = FALSE;
      g_string_append_printf (fabric, "fabric: {kind: rail_optimised, routing: %s, leaf: {radix: %u}}\n", by, 4 * half);
      break;
    case 4: {
      guint32 groups = pick (random, 1, 6), routers = pick (random, 1, 4), hosts = pick (random, 1, 3),
              global = pick (random, 1, 5);
      g_string_append_printf (
          fabric, "fabric: {kind: dragonfly, routing: %s, dragonfly: {groups: %u, routers: %u, hosts: %u, global_links: %u}}\n", by,
          groups, routers, hosts, global);
      nodes = groups * routers * hosts;
      break;
    }
    case 5: {
      guint32 a = pick (random, 1, 5), b = pick (random, 1, 4), c = pick (random, 1, 3);
      g_string_append_printf (fabric, "fabric: {kind: torus, routing: %s, dims: [%u, %u, %u]}\n", by, a, b, c);
      nodes = a * b * c;
      break;
    }
    default:
      g_string_append_printf (fabric, "fabric: {kind: custom, routing: %s, ", by);
      nodes = write_custom (random, fabric);
      break;
  }
  const char *domain = !thin && base_random_below (random, 2) == 0 ? "nvlink_domain: {nodes: 3}\n" : "";
  return g_strdup_printf ("topology: t\nnodes: %u\nnode:\n%s%s%s", nodes, thin ? T_THIN : T_HGX, domain, fabric->str);
}

/* --- Conservation: resources as edges between devices; what one trunk joins counts as one device. ----------------------- */

typedef struct {
  const Clu *clu;
  guint32 *parent;   /* by device: union-find */
  CluDev *from, *to; /* by resource; CLU_NONE: no direction (both ways, a device's own) */
  double *balance;   /* by device */
} Flow;

static guint32
root (Flow *f, guint32 d)
{
  while (f->parent[d] != d)
    d = f->parent[d] = f->parent[f->parent[d]];
  return d;
}

static void
edge (Flow *f, CluRes res, CluDev a, CluDev b)
{
  if (f->from[res] == CLU_NONE) {
    f->from[res] = a;
    f->to[res] = b;
    return;
  }
  f->parent[root (f, a)] = root (f, f->from[res]);
  f->parent[root (f, b)] = root (f, f->to[res]);
}

static void
flow_init (Flow *f, const Clu *clu)
{
  guint32 n = clu_n_devices (clu), n_res = clu_n_resources (clu);
  *f = (Flow){ clu, g_new (guint32, n), g_new (CluDev, n_res), g_new (CluDev, n_res), g_new (double, n) };
  for (guint32 d = 0; d < n; d++)
    f->parent[d] = d;
  for (guint32 r = 0; r < n_res; r++)
    f->from[r] = f->to[r] = CLU_NONE;
  for (CluLinkId l = 0; l < clu_n_links (clu); l++) {
    CluLink link;
    clu_link (clu, l, &link);
    edge (f, link.forward, link.a, link.b);
    edge (f, link.backward, link.b, link.a);
  }
}

static void
flow_clear (Flow *f)
{
  g_free (f->parent);
  g_free (f->from);
  g_free (f->to);
  g_free (f->balance);
}

/* Host memory stands at its socket: bytes go there over no link. */
static CluDev
place (const Clu *clu, CluDev d)
{
  return clu_dev_kind (clu, d) == CLU_DEV_MEMORY
             ? clu_node_device (clu, clu_dev_node (clu, d), CLU_DEV_SOCKET, clu_dev_index (clu, d))
             : d;
}

static gboolean
conserves (Flow *f, const CluRoute *r, CluDev from, CluDev to)
{
  guint32 n = clu_n_devices (f->clu);
  for (guint32 d = 0; d < n; d++)
    f->balance[d] = 0;
  for (guint i = 0; i < r->uses->len; i++) {
    const CluUse *use = &g_array_index (r->uses, CluUse, i);
    if (!(use->share > 0))
      return FALSE;
    if (f->from[use->res] == CLU_NONE)
      continue;
    f->balance[root (f, f->from[use->res])] -= use->share;
    f->balance[root (f, f->to[use->res])] += use->share;
  }
  f->balance[root (f, place (f->clu, from))] += 1;
  f->balance[root (f, place (f->clu, to))] -= 1;
  for (guint32 d = 0; d < n; d++)
    if (fabs (f->balance[d]) > 1e-9)
      return FALSE;
  return TRUE;
}

static gboolean
chains (const Clu *clu, const CluRoute *r, CluDev from, CluDev to)
{
  CluDev at = place (clu, from);
  for (guint i = 0; i < r->hops->len; i++) {
    const CluHop *hop = &g_array_index (r->hops, CluHop, i);
    if (hop->link == CLU_NONE)
      continue; /* a device's own resource */
    if (hop->from != at || hop->share <= 0 || hop->n_alternatives < 1)
      return FALSE;
    at = hop->to;
  }
  return at == place (clu, to);
}

static CluDev
random_end (const Clu *clu, BaseRandom *random)
{
  static const CluDevKind kinds[] = { CLU_DEV_GPU, CLU_DEV_GPU, CLU_DEV_GPU, CLU_DEV_MEMORY, CLU_DEV_NIC };
  guint32 node = base_random_below (random, clu_n_nodes (clu));
  CluDevKind kind = kinds[base_random_below (random, G_N_ELEMENTS (kinds))];
  return clu_node_device (clu, node, kind, base_random_below (random, clu_node_n (clu, node, kind)));
}

static CluRouteOptions
random_options (BaseRandom *random)
{
  CluRouteOptions options = { .nic = CLU_NONE, .flow = base_random_below (random, 3) };
  guint32 what = base_random_below (random, 8);
  options.degrade.no_p2p = what == 1;
  options.degrade.no_gdr = what == 2;
  options.degrade.no_rdma = what == 3;
  options.degrade.no_nvlink = what == 4;
  options.degrade.management = what == 5;
  options.degrade.remote_numa = what == 6;
  return options;
}

static gboolean
same_uses (const CluRoute *a, const CluRoute *b)
{
  return a->uses->len == b->uses->len &&
         (a->uses->len == 0 || memcmp (a->uses->data, b->uses->data, a->uses->len * sizeof (CluUse)) == 0);
}

static gboolean
same_bare (const CluRoute *route, const CluRoute *bare)
{
  gboolean as_long = route->latency_s >= bare->latency_s && route->latency_s <= bare->latency_s;
  return same_uses (route, bare) && bare->hops->len == 0 && as_long && route->transport == bare->transport &&
         route->path_class == bare->path_class && route->nic_class == bare->nic_class;
}

/* Where a route may begin or end instead of at `end`: with a process on the wrong socket, a host buffer of the GPU at the other end
 * is in another memory of the node. */
static CluDev
as_found (const Clu *clu, const CluRouteOptions *options, CluDev end, CluDev other, CluDev found)
{
  const gboolean host = clu_dev_kind (clu, end) == CLU_DEV_MEMORY && clu_dev_kind (clu, other) == CLU_DEV_GPU;
  const gboolean moved = clu_dev_kind (clu, found) == CLU_DEV_MEMORY && clu_dev_node (clu, found) == clu_dev_node (clu, end);
  return options->degrade.remote_numa && host && moved && clu_dev_node (clu, end) == clu_dev_node (clu, other) ? found : end;
}

/* One cluster's routes. FALSE: a law is broken, and stderr says where. */
static gboolean
check_cluster (const Clu *clu, const char *text, BaseRandom *random)
{
  Flow flow;
  flow_init (&flow, clu);
  gboolean ok = TRUE;
  for (int i = 0; i < N_PAIRS && ok; i++) {
    CluDev a = random_end (clu, random), b = random_end (clu, random);
    CluRouteOptions options = random_options (random);
    CluRouteOptions bare_options = options;
    bare_options.no_hops = TRUE;
    g_auto (CluRoute) there = { 0 }, back = { 0 }, again = { 0 }, bare = { 0 };
    clu_route_init (&there);
    clu_route_init (&back);
    clu_route_init (&again);
    clu_route_init (&bare);
    g_autoptr (GError) error = NULL;
    gboolean found = clu_route_find (clu, a, b, &options, &there, &error) && clu_route_find (clu, b, a, &options, &back, &error) &&
                     clu_route_find (clu, a, b, &options, &again, &error) &&
                     clu_route_find (clu, a, b, &bare_options, &bare, &error);
    const char *broken = NULL;
    CluDev first = a, last = b;
    if (found && there.hops->len > 0) {
      first = as_found (clu, &options, a, b, g_array_index (there.hops, CluHop, 0).from);
      last = as_found (clu, &options, b, a, g_array_index (there.hops, CluHop, there.hops->len - 1).to);
    }
    if (!found)
      broken = "found";
    else if (!chains (clu, &there, first, last))
      broken = "a chain";
    else if (!conserves (&flow, &there, first, last))
      broken = "conserving";
    else if (fabs (there.latency_s - back.latency_s) > 1e-12)
      broken = "as long as the way back";
    else if (!same_uses (&there, &again))
      broken = "the same when asked again";
    else if (!same_bare (&there, &bare))
      broken = "the same without its hops";
    ok = broken == NULL;
    if (ok)
      continue;
    g_autofree char *from = clu_dev_name (clu, a), *to = clu_dev_name (clu, b), *hops = found ? way (clu, &there) : NULL;
    fprintf (stderr, "%s\n%s to %s is not %s: %s\n", text, from, to, broken, found ? hops : error->message);
  }
  flow_clear (&flow);
  return ok;
}

static void
routes_of_random_clusters_keep_the_laws (void)
{
  guint32 n_loaded = 0;
  for (guint64 i = 0; i < N_CLUSTERS; i++) {
    BaseRandom random = base_random_stream_at (1, "law_cluster_routes", i);
    g_autofree char *text = random_cluster (&random), *message = NULL;
    g_autoptr (Clu) clu = try_load_with (text, NULL, NULL, NULL, &message);
    if (clu == NULL) { /* shapes that are too small for their nodes are refused, and only these */
      TEST_TRUE (strstr (message, "cannot host all NICs") != NULL || strstr (message, "other groups") != NULL);
      continue;
    }
    n_loaded++;
    TEST_TRUE (check_cluster (clu, text, &random));
    double cut = clu_bisection_Bps (clu);
    TEST_TRUE (isfinite (cut) && cut >= 0);
  }
  TEST_TRUE (n_loaded > N_CLUSTERS * 3 / 4);
}

static void
faster_links_never_slow_a_route (void)
{
  for (guint64 i = 0; i < N_CLUSTERS / 8; i++) {
    BaseRandom random = base_random_stream_at (2, "law_cluster_routes", i);
    const char *const faster[] = { "nics.rate=100 GB/s", NULL };
    g_autofree char *text = random_cluster (&random), *message = NULL, *other = NULL;
    g_autoptr (Clu) slow = try_load_with (text, NULL, NULL, NULL, &message);
    g_autoptr (Clu) fast = slow != NULL ? try_load_with (text, faster, NULL, NULL, &other) : NULL;
    for (int k = 0; k < N_PAIRS && fast != NULL; k++) {
      CluDev a = random_end (slow, &random), b = random_end (slow, &random);
      g_auto (CluRoute) one = { 0 }, two = { 0 };
      clu_route_init (&one);
      clu_route_init (&two);
      double before, after;
      TEST_TRUE (clu_route_find (slow, a, b, &CLU_ROUTE_DEFAULT, &one, NULL) &&
                 clu_route_find (fast, a, b, &CLU_ROUTE_DEFAULT, &two, NULL));
      clu_route_bottleneck (slow, &one, &before);
      clu_route_bottleneck (fast, &two, &after);
      TEST_TRUE (after >= before || (isinf (after) && isinf (before)));
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "routes of random clusters are chains, conserve, are symmetric and repeatable", routes_of_random_clusters_keep_the_laws },
    { "faster links never slow a route", faster_links_never_slow_a_route },
    { NULL, NULL },
  };
  return test_main ("cluster routes", cases);
}
