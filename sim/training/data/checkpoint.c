/* Checkpoints of a training run, priced beside the step.
 *
 *     save      = max (GPU to host, host to storage) + packing               straight from the GPU: its way to the storage alone
 *     stall     = save                                                        mode sync
 *               = staging + max (0, drain - every x step)                     mode async: the one before must be safe
 *     drain     = save x background                                           async: beside training, which it slows (concurrent.c)
 *     restore   = max (storage to host, host to GPU) + unpacking              each rank reads what it holds
 * Copies of all writers of a node share its memory and links (storage/copies.h), writes of all ranks the servers and the networks
 * (storage/io.h). The state is parameters, masters and moments, each once; gradients are not saved.
 * Packing and staging: measured of torch.distributed.checkpoint (section `storage` of a calibration). Plain copies and writes are
 * what `software: raw` leaves. Check: test_storage_checkpoint; accuracy against tests/data/storage/h200x4_vm. */
#include "training/checkpoint.h"
#include "storage/copies.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "concurrent-private.h"
#include "storage/io_run.h"
#include "training/rounds.h"

static gboolean
is_peer (const TrnCheckpointSpec *spec)
{
  return spec->copy.v != NULL && strcmp (spec->copy.v, "peer") == 0;
}

/* A copy is of what would be lost with a node. */
static gboolean
check_copy (const TrnJob *job, const MdlTier *tier, GError **error)
{
  const TrnCheckpointSpec *spec = &job->spec.checkpoint;
  g_autoptr (GArray) homes = sto_io_homes (job->system);
  MdlTier to;
  if (tier->type.kind.v != MDL_TIER_LOCAL_NVME)
    return col_fail_at (error, spec->copy.mark, "'copy' is of checkpoints on the nodes' drives (tier: nvme); leave it out");
  if (is_peer (spec))
    return homes->len > 1 ||
           col_fail_at (error, spec->copy.mark, "one node has no peer; accepted: a tier of the topology's `storage`");
  if (sto_io_find (job->system->clu, spec->copy.v, &to, NULL) == CLU_NONE)
    return col_fail_at (error, spec->copy.mark,
                        "'%s' has no storage tier '%s'; accepted: peer, or a tier of the topology's `storage`",
                        clu_name (job->system->clu), spec->copy.v);
  return to.type.kind.v != MDL_TIER_LOCAL_NVME ||
         col_fail_at (error, spec->copy.mark,
                      "the drives are where it is already; accepted: peer, or a tier of the topology's `storage`");
}

gboolean
trn_check_checkpoint (const TrnJob *job, GError **error)
{
  const TrnCheckpointSpec *spec = &job->spec.checkpoint;
  MdlTier tier;
  g_autoptr (GError) why = NULL;
  if (!spec->head.set)
    return TRUE;
  if (spec->tier.v == NULL && !spec->stall.set)
    return col_fail_at (error, spec->head.mark,
                        "'checkpoint' needs 'tier', where it goes, or 'stall', how long one takes (e.g. 30 s)");
  if (spec->tier.v != NULL && (spec->stall.set || spec->drain.set || spec->restore.set))
    return col_fail_at (error,
                        spec->stall.set   ? spec->stall.mark
                        : spec->drain.set ? spec->drain.mark
                                          : spec->restore.mark,
                        "'stall', 'drain' and 'restore' follow from 'tier'; leave them out, or the tier");
  if (spec->tier.v == NULL)
    return TRUE;
  if (sto_io_find (job->system->clu, spec->tier.v, &tier, &why) == CLU_NONE)
    return col_fail_at (error, spec->tier.mark, "%s", why->message);
  if (spec->copy.v != NULL && !check_copy (job, &tier, error))
    return FALSE;
  if (job->spec.model.model == NULL && !spec->bytes.set)
    return col_fail_at (error, spec->head.mark, "a checkpoint of layers with given times needs 'bytes', the size of the state");
  if (spec->bytes.set && spec->restore_bytes.set && spec->restore_bytes.v < spec->bytes.v)
    return col_fail_at (
        error, spec->restore_bytes.mark,
        "'restore_bytes' is what all ranks together hold of 'bytes', %.4g GB, each part at least once; accepted: that or more",
        spec->bytes.v * 1e-9);
  if (spec->path.v == 1 && (spec->mode.v == TRN_SAVE_ASYNC || spec->software.v == 0))
    return col_fail_at (error, spec->path.mark,
                        "'gds' writes past the host; accepted: with `mode: sync` and `software: raw`, or `path: host`");
  return TRUE;
}

