/* Which node, NIC, rail or path is slow, from rows between pairs.
 *
 * The logarithm of each row's rate is one level plus what its slow parts take off. Each part that might be slow is a set of rows
 * (all that a NIC sends, all of a rail …). In turn, the set is taken whose split into two levels, each a median, lowers the sum of
 * absolute residuals most, if the drop stands out of the noise of all sets together; its rows are lifted by it, and the next is
 * looked for. Medians keep a slow part from colouring its partners. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "calibrate/pairs.h"

/* What a repair is worth: smaller drops are not said. */
#define LEAST_DROP 0.05
/* Chance that healthy noise names any part. */
#define FALSE_ALARM 0.002
/* Printed digits: rates that agree better are taken as agreeing so well. */
#define LEAST_NOISE 0.002
/* More slow parts than these are no longer single faults. */
#define MOST_PARTS 64u
/* A set with more than this share of all rows moves the level, which is then that of the others. */
#define LARGE_SHARE 0.2
/* A median of n normal values is this much wider than their mean. */
#define MEDIAN_WIDTH 1.2533

static const struct {
  const char *name, *does, *check;
} parts[CAL_PART_N] = {
  [CAL_PART_NODE] = { "node", "sends and receives at",
                      "PCIe settings (ACS, relaxed ordering, IOMMU), CPU clock and BIOS profile of the node: all of its NICs are "
                      "slow" },
  [CAL_PART_NODE_SENDS] = { "node_sends", "sends at",
                            "how the node's NICs read from memory: PCIe read requests, IOMMU, host or GPU memory" },
  [CAL_PART_NODE_RECEIVES] = { "node_receives", "receives at",
                               "how the node's NICs write to memory: relaxed ordering, IOMMU, PFC pauses that the node sends" },
  [CAL_PART_NIC] = { "nic", "sends and receives at",
                     "cable, transceiver and port (ibstat, mlxlink -d), and the NIC's PCIe link (lspci -vv: LnkSta)" },
  [CAL_PART_NIC_SENDS] = { "nic_sends", "sends at",
                           "cable and port, error counters of the switch port it leads to, and the NIC's PCIe link (lspci -vv: "
                           "LnkSta)" },
  [CAL_PART_NIC_RECEIVES] = { "nic_receives", "receives at",
                              "cable and port, the port's error counters (perfquery -x), and pauses that the NIC sends" },
  [CAL_PART_RAIL] = { "rail", "runs at", "the leaf switch of this rail, its uplinks, firmware and routing" },
  [CAL_PART_PATH] = { "path", "runs at", "the switches and cables between both (ibtracert, traceroute), and their routing" },
  [CAL_PART_PATH_ONE_WAY] = { "path_one_way", "runs at",
                              "the switches and cables in this direction (ibtracert, traceroute), and their routing" },
};

const char *
cal_part_name (CalPart part)
{
  return parts[part].name;
}

/* A part and its rows. */
typedef struct {
  CalPart part;
  char *name;
  GArray *rows; /* guint, ascending */
} Set;

typedef struct {
  const CalPairRows *in;
  double *level;   /* log of speed, slow parts found so far lifted */
  GPtrArray *sets; /* Set */
  double *scratch;
  GArray *found; /* CalSlow */
} Judge;

static void
set_free (gpointer data)
{
  Set *set = data;
  g_array_unref (set->rows);
  g_free (set->name);
  g_free (set);
}

void
cal_slow_clear (gpointer data)
{
  CalSlow *slow = data;
  g_free (slow->name);
  g_free (slow->others);
  g_free (slow->sentence);
}

/* ---- sets ---- */

static void
join (Judge *judge, GHashTable *known, CalPart part, char *name, guint row)
{
  g_autofree char *key = g_strdup_printf ("%u %s", part, name);
  Set *set = g_hash_table_lookup (known, key);
  if (set == NULL) {
    set = g_new (Set, 1);
    *set = (Set){ part, name, g_array_new (FALSE, FALSE, sizeof (guint)) };
    g_hash_table_insert (known, g_steal_pointer (&key), set);
    g_ptr_array_add (judge->sets, set);
  } else
    g_free (name);
  g_array_append_val (set->rows, row);
}

