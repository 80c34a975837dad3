/* What data-parallel ranks exchange in a step: how often and how many bytes, against closed forms (Rajbhandari et al. 1910.02054
 * sections 5, 7; PyTorch's reducer and FSDP2; Megatron's buckets), and in what order. */
#include "model_fixture.h"

#define H100    "topology: hgx_h100, nodes: 1"
#define ALL     (8 * SMALL_LAYER + 2 * SMALL_TABLE + SMALL_H) /* parameters */
#define ROOT    (2 * SMALL_TABLE + SMALL_H)                   /* of embedding, last norm and head: FSDP's root group */
#define TENSORS (8 * 9 + 3)

static void
one_rank_exchanges_nothing (void)
{
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 2, parallel: {dp: 1}");
  for (EngTask t = 0; t < step.b->notes->len; t++)
    TEST_TRUE (g_array_index (step.b->notes, TrnNote, t).comm == NULL);
}

static void
ddp_reduces_all_gradients_once_a_step (void)
{
  for (int m = 1; m <= 4; m *= 4) {
    g_autofree char *work = g_strdup_printf (SMALL_MODEL ", accumulate: %d", m);
    g_auto (ModelStep) step = model_build (H100, work);
    ModelTally t = model_tally (&step, 0, "all_reduce gradients");
    TEST_NEAR (t.bytes, 2 * ALL, 1e-12);            /* bf16 */
    TEST_INT (model_tally (&step, 0, "norm").n, 0); /* each rank has all sums */
  }
  g_auto (ModelStep) wide = model_build (H100, SMALL_MODEL ", accumulate: 1, precision: {gradients: fp32}");
  TEST_NEAR (model_tally (&wide, 0, "all_reduce gradients").bytes, 4 * ALL, 1e-12);
}

static void
the_first_bucket_of_ddp_is_small_and_holds_the_head (void)
{
  /* head 512,000 B, norm 512, then of layer 7 down, up, gate of 262,144 each: 1,298,944 B are the first to reach 1 MiB; the rest,
   * 2 x 5,757,184 - 1,298,944 B, is below 25 MiB */
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 1");
  ModelTally t = model_tally (&step, 0, "all_reduce gradients");
  TEST_INT (t.n, 2);
  TEST_NEAR (t.first_B, 1298944, 1e-12);
  /* a cap that is given holds for the first one too */
  g_auto (ModelStep) given = model_build (H100, SMALL_MODEL ", accumulate: 1, ddp: {bucket: 25 MiB}");
  t = model_tally (&given, 0, "all_reduce gradients");
  TEST_INT (t.n, 1);
  TEST_NEAR (t.bytes, 2 * ALL, 1e-12);
}

static void
a_tensor_is_never_split (void)
{
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 1, ddp: {bucket: 1 B}");
  ModelTally t = model_tally (&step, 0, "all_reduce gradients");
  TEST_INT (t.n, TENSORS);
  TEST_NEAR (t.first_B, 2 * SMALL_TABLE, 1e-12); /* the head */
  TEST_NEAR (t.bytes, 2 * ALL, 1e-12);
  /* 300 kB: head alone; norm + down, up: 524,800; … a bucket closes once it holds its cap and not before */
  g_auto (ModelStep) some = model_build (H100, SMALL_MODEL ", accumulate: 1, ddp: {bucket: 300 kB}");
  TEST_NEAR (model_tally (&some, 0, "all_reduce gradients").bytes, 2 * ALL, 1e-12);
  TEST_NEAR (model_tally (&some, 0, "all_reduce gradients").first_B, 2 * SMALL_TABLE, 1e-12);
}

