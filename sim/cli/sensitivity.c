/* --sensitivity: which constants an answer hangs on. A first run writes down all numbers that it reads. Those that could matter
 * are changed together, in groups that are halved until what moves the answer stands alone: an answer that stays the same to the
 * last bit hangs on none of a group. What is left is changed by itself, to both sides. */
#include "sensitivity-private.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

#define CHANGED_BY 0.2

const BaseName cli_hangs_names[] = { { "assumed", CLI_HANGS_ASSUMED, "constants that are assumed" },
                                     { "datasheet", CLI_HANGS_DATASHEET, "those of data sheets too" },
                                     { NULL, 0, NULL } };

/* One run with some constants changed. */
typedef struct {
  const Cli *cli;
  const char *name;
  const CliScenarioFlags *flags;
  const GPtrArray *constants; /* BaseWatched * */
  guint from, n;              /* which of them */
  double factor;
  double answer_s; /* NAN: it could not run */
} Trial;

static double
answer_of (const WrkResult *result)
{
  double all_s = result->jobs == NULL ? wrk_result_time_s (result) : 0;
  for (guint i = 0; result->jobs != NULL && i < result->jobs->len; i++)
    all_s = MAX (all_s, ((const WrkJobResult *)result->jobs->pdata[i])->time_s);
  return all_s;
}

/* The same question as `cli` was asked, with a watch on what it reads. FALSE: it cannot run so. */
static gboolean
run_watched (const Cli *cli, const char *name, const CliScenarioFlags *flags, BaseWatch *watch, double *answer_s, GError **error)
{
  g_autoptr (Cli) own = cli_new (cli->verb, (int)g_strv_length (cli->command), cli->command);
  own->sets = g_strdupv (cli->sets);
  own->seed_text = g_strdup (cli->seed_text);
  own->seed = cli->seed;
  g_auto (CliScenarioRun) run = { 0 };
  if (!cli_lookup (own, error))
    return FALSE;
  base_lookup_set_watch (own->lookup, watch);
  if (!cli_scenario_run (own, name, flags, &run, error))
    return FALSE;
  *answer_s = answer_of (run.result);
  return TRUE;
}

static void
try_one (void *item)
{
  Trial *trial = item;
  g_autoptr (BaseWatch) watch = base_watch_new ();
  g_autoptr (GError) error = NULL;
  for (guint i = trial->from; i < trial->from + trial->n; i++)
    base_watch_change (watch, ((const BaseWatched *)trial->constants->pdata[i])->place, trial->factor);
  if (!run_watched (trial->cli, trial->name, trial->flags, watch, &trial->answer_s, &error))
    trial->answer_s = (double)NAN;
}

static void
try_all (GArray *trials)
{
  base_parallel_each (trials->data, trials->len, sizeof (Trial), 0, try_one);
}

/* Whether a number is one that a buyer could be wrong about: no count, nothing of the question itself, unless it says that it is
 * assumed. */
static gboolean
could_matter (const BaseWatched *one, CliHangs upto, const char *question)
{
  gboolean own = g_strcmp0 (one->file, question) == 0;
  return one->dim != BASE_DIM_COUNT && one->v != 0.0 &&
         (one->source == BASE_SOURCE_ASSUMED || (upto == CLI_HANGS_DATASHEET && one->source == BASE_SOURCE_DATASHEET && !own));
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *)a, y = *(const guint *)b;
  return x < y ? -1 : x > y;
}

/* Constants, by number, on which the answer hangs: with less of what does not bind it may, and with more of what does it may not.
 * Returned: guint, some twice, ascending, full. */
static GArray *
find_those (const Trial *like, double by, double answer_s, guint *n_runs)
{
  g_autoptr (GArray) trials = g_array_new (FALSE, FALSE, sizeof (Trial));
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
  Trial sides[2] = { *like, *like };
  sides[0].factor = 1 - by;
  sides[1].factor = 1 + by;
  if (like->n > 0)
    g_array_append_vals (trials, sides, 2);
  while (trials->len > 0) {
    try_all (trials);
    *n_runs += trials->len;
    GArray *next = g_array_new (FALSE, FALSE, sizeof (Trial));
    for (guint i = 0; i < trials->len; i++) {
      const Trial *trial = &g_array_index (trials, Trial, i);
      gboolean same = !(trial->answer_s > answer_s || trial->answer_s < answer_s || isnan (trial->answer_s));
      if (same)
        continue;
      if (trial->n == 1) {
        g_array_append_val (found, trial->from);
        continue;
      }
      Trial halves[2] = { *trial, *trial };
      halves[0].n = trial->n / 2;
      halves[1].from += halves[0].n;
      halves[1].n -= halves[0].n;
      g_array_append_vals (next, halves, 2);
    }
    g_array_unref (trials);
    trials = next;
  }
  g_array_sort (found, compare_numbers);
  return g_steal_pointer (&found);
}

