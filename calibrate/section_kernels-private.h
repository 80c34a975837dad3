/* The section `kernels` inside calibrate/: its schema, and the row of cal_sections. */
#ifndef CALIBRATE_SECTION_KERNELS_PRIVATE_H
#define CALIBRATE_SECTION_KERNELS_PRIVATE_H

#include "calibrate/section.h"

G_BEGIN_DECLS

extern const BaseSchema cal_kernels_schema; /* MdlKernels */
extern const CalSection cal_kernels_section;

G_END_DECLS

#endif
