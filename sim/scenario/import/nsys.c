/* Nsight Systems: the SQLite that `nsys export --type sqlite` writes. Each GPU of a process is a rank. Sizes of NCCL's operations
 * stand in NCCL's own NVTX ranges, where the export holds their payload as JSON.
 * Source of tables and columns: exports of Nsight Systems 2021 to 2025, whose names did not change (docs/traces.md). */
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "base/json.h"
#include "trace-private.h"

#define PROCESS_BITS 24 /* globalTid holds the process above the thread */

typedef struct {
  guint64 process, correlation;
} Key;

typedef struct {
  double at_us;
  guint64 thread;
} Launch;

/* An operation of NCCL that the host called. */
typedef struct {
  guint64 thread;
  double at_us;
  int op; /* MdlOp */
  double bytes;
  gboolean taken;
} Called;

/* A step of a process. */
typedef struct {
  guint64 process;
  ScnTraceStep step;
} Marked;

typedef struct {
  ScnTrace *trace;
  const char *path;
  sqlite3 *db;
  GPtrArray *ranks;     /* ScnTraceRank, by process and GPU */
  GArray *keys;         /* Key of each rank: process, device */
  GHashTable *launches; /* Key -> Launch */
  GArray *called;       /* Called, by time */
  GArray *waits;        /* ScnTraceWait, of any process */
  GArray *steps;        /* Marked */
} Reader;

static guint
hash_key (gconstpointer p)
{
  const Key *key = p;
  return g_int64_hash (&key->process) * 31u + g_int64_hash (&key->correlation);
}

static gboolean
equal_keys (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Key)) == 0;
}

static gboolean
fail (const Reader *r, GError **error, const char *what)
{
  return base_fail_at (error, (BaseMark){ .file = r->path }, "%s", what);
}

/* ---- tables ---- */

