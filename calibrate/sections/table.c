/* The table of sections that a probe's file tells. They are fitted and written in this order. */
#include "calibrate/section.h"

const CalSection *const cal_sections[] = { &cal_section_kernels, &cal_section_overlap, &cal_section_links, &cal_section_storage,
                                           NULL };
