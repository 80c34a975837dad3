/* Rows between pairs of NICs, and the part of the cluster that is slow in them. */
#ifndef CALIBRATE_PAIRS_H
#define CALIBRATE_PAIRS_H

#include "calibrate/import_measured.h"

/* One measurement. Texts are owned by the rows' arena; a NIC is "" where the row names none. */
typedef struct {
  const char *from, *from_nic, *to, *to_nic;
  guint64 size_B; /* of a message; 0: not known */
  double value;   /* B/s, or s of a latency */
} CalPair;

typedef struct CalPairs CalPairs;

/* `path`: a CSV of pairs, output of perftest, of OSU's tests between two ranks or of nccl-tests' sendrecv_perf with two ranks, or a
 * folder of such files. A file's name may say its ends: "node1:mlx5_0--node2:mlx5_0.txt". Returned: full; NULL and *error
 * (BASE_ERROR_INPUT, with file and line). */
CalPairs *cal_pairs_read (const char *path, BaseDiag *warnings, GError **error);
/* The same of one file's text. */
CalPairs *cal_pairs_parse (const CalText *text, GError **error);
void cal_pairs_free (CalPairs *pairs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalPairs, cal_pairs_free)

/* What is judged: the rows of one kind and size. */
typedef struct {
  const CalPair *row; /* borrowed */
  guint n;
  gboolean latency;
  guint64 size_B;
} CalPairRows;
CalPairRows cal_pairs_rows (const CalPairs *pairs);

/* What may be slow; CAL_PART_NODE to CAL_PART_PATH_ONE_WAY have rows in a table of fit/pairs.c. */
typedef enum {
  CAL_PART_NODE,
  CAL_PART_NODE_SENDS,
  CAL_PART_NODE_RECEIVES,
  CAL_PART_NIC,
  CAL_PART_NIC_SENDS,
  CAL_PART_NIC_RECEIVES,
  CAL_PART_RAIL,
  CAL_PART_PATH,
  CAL_PART_PATH_ONE_WAY,
  CAL_PART_N
} CalPart;
const char *cal_part_name (CalPart part); /* "nic_sends" */

typedef struct {
  CalPart part;
  char *name;              /* "node17 mlx5_3" */
  char *others;            /* parts that these rows do not distinguish from it, joined by ", "; NULL: none */
  double value, healthy;   /* its median, and that of the rows without it: B/s or s */
  double lost;             /* share of the rate that is lost */
  guint n_rows, n_partners;
  char *sentence;          /* for who repairs it */
} CalSlow;
void cal_slow_clear (gpointer slow);

/* Slow parts, the one that explains most first: CalSlow, full. `typical` (may be NULL): the median of the rest, in the rows' unit;
 * `spread`: half the width that holds 90 % of the rest, as a share. */
GArray *cal_pairs_judge (const CalPairRows *rows, double *typical, double *spread);

#endif
