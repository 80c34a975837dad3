/* Shared by the explanations of collectives and of copies. */
#ifndef REPORT_EXPLAIN_PRIVATE_H
#define REPORT_EXPLAIN_PRIVATE_H

#include "base/table.h"
#include "report/explain.h"
#include "run-private.h"

BaseTable *rep_terms_table (const MdlCollCost *cost); /* returned: full */
void rep_formula_text (const MdlCollCost *cost, double size_B, double link_rate_Bps, GString *out);
/* formula, its numbers and terms into the open object */
void rep_formula_json (const MdlCollCost *cost, double link_rate_Bps, JsonBuilder *json);

#endif
