/* Loads of an all-to-all: every rank sends 1/n of its bytes to every other, n (n - 1) pairs.
 *
 * Ranks on one site (ground-private.h) in domains that hold ranks on the same sites are a group: each has as many peers in any
 * other group, by alike ways. So a group's ranks load their own nodes alike, which is added up once for all of them, group by
 * group; pairs inside a domain, and those whose way depends on more than their sites, are looked at one by one. With m groups that
 * is m^2 routes in place of n^2: 8,192 ranks behind 32 leaves are 256 groups.
 * Check: law_training_fold holds it against the pairs one by one. */
#include "base/progress.h"
#include "base/stats.h"
#include "comm-private.h"

/* Measured: 131,072 GPUs behind 512 leaves, 4,096 groups, took 18 s of a processor at 3 GHz. */
#define ROUTE_S 1.1e-6

typedef struct {
  guint32 site, pattern; /* pattern: of the domain's ranks */
  GArray *ranks;         /* guint32 */
  double *load, *effort; /* of one rank, by resource of its node */
  guint32 n_resources;
} Group;

typedef struct {
  ColComm *comm;
  ColScratch *scratch;
  GPtrArray *groups;   /* Group */
  GPtrArray *domains;  /* GArray of ranks */
  guint32 *domain_of;  /* by rank */
  guint32 *pattern_of; /* by domain */
  guint32 *group_of;   /* by rank */
} Pairs;

static void
free_group (gpointer data)
{
  Group *group = data;
  g_array_unref (group->ranks);
  g_free (group->load);
  g_free (group->effort);
  g_free (group);
}

static void
pairs_clear (Pairs *pairs)
{
  g_ptr_array_unref (pairs->groups);
  g_ptr_array_unref (pairs->domains);
  g_free (pairs->domain_of);
  g_free (pairs->pattern_of);
  g_free (pairs->group_of);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pairs, pairs_clear)

static void
find_domains (Pairs *pairs)
{
  const ColComm *comm = pairs->comm;
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL); /* domain -> its place + 1 */
  for (guint32 i = 0; i < comm->n; i++) {
    gpointer domain = GUINT_TO_POINTER (clu_domain_of_node (comm->clu, comm->stand[i].node));
    guint32 at = GPOINTER_TO_UINT (g_hash_table_lookup (known, domain));
    if (at == 0) {
      g_ptr_array_add (pairs->domains, g_array_new (FALSE, FALSE, sizeof (guint32)));
      at = pairs->domains->len;
      g_hash_table_insert (known, domain, GUINT_TO_POINTER (at));
    }
    pairs->domain_of[i] = at - 1;
    g_array_append_val (pairs->domains->pdata[at - 1], i);
  }
}

/* Domains whose ranks are on the same sites have one pattern. */
static void
find_patterns (Pairs *pairs)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  pairs->pattern_of = g_new (guint32, pairs->domains->len);
  for (guint d = 0; d < pairs->domains->len; d++) {
    const GArray *ranks = pairs->domains->pdata[d];
    g_autofree guint32 *sites = g_new (guint32, ranks->len);
    for (guint i = 0; i < ranks->len; i++)
      sites[i] = pairs->comm->stand[g_array_index (ranks, guint32, i)].site;
    qsort (sites, ranks->len, sizeof *sites, base_by_u32);
    g_autoptr (GBytes) key = g_bytes_new (sites, ranks->len * sizeof *sites);
    guint32 pattern = GPOINTER_TO_UINT (g_hash_table_lookup (known, key));
    if (pattern == 0) {
      pattern = g_hash_table_size (known) + 1;
      g_hash_table_insert (known, g_bytes_ref (key), GUINT_TO_POINTER (pattern));
    }
    pairs->pattern_of[d] = pattern - 1;
  }
}

static void
find_groups (Pairs *pairs)
{
  const ColComm *comm = pairs->comm;
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint32 i = 0; i < comm->n; i++) {
    guint32 pattern = pairs->pattern_of[pairs->domain_of[i]];
    gint64 key = (gint64)(((guint64)pattern << 32) | comm->stand[i].site);
    guint32 at = GPOINTER_TO_UINT (g_hash_table_lookup (known, &key));
    if (at == 0) {
      Group *group = g_new0 (Group, 1);
      CluRes first = comm->stand[i].first;
      group->site = comm->stand[i].site;
      group->pattern = pattern;
      group->ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
      group->n_resources = clu_node_first_resource (comm->clu, comm->stand[i].node + 1) - first;
      group->load = g_new0 (double, MAX (group->n_resources, 1));
      group->effort = g_new0 (double, MAX (group->n_resources, 1));
      g_ptr_array_add (pairs->groups, group);
      at = pairs->groups->len;
      g_hash_table_insert (known, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (at));
    }
    pairs->group_of[i] = at - 1;
    g_array_append_val (((Group *)pairs->groups->pdata[at - 1])->ranks, i);
  }
}

