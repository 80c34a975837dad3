/* The trace of a model's step. A large step has more tasks than a viewer opens: then whole micro-batches are left out, from the
 * middle, so that the pipeline is seen filling and draining. Counters of links are of the busiest link of each class: every
 * transfer counts with its mean rate from its begin to its end. */
#include <math.h>
#include <string.h>

#include "build-private.h"

#define MAX_SLICES  100000u
#define MIN_SAMPLES 2000.0 /* a counter's, spread over the step, where its changes are not all told */

const char *const trn_trace_kind_names[TRN_TRACE_KINDS] = {
  [TRN_TRACE_FORWARD] = "forward",
  [TRN_TRACE_BACKWARD] = "backward",
  [TRN_TRACE_RECOMPUTE] = "recompute",
  [TRN_TRACE_OPTIMIZER] = "optimizer",
  [TRN_TRACE_COPY] = "copy",
  [TRN_TRACE_HOST] = "host",
  [TRN_TRACE_TP] = "tp",
  [TRN_TRACE_CP] = "cp",
  [TRN_TRACE_EP] = "ep",
  [TRN_TRACE_DP] = "dp",
  [TRN_TRACE_SEND] = "send",
};

struct TrnTrace {
  GStringChunk *texts;
  GPtrArray *processes; /* char * */
  GArray *slices, *stretches, *arrows, *counters, *samples;
  char *written;
};

static void
clear_counter (gpointer data)
{
  g_free (((TrnCounter *)data)->name);
}

void
trn_trace_free (TrnTrace *trace)
{
  if (trace == NULL)
    return;
  g_string_chunk_free (trace->texts);
  g_ptr_array_unref (trace->processes);
  g_array_unref (trace->slices);
  g_array_unref (trace->stretches);
  g_array_unref (trace->arrows);
  g_array_unref (trace->counters);
  g_array_unref (trace->samples);
  g_free (trace->written);
  g_free (trace);
}

const GPtrArray *
trn_trace_processes (const TrnTrace *trace)
{
  return trace->processes;
}

guint
trn_trace_n_threads (const TrnTrace *trace)
{
  (void)trace;
  return TRN_ROLES;
}

const char *
trn_trace_thread (const TrnTrace *trace, guint thread)
{
  g_return_val_if_fail (trace != NULL && thread < TRN_ROLES, "");
  return trn_role_names[thread];
}

const GArray *
trn_trace_slices (const TrnTrace *trace)
{
  return trace->slices;
}

const GArray *
trn_trace_stretches (const TrnTrace *trace)
{
  return trace->stretches;
}

const GArray *
trn_trace_arrows (const TrnTrace *trace)
{
  return trace->arrows;
}

const GArray *
trn_trace_counters (const TrnTrace *trace)
{
  return trace->counters;
}

const GArray *
trn_trace_samples (const TrnTrace *trace)
{
  return trace->samples;
}

const char *
trn_trace_written (const TrnTrace *trace)
{
  return trace->written;
}

/* ---- what is written ---- */

typedef struct {
  TrnBuild *b;
  TrnTrace *trace;
  GHashTable *kernels; /* TrnItem -> the names of its works, borrowed from the trace */
  guint32 *role_of;    /* by stream: lane x TRN_ROLES + role */
  guint32 *stretch_of; /* by stream: its last stretch + 1; 0: none yet */
  double gap_s;        /* that a stretch may have within */
  guint32 front, back; /* micro-batches below `front` and from `back` on are written */
} Writer;

static const TrnNote *
note_of (const TrnBuild *b, EngTask task)
{
  return &g_array_index (b->notes, TrnNote, task);
}

static double
start_of (const TrnBuild *b, EngTask task)
{
  return eng_time_to_s (eng_graph_task_start (b->graph, task));
}

static double
end_of (const TrnBuild *b, EngTask task)
{
  return eng_time_to_s (eng_graph_task_end (b->graph, task));
}

