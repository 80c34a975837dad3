/* A copy from one device to another.
 *
 *     T = start + route latency + S / min (rate, route rate / wire)
 * start s: of the engine that copies (copy engine, kernel, NIC, CPU); rate B/s: what the copier itself moves, where it is a limit.
 *
 * Source: measured on 8x H200 (copy engine 5.4 us, copy kernel 9.5 us, pageable copies 8.7 GB/s), others assumed: library.yaml.
 * Valid: one message in flight. Check: test_models_transfer; accuracy_models_h200 (p2p.csv). */
#include "models/transfer.h"

#include <math.h>
#include <string.h>

#include "cost-private.h"

void
mdl_transfer_cost (const MdlLibrary *library, MdlCopy copy, double size_B, double route_latency_s, double route_rate_Bps,
                   MdlCollCost *cost)
{
  g_return_if_fail (copy < MDL_COPY_N);
  const MdlCollQuestion question = { .op = MDL_OP_SENDRECV, .size_B = size_B, .link_rate_Bps = route_rate_Bps };
  memset (cost, 0, sizeof *cost);
  cost->bound_Bps = HUGE_VAL;
  cost->wire = 1.0;
  cost->n_steps = 1;
  cost->source = BASE_SOURCE_MEASURED;
  if (library != NULL) {
    const MdlCopySpec *spec = &library->copies.at[copy];
    mdl_cost_term (&question, cost, "start", spec->start.v, &spec->start, "%.3g us", spec->start.v * 1e6);
    cost->start_s = spec->start.v;
    if (spec->wire.set)
      cost->wire = fmax (spec->wire.v, 1.0);
    if (spec->rate.set) {
      cost->bound_Bps = spec->rate.v;
      if (cost->bound_Bps < route_rate_Bps / cost->wire)
        mdl_cost_use (cost, &spec->rate);
    }
  }
  mdl_cost_term (&question, cost, "route latency", route_latency_s, NULL, "%.4g us", route_latency_s * 1e6);
  double link_Bps = route_rate_Bps / cost->wire, rate_Bps = fmin (cost->bound_Bps, link_Bps);
  double latency_s = cost->latency_s, size_s = mdl_time_s (size_B, rate_Bps);
  cost->link_bound = link_Bps <= cost->bound_Bps;
  mdl_cost_term (&question, cost, "size", size_s, NULL, "%.0f B at %.4g GB/s, %s", size_B, rate_Bps * 1e-9,
                 cost->link_bound ? "what the route carries" : "what the copier moves");
  cost->latency_s = latency_s;
  cost->time_s = latency_s + size_s;
  if (library != NULL) {
    const MdlErrorSpec *error =
        cost->source == BASE_SOURCE_ASSUMED || !library->error.head.set ? &library->assumed_error : &library->error;
    cost->band = (size_B < library->small_to.v ? &error->small : size_B < library->middle_to.v ? &error->middle : &error->large)->v;
  }
}

double
mdl_ramp (double size_B, double half_B)
{
  return size_B > 0.0 ? size_B / (size_B + fmax (half_B, 0.0)) : 0.0;
}