typedef struct {
  const TrnJob *job;
  const TrnResult *training;
  const TrnCheckpointSpec *spec;
  const MdlSaveSpec *software; /* NULL: raw */
  TrnCheckpointResult *out;
} Save;

static guint32
first_node (const TrnJob *job)
{
  return clu_dev_node (job->system->clu, clu_gpu (job->system->clu, g_array_index (job->system->gpus, guint32, 0)));
}

static guint32
gpus_of_a_node (const Save *save)
{
  const TrnJob *job = save->job;
  guint32 n = clu_gpus_per_node (job->system->clu, first_node (job));
  return job->gpus_per_node > 0 ? MIN (n, job->gpus_per_node) : n;
}

/* Copies between each of n GPUs of the first node and its host at the same time; s of the slowest. */
static gboolean
copies_s (const Save *save, guint32 n, double bytes, gboolean to_host, double *time_s, GError **error)
{
  const Clu *clu = save->job->system->clu;
  guint32 node = first_node (save->job), gpus = clu_gpus_per_node (clu, node), memories = clu_node_n (clu, node, CLU_DEV_MEMORY);
  g_autofree StoPair *pair = g_new0 (StoPair, n);
  for (guint32 i = 0; i < n; i++) {
    CluDev gpu = clu_node_device (clu, node, CLU_DEV_GPU, i),
           host = clu_node_device (clu, node, CLU_DEV_MEMORY, i * memories / gpus);
    pair[i] = (StoPair){ to_host ? gpu : host, to_host ? host : gpu, to_host ? "GPU" : "host", to_host ? "host" : "GPU", 1 };
  }
  const StoCopies copies = { .pair = pair, .n = n, .size_B = bytes, .count = 1, .pageable = save->spec->memory.v == 1 };
  StoFault fault;
  g_autoptr (GPtrArray) done = sto_copies_price (clu, &save->job->system->settings, &copies, &fault, error);
  *time_s = 0;
  for (guint i = 0; done != NULL && i < done->len; i++) {
    const StoCopy *copy = done->pdata[i];
    *time_s = fmax (*time_s, copy->time_s);
    save->out->source = MIN (save->out->source, copy->cost.source);
  }
  return done != NULL;
}

/* What all clients together read or write. */
static StoIoSpec
io_of (const TrnCheckpointSpec *spec, MdlIoOp op, double clients, double bytes)
{
  StoIoSpec io = { .head = spec->head, .tier = spec->tier, .io_size = spec->io_size, .threads = spec->threads };
  io.op.v = (int)op;
  io.bytes.v = bytes;
  io.clients.v = clients;
  io.queue_depth.v = 1;
  io.path.v = spec->path.v == 1 ? STO_IO_GDS : STO_IO_HOST;
  io.path.mark = spec->path.mark;
  io.path.set = spec->path.set;
  io.cache.v = MDL_CACHE_OFF;
  return io;
}

/* All clients to or from the tier; s. *bound (may be NULL): what bounds it, of the size of ColAnswer's. */
static gboolean
storage_s (const Save *save, MdlIoOp op, double clients, double bytes, double *time_s, char *bound, GError **error)
{
  const StoIoSpec io = io_of (save->spec, op, clients, bytes);
  StoIoResult answer = { 0 };
  guint64 n_events = 0;
  g_autoptr (ColNet) net = col_net_new (save->job->system->clu);
  gboolean ok = sto_io_price (save->job->system, &io, net, &answer, &n_events, error);
  if (ok) {
    *time_s = answer.time_s;
    save->out->source = MIN (save->out->source, answer.provenance);
    if (bound != NULL)
      g_strlcpy (bound, answer.bound_by, sizeof answer.bound_by);
  }
  sto_io_result_clear (&answer);
  return ok;
}

/* One rank gathers what the others hold: all crosses its own way in. */
static gboolean
gather_s (const Save *save, double *time_s, GError **error)
{
  const Clu *clu = save->job->system->clu;
  const GArray *gpus = save->job->system->gpus;
  guint32 n = save->training->n_ranks;
  *time_s = 0;
  if (save->spec->shards.v != TRN_SHARDS_RANK0 || n < 2)
    return TRUE;
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = save->job->system->settings.degrade;
  CluDev from = clu_gpu (clu, g_array_index (gpus, guint32, n - 1)), to = clu_gpu (clu, g_array_index (gpus, guint32, 0));
  double rate_Bps;
  if (!clu_route_find (clu, from, to, &options, &route, error))
    return FALSE;
  clu_route_bottleneck (clu, &route, &rate_Bps);
  *time_s = save->out->state_B * (n - 1) / n / rate_Bps;
  return TRUE;
}

