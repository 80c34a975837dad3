/* PyTorch's profiler: Kineto's JSON. Traces have millions of events, most of the CPU: events are cut out of the text one by one,
 * and only those that say something of a GPU are parsed.
 * Source of the keys: files that PyTorch wrote (tests/data/import/SOURCES.md). */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "trace-private.h"

#define MAX_B  ((gsize)2 << 30) /* of the text, unpacked */
#define LIMITS ((BaseJsonLimits){ MAX_B, 1 << 20 })

#define CALLED_STREAM 1000000000 /* ids from here are streams of collectives that ran no kernel, by communicator */

typedef struct {
  ScnTrace *trace;
  ScnTraceRank *rank;
  const char *at, *end;
  guint line;
  guint event;          /* events begun */
  GHashTable *launches; /* correlation -> index of `launch` + 1 */
  GArray *launch;       /* Launch */
  GHashTable *sizes;    /* External id -> JsonObject of record_param_comms' args */
  GPtrArray *documents; /* BaseJson, of `sizes` */
  GArray *collectives;  /* External id of activities that lack their size: Lacking */
  GArray *called;       /* Call, of communicators of one rank */
  gint64 device;        /* -1: none yet */
  gboolean begun;       /* traceEvents was met */
} Reader;

typedef struct {
  double at_us;
  guint64 thread;
} Launch;

typedef struct {
  guint activity, line;
  guint64 external;
  char *name;
} Lacking;

/* A call of a collective by the CPU. */
typedef struct {
  double at_us; /* when it returned */
  guint64 thread;
  guint line;
  JsonObject *args; /* borrowed */
} Call;

/* ---- text ---- */

static gboolean
fail_cut (const Reader *r, GError **error)
{
  if (r->event == 0)
    return scn_trace_fail (r->rank, r->line, error, "the file ends before its first event: cut off; export the trace again");
  return scn_trace_fail (r->rank, r->line, error, "the file ends within or behind event %u: cut off; export the trace again",
                         r->event);
}

static void
skip_blanks (Reader *r)
{
  for (; r->at < r->end && strchr (" \t\r\n", *r->at) != NULL && *r->at != '\0'; r->at++)
    r->line += *r->at == '\n';
}

/* Passes the value at r->at; *lines (may be NULL): how many lines it spans. NULL: it does not end. */
static const char *
end_of_value (const Reader *r, guint *lines)
{
  guint depth = 0, n = 0;
  gboolean in_text = FALSE;
  for (const char *c = r->at; c < r->end; c++) {
    n += *c == '\n';
    if (in_text) {
      if (*c == '\\')
        c++;
      else if (*c == '"')
        in_text = FALSE;
    } else if (*c == '"')
      in_text = TRUE;
    else if (*c == '{' || *c == '[')
      depth++;
    else if ((*c == '}' || *c == ']') && depth > 0)
      depth--;
    else if (depth == 0 && (*c == ',' || *c == '}' || *c == ']')) { /* behind a number or text */
      *lines = n;
      return c;
    }
    if (depth == 0 && !in_text && (*c == '}' || *c == ']')) {
      *lines = n;
      return c + 1;
    }
  }
  return NULL;
}

/* The object or list at r->at. NULL and *error. */
static BaseJson *
parse (const Reader *r, const char *until, GError **error)
{
  const BaseJsonText text = { r->rank->path, r->at, (gsize)(until - r->at), r->line, LIMITS };
  gsize end;
  return base_json_read_first (&text, &end, error);
}

/* What follows "cat": in an event, up to its closing quote; empty: none. */
static void
category (const char *from, const char *to, char out[32])
{
  out[0] = '\0';
  const char *key = g_strstr_len (from, to - from, "\"cat\"");
  if (key == NULL)
    return;
  for (key += strlen ("\"cat\""); key < to && strchr (" \t\r\n:", *key) != NULL;)
    key++;
  guint n = 0;
  if (key < to && *key == '"')
    for (key++; key < to && *key != '"' && n < 31; key++)
      out[n++] = (char)g_ascii_tolower (*key);
  out[n] = '\0';
}

