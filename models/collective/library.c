/* Names of launch modes and hops; what NCCL's variables make of the constants. */
#include "models/library.h"

#include <math.h>

#include "models/library-spec.h"
#include "models/links.h"
#include "models/tuner.h"

const BaseName mdl_launch_names[] = {
  { "graph", MDL_LAUNCH_GRAPH, "replayed from a CUDA graph: no launch cost" },
  { "threads", MDL_LAUNCH_THREADS, "one thread or process per GPU, plain launches" },
  { "serial", MDL_LAUNCH_SERIAL, "one thread launches on all GPUs of a node, one after another" },
  { "registered", MDL_LAUNCH_REGISTERED, "as graph, on buffers of ncclMemAlloc, which NCCL then registers (nccl-tests -G)" },
  { NULL, 0, NULL },
};

const BaseName mdl_buffers_names[] = {
  { "plain", MDL_BUFFERS_PLAIN, "NCCL knows nothing of them" },
  { "registered", MDL_BUFFERS_REGISTERED,
    "registered with the communicator (ncclCommRegister): Simple stores straight into the peer's buffer" },
  { "symmetric", MDL_BUFFERS_SYMMETRIC,
    "in windows of symmetric memory: NCCL's kernels for these serve all-reduce, all-gather and reduce-scatter where they can" },
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
mdl_library_name (const MdlLibrary *library)
{
  return library->name.v;
}

const char *
mdl_library_version (const MdlLibrary *library)
{
  return library->version;
}

MdlHostThreads
mdl_library_cpu (const MdlLibrary *library)
{
  const MdlCopySpec *tcp = library->links != NULL ? &library->links->copies.at[MDL_COPY_TCP] : NULL;
  return (MdlHostThreads){ .core_Bps = tcp != NULL && tcp->rate.set ? tcp->rate.v : 0,
                           .post_B = library->protocols.at[MDL_PROTO_SIMPLE].slot.v,
                           .post_s = library->pairwise.post.v + library->cpu.turn.v,
                           .turn_s = library->cpu.turn.v };
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

/* More connections of a channel over TCP, each with a share of its bytes. */
static void
take_sockets (MdlLibrary *library, unsigned sockets)
{
  if (sockets < 2)
    return;
  double factor = 1 + library->cpu.socket_gain.v * log2 (sockets);
  for (MdlProto proto = MDL_PROTO_LL; proto < MDL_PROTO_N; proto++) {
    scale (&library->ring.hop[MDL_HOP_TCP].at[proto].rate, factor);
    scale (&library->tree.hop[MDL_HOP_TCP].at[proto].rate, factor);
    scale (&library->pairwise.hop[MDL_HOP_TCP].at[proto].rate, factor);
  }
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
  take_sockets (out, env->sockets);
  if (env->net_channels > 0) {
    out->pairwise.net_channels = (BaseNum){ .set = TRUE, .v = env->net_channels, .source = BASE_SOURCE_DATASHEET };
    out->pairwise.net_share.set = FALSE;
    out->pairwise.peer_rate.set = FALSE;
  }
  return out;
}

const struct MdlMoeSpec *
mdl_library_moe (const MdlLibrary *library)
{
  return library->moe;
}

const struct MdlTunerSpec *
mdl_library_tuner (const MdlLibrary *library)
{
  return library->tuner;
}

const MdlPlugin *
mdl_plugin_of (const MdlLibrary *library, const char *link_class)
{
  for (unsigned i = library->plugins.n; i-- > 0;) {
    const MdlPlugin *plugin = BASE_LIST_AT (library->plugins, MdlPlugin, i);
    if (!plugin->off.v && g_strcmp0 (plugin->link_class.v, link_class) == 0)
      return plugin;
  }
  return NULL;
}

double
mdl_library_buffer_B (const MdlLibrary *library, const char *link_class)
{
  const MdlPlugin *plugin = mdl_plugin_of (library, link_class);
  return plugin != NULL && plugin->buffer.set ? plugin->buffer.v : 0.0;
}

gboolean
mdl_library_plugged (const MdlLibrary *library, const char *link_class)
{
  return mdl_plugin_of (library, link_class) != NULL;
}

static void
use (const BaseNum *num, BaseSource *source)
{
  if (num->set)
    *source = MIN (*source, num->source);
}

/* Communicators. With p the ranks of a node, n all ranks, and c communicators,
 *     T = first + p first_per_gpu + (c - 1) p per_gpu + c p connect
 *         + where they span nodes c (network + n per_rank + n^2 per_pair + connect_network)
 * ncclCommInitRank gathers what each rank knows around a ring of sockets, n - 1 steps one after another, several times (NCCL
 * src/bootstrap.cc); each rank then looks through all pairs of ranks (src/init.cc:initTransportsRank, src/graph/rings.cc). Until
 * NCCL 2.21 it also connects the channels of all algorithms; from 2.22 on the first use of an algorithm connects its own
 * (NCCL_RUNTIME_CONNECT). Constants: calibrate/defaults. Check: test_models_coll. */
void
mdl_create_time (const MdlLibrary *library, const MdlCreateQuestion *q, MdlCreateTime *out)
{
  const MdlCreateSpec *spec = &library->create;
  gboolean eager = library->tuner != NULL && library->tuner->connects_all.v > 0.0;
  const BaseNum *connect = eager ? &spec->connect_all : &spec->connect;
  double n = q->ranks, local = q->local, wired_s = local * connect->v, each_s = 0.0;
  *out = (MdlCreateTime){ .source = BASE_SOURCE_N - 1 };
  if (q->count == 0 || q->ranks < 2)
    return;
  const BaseNum *const used[] = { &spec->first, &spec->first_per_gpu, &spec->per_gpu, connect };
  for (unsigned i = q->again ? 2 : 0; i < G_N_ELEMENTS (used); i++)
    use (used[i], &out->source);
  if (q->nodes > 1) {
    const BaseNum *const far[] = { &spec->network, &spec->per_rank, &spec->per_pair, &spec->connect_network };
    for (unsigned i = 0; i < G_N_ELEMENTS (far); i++)
      use (far[i], &out->source);
    each_s = spec->network.v + n * spec->per_rank.v + n * n * spec->per_pair.v;
    wired_s += spec->connect_network.v;
  }
  double first_s = q->again ? local * spec->per_gpu.v : spec->first.v + local * spec->first_per_gpu.v;
  out->time_s = first_s + (q->count - 1.0) * local * spec->per_gpu.v + q->count * (each_s + wired_s);
  out->connect_s = eager ? 0.0 : q->count * wired_s;
}

gboolean
mdl_library_is_hierarchical (const MdlLibrary *library)
{
  return library->hierarchical.between.set;
}

gboolean
mdl_library_groups (const MdlLibrary *library, const char *link_class)
{
  const MdlPlugin *plugin = mdl_plugin_of (library, link_class);
  return plugin != NULL && plugin->groups.v;
}

double
mdl_library_tuner_latency_s (const MdlLibrary *library, const char *link_class)
{
  const MdlPlugin *plugin = mdl_plugin_of (library, link_class);
  return plugin != NULL && plugin->tuner_latency.set ? plugin->tuner_latency.v : 0.0;
}

const struct MdlTunerRegions *
mdl_library_regions (const MdlLibrary *library, const char *link_class, unsigned compute_capability)
{
  const MdlPlugin *plugin = mdl_plugin_of (library, link_class);
  if (plugin == NULL)
    return NULL;
  return compute_capability >= 103 && plugin->tuner_from_103.value != NULL ? plugin->tuner_from_103.value : plugin->tuner.value;
}
