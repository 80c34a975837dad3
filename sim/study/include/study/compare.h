/* Which algorithm wins, by size and by number of nodes: what was priced, who leads, by how much, and from which size on.
 *
 * A row is one algorithm by its fastest protocol, at one size on one number of nodes. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "scenario/ranks.h"

typedef struct {
  guint32 nodes, ranks;
  GArray *spans; /* StdCompareSpan, ascending */
  GArray *tuned; /* the same among the algorithms that NCCL's tuner chooses between; NULL: as spans, which hold no other */
} StdCompareColumn;

/* From this size on, up to the next span's, this pair is the fastest. */
typedef struct {
  guint64 from_B;
  MdlAlgo algo;
  MdlProto proto;
  unsigned channels; /* the most that it uses in the span; 0 for the plain library */
} StdCompareSpan;

typedef struct {
  ColAnswer coll;     /* without its loads */
  guint column, size; /* which of columns, which of sizes */
  gboolean best;
  double margin; /* time of the fastest other algorithm over this one's, less 1; NAN where there is no other */
  /* What the library itself takes at this size, the same in all rows of it; proto and algo -1 and NAN where that is not known. */
  int own_algo, own_proto;
  double own_time_s;
} StdCompareRow;

typedef struct {
  MdlOp op;
  guint64 max_B;       /* largest size asked for */
  GArray *sizes;       /* guint64, as asked for: rows' own sizes may be rounded down */
  GPtrArray *columns;  /* StdCompareColumn * */
  GArray *rows;        /* StdCompareRow by column, size and algorithm */
  GPtrArray *left_out; /* char *: what could not run, whole sentences; filled by std_compare_end */
  GArray *notes;       /* what they are made of */
} StdCompare;

/* What is compared. */
typedef struct {
  ColCollRequest like;    /* operation, type and root; a protocol other than auto is the only one that counts */
  guint32 disabled_algos; /* bits (1u << MdlAlgo) that are not reported as left out: the user knows */
  gboolean as_shipped;    /* without reduction in the network's switches, which NCCL leaves off by default */
} StdCompareQuery;

/* Without columns; the caller fills `sizes` and `max_B`. Returned: full. */
StdCompare *std_compare_new (MdlOp op);
void std_compare_free (StdCompare *compare);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StdCompare, std_compare_free)

/* Prices all algorithms on one more number of nodes, at each of the sizes, and searches between sizes for where the winner changes.
 * One rank alone adds no column. FALSE and *error on failure. */
gboolean std_compare_price (StdCompare *compare, const StdCompareQuery *query, ColComm *comm, GError **error);
/* All columns are priced: says what was left out. */
void std_compare_end (StdCompare *compare);

/* Returned: borrowed, the new last column. */
StdCompareColumn *std_compare_add_column (StdCompare *compare, guint32 nodes, guint32 ranks);
/* Marks the fastest of `n` rows of one size and column, and fills their margins. The first wins a tie. */
void std_compare_rank (StdCompareRow *rows, guint n);

/* Whether NCCL's tuner chooses between `algo` and others. Frameworks' kernels, kernels on symmetric memory and copy engines take an
 * operation before the tuner is asked; sends and receives never reach it. */
gboolean std_compare_is_tuned (MdlAlgo algo);

/* Something wins that NCCL takes with NCCL_COLLNET_ENABLE=1 only, or may: CollNet, or NVLS on several nodes, which reduces in the
 * network's switches where the nodes do not share an NVLink domain. */
gboolean std_compare_has_collnet (const StdCompare *compare);

#endif
