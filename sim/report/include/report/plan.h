/* A plan's answer: what to take, what comes next, and why the rest fell out. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include <json-glib/json-glib.h>

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

G_END_DECLS

#endif
