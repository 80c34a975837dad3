/* Programs of streams: order, events, copy engines, what shares links, and what is refused; all times by hand. */
#include <math.h>

#include "jobs_fixture.h"

#define CLASS "class: {link_class: up, family: nvlink, efficiency: 1, latency: 0, duplex: 1}"
/* A node of 4 GPUs: 100 GB/s up, 10 GB/s to the host and as much back, memory of 1 TB/s. No latency. */
#define CLUSTER                                                                                       \
  "scenario: s\n"                                                                                     \
  "cluster:\n"                                                                                        \
  "  library: plain\n"                                                                                \
  "  topology:\n"                                                                                     \
  "    topology: t\n"                                                                                 \
  "    nodes: 1\n"                                                                                    \
  "    node:\n"                                                                                       \
  "      gpus:\n"                                                                                     \
  "        type: {gpu: g, scale_up: {" CLASS ", rate: 100 GB/s}, pcie: {" CLASS ", rate: 10 GB/s}}\n" \
  "        count: 4\n"                                                                                \
  "      nvlink: {kind: switch, switches: 1}\n"                                                       \
  "      sockets: {count: 1, memory: 1 TB/s}\n"                                                       \
  "workload:\n"                                                                                       \
  "  kind: program\n"

static ScnResult *
run (Scn **scenario, const char *work)
{
  return jobs_run (scenario, CLUSTER, work, COL_MODE_EVENT);
}

static const ScnOperationResult *
operation (const ScnResult *result, guint i)
{
  return &g_array_index (result->program.operations, ScnOperationResult, i);
}

static void
a_delay_keeps_its_stream_empty (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result =
      run (&scenario, "  streams:\n"
                      "    - {name: a, do: [{delay: 4 ms, record: late}, {kernel: 1 ms}]}\n"
                      "    - {name: b, do: [{wait: late, kernel: {time: 2 ms, sms: 50 %}}, {delay: 0}]}\n");
  TEST_NEAR (result->program.time_s, 7e-3, 1e-9); /* the second kernel finds too few SMs */
  TEST_STR (result->program.bottleneck, "delay of 2 operations");
  TEST_INT (g_array_index (result->program.streams, ScnStreamResult, 0).operations, 1);
  TEST_NEAR (g_array_index (result->program.streams, ScnStreamResult, 0).busy_s, 1e-3, 1e-9);
}

static void
operations_of_a_stream_run_in_order_and_streams_beside_each_other (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, "  streams:\n"
                                                 "    - {name: a, do: [{kernel: 1 ms}, {kernel: 2 ms}]}\n"
                                                 "    - {name: b, gpu: gpu1, do: [{kernel: {time: 2 ms}}]}\n");
  TEST_NEAR (result->program.time_s, 3e-3, 1e-9);
  TEST_NEAR (result->program.serial_s, 5e-3, 1e-9);
  TEST_NEAR (operation (result, 1)->start_s, 1e-3, 1e-9);
  TEST_NEAR (operation (result, 2)->end_s, 2e-3, 1e-9);
  TEST_NEAR (g_array_index (result->program.streams, ScnStreamResult, 1).idle, 1.0 / 3, 1e-9);
  TEST_STR (result->program.bottleneck, "kernel of 3 operations");
}

