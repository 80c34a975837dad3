/* The input pipeline of a training step, as tasks beside it: in each node, for each rank that reads,
 *
 *     worker w:  read b, decode b, read b + W, …    W workers, each at most `prefetch` batches ahead of what was taken
 *     pinning:   copy into pinned memory by a core
 *     copy:      to the GPU, one batch ahead of compute; out of pageable memory behind the batch before, since the driver
 *                synchronises with the stream before it stages (CUDA Runtime API, "API synchronization behavior")
 *     decoder:   on the GPU's own engine, or its SMs before the batch's compute
 *     compute:   the step's time over its micro-batches
 * Without workers the main process does all of it between two batches. By GPUDirect Storage reads end in the GPU, without pinning
 * and copy. With `variation` a batch's read takes f times its mean, f lognormal from a stream of the seed by reader and batch: what
 * lies ready hides it, up to prefetch x workers batches.
 * Reads are flows over the links of the way to the storage; cores of the node are counted; storage gives all readers what its
 * queue gives (models/tier.h). All nodes do the same: the first is simulated with its part of what they share. Runs until batches
 * come evenly; what a step then takes beyond its own time is the stall. What starves it is the stage that could hand out batches
 * least often.
 * Of a replica the ranks read that Megatron-LM has read (pretrain_gpt.py:is_dataset_built_on_rank at 000ab9d: first and last
 * pipeline stage, tensor rank 0), whole batches also where context-parallel ranks keep a part; the batch is then broadcast to the
 * tensor ranks (megatron/training/utils.py:get_batch_on_this_tp_rank at 00caa53), as one tensor here, before it is computed.
 * Valid: readers spread evenly over the nodes. Source: torch.utils.data.DataLoader (workers hand out batches in turn,
 * prefetch_factor each). Check: test_storage_loader. */
#include "training/loader.h"
#include "storage/copies.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "concurrent-private.h"
#include "engine/graph.h"
#include "model-private.h"
#include "staging-private.h"
#include "storage/io_run.h"
#include "training/rounds.h"

/* Batches of a reader that are simulated at most, and steps at least. */
enum { MOST_BATCHES = 8192, LEAST_STEPS = 6, LEAST_TURNS = 4, LEAST_BATCHES = 512 };

/* One resource of the first node's ways. */
typedef struct {
  CluRes res;
  double here, all; /* bytes a byte of every reader: of the first node's readers, of all */
} Load;

typedef struct {
  const TrnJob *job;
  const TrnLoaderSpec *spec;
  const TrnResult *training;
  TrnLoaderResult *out;
  MdlTier tier;
  CluDev dev;
  GArray *homes;             /* StoIoHome */
  guint32 first;             /* node of the first */
  guint32 n_nodes, local, m; /* readers of a node; micro-batches */
  guint32 gpus;              /* that each of them feeds */
  double misses;
  GArray *loads;       /* Load */
  GPtrArray *uses;     /* of each local reader: GArray of CluUse */
  double worker_Bps;   /* one worker alone */
  double servers_Bps;  /* all readers together */
  double core_s_per_B; /* of a read by way of the host */
  double gpu_decode_s; /* on the GPU */
  double before_s;     /* of the GPU before it computes a batch */
} Pipe;

