/* Folded Clos networks: one switch, fat trees, rail-optimised fabrics.
 *
 * An extended generalised fat tree. Level 0 are the leaves; a switch of level l has `down` ports to the level below and `up`
 * ports above, `parallel` of them to the same switch, hence up / parallel parents. The pods of level l are the subtrees below
 * it: pod P of level l has
 *     W(l) = parents(0) x … x parents(l-1)
 * switches, numbered x; port u of switch (l, P, x) leads to switch (l + 1, P / children(l+1), x parents(l) + u / parallel(l)).
 * A route climbs to the level where both ends share a pod and comes down by the same x and u, so that it is described by one
 * port a level.
 *     static: u(l) = d / (up(0) … up(l-1)) mod up(l), d the destination's place in leaf order (D-mod-k)
 *     ecmp:   u(l) from a hash of seed, ends, flow and level
 *     adaptive: every way up out of a pod evenly. All cables from a pod to the next level then always carry the
 *       same: they are one resource (a trunk) with their capacity together, the same network with fewer numbers.
 * Source: Öhring, Ibel, Das, Kumar, "On generalized fat trees", IPPS 1995 (shape); Zahavi, "D-Mod-K routing", Technion CCIT
 * 776, 2010.
 * Valid: trees that serve all levels whole. Leaves are built as needed, the levels above in full.
 * Check: 2, 4 and 6 cables in a tree of 16 x 8 x 8; a shift by a pod, routed statically, shares no cable. */
#include <math.h>

#include "fabric/fabric-private.h"

static guint32
stride_of (const CluTreeLevel *level)
{
  return clu_params_n_res (&level->p);
}

static guint32
leaf_of (const CluFabric *f, guint32 endpoint, guint32 *port)
{
  if (f->rails == 0) {
    *port = endpoint % f->level[0].down;
    return endpoint / f->level[0].down;
  }
  guint32 node = clu_node_of_nic (f->clu, endpoint), rail = endpoint - f->clu->node[node].nic;
  *port = node % f->pod;
  return node / f->pod * f->rails + rail;
}

static guint32
tree_attach (const CluFabric *f, guint32 endpoint)
{
  guint32 port;
  return leaf_of (f, endpoint, &port);
}

/* Level, and number in the level, of a cable. */
static guint32
level_of_link (const CluFabric *f, guint32 *link)
{
  guint32 l = 0;
  while (l + 2 < f->n_levels && *link >= f->level[l + 1].first_link)
    l++;
  *link -= f->level[l].first_link;
  return l;
}

/* The resource of a cable up out of a pod: its own, or the pod's trunk. */
static inline guint32
cable_res (const CluFabric *f, const CluTreeLevel *level, guint32 pod, guint32 cable)
{
  return level->first_res + (f->routing == CLU_ROUTING_ADAPTIVE ? pod : cable) * stride_of (level);
}

static void
tree_link (const CluFabric *f, guint32 link, CluFabricLink *out)
{
  guint32 l = level_of_link (f, &link);
  const CluTreeLevel *level = &f->level[l], *above = &f->level[l + 1];
  guint32 sw = link / level->up, port = link % level->up, pod = sw / level->per_pod, x = sw % level->per_pod;
  out->a = level->first_switch + sw;
  out->b = above->first_switch + pod / above->children * above->per_pod + x * level->parents + port / level->parallel;
  out->p = &level->p;
  out->res = cable_res (f, level, pod, link);
}

static void
tree_resource (const CluFabric *f, guint32 res, guint32 *link, CluResKind *direction, guint32 *n_cables)
{
  guint32 l = 0;
  while (l + 2 < f->n_levels && res >= f->level[l + 1].first_res)
    l++;
  const CluTreeLevel *level = &f->level[l];
  guint32 unit = (res - level->first_res) / stride_of (level), cables = level->per_pod * level->up;
  gboolean trunk = f->routing == CLU_ROUTING_ADAPTIVE;
  *direction = (CluResKind)((res - level->first_res) % stride_of (level));
  *n_cables = trunk ? cables : 1;
  *link = level->first_link + (trunk ? unit * cables : unit);
}

