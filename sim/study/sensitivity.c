/* Which constants an answer depends on. A first run writes down all numbers that it reads. Those that could matter are changed
 * together, in groups that are halved until what moves the answer stands alone: an answer that stays the same to the last bit
 * depends on none of a group. What is left is changed by itself, to both sides. Those that tell most, but for prices
 * (plan/flips.c), are then moved on until another option comes first, and the root is bisected. */
#include "study/sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/yaml.h"

#define CHANGED_BY 0.2
#define FURTHER    2.0
#define FURTHERS   3  /* up to eight times as much, down to an eighth */
#define HALVINGS   10 /* of a factor of two: to 0.07 % */

const BaseName std_scope_names[] = { { "assumed", STD_SCOPE_ASSUMED, "constants that are assumed" },
                                     { "datasheet", STD_SCOPE_DATASHEET, "those of data sheets too" },
                                     { NULL, 0, NULL } };

/* ---- the result ---- */

static void
effect_clear (gpointer data)
{
  StdEffect *effect = data;
  g_free (effect->name);
  g_free (effect->value);
  g_free (effect->note);
  g_free (effect->less_first);
  g_free (effect->more_first);
}

static void
limit_clear (gpointer data)
{
  StdLimit *limit = data;
  g_free (limit->name);
  g_free (limit->value);
  g_free (limit->limit);
  g_free (limit->then);
}

static StdSensitivity *
sensitivity_new (double answer_s)
{
  StdSensitivity *out = g_new (StdSensitivity, 1);
  *out = (StdSensitivity){ .answer_s = answer_s, .by = CHANGED_BY, .effects = g_array_new (FALSE, TRUE, sizeof (StdEffect)) };
  g_array_set_clear_func (out->effects, effect_clear);
  out->limits = g_array_new (FALSE, FALSE, sizeof (StdLimit));
  g_array_set_clear_func (out->limits, limit_clear);
  return out;
}

void
std_sensitivity_free (StdSensitivity *sensitivity)
{
  if (sensitivity == NULL)
    return;
  g_array_unref (sensitivity->effects);
  g_array_unref (sensitivity->limits);
  g_free (sensitivity->first);
  g_free (sensitivity->answer);
  g_free (sensitivity);
}

double
std_effect_reach (const StdEffect *effect, double answer_s)
{
  double less = isfinite (effect->less_s) ? fabs (effect->less_s - answer_s) : 0,
         more = isfinite (effect->more_s) ? fabs (effect->more_s - answer_s) : 0;
  return MAX (less, more);
}

gboolean
std_effect_changes_first (const StdEffect *effect)
{
  return effect->less_first != NULL || effect->more_first != NULL;
}

/* What changes what comes first before what moves it. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer user)
{
  const StdEffect *x = a, *y = b;
  const double answer_s = *(const double *)user, dx = std_effect_reach (x, answer_s), dy = std_effect_reach (y, answer_s);
  if (std_effect_changes_first (x) != std_effect_changes_first (y))
    return std_effect_changes_first (x) ? -1 : 1;
  if (dx > dy || dx < dy)
    return dx > dy ? -1 : 1;
  int names = strcmp (x->name, y->name);
  return names != 0 ? names : x->line < y->line ? -1 : x->line > y->line;
}

/* ---- the search ---- */

