/* Reads and writes of storage alone: equal clients, each one flow over the links of its way, bounded by what it has in flight.
 *
 *     rate of a client = min (own, links' equal shares)
 *     1/own = (1 - hits) / (queue's rate / clients x ratio) + 1 / copies,  and at most what cores and decoders of one client give
 * The queue (models/tier.h) tells what all clients together reach of the servers; routes what they share on the way; cores and
 * decoders are links of the engine of their own. Credits: a second bound from the moment they are spent. */
#include <math.h>
#include <string.h>

#include "storage/io_run.h"

/* Where nothing is known that holds a client back. */
#define BOUNDLESS_BPS 1e15

/* A resource that the clients share: of the cluster, or one that only this run knows. */
typedef struct {
  CluRes res; /* CLU_NONE: not of the cluster, but of this kind and number */
  ColNetOther other;
  guint32 number;
  char name[40];
  double capacity, load; /* load: of all clients, a byte of each */
} Shared;

typedef struct {
  guint32 shared; /* number in Run.shared */
  double weight;
} Use;

typedef struct {
  const ColSystem *system;
  const StoIoSpec *spec;
  const MdlStorage *ways;
  GArray *homes; /* StoIoHome */
  MdlTier tier;
  CluDev dev;
  MdlTierQuestion question;
  MdlTierCost cost;   /* lasting */
  MdlTierCost burst;  /* on credits */
  GArray *shared;     /* Shared */
  GPtrArray *uses;    /* GArray of Use, by client */
  GHashTable *known;  /* CluRes + 1 -> number + 1 */
  GHashTable *others; /* likewise, of what is no resource of the cluster */
  StoIoPath path;
  guint32 busiest;  /* of what is shared */
  double latency_s; /* of the longest way */
  double n;         /* clients */
  double misses;
  StoIoResult *out;
} Run;