static void
pipe_clear (Pipe *pipe)
{
  g_clear_pointer (&pipe->homes, g_array_unref);
  g_clear_pointer (&pipe->loads, g_array_unref);
  g_clear_pointer (&pipe->uses, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pipe, pipe_clear)

/* The main process is one worker, whose batches wait for compute. */
static double
workers_of (const TrnLoaderSpec *spec)
{
  return fmax (spec->workers.v, 1);
}

static Load *
load_of (Pipe *pipe, CluRes res, gboolean make)
{
  for (guint i = 0; i < pipe->loads->len; i++)
    if (g_array_index (pipe->loads, Load, i).res == res)
      return &g_array_index (pipe->loads, Load, i);
  if (!make)
    return NULL;
  Load fresh = { .res = res };
  g_array_append_val (pipe->loads, fresh);
  return &g_array_index (pipe->loads, Load, pipe->loads->len - 1);
}

/* Ways of all readers: those of the first node in full, of the others what they load of its resources. */
static gboolean
find_ways (Pipe *pipe, double *latency_s, GError **error)
{
  const TrnJob *job = pipe->job;
  for (guint32 node = 0; node < pipe->n_nodes; node++)
    for (guint32 i = 0; i < pipe->local; i++) {
      const StoIoPlace place = { g_array_index (pipe->homes, StoIoHome, node).node, i * pipe->gpus };
      const StoIoEnds ends = { pipe->dev, place, MDL_IO_READ, pipe->spec->path.v == TRN_LOAD_GDS ? STO_IO_GDS : STO_IO_HOST };
      g_auto (StoIoRoute) way = { 0 };
      g_autoptr (GError) why = NULL;
      if (!sto_io_route (job->system->clu, &job->system->settings, &ends, &way, &why))
        return col_fail_at (error, pipe->spec->path.set ? pipe->spec->path.mark : pipe->spec->tier.mark, "%s", why->message);
      for (guint u = 0; u < way.uses->len; u++) {
        const CluUse *use = &g_array_index (way.uses, CluUse, u);
        Load *load = load_of (pipe, use->res, node == 0);
        if (load != NULL) {
          load->all += use->share;
          load->here += node == 0 ? use->share : 0;
        }
      }
      *latency_s = fmax (*latency_s, way.latency_s);
      if (node == 0)
        g_ptr_array_add (pipe->uses, g_array_ref (way.uses));
    }
  return TRUE;
}

/* Of a request to the tier, at most a batch. */
static double
request_B (const TrnLoaderSpec *spec, const MdlTier *tier)
{
  double own_B = tier->type.io_size.v > 0 ? tier->type.io_size.v : 1048576;
  double io_B = spec->io_size.set ? spec->io_size.v : spec->access.v == 1 ? fmin (spec->sample.v, own_B) : own_B;
  return spec->cache.v != MDL_CACHE_OFF && spec->access.v == 0 ? mdl_tier_request_B (tier, io_B, spec->read_ahead.v) : io_B;
}

/* A tier that caches another one, as it serves this epoch. TRUE: what it fetches limits the reads. */
static gboolean
ask_cache (Pipe *pipe)
{
  const TrnLoaderSpec *spec = pipe->spec;
  MdlTierCache cache;
  MdlTierCached reads;
  if (!clu_tier_cache (pipe->job->system->clu, pipe->dev, &cache, NULL, NULL))
    return FALSE;
  const double hits = mdl_tier_cache_hits (&cache, spec->dataset.v * pipe->n_nodes, spec->access.v == 1);
  pipe->out->fetched = spec->epoch.v == TRN_EPOCH_FIRST ? 1 : 1 - hits;
  mdl_tier_cache_reads (&pipe->tier, &cache, pipe->out->fetched, fmin (request_B (spec, &pipe->tier), pipe->out->batch_B), &reads);
  pipe->tier = reads.tier;
  return reads.slows;
}

static void
ask_storage (Pipe *pipe, double latency_s)
{
  const TrnLoaderSpec *spec = pipe->spec;
  TrnLoaderResult *out = pipe->out;
  const gboolean by_origin = ask_cache (pipe);
  pipe->tier.type.side[MDL_IO_READ].latency.v += latency_s;
  MdlTierQuestion q = { .op = MDL_IO_READ,
                        .path = spec->path.v == TRN_LOAD_GDS ? MDL_IO_CUFILE : MDL_IO_HOST,
                        .random = spec->access.v == 1,
                        .block_B = fmin (request_B (spec, &pipe->tier), out->batch_B),
                        .in_flight = spec->depth.v,
                        .clients = 1,
                        .file_B = spec->file_size.v };
  MdlTierCost one, all;
  mdl_tier_cost (&pipe->tier, &q, pipe->job->system->storage, &one);
  gboolean local = pipe->tier.type.kind.v == MDL_TIER_LOCAL_NVME; /* each node has its own */
  q.clients = local ? pipe->local : out->readers;
  q.in_flight = spec->depth.v * workers_of (spec);
  mdl_tier_cost (&pipe->tier, &q, pipe->job->system->storage, &all);
  pipe->worker_Bps = one.client_rate_Bps;
  pipe->servers_Bps = all.all.rate_Bps * (local ? pipe->n_nodes : 1);
  const gboolean fetches = by_origin && (all.all.bound == MDL_IO_BY_LATENCY || all.all.bound == MDL_IO_BY_RATE);
  const char *bound = all.by_metadata ? "metadata" : fetches ? "origin" : mdl_io_bound_names[all.all.bound];
  g_strlcpy (out->bound_by, bound, sizeof out->bound_by);
  out->source = MIN (out->source, all.all.source);
}

static double
cores_of (const Pipe *pipe)
{
  return col_system_cores (pipe->job->system, pipe->first);
}

/* Copies of one batch to all GPUs that read at the same time, of so many bytes a sample; *time_s grows by the slowest. */
static gboolean
price_copy (const Pipe *pipe, double sample_B, double *time_s, GError **error)
{
  const Clu *clu = pipe->job->system->clu;
  guint32 node = pipe->first, n = pipe->local * pipe->gpus, gpus = clu_gpus_per_node (clu, node),
          memories = clu_node_n (clu, node, CLU_DEV_MEMORY);
  n = MIN (n, gpus);
  g_autofree StoPair *pair = g_new0 (StoPair, n);
  for (guint32 i = 0; i < n; i++)
    pair[i] = (StoPair){ clu_node_device (clu, node, CLU_DEV_MEMORY, i * memories / gpus),
                         clu_node_device (clu, node, CLU_DEV_GPU, i), "host", "GPU", 1 };
  const StoCopies copies = { .pair = pair,
                             .n = n,
                             .size_B = pipe->out->batch_B / pipe->spec->sample.v * sample_B / pipe->gpus,
                             .count = 1,
                             .pageable = !pipe->spec->pin.v };
  StoFault fault;
  g_autoptr (GPtrArray) done = sto_copies_price (clu, &pipe->job->system->settings, &copies, &fault, error);
  double slowest_s = 0;
  for (guint i = 0; done != NULL && i < done->len; i++)
    slowest_s = fmax (slowest_s, ((const StoCopy *)done->pdata[i])->time_s);
  *time_s += slowest_s;
  return done != NULL;
}

/* What crosses to the GPU: packed where the GPU decodes, nothing where storage reaches it. */
static gboolean
price_copies (Pipe *pipe, GError **error)
{
  const TrnLoaderSpec *spec = pipe->spec;
  double decoded_B = spec->decoded.set ? spec->decoded.v : spec->sample.v, back_s = 0;
  if (spec->path.v == TRN_LOAD_HOST &&
      !price_copy (pipe, spec->decoder.v == STO_DECODE_CPU ? decoded_B : spec->sample.v, &pipe->out->copy_s, error))
    return FALSE;
  if (spec->returns.v && !price_copy (pipe, decoded_B, &back_s, error))
    return FALSE;
  pipe->out->copy_s += 2 * back_s; /* there and back take as long */
  return TRUE;
}

/* What each stage takes of one batch, and how often it could hand one out. */
static void
price_stages (Pipe *pipe)
{
  const TrnLoaderSpec *spec = pipe->spec;
  const MdlStorage *storage = pipe->job->system->storage;
  TrnLoaderResult *out = pipe->out;
  double samples = out->batch_B / spec->sample.v, core_Bps = storage != NULL && storage->core.set ? storage->core.v : HUGE_VAL;
  double decoded_B = samples * (spec->decoded.set ? spec->decoded.v : spec->sample.v);
  double decode_s = samples * spec->decode.v;
  out->decode_s = spec->decoder.v == STO_DECODE_CPU ? decode_s : 0;
  pipe->gpu_decode_s = spec->decoder.v == STO_DECODE_CPU ? 0 : decode_s / pipe->gpus;
  /* protocol and the page cache's copy are the worker's own time */
  gboolean gds = spec->path.v == TRN_LOAD_GDS;
  double s_per_B = (pipe->tier.type.core.set && !gds ? pipe->misses / pipe->tier.type.core.v : 0) +
                   (spec->cache.v != MDL_CACHE_OFF ? 1 / core_Bps : 0);
  pipe->core_s_per_B = s_per_B;
  out->pin_s = spec->pin.v && !spec->in_place.v && !gds ? decoded_B / core_Bps : 0;
  double stored_B = out->batch_B * pipe->misses;
  out->storage_s = stored_B * out->readers / pipe->servers_Bps;
  for (guint i = 0; i < pipe->loads->len; i++) {
    const Load *load = &g_array_index (pipe->loads, Load, i);
    double least_s = stored_B * load->all / clu_resource_capacity (pipe->job->system->clu, load->res);
    gboolean tier = clu_resource_family (pipe->job->system->clu, load->res) == CLU_FAMILY_STORAGE;
    double *to = tier ? &out->storage_s : &out->network_s;
    *to = fmax (*to, least_s);
  }
  double alone_s = stored_B / pipe->worker_Bps + out->batch_B * s_per_B;
  out->workers_s = (alone_s + out->decode_s) / workers_of (spec);
  double cores = cores_of (pipe), core_s = (out->decode_s + out->batch_B * s_per_B + out->pin_s) * pipe->local;
  out->core_s = core_s * pipe->m;
  out->cores_s = cores > 0 ? core_s / cores : 0;
}

/* ---- the tasks ---- */

enum { READ, DECODE, PIN, COPY, DECODER, COMPUTE };

/* Streams of one reader, its tasks by batch. */
typedef struct {
  EngStream *worker, pin, to_gpu, decoder;
  EngTask *read, *copy;
  EngTask there; /* the last batch is on the GPU, decoded there where it has an engine */
} Reader;

typedef struct {
  const Pipe *pipe;
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
uneven (const Pipe *pipe, guint32 reader, guint32 batch)
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
  const Pipe *pipe = g->pipe;
  const GArray *way = pipe->uses->pdata[reader];
  g_array_set_size (uses, 0);
  for (guint u = 0; u < way->len; u++) {
    const CluUse *use = &g_array_index (way, CluUse, u);
    guint at = 0;
    while (g_array_index (pipe->loads, Load, at).res != use->res)
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
  const Pipe *pipe = g->pipe;
  guint32 workers = (guint32)workers_of (pipe->spec), ahead = workers * (guint32)pipe->spec->prefetch.v;
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
  const Pipe *pipe = g->pipe;
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

static gboolean
simulate (const Pipe *pipe, guint64 *n_events, GError **error)
{
  TrnLoaderResult *out = pipe->out;
  g_autoptr (Eng) eng = eng_new ();
  Graph g = { .pipe = pipe, .graph = eng_graph_new (eng) };
  double cores = cores_of (pipe), ahead = workers_of (pipe->spec) * pipe->spec->prefetch.v;
  /* batches come in turns of the workers: whole turns are looked at, behind as many and all that lay ready */
  guint32 workers = (guint32)workers_of (pipe->spec), turn = workers / greatest_divisor (workers, pipe->m);
  guint32 most = MOST_BATCHES / pipe->m, before;
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
    const Load *load = &g_array_index (pipe->loads, Load, i);
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

static void
name_starved (const Pipe *pipe)
{
  TrnLoaderResult *out = pipe->out;
  const double behind_s = pipe->spec->pin.v ? 0 : out->batch_s; /* a pageable copy waits for the batch before */
  const struct {
    const char *name;
    double least_s;
  } rows[] = { { "storage", out->storage_s },    { "network", out->network_s },      { "workers", out->workers_s },
               { "cores", out->cores_s },        { "copy", out->copy_s + behind_s }, { "decoder", pipe->gpu_decode_s },
               { "broadcast", out->broadcast_s } };
  guint most = 0;
  for (guint i = 1; i < G_N_ELEMENTS (rows); i++)
    most = rows[i].least_s > rows[most].least_s ? i : most;
  /* data come in time, and are unpacked or forwarded before each batch */
  if (out->stall_s <= pipe->before_s * pipe->m * (1 + 1e-6))
    most = out->broadcast_s > (pipe->before_s - out->broadcast_s) ? G_N_ELEMENTS (rows) - 1 : G_N_ELEMENTS (rows) - 2;
  if (out->stall_s > 0)
    g_strlcpy (out->starved_by, pipe->spec->workers.v < 1 ? "main process" : rows[most].name, sizeof out->starved_by);
}

/* Ranks of a replica that read. */
static guint32
readers_of (const TrnLoaderSpec *spec, const TrnResult *training)
{
  guint32 cp = MAX (training->cp, 1u), ends = training->pp > 1 ? 2 : 1;
  switch ((TrnReaders)spec->readers.v) {
    case TRN_READERS_ALL:
      return MAX (training->n_ranks / MAX (training->dp, 1u), 1u);
    case TRN_READERS_FIRST:
      return 1;
    case TRN_READERS_ENDS:
    default:
      return cp * ends;
  }
}

/* From the tensor rank that has read to the others; a node's one reader hands its batches out before. */
static gboolean
price_broadcast (Pipe *pipe, GError **error)
{
  const TrnJob *job = pipe->job;
  const TrnResult *training = pipe->training;
  if (pipe->spec->readers.v != TRN_READERS_ENDS || training->tp <= 1 || job->spec.model.model == NULL)
    return TRUE;
  g_auto (TrnModel) model = { 0 };
  if (!trn_model_plan (job, &model, error))
    return FALSE;
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  trn_grid_group (&model.grid, TRN_GROUP_TP, 0, 0, ranks);
  for (guint i = 0; i < ranks->len; i++)
    g_array_index (ranks, guint32, i) = g_array_index (job->system->gpus, guint32, g_array_index (ranks, guint32, i));
  ColSettings closed = job->system->settings;
  closed.mode = COL_MODE_MODEL;
  g_autoptr (ColComm) comm =
      col_comm_new (job->system->clu, &closed, (const guint32 *)(const void *)ranks->data, ranks->len, error);
  if (comm == NULL)
    return FALSE;
  double decoded = pipe->spec->decoded.set ? pipe->spec->decoded.v / pipe->spec->sample.v : 1;
  const ColCollRequest request = { MDL_OP_BROADCAST, pipe->out->batch_B * decoded / pipe->gpus,
                                   MDL_DTYPE_BF16,   MDL_ALGO_AUTO,
                                   MDL_PROTO_AUTO,   0 };
  g_auto (ColAnswer) coll = { 0 };
  if (!col_coll_price (comm, &request, &coll, error))
    return FALSE;
  pipe->out->broadcast_s = coll.time_s;
  pipe->out->source = MIN (pipe->out->source, coll.provenance);
  return TRUE;
}

/* Who reads, and how much. */
static gboolean
place_readers (Pipe *pipe, GError **error)
{
  const TrnJob *job = pipe->job;
  const TrnResult *training = pipe->training;
  const TrnLoaderSpec *spec = pipe->spec;
  TrnLoaderResult *out = pipe->out;
  pipe->homes = sto_io_homes (job->system);
  pipe->first = g_array_index (pipe->homes, StoIoHome, 0).node;
  guint32 nodes = MAX (training->n_nodes, 1u), dp = MAX (training->dp, 1u),
          gpus = clu_gpus_per_node (job->system->clu, pipe->first);
  pipe->m = training->has_model ? MAX (training->micro_batches, 1u) : (guint32)job->spec.micro_batches.v;
  if (pipe->m > MOST_BATCHES / 2)
    return col_fail_at (error, spec->head.mark, "%u micro-batches a step are too many for a loader; accepted: at most %d", pipe->m,
                        MOST_BATCHES / 2);
  guint32 of_a_node = (dp + nodes - 1) / nodes, all = dp * readers_of (spec, training);
  pipe->n_nodes = MIN (nodes, spec->sharing.v == 1 ? dp : all);
  pipe->gpus = spec->sharing.v == 1 ? MIN (of_a_node, gpus) : 1;
  pipe->local = spec->sharing.v == 1 ? 1 : (all + nodes - 1) / nodes;
  double samples = spec->samples.set ? spec->samples.v : job->spec.model.micro_batch.v;
  out->batch_B = samples * spec->sample.v * (spec->sharing.v == 1 ? of_a_node : 1);
  out->readers = (double)pipe->local * pipe->n_nodes;
  out->batches = pipe->m;
  out->batch_s = training->step_time_s / pipe->m;
  out->demand_Bps = out->batch_B * out->readers / out->batch_s;
  double share = job->system->storage != NULL && job->system->storage->cache.set ? job->system->storage->cache.v : 0;
  double cache_B = clu_node_memory_B (job->system->clu, pipe->first) * share;
  out->set = TRUE;
  pipe->misses = 1 - mdl_cache_hits ((MdlCache)spec->cache.v, spec->dataset.v, cache_B, spec->access.v == 1);
  out->hits = 1 - pipe->misses;
  return TRUE;
}

/* Reads over links that the step's own traffic crosses: they slow it, and get no more than it leaves them. */
static gboolean
meet_step (Pipe *pipe, TrnResult *training, ColRunInfo *info, GError **error)
{
  static const double ROUNDING = 1e-6;
  const TrnJob *job = pipe->job;
  TrnLoaderResult *out = pipe->out;
  double most_Bps, beside_s, before_s = training->step_time_s;
  StoIoRun *reads;
  if (job->system->settings.mode == COL_MODE_MODEL)
    return TRUE;
  if (!trn_loader_reads (job, training, &reads, error))
    return FALSE;
  if (reads == NULL)
    return TRUE;
  g_autoptr (StoIoRun) run = reads;
  g_auto (StoSide) side = { 0 };
  sto_io_run_side (run, 0, &side);
  if (!trn_side_may_meet (job->system->clu, info, &side))
    return TRUE;
  if (!trn_concurrent_reads (job, run, before_s, &most_Bps, &beside_s, &info->n_events, error))
    return FALSE;
  if (most_Bps < side.bound_Bps * (1 - ROUNDING))
    pipe->servers_Bps = fmin (pipe->servers_Bps, most_Bps * out->readers);
  if (beside_s <= before_s * (1 + ROUNDING))
    return TRUE;
  out->slows_s = beside_s - before_s;
  trn_step_longer (training, TRN_PART_DATA_STALL, out->slows_s);
  out->batch_s = training->step_time_s / pipe->m;
  out->demand_Bps = out->batch_B * out->readers / out->batch_s;
  return TRUE;
}

gboolean
trn_add_loader (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error)
{
  TrnLoaderResult *out = &training->loader;
  g_auto (Pipe) pipe = { .job = job, .spec = &job->spec.loader, .training = training, .out = out };
  if (!pipe.spec->head.set)
    return TRUE;
  pipe.loads = g_array_new (FALSE, FALSE, sizeof (Load));
  pipe.uses = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  g_autoptr (GError) why = NULL;
  pipe.dev = sto_io_find (job->system->clu, pipe.spec->tier.v, &pipe.tier, &why);
  if (pipe.dev == CLU_NONE)
    return col_fail_at (error, pipe.spec->tier.mark, "%s", why->message);
  out->set = TRUE;
  out->tier = pipe.spec->tier.v;
  out->source = BASE_SOURCE_MEASURED;
  double latency_s = 0;
  if (!place_readers (&pipe, error) || !find_ways (&pipe, &latency_s, error))
    return FALSE;
  ask_storage (&pipe, latency_s);
  if (!meet_step (&pipe, training, info, error) || !price_copies (&pipe, error) || !price_broadcast (&pipe, error))
    return FALSE;
  price_stages (&pipe);
  pipe.before_s = out->broadcast_s + (pipe.spec->decoder.v == STO_DECODE_GPU ? pipe.gpu_decode_s : 0);
  if (!simulate (&pipe, &info->n_events, error))
    return FALSE;
  name_starved (&pipe);
  if (!pipe.spec->persistent.v && pipe.spec->workers.v >= 1) {
    out->respawn_s = pipe.spec->respawn.v + out->first_s;
    out->epoch_steps = pipe.spec->dataset.v / (out->batch_B * pipe.local * pipe.m);
    out->stall_s += out->respawn_s / out->epoch_steps;
  }
  out->gpu_s = pipe.gpu_decode_s;
  trn_step_longer (training, TRN_PART_DATA_STALL, out->stall_s);
  training->provenance = MIN (training->provenance, out->source);
  if (cores_of (&pipe) <= 0 && (out->decode_s > 0 || out->pin_s > 0))
    col_run_warn (info, "how many cores a node has is not known: workers never wait for one (node.sockets.cores)");
  return TRUE;
}

gboolean
trn_loader_reads (const TrnJob *job, const TrnResult *training, StoIoRun **out, GError **error)
{
  const TrnLoaderSpec *spec = &job->spec.loader;
  const TrnLoaderResult *loader = &training->loader;
  double step_B = loader->batch_B * loader->batches * loader->readers * (1 - loader->hits);
  *out = NULL;
  if (!loader->set || !(step_B > 0))
    return TRUE;
  MdlTier tier;
  if (sto_io_find (job->system->clu, spec->tier.v, &tier, error) == CLU_NONE)
    return FALSE;
  StoIoSpec io = { .head = spec->head, .tier = spec->tier, .threads = spec->workers, .queue_depth = spec->depth };
  io.op.v = MDL_IO_READ;
  io.bytes.v = step_B;
  io.clients.v = loader->readers;
  io.path.v = spec->path.v == TRN_LOAD_GDS ? STO_IO_GDS : STO_IO_HOST;
  io.threads.v = workers_of (spec);
  io.access = spec->access;
  io.cache.v = MDL_CACHE_OFF;
  io.file_size = spec->file_size;
  io.fetched.v = loader->fetched;
  io.io_size = (BaseNum){ .v = request_B (spec, &tier), .set = TRUE, .mark = spec->io_size.mark };
  *out = sto_io_run_new (job->system, &io, error);
  return *out != NULL;
}

double
trn_loader_least_s (const TrnLoaderResult *loader, gboolean engine)
{
  double batch_s = fmax (fmax (loader->workers_s, loader->cores_s), fmax (loader->copy_s, loader->pin_s));
  return loader->batches * fmax (batch_s, engine ? loader->gpu_s : 0);
}
