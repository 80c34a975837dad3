/* Which algorithm wins, in text, TSV, JSON, for plots, and as a file for NCCL's tuner. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "base/table.h"
#include "study/compare.h"

/* "4 nodes: Tree is fastest up to 88 KiB, Ring beyond."; neighbours that agree share a sentence. Returned: full, of char *. */
GPtrArray *rep_compare_said (const StdCompare *compare);
/* Those sentences, the matrix of the fastest, its legend, and what was left out. */
void rep_compare_text (const StdCompare *compare, GString *out);
/* coll's columns, then `best` (1 or 0), `margin` and what the library takes. Returned: full. */
BaseTable *rep_compare_table (const StdCompare *compare);
/* For plots/winners.gp: nodes, ranks, from_B, algo, instead_of; a header line even where nothing changes. */
void rep_compare_crossovers_tsv (const StdCompare *compare, GString *out);
/* For plots/busbw.gp, without the error band: op, bytes, nodes, algo, busbw_Bps; of more than three numbers of nodes the first, the
 * middle and the last. */
void rep_compare_curves_tsv (const StdCompare *compare, GString *out);

/* "NCCL's kernels on symmetric memory", "vllm's kernel": who serves `row` before NCCL's tuner is asked. Returned: full; NULL where
 * the tuner chooses, or what the library takes is not known. */
char *rep_compare_taker (const StdCompareRow *row);

/* What NCCL's example tuner plugin reads: one line a span of what its tuner chooses between. `version`: forerun's; `topology` and
 * `library` (its constants) go into comments, and so do the sizes that other kernels take before the tuner is asked. FALSE when
 * NCCL's tuner has no say in this operation (alltoall, sendrecv). */
gboolean rep_tuner_conf (const StdCompare *compare, const char *version, const char *topology, const char *library, GString *out);

#endif
