/* Words that nccl-tests' text and JSON share. */
#ifndef REPORT_NCCL_TESTS_PRIVATE_H
#define REPORT_NCCL_TESTS_PRIVATE_H

#include "report/coll.h"

const char *rep_nccl_tests_type (MdlDtype dtype); /* "float" */
const char *rep_nccl_tests_redop (MdlOp op);      /* "sum", "none" */
/* The argument of the NCCL call, which for gathers, scatters and alltoall is one rank's part. */
guint64 rep_nccl_tests_count (const ColAnswer *coll);
/* Six characters wide, "    -1" where there is none. Returned: full, g_free. */
char *rep_nccl_tests_root (MdlOp op, guint32 root);
const char *rep_nccl_tests_gpu (const Clu *clu, CluDev dev); /* product name; borrowed from clu */

#endif
