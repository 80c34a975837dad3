/* Irregular traffic on the flow network: flows that share a bottleneck but no path, all-to-all over hashed paths, and Poisson
 * arrivals. usage: bench_irregular incast|hashed|hashed_4to1|poisson N [full]   N: flows, or ranks of the all-to-all. Once a call,
 * so that peak memory is that of the row. */
#include "base/hash.h"
#include "engine/flow.h"

#include "bench.h"
#include "bench_flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_B  1048576.0
#define LATENCY_PS UINT64_C (1000000)

typedef struct {
  Eng *eng;
  EngLink up, down, leaf_up, leaf_down;
  unsigned hosts, leaf, uplinks; /* leaf: hosts of one */
  BenchFlow *flows;
  size_t n, next, n_done, live, most_live;
} Net;

static EngLink
add_links (Eng *eng, unsigned n, double rate_per_s)
{
  EngLink first = eng_link_new (eng, rate_per_s);
  for (unsigned i = 1; i < n; i++)
    eng_link_new (eng, rate_per_s);
  return first;
}

static void
count (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  (void)arg;
  Net *net = user;
  net->n_done++;
  net->live--;
}

static void
make_fabric (Net *net, unsigned hosts, unsigned leaf, unsigned uplinks)
{
  const unsigned n_leaves = (hosts + leaf - 1) / leaf;
  net->hosts = hosts;
  net->leaf = leaf;
  net->uplinks = uplinks;
  net->up = add_links (net->eng, hosts, FLOWS_BPS);
  net->down = add_links (net->eng, hosts, FLOWS_BPS);
  net->leaf_up = add_links (net->eng, n_leaves * uplinks, FLOWS_BPS);
  net->leaf_down = add_links (net->eng, n_leaves * uplinks, FLOWS_BPS);
}

/* `path`: any number; it chooses the spine. A microsecond a cable. */
static void
start (Net *net, unsigned from, unsigned to, uint64_t path, double bytes)
{
  const unsigned leaf = from / net->leaf, to_leaf = to / net->leaf, spine = (unsigned)(path % net->uplinks);
  EngUse uses[4] = { { net->up + from, 1 }, { net->down + to, 1 } };
  EngFlowSpec spec = { .amount = bytes, .latency = 2 * LATENCY_PS, .uses = uses, .n_uses = 2, .done = count, .user = net };
  if (leaf != to_leaf) {
    uses[spec.n_uses++] = (EngUse){ net->leaf_up + leaf * net->uplinks + spine, 1 };
    uses[spec.n_uses++] = (EngUse){ net->leaf_down + to_leaf * net->uplinks + spine, 1 };
    spec.latency = 4 * LATENCY_PS;
  }
  eng_flow_start (net->eng, &spec);
  net->live++;
  net->most_live = net->live > net->most_live ? net->live : net->most_live;
}

static void
arrive (Eng *eng, void *user, uint64_t arg)
{
  Net *net = user;
  const BenchFlow *flow = &net->flows[arg];
  start (net, flow->from, flow->to, base_hash_word (base_hash_word (1, flow->from), flow->to), flow->bytes);
  if (++net->next < net->n)
    eng_at (eng, eng_time_from_s (net->flows[net->next].start_s), arrive, net, net->next);
}

static void
prepare_incast (Net *net, size_t n)
{
  uint64_t state = 1;
  EngLink shared = eng_link_new (net->eng, FLOWS_BPS), first = add_links (net->eng, (unsigned)n, FLOWS_BPS);
  for (size_t i = 0; i < n; i++) {
    EngUse uses[] = { { first + (EngLink)i, 1 }, { shared, 1 } };
    EngFlowSpec spec = { .amount = ceil (1e6 * (1 + bench_unit (&state))), .uses = uses, .n_uses = 2, .done = count, .user = net };
    eng_flow_start (net->eng, &spec);
    net->live++;
  }
  net->n = net->most_live = n;
}

static void
prepare_all_to_all (Net *net, unsigned ranks, unsigned leaf, unsigned uplinks)
{
  make_fabric (net, ranks, leaf, uplinks);
  for (unsigned from = 0; from < ranks; from++)
    for (unsigned step = 1; step < ranks; step++) {
      const unsigned to = (from + step) % ranks;
      start (net, from, to, base_hash_word (base_hash_word (1, from), to), MESSAGE_B);
    }
  net->n = net->live;
}

static void
prepare_poisson (Net *net, size_t n)
{
  make_fabric (net, FLOWS_HOSTS, FLOWS_LEAF, FLOWS_SPINES);
  net->flows = malloc (n * sizeof *net->flows);
  net->n = n;
  bench_draw_flows (net->flows, n, 0.7);
  eng_at (net->eng, eng_time_from_s (net->flows[0].start_s), arrive, net, 0);
}

int
main (int argc, char **argv)
{
  Net net = { .eng = eng_new () };
  if (argc < 3)
    return 2;
  const size_t n = strtoull (argv[2], NULL, 10);
  if (argc > 3)
    eng_set_solve (net.eng, ENG_SOLVE_FULL);
  const double began_s = bench_now_s ();
  if (strcmp (argv[1], "incast") == 0)
    prepare_incast (&net, n);
  else if (strcmp (argv[1], "hashed") == 0)
    prepare_all_to_all (&net, (unsigned)n, 32, 32);
  else if (strcmp (argv[1], "hashed_4to1") == 0)
    prepare_all_to_all (&net, (unsigned)n, 32, 8);
  else if (strcmp (argv[1], "poisson") == 0)
    prepare_poisson (&net, n);
  else
    return 2;
  if (!eng_run (net.eng, ENG_TIME_NEVER, 0, NULL) || net.n_done != net.n)
    abort ();
  const EngStats stats = eng_stats (net.eng);
  printf ("%s %zu: %.3f s, %.1f MB, ends at %.12g ms; %.0f solves, %.0f in part, of %.0f flows; %zu at once\n", argv[1], n,
          bench_now_s () - began_s, bench_peak_B () / 1e6, 1e3 * eng_time_to_s (eng_now (net.eng)), (double)stats.solves,
          (double)stats.parts, (double)stats.solved, net.most_live);
  eng_free (net.eng);
  free (net.flows);
  return 0;
}
