/* Tables of priced collectives: rows for people, TSV and JSON from the same cells, and nccl-tests' own text. */
#ifndef REPORT_COLL_H
#define REPORT_COLL_H

#include "base/member.h"
#include "collective/comm.h"

/* Of a ColAnswer, in the contract's order: op, bytes, dtype, nodes, ranks, algo, proto, channels, time_s, algbw_Bps, busbw_Bps,
 * wire_Bps, time_lo_s, time_hi_s, bound_by, provenance. */
extern const BaseMember rep_coll_members[];
/* The same and, last, validated: by which measurements. */
extern const BaseMember rep_coll_row_members[];

/* "All-reduce of 1 GiB over 16 GPUs on 2 nodes takes 4.461 ms (2.974 to 6.692), 451.3 GB/s busbw.\nAlgorithm: nvls_tree;
 * bottleneck: channels.\n" Returned: full. */
char *rep_coll_answer (const ColAnswer *coll);

/* The answers for several sizes of one operation on the same ranks, in a sentence. Zeroed before the first. */
typedef struct {
  ColAnswer first, last, best; /* without what they own; best: of the highest busbw */
  guint n;
  char *algos; /* owned: "tree below 8 MiB, then nvls_tree" */
} RepSweep;
void rep_sweep_add (RepSweep *sweep, const ColAnswer *coll); /* sizes ascend */
char *rep_sweep_answer (const RepSweep *sweep);              /* ends with a newline. Returned: full */
void rep_sweep_clear (RepSweep *sweep);                      /* zeroed again */

/* What nccl-tests prints above its rows. */
typedef struct {
  const char *version; /* forerun's */
  MdlOp op;
  guint64 min_B, max_B;
  guint64 step; /* factor (> 1), or bytes */
  gboolean step_is_factor;
  MdlLaunch launch;
  const Clu *clu;
  const guint32 *gpus; /* global GPU of each rank */
  guint32 n_ranks;
  guint32 gpus_per_node;
} RepNcclTests;

/* Ranks that are listed by name; beyond, their number is said. */
#define REP_NCCL_TESTS_MAX_RANKS 64u

void rep_nccl_tests_head (GString *out, const RepNcclTests *head);
/* `root`: the rank for broadcast and reduce; others print -1. In-place repeats out-of-place: nothing tells them apart here. */
void rep_nccl_tests_row (GString *out, const ColAnswer *coll, guint32 root);
/* `busbw_Bps`: the mean of the rows. */
void rep_nccl_tests_foot (GString *out, MdlOp op, double busbw_Bps);

/* The same as nccl-tests writes it for -J, layout version 3. `command` ends with NULL. Returned: full, where rows are due. */
JsonBuilder *rep_nccl_tests_json_open (const RepNcclTests *head, const char *const *command);
void rep_nccl_tests_json_row (JsonBuilder *json, const ColAnswer *coll, guint32 root);
/* Takes `json`. Returned: full, g_free. */
char *rep_nccl_tests_json_close (JsonBuilder *json, double busbw_Bps);

#endif
