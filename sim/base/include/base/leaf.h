/* Leaves of a loaded file: a value, where it was written, and where it comes from. */
#ifndef BASE_LEAF_H
#define BASE_LEAF_H

#include "base/mark.h"

/* Weakest first: the provenance of a mixed answer is the least of its parts. */
typedef enum { BASE_SOURCE_ASSUMED, BASE_SOURCE_DATASHEET, BASE_SOURCE_MEASURED, BASE_SOURCE_N } BaseSource;
const char *base_source_name (BaseSource source); /* "assumed" … */

typedef struct {
  double v;          /* SI */
  gboolean set;      /* written in the file (TRUE) or a schema default / absent (FALSE) */
  BaseSource source; /* the file's default unless the leaf says so */
  const char *note;  /* borrowed or NULL */
  BaseMark mark;     /* also of one that was refused: written, but not set */
} BaseNum;

/* Whether the file has it, be it refused: what is missing is not to be told of a value that has had its error. */
static inline gboolean
base_num_written (const BaseNum *num)
{
  return num->set || num->mark.line > 0;
}

typedef struct {
  const char *v; /* borrowed, NULL when absent and without default */
  gboolean set;
  BaseMark mark;
} BaseStr;

typedef struct {
  int v; /* the code of the name table */
  gboolean set;
  BaseMark mark;
} BaseEnum;

typedef struct {
  gboolean v;
  gboolean set;
  BaseMark mark;
} BaseBool;

/* Every struct that a schema fills begins with one. */
typedef struct {
  gboolean set; /* the mapping was written */
  BaseMark mark;
} BaseHead;

typedef struct {
  unsigned n;
  gboolean set;
  BaseMark mark;
  BaseNum *item;
} BaseNums;

typedef struct {
  unsigned n;
  gboolean set;
  BaseMark mark;
  BaseStr *item;
} BaseStrs;

/* A list of structs of one schema: item i is at (char *) item + i * size. */
typedef struct {
  unsigned n;
  gboolean set;
  BaseMark mark;
  void *item;
  gsize size;
} BaseList;

/* A type named in place ("h200_sxm", looked up as a file) or written inline as a mapping with the same keys. */
typedef struct {
  gboolean set;
  BaseMark mark;
  const char *name; /* the file's own name, or "inline" */
  void *value;      /* the struct that the reference's schema fills; NULL when absent */
} BaseRef;

#define BASE_LIST_AT(list, type, i) (&((type *)(list).item)[i])

#endif
