#include "collective/fold.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/stats.h"

#define NONE G_MAXUINT32

/* A class of nodes, or of resources between nodes. Its parent is what it was split from by `operation`. */
typedef struct {
  guint32 parent, operation;
  guint32 kind; /* of nodes: in the operation's spread */
  double load;  /* of a resource */
  double factor;
  guint32 first, n; /* its members, once closed */
} Class;

struct ColFold {
  ColRoutes *routes;
  const Clu *clu;
  gboolean fold;
  guint32 n_nodes;
  CluRes outside;      /* the first resource of no node */
  GArray *spreads;     /* ColSpread * */
  GArray *classes;     /* Class */
  guint32 *of_node;    /* class */
  guint32 *of_res;     /* class, from the first resource of no node on */
  GHashTable *colours; /* of nodes: GUINT -> class + 1 */
  GHashTable *looks;   /* of resources: GString of bytes -> class + 1 */
  GString *key;        /* scratch: of `looks`, or of what is alike when it is closed */
  GPtrArray *loads, *binding; /* GArray of ColLoad, by operation */
};

/* Keys of the tables of what is alike are bytes: text of numbers took a twentieth of a search. */
static void
append_bytes (GString *key, const void *value, gsize n)
{
  g_string_append_len (key, value, (gssize)n);
}

static GString *
copy_key (const GString *key)
{
  return g_string_new_len (key->str, (gssize)key->len);
}

static void
free_key (gpointer key)
{
  g_string_free (key, TRUE);
}

static GHashTable *
new_alike (void)
{
  return g_hash_table_new_full ((GHashFunc)g_string_hash, (GEqualFunc)g_string_equal, free_key, NULL);
}

static void
clear_spread (gpointer data)
{
  col_spread_unref (*(ColSpread **)data);
}

ColFold *
col_fold_new (ColRoutes *routes, const Clu *clu, gboolean fold)
{
  ColFold *f = g_new0 (ColFold, 1);
  f->routes = col_routes_ref (routes);
  f->clu = clu;
  f->fold = fold;
  f->n_nodes = clu_n_nodes (clu);
  f->outside = clu_node_first_resource (clu, f->n_nodes);
  f->spreads = g_array_new (FALSE, FALSE, sizeof (ColSpread *));
  g_array_set_clear_func (f->spreads, clear_spread);
  f->classes = g_array_new (FALSE, TRUE, sizeof (Class));
  f->of_node = g_new (guint32, MAX (f->n_nodes, 1));
  f->of_res = g_new (guint32, MAX (clu_n_resources (clu) - f->outside, 1));
  memset (f->of_node, 0xff, f->n_nodes * sizeof *f->of_node); /* NONE */
  memset (f->of_res, 0xff, (clu_n_resources (clu) - f->outside) * sizeof *f->of_res);
  f->colours = g_hash_table_new (NULL, NULL);
  f->looks = new_alike ();
  f->key = g_string_new (NULL);
  f->loads = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  f->binding = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  return f;
}

void
col_fold_free (ColFold *fold)
{
  if (fold == NULL)
    return;
  col_routes_unref (fold->routes);
  g_array_unref (fold->spreads);
  g_array_unref (fold->classes);
  g_free (fold->of_node);
  g_free (fold->of_res);
  g_hash_table_unref (fold->colours);
  g_hash_table_unref (fold->looks);
  g_string_free (fold->key, TRUE);
  g_ptr_array_unref (fold->loads);
  g_ptr_array_unref (fold->binding);
  g_free (fold);
}

/* ---- splitting ---- */

static Class *
class_at (const ColFold *fold, guint32 number)
{
  return &g_array_index (fold->classes, Class, number);
}

static guint32
new_class (ColFold *fold, const Class *class)
{
  g_array_append_vals (fold->classes, class, 1);
  return fold->classes->len - 1;
}

/* The class that a node begins in. */
static guint32
first_of_node (ColFold *fold, guint32 node)
{
  static const Class fresh = { .parent = NONE, .operation = NONE };
  if (!fold->fold)
    return new_class (fold, &fresh);
  gpointer colour = GUINT_TO_POINTER (col_routes_colour (fold->routes, node) + 1u);
  gpointer known = g_hash_table_lookup (fold->colours, colour);
  if (known == NULL) {
    known = GUINT_TO_POINTER (new_class (fold, &fresh) + 1u);
    g_hash_table_insert (fold->colours, colour, known);
  }
  return GPOINTER_TO_UINT (known) - 1u;
}

