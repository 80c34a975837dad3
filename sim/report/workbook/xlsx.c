/* The writer of workbooks, by libxlsxwriter. */
#include <string.h>
#include <unistd.h>

#include <xlsxwriter.h>

#include "base/error.h"
#include "plot/process-private.h"
#include "report/workbook.h"
#include "workbook/sheet-private.h"

/* 1980-01-01, the first day of ZIP: the same answer gives the same bytes on any day. */
#define CREATED_S 315532800

typedef struct {
  lxw_workbook *book;
  lxw_format *formats[REP_STYLE_N][2]; /* by style, and whether a person may change it */
} Writer;

const char *
rep_workbook_library (void)
{
  return lxw_version ();
}

static lxw_format *
format_of (Writer *w, RepStyle style, gboolean input)
{
  static const char *const numbers[REP_STYLE_N] = { [REP_STYLE_NUMBER] = "#,##0.00##",
                                                    [REP_STYLE_COUNT] = "#,##0",
                                                    [REP_STYLE_PERCENT] = "0.0##%",
                                                    [REP_STYLE_MONEY] = "#,##0.00",
                                                    [REP_STYLE_TOTAL] = "#,##0.00" };
  lxw_format **format = &w->formats[style][input ? 1 : 0];
  if (*format != NULL)
    return *format;
  *format = workbook_add_format (w->book);
  format_set_align (*format, LXW_ALIGN_VERTICAL_TOP);
  if (numbers[style] != NULL)
    format_set_num_format (*format, numbers[style]);
  if (style == REP_STYLE_PROSE || style == REP_STYLE_HEAD)
    format_set_text_wrap (*format);
  if (style == REP_STYLE_TITLE || style == REP_STYLE_HEAD || style == REP_STYLE_TOTAL)
    format_set_bold (*format);
  if (style == REP_STYLE_TITLE)
    format_set_font_size (*format, 14);
  if (style == REP_STYLE_HEAD)
    format_set_bottom (*format, LXW_BORDER_THIN);
  if (style == REP_STYLE_TOTAL)
    format_set_top (*format, LXW_BORDER_THIN);
  if (input) {
    format_set_bg_color (*format, 0xFFF2CC);
    format_set_font_color (*format, 0x0000FF);
  }
  return *format;
}

static lxw_error
write_sheet (Writer *w, const RepSheet *sheet)
{
  lxw_worksheet *to = workbook_add_worksheet (w->book, sheet->name);
  lxw_error fault = to != NULL ? LXW_NO_ERROR : LXW_ERROR_MEMORY_MALLOC_FAILED;
  for (guint i = 0; fault == LXW_NO_ERROR && i < sheet->widths->len; i++)
    fault = worksheet_set_column (to, (lxw_col_t)i, (lxw_col_t)i, g_array_index (sheet->widths, double, i), NULL);
  for (guint i = 0; fault == LXW_NO_ERROR && i < sheet->cells->len; i++) {
    const RepSheetCell *cell = &g_array_index (sheet->cells, RepSheetCell, i);
    lxw_format *format = format_of (w, cell->style, cell->input);
    const lxw_row_t row = cell->row;
    const lxw_col_t column = (lxw_col_t)cell->column;
    fault = cell->formula != NULL ? worksheet_write_formula_num (to, row, column, cell->formula, format, cell->number)
            : cell->text != NULL  ? worksheet_write_string (to, row, column, cell->text, format)
                                  : worksheet_write_number (to, row, column, cell->number, format);
  }
  if (to == NULL)
    return fault;
  if (sheet->n_head > 0)
    worksheet_freeze_panes (to, sheet->n_head, 1);
  worksheet_set_landscape (to);
  worksheet_set_paper (to, 9); /* A4 */
  worksheet_fit_to_pages (to, 1, 0);
  return fault;
}

/* Takes the book. */
static lxw_error
write_book (Writer *w, const GPtrArray *sheets, char *title)
{
  lxw_doc_properties properties = { .title = title, .created = CREATED_S };
  lxw_error fault = workbook_set_properties (w->book, &properties);
  for (guint i = 0; fault == LXW_NO_ERROR && i < sheets->len; i++)
    fault = write_sheet (w, sheets->pdata[i]);
  const lxw_error closed = workbook_close (w->book);
  return fault != LXW_NO_ERROR ? fault : closed;
}

GString *
rep_sheets_xlsx (const GPtrArray *sheets, const char *title, GError **error)
{
  g_autofree char *its_title = g_strdup (title), *folder = g_strdup (g_get_tmp_dir ());
  int fd = rep_memory_file ("forerun-workbook", NULL);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  lxw_workbook_options options = { .tmpdir = folder };
  Writer w = { .book = fd >= 0 ? workbook_new_opt (path, &options) : NULL };
  const lxw_error fault = w.book != NULL ? write_book (&w, sheets, its_title) : LXW_ERROR_CREATING_XLSX_FILE;
  GString *bytes = fault == LXW_NO_ERROR ? rep_memory_file_read (fd) : NULL;
  if (fd >= 0)
    close (fd);
  if (bytes == NULL)
    base_fail (error, BASE_ERROR_RUN, "the workbook cannot be written: %s", lxw_strerror (fault));
  return bytes;
}
