/* Traces of PyTorch's profiler: what waits for what, times, communicators on other numbers of GPUs, and what is refused. Times are
 * in microseconds; the traces are written here. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "scenario/trace.h"

#define HEAD(rank, world) "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": " #rank ", \"world_size\": " #world "},\n"
#define EVENTS            "\"traceEvents\": [\n"
#define STEP(n, ts, dur)                                                                                                  \
  "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" #n "\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts \
  ", \"dur\": " #dur "},\n"
#define CALL(name, ts, corr)                                                                                                 \
  "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name "\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts ", \"dur\": 1, " \
  "\"args\": {\"correlation\": " #corr "}},\n"
#define KERNEL(name, stream, ts, dur, corr)                                                                                        \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": " #stream ", \"ts\": " #ts ", \"dur\": " #dur \
  ", \"args\": {\"device\": 0, \"stream\": " #stream ", \"correlation\": " #corr "}},\n"
#define COPY(ts, dur, corr)                                                                                                    \
  "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", \"pid\": 0, \"tid\": 7, \"ts\": " #ts \
  ", \"dur\": " #dur ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " #corr ", \"bytes\": 4096}},\n"
#define NCCL(op, in, out, group, ranks, ts, dur, corr)                                                                           \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_X\", \"pid\": 0, \"tid\": 20, \"ts\": " #ts ", \"dur\": " #dur \
  ", \"args\": {\"device\": 0, \"stream\": 20, \"correlation\": " #corr ", \"Collective name\": \"" op                           \
  "\", \"In msg nelems\": " #in ", \"Out msg nelems\": " #out ", \"Group size\": " #group                                        \
  ", \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", \"Process Group Ranks\": \"" ranks "\"}},\n"
#define LAUNCH "cudaLaunchKernel"
#define TAIL   "{\"ph\": \"M\", \"name\": \"end\"}]}\n"

static const ScnTraceTarget two = { .name = "t", .topology = "hgx_h200", .nodes = 1, .gpus_per_node = 2, .gpus_of_node = 8 };

/* The scenario of these files, or the message with which they are refused. Returned: full. */
static char *
import (const char *const *texts, gint64 step, const ScnTraceTarget *target, GArray **summaries)
{
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (ScnTrace) trace = scn_trace_new (&(ScnTraceOptions){ .ranks = 1 }, warnings);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; texts[i] != NULL; i++) {
    g_autofree char *path = g_strdup_printf ("r%u.json", i);
    if (!scn_trace_read_kineto (trace, path, texts[i], strlen (texts[i]), &error))
      return g_strdup (error->message);
  }
  if (!scn_trace_take_step (trace, step, &error))
    return g_strdup (error->message);
  if (summaries != NULL)
    *summaries = scn_trace_summaries (trace);
  char *text = scn_trace_write (trace, target, &error);
  return text != NULL ? text : g_strdup (error->message);
}

static char *
import_one (const char *text)
{
  const char *const texts[] = { text, NULL };
  return import (texts, -1, &two, NULL);
}

/* A kernel, an all-reduce beside a second kernel, and a third one that waits for the all-reduce. */
static const char overlapped[] = HEAD (0, 2) EVENTS STEP (7, 1000, 500) CALL (LAUNCH, 1000, 1) KERNEL ("gemm", 7, 1010, 100, 1)
    CALL ("cudaStreamWaitEvent", 1003, 0) CALL (LAUNCH, 1004, 2) NCCL ("allreduce", 1000, 1000, 2, "[0, 1]", 1112, 200, 2)
        CALL ("cudaStreamWaitEvent", 1005, 0) CALL (LAUNCH, 1006, 3) KERNEL ("gemm", 7, 1110, 50, 3)
            CALL ("cudaStreamWaitEvent", 1008, 0) CALL (LAUNCH, 1009, 4) KERNEL ("adam", 7, 1315, 25, 4) TAIL;

static void
a_step_keeps_its_order_its_times_and_its_delays (void)
{
  const char *const texts[] = { overlapped, NULL };
  g_autoptr (GArray) summaries = NULL;
  g_autofree char *text = import (texts, -1, &two, &summaries);
  TEST_HAS (text, "cluster: {topology: hgx_h200, nodes: 1, gpus_per_node: 2}");
  TEST_HAS (text, "        - {delay: 10.000 us}\n"
                  "        - {name: 'gemm', kernel: {time: 100.000 us}, record: e1}\n"
                  "        - {name: 'gemm', kernel: {time: 50.000 us}}\n"
                  "        - {wait: [e2], delay: 3.000 us}\n"
                  "        - {name: 'optimizer', kernel: {time: 25.000 us}}\n");
  TEST_HAS (text, "        - {wait: [e1], delay: 2.000 us}\n"
                  "        - {collective: {op: all_reduce, bytes: 2000 B, dtype: bf16, gpus: 'all'}, record: e2}\n");
  const ScnTraceSummary *one = &g_array_index (summaries, ScnTraceSummary, 0);
  TEST_NEAR (one->step_s, 340e-6, 1e-9);
  TEST_NEAR (one->compute_s, 175e-6, 1e-9);
  TEST_NEAR (one->communication_s, 200e-6, 1e-9);
  TEST_NEAR (one->exposed_s, 152e-6, 1e-9);
  TEST_NEAR (one->idle_s, 13e-6, 1e-9);
}

