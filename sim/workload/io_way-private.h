/* The way between a storage tier and a client: which links, shared how, straight to a GPU or staged. */
#ifndef WORKLOAD_IO_WAY_PRIVATE_H
#define WORKLOAD_IO_WAY_PRIVATE_H

#include "workload/io.h"

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

/* The drives or the tier of this name, as clu_tier_find; *tier filled. CLU_NONE and *error, with what there is. */
CluDev wrk_io_find (const Clu *clu, const char *name, MdlTier *tier, GError **error);

#endif
