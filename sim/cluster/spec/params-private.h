/* Links' figures, and what is needed to read them: a class, a type's own figures and what a topology changes, merged into one. */
#ifndef CLUSTER_PARAMS_PRIVATE_H
#define CLUSTER_PARAMS_PRIVATE_H

#include "cluster/cluster.h"
#include "spec/spec-private.h"

/* What reading needs beside the graph. */
typedef struct {
  Clu *clu;
  BaseSchemaContext context;
  GHashTable *classes;      /* name -> CluLinkClass *, those looked up by generation */
  gboolean wide;            /* an NVLink domain is wider than a node */
  gboolean nodes_given;     /* the number of nodes came from outside the file */
  gboolean switches_follow; /* as of CluLoadOptions */
} CluLoader;

/* An error of the input at `mark`. Returns FALSE. */
gboolean clu_error (CluLoader *loader, BaseMark mark, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* From OWN on: a device's own; a memory's that counts what is read, or written, alone. */
typedef enum { CLU_RES_FORWARD, CLU_RES_BACKWARD, CLU_RES_BOTH, CLU_RES_OWN, CLU_RES_READ, CLU_RES_WRITE } CluResKind;

/* A link's figures once class, type and differences are merged. */
typedef struct {
  const CluLinkClass *link_class;
  double lanes, rate_Bps, efficiency, sm_efficiency, latency_s, duplex;
  double rdma_efficiency, rdma_duplex;
  BaseSource source;
} CluParams;

static inline gboolean
clu_params_shared (const CluParams *p)
{
  return p->duplex < 1;
}

/* Resources of a link: forward, backward and, when the two directions get in each other's way, both. */
static inline guint32
clu_params_n_res (const CluParams *p)
{
  return clu_params_shared (p) ? 3 : 2;
}

/* The class of a file topologies/links/NAME.yaml; NULL and an error at `mark` when there is none. */
const CluLinkClass *clu_loader_class (CluLoader *loader, const char *name, BaseMark mark);
/* A class for links that name none. */
const CluLinkClass *clu_class_new (BaseArena *arena, const char *name, CluFamily family);
/* Merges specs in order (later wins; NULLs skipped) over a class used when none names one. FALSE and an error at `mark` when no
 * rate can be told; `what` names the link. */
gboolean clu_params_resolve (CluLoader *loader, const CluLinkSpec *const *specs, unsigned n, const CluLinkClass *fallback,
                             BaseMark mark, const char *what, CluParams *out);
/* The other way: a link in place that has these figures, of class `link_class` (NULL: it names none). */
CluLinkSpec clu_params_spec (const CluParams *p, const CluLinkClass *link_class);
/* The same link with a part of its lanes. */
CluParams clu_params_part (const CluParams *whole, double lanes);
CluParams clu_params_plain (const CluLinkClass *link_class, double rate_Bps, double latency_s, BaseSource source);
double clu_params_capacity (const CluParams *p, CluResKind kind);
BaseSource clu_num_source (const BaseNum *num);

/* A tier's figures: radix (0: not said), crossing latency. */
guint32 clu_tier_radix (const CluTierSpec *tier);
double clu_tier_latency (const CluTierSpec *tier);
/* The switches of a level; those of the level below where nothing is said. */
const CluTierSpec *clu_fabric_tier (const CluFabricSpec *spec, guint32 level);

/* --- check.c: what a table row cannot say. Errors go to the loader's diag. */
void clu_check_node (CluLoader *loader, CluNodeSpec *node);
/* A torus of `n` things (`what`). */
void clu_check_torus (CluLoader *loader, const BaseNums *dims, double n, const char *what, BaseMark mark);

/* --- storage.c */
/* A tier of the topology laid over its type. */
void clu_tier_resolve (const CluStorageSpec *spec, MdlTier *out);

#endif
