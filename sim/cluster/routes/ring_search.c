/* A largest set of directed Hamiltonian cycles that share no lane: how a mesh of GPU-to-GPU links is used by rings.
 *
 * Given lanes[i][j] full-duplex links between i and j, each ring takes one lane of every pair it passes, in one direction.
 * Bound: no more rings than lanes cross any cut of the GPUs (a single GPU's lanes are one such cut).
 * From that bound downwards, for each number k of rings, until one is reached:
 *   1. depth first, ring by ring, the GPU with the fewest ways in first; rings are distinguished by the successor of one GPU, which
 *      removes their permutations. If the search ends within its budget without success, k is impossible;
 *   2. else by switching: the lanes, padded with loops to equal degree, are split into permutations (Koenig), then two
 *      permutations exchange the rows of one orbit of p_j^-1 p_i - which keeps both permutations - while the cycles of the
 *      first k fall, until each is a single cycle.
 * The result is a true optimum when it meets the bound or step 1 refuted every larger k; with the budgets exhausted it is the best
 * that was found. No clock and no address decides, so equal lanes give equal rings.
 *
 * Sources: existence for complete digraphs (all n but 4 and 6): T. Tillson, "A Hamiltonian decomposition of K*2m, 2m >= 8", J.
 * Comb. Theory B 29 (1980); equal-degree bipartite graphs split into perfect matchings: D. Koenig, Math. Ann. 77 (1916).
 * Valid: n <= 16, symmetric lanes, at most MAX_RINGS rings.
 * Check: DGX-1V gives 6 rings (all of 6 lanes a GPU), the full mesh of 8 gives 7, of 4 gives 2, of 6 gives 4. */
#include "cluster/rings.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum {
  MAX_GPUS = 16,
  MAX_RINGS = 64 /* more rings than NVLinks on any GPU, or Ethernet ports on a Gaudi, by a factor of two */
};
/* Steps of one attempt. A step costs some 50 ns: an attempt that fails takes milliseconds. */
#define DEPTH_FIRST_STEPS 60000u
#define SWITCH_STEPS      60000u
/* All attempts together. */
#define TOTAL_STEPS 1000000u

typedef struct {
  guint32 n, k;
  guint32 root;
  guint16 left[MAX_GPUS][MAX_GPUS];    /* lanes of i -> j not yet taken */
  guint32 out[MAX_GPUS], in[MAX_GPUS]; /* bit j: left[i][j] > 0; bit i: left[i][j] > 0 */
  guint8 order[MAX_RINGS][MAX_GPUS];
  guint32 n_best;
  guint8 best[MAX_RINGS][MAX_GPUS];
  guint32 steps; /* left */
} Search;

static guint32
bit (guint32 i)
{
  return 1u << i;
}

static guint32
n_bits (guint32 mask)
{
  guint32 n = 0;
  for (; mask != 0; mask &= mask - 1)
    n++;
  return n;
}

static void
take (Search *s, guint32 i, guint32 j)
{
  if (--s->left[i][j] == 0) {
    s->out[i] &= ~bit (j);
    s->in[j] &= ~bit (i);
  }
}

static void
put_back (Search *s, guint32 i, guint32 j)
{
  s->left[i][j]++;
  s->out[i] |= bit (j);
  s->in[j] |= bit (i);
}

static void
search_init (Search *s, const guint16 lanes[MAX_GPUS][MAX_GPUS], guint32 n, guint32 root)
{
  s->n = n;
  s->root = root;
  memset (s->out, 0, sizeof s->out);
  memset (s->in, 0, sizeof s->in);
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < n; j++) {
      s->left[i][j] = lanes[i][j];
      if (lanes[i][j] > 0) {
        s->out[i] |= bit (j);
        s->in[j] |= bit (i);
      }
    }
}

/* Every GPU not yet visited still has a way in and a way out, and the root a way back. */
static gboolean
can_finish (const Search *s, guint32 at, guint32 unvisited)
{
  if ((s->in[s->root] & unvisited) == 0)
    return FALSE;
  for (guint32 m = unvisited; m != 0; m &= m - 1) {
    guint32 u = (guint32)g_bit_nth_lsf (m, -1);
    if ((s->in[u] & (unvisited | bit (at))) == 0 || (s->out[u] & (unvisited | bit (s->root))) == 0)
      return FALSE;
  }
  return TRUE;
}

