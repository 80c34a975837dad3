/* Advice (GArray of StdAdvice) in text, JSON and tables. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include "base/table.h"
#include "study/advise.h"

/* "advice": [{change, kind, set, step_time_s, gain, reason}] into the open object. */
void rep_advice_json (const GArray *advice, JsonBuilder *json);
/* A sentence: the best change that needs no other hardware. */
void rep_advice_answer (const GArray *advice, GString *out);
/* `all`: with what cannot run. */
void rep_advice_text (const GArray *advice, gboolean all, GString *out);

/* Those of a kind that can run, and what heads them. Returned: full. */
BaseTable *rep_advice_table (const GArray *advice, TrnChangeKind kind);
char *rep_advice_title (const GArray *advice, TrnChangeKind kind);

#endif
