/* What vLLM's log says of its engine, as keys of a scenario. */
#ifndef SERVING_VLLM_LOG_H
#define SERVING_VLLM_LOG_H

#include <glib.h>

/* YAML with the keys `engine` (version, options, kv_blocks) and `parallel` of a serving workload, from the log of vLLM's start.
 * `text` is `n` bytes. NULL and *error (BASE_ERROR_INPUT, path:line) where it has no size of the KV cache or a value that is not a
 * number. Returned: full. */
char *srv_import_vllm_log (const char *path, const char *text, gsize n, GError **error);

#endif
