/* Workloads of kind `chakra`: times that arithmetic gives, on the fixture's GPUs. Traces are written here, in the JSON form. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "chakra/chakra-private.h"
#include "folder_fixture.h"
#include "scenario_fixture.h"

#include <unistd.h>

static char folder[] = "/tmp/forerun-chakra-XXXXXX";

#define KERNEL(id, us, deps) \
  "{\"Id\": " #id ", \"NodeType\": 4, \"is_cpu_op\": false, \"runtime\": " #us ", \"data_deps\": [" deps "]}"
#define HOST(id, us, deps) \
  "{\"Id\": " #id ", \"NodeType\": 4, \"is_cpu_op\": true, \"runtime\": " #us ", \"data_deps\": [" deps "]}"
#define SUM(id, bytes, deps) \
  "{\"Id\": " #id ", \"NodeType\": 7, \"is_cpu_op\": false, \"comm_type\": 0, \"comm_size\": " #bytes ", \"data_deps\": [" deps "]}"

static void
put (const char *file, const char *nodes)
{
  g_autofree char *text = g_strdup_printf ("{\"workload_graph\": [%s]}", nodes);
  folder_put (folder, file, text);
}

/* The time of the traces of this prefix on as many GPUs of a node, and of the rank that ends last. */
static double
time_of (const char *prefix, unsigned n_gpus, const char *more, ScnChakraRankTime *last)
{
  g_autofree char *workload = g_strdup_printf ("{kind: chakra, trace: %s/%s%s}", folder, prefix, more);
  Scn *scenario = NULL;
  ScnResult *result = scenario_run_kept (n_gpus, 1, workload, "", COL_MODE_EVENT, &scenario);
  const ScnChakraResult *own = result->own;
  const double time_s = own->time_s;
  if (last != NULL)
    *last = own->last;
  scn_result_free (result);
  scn_free (scenario);
  return time_s;
}

/* A GPU runs one kernel at a time, a host one operation, and both run beside each other: 10 + 20 us, 50 us, then 5 us of the GPU
 * behind both. */
static void
a_gpu_and_a_host_do_one_thing_each (void)
{
  ScnChakraRankTime last;
  put ("one.0.json", KERNEL (1, 10, "") ", " KERNEL (2, 20, "") ", " HOST (3, 50, "") ", " KERNEL (4, 5, "2, 3"));
  TEST_NEAR (time_of ("one", 1, "", &last), 55e-6, 1e-9);
  TEST_NEAR (last.compute_s, 35e-6, 1e-9);
  TEST_NEAR (last.host_s, 50e-6, 1e-9);
  TEST_NEAR (last.idle_s, 0, 0);
}

/* Ids that the file lacks are not waited for. */
static void
unknown_dependencies_are_not_waited_for (void)
{
  put ("lost.0.json", KERNEL (7, 10, "99"));
  TEST_NEAR (time_of ("lost", 1, "", NULL), 10e-6, 1e-9);
}

/* Two ranks meet: the collective begins with the later one, and takes as long as one of kind `collective`; 30 us of kernels run
 * beside it. */
static void
a_collective_waits_for_all_ranks (void)
{
  put ("two.0.json", KERNEL (1, 10, "") ", " SUM (2, 100000000, "1") ", " KERNEL (3, 30, "1"));
  put ("two.1.json", KERNEL (1, 40, "") ", " SUM (2, 100000000, "1"));
  Scn *scenario = NULL;
  ScnResult *alone = scenario_run_kept (2, 1, "{kind: collective, op: all_reduce, bytes: 100 MB}", "", COL_MODE_EVENT, &scenario);
  ScnChakraRankTime last;
  TEST_NEAR (time_of ("two", 2, "", &last), 40e-6 + alone->coll.time_s, 1e-9);
  TEST_NEAR (last.communication_s, alone->coll.time_s, 1e-9);
  scn_result_free (alone);
  scn_free (scenario);
}

/* 2 us and 1 MB at 100 GB/s; the receiver goes on when it has come. The sender was ready at 5 us. */
static void
a_receive_ends_with_what_was_sent (void)
{
  put ("p2p.0.json",
       KERNEL (1, 5, "") ", {\"Id\": 2, \"NodeType\": 5, \"comm_dst\": 1, \"comm_size\": 1000000, \"data_deps\": [1]}");
  put ("p2p.1.json", "{\"Id\": 1, \"NodeType\": 6, \"comm_src\": 0, \"comm_size\": 1000000}, " KERNEL (2, 7, "1"));
  TEST_NEAR (time_of ("p2p", 2, "", NULL), 5e-6 + 2e-6 + 10e-6 + 7e-6, 1e-9);
}

/* One trace for three ranks; sums over all of them. */
static void
a_trace_is_replicated (void)
{
  put ("same.0.json", KERNEL (1, 10, "") ", " SUM (2, 4000000, "1"));
  Scn *scenario = NULL;
  ScnResult *alone = scenario_run_kept (3, 1, "{kind: collective, op: all_reduce, bytes: 4 MB}", "", COL_MODE_EVENT, &scenario);
  TEST_NEAR (time_of ("same", 3, ", replicate: yes", NULL), 10e-6 + alone->coll.time_s, 1e-9);
  scn_result_free (alone);
  scn_free (scenario);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a GPU and a host do one thing each", a_gpu_and_a_host_do_one_thing_each },
    { "unknown dependencies are not waited for", unknown_dependencies_are_not_waited_for },
    { "a collective waits for all ranks", a_collective_waits_for_all_ranks },
    { "a receive ends with what was sent", a_receive_ends_with_what_was_sent },
    { "a trace is replicated", a_trace_is_replicated },
    { NULL, NULL },
  };
  if (mkdtemp (folder) == NULL)
    return 2;
  const int status = test_main ("chakra", cases);
  folder_remove (folder);
  return status;
}
