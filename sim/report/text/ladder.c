/* The bandwidth ladder of a machine: what a GPU reads from its own caches down to storage, each rung with rate and latency. */
#include <math.h>
#include <string.h>

#include "cluster/storage.h"
#include "json-private.h"
#include "models/kernel-spec.h"
#include "report/envelope.h"
#include "report/topo.h"

typedef struct {
  const char *level; /* static */
  char *between;     /* owned */
  const char *link_class;
  double rate_Bps, latency_s; /* NAN: not known */
  double slower;              /* than the GPU's memory */
  BaseSource source;
} Rung;

#define RUNG(...) BASE_MEMBER (Rung, __VA_ARGS__)
static const BaseMember members[] = {
  RUNG ("level", level, .title = "level"),
  RUNG ("between", between, .title = "between"),
  RUNG ("link_class", link_class, .title = "bottleneck"),
  RUNG ("rate_Bps", rate_Bps, BASE_SHOWN ("rate (GB/s)", 1e-9, "%.4g")), /* decades apart: digits count, not decimals */
  RUNG ("latency_s", latency_s, BASE_SHOWN ("latency (us)", 1e6, "%.4g")),
  RUNG ("slower", slower, BASE_SHOWN ("HBM / rate", 1, "%.3g")),
  RUNG ("source", source, .title = "source", .names = base_source_names, .rank = 1),
  BASE_MEMBER_END,
};

static void
rung_clear (gpointer data)
{
  g_free (((Rung *)data)->between);
}

/* By the route from one device to the other; nothing where either is CLU_NONE or nothing joins them. `n`: equal ones together;
 * `more_s`: beside the route's latency. */
static void
add_route (GArray *rungs, const Clu *clu, const char *level, CluDev from, CluDev to, double n, double more_s)
{
  g_auto (CluRoute) route = { 0 };
  const CluRouteOptions options = CLU_ROUTE_DEFAULT;
  double rate_Bps;
  clu_route_init (&route);
  if (from == CLU_NONE || to == CLU_NONE || !clu_route_find (clu, from, to, &options, &route, NULL) || route.uses->len == 0)
    return;
  const CluRes slowest = g_array_index (route.uses, CluUse, clu_route_bottleneck (clu, &route, &rate_Bps)).res;
  g_autofree char *a = clu_dev_name (clu, from), *b = clu_dev_name (clu, to);
  const Rung rung = { .level = level,
                      .between = g_strdup_printf ("%s%s -> %s", a, n > 1 ? " and the others" : "", b),
                      .link_class = clu_resource_class (clu, slowest),
                      .rate_Bps = n * rate_Bps,
                      .latency_s = route.latency_s + more_s,
                      .source = clu_resource_source (clu, slowest) };
  g_array_append_val (rungs, rung);
}

/* What a GPU reads of its own memory; NAN: not known. */
static double
memory_Bps (const Clu *clu)
{
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  if (gpu == NULL || !gpu->memory_bandwidth.set)
    return (double)NAN;
  return gpu->memory_bandwidth.v * (gpu->memory_efficiency.set ? gpu->memory_efficiency.v : 1);
}

static void
add_gpu (GArray *rungs, const Clu *clu, const struct MdlKernels *kernels)
{
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  const double hbm_Bps = memory_Bps (clu);
  if (isnan (hbm_Bps))
    return;
  const BaseNum *l2 = kernels != NULL ? &kernels->memory.cache_rate : NULL;
  if (l2 != NULL && l2->set) {
    const Rung cache = { "L2 cache", g_strdup ("gpu0's SMs"), "l2", hbm_Bps * l2->v, (double)NAN, 0, l2->source };
    g_array_append_val (rungs, cache);
  }
  const Rung hbm = { "GPU memory",
                     g_strdup ("gpu0's SMs"),
                     "hbm",
                     hbm_Bps,
                     (double)NAN,
                     0,
                     gpu->memory_efficiency.set ? MIN (gpu->memory_bandwidth.source, gpu->memory_efficiency.source)
                                                : BASE_SOURCE_ASSUMED };
  g_array_append_val (rungs, hbm);
}

static void
add_host_memory (GArray *rungs, const Clu *clu)
{
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (CluUse));
  double rate_Bps = 0;
  clu_host_copy_uses (clu, 0, uses);
  for (guint i = 0; i < uses->len; i++)
    rate_Bps += clu_resource_capacity (clu, g_array_index (uses, CluUse, i).res);
  if (uses->len == 0)
    return;
  const CluRes first = g_array_index (uses, CluUse, 0).res;
  const Rung rung = { "host memory",
                      g_strdup ("node0's sockets"),
                      clu_resource_class (clu, first),
                      rate_Bps,
                      (double)NAN,
                      0,
                      clu_resource_source (clu, first) };
  g_array_append_val (rungs, rung);
}

