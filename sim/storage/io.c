/* Reads and writes of storage alone: equal clients, each one flow over the links of its way, bounded by what it has in flight.
 *
 *     rate of a client = min (own, links' equal shares)
 *     1/own = (1 - hits) / (queue's rate / clients x ratio) + 1 / copies,  and at most what cores and decoders of one client give
 * The queue (models/tier.h) tells what all clients together reach of the servers; routes what they share on the way; cores and
 * decoders are links of the engine of their own. Credits: a second bound from the moment they are spent. */
#include <math.h>
#include <string.h>

#include "io-private.h"

typedef struct {
  guint32 shared; /* number in StoWork.shared */
  double weight;
} StoUse;

void
sto_work_clear (StoWork *work)
{
  g_clear_pointer (&work->homes, g_array_unref);
  g_clear_pointer (&work->shared, g_array_unref);
  g_clear_pointer (&work->uses, g_ptr_array_unref);
  g_clear_pointer (&work->known, g_hash_table_unref);
}

/* A client loads `wanted`: the same for all clients that share it. */
static void
use (StoWork *work, GArray *uses, const StoShared *wanted, double weight)
{
  const gint64 key = wanted->res != CLU_NONE ? (gint64)wanted->res : ((gint64)wanted->other + 1) << 32 | wanted->number;
  guint32 number = GPOINTER_TO_UINT (g_hash_table_lookup (work->known, &key));
  if (number == 0) {
    g_array_append_vals (work->shared, wanted, 1);
    number = work->shared->len;
    g_hash_table_insert (work->known, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (number));
  }
  StoUse one = { number - 1, weight };
  g_array_append_val (uses, one);
  g_array_index (work->shared, StoShared, number - 1).load += weight;
}

double
sto_work_packed (const StoWork *work)
{
  const StoCompressionSpec *compression = &work->spec->compression;
  return compression->head.set ? 1 / compression->ratio.v : 1;
}

static gboolean
is_cached (const StoWork *work)
{
  return work->spec->cache.v != MDL_CACHE_OFF;
}

/* Bytes on links of the cluster, a byte of the client; `sent`: copies of it that the client sends. */
static void
add_links (StoWork *work, const GArray *links, double factor, double sent, GArray *uses)
{
  for (guint u = 0; u < links->len && factor > 0; u++) {
    const CluUse *one = &g_array_index (links, CluUse, u);
    const StoShared link = { .res = one->res, .capacity = clu_resource_capacity (work->system->clu, one->res) };
    /* copies that the client sends cross its way; the tier's own link tells of bytes before that */
    gboolean tier = clu_resource_family (work->system->clu, one->res) == CLU_FAMILY_STORAGE;
    use (work, uses, &link, one->share * factor * (tier ? 1 : sent));
  }
}

/* The links that a client's bytes cross; the first client's way is what people are shown. */
static gboolean
add_way (StoWork *work, guint32 client, GArray *uses, GError **error)
{
  const ColSystem *system = work->system;
  const StoIoEnds ends = { work->dev, sto_io_place (work->homes, client), (MdlIoOp)work->spec->op.v, work->path };
  g_auto (StoIoRoute) way = { 0 };
  g_autoptr (GError) why = NULL;
  if (!sto_io_route (system->clu, &system->settings, &ends, &way, &why))
    return col_fail_at (error, work->spec->path.set ? work->spec->path.mark : work->spec->tier.mark, "%s", why->message);
  add_links (work, way.uses, work->misses * sto_work_packed (work), mdl_tier_sent (&work->tier, ends.op), uses);
  add_links (work, way.copy, sto_work_packed (work), 1, uses); /* what the page cache has goes to the GPU like the rest */
  if (is_cached (work)) {                                      /* out of the page cache, or into it */
    g_autoptr (GArray) copied = g_array_new (FALSE, FALSE, sizeof (CluUse));
    clu_host_copy_uses (system->clu, ends.place.node, copied);
    add_links (work, copied, sto_work_packed (work), 1, uses);
  }
  work->latency_s = fmax (work->latency_s, way.latency_s);
  if (client == 0) {
    work->question.path = way.path;
    clu_route_clear (&work->out->route);
    work->out->route = way.route;
    memset (&way.route, 0, sizeof way.route);
  }
  return TRUE;
}

