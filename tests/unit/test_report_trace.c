/* Traces of training steps, read back as a viewer reads them. */
#include <json-glib/json-glib.h>
#include <math.h>

#include "model_run_fixture.h"
#include "report/plots.h"
#include "report/run.h"

/* The fields of an event that a viewer places it by; times in ns. */
typedef struct {
  char ph;
  gint64 pid, tid, start_ns, end_ns, id;
  double start_us, end_us; /* ts, and ts + dur as a viewer adds them */
  const char *name, *category;
  JsonObject *args;
} Event;

typedef struct {
  ModelRun run;
  JsonParser *parser;
  GArray *events; /* Event */
} Trace;

static void
trace_clear (Trace *trace)
{
  g_clear_pointer (&trace->events, g_array_unref);
  g_clear_object (&trace->parser);
  model_run_clear (&trace->run);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trace, trace_clear)

static gint64
ns_of (JsonObject *object, const char *key)
{
  return json_object_has_member (object, key) ? llround (json_object_get_double_member (object, key) * 1e3) : 0;
}

static Trace
read_trace (const char *cluster, const char *workload)
{
  Trace trace = { .run = model_run_with (cluster, workload, "", TRUE),
                  .parser = json_parser_new (),
                  .events = g_array_new (FALSE, FALSE, sizeof (Event)) };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  rep_step_trace_json (trace.run.result->training.trace, NULL, &(RepTraceInfo){ .scenario = "s" }, text);
  if (!json_parser_load_from_data (trace.parser, text->str, (gssize)text->len, &error))
    g_error ("%s", error->message);
  JsonArray *all = json_object_get_array_member (json_node_get_object (json_parser_get_root (trace.parser)), "traceEvents");
  for (guint i = 0; i < json_array_get_length (all); i++) {
    JsonObject *one = json_array_get_object_element (all, i);
    Event event = { .ph = json_object_get_string_member (one, "ph")[0],
                    .pid = json_object_get_int_member (one, "pid"),
                    .tid = json_object_get_int_member_with_default (one, "tid", -1),
                    .id = json_object_get_int_member_with_default (one, "id", 0),
                    .name = json_object_get_string_member (one, "name"),
                    .category = json_object_get_string_member_with_default (one, "cat", ""),
                    .start_ns = ns_of (one, "ts"),
                    .args = json_object_has_member (one, "args") ? json_object_get_object_member (one, "args") : NULL };
    event.start_us = json_object_get_double_member_with_default (one, "ts", 0);
    event.end_us = event.start_us + json_object_get_double_member_with_default (one, "dur", 0);
    event.end_ns = event.start_ns + ns_of (one, "dur");
    g_array_append_val (trace.events, event);
  }
  return trace;
}

static const Event *
event_at (const Trace *trace, guint i)
{
  return &g_array_index (trace->events, Event, i);
}

/* The slice of a thread that an arrow's end lies in; NULL: none. */
static const Event *
slice_around (const Trace *trace, const Event *end)
{
  for (guint i = 0; i < trace->events->len; i++) {
    const Event *e = event_at (trace, i);
    if (e->ph == 'X' && e->pid == end->pid && e->tid == end->tid && e->start_ns <= end->start_ns && end->start_ns < e->end_ns)
      return e;
  }
  return NULL;
}

#define EIGHT "topology: hgx_h200, nodes: 1"
#define PIPED                                                                                                                      \
  "model: gpt2_small, sequence: 1024, global_batch: 16, micro_batch: 1, framework: fused, recompute: full, parallel: {tp: 2, pp: " \
  "2, zero: 1}, schedule: 1f1b"

static void
slices_of_a_thread_follow_each_other (void)
{
  g_auto (Trace) trace = read_trace (EIGHT, PIPED);
  guint slices = 0;
  gint64 end_ns[2][16] = { { 0 } }, last_ns = 0;
  double end_us[2][16] = { { 0 } };
  for (guint i = 0; i < trace.events->len; i++) {
    const Event *e = event_at (&trace, i);
    if (e->ph != 'X')
      continue;
    slices++;
    TEST_TRUE (e->pid >= 0 && e->pid < 2 && e->tid >= 0 && e->tid < 16);
    TEST_TRUE (e->start_ns >= end_ns[e->pid][e->tid]); /* in the order of the stream, none in another */
    TEST_TRUE (e->start_us - 1e-4 > end_us[e->pid][e->tid] || end_us[e->pid][e->tid] <= 0); /* however a viewer rounds */
    TEST_TRUE (e->end_ns >= e->start_ns);
    end_us[e->pid][e->tid] = e->end_us;
    TEST_TRUE (*e->name != '\0' && *e->category != '\0');
    end_ns[e->pid][e->tid] = e->end_ns;
    last_ns = MAX (last_ns, e->end_ns);
  }
  TEST_TRUE (slices > 100);
  TEST_NEAR ((double)last_ns * 1e-9, trace.run.result->training.step_time_s, 1e-6);
}

