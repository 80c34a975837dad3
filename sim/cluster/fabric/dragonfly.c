/* Dragonfly: routers of a group joined all to all, groups joined all to all.
 *
 * g groups of a routers with p NICs and h cables to other groups each; a h >= g - 1. Port q = 0 … a h - 1 of group i (router q
 * / h) leads, as its copy q / (g - 1), to the other group number q mod (g - 1), counted without i itself; so each pair of
 * groups has c = a h / (g - 1) cables (rounded down; ports over stay free), and the two ports of a cable name each other.
 * Minimal routes: at most one cable in the source's group, one between groups, one in the destination's; of the c copies those
 * with the fewest cables are taken, one of them (static: by destination, ecmp: by hash) or all evenly (adaptive). Detours over
 * a third group (Valiant) are not taken.
 * Source: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, 3.1 and 4.1.
 * Check: no way of 9 groups of 4 routers has more than 3 cables between routers; two copies share a way half and half. */
#include "fabric/fabric-private.h"

/* Cables between routers. What walks over all of them (a bisection) holds them in memory; the largest machines have under a
 * million. */
#define MAX_CABLES (1u << 24)

typedef struct {
  guint32 groups, routers, hosts, global_links, copies;
  CluParams cable;
} Dragonfly;

static const Dragonfly *
dragonfly (const CluFabric *f)
{
  return f->shape;
}

static guint32
local_links (const Dragonfly *d)
{
  return d->routers * (d->routers - 1) / 2;
}

/* Number of the pair i < j among n. */
static guint32
pair_number (guint32 i, guint32 j, guint32 n)
{
  return (guint32)((guint64)i * (2 * (guint64)n - i - 1) / 2) + (j - i - 1);
}

/* The pair of a number: the row is searched, since numbers grow with it. */
static void
pair_of (guint32 number, guint32 n, guint32 *i, guint32 *j)
{
  guint32 low = 0, high = n - 1;
  while (high - low > 1) {
    guint32 middle = low + (high - low) / 2;
    if (pair_number (middle, middle + 1, n) <= number)
      low = middle;
    else
      high = middle;
  }
  *i = low;
  *j = number - pair_number (low, low + 1, n) + low + 1;
}

/* The router of group `group` that bears copy `copy` of its cable to `other`. */
static guint32
gateway (const Dragonfly *d, guint32 group, guint32 other, guint32 copy)
{
  guint32 q = copy * (d->groups - 1) + (other < group ? other : other - 1);
  return group * d->routers + q / d->global_links;
}

static guint32
dragonfly_attach (const CluFabric *f, guint32 endpoint)
{
  return endpoint / dragonfly (f)->hosts;
}

static void
dragonfly_link (const CluFabric *f, guint32 link, CluFabricLink *out)
{
  const Dragonfly *d = dragonfly (f);
  guint32 all_local = d->groups * local_links (d), i, j;
  if (link < all_local) {
    guint32 group = link / local_links (d);
    pair_of (link % local_links (d), d->routers, &i, &j);
    out->a = group * d->routers + i;
    out->b = group * d->routers + j;
  } else {
    guint32 copy = (link - all_local) % d->copies;
    pair_of ((link - all_local) / d->copies, d->groups, &i, &j);
    out->a = gateway (d, i, j, copy);
    out->b = gateway (d, j, i, copy);
  }
  out->p = &d->cable;
  out->res = link * clu_params_n_res (&d->cable);
}

static char *
dragonfly_name (const CluFabric *f, guint32 sw)
{
  return g_strdup_printf ("group%u.router%u", sw / dragonfly (f)->routers, sw % dragonfly (f)->routers);
}

static void
emit_local (const CluFabric *f, CluPath *path, guint32 from, guint32 to, const CluPart *part)
{
  if (from == to)
    return;
  const Dragonfly *d = dragonfly (f);
  guint32 i = from % d->routers, j = to % d->routers;
  guint32 link = from / d->routers * local_links (d) + pair_number (MIN (i, j), MAX (i, j), d->routers);
  clu_fabric_emit (f, path, link, i < j, part);
}

