/* Copies between devices: what a workload of kind `transfer` asks, and what it comes to. */
#ifndef WORKLOAD_TRANSFER_H
#define WORKLOAD_TRANSFER_H

#include "base/schema.h"
#include "workload/copies.h"
#include "workload/net.h"
#include "workload/system.h"

G_BEGIN_DECLS

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseStr from, to;     /* one device, or several: "gpu[0-3]", "gpu0,gpu2" */
  BaseNum bytes, count; /* count copies of each pair at the same time */
  BaseEnum path;        /* WrkPath */
  BaseEnum pairs;       /* 0: matched, 1: all */
  BaseEnum by;          /* WrkBy */
  BaseEnum memory;      /* 0: pinned, 1: pageable */
  BaseBool both_ways, queued;
  BaseNum in_flight; /* at a storage at an end */
} WrkTransferSpec;

extern const BaseSchema wrk_schema_transfer;

/* Names that are not said to be owned are borrowed from the spec. */
typedef struct {
  char *from, *to; /* owned */
  double bytes, count;
  unsigned pairs, stripes;                       /* pairs that were named; drives that a copy is striped over */
  double part_B;                                 /* of the slowest copy: what one drive gets of its bytes, else all of them */
  double time_s, time_lo_s, time_hi_s, rate_Bps; /* rate of one of the copies */
  const char *transport, *path_class, *path;     /* "fastest" resolved */
  char *bottleneck;                              /* owned: resource's name; NULL when nothing is crossed */
  char bound_by[64];
  GPtrArray *copies;    /* WrkCopy: of each pair one; NULL: nothing is copied */
  double wire_rate_Bps; /* of the slowest, as all below: what its route carries alone */
  CluRoute route;       /* its arrays are references */
  MdlCollCost cost;
  BaseSource provenance;
} WrkTransferResult;

/* Whether the ends are there. FALSE and *error, with the place. */
gboolean wrk_check_transfer (const WrkSystem *system, const WrkTransferSpec *spec, GError **error);
/* All copies at the same time. `out` is zeroed by the caller, its route initialised, and cleared by it. */
gboolean wrk_run_transfer (const WrkSystem *system, const WrkTransferSpec *spec, WrkTransferResult *out, WrkRunInfo *info,
                           GError **error);
void wrk_transfer_result_clear (WrkTransferResult *result);
/* The flow that copy `i` of a priced transfer is (uses hold its links), and the bytes of all counted for the report. */
void wrk_transfer_flow (WrkNet *net, const WrkTransferResult *transfer, guint i, GArray *uses, EngFlowSpec *spec);
void wrk_transfer_count (WrkNet *net, const WrkTransferResult *transfer);

G_END_DECLS

#endif