static char *
tree_name (const CluFabric *f, guint32 sw)
{
  static const char *const names[] = { "leaf", "spine", "core" };
  guint32 l = 0;
  while (l + 1 < f->n_levels && sw >= f->level[l + 1].first_switch)
    l++;
  guint32 number = sw - f->level[l].first_switch;
  if (f->n_switches == 1)
    return g_strdup ("switch");
  if (l == 0 && f->rails > 0)
    return g_strdup_printf ("pod%u.rail%u", number / f->rails, number % f->rails);
  return l < G_N_ELEMENTS (names) ? g_strdup_printf ("%s%u", names[l], number) : g_strdup_printf ("tier%u.%u", l, number);
}

/* Level up to which a way must climb: where both leaves are in one pod; n_levels when there is none. */
static guint32
turn_of (const CluFabric *f, guint32 leaf_a, guint32 leaf_b)
{
  guint32 l = 0;
  while (leaf_a != leaf_b && l < f->n_levels) {
    l++;
    if (l < f->n_levels) {
      leaf_a /= f->level[l].children;
      leaf_b /= f->level[l].children;
    }
  }
  return l;
}

/* The cables up to `turn` out of the pods above `leaf`, or down into them. */
static void
emit_side (const CluFabric *f, CluPath *path, guint32 leaf, guint32 turn, const guint32 *port, gboolean upward, const CluPart *part)
{
  guint32 pod[CLU_MAX_LEVELS], x[CLU_MAX_LEVELS];
  pod[0] = leaf;
  x[0] = 0;
  for (guint32 l = 1; l < turn; l++) {
    pod[l] = pod[l - 1] / f->level[l].children;
    x[l] = x[l - 1] * f->level[l - 1].parents + port[l - 1] / f->level[l - 1].parallel;
  }
  for (guint32 i = 0; i < turn; i++) {
    guint32 l = upward ? i : turn - 1 - i;
    const CluTreeLevel *level = &f->level[l];
    CluPart spread = *part;
    if (f->routing == CLU_ROUTING_ADAPTIVE)
      spread.n_alternatives *= level->per_pod * level->up;
    guint32 cable = (pod[l] * level->per_pod + x[l]) * level->up + port[l];
    if (path->list_hops) /* which names both ends */
      clu_fabric_emit (f, path, level->first_link + cable, upward, &spread);
    else
      clu_path_cross (
          path, &(CluCrossing){ .res = f->res + cable_res (f, level, pod[l], cable), .forward = upward, .p = &level->p }, &spread);
  }
}

static gboolean
tree_route (const CluFabric *f, CluPath *path, guint32 from, guint32 to, guint64 flow, const CluPart *part, GError **error)
{
  guint32 port_from = 0, port_to = 0, port[CLU_MAX_LEVELS] = { 0 };
  guint32 a = from != CLU_TOP ? leaf_of (f, from, &port_from) : 0, b = to != CLU_TOP ? leaf_of (f, to, &port_to) : 0;
  guint32 turn = from == CLU_TOP || to == CLU_TOP ? f->n_levels - 1 : turn_of (f, a, b);
  if (turn == f->n_levels) {
    g_autofree char *name_a = tree_name (f, a), *name_b = tree_name (f, b);
    return base_fail_at (error, BASE_MARK_NONE, "the path breaks between %s and %s: no switch above joins them", name_a, name_b);
  }
  /* Storage is no place in leaf order: the other end decides. */
  guint64 place = to != CLU_TOP ? (guint64)b * f->level[0].down + port_to : (guint64)a * f->level[0].down + port_from;
  for (guint32 l = 0; l < turn && f->routing != CLU_ROUTING_ADAPTIVE; l++) {
    guint32 up = f->level[l].up;
    port[l] = f->routing == CLU_ROUTING_STATIC ? (guint32)(place % up) : clu_fabric_choice (f, from, to, flow, l, up);
    place /= up;
  }
  if (from != CLU_TOP)
    emit_side (f, path, a, turn, port, TRUE, part);
  if (to != CLU_TOP)
    emit_side (f, path, b, turn, port, FALSE, part);
  return TRUE;
}

/* --- Shape ----------------------------------------------------------------------------------------------------------------- */

typedef struct {
  CluLoader *loader;
  const CluFabricSpec *spec;
  CluFabric *f;
  const CluParams *wire;
  CluParams cable;
  guint32 radix[3]; /* in ports of an adapter's whole wire; 0: not said */
} Shape;

