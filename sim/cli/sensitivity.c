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
  const CliHangsAsk *ask;
  const GPtrArray *constants; /* BaseWatched * */
  guint from, n;              /* which of them */
  double factor;
  gboolean whole;
  CliHangsAnswer answer;
} Trial;

static void
trial_clear (gpointer data)
{
  Trial *trial = data;
  g_clear_pointer (&trial->answer.values, g_array_unref);
  g_clear_pointer (&trial->answer.first, g_free);
}

static GArray *
trials_new (void)
{
  GArray *trials = g_array_new (FALSE, FALSE, sizeof (Trial));
  g_array_set_clear_func (trials, trial_clear);
  return trials;
}

/* Asks, with a watch on what is read. FALSE: it cannot run so. */
static gboolean
ask_watched (const CliHangsAsk *ask, gboolean whole, BaseWatch *watch, CliHangsAnswer *answer, GError **error)
{
  answer->values = g_array_new (FALSE, FALSE, sizeof (double));
  if (ask->again (ask->question, whole, watch, answer, error))
    return TRUE;
  g_clear_pointer (&answer->values, g_array_unref);
  g_clear_pointer (&answer->first, g_free);
  return FALSE;
}

static void
try_one (void *item)
{
  Trial *trial = item;
  g_autoptr (BaseWatch) watch = base_watch_new ();
  for (guint i = trial->from; i < trial->from + trial->n; i++)
    base_watch_change (watch, ((const BaseWatched *)trial->constants->pdata[i])->place, trial->factor);
  if (!ask_watched (trial->ask, trial->whole, watch, &trial->answer, NULL))
    trial->answer.values = NULL;
}

static void
try_all (GArray *trials)
{
  base_parallel_each (trials->data, trials->len, sizeof (Trial), 0, try_one);
}

