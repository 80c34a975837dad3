/* A fabric as listed: named switches and cables between them and the nodes' NICs.
 *
 * Ways are those with the fewest cables; NICs pass nothing on. Distances between switches are kept in a table (switches
 * squared, 2 bytes).
 * static: at every switch, the destination's number modulo the equal next cables; ecmp: a hash of seed, ends, flow and step;
 * adaptive: evenly over all shortest paths (a cable's share is the part of the paths that lead through it).
 * Check: four paths of a diamond with a triple cable carry a quarter each. */
#include <string.h>

#include "cluster/hostlist.h"
#include "fabric/fabric-private.h"

#define MAX_SWITCHES 4096u
#define MAX_CABLES   1000000u
#define MAX_STEPS    4000000000u /* switches x cables between them: what the table of distances costs */
#define MAX_NAME     256u        /* of an end, with its ranges: bounds the depth to which it is expanded */
#define FAR          G_MAXUINT16
#define WAN_S        100e-6      /* from this latency on, 20 km of fibre, a cable between switches is a wide-area link */

typedef struct {
  guint32 neighbour, link;
  gboolean forward;
} Arc;

typedef struct {
  guint32 n_switches, n_links;
  const CluCustomSwitch *sw;
  CluFabricLink *cables;
  CluParams *params;
  guint32 *arc_first; /* by vertex, n + 1 */
  Arc *arc;
  guint16 *distance; /* switch x switch, cables; FAR: no way */
} Custom;

static const Custom *
custom (const CluFabric *f)
{
  return f->shape;
}

/* --- Ways ------------------------------------------------------------------------------------------------------------------- */

static void
custom_link (const CluFabric *f, guint32 link, CluFabricLink *out)
{
  *out = custom (f)->cables[link];
  out->p = &custom (f)->params[link];
}

static void
custom_resource (const CluFabric *f, guint32 res, guint32 *link, CluResKind *direction, guint32 *n_cables)
{
  const Custom *c = custom (f);
  guint32 low = 0, high = c->n_links;
  while (high - low > 1) {
    guint32 middle = low + (high - low) / 2;
    if (c->cables[middle].res <= res)
      low = middle;
    else
      high = middle;
  }
  *link = low;
  *direction = (CluResKind)(res - c->cables[low].res);
  *n_cables = 1;
}

static char *
custom_name (const CluFabric *f, guint32 sw)
{
  return g_strdup (custom (f)->sw[sw].name.v);
}

/* Cables from a switch to the vertex `to` (a NIC). */
static guint32
distance_to (const Custom *c, guint32 vertex, guint32 to)
{
  guint32 least = FAR;
  if (vertex >= c->n_switches)
    return vertex == to ? 0 : FAR;
  for (guint32 i = c->arc_first[to]; i < c->arc_first[to + 1]; i++) {
    guint32 other = c->arc[i].neighbour;
    if (other < c->n_switches)
      least = MIN (least, (guint32)c->distance[(gsize)vertex * c->n_switches + other] + 1);
  }
  return MIN (least, FAR);
}

/* Cables from the source, which is no switch. */
static guint32
distance_from (const Custom *c, guint32 from, guint32 to)
{
  guint32 least = FAR;
  for (guint32 i = c->arc_first[from]; i < c->arc_first[from + 1]; i++)
    least = MIN (least, distance_to (c, c->arc[i].neighbour, to) + 1);
  return least;
}

/* Number of shortest paths from the vertex; memo < 0: not yet known. Paths are as long as distances, which are below
 * MAX_SWITCHES. */
static double
count_paths (const Custom *c, guint32 vertex, guint32 to, guint32 left, double *memo)
{
  if (vertex == to)
    return 1;
  if (vertex < c->n_switches && memo[vertex] >= 0)
    return memo[vertex];
  double n = 0;
  for (guint32 i = c->arc_first[vertex]; i < c->arc_first[vertex + 1]; i++)
    if (distance_to (c, c->arc[i].neighbour, to) == left - 1)
      n += count_paths (c, c->arc[i].neighbour, to, left - 1, memo);
  if (vertex < c->n_switches)
    memo[vertex] = n;
  return n;
}

