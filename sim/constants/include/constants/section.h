/* Sections of a calibration file beside `library`: constants of kernels, of overlap, of storage. A section is one file, which holds
 * its keys, and one row in the table of sections.c. */
#ifndef CONSTANTS_SECTION_H
#define CONSTANTS_SECTION_H

#include "base/schema.h"

typedef struct {
  const char *name; /* key of a calibration file, and of the file with its defaults: calibrate/defaults/NAME.yaml */
  const BaseSchema *schema;
  gsize size;   /* of its struct, which begins with a BaseHead */
  gsize member; /* where MdlLibrary points to that struct */
  /* After an overlay: keeps of the struct `before` it what the overlay did not mean to replace. NULL: lists replace lists. */
  void (*merge) (void *now, const void *before, BaseArena *arena);
} CstSection;

extern const CstSection cst_kernels, cst_overlap, cst_links, cst_storage, cst_memory, cst_frameworks, cst_networks, cst_moe,
    cst_engines;
extern const CstSection *const cst_sections[]; /* all of these, ends with NULL */

/* Constants of the communication library itself: fills MdlLibrary (models/library-spec.h). */
extern const BaseSchema cst_library_schema;
extern const BaseSchema cst_error_schema; /* MdlErrorSpec */

/* The number that keys with dots between them name in a schema: "ring.nvlink.ll.latency". *offset: of its BaseNum in the struct
 * that the schema fills. Returned: borrowed; NULL: the schema has no such number. */
const BaseField *cst_path_find (const BaseSchema *schema, const char *path, gsize *offset);

#endif
