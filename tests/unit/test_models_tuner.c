#include <math.h>

#include "harness.h"
#include "models/tuner_region.h"
#include "tuner_fixture.h"

static CstTuner *constants; /* 2.28.9 */

static void
cell (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto, double latency_us, double rate_GBps)
{
  const MdlTunerCell *c = &tuner->cell[op][algo][proto];
  TEST_TRUE (c->reason == NULL);
  TEST_NEAR (c->latency_s, latency_us * 1e-6, 1e-9);
  TEST_NEAR (c->rate_Bps, rate_GBps * 1e9, 1e-9);
}

static MdlTunerChoice
choice (const MdlTuner *tuner, MdlOp op, double size_B)
{
  const MdlTunerQuestion q = { .op = op, .size_B = size_B, .dtype = MDL_DTYPE_FP32 };
  MdlTunerChoice out = { .algo = MDL_ALGO_AUTO };
  TEST_TRUE (mdl_tuner_choose (tuner, &q, &out));
  return out;
}

/* The measured node: NVLS switched off. */
static MdlTuner
hopper (unsigned gpus, unsigned nodes, gboolean nvls)
{
  MdlSearchQuestion q = hgx_hopper (gpus, nodes);
  q.reduces = nvls;
  const MdlTunerComm comm = comm_of (&q);
  MdlTuner tuner;
  prepare (constants, &q, &comm, &tuner);
  return tuner;
}

/* Eight GPUs, 12 x 30 = 360 busbw, all-reduce 14 steps, algorithm rate 8/14 of it by rings and 1/2 by trees. */
static void
cells_of_one_node_are_as_by_hand (void)
{
  MdlTuner t = hopper (8, 1, FALSE);
  /* LL: 6.6 + 14 x .6; min (141, 180) x 8/14. LL128: 14 + 14 x 1.9; .92 x 360 = 331.2, below 12 x 36.7. */
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_LL, 15.0, 141.0 * 8 / 14);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_LL128, 40.6, 331.2 * 8 / 14);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 56.0, 360.0 * 8 / 14);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_LL, 15.2, 331.2 / 3.8 / 2);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_LL128, 31.5, 331.2 * 7 / 9 / 2);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, 64.4, 331.2 / 2);
  /* All-gather: 7 steps, 8/7. Broadcast behind a switch: all channels alike, one step; 8/8. */
  cell (&t, MDL_OP_ALL_GATHER, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 8.4 + 7 * 3.4, 360.0 * 8 / 7);
  cell (&t, MDL_OP_BROADCAST, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 8.4 + 3.4, 360.0);
  TEST_TRUE (t.cell[MDL_OP_BROADCAST][MDL_ALGO_TREE][MDL_PROTO_SIMPLE].reason != NULL);
  TEST_TRUE (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_NVLS][MDL_PROTO_SIMPLE].reason != NULL);
}

/* 40 x .85 x 7/8 x 2 = 59.5 a head, below 60 outside. All-gather: 40 x .85 x 7/8 x 7/8 x 8 = 208.25, not converted. */
static void
nvls_of_one_node_is_as_by_hand (void)
{
  MdlTuner t = hopper (8, 1, TRUE);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 25.0, 8 * 59.5 * 8 / 14);
  cell (&t, MDL_OP_ALL_GATHER, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 25.0, 208.25);
  TEST_INT (choice (&t, MDL_OP_ALL_REDUCE, 1 << 30).algo, MDL_ALGO_NVLS);
  TEST_INT (choice (&t, MDL_OP_ALL_GATHER, 1 << 30).algo, MDL_ALGO_RING);
}

