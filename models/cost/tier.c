/* A storage tier as a closed queue of what all of its clients have in flight. With c clients of n requests each:
 *
 *     N      = c n
 *     rate   = min (e S r, e k t, c client)        S servers of r B/s, k targets used of t B/s, e their efficiency
 *     1/iops = 1 / min (S i, c client_iops) + m b / (f M q)   m operations a file of f B at M metadata servers of q 1/s, b a block
 *     o      = latency + m L b / f + b / (stream s)            s = min (stripes, b / stripe size) targets of one request
 * Volumes and object stores cap bytes and requests apart: of 1/iops and block / rate the larger counts, not the sum.
 * k: min (c stripes, targets) for files of their own, stripes for one that all share: a hot file has no more than its targets.
 * The request's time, rate and what bounds it follow from models/cost/storage.c.
 * A byte written is stored a times: R replicas, or (K + P) / K with P parity parts beside K. With a of the tier and a0 of those
 * that the type's figures of writes have in them (1: figures of drives), its rates are r a0 / a, and t a0 / a on a / a0 as many
 * targets, its IOPS i n0 / n of n parts a request (R, or K + P), its latency L h / h0 of h hops one after the other (client: 1,
 * first server: 2, chain: R). Replicas of which any is read lend their targets to a hot file: k = R stripes.
 *
 * In order, requests of less than `merge` count as one where a volume merges them; at random each counts, at random_iops.
 *
 * Source: the queue, as there. Merging: Amazon EBS user guide, "I/O characteristics and monitoring". Stripes add: Lustre operations
 * manual, "Managing file layout". That all servers together reach less than their sum is one efficiency a type, measured (3FS
 * README; Ceph, "a journey to 1 TiB/s"). Copies: the first server sends them in Ceph (docs.ceph.com, Architecture), chunks likewise
 * (Erasure coding, there); chains of which any part is read: CRAQ (Terrace and Freedman, USENIX ATC 2009), 3FS
 * (docs/design_notes.md at 4a35c0f, Data replication); clients: pNFS flexible files (RFC 8435).
 * Valid: equal clients, one direction and size. Check: test_models_tier; cases 19 to 21. */
#include "models/tier.h"

#include <math.h>
#include <string.h>

#define AS_NAME(constant, name, caps, help) { #name, MDL_TIER_##constant, help },
#define AS_CAPS(constant, name, caps, help) caps,
const BaseName mdl_tier_names[] = { MDL_TIER_KINDS (AS_NAME){ NULL, 0, NULL } };
static const gboolean caps_apart[] = { MDL_TIER_KINDS (AS_CAPS) };
const BaseName mdl_gds_names[] = { { "no", MDL_GDS_NO, "data reaches GPU memory only through host memory" },
                                   { "yes", MDL_GDS_YES, "its client supports GPUDirect Storage" },
                                   { NULL, 0, NULL } };
const BaseName mdl_cache_names[] = { { "direct", MDL_CACHE_OFF, "bypasses the page cache (O_DIRECT)" },
                                     { "cold", MDL_CACHE_COLD, "through the page cache, which is empty" },
                                     { "warm", MDL_CACHE_WARM, "through the page cache, after one read of all of `dataset`" },
                                     { NULL, 0, NULL } };

const BaseName mdl_copies_by_names[] = {
  { "servers", MDL_COPIES_SERVERS, "the first server, to all others at once" },
  { "chain", MDL_COPIES_CHAIN, "each server to the next" },
  { "client", MDL_COPIES_CLIENT, "the client, over its own network" },
  { NULL, 0, NULL },
};

double
mdl_redundancy_stored (const MdlTierRedundancy *r)
{
  return r->replicas.set ? r->replicas.v : r->data.set ? (r->data.v + r->parity.v) / r->data.v : 1;
}

const MdlTierRedundancy *
mdl_tier_redundancy (const MdlTier *tier)
{
  return tier->redundancy.head.set ? &tier->redundancy : &tier->type.redundancy;
}