double
sto_work_core_s_per_B (const StoWork *work)
{
  const StoIoSpec *spec = work->spec;
  double s = 0;
  if (work->question.path != MDL_IO_CUFILE && work->tier.type.core.set)
    s += work->misses * sto_work_packed (work) / work->tier.type.core.v;
  if (is_cached (work) && work->ways != NULL && work->ways->core.set)
    s += sto_work_packed (work) / work->ways->core.v;
  if (spec->compression.head.set && spec->compression.by.v == STO_DECODE_CPU)
    s += 1 / spec->compression.rate.v;
  return s;
}

/* Cores of each node and decoders of each GPU, after all links of the cluster: the network numbers its own first. */
static void
add_host (StoWork *work)
{
  const Clu *clu = work->system->clu;
  const StoCompressionSpec *c = &work->spec->compression;
  double core_s = sto_work_core_s_per_B (work);
  gboolean decodes = c->head.set && c->by.v != STO_DECODE_CPU;
  for (guint32 i = 0; i < (guint32)work->n; i++) {
    StoIoPlace place = sto_io_place (work->homes, i);
    double n_cores = col_system_cores (work->system, place.node);
    GArray *uses = work->uses->pdata[i];
    if (core_s > 0 && n_cores > 0) {
      StoShared cores = { CLU_NONE, COL_NET_CORES, place.node, "", n_cores, 0 };
      g_snprintf (cores.name, sizeof cores.name, "node%u.cores", place.node);
      use (work, uses, &cores, core_s);
    }
    if (decodes) {
      StoShared decoder = {
        CLU_NONE, COL_NET_DECODERS, clu_node_device (clu, place.node, CLU_DEV_GPU, place.gpu), "", c->rate.v, 0
      };
      const char *what = c->by.v == STO_DECODE_GPU ? "SMs" : "decoder";
      g_snprintf (decoder.name, sizeof decoder.name, "node%u.gpu%u (%s)", place.node, place.gpu, what);
      use (work, uses, &decoder, 1);
    }
  }
}

double
sto_work_own_Bps (const StoWork *work, const MdlTierCost *cost)
{
  double core_s = sto_work_core_s_per_B (work), threads = work->spec->threads.v;
  double stored_s = isfinite (cost->client_rate_Bps) ? work->misses * sto_work_packed (work) / cost->client_rate_Bps : 0;
  double copied_s = core_s / threads;
  /* behind a page cache a thread waits for the storage, then copies; past it the two go on beside each other */
  double s = is_cached (work) ? stored_s + copied_s : fmax (stored_s, copied_s);
  return s > 0 ? 1 / s : HUGE_VAL;
}

static gboolean
find_misses (StoWork *work, GError **error)
{
  const StoIoSpec *spec = work->spec;
  const Clu *clu = work->system->clu;
  work->misses = 1;
  if (spec->op.v == MDL_IO_WRITE && spec->cache.v == MDL_CACHE_WARM)
    return col_fail_at (error, spec->cache.mark, "'warm' applies to reads only; accepted for writes: direct, cold");
  if (!is_cached (work))
    return TRUE;
  if (spec->path.v == STO_IO_GDS)
    return col_fail_at (error, spec->cache.mark, "GPUDirect Storage bypasses the page cache; accepted with `path: gds`: direct");
  work->path = work->path == STO_IO_AUTO ? STO_IO_BOUNCE : work->path;
  double nodes = fmin (work->n, work->homes->len), share = work->ways != NULL && work->ways->cache.set ? work->ways->cache.v : 0;
  double set_B = (spec->dataset.set ? spec->dataset.v : spec->bytes.v / nodes) * sto_work_packed (work);
  double cache_B = clu_node_memory_B (clu, 0) * share;
  if (spec->cache.v == MDL_CACHE_WARM && clu_node_memory_B (clu, 0) <= 0)
    return col_fail_at (error, spec->cache.mark, "the size of the page cache is not known; give node.sockets memory_capacity");
  work->misses = 1 - mdl_cache_hits ((MdlCache)spec->cache.v, set_B, cache_B, spec->access.v == 1);
  return TRUE;
}

/* Clients of one tier: of a node's drives those that run there. */
static double
sharers (const StoWork *work)
{
  gboolean local = work->tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  return local ? ceil (work->n / fmin (work->n, work->homes->len)) : work->n;
}