/* Layer by layer: what arrives at a vertex leaves it in the proportion of the paths beyond. */
static void
spread (const CluFabric *f, CluPath *path, guint32 from, guint32 to, guint32 length, const CluPart *part)
{
  const Custom *c = custom (f);
  g_autofree double *memo = g_new (double, MAX (c->n_switches, 1u)), *arrived = g_new0 (double, MAX (c->n_switches, 1u));
  for (guint32 i = 0; i < c->n_switches; i++)
    memo[i] = -1;
  double all = count_paths (c, from, to, length, memo);
  g_autoptr (GArray) layer = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (layer, from);
  guint32 shown = from; /* the vertex where the first path is */
  for (guint32 left = length; left > 0; left--) {
    g_autoptr (GArray) next = g_array_new (FALSE, FALSE, sizeof (guint32));
    guint32 shown_next = CLU_NONE;
    for (guint v = 0; v < layer->len; v++) {
      guint32 vertex = g_array_index (layer, guint32, v);
      double here = vertex == from ? 1 : arrived[vertex], ways = vertex == from ? all : memo[vertex];
      guint32 n_equal = 0;
      for (guint32 i = c->arc_first[vertex]; i < c->arc_first[vertex + 1]; i++)
        n_equal += distance_to (c, c->arc[i].neighbour, to) == left - 1 ? 1 : 0;
      for (guint32 i = c->arc_first[vertex]; i < c->arc_first[vertex + 1]; i++) {
        const Arc *arc = &c->arc[i];
        if (distance_to (c, arc->neighbour, to) != left - 1)
          continue;
        double share = here * count_paths (c, arc->neighbour, to, left - 1, memo) / ways;
        gboolean first = part->shown && vertex == shown && shown_next == CLU_NONE;
        CluPart edge = { part->share * share, part->n_alternatives * n_equal, first };
        clu_fabric_emit (f, path, arc->link, arc->forward, &edge);
        if (vertex == shown && shown_next == CLU_NONE)
          shown_next = arc->neighbour;
        if (arc->neighbour == to)
          continue;
        if (arrived[arc->neighbour] == 0)
          g_array_append_val (next, arc->neighbour);
        arrived[arc->neighbour] += share;
      }
    }
    shown = shown_next;
    g_array_set_size (layer, 0);
    g_array_append_vals (layer, next->data, next->len);
  }
}

static gboolean
no_way (const CluFabric *f, guint32 from, guint32 to, GError **error)
{
  const Custom *c = custom (f);
  g_autofree char *a = NULL, *b = NULL;
  gboolean lost_a = c->arc_first[from] == c->arc_first[from + 1], lost_b = c->arc_first[to] == c->arc_first[to + 1];
  if (lost_a || lost_b) {
    a = clu_dev_name (f->clu, clu_fabric_dev (f->clu, lost_a ? from : to));
    return base_fail_at (error, BASE_MARK_NONE, "the path breaks at %s: no cable of the fabric ends there", a);
  }
  a = clu_dev_name (f->clu, clu_fabric_dev (f->clu, c->arc[c->arc_first[from]].neighbour));
  b = clu_dev_name (f->clu, clu_fabric_dev (f->clu, c->arc[c->arc_first[to]].neighbour));
  return base_fail_at (error, BASE_MARK_NONE,
                       "the path breaks between %s and %s: no cables of the fabric lead from one to the other", a, b);
}

static gboolean
custom_route (const CluFabric *f, CluPath *path, guint32 from_nic, guint32 to_nic, guint64 flow, const CluPart *part,
              GError **error)
{
  const Custom *c = custom (f);
  guint32 from = f->n_switches + from_nic, to = f->n_switches + to_nic, length = distance_from (c, from, to);
  if (length >= FAR)
    return no_way (f, from, to, error);
  if (f->routing == CLU_ROUTING_ADAPTIVE) {
    spread (f, path, from, to, length, part);
    return TRUE;
  }
  for (guint32 vertex = from, left = length; left > 0; left--) {
    guint32 n = 0, chosen, number = 0;
    for (guint32 i = c->arc_first[vertex]; i < c->arc_first[vertex + 1]; i++)
      n += distance_to (c, c->arc[i].neighbour, to) == left - 1 ? 1 : 0;
    chosen = f->routing == CLU_ROUTING_STATIC ? to_nic % n : clu_fabric_choice (f, from_nic, to_nic, flow, left, n);
    for (guint32 i = c->arc_first[vertex]; i < c->arc_first[vertex + 1]; i++)
      if (distance_to (c, c->arc[i].neighbour, to) == left - 1 && number++ == chosen) {
        clu_fabric_emit (f, path, c->arc[i].link, c->arc[i].forward, part);
        vertex = c->arc[i].neighbour;
        break;
      }
  }
  return TRUE;
}

