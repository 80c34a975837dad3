/* Fabrics: their kinds, and what the files of the kinds share. */
#ifndef CLUSTER_FABRIC_PRIVATE_H
#define CLUSTER_FABRIC_PRIVATE_H

#include "graph/path-private.h"

/* --- kinds.c */
#define CLU_FABRIC_EXTERN(constant, name, help) extern const CluFabricOps clu_fabric_##name;
CLU_FABRIC_KINDS (CLU_FABRIC_EXTERN)
/* By CluFabricKind; NULL for CLU_FABRIC_NONE. */
extern const CluFabricOps *const clu_fabric_kinds[];
/* What is wrong with the keys of `fabric`; errors go to the diag. */
void clu_fabric_check (CluLoader *loader, const CluSpec *spec);
/* Whether it is one of the keys that clu_fabric_check() holds against the kind. */
gboolean clu_fabric_knows_key (const char *key);
/* Whether adapters are on switches by the shape of this kind, so that storage can be attached to them too; else cables say it. */
gboolean clu_fabric_attaches (CluFabricKind kind);
char *clu_fabric_attaching_kinds (void); /* "fat_tree, torus"; full */
/* Builds the shape; errors to the diag. `wire`: the NIC's cable; NULL without NICs. */
void clu_fabric_build (CluLoader *loader, const CluParams *wire);

/* --- cables.c */
/* A cable between two switches: the NIC's wire, what `link` and `fabric.link` differ, and half of each end's crossing. `link`
 * may be NULL. FALSE with an error at `mark`. */
gboolean clu_fabric_cable (CluLoader *loader, const CluParams *wire, const CluLinkSpec *link, BaseMark mark, double crossings_s,
                           CluParams *out);
/* Checks that numbers fit; FALSE with an error. */
gboolean clu_fabric_fits (CluLoader *loader, guint64 n, const char *what);
/* Digit `step` of the choice among equal paths, below `bound`. */
guint32 clu_fabric_choice (const CluFabric *fabric, guint32 from, guint32 to, guint64 flow, guint32 step, guint32 bound);
/* Emits one cable of the fabric. */
void clu_fabric_emit (const CluFabric *fabric, CluPath *path, guint32 link, gboolean forward, const CluPart *part);
/* CluFabricOps.resource where all cables have as many resources, one cable each. */
void clu_fabric_resource (const CluFabric *fabric, guint32 res, guint32 *link, CluResKind *direction, guint32 *n_cables);

#endif
