/* A child process that answers lines: started from this very program, with more in its environment, killed where it hangs. */
#ifndef FORERUN_PROBE_CHILD_H
#define FORERUN_PROBE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the child reads requests and writes answers; its standard streams are the parent's. */
#define PROBE_CHILD_REQUESTS 3
#define PROBE_CHILD_ANSWERS  4

typedef struct {
  pid_t pid; /* 0: none */
  int to, from;
  char *buffer; /* what was read and not yet returned */
  size_t length;
} ProbeChild;

typedef enum { PROBE_CHILD_LINE, PROBE_CHILD_ENDED, PROBE_CHILD_SILENT, PROBE_CHILD_STOPPED } ProbeChildState;

/* `argv` as execv takes it; `settings`: NAME=VALUE, or NAME alone to take it away, ends with NULL. False: why in errno. */
bool probe_child_start (ProbeChild *child, char *const argv[], const char *const settings[]);
/* One line; its end is added. False: the child is gone. */
bool probe_child_request (ProbeChild *child, const char *line);
/* The next line without its end, "." (a sign of life) passed over. SILENT: nothing at all came for `patience_s`. STOPPED: `stopped`
 * (a function, may be NULL) said so. */
ProbeChildState probe_child_answer (ProbeChild *child, double patience_s, bool (*stopped) (void), char *out, size_t size);
/* The same without patience: what is there after waiting so long for anything at all; SILENT: no line yet, `*heard`: a sign of
 * life. */
ProbeChildState probe_child_step (ProbeChild *child, int wait_ms, bool *heard, char *out, size_t size);
/* Lets it end by itself for `patience_s` seconds, then kills it. 0 < signal: killed; else its exit status. */
int probe_child_end (ProbeChild *child, double patience_s);

#ifdef __cplusplus
}
#endif
#endif
