/* NCCL's choice, predicted and as it was: on the 8x H200 node the library's default was timed beside each algorithm and protocol,
 * so that the block which took the same time is what it chose. A cell counts where one block alone comes that near; plain launches
 * of short operations time the launching thread and are left out. */
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "measured.h"
#include "tuner_fixture.h"

#define NEAR          0.03              /* the nearest block is no farther from the default */
#define CLEAR         3.0               /* and the next one at least so many times as far */
#define LAUNCH_FROM_B (4.0 * (1 << 20)) /* plain launches from here on */

static GArray *graph, *serial;
static CstTuner *constants;

typedef struct {
  const Measured *row;
  double off;
} Nearest;

/* The block that took what the default took; NULL where more than one may have been. */
static const Measured *
chosen (const GArray *rows, const Measured *row)
{
  Nearest first = { NULL, HUGE_VAL }, second = { NULL, HUGE_VAL };
  for (guint i = 0; i < rows->len; i++) {
    const Measured *block = &g_array_index (rows, Measured, i);
    if (block->algo == MDL_ALGO_AUTO || block->max_channels > 0 || block->n != row->n || fabs (block->size_B - row->size_B) > 0.5)
      continue;
    double off = fabs (block->time_s / row->time_s - 1.0);
    gboolean same = first.row != NULL && first.row->algo == block->algo && first.row->proto == block->proto;
    if (off < first.off) {
      if (!same)
        second = first;
      first = (Nearest){ block, off };
    } else if (off < second.off && !same)
      second = (Nearest){ block, off };
  }
  return first.off <= NEAR && second.off >= CLEAR * first.off && second.row != NULL ? first.row : NULL;
}

static MdlTuner
node_of (unsigned gpus)
{
  MdlSearchQuestion q = hgx_hopper (gpus, 1);
  q.reduces = FALSE; /* NVLS was switched off */
  const MdlTunerComm comm = comm_of (&q);
  MdlTuner tuner;
  prepare (constants, &q, &comm, &tuner);
  return tuner;
}

/* Adds the cells of one file. */
static void
score (const char *what, const GArray *rows, double from_B, unsigned *n_known, unsigned *n_right)
{
  unsigned known = 0, right = 0;
  for (guint i = 0; i < rows->len; i++) {
    const Measured *row = &g_array_index (rows, Measured, i);
    const Measured *was = row->algo == MDL_ALGO_AUTO && row->size_B >= from_B ? chosen (rows, row) : NULL;
    if (was == NULL)
      continue;
    MdlTuner tuner = node_of (row->n);
    const MdlTunerQuestion q = { .op = row->op, .size_B = row->size_B, .dtype = MDL_DTYPE_FP32 };
    MdlTunerChoice choice = { .algo = MDL_ALGO_AUTO };
    TEST_TRUE (mdl_tuner_choose (&tuner, &q, &choice));
    known++;
    if ((int)choice.algo == was->algo && (int)choice.proto == was->proto)
      right++;
    else
      printf ("  %s, %u GPUs, %.0f B: chose %s %s, predicted %s %s\n", what, row->n, row->size_B,
              base_name (mdl_algo_names, was->algo), base_name (mdl_proto_names, was->proto),
              base_name (mdl_algo_names, (int)choice.algo), base_name (mdl_proto_names, (int)choice.proto));
  }
  printf ("  %s: %u of %u known choices predicted\n", what, right, known);
  *n_known += known;
  *n_right += right;
}

static void
choices_are_those_of_the_measured_node (void)
{
  unsigned known = 0, right = 0;
  score ("graph replay", graph, 0.0, &known, &right);
  score ("plain launches", serial, LAUNCH_FROM_B, &known, &right);
  printf ("  share predicted: %.1f %%\n", known > 0 ? 100.0 * right / known : 0.0);
  TEST_TRUE (known >= 50);
  TEST_TRUE (right >= 0.95 * known);
}

/* Where a block that NCCL did not choose was faster: printed, since it is what a tuner file can gain. */
static void
what_the_choice_costs_is_printed (void)
{
  unsigned asked = 0;
  for (guint i = 0; i < graph->len; i++) {
    const Measured *row = &g_array_index (graph, Measured, i);
    if (row->algo != MDL_ALGO_AUTO)
      continue;
    asked++;
    const Measured *best = row;
    for (guint k = 0; k < graph->len; k++) {
      const Measured *block = &g_array_index (graph, Measured, k);
      if (block->algo != MDL_ALGO_AUTO && block->n == row->n && fabs (block->size_B - row->size_B) < 0.5 &&
          block->time_s < best->time_s)
        best = block;
    }
    MdlTuner tuner = node_of (row->n);
    const MdlTunerQuestion q = { .op = row->op, .size_B = row->size_B, .dtype = MDL_DTYPE_FP32 };
    MdlTunerChoice choice = { .algo = MDL_ALGO_AUTO };
    TEST_TRUE (mdl_tuner_choose (&tuner, &q, &choice));
    gboolean same = (int)choice.algo == best->algo && (int)choice.proto == best->proto; /* what is left is noise */
    if (!same && row->time_s / best->time_s > 1.0 + NEAR)
      printf ("  %u GPUs, %.0f B: %s %s is %.0f %% faster than the choice\n", row->n, row->size_B,
              base_name (mdl_algo_names, best->algo), base_name (mdl_proto_names, best->proto),
              100.0 * (row->time_s / best->time_s - 1.0));
  }
  TEST_TRUE (asked >= 40);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "choices are those of the measured node", choices_are_those_of_the_measured_node },
    { "what the choice costs is printed", what_the_choice_costs_is_printed },
    { NULL, NULL },
  };
  graph = measured_read_nccl_tests ("h200x8/all_reduce_graph.txt", MDL_LAUNCH_GRAPH);
  serial = measured_read_nccl_tests ("h200x8/all_reduce_launch.txt", MDL_LAUNCH_SERIAL);
  constants = tuner_fixture ("2.28");
  int status = graph != NULL && serial != NULL && constants != NULL ? test_main ("accuracy: NCCL's choice", cases) : 1;
  g_clear_pointer (&graph, g_array_unref);
  g_clear_pointer (&serial, g_array_unref);
  cst_tuner_free (constants);
  return status;
}