static char *
end_name (const char *node, const char *nic)
{
  return *nic != '\0' ? g_strdup_printf ("%s %s", node, nic) : g_strdup (node);
}

static void
join_row (Judge *judge, GHashTable *known, guint i)
{
  const CalPair *row = &judge->in->row[i];
  gboolean nics = *row->from_nic != '\0' && *row->to_nic != '\0';
  g_autofree char *from = end_name (row->from, row->from_nic), *to = end_name (row->to, row->to_nic);
  gboolean ordered = strcmp (from, to) < 0;
  join (judge, known, CAL_PART_NODE, g_strdup (row->from), i);
  join (judge, known, CAL_PART_NODE, g_strdup (row->to), i);
  join (judge, known, CAL_PART_NODE_SENDS, g_strdup (row->from), i);
  join (judge, known, CAL_PART_NODE_RECEIVES, g_strdup (row->to), i);
  if (nics) {
    join (judge, known, CAL_PART_NIC, g_strdup (from), i);
    join (judge, known, CAL_PART_NIC, g_strdup (to), i);
    join (judge, known, CAL_PART_NIC_SENDS, g_strdup (from), i);
    join (judge, known, CAL_PART_NIC_RECEIVES, g_strdup (to), i);
    if (g_str_equal (row->from_nic, row->to_nic))
      join (judge, known, CAL_PART_RAIL, g_strdup (row->from_nic), i);
  }
  join (judge, known, CAL_PART_PATH, g_strdup_printf ("%s and %s", ordered ? from : to, ordered ? to : from), i);
  join (judge, known, CAL_PART_PATH_ONE_WAY, g_strdup_printf ("%s to %s", from, to), i);
}

static void
make_sets (Judge *judge)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  judge->sets = g_ptr_array_new_with_free_func (set_free);
  for (guint i = 0; i < judge->in->n; i++)
    join_row (judge, known, i);
}

/* ---- one split ---- */

typedef struct {
  const Set *set;
  double drop, gain, error; /* of the logarithm; error: of the drop, in units of the noise */
} Split;

static double
median_of (Judge *judge, const GArray *rows, guint8 *taken, gboolean inside)
{
  guint n = 0;
  for (guint i = 0; inside && i < rows->len; i++)
    judge->scratch[n++] = judge->level[g_array_index (rows, guint, i)];
  for (guint i = 0; !inside && i < judge->in->n; i++)
    if (taken == NULL || !taken[i])
      judge->scratch[n++] = judge->level[i];
  return base_median (judge->scratch, n);
}

static Split
split_by (Judge *judge, const Set *set, double all)
{
  guint n = judge->in->n, n_in = set->rows->len;
  Split split = { .set = set };
  if (n_in == n)
    return split;
  double in = median_of (judge, set->rows, NULL, TRUE), out = all;
  if (n_in > LARGE_SHARE * n) {
    g_autofree guint8 *taken = g_new0 (guint8, n);
    for (guint i = 0; i < n_in; i++)
      taken[g_array_index (set->rows, guint, i)] = 1;
    out = median_of (judge, set->rows, taken, FALSE);
    for (guint i = 0; i < n; i++)
      split.gain += taken[i] ? 0 : fabs (judge->level[i] - all) - fabs (judge->level[i] - out);
  }
  for (guint i = 0; i < n_in; i++) {
    double level = judge->level[g_array_index (set->rows, guint, i)];
    split.gain += fabs (level - all) - fabs (level - in);
  }
  split.drop = out - in;
  split.error = MEDIAN_WIDTH * sqrt (1.0 / n_in + 1.0 / (n - n_in));
  if (n_in == 1 || n - n_in == 1)
    split.error /= n_in == 1 ? 1.1 : 1;
  return split;
}

