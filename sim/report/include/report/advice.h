/* What each change of a training scenario came to. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "training/advice.h"

G_BEGIN_DECLS

typedef struct {
  const TrnChange *change;  /* borrowed */
  double step_time_s, gain; /* gain: tokens a second over those of before, less 1; NAN: it cannot run */
  char *reason;             /* owned: why it cannot; NULL: it can */
} RepAdvice;

/* Sorted by gain, those that cannot run last. Returned: full. */
GArray *rep_advice_new (void);
void rep_advice_sort (GArray *advice);
/* "advice": [{change, kind, set, step_time_s, gain, reason}] into the open object. */
void rep_advice_json (const GArray *advice, JsonBuilder *json);
/* `all`: with what cannot run. */
void rep_advice_text (const GArray *advice, gboolean all, GString *out);

/* Those of a kind that can run, and what heads them. Returned: full. */
BaseTable *rep_advice_table (const GArray *advice, TrnChangeKind kind);
extern const char *const rep_advice_titles[TRN_CHANGE_KINDS];

G_END_DECLS

#endif
