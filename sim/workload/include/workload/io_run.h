/* The way between a storage tier and a client: which links, shared how, straight to a GPU or staged. */
#ifndef WORKLOAD_IO_RUN_H
#define WORKLOAD_IO_RUN_H

#include "workload/io.h"

G_BEGIN_DECLS

/* Where a client runs. */
typedef struct {
  guint32 node, gpu; /* gpu: of its node */
} WrkIoPlace;

typedef struct {
  GArray *uses;     /* CluUse, one a resource: between storage and the GPU, or the host's memory */
  GArray *copy;     /* likewise, from there to the GPU, where it is staged; else empty */
  double latency_s; /* of a request's way, there or back */
  MdlIoPath path;   /* as it came out */
  CluRoute route;   /* of the tier, or of the drive that has the slowest */
} WrkIoWay;

void wrk_io_way_clear (WrkIoWay *way);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WrkIoWay, wrk_io_way_clear)

/* `storage`: a tier's device, or any drive: then the drives of the client's own node, evenly. AUTO takes GDS where the tier's
 * client has it and no host memory lies on the way. `out` is zeroed by the caller; cleared by it, also on failure. FALSE and *error
 * (BASE_ERROR_INPUT) where no way leads there, or GDS is asked for and does not. */
gboolean wrk_io_way (const Clu *clu, const WrkSettings *settings, CluDev storage, const WrkIoPlace *place, MdlIoOp op,
                     WrkIoPath path, WrkIoWay *out, GError **error);

/* A node on which a system may use GPUs, and how many. */
typedef struct {
  guint32 node, n_gpus;
} WrkIoHome;
/* Those of a system, in the order of its GPUs. Returned: full, of WrkIoHome. */
GArray *wrk_io_homes (const WrkSystem *system);
/* Client i of so many: one a node in turn, then the next GPU of each. */
WrkIoPlace wrk_io_place (const GArray *homes, guint32 client);

/* The drives or the tier of this name, as clu_tier_find; *tier filled. CLU_NONE and *error, with what there is. */
CluDev wrk_io_find (const Clu *clu, const char *name, MdlTier *tier, GError **error);

/* ---- reads or writes that run beside others ---- */

typedef struct WrkIoRun WrkIoRun;

/* What `spec` asks of the system's nodes, priced as if alone; the answer so far is wrk_io_run_result(). Both are borrowed.
 * Returned: full; NULL and *error. */
WrkIoRun *wrk_io_run_new (const WrkSystem *system, const WrkIoSpec *spec, GError **error);
void wrk_io_run_free (WrkIoRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkIoRun, wrk_io_run_free)
const WrkIoResult *wrk_io_run_result (const WrkIoRun *run);
/* Starts a flow a client on a network that others load too: they share links, cores, and the time of the tier's servers. It takes
 * at least `least_s` (0: no such bound). `done` (may be NULL) is called as the last client ends; the run must outlive the engine's.
 * It may be started again when it has ended. */
void wrk_io_run_start (WrkIoRun *run, WrkNet *net, double least_s, EngFn done, void *user, uint64_t arg);
/* Bytes of `times` of it on the links, for the report. */
void wrk_io_run_count (const WrkIoRun *run, WrkNet *net, double times);

/* ---- the same as one activity ---- */

/* What clients share that is no resource of the cluster; of those that are alike the fullest. */
typedef struct {
  WrkNetOther kind;
  guint32 number;
  double capacity, weight; /* weight: of all clients, a byte of each */
} WrkSideOther;

/* Equal clients as one activity: all go on at the pace of the slowest, which is exact where they are alike. */
typedef struct {
  GArray *loads;    /* WrkLoad, ascending: of all clients, a byte of each */
  GArray *others;   /* WrkSideOther */
  double amount_B;  /* of a client; INFINITY: it never ends */
  double bound_Bps; /* of a client by itself */
  gboolean awaited; /* the step is over when this is too */
} WrkSide;

void wrk_side_clear (WrkSide *side);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WrkSide, wrk_side_clear)
/* Adds what another loads, `factor` bytes of it a byte of this; or links alone (CluUse). */
void wrk_side_add (WrkSide *side, const WrkSide *more, double factor);
void wrk_side_add_uses (WrkSide *side, const GArray *uses, double factor);
/* Reads or writes as such; at least `least_s` long. *out is overwritten; cleared by the caller. */
void wrk_io_run_side (const WrkIoRun *run, double least_s, WrkSide *out);

G_END_DECLS

#endif
