/* In which order the two turns of a pair (a forward beside a backward) share the compute stream.
 *
 * A turn is stretches of compute between places where a collective begins or is waited for. All orders of the stretches of both
 * are searched for the one that ends first, where each takes what it takes alone, collectives of one kind follow each other, and a
 * stretch waits for those that it needs. Added work can only make the best order longer: without it the same order takes no longer.
 * Taking turns item by item has no such bound: recomputed norms would shift the two against each other, and hide more.
 * Orders that have done the same stretches are compared by all that the rest depends on: when compute and each kind of collective
 * is idle, and when those end that are still waited for; who is later in all of them is dropped. Of those left the MOST best are
 * kept, and the two turns stay within BAND stretches of equal progress, so the time is linear in the layers.
 * Source: the schedule's authors choose the order by hand so that all-to-all and sends are hidden (DeepSeek-V3 2412.19437, 3.2.1,
 * figure 4). Check: law_training_work (no added work shortens a step). */
#include <math.h>
#include <string.h>

#include "pair-private.h"

#define MOST    12u
#define BAND    16.0
#define SLOTS   4u /* collectives of a turn that are under way at once; of more the last ones are joined */
#define STREAMS 2u
#define TIMES   (1u + STREAMS + 2u * SLOTS)

typedef struct {
  double time_s;
  guint32 after, before; /* stretches: that it follows, from 1 (0: the begin), and that waits for it, from 0 */
  guint32 stream, slot;
  gboolean all; /* it follows the collectives of its turn as well */
} Coll;

typedef struct {
  double time_s;
  guint32 items;
} Stretch;

/* A turn. */
typedef struct {
  GArray *stretch, *coll; /* Stretch, Coll */
} Side;

/* An order of i and j stretches: when things end, and where it came from. */
typedef struct {
  double at[TIMES]; /* compute, streams, slots of either turn */
  guint32 from;     /* of the state before it */
  guint32 side;     /* that the last stretch is of */
} Way;

static const Stretch *
stretch_at (const Side *side, guint32 i)
{
  return &g_array_index (side->stretch, Stretch, i);
}

/* ---- reading a turn ---- */

/* While a turn is read: compute items in a row, and whether one begins a stretch. */
typedef struct {
  guint32 ready;  /* items up to the last that others wait for */
  GArray *time_s; /* double */
  GArray *begins; /* guint8, one more */
  GArray *coll;   /* Coll, by items */
} Reader;

static void
mark (Reader *r, guint32 item)
{
  if (r->begins->len <= item)
    g_array_set_size (r->begins, item + 1);
  g_array_index (r->begins, guint8, item) = 1;
}

static void
read_unit (Reader *r, const GArray *items, double slow)
{
  const guint32 base = r->time_s->len;
  guint32 n = 0, ready = r->ready;
  for (guint32 i = 0; i < items->len && !g_array_index (items, TrnItem, i).is_coll; i++, n++) {
    const double time_s = g_array_index (items, TrnItem, i).time_s * slow;
    g_array_append_val (r->time_s, time_s);
    if (!g_array_index (items, TrnItem, i).delayed)
      ready = base + i + 1;
  }
  for (guint32 i = n; i < items->len; i++) {
    const TrnItem *item = &g_array_index (items, TrnItem, i);
    const double time_s = item->priced->time_s * item->repeat;
    if (item->with >= 0) { /* cut up with its product: a part shows */
      g_array_index (r->time_s, double, base + (guint32)item->with) += time_s / fmax (item->parts, 1);
      continue;
    }
    const Coll coll = { .time_s = time_s,
                        .after = item->after < 0 ? r->ready : (guint32)((int)base + item->after + 1),
                        .before = base + (guint32)MAX (item->before, 0),
                        .stream = item->group == TRN_GROUP_EP || item->group == TRN_GROUP_ETP ? 0 : 1,
                        .all = item->after < 0 };
    g_array_append_val (r->coll, coll);
    mark (r, coll.after);
    mark (r, coll.before);
  }
  r->ready = ready;
}

/* Slots: no two of a turn that are under way at once have the same, while there are enough. */
static void
take_slots (const Side *side)
{
  guint32 free_from[SLOTS] = { 0 };
  for (guint32 i = 0; i < side->coll->len; i++) {
    Coll *coll = &g_array_index (side->coll, Coll, i);
    guint32 slot = 0;
    while (slot + 1 < SLOTS && free_from[slot] > coll->after)
      slot++;
    coll->slot = slot;
    free_from[slot] = MAX (free_from[slot], coll->before);
  }
}

