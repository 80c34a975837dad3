#include "plan-private.h"
#include "scenario/loaded.h"

ScnResult *
pln_run (const Pln *plan, const PlnChoiceRow *row, gboolean want_spans, Scn **scenario, GError **error)
{
  *scenario = pln_scenario (plan, &g_array_index (plan->machines, PlnMachine, row->machine), &row->query, error);
  if (*scenario == NULL)
    return NULL;
  (*scenario)->training.want_terms = TRUE;
  return scn_run (*scenario, want_spans, error);
}