/* One run with some constants changed. */
typedef struct {
  const StdQuery *query;
  const GPtrArray *constants; /* BaseWatched * */
  guint from, n;              /* which of them */
  double factor;
  StdReach reach;
  StdAnswer answer;
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
ask_watched (const StdQuery *query, StdReach reach, BaseWatch *watch, StdAnswer *answer, GError **error)
{
  answer->values = g_array_new (FALSE, FALSE, sizeof (double));
  if (query->again (query->question, reach, watch, answer, error))
    return TRUE;
  g_clear_pointer (&answer->values, g_array_unref);
  g_clear_pointer (&answer->first, g_free);
  return FALSE;
}

/* Of constant i in a run that changes several: each by a little less than the factor of one alone, and no two alike, so that a
 * price and a utilisation do not cancel to the last bit. */
static double
factor_of (const Trial *trial, guint i)
{
  return trial->n == 1 ? trial->factor : 1 + (trial->factor - 1) * (1 - (double)(i * 37 % 101) * 1e-3);
}

static void
try_one (void *item)
{
  Trial *trial = item;
  g_autoptr (BaseWatch) watch = base_watch_new ();
  for (guint i = trial->from; i < trial->from + trial->n; i++)
    base_watch_change (watch, ((const BaseWatched *)trial->constants->pdata[i])->place, factor_of (trial, i));
  g_autoptr (GError) why_not = NULL; /* those who tell it better read it again */
  if (!ask_watched (trial->query, trial->reach, watch, &trial->answer, &why_not))
    trial->answer.values = NULL;
}

static void
try_all (GArray *trials)
{
  base_parallel_each (trials->data, trials->len, sizeof (Trial), 0, "runs with changed constants", try_one);
}

/* To the last bit. */
static gboolean
is_same (const StdAnswer *a, const StdAnswer *b)
{
  return a->values != NULL && a->values->len == b->values->len &&
         memcmp (a->values->data, b->values->data, a->values->len * sizeof (double)) == 0 && g_strcmp0 (a->first, b->first) == 0;
}

/* A framework's efficiency was fitted to other runs than this one: a user may be wrong about it, however it was measured. */
static gboolean
is_efficiency (const BaseWatched *one)
{
  return one->file != NULL && g_str_has_suffix (one->file, "/frameworks.yaml") && one->dim == BASE_DIM_RATIO &&
         (g_strcmp0 (one->key, "efficiency") == 0 || g_strcmp0 (one->key, "attention") == 0);
}

/* Whether a number is one that a buyer could be wrong about: no count, nothing of the question itself, unless it says that it is
 * assumed. */
static gboolean
could_matter (const BaseWatched *one, StdScope scope, const char *question)
{
  gboolean own = g_strcmp0 (one->file, question) == 0;
  return one->dim != BASE_DIM_COUNT && one->v != 0.0 &&
         (one->source == BASE_SOURCE_ASSUMED || is_efficiency (one) ||
          (scope == STD_SCOPE_DATASHEET && one->source == BASE_SOURCE_DATASHEET && !own));
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *)a, y = *(const guint *)b;
  return x < y ? -1 : x > y;
}

/* Constants, by number, on which the answer depends: with less of what does not bind it may, and with more of what does it may not.
 * `alone` takes the runs with one of them changed. Returned: guint, some twice, ascending, full. */
static GArray *
find_those (const Trial *like, double by, const StdAnswer *answer, GArray *alone, guint *n_runs)
{
  g_autoptr (GArray) trials = trials_new ();
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
  Trial sides[2] = { *like, *like };
  sides[0].factor = 1 - by;
  sides[1].factor = 1 + by;
  for (int side = 0; side < 2 && like->n > 1; side++) /* of several together: whether they matter */
    sides[side].answer.against = answer->values;
  if (like->n > 0)
    g_array_append_vals (trials, sides, 2);
  while (trials->len > 0) {
    try_all (trials);
    *n_runs += trials->len;
    GArray *next = trials_new ();
    for (guint i = 0; i < trials->len; i++) {
      Trial *trial = &g_array_index (trials, Trial, i);
      gboolean same = is_same (&trial->answer, answer);
      if (!same && trial->n == 1)
        g_array_append_val (found, trial->from);
      if (trial->n == 1) {
        g_array_append_vals (alone, trial, 1);
        trial->answer = (StdAnswer){ 0 };
      }
      if (same || trial->n == 1)
        continue;
      Trial halves[2] = { *trial, *trial };
      halves[0].n = trial->n / 2;
      halves[1].from += halves[0].n;
      halves[1].n -= halves[0].n;
      for (int half = 0; half < 2; half++)
        halves[half].answer = (StdAnswer){ .against = halves[half].n > 1 ? answer->values : NULL };
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
value_of (const StdAnswer *answer)
{
  return answer->values != NULL && answer->values->len > 0 ? g_array_index (answer->values, double, 0) : (double)NAN;
}

/* Where another one comes first then, a search among a few said so: asks over everything. */
static void
confirm (GArray *trials, const StdAnswer *answer, guint *n_runs)
{
  g_autoptr (GArray) again = trials_new ();
  g_autoptr (GArray) at = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < trials->len; i++) {
    Trial trial = g_array_index (trials, Trial, i);
    if (trial.answer.values == NULL || g_strcmp0 (trial.answer.first, answer->first) == 0)
      continue;
    trial.answer = (StdAnswer){ 0 };
    trial.reach = STD_REACH_ALL;
    g_array_append_val (again, trial);
    g_array_append_val (at, i);
  }
  try_all (again);
  *n_runs += again->len;
  for (guint i = 0; i < again->len; i++) {
    Trial *to = &g_array_index (trials, Trial, g_array_index (at, guint, i)), *from = &g_array_index (again, Trial, i);
    StdAnswer swap = to->answer;
    to->answer = from->answer;
    from->answer = swap;
  }
}

static void
add_effect (const Trial sides[2], const StdAnswer *answer, StdSensitivity *out)
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
  StdEffect effect = { .name = name_of (one, sides[0].query->root),
                       .value = base_quantity_format (one->v, one->dim, 5),
                       .note = g_strdup (one->note),
                       .line = one->line,
                       .constant = sides[0].from,
                       .source = one->source,
                       .less_first = other[0] ? g_strdup (sides[0].answer.first) : NULL,
                       .more_first = other[1] ? g_strdup (sides[1].answer.first) : NULL,
                       .less_s = less,
                       .more_s = more };
  g_array_append_val (out->effects, effect);
}

/* Runs those that were not run before; what was is taken from `alone`. */
static void
try_rest (GArray *trials, GArray *alone)
{
  g_autoptr (GArray) rest = trials_new ();
  g_autoptr (GArray) at = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < trials->len; i++) {
    Trial *trial = &g_array_index (trials, Trial, i), *known = NULL;
    for (guint k = 0; k < alone->len && known == NULL; k++) {
      Trial *one = &g_array_index (alone, Trial, k);
      known = one->from == trial->from && (one->factor < 1) == (trial->factor < 1) ? one : NULL;
    }
    if (known != NULL) {
      trial->answer = known->answer;
      known->answer = (StdAnswer){ 0 };
      continue;
    }
    g_array_append_vals (rest, trial, 1);
    g_array_append_val (at, i);
  }
  try_all (rest);
  for (guint i = 0; i < rest->len; i++) {
    Trial *from = &g_array_index (rest, Trial, i);
    g_array_index (trials, Trial, g_array_index (at, guint, i)).answer = from->answer;
    from->answer = (StdAnswer){ 0 };
  }
}