static gboolean
has (const Reader *r, const char *table, const char *column)
{
  sqlite3_stmt *query = NULL;
  gboolean found = FALSE;
  if (sqlite3_prepare_v2 (r->db, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", -1, &query, NULL) == SQLITE_OK) {
    sqlite3_bind_text (query, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text (query, 2, column, -1, SQLITE_STATIC);
    found = sqlite3_step (query) == SQLITE_ROW;
  }
  sqlite3_finalize (query);
  return found;
}

/* Calls `row` for each row of a query. FALSE and *error. */
static gboolean
each (Reader *r, const char *sql, gboolean (*row) (Reader *r, sqlite3_stmt *query, GError **error), GError **error)
{
  sqlite3_stmt *query = NULL;
  gboolean good = TRUE;
  int state = sqlite3_prepare_v2 (r->db, sql, -1, &query, NULL);
  while (state == SQLITE_OK || state == SQLITE_ROW) {
    state = sqlite3_step (query);
    if (state == SQLITE_ROW && !(good = row (r, query, error)))
      break;
  }
  if (good && state != SQLITE_DONE) {
    g_autofree char *what = g_strdup_printf ("not readable as an export of Nsight Systems: %s", sqlite3_errmsg (r->db));
    good = fail (r, error, what);
  }
  sqlite3_finalize (query);
  return good;
}

/* ---- rows ---- */

static ScnTraceRank *
rank_of (Reader *r, guint64 process, guint64 device)
{
  for (guint i = 0; i < r->keys->len; i++) {
    const Key *key = &g_array_index (r->keys, Key, i);
    if (key->process == process && key->correlation == device)
      return r->ranks->pdata[i];
  }
  const Key key = { process, device };
  g_array_append_val (r->keys, key);
  g_ptr_array_add (r->ranks, scn_trace_rank_new (r->path));
  return r->ranks->pdata[r->ranks->len - 1];
}

static guint64
count_of (sqlite3_stmt *query, int column)
{
  return (guint64)sqlite3_column_int64 (query, column);
}

static gboolean
call_row (Reader *r, sqlite3_stmt *query, GError **error)
{
  const char *name = (const char *)sqlite3_column_text (query, 3);
  const guint64 thread = count_of (query, 1);
  const Launch launch = { (double)sqlite3_column_int64 (query, 0) / 1e3, thread };
  const Key key = { thread >> PROCESS_BITS << PROCESS_BITS, count_of (query, 2) };
  (void)error;
  if (name != NULL && strstr (name, "StreamWaitEvent") != NULL) {
    const ScnTraceWait wait = { .at_us = launch.at_us, .thread = thread };
    g_array_append_val (r->waits, wait);
  } else
    g_hash_table_insert (r->launches, g_memdup2 (&key, sizeof key), g_memdup2 (&launch, sizeof launch));
  return TRUE;
}

/* A number of a payload, whatever the case of its key. */
static double
payload (const Reader *r, const char *text, const char *word)
{
  const BaseJsonText json = { r->path, text, text != NULL ? strlen (text) : 0, 0, BASE_JSON_LIMITS };
  gsize end;
  double value = (double)NAN;
  g_autoptr (BaseJson) document = json.n_B > 0 ? base_json_read_first (&json, &end, NULL) : NULL;
  JsonObject *root = document != NULL ? base_json_root (document) : NULL;
  g_autoptr (GList) names = root != NULL ? json_object_get_members (root) : NULL;
  for (GList *name = names; name != NULL; name = name->next)
    if (g_ascii_strncasecmp (name->data, word, strlen (word)) == 0) {
      const char *written = base_json_text (root, name->data);
      value = written != NULL ? g_ascii_strtod (written, NULL) : base_json_number (root, name->data);
    }
  return value;
}

static gboolean
range_row (Reader *r, sqlite3_stmt *query, GError **error)
{
  static const struct {
    const char *name;
    MdlOp op;
    gboolean of_part; /* NCCL names what one rank has; nccl-tests counts all */
  } calls[] = { { "ncclAllReduce", MDL_OP_ALL_REDUCE, FALSE },
                { "ncclAllGather", MDL_OP_ALL_GATHER, TRUE },
                { "ncclReduceScatter", MDL_OP_REDUCE_SCATTER, TRUE },
                { "ncclBroadcast", MDL_OP_BROADCAST, FALSE },
                { "ncclReduce", MDL_OP_REDUCE, FALSE },
                { "ncclAlltoAll", MDL_OP_ALLTOALL, TRUE },
                { "ncclSend", MDL_OP_SENDRECV, FALSE },
                { "ncclRecv", MDL_OP_SENDRECV, FALSE } };
  static const char *const steps[] = { "profilerstep#", "train_step", "train step", "iteration", "iter", "step" };
  const char *text = (const char *)sqlite3_column_text (query, 3);
  const double from_us = (double)sqlite3_column_int64 (query, 0) / 1e3, to_us = (double)sqlite3_column_int64 (query, 1) / 1e3;
  (void)error;
  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (calls); i++)
    if (strcmp (text, calls[i].name) == 0) {
      const double bytes = payload (r, (const char *)sqlite3_column_text (query, 4), "message size");
      const Called one = { count_of (query, 2), from_us, (int)calls[i].op,
                           calls[i].of_part ? bytes * r->trace->options.ranks : bytes, FALSE };
      g_array_append_val (r->called, one);
      return TRUE;
    }
  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (steps); i++)
    if (g_ascii_strncasecmp (text, steps[i], strlen (steps[i])) == 0) {
      const char *digits = text + strlen (steps[i]);
      digits += strspn (digits, " _#:=");
      if (*digits != '\0' && digits[strspn (digits, "0123456789")] == '\0') {
        const Marked step = { count_of (query, 2) >> PROCESS_BITS << PROCESS_BITS,
                              { g_ascii_strtoll (digits, NULL, 10), from_us, to_us } };
        g_array_append_val (r->steps, step);
      }
      return TRUE;
    }
  return TRUE;
}

/* A kernel, copy or fill: start, end, process, device, stream, correlation, name, bytes, kind of copy. */
static gboolean
activity_row (Reader *r, sqlite3_stmt *query, GError **error)
{
  const char *name = (const char *)sqlite3_column_text (query, 6);
  const Key key = { count_of (query, 2), count_of (query, 5) };
  const Launch *launch = g_hash_table_lookup (r->launches, &key);
  ScnTraceRank *rank = rank_of (r, key.process, count_of (query, 3));
  ScnTraceActivity one = { .start_us = (double)sqlite3_column_int64 (query, 0) / 1e3,
                           .end_us = (double)sqlite3_column_int64 (query, 1) / 1e3,
                           .launch_us = launch != NULL ? launch->at_us : (double)NAN,
                           .thread = launch != NULL ? launch->thread : 0,
                           .correlation = key.correlation,
                           .line = rank->activities->len + 1 };
  if (one.end_us < one.start_us)
    return fail (r, error, "a kernel or copy ends before it begins; export the report again");
  one.stream = scn_trace_stream (rank, count_of (query, 4));
  const int kind = sqlite3_column_int (query, 8); /* CUpti_ActivityMemcpyKind: 1 to the GPU, 2 to the host */
  one.what = kind != 0 ? SCN_TRACE_COPY : scn_trace_class_of (name != NULL ? name : "");
  one.to_gpu = kind == 1;
  one.to_host = kind == 2;
  one.bytes = (double)sqlite3_column_int64 (query, 7);
  if (one.what == SCN_TRACE_COLLECTIVE) {
    one.bytes = (double)NAN;
    one.dtype = MDL_DTYPE_BF16;
    one.op = MDL_OP_ALL_REDUCE;
    one.kept = !scn_trace_kernel_op (name, &one.op);
  }
  g_array_append_val (rank->activities, one);
  return TRUE;
}

