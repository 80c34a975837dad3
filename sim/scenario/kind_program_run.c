/* A program on the engine: tasks of all iterations, copy engines, SMs, and what the run comes to. */
#include <math.h>
#include <string.h>

#include "collective/gpu.h"
#include "engine/need.h"
#include "program-private.h"

/* Spans of a trace: what Perfetto opens in a browser. */
#define MOST_SPANS 200000u
/* A GPU's SMs, as units of a resource. */
#define ALL_SMS    1000
#define MOST_COMMS 32u

/* What entries of one device share: at most `units` at a time. */
typedef enum { HOLD_ENGINE_IN, HOLD_ENGINE_OUT, HOLD_ENGINE_PEER, HOLD_HOST_IN, HOLD_HOST_OUT, HOLD_SMS } Hold;

typedef struct {
  ScnProgram *program;
  EngGraph *graph;
  guint n, repeat;
  EngStream *stream;
  GHashTable *resources; /* Hold << 32 | number -> EngResource + 1 */
  GHashTable *places;    /* GPU number -> EngPlace + 1, of GPUs that run kernels */
  gboolean paced;
  MdlGpu gpu; /* whose constants the overlap model takes */
} Build;

static ScnEntry *
entry_of (const Build *b, guint i)
{
  return &g_array_index (b->program->entries, ScnEntry, i);
}

static const ScnEntry *
entry_of_task (const Build *b, EngTask task)
{
  return entry_of (b, task % b->n);
}

/* ---- kernels beside collectives ---- */

static void
pace (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  const Build *b = user;
  MdlOverlapComm comm[MOST_COMMS];
  double factor[MOST_COMMS];
  unsigned of[MOST_COMMS], n_comm = 0;
  (void)place;
  for (unsigned i = 0; i < n && n_comm < MOST_COMMS; i++)
    if (entry_of_task (b, running[i])->what == SCN_DO_COLLECTIVE) {
      comm[n_comm] = entry_of_task (b, running[i])->comm;
      of[n_comm++] = i;
    }
  for (unsigned i = 0; i < n && n_comm > 0; i++) {
    const ScnEntry *entry = entry_of_task (b, running[i]);
    if (entry->what != SCN_DO_KERNEL)
      continue;
    double slower = mdl_overlap_many (b->program->scenario->system.overlap, &b->gpu, &entry->compute, comm, n_comm, factor);
    if (b->program->spec->interference.v == SCN_SLOWS_BOTH)
      speed[i] = 1 / slower;
    for (unsigned k = 0; k < n_comm; k++)
      speed[of[k]] = fmin (speed[of[k]], 1 / factor[k]);
  }
}

/* ---- building ---- */

static void
hold (Build *b, EngTask task, Hold what, guint32 number, guint all, guint units)
{
  guint64 key = (guint64)what << 32 | number;
  gpointer known = g_hash_table_lookup (b->resources, &key);
  if (known == NULL) {
    known = GUINT_TO_POINTER (eng_graph_resource (b->graph, "", all) + 1u);
    g_hash_table_insert (b->resources, g_memdup2 (&key, sizeof key), known);
  }
  eng_graph_hold (b->graph, task, GPOINTER_TO_UINT (known) - 1u, units);
}

/* A GPU has a copy engine for each direction to the host, and one for copies to other GPUs. A copy of pageable memory blocks the
 * host's thread that stages it. */
static void
hold_for_copy (Build *b, EngTask task, const ScnEntry *entry)
{
  const Clu *clu = b->program->scenario->system.clu;
  gboolean from_gpu = clu_dev_kind (clu, entry->from) == CLU_DEV_GPU, to_gpu = clu_dev_kind (clu, entry->to) == CLU_DEV_GPU;
  if (from_gpu)
    hold (b, task, to_gpu ? HOLD_ENGINE_PEER : HOLD_ENGINE_OUT, entry->from, 1, 1);
  else if (to_gpu)
    hold (b, task, HOLD_ENGINE_IN, entry->to, 1, 1);
  if (entry->blocks_host)
    hold (b, task, to_gpu ? HOLD_HOST_IN : HOLD_HOST_OUT, clu_dev_node (clu, entry->from), 1, 1);
}