/* "topologies/links/ib_ndr.yaml: latency". Returned: full. */
static char *
name_of (const BaseWatched *one, const char *root)
{
  if (one->file == NULL)
    return g_strdup_printf ("default of %s", one->place);
  size_t n = strlen (root);
  const char *file = strncmp (one->file, root, n) == 0 && one->file[n] == '/' ? one->file + n + 1 : one->file;
  return g_strdup_printf ("%s: %s", file, one->key);
}

static void
move_each (const Cli *cli, const Trial *like, GArray *found, RepSensitivity *out)
{
  g_autoptr (GArray) trials = g_array_new (FALSE, FALSE, sizeof (Trial));
  for (guint i = found->len; i-- > 1;)
    if (g_array_index (found, guint, i) == g_array_index (found, guint, i - 1))
      g_array_remove_index (found, i);
  for (guint i = 0; i < found->len; i++)
    for (int side = 0; side < 2; side++) {
      Trial trial = *like;
      trial.from = g_array_index (found, guint, i);
      trial.n = 1;
      trial.factor = side == 0 ? 1 - out->by : 1 + out->by;
      g_array_append_val (trials, trial);
    }
  try_all (trials);
  out->n_runs += trials->len;
  for (guint i = 0; i < found->len; i++) {
    const BaseWatched *one = like->constants->pdata[g_array_index (found, guint, i)];
    const Trial *sides = &g_array_index (trials, Trial, 2 * i);
    if (isnan (sides[0].answer_s) && isnan (sides[1].answer_s))
      continue; /* a count that is written as a number: a fifth of it means nothing */
    RepHang hang = { .name = name_of (one, base_lookup_root (cli->lookup)),
                     .value = base_quantity_format (one->v, one->dim, 5),
                     .note = g_strdup (one->note),
                     .line = one->line,
                     .source = one->source,
                     .less_s = sides[0].answer_s,
                     .more_s = sides[1].answer_s };
    g_array_append_val (out->hangs, hang);
  }
  rep_sensitivity_sort (out);
}

RepSensitivity *
cli_sensitivity (Cli *cli, const char *name, const CliScenarioFlags *flags, CliHangs upto, const CliScenarioRun *run,
                 GError **error)
{
  g_autoptr (BaseWatch) watch = base_watch_new ();
  g_autoptr (GPtrArray) constants = g_ptr_array_new ();
  CliScenarioFlags bare = *flags;
  bare.want_spans = bare.want_terms = FALSE;
  double answer_s = 0;
  if (!run_watched (cli, name, &bare, watch, &answer_s, error))
    return NULL;
  const GPtrArray *seen = base_watch_seen (watch);
  for (guint i = 0; i < seen->len; i++)
    if (could_matter (seen->pdata[i], upto, run->path))
      g_ptr_array_add (constants, seen->pdata[i]);
  g_autoptr (RepSensitivity) out = rep_sensitivity_new (answer_s, CHANGED_BY);
  out->n_tried = constants->len;
  const Trial like = { .cli = cli, .name = name, .flags = &bare, .constants = constants, .n = constants->len };
  g_autoptr (GArray) found = find_those (&like, CHANGED_BY, answer_s, &out->n_runs);
  move_each (cli, &like, found, out);
  return g_steal_pointer (&out);
}

void
cli_sensitivity_picture (GPtrArray *pictures, const RepSensitivity *sensitivity, const char *scenario)
{
  if (sensitivity->hangs->len == 0)
    return;
  GString *tsv = g_string_new (NULL);
  rep_sensitivity_tsv (sensitivity, tsv);
  g_autofree char *title = g_strdup_printf ("%s: what the answer hangs on", scenario);
  cli_pictures_add (pictures, "tornado", "tornado.gp", "How the answer changes with each constant alone.", title, tsv,
                    g_strdup_printf ("; by=%d", (int)lround (sensitivity->by * 100)));
}