static gboolean
lasts (const TrnBuild *b, EngTask task)
{
  return eng_graph_task_end (b->graph, task) > eng_graph_task_start (b->graph, task);
}

static gboolean
is_written (const Writer *w, EngTask task)
{
  gint32 micro_batch = note_of (w->b, task)->at.micro_batch;
  return lasts (w->b, task) && (micro_batch < 0 || (guint32)micro_batch < w->front || (guint32)micro_batch >= w->back);
}

static void
choose (Writer *w)
{
  const TrnBuild *b = w->b;
  guint32 m = b->model->m, n = 0, of_none = 0;
  w->front = w->back = m;
  for (EngTask t = 0; t < b->notes->len; t++) {
    n += lasts (b, t) ? 1 : 0;
    of_none += lasts (b, t) && note_of (b, t)->at.micro_batch < 0 ? 1 : 0;
  }
  if (n <= MAX_SLICES || m < 3)
    return;
  double each = (double)(n - of_none) / m;
  guint32 kept = (guint32)CLAMP (((double)MAX_SLICES - of_none) / each, 2, m - 1);
  w->front = (kept + 1) / 2;
  w->back = m - kept / 2;
  w->trace->written = g_strdup_printf ("the trace has micro-batches 0 to %u and %u to %u of %u: with all of them it would have %u "
                                       "slices, more than viewers take well",
                                       w->front - 1, w->back, m - 1, m, n);
}

/* ---- slices ---- */

static TrnTraceKind
kind_of (unsigned kind)
{
  static const TrnTraceKind kinds[TRN_STEP_KINDS] = {
    [TRN_STEP_FORWARD] = TRN_TRACE_FORWARD,
    [TRN_STEP_BACKWARD] = TRN_TRACE_BACKWARD,
    [TRN_STEP_RECOMPUTE] = TRN_TRACE_RECOMPUTE,
    [TRN_STEP_OPTIMIZER] = TRN_TRACE_OPTIMIZER,
    [TRN_STEP_COPY] = TRN_TRACE_COPY,
    [TRN_STEP_JOIN] = TRN_TRACE_COPY,
    [TRN_STEP_HOST] = TRN_TRACE_HOST,
    [TRN_STEP_SYNC] = TRN_TRACE_HOST,
    [TRN_STEP_TP] = TRN_TRACE_TP,
    [TRN_STEP_CP] = TRN_TRACE_CP,
    [TRN_STEP_EP] = TRN_TRACE_EP,
    [TRN_STEP_DP] = TRN_TRACE_DP,
    [TRN_STEP_SEND_UP] = TRN_TRACE_SEND,
    [TRN_STEP_SEND_DOWN] = TRN_TRACE_SEND,
    [TRN_STEP_OFFLOAD] = TRN_TRACE_COPY,
  };
  return kinds[kind];
}

/* Collectives of a layer by what they are: "reduce_scatter tp"; all else by its own name. */
static const char *
name_of (const Writer *w, EngTask task)
{
  const TrnPriced *comm = note_of (w->b, task)->comm;
  const char *name = eng_graph_task_name (w->b->graph, task);
  TrnTraceKind kind = kind_of (eng_graph_task_kind (w->b->graph, task));
  if (comm == NULL || kind == TRN_TRACE_DP || kind == TRN_TRACE_SEND)
    return g_string_chunk_insert_const (w->trace->texts, name);
  g_autofree char *text = g_strdup_printf ("%s %s", base_name (mdl_op_names, (int)comm->coll.op), name);
  return g_string_chunk_insert_const (w->trace->texts, text);
}

/* Alike items of alike units are one. */
static const char *
kernels_of (Writer *w, guint32 lane, const TrnNote *note)
{
  gpointer known = NULL;
  if (note->item == NULL || g_hash_table_lookup_extended (w->kernels, note->item, NULL, &known))
    return known;
  g_autofree char *text = trn_item_kernels (w->b, lane, &note->at, note->item);
  const char *kept = text != NULL && *text != '\0' ? g_string_chunk_insert_const (w->trace->texts, text) : NULL;
  g_hash_table_insert (w->kernels, (gpointer)note->item, (gpointer)kept);
  return kept;
}