/* ---- the export ---- */

static gboolean
read_calls (Reader *r, GError **error)
{
  if (has (r, "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid") &&
      !each (r,
             "SELECT r.start, r.globalTid, r.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
             "LEFT JOIN StringIds s ON s.id = r.nameId ORDER BY r.start",
             call_row, error))
    return FALSE;
  if (!has (r, "NVTX_EVENTS", "globalTid"))
    return TRUE;
  const gboolean json = has (r, "NVTX_EVENTS", "jsonTextId"), text = has (r, "NVTX_EVENTS", "textId");
  g_autofree char *sql = g_strdup_printf ("SELECT n.start, COALESCE (n.end, n.start), n.globalTid, %s, %s FROM NVTX_EVENTS n %s %s "
                                          "WHERE n.start IS NOT NULL ORDER BY n.start",
                                          text ? "COALESCE (n.text, t.value)" : "n.text",
                                          json                                 ? "COALESCE (n.jsonText, j.value)"
                                          : has (r, "NVTX_EVENTS", "jsonText") ? "n.jsonText"
                                                                               : "NULL",
                                          text ? "LEFT JOIN StringIds t ON t.id = n.textId" : "",
                                          json ? "LEFT JOIN StringIds j ON j.id = n.jsonTextId" : "");
  return each (r, sql, range_row, error);
}

static gboolean
read_activities (Reader *r, GError **error)
{
  static const struct {
    const char *table, *name, *bytes, *kind;
  } tables[] = { { "CUPTI_ACTIVITY_KIND_KERNEL", "s.value", "0", "0" },
                 { "CUPTI_ACTIVITY_KIND_MEMCPY", "''", "k.bytes", "MAX (k.copyKind, 3 * (k.copyKind = 0))" },
                 { "CUPTI_ACTIVITY_KIND_MEMSET", "''", "k.bytes", "9" } };
  if (!has (r, tables[0].table, "demangledName") || !has (r, "StringIds", "value"))
    return fail (r, error,
                 "no table of kernels (CUPTI_ACTIVITY_KIND_KERNEL with StringIds); accepted: what 'nsys export --type sqlite' "
                 "writes of a report with --trace cuda");
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    if (!has (r, tables[i].table, "streamId"))
      continue;
    g_autofree char *sql = g_strdup_printf (
        "SELECT k.start, k.end, %s, k.deviceId, k.streamId, k.correlationId, %s, %s, %s FROM %s k %s ORDER BY k.start",
        has (r, tables[i].table, "globalPid") ? "k.globalPid" : "0", tables[i].name, tables[i].bytes, tables[i].kind,
        tables[i].table, i == 0 ? "LEFT JOIN StringIds s ON s.id = k.demangledName" : "");
    if (!each (r, sql, activity_row, error))
      return FALSE;
  }
  return TRUE;
}

/* The size of what an NCCL kernel does: of the calls of its operation that its thread made before the launch, or inside of which it
 * was launched, and that no kernel had before. NAN: none. */
static double
take_size (Reader *r, const ScnTraceActivity *activity)
{
  double bytes = (double)NAN;
  for (guint i = 0; i < r->called->len; i++) {
    Called *one = &g_array_index (r->called, Called, i);
    if (one->at_us > activity->launch_us)
      break;
    if (one->taken || one->thread != activity->thread || one->op != (int)activity->op)
      continue;
    one->taken = TRUE;
    bytes = isnan (bytes) ? one->bytes : bytes + one->bytes;
  }
  return bytes;
}

static gboolean
finish_rank (Reader *r, ScnTraceRank *rank, guint64 process, GError **error)
{
  const guint group = scn_trace_group (r->trace, "of all ranks", r->trace->options.ranks);
  scn_trace_sort (rank);
  for (guint i = 0; i < rank->activities->len; i++) {
    ScnTraceActivity *activity = scn_trace_activity (rank, i);
    activity->line = i + 1;
    if (activity->what != SCN_TRACE_COLLECTIVE)
      continue;
    activity->group = group;
    activity->bytes = activity->kept ? (double)NAN : take_size (r, activity);
    activity->kept = isnan (activity->bytes);
    if (activity->kept && !r->trace->options.keep_unsized)
      return fail (r, error,
                   "kernels of NCCL have no size: neither the report nor the export holds the payload of NCCL's NVTX ranges; "
                   "--keep-nccl gives them the times that were recorded, on any cluster");
  }
  for (guint i = 0; i < r->waits->len; i++) {
    const ScnTraceWait *wait = &g_array_index (r->waits, ScnTraceWait, i);
    if (wait->thread >> PROCESS_BITS << PROCESS_BITS == process)
      g_array_append_vals (rank->waits, wait, 1);
  }
  for (guint i = 0; i < r->steps->len; i++) {
    const Marked *marked = &g_array_index (r->steps, Marked, i);
    if (marked->process == process)
      g_array_append_vals (rank->steps, &marked->step, 1);
  }
  return TRUE;
}

