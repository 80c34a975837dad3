/* A tier that caches another one, by hand: four nodes of one GPU, an adapter of 10 GB/s each; the cache's two servers read 20 GB/s
 * each and write as fast, the origin gives 4 GB/s. A step computes 0.1 s and uses 4 GB; an epoch has 100 GB, 25 steps. */
#include <math.h>

#include "scenario_fixture.h"

#define TIERS(cache)                                                                                           \
  "topology.storage=[{name: far, tier: parallel_fs, per_server: 4 GB/s, network: fabric}, {name: near, tier: " \
  "parallel_fs, servers: 2, per_server: 20 GB/s, network: fabric, cache: " cache "}]"

static ScnResult *
run (const char *workload, const char *tiers, const char *set, ColMode mode, char **why)
{
  g_autofree char *text = scenario_text (1, 4, workload, "");
  const char *const sets[] = { tiers, "topology.node.sockets.memory=400 GB/s", set, NULL };
  const ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (Scn) scenario = scenario_load (text, sets, &options, why);
  g_autoptr (GError) error = NULL;
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL && why == NULL)
    g_error ("%s: %s", workload, error != NULL ? error->message : "not loaded");
  return result;
}

static const char loader[] = "{kind: training, layers: [{forward: 40 ms, backward: 60 ms}], loader: {tier: near, sample: 100 MB, "
                             "samples: 10, workers: 64, dataset: 25 GB}}";

static void
epochs_follow_from_rates (void)
{
  for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
    /* first: 4 GB at the origin's 4 GB/s take 1 s; later at 40 GB/s, which the adapters carry; directly as the first */
    g_autoptr (ScnResult) r = run (loader, TIERS ("{of: far, capacity: 100 GB}"), NULL, mode, NULL);
    const TrnCacheResult *c = &r->training.loader.cache;
    TEST_TRUE (c->set);
    TEST_NEAR (c->hits, 1, 0);
    TEST_NEAR (c->set_B, 100e9, 1e-12);
    TEST_NEAR (c->epoch_steps, 25, 1e-12);
    TEST_NEAR (c->first_s, 0.9, 0.02);
    TEST_NEAR (c->direct_s, 0.9, 0.02);
    TEST_TRUE (c->later_s < 1e-4);
    TEST_NEAR (c->saved_s, 0.9, 0.02);
    TEST_NEAR (c->epochs, 1, 0.03);
    TEST_NEAR (r->training.step_time_s, 0.1, 2e-3);
    TEST_TRUE (isnan (c->rent_usd) && isnan (c->saved_usd));
  }
}

static void
the_step_is_of_the_epoch_that_is_asked_for (void)
{
  g_autoptr (ScnResult) r =
      run (loader, TIERS ("{of: far, capacity: 100 GB}"), "workload.loader.epoch=first", COL_MODE_EVENT, NULL);
  TEST_NEAR (r->training.step_time_s, 1, 0.02);
  TEST_STR (r->training.loader.bound_by, "origin");
  TEST_TRUE (r->training.loader.cache.later_s < 1e-4);
}

static void
what_does_not_fit_is_fetched_again (void)
{
  /* half fits, and what came first stays: 2 GB a step from the origin, 0.5 s. In the same order LRU never hits. */
  g_autoptr (ScnResult) kept = run (loader, TIERS ("{of: far, capacity: 50 GB, keep: first}"), NULL, COL_MODE_EVENT, NULL);
  TEST_NEAR (kept->training.loader.cache.hits, 0.5, 1e-12);
  TEST_NEAR (kept->training.step_time_s, 0.5, 0.02);
  g_autoptr (ScnResult) gone = run (loader, TIERS ("{of: far, capacity: 50 GB}"), NULL, COL_MODE_EVENT, NULL);
  TEST_NEAR (gone->training.loader.cache.hits, 0, 0);
  TEST_NEAR (gone->training.step_time_s, 1, 0.02);
  TEST_TRUE (isnan (gone->training.loader.cache.epochs) || gone->training.loader.cache.epochs > 1);
}

