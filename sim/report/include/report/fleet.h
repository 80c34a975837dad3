/* The answer of a plan for a service: the recommended fleet, the next ones, and how it is started. */
#ifndef REPORT_FLEET_H
#define REPORT_FLEET_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "calibrate/serving.h"
#include "plan/fleet.h"

/* The same in terms of money, of pln_fleet_money(). */
typedef struct {
  const Pln *plan;
  const PlnResult *result;
  const GArray *capacity; /* PlnFleetCapacity; NULL: of no row */
} RepFleetMoney;

/* The answer in sentences, the first `most` rows, what topologies miss, and commands that start the recommended one. */
void rep_fleet_text (const PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, guint most, GString *out);
/* The answer in sentences. Of a result with a row. Returned: full, char *. */
GPtrArray *rep_fleet_sentences (const PlnFleet *fleet, const PlnFleetResult *result);
/* "6x TP8", "3x TP4 : 5x TP8". Returned: full. */
char *rep_fleet_replicas (const PlnFleetRow *row);
/* "2 prefill replicas": those of a pool. Returned: full. */
char *rep_fleet_pool (const PlnFleetRow *row, guint pool);
/* "hgx_b200, 6x TP8": what tells a row from others. Returned: full. */
char *rep_fleet_choice (const PlnFleet *fleet, const PlnFleetRow *row);
/* What topologies without a row miss. Returned: full, char *. */
GPtrArray *rep_fleet_misses (const PlnFleet *fleet, const PlnFleetResult *result);
/* The '#' lines of context. */
void rep_fleet_header (const PlnFleet *fleet, const PlnFleetResult *result, GString *out);
/* Members of `results`, into the open object. */
void rep_fleet_json (const PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, guint most,
                     JsonBuilder *json);
/* The ranked rows, at most `most`. Returned: full. */
BaseTable *rep_fleet_table (const PlnFleet *fleet, const PlnFleetResult *result, guint most);
/* "no option keeps the promises: …", with the nearest; full. NULL where some do. */
char *rep_fleet_infeasible (const PlnFleet *fleet, const PlnFleetResult *result);

/* What the recommended option becomes for more and fewer requests. Returned: full. */
BaseTable *rep_fleet_capacity (const PlnFleet *fleet, const GArray *capacity);
/* The workbook, as rep_plan_workbook(). NULL and *error. Returned: full. */
GString *rep_fleet_workbook (PlnFleet *fleet, const PlnFleetResult *result, guint most, const char *header, GError **error);
/* Fronts of the cluster options: throughput of a GPU against tokens/s of a user, and cost against TTFT and TPOT, with the rows that
 * the engine played. `measured` (may be NULL): CalServingSpot, of which those of the plan's model, GPUs and about its lengths are
 * drawn; *n_drawn: how many. Of a result with a row. */
void rep_fleet_plots (PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, const GArray *measured,
                      GPtrArray *plots, guint *n_drawn);

#endif