/* --- Reading ----------------------------------------------------------------------------------------------------------------- */

typedef struct {
  CluLoader *loader;
  Custom *c;
  GHashTable *switches; /* name -> number + 1 */
  GArray *cables;       /* CluFabricLink, res and p not yet */
  GArray *params;       /* CluParams */
  const CluLinkClass *near, *far; /* the latest class of cables, and the same as a wide-area link */
} Reader;

/* A vertex by name; CLU_NONE with an error. */
static guint32
vertex_of (Reader *r, const char *name, BaseMark mark)
{
  const Clu *clu = r->loader->clu;
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (r->switches, name));
  if (found > 0)
    return found - 1;
  guint64 node, nic;
  g_auto (GStrv) parts = g_strsplit (name, ".", 2);
  if (parts[0] != NULL && parts[1] != NULL && g_str_has_prefix (parts[0], "node") && g_str_has_prefix (parts[1], "nic") &&
      g_ascii_string_to_unsigned (parts[0] + 4, 10, 0, G_MAXUINT32, &node, NULL) &&
      g_ascii_string_to_unsigned (parts[1] + 3, 10, 0, G_MAXUINT32, &nic, NULL)) {
    if (node >= clu->n_nodes)
      clu_error (r->loader, mark, "there is no node%" G_GUINT64_FORMAT "; nodes are node0 to node%u", node, clu->n_nodes - 1);
    else if (nic >= clu->node[node + 1].nic - clu->node[node].nic)
      clu_error (r->loader, mark, "node%" G_GUINT64_FORMAT " has no nic%" G_GUINT64_FORMAT "; it has %u", node, nic,
                 clu->node[node + 1].nic - clu->node[node].nic);
    else
      return r->c->n_switches + clu->node[node].nic + (guint32)nic;
    return CLU_NONE;
  }
  const CluFabricSpec *spec = &clu->spec.fabric;
  g_autofree const char **names = g_new0 (const char *, spec->switches.n + 1);
  for (unsigned i = 0; i < spec->switches.n; i++)
    names[i] = BASE_LIST_AT (spec->switches, CluCustomSwitch, i)->name.v;
  g_autofree char *hint = base_hint (name, names);
  clu_error (r->loader, mark, "'%s' is no switch of this fabric%s and no NIC (as node3.nic0)", name, hint);
  return CLU_NONE;
}

static double
crossing_of (const Reader *r, guint32 vertex)
{
  if (vertex >= r->c->n_switches)
    return 0;
  const CluCustomSwitch *sw = &r->c->sw[vertex];
  return sw->latency.set ? sw->latency.v : clu_tier_latency (&r->loader->clu->spec.fabric.leaf);
}

/* A wide-area link has no port of a NIC at its ends, and people do not call it by one. */
static void
name_far (Reader *r, const CluCustomLink *link, guint32 a, guint32 b, CluParams *p)
{
  if (p->latency_s < WAN_S || a >= r->c->n_switches || b >= r->c->n_switches || link->link.link_class.set)
    return;
  if (r->near != p->link_class) {
    CluLinkClass *far = base_arena_alloc (r->loader->context.arena, sizeof *far);
    *far = *p->link_class;
    far->name.v = "wan";
    r->near = p->link_class;
    r->far = far;
  }
  p->link_class = r->far;
}

static gboolean
read_cable (Reader *r, const CluCustomLink *link, const char *from, const char *to, const CluParams *wire)
{
  guint32 a = vertex_of (r, from, link->from.mark);
  guint32 b = a != CLU_NONE ? vertex_of (r, to, link->to.mark) : CLU_NONE;
  if (a == CLU_NONE || b == CLU_NONE)
    return FALSE;
  if (a == b)
    return clu_error (r->loader, link->to.mark, "a cable from '%s' to itself", from);
  CluParams p;
  if (!clu_fabric_cable (r->loader, wire, &link->link, link->head.mark, crossing_of (r, a) + crossing_of (r, b), &p))
    return FALSE;
  name_far (r, link, a, b, &p);
  CluFabricLink cable = { .a = a, .b = b };
  for (double i = 0; i < link->count.v; i++) {
    g_array_append_val (r->cables, cable);
    g_array_append_val (r->params, p);
  }
  return TRUE;
}