/* Parts of a request that servers write. */
static double
parts_of (const MdlTierRedundancy *r)
{
  return r->replicas.set ? r->replicas.v : r->data.set ? r->data.v + r->parity.v : 1;
}

/* Hops of a write, one after the other. */
static double
hops_of (const MdlTierRedundancy *r)
{
  double stored = mdl_redundancy_stored (r);
  return stored <= 1 || r->sent_by.v == MDL_COPIES_CLIENT ? 1 : r->sent_by.v == MDL_COPIES_CHAIN ? parts_of (r) : 2;
}

/* What a client sends of a byte. */
static double
sent_of (const MdlTierRedundancy *r)
{
  return r->sent_by.v == MDL_COPIES_CLIENT ? mdl_redundancy_stored (r) : 1;
}

double
mdl_tier_sent (const MdlTier *tier, MdlIoOp op)
{
  return op == MDL_IO_WRITE ? sent_of (mdl_tier_redundancy (tier)) : 1;
}

/* How much more is written here than the type's figures have in them; reads are as they are. */
typedef struct {
  double stored, parts, hops, sent;
} More;

static More
more_of (const MdlTier *tier, MdlIoOp op)
{
  const MdlTierRedundancy *here = mdl_tier_redundancy (tier), *there = &tier->type.redundancy;
  if (op != MDL_IO_WRITE)
    return (More){ 1, 1, 1, 1 };
  return (More){ mdl_redundancy_stored (here) / mdl_redundancy_stored (there), parts_of (here) / parts_of (there),
                 hops_of (here) / hops_of (there), sent_of (here) / sent_of (there) };
}

/* Targets that a file is read from or written to, for each that it lies on. */
static double
spread_of (const MdlTier *tier, MdlIoOp op)
{
  const MdlTierRedundancy *here = mdl_tier_redundancy (tier);
  return op == MDL_IO_WRITE ? more_of (tier, op).stored : here->replicas.set && here->reads.v == 0 ? here->replicas.v : 1;
}

static double
limit (const BaseNum *num)
{
  return num->set && num->v > 0 ? num->v : HUGE_VAL;
}

static double
efficiency (const MdlTier *tier)
{
  return tier->type.efficiency.v > 0 ? tier->type.efficiency.v : 1;
}

double
mdl_tier_targets (const MdlTier *tier)
{
  return tier->servers * (tier->type.targets.set ? tier->type.targets.v : 1);
}

double
mdl_tier_request_B (const MdlTier *tier, double block_B, double asked_B)
{
  static const double LINUX_B = 131072; /* VM_READAHEAD_PAGES, include/linux/mm.h */
  return fmax (block_B, asked_B > 0 ? asked_B : tier->type.read_ahead.set ? tier->type.read_ahead.v : LINUX_B);
}

double
mdl_tier_file_targets (const MdlTier *tier)
{
  double all = mdl_tier_targets (tier);
  return tier->type.stripe.count.set ? fmin (tier->type.stripe.count.v, all) : all;
}

double
mdl_tier_rate_Bps (const MdlTier *tier, MdlIoOp op)
{
  const MdlTierSide *side = &tier->type.side[op];
  double server_Bps = fmax (limit (&side->rate), side->rate.set ? tier->type.burst.rate.v : 0);
  return fmin (tier->servers * server_Bps, mdl_tier_targets (tier) * limit (&side->target)) * efficiency (tier) /
         more_of (tier, op).stored;
}

/* What is a limit becomes a number that the queue takes; its source goes with it. */
static void
put (BaseNum *num, double value, BaseSource source)
{
  *num = (BaseNum){ .v = value, .set = isfinite (value), .source = source };
}

typedef struct {
  double rate_Bps;
  BaseSource source;
  gboolean by_targets, by_client;
} Rate;

