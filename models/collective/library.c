/* Names of launch modes and hops; what NCCL's variables make of the constants. */
#include "models/library.h"

#include <math.h>

#include "models/library-spec.h"
#include "models/tuner.h"

const BaseName mdl_launch_names[] = {
  { "graph", MDL_LAUNCH_GRAPH, "replayed from a CUDA graph: no launch cost" },
  { "threads", MDL_LAUNCH_THREADS, "one thread or process per GPU, plain launches" },
  { "serial", MDL_LAUNCH_SERIAL, "one thread launches on all GPUs of a node, one after another" },
  { "registered", MDL_LAUNCH_REGISTERED, "as graph, on buffers of ncclMemAlloc, which NCCL then registers (nccl-tests -G)" },
  { NULL, 0, NULL },
};

gboolean
mdl_launch_replays (MdlLaunch launch)
{
  return launch == MDL_LAUNCH_GRAPH || launch == MDL_LAUNCH_REGISTERED;
}

const struct MdlLinks *
mdl_library_links (const MdlLibrary *library)
{
  return library->links;
}

const char *
mdl_library_version (const MdlLibrary *library)
{
  return library->version;
}

static void
scale (BaseNum *num, double factor)
{
  if (!num->set || factor == 1.0)
    return;
  num->v *= factor;
  num->source = MIN (num->source, BASE_SOURCE_ASSUMED);
}

/* All that one block moves by a protocol. Sends and receives run all threads that there are, whatever was told; so do trees from
 * NCCL 2.22 on. */
static void
scale_blocks (MdlLibrary *library, MdlProto proto, double factor)
{
  gboolean trees = library->tuner != NULL && library->tuner->tree_threads.v <= 0.0;
  for (unsigned hop = 0; hop < MDL_HOP_N; hop++) {
    scale (&library->ring.hop[hop].at[proto].rate, factor);
    if (trees)
      scale (&library->tree.hop[hop].at[proto].rate, factor);
  }
  scale (&library->ring.chain.rate.at[proto], factor);
  if (trees) {
    scale (&library->tree.stream.at[proto], factor);
    scale (&library->tree.end_stream.at[proto], factor);
  }
}

static void
take_threads (MdlLibrary *library, MdlProto proto, unsigned threads)
{
  MdlProtocol *format = &library->protocols.at[proto];
  if (threads == 0 || !format->threads.set || format->threads.v <= 0.0)
    return;
  scale_blocks (library, proto, threads / format->threads.v);
  format->threads.v = threads;
  format->min_threads.v = MIN (format->min_threads.v, threads);
}

MdlLibrary *
mdl_library_with (const MdlLibrary *library, const MdlLibraryEnv *env)
{
  MdlLibrary *out = g_memdup2 (library, sizeof *library);
  take_threads (out, MDL_PROTO_LL, env->threads);
  take_threads (out, MDL_PROTO_SIMPLE, env->threads);
  take_threads (out, MDL_PROTO_LL128, env->ll128_threads);
  MdlProtocol *simple = &out->protocols.at[MDL_PROTO_SIMPLE];
  if (env->buffer_B > 0.0 && simple->slot.v > 0.0 && out->channels.steps.v > 0.0) {
    double factor = env->buffer_B / (out->channels.steps.v * simple->slot.v);
    simple->slot.v *= factor;
    simple->ring_chunk.v *= factor;
    BaseNum *const chunks[] = { &out->pairwise.chunk, &out->pairwise.path_chunk, &out->pairwise.net_chunk };
    for (unsigned i = 0; i < G_N_ELEMENTS (chunks); i++)
      chunks[i]->v = fmin (chunks[i]->v, simple->slot.v);
  }
  if (env->net_channels > 0) {
    out->pairwise.net_channels = (BaseNum){ .set = TRUE, .v = env->net_channels, .source = BASE_SOURCE_DATASHEET };
    out->pairwise.net_share.set = FALSE;
    out->pairwise.peer_rate.set = FALSE;
  }
  return out;
}

const struct MdlTunerSpec *
mdl_library_tuner (const MdlLibrary *library)
{
  return library->tuner;
}

static const MdlPlugin *
plugin_of (const MdlLibrary *library, const char *link_class)
{
  for (unsigned i = 0; i < library->plugins.n; i++) {
    const MdlPlugin *plugin = BASE_LIST_AT (library->plugins, MdlPlugin, i);
    if (g_strcmp0 (plugin->link_class.v, link_class) == 0)
      return plugin;
  }
  return NULL;
}

gboolean
mdl_library_plugged (const MdlLibrary *library, const char *link_class)
{
  return plugin_of (library, link_class) != NULL;
}

/* Communicators. T = first + local first_per_gpu + (count - 1) local per_gpu, and where they span nodes count (network + ranks
 * per_rank). ncclCommInitRank gathers what each rank knows around a ring of sockets (NCCL src/bootstrap.cc), searches graphs and
 * connects. Constants: calibrate/defaults. Check: test_models_op. */
double
mdl_create_s (const MdlLibrary *library, unsigned count, unsigned ranks, unsigned local, unsigned nodes, BaseSource *source)
{
  const MdlCreateSpec *spec = &library->create;
  if (count == 0 || ranks < 2)
    return 0.0;
  double n = count, time_s = spec->first.v + local * spec->first_per_gpu.v + (n - 1.0) * local * spec->per_gpu.v;
  BaseSource weakest = MIN (spec->first.source, MIN (spec->first_per_gpu.source, spec->per_gpu.source));
  if (nodes > 1) {
    time_s += n * (spec->network.v + ranks * spec->per_rank.v);
    weakest = MIN (weakest, MIN (spec->network.source, spec->per_rank.source));
  }
  if (source != NULL)
    *source = weakest;
  return time_s;
}

gboolean
mdl_library_groups (const MdlLibrary *library, const char *link_class)
{
  const MdlPlugin *plugin = plugin_of (library, link_class);
  return plugin != NULL && plugin->groups.v;
}

double
mdl_library_tuner_latency_s (const MdlLibrary *library, const char *link_class)
{
  const MdlPlugin *plugin = plugin_of (library, link_class);
  return plugin != NULL && plugin->tuner_latency.set ? plugin->tuner_latency.v : 0.0;
}

const struct MdlTunerRegions *
mdl_library_regions (const MdlLibrary *library, const char *link_class)
{
  const MdlPlugin *plugin = plugin_of (library, link_class);
  return plugin != NULL ? plugin->tuner.value : NULL;
}
