/* The section `kernels`. */
#ifndef CALIBRATE_SECTION_KERNELS_PRIVATE_H
#define CALIBRATE_SECTION_KERNELS_PRIVATE_H

#include "calibrate/section.h"

G_BEGIN_DECLS

extern const CalSection cal_kernels_section;

G_END_DECLS

#endif
