/* Slow parts in rows between pairs: each planted fault is named, and healthy noise names none. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "calibrate/pairs.h"
#include "harness.h"

#define GBps 1e9

/* What is planted: `factor` on the rates of rows for which `hit` holds. */
typedef struct {
  guint node, nic, other;
  CalPart part;
  double factor;
} Fault;

typedef struct {
  guint nodes, nics;
  double noise;
  gboolean latency;
} Cluster;

static gboolean
hit (const Fault *fault, guint from, guint to, guint nic)
{
  gboolean sends = from == fault->node, receives = to == fault->node, rail = nic == fault->nic;
  gboolean there = sends && to == fault->other, back = receives && from == fault->other;
  switch (fault->part) {
    case CAL_PART_NODE:
      return sends || receives;
    case CAL_PART_NODE_SENDS:
      return sends;
    case CAL_PART_NODE_RECEIVES:
      return receives;
    case CAL_PART_NIC:
      return (sends || receives) && rail;
    case CAL_PART_NIC_SENDS:
      return sends && rail;
    case CAL_PART_NIC_RECEIVES:
      return receives && rail;
    case CAL_PART_RAIL:
      return rail;
    case CAL_PART_PATH:
      return (there || back) && rail;
    case CAL_PART_PATH_ONE_WAY:
      return there && rail;
    case CAL_PART_N:
      break;
  }
  return FALSE;
}

/* Every NIC to the same NIC of every other node. Returned: full. */
static GArray *
measure (const Cluster *cluster, const Fault *fault, guint64 seed, BaseArena *arena)
{
  BaseRandom random = base_random_stream (seed, "pairs");
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (CalPair));
  for (guint nic = 0; nic < cluster->nics; nic++)
    for (guint from = 0; from < cluster->nodes; from++)
      for (guint to = 0; to < cluster->nodes; to++) {
        if (from == to)
          continue;
        double speed =
            exp (cluster->noise * base_random_normal (&random)) * (fault != NULL && hit (fault, from, to, nic) ? fault->factor : 1);
        g_autofree char *a = g_strdup_printf ("node%u", from + 1), *b = g_strdup_printf ("node%u", to + 1);
        g_autofree char *n = g_strdup_printf ("mlx5_%u", nic);
        CalPair row = { base_arena_strdup (arena, a),
                        base_arena_strdup (arena, n),
                        base_arena_strdup (arena, b),
                        base_arena_strdup (arena, n),
                        1 << 20,
                        cluster->latency ? 2e-6 / speed : 48.6 * GBps * speed };
        g_array_append_val (rows, row);
      }
  return rows;
}

static GArray *
judge (const Cluster *cluster, const Fault *fault, guint64 seed)
{
  BaseArena *arena = base_arena_new ();
  g_autoptr (GArray) rows = measure (cluster, fault, seed, arena);
  const CalPairRows all = { (const CalPair *)(void *)rows->data, rows->len, cluster->latency, 1 << 20 };
  GArray *found = cal_pairs_judge (&all, NULL, NULL);
  base_arena_free (arena);
  return found;
}

static const Cluster clusters[] = {
  { 16, 8, 0.01, FALSE }, { 8, 4, 0.02, FALSE },  { 6, 2, 0.01, FALSE },
  { 4, 8, 0.02, FALSE },  { 16, 1, 0.02, FALSE }, { 8, 4, 0.03, TRUE },
};

static char *
expected (const Fault *fault, const Cluster *cluster)
{
  guint node = fault->node + 1, other = fault->other + 1, nic = fault->nic;
  if (fault->part <= CAL_PART_NODE_RECEIVES && cluster->nics > 1)
    return g_strdup_printf ("node%u", node);
  if (fault->part <= CAL_PART_NIC_RECEIVES)
    return g_strdup_printf ("node%u mlx5_%u", node, nic);
  if (fault->part == CAL_PART_RAIL)
    return g_strdup_printf ("mlx5_%u", nic);
  if (fault->part == CAL_PART_PATH_ONE_WAY)
    return g_strdup_printf ("node%u mlx5_%u to node%u mlx5_%u", node, nic, other, nic);
  g_autofree char *a = g_strdup_printf ("node%u mlx5_%u", node, nic), *b = g_strdup_printf ("node%u mlx5_%u", other, nic);
  return strcmp (a, b) < 0 ? g_strdup_printf ("%s and %s", a, b) : g_strdup_printf ("%s and %s", b, a);
}

