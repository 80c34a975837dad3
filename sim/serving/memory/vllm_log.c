/* vLLM's log at its start: versions 0.9 and later write `GPU KV cache size: N tokens`, earlier ones `# GPU blocks: N`. Sources:
 * vllm/v1/core/kv_cache_utils.py, vllm/v1/worker/gpu_worker.py and vllm/v1/engine/core.py of v0.11. */
#include "serving/vllm_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BLOCK 16.0 /* tokens, vLLM's default; the log has the size only where it was changed */

typedef struct {
  char *version;
  double tokens, blocks, block, batched, seqs, max_len, graphs, tp, pp, weights_GiB, kv_GiB, graphs_GiB;
  int prefix, chunked; /* -1: not said */
} Log;

typedef struct {
  const char *path;
  guint line;
} Place;

/* The number behind `key` in the line, with commas between thousands, into *out. FALSE and *error: there is none. Lines without the
 * key change nothing. */
static gboolean
number (const Place *place, const char *line, const char *key, double *out, GError **error)
{
  const char *at = strstr (line, key);
  char digits[64];
  guint n = 0;
  if (at == NULL)
    return TRUE;
  for (at += strlen (key); *at != '\0' && n + 1 < sizeof digits; at++)
    if (g_ascii_isdigit (*at) || (*at == '.' && g_ascii_isdigit (at[1])))
      digits[n++] = *at;
    else if (*at != ',' || !g_ascii_isdigit (at[1]))
      break;
  digits[n] = '\0';
  const double value = n > 0 ? g_ascii_strtod (digits, NULL) : 0;
  if (value > 0 && value < 1e15) {
    *out = value;
    return TRUE;
  }
  if (strncmp (at, "None", 4) == 0)
    return TRUE;
  g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
               "%s:%u: '%s' is not followed by a number above 0; give the log as vLLM wrote it", place->path, place->line, key);
  return FALSE;
}

static void
flag (const char *line, const char *key, int *out)
{
  const char *at = strstr (line, key);
  if (at == NULL)
    return;
  at += strlen (key);
  *out = strncmp (at, "True", 4) == 0 ? 1 : strncmp (at, "False", 5) == 0 ? 0 : *out;
}

static void
take_version (const char *line, const char *key, Log *log)
{
  const char *at = strstr (line, key);
  if (at == NULL || log->version != NULL)
    return;
  at += strlen (key);
  const gsize n = strspn (at, "0123456789.");
  if (n > 0 && n < 32)
    log->version = g_strndup (at, n - (at[n - 1] == '.' ? 1 : 0));
}

/* The largest of `"cudagraph_capture_sizes":[512,504,…]`, in whatever order. */
static void
take_graphs (const char *line, Log *log)
{
  const char *at = strstr (line, "cudagraph_capture_sizes");
  const char *open = at != NULL ? strchr (at, '[') : NULL;
  while (open != NULL && *open != ']' && *open != '\0') {
    char *end = NULL;
    const double size = g_ascii_strtod (open + 1, &end);
    log->graphs = MAX (log->graphs, size);
    open = end > open + 1 ? strpbrk (end, ",]") : NULL;
  }
}

static gboolean
take_line (const Place *place, const char *line, Log *log, GError **error)
{
  const struct {
    const char *key;
    double *out;
  } numbers[] = {
    { "GPU KV cache size: ", &log->tokens },
    { "# GPU blocks: ", &log->blocks },
    { "max_num_batched_tokens=", &log->batched },
    { "'max_num_batched_tokens': ", &log->batched },
    { "'max_num_seqs': ", &log->seqs },
    { "'block_size': ", &log->block },
    { "max_seq_len=", &log->max_len },
    { " tensor_parallel_size=", &log->tp },
    { " pipeline_parallel_size=", &log->pp },
    { "Model loading took ", &log->weights_GiB },
    { "Available KV cache memory: ", &log->kv_GiB },
    { " secs, took ", &log->graphs_GiB },
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!number (place, line, numbers[i].key, numbers[i].out, error))
      return FALSE;
  take_version (line, "API server version ", log);
  take_version (line, "LLM engine (v", log);
  flag (line, "enable_prefix_caching=", &log->prefix);
  flag (line, "chunked_prefill_enabled=", &log->chunked);
  take_graphs (line, log);
  return TRUE;
}

static void
write_count (GString *out, const char *key, double value)
{
  if (value > 0)
    g_string_append_printf (out, "  %s: %.0f\n", key, value);
}

static char *
yaml_of (const Log *log)
{
  GString *out = g_string_new ("# from the log of vLLM: keys of a serving workload\n");
  const double block = log->block > 0 ? log->block : BLOCK;
  if (log->weights_GiB > 0)
    g_string_append_printf (out, "# weights of a GPU: %.4g GiB\n", log->weights_GiB);
  if (log->kv_GiB > 0)
    g_string_append_printf (out, "# memory for the KV cache of a GPU: %.4g GiB\n", log->kv_GiB);
  if (log->graphs_GiB > 0)
    g_string_append_printf (out, "# CUDA graphs: %.4g GiB\n", log->graphs_GiB);
  g_string_append (out, "engine:\n  name: vllm\n");
  if (log->version != NULL)
    g_string_append_printf (out, "  version: \"%s\"\n", log->version);
  write_count (out, "max_num_seqs", log->seqs);
  write_count (out, "max_num_batched_tokens", log->batched);
  write_count (out, "max_model_len", log->max_len);
  write_count (out, "cuda_graphs", log->graphs);
  if (log->chunked >= 0)
    g_string_append_printf (out, "  chunked: %s\n", log->chunked ? "yes" : "no");
  if (log->prefix >= 0)
    g_string_append_printf (out, "  prefix_cache: %s\n", log->prefix ? "yes" : "no");
  write_count (out, "block", block);
  write_count (out, "kv_blocks", log->blocks > 0 ? log->blocks : (double)(guint64)(log->tokens / block));
  g_string_append_printf (out, "parallel: {tp: %.0f, pp: %.0f}\n", MAX (log->tp, 1), MAX (log->pp, 1));
  return g_string_free (out, FALSE);
}

char *
srv_import_vllm_log (const char *path, const char *text, gsize n, GError **error)
{
  Log log = { .prefix = -1, .chunked = -1 };
  Place place = { .path = path };
  gboolean good = TRUE;
  for (const char *at = text, *end = text + n; good && at < end;) {
    const char *stop = memchr (at, '\n', (gsize)(end - at));
    const gsize length = (gsize)((stop != NULL ? stop : end) - at);
    g_autofree char *line = g_strndup (at, length);
    place.line++;
    good = take_line (&place, line, &log, error);
    at += length + 1;
  }
  if (good && !(log.tokens > 0) && !(log.blocks > 0)) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
                 "%s:%u: no line has 'GPU KV cache size: N tokens' or '# GPU blocks: N'; give the log from the start of vLLM", path,
                 MAX (place.line, 1));
    good = FALSE;
  }
  char *yaml = good ? yaml_of (&log) : NULL;
  g_free (log.version);
  return yaml;
}