/* Units of P x 2 B: reduce-scattered and gathered. */
static void
zero_has_its_volumes (void)
{
  static const struct {
    const char *keys;
    int m;
    double scattered, gathered;
  } rows[] = {
    { "parallel: {zero: 1}", 4, 1, 1 },
    { "parallel: {zero: 1}, overlap: {parameters: false, gradients: false}", 4, 1, 1 },
    { "parallel: {zero: 2}", 4, 4, 1 }, /* only its part of the gradients is kept: each micro-batch is reduced */
    { "parallel: {zero: 2}, overlap: {gradients: false}", 4, 4, 1 },
    { "parallel: {zero: 2}", 1, 1, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf (SMALL_MODEL ", accumulate: %d, %s", rows[i].m, rows[i].keys);
    g_auto (ModelStep) step = model_build (H100, work);
    TEST_INT (model_tally (&step, 0, "all_reduce gradients").n, 0);
    TEST_NEAR (model_tally (&step, 0, "reduce_scatter").bytes, rows[i].scattered * 2 * ALL, 1e-12);
    TEST_NEAR (model_tally (&step, 0, "all_gather").bytes, rows[i].gathered * 2 * ALL, 1e-12);
    TEST_INT (model_tally (&step, 0, "norm").n, 1);
  }
}

/* 8 micro-batches go through the chunks in rows of 4, so that gradients leave twice a chunk; without chunks, 8 times. */
static void
zero_2_reduces_once_a_row_of_micro_batches (void)
{
  g_auto (ModelStep) whole = model_build (H100, SMALL_MODEL ", accumulate: 8, parallel: {pp: 4, zero: 2}");
  static const char *const chunks = SMALL_MODEL ", accumulate: 8, schedule: interleaved, parallel: {pp: 4, vp: 2, zero: ";
  g_autofree char *zero_1 = g_strconcat (chunks, "1}", NULL), *zero_2 = g_strconcat (chunks, "2}", NULL);
  g_auto (ModelStep) once = model_build (H100, zero_1);
  g_auto (ModelStep) rows = model_build (H100, zero_2);
  for (guint32 lane = 1; lane < 3; lane++) {
    TEST_NEAR (model_tally (&whole, lane, "reduce_scatter").bytes, 8 * 2 * 2 * SMALL_LAYER, 1e-12);
    TEST_NEAR (model_tally (&once, lane, "reduce_scatter").bytes, 2 * 2 * SMALL_LAYER, 1e-12);
    TEST_NEAR (model_tally (&rows, lane, "reduce_scatter").bytes, 2 * 2 * 2 * SMALL_LAYER, 1e-12);
  }
}

static void
fsdp_gathers_a_layer_before_each_pass (void)
{
  static const struct {
    const char *keys;
    int m;
    double gathers, gathered, scattered; /* elements */
  } rows[] = {
    /* root and 8 layers forward, 8 layers backward; the root is kept */
    { "fsdp: {reshard: true}", 1, 17, ALL + 8 * SMALL_LAYER, ALL },
    { "parallel: {zero: 3}", 1, 17, ALL + 8 * SMALL_LAYER, ALL },
    { "fsdp: {reshard: true}", 3, 51, 3 * (ALL + 8 * SMALL_LAYER), 3 * ALL },
    { "fsdp: {reshard: true, prefetch: 0}", 1, 17, ALL + 8 * SMALL_LAYER, ALL },
    { "fsdp: {reshard: true, prefetch: 3}", 1, 17, ALL + 8 * SMALL_LAYER, ALL },
    { "fsdp: {reshard: false}", 1, 9, ALL, ALL },
    { "fsdp: {reshard: false}", 3, 9, ALL, 3 * ALL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf (SMALL_MODEL ", accumulate: %d, %s", rows[i].m, rows[i].keys);
    g_auto (ModelStep) step = model_build (H100, work);
    ModelTally gather = model_tally (&step, 0, "all_gather parameters"), scatter = model_tally (&step, 0, "reduce_scatter");
    TEST_INT (gather.n, rows[i].gathers);
    TEST_NEAR (gather.bytes, 2 * rows[i].gathered, 1e-12);
    TEST_NEAR (gather.first_B, 2 * ROOT, 1e-12);
    TEST_INT (scatter.n, 9 * rows[i].m);
    TEST_NEAR (scatter.bytes, 2 * rows[i].scattered, 1e-12);
  }
  g_auto (ModelStep) wide = model_build (H100, SMALL_MODEL ", accumulate: 1, fsdp: {reshard: true}, precision: {reduce: fp32}");
  TEST_NEAR (model_tally (&wide, 0, "reduce_scatter").bytes, 4 * ALL, 1e-12);
}

static void
hsdp_adds_up_its_shards_over_the_replicas (void)
{
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 2, hsdp: {shard: 4}");
  TEST_NEAR (model_tally (&step, 0, "reduce_scatter").bytes, 2 * 2 * ALL, 1e-12);
  TEST_NEAR (model_tally (&step, 0, "all_reduce shards").bytes, 2 * 2 * ALL / 4, 1e-12);
  TEST_INT (model_tally (&step, 0, "all_reduce shards").n, 2 * 9);
  g_auto (ModelStep) whole = model_build (H100, SMALL_MODEL ", accumulate: 2, hsdp: {shard: 8}");
  TEST_INT (model_tally (&whole, 0, "all_reduce shards").n, 0);
}

/* Megatron: at least 40 M parameters a bucket on the first pipeline rank; on others a chunk in one piece. Of Llama 3 8B's layer
 * down, up, gate have 58.7 M each, q, k, v, o 41.9 M together: 4 buckets a layer, and the embedding. */
static void
megatrons_buckets_are_large (void)
{
  g_auto (ModelStep) step =
      model_build ("topology: hgx_h100, nodes: 2", "model: llama3_8b, sequence: 4096, accumulate: 4, parallel: {pp: 2, zero: 1}");
  TEST_INT (model_tally (&step, 0, "reduce_scatter").n, 16 * 4 + 1);
  TEST_INT (model_tally (&step, 1, "reduce_scatter").n, 1);
  TEST_NEAR (model_tally (&step, 1, "reduce_scatter").bytes, 2 * (16 * 218112000.0 + 525336576 + 4096), 1e-12);
  g_auto (ModelStep) chunks = model_build ("topology: hgx_h100, nodes: 2",
                                           "model: llama3_8b, sequence: 4096, accumulate: 4, parallel: {pp: 2, vp: 4, zero: 1}");
  TEST_INT (model_tally (&chunks, 1, "reduce_scatter").n, 4);
}

/* Of the small model's gradients, 2 B each: the head has 512,000 B, 5,757,184 parameters are 11,514,368 B. */
static void
buckets_are_as_large_as_the_data_says (void)
{
  MdlSoftware software = { .buckets = { .first = { .v = 500e3, .set = TRUE } } };
  g_auto (ModelStep) small = model_build_with (H100, SMALL_MODEL ", accumulate: 1", COL_MODE_EVENT, FALSE, &software);
  TEST_NEAR (model_tally (&small, 0, "all_reduce gradients").first_B, 2 * SMALL_TABLE, 1e-12);
  /* at least 3 M parameters, as the first rank of 8 sees it; 512 k a rank are 4.1 M; and without either, all in one piece */
  static const char *const sharded = SMALL_MODEL ", accumulate: 1, parallel: {zero: 1}";
  static const struct {
    double least, per_rank;
    unsigned n;
  } row[] = { { 3e6, 0, 2 }, { 1e6, 512e3, 2 }, { 6e6, 0, 1 }, { 0, 0, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (row); i++) {
    software.buckets.min_parameters = (BaseNum){ .v = row[i].least, .set = row[i].least > 0 };
    software.buckets.per_rank = (BaseNum){ .v = row[i].per_rank, .set = row[i].per_rank > 0 };
    g_auto (ModelStep) step = model_build_with (H100, sharded, COL_MODE_EVENT, FALSE, &software);
    ModelTally t = model_tally (&step, 0, "reduce_scatter gradients");
    TEST_INT (t.n, row[i].n);
    TEST_TRUE (t.n == 1 || t.first_B >= 2 * fmax (row[i].least, 8 * row[i].per_rank));
    TEST_NEAR (t.bytes, 2 * ALL, 1e-12);
  }
}

static void
tensor_parallel_ranks_hold_their_part (void)
{
  /* norms are whole on each rank */
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {tp: 2}");
  TEST_NEAR (model_tally (&step, 0, "all_reduce gradients").bytes,
             2 * (8 * (10.0 * SMALL_H * SMALL_H / 2 + 2 * SMALL_H) + SMALL_TABLE + SMALL_H), 1e-12);
  TEST_INT (model_tally (&step, 0, "norm").n, 1); /* over the model's ranks */
}

static void
experts_are_reduced_by_those_that_hold_them (void)
{
  /* a layer: 4 h^2 + 2 h and a router of 4 h; 4 experts of 3 h 128 */
  const double dense = 8 * (4.0 * SMALL_H * SMALL_H + 6 * SMALL_H) + 2 * SMALL_TABLE + SMALL_H,
               experts = 8 * 4 * 3.0 * SMALL_H * 128;
  static const int ep[] = { 1, 2, 4 };
  for (guint i = 0; i < G_N_ELEMENTS (ep); i++) {
    g_autofree char *work = g_strdup_printf (SMALL_MOE ", accumulate: 1, ddp: {bucket: 1 GB}, parallel: {ep: %d}", ep[i]);
    g_auto (ModelStep) step = model_build (H100, work);
    ModelTally t = model_tally (&step, 0, "all_reduce gradients");
    TEST_INT (t.n, 2);
    TEST_NEAR (t.bytes, 2 * (dense + experts / ep[i]), 1e-12);
  }
  g_auto (ModelStep) sharded = model_build (H100, SMALL_MOE ", accumulate: 1, fsdp: {reshard: true}, parallel: {ep: 4}");
  TEST_NEAR (model_tally (&sharded, 0, "all_gather experts").bytes, 2 * 2 * experts / 4, 1e-12);
  TEST_NEAR (model_tally (&sharded, 0, "all_gather parameters").bytes, 2 * (2 * dense - 2 * SMALL_TABLE - SMALL_H), 1e-12);
  TEST_NEAR (model_tally (&sharded, 0, "reduce_scatter").bytes, 2 * (dense + experts / 4), 1e-12);
}

static void
whole_experts_on_the_ranks_of_tp_are_reduced_too (void)
{
  /* one replica: the ranks of tp share each matrix, but each holds all experts */
  g_auto (ModelStep) step = model_build (H100, SMALL_MOE ", accumulate: 1, parallel: {dp: 1, tp: 4, sp: true}");
  TEST_NEAR (model_tally (&step, 0, "all_reduce gradients").bytes, 2 * 8 * 4 * 3.0 * SMALL_H * 128, 1e-12);
}

static void
a_tied_table_is_on_both_ends_of_a_pipeline (void)
{
#define TIED                                                                                                            \
  "model: {llm: tied, layers: 8, hidden: 256, vocabulary: 1000, attention: {kind: mha, heads: 8}, mlp: {kind: swiglu, " \
  "ffn: 512}, positions: rope, norm: rmsnorm, tied: true}, sequence: 512, accumulate: 4, "
  g_auto (ModelStep) one = model_build (H100, TIED "parallel: {zero: 1}");
  TEST_NEAR (model_tally (&one, 0, "reduce_scatter").bytes, 2 * (ALL - SMALL_TABLE), 1e-12);
  TEST_INT (model_tally (&one, 0, "embedding gradients").n, 0);
  g_auto (ModelStep) two = model_build (H100, TIED "parallel: {pp: 2, zero: 1}");
  for (guint32 lane = 0; lane < 2; lane++) {
    TEST_NEAR (model_tally (&two, lane, "reduce_scatter").bytes, 2 * (4 * SMALL_LAYER + SMALL_TABLE + lane * SMALL_H), 1e-12);
    TEST_NEAR (model_tally (&two, lane, "embedding gradients").bytes, 2 * SMALL_TABLE, 1e-12); /* each sends its own */
  }
  g_auto (ModelStep) vee = model_build (H100, TIED "parallel: {pp: 2, zero: 1}, schedule: zb_v"); /* both ends on rank 0 */
  TEST_INT (model_tally (&vee, 0, "embedding gradients").n + model_tally (&vee, 1, "embedding gradients").n, 0);
  TEST_NEAR (model_tally (&vee, 0, "reduce_scatter").bytes, 2 * (4 * SMALL_LAYER + SMALL_TABLE + SMALL_H), 1e-12);
}

static void
adapters_alone_are_reduced (void)
{
  /* rank 16 beside q, k, v, o: 4 x 16 x 2 h a layer */
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 1, lora: {rank: 16}");
  TEST_NEAR (model_tally (&step, 0, "all_reduce gradients").bytes, 2 * 8 * 4 * 16 * 2.0 * SMALL_H, 1e-12);
}

static void
every_chunk_of_every_schedule_is_reduced_and_gathered (void)
{
  static const char *const rows[] = { "parallel: {pp: 2, zero: 1}",
                                      "parallel: {pp: 2, vp: 2, zero: 1}",
                                      "parallel: {pp: 2, zero: 1}, schedule: zb_h1",
                                      "parallel: {pp: 2, zero: 1}, schedule: zb_v",
                                      "parallel: {pp: 2, zero: 1}, schedule: gpipe",
                                      "parallel: {pp: 2, zero: 1}, schedule: dualpipe_v" };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf (SMALL_MODEL ", accumulate: 4, %s", rows[i]);
    g_auto (ModelStep) step = model_build (H100, work);
    double scattered = 0, gathered = 0;
    for (guint32 lane = 0; lane < 2; lane++) {
      scattered += model_tally (&step, lane, "reduce_scatter").bytes;
      gathered += model_tally (&step, lane, "all_gather").bytes;
    }
    TEST_NEAR (scattered, 2 * ALL, 1e-12);
    TEST_NEAR (gathered, 2 * ALL, 1e-12);
  }
}

/* The k-th task of stage 0 whose name begins so; ENG_NO_TASK. */
static EngTask
task_of (const ModelStep *step, const char *name, unsigned k)
{
  for (EngTask t = 0; t < eng_graph_n_tasks (step->b->graph); t++)
    if (g_str_has_prefix (eng_graph_task_name (step->b->graph, t), name) && k-- == 0)
      return t;
  return ENG_NO_TASK;
}

static void
both_copies_of_a_stage_reduce_together (void)
{
  /* dualpipe: each of four ranks holds two stages, 0 with 3 and 1 with 2; a stage's gradients go once over all that hold it, 2 x dp
   * ranks, behind the last backward pass of either copy; with zero 1 so do its parameters */
  static const struct {
    const char *more;
    guint32 ranks;
  } rows[] = { { "dp: 1", 2 }, { "dp: 2", 4 }, { "dp: 2, zero: 1", 4 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int late = 0; late < 2; late++) {
      g_autofree char *work =
          g_strdup_printf (SMALL_MODEL ", accumulate: 8, parallel: {pp: 4, %s}, schedule: dualpipe, overlap: {gradients: %s}",
                           rows[i].more, late ? "false" : "true");
      g_auto (ModelStep) step = model_played (H100, work);
      const EngGraph *graph = step.b->graph;
      const gboolean zero = strstr (rows[i].more, "zero") != NULL;
      const char *name = zero ? "reduce_scatter" : "all_reduce";
      double reduced = 0;
      for (guint32 lane = 0; lane < 4; lane++) {
        ModelTally t = model_tally (&step, lane, name);
        reduced += t.bytes;
        TEST_TRUE ((t.n > 0) == (lane < 2)); /* the lower rank has what both do */
        TEST_TRUE ((model_tally (&step, lane, "all_gather").n > 0) == (zero && lane < 2));
      }
      TEST_NEAR (reduced, 2 * ALL, 1e-12);
      for (EngTask t = 0; t < step.b->notes->len; t++) {
        const TrnNote *note = &g_array_index (step.b->notes, TrnNote, t);
        if (note->comm == NULL || !g_str_has_prefix (eng_graph_task_name (graph, t), name))
          continue;
        TEST_INT (note->comm->coll.n_ranks, rows[i].ranks);
        TEST_INT (note->other, 3 - note->lane);
      }
      /* none before the last backward pass of either rank's nearer stage: rank 3 ends its share of stage 0 when rank 0 does */
      EngTask first = task_of (&step, name, 0);
      TEST_TRUE (eng_graph_task_start (graph, first) > eng_graph_task_end (graph, task_of (&step, "F0", 0)));
      for (guint32 lane = 0; lane < 4; lane++)
        TEST_TRUE (eng_graph_task_start (graph, step.b->lane[lane].update) >= eng_graph_task_end (graph, first));
    }
}

static void
two_copies_are_reduced_once_a_step (void)
{
  static const char *const rows[] = { "parallel: {pp: 4, zero: 2}", "parallel: {pp: 4, zero: 3}", "parallel: {pp: 4}, fsdp: {}" };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf (SMALL_MODEL ", accumulate: 8, schedule: dualpipe, %s", rows[i]),
                    *message = model_refusal (H100, work);
    TEST_TRUE (g_ascii_isdigit (message[0]) && strstr (message, "accepted: zero 0 or 1, or schedule dualpipe_v") != NULL);
  }
}

static void
experts_of_both_copies_are_reduced (void)
{
  /* ep takes all ranks of a stage: one copy of its experts, and the other direction's: 4 experts of 3 x 256 x 128 of 8 layers */
  const double experts = 8 * 4 * 3.0 * SMALL_H * 128;
  g_auto (ModelStep) step = model_build (H100, SMALL_MOE ", accumulate: 4, parallel: {pp: 2, dp: 4, ep: 4}, schedule: dualpipe");
  double bytes = 0;
  for (EngTask t = 0; t < step.b->notes->len; t++) {
    const TrnNote *note = &g_array_index (step.b->notes, TrnNote, t);
    if (note->comm != NULL && note->comm->coll.n_ranks == 2 && note->comm->coll.op == MDL_OP_ALL_REDUCE &&
        g_str_has_prefix (eng_graph_task_name (step.b->graph, t), "all_reduce gradients"))
      bytes += note->comm->coll.size_B * 4; /* of each rank of ep its own */
  }
  TEST_NEAR (bytes, 2 * experts, 1e-12);
}

/* ---- order ---- */

static void
gathers_run_as_far_ahead_as_they_may (void)
{
  /* forward: root, then layers; a gather is queued `ahead` units before its own and begins once the parameters of the unit before
   * that are copied out: the first layer's follows the root's at once */
  for (unsigned ahead = 0; ahead <= 2; ahead++) {
    g_autofree char *work =
        g_strdup_printf (SMALL_MODEL ", micro_batch: 16, accumulate: 1, fsdp: {reshard: true, prefetch: %u}", ahead);
    g_auto (ModelStep) step = model_played (H100, work);
    const EngGraph *graph = step.b->graph;
    for (unsigned k = 1 + ahead; k < 9; k++) {
      EngTask gather = task_of (&step, "all_gather", k);
      /* units: embedding, layers 0 to 7: gather k is layer k-1's, unit k; its cause at the earliest unit k - ahead - 1 */
      EngTask out = task_of (&step, "copy out", k - MAX (ahead, 1) - (ahead > 0));
      EngTime from = ahead > 0 ? eng_graph_task_end (graph, out) : eng_graph_task_end (graph, task_of (&step, "F0", 0));
      TEST_TRUE (eng_graph_task_start (graph, gather) >= from);
    }
    if (ahead > 0)
      TEST_TRUE (eng_graph_task_start (graph, task_of (&step, "all_gather", 1)) ==
                 eng_graph_task_end (graph, task_of (&step, "all_gather", 0)));
  }
}

static void
a_scatter_waits_for_the_one_before (void)
{
  g_auto (ModelStep) step = model_played (H100, SMALL_MODEL ", accumulate: 1, fsdp: {reshard: true}");
  const EngGraph *graph = step.b->graph;
  for (unsigned k = 1; k < 9; k++) /* one in flight: the next copy in waits for it */
    TEST_TRUE (eng_graph_task_start (graph, task_of (&step, "copy in", k)) >=
               eng_graph_task_end (graph, task_of (&step, "reduce_scatter", k - 1)));
}

static void
the_update_follows_all_gradients (void)
{
  static const char *const rows[] = { "parallel: {pp: 2}", "parallel: {pp: 2, zero: 1}", "fsdp: {reshard: true}",
                                      "parallel: {tp: 2, pp: 2, zero: 1}, overlap: {gradients: false}" };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf (SMALL_MODEL ", accumulate: 2, %s", rows[i]);
    g_auto (ModelStep) step = model_played (H100, work);
    const EngGraph *graph = step.b->graph;
    EngTime update = ENG_TIME_NEVER;
    for (guint32 s = 0; s < step.b->model->pipe.p; s++)
      update = MIN (update, eng_graph_task_start (graph, step.b->lane[s].update));
    for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++)
      if (g_str_has_prefix (eng_graph_task_name (graph, t), "reduce_scatter") ||
          g_str_has_prefix (eng_graph_task_name (graph, t), "all_reduce"))
        TEST_TRUE (eng_graph_task_end (graph, t) <= update); /* clipping: of all stages */
  }
}

