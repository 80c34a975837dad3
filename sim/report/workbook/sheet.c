#include "workbook/sheet-private.h"

#include <math.h>

static void
cell_clear (gpointer data)
{
  RepSheetCell *cell = data;
  g_free (cell->text);
  g_free (cell->formula);
}

static void
sheet_free (gpointer data)
{
  RepSheet *sheet = data;
  g_array_unref (sheet->cells);
  g_array_unref (sheet->widths);
  g_free (sheet);
}

GPtrArray *
rep_sheets_new (void)
{
  return g_ptr_array_new_with_free_func (sheet_free);
}

RepSheet *
rep_sheets_add (GPtrArray *sheets, const char *name, const double *widths)
{
  RepSheet *sheet = g_new0 (RepSheet, 1);
  sheet->name = name;
  sheet->cells = g_array_new (FALSE, FALSE, sizeof (RepSheetCell));
  g_array_set_clear_func (sheet->cells, cell_clear);
  sheet->widths = g_array_new (FALSE, FALSE, sizeof (double));
  for (; *widths > 0; widths++)
    g_array_append_val (sheet->widths, *widths);
  g_ptr_array_add (sheets, sheet);
  return sheet;
}

static RepSheetCell *
add (RepSheet *sheet, guint row, guint column, RepStyle style)
{
  const RepSheetCell cell = { .row = row, .column = column, .style = style };
  g_array_append_val (sheet->cells, cell);
  return &g_array_index (sheet->cells, RepSheetCell, sheet->cells->len - 1);
}

void
rep_sheet_text (RepSheet *sheet, guint row, guint column, RepStyle style, const char *text)
{
  if (text != NULL)
    add (sheet, row, column, style)->text = g_utf8_make_valid (text, -1);
}

RepSheetCell *
rep_sheet_number (RepSheet *sheet, guint row, guint column, RepStyle style, double number)
{
  if (!isfinite (number))
    return NULL;
  RepSheetCell *cell = add (sheet, row, column, style);
  cell->number = number;
  return cell;
}

void
rep_sheet_formula (RepSheet *sheet, guint row, guint column, RepStyle style, double number, char *formula)
{
  RepSheetCell *cell = add (sheet, row, column, style);
  cell->number = number;
  cell->formula = g_strconcat ("=", formula, NULL);
  g_free (formula);
}

char *
rep_sheet_place (guint row, guint column, gboolean absolute)
{
  char letters[8] = { 0 };
  guint at = G_N_ELEMENTS (letters) - 1;
  for (guint left = column + 1; left > 0 && at > 0; left = (left - 1) / 26)
    letters[--at] = (char)('A' + (left - 1) % 26);
  const char *dollar = absolute ? "$" : "";
  return g_strdup_printf ("%s%s%s%u", dollar, letters + at, dollar, row + 1);
}
