/* What the models of kernels share. Inside models/ only. */
#ifndef MODELS_KERNEL_PRIVATE_H
#define MODELS_KERNEL_PRIVATE_H

#include "models/kernel-spec.h"

/* Two things under way at once, the slower all but hides the other: (a^4 + b^4)^(1/4). Grows with both, never below either. */
double mdl_kernel_concurrent (double a_s, double b_s);

/* Empties an answer. `terse`: its terms get no text. */
void mdl_kernel_open (const MdlGpu *gpu, gboolean terse, MdlKernelCost *cost);
/* Adds `value_s` as a term, explained by `format`. `from`: the constant that it rests on, NULL for none. Nothing for 0. */
void mdl_kernel_term (MdlKernelCost *cost, const char *name, double value_s, const BaseNum *from, const char *format, ...)
    G_GNUC_PRINTF (5, 6);
/* A constant that entered the answer by another way. */
void mdl_kernel_use (MdlKernelCost *cost, const BaseNum *num);
/* The band, from the weakest constant used. */
void mdl_kernel_close (const MdlKernels *kernels, MdlKernelCost *cost);

/* B/s of the GPU's memory where `reads` of the traffic are reads (0 to 1). */
double mdl_kernel_memory_Bps (const MdlKernels *kernels, const MdlGpu *gpu, double reads);

/* Peak of one SM in 16 bit, in fp32 where it has no such units: what the rest of an SM is built to go with. */
double mdl_kernel_sm_flop_per_s (const MdlGpu *gpu);

/* What `flop` in `time_s` at full clock take once power is limited; adds the difference as a term, where `cost` is not NULL. */
double mdl_kernel_power_s (const MdlKernels *kernels, const MdlGpu *gpu, MdlPrecision dtype, double flop, double time_s,
                           gboolean sustained, MdlKernelCost *cost);

#endif