/* ---- numbers ---- */

/* A number that may be written as a text. */
static double
number_of (JsonObject *in, const char *key)
{
  const char *text = base_json_text (in, key);
  char *rest = NULL;
  if (text == NULL)
    return base_json_number (in, key);
  double value = g_ascii_strtod (text, &rest);
  return rest != text && *rest == '\0' ? value : (double)NAN;
}

static guint64
id_of (JsonObject *in, const char *key)
{
  double value = number_of (in, key);
  return isfinite (value) && value >= 0 && value < 1e18 ? (guint64)value : 0;
}

/* ---- collectives ---- */

static const struct {
  const char *name; /* beginning, as at::ScalarType writes it, in lower case */
  MdlDtype dtype;
} dtypes[] = { { "float8", MDL_DTYPE_FP8 },    { "float", MDL_DTYPE_FP32 },        { "half", MDL_DTYPE_FP16 },
               { "bfloat16", MDL_DTYPE_BF16 }, { "double", MDL_DTYPE_FP64 },       { "long", MDL_DTYPE_FP64 },
               { "int", MDL_DTYPE_FP32 },      { "char", MDL_DTYPE_INT8 },         { "byte", MDL_DTYPE_INT8 },
               { "bool", MDL_DTYPE_INT8 },     { "unsigned char", MDL_DTYPE_INT8 } };

static gboolean
dtype_of (const char *name, MdlDtype *dtype)
{
  g_autofree char *lower = name != NULL ? g_ascii_strdown (name, -1) : NULL;
  for (guint i = 0; lower != NULL && i < G_N_ELEMENTS (dtypes); i++)
    if (g_str_has_prefix (lower, dtypes[i].name)) {
      *dtype = dtypes[i].dtype;
      return TRUE;
    }
  return FALSE;
}

/* Ranks of "[0, 1, 2]", up to where PyTorch leaves out the rest, as "...". */
static void
read_ranks (const char *text, ScnTraceGroup *group)
{
  for (const char *c = text; c != NULL && *c != '\0' && group->ranks->len < group->size;) {
    if (g_str_has_prefix (c, "..."))
      return;
    if (!g_ascii_isdigit (*c)) {
      c++;
      continue;
    }
    char *rest;
    guint64 rank = g_ascii_strtoull (c, &rest, 10);
    c = rest;
    if (rank < G_MAXUINT32) {
      guint32 one = (guint32)rank;
      g_array_append_val (group->ranks, one);
    }
  }
}

static guint
group_of (Reader *r, JsonObject *args, guint size)
{
  const char *name = base_json_text (args, "Process Group Name"), *ranks = base_json_text (args, "Process Group Ranks");
  JsonArray *list = base_json_array (args, "Process Group Ranks");
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    g_string_append_printf (text, "%.0f, ", base_json_number_of (json_array_get_element (list, i)));
  ranks = list != NULL ? text->str : ranks;
  g_autofree char *key = g_strdup_printf ("%s %s", name != NULL ? name : "", ranks != NULL ? ranks : "");
  guint known = r->trace->groups->len, group = scn_trace_group (r->trace, g_strstrip (key), size);
  if (group == known)
    read_ranks (ranks, &g_array_index (r->trace->groups, ScnTraceGroup, group));
  return group;
}

