/* The tasks of an input pipeline on the engine: the first node's readers, batch by batch, beside compute that takes as long as the
 * step's micro-batches (loader.c says which tasks and what they take).
 * Check: test_storage_loader. */
#include <math.h>

#include "base/random.h"
#include "engine/graph.h"
#include "loader-private.h"

/* Steps and batches that are looked at, at least. */
enum { LEAST_STEPS = 6, LEAST_TURNS = 4, LEAST_BATCHES = 512 };

enum { READ, DECODE, PIN, COPY, DECODER, COMPUTE };

/* Streams of one reader, its tasks by batch. */
typedef struct {
  EngStream *worker, pin, to_gpu, decoder;
  EngTask *read, *copy;
  EngTask there; /* the last batch is on the GPU, decoded there where it has an engine */
} Reader;

typedef struct {
  const TrnPipe *pipe;
  EngGraph *graph;
  EngResource cores;
  gboolean counts_cores;
  guint32 n, measured; /* batches; steps that are looked at, the last */
  EngLink *link;
  EngLink servers;
  Reader *reader;
  EngTask *compute;
} Graph;

static EngTask
core_task (const Graph *g, EngStream stream, double time_s, unsigned kind)
{
  EngTask task = eng_graph_delay (g->graph, stream, eng_time_from_s (time_s), kind, NULL);
  if (g->counts_cores && time_s > 0)
    eng_graph_hold (g->graph, task, g->cores, 1);
  return task;
}

/* How many times its mean a batch's read takes; 1 in the mean. */
static double
uneven (const TrnPipe *pipe, guint32 reader, guint32 batch)
{
  if (pipe->spec->variation.v <= 0)
    return 1;
  double variance = log1p (pipe->spec->variation.v * pipe->spec->variation.v);
  BaseRandom random = base_random_stream_at (pipe->job->seed, "loader", (guint64)reader << 32 | batch);
  return exp (sqrt (variance) * base_random_normal (&random) - variance / 2);
}

/* What a worker reads, and how fast it may. */
static void
read_spec (const Graph *g, guint32 reader, GArray *uses, EngFlowSpec *spec)
{
  const TrnPipe *pipe = g->pipe;
  const GArray *way = pipe->uses->pdata[reader];
  g_array_set_size (uses, 0);
  for (guint u = 0; u < way->len; u++) {
    const CluUse *use = &g_array_index (way, CluUse, u);
    guint at = 0;
    while (g_array_index (pipe->loads, TrnPipeLoad, at).res != use->res)
      at++;
    EngUse one = { g->link[at], use->share };
    g_array_append_val (uses, one);
  }
  EngUse servers = { g->servers, 1 };
  g_array_append_val (uses, servers);
  *spec = (EngFlowSpec){ .amount = pipe->out->batch_B * pipe->misses,
                         .bound_per_s = pipe->worker_Bps,
                         .uses = (const EngUse *)(const void *)uses->data,
                         .n_uses = uses->len };
}

/* Batch b of one reader, until it is on the GPU. */
static void
add_batch (Graph *g, guint32 r, guint32 b, const EngFlowSpec *flow)
{
  const TrnPipe *pipe = g->pipe;
  guint32 workers = (guint32)trn_pipe_workers (pipe->spec), ahead = workers * (guint32)pipe->spec->prefetch.v;
  EngFlowSpec mine = *flow;
  mine.amount *= uneven (pipe, r, b);
  Reader *reader = &g->reader[r];
  EngStream own = reader->worker[b % workers];
  reader->read[b] =
      mine.amount > 0 ? eng_graph_flow (g->graph, own, &mine, READ, NULL) : eng_graph_join (g->graph, own, READ, NULL);
  if (pipe->spec->workers.v < 1 && b > 0)
    eng_graph_after (g->graph, reader->read[b], g->compute[b - 1]);
  else if (b >= ahead)
    eng_graph_after (g->graph, reader->read[b], reader->copy[b - ahead]);
  EngTask ready = core_task (g, own, pipe->out->decode_s + pipe->out->batch_B * pipe->core_s_per_B, DECODE);
  EngTask pinned = core_task (g, reader->pin, pipe->out->pin_s, PIN);
  eng_graph_after (g->graph, pinned, ready);
  reader->copy[b] = eng_graph_delay (g->graph, reader->to_gpu, eng_time_from_s (pipe->out->copy_s), COPY, NULL);
  eng_graph_after (g->graph, reader->copy[b], pinned);
  const guint32 behind = pipe->spec->pin.v ? 2 : 1;
  if (b >= behind)
    eng_graph_after (g->graph, reader->copy[b], g->compute[b - behind]);
  reader->there = reader->copy[b];
  if (pipe->gpu_decode_s > 0 && pipe->spec->decoder.v == STO_DECODE_ENGINE) {
    reader->there = eng_graph_delay (g->graph, reader->decoder, eng_time_from_s (pipe->gpu_decode_s), DECODER, NULL);
    eng_graph_after (g->graph, reader->there, reader->copy[b]);
  }
}

/* All readers of the node go on together, as data-parallel ranks do: a batch is computed once the last has it. SMs that decode do
 * so before. Tasks are made batch by batch, since cores are granted in their order. */