static void
add_slice (Writer *w, EngTask task)
{
  const TrnNote *note = note_of (w->b, task);
  guint32 at = w->role_of[eng_graph_task_stream (w->b->graph, task)];
  TrnSlice slice = { .process = at / TRN_ROLES,
                     .thread = at % TRN_ROLES,
                     .kind = kind_of (eng_graph_task_kind (w->b->graph, task)),
                     .name = name_of (w, task),
                     .kernels = kernels_of (w, at / TRN_ROLES, note),
                     .start_s = start_of (w->b, task),
                     .end_s = end_of (w->b, task),
                     .alone_s = note->alone_s,
                     .micro_batch = note->at.micro_batch,
                     .chunk = mdl_schedule_chunks (&w->b->model->pipe) > 1 ? note->at.chunk : TRN_AT_NONE,
                     .layer = slice.kind == TRN_TRACE_DP ? TRN_AT_NONE : note->at.layer };
  if (note->comm != NULL) {
    const ColAnswer *coll = &note->comm->coll;
    slice.op = coll->op;
    slice.algo = coll->algo;
    slice.proto = coll->proto;
    slice.n_ranks = coll->n_ranks;
    slice.bytes = coll->size_B * note->share;
  }
  g_array_append_val (w->trace->slices, slice);
}

/* Tasks of a stream follow each other in time. */
static void
add_stretch (Writer *w, EngTask task)
{
  const EngStream stream = eng_graph_task_stream (w->b->graph, task);
  const char *name = eng_graph_task_name (w->b->graph, task);
  guint32 *last = &w->stretch_of[stream];
  TrnTraceSpan *before = *last > 0 ? &g_array_index (w->trace->stretches, TrnTraceSpan, *last - 1) : NULL;
  const TrnTraceSpan one = { .process = w->role_of[stream] / TRN_ROLES,
                             .kind = kind_of (eng_graph_task_kind (w->b->graph, task)),
                             .weight = name[0] == 'W' && g_ascii_isdigit (name[1]),
                             .start_s = start_of (w->b, task),
                             .end_s = end_of (w->b, task) };
  if (before != NULL && before->kind == one.kind && before->weight == one.weight && one.start_s - before->end_s <= w->gap_s) {
    before->end_s = one.end_s;
    return;
  }
  g_array_append_val (w->trace->stretches, one);
  *last = w->trace->stretches->len;
}

static void
index_streams (Writer *w)
{
  w->role_of = g_new0 (guint32, eng_graph_n_streams (w->b->graph) + 1u);
  w->stretch_of = g_new0 (guint32, eng_graph_n_streams (w->b->graph) + 1u);
  for (guint32 s = 0; s < w->b->model->pipe.p; s++)
    w->gap_s = fmax (w->gap_s, TRN_TRACE_SPAN_GAP * end_of (w->b, w->b->lane[s].end));
  for (guint32 s = 0; s < w->b->model->pipe.p; s++)
    for (guint32 r = 0; r < TRN_ROLES; r++)
      if (w->b->lane[s].stream[r] != ENG_NO_STREAM)
        w->role_of[w->b->lane[s].stream[r]] = s * TRN_ROLES + r;
}

static void
add_processes (Writer *w)
{
  const TrnModel *model = w->b->model;
  for (guint32 s = 0; s < model->pipe.p; s++) {
    GString *name = g_string_new (NULL);
    g_string_append_printf (name, "stage %u (rank %u; layers", s, trn_grid_rank (&model->grid, s, 0));
    for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++) {
      const TrnStageLayers *cut = &model->cut[mdl_schedule_position (&model->pipe, (MdlPlace){ s, c })];
      if (cut->n > 0)
        g_string_append_printf (name, " %u-%u", cut->first, cut->first + cut->n - 1);
    }
    g_string_append_c (name, ')');
    g_ptr_array_add (w->trace->processes, g_string_free (name, FALSE));
  }
}