/* Two nodes of eight, 8 rings of 48: n = 16, 30 steps of which two between nodes. */
static void
cells_of_two_nodes_are_as_by_hand (void)
{
  MdlTuner t = hopper (8, 2, TRUE);
  /* Simple inside: 3.4 us, more than 3 x 1 us to post. LL inside: 1 us, more than .6. */
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 8.4 + 28 * 3.4 + 2 * 14, 384.0 * 16 / 30);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_LL, 6.6 + 28 * 1.0 + 2 * 2.7, 39.0 * 16 / 30);
  /* Trees: min (.92 x 384, 8 x 41.4) = 331.2, x .85 (one GPU has the NIC); LL min (331.2 / 3.8, 39); LL128 x 120/128 = 310.5, at
   * most 8 x 36.7. */
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, 8.4 + 2 * (7 * 4 + 14), 331.2 * 0.85 / 2);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_LL, 6.8 + 2 * (7 * 0.6 + 5), 39.0 * 0.85 / 2);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_LL128, 14 + 2 * (7 * 1.25 + 8.5), 8 * 36.7 * 0.85 / 2);
  /* NVLSTree: min (59.5, 2 x 48, 57.7) a head. */
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS_TREE, MDL_PROTO_SIMPLE, 25 + 2 * 20.9, 8 * 57.7 * 16 / 30);
  TEST_HAS (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_NVLS][MDL_PROTO_SIMPLE].reason, "SHARP");
  TEST_HAS (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_COLLNET_CHAIN][MDL_PROTO_SIMPLE].reason, "SHARP");
}

/* Four nodes with SHARP. Chain: 2 x 7 x 2.8 + 30, 8 x 48 / 2. Direct: 8 heads of 8 GPUs: factor 1, x .85 on Hopper. */
static void
sharp_is_as_by_hand (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 4);
  q.collnet = TRUE;
  MdlTunerComm comm = comm_of (&q);
  MdlTuner t;
  prepare (constants, &q, &comm, &t);
  const MdlGraph *direct = &t.search.collnet_direct;
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_COLLNET_CHAIN, MDL_PROTO_SIMPLE, 2 * 7 * 2.8 + 30, 8 * 48 / 2.0);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_COLLNET_DIRECT, MDL_PROTO_SIMPLE, 2 * (3.7 + 7 * 0.4) + 31,
        8 * direct->intra_Bps / 1e9 * 0.85 / 2);
  /* NVLS over nodes: min (59.5, 48) x 8 x n / steps, 25 + 18 us. */
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 43, 8 * 48.0 * 32 / 62);
  TEST_TRUE (t.cell[MDL_OP_ALL_GATHER][MDL_ALGO_COLLNET_DIRECT][MDL_PROTO_SIMPLE].reason != NULL);
  comm.collnet_gathers = TRUE;
  prepare (constants, &q, &comm, &t);
  /* 8 x min (inside, .9 x 48) */
  cell (&t, MDL_OP_ALL_GATHER, MDL_ALGO_COLLNET_DIRECT, MDL_PROTO_SIMPLE, 2 * (3.7 + 7 * 0.4) + 31, 8 * 0.9 * 48);
}

/* 16 nodes of one GPU: log2 16 = 4; 4 x 14 / 3.5 + 16 x 2.8 + 8; two rings of 24, .75, not converted. */
static void
pat_is_for_one_gpu_a_node (void)
{
  MdlTuner t = hopper (1, 16, FALSE);
  cell (&t, MDL_OP_ALL_GATHER, MDL_ALGO_PAT, MDL_PROTO_SIMPLE, 8 + 4 * 14 / 3.5 + 16 * 2.8, 48 * 0.75);
  TEST_TRUE (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_PAT][MDL_PROTO_SIMPLE].reason != NULL);
  /* rings take the tree's network latency: 2 x 15 steps of 5 us by LL */
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_LL, 6.6 + 30 * 5, 20.4 * 16 / 30);
  t = hopper (8, 2, FALSE);
  TEST_HAS (t.cell[MDL_OP_ALL_GATHER][MDL_ALGO_PAT][MDL_PROTO_SIMPLE].reason, "one GPU a node");
}

