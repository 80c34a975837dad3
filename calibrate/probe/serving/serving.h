/* The serving section: kernels as engines that serve models launch them. One GPU; run only where --only names it. */
#ifndef FORERUN_PROBE_SERVING_H
#define FORERUN_PROBE_SERVING_H

#include "compute.h"

#define SERVING_SECTION "serving"

/* Parts of the section; each false when the device cannot go on. */
bool serving_decode (ComputeSection *s);
bool serving_gemm (ComputeSection *s);
bool serving_grouped (ComputeSection *s);
bool serving_graph (ComputeSection *s);
bool serving_blocks (ComputeSection *s);

#endif