/* The way from the memory of home i to that of the next one. FALSE and *error. */
static gboolean
to_next (const TrnJob *job, const GArray *homes, guint32 i, CluRoute *route, GError **error)
{
  const Clu *clu = job->system->clu;
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = job->system->settings.degrade;
  guint32 from = g_array_index (homes, StoIoHome, i).node, to = g_array_index (homes, StoIoHome, (i + 1) % homes->len).node;
  clu_route_init (route);
  return clu_route_find (clu, clu_node_device (clu, from, CLU_DEV_MEMORY, 0), clu_node_device (clu, to, CLU_DEV_MEMORY, 0),
                         &options, route, error);
}

/* `bytes` of each node to the next, all at once; s. */
static gboolean
pass_s (const Save *save, double bytes, double *time_s, GError **error)
{
  g_autoptr (GArray) homes = sto_io_homes (save->job->system);
  *time_s = 0;
  if (homes->len < 2 || !(bytes > 0))
    return TRUE;
  g_auto (CluRoute) route = { 0 };
  double rate_Bps;
  if (!to_next (save->job, homes, 0, &route, error))
    return FALSE;
  clu_route_bottleneck (save->job->system->clu, &route, &rate_Bps);
  *time_s = bytes / rate_Bps;
  return TRUE;
}

/* What of a byte the drives of a node take: a peer's too. */
static double
written_B (const TrnCheckpointSpec *spec, double state_B)
{
  return is_peer (spec) ? 2 * state_B : state_B;
}

/* The copy of a checkpoint on drives: passed to the next node, or written to a tier beside it. */
static gboolean
price_copy (Save *save, GError **error)
{
  const TrnCheckpointSpec *spec = save->spec;
  TrnCheckpointResult *out = save->out;
  char bound[64] = "peer";
  out->copy = spec->copy.v;
  if (spec->copy.v == NULL)
    return TRUE;
  TrnCheckpointSpec other = *spec;
  other.tier = spec->copy;
  Save to = *save;
  to.spec = &other;
  if (is_peer (spec) ? !pass_s (save, out->node_B, &out->copy_s, error)
                     : !storage_s (&to, MDL_IO_WRITE, out->writers, out->state_B, &out->copy_s, bound, error))
    return FALSE;
  if (out->copy_s > out->write_s)
    g_strlcpy (out->bound_by, bound, sizeof out->bound_by);
  out->write_s = fmax (out->write_s, out->copy_s);
  return TRUE;
}

/* What a replaced node lacks, from the copy: by that node alone. */
static gboolean
price_fetch (Save *save, double unpacked_s, GError **error)
{
  const TrnCheckpointSpec *spec = save->spec;
  TrnCheckpointResult *out = save->out;
  if (spec->copy.v == NULL)
    return TRUE;
  g_autoptr (GArray) homes = sto_io_homes (save->job->system), gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  ColSystem first = *save->job->system; /* node; it stands for any */
  TrnJob node = *save->job;
  g_array_append_vals (gpus, save->job->system->gpus->data, g_array_index (homes, StoIoHome, 0).n_gpus);
  first.gpus = gpus;
  node.system = &first;
  TrnCheckpointSpec other = *spec;
  if (!is_peer (spec))
    other.tier = spec->copy;
  Save there = { &node, save->training, &other, save->software, out };
  double read_s, passed_s = 0, bytes = out->restore_B / save->training->n_ranks * gpus->len;
  if (!storage_s (&there, MDL_IO_READ, gpus->len, bytes, &read_s, NULL, error) ||
      (is_peer (spec) && !pass_s (save, bytes, &passed_s, error)))
    return FALSE;
  out->fetch_s = fmax (fmax (fmax (read_s, passed_s), out->load_s) + unpacked_s - out->restore_s, 0);
  return TRUE;
}

/* Each rank reads what it holds, which is once on all drives together: what is not on its own node's comes from the others'. */
static double
foreign_B (const Save *save)
{
  const TrnResult *training = save->training;
  const TrnCheckpointResult *out = save->out;
  double nodes = fmax (training->n_nodes, 1), replica = fmax (training->n_ranks / fmax (training->dp, 1), 1);
  double twice = fmax (gpus_of_a_node (save) / replica, 1); /* replicas that a node has whole */
  return fmax (out->restore_B / nodes - out->state_B / nodes * twice, 0);
}