/* What NCCL 2.28.9 printed of its tuner (NCCL_DEBUG_SUBSYS=TUNING) on a node of 8x H200, NVLS off; us and GB/s with one decimal,
 * LL, LL128, Simple. Several nodes were feigned on it (NCCL_HOSTID), with one 10 Gb/s Ethernet port each. */
static void
tables_are_those_that_nccl_prints (void)
{
  static const struct {
    unsigned gpus, nodes;
    MdlOp op;
    MdlAlgo algo;
    double latency_us[MDL_PROTO_N], rate_GBps[MDL_PROTO_N];
  } row[] = {
    { 2, 1, MDL_OP_BROADCAST, MDL_ALGO_RING, { 7.2, 15.9, 11.8 }, { 141.0, 331.2, 360.0 } },
    { 2, 1, MDL_OP_ALL_GATHER, MDL_ALGO_RING, { 7.2, 15.9, 11.8 }, { 282.0, 662.4, 720.0 } },
    { 2, 1, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 7.8, 17.8, 15.2 }, { 141.0, 331.2, 360.0 } },
    { 2, 1, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, { 8.0, 16.5, 16.4 }, { 61.1, 180.6, 232.2 } },
    { 4, 1, MDL_OP_REDUCE_SCATTER, MDL_ALGO_RING, { 8.4, 19.7, 18.6 }, { 188.0, 441.6, 480.0 } },
    { 4, 1, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 10.2, 25.4, 28.8 }, { 94.0, 220.8, 240.0 } },
    { 4, 1, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, { 10.4, 21.5, 32.4 }, { 43.6, 128.8, 165.6 } },
    { 8, 1, MDL_OP_REDUCE, MDL_ALGO_RING, { 7.2, 15.9, 11.8 }, { 141.0, 331.2, 360.0 } },
    { 8, 1, MDL_OP_ALL_GATHER, MDL_ALGO_RING, { 10.8, 27.3, 32.2 }, { 161.1, 378.5, 411.4 } },
    { 8, 1, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 15.0, 40.6, 56.0 }, { 80.6, 189.3, 205.7 } },
    { 8, 1, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, { 15.2, 31.5, 64.4 }, { 43.6, 128.8, 165.6 } },
    { 4, 2, MDL_OP_BROADCAST, MDL_ALGO_RING, { 9.3, 18.0, 22.4 }, { 0.6, 0.0, 1.2 } },
    { 4, 2, MDL_OP_ALL_GATHER, MDL_ALGO_RING, { 15.3, 29.4, 42.8 }, { 0.7, 0.0, 1.4 } },
    { 4, 2, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 24.0, 44.8, 77.2 }, { 0.3, 0.0, 0.7 } },
    { 4, 2, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, { 20.4, 38.5, 60.4 }, { 0.3, 0.0, 1.1 } },
    { 2, 4, MDL_OP_ALL_GATHER, MDL_ALGO_RING, { 18.7, 33.6, 64.0 }, { 0.7, 0.0, 1.4 } },
    { 2, 4, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 30.8, 53.2, 119.6 }, { 0.3, 0.0, 0.7 } },
    { 2, 4, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, { 28.0, 50.5, 72.4 }, { 0.1, 0.0, 0.6 } },
    { 1, 4, MDL_OP_ALL_GATHER, MDL_ALGO_PAT, { 0.0, 0.0, 27.2 }, { 0.0, 0.0, 0.9 } },
    { 1, 4, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 36.6, 65.0, 92.4 }, { 0.4, 0.0, 0.8 } },
    { 1, 8, MDL_OP_REDUCE, MDL_ALGO_RING, { 9.3, 18.0, 22.4 }, { 0.6, 0.0, 1.2 } },
    { 1, 8, MDL_OP_REDUCE_SCATTER, MDL_ALGO_PAT, { 0.0, 0.0, 42.4 }, { 0.0, 0.0, 0.9 } },
    { 1, 8, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, { 76.6, 133.0, 204.4 }, { 0.3, 0.0, 0.7 } },
    { 1, 8, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, { 36.8, 65.0, 92.4 }, { 0.1, 0.0, 0.5 } },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    MdlSearchQuestion q = hgx_hopper (row[i].gpus, row[i].nodes);
    q.reduces = FALSE;
    q.nics = row[i].nodes > 1 ? 1 : 0;
    q.nic_Bps = 10e9 / 8.0;
    q.nic_path = MDL_PATH_PHB;
    const MdlTunerComm comm = comm_of (&q);
    MdlTuner t;
    prepare (constants, &q, &comm, &t);
    TEST_INT (t.search.channels, row[i].nodes > 1 ? 2 : 24);
    for (int proto = 0; proto < MDL_PROTO_N; proto++) {
      const MdlTunerCell *c = &t.cell[row[i].op][row[i].algo][proto];
      TEST_INT (c->reason == NULL, row[i].rate_GBps[proto] > 0.0);
      if (c->reason != NULL)
        continue;
      TEST_TRUE (fabs (c->latency_s * 1e6 - row[i].latency_us[proto]) <= 0.0501);
      TEST_TRUE (fabs (c->rate_Bps / 1e9 - row[i].rate_GBps[proto]) <= 0.0501);
    }
  }
}

