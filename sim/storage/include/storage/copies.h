/* Copies between devices at the same time, priced together: each by its route, its copier, and what the others leave it of the
 * links. */
#ifndef STORAGE_COPIES_H
#define STORAGE_COPIES_H

#include "collective/comm.h"
#include "models/storage.h"
#include "models/transfer.h"

/* GDS: between storage and a GPU, straight; HOST: staged there, as between GPUs. */
typedef enum { STO_PATH_FASTEST, STO_PATH_NVLINK, STO_PATH_PCIE, STO_PATH_GDS, STO_PATH_HOST, STO_PATH_NET } StoPath;
typedef enum { STO_BY_AUTO, STO_BY_ENGINE, STO_BY_KERNEL, STO_BY_KERNEL_READ } StoBy; /* auto: as the way is usually taken */

typedef struct {
  CluDev from, to;                 /* two devices */
  const char *from_name, *to_name; /* as messages name them */
  double share;                    /* of size_B: one of several drives that a copy is striped over; 0: all of it */
} StoPair;

typedef struct {
  const StoPair *pair;
  guint n;
  double size_B, count; /* of one copy; so many of each pair */
  StoPath path;
  StoBy by;
  double streams;         /* TCP connections of a copy; 0 is 1 */
  gboolean pageable;      /* host memory at either end is not pinned */
  gboolean managed;       /* it is managed memory, which page faults fetch */
  gboolean queued;        /* behind others of their kind */
  double in_flight;       /* requests that a copy keeps at a storage; 0: one */
  const MdlStorage *ways; /* what paths from storage to a GPU add; may be NULL */
} StoCopies;

/* One of them. */
typedef struct {
  CluDev from, to;
  double share, size_B; /* its part of a copy that is striped */
  CluRoute route;
  const char *path; /* "nvlink"; NULL: none of them */
  MdlCopy copy;
  MdlCollCost cost;     /* of this copy alone */
  double wire_rate_Bps; /* what the route carries alone, for this kind of copier */
  GArray *uses;         /* CluUse: link bytes per byte of the copy, resource by resource, of the way back too */
  double time_s;        /* beside the others, by the closed form: equal shares of what they all cross */
  CluRes busiest;       /* which leaves it least; CLU_NONE: nothing is crossed */
  gboolean by_copier;   /* its copier moves less than that */
  const char *storage;  /* kind of the storage at its end where that is its bound, by what is in flight; else NULL */
} StoCopy;

/* Which part of the question is wrong. */
typedef enum { STO_FAULT_ROUTE, STO_FAULT_PATH, STO_FAULT_BY } StoFault;

/* Returned: full, of StoCopy in the order of the pairs (g_ptr_array_unref); NULL, *fault and *error (BASE_ERROR_INPUT) where a pair
 * has no such way, or no kernel can copy over it. */
GPtrArray *sto_copies_price (const Clu *clu, const ColSettings *settings, const StoCopies *copies, StoFault *fault, GError **error);

#endif
