/* The section `overlap`. */
#ifndef CALIBRATE_SECTION_OVERLAP_PRIVATE_H
#define CALIBRATE_SECTION_OVERLAP_PRIVATE_H

#include "calibrate/section.h"

extern const CalSection cal_section_overlap;

#endif