/* What a resource looks like from outside. */
static void
set_look (GString *key, const Clu *clu, CluRes res)
{
  const char *class = clu_resource_class (clu, res);
  gboolean both_ways = clu_resource_is_both_ways (clu, res);
  double capacity_Bps = clu_resource_capacity (clu, res);
  g_string_truncate (key, 0);
  append_bytes (key, class, strlen (class) + 1); /* its end too: no name begins another */
  append_bytes (key, &both_ways, sizeof both_ways);
  append_bytes (key, &capacity_Bps, sizeof capacity_Bps);
}

static guint32
first_of_res (ColFold *fold, CluRes res)
{
  static const Class fresh = { .parent = NONE, .operation = NONE };
  if (!fold->fold)
    return new_class (fold, &fresh);
  set_look (fold->key, fold->clu, res);
  gpointer known = g_hash_table_lookup (fold->looks, fold->key);
  if (known == NULL) {
    known = GUINT_TO_POINTER (new_class (fold, &fresh) + 1u);
    g_hash_table_insert (fold->looks, copy_key (fold->key), known);
  }
  return GPOINTER_TO_UINT (known) - 1u;
}

/* What classes are split by: where they were, and what they carry of the operation. */
static guint
hash_split (gconstpointer data)
{
  const Class *class = data;
  return (guint)base_hash_double (((guint64) class->parent << 32) | class->kind, class->load);
}

static gboolean
equal_splits (gconstpointer a, gconstpointer b)
{
  const Class *x = a, *y = b;
  return x->parent == y->parent && x->kind == y->kind && base_double_bits (x->load) == base_double_bits (y->load) &&
         base_double_bits (x->factor) == base_double_bits (y->factor);
}

static guint32
split (ColFold *fold, GHashTable *seen, const Class *class)
{
  gpointer known = g_hash_table_lookup (seen, class);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1u;
  guint32 number = new_class (fold, class);
  g_hash_table_insert (seen, g_memdup2 (class, sizeof *class), GUINT_TO_POINTER (number + 1u));
  return number;
}

guint
col_fold_add (ColFold *fold, ColSpread *spread)
{
  g_return_val_if_fail (fold->loads->len == 0, 0); /* closed */
  guint operation = fold->spreads->len;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (hash_split, equal_splits, g_free, NULL);
  col_spread_ref (spread);
  g_array_append_val (fold->spreads, spread);
  for (guint i = 0; i < spread->nodes->len; i++) {
    const ColNodeOf *of = &g_array_index (spread->nodes, ColNodeOf, i);
    guint32 *at = &fold->of_node[of->node];
    const Class class = { .parent = *at != NONE ? *at : first_of_node (fold, of->node), .operation = operation, .kind = of->kind };
    *at = split (fold, seen, &class);
  }
  g_hash_table_remove_all (seen);
  for (guint i = 0; i < spread->outside->len; i++) {
    const ColLoad *row = &g_array_index (spread->outside, ColLoad, i);
    guint32 *at = &fold->of_res[row->res - fold->outside];
    const Class class = {
      .parent = *at != NONE ? *at : first_of_res (fold, row->res), .operation = operation, .load = row->load, .factor = row->factor
    };
    *at = split (fold, seen, &class);
  }
  return operation;
}

/* ---- closing ---- */

/* What a class of resources has of one operation. */
typedef struct {
  guint32 operation;
  double load, factor, use; /* use: of its capacity, a byte */
} Part;

/* A resource, those that it stands for, and its parts: n_parts of `parts` from `at` on, by operation. */
typedef struct {
  CluRes res;
  guint32 n;
  guint at, n_parts;
  gboolean binds;
} Constraint;

typedef struct {
  ColFold *fold;
  GArray *constraints; /* Constraint */
  GArray *parts;       /* Part */
  GHashTable *alike;   /* GString of bytes -> constraint + 1 */
} Closing;