/* As measured on the 8x H200 node, powers of two. */
static void
switch_points_are_those_measured (void)
{
  static const struct {
    unsigned gpus;
    double ll_to, ll128_to; /* the last size by each, MiB; 0: none */
  } node[] = { { 8, 2, 32 }, { 4, 2, 8 }, { 2, 1, 0 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (node); i++) {
    MdlTuner t = hopper (node[i].gpus, 1, FALSE);
    for (double size_B = 8; size_B <= 8.0 * (1 << 30); size_B *= 2) {
      MdlTunerChoice c = choice (&t, MDL_OP_ALL_REDUCE, size_B);
      double size_MiB = size_B / (1 << 20);
      MdlProto proto = size_MiB <= node[i].ll_to ? MDL_PROTO_LL : size_MiB <= node[i].ll128_to ? MDL_PROTO_LL128 : MDL_PROTO_SIMPLE;
      TEST_INT (c.algo, MDL_ALGO_RING);
      TEST_INT (c.proto, proto);
    }
  }
}

/* 1 MiB / 64 B = 2^14: the fifteenth factor. Below 64 B and from 512 MiB on: none. */
static void
trees_are_corrected_by_size (void)
{
  MdlTuner t = hopper (8, 1, FALSE);
  MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 1 << 20 };
  double rate_Bps = t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_TREE][MDL_PROTO_SIMPLE].rate_Bps;
  double latency_s = 64.4e-6;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_SIMPLE), latency_s + q.size_B / (0.5 * rate_Bps), 1e-9);
  q.size_B = 32;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_SIMPLE), latency_s + q.size_B / rate_Bps, 1e-9);
  q.size_B = 64;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_SIMPLE), latency_s + q.size_B / (0.9 * rate_Bps), 1e-9);
  q.size_B = 512.0 * (1 << 20) - 1;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_SIMPLE), latency_s + q.size_B / (0.9 * rate_Bps), 1e-9);
  q.size_B += 1;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_SIMPLE), latency_s + q.size_B / rate_Bps, 1e-9);
}

/* 16 channels x 16 ranks x 64 B = 16 KiB. */
static void
rings_between_nodes_have_a_plateau (void)
{
  MdlTuner t = hopper (8, 2, FALSE);
  const MdlTunerCell *c = &t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_SIMPLE];
  MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 16384 };
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_RING, MDL_PROTO_SIMPLE), 1.4 * c->latency_s + q.size_B / c->rate_Bps, 1e-9);
  q.size_B = 16383;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_RING, MDL_PROTO_SIMPLE), c->latency_s + q.size_B / c->rate_Bps, 1e-9);
}