static void
move_each (const Trial *like, GArray *found, GArray *alone, const StdAnswer *answer, StdSensitivity *out)
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
  try_rest (trials, alone);
  out->n_runs += trials->len; /* that are compared, where some were run before too */
  if (answer->first != NULL)
    confirm (trials, answer, &out->n_runs);
  for (guint i = 0; i < found->len; i++)
    add_effect (&g_array_index (trials, Trial, 2 * i), answer, out);
  g_array_sort_with_data (out->effects, compare, &out->answer_s);
}

/* ---- where the order flips ---- */

/* One constant in one direction, between a factor with which the same option comes first and one with which another does. */
typedef struct {
  guint constant;
  double step, same, other; /* other 0: not found yet */
  gboolean over;            /* it cannot go further */
  char *then;               /* owned: what comes first with `other` */
} Way;

static gboolean
is_price (const BaseWatched *one)
{
  return one->dim == BASE_DIM_MONEY || one->dim == BASE_DIM_MONEY_PER_TIME || one->dim == BASE_DIM_MONEY_PER_ENERGY ||
         (one->file != NULL ? strstr (one->file, "/prices/") != NULL : g_str_has_prefix (one->place, "prices."));
}

/* The constants that tell most, both ways. */
static GArray *
ways_of (const Trial *like, StdSensitivity *out)
{
  GArray *ways = g_array_new (FALSE, FALSE, sizeof (Way));
  for (guint i = 0; i < out->effects->len && out->n_solved < STD_TELLING; i++) {
    const guint constant = g_array_index (out->effects, StdEffect, i).constant;
    if (is_price (like->constants->pdata[constant]))
      continue;
    out->n_solved++;
    for (int up = 0; up < 2; up++) {
      const Way way = { .constant = constant, .step = up == 1 ? FURTHER : 1 / FURTHER, .same = 1 };
      g_array_append_val (ways, way);
    }
  }
  return ways;
}

/* Once more for all that are open: further while no other option comes first, else between. */
static void
move_ways (const Trial *like, GArray *ways, const StdAnswer *answer, gboolean further, guint *n_runs)
{
  g_autoptr (GArray) trials = trials_new ();
  g_autoptr (GArray) at = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < ways->len; i++) {
    const Way *way = &g_array_index (ways, Way, i);
    if (way->over || (way->other > 0) == further)
      continue;
    Trial trial = *like;
    trial.from = way->constant;
    trial.n = 1;
    trial.reach = STD_REACH_FAR;
    trial.factor = further ? way->same * way->step : sqrt (way->same * way->other);
    g_array_append_val (trials, trial);
    g_array_append_val (at, i);
  }
  try_all (trials);
  *n_runs += trials->len;
  for (guint i = 0; i < trials->len; i++) {
    Trial *trial = &g_array_index (trials, Trial, i);
    Way *way = &g_array_index (ways, Way, g_array_index (at, guint, i));
    if (trial->answer.values == NULL)
      way->over = TRUE;
    else if (trial->answer.option == answer->option)
      way->same = trial->factor;
    else {
      way->other = trial->factor;
      g_free (way->then);
      way->then = g_steal_pointer (&trial->answer.first);
    }
  }
}

static gint
nearest_first (gconstpointer a, gconstpointer b)
{
  const StdLimit *x = a, *y = b;
  const double dx = fabs (log1p (x->change)), dy = fabs (log1p (y->change));
  int names = strcmp (x->name, y->name);
  return dx < dy ? -1 : dx > dy ? 1 : names != 0 ? names : x->line < y->line ? -1 : x->line > y->line;
}

