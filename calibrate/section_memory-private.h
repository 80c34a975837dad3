/* The section `memory`. */
#ifndef CALIBRATE_SECTION_MEMORY_PRIVATE_H
#define CALIBRATE_SECTION_MEMORY_PRIVATE_H

#include "calibrate/section.h"

extern const CalSection cal_section_memory;

#endif