/* Noise of one row: 1.4826 median absolute deviations are one standard deviation of normal noise. */
static double
noise_of (Judge *judge, const Split *split)
{
  guint n = judge->in->n, k = 0;
  double all = median_of (judge, NULL, NULL, FALSE), in = 0, out = all;
  if (split != NULL) {
    in = median_of (judge, split->set->rows, NULL, TRUE);
    out = in + split->drop;
  }
  g_autofree double *residual = g_new (double, n);
  for (guint i = 0; i < n; i++) {
    gboolean inside = split != NULL && k < split->set->rows->len && g_array_index (split->set->rows, guint, k) == i;
    k += inside ? 1 : 0;
    residual[i] = fabs (judge->level[i] - (inside ? in : out));
  }
  double free = MAX (1.0, (double)n - 2);
  return MAX (LEAST_NOISE, 1.4826 * base_median (residual, n) * sqrt (n / free));
}

/* Quantile of the normal distribution at a small chance `p` (Abramowitz and Stegun, 26.2.23), widened for noise that is known from
 * n rows (the first term of Student's by Cornish and Fisher). */
static double
threshold (double p, guint n)
{
  double t = sqrt (-2 * log (p));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  double free = MAX (1.0, (double)n / 2 - 1); /* a median of deviations is worth about half of the rows */
  return z * (1 + (z * z + 1) / (4 * free));
}

/* The part of most gain that stands out; FALSE: none. */
static gboolean
best_split (Judge *judge, Split *best)
{
  double all = median_of (judge, NULL, NULL, FALSE), limit = threshold (FALSE_ALARM / judge->sets->len, judge->in->n);
  g_autoptr (GArray) splits = g_array_new (FALSE, FALSE, sizeof (Split));
  for (guint s = 0; s < judge->sets->len; s++) {
    Split split = split_by (judge, g_ptr_array_index (judge->sets, s), all);
    if (split.drop >= -log (1 - LEAST_DROP) && split.gain > 0)
      g_array_append_val (splits, split);
  }
  *best = (Split){ .set = NULL };
  for (guint s = 0; s < splits->len; s++) {
    const Split *split = &g_array_index (splits, Split, s);
    if (split->gain <= best->gain * (1 + 1e-9) + 1e-12)
      continue;
    if (split->drop > limit * split->error * noise_of (judge, split))
      *best = *split;
  }
  return best->set != NULL;
}

/* ---- what is said ---- */

static gboolean
same_rows (const Set *a, const Set *b)
{
  return a->rows->len == b->rows->len && memcmp (a->rows->data, b->rows->data, a->rows->len * sizeof (guint)) == 0;
}

/* Whether `other` only says less of the same thing: the node of a NIC that is its only one. */
static gboolean
is_same_part (const Set *set, const Set *other)
{
  return (set->part <= CAL_PART_NODE_RECEIVES && other->part <= CAL_PART_NIC_RECEIVES &&
          g_str_has_prefix (other->name, set->name)) ||
         (other->part <= CAL_PART_NODE_RECEIVES && set->part <= CAL_PART_NIC_RECEIVES &&
          g_str_has_prefix (set->name, other->name)) ||
         (set->part >= CAL_PART_PATH && other->part >= CAL_PART_PATH);
}

/* "node1 mlx5_3 receives" as a noun. */
static char *
part_text (const Set *set)
{
  static const char *const after[CAL_PART_N] = { [CAL_PART_NODE_SENDS] = " (sending)",
                                                 [CAL_PART_NODE_RECEIVES] = " (receiving)",
                                                 [CAL_PART_NIC_SENDS] = " (sending)",
                                                 [CAL_PART_NIC_RECEIVES] = " (receiving)" };
  const char *before = set->part == CAL_PART_RAIL ? "rail " : set->part >= CAL_PART_PATH ? "the path " : "";
  return g_strdup_printf ("%s%s%s", before, set->name, after[set->part] != NULL ? after[set->part] : "");
}

