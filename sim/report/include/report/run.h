/* What a scenario came to: one object per kind of workload. */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

#include <json-glib/json-glib.h>

#include "base/member.h"
#include "goodput/goodput.h"
#include "scenario/scenario.h"
#include "training/trace.h"

/* The answer in a few sentences, each on a line of its own; nothing for a kind without sentences. */
void rep_run_answer (const ScnResult *result, GString *out);
void rep_run_text (const ScnResult *result, GString *out);              /* details, which do not repeat the answer */
BaseTable *rep_run_table (const ScnResult *result);                     /* one row; of several jobs one each. Returned: full */
void rep_run_json (const ScnResult *result, JsonBuilder *json);         /* one object; what was not computed is null */
void rep_run_json_members (const ScnResult *result, JsonBuilder *json); /* the same into an open object */

/* What a training step of a model is made of (result->training.terms): tables, or "terms" and "sums" into the open object. */
void rep_step_terms_text (const TrnResult *training, GString *out);
BaseTable *rep_step_terms_table (const TrnResult *training); /* returned: full */
void rep_step_terms_json (const TrnResult *training, JsonBuilder *json);

/* Which framework's efficiency was taken: a phrase without its share (full), and a sentence with it. */
char *rep_efficiency_row (const TrnEfficiency *efficiency);
void rep_efficiency_text (const TrnEfficiency *efficiency, double step_time_s, GString *out);

/* What failures leave of it over days: tables for people; one row, units in the header; "goodput", "time_to_train_s", "failures",
 * "checkpoint" … into the open object. */
void rep_goodput_answer (const Gdp *goodput, GString *out); /* a sentence */
void rep_goodput_text (const Gdp *goodput, GString *out);
BaseTable *rep_goodput_table (const Gdp *goodput); /* returned: full */
/* Its closed form taken apart: rates with their sources, and the terms. */
void rep_goodput_terms_text (const Gdp *goodput, GString *out);
void rep_goodput_json (const Gdp *goodput, JsonBuilder *json);
extern const BaseMember rep_goodput_members[];
/* Its sensitivity (gdp_sensitivity, whose *time_s is the second argument), what moves the time most first: a table, returned
 * full; text; "goodput_sensitivity" into the open object; name, less, more for plots/tornado.gp. */
BaseTable *rep_goodput_sensitivity_table (const GArray *goodput_sensitivity, double time_s);
void rep_goodput_sensitivity_text (const GArray *goodput_sensitivity, double time_s, GString *out);
void rep_goodput_sensitivity_json (const GArray *goodput_sensitivity, double time_s, JsonBuilder *json);
void rep_goodput_sensitivity_tsv (const GArray *goodput_sensitivity, double time_s, GString *out);

/* What a trace says of its run (otherData). NULL: not said. */
typedef struct {
  const char *scenario, *version, *topology, *library;
  guint64 seed;
} RepTraceInfo;

/* Chrome's trace format (Trace Event Format, "X" complete events, microseconds): opens in Perfetto and chrome://tracing. Lanes
 * become threads in the order of their first span. */
void rep_trace_json (const GPtrArray *spans, const RepTraceInfo *info, GString *out);
/* The same of a training step of a model: a process a pipeline rank, a thread a stream, categories and colours by kind, arrows
 * ("s", "f") from a send to what waited for it, counters ("C") of links and of what is held, and a marker ("i") where micro-batches
 * are left out. `beside`: ColSpan of what the step has besides its operations; NULL: nothing. */
void rep_step_trace_json (const TrnTrace *trace, const GPtrArray *beside, const RepTraceInfo *info, GString *out);
/* Days of failures: GdpSpan of one run as slices of one lane, the failures that they are because of on another, and a counter of
 * the replicas that are left. A microsecond of the trace is one of the run. */
void rep_days_trace_json (const GArray *timeline, const Gdp *goodput, const RepTraceInfo *info, GString *out);

#endif
