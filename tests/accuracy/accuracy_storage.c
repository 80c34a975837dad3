/* Storage against what was measured of single nodes (tests/data/storage): fitted on every second row of a group, scored on the
 * rest.
 *
 * Loaders: seconds that an emulated accelerator takes of a batch, one number of a model and accelerator, are the median of the
 * fitted rows; the held ones are scenarios with as many GPUs whose loader must not stall them. Blocks: rate and IOPS of a VM's
 * drives from its largest and its smallest sequential requests; held are other sizes and random ones. Files: IOPS and opens of
 * files from the largest and the smallest; held is the size between. Requests of whole machines (tests/data/storage/gds) and copies
 * of checkpoints: nothing is fitted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library_fixture.h"
#include "models/tier.h"
#include "scenario/loaded.h"

#define ROWS     TEST_SOURCE_DIR "/tests/data/storage/single_node/rows.csv"
#define MACHINES TEST_SOURCE_DIR "/tests/data/storage/gds"

enum { KIND, GROUP, SYSTEM, OP, ACCELERATORS, BLOCK, FILE_SIZE, SAMPLES, RATE, COLUMNS };

typedef struct {
  char **cell;
  double rate_Bps;
  gboolean fitted;
} Row;

static GPtrArray *rows; /* Row *, in the file's order */

static double
number (const Row *row, int column)
{
  return g_ascii_strtod (row->cell[column], NULL);
}

static void
row_free (gpointer data)
{
  Row *row = data;
  g_strfreev (row->cell);
  g_free (row);
}

/* A CSV file without quotes, its first line left out. Returned: full, Row *. */
static GPtrArray *
read_rows (const char *path, guint columns, int rate)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    g_error ("%s cannot be read", path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GPtrArray *out = g_ptr_array_new_with_free_func (row_free);
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
    Row *row = g_new0 (Row, 1);
    row->cell = g_strsplit (*line, ",", -1);
    if (g_strv_length (row->cell) != columns)
      g_error ("%s: '%s' has not %u cells", path, *line, columns);
    row->rate_Bps = number (row, rate) * 1e9;
    g_ptr_array_add (out, row);
  }
  return out;
}

/* Rows of one kind and group. Returned: full, rows borrowed. */
static GPtrArray *
group_of (const char *kind, const char *group)
{
  GPtrArray *out = g_ptr_array_new ();
  for (guint i = 0; i < rows->len; i++) {
    Row *row = rows->pdata[i];
    if (strcmp (row->cell[KIND], kind) == 0 && strcmp (row->cell[GROUP], group) == 0)
      g_ptr_array_add (out, row);
  }
  return out;
}

static int
by_value (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
median (GArray *values)
{
  g_array_sort (values, by_value);
  guint n = values->len;
  return n == 0 ? (double)NAN : (g_array_index (values, double, (n - 1) / 2) + g_array_index (values, double, n / 2)) / 2;
}

typedef void (*Score) (GPtrArray *group, GArray *errors);

/* Medians of the held rows' errors, all groups of a kind. */
static double
score_kind (const char *kind, Score score, guint *n)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < rows->len; i++) {
    Row *row = rows->pdata[i];
    if (strcmp (row->cell[KIND], kind) != 0 || !g_hash_table_add (seen, row->cell[GROUP]))
      continue;
    g_autoptr (GPtrArray) group = group_of (kind, row->cell[GROUP]);
    score (group, errors);
  }
  *n = errors->len;
  double mid = median (errors), worst = errors->len > 0 ? g_array_index (errors, double, errors->len - 1) : 0;
  printf ("%-8s %2u held rows: median %.1f %%, largest %.1f %%\n", kind, *n, mid * 100, worst * 100);
  return mid;
}

static void
add_error (GArray *errors, double predicted, const Row *row)
{
  double error = fabs (predicted / row->rate_Bps - 1);
  g_array_append_val (errors, error);
}

/* ---- loaders ---- */

static double
loader_Bps (const Row *row, double batch_s)
{
  double n = number (row, ACCELERATORS);
  g_autofree char *text = g_strdup_printf ("scenario: s\n"
                                           "cluster:\n"
                                           "  library: plain\n"
                                           "  topology:\n"
                                           "    topology: t\n"
                                           "    nodes: 1\n"
                                           "    node:\n"
                                           "      gpus: {type: {gpu: g, pcie: {class: pcie5}}, count: %.0f}\n"
                                           "      sockets: {count: 1}\n"
                                           "      nics: {type: cx7_ndr400, count: %.0f}\n"
                                           "    fabric: {kind: single_switch, leaf: {radix: 1024}}\n"
                                           "    storage: [{name: fs, tier: parallel_fs, per_server: 1 TB/s, network: fabric}]\n"
                                           "workload:\n"
                                           "  kind: training\n"
                                           "  layers: [{forward: %.9f s, backward: %.9f s}]\n"
                                           "  loader: {tier: fs, sample: %.0f B, samples: %.0f, workers: 4}\n",
                                           n, n, batch_s / 3, batch_s * 2 / 3, number (row, BLOCK), number (row, SAMPLES));
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  ScnOptions options = { 0 };
  g_autoptr (Scn) scenario = scn_load (TEST_SOURCE_DIR "/scenarios/s.yaml", text, lookup, &options, NULL, NULL, &error);
  g_autoptr (ScnResult) result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  const TrnResult *t = &result->training;
  return t->loader.readers * t->loader.batch_B / t->step_time_s;
}

