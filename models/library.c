/* Names of launch modes and hops. */
#include "models/library.h"

#include "models/library-spec.h"

const BaseName mdl_launch_names[] = {
  { "graph", MDL_LAUNCH_GRAPH, "replayed from a CUDA graph: no launch cost" },
  { "threads", MDL_LAUNCH_THREADS, "one thread or process a GPU, plain launches" },
  { "serial", MDL_LAUNCH_SERIAL, "one thread launches on all GPUs of a node in turn" },
  { NULL, 0, NULL },
};

const char *
mdl_hop_name (MdlHop hop)
{
  static const char *const name[MDL_HOP_N] = {
    [MDL_HOP_NVLINK] = "nvlink", [MDL_HOP_PCIE] = "pcie",         [MDL_HOP_HOST] = "host",
    [MDL_HOP_NET] = "net",       [MDL_HOP_NET_HOST] = "net_host", [MDL_HOP_TCP] = "tcp",
  };
  return hop < MDL_HOP_N ? name[hop] : "?";
}

const struct MdlTunerSpec *
mdl_library_tuner (const MdlLibrary *library)
{
  return library->tuner;
}

gboolean
mdl_library_groups (const MdlLibrary *library, const char *link_class)
{
  for (unsigned i = 0; i < library->plugins.n; i++) {
    const MdlPlugin *plugin = BASE_LIST_AT (library->plugins, MdlPlugin, i);
    if (g_strcmp0 (plugin->link_class.v, link_class) == 0)
      return plugin->groups.v;
  }
  return FALSE;
}
