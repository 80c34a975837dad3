/* The flow network at scale: all-to-alls of 1,024 ranks on a star and on fat trees, independent transfers, a shared link.
 * usage: bench_flow [name]: without a name all of them; peak memory is that of the process, so name one to see its own. */
#include "engine/flow.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 1024, LEAF = 32, N_LEAVES = RANKS / LEAF, POD_LEAVES = 8, N_PODS = N_LEAVES / POD_LEAVES };

#define SIZE_B     1048576.0
#define PORT_BPS   50e9
#define LATENCY_PS UINT64_C (2000000)

typedef struct {
  Eng *eng;
  EngLink up, down;           /* by rank */
  EngLink leaf_up, leaf_down; /* by leaf and uplink */
  EngLink pod_up, pod_down;   /* by pod and uplink */
  unsigned leaf_uplinks, pod_uplinks;
  uint64_t n_done;
} Fabric;

static void
count (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  (void)arg;
  ((Fabric *)user)->n_done++;
}

static EngLink
add_links (Eng *eng, unsigned n)
{
  EngLink first = eng_link_new (eng, PORT_BPS);
  for (unsigned i = 1; i < n; i++)
    eng_link_new (eng, PORT_BPS);
  return first;
}

static void
make_fabric (Fabric *fabric, unsigned leaf_uplinks, unsigned pod_uplinks)
{
  *fabric = (Fabric){ .eng = eng_new (), .leaf_uplinks = leaf_uplinks, .pod_uplinks = pod_uplinks };
  fabric->up = add_links (fabric->eng, RANKS);
  fabric->down = add_links (fabric->eng, RANKS);
  fabric->leaf_up = add_links (fabric->eng, N_LEAVES * leaf_uplinks);
  fabric->leaf_down = add_links (fabric->eng, N_LEAVES * leaf_uplinks);
  fabric->pod_up = add_links (fabric->eng, N_PODS * pod_uplinks);
  fabric->pod_down = add_links (fabric->eng, N_PODS * pod_uplinks);
}

/* Uplinks are chosen by destination (D-mod-k), which spreads an all-to-all evenly. */
static unsigned
route (const Fabric *fabric, unsigned from, unsigned to, EngUse *uses)
{
  unsigned n = 0, leaf = from / LEAF, to_leaf = to / LEAF, pod = leaf / POD_LEAVES, to_pod = to_leaf / POD_LEAVES;
  uses[n++] = (EngUse){ fabric->up + from, 1 };
  if (fabric->leaf_uplinks > 0 && leaf != to_leaf) {
    unsigned spine = to % fabric->leaf_uplinks;
    uses[n++] = (EngUse){ fabric->leaf_up + leaf * fabric->leaf_uplinks + spine, 1 };
    if (fabric->pod_uplinks > 0 && pod != to_pod) {
      unsigned core = to % fabric->pod_uplinks;
      uses[n++] = (EngUse){ fabric->pod_up + pod * fabric->pod_uplinks + core, 1 };
      uses[n++] = (EngUse){ fabric->pod_down + to_pod * fabric->pod_uplinks + core, 1 };
    }
    uses[n++] = (EngUse){ fabric->leaf_down + to_leaf * fabric->leaf_uplinks + spine, 1 };
  }
  uses[n++] = (EngUse){ fabric->down + to, 1 };
  return n;
}

static double
all_to_all (Fabric *fabric)
{
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < RANKS; i++)
    for (unsigned step = 1; step < RANKS; step++) {
      EngUse uses[6];
      EngFlowSpec spec = { .amount = SIZE_B, .latency = LATENCY_PS, .uses = uses, .done = count, .user = fabric };
      spec.n_uses = route (fabric, i, (i + step) % RANKS, uses);
      eng_flow_start (fabric->eng, &spec);
    }
  if (!eng_run (fabric->eng, ENG_TIME_NEVER, 0, NULL) || fabric->n_done != (uint64_t)RANKS * (RANKS - 1))
    abort ();
  return bench_now_s () - began_s;
}

static double
on_fabric (unsigned leaf_uplinks, unsigned pod_uplinks)
{
  Fabric fabric;
  make_fabric (&fabric, leaf_uplinks, pod_uplinks);
  double time_s = all_to_all (&fabric);
  EngStats stats = eng_stats (fabric.eng);
  static unsigned n_told;
  if (n_told++ % (BENCH_REPEATS + 1) == 0)
    printf ("  ends at %.9f ms simulated; %.0f solves of %.0f flows in all\n", 1e3 * eng_time_to_s (eng_now (fabric.eng)),
            (double)stats.solves, (double)stats.solved);
  eng_free (fabric.eng);
  return time_s;
}

static double
star (void *user)
{
  (void)user;
  return on_fabric (0, 0);
}

static double
two_levels (void *user)
{
  (void)user;
  return on_fabric (LEAF, 0);
}

static double
two_levels_oversubscribed (void *user)
{
  (void)user;
  return on_fabric (LEAF / 4, 0);
}

static double
three_levels (void *user)
{
  (void)user;
  return on_fabric (LEAF, LEAF * POD_LEAVES);
}

/* A link each, amounts all different: no flow has to do with another. */
static double
independent (void *user)
{
  (void)user;
  enum { N = 1000000 };
  Eng *eng = eng_new ();
  EngLink first = add_links (eng, N);
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < N; i++) {
    EngUse use = { first + i, 1 };
    EngFlowSpec spec = { .amount = 1e6 + i, .latency = i % 1000, .uses = &use, .n_uses = 1 };
    eng_flow_start (eng, &spec);
  }
  if (!eng_run (eng, ENG_TIME_NEVER, 0, NULL))
    abort ();
  double time_s = bench_now_s () - began_s;
  eng_free (eng);
  return time_s;
}