/* ---- arrows ---- */

/* The first of a turn's tasks that takes time on the compute stream; ENG_NO_TASK: none. */
static EngTask
begin_of (const TrnBuild *b, guint32 lane, const MdlTurn *turn, EngTask from, EngTask until)
{
  for (EngTask t = from; t <= until; t++) {
    const TrnNote *note = note_of (b, t);
    if (eng_graph_task_stream (b->graph, t) == b->lane[lane].stream[TRN_ROLE_COMPUTE] && lasts (b, t) &&
        note->at.micro_batch == (gint32)turn->micro_batch && note->at.chunk == (gint32)turn->chunk)
      return t;
  }
  return ENG_NO_TASK;
}

/* Sends by what they bring: (receiver's position, micro-batch, way). */
static gpointer
send_key (guint32 position, guint32 micro_batch, guint32 m, gboolean forward)
{
  return GSIZE_TO_POINTER (2 * ((gsize)position * m + micro_batch) + (forward ? 1u : 0u) + 1u);
}

static void
add_arrows (Writer *w, GArray *const *order, TrnDone *const *done)
{
  const TrnBuild *b = w->b;
  const MdlPipeline *pipe = &b->model->pipe;
  g_autoptr (GHashTable) sends = g_hash_table_new (NULL, NULL); /* what a turn needs -> the send, + 1 */
  for (guint32 s = 0; s < pipe->p; s++)
    for (guint i = 0; i < order[s]->len; i++) {
      const MdlTurn *turn = &g_array_index (order[s], MdlTurn, i);
      MdlPlace to;
      if (!mdl_schedule_feeds (pipe, s, turn, &to) || note_of (b, done[s][i].done)->comm == NULL)
        continue;
      g_hash_table_insert (sends,
                           send_key (mdl_schedule_position (pipe, to), turn->micro_batch, pipe->m, turn->kind == MDL_TURN_FORWARD),
                           GUINT_TO_POINTER (done[s][i].done + 1u));
    }
  for (guint32 s = 0; s < pipe->p; s++)
    for (guint i = 0; i < order[s]->len; i++) {
      const MdlTurn *turn = &g_array_index (order[s], MdlTurn, i);
      if (turn->kind == MDL_TURN_WEIGHT_GRADIENT)
        continue;
      guint32 position = mdl_schedule_position (pipe, (MdlPlace){ s, turn->chunk });
      gpointer known = g_hash_table_lookup (sends, send_key (position, turn->micro_batch, pipe->m, turn->kind == MDL_TURN_FORWARD));
      EngTask send = known != NULL ? GPOINTER_TO_UINT (known) - 1u : ENG_NO_TASK;
      EngTask to = send != ENG_NO_TASK ? begin_of (b, s, turn, done[s][i].first, done[s][i].last) : ENG_NO_TASK;
      if (to == ENG_NO_TASK || !is_written (w, send) || !is_written (w, to))
        continue;
      guint32 at = w->role_of[eng_graph_task_stream (b->graph, send)];
      const TrnArrow arrow = { .from_process = at / TRN_ROLES,
                               .from_thread = at % TRN_ROLES,
                               .to_process = s,
                               .to_thread = TRN_ROLE_COMPUTE,
                               .from_s = start_of (b, send),
                               .to_s = start_of (b, to),
                               .name = name_of (w, send) };
      g_array_append_val (w->trace->arrows, arrow);
    }
}

/* ---- counters ---- */

typedef struct {
  EngTime at;
  double change;
  gboolean told; /* it is of what is written */
} Change;

