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

#include "concurrent-private.h"
#include "loader-private.h"
#include "staging-private.h"
#include "training/rounds.h"

void
trn_pipe_clear (TrnPipe *pipe)
{
  g_clear_pointer (&pipe->homes, g_array_unref);
  g_clear_pointer (&pipe->loads, g_array_unref);
  g_clear_pointer (&pipe->uses, g_ptr_array_unref);
}

static TrnPipeLoad *
load_of (TrnPipe *pipe, CluRes res, gboolean make)
{
  for (guint i = 0; i < pipe->loads->len; i++)
    if (g_array_index (pipe->loads, TrnPipeLoad, i).res == res)
      return &g_array_index (pipe->loads, TrnPipeLoad, i);
  if (!make)
    return NULL;
  TrnPipeLoad fresh = { .res = res };
  g_array_append_val (pipe->loads, fresh);
  return &g_array_index (pipe->loads, TrnPipeLoad, pipe->loads->len - 1);
}

/* Ways of all readers: those of the first node in full, of the others what they load of its resources. */
static gboolean
find_ways (TrnPipe *pipe, double *latency_s, GError **error)
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
        TrnPipeLoad *load = load_of (pipe, use->res, node == 0);
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
ask_cache (TrnPipe *pipe)
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
ask_storage (TrnPipe *pipe, double latency_s)
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
  q.in_flight = spec->depth.v * trn_pipe_workers (spec);
  mdl_tier_cost (&pipe->tier, &q, pipe->job->system->storage, &all);
  pipe->worker_Bps = one.client_rate_Bps;
  pipe->servers_Bps = all.all.rate_Bps * (local ? pipe->n_nodes : 1);
  const gboolean fetches = by_origin && (all.all.bound == MDL_IO_BY_LATENCY || all.all.bound == MDL_IO_BY_RATE);
  const char *bound = all.by_metadata ? "metadata" : fetches ? "origin" : mdl_io_bound_names[all.all.bound];
  g_strlcpy (out->bound_by, bound, sizeof out->bound_by);
  out->source = MIN (out->source, all.all.source);
}

double
trn_pipe_cores (const TrnPipe *pipe)
{
  return col_system_cores (pipe->job->system, pipe->first);
}

/* Copies of one batch to all GPUs that read at the same time, of so many bytes a sample; *time_s grows by the slowest. */
static gboolean
price_copy (const TrnPipe *pipe, double sample_B, double *time_s, GError **error)
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
price_copies (TrnPipe *pipe, GError **error)
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
price_stages (TrnPipe *pipe)
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
    const TrnPipeLoad *load = &g_array_index (pipe->loads, TrnPipeLoad, i);
    double least_s = stored_B * load->all / clu_resource_capacity (pipe->job->system->clu, load->res);
    gboolean tier = clu_resource_family (pipe->job->system->clu, load->res) == CLU_FAMILY_STORAGE;
    double *to = tier ? &out->storage_s : &out->network_s;
    *to = fmax (*to, least_s);
  }
  double alone_s = stored_B / pipe->worker_Bps + out->batch_B * s_per_B;
  out->workers_s = (alone_s + out->decode_s) / trn_pipe_workers (spec);
  double cores = trn_pipe_cores (pipe), core_s = (out->decode_s + out->batch_B * s_per_B + out->pin_s) * pipe->local;
  out->core_s = core_s * pipe->m;
  out->cores_s = cores > 0 ? core_s / cores : 0;
}

static void
name_starved (const TrnPipe *pipe)
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
price_broadcast (TrnPipe *pipe, GError **error)
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

gboolean
trn_loader_takes (const TrnLoaderSpec *spec, guint32 m, GError **error)
{
  return m <= TRN_MOST_BATCHES / 2 ||
         col_fail_at (error, spec->head.mark, "%u micro-batches a step are too many for a loader; accepted: at most %u", m,
                      TRN_MOST_BATCHES / 2);
}

gboolean
trn_pipe_place (TrnPipe *pipe, const TrnJob *job, const TrnResult *training, TrnLoaderResult *out, GError **error)
{
  const TrnLoaderSpec *spec = &job->spec.loader;
  *pipe = (TrnPipe){ .job = job, .spec = spec, .training = training, .out = out };
  pipe->loads = g_array_new (FALSE, FALSE, sizeof (TrnPipeLoad));
  pipe->uses = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  pipe->homes = sto_io_homes (job->system);
  pipe->first = g_array_index (pipe->homes, StoIoHome, 0).node;
  guint32 nodes = MAX (training->n_nodes, 1u), dp = MAX (training->dp, 1u),
          gpus = clu_gpus_per_node (job->system->clu, pipe->first);
  pipe->m = training->has_model ? MAX (training->micro_batches, 1u) : (guint32)job->spec.micro_batches.v;
  if (!trn_loader_takes (spec, pipe->m, error))
    return FALSE;
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
meet_step (TrnPipe *pipe, TrnResult *training, ColRunInfo *info, GError **error)
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
trn_pipe_open (TrnPipe *pipe, GError **error)
{
  g_autoptr (GError) why = NULL;
  double latency_s = 0;
  pipe->dev = sto_io_find (pipe->job->system->clu, pipe->spec->tier.v, &pipe->tier, &why);
  if (pipe->dev == CLU_NONE)
    return col_fail_at (error, pipe->spec->tier.mark, "%s", why->message);
  pipe->out->tier = pipe->spec->tier.v;
  pipe->out->source = BASE_SOURCE_MEASURED;
  if (!find_ways (pipe, &latency_s, error))
    return FALSE;
  ask_storage (pipe, latency_s);
  return TRUE;
}

gboolean
trn_pipe_price (TrnPipe *pipe, GError **error)
{
  if (!price_copies (pipe, error) || !price_broadcast (pipe, error))
    return FALSE;
  price_stages (pipe);
  pipe->before_s = pipe->out->broadcast_s + (pipe->spec->decoder.v == STO_DECODE_GPU ? pipe->gpu_decode_s : 0);
  return TRUE;
}

gboolean
trn_add_loader (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error)
{
  TrnLoaderResult *out = &training->loader;
  g_auto (TrnPipe) pipe = { 0 };
  if (!job->spec.loader.head.set)
    return TRUE;
  if (!trn_pipe_place (&pipe, job, training, out, error) || !trn_pipe_open (&pipe, error) ||
      !meet_step (&pipe, training, info, error) || !trn_pipe_price (&pipe, error))
    return FALSE;
  if (!trn_pipe_simulate (&pipe, &info->n_events, error))
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
  if (trn_pipe_cores (&pipe) <= 0 && (out->decode_s > 0 || out->pin_s > 0))
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
  io.threads.v = trn_pipe_workers (spec);
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