static void
a_wait_is_for_the_event_of_its_iteration (void)
{
  /* a: 0 to 1, 1 to 2 ms; b waits for each: 1 to 3, 3 to 5 ms. The chain: a's first millisecond, then b. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, "  repeat: 2\n"
                                                 "  streams:\n"
                                                 "    - {name: b, gpu: gpu1, do: [{wait: x}, {name: work, kernel: 2 ms}]}\n"
                                                 "    - {name: a, do: [{kernel: 1 ms}, {record: x}]}\n");
  TEST_NEAR (result->program.time_s, 5e-3, 1e-9);
  TEST_NEAR (operation (result, 0)->start_s, 1e-3, 1e-9);
  TEST_NEAR (operation (result, 1)->end_s, 1e-3, 1e-9);
  TEST_INT (result->program.operations->len, 2);
  TEST_STR (result->program.bottleneck, "work of stream b");
  TEST_NEAR (result->program.bottleneck_share, 0.8, 1e-9);
}

static void
an_earlier_wait_is_for_a_buffer_that_is_free_again (void)
{
  /* Copies of 1 ms, kernels of 3 ms, two buffers. Copies: 0-1, 1-2, 4-5, 7-8 ms; kernels: 1-4, 4-7, 7-10, 10-13 ms. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result =
      run (&scenario, "  repeat: 4\n"
                      "  streams:\n"
                      "    - {name: in, do: [{wait_earlier: {event: free, iterations: 2}, copy: {from: host, bytes: 10 MB}, "
                      "record: full}]}\n"
                      "    - {name: work, do: [{wait: [full], kernel: 3 ms, record: free}]}\n");
  TEST_NEAR (result->program.time_s, 13e-3, 1e-9);
  TEST_NEAR (result->program.iteration_s, 3e-3, 1e-9);
  TEST_INT (result->program.middle, 1);
  TEST_NEAR (operation (result, 0)->mid_end_s, 2e-3, 1e-9);
  TEST_NEAR (operation (result, 1)->mid_start_s, 4e-3, 1e-9);
}

static void
copies_of_one_direction_share_their_engine (void)
{
  /* 10 MB at 10 GB/s: in 0-1 and 1-2 ms; out beside them, on the engine and link of that direction. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, "  streams:\n"
                                                 "    - {name: a, do: [{copy: {from: host, bytes: 10 MB}}]}\n"
                                                 "    - {name: b, do: [{copy: {from: host, bytes: 10 MB}}]}\n"
                                                 "    - {name: c, do: [{copy: {to: node0.host, bytes: 10 MB}}]}\n");
  TEST_NEAR (operation (result, 0)->end_s, 1e-3, 1e-9);
  TEST_NEAR (operation (result, 1)->start_s, 1e-3, 1e-9);
  TEST_NEAR (operation (result, 2)->end_s, 1e-3, 1e-9);
  TEST_NEAR (result->program.time_s, 2e-3, 1e-9);
}

static void
pageable_copies_of_two_gpus_wait_for_the_host (void)
{
  static const struct {
    const char *memory;
    double time_s;
  } rows[] = { { "pinned", 1e-3 }, { "pageable", 2e-3 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf ("  streams:\n"
                                             "    - {name: a, do: [{copy: {from: host, bytes: 10 MB, memory: %s}}]}\n"
                                             "    - {name: b, gpu: gpu1, do: [{copy: {from: host, bytes: 10 MB, memory: %s}}]}\n",
                                             rows[i].memory, rows[i].memory);
    g_autoptr (Scn) scenario = NULL;
    g_autoptr (ScnResult) result = run (&scenario, work);
    TEST_NEAR (result->program.time_s, rows[i].time_s, 1e-9);
  }
}

static void
kernels_run_beside_each_other_while_sms_are_free (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, "  streams:\n"
                                                 "    - {name: a, do: [{kernel: {time: 1 ms, sms: 50 %}}]}\n"
                                                 "    - {name: b, do: [{kernel: {time: 1 ms, sms: 50 %}}]}\n"
                                                 "    - {name: c, do: [{kernel: 1 ms}]}\n");
  TEST_NEAR (operation (result, 1)->end_s, 1e-3, 1e-9);
  TEST_NEAR (operation (result, 2)->start_s, 1e-3, 1e-9);
}

#define BESIDE                                                                                            \
  "  streams:\n"                                                                                          \
  "    - {name: comm, do: [{collective: {op: all_reduce, bytes: 1 GB, algo: ring, gpus: 'gpu[0-3]'}}]}\n" \
  "    - {name: copy, do: [{copy: {to: gpu1, bytes: 1 GB}}]}\n"

static void
a_collective_and_a_copy_get_equal_bytes_of_a_link (void)
{
  /* The ring puts 1.5 GB on each link, 15 ms alone. Beside a copy on gpu0's, 50 GB/s each: the copy ends at 20 ms, the ring's last
   * 0.5 GB go at 100 GB/s: 25 ms. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, BESIDE);
  TEST_NEAR (operation (result, 0)->alone_s, 15e-3, 1e-6);
  TEST_NEAR (operation (result, 0)->end_s, 25e-3, 1e-6);
  TEST_NEAR (operation (result, 1)->end_s, 20e-3, 1e-6);
}

static void
the_closed_form_takes_each_operation_as_alone_and_says_so (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = jobs_run (&scenario, CLUSTER, BESIDE, COL_MODE_MODEL);
  TEST_NEAR (operation (result, 0)->end_s, 15e-3, 1e-6);
  TEST_NEAR (operation (result, 1)->end_s, 10e-3, 1e-6);
  TEST_HAS (result->run.warnings->pdata[0], "mode model knows no contention");
}

static void
a_put_holds_no_copy_engine (void)
{
  /* Two copies to other GPUs are one after the other, 1 ms each at 100 GB/s; a put shares the link with the first. */
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = run (&scenario, "  streams:\n"
                                                 "    - {name: a, do: [{copy: {to: gpu1, bytes: 100 MB}}]}\n"
                                                 "    - {name: b, do: [{put: {to: gpu2, bytes: 50 MB}}]}\n"
                                                 "    - {name: c, do: [{copy: {to: gpu3, bytes: 100 MB}}]}\n");
  TEST_NEAR (operation (result, 1)->end_s, 1e-3, 1e-6);
  TEST_NEAR (operation (result, 0)->end_s, 1.5e-3, 1e-6);
  TEST_NEAR (operation (result, 2)->start_s, 1.5e-3, 1e-6);
}

#define A(items) "  streams: [{name: a, do: [" items "]}]\n"