/* Parts whose rows are the same, so that these measurements do not distinguish them. */
static char *
others_of (const Judge *judge, const Set *set)
{
  GString *out = g_string_new (NULL);
  for (guint s = 0; s < judge->sets->len; s++) {
    const Set *other = g_ptr_array_index (judge->sets, s);
    if (other == set || !same_rows (other, set) || is_same_part (set, other))
      continue;
    g_autofree char *text = part_text (other);
    if (strstr (out->str, text) == NULL)
      g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", text);
  }
  return g_string_free (out, out->len == 0);
}

/* A node's only NIC is named, where rows name NICs. */
static const Set *
named (const Judge *judge, const Set *set)
{
  for (guint s = 0; set->part <= CAL_PART_NODE_RECEIVES && s < judge->sets->len; s++) {
    const Set *other = g_ptr_array_index (judge->sets, s);
    if ((guint)other->part == (guint)set->part + CAL_PART_NIC && same_rows (other, set))
      return other;
  }
  return set;
}

static guint
partners_of (const Judge *judge, const Set *set)
{
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < set->rows->len; i++) {
    const CalPair *row = &judge->in->row[g_array_index (set->rows, guint, i)];
    g_hash_table_add (nodes, (gpointer)row->from);
    g_hash_table_add (nodes, (gpointer)row->to);
  }
  guint own = set->part <= CAL_PART_NIC_RECEIVES ? 1 : 0;
  return g_hash_table_size (nodes) - own;
}

/* "48.6 GB/s", "2.1 us". */
static char *
value_text (gboolean latency, double value)
{
  return latency ? g_strdup_printf ("%.3g us", value * 1e6) : g_strdup_printf ("%.3g GB/s", value * 1e-9);
}

/* What a share of the healthy rate says of a NIC: links come up with half of their lanes, or at half of their speed. */
static void
append_share (GString *out, const Set *set, const CalSlow *slow)
{
  static const struct {
    double share;
    const char *words;
  } shares[] = { { 0.5, "half" }, { 0.25, "a quarter" }, { 0.125, "an eighth" } };
  static const double LIKE = 0.06, HARDLY = 0.02;
  double share = slow->value / slow->healthy;
  if (set->part < CAL_PART_NIC || set->part > CAL_PART_NIC_RECEIVES)
    return;
  if (share < HARDLY)
    g_string_append (out, " It carries next to nothing: is the link up (ibstat: State), and are packets lost (perfquery -x)?");
  for (gsize i = 0; i < G_N_ELEMENTS (shares); i++)
    if (fabs (share / shares[i].share - 1) < LIKE)
      g_string_append_printf (out,
                              " That is %s of the rate: the port (ibstat: Rate) or its PCIe link (LnkSta: Width, Speed) may have "
                              "come up with %s of its lanes or speed.",
                              shares[i].words, shares[i].words);
}

static char *
sentence_of (const Judge *judge, const Set *set, const CalSlow *slow)
{
  gboolean latency = judge->in->latency;
  g_autofree char *value = value_text (latency, slow->value), *healthy = value_text (latency, slow->healthy);
  const char *does = parts[set->part].does, *before = set->part == CAL_PART_RAIL   ? "rail "
                                                      : set->part >= CAL_PART_PATH ? "the path between "
                                                                                   : "";
  GString *out = g_string_new (NULL);
  if (set->part == CAL_PART_PATH_ONE_WAY)
    before = "the path from ";
  static const char *const takes[CAL_PART_N] = { [CAL_PART_NODE_SENDS] = "takes, sending,",
                                                 [CAL_PART_NODE_RECEIVES] = "takes, receiving,",
                                                 [CAL_PART_NIC_SENDS] = "takes, sending,",
                                                 [CAL_PART_NIC_RECEIVES] = "takes, receiving," };
  if (latency)
    does = takes[set->part] != NULL ? takes[set->part] : "takes";
  g_string_append_printf (out, "%s%s %s %s where ", before, set->name, does, value);
  if (set->part == CAL_PART_RAIL)
    g_string_append (out, "the other rails");
  else if (set->part >= CAL_PART_PATH)
    g_string_append (out, "other paths");
  else if (slow->n_partners > 1)
    g_string_append_printf (out, "its %u partners", slow->n_partners);
  else
    g_string_append (out, "others");
  g_string_append_printf (out, " %s %s: check %s.", latency ? "take" : "reach", healthy, parts[set->part].check);
  if (!latency)
    append_share (out, set, slow);
  if (slow->others != NULL)
    g_string_append_printf (out, " These rows do not distinguish it from %s: measure each with another partner.", slow->others);
  return g_string_free (out, FALSE);
}