static gboolean
read_link (Reader *r, const CluCustomLink *link, const CluParams *wire)
{
  g_autoptr (GPtrArray) from = g_ptr_array_new_with_free_func (g_free), to = g_ptr_array_new_with_free_func (g_free);
  const BaseStr *ends[] = { &link->from, &link->to };
  GPtrArray *names[] = { from, to };
  for (int e = 0; e < 2; e++)
    if (ends[e]->v == NULL || strlen (ends[e]->v) > MAX_NAME || !clu_hostlist_expand_name (ends[e]->v, names[e]))
      return clu_error (r->loader, ends[e]->mark,
                        "'%s' is not an end of cables; a switch's name, node3.nic0, or ranges as node[0-7].nic[0,2]",
                        ends[e]->v != NULL ? ends[e]->v : "");
  if (from->len != to->len && from->len != 1 && to->len != 1)
    return clu_error (r->loader, link->to.mark, "%u ends cannot be paired with %u; ranges of one length, or one end for all",
                      from->len, to->len);
  guint n = MAX (from->len, to->len);
  if (r->cables->len + n * link->count.v > MAX_CABLES)
    return clu_error (r->loader, link->head.mark, "more than %u cables in a custom fabric", MAX_CABLES);
  for (guint i = 0; i < n; i++)
    if (!read_cable (r, link, from->pdata[from->len == 1 ? 0 : i], to->pdata[to->len == 1 ? 0 : i], wire))
      return FALSE; /* one message an entry */
  return TRUE;
}

static gboolean
read_switches (Reader *r)
{
  const BaseList *list = &r->loader->clu->spec.fabric.switches;
  gboolean ok = TRUE;
  if (list->n > MAX_SWITCHES)
    return clu_error (r->loader, list->mark, "%u switches; a custom fabric may have %u (the generated kinds have no such limit)",
                      list->n, MAX_SWITCHES);
  for (unsigned i = 0; i < list->n; i++) {
    const CluCustomSwitch *sw = BASE_LIST_AT (*list, CluCustomSwitch, i);
    if (sw->name.v == NULL)
      return FALSE;
    guint64 number;
    gboolean device =
        strpbrk (sw->name.v, ".[] \t") != NULL || *sw->name.v == '\0' || strcmp (sw->name.v, "frontend") == 0 ||
        strcmp (sw->name.v, "management") == 0 ||
        (g_str_has_prefix (sw->name.v, "gpu") && g_ascii_string_to_unsigned (sw->name.v + 3, 10, 0, G_MAXUINT32, &number, NULL));
    if (device) {
      clu_error (r->loader, sw->name.mark,
                 "'%s' cannot name a switch; a word without dots, brackets and blanks that names no other device", sw->name.v);
      ok = FALSE;
    } else if (!g_hash_table_insert (r->switches, (gpointer)sw->name.v, GUINT_TO_POINTER (i + 1))) {
      clu_error (r->loader, sw->name.mark, "two switches are named '%s'", sw->name.v);
      ok = FALSE;
    }
  }
  r->c->n_switches = list->n;
  r->c->sw = list->item;
  return ok;
}

/* --- Tables ---------------------------------------------------------------------------------------------------------------- */

static void
build_arcs (Custom *c, guint32 n, BaseArena *arena)
{
  c->arc_first = base_arena_alloc_n (arena, (gsize)n + 1, sizeof *c->arc_first);
  c->arc = base_arena_alloc_n (arena, (gsize)2 * c->n_links, sizeof *c->arc);
  for (guint32 i = 0; i < c->n_links; i++) {
    c->arc_first[c->cables[i].a]++;
    c->arc_first[c->cables[i].b]++;
  }
  for (guint32 v = 1; v <= n; v++)
    c->arc_first[v] += c->arc_first[v - 1];
  /* From the back, so that a vertex' arcs stand in the order of the cables: those to switches first, then those to NICs. */
  for (int to_switch = 0; to_switch < 2; to_switch++)
    for (guint32 i = c->n_links; i-- > 0;) {
      const CluFabricLink *cable = &c->cables[i];
      if ((cable->a < c->n_switches) == (to_switch == 1))
        c->arc[--c->arc_first[cable->b]] = (Arc){ cable->a, i, FALSE };
      if ((cable->b < c->n_switches) == (to_switch == 1))
        c->arc[--c->arc_first[cable->a]] = (Arc){ cable->b, i, TRUE };
    }
}

