/* A plan's answer: the recommended option, the next ones, and why the rest was rejected. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "plan/plan.h"

/* The '#' lines of context: what was searched and rejected, by which prices and failures. */
void rep_plan_header (const Pln *plan, const PlnResult *result, GString *out);
/* The answer in sentences, the first `most` rows, and the other cluster options; without the context. */
void rep_plan_text (const Pln *plan, const PlnResult *result, guint most, GString *out);
/* Members of `results`, into the open object. */
void rep_plan_json (const Pln *plan, const PlnResult *result, guint most, JsonBuilder *json);
/* "no configuration meets the constraints: …", with the one that most fell at and by how much; full. NULL where some meet them. */
char *rep_plan_infeasible (const PlnResult *result);

/* "32 x hgx_h100 (400 Gb/s), TP8 PP4 DP8, …": what tells a row from others that are no twins. Returned: full. */
char *rep_plan_choice (const Pln *plan, const PlnChoiceRow *row);
/* The ranked rows, at most `most`. Returned: full. */
BaseTable *rep_plan_table (const Pln *plan, const PlnResult *result, guint most);
/* The answer in sentences: what to take; for each choice what other values are worth, and whether the errors tell them apart; the
 * smallest machine; rent or buy. Returned: full, g_strfreev; empty where nothing meets the goal. */
char **rep_plan_verdict (const Pln *plan, const PlnResult *result);
/* How long the first row's machine works until it has cost as much as renting it; NAN where it has not both prices. */
double rep_plan_break_even_s (const Pln *plan, const PlnResult *result);
/* The best of each machine but the first row's, nearest first, at most `most`: what it takes more, and how sure that is. Returned:
 * full; without rows where there is one machine, or a front. */
BaseTable *rep_plan_rivals (const Pln *plan, const PlnResult *result, guint most);
/* The figures of the plan's prices, with source and note. Returned: full; NULL where it has none. */
BaseTable *rep_plan_prices (const Pln *plan);
/* Whether there is time and cost to draw: a run with tokens, and a row with a price; before the search, a cluster with one. */
gboolean rep_plan_may_have_plots (const Pln *plan);
gboolean rep_plan_has_plots (const Pln *plan, const PlnResult *result);
/* RepPictures (report/plots.h) of the best of each machine: with the front, by time; and what they cost, by part. */
void rep_plan_plots (const Pln *plan, const PlnResult *result, GPtrArray *plots);

#endif