/* Reads what an NCCL kernel moves. FALSE: it is not in `args`. */
static gboolean
read_size (Reader *r, JsonObject *args, ScnTraceActivity *activity)
{
  const char *name = base_json_text (args, "Collective name");
  const double in = number_of (args, "In msg nelems"), out = number_of (args, "Out msg nelems"),
               size = number_of (args, "Group size");
  if (name == NULL || !(in >= 0 && in < 1e15) || !(size >= 1 && size < 1e7) ||
      !dtype_of (base_json_text (args, "dtype"), &activity->dtype) || !scn_trace_kernel_op (name, &activity->op))
    return FALSE;
  /* As nccl-tests counts: of an all-gather the whole that comes out. */
  const double elements = activity->op == MDL_OP_ALL_GATHER ? (out > 0 ? out : in * size)
                          : activity->op == MDL_OP_SENDRECV ? fmax (in, out)
                                                            : in;
  activity->bytes = elements * mdl_dtype_size_B (activity->dtype);
  activity->group = group_of (r, args, (guint)size);
  return TRUE;
}

/* ---- events ---- */

static gboolean
read_device (Reader *r, JsonObject *args, GError **error)
{
  const double device = number_of (args, "device");
  if (!isfinite (device) || r->device == (gint64)device)
    return TRUE;
  if (r->device >= 0)
    return scn_trace_fail (r->rank, r->line, error,
                           "event %u is of GPU %.0f, others are of GPU %" G_GINT64_FORMAT "; accepted: one GPU "
                           "a file, as each rank of torchrun writes it",
                           r->event, device, r->device);
  r->device = (gint64)device;
  return TRUE;
}

static gboolean
read_kernel (Reader *r, JsonObject *event, const char *cat, GError **error)
{
  JsonObject *args = base_json_object (event, "args");
  const char *name = base_json_text (event, "name");
  ScnTraceActivity one = { .start_us = number_of (event, "ts"), .launch_us = (double)NAN, .line = r->line };
  const double time_us = number_of (event, "dur");
  if (!isfinite (one.start_us) || !(time_us >= 0) || name == NULL || args == NULL)
    return scn_trace_fail (r->rank, r->line, error, "event %u: a kernel has 'name', 'args', 'ts' and 'dur', and lasts 0 us or more",
                           r->event);
  if (!read_device (r, args, error))
    return FALSE;
  one.end_us = one.start_us + time_us;
  one.stream = scn_trace_stream (r->rank, id_of (args, "stream"));
  one.correlation = id_of (args, "correlation");
  one.operation = id_of (args, "External id");
  one.tf32 = strstr (name, "tf32") != NULL;
  one.what = strstr (cat, "mem") != NULL ? SCN_TRACE_COPY : scn_trace_class_of (name);
  one.to_gpu = strstr (name, "HtoD") != NULL || strstr (name, "HostToDevice") != NULL;
  one.to_host = strstr (name, "DtoH") != NULL || strstr (name, "DeviceToHost") != NULL;
  one.pageable = strstr (name, "Pageable") != NULL;
  if (one.what == SCN_TRACE_COPY)
    one.bytes = (double)id_of (args, "bytes");
  if (one.what == SCN_TRACE_COLLECTIVE && !read_size (r, args, &one)) {
    const Lacking lacking = { r->rank->activities->len, r->line, id_of (args, "External id"), g_strdup (name) };
    g_array_append_val (r->collectives, lacking);
  }
  g_array_append_val (r->rank->activities, one);
  return TRUE;
}

static gboolean
read_call (Reader *r, JsonObject *event, GError **error)
{
  const char *name = base_json_text (event, "name");
  const double at_us = number_of (event, "ts");
  const guint64 correlation = id_of (base_json_object (event, "args"), "correlation"), thread = id_of (event, "tid");
  if (!isfinite (at_us) || name == NULL)
    return scn_trace_fail (r->rank, r->line, error, "event %u: a call has 'name' and 'ts'", r->event);
  if (strstr (name, "StreamWaitEvent") != NULL) {
    const ScnTraceWait wait = { .at_us = at_us, .thread = thread };
    g_array_append_val (r->rank->waits, wait);
  } else if (correlation != 0) {
    const Launch launch = { at_us, thread };
    g_array_append_val (r->launch, launch);
    g_hash_table_insert (r->launches, g_memdup2 (&correlation, sizeof correlation), GUINT_TO_POINTER (r->launch->len));
  }
  return TRUE;
}

