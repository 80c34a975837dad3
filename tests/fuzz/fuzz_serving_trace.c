/* Any bytes as a trace of requests. What is read keeps the promises of its header: lengths within limits, times that do not go
 * back, hashes of full blocks; what is refused has one positioned line. */
#include "load-private.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_error (const GError *error)
{
  if (error == NULL)
    return;
  g_assert_true (g_error_matches (error, BASE_ERROR, (int)BASE_ERROR_INPUT));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_true (g_str_has_prefix (error->message, "fuzz:"));
}

static void
read_as (SrvTraceFormat format, const char *bytes, gsize n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) hashes = g_array_new (FALSE, FALSE, sizeof (guint64));
  BaseStream *stream = base_stream_of_bytes ("fuzz", bytes, n, 65536);
  g_autoptr (SrvTrace) trace = srv_trace_new (stream, format, &error);
  check_error (error);
  g_assert_true ((trace == NULL) == (error != NULL));
  SrvTraceRow row;
  double last_s = 0;
  while (trace != NULL && error == NULL && srv_trace_next (trace, &row, hashes, &error)) {
    g_assert_true (row.input >= 1 && row.output >= 1 && row.input <= SRV_TOKENS_MOST && row.output <= SRV_TOKENS_MOST);
    g_assert_true (isfinite (row.time_s) && row.time_s >= last_s);
    g_assert_true (hashes->len * srv_trace_hash_tokens (trace) <= row.input);
    last_s = row.time_s;
  }
  check_error (error);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  /* Of its exact size, so that the sanitizer sees a step beyond. */
  g_autofree char *bytes = g_malloc (MAX (size, 1));
  memcpy (bytes, data, size);
  for (SrvTraceFormat format = SRV_TRACE_AUTO; format <= SRV_TRACE_CSV; format++)
    read_as (format, bytes, size);
  return 0;
}