/* 48 operations on 24 channels: two a channel, rings wait twice; trees start eight at once. */
static void
operations_of_a_group_share_their_latency (void)
{
  MdlTuner t = hopper (8, 1, FALSE);
  MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 8, .n_ops = 48 };
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_RING, MDL_PROTO_LL), 30e-6, 1e-4);
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_LL), 15.2e-6, 1e-4);
  q.n_ops = 24 * 8 + 1;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_TREE, MDL_PROTO_LL), 30.4e-6, 1e-4);
}

static void
eight_bit_floats_avoid_long_rings (void)
{
  MdlTuner t = hopper (8, 2, FALSE);
  MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 1 << 30, .dtype = MDL_DTYPE_BF16 };
  double ring_s = mdl_tuner_time_s (&t, &q, MDL_ALGO_RING, MDL_PROTO_SIMPLE);
  q.dtype = MDL_DTYPE_FP8;
  TEST_NEAR (mdl_tuner_time_s (&t, &q, MDL_ALGO_RING, MDL_PROTO_SIMPLE), 1024 * ring_s, 1e-9);
  MdlTunerChoice c;
  TEST_TRUE (mdl_tuner_choose (&t, &q, &c));
  TEST_INT (c.algo, MDL_ALGO_TREE);
}

static void
nvls_reduces_what_the_switch_can (void)
{
  MdlTuner t = hopper (8, 1, TRUE);
  static const struct {
    MdlOp op;
    MdlDtype dtype;
    MdlReduction reduction;
    gboolean offered;
  } row[] = {
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_BF16, MDL_REDUCTION_SUM, TRUE },
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_BF16, MDL_REDUCTION_MIN_MAX, TRUE },
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_FP32, MDL_REDUCTION_SUM, TRUE },
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_FP32, MDL_REDUCTION_MIN_MAX, FALSE },
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_FP8, MDL_REDUCTION_SUM, FALSE },
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_INT8, MDL_REDUCTION_SUM, FALSE },
    { MDL_OP_ALL_REDUCE, MDL_DTYPE_FP16, MDL_REDUCTION_OTHER, FALSE },
    { MDL_OP_ALL_GATHER, MDL_DTYPE_FP8, MDL_REDUCTION_SUM, TRUE },
    { MDL_OP_REDUCE_SCATTER, MDL_DTYPE_FP64, MDL_REDUCTION_SUM, TRUE },
    { MDL_OP_BROADCAST, MDL_DTYPE_BF16, MDL_REDUCTION_SUM, FALSE },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (row); i++) {
    const MdlTunerQuestion q = { .op = row[i].op, .size_B = 1 << 20, .dtype = row[i].dtype, .reduction = row[i].reduction };
    TEST_INT (mdl_tuner_reason (&t, &q, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE) == NULL, row[i].offered);
    TEST_INT (isfinite (mdl_tuner_time_s (&t, &q, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE)) != 0, row[i].offered);
  }
}

static void
ll128_is_trusted_near_the_gpus_alone (void)
{
  MdlSearchQuestion q = hgx_hopper (8, 2);
  MdlTunerComm comm = comm_of (&q);
  MdlTuner t;
  q.nic_path = MDL_PATH_PXN;
  prepare (constants, &q, &comm, &t);
  TEST_TRUE (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_LL128].reason == NULL);
  q.nic_path = MDL_PATH_PHB;
  prepare (constants, &q, &comm, &t);
  TEST_HAS (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_LL128].reason, "so far");
  comm.force_ll128 = TRUE;
  prepare (constants, &q, &comm, &t);
  TEST_TRUE (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_LL128].reason == NULL);
  comm.force_ll128 = FALSE;
  q.nic_path = MDL_PATH_PIX;
  comm.max_capability = 100;
  prepare (constants, &q, &comm, &t);
  TEST_HAS (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_LL128].reason, "unequal");
  q = hgx_hopper (4, 1);
  q.nvlinks = 0;
  q.switched = FALSE;
  q.path = MDL_PATH_PXB;
  comm = comm_of (&q);
  prepare (constants, &q, &comm, &t);
  TEST_HAS (t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_LL128].reason, "without NVLink");
}