/* Each part at each place. */
static void
every_single_fault_is_found (void)
{
  for (guint c = 0; c < G_N_ELEMENTS (clusters); c++)
    for (int part = 0; part < CAL_PART_N; part++)
      for (guint node = 0; node < clusters[c].nodes; node += clusters[c].nodes * clusters[c].nics > 100 ? 5 : 1) {
        const Cluster *cluster = &clusters[c];
        Fault fault = { node, node % cluster->nics, (node + 1) % cluster->nodes, (CalPart)part, 0.65 };
        if ((part == CAL_PART_RAIL && cluster->nics == 1) || (part <= CAL_PART_NODE_RECEIVES && cluster->nics == 1))
          continue;
        g_autoptr (GArray) found = judge (cluster, &fault, 1000 * c + 100 * (guint)part + node);
        g_autofree char *name = expected (&fault, cluster);
        const CalSlow *slow = found->len > 0 ? &g_array_index (found, CalSlow, 0) : NULL;
        TEST_INT (found->len, 1);
        if (slow == NULL)
          continue;
        TEST_STR (slow->name, name);
        TEST_INT ((int)slow->part, part);
        TEST_TRUE (fabs (slow->lost - 0.35) < 0.06);
      }
}

static void
healthy_noise_is_silent (void)
{
  guint alarms = 0, n = 0;
  for (guint c = 0; c < G_N_ELEMENTS (clusters); c++)
    for (double noise = 0.01; noise < 0.09; noise *= 2)
      for (guint64 seed = 0; seed < (clusters[c].nodes * clusters[c].nics > 100 ? 4 : 60); seed++, n++) {
        Cluster cluster = clusters[c];
        cluster.noise = noise;
        g_autoptr (GArray) found = judge (&cluster, NULL, seed);
        alarms += found->len > 0;
      }
  TEST_TRUE (alarms * 100 < n);
}

static void
several_faults_are_found_largest_first (void)
{
  const Cluster cluster = { 8, 4, 0.01, FALSE };
  const Fault rail = { 0, 2, 0, CAL_PART_RAIL, 0.8 }, nic = { 3, 1, 0, CAL_PART_NIC_SENDS, 0.5 };
  BaseArena *arena = base_arena_new ();
  g_autoptr (GArray) rows = measure (&cluster, &rail, 7, arena);
  for (guint i = 0; i < rows->len; i++) {
    CalPair *row = &g_array_index (rows, CalPair, i);
    if (strcmp (row->from, "node4") == 0 && strcmp (row->from_nic, "mlx5_1") == 0)
      row->value *= nic.factor;
  }
  const CalPairRows all = { (const CalPair *)(void *)rows->data, rows->len, FALSE, 1 << 20 };
  g_autoptr (GArray) found = cal_pairs_judge (&all, NULL, NULL);
  TEST_INT (found->len, 2);
  TEST_STR (g_array_index (found, CalSlow, 0).name, "mlx5_2");
  TEST_STR (g_array_index (found, CalSlow, found->len - 1).name, "node4 mlx5_1");
  base_arena_free (arena);
}

/* Two nodes alone: a slow NIC cannot be told from its partner's. */
static void
what_rows_cannot_distinguish_is_said (void)
{
  const Cluster cluster = { 2, 8, 0.01, FALSE };
  const Fault nic = { 0, 3, 1, CAL_PART_NIC, 0.6 };
  g_autoptr (GArray) found = judge (&cluster, &nic, 1);
  CU_ASSERT_EQUAL_FATAL (found->len, 1);
  const CalSlow *slow = &g_array_index (found, CalSlow, 0);
  TEST_STR (slow->name, "node1 mlx5_3");
  TEST_HAS (slow->others, "node2 mlx5_3");
  TEST_HAS (slow->others, "rail mlx5_3");
  TEST_HAS (slow->sentence, "measure each with another partner");
}

static void
the_sentence_names_part_figures_and_check (void)
{
  const Cluster cluster = { 16, 4, 0.002, FALSE };
  const Fault nic = { 15, 3, 1, CAL_PART_NIC_SENDS, 31.0 / 48.6 };
  g_autoptr (GArray) found = judge (&cluster, &nic, 1);
  CU_ASSERT_EQUAL_FATAL (found->len, 1);
  TEST_HAS (g_array_index (found, CalSlow, 0).sentence,
            "node16 mlx5_3 sends at 31 GB/s where its 15 partners reach 48.6 GB/s: check cable and port");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "every single slow part is found and named", every_single_fault_is_found },
    { "healthy noise names no part in 99 of 100 clusters", healthy_noise_is_silent },
    { "several slow parts are found, the one that explains most first", several_faults_are_found_largest_first },
    { "parts that the rows do not distinguish are named together", what_rows_cannot_distinguish_is_said },
    { "the sentence names part, figures and what to check", the_sentence_names_part_figures_and_check },
    { NULL, NULL },
  };
  return test_main ("slow parts in pairs", cases);
}