/* A tier that caches another one, as it serves reads of which a part is fetched. */
static void
ask_cache (StoWork *work, double block_B)
{
  MdlTierCache cache;
  MdlTierCached reads;
  if (!(work->spec->fetched.v > 0) || !clu_tier_cache (work->system->clu, work->dev, &cache, NULL, NULL))
    return;
  mdl_tier_cache_reads (&work->tier, &cache, work->spec->fetched.v, block_B, &reads);
  work->tier = reads.tier;
  work->by_origin = reads.slows;
}

static void
query (StoWork *work)
{
  const StoIoSpec *spec = work->spec;
  MdlTierQuestion *q = &work->question;
  MdlIoPath path = q->path;
  double io_B = spec->io_size.set ? spec->io_size.v : work->tier.type.io_size.v > 0 ? work->tier.type.io_size.v : 1048576;
  double own_B = spec->bytes.v / work->n;
  if (is_cached (work) && spec->op.v == MDL_IO_READ && spec->access.v == 0)
    io_B = mdl_tier_request_B (&work->tier, io_B, spec->read_ahead.v);
  io_B = fmin (io_B, own_B);
  *q = (MdlTierQuestion){ .op = (MdlIoOp)spec->op.v,
                          .path = path,
                          .random = spec->access.v == 1,
                          .block_B = io_B,
                          .in_flight = fmin (spec->threads.v * spec->queue_depth.v, ceil (own_B / io_B)),
                          .clients = sharers (work),
                          .stripes = spec->stripe_count.v,
                          .shared = spec->file.v == 1,
                          .file_B = spec->file_size.v };
  ask_cache (work, io_B);
  MdlTierSide *side = &work->tier.type.side[q->op];
  side->latency.v += work->latency_s;
  mdl_tier_cost (&work->tier, q, work->ways, &work->cost);
  work->burst = work->cost;
  if (work->tier.type.burst.head.set) {
    q->burst = TRUE;
    mdl_tier_cost (&work->tier, q, work->ways, &work->burst);
    q->burst = FALSE;
  }
}

/* Equal shares of what all cross. */
static double
link_Bps (const StoWork *work, guint32 *busiest)
{
  double least_Bps = HUGE_VAL;
  for (guint i = 0; i < work->shared->len; i++) {
    const StoShared *one = &g_array_index (work->shared, StoShared, i);
    if (one->load > 0 && one->capacity / one->load < least_Bps * (1 - 1e-9)) {
      least_Bps = one->capacity / one->load;
      *busiest = i;
    }
  }
  return least_Bps;
}

/* How long credits last at what clients really reach on them. */
static void
find_burst (StoWork *work)
{
  StoIoResult *out = work->out;
  out->after_Bps = fmin (sto_work_own_Bps (work, &work->cost), out->link_Bps);
  out->burst_Bps = fmin (sto_work_own_Bps (work, &work->burst), out->link_Bps);
  if (!work->tier.type.burst.head.set || !(out->burst_Bps > out->after_Bps))
    return;
  MdlTierCost reached = work->burst;
  double part = out->burst_Bps * sharers (work) * sto_work_packed (work) * work->misses / work->burst.all.rate_Bps;
  reached.all.rate_Bps *= part;
  reached.all.iops *= part;
  out->burst_s = mdl_tier_burst_s (&work->tier, &work->question, &reached);
}

static double
model_time_s (const StoWork *work)
{
  const StoIoResult *out = work->out;
  double bytes = out->bytes / work->n, first_B = fmin (bytes, out->burst_s > 0 ? out->burst_s * out->burst_Bps : 0);
  return (first_B > 0 ? first_B / out->burst_Bps : 0) + (bytes > first_B ? (bytes - first_B) / out->after_Bps : 0);
}

EngLink *
sto_work_links (const StoWork *work, ColNet *net)
{
  EngLink *link = g_new (EngLink, MAX (work->shared->len, 1u));
  for (guint i = 0; i < work->shared->len; i++) {
    const StoShared *one = &g_array_index (work->shared, StoShared, i);
    link[i] = one->res != CLU_NONE ? col_net_link (net, one->res) : col_net_other (net, one->other, one->number, one->capacity);
  }
  return link;
}

