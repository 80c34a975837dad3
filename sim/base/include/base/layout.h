/* Text for people: how wide a line may be, which columns a table shows, and in which unit a value reads best. The layout is the
 * process's: the program sets it once, from its flags, before it prints; what a library returns does not depend on it. */
#ifndef BASE_LAYOUT_H
#define BASE_LAYOUT_H

#include "base/units.h"

#define BASE_LAYOUT_WIDTH 100 /* characters of a line that the program keeps to where nothing else is said */

/* `width`: most characters of a line; 0, as before the first call: no limit, and all columns. `columns`: keys of the columns to
 * show, in this order, ends with NULL; NULL: those that fit. Borrowed. */
void base_layout_set (guint width, const char *const *columns);
guint base_layout_width (void);
const char *const *base_layout_columns (void);

/* What the tables printed since base_layout_set had. */
typedef enum {
  BASE_LAYOUT_KNOWN,    /* keys of all columns */
  BASE_LAYOUT_LEFT_OUT, /* keys of those that found no room */
  BASE_LAYOUT_PICKED,   /* those of base_layout_columns that a table has */
  BASE_LAYOUT_N
} BaseLayoutList;
const GPtrArray *base_layout_list (BaseLayoutList list);       /* char *, each once; borrowed */
void base_layout_note (BaseLayoutList list, const char *name); /* for who prints */

/* A unit for values between `least` and `most` (magnitudes above 0; 0: all values are 0): what to multiply SI values by, and how
 * many decimals show about four digits of each. Times go from ns to days, sizes are binary (KiB, GiB), rates decimal (GB/s). */
typedef struct {
  const char *unit; /* "" for plain numbers */
  double scale;
  guint decimals;
} BaseScale;
BaseScale base_scale_of (BaseDim dim, double least, double most);

/* "4.461 ms", "45.6 days", "26.19 GiB": about four digits in the unit that reads best. Not for files: base_quantity_format is.
 * "-" for NaN and infinities. Returned: full, g_free. */
char *base_quantity_show (double value, BaseDim dim);
/* "4.461 ms (2.974 to 6.692)", all in one unit; without the band where lo and hi are equal. Returned: full, g_free. */
char *base_band_show (double value, double lo, double hi, BaseDim dim);

/* Breaks lines of prose that are longer than `width` at blanks. What follows is indented as the line was, and begins with "# "
 * where the line did. `width` 0: nothing is broken. */
void base_text_wrap (GString *text, guint width);

#endif