#define REPLICAS "accumulate: 2, clip: false, framework: eager, ddp: {kind: data_parallel"
static void
replicas_of_one_process_get_parameters_and_give_gradients (void)
{
  /* each of two micro-batches: all parameters of 2 B go out, one collective for each layer, the embedding and the head, and come
   * back as gradients behind the last kernel */
  const double all_B = 2 * (SMALL_LAYERS * SMALL_LAYER + 2 * SMALL_TABLE + SMALL_H);
  g_auto (ModelStep) step = model_played ("topology: hgx_h100, nodes: 1, gpus_per_node: 4", SMALL_MODEL ", " REPLICAS "}");
  ModelTally out = model_tally (&step, 0, "broadcast parameters"), back = model_tally (&step, 0, "reduce gradients");
  TEST_INT (out.n, 2 * (SMALL_LAYERS + 2));
  TEST_INT (back.n, 2 * (SMALL_LAYERS + 2));
  TEST_NEAR (out.bytes, 2 * all_B, 1e-12);
  TEST_NEAR (back.bytes, 2 * all_B, 1e-12);
  const EngGraph *graph = step.b->graph;
  EngTime first_kernel = ENG_TIME_NEVER, last_broadcast = 0;
  for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++) {
    const TrnTaskPlace at = g_array_index (step.b->notes, TrnNote, t).at;
    if (eng_graph_task_kind (graph, t) == TRN_STEP_FORWARD && at.micro_batch == 0)
      first_kernel = MIN (first_kernel, eng_graph_task_start (graph, t));
    if (at.micro_batch == 0 && g_str_equal (eng_graph_task_name (graph, t), "broadcast parameters"))
      last_broadcast = MAX (last_broadcast, eng_graph_task_end (graph, t));
    if (g_str_equal (eng_graph_task_name (graph, t), "reduce gradients"))
      for (EngTask c = 0; c < eng_graph_n_tasks (graph); c++) /* none beside its backward pass */
        TEST_TRUE (eng_graph_task_kind (graph, c) != TRN_STEP_BACKWARD ||
                   g_array_index (step.b->notes, TrnNote, c).at.micro_batch != at.micro_batch ||
                   eng_graph_task_end (graph, c) <= eng_graph_task_start (graph, t));
  }
  TEST_TRUE (first_kernel >= last_broadcast);
}