static void
compute_slices_sum_to_the_steps_compute (void)
{
  g_auto (Trace) trace = read_trace (EIGHT, PIPED);
  const TrnResult *training = &trace.run.result->training;
  double compute_s = 0, optimizer_s = 0, recompute_s = 0;
  for (guint i = 0; i < trace.events->len; i++) {
    const Event *e = event_at (&trace, i);
    double length_s = (double)(e->end_ns - e->start_ns) * 1e-9;
    if (e->ph != 'X' || e->pid != training->stage || e->tid != 0)
      continue;
    if (g_str_equal (e->category, "optimizer"))
      optimizer_s += length_s;
    else
      compute_s += length_s;
    recompute_s += g_str_equal (e->category, "recompute") ? length_s : 0;
  }
  TEST_NEAR (compute_s, training->part_s[TRN_PART_COMPUTE], 1e-3);
  TEST_NEAR (optimizer_s, training->part_s[TRN_PART_OPTIMIZER], 1e-3);
  TEST_TRUE (recompute_s > .15 * compute_s && recompute_s < .3 * compute_s); /* a forward again, of about four */
}

static void
every_send_has_an_arrow_from_its_slice_to_the_work_that_waited (void)
{
  /* 8 micro-batches a replica, each forward to stage 1 and back */
  g_auto (Trace) trace = read_trace (EIGHT, PIPED);
  guint begins = 0, ends = 0;
  for (guint i = 0; i < trace.events->len; i++) {
    const Event *e = event_at (&trace, i);
    if (e->ph != 's' && e->ph != 'f')
      continue;
    const Event *slice = slice_around (&trace, e);
    TEST_TRUE (slice != NULL);
    if (slice == NULL)
      continue;
    TEST_STR (e->ph == 's' ? slice->category : "send", "send");
    if (e->ph == 'f')
      TEST_STR (slice->category, slice->pid == 1 ? "forward" : slice->category);
    *(e->ph == 's' ? &begins : &ends) += 1;
    const Event *other = event_at (&trace, e->ph == 's' ? i + 1 : i - 1);
    TEST_INT (other->id, e->id);
    TEST_TRUE (other->pid != e->pid);
  }
  TEST_INT (begins, 16);
  TEST_INT (ends, 16);
  TEST_INT (trace.run.result->training.micro_batches, 8);
}

static void
communication_says_what_it_moves_and_how (void)
{
  g_auto (Trace) trace = read_trace (EIGHT, PIPED);
  guint told = 0;
  for (guint i = 0; i < trace.events->len; i++) {
    const Event *e = event_at (&trace, i);
    if (e->ph != 'X' || !(g_str_equal (e->category, "tp") || g_str_equal (e->category, "dp")))
      continue;
    told++;
    TEST_TRUE (json_object_get_double_member (e->args, "bytes") > 0);
    if (!g_str_equal (e->name, "norm")) /* groups of tp, and of dp x cp, have two ranks each */
      TEST_INT (json_object_get_int_member (e->args, "ranks"), 2);
    TEST_STR (json_object_get_string_member (e->args, "group"), e->category);
    TEST_TRUE (*json_object_get_string_member (e->args, "algorithm") != '\0');
    TEST_TRUE (json_object_get_double_member (e->args, "slowdown") > .99);
    if (g_str_equal (e->category, "tp") && json_object_get_double_member (e->args, "bytes") > 100)
      TEST_TRUE (json_object_has_member (e->args, "micro_batch"));
  }
  TEST_TRUE (told > 50);
}

static void
counters_are_parts_of_what_a_link_carries (void)
{
  g_auto (Trace) trace = read_trace (EIGHT, PIPED);
  guint links = 0, held = 0;
  double most = 0, last = 0, most_held = 0;
  for (guint i = 0; i < trace.events->len; i++) {
    const Event *e = event_at (&trace, i);
    if (e->ph != 'C')
      continue;
    if (e->pid == 2) { /* after the two stages */
      links++;
      last = json_object_get_double_member (e->args, "use");
      TEST_TRUE (last >= 0 && last <= 1 + 1e-6);
      most = fmax (most, last);
    } else if (e->pid == 0) {
      held++;
      most_held = fmax (most_held, json_object_get_double_member (e->args, "micro-batches of a chunk"));
    }
  }
  TEST_TRUE (links > 10 && held >= 4); /* 0 1 2, and 1 0 at the end */
  TEST_TRUE (most > .1);
  TEST_NEAR (last, 0, 0);
  TEST_NEAR (most_held, 2, 0); /* the first of two stages of 1f1b */
}