static gboolean find_ring (Search *s, guint32 ring);

static gboolean
extend (Search *s, guint32 ring, guint32 length, guint32 at, guint32 unvisited)
{
  if (s->steps == 0)
    return FALSE;
  s->steps--;
  if (unvisited == 0) {
    if ((s->out[at] & bit (s->root)) == 0)
      return FALSE;
    take (s, at, s->root);
    if (ring + 1 > s->n_best) {
      s->n_best = ring + 1;
      memcpy (s->best, s->order, sizeof s->best);
    }
    gboolean found = ring + 1 == s->k || find_ring (s, ring + 1);
    put_back (s, at, s->root);
    return found;
  }
  if (!can_finish (s, at, unvisited))
    return FALSE;
  guint32 open = s->out[at] & unvisited;
  if (length == 1 && ring > 0) /* rings in the order of the root's successors: none is tried in two orders */
    open &= ~(bit (s->order[ring - 1][1]) - 1);
  while (open != 0) {
    guint32 next = 0, ways = G_MAXUINT32;
    for (guint32 m = open; m != 0; m &= m - 1) {
      guint32 u = (guint32)g_bit_nth_lsf (m, -1);
      guint32 w = length == 1 ? u : n_bits (s->in[u] & unvisited); /* the root's successors stay in order */
      if (w < ways) {
        ways = w;
        next = u;
      }
    }
    open &= ~bit (next);
    s->order[ring][length] = (guint8)next;
    take (s, at, next);
    gboolean found = extend (s, ring, length + 1, next, unvisited & ~bit (next));
    put_back (s, at, next);
    if (found)
      return TRUE;
  }
  return FALSE;
}

static gboolean
find_ring (Search *s, guint32 ring)
{
  s->order[ring][0] = (guint8)s->root;
  return extend (s, ring, 1, s->root, (bit (s->n) - 1) & ~bit (s->root));
}

/* Lanes as permutations: p[f][i] = j means that factor f takes i -> j; i -> i is padding. */
typedef struct {
  guint32 n, n_factors, k;
  guint8 p[MAX_RINGS][MAX_GPUS];
  guint32 excess[MAX_RINGS]; /* cycles beyond the first, padding loops included */
} Factors;

static guint32
permutation_excess (const guint8 *p, guint32 n)
{
  guint32 seen = 0, cycles = 0;
  for (guint32 i = 0; i < n; i++) {
    if (seen & bit (i))
      continue;
    cycles++;
    for (guint32 j = i; !(seen & bit (j)); j = p[j])
      seen |= bit (j);
  }
  return cycles - 1;
}

/* Kuhn's augmenting path from out-side i; from[j] is the out-side matched to in-side j. */
static gboolean
augment (const guint16 left[MAX_GPUS][MAX_GPUS], guint32 n, guint32 i, guint32 *seen, guint8 *from)
{
  for (guint32 d = 1; d <= n; d++) {
    guint32 j = (i + d) % n; /* padding loops (d = n) last */
    if (left[i][j] == 0 || (*seen & bit (j)))
      continue;
    *seen |= bit (j);
    if (from[j] == MAX_GPUS || augment (left, n, from[j], seen, from)) {
      from[j] = (guint8)i;
      return TRUE;
    }
  }
  return FALSE;
}