static void
read_sync (Reader *r, JsonObject *event)
{
  JsonObject *args = base_json_object (event, "args");
  const ScnTraceWait wait = { .at_us = number_of (event, "ts"),
                              .correlation = id_of (args, "correlation"),
                              .record = id_of (args, "wait_on_cuda_event_record_corr_id"),
                              .stream = id_of (args, "stream"),
                              .waits_on = id_of (args, "wait_on_stream") };
  if (g_strcmp0 (base_json_text (event, "name"), "Stream Wait Event") == 0 && wait.record != 0 && wait.correlation != 0)
    g_array_append_val (r->rank->waits, wait);
}

static void
read_step (Reader *r, JsonObject *event)
{
  static const char word[] = "ProfilerStep#";
  const char *name = base_json_text (event, "name");
  const double from_us = number_of (event, "ts"), time_us = number_of (event, "dur");
  char *rest = NULL;
  if (name == NULL || !g_str_has_prefix (name, word) || !isfinite (from_us) || !(time_us >= 0))
    return;
  const ScnTraceStep step = { (gint64)MIN (g_ascii_strtoull (name + strlen (word), &rest, 10), (guint64)G_MAXINT64), from_us,
                              from_us + time_us };
  g_array_append_val (r->rank->steps, step);
}

static void
read_collective (Reader *r, JsonObject *event)
{
  JsonObject *args = base_json_object (event, "args");
  const guint64 id = id_of (args, "External id");
  const Call call = { number_of (event, "ts") + number_of (event, "dur"), id_of (event, "tid"), r->line, args };
  g_hash_table_insert (r->sizes, g_memdup2 (&id, sizeof id), args);
  if (number_of (args, "Group size") == 1 && isfinite (call.at_us))
    g_array_append_val (r->called, call);
}

/* The event at r->at, up to `until`. */
static gboolean
read_event (Reader *r, const char *until, GError **error)
{
  char cat[32];
  category (r->at, until, cat);
  const gsize n = (gsize)(until - r->at);
  gboolean kernel = strcmp (cat, "kernel") == 0 || strcmp (cat, "gpu_memcpy") == 0 || strcmp (cat, "gpu_memset") == 0 ||
                    strcmp (cat, "memcpy") == 0 || strcmp (cat, "memset") == 0,
           call = strcmp (cat, "cuda_runtime") == 0 || strcmp (cat, "cuda_driver") == 0 || strcmp (cat, "runtime") == 0,
           sync = strcmp (cat, "cuda_sync") == 0,
           step = strcmp (cat, "user_annotation") == 0 && g_strstr_len (r->at, (gssize)n, "ProfilerStep#") != NULL,
           size = strcmp (cat, "cpu_op") == 0 && g_strstr_len (r->at, (gssize)n, "\"record_param_comms\"") != NULL,
           shapes = r->trace->options.shapes && strcmp (cat, "cpu_op") == 0 && !size;
  if (!kernel && !call && !sync && !step && !size && !shapes)
    return TRUE;
  g_autoptr (BaseJson) json = parse (r, until, error);
  if (json == NULL)
    return FALSE;
  JsonObject *event = base_json_root (json);
  if (kernel)
    return read_kernel (r, event, cat, error);
  if (call)
    return read_call (r, event, error);
  if (sync)
    read_sync (r, event);
  else if (step)
    read_step (r, event);
  else if (shapes)
    scn_trace_read_operation (r->rank, event);
  else {
    read_collective (r, event);
    g_ptr_array_add (r->documents, g_steal_pointer (&json));
  }
  return TRUE;
}

