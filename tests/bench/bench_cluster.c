/* How long a cluster of 131,072 GPUs takes to build, how much memory it is, and how many routes a second are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "bench.h"
#include "cluster/route.h"

#define NODE                                                                                                                    \
  "node:\n"                                                                                                                     \
  "  gpus: {type: {gpu: g, scale_up: {class: {link_class: nv, family: nvlink, lane_rate: 25 GB/s}, lanes: 18}, pcie: {class: "  \
  "{link_class: "                                                                                                               \
  "pcie5, lane_rate: 4 GB/s, lanes: 16}}}, count: 8}\n"                                                                         \
  "  nvlink: {switches: 4}\n"                                                                                                   \
  "  pcie: {switch_per: 2, under_switch: [nics, nvme]}\n"                                                                       \
  "  sockets: {count: 2, memory: 243 GB/s, interconnect: {rate: 128 GB/s}}\n"                                                   \
  "  nics: {type: {nic: n, port: {class: {link_class: ndr, family: infiniband, lane_rate: 400 Gb/s}}, pcie: {rate: 63 GB/s}}, " \
  "count: 8}\n"                                                                                                                 \
  "  storage: {local_nvme: {drives: 8, type: {drive: d, read: 7 GB/s}}}\n"

static const struct {
  const char *name, *fabric;
} rows[] = {
  { "rail, adaptive", "{kind: rail_optimised, leaf: {radix: 128}, routing: adaptive}" },
  { "rail, static", "{kind: rail_optimised, leaf: {radix: 128}, routing: static}" },
  { "fat tree, ecmp", "{kind: fat_tree, leaf: {radix: 128}, routing: ecmp}" },
  { "torus, static", "{kind: torus, dims: [32, 32, 16]}" },
};

static void
bench (const char *name, const char *fabric, guint32 nodes, guint32 n_routes)
{
  g_autofree char *text = g_strdup_printf ("topology: bench\nnodes: %u\n" NODE "fabric: %s\n", nodes, fabric);
  g_autoptr (GError) error = NULL;
  double start = bench_now_s ();
  BaseYaml *yaml = base_yaml_load_data ("bench.yaml", text, strlen (text), &error);
  g_autoptr (BaseLookup) lookup = base_lookup_new (".");
  g_autoptr (Clu) clu = yaml != NULL ? clu_load_yaml (yaml, lookup, NULL, NULL, NULL, &error) : NULL;
  if (clu == NULL) {
    fprintf (stderr, "%s: %s\n", name, error->message);
    exit (1);
  }
  double built = bench_now_s ();
  BaseRandom random = base_random_stream (1, "bench_cluster");
  guint64 n_uses = 0;
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  for (guint32 i = 0; i < n_routes; i++) {
    CluDev a = clu_gpu (clu, base_random_below (&random, clu_n_gpus (clu))),
           b = clu_gpu (clu, base_random_below (&random, clu_n_gpus (clu)));
    if (!clu_route_find (clu, a, b, &CLU_ROUTE_DEFAULT, &route, &error)) {
      fprintf (stderr, "%s: %s\n", name, error->message);
      exit (1);
    }
    n_uses += route.uses->len;
  }
  double routed = bench_now_s ();
  printf ("%-16s %7u GPUs  %9u devices  %9u links  build %7.3f s  peak %6.0f MB  %8.0f routes/s  %5.1f uses each\n", name,
          clu_n_gpus (clu), clu_n_devices (clu), clu_n_links (clu), built - start, bench_peak_B () / 1e6,
          n_routes / (routed - built), (double)n_uses / n_routes);
}

int
main (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    bench (rows[i].name, rows[i].fabric, 16384, 1000000);
  return 0;
}