static gint
compare_changes (gconstpointer a, gconstpointer b)
{
  const Change *x = a, *y = b;
  return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

/* Changes that come at once are one sample; those that are not told come at least so often that the level is seen. */
static void
add_samples (Writer *w, GArray *changes, const TrnCounter *counter)
{
  guint32 number = w->trace->counters->len;
  double value = 0, told = 0, last_s = 0;
  g_array_append_vals (w->trace->counters, counter, 1);
  g_array_sort (changes, compare_changes);
  double end_s = changes->len > 0 ? eng_time_to_s (g_array_index (changes, Change, changes->len - 1).at) : 0;
  for (guint i = 0; i < changes->len;) {
    EngTime at = g_array_index (changes, Change, i).at;
    gboolean tell = FALSE;
    for (; i < changes->len && g_array_index (changes, Change, i).at == at; i++) {
      value += g_array_index (changes, Change, i).change;
      tell = tell || g_array_index (changes, Change, i).told;
    }
    double at_s = eng_time_to_s (at), level = value > 1e-9 ? value : 0; /* residue of sums and differences */
    if (!tell && i < changes->len && at_s - last_s < end_s / MIN_SAMPLES)
      continue;
    if (fabs (level - told) <= 1e-9)
      continue;
    const TrnSample sample = { number, at_s, level };
    g_array_append_val (w->trace->samples, sample);
    told = level;
    last_s = at_s;
  }
}

/* What of the resource's capacity a transfer takes, a second of its own. */
static double
use_of (const TrnBuild *b, const TrnPriced *priced, CluRes res)
{
  for (guint i = 0; i < priced->all->len; i++) {
    const ColLoad *load = &g_array_index (priced->all, ColLoad, i);
    if (load->res == res)
      return priced->coll.size_B * load->load * priced->coll.cost.wire /
             (load->factor * clu_resource_capacity (b->model->job->system->clu, res));
  }
  return 0;
}

static void
add_link (Writer *w, CluRes res)
{
  const TrnBuild *b = w->b;
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (Change));
  g_autoptr (GHashTable) uses = g_hash_table_new_full (NULL, NULL, NULL, g_free); /* TrnPriced -> double */
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = note_of (b, t);
    if (note->comm == NULL || !lasts (b, t))
      continue;
    double *use_s = g_hash_table_lookup (uses, note->comm);
    if (use_s == NULL) {
      use_s = g_new (double, 1);
      *use_s = use_of (b, note->comm, res);
      g_hash_table_insert (uses, (gpointer)note->comm, use_s);
    }
    if (*use_s <= 0)
      continue;
    double rate = *use_s * note->share / (end_of (b, t) - start_of (b, t));
    const Change begin = { eng_graph_task_start (b->graph, t), rate, is_written (w, t) },
                 end = { eng_graph_task_end (b->graph, t), -rate, is_written (w, t) };
    g_array_append_val (changes, begin);
    g_array_append_val (changes, end);
  }
  g_autofree char *link = clu_resource_name (b->model->job->system->clu, res);
  const char *link_class = clu_resource_class (b->model->job->system->clu, res);
  const TrnCounter counter = { -1, g_strdup_printf ("%s: %s", link_class, link), "use" };
  add_samples (w, changes, &counter);
}

/* Of each class the resource that is busiest over the step. */
static void
add_links (Writer *w)
{
  const Clu *clu = w->b->model->job->system->clu;
  const GArray *resources = col_net_resources (w->b->net);
  g_autoptr (GPtrArray) classes = g_ptr_array_new ();
  g_autoptr (GArray) busiest = g_array_new (FALSE, FALSE, sizeof (guint32)), most = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint32 i = 0; i < resources->len; i++) {
    CluRes res = g_array_index (resources, CluRes, i);
    guint place = 0;
    double use = col_net_counted (w->b->net, i).effort_B / clu_resource_capacity (clu, res);
    while (place < classes->len && strcmp (classes->pdata[place], clu_resource_class (clu, res)) != 0)
      place++;
    if (place == classes->len) {
      g_ptr_array_add (classes, (gpointer)clu_resource_class (clu, res));
      g_array_append_val (busiest, i);
      g_array_append_val (most, use);
    } else if (use > g_array_index (most, double, place) * (1 + 1e-9)) {
      g_array_index (busiest, guint32, place) = i;
      g_array_index (most, double, place) = use;
    }
  }
  for (guint k = 0; k < classes->len; k++)
    add_link (w, g_array_index (resources, CluRes, g_array_index (busiest, guint32, k)));
}