/* Items joined to stretches, and the places of collectives counted in these. */
static void
join (const Reader *r, Side *out)
{
  const guint32 n = r->time_s->len;
  g_autofree guint32 *of = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++) {
    const gboolean begins = i == 0 || (i < r->begins->len && g_array_index (r->begins, guint8, i) != 0);
    const Stretch none = { 0 };
    if (begins)
      g_array_append_val (out->stretch, none);
    Stretch *last = &g_array_index (out->stretch, Stretch, out->stretch->len - 1);
    last->time_s += g_array_index (r->time_s, double, i);
    last->items++;
    of[i] = out->stretch->len - 1;
  }
  of[n] = out->stretch->len;
  for (guint32 i = 0; i < r->coll->len; i++) {
    Coll coll = g_array_index (r->coll, Coll, i);
    coll.after = of[MIN (coll.after, n)];
    coll.before = of[MIN (coll.before, n)];
    g_array_append_val (out->coll, coll);
  }
  take_slots (out);
}

static void
side_clear (Side *side)
{
  g_clear_pointer (&side->stretch, g_array_unref);
  g_clear_pointer (&side->coll, g_array_unref);
}

static gboolean
read_turn (TrnBuild *b, guint32 lane, const MdlTurn *turn, Side *out, GError **error)
{
  const guint32 position = mdl_schedule_position (&b->model->pipe, (MdlPlace){ lane, turn->chunk });
  const guint32 n = trn_cut_units (b->model, position);
  Reader r = { .time_s = g_array_new (FALSE, FALSE, sizeof (double)),
               .begins = g_array_new (FALSE, TRUE, 1),
               .coll = g_array_new (FALSE, FALSE, sizeof (Coll)) };
  *out = (Side){ g_array_new (FALSE, FALSE, sizeof (Stretch)), g_array_new (FALSE, FALSE, sizeof (Coll)) };
  gboolean ok = TRUE;
  for (guint32 i = 0; i < n && ok; i++) {
    const TrnUnit *unit = trn_unit_at (b, lane, position, turn->kind == MDL_TURN_FORWARD ? i : n - 1 - i, error);
    ok = unit != NULL;
    if (ok)
      read_unit (&r, unit->pass[turn->kind], b->lane[lane].slow);
  }
  if (ok)
    join (&r, out);
  g_array_unref (r.time_s);
  g_array_unref (r.begins);
  g_array_unref (r.coll);
  return ok;
}

/* ---- the search ---- */

/* Starts the collectives that follow stretch `after` of a turn. */
static void
begin_colls (const Side *side, guint32 which, guint32 after, Way *way)
{
  double *slot = way->at + 1 + STREAMS + which * SLOTS;
  for (guint32 i = 0; i < side->coll->len; i++) {
    const Coll *coll = &g_array_index (side->coll, Coll, i);
    if (coll->after != after)
      continue;
    double begin_s = fmax (way->at[0], way->at[1 + coll->stream]);
    for (guint32 k = 0; coll->all && k < SLOTS; k++)
      begin_s = fmax (begin_s, slot[k]);
    way->at[1 + coll->stream] = begin_s + coll->time_s;
    slot[coll->slot] = fmax (slot[coll->slot], begin_s + coll->time_s);
  }
}

/* Stretch i of a turn behind what was done so far. */
static void
add_stretch (const Side *side, guint32 which, guint32 i, Way *way)
{
  double *slot = way->at + 1 + STREAMS + which * SLOTS;
  for (guint32 k = 0; k < side->coll->len; k++) {
    const Coll *coll = &g_array_index (side->coll, Coll, k);
    if (coll->before != i)
      continue;
    way->at[0] = fmax (way->at[0], slot[coll->slot]);
    slot[coll->slot] = 0;
  }
  way->at[0] += stretch_at (side, i)->time_s;
  begin_colls (side, which, i + 1, way);
}

static double
end_of (const Way *way)
{
  double end_s = 0;
  for (guint32 k = 0; k < TIMES; k++)
    end_s = fmax (end_s, way->at[k]);
  return end_s;
}

/* Whether a is nowhere later than b. What lies behind compute is the same as compute. */
static gboolean
is_no_later (const Way *a, const Way *b)
{
  if (a->at[0] > b->at[0])
    return FALSE;
  for (guint32 k = 1; k < TIMES; k++)
    if (a->at[k] > fmax (b->at[k], b->at[0]))
      return FALSE;
  return TRUE;
}