static void
put_on_places (Build *b, EngTask task, const ScnEntry *entry)
{
  const GArray *gpus = entry->gpus;
  for (guint i = 0; b->paced && i < (gpus != NULL ? gpus->len : 1); i++) {
    guint32 gpu = gpus != NULL ? g_array_index (gpus, guint32, i) : entry->gpu;
    gpointer place = g_hash_table_lookup (b->places, GUINT_TO_POINTER (gpu));
    if (place != NULL)
      eng_graph_on (b->graph, task, GPOINTER_TO_UINT (place) - 1u);
  }
}

static void
add_task (Build *b, const ScnEntry *entry)
{
  const EngStream stream = b->stream[entry->stream_number];
  const gboolean alone = b->program->scenario->system.settings.mode == COL_MODE_MODEL;
  EngTask task;
  if (entry->what == SCN_DO_NONE)
    task = eng_graph_join (b->graph, stream, (unsigned)entry->what, NULL);
  else if (entry->uses == NULL || alone)
    task = eng_graph_delay (b->graph, stream, eng_time_from_s (entry->alone_s), (unsigned)entry->what, NULL);
  else
    task = eng_graph_flow (b->graph, stream, &entry->flow, (unsigned)entry->what, NULL);
  if (entry->what == SCN_DO_COPY)
    hold_for_copy (b, task, entry);
  if (entry->what == SCN_DO_KERNEL)
    hold (b, task, HOLD_SMS, entry->gpu, ALL_SMS, (guint)fmax (1, ceil (entry->item->kernel.sms.v * ALL_SMS - 1e-9)));
  if (entry->what == SCN_DO_KERNEL || (entry->what == SCN_DO_COLLECTIVE && entry->uses != NULL && !alone))
    put_on_places (b, task, entry);
}

static void
add_edges (Build *b, guint iteration)
{
  for (guint i = 0; i < b->n; i++) {
    const ScnProgramItem *item = entry_of (b, i)->item;
    const EngTask task = iteration * b->n + i;
    for (guint w = 0; w < item->wait.n; w++)
      eng_graph_after (b->graph, task, iteration * b->n + scn_program_recorder (b->program, item->wait.item[w].v));
    if (item->earlier.event.v != NULL && item->earlier.iterations.v <= iteration)
      eng_graph_after (b->graph, task,
                       (iteration - (guint)item->earlier.iterations.v) * b->n +
                           scn_program_recorder (b->program, item->earlier.event.v));
  }
}

/* Slowing needs the library's constants, and a bound of the collective's own that can be lowered. */
static void
find_places (Build *b)
{
  const ColSystem *system = &b->program->scenario->system;
  b->paced = system->overlap != NULL && !system->settings.no_interference && b->program->spec->interference.v != SCN_SLOWS_NONE &&
             system->settings.mode != COL_MODE_MODEL;
  for (guint i = 0; i < b->n && b->paced; i++) {
    const ScnEntry *entry = entry_of (b, i);
    const gpointer gpu = GUINT_TO_POINTER (entry->gpu);
    if (entry->what == SCN_DO_COLLECTIVE && entry->uses != NULL &&
        !(isfinite (entry->flow.bound_per_s) && entry->flow.bound_per_s > 0))
      b->paced = FALSE;
    if (entry->what == SCN_DO_KERNEL && !g_hash_table_contains (b->places, gpu)) {
      g_hash_table_insert (b->places, gpu, GUINT_TO_POINTER (eng_graph_place (b->graph) + 1u));
      col_gpu_facts (system->clu, clu_dev_node (system->clu, clu_gpu (system->clu, entry->gpu)), &b->gpu);
    }
  }
  if (b->paced)
    eng_graph_set_pace (b->graph, pace, b);
}

/* Before it is built. */
static gboolean
fits (const Build *b, GError **error)
{
  const ScnProgramSpec *spec = b->program->spec;
  const double times = spec->repeat.v;
  EngNeed need = { .tasks = times * b->n, .paced = b->paced ? times * b->n : 0 };
  for (guint i = 0; i < b->n; i++) {
    const ScnEntry *entry = entry_of (b, i);
    need.crossings += times * (entry->uses != NULL ? entry->uses->len : 0);
    need.waits += times * (entry->item->wait.n + (entry->item->earlier.event.v != NULL));
  }
  if (need.crossings >= G_MAXUINT32) /* of which the graph counts no more */
    return col_fail_at (error, spec->repeat.mark, "%.0f iterations load %.0f links of the cluster; at most %u are simulated", times,
                        need.crossings, G_MAXUINT32 - 1);
  g_autofree char *what = g_strdup_printf ("%.0f iterations of %u entries", times, b->n);
  g_autoptr (GError) why = NULL;
  return eng_need_fits (&need, what, &why) || col_fail_at (error, spec->repeat.mark, "%s", why->message);
}