static guint32
rank_at (const Group *group, guint i)
{
  return g_array_index (group->ranks, guint32, i);
}

/* Ranks of `to` in the domain of any one rank of `from`. */
static guint32
n_near (const Pairs *pairs, const Group *from, const Group *to)
{
  guint32 n = 0;
  if (from->pattern != to->pattern)
    return 0;
  const GArray *domain = pairs->domains->pdata[pairs->domain_of[rank_at (from, 0)]];
  for (guint i = 0; i < domain->len; i++)
    n += pairs->comm->stand[g_array_index (domain, guint32, i)].site == to->site;
  return n;
}

/* Every pair of different domains, one by one. */
static gboolean
load_each (Pairs *pairs, const Group *from, const Group *to, double share, GError **error)
{
  for (guint i = 0; i < from->ranks->len; i++)
    for (guint k = 0; k < to->ranks->len; k++) {
      const ColEdge edge = { rank_at (from, i), rank_at (to, k), CLU_NONE, share };
      if (pairs->domain_of[edge.from] != pairs->domain_of[edge.to] && !col_load_edge (pairs->comm, &edge, error))
        return FALSE;
    }
  return TRUE;
}

/* All pairs between two groups but those in one domain. */
static gboolean
load_groups (Pairs *pairs, Group *from, Group *to, double share, GError **error)
{
  guint32 near = n_near (pairs, from, to), far = to->ranks->len - near, first = rank_at (from, 0), k = 0;
  gboolean alike;
  if (far == 0)
    return TRUE;
  while (pairs->domain_of[rank_at (to, k)] == pairs->domain_of[first])
    k++;
  const ColRankPlace *a = &pairs->comm->stand[first], *b = &pairs->comm->stand[rank_at (to, k)];
  const ColRoute *way = col_routes_find_once (pairs->comm->routes, a, b, CLU_NONE, &alike, error);
  if (way == NULL)
    return FALSE;
  if (!alike)
    return load_each (pairs, from, to, share, error);
  double back = from->ranks->len - n_near (pairs, to, from); /* each rank of `to` gets so many */
  for (guint32 i = 0; i < way->n_uses; i++) {
    const ColRouteUse *use = &way->use[i];
    double each = share * use->share;
    if (use->end == COL_END_OUTSIDE) {
      col_scratch_add (pairs->scratch, use->res, each * far * from->ranks->len, use->factor);
      continue;
    }
    Group *group = use->end == COL_END_FROM ? from : to;
    double load = each * (use->end == COL_END_FROM ? far : back);
    group->load[use->res] += load;
    group->effort[use->res] += load / use->factor;
  }
  return TRUE;
}

/* Pairs of one domain, the nearest ranks first. */
static gboolean
load_domain (Pairs *pairs, const GArray *ranks, double share, GError **error)
{
  for (guint way = 1; way < ranks->len; way++)
    for (guint i = 0; i < ranks->len; i++) {
      const ColEdge edge = { g_array_index (ranks, guint32, i), g_array_index (ranks, guint32, (i + way) % ranks->len), CLU_NONE,
                             share };
      if (!col_load_edge (pairs->comm, &edge, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
col_load_all_to_all (ColComm *comm, GError **error)
{
  g_auto (Pairs) pairs = { comm,
                           col_routes_scratch (comm->routes),
                           g_ptr_array_new_with_free_func (free_group),
                           g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref),
                           g_new (guint32, comm->n),
                           NULL,
                           g_new (guint32, comm->n) };
  double share = 1.0 / comm->n;
  find_domains (&pairs);
  find_patterns (&pairs);
  find_groups (&pairs);
  for (guint d = 0; d < pairs.domains->len; d++)
    if (!load_domain (&pairs, pairs.domains->pdata[d], share, error))
      return FALSE;
  base_progress_expect ("routes between groups of ranks", (double)pairs.groups->len * pairs.groups->len, ROUTE_S);
  const gboolean counts = base_progress_begin ("groups of ranks", pairs.groups->len, 0);
  gboolean good = TRUE;
  for (guint i = 0; i < pairs.groups->len && good; i++) {
    for (guint k = 0; k < pairs.groups->len && good; k++)
      good = load_groups (&pairs, pairs.groups->pdata[i], pairs.groups->pdata[k], share, error);
    if (counts)
      base_progress_step ();
  }
  if (counts)
    base_progress_end ();
  if (!good)
    return FALSE;
  for (guint32 i = 0; i < comm->n; i++) {
    const Group *group = pairs.groups->pdata[pairs.group_of[i]];
    for (guint32 res = 0; res < group->n_resources; res++)
      col_scratch_put (pairs.scratch, comm->stand[i].first + res, group->load[res], group->effort[res]);
  }
  return TRUE;
}
