/* What each change of a training scenario came to. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include <json-glib/json-glib.h>

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

/* Tables of a page; what cannot run is left out. */
void rep_advice_html (const GArray *advice, GString *html);

G_END_DECLS

#endif
