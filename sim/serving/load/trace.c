/* Traces of requests, one line after the other. Their forms, and where each is published:
 *
 * - Azure, github.com/Azure/AzurePublicDataset: TIMESTAMP,ContextTokens,GeneratedTokens; of 2025 with NumImages.
 * - Mooncake, github.com/kvcache-ai/Mooncake, FAST25-release: {"timestamp" (ms), "input_length", "output_length", "hash_ids"}. An
 *   id stands for 512 tokens, the last one for what is left, which no other request can share whole.
 * - BurstGPT, github.com/HPMLL/BurstGPT: columns by name; 0 response tokens: the request failed.
 * - Bailian, github.com/alibaba-edu/qwen-bailian-usagetraces-anon: the same keys as Mooncake's, timestamp in s, ids of 16 tokens,
 *   chat_id and parent_chat_id (-1: a conversation's first).
 * - ShareGPT: a JSON list of {"conversations": [{"from", "value"}]}; its first two turns. */
#include "load-private.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"

#define MOONCAKE_TOKENS 512u
#define BAILIAN_TOKENS  16u
/* English text: OpenAI's help centre, "What are tokens and how to count them", gives 4 characters a token. Assumed for all. */
#define CHARACTERS_PER_TOKEN 4.0
/* vllm/benchmarks/datasets.py, v0.11, is_valid_sequence: shorter or longer conversations are left out. */
#define SHAREGPT_LEAST  4
#define SHAREGPT_PROMPT 1024
#define SHAREGPT_BOTH   2048
/* Conversations whose first request is remembered; a power of two. */
#define CHATS 65536u

enum { TIME, INPUT, OUTPUT, HASHES, CHAT, PARENT, N_KEYS };

typedef struct {
  gint64 chat;
  guint32 root;
} Chat;

struct SrvTrace {
  BaseStream *stream;
  SrvTraceFormat format;
  gboolean has_times, begun;
  double first_s, last_s;
  SrvCsv csv;
  GArray *ids;
  Chat *chats; /* of Bailian, by chat modulo CHATS */
};

gboolean
srv_trace_has_times (const SrvTrace *trace)
{
  return trace->has_times;
}

SrvTraceFormat
srv_trace_format (const SrvTrace *trace)
{
  return trace->format;
}

guint32
srv_trace_hash_tokens (const SrvTrace *trace)
{
  return trace->format == SRV_TRACE_MOONCAKE ? MOONCAKE_TOKENS : trace->format == SRV_TRACE_BAILIAN ? BAILIAN_TOKENS : 0;
}

void
srv_trace_free (SrvTrace *trace)
{
  if (trace == NULL)
    return;
  base_stream_free (trace->stream);
  g_array_unref (trace->ids);
  g_free (trace->chats);
  g_free (trace);
}

gboolean
srv_tokens_check (BaseMark at, const char *what, double tokens, GError **error)
{
  if (tokens == 0)
    return base_fail_at (error, at, "%s is 0; a request has at least 1 token each way: leave this line out", what);
  return (tokens >= 1 && tokens <= SRV_TOKENS_MOST && tokens == floor (tokens)) ||
         base_fail_at (error, at, "%s is not a whole number of tokens from 1 to 100 M", what);
}

/* ---- the format ---- */

static SrvTraceFormat
guess (const char *bytes)
{
  const char *p = bytes;
  if (g_str_has_prefix (p, "\xEF\xBB\xBF"))
    p += 3;
  while (g_ascii_isspace (*p))
    p++;
  if (*p == '[')
    return SRV_TRACE_SHAREGPT;
  if (*p != '{')
    return SRV_TRACE_CSV;
  const char *end = strchr (p, '\n'), *chat = strstr (p, "\"chat_id\"");
  return chat != NULL && (end == NULL || chat < end) ? SRV_TRACE_BAILIAN : SRV_TRACE_MOONCAKE;
}

