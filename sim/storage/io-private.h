/* A question about reads and writes, and what is found out on the way to its answer. */
#ifndef STORAGE_IO_PRIVATE_H
#define STORAGE_IO_PRIVATE_H

#include "storage/io_run.h"

/* A resource that the clients share: of the cluster, or one that only this run knows. */
typedef struct {
  CluRes res; /* CLU_NONE: not of the cluster, but of this kind and number */
  ColNetOther other;
  guint32 number;
  char name[40];
  double capacity, load; /* load: of all clients, a byte of each */
} StoShared;

typedef struct {
  const ColSystem *system;
  const StoIoSpec *spec;
  const MdlStorage *ways;
  GArray *homes; /* StoIoHome */
  MdlTier tier;
  CluDev dev;
  MdlTierQuestion question;
  MdlTierCost cost;  /* lasting */
  MdlTierCost burst; /* on credits */
  GArray *shared;    /* StoShared */
  GPtrArray *uses;   /* GArray of StoUse, by client */
  GHashTable *known; /* what is shared -> number + 1 */
  StoIoPath path;
  guint32 busiest;  /* of what is shared */
  double latency_s; /* of the longest way */
  double n;         /* clients */
  double misses;
  gboolean by_origin; /* what a caching tier fetches limits it */
  StoIoResult *out;
} StoWork;

/* The closed form: everything but the run on an engine. *work is to be cleared in any case. */
gboolean sto_work_plan (StoWork *work, GError **error);
/* Once time_s of the result stands: all else of it. */
void sto_work_answer (StoWork *work);
void sto_work_clear (StoWork *work);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StoWork, sto_work_clear)

/* Bytes stored over bytes used. */
double sto_work_packed (const StoWork *work);
/* Seconds of a core for a byte: protocol and copies where the host is on the way, the page cache's copy, unpacking. */
double sto_work_core_s_per_B (const StoWork *work);
/* What one client reaches by what it has in flight: misses by the queue, all by its own threads' cores. */
double sto_work_own_Bps (const StoWork *work, const MdlTierCost *cost);

/* Links of the engine for what the clients share. Returned: full, by number in work->shared. */
EngLink *sto_work_links (const StoWork *work, ColNet *net);
/* What one client is: `uses`, filled, are borrowed by the spec. */
EngFlowSpec sto_work_flow (const StoWork *work, guint32 client, const EngLink *link, double bound_Bps, GArray *uses);
/* Bytes of `times` of it on the links. */
void sto_work_count (const StoWork *work, ColNet *net, double times);

#endif
