/* Tables that the pictures of a run are drawn from. */
#include <string.h>

#include "harness.h"
#include "report/plots.h"

static void
add_span (GPtrArray *spans, const char *lane, const char *name, double start_s, double end_s)
{
  ColSpan *span = g_new (ColSpan, 1);
  *span = (ColSpan){ .lane = g_strdup (lane), .name = g_strdup (name), .start_s = start_s, .end_s = end_s };
  g_ptr_array_add (spans, span);
}

static void
span_free (gpointer data)
{
  ColSpan *span = data;
  g_free (span->lane);
  g_free (span->name);
  g_free (span);
}

static ScnResult
step_of (GPtrArray *spans)
{
  return (ScnResult){ .kind = SCN_KIND_TRAINING, .run.spans = spans };
}

/* Stage 0 computes from 0 to 1, sends to 2 while it goes on computing from 1.5; stage 1 computes from 2 to 4. */
static void
a_stage_that_computes_beside_a_send_computes (void)
{
  g_autoptr (GPtrArray) spans = g_ptr_array_new_with_free_func (span_free);
  add_span (spans, "stage 0 compute", "F0", 0, 1);
  add_span (spans, "stage 0 send forward", "send activation", 1, 2);
  add_span (spans, "stage 0 compute", "B0", 1.5, 2.5);
  add_span (spans, "stage 1 compute", "F0", 2, 3);
  add_span (spans, "stage 1 compute", "W0", 3, 3.5);
  add_span (spans, "stage 1 compute", "optimizer", 3.5, 4);
  add_span (spans, "somewhere else", "F0", 0, 9);
  ScnResult result = step_of (spans);
  g_autoptr (GString) out = g_string_new (NULL);
  guint columns = 7;
  TEST_TRUE (rep_timeline_tsv (&result, out, &columns));
  TEST_INT (columns, 0);
  TEST_STR (out->str, "stage\tkind\tstart_s\tend_s\n"
                      "0\tforward\t0\t1\n"
                      "0\texchange\t1\t1.5\n"
                      "0\tbackward\t1.5\t2.5\n"
                      "0\tidle\t2.5\t4\n"
                      "1\tidle\t0\t2\n"
                      "1\tforward\t2\t3\n"
                      "1\tweight\t3\t3.5\n"
                      "1\toptimizer\t3.5\t4\n");
}

/* 4000 turns of two kinds in turn, 2 to 1, are more than a picture holds: in each of 800 columns the longer kind wins, and a
 * stage that waits for the second half of the step shows it. */
static void
what_is_too_fine_to_draw_takes_the_colour_of_most_of_it (void)
{
  g_autoptr (GPtrArray) spans = g_ptr_array_new_with_free_func (span_free);
  for (int i = 0; i < 4000; i++) {
    add_span (spans, "stage 0 compute", "F0", 3 * i, 3 * i + 1);
    add_span (spans, "stage 0 compute", "B0", 3 * i + 1, 3 * i + 3);
  }
  add_span (spans, "stage 1 compute", "F0", 0, 6000);
  ScnResult result = step_of (spans);
  g_autoptr (GString) out = g_string_new (NULL);
  guint columns = 0;
  TEST_TRUE (rep_timeline_tsv (&result, out, &columns));
  TEST_INT (columns, 800);
  TEST_STR (out->str, "stage\tkind\tstart_s\tend_s\n"
                      "0\tbackward\t0\t12000\n"
                      "1\tforward\t0\t6000\n"
                      "1\tidle\t6000\t12000\n");
}

static void
parts_of_a_step_are_those_that_are_not_zero (void)
{
  ScnResult result = { .kind = SCN_KIND_TRAINING };
  result.training.part_s[TRN_PART_COMPUTE] = 0.5;
  result.training.part_s[TRN_PART_BUBBLE] = 0.25;
  g_autoptr (GString) out = g_string_new (NULL);
  TEST_TRUE (rep_parts_tsv (&result, out));
  TEST_STR (out->str, "part\tvalue_s\ncompute\t0.5\nbubble\t0.25\n");
}

