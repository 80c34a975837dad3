#include "harness.h"
#include "models/training.h"

static void
state_of_two_billion_parameters (void)
{
  /* 2 + 4 + 3 x 4 = 18 B a parameter; x 2e9 = 36 GB */
  TEST_NEAR (mdl_state_B (&mdl_state_mixed_adam), 18, 1e-15);
  TEST_NEAR (mdl_state_sharded_B (&mdl_state_mixed_adam, 2e9, 0, 8), 36e9, 1e-15);
}

static void
zero_stages_shard_one_part_after_the_other (void)
{
  /* over 4 ranks: 6 + 12/4 = 9; 2 + 16/4 = 6; 18/4 = 4.5 B a parameter */
  TEST_NEAR (mdl_state_sharded_B (&mdl_state_mixed_adam, 1, 1, 4), 9, 1e-15);
  TEST_NEAR (mdl_state_sharded_B (&mdl_state_mixed_adam, 1, 2, 4), 6, 1e-15);
  TEST_NEAR (mdl_state_sharded_B (&mdl_state_mixed_adam, 1, 3, 4), 4.5, 1e-15);
}

static void
recomputing_makes_three_passes_four (void)
{
  /* 2e9 parameters, 2048 x 2 tokens: 2 x 2e9 x 4096 x 4 = 65.536 TFLOP */
  double with = mdl_step_flop (2e9, 4096, TRUE), without = mdl_step_flop (2e9, 4096, FALSE);
  TEST_NEAR (with, 65.536e12, 1e-12);
  TEST_NEAR (with / without, 4.0 / 3.0, 1e-15);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "2 B parameters in mixed precision with AdamW take 36 GB", state_of_two_billion_parameters },
    { "ZeRO stages shard optimizer, gradients and weights in turn", zero_stages_shard_one_part_after_the_other },
    { "full recompute makes three passes four", recomputing_makes_three_passes_four },
    { NULL, NULL },
  };
  return test_main ("training arithmetic", cases);
}