/* Chunks of micro-batches whose forward pass has begun and whose last backward pass has not ended: their activations are held. */
static void
add_in_flight (Writer *w, guint32 lane, const GArray *order, const TrnDone *done)
{
  const TrnBuild *b = w->b;
  guint32 m = b->model->m;
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (Change));
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL); /* (chunk, micro-batch) -> its last turn, + 1 */
  for (guint i = 0; i < order->len; i++) {
    const MdlTurn *turn = &g_array_index (order, MdlTurn, i);
    g_hash_table_replace (last, GSIZE_TO_POINTER ((gsize)turn->chunk * m + turn->micro_batch + 1u), GUINT_TO_POINTER (i + 1u));
  }
  for (guint i = 0; i < order->len; i++) {
    const MdlTurn *turn = &g_array_index (order, MdlTurn, i);
    gpointer key = GSIZE_TO_POINTER ((gsize)turn->chunk * m + turn->micro_batch + 1u);
    gboolean told = turn->micro_batch < w->front || turn->micro_batch >= w->back;
    EngTask first = begin_of (b, lane, turn, done[i].first, done[i].last);
    if (turn->kind == MDL_TURN_FORWARD) {
      const Change one = { eng_graph_task_start (b->graph, first != ENG_NO_TASK ? first : done[i].first), 1, told };
      g_array_append_val (changes, one);
    }
    if (GPOINTER_TO_UINT (g_hash_table_lookup (last, key)) == i + 1u) {
      const Change one = { eng_graph_task_end (b->graph, done[i].last), -1, told };
      g_array_append_val (changes, one);
    }
  }
  const TrnCounter counter = { (gint32)lane, g_strdup ("activations held"), "micro-batches of a chunk" };
  add_samples (w, changes, &counter);
}

TrnTrace *
trn_step_trace (TrnBuild *b, GArray *const *order, TrnDone *const *done)
{
  TrnTrace *trace = g_new0 (TrnTrace, 1);
  trace->texts = g_string_chunk_new (4096);
  trace->processes = g_ptr_array_new_with_free_func (g_free);
  trace->slices = g_array_new (FALSE, FALSE, sizeof (TrnSlice));
  trace->stretches = g_array_new (FALSE, FALSE, sizeof (TrnTraceSpan));
  trace->arrows = g_array_new (FALSE, FALSE, sizeof (TrnArrow));
  trace->counters = g_array_new (FALSE, FALSE, sizeof (TrnCounter));
  g_array_set_clear_func (trace->counters, clear_counter);
  trace->samples = g_array_new (FALSE, FALSE, sizeof (TrnSample));
  Writer w = { .b = b, .trace = trace, .kernels = g_hash_table_new (NULL, NULL) };
  choose (&w);
  index_streams (&w);
  add_processes (&w);
  for (EngTask t = 0; t < b->notes->len; t++)
    if (is_written (&w, t))
      add_slice (&w, t);
    else if (lasts (b, t))
      add_stretch (&w, t);
  add_arrows (&w, order, done);
  add_links (&w);
  for (guint32 s = 0; s < b->model->pipe.p; s++)
    add_in_flight (&w, s, order[s], done[s]);
  g_hash_table_unref (w.kernels);
  g_free (w.role_of);
  g_free (w.stretch_of);
  return trace;
}
