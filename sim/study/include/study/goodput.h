/* Goodput of a scenario whose slow parts are simulated first. */
#ifndef STUDY_GOODPUT_H
#define STUDY_GOODPUT_H

#include "goodput/goodput.h"
#include "study/question.h"

/* What failures leave of `scenario`, which came to `result`. Each slow part is simulated by a run of `question`; NULL: none is, and
 * all keep what the scenario gives. Returned: full, free before the scenario; NULL and *error on failure. */
Gdp *std_goodput (const StdQuestion *question, const Scn *scenario, const ScnResult *result, GError **error);
/* That checkpoints on the nodes' own drives go with their node, where some do. Returned: full; NULL: nothing to warn about. */
char *std_goodput_warning (const Gdp *goodput);

#endif