/* FALSE when a GPU has more than MAX_RINGS lanes. */
static gboolean
factors_init (Factors *f, const guint16 lanes[MAX_GPUS][MAX_GPUS], guint32 n)
{
  guint16 left[MAX_GPUS][MAX_GPUS];
  guint32 degree[MAX_GPUS] = { 0 }, most = 0;
  memcpy (left, lanes, sizeof left);
  for (guint32 i = 0; i < n; i++) {
    for (guint32 j = 0; j < n; j++)
      degree[i] += lanes[i][j];
    most = MAX (most, degree[i]);
  }
  if (most > MAX_RINGS)
    return FALSE;
  for (guint32 i = 0; i < n; i++)
    left[i][i] = (guint16)(most - degree[i]);
  f->n = n;
  f->n_factors = most;
  for (guint32 r = 0; r < most; r++) {
    guint8 from[MAX_GPUS];
    memset (from, MAX_GPUS, sizeof from);
    for (guint32 i = 0; i < n; i++) {
      guint32 seen = 0;
      gboolean matched = augment (left, n, i, &seen, from);
      g_assert (matched); /* all degrees are equal: a perfect matching exists */
    }
    for (guint32 j = 0; j < n; j++) {
      f->p[r][from[j]] = (guint8)j;
      left[from[j]][j]--;
    }
  }
  for (guint32 r = 0; r < most; r++)
    f->excess[r] = permutation_excess (f->p[r], n);
  return TRUE;
}

/* Rows of the orbit of `start` under p_b^-1 p_a, as a mask: exchanging them leaves both permutations permutations. */
static guint32
switch_rows (const guint8 *a, const guint8 *b, guint32 n, guint32 start)
{
  guint8 row_of[MAX_GPUS];
  for (guint32 i = 0; i < n; i++)
    row_of[b[i]] = (guint8)i;
  guint32 rows = 0;
  for (guint32 i = start; !(rows & bit (i)); i = row_of[a[i]])
    rows |= bit (i);
  return rows;
}

static void
exchange (guint8 *a, guint8 *b, guint32 rows)
{
  for (guint32 m = rows; m != 0; m &= m - 1) {
    guint32 i = (guint32)g_bit_nth_lsf (m, -1);
    guint8 t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}

/* Switches until the first k factors are single cycles. Equal moves are taken, worse ones by one cycle now and then: else it
 * would stop on the first plateau. */
static gboolean
switch_factors (Factors *f, guint32 *steps)
{
  BaseRandom random = base_random_stream (0, "ring search");
  guint32 total = 0;
  for (guint32 r = 0; r < f->k; r++)
    total += f->excess[r];
  for (; total > 0 && *steps > 0; --*steps) {
    guint32 a = base_random_below (&random, f->k);
    while (f->excess[a] == 0)
      a = (a + 1) % f->k;
    if (f->n_factors == 1)
      return FALSE;
    guint32 b = (a + 1 + base_random_below (&random, f->n_factors - 1)) % f->n_factors;
    guint32 rows = switch_rows (f->p[a], f->p[b], f->n, base_random_below (&random, f->n));
    guint32 was = f->excess[a] + (b < f->k ? f->excess[b] : 0);
    exchange (f->p[a], f->p[b], rows);
    guint32 excess_a = permutation_excess (f->p[a], f->n), excess_b = permutation_excess (f->p[b], f->n);
    guint32 is = excess_a + (b < f->k ? excess_b : 0);
    if (is > was && !(is == was + 1 && base_random_below (&random, 16) == 0)) {
      exchange (f->p[a], f->p[b], rows);
      continue;
    }
    f->excess[a] = excess_a;
    f->excess[b] = excess_b;
    total = total - was + is;
  }
  return total == 0;
}

/* Least number of lanes across a cut that parts the GPUs in two. */
static guint32
least_cut (const guint16 lanes[MAX_GPUS][MAX_GPUS], guint32 n)
{
  guint32 least = G_MAXUINT32;
  for (guint32 side = 1; side < bit (n) - 1; side += 2) { /* sides that hold GPU 0 */
    guint32 crossing = 0;
    for (guint32 i = 0; i < n; i++)
      if (side & bit (i))
        for (guint32 j = 0; j < n; j++)
          if (!(side & bit (j)))
            crossing += lanes[i][j];
    least = MIN (least, crossing);
  }
  return least;
}

static gboolean
try_rings (Search *s, const guint16 lanes[MAX_GPUS][MAX_GPUS], guint32 n, guint32 root, guint32 k, guint32 *total)
{
  s->k = k;
  search_init (s, lanes, n, root);
  guint32 allowed = MIN (*total, DEPTH_FIRST_STEPS);
  s->steps = allowed;
  gboolean found = find_ring (s, 0);
  *total -= allowed - s->steps;
  if (found || s->steps > 0) /* found, or shown to be impossible */
    return found;
  Factors f = { .k = k };
  if (!factors_init (&f, lanes, n))
    return FALSE;
  guint32 steps = MIN (*total, SWITCH_STEPS);
  *total -= steps;
  if (!switch_factors (&f, &steps))
    return FALSE;
  s->n_best = k;
  for (guint32 r = 0; r < k; r++)
    for (guint32 i = 0, at = root; i < n; i++, at = f.p[r][at])
      s->best[r][i] = (guint8)at;
  return TRUE;
}

/* The most rings in `lanes` into s->best, each from `root`. */
static void
search_most (Search *s, const guint16 lanes[MAX_GPUS][MAX_GPUS], guint32 n, guint32 root, guint32 max)
{
  guint32 total = TOTAL_STEPS;
  s->n_best = 0;
  for (guint32 k = MIN (max, least_cut (lanes, n)); k > s->n_best && total > 0; k--)
    if (try_rings (s, lanes, n, root, k, &total))
      break;
}

static int
compare_rings (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, MAX_GPUS);
}

