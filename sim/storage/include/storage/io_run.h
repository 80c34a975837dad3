/* The way between a storage tier and a client: which links, shared how, straight to a GPU or staged. */
#ifndef STORAGE_IO_RUN_H
#define STORAGE_IO_RUN_H

#include "storage/io.h"

/* Where a client runs. */
typedef struct {
  guint32 node, gpu; /* gpu: of its node */
} StoIoPlace;

typedef struct {
  GArray *uses;     /* CluUse, one a resource: between storage and the GPU, or the host's memory */
  GArray *copy;     /* likewise, from there to the GPU, where it is staged; else empty */
  double latency_s; /* of a request's way, there or back */
  MdlIoPath path;   /* as it came out */
  CluRoute route;   /* of the tier, or of the drive that has the slowest */
} StoIoRoute;

void sto_io_route_clear (StoIoRoute *way);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StoIoRoute, sto_io_route_clear)

/* Between what, and which way. AUTO takes GDS where the tier's client has it and no host memory lies on the way. */
typedef struct {
  CluDev storage; /* a tier's device, or any drive: then the drives of the client's own node, evenly */
  StoIoPlace place;
  MdlIoOp op;
  StoIoPath path;
} StoIoEnds;

/* `out` is zeroed by the caller; cleared by it, also on failure. FALSE and *error (BASE_ERROR_INPUT) where no way leads there, or
 * GDS is asked for and does not. */
gboolean sto_io_route (const Clu *clu, const ColSettings *settings, const StoIoEnds *ends, StoIoRoute *out, GError **error);

/* A node on which a system may use GPUs, and how many. */
typedef struct {
  guint32 node, n_gpus, first; /* first: of its node */
} StoIoHome;
/* Those of a system, in the order of its GPUs. Returned: full, of StoIoHome. */
GArray *sto_io_homes (const ColSystem *system);
/* Client i of so many: one a node in turn, then the next GPU of each. */
StoIoPlace sto_io_place (const GArray *homes, guint32 client);

/* The drives or the tier of this name, as clu_tier_find; *tier filled. CLU_NONE and *error, with what there is. */
CluDev sto_io_find (const Clu *clu, const char *name, MdlTier *tier, GError **error);

/* ---- reads or writes that run beside others ---- */

typedef struct StoIoRun StoIoRun;

/* What `spec` asks of the system's nodes, priced as if alone; the answer so far is sto_io_run_result(). Both are borrowed.
 * Returned: full; NULL and *error. */
StoIoRun *sto_io_run_new (const ColSystem *system, const StoIoSpec *spec, GError **error);
void sto_io_run_free (StoIoRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StoIoRun, sto_io_run_free)
const StoIoResult *sto_io_run_result (const StoIoRun *run);
/* Starts a flow a client on a network that others load too: they share links, cores, and the time of the tier's servers. It takes
 * at least `least_s` (0: no such bound). `done` (may be NULL) is called as the last client ends; the run must outlive the engine's.
 * It may be started again when it has ended. */
void sto_io_run_start (StoIoRun *run, ColNet *net, double least_s, EngFn done, void *user, uint64_t arg);
/* Bytes of `times` of it on the links, for the report. */
void sto_io_run_count (const StoIoRun *run, ColNet *net, double times);

/* ---- the same as one activity ---- */

/* What clients share that is no resource of the cluster; of those that are alike the fullest. */
typedef struct {
  ColNetOther kind;
  guint32 number;
  double capacity, weight; /* weight: of all clients, a byte of each */
} StoSideOther;

/* Equal clients as one activity: all go on at the pace of the slowest, which is exact where they are alike. */
typedef struct {
  GArray *loads;    /* ColLoad, ascending: of all clients, a byte of each */
  GArray *others;   /* StoSideOther */
  double amount_B;  /* of a client; INFINITY: it never ends */
  double bound_Bps; /* of a client by itself */
  gboolean awaited; /* the step is over when this is too */
} StoSide;

void sto_side_clear (StoSide *side);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StoSide, sto_side_clear)
/* Adds what another loads, `factor` bytes of it a byte of this; or links alone (CluUse). */
void sto_side_add (StoSide *side, const StoSide *more, double factor);
void sto_side_add_uses (StoSide *side, const GArray *uses, double factor);
/* Reads or writes as such; at least `least_s` long. *out is overwritten; cleared by the caller. */
void sto_io_run_side (const StoIoRun *run, double least_s, StoSide *out);

#endif