static void
one_process_queues_for_all_its_gpus (void)
{
  /* kernels of 1 ms of the host each: it is what takes the time, once for each GPU; PyTorch's replicas take 4.6 ms each */
  static const char *const keys = SMALL_MODEL ", " REPLICAS "}, software: {name: pytorch, kernel: 1 ms}";
  double step_s[2], kernels = 0;
  for (int i = 0; i < 2; i++) {
    g_autofree char *cluster = g_strdup_printf ("topology: hgx_h100, nodes: 1, gpus_per_node: %d", 2 << i);
    g_auto (ModelStep) step = model_answer (cluster, keys, NULL, COL_MODE_EVENT);
    step_s[i] = step.result->training.step_time_s;
    kernels = step.result->training.host.kernels;
    TEST_STR (step.result->training.bound_by, "host");
  }
  TEST_NEAR (step_s[1] - step_s[0], 2 * kernels * 1e-3 + 2 * 2 * 4.6e-3, 1e-2);
  /* one GPU has no replicas; and a process a GPU queues for its own */
  TEST_NEAR (model_step_s ("topology: hgx_h100, nodes: 1, gpus_per_node: 1", keys), kernels * 1e-3, 1e-2);
}

static void
the_first_gpu_may_compute_the_loss_of_all (void)
{
  /* logits of 512 tokens x 1000 of four GPUs come in and their gradients go out, 2 B each */
  g_auto (ModelStep) step =
      model_build ("topology: hgx_h100, nodes: 1, gpus_per_node: 4", SMALL_MODEL ", " REPLICAS ", gather: outputs}");
  ModelTally moved = model_tally (&step, 0, "dp");
  TEST_INT (moved.n, 2 * 2);
  TEST_NEAR (moved.bytes, 4 * 4 * 512.0 * 1000 * 2, 1e-12);
}