static gboolean
gpu_row (Reader *r, sqlite3_stmt *query, GError **error)
{
  const char *name = (const char *)sqlite3_column_text (query, 0);
  (void)error;
  for (guint i = 0; name != NULL && i < r->ranks->len; i++) {
    ScnTraceRank *rank = r->ranks->pdata[i];
    rank->gpu = rank->gpu != NULL ? rank->gpu : g_strdup (name);
  }
  return TRUE;
}

static gboolean
read_export (Reader *r, GError **error)
{
  if (!read_calls (r, error) || !read_activities (r, error))
    return FALSE;
  if (r->ranks->len == 0)
    return fail (r, error, "no kernels in the report; profile with 'nsys profile --trace cuda,nvtx'");
  if (has (r, "TARGET_INFO_GPU", "name") && !each (r, "SELECT name FROM TARGET_INFO_GPU LIMIT 1", gpu_row, error))
    return FALSE;
  for (guint i = 0; i < r->ranks->len; i++) {
    ScnTraceRank *rank = r->ranks->pdata[i];
    if (!finish_rank (r, rank, g_array_index (r->keys, Key, i).process, error))
      return FALSE;
    rank->rank = r->trace->ranks->len + i;
    rank->world = r->trace->options.ranks;
  }
  if (r->trace->ranks->len + r->ranks->len > r->trace->options.ranks) {
    g_autofree char *what = g_strdup_printf ("GPU %u of a run of %u ranks; --ranks N says how many ranks ran",
                                             r->trace->ranks->len + r->ranks->len, r->trace->options.ranks);
    return fail (r, error, what);
  }
  while (r->ranks->len > 0)
    g_ptr_array_add (r->trace->ranks, g_ptr_array_steal_index (r->ranks, 0));
  return TRUE;
}

static double
big_endian (const char *bytes, guint n)
{
  double sum = 0;
  for (guint i = 0; i < n; i++)
    sum = sum * 256 + (guchar)bytes[i];
  return sum;
}

/* Whether as many pages are there as the header counts (sqlite.org/fileformat2.html, 1.3): SQLite itself takes lost tables for
 * none. */
static gboolean
is_whole (const Reader *r, const char *bytes, gsize n_B, GError **error)
{
  enum { HEADER_B = 100, PAGE_AT = 16, CHANGED_AT = 24, PAGES_AT = 28, COUNTED_AT = 92 };
  if (n_B < HEADER_B)
    return fail (r, error, "the file ends within its header: cut off; export the report again");
  const double page = big_endian (bytes + PAGE_AT, 2), pages = big_endian (bytes + PAGES_AT, 4);
  const gboolean power = page <= 1 || (page >= 512 && ((guint)page & ((guint)page - 1)) == 0);
  const gboolean counted = power && memcmp (bytes + CHANGED_AT, bytes + COUNTED_AT, 4) == 0;
  const double all_B = pages * (page > 1 ? page : 65536);
  if (!counted || (double)n_B >= all_B)
    return TRUE;
  g_autofree char *what =
      g_strdup_printf ("the file has %" G_GSIZE_FORMAT " of its %.0f bytes: cut off; export the report again", n_B, all_B);
  return fail (r, error, what);
}

gboolean
scn_trace_read_nsys_sqlite (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error)
{
  g_autoptr (GPtrArray) ranks = g_ptr_array_new_with_free_func ((GDestroyNotify)scn_trace_rank_free);
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (Key)), called = g_array_new (FALSE, FALSE, sizeof (Called)),
                     waits = g_array_new (FALSE, FALSE, sizeof (ScnTraceWait)), steps = g_array_new (FALSE, FALSE, sizeof (Marked));
  g_autoptr (GHashTable) launches = g_hash_table_new_full (hash_key, equal_keys, g_free, g_free);
  Reader r = { .trace = trace, .path = path, .ranks = ranks, .keys = keys, .launches = launches };
  r.called = called;
  r.waits = waits;
  r.steps = steps;
  g_autofree guchar *copy = g_memdup2 (bytes, n_B);
  gboolean good = FALSE;
  if (!is_whole (&r, bytes, n_B, error))
    return FALSE;
  if (sqlite3_open_v2 (":memory:", &r.db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
      sqlite3_deserialize (r.db, "main", copy, (sqlite3_int64)n_B, (sqlite3_int64)n_B, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    fail (&r, error, "not readable as SQLite");
  else
    good = read_export (&r, error);
  sqlite3_close (r.db);
  return good;
}