/* To the last bit. */
static gboolean
is_same (const CliHangsAnswer *a, const CliHangsAnswer *b)
{
  return a->values != NULL && a->values->len == b->values->len &&
         memcmp (a->values->data, b->values->data, a->values->len * sizeof (double)) == 0 && g_strcmp0 (a->first, b->first) == 0;
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
find_those (const Trial *like, double by, const CliHangsAnswer *answer, guint *n_runs)
{
  g_autoptr (GArray) trials = trials_new ();
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
  Trial sides[2] = { *like, *like };
  sides[0].factor = 1 - by;
  sides[1].factor = 1 + by;
  if (like->n > 0)
    g_array_append_vals (trials, sides, 2);
  while (trials->len > 0) {
    try_all (trials);
    *n_runs += trials->len;
    GArray *next = trials_new ();
    for (guint i = 0; i < trials->len; i++) {
      const Trial *trial = &g_array_index (trials, Trial, i);
      if (is_same (&trial->answer, answer))
        continue;
      if (trial->n == 1) {
        g_array_append_val (found, trial->from);
        continue;
      }
      Trial halves[2] = { *trial, *trial };
      halves[0].answer = halves[1].answer = (CliHangsAnswer){ NULL, NULL };
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

static double
value_of (const CliHangsAnswer *answer)
{
  return answer->values != NULL && answer->values->len > 0 ? g_array_index (answer->values, double, 0) : (double)NAN;
}

/* Where another one comes first then, a search among a few said so: asks over everything. */
static void
confirm (GArray *trials, const CliHangsAnswer *answer, guint *n_runs)
{
  g_autoptr (GArray) again = trials_new ();
  g_autoptr (GArray) at = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < trials->len; i++) {
    Trial trial = g_array_index (trials, Trial, i);
    if (trial.answer.values == NULL || g_strcmp0 (trial.answer.first, answer->first) == 0)
      continue;
    trial.answer = (CliHangsAnswer){ NULL, NULL };
    trial.whole = TRUE;
    g_array_append_val (again, trial);
    g_array_append_val (at, i);
  }
  try_all (again);
  *n_runs += again->len;
  for (guint i = 0; i < again->len; i++) {
    Trial *to = &g_array_index (trials, Trial, g_array_index (at, guint, i)), *from = &g_array_index (again, Trial, i);
    CliHangsAnswer swap = to->answer;
    to->answer = from->answer;
    from->answer = swap;
  }
}

static void
add_hang (const Cli *cli, const Trial sides[2], const CliHangsAnswer *answer, RepSensitivity *out)
{
  const BaseWatched *one = sides[0].constants->pdata[sides[0].from];
  double base = value_of (answer), less = value_of (&sides[0].answer), more = value_of (&sides[1].answer);
  gboolean ran[] = { sides[0].answer.values != NULL, sides[1].answer.values != NULL };
  gboolean other[] = { ran[0] && g_strcmp0 (sides[0].answer.first, answer->first) != 0,
                       ran[1] && g_strcmp0 (sides[1].answer.first, answer->first) != 0 };
  if (!ran[0] && !ran[1])
    return; /* a count that is written as a number: a fifth of it means nothing */
  if (!other[0] && !other[1] && !(less > base || less < base) && !(more > base || more < base))
    return; /* it moves others than the first */
  RepHang hang = { .name = name_of (one, base_lookup_root (cli->lookup)),
                   .value = base_quantity_format (one->v, one->dim, 5),
                   .note = g_strdup (one->note),
                   .line = one->line,
                   .source = one->source,
                   .less_first = other[0] ? g_strdup (sides[0].answer.first) : NULL,
                   .more_first = other[1] ? g_strdup (sides[1].answer.first) : NULL,
                   .less_s = less,
                   .more_s = more };
  g_array_append_val (out->hangs, hang);
}

static void
move_each (const Cli *cli, const Trial *like, GArray *found, const CliHangsAnswer *answer, RepSensitivity *out)
{
  g_autoptr (GArray) trials = trials_new ();
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
  if (answer->first != NULL)
    confirm (trials, answer, &out->n_runs);
  for (guint i = 0; i < found->len; i++)
    add_hang (cli, &g_array_index (trials, Trial, 2 * i), answer, out);
  rep_sensitivity_sort (out);
}

RepSensitivity *
cli_sensitivity_of (const Cli *cli, const CliHangsAsk *ask, CliHangs upto, const char *path, GError **error)
{
  g_autoptr (BaseWatch) watch = base_watch_new ();
  g_autoptr (GPtrArray) constants = g_ptr_array_new ();
  Trial first = { .answer = { NULL, NULL } };
  if (!ask_watched (ask, FALSE, watch, &first.answer, error))
    return NULL;
  const GPtrArray *seen = base_watch_seen (watch);
  for (guint i = 0; i < seen->len; i++)
    if (could_matter (seen->pdata[i], upto, path))
      g_ptr_array_add (constants, seen->pdata[i]);
  g_autoptr (RepSensitivity) out = rep_sensitivity_new (value_of (&first.answer), CHANGED_BY);
  out->n_tried = constants->len;
  out->first = g_strdup (first.answer.first);
  const Trial like = { .ask = ask, .constants = constants, .n = constants->len };
  g_autoptr (GArray) found = find_those (&like, CHANGED_BY, &first.answer, &out->n_runs);
  move_each (cli, &like, found, &first.answer, out);
  trial_clear (&first);
  return g_steal_pointer (&out);
}

Cli *
cli_sensitivity_cli (const Cli *cli, BaseWatch *watch, GError **error)
{
  g_autoptr (Cli) own = cli_new (cli->verb, (int)g_strv_length (cli->command), cli->command);
  own->sets = g_strdupv (cli->sets);
  own->seed_text = g_strdup (cli->seed_text);
  own->seed = cli->seed;
  if (!cli_lookup (own, error))
    return NULL;
  base_lookup_set_watch (own->lookup, watch);
  return g_steal_pointer (&own);
}

/* ---- of a scenario ---- */

typedef struct {
  const Cli *cli;
  const char *name;
  const CliScenarioFlags *flags;
} Scenario;

static double
time_of (const ScnResult *result)
{
  double all_s = result->jobs == NULL ? scn_result_time_s (result) : 0;
  for (guint i = 0; result->jobs != NULL && i < result->jobs->len; i++)
    all_s = MAX (all_s, ((const ScnJobResult *)result->jobs->pdata[i])->time_s);
  return all_s;
}

/* The same question as the command line asked. */
static gboolean
run_again (const void *question, gboolean whole, BaseWatch *watch, CliHangsAnswer *answer, GError **error)
{
  (void)whole;
  const Scenario *scenario = question;
  g_autoptr (Cli) own = cli_sensitivity_cli (scenario->cli, watch, error);
  g_auto (CliScenarioRun) run = { 0 };
  if (own == NULL || !cli_scenario_run (own, scenario->name, scenario->flags, &run, error))
    return FALSE;
  double time_s = time_of (run.result);
  g_array_append_val (answer->values, time_s);
  return TRUE;
}

RepSensitivity *
cli_sensitivity (Cli *cli, const char *name, const CliScenarioFlags *flags, CliHangs upto, const CliScenarioRun *run,
                 GError **error)
{
  CliScenarioFlags bare = *flags;
  bare.want_spans = bare.want_terms = FALSE;
  const Scenario scenario = { cli, name, &bare };
  const CliHangsAsk ask = { run_again, &scenario };
  return cli_sensitivity_of (cli, &ask, upto, run->path, error);
}