/* Each ring from GPU 0, the rings in lexical order. */
static void
write_rings (Search *s, guint32 *orders)
{
  guint32 n = s->n;
  for (guint32 r = 0; r < s->n_best; r++) {
    guint8 turned[MAX_GPUS] = { 0 };
    guint32 first = 0;
    while (s->best[r][first] != 0)
      first++;
    for (guint32 i = 0; i < n; i++)
      turned[i] = s->best[r][(first + i) % n];
    memcpy (s->best[r], turned, MAX_GPUS);
  }
  qsort (s->best, s->n_best, sizeof s->best[0], compare_rings);
  for (guint32 r = 0; r < s->n_best; r++)
    for (guint32 i = 0; i < n; i++)
      orders[r * n + i] = s->best[r][i];
}

static guint32
common_divisor (const guint16 lanes[MAX_GPUS][MAX_GPUS], guint32 n)
{
  guint32 divisor = 0;
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < n; j++)
      for (guint32 a = lanes[i][j]; a != 0;) {
        guint32 rest = divisor % a;
        divisor = a;
        a = rest;
      }
  return divisor;
}

guint32
clu_hamiltonian_rings (const guint32 *lanes, guint32 n, guint32 max, guint32 *orders)
{
  g_return_val_if_fail (n <= MAX_GPUS, 0);
  if (n < 2 || max == 0)
    return 0;
  guint16 use[MAX_GPUS][MAX_GPUS] = { { 0 } }, single[MAX_GPUS][MAX_GPUS] = { { 0 } };
  guint32 degree[MAX_GPUS] = { 0 }, root = 0;
  max = MIN (max, (guint32)MAX_RINGS);
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < n; j++) {
      use[i][j] = (guint16)(i == j ? 0 : MIN (lanes[i * n + j], max));
      degree[i] += use[i][j];
    }
  for (guint32 i = 1; i < n; i++)
    if (degree[i] < degree[root])
      root = i;
  /* Where all pairs have g times as many lanes as a smaller mesh, each of its rings g times is a start: of three lanes a pair in a
   * full mesh of 8 it is the whole answer. */
  const guint16 (*all)[MAX_GPUS] = (const guint16 (*)[MAX_GPUS])use;
  guint32 g = MAX (common_divisor (all, n), 1);
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < n; j++)
      single[i][j] = (guint16)(use[i][j] / g);
  Search s = { .n = n };
  search_most (&s, (const guint16 (*)[MAX_GPUS])single, n, root, max);
  if (g > 1) {
    guint32 repeated = MIN (s.n_best * g, max);
    Search whole = { .n = n };
    if (repeated < MIN (max, least_cut (all, n)))
      search_most (&whole, all, n, root, max);
    if (whole.n_best > repeated)
      s = whole;
    else {
      for (guint32 r = repeated; r-- > 0;)
        memmove (s.best[r], s.best[r / g], MAX_GPUS);
      s.n_best = repeated;
    }
  }
  write_rings (&s, orders);
  return s.n_best;
}