/* Adds the constraint whose parts are the last ones from `at` on, latest first, or its number to one that is the same. */
static void
add_constraint (Closing *c, CluRes res, guint32 n, guint at)
{
  GArray *parts = c->parts;
  GString *key = c->fold->key;
  double capacity_Bps = clu_resource_capacity (c->fold->clu, res);
  gboolean fold = c->fold->fold;
  if (fold)
    set_look (key, c->fold->clu, res);
  for (guint i = at, k = parts->len - 1; i < k; i++, k--) {
    Part kept = g_array_index (parts, Part, i);
    g_array_index (parts, Part, i) = g_array_index (parts, Part, k);
    g_array_index (parts, Part, k) = kept;
  }
  for (guint i = at; i < parts->len; i++) {
    Part *part = &g_array_index (parts, Part, i);
    part->use = part->load / (part->factor * capacity_Bps);
    if (fold) {
      append_bytes (key, &part->operation, sizeof part->operation);
      append_bytes (key, &part->load, sizeof part->load);
      append_bytes (key, &part->factor, sizeof part->factor);
    }
  }
  gpointer known = fold ? g_hash_table_lookup (c->alike, key) : NULL;
  if (known != NULL) {
    g_array_index (c->constraints, Constraint, GPOINTER_TO_UINT (known) - 1u).n += n;
    g_array_set_size (parts, at);
    return;
  }
  const Constraint one = { res, n, at, parts->len - at, TRUE };
  g_array_append_val (c->constraints, one);
  if (fold)
    g_hash_table_insert (c->alike, copy_key (key), GUINT_TO_POINTER (c->constraints->len));
}

static const ColNodeKind *
kind_of (const ColFold *fold, const Class *class)
{
  return g_array_index (fold->spreads, const ColSpread *, class->operation)->kinds->pdata[class->kind];
}

/* The links of a class of nodes. Rows of a kind are ascending, so that each chain of classes is merged link by link. */
static void
close_nodes (Closing *c, const Class *last)
{
  const ColFold *fold = c->fold;
  CluRes first = clu_node_first_resource (fold->clu, last->first), n = clu_node_first_resource (fold->clu, last->first + 1) - first;
  g_autoptr (GPtrArray) chain = g_ptr_array_new (); /* Class, latest first */
  for (const Class *class = last; class->operation != NONE; class = class_at (fold, class->parent))
    g_ptr_array_add (chain, (gpointer) class);
  g_autofree guint *next = g_new0 (guint, MAX (chain->len, 1));
  for (CluRes local = 0; local < n; local++) {
    guint at = c->parts->len;
    for (guint k = 0; k < chain->len; k++) {
      const Class *class = chain->pdata[k];
      const GArray *rows = kind_of (fold, class)->rows;
      if (next[k] >= rows->len || g_array_index (rows, ColLoad, next[k]).res != local)
        continue;
      const ColLoad *row = &g_array_index (rows, ColLoad, next[k]++);
      const Part part = { class->operation, row->load, row->factor, 0 };
      g_array_append_val (c->parts, part);
    }
    if (c->parts->len > at)
      add_constraint (c, first + local, last->n, at);
  }
}

static void
close_resource (Closing *c, const Class *last)
{
  guint at = c->parts->len;
  for (const Class *class = last; class->operation != NONE; class = class_at (c->fold, class->parent)) {
    const Part part = { class->operation, class->load, class->factor, 0 };
    g_array_append_val (c->parts, part);
  }
  add_constraint (c, last->first, last->n, at);
}

/* Members of each class that has some, and these classes in the order of their first members. */
static GArray *
find_members (ColFold *fold, const guint32 *of, guint32 n, guint32 first)
{
  GArray *order = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < n; i++) {
    if (of[i] == NONE)
      continue;
    Class *class = class_at (fold, of[i]);
    if (class->n++ > 0)
      continue;
    class->first = first + i;
    g_array_append_val (order, of[i]);
  }
  return order;
}

/* Whether `a` has strictly less of all that it carries than `b`: more than rounding could undo. */
static gboolean
is_below (const Closing *c, const Constraint *a, const Constraint *b)
{
  static const double LESS = 1 - 1e-9;
  guint k = 0;
  for (guint i = 0; i < a->n_parts; i++) {
    const Part *p = &g_array_index (c->parts, Part, a->at + i);
    while (k < b->n_parts && g_array_index (c->parts, Part, b->at + k).operation < p->operation)
      k++;
    if (k == b->n_parts)
      return FALSE;
    const Part *q = &g_array_index (c->parts, Part, b->at + k);
    if (q->operation != p->operation || p->use >= q->use * LESS)
      return FALSE;
  }
  return TRUE;
}

