/* Laws of the flow network, on random networks over time.
 *
 * After every change the rates are (1) those of the oracle within 1e-9, (2) feasible, max-min fair and work conserving by the
 * definition, and (3) bit for bit those of a fresh engine that is given the same flows in another order: the incremental solve is
 * the full one, and the order of calls does not show. Ends agree with a plain fluid simulation built on the oracle. */
#include "base/random.h"
#include "engine/flow.h"
#include "maxmin_oracle.h"

#include "harness.h"

#include <math.h>
#include <string.h>

enum { MAX_LINKS = 16, MAX_FLOWS = 40, MAX_USES = 6 };

typedef struct {
  EngFlowSpec spec;
  EngUse uses[MAX_USES];
  EngFlow handle;
  EngTime moves_from; /* when its latency is over */
  bool alive;
} MirrorFlow;

typedef enum {
  DRAW_ANY,
  DRAW_PLAIN, /* all of priority 1, and of one weight on each link */
  DRAW_FREE,  /* besides, without bounds of their own */
  DRAW_ALIKE, /* most like another but for the amount and the latency */
} Draw;

typedef struct {
  Eng *eng;
  BaseRandom random;
  unsigned n_links, n_flows;
  EngLink first;
  double capacity[MAX_LINKS];
  MirrorFlow flows[MAX_FLOWS];
  Draw draw;
  double weight[MAX_LINKS];
  EngTime changed; /* the latest instant in which the set of moving flows or a capacity changed */
  unsigned n_checked, n_oracle, n_unfair, n_differ, n_far; /* differ: in any bit; far: by more than 1e-12 */
} World;

/* Round numbers, thirds, near ties and arbitrary ones, so that ties and rounding occur, and ties are distinguished from near
 * ties. */
static double
some_number (BaseRandom *random)
{
  switch (base_random_below (random, 5)) {
    case 0:
      return 1;
    case 1:
      return 1 + base_random_below (random, 4);
    case 2:
      return (1 + base_random_below (random, 9)) / 3.0;
    case 3:
      return 1 + 1e-7 * base_random_below (random, 4);
    default:
      return 0.01 + 3 * base_random_unit (random);
  }
}

static void
draw_spec (BaseRandom *random, unsigned n_links, EngLink first, EngFlowSpec *spec, EngUse *uses)
{
  bool even = base_random_below (random, 2) == 0;
  *spec =
      (EngFlowSpec){ .amount = 1 + 50 * some_number (random), .uses = uses, .n_uses = 1 + base_random_below (random, MAX_USES) };
  spec->n_uses = MIN (spec->n_uses, n_links);
  double weight = some_number (random);
  for (unsigned k = 0; k < spec->n_uses; k++)
    uses[k] = (EngUse){ .link = first + base_random_below (random, n_links), .weight = even ? weight : some_number (random) };
  if (base_random_below (random, 3) == 0)
    spec->bound_per_s = 20 * some_number (random);
  if (base_random_below (random, 3) == 0)
    spec->priority = some_number (random);
  if (base_random_below (random, 2) == 0)
    spec->latency = base_random_below (random, 4) * UINT64_C (100000000000);
}

/* The flows that move now, in `specs`; where[i] is the flow of specs[i]. */
static unsigned
moving_flows (const World *world, EngFlowSpec *specs, unsigned *where)
{
  unsigned n = 0;
  for (unsigned f = 0; f < world->n_flows; f++)
    if (world->flows[f].alive && world->flows[f].moves_from <= eng_now (world->eng)) {
      where[n] = f;
      specs[n++] = world->flows[f].spec;
    }
  return n;
}

/* The definition: no link over its capacity; each flow at its bound, or on a full link where no level is higher than its own. */
static bool
is_fair (const double *capacity, unsigned n_links, const EngFlowSpec *specs, unsigned n, const double *rates)
{
  double load[MAX_LINKS] = { 0 }, top[MAX_LINKS] = { 0 };
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < specs[i].n_uses; k++) {
      double level = rates[i] / (specs[i].priority > 0 ? specs[i].priority : 1);
      load[specs[i].uses[k].link] += specs[i].uses[k].weight * rates[i];
      top[specs[i].uses[k].link] = fmax (top[specs[i].uses[k].link], level);
    }
  for (unsigned l = 0; l < n_links; l++)
    if (load[l] > capacity[l] * (1 + 1e-9))
      return false;
  for (unsigned i = 0; i < n; i++) {
    double level = rates[i] / (specs[i].priority > 0 ? specs[i].priority : 1);
    bool held = specs[i].bound_per_s > 0 && rates[i] >= specs[i].bound_per_s * (1 - 1e-9);
    for (unsigned k = 0; !held && k < specs[i].n_uses; k++) {
      EngLink l = specs[i].uses[k].link;
      held = load[l] >= capacity[l] * (1 - 1e-9) && level >= top[l] * (1 - 1e-9);
    }
    if (!held || (specs[i].bound_per_s > 0 && rates[i] > specs[i].bound_per_s))
      return false;
  }
  return true;
}

