/* A plan's search: closed form over everything that divides, then the engine on the best few (simulate.c) and what can be told
 * apart of what is left (distinguish.c). Who does it: work.c. */
#include <math.h>

#include "work-private.h"

/* What all pieces came to, in their order. */
static void
gather (const PlnWork *work, PlnResult *out)
{
  memcpy (out->out, work->out, sizeof out->out);
  for (guint i = 0; i < work->pieces->len; i++) {
    const PlnPiece *piece = &g_array_index (work->pieces, PlnPiece, i);
    out->n_asked += piece->n_cuts;
    if (piece->rows != NULL)
      g_array_append_vals (out->rows, piece->rows, (guint)piece->count.n_rows);
    for (int o = 0; o < PLN_REJECTED_N; o++) {
      if (piece->count.out[o] > 0)
        out->over[o] = out->out[o] == 0 ? piece->count.over[o] : fmin (out->over[o], piece->count.over[o]);
      out->out[o] += piece->count.out[o];
    }
  }
  for (int o = 0; o < PLN_REJECTED_N; o++)
    out->n_asked += work->out[o];
  g_array_sort_with_data (out->rows, pln_compare, work->plan); /* stable: equal ones stay in order */
  g_array_unref (pln_mark_front (work->plan, out->rows, FALSE));
  out->n_met = out->rows->len;
}

PlnResult *
pln_work_search (PlnWork *work, const PlnQuery *query, GError **error)
{
  if (!pln_work_estimate (work, error))
    return NULL;
  if (pln_work_n_open (work) > 0) {
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "%u of %u pieces of the plan are not done", pln_work_n_open (work),
                 pln_work_n_pieces (work));
    return NULL;
  }
  PlnResult *out = pln_result_new ();
  out->per_machine = query->per_machine;
  out->steps = g_steal_pointer (&work->steps);
  gather (work, out);
  if (pln_second_stage (work, query, out, error) && (query->only_rank || pln_distinguish (work->plan, out, error))) {
    if (!query->only_rank)
      pln_find_nearest (work->plan, work->workers.workers != NULL ? 1 : work->workers.threads, out);
    return out;
  }
  pln_result_free (out);
  return NULL;
}

PlnResult *
pln_search (Pln *plan, const PlnQuery *query, GError **error)
{
  const PlnWorkers workers = { .threads = query->threads };
  g_autoptr (PlnWork) work = pln_work_new (plan, &workers, error);
  return work != NULL ? pln_work_search (work, query, error) : NULL;
}

PlnResult *
pln_result_new (void)
{
  PlnResult *out = g_new0 (PlnResult, 1);
  out->rows = g_array_new (FALSE, FALSE, sizeof (PlnChoiceRow));
  out->misses = g_array_new (FALSE, FALSE, sizeof (PlnNearest));
  out->rivals = g_array_new (FALSE, FALSE, sizeof (PlnAlternative));
  return out;
}

void
pln_result_free (PlnResult *result)
{
  if (result == NULL)
    return;
  g_array_unref (result->misses);
  g_array_unref (result->rivals);
  g_array_unref (result->rows);
  g_clear_pointer (&result->steps, g_ptr_array_unref);
  g_free (result);
}