static void
a_large_step_leaves_micro_batches_out_of_the_middle (void)
{
  g_auto (Trace) trace = read_trace (EIGHT, "model: llama3_8b, sequence: 1024, global_batch: 2048, framework: fused, "
                                            "parallel: {tp: 4, pp: 2}, schedule: 1f1b");
  const char *said = trn_trace_written (trace.run.result->training.trace);
  TEST_TRUE (said != NULL);
  TEST_HAS (said, "the trace has micro-batches 0 to ");
  TEST_STR (trace.run.result->run.warnings->pdata[trace.run.result->run.warnings->len - 1], said);
  guint slices = 0;
  gint64 first = -1, last = -1, gap = 0;
  for (guint i = 0; i < trace.events->len; i++) {
    const Event *e = event_at (&trace, i);
    if (e->ph != 'X' || !json_object_has_member (e->args, "micro_batch"))
      continue;
    slices++;
    gint64 m = json_object_get_int_member (e->args, "micro_batch");
    if (first < 0)
      first = m;
    gap = MAX (gap, m - last);
    last = MAX (last, m);
  }
  TEST_INT (first, 0);
  TEST_INT (last, 2047);
  TEST_TRUE (gap > 500);
  TEST_TRUE (slices > 50000 && slices <= 100000);
}

/* Of the timeline of a stage, by kind. */
static double
share_of (const char *rows, const char *kind, guint stage, double end_s)
{
  double sum_s = 0;
  g_auto (GStrv) lines = g_strsplit (rows, "\n", -1);
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
    g_auto (GStrv) cells = g_strsplit (*line, "\t", -1);
    if (g_ascii_strtoull (cells[0], NULL, 10) == stage && strcmp (cells[1], kind) == 0)
      sum_s += g_ascii_strtod (cells[3], NULL) - g_ascii_strtod (cells[2], NULL);
  }
  return sum_s / end_s;
}

/* What the trace leaves out is in the picture: a stage of few bubbles computes most of the step. */
static void
the_timeline_of_a_large_step_has_no_gap (void)
{
  g_auto (ModelRun) run = model_run_with (EIGHT,
                                          "model: llama3_8b, sequence: 1024, global_batch: 2048, framework: fused, "
                                          "parallel: {tp: 4, pp: 2}, schedule: 1f1b",
                                          "", TRUE);
  const TrnResult *training = &run.result->training;
  TEST_TRUE (trn_trace_written (run.result->training.trace) != NULL);
  const GArray *stretches = trn_trace_stretches (run.result->training.trace);
  TEST_TRUE (stretches->len > 100);
  double computed_s = 0;
  for (guint i = 0; i < stretches->len; i++) {
    const TrnTraceSpan *stretch = &g_array_index (stretches, TrnTraceSpan, i);
    TEST_TRUE (stretch->end_s > stretch->start_s && stretch->end_s <= training->step_time_s * (1 + 1e-9));
    if (stretch->process == 0 && (stretch->kind == TRN_TRACE_FORWARD || stretch->kind == TRN_TRACE_BACKWARD))
      computed_s += stretch->end_s - stretch->start_s;
  }
  TEST_TRUE (computed_s > 0.3 * training->step_time_s);
  g_autoptr (GString) whole = g_string_new (NULL), begin = g_string_new (NULL);
  guint columns = 0, columns_of_begin = 0;
  double back_s = 0;
  TEST_TRUE (rep_timeline_tsv (run.result, whole, &columns));
  TEST_INT (columns, 800);
  for (guint stage = 0; stage < 2; stage++)
    TEST_TRUE (share_of (whole->str, "forward", stage, training->step_time_s) +
                   share_of (whole->str, "backward", stage, training->step_time_s) >
               0.9);
  TEST_TRUE (rep_timeline_begin_tsv (run.result, begin, &columns_of_begin, &back_s));
  TEST_TRUE (back_s > 0 && back_s < training->step_time_s / 4);
  TEST_HAS (begin->str, "stage\tkind\tstart_s\tend_s\n0\t");
  TEST_TRUE (share_of (begin->str, "idle", 1, training->step_time_s) < 0.01);
}

static void
a_small_step_is_seen_whole (void)
{
  g_auto (ModelRun) run = model_run_with (EIGHT, PIPED, "", TRUE);
  g_autoptr (GString) out = g_string_new (NULL);
  guint columns = 0;
  double back_s = 0;
  TEST_INT (trn_trace_stretches (run.result->training.trace)->len, 0);
  TEST_FALSE (rep_timeline_begin_tsv (run.result, out, &columns, &back_s));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "slices of a thread follow each other", slices_of_a_thread_follow_each_other },
    { "compute slices sum to the step's compute", compute_slices_sum_to_the_steps_compute },
    { "every send has an arrow from its slice to the work that waited",
      every_send_has_an_arrow_from_its_slice_to_the_work_that_waited },
    { "communication says what it moves and how", communication_says_what_it_moves_and_how },
    { "counters are parts of what a link carries", counters_are_parts_of_what_a_link_carries },
    { "a large step leaves micro-batches out of the middle", a_large_step_leaves_micro_batches_out_of_the_middle },
    { "the timeline of a large step has no gap", the_timeline_of_a_large_step_has_no_gap },
    { "a small step is seen whole", a_small_step_is_seen_whole },
    { NULL, NULL },
  };
  return test_main ("traces of training steps", cases);
}