static void
share_out (Save *save)
{
  const TrnResult *training = save->training;
  const TrnCheckpointSpec *spec = save->spec;
  TrnCheckpointResult *out = save->out;
  double n = training->n_ranks;
  out->set = TRUE;
  out->mode = (TrnSaveMode)spec->mode.v;
  out->shards = (TrnShards)spec->shards.v;
  out->tier = spec->tier.v;
  out->every = spec->every.v;
  out->source = BASE_SOURCE_MEASURED;
  out->state_B = spec->bytes.set ? spec->bytes.v : training->state_B;
  double held_B = spec->restore_bytes.set                       ? spec->restore_bytes.v
                  : training->restore_B > 0 && !spec->bytes.set ? training->restore_B
                                                                : out->state_B * MAX (training->dp, 1u);
  out->restore_B = fmax (held_B, out->state_B);
  out->writers = out->shards == TRN_SHARDS_ALL ? n : out->shards == TRN_SHARDS_REPLICA ? fmax (n / MAX (training->dp, 1u), 1) : 1;
  out->writer_B = out->state_B / out->writers;
  out->node_B = out->writer_B * fmin (out->writers, gpus_of_a_node (save));
  if (save->software != NULL)
    out->software_s = save->software->save.set ? out->writer_B / save->software->save.v : 0;
}

static gboolean
price_save (Save *save, GError **error)
{
  const TrnCheckpointSpec *spec = save->spec;
  TrnCheckpointResult *out = save->out;
  double packed_s = out->software_s;
  guint32 at_once = (guint32)fmin (out->writers, gpus_of_a_node (save));
  if (!gather_s (save, &out->gather_s, error) ||
      (spec->path.v == 0 && !copies_s (save, at_once, out->writer_B, TRUE, &out->snapshot_s, error)) ||
      !storage_s (save, MDL_IO_WRITE, out->writers, written_B (spec, out->state_B), &out->write_s, out->bound_by, error) ||
      !price_copy (save, error))
    return FALSE;
  double save_s = fmax (out->snapshot_s, out->write_s) + packed_s;
  if (packed_s > fmax (out->snapshot_s, out->write_s))
    g_strlcpy (out->bound_by, "host", sizeof out->bound_by);
  else if (out->snapshot_s > out->write_s)
    g_strlcpy (out->bound_by, "snapshot", sizeof out->bound_by);
  if (out->mode == TRN_SAVE_SYNC) {
    out->stall_s = out->gather_s + save_s;
    return TRUE;
  }
  out->staged_s = save->software != NULL && save->software->stage.set ? out->writer_B / save->software->stage.v : 0;
  out->drain_s = (save->software != NULL ? out->write_s + packed_s : out->write_s) *
                 (save->software != NULL ? fmax (save->software->background.v, 1) : 1);
  out->drain_alone_s = out->drain_s;
  if (out->every > 0)
    out->wait_s = fmax (0, out->drain_s - out->every * save->training->step_time_s);
  out->stall_s = out->gather_s + fmax (out->snapshot_s, out->staged_s) + out->wait_s;
  return TRUE;
}

/* On the drives of the nodes. */
static gboolean
is_local (const Save *save)
{
  MdlTier tier;
  return sto_io_find (save->job->system->clu, save->spec->tier.v, &tier, NULL) != CLU_NONE &&
         tier.type.kind.v == MDL_TIER_LOCAL_NVME;
}

static gboolean
price_restore (Save *save, GError **error)
{
  const TrnResult *training = save->training;
  TrnCheckpointResult *out = save->out;
  double n = training->n_ranks, rank_B = out->restore_B / n;
  guint32 local = (guint32)fmin (n, gpus_of_a_node (save));
  if (!copies_s (save, local, rank_B, FALSE, &out->load_s, error) ||
      !storage_s (save, MDL_IO_READ, n, out->restore_B, &out->read_s, NULL, error))
    return FALSE;
  double unpacked_s = save->software != NULL && save->software->load.set ? rank_B / save->software->load.v : 0, passed_s = 0;
  if (is_local (save) && !pass_s (save, foreign_B (save), &passed_s, error))
    return FALSE;
  out->read_s = is_local (save) ? fmax (out->read_s, passed_s) : out->read_s;
  out->restore_s = fmax (out->read_s, out->load_s) + unpacked_s;
  if (!price_fetch (save, unpacked_s, error))
    return FALSE;
  if (training->fullest.total_B > 0)
    return copies_s (save, local, training->fullest.total_B, TRUE, &out->suspend_s, error) &&
           copies_s (save, local, training->fullest.total_B, FALSE, &out->resume_s, error);
  return TRUE;
}

