/* Staging: a data set is copied to the drives of the nodes before a run that reads it there.
 *
 *     read     N B bytes from the tier, each node all it holds; or B, each node a part that it passes on
 *     passed   (N - 1) / N of B from each node to the next, over the fabric, from host memory to host memory
 *     written  N B bytes to drives; with parts alone, B
 * of B bytes and N nodes. All three go on at the same time on the event engine, piece by piece, so that the slowest sets the time;
 * in closed form each is as if alone. It has paid once steps have saved as much as it took:
 *     epochs = time / (samples of an epoch / samples of a step x what a step waits less than reading from the tier)
 * Passing on is as of a pipelined ring between pinned buffers by RDMA: links bound it, no core does (NCCL's broadcast of many
 * chunks; BitTorrent-like tools come near).
 * Valid: pieces small against the whole. Check: test_storage_stage. */
#include "staging-private.h"
#include "training-private.h"

#include <math.h>
#include <string.h>

#include "storage/io_run.h"

static double
held_B (const TrnStageSpec *spec, double nodes)
{
  return spec->hold.v == 1 ? spec->bytes.v / nodes : spec->bytes.v;
}

gboolean
trn_check_stage (const TrnJob *job, GError **error)
{
  const TrnLoaderSpec *loader = &job->spec.loader;
  const TrnStageSpec *spec = &loader->stage;
  MdlTier tier;
  g_autoptr (GError) why = NULL;
  if (!spec->head.set)
    return TRUE;
  if (strcmp (loader->tier.v, "nvme") != 0)
    return col_fail_at (error, loader->tier.mark, "'stage' copies to the nodes' drives; accepted beside it: tier: nvme");
  if (sto_io_find (job->system->clu, spec->from.v, &tier, &why) == CLU_NONE)
    return col_fail_at (error, spec->from.mark, "%s", why->message);
  if (tier.type.kind.v == MDL_TIER_LOCAL_NVME)
    return col_fail_at (error, spec->from.mark, "the drives are where it goes; accepted: a tier of the topology's `storage`");
  g_autoptr (GArray) homes = sto_io_homes (job->system);
  double room_B = clu_node_drives_B (job->system->clu, g_array_index (homes, StoIoHome, 0).node),
         need_B = held_B (spec, homes->len);
  if (room_B > 0 && need_B > room_B)
    return col_fail_at (error, spec->bytes.mark,
                        "%.4g TB do not fit on a node's drives, which hold %.4g TB; accepted: hold: part, or less", need_B * 1e-12,
                        room_B * 1e-12);
  return TRUE;
}

enum { READ, WRITTEN, PASSED, WAYS };

typedef struct {
  const TrnJob *job;
  const TrnStageSpec *spec;
  GArray *homes; /* StoIoHome */
  double nodes;
  StoIoRun *io[2]; /* READ, WRITTEN */
  double end_s[WAYS];
  guint32 passing; /* flows under way */
} Stage;

