/* Copies between devices: what a workload of kind `transfer` asks, and what it comes to. */
#ifndef STORAGE_TRANSFER_H
#define STORAGE_TRANSFER_H

#include "base/schema.h"
#include "collective/net.h"
#include "collective/system.h"
#include "storage/copies.h"

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseStr from, to;     /* one device, or several: "gpu[0-3]", "gpu0,gpu2" */
  BaseNum bytes, count; /* count copies of each pair at the same time */
  BaseEnum path;        /* StoPath */
  BaseEnum pairs;       /* 0: matched, 1: all */
  BaseEnum by;          /* StoBy */
  BaseNum streams;      /* TCP connections of a copy */
  BaseEnum memory;      /* 0: pinned, 1: pageable, or the two below */
  BaseBool both_ways, queued;
  BaseNum in_flight; /* at a storage at an end */
} StoTransferSpec;

extern const BaseSchema sto_schema_transfer;
enum { STO_MEMORY_PINNED, STO_MEMORY_PAGEABLE, STO_MEMORY_MANAGED, STO_MEMORY_PREFETCHED };
extern const BaseName sto_memory_names[]; /* of these */

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
  GPtrArray *copies;    /* StoCopy: of each pair one; NULL: nothing is copied */
  double wire_rate_Bps; /* of the slowest, as all below: what its route carries alone */
  CluRoute route;       /* its arrays are references */
  MdlCollCost cost;
  BaseSource provenance;
} StoTransferResult;

/* Whether the ends are there. FALSE and *error, with the place. */
gboolean sto_check_transfer (const ColSystem *system, const StoTransferSpec *spec, GError **error);
/* All copies at the same time. `out` is zeroed by the caller, its route initialised, and cleared by it. */
gboolean sto_run_transfer (const ColSystem *system, const StoTransferSpec *spec, StoTransferResult *out, ColRunInfo *info,
                           GError **error);
void sto_transfer_result_clear (StoTransferResult *result);
/* The flow that copy `i` of a priced transfer is (uses hold its links), and the bytes of all counted for the report. */
void sto_transfer_flow (ColNet *net, const StoTransferResult *transfer, guint i, GArray *uses, EngFlowSpec *spec);
void sto_transfer_count (ColNet *net, const StoTransferResult *transfer);

#endif
