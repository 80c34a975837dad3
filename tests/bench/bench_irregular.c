/* Irregular traffic on the flow network. usage: bench_irregular ROW N, once a call, so that peak memory is that of the row.
 *   incast         N flows of different sizes, each from a link of its own, through one bottleneck
 *   incast_1024    the same from 1,024 links
 *   hashed         all-to-all of N ranks, 32 a leaf, 32 spines, each pair on a path at random
 *   hashed_4to1    the same with 8 spines
 *   poisson        N flows at random on a fat tree of 1,024 hosts, the spine by destination, as SimGrid's fat tree has it
 *   poisson_hashed the same, each pair on a path at random */
#include "base/hash.h"
#include "engine/flow.h"

#include "bench.h"
#include "bench_flows.h"

#include <stdbool.h>
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
  bool hashed;
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

/* Each bit of the pair turns half of the hash's, so that paths collide as by chance. base_hash_word would not do: its low bits are
 * a lattice over neighbours' numbers, more even than chance. */
static uint64_t
path_of (unsigned from, unsigned to)
{
  return base_hash_mix ((uint64_t)from << 32 | to);
}

static void
arrive (Eng *eng, void *user, uint64_t arg)
{
  Net *net = user;
  const BenchFlow *flow = &net->flows[arg];
  start (net, flow->from, flow->to, net->hashed ? path_of (flow->from, flow->to) : flow->to, flow->bytes);
  if (++net->next < net->n)
    eng_at (eng, eng_time_from_s (net->flows[net->next].start_s), arrive, net, net->next);
}

static void
prepare_incast (Net *net, size_t n, size_t n_sources)
{
  const EngLink shared = eng_link_new (net->eng, FLOWS_BPS), first = add_links (net->eng, (unsigned)n_sources, FLOWS_BPS);
  net->flows = malloc (n * sizeof *net->flows);
  bench_draw_incast (net->flows, n);
  for (size_t i = 0; i < n; i++) {
    EngUse uses[] = { { first + (EngLink)(i % n_sources), 1 }, { shared, 1 } };
    EngFlowSpec spec = { .amount = net->flows[i].bytes, .uses = uses, .n_uses = 2, .done = count, .user = net };
    eng_flow_start (net->eng, &spec);
  }
  net->n = net->live = net->most_live = n;
}

static void
prepare_all_to_all (Net *net, unsigned ranks, unsigned leaf, unsigned uplinks)
{
  make_fabric (net, ranks, leaf, uplinks);
  for (unsigned from = 0; from < ranks; from++)
    for (unsigned step = 1; step < ranks; step++) {
      const unsigned to = (from + step) % ranks;
      start (net, from, to, path_of (from, to), MESSAGE_B);
    }
  net->n = net->live;
}

static void
prepare_poisson (Net *net, size_t n, bool hashed)
{
  net->hashed = hashed;
  make_fabric (net, FLOWS_HOSTS, FLOWS_LEAF, FLOWS_SPINES);
  net->flows = malloc (n * sizeof *net->flows);
  net->n = n;
  bench_draw_poisson (net->flows, n, FLOWS_LOAD);
  eng_at (net->eng, eng_time_from_s (net->flows[0].start_s), arrive, net, 0);
}

static bool
prepare (Net *net, const char *row, size_t n)
{
  if (strcmp (row, "incast") == 0)
    prepare_incast (net, n, n);
  else if (strcmp (row, "incast_1024") == 0)
    prepare_incast (net, n, FLOWS_HOSTS);
  else if (strcmp (row, "hashed") == 0)
    prepare_all_to_all (net, (unsigned)n, FLOWS_LEAF, FLOWS_SPINES);
  else if (strcmp (row, "hashed_4to1") == 0)
    prepare_all_to_all (net, (unsigned)n, FLOWS_LEAF, FLOWS_SPINES / 4);
  else if (strcmp (row, "poisson") == 0 || strcmp (row, "poisson_hashed") == 0)
    prepare_poisson (net, n, strcmp (row, "poisson") != 0);
  else
    return false;
  return true;
}

int
main (int argc, char **argv)
{
  Net net = { .eng = eng_new () };
  const size_t n = argc == 3 ? strtoull (argv[2], NULL, 10) : 0;
  const double began_s = bench_now_s ();
  if (n == 0 || !prepare (&net, argv[1], n)) {
    fprintf (stderr, "usage: bench_irregular incast|incast_1024|hashed|hashed_4to1|poisson|poisson_hashed N\n");
    return 2;
  }
  if (!eng_run (net.eng, ENG_TIME_NEVER, 0, NULL) || net.n_done != net.n)
    abort ();
  const EngStats stats = eng_stats (net.eng);
  printf ("%s %zu: %.3f s, %.1f MB, ends at %.12g ms; %.0f solves of %.0f flows or levels; %zu flows at once\n", argv[1], n,
          bench_now_s () - began_s, bench_peak_B () / 1e6, 1e3 * eng_time_to_s (eng_now (net.eng)), (double)stats.solves,
          (double)stats.solved, net.most_live);
  eng_free (net.eng);
  free (net.flows);
  return 0;
}
