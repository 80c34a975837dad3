#include "collective/spread.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

static void
free_kind (gpointer data)
{
  ColNodeKind *kind = data;
  g_array_unref (kind->rows);
  g_free (kind);
}

ColSpread *
col_spread_ref (ColSpread *spread)
{
  spread->n_refs++;
  return spread;
}

void
col_spread_unref (ColSpread *spread)
{
  if (spread == NULL || --spread->n_refs > 0)
    return;
  g_ptr_array_unref (spread->kinds);
  g_array_unref (spread->nodes);
  g_array_unref (spread->outside);
  g_free (spread);
}

/* ---- taking ---- */

static guint
hash_kind (gconstpointer data)
{
  const ColNodeKind *kind = data;
  guint64 hash = kind->colour;
  for (guint i = 0; i < kind->rows->len; i++) {
    const ColLoad *row = &g_array_index (kind->rows, ColLoad, i);
    hash = base_hash_double (hash ^ row->res, row->load);
  }
  return (guint)hash;
}

static gboolean
equal_kinds (gconstpointer a, gconstpointer b)
{
  const ColNodeKind *x = a, *y = b;
  if (x->colour != y->colour || x->rows->len != y->rows->len)
    return FALSE;
  for (guint i = 0; i < x->rows->len; i++) {
    const ColLoad *p = &g_array_index (x->rows, ColLoad, i), *q = &g_array_index (y->rows, ColLoad, i);
    if (p->res != q->res || base_double_bits (p->load) != base_double_bits (q->load) ||
        base_double_bits (p->factor) != base_double_bits (q->factor))
      return FALSE;
  }
  return TRUE;
}

static void
bound_by (ColSpread *spread, CluRes res, const ColScratch *scratch)
{
  ColSpreadBounds *bounds = &spread->bounds;
  double rate_Bps = clu_resource_capacity (spread->clu, res) / scratch->sum[res].effort;
  /* equal resources differ by the last bit of their sums: the first of them is named */
  if (rate_Bps < bounds->rate_Bps * (1 - 1e-9)) {
    bounds->rate_Bps = rate_Bps;
    bounds->bottleneck = res;
  }
  if (!clu_resource_is_both_ways (spread->clu, res))
    bounds->most = fmax (bounds->most, scratch->sum[res].load / clu_resource_cables (spread->clu, res));
  bounds->source = MIN (bounds->source, clu_resource_source (spread->clu, res));
}

/* Takes `one`'s rows where they are a kind that is not known; else they are emptied. */
static void
take_node (ColSpread *spread, const ColScratch *scratch, GHashTable *known, guint32 node, ColNodeKind *one)
{
  if (one->rows->len == 0)
    return;
  /* mostly as the node before */
  guint32 last = spread->nodes->len > 0 ? g_array_index (spread->nodes, ColNodeOf, spread->nodes->len - 1).kind : 0;
  if (spread->nodes->len == 0 || !equal_kinds (one, spread->kinds->pdata[last])) {
    gpointer at = g_hash_table_lookup (known, one);
    last = GPOINTER_TO_UINT (at) - 1;
    if (at == NULL) {
      ColNodeKind *kind = g_memdup2 (one, sizeof *one);
      kind->first_node = node;
      last = spread->kinds->len;
      g_ptr_array_add (spread->kinds, kind);
      g_hash_table_insert (known, kind, GUINT_TO_POINTER (spread->kinds->len));
      one->rows = g_array_new (FALSE, TRUE, sizeof (ColLoad));
      for (guint i = 0; i < kind->rows->len; i++)
        bound_by (spread, clu_node_first_resource (spread->clu, node) + g_array_index (kind->rows, ColLoad, i).res, scratch);
    }
  }
  ((ColNodeKind *)spread->kinds->pdata[last])->n_nodes++;
  const ColNodeOf of = { node, last };
  g_array_append_val (spread->nodes, of);
  g_array_set_size (one->rows, 0);
}

/* The node that bears a resource. */
static guint32
node_of (const Clu *clu, CluRes res)
{
  guint32 low = 0, high = clu_n_nodes (clu);
  while (high - low > 1) {
    guint32 middle = low + (high - low) / 2;
    if (clu_node_first_resource (clu, middle) <= res)
      low = middle;
    else
      high = middle;
  }
  return low;
}

