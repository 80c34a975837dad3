#include "harness.h"
#include "models/library.h"
#include "models/op.h"

static void
busbw_factors_are_those_of_nccl_tests (void)
{
  /* 2 (n-1)/n: 2 x 1/2, 2 x 7/8, 2 x 63/64 */
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALL_REDUCE, 2), 1.0, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALL_REDUCE, 8), 1.75, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALL_REDUCE, 64), 1.96875, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALL_GATHER, 8), 0.875, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_REDUCE_SCATTER, 8), 0.875, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALLTOALL, 4), 0.75, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_BROADCAST, 8), 1.0, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_REDUCE, 8), 1.0, 1e-15);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_SENDRECV, 2), 1.0, 1e-15);
}

static void
one_rank_has_no_busbw_where_nothing_travels (void)
{
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALL_REDUCE, 1), 0.0, 0.0);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALLTOALL, 1), 0.0, 0.0);
  TEST_NEAR (mdl_op_busbw_factor (MDL_OP_ALL_REDUCE, 0), 0.0, 0.0);
}

static void
names_and_codes_belong_together (void)
{
  TEST_STR (base_name (mdl_op_names, MDL_OP_REDUCE_SCATTER), "reduce_scatter");
  TEST_STR (base_name (mdl_algo_names, MDL_ALGO_NVLS_TREE), "nvls_tree");
  TEST_STR (base_name (mdl_algo_names, MDL_ALGO_AUTO), "auto");
  TEST_STR (base_name (mdl_proto_names, MDL_PROTO_LL128), "ll128");
  TEST_STR (base_name (mdl_dtype_names, MDL_DTYPE_BF16), "bf16");
  TEST_STR (base_name (mdl_launch_names, MDL_LAUNCH_SERIAL), "serial");
  TEST_STR (base_name (mdl_op_names, 99), "?");
}

static void
names_of_nccl_are_found (void)
{
  TEST_TRUE (mdl_nccl_name_find (mdl_algo_names, "COLLNET_DIRECT")->code == MDL_ALGO_COLLNET_DIRECT); /* its logs */
  TEST_TRUE (mdl_nccl_name_find (mdl_algo_names, "CollnetDirect")->code == MDL_ALGO_COLLNET_DIRECT);  /* NCCL_ALGO */
  TEST_TRUE (mdl_nccl_name_find (mdl_algo_names, "nvls")->code == MDL_ALGO_NVLS);
  TEST_TRUE (mdl_nccl_name_find (mdl_proto_names, "LL128")->code == MDL_PROTO_LL128);
  const char *const none[] = { "", "_", "tre", "trees", "nvlstre", "auto", "best", "pairwise", "tree__" };
  for (gsize i = 0; i < G_N_ELEMENTS (none); i++)
    TEST_TRUE (mdl_nccl_name_find (mdl_algo_names, none[i]) == NULL);
}

static void
a_letter_stands_for_one_algorithm (void)
{
  gboolean seen[128] = { FALSE };
  for (int algo = 0; algo < MDL_ALGO_N; algo++) {
    char letter = mdl_algo_letter ((MdlAlgo)algo);
    TEST_TRUE (g_ascii_isupper (letter) && !seen[(int)letter]);
    seen[(int)letter] = TRUE;
  }
}

static void
every_code_has_one_name (void)
{
  for (int op = 0; op < MDL_OP_N; op++)
    TEST_FALSE (g_str_equal (base_name (mdl_op_names, op), "?"));
  for (int algo = 0; algo < MDL_ALGO_N; algo++)
    TEST_FALSE (g_str_equal (base_name (mdl_algo_names, algo), "?"));
  for (int proto = 0; proto < MDL_PROTO_N; proto++)
    TEST_FALSE (g_str_equal (base_name (mdl_proto_names, proto), "?"));
  for (int dtype = 0; dtype < MDL_DTYPE_N; dtype++)
    TEST_FALSE (g_str_equal (base_name (mdl_dtype_names, dtype), "?"));
  for (int launch = 0; launch < MDL_LAUNCH_N; launch++)
    TEST_FALSE (g_str_equal (base_name (mdl_launch_names, launch), "?"));
}

static void
types_have_their_sizes (void)
{
  TEST_INT (mdl_dtype_size_B (MDL_DTYPE_FP8), 1);
  TEST_INT (mdl_dtype_size_B (MDL_DTYPE_BF16), 2);
  TEST_INT (mdl_dtype_size_B (MDL_DTYPE_FP32), 4);
  TEST_INT (mdl_dtype_size_B (MDL_DTYPE_FP64), 8);
}

static const TestCase cases[] = {
  { "busbw factors are those of nccl-tests", busbw_factors_are_those_of_nccl_tests },
  { "one rank has no busbw where nothing travels", one_rank_has_no_busbw_where_nothing_travels },
  { "names and codes belong together", names_and_codes_belong_together },
  { "every code has one name", every_code_has_one_name },
  { "names of NCCL are found", names_of_nccl_are_found },
  { "a letter stands for one algorithm", a_letter_stands_for_one_algorithm },
  { "types have their sizes", types_have_their_sizes },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: operations", cases);
}
