/* Laws of a service among other jobs: alone on links of its own it is what it is alone; where links are shared neither is faster;
 * more uplinks never make either slower. */
#include <math.h>

#include "library_fixture.h"
#include "scenario/scenario.h"

static const char text[] =
    "scenario: both\n"
    "cluster:\n"
    "  topology:\n"
    "    topology: tapered\n"
    "    nodes: 4\n"
    "    node: {gpus: {type: h100_sxm, count: 2}, nvlink: {kind: switch, switches: 4}, pcie: {generation: 5, lanes: 16}, nics: "
    "{type: "
    "cx7_ndr400, count: 2, per_gpu: 1}}\n"
    "    fabric: {kind: fat_tree, leaf: {type: qm9700, radix: 5}, spine: {type: qm9700}, oversubscription: 4, routing: adaptive}\n"
    "jobs:\n"
    "  - {name: gradients, nodes: \"0,2\", workload: {kind: collective, op: all_reduce, bytes: 1 GiB, repeat: 600}}\n"
    "  - name: service\n"
    "    nodes: \"1,3\"\n"
    "    workload:\n"
    "      kind: serving\n"
    "      model: llama31_8b\n"
    "      engine: {name: vllm}\n"
    "      pools: [{role: prefill, replicas: 2}, {role: decode, replicas: 1, first_gpu: 2}]\n"
    "      transfer: {library: none}\n" /* links alone: a library's own time does not contend */
    "      load: {rate: 12, input: 4000, output: 20, requests: 100}\n";

typedef struct {
  double gradients_s, gradients_alone_s, transfer_s, transfer_alone_s, ttft_s, ttft_alone_s, answer_s, answer_alone_s;
} Both;

static Both
ask (const char *const *sets)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  Cst *cal = NULL;
  const ScnOptions options = { .sets = sets };
  Scn *scenario = scn_load ("both.yaml", text, lookup, &options, model_library, &cal, &error);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  const ScnJobResult *a = result->jobs->pdata[0], *b = result->jobs->pdata[1];
  TEST_TRUE (!a->serves && b->serves);
  const Both out = {
    a->time_s, a->alone_s, b->service.transfer_s, b->service_alone.transfer_s, b->service.ttft_p99_s, b->service_alone.ttft_p99_s,
    b->time_s, b->alone_s
  };
  scn_result_free (result);
  scn_free (scenario);
  cst_free (cal);
  return out;
}

/* Decode on the node of prefill: its KV never meets the gradients. */
static void
no_contention_is_each_alone (void)
{
  const char *const sets[] = { "jobs.1.workload.pools=[{role: prefill, replicas: 1}, {role: decode, replicas: 1}]", NULL };
  const Both both = ask (sets);
  TEST_NEAR (both.gradients_s, both.gradients_alone_s, 1e-9);
  TEST_NEAR (both.transfer_s, both.transfer_alone_s, 1e-9);
  TEST_NEAR (both.ttft_s, both.ttft_alone_s, 1e-9);
  TEST_NEAR (both.answer_s, both.answer_alone_s, 1e-9);
}

static void
shared_links_slow_both (void)
{
  const Both both = ask (NULL);
  TEST_TRUE (both.gradients_s > 1.001 * both.gradients_alone_s);
  TEST_TRUE (both.transfer_s > 1.01 * both.transfer_alone_s);
  TEST_TRUE (both.answer_s >= both.answer_alone_s);
}

static void
more_uplinks_are_never_slower (void)
{
  static const char *const tapers[] = { "topology.fabric.oversubscription=4",
                                        "topology.fabric={kind: fat_tree, leaf: {type: qm9700, radix: 8}, spine: {type: qm9700}, "
                                        "oversubscription: 1, routing: adaptive}" };
  double gradients_s = (double)INFINITY, transfer_s = (double)INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (tapers); i++) {
    const char *const sets[] = { tapers[i], NULL };
    const Both both = ask (sets);
    TEST_TRUE (both.gradients_s <= gradients_s * (1 + 1e-9) && both.transfer_s <= transfer_s * (1 + 1e-9));
    gradients_s = both.gradients_s;
    transfer_s = both.transfer_s;
  }
}

int
main (void)
{
  static const TestCase tests[] = {
    { "no contention is each alone", no_contention_is_each_alone },
    { "shared links slow both", shared_links_slow_both },
    { "more uplinks are never slower", more_uplinks_are_never_slower },
    { NULL, NULL },
  };
  return test_main ("law: a service among jobs", tests);
}
