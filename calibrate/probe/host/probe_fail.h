/* Why something failed. A function that fails says so here and returns false; who reports the failure takes the reason. Each thread
 * has its own. */
#ifndef FORERUN_PROBE_FAIL_H
#define FORERUN_PROBE_FAIL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_REASON_MOST 2048

/* Returns false. The first reason stands until it is taken: what fails after it, while things are put away, follows from it. */
bool probe_fail (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
/* Takes the reason; never NULL. The text is valid until the thread takes another one. */
const char *probe_why (void);
/* Drops a reason that nobody took: what comes now is something else. */
void probe_forget (void);

#ifdef __cplusplus
}
#endif
#endif
