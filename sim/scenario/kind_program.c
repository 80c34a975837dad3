/* Workloads of kind `program`: streams of operations with events: keys, and whether events can be met. */
#include <string.h>

#include "collective/possible.h"
#include "program-private.h"

#define MOST_REPEATS "1 M"

static const BaseName slows_names[] = { { "both", SCN_SLOWS_BOTH, "kernels and collectives of a GPU slow each other" },
                                        { "collectives", SCN_SLOWS_COLLECTIVES, "kernels keep their times, which include it" },
                                        { "none", SCN_SLOWS_NONE, "all keep their times" },
                                        { NULL, 0, NULL } };
static const BaseName kind_names[] = { { "program", 0, "operations on streams" }, { NULL, 0, NULL } };
const BaseName scn_do_names[] = { { "event", SCN_DO_NONE, "waits or records" },
                                  { "copy", SCN_DO_COPY, "a copy engine copies" },
                                  { "kernel", SCN_DO_KERNEL, "a kernel runs" },
                                  { "collective", SCN_DO_COLLECTIVE, "GPUs communicate" },
                                  { "read", SCN_DO_READ, "storage is read" },
                                  { "write", SCN_DO_WRITE, "storage is written" },
                                  { "put", SCN_DO_PUT, "a kernel stores into another GPU" },
                                  { "delay", SCN_DO_DELAY, "the stream is empty: its host queues late" },
                                  { NULL, 0, NULL } };

/* ---- keys ---- */

#define ENDS_HELP                                                                                                                 \
  "gpuN, nodeM.gpuN, nodeM.hostN (memory of a socket), `host` (memory of the socket of the stream's GPU); default: the stream's " \
  "GPU"
static const BaseField copy_fields[] = {
  BASE_ROW (ScnDoCopy, "from", from, STR, .help = ENDS_HELP),
  BASE_ROW (ScnDoCopy, "to", to, STR, .help = "as `from`"),
  BASE_ROW_NUM (ScnDoCopy, "bytes", bytes, BYTES, .min = "0", .max = "1 EB", .required = TRUE, .help = "size"),
  BASE_ROW (ScnDoCopy, "memory", memory, ENUM, .names = sto_memory_names, .fallback = "pinned",
            .help = "host memory; pageable copies of a node in one direction run one at a time"),
  BASE_ROW_END,
};
static const BaseSchema copy_schema = { .name = "copy", .help = "An asynchronous copy by a copy engine.", .fields = copy_fields };

static const BaseField put_fields[] = {
  BASE_ROW (ScnDoCopy, "from", from, STR, .help = "the GPU whose kernel sends; default: the stream's"),
  BASE_ROW (ScnDoCopy, "to", to, STR, .required = TRUE, .help = "the GPU that is written to"),
  BASE_ROW_NUM (ScnDoCopy, "bytes", bytes, BYTES, .min = "0", .max = "1 EB", .required = TRUE, .help = "size"),
  BASE_ROW_END,
};
static const BaseSchema put_schema = {
  .name = "put",
  .help = "A one-sided put as of NVSHMEM: a kernel's stores where the GPUs reach each other, RDMA between nodes.",
  .fields = put_fields
};

static const BaseField gemm_fields[] = {
  BASE_ROW_NUM (ScnDoGemm, "m", m, COUNT, .min = "1", .max = "1 G", .required = TRUE, .help = "rows of the product"),
  BASE_ROW_NUM (ScnDoGemm, "n", n, COUNT, .min = "1", .max = "1 G", .required = TRUE, .help = "columns of the product"),
  BASE_ROW_NUM (ScnDoGemm, "k", k, COUNT, .min = "1", .max = "1 G", .required = TRUE, .help = "length of the sums"),
  BASE_ROW_NUM (ScnDoGemm, "batch", batch, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "products in one call"),
  BASE_ROW (ScnDoGemm, "dtype", dtype, ENUM, .names = mdl_precision_names, .fallback = "bf16", .help = "type of the factors"),
  BASE_ROW_END,
};
static const BaseSchema gemm_schema = { .name = "gemm", .help = "A matrix product.", .fields = gemm_fields };