EngFlowSpec
sto_work_flow (const StoWork *work, guint32 client, const EngLink *link, double bound_Bps, GArray *uses)
{
  const GArray *mine = work->uses->pdata[client];
  g_array_set_size (uses, 0);
  for (guint u = 0; u < mine->len; u++) {
    const StoUse *one = &g_array_index (mine, StoUse, u);
    EngUse eng_use = { link[one->shared], one->weight };
    g_array_append_val (uses, eng_use);
  }
  return (EngFlowSpec){ .amount = work->out->bytes / work->n,
                        .bound_per_s = bound_Bps,
                        .uses = (const EngUse *)(const void *)uses->data,
                        .n_uses = uses->len };
}

typedef struct {
  GArray *flows; /* EngFlow */
  double bound_per_s;
} Spent;

static void
credits_are_spent (Eng *eng, void *user, uint64_t arg)
{
  const Spent *spent = user;
  (void)arg;
  for (guint i = 0; i < spent->flows->len; i++)
    eng_flow_set_bound (eng, g_array_index (spent->flows, EngFlow, i), spent->bound_per_s);
}

static gboolean
run_event (StoWork *work, ColNet *net, guint64 *n_events, GError **error)
{
  StoIoResult *out = work->out;
  Eng *eng = col_net_engine (net);
  g_autofree EngLink *link = sto_work_links (work, net);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse)), flows = g_array_new (FALSE, FALSE, sizeof (EngFlow));
  double first = sto_work_own_Bps (work, out->burst_s > 0 ? &work->burst : &work->cost);
  for (guint32 i = 0; i < work->uses->len; i++) {
    const EngFlowSpec spec = sto_work_flow (work, i, link, first, uses);
    EngFlow flow = eng_flow_start (eng, &spec);
    g_array_append_val (flows, flow);
  }
  Spent spent = { flows, sto_work_own_Bps (work, &work->cost) };
  if (out->burst_s > 0 && out->burst_s < out->time_s)
    eng_at (eng, eng_time_from_s (out->burst_s), credits_are_spent, &spent, 0);
  if (!eng_run (eng, ENG_TIME_NEVER, 0, error))
    return FALSE;
  out->time_s = eng_time_to_s (eng_now (eng));
  *n_events = eng_stats (eng).events;
  return TRUE;
}

/* Who is to blame: the links where they leave less than what is in flight reaches, else the largest part of a request. */
static void
name_bound (StoWork *work)
{
  StoIoResult *out = work->out;
  const char *name = "latency";
  if (out->link_Bps < out->own_Bps * (1 - 1e-6)) {
    const StoShared *one = &g_array_index (work->shared, StoShared, work->busiest);
    out->bottleneck = one->res != CLU_NONE ? clu_resource_name (work->system->clu, one->res) : g_strdup (one->name);
    name = one->res != CLU_NONE                  ? clu_resource_class (work->system->clu, one->res)
           : strstr (one->name, "cores") != NULL ? "host"
                                                 : "decode";
  } else if (sto_work_core_s_per_B (work) / work->spec->threads.v * out->own_Bps > 0.5)
    name = "host";
  else if (work->cost.by_metadata)
    name = "metadata";
  else if (work->by_origin && (work->cost.all.bound == MDL_IO_BY_LATENCY || work->cost.all.bound == MDL_IO_BY_RATE))
    name = "origin";
  else if (work->cost.all.bound == MDL_IO_BY_IOPS)
    name = "iops";
  else if (work->cost.all.bound == MDL_IO_BY_STREAM)
    name = "stream";
  else if (work->cost.all.bound == MDL_IO_BY_RATE)
    name = work->cost.by_client                                                     ? "client"
           : work->cost.by_targets && out->targets < mdl_tier_targets (&work->tier) ? "targets"
                                                                                    : out->tier_kind;
  g_strlcpy (out->bound_by, name, sizeof out->bound_by);
}