static gboolean
dragonfly_route (const CluFabric *f, CluPath *path, guint32 from, guint32 to, guint64 flow, const CluPart *part, GError **error)
{
  (void)error; /* all groups are joined: what was built has a way */
  if (from == CLU_TOP || to == CLU_TOP)
    return TRUE; /* storage is attached to every router */
  const Dragonfly *d = dragonfly (f);
  guint32 a = from / d->hosts, b = to / d->hosts, group_a = a / d->routers, group_b = b / d->routers;
  if (group_a == group_b) {
    emit_local (f, path, a, b, part);
    return TRUE;
  }
  guint32 fewest = 4, n = 0;
  for (guint32 c = 0; c < d->copies; c++) {
    guint32 cables = 1 + (gateway (d, group_a, group_b, c) != a ? 1u : 0u) + (gateway (d, group_b, group_a, c) != b ? 1u : 0u);
    n = cables < fewest ? 1 : n + (cables == fewest ? 1 : 0);
    fewest = MIN (fewest, cables);
  }
  gboolean spread = f->routing == CLU_ROUTING_ADAPTIVE;
  guint32 chosen = f->routing == CLU_ROUTING_STATIC ? to % n : spread ? 0 : clu_fabric_choice (f, from, to, flow, 0, n);
  guint32 low = MIN (group_a, group_b), high = MAX (group_a, group_b), rank = 0;
  for (guint32 c = 0; c < d->copies; c++) {
    guint32 out = gateway (d, group_a, group_b, c), in = gateway (d, group_b, group_a, c);
    if (1 + (out != a ? 1u : 0u) + (in != b ? 1u : 0u) != fewest)
      continue;
    guint32 number = rank++;
    if (!spread && number != chosen)
      continue;
    CluPart share = { part->share / (spread ? n : 1), part->n_alternatives * (spread ? n : 1), part->shown && number == chosen };
    emit_local (f, path, a, out, &share);
    guint32 link = d->groups * local_links (d) + pair_number (low, high, d->groups) * d->copies + c;
    clu_fabric_emit (f, path, link, group_a < group_b, &share);
    emit_local (f, path, in, b, &share);
  }
  return TRUE;
}

static void
check_dragonfly (CluLoader *loader, const CluSpec *spec)
{
  if (!spec->fabric.dragonfly.head.set)
    clu_error (loader, spec->fabric.head.mark,
               "kind dragonfly needs 'dragonfly: {groups: …, routers: …, hosts: …, global_links: …}'");
}

static gboolean
build_dragonfly (CluLoader *loader, const CluParams *wire)
{
  CluFabric *f = &loader->clu->fabric;
  const CluFabricSpec *spec = &loader->clu->spec.fabric;
  const CluDragonflySpec *s = &spec->dragonfly;
  Dragonfly *d = base_arena_alloc (loader->context.arena, sizeof *d);
  *d = (Dragonfly){ .groups = (guint32)s->groups.v,
                    .routers = (guint32)s->routers.v,
                    .hosts = (guint32)s->hosts.v,
                    .global_links = (guint32)s->global_links.v };
  f->shape = d;
  guint64 routers = (guint64)d->groups * d->routers, ports = (guint64)d->routers * d->global_links;
  guint32 radix = clu_tier_radix (&spec->leaf);
  guint64 used = (guint64)d->hosts + d->routers - 1 + d->global_links;
  if (routers * d->hosts < f->n_endpoints)
    return clu_error (loader, s->head.mark,
                      "the fabric cannot host all NICs: %u groups x %u routers x %u hosts are %" G_GUINT64_FORMAT
                      ", but there are %u",
                      d->groups, d->routers, d->hosts, routers * d->hosts, f->n_endpoints);
  if (d->groups > 1 && ports < d->groups - 1)
    return clu_error (loader, s->head.mark,
                      "a group's %" G_GUINT64_FORMAT
                      " global links do not reach %u other groups; routers x global_links must be at least groups - 1",
                      ports, d->groups - 1);
  if (radix > 0 && used > radix)
    return clu_error (loader, s->head.mark,
                      "a router needs %" G_GUINT64_FORMAT " ports (%u hosts, %u in its group, %u global), but has %u", used,
                      d->hosts, d->routers - 1, d->global_links, radix);
  d->copies = d->groups > 1 ? (guint32)(ports / (d->groups - 1)) : 0;
  double crossing_s = clu_tier_latency (&spec->leaf);
  if (!clu_fabric_cable (loader, wire, NULL, spec->link.head.mark, 2 * crossing_s, &d->cable))
    return FALSE;
  guint64 links = (guint64)d->groups * d->routers * (d->routers - 1) / 2 + (guint64)d->groups * (d->groups - 1) / 2 * d->copies;
  if (links > MAX_CABLES)
    return clu_error (loader, s->head.mark,
                      "the fabric would have %" G_GUINT64_FORMAT " cables between routers; at most %u are built", links,
                      MAX_CABLES);
  f->n_switches = (guint32)routers;
  f->n_links = (guint32)links;
  f->n_res = f->n_links * clu_params_n_res (&d->cable);
  return clu_fabric_fits (loader, routers, "routers");
}

static const char *const dragonfly_keys[] = { "dragonfly", NULL };
const CluFabricOps clu_fabric_dragonfly = { .keys = dragonfly_keys,
                                            .check = check_dragonfly,
                                            .build = build_dragonfly,
                                            .attach = dragonfly_attach,
                                            .link = dragonfly_link,
                                            .resource = clu_fabric_resource,
                                            .name = dragonfly_name,
                                            .route = dragonfly_route };