static gboolean
read_events (Reader *r, GError **error)
{
  if (r->at == r->end || *r->at != '[')
    return scn_trace_fail (r->rank, r->line, error, "'traceEvents' is not a list; accepted: the JSON that torch.profiler exports");
  r->begun = TRUE;
  r->at++;
  for (;;) {
    guint lines = 0;
    skip_blanks (r);
    if (r->at == r->end)
      return fail_cut (r, error);
    if (*r->at == ']') {
      r->at++;
      return TRUE;
    }
    if (*r->at == ',') {
      r->at++;
      continue;
    }
    r->event++;
    if (*r->at != '{')
      return scn_trace_fail (r->rank, r->line, error, "event %u is not a mapping in braces", r->event);
    const char *until = end_of_value (r, &lines);
    if (until == NULL)
      return fail_cut (r, error);
    if (!read_event (r, until, error))
      return FALSE;
    r->at = until;
    r->line += lines;
  }
}

/* ---- the document ---- */

static gboolean
read_distributed (Reader *r, JsonObject *info, GError **error)
{
  const double rank = number_of (info, "rank"), world = number_of (info, "world_size");
  if ((isfinite (rank) && !(rank >= 0 && rank < 1e7)) || (isfinite (world) && !(world >= 1 && world < 1e7)))
    return scn_trace_fail (r->rank, r->line, error, "distributedInfo: rank %g of %g; accepted: 0 to 9999999", rank, world);
  r->rank->rank = isfinite (rank) ? (guint)rank : 0;
  r->rank->world = isfinite (world) ? (guint)world : 1;
  if (r->rank->rank >= r->rank->world && isfinite (world))
    return scn_trace_fail (r->rank, r->line, error, "distributedInfo: rank %.0f of %.0f ranks", rank, world);
  return TRUE;
}

static gboolean
read_member (Reader *r, const char *key, const char *until, GError **error)
{
  if (strcmp (key, "schemaVersion") == 0) {
    const double version = g_ascii_strtod (r->at, NULL);
    return version == 1 ||
           scn_trace_fail (r->rank, r->line, error, "schemaVersion %g; accepted: 1, of PyTorch 1.8 and later", version);
  }
  gboolean distributed = strcmp (key, "distributedInfo") == 0, devices = strcmp (key, "deviceProperties") == 0;
  if ((!distributed && !devices) || (*r->at != '{' && *r->at != '['))
    return TRUE;
  g_autoptr (BaseJson) json = parse (r, until, error);
  if (json == NULL)
    return FALSE;
  if (distributed)
    return read_distributed (r, base_json_root (json), error);
  return TRUE;
}

/* The name of the first GPU: all of a node are alike. */
static void
read_gpu (Reader *r, const char *until)
{
  const char *key = g_strstr_len (r->at, until - r->at, "\"name\"");
  const char *from = key != NULL ? memchr (key + 6, '"', (gsize)(until - key - 6)) : NULL;
  const char *to = from != NULL ? memchr (from + 1, '"', (gsize)(until - from - 1)) : NULL;
  if (to != NULL && to - from < 200 && r->rank->gpu == NULL)
    r->rank->gpu = g_strndup (from + 1, (gsize)(to - from - 1));
}