static void
recorded_synchronisation_goes_before_what_calls_tell (void)
{
  g_autofree char *text = import_one (HEAD (0, 1) EVENTS KERNEL ("gemm", 7, 100, 50, 10) KERNEL (
      "gemm", 9, 100, 80, 12) "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"ts\": 90, \"dur\": 1, "
                              "\"args\": {\"stream\": 9, \"wait_on_stream\": 7, "
                              "\"wait_on_cuda_event_record_corr_id\": 11, \"correlation\": 13}},\n" KERNEL ("gemm", 9, 300, 10, 14)
                                          TAIL);
  TEST_HAS (text, "sms: 50 %}, record: e1}");
  TEST_HAS (text, "        - {delay: 120.000 us}\n        - {wait: [e1], name: 'gemm', kernel: {time: 10.000 us, sms: 50 %}}\n");
}

/* Two ranks: the second comes late to the all-reduce. */
#define LATE(rank, ts)                                                                          \
  HEAD (rank, 2)                                                                                \
  EVENTS STEP (1, 0, 900) CALL (LAUNCH, 1, 1) KERNEL ("gemm", 7, 10, ts, 1) CALL (LAUNCH, 3, 2) \
      NCCL ("_allgather_base", 100, 200, 2, "[0, 1]", 500, 100, 2) TAIL

static void
ranks_meet_in_one_collective (void)
{
  const char *const texts[] = { LATE (1, 400), LATE (0, 100), NULL };
  g_autofree char *text = import (texts, 1, &two, NULL);
  TEST_HAS (text, "    - name: rank 0 stream 20\n"
                  "      gpu: gpu0\n"
                  "      do:\n"
                  "        - {wait: [e1], delay: 390.000 us}\n"
                  "        - {wait: [e4], collective: {op: all_gather, bytes: 400 B, dtype: bf16, gpus: 'all'}, record: e3}\n");
  TEST_HAS (text, "    - name: rank 1 stream 20\n"
                  "      gpu: gpu1\n"
                  "      do:\n"
                  "        - {wait: [e2], delay: 90.000 us, record: e4}\n"
                  "        - {wait: [e3]}\n");
}

#define GROUP(size, ranks) \
  HEAD (0, 8) EVENTS KERNEL ("gemm", 7, 0, 10, 1) NCCL ("reduce_scatter_tensor_coalesced", 100, 50, size, ranks, 20, 10, 2) TAIL

static void
communicators_follow_the_number_of_gpus (void)
{
  const ScnTraceTarget same = { "t", "x", 2, 4, 8 }, more = { "t", "x", 4, 4, 8 };
  const struct {
    const char *text;
    const ScnTraceTarget *target;
    const char *has;
  } all[] = { { GROUP (4, "[0, 1, 2, 3]"), &same, "op: reduce_scatter, bytes: 200 B, dtype: bf16, gpus: 'gpu[0-3]'" },
              { GROUP (4, "[0, 1, 2, 3]"), &more, "gpus: 'gpu[0-3]'" },
              { GROUP (2, "[0, 4]"), &same, "gpus: 'gpu0,gpu8'" },
              { GROUP (2, "[0, 4]"), &more, "gpus: 'gpu0,gpu8,gpu16,gpu24'" },
              { GROUP (4, "[0, 2, ...]"), &same, "gpus: 'gpu0,gpu2,gpu8,gpu10'" },
              { GROUP (8, "[0, 1, ...]"), &more, "gpus: 'all'" },
              { GROUP (3, "[0, 1, 4]"), &same, "gpus: 'gpu0,gpu1,gpu8'" },
              { GROUP (3, "[0, 1, 4]"), &more,
                "r0.json: communicator '0 [0, 1, 4]' of 3 of 8 ranks has no counterpart on 16 GPUs" },
              { GROUP (3, "[0, 1, 9]"), &same, "joins ranks that the cluster lacks" },
              { GROUP (4, ""), &same, "does not say which ranks" } };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    const char *const texts[] = { all[i].text, NULL };
    g_autofree char *text = import (texts, -1, all[i].target, NULL);
    TEST_HAS (text, all[i].has);
  }
}