/* Ports that one adapter takes of a switch: more than one when all ports of the adapter are faster than one of the switch. */
static gboolean
read_radix (Shape *s)
{
  for (guint32 l = 0; l < 3; l++) {
    const CluTierSpec *tier = clu_fabric_tier (s->spec, l);
    const CluSwitchSpec *type = tier->type.value;
    double rate = l == 0 ? s->wire->rate_Bps : s->cable.rate_Bps, lanes = l == 0 ? s->wire->lanes : s->cable.lanes, ports = 1;
    if (type != NULL && type->port_rate.set) {
      double port_Bps = s->loader->switches_follow ? fmax (type->port_rate.v, rate / lanes) : type->port_rate.v;
      if (rate / lanes > port_Bps * (1 + 1e-9)) {
        g_autofree char *wire = base_quantity_format (rate / lanes, BASE_DIM_BANDWIDTH, 4);
        g_autofree char *port = base_quantity_format (type->port_rate.v, BASE_DIM_BANDWIDTH, 4);
        return clu_error (
            s->loader, tier->head.mark,
            "a cable of %s a port is faster than the ports of switch type '%s' (%s); give a lower nics.rate or fabric.link", wire,
            tier->type.name, port);
      }
      ports = MAX (1, ceil (rate / port_Bps - 1e-9));
    }
    s->radix[l] = (guint32)(clu_tier_radix (tier) / ports);
  }
  return TRUE;
}

static double
oversubscription (const CluFabricSpec *spec, guint32 level)
{
  const BaseNums *o = &spec->oversubscription;
  return o->n == 0 ? 1 : o->item[MIN (level, o->n - 1)].v;
}

/* Never more than can be built: a cable may be slow without bound. */
static guint32
ups_for (double down, double ratio)
{
  return (guint32)CLAMP (ceil (down * ratio - 1e-9), 1.0, CLU_MAX_DEVICES - 1.0);
}

/* The most down ports of a switch of `radix` that leave enough for the way up; `ratio`: up cables a down port. 0: none. */
static guint32
downs_for (guint32 radix, double ratio)
{
  guint32 down = (guint32)floor (radix / (1 + ratio) + 1e-9);
  while (down > 0 && down + ups_for (down, ratio) > radix)
    down--;
  return down;
}

/* Cables between a pair: as many as fill the switch above, for the fewest switches. */
static guint32
parallel_for (guint32 up, guint32 children, guint32 radix)
{
  guint32 best = 1;
  for (guint32 p = 2; radix > 0 && p <= up && (guint64)p * children <= radix; p++)
    if (up % p == 0)
      best = p;
  return best;
}

/* Levels above the leaves, from the radix of the switches. */
static gboolean
shape_above (Shape *s, guint32 leaves, guint64 n_hosts)
{
  CluTreeLevel *level = s->f->level;
  guint32 r1 = s->radix[1], r2 = s->radix[2];
  if (leaves == 1) {
    s->f->n_levels = 1;
    return TRUE;
  }
  if (r1 == 0 || leaves <= r1) {
    level[0].parallel = parallel_for (level[0].up, leaves, r1);
    level[1].down = leaves * level[0].parallel;
    s->f->n_levels = 2;
    return TRUE;
  }
  double ratio = 1 / oversubscription (s->spec, 1);
  guint32 down = downs_for (r1, ratio);
  if (s->f->rails > 0 && down >= s->f->rails)
    down -= down % s->f->rails; /* whole pods below a group of spines */
  guint32 pods = down > 0 ? (leaves + down - 1) / down : 0;
  if (down == 0 || pods > r2)
    return clu_error (s->loader, s->spec->head.mark,
                      "the fabric cannot host all NICs: %" G_GUINT64_FORMAT
                      " need %u leaves, but three levels of radix %u, %u, %u at this oversubscription have %" G_GUINT64_FORMAT,
                      n_hosts, leaves, s->radix[0], r1, r2, (guint64)down * r2);
  level[0].parallel = 1;
  level[1].down = down;
  level[1].up = ups_for (down, ratio);
  level[1].parallel = parallel_for (level[1].up, pods, r2);
  level[2].down = pods * level[1].parallel;
  s->f->n_levels = 3;
  return TRUE;
}