static gboolean
begin_csv (SrvTrace *trace, GError **error)
{
  char *line;
  gsize n;
  g_autoptr (GError) why = NULL;
  if (!base_stream_line (trace->stream, &line, &n, &why)) {
    if (why == NULL)
      return base_fail_at (error, base_stream_mark (trace->stream, 0), "is empty; a trace of requests is expected");
    g_propagate_error (error, g_steal_pointer (&why));
    return FALSE;
  }
  if (!srv_csv_begin (trace->stream, line, trace->format, &trace->csv, error))
    return FALSE;
  trace->format = trace->csv.format;
  trace->has_times = trace->csv.at[SRV_COLUMN_TIME] >= 0;
  return TRUE;
}

SrvTrace *
srv_trace_new (BaseStream *stream, SrvTraceFormat format, GError **error)
{
  char begin[8193] = { 0 };
  const gsize n = base_stream_peek (stream, begin, sizeof begin - 1);
  g_autoptr (SrvTrace) trace = g_new0 (SrvTrace, 1);
  trace->stream = stream;
  trace->ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  if (n >= 2 && memcmp (begin, "\x1f\x8b", 2) == 0) {
    base_fail_at (error, base_stream_mark (stream, 0), "is packed by gzip; unpack it first");
    return NULL;
  }
  trace->format = format != SRV_TRACE_AUTO ? format : guess (begin);
  trace->has_times = trace->format != SRV_TRACE_SHAREGPT;
  if (trace->format == SRV_TRACE_BAILIAN)
    trace->chats = g_new0 (Chat, CHATS);
  const gboolean is_csv = trace->format == SRV_TRACE_CSV || trace->format == SRV_TRACE_AZURE || trace->format == SRV_TRACE_BURSTGPT;
  if (is_csv && !begin_csv (trace, error))
    return NULL;
  return g_steal_pointer (&trace);
}

/* ---- JSON Lines ---- */

static gboolean
fail_key (BaseMark at, const BaseJsonField *field, const char *unit, GError **error)
{
  if (field->column == 0)
    return base_fail_at (error, (BaseMark){ at.file, at.line, 1 }, "no \"%s\"; each line has one, in %s", field->key, unit);
  return base_fail_at (error, at, "\"%s\" is not a number, in %s", field->key, unit);
}

/* The request that a conversation began with, whose number all of them have; of those that are still remembered. */
static guint32
root_of (SrvTrace *trace, const BaseJsonField *fields)
{
  if (!isfinite (fields[CHAT].number))
    return 0;
  const gint64 chat = (gint64)fields[CHAT].number, parent = isfinite (fields[PARENT].number) ? (gint64)fields[PARENT].number : -1;
  const Chat *before = &trace->chats[(guint64)parent % CHATS];
  guint32 root = (guint32)chat + 1;
  if (parent >= 0)
    root = before->chat == parent && before->root != 0 ? before->root : (guint32)parent + 1;
  trace->chats[(guint64)chat % CHATS] = (Chat){ chat, root };
  return MAX (root, 1);
}

static gboolean
next_json_line (SrvTrace *trace, SrvTraceRow *row, GArray *hashes, GError **error)
{
  char *line;
  gsize n = 0;
  do
    if (!base_stream_line (trace->stream, &line, &n, error))
      return FALSE;
  while (line[strspn (line, " \t")] == '\0');
  const BaseMark at = base_stream_mark (trace->stream, 0);
  BaseJsonField fields[N_KEYS] = { { .key = "timestamp" },     { .key = "input_length" },
                                   { .key = "output_length" }, { .key = "hash_ids", .list = trace->ids },
                                   { .key = "chat_id" },       { .key = "parent_chat_id" } };
  const BaseJsonText text = { at.file, line, n, at.line, BASE_JSON_LIMITS };
  if (!base_json_line (&text, fields, N_KEYS, error))
    return FALSE;
  const double unit_s = trace->format == SRV_TRACE_MOONCAKE ? 1e-3 : 1;
  for (guint i = TIME; i <= OUTPUT; i++)
    if (!isfinite (fields[i].number))
      return fail_key (base_stream_mark (trace->stream, fields[i].column), &fields[i],
                       i != TIME    ? "tokens"
                       : unit_s < 1 ? "ms"
                                    : "s",
                       error);
  for (guint i = INPUT; i <= OUTPUT; i++)
    if (!srv_tokens_check (base_stream_mark (trace->stream, fields[i].column), fields[i].key, fields[i].number, error))
      return FALSE;
  *row = (SrvTraceRow){ fields[TIME].number * unit_s, (guint32)fields[INPUT].number, (guint32)fields[OUTPUT].number, 0 };
  if (trace->chats != NULL)
    row->session = root_of (trace, fields);
  if (hashes != NULL) {
    const guint full = MIN (trace->ids->len, row->input / srv_trace_hash_tokens (trace));
    g_array_set_size (hashes, 0);
    g_array_append_vals (hashes, trace->ids->data, full);
  }
  return TRUE;
}

