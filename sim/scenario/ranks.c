#include "scenario/ranks.h"

#include <string.h>

#include "base/yaml.h"
#include "collective/gpu.h"

static void
warn_all (const ScnHost *host, const BaseDiag *diag)
{
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    g_ptr_array_add (host->warnings, g_strdup (base_diag_warning (diag, i)));
}

/* ---- the cluster ---- */

/* "topology.node.nics.rate=…", as a scenario writes it, addresses the same key as "node.nics.rate=…". Returned: full, borrowed
 * texts. */
static GPtrArray *
topology_sets (const char *const *sets)
{
  GPtrArray *without = g_ptr_array_new ();
  for (; sets != NULL && *sets != NULL; sets++)
    g_ptr_array_add (without, (char *)*sets + (g_str_has_prefix (*sets, "topology.") ? strlen ("topology.") : 0));
  g_ptr_array_add (without, NULL);
  return without;
}

Clu *
scn_cluster_load (const ScnHost *host, const char *topology, const char *const *sets, guint32 nodes, guint64 seed, GError **error)
{
  g_autoptr (GPtrArray) without = topology_sets (sets);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const CluLoadOptions options = { .nodes = nodes, .seed = seed, .inputs = host->inputs };
  Clu *clu = clu_load (topology, NULL, host->lookup, (const char *const *)without->pdata, &options, diag, error);
  warn_all (host, diag);
  return clu;
}

/* What is asked for stands on the machine as its file says, and on a larger one only where the file's is too small. */
static Clu *
load_cluster (const ScnHost *host, const ScnRanksQuery *query, guint32 nodes, GError **error)
{
  Clu *clu = scn_cluster_load (host, query->topology, query->sets, 0, query->settings->seed, error);
  if (clu == NULL || nodes <= clu_n_nodes (clu))
    return clu;
  clu_free (clu);
  return scn_cluster_load (host, query->topology, query->sets, nodes, query->settings->seed, error);
}

/* ---- ranks ---- */

static gboolean
list_ranks (const ScnRanksQuery *query, ScnRanks *ranks, GError **error)
{
  g_autoptr (GArray) gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 first = 0;
  for (guint32 node = 0; node < ranks->n_nodes; node++) {
    guint32 has = clu_gpus_per_node (ranks->clu, node), used = query->gpus != 0 ? query->gpus : has;
    if (used > has)
      return base_fail_at (error, BASE_MARK_NONE, "%s-g %u is more than node %u of %s has; 1 to %u is accepted", query->who, used,
                           node, clu_name (ranks->clu), has);
    for (guint32 gpu = first; gpu < first + used; gpu++)
      g_array_append_val (gpus, gpu);
    ranks->gpus_per_node = MAX (ranks->gpus_per_node, used);
    first += has;
  }
  ranks->n = gpus->len;
  ranks->gpus = (guint32 *)(gpointer)g_array_free (g_steal_pointer (&gpus), FALSE);
  return query->root < ranks->n ||
         base_fail_at (error, BASE_MARK_NONE, "%s--root %u is not one of the %u ranks; 0 to %u is accepted", query->who,
                       query->root, ranks->n, ranks->n - 1);
}

gboolean
scn_library_lay (const MdlLibrary *library, Clu *clu, ColSettings *settings, MdlLibrary **own, GError **error)
{
  *own = col_nccl_library (clu, library, settings);
  const struct MdlLinks *links = mdl_library_links (library);
  return links == NULL || clu_links_set (clu, links, error);
}

static gboolean
load_library (const ScnHost *host, const ScnRanksQuery *query, ScnRanks *ranks, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const guint32 n = clu_n_gpus (ranks->clu), node = col_gpu_slowest (ranks->clu, NULL, n);
  const CluGpuSpec *gpu = clu_gpu_spec (ranks->clu, n > 0 ? node : 0);
  const MdlLibraryQuery constants = { .name = query->calibration,
                                      .gpu_type = gpu != NULL ? gpu->name.v : NULL,
                                      .nccl = ranks->settings.nccl_version,
                                      .inputs = host->inputs,
                                      .warnings = diag };
  const MdlLibrary *library = host->load (host->user, &constants, error);
  col_nccl_warn (&ranks->settings, diag);
  warn_all (host, diag);
  if (library == NULL) {
    col_nccl_tell_place (&ranks->settings, error);
    return FALSE;
  }
  return scn_library_lay (library, ranks->clu, &ranks->settings, &ranks->library, error);
}

/* Who changes the network and sees no difference should hear why. */
static void
warn_local (const ScnHost *host, const ScnRanksQuery *query, const ScnRanks *ranks)
{
  static const char *const network[] = { "nics", "fabric", "frontend", "oversubscription" };
  for (const char *const *set = query->sets; set != NULL && *set != NULL && col_comm_is_local (ranks->comm); set++) {
    g_autofree char *path = g_strndup (*set, strcspn (*set, "="));
    g_auto (GStrv) keys = g_strsplit (path, ".", -1);
    gboolean is_network = FALSE;
    for (size_t i = 0; i < G_N_ELEMENTS (network); i++)
      is_network = is_network || g_strv_contains ((const char *const *)keys, network[i]);
    if (is_network)
      g_ptr_array_add (host->warnings, g_strdup_printf ("--set %s cannot matter: this collective never leaves %s", path,
                                                        ranks->n_nodes == 1 ? "a node" : "an NVLink domain"));
  }
}

gboolean
scn_ranks_open (const ScnHost *host, const ScnRanksQuery *query, guint32 nodes, ScnRanks *out, GError **error)
{
  out->clu = load_cluster (host, query, nodes, error);
  if (out->clu == NULL)
    return FALSE;
  out->n_nodes = nodes != 0 ? nodes : clu_n_nodes (out->clu);
  out->settings = *query->settings;
  if (!list_ranks (query, out, error) || (!query->plain && !load_library (host, query, out, error)))
    return FALSE;
  out->comm = col_comm_new (out->clu, &out->settings, out->gpus, out->n, error);
  if (out->comm == NULL)
    return FALSE;
  warn_local (host, query, out);
  return TRUE;
}

void
scn_ranks_clear (ScnRanks *ranks)
{
  g_clear_pointer (&ranks->comm, col_comm_free);
  g_clear_pointer (&ranks->library, g_free);
  g_clear_pointer (&ranks->gpus, g_free);
  g_clear_pointer (&ranks->clu, clu_free);
}