static void
masks_leave_the_rest (void)
{
  MdlTuner t = hopper (8, 1, TRUE);
  MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 1 << 30, .dtype = MDL_DTYPE_BF16 };
  q.disabled_algos = 1u << MDL_ALGO_NVLS;
  MdlTunerChoice c;
  TEST_TRUE (mdl_tuner_choose (&t, &q, &c));
  TEST_INT (c.algo, MDL_ALGO_RING);
  q.disabled_protos = 1u << MDL_PROTO_SIMPLE;
  TEST_TRUE (mdl_tuner_choose (&t, &q, &c));
  TEST_INT (c.proto, MDL_PROTO_LL128);
  q.disabled_algos = ~0u;
  TEST_FALSE (mdl_tuner_choose (&t, &q, &c));
}

/* Times made equal: the first in NCCL's order. */
static void
ties_go_to_the_first (void)
{
  MdlTuner t = hopper (8, 1, FALSE);
  t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_TREE][MDL_PROTO_LL] = t.cell[MDL_OP_ALL_REDUCE][MDL_ALGO_RING][MDL_PROTO_LL];
  MdlTunerChoice c = choice (&t, MDL_OP_ALL_REDUCE, 32);
  TEST_INT (c.algo, MDL_ALGO_TREE);
}

static void
one_rank_costs_nothing (void)
{
  MdlTuner t = hopper (1, 1, FALSE);
  MdlTunerChoice c = choice (&t, MDL_OP_ALL_REDUCE, 1 << 20);
  TEST_INT (c.algo, MDL_ALGO_RING);
  TEST_INT (c.proto, MDL_PROTO_SIMPLE);
  TEST_TRUE (c.time_s <= 0.0);
}

static BaseNums
four (BaseNum *item, double a, double b, double c, double d)
{
  const double v[] = { a, b, c, d };
  for (unsigned i = 0; i < 4; i++)
    item[i] = (BaseNum){ .v = v[i], .set = TRUE };
  return (BaseNums){ .n = 4, .set = TRUE, .item = item };
}

/* A square from 1 to 1024 kB and 16 to 256 ranks of 8 a node by ring LL, behind one by a tree that NCCL does not offer. */
static void
a_plugins_tuner_decides_inside_its_regions (void)
{
  BaseNum bytes[4], ranks[4];
  MdlTunerRegion region[2] = { { .gpus = { .v = 8 }, .algo = { .v = MDL_ALGO_NVLS }, .proto = { .v = MDL_PROTO_SIMPLE } },
                               { .gpus = { .v = 8 }, .algo = { .v = MDL_ALGO_RING }, .proto = { .v = MDL_PROTO_LL } } };
  for (unsigned i = 0; i < 2; i++) {
    region[i].op.v = MDL_OP_ALL_REDUCE;
    region[i].bytes = four (bytes, 1e3, 1024e3, 1024e3, 1e3);
    region[i].ranks = four (ranks, 16, 16, 256, 256);
  }
  MdlTunerRegions tuner = { .nodes = { .v = 3 }, .regions = { .n = 2, .item = region, .size = sizeof region[0] } };
  MdlTunerComm comm = { .ranks = 64, .nodes = 8, .max_local = 8 };
  MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 32e3 };
  double time_s[MDL_ALGO_PAIRWISE][MDL_PROTO_N] = { { 0 } };
  time_s[MDL_ALGO_NVLS][MDL_PROTO_SIMPLE] = (double)INFINITY;
  TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == &region[1]);
  static const double edges[] = { 1e3, 1024e3 }, beyond[] = { 0, 999, 1025e3 };
  for (unsigned i = 0; i < G_N_ELEMENTS (edges); i++) {
    q.size_B = edges[i];
    TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == &region[1]);
  }
  for (unsigned i = 0; i < G_N_ELEMENTS (beyond); i++) {
    q.size_B = beyond[i];
    TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == NULL);
  }
  q.size_B = 32e3;
  q.op = MDL_OP_ALL_GATHER;
  TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == NULL);
  q.op = MDL_OP_ALL_REDUCE;
  comm = (MdlTunerComm){ .ranks = 32, .nodes = 8, .max_local = 4 }; /* other nodes */
  TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == NULL);
  comm = (MdlTunerComm){ .ranks = 16, .nodes = 2, .max_local = 8 }; /* an edge, but too few nodes */
  TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == NULL);
  comm = (MdlTunerComm){ .ranks = 512, .nodes = 64, .max_local = 8 };
  TEST_TRUE (mdl_tuner_region (&tuner, &comm, &q, time_s) == NULL);
}

