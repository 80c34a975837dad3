/* Small clusters for tests of the workload layer, written inline with lossless links so that every number can be checked by
 * hand. */
#ifndef WORKLOAD_FIXTURE_H
#define WORKLOAD_FIXTURE_H

#include <string.h>

#include "cluster/cluster.h"
#include "harness.h"
#include "collective/comm.h"

/* `n_nodes` nodes of `n_gpus` GPUs on one switch (that reduces where `sharp`), 100 GB/s and 1 us a link, one adapter of 10 GB/s and
 * 5 us a GPU on `fabric`, a flow mapping. */
static inline Clu *
fixture_cluster_on (unsigned n_gpus, unsigned n_nodes, gboolean sharp, const char *fabric)
{
  g_autofree char *text = g_strdup_printf (
      "topology: fixture\n"
      "nodes: %u\n"
      "node:\n"
      "  gpus:\n"
      "    type:\n"
      "      gpu: fixture_gpu\n"
      "      compute_capability: 90\n"
      "      scale_up: {class: {link_class: nv, family: nvlink, efficiency: 1, latency: 1 us, duplex: 1}, rate: 100 GB/s}\n"
      "      pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}\n"
      "    count: %u\n"
      "  nvlink: {kind: switch, switches: 1, sharp: %s}\n"
      "  pcie: {switch_per: 1, under_switch: [nics], link: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, "
      "duplex: 1}, rate: 1 TB/s}}\n"
      "  sockets: {count: 1, memory: 1 TB/s}\n"
      "  nics:\n"
      "    type:\n"
      "      nic: fixture_nic\n"
      "      port: {class: {link_class: ib, family: infiniband, efficiency: 1, latency: 5 us, duplex: 1}, rate: 10 GB/s}\n"
      "      pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}\n"
      "    count: %u\n"
      "fabric: %s\n",
      n_nodes, n_gpus, sharp ? "true" : "false", n_gpus, fabric);
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_data ("fixture", text, strlen (text), &error);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  CluLoadOptions options = { .seed = 1 };
  Clu *clu = yaml != NULL ? clu_load_yaml (yaml, lookup, NULL, &options, warnings, &error) : NULL;
  if (clu == NULL)
    g_error ("fixture: %s", error->message);
  return clu;
}

/* The same on one fabric switch without latency. */
static inline Clu *
fixture_cluster (unsigned n_gpus, unsigned n_nodes, gboolean sharp)
{
  return fixture_cluster_on (n_gpus, n_nodes, sharp, "{kind: single_switch, leaf: {radix: 1024, latency: 0}}");
}

/* A communicator with its cluster and settings; opened once the settings are as a test wants them. */
typedef struct {
  Clu *clu;
  ColSettings settings;
  ColComm *comm;
} Bench;

/* Takes `clu`. */
static inline Bench
bench_on (Clu *clu)
{
  Bench b = { .clu = clu };
  col_settings_default (&b.settings);
  return b;
}

/* Of the first `n` GPUs. */
static inline void
bench_open (Bench *b, guint32 n)
{
  g_autofree guint32 *gpus = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    gpus[i] = i;
  g_autoptr (GError) error = NULL;
  b->comm = col_comm_new (b->clu, &b->settings, gpus, n, &error);
  if (b->comm == NULL)
    g_error ("%s", error->message);
}

static inline void
bench_close (Bench *b)
{
  g_clear_pointer (&b->comm, col_comm_free);
  clu_free (b->clu);
}

#endif
