/* Storage as a closed queue: N requests are always in flight; each takes its own time, and all share what the device gives.
 *
 *     T = ((o / N)^p + d^p)^(1/p),   o = latency + block / stream,   d = 1 / iops + block / rate
 *     requests a second 1 / T, bytes a second block / T, time of one N T
 * o s: one request alone, its path included (a leg of its own adds block / its stream); d s: what the device spends on each,
 * however many there are. Of the two bounds of a closed network, N / o and 1 / d, the lesser counts; p says how gently they meet:
 * 1 as if each request waited for the device once more (harmonic), large a corner.
 *
 * Source: asymptotic bounds of closed queueing networks: Lazowska et al., Quantitative System Performance (1984), chapter 5; the
 * form of the bend was taken from forerun-probe's reads and writes (tests/data/probe). Valid: one size and direction at a time, no
 * cache that warms meanwhile. Check: test_models_storage; accuracy.fit. */
#include "models/storage.h"

#include <math.h>
#include <string.h>

const BaseName mdl_io_op_names[] = { { "read", MDL_IO_READ, "from storage" },
                                     { "write", MDL_IO_WRITE, "to storage" },
                                     { NULL, 0, NULL } };
const BaseName mdl_io_path_names[] = { { "host", MDL_IO_HOST, "the host's memory" },
                                       { "cufile", MDL_IO_CUFILE, "a GPU's memory, straight (GPUDirect Storage)" },
                                       { "bounce", MDL_IO_BOUNCE, "a GPU's memory by way of the host's" },
                                       { NULL, 0, NULL } };
const char *const mdl_io_bound_names[] = { "latency", "iops", "stream", "rate" };

/* Seconds of a byte, 0 where no rate is known. */
static double
s_per_B (const BaseNum *rate)
{
  return rate->set && rate->v > 0 ? 1 / rate->v : 0;
}

static void
use (MdlIoCost *cost, const BaseNum *num)
{
  if (num->set)
    cost->source = MIN (cost->source, num->source);
}

void
mdl_storage_cost (const MdlStorage *storage, const MdlIoQuestion *q, MdlIoCost *cost)
{
  memset (cost, 0, sizeof *cost);
  cost->source = BASE_SOURCE_MEASURED;
  const MdlIoSide *side = &storage->op[q->op];
  const MdlIoRoute none = { 0 }, *way = q->path == MDL_IO_CUFILE   ? &storage->cufile
                                        : q->path == MDL_IO_BOUNCE ? &storage->bounce
                                                                   : &none;
  const BaseNum *latency = q->random && side->random_latency.set ? &side->random_latency : &side->latency;
  const BaseNum *iops = q->random && side->random_iops.set ? &side->random_iops : &side->iops;
  const BaseNum *used[] = { latency, iops, &side->stream, &side->rate, &way->latency, &way->stream, &way->rate };
  for (gsize i = 0; i < G_N_ELEMENTS (used); i++)
    use (cost, used[i]);
  double n = fmax (q->in_flight, 1), p = storage->blend.set ? fmax (storage->blend.v, 1) : 1;
  double wait_s = latency->v + way->latency.v, stream_s = q->block_B * (s_per_B (&side->stream) + s_per_B (&way->stream));
  double service_s = iops->set && iops->v > 0 ? 1 / iops->v : 0;
  double shared_s = q->block_B * fmax (s_per_B (&side->rate), s_per_B (&way->rate));
  double own_s = (wait_s + stream_s) / n, device_s = service_s + shared_s, larger_s = fmax (own_s, device_s);
  double each_s = larger_s > 0 ? larger_s * pow (pow (own_s / larger_s, p) + pow (device_s / larger_s, p), 1 / p) : 0;
  cost->iops = each_s > 0 ? 1 / each_s : HUGE_VAL;
  cost->rate_Bps = each_s > 0 ? q->block_B / each_s : HUGE_VAL;
  cost->time_s = n * each_s;
  /* what they share of the bend goes to both as their sizes are */
  double bend = own_s + device_s > 0 ? n * each_s / (own_s + device_s) : 0;
  cost->part_s[MDL_IO_BY_LATENCY] = wait_s / n * bend;
  cost->part_s[MDL_IO_BY_STREAM] = stream_s / n * bend;
  cost->part_s[MDL_IO_BY_IOPS] = service_s * bend;
  cost->part_s[MDL_IO_BY_RATE] = shared_s * bend;
  for (MdlIoBound k = MDL_IO_BY_LATENCY; k <= MDL_IO_BY_RATE; k++)
    cost->bound = cost->part_s[k] > cost->part_s[cost->bound] ? k : cost->bound;
  cost->band = storage->error.v;
}