static void
build_distances (Custom *c, BaseArena *arena)
{
  guint32 n = c->n_switches;
  c->distance = base_arena_alloc_n (arena, (gsize)n * n, sizeof *c->distance);
  g_autofree guint32 *queue = g_new (guint32, MAX (n, 1u));
  for (guint32 s = 0; s < n; s++) {
    guint16 *row = &c->distance[(gsize)s * n];
    guint32 head = 0, tail = 0;
    memset (row, 0xff, n * sizeof *row); /* FAR */
    row[s] = 0;
    queue[tail++] = s;
    while (head < tail) {
      guint32 v = queue[head++];
      for (guint32 i = c->arc_first[v]; i < c->arc_first[v + 1] && c->arc[i].neighbour < n; i++) {
        guint32 w = c->arc[i].neighbour;
        if (row[w] != FAR)
          continue;
        row[w] = (guint16)(row[v] + 1);
        queue[tail++] = w;
      }
    }
  }
}

static void *
keep (BaseArena *arena, const GArray *array)
{
  void *kept = base_arena_alloc_n (arena, array->len, g_array_get_element_size ((GArray *)array));
  return array->len > 0 ? memcpy (kept, array->data, array->len * g_array_get_element_size ((GArray *)array)) : kept;
}

/* Reads switches and cables. FALSE with an error in the diag. */
static gboolean
read_all (Reader *r, const CluParams *wire)
{
  const CluFabricSpec *spec = &r->loader->clu->spec.fabric;
  unsigned before = base_diag_n_errors (r->loader->context.diag);
  if (!read_switches (r))
    return FALSE;
  if (spec->links.n == 0)
    clu_error (r->loader, spec->head.mark, "a custom fabric needs 'links' (e.g. [{from: node[0-7].nic0, to: s0}])");
  for (unsigned i = 0; i < spec->links.n; i++)
    read_link (r, BASE_LIST_AT (spec->links, CluCustomLink, i), wire);
  guint64 trunks = 0;
  for (guint32 i = 0; i < r->cables->len; i++) {
    const CluFabricLink *cable = &g_array_index (r->cables, CluFabricLink, i);
    trunks += cable->a < r->c->n_switches && cable->b < r->c->n_switches ? 1 : 0;
  }
  if (trunks * r->c->n_switches > MAX_STEPS)
    clu_error (r->loader, spec->links.mark,
               "%u switches with %" G_GUINT64_FORMAT " cables between them are too many for a custom fabric; take a generated kind",
               r->c->n_switches, trunks);
  return base_diag_n_errors (r->loader->context.diag) == before;
}

static gboolean
build_custom (CluLoader *loader, const CluParams *wire)
{
  CluFabric *f = &loader->clu->fabric;
  BaseArena *arena = loader->context.arena;
  g_autoptr (GHashTable) switches = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) cables = g_array_new (FALSE, FALSE, sizeof (CluFabricLink)),
                     params = g_array_new (FALSE, FALSE, sizeof (CluParams));
  Custom *c = base_arena_alloc (arena, sizeof *c);
  Reader r = { .loader = loader, .c = c, .switches = switches, .cables = cables, .params = params };
  if (!read_all (&r, wire))
    return FALSE;
  c->n_links = cables->len;
  c->cables = keep (arena, cables);
  c->params = keep (arena, params);
  for (guint32 i = 0; i < c->n_links; i++) {
    c->cables[i].res = f->n_res;
    f->n_res += clu_params_n_res (&c->params[i]);
  }
  build_arcs (c, c->n_switches + f->n_endpoints, arena);
  build_distances (c, arena);
  f->shape = c;
  f->n_switches = c->n_switches;
  f->n_links = c->n_links;
  return TRUE;
}

static const char *const custom_keys[] = { "switches", "links", NULL };
const CluFabricOps clu_fabric_custom = { .keys = custom_keys,
                                         .build = build_custom,
                                         .link = custom_link,
                                         .resource = custom_resource,
                                         .name = custom_name,
                                         .route = custom_route };
