/* The trace of a model's step. */
#include "run-private.h"

/* Names that chrome://tracing has colours for; Perfetto makes its own from the slices' names. */
static const char *const colours[TRN_TRACE_KINDS] = {
  [TRN_TRACE_FORWARD] = "thread_state_running",
  [TRN_TRACE_BACKWARD] = "thread_state_runnable",
  [TRN_TRACE_RECOMPUTE] = "thread_state_sleeping",
  [TRN_TRACE_OPTIMIZER] = "good",
  [TRN_TRACE_COPY] = "generic_work",
  [TRN_TRACE_HOST] = "grey",
  [TRN_TRACE_TP] = "terrible",
  [TRN_TRACE_CP] = "rail_animation",
  [TRN_TRACE_EP] = "bad",
  [TRN_TRACE_DP] = "thread_state_iowait",
  [TRN_TRACE_SEND] = "yellow",
};

static void
append_number (GString *out, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (out, "%s\"%s\":%s", out->str[out->len - 1] == '{' ? "" : ",", key,
                          g_ascii_formatd (text, sizeof text, "%.9g", value));
}

static void
append_name (GString *out, guint process, gint thread, const char *what, const char *name, guint place)
{
  g_string_append_printf (out, "%s{\"ph\":\"M\",\"pid\":%u,", out->str[out->len - 1] == '}' ? ",\n" : "", process);
  if (thread >= 0)
    g_string_append_printf (out, "\"tid\":%d,", thread);
  g_string_append_printf (out, "\"name\":\"%s_name\",\"args\":{\"name\":", what);
  rep_trace_string (name, out);
  g_string_append_printf (out, "}},\n{\"ph\":\"M\",\"pid\":%u,", process);
  if (thread >= 0)
    g_string_append_printf (out, "\"tid\":%d,", thread);
  g_string_append_printf (out, "\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}}", what, place);
}

/* Processes, and the threads that have slices. */
static void
append_names (const TrnTrace *trace, GString *out)
{
  const GPtrArray *processes = trn_trace_processes (trace);
  const GArray *slices = trn_trace_slices (trace);
  guint threads = trn_trace_n_threads (trace);
  g_autofree gboolean *used = g_new0 (gboolean, (gsize)processes->len * threads);
  for (guint i = 0; i < slices->len; i++) {
    const TrnSlice *slice = &g_array_index (slices, TrnSlice, i);
    used[slice->process * threads + slice->thread] = TRUE;
  }
  for (guint p = 0; p < processes->len; p++) {
    append_name (out, p, -1, "process", processes->pdata[p], p);
    for (guint t = 0; t < threads; t++)
      if (used[p * threads + t])
        append_name (out, p, (gint)t, "thread", trn_trace_thread (trace, t), t);
  }
  append_name (out, processes->len, -1, "process", "links", processes->len);
}

static void
append_slice (const TrnTrace *trace, const TrnSlice *slice, GString *out)
{
  double length_s = slice->end_s - slice->start_s;
  g_string_append_printf (out, ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"name\":", slice->process, slice->thread);
  rep_trace_string (slice->name, out);
  g_string_append_printf (out, ",\"cat\":\"%s\",\"cname\":\"%s\"", trn_trace_kind_names[slice->kind], colours[slice->kind]);
  rep_trace_span (slice->start_s, slice->end_s, out);
  g_string_append (out, ",\"args\":{");
  if (slice->micro_batch >= 0)
    append_number (out, "micro_batch", slice->micro_batch);
  if (slice->chunk >= 0)
    append_number (out, "chunk", slice->chunk);
  if (slice->layer >= 0)
    append_number (out, "layer", slice->layer);
  if (slice->n_ranks > 0) {
    append_number (out, "bytes", slice->bytes);
    g_string_append_printf (out, ",\"algorithm\":\"%s\",\"protocol\":\"%s\"", base_name (mdl_algo_names, (int)slice->algo),
                            base_name (mdl_proto_names, (int)slice->proto));
    append_number (out, "ranks", slice->n_ranks);
    if (slice->kind != TRN_TRACE_SEND) {
      g_string_append (out, ",\"group\":");
      rep_trace_string (trn_trace_thread (trace, slice->thread), out);
    }
  }
  if (slice->kernels != NULL) {
    g_string_append_printf (out, "%s\"kernels\":", out->str[out->len - 1] == '{' ? "" : ",");
    rep_trace_string (slice->kernels, out);
  }
  if (slice->alone_s > 0)
    append_number (out, "slowdown", length_s / slice->alone_s);
  g_string_append (out, "}}");
}

static void
append_arrow (const TrnArrow *arrow, guint id, GString *out)
{
  for (int end = 0; end < 2; end++) {
    g_string_append_printf (
        out, ",\n{\"ph\":\"%s\",\"id\":%u,\"pid\":%u,\"tid\":%u,\"cat\":\"send\",\"name\":", end == 0 ? "s" : "f\",\"bp\":\"e", id,
        end == 0 ? arrow->from_process : arrow->to_process, end == 0 ? arrow->from_thread : arrow->to_thread);
    rep_trace_string (arrow->name, out);
    rep_trace_at (end == 0 ? arrow->from_s : arrow->to_s, out);
    g_string_append_c (out, '}');
  }
}

void
rep_step_trace_json (const TrnTrace *trace, const GPtrArray *beside, const RepTraceInfo *info, GString *out)
{
  const GArray *slices = trn_trace_slices (trace), *arrows = trn_trace_arrows (trace), *samples = trn_trace_samples (trace),
               *counters = trn_trace_counters (trace);
  guint links = trn_trace_processes (trace)->len;
  rep_trace_open ("ms", info, out);
  append_names (trace, out);
  for (guint i = 0; i < slices->len; i++)
    append_slice (trace, &g_array_index (slices, TrnSlice, i), out);
  if (beside != NULL && beside->len > 0) {
    append_name (out, links + 1, -1, "process", "the whole step", links + 1);
    rep_trace_spans (beside, links + 1, out);
  }
  if (trn_trace_written (trace) != NULL) {
    g_string_append (out, ",\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"name\":");
    rep_trace_string (trn_trace_written (trace), out);
    rep_trace_at (0, out);
    g_string_append_c (out, '}');
  }
  for (guint i = 0; i < arrows->len; i++)
    append_arrow (&g_array_index (arrows, TrnArrow, i), i + 1, out);
  for (guint i = 0; i < samples->len; i++) {
    const TrnSample *sample = &g_array_index (samples, TrnSample, i);
    const TrnCounter *counter = &g_array_index (counters, TrnCounter, sample->counter);
    g_string_append_printf (out, ",\n{\"ph\":\"C\",\"pid\":%u,\"name\":", counter->process < 0 ? links : (guint)counter->process);
    rep_trace_string (counter->name, out);
    rep_trace_at (sample->at_s, out);
    g_string_append (out, ",\"args\":{");
    append_number (out, counter->unit, sample->value);
    g_string_append (out, "}}");
  }
  g_string_append (out, "\n]}\n");
}