static gboolean
build (Build *b, GError **error)
{
  find_places (b);
  if (!fits (b, error))
    return FALSE;
  for (guint i = 0; i < b->n; i++) {
    ScnEntry *entry = entry_of (b, i);
    if (entry->first)
      b->stream[entry->stream_number] = eng_graph_stream (b->graph, entry->stream->name.v);
    if (entry->uses != NULL) {
      entry->flow.uses = (const EngUse *)(const void *)entry->uses->data;
      entry->flow.n_uses = entry->uses->len;
    }
  }
  for (guint k = 0; k < b->repeat; k++)
    for (guint i = 0; i < b->n; i++)
      add_task (b, entry_of (b, i));
  for (guint k = 0; k < b->repeat; k++)
    add_edges (b, k);
  return TRUE;
}

/* ---- the answer ---- */

static double
start_s (const Build *b, EngTask task)
{
  return eng_time_to_s (eng_graph_task_start (b->graph, task));
}

static double
end_s (const Build *b, EngTask task)
{
  return eng_time_to_s (eng_graph_task_end (b->graph, task));
}

/* From the middle to the last iteration: of the slowest stream, which others wait for or not. */
static double
steady_s (const Build *b, guint middle)
{
  const guint last = b->repeat - 1;
  double most_s = 0;
  for (guint i = 0; i < b->n && last > middle; i++)
    most_s = fmax (most_s, end_s (b, last * b->n + i) - end_s (b, middle * b->n + i));
  return last > middle ? most_s / (last - middle) : 0;
}

static void
add_operations (const Build *b, ScnProgramResult *out)
{
  for (guint i = 0; i < b->n; i++) {
    const ScnEntry *entry = entry_of (b, i);
    const EngTask middle = out->middle * b->n + i;
    const ScnOperationResult one = { .stream = entry->stream->name.v,
                                     .name = g_strdup (entry->name),
                                     .what = entry->what,
                                     .alone_s = entry->alone_s,
                                     .start_s = start_s (b, i),
                                     .end_s = end_s (b, i),
                                     .mid_start_s = out->repeat > 1 ? start_s (b, middle) : (double)NAN,
                                     .mid_end_s = out->repeat > 1 ? end_s (b, middle) : (double)NAN };
    g_array_append_val (out->operations, one);
    out->serial_s += entry->alone_s * out->repeat;
  }
}

static void
add_streams (const Build *b, ScnProgramResult *out)
{
  const ScnProgramSpec *spec = b->program->spec;
  for (guint s = 0; s < spec->streams.n; s++) {
    const ScnProgramStream *stream = BASE_LIST_AT (spec->streams, ScnProgramStream, s);
    ScnStreamResult one = { .name = stream->name.v, .gpu = stream->gpu.v };
    for (guint i = 0; i < b->n; i++) {
      if (entry_of (b, i)->stream_number != s || entry_of (b, i)->what == SCN_DO_NONE)
        continue;
      if (entry_of (b, i)->what == SCN_DO_DELAY)
        continue;
      one.operations++;
      for (guint k = 0; k < out->repeat; k++)
        one.busy_s += end_s (b, k * b->n + i) - start_s (b, k * b->n + i);
    }
    one.idle = out->time_s > 0 ? fmax (1 - one.busy_s / out->time_s, 0) : 0;
    g_array_append_val (out->streams, one);
  }
}

/* Back from what ended last, along what let each start. */
static void
follow_chain (const Build *b, ScnProgramResult *out)
{
  EngTask at = ENG_NO_TASK;
  for (EngTask task = 0; task < eng_graph_n_tasks (b->graph); task++)
    if (at == ENG_NO_TASK || eng_graph_task_end (b->graph, task) > eng_graph_task_end (b->graph, at))
      at = task;
  for (; at != ENG_NO_TASK; at = eng_graph_task_cause (b->graph, at))
    g_array_index (out->operations, ScnOperationResult, at % b->n).chain_s += end_s (b, at) - start_s (b, at);
  for (guint i = 0; i < b->n; i++) {
    ScnOperationResult *one = &g_array_index (out->operations, ScnOperationResult, i);
    one->chain = out->time_s > 0 ? one->chain_s / out->time_s : 0;
  }
}

typedef struct {
  guint first, n; /* operations of a name */
  double sum_s;
} Named;