static int
by_end (gconstpointer a, gconstpointer b)
{
  const Way *x = a, *y = b;
  const double ends = end_of (x) - end_of (y), computes = x->at[0] - y->at[0];
  return ends < 0 ? -1 : ends > 0 ? 1 : computes < 0 ? -1 : computes > 0 ? 1 : 0;
}

static void
keep (GArray *ways, const Way *way)
{
  for (guint32 i = 0; i < ways->len; i++)
    if (is_no_later (&g_array_index (ways, Way, i), way))
      return;
  for (guint32 i = ways->len; i-- > 0;)
    if (is_no_later (way, &g_array_index (ways, Way, i)))
      g_array_remove_index (ways, i);
  g_array_append_val (ways, *way);
}

typedef struct {
  const Side *side;
  guint32 n[2];
  GArray **ways; /* by stretches done of the first x those of the second */
} Search;

static GArray **
ways_at (const Search *s, guint32 i, guint32 j)
{
  return &s->ways[(gsize)i * (s->n[1] + 1) + j];
}

/* Orders that end with a stretch of `side`. */
static void
extend (const Search *s, guint32 i, guint32 j, guint32 side)
{
  if ((side == 0 ? i : j) == 0)
    return;
  const GArray *before = *ways_at (s, i - (side == 0), j - (side == 1));
  for (guint32 k = 0; before != NULL && k < before->len; k++) {
    Way way = g_array_index (before, Way, k);
    way.from = k;
    way.side = side;
    add_stretch (&s->side[side], side, side == 0 ? i - 1 : j - 1, &way);
    keep (*ways_at (s, i, j), &way);
  }
}

static gboolean
is_near (const Search *s, guint32 i, guint32 j)
{
  const double most = MAX (s->n[0], s->n[1]);
  return fabs ((double)i * s->n[1] - (double)j * s->n[0]) <= BAND * most;
}

static void
search (const Search *s)
{
  Way none = { .from = 0 };
  for (guint32 side = 0; side < 2; side++)
    begin_colls (&s->side[side], side, 0, &none);
  for (guint32 i = 0; i <= s->n[0]; i++)
    for (guint32 j = 0; j <= s->n[1]; j++) {
      if (!is_near (s, i, j))
        continue;
      GArray *ways = *ways_at (s, i, j) = g_array_new (FALSE, FALSE, sizeof (Way));
      if (i + j == 0)
        g_array_append_val (ways, none);
      extend (s, i, j, 1);
      extend (s, i, j, 0);
      g_array_sort (ways, by_end);
      if (ways->len > MOST)
        g_array_set_size (ways, MOST);
    }
}

/* The best order, from its end: of each item the turn that it is of. */
static GArray *
read_back (const Search *s)
{
  GArray *order = g_array_new (FALSE, FALSE, 1);
  guint32 left[2] = { s->n[0], s->n[1] }, way = 0;
  while (left[0] + left[1] > 0) {
    const Way *last = &g_array_index (*ways_at (s, left[0], left[1]), Way, way);
    const guint8 side = (guint8)last->side;
    way = last->from;
    left[side]--;
    for (guint32 k = stretch_at (&s->side[side], left[side])->items; k > 0; k--)
      g_array_append_val (order, side);
  }
  for (guint32 i = 0, j = order->len; i + 1 < j; i++) {
    j--;
    const guint8 swapped = g_array_index (order, guint8, i);
    g_array_index (order, guint8, i) = g_array_index (order, guint8, j);
    g_array_index (order, guint8, j) = swapped;
  }
  return order;
}

GArray *
trn_pair_order (TrnBuild *b, guint32 lane, const MdlTurn *pair, GError **error)
{
  Side side[2] = { { 0 }, { 0 } };
  GArray *order = NULL;
  if (read_turn (b, lane, pair, &side[0], error) && read_turn (b, lane, pair + 1, &side[1], error)) {
    Search s = { .side = side, .n = { side[0].stretch->len, side[1].stretch->len } };
    const gsize states = (gsize)(s.n[0] + 1) * (s.n[1] + 1);
    s.ways = g_new0 (GArray *, states);
    search (&s);
    order = read_back (&s);
    for (gsize i = 0; i < states; i++)
      g_clear_pointer (&s.ways[i], g_array_unref);
    g_free (s.ways);
  }
  side_clear (&side[0]);
  side_clear (&side[1]);
  return order;
}
