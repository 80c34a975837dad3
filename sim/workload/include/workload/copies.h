/* Copies between devices at the same time, priced together: each by its route, its copier, and what the others leave it of the
 * links. */
#ifndef WORKLOAD_COPIES_H
#define WORKLOAD_COPIES_H

#include "models/storage.h"
#include "models/transfer.h"
#include "workload/comm.h"

G_BEGIN_DECLS

/* GDS: between storage and a GPU, straight; HOST: staged there, as between GPUs. */
typedef enum { WRK_PATH_FASTEST, WRK_PATH_NVLINK, WRK_PATH_PCIE, WRK_PATH_GDS, WRK_PATH_HOST, WRK_PATH_NET } WrkPath;
typedef enum { WRK_BY_AUTO, WRK_BY_ENGINE, WRK_BY_KERNEL, WRK_BY_KERNEL_READ } WrkBy; /* auto: as the way is usually taken */

typedef struct {
  CluDev from, to;                  /* two devices */
  const char *from_name, *to_name; /* as messages name them */
  double share;                    /* of size_B: one of several drives that a copy is striped over; 0: all of it */
} WrkPair;

typedef struct {
  const WrkPair *pair;
  guint n;
  double size_B, count; /* of one copy; so many of each pair */
  WrkPath path;
  WrkBy by;
  gboolean pageable; /* host memory at either end is not pinned */
  gboolean queued;   /* behind others of their kind */
  double in_flight;  /* requests that a copy keeps at a storage; 0: one */
  const MdlStorage *ways; /* what paths from storage to a GPU add; may be NULL */
} WrkCopies;

/* One of them. */
typedef struct {
  CluDev from, to;
  double share, size_B; /* its part of a copy that is striped */
  CluRoute route;
  const char *path;     /* "nvlink"; NULL: none of them */
  MdlCopy copy;
  MdlCollCost cost;     /* of this copy alone */
  double wire_rate_Bps; /* what the route carries alone, for this kind of copier */
  GArray *uses;         /* CluUse: link bytes per byte of the copy, resource by resource, of the way back too */
  double time_s;        /* beside the others, by the closed form: equal shares of what they all cross */
  CluRes busiest;       /* which leaves it least; CLU_NONE: nothing is crossed */
  gboolean by_copier;   /* its copier moves less than that */
  const char *storage;  /* kind of the storage at its end where that is its bound, by what is in flight; else NULL */
} WrkCopy;

/* Which part of the question is wrong. */
typedef enum { WRK_FAULT_WAY, WRK_FAULT_PATH, WRK_FAULT_BY } WrkFault;

/* Returned: full, of WrkCopy in the order of the pairs (g_ptr_array_unref); NULL, *fault and *error (BASE_ERROR_INPUT) where a pair
 * has no such way, or no kernel can copy over it. */
GPtrArray *wrk_copies_price (const Clu *clu, const WrkSettings *settings, const WrkCopies *copies, WrkFault *fault, GError **error);

G_END_DECLS

#endif