static const BaseField kernel_fields[] = {
  BASE_ROW_NUM (ScnDoKernel, "time", time, TIME, .min = "0", .max = "30 days", .help = "its time, alone"),
  BASE_ROW (ScnDoKernel, "gemm", gemm, MAP, .sub = &gemm_schema, .help = "in place of `time`: a matrix product"),
  BASE_ROW_NUM (ScnDoKernel, "bytes", bytes, BYTES, .min = "0", .max = "1 EB",
                .help = "in place of `time`: bytes that a memory-bound kernel reads and writes"),
  BASE_ROW_NUM (ScnDoKernel, "sms", sms, RATIO, .min = "0.1 %", .max = "100 %", .fallback = "100 %",
                .help = "fraction of the SMs that it fills; kernels run concurrently up to a sum of 100 %"),
  BASE_ROW_END,
};
static const BaseSchema kernel_schema = { .name = "kernel", .help = "A kernel.", .fields = kernel_fields, .scalar_key = "time" };

static const BaseField collective_fields[] = {
  BASE_ROW (ScnDoCollective, "op", op, ENUM, .names = mdl_op_names, .required = TRUE, .help = "operation"),
  BASE_ROW_NUM (ScnDoCollective, "bytes", bytes, BYTES, .min = "0", .max = "1 PB", .required = TRUE,
                .help = "size as in nccl-tests"),
  BASE_ROW (ScnDoCollective, "gpus", gpus, STR, .fallback = "all",
            .help = "`all`, or GPUs in rank order: `gpu[0-3]`, `gpu0,gpu4`; write it once, on one stream"),
  BASE_ROW (ScnDoCollective, "dtype", dtype, ENUM, .names = mdl_dtype_names, .fallback = "bf16", .help = "element type"),
  BASE_ROW (ScnDoCollective, "algo", algo, ENUM, .names = mdl_algo_names, .fallback = "auto", .help = "algorithm"),
  BASE_ROW (ScnDoCollective, "proto", proto, ENUM, .names = mdl_proto_names, .fallback = "auto", .help = "protocol"),
  BASE_ROW_NUM (ScnDoCollective, "root", root, COUNT, .fallback = "0", .help = "root rank of broadcast and reduce"),
  BASE_ROW_END,
};
static const BaseSchema collective_schema = { .name = "collective",
                                              .help = "A collective operation of several GPUs.",
                                              .fields = collective_fields };