static void
what_cannot_be_is_refused_with_its_place (void)
{
  static const struct {
    const char *work, *message;
  } rows[] = {
    { "  streams: []\n", "s.yaml:15:12: 'streams' is empty; accepted: at least one stream" },
    { A ("{kernel: 1 ms, copy: {to: host, bytes: 1 B}}"),
      "s.yaml:15:28: an entry of 'do' does one thing, found 2; accepted: one of" },
    { A ("{}"), "s.yaml:15:28: an entry of 'do' is empty; accepted: copy, kernel," },
    { A ("{kernel: {sms: 10 %}}"), "s.yaml:15:37: a kernel has one of 'time', 'gemm' and 'bytes', found 0" },
    { A ("{wait: x}, {record: y}"), "s.yaml:15:35: no stream records event 'x'" },
    { A ("{wait: x}"), "s.yaml:15:35: no stream records event 'x'; accepted: an event that an entry names in 'record'" },
    { A ("{record: x}, {record: x}"), "s.yaml:15:50: event 'x' is recorded twice in an iteration; accepted: a name of its own" },
    { A ("{wait: x, record: x}"),
      "s.yaml:15:35: events wait for each other in a cycle: 'a' waits for 'x'; accepted: 'wait_earlier'" },
    { "  streams: [{name: a, do: [{wait: y}, {record: x}]}, {name: b, do: [{wait: x}, {record: y}]}]\n",
      "s.yaml:15:35: events wait for each other in a cycle: " },
    { "  streams: [{name: a, do: []}, {name: a, do: []}]\n",
      "s.yaml:15:39: two streams are named 'a'; accepted: names that differ" },
    { A ("{copy: {from: gpu9, bytes: 1 B}}"), "s.yaml:15:42: there is no 'gpu9'" },
    { A ("{copy: {from: gpu0, bytes: 1 B}}"), "s.yaml:15:35: a copy from node0.gpu0 to itself; accepted: two ends" },
    { A ("{put: {to: host, bytes: 1 B}}"), "s.yaml:15:39: 'host' cannot be an end of a put; accepted: a GPU" },
    { A ("{read: {tier: nvme, bytes: 1 B}}"), "s.yaml:15:42: 't' has no storage tier 'nvme'" },
    { A ("{collective: {op: all_reduce, bytes: 1 B, gpus: 'gpu0,gpu0'}}"), "s.yaml:15:76: 'gpu0' is named twice in 'gpus'" },
    { A ("{collective: {op: broadcast, bytes: 1 B, root: 4}}"), "s.yaml:15:75: root 4 is not one of the 4 ranks (0 to 3)" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    TEST_TRUE (jobs_load (CLUSTER, rows[i].work, COL_MODE_EVENT, &error) == NULL);
    gboolean ok = error != NULL && g_str_has_prefix (error->message, rows[i].message);
    if (!ok)
      g_printerr ("%s\nexpected %s\n", error != NULL ? error->message : "no error", rows[i].message);
    TEST_TRUE (ok);
  }
}

static void
what_only_a_run_can_see_is_refused_there (void)
{
  static const struct {
    const char *work, *message;
  } rows[] = {
    { A ("{kernel: {bytes: 1 GB}}"), "s.yaml:15:37: 'library: plain' has no constants of kernels; accepted: 'time' of the kernel" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    Scn *scenario = jobs_load (CLUSTER, rows[i].work, COL_MODE_EVENT, &error);
    TEST_TRUE (scenario != NULL && scn_run (scenario, FALSE, &error) == NULL);
    TEST_STR (error != NULL ? error->message : NULL, rows[i].message);
    scn_free (scenario);
  }
}

static const TestCase cases[] = {
  { "a delay keeps its stream empty", a_delay_keeps_its_stream_empty },
  { "operations of a stream run in order, and streams beside each other",
    operations_of_a_stream_run_in_order_and_streams_beside_each_other },
  { "a wait is for the event of its iteration", a_wait_is_for_the_event_of_its_iteration },
  { "an earlier wait is for a buffer that is free again", an_earlier_wait_is_for_a_buffer_that_is_free_again },
  { "copies of one direction share their engine", copies_of_one_direction_share_their_engine },
  { "pageable copies of two GPUs wait for the host", pageable_copies_of_two_gpus_wait_for_the_host },
  { "kernels run beside each other while SMs are free", kernels_run_beside_each_other_while_sms_are_free },
  { "a collective and a copy get equal bytes of a link", a_collective_and_a_copy_get_equal_bytes_of_a_link },
  { "the closed form takes each operation as alone and says so", the_closed_form_takes_each_operation_as_alone_and_says_so },
  { "a put holds no copy engine", a_put_holds_no_copy_engine },
  { "what cannot be is refused with its place", what_cannot_be_is_refused_with_its_place },
  { "what only a run can see is refused there", what_only_a_run_can_see_is_refused_there },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("programs of streams", cases);
}
