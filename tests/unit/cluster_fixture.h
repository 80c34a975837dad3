/* Small clusters from text, and their routes by name, for the tests of sim/cluster. */
#ifndef TEST_CLUSTER_FIXTURE_H
#define TEST_CLUSTER_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/route.h"
#include "harness.h"

/* Types written in place, with figures for sums by hand: NVLink 18 x 25 GB/s, 200 ns; NIC 50 GB/s, 500 ns, PCIe x16 of 63 GB/s,
 * 100 ns. */
#define T_GPU                                                                                                            \
  "{gpu: g, scale_up: {class: {link_class: nv, family: nvlink, lane_rate: 25 GB/s, latency: 200 ns}, lanes: 18}, pcie: " \
  "{class: pcie5}}"
#define T_NIC \
  "{nic: n, port: {class: {link_class: wire, family: infiniband, lane_rate: 50 GB/s, latency: 500 ns}}, pcie: {class: pcie5}}"
/* Eight GPUs behind a switch, two GPUs and two NICs a PCIe switch, two sockets. */
#define T_HGX                                                                                 \
  "  gpus: {type: " T_GPU ", count: 8}\n"                                                     \
  "  nvlink: {switches: 4}\n"                                                                 \
  "  pcie: {generation: 5, lanes: 16, switch_per: 2, under_switch: [nics]}\n"                 \
  "  sockets: {count: 2, memory: 300 GB/s, interconnect: {rate: 62 GB/s, latency: 130 ns}}\n" \
  "  nics: {type: " T_NIC ", count: 8}\n"
/* One GPU and one NIC a node: fabrics are easier to see. */
#define T_THIN \
  "  gpus: {type: " T_GPU ", count: 1}\n  pcie: {switch_per: 1, under_switch: [nics]}\n  nics: {type: " T_NIC ", count: 1}\n"

static inline BaseLookup *
fixture_lookup (void)
{
  return base_lookup_new (TEST_SOURCE_DIR "/tests/data/cluster");
}

static inline Clu *
try_load_with (const char *text, const char *const *sets, const CluLoadOptions *options, BaseDiag *warnings, char **message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = fixture_lookup ();
  BaseYaml *yaml = base_yaml_load_data ("t.yaml", text, strlen (text), &error);
  Clu *clu = yaml != NULL ? clu_load_yaml (yaml, lookup, sets, options, warnings, &error) : NULL;
  if ((clu == NULL) == (error == NULL))
    CU_FAIL ("a cluster or an error, not both and not neither");
  if (error != NULL && !g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT))
    CU_FAIL ("input errors are BASE_ERROR_INPUT");
  *message = error != NULL ? g_strdup (error->message) : NULL;
  return clu;
}

/* A cluster that must load; the test ends with the reason when it does not. */
static inline Clu *
load (const char *text)
{
  char *message;
  Clu *clu = try_load_with (text, NULL, NULL, NULL, &message);
  if (clu == NULL)
    g_error ("%s\n%s", text, message);
  return clu;
}

/* What is said of a topology that must not load. */
static inline char *
refused (const char *text)
{
  char *message;
  Clu *clu = try_load_with (text, NULL, NULL, NULL, &message);
  clu_free (clu);
  return message;
}

/* The route between two devices by name, in a CluRoute initialised here. NULL: it exists; else the error. */
static inline char *
route_with (const Clu *clu, const char *from, const char *to, const CluRouteOptions *options, CluRoute *out)
{
  g_autoptr (GError) error = NULL;
  clu_route_init (out);
  CluDev a = clu_find (clu, from, &error), b = error == NULL ? clu_find (clu, to, &error) : CLU_NONE;
  if (error != NULL)
    g_error ("%s", error->message);
  if (clu_route_find (clu, a, b, options, out, &error))
    return NULL;
  return g_strdup (error->message);
}

/* The same where it must exist. */
static inline void
route_by (const Clu *clu, const char *from, const char *to, const CluRouteOptions *options, CluRoute *out)
{
  g_autofree char *message = route_with (clu, from, to, options, out);
  if (message != NULL)
    g_error ("%s", message);
}

static inline void
route (const Clu *clu, const char *from, const char *to, CluRoute *out)
{
  route_by (clu, from, to, &CLU_ROUTE_DEFAULT, out);
}

/* Share of a resource on a route by its name; 0 when it is not there. */
static inline double
share_of (const Clu *clu, const CluRoute *r, const char *name)
{
  for (guint i = 0; i < r->uses->len; i++) {
    const CluUse *use = &g_array_index (r->uses, CluUse, i);
    g_autofree char *own = clu_resource_name (clu, use->res);
    if (strcmp (own, name) == 0)
      return use->share;
  }
  return 0;
}

/* The hops as "a > b > c", own resources in brackets. Returned: full. */
static inline char *
way (const Clu *clu, const CluRoute *r)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < r->hops->len; i++) {
    const CluHop *hop = &g_array_index (r->hops, CluHop, i);
    g_autofree char *from = clu_dev_name (clu, hop->from), *to = clu_dev_name (clu, hop->to);
    if (i == 0)
      g_string_append (text, from);
    if (hop->link == CLU_NONE)
      g_string_append_printf (text, " [%s]", to);
    else
      g_string_append_printf (text, " > %s", to);
  }
  return g_string_free (text, FALSE);
}

/* The rate that a route reaches alone, and the name of what bounds it. */
static inline double
rate_of (const Clu *clu, const CluRoute *r, char **name)
{
  double rate;
  guint32 i = clu_route_bottleneck (clu, r, &rate);
  if (name != NULL)
    *name = i == CLU_NONE ? NULL : clu_resource_name (clu, g_array_index (r->uses, CluUse, i).res);
  return rate;
}

#endif