/* The least of what servers, targets and clients give. */
static Rate
rate_of (const MdlTier *tier, const MdlTierQuestion *q)
{
  const MdlTierSide *side = &tier->type.side[q->op];
  const BaseNum *server = q->burst && tier->type.burst.rate.set ? &tier->type.burst.rate : &side->rate;
  double stripes = q->stripes > 0 ? q->stripes : mdl_tier_file_targets (tier), clients = fmax (q->clients, 1);
  const More more = more_of (tier, q->op);
  double spread = spread_of (tier, q->op), used = fmin ((q->shared ? 1 : clients) * stripes * spread, mdl_tier_targets (tier));
  double servers_Bps = tier->servers * limit (server) * efficiency (tier) / more.stored,
         targets_Bps = used * limit (&side->target) * efficiency (tier) / more.stored;
  double clients_Bps = clients * limit (&side->client) / more.sent;
  Rate out = { servers_Bps, server->source, FALSE, FALSE };
  if (targets_Bps < out.rate_Bps)
    out = (Rate){ targets_Bps, side->target.source, TRUE, FALSE };
  if (clients_Bps < out.rate_Bps)
    out = (Rate){ clients_Bps, side->client.source, FALSE, TRUE };
  if (tier->type.efficiency.set && !out.by_client)
    out.source = MIN (out.source, tier->type.efficiency.source);
  return out;
}

/* Seconds of the metadata servers, and waited for, that a request's part of its file costs. */
static void
open_cost (const MdlTier *tier, const MdlTierQuestion *q, double *service_s, double *wait_s)
{
  const MdlTierMetadata *m = &tier->type.metadata;
  double opens = q->file_B > 0 ? (m->per_file.set ? m->per_file.v : 1) * q->block_B / q->file_B : 0;
  double servers = m->servers.set ? m->servers.v : 1;
  *service_s = m->rate.set && m->rate.v > 0 ? opens / (servers * m->rate.v) : 0;
  *wait_s = opens * m->latency.v;
}

/* Requests in order that count as one. */
static double
merged_of (const MdlTier *tier, const MdlTierQuestion *q)
{
  return !q->random && tier->type.merge.v > q->block_B ? tier->type.merge.v / q->block_B : 1;
}

/* As the closed queue sees it; what a path to a GPU adds is `ways`' (may be NULL). */
static void
tier_storage (const MdlTier *tier, const MdlTierQuestion *q, const MdlStorage *ways, MdlStorage *out)
{
  memset (out, 0, sizeof *out);
  if (ways != NULL) {
    out->cufile = ways->cufile;
    out->bounce = ways->bounce;
    out->blend = ways->blend;
    out->error = ways->error;
  }
  if (tier->type.blend.set)
    out->blend = tier->type.blend;
  if (tier->type.error.set)
    out->error = tier->type.error;
  const MdlTierSide *from = &tier->type.side[q->op];
  const BaseNum *iops = q->burst && tier->type.burst.iops.set ? &tier->type.burst.iops
                        : q->random && from->random_iops.set  ? &from->random_iops
                                                              : &from->iops;
  const BaseNum *latency = q->random && from->random_latency.set ? &from->random_latency : &from->latency;
  MdlIoSide *side = &out->op[q->op];
  double clients = fmax (q->clients, 1), open_s, wait_s;
  Rate rate = rate_of (tier, q);
  put (&side->rate, rate.rate_Bps, rate.source);
  open_cost (tier, q, &open_s, &wait_s);
  const More more = more_of (tier, q->op);
  double servers = tier->servers * limit (iops) * merged_of (tier, q) / more.parts, own = clients * limit (&from->client_iops);
  double service_s = (isfinite (fmin (servers, own)) ? 1 / fmin (servers, own) : 0) + open_s;
  BaseSource source = own < servers ? from->client_iops.source : iops->source;
  put (&side->iops, service_s > 0 ? 1 / service_s : HUGE_VAL, open_s > 0 ? MIN (source, tier->type.metadata.rate.source) : source);
  put (&side->latency, latency->v * more.hops + wait_s, latency->set ? latency->source : BASE_SOURCE_MEASURED);
  if (caps_apart[tier->type.kind.v] && side->iops.set && side->rate.set)
    *(1 / side->iops.v < q->block_B / side->rate.v ? &side->iops : &side->rate) = (BaseNum){ 0 };
  double stripes = q->stripes > 0 ? q->stripes : mdl_tier_file_targets (tier), stripe_B = tier->type.stripe.size.v;
  double touched = stripe_B > 0 ? CLAMP (q->block_B / stripe_B, 1, stripes) : 1;
  put (&side->stream, limit (&from->stream) * touched, from->stream.source);
}

