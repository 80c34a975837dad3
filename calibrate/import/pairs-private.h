/* What the readers of measurements between two NICs share: whose ends they are, and the CSV of pairs. */
#ifndef CALIBRATE_IMPORT_PAIRS_PRIVATE_H
#define CALIBRATE_IMPORT_PAIRS_PRIVATE_H

#include "calibrate/pairs.h"
#include "import/measured-private.h"

#define CAL_PAIR_HEADER "tool,op,from,from_nic,to,to_nic,bytes,time_us,GBps,both_ways\n"

/* Two ends; "": not said. They point into `text`. */
typedef struct {
  const char *from, *from_nic, *to, *to_nic;
  char *text;
} CalEnds;

void cal_ends_clear (CalEnds *ends);
/* "node1:mlx5_0 -> node2:mlx5_0" or with "--" between them; the NIC may be left out. FALSE: not such, and *ends stays. */
gboolean cal_ends_read (CalEnds *ends, const char *line);
/* The same of what follows "## " in line `number`; FALSE and *error where it is not such. */
gboolean cal_ends_line (CalEnds *ends, const CalText *text, const char *line, unsigned number, GError **error);
/* Those that the file's name says, without its suffix, else none. */
void cal_ends_of_file (CalEnds *ends, const char *path);

/* A row; time_s and rate_Bps NaN: not measured; size_B 0: not known. */
typedef struct {
  const char *tool, *op;
  CalEnds ends; /* borrowed */
  guint64 size_B;
  double time_s, rate_Bps;
  gboolean both_ways; /* the rate is the sum of both directions */
} CalPairRow;

void cal_pair_write (CalImport *import, const CalPairRow *row);

#endif