static void
score_loaders (GPtrArray *group, GArray *errors)
{
  g_autoptr (GArray) batch_s = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < group->len; i += 2) {
    const Row *row = group->pdata[i];
    double one_s = number (row, ACCELERATORS) * number (row, SAMPLES) * number (row, BLOCK) / row->rate_Bps;
    g_array_append_val (batch_s, one_s);
  }
  double each_s = median (batch_s);
  for (guint i = 1; i < group->len; i += 2)
    add_error (errors, loader_Bps (group->pdata[i], each_s), group->pdata[i]);
}

/* ---- blocks and files ---- */

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

/* The sequential row with the most or least of a column. */
static Row *
extreme (GPtrArray *group, int column, gboolean most)
{
  Row *out = NULL;
  for (guint i = 0; i < group->len; i++) {
    Row *row = group->pdata[i];
    gboolean better =
        out == NULL || (most ? number (row, column) > number (out, column) : number (row, column) < number (out, column));
    if (strcmp (row->cell[SYSTEM], "random") != 0 && better)
      out = row;
  }
  out->fitted = TRUE;
  return out;
}

/* Seconds of the device for each: 1 / iops + block / rate, solved for the two. */
static void
score_blocks (GPtrArray *group, GArray *errors)
{
  Row *large = extreme (group, BLOCK, TRUE), *small = extreme (group, BLOCK, FALSE);
  double b1 = number (large, BLOCK), b2 = number (small, BLOCK), t1_s = b1 / large->rate_Bps, t2_s = b2 / small->rate_Bps;
  MdlStorage storage = { .blend = num (16) };
  MdlIoSide *side = &storage.op[MDL_IO_READ];
  double s_per_B = (t1_s - t2_s) / (b1 - b2);
  side->rate = num (1 / s_per_B);
  side->iops = num (1 / (t2_s - b2 * s_per_B));
  for (guint i = 0; i < group->len; i++) {
    const Row *row = group->pdata[i];
    MdlIoCost cost;
    mdl_storage_cost (
        &storage, &(MdlIoQuestion){ MDL_IO_READ, MDL_IO_HOST, strcmp (row->cell[SYSTEM], "random") == 0, number (row, BLOCK), 1e6 },
        &cost);
    if (!row->fitted)
      add_error (errors, cost.rate_Bps, row);
  }
}

/* Blocks of one size in files: 1 / iops + block / file / opens. */
static void
score_files (GPtrArray *group, GArray *errors)
{
  Row *large = extreme (group, FILE_SIZE, TRUE), *small = extreme (group, FILE_SIZE, FALSE);
  double block = number (large, BLOCK), t1_s = block / large->rate_Bps, t2_s = block / small->rate_Bps;
  double parts = block / number (small, FILE_SIZE) - block / number (large, FILE_SIZE),
         open_s = fmax ((t2_s - t1_s) / parts, 1e-12);
  MdlTier tier = { .servers = 1 };
  tier.type.blend = num (16);
  tier.type.side[MDL_IO_READ].iops = num (1 / (t1_s - block / number (large, FILE_SIZE) * open_s));
  tier.type.metadata = (MdlTierMetadata){ .servers = num (1), .rate = num (1 / open_s), .per_file = num (1) };
  for (guint i = 0; i < group->len; i++) {
    const Row *row = group->pdata[i];
    MdlTierCost cost;
    mdl_tier_cost (&tier,
                   &(MdlTierQuestion){
                       .op = MDL_IO_READ, .block_B = block, .in_flight = 1e6, .clients = 1, .file_B = number (row, FILE_SIZE) },
                   NULL, &cost);
    if (!row->fitted)
      add_error (errors, cost.all.rate_Bps, row);
  }
}

static void
single_nodes_are_within_ten_percent_of_the_median (void)
{
  guint n_loaders, n_blocks, n_files;
  double loaders = score_kind ("loader", score_loaders, &n_loaders), blocks = score_kind ("blocks", score_blocks, &n_blocks);
  double files = score_kind ("files", score_files, &n_files);
  TEST_TRUE (loaders <= 0.10 && blocks <= 0.10 && files <= 0.10);
  TEST_INT (n_loaders, 34);
  TEST_INT (n_blocks, 12);
  TEST_INT (n_files, 2);
}

/* ---- requests of machines that are described ---- */

enum { NAME, MACHINE, TIER, DIRECTION, IO, THREADS, DEPTH, CLIENTS, PATH, MEASURED, VERDICT, WHY, MACHINE_COLUMNS };