static void
stage_clear (Stage *stage)
{
  g_clear_pointer (&stage->homes, g_array_unref);
  g_clear_pointer (&stage->io[READ], sto_io_run_free);
  g_clear_pointer (&stage->io[WRITTEN], sto_io_run_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stage, stage_clear)

static gboolean
plan_io (Stage *stage, gboolean write, double bytes, GError **error)
{
  StoIoSpec io = { .head = stage->spec->head, .tier = stage->spec->from, .threads = stage->spec->threads };
  if (write)
    io.tier = stage->job->spec.loader.tier;
  io.op.v = write ? MDL_IO_WRITE : MDL_IO_READ;
  io.bytes.v = bytes;
  io.clients.v = stage->nodes;
  io.queue_depth.v = 1;
  io.path.v = STO_IO_HOST;
  io.cache.v = MDL_CACHE_OFF;
  io.fetched.v = write ? 0 : 1; /* where the tier caches another one: nothing was read before */
  stage->io[write ? WRITTEN : READ] = sto_io_run_new (stage->job->system, &io, error);
  return stage->io[write ? WRITTEN : READ] != NULL;
}

static void
passed (Eng *eng, void *user, uint64_t arg)
{
  Stage *stage = user;
  (void)arg;
  if (--stage->passing == 0)
    stage->end_s[PASSED] = eng_time_to_s (eng_now (eng));
}

static void
io_ended (Eng *eng, void *user, uint64_t arg)
{
  ((Stage *)user)->end_s[arg] = eng_time_to_s (eng_now (eng));
}

/* From one node's memory to the next one's; s alone into *alone_s. */
static gboolean
pass_on (Stage *stage, guint32 from, guint32 to, ColNet *net, double bytes, double *alone_s, GError **error)
{
  const Clu *clu = stage->job->system->clu;
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.degrade = stage->job->system->settings.degrade;
  g_autoptr (GError) why = NULL;
  if (!clu_route_find (clu, clu_node_device (clu, from, CLU_DEV_MEMORY, 0), clu_node_device (clu, to, CLU_DEV_MEMORY, 0), &options,
                       &route, &why))
    return col_fail_at (error, stage->spec->how.mark, "%s", why->message);
  double rate_Bps;
  clu_route_bottleneck (clu, &route, &rate_Bps);
  *alone_s = fmax (*alone_s, bytes / rate_Bps);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  for (guint u = 0; u < route.uses->len; u++) {
    const CluUse *use = &g_array_index (route.uses, CluUse, u);
    const EngUse one = { col_net_link (net, use->res), use->share };
    g_array_append_val (uses, one);
  }
  const EngFlowSpec flow = {
    .amount = bytes, .uses = (const EngUse *)(const void *)uses->data, .n_uses = uses->len, .done = passed, .user = stage
  };
  stage->passing++;
  eng_flow_start (col_net_engine (net), &flow);
  return TRUE;
}

/* All of it at the same time; in closed form each as if alone. */
static gboolean
run (Stage *stage, guint64 *n_events, GError **error)
{
  const TrnStageSpec *spec = stage->spec;
  gboolean peers = spec->how.v == 1 && spec->hold.v == 0 && stage->nodes > 1;
  gboolean once = peers || spec->hold.v == 1;
  if (!plan_io (stage, FALSE, once ? spec->bytes.v : spec->bytes.v * stage->nodes, error) ||
      !plan_io (stage, TRUE, held_B (spec, stage->nodes) * stage->nodes, error))
    return FALSE;
  g_autoptr (ColNet) net = col_net_new (stage->job->system->clu);
  double alone_s = 0;
  guint32 n = (guint32)stage->nodes;
  for (guint32 i = 0; peers && i < n; i++) {
    guint32 from = g_array_index (stage->homes, StoIoHome, i).node, to = g_array_index (stage->homes, StoIoHome, (i + 1) % n).node;
    if (!pass_on (stage, from, to, net, spec->bytes.v * (n - 1) / n, &alone_s, error))
      return FALSE;
  }
  if (stage->job->system->settings.mode == COL_MODE_MODEL) {
    stage->end_s[READ] = sto_io_run_result (stage->io[READ])->time_s;
    stage->end_s[WRITTEN] = sto_io_run_result (stage->io[WRITTEN])->time_s;
    stage->end_s[PASSED] = alone_s;
    return TRUE;
  }
  sto_io_run_start (stage->io[READ], net, 0, io_ended, stage, READ);
  sto_io_run_start (stage->io[WRITTEN], net, 0, io_ended, stage, WRITTEN);
  gboolean ok = eng_run (col_net_engine (net), ENG_TIME_NEVER, 0, error);
  *n_events += eng_stats (col_net_engine (net)).events;
  return ok;
}

/* What a step would wait were the data set read where it is. */
static gboolean
price_direct (const TrnJob *job, const TrnResult *before, ColRunInfo *info, double *stall_s, GError **error)
{
  TrnJob view = *job;
  TrnResult direct = *before;
  ColRunInfo aside = *info;
  view.spec.loader.tier = job->spec.loader.stage.from;
  view.spec.loader.path.v = TRN_LOAD_HOST;
  view.spec.loader.stage.head.set = FALSE;
  aside.warnings = g_ptr_array_new_with_free_func (g_free); /* the answer's own are said once */
  gboolean ok = trn_add_loader (&view, &direct, &aside, error);
  *stall_s = direct.loader.stall_s + direct.loader.slows_s;
  info->n_events = aside.n_events;
  g_ptr_array_unref (aside.warnings);
  return ok;
}

gboolean
trn_add_stage (const TrnJob *job, const TrnResult *before, TrnResult *training, ColRunInfo *info, GError **error)
{
  static const char *const names[WAYS] = { [READ] = "read", [WRITTEN] = "drives", [PASSED] = "peers" };
  const TrnLoaderSpec *spec = &job->spec.loader;
  TrnLoaderResult *loader = &training->loader;
  TrnStageResult *out = &loader->stage;
  if (!spec->stage.head.set)
    return TRUE;
  g_auto (Stage) stage = { .job = job, .spec = &spec->stage, .homes = sto_io_homes (job->system) };
  stage.nodes = CLAMP (training->n_nodes, 1u, stage.homes->len);
  if (!run (&stage, &info->n_events, error) || !price_direct (job, before, info, &out->direct_s, error))
    return FALSE;
  int last = READ;
  for (int i = READ; i < WAYS; i++)
    last = stage.end_s[i] > stage.end_s[last] * (1 + 1e-9) ? i : last;
  out->set = TRUE;
  out->from = spec->stage.from.v;
  out->how = stage.end_s[PASSED] > 0 ? "read once and passed on" : spec->stage.hold.v == 1 ? "a part each" : "each reads all";
  out->nodes = stage.nodes;
  out->node_B = held_B (&spec->stage, stage.nodes);
  out->time_s = stage.end_s[last];
  g_strlcpy (out->bound_by, names[last], sizeof out->bound_by);
  double samples = spec->samples.set ? spec->samples.v : job->spec.model.micro_batch.v;
  out->epoch_steps = spec->stage.bytes.v / (spec->sample.v * samples * fmax (training->dp, 1) * loader->batches);
  out->saved_s = out->direct_s - loader->stall_s - loader->slows_s;
  out->epochs = out->saved_s > 1e-9 * training->step_time_s ? out->time_s / (out->saved_s * out->epoch_steps) : (double)NAN;
  loader->source =
      MIN (loader->source, MIN (sto_io_run_result (stage.io[READ])->provenance, sto_io_run_result (stage.io[WRITTEN])->provenance));
  return TRUE;
}