/* The first GPU that gpu0 reaches over the network alone; CLU_NONE. */
static CluDev
far_gpu (const Clu *clu)
{
  for (guint32 node = 1; node < clu_n_nodes (clu); node++)
    if (clu_domain_of_node (clu, node) != clu_domain_of_node (clu, 0))
      return clu_node_device (clu, node, CLU_DEV_GPU, 0);
  return CLU_NONE;
}

static void
add_storage (GArray *rungs, const Clu *clu, CluDev host)
{
  const guint32 drives = clu_node_n (clu, 0, CLU_DEV_NVME);
  const CluDev drive = clu_node_device (clu, 0, CLU_DEV_NVME, 0);
  MdlTier tier;
  if (drives > 0 && clu_tier (clu, drive, &tier)) {
    const double wait_s = tier.type.side[MDL_IO_READ].latency.v;
    add_route (rungs, clu, "local drive", drive, host, 1, wait_s);
    if (drives > 1)
      add_route (rungs, clu, "all local drives", drive, host, drives, wait_s);
  }
  for (CluDev dev = 0; dev < clu_n_devices (clu); dev++)
    if (clu_dev_kind (clu, dev) == CLU_DEV_STORAGE && clu_tier (clu, dev, &tier))
      add_route (rungs, clu, "storage", dev, host, 1, tier.type.side[MDL_IO_READ].latency.v);
}

/* Returned: full, of Rung. */
static GArray *
rungs_of (const Clu *clu, const struct MdlKernels *kernels)
{
  GArray *rungs = g_array_new (FALSE, FALSE, sizeof (Rung));
  g_array_set_clear_func (rungs, rung_clear);
  const CluDev gpu = clu_node_device (clu, 0, CLU_DEV_GPU, 0), next = clu_node_device (clu, 0, CLU_DEV_GPU, 1),
               host = clu_node_device (clu, 0, CLU_DEV_MEMORY, 0);
  add_gpu (rungs, clu, kernels);
  add_route (rungs, clu, "GPU to GPU", gpu, next, 1, 0);
  add_route (rungs, clu, "host to GPU", host, gpu, 1, 0);
  add_host_memory (rungs, clu);
  add_route (rungs, clu, "GPU to GPU, network", gpu, far_gpu (clu), 1, 0);
  add_storage (rungs, clu, host);
  for (guint i = 0; i < rungs->len; i++)
    g_array_index (rungs, Rung, i).slower = memory_Bps (clu) / g_array_index (rungs, Rung, i).rate_Bps;
  return rungs;
}

BaseTable *
rep_ladder_table (const Clu *clu, const struct MdlKernels *kernels)
{
  g_autoptr (GArray) rungs = rungs_of (clu, kernels);
  return base_members_table (members, rungs);
}

void
rep_ladder_json (const Clu *clu, const struct MdlKernels *kernels, JsonBuilder *json)
{
  g_autoptr (GArray) rungs = rungs_of (clu, kernels);
  json_builder_begin_object (json);
  rep_json_text (json, "topology", clu_name (clu));
  json_builder_set_member_name (json, "ladder");
  json_builder_begin_array (json);
  for (guint i = 0; i < rungs->len; i++) {
    json_builder_begin_object (json);
    base_members_json (members, &g_array_index (rungs, Rung, i), json);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  json_builder_end_object (json);
}

void
rep_ladder_text (const Clu *clu, const struct MdlKernels *kernels, const char *header, GString *out)
{
  g_autoptr (GArray) rungs = rungs_of (clu, kernels);
  for (guint i = 0; i < rungs->len; i++) {
    const Rung *rung = &g_array_index (rungs, Rung, i);
    g_autofree char *rate = rep_quantity (rung->rate_Bps, BASE_DIM_BANDWIDTH);
    if (g_strcmp0 (rung->link_class, "hbm") == 0)
      g_string_append_printf (out, "A GPU of %s reads its own memory at %s", clu_name (clu), rate);
    else if (rung->latency_s > 0 && rung->slower > 1 && strstr (rung->level, "GPU") != NULL)
      g_string_append_printf (out, "; %s: %s, %.3g times less", rung->level, rate, rung->slower);
  }
  g_string_append (out, ".\n");
  if (clu_n_nodes (clu) > 1 && far_gpu (clu) == CLU_NONE)
    g_string_append_printf (out, "All %u nodes are in one NVLink domain: -n with more nodes shows the network.\n",
                            clu_n_nodes (clu));
  g_string_append_c (out, '\n');
  g_string_append (out, header);
  g_string_append (out, "# rates are one way, of one copy alone; latencies of the hardware, without software\n");
  rep_text (base_members_table (members, rungs), out);
}
