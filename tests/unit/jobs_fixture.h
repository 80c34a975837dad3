/* Several jobs on a few nodes, for tests that check them by hand. */
#ifndef JOBS_FIXTURE_H
#define JOBS_FIXTURE_H

#include <string.h>

#include "scenario/scenario.h"
#include "workload_fixture.h"

/* A scenario up to its fabric: 4 nodes of 2 GPUs with an adapter of 10 GB/s each, memories of 1 TB/s, no latency anywhere. */
#define FOUR_NODES                                                                                                              \
  "scenario: s\n"                                                                                                               \
  "cluster:\n"                                                                                                                  \
  "  library: plain\n"                                                                                                          \
  "  topology:\n"                                                                                                               \
  "    topology: t\n"                                                                                                           \
  "    nodes: 4\n"                                                                                                              \
  "    node:\n"                                                                                                                 \
  "      gpus:\n"                                                                                                               \
  "        type: {gpu: g, scale_up: {class: {link_class: nv, family: nvlink, efficiency: 1, latency: 0, duplex: 1}, rate: 100 " \
  "GB/s}, "                                                                                                                     \
  "pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}}\n"                       \
  "        count: 2\n"                                                                                                          \
  "      nvlink: {kind: switch, switches: 1}\n"                                                                                 \
  "      sockets: {count: 1, memory: 1 TB/s}\n"                                                                                 \
  "      nics:\n"                                                                                                               \
  "        type: {nic: n, port: {class: {link_class: ib, family: infiniband, efficiency: 1, latency: 0, duplex: 1}, rate: 10 "  \
  "GB/s}, "                                                                                                                     \
  "pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}}\n"                       \
  "        count: 1\n"

static inline Scn *
jobs_load (const char *cluster, const char *work, ColMode mode, GError **error)
{
  g_autofree char *text = g_strconcat (cluster, work, NULL);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  const ScnOptions options = { .has_mode = TRUE, .mode = mode };
  return scn_load ("s.yaml", text, lookup, &options, NULL, NULL, error);
}

/* The result names links and jobs by the scenario's own strings: the caller keeps both. */
static inline ScnResult *
jobs_run (Scn **scenario, const char *cluster, const char *work, ColMode mode)
{
  g_autoptr (GError) error = NULL;
  *scenario = jobs_load (cluster, work, mode, &error);
  ScnResult *result = *scenario != NULL ? scn_run (*scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s", error->message);
  return result;
}

static inline const ScnJobResult *
job_of (const ScnResult *result, guint i)
{
  return result->jobs->pdata[i];
}

#endif