static gboolean
read_document (Reader *r, GError **error)
{
  skip_blanks (r);
  if (r->at == r->end)
    return scn_trace_fail (r->rank, 0, error, "the file is empty");
  if (*r->at == '[')
    return read_events (r, error);
  if (*r->at != '{')
    return scn_trace_fail (r->rank, r->line, error,
                           "not JSON: it begins with neither '{' nor '['; accepted: the JSON that "
                           "torch.profiler exports");
  for (r->at++;;) {
    guint lines = 0;
    skip_blanks (r);
    if (r->at == r->end)
      return fail_cut (r, error);
    if (*r->at == '}')
      return TRUE;
    if (*r->at == ',') {
      r->at++;
      continue;
    }
    const char *close = *r->at == '"' ? memchr (r->at + 1, '"', (gsize)(r->end - r->at - 1)) : NULL;
    if (close == NULL)
      return *r->at == '"' ? fail_cut (r, error)
                           : scn_trace_fail (r->rank, r->line, error, "not valid JSON: a key in quotes is missing");
    g_autofree char *key = g_strndup (r->at + 1, (gsize)(close - r->at - 1));
    r->at = close + 1;
    skip_blanks (r);
    if (r->at < r->end && *r->at == ':')
      r->at++;
    skip_blanks (r);
    if (strcmp (key, "traceEvents") == 0) {
      if (!read_events (r, error))
        return FALSE;
      continue;
    }
    const char *until = end_of_value (r, &lines);
    if (until == NULL)
      return fail_cut (r, error);
    if (strcmp (key, "deviceProperties") == 0)
      read_gpu (r, until);
    if (!read_member (r, key, until, error))
      return FALSE;
    r->at = until;
    r->line += lines;
  }
}

/* ---- after all events ---- */

static void
join_launches (Reader *r)
{
  for (guint i = 0; i < r->rank->activities->len; i++) {
    ScnTraceActivity *activity = scn_trace_activity (r->rank, i);
    const guint at = GPOINTER_TO_UINT (g_hash_table_lookup (r->launches, &activity->correlation));
    if (at == 0)
      continue;
    const Launch *launch = &g_array_index (r->launch, Launch, at - 1);
    activity->launch_us = launch->at_us;
    activity->thread = launch->thread;
  }
}

/* Marks what was queued before the trace began: a stream keeps the order of its launches, so that it stands before all that the
 * trace has a launch of. */
static void
mark_earlier (Reader *r)
{
  const guint n = r->rank->streams->len;
  g_autofree double *first_us = g_new (double, n); /* of what has a launch; NAN: nothing has */
  for (guint s = 0; s < n; s++)
    first_us[s] = (double)NAN;
  for (guint i = 0; i < r->rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (r->rank, i);
    if (!isnan (activity->launch_us))
      first_us[activity->stream] = fmin (first_us[activity->stream], activity->start_us);
  }
  for (guint i = 0; i < r->rank->activities->len; i++) {
    ScnTraceActivity *activity = scn_trace_activity (r->rank, i);
    if (isnan (activity->launch_us) && activity->start_us < first_us[activity->stream])
      activity->launch_us = -(double)INFINITY;
  }
}

static int
by_launch (const void *a, const void *b)
{
  const ScnTraceActivity *x = a, *y = b;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return x->launch_us < y->launch_us ? -1 : x->launch_us > y->launch_us;
}

