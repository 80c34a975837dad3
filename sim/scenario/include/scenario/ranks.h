/* Ranks that are asked for without a scenario file: a topology by its name, GPUs of its nodes, and the library that serves them. */
#ifndef SCENARIO_RANKS_H
#define SCENARIO_RANKS_H

#include "scenario/scenario.h"

/* Where what is asked for is found, and what was read and is to be said, also of what then fails. All borrowed. */
typedef struct {
  const BaseLookup *lookup;
  ScnLibraryLoad load;
  void *user;          /* of `load` */
  GPtrArray *inputs;   /* BaseYaml *, full: files that were read are appended */
  GPtrArray *warnings; /* char *, full: likewise */
} ScnHost;

/* A cluster by name or path. `sets`: "path=value", with or without "topology." before the path, ends with NULL; NULL: none.
 * `nodes` 0: as many as the file says. Returned: full; NULL and *error on failure. */
Clu *scn_cluster_load (const ScnHost *host, const char *topology, const char *const *sets, guint32 nodes, guint64 seed,
                       GError **error);

/* Has a library serve a cluster: *own, full (g_free), is what settings->library points to, NCCL's variables of `settings` laid over
 * it; links get the rates that were measured. FALSE and *error on failure, *own is set then too. */
gboolean scn_library_lay (const MdlLibrary *library, Clu *clu, ColSettings *settings, MdlLibrary **own, GError **error);

typedef struct {
  const char *topology;
  const char *const *sets;     /* as of scn_cluster_load */
  guint32 gpus;                /* of each node; 0: all */
  guint32 root;                /* has to be one of the ranks */
  gboolean plain;              /* no library: alpha and beta of the links alone */
  const char *calibration;     /* NULL: the one that is named like the GPU */
  const ColSettings *settings; /* without its library; the cluster is built with its seed */
  const char *who;             /* what messages about flags begin with: "forerun coll: " */
} ScnRanksQuery;

/* Ranks on their cluster. */
typedef struct {
  Clu *clu;
  ColSettings settings;
  MdlLibrary *library; /* what settings.library points to; NULL: the plain one */
  guint32 *gpus;       /* global GPU of each rank */
  guint32 n;
  guint32 n_nodes, gpus_per_node;
  ColComm *comm;
} ScnRanks;

/* The first GPUs of each of `nodes` nodes (0: all of the topology; more than it has are built) and their communicator. The library
 * belongs to the host. Initialise *out with zeroes; scn_ranks_clear after it, also on failure. */
gboolean scn_ranks_open (const ScnHost *host, const ScnRanksQuery *query, guint32 nodes, ScnRanks *out, GError **error);
void scn_ranks_clear (ScnRanks *ranks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScnRanks, scn_ranks_clear)

/* ---- message sizes, as nccl-tests' -b -e -f -i say them ---- */

#define SCN_MAX_ROWS 10000u

typedef struct {
  guint64 min_B, max_B, step; /* step: a factor of at least 2, or bytes */
  gboolean is_factor;
} ScnSizes;

/* The size that is run when `size_B` is asked for: whole elements, and for all_gather, reduce_scatter and alltoall whole 16-byte
 * pieces for each rank, as nccl-tests rounds (src/all_gather.cu, AllGatherGetCollByteCount); sizes below one such piece a rank
 * keep their elements, where nccl-tests would go down to 0. */
guint64 scn_size_round (MdlOp op, guint64 size_B, unsigned element_B, guint32 n_ranks);
/* How many sizes there are before they are rounded. */
guint64 scn_sizes_count (const ScnSizes *sizes);
/* All sizes, rounded, equal neighbours once. Returned: full, of guint64. */
GArray *scn_sizes_list (const ScnSizes *sizes, MdlOp op, unsigned element_B, guint32 n_ranks);

#endif