ColSpread *
col_spread_take (ColRoutes *routes, const Clu *clu)
{
  ColScratch *scratch = col_routes_scratch (routes);
  CluRes outside = clu_node_first_resource (clu, clu_n_nodes (clu)), end = 0;
  g_autoptr (GHashTable) known = g_hash_table_new (hash_kind, equal_kinds);
  ColSpread *spread = g_new0 (ColSpread, 1);
  ColNodeKind one = { .rows = g_array_new (FALSE, TRUE, sizeof (ColLoad)) };
  guint32 node = CLU_NONE;
  CluRes first = 0;
  spread->n_refs = 1;
  spread->clu = clu;
  spread->bounds = (ColSpreadBounds){ .rate_Bps = HUGE_VAL, .bottleneck = CLU_NONE, .source = BASE_SOURCE_MEASURED };
  spread->kinds = g_ptr_array_new_with_free_func (free_kind);
  spread->nodes = g_array_new (FALSE, FALSE, sizeof (ColNodeOf));
  spread->outside = g_array_new (FALSE, TRUE, sizeof (ColLoad));
  col_scratch_sort (scratch);
  for (guint i = 0; i < scratch->touched->len; i++) {
    CluRes res = g_array_index (scratch->touched, CluRes, i);
    ColLoad load = { res, scratch->sum[res].load, scratch->sum[res].load / scratch->sum[res].effort, 1 };
    if (res >= outside) {
      take_node (spread, scratch, known, node, &one); /* the last: bounds are found in the order of numbers */
      g_array_append_val (spread->outside, load);
      bound_by (spread, res, scratch);
      continue;
    }
    if (res >= end) {
      take_node (spread, scratch, known, node, &one);
      node = node != CLU_NONE && res < clu_node_first_resource (clu, node + 2) ? node + 1 : node_of (clu, res);
      one.colour = col_routes_colour (routes, node);
      first = clu_node_first_resource (clu, node);
      end = clu_node_first_resource (clu, node + 1);
    }
    load.res = res - first;
    g_array_append_val (one.rows, load);
  }
  take_node (spread, scratch, known, node, &one);
  g_array_unref (one.rows);
  col_scratch_clear (scratch);
  return spread;
}

/* ---- using ---- */

void
col_spread_add (const ColSpread *spread, gint64 by, ColScratch *scratch)
{
  for (guint i = 0; i < spread->nodes->len; i++) {
    const ColNodeOf *of = &g_array_index (spread->nodes, ColNodeOf, i);
    const ColNodeKind *kind = spread->kinds->pdata[of->kind];
    CluRes first = clu_node_first_resource (spread->clu, (guint32)(of->node + by));
    for (guint k = 0; k < kind->rows->len; k++) {
      const ColLoad *row = &g_array_index (kind->rows, ColLoad, k);
      col_scratch_add (scratch, first + row->res, row->load, row->factor);
    }
  }
  for (guint i = 0; i < spread->outside->len; i++) {
    const ColLoad *row = &g_array_index (spread->outside, ColLoad, i);
    col_scratch_add (scratch, row->res, row->load, row->factor);
  }
}

GArray *
col_spread_loads (const ColSpread *spread)
{
  GArray *loads = g_array_new (FALSE, TRUE, sizeof (ColLoad));
  for (guint i = 0; i < spread->nodes->len; i++) {
    const ColNodeOf *of = &g_array_index (spread->nodes, ColNodeOf, i);
    const ColNodeKind *kind = spread->kinds->pdata[of->kind];
    CluRes first = clu_node_first_resource (spread->clu, of->node);
    guint at = loads->len;
    g_array_append_vals (loads, kind->rows->data, kind->rows->len);
    for (; at < loads->len; at++)
      g_array_index (loads, ColLoad, at).res += first;
  }
  g_array_append_vals (loads, spread->outside->data, spread->outside->len);
  return loads;
}

/* What makes two resources alike, and which of the loads stands for them. */
typedef struct {
  double load, factor, capacity;
  const char *class;
  gboolean both_ways;
  guint at;
} Alike;

static guint
hash_alike (gconstpointer key)
{
  const Alike *a = key;
  guint64 hash = base_hash_double (base_hash_double ((guint64)a->both_ways, a->load), a->factor);
  return (guint)base_hash_double (hash, a->capacity);
}

static gboolean
same_alike (gconstpointer a, gconstpointer b)
{
  const Alike *x = a, *y = b;
  return memcmp (x, y, offsetof (Alike, class)) == 0 && x->both_ways == y->both_ways && strcmp (x->class, y->class) == 0;
}

/* Resources of equal class and capacity that carry the same: one of them, and how many. */
static void
add_alike (const ColSpread *spread, CluRes res, const ColLoad *row, guint32 n, GHashTable *seen, GArray *alike)
{
  const Alike key = { row->load,
                      row->factor,
                      clu_resource_capacity (spread->clu, res),
                      clu_resource_class (spread->clu, res),
                      clu_resource_is_both_ways (spread->clu, res),
                      alike->len };
  const Alike *known = g_hash_table_lookup (seen, &key);
  if (known != NULL) {
    g_array_index (alike, ColLoad, known->at).n += n;
    return;
  }
  ColLoad load = *row;
  load.res = res;
  load.n = n;
  g_array_append_val (alike, load);
  g_hash_table_add (seen, g_memdup2 (&key, sizeof key));
}

GArray *
col_spread_alike (const ColSpread *spread)
{
  GArray *alike = g_array_new (FALSE, TRUE, sizeof (ColLoad));
  g_autoptr (GHashTable) seen = g_hash_table_new_full (hash_alike, same_alike, g_free, NULL);
  for (guint k = 0; k < spread->kinds->len; k++) {
    const ColNodeKind *kind = spread->kinds->pdata[k];
    for (guint i = 0; i < kind->rows->len; i++) {
      const ColLoad *row = &g_array_index (kind->rows, ColLoad, i);
      add_alike (spread, clu_node_first_resource (spread->clu, kind->first_node) + row->res, row, kind->n_nodes, seen, alike);
    }
  }
  for (guint i = 0; i < spread->outside->len; i++)
    add_alike (spread, g_array_index (spread->outside, ColLoad, i).res, &g_array_index (spread->outside, ColLoad, i), 1, seen,
               alike);
  return alike;
}