static gboolean
shape_from_radix (Shape *s)
{
  CluFabric *f = s->f;
  guint32 radix = s->radix[0], nodes = s->loader->clu->n_nodes;
  double ratio = s->wire->rate_Bps / s->cable.rate_Bps / oversubscription (s->spec, 0);
  gboolean rail = f->rails > 0;
  if (radix == 0 && !(rail && s->spec->pod.set))
    return clu_error (s->loader, s->spec->head.mark,
                      "the size of the switches is not known; give leaf: {radix: 64}, a leaf type or levels");
  for (guint32 l = 0; l < G_N_ELEMENTS (f->radix) && !s->spec->pod.set; l++)
    f->radix[l] = s->radix[l];
  /* One switch does: no port need lead up. */
  if (!s->spec->pod.set && (rail ? f->rails == 1 && nodes <= radix : f->n_endpoints <= radix)) {
    f->level[0] = (CluTreeLevel){ .down = radix };
    f->n_levels = 1;
    f->pod = rail ? radix : 0;
    return TRUE;
  }
  guint32 down = rail && s->spec->pod.set ? (guint32)s->spec->pod.v : downs_for (radix, ratio);
  if (down == 0 || (radix > 0 && down + ups_for (down, ratio) > radix))
    return clu_error (s->loader, s->spec->pod.set ? s->spec->pod.mark : s->spec->head.mark,
                      "a leaf of %u ports cannot have %u ports down and %u up", radix, MAX (down, 1u),
                      ups_for (MAX (down, 1u), ratio));
  f->level[0] = (CluTreeLevel){ .down = down, .up = ups_for (down, ratio), .parallel = 1 };
  f->pod = rail ? down : 0;
  guint64 leaves = rail ? (guint64)((nodes + down - 1) / down) * f->rails : (f->n_endpoints + down - 1) / down;
  return clu_fabric_fits (s->loader, leaves, "leaves") && shape_above (s, (guint32)leaves, f->n_endpoints);
}

static gboolean
shape_from_levels (Shape *s)
{
  CluFabric *f = s->f;
  const BaseList *levels = &s->spec->levels;
  if (levels->n > CLU_MAX_LEVELS)
    return clu_error (s->loader, levels->mark, "%u levels; at most %u are built", levels->n, CLU_MAX_LEVELS);
  for (unsigned l = 0; l < levels->n; l++) {
    const CluLevelSpec *spec = BASE_LIST_AT (*levels, CluLevelSpec, l);
    gboolean top = l + 1 == levels->n;
    if (spec->up.set == top)
      return clu_error (s->loader, spec->up.set ? spec->up.mark : spec->head.mark,
                        top ? "the top level has no ports up; leave 'up' out" : "a level below the top needs 'up'");
    f->level[l] = (CluTreeLevel){ .down = (guint32)spec->down.v, .up = (guint32)spec->up.v, .parallel = (guint32)spec->parallel.v };
    guint32 below = l > 0 ? f->level[l - 1].parallel : 1, radix = clu_tier_radix (clu_fabric_tier (s->spec, l));
    if (f->level[l].down % below != 0 || (!top && f->level[l].up % f->level[l].parallel != 0))
      return clu_error (s->loader, spec->head.mark, "ports do not divide by the parallel cables (down %u by %u, up %u by %u)",
                        f->level[l].down, below, f->level[l].up, f->level[l].parallel);
    if (radix > 0 && f->level[l].down + f->level[l].up > radix)
      return clu_error (s->loader, spec->head.mark, "%u ports down and %u up, but a switch of this level has %u", f->level[l].down,
                        f->level[l].up, radix);
  }
  f->pod = f->rails > 0 ? (guint32)(s->spec->pod.set ? s->spec->pod.v : f->level[0].down) : 0;
  if (f->pod > f->level[0].down)
    return clu_error (s->loader, s->spec->pod.mark, "a pod of %u nodes, but a leaf has %u ports down", f->pod, f->level[0].down);
  f->n_levels = levels->n;
  return TRUE;
}

