/* Scenarios written inline on a small cluster with lossless links, by the plain library unless said otherwise: every time follows
 * from the text. */
#ifndef SCENARIO_FIXTURE_H
#define SCENARIO_FIXTURE_H

#include <string.h>

#include "harness.h"
#include "scenario/loaded.h"

/* Named files are looked up beside this one, then among the shipped. */
#define SCENARIO_NAME TEST_SOURCE_DIR "/scenarios/cases/s.yaml"

/* `n_nodes` nodes of `n_gpus` GPUs behind one switch, 100 GB/s and 1 us a link; one adapter of 10 GB/s and 5 us a GPU on one switch
 * without latency; PCIe of 50 GB/s and a memory of 40 GB/s, both free of latency. A GPU to a GPU of its node: 2 us and 100 GB/s; to
 * one of another node: 10 us and 10 GB/s. `extra`: more lines of the scenario. Returned: full. */
static inline char *
scenario_text (unsigned n_gpus, unsigned n_nodes, const char *workload, const char *extra)
{
  return g_strdup_printf (
      "scenario: s\n"
      "cluster:\n"
      "  library: plain\n"
      "  topology:\n"
      "    topology: fixture\n"
      "    nodes: %u\n"
      "    node:\n"
      "      gpus:\n"
      "        type:\n"
      "          gpu: fixture_gpu\n"
      "          scale_up: {class: {link_class: nv, family: nvlink, efficiency: 1, latency: 1 us, duplex: 1}, rate: 100 GB/s}\n"
      "          pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 50 GB/s}\n"
      "        count: %u\n"
      "      nvlink: {kind: switch, switches: 1}\n"
      "      pcie: {switch_per: 1, under_switch: [nics], link: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, "
      "duplex: 1}, rate: 50 GB/s}}\n"
      "      sockets: {count: 1, memory: 40 GB/s}\n"
      "      nics:\n"
      "        type:\n"
      "          nic: fixture_nic\n"
      "          port: {class: {link_class: ib, family: infiniband, efficiency: 1, latency: 5 us, duplex: 1}, rate: 10 GB/s}\n"
      "          pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 50 GB/s}\n"
      "        count: %u\n"
      "    fabric: {kind: single_switch, leaf: {radix: 1024, latency: 0}}\n"
      "%sworkload: %s\n",
      n_nodes, n_gpus, n_gpus, extra, workload);
}

/* Returned: full; NULL and the error's text in *message (full) when it is refused. */
static inline Scn *
scenario_load (const char *text, const char *const *sets, const ScnOptions *given, char **message)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  ScnOptions options = given != NULL ? *given : (ScnOptions){ 0 };
  options.sets = sets;
  Scn *scenario = scn_load (SCENARIO_NAME, text, lookup, &options, NULL, NULL, &error);
  if (message != NULL)
    *message = error != NULL ? g_strdup (error->message) : NULL;
  else if (scenario == NULL)
    fprintf (stderr, "%s\n", error->message);
  return scenario;
}

/* Runs it; the test ends when it cannot be loaded or run. Returned: full. *scenario, full, owns the names of link classes in the
 * result. */
static inline ScnResult *
scenario_run_kept (unsigned n_gpus, unsigned n_nodes, const char *workload, const char *extra, ColMode mode, Scn **scenario)
{
  g_autofree char *text = scenario_text (n_gpus, n_nodes, workload, extra);
  ScnOptions options = { .has_mode = TRUE, .mode = mode };
  g_autoptr (GError) error = NULL;
  *scenario = scenario_load (text, NULL, &options, NULL);
  ScnResult *result = *scenario != NULL ? scn_run (*scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s\n%s", workload, error != NULL ? error->message : "not loaded");
  return result;
}

/* The same, where no link is asked for its class. */
static inline ScnResult *
scenario_run (unsigned n_gpus, unsigned n_nodes, const char *workload, const char *extra, ColMode mode)
{
  g_autoptr (Scn) scenario = NULL;
  return scenario_run_kept (n_gpus, n_nodes, workload, extra, mode, &scenario);
}

#endif
