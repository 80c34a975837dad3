/* A plan's answer: what to take, what comes next, and why the rest fell out. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "workload/plan.h"

G_BEGIN_DECLS

/* The first `most` rows, what they are worth beside each other, and the counts of what fell out. */
void rep_plan_text (const WrkPlan *plan, const WrkPlanResult *result, guint most, GString *out);
/* The first `most` rows as a table with a header of keys. */
void rep_plan_tsv (const WrkPlan *plan, const WrkPlanResult *result, guint most, GString *out);
/* Members of `results`, into the open object. */
void rep_plan_json (const WrkPlan *plan, const WrkPlanResult *result, guint most, JsonBuilder *json);
/* "no configuration meets the constraints: …", with the one that most fell at and by how much; full. NULL where some meet them. */
char *rep_plan_infeasible (const WrkPlanResult *result);

/* The ranked rows, at most `most`. Returned: full. */
BaseTable *rep_plan_table (const WrkPlan *plan, const WrkPlanResult *result, guint most);
/* The first row in a sentence; full. NULL where there is none. */
char *rep_plan_first (const WrkPlan *plan, const WrkPlanResult *result);
/* The figures of the plan's prices, with source and note. Returned: full; NULL where it has none. */
BaseTable *rep_plan_prices (const WrkPlan *plan);
/* Whether there is time and cost to draw: a run with tokens, and a row with a price. */
gboolean rep_plan_has_pictures (const WrkPlan *plan, const WrkPlanResult *result);
/* What plots/front.gp and plots/cost.gp read: the best of each machine, with the front, by time; and by part, as ranked. */
void rep_plan_front_tsv (const WrkPlan *plan, const WrkPlanResult *result, GString *out);
void rep_plan_cost_tsv (const WrkPlan *plan, const WrkPlanResult *result, GString *out);

G_END_DECLS

#endif