static void
replicas_of_one_process_are_whole_and_on_one_node (void)
{
  static const struct {
    const char *cluster, *more, *says;
  } rows[] = {
    { "topology: hgx_h100, nodes: 2", "}", "these 16 ranks are on several; accepted: one node, or kind: ddp" },
    { "topology: hgx_h100, nodes: 1", "}, parallel: {tp: 2}", "knows no tp; accepted: dp alone" },
    { "topology: hgx_h100, nodes: 1", "}, parallel: {pp: 2}", "knows no pp" },
    { "topology: hgx_h100, nodes: 1", "}, parallel: {zero: 1}", "knows no zero" },
    { "topology: hgx_h100, nodes: 1", "}, fsdp: {}", "knows no fsdp" },
    { "topology: hgx_h100, nodes: 1", ", bucket: 1 MiB}", "'bucket' has no effect with data_parallel" },
    { "topology: hgx_h100, nodes: 1", ", overlap: false}", "'overlap' has no effect with data_parallel" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strdup_printf (SMALL_MODEL ", " REPLICAS "%s", rows[i].more),
                    *message = model_refusal (rows[i].cluster, keys);
    TEST_TRUE (g_ascii_isdigit (message[0]) && strstr (message, rows[i].says) != NULL);
  }
  g_autofree char *gather = model_refusal ("topology: hgx_h100, nodes: 1", SMALL_MODEL ", accumulate: 1, ddp: {gather: outputs}");
  TEST_TRUE (strstr (gather, "'gather' is of kind: data_parallel") != NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "one rank exchanges nothing", one_rank_exchanges_nothing },
    { "DDP reduces all gradients once a step", ddp_reduces_all_gradients_once_a_step },
    { "the first bucket of DDP is small and holds the head", the_first_bucket_of_ddp_is_small_and_holds_the_head },
    { "a tensor is never split", a_tensor_is_never_split },
    { "ZeRO 2 reduces once a row of micro-batches", zero_2_reduces_once_a_row_of_micro_batches },
    { "ZeRO has its volumes", zero_has_its_volumes },
    { "FSDP gathers a layer before each pass", fsdp_gathers_a_layer_before_each_pass },
    { "HSDP adds up its shards over the replicas", hsdp_adds_up_its_shards_over_the_replicas },
    { "Megatron's buckets are large", megatrons_buckets_are_large },
    { "buckets are as large as the data says", buckets_are_as_large_as_the_data_says },
    { "tensor-parallel ranks hold their part", tensor_parallel_ranks_hold_their_part },
    { "experts are reduced by those that hold them", experts_are_reduced_by_those_that_hold_them },
    { "whole experts on the ranks of tp are reduced too", whole_experts_on_the_ranks_of_tp_are_reduced_too },
    { "a tied table is on both ends of a pipeline", a_tied_table_is_on_both_ends_of_a_pipeline },
    { "adapters alone are reduced", adapters_alone_are_reduced },
    { "every chunk of every schedule is reduced and gathered", every_chunk_of_every_schedule_is_reduced_and_gathered },
    { "gathers run as far ahead as they may", gathers_run_as_far_ahead_as_they_may },
    { "a scatter waits for the one before", a_scatter_waits_for_the_one_before },
    { "the update follows all gradients", the_update_follows_all_gradients },
    { "replicas of one process get parameters and give gradients", replicas_of_one_process_get_parameters_and_give_gradients },
    { "one process queues for all its GPUs", one_process_queues_for_all_its_gpus },
    { "the first GPU may compute the loss of all", the_first_gpu_may_compute_the_loss_of_all },
    { "replicas of one process are whole and on one node", replicas_of_one_process_are_whole_and_on_one_node },
    { "both copies of a stage reduce together", both_copies_of_a_stage_reduce_together },
    { "two copies are reduced once a step", two_copies_are_reduced_once_a_step },
    { "experts of both copies are reduced", experts_of_both_copies_are_reduced },
    { NULL, NULL },
  };
  return test_main ("gradients and parameters of a model", cases);
}
