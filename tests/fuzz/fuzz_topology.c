/* Any text as a topology: it loads or is refused, and what loads can be asked for routes, names and its bisection. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cluster/route.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
query (const Clu *clu, BaseRandom *random)
{
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  for (int i = 0; i < 16; i++) {
    CluDev a = base_random_below (random, clu_n_devices (clu)), b = base_random_below (random, clu_n_devices (clu));
    CluRouteOptions options = { .nic = i % 4 == 3 ? base_random_below (random, 9) : CLU_NONE,
                                .flow = base_random_below (random, 3) };
    guint32 bits = base_random_u32 (random);
    options.degrade = (CluDegrade){ .no_p2p = bits & 1,
                                    .no_nvlink = bits >> 1 & 1,
                                    .no_gdr = bits >> 2 & 1,
                                    .remote_numa = bits >> 3 & 1,
                                    .max_nics = bits >> 4 & 3 };
    g_autoptr (GError) error = NULL;
    double rate;
    if (clu_route_find (clu, a, b, &options, &route, &error))
      clu_route_bottleneck (clu, &route, &rate);
    g_autofree char *name = clu_dev_name (clu, a);
    g_clear_error (&error);
    if (clu_find (clu, name, &error) != a)
      abort (); /* what is printed is read back */
    if (clu_n_resources (clu) > 0)
      g_free (clu_resource_name (clu, base_random_below (random, clu_n_resources (clu))));
  }
  if (clu_n_links (clu) < 100000)
    clu_bisection_Bps (clu);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_data ("fuzz.yaml", (const char *)data, size, &error);
  if (yaml == NULL)
    return 0;
  CluLoadOptions options = { .nodes = size % 3 == 0 ? 4 : 0 };
  g_autoptr (BaseLookup) lookup = base_lookup_new ("/nonexistent"); /* nothing is shipped: names are refused */
  g_autoptr (Clu) clu = clu_load_yaml (yaml, lookup, NULL, &options, NULL, &error);
  if ((clu == NULL) == (error == NULL))
    abort ();
  if (clu != NULL) {
    BaseRandom random = base_random_stream (size, "fuzz_topology");
    query (clu, &random);
  }
  return 0;
}