static const BaseField io_fields[] = {
  BASE_ROW (ScnDoIo, "tier", tier, STR, .required = TRUE,
            .help = "a tier of the topology's `storage`, or `nvme`: the node's drives"),
  BASE_ROW_NUM (ScnDoIo, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB", .required = TRUE, .help = "size"),
  BASE_ROW (ScnDoIo, "gpu", gpu, STR, .help = "the GPU read to or written from; default: the stream's"),
  BASE_ROW (ScnDoIo, "path", path, ENUM, .names = sto_io_path_names, .fallback = "auto",
            .help = "memory that data is read to or written from"),
  BASE_ROW_NUM (ScnDoIo, "io_size", io_size, BYTES, .min = "1 B", .max = "1 TB",
                .help = "size of a request; default: the tier's, 1 MiB"),
  BASE_ROW_NUM (ScnDoIo, "threads", threads, COUNT, .min = "1", .max = "1 M", .fallback = "8", .help = "threads that request"),
  BASE_ROW_NUM (ScnDoIo, "queue_depth", queue_depth, COUNT, .min = "1", .max = "1 M", .fallback = "4",
                .help = "outstanding requests of each thread"),
  BASE_ROW_END,
};
static const BaseSchema io_schema = { .name = "read, write",
                                      .help = "Storage, as cuFile reads and writes it.",
                                      .fields = io_fields };

static const BaseField earlier_fields[] = {
  BASE_ROW (ScnWaitEarlier, "event", event, STR, .required = TRUE, .help = "event that some stream records"),
  BASE_ROW_NUM (ScnWaitEarlier, "iterations", iterations, COUNT, .min = "1", .max = MOST_REPEATS, .fallback = "1",
                .help = "how many iterations before; the first ones do not wait"),
  BASE_ROW_END,
};
static const BaseSchema earlier_schema = { .name = "wait_earlier",
                                           .help =
                                               "Waits for an event of an earlier iteration, such as a buffer that is free again.",
                                           .fields = earlier_fields,
                                           .scalar_key = "event" };

static const BaseField item_fields[] = {
  BASE_ROW (ScnProgramItem, "name", name, STR, .help = "name in the answer; default: what it does"),
  BASE_ROW (ScnProgramItem, "wait", wait, STRS, .help = "events of the same iteration to wait for"),
  BASE_ROW (ScnProgramItem, "wait_earlier", earlier, MAP, .sub = &earlier_schema, .help = "an event of an earlier iteration"),
  BASE_ROW (ScnProgramItem, "copy", copy, MAP, .sub = &copy_schema, .help = "copies"),
  BASE_ROW (ScnProgramItem, "kernel", kernel, MAP, .sub = &kernel_schema, .help = "runs a kernel on the stream's GPU"),
  BASE_ROW (ScnProgramItem, "collective", collective, MAP, .sub = &collective_schema, .help = "runs a collective"),
  BASE_ROW (ScnProgramItem, "read", read, MAP, .sub = &io_schema, .help = "reads storage"),
  BASE_ROW (ScnProgramItem, "write", write, MAP, .sub = &io_schema, .help = "writes storage"),
  BASE_ROW (ScnProgramItem, "put", put, MAP, .sub = &put_schema, .help = "writes to another GPU from a kernel"),
  BASE_ROW_NUM (ScnProgramItem, "delay", delay, TIME, .min = "0", .max = "30 days",
                .help = "lets the stream stay empty for a time, as a host that queues late does"),
  BASE_ROW (ScnProgramItem, "record", record, STR, .help = "event recorded when it has ended"),
  BASE_ROW_END,
};
static const BaseSchema item_schema = { .name = "do",
                                        .help = "It waits, does one thing, and records; each part may be left out.",
                                        .fields = item_fields };

static const BaseField stream_fields[] = {
  BASE_ROW (ScnProgramStream, "name", name, STR, .required = TRUE, .help = "name in the answer"),
  BASE_ROW (ScnProgramStream, "gpu", gpu, STR, .fallback = "gpu0", .help = "GPU of the stream"),
  BASE_ROW (ScnProgramStream, "do", items, LIST, .sub = &item_schema, .item_size = sizeof (ScnProgramItem), .required = TRUE,
            .help = "entries, in order"),
  BASE_ROW_END,
};
static const BaseSchema stream_schema = { .name = "streams",
                                          .help = "A stream: its operations run in order.",
                                          .fields = stream_fields };

static const BaseField program_fields[] = {
  BASE_ROW (ScnProgramSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "`program`"),
  BASE_ROW_NUM (ScnProgramSpec, "repeat", repeat, COUNT, .min = "1", .max = MOST_REPEATS, .fallback = "1",
                .help = "iterations; a stream begins its next one when its own part of this one has ended"),
  BASE_ROW (ScnProgramSpec, "interference", interference, ENUM, .names = slows_names, .fallback = "both",
            .help = "who is slowed while kernels and collectives share a GPU"),
  BASE_ROW (ScnProgramSpec, "streams", streams, LIST, .sub = &stream_schema, .item_size = sizeof (ScnProgramStream),
            .required = TRUE, .help = "streams, which run beside each other"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_program = { .name = "workload (program)",
                                        .help = "Operations on streams with events, as a CUDA program queues them.",
                                        .fields = program_fields };

/* ---- entries ---- */

static ScnDo
what_of (const ScnProgramItem *item, guint *n)
{
  const struct {
    gboolean set;
    ScnDo what;
  } all[] = { { item->copy.head.set, SCN_DO_COPY },
              { item->kernel.head.set, SCN_DO_KERNEL },
              { item->collective.head.set, SCN_DO_COLLECTIVE },
              { item->read.head.set, SCN_DO_READ },
              { item->write.head.set, SCN_DO_WRITE },
              { item->put.head.set, SCN_DO_PUT },
              { base_num_written (&item->delay), SCN_DO_DELAY } };
  ScnDo what = SCN_DO_NONE;
  *n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i].set) {
      what = *n == 0 ? all[i].what : what;
      ++*n;
    }
  return what;
}

void
scn_program_open (ScnProgram *program, const Scn *scenario)
{
  *program = (ScnProgram){ .scenario = scenario, .spec = &scenario->program };
  program->entries = g_array_new (FALSE, TRUE, sizeof (ScnEntry));
  program->recorders = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint s = 0; s < program->spec->streams.n; s++) {
    const ScnProgramStream *stream = BASE_LIST_AT (program->spec->streams, ScnProgramStream, s);
    for (guint i = 0; i < stream->items.n; i++) {
      const ScnProgramItem *item = BASE_LIST_AT (stream->items, ScnProgramItem, i);
      guint n;
      ScnEntry entry = { .item = item, .stream = stream, .stream_number = s, .first = i == 0, .what = what_of (item, &n) };
      if (item->record.v != NULL && !g_hash_table_contains (program->recorders, item->record.v))
        g_hash_table_insert (program->recorders, (gpointer)item->record.v, GUINT_TO_POINTER (program->entries->len + 1));
      g_array_append_val (program->entries, entry);
    }
  }
}