/* A ring, step by step: a rank's next message goes when its last has gone and its neighbour's has come. No two share a link. */
typedef struct {
  Eng *eng;
  EngLink up, down;
  unsigned begun[RANKS], sent[RANKS], received[RANKS];
  unsigned n_steps;
} Ring;

static void ring_arrived (Eng *eng, void *user, uint64_t rank);

static void
ring_send (Ring *ring, unsigned rank)
{
  EngUse uses[] = { { ring->up + rank, 1 }, { ring->down + (rank + 1) % RANKS, 1 } };
  EngFlowSpec spec = {
    .amount = SIZE_B, .latency = LATENCY_PS, .uses = uses, .n_uses = 2, .done = ring_arrived, .user = ring, .arg = rank
  };
  eng_flow_start (ring->eng, &spec);
}

static void
ring_try (Ring *ring, unsigned rank)
{
  unsigned step = ring->begun[rank];
  if (step < ring->n_steps && ring->sent[rank] == step && ring->received[rank] >= step) {
    ring->begun[rank]++;
    ring_send (ring, rank);
  }
}

static void
ring_arrived (Eng *eng, void *user, uint64_t rank)
{
  (void)eng;
  Ring *ring = user;
  unsigned next = ((unsigned)rank + 1) % RANKS;
  ring->sent[rank]++;
  ring->received[next]++;
  ring_try (ring, (unsigned)rank);
  ring_try (ring, next);
}

static double
ring_steps (void *user)
{
  (void)user;
  static Ring ring;
  ring = (Ring){ .eng = eng_new (), .n_steps = 2 * (RANKS - 1) };
  ring.up = add_links (ring.eng, RANKS);
  ring.down = add_links (ring.eng, RANKS);
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < RANKS; i++)
    ring_try (&ring, i);
  if (!eng_run (ring.eng, ENG_TIME_NEVER, 0, NULL))
    abort ();
  double time_s = bench_now_s () - began_s;
  eng_free (ring.eng);
  return time_s;
}

/* n flows of different sizes on one link, on one path: each end speeds up all that are left, n^2 / 2 rates if each were set. */
static double
sizes_on_one_link (unsigned n)
{
  Eng *eng = eng_new ();
  EngUse use = { eng_link_new (eng, PORT_BPS), 1 };
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < n; i++) {
    EngFlowSpec spec = { .amount = 1e6 * (i + 1), .uses = &use, .n_uses = 1 };
    eng_flow_start (eng, &spec);
  }
  if (!eng_run (eng, ENG_TIME_NEVER, 0, NULL))
    abort ();
  double time_s = bench_now_s () - began_s;
  eng_free (eng);
  return time_s;
}

enum { SIZES = 2000, MANY_SIZES = 100000 };

static double
one_link (void *user)
{
  (void)user;
  return sizes_on_one_link (SIZES);
}

static double
one_link_of_many (void *user)
{
  (void)user;
  return sizes_on_one_link (MANY_SIZES);
}

/* The same, each from a link of its own, which is faster: no two are alike, and all share a level. */
static double
incast (void *user)
{
  (void)user;
  Eng *eng = eng_new ();
  EngLink shared = eng_link_new (eng, PORT_BPS), first = add_links (eng, SIZES);
  double began_s = bench_now_s ();
  for (unsigned i = 0; i < SIZES; i++) {
    EngUse uses[] = { { first + i, 1 }, { shared, 1 } };
    EngFlowSpec spec = { .amount = 1e6 * (i + 1), .uses = uses, .n_uses = 2 };
    eng_flow_start (eng, &spec);
  }
  if (!eng_run (eng, ENG_TIME_NEVER, 0, NULL))
    abort ();
  double time_s = bench_now_s () - began_s;
  eng_free (eng);
  return time_s;
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name, *text, *things;
    double n;
    double (*run) (void *user);
  } rows[] = {
    { "star", "all-to-all of 1024, star, 2 links", "flows", RANKS * (RANKS - 1.0), star },
    { "tree2", "all-to-all of 1024, 2 levels, 4 links", "flows", RANKS * (RANKS - 1.0), two_levels },
    { "tree2over", "all-to-all of 1024, 2 levels, 4:1", "flows", RANKS * (RANKS - 1.0), two_levels_oversubscribed },
    { "tree3", "all-to-all of 1024, 3 levels, 6 links", "flows", RANKS * (RANKS - 1.0), three_levels },
    { "independent", "a million independent transfers", "flows", 1e6, independent },
    { "ring", "ring of 1024, 2046 steps, every message", "messages", RANKS * 2.0 * (RANKS - 1), ring_steps },
    { "link", "2000 sizes on one link", "flows", SIZES, one_link },
    { "many", "100,000 sizes on one link", "flows", MANY_SIZES, one_link_of_many },
    { "incast", "2000 sizes, each from a link of its own", "flows", SIZES, incast },
  };
  bench_print_machine ();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (argc > 1 && strcmp (argv[1], rows[i].name) != 0)
      continue;
    bench_print (rows[i].text, rows[i].n, rows[i].things, bench_repeat (rows[i].run, NULL));
    printf ("  peak memory of the process %.1f MB\n", bench_peak_B () / 1e6);
  }
  return 0;
}
