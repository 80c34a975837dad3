/* Facts of a page by kind of result; text/run.c has them in the kind's row. */
#ifndef REPORT_FACTS_PRIVATE_H
#define REPORT_FACTS_PRIVATE_H

#include "base/units.h"

#include <glib.h>

/* One value with its unit; `more` below it, NULL: nothing. */
void rep_html_quantity (GString *html, const char *name, double value, BaseDim dim, const char *more);

/* Of a TrnResult, a ScnResult, a StoIoResult, a StoTransferResult, a ScnProgramResult and a ColMoeAnswer. */
void rep_training_facts (const void *of, GString *html);
void rep_coll_facts (const void *of, GString *html);
void rep_io_facts (const void *of, GString *html);
void rep_transfer_facts (const void *of, GString *html);
void rep_program_facts (const void *of, GString *html);
void rep_moe_facts (const void *of, GString *html);

#endif
