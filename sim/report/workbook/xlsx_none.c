/* In place of xlsx.c in a build without libxlsxwriter. */
#include "base/error.h"
#include "report/workbook.h"
#include "workbook/sheet-private.h"

const char *
rep_workbook_library (void)
{
  return NULL;
}

GString *
rep_sheets_xlsx (const GPtrArray *sheets, const char *title, GError **error)
{
  (void)sheets;
  (void)title;
  base_fail (error, BASE_ERROR_RUN, "this build has no libxlsxwriter");
  return NULL;
}