void
scn_program_clear (ScnProgram *program)
{
  for (guint i = 0; i < program->entries->len; i++) {
    ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
    g_free (entry->name);
    g_clear_pointer (&entry->uses, g_array_unref);
    g_clear_pointer (&entry->fill, g_array_unref);
    g_clear_pointer (&entry->gpus, g_array_unref);
  }
  g_array_unref (program->entries);
  g_hash_table_unref (program->recorders);
  g_clear_pointer (&program->net, col_net_free);
}

guint
scn_program_recorder (const ScnProgram *program, const char *event)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (program->recorders, event)) - 1u; /* 0, of none, gives SCN_NO_ITEM */
}

static void
check_one_thing (const ScnEntry *entry, BaseDiag *diag)
{
  const ScnProgramItem *item = entry->item;
  const ScnDoKernel *kernel = &item->kernel;
  guint n;
  what_of (item, &n);
  if (n > 1)
    base_diag_error (
        diag, item->head.mark,
        "an entry of 'do' does one thing, found %u; accepted: one of copy, kernel, collective, read, write, put, delay", n);
  else if (n == 0 && item->wait.n == 0 && !item->earlier.head.set && !item->record.set)
    base_diag_error (
        diag, item->head.mark,
        "an entry of 'do' is empty; accepted: copy, kernel, collective, read, write, put, delay, wait, wait_earlier, record");
  guint given = (guint)(base_num_written (&kernel->time) + kernel->gemm.head.set + base_num_written (&kernel->bytes));
  if (kernel->head.set && given != 1)
    base_diag_error (diag, kernel->head.mark, "a kernel has one of 'time', 'gemm' and 'bytes', found %u", given);
}

/* ---- events ---- */

