/* The table of sections. Files are read, and their reference is printed, in this order. */
#include "constants/section.h"

const CstSection *const cst_sections[] = {
  &cst_kernels, &cst_overlap, &cst_links, &cst_storage, &cst_memory, &cst_frameworks, &cst_networks, &cst_moe,
  &cst_engines, NULL
};
