/* What a training scenario's size is counted in, and the settings that change it. */
#include "base/lookup.h"
#include "library_fixture.h"
#include "scenario/scenario.h"
#include "training/scale.h"

static TrnScale
scale_layers (guint32 replica)
{
  return (TrnScale){ .nodes = 4,
                     .gpus_per_node = 8,
                     .replica = replica,
                     .pp = replica,
                     .pass = 1,
                     .batch = 32,
                     .adapters = 1,
                     .adapter_Bps = 25e9,
                     .fixed_dp = TRUE };
}

static char *
joined (const TrnScale *scale, guint32 nodes, double batch, GError **error)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (g_free);
  if (!trn_scale_sets (scale, nodes, batch, 12.5e9, sets, error))
    return NULL;
  g_ptr_array_add (sets, NULL);
  return g_strjoinv ("; ", (char **)sets->pdata);
}

static void
replicas_and_passes_divide_or_are_none (void)
{
  TrnScale scale = scale_layers (4); /* 8 GPUs a node: two replicas */
  TEST_NEAR (trn_scale_replicas (&scale, 3), 6, 0);
  TEST_NEAR (trn_scale_passes (&scale, 3, 24), 4, 0);
  TEST_NEAR (trn_scale_passes (&scale, 3, 25), 0, 0);
  TEST_NEAR (trn_scale_passes (&scale, 3, 3), 0, 0); /* half a micro-batch each */
  scale.replica = 16;
  TEST_NEAR (trn_scale_replicas (&scale, 3), 0, 0); /* 24 GPUs are one and a half */
  TEST_NEAR (trn_scale_passes (&scale, 3, 24), 0, 0);
  scale.has_model = TRUE;
  scale.pass = 2;
  TEST_NEAR (trn_scale_passes (&scale, 4, 24), 6, 0); /* 2 replicas x 2 sequences */
}

static void
settings_are_those_of_the_kind_of_step (void)
{
  TrnScale scale = scale_layers (1);
  g_autofree char *layers = joined (&scale, 2, 64, NULL);
  TEST_STR (layers, "cluster.nodes=2; workload.parallel.dp=; workload.micro_batches=4; topology.node.nics.rate=12500000000 B/s");
  scale.has_model = scale.fixed_passes = TRUE;
  scale.fixed_dp = FALSE;
  scale.pass = 2;
  scale.adapters = 0;
  g_autofree char *model = joined (&scale, 2, 64, NULL);
  TEST_STR (model, "cluster.nodes=2; workload.accumulate=; workload.global_batch=64");
}

static void
what_does_not_divide_says_what_would (void)
{
  TrnScale scale = scale_layers (1);
  g_autoptr (GError) batch = NULL, nodes = NULL;
  TEST_TRUE (joined (&scale, 2, 40, &batch) == NULL);
  TEST_STR (batch->message, "a batch of 40 does not divide by 16 replicas x micro-batch 1; accepted: a multiple of 16");
  scale.replica = 16;
  TEST_TRUE (joined (&scale, 3, 40, &nodes) == NULL);
  TEST_STR (nodes->message, "24 GPUs do not divide into replicas of 16");
}

/* ---- of scenarios ---- */

static gboolean
scale_of (const char *file, TrnScale *scale, GError **error)
{
  g_autofree char *path = g_build_filename (TEST_SOURCE_DIR, "scenarios", file, NULL);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  Cst *cal = NULL;
  const ScnOptions options = { .has_mode = TRUE, .mode = COL_MODE_MODEL };
  Scn *scenario = scn_load (path, NULL, lookup, &options, model_library, &cal, error);
  gboolean done = scenario != NULL && trn_scale (scn_training (scenario), BASE_MARK_NONE, scale, error);
  scn_free (scenario);
  cst_free (cal);
  return done;
}

static void
a_model_counts_sequences (void)
{
  TrnScale scale;
  g_autoptr (GError) error = NULL;
  TEST_TRUE (scale_of ("llama3_70b_16nodes.yaml", &scale, &error));
  TEST_TRUE (scale.has_model);
  TEST_INT (scale.nodes, 16);
  TEST_INT (scale.gpus_per_node, 8);
  TEST_INT (scale.replica, 32); /* tp 8 x pp 4 */
  TEST_NEAR (scale.batch, 512, 0);
  TEST_NEAR (scale.pass, 1, 0);
  TEST_INT (scale.adapters, 8);
  TEST_NEAR (scale.adapter_Bps, 50e9, 1e-12);
  TEST_FALSE (scale.each_pass);
  TEST_INT (scale.settled, 12); /* three rounds of four stages */
}

static void
sharded_parameters_are_sent_in_every_pass (void)
{
  TrnScale scale;
  g_autoptr (GError) error = NULL;
  TEST_TRUE (scale_of ("fsdp_8b_32nodes.yaml", &scale, &error));
  TEST_TRUE (scale.each_pass);
  TEST_INT (scale.replica, 1);
  TEST_NEAR (scale.batch, 256, 0);
}

static void
layers_with_given_times_count_micro_batches (void)
{
  TrnScale scale;
  g_autoptr (GError) error = NULL;
  TEST_TRUE (scale_of ("cases/02_bottleneck.yaml", &scale, &error));
  TEST_FALSE (scale.has_model);
  TEST_TRUE (scale.fixed_dp);
  TEST_NEAR (scale.batch, 32, 0);
  TEST_INT (scale.adapters, 1);
  TEST_NEAR (scale.adapter_Bps, 25e9, 1e-12);
}

static void
what_is_no_training_step_is_refused (void)
{
  TrnScale scale;
  g_autoptr (GError) collective = NULL, jobs = NULL;
  TEST_FALSE (scale_of ("quickstart.yaml", &scale, &collective));
  TEST_HAS (collective->message, "not one training step; accepted: a scenario with one workload of kind training");
  TEST_FALSE (scale_of ("two_jobs.yaml", &scale, &jobs));
  TEST_HAS (jobs->message, "not one training step");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "replicas and passes divide or are none", replicas_and_passes_divide_or_are_none },
    { "settings are those of the kind of step", settings_are_those_of_the_kind_of_step },
    { "what does not divide says what would", what_does_not_divide_says_what_would },
    { "a model counts sequences", a_model_counts_sequences },
    { "sharded parameters are sent in every pass", sharded_parameters_are_sent_in_every_pass },
    { "layers with given times count micro-batches", layers_with_given_times_count_micro_batches },
    { "what is no training step is refused", what_is_no_training_step_is_refused },
    { NULL, NULL },
  };
  return test_main ("scale of a scenario", cases);
}
