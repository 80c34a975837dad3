/* The answer of a plan for a service: the recommended fleet, the next ones, and how it is started. */
#ifndef REPORT_FLEET_H
#define REPORT_FLEET_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "plan/fleet.h"

/* The answer in sentences, the first `most` rows, what topologies miss, and commands that start the recommended one. */
void rep_fleet_text (const PlnFleet *fleet, const PlnFleetResult *result, guint most, GString *out);
/* The '#' lines of context. */
void rep_fleet_header (const PlnFleet *fleet, const PlnFleetResult *result, GString *out);
/* Members of `results`, into the open object. */
void rep_fleet_json (const PlnFleet *fleet, const PlnFleetResult *result, guint most, JsonBuilder *json);
/* The ranked rows, at most `most`. Returned: full. */
BaseTable *rep_fleet_table (const PlnFleet *fleet, const PlnFleetResult *result, guint most);
/* "no option keeps the promises: …", with the nearest; full. NULL where some do. */
char *rep_fleet_infeasible (const PlnFleet *fleet, const PlnFleetResult *result);

#endif