/* Parts sum to the time, on every cell of communicators of one and several nodes. */
static void
explanations_sum_to_the_time (void)
{
  static const unsigned shape[][2] = { { 8, 1 }, { 2, 1 }, { 8, 2 }, { 8, 64 }, { 1, 16 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (shape); i++) {
    MdlTuner t = hopper (shape[i][0], shape[i][1], TRUE);
    for (int op = 0; op < MDL_TUNER_OPS; op++)
      for (double size_B = 8; size_B < 4e9; size_B *= 23) {
        const MdlTunerQuestion q = { .op = (MdlOp)op, .size_B = size_B, .dtype = MDL_DTYPE_BF16, .n_ops = 30 };
        double table[MDL_ALGO_PAIRWISE][MDL_PROTO_N];
        mdl_tuner_table (&t, &q, table);
        for (int algo = 0; algo < MDL_TUNER_ALGOS; algo++)
          for (int proto = 0; proto < MDL_PROTO_N; proto++) {
            MdlTerm term[MDL_MAX_TERMS];
            unsigned n = mdl_tuner_explain (&t, &q, (MdlAlgo)algo, (MdlProto)proto, term);
            TEST_INT (n == 0, isinf (table[algo][proto]) != 0);
            double sum_s = 0.0;
            for (unsigned k = 0; k < n; k++)
              sum_s += term[k].value_s;
            if (n > 0)
              TEST_NEAR (sum_s, table[algo][proto], 1e-9);
          }
      }
  }
  MdlTuner t = hopper (8, 1, FALSE);
  MdlTerm term[MDL_MAX_TERMS];
  const MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = 1e6 };
  TEST_INT (mdl_tuner_explain (&t, &q, MDL_ALGO_RING, MDL_PROTO_LL, term), 3);
  TEST_STR (term[0].how, "6.6 us");
  TEST_STR (term[1].how, "14 steps x 0.6 us");
  TEST_STR (term[2].how, "1 MB at 80.57 GB/s: 12 x 30 GB/s, x 0.5 LL, at most 141 LL, x 0.5714 busbw");
  TEST_HAS (term[0].note, "tuning.cc:baseLatencies");
}

