/* The trace of one run through failures: a lane of what it did, one of what went wrong. */
#include "run-private.h"

static void
append_lane (GString *out, unsigned tid, const char *name)
{
  g_string_append_printf (out, ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}", tid,
                          name);
}

static void
append_slice (const GdpSpan *span, GString *out)
{
  g_string_append (out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"name\":");
  rep_trace_string (span->what, out);
  rep_trace_span (span->start_s, span->end_s, out);
  g_string_append_printf (out, ",\"args\":{\"checkpoints\":%.0f", span->checkpoints);
  if (span->cause != NULL) {
    g_string_append (out, ",\"cause\":");
    rep_trace_string (span->cause, out);
  }
  g_string_append (out, "}}");
}

/* From what is first lost to it until the job trains again. */
static void
append_failure (const GdpSpan *first, double end_s, GString *out)
{
  g_string_append (out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":2,\"name\":");
  rep_trace_string (first->cause, out);
  rep_trace_span (first->start_s, end_s, out);
  g_string_append (out, "}");
}

void
rep_days_trace_json (const GArray *timeline, const Gdp *goodput, const RepTraceInfo *info, GString *out)
{
  const GdpSpan *open = NULL;
  double replicas = goodput->elastic.replicas;
  rep_trace_open ("ms", info, out);
  g_string_append (out, "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"one run through failures\"}}");
  append_lane (out, 1, "job");
  append_lane (out, 2, "failures");
  for (guint i = 0; i < timeline->len; i++) {
    const GdpSpan *span = &g_array_index (timeline, GdpSpan, i);
    const gboolean trains = g_str_equal (span->what, "train");
    append_slice (span, out);
    if (open != NULL && (trains || span->cause != open->cause)) {
      append_failure (open, span->start_s, out);
      open = NULL;
    }
    if (open == NULL && !trains && span->cause != NULL)
      open = span;
    const double left = span->replicas > 0 ? span->replicas : goodput->elastic.replicas;
    if (left < replicas || left > replicas || (i == 0 && left > 0)) {
      g_string_append (out, ",\n{\"ph\":\"C\",\"pid\":0,\"name\":\"replicas\"");
      rep_trace_at (span->start_s, out);
      g_string_append_printf (out, ",\"args\":{\"replicas\":%.0f}}", left);
      replicas = left;
    }
  }
  if (open != NULL)
    append_failure (open, g_array_index (timeline, GdpSpan, timeline->len - 1).end_s, out);
  g_string_append (out, "\n]}\n");
}
