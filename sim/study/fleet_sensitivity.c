/* The sensitivity of a plan for a service: asked again, in closed form, with other constants. */
#include <math.h>

#include "study/sensitivity.h"
#include "unchanged-private.h"

/* A topology that is worse than the recommended one by this factor is not asked again: a constant that is a fifth less or more
 * moves a ratio of two by a quarter, where it is in one of them in full. */
#define NEAR 1.5

typedef struct {
  const StdFleetQuestion *query;
  const gboolean *far; /* by topology */
  guint n;
  const StdUnchanged *known;
} Question;

/* What a row costs (USD a million tokens), or has of GPUs, where neither replicas nor nodes are whole: whole ones hide what moves.
 * */
static double
value_of (const PlnFleet *fleet, const PlnFleetRow *row)
{
  return pln_fleet_aim (fleet) == PLN_FLEET_GPUS ? row->need_gpus : row->usd_per_Mtok * row->need_gpus / row->gpus;
}

static gboolean
ask_again (const void *data, StdReach reach, BaseWatch *watch, StdAnswer *answer, GError **error)
{
  const Question *search = data;
  const StdFleetQuestion *question = search->query;
  g_autoptr (BaseLookup) lookup = base_lookup_new (base_lookup_root (question->lookup));
  base_lookup_set_watch (lookup, watch);
  /* the first run changes nothing, and is to see all that is read */
  g_auto (StdLoader) constants = { .store = { .lookup = lookup },
                                   .unchanged = base_watch_changes_seen (watch, NULL) ? search->known : NULL,
                                   .watch = watch };
  g_autoptr (PlnFleet) fleet = pln_fleet_load (question->path, lookup, &question->options, std_load_changed, &constants, error);
  for (guint i = 0; fleet != NULL && reach == STD_REACH_NEAR && i < search->n; i++)
    if (search->far[i])
      pln_fleet_leave_out (fleet, i);
  g_autoptr (PlnFleetResult) result = fleet != NULL ? pln_fleet_search (fleet, 0, FALSE, error) : NULL;
  if (result == NULL)
    return FALSE;
  const PlnFleetRow *first = NULL;
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    if (isfinite (value_of (fleet, row)) && (first == NULL || value_of (fleet, row) < value_of (fleet, first)))
      first = row;
  }
  const double value = first != NULL ? value_of (fleet, first) : (double)NAN;
  g_array_append_val (answer->values, value);
  answer->option = first != NULL ? first->machine : G_MAXUINT;
  answer->first = first != NULL ? question->name (fleet, first) : g_strdup ("none meets the constraints");
  return TRUE;
}

StdSensitivity *
std_sensitivity_fleet (const StdFleetQuestion *question, const PlnFleet *fleet, const PlnFleetResult *result, StdScope scope,
                       GError **error)
{
  const guint n = pln_fleet_n_topologies (fleet);
  g_autofree double *best = g_new (double, n);
  g_autofree gboolean *far = g_new0 (gboolean, n);
  double least = (double)INFINITY;
  for (guint i = 0; i < n; i++)
    best[i] = (double)INFINITY;
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    const double value = value_of (fleet, row);
    if (value < best[row->machine])
      best[row->machine] = value;
    least = value < least ? value : least;
  }
  for (guint i = 0; i < n; i++)
    far[i] = best[i] > NEAR * least;
  g_auto (StdUnchanged) known;
  std_unchanged_open (&known, question->lookup);
  g_autoptr (BaseLookup) lookup = base_lookup_new (base_lookup_root (question->lookup));
  g_auto (StdLoader) once = { .store = { .lookup = lookup }, .known = &known };
  g_autoptr (PlnFleet) again = pln_fleet_load (question->path, lookup, &question->options, std_load_and_know, &once, error);
  if (again == NULL)
    return NULL;
  const Question search = { question, far, n, &known };
  const StdQuery query = { ask_again, &search, question->path, base_lookup_root (question->lookup) };
  return std_sensitivity (&query, scope, error);
}