void
mdl_tier_cost (const MdlTier *tier, const MdlTierQuestion *q, const MdlStorage *ways, MdlTierCost *cost)
{
  memset (cost, 0, sizeof *cost);
  MdlStorage storage;
  tier_storage (tier, q, ways, &storage);
  double clients = fmax (q->clients, 1), open_s, wait_s;
  MdlIoQuestion all = { q->op, q->path, q->random, q->block_B, fmax (q->in_flight, 1) * clients };
  mdl_storage_cost (&storage, &all, &cost->all);
  Rate rate = rate_of (tier, q);
  open_cost (tier, q, &open_s, &wait_s);
  cost->client_rate_Bps = cost->all.rate_Bps / clients;
  cost->opens_per_s = q->file_B > 0 ? cost->all.rate_Bps / q->file_B : 0;
  cost->by_targets = rate.by_targets;
  cost->by_client = rate.by_client;
  const MdlIoSide *side = &storage.op[q->op];
  cost->by_metadata = (cost->all.bound == MDL_IO_BY_IOPS && side->iops.set && open_s > 0.5 / side->iops.v) ||
                      (cost->all.bound == MDL_IO_BY_LATENCY && wait_s > 0.5 * side->latency.v);
}

double
mdl_tier_busy_s_per_B (const MdlTier *tier, const MdlTierQuestion *question)
{
  MdlTierQuestion q = *question;
  MdlStorage storage;
  /* servers and all their targets alone: what holds one client, or one file, back leaves them idle */
  q.stripes = mdl_tier_targets (tier);
  q.shared = q.burst = FALSE;
  MdlTier whole = *tier;
  whole.type.side[q.op].client.set = whole.type.side[q.op].client_iops.set = FALSE;
  tier_storage (&whole, &q, NULL, &storage);
  const MdlIoSide *side = &storage.op[q.op];
  double service_s = side->iops.set && side->iops.v > 0 ? 1 / side->iops.v : 0;
  return (q.block_B > 0 ? service_s / q.block_B : 0) + (side->rate.set && side->rate.v > 0 ? 1 / side->rate.v : 0);
}

double
mdl_tier_burst_s (const MdlTier *tier, const MdlTierQuestion *q, const MdlTierCost *burst)
{
  const MdlTierBurst *b = &tier->type.burst;
  const MdlTierSide *side = &tier->type.side[q->op];
  if (!b->head.set)
    return 0;
  double merged = merged_of (tier, q), rate_Bps = tier->servers * limit (&side->rate), iops = tier->servers * limit (&side->iops),
         lasts_s = HUGE_VAL;
  if (b->credit.set && burst->all.rate_Bps > rate_Bps)
    lasts_s = tier->servers * b->credit.v / (burst->all.rate_Bps - rate_Bps);
  if (b->io_credit.set && burst->all.iops / merged > iops)
    lasts_s = fmin (lasts_s, tier->servers * b->io_credit.v / (burst->all.iops / merged - iops));
  return lasts_s;
}

double
mdl_cache_hits (MdlCache cache, double set_B, double cache_B, gboolean random)
{
  if (cache != MDL_CACHE_WARM || cache_B <= 0)
    return 0;
  if (set_B <= cache_B)
    return 1;
  return random ? cache_B / set_B : 0;
}
