/* Where a value was written: file, line and column, counted from 1 as editors do. */
#ifndef BASE_MARK_H
#define BASE_MARK_H

#include <glib.h>

typedef struct {
  const char *file; /* borrowed, lives as long as the document; NULL: not from a file (a default, a flag) */
  unsigned line;    /* 1-based, 0 unknown */
  unsigned column;  /* 1-based, 0 unknown; counts characters, as libyaml does */
} BaseMark;

#define BASE_MARK_NONE ((BaseMark){ NULL, 0, 0 })

#endif
