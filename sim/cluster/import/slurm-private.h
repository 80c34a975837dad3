/* What Slurm's topology files have in common, whatever they are written in. */
#ifndef CLUSTER_IMPORT_SLURM_PRIVATE_H
#define CLUSTER_IMPORT_SLURM_PRIVATE_H

#include "base/diag.h"
#include "cluster/import.h"

/* A switch or a block. */
typedef struct {
  char *name;
  BaseMark mark;
  gboolean is_block;
  GPtrArray *nodes, *children; /* char *; NULL: the file says none */
  BaseMark members;
  guint first, n_below; /* of the leaf's nodes, in the order of leaves; nodes below */
  gboolean has_parent, seen;
} CluSlurmEntry;

/* The key `node` of the topology that each node is like, with its lines as they stand there. Returned: full; NULL and *error. */
char *clu_slurm_node_of (const CluSlurmLike *like, BaseMark mark, GError **error);

void clu_slurm_entry_free (gpointer entry);

/* Appends the entries of a topology.conf. *link_speed becomes TRUE where one is given. FALSE and *error on anything wrong. */
gboolean clu_slurm_read_conf (const char *path, const char *text, GPtrArray *entries, gboolean *link_speed, GError **error);
/* Slurm's way to write names into *out (full, char *). FALSE and *error at `mark`, further right by the character that is wrong. */
gboolean clu_slurm_take_list (BaseMark mark, const char *text, GPtrArray **out, GError **error);

/* Whether the bytes are topology.yaml's: a list, where topology.conf has KEY=VALUE. */
gboolean clu_slurm_is_yaml (const char *path, const char *text);
/* Appends the entries (CluSlurmEntry, owned by the array) of one topology of the file: that named `only`, or (NULL) the first with
 * `cluster_default: true`, or the first. Says in `warnings` which others there are. FALSE and *error on anything wrong. */
gboolean clu_slurm_read_yaml (const char *path, const char *text, const char *only, GPtrArray *entries, BaseDiag *warnings,
                              GError **error);

#endif