static void
add_batches (Graph *g)
{
  const TrnPipe *pipe = g->pipe;
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  g_autofree EngFlowSpec *flow = g_new (EngFlowSpec, pipe->local);
  for (guint32 r = 0; r < pipe->local; r++) {
    GArray *uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
    g_ptr_array_add (kept, uses);
    read_spec (g, r, uses, &flow[r]);
  }
  EngStream compute = eng_graph_stream (g->graph, "compute");
  for (guint32 b = 0; b < g->n; b++) {
    for (guint32 r = 0; r < pipe->local; r++)
      add_batch (g, r, b, &flow[r]);
    EngTask begin = pipe->before_s > 0 ? eng_graph_delay (g->graph, compute, eng_time_from_s (pipe->before_s), DECODER, NULL)
                                       : eng_graph_join (g->graph, compute, DECODER, NULL);
    for (guint32 r = 0; r < pipe->local; r++)
      eng_graph_after (g->graph, begin, g->reader[r].there);
    g->compute[b] = eng_graph_delay (g->graph, compute, eng_time_from_s (pipe->out->batch_s), COMPUTE, NULL);
  }
}

/* Over the steps that are looked at, where batches come evenly. */
static void
take_stall (const Graph *g, TrnLoaderResult *out)
{
  guint32 m = g->pipe->m, steps = g->n / m, from = steps - g->measured;
  double read_s = 0, begin_s = eng_time_to_s (eng_graph_task_end (g->graph, g->compute[from * m - 1]));
  double end_s = eng_time_to_s (eng_graph_task_end (g->graph, g->compute[steps * m - 1]));
  for (guint32 r = 0; r < g->pipe->local; r++)
    for (guint32 b = from * m; b < steps * m; b++)
      read_s += eng_time_to_s (eng_graph_task_end (g->graph, g->reader[r].read[b]) -
                               eng_graph_task_start (g->graph, g->reader[r].read[b]));
  out->read_s = read_s / ((double)g->measured * m * g->pipe->local);
  double stall_s = (end_s - begin_s) / g->measured - out->batch_s * m;
  /* picoseconds of each task are rounded */
  out->stall_s = stall_s > 1e-9 * (end_s - begin_s) ? stall_s : 0;
  out->first_s = eng_time_to_s (eng_graph_task_start (g->graph, g->compute[0]));
}

static guint32
greatest_divisor (guint32 a, guint32 b)
{
  while (b != 0) {
    guint32 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void
reader_init (const Graph *g, Reader *reader, guint32 workers)
{
  reader->worker = g_new (EngStream, workers);
  for (guint32 w = 0; w < workers; w++)
    reader->worker[w] = eng_graph_stream (g->graph, "worker");
  reader->pin = eng_graph_stream (g->graph, "pin");
  reader->to_gpu = eng_graph_stream (g->graph, "copy");
  reader->decoder = eng_graph_stream (g->graph, "decoder");
  reader->read = g_new (EngTask, g->n);
  reader->copy = g_new (EngTask, g->n);
}

static void
graph_clear (Graph *g)
{
  for (guint32 r = 0; r < g->pipe->local; r++) {
    g_free (g->reader[r].worker);
    g_free (g->reader[r].read);
    g_free (g->reader[r].copy);
  }
  g_free (g->reader);
  g_free (g->compute);
  g_free (g->link);
  eng_graph_free (g->graph);
}

gboolean
trn_pipe_simulate (const TrnPipe *pipe, guint64 *n_events, GError **error)
{
  TrnLoaderResult *out = pipe->out;
  g_autoptr (Eng) eng = eng_new ();
  Graph g = { .pipe = pipe, .graph = eng_graph_new (eng) };
  double cores = trn_pipe_cores (pipe), ahead = trn_pipe_workers (pipe->spec) * pipe->spec->prefetch.v;
  /* batches come in turns of the workers: whole turns are looked at, behind as many and all that lay ready */
  guint32 workers = (guint32)trn_pipe_workers (pipe->spec), turn = workers / greatest_divisor (workers, pipe->m);
  guint32 most = TRN_MOST_BATCHES / pipe->m, before;
  guint32 least = MAX (LEAST_STEPS, (LEAST_BATCHES + pipe->m - 1) / pipe->m);
  g.measured = turn * ((least + turn - 1) / turn);
  before = MAX (g.measured, (guint32)ceil (LEAST_TURNS * ahead / pipe->m));
  g.measured = MIN (g.measured, most / 2);
  before = MAX (MIN (before, most - g.measured), 1u);
  g.n = (g.measured + before) * pipe->m;
  g.counts_cores = cores > 0;
  g.cores = eng_graph_resource (g.graph, "cores", (unsigned)fmax (cores, 1));
  g.link = g_new (EngLink, MAX (pipe->loads->len, 1u));
  for (guint i = 0; i < pipe->loads->len; i++) {
    const TrnPipeLoad *load = &g_array_index (pipe->loads, TrnPipeLoad, i);
    g.link[i] = eng_link_new (eng, clu_resource_capacity (pipe->job->system->clu, load->res) * load->here / load->all);
  }
  g.servers = eng_link_new (eng, pipe->servers_Bps * pipe->local / out->readers);
  g.compute = g_new (EngTask, g.n);
  g.reader = g_new0 (Reader, pipe->local);
  for (guint32 r = 0; r < pipe->local; r++)
    reader_init (&g, &g.reader[r], workers);
  add_batches (&g);
  gboolean ok = eng_graph_run (g.graph, error);
  if (ok)
    take_stall (&g, out);
  *n_events += eng_stats (eng).events;
  graph_clear (&g);
  return ok;
}