void
sto_work_answer (StoWork *work)
{
  const StoIoSpec *spec = work->spec;
  StoIoResult *out = work->out;
  const MdlTierCost *cost = out->burst_s >= out->time_s && out->burst_s > 0 ? &work->burst : &work->cost;
  out->op = (MdlIoOp)spec->op.v;
  out->path = work->question.path == MDL_IO_HOST ? "host" : work->question.path == MDL_IO_CUFILE ? "gds" : "bounce";
  out->rate_Bps = out->time_s > 0 ? out->bytes / out->time_s : 0;
  out->client_rate_Bps = out->rate_Bps / work->n;
  double stored_Bps = out->rate_Bps * sto_work_packed (work) * work->misses;
  out->iops = stored_Bps / out->io_B;
  /* Little's law: what is in flight waits as long as it takes at this rate */
  out->request_s = out->iops > 0 ? out->in_flight * work->n / out->iops : 0;
  double whole_s = cost->all.time_s;
  for (int k = 0; k < 4; k++)
    out->part_s[k] = whole_s > 0 ? cost->all.part_s[k] : 0;
  double queue_s = out->request_s - whole_s;
  if (queue_s > 0) /* links, cores: they make requests wait as servers would */
    out->part_s[MDL_IO_BY_RATE] += queue_s;
  out->hits = 1 - work->misses;
  out->opens_per_s = spec->file_size.v > 0 ? stored_Bps / spec->file_size.v : 0;
  out->provenance = cost->all.source;
  for (guint i = 0; i < work->shared->len; i++) {
    const StoShared *one = &g_array_index (work->shared, StoShared, i);
    if (one->res != CLU_NONE && one->load > 0)
      out->provenance = MIN (out->provenance, clu_resource_source (work->system->clu, one->res));
  }
  double band = cost->all.band;
  out->time_lo_s = out->time_s / (1 + band);
  out->time_hi_s = out->time_s * (1 + band);
  name_bound (work);
}

static gboolean
check_fetched (const StoWork *work, GError **error)
{
  const StoIoSpec *spec = work->spec;
  MdlTierCache cache;
  if (spec->op.v == MDL_IO_WRITE)
    return col_fail_at (error, spec->fetched.mark, "'fetched' is of reads; leave it out");
  return clu_tier_cache (work->system->clu, work->dev, &cache, NULL, NULL) || !spec->fetched.set ||
         col_fail_at (
             error, spec->fetched.mark,
             "storage '%s' caches no other tier, so nothing is fetched; give it 'cache: {of: …}' in the topology, or leave "
             "'fetched' out",
             spec->tier.v);
}

static gboolean
prepare (StoWork *work, GError **error)
{
  const ColSystem *system = work->system;
  const StoIoSpec *spec = work->spec;
  g_autoptr (GError) why = NULL;
  work->dev = sto_io_find (system->clu, spec->tier.v, &work->tier, &why);
  if (work->dev == CLU_NONE)
    return col_fail_at (error, spec->tier.mark, "%s", why->message);
  double targets = mdl_tier_targets (&work->tier);
  if (spec->stripe_count.v > targets)
    return col_fail_at (error, spec->stripe_count.mark,
                        "a stripe over %.0f targets, but storage '%s' has %.0f; accepted: at most %.0f", spec->stripe_count.v,
                        spec->tier.v, targets, targets);
  if (spec->fetched.v > 0 && !check_fetched (work, error))
    return FALSE;
  work->n = spec->clients.v;
  work->homes = sto_io_homes (system);
  work->path = (StoIoPath)spec->path.v;
  work->ways = system->storage;
  return find_misses (work, error);
}

gboolean
sto_check_io (const ColSystem *system, const StoIoSpec *spec, GError **error)
{
  g_auto (StoWork) work = { .system = system, .spec = spec };
  return prepare (&work, error);
}

static void
fill_question (StoWork *work)
{
  StoIoResult *out = work->out;
  const StoIoSpec *spec = work->spec;
  out->op = (MdlIoOp)spec->op.v;
  out->bytes = spec->bytes.v;
  out->tier = spec->tier.v;
  out->type = work->tier.type.name.v;
  out->kind = (MdlTierKind)work->tier.type.kind.v;
  out->tier_kind = base_name (mdl_tier_names, work->tier.type.kind.v);
  out->threads = spec->threads.v;
  out->depth = spec->queue_depth.v;
  out->clients = work->n;
  out->io_B = work->question.block_B;
  out->in_flight = work->question.in_flight;
  double stripes = spec->stripe_count.v > 0 ? spec->stripe_count.v : mdl_tier_file_targets (&work->tier);
  out->targets = spec->file.v == 1 ? stripes : fmin (stripes * sharers (work), mdl_tier_targets (&work->tier));
  out->servers = work->tier.servers;
  out->stored = out->op == MDL_IO_WRITE ? mdl_redundancy_stored (mdl_tier_redundancy (&work->tier)) : 1;
}