static void
run_clear (Run *run)
{
  g_clear_pointer (&run->homes, g_array_unref);
  g_clear_pointer (&run->shared, g_array_unref);
  g_clear_pointer (&run->uses, g_ptr_array_unref);
  g_clear_pointer (&run->known, g_hash_table_unref);
  g_clear_pointer (&run->others, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static guint32
shared_new (Run *run, CluRes res, double capacity)
{
  Shared fresh = { .res = res, .capacity = capacity };
  g_array_append_val (run->shared, fresh);
  return run->shared->len - 1;
}

/* That of a node or a GPU, the same for all clients there. */
static guint32
shared_other (Run *run, ColNetOther other, guint32 number, double capacity, const char *name)
{
  gpointer key = GUINT_TO_POINTER (number * 4u + (guint32)other + 1u), known = g_hash_table_lookup (run->others, key);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1u;
  guint32 at = shared_new (run, CLU_NONE, capacity);
  Shared *fresh = &g_array_index (run->shared, Shared, at);
  fresh->other = other;
  fresh->number = number;
  g_strlcpy (fresh->name, name, sizeof fresh->name);
  g_hash_table_insert (run->others, key, GUINT_TO_POINTER (at + 1u));
  return at;
}

static void
use (Run *run, GArray *uses, guint32 shared, double weight)
{
  Use one = { shared, weight };
  g_array_append_val (uses, one);
  g_array_index (run->shared, Shared, shared).load += weight;
}

/* Bytes stored over bytes used. */
static double
packed (const StoIoSpec *spec)
{
  return spec->compression.head.set ? 1 / spec->compression.ratio.v : 1;
}

static gboolean
is_cached (const Run *run)
{
  return run->spec->cache.v != MDL_CACHE_OFF;
}

/* Bytes on links of the cluster, a byte of the client; `sent`: copies of it that the client sends. */
static void
add_links (Run *run, const GArray *links, double factor, double sent, GArray *uses)
{
  for (guint u = 0; u < links->len && factor > 0; u++) {
    const CluUse *one = &g_array_index (links, CluUse, u);
    gpointer key = GUINT_TO_POINTER (one->res + 1u), known = g_hash_table_lookup (run->known, key);
    guint32 at = known != NULL ? GPOINTER_TO_UINT (known) - 1u
                               : shared_new (run, one->res, clu_resource_capacity (run->system->clu, one->res));
    if (known == NULL)
      g_hash_table_insert (run->known, key, GUINT_TO_POINTER (at + 1u));
    /* copies that the client sends cross its way; the tier's own link tells of bytes before that */
    gboolean tier = clu_resource_family (run->system->clu, one->res) == CLU_FAMILY_STORAGE;
    use (run, uses, at, one->share * factor * (tier ? 1 : sent));
  }
}

/* The links that a client's bytes cross; the first client's way is what people are shown. */
static gboolean
add_way (Run *run, guint32 client, GArray *uses, GError **error)
{
  const ColSystem *system = run->system;
  StoIoPlace place = sto_io_place (run->homes, client);
  g_auto (StoIoWay) way = { 0 };
  g_autoptr (GError) why = NULL;
  if (!sto_io_way (system->clu, &system->settings, run->dev, &place, (MdlIoOp)run->spec->op.v, run->path, &way, &why))
    return col_fail_at (error, run->spec->path.set ? run->spec->path.mark : run->spec->tier.mark, "%s", why->message);
  add_links (run, way.uses, run->misses * packed (run->spec), mdl_tier_sent (&run->tier, (MdlIoOp)run->spec->op.v), uses);
  add_links (run, way.copy, packed (run->spec), 1, uses); /* what the page cache has goes to the GPU like the rest */
  run->latency_s = fmax (run->latency_s, way.latency_s);
  if (client == 0) {
    run->question.path = way.path;
    clu_route_clear (&run->out->route);
    run->out->route = way.route;
    memset (&way.route, 0, sizeof way.route);
  }
  return TRUE;
}

/* Seconds of a core for a byte: protocol and copies where the host is on the way, the page cache's copy, unpacking. */
static double
core_s_per_B (const Run *run)
{
  const StoIoSpec *spec = run->spec;
  double s = 0;
  if (run->question.path != MDL_IO_CUFILE && run->tier.type.core.set)
    s += run->misses * packed (spec) / run->tier.type.core.v;
  if (is_cached (run) && run->ways != NULL && run->ways->core.set)
    s += packed (spec) / run->ways->core.v;
  if (spec->compression.head.set && spec->compression.by.v == STO_DECODE_CPU)
    s += 1 / spec->compression.rate.v;
  return s;
}

/* Cores of each node and decoders of each GPU, after all links of the cluster: the network numbers its own first. */
static void
add_host (Run *run)
{
  const Clu *clu = run->system->clu;
  const StoCompressionSpec *c = &run->spec->compression;
  double core_s = core_s_per_B (run);
  gboolean decodes = c->head.set && c->by.v != STO_DECODE_CPU;
  char name[40];
  for (guint32 i = 0; i < (guint32)run->n; i++) {
    StoIoPlace place = sto_io_place (run->homes, i);
    double n_cores = clu_node_cores (clu, place.node);
    GArray *uses = run->uses->pdata[i];
    if (core_s > 0 && n_cores > 0) {
      g_snprintf (name, sizeof name, "node%u.cores", place.node);
      use (run, uses, shared_other (run, COL_NET_CORES, place.node, n_cores, name), core_s);
    }
    if (decodes) {
      g_snprintf (name, sizeof name, "node%u.gpu%u (%s)", place.node, place.gpu, c->by.v == STO_DECODE_GPU ? "SMs" : "decoder");
      CluDev gpu = clu_node_device (clu, place.node, CLU_DEV_GPU, place.gpu);
      use (run, uses, shared_other (run, COL_NET_DECODERS, gpu, c->rate.v, name), 1);
    }
  }
}

/* What one client reaches by what it has in flight: misses by the queue, all by its own threads' cores. */
static double
own_Bps (const Run *run, const MdlTierCost *cost)
{
  double core_s = core_s_per_B (run), threads = run->spec->threads.v;
  double stored_s = isfinite (cost->client_rate_Bps) ? run->misses * packed (run->spec) / cost->client_rate_Bps : 0;
  double copied_s = core_s / threads;
  /* behind a page cache a thread waits for the storage, then copies; past it the two go on beside each other */
  double s = is_cached (run) ? stored_s + copied_s : fmax (stored_s, copied_s);
  return s > 0 ? 1 / s : HUGE_VAL;
}

static gboolean
find_misses (Run *run, GError **error)
{
  const StoIoSpec *spec = run->spec;
  const Clu *clu = run->system->clu;
  run->misses = 1;
  if (spec->op.v == MDL_IO_WRITE && spec->cache.v == MDL_CACHE_WARM)
    return col_fail_at (error, spec->cache.mark, "'warm' is of reads; accepted for writes: direct, cold");
  if (!is_cached (run))
    return TRUE;
  if (spec->path.v == STO_IO_GDS)
    return col_fail_at (error, spec->cache.mark, "GPUDirect Storage goes past the page cache; accepted with `path: gds`: direct");
  run->path = run->path == STO_IO_AUTO ? STO_IO_BOUNCE : run->path;
  double nodes = fmin (run->n, run->homes->len), share = run->ways != NULL && run->ways->cache.set ? run->ways->cache.v : 0;
  double set_B = (spec->dataset.set ? spec->dataset.v : spec->bytes.v / nodes) * packed (spec);
  double cache_B = clu_node_memory_B (clu, 0) * share;
  if (spec->cache.v == MDL_CACHE_WARM && clu_node_memory_B (clu, 0) <= 0)
    return col_fail_at (error, spec->cache.mark, "the size of the page cache is not known; give node.sockets memory_capacity");
  run->misses = 1 - mdl_cache_hits ((MdlCache)spec->cache.v, set_B, cache_B, spec->access.v == 1);
  return TRUE;
}

/* Clients of one tier: of a node's drives those that run there. */
static double
sharers (const Run *run)
{
  gboolean local = run->tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  return local ? ceil (run->n / fmin (run->n, run->homes->len)) : run->n;
}

static void
ask (Run *run)
{
  const StoIoSpec *spec = run->spec;
  MdlTierQuestion *q = &run->question;
  MdlIoPath path = q->path;
  double io_B = spec->io_size.set ? spec->io_size.v : run->tier.type.io_size.v > 0 ? run->tier.type.io_size.v : 1048576;
  double own_B = spec->bytes.v / run->n;
  io_B = fmin (io_B, own_B);
  *q = (MdlTierQuestion){ .op = (MdlIoOp)spec->op.v,
                          .path = path,
                          .random = spec->access.v == 1,
                          .block_B = io_B,
                          .in_flight = fmin (spec->threads.v * spec->queue_depth.v, ceil (own_B / io_B)),
                          .clients = sharers (run),
                          .stripes = spec->stripe_count.v,
                          .shared = spec->file.v == 1,
                          .file_B = spec->file_size.v };
  MdlTierSide *side = &run->tier.type.side[q->op];
  side->latency.v += run->latency_s;
  mdl_tier_cost (&run->tier, q, run->ways, &run->cost);
  run->burst = run->cost;
  if (run->tier.type.burst.head.set) {
    q->burst = TRUE;
    mdl_tier_cost (&run->tier, q, run->ways, &run->burst);
    q->burst = FALSE;
  }
}

/* Equal shares of what all cross. */
static double
link_Bps (const Run *run, guint32 *busiest)
{
  double least_Bps = HUGE_VAL;
  for (guint i = 0; i < run->shared->len; i++) {
    const Shared *one = &g_array_index (run->shared, Shared, i);
    if (one->load > 0 && one->capacity / one->load < least_Bps * (1 - 1e-9)) {
      least_Bps = one->capacity / one->load;
      *busiest = i;
    }
  }
  return least_Bps;
}

/* How long credits last at what clients really reach on them. */
static void
find_burst (Run *run)
{
  StoIoResult *out = run->out;
  out->after_Bps = fmin (own_Bps (run, &run->cost), out->link_Bps);
  out->burst_Bps = fmin (own_Bps (run, &run->burst), out->link_Bps);
  if (!run->tier.type.burst.head.set || !(out->burst_Bps > out->after_Bps))
    return;
  MdlTierCost reached = run->burst;
  double part = out->burst_Bps * sharers (run) * packed (run->spec) * run->misses / run->burst.all.rate_Bps;
  reached.all.rate_Bps *= part;
  reached.all.iops *= part;
  out->burst_s = mdl_tier_burst_s (&run->tier, &run->question, &reached);
}

static double
model_time_s (const Run *run)
{
  const StoIoResult *out = run->out;
  double bytes = out->bytes / run->n, first_B = fmin (bytes, out->burst_s > 0 ? out->burst_s * out->burst_Bps : 0);
  return (first_B > 0 ? first_B / out->burst_Bps : 0) + (bytes > first_B ? (bytes - first_B) / out->after_Bps : 0);
}

/* Links of the engine for what the clients share. Returned: full, by number in run->shared. */
static EngLink *
links_of (const Run *run, ColNet *net)
{
  EngLink *link = g_new (EngLink, MAX (run->shared->len, 1u));
  for (guint i = 0; i < run->shared->len; i++) {
    const Shared *one = &g_array_index (run->shared, Shared, i);
    link[i] = one->res != CLU_NONE ? col_net_link (net, one->res) : col_net_other (net, one->other, one->number, one->capacity);
  }
  return link;
}

/* What one client is: `uses`, filled, are borrowed by the spec. */
static EngFlowSpec
flow_of (const Run *run, guint32 client, const EngLink *link, double bound_Bps, GArray *uses)
{
  const GArray *mine = run->uses->pdata[client];
  g_array_set_size (uses, 0);
  for (guint u = 0; u < mine->len; u++) {
    const Use *one = &g_array_index (mine, Use, u);
    EngUse eng_use = { link[one->shared], one->weight };
    g_array_append_val (uses, eng_use);
  }
  return (EngFlowSpec){ .amount = run->out->bytes / run->n,
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
run_event (Run *run, ColNet *net, guint64 *n_events, GError **error)
{
  StoIoResult *out = run->out;
  Eng *eng = col_net_engine (net);
  g_autofree EngLink *link = links_of (run, net);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse)), flows = g_array_new (FALSE, FALSE, sizeof (EngFlow));
  double first = own_Bps (run, out->burst_s > 0 ? &run->burst : &run->cost);
  for (guint32 i = 0; i < run->uses->len; i++) {
    const EngFlowSpec spec = flow_of (run, i, link, first, uses);
    EngFlow flow = eng_flow_start (eng, &spec);
    g_array_append_val (flows, flow);
  }
  Spent spent = { flows, own_Bps (run, &run->cost) };
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
name_bound (Run *run)
{
  StoIoResult *out = run->out;
  const char *name = "latency";
  if (out->link_Bps < out->own_Bps * (1 - 1e-6)) {
    const Shared *one = &g_array_index (run->shared, Shared, run->busiest);
    out->bottleneck = one->res != CLU_NONE ? clu_resource_name (run->system->clu, one->res) : g_strdup (one->name);
    name = one->res != CLU_NONE                  ? clu_resource_class (run->system->clu, one->res)
           : strstr (one->name, "cores") != NULL ? "host"
                                                 : "decode";
  } else if (core_s_per_B (run) / run->spec->threads.v * out->own_Bps > 0.5)
    name = "host";
  else if (run->cost.by_metadata)
    name = "metadata";
  else if (run->cost.all.bound == MDL_IO_BY_IOPS)
    name = "iops";
  else if (run->cost.all.bound == MDL_IO_BY_STREAM)
    name = "stream";
  else if (run->cost.all.bound == MDL_IO_BY_RATE)
    name = run->cost.by_client                                                    ? "client"
           : run->cost.by_targets && out->targets < mdl_tier_targets (&run->tier) ? "targets"
                                                                                  : out->tier_kind;
  g_strlcpy (out->bound_by, name, sizeof out->bound_by);
}

static void
take_answer (Run *run)
{
  const StoIoSpec *spec = run->spec;
  StoIoResult *out = run->out;
  const MdlTierCost *cost = out->burst_s >= out->time_s && out->burst_s > 0 ? &run->burst : &run->cost;
  out->op = (MdlIoOp)spec->op.v;
  out->path = run->question.path == MDL_IO_HOST ? "host" : run->question.path == MDL_IO_CUFILE ? "gds" : "bounce";
  out->rate_Bps = out->time_s > 0 ? out->bytes / out->time_s : 0;
  out->client_rate_Bps = out->rate_Bps / run->n;
  double stored_Bps = out->rate_Bps * packed (spec) * run->misses;
  out->iops = stored_Bps / out->io_B;
  /* Little's law: what is in flight waits as long as it takes at this rate */
  out->request_s = out->iops > 0 ? out->in_flight * run->n / out->iops : 0;
  double whole_s = cost->all.time_s;
  for (int k = 0; k < 4; k++)
    out->part_s[k] = whole_s > 0 ? cost->all.part_s[k] : 0;
  double queue_s = out->request_s - whole_s;
  if (queue_s > 0) /* links, cores: they make requests wait as servers would */
    out->part_s[MDL_IO_BY_RATE] += queue_s;
  out->hits = 1 - run->misses;
  out->opens_per_s = spec->file_size.v > 0 ? stored_Bps / spec->file_size.v : 0;
  out->provenance = cost->all.source;
  for (guint i = 0; i < run->shared->len; i++) {
    const Shared *one = &g_array_index (run->shared, Shared, i);
    if (one->res != CLU_NONE && one->load > 0)
      out->provenance = MIN (out->provenance, clu_resource_source (run->system->clu, one->res));
  }
  double band = cost->all.band;
  out->time_lo_s = out->time_s / (1 + band);
  out->time_hi_s = out->time_s * (1 + band);
}

static gboolean
prepare (Run *run, GError **error)
{
  const ColSystem *system = run->system;
  const StoIoSpec *spec = run->spec;
  g_autoptr (GError) why = NULL;
  run->dev = sto_io_find (system->clu, spec->tier.v, &run->tier, &why);
  if (run->dev == CLU_NONE)
    return col_fail_at (error, spec->tier.mark, "%s", why->message);
  double targets = mdl_tier_targets (&run->tier);
  if (spec->stripe_count.v > targets)
    return col_fail_at (error, spec->stripe_count.mark,
                        "a stripe over %.0f targets, but storage '%s' has %.0f; accepted: at most %.0f", spec->stripe_count.v,
                        spec->tier.v, targets, targets);
  run->n = spec->clients.v;
  run->homes = sto_io_homes (system);
  run->path = (StoIoPath)spec->path.v;
  run->ways = system->storage;
  return find_misses (run, error);
}

gboolean
sto_check_io (const ColSystem *system, const StoIoSpec *spec, GError **error)
{
  g_auto (Run) run = { .system = system, .spec = spec };
  return prepare (&run, error);
}

static void
fill_question (Run *run)
{
  StoIoResult *out = run->out;
  const StoIoSpec *spec = run->spec;
  out->op = (MdlIoOp)spec->op.v;
  out->bytes = spec->bytes.v;
  out->tier = spec->tier.v;
  out->type = run->tier.type.name.v;
  out->kind = (MdlTierKind)run->tier.type.kind.v;
  out->tier_kind = base_name (mdl_tier_names, run->tier.type.kind.v);
  out->threads = spec->threads.v;
  out->depth = spec->queue_depth.v;
  out->clients = run->n;
  out->io_B = run->question.block_B;
  out->in_flight = run->question.in_flight;
  double stripes = spec->stripe_count.v > 0 ? spec->stripe_count.v : mdl_tier_file_targets (&run->tier);
  out->targets = spec->file.v == 1 ? stripes : fmin (stripes * sharers (run), mdl_tier_targets (&run->tier));
  out->servers = run->tier.servers;
  out->stored = out->op == MDL_IO_WRITE ? mdl_redundancy_stored (mdl_tier_redundancy (&run->tier)) : 1;
}

/* The closed form: everything but the run on an engine. *run is to be cleared in any case. */
static gboolean
plan (Run *run, GError **error)
{
  StoIoResult *out = run->out;
  run->shared = g_array_new (FALSE, TRUE, sizeof (Shared));
  run->uses = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  run->known = g_hash_table_new (NULL, NULL);
  run->others = g_hash_table_new (NULL, NULL);
  if (!prepare (run, error))
    return FALSE;
  for (guint32 i = 0; i < (guint32)run->n; i++) {
    GArray *uses = g_array_new (FALSE, FALSE, sizeof (Use));
    g_ptr_array_add (run->uses, uses);
    if (!add_way (run, i, uses, error))
      return FALSE;
  }
  add_host (run);
  ask (run);
  fill_question (run);
  out->link_Bps = link_Bps (run, &run->busiest);
  out->own_Bps = own_Bps (run, &run->cost);
  find_burst (run);
  out->time_s = model_time_s (run);
  return TRUE;
}

static void
count (const Run *run, ColNet *net, double times)
{
  for (guint i = 0; i < run->shared->len; i++) {
    const Shared *one = &g_array_index (run->shared, Shared, i);
    if (one->res != CLU_NONE)
      col_net_count (net, one->res, run->out->bytes / run->n * one->load * times, 1, 1);
  }
}

gboolean
sto_io_price (const ColSystem *system, const StoIoSpec *spec, ColNet *net, StoIoResult *out, guint64 *n_events, GError **error)
{
  g_auto (Run) run = { .system = system, .spec = spec, .out = out };
  if (!plan (&run, error) || (system->settings.mode != COL_MODE_MODEL && !run_event (&run, net, n_events, error)))
    return FALSE;
  count (&run, net, 1);
  take_answer (&run);
  name_bound (&run);
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
                  "GPUDirect Storage is bounded by %s: %.4g GB/s where the way through the host's memory has %.4g GB/s; see "
                  "path: bounce, or keep a GPU to drives of its own socket",
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
  if (spec->cache.v == MDL_CACHE_WARM && out->hits <= 0)
    col_run_warn (info, "the data set is larger than the page cache and read in order: each page has left when it is wanted again");
  return warn_of_bounce (system, spec, out, info, error);
}

void
sto_io_result_clear (StoIoResult *result)
{
  clu_route_clear (&result->route);
  g_clear_pointer (&result->bottleneck, g_free);
}

/* ---- beside others ---- */

struct StoIoRun {
  Run run;
  StoIoSpec spec;
  StoIoResult out;
  guint32 under_way; /* clients */
  EngFn done;
  void *user;
  uint64_t arg;
};

StoIoRun *
sto_io_run_new (const ColSystem *system, const StoIoSpec *spec, GError **error)
{
  StoIoRun *io = g_new0 (StoIoRun, 1);
  io->spec = *spec;
  io->run = (Run){ .system = system, .spec = &io->spec, .out = &io->out };
  if (plan (&io->run, error)) {
    take_answer (&io->run);
    name_bound (&io->run);
    return io;
  }
  sto_io_run_free (io);
  return NULL;
}

void
sto_io_run_free (StoIoRun *io)
{
  run_clear (&io->run);
  sto_io_result_clear (&io->out);
  g_free (io);
}

const StoIoResult *
sto_io_run_result (const StoIoRun *io)
{
  return &io->out;
}

static void
client_ended (Eng *eng, void *user, uint64_t arg)
{
  StoIoRun *io = user;
  (void)arg;
  if (--io->under_way == 0 && io->done != NULL)
    io->done (eng, io->user, io->arg);
}

/* The servers of a client's tier; a node's drives are its own. */
static EngLink
servers_of (const Run *run, guint32 client, ColNet *net)
{
  gboolean local = run->tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  guint32 node = sto_io_place (run->homes, client).node;
  return col_net_other (net, COL_NET_TIER, local ? clu_node_device (run->system->clu, node, CLU_DEV_NVME, 0) : run->dev, 1);
}

void
sto_io_run_start (StoIoRun *io, ColNet *net, double least_s, EngFn done, void *user, uint64_t arg)
{
  const Run *run = &io->run;
  g_return_if_fail (io->under_way == 0);
  io->done = done;
  io->user = user;
  io->arg = arg;
  g_autofree EngLink *link = links_of (run, net);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  double busy_s_per_B = mdl_tier_busy_s_per_B (&run->tier, &run->question) * run->misses * packed (&io->spec);
  double bound_Bps = own_Bps (run, &run->cost), each_B = io->out.bytes / run->n;
  if (least_s > 0)
    bound_Bps = fmin (bound_Bps, each_B / least_s);
  for (guint32 i = 0; i < (guint32)run->n; i++) {
    EngFlowSpec spec = flow_of (run, i, link, bound_Bps, uses);
    EngUse servers = { servers_of (run, i, net), busy_s_per_B };
    if (busy_s_per_B > 0)
      g_array_append_val (uses, servers);
    spec.uses = (const EngUse *)(const void *)uses->data;
    spec.n_uses = uses->len;
    spec.done = client_ended;
    spec.user = io;
    io->under_way++;
    eng_flow_start (col_net_engine (net), &spec);
  }
}

/* The fullest of a kind stands for those that are alike; `weight` is of one client. */
static void
side_other (const Run *run, const StoSideOther *asked, const guint32 *number, GArray *others)
{
  g_autoptr (GHashTable) sum = g_hash_table_new (NULL, NULL); /* number + 1 -> clients */
  guint most = 0, at = 0;
  for (guint32 i = 0; i < (guint32)run->n; i++) {
    gpointer key = GUINT_TO_POINTER (number[i] + 1u);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (sum, key)) + 1;
    g_hash_table_insert (sum, key, GUINT_TO_POINTER (n));
    if (n > most) {
      most = n;
      at = i;
    }
  }
  StoSideOther one = *asked;
  one.number = number[at];
  one.weight *= most;
  g_array_append_val (others, one);
}

static int
by_resource (gconstpointer a, gconstpointer b)
{
  CluRes x = ((const ColLoad *)a)->res, y = ((const ColLoad *)b)->res;
  return x < y ? -1 : x > y;
}

void
sto_io_run_side (const StoIoRun *io, double least_s, StoSide *out)
{
  const Run *run = &io->run;
  const Clu *clu = run->system->clu;
  double stored = run->misses * packed (&io->spec), core_s = core_s_per_B (run);
  gboolean local = run->tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  *out = (StoSide){ .loads = g_array_new (FALSE, TRUE, sizeof (ColLoad)),
                    .others = g_array_new (FALSE, TRUE, sizeof (StoSideOther)),
                    .amount_B = io->out.bytes / run->n,
                    .bound_Bps = fmin (fmin (own_Bps (run, &run->cost), io->out.link_Bps), BOUNDLESS_BPS) };
  if (least_s > 0)
    out->bound_Bps = fmin (out->bound_Bps, out->amount_B / least_s);
  for (guint i = 0; i < run->shared->len; i++) {
    const Shared *one = &g_array_index (run->shared, Shared, i);
    const ColLoad load = { one->res, one->load, 1, 1 };
    if (one->res != CLU_NONE && one->load > 0)
      g_array_append_val (out->loads, load);
  }
  g_array_sort (out->loads, by_resource);
  g_autofree guint32 *number = g_new (guint32, (gsize)run->n);
  for (guint32 i = 0; i < (guint32)run->n; i++) {
    guint32 node = sto_io_place (run->homes, i).node;
    number[i] = local ? clu_node_device (clu, node, CLU_DEV_NVME, 0) : run->dev;
  }
  StoSideOther servers = { COL_NET_TIER, 0, 1, mdl_tier_busy_s_per_B (&run->tier, &run->question) * stored };
  if (servers.weight > 0)
    side_other (run, &servers, number, out->others);
  for (guint32 i = 0; i < (guint32)run->n; i++)
    number[i] = sto_io_place (run->homes, i).node;
  StoSideOther cores = { COL_NET_CORES, 0, clu_node_cores (clu, number[0]), core_s };
  if (cores.weight > 0 && cores.capacity > 0)
    side_other (run, &cores, number, out->others);
}

void
sto_io_run_count (const StoIoRun *io, ColNet *net, double times)
{
  count (&io->run, net, times);
}