static void
names_with_tabs_stay_in_their_cell (void)
{
  ScnResult result = { .kind = SCN_KIND_COLLECTIVE, .run.links = g_array_new (FALSE, FALSE, sizeof (ColLinkUse)) };
  g_autoptr (GString) out = g_string_new (NULL);
  TEST_FALSE (rep_links_tsv (&result, out));
  char busiest[] = "a\tb\nc";
  ColLinkUse use = { .link_class = "ib\xff", .busiest = busiest, .utilisation = 0.5, .bytes = 1e9 };
  g_array_append_val (result.run.links, use);
  TEST_TRUE (rep_links_tsv (&result, out));
  TEST_STR (out->str, "link_class\tbusiest\tutilisation\tbytes\nib\357\277\275\ta\\tb\\nc\t0.5\t1000000000\n");
  g_array_unref (result.run.links);
}

static void
a_run_without_a_step_has_no_timeline_and_no_memory (void)
{
  ScnResult result = { .kind = SCN_KIND_COLLECTIVE };
  g_autoptr (GString) out = g_string_new (NULL);
  guint columns = 0;
  TEST_FALSE (rep_timeline_tsv (&result, out, &columns));
  TEST_FALSE (rep_memory_tsv (&result, out));
  TEST_FALSE (rep_parts_tsv (&result, out));
}

static void
memory_is_a_row_a_stage (void)
{
  TrnMemory memory[2] = {
    { .stage = 0, .weights_B = 1, .gradients_B = 2, .optimizer_B = 3, .activations_B = 4, .buffers_B = 5, .other_B = 6 },
    { .stage = 1, .weights_B = 10 }
  };
  ScnResult result = { .kind = SCN_KIND_TRAINING };
  result.training.memory = g_array_new (FALSE, FALSE, sizeof (TrnMemory));
  g_array_append_vals (result.training.memory, memory, 2);
  g_autoptr (GString) out = g_string_new (NULL);
  TEST_TRUE (rep_memory_tsv (&result, out));
  TEST_STR (out->str,
            "stage\tweights\tgradients\toptimizer\tactivations\tbuffers\tother\n0\t1\t2\t3\t4\t5\t6\n1\t10\t0\t0\t0\t0\t0\n");
  g_array_unref (result.training.memory);
}

static void
goodput_is_a_row_an_interval (void)
{
  const GdpInterval curve[] = {
    { .every_steps = 10, .interval_s = 60, .goodput = { 0.8, 0.75, 0.85 }, .closed = 0.81 },
    { .every_steps = 100, .interval_s = 600, .goodput = { 0.9, 0.875, 0.925 }, .closed = 0.91 },
  };
  Gdp goodput = { .curve = g_array_new (FALSE, FALSE, sizeof (GdpInterval)), .best = curve[1] };
  g_autoptr (GString) one = g_string_new (NULL), both = g_string_new (NULL);
  g_array_append_vals (goodput.curve, curve, 1);
  TEST_FALSE (rep_goodput_curve_tsv (&goodput, one));
  g_array_append_vals (goodput.curve, curve + 1, 1);
  TEST_TRUE (rep_goodput_curve_tsv (&goodput, both));
  g_auto (GStrv) lines = g_strsplit (both->str, "\n", -1);
  TEST_STR (lines[0], "interval_s\tgoodput\tgoodput_lo\tgoodput_hi\tgoodput_closed_form\tbest_interval_s\tbest_goodput");
  TEST_HAS (lines[1], "60\t");
  g_auto (GStrv) cells = g_strsplit (lines[2], "\t", -1);
  TEST_NEAR (g_ascii_strtod (cells[2], NULL), 0.875, 0);
  TEST_NEAR (g_ascii_strtod (cells[4], NULL), 0.91, 0);
  TEST_NEAR (g_ascii_strtod (cells[5], NULL), 600, 0);
  g_array_unref (goodput.curve);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a stage that computes beside a send computes", a_stage_that_computes_beside_a_send_computes },
    { "what is too fine to draw takes the colour of most of it", what_is_too_fine_to_draw_takes_the_colour_of_most_of_it },
    { "parts of a step are those that are not zero", parts_of_a_step_are_those_that_are_not_zero },
    { "names with tabs stay in their cell", names_with_tabs_stay_in_their_cell },
    { "a run without a step has no timeline and no memory", a_run_without_a_step_has_no_timeline_and_no_memory },
    { "memory is a row a stage", memory_is_a_row_a_stage },
    { "goodput is a row an interval", goodput_is_a_row_an_interval },
    { NULL, NULL },
  };
  return test_main ("report: pictures", cases);
}
