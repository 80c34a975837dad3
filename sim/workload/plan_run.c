#include "plan-private.h"
#include "scenario-private.h"

WrkResult *
wrk_plan_run (const WrkPlan *plan, const WrkChoiceRow *row, gboolean want_spans, WrkScenario **scenario, GError **error)
{
  *scenario = wrk_plan_scenario (plan, &g_array_index (plan->machines, WrkMachine, row->machine), &row->ask, error);
  if (*scenario == NULL)
    return NULL;
  (*scenario)->training.want_terms = TRUE;
  return wrk_scenario_run (*scenario, want_spans, error);
}
