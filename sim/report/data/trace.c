/* Trace Event Format: "X" events with ts and dur in microseconds; "M" events name the threads. Written straight to text: a trace
 * of a large step has more events than a tree of JSON nodes should hold. Times are whole nanoseconds, and a slice is
 * one of them short: viewers add ts and dur in binary, and would nest what follows on a stream in a slice that a rounding makes end
 * behind its begin. */
#include <math.h>
#include <string.h>

#include "run-private.h"

void
rep_trace_string (const char *text, GString *out)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);
  g_string_append_c (out, '"');
  for (const char *c = valid; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c (out, '\\');
    if ((unsigned char)*c < 0x20)
      g_string_append_printf (out, "\\u%04x", (unsigned)(unsigned char)*c);
    else
      g_string_append_c (out, *c);
  }
  g_string_append_c (out, '"');
}

static gint64
whole_ns (double time_s)
{
  return (gint64)floor (time_s * 1e9 + 1e-3); /* engine times are whole picoseconds */
}

static void
append_us (GString *out, const char *key, gint64 ns)
{
  g_string_append_printf (out, ",\"%s\":%" G_GINT64_FORMAT ".%03d", key, ns / 1000, (int)(ns % 1000));
}

void
rep_trace_at (double time_s, GString *out)
{
  append_us (out, "ts", whole_ns (time_s));
}

void
rep_trace_span (double start_s, double end_s, GString *out)
{
  gint64 start_ns = whole_ns (start_s), end_ns = whole_ns (end_s);
  append_us (out, "ts", start_ns);
  append_us (out, "dur", MAX (end_ns - start_ns - 1, 0));
}

void
rep_trace_open (const char *unit, const RepTraceInfo *info, GString *out)
{
  const struct {
    const char *key, *text;
  } told[] = {
    { "version", info->version }, { "scenario", info->scenario }, { "topology", info->topology }, { "library", info->library }
  };
  g_string_append_printf (out, "{\"displayTimeUnit\":\"%s\",\"otherData\":{\"program\":\"forerun\"", unit);
  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    if (told[i].text != NULL) {
      g_string_append_printf (out, ",\"%s\":", told[i].key);
      rep_trace_string (told[i].text, out);
    }
  g_string_append_printf (out, ",\"seed\":%" G_GUINT64_FORMAT ",\"time\":\"simulated\"},\"traceEvents\":[\n", info->seed);
}

void
rep_trace_json (const GPtrArray *spans, const RepTraceInfo *info, GString *out)
{
  rep_trace_open ("ns", info, out);
  g_string_append (out, "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"forerun\"}}");
  rep_trace_spans (spans, 0, out);
  g_string_append (out, "\n]}\n");
}

static void
append_counter (const ColSpan *counter, guint process, GString *out)
{
  char value[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (out, ",\n{\"ph\":\"C\",\"pid\":%u,\"name\":", process);
  rep_trace_string (counter->lane, out);
  rep_trace_at (counter->start_s, out);
  g_string_append_printf (out, ",\"args\":{\"value\":%s}}", g_ascii_formatd (value, sizeof value, "%.4g", counter->value));
}

void
rep_trace_spans (const GPtrArray *spans, guint process, GString *out)
{
  g_autoptr (GHashTable) lanes = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; spans != NULL && i < spans->len; i++) {
    const ColSpan *span = g_ptr_array_index (spans, i);
    const char *lane = span->lane != NULL ? span->lane : "";
    if (span->name == NULL) {
      append_counter (span, process, out);
      continue;
    }
    guint tid = GPOINTER_TO_UINT (g_hash_table_lookup (lanes, lane));
    if (tid == 0) {
      tid = g_hash_table_size (lanes) + 1;
      g_hash_table_insert (lanes, (gpointer)lane, GUINT_TO_POINTER (tid));
      g_string_append_printf (out, ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":", process,
                              tid);
      rep_trace_string (lane, out);
      g_string_append_printf (
          out, "}},\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", process,
          tid, tid);
    }
    g_string_append_printf (out, ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"name\":", process, tid);
    rep_trace_string (span->name, out);
    rep_trace_span (span->start_s, span->end_s, out);
    g_string_append_c (out, '}');
  }
}