/* Rates of a fresh engine that gets the flows in an order of its own. */
static void
rates_from_scratch (const World *world, BaseRandom *random, const EngFlowSpec *specs, unsigned n, double *rates)
{
  g_autoptr (Eng) eng = eng_new ();
  EngFlow handles[MAX_FLOWS];
  unsigned order[MAX_FLOWS];
  eng_links_new (eng, world->capacity, world->n_links);
  for (unsigned i = 0; i < n; i++) {
    unsigned j = base_random_below (random, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  for (unsigned i = 0; i < n; i++) {
    EngFlowSpec spec = specs[order[i]];
    spec.latency = 0;
    handles[order[i]] = eng_flow_start (eng, &spec);
  }
  g_autoptr (GError) ignored = NULL; /* it may say that some cannot move: no matter here */
  eng_run (eng, 0, 0, &ignored);
  for (unsigned i = 0; i < n; i++)
    rates[i] = eng_flow_rate (eng, handles[i]);
}

static void
check (World *world)
{
  EngFlowSpec specs[MAX_FLOWS] = { 0 };
  unsigned where[MAX_FLOWS], n = moving_flows (world, specs, where);
  double expected[MAX_FLOWS], fresh[MAX_FLOWS], rates[MAX_FLOWS];
  maxmin_oracle (world->capacity, world->n_links, specs, n, expected);
  rates_from_scratch (world, &world->random, specs, n, fresh);
  for (unsigned i = 0; i < n; i++) {
    rates[i] = eng_flow_rate (world->eng, world->flows[where[i]].handle);
    world->n_oracle += !(fabs (rates[i] - expected[i]) <= 1e-9 * expected[i]);
    world->n_differ += !(rates[i] >= fresh[i] && rates[i] <= fresh[i]);
    world->n_far += !(fabs (rates[i] - fresh[i]) <= 1e-12 * fresh[i]);
  }
  world->n_unfair += !is_fair (world->capacity, world->n_links, specs, n, rates);
  world->n_checked++;
}

/* One picosecond after a change: the rates are solved, unless that very picosecond brings another. */
static void
check_later (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  World *world = user;
  if (world->changed < eng_now (eng))
    check (world);
}

static void
note_change (World *world)
{
  world->changed = eng_now (world->eng);
  eng_at (world->eng, world->changed + 1, check_later, world, 0);
}

static void
on_done (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  World *world = user;
  world->flows[arg].alive = false;
  note_change (world);
}

static void
on_latency_over (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  World *world = user;
  if (world->flows[arg].alive)
    note_change (world);
}

/* Each link once, at its own weight. */
static void
make_plain (const World *world, EngFlowSpec *spec, EngUse *uses)
{
  unsigned n = 0;
  for (unsigned k = 0; k < spec->n_uses; k++) {
    bool twice = false;
    for (unsigned i = 0; i < n; i++)
      twice = twice || uses[i].link == uses[k].link;
    if (!twice)
      uses[n++] = (EngUse){ uses[k].link, world->weight[uses[k].link - world->first] };
  }
  spec->n_uses = n;
  spec->priority = 1;
}

static void
make_alike (MirrorFlow *flow, const MirrorFlow *other)
{
  EngFlowSpec spec = other->spec;
  spec.amount = flow->spec.amount;
  spec.latency = flow->spec.latency;
  spec.uses = flow->uses;
  memcpy (flow->uses, other->uses, sizeof flow->uses);
  flow->spec = spec;
}

static void
start_one (World *world)
{
  if (world->n_flows == MAX_FLOWS)
    return;
  unsigned f = world->n_flows++;
  MirrorFlow *flow = &world->flows[f];
  draw_spec (&world->random, world->n_links, world->first, &flow->spec, flow->uses);
  if (world->draw == DRAW_FREE)
    flow->spec.bound_per_s = 0;
  if (world->draw == DRAW_PLAIN || world->draw == DRAW_FREE)
    make_plain (world, &flow->spec, flow->uses);
  if (world->draw == DRAW_ALIKE && f > 0 && base_random_below (&world->random, 4) > 0)
    make_alike (flow, &world->flows[base_random_below (&world->random, MIN (f, 3))]);
  flow->spec.done = on_done;
  flow->spec.user = world;
  flow->spec.arg = f;
  flow->alive = true;
  flow->moves_from = eng_now (world->eng) + flow->spec.latency;
  flow->handle = eng_flow_start (world->eng, &flow->spec);
  eng_at (world->eng, flow->moves_from, on_latency_over, world, f);
}

static void
act (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  World *world = user;
  unsigned n = 1 + base_random_below (&world->random, 4);
  for (unsigned i = 0; i < n; i++)
    start_one (world);
  if (base_random_below (&world->random, 4) == 0) {
    unsigned l = base_random_below (&world->random, world->n_links);
    world->capacity[l] = base_random_below (&world->random, 8) == 0 ? 0 : 10 * some_number (&world->random);
    eng_link_set_capacity (eng, world->first + l, world->capacity[l]);
  }
  if (world->draw != DRAW_FREE && base_random_below (&world->random, 3) == 0 && world->n_flows > 0) {
    MirrorFlow *flow = &world->flows[base_random_below (&world->random, world->n_flows)];
    double bound = base_random_below (&world->random, 3) == 0 ? (double)INFINITY : 20 * some_number (&world->random);
    eng_flow_set_bound (eng, flow->handle, bound);
    flow->spec.bound_per_s = isfinite (bound) ? bound : 0;
  }
  if (base_random_below (&world->random, 5) == 0 && world->n_flows > 0) {
    MirrorFlow *flow = &world->flows[base_random_below (&world->random, world->n_flows)];
    bool was = eng_flow_cancel (eng, flow->handle);
    if (was != flow->alive)
      world->n_oracle++;
    flow->alive = false;
  }
  note_change (world);
}

/* Mends the cut links, so that all can end. */
static void
mend (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  World *world = user;
  for (unsigned l = 0; l < world->n_links; l++)
    if (world->capacity[l] <= 0) {
      world->capacity[l] = 5;
      eng_link_set_capacity (eng, world->first + l, 5);
    }
  note_change (world);
}

static void
live_through (uint64_t seed, EngSolve how, Draw draw, World *world, EngStats *stats)
{
  *world = (World){ .random = base_random_stream (seed, "law"), .draw = draw };
  g_autoptr (Eng) eng = world->eng = eng_new ();
  eng_set_solve (eng, how);
  eng_set_tie_shuffle (eng, seed % 3); /* a third in order, the others shuffled */
  world->n_links = 1 + base_random_below (&world->random, MAX_LINKS);
  for (unsigned l = 0; l < world->n_links; l++) {
    world->capacity[l] = 10 * some_number (&world->random);
    world->weight[l] = some_number (&world->random);
  }
  world->first = eng_links_new (eng, world->capacity, world->n_links);
  for (unsigned i = 0; i < 12; i++)
    eng_at (eng, base_random_below (&world->random, 40) * UINT64_C (250000000000), act, world, 0);
  eng_at (eng, UINT64_C (10000000000001), mend, world, 0);
  g_autoptr (GError) error = NULL;
  gboolean ok = eng_run (eng, ENG_TIME_NEVER, 0, &error);
  TEST_TRUE (ok);
  TEST_STR (error == NULL ? NULL : error->message, NULL);
  for (unsigned f = 0; f < world->n_flows; f++)
    TEST_FALSE (world->flows[f].alive);
  *stats = eng_stats (eng);
}

/* Rates beside those of a full solve; the share of the solves that were partial. */
static double
check_histories (EngSolve how, Draw draw, uint64_t n_seeds)
{
  unsigned n_checked = 0;
  EngStats stats;
  uint64_t n_solves = 0, n_parts = 0;
  World *world = g_new (World, 1);
  for (uint64_t seed = 1; seed <= n_seeds; seed++) {
    live_through (seed, how, draw, world, &stats);
    n_checked += world->n_checked;
    n_solves += stats.solves;
    n_parts += stats.parts;
    TEST_INT (world->n_oracle, 0);
    TEST_INT (world->n_unfair, 0);
    TEST_INT (how == ENG_SOLVE_AUTO || how == ENG_SOLVE_BUNDLED ? world->n_differ : world->n_far, 0);
  }
  g_free (world);
  TEST_TRUE (n_checked > 20 * n_seeds); /* the checks did take place */
  return (double)n_parts / (double)n_solves;
}

static void
rates_are_the_oracles_and_independent_of_history (void)
{
  double share = check_histories (ENG_SOLVE_AUTO, DRAW_ANY, 3000);
  TEST_TRUE (share > 0.02); /* changes where there was room */
}

/* The fresh engine's first solve is a full one. In the last bits they may differ: levels as close as 1e-12 are one in a solve that
 * sees both. */
static void
a_part_solved_again_gives_the_rates_of_all_solved_again (void)
{
  double share = check_histories (ENG_SOLVE_PART, DRAW_PLAIN, 3000);
  TEST_TRUE (share > 0.2);
  check_histories (ENG_SOLVE_PART, DRAW_ANY, 1000); /* plain links beside others */
}

/* How many random networks are held against the oracle, by the argument of the program. */
static uint64_t n_local = 10000;

static void
a_local_solve_gives_the_rates_of_all_solved_again (void)
{
  double share = check_histories (ENG_SOLVE_LOCAL, DRAW_PLAIN, n_local);
  TEST_TRUE (share > 0.9);
  check_histories (ENG_SOLVE_LOCAL, DRAW_ANY, 1000); /* plain links beside others */
}

/* Clocks stop for links without capacity, and for bounds and weights that they do not know, and start again. Three members are a
 * crowd already. */
static void
clocks_give_the_rates_of_all_solved_again (void)
{
  double share = check_histories (ENG_SOLVE_CLOCKS, DRAW_FREE, n_local);
  TEST_TRUE (share > 0.6);
  check_histories (ENG_SOLVE_CLOCKS, DRAW_PLAIN, 1000);
  check_histories (ENG_SOLVE_CLOCKS, DRAW_ANY, 1000);
}

/* Bundled in every solve; some change their bound or are cancelled on the way. */
static void
bundled_flows_have_the_rates_of_flows_of_their_own (void)
{
  check_histories (ENG_SOLVE_BUNDLED, DRAW_ALIKE, 3000);
}

/* A plain fluid simulation: rates of the oracle until the next end, in doubles. */
static void
simulate_plainly (const double *capacity, unsigned n_links, EngFlowSpec *specs, unsigned n, double *ends_s)
{
  double left[MAX_FLOWS], rates[MAX_FLOWS], now_s = 0;
  unsigned ids[MAX_FLOWS];
  for (unsigned i = 0; i < n; i++) {
    left[i] = specs[i].amount;
    ids[i] = i;
  }
  while (n > 0) {
    double step_s = (double)INFINITY;
    unsigned n_left = 0;
    maxmin_oracle (capacity, n_links, specs, n, rates);
    for (unsigned i = 0; i < n; i++)
      step_s = fmin (step_s, left[i] / rates[i]);
    now_s += step_s;
    for (unsigned i = 0; i < n; i++) {
      left[i] -= rates[i] * step_s;
      if (left[i] <= 1e-12 * specs[i].amount) {
        ends_s[ids[i]] = now_s;
        continue;
      }
      left[n_left] = left[i];
      ids[n_left] = ids[i];
      specs[n_left++] = specs[i];
    }
    n = n_left;
  }
}

static void
note_end (Eng *eng, void *user, uint64_t arg)
{
  ((EngTime *)user)[arg] = eng_now (eng);
}

/* Each end is rounded up by less than a picosecond, and shifts later ones by as much: n flows, 2 n ps. Rates here are about a
 * unit a second, so a picosecond is 1e-13 of a flow. */
static void
ends_agree_with_a_plain_fluid_simulation (void)
{
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    BaseRandom random = base_random_stream (seed, "law");
    g_autoptr (Eng) eng = eng_new ();
    double capacity[MAX_LINKS], expected_s[MAX_FLOWS];
    EngFlowSpec specs[MAX_FLOWS];
    EngUse uses[MAX_FLOWS][MAX_USES];
    EngTime ends[MAX_FLOWS] = { 0 };
    unsigned n_links = 1 + base_random_below (&random, MAX_LINKS), n = 1 + base_random_below (&random, 20);
    for (unsigned l = 0; l < n_links; l++)
      capacity[l] = 10 * some_number (&random);
    eng_links_new (eng, capacity, n_links);
    for (unsigned i = 0; i < n; i++) {
      draw_spec (&random, n_links, 0, &specs[i], uses[i]);
      specs[i].latency = 0;
      specs[i].done = note_end;
      specs[i].user = ends;
      specs[i].arg = i;
      eng_flow_start (eng, &specs[i]);
    }
    TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
    simulate_plainly (capacity, n_links, specs, n, expected_s);
    for (unsigned i = 0; i < n; i++)
      TEST_TRUE (fabs ((double)ends[i] - expected_s[i] * 1e12) <= 2.0 * n + 1e-11 * expected_s[i] * 1e12);
  }
}

/* What a link has carried in the end is the amounts times the weights of the flows that crossed it, whatever happened on the
 * way. */
static void
links_have_carried_what_the_flows_moved (void)
{
  for (uint64_t seed = 1; seed <= 300; seed++) {
    BaseRandom random = base_random_stream (seed, "law");
    g_autoptr (Eng) eng = eng_new ();
    double capacity[MAX_LINKS], expected[MAX_LINKS] = { 0 };
    unsigned n_links = 1 + base_random_below (&random, MAX_LINKS);
    for (unsigned l = 0; l < n_links; l++)
      capacity[l] = 10 * some_number (&random);
    eng_links_new (eng, capacity, n_links);
    for (unsigned i = 0; i < 30; i++) {
      EngFlowSpec spec;
      EngUse uses[MAX_USES];
      draw_spec (&random, n_links, 0, &spec, uses);
      for (unsigned k = 0; k < spec.n_uses; k++)
        expected[uses[k].link] += spec.amount * uses[k].weight;
      eng_flow_start (eng, &spec);
    }
    TEST_TRUE (eng_run (eng, UINT64_C (2000000000000), 0, NULL));
    for (unsigned l = 0; l < n_links; l++) /* on the way: no more than the capacity */
      TEST_TRUE (eng_link_carried (eng, l) <= capacity[l] * eng_time_to_s (eng_now (eng)) * (1 + 1e-9));
    TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
    for (unsigned l = 0; l < n_links; l++)
      TEST_NEAR (eng_link_carried (eng, l), expected[l], 1e-12);
  }
}

/* All capacities doubled: every end comes in half the time (within the picoseconds of rounding up). */
static void
twice_the_capacity_is_half_the_time (void)
{
  for (uint64_t seed = 1; seed <= 300; seed++) {
    EngTime last[2];
    for (unsigned doubled = 0; doubled < 2; doubled++) {
      BaseRandom random = base_random_stream (seed, "law");
      g_autoptr (Eng) eng = eng_new ();
      unsigned n_links = 1 + base_random_below (&random, MAX_LINKS);
      for (unsigned l = 0; l < n_links; l++)
        eng_link_new (eng, 10 * some_number (&random) * (1 + doubled));
      for (unsigned i = 0; i < 20; i++) {
        EngFlowSpec spec;
        EngUse uses[MAX_USES];
        draw_spec (&random, n_links, 0, &spec, uses);
        spec.latency = 0;
        spec.bound_per_s *= 1 + doubled;
        eng_flow_start (eng, &spec);
      }
      TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
      last[doubled] = eng_now (eng);
    }
    TEST_NEAR ((double)last[0], 2.0 * (double)last[1], 1e-11);
  }
}

/* Ends of the same flows, started at few different instants so that many events coincide, in an order and under a shuffle of its
 * own. `copies` of each flow are there; `fold` says that one of so many times the weight stands for them. */
typedef struct {
  uint64_t seed, order;
  bool fold;
} Variant;

typedef struct {
  EngFlowSpec spec;
  EngUse uses[MAX_USES];
  unsigned copies;
  EngTime start, *end;
} Planned;

static void
start_planned (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  const Planned *planned = user;
  eng_flow_start (eng, &planned->spec);
}

static void
note_planned_end (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  EngTime *end = user;
  /* copies must not differ: a second end at another time leaves a mark that no variant shares */
  *end = *end == 0 || *end == eng_now (eng) ? eng_now (eng) : 1;
}

static void
plan (BaseRandom *random, unsigned n_links, Planned *planned, EngTime *end)
{
  draw_spec (random, n_links, 0, &planned->spec, planned->uses);
  for (unsigned k = 0; k < planned->spec.n_uses; k++)
    planned->uses[k].weight = 1 + base_random_below (random, 4);
  planned->spec.priority = 1 + base_random_below (random, 2);
  planned->spec.amount = 10 * (1 + base_random_below (random, 3));
  planned->copies = 1 + base_random_below (random, 5);
  planned->start = base_random_below (random, 3) * UINT64_C (1000000000000);
  planned->end = end;
  planned->spec.done = note_planned_end;
  planned->spec.user = end;
}

static void
run_variant (Variant variant, EngTime *ends, unsigned n)
{
  BaseRandom random = base_random_stream (variant.seed, "plan"), order = base_random_stream (variant.order, "order");
  g_autoptr (Eng) eng = eng_new ();
  Planned planned[MAX_FLOWS] = { 0 };
  unsigned places[MAX_FLOWS], n_links = 1 + base_random_below (&random, MAX_LINKS);
  for (unsigned l = 0; l < n_links; l++)
    eng_link_new (eng, 10 * some_number (&random));
  eng_set_tie_shuffle (eng, variant.order);
  for (unsigned i = 0; i < n; i++) {
    ends[i] = 0;
    plan (&random, n_links, &planned[i], &ends[i]);
    planned[i].spec.uses = planned[i].uses;
    for (unsigned k = 0; variant.fold && k < planned[i].spec.n_uses; k++)
      planned[i].uses[k].weight *= planned[i].copies;
    unsigned j = variant.order == 0 ? i : base_random_below (&order, i + 1);
    places[i] = places[j];
    places[j] = i;
  }
  for (unsigned i = 0; i < n; i++)
    for (unsigned copy = 0; copy < (variant.fold ? 1 : planned[places[i]].copies); copy++)
      eng_at (eng, planned[places[i]].start, start_planned, &planned[places[i]], 0);
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
}

static void
compare_variants (bool fold)
{
  unsigned n_differ = 0;
  for (uint64_t seed = 1; seed <= 500; seed++) {
    EngTime ends[MAX_FLOWS], others[MAX_FLOWS];
    run_variant ((Variant){ .seed = seed }, ends, 30);
    for (uint64_t order = fold ? 0 : 1; order <= 3; order++) {
      run_variant ((Variant){ .seed = seed, .order = order, .fold = fold }, others, 30);
      for (unsigned i = 0; i < 30; i++)
        n_differ += ends[i] <= 1 || ends[i] != others[i];
    }
  }
  TEST_INT (n_differ, 0);
}

/* To the picosecond: the order of calls and of equal-time events moves no end. */
static void
shuffling_ties_moves_no_end (void)
{
  compare_variants (false);
}

/* To the picosecond, with whole weights: this is what lets equal ranks be simulated once. */
static void
equal_flows_act_as_one_of_their_joint_weight (void)
{
  compare_variants (true);
}

/* Hosts with a link up and one down, and a few links between them that flows cross as it happens: what hashed paths do. With an odd
 * seed few hosts, so that many flows are alike, and sizes of all kinds. Each end in picoseconds; the share of the solves that were
 * partial. */
static double
end_on_hashed_paths (uint64_t seed, EngSolve how, EngTime *ends, unsigned n_flows)
{
  BaseRandom random = base_random_stream (seed, "paths");
  g_autoptr (Eng) eng = eng_new ();
  unsigned n_hosts = seed % 2 == 0 ? 8 + base_random_below (&random, 24) : 3, n_cores = 1 + base_random_below (&random, 16);
  eng_set_solve (eng, how);
  for (unsigned l = 0; l < 2 * n_hosts + n_cores; l++)
    eng_link_new (eng, base_random_below (&random, 8) == 0 ? 3 : 10);
  for (unsigned i = 0; i < n_flows; i++) {
    unsigned from = base_random_below (&random, n_hosts), to = base_random_below (&random, n_hosts);
    EngUse uses[] = { { from, 1 }, { n_hosts + to, 1 }, { 2 * n_hosts + base_random_below (&random, n_cores), 1 } };
    EngFlowSpec spec = { .amount = 10 * (1 + base_random_below (&random, 2)), .uses = uses, .done = note_end, .user = ends };
    if (seed % 2 != 0)
      spec.amount = 1 + base_random_below (&random, 100);
    spec.n_uses = 2 + base_random_below (&random, 2);
    spec.latency = base_random_below (&random, 3) * UINT64_C (100000000000);
    spec.bound_per_s = base_random_below (&random, 10) == 0 && seed % 4 < 2 ? 0.05 : 0;
    spec.arg = i;
    eng_flow_start (eng, &spec);
  }
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  return (double)eng_stats (eng).parts / (double)eng_stats (eng).solves;
}

/* Within 1e-9 as each end is rounded up to a picosecond; 1,000 flows: as many as the engine itself solves in part. */
static void
ends_are_the_same_however_rates_are_solved (void)
{
  enum { N = 1000 };
  static EngTime ends[ENG_SOLVE_CLOCKS + 1][N];
  double share[ENG_SOLVE_CLOCKS + 1] = { 0 };
  for (uint64_t seed = 1; seed <= 40; seed++) {
    for (unsigned how = ENG_SOLVE_AUTO; how <= ENG_SOLVE_CLOCKS; how++)
      share[how] += end_on_hashed_paths (seed, (EngSolve)how, ends[how], N) / 40;
    for (unsigned i = 0; i < N; i++) {
      TEST_NEAR ((double)ends[ENG_SOLVE_PART][i], (double)ends[ENG_SOLVE_FULL][i], 1e-9);
      TEST_NEAR ((double)ends[ENG_SOLVE_LOCAL][i], (double)ends[ENG_SOLVE_FULL][i], 1e-9);
      TEST_NEAR ((double)ends[ENG_SOLVE_AUTO][i], (double)ends[ENG_SOLVE_FULL][i], 1e-9);
      TEST_NEAR ((double)ends[ENG_SOLVE_BUNDLED][i], (double)ends[ENG_SOLVE_FULL][i], 1e-9);
      TEST_NEAR ((double)ends[ENG_SOLVE_CLOCKS][i], (double)ends[ENG_SOLVE_FULL][i], 1e-9);
    }
  }
  TEST_TRUE (share[ENG_SOLVE_CLOCKS] > 0.4);
  TEST_TRUE (share[ENG_SOLVE_AUTO] > 0.1 && share[ENG_SOLVE_PART] > 0.2 && share[ENG_SOLVE_LOCAL] > 0.9);
  TEST_NEAR (share[ENG_SOLVE_FULL], 0, 0);
}

/* usage: law_engine_fair            all laws
 *        law_engine_fair NETWORKS   local solves alone, on so many random networks */
int
main (int argc, char **argv)
{
  static const TestCase local[] = {
    { "a local solve gives the rates of all solved again", a_local_solve_gives_the_rates_of_all_solved_again },
    { "clocks give the rates of all solved again", clocks_give_the_rates_of_all_solved_again },
    { NULL, NULL },
  };
  static const TestCase cases[] = {
    { "rates are the oracle's, fair, and independent of history", rates_are_the_oracles_and_independent_of_history },
    { "a part solved again gives the rates of all solved again", a_part_solved_again_gives_the_rates_of_all_solved_again },
    { "a local solve gives the rates of all solved again", a_local_solve_gives_the_rates_of_all_solved_again },
    { "clocks give the rates of all solved again", clocks_give_the_rates_of_all_solved_again },
    { "bundled flows have the rates of flows of their own", bundled_flows_have_the_rates_of_flows_of_their_own },
    { "ends are the same however rates are solved", ends_are_the_same_however_rates_are_solved },
    { "ends agree with a plain fluid simulation", ends_agree_with_a_plain_fluid_simulation },
    { "links have carried what the flows moved", links_have_carried_what_the_flows_moved },
    { "twice the capacity is half the time", twice_the_capacity_is_half_the_time },
    { "shuffling ties moves no end", shuffling_ties_moves_no_end },
    { "equal flows act as one of their joint weight", equal_flows_act_as_one_of_their_joint_weight },
    { NULL, NULL },
  };
  if (argc == 2)
    n_local = g_ascii_strtoull (argv[1], NULL, 10);
  return test_main ("laws of the flow network", argc == 2 ? local : cases);
}
