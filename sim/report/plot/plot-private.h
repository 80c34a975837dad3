/* What the plots share. */
#ifndef REPORT_PLOT_PRIVATE_H
#define REPORT_PLOT_PRIVATE_H

#include "report/plots.h"

/* A constant in words: "GEMM FP8 efficiency, kernels", "IB NDR efficiency"; `root` is the folder of the shipped data, which names
 * of files are relative to. Returned: full. */
char *rep_effect_label (const StdEffect *effect, const char *root);
/* A part of a training step in words: "tensor-parallel communication" for "exposed_tp". Borrowed. */
const char *rep_part_words (int part);

#endif