static void
what_is_no_whole_trace_is_refused_with_its_place (void)
{
  const struct {
    const char *text, *has;
  } all[] = {
    { "", "r0.json: the file is empty" },
    { "x", "r0.json:1: not JSON" },
    { "{\"schemaVersion\": 2}", "r0.json:1: schemaVersion 2; accepted: 1" },
    { "{\"a\": [1, {\"b\": \"]\"}]}", "r0.json: no 'traceEvents' in the file" },
    { "{\"traceEvents\": 3}", "'traceEvents' is not a list" },
    { HEAD (0, 2), "r0.json:2: the file ends before its first event: cut off" },
    { HEAD (0, 2) EVENTS KERNEL ("gemm", 7, 0, 10, 1), "r0.json:4: the file ends within or behind event 1: cut off" },
    { HEAD (0, 2) EVENTS KERNEL ("gemm", 7, 0, 10, 1) "{\"ph\": \"X\"",
      "r0.json:4: the file ends within or behind event 2: cut off" },
    { HEAD (0, 2) EVENTS "7]}", "event 1 is not a mapping in braces" },
    { HEAD (2, 2) EVENTS TAIL, "distributedInfo: rank 2 of 2 ranks" },
    { HEAD (0, 2) EVENTS TAIL, "r0.json: no kernels among 1 events; profile with ProfilerActivity.CUDA" },
    { HEAD (0, 2) EVENTS COPY (0, 10, 1) TAIL, "r0.json: no kernels among 2 events" },
    { HEAD (0, 2) EVENTS KERNEL ("gemm", 7, 0, -1, 1) TAIL, "r0.json:3: event 1: a kernel has" },
    { HEAD (0, 2) EVENTS KERNEL ("ncclKernel_AllReduce", 7, 0, 1, 1) TAIL,
      "r0.json:3: NCCL's kernel 'ncclKernel_AllReduce' has no size" },
    { HEAD (0, 2) EVENTS KERNEL ("gemm", 7, 0, 1, 1) "{\"cat\": \"kernel\", \"name\": \"g\", \"ts\": 1, \"dur\": 1, \"args\": "
                                                     "{\"device\": 3, \"stream\": 7}}]}",
      "r0.json:4: event 2 is of GPU 3, others are of GPU 0" },
    { HEAD (0, 2) EVENTS "{\"cat\": \"kernel\", \"name\": [}]}", "r0.json:3:" },
    { "\x1f\x8b broken", "r0.json: not a gzip file, or one that is cut off" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autofree char *text = import_one (all[i].text);
    TEST_HAS (text, all[i].has);
  }
}

static void
ranks_that_do_not_fit_together_are_refused (void)
{
  const char *const twice[] = { LATE (0, 100), LATE (0, 100), NULL }, *const no_step[] = { LATE (0, 100), NULL },
                    *const other_world[] = { LATE (0, 100), HEAD (1, 4) EVENTS KERNEL ("gemm", 7, 0, 1, 1) TAIL, NULL },
                    *const other_op[] = { LATE (0, 100),
                                          HEAD (1, 2) EVENTS STEP (1, 0, 900) KERNEL ("gemm", 7, 0, 1, 1)
                                              NCCL ("broadcast", 100, 200, 2, "[0, 1]", 500, 100, 2) TAIL,
                                          NULL };
  const struct {
    const char *const *texts;
    gint64 step;
    const char *has;
  } all[] = { { twice, 1, "rank 0 is also the rank of r" },
              { no_step, 9, "r0.json: step 9 is not in the trace of rank 0; it has 1 to 1" },
              { other_world, -1, "r1.json: the run has 4 ranks here, and 2 in r0.json" },
              { other_op, 1,
                "r1.json:5: collective 1 of communicator '0 [0, 1]' is broadcast in rank 1, and all_gather in rank 0" } };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autofree char *text = import (all[i].texts, all[i].step, &two, NULL);
    TEST_HAS (text, all[i].has);
  }
}

static const TestCase cases[] = {
  { "a step keeps its order, its times and its delays", a_step_keeps_its_order_its_times_and_its_delays },
  { "recorded synchronisation goes before what calls tell", recorded_synchronisation_goes_before_what_calls_tell },
  { "ranks meet in one collective", ranks_meet_in_one_collective },
  { "communicators follow the number of GPUs", communicators_follow_the_number_of_gpus },
  { "what is no whole trace is refused with its place", what_is_no_whole_trace_is_refused_with_its_place },
  { "ranks that do not fit together are refused", ranks_that_do_not_fit_together_are_refused },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("scenario trace", cases);
}