static double
speed_of (const CalPairRows *in, guint i)
{
  return in->latency ? 1 / in->row[i].value : in->row[i].value;
}

static void
add_slow (Judge *judge, const Split *split)
{
  const Set *set = named (judge, split->set);
  guint n = set->rows->len;
  for (guint i = 0; i < n; i++)
    judge->scratch[i] = speed_of (judge->in, g_array_index (set->rows, guint, i));
  double speed = base_median (judge->scratch, n), healthy = speed * exp (split->drop);
  gboolean latency = judge->in->latency;
  CalSlow slow = { .part = set->part,
                   .name = g_strdup (set->name),
                   .others = others_of (judge, set),
                   .value = latency ? 1 / speed : speed,
                   .healthy = latency ? 1 / healthy : healthy,
                   .lost = 1 - exp (-split->drop),
                   .n_rows = n,
                   .n_partners = partners_of (judge, set) };
  slow.sentence = sentence_of (judge, set, &slow);
  g_array_append_val (judge->found, slow);
  for (guint i = 0; i < n; i++)
    judge->level[g_array_index (set->rows, guint, i)] += split->drop;
}

/* Pairs of unlike NICs go over more switches than pairs of one rail: each kind about its own median. */
static void
level_kinds (Judge *judge)
{
  double middle[2];
  for (guint kind = 0; kind < 2; kind++) {
    guint n = 0;
    for (guint i = 0; i < judge->in->n; i++)
      if (g_str_equal (judge->in->row[i].from_nic, judge->in->row[i].to_nic) == (kind == 0))
        judge->scratch[n++] = judge->level[i];
    middle[kind] = base_median (judge->scratch, n);
  }
  for (guint i = 0; !isnan (middle[0]) && !isnan (middle[1]) && i < judge->in->n; i++)
    if (!g_str_equal (judge->in->row[i].from_nic, judge->in->row[i].to_nic))
      judge->level[i] += middle[0] - middle[1];
}

GArray *
cal_pairs_judge (const CalPairRows *rows, double *typical, double *spread)
{
  Judge judge = { .in = rows };
  judge.level = g_new (double, MAX (rows->n, 1));
  judge.scratch = g_new (double, MAX (rows->n, 1));
  judge.found = g_array_new (FALSE, FALSE, sizeof (CalSlow));
  g_array_set_clear_func (judge.found, cal_slow_clear);
  for (guint i = 0; i < rows->n; i++)
    judge.level[i] = log (speed_of (rows, i));
  make_sets (&judge);
  level_kinds (&judge);
  Split split;
  while (judge.found->len < MOST_PARTS && best_split (&judge, &split))
    add_slow (&judge, &split);
  double all = median_of (&judge, NULL, NULL, FALSE);
  if (typical != NULL)
    *typical = rows->latency ? exp (-all) : exp (all);
  for (guint i = 0; i < rows->n; i++)
    judge.scratch[i] = fabs (judge.level[i] - all);
  if (spread != NULL)
    *spread = base_quantile (judge.scratch, rows->n, 0.9);
  g_ptr_array_unref (judge.sets);
  g_free (judge.level);
  g_free (judge.scratch);
  return judge.found;
}
