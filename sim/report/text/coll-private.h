/* Columns of a priced collective, for tables that add their own. */
#ifndef REPORT_COLL_PRIVATE_H
#define REPORT_COLL_PRIVATE_H

#include "report/coll.h"

/* clang-format off */
#define REP_COLL_COLUMNS                                            \
  { "op", NULL, BASE_CELL_TEXT, 0, NULL },                          \
  { "bytes", "size (B)", BASE_CELL_INTEGER, 0, NULL },              \
  { "dtype", NULL, BASE_CELL_TEXT, 0, NULL },                       \
  { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL },                 \
  { "ranks", "ranks", BASE_CELL_INTEGER, 0, NULL },                 \
  { "algo", "algorithm", BASE_CELL_TEXT, 0, NULL },                 \
  { "proto", "protocol", BASE_CELL_TEXT, 0, NULL },                 \
  { "channels", "channels", BASE_CELL_INTEGER, 0, NULL },           \
  { "time_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },         \
  { "algbw_Bps", "algbw (GB/s)", BASE_CELL_NUMBER, 1e-9, "%.2f" },  \
  { "busbw_Bps", "busbw (GB/s)", BASE_CELL_NUMBER, 1e-9, "%.2f" },  \
  { "wire_Bps", "wire (GB/s)", BASE_CELL_NUMBER, 1e-9, "%.2f" },    \
  { "time_lo_s", "low (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },       \
  { "time_hi_s", "high (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },      \
  { "bound_by", "bound by", BASE_CELL_TEXT, 0, NULL },              \
  { "provenance", "provenance", BASE_CELL_TEXT, 0, NULL }
/* clang-format on */

#endif
