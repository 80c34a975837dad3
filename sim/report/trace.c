/* Trace Event Format: "X" events with ts and dur in microseconds; "M" events name the threads. Written straight to text: a trace
 * of a large step has more events than a tree of JSON nodes should hold. */
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

static void
append_number (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (out, g_ascii_dtostr (text, sizeof text, value));
}

void
rep_trace_json (const GPtrArray *spans, GString *out)
{
  g_autoptr (GHashTable) lanes = g_hash_table_new (g_str_hash, g_str_equal);
  g_string_append (out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  g_string_append (out, "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"forerun\"}}");
  for (guint i = 0; spans != NULL && i < spans->len; i++) {
    const WrkSpan *span = g_ptr_array_index (spans, i);
    const char *lane = span->lane != NULL ? span->lane : "";
    guint tid = GPOINTER_TO_UINT (g_hash_table_lookup (lanes, lane));
    if (tid == 0) {
      tid = g_hash_table_size (lanes) + 1;
      g_hash_table_insert (lanes, (gpointer)lane, GUINT_TO_POINTER (tid));
      g_string_append_printf (out, ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":", tid);
      rep_trace_string (lane, out);
      g_string_append_printf (
          out, "}},\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", tid, tid);
    }
    g_string_append_printf (out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"name\":", tid);
    rep_trace_string (span->name, out);
    g_string_append (out, ",\"ts\":");
    append_number (out, span->start_s * 1e6);
    g_string_append (out, ",\"dur\":");
    append_number (out, (span->end_s - span->start_s) * 1e6);
    g_string_append_c (out, '}');
  }
  g_string_append (out, "\n]}\n");
}