static void
warn (const Save *save, ColRunInfo *info)
{
  const TrnCheckpointResult *out = save->out;
  double memory_B = clu_node_memory_B (save->job->system->clu, first_node (save->job));
  if (out->mode == TRN_SAVE_ASYNC && memory_B > 0 && out->node_B > memory_B)
    col_run_warn (info, "a snapshot takes %.4g GB of a node's memory, which has %.4g GB: it does not fit", out->node_B * 1e-9,
                  memory_B * 1e-9);
  /* a peer's copy lies beside a node's own part */
  double drives_B = clu_node_drives_B (save->job->system->clu, first_node (save->job)),
         kept_B = out->node_B * (is_peer (save->spec) ? 2 : 1);
  if (is_local (save) && drives_B > 0 && kept_B > drives_B)
    col_run_warn (info, "a checkpoint takes %.4g TB of a node's drives, which hold %.4g TB: it does not fit", kept_B * 1e-12,
                  drives_B * 1e-12);
  gboolean counted = save->job->spec.failures.head.set; /* goodput says how often */
  if (out->copy == NULL && save->training->n_nodes > 1 && is_local (save) && !counted)
    col_run_warn (info,
                  "a node that is replaced has lost its part of the checkpoints on '%s', and the job with it the whole: "
                  "'copy: peer', or a tier, keeps one",
                  out->tier);
  if (out->wait_s > 0)
    col_run_warn (info, "a checkpoint drains in %.4g s, longer than the %.4g s to the next: training waits for it", out->drain_s,
                  out->every * save->training->step_time_s);
}

static void
find_overhead (const TrnResult *training, TrnCheckpointResult *out)
{
  double between_s = out->every * training->step_time_s, lost_s = out->stall_s + out->slowed_s;
  out->overhead = between_s > 0 ? lost_s / (between_s + lost_s) : 0;
}

gboolean
trn_checkpoint_price (const TrnJob *job, const TrnResult *training, TrnCheckpointResult *out, GError **error)
{
  const TrnCheckpointSpec *spec = &job->spec.checkpoint;
  Save save = { job, training, spec, NULL, out };
  if (spec->software.v == 0 && job->system->storage != NULL)
    save.software = &job->system->storage->checkpoint;
  memset (out, 0, sizeof *out);
  share_out (&save);
  if (!price_save (&save, error) || !price_restore (&save, error))
    return FALSE;
  find_overhead (training, out);
  return TRUE;
}

StoIoRun *
trn_checkpoint_writes (const TrnJob *job, const TrnCheckpointResult *price, GError **error)
{
  const TrnCheckpointSpec *spec = &job->spec.checkpoint;
  const StoIoSpec io = io_of (spec, MDL_IO_WRITE, price->writers, written_B (spec, price->state_B));
  return sto_io_run_new (job->system, &io, error);
}

gboolean
trn_checkpoint_copies (const TrnJob *job, const TrnCheckpointResult *price, StoSide *side, GError **error)
{
  const TrnCheckpointSpec *spec = &job->spec.checkpoint;
  g_autoptr (GArray) homes = sto_io_homes (job->system);
  if (spec->copy.v == NULL)
    return TRUE;
  if (!is_peer (spec)) {
    StoIoSpec io = io_of (spec, MDL_IO_WRITE, price->writers, price->state_B);
    io.tier = spec->copy;
    g_autoptr (StoIoRun) run = sto_io_run_new (job->system, &io, error);
    g_auto (StoSide) more = { 0 };
    if (run == NULL)
      return FALSE;
    sto_io_run_side (run, 0, &more);
    sto_side_add (side, &more, 1);
    return TRUE;
  }
  for (guint32 i = 0; i < homes->len; i++) {
    g_auto (CluRoute) route = { 0 };
    if (!to_next (job, homes, i, &route, error))
      return FALSE;
    /* a byte of each writer is two on drives, and one on the way */
    sto_side_add_uses (side, route.uses, price->writers / homes->len / 2);
  }
  return TRUE;
}

gboolean
trn_add_checkpoint (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error)
{
  TrnCheckpointResult *out = &training->checkpoint;
  if (job->spec.checkpoint.tier.v == NULL)
    return TRUE;
  if (!trn_checkpoint_price (job, training, out, error))
    return FALSE;
  out->stall_s -= out->wait_s;
  if (!trn_add_drain (job, training, info, out, error))
    return FALSE;
  out->stall_s += out->wait_s;
  find_overhead (training, out);
  Save save = { job, training, &job->spec.checkpoint, NULL, out };
  warn (&save, info);
  if (out->every > 0)
    trn_step_longer (training, TRN_PART_CHECKPOINT, (out->stall_s + out->slowed_s) / out->every);
  training->provenance = MIN (training->provenance, out->source);
  return TRUE;
}