static gboolean
check_event (const ScnProgram *program, const BaseStr *event, BaseDiag *diag)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  if (event->v == NULL)
    return FALSE; /* refused as it was read */
  if (scn_program_recorder (program, event->v) != SCN_NO_ITEM)
    return TRUE;
  for (guint i = 0; i < program->entries->len; i++) {
    const BaseStr *record = &g_array_index (program->entries, ScnEntry, i).item->record;
    if (record->v != NULL)
      g_ptr_array_add (known, (gpointer)record->v);
  }
  g_ptr_array_add (known, NULL);
  g_autofree char *accepted = base_accepted (event->v, (const char *const *)known->pdata, NULL);
  if (known->len > 1)
    base_diag_error (diag, event->mark, "no stream records event '%s'%s", event->v, accepted);
  else
    base_diag_error (diag, event->mark, "no stream records event '%s'; accepted: an event that an entry names in 'record'",
                     event->v);
  return FALSE;
}

static gboolean
check_records (const ScnProgram *program, BaseDiag *diag)
{
  gboolean good = TRUE;
  for (guint i = 0; i < program->entries->len; i++) {
    const ScnProgramItem *item = g_array_index (program->entries, ScnEntry, i).item;
    for (guint w = 0; w < item->wait.n; w++)
      good &= check_event (program, &item->wait.item[w], diag);
    if (item->earlier.event.v != NULL)
      good &= check_event (program, &item->earlier.event, diag);
    if (item->record.v != NULL && scn_program_recorder (program, item->record.v) != i) {
      base_diag_error (diag, item->record.mark, "event '%s' is recorded twice in an iteration; accepted: a name of its own",
                       item->record.v);
      good = FALSE;
    }
  }
  return good;
}

/* An entry that i waits for and that is not met: its stream's previous one, or a recorder; *wait: by which wait. */
static guint
unmet (const ScnProgram *program, const gboolean *met, guint i, const BaseStr **wait)
{
  const ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
  *wait = NULL;
  if (!entry->first && !met[i - 1])
    return i - 1;
  for (guint w = 0; w < entry->item->wait.n; w++) {
    guint before = scn_program_recorder (program, entry->item->wait.item[w].v);
    if (before != SCN_NO_ITEM && !met[before]) {
      *wait = &entry->item->wait.item[w];
      return before;
    }
  }
  return SCN_NO_ITEM;
}

/* From an entry that is never met back along what it waits for, into the cycle and once around it. */
static void
tell_cycle (const ScnProgram *program, const gboolean *met, guint at, BaseDiag *diag)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const BaseStr *wait = NULL, *first = NULL;
  for (guint i = 0; i < program->entries->len; i++) /* as many steps as there are entries end inside the cycle */
    at = unmet (program, met, at, &wait);
  guint begin = at;
  do {
    guint before = unmet (program, met, at, &wait);
    if (wait != NULL)
      g_string_append_printf (text, "%s'%s' waits for '%s'", text->len > 0 ? ", " : "",
                              g_array_index (program->entries, ScnEntry, at).stream->name.v, wait->v);
    first = first == NULL ? wait : first;
    at = before;
  } while (at != begin);
  base_diag_error (diag, first->mark,
                   "events wait for each other in a cycle: %s; accepted: 'wait_earlier' for an earlier iteration", text->str);
}

/* For each entry, the entries that wait for it; and how many it waits for itself. */
typedef struct {
  GPtrArray *behind; /* GArray of guint; NULL: none */
  guint *left;
} Waiters;

static void
add_waiter (Waiters *waiters, guint before, guint after)
{
  if (waiters->behind->pdata[before] == NULL)
    waiters->behind->pdata[before] = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val ((GArray *)waiters->behind->pdata[before], after);
  waiters->left[after]++;
}

static void
unref_list (gpointer list)
{
  if (list != NULL)
    g_array_unref (list);
}