static void
find_limits (const Trial *like, const StdAnswer *answer, StdSensitivity *out)
{
  g_autoptr (GArray) ways = ways_of (like, out);
  for (int i = 0; i < FURTHERS; i++)
    move_ways (like, ways, answer, TRUE, &out->n_runs);
  for (int i = 0; i < HALVINGS; i++)
    move_ways (like, ways, answer, FALSE, &out->n_runs);
  for (guint i = 0; i < ways->len; i++) {
    Way *way = &g_array_index (ways, Way, i);
    const BaseWatched *one = like->constants->pdata[way->constant];
    if (!(way->other > 0))
      continue;
    const StdLimit limit = { .name = name_of (one, like->query->root),
                             .value = base_quantity_format (one->v, one->dim, 3),
                             .limit = base_quantity_format (one->v * way->other, one->dim, 3),
                             .line = one->line,
                             .change = way->other - 1,
                             .then = way->then };
    g_array_append_val (out->limits, limit);
  }
  g_array_sort (out->limits, nearest_first);
}

static StdSensitivity *
find_all (const StdQuery *query, StdScope scope, GError **error)
{
  g_autoptr (BaseWatch) watch = base_watch_new ();
  g_autoptr (GPtrArray) constants = g_ptr_array_new ();
  Trial first = { .answer = { 0 } };
  if (!ask_watched (query, STD_REACH_FAR, watch, &first.answer, error))
    return NULL;
  const GPtrArray *seen = base_watch_seen (watch);
  for (guint i = 0; i < seen->len; i++)
    if (could_matter (seen->pdata[i], scope, query->path))
      g_ptr_array_add (constants, seen->pdata[i]);
  g_autoptr (StdSensitivity) out = sensitivity_new (value_of (&first.answer));
  out->n_tried = constants->len;
  out->first = g_strdup (first.answer.first);
  const Trial like = { .query = query, .constants = constants, .n = constants->len };
  g_autoptr (GArray) alone = trials_new ();
  g_autoptr (GArray) found = find_those (&like, CHANGED_BY, &first.answer, alone, &out->n_runs);
  move_each (&like, found, alone, &first.answer, out);
  if (first.answer.first != NULL && first.answer.option != G_MAXUINT)
    find_limits (&like, &first.answer, out);
  trial_clear (&first);
  return g_steal_pointer (&out);
}

StdSensitivity *
std_sensitivity (const StdQuery *query, StdScope scope, GError **error)
{
  base_yaml_keep ();
  StdSensitivity *out = find_all (query, scope, error);
  base_yaml_keep_no_more ();
  return out;
}

/* ---- of a scenario ---- */

static double
time_of (const ScnResult *result)
{
  double all_s = result->jobs == NULL ? scn_result_time_s (result) : 0;
  for (guint i = 0; result->jobs != NULL && i < result->jobs->len; i++)
    all_s = MAX (all_s, ((const ScnJobResult *)result->jobs->pdata[i])->time_s);
  return all_s;
}

typedef struct {
  StdQuestion question;
  const char *key; /* NULL: the time */
} Asked;

static double
value_at (const ScnResult *result, const char *key)
{
  BaseValue value = { 0 };
  const BaseMember *members = result->jobs == NULL ? scn_result_members (result) : NULL;
  const gboolean found = members != NULL && base_members_value (members, scn_result_own (result), key, &value);
  return found && value.kind != BASE_CELL_TEXT && value.known ? value.number : (double)NAN;
}

static gboolean
run_again (const void *data, StdReach reach, BaseWatch *watch, StdAnswer *answer, GError **error)
{
  const Asked *asked = data;
  (void)reach;
  g_auto (StdRun) run = { 0 };
  if (!std_question_run (&asked->question, NULL, watch, &run, error))
    return FALSE;
  const double value = asked->key != NULL ? value_at (run.result, asked->key) : time_of (run.result);
  g_array_append_val (answer->values, value);
  return TRUE;
}

/* Borrowed; NULL: the time. */
static const char *
asked_of (const ScnResult *result, const char *const *wanted)
{
  for (; wanted != NULL && *wanted != NULL; wanted++)
    if (value_at (result, *wanted) > 0)
      return *wanted;
  return result->jobs == NULL ? scn_result_asked (result) : NULL;
}

StdSensitivity *
std_sensitivity_scenario (const StdQuestion *question, const ScnResult *result, const char *const *wanted, StdScope scope,
                          GError **error)
{
  Asked asked = { *question, asked_of (result, wanted) };
  asked.question.options.want_terms = FALSE;
  const StdQuery query = { run_again, &asked, question->path, base_lookup_root (question->lookup) };
  StdSensitivity *out = std_sensitivity (&query, scope, error);
  if (out != NULL)
    out->answer = g_strdup (asked.key);
  return out;
}