/* What differs by version, on eight Hopper GPUs of one node and of two. */
static void
versions_differ_where_the_code_does (void)
{
  g_autoptr (CstTuner) old = tuner_fixture ("2.19.3");
  g_autoptr (CstTuner) middle = tuner_fixture ("2.22.3");
  TEST_TRUE (old != NULL && middle != NULL);
  MdlSearchQuestion q = hgx_hopper (8, 1);
  MdlTunerComm comm = comm_of (&q);
  MdlTuner t;
  /* 2.19: 18 x 20 = 360 still makes 6 x 60. LL .25 x 360 = 90, at most 87.7. Tree Simple: no base, 14 x 28. NVLS: 8 heads at 40
   * (9 x 40 = 360), inside 40 below 60 outside: 320 x 5/6. */
  prepare (old, &q, &comm, &t);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_LL, 15.0, 87.7 * 8 / 14);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, 14 * 28, 331.2 / 2);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 23, 320.0 * 5 / 6);
  cell (&t, MDL_OP_ALL_GATHER, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 23, 320.0 * 5 / 6);
  /* 2.22: 141, 25 us. */
  prepare (middle, &q, &comm, &t);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_LL, 15.0, 141.0 * 8 / 14);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 25, 320.0 * 5 / 6);
  TEST_TRUE (t.cell[MDL_OP_ALL_GATHER][MDL_ALGO_PAT][MDL_PROTO_SIMPLE].reason != NULL);
  /* Two nodes in 2.22: 2 N = 4 steps between them, not 2. */
  q = hgx_hopper (8, 2);
  comm = comm_of (&q);
  prepare (middle, &q, &comm, &t);
  cell (&t, MDL_OP_ALL_REDUCE, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 8.4 + 26 * 3.4 + 4 * 14, 384.0 * 16 / 30);
}

/* More bytes never take less by rings and NVLS; trees' correction may make them. */
static void
time_grows_with_size (void)
{
  MdlTuner t = hopper (8, 4, TRUE);
  static const MdlAlgo algos[] = { MDL_ALGO_RING, MDL_ALGO_NVLS_TREE };
  for (unsigned a = 0; a < G_N_ELEMENTS (algos); a++) {
    double before_s = 0.0;
    for (double size_B = 1; size_B < 1e12; size_B *= 1.7) {
      const MdlTunerQuestion q = { .op = MDL_OP_ALL_REDUCE, .size_B = size_B, .dtype = MDL_DTYPE_BF16 };
      double now_s = mdl_tuner_time_s (&t, &q, algos[a], MDL_PROTO_SIMPLE);
      TEST_TRUE (now_s >= before_s);
      before_s = now_s;
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "cells of one node are as by hand", cells_of_one_node_are_as_by_hand },
    { "NVLS of one node is as by hand", nvls_of_one_node_is_as_by_hand },
    { "cells of two nodes are as by hand", cells_of_two_nodes_are_as_by_hand },
    { "SHARP is as by hand", sharp_is_as_by_hand },
    { "PAT is for one GPU a node", pat_is_for_one_gpu_a_node },
    { "tables are those that NCCL prints", tables_are_those_that_nccl_prints },
    { "switch points are those measured", switch_points_are_those_measured },
    { "trees are corrected by size", trees_are_corrected_by_size },
    { "rings between nodes have a plateau", rings_between_nodes_have_a_plateau },
    { "operations of a group share their latency", operations_of_a_group_share_their_latency },
    { "eight-bit floats avoid long rings", eight_bit_floats_avoid_long_rings },
    { "NVLS reduces what the switch can", nvls_reduces_what_the_switch_can },
    { "LL128 is trusted near the GPUs alone", ll128_is_trusted_near_the_gpus_alone },
    { "masks leave the rest", masks_leave_the_rest },
    { "ties go to the first", ties_go_to_the_first },
    { "a plugin's tuner decides inside its regions", a_plugins_tuner_decides_inside_its_regions },
    { "one rank costs nothing", one_rank_costs_nothing },
    { "explanations sum to the time", explanations_sum_to_the_time },
    { "versions differ where the code does", versions_differ_where_the_code_does },
    { "time grows with size", time_grows_with_size },
    { NULL, NULL },
  };
  constants = tuner_fixture ("2.28.9");
  if (constants == NULL)
    return 1;
  int status = test_main ("models: NCCL's tuner", cases);
  cst_tuner_free (constants);
  return status;
}
