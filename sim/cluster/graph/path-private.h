/* A route being built: uses merged by resource, hops of the first alternative. */
#ifndef CLUSTER_PATH_PRIVATE_H
#define CLUSTER_PATH_PRIVATE_H

#include "cluster/route.h"
#include "graph/clu-private.h"

#define CLU_PATH_SLOTS 128u /* power of two */

struct CluPath {
  const Clu *clu;
  CluRoute *out;
  gboolean list_hops;
  gboolean peers; /* what PCIe devices of different sockets move straight is bounded by the receiving socket's own resource */
  CluUse *use; /* out->uses, of which n_uses are written */
  guint32 n_uses, room;
  guint64 met; /* marks of the resources used */
  /* Uses by resource, open addressing: number in use + 1. Only made when there are more uses than a scan is good for. */
  guint32 *slots, n_slots;
  guint32 stack[CLU_PATH_SLOTS];
};

/* One crossing of a link. */
typedef struct {
  CluLinkId link;
  CluDev a, b; /* its ends; only read where hops are listed */
  CluRes res;  /* forward: a to b; backward and both follow */
  gboolean forward;
  const CluParams *p;
} CluCrossing;

void clu_path_begin (CluPath *path, const Clu *clu, gboolean list_hops, CluRoute *out);
/* Tells `out` its uses. */
void clu_path_end (CluPath *path);
void clu_path_use (CluPath *path, CluRes res, double share);
void clu_path_hop (CluPath *path, CluLinkId link, CluDev from, CluDev to, CluRes res, const CluPart *part, double share);
/* The direction's resource and that of both ways; the hop and the latency if shown. */
void clu_path_cross (CluPath *path, const CluCrossing *crossing, const CluPart *part);

#endif
