/* Which algorithm wins, by size and by number of nodes: what was priced, who leads, by how much, and from which size on.
 *
 * A row is one algorithm by its fastest protocol, at one size on one number of nodes. The caller prices (columns, sizes, rows,
 * spans); this layer ranks and prints. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include <json-glib/json-glib.h>

#include "collective/comm.h"

G_BEGIN_DECLS

typedef struct {
  guint32 nodes, ranks;
  GArray *spans; /* RepCompareSpan, ascending */
} RepCompareColumn;

/* From this size on, up to the next span's, this pair is the fastest. */
typedef struct {
  guint64 from_B;
  MdlAlgo algo;
  MdlProto proto;
  unsigned channels; /* the most that it uses in the span; 0 for the plain library */
} RepCompareSpan;

typedef struct {
  ColAnswer coll;       /* without its loads */
  guint column, size; /* which of columns, which of sizes */
  gboolean best;
  double margin; /* time of the fastest other algorithm over this one's, less 1; NAN where there is no other */
  /* What the library itself takes at this size, the same in all rows of it; proto and algo -1 and NAN where that is not known. */
  int own_algo, own_proto;
  double own_time_s;
} RepCompareRow;

typedef struct {
  MdlOp op;
  guint64 max_B;       /* largest size asked for */
  GArray *sizes;       /* guint64, as asked for: rows' own sizes may be rounded down */
  GPtrArray *columns;  /* RepCompareColumn * */
  GArray *rows;        /* RepCompareRow by column, size and algorithm */
  GPtrArray *left_out; /* char *: what could not run, whole sentences */
} RepCompare;

/* Returned: full. */
RepCompare *rep_compare_new (MdlOp op);
void rep_compare_free (RepCompare *compare);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RepCompare, rep_compare_free)
/* Returned: borrowed, the new last column. */
RepCompareColumn *rep_compare_add_column (RepCompare *compare, guint32 nodes, guint32 ranks);

/* Something wins that NCCL takes with NCCL_COLLNET_ENABLE=1 only, or may: CollNet, or NVLS on several nodes, which reduces in the
 * network's switches where the nodes do not share an NVLink domain. */
gboolean rep_compare_has_collnet (const RepCompare *compare);

/* Marks the fastest of `n` rows of one size and column, and fills their margins. The first wins a tie. */
void rep_compare_rank (RepCompareRow *rows, guint n);

/* For each number of nodes "On 4 nodes the fastest is tree, from 88 KiB ring." Returned: full, of char *. */
GPtrArray *rep_compare_said (const RepCompare *compare);
/* A matrix of winners, the sizes where they change, and what was left out; without the '#' lines above. */
void rep_compare_text (const RepCompare *compare, GString *out);
/* coll's columns, then `best` (1 or 0) and `margin`. */
void rep_compare_tsv (const RepCompare *compare, GString *out);
void rep_compare_json (const RepCompare *compare, JsonBuilder *json); /* an array */
/* For plots/winners.gp: nodes, ranks, from_B, algo, instead_of; a header line even where nothing changes. */
void rep_compare_crossovers_tsv (const RepCompare *compare, GString *out);
/* For plots/busbw.gp, without the error band: op, bytes, nodes, algo, busbw_Bps; of more than three numbers of nodes the first, the
 * middle and the last. */
void rep_compare_curves_tsv (const RepCompare *compare, GString *out);

/* What NCCL's example tuner plugin reads: one line a span. `version`: forerun's; `topology` and `library` (its constants) go into
 * comments. FALSE when NCCL's tuner has no say in this operation (alltoall, sendrecv). */
gboolean rep_tuner_conf (const RepCompare *compare, const char *version, const char *topology, const char *library, GString *out);

G_END_DECLS

#endif
