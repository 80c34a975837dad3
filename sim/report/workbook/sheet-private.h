/* A workbook in memory: sheets of cells, some with a formula beside the value that it has now. */
#ifndef REPORT_SHEET_PRIVATE_H
#define REPORT_SHEET_PRIVATE_H

#include <glib.h>

typedef enum {
  REP_STYLE_TEXT,
  REP_STYLE_PROSE, /* wrapped */
  REP_STYLE_TITLE,
  REP_STYLE_HEAD,
  REP_STYLE_NUMBER,
  REP_STYLE_COUNT,
  REP_STYLE_PERCENT,
  REP_STYLE_MONEY,
  REP_STYLE_TOTAL,
  REP_STYLE_N
} RepStyle;

/* What a cell holds; rows and columns from 0. */
typedef struct {
  guint row, column;
  RepStyle style;
  gboolean input; /* a person may change it: shown so */
  double number;
  char *text;    /* owned; NULL: the number */
  char *formula; /* owned, with "="; NULL: none */
} RepSheetCell;

typedef struct {
  const char *name;
  GArray *cells;  /* RepSheetCell */
  GArray *widths; /* double, of columns from the first on, in characters */
  guint n_head;   /* rows that stay on the screen; 0: none */
} RepSheet;

/* Returned: full, of RepSheet, g_ptr_array_unref. */
GPtrArray *rep_sheets_new (void);
/* One more; `widths` ends with 0. `name` is borrowed. Returned: borrowed. */
RepSheet *rep_sheets_add (GPtrArray *sheets, const char *name, const double *widths);
/* NULL text: nothing. */
void rep_sheet_text (RepSheet *sheet, guint row, guint column, RepStyle style, const char *text);
/* NaN: nothing. Returned: the cell, borrowed until the next one; NULL: nothing. */
RepSheetCell *rep_sheet_number (RepSheet *sheet, guint row, guint column, RepStyle style, double number);
/* Takes the formula, without "=". */
void rep_sheet_formula (RepSheet *sheet, guint row, guint column, RepStyle style, double number, char *formula);
/* "C5", or absolute "$C$5". Returned: full. */
char *rep_sheet_place (guint row, guint column, gboolean absolute);

/* The bytes of an .xlsx file. NULL and *error (BASE_ERROR_RUN). Returned: full. */
GString *rep_sheets_xlsx (const GPtrArray *sheets, const char *title, GError **error);

#endif