/* Operations of one name count together: four streams that do the same are one bottleneck. */
static void
name_bottleneck (ScnProgramResult *out)
{
  g_autoptr (GHashTable) index = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) named = g_array_new (FALSE, FALSE, sizeof (Named));
  for (guint i = 0; i < out->operations->len; i++) {
    const ScnOperationResult *one = &g_array_index (out->operations, ScnOperationResult, i);
    guint at = GPOINTER_TO_UINT (g_hash_table_lookup (index, one->name));
    if (at == 0) {
      const Named fresh = { .first = i };
      g_array_append_val (named, fresh);
      at = named->len;
      g_hash_table_insert (index, one->name, GUINT_TO_POINTER (at));
    }
    Named *name = &g_array_index (named, Named, at - 1);
    name->sum_s += one->chain_s;
    name->n++;
  }
  double most_s = 0;
  out->bound_by = "nothing";
  for (guint k = 0; k < named->len; k++) {
    const Named *name = &g_array_index (named, Named, k);
    const ScnOperationResult *one = &g_array_index (out->operations, ScnOperationResult, name->first);
    if (name->sum_s <= most_s)
      continue;
    most_s = name->sum_s;
    g_free (out->bottleneck);
    out->bottleneck = name->n > 1 ? g_strdup_printf ("%s of %u operations", one->name, name->n)
                                  : g_strdup_printf ("%s of stream %s", one->name, one->stream);
    out->bound_by = base_name (scn_do_names, (int)one->what);
  }
  out->bottleneck_share = out->time_s > 0 ? most_s / out->time_s : 0;
}

/* What only waits or records is not shown. */
static void
drop_events (ScnProgramResult *out)
{
  guint kept = 0;
  for (guint i = 0; i < out->operations->len; i++) {
    const ScnOperationResult one = g_array_index (out->operations, ScnOperationResult, i);
    if (one.what != SCN_DO_NONE)
      g_array_index (out->operations, ScnOperationResult, kept++) = one;
    else
      g_free (one.name);
  }
  g_array_set_size (out->operations, kept);
}

static void
add_spans (const Build *b, ColRunInfo *info)
{
  guint n = 0;
  for (EngTask task = 0; info->spans != NULL && task < eng_graph_n_tasks (b->graph) && n < MOST_SPANS; task++) {
    const ScnEntry *entry = entry_of_task (b, task);
    if (entry->what == SCN_DO_NONE)
      continue;
    col_run_span (info, g_strdup (entry->stream->name.v), g_strdup (entry->name), start_s (b, task), end_s (b, task));
    n++;
  }
  if (n == MOST_SPANS)
    col_run_warn (info, "the timeline ends after %u operations", MOST_SPANS);
}

static void
answer (const Build *b, ScnProgramResult *out, ColRunInfo *info)
{
  out->repeat = b->repeat;
  out->middle = (b->repeat - 1) / 2;
  for (EngTask task = 0; task < eng_graph_n_tasks (b->graph); task++)
    out->time_s = fmax (out->time_s, end_s (b, task));
  out->iteration_s = b->repeat > 1 ? steady_s (b, out->middle) : out->time_s;
  out->operations = g_array_new (FALSE, TRUE, sizeof (ScnOperationResult));
  out->streams = g_array_new (FALSE, TRUE, sizeof (ScnStreamResult));
  add_operations (b, out);
  add_streams (b, out);
  follow_chain (b, out);
  drop_events (out);
  name_bottleneck (out);
  out->hidden = out->serial_s > 0 ? 1 - out->time_s / out->serial_s : 0;
  add_spans (b, info);
  info->n_events = eng_stats (col_net_engine (b->program->net)).events;
  col_run_add_links (info, b->program->scenario->system.clu, b->program->net, out->time_s);
}

gboolean
scn_program_run (ScnProgram *program, ScnProgramResult *out, ColRunInfo *info, GError **error)
{
  g_autoptr (EngGraph) graph = eng_graph_new (col_net_engine (program->net));
  g_autoptr (GHashTable) resources = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) places = g_hash_table_new (NULL, NULL);
  g_autofree EngStream *stream = g_new0 (EngStream, program->spec->streams.n);
  Build b = { .program = program, .graph = graph, .n = program->entries->len, .repeat = (guint)program->spec->repeat.v };
  b.resources = resources;
  b.places = places;
  b.stream = stream;
  if (!build (&b, error) || !eng_graph_run (graph, error))
    return FALSE;
  answer (&b, out, info);
  return TRUE;
}
