/* What the parts of a plan's answer share. */
#ifndef REPORT_PLAN_PRIVATE_H
#define REPORT_PLAN_PRIVATE_H

#include "money-private.h"
#include "report/plan.h"

/* What the plan makes least, in words: "number of GPUs". */
const char *rep_plan_aim (const Pln *plan);
/* "32 x hgx_h100 (400 Gb/s, 2:1)"; tabs and line ends of a name become blanks. Returned: full. */
char *rep_plan_machine (const Pln *plan, guint machine);
/* "TP4 PP2 VP10 DP32"; of `prose` "TP4 x PP2 x DP32". Returned: full. */
char *rep_plan_layout (const TrnClosedQuery *query, gboolean prose);
/* Whether a layout leaves less than PLN_TIGHT of a GPU's memory. */
gboolean rep_plan_is_tight (const PlnChoiceRow *row);
/* The largest part of a step that is not compute: "tensor-parallel communication"; "compute" where the others are under 1 %. */
const char *rep_plan_bottleneck (const TrnClosedStep *step);
/* rep_plan_table with its columns in the order of text. Returned: full. */
BaseTable *rep_plan_shown (const Pln *plan, const PlnResult *result, guint most);
/* What the runner-up has more of what is to be least, relative; NAN: there is none. */
double rep_plan_margin (const Pln *plan, const PlnResult *result);
/* A part of what is bought, of which the run bears as large a share as of the whole; NAN where it is not bought. */
double rep_plan_bought_usd (const PlnMachine *machine, const PlnChoiceRow *row, PlnBuy part);
/* Cash to buy a cluster option; NAN where it has no price, or nothing is to be bought. */
double rep_plan_capex_usd (const Pln *plan, const PlnMachine *machine);
/* Cost of the run, bought or rented; NAN where there is no price or the plan does not ask for it. */
double rep_plan_run_usd (const Pln *plan, const PlnChoiceRow *row, PlnAcquisition way);
/* A page's sections, of a plan with a row: figures of the first with their bands; tables of machines and of at most `most` rows. */
void rep_plan_html_answer (const Pln *plan, const PlnResult *result, GString *html);
void rep_plan_html_tables (const Pln *plan, const PlnResult *result, guint most, GString *html);
/* The cost of the best option of each cluster, by part. Of a result whose first row has a price. */
void rep_plan_cost_plot (const Pln *plan, const PlnResult *result, const char *period, GPtrArray *plots);
/* How certain the ranking is, and the prices at which it changes. */
void rep_plan_html_order (const Pln *plan, const PlnResult *result, GString *html);
/* A figure of a plan's prices. */
typedef struct {
  const BaseNum *num; /* borrowed from the plan */
  BaseDim dim;
  char *what; /* "a node of hgx_b200"; owned */
} RepPriceItem;
/* Those that are set; not `all`: those that the plan's options use. Returned: full, RepPriceItem. */
GArray *rep_plan_price_items (const Pln *plan, gboolean all);
/* How many figures the plan's prices have, and how many of them are assumed; 0 without prices. */
void rep_plan_count_prices (const Pln *plan, guint *figures, guint *assumed);
/* At most so many prices at which the order flips, nearest first. Returned: full. */
BaseTable *rep_plan_flips (const Pln *plan, const PlnResult *result, guint most);
/* Where the order flips, price by price: lines of text, and the member `flip_points` of JSON. */
void rep_plan_flips_text (const Pln *plan, const PlnResult *result, GString *out);
void rep_plan_flips_json (const Pln *plan, const PlnResult *result, JsonBuilder *json);
/* The lines of text and the member of JSON that rep_plan_rivals() makes. */
void rep_plan_rivals_text (const Pln *plan, const PlnResult *result, GString *out);
void rep_plan_rivals_json (const Pln *plan, const PlnResult *result, JsonBuilder *json);

#endif