/* ---- ShareGPT ---- */

static double
tokens_of (JsonArray *turns, guint i)
{
  const char *text = i < json_array_get_length (turns) ? base_json_text (base_json_element (turns, i), "value") : NULL;
  return text == NULL ? 0 : ceil ((double)g_utf8_strlen (text, -1) / CHARACTERS_PER_TOKEN);
}

static gboolean
next_conversation (SrvTrace *trace, SrvTraceRow *row, GError **error)
{
  for (;;) {
    const char *item;
    gsize n;
    BaseMark at;
    if (!base_stream_json_item (trace->stream, &item, &n, &at, error))
      return FALSE;
    const BaseJsonText text = { at.file, item, n, at.line, BASE_JSON_LIMITS };
    g_autoptr (BaseJson) json = base_json_read (&text, error);
    if (json == NULL)
      return FALSE;
    JsonArray *turns = base_json_array (base_json_root (json), "conversations");
    if (turns == NULL)
      return base_fail_at (error, at, "no \"conversations\": [{\"from\": …, \"value\": …}, …]");
    const double input = tokens_of (turns, 0), output = tokens_of (turns, 1);
    if (input < SHAREGPT_LEAST || output < SHAREGPT_LEAST || input > SHAREGPT_PROMPT || input + output > SHAREGPT_BOTH)
      continue;
    *row = (SrvTraceRow){ 0, (guint32)input, (guint32)output, 0 };
    return TRUE;
  }
}

/* ---- rows ---- */

static gboolean
next_csv (SrvTrace *trace, SrvTraceRow *row, GError **error)
{
  static const char *const what[] = { "the prompt", "the answer" };
  for (;;) {
    char *line;
    gsize n;
    if (!base_stream_line (trace->stream, &line, &n, error))
      return FALSE;
    if (line[strspn (line, " \t")] == '\0')
      continue;
    SrvCsvRow csv;
    if (!srv_csv_row (trace->stream, &trace->csv, line, &csv, error))
      return FALSE;
    if (trace->format == SRV_TRACE_BURSTGPT && csv.tokens[1] == 0)
      continue;
    for (guint i = 0; i < 2; i++)
      if (!srv_tokens_check (base_stream_mark (trace->stream, csv.column[i]), what[i], csv.tokens[i], error))
        return FALSE;
    *row = (SrvTraceRow){ csv.time_s, (guint32)csv.tokens[0], (guint32)csv.tokens[1], csv.session };
    return TRUE;
  }
}

BaseMark
srv_trace_mark (const SrvTrace *trace)
{
  return base_stream_mark (trace->stream, 0);
}

gboolean
srv_trace_next (SrvTrace *trace, SrvTraceRow *row, GArray *hashes, GError **error)
{
  gboolean is;
  if (trace->format == SRV_TRACE_SHAREGPT)
    is = next_conversation (trace, row, error);
  else if (trace->format == SRV_TRACE_MOONCAKE || trace->format == SRV_TRACE_BAILIAN)
    is = next_json_line (trace, row, hashes, error);
  else
    is = next_csv (trace, row, error);
  if (!is || !trace->has_times)
    return is;
  if (!trace->begun)
    trace->first_s = trace->last_s = row->time_s;
  trace->begun = TRUE;
  if (row->time_s < trace->last_s)
    return base_fail_at (error, base_stream_mark (trace->stream, 0), "the time goes back by %.6g s; sort the lines by time",
                         trace->last_s - row->time_s);
  trace->last_s = row->time_s;
  row->time_s -= trace->first_s;
  return TRUE;
}