static void
check_cycles (const ScnProgram *program, BaseDiag *diag)
{
  const guint n = program->entries->len;
  g_autofree gboolean *met = g_new0 (gboolean, n);
  g_autofree guint *left = g_new0 (guint, n);
  g_autoptr (GPtrArray) behind = g_ptr_array_new_with_free_func (unref_list);
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));
  Waiters waiters = { behind, left };
  g_ptr_array_set_size (behind, (gint)n);
  for (guint i = 0; i < n; i++) {
    const ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
    if (!entry->first)
      add_waiter (&waiters, i - 1, i);
    for (guint w = 0; w < entry->item->wait.n; w++)
      add_waiter (&waiters, scn_program_recorder (program, entry->item->wait.item[w].v), i);
  }
  for (guint i = 0; i < n; i++)
    if (left[i] == 0)
      g_array_append_val (ready, i);
  for (guint r = 0; r < ready->len; r++) {
    const guint i = g_array_index (ready, guint, r);
    const GArray *list = behind->pdata[i];
    met[i] = TRUE;
    for (guint k = 0; list != NULL && k < list->len; k++) {
      const guint after = g_array_index (list, guint, k);
      if (--left[after] == 0)
        g_array_append_val (ready, after);
    }
  }
  for (guint i = 0; i < n && ready->len < n; i++)
    if (!met[i]) {
      tell_cycle (program, met, i, diag);
      return;
    }
}

static void
check_streams (const ScnProgramSpec *spec, BaseDiag *diag)
{
  if (spec->streams.set && spec->streams.n == 0)
    base_diag_error (diag, spec->streams.mark, "'streams' is empty; accepted: at least one stream");
  for (guint s = 0; s < spec->streams.n; s++) {
    const BaseStr *name = &BASE_LIST_AT (spec->streams, ScnProgramStream, s)->name;
    for (guint k = 0; k < s && name->v != NULL; k++) {
      const BaseStr *other = &BASE_LIST_AT (spec->streams, ScnProgramStream, k)->name;
      if (other->v != NULL && strcmp (other->v, name->v) == 0)
        base_diag_error (diag, name->mark, "two streams are named '%s'; accepted: names that differ", name->v);
    }
  }
}

/* Of a step of a trace: some thousand collectives, and what stands between them. */
#define MOST_ENTRIES 100000u

static void
read_more (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  g_auto (ScnProgram) program;
  (void)node;
  scn_program_open (&program, scenario);
  check_streams (program.spec, context->diag);
  if (program.entries->len > MOST_ENTRIES) {
    base_diag_error (context->diag, program.spec->streams.mark, "%u entries of streams; at most %u are accepted: use 'repeat'",
                     program.entries->len, MOST_ENTRIES);
    return;
  }
  for (guint i = 0; i < program.entries->len; i++)
    check_one_thing (&g_array_index (program.entries, ScnEntry, i), context->diag);
  if (check_records (&program, context->diag))
    check_cycles (&program, context->diag);
}

/* ---- the kind ---- */

static gboolean
check (const Scn *scenario, GError **error)
{
  g_auto (ScnProgram) program;
  scn_program_open (&program, scenario);
  return scn_program_place (&program, error);
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  g_auto (ScnProgram) program;
  scn_program_open (&program, scenario);
  col_run_warn_steps (&result->run, &scenario->system.settings, "a program");
  program.net = col_net_new (scenario->system.clu);
  return scn_program_place (&program, error) && scn_program_price (&program, &result->run, error) &&
         scn_program_run (&program, &result->program, &result->run, error);
}

static void
clear (ScnResult *result)
{
  ScnProgramResult *program = &result->program;
  for (guint i = 0; program->operations != NULL && i < program->operations->len; i++)
    g_free (g_array_index (program->operations, ScnOperationResult, i).name);
  g_clear_pointer (&program->operations, g_array_unref);
  g_clear_pointer (&program->streams, g_array_unref);
  g_clear_pointer (&program->bottleneck, g_free);
}

const ScnKindOps scn_kind_program = {
  .schema = &scn_schema_program,
  .spec = G_STRUCT_OFFSET (Scn, program),
  .read = read_more,
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnResult, "time_s", program.time_s),
  .bound = BASE_MEMBER (ScnResult, "bound_by", program.bound_by),
};
