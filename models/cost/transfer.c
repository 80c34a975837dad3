/* A copy from one device to another.
 *
 *     T = start + route latency + S / R + min (S, block) / route rate           waited for
 *     T = queued                + S / R + min (S, block) / route rate           behind others of its kind
 *     R = min (rate (S), route rate / wire) / (1 + crowd (1 - 1/k))
 *     TCP: rate (S) times its streams, each a connection that one core serves
 *     1 / rate (S) = (1 - (1 - 1 / cached) cache / (S + cache)) / rate
 *
 * start, queued s: of the engine that copies (copy engine, kernel, NIC, CPU); rate B/s: what the copier itself moves, where it is a
 * limit, `cached` times that while the CPU's cache of `cache` B holds the data; k copies that one device sends to as many others
 * at once, or one host stages, are in each other's way by `crowd`: 1 for none. `block` B: of pageable memory, the driver's first
 * pinned block, which crosses before the CPU has anything to empty.
 *
 * Source: measured on 8x and 4x H200 (tests/data/h200x8/p2p.csv, tests/data/probe), others assumed: calibrate/defaults/links.yaml.
 * Valid: one message in flight, and as many at once as `at_once` says. Check: test_models_transfer; accuracy_links. */
#include "models/transfer.h"

#include <math.h>
#include <string.h>

#include "collective/terms-private.h"
#include "models/links.h"

const BaseName mdl_copy_names[] = {
  { "dma", MDL_COPY_DMA, "copy engine between GPUs, NVMe" },
  { "kernel", MDL_COPY_KERNEL, "a kernel's stores into another GPU" },
  { "kernel_read", MDL_COPY_KERNEL_READ, "a kernel's loads from another GPU" },
  { "h2d", MDL_COPY_H2D, "copy engine, from pinned host memory" },
  { "d2h", MDL_COPY_D2H, "copy engine, to pinned host memory" },
  { "h2d_pageable", MDL_COPY_H2D_PAGEABLE, "from pageable host memory, by the driver's pinned blocks" },
  { "d2h_pageable", MDL_COPY_D2H_PAGEABLE, "to pageable host memory, likewise" },
  { "host", MDL_COPY_HOST, "staged in host memory by the CPU" },
  { "rdma", MDL_COPY_RDMA, "RDMA" },
  { "tcp", MDL_COPY_TCP, "sockets" },
  { "managed", MDL_COPY_MANAGED, "managed memory, as page faults fetch it" },
  { NULL, 0, NULL },
};

/* Adds what the copier costs before the first byte, and finds its own rate. */
static void
take_copier (const MdlCopySpec *spec, const MdlTransfer *t, const MdlCollQuestion *question, MdlCollCost *cost)
{
  gboolean queued = t->queued && spec->queued.set;
  const BaseNum *start = queued ? &spec->queued : &spec->start;
  mdl_cost_term (question, cost, queued ? "queued" : "start", start->v, start, "%.3g us", start->v * 1e6);
  double k = t->at_once > 1 ? t->at_once : 1, slower = 1 + (spec->contention.set ? spec->contention.v * (1 - 1 / k) : 0);
  cost->wire = (spec->wire.set ? spec->wire.v : 1) * slower;
  if (spec->wire.set && (spec->wire.v < 1 || spec->wire.v > 1))
    mdl_cost_use (cost, &spec->wire);
  if (slower > 1)
    mdl_cost_use (cost, &spec->contention);
  if (spec->rate.set) {
    double s_per_B = 1 / spec->rate.v;
    if (spec->cached.set && spec->cache.v > 0)
      s_per_B *= 1 - (1 - 1 / spec->cached.v) * spec->cache.v / (t->size_B + spec->cache.v);
    cost->bound_Bps = (t->copy == MDL_COPY_TCP ? fmax (t->streams, 1) : 1) / (s_per_B * slower);
    if (cost->bound_Bps < t->route_rate_Bps / cost->wire)
      mdl_cost_use (cost, &spec->rate);
  }
  if (spec->block.v > 0 && isfinite (t->route_rate_Bps)) {
    double first_B = fmin (t->size_B, spec->block.v);
    mdl_cost_term (question, cost, "first block", first_B / t->route_rate_Bps, &spec->block, "%.0f B at %.4g GB/s", first_B,
                   t->route_rate_Bps * 1e-9);
  }
}

static double
band_of (const MdlLibrary *library, const MdlCollCost *cost, double size_B)
{
  gboolean assumed = cost->source == BASE_SOURCE_ASSUMED;
  if (!assumed && library->links != NULL && library->links->error.set)
    return library->links->error.v;
  const MdlErrorSpec *error = assumed || !library->error.head.set ? &library->assumed_error : &library->error;
  return (size_B < library->small_max.v ? &error->small : size_B < library->middle_max.v ? &error->middle : &error->large)->v;
}

void
mdl_transfer_cost (const MdlLibrary *library, const MdlTransfer *t, MdlCollCost *cost)
{
  g_return_if_fail (t->copy < MDL_COPY_N);
  const MdlCollQuestion question = {
    .op = MDL_OP_SENDRECV, .size_B = t->size_B, .link_rate_Bps = t->route_rate_Bps, .terse = t->terse
  };
  memset (cost, 0, sizeof *cost);
  cost->bound_Bps = HUGE_VAL;
  cost->wire = 1.0;
  cost->n_steps = 1;
  cost->source = BASE_SOURCE_MEASURED;
  const MdlCopySpec *spec = library != NULL && library->links != NULL ? &library->links->copies.at[t->copy] : NULL;
  if (spec != NULL)
    take_copier (spec, t, &question, cost);
  if (spec == NULL || !t->queued || !spec->queued.set)
    mdl_cost_term (&question, cost, "route latency", t->route_latency_s, NULL, "%.4g us", t->route_latency_s * 1e6);
  cost->start_s = spec == NULL ? 0 : t->queued && spec->queued.set ? spec->queued.v : spec->start.v;
  if (t->storage_latency_s > 0)
    mdl_cost_term (&question, cost, "storage", t->storage_latency_s, NULL, "%.4g us for the first request",
                   t->storage_latency_s * 1e6);
  if (t->storage_rate_Bps > 0)
    cost->bound_Bps = fmin (cost->bound_Bps, t->storage_rate_Bps);
  double link_Bps = t->route_rate_Bps / cost->wire, rate_Bps = fmin (cost->bound_Bps, link_Bps);
  double latency_s = cost->latency_s, size_s = mdl_time_s (t->size_B, rate_Bps);
  cost->link_bound = link_Bps <= cost->bound_Bps;
  mdl_cost_term (&question, cost, "size", size_s, NULL, "at %.4g GB/s, the %s", rate_Bps * 1e-9,
                 cost->link_bound          ? "limit of the route"
                 : t->copy == MDL_COPY_TCP ? "limit of its TCP streams"
                                           : "limit of the copy engine");
  cost->latency_s = latency_s;
  cost->time_s = latency_s + size_s;
  if (library != NULL)
    cost->band = band_of (library, cost, t->size_B);
}

double
mdl_ramp (double size_B, double half_B)
{
  return size_B > 0.0 ? size_B / (size_B + fmax (half_B, 0.0)) : 0.0;
}