gboolean
sto_work_plan (StoWork *work, GError **error)
{
  StoIoResult *out = work->out;
  work->shared = g_array_new (FALSE, TRUE, sizeof (StoShared));
  work->uses = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  work->known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  if (!prepare (work, error))
    return FALSE;
  for (guint32 i = 0; i < (guint32)work->n; i++) {
    GArray *uses = g_array_new (FALSE, FALSE, sizeof (StoUse));
    g_ptr_array_add (work->uses, uses);
    if (!add_way (work, i, uses, error))
      return FALSE;
  }
  add_host (work);
  query (work);
  fill_question (work);
  out->link_Bps = link_Bps (work, &work->busiest);
  out->own_Bps = sto_work_own_Bps (work, &work->cost);
  find_burst (work);
  out->time_s = model_time_s (work);
  return TRUE;
}

void
sto_work_count (const StoWork *work, ColNet *net, double times)
{
  for (guint i = 0; i < work->shared->len; i++) {
    const StoShared *one = &g_array_index (work->shared, StoShared, i);
    if (one->res != CLU_NONE)
      col_net_count (net, one->res, work->out->bytes / work->n * one->load * times, 1, 1);
  }
}

gboolean
sto_io_price (const ColSystem *system, const StoIoSpec *spec, ColNet *net, StoIoResult *out, guint64 *n_events, GError **error)
{
  g_auto (StoWork) work = { .system = system, .spec = spec, .out = out };
  if (!sto_work_plan (&work, error) || (system->settings.mode != COL_MODE_MODEL && !run_event (&work, net, n_events, error)))
    return FALSE;
  sto_work_count (&work, net, 1);
  sto_work_answer (&work);
  double on_one = ceil (work.n / fmax (work.homes->len, 1));
  out->cores = on_one * out->client_rate_Bps * sto_work_core_s_per_B (&work);
  return TRUE;
}

/* Drives that reach a GPU across the sockets, or a busy switch, may be slower straight than by way of the host: whoever asked for
 * neither should know. */
static gboolean
warn_of_bounce (const ColSystem *system, const StoIoSpec *asked, const StoIoResult *gds, ColRunInfo *info, GError **error)
{
  if (g_strcmp0 (gds->path, "gds") != 0 || gds->bottleneck == NULL)
    return TRUE;
  ColSystem closed = *system;
  closed.settings.mode = COL_MODE_MODEL;
  StoIoSpec spec = *asked;
  spec.path.v = STO_IO_BOUNCE;
  StoIoResult bounce = { 0 };
  guint64 n_events = 0;
  g_autoptr (ColNet) net = col_net_new (system->clu);
  gboolean priced = sto_io_price (&closed, &spec, net, &bounce, &n_events, error);
  if (priced && bounce.time_s < gds->time_s * 0.99)
    col_run_warn (info,
                  "GPUDirect Storage is limited by %s to %.4g GB/s; the route through host memory reaches %.4g GB/s. Use "
                  "path: bounce, or let each GPU read the drives of its own socket",
                  gds->bottleneck, gds->rate_Bps * 1e-9, bounce.bytes / bounce.time_s * 1e-9);
  sto_io_result_clear (&bounce);
  return priced;
}

gboolean
sto_run_io (const ColSystem *system, const StoIoSpec *spec, StoIoResult *out, ColRunInfo *info, GError **error)
{
  g_autoptr (ColNet) net = col_net_new (system->clu);
  if (!sto_io_price (system, spec, net, out, &info->n_events, error))
    return FALSE;
  col_run_add_links (info, system->clu, net, out->time_s);
  col_run_cpu (info, COL_CPU_STORAGE, out->cores);
  if (spec->cache.v == MDL_CACHE_WARM && out->hits <= 0)
    col_run_warn (info,
                  "the data set is larger than the page cache and read in order: no page is still cached when it is read again");
  return warn_of_bounce (system, spec, out, info, error);
}

void
sto_io_result_clear (StoIoResult *result)
{
  clu_route_clear (&result->route);
  g_clear_pointer (&result->bottleneck, g_free);
}