/* Of each operation the constraints that it fills most. */
enum { FULLEST = 8 };
typedef struct {
  guint32 n, constraint[FULLEST];
  double use[FULLEST];
} Fullest;

static void
note_fullest (Fullest *fullest, guint32 constraint, double use)
{
  guint32 at = fullest->n;
  while (at > 0 && fullest->use[at - 1] < use)
    at--;
  if (at == FULLEST)
    return;
  guint32 moved = MIN (fullest->n, FULLEST - 1u) - at;
  memmove (&fullest->use[at + 1], &fullest->use[at], moved * sizeof *fullest->use);
  memmove (&fullest->constraint[at + 1], &fullest->constraint[at], moved * sizeof *fullest->constraint);
  fullest->use[at] = use;
  fullest->constraint[at] = constraint;
  fullest->n = MIN (fullest->n + 1, (guint32)FULLEST);
}

/* Leaves out what cannot bind. Being below is transitive, so that what is left out may still leave out others. */
static void
find_binding (Closing *c)
{
  g_autofree Fullest *fullest = g_new0 (Fullest, MAX (c->fold->spreads->len, 1));
  for (guint i = 0; i < c->constraints->len; i++) {
    const Constraint *one = &g_array_index (c->constraints, Constraint, i);
    for (guint k = 0; k < one->n_parts; k++) {
      const Part *part = &g_array_index (c->parts, Part, one->at + k);
      note_fullest (&fullest[part->operation], i, part->use);
    }
  }
  for (guint i = 0; i < c->constraints->len; i++) {
    Constraint *one = &g_array_index (c->constraints, Constraint, i);
    const Fullest *of = &fullest[g_array_index (c->parts, Part, one->at).operation];
    for (guint32 k = 0; k < of->n && one->binds; k++)
      if (of->constraint[k] != i)
        one->binds = !is_below (c, one, &g_array_index (c->constraints, Constraint, of->constraint[k]));
  }
}

void
col_fold_close (ColFold *fold)
{
  Closing c = { fold, g_array_new (FALSE, FALSE, sizeof (Constraint)), g_array_new (FALSE, FALSE, sizeof (Part)),
                new_alike () };
  g_autoptr (GArray) nodes = find_members (fold, fold->of_node, fold->n_nodes, 0);
  g_autoptr (GArray) resources = find_members (fold, fold->of_res, clu_n_resources (fold->clu) - fold->outside, fold->outside);
  for (guint i = 0; i < nodes->len; i++)
    close_nodes (&c, class_at (fold, g_array_index (nodes, guint32, i)));
  for (guint i = 0; i < resources->len; i++)
    close_resource (&c, class_at (fold, g_array_index (resources, guint32, i)));
  if (fold->fold)
    find_binding (&c);
  for (guint i = 0; i < fold->spreads->len; i++) {
    g_ptr_array_add (fold->loads, g_array_new (FALSE, TRUE, sizeof (ColLoad)));
    g_ptr_array_add (fold->binding, g_array_new (FALSE, TRUE, sizeof (ColLoad)));
  }
  for (guint i = 0; i < c.constraints->len; i++) {
    const Constraint *one = &g_array_index (c.constraints, Constraint, i);
    for (guint k = 0; k < one->n_parts; k++) {
      const Part *part = &g_array_index (c.parts, Part, one->at + k);
      const ColLoad load = { one->res, part->load, part->factor, one->n };
      g_array_append_vals (fold->loads->pdata[part->operation], &load, 1);
      if (one->binds)
        g_array_append_vals (fold->binding->pdata[part->operation], &load, 1);
    }
  }
  for (guint i = 0; i < fold->spreads->len; i++) {
    g_array_sort (fold->loads->pdata[i], base_by_u32);
    g_array_sort (fold->binding->pdata[i], base_by_u32);
  }
  g_array_unref (c.constraints);
  g_array_unref (c.parts);
  g_hash_table_unref (c.alike);
}

const GArray *
col_fold_loads (const ColFold *fold, guint operation)
{
  return fold->loads->pdata[operation];
}

const GArray *
col_fold_binding (const ColFold *fold, guint operation)
{
  return fold->binding->pdata[operation];
}