/* Counts of switches, cables and resources, once the ports are known. */
static gboolean
count_levels (Shape *s)
{
  CluFabric *f = s->f;
  CluTreeLevel *level = f->level;
  guint32 nodes = s->loader->clu->n_nodes;
  guint64 pods = f->rails > 0 ? (guint64)((nodes + f->pod - 1) / f->pod) * f->rails
                              : ((guint64)f->n_endpoints + level[0].down - 1) / level[0].down;
  guint64 per_pod = 1, switches = 0, links = 0, resources = 0, hosts = level[0].down;
  for (guint32 l = 0; l < f->n_levels; l++) {
    gboolean top = l + 1 == f->n_levels;
    if (l > 0) {
      level[l].children = level[l].down / level[l - 1].parallel;
      pods = (pods + level[l].children - 1) / level[l].children;
      per_pod *= level[l - 1].parents;
      hosts *= level[l].children;
    }
    if (!top) {
      level[l].parents = level[l].up / level[l].parallel;
      double crossings_s = clu_tier_latency (clu_fabric_tier (s->spec, l)) + clu_tier_latency (clu_fabric_tier (s->spec, l + 1));
      level[l].p = s->cable;
      level[l].p.latency_s += crossings_s / 2;
    }
    level[l].first_switch = (guint32)switches;
    level[l].first_link = (guint32)links;
    level[l].first_res = (guint32)resources;
    switches += pods * per_pod;
    guint64 cables = top ? 0 : pods * per_pod * level[l].up;
    links += cables;
    resources += top ? 0 : (f->routing == CLU_ROUTING_ADAPTIVE ? pods : cables) * stride_of (&level[l]);
    if (!clu_fabric_fits (s->loader, per_pod, "switches") || !clu_fabric_fits (s->loader, switches, "switches") ||
        !clu_fabric_fits (s->loader, links, "cables") || !clu_fabric_fits (s->loader, resources, "resources"))
      return FALSE;
    level[l].n_pods = (guint32)pods;
    level[l].per_pod = (guint32)per_pod;
  }
  gboolean rails_apart = f->n_levels == 1 && f->rails > 0 && pods == f->rails; /* rail-only: no spine, on purpose */
  if (pods > 1 && !rails_apart)
    return clu_error (s->loader, s->spec->levels.set ? s->spec->levels.mark : s->spec->head.mark,
                      "the fabric cannot host all NICs: its levels take %" G_GUINT64_FORMAT ", but there are %u (%u nodes)", hosts,
                      f->n_endpoints, nodes);
  f->n_switches = (guint32)switches;
  f->n_links = (guint32)links;
  f->n_res = (guint32)resources;
  return TRUE;
}

static gboolean
build_tree (CluLoader *loader, const CluParams *wire)
{
  Clu *clu = loader->clu;
  CluFabric *f = &clu->fabric;
  Shape s = { .loader = loader, .spec = &clu->spec.fabric, .f = f, .wire = wire };
  if (!clu_fabric_cable (loader, wire, NULL, s.spec->link.head.mark, 0, &s.cable) || !read_radix (&s))
    return FALSE;
  if (s.spec->kind.v == CLU_FABRIC_SINGLE_SWITCH) {
    f->level[0] = (CluTreeLevel){ .down = MAX (f->n_endpoints, 1u) };
    f->n_levels = 1;
    if (s.radix[0] > 0 && f->n_endpoints > s.radix[0])
      return clu_error (loader, s.spec->leaf.head.mark, "the switch has %u ports for %u NICs; take a fat_tree, or fewer nodes",
                        s.radix[0], f->n_endpoints);
    return count_levels (&s);
  }
  for (guint32 n = 0; s.spec->kind.v == CLU_FABRIC_RAIL_OPTIMISED && n < clu->templates->len; n++)
    f->rails = MAX (f->rails, ((const CluTemplate *)g_ptr_array_index (clu->templates, n))->n[CLU_DEV_NIC]);
  return (s.spec->levels.n > 0 ? shape_from_levels (&s) : shape_from_radix (&s)) && count_levels (&s);
}

/* One network in three kinds: they differ in how endpoints are numbered and how many levels there may be. */
#define TREE \
  .build = build_tree, .attach = tree_attach, .link = tree_link, .resource = tree_resource, .name = tree_name, .route = tree_route
static const char *const tree_keys[] = { "oversubscription", "levels", "spine", "core", NULL };
static const char *const rail_keys[] = { "oversubscription", "levels", "spine", "core", "pod", NULL };

const CluFabricOps clu_fabric_single_switch = { TREE };
const CluFabricOps clu_fabric_fat_tree = { TREE, .keys = tree_keys };
const CluFabricOps clu_fabric_rail_optimised = { TREE, .keys = rail_keys };