static double
machine_Bps (const Row *row)
{
  g_autofree char *text = g_strdup_printf (
      "scenario: s\n"
      "cluster: {topology: %s/%s.yaml}\n"
      "workload: {kind: io, op: %s, tier: %s, bytes: 1 TB, io_size: %s B, threads: %s, queue_depth: %s, clients: %s, path: %s}\n",
      MACHINES, row->cell[MACHINE], row->cell[DIRECTION], row->cell[TIER], row->cell[IO], row->cell[THREADS], row->cell[DEPTH],
      row->cell[CLIENTS], row->cell[PATH]);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Cst *cal = NULL;
  ScnOptions options = { 0 };
  Scn *scenario = scn_load (TEST_SOURCE_DIR "/scenarios/s.yaml", text, lookup, &options, model_library, &cal, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s: %s", row->cell[NAME], error->message);
  double rate_Bps = result->io.rate_Bps;
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
  return rate_Bps;
}

static void
machines_reach_what_was_published_of_them (void)
{
  g_autoptr (GPtrArray) asked = read_rows (MACHINES "/rows.csv", MACHINE_COLUMNS, MEASURED);
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  guint n_told = 0, n_left = 0;
  for (guint i = 0; i < asked->len; i++) {
    const Row *row = asked->pdata[i];
    const char *verdict = row->cell[VERDICT];
    /* what is not scored says why */
    TEST_TRUE (strcmp (verdict, "scored") == 0 || *row->cell[WHY] != '\0');
    n_told += strcmp (verdict, "told") == 0;
    n_left += strcmp (verdict, "left") == 0;
    printf ("%-32s %-6s measured %6.2f GB/s", row->cell[NAME], verdict, row->rate_Bps * 1e-9);
    double predicted_Bps = 0;
    if (strcmp (verdict, "left") != 0) {
      predicted_Bps = machine_Bps (row);
      printf (", predicted %6.2f (%+.1f %%)", predicted_Bps * 1e-9, (predicted_Bps / row->rate_Bps - 1) * 100);
    }
    printf ("%s%s\n", *row->cell[WHY] != '\0' ? ": " : "", row->cell[WHY]);
    if (strcmp (verdict, "scored") == 0)
      add_error (errors, predicted_Bps, row);
  }
  double mid = median (errors);
  printf ("machines %2u rows: median %.1f %%, largest %.1f %%\n", errors->len, mid * 100,
          g_array_index (errors, double, errors->len - 1) * 100);
  TEST_TRUE (mid <= 0.10);
  TEST_INT (errors->len, 8);
  TEST_INT (n_told, 2);
  TEST_INT (n_left, 4);
}

/* ---- copies of checkpoints ---- */

static TrnCheckpointResult
checkpoint (unsigned gpus, double rank_B, const char *memory)
{
  g_autofree char *text =
      g_strdup_printf ("scenario: s\n"
                       "cluster: {topology: h200x8_vm, gpus_per_node: %u}\n"
                       "workload:\n"
                       "  kind: training\n"
                       "  layers: [{forward: 80 ms, backward: 80 ms}]\n"
                       "  checkpoint: {every: 100, tier: fs, bytes: %.0f B, restore_bytes: %.0f B, memory: %s}\n",
                       gpus, rank_B * gpus, rank_B * gpus, memory);
  const char *const sets[] = { "topology.storage=[{name: fs, tier: nfs, per_server: 10 GB/s}]", "topology.frontend=800 Gb/s",
                               NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Cst *cal = NULL;
  ScnOptions options = { .sets = sets };
  Scn *scenario = scn_load (TEST_SOURCE_DIR "/scenarios/s.yaml", text, lookup, &options, model_library, &cal, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  TrnCheckpointResult out = result->training.checkpoint;
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
  return out;
}

/* tests/data/storage/h200x4_vm/checkpoints.jsonl */
static void
snapshots_and_restores_take_what_was_measured (void)
{
  static const struct {
    unsigned gpus;
    double rank_B;
    const char *memory;
    double snapshot_s, load_s; /* load_s 0: not measured */
  } measured[] = {
    { 4, 8386719744.0, "pinned", 0.2399, 0.2041 },
    { 4, 8386719744.0, "pageable", 0.5550, 0 },
    { 1, 23077502976.0, "pinned", 0.4190, 0.4172 },
    { 1, 23077502976.0, "pageable", 1.4540, 0 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (measured); i++) {
    const TrnCheckpointResult c = checkpoint (measured[i].gpus, measured[i].rank_B, measured[i].memory);
    printf ("%u GPUs %-8s snapshot %.4f s, measured %.4f; load %.4f s, measured %.4f\n", measured[i].gpus, measured[i].memory,
            c.snapshot_s, measured[i].snapshot_s, c.load_s, measured[i].load_s);
    TEST_NEAR (c.snapshot_s, measured[i].snapshot_s, 0.15);
    if (measured[i].load_s > 0)
      TEST_NEAR (c.load_s, measured[i].load_s, 0.15);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "single nodes are within ten per cent of the median", single_nodes_are_within_ten_percent_of_the_median },
    { "machines reach what was published of them", machines_reach_what_was_published_of_them },
    { "snapshots and restores take what was measured", snapshots_and_restores_take_what_was_measured },
    { NULL, NULL },
  };
  rows = read_rows (ROWS, COLUMNS, RATE);
  return test_main ("accuracy/storage", cases);
}