static void
rent_is_of_the_cache_and_of_the_nodes (void)
{
  /* 100 GB at $10 an hour and TB for 25 steps of 0.1 s; 0.9 s less of four nodes at $36 an hour, 25 times */
  g_autoptr (ScnResult) r =
      run (loader, TIERS ("{of: far, capacity: 100 GB, rent: $10/h}"), "topology.cost={rent: $36/h}", COL_MODE_EVENT, NULL);
  TEST_NEAR (r->training.loader.cache.rent_usd, 0.1 * 10 / 3600 * 2.5, 2e-3);
  TEST_NEAR (r->training.loader.cache.saved_usd, 4 * 36 / 3600.0 * 0.9 * 25, 0.02);
}

static void
reads_alone_say_what_is_fetched (void)
{
  static const char io[] = "{kind: io, tier: near, bytes: 40 GB, clients: 4, threads: 64, path: host}";
  static const struct {
    const char *fetched, *bound_by;
    double time_s;
  } rows[] = {
    { "workload.fetched=0", "parallel_fs", 1 }, /* the adapters are as fast */
    { "workload.fetched=50 %", "origin", 5 },
    { "workload.fetched=100 %", "origin", 10 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (ColMode mode = COL_MODE_EVENT; mode <= COL_MODE_MODEL; mode++) {
      g_autoptr (ScnResult) r = run (io, TIERS ("{of: far}"), rows[i].fetched, mode, NULL);
      test_near (r->io.time_s, rows[i].time_s, 0.02, rows[i].fetched, __FILE__, __LINE__);
      if (i > 0)
        TEST_STR (r->io.bound_by, rows[i].bound_by);
    }
}

static void
what_cannot_be_is_refused (void)
{
  static const struct {
    const char *cache, *set, *says;
  } rows[] = {
    { "{of: nowhere}", NULL, "storage 'near' cannot cache 'nowhere'; accepted: another tier of 'storage' that is no cache: far" },
    { "{of: near}", NULL, "cannot cache 'near'" },
    { "{of: far, rent: $1/h}", NULL, "it needs 'capacity'" },
    { "{of: far}", "workload.loader={tier: near, sample: 1 MB, samples: 1}", "the loader needs 'dataset'" },
    { "{of: far}", "workload.loader={tier: far, sample: 1 MB, samples: 1, epoch: first}", "all epochs are alike" },
    { "{of: far}", "workload={kind: io, tier: far, bytes: 1 GB, fetched: 10 %}", "caches no other tier" },
    { "{of: far}", "workload={kind: io, op: write, tier: near, bytes: 1 GB, fetched: 10 %}", "'fetched' is of reads" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *why = NULL, *tiers = g_strdup_printf (TIERS ("%s"), rows[i].cache);
    g_autoptr (ScnResult) r = run (loader, tiers, rows[i].set, COL_MODE_EVENT, &why);
    TEST_TRUE (r == NULL);
    if (why == NULL || strstr (why, rows[i].says) == NULL)
      fprintf (stderr, "%u: %s\n", i, why != NULL ? why : "accepted");
    TEST_TRUE (why != NULL && strstr (why, rows[i].says) != NULL);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "epochs follow from rates", epochs_follow_from_rates },
    { "the step is of the epoch that is asked for", the_step_is_of_the_epoch_that_is_asked_for },
    { "what does not fit is fetched again", what_does_not_fit_is_fetched_again },
    { "rent is of the cache and of the nodes", rent_is_of_the_cache_and_of_the_nodes },
    { "reads alone say what is fetched", reads_alone_say_what_is_fetched },
    { "what cannot be is refused", what_cannot_be_is_refused },
    { NULL, NULL },
  };
  return test_main ("storage/cache", cases);
}