/* When what a thread had queued by `until_us` had ended; `of`: activities by thread and launch. */
static double
ended_of (const GArray *of, guint64 thread, double until_us)
{
  const ScnTraceActivity key = { .thread = thread, .launch_us = until_us };
  guint low = 0, high = of->len;
  while (low < high) {
    const guint middle = low + (high - low) / 2;
    if (by_launch (&g_array_index (of, ScnTraceActivity, middle), &key) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  const ScnTraceActivity *last = low > 0 ? &g_array_index (of, ScnTraceActivity, low - 1) : NULL;
  return last != NULL && last->thread == thread ? fmax (last->end_us, until_us) : until_us;
}

/* Communicators of one rank run no kernel of NCCL. Their calls become collectives of no length, behind what their thread had
 * queued, so that a trace of one GPU says what more GPUs would exchange. */
static void
add_called (Reader *r)
{
  const guint n = r->called->len;
  g_autoptr (GArray) launched = NULL;
  for (guint i = 0; i < n; i++) {
    const Call *call = &g_array_index (r->called, Call, i);
    ScnTraceActivity one = { .launch_us = call->at_us, .thread = call->thread, .line = call->line, .what = SCN_TRACE_COLLECTIVE,
                             .called = TRUE };
    if (!read_size (r, call->args, &one))
      continue;
    if (launched == NULL) {
      launched = g_array_sized_new (FALSE, FALSE, sizeof one, r->rank->activities->len);
      for (guint k = 0; k < r->rank->activities->len; k++)
        if (isfinite (scn_trace_activity (r->rank, k)->launch_us))
          g_array_append_val (launched, *scn_trace_activity (r->rank, k));
      g_array_sort (launched, by_launch);
    }
    one.start_us = one.end_us = ended_of (launched, one.thread, one.launch_us);
    one.stream = scn_trace_stream (r->rank, CALLED_STREAM + one.group);
    g_array_append_val (r->rank->activities, one);
  }
}

/* Sizes that stand in the operation of the CPU alone, as PyTorch wrote them before 2.3. */
static gboolean
join_sizes (Reader *r, GError **error)
{
  for (guint i = 0; i < r->collectives->len; i++) {
    const Lacking *lacking = &g_array_index (r->collectives, Lacking, i);
    JsonObject *args = g_hash_table_lookup (r->sizes, &lacking->external);
    ScnTraceActivity *activity = scn_trace_activity (r->rank, lacking->activity);
    if (args != NULL && read_size (r, args, activity))
      continue;
    activity->kept = TRUE;
    activity->group = scn_trace_group (r->trace, "of unknown size", r->rank->world);
    if (!r->trace->options.keep_unsized && !isinf (activity->launch_us)) /* else it is in no step */
      return scn_trace_fail (r->rank, lacking->line, error,
                             "NCCL's kernel '%.60s' has no size; accepted: kernels with 'Collective "
                             "name', 'In msg nelems', 'dtype' and 'Group size', as PyTorch 2.2 and later write them, or "
                             "--keep-nccl for its recorded time",
                             lacking->name);
  }
  return TRUE;
}

static gboolean
finish (Reader *r, GError **error)
{
  if (!r->begun)
    return scn_trace_fail (r->rank, 0, error, "no 'traceEvents' in the file; accepted: the JSON that torch.profiler exports");
  if (!scn_trace_has_kernels (r->rank))
    return scn_trace_fail (r->rank, 0, error, "no kernels among %u events; profile with ProfilerActivity.CUDA", r->event);
  if (r->rank->world == 0)
    r->rank->world = 1;
  join_launches (r);
  mark_earlier (r);
  if (!join_sizes (r, error))
    return FALSE;
  add_called (r);
  return TRUE;
}

static void
clear_lacking (gpointer data)
{
  g_free (((Lacking *)data)->name);
}

gboolean
scn_trace_read_kineto (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error)
{
  const BaseJsonText text = { path, bytes, n_B, 0, LIMITS };
  g_autoptr (GByteArray) plain = NULL;
  if (!base_json_unpack (&text, &plain, error))
    return FALSE;
  g_autoptr (ScnTraceRank) rank = scn_trace_rank_new (path);
  g_autoptr (GHashTable) launches = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL),
                         sizes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GArray) launch = g_array_new (FALSE, FALSE, sizeof (Launch)),
                     collectives = g_array_new (FALSE, FALSE, sizeof (Lacking)),
                     called = g_array_new (FALSE, FALSE, sizeof (Call));
  g_autoptr (GPtrArray) documents = g_ptr_array_new_with_free_func ((GDestroyNotify)base_json_free);
  g_array_set_clear_func (collectives, clear_lacking);
  Reader r = { .trace = trace,
               .rank = rank,
               .at = plain != NULL ? (const char *)plain->data : bytes,
               .line = 1,
               .launches = launches,
               .launch = launch,
               .sizes = sizes,
               .documents = documents,
               .collectives = collectives,
               .called = called,
               .device = -1 };
  r.end = r.at + (plain != NULL ? plain->len : n_B);
  if (!read_document (&r, error) || !finish (&r, error))
    return FALSE;
  g_ptr_array_add (trace->ranks, g_steal_pointer (&rank));
  return TRUE;
}
