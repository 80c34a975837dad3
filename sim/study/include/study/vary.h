/* Vary: a question asked with each combination of some values of its keys, and one table of what came out. Each point is a run of
 * its own. Points run on all cores and are put together in order: the number of cores does not show. */
#ifndef STUDY_VARY_H
#define STUDY_VARY_H

#include "base/error.h"
#include "base/table.h"
#include "base/units.h"

/* ---- what is varied ---- */

typedef struct {
  char *path;
  GPtrArray *values; /* char * */
} StdAxis;

/* Combinations that are accepted at most. */
#define STD_VARY_MOST 10000u

/* Reads "PATH=A,B,…", one for each key; values stand at commas outside of brackets, braces and quotes. Returned: full, of
 * StdAxis *; NULL and *error (BASE_ERROR_INPUT) on failure. */
GPtrArray *std_axes_read (char *const *texts, GError **error);
guint std_axes_n_points (const GPtrArray *axes);
/* The value of an axis at a point; the last axis changes fastest. Borrowed. */
const char *std_axes_value (const GPtrArray *axes, guint axis, guint point);
char *std_axes_point_name (const GPtrArray *axes, guint point); /* "a=1 b=2". Returned: full */
/* Whether all values are numbers with the same *unit (borrowed; "" for none). */
gboolean std_axis_is_numeric (const StdAxis *axis, const char **unit);

/* ---- points ---- */

typedef struct {
  guint index;
  char **sets;     /* owned, "path=value", ends with NULL */
  BaseTable *rows; /* owned: what came out; NULL: nothing to put into a table */
  GError *error;   /* owned; NULL: it ran */
  gpointer user;
} StdPoint;

/* Calls `run` for each point, many at once; it fills `rows`, or `error`. Returned: full, of StdPoint. */
GArray *std_vary (const GPtrArray *axes, void (*run) (StdPoint *point), gpointer user);
/* Why a point did not run, without a count of errors. Returned: full; NULL: it ran. */
char *std_point_reason (const StdPoint *point);

/* ---- one table ---- */

typedef struct {
  BaseTable *table;        /* the axes, the points' own columns, and "error"; a point that did not run has one row */
  GArray *point;           /* guint: of each row */
  guint n_axes, n_columns; /* the latter without "error" */
} StdSheet;

/* Returned: full; borrows from the axes, and keys from the points' tables. */
StdSheet *std_sheet_new (const GPtrArray *axes, const GArray *points);
void std_sheet_free (StdSheet *sheet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StdSheet, std_sheet_free)

/* A cell, where it is known and not an empty text. */
gboolean std_sheet_cell (const StdSheet *sheet, guint row, guint column, BaseCell *cell);
/* Its text, as TSV has it; "" for null. Returned: full. */
char *std_sheet_text (const StdSheet *sheet, guint row, guint column);
/* A column by its key; G_MAXUINT: none. */
guint std_sheet_column (const StdSheet *sheet, const char *key);
const char *std_sheet_key (const StdSheet *sheet, guint column);

/* Columns to show: those that are named ("a,b"; NULL: nobody asked); else those of `usual` (ends with NULL) that are there, and
 * "name" before them; else all. Returned: full, of guint; NULL and *error (BASE_ERROR_INPUT) where one is not there. */
GArray *std_sheet_choose (const StdSheet *sheet, const char *named, const char *const *usual, GError **error);
/* The first of these columns that holds numbers: what is compared and drawn. G_MAXUINT: none. */
guint std_sheet_headline (const StdSheet *sheet, const GArray *chosen);
/* A column's head in text, without the unit ("step time" of "step_time_s"); borrowed, as long as the column's key. */
const char *std_column_title (const BaseColumn *column);
/* The dimension that the key of a column of numbers says; BASE_DIM_NUMBER: none, or a rate of something else than bytes. */
BaseDim std_column_dim (const BaseColumn *column);
/* The axes and these columns, and behind the headline its ratio to the first point's. Returned: full. */
BaseTable *std_sheet_shown (const StdSheet *sheet, const GArray *chosen);

#endif
